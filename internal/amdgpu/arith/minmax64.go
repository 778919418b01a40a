package arith

import "math"

// MinF64 returns the lesser of a and b: of zeros the negative one, of a number
// and a quiet NaN the number; a signalling NaN is returned quiet.
func MinF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if x < y {
		return a
	}
	if y < x {
		return b
	}
	if x != x {
		if a&quiet64 == 0 {
			return a | quiet64
		}
		if y != y {
			return b | quiet64
		}
		return b
	}
	if y != y {
		if b&quiet64 == 0 {
			return b | quiet64
		}
		return a
	}
	return a | b // equal, or zeros
}

// MaxF64 returns the greater of a and b: of zeros the positive one, with the
// NaN rules of MinF64.
func MaxF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if y < x {
		return a
	}
	if x < y {
		return b
	}
	if x != x {
		if a&quiet64 == 0 {
			return a | quiet64
		}
		if y != y {
			return b | quiet64
		}
		return b
	}
	if y != y {
		if b&quiet64 == 0 {
			return b | quiet64
		}
		return a
	}
	return a & b // equal, or zeros
}

// pick64 is the minimum and the maximum of a and b, one of them a NaN.
func pick64(a, b uint64, ieee bool) uint64 {
	switch {
	case ieee && isSNaN64(a):
		return a | quiet64
	case ieee && isSNaN64(b):
		return b | quiet64
	case IsNaNF64(a):
		return b
	}
	return a
}

// MinF64 returns the lesser of a and b under the mode: without IEEE a
// signalling NaN counts as a quiet one.
func (m Mode) MinF64(a, b uint64) uint64 {
	a, b = m.In64(a), m.In64(b)
	if m&IEEE == 0 && (IsNaNF64(a) || IsNaNF64(b)) {
		return m.Out64(pick64(a, b, false))
	}
	return m.Out64(MinF64(a, b))
}

// MaxF64 returns the greater of a and b under the mode, as MinF64 does.
func (m Mode) MaxF64(a, b uint64) uint64 {
	a, b = m.In64(a), m.In64(b)
	if m&IEEE == 0 && (IsNaNF64(a) || IsNaNF64(b)) {
		return m.Out64(pick64(a, b, false))
	}
	return m.Out64(MaxF64(a, b))
}

// Min3F64 returns min(min(a, b), c).
func (m Mode) Min3F64(a, b, c uint64) uint64 { return m.MinF64(m.MinF64(a, b), c) }

// Max3F64 returns max(max(a, b), c).
func (m Mode) Max3F64(a, b, c uint64) uint64 { return m.MaxF64(m.MaxF64(a, b), c) }

// MinmaxF64 returns max(min(a, b), c).
func (m Mode) MinmaxF64(a, b, c uint64) uint64 { return m.MaxF64(m.MinF64(a, b), c) }

// MaxminF64 returns min(max(a, b), c).
func (m Mode) MaxminF64(a, b, c uint64) uint64 { return m.MinF64(m.MaxF64(a, b), c) }

// Med3F64 returns the middle one of a, b, c, with -0 below +0, and Min3F64
// where one is a NaN.
func (m Mode) Med3F64(a, b, c uint64) uint64 {
	if IsNaNF64(a) || IsNaNF64(b) || IsNaNF64(c) {
		return m.Min3F64(a, b, c)
	}
	return m.MaxF64(m.MinF64(a, b), m.MinF64(m.MaxF64(a, b), c))
}

// CanonicalizeF64 returns a as max(a, a) gives it: flushed by the mode, and
// with a NaN quiet.
func (m Mode) CanonicalizeF64(a uint64) uint64 {
	if IsNaNF64(a) {
		return a | quiet64
	}
	return m.Out64(m.In64(a))
}

// ClampF64 is the clamp modifier: a limited to [0, 1]. -0 gives +0; a NaN
// gives 0 with DX10_CLAMP and itself without.
func (m Mode) ClampF64(a uint64) uint64 {
	switch {
	case IsNaNF64(a):
		if m&DX10Clamp != 0 {
			return 0
		}
		return a
	case a&sign64 != 0:
		return 0
	case a > one64:
		return one64
	}
	return a
}

// OmodF64 is the output modifier: a times 2, times 4 or halved for omod 1,
// 2, 3. Hardware ignores it where the mode is IEEE or delivers subnormals.
// Otherwise a zero or subnormal gives +0, and what halving makes subnormal a
// zero of its sign.
// Source: AMD, RDNA ISA reference, output modifiers; captures of gfx1030,
// gfx1100 and gfx1201 published with ROCm/rocm-systems, rocjitsu.
func (m Mode) OmodF64(a uint64, omod uint8) uint64 {
	if omod == 0 || m&(IEEE|DenormOut1664) != 0 || a&exp64 == exp64 {
		return a
	}
	if a&exp64 == 0 {
		return 0
	}
	return m.MulF64(a, [4]uint64{0, two64, four64, half64}[omod&3])
}

// ClassF64 reports whether the class of a, read under the mode, is in mask:
// bit 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -subnormal,
// 5 -0, 6 +0, 7 +subnormal, 8 +normal, 9 +infinity.
func (m Mode) ClassF64(a uint64, mask uint32) bool {
	return mask>>m.class64(a)&1 != 0
}

func (m Mode) class64(a uint64) uint {
	a = m.In64(a)
	if IsNaNF64(a) {
		if a&quiet64 == 0 {
			return 0
		}
		return 1
	}
	var c uint
	switch u := a &^ sign64; {
	case u == 0:
		c = 6
	case u <= man64:
		c = 7
	case u < exp64:
		c = 8
	default:
		c = 9
	}
	if a&sign64 != 0 {
		c = 11 - c
	}
	return c
}

// F64 reports whether the predicate holds between a and b.
func (p Pred) F64(a, b uint64) bool {
	return p>>order64(a, b)&1 != 0
}

// CmpF64 is p.F64 of a and b read under the mode.
func (m Mode) CmpF64(p Pred, a, b uint64) bool {
	return p.F64(m.In64(a), m.In64(b))
}

// order64 returns the number of the bit of Pred that holds of a and b.
func order64(a, b uint64) uint {
	x, y := f64(a), f64(b)
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
