// Package tensor holds element types, their conversions and typed
// buffers. Buffers are little-endian bytes, as a device sees them.
package tensor

import (
	"fmt"
	"math"
)

// A DType is the type of one element.
type DType uint8

// The element types of candle-kernels.
const (
	Invalid DType = iota
	F64
	F32
	F16
	BF16
	F8E4M3 // OCP E4M3: no infinities, S.1111.111 is NaN
	I64
	I32
	I16
	U64 // size_t: shapes and strides
	U32
	U8
)

// A format gives the facts of a binary floating-point format.
type format struct {
	precision int     // bits of significand with the hidden one
	emin      int     // exponent of the smallest normal number
	max       float64 // largest finite value
}

var dtypes = [...]struct {
	name string
	size int
	fmt  format
}{
	Invalid: {"invalid", 0, format{}},
	F64:     {"f64", 8, format{53, -1022, math.MaxFloat64}},
	F32:     {"f32", 4, format{24, -126, math.MaxFloat32}},
	F16:     {"f16", 2, format{11, -14, 65504}},
	BF16:    {"bf16", 2, format{8, -126, 0x1.fep127}},
	F8E4M3:  {"f8_e4m3", 1, format{4, -6, 448}},
	I64:     {"i64", 8, format{}},
	I32:     {"i32", 4, format{}},
	I16:     {"i16", 2, format{}},
	U64:     {"u64", 8, format{}},
	U32:     {"u32", 4, format{}},
	U8:      {"u8", 1, format{}},
}

// ParseDType returns the type that String gives name to.
func ParseDType(name string) (DType, error) {
	for d := F64; d <= U8; d++ {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return Invalid, fmt.Errorf("unknown dtype %q: must be one of f64 f32 f16 bf16 f8_e4m3 i64 i32 i16 u64 u32 u8", name)
}

// String returns candle's name of d, as in the suffix of a symbol.
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size is the number of bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool { return dtypes[d].fmt.precision != 0 }

// Precision is the number of significand bits of a floating-point type,
// with the hidden bit: 24 for f32.
func (d DType) Precision() int { return dtypes[d].fmt.precision }

// EMin is the exponent of the smallest normal number: -126 for f32.
func (d DType) EMin() int { return dtypes[d].fmt.emin }

// MaxFinite is the largest finite value of a floating-point type.
func (d DType) MaxFinite() float64 { return dtypes[d].fmt.max }

// UnitRoundoff is 2^-Precision: the largest relative error of one
// rounding to nearest in the normal range.
func (d DType) UnitRoundoff() float64 { return math.Ldexp(1, -d.Precision()) }

// MinNormal is the smallest positive normal number.
func (d DType) MinNormal() float64 { return math.Ldexp(1, d.EMin()) }

// MinSubnormal is the smallest positive number, numerics.md's eta.
func (d DType) MinSubnormal() float64 { return math.Ldexp(1, d.EMin()-d.Precision()+1) }

// ULP is the spacing of d's numbers at t, after Goldberg: the exponent is
// that of t, never below that of the smallest normal. It is NaN where t
// is not finite.
func (d DType) ULP(t float64) float64 {
	if math.IsNaN(t) || math.IsInf(t, 0) {
		return math.NaN()
	}
	e := d.EMin()
	if t != 0 {
		if _, x := math.Frexp(t); x-1 > e {
			e = x - 1
		}
	}
	return math.Ldexp(1, e-d.Precision()+1)
}

// Round returns the number of d nearest to x, ties to even. Values
// beyond the largest finite number by half its spacing or more become
// infinities; in F8E4M3, which has none, by more than half, NaN.
func (d DType) Round(x float64) float64 {
	switch d {
	case F64:
		return x
	case F32:
		return float64(float32(x))
	}
	return d.Decode(d.Encode(x))
}
