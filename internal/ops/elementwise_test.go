package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// zipped applies f to the elements of the operands called names, found by
// their strides dimension by dimension, and not by view.at.
func zipped(p *Problem, names []string, f func(x []uint64) uint64) *tensor.Tensor {
	out := p.Args[p.Case.Op.Output()].Buf.Clone()
	shape := p.Case.shape()
	views, _ := p.Case.views(len(names))
	x := make([]uint64, len(names))
	i := 0
	for a := range shape[0] {
		for b := range shape[1] {
			for c := range shape[2] {
				for k, name := range names {
					s := views[k].strides
					x[k] = p.Arg(name).Buf.Bits(views[k].offset + a*s[0] + b*s[1] + c*s[2])
				}
				out.SetBits(i, f(x))
				i++
			}
		}
	}
	return out
}

// binaryKernel is the arithmetic of this repository's kernels: in the type
// itself, f16 and bf16 in float32 with one rounding at the store.
func binaryKernel(p *Problem) *tensor.Tensor {
	op, d := p.Case.Op.Name, p.Case.Variant.T
	return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
		switch d {
		case tensor.I64:
			return uint64(integerOf(op, int64(x[0]), int64(x[1])))
		case tensor.U32:
			return uint64(integerOf(op, uint32(x[0]), uint32(x[1])))
		case tensor.U8:
			return uint64(integerOf(op, uint8(x[0]), uint8(x[1])))
		case tensor.F64:
			return storeOf(op, tensor.F64, floatOf(op, math.Float64frombits(x[0]), math.Float64frombits(x[1]), false))
		}
		a, b := float32(d.Decode(x[0])), float32(d.Decode(x[1]))
		return storeOf(op, d, float64(floatOf(op, a, b, d.Size() == 2)))
	})
}

func storeOf(op string, d tensor.DType, y float64) uint64 {
	if isComparison(op) {
		return uint64(y)
	}
	return d.Encode(y)
}

func bit[T int64 | uint32 | uint8 | float32 | float64](b bool) T {
	if b {
		return 1
	}
	return 0
}

func comparisonOf[T int64 | uint32 | uint8 | float32 | float64](op string, a, b T) T {
	return bit[T](map[string]bool{"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op])
}

func integerOf[T int64 | uint32 | uint8](op string, a, b T) T {
	switch op {
	case "add":
		return a + b
	case "sub":
		return a - b
	case "mul":
		return a * b
	case "div":
		return a / b
	case "maximum":
		return max(a, b)
	case "minimum":
		return min(a, b)
	}
	return comparisonOf(op, a, b)
}

func floatOf[T float32 | float64](op string, a, b T, keep bool) T {
	switch op {
	case "add":
		return a + b
	case "sub":
		return a - b
	case "mul":
		return a * b
	case "div":
		return a / b
	case "maximum", "minimum":
		switch {
		case keep && (a != a || b != b):
			return a + b
		case a != a:
			return b
		case b != b:
			return a
		case op == "maximum":
			return max(a, b)
		}
		return min(a, b)
	}
	return comparisonOf(op, a, b)
}

// approximately divides f16 and bf16 as the CUDA headers do, at the worst
// of PTX's accuracy: a*(1/b) with errors of ulps ulp of float32, and of
// divisors above 2^126 nothing left.
func approximately(ulps int) func(p *Problem) *tensor.Tensor {
	return func(p *Problem) *tensor.Tensor {
		d := p.Case.Variant.T
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			a, b := float32(d.Decode(x[0])), float32(d.Decode(x[1]))
			q := a / b
			if d == tensor.BF16 && math.Abs(float64(b)) > 0x1p126 && b-b == 0 {
				q = a * 0 // NaN of an infinite a
			}
			if math.Abs(float64(q)) > 0x1p-140 && q-q == 0 {
				q = math.Float32frombits(math.Float32bits(q) + uint32(ulps))
			}
			return d.Encode(float64(q))
		})
	}
}

func affineKernel(eval func(d tensor.DType, x, m, a float64) float64) func(p *Problem) *tensor.Tensor {
	return func(p *Problem) *tensor.Tensor {
		d, mul, add := p.Case.Variant.T, p.Arg("mul"), p.Arg("add")
		return zipped(p, []string{affineInput(p.Case)}, func(x []uint64) uint64 {
			if !d.IsFloat() {
				return x[0]*uint64(mul.Int) + uint64(add.Int)
			}
			return d.Encode(eval(d, d.Decode(x[0]), mul.Float, add.Float))
		})
	}
}

