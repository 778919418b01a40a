package ops

import (
	"math"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// rowOf returns the places in src of output o's elements, in order.
func rowOf(p *Problem) func(o int) []int {
	info, dims := p.Arg("info").Buf, int(p.Arg("num_dims").Int)
	ds, ss := make([]int, dims), make([]int, dims)
	for i := range dims {
		ds[i], ss[i] = int(info.Int(i)), int(info.Int(dims+i))
	}
	at := walker(ds, ss)
	n := p.Case.Dim("n")
	return func(o int) []int {
		places := make([]int, n)
		for k := range places {
			places[k] = at(o*n + k)
		}
		return places
	}
}

func expectFast(p *Problem) *compare.Expected {
	c := p.Case
	out, n, v := c.Dim("out"), c.Dim("n"), c.Variant
	src, row := p.Arg("src").Buf, rowOf(p)
	e := &compare.Expected{DType: v.T, Axes: []compare.Axis{{Name: "out", Size: out}}}
	e.Identity = n == 1
	if c.Op.Name == "fast_sum" && v.T.IsFloat() {
		g := newSumGauge(e, out, p.Arithmetic.Lanes)
		if g.lanes < 2 {
			chains(e, n)
		}
		if p.inFloat() {
			g.a = tensor.F32
		}
		switch c.Class {
		case "same", "ones":
			e.Degenerate, e.Group = true, out // equal elements, equal errors
		case "cancel", "large":
			e.Degenerate = true // 0 may be within the bound
		}
		xs := make([]float64, n)
		for o := range out {
			for k, at := range row(o) {
				xs[k] = src.Float(at)
			}
			g.add(e, o, xs, threads(n))
		}
		return e
	}
	e.ULP = true
	e.Exact = tensor.New(v.T, out)
	if isArg(c.Op) {
		e.DType, e.Exact = tensor.U32, tensor.New(tensor.U32, out)
		e.Degenerate = n == 1 // every index is 0
		e.Tied = func(o int, k uint64) bool {
			if k >= uint64(n) {
				return false
			}
			places := row(o)
			i, j := places[k], places[e.Exact.Bits(o)]
			return src.Bits(i) == src.Bits(j) || !above(src, i, j) && !above(src, j, i) && !isNaN(src, i) && !isNaN(src, j)
		}
	}
	for o := range out {
		places := row(o)
		switch c.Op.Name {
		case "fast_sum":
			var s uint64
			for _, at := range places {
				s += src.Bits(at)
			}
			e.Exact.SetBits(o, s)
		case "fast_min", "fast_max":
			e.Exact.SetBits(o, extreme(src, places, c.Op.Name == "fast_max"))
		default:
			e.Exact.SetBits(o, uint64(argExtreme(src, places, threads(n), c.Op.Name == "fast_argmax")))
		}
	}
	return e
}

// isNaN reports whether an element of t is NaN.
func isNaN(t *tensor.Tensor, i int) bool { return t.DType.IsFloat() && math.IsNaN(t.Float(i)) }

// above compares two elements of t as their type does: false where either
// is NaN.
func above(t *tensor.Tensor, i, j int) bool {
	switch {
	case t.DType.IsFloat():
		return t.Float(i) > t.Float(j)
	case t.DType == tensor.I64:
		return t.Int(i) > t.Int(j)
	}
	return t.Bits(i) > t.Bits(j)
}

// extreme returns the bits of the greatest or least of the elements of t
// at places. Of f32 and f64 a NaN is dropped, of f16 and bf16 it is kept.
func extreme(t *tensor.Tensor, places []int, greatest bool) uint64 {
	best := -1
	for _, at := range places {
		if isNaN(t, at) {
			if t.DType.Precision() <= 11 {
				return t.DType.Encode(math.NaN())
			}
			continue
		}
		if best < 0 || greatest && above(t, at, best) || !greatest && above(t, best, at) {
			best = at
		}
	}
	if best >= 0 {
		return t.Bits(best)
	}
	// Nothing but NaN: what the reduction starts from.
	if greatest {
		return t.DType.Encode(math.Inf(-1))
	}
	return t.DType.Encode(math.Inf(1))
}

// argExtreme is the order of candle's kernel, which decides among equal
// elements: each of lanes threads takes its elements by strict comparison,
// then lane i takes in lane i+s for s = lanes/2, lanes/4, ..., 1.
func argExtreme(t *tensor.Tensor, places []int, lanes int, greatest bool) int {
	better := func(i, j int) bool { // element i than element j
		if greatest {
			return above(t, places[i], places[j])
		}
		return above(t, places[j], places[i])
	}
	best := make([]int, lanes) // element, or -1
	for l := range best {
		best[l] = -1
	}
	for i := range places {
		if l := i % lanes; best[l] < 0 || better(i, best[l]) {
			best[l] = i
		}
	}
	for s := lanes / 2; s > 0; s /= 2 {
		for l := range s {
			if b := best[l+s]; b >= 0 && better(b, best[l]) {
				best[l] = b
			}
		}
	}
	return best[0]
}

// A sumGauge puts truths and bounds of sums of floats.
type sumGauge struct {
	d     tensor.DType
	a     tensor.DType // that adds
	lanes int          // that share a sum
}

// newSumGauge readies e for sums in its type.
func newSumGauge(e *compare.Expected, out int, lanes int) sumGauge {
	e.Value, e.Hard, e.Likely = make([]float64, out), make([]float64, out), make([]float64, out)
	e.Allow = make([]compare.Class, out)
	if e.DType == tensor.F64 {
		e.Tail = make([]float64, out)
	}
	return sumGauge{d: e.DType, a: e.DType, lanes: lanes}
}

// truth stores the exact sum of xs as element o and returns the sum of
// magnitudes. Where that leaves the range of the type that adds, so may
// partial sums.
func (g sumGauge) truth(e *compare.Expected, o int, xs []float64) float64 {
	var acc truth.Accumulator
	var size float64 // of the finite ones
	for _, x := range xs {
		acc.Add(x)
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			size += math.Abs(x)
		}
	}
	t := acc.Sum()
	e.Value[o] = t.Hi
	if e.Tail != nil {
		e.Tail[o] = t.Lo
	}
	if size >= g.a.MaxFinite() {
		e.Allow[o] = compare.NaN | compare.PosInf | compare.NegInf
	}
	return size
}

