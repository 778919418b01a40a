package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A document is a report for people, before it is laid out.
type document struct {
	config  []setting
	cols    []column
	rows    []*row
	marks   [][]int // per row, numbers of its notes
	details []detail
	notes   []string
	tally   Tally
}

// A setting is one line of what a run depended on.
type setting struct{ key, value string }

// A detail says where a row fails.
type detail struct {
	status compare.Status
	title  string
	lines  []string
}

func newDocument(run *runner.Run, opts Options) *document {
	d := &document{config: settings(&run.Env, opts), rows: byTarget(run), tally: Count(run)}
	d.cols = tableColumns(d.rows, opts)
	d.marks = make([][]int, len(d.rows))
	n := notes{at: map[string]int{}}
	for i, r := range d.rows {
		d.marks[i] = n.add(r)
		if r.status == compare.Fail && r.judged == 0 && r.skipped() {
			continue // the note says it all
		}
		if r.status == compare.Fail || r.status == compare.Warn {
			d.details = append(d.details, newDetail(r))
		}
	}
	d.notes = n.texts()
	return d
}

// settings describes the environment. Targets that share a value share a
// line.
func settings(env *runner.Env, opts Options) []setting {
	var s []setting
	add := func(key, value string) {
		if value != "" {
			s = append(s, setting{key, clean(value)})
		}
	}
	version := env.Version
	if env.Commit != "" {
		version += " (" + env.Commit + ")"
	}
	add("paritycheck", version)
	add("seed", strconv.FormatUint(env.Seed, 10))
	add("level", env.Level)
	if env.Shard != nil {
		add("shard", env.Shard.String())
	}
	add("flags", strings.Join(env.Flags, " "))
	for _, t := range env.Targets {
		if t.Unavailable != "" {
			add(t.Name, "unavailable: "+t.Unavailable)
			continue
		}
		parts := []string{t.Info.Name}
		if t.Arch != "" && !strings.Contains(t.Info.Name, t.Arch) {
			parts = append(parts, t.Arch)
		}
		if t.WaveSize > 0 {
			parts = append(parts, fmt.Sprintf("wave%d", t.WaveSize))
		}
		if t.Driver != "" {
			parts = append(parts, t.Driver)
		}
		if t.Emulated {
			if !strings.Contains(t.Info.Name, "emulated") {
				parts = append(parts, "emulated")
			}
			if !strings.Contains(t.Notes, "not hardware-verified") {
				parts = append(parts, "not hardware-verified")
			}
		}
		if t.Notes != "" {
			parts = append(parts, t.Notes)
		}
		add(t.Name, strings.Join(parts, ", "))
	}
	for _, t := range env.Targets {
		add("kernels of "+t.Name, t.Source)
		add("no op launches of "+t.Name, strings.Join(t.Unknown, " "))
	}
	for _, t := range env.Targets {
		add("copy of "+t.Name, copyText(t.Copy))
		if opts.Counters && t.Modules != nil {
			add("modules of "+t.Name, fmt.Sprintf("%d loaded, %d cases found theirs loaded", t.Modules.Loads, t.Modules.Hits))
		}
	}
	shared := func(what string, of func(*runner.TargetInfo) string) {
		var values []string
		names := map[string][]string{}
		for i := range env.Targets {
			t := &env.Targets[i]
			v := of(t)
			if v == "" {
				continue
			}
			if names[v] == nil {
				values = append(values, v)
			}
			names[v] = append(names[v], t.Name)
		}
		for _, v := range values {
			if len(values) == 1 && len(names[v]) == len(env.Targets) {
				add(what, v)
			} else {
				add(what+" of "+strings.Join(names[v], ", "), v)
			}
		}
	}
	shared("compiler", func(t *runner.TargetInfo) string { return t.Compiler })
	shared("compiler flags", func(t *runner.TargetInfo) string { return t.FlagsUsed })
	shared("objects", func(t *runner.TargetInfo) string {
		var parts []string
		for family, sum := range t.Images {
			parts = append(parts, family+" "+sum[:min(12, len(sum))])
		}
		slices.Sort(parts)
		return strings.Join(parts, ", ")
	})
	return s
}

// copyText says how fast a target copies memory and by what.
func copyText(b *runner.Bandwidth) string {
	if b == nil || b.Rate() == 0 {
		return ""
	}
	rate := func(seconds float64) string { return fmt.Sprintf("%.0f GB/s", float64(b.Bytes)/seconds/1e9) }
	var parts []string
	if b.Driver > 0 {
		parts = append(parts, rate(b.Driver)+" by the driver")
	}
	if b.Kernel > 0 {
		parts = append(parts, rate(b.Kernel)+" by the copy kernel")
	}
	return fmt.Sprintf("%s; shares are of the faster, %d MB read and written", strings.Join(parts, ", "), b.Bytes/1e6)
}

// notes are the footnotes of a report: reasons of skips and warnings,
// each once.
type notes struct {
	list []*note
	at   map[string]int
}

type note struct {
	text  string
	cases int
	other int // results whose text differs in detail
}

// add notes what a row's results remark and returns the numbers, from 1.
func (n *notes) add(r *row) []int {
	var marks []int
	mark := func(key, text string, seen map[string]bool) {
		i, ok := n.at[key]
		if !ok {
			i = len(n.list)
			n.at[key] = i
			n.list = append(n.list, &note{text: text})
		}
		if !seen[key] {
			seen[key] = true
			n.list[i].cases++
		}
		if n.list[i].text != text {
			n.list[i].other++
		}
		if !slices.Contains(marks, i+1) {
			marks = append(marks, i+1)
		}
	}
	for _, res := range r.results {
		seen := map[string]bool{}
		if res.Status == compare.Unverified {
			why := reason(res)
			mark("unverified: "+why, "unverified: "+why, seen)
		} else if res.Skipped != "" {
			mark("required, but skipped: "+res.Skipped, "required, but skipped: "+res.Skipped, seen)
		}
		if res.Untimed != "" {
			mark("untimed: "+res.Untimed, "no time: "+res.Untimed, seen)
		}
		if res.Timing != nil {
			for _, w := range res.Timing.Warnings {
				mark("timing: "+w.Code, w.Code+": "+w.Text, seen)
			}
		}
		if res.Judgement == nil {
			continue
		}
		for _, w := range res.Judgement.Warnings {
			mark("warning: "+w.Code, w.Code+": "+w.Text, seen)
		}
	}
	return marks
}

func (n *notes) texts() []string {
	out := make([]string, len(n.list))
	for i, f := range n.list {
		s := clean(f.text)
		switch {
		case f.other > 0:
			s += fmt.Sprintf(" (%d cases, the numbers are the first's)", f.cases)
		case f.cases > 1:
			s += fmt.Sprintf(" (%d cases)", f.cases)
		}
		out[i] = s
	}
	return out
}

// superscript writes footnote numbers as benchstat does.
func superscript(marks []int) string {
	var b strings.Builder
	for i, m := range marks {
		if i > 0 {
			b.WriteRune('˒')
		}
		for _, c := range strconv.Itoa(m) {
			b.WriteRune([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[c-'0'])
		}
	}
	return b.String()
}

// clean makes s one line that cannot command a terminal: control
// characters and what is no UTF-8 are written as Go escapes.
func clean(s string) string {
	ok := func(c rune) bool { return strconv.IsPrint(c) && c != '\ufffd' }
	if !strings.ContainsFunc(s, func(c rune) bool { return !ok(c) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		if ok(c) {
			b.WriteRune(c)
		} else {
			q := strconv.Quote(s[:size])
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[size:]
	}
	return b.String()
}
