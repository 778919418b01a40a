package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// castOps are candle's cast module. A variant's I is the source's type.
func castOps() []*Op {
	o := &Op{
		tune: tuneElements(2),
		Name: "cast", Family: "cast", Module: "cast", Symbol: "cast_{I}_{T}",
		Summary: "elements converted to another type",
		Formula: `out[i] = T(inp[i])
to a float type: the nearest, ties to even, rounded once; infinite past the largest
float to integer: truncated toward zero; integer to integer: the low bits`,
		Bound: `0 (numerics.md 0.4, 4.6)
A float whose truncation the integer type cannot hold is undefined in C++ and not judged.
What compiled kernels are known to give (numerics.md 5.5):
  to u8     NVIDIA the low byte of the saturated u32, AMD that of the saturated i32:
            -1 is 0 and 255, 300 is 44, 2^31 is 0 and 255; NaN 0
  to u32    both saturate; NaN 0
  to i64    NVIDIA saturates, NaN is the smallest; AMD differs from it past 2^63: f32 inf is
            0xffffffff00000000, f64 inf 0x7fffffff00000000; NaN 0`,
		Parity: E0,
		Params: []Param{
			{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "info"},
			{In, I, "inp"}, {Out, T, "out"},
		},
		Bind: bindCast, Expect: expectCast,
		Trace: func(p *Problem, i int) []Input {
			ls, _ := p.Case.views(1)
			return []Input{operand(p, "inp", ls[0].at(i))}
		},
		Work: func(p *Problem) (bytes, flops int64) { return moved(p), 0 },
	}
	for _, s := range elements() {
		for _, t := range elements() {
			half := func(d tensor.DType) bool { return d.IsFloat() && d.Size() == 2 }
			if s == tensor.I64 && half(t) || t == tensor.I64 && half(s) {
				continue // candle has none
			}
			o.Variants = append(o.Variants, Variant{T: t, I: s})
		}
	}
	o.Cases = func(v Variant, level Level) []Case { return castCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.hidden(), func(x extent) Case { return laid{1, x.rows, x.cols, "null", castClasses(v, Fast)[0]}.on(o, v) })
	}
	return []*Op{o}
}

// castClasses are the input classes of a conversion, the plain one first.
// None has elements that are undefined, but for outside.
func castClasses(v Variant, level Level) []string {
	switch from, to := v.I.IsFloat(), v.T.IsFloat(); {
	case from && to:
		return []string{"loguniform", "halfway", "special", "wide", "subnormal"}
	case from && level == Thorough:
		return []string{"inside", "edges", "outside"}
	case from:
		return []string{"inside", "edges"}
	case to:
		return []string{"random", "halfway", "extreme"}
	}
	return []string{"random", "extreme"}
}

func castCases(o *Op, v Variant, level Level) []Case {
	classes := castClasses(v, level)
	plain := classes[0]
	list := []laid{
		{1, 1, 1, "null", plain},
		{3, 11, 31, "contiguous", plain}, // 1023, one short of a block
		{1, 32, 32, "null", classes[1]},
		{5, 5, 41, "null", plain},        // 1025: one in the second block
		{3, 29, 31, "contiguous", plain}, // 2697: three blocks, which must not overlap
		{3, 7, 11, "transposed", plain},
		{3, 7, 11, "row", plain},
		{3, 7, 11, "scalar", plain},
		{3, 7, 11, "offset", plain},
		{3, 0, 5, "null", plain}, // nothing to do
	}
	for _, class := range classes[2:] {
		list = append(list, laid{1, 7, 19, "null", class})
	}
	if level == Thorough {
		for _, class := range classes {
			list = append(list,
				laid{7, 13, 5, "transposed", class}, laid{2, 31, 33, "column", class}, laid{4, 9, 33, "inner2", class},
				laid{2, 31, 33, "offset", class}, laid{1, 1, 255, "null", class}, laid{1, 1, 257, "null", class},
				laid{1, 255, 257, "null", class}, laid{1, 257, 257, "contiguous", class},
			)
		}
		if v.I.Size() <= 2 {
			list = append(list, laid{1, 1, 1 << (8 * v.I.Size()), "null", "all"})
		}
	}
	var cases []Case
	for _, s := range list {
		cases = append(cases, s.on(o, v))
	}
	return cases
}

