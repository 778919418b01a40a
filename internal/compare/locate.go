package compare

import (
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

const (
	maxBins   = 64
	maxRanges = 16
	maxHints  = 4

	// Nearly all: some elements that a fault touches come out right by
	// chance, in particular where the truth is near zero.
	nearly = 0.9
)

// Locate says how the mismatches of an output lie, and in words what they
// look like: at most four hints, where they are before what they are. An
// output without mismatches has no hints. The errors are Measure's.
func Locate(e *Expected, got *tensor.Tensor, opts Options) (Pattern, []string, error) {
	m, err := measure(e, got)
	if err != nil {
		return Pattern{}, nil, err
	}
	p, hints := locate(e, got, m.wrong, opts)
	return p, hints, nil
}

func locate(e *Expected, got *tensor.Tensor, wrong []bool, opts Options) (Pattern, []string) {
	var p Pattern
	if wrong == nil {
		wrong = make([]bool, e.Len())
	}
	axes := e.Axes
	if len(axes) == 0 {
		axes = []Axis{{"element", len(wrong)}}
	}
	g := newGeometry(axes, wrong)
	for k, a := range axes {
		bins := min(a.Size, maxBins)
		s := AxisShare{Name: a.Name, Size: a.Size, Wrong: make([]int, bins), Total: make([]int, bins)}
		each := 0
		if a.Size > 0 {
			each = len(wrong) / a.Size
		}
		for c, n := range g.wrong[k] {
			s.Wrong[c*bins/a.Size] += n
			s.Total[c*bins/a.Size] += each
		}
		p.Axes = append(p.Axes, s)
	}
	p.Ranges = ranges(wrong)
	if g.total == 0 {
		return p, nil
	}
	hints := g.where(opts)
	l := &looks{e: e, m: newMeter(e), got: got, read: reader(got), g: g, opts: opts}
	l.sample(wrong)
	hints = append(hints, l.hints()...)
	if len(hints) > maxHints {
		hints = hints[:maxHints]
	}
	return p, hints
}

// ranges lists the first runs of right and wrong elements.
func ranges(wrong []bool) []Range {
	var rs []Range
	for i, w := range wrong {
		if k := len(rs); k > 0 && rs[k-1].Wrong == w {
			rs[k-1].To = i + 1
			continue
		}
		if len(rs) == maxRanges {
			break
		}
		rs = append(rs, Range{From: i, To: i + 1, Wrong: w})
	}
	return rs
}

// A geometry is where wrong elements lie along the axes.
type geometry struct {
	axes        []Axis
	stride      []int // elements between neighbours along an axis
	mask        []bool
	wrong       [][]int // by axis and coordinate
	total       int
	first, last int // wrong elements
}

func newGeometry(axes []Axis, mask []bool) *geometry {
	g := &geometry{axes: axes, mask: mask, first: -1}
	g.stride = make([]int, len(axes))
	s := 1
	for k := len(axes) - 1; k >= 0; k-- {
		g.stride[k] = s
		s *= axes[k].Size
	}
	for _, a := range axes {
		g.wrong = append(g.wrong, make([]int, a.Size))
	}
	for i, w := range mask {
		if !w {
			continue
		}
		if g.total++; g.first < 0 {
			g.first = i
		}
		g.last = i
		for k, a := range axes {
			g.wrong[k][i/g.stride[k]%a.Size]++
		}
	}
	return g
}

// where says in words which elements are wrong.
func (g *geometry) where(opts Options) []string {
	n := len(g.mask)
	switch {
	case g.total == n:
		if n == 1 {
			return nil
		}
		return []string{fmt.Sprintf("all %d elements are wrong", n)}
	case g.total == 1:
		return []string{fmt.Sprintf("one element of %d is wrong: %s", n, g.place(g.first))}
	}
	var hints []string
	after := n - g.first
	box, exact := g.box()
	switch {
	case g.first > 0 && float64(g.total) >= nearly*float64(after) && (g.last == n-1 || g.total == after):
		hints = append(hints, g.prefix(opts))
	case g.last-g.first+1 == g.total && g.first == 0:
		hints = append(hints, fmt.Sprintf("elements 0..%d of %d are wrong: %s; all after them are right", g.last, n, g.extent(g.total)))
	case g.last-g.first+1 == g.total && !exact:
		hints = append(hints, fmt.Sprintf("one run is wrong: elements %d..%d of %d, from %s to %s", g.first, g.last, n, g.place(g.first), g.place(g.last)))
	}
	if len(hints) == 0 || exact && !strings.Contains(hints[0], "right:") {
		if exact {
			hints = append(hints, fmt.Sprintf("wrong exactly where %s (%d of %d elements)", box, g.total, n))
		}
	}
	if len(hints) == 0 {
		if s := g.period(opts); s != "" {
			hints = append(hints, s)
		}
	}
	if len(hints) == 0 && box != "" {
		hints = append(hints, fmt.Sprintf("all %d wrong elements have %s", g.total, box))
	}
	if len(hints) == 0 {
		hints = append(hints, fmt.Sprintf("%d of %d elements are wrong, in no simple pattern; the first is %s", g.total, n, g.place(g.first)))
	}
	return hints
}

// prefix words an output of which only the beginning is right.
func (g *geometry) prefix(opts Options) string {
	n, m := len(g.mask), g.first
	var s string
	if m <= n/2 {
		s = fmt.Sprintf("only elements 0..%d of %d are right: %s; %s", m-1, n, g.extent(m), g.rest(m))
	} else if g.total == n-m {
		s = fmt.Sprintf("the last %d of %d elements are wrong, from %s on", n-m, n, g.place(m))
	} else {
		s = fmt.Sprintf("%d of the last %d of %d elements are wrong, from %s on", g.total, n-m, n, g.place(m))
	}
	if b := opts.Block; b > 1 && m%b == 0 {
		switch {
		case n-m < b:
			s += fmt.Sprintf(" (the last, partial block of %d threads)", b)
		case n-m == b:
			s += fmt.Sprintf(" (the last block of %d threads)", b)
		default:
			s += fmt.Sprintf(" (whole blocks of %d threads)", b)
		}
	}
	return s
}

// rest words what follows a right beginning of m elements, by the whole
// slices of the outermost axis with more than one.
func (g *geometry) rest(m int) string {
	all := g.total == len(g.mask)-m
	for k, a := range g.axes {
		if a.Size < 2 {
			continue
		}
		next := (m + g.stride[k] - 1) / g.stride[k] // first slice with nothing in the beginning
		if next >= a.Size || m > g.stride[k] {
			break
		}
		if all {
			return fmt.Sprintf("every later %s is wrong", word(a.Name))
		}
		w := 0
		for _, c := range g.wrong[k][next:] {
			w += c
		}
		if w == (a.Size-next)*g.stride[k] {
			return fmt.Sprintf("every later %s is wrong", word(a.Name))
		}
		return fmt.Sprintf("all but %d elements after them are wrong, in every later %s", len(g.mask)-m-g.total, word(a.Name))
	}
	if all {
		return "all after them are wrong"
	}
	return fmt.Sprintf("all but %d after them are wrong", len(g.mask)-m-g.total)
}

// extent words the first m elements along the axes.
func (g *geometry) extent(m int) string {
	for k := range g.axes {
		st := g.stride[k]
		// Slices of axis k, or half of one; in the first slice of every
		// axis further out.
		switch {
		case m%st == 0 && m/st <= g.axes[k].Size:
			c := m / st
			var s string
			if c == 1 {
				s = word(g.axes[k].Name) + " 0"
			} else {
				s = fmt.Sprintf("%s 0..%d", plural(word(g.axes[k].Name)), c-1)
			}
			return s + g.within(k)
		case 2*m == st:
			return fmt.Sprintf("the first half of %s 0", word(g.axes[k].Name)) + g.within(k)
		}
	}
	return "up to " + g.place(m-1)
}

// within is " in batch 0" and so on for the axes outside of axis k.
func (g *geometry) within(k int) string {
	var s []string
	for j := k - 1; j >= 0; j-- {
		if g.axes[j].Size > 1 {
			s = append(s, word(g.axes[j].Name)+" 0")
		}
	}
	if len(s) == 0 {
		return ""
	}
	return " in " + strings.Join(s, " of ")
}

// place words one element.
func (g *geometry) place(i int) string {
	if len(g.axes) == 1 {
		return fmt.Sprintf("%s %d", word(g.axes[0].Name), i)
	}
	var s []string
	for k, a := range g.axes {
		s = append(s, fmt.Sprintf("%s=%d", a.Name, i/g.stride[k]%a.Size))
	}
	return fmt.Sprintf("element %d (%s)", i, strings.Join(s, ", "))
}

// box words the smallest set of coordinates along each axis that holds
// every wrong element, and says whether nearly all of the product of
// these sets is wrong. It is empty where no axis is restricted.
func (g *geometry) box() (words string, exact bool) {
	size := 1
	var parts []string
	for k, a := range g.axes {
		in := make([]bool, a.Size)
		n := 0
		for c, w := range g.wrong[k] {
			if w > 0 {
				in[c] = true
				n++
			}
		}
		size *= n
		if n < a.Size {
			if s := set(a.Name, in, n); s != "" {
				parts = append(parts, s)
			}
		}
	}
	return strings.Join(parts, " and "), len(parts) > 0 && float64(g.total) >= nearly*float64(size)
}

// set words a set of n coordinates, or is empty where it has no shape.
func set(name string, in []bool, n int) string {
	first, last := -1, -1
	for c, ok := range in {
		if ok {
			if first < 0 {
				first = c
			}
			last = c
		}
	}
	size := len(in)
	switch {
	case n == 1:
		return fmt.Sprintf("%s = %d", name, first)
	case last-first+1 == n && last == size-1:
		return fmt.Sprintf("%s >= %d", name, first)
	case last-first+1 == n && first == 0:
		return fmt.Sprintf("%s <= %d", name, last)
	case last-first+1 == n:
		return fmt.Sprintf("%s in %d..%d", name, first, last)
	case n == size-1:
		for c, ok := range in {
			if !ok {
				return fmt.Sprintf("%s is not %d", name, c)
			}
		}
	}
	for _, p := range periods {
		if p > size/2 {
			break
		}
		if s := residues(name, in, p, n); s != "" {
			return s
		}
	}
	if n <= 6 {
		var s []string
		for c, ok := range in {
			if ok {
				s = append(s, fmt.Sprint(c))
			}
		}
		return fmt.Sprintf("%s in {%s}", name, strings.Join(s, ", "))
	}
	return ""
}

// periods are the distances at which faults repeat: vectors, lanes,
// waves, blocks, and small odd sizes.
var periods = []int{2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512, 1024}

// residues words the set as one run of residues modulo p, or is empty.
func residues(name string, in []bool, p, n int) string {
	hit := make([]bool, p)
	for c, ok := range in {
		if ok {
			hit[c%p] = true
		}
	}
	want, r, first, last := 0, 0, -1, -1
	for c := range in {
		if hit[c%p] {
			want++
		}
	}
	for c, ok := range hit {
		if ok {
			r++
			if first < 0 {
				first = c
			}
			last = c
		}
	}
	if r == p || last-first+1 != r || float64(n) < nearly*float64(want) || n < 3 {
		return ""
	}
	switch {
	case p == 2 && first == 1:
		return name + " is odd"
	case p == 2:
		return name + " is even"
	case r == 1:
		return fmt.Sprintf("%s mod %d = %d", name, p, first)
	}
	return fmt.Sprintf("%s mod %d in %d..%d", name, p, first, last)
}

// period words wrong elements that repeat with the index, as those of a
// lane, a wave or a block do.
func (g *geometry) period(opts Options) string {
	n := len(g.mask)
	for _, p := range append(periods[:len(periods):len(periods)], opts.Wave, opts.Block) {
		if p < 2 || n < 3*p {
			continue
		}
		if s := residues("the index", g.mask, p, g.total); s != "" {
			switch p {
			case opts.Block:
				s += fmt.Sprintf(": in every block of %d", p)
			case opts.Wave:
				s += fmt.Sprintf(": in every wave of %d", p)
			}
			return fmt.Sprintf("wrong where %s (%d of %d elements)", s, g.total, n)
		}
	}
	return ""
}

// word is what an axis is called in a sentence.
func word(name string) string {
	switch name {
	case "b":
		return "batch"
	case "h":
		return "head"
	case "t":
		return "token"
	case "c":
		return "channel"
	}
	return name
}

func plural(w string) string {
	switch {
	case len(w) < 2:
		return w
	case strings.HasSuffix(w, "ch"):
		return w + "es"
	}
	return w + "s"
}
