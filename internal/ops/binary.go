package ops

import (
	"cmp"
	"math"
	"slices"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// binaryOps are the functions of two elements: candle's binary module.
func binaryOps() []*Op {
	const (
		exact = `0: a sum, difference or product of floats is the exact one rounded once; integers wrap.
A kernel that computes f16 and bf16 in f32 rounds twice to the same (numerics.md 4.6)`
		division = `f64, f32: 0, the exact quotient rounded once; integers: 0, truncated.
f16, bf16 in float (declared of the source; all bundled ones): a rounding to f32 and one to the type.
f16, bf16 in steps: |y-t| <= ulp/2 + 2.5*2^-23*|t| + 2^-149: a quotient 2 ulp of f32 from the nearest (PTX's div.approx,
which the CUDA headers use), rounded once; at most 1 % of the elements are not the nearest (numerics.md 0.4).
bf16 divisors beyond that instruction's range [2^-126, 2^126]: above it 0, and NaN for an infinite
dividend, are right too; below it also infinities and NaN`
		order = `0. In f32 and f64 a NaN is dropped for the other operand, in f16 and bf16 it stays;
zeros of either sign are one value (numerics.md 5.3)`
		compared = `0. A comparison with a NaN is false, but for ne`
	)
	return []*Op{
		binaryOp("add", "badd", "sum of two tensors", "out[i] = lhs[i] + rhs[i]", exact),
		binaryOp("sub", "bsub", "difference of two tensors", "out[i] = lhs[i] - rhs[i]", exact),
		binaryOp("mul", "bmul", "product of two tensors, element by element", "out[i] = lhs[i] * rhs[i]", exact),
		binaryOp("div", "bdiv", "quotient of two tensors", "out[i] = lhs[i] / rhs[i]; integers are truncated toward zero", division),
		binaryOp("maximum", "bmaximum", "larger of two elements", "out[i] = max(lhs[i], rhs[i])", order),
		binaryOp("minimum", "bminimum", "smaller of two elements", "out[i] = min(lhs[i], rhs[i])", order),
		binaryOp("eq", "eq", "whether two elements are equal", "out[i] = lhs[i] == rhs[i], as 0 or 1", compared),
		binaryOp("ne", "ne", "whether two elements differ", "out[i] = lhs[i] != rhs[i], as 0 or 1", compared),
		binaryOp("lt", "lt", "whether one element is below another", "out[i] = lhs[i] < rhs[i], as 0 or 1", compared),
		binaryOp("le", "le", "whether one element is at most another", "out[i] = lhs[i] <= rhs[i], as 0 or 1", compared),
		binaryOp("gt", "gt", "whether one element is above another", "out[i] = lhs[i] > rhs[i], as 0 or 1", compared),
		binaryOp("ge", "ge", "whether one element is at least another", "out[i] = lhs[i] >= rhs[i], as 0 or 1", compared),
	}
}

func binaryOp(name, symbol, summary, formula, bound string) *Op {
	accesses := 1
	if name == "maximum" || name == "minimum" {
		accesses = 2 // halves have NaNs to keep
	}
	o := &Op{
		tune: tuneElements(accesses),
		Name: name, Family: "binary", Module: "binary", Symbol: symbol + "_{T}",
		Summary: summary, Formula: formula, Bound: bound, Parity: E0,
		Variants: append(floats(), Variant{T: tensor.I64}, Variant{T: tensor.U32}, Variant{T: tensor.U8}),
		Params: []Param{
			{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "dims_and_strides"},
			{In, T, "lhs"}, {In, T, "rhs"}, {Out, T, "out"},
		},
		Bind: bindBinary, Expect: expectBinary, Trace: traceBinary,
		Work: func(p *Problem) (bytes, flops int64) {
			return moved(p), int64(p.Arg("out").Buf.Len())
		},
	}
	if name == "div" {
		o.Parity = E2 // of f16 and bf16; the truth of the others admits one result
	}
	if isComparison(name) {
		o.Params[5].Type = U8
	}
	o.Cases = func(v Variant, level Level) []Case { return binaryCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.hidden(), func(x extent) Case { return laid{1, x.rows, x.cols, "null", plainClass(v.T)}.on(o, v) })
	}
	return o
}

func isComparison(name string) bool { return len(name) == 2 }

