package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// A machine is the arithmetic of a kernel in one type: every operation is
// done in float64 and rounded, which for f32 and narrower is the same as
// rounding once; library results are the nearest moved by ulps places.
type machine struct {
	d    tensor.DType
	ulps func(x float64, budget int) int
	// careful is for what was measured of libraries, not for what they
	// document.
	careful bool
}

func (k *machine) r(x float64) float64 { return k.d.Round(x) }

// lib is a library function that is off by up to budget places. Near
// the next lower power of two these are twice as far as they count as
// units of the last place: a careful library is not so far off.
func (k *machine) lib(f func(float64) truth.DD, budget int, x float64) float64 {
	t := f(x)
	y := k.r(t.Hi)
	if math.IsNaN(y) || math.IsInf(y, 0) || y == 0 {
		return y
	}
	n := k.ulps(x, budget)
	b := int64(k.d.Encode(math.Abs(y))) + int64(n)
	b = min(b, int64(k.d.Encode(math.Inf(1))))
	// A library is not off where it saturates.
	if sat := k.r(f(math.Copysign(math.Inf(1), x)).Hi); math.Abs(y) == math.Abs(sat) && n > 0 || b <= 0 {
		return y
	}
	z := math.Copysign(k.d.Decode(uint64(b)), y)
	if k.careful && math.Abs(z-t.Hi-t.Lo) > (float64(budget)+0.5)*k.d.ULP(t.Hi) {
		return y
	}
	return z
}

// kernels are the functions as this repository's kernels compute them in
// A, and as candle's do in T for half types: one source, two machines.
func (k *machine) kernel(name string, p float64) func(x float64) float64 {
	lib := func(f func(float64) truth.DD, budgets ...int) func(float64) float64 {
		b := budgets[0]
		if k.d == tensor.F64 && len(budgets) > 1 {
			b = budgets[1]
		}
		return func(x float64) float64 { return k.lib(f, b, x) }
	}
	exp, tanh := lib(truth.Exp, 2, 1), lib(truth.Tanh, 2, 1)
	normcdf := lib(truth.Normcdf, 5)
	r := k.r
	switch name {
	case "exp":
		return exp
	case "log":
		return lib(truth.Log, 2, 1)
	case "sin":
		return lib(truth.Sin, 2)
	case "cos":
		return lib(truth.Cos, 2)
	case "tanh":
		return tanh
	case "erf":
		if k.careful {
			return lib(truth.Erf, 2)
		}
		return lib(truth.Erf, 4)
	case "normcdf":
		return normcdf
	case "powf":
		pow := func(x float64) truth.DD { return truth.Pow(x, p) }
		if k.careful {
			return lib(pow, 2)
		}
		return lib(pow, 4, 2)
	case "recip":
		return func(x float64) float64 { return r(1 / x) }
	case "sqrt":
		return func(x float64) float64 { return r(math.Sqrt(x)) }
	case "sigmoid":
		return func(x float64) float64 { return r(1 / r(1+exp(-x))) }
	case "silu":
		return func(x float64) float64 { return r(x / r(1+exp(-x))) }
	case "elu":
		return func(x float64) float64 {
			if x > 0 {
				return x
			}
			return r(p * r(exp(x)-1))
		}
	case "gelu_erf":
		return func(x float64) float64 { return r(x * normcdf(x)) }
	case "gelu":
		c, q := r(math.Sqrt(2/math.Pi)), r(0.044715)
		return func(x float64) float64 {
			cube := r(r(x*x) * x)
			inner := r(c * r(x+r(q*cube)))
			return r(r(0.5*x) * r(1+tanh(inner)))
		}
	}
	return nil
}

func off(x float64, budget int) int {
	h := math.Float64bits(x) * 0x9e3779b97f4a7c15 >> 40
	return []int{0, -budget, budget, int(h%uint64(2*budget+1)) - budget}[h>>20%4]
}

// output stores f of every input.
func output(p *Problem, f func(x float64) float64, store func(float64) float64) *tensor.Tensor {
	in := unaryInput(p)
	out := tensor.New(p.Case.Variant.T, p.Arg("out").Buf.Shape...)
	for i := range out.Len() {
		y := f(in.buf.Float(in.l.at(i)))
		if store != nil {
			y = store(y)
		}
		out.SetFloat(i, y)
	}
	return out
}