func bindCast(c *Case, r *Rand) *Problem {
	p, ls := bindElementwise(c, "info", "inp")
	from, to, n := c.Variant.I, c.Variant.T, ls[0].storage
	var x *tensor.Tensor
	draw := func(f func() float64) {
		x = generate(from, []int{n}, func(int) float64 { return clip(from, f()) })
	}
	switch c.Class {
	case "all":
		x = tensor.New(from, n)
		for i := range n {
			x.SetBits(i, uint64(i))
		}
	case "loguniform":
		e := min(window(from), window(to))
		x = logUniforms(from, r, -e, e, n)
	case "special": // and the ends of the target's range
		ends := oddValues(to)
		draw(func() float64 {
			if r.IntN(2) == 0 {
				return r.Normal()
			}
			return ends[r.IntN(len(ends))] * (1 + float64(r.IntN(5)-2)*to.UnitRoundoff()/2)
		})
		odd := specials(from, r, n)
		for i := 0; i < n; i += 2 {
			x.SetBits(i, odd.Bits(i))
		}
	case "subnormal": // of the source, and in the target
		x = subnormals(from, r, n)
		for i := range n {
			if e := to.EMin() - r.IntN(to.Precision()+2); i%2 == 0 && e >= from.EMin()-from.Precision() {
				x.SetFloat(i, r.LogUniform(e, e))
			}
		}
	case "halfway":
		x = tensor.New(from, n)
		for i := range n {
			x.SetBits(i, halfway(from, to, r))
		}
	case "inside":
		draw(func() float64 { return inside(from, to, r) })
	case "edges":
		least, most := integerRange(to)
		draw(func() float64 {
			v := []float64{least, most, 0, float64(r.IntN(256)), math.Ldexp(1, r.IntN(8*to.Size()))}[r.IntN(5)]
			v += []float64{0, 0.5, -0.5, 0.999, -0.999, 1, -1}[r.IntN(7)]
			// The source's nearest number may lie outside.
			for v = from.Round(clip(from, v)); !fits(v, to); {
				v = from.Round(v - math.Copysign(from.ULP(v/2), v))
			}
			return v
		})
	case "outside":
		least, most := integerRange(to)
		list := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -2, -255, 256, 300, 0x1p31, 4294967040, 0x1p32, 0x1p63, 1e19, -1e19, most + 1, least - 1}
		draw(func() float64 {
			if r.IntN(4) == 0 {
				return list[r.IntN(len(list))]
			}
			return inside(from, to, r)
		})
	default:
		x = inputs(c.Class, from, r, n)
	}
	if c.Class == "outside" || c.Class == "special" {
		// clip made NaN of nothing, but infinities finite.
		for i := 0; i+4 < n; i += 16 {
			x.SetFloat(i, math.Inf(1))
			x.SetFloat(i+2, math.Inf(-1))
			x.SetFloat(i+4, math.NaN())
		}
		if from.IsFloat() {
			// NaNs that become another number where their bits are cut off, or
			// rounded as if they were one.
			inf := from.Encode(math.Inf(1))
			for i := 6; i+2 < n; i += 16 {
				x.SetBits(i, inf|1)
				x.SetBits(i+2, ^uint64(0)>>(64-8*from.Size()))
			}
		}
	}
	if n == 1 && c.layout() != "scalar" { // a result that is not zero
		put(x, 0, 7)
	}
	if c.layout() == "scalar" {
		put(x, 0, 5)
	}
	p.Arg("inp").Buf = x
	p.Arg("out").Buf = tensor.New(to, c.shape()...)
	return p
}

// integerRange is the smallest and the largest value of an integer type.
func integerRange(d tensor.DType) (least, most float64) {
	n := 8 * d.Size()
	if signed(d) {
		return -math.Ldexp(1, n-1), math.Ldexp(1, n-1) - 1
	}
	return 0, math.Ldexp(1, n) - 1
}

// fits reports whether v, truncated, is a value of integer type d.
func fits(v float64, d tensor.DType) bool {
	n := 8 * d.Size()
	if signed(d) {
		return v >= -math.Ldexp(1, n-1) && v < math.Ldexp(1, n-1)
	}
	return v > -1 && v < math.Ldexp(1, n)
}

// inside returns a number that truncates to one of integer type to.
func inside(from, to tensor.DType, r *Rand) float64 {
	for {
		v := from.Round(r.LogUniform(-2, min(8*to.Size(), emax0(from))-1))
		if !signed(to) && v <= -1 {
			v = -v
		}
		if fits(v, to) {
			return v
		}
	}
}

// halfway returns the bits of a source element that lies midway between two
// numbers of float type to, or beside by as little as the source can tell.
// Where the source has no more bits than the target it is any number.
func halfway(from, to tensor.DType, r *Rand) uint64 {
	p := to.Precision()
	if !from.IsFloat() {
		bits := 8 * from.Size()
		if signed(from) {
			bits--
		}
		if bits <= p+1 {
			return integer(from, r)
		}
		k := r.IntN(bits - p)                  // bits below the target's last, less one
		m := uint64(1)<<p | r.Uint64()>>(64-p) // p+1 bits
		v := (m|1)<<k + uint64(r.IntN(3)) - 1  // 16842753 in f32's neighbourhood of bf16
		if k == 0 {
			v = m | 1
		}
		if signed(from) && r.Uint64()&1 != 0 {
			v = -v
		}
		return v
	}
	e := min(window(from), window(to))
	v := to.Round(r.LogUniform(-e, e))
	if from.Precision() <= p {
		return from.Encode(v)
	}
	v += math.Copysign(to.ULP(v)/2, v)
	b := from.Encode(v)
	switch r.IntN(3) {
	case 0:
		return b + 1
	case 1:
		return b - 1
	}
	return b
}

func expectCast(p *Problem) *compare.Expected {
	c := p.Case
	from, to := c.Variant.I, c.Variant.T
	ls, _ := c.views(1)
	x := p.Arg("inp").Buf
	out := p.Arg("out").Buf.Clone()
	e := &compare.Expected{
		DType: to, Exact: out, SignedZero: true, ULP: true, Axes: axesOf(c),
		Identity:   from == to,
		Degenerate: c.layout() == "scalar",
	}
	for i := range out.Len() {
		j := ls[0].at(i)
		switch {
		case from == to:
			out.SetBits(i, x.Bits(j))
		case from.IsFloat() && to.IsFloat():
			out.SetBits(i, to.Encode(x.Float(j)))
		case to == tensor.F32: // from an integer; float64 would round first
			out.SetBits(i, uint64(math.Float32bits(float32(x.Int(j)))))
		case to.IsFloat():
			// An i64 becomes none narrower than f64 here, a u32 is exact.
			out.SetBits(i, to.Encode(float64(x.Int(j))))
		case !from.IsFloat():
			out.SetBits(i, uint64(x.Int(j)))
		case fits(x.Float(j), to):
			out.SetBits(i, uint64(int64(x.Float(j))))
		default:
			if e.Mark == nil {
				e.Mark = make([]compare.Mark, out.Len())
			}
			e.Mark[i] = compare.Undefined
		}
	}
	return e
}
