package arith

// MinF16 returns the lesser of a and b: of zeros the negative one, of a number
// and a quiet NaN the number; a signalling NaN is returned quiet.
func MinF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return pick16(a, b, true)
	}
	if key16(a) < key16(b) {
		return a
	}
	return b
}

// MaxF16 returns the greater of a and b: of zeros the positive one, with the
// NaN rules of MinF16.
func MaxF16(a, b uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) {
		return pick16(a, b, true)
	}
	if key16(a) > key16(b) {
		return a
	}
	return b
}

// pick16 is the minimum and the maximum of a and b, one of them a NaN.
func pick16(a, b uint16, ieee bool) uint16 {
	switch {
	case ieee && isSNaN16(a):
		return a | quiet16
	case ieee && isSNaN16(b):
		return b | quiet16
	case IsNaNF16(a):
		return b
	}
	return a
}

// MinF16 returns the lesser of a and b under the mode: without IEEE a
// signalling NaN counts as a quiet one.
func (m Mode) MinF16(a, b uint16) uint16 {
	a, b = m.In16(a), m.In16(b)
	if m&IEEE == 0 && (IsNaNF16(a) || IsNaNF16(b)) {
		return m.Out16(pick16(a, b, false))
	}
	return m.Out16(MinF16(a, b))
}

// MaxF16 returns the greater of a and b under the mode, as MinF16 does.
func (m Mode) MaxF16(a, b uint16) uint16 {
	a, b = m.In16(a), m.In16(b)
	if m&IEEE == 0 && (IsNaNF16(a) || IsNaNF16(b)) {
		return m.Out16(pick16(a, b, false))
	}
	return m.Out16(MaxF16(a, b))
}

// Min3F16 returns min(min(a, b), c).
func (m Mode) Min3F16(a, b, c uint16) uint16 { return m.MinF16(m.MinF16(a, b), c) }

// Max3F16 returns max(max(a, b), c).
func (m Mode) Max3F16(a, b, c uint16) uint16 { return m.MaxF16(m.MaxF16(a, b), c) }

// MinmaxF16 returns max(min(a, b), c).
func (m Mode) MinmaxF16(a, b, c uint16) uint16 { return m.MaxF16(m.MinF16(a, b), c) }

// MaxminF16 returns min(max(a, b), c).
func (m Mode) MaxminF16(a, b, c uint16) uint16 { return m.MinF16(m.MaxF16(a, b), c) }

// Med3F16 returns the middle one of a, b, c, with -0 below +0, and Min3F16
// where one is a NaN.
func (m Mode) Med3F16(a, b, c uint16) uint16 {
	if IsNaNF16(a) || IsNaNF16(b) || IsNaNF16(c) {
		return m.Min3F16(a, b, c)
	}
	return m.MaxF16(m.MinF16(a, b), m.MinF16(m.MaxF16(a, b), c))
}

// CanonicalizeF16 returns a as max(a, a) gives it: flushed by the mode, and
// with a NaN quiet.
func (m Mode) CanonicalizeF16(a uint16) uint16 {
	if IsNaNF16(a) {
		return a | quiet16
	}
	return m.Out16(m.In16(a))
}

// ClampF16 is the clamp modifier: a limited to [0, 1]. -0 gives +0; a NaN
// gives 0 with DX10_CLAMP and itself without.
func (m Mode) ClampF16(a uint16) uint16 {
	switch {
	case IsNaNF16(a):
		if m&DX10Clamp != 0 {
			return 0
		}
		return a
	case a&sign16 != 0:
		return 0
	case a > one16:
		return one16
	}
	return a
}

// OmodF16 is the output modifier: a times 2, times 4 or halved for omod 1,
// 2, 3. Hardware ignores it where the mode is IEEE or delivers subnormals.
// Otherwise a zero or subnormal gives +0, and what halving makes subnormal a
// zero of its sign.
// Source: AMD, RDNA ISA reference, output modifiers; captures of gfx1030,
// gfx1100 and gfx1201 published with ROCm/rocm-systems, rocjitsu.
func (m Mode) OmodF16(a uint16, omod uint8) uint16 {
	if omod == 0 || m&(IEEE|DenormOut1664) != 0 || a&exp16 == exp16 {
		return a
	}
	if a&exp16 == 0 {
		return 0
	}
	return m.MulF16(a, [4]uint16{0, two16, four16, half16}[omod&3])
}

// ClassF16 reports whether the class of a, read under the mode, is in mask:
// bit 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 -normal, 4 -subnormal,
// 5 -0, 6 +0, 7 +subnormal, 8 +normal, 9 +infinity.
func (m Mode) ClassF16(a uint16, mask uint32) bool {
	return mask>>m.class16(a)&1 != 0
}

func (m Mode) class16(a uint16) uint {
	a = m.In16(a)
	if IsNaNF16(a) {
		if a&quiet16 == 0 {
			return 0
		}
		return 1
	}
	var c uint
	switch u := a &^ sign16; {
	case u == 0:
		c = 6
	case u <= man16:
		c = 7
	case u < exp16:
		c = 8
	default:
		c = 9
	}
	if a&sign16 != 0 {
		c = 11 - c
	}
	return c
}

// F16 reports whether the predicate holds between a and b.
func (p Pred) F16(a, b uint16) bool {
	return p>>order16(a, b)&1 != 0
}

// CmpF16 is p.F16 of a and b read under the mode.
func (m Mode) CmpF16(p Pred, a, b uint16) bool {
	return p.F16(m.In16(a), m.In16(b))
}

// key16 orders the f16 that are no NaN, with -0 below +0.
func key16(a uint16) int16 { return int16(a ^ uint16(int16(a)>>15)&^sign16) }

// order16 returns the number of the bit of Pred that holds of a and b.
func order16(a, b uint16) uint {
	switch {
	case IsNaNF16(a) || IsNaNF16(b):
		return 3
	case a == b || (a|b)&^sign16 == 0:
		return 1
	case key16(a) < key16(b):
		return 0
	}
	return 2
}
