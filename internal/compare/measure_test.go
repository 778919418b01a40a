package compare

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
	neg = math.Copysign(0, -1)
)

// one is an Expected of a single element.
func one(d tensor.DType, value, tail, hard float64) *Expected {
	e := &Expected{DType: d, Value: []float64{value}, Hard: []float64{hard}, ULP: true, Degenerate: true}
	if tail != 0 {
		e.Tail = []float64{tail}
	}
	return e
}

func measured1(t *testing.T, e *Expected, got float64) Diff {
	t.Helper()
	d, err := Measure(e, tensor.FromFloats(e.DType, []float64{got}, 1))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMeasureOne(t *testing.T) {
	const (
		f16  = tensor.F16
		f32  = tensor.F32
		f64  = tensor.F64
		bf16 = tensor.BF16
		f8   = tensor.F8E4M3
	)
	tiny := math.Ldexp(1, -149)
	for _, test := range []struct {
		name              string
		d                 tensor.DType
		value, tail, hard float64
		got               float64
		wrong             bool
		share, ulp        float64
		exact             bool
	}{
		{"equal", f32, 1, 0, 0.5, 1, false, 0, 0, true},
		{"half the bound", f32, 1, 0, 0.5, 1.25, false, 0.5, 0.25 * 0x1p23, false},
		{"at the bound", f32, 1, 0, 0.5, 1.5, false, 1, 0.5 * 0x1p23, false},
		{"just over the bound", f32, 1, 0, 0.5, 1.5 + 0x1p-23, true, 1 + 0x1p-22, 0.5*0x1p23 + 1, false},
		{"wrong sign", f32, 1, 0, 0.5, -1, true, 4, 0x1p24, false},

		{"zeros", f32, 0, 0, 0, 0, false, 0, 0, true},
		{"zero for denormal", f32, tiny, 0, tiny, 0, false, 1, 1, false},
		{"zero for two denormals", f32, 2 * tiny, 0, tiny, 0, true, 2, 2, false},
		{"denormal truth, rounded", f32, 1.25 * tiny, 0, 0, tiny, false, 0, 0.25, true},
		{"denormal truth, next", f32, 1.25 * tiny, 0, 0, 2 * tiny, true, inf, 0.75, false},

		{"nan for nan", f32, nan, 0, 0, nan, false, 0, 0, true},
		{"nan for finite", f32, 1, 0, 1e30, nan, true, inf, inf, false},
		{"nan for finite, no limit", f32, 1, 0, inf, nan, true, inf, inf, false},
		{"finite for nan", f32, nan, 0, 1e30, 1, true, inf, inf, false},
		{"zero for nan", f32, nan, 0, 1e30, 0, true, inf, inf, false},
		{"inf for nan", f32, nan, 0, 1e30, inf, true, inf, inf, false},
		{"nan for inf", f32, inf, 0, 1e30, nan, true, inf, inf, false},
		{"inf for inf", f32, inf, 0, 0, inf, false, 0, 0, true},
		{"-inf for inf", f32, inf, 0, 1e30, -inf, true, inf, inf, false},
		{"max for inf", f32, inf, 0, 1e30, math.MaxFloat32, true, inf, inf, false},
		{"inf for finite", f32, 1, 0, 1e30, inf, true, inf, inf, false},

		// Overflow: an infinity counts as 2^16 of f16.
		{"inf for past the threshold", f16, 65520, 0, 0, inf, false, 0, 0, true},
		{"max for just below the threshold", f16, 65519.9, 0, 0, 65504, false, 0, 15.9 / 32, true},
		{"inf for just below the threshold", f16, 65519.9, 0, 0, inf, true, inf, inf, false},
		{"inf within the bound", f16, 65504, 0, 32, inf, false, 1, 1, false},
		{"inf past the bound", f16, 65504, 0, 31, inf, true, inf, inf, false},
		{"max for far past, within the bound", f16, 1e9, 0, 32, 65504, false, 1, 1, false},
		{"max for far past, over the bound", f16, 1e9, 0, 31, 65504, true, 32. / 31, 1, false},
		{"inf for far past", f16, 1e9, 0, 1, inf, false, 0, 0, true},
		{"-inf for far past", f16, 1e9, 0, 1, -inf, true, inf, inf, false},
		{"-inf for far below", f16, -1e9, 0, 1, -inf, false, 0, 0, true},
		{"nan for far past", f16, 1e9, 0, 1e9, nan, true, inf, inf, false},
		{"f64 inf within the bound", f64, math.MaxFloat64, 0, 0x1p971, inf, false, 1, 1, false},
		{"f64 inf past the bound", f64, math.MaxFloat64, 0, 0x1p970, inf, true, inf, inf, false},
		{"f64 opposite ends", f64, math.MaxFloat64, 0, 1e300, -math.MaxFloat64, true, inf, inf, false},
		{"e4m3 nan for past the threshold", f8, 465, 0, 0, nan, false, 0, 0, true},
		{"e4m3 max for the threshold itself", f8, 464, 0, 0, 448, false, 0, 0.5, true},
		{"e4m3 max for past, saturating", f8, 1000, 0, 32, 448, false, 1, 1, false},
		{"e4m3 nan for small", f8, 1, 0, 1, nan, true, inf, inf, false},

		// Hard == 0: the truth correctly rounded, once.
		{"tie to even below", f16, 1 + 0x1p-11, 0, 0, 1, false, 0, 0.5, true},
		{"tie to even, not above", f16, 1 + 0x1p-11, 0, 0, 1 + 0x1p-10, true, inf, 0.5, false},
		{"tie broken upward by the tail", f16, 1 + 0x1p-11, 0x1p-70, 0, 1 + 0x1p-10, false, 0, 0.5, true},
		{"tie broken upward, not below", f16, 1 + 0x1p-11, 0x1p-70, 0, 1, true, inf, 0.5, false},
		{"tie broken downward by the tail", f16, 1 + 3*0x1p-11, -0x1p-70, 0, 1 + 0x1p-10, false, 0, 0.5, true},
		{"negative tie broken outward", bf16, -(1 + 0x1p-8), -0x1p-70, 0, -(1 + 0x1p-7), false, 0, 0.5, true},
		{"not by way of f32", bf16, 1 + 0x1p-8 + 0x1p-40, 0, 0, 1 + 0x1p-7, false, 0, 0.5 - 0x1p-33, true},
		{"by way of f32", bf16, 1 + 0x1p-8 + 0x1p-40, 0, 0, 1, true, inf, 0.5 + 0x1p-33, false},
		{"f32 tie broken by the tail", f32, 1 + 0x1p-24, 0x1p-78, 0, 1 + 0x1p-23, false, 0, 0.5, true},
		{"below a power of two", f16, 1 - 0x1p-12, 0x1p-70, 0, 1, false, 0, 0.5, true},
		{"f64 with a tail", f64, 1, 0x1p-54, 0, 1, false, 0, 0.25, true},
		{"f64 next with a tail", f64, 1, 0x1p-54, 0x1p-52, 1 + 0x1p-52, false, 0.75, 0.75, false},
		{"f64 is no farther than the tail", f64, 1, 0x1p-60, 0x1p-59, 1, false, 0.5, 0x1p-8, true},
		{"the nearest is never wrong", f32, 1 + 0x1p-25, 0, 0x1p-30, 1, false, 1, 0.25, true},
		{"the next is", f32, 1 + 0x1p-25, 0, 0x1p-30, 1 + 0x1p-23, true, 96, 0.75, false},
		{"below half the smallest", f32, tiny / 4, 0, 0, 0, false, 0, 0.25, true},
	} {
		d := measured1(t, one(test.d, test.value, test.tail, test.hard), test.got)
		if wrong := d.Mismatches == 1; wrong != test.wrong {
			t.Errorf("%s: mismatch = %v, want %v", test.name, wrong, test.wrong)
		}
		if got := float64(d.Share); got != test.share && !(math.Abs(got-test.share) < 1e-12*test.share) {
			t.Errorf("%s: share = %v, want %v", test.name, got, test.share)
		}
		if got := float64(d.MaxULP); got != test.ulp && !(math.Abs(got-test.ulp) < 1e-9*test.ulp) {
			t.Errorf("%s: ulp = %v, want %v", test.name, got, test.ulp)
		}
		if exact := d.Exact == 1; exact != test.exact {
			t.Errorf("%s: exact = %v, want %v", test.name, exact, test.exact)
		}
		if (d.First != nil) != test.wrong {
			t.Errorf("%s: first = %v", test.name, d.First)
		}
		if (d.Worst != nil) != (!test.exact || test.wrong) {
			t.Errorf("%s: worst = %v", test.name, d.Worst)
		}
	}
}

func TestMeasureZeroSign(t *testing.T) {
	for _, test := range []struct {
		value, got  float64
		strict      bool
		wrong, sign int
	}{
		{0, neg, false, 0, 1},
		{0, neg, true, 1, 0},
		{neg, 0, true, 1, 0},
		{neg, neg, true, 0, 0},
		{-0x1p-200, 0, false, 0, 1},
		{-0x1p-200, 0, true, 1, 0},
		{-0x1p-200, neg, true, 0, 0},
	} {
		e := one(tensor.F32, test.value, 0, 0)
		e.SignedZero = test.strict
		x := &Expected{DType: tensor.F32, Exact: tensor.FromFloats(tensor.F32, e.Value, 1), SignedZero: test.strict}
		for _, e := range []*Expected{e, x} {
			d := measured1(t, e, test.got)
			if d.Mismatches != test.wrong || d.ZeroSign != test.sign {
				t.Errorf("%v for %v, strict %v: mismatches %d, zero signs %d, want %d, %d", test.got, test.value, test.strict, d.Mismatches, d.ZeroSign, test.wrong, test.sign)
			}
		}
	}
}

func TestMeasureAllow(t *testing.T) {
	for _, test := range []struct {
		value, got float64
		allow      Class
		wrong      int
	}{
		{1, nan, NaN, 0},
		{1, nan, PosInf, 1},
		{1, inf, PosInf, 0},
		{1, -inf, PosInf, 1},
		{nan, 3, Finite, 0},
		{nan, inf, Finite, 1},
		{inf, math.MaxFloat32, Finite, 0},
		{1, 2, Finite, 1}, // the bound still counts
		{nan, -inf, NegInf | PosInf, 0},
	} {
		e := one(tensor.F32, test.value, 0, 0.25)
		e.Allow = []Class{test.allow}
		x := &Expected{DType: tensor.F32, Exact: tensor.FromFloats(tensor.F32, e.Value, 1), Allow: e.Allow}
		for _, e := range []*Expected{e, x} {
			if d := measured1(t, e, test.got); d.Mismatches != test.wrong {
				t.Errorf("%v for %v, allowing %04b: mismatches = %d, want %d", test.got, test.value, test.allow, d.Mismatches, test.wrong)
			}
		}
	}
}

// A class allowed of one element is allowed of no other.
func TestMeasureAllowIsOfOneElement(t *testing.T) {
	e := &Expected{DType: tensor.F32, Value: []float64{1, 2, nan}, Hard: []float64{0.1, 0.1, 0.1}, Allow: []Class{0, NaN, Finite}}
	x := &Expected{DType: tensor.F32, Exact: tensor.FromFloats(tensor.F32, e.Value, 3), Allow: e.Allow}
	for _, e := range []*Expected{e, x} {
		d, err := Measure(e, tensor.FromFloats(tensor.F32, []float64{nan, nan, 5}, 3))
		if err != nil {
			t.Fatal(err)
		}
		if d.Mismatches != 1 || d.First == nil || d.First.Index != 0 {
			t.Errorf("%d mismatches, first %+v; want one, of element 0", d.Mismatches, d.First)
		}
	}
	e.Allow = e.Allow[:2]
	if _, err := Measure(e, tensor.New(tensor.F32, 3)); err == nil {
		t.Error("classes of 2 elements for 3 must be an error")
	}
}

func TestMeasureMarks(t *testing.T) {
	e := &Expected{
		DType: tensor.F32,
		Value: []float64{1, 1, 1, nan},
		Hard:  []float64{0.1, 0.1, nan, 0.1},
		Mark:  []Mark{Ordinary, IllConditioned, IllConditioned, Undefined},
	}
	d, err := Measure(e, tensor.FromFloats(tensor.F32, []float64{1, nan, 50, 3}, 4))
	if err != nil {
		t.Fatal(err)
	}
	if d.Mismatches != 0 || d.IllCond != 2 || d.Undefined != 1 || d.Exact != 1 || d.N != 4 {
		t.Errorf("got %+v, want 0 mismatches, 2 ill-conditioned, 1 undefined, 1 exact of 4", d)
	}
	e.Mark = nil
	if _, err := Measure(e, tensor.New(tensor.F32, 4)); err == nil {
		t.Error("a bound that is NaN must be an error")
	}
}

func TestMeasureIntegers(t *testing.T) {
	for _, test := range []struct {
		d         tensor.DType
		want, got int64
		wrong     int
		abs       float64
	}{
		{tensor.U8, 255, 255, 0, 0},
		{tensor.U8, 255, 254, 1, 1},
		{tensor.I64, -1, -1, 0, 0},
		{tensor.I64, math.MaxInt64, math.MaxInt64 - 1, 1, 1},
		{tensor.I64, math.MinInt64, math.MaxInt64, 1, 0x1p64},
		{tensor.U32, 1<<32 - 1, 0, 1, 1<<32 - 1},
		{tensor.I32, -5, 5, 1, 10},
	} {
		e := &Expected{DType: test.d, Exact: tensor.FromInts(test.d, []int64{test.want}, 1)}
		d, err := Measure(e, tensor.FromInts(test.d, []int64{test.got}, 1))
		if err != nil {
			t.Fatal(err)
		}
		if d.Mismatches != test.wrong || float64(d.MaxAbs) != test.abs {
			t.Errorf("%s: %d for %d: mismatches %d, abs %v, want %d, %v", test.d, test.got, test.want, d.Mismatches, d.MaxAbs, test.wrong, test.abs)
		}
		if test.wrong == 1 && !math.IsInf(float64(d.Share), 1) {
			t.Errorf("%s: %d for %d: share = %v, want +Inf", test.d, test.got, test.want, d.Share)
		}
	}
}

func TestMeasureErrors(t *testing.T) {
	two := func() *Expected {
		return &Expected{DType: tensor.F32, Value: []float64{1, 2}, Hard: []float64{1, 1}}
	}
	for name, test := range map[string]struct {
		change func(e *Expected)
		got    *tensor.Tensor
		ok     bool
	}{
		"right":               {func(e *Expected) {}, tensor.New(tensor.F32, 2), true},
		"short output":        {func(e *Expected) {}, tensor.New(tensor.F32, 1), false},
		"long output":         {func(e *Expected) {}, tensor.New(tensor.F32, 3), false},
		"other type":          {func(e *Expected) {}, tensor.New(tensor.I32, 2), false},
		"short bound":         {func(e *Expected) { e.Hard = e.Hard[:1] }, tensor.New(tensor.F32, 2), false},
		"short likely":        {func(e *Expected) { e.Likely = []float64{1} }, tensor.New(tensor.F32, 2), false},
		"short tail":          {func(e *Expected) { e.Tail = []float64{0} }, tensor.New(tensor.F32, 2), false},
		"short mark":          {func(e *Expected) { e.Mark = []Mark{0} }, tensor.New(tensor.F32, 2), false},
		"negative bound":      {func(e *Expected) { e.Hard[1] = -1 }, tensor.New(tensor.F32, 2), false},
		"NaN likely":          {func(e *Expected) { e.Likely = []float64{0, nan} }, tensor.New(tensor.F32, 2), false},
		"infinite tail":       {func(e *Expected) { e.Tail = []float64{0, inf} }, tensor.New(tensor.F32, 2), false},
		"axes of other size":  {func(e *Expected) { e.Axes = []Axis{{"n", 3}} }, tensor.New(tensor.F32, 2), false},
		"exact of other type": {func(e *Expected) { e.Exact = tensor.New(tensor.F16, 2) }, tensor.New(tensor.F32, 2), false},
		"integer in floats":   {func(e *Expected) { e.DType = tensor.U8 }, tensor.New(tensor.U8, 2), false},
	} {
		e := two()
		test.change(e)
		if _, err := Measure(e, test.got); (err == nil) != test.ok {
			t.Errorf("%s: error = %v, want none: %v", name, err, test.ok)
		}
	}
	d, err := Measure(&Expected{DType: tensor.F32}, tensor.New(tensor.F32, 0))
	if err != nil || d.N != 0 || d.Share != 0 {
		t.Errorf("no elements: got %+v, %v, want N = 0 and no error", d, err)
	}
}

// One element among a million is found: a measure of the whole, such as
// ggml's NMSE, passes it.
func TestMeasureOneAmongAMillion(t *testing.T) {
	const n = 1 << 20
	e := &Expected{DType: tensor.F32, Value: make([]float64, n), Hard: make([]float64, n), ULP: true}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		e.Value[i] = 1 + r.Float64()
		e.Hard[i] = 0x1p-23
	}
	got := tensor.FromFloats(tensor.F32, e.Value, n)
	got.SetFloat(777_777, 0)
	d, err := Measure(e, got)
	if err != nil {
		t.Fatal(err)
	}
	if d.Mismatches != 1 || d.First.Index != 777_777 || d.NMSE > 5e-4 {
		t.Errorf("got %d mismatches, first %v, nmse %v, want 1 at 777777 with an nmse that would pass", d.Mismatches, d.First, d.NMSE)
	}
	if d.Exact != n-1 || d.P50ULP == 0 || d.P50ULP > 0.5 || d.P99ULP > 0.5 || d.P999Share > 1 {
		t.Errorf("got %+v", d)
	}
	if got := d.Hist[len(d.Hist)-1]; got != 1 {
		t.Errorf("last bin of the histogram = %d, want 1", got)
	}
}

