package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Kind is a way in which two runs differ.
type Kind string

// The kinds, gravest first. All but the last four are regressions.
const (
	Worse    Kind = "status"   // a worse status, or more of the elements wrong, or a new kind of finding
	Lost     Kind = "lost"     // a case, op or target that is not in the new run, or not verified any more
	NewFail  Kind = "new FAIL" // a case that the base does not know fails
	Moved    Kind = "moved"    // equal objects, arguments and device gave other numbers
	Accuracy Kind = "accuracy" // an accuracy loss inside the bound
	Counters Kind = "counters" // the interpreter counts more
	Slow     Kind = "time"     // SLOWER

	Better  Kind = "better"  // a better status or speed
	Added   Kind = "added"   // a case that the base does not know
	Changed Kind = "changed" // neither better nor worse
	Notice  Kind = "notice"  // what keeps things from being compared
)

var kinds = []Kind{Worse, Lost, NewFail, Moved, Accuracy, Counters, Slow, Better, Added, Changed, Notice}

// Regression reports whether changes of kind k are regressions.
func (k Kind) Regression() bool { return slices.Index(kinds, k) < slices.Index(kinds, Better) }

// A Delta is one difference between two runs.
type Delta struct {
	Kind   Kind   `json:"kind"`
	Op     string `json:"op"`
	Family string `json:"family"`
	DType  string `json:"dtype"`
	Target string `json:"target"`
	Case   string `json:"case,omitempty"`   // empty where it is of the whole row
	What   string `json:"what"`             // in a few words, equal for like changes
	Detail string `json:"detail,omitempty"` // the numbers
}

// A RowChange is what became of one op and dtype on one target.
type RowChange struct {
	Op, Family, DType, Target string
	Base, Now                 *Row // nil where a run does not have it
	Changes                   []Delta
	Timings                   []Timing // of the cases timed in both
}

// Regressions counts those among a row's changes.
func (r *RowChange) Regressions() int {
	n := 0
	for _, c := range r.Changes {
		if c.Kind.Regression() {
			n++
		}
	}
	return n
}

// A Comparison is what changed between two runs.
type Comparison struct {
	Base, Now *Baseline
	Rows      []RowChange // in the base's order, then what is new
	Changes   []Delta     // gravest first, then in the order of rows
	Compared  int         // results in both
	StillFail int         // results that fail in both
	// Floor is what unchanged kernels' times moved by between the runs,
	// relative; 0 where too few are timed.
	Floor float64
}

// Regressions counts the regressions.
func (c *Comparison) Regressions() int {
	n := 0
	for i := range c.Changes {
		if c.Changes[i].Kind.Regression() {
			n++
		}
	}
	return n
}

// Options say how runs are compared. The zero value is fit for use.
type Options struct {
	// Varies reports whether an op declares its result to vary between
	// launches on hardware. Nil: none does.
	Varies func(op string) bool
	// Growth is the share by which a counter may rise; 0 is DefaultGrowth
	// and a negative share none.
	Growth float64
	// Select, if not nil, limits the comparison to what it accepts.
	Select func(r *Row, c *Case) bool
}

// DefaultGrowth is the share by which a counter may rise.
const DefaultGrowth = 0.05

