package arith

import "math"

// MinF32 returns the lesser of a and b: of zeros the negative one, of a number
// and a quiet NaN the number; a signalling NaN is returned quiet.
func MinF32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if x < y {
		return a
	}
	if y < x {
		return b
	}
	if x != x {
		if a&quiet32 == 0 {
			return a | quiet32
		}
		if y != y {
			return b | quiet32
		}
		return b
	}
	if y != y {
		if b&quiet32 == 0 {
			return b | quiet32
		}
		return a
	}
	return a | b // equal, or zeros
}

// MaxF32 returns the greater of a and b: of zeros the positive one, with the
// NaN rules of MinF32.
func MaxF32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if y < x {
		return a
	}
	if x < y {
		return b
	}
	if x != x {
		if a&quiet32 == 0 {
			return a | quiet32
		}
		if y != y {
			return b | quiet32
		}
		return b
	}
	if y != y {
		if b&quiet32 == 0 {
			return b | quiet32
		}
		return a
	}
	return a & b // equal, or zeros
}

// pick32 is the minimum and the maximum of a and b, one of them a NaN.
func pick32(a, b uint32, ieee bool) uint32 {
	switch {
	case ieee && isSNaN32(a):
		return a | quiet32
	case ieee && isSNaN32(b):
		return b | quiet32
	case IsNaNF32(a):
		return b
	}
	return a
}

// MinF32 returns the lesser of a and b under the mode: without IEEE a
// signalling NaN counts as a quiet one.
func (m Mode) MinF32(a, b uint32) uint32 {
	a, b = m.In32(a), m.In32(b)
	if m&IEEE == 0 && (IsNaNF32(a) || IsNaNF32(b)) {
		return m.Out32(pick32(a, b, false))
	}
	return m.Out32(MinF32(a, b))
}

// MaxF32 returns the greater of a and b under the mode, as MinF32 does.
func (m Mode) MaxF32(a, b uint32) uint32 {
	a, b = m.In32(a), m.In32(b)
	if m&IEEE == 0 && (IsNaNF32(a) || IsNaNF32(b)) {
		return m.Out32(pick32(a, b, false))
	}
	return m.Out32(MaxF32(a, b))
}

// Min3F32 returns min(min(a, b), c).
func (m Mode) Min3F32(a, b, c uint32) uint32 { return m.MinF32(m.MinF32(a, b), c) }

// Max3F32 returns max(max(a, b), c).
func (m Mode) Max3F32(a, b, c uint32) uint32 { return m.MaxF32(m.MaxF32(a, b), c) }

// MinmaxF32 returns max(min(a, b), c).
func (m Mode) MinmaxF32(a, b, c uint32) uint32 { return m.MaxF32(m.MinF32(a, b), c) }

// MaxminF32 returns min(max(a, b), c).
func (m Mode) MaxminF32(a, b, c uint32) uint32 { return m.MinF32(m.MaxF32(a, b), c) }

// Med3F32 returns the middle one of a, b, c, with -0 below +0, and Min3F32
// where one is a NaN.
func (m Mode) Med3F32(a, b, c uint32) uint32 {
	if IsNaNF32(a) || IsNaNF32(b) || IsNaNF32(c) {
		return m.Min3F32(a, b, c)
	}
	return m.MaxF32(m.MinF32(a, b), m.MinF32(m.MaxF32(a, b), c))
}

// CanonicalizeF32 returns a as max(a, a) gives it: flushed by the mode, and
// with a NaN quiet.
func (m Mode) CanonicalizeF32(a uint32) uint32 {
	if IsNaNF32(a) {
		return a | quiet32
	}
	return m.Out32(m.In32(a))
}

// ClampF32 is the clamp modifier: a limited to [0, 1]. -0 gives +0; a NaN
// gives 0 with DX10_CLAMP and itself without.
func (m Mode) ClampF32(a uint32) uint32 {
	switch {
	case IsNaNF32(a):
		if m&DX10Clamp != 0 {
			return 0
		}
		return a
	case a&sign32 != 0:
		return 0
	case a > one32:
		return one32
	}
	return a
}

// OmodF32 is the output modifier: a times 2, times 4 or halved for omod 1,
// 2, 3. Hardware ignores it where the mode is IEEE or delivers subnormals.
// Otherwise a zero or subnormal gives +0, and what halving makes subnormal a
// zero of its sign.
// Source: AMD, RDNA ISA reference, output modifiers; captures of gfx1030,
// gfx1100 and gfx1201 published with ROCm/rocm-systems, rocjitsu.
func (m Mode) OmodF32(a uint32, omod uint8) uint32 {
	if omod == 0 || m&(IEEE|DenormOut32) != 0 || a&exp32 == exp32 {
		return a
	}
	if a&exp32 == 0 {
		return 0
	}
	return m.MulF32(a, [4]uint32{0, two32, four32, half32}[omod&3])
}

// ClassF32 reports whether the class of a, read under the mode, is in mask:
// bit 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -subnormal,
// 5 -0, 6 +0, 7 +subnormal, 8 +normal, 9 +infinity.
func (m Mode) ClassF32(a uint32, mask uint32) bool {
	return mask>>m.class32(a)&1 != 0
}

func (m Mode) class32(a uint32) uint {
	a = m.In32(a)
	if IsNaNF32(a) {
		if a&quiet32 == 0 {
			return 0
		}
		return 1
	}
	var c uint
	switch u := a &^ sign32; {
	case u == 0:
		c = 6
	case u <= man32:
		c = 7
	case u < exp32:
		c = 8
	default:
		c = 9
	}
	if a&sign32 != 0 {
		c = 11 - c
	}
	return c
}

// F32 reports whether the predicate holds between a and b.
func (p Pred) F32(a, b uint32) bool {
	return p>>order32(a, b)&1 != 0
}

// CmpF32 is p.F32 of a and b read under the mode.
func (m Mode) CmpF32(p Pred, a, b uint32) bool {
	return p.F32(m.In32(a), m.In32(b))
}

// order32 returns the number of the bit of Pred that holds of a and b.
func order32(a, b uint32) uint {
	x, y := f32(a), f32(b)
	switch {
	case x < y:
		return 0
	case x == y:
		return 1
	case x > y:
		return 2
	}
	return 3
}
