package arith

import "math"

// WideF16 returns the f32 of the same value as a; a NaN keeps its payload
// and becomes quiet.
func WideF16(a uint16) uint32 {
	s := uint32(a&sign16) << 16
	u := uint32(a &^ sign16)
	switch {
	case u-man16-1 < exp16-man16-1:
		return s | (u<<13 + 112<<23)
	case u < man16+1:
		return s | bits32(float32(int32(u))*0x1p-24)
	case u == exp16:
		return s | exp32
	}
	return s | exp32 | quiet32 | u<<13&man32
}

// NarrowF32 returns a rounded to f16, to nearest even, with subnormals and
// infinities. A NaN keeps the upper bits of its payload and becomes quiet.
func NarrowF32(a uint32) uint16 {
	s := uint16(a >> 16 & sign16)
	u := a &^ sign32
	switch {
	case u-0x3880_0000 < 0x4780_0000-0x3880_0000:
		// A carry out of the largest binade gives infinity.
		return s | uint16((u-112<<23+0xfff+u>>13&1)>>13)
	case u < 0x3880_0000:
		// The f32 in [0.5, 1) are 2^-24 apart, as the subnormal f16 are.
		return s | uint16(bits32(f32(u)+0.5)-0x3f00_0000)
	case u > exp32:
		return s | exp16 | quiet16 | uint16(u>>13&man16)
	}
	return s | exp16
}

// odd32 returns the f32 nearest to x rounded to odd, for x that is 0, not
// finite or at least 2^-126 in magnitude. Narrowing it to f16 rounds x once.
func odd32(x float64) uint32 {
	r := float32(x)
	if d := float64(r); d != x && x-x == 0 {
		u := bits32(r)
		if u&1 == 0 {
			if (d < x) == (x > 0) {
				return u + 1
			}
			return u - 1
		}
	}
	return bits32(r)
}

// AddF16 returns a+b, rounded to nearest even.
//
// f32 has 24 >= 2*11+2 bits: rounding sums and products to f32 first does
// not change the f16.
func AddF16(a, b uint16) uint16 {
	r := f32(WideF16(a)) + f32(WideF16(b))
	if r != r {
		return invalid16(a, b, b)
	}
	return NarrowF32(bits32(r))
}

// SubF16 returns a-b, rounded to nearest even.
func SubF16(a, b uint16) uint16 {
	r := f32(WideF16(a)) - f32(WideF16(b))
	if r != r {
		return invalid16(a, b, b)
	}
	return NarrowF32(bits32(r))
}

// MulF16 returns a*b, rounded to nearest even.
func MulF16(a, b uint16) uint16 {
	r := float32(f32(WideF16(a)) * f32(WideF16(b)))
	if r != r {
		return invalid16(a, b, b)
	}
	return NarrowF32(bits32(r))
}

// FmaF16 returns a*b+c, rounded once to nearest even.
func FmaF16(a, b, c uint16) uint16 {
	// The product is exact in f32, and the sum keeps a remainder by rounding
	// to odd, twice.
	p := float32(f32(WideF16(a)) * f32(WideF16(b)))
	s := sumOdd(float64(p), float64(f32(WideF16(c))))
	if s != s {
		return invalid16(a, b, c)
	}
	return NarrowF32(odd32(s))
}

// AddF16 returns a+b under the mode.
func (m Mode) AddF16(a, b uint16) uint16 {
	if m.Default1664() {
		return AddF16(a, b)
	}
	return m.fma16(AddF16(m.In16(a), m.In16(b)), a, one16, b)
}

// SubF16 returns a-b under the mode.
func (m Mode) SubF16(a, b uint16) uint16 {
	if m.Default1664() {
		return SubF16(a, b)
	}
	return m.fma16(SubF16(m.In16(a), m.In16(b)), a, one16, b^sign16)
}

// MulF16 returns a*b under the mode.
func (m Mode) MulF16(a, b uint16) uint16 {
	if m.Default1664() {
		return MulF16(a, b)
	}
	return m.fma16(MulF16(m.In16(a), m.In16(b)), a, b, (a^b)&sign16)
}

// FmaF16 returns a*b+c, rounded once, under the mode.
func (m Mode) FmaF16(a, b, c uint16) uint16 {
	if m.Default1664() {
		return FmaF16(a, b, c)
	}
	return m.fma16(FmaF16(m.In16(a), m.In16(b), m.In16(c)), a, b, c)
}

// fma16 is a*b+c as m rounds it; even is its value to nearest even, which is
// the answer where an operand is not finite.
func (m Mode) fma16(even, a, b, c uint16) uint16 {
	a, b, c = m.In16(a), m.In16(b), m.In16(c)
	if a&exp16 == exp16 || b&exp16 == exp16 || c&exp16 == exp16 {
		return even
	}
	return m.overflow16(uint16(scaled(&layout16, wide16(a), wide16(b), wide16(c), 0, m.Round1664(), m&DenormOut1664 == 0)))
}

func wide16(a uint16) uint64 { return math.Float64bits(float64(f32(WideF16(a)))) }

// overflow16 is the effect of FP16_OVFL on an f16 result of finite operands.
func (m Mode) overflow16(a uint16) uint16 {
	if m&FP16Overflow != 0 && a&^sign16 == exp16 {
		return a - 1
	}
	return a
}

// MadF16 returns a*b+c with the product rounded before the sum, as
// v_mad_f16 and v_mac_f16 of gfx90a do, which flush subnormals.
func (m Mode) MadF16(a, b, c uint16) uint16 {
	m &^= denorm1664
	return m.AddF16(m.MulF16(a, b), c)
}

// FmaMixF16 is v_fma_mixlo_f16 and v_fma_mixhi_f16 on operands already
// widened to f32: an f32 fma, then a rounding to f16.
// Source: LLVM selects them for fptrunc(fma), which rounds twice.
func (m Mode) FmaMixF16(a, b, c uint32) uint16 {
	return m.CvtF16F32(m.FmaF32(a, b, c))
}

// CvtF16F32 returns a rounded to f16 under the mode.
func (m Mode) CvtF16F32(a uint32) uint16 {
	a = m.In32(a)
	if m.Default1664() || a&exp32 == exp32 {
		return NarrowF32(a)
	}
	return m.overflow16(uint16(scaled(&layout16, wide32(a), one64, uint64(a&sign32)<<32, 0, m.Round1664(), m&DenormOut1664 == 0)))
}

// CvtF32F16 returns the f32 of the same value as a, a read under the mode.
func (m Mode) CvtF32F16(a uint16) uint32 {
	return m.Out32(WideF16(m.In16(a)))
}
