package truth

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

// A function is one function under test and the same in MPFR.
type function struct {
	name string
	f    func(x float64) DD
	dd   func(x DD) DD
	want func(m *mp, x *mpfrT) *mpfrT
	// Arguments are drawn from [lo, hi], half of them log-uniform in
	// magnitude, and from all of float64.
	lo, hi float64
	hard   []float64 // arguments known to be hard, besides the edges
	// domain reports where the function has a value; nil means everywhere.
	domain func(x float64) bool
	// odd says that f(-x) = -f(x), rising that f never falls.
	odd, rising bool
}

func unary(name string) func(m *mp, x *mpfrT) *mpfrT {
	return func(m *mp, x *mpfrT) *mpfrT { return m.u(name, x) }
}

// mpSigmoidTimes is f/(1+e^-w).
func mpSigmoidTimes(m *mp, f, w *mpfrT) *mpfrT {
	return m.b("div", f, m.b("add", m.f(1), m.u("exp", m.u("neg", w))))
}

func mpNormcdf(m *mp, x *mpfrT) *mpfrT {
	z := m.u("neg", m.b("mul", x, m.u("sqrt", m.f(0.5))))
	return m.b("mul", m.f(0.5), m.u("erfc", z))
}

// atInf wraps a formula that has no value at -Inf with its limit there, -0.
func atInf(f func(m *mp, x *mpfrT) *mpfrT) func(m *mp, x *mpfrT) *mpfrT {
	return func(m *mp, x *mpfrT) *mpfrT {
		if math.IsInf(m.getD(x, rndn), -1) {
			return m.f(math.Copysign(0, -1))
		}
		return f(m, x)
	}
}

// Hard arguments of the trigonometric functions are those closest to a
// multiple of pi/2 (Kahan; Muller, Elementary Functions, 3rd ed., 11.3.1)
// and the neighbours of small multiples.
var hardTrig = func() []float64 {
	xs := []float64{
		6381956970095103 * 0x1p797, 5319372648326541.416707, 0x1.6ac5b262ca1ffp+849, 0x1p1023, math.MaxFloat64,
		0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.2d97c7f3321d2p2, 1e22, 1e300, 22, 355, 710, 103993, 1.0e9,
	}
	for k := 1; k < 40; k++ {
		x := float64(k) * (math.Pi / 4)
		xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, 1e9))
	}
	return xs
}()

func nonNegative(x float64) bool { return x >= 0 }

