package truth

import "math"

// log returns ln(x) for finite x > 0.
//
// x = m*2^k with m in [0.70, 1.41]; c is the tabulated float64 nearest to
// 128/i for i = RN(128*m), so r = m*c-1 is below 2^-7.4 and exact in a DD:
// ln(x) = k*ln2 - ln(c) + ln(1+r). Near 1, k and ln(c) are zero.
func log(x DD) DD {
	m, k := x.frexp()
	if m.Hi < 0x1.68p-1 {
		m, k = scale(m, 1), k-1
	}
	i := int(float64(m.Hi*128)+0.5) - 90
	t := &logTable[i]
	p, e := twoProd(m.Hi, t.c)
	s, f := twoSum(p-1, e)
	r := norm(s, f+float64(m.Lo*t.c))
	y := log1pSmall(r)
	if i != 128-90 {
		y = add(t.logC, y)
	}
	if k == 0 {
		return y
	}
	n := float64(k)
	// n*ln2Hi is exact, ln2Hi having 42 bits.
	return add(DD{Hi: float64(n * ln2Parts.hi)}, add(mulFloat(ln2Parts.lo, n), y))
}

// log1pSmall is ln(1+r) for |r| < 0.006 as 2*atanh(s), s = r/(2+r). Terms
// from s^7 on are below 2^-56 of the first.
func log1pSmall(r DD) DD {
	if math.Abs(r.Hi) < negl {
		return DD{r.Hi, r.Lo - float64(r.Hi*r.Hi/2)}
	}
	s := div(r, addFloat(r, 2))
	s2 := mul(s, s)
	u := s2.Hi
	t := 1.0 / 15
	t = math.FMA(t, u, 1.0/13)
	t = math.FMA(t, u, 1.0/11)
	t = math.FMA(t, u, 1.0/9)
	t = math.FMA(t, u, 1.0/7)
	p := addFloat(inv5, float64(t*u))
	p = addFast(inv3, mul(p, s2))
	s = scale(s, 1)
	return addFast(s, mul(mul(s, s2), p))
}

// Log returns the natural logarithm. Log(±0) = -Inf, Log(x < 0) = NaN.
func (x DD) Log() DD {
	switch {
	case x.IsNaN() || math.IsInf(x.Hi, 1):
		return DD{Hi: x.Hi}
	case x.Hi == 0:
		return DD{Hi: math.Inf(-1)}
	case x.Hi < 0:
		return DD{Hi: math.NaN()}
	}
	return log(x)
}

// Log returns the natural logarithm.
func Log(x float64) DD { return DD{Hi: x}.Log() }

// Log1p returns ln(1+x). Log1p(±0) = ±0, Log1p(-1) = -Inf,
// Log1p(x < -1) = NaN.
func (x DD) Log1p() DD {
	switch {
	case math.Abs(x.Hi) < 0x1p-8:
		return log1pSmall(x)
	case !finite(x.Hi):
		return x.Log()
	}
	return x.AddFloat(1).Log()
}

// Log1p returns ln(1+x).
func Log1p(x float64) DD { return DD{Hi: x}.Log1p() }

// Log2 returns the binary logarithm, exactly for powers of two.
func (x DD) Log2() DD {
	if !(x.Hi > 0) || !finite(x.Hi) {
		return x.Log()
	}
	m, k := x.frexp()
	if m.Hi < 0x1.68p-1 {
		m, k = scale(m, 1), k-1
	}
	y := mul(log(m), invLn2)
	if k == 0 {
		return y
	}
	return addFloat(y, float64(k))
}

// Log2 returns the binary logarithm.
func Log2(x float64) DD { return DD{Hi: x}.Log2() }

// Log10 returns the decimal logarithm.
func (x DD) Log10() DD { return x.Log().Mul(invLn10) }

// Log10 returns the decimal logarithm.
func Log10(x float64) DD { return DD{Hi: x}.Log10() }

// Pow returns x^y with the special values of C99 annex F: among them
// Pow(x, ±0) = 1 and Pow(1, y) = 1 for any x and y, NaN included,
// Pow(-1, ±Inf) = 1, and NaN for finite x < 0 with y no integer.
func Pow(x, y float64) DD { return DD{Hi: x}.Pow(y) }

// Pow returns x^y.
func (x DD) Pow(y float64) DD {
	one := DD{Hi: 1}
	switch {
	case y == 0 || x == one:
		return one
	case x.IsNaN() || y != y:
		return DD{Hi: math.NaN()}
	case math.IsInf(y, 0):
		switch c := x.Abs().Cmp(one); {
		case c == 0:
			return one
		case (c > 0) == (y > 0):
			return DD{Hi: math.Inf(1)}
		}
		return DD{}
	}
	odd := math.Abs(math.Mod(y, 2)) == 1
	sign := 1.0
	if odd && math.Signbit(x.Hi) {
		sign = -1
	}
	switch {
	case x.Hi == 0 || math.IsInf(x.Hi, 0):
		if (x.Hi == 0) == (y > 0) {
			return DD{Hi: math.Copysign(0, sign)}
		}
		return DD{Hi: math.Inf(int(sign))}
	case x.Hi < 0 && math.Trunc(y) != y:
		return DD{Hi: math.NaN()}
	case y == 1:
		return x
	case y == 2:
		return x.Mul(x)
	case y == -1:
		return one.Div(x)
	case y == 0.5:
		return x.Sqrt()
	}
	if n := math.Abs(y); n <= 16 && n == math.Trunc(n) {
		if _, e := math.Frexp(x.Hi); math.Abs(float64(e))*n < 900 {
			return x.powInt(int(y))
		}
	}
	l := log(x.Abs())
	switch p := float64(l.Hi * y); {
	case p > 710:
		return DD{Hi: math.Inf(int(sign))}
	case p < -746:
		return DD{Hi: math.Copysign(0, sign)}
	}
	m, k := expScaled(l.MulFloat(y))
	m = m.Ldexp(k)
	if sign < 0 {
		return m.Neg()
	}
	return m
}

// powInt returns x^n for 0 < |n| <= 16 by multiplication, which is exact
// where the powers have up to 106 bits.
func (x DD) powInt(n int) DD {
	p := DD{Hi: 1}
	for k := max(n, -n); k > 0; k >>= 1 {
		if k&1 == 1 {
			p = mul(p, x)
		}
		if k > 1 {
			x = mul(x, x)
		}
	}
	if n < 0 {
		return quo(DD{Hi: 1}, p)
	}
	return p
}
