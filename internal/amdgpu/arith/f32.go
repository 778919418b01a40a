package arith

import "math"

func f32(a uint32) float32    { return math.Float32frombits(a) }
func bits32(x float32) uint32 { return math.Float32bits(x) }

// AddF32 returns a+b, rounded to nearest even.
func AddF32(a, b uint32) uint32 {
	r := math.Float32frombits(a) + math.Float32frombits(b)
	if r == r {
		return math.Float32bits(r)
	}
	if a<<1 > exp32<<1 {
		return a | quiet32
	}
	if b<<1 > exp32<<1 {
		return b | quiet32
	}
	return nan32
}

// SubF32 returns a-b, rounded to nearest even.
func SubF32(a, b uint32) uint32 {
	r := math.Float32frombits(a) - math.Float32frombits(b)
	if r == r {
		return math.Float32bits(r)
	}
	if a<<1 > exp32<<1 {
		return a | quiet32
	}
	if b<<1 > exp32<<1 {
		return b | quiet32
	}
	return nan32
}

// MulF32 returns a*b, rounded to nearest even.
func MulF32(a, b uint32) uint32 {
	r := float32(math.Float32frombits(a) * math.Float32frombits(b))
	if r == r {
		return math.Float32bits(r)
	}
	if a<<1 > exp32<<1 {
		return a | quiet32
	}
	if b<<1 > exp32<<1 {
		return b | quiet32
	}
	return nan32
}

// FmaF32 returns a*b+c, rounded once to nearest even.
//
// The product of two f32 is exact in f64. The f64 sum s, rounded to f32,
// is wrong only where s was inexact and is itself halfway between two f32;
// those, and results in the subnormal range, where halfway lies elsewhere,
// take fmaOdd32.
func FmaF32(a, b, c uint32) uint32 {
	p := float64(float64(f32(a)) * float64(f32(b)))
	s := p + float64(f32(c))
	u := math.Float64bits(s)
	if u&0x1fff_ffff != 0x1000_0000 && (u&exp64-0x381<<52 < (0x7ff-0x381)<<52 || u<<1 == 0) {
		return bits32(float32(s))
	}
	return fmaOdd32(a, b, c)
}

// fmaOdd32 is FmaF32 for every operand. It rounds p+c to odd: of the two f64
// about an inexact sum it takes the one with bit 0 set, which no halfway
// case of f32 has, so that the second rounding sees on which side of
// halfway the sum lies.
func fmaOdd32(a, b, c uint32) uint32 {
	p := float64(float64(f32(a)) * float64(f32(b)))
	s := sumOdd(p, float64(f32(c)))
	if s != s {
		return invalid32(a, b, c)
	}
	return bits32(float32(s))
}

