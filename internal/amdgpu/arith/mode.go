package arith

// A Mode is the part of a wave's MODE register that steers floating-point
// arithmetic, with the bits where hardware has them, so that a simulator
// may convert the register by masking: Mode(reg & ModeMask).
//
//	 1:0   round of f32             (Round)
//	 3:2   round of f16 and f64     (Round)
//	 5:4   denormals of f32         (bit 4: inputs kept, bit 5: results kept)
//	 7:6   denormals of f16 and f64 (bit 6: inputs kept, bit 7: results kept)
//	 8     DX10_CLAMP: a clamped NaN becomes 0
//	 9     IEEE: min and max quiet a signalling NaN operand and return it
//	23     FP16_OVFL: an f16 overflow gives the largest finite value
//
// Source: LLVM, User Guide for AMDGPU Backend, compute_pgm_rsrc1.
type Mode uint32

// ModeMask selects the bits of the MODE register that a Mode holds.
const ModeMask = 0x8003ff

// The flags of a Mode.
const (
	DenormIn32    Mode = 1 << 4
	DenormOut32   Mode = 1 << 5
	DenormIn1664  Mode = 1 << 6
	DenormOut1664 Mode = 1 << 7
	DX10Clamp     Mode = 1 << 8
	IEEE          Mode = 1 << 9
	FP16Overflow  Mode = 1 << 23

	denorm32   = DenormIn32 | DenormOut32
	denorm1664 = DenormIn1664 | DenormOut1664
)

// DefaultMode is what clang puts into kernel descriptors for gfx90a, gfx1030
// and gfx1100: round to nearest even, no flushing, DX10_CLAMP and IEEE set.
// The functions that take no Mode compute under it.
const DefaultMode = denorm32 | denorm1664 | DX10Clamp | IEEE

// A Round is a rounding direction, with hardware's numbers.
type Round uint8

// The rounding directions.
const (
	RoundEven  Round = iota // to nearest, ties to even
	RoundUp                 // towards +infinity
	RoundDown               // towards -infinity
	RoundTrunc              // towards zero
)

// ModeOf returns the initial mode in the word compute_pgm_rsrc1 of a kernel
// descriptor: float_mode in bits 19:12, DX10_CLAMP 21, IEEE 23, FP16_OVFL 26.
func ModeOf(rsrc1 uint32) Mode {
	m := Mode(rsrc1>>12) & 0xff
	m |= Mode(rsrc1>>21&1) << 8
	m |= Mode(rsrc1>>23&1) << 9
	m |= Mode(rsrc1>>26&1) << 23
	return m
}

// Round32 returns the rounding direction of f32 results.
func (m Mode) Round32() Round { return Round(m & 3) }

// Round1664 returns the rounding direction of f16 and f64 results.
func (m Mode) Round1664() Round { return Round(m >> 2 & 3) }

// Default32 reports whether the functions on f32 that take no Mode give
// this mode's results.
func (m Mode) Default32() bool {
	return m&(3|denorm32|IEEE) == denorm32|IEEE
}

// Default1664 reports whether the functions on f16 and f64 that take no Mode
// give this mode's results.
func (m Mode) Default1664() bool {
	return m&(3<<2|denorm1664|IEEE|FP16Overflow) == denorm1664|IEEE
}

// In32 returns a as an instruction reads it: a subnormal becomes a zero of
// its sign where the mode flushes f32 inputs.
func (m Mode) In32(a uint32) uint32 {
	if m&DenormIn32 == 0 && a&exp32 == 0 {
		return a & sign32
	}
	return a
}

// Out32 returns a as an instruction delivers it: a subnormal becomes a zero
// of its sign where the mode flushes f32 results.
func (m Mode) Out32(a uint32) uint32 {
	if m&DenormOut32 == 0 && a&exp32 == 0 {
		return a & sign32
	}
	return a
}

// In16 is In32 for f16.
func (m Mode) In16(a uint16) uint16 {
	if m&DenormIn1664 == 0 && a&exp16 == 0 {
		return a & sign16
	}
	return a
}

// Out16 is Out32 for f16.
func (m Mode) Out16(a uint16) uint16 {
	if m&DenormOut1664 == 0 && a&exp16 == 0 {
		return a & sign16
	}
	return a
}

// In64 is In32 for f64.
func (m Mode) In64(a uint64) uint64 {
	if m&DenormIn1664 == 0 && a&exp64 == 0 {
		return a & sign64
	}
	return a
}

// Out64 is Out32 for f64.
func (m Mode) Out64(a uint64) uint64 {
	if m&DenormOut1664 == 0 && a&exp64 == 0 {
		return a & sign64
	}
	return a
}
