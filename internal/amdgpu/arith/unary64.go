package arith

import (
	"math"
	"math/bits"
)

// FloorF64 returns the greatest integer not above a.
func (m Mode) FloorF64(a uint64) uint64 { return integral64(a, math.Floor(f64(m.In64(a)))) }

// CeilF64 returns the least integer not below a; in (-1, 0) it is -0.
func (m Mode) CeilF64(a uint64) uint64 { return integral64(a, math.Ceil(f64(m.In64(a)))) }

// TruncF64 returns a without its fraction.
func (m Mode) TruncF64(a uint64) uint64 { return integral64(a, math.Trunc(f64(m.In64(a)))) }

// RndneF64 returns the integer nearest to a, the even one of two.
func (m Mode) RndneF64(a uint64) uint64 { return integral64(a, math.RoundToEven(f64(m.In64(a)))) }

func integral64(a uint64, x float64) uint64 {
	if IsNaNF64(a) {
		return a | quiet64
	}
	return bits64(x)
}

// FractF64 returns a-floor(a), below 1 even where the difference rounds to
// it. An infinity gives a NaN.
func (m Mode) FractF64(a uint64) uint64 {
	switch r := m.SubF64(a, m.FloorF64(a)); r {
	case one64:
		return one64 - 1
	case sign64: // when rounding down
		return 0
	default:
		return r
	}
}

// FrexpMantF64 returns the significand of a, of magnitude in [0.5, 1); zeros,
// infinities and NaNs come back.
func (m Mode) FrexpMantF64(a uint64) uint64 {
	a = m.In64(a)
	switch {
	case IsNaNF64(a):
		return a | quiet64
	case a<<1 == 0 || a&exp64 == exp64:
		return a
	}
	u := a & man64
	if a&exp64 == 0 {
		u = u << (bits.LeadingZeros64(u) - 11) & man64
	}
	return a&sign64 | half64 | u
}

// FrexpExpI32F64 returns n for which a is FrexpMantF64(a)*2^n, and 0 for
// zeros, infinities and NaNs.
func (m Mode) FrexpExpI32F64(a uint64) uint32 {
	a = m.In64(a)
	e := int(a & exp64 >> 52)
	switch {
	case a<<1 == 0 || a&exp64 == exp64:
		return 0
	case e == 0:
		e = 11 + 1 - bits.LeadingZeros64(a&man64)
	}
	return uint32(e - 1022)
}

// LdexpF64 returns a*2^n, rounded once; n is an int32.
func (m Mode) LdexpF64(a uint64, n uint32) uint64 {
	a = m.In64(a)
	e := int(a & exp64 >> 52)
	switch {
	case e == 2047:
		if a&man64 != 0 {
			a |= quiet64
		}
		return a
	case a<<1 == 0:
		return a
	}
	k := int(int32(n))
	if r := e + k; e > 0 && r > 0 && r < 2047 {
		return a + uint64(k)<<52
	}
	mant := a & man64
	if e > 0 {
		mant |= man64 + 1
	} else {
		e = 1
	}
	k = max(min(k, 3*2047), -3*2047)
	if m&DenormOut1664 == 0 && layout64.tiny(a&sign64 != 0, uint64(mant), e+k-1075, m.Round1664()) {
		return a & sign64
	}
	r := uint64(layout64.round(a&sign64 != 0, uint64(mant), e+k-1075, m.Round1664()))
	return a&sign64 | r
}
