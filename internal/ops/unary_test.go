package ops

import (
	"math"
	"slices"
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

func unaryProblems(o *Op, v Variant, level Level, classes ...string) []*Problem {
	var list []*Problem
	for _, c := range o.Cases(v, level) {
		if slices.Contains(classes, c.Class) && c.Dim("n") > 1 {
			list = append(list, o.Bind(&c, NewRand(1, c.Name())))
		}
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
			level, classes := Fast, []string{"normal", "loguniform", "edges", "bits", "codes"}
			var share, candle float64
			for _, p := range unaryProblems(o, v, level, classes...) {
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
