package arith

import (
	"math"
	"math/bits"
)

// FloorF32 returns the greatest integer not above a.
func (m Mode) FloorF32(a uint32) uint32 { return integral32(a, math.Floor(float64(f32(m.In32(a))))) }

// CeilF32 returns the least integer not below a; in (-1, 0) it is -0.
func (m Mode) CeilF32(a uint32) uint32 { return integral32(a, math.Ceil(float64(f32(m.In32(a))))) }

// TruncF32 returns a without its fraction.
func (m Mode) TruncF32(a uint32) uint32 { return integral32(a, math.Trunc(float64(f32(m.In32(a))))) }

// RndneF32 returns the integer nearest to a, the even one of two.
func (m Mode) RndneF32(a uint32) uint32 {
	return integral32(a, math.RoundToEven(float64(f32(m.In32(a)))))
}

func integral32(a uint32, x float64) uint32 {
	if IsNaNF32(a) {
		return a | quiet32
	}
	return bits32(float32(x))
}

// FractF32 returns a-floor(a), below 1 even where the difference rounds to
// it. An infinity gives a NaN.
func (m Mode) FractF32(a uint32) uint32 {
	switch r := m.SubF32(a, m.FloorF32(a)); r {
	case one32:
		return one32 - 1
	case sign32: // when rounding down
		return 0
	default:
		return r
	}
}

// FrexpMantF32 returns the significand of a, of magnitude in [0.5, 1); zeros,
// infinities and NaNs come back.
func (m Mode) FrexpMantF32(a uint32) uint32 {
	a = m.In32(a)
	switch {
	case IsNaNF32(a):
		return a | quiet32
	case a<<1 == 0 || a&exp32 == exp32:
		return a
	}
	u := a & man32
	if a&exp32 == 0 {
		u = u << (bits.LeadingZeros32(u) - 8) & man32
	}
	return a&sign32 | half32 | u
}

// FrexpExpI32F32 returns n for which a is FrexpMantF32(a)*2^n, and 0 for
// zeros, infinities and NaNs.
func (m Mode) FrexpExpI32F32(a uint32) uint32 {
	a = m.In32(a)
	e := int(a & exp32 >> 23)
	switch {
	case a<<1 == 0 || a&exp32 == exp32:
		return 0
	case e == 0:
		e = 8 + 1 - bits.LeadingZeros32(a&man32)
	}
	return uint32(e - 126)
}

// LdexpF32 returns a*2^n, rounded once; n is an int32.
func (m Mode) LdexpF32(a uint32, n uint32) uint32 {
	a = m.In32(a)
	e := int(a & exp32 >> 23)
	switch {
	case e == 255:
		if a&man32 != 0 {
			a |= quiet32
		}
		return a
	case a<<1 == 0:
		return a
	}
	k := int(int32(n))
	if r := e + k; e > 0 && r > 0 && r < 255 {
		return a + uint32(k)<<23
	}
	mant := a & man32
	if e > 0 {
		mant |= man32 + 1
	} else {
		e = 1
	}
	k = max(min(k, 3*255), -3*255)
	if m&DenormOut32 == 0 && layout32.tiny(a&sign32 != 0, uint64(mant), e+k-150, m.Round32()) {
		return a & sign32
	}
	r := uint32(layout32.round(a&sign32 != 0, uint64(mant), e+k-150, m.Round32()))
	return a&sign32 | r
}