// inFloat is x*m+a fused, in float32 for the half types.
func inFloat(d tensor.DType, x, m, a float64) float64 {
	y := math.FMA(x, m, a)
	if d != tensor.F64 {
		y = float64(float32(y))
	}
	return y
}

// stepwise rounds the product to the type.
func stepwise(d tensor.DType, x, m, a float64) float64 {
	return d.Round(float64(d.Round(float64(x*m)) + a))
}

func whereKernel(p *Problem) *tensor.Tensor {
	return zipped(p, []string{"ids", "t", "f"}, func(x []uint64) uint64 {
		if x[0] == 0 {
			return x[2]
		}
		return x[1]
	})
}

// castKernel converts as this repository's kernels do, saturating where C++
// leaves the result open, and through float32 where through is set.
func castKernel(through bool) func(p *Problem) *tensor.Tensor {
	return func(p *Problem) *tensor.Tensor {
		from, to := p.Case.Variant.I, p.Case.Variant.T
		return zipped(p, []string{"inp"}, func(x []uint64) uint64 {
			if from == to {
				return x[0]
			}
			if !from.IsFloat() && !to.IsFloat() {
				return x[0]
			}
			v := new(big.Float).SetPrec(64)
			f := 0.0
			switch {
			case from == tensor.I64:
				v.SetInt64(int64(x[0]))
			case !from.IsFloat():
				v.SetUint64(x[0])
			default:
				if f = from.Decode(x[0]); f-f != 0 {
					if to.IsFloat() {
						return to.Encode(f)
					}
					return saturated(f, to)
				}
				v.SetFloat64(f)
			}
			if through {
				g, _ := v.Float32()
				v.SetFloat64(0)
				if g-g != 0 {
					return to.Encode(float64(g))
				}
				v.SetFloat64(float64(g))
			}
			switch to {
			case tensor.F64:
				g, _ := v.Float64()
				return math.Float64bits(g)
			case tensor.F32:
				g, _ := v.Float32()
				return uint64(math.Float32bits(g))
			case tensor.F16, tensor.BF16:
				g, _ := v.Float64() // exact of what becomes a half here
				if g == 0 && math.Signbit(f) {
					g = math.Copysign(0, -1)
				}
				return to.Encode(g)
			}
			return saturated(f, to)
		})
	}
}

func saturated(f float64, to tensor.DType) uint64 {
	n := 8 * to.Size()
	least, most := integerRange(to)
	switch {
	case f != f:
		return 0
	case f >= math.Ldexp(1, n-1) && to == tensor.I64:
		return math.MaxInt64
	case f >= most:
		return 1<<n - 1
	case f <= least:
		return uint64(int64(least))
	}
	return uint64(int64(f))
}

// byElement are the honest emulations of each op.
func byElement(o *Op) []emulation {
	switch o.Family {
	case "binary":
		list := []emulation{{name: "ours", run: binaryKernel}}
		if o.Name == "div" {
			half := func(c *Case) bool { return c.Variant.T.IsFloat() && c.Variant.T.Size() == 2 }
			list = append(list, emulation{"approximate, above", approximately(2), half}, emulation{"approximate, below", approximately(-2), half})
		}
		return list
	case "affine":
		return []emulation{{name: "fused", run: affineKernel(inFloat)}, {name: "stepwise", run: affineKernel(stepwise)}}
	case "ternary":
		return []emulation{{name: "ours", run: whereKernel}}
	case "cast":
		return []emulation{{name: "ours", run: castKernel(false)}}
	}
	return nil
}

// TestElementwiseHonest: kernels that are right pass every fast case, with
// no warning, on several seeds.
func TestElementwiseHonest(t *testing.T) {
	for _, o := range All() {
		list := byElement(o)
		worst := map[string]float64{}
		for _, v := range o.Variants {
			if list == nil {
				break
			}
			for _, c := range o.Cases(v, Fast) {
				for seed := range uint64(2) {
					p := o.Bind(&c, NewRand(1+seed, c.Name()))
					if p.Arg("numel").Int == 0 {
						continue
					}
					e := o.Expect(p)
					for _, em := range list {
						if em.only != nil && !em.only(&c) {
							continue
						}
						j := judged(t, p, e, em.run(p))
						if j.Status != compare.Pass {
							t.Errorf("seed %d %s: %s is %s, want pass: share %.3g, %v", 1+seed, c.Name(), em.name, j.Verdict, float64(j.Accuracy.Share), j.Warnings)
						}
						k := em.name + " " + v.String()
						worst[k] = max(worst[k], float64(j.Accuracy.Share))
					}
				}
			}
		}
		for k, s := range worst {
			if s > 0 {
				t.Logf("%s: %s: at most %.3g of the bound", o.Name, k, s)
			}
		}
		if o.Name == "affine" {
			for _, d := range []string{"f64", "f32", "f16", "bf16"} {
				if s := worst["stepwise "+d]; s < 0.5 {
					t.Errorf("affine/%s: rounding every step takes %.3g of the bound, want at least 0.5: the bound is loose", d, s)
				}
			}
		}
	}
}

