package truth

import (
	"math"
	"math/big"
	"testing"
)

// FuzzFunctions requires of every function, wherever its argument is: a NaN
// only outside its domain, a normalised result, and the symmetry and the
// direction that it has.
func FuzzFunctions(f *testing.F) {
	for _, x := range edges {
		f.Add(math.Float64bits(x))
	}
	for _, x := range hardTrig {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, b uint64) {
		x := math.Float64frombits(b)
		if !finite(x) {
			return
		}
		next := math.Nextafter(x, math.Inf(1))
		for _, fn := range functions {
			y := fn.f(x)
			inside := fn.domain == nil || fn.domain(x)
			if y.IsNaN() == inside {
				t.Errorf("%s(%x): got %x, domain %v", fn.name, x, y, inside)
			}
			normalised(t, fn.name, y, x)
			if fn.odd {
				if z := fn.f(-x); z.Hi != -y.Hi || z.Lo != -y.Lo {
					t.Errorf("%s(%x): got %x, but of -x %x", fn.name, x, y, z)
				}
			}
			if fn.rising && inside {
				if z := fn.f(next); z.Hi < y.Hi {
					t.Errorf("%s falls from %x at %x to %x", fn.name, y, x, z)
				}
			}
		}
		y, _ := Lgamma(x)
		if y.IsNaN() {
			t.Errorf("Lgamma(%x) is NaN", x)
		}
		normalised(t, "Lgamma", y, x)
		s, c := Sincos(x)
		if one := s.Mul(s).Add(c.Mul(c)).AddFloat(-1); math.Abs(one.Hi) > 0x1p-100 {
			t.Errorf("sin^2+cos^2 of %x is 1%+g", x, one.Hi)
		}
		if math.Abs(s.Hi) > 1 || math.Abs(c.Hi) > 1 {
			t.Errorf("sin, cos of %x: %x, %x", x, s, c)
		}
	})
}

func normalised(t *testing.T, name string, y DD, args ...float64) {
	t.Helper()
	switch {
	case y.Hi == 0 || !finite(y.Hi):
		if y.Lo != 0 {
			t.Errorf("%s%x: got %x, want Lo 0", name, args, y)
		}
	case y.Hi+y.Lo != y.Hi:
		t.Errorf("%s%x: got %x, whose Hi is not the nearest", name, args, y)
	}
}

func FuzzPow(f *testing.F) {
	for _, x := range edges[:40] {
		for _, y := range []float64{-1.5, 1, 3, 0x1p53, 1e-300} {
			f.Add(x, y)
		}
	}
	f.Fuzz(func(t *testing.T, x, y float64) {
		if !finite(x) || !finite(y) {
			return
		}
		p := Pow(x, y)
		if nan := x < 0 && y != math.Trunc(y); p.IsNaN() != nan {
			t.Errorf("Pow(%x, %x): got %x, want NaN: %v", x, y, p, nan)
		}
		normalised(t, "Pow", p, x, y)
		odd := math.Abs(math.Mod(y, 2)) == 1
		if neg := math.Signbit(x) && odd; !p.IsNaN() && p.Signbit() != neg {
			t.Errorf("Pow(%x, %x): got %x, want negative: %v", x, y, p, neg)
		}
	})
}

func FuzzArithmetic(f *testing.F) {
	f.Add(1.0, 0x1p-54, 3.0, -0x1p-60)
	f.Add(math.MaxFloat64, 1.0, -math.MaxFloat64, 1.0)
	f.Add(0x1p-1074, 0.0, 0x1p-1022, 0x1p-1074)
	f.Add(1.0, 0x1p-54, -1.0, -0x1p-54)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		x, y := FromSum(a, b), FromSum(c, d)
		if !finite(x.Hi) || !finite(y.Hi) {
			return
		}
		nf := func() *big.Float { return new(big.Float).SetPrec(4500) }
		bx, by := bigDD(x), bigDD(y)
		if s := nf().Add(bx, by); s.Sign() != 0 {
			checkDD(t, x.Add(y), s, 104, "add", x, y)
		} else if got := x.Add(y); got.Hi != 0 || got.Lo != 0 {
			t.Errorf("%x + %x: got %x, want 0", x, y, got)
		}
		if x.Hi == 0 || y.Hi == 0 {
			return
		}
		checkDD(t, x.Mul(y), nf().Mul(bx, by), 103.9, "mul", x, y)
		checkDD(t, x.Div(y), nf().Quo(bx, by), 103, "div", x, y)
		if x.Hi > 0 {
			checkDD(t, x.Sqrt(), nf().Sqrt(bx), 103, "sqrt", x)
		}
	})
}

func FuzzAccumulator(f *testing.F) {
	f.Add(1.0, 0x1p-1074, math.MaxFloat64, -math.MaxFloat64)
	f.Add(1e16, 1.0, -1e16, 0x1p-60)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		var acc Accumulator
		if a-a+b-b+c-c+d-d != 0 {
			return
		}
		acc.Add(a)
		acc.AddProd(b, c)
		acc.AddProd(c, d)
		acc.Add(d)
		prod := func(x, y float64) *big.Float {
			return new(big.Float).SetPrec(110).Mul(bigFloat(x), bigFloat(y))
		}
		want := ddOf(exactly([]*big.Float{bigFloat(a), prod(b, c), prod(c, d), bigFloat(d)}))
		if got := acc.Sum(); got != want {
			t.Errorf("%x + %x*%x + %x*%x + %x: got %x, want %x", a, b, c, c, d, d, got, want)
		}
	})
}
