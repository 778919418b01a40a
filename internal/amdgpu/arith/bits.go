package arith

// The fields of the formats.
const (
	sign16, exp16, man16 = 0x8000, 0x7c00, 0x03ff
	sign32, exp32, man32 = 0x8000_0000, 0x7f80_0000, 0x007f_ffff
	sign64, exp64, man64 = 0x8000_0000_0000_0000, 0x7ff0_0000_0000_0000, 0x000f_ffff_ffff_ffff

	quiet16, quiet32, quiet64 = 0x0200, 0x0040_0000, 0x0008_0000_0000_0000

	one16, one32, one64 = 0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000
	max16, max32, max64 = exp16 - 1, exp32 - 1, exp64 - 1

	two16, four16, half16 = 0x4000, 0x4400, 0x3800
	two32, four32, half32 = 0x4000_0000, 0x4080_0000, 0x3f00_0000
	two64, four64, half64 = 0x4000_0000_0000_0000, 0x4010_0000_0000_0000, 0x3fe0_0000_0000_0000
)

// The NaN that an invalid operation on no NaN gives.
//
// Source: ROCm/rocm-systems, rocjitsu, whose captures of gfx1201 have the
// negative one; no verdict depends on the sign or the payload of a NaN.
const (
	nan16 = sign16 | exp16 | quiet16
	nan32 = sign32 | exp32 | quiet32
	nan64 = sign64 | exp64 | quiet64
)

// IsNaNF32 reports whether a is a NaN.
func IsNaNF32(a uint32) bool { return a&^sign32 > exp32 }

// IsNaNF16 reports whether a is a NaN.
func IsNaNF16(a uint16) bool { return a&^sign16 > exp16 }

// IsNaNF64 reports whether a is a NaN.
func IsNaNF64(a uint64) bool { return a&^sign64 > exp64 }

func isSNaN32(a uint32) bool { return IsNaNF32(a) && a&quiet32 == 0 }
func isSNaN16(a uint16) bool { return IsNaNF16(a) && a&quiet16 == 0 }
func isSNaN64(a uint64) bool { return IsNaNF64(a) && a&quiet64 == 0 }

// invalidNN returns the NaN of an operation on a, b, c whose result is a NaN:
// the first NaN operand, made quiet, or the default NaN where there is none.
// Operations with fewer operands repeat one.

//go:noinline
func invalid32(a, b, c uint32) uint32 {
	switch {
	case IsNaNF32(a):
		return a | quiet32
	case IsNaNF32(b):
		return b | quiet32
	case IsNaNF32(c):
		return c | quiet32
	}
	return nan32
}

//go:noinline
func invalid16(a, b, c uint16) uint16 {
	switch {
	case IsNaNF16(a):
		return a | quiet16
	case IsNaNF16(b):
		return b | quiet16
	case IsNaNF16(c):
		return c | quiet16
	}
	return nan16
}

//go:noinline
func invalid64(a, b, c uint64) uint64 {
	switch {
	case IsNaNF64(a):
		return a | quiet64
	case IsNaNF64(b):
		return b | quiet64
	case IsNaNF64(c):
		return c | quiet64
	}
	return nan64
}

// A Pred is a comparison predicate, as the set of the relations under which
// it holds: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered. Its
// value is the low part of the opcode of the v_cmp of that name.
type Pred uint8

// The predicates of floating point.
const (
	F Pred = iota
	LT
	EQ
	LE
	GT
	LG
	GE
	O
	U
	NGE
	NLG
	NGT
	NLE
	NEQ
	NLT
	TRU
)

// The predicates of integers that are named otherwise.
const (
	NE = LG
	T  = O
)