// The statistics against sums done the plain way.
func TestMeasureStatistics(t *testing.T) {
	e := &Expected{
		DType: tensor.F32, ULP: true,
		Value: []float64{1, -1, 2, -2},
		Hard:  []float64{1, 1, 1, 1},
	}
	const u = 0x1p-23
	// Errors of 1, 2, 3 and 4 ulp, toward zero.
	got := tensor.FromFloats(tensor.F32, []float64{1 - u, -1 + 2*u, 2 - 6*u, -2 + 8*u}, 4)
	d, err := Measure(e, got)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"max", float64(d.MaxULP), 4},
		{"p50", float64(d.P50ULP), 2},
		{"p99", float64(d.P99ULP), 4},
		{"rms", float64(d.RMSULP), math.Sqrt(30. / 4)},
		{"bias", float64(d.BiasULP), (-1 + 2 - 3 + 4) / 4.},
		{"pull", float64(d.PullULP), -10 / 4.},
		{"max abs", float64(d.MaxAbs), 8 * u},
		{"share", float64(d.Share), 8 * u},
		{"nmse", float64(d.NMSE), (1 + 4 + 36 + 64) * u * u / 10},
	} {
		if math.Abs(c.got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if d.Hist[2] != 1 || d.Hist[3] != 1 || d.Hist[4] != 2 {
		t.Errorf("histogram = %v, want one of 1, one of 2, two up to 4 ulp", d.Hist)
	}
}

func TestLikely(t *testing.T) {
	e := one(tensor.F32, 1, 0, 1)
	e.Likely = []float64{0.25}
	for got, want := range map[float64]int{1: 0, 1.25: 0, 1.5: 1, 2: 1, 3: 0} {
		if d := measured1(t, e, got); d.Unlikely != want {
			t.Errorf("%v: unlikely = %d, want %d", got, d.Unlikely, want)
		}
	}
}

// nearest against exact rationals, near ties of every type.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.F8E4M3} {
		m := newMeter(&Expected{DType: d})
		for range 20_000 {
			x := d.Decode(r.Uint64())
			if math.IsNaN(x) || math.IsInf(x, 0) || d == tensor.F64 && math.Abs(x) < 1e-290 {
				continue
			}
			// A point between x and its neighbour, on or beside the middle.
			v := x + m.ulp(x)*[]float64{0, 0.25, 0.5, 0.75}[r.IntN(4)]
			if math.IsInf(v, 0) {
				continue
			}
			_, ve := math.Frexp(v)
			tail := math.Ldexp([]float64{-1, 0, 1}[r.IntN(3)], ve-75)
			got := m.nearest(v, tail)
			exact := new(big.Float).SetPrec(2000).SetFloat64(v)
			exact.Add(exact, big.NewFloat(tail))
			if want := round(d, exact); got != want && !(got != got && want != want) {
				t.Fatalf("%s: nearest(%v, %v) = %v, want %v", d, v, tail, got, want)
			}
		}
	}
}