// someCodes returns a sixteenth of the codes of a half type, spread over
// all exponents and all values of the low bits, and every one beside the
// points of f and the special values.
func someCodes(f *unary, d tensor.DType) []uint64 {
	var in [1 << 16]bool
	for k := range 1 << 12 {
		in[16*k+(k*7+k>>4)%16] = true
	}
	inf := int(d.Encode(math.Inf(1)))
	around := func(b, span int) {
		for k := max(0, b-span); k <= min(0x7fff, b+span); k++ {
			in[k], in[k|0x8000] = true, true
		}
	}
	around(0, 16)
	around(inf, 16)
	around(int(d.Encode(d.MinNormal())), 8)
	around(int(d.Encode(1)), 16)
	for _, x := range f.points {
		if x <= d.MaxFinite() {
			around(int(d.Encode(x)), 4)
		}
	}
	var list []uint64
	for b, ok := range in {
		if ok {
			list = append(list, uint64(b))
		}
	}
	return list
}

// unaryProblems are the fast cases of several elements, the exhaustive
// ones thinned out.
func unaryProblems(f *unary, o *Op, v Variant) []*Problem {
	var list []*Problem
	for _, c := range o.Cases(v, Fast) {
		if c.Dim("n") < 2 {
			continue
		}
		p := o.Bind(&c, NewRand(1, c.Name()))
		if c.Class == "exhaustive" {
			codes := someCodes(f, v.T)
			x := tensor.New(v.T, len(codes))
			for i, b := range codes {
				x.SetBits(i, b)
			}
			p.Arg("inp").Buf, p.Arg("out").Buf = x, tensor.New(v.T, len(codes))
		}
		list = append(list, p)
	}
	return list
}