func binaryCases(o *Op, v Variant, level Level) []Case {
	plain, edge := "loguniform", "special"
	if !v.T.IsFloat() {
		plain, edge = "random", "extreme"
	}
	list := []laid{
		{1, 1, 1, "null", plain},
		{3, 11, 31, "contiguous+contiguous", plain}, // 1023, one short of a block
		{1, 32, 32, "null", edge},
		{5, 5, 41, "null", "close"},                 // 1025: one in the second block
		{3, 29, 31, "contiguous+contiguous", plain}, // 2697: three blocks, which must not overlap
		{3, 7, 11, "transposed+contiguous", plain},
		{3, 7, 11, "contiguous+transposed", plain},
		{3, 7, 11, "contiguous+row", plain},
		{3, 7, 11, "contiguous+scalar", plain},
		{3, 7, 11, "offset+offset", plain},
		{3, 0, 5, "null", plain}, // nothing to do
	}
	if v.T.IsFloat() {
		list = append(list, laid{1, 7, 19, "null", "wide"}, laid{1, 7, 19, "null", "subnormal"})
		switch o.Name {
		case "add", "sub", "mul":
			list = append(list, laid{1, 7, 19, "null", "ties"})
		}
	}
	if level == Thorough {
		classes := []string{plain, edge, "close"}
		if v.T.IsFloat() {
			classes = append(classes, "wide", "subnormal")
		}
		for _, class := range classes {
			list = append(list,
				laid{2, 3, 173, "contiguous+transposed", class}, laid{7, 13, 5, "transposed+transposed", class},
				laid{7, 13, 5, "column+row", class}, laid{5, 17, 31, "scalar+contiguous", class},
				laid{4, 9, 33, "inner2+inner2", class}, laid{2, 31, 33, "inner2+column", class},
				laid{2, 31, 33, "offset+row", class}, laid{1, 1, 255, "null", class}, laid{1, 1, 257, "null", class},
				laid{3, 5, 17, "null", class}, laid{1, 255, 257, "null", class}, laid{1, 257, 257, "contiguous+contiguous", class},
			)
		}
	}
	var cases []Case
	for _, s := range list {
		cases = append(cases, s.on(o, v))
	}
	if level == Thorough && v.T.IsFloat() && v.T.Size() == 2 {
		// All codes against each of the odd values, and against samples.
		for k := range len(oddValues(v.T)) {
			cases = append(cases, exhaustive(o, v, "odd", k))
		}
		for k := range 4 {
			cases = append(cases, exhaustive(o, v, "samples", k))
		}
	}
	return cases
}

// exhaustive is a case whose lhs is every code of a 16-bit type.
func exhaustive(o *Op, v Variant, class string, k int) Case {
	c := laid{1, 256, 256, "null", class}.on(o, v)
	c.Dims = append(c.Dims, D("rotate", k))
	return c
}

