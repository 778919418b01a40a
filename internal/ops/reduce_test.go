package ops

import (
	"math"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// rows runs f over the elements of each output of a fast reduction.
func rows(f func(p *Problem, src *tensor.Tensor, places []int) uint64) func(p *Problem) *tensor.Tensor {
	return func(p *Problem) *tensor.Tensor {
		src, row := p.Arg("src").Buf, rowOf(p)
		out := p.Arg("dst").Buf.Clone()
		for o := range out.Len() {
			out.SetBits(o, f(p, src, row(o)))
		}
		return out
	}
}

// summed adds in an order: f64 in float64, f32 in float32 and halves in
// float32, or in their own type.
func summed(add func(p *Problem) order, inT bool) func(p *Problem) *tensor.Tensor {
	return rows(func(p *Problem, src *tensor.Tensor, places []int) uint64 {
		d := src.DType
		r := rounding(float)
		switch {
		case d == tensor.F64:
			r = double
		case inT:
			r = d.Round
		}
		xs := make([]float64, len(places))
		for k, at := range places {
			xs[k] = src.Float(at)
		}
		return d.Encode(add(p)(xs, r))
	})
}

func fixed(add order) func(p *Problem) order { return func(*Problem) order { return add } }
func launched(p *Problem) order              { return strided(int(p.Block.X)) }

func isFloat(c *Case) bool { return c.Variant.T.IsFloat() }

func TestFastSumHonest(t *testing.T) {
	o := find(t, "fast_sum")
	list := []emulation{
		{"in double", summed(fixed(wide), false), func(c *Case) bool { return isFloat(c) && notDouble(c) }},
		{"candle", summed(launched, true), isFloat},
		{"halves in float", summed(launched, false), isFloat},
	}
	for name, add := range map[string]order{
		"32 lanes": strided(32), "64 lanes": strided(64), "256 lanes": strided(256),
		"runs of neighbours": chunked, "pairwise": pairwise,
		"one lane": sequential, "one lane, backward": backward,
	} {
		list = append(list, emulation{name, summed(fixed(add), false), isFloat})
	}
	honest(t, o, Fast, 1<<20, list)
	if *thorough {
		honest(t, o, Thorough, 1<<20, list)
	}
}

func TestFastSumFaults(t *testing.T) {
	var list []emulation
	for name, add := range map[string]order{
		"lanes from 32 lost": few, "tail left out": untailed, "last left out": butLast, "first 32": first32,
		"half the lanes lost": func(xs []float64, r rounding) float64 {
			return sequential(xs[:(len(xs)+1)/2], r)
		},
		"starts from 1": func(xs []float64, r rounding) float64 { return r(1 + sequential(xs, r)) },
		"magnitudes": func(xs []float64, r rounding) float64 {
			ys := make([]float64, len(xs))
			for i, x := range xs {
				ys[i] = math.Abs(x)
			}
			return sequential(ys, r)
		},
		"in bf16": inType(tensor.BF16), // one by one: it stagnates
	} {
		list = append(list, emulation{name, summed(fixed(add), false), isFloat})
	}
	f16 := func(c *Case) bool { return c.Variant.T.IsFloat() && c.Variant.T != tensor.BF16 }
	list = append(list,
		emulation{"in f16, one by one", summed(fixed(inType(tensor.F16)), false), f16},
		emulation{"contiguous whatever the layout", contiguousSum, nil},
		emulation{"saturates", rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
			top := uint64(1)<<(8*src.DType.Size()) - 1
			var s uint64
			for _, at := range places {
				if s += src.Bits(at); s > top {
					s = top
				}
			}
			return s
		}), func(c *Case) bool { return c.Variant.T == tensor.U8 || c.Variant.T == tensor.U32 }},
		emulation{"in float", rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
			var s float32
			for _, at := range places {
				s += float32(src.Float(at))
			}
			return uint64(int64(s))
		}), func(c *Case) bool { return c.Variant.T == tensor.U32 || c.Variant.T == tensor.I64 }},
	)
	caught(t, find(t, "fast_sum"), list)
}

// contiguousSum ignores the layout.
func contiguousSum(p *Problem) *tensor.Tensor {
	src, n := p.Arg("src").Buf, p.Case.Dim("n")
	out := p.Arg("dst").Buf.Clone()
	for o := range out.Len() {
		var f float64
		var u uint64
		for k := range n {
			if at := o*n + k; at < src.Len() {
				f += src.Float(at)
				u += src.Bits(at)
			}
		}
		if src.DType.IsFloat() {
			out.SetFloat(o, f)
		} else {
			out.SetBits(o, u)
		}
	}
	return out
}

// picked reduces by a choice between the best so far and an element.
func picked(from float64, keep func(best, x float64) float64) func(p *Problem) *tensor.Tensor {
	return rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
		best := from
		for _, at := range places {
			best = keep(best, src.Float(at))
		}
		return src.DType.Encode(best)
	})
}