// TestUnaryBoundsAdmitKernels: libraries at their worst, in the order of
// operations of this repository's kernels and of candle's, stay within the
// hard bound, ours within the likely one too, and the bounds are not empty.
func TestUnaryBoundsAdmitKernels(t *testing.T) {
	for i := range unaries {
		f := &unaries[i]
		if f.judge == nil {
			continue
		}
		o := find(t, f.name)
		for _, v := range o.Variants {
			if v.T.Size() > 2 && f.exact != nil {
				continue
			}
			var share, candle float64
			for _, p := range unaryProblems(f, o, v) {
				e := o.Expect(p)
				a := v.T
				if a.Size() == 2 {
					a = tensor.F32
				}
				param := 0.0
				if f.param != "" {
					param = p.Arg("param").Float
				}
				for _, careful := range []bool{false, true} {
					got := output(p, (&machine{d: a, ulps: off, careful: careful}).kernel(f.name, param), nil)
					j, err := compare.Judge(e, got, nil, compare.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if j.Accuracy.Mismatches > 0 || careful && j.Status != compare.Pass {
						t.Errorf("%s: %s, %s: %v; worst %+v", p.Case.Name(), j.Verdict, j.Sides, j.Warnings, j.Accuracy.Worst)
					}
					share = max(share, float64(j.Accuracy.Share))
				}
				if a == v.T {
					continue
				}
				none := func(float64, int) int { return 0 }
				k := (&machine{d: v.T, ulps: none}).kernel(f.name, param)
				j, err := compare.Judge(e, output(p, k, nil), nil, compare.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if j.Accuracy.Mismatches > 0 {
					t.Errorf("%s as candle computes it: %s, %s: worst %+v", p.Case.Name(), j.Verdict, j.Sides, j.Accuracy.Worst)
				}
				candle = max(candle, float64(j.Accuracy.Share))
			}
			t.Logf("%s/%s: largest share %.2f, in the half type %.2f", f.name, v, share, candle)
			if max(share, candle) < 0.25 {
				t.Errorf("%s/%s: the largest share of the bound is %.2g: it says nothing", f.name, v, max(share, candle))
			}
		}
	}
}

// TestUnaryPlanted plants mistakes in otherwise correct kernels: each must
// be found in one of the fast cases of every type named, by failing or,
// where the bound must admit as much, by a warning at least.
func TestUnaryPlanted(t *testing.T) {
	type kernel = func(d tensor.DType, x, p float64) float64
	f64, f32, f16, bf16 := tensor.F64, tensor.F32, tensor.F16, tensor.BF16
	all := []tensor.DType{f64, f32, f16, bf16}
	compute := func(d tensor.DType) tensor.DType {
		if d == f64 {
			return f64
		}
		return f32
	}
	// right is the kernel itself, with libraries correctly rounded.
	right := func(name string) kernel {
		return func(d tensor.DType, x, p float64) float64 {
			k := machine{d: compute(d), ulps: func(float64, int) int { return 0 }}
			return k.kernel(name, p)(x)
		}
	}
	hi := func(f func(float64) truth.DD) kernel {
		return func(_ tensor.DType, x, _ float64) float64 { return f(x).Hi }
	}
	pure := func(f func(x float64) float64) kernel {
		return func(_ tensor.DType, x, _ float64) float64 { return f(x) }
	}
	flush := func(d tensor.DType, x float64) float64 {
		if math.Abs(x) < d.MinNormal() {
			return math.Copysign(0, x)
		}
		return x
	}
	// truncate rounds to d toward zero.
	truncate := func(d tensor.DType, x float64) float64 {
		y := d.Round(x)
		if math.Abs(y) > math.Abs(x) && !math.IsInf(x, 0) {
			y = math.Copysign(d.Decode(d.Encode(math.Abs(y))-1), x)
		}
		return y
	}
	truncated := func(name string) kernel {
		return func(d tensor.DType, x, p float64) float64 { return truncate(d, right(name)(d, x, p)) }
	}
	flushed := func(f kernel) kernel {
		return func(d tensor.DType, x, p float64) float64 {
			return flush(compute(d), f(d, flush(compute(d), x), p))
		}
	}
	single := func(f func(x float32) float32) kernel {
		return pure(func(x float64) float64 { return float64(f(float32(x))) })
	}
	for _, tc := range []struct {
		name, op string
		types    []tensor.DType
		kernel   kernel
		want     compare.Status
	}{
		{"tanh gelu for erf", "gelu_erf", all, hi(truth.GeluTanh), compare.Fail},
		{"erf gelu for tanh", "gelu", []tensor.DType{f64, f32}, hi(truth.GeluErf), compare.Fail},
		// 4.7e-4 apart: within what candle's arithmetic in f16 gives.
		{"erf gelu for tanh", "gelu", []tensor.DType{f16}, hi(truth.GeluErf), compare.Warn},
		{"gelu with 0.0447", "gelu", []tensor.DType{f64, f32}, pure(func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(0.7978845608*(x+0.0447*x*x*x)))
		}), compare.Fail},
		{"quick gelu", "gelu", all, pure(func(x float64) float64 { return x / (1 + math.Exp(-1.702*x)) }), compare.Fail},
		{"rint for round", "round", all, pure(math.RoundToEven), compare.Fail},
		{"floor(x+0.5) for round", "round", all, pure(func(x float64) float64 { return math.Floor(x + 0.5) }), compare.Fail},
		{"trunc for floor", "floor", all, pure(math.Trunc), compare.Fail},
		{"ceil through int", "ceil", all, pure(func(x float64) float64 {
			if math.Abs(x) < 1e9 {
				return float64(int64(math.Ceil(x))) // loses -0
			}
			return math.Ceil(x)
		}), compare.Fail},
		{"0-x for neg", "neg", all, pure(func(x float64) float64 { return 0 - x }), compare.Fail},
		{"abs by comparing", "abs", all, pure(func(x float64) float64 {
			if x < 0 {
				return -x
			}
			return x // -0 stays
		}), compare.Fail},
		{"flushed copy", "copy", all, func(d tensor.DType, x, _ float64) float64 { return flush(d, x) }, compare.Fail},
		{"flushed exp", "exp", []tensor.DType{f64, f32, bf16}, flushed(right("exp")), compare.Fail},
		{"flushed sqr", "sqr", []tensor.DType{f64, f32, bf16}, flushed(pure(func(x float64) float64 { return x * x })), compare.Fail},
		{"flushed sin", "sin", []tensor.DType{f64, f32, bf16}, flushed(hi(truth.Sin)), compare.Fail},
		{"flushed sqrt", "sqrt", []tensor.DType{f64, f32, bf16}, flushed(right("sqrt")), compare.Fail},
		{"fast exp", "exp", []tensor.DType{f64, f32}, pure(func(x float64) float64 { return truth.Exp(x).Hi * (1 + 1e-6*math.Abs(x)) }), compare.Fail},
		{"fast exp in silu", "silu", []tensor.DType{f64, f32}, pure(func(x float64) float64 {
			return x / (1 + truth.Exp(-x).Hi*(1+1e-6*math.Abs(x)))
		}), compare.Fail},
		{"fast exp in sigmoid", "sigmoid", []tensor.DType{f64, f32}, pure(func(x float64) float64 {
			return 1 / (1 + truth.Exp(-x).Hi*(1+1e-6*math.Abs(x)))
		}), compare.Fail},
		{"fast log", "log", []tensor.DType{f64, f32}, pure(func(x float64) float64 { return truth.Log(x).Hi + 3e-7 }), compare.Fail},
		{"fast sin", "sin", []tensor.DType{f64, f32}, pure(func(x float64) float64 { return truth.Sin(x).Hi + 1e-7 }), compare.Fail},
		{"reduced by 2*pi in f32", "cos", []tensor.DType{f64, f32, f16, bf16}, single(func(x float32) float32 {
			const twoPi = float32(2 * math.Pi)
			return float32(math.Cos(float64(x - float32(math.Round(float64(x/twoPi)))*twoPi)))
		}), compare.Fail},
		{"tanh by exp", "tanh", []tensor.DType{f64, f32, f16, bf16}, single(func(x float32) float32 {
			e := float32(math.Exp(float64(2 * x)))
			return (e - 1) / (e + 1)
		}), compare.Fail},
		{"erf by a polynomial", "erf", []tensor.DType{f64, f32, bf16}, pure(func(x float64) float64 {
			// Abramowitz and Stegun 7.1.26: 1.5e-7 off
			a := math.Abs(x)
			u := 1 / (1 + 0.3275911*a)
			y := 1 - ((((1.061405429*u-1.453152027)*u+1.421413741)*u-0.284496736)*u+0.254829592)*u*math.Exp(-a*a)
			return math.Copysign(y, x)
		}), compare.Fail},
		{"Phi by erf", "normcdf", []tensor.DType{f64, f32, bf16}, single(func(x float32) float32 {
			return 0.5 * (1 + float32(math.Erf(float64(x)/math.Sqrt2)))
		}), compare.Fail},
		{"pow by exp and log", "powf", []tensor.DType{f64, f32}, func(_ tensor.DType, x, p float64) float64 {
			if x <= 0 || x > 1e300 {
				return truth.Pow(x, p).Hi
			}
			return math.Exp(float64(float32(p) * float32(math.Log(x))))
		}, compare.Fail},
		{"pow without signs", "powf", all, func(_ tensor.DType, x, p float64) float64 { return truth.Pow(math.Abs(x), p).Hi }, compare.Fail},
		{"half precision of f32 results", "tanh", []tensor.DType{f64, f32}, pure(func(x float64) float64 { return f16.Round(math.Tanh(x)) }), compare.Fail},
		{"f32 results in f64", "exp", []tensor.DType{f64}, pure(func(x float64) float64 { return f32.Round(math.Exp(x)) }), compare.Fail},
		{"approximate reciprocal", "recip", []tensor.DType{f32}, single(func(x float32) float32 {
			y := 1 / x
			if math.Float32bits(x)%7 == 0 && y-y == 0 {
				y = math.Float32frombits(math.Float32bits(y) + 1)
			}
			return y
		}), compare.Fail},
		{"elu without alpha", "elu", all, hi(func(x float64) truth.DD { return truth.Elu(x, 0.75) }), compare.Fail},
		{"selu for elu", "elu", all, func(_ tensor.DType, x, p float64) float64 { return 1.0507 * truth.Elu(x, p).Hi }, compare.Fail},
		{"relu that keeps NaN", "relu", []tensor.DType{f64, f32}, pure(func(x float64) float64 { return math.Max(x, 0) }), compare.Fail},
		{"relu that drops NaN", "relu", []tensor.DType{f16, bf16}, pure(func(x float64) float64 {
			if x > 0 {
				return x
			}
			return 0
		}), compare.Fail},
		{"sign of NaN", "sign", all, pure(func(x float64) float64 {
			if x != x {
				return x
			}
			return math.Copysign(1, x)
		}), compare.Fail},
		{"x times the reciprocal", "silu", []tensor.DType{f16, bf16}, func(d tensor.DType, x, _ float64) float64 {
			return x * f32.Round(1/(1+truth.Exp(-x).Hi))
		}, compare.Pass}, // is right: f32's rounding does not show
		{"expm1 in elu", "elu", all, func(d tensor.DType, x, p float64) float64 {
			if x > 0 {
				return x
			}
			return p * truth.Expm1(x).Hi
		}, compare.Pass},
		{"truncating store", "exp", []tensor.DType{f16, bf16}, truncated("exp"), compare.Warn},
		{"truncating store", "silu", []tensor.DType{f16, bf16}, truncated("silu"), compare.Warn},
		{"truncating store", "gelu_erf", []tensor.DType{f16, bf16}, truncated("gelu_erf"), compare.Warn},
		{"truncating store", "gelu", []tensor.DType{f16, bf16}, truncated("gelu"), compare.Warn},
		{"truncating store", "sqrt", []tensor.DType{f16, bf16}, truncated("sqrt"), compare.Fail},
		{"truncating store", "sqr", []tensor.DType{f16, bf16}, func(d tensor.DType, x, _ float64) float64 { return truncate(d, x*x) }, compare.Fail},
		{"overflow stays finite", "exp", all, func(d tensor.DType, x, _ float64) float64 {
			y := truth.Exp(x).Hi
			if x < math.Inf(1) && y > d.MaxFinite() {
				y = d.MaxFinite() / 2
			}
			return y
		}, compare.Fail},
		{"zero for NaN", "log", all, pure(func(x float64) float64 {
			if y := truth.Log(x).Hi; y == y {
				return y
			}
			return 0
		}), compare.Fail},
	} {
		var f *unary
		for i := range unaries {
			if unaries[i].name == tc.op {
				f = &unaries[i]
			}
		}
		o := find(t, tc.op)
		for _, d := range tc.types {
			worst := compare.Pass
			for _, p := range unaryProblems(f, o, Variant{T: d}) {
				var param float64
				if f.param != "" {
					param = p.Arg("param").Float
				}
				got := output(p, func(x float64) float64 { return tc.kernel(d, x, param) }, nil)
				j, err := compare.Judge(o.Expect(p), got, nil, compare.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if j.Status == compare.Fail || worst == compare.Pass {
					worst = j.Status
				}
			}
			if worst != tc.want && !(tc.want == compare.Warn && worst == compare.Fail) {
				t.Errorf("%s in %s/%s: %s, want %s", tc.name, tc.op, d, worst, tc.want)
			}
		}
	}
}

// TestUnaryLimits: what the arithmetic gives at -Inf and where exp
// overflows is allowed there, and nowhere else.
func TestUnaryLimits(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		op    string
		d     tensor.DType
		x     float64
		right []float64
		wrong []float64
	}{
		{"silu", tensor.F32, -inf, []float64{nan, 0}, []float64{-inf, -1, inf}},
		{"gelu", tensor.F64, -inf, []float64{nan, 0}, []float64{-inf, -1}},
		{"gelu_erf", tensor.F16, -inf, []float64{nan, 0}, []float64{-inf}},
		{"silu", tensor.F32, -2, []float64{-0.238405844}, []float64{nan, 0}},
		{"silu", tensor.F16, -11.2, []float64{0, -1.5e-4}, []float64{-4e-4, nan}}, // e^11.2 is past 65504
		{"silu", tensor.F16, -10.5, []float64{-2.89e-4}, []float64{0}},
		{"silu", tensor.F32, -89, []float64{0}, []float64{-1e-35, -inf}},
		{"sigmoid", tensor.BF16, -88, []float64{0, 0x1p-127}, []float64{0x1p-120}},
		{"elu", tensor.F32, -1e-9, []float64{0, -1e-9}, []float64{-1e-6, 1e-6}}, // exp rounds to 1
		{"elu", tensor.F32, 3, []float64{3}, []float64{3.0000002}},
		{"exp", tensor.F32, 88.8, []float64{inf}, []float64{1e38, nan}},
		{"exp", tensor.F32, -104, []float64{0}, []float64{1e-44, -1e-44}},
		{"log", tensor.F32, -1, []float64{nan}, []float64{0, -inf}},
		{"log", tensor.F16, 0, []float64{-inf}, []float64{-65504, nan}},
		{"recip", tensor.BF16, 0x1p127, []float64{0, 0x1p-127}, []float64{0x1p-125}},
		{"recip", tensor.F16, 3, []float64{1. / 3}, []float64{0.33374}},
		{"relu", tensor.F32, nan, []float64{0}, []float64{nan}},
		{"relu", tensor.F16, nan, []float64{nan}, []float64{0}},
		{"sign", tensor.F16, nan, []float64{0}, []float64{nan, 1}},
		{"round", tensor.F32, -2.5, []float64{-3}, []float64{-2}},
		{"round", tensor.F32, -0.25, []float64{math.Copysign(0, -1)}, []float64{0}},
		{"sqrt", tensor.F64, -1, []float64{nan}, []float64{0}},
	} {
		o := find(t, tc.op)
		var c Case
		for _, c = range o.Cases(Variant{T: tc.d}, Fast) {
			if c.Dim("n") == 1 {
				break
			}
		}
		p := o.Bind(&c, NewRand(1, "x"))
		p.Arg("inp").Buf.SetFloat(0, tc.x)
		e := o.Expect(p)
		for k, list := range [][]float64{tc.right, tc.wrong} {
			for _, y := range list {
				got := tensor.FromFloats(tc.d, []float64{y}, 1)
				d, err := compare.Measure(e, got)
				if err != nil {
					t.Fatal(err)
				}
				if d.Mismatches != k {
					t.Errorf("%s(%v) = %v in %s: %d mismatches, want %d; bound %v", tc.op, tc.x, y, tc.d, d.Mismatches, k, e.Hard)
				}
			}
		}
	}
}

