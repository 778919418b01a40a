package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

const (
	maxSample = 512 // wrong elements that are looked at
	minSample = 4   // of fewer any rule fits some

	// A right kernel's output is within the bound of the truth, and so of
	// a rule that is applied to it; the rule's constant is itself taken
	// from the outputs.
	fit = 1.25
)

// looks says what wrong values look like.
type looks struct {
	e    *Expected
	m    *meter
	got  *tensor.Tensor
	read func(i int) float64
	g    *geometry
	opts Options
	at   []int // indices of wrong elements, spread over all of them
}

func (l *looks) sample(wrong []bool) {
	step := max(1, l.g.total/maxSample)
	k := 0
	for i, w := range wrong {
		if w {
			if k%step == 0 {
				l.at = append(l.at, i)
			}
			k++
		}
	}
}

// most reports whether f holds of nearly all of the sample; elements that
// f cannot judge do not count.
func (l *looks) most(f func(i int) (holds, judged bool)) bool {
	yes, n := 0, 0
	for _, i := range l.at {
		holds, judged := f(i)
		if !judged {
			continue
		}
		n++
		if holds {
			yes++
		}
	}
	return n >= minSample && float64(yes) >= nearly*float64(n)
}

func (l *looks) all(f func(i int) bool) bool {
	for _, i := range l.at {
		if !f(i) {
			return false
		}
	}
	return true
}

// reading reads element i's output against the truth of element j.
func (l *looks) reading(i, j int) reading {
	return l.m.read(j, l.read(i), l.got.Bits(i))
}

func (l *looks) hints() []string {
	if s := l.unwritten(); s != "" {
		return []string{s}
	}
	var hints []string
	add := func(s string) {
		if s != "" {
			hints = append(hints, s)
		}
	}
	if l.e.Tied != nil && l.all(func(i int) bool { return l.e.Tied(i, l.got.Bits(i)) }) {
		return []string{"every wrong index is of an equal element: ties are broken in another order"}
	}
	add(l.classes())
	add(l.zero())
	add(l.input())
	if len(hints) > 0 {
		return hints
	}
	if l.g.total < minSample {
		return nil
	}
	if s := l.constant(); s != "" {
		return []string{s}
	}
	add(l.affine())
	add(l.moved())
	add(l.signs())
	if l.e.DType.IsFloat() {
		add(l.precision())
		add(l.rounding())
	}
	return hints
}

func (l *looks) unwritten() string {
	for _, f := range l.opts.Poison {
		p := filled(f, l.e.DType)
		if l.all(func(i int) bool { return l.got.Bits(i) == p }) {
			if f == 0 {
				return "every wrong element is 0, or was never written: the output was filled with 0"
			}
			return fmt.Sprintf("the wrong elements were never written: they hold the fill pattern 0x%02x", f)
		}
	}
	if !l.e.DType.IsFloat() {
		return ""
	}
	n := 0
	for _, i := range l.at {
		for _, f := range l.opts.Poison {
			if f != 0 && l.got.Bits(i) == filled(f, l.e.DType) {
				n++
				break
			}
		}
	}
	if n > 0 {
		return fmt.Sprintf("some of the wrong elements (%d of %d looked at) were never written: they hold the fill pattern", n, len(l.at))
	}
	return ""
}

// classes tells of wrong elements that are not finite, or not where they
// should be.
func (l *looks) classes() string {
	n := [4]int{}
	lost := 0
	for _, i := range l.at {
		k := kind(l.read(i))
		n[k]++
		if k == 3 && kind(l.reading(i, i).truth) != 3 {
			lost++
		}
	}
	name := [...]string{"NaN", "+Inf", "-Inf"}
	for k, s := range name {
		switch {
		case n[k] == len(l.at):
			return fmt.Sprintf("every wrong element is %s", s)
		case n[k] > 0:
			return fmt.Sprintf("wrong elements include %s (%d of %d looked at)", s, n[k], len(l.at))
		}
	}
	if lost == len(l.at) {
		return "every wrong element is finite where the truth is not: NaN or infinity is lost"
	}
	return ""
}

func (l *looks) zero() string {
	if !l.all(func(i int) bool { return l.read(i) == 0 }) {
		return ""
	}
	if l.e.DType.IsFloat() {
		if l.all(func(i int) bool {
			t := l.reading(i, i).truth
			return t != 0 && math.Abs(t) < l.e.DType.MinNormal()
		}) {
			return "every wrong element is 0 where the truth is subnormal: subnormals are flushed"
		}
		if l.all(func(i int) bool { return l.reading(i, i).zeroSign }) {
			return "every wrong element is a zero of the wrong sign"
		}
	}
	return "every wrong element is 0"
}

