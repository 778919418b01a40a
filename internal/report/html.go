package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

//go:embed html.tmpl
var pageText string

// A page is what html.tmpl renders: one file without scripts and without
// anything from a network.
type page struct {
	Tally    string
	Status   compare.Status // the worst
	Config   []pageSetting
	Changes  *pageChanges
	Families []*pageFamily
	Notes    []string
	Axis     template.HTML // the histograms' labels, drawn once
}

type pageSetting struct{ Key, Value string }

type pageChanges struct {
	Summary string
	Bad     bool
	Groups  []pageGroup
	Others  []pageGroup
}

type pageGroup struct {
	Title, Kind, Count, Detail string
	Cases                      []string
}

type pageFamily struct {
	Name string
	Ops  []*pageOp
}

type pageOp struct {
	ID, Name, Line string
	Status         compare.Status
	Open           bool
	Rows           []*row
	Marks          []pageMark
	Head           []pageCell
	Cells          [][]pageCell
	Types          []*pageType
	Failures       []*pageFailure
}

// A pageMark is one row in the overview.
type pageMark struct {
	Status compare.Status
	Title  string
}

type pageCell struct {
	Text  string
	Right bool
	Class string  // a status
	Notes string  // superscripts
	Meter float64 // per cent of a bar's width, negative for none
	Over  bool
}

// A pageType is the histograms of one dtype, a target each.
type pageType struct {
	DType string
	Hists []pageHist
}

type pageHist struct {
	Target, Words string
	Path          string
	Bad           bool
}

type pageFailure struct {
	Status compare.Status
	Title  string
	Lines  []string
	Map    *pageMap   // of the first case that has one
	Others []*pageMap // with other pictures
	Alike  int        // cases whose picture is one of these
	Left   int        // cases whose picture is another, not drawn
}

// maxMaps is how many pictures a row has at most.
const maxMaps = 6

// writeHTML writes the report for a browser.
func writeHTML(w io.Writer, run *runner.Run, opts Options) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, newPage(run, opts))
}

func newPage(run *runner.Run, opts Options) *page {
	d := newDocument(run, opts)
	p := &page{Tally: d.tally.String(), Status: worstStatus(d.tally), Axis: histAxis()}
	for _, s := range d.config {
		p.Config = append(p.Config, pageSetting{s.key, s.value})
	}
	for i, n := range d.notes {
		p.Notes = append(p.Notes, superscript([]int{i + 1})+" "+n)
	}
	if opts.Changes != nil {
		p.Changes = newPageChanges(opts.Changes)
	}
	families := map[string]*pageFamily{}
	ops := map[string]*pageOp{}
	marks := map[*row][]int{}
	for i, r := range d.rows {
		marks[r] = d.marks[i]
		first := r.first()
		f := families[first.Family]
		if f == nil {
			f = &pageFamily{Name: clean(first.Family)}
			families[first.Family] = f
			p.Families = append(p.Families, f)
		}
		o := ops[first.Op]
		if o == nil {
			o = &pageOp{ID: fmt.Sprintf("op%d", len(ops)), Name: clean(first.Op), Status: compare.Unverified}
			ops[first.Op] = o
			f.Ops = append(f.Ops, o)
		}
		o.Rows = append(o.Rows, r)
		if badness(r.status) > badness(o.Status) {
			o.Status = r.status
		}
	}
	for _, f := range p.Families {
		for _, o := range f.Ops {
			o.fill(d.cols, marks)
			o.Open = len(ops) <= 3 || o.Status == compare.Fail || o.Status == compare.Warn
		}
	}
	return p
}

func worstStatus(t Tally) compare.Status {
	switch {
	case t.Fail > 0:
		return compare.Fail
	case t.Warn > 0:
		return compare.Warn
	case t.Pass > 0:
		return compare.Pass
	}
	return compare.Unverified
}

