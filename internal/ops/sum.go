package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// sumOp is the sum whose addends meet in the output by atomics.
func sumOp() *Op {
	o := &Op{
		tune: tuneSum,
		Name: "sum", Family: "reduce", Module: "reduce", Symbol: "sum_{T}",
		Summary: "sums over any dims, by an atomic addition for each element",
		Formula: `out[o] += x[i] for each element i whose index without the summed dims is o, in any order, of u32 modulo 2^32
out starts from zeros, which the host writes. info: dims, strides, then the length and the step of each summed dim`,
		Bound: `u32: 0. Floats: |y-t| <= S*gamma(k-1,u) + F, S = sum|x| of the k addends, u of the type: each addition
rounds to it, k = 2 but once: half an ulp of t; integers whose magnitudes add up to no more than 1/u not at all. Likely: min(k-1, 8.4*sqrt(k-1)) for k-1. F = k times the smallest normal in f32, whose
atomic additions to global memory flush subnormals on NVIDIA. (numerics.md 4.1, 4.6)`,
		Parity:           E4,
		Nondeterministic: true,
		Variants:         append(floats(), Variant{T: tensor.U32}),
		Params: []Param{
			{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {Scalar, SizeT, "num_sum_dims"},
			{In, SizeT, "info"}, {In, T, "inp"}, {InOut, T, "out"},
		},
		Bind: bindSum, Expect: expectSum,
		Trace: func(p *Problem, i int) []Input { return traceElements(p.Arg("inp").Buf, addends(p)[i]) },
		Work: func(p *Problem) (bytes, flops int64) {
			n := p.Arg("numel").Int
			return int64(len(p.Arg("inp").Buf.Data)) + 2*int64(len(p.Arg("out").Buf.Data)), n
		},
	}
	o.Cases = func(v Variant, level Level) []Case { return sumCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.hidden(), func(x extent) Case {
			return sumCase(o, v, 1, x.rows, x.cols, "c", "abc", "normal")
		})
	}
	return o
}

// tuneSum launches a block for a few runs of elements that go to one output
// each, which there are where the last dim is summed: what a block finds out
// about the layout serves all of them. Elsewhere, or where runs are short, it is
// a thread for 128 elements, of which the kernel's groups of 32 take 4096.
func tuneSum(q *Problem) {
	n, dims, sums := int(q.Arg("numel").Int), int(q.Arg("num_dims").Int), int(q.Arg("num_sum_dims").Int)
	info, size := q.Arg("info").Buf, q.Case.Variant.T.Size()
	run := 1
	if last := 2*dims + sums - 1; sums > 0 && info.Int(last+sums) == 1 {
		run = int(info.Int(last))
	}
	each := access / size // accesses of a thread
	if vectors(run, size) < 32*each {
		spread(q, n, 128)
		return
	}
	runs := each / 2 // of a block
	q.Grid = gpu.Dim3{X: uint32((n/run + runs - 1) / runs), Y: 1, Z: 1}
	tuneRows(q, run, each)
}

// The masks of summed dims, by their names in cases.
var sumMasks = map[string]int{"a": 1, "b": 2, "c": 4, "ab": 3, "ac": 5, "bc": 6, "abc": 7}

func sumCases(o *Op, v Variant, level Level) []Case {
	type pick struct {
		a, b, c     int
		over, order string
		class       string
	}
	// The number of outputs is even: AMD adds a half by exchanging a word of
	// 32 bits, which past an odd end holds 2 bytes that are not the tensor's.
	picks := []pick{
		{2, 3, 5, "bc", "abc", "normal"},
		{4, 2, 33, "c", "abc", "normal"},
		{31, 2, 3, "a", "abc", "normal"},
		{3, 4, 7, "ac", "abc", "normal"},
		{5, 6, 7, "ac", "cab", "normal"},
		{2, 33, 16, "b", "cab", "normal"}, // 1056 elements: past a block
		{4, 5, 4, "b", "abc", "same"},
		{8, 2, 32, "b", "abc", "normal"}, // of two there is one right sum
	}
	// Long runs for one output, which a block may take as a whole and by 16
	// bytes; of small integers, of which any order gives the one right sum.
	picks = append(picks,
		pick{2, 1, 8208, "c", "abc", "whole"},
		pick{4, 3, 64, "c", "abc", "whole"},
		pick{2, 40, 64, "bc", "abc", "whole"},
		pick{40, 2, 64, "a", "abc", "whole"},
		pick{16, 2, 64, "ac", "abc", "whole"},
		pick{4, 33, 64, "c", "cab", "whole"},
	)
	if v.T.Size() > 2 {
		picks = append(picks, pick{1, 2, 4103, "abc", "abc", "whole"})
	}
	if v.T.IsFloat() {
		picks = append(picks, pick{4, 8, 5, "b", "abc", "cancel"}, pick{4, 5, 6, "b", "abc", "special"})
	}
	// Of more addends a half's bound, one rounding for each, holds 0.
	most := map[tensor.DType]int{tensor.F16: 40, tensor.BF16: 8}[v.T]
	if level == Thorough {
		for _, s := range [][3]int{{2, 1, 1}, {2, 31, 2}, {4, 32, 6}, {2, 64, 34}, {8, 65, 2}, {64, 33, 10}} {
			for _, over := range []string{"a", "b", "c", "ab", "ac", "bc"} {
				for _, class := range []string{"normal", "same", "ones", "cancel", "loguniform", "special", "subnormal"} {
					if !v.T.IsFloat() && class != "normal" {
						continue
					}
					for _, order := range []string{"abc", "cab"} {
						k := kept(s, sumMasks[over])
						if most > 0 && s[0]*s[1]*s[2] > most*k {
							continue
						}
						if k%2 == 0 {
							picks = append(picks, pick{s[0], s[1], s[2], over, order, class})
						}
					}
				}
			}
		}
	}
	var cases []Case
	seen := map[pick]bool{}
	for _, p := range picks {
		if seen[p] {
			continue
		}
		seen[p] = true
		cases = append(cases, sumCase(o, v, p.a, p.b, p.c, p.over, p.order, p.class))
	}
	return cases
}

