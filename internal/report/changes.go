package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// ChangesSchema is the version of the JSON form of a comparison.
const ChangesSchema = "paritycheck.diff/v1"

// Changes is the JSON form of a comparison.
type Changes struct {
	Schema      string           `json:"schema"`
	Base        Compared         `json:"base"`
	New         Compared         `json:"new"`
	Compared    int              `json:"compared"` // results in both
	Regressions int              `json:"regressions"`
	StillFail   int              `json:"still_fail"`  // results that fail in both
	NoiseFloor  float64          `json:"noise_floor"` // of times, relative, measured on unchanged kernels; 0 where there are too few
	Changes     []baseline.Delta `json:"changes"`     // gravest first
}

// Compared is one side of a comparison.
type Compared struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Results int    `json:"results"`
}

// ChangesFormats are the formats of WriteChanges.
func ChangesFormats() []Format { return []Format{Table, Markdown, JSON, GitHub} }

// WriteChanges renders a comparison of two runs.
func WriteChanges(w io.Writer, c *baseline.Comparison, f Format) error {
	var b bytes.Buffer
	var err error
	switch f {
	case Table:
		err = changesTable(&b, c)
	case Markdown:
		err = changesMarkdown(&b, c)
	case JSON:
		err = changesJSON(&b, c)
	case GitHub:
		err = changesGitHub(&b, c)
	default:
		err = fmt.Errorf("a comparison has no format %q: must be one of table markdown json github", f)
	}
	if err != nil {
		return fmt.Errorf("rendering %s: %w", f, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func changesJSON(w io.Writer, c *baseline.Comparison) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	side := func(b *baseline.Baseline) Compared {
		return Compared{b.Env.Version, b.Env.Commit, results(b)}
	}
	list := c.Changes
	if list == nil {
		list = []baseline.Delta{}
	}
	return enc.Encode(Changes{ChangesSchema, side(c.Base), side(c.Now), c.Compared, c.Regressions(), c.StillFail, c.Floor, list})
}

func results(b *baseline.Baseline) int {
	n := 0
	for i := range b.Rows {
		n += len(b.Rows[i].Cases)
	}
	return n
}

// A changeGroup is like changes of one row.
type changeGroup struct {
	baseline.Delta          // the first
	cases          []string // with their details, where they are of cases
}

// title names what the group is of.
func (g *changeGroup) title() string {
	return clean(fmt.Sprintf("%s/%s on %s: %s", g.Op, g.DType, g.Target, g.What))
}

// count says of how many cases the group is.
func (g *changeGroup) count() string {
	if g.Case == "" {
		return "the row"
	}
	return plural(len(g.cases), "case")
}

// groups joins like changes; regressions, which come first, are split off.
func groups(changes []baseline.Delta) (regressions, others []*changeGroup) {
	type key struct {
		kind                    baseline.Kind
		op, dtype, target, what string
		row                     bool
	}
	at := map[key]*changeGroup{}
	for _, c := range changes {
		k := key{c.Kind, c.Op, c.DType, c.Target, c.What, c.Case == ""}
		g := at[k]
		if g == nil {
			g = &changeGroup{Delta: c}
			at[k] = g
			if c.Kind.Regression() {
				regressions = append(regressions, g)
			} else {
				others = append(others, g)
			}
		}
		if c.Case != "" {
			g.cases = append(g.cases, clean(c.Case+": "+c.Detail))
		}
	}
	return regressions, others
}

// changesSummary is a comparison in one line.
func changesSummary(c *baseline.Comparison) string {
	by := map[baseline.Kind]int{}
	for _, x := range c.Changes {
		by[x.Kind]++
	}
	s := "no regressions"
	if n := c.Regressions(); n > 0 {
		s = plural(n, "regression")
		var parts []string
		for _, k := range []baseline.Kind{baseline.Worse, baseline.Lost, baseline.NewFail, baseline.Moved, baseline.Accuracy, baseline.Counters, baseline.Slow} {
			if by[k] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", by[k], k))
			}
		}
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	s += fmt.Sprintf("; %d results compared", c.Compared)
	for _, x := range []struct {
		n    int
		what string
	}{{by[baseline.Better], "better"}, {by[baseline.Added], "new"}, {by[baseline.Changed], "changed"}, {c.StillFail, "still FAIL"}} {
		if x.n > 0 {
			s += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	return s
}

// sides says what was compared.
func sides(c *baseline.Comparison) []string {
	var lines []string
	for _, x := range []struct {
		name string
		b    *baseline.Baseline
	}{{"base", c.Base}, {"new", c.Now}} {
		s := x.name + ": paritycheck " + x.b.Env.Version
		if x.b.Env.Commit != "" {
			s += " (" + x.b.Env.Commit + ")"
		}
		s += fmt.Sprintf(", seed %d, %s, %d results", x.b.Env.Seed, x.b.Env.Level, results(x.b))
		if len(x.b.Env.Flags) > 0 {
			s += ", " + strings.Join(x.b.Env.Flags, " ")
		}
		lines = append(lines, clean(s))
	}
	if c.Floor > 0 {
		lines = append(lines, fmt.Sprintf("noise floor of times, measured on unchanged kernels: %.1f%%", 100*c.Floor))
	}
	return lines
}

// maxChangedCases is how many cases of a group the table for terminals
// lists; the others are counted.
const maxChangedCases = 4

func changesTable(w io.Writer, c *baseline.Comparison) error {
	for _, line := range sides(c) {
		fmt.Fprintln(w, line)
	}
	bad, others := groups(c.Changes)
	for _, g := range bad {
		fmt.Fprintf(w, "\nREGRESSION %s (%s, %s)\n", g.title(), g.Kind, g.count())
		if g.Case == "" {
			fmt.Fprintf(w, "  %s\n", clean(g.Detail))
		}
		for i, line := range g.cases {
			if i == maxChangedCases {
				fmt.Fprintf(w, "  and %s; --format markdown or json for all\n", plural(len(g.cases)-i, "more case"))
				break
			}
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if len(others) > 0 {
		fmt.Fprintln(w)
	}
	for _, g := range others {
		fmt.Fprintf(w, "%s: %s (%s)", g.Kind, g.title(), g.count())
		if g.Case == "" {
			fmt.Fprintf(w, ": %s", clean(g.Detail))
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", changesSummary(c))
	return err
}

func changesGitHub(w io.Writer, c *baseline.Comparison) error {
	bad, _ := groups(c.Changes)
	for _, g := range bad {
		lines := g.cases
		if g.Case == "" {
			lines = []string{clean(g.Detail)}
		}
		fmt.Fprintf(w, "::error title=%s::%s\n", escapeProperty("regression: "+g.title()), escapeCommand(strings.Join(lines, "\n")))
	}
	_, err := fmt.Fprintf(w, "::notice title=baseline::%s\n", escapeCommand(changesSummary(c)))
	return err
}

// changesMarkdown writes the comparison for a pull request: a summary, the
// regressions, then a table for each family of the rows that changed.
// Whatever is folded or left out is counted.
func changesMarkdown(w io.Writer, c *baseline.Comparison) error {
	word := "PASS"
	if c.Regressions() > 0 {
		word = "REGRESSED"
	}
	fmt.Fprintf(w, "**%s: %s**\n", word, changesSummary(c))
	bad, others := groups(c.Changes)
	if len(bad) > 0 {
		fmt.Fprint(w, "\n#### Regressions\n\n")
		if err := groupGrid(w, bad); err != nil {
			return err
		}
		foldCases(w, bad)
	}
	if err := familyTables(w, c); err != nil {
		return err
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "\n<details><summary>changes that are no regressions: %d</summary>\n\n", len(c.Changes)-c.Regressions())
		if err := groupGrid(w, others); err != nil {
			return err
		}
		foldCases(w, others)
		fmt.Fprint(w, "\n</details>\n")
	}
	fmt.Fprint(w, "\n<details><summary>what was compared</summary>\n\n")
	fence(w, sides(c))
	_, err := fmt.Fprint(w, "\n</details>\n")
	return err
}

func groupGrid(w io.Writer, list []*changeGroup) error {
	var rows [][]string
	for _, g := range list {
		detail := g.Detail
		if len(g.cases) > 1 {
			detail = g.Case + ": " + detail + "; and " + plural(len(g.cases)-1, "more case")
		} else if g.Case != "" {
			detail = g.Case + ": " + detail
		}
		var row []string
		for _, cell := range []string{string(g.Kind), g.Op, g.DType, g.Target, g.count(), g.What, detail} {
			row = append(row, escapeMarkdown(cell))
		}
		rows = append(rows, row)
	}
	return grid(w, []string{"kind", "op", "dtype", "target", "cases", "what", "the first"}, nil, rows, true)
}

// foldCases lists every case of the groups of several.
func foldCases(w io.Writer, list []*changeGroup) {
	for _, g := range list {
		if len(g.cases) < 2 {
			continue
		}
		fmt.Fprintf(w, "\n<details><summary>%s: %s</summary>\n\n", escapeMarkdown(g.title()), g.count())
		fence(w, g.cases)
		fmt.Fprint(w, "\n</details>\n")
	}
}

// familyTables writes a table for each family, of the rows that changed.
func familyTables(w io.Writer, c *baseline.Comparison) error {
	var order []string
	of := map[string][]*baseline.RowChange{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if of[r.Family] == nil {
			order = append(order, r.Family)
		}
		of[r.Family] = append(of[r.Family], r)
	}
	var quiet []string
	for _, family := range order {
		var rows [][]string
		regressed := 0
		for _, r := range of[family] {
			cells, changed := rowCells(r)
			if !changed && len(r.Changes) == 0 {
				continue
			}
			if r.Regressions() > 0 {
				regressed++
			}
			for j := range cells {
				cells[j] = escapeMarkdown(cells[j])
			}
			rows = append(rows, cells)
		}
		same := len(of[family]) - len(rows)
		if len(rows) == 0 {
			quiet = append(quiet, fmt.Sprintf("%s %d", family, same))
			continue
		}
		open := ""
		if regressed > 0 {
			open = " open"
		}
		fmt.Fprintf(w, "\n<details%s><summary>%s: %d of %s regressed, %d unchanged and not listed</summary>\n\n",
			open, escapeMarkdown(family), regressed, plural(len(of[family]), "row"), same)
		if err := grid(w, rowHead, rowRight, rows, true); err != nil {
			return err
		}
		fmt.Fprint(w, "\n</details>\n")
	}
	if len(quiet) > 0 {
		fmt.Fprintf(w, "\nFamilies without a change, and their rows: %s.\n", escapeMarkdown(strings.Join(quiet, ", ")))
	}
	return nil
}

var (
	rowHead  = []string{"op", "dtype", "target", "", "cases", "status", "exact", "p99 ulp", "max ulp", "of bound", "instructions", "time"}
	rowRight = []bool{4: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true}
)

// rowCells are a row's numbers, "was → is" where they differ.
func rowCells(r *baseline.RowChange) (cells []string, changed bool) {
	mark := ""
	switch {
	case r.Regressions() > 0:
		mark = "REGRESSED"
	case r.Base == nil:
		mark = "new"
	case r.Now == nil:
		mark = "gone"
	}
	cells = []string{r.Op, r.DType, r.Target, mark}
	was, is := newTotals(r.Base), newTotals(r.Now)
	for i := range was {
		s := is[i]
		if was[i] != is[i] {
			changed = true
			s = was[i] + " → " + is[i]
		}
		cells = append(cells, s)
	}
	speed := "-"
	for _, t := range r.Timings {
		if s := fmt.Sprintf("%s %+.1f%%", t.Speed, 100*(t.Ratio()-1)); speed == "-" || t.Speed == baseline.Slower {
			speed = s
		}
	}
	return append(cells, speed), changed
}

// newTotals are the cells of one side of a row, between its target and
// its time.
func newTotals(r *baseline.Row) [7]string {
	if r == nil {
		return [7]string{"-", "-", "-", "-", "-", "-", "-"}
	}
	var t Tally
	n, exact, judged := 0, 0, false
	p99, ulp, share := math.NaN(), math.NaN(), math.NaN()
	var counters gpu.Counters
	counted := false
	for i := range r.Cases {
		c := &r.Cases[i]
		t.add(c.Status)
		if e := c.Error; e != nil {
			judged = true
			n, exact = n+e.N, exact+e.Exact
			p99, ulp, share = worst(p99, float64(e.P99ULP)), worst(ulp, float64(e.MaxULP)), worst(share, float64(e.MaxShare))
		}
		if c.Counters != nil {
			counted = true
			counters.Add(c.Counters)
		}
	}
	out := [7]string{strconv.Itoa(len(r.Cases)), t.short(), "-", "-", "-", "-", "-"}
	if judged {
		out[2], out[3], out[4], out[5] = equalText(exact, n), ulpText(p99), ulpText(ulp), shareText(share)
	}
	if counted {
		var sum int64
		for _, v := range counters.Inst {
			sum += v
		}
		out[6] = strconv.FormatInt(sum, 10)
	}
	return out
}

// short is the tally without what is not there.
func (t Tally) short() string {
	var parts []string
	for _, x := range []struct {
		n int
		s compare.Status
	}{{t.Fail, compare.Fail}, {t.Warn, compare.Warn}, {t.Unverified, compare.Unverified}, {t.Pass, compare.Pass}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.s))
		}
	}
	return strings.Join(parts, ", ")
}