// TestPowSpecials are C99's special values, F.9.4.4.
func TestPowSpecials(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := find(t, "powf")
	for _, tc := range []struct{ x, p, want float64 }{
		{1, nan, 1}, {nan, 0, 1}, {0, 0, 1}, {-1, inf, 1}, {-1, -inf, 1}, {0, -1, inf}, {math.Copysign(0, -1), -1, -inf},
		{math.Copysign(0, -1), -3, -inf}, {0, -1.5, inf}, {-8, 1. / 3, nan}, {-2, 3, -8}, {-inf, 3, -inf}, {-inf, -3, 0},
		{0.5, inf, 0}, {2, inf, inf}, {2, -inf, 0}, {nan, 2, nan}, {inf, 0.5, inf},
	} {
		for _, v := range f.Variants {
			c := f.Cases(v, Fast)[1]
			p := f.Bind(&c, NewRand(1, "x"))
			p.Arg("inp").Buf.SetFloat(0, tc.x)
			p.Arg("param").Float = v.T.Round(tc.p)
			if got := f.Expect(p).Value[0]; got != tc.want && !(got != got && tc.want != tc.want) {
				t.Errorf("powf/%s: %v^%v = %v, want %v", v, tc.x, tc.p, got, tc.want)
			}
		}
	}
}

