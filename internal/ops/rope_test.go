package ops

import (
	"math"
	"math/big"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

func TestTwoProducts(t *testing.T) {
	r := NewRand(1, "two products")
	exact := func(a, b, c, d float64) *big.Float {
		f := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
		p := new(big.Float).SetPrec(4400).Mul(f(a), f(b))
		return p.Add(p, new(big.Float).SetPrec(4400).Mul(f(c), f(d)))
	}
	check := func(a, b, c, d float64) {
		t.Helper()
		hi, lo := twoProducts(a, b, c, d)
		want := exact(a, b, c, d)
		if math.IsInf(hi, 0) {
			if w, _ := want.Float64(); w != hi {
				t.Errorf("twoProducts(%g,%g,%g,%g) = %g, want %g", a, b, c, d, hi, w)
			}
			return
		}
		got := new(big.Float).SetPrec(4400).Add(big.NewFloat(hi), big.NewFloat(lo))
		err, _ := got.Sub(got, want).Abs(got).Float64()
		scale := math.Max(math.Abs(a)*math.Abs(b), math.Abs(c)*math.Abs(d))
		if limit := scale*0x1p-100 + 0x1p-1074; err > limit {
			t.Errorf("twoProducts(%g,%g,%g,%g) = %g+%g: error %g, want at most %g", a, b, c, d, hi, lo, err, limit)
		}
	}
	for range 20000 {
		check(r.LogUniform(-500, 500), r.LogUniform(-500, 500), r.LogUniform(-500, 500), r.LogUniform(-500, 500))
		a, b, c := r.Normal(), r.Normal(), r.Normal()
		check(a, b, c, -a*b/c) // cancelling
	}
	check(0x1p1000, 0x1p1000, 1, 1) // beyond the range: the infinity of the truth
	check(0, 1, 0, -1)
	check(0x1p-1074, 0x1p-3, 0, 1)
	if hi, _ := twoProducts(math.Inf(1), 0, 1, 1); !math.IsNaN(hi) {
		t.Errorf("Inf*0+1 = %g, want NaN", hi)
	}
	if hi, _ := twoProducts(math.Inf(1), 1, 1, 1); !math.IsInf(hi, 1) {
		t.Errorf("Inf*1+1 = %g, want +Inf", hi)
	}
}

// TestRopeByHand checks pairing and tables against results worked by hand
// from the definition: b=2, h=1, t=1, d=4, one table per batch.
func TestRopeByHand(t *testing.T) {
	src := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	cos := []float64{0, 1, 2, 3}
	sin := []float64{10, 20, 30, 40}
	for _, tc := range []struct {
		op   string
		want []float64
	}{
		// pairs (1,2)(3,4) with tables (0,10)(1,20); (5,6)(7,8) with (2,30)(3,40)
		{"rope_i", []float64{1*0 - 2*10, 1*10 + 2*0, 3*1 - 4*20, 3*20 + 4*1, 5*2 - 6*30, 5*30 + 6*2, 7*3 - 8*40, 7*40 + 8*3}},
		// pairs (1,3)(2,4); (5,7)(6,8)
		{"rope", []float64{1*0 - 3*10, 2*1 - 4*20, 1*10 + 3*0, 2*20 + 4*1, 5*2 - 7*30, 6*3 - 8*40, 5*30 + 7*2, 6*40 + 8*3}},
		{"rope_thd", []float64{1*0 - 3*10, 2*1 - 4*20, 1*10 + 3*0, 2*20 + 4*1, 5*2 - 7*30, 6*3 - 8*40, 5*30 + 7*2, 6*40 + 8*3}},
	} {
		op := find(t, tc.op)
		c := &Case{Op: op, Variant: Variant{T: tensor.F32}, Class: "normal", Dims: []Dim{D("b", 2), D("h", 1), D("t", 1), D("d", 4), D("cos", 3)}}
		p := op.Bind(c, NewRand(1, "x"))
		p.Arg("src").Buf = tensor.FromFloats(tensor.F32, src, p.Arg("src").Buf.Shape...)
		p.Arg("cos").Buf = tensor.FromFloats(tensor.F32, cos, 2, 1, 2)
		p.Arg("sin").Buf = tensor.FromFloats(tensor.F32, sin, 2, 1, 2)
		e := op.Expect(p)
		for i, want := range tc.want {
			if e.Value[i] != want {
				t.Errorf("%s: element %d is %g, want %g", tc.op, i, e.Value[i], want)
			}
		}
		if got := p.Arg("stride_b").Int; got != 4 {
			t.Errorf("%s: stride_b = %d, want h*t*d = 4", tc.op, got)
		}
	}
}

// TestRopeThdOrder tells (b,t,h,d) from (b,h,t,d): with two heads and two
// positions the table of an element differs.
func TestRopeThdOrder(t *testing.T) {
	for _, tc := range []struct {
		op   string
		want []int // position of each row of d=2
	}{
		{"rope", []int{0, 1, 2, 0, 1, 2}},
		{"rope_thd", []int{0, 0, 1, 1, 2, 2}},
	} {
		op := find(t, tc.op)
		c := &Case{Op: op, Variant: Variant{T: tensor.F32}, Class: "normal", Dims: []Dim{D("b", 1), D("h", 2), D("t", 3), D("d", 2), D("cos", 2)}}
		g := newRopeIndex(op.Bind(c, NewRand(1, "x")))
		for row, want := range tc.want {
			if _, _, cs, _ := g.pair(2 * row); cs != want {
				t.Errorf("%s: row %d reads table %d, want %d", tc.op, row, cs, want)
			}
		}
	}
}

func find(t *testing.T, name string) *Op {
	t.Helper()
	for _, o := range All() {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no op %s", name)
	return nil
}
