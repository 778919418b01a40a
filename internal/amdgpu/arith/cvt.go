package arith

import "math"

// Float to integer. All truncate, saturate at the bounds of the integer, and
// give 0 for a NaN.

// CvtI32F32 returns a as an int32.
func CvtI32F32(a uint32) uint32 { return toI32(float64(f32(a))) }

// CvtU32F32 returns a as a uint32.
func CvtU32F32(a uint32) uint32 { return toU32(float64(f32(a))) }

// CvtI32F64 returns a as an int32.
func CvtI32F64(a uint64) uint32 { return toI32(f64(a)) }

// CvtU32F64 returns a as a uint32.
func CvtU32F64(a uint64) uint32 { return toU32(f64(a)) }

// CvtI16F16 returns a as an int16.
func CvtI16F16(a uint16) uint16 { return toI16(f32(WideF16(a))) }

// CvtU16F16 returns a as a uint16.
func CvtU16F16(a uint16) uint16 { return toU16(f32(WideF16(a))) }

// CvtPkI16F32 returns a and b as int16, a in the low half.
func CvtPkI16F32(a, b uint32) uint32 { return pack(toI16(f32(a)), toI16(f32(b))) }

// CvtPkU16F32 returns a and b as uint16, a in the low half.
func CvtPkU16F32(a, b uint32) uint32 { return pack(toU16(f32(a)), toU16(f32(b))) }

// CvtFlrI32F32 returns floor(a) as an int32 (v_cvt_flr_i32_f32,
// v_cvt_floor_i32_f32).
func CvtFlrI32F32(a uint32) uint32 { return toI32(math.Floor(float64(f32(a)))) }

// CvtRpiI32F32 returns floor(a+0.5) as an int32, the sum not rounded
// (v_cvt_rpi_i32_f32, v_cvt_nearest_i32_f32).
func CvtRpiI32F32(a uint32) uint32 {
	x := float64(f32(a))
	f := math.Floor(x)
	if x-f >= 0.5 { // exact where x has a fraction
		f++
	}
	return toI32(f)
}

func toI32(x float64) uint32 {
	switch {
	case x >= 1<<31:
		return math.MaxInt32
	case x > -1<<31-1:
		return uint32(int32(x))
	case x != x:
		return 0
	}
	return 1 << 31
}

func toU32(x float64) uint32 {
	switch {
	case x >= 1<<32:
		return math.MaxUint32
	case x >= 1:
		return uint32(int64(x))
	}
	return 0
}

func toI16(x float32) uint16 {
	switch {
	case x >= 1<<15:
		return math.MaxInt16
	case x > -1<<15:
		return uint16(int16(int32(x)))
	case x != x:
		return 0
	}
	return 1 << 15
}

func toU16(x float32) uint16 {
	switch {
	case x >= 1<<16:
		return math.MaxUint16
	case x >= 1:
		return uint16(int32(x))
	}
	return 0
}

func pack(lo, hi uint16) uint32 { return uint32(lo) | uint32(hi)<<16 }

// Integer to float, rounded as the mode says for the format of the result.

// CvtF32I32 returns the int32 a as f32.
func (m Mode) CvtF32I32(a uint32) uint32 {
	if m.Round32() == RoundEven {
		return bits32(float32(int32(a)))
	}
	return m.CvtF32F64(bits64(float64(int32(a))))
}

// CvtF32U32 returns the uint32 a as f32.
func (m Mode) CvtF32U32(a uint32) uint32 {
	if m.Round32() == RoundEven {
		return bits32(float32(a))
	}
	return m.CvtF32F64(bits64(float64(a)))
}

// CvtF64I32 returns the int32 a as f64.
func CvtF64I32(a uint32) uint64 { return bits64(float64(int32(a))) }

// CvtF64U32 returns the uint32 a as f64.
func CvtF64U32(a uint32) uint64 { return bits64(float64(a)) }

// CvtF16I16 returns the int16 a as f16.
func (m Mode) CvtF16I16(a uint16) uint16 {
	return m.CvtF16F32(bits32(float32(int16(a))))
}

// CvtF16U16 returns the uint16 a as f16.
func (m Mode) CvtF16U16(a uint16) uint16 {
	return m.CvtF16F32(bits32(float32(a)))
}

// CvtF32Ubyte returns byte i, 0 to 3, of a as f32 (v_cvt_f32_ubyte0 to
// v_cvt_f32_ubyte3).
func CvtF32Ubyte(a uint32, i uint) uint32 { return bits32(float32(a >> (8 * i) & 0xff)) }

// CvtI32I16 returns the low half of a, sign-extended.
func CvtI32I16(a uint32) uint32 { return uint32(int32(int16(a))) }

// CvtU32U16 returns the low half of a.
func CvtU32U16(a uint32) uint32 { return a & 0xffff }