// round rounds x to d by way of rationals.
func round(d tensor.DType, x *big.Float) float64 {
	if x.Sign() == 0 {
		return 0
	}
	q := max(x.MantExp(nil)-1, d.EMin()) - d.Precision() + 1
	scaled := new(big.Float).SetPrec(2000).SetMantExp(x, -q)
	rat, _ := scaled.Rat(nil)
	two := new(big.Int).Lsh(rat.Num(), 1)
	two.Add(two, rat.Denom()) // floor((2n+d)/(2d)) is round half up
	den := new(big.Int).Lsh(rat.Denom(), 1)
	k, rem := new(big.Int).DivMod(two, den, new(big.Int))
	if rem.Sign() == 0 && k.Bit(0) == 1 {
		k.Sub(k, big.NewInt(1))
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(k), q).Float64()
	if math.Abs(f) > d.MaxFinite() {
		if d == tensor.F8E4M3 {
			return nan
		}
		return math.Copysign(inf, f)
	}
	return f
}

func TestReaders(t *testing.T) {
	for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
		all := tensor.New(d, 1<<16)
		for i := range 1 << 16 {
			all.SetBits(i, uint64(i))
		}
		read := reader(all)
		for i := range 1 << 16 {
			got, want := read(i), all.Float(i)
			if got != want && !(got != got && want != want) || math.Signbit(got) != math.Signbit(want) && got == got {
				t.Fatalf("%s %04x: read %v, want %v", d, i, got, want)
			}
		}
	}
}

