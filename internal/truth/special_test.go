package truth

import (
	"math"
	"testing"
)

// TestSpecial holds the functions to the special values of C99 annex F
// (7.12), and to the limits that package truth defines where C has none.
func TestSpecial(t *testing.T) {
	inf, nan, z := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	check := func(name string, f func(float64) DD, pairs ...float64) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			x, want := pairs[i], pairs[i+1]
			got := f(x)
			ok := got.Hi == want && math.Signbit(got.Hi) == math.Signbit(want) || got.IsNaN() && want != want
			if !ok || got.Lo != 0 {
				t.Errorf("%s(%x): got %x, want %x", name, x, got, want)
			}
		}
	}
	for _, fn := range functions {
		check(fn.name, fn.f, nan, nan)
	}
	check("exp", Exp, 0, 1, z, 1, inf, inf, -inf, 0, 710, inf, -746, 0, 1e308, inf, -1e308, 0)
	check("exp2", Exp2, 0, 1, z, 1, inf, inf, -inf, 0, 1023, 0x1p1023, 1024, inf, -1074, 0x1p-1074, -1075, 0, 10, 1024)
	check("expm1", Expm1, 0, 0, z, z, inf, inf, -inf, -1, 1e300, inf, -1e300, -1)
	check("log", Log, 1, 0, 0, -inf, z, -inf, inf, inf, -1, nan, -inf, nan, -0x1p-1074, nan)
	check("log1p", Log1p, 0, 0, z, z, -1, -inf, -2, nan, inf, inf, -inf, nan)
	check("log2", Log2, 1, 0, 8, 3, 0x1p-1074, -1074, 0x1p1023, 1023, 0, -inf, z, -inf, -1, nan, inf, inf)
	check("log10", Log10, 1, 0, 0, -inf, z, -inf, -1, nan, inf, inf)
	check("sin", Sin, 0, 0, z, z, inf, nan, -inf, nan)
	check("cos", Cos, 0, 1, z, 1, inf, nan, -inf, nan)
	check("tan", Tan, 0, 0, z, z, inf, nan, -inf, nan)
	check("sinh", Sinh, 0, 0, z, z, inf, inf, -inf, -inf, 1e300, inf)
	check("cosh", Cosh, 0, 1, z, 1, inf, inf, -inf, inf, -1e300, inf)
	check("tanh", Tanh, 0, 0, z, z, inf, 1, -inf, -1, 1e300, 1)
	check("erf", Erf, 0, 0, z, z, inf, 1, -inf, -1, -1e300, -1)
	check("erfc", Erfc, 0, 1, z, 1, inf, 0, -inf, 2, 1e300, 0, -1e300, 2)
	check("normcdf", Normcdf, 0, 0.5, z, 0.5, inf, 1, -inf, 0, 1e300, 1, -1e300, 0)
	check("sigmoid", Sigmoid, 0, 0.5, z, 0.5, inf, 1, -inf, 0, 1e300, 1, -1e300, 0)
	check("silu", Silu, 0, 0, z, z, inf, inf, -inf, z, -1e300, z, 1e300, 1e300)
	check("gelu_tanh", GeluTanh, 0, 0, z, z, inf, inf, -inf, z, -1e300, z, 1e300, 1e300)
	check("gelu_erf", GeluErf, 0, 0, z, z, inf, inf, -inf, z, -1e300, z, 1e300, 1e300)
	check("elu", func(x float64) DD { return Elu(x, 0.5) }, 0, 0, z, z, inf, inf, -inf, -0.5, 3, 3)
	check("sqrt", Sqrt, 0, 0, z, z, 4, 2, inf, inf, -1, nan, -inf, nan, 0x1p-1074, 0x1p-537)
	check("rsqrt", Rsqrt, 0, inf, z, -inf, inf, 0, -1, nan, 4, 0.5)
	check("recip", Recip, 0, inf, z, -inf, inf, 0, -inf, z, 4, 0.25)
	check("cbrt", Cbrt, 0, 0, z, z, inf, inf, -inf, -inf, 27, 3, -8, -2, 0x1p-1074, 0x1p-358)

	pow := func(x, y, want float64) {
		t.Helper()
		check("Pow", func(x float64) DD { return Pow(x, y) }, x, want)
	}
	for _, x := range []float64{0, z, 1, -1, 2, -3.5, inf, -inf, nan} {
		pow(x, 0, 1)
		pow(x, z, 1)
		pow(1, x, 1)
	}
	for _, y := range []float64{3, 1, 5} {
		pow(z, y, z)
		pow(0, y, 0)
		pow(0, -y, inf)
		pow(z, -y, -inf)
		pow(-inf, y, -inf)
		pow(-inf, -y, z)
	}
	for _, y := range []float64{2, 0.5, 2.5, 4, 1e300, inf} {
		pow(z, y, 0)
		pow(0, y, 0)
		pow(z, -y, inf)
		pow(0, -y, inf)
		pow(-inf, y, inf)
		pow(-inf, -y, 0)
		pow(inf, y, inf)
		pow(inf, -y, 0)
	}
	pow(-1, inf, 1)
	pow(-1, -inf, 1)
	pow(0.5, inf, 0)
	pow(-0.5, -inf, inf)
	pow(2, inf, inf)
	pow(2, -inf, 0)
	pow(-2, 0.5, nan)
	pow(-2, 1.0/3, nan)
	pow(nan, 1, nan)
	pow(2, nan, nan)
	pow(-2, 3, -8)
	pow(-2, 1e300, inf)
	pow(-2, 2047, -inf)
	pow(-2, -2047, z)
	pow(9, 0.5, 3)
	pow(4, -1, 0.25)
	pow(3, 16, 43046721)
	pow(10, 15, 1e15)
	pow(-4, -3, -0x1p-6)
	pow(0x1p-60, 15, 0x1p-900)

	lgamma := func(x, want float64, sign int) {
		t.Helper()
		check("Lgamma", func(x float64) DD { y, _ := Lgamma(x); return y }, x, want)
		if _, s := Lgamma(x); s != sign {
			t.Errorf("sign of gamma(%v): got %d, want %d", x, s, sign)
		}
	}
	lgamma(1, 0, 1)
	lgamma(2, 0, 1)
	lgamma(0, inf, 1)
	lgamma(z, inf, -1)
	lgamma(-1, inf, 1)
	lgamma(-1e300, inf, 1)
	lgamma(inf, inf, 1)
	lgamma(-inf, inf, 1)
	lgamma(nan, nan, 1)
	lgamma(1e306, inf, 1)
	if _, s := Lgamma(-0.5); s != -1 {
		t.Errorf("sign of gamma(-0.5): got %d, want -1", s)
	}
	if _, s := Lgamma(-1.5); s != 1 {
		t.Errorf("sign of gamma(-1.5): got %d, want 1", s)
	}

	if x := (DD{1, 0x1p-60}); Elu(3, 0.5) != (DD{Hi: 3}) || x.Elu(0.5) != x {
		t.Errorf("elu of a positive argument is not the argument")
	}
}

