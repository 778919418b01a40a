package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A pageMap shows which elements of a case are wrong: all of them in
// order, a line for each coordinate of the first axis, and the share that
// is wrong at each coordinate of every axis.
type pageMap struct {
	Case, Words string
	Outer       string // the axis that lines are of
	Lines       []pageLine
	Unknown     bool // some elements are drawn as not recorded
	Axes        []pageAxis
}

// A pageLine is some consecutive elements, as paths over 0..mapWidth.
type pageLine struct {
	Label          string
	Right, Wrong   string
	Unknown, Words string
}

type pageAxis struct {
	Name  string
	Size  int
	Cells []pageShare
	Fold  int // coordinates of a cell
}

type pageShare struct {
	Label, Words string
	Alpha        string // how much is wrong, 0 to 1
}

// The size of a map: its width in its own units, and the most lines.
const (
	mapWidth = 600
	mapLines = 24
)

// newMap draws the mismatches of a result, nil where there are none.
func newMap(r *runner.Result) *pageMap {
	if r.Judgement == nil || r.Judgement.Pattern == nil || r.Judgement.Accuracy.Mismatches == 0 {
		return nil
	}
	p, n := r.Judgement.Pattern, r.Judgement.Accuracy.N
	if n <= 0 {
		return nil
	}
	m := &pageMap{Case: clean(r.Case), Words: fmt.Sprintf("%d of %s wrong", r.Judgement.Accuracy.Mismatches, plural(n, "element"))}
	lines := 1
	for _, a := range p.Axes { // the first axis that has more than one coordinate
		if a.Size > 1 {
			if a.Size <= mapLines && n%a.Size == 0 {
				m.Outer, lines = clean(a.Name), a.Size
			}
			break
		}
	}
	per := n / lines
	for k := range lines {
		line := pageLine{}
		if m.Outer != "" {
			line.Label = fmt.Sprintf("%s=%d", m.Outer, k)
		}
		from, to := k*per, (k+1)*per
		var right, wrong, unknown strings.Builder
		bad, known := 0, from
		for _, s := range p.Ranges {
			a, b := max(s.From, from), min(s.To, to)
			if a >= b {
				continue
			}
			into := &right
			if s.Wrong {
				into = &wrong
				bad += b - a
			}
			segment(into, a-from, b-from, per)
			known = max(known, b)
		}
		if known < to { // a pattern holds no more than so many ranges
			segment(&unknown, known-from, to-from, per)
			m.Unknown = true
		}
		line.Right, line.Wrong, line.Unknown = right.String(), wrong.String(), unknown.String()
		line.Words = fmt.Sprintf("elements %d to %d: %d wrong", from, to-1, bad)
		if known < to {
			line.Words += fmt.Sprintf(", not recorded from %d", known)
		}
		m.Lines = append(m.Lines, line)
	}
	for _, a := range p.Axes {
		if len(a.Wrong) == 0 || len(a.Wrong) != len(a.Total) {
			continue
		}
		m.Axes = append(m.Axes, newAxis(a))
	}
	return m
}

// segment draws elements from to to of a line of per.
func segment(b *strings.Builder, from, to, per int) {
	x := float64(from) / float64(per) * mapWidth
	w := max(float64(to-from)/float64(per)*mapWidth, 1) // one wrong element must show
	fmt.Fprintf(b, "M%.1f 0h%.1fv1h-%.1fz", x, w, w)
}

func newAxis(a compare.AxisShare) pageAxis {
	x := pageAxis{Name: clean(a.Name), Size: a.Size, Fold: 1}
	if len(a.Wrong) < a.Size {
		x.Fold = (a.Size + len(a.Wrong) - 1) / len(a.Wrong)
	}
	for i, wrong := range a.Wrong {
		share := 0.0
		if a.Total[i] > 0 {
			share = min(max(float64(wrong)/float64(a.Total[i]), 0), 1)
		}
		c := pageShare{
			Words: fmt.Sprintf("%s, bin %d: %d of %d wrong", x.Name, i, wrong, a.Total[i]),
			Alpha: fmt.Sprintf("%.2f", share),
		}
		if x.Fold == 1 {
			c.Words = fmt.Sprintf("%s=%d: %d of %d wrong", x.Name, i, wrong, a.Total[i])
		}
		if len(a.Wrong) <= 8 {
			c.Label = fmt.Sprintf("%.0f%%", math.Floor(100*share))
			if share > 0 && share < 0.01 {
				c.Label = "<1%"
			}
		}
		x.Cells = append(x.Cells, c)
	}
	return x
}
