package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// affineOps are candle's affine module.
func affineOps() []*Op {
	o := &Op{
		tune: tuneElements(1),
		Name: "affine", Family: "affine", Module: "affine", Symbol: "affine_{T}",
		Summary: "every element multiplied by one number, and another added",
		Formula: "out[i] = inp[i]*mul + add; a null inp is out itself",
		Bound: `floats: |y-t| <= u*|x*mul|*(1+u) + u*|t| + eta
u: unit roundoff of the element type, one for the rounded product and one for the sum; a fused
multiply-add and computing in float stay below it. eta: smallest subnormal. Where the product leaves
the type's range, a kernel that rounds it gives an infinity or NaN: allowed there. f16 and bf16 in
float (declared of the source; all bundled ones): u, eta and range of f32, and one rounding to the type.
(numerics.md 4.2)
integers: 0; they wrap`,
		Parity: E1,
		Variants: append(floats(), Variant{T: tensor.I64}, Variant{T: tensor.I32}, Variant{T: tensor.I16},
			Variant{T: tensor.U32}, Variant{T: tensor.U8}),
		Params: []Param{
			{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "info"},
			{In, T, "inp"}, {Out, T, "out"}, {Scalar, T, "mul"}, {Scalar, T, "add"},
		},
		Bind: bindAffine, Expect: expectAffine,
		Trace: func(p *Problem, i int) []Input {
			ls, _ := p.Case.views(1)
			return []Input{operand(p, affineInput(p.Case), ls[0].at(i))}
		},
		Work: func(p *Problem) (bytes, flops int64) {
			n := int64(p.Arg("out").Buf.Len())
			bytes = moved(p)
			if p.Arg("inp").Buf == nil {
				bytes *= 2 // read and written in place
			}
			return bytes, 2 * n
		},
	}
	o.Cases = func(v Variant, level Level) []Case { return affineCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.hidden(), func(x extent) Case { return laid{1, x.rows, x.cols, "null", plainClass(v.T)}.on(o, v) })
	}
	return []*Op{o}
}

func affineCases(o *Op, v Variant, level Level) []Case {
	classes := []string{"random", "extreme", "unit"}
	if v.T.IsFloat() {
		classes = []string{"loguniform", "special", "unit", "cancel", "wide", "subnormal"}
	}
	plain := classes[0]
	list := []laid{
		{1, 1, 1, "null", plain},
		{3, 11, 31, "contiguous", plain}, // 1023, one short of a block
		{1, 32, 32, "null", plain},
		{5, 5, 41, "null", plain},        // 1025: one in the second block
		{3, 29, 31, "contiguous", plain}, // 2697: three blocks, which must not overlap
		{3, 7, 11, "transposed", plain},
		{3, 7, 11, "row", plain},
		{3, 7, 11, "scalar", plain},
		{3, 7, 11, "offset", plain},
		{3, 7, 11, "inplace", plain},
		{3, 0, 5, "null", plain}, // nothing to do
	}
	for _, class := range classes[1:] {
		list = append(list, laid{1, 7, 19, "null", class})
	}
	if level == Thorough {
		for _, class := range classes {
			list = append(list,
				laid{7, 13, 5, "transposed", class}, laid{2, 31, 33, "column", class}, laid{4, 9, 33, "inner2", class},
				laid{2, 31, 33, "offset", class}, laid{2, 31, 33, "inplace", class}, laid{1, 1, 255, "null", class},
				laid{1, 1, 257, "null", class}, laid{1, 255, 257, "null", class}, laid{1, 257, 257, "contiguous", class},
			)
		}
	}
	var cases []Case
	for _, s := range list {
		cases = append(cases, s.on(o, v))
	}
	return cases
}

// affineInput is the parameter that the elements come from.
func affineInput(c *Case) string {
	if c.inPlace() {
		return "out"
	}
	return "inp"
}

func bindAffine(c *Case, r *Rand) *Problem {
	p, ls := bindElementwise(c, "info", "inp")
	dt, n := c.Variant.T, ls[0].storage
	mul, add := p.Arg("mul"), p.Arg("add")
	var x *tensor.Tensor
	if dt.IsFloat() {
		mul.Float, add.Float = dt.Round(1+r.Float64()), dt.Round(r.Normal())
		if c.Class == "unit" {
			mul.Float, add.Float = 1, 0
		}
		switch c.Class {
		case "unit", "special":
			x = specials(dt, r, n)
		case "cancel": // x*mul is nearly -add
			x = generate(dt, []int{n}, func(int) float64 {
				return -add.Float / mul.Float * (1 + float64(r.IntN(9)-4)*dt.UnitRoundoff())
			})
		case "wide":
			mul.Float = dt.Round(math.Ldexp(mul.Float, emax0(dt)/3))
			x = inputs("wide", dt, r, n)
		case "subnormal":
			x = inputs("subnormal", dt, r, n)
			add.Float = dt.Round(math.Ldexp(add.Float, dt.EMin()-2))
		default:
			x = inputs(c.Class, dt, r, n)
		}
	} else {
		mul.Int, add.Int = integerScalar(dt, r.Uint64()|1), integerScalar(dt, r.Uint64())
		if c.Class == "unit" {
			mul.Int, add.Int = 1, 0
			x = inputs("random", dt, r, n)
		} else {
			x = inputs(c.Class, dt, r, n)
		}
	}
	if n == 1 { // a result that is not zero
		put(x, 0, 4)
		add.Int = 1
	}
	p.Arg("out").Buf = tensor.New(dt, c.shape()...)
	if c.inPlace() {
		x.Shape = c.shape()
		*p.Arg("out") = Arg{Buf: x, Initial: true}
	} else {
		p.Arg("inp").Buf = x
	}
	return p
}

// integerScalar is the value that the low bits of u have in an integer type.
func integerScalar(d tensor.DType, u uint64) int64 {
	t := tensor.New(d, 1)
	t.SetBits(0, u)
	return t.Int(0)
}

func expectAffine(p *Problem) *compare.Expected {
	c := p.Case
	dt := c.Variant.T
	ls, _ := c.views(1)
	x := p.Arg(affineInput(c)).Buf
	mul, add := p.Arg("mul"), p.Arg("add")
	n := tensor.Count(c.shape())
	e := &compare.Expected{DType: dt, Axes: axesOf(c), Identity: c.Class == "unit", Degenerate: c.layout() == "scalar"}
	if !dt.IsFloat() {
		e.Exact = tensor.New(dt, c.shape()...)
		for i := range n {
			e.Exact.SetBits(i, x.Bits(ls[0].at(i))*uint64(mul.Int)+uint64(add.Int))
		}
		return e
	}
	e.Value, e.Hard, e.Allow = make([]float64, n), make([]float64, n), make([]compare.Class, n)
	if dt == tensor.F64 {
		e.Tail = make([]float64, n)
	}
	b := newProductBound(p)
	for i := range n {
		v := x.Float(ls[0].at(i))
		y, tail := twoProducts(v, mul.Float, 1, add.Float)
		e.Value[i] = y
		if e.Tail != nil {
			e.Tail[i] = tail
		}
		e.Hard[i], e.Allow[i] = b.of(y, b.rounding(v, mul.Float), 0)
	}
	return e
}