// A mistake is a kernel that is wrong.
type mistake struct {
	ops  string // names, separated by spaces
	name string
	run  func(p *Problem) *tensor.Tensor
	only func(v Variant) bool
}

// TestElementwiseCaught: every planted mistake fails in a fast case of every
// type that it concerns.
func TestElementwiseCaught(t *testing.T) {
	float := func(v Variant) bool { return v.T.IsFloat() }
	half := func(v Variant) bool { return v.T.IsFloat() && v.T.Size() == 2 }
	// after changes the result of the right kernel.
	after := func(right func(p *Problem) *tensor.Tensor, f func(p *Problem, out *tensor.Tensor)) func(p *Problem) *tensor.Tensor {
		return func(p *Problem) *tensor.Tensor {
			out := right(p).Clone()
			f(p, out)
			return out
		}
	}
	// inOrder reads operand k as though it lay in order.
	inOrder := func(right func(p *Problem) *tensor.Tensor, param string, k, of int) func(p *Problem) *tensor.Tensor {
		return func(p *Problem) *tensor.Tensor {
			q := *p
			q.Args = append([]Arg(nil), p.Args...)
			views, _ := p.Case.views(of)
			old := p.Arg(param).Buf
			x := tensor.New(old.DType, views[k].storage)
			n := tensor.Count(p.Case.shape())
			for i := range n {
				if j := views[k].at(i); j < x.Len() && views[k].offset+i < old.Len() {
					x.SetBits(j, old.Bits(views[k].offset+i))
				}
			}
			q.Arg(param).Buf = x
			return right(&q)
		}
	}
	tail := func(p *Problem, out *tensor.Tensor) {
		for i := out.Len() &^ 7; i < out.Len(); i++ {
			out.SetBits(i, ^uint64(0))
		}
	}
	flush := func(p *Problem, out *tensor.Tensor) {
		for i := range out.Len() {
			if v := out.Float(i); math.Abs(v) < out.DType.MinNormal() {
				out.SetFloat(i, math.Copysign(0, v))
			}
		}
	}
	arithmetic := "add sub mul div"
	comparisons := "eq ne lt le gt ge"
	var mistakes []mistake
	add := func(ops, name string, only func(v Variant) bool, run func(p *Problem) *tensor.Tensor) {
		mistakes = append(mistakes, mistake{ops, name, run, only})
	}
	binary := arithmetic + " maximum minimum " + comparisons
	add(binary, "tail left out", nil, after(binaryKernel, tail))
	add(binary, "strides of lhs ignored", nil, inOrder(binaryKernel, "lhs", 0, 2))
	add(binary, "strides of rhs ignored", nil, inOrder(binaryKernel, "rhs", 1, 2))
	add("add sub mul", "subnormal results flushed", float, after(binaryKernel, flush))
	add("add sub mul", "truncating store", half, func(p *Problem) *tensor.Tensor {
		d := p.Case.Variant.T
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			y := floatOf(p.Case.Op.Name, d.Decode(x[0]), d.Decode(x[1]), true)
			b := d.Encode(y)
			if z := d.Decode(b); math.Abs(z) > math.Abs(y) {
				b-- // toward zero
			}
			return b
		})
	})
	add("maximum minimum", "NaN treated as in the other types", float, func(p *Problem) *tensor.Tensor {
		d := p.Case.Variant.T
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			return d.Encode(floatOf(p.Case.Op.Name, d.Decode(x[0]), d.Decode(x[1]), d.Size() != 2))
		})
	})
	add("div", "a reciprocal rounded to the type", half, func(p *Problem) *tensor.Tensor {
		d := p.Case.Variant.T
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			return d.Encode(float64(d.Decode(x[0]) * d.Round(1/d.Decode(x[1]))))
		})
	})
	for _, pair := range [][2]string{{"lt", "le"}, {"le", "lt"}, {"gt", "ge"}, {"ge", "gt"}, {"eq", "ge"}, {"ne", "gt"}, {"add", "sub"}, {"maximum", "minimum"}} {
		other := find(t, pair[1])
		add(pair[0], "computes "+pair[1], nil, func(p *Problem) *tensor.Tensor {
			q := *p
			c := *p.Case
			c.Op = other
			q.Case = &c
			return binaryKernel(&q)
		})
	}
	integer := func(v Variant) bool { return !v.T.IsFloat() }
	add("lt gt maximum minimum", "compares as unsigned", func(v Variant) bool { return v.T == tensor.I64 }, func(p *Problem) *tensor.Tensor {
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			switch p.Case.Op.Name {
			case "lt":
				return uint64(bit[uint8](x[0] < x[1]))
			case "gt":
				return uint64(bit[uint8](x[0] > x[1]))
			case "maximum":
				return max(x[0], x[1])
			}
			return min(x[0], x[1])
		})
	})
	add("add mul", "saturates", integer, func(p *Problem) *tensor.Tensor {
		d := p.Case.Variant.T
		top := ^uint64(0) >> (64 - 8*d.Size())
		if signed(d) {
			top >>= 1
		}
		return zipped(p, []string{"lhs", "rhs"}, func(x []uint64) uint64 {
			y := new(big.Int)
			a, b := new(big.Int).SetUint64(x[0]), new(big.Int).SetUint64(x[1])
			if signed(d) {
				a.SetInt64(int64(x[0]))
				b.SetInt64(int64(x[1]))
			}
			if p.Case.Op.Name == "add" {
				y.Add(a, b)
			} else {
				y.Mul(a, b)
			}
			if y.Cmp(new(big.Int).SetUint64(top)) > 0 {
				return top
			}
			if signed(d) && !y.IsInt64() {
				return 1 << 63
			}
			return y.Uint64() - 2*y.Uint64()*uint64(bit[uint8](y.Sign() < 0))
		})
	})
	right := affineKernel(inFloat)
	add("affine", "tail left out", nil, after(right, tail))
	add("affine", "strides ignored", nil, inOrder(right, "inp", 0, 1))
	add("affine", "adds first", nil, affineKernel(func(d tensor.DType, x, m, a float64) float64 { return d.Round((x + a) * m) }))
	mistakes[len(mistakes)-1].only = float
	add("affine", "rounds mul to bf16", func(v Variant) bool { return float(v) && v.T != tensor.BF16 },
		affineKernel(func(d tensor.DType, x, m, a float64) float64 { return inFloat(d, x, tensor.BF16.Round(m), a) }))
	add("where", "tail left out", nil, after(whereKernel, tail))
	for k, name := range []string{"ids", "t", "f"} {
		add("where", "strides of "+name+" ignored", nil, inOrder(whereKernel, name, k, 3))
	}
	add("where", "low byte of the condition alone", func(v Variant) bool { return v.I != tensor.U8 }, func(p *Problem) *tensor.Tensor {
		return zipped(p, []string{"ids", "t", "f"}, func(x []uint64) uint64 {
			if x[0]&0xff == 0 {
				return x[2]
			}
			return x[1]
		})
	})
	add("where", "bit 0 of the condition alone", nil, func(p *Problem) *tensor.Tensor {
		return zipped(p, []string{"ids", "t", "f"}, func(x []uint64) uint64 {
			if x[0]&1 == 0 {
				return x[2]
			}
			return x[1]
		})
	})
	add("where", "zeros lose their sign", float, after(whereKernel, func(p *Problem, out *tensor.Tensor) {
		for i := range out.Len() {
			if out.Float(i) == 0 {
				out.SetBits(i, 0)
			}
		}
	}))
	add("cast", "tail left out", nil, after(castKernel(false), tail))
	add("cast", "strides ignored", nil, inOrder(castKernel(false), "inp", 0, 1))
	add("cast", "through f32", func(v Variant) bool {
		// What f32 cannot hold, or rounds before a half type does.
		return v.T.IsFloat() && v.I != v.T && (v.I == tensor.F64 && v.T != tensor.F32 || v.I == tensor.I64 && v.T == tensor.F64 ||
			v.I == tensor.U32 && (v.T == tensor.F64 || v.T == tensor.BF16))
	}, castKernel(true))
	add("cast", "truncating store", func(v Variant) bool {
		bits := func(d tensor.DType) int {
			if d.IsFloat() {
				return d.Precision()
			}
			return 8 * d.Size()
		}
		return v.T.IsFloat() && bits(v.I) > bits(v.T) && v.T.Size() == 2 && v.I.IsFloat()
	}, func(p *Problem) *tensor.Tensor {
		from, to := p.Case.Variant.I, p.Case.Variant.T
		return zipped(p, []string{"inp"}, func(x []uint64) uint64 {
			v := from.Decode(x[0])
			b := to.Encode(v)
			if math.Abs(to.Decode(b)) > math.Abs(v) {
				b--
			}
			return b
		})
	})
	add("cast", "rounds to the nearest integer", func(v Variant) bool { return v.I.IsFloat() && !v.T.IsFloat() }, func(p *Problem) *tensor.Tensor {
		from, to := p.Case.Variant.I, p.Case.Variant.T
		return zipped(p, []string{"inp"}, func(x []uint64) uint64 { return saturated(math.RoundToEven(from.Decode(x[0])), to) })
	})
	add("cast", "integers saturate", func(v Variant) bool { return !v.I.IsFloat() && !v.T.IsFloat() && v.I.Size() > v.T.Size() }, func(p *Problem) *tensor.Tensor {
		to := p.Case.Variant.T
		return zipped(p, []string{"inp"}, func(x []uint64) uint64 { return min(x[0], 1<<(8*to.Size())-1) })
	})
	for _, m := range mistakes {
		for _, name := range strings.Fields(m.ops) {
			o := find(t, name)
			for _, v := range o.Variants {
				if m.only != nil && !m.only(v) {
					continue
				}
				failed := false
				for _, c := range o.Cases(v, Fast) {
					p := o.Bind(&c, NewRand(1, c.Name()))
					if c.inPlace() || p.Arg("numel").Int <= 1 {
						continue
					}
					if judged(t, p, o.Expect(p), m.run(p)).Status == compare.Fail {
						failed = true
						break
					}
				}
				if !failed {
					t.Errorf("%s/%s: %s passes every fast case", name, v, m.name)
				}
			}
		}
	}
}

