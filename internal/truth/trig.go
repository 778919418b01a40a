package truth

import (
	"math"
	"math/bits"
)

// reduce returns q mod 4 and r with x = q*pi/2 + r, |r| <= pi/4 but for
// rounding, for finite x. r has a relative error below 2^-103: of 2/pi a
// window of 256 bits is taken (Payne and Hanek), of which at most 53+62 are
// lost to truncation and to cancellation.
func reduce(x float64) (q int, r DD) {
	if math.Abs(x) < math.Pi/4 {
		return 0, DD{Hi: x}
	}
	b := math.Float64bits(x)
	e := int(b>>frac&expm) - bias - frac // |x| = m*2^e
	m := b&(1<<frac-1) | 1<<frac

	// Multiples of 4 of x*2/pi do not matter, so bits of 2/pi of weight
	// 2^(2-e) and above do not. Bit 0 of the table has weight 2^63.
	off := e - 2 + 64
	w, sh := off/64, uint(off%64)
	var p [4]uint64 // fraction of m*2^e*(2/pi)/4, lowest word first
	var carry uint64
	for i := range p {
		j := w + 3 - i
		t := twoOverPi[j]<<sh | twoOverPi[j+1]>>(64-sh)
		hi, lo := bits.Mul64(m, t)
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q = int(p[3] >> 62)
	for i := 3; i > 0; i-- {
		p[i] = p[i]<<2 | p[i-1]>>62
	}
	p[0] <<= 2
	neg := false
	if p[3]>>63 == 1 { // above 1/2: from the next multiple down
		q, neg = q+1, true
		var c uint64
		for i := range p {
			p[i], c = bits.Sub64(0, p[i], c)
		}
	}
	k := 0
	for p[3] == 0 && k < 192 {
		p[3], p[2], p[1], p[0] = p[2], p[1], p[0], 0
		k += 64
	}
	if z := uint(bits.LeadingZeros64(p[3])); z > 0 {
		p[3] = p[3]<<z | p[2]>>(64-z)
		p[2] = p[2]<<z | p[1]>>(64-z)
		k += int(z)
	}
	hi := math.Ldexp(float64(p[3]>>11), -53-k)
	lo := math.Ldexp(float64(p[3]<<53|p[2]>>11), -117-k)
	r = mul(norm(hi, lo), piOver2)
	if x < 0 {
		q, neg = -q, !neg
	}
	if neg {
		r = r.Neg()
	}
	return q & 3, r
}

// reduce is the function of that name for a DD: the parts are reduced apart.
// The error is relative to the larger of the two remainders.
func (x DD) reduce() (q int, r DD) {
	q, r = reduce(x.Hi)
	if x.Lo == 0 {
		return q, r
	}
	if q == 0 && r.Hi == x.Hi {
		return 0, x
	}
	k, t := reduce(x.Lo)
	q, r = q+k, add(r, t)
	switch {
	case r.Hi > math.Pi/4:
		q, r = q+1, add(r, piOver2.Neg())
	case r.Hi < -math.Pi/4:
		q, r = q-1, add(r, piOver2)
	}
	return q & 3, r
}

// sincosSmall returns sin(r) and cos(r) for |r| <= 0.79 by the addition
// theorem at the nearest multiple of 1/64.
func sincosSmall(r DD) (sin, cos DD) {
	if r.Hi < 0 {
		sin, cos = sincosSmall(r.Neg())
		return sin.Neg(), cos
	}
	if r.Hi < negl {
		h2 := float64(r.Hi * r.Hi)
		return r, DD{1, -h2 / 2}
	}
	j := int(float64(r.Hi*64) + 0.5)
	d := r
	if j != 0 {
		d = addFloat(r, -float64(float64(j)/64))
	}
	// |d| <= 2^-7: sin(d) = d + d^3*s, cos(d) = 1 + c. Terms from d^7 and
	// from d^6 on are below 2^-51.
	d2 := mul(d, d)
	u := d2.Hi
	t := 1.0 / 6227020800
	t = math.FMA(t, u, -1.0/39916800)
	t = math.FMA(t, u, 1.0/362880)
	t = math.FMA(t, u, -1.0/5040)
	s := addFloat(inv120, float64(t*u))
	s = addFast(inv6.Neg(), mul(s, d2))
	sd := addFast(d, mul(mul(d, d2), s))

	t = 1.0 / 479001600
	t = math.FMA(t, u, -1.0/3628800)
	t = math.FMA(t, u, 1.0/40320)
	t = math.FMA(t, u, -1.0/720)
	c := addFloat(inv24, float64(t*u))
	c = addFloat(mul(c, d2), -0.5)
	c = mul(c, d2)
	if j == 0 {
		return sd, addFloat(c, 1)
	}
	a := &sincosTable[j]
	// |d| <= t/2, so the first of each pair of products is the larger.
	sin = addFast(a.sin, addFast(mul(a.cos, sd), mul(a.sin, c)))
	cos = addFast(a.cos, addFast(mul(a.sin, sd).Neg(), mul(a.cos, c)))
	return sin, cos
}

// Sincos returns the sine and the cosine of x, for every finite x. Both of
// ±Inf are NaN, Sin(±0) = ±0. For a DD the error near a zero is relative to
// that of an argument off by 2^-104.
func (x DD) Sincos() (sin, cos DD) {
	if !finite(x.Hi) {
		return DD{Hi: math.NaN()}, DD{Hi: math.NaN()}
	}
	if x.Hi == 0 {
		return x, DD{Hi: 1}
	}
	q, r := x.reduce()
	s, c := sincosSmall(r)
	switch q {
	case 0:
		return s, c
	case 1:
		return c, s.Neg()
	case 2:
		return s.Neg(), c.Neg()
	}
	return c.Neg(), s
}

// Sin returns the sine of x radians.
func (x DD) Sin() DD {
	s, _ := x.Sincos()
	return s
}

// Cos returns the cosine of x radians.
func (x DD) Cos() DD {
	_, c := x.Sincos()
	return c
}

// Tan returns the tangent of x radians.
func (x DD) Tan() DD {
	s, c := x.Sincos()
	return s.Div(c)
}

// Sin returns the sine of x radians.
func Sin(x float64) DD { return DD{Hi: x}.Sin() }

// Cos returns the cosine of x radians.
func Cos(x float64) DD { return DD{Hi: x}.Cos() }

// Tan returns the tangent of x radians.
func Tan(x float64) DD { return DD{Hi: x}.Tan() }

// Sincos returns the sine and the cosine of x radians.
func Sincos(x float64) (sin, cos DD) { return DD{Hi: x}.Sincos() }
