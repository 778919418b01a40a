package ops

import (
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// ternaryOps are candle's ternary module.
func ternaryOps() []*Op {
	o := &Op{
		tune: tuneElements(2),
		Name: "where", Family: "ternary", Module: "ternary", Symbol: "where_{I}_{T}",
		Summary: "elements of one of two tensors, chosen by a third",
		Formula: "out[i] = ids[i] != 0 ? t[i] : f[i]",
		Bound:   "0: elements are copied, the sign of a zero included",
		Parity:  E0,
		Params: []Param{
			{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "info"},
			{In, I, "ids"}, {In, T, "t"}, {In, T, "f"}, {Out, T, "out"},
		},
		Bind: bindWhere, Expect: expectWhere,
		Trace: func(p *Problem, i int) []Input {
			ls, _ := p.Case.views(3)
			return []Input{operand(p, "ids", ls[0].at(i)), operand(p, "t", ls[1].at(i)), operand(p, "f", ls[2].at(i))}
		},
		Work: func(p *Problem) (bytes, flops int64) { return moved(p), 0 },
	}
	for _, i := range []tensor.DType{tensor.I64, tensor.U32, tensor.U8} {
		for _, t := range elements() {
			o.Variants = append(o.Variants, Variant{T: t, I: i})
		}
	}
	o.Cases = func(v Variant, level Level) []Case { return whereCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.scores(), func(x extent) Case {
			return laid{1, x.rows, x.cols, "contiguous+contiguous+contiguous", "random"}.on(o, v)
		})
	}
	return []*Op{o}
}

// whereCases has no null info: candle's kernel reads it.
func whereCases(o *Op, v Variant, level Level) []Case {
	const contiguous = "contiguous+contiguous+contiguous"
	list := []laid{
		{1, 1, 1, contiguous, "random"},
		{3, 11, 31, contiguous, "random"}, // 1023, one short of a block
		{1, 32, 32, contiguous, "high"},   // conditions whose low byte is 0
		{5, 5, 41, contiguous, "random"},  // 1025: one in the second block
		{3, 29, 31, contiguous, "random"}, // 2697: three blocks, which must not overlap
		{3, 7, 11, "transposed+contiguous+contiguous", "random"},
		{3, 7, 11, "contiguous+row+transposed", "high"},
		{3, 7, 11, "contiguous+transposed+scalar", "random"},
		{3, 7, 11, "offset+offset+offset", "high"},
		{1, 7, 19, contiguous, "all"},
		{1, 7, 19, contiguous, "none"},
		{3, 0, 5, contiguous, "random"}, // nothing to do
	}
	if level == Thorough {
		for _, class := range []string{"random", "high"} {
			list = append(list,
				laid{7, 13, 5, "row+transposed+column", class}, laid{2, 31, 33, "column+scalar+scalar", class},
				laid{4, 9, 33, "inner2+inner2+inner2", class}, laid{4, 9, 33, "contiguous+scalar+contiguous", class},
				laid{2, 31, 33, "contiguous+offset+contiguous", class}, laid{1, 1, 255, contiguous, class},
				laid{1, 1, 257, contiguous, class}, laid{1, 255, 257, contiguous, class},
			)
		}
	}
	var cases []Case
	for _, s := range list {
		cases = append(cases, s.on(o, v))
	}
	return cases
}

func bindWhere(c *Case, r *Rand) *Problem {
	p, ls := bindElementwise(c, "info", "ids", "t", "f")
	dt, it := c.Variant.T, c.Variant.I
	ids := newInput(it, []int{ls[0].storage})
	top := uint64(1) << (8*it.Size() - 1)
	for i := range ids.Distinct() {
		if c.Class == "none" || c.Class != "all" && i%2 == 1 {
			continue
		}
		b := uint64(1)
		switch k := r.IntN(3); {
		case c.Class == "high" && k == 0: // negative in a signed type
			b = top
		case c.Class == "high":
			b = top >> r.IntN(min(8*it.Size(), 8))
		case k == 0:
			b = integer(it, r) | 1
		}
		ids.SetBits(i, b)
	}
	// Conditions alternate where they lie; shuffled, they do not in the output.
	if c.Class != "all" && c.Class != "none" {
		for i := ids.Distinct() - 1; i > 1; i-- {
			j := 1 + r.IntN(i)
			a, b := ids.Bits(i), ids.Bits(j)
			ids.SetBits(i, b)
			ids.SetBits(j, a)
		}
	}
	t, f := values(dt, r, ls[1].storage), values(dt, r, ls[2].storage)
	if ls[2].storage == 1 {
		put(f, 0, 3) // where t has one element too, that is 7
	}
	p.Arg("ids").Buf, p.Arg("t").Buf, p.Arg("f").Buf = ids, t, f
	p.Arg("out").Buf = tensor.New(dt, c.shape()...)
	return p
}

func expectWhere(p *Problem) *compare.Expected {
	c := p.Case
	ls, _ := c.views(3)
	ids, t, f := p.Arg("ids").Buf, p.Arg("t").Buf, p.Arg("f").Buf
	out := p.Arg("out").Buf.Clone()
	for i := range out.Len() {
		if ids.Bits(ls[0].at(i)) != 0 {
			out.SetBits(i, t.Bits(ls[1].at(i)))
		} else {
			out.SetBits(i, f.Bits(ls[2].at(i)))
		}
	}
	return &compare.Expected{
		DType: c.Variant.T, Exact: out, SignedZero: true, ULP: true, Axes: axesOf(c),
		Identity: c.Class == "all" || c.Class == "none",
	}
}
