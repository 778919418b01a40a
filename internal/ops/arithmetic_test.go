package ops

import (
	"math"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// halved runs f for every op with a bound in every half type, with what is
// expected of its cases.
func halved(t *testing.T, how Half, f func(o *Op, v Variant, expected []*compare.Expected)) {
	t.Helper()
	ops := 0
	for _, o := range All() {
		for _, v := range o.Variants {
			if !isHalf(v.T) {
				continue
			}
			var list []*compare.Expected
			for _, c := range o.Cases(v, Fast) {
				p := o.Bind(&c, NewRand(1, c.Name()))
				p.Arithmetic.Half = how
				if e := o.Expect(p); e.Exact == nil && isHalf(e.DType) {
					list = append(list, e)
				}
			}
			if len(list) > 0 {
				ops++
				f(o, v, list)
			}
		}
	}
	if ops < 48 { // 24 ops in f16 and bf16
		t.Errorf("only %d kernels of half types have a bound", ops)
	}
}

// A store that truncates is a proven fault of every kernel that is declared
// to compute in float, and the truth rounded once is none.
func TestTruncatingStoresAreProven(t *testing.T) {
	halved(t, InFloat, func(o *Op, v Variant, expected []*compare.Expected) {
		caught := 0
		for _, e := range expected {
			right := rightly(e)
			if j, err := compare.Judge(e, right, nil, compare.Options{}); err != nil || j.Status == compare.Fail {
				t.Fatalf("%s: the truth rounded to nearest is %s (%v)", o.Kernel(v), j.Verdict, err)
			}
			cut := right.Clone()
			for i := range cut.Len() {
				// One step toward zero where rounding went away from it.
				if x := cut.Float(i); math.Abs(x) > math.Abs(e.Value[i]) && !math.IsInf(x, 0) {
					cut.SetBits(i, cut.Bits(i)-1)
				}
			}
			j, err := compare.Judge(e, cut, nil, compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if j.Status == compare.Fail {
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("%s: a store that truncates is a mismatch in none of %d cases", o.Kernel(v), len(expected))
		}
	})
}

// What a kernel may do that rounds once, one may that rounds more often: the
// bound in steps is no narrower, and leaves room for it where the steps are
// several.
func TestStepsHaveTheWiderBound(t *testing.T) {
	for _, o := range All() {
		for _, v := range o.Variants {
			if !isHalf(v.T) {
				continue
			}
			wider := false
			for _, c := range o.Cases(v, Fast) {
				p := o.Bind(&c, NewRand(1, c.Name()))
				steps := o.Expect(p)
				p.Arithmetic.Half = InFloat
				once := o.Expect(p)
				for i := range steps.Hard {
					if !(once.Hard[i] <= steps.Hard[i]*(1+1e-3)+2*steps.DType.MinSubnormal()) {
						t.Fatalf("%s, element %d of %g: %g in float, %g in steps", c.Name(), i, steps.Value[i], once.Hard[i], steps.Hard[i])
					}
					wider = wider || once.Hard[i] < 0.7*steps.Hard[i]
				}
			}
			switch o.Name {
			case "softmax", "rope", "rope_i", "rope_thd", "affine", "fast_sum", "gelu", "silu", "sigmoid", "elu", "exp":
				if !wider {
					t.Errorf("%s: the bound in float is not narrower than in steps", o.Kernel(v))
				}
			}
		}
	}
}

// Overflow of a half type in a product is no excuse for a kernel that
// computes in float.
func TestInFloatProductsStayInRange(t *testing.T) {
	o := find(t, "affine")
	c := laid{1, 1, 2, "null", "loguniform"}.on(o, Variant{T: tensor.F16})
	p := o.Bind(&c, NewRand(1, c.Name()))
	x := p.Arg("inp").Buf
	x.SetFloat(0, 3e4)
	x.SetFloat(1, 1)
	p.Arg("mul").Float, p.Arg("add").Float = 4, -65504
	for _, k := range []struct {
		how  Half
		want compare.Status
	}{{InSteps, compare.Pass}, {InFloat, compare.Fail}} {
		p.Arithmetic.Half = k.how
		e := o.Expect(p)
		got := tensor.FromFloats(tensor.F16, []float64{math.Inf(1), -65500}, 2)
		j, err := compare.Judge(e, got, nil, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if j.Status != k.want {
			t.Errorf("in %s: an infinity for %g is %s (%s), want %s", k.how, e.Value[0], j.Status, j.Verdict, k.want)
		}
	}
}