func TestULPMatchesTensor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.F8E4M3} {
		m := newMeter(&Expected{DType: d})
		for range 10_000 {
			x := d.Decode(r.Uint64())
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			if got, want := m.ulp(x), d.ULP(x); got != want {
				t.Fatalf("%s: ulp(%v) = %v, want %v", d, x, got, want)
			}
		}
	}
}

func seq(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range append(seq(1, 200), 1<<14-1, 1<<14, 30_000) {
		vals := make([]float64, n)
		for i := range vals {
			vals[i] = float64(r.IntN(1+n/2)) / 7
		}
		for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
			got := quantiles(vals, q)[0]
			below, notAbove := 0, 0
			for _, v := range vals {
				if v < got {
					below++
				}
				if v <= got {
					notAbove++
				}
			}
			if k := math.Max(1, math.Ceil(q*float64(n))); float64(below) >= k || float64(notAbove) < k {
				t.Fatalf("quantile %v of %d = %v with %d below and %d up to it", q, n, got, below, notAbove)
			}
		}
	}
	if got := quantiles(nil, 0.5)[0]; got != 0 {
		t.Errorf("quantile of nothing = %v, want 0", got)
	}
}

// Whatever the numbers, a share is never NaN, and 0 says agreement.
func FuzzMeasure(f *testing.F) {
	f.Add(uint8(0), 1.0, 0.0, 0.5, uint64(0x3c00), uint8(0))
	f.Add(uint8(2), math.Inf(1), 0.0, 0.0, uint64(0x7c00), uint8(1))
	f.Add(uint8(1), math.MaxFloat64, 0.0, math.Inf(1), uint64(0xff7fffff), uint8(3))
	f.Add(uint8(0), 5e-324, 5e-324, 5e-324, uint64(0x7ff0000000000000), uint8(0))
	f.Add(uint8(4), 464.0, 0x1p-50, 1.0, uint64(0x7f), uint8(0))
	f.Fuzz(func(t *testing.T, kind uint8, value, tail, hard float64, bits uint64, flags uint8) {
		d := []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.F8E4M3}[kind%5]
		if math.IsNaN(tail) || math.IsInf(tail, 0) {
			tail = 0
		}
		if lim := math.Abs(value) * 0x1p-53; math.Abs(tail) > lim {
			tail = math.Copysign(lim, tail)
		}
		if !(hard >= 0) {
			hard = 1
		}
		e := &Expected{
			DType: d, Value: []float64{value}, Tail: []float64{tail}, Hard: []float64{hard}, Likely: []float64{hard / 4},
			SignedZero: flags&1 != 0, ULP: flags&2 != 0,
		}
		got := tensor.New(d, 1)
		got.SetBits(0, bits)
		diff, err := Measure(e, got)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]Num{
			"share": diff.Share, "likely": diff.ShareLikely, "max ulp": diff.MaxULP, "p50": diff.P50ULP, "p99": diff.P99ULP,
			"rms": diff.RMSULP, "bias": diff.BiasULP, "pull": diff.PullULP, "abs": diff.MaxAbs, "nmse": diff.NMSE,
			"rms share": diff.RMSShare, "p999": diff.P999Share,
		} {
			if math.IsNaN(float64(v)) {
				t.Errorf("%s is NaN", name)
			}
		}
		g := got.Float(0)
		agree := g == value && tail == 0 || math.IsNaN(g) && math.IsNaN(value) || diff.Exact == 1
		if diff.Share == 0 && !agree {
			t.Errorf("share is 0 for %v of %v+%v", g, value, tail)
		}
		if diff.Share > 1 != (diff.Mismatches == 1) && diff.ZeroSign == 0 && !(g == 0 && e.SignedZero) {
			t.Errorf("share %v with %d mismatches", diff.Share, diff.Mismatches)
		}
	})
}

