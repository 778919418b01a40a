package arith

// IEEE division takes one sequence of instructions on every architecture:
//
//	d = div_scale(b, b, a); r = rcp(d); Newton steps on r
//	n = div_scale(a, b, a); q = n*r; e = fma(-d, q, n); ...
//	q = div_fmas(e, r, q); result = div_fixup(q, b, a)
//
// The steps between need that no operand, quotient or remainder leaves the
// normal range. div_scale moves numerator or denominator by a power of two
// where they would, and sets a flag where that moves the quotient; div_fmas
// then moves it back, in the last rounding; div_fixup settles the sign and
// the operands for which the sequence means nothing.
//
// The thresholds of div_scale, which the ISA references do not give rightly,
// are those checked on physical gfx1100 and gfx1201 by ROCm/rocm-systems,
// rocjitsu. div_fmas rounds once.

// A scaling is the constants of div_scale for one format: fields of the
// exponent, and the power of two it scales by.
type scaling struct {
	step int // scale by 2^±step
	far  int // exponents of a and b further apart move the quotient
	tiny int // up to this exponent field a loses bits of the remainder
	bias int // of the exponent field
}

var (
	scaling32 = scaling{step: 64, far: 96, tiny: 24, bias: 127}
	scaling64 = scaling{step: 128, far: 768, tiny: 53, bias: 1023}
)

// choose returns the powers of two by which to scale denominator and
// numerator of a/b, given their exponent fields, and whether the quotient
// is moved.
func (s *scaling) choose(eb, ea int) (b, a int, moved bool) {
	large := eb >= 2*s.bias-1 // 1/b is subnormal
	small := ea-eb <= -s.far
	switch {
	case ea-eb >= s.far:
		return s.step, 0, true
	case eb == 0:
		return s.step, s.step, false
	case large && small:
		return -s.step, 0, true
	case large:
		return -s.step, -s.step, false
	case small:
		return 0, s.step, true
	case ea <= s.tiny:
		return s.step, s.step, false
	}
	return 0, 0, false
}

// DivScaleF32 is v_div_scale_f32: it returns s, which is the denominator b or
// the numerator a, scaled for the division a/b, and the flag for DivFmasF32.
func (m Mode) DivScaleF32(s, b, a uint32) (uint32, bool) {
	s, b, a = m.In32(s), m.In32(b), m.In32(a)
	kb, ka, moved := scaling32.choose(int(b>>23&0xff), int(a>>23&0xff))
	if b<<1 == 0 || a<<1 == 0 {
		return nan32, moved
	}
	k := ka
	if s == b {
		k = kb
	}
	return m.LdexpF32(s, uint32(int32(k))), moved
}

// DivScaleF64 is v_div_scale_f64, as DivScaleF32.
func (m Mode) DivScaleF64(s, b, a uint64) (uint64, bool) {
	s, b, a = m.In64(s), m.In64(b), m.In64(a)
	kb, ka, moved := scaling64.choose(int(b>>52&0x7ff), int(a>>52&0x7ff))
	if b<<1 == 0 || a<<1 == 0 {
		return nan64, moved
	}
	k := ka
	if s == b {
		k = kb
	}
	return m.LdexpF64(s, uint32(int32(k))), moved
}

// denormIn is for div_fmas and div_fixup, which read quotients unflushed.
const denormIn = DenormIn32 | DenormIn1664

// DivFmasF32 is v_div_fmas_f32: e*r+q, and where moved is set that times the
// power of two which undoes DivScaleF32, up for a large q and down for a
// small one, in one rounding.
func (m Mode) DivFmasF32(e, r, q uint32, moved bool) uint32 {
	if !moved || e&exp32 == exp32 || r&exp32 == exp32 || q&exp32 == exp32 {
		return (m | denormIn).FmaF32(e, r, q)
	}
	k := -scaling32.step
	if q>>23&0xff > 127 {
		k = scaling32.step
	}
	return uint32(scaled(&layout32, wide32(e), wide32(r), wide32(q), k, m.Round32(), m&DenormOut32 == 0))
}

// DivFmasF64 is v_div_fmas_f64, as DivFmasF32.
func (m Mode) DivFmasF64(e, r, q uint64, moved bool) uint64 {
	if !moved || e&exp64 == exp64 || r&exp64 == exp64 || q&exp64 == exp64 {
		return (m | denormIn).FmaF64(e, r, q)
	}
	k := -scaling64.step
	if q>>52&0x7ff > 1023 {
		k = scaling64.step
	}
	return scaled(&layout64, e, r, q, k, m.Round1664(), m&DenormOut1664 == 0)
}

// DivFixupF32 is v_div_fixup_f32: the quotient a/b, given its magnitude q as
// the sequence found it.
func (m Mode) DivFixupF32(q, b, a uint32) uint32 {
	b, a = m.In32(b), m.In32(a)
	sign := (a ^ b) & sign32
	ua, ub := a&^sign32, b&^sign32
	switch {
	case ua > exp32:
		return a | quiet32
	case ub > exp32:
		return b | quiet32
	case ua == 0 && ub == 0 || ua == exp32 && ub == exp32:
		return nan32
	case ub == 0 || ua == exp32:
		return sign | exp32
	case ua == 0 || ub == exp32:
		return sign
	case int(ua>>23)-int(ub>>23) < -150:
		return m.Out32(sign | uint32(layout32.round(sign != 0, 1, -200, m.Round32())))
	}
	if q&exp32 == exp32 {
		// The quotient is beyond the range that the scaling left it.
		return sign | uint32(layout32.round(sign != 0, 1, 200, m.Round32()))
	}
	return sign | q&^sign32
}

// DivFixupF64 is v_div_fixup_f64, as DivFixupF32.
func (m Mode) DivFixupF64(q, b, a uint64) uint64 {
	b, a = m.In64(b), m.In64(a)
	sign := (a ^ b) & sign64
	ua, ub := a&^sign64, b&^sign64
	switch {
	case ua > exp64:
		return a | quiet64
	case ub > exp64:
		return b | quiet64
	case ua == 0 && ub == 0 || ua == exp64 && ub == exp64:
		return nan64
	case ub == 0 || ua == exp64:
		return sign | exp64
	case ua == 0 || ub == exp64:
		return sign
	case int(ua>>52)-int(ub>>52) < -1075:
		return m.Out64(sign | layout64.round(sign != 0, 1, -1200, m.Round1664()))
	}
	if q&exp64 == exp64 {
		// The quotient is beyond the range that the scaling left it.
		return sign | layout64.round(sign != 0, 1, 1200, m.Round1664())
	}
	return sign | q&^sign64
}

// DivFixupF16 is v_div_fixup_f16, as DivFixupF32.
func (m Mode) DivFixupF16(q, b, a uint16) uint16 {
	q, b, a = m.In16(q), m.In16(b), m.In16(a)
	sign := (a ^ b) & sign16
	ua, ub := a&^sign16, b&^sign16
	switch {
	case ua > exp16:
		return a | quiet16
	case ub > exp16:
		return b | quiet16
	case ua == 0 && ub == 0 || ua == exp16 && ub == exp16:
		return nan16
	case ub == 0 || ua == exp16:
		return sign | exp16
	case ua == 0 || ub == exp16:
		return sign
	}
	return m.Out16(sign | q&^sign16)
}