// Compare says what changed from base to now. An error means that the two
// cannot be compared.
func Compare(base, now *Baseline, opts Options) (*Comparison, error) {
	switch {
	case base.Env.Seed != now.Env.Seed:
		return nil, fmt.Errorf("the seeds must be equal, they are %d and %d: inputs are a function of the seed", base.Env.Seed, now.Env.Seed)
	case base.Env.Level == "thorough" && now.Env.Level == "fast":
		return nil, fmt.Errorf("the base is of a thorough run and the other of a fast one: run with --thorough, or record another base")
	}
	if opts.Growth == 0 {
		opts.Growth = DefaultGrowth
	}
	c := &comparing{opts: opts, base: base, now: now}
	out := &Comparison{Base: base, Now: now, Rows: c.rows()}
	pairs := make([][]pair, len(out.Rows))
	var twins []float64
	for i := range out.Rows {
		r := &out.Rows[i]
		pairs[i] = c.pairs(r)
		for _, p := range pairs[i] {
			if p.equal && len(p.base.Samples) >= fewSamples && len(p.now.Samples) >= fewSamples {
				t := newTiming(p.base.Samples, p.now.Samples, 0)
				twins = append(twins, t.Ratio())
			}
			if p.base.Status == compare.Fail && p.now.Status == compare.Fail {
				out.StillFail++
			}
		}
		out.Compared += len(pairs[i])
	}
	out.Floor = twinFloor(twins)
	for i := range out.Rows {
		c.row(&out.Rows[i], pairs[i], out.Floor)
		out.Changes = append(out.Changes, out.Rows[i].Changes...)
	}
	slices.SortStableFunc(out.Changes, func(a, b Delta) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	return out, nil
}

type comparing struct {
	opts      Options
	base, now *Baseline
}

// rows joins the rows of both runs that are selected.
func (c *comparing) rows() []RowChange {
	type key struct{ op, dtype, target string }
	at := map[key]int{}
	var out []RowChange
	add := func(b *Baseline, now bool) {
		for i := range b.Rows {
			r := b.Rows[i]
			if c.opts.Select != nil {
				r.Cases = nil
				for j := range b.Rows[i].Cases {
					if c.opts.Select(&b.Rows[i], &b.Rows[i].Cases[j]) {
						r.Cases = append(r.Cases, b.Rows[i].Cases[j])
					}
				}
				if len(r.Cases) == 0 {
					continue
				}
			}
			k := key{r.Op, r.DType, r.Target}
			j, ok := at[k]
			if !ok {
				j = len(out)
				at[k] = j
				out = append(out, RowChange{Op: r.Op, Family: r.Family, DType: r.DType, Target: r.Target})
			}
			into := &out[j].Base
			if now {
				into = &out[j].Now
			}
			if *into == nil {
				*into = &r
			} else { // a hand-made document may split a row
				(*into).Cases = append((*into).Cases, r.Cases...)
			}
		}
	}
	add(c.base, false)
	add(c.now, true)
	return out
}

// pairs are the cases that both runs have.
func (c *comparing) pairs(r *RowChange) []pair {
	if r.Base == nil || r.Now == nil {
		return nil
	}
	a, b := c.base.target(r.Target), c.now.target(r.Target)
	same := a.Info == b.Info && a.FlagsUsed == b.FlagsUsed &&
		a.Images[r.Family] != "" && a.Images[r.Family] == b.Images[r.Family]
	varies := c.opts.Varies != nil && c.opts.Varies(r.Op) && (!a.Emulated || !slices.Equal(order(c.base), order(c.now)))
	at := map[string]*Case{}
	for i := range r.Now.Cases {
		at[r.Now.Cases[i].Case] = &r.Now.Cases[i]
	}
	var out []pair
	for i := range r.Base.Cases {
		old := &r.Base.Cases[i]
		if now := at[old.Case]; now != nil {
			equal := same && slices.Equal(old.Set, now.Set)
			out = append(out, pair{old, now, equal, equal && !varies})
		}
	}
	return out
}

// order are the flags that decide in which order the interpreter runs
// waves, on which an op that varies depends.
func order(b *Baseline) []string {
	var out []string
	for _, f := range b.Env.Flags {
		if strings.HasPrefix(f, "--schedule") || strings.HasPrefix(f, "--repeat") {
			out = append(out, f)
		}
	}
	return out
}

// row finds the changes of one row.
func (c *comparing) row(r *RowChange, pairs []pair, floor float64) {
	add := func(kind Kind, name, what, detail string) {
		r.Changes = append(r.Changes, Delta{kind, r.Op, r.Family, r.DType, r.Target, name, what, detail})
	}
	switch {
	case r.Now == nil:
		verified := slices.ContainsFunc(r.Base.Cases, func(x Case) bool { return x.Status != compare.Unverified })
		if !verified { // what was never verified is no loss
			add(Notice, "", "not in the new run", fmt.Sprintf("%d cases, none of them verified in the base", len(r.Base.Cases)))
			return
		}
		add(Lost, "", c.lost(r), fmt.Sprintf("%d cases are not in the new run", len(r.Base.Cases)))
		return
	case r.Base == nil:
		c.added(r.Now.Cases, add)
		return
	}
	known := map[string]bool{}
	for _, p := range pairs {
		known[p.base.Case] = true
	}
	for i := range r.Base.Cases {
		if old := &r.Base.Cases[i]; known[old.Case] {
			continue
		} else if old.Status == compare.Unverified {
			add(Notice, old.Case, "not in the new run", "it was unverified in the base")
		} else {
			add(Lost, r.Base.Cases[i].Case, "the case is lost", "it was "+outcome(&r.Base.Cases[i]))
		}
	}
	var fresh []Case
	for i := range r.Now.Cases {
		if !known[r.Now.Cases[i].Case] {
			fresh = append(fresh, r.Now.Cases[i])
		}
	}
	c.added(fresh, add)

	worse := false
	for _, p := range pairs {
		kind, what, detail := statusChange(p)
		if kind != "" {
			add(kind, p.base.Case, what, detail)
			worse = worse || kind.Regression()
			continue
		}
		if p.exact && p.base.Status != compare.Unverified && !p.same() {
			add(Moved, p.base.Case, "equal objects, other numbers", moved(p))
			worse = true
		}
	}
	if text := rowLoss(pairs); text != "" {
		add(Accuracy, "", "accuracy inside the bound", text)
	} else {
		for _, p := range pairs {
			if text := caseLoss(p); text != "" {
				add(Accuracy, p.base.Case, "accuracy inside the bound", text)
			}
		}
	}
	if !worse { // a kernel that goes wrong takes another path
		c.counters(pairs, add)
	}
	c.times(r, pairs, floor, add)
}

// lost names what is lost with a row.
func (c *comparing) lost(r *RowChange) string {
	op, target := false, false
	for i := range c.now.Rows {
		op = op || c.now.Rows[i].Op == r.Op
		target = target || c.now.Rows[i].Target == r.Target
	}
	switch {
	case !target:
		return "the target is lost"
	case !op:
		return "the op is lost"
	}
	return "the op's dtype is lost on this target"
}

func (c *comparing) added(cases []Case, add func(kind Kind, name, what, detail string)) {
	for i := range cases {
		if cases[i].Status == compare.Fail {
			add(NewFail, cases[i].Case, "a new case fails", outcome(&cases[i]))
		} else {
			add(Added, cases[i].Case, "new case", outcome(&cases[i]))
		}
	}
}

// outcome is a case in words.
func outcome(c *Case) string {
	s := string(c.Status)
	if c.Verdict != "" {
		s += " " + string(c.Verdict)
	}
	switch {
	case c.Fault != "":
		s += ", fault: " + c.Fault
	case c.Skipped != "":
		s += ", " + c.Skipped
	}
	if len(c.Checks) > 0 {
		s += ", " + strings.Join(c.Checks, " ")
	}
	if c.Error != nil && c.Error.Mismatches > 0 {
		s += fmt.Sprintf(", %d of %d elements over the bound", c.Error.Mismatches, c.Error.N)
	}
	return s
}

// statusChange compares two outcomes. What is not verified any more is
// lost, whatever it was.
func statusChange(p pair) (kind Kind, what, detail string) {
	rank := map[compare.Status]int{compare.Pass: 0, compare.Warn: 1, compare.Fail: 2}
	was, is := p.base.Status, p.now.Status
	what = fmt.Sprintf("%s → %s", was, is)
	detail = fmt.Sprintf("was %s; is %s", outcome(p.base), outcome(p.now))
	switch {
	case was != is && is == compare.Unverified:
		return Lost, what, detail
	case was == compare.Unverified && is == compare.Fail:
		return Worse, what, detail
	case was == compare.Unverified && is != was:
		return Better, what, detail
	case rank[is] > rank[was]:
		return Worse, what, detail
	case rank[is] < rank[was]:
		return Better, what, detail
	case is == compare.Unverified:
		return "", "", ""
	}
	for _, check := range p.now.Checks {
		if !slices.Contains(p.base.Checks, check) {
			return Worse, fmt.Sprintf("%s, now with %s", is, check), detail
		}
	}
	if p.base.Fault == "" && p.now.Fault != "" {
		return Worse, fmt.Sprintf("%s, now with a fault", is), detail
	}
	a, b := p.base.Error, p.now.Error
	if a != nil && b != nil && a.N == b.N && a.Mismatches < b.Mismatches && (a.Mismatches == 0 || !p.wanders()) {
		return Worse, fmt.Sprintf("%s, more elements over the bound", is), detail
	}
	if p.base.Verdict != p.now.Verdict && was == compare.Warn {
		return Changed, fmt.Sprintf("%s: %s → %s", is, p.base.Verdict, p.now.Verdict), detail
	}
	return "", "", ""
}

// wanders reports whether repeats of a run may differ, so that a count of
// wrong elements does.
func (p *pair) wanders() bool {
	return p.base.Verdict == compare.Nondeterministic || p.now.Verdict == compare.Nondeterministic || p.equal && !p.exact
}

// same reports whether a pair's numbers are equal.
func (p *pair) same() bool {
	return p.base.Output == p.now.Output && bytes.Equal(text(p.base.Error), text(p.now.Error)) && bytes.Equal(text(p.base.Counters), text(p.now.Counters))
}

// text is the JSON of v, in which NaN equals NaN.
func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("baseline: " + err.Error()) // as in Write
	}
	return b
}

