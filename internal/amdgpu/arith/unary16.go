package arith

import (
	"math"
	"math/bits"
)

// FloorF16 returns the greatest integer not above a.
func (m Mode) FloorF16(a uint16) uint16 {
	return integral16(a, math.Floor(float64(f32(WideF16(m.In16(a))))))
}

// CeilF16 returns the least integer not below a; in (-1, 0) it is -0.
func (m Mode) CeilF16(a uint16) uint16 {
	return integral16(a, math.Ceil(float64(f32(WideF16(m.In16(a))))))
}

// TruncF16 returns a without its fraction.
func (m Mode) TruncF16(a uint16) uint16 {
	return integral16(a, math.Trunc(float64(f32(WideF16(m.In16(a))))))
}

// RndneF16 returns the integer nearest to a, the even one of two.
func (m Mode) RndneF16(a uint16) uint16 {
	return integral16(a, math.RoundToEven(float64(f32(WideF16(m.In16(a))))))
}

func integral16(a uint16, x float64) uint16 {
	if IsNaNF16(a) {
		return a | quiet16
	}
	return NarrowF32(bits32(float32(x)))
}

// FractF16 returns a-floor(a), below 1 even where the difference rounds to
// it. An infinity gives a NaN.
func (m Mode) FractF16(a uint16) uint16 {
	switch r := m.SubF16(a, m.FloorF16(a)); r {
	case one16:
		return one16 - 1
	case sign16: // when rounding down
		return 0
	default:
		return r
	}
}

// FrexpMantF16 returns the significand of a, of magnitude in [0.5, 1); zeros,
// infinities and NaNs come back.
func (m Mode) FrexpMantF16(a uint16) uint16 {
	a = m.In16(a)
	switch {
	case IsNaNF16(a):
		return a | quiet16
	case a<<1 == 0 || a&exp16 == exp16:
		return a
	}
	u := a & man16
	if a&exp16 == 0 {
		u = u << (bits.LeadingZeros16(u) - 5) & man16
	}
	return a&sign16 | half16 | u
}

// FrexpExpI16F16 returns n for which a is FrexpMantF16(a)*2^n, and 0 for
// zeros, infinities and NaNs.
func (m Mode) FrexpExpI16F16(a uint16) uint16 {
	a = m.In16(a)
	e := int(a & exp16 >> 10)
	switch {
	case a<<1 == 0 || a&exp16 == exp16:
		return 0
	case e == 0:
		e = 5 + 1 - bits.LeadingZeros16(a&man16)
	}
	return uint16(e - 14)
}

// LdexpF16 returns a*2^n, rounded once; n is an int16.
func (m Mode) LdexpF16(a uint16, n uint16) uint16 {
	a = m.In16(a)
	e := int(a & exp16 >> 10)
	switch {
	case e == 31:
		if a&man16 != 0 {
			a |= quiet16
		}
		return a
	case a<<1 == 0:
		return a
	}
	k := int(int16(n))
	if r := e + k; e > 0 && r > 0 && r < 31 {
		return a + uint16(k)<<10
	}
	mant := a & man16
	if e > 0 {
		mant |= man16 + 1
	} else {
		e = 1
	}
	k = max(min(k, 3*31), -3*31)
	if m&DenormOut1664 == 0 && layout16.tiny(a&sign16 != 0, uint64(mant), e+k-25, m.Round1664()) {
		return a & sign16
	}
	r := uint16(layout16.round(a&sign16 != 0, uint64(mant), e+k-25, m.Round1664()))
	return a&sign16 | m.overflow16(r)
}