// TestCastOutside: what C++ leaves open is set apart and nothing else is.
func TestCastOutside(t *testing.T) {
	o := find(t, "cast")
	inf := math.Inf(1)
	for _, tc := range []struct {
		from, to tensor.DType
		x        float64
		want     uint64
		defined  bool
	}{
		{tensor.F32, tensor.U8, 255.875, 255, true}, {tensor.F32, tensor.U8, -0.875, 0, true}, {tensor.F32, tensor.U8, 256, 0, false},
		{tensor.F32, tensor.U8, -1, 0, false}, {tensor.F16, tensor.U8, math.NaN(), 0, false}, {tensor.BF16, tensor.U8, inf, 0, false},
		{tensor.F64, tensor.U32, 4294967295.5, 4294967295, true}, {tensor.F64, tensor.U32, 4294967296, 0, false}, {tensor.F16, tensor.U32, 65504, 65504, true},
		{tensor.F32, tensor.I64, -0x1p63, 1 << 63, true}, {tensor.F32, tensor.I64, 0x1p63, 0, false}, {tensor.F32, tensor.I64, -1.5, ^uint64(0), true},
		{tensor.F64, tensor.I64, 0x1.fffffffffffffp62, 0x7ffffffffffffc00, true}, {tensor.F64, tensor.I64, -inf, 0, false},
		// One rounding: through float32 this is 1, and the next 16777216.
		{tensor.F64, tensor.BF16, 1 + 0x1p-8 + 0x1p-40, 0x3f81, true}, {tensor.U32, tensor.BF16, 16842753, 0x4b81, true},
		{tensor.F64, tensor.F16, 65520, 0x7c00, true}, {tensor.F64, tensor.F16, 65519.999, 0x7bff, true}, {tensor.F32, tensor.F16, -0x1p-26, 0x8000, true},
		{tensor.I64, tensor.F32, 0x1p62, 0x5e800000, true}, {tensor.U32, tensor.U8, 0x1234, 0x34, true}, {tensor.U8, tensor.I64, 200, 200, true},
	} {
		v := Variant{T: tc.to, I: tc.from}
		c := laid{1, 1, 1, "null", castClasses(v, Fast)[0]}.on(o, v)
		p := o.Bind(&c, NewRand(1, "outside"))
		x := p.Arg("inp").Buf
		if tc.from.IsFloat() {
			x.SetFloat(0, tc.x)
		} else {
			x.SetBits(0, uint64(tc.x))
		}
		e := o.Expect(p)
		if got := e.Mark == nil || e.Mark[0] == compare.Ordinary; got != tc.defined {
			t.Errorf("%v(%v %g) is defined: %v, want %v", tc.to, tc.from, tc.x, got, tc.defined)
		}
		if got := e.Exact.Bits(0); tc.defined && got != tc.want {
			t.Errorf("%v(%v %g) = %#x, want %#x", tc.to, tc.from, tc.x, got, tc.want)
		}
	}
	// Fast cases are all defined; the thorough ones are not, and say so.
	for _, v := range o.Variants {
		for _, c := range o.Cases(v, Fast) {
			if e := o.Expect(o.Bind(&c, NewRand(1, c.Name()))); e.Mark != nil {
				t.Errorf("%s has undefined elements", c.Name())
			}
		}
	}
	v := Variant{T: tensor.U8, I: tensor.F32}
	c := laid{2, 31, 33, "offset", "outside"}.on(o, v)
	p := o.Bind(&c, NewRand(1, c.Name()))
	if j := judged(t, p, o.Expect(p), castKernel(false)(p)); j.Verdict != compare.UBDivergent || j.Accuracy.Mismatches > 0 {
		t.Errorf("%s: %s with %d mismatches, want %s with none", c.Name(), j.Verdict, j.Accuracy.Mismatches, compare.UBDivergent)
	}
}

