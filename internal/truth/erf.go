package truth

import "math"

// erfcx returns e^(x^2)*erfc(x) for 0 <= x < 30, to 2^-103, by its Taylor
// series about the middle of one of 64 intervals: 16 in each binade of x+2,
// which follows the radius within which the terms fall.
func erfcx(x DD) DD {
	t := x.Hi + 2
	i := int(math.Float64bits(t)>>48) - 0x4000
	c := math.Float64frombits(uint64(i+0x4000)<<48|1<<47) - 2
	y := addFloat(x, -c)
	row := &erfcxTable[i]
	return horner(row.lead[:], row.tail[:], y)
}

// horner evaluates lead[0] + lead[1]*y + ... with the coefficients of tail,
// those of the highest powers, in float64. The terms must fall.
func horner(lead []DD, tail []float64, y DD) DD {
	h := y.Hi
	t := tail[len(tail)-1]
	for i := len(tail) - 2; i >= 0; i-- {
		t = math.FMA(t, h, tail[i])
	}
	n := len(lead) - 1
	s := addFloat(lead[n], float64(t*h))
	for i := n - 1; i >= 0; i-- {
		s = addFast(lead[i], mul(s, y))
	}
	return s
}

// erfcScaled returns m and k with erfc(x) = m*2^k for 0 <= x < 30. sq is
// x^2, which the caller may know better than x.
func erfcScaled(x, sq DD) (m DD, k int) {
	m, k = expScaled(sq.Neg())
	return mul(m, erfcx(x)), k
}

// square returns x^2 of 2^-110 < |x| < 30.
func (x DD) square() DD { return mul(x, x) }

// Erf returns the error function. Erf(±0) = ±0, Erf(±Inf) = ±1.
func (x DD) Erf() DD {
	a := math.Abs(x.Hi)
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case a < negl:
		return x.Mul(twoOverSqrtPi)
	case a < 0.5:
		x2 := x.square()
		return mul(x, horner(erfLead[:], erfTail[:], x2))
	case a > 28:
		return DD{Hi: math.Copysign(1, x.Hi)}
	case x.Hi < 0:
		return x.Neg().Erf().Neg()
	}
	return DD{Hi: 1}.Sub(x.Erfc())
}

// Erf returns the error function.
func Erf(x float64) DD { return DD{Hi: x}.Erf() }

// Erfc returns 1-erf(x), without cancellation. Erfc(-Inf) = 2,
// Erfc(+Inf) = 0.
func (x DD) Erfc() DD {
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case x.Hi > 28:
		return DD{}
	case x.Hi < 0.25:
		return DD{Hi: 1}.Sub(x.Erf())
	}
	m, k := erfcScaled(x, x.square())
	return m.Ldexp(k)
}

// Erfc returns 1-erf(x).
func Erfc(x float64) DD { return DD{Hi: x}.Erfc() }

// normcdfTimes returns f*Phi(x) for -40 < x < 0. The result may be
// subnormal where its factors are not.
func normcdfTimes(f, x DD) DD {
	m, k := erfcScaled(mul(x.Neg(), sqrtHalf), scale(x.square(), -1))
	return f.Mul(m).Ldexp(k - 1)
}

// Normcdf returns Phi(x) = erfc(-x/sqrt(2))/2, without cancellation in the
// lower tail. Normcdf(-Inf) = 0, Normcdf(+Inf) = 1.
func (x DD) Normcdf() DD {
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case x.Hi < -40:
		return DD{}
	case x.Hi > 40:
		return DD{Hi: 1}
	case math.Abs(x.Hi) < negl:
		return DD{0.5, float64(x.Hi * 0.3989422804014327)} // 1/sqrt(2*pi)
	case x.Hi < 0:
		return normcdfTimes(DD{Hi: 1}, x)
	}
	return DD{Hi: 1}.Sub(x.Neg().Normcdf())
}

// Normcdf returns the standard normal distribution function.
func Normcdf(x float64) DD { return DD{Hi: x}.Normcdf() }

// GeluErf returns x*Phi(x). GeluErf(-Inf) is the limit, -0.
func (x DD) GeluErf() DD {
	switch {
	case x.Hi < -40:
		return DD{Hi: math.Copysign(0, -1)}
	case x.Hi < -negl:
		return normcdfTimes(x, x)
	}
	return x.Mul(x.Normcdf())
}

// GeluErf returns x*Phi(x).
func GeluErf(x float64) DD { return DD{Hi: x}.GeluErf() }