// TestTails requires the relative accuracy that formulas with 1+erf or
// 1+tanh lose; the values are from the limits erfc(x) ~ e^(-x^2)/(x*sqrt(pi))
// and sigmoid(x) ~ e^x.
func TestTails(t *testing.T) {
	for _, x := range []float64{-20, -30, -37} {
		// Mills' ratio between its first two bounds.
		phi := Exp(-x * x / 2).Mul(DD{0.3989422804014327, 0})
		lo, hi := phi.Hi/-x*(1-1/(x*x)), phi.Hi/-x
		if y := Normcdf(x).Hi; y < lo || y > hi {
			t.Errorf("Normcdf(%v): got %v, want within [%v, %v]", x, y, lo, hi)
		}
		if y, want := GeluErf(x).Hi, Normcdf(x).MulFloat(x).Hi; y != want {
			t.Errorf("GeluErf(%v): got %v, want %v", x, y, want)
		}
		if y, e := Sigmoid(x), Exp(x); y.Hi >= e.Hi || y.Hi < e.Hi*(1-e.Hi)*(1-0x1p-52) {
			t.Errorf("Sigmoid(%v): got %v, want just below %v", x, y.Hi, e.Hi)
		}
	}
	// The distance to 1 is kept in Lo.
	if y := Tanh(200); y.Hi != 1 || y.Lo != -2*Exp(-400).Hi {
		t.Errorf("Tanh(200): got %x, want 1-2*e^-400", y)
	}
	if y := Erf(20); y.Hi != 1 || y.Lo != -Erfc(20).Hi {
		t.Errorf("Erf(20): got %x, want 1-%x", y, Erfc(20).Hi)
	}
}