// TestFillByHand: what lies between rows and before the start stays.
func TestFillByHand(t *testing.T) {
	hold := func(out *tensor.Tensor, want ...float64) {
		t.Helper()
		for i, w := range want {
			if got := out.Float(i); got != w {
				t.Errorf("element %d is %g, want %g", i, got, w)
			}
		}
	}
	v := Variant{T: tensor.F32}
	o := find(t, "copy2d")
	c := &Case{Op: o, Variant: v, Class: "mixed", Dims: []Dim{D("d1", 2), D("d2", 2), D("src_s", 3), D("dst_s", 4), D("offset", 0)}}
	p := o.Bind(c, NewRand(1, "x"))
	p.Arg("src").Buf = tensor.FromFloats(tensor.F32, []float64{1, 2, 3, 4, 5}, 5)
	p.Arg("dst").Buf = tensor.FromFloats(tensor.F32, []float64{-1, -2, -3, -4, -5, -6}, 6)
	hold(o.Expect(p).Exact, 1, 2, -3, -4, 4, 5)
	o = find(t, "const_set")
	c2 := laid{1, 1, 3, "inner2", "normal"}.on(o, v)
	p = o.Bind(&c2, NewRand(1, "x"))
	p.Arg("inp").Float = 9
	p.Arg("out").Buf = tensor.FromFloats(tensor.F32, []float64{1, 2, 3, 4, 5, 6}, 6)
	hold(o.Expect(p).Exact, 9, 2, 9, 4, 9, 6)
	o = find(t, "fill")
	c3 := Case{Op: o, Variant: v, Class: "normal", Dims: []Dim{D("n", 2), D("offset", 1)}}
	p = o.Bind(&c3, NewRand(1, "x"))
	p.Arg("value").Float = 9
	p.Arg("buf").Buf = tensor.FromFloats(tensor.F32, []float64{1, 2, 3}, 3)
	hold(o.Expect(p).Exact, 1, 9, 9)
}

var goldenElementwise = map[string]string{
	"add":       "786e69cf7003a513",
	"div":       "985fdceb0907105f",
	"eq":        "5ac0bc538663e2ec",
	"affine":    "099dfdbd5f3c28b3",
	"where":     "57fac49c8b7c7c46",
	"fill":      "6b5fc64cb43b2f31",
	"copy2d":    "ee9d9c12797b856b",
	"const_set": "6bdabded3ce8cf43",
	"cast":      "ddb31101fcd60640",
}

// TestElementwiseInputsGolden pins inputs and scalars.
func TestElementwiseInputsGolden(t *testing.T) {
	for name, want := range goldenElementwise {
		op, h := find(t, name), sha256.New()
		for _, v := range op.Variants {
			for _, c := range op.Cases(v, Fast) {
				for _, a := range op.Bind(&c, NewRand(1, c.Name())).Args {
					if a.Buf != nil {
						h.Write(a.Buf.Data)
					}
					fmt.Fprint(h, a.Offset, a.Int, math.Float64bits(a.Float))
				}
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
			t.Errorf("inputs of %s hash to %q, want %q: recordings would no longer apply", name, got, want)
		}
	}
}