func TestFastMinMaxFaults(t *testing.T) {
	inf := math.Inf(1)
	over := func(a, b float64) float64 { // fmax
		if b > a || a != a {
			return b
		}
		return a
	}
	under := func(a, b float64) float64 {
		if b < a || a != a {
			return b
		}
		return a
	}
	wideT := func(c *Case) bool { return c.Variant.T == tensor.F32 || c.Variant.T == tensor.F64 }
	untailed := rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
		return extreme(src, places[:max(1, len(places)-1)], true)
	})
	caught(t, find(t, "fast_max"), []emulation{
		{"starts from 0", picked(0, over), isFloat},
		{"minimum", picked(inf, under), isFloat},
		{"keeps NaN", picked(-inf, math.Max), wideT},
		{"drops NaN", picked(-inf, over), half},
		{"last left out", untailed, nil},
		{"starts from the smallest normal", picked(math.SmallestNonzeroFloat64, over), isFloat},
		{"as signed", rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
			best := int32(math.MinInt32)
			for _, at := range places {
				best = max(best, int32(src.Bits(at)))
			}
			return uint64(uint32(best))
		}), func(c *Case) bool { return c.Variant.T == tensor.U32 }},
		{"as unsigned", rows(func(_ *Problem, src *tensor.Tensor, places []int) uint64 {
			var best uint64
			for _, at := range places {
				best = max(best, src.Bits(at))
			}
			return best
		}), func(c *Case) bool { return c.Variant.T == tensor.I64 }},
	})
	caught(t, find(t, "fast_min"), []emulation{
		{"starts from 0", picked(0, under), isFloat},
		{"maximum", picked(-inf, over), isFloat},
		{"keeps NaN", picked(inf, math.Min), wideT},
		{"drops NaN", picked(inf, under), half},
	})
	honest(t, find(t, "fast_max"), Fast, 1<<20, []emulation{{"fmax", picked(-inf, over), wideT}, {"max.NaN", picked(-inf, math.Max), half}})
	honest(t, find(t, "fast_min"), Fast, 1<<20, []emulation{{"fmin", picked(inf, under), wideT}, {"min.NaN", picked(inf, math.Min), half}})
}

// TestArgExtremeByHand checks the index that candle's order finds among
// equal maxima against walks by hand.
func TestArgExtremeByHand(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		xs    []float64
		lanes int
		want  int
	}{
		{[]float64{5}, 1, 0},
		{[]float64{1, 3, 2, 0}, 4, 1},
		{[]float64{7, 7, 7, 7}, 4, 0},
		// s=2: lane 0 keeps x0=1 against x2=7: takes 2; lane 1 keeps x1=7.
		// s=1: lane 0 holds 7 of index 2 and 7 of index 1 is not greater.
		{[]float64{1, 7, 7, 1}, 4, 2},
		{[]float64{1, 7, 1, 7}, 4, 1},
		// Two lanes: lane 0 has x0, x2, x4, lane 1 x1, x3. Equal 9s in x3 and
		// x4: lane 0's.
		{[]float64{0, 0, 0, 9, 9}, 2, 4},
		// Three of eight lanes empty.
		{[]float64{0, 1, 2, 3, 4}, 8, 4},
		// A NaN that comes first in lane 0 stays; one met later is passed over.
		{[]float64{nan, 5, 6, 7}, 4, 0},
		{[]float64{5, nan, 6, 7}, 4, 2}, // s=2: lane 0 takes 6, lane 1 keeps NaN, which is not greater
		{[]float64{1, 2, nan, 3}, 2, 3}, // lane 0: 1, lane 1: 2 then 3
	} {
		src := tensor.FromFloats(tensor.F32, tc.xs, len(tc.xs))
		places := make([]int, len(tc.xs))
		for i := range places {
			places[i] = i
		}
		if got := argExtreme(src, places, tc.lanes, true); got != tc.want {
			t.Errorf("argmax of %v in %d lanes = %d, want %d", tc.xs, tc.lanes, got, tc.want)
		}
	}
}

func TestFastArgFaults(t *testing.T) {
	by := func(choose func(src *tensor.Tensor, places []int, greatest bool, lanes int) int) func(p *Problem) *tensor.Tensor {
		return rows(func(p *Problem, src *tensor.Tensor, places []int) uint64 {
			return uint64(choose(src, places, p.Case.Op.Name == "fast_argmax", int(p.Block.X)))
		})
	}
	better := func(src *tensor.Tensor, i, j int, greatest bool) bool {
		if greatest {
			return above(src, i, j)
		}
		return above(src, j, i)
	}
	faults := []emulation{
		{"lowest index", by(func(src *tensor.Tensor, places []int, greatest bool, _ int) int {
			best := 0
			for k := range places {
				if better(src, places[k], places[best], greatest) {
					best = k
				}
			}
			return best
		}), nil},
		{"last index", by(func(src *tensor.Tensor, places []int, greatest bool, _ int) int {
			best := 0
			for k := range places {
				if !better(src, places[best], places[k], greatest) {
					best = k
				}
			}
			return best
		}), nil},
		{"32 lanes", by(func(src *tensor.Tensor, places []int, greatest bool, _ int) int {
			return argExtreme(src, places, 32, greatest)
		}), nil},
		{"the other extreme", by(func(src *tensor.Tensor, places []int, greatest bool, lanes int) int {
			return argExtreme(src, places, lanes, !greatest)
		}), nil},
		{"tail left out", by(func(src *tensor.Tensor, places []int, greatest bool, lanes int) int {
			return argExtreme(src, places[:max(1, len(places)/32*32)], lanes, greatest)
		}), nil},
		{"place in src", rows(func(p *Problem, src *tensor.Tensor, places []int) uint64 {
			return uint64(places[argExtreme(src, places, int(p.Block.X), p.Case.Op.Name == "fast_argmax")])
		}), nil},
	}
	caught(t, find(t, "fast_argmax"), faults)
	caught(t, find(t, "fast_argmin"), faults)
}

