package truth

import "math"

// lgammaNear2 is ln(gamma(2+z)) for |z| <= 1/4 as z times a series in z,
// 1-gamma + sum of (-1)^k*(zeta(k)-1)/k*z^(k-1) for k > 1 (Abramowitz and
// Stegun 6.1.33); so it is relatively exact about its zero.
func lgammaNear2(z DD) DD {
	return z.Mul(horner(lgammaLead[:], lgammaTail[:], z))
}

// lgammaPos is ln(gamma(x)) for x > 0.
func lgammaPos(x DD) DD {
	switch {
	case x.Hi < 0.25: // gamma(x) = gamma(2+x)/(x*(1+x))
		return lgammaNear2(x).Sub(x.Log1p()).Sub(x.Log())
	case x.Hi > 0.75 && x.Hi < 1.25:
		z := x.AddFloat(-1)
		return lgammaNear2(z).Sub(z.Log1p())
	case x.Hi > 1.75 && x.Hi < 2.25:
		return lgammaNear2(x.AddFloat(-2))
	}
	prod := DD{Hi: 1}
	for x.Hi < 24 {
		prod = mul(prod, x)
		x = addFloat(x, 1)
	}
	// Stirling's series (Abramowitz and Stegun 6.1.41), from 24 on to 2^-110.
	y := DD{}
	if x.Hi < 0x1p60 {
		inv := div(DD{Hi: 1}, x)
		y = mul(inv, horner(stirlingLead[:], stirlingTail[:], mul(inv, inv)))
	}
	y = add(y, addFloat(halfLn2Pi, -0.5))
	l := log(x)
	y = x.AddFloat(-0.5).Mul(l.AddFloat(-1)).Add(y)
	if prod.Hi == 1 && prod.Lo == 0 {
		return y
	}
	return y.Sub(log(prod))
}

// Lgamma returns ln|gamma(x)| and the sign of gamma(x). It is +Inf at 0, at
// the negative integers and at ±Inf. For x < 0, where it has a zero in every
// interval between integers, the error is relative to the larger of it and
// ln(gamma(1-x)).
func Lgamma(x float64) (y DD, sign int) {
	sign = 1
	switch {
	case x != x:
		return DD{Hi: x}, sign
	case math.IsInf(x, 0):
		return DD{Hi: math.Inf(1)}, sign
	case x > 0:
		return lgammaPos(DD{Hi: x}), sign
	case x == 0:
		if math.Signbit(x) {
			sign = -1
		}
		return DD{Hi: math.Inf(1)}, sign
	}
	n := math.Floor(x)
	if n == x {
		return DD{Hi: math.Inf(1)}, sign
	}
	if math.Mod(n, 2) != 0 {
		sign = -1
	}
	if x > -0.25 {
		z := DD{Hi: x}
		return lgammaNear2(z).Sub(z.Log1p()).Sub(z.Abs().Log()), sign
	}
	// gamma(x)*gamma(1-x) = pi/sin(pi*x).
	f := x - math.RoundToEven(x)
	s := mulFloat(scale(piOver2, 1), math.Abs(f)).Sin()
	return lnPi.Sub(s.Log()).Sub(lgammaPos(FromSum(1, -x))), sign
}