func (l *looks) input() string {
	if l.g.total < minSample && l.g.total < len(l.g.mask) {
		return ""
	}
	for _, in := range l.opts.Inputs {
		t := in.Tensor
		if t == nil || t.DType != l.e.DType || t.Len() != len(l.g.mask) {
			continue
		}
		if l.all(func(i int) bool { return t.Bits(i) == l.got.Bits(i) }) {
			return fmt.Sprintf("the wrong elements hold the input %s unchanged", in.Name)
		}
	}
	return ""
}

func (l *looks) constant() string {
	first := l.got.Bits(l.at[0])
	if l.all(func(i int) bool { return l.got.Bits(i) == first }) {
		return fmt.Sprintf("every wrong element is %.9g", l.read(l.at[0]))
	}
	return ""
}

// affine tells of outputs that are a multiple of the truth, or apart from
// it by a constant: over all, or row by row.
func (l *looks) affine() string {
	var ratios, shifts, limits []float64
	for _, i := range l.at {
		r := l.reading(i, i)
		v := l.read(i)
		if kind(v) != 3 || kind(r.truth) != 3 || math.Abs(r.truth) <= 16*l.slack(r) {
			continue
		}
		ratios = append(ratios, v/r.truth)
		shifts = append(shifts, v-r.truth)
		limits = append(limits, l.slack(r))
	}
	if len(ratios) < minSample {
		return ""
	}
	c, d, lim := median(ratios), median(shifts), median(limits)
	if l.most(func(i int) (bool, bool) {
		r, v := l.reading(i, i), l.read(i)
		// Where the limit is as large as the effect nothing is seen.
		return math.Abs(v-c*r.truth) <= fit*max(1, math.Abs(c))*l.slack(r), math.Abs((c-1)*r.truth) > 4*l.slack(r)
	}) {
		if math.Abs(c+1) < 1e-2 {
			return "the wrong elements have the wrong sign: each is minus the truth"
		}
		return fmt.Sprintf("the wrong elements are %.6g times the truth: a factor is missing or wrong", c)
	}
	if math.Abs(d) > 4*lim && l.most(func(i int) (bool, bool) {
		r, v := l.reading(i, i), l.read(i)
		return math.Abs(v-r.truth-d) <= fit*l.slack(r), true
	}) {
		return fmt.Sprintf("the wrong elements are the truth %+.6g: a constant is added or missing", d)
	}
	return l.rows()
}

// slack is an element's bound, or half an ulp where that is larger.
func (l *looks) slack(r reading) float64 { return max(r.limit, r.ulp/2) }

// rows tells of rows along the innermost axis that are each a multiple of
// the truth: what a wrong norm or sum of the row does.
func (l *looks) rows() string {
	k := len(l.g.axes) - 1
	n := l.g.axes[k].Size
	if k < 1 || n < minSample {
		return ""
	}
	rows, fits := 0, 0
	last := -1
	for _, i := range l.at {
		row := i / n
		if row == last || rows == 64 {
			continue
		}
		last = row
		// The element of largest size fixes the factor.
		big, c := 0.0, 0.0
		for j := row * n; j < (row+1)*n; j++ {
			if r := l.reading(j, j); kind(r.truth) == 3 && math.Abs(r.truth) > big {
				big, c = math.Abs(r.truth), l.read(j)/r.truth
			}
		}
		seen, good := 0, 0
		for j := row * n; j < (row+1)*n; j++ {
			r := l.reading(j, j)
			if math.Abs((c-1)*r.truth) <= 4*l.slack(r) {
				continue
			}
			seen++
			if math.Abs(l.read(j)-c*r.truth) <= fit*max(1, math.Abs(c))*l.slack(r) {
				good++
			}
		}
		if seen < 3 {
			continue
		}
		rows++
		if float64(good) >= nearly*float64(seen) {
			fits++
		}
	}
	if rows == 0 || float64(fits) < nearly*float64(rows) {
		return ""
	}
	return fmt.Sprintf("each row along %s is a multiple of the truth, by a factor of its own: the row's sum or norm is off", l.g.axes[k].Name)
}

func (l *looks) signs() string {
	if l.most(func(i int) (bool, bool) {
		r := l.reading(i, i)
		return r.truth != 0 && !l.m.read(i, -l.read(i), 0).wrong, l.e.DType.IsFloat()
	}) {
		return "the wrong elements have the wrong sign"
	}
	return ""
}