// moved says which numbers of equal objects differ.
func moved(p pair) string {
	a, b := p.base.Error, p.now.Error
	switch {
	case p.base.Output != p.now.Output:
		return "the output has other bits: the interpreter, the driver or the inputs changed"
	case a == nil || b == nil || !bytes.Equal(text(a), text(b)):
		return "the output is the same and its error is not: the truth or the bound changed"
	}
	return "the counters differ: the interpreter changed"
}

// counts are the counters that must not rise, summed over launches.
var counts = []struct {
	name string
	of   func(c *gpu.Counters) int64
}{
	{"instructions", func(c *gpu.Counters) int64 {
		var n int64
		for _, v := range c.Inst {
			n += v
		}
		return n
	}},
	{"global lines", func(c *gpu.Counters) int64 { return c.GlobalLines }},
	{"LDS conflicts", func(c *gpu.Counters) int64 { return c.LDSConflicts }},
	{"barriers", func(c *gpu.Counters) int64 { return c.Barriers }},
}

// counters compares the counters of a row. A rise that is no 1% of the
// instructions is of no account, so that one conflict more than none is
// not an infinite growth.
func (c *comparing) counters(pairs []pair, add func(kind Kind, name, what, detail string)) {
	if c.opts.Growth < 0 {
		return
	}
	was, is := make([]int64, len(counts)), make([]int64, len(counts))
	for _, p := range pairs {
		if p.base.Counters == nil || p.now.Counters == nil {
			continue
		}
		for i := range counts {
			was[i] += counts[i].of(p.base.Counters)
			is[i] += counts[i].of(p.now.Counters)
		}
	}
	for i := range counts {
		rise := float64(is[i]) - float64(was[i])
		if rise > c.opts.Growth*float64(was[i]) && rise > 0.01*float64(was[0]) {
			grown := "from none"
			if was[i] > 0 {
				grown = fmt.Sprintf("%+.1f%%", 100*rise/float64(was[i]))
			}
			add(Counters, "", "more "+counts[i].name, fmt.Sprintf("%d → %d, %s", was[i], is[i], grown))
		}
	}
}

// times compares the samples of a row.
func (c *comparing) times(r *RowChange, pairs []pair, floor float64, add func(kind Kind, name, what, detail string)) {
	a, b := c.base.target(r.Target), c.now.target(r.Target)
	for _, p := range pairs {
		if len(p.base.Samples) == 0 || len(p.now.Samples) == 0 {
			continue
		}
		if a.Info.Name != b.Info.Name {
			add(Notice, "", "times are not compared", fmt.Sprintf("they are of %s and of %s", a.Info.Name, b.Info.Name))
			return
		}
		t := newTiming(p.base.Samples, p.now.Samples, floor)
		r.Timings = append(r.Timings, *t)
		detail := fmt.Sprintf("%.4g s → %.4g s, %+.1f%% (p=%.2g, noise floor %.1f%%)", t.Base, t.New, 100*(t.Ratio()-1), t.P, 100*t.Floor)
		switch t.Speed {
		case Slower:
			add(Slow, p.base.Case, string(Slower), detail)
		case Faster:
			add(Better, p.base.Case, string(Faster), detail)
		}
	}
}