func sumCase(o *Op, v Variant, a, b, c int, over, order, class string) Case {
	return Case{Op: o, Variant: v, Class: class, Dims: []Dim{
		D("a", a), D("b", b), D("c", c),
		{Name: "over", Value: int64(sumMasks[over]), Text: over},
		{Name: "stored", Value: map[string]int64{"abc": 0, "cab": 1}[order], Text: order},
	}}
}

// kept is the number of outputs.
func kept(s [3]int, over int) int {
	k := 1
	for i, n := range s {
		if over>>i&1 == 0 {
			k *= n
		}
	}
	return k
}

func bindSum(c *Case, r *Rand) *Problem {
	dims := []int{c.Dim("a"), c.Dim("b"), c.Dim("c")}
	over, v := c.Dim("over"), c.Variant
	strides := []int{dims[1] * dims[2], dims[2], 1}
	steps := strides // of the source's order, whatever the storage
	if c.Dim("stored") == 1 {
		strides = []int{dims[1], 1, dims[0] * dims[1]}
	}
	n := dims[0] * dims[1] * dims[2]
	var lengths, behind []int
	outs := 1
	for i, d := range dims {
		if over>>i&1 != 0 {
			lengths = append(lengths, d)
			behind = append(behind, steps[i])
		} else {
			outs *= d
		}
	}
	var info []int64
	for _, list := range [][]int{dims, strides, lengths, behind} {
		for _, x := range list {
			info = append(info, int64(x))
		}
	}
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	p.Grid, p.Block = elementwise(n)
	p.Arg("numel").Int = int64(n)
	p.Arg("num_dims").Int = 3
	p.Arg("num_sum_dims").Int = int64(len(lengths))
	p.Arg("info").Buf = tensor.FromInts(tensor.U64, info, len(info))
	p.Arg("inp").Buf = reduceRows(v.T, r, c, 1, n)
	p.Arg("inp").Buf.Shape = []int{n}
	p.Arg("out").Buf = tensor.New(v.T, outs) // zeros, as candle's host has it
	if x := p.Arg("inp").Buf; v.T.IsFloat() && c.Class == "normal" && x.Period == 0 {
		// Sums of different sizes: one value for all must not be within the
		// bounds, which of many addends are wide in a half type.
		for o, places := range addends(p) {
			for _, at := range places {
				x.SetFloat(at, math.Ldexp(x.Float(at), o%4))
			}
		}
	}
	return p
}

// addends returns for each output the places of its addends in inp, from
// the definition: the index without the summed dims.
func addends(p *Problem) [][]int {
	c := p.Case
	dims := [3]int{c.Dim("a"), c.Dim("b"), c.Dim("c")}
	over, info := c.Dim("over"), p.Arg("info").Buf
	list := make([][]int, p.Arg("out").Buf.Len())
	for i := range dims[0] {
		for j := range dims[1] {
			for k := range dims[2] {
				o := 0
				for d, x := range [3]int{i, j, k} {
					if over>>d&1 == 0 {
						o = o*dims[d] + x
					}
				}
				at := i*int(info.Int(3)) + j*int(info.Int(4)) + k*int(info.Int(5))
				list[o] = append(list[o], at)
			}
		}
	}
	return list
}

func expectSum(p *Problem) *compare.Expected {
	v := p.Case.Variant
	inp, list := p.Arg("inp").Buf, addends(p)
	e := &compare.Expected{DType: v.T, Axes: []compare.Axis{{Name: "out", Size: len(list)}}}
	if !v.T.IsFloat() {
		e.ULP, e.Exact = true, tensor.New(v.T, len(list))
		for o, places := range list {
			var s uint64
			for _, at := range places {
				s += inp.Bits(at)
			}
			e.Exact.SetBits(o, s)
		}
		return e
	}
	switch p.Case.Class {
	case "same", "ones":
		e.Degenerate, e.Group = true, len(list) // equal elements, equal errors
	case "cancel":
		e.Degenerate = true // 0 may be within the bound
	case "whole":
		// Integers, all partial sums of which the type has.
	case "subnormal":
		e.Degenerate = v.T == tensor.F32 // they may be flushed,
		e.Identity = e.Degenerate        // and leave out's zeros as they were
	}
	g := newSumGauge(e, len(list), 0)
	for o, places := range list {
		xs := make([]float64, len(places))
		for k, at := range places {
			xs[k] = inp.Float(at)
		}
		size := g.truth(e, o, xs)
		most := float64(len(xs) - 1)
		if p.Case.Class == "whole" && float64(size*v.T.UnitRoundoff()) <= 1 {
			continue // 0 is the bound
		}
		bound := func(h float64) float64 {
			b := float64(size * gamma(h, v.T.UnitRoundoff()))
			if t := e.Value[o]; len(xs) == 2 && t-t == 0 {
				b = store(v.T, t, 0) // 0+x is x, and x+y is y+x
			}
			if v.T == tensor.F32 {
				b += float64(len(xs)) * v.T.MinNormal()
			}
			return b
		}
		e.Hard[o], e.Likely[o] = bound(most), bound(math.Min(most, float64(lambda*math.Sqrt(most))))
	}
	return e
}
