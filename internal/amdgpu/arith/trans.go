package arith

import "math"

// A Model says how the transcendental instructions round.
type Model uint8

// The models.
const (
	// CR gives the correctly rounded result of the mathematical function.
	CR Model = iota
	// PlusULP and MinusULP give the next value above and below that one.
	PlusULP
	MinusULP
	// Random gives one of the three, chosen by seed, instruction and
	// operand: equal operands have equal results, as in hardware.
	Random
)

// A Transcendental computes exp, log, rcp, rsq, sqrt, sin and cos under a
// model. Hardware results lie within one ULP of CR; which way, differs between
// architectures, and the models show whether it matters.
//
// The models do not move zeros, infinities and NaNs, nor results that are
// fixed by rule (2^x = 1 for |x| < 2^-24), nor a result out of the normal
// range or sine and cosine out of [-1, 1]. Nor do they move the reciprocal of
// a significand of all ones: it is the one operand for which the Newton
// division needs it correctly rounded, so hardware has it so.
//
// Specials and flushing follow captures of gfx1100 and gfx1201 published with
// ROCm/rocm-systems, rocjitsu; for other architectures they are not verified.
// The f32 forms of exp, log, rcp, rsq and sqrt flush subnormal operands
// and results whatever the mode says.
type Transcendental struct {
	Model Model
	Seed  uint64
}

// An op is the number of an instruction, for Random.
type op uint64

const (
	opExp op = iota + 1
	opLog
	opRcp
	opRsq
	opSqrt
	opSin
	opCos
)

// ExpF32 returns 2^a, +0 below -126 and 1 where |a| < 2^-24.
func (t Transcendental) ExpF32(a uint32) uint32 {
	r := exp32cr(a)
	if t.Model != CR && a&^sign32 >= 0x3380_0000 {
		r = t.move32(opExp, a, r)
	}
	return r
}

// LogF32 returns the binary logarithm of a: -infinity for zeros and
// subnormals, a NaN below.
func (t Transcendental) LogF32(a uint32) uint32 {
	r := log32cr(a)
	if t.Model != CR {
		r = t.move32(opLog, a, r)
	}
	return r
}

// RcpF32 returns 1/a, an infinity for zeros and subnormals.
func (t Transcendental) RcpF32(a uint32) uint32 {
	r := rcp32cr(a)
	if t.Model != CR {
		r = t.move32(opRcp, a, r)
	}
	return r
}

// RsqF32 returns 1/sqrt(a), an infinity for zeros and subnormals, a NaN below.
func (t Transcendental) RsqF32(a uint32) uint32 {
	r := rsq32cr(a)
	if t.Model != CR {
		r = t.move32(opRsq, a, r)
	}
	return r
}

// SqrtF32 returns the square root of a, a zero of its sign for zeros and
// subnormals, a NaN below.
func (t Transcendental) SqrtF32(a uint32) uint32 {
	r := sqrt32cr(a)
	if t.Model != CR {
		r = t.move32(opSqrt, a, r)
	}
	return r
}

// SinF32 returns the sine of a turns, that is sin(2*pi*a), and a NaN for
// infinities. Subnormals are kept or flushed by the mode.
func (t Transcendental) SinF32(m Mode, a uint32) uint32 {
	r := m.Out32(turn32cr(m.In32(a), 0))
	if t.Model != CR {
		r = t.move32(opSin, a, r)
	}
	return r
}

// CosF32 returns the cosine of a turns, as SinF32.
func (t Transcendental) CosF32(m Mode, a uint32) uint32 {
	r := turn32cr(m.In32(a), 1)
	if t.Model != CR {
		r = t.move32(opCos, a, r)
	}
	return r
}

// RcpIflagF32 is v_rcp_iflag_f32, which differs from RcpF32 in the exception
// it raises and not in its result.
func (t Transcendental) RcpIflagF32(a uint32) uint32 { return t.RcpF32(a) }

// ExpLegacyF32 is v_exp_legacy_f32 of gfx90a, taken to be ExpF32.
func (t Transcendental) ExpLegacyF32(a uint32) uint32 { return t.ExpF32(a) }

// LogLegacyF32 is v_log_legacy_f32 of gfx90a, taken to be LogF32.
func (t Transcendental) LogLegacyF32(a uint32) uint32 { return t.LogF32(a) }