// CvtOffF32I4 returns the low four bits of a, signed, over 16.
func CvtOffF32I4(a uint32) uint32 {
	return bits32(float32(int32(a<<28)>>28) * 0x1p-4)
}

// CvtF32F64 returns a rounded to f32.
func (m Mode) CvtF32F64(a uint64) uint32 {
	a = m.In64(a)
	r := bits32(float32(f64(a)))
	switch {
	case IsNaNF64(a):
		return uint32(a>>32)&sign32 | exp32 | quiet32 | uint32(a>>29)&man32
	case a&exp64 == exp64 || m.Round32() == RoundEven && m&DenormOut32 != 0:
		return r
	}
	return uint32(scaled(&layout32, a, one64, a&sign64, 0, m.Round32(), m&DenormOut32 == 0))
}

// CvtF64F32 returns a as f64.
func (m Mode) CvtF64F32(a uint32) uint64 {
	a = m.In32(a)
	if IsNaNF32(a) {
		return uint64(a&sign32)<<32 | exp64 | quiet64 | uint64(a&man32)<<29
	}
	return bits64(float64(f32(a)))
}

// CvtPkrtzF16F32 returns a and b rounded to f16 towards zero whatever the
// mode says, a in the low half.
func (m Mode) CvtPkrtzF16F32(a, b uint32) uint32 {
	m = m&^(3<<2) | Mode(RoundTrunc)<<2
	return pack(m.CvtF16F32(a), m.CvtF16F32(b))
}

// Normalised integers: x limited to [-1, 1] (snorm) or [0, 1] (unorm), times
// the greatest integer, rounded to nearest even. A NaN gives 0.

// CvtNormI16F16 returns a as snorm.
func CvtNormI16F16(a uint16) uint16 { return snorm(f32(WideF16(a))) }

// CvtNormU16F16 returns a as unorm.
func CvtNormU16F16(a uint16) uint16 { return unorm(f32(WideF16(a))) }

// CvtPknormI16F32 returns a and b as snorm, a in the low half.
func CvtPknormI16F32(a, b uint32) uint32 { return pack(snorm(f32(a)), snorm(f32(b))) }

// CvtPknormU16F32 returns a and b as unorm, a in the low half.
func CvtPknormU16F32(a, b uint32) uint32 { return pack(unorm(f32(a)), unorm(f32(b))) }

// CvtPknormI16F16 returns a and b as snorm, a in the low half.
func CvtPknormI16F16(a, b uint16) uint32 { return pack(CvtNormI16F16(a), CvtNormI16F16(b)) }

// CvtPknormU16F16 returns a and b as unorm, a in the low half.
func CvtPknormU16F16(a, b uint16) uint32 { return pack(CvtNormU16F16(a), CvtNormU16F16(b)) }

func snorm(x float32) uint16 {
	switch {
	case x != x:
		return 0
	case x >= 1:
		return math.MaxInt16
	case x <= -1:
		return 0x8001
	}
	return uint16(int16(math.RoundToEven(float64(x) * math.MaxInt16)))
}

func unorm(x float32) uint16 {
	switch {
	case !(x > 0):
		return 0
	case x >= 1:
		return math.MaxUint16
	}
	return uint16(int32(math.RoundToEven(float64(x) * math.MaxUint16)))
}

// CvtPkI16I32 returns the int32 a and b limited to int16, a in the low half.
func CvtPkI16I32(a, b uint32) uint32 { return pack(satI16(int32(a)), satI16(int32(b))) }

// CvtPkU16U32 returns a and b limited to uint16, a in the low half.
func CvtPkU16U32(a, b uint32) uint32 {
	return pack(uint16(min(a, 0xffff)), uint16(min(b, 0xffff)))
}

func satI16(a int32) uint16 { return uint16(max(math.MinInt16, min(math.MaxInt16, a))) }
func satU16(a int32) uint16 { return uint16(max(0, min(math.MaxUint16, a))) }

// SatPkU8I16 returns the two int16 of a limited to uint8, in the low bytes.
func SatPkU8I16(a uint32) uint32 {
	u8 := func(x int16) uint32 { return uint32(max(0, min(255, x))) }
	return u8(int16(a)) | u8(int16(a>>16))<<8
}

// CvtPkU8F32 returns c with byte b&3 replaced by a as a uint8, rounded as the
// mode says, limited to 255; a NaN gives 0.
func (m Mode) CvtPkU8F32(a, b, c uint32) uint32 {
	x := float64(f32(a))
	switch m.Round32() {
	case RoundEven:
		x = math.RoundToEven(x)
	case RoundUp:
		x = math.Ceil(x)
	}
	s := b & 3 * 8
	return c&^(0xff<<s) | min(toU32(x), 255)<<s
}