func bindBinary(c *Case, r *Rand) *Problem {
	p, ls := bindElementwise(c, "dims_and_strides", "lhs", "rhs")
	dt := c.Variant.T
	n := tensor.Count(c.shape())
	out := dt
	if isComparison(c.Op.Name) {
		out = tensor.U8
	}
	p.Arg("out").Buf = tensor.New(out, c.shape()...)
	var x, y *tensor.Tensor
	nx, ny := ls[0].storage, ls[1].storage
	// each calls f for every output element, with its elements of x and y.
	// A y that several share keeps what the last gives it.
	each := func(f func(i, ix, iy int)) {
		for i := range min(n, tile) { // of more, the rest repeats
			f(i, ls[0].at(i), ls[1].at(i))
		}
	}
	switch c.Class {
	case "close":
		if dt.IsFloat() {
			x, y = inputs("loguniform", dt, r, nx), inputs("loguniform", dt, r, ny)
		} else {
			x, y = inputs("random", dt, r, nx), inputs("random", dt, r, ny)
		}
		each(func(_, ix, iy int) {
			b := x.Bits(ix) + uint64(r.IntN(5)) - 2
			if dt.IsFloat() && r.IntN(8) == 0 {
				b ^= 1 << (8*dt.Size() - 1) // sums that cancel
			}
			y.SetBits(iy, b)
		})
	case "ties":
		x, y = inputs("loguniform", dt, r, nx), inputs("loguniform", dt, r, ny)
		each(func(_, ix, iy int) { y.SetFloat(iy, tie(c.Op.Name, dt, x, ix, r)) })
	case "subnormal":
		x, y = inputs("subnormal", dt, r, nx), inputs("subnormal", dt, r, ny)
		if c.Op.Name == "mul" || c.Op.Name == "div" {
			// A subnormal operand, or else a subnormal result.
			each(func(_, ix, iy int) {
				if r.Uint64()&1 != 0 {
					y.SetFloat(iy, r.LogUniform(-3, 8))
					return
				}
				e := dt.EMin() - r.IntN(dt.Precision()+2) // of the result
				ex := e/2 - r.IntN(3)
				ey := e - ex
				if c.Op.Name == "div" {
					ey = ex - e
				}
				x.SetFloat(ix, r.LogUniform(ex, ex))
				y.SetFloat(iy, r.LogUniform(ey, ey))
			})
		}
	case "odd", "samples":
		x, y = tensor.New(dt, nx), tensor.New(dt, ny)
		odd := oddValues(dt)
		k := c.Dim("rotate")
		each(func(i, ix, iy int) {
			x.SetBits(ix, uint64(i))
			if c.Class == "odd" {
				y.SetFloat(iy, odd[(i+k)%len(odd)])
			} else {
				y.SetBits(iy, r.Uint64())
			}
		})
	default:
		x, y = inputs(c.Class, dt, r, nx), inputs(c.Class, dt, r, ny)
	}
	if isComparison(c.Op.Name) && c.Class != "close" && c.Class != "odd" {
		// Equal elements among those that hardly ever are.
		each(func(i, ix, iy int) {
			if i%4 == 3 {
				y.SetBits(iy, x.Bits(ix))
			}
		})
	}
	if isComparison(c.Op.Name) {
		// One pair at the least that is equal: a y that others share keeps it
		// if it is the last to be set.
		i := n - 1
		for i >= 0 && math.IsNaN(x.Float(ls[0].at(i))) {
			i--
		}
		if i >= 0 {
			y.SetBits(ls[1].at(i), x.Bits(ls[0].at(i)))
		}
	}
	ordered := isComparison(c.Op.Name) || c.Op.Name == "maximum" || c.Op.Name == "minimum"
	switch {
	case ordered && ls[0].storage == 1 && ny > 1: // some are below and some above
		x.SetBits(0, y.Bits(middle(y)))
	case ls[1].storage != 1 || nx == 0:
	case ordered:
		y.SetBits(0, x.Bits(middle(x)))
	case !dt.IsFloat():
		put(y, 0, 3) // a sum that is no copy, a quotient that is not zero
	}
	if n == 1 { // a result that is not zero
		a, b := 7.0, 3.0
		switch c.Op.Name {
		case "lt", "le":
			a, b = 3, 7
		case "eq":
			a = 3
		}
		put(x, 0, a)
		put(y, 0, b)
	}
	if c.Op.Name == "div" && !dt.IsFloat() {
		each(func(_, ix, iy int) {
			least := uint64(1) << 63
			if y.Bits(iy) == 0 || signed(dt) && x.Bits(ix) == least && y.Bits(iy) == ^uint64(0) {
				y.SetBits(iy, 3) // the quotient is undefined
			}
		})
	}
	p.Arg("lhs").Buf, p.Arg("rhs").Buf = x, y
	return p
}

// middle is the element that half of t's are below, NaNs first.
func middle(t *tensor.Tensor) int {
	order := make([]int, t.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(t.Float(i), t.Float(j)) })
	return order[t.Len()/2]
}

// put stores a small integer as element i, whatever the type.
func put(t *tensor.Tensor, i int, v float64) {
	if t.DType.IsFloat() {
		t.SetFloat(i, v)
	} else {
		t.SetBits(i, uint64(int64(v)))
	}
}

// tie returns an operand that makes the exact result lie halfway between
// two numbers of d, or just beside; for a product it may change x too.
func tie(op string, d tensor.DType, x *tensor.Tensor, i int, r *Rand) float64 {
	sign := float64(1 - 2*r.IntN(2))
	if op == "mul" {
		// An odd significand of all p bits times 1.5 has p+1 or more.
		p := d.Precision()
		m := 1<<(p-1) | int(r.Uint64()>>(65-p))&^1 | 1
		x.SetFloat(i, math.Ldexp(float64(m), r.IntN(4)-p))
		return sign * 1.5
	}
	half := d.ULP(x.Float(i)) / 2
	switch r.IntN(3) {
	case 0:
		half *= 1 + 4*d.UnitRoundoff()
	case 1:
		half *= 1 - 2*d.UnitRoundoff()
	}
	return sign * half
}