// The error of an f64 output keeps its precision when the truth's tail is
// nearly all of it.
func TestMeasureTail(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		v := r.NormFloat64()
		tail := v * 0x1p-54 * (2*r.Float64() - 1)
		got := v + float64(r.IntN(5)-2)*tensor.F64.ULP(v)
		d := measured1(t, one(tensor.F64, v, tail, 1), got)
		want := new(big.Float).SetPrec(300).SetFloat64(got)
		want.Sub(want, big.NewFloat(v)).Sub(want, big.NewFloat(tail))
		w, _ := want.Float64()
		if math.Abs(float64(d.MaxAbs)-math.Abs(w)) > 0x1p-50*math.Abs(w) {
			t.Fatalf("got %v of %v%+v: error %v, want %v", got, v, tail, d.MaxAbs, math.Abs(w))
		}
	}
}

func TestNumJSON(t *testing.T) {
	for v, want := range map[Num]string{0: "0", 1.5: "1.5", Num(inf): `"Inf"`, Num(-inf): `"-Inf"`, 5e-324: "5e-324"} {
		b, err := json.Marshal(v)
		if err != nil || string(b) != want {
			t.Errorf("%v marshals to %s, %v, want %s", v, b, err, want)
		}
		var back Num
		if err := json.Unmarshal(b, &back); err != nil || back != v {
			t.Errorf("%s unmarshals to %v, %v, want %v", b, back, err, v)
		}
	}
	b, _ := json.Marshal(Num(nan))
	var back Num
	if err := json.Unmarshal(b, &back); err != nil || string(b) != `"NaN"` || back == back {
		t.Errorf("NaN marshals to %s and back to %v, %v", b, back, err)
	}
	if err := json.Unmarshal([]byte(`"inf"`), &back); err == nil {
		t.Error(`"inf" must be an error`)
	}
}

// A judgement of anything survives JSON, with NaN and infinities in it.
func TestJudgementJSON(t *testing.T) {
	b := newBench(tensor.F32, 64)
	j, err := Judge(b.e, b.out(at(3, nan)), b.out(at(4, inf)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var back Judgement
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(data) {
		t.Errorf("got %s, %v, want %s", again, err, data)
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16} {
		b.Run(d.String(), func(b *testing.B) {
			const n = 1 << 20
			e := &Expected{DType: d, Value: make([]float64, n), Hard: make([]float64, n), Likely: make([]float64, n), ULP: true}
			if d == tensor.F64 {
				e.Tail = make([]float64, n)
			}
			r := rand.New(rand.NewPCG(1, 2))
			got := tensor.New(d, n)
			for i := range n {
				e.Value[i] = r.NormFloat64()
				e.Hard[i] = 4 * d.ULP(e.Value[i])
				e.Likely[i] = e.Hard[i] / 2
				if e.Tail != nil {
					e.Tail[i] = e.Value[i] * 0x1p-55
				}
				got.SetFloat(i, e.Value[i]+d.ULP(e.Value[i])*r.NormFloat64())
			}
			for b.Loop() {
				if _, err := Measure(e, got); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