// The f16 forms compute in f32, then round once to nearest even whatever the
// mode says; operands and results are flushed by the f16 denormal mode. exp
// and log round the function itself to f16.

// ExpF16 returns 2^a.
func (t Transcendental) ExpF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	if t.Model == CR || a&^sign16 == 0 || a&exp16 == exp16 {
		return m.half(a, exp16cr(a))
	}
	return m.half(a, t.move32(opExp, WideF16(a), exp16cr(a)))
}

// LogF16 returns the binary logarithm of a.
func (t Transcendental) LogF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	r := log16cr(a)
	if t.Model != CR {
		r = t.move32(opLog, WideF16(a), r)
	}
	return m.half(a, r)
}

// RcpF16 returns 1/a.
func (t Transcendental) RcpF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	return m.half(a, t.RcpF32(WideF16(a)))
}

// RsqF16 returns 1/sqrt(a).
func (t Transcendental) RsqF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	return m.half(a, t.RsqF32(WideF16(a)))
}

// SqrtF16 returns the square root of a.
func (t Transcendental) SqrtF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	return m.half(a, t.SqrtF32(WideF16(a)))
}

// SinF16 returns the sine of a turns.
func (t Transcendental) SinF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	return m.half(a, t.SinF32(m|denorm32, WideF16(a)))
}

// CosF16 returns the cosine of a turns.
func (t Transcendental) CosF16(m Mode, a uint16) uint16 {
	a = m.In16(a)
	return m.half(a, t.CosF32(m|denorm32, WideF16(a)))
}

// half delivers r as the f16 result of an instruction on a.
func (m Mode) half(a uint16, r uint32) uint16 {
	h := NarrowF32(r)
	if a&exp16 != exp16 {
		h = m.overflow16(h)
	}
	return m.Out16(h)
}

// RcpF64 returns 1/a, correctly rounded where hardware has a seed only.
func (t Transcendental) RcpF64(m Mode, a uint64) uint64 {
	a = m.In64(a)
	if IsNaNF64(a) {
		return a | quiet64
	}
	return m.Out64(t.move64(opRcp, a, bits64(1/f64(a))))
}

// RsqF64 returns 1/sqrt(a), correctly rounded where hardware has a seed only.
func (t Transcendental) RsqF64(m Mode, a uint64) uint64 {
	a = m.In64(a)
	return t.move64(opRsq, a, rsq64cr(a))
}

// SqrtF64 returns the square root of a, correctly rounded.
func (t Transcendental) SqrtF64(m Mode, a uint64) uint64 {
	a = m.In64(a)
	switch {
	case IsNaNF64(a):
		return a | quiet64
	case a<<1 != 0 && a&sign64 != 0:
		return nan64
	}
	return t.move64(opSqrt, a, bits64(math.Sqrt(f64(a))))
}

// step returns -1, 0 or 1, the move of the result of o on the operand a.
func (t Transcendental) step(o op, a uint64) int {
	switch t.Model {
	case PlusULP:
		return 1
	case MinusULP:
		return -1
	case Random:
		// The finaliser of MurmurHash3, twice.
		h := t.Seed + uint64(o)*0x9e3779b97f4a7c15
		for range 2 {
			h ^= a
			h = (h ^ h>>33) * 0xff51afd7ed558ccd
			h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
			h ^= h >> 33
		}
		return int(h%3) - 1
	}
	return 0
}

// move32 returns r moved as the model says.
func (t Transcendental) move32(o op, a, r uint32) uint32 {
	u := r &^ sign32
	if u < man32+1 || u >= exp32 || o == opRcp && a&man32 == man32 {
		return r
	}
	d := t.step(o, uint64(a))
	if r&sign32 != 0 {
		d = -d // towards +infinity is towards zero
	}
	v := u + uint32(int32(d))
	if v < man32+1 || v >= exp32 || v > one32 && (o == opSin || o == opCos) {
		return r
	}
	return r&sign32 | v
}

// move64 is move32 for f64.
func (t Transcendental) move64(o op, a, r uint64) uint64 {
	u := r &^ sign64
	if t.Model == CR || u < man64+1 || u >= exp64 || o == opRcp && a&man64 == man64 {
		return r
	}
	d := t.step(o, a)
	if r&sign64 != 0 {
		d = -d
	}
	v := u + uint64(int64(d))
	if v < man64+1 || v >= exp64 {
		return r
	}
	return r&sign64 | v
}