// TestUnaryLayouts: every layout's strides stay in its storage and reach
// its last element; the truth of one follows the strides by hand.
func TestUnaryLayouts(t *testing.T) {
	for _, l := range layouts {
		if l.dims == nil {
			continue
		}
		last := 0
		for i := range l.size() {
			last = max(last, l.at(i))
		}
		if got, want := l.storage(l.size()), last+1; got != want {
			t.Errorf("%s: storage of %d elements, want %d", l.name, got, want)
		}
	}
	o := find(t, "neg")
	for _, c := range o.Cases(Variant{T: tensor.F32}, Fast) {
		if c.Dims[1].Text != "transposed" { // dims 5,7,6 strides 1,5,35
			continue
		}
		p := o.Bind(&c, NewRand(1, c.Name()))
		x, e := p.Arg("inp").Buf, o.Expect(p)
		for a := range 5 {
			for b := range 7 {
				for d := range 6 {
					if got, want := e.Exact.Float((a*7+b)*6+d), -x.Float(a+5*b+35*d); got != want {
						t.Fatalf("element %d,%d,%d is %v, want %v", a, b, d, got, want)
					}
				}
			}
		}
	}
}

func TestUnaryInputsGolden(t *testing.T) {
	h := sha256.New()
	for _, name := range []string{"copy", "log", "powf"} {
		o := find(t, name)
		for _, v := range o.Variants {
			for _, c := range o.Cases(v, Fast) {
				for _, a := range o.Bind(&c, NewRand(1, c.Name())).Args {
					if a.Buf != nil {
						h.Write(a.Buf.Data)
					}
				}
			}
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != goldenUnaryInputs {
		t.Errorf("inputs of copy, log and powf hash to %s, want %s: recordings would no longer apply", got, goldenUnaryInputs)
	}
}