// sumOdd returns x+y rounded to odd, for operands whose sum does not
// overflow f64 or that are not finite.
func sumOdd(x, y float64) float64 {
	s := x + y
	// Knuth's TwoSum: x+y = s+rest exactly.
	t := s - x
	rest := (x - (s - t)) + (y - t)
	if rest == 0 || s-s != 0 {
		return s
	}
	u := math.Float64bits(s)
	if u&1 == 0 {
		if (rest > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return math.Float64frombits(u)
}

// AddF32 returns a+b under the mode.
func (m Mode) AddF32(a, b uint32) uint32 {
	a, b = m.In32(a), m.In32(b)
	if m.Round32() == RoundEven {
		return m.Out32(AddF32(a, b))
	}
	return m.fma32(a, one32, b, a, b, b)
}

// SubF32 returns a-b under the mode.
func (m Mode) SubF32(a, b uint32) uint32 {
	a, b = m.In32(a), m.In32(b)
	if m.Round32() == RoundEven {
		return m.Out32(SubF32(a, b))
	}
	return m.fma32(a, one32, b^sign32, a, b, b)
}

// MulF32 returns a*b under the mode.
func (m Mode) MulF32(a, b uint32) uint32 {
	a, b = m.In32(a), m.In32(b)
	if m.Round32() == RoundEven {
		if r := MulF32(a, b); m&DenormOut32 != 0 || r&^sign32 != man32+1 {
			return m.Out32(r)
		}
	}
	return m.fma32(a, b, (a^b)&sign32, a, b, b)
}

// FmaF32 returns a*b+c, rounded once, under the mode.
func (m Mode) FmaF32(a, b, c uint32) uint32 {
	a, b, c = m.In32(a), m.In32(b), m.In32(c)
	if m.Round32() == RoundEven {
		if r := FmaF32(a, b, c); m&DenormOut32 != 0 || r&^sign32 != man32+1 {
			return m.Out32(r)
		}
	}
	return m.fma32(a, b, c, a, b, c)
}

// fma32 is a*b+c with no input flush; na, nb, nc are the operands as the
// instruction has them, for the choice of a NaN.
func (m Mode) fma32(a, b, c, na, nb, nc uint32) uint32 {
	s := float64(float64(f32(a))*float64(f32(b))) + float64(f32(c))
	switch {
	case s != s:
		return invalid32(na, nb, nc)
	case s-s != 0:
		return bits32(float32(s))
	}
	return uint32(scaled(&layout32, wide32(a), wide32(b), wide32(c), 0, m.Round32(), m&DenormOut32 == 0))
}

func wide32(a uint32) uint64 { return math.Float64bits(float64(f32(a))) }

// scaled returns (a*b+c)*2^k for finite f64 a, b, c rounded once to f. With
// flush a result that is tiny becomes a zero of its sign: one below the
// smallest normal number when rounded as if exponents had no lower limit, as
// captures of gfx1201 published with ROCm/rocm-systems, rocjitsu, show it.
func scaled(f *layout, a, b, c uint64, k int, r Round, flush bool) uint64 {
	neg, mant, e := fused(a, b, c, r)
	var u uint64
	if mant != 0 && !(flush && f.tiny(neg, mant, e+k, r)) {
		u = f.round(neg, mant, e+k, r)
	}
	if neg {
		u |= (f.inf>>(f.p-1) + 1) << (f.p - 1)
	}
	return u
}

// MadF32 returns a*b+c with the product rounded before the sum, as
// v_mad_f32 and v_mac_f32 of gfx90a do. They flush subnormal operands,
// products and results to zeros whatever the mode says.
func (m Mode) MadF32(a, b, c uint32) uint32 {
	m &^= denorm32
	return m.AddF32(m.MulF32(a, b), c)
}

// MulLegacyF32 returns a*b, where a zero operand makes +0 of anything, even
// of an infinity or a NaN (v_mul_legacy_f32, v_mul_dx9_zero_f32).
func (m Mode) MulLegacyF32(a, b uint32) uint32 {
	if m.In32(a)<<1 == 0 || m.In32(b)<<1 == 0 {
		return 0
	}
	return m.MulF32(a, b)
}

// MadLegacyF32 is MadF32 with the product of MulLegacyF32.
func (m Mode) MadLegacyF32(a, b, c uint32) uint32 {
	m &^= denorm32
	return m.AddF32(m.MulLegacyF32(a, b), c)
}

// FmaLegacyF32 is FmaF32 where a zero factor makes the product +0
// (v_fma_legacy_f32, v_fmac_legacy_f32, v_fma_dx9_zero_f32).
func (m Mode) FmaLegacyF32(a, b, c uint32) uint32 {
	if m.In32(a)<<1 == 0 || m.In32(b)<<1 == 0 {
		return m.AddF32(0, c)
	}
	return m.FmaF32(a, b, c)
}

// MullitF32 is v_mullit_f32: -max where b is -max, -infinity or NaN or where
// c is not above zero, MulLegacyF32 of a and b elsewhere.
// Source: AMD, RDNA ISA reference, V_MULLIT_F32.
func (m Mode) MullitF32(a, b, c uint32) uint32 {
	b, c = m.In32(b), m.In32(c)
	if b == sign32|max32 || b == sign32|exp32 || IsNaNF32(b) || IsNaNF32(c) || c&sign32 != 0 || c<<1 == 0 {
		return sign32 | max32
	}
	return m.MulLegacyF32(a, b)
}
