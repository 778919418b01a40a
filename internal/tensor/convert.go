package tensor

import "math"

// Encode returns the bits of the number of floating-point type d nearest
// to x, ties to even, with a single rounding. A NaN becomes the quiet
// NaN with x's sign.
func (d DType) Encode(x float64) uint64 {
	switch d {
	case F64:
		return math.Float64bits(x)
	case F32:
		return uint64(math.Float32bits(float32(x)))
	case F16:
		return encode(x, 11, -14, 5, 15)
	case BF16:
		return encode(x, 8, -126, 8, 127)
	case F8E4M3:
		return encodeE4M3(x)
	}
	panic("tensor: Encode of " + d.String())
}

// Decode returns the value of bits read as floating-point type d. It is
// exact.
func (d DType) Decode(bits uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case F16:
		return decode(bits, 11, -14, 5)
	case BF16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	case F8E4M3:
		return decodeE4M3(bits)
	}
	panic("tensor: Decode of " + d.String())
}

// encode rounds x to an IEEE format of p significand bits whose smallest
// normal exponent is emin, with ebits exponent bits and the given bias.
func encode(x float64, p, emin, ebits, bias int) uint64 {
	mbits := p - 1
	var sign uint64
	if math.Signbit(x) {
		sign = 1 << (ebits + mbits)
		x = -x
	}
	inf := uint64(1<<ebits-1) << mbits
	switch {
	case math.IsNaN(x):
		return sign | inf | 1<<(mbits-1)
	case math.IsInf(x, 0):
		return sign | inf
	case x == 0:
		return sign
	}
	_, e := math.Frexp(x)
	e-- // x in [2^e, 2^(e+1))
	q := max(e, emin)
	// The significand in units of the last place is below 2^p, so scaling
	// is exact, except that a tiny x may lose bits below half a unit; those
	// only ever decide a comparison with one half, which they cannot cross.
	n := math.RoundToEven(math.Ldexp(x, mbits-q))
	// A carry into 2^p is the next binade; the bit pattern adds up.
	bits := uint64(n)
	if e >= emin {
		bits += uint64(q+bias-1) << mbits
	}
	if bits >= inf {
		bits = inf
	}
	return sign | bits
}

func decode(bits uint64, p, emin, ebits int) float64 {
	mbits := p - 1
	m := bits & (1<<mbits - 1)
	e := bits >> mbits & (1<<ebits - 1)
	var v float64
	switch e {
	case 1<<ebits - 1:
		v = math.Inf(1)
		if m != 0 {
			v = math.NaN()
		}
	case 0:
		v = math.Ldexp(float64(m), emin-mbits)
	default:
		v = math.Ldexp(float64(m|1<<mbits), int(e)-1+emin-mbits)
	}
	if bits>>(mbits+ebits)&1 != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

// encodeE4M3 rounds to OCP E4M3 without saturation: what lies beyond 448
// by more than half its spacing is NaN.
func encodeE4M3(x float64) uint64 {
	var sign uint64
	if math.Signbit(x) {
		sign, x = 0x80, -x
	}
	if x != x || x > 464 { // 464 ties to the even neighbour, 448 (mantissa 110)
		return sign | 0x7f
	}
	return sign | encode(x, 4, -6, 5, 7)
}

func decodeE4M3(bits uint64) float64 {
	if bits&0x7f == 0x7f {
		return math.Copysign(math.NaN(), 1)
	}
	v := decode(bits&0x7f, 4, -6, 5)
	if bits&0x80 != 0 {
		v = -v
	}
	return v
}
