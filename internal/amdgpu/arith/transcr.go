package arith

import (
	"math"
	"math/bits"
)

// Correctly rounded f32 functions: an f64 approximation y, good to a relative
// 2^-45 or better, rounds to the right f32 unless it lies so near the middle
// of two that its error reaches across; that is one operand in 10^5, which is
// done again in double-double.
//
// Products are wrapped in float64() so that no compiler fuses them into a
// sum: every GOARCH gives the same bits.

// near is the distance from a midpoint, in f64 ULP, that y must keep:
// a relative 2^-41.
const near = 1 << 11

// sure reports whether y with a relative error of 2^-42 rounds to f32 as the
// exact value does. It says no for results in the subnormal range.
func sure(y float64) bool {
	u := math.Float64bits(y)
	return u&0x1fff_ffff-0x1000_0000+near > 2*near && u<<1 >= 0x381<<53
}

// exp32cr returns 2^a.
func exp32cr(a uint32) uint32 {
	u := a &^ sign32
	if u-0x3380_0000 >= 0x4300_0000-0x3380_0000 {
		switch {
		case u > exp32:
			return a | quiet32
		case u < 0x3380_0000:
			return one32
		case a&sign32 != 0:
			return 0
		}
		return exp32
	}
	x := float64(f32(a))
	if x < -126 {
		return 0
	}
	y := exp2(x)
	if sure(y) {
		return bits32(float32(y))
	}
	hi, lo := exp2dd(x)
	return bits32(float32(odd64(hi, lo)))
}

// exp2 returns 2^x for |x| <= 256 that is a multiple of 2^-49.
func exp2(x float64) float64 {
	const magic = 0x1.8p52 // adding it rounds to an integer, in the low bits
	k := float64(x*32) + magic
	n := int32(math.Float64bits(k))
	r := x - float64((k-magic)*0x1p-5)
	c := &exp2Poly
	r2 := float64(r * r)
	p := c[0] + float64(r*c[1]) + float64(r2*(c[2]+float64(r*c[3])+float64(r2*(c[4]+float64(r*c[5])))))
	t := exp2Table[n&31]
	y := t + float64(t*float64(r*p))
	return math.Float64frombits(math.Float64bits(y) + uint64(n>>5)<<52)
}

// log32cr returns log2(a).
func log32cr(a uint32) uint32 {
	if a-(man32+1) >= exp32-(man32+1) {
		switch {
		case IsNaNF32(a):
			return a | quiet32
		case a&exp32 == 0:
			return sign32 | exp32
		case a == exp32:
			return a
		}
		return nan32
	}
	y := log2(a)
	if sure(y) {
		return bits32(float32(y))
	}
	if y == 0 {
		return 0 // a is 1
	}
	hi, lo := log2dd(float64(f32(a)), y)
	return bits32(float32(odd64(hi, lo)))
}

// log2 returns log2(a) for a normal a > 0.
func log2(a uint32) float64 {
	t := a - 0x3f33_0000
	e := &log2Table[t>>17&63]
	k := float64(int32(t) >> 23)
	// z has 24 bits and inv 10, so the product is exact, and so is r.
	z := float64(f32(a - t&0xff80_0000))
	r := float64(z*e.inv) - 1
	c := &log2Poly
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	p := c[0] + float64(r*c[1]) + float64(r2*(c[2]+float64(r*c[3]))) +
		float64(r4*(c[4]+float64(r*c[5])+float64(r2*(c[6]+float64(r*c[7])))))
	return k + e.log + float64(r*p)
}

// rcp32cr returns 1/a. Its f64 quotient may be rounded again: 53 >= 2*24+2.
func rcp32cr(a uint32) uint32 {
	switch {
	case IsNaNF32(a):
		return a | quiet32
	case a&exp32 == 0:
		return a&sign32 | exp32
	}
	r := bits32(float32(1 / float64(f32(a))))
	if r&exp32 == 0 {
		return r & sign32
	}
	return r
}

// sqrt32cr returns sqrt(a), rounded by way of f64 as in rcp32cr.
func sqrt32cr(a uint32) uint32 {
	switch {
	case IsNaNF32(a):
		return a | quiet32
	case a&exp32 == 0:
		return a & sign32
	case a&sign32 != 0:
		return nan32
	}
	return bits32(float32(math.Sqrt(float64(f32(a)))))
}

// rsq32cr returns 1/sqrt(a).
func rsq32cr(a uint32) uint32 {
	switch {
	case IsNaNF32(a):
		return a | quiet32
	case a&exp32 == 0:
		return a&sign32 | exp32
	case a&sign32 != 0:
		return nan32
	case a == exp32:
		return 0
	}
	y := 1 / math.Sqrt(float64(f32(a)))
	if sure(y) {
		return bits32(float32(y))
	}
	// y lies next to a midpoint r = mid*2^k of two f32; r^2*a < 1 decides. It
	// has an odd square of at most 50 bits, and a = x*2^e 24 bits more.
	v := math.Float64bits(y)
	lower := v &^ 0x1fff_ffff
	mid := lower>>28&(1<<24-1) | 1<<24 | 1
	k := int(v>>52) - 1047
	x, e := uint64(a&man32|(man32+1)), int(a>>23)-150
	hi, _ := bits.Mul64(mid*mid, x)
	if hi < 1<<(-2*k-e-64) {
		lower += 0x2000_0000
	}
	return bits32(float32(math.Float64frombits(lower)))
}