// add stores the truth and the bounds of a sum, for which candle launches so
// many threads.
func (g sumGauge) add(e *compare.Expected, o int, xs []float64, threads int) {
	size := g.truth(e, o, xs)
	n := len(xs)
	u, t := g.a.UnitRoundoff(), e.Value[o]
	bound := func(share float64) float64 {
		b := float64(size * share)
		if isHalf(g.d) && t-t == 0 {
			b = stored(g.d, t, b)
		}
		return b
	}
	magnitudes := make([]float64, n)
	for i, x := range xs {
		magnitudes[i] = math.Abs(x)
	}
	s := newRow(magnitudes, g.lanes).summing(g.lanes, math.Min(u, u32))
	e.Hard[o], e.Likely[o] = bound(s.hard), bound(s.likely)
	if e.Shared != nil {
		e.Shared[o] = bound(s.shared)
	}
	if !isHalf(g.a) {
		return
	}
	// In candle's order, in the type. Partial sums are off themselves by up to
	// gamma times what they add, of which all together add no more than size
	// on each level.
	h := math.Min(float64(n-1), float64((n+threads-1)/threads-1+bits.Len(uint(threads))-1))
	sum, square := partials(xs, threads)
	second := float64(h * u * gamma(h, u) * size)
	steps := math.Min(float64(size*gamma(h, u)), float64(u*sum)+second)
	e.Hard[o] = math.Max(e.Hard[o], steps)
	if e.Shared != nil {
		e.Shared[o] = math.Max(e.Shared[o], steps)
	}
	e.Likely[o] = math.Min(e.Hard[o], math.Max(e.Likely[o], float64(lambda*u*math.Sqrt(square))+second))
}

// partials returns the sum of the magnitudes of all partial sums in
// candle's order, u times which bounds the error to first order (numerics.md
// 4.1), and the sum of their squares. Both are infinite for a sum that is
// not finite.
func partials(xs []float64, lanes int) (sum, square float64) {
	lane, some := make([]float64, lanes), make([]bool, lanes)
	put := func(l int, x float64) {
		if lane[l] += x; some[l] {
			sum += math.Abs(lane[l])
			square += float64(lane[l] * lane[l])
		}
		some[l] = true
	}
	for i, x := range xs {
		put(i%lanes, x)
	}
	for s := lanes / 2; s > 0; s /= 2 {
		for l := range s {
			if some[l+s] {
				put(l, lane[l+s])
			}
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(1), math.Inf(1)
	}
	return sum, square
}