var functions = []function{
	{name: "exp", rising: true, f: Exp, dd: DD.Exp, want: unary("exp"), lo: -746, hi: 710},
	{name: "exp2", rising: true, f: Exp2, dd: DD.Exp2, want: unary("exp2"), lo: -1076, hi: 1025, hard: []float64{-1074.5, -1075, math.Nextafter(-1075, 0), -1022, 1023.9999}},
	{name: "expm1", rising: true, f: Expm1, dd: DD.Expm1, want: unary("expm1"), lo: -80, hi: 710, hard: []float64{0.0054, -0.0054, 0.00542, -0.00542, 0.006, -0.006}},
	{name: "log", domain: nonNegative, rising: true, f: Log, dd: DD.Log, want: unary("log"), lo: 0, hi: 10, hard: []float64{0x1.68p-1, 0x1.68p0, 1 + 0x1p-52, 1 - 0x1p-53, 1.00390625, 0.99609375, 1.0039, 0.9961, 1.004}},
	{name: "log1p", domain: func(x float64) bool { return x >= -1 }, rising: true, f: Log1p, dd: DD.Log1p, want: unary("log1p"), lo: -1, hi: 10, hard: []float64{-1 + 0x1p-53, 0x1p-8, -0x1p-8}},
	{name: "log2", domain: nonNegative, rising: true, f: Log2, dd: DD.Log2, want: unary("log2"), lo: 0, hi: 10, hard: []float64{8, 1 + 0x1p-52, 1 - 0x1p-53, 0x1p-1074}},
	{name: "log10", domain: nonNegative, rising: true, f: Log10, dd: DD.Log10, want: unary("log10"), lo: 0, hi: 10, hard: []float64{1000, 1e22, 1 + 0x1p-52}},
	{name: "sin", odd: true, f: Sin, dd: DD.Sin, want: unary("sin"), lo: -100, hi: 100, hard: hardTrig},
	{name: "cos", f: Cos, dd: DD.Cos, want: unary("cos"), lo: -100, hi: 100, hard: hardTrig},
	{name: "tan", odd: true, f: Tan, dd: DD.Tan, want: unary("tan"), lo: -100, hi: 100, hard: hardTrig},
	{name: "sinh", rising: true, odd: true, f: Sinh, dd: DD.Sinh, want: unary("sinh"), lo: -712, hi: 712},
	{name: "cosh", f: Cosh, dd: DD.Cosh, want: unary("cosh"), lo: -712, hi: 712},
	{name: "tanh", rising: true, odd: true, f: Tanh, dd: DD.Tanh, want: unary("tanh"), lo: -45, hi: 45},
	{name: "erf", rising: true, odd: true, f: Erf, dd: DD.Erf, want: unary("erf"), lo: -7, hi: 7, hard: []float64{0.5, math.Nextafter(0.5, 0)}},
	{name: "erfc", f: Erfc, dd: DD.Erfc, want: unary("erfc"), lo: -7, hi: 28, hard: []float64{0.25, math.Nextafter(0.25, 0), 26.5, 27.2, 27.3}},
	{name: "normcdf", rising: true, f: Normcdf, dd: DD.Normcdf, want: mpNormcdf, lo: -39, hi: 10, hard: []float64{-37.5, -38.4, -38.5, -38.6}},
	{name: "sigmoid", rising: true, f: Sigmoid, dd: DD.Sigmoid, want: func(m *mp, x *mpfrT) *mpfrT { return mpSigmoidTimes(m, m.f(1), x) }, lo: -750, hi: 50},
	{name: "silu", f: Silu, dd: DD.Silu, want: atInf(func(m *mp, x *mpfrT) *mpfrT { return mpSigmoidTimes(m, x, x) }), lo: -760, hi: 50},
	{name: "gelu_tanh", f: GeluTanh, dd: DD.GeluTanh, want: atInf(func(m *mp, x *mpfrT) *mpfrT {
		x3 := m.b("mul", m.dec("0.044715"), m.b("mul", x, m.b("mul", x, x)))
		z := m.b("mul", m.u("sqrt", m.b("div", m.f(8), m.pi())), m.b("add", x, x3))
		return mpSigmoidTimes(m, x, z)
	}), lo: -23, hi: 10, hard: []float64{-21.5, -21.7}},
	{name: "gelu_erf", f: GeluErf, dd: DD.GeluErf, want: atInf(func(m *mp, x *mpfrT) *mpfrT { return m.b("mul", x, mpNormcdf(m, x)) }), lo: -39, hi: 10, hard: []float64{-38, -38.5}},
	{name: "elu", rising: true, f: func(x float64) DD { return Elu(x, 0.7) }, dd: func(x DD) DD { return x.Elu(0.7) }, want: func(m *mp, x *mpfrT) *mpfrT {
		if m.getD(x, rndn) > 0 {
			return x
		}
		return m.b("mul", m.f(0.7), m.u("expm1", x))
	}, lo: -80, hi: 2},
	{name: "sqrt", domain: nonNegative, rising: true, f: Sqrt, dd: DD.Sqrt, want: unary("sqrt"), lo: 0, hi: 4},
	{name: "rsqrt", domain: nonNegative, f: Rsqrt, dd: DD.Rsqrt, want: func(m *mp, x *mpfrT) *mpfrT {
		return m.b("div", m.f(1), m.u("sqrt", x))
	}, lo: 0, hi: 4},
	{name: "recip", odd: true, f: Recip, dd: func(x DD) DD { return FromFloat(1).Div(x) }, want: func(m *mp, x *mpfrT) *mpfrT { return m.b("div", m.f(1), x) }, lo: -4, hi: 4},
	{name: "cbrt", rising: true, odd: true, f: Cbrt, dd: DD.Cbrt, want: unary("cbrt"), lo: -10, hi: 10},
}

