package truth

import "math"

// expScaled returns m in (0.99, 2) and k with e^x = m*2^k, to 2^-103 plus
// the error of x, for |x| < 2^16.
//
// x = n*ln2/64 + r with |r| < 0.0055, e^x = 2^(n/64) * e^r.
func expScaled(x DD) (m DD, k int) {
	n := math.RoundToEven(float64(x.Hi * (64 / math.Ln2)))
	p := expm1Small(expReduce(x, n))
	j := int(n)
	t := exp2Table[j&63]
	return addFast(t, mul(t, p)), j >> 6
}

// expReduce returns x - n*ln2/64. The first two parts of ln2/64 have 36
// bits each, so that their products with n are exact.
func expReduce(x DD, n float64) DD {
	if n == 0 {
		return x
	}
	h := x.Hi - float64(n*ln2Over64[0])
	s, e := twoSum(h, -float64(n*ln2Over64[1]))
	s, f := twoSum(s, x.Lo)
	s, e = twoSum(s, (e+f)-float64(n*ln2Over64[2]))
	return DD{s, e}
}

// expm1Small is e^r-1 for |r| < 0.0055 by its Taylor series. The terms from
// r^6 on are below 2^-53 of the first, where float64 is enough.
func expm1Small(r DD) DD {
	h := r.Hi
	t := 1.0 / 479001600
	t = math.FMA(t, h, 1.0/39916800)
	t = math.FMA(t, h, 1.0/3628800)
	t = math.FMA(t, h, 1.0/362880)
	t = math.FMA(t, h, 1.0/40320)
	t = math.FMA(t, h, 1.0/5040)
	t = math.FMA(t, h, 1.0/720)
	s := addFloat(inv120, float64(t*h))
	s = addFast(inv24, mul(s, r))
	s = addFast(inv6, mul(s, r))
	s = addFast(DD{Hi: 0.5}, mul(s, r))
	return addFast(r, mul(mul(r, r), s))
}

// Exp returns e^x. Exp(+Inf) = +Inf, Exp(-Inf) = 0.
func (x DD) Exp() DD {
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case x.Hi > 710:
		return DD{Hi: math.Inf(1)}
	case x.Hi < -746:
		return DD{}
	}
	m, k := expScaled(x)
	return m.Ldexp(k)
}

// Exp returns e^x.
func Exp(x float64) DD { return DD{Hi: x}.Exp() }

// Exp2 returns 2^x, exactly for integers.
func (x DD) Exp2() DD {
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case x.Hi >= 1024:
		return DD{Hi: math.Inf(1)}
	case x.Hi < -1076:
		return DD{}
	}
	// x = n/64 + r, e^(r*ln2) * 2^(n/64).
	n := math.RoundToEven(x.Hi * 64)
	r := mul(addFloat(x, -float64(n/64)), ln2)
	j := int(n)
	t := exp2Table[j&63]
	return addFast(t, mul(t, expm1Small(r))).Ldexp(j >> 6)
}

// Exp2 returns 2^x.
func Exp2(x float64) DD { return DD{Hi: x}.Exp2() }

// Expm1 returns e^x-1. Expm1(±0) = ±0, Expm1(-Inf) = -1.
func (x DD) Expm1() DD {
	switch {
	case !finite(x.Hi) || x.Hi > 710 || x.Hi < -1200:
		return x.Exp().AddFloat(-1)
	case math.Abs(x.Hi) < negl:
		return DD{x.Hi, x.Lo + float64(x.Hi*x.Hi/2)}
	}
	n := math.RoundToEven(float64(x.Hi * (64 / math.Ln2)))
	p := expm1Small(expReduce(x, n))
	if n == 0 {
		return p
	}
	j := int(n)
	t := exp2Table[j&63]
	return addFast(t, mul(t, p)).Ldexp(j >> 6).AddFloat(-1)
}

// Expm1 returns e^x-1.
func Expm1(x float64) DD { return DD{Hi: x}.Expm1() }

// Sinh returns the hyperbolic sine. Sinh(±0) = ±0, Sinh(±Inf) = ±Inf.
func (x DD) Sinh() DD {
	a := math.Abs(x.Hi)
	switch {
	case !finite(a):
		return DD{Hi: x.Hi}
	case a < negl:
		return x
	case x.Hi < 0:
		return x.Neg().Sinh().Neg()
	case a > 100: // e^-x does not reach e^x
		if a > 712 {
			return DD{Hi: math.Inf(1)}
		}
		m, k := expScaled(x)
		return m.Ldexp(k - 1)
	}
	e := x.Expm1()
	return scale(add(e, div(e, addFloat(e, 1))), -1)
}