// fill lays out the rows of an op.
func (o *pageOp) fill(cols []column, marks map[*row][]int) {
	var t Tally
	for _, c := range cols {
		if c.key != "op" {
			o.Head = append(o.Head, pageCell{Text: c.name, Right: c.right})
		}
	}
	byType := map[string]*pageType{}
	for _, r := range o.Rows {
		first := r.first()
		for _, res := range r.results {
			t.add(res.Status)
		}
		o.Marks = append(o.Marks, pageMark{r.status, clean(fmt.Sprintf("%s %s: %s %s", first.DType, first.Target, r.status, r.verdict))})
		var cells []pageCell
		for _, c := range cols {
			if c.key == "op" {
				continue
			}
			cell := pageCell{Text: clean(c.text(r)), Right: c.right, Meter: -1}
			switch c.key {
			case "status":
				cell.Class, cell.Notes = string(r.status), superscript(marks[r])
			case "share":
				if r.judged > 0 && !math.IsNaN(r.share) {
					cell.Meter, cell.Over = 100*min(r.share, 1), r.share > 1
				}
			}
			cells = append(cells, cell)
		}
		o.Cells = append(o.Cells, cells)
		if h, ok := newHist(r); ok {
			dt := byType[first.DType]
			if dt == nil {
				dt = &pageType{DType: clean(first.DType)}
				byType[first.DType] = dt
				o.Types = append(o.Types, dt)
			}
			dt.Hists = append(dt.Hists, h)
		}
		if (r.status == compare.Fail || r.status == compare.Warn) && (r.judged > 0 || !r.skipped()) {
			o.Failures = append(o.Failures, newFailure(r))
		}
	}
	o.Line = t.short()
}

// newFailure explains a row. Of cases whose mismatches lie alike, one is
// drawn; what is not drawn is counted.
func newFailure(r *row) *pageFailure {
	d := newDetail(r)
	f := &pageFailure{Status: r.status, Title: d.title, Lines: d.lines}
	seen := map[string]bool{}
	for _, res := range r.results {
		m := newMap(res)
		if res.Status != r.status || m == nil {
			continue
		}
		switch key := fmt.Sprint(m.Lines, m.Axes); {
		case seen[key]:
			f.Alike++
		case f.Map == nil:
			f.Map, seen[key] = m, true
		case len(f.Others) < maxMaps-1:
			f.Others, seen[key] = append(f.Others, m), true
		default:
			f.Left++
		}
	}
	return f
}

func newPageChanges(c *baseline.Comparison) *pageChanges {
	bad, others := groups(c.Changes)
	list := func(gs []*changeGroup) []pageGroup {
		var out []pageGroup
		for _, g := range gs {
			x := pageGroup{Title: g.title(), Kind: string(g.Kind), Count: g.count(), Cases: g.cases}
			if g.Case == "" {
				x.Detail = clean(g.Detail)
			}
			out = append(out, x)
		}
		return out
	}
	return &pageChanges{Summary: changesSummary(c), Bad: len(bad) > 0, Groups: list(bad), Others: list(others)}
}

// The size of a histogram, in its own units.
const (
	histBar    = 16
	histHeight = 56
)

// newHist draws how many elements of a row have which error: a bar for
// each bin of compare.HistEdges, its height the logarithm of the count.
func newHist(r *row) (pageHist, bool) {
	var sum [len(compare.HistEdges) + 1]int
	total := 0
	for _, res := range r.results {
		if j := res.Judgement; j != nil && len(j.Accuracy.Hist) == len(sum) {
			for i, n := range j.Accuracy.Hist {
				sum[i] += max(n, 0)
				total += max(n, 0)
			}
		}
	}
	if total == 0 {
		return pageHist{}, false
	}
	h := pageHist{Target: clean(r.first().Target), Bad: r.status == compare.Fail}
	var path strings.Builder
	var words []string
	for i, n := range sum {
		if n == 0 {
			continue
		}
		// A single element must show: an eighth of the height is its bar.
		height := histHeight * (0.125 + 0.875*math.Log(float64(n))/math.Log(float64(max(total, 2))))
		fmt.Fprintf(&path, "M%d %dv-%.1fh%dv%.1fz", i*histBar+1, histHeight, height, histBar-2, height)
		words = append(words, fmt.Sprintf("%s: %d", binName(i), n))
	}
	h.Path = path.String()
	h.Words = fmt.Sprintf("%d elements by error in ulp. %s", total, strings.Join(words, ", "))
	return h, true
}

func binName(i int) string {
	switch i {
	case 0:
		return "0"
	case len(compare.HistEdges):
		return fmt.Sprintf("over %v", compare.HistEdges[i-1])
	}
	return fmt.Sprintf("to %v", compare.HistEdges[i])
}

// histAxis are the labels under a histogram.
func histAxis() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<path class="base" d="M0 %dh%d"/>`, histHeight, (len(compare.HistEdges)+1)*histBar)
	for i := range len(compare.HistEdges) + 1 {
		label := ">"
		if i < len(compare.HistEdges) {
			label = strings.TrimPrefix(fmt.Sprint(compare.HistEdges[i]), "0.")
			if i == 1 {
				label = "½"
			} else if compare.HistEdges[i] == 1024 {
				label = "1k"
			}
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, i*histBar+histBar/2, histHeight+11, template.HTMLEscapeString(label))
	}
	return template.HTML(b.String()) // of constants alone
}