// turn32cr returns the sine (quarter 0) or cosine (quarter 1) of a turns.
func turn32cr(a uint32, quarter int) uint32 {
	u := a &^ sign32
	switch {
	case u > exp32:
		return a | quiet32
	case u == exp32:
		return nan32
	case u >= 0x4b00_0000: // an integer
		if quarter == 0 {
			return 0
		}
		return one32
	case u == 0 && quarter == 0:
		return a
	}
	// x = n/4 + f, exactly, with |f| <= 1/8.
	x := float64(f32(a))
	n := math.RoundToEven(4 * x)
	f := x - float64(n*0.25)
	q := int(n) + quarter
	var y float64
	if q&1 == 0 {
		y = sinTurn(f)
	} else {
		y = cosTurn(f)
	}
	if !sure(y) {
		if f == 0 {
			return bits32(float32(y)) &^ sign32 // sin of a half turn is +0
		}
		var hi, lo float64
		if q&1 == 0 {
			hi, lo = sinTurndd(f)
		} else {
			hi, lo = cosTurndd(f)
		}
		y = odd64(hi, lo)
	}
	if q&2 != 0 {
		y = -y
	}
	return bits32(float32(y))
}

// sinTurn returns sin(2*pi*f) for |f| <= 1/8.
func sinTurn(f float64) float64 {
	c := &sinPoly
	w := float64(f * f)
	w2 := float64(w * w)
	w4 := float64(w2 * w2)
	p := c[0] + float64(w*c[1]) + float64(w2*(c[2]+float64(w*c[3]))) +
		float64(w4*(c[4]+float64(w*c[5])+float64(w2*(c[6]+float64(w*c[7])))))
	return float64(f * p)
}

// cosTurn returns cos(2*pi*f) for |f| <= 1/8.
func cosTurn(f float64) float64 {
	c := &cosPoly
	w := float64(f * f)
	w2 := float64(w * w)
	w4 := float64(w2 * w2)
	return c[0] + (float64(w*c[1]) + float64(w2*(c[2]+float64(w*c[3]))) +
		float64(w4*(c[4]+float64(w*c[5])+float64(w2*(c[6]+float64(w*c[7])+float64(w2*c[8]))))))
}

// exp16cr returns 2^a rounded to odd, from which NarrowF32 gives the
// correctly rounded f16. Outside [-32, 32] all results are 0 or overflow.
func exp16cr(a uint16) uint32 {
	switch {
	case IsNaNF16(a):
		return WideF16(a | quiet16)
	case a == sign16|exp16:
		return 0
	case a == exp16:
		return exp32
	}
	return odd32(exp2(max(-32, min(32, float64(f32(WideF16(a)))))))
}

// log16cr returns log2(a) rounded to odd.
func log16cr(a uint16) uint32 {
	w := WideF16(a)
	if w-(man32+1) >= exp32-(man32+1) {
		return log32cr(w)
	}
	return odd32(log2(w))
}

// rsq64cr returns 1/sqrt(a).
func rsq64cr(a uint64) uint64 {
	switch {
	case IsNaNF64(a):
		return a | quiet64
	case a<<1 == 0:
		return a | exp64
	case a&sign64 != 0:
		return nan64
	case a == exp64:
		return 0
	}
	x, e := split64(a)
	if lz := bits.LeadingZeros64(x) - 11; lz > 0 {
		x, e = x<<lz, e-lz
	}
	if e&1 != 0 {
		x, e = x<<1, e-1
	}
	// Now a = x*2^e, x in [2^52, 2^54), e even, and 1/sqrt(x) in (2^-27, 2^-26]:
	// find r near 2^79/sqrt(x), so that 1/sqrt(a) = r*2^(-79-e/2).
	r := uint64(0x1p79 / math.Sqrt(float64(x)))
	// r is off by a few units at most: walk until 2r-1 <= 2^80/sqrt(x) < 2r+1.
	for below(2*r+1, x) {
		r++
	}
	for !below(2*r-1, x) {
		r--
	}
	return bits64(math.Ldexp(float64(r), -79-e/2))
}

// below reports whether n^2*x < 2^160, for n < 2^54 and x < 2^54.
func below(n, x uint64) bool {
	h, l := bits.Mul64(n, n)
	h1, _ := bits.Mul64(l, x)
	h2, l2 := bits.Mul64(h, x)
	_, c := bits.Add64(l2, h1, 0)
	h2 += c // n^2*x is h2*2^128 and less than 2^128
	return h2>>32 == 0
}
