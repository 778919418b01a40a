package tensor

import (
	"math"
	"math/big"
	"testing"
)

// nearest is the definition of rounding: of all numbers of d, the one
// nearest to x, ties to the even code. It searches the codes.
func nearest(d DType, x float64) uint64 {
	n := 1 << (8*d.Size() - 1)
	lo, hi := 0, n-1 // codes of the non-negative numbers are in order of value
	for math.IsNaN(d.Decode(uint64(hi))) || math.IsInf(d.Decode(uint64(hi)), 0) {
		hi--
	}
	for lo < hi { // smallest code whose value is at least |x|
		mid := (lo + hi) / 2
		if d.Decode(uint64(mid)) >= math.Abs(x) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	code := lo
	if lo > 0 {
		below, above := d.Decode(uint64(lo-1)), d.Decode(uint64(lo))
		a := new(big.Float).Sub(big.NewFloat(math.Abs(x)), big.NewFloat(below))
		b := new(big.Float).Sub(big.NewFloat(above), big.NewFloat(math.Abs(x)))
		if c := a.Cmp(b); c < 0 || c == 0 && lo%2 == 1 {
			code = lo - 1
		}
	}
	if math.Signbit(x) {
		code |= n
	}
	return uint64(code)
}

func TestEncodeNearest(t *testing.T) {
	for _, d := range []DType{F16, BF16, F8E4M3} {
		check := func(x float64) {
			t.Helper()
			if math.Abs(x) > d.MaxFinite() {
				return
			}
			if got, want := d.Encode(x), nearest(d, x); got != want {
				t.Errorf("%v.Encode(%g) = %#x, want %#x", d, x, got, want)
			}
		}
		codes := 1 << (8 * d.Size())
		for c := range codes {
			v := d.Decode(uint64(c))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			if got := d.Encode(v); got != uint64(c) {
				t.Fatalf("%v.Encode(Decode(%#x)) = %#x", d, c, got)
			}
			if codes > 256 && c%17 != 0 {
				continue
			}
			u := d.ULP(v)
			for _, x := range []float64{v + u/2, v - u/2, math.Nextafter(v+u/2, math.Inf(1)), math.Nextafter(v+u/2, math.Inf(-1)), v + u/3, v + 0.75*u} {
				check(x)
			}
		}
	}
}

func TestEncodeOverflow(t *testing.T) {
	for _, tc := range []struct {
		d    DType
		x    float64
		want uint64
	}{
		{F16, 65519.99, 0x7bff}, {F16, 65520, 0x7c00}, {F16, -65520, 0xfc00}, {F16, math.Inf(1), 0x7c00},
		{BF16, 0x1.feffffp127, 0x7f7f}, {BF16, 0x1.ffp127, 0x7f80},
		{F8E4M3, 463.9, 0x7e}, {F8E4M3, 464, 0x7e}, {F8E4M3, 464.1, 0x7f}, {F8E4M3, math.Inf(-1), 0xff},
		{F16, math.NaN(), 0x7e00}, {BF16, math.NaN(), 0x7fc0}, {F8E4M3, math.NaN(), 0x7f},
		{F16, math.Copysign(0, -1), 0x8000},
		{F16, 0x1p-25, 0}, {F16, math.Nextafter(0x1p-25, 1), 1},
		// One rounding, not two: through float32 this would tie and go to even.
		{BF16, 1 + 0x1p-8 + 0x1p-40, 0x3f81},
	} {
		if got := tc.d.Encode(tc.x); got != tc.want {
			t.Errorf("%v.Encode(%g) = %#x, want %#x", tc.d, tc.x, got, tc.want)
		}
	}
}

func TestULP(t *testing.T) {
	for _, tc := range []struct {
		d       DType
		x, want float64
	}{
		{F32, 1, 0x1p-23}, {F32, math.Nextafter(1, 0), 0x1p-24}, {F32, 0, 0x1p-149}, {F32, 0x1p-130, 0x1p-149},
		{F16, 65504, 32}, {BF16, 1, 0x1p-7}, {F64, 1, 0x1p-52}, {F64, 5e-324, 5e-324},
	} {
		if got := tc.d.ULP(tc.x); got != tc.want {
			t.Errorf("%v.ULP(%g) = %g, want %g", tc.d, tc.x, got, tc.want)
		}
	}
	if got := F32.ULP(math.Inf(1)); !math.IsNaN(got) {
		t.Errorf("ULP(Inf) = %g, want NaN", got)
	}
}

func TestTensorRoundTrip(t *testing.T) {
	x := FromInts(I64, []int64{-1, math.MinInt64, math.MaxInt64}, 3)
	for i, want := range []int64{-1, math.MinInt64, math.MaxInt64} {
		if got := x.Int(i); got != want {
			t.Errorf("Int(%d) = %d, want %d", i, got, want)
		}
	}
	y := FromInts(I16, []int64{-2, 300}, 2)
	if y.Int(0) != -2 || y.Int(1) != 300 {
		t.Errorf("i16: got %d %d, want -2 300", y.Int(0), y.Int(1))
	}
	u := FromInts(U8, []int64{255, 256}, 2)
	if u.Int(0) != 255 || u.Int(1) != 0 {
		t.Errorf("u8: got %d %d, want 255 0", u.Int(0), u.Int(1))
	}
	c := x.Clone()
	c.SetBits(0, 7)
	if x.Int(0) != -1 {
		t.Error("Clone shares data")
	}
}

func TestParseDType(t *testing.T) {
	for d := F64; d <= U8; d++ {
		if got, err := ParseDType(d.String()); err != nil || got != d {
			t.Errorf("ParseDType(%q) = %v, %v", d.String(), got, err)
		}
	}
	if _, err := ParseDType("f33"); err == nil {
		t.Error("ParseDType(f33) succeeded")
	}
}