// Sinh returns the hyperbolic sine.
func Sinh(x float64) DD { return DD{Hi: x}.Sinh() }

// Cosh returns the hyperbolic cosine.
func (x DD) Cosh() DD {
	x = x.Abs()
	switch {
	case !finite(x.Hi):
		return DD{Hi: x.Hi}
	case x.Hi > 100:
		return x.Sinh()
	case x.Hi < negl:
		return DD{1, float64(x.Hi*x.Hi) / 2}
	}
	e := x.Exp()
	return scale(add(e, div(DD{Hi: 1}, e)), -1)
}

// Cosh returns the hyperbolic cosine.
func Cosh(x float64) DD { return DD{Hi: x}.Cosh() }

// Tanh returns the hyperbolic tangent. Beyond |x| = 36 it is 1 with the
// distance to 1 in Lo. Tanh(±0) = ±0, Tanh(±Inf) = ±1.
func (x DD) Tanh() DD {
	a := math.Abs(x.Hi)
	switch {
	case x.IsNaN():
		return DD{Hi: x.Hi}
	case a < negl:
		return x
	case x.Hi < 0:
		return x.Neg().Tanh().Neg()
	case a > 400:
		return DD{Hi: 1}
	case a > 40:
		return DD{1, -2 * scale(x, 1).Neg().Exp().Hi}
	}
	e := scale(x, 1).Expm1()
	return div(e, addFloat(e, 2))
}

// Tanh returns the hyperbolic tangent.
func Tanh(x float64) DD { return DD{Hi: x}.Tanh() }

// sigmoidTimes returns f/(1+e^-w). The result may be subnormal where its
// factors are not.
func sigmoidTimes(f, w DD) DD {
	switch {
	case w.IsNaN() || f.IsNaN():
		return DD{Hi: math.NaN()}
	case w.Hi >= 0:
		if w.Hi > 800 {
			return f
		}
		return f.Div(w.Neg().Exp().AddFloat(1))
	case w.Hi < -3000:
		return DD{Hi: math.Copysign(0, f.Hi)}
	}
	m, k := expScaled(w)
	if k < -200 { // 1+e^w is 1
		return f.Mul(m).Ldexp(k)
	}
	e := m.Ldexp(k)
	return f.Mul(div(e, addFloat(e, 1)))
}

// Sigmoid returns 1/(1+e^-x). Sigmoid(-Inf) = 0.
func (x DD) Sigmoid() DD { return sigmoidTimes(DD{Hi: 1}, x) }

// Sigmoid returns 1/(1+e^-x).
func Sigmoid(x float64) DD { return DD{Hi: x}.Sigmoid() }

// Silu returns x/(1+e^-x). Silu(-Inf) is the limit, -0.
func (x DD) Silu() DD {
	if math.IsInf(x.Hi, -1) {
		return DD{Hi: math.Copysign(0, -1)}
	}
	return sigmoidTimes(x, x)
}

// Silu returns x/(1+e^-x).
func Silu(x float64) DD { return DD{Hi: x}.Silu() }

// Elu returns x for x > 0, else alpha*(e^x-1).
func (x DD) Elu(alpha float64) DD {
	if x.Hi > 0 || x.IsNaN() {
		return x
	}
	return x.Expm1().MulFloat(alpha)
}

// Elu returns x for x > 0, else alpha*(e^x-1).
func Elu(x, alpha float64) DD { return DD{Hi: x}.Elu(alpha) }

// GeluTanh returns x/2*(1+tanh(z)), z = sqrt(2/pi)*(x+0.044715*x^3), with
// these constants exact; so x*sigmoid(2z), which does not cancel.
// GeluTanh(-Inf) is the limit, -0.
func (x DD) GeluTanh() DD {
	switch {
	case x.IsNaN() || x.Hi > 40:
		return x
	case x.Hi < -40:
		return DD{Hi: math.Copysign(0, -1)}
	case math.Abs(x.Hi) < negl: // x/2 + x^2/sqrt(2*pi)
		return x.Mul(DD{0.5, float64(x.Hi * 0.3989422804014327)})
	}
	x2 := mul(x, x)
	z := mul(mul(x, gelu2C), addFast(DD{Hi: 1}, mul(x2, geluCube)))
	return sigmoidTimes(x, z)
}

// GeluTanh returns x/2*(1+tanh(sqrt(2/pi)*(x+0.044715*x^3))).
func GeluTanh(x float64) DD { return DD{Hi: x}.GeluTanh() }