var edges = func() []float64 {
	var xs []float64
	for _, x := range []float64{0, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1023, 0x1p-969, 0x1p-540, 0x1p-110, 0x1p-109, 0x1p-54, 0x1p-53, 0x1p-27, 0x1p-8, 0.125, 0.25, 0.5,
		1, 2, 3, 4, 5, 6, 8.5, 10, 16, 20, 26, 27.2, 27.3, 36, 40, 100, 400, 709.7, 709.782712893384, 710.4, 745.1, 745.2, 746, 800, 1e5, 0x1p53, 0x1p512, 1e308, math.MaxFloat64} {
		for _, y := range []float64{x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1))} {
			xs = append(xs, y, -y)
		}
	}
	return append(xs, math.Inf(1), math.Inf(-1), math.NaN())
}()

// draw returns a random argument for fn.
func (fn *function) draw(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0: // any float64
		for {
			if x := math.Float64frombits(r.Uint64()); finite(x) {
				return x
			}
		}
	case 1, 2, 3: // log-uniform
		x := math.Ldexp(1+r.Float64(), -r.IntN(60))
		x *= math.Max(-fn.lo, fn.hi) / 2
		if fn.lo < 0 && (fn.hi <= 0 || r.IntN(2) == 0) {
			return -math.Min(x, -fn.lo)
		}
		return math.Min(x, fn.hi)
	case 4: // near 1
		return 1 + r.NormFloat64()*math.Ldexp(1, -r.IntN(50))
	}
	return fn.lo + r.Float64()*(fn.hi-fn.lo)
}

// reference is the precision that MPFR computes with, in bits: so far beyond
// a DD's 106 that its rounding is out of sight.
const reference = 160

// least is the accuracy that every function must have, in bits.
const least = 90

var points = flag.Int("points", 500, "random arguments for each function that is compared with MPFR")

// A worst keeps the least accurate result.
type worst struct {
	bits float64
	at   []any
}

func (w *worst) see(bits float64, at ...any) {
	if w.at == nil || bits < w.bits {
		w.bits, w.at = bits, at
	}
}

func (w *worst) log(t *testing.T) {
	t.Helper()
	t.Logf("%s: %.1f bits at %x", t.Name(), w.bits, w.at)
}

func TestFunctions(t *testing.T) {
	for _, fn := range functions {
		t.Run(fn.name, func(t *testing.T) {
			t.Parallel()
			m := newMP(t, reference)
			r := rand.New(rand.NewPCG(1, 2))
			var w worst
			check := func(x float64) {
				m.reset()
				want := fn.want(m, m.f(x))
				got := fn.f(x)
				b := m.bits(got, want)
				w.see(b, x)
				if b < least {
					t.Errorf("%s(%x): got %x, want %x: %.1f bits, want %v", fn.name, x, got, m.dd(want), b, least)
				}
			}
			for _, x := range edges {
				check(x)
			}
			for _, x := range fn.hard {
				check(x)
			}
			for range *points {
				check(fn.draw(r))
			}
			w.log(t)
		})
	}
}

// TestDDArguments gives the functions arguments that are no float64. The
// periodic ones are compared away from their zeros.
func TestDDArguments(t *testing.T) {
	for _, fn := range functions {
		t.Run(fn.name, func(t *testing.T) {
			t.Parallel()
			m := newMP(t, reference)
			r := rand.New(rand.NewPCG(13, 14))
			periodic := fn.name == "sin" || fn.name == "cos" || fn.name == "tan"
			var w worst
			for range *points {
				hi := fn.lo + r.Float64()*(fn.hi-fn.lo)
				if r.IntN(2) == 0 {
					hi = math.Ldexp(hi, -r.IntN(60))
				}
				if periodic && (math.Abs(math.Sin(2*hi)) < 1e-3 || r.IntN(4) == 0) {
					hi *= 0x1p700
				}
				x := FromSum(hi, hi*(r.Float64()-0.5)*0x1p-53)
				m.reset()
				a := m.b("add", m.f(x.Hi), m.f(x.Lo))
				want := fn.want(m, a)
				if periodic && math.Abs(math.Sin(2*m.getD(m.u("sin", a), rndn))) < 1e-3 {
					continue
				}
				got := fn.dd(x)
				b := m.bits(got, want)
				w.see(b, x)
				if b < least {
					t.Errorf("%s(%x): got %x, want %x: %.1f bits, want %v", fn.name, x, got, m.dd(want), b, least)
				}
			}
			w.log(t)
		})
	}
}