// TestLayouts checks which elements make up an output against the same
// array indexed by hand.
func TestLayouts(t *testing.T) {
	o := find(t, "fast_sum")
	for _, tc := range []struct {
		layout string
		out, n int
		want   [][]int
	}{
		{"rows", 2, 3, [][]int{{0, 1, 2}, {3, 4, 5}}},
		{"columns", 2, 3, [][]int{{0, 2, 4}, {1, 3, 5}}},
		{"middle", 2, 6, [][]int{{0, 1, 4, 5, 8, 9}, {2, 3, 6, 7, 10, 11}}},
		{"step2", 2, 3, [][]int{{0, 2, 4}, {6, 8, 10}}},
		{"repeat", 4, 2, [][]int{{0, 1}, {0, 1}, {2, 3}, {2, 3}}},
	} {
		c := &Case{Op: o, Variant: Variant{T: tensor.U32}, Class: "normal", Dims: []Dim{D("out", tc.out), D("n", tc.n), layoutDim(tc.layout)}}
		p := o.Bind(c, NewRand(1, "x"))
		row := rowOf(p)
		for k, want := range tc.want {
			for i, at := range row(k) {
				if at != want[i] {
					t.Errorf("%s: output %d reads %v, want %v", tc.layout, k, row(k), want)
					break
				}
			}
		}
	}
	for n, want := range map[int]uint32{1: 1, 2: 2, 3: 4, 64: 64, 65: 128, 1023: 1024, 1024: 1024, 5000: 1024} {
		if got := threads(n); got != int(want) {
			t.Errorf("block for %d elements is %d, want %d", n, got, want)
		}
	}
}

// atomics adds the addends of each output one by one, in an order given
// by a step through them.
func atomics(step int, round func(d tensor.DType) rounding) func(p *Problem) *tensor.Tensor {
	return func(p *Problem) *tensor.Tensor {
		inp := p.Arg("inp").Buf
		out := p.Arg("out").Buf.Clone()
		for o, places := range addends(p) {
			var s float64
			var u uint64
			for k := range places {
				if step != 1 {
					k = len(places) - 1 - k
				}
				if u += inp.Bits(places[k]); inp.DType.IsFloat() {
					s = round(inp.DType)(s + inp.Float(places[k]))
				}
			}
			if inp.DType.IsFloat() {
				out.SetFloat(o, s)
			} else {
				out.SetBits(o, u)
			}
		}
		return out
	}
}

func TestSumHonestAndFaults(t *testing.T) {
	o := find(t, "sum")
	own := func(d tensor.DType) rounding { return d.Round }
	list := []emulation{
		{"in order", atomics(1, own), isFloat},
		{"backward", atomics(-1, own), isFloat},
		{"in double", atomics(1, func(tensor.DType) rounding { return double }), isFloat},
		{"u32", atomics(1, func(tensor.DType) rounding { return double }), func(c *Case) bool { return !isFloat(c) }},
	}
	honest(t, o, Fast, 1<<20, list)
	if *thorough {
		honest(t, o, Thorough, 1<<20, list)
	}
	change := func(f func(p *Problem, out *tensor.Tensor)) func(p *Problem) *tensor.Tensor {
		return func(p *Problem) *tensor.Tensor {
			out := atomics(1, own)(p)
			f(p, out)
			return out
		}
	}
	notInteger := isFloat
	for _, em := range []emulation{
		{"one lost addend", change(func(p *Problem, out *tensor.Tensor) {
			for i, places := range addends(p) {
				out.SetFloat(i, out.Float(i)-p.Arg("inp").Buf.Float(places[0]))
			}
		}), notInteger},
		{"outputs swapped", change(func(_ *Problem, out *tensor.Tensor) {
			a, b := out.Bits(0), out.Bits(1)
			out.SetBits(0, b)
			out.SetBits(1, a)
		}), nil},
		{"nothing added", func(p *Problem) *tensor.Tensor { return p.Arg("out").Buf.Clone() }, nil},
	} {
		for _, v := range o.Variants {
			failed := false
			for _, c := range o.Cases(v, Fast) {
				if em.only == nil || em.only(&c) {
					p := o.Bind(&c, NewRand(1, c.Name()))
					failed = failed || judged(t, p, o.Expect(p), em.run(p)).Status == "FAIL"
				} else {
					failed = true
				}
			}
			if !failed {
				t.Errorf("sum/%s: %s passes every fast case", v, em.name)
			}
		}
	}
}
