package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A row that fails shows at most maxKinds cases, each failing in its own
// way, and of each at most maxFindings findings. What is left is counted.
const (
	maxKinds    = 4
	maxFindings = 4
)

// newDetail says where the worst results of a row fail.
func newDetail(r *row) detail {
	var bad []*runner.Result
	for _, res := range r.results {
		if res.Status == r.status {
			bad = append(bad, res)
		}
	}
	first := r.first()
	d := detail{
		status: r.status,
		title: clean(fmt.Sprintf("%s/%s on %s: %s in %s of %s", first.Op, first.DType, first.Target,
			dash(r.verdict), strconv.Itoa(len(bad)), plural(len(r.results), "case"))),
	}
	limit := maxKinds
	if r.status == compare.Warn {
		limit = 1
	}
	shown := map[*runner.Result]bool{}
	kinds := map[string]bool{}
	for _, res := range bad {
		if k := kind(res); len(shown) < limit && !kinds[k] {
			kinds[k] = true
			shown[res] = true
			d.lines = append(d.lines, explain(res)...)
		}
	}
	if more := len(bad) - len(shown); more > 0 {
		likeIt := " like these"
		for _, res := range bad {
			if !kinds[kind(res)] {
				likeIt = ""
			}
		}
		if len(shown) == 1 && likeIt != "" {
			likeIt = " like it"
		}
		d.lines = append(d.lines, fmt.Sprintf("and %s%s; --case to narrow, --format json for all", plural(more, "more case"), likeIt))
	}
	return d
}

// kind tells ways of failing apart.
func kind(r *runner.Result) string {
	label, _ := cause(r)
	s := label + "\x00" + strings.Join(checks(r.Findings), " ")
	if r.Fault != "" {
		s += "\x00fault"
	}
	return s
}

// explain says in lines where one result fails.
func explain(r *runner.Result) []string {
	lines := []string{clean(r.Case)}
	add := func(format string, args ...any) {
		lines = append(lines, "  "+clean(fmt.Sprintf(format, args...)))
	}
	if r.Fault != "" {
		add("fault: %s", r.Fault)
	}
	if r.Skipped != "" {
		add("required, but skipped: %s", r.Skipped)
	}
	for _, c := range r.Changes {
		add("launched with %s = %s: %s in place of %s", c.Param, c.Text, c.Is, c.Was)
	}
	j := r.Judgement
	if j != nil {
		add("%s", summary(r))
	}
	for i, f := range r.Findings {
		if i == maxFindings {
			add("and %s in --format json", plural(len(r.Findings)-i, "more finding"))
			break
		}
		add("%s", finding(f))
	}
	if j == nil {
		return lines
	}
	if j.Sides != "" {
		add("%s", j.Sides)
	}
	if s := j.Spread; s != nil && s.Differ > 0 {
		add("%d runs differ in %s, first in %d: by up to %s of the bound", s.Runs, plural(s.Differ, "element"), s.First, shareText(float64(s.Share)))
	}
	for _, h := range j.Hints {
		add("%s", h)
	}
	a := &j.Accuracy
	first, worst := a.First, a.Worst
	if first != nil && worst != nil && first.Index == worst.Index {
		lines = append(lines, element("first and worst", r, first, r.FirstInputs)...)
		return lines
	}
	if first != nil {
		lines = append(lines, element("first", r, first, r.FirstInputs)...)
	}
	if worst != nil {
		lines = append(lines, element("worst", r, worst, r.WorstInputs)...)
	}
	return lines
}

// summary is the judgement in one line.
func summary(r *runner.Result) string {
	j := r.Judgement
	a := &j.Accuracy
	var b strings.Builder
	b.WriteString(string(j.Verdict))
	for _, f := range j.Flags {
		fmt.Fprintf(&b, " +%s", f)
	}
	if a.Mismatches > 0 {
		fmt.Fprintf(&b, ": %d of %s over the bound", a.Mismatches, plural(a.N, "element"))
		switch share := float64(a.Share); {
		case math.IsInf(share, 0):
			b.WriteString(", worst beyond any bound")
		case !math.IsNaN(share):
			fmt.Fprintf(&b, ", worst %s", times(share))
		}
	} else {
		fmt.Fprintf(&b, ": all of %s within the bound, worst at %s", plural(a.N, "element"), shareText(float64(a.Share)))
	}
	if p := j.Parity; p != nil {
		fmt.Fprintf(&b, "; %d of %d bit-equal to %s", p.Equal, p.N, dash(r.Against))
	}
	return b.String()
}

func finding(f gpu.Finding) string {
	s := f.String()
	if !strings.HasPrefix(s, string(f.Check)) {
		s = string(f.Check) + ": " + s
	}
	return s
}

// element shows one element in two lines: what it is and what was
// expected, and the inputs that it depends on.
func element(label string, r *runner.Result, e *compare.Element, inputs []ops.Input) []string {
	digits := 9 // enough to tell any two f32 apart
	if strings.Contains(r.DType, "f64") || strings.Contains(r.DType, "i64") {
		digits = 17
	}
	value := func(n compare.Num) string {
		switch f := float64(n); {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return num(f)
		case f == math.Trunc(f) && math.Abs(f) < 1<<53: // an index, all of it
			return strconv.FormatFloat(f, 'f', -1, 64)
		default:
			return strconv.FormatFloat(f, 'g', digits, 64)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s: element %d%s: got %s (%#x), expected %s (%#x)", label, e.Index, coords(r, e),
		value(e.Got), e.Bits, value(e.Want), e.Nearest)
	if limit := float64(e.Limit); limit > 0 {
		fmt.Fprintf(&b, " ± %.3g", limit)
	}
	switch share := float64(e.Share); {
	case math.IsInf(share, 0):
		b.WriteString("; no bound covers it")
	case share > 1:
		fmt.Fprintf(&b, "; %s the bound", times(share))
	case !math.IsNaN(share):
		fmt.Fprintf(&b, "; %s of the bound", shareText(share))
	}
	if ulp := float64(e.ULP); !math.IsNaN(ulp) && !math.IsInf(ulp, 0) {
		fmt.Fprintf(&b, ", %s ulp", ulpText(ulp))
	}
	lines := []string{clean(b.String())}
	if len(inputs) > 0 {
		var parts []string
		for _, in := range inputs {
			parts = append(parts, fmt.Sprintf("%s[%d]=%s", in.Name, in.Index, value(in.Value)))
		}
		lines = append(lines, "    from "+clean(strings.Join(parts, " ")))
	}
	return lines
}

// coords is an element's place along the axes, as in " [b=0 h=0 t=2 d=4]".
func coords(r *runner.Result, e *compare.Element) string {
	if len(e.Coords) == 0 {
		return ""
	}
	parts := make([]string, len(e.Coords))
	for i, c := range e.Coords {
		parts[i] = strconv.Itoa(c)
		if p := r.Judgement.Pattern; p != nil && len(p.Axes) == len(e.Coords) {
			parts[i] = p.Axes[i].Name + "=" + parts[i]
		}
	}
	return " [" + strings.Join(parts, " ") + "]"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