func TestPow(t *testing.T) {
	t.Parallel()
	m := newMP(t, reference)
	r := rand.New(rand.NewPCG(15, 16))
	var w worst
	check := func(x, y float64) {
		t.Helper()
		m.reset()
		want := m.b("pow", m.f(x), m.f(y))
		got := Pow(x, y)
		b := m.bits(got, want)
		w.see(b, x, y)
		if b < least {
			t.Errorf("Pow(%x, %x): got %x, want %x: %.1f bits, want %v", x, y, got, m.dd(want), b, least)
		}
	}
	for _, x := range edges {
		for _, y := range []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, 1e300, -1e300, 0x1p-1074, 0x1p53, 0x1p53 - 1, -0x1p53 + 1, math.Inf(1), math.Inf(-1), math.NaN()} {
			check(x, y)
		}
	}
	for range 4 * *points {
		// x of any size and y such that x^y just fits.
		x := math.Ldexp(1+r.Float64(), r.IntN(2098)-1074)
		if r.IntN(2) == 0 {
			x = math.Abs(1 + r.NormFloat64()*math.Ldexp(1, -r.IntN(52)))
		}
		l := math.Log(x)
		y := (r.Float64()*1460 - 748) / l
		switch r.IntN(4) {
		case 0:
			y = math.Round(y)
			x = -x
		case 1:
			y = r.NormFloat64()
		}
		check(x, y)
	}
	w.log(t)
}

func TestLgamma(t *testing.T) {
	t.Parallel()
	m := newMP(t, reference)
	r := rand.New(rand.NewPCG(17, 18))
	var w worst
	check := func(x float64) {
		t.Helper()
		m.reset()
		var sign int32
		want := m.reg()
		m.lgamma(want, &sign, m.f(x), rndn)
		got, s := Lgamma(x)
		b := m.bits(got, want)
		if x < 0 && finite(got.Hi) && b > 0 {
			// Relative to ln(gamma(1-x)) where that is larger.
			y := m.reg()
			m.lgamma(y, new(int32), m.b("sub", m.f(1), m.f(x)), rndn)
			err := m.b("sub", m.b("sub", want, m.f(got.Hi)), m.f(got.Lo))
			b = math.Max(b, -math.Log2(math.Abs(m.getD(m.b("div", err, y), rndn))))
		}
		w.see(b, x)
		if b < least {
			t.Errorf("Lgamma(%x): got %x, want %x: %.1f bits, want %v", x, got, m.dd(want), b, least)
		}
		// MPFR gives a pole the sign 1 or -1 as it likes.
		if finite(x) && finite(got.Hi) && s != int(sign) {
			t.Errorf("sign of gamma(%x): got %d, want %d", x, s, sign)
		}
	}
	for _, x := range edges {
		check(x)
	}
	for _, x := range []float64{-2.4570247382208006, -2.7476826467274127, -3.143580888349980, -3.955294284858598, 1.4616321449683623, 23.999, 24, 2.5e305, 2.6e305} {
		check(x)
	}
	for range *points {
		check(r.Float64() * 4)
		check(1 + r.NormFloat64()*math.Ldexp(1, -r.IntN(50)))
		check(2 + r.NormFloat64()*math.Ldexp(1, -r.IntN(50)))
		check(math.Ldexp(1+r.Float64(), r.IntN(2000)-1000))
		check(-r.Float64() * 30)
	}
	w.log(t)
}