// moved tells of outputs that are right somewhere else.
func (l *looks) moved() string {
	n := len(l.g.mask)
	// from tests the map of an element to where its value belongs, or to -1.
	from := func(f func(i int) int) bool {
		return l.most(func(i int) (bool, bool) {
			j := f(i)
			if j < 0 || j >= n || j == i || l.m.mark(j) != Ordinary {
				return false, false
			}
			return !l.reading(i, j).wrong, true
		}) && l.covers(f)
	}
	for k := len(l.g.axes) - 1; k >= 0; k-- {
		a, st := l.g.axes[k], l.g.stride[k]
		s := a.Size
		if s < 2 {
			continue
		}
		along := func(f func(c int) int) func(i int) int {
			return func(i int) int {
				c := i / st % s
				d := f(c)
				if d < 0 || d >= s {
					return -1
				}
				return i + (d-c)*st
			}
		}
		for _, t := range []struct {
			f    func(c int) int
			text string
		}{
			{func(c int) int { return c ^ 1 }, "neighbours along %s are swapped in pairs"},
			{func(c int) int {
				if s%2 != 0 {
					return -1
				}
				return (c + s/2) % s
			}, "the halves along %s are swapped"},
			{func(c int) int { return c + 1 }, "off by one along %s: each wrong element holds the value of the next"},
			{func(c int) int { return c - 1 }, "off by one along %s: each wrong element holds the value of the one before"},
			{func(c int) int { return s - 1 - c }, "%s is reversed"},
			{func(c int) int { return 0 }, "the wrong elements hold the values of %[1]s 0: %[1]s is left out of an index"},
			{func(c int) int {
				if s%2 != 0 {
					return -1
				}
				return c%2*(s/2) + c/2
			}, "%s is interleaved where it should lie in halves, or the reverse"},
			{func(c int) int {
				if s%2 != 0 {
					return -1
				}
				return c%(s/2)*2 + c/(s/2)
			}, "%s lies in halves where it should be interleaved, or the reverse"},
		} {
			if from(along(t.f)) {
				return fmt.Sprintf(t.text, word(a.Name))
			}
		}
	}
	for k := len(l.g.axes) - 2; k >= 0; k-- {
		r, c, st := l.g.axes[k].Size, l.g.axes[k+1].Size, l.g.stride[k+1]
		if r < 2 || c < 2 {
			continue
		}
		transposed := func(i int) int {
			in, slab := i%st, i/(st*r*c)
			p := i / st % (r * c)
			return slab*st*r*c + (p%r*c+p/r)*st + in
		}
		if from(transposed) {
			return fmt.Sprintf("%s and %s are transposed", word(l.g.axes[k].Name), word(l.g.axes[k+1].Name))
		}
	}
	for _, d := range []int{1, -1, 2, -2, l.opts.Wave, -l.opts.Wave, l.opts.Block, -l.opts.Block} {
		if d != 0 && from(func(i int) int { return i + d }) {
			return fmt.Sprintf("each wrong element holds the value of the element %+d away", d)
		}
	}
	return ""
}

// covers reports whether the map leads to truths that differ among
// themselves: a constant is found everywhere.
func (l *looks) covers(f func(i int) int) bool {
	seen := map[float64]bool{}
	for _, i := range l.at {
		if j := f(i); j >= 0 && j < len(l.g.mask) {
			seen[l.reading(i, j).truth] = true
		}
	}
	return len(seen) >= 3
}

// precision tells of values that have fewer bits than their type.
func (l *looks) precision() string {
	for _, d := range []tensor.DType{tensor.F8E4M3, tensor.BF16, tensor.F16, tensor.F32} {
		if d.Precision() >= l.e.DType.Precision() {
			continue
		}
		fits := func(v float64) bool { return d.Round(v) == v }
		if len(l.at) < 2*minSample || !l.all(func(i int) bool { return fits(l.read(i)) }) {
			continue
		}
		n := 0
		for _, i := range l.at {
			if fits(l.reading(i, i).round) {
				n++
			}
		}
		if n > len(l.at)/2 {
			return "" // the truths themselves fit
		}
		if l.most(func(i int) (bool, bool) { return l.read(i) == d.Round(l.reading(i, i).truth), true }) {
			return fmt.Sprintf("the wrong elements are the truth rounded to %s", d)
		}
		return fmt.Sprintf("every wrong element is a number of %s: it was computed or stored in that precision", d)
	}
	return ""
}

// rounding tells of stores that do not round to nearest.
func (l *looks) rounding() string {
	for _, t := range []struct {
		text   string
		toward func(r reading) bool
	}{
		{"toward zero: the store truncates", func(r reading) bool { return r.err < 0 == (r.truth > 0) }},
		{"downward", func(r reading) bool { return r.err < 0 }},
		{"upward", func(r reading) bool { return r.err > 0 }},
	} {
		if len(l.at) >= 4*minSample && l.most(func(i int) (bool, bool) {
			r := l.reading(i, i)
			return math.Abs(r.err) < r.ulp && t.toward(r), r.finite && r.err != 0
		}) {
			return "the wrong elements are within an ulp of the truth, rounded " + t.text
		}
	}
	return ""
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