func expectBinary(p *Problem) *compare.Expected {
	c := p.Case
	ls, _ := c.views(2)
	x, y := p.Arg("lhs").Buf, p.Arg("rhs").Buf
	out := p.Arg("out").Buf.Clone()
	e := &compare.Expected{DType: out.DType, Exact: out, ULP: true, Axes: axesOf(c)}
	approximate := c.Op.Name == "div" && c.Variant.T.Size() == 2
	if approximate {
		n := out.Len()
		e.Exact = nil
		e.Value, e.Hard, e.Allow = make([]float64, n), make([]float64, n), make([]compare.Class, n)
		e.MaxNotNearest = 0.01
	}
	unspecified := 0 // divisors beyond div.approx's range
	for i := range out.Len() {
		ix, iy := ls[0].at(i), ls[1].at(i)
		if approximate {
			e.Value[i], e.Hard[i], e.Allow[i] = approximateQuotient(out.DType, x.Float(ix), y.Float(iy))
			if p.inFloat() {
				e.Hard[i], e.Allow[i] = 0, 0
				if t := e.Value[i]; t-t == 0 {
					e.Hard[i] = stored(out.DType, t, float64(u32*math.Abs(t)))
				}
				continue
			}
			if b := math.Abs(y.Float(iy)); b > 0x1p126 || b < 0x1p-126 {
				unspecified++
			}
			continue
		}
		out.SetBits(i, binaryBits(c.Op.Name, c.Variant.T, x, ix, y, iy))
	}
	if unspecified > 0 {
		e.MaxNotNearest += float64(unspecified) / float64(out.Len())
	}
	return e
}

// approximateQuotient is the truth of a quotient of f16 or bf16, and what a
// kernel may give that divides by PTX's div.approx.f32: a*(1/b), 2 ulp from the
// nearest for b in [2^-126, 2^126]; for larger b 0, or NaN where a is infinite (PTX
// ISA, div). 1/b leaves f32's range for b below 2^-128.
func approximateQuotient(d tensor.DType, a, b float64) (t, hard float64, allow compare.Class) {
	t = a / b
	if t-t == 0 {
		hard = d.ULP(t)/2 + float64(0x1.4p-22*math.Abs(t)) + 0x1p-149
	}
	if d == tensor.BF16 {
		switch b = math.Abs(b); {
		case b > 0x1p126 && t-t == 0:
			hard += math.Abs(t) // 0 is right
		case b > 0x1p126:
			allow = compare.NaN
		case b < 0x1p-126 && b != 0:
			allow = compare.NaN | compare.PosInf | compare.NegInf
		}
	}
	return t, hard, allow
}

// binaryBits is the result of op on x[i] and y[j]. The float64 result of
// two f32 or narrower numbers rounds to the same as the exact one
// (numerics.md 4.6).
func binaryBits(op string, d tensor.DType, x *tensor.Tensor, i int, y *tensor.Tensor, j int) uint64 {
	truth := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	if d.IsFloat() {
		a, b := x.Float(i), y.Float(j)
		drop := d == tensor.F64 || d == tensor.F32
		switch op {
		case "add":
			return d.Encode(a + b)
		case "sub":
			return d.Encode(a - b)
		case "mul":
			return d.Encode(a * b)
		case "div":
			return d.Encode(a / b)
		case "maximum", "minimum":
			switch {
			case drop && a != a:
				return y.Bits(j)
			case drop && b != b:
				return x.Bits(i)
			case a != a || b != b:
				return d.Encode(math.NaN())
			case op == "maximum":
				return d.Encode(math.Max(a, b))
			}
			return d.Encode(math.Min(a, b))
		case "eq":
			return truth(a == b)
		case "ne":
			return truth(a != b)
		case "lt":
			return truth(a < b)
		case "le":
			return truth(a <= b)
		case "gt":
			return truth(a > b)
		case "ge":
			return truth(a >= b)
		}
		panic("ops: no binary op " + op)
	}
	a, b := x.Bits(i), y.Bits(j)
	less, more := a < b, a > b
	if signed(d) {
		less, more = x.Int(i) < y.Int(j), x.Int(i) > y.Int(j)
	}
	switch op {
	case "add":
		return a + b
	case "sub":
		return a - b
	case "mul":
		return a * b
	case "div":
		if signed(d) {
			return uint64(x.Int(i) / y.Int(j))
		}
		return a / b
	case "maximum":
		if less {
			return b
		}
		return a
	case "minimum":
		if more {
			return b
		}
		return a
	case "eq":
		return truth(a == b)
	case "ne":
		return truth(a != b)
	case "lt":
		return truth(less)
	case "le":
		return truth(!more)
	case "gt":
		return truth(more)
	case "ge":
		return truth(!less)
	}
	panic("ops: no binary op " + op)
}

func traceBinary(p *Problem, i int) []Input {
	ls, _ := p.Case.views(2)
	return []Input{operand(p, "lhs", ls[0].at(i)), operand(p, "rhs", ls[1].at(i))}
}

// operand is element j of the parameter called name, under that name.
func operand(p *Problem, name string, j int) Input {
	return Input{Name: name, Index: j, Value: compare.Num(p.Arg(name).Buf.Float(j))}
}
