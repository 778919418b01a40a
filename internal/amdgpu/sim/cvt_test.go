package sim

import (
	"math"
	"testing"
)

func intRef(f ieee, lo, hi int64, mask uint64, round func(float64) float64) func(s []uint64) uint64 {
	return func(s []uint64) uint64 { return uint64(f.toInt(s[0], lo, hi, round)) & mask }
}

// normRef is a limited to [lo, 1], times scale.
func normRef(f ieee, a uint64, lo, scale float64) uint64 {
	x := f.float(a)
	if x != x {
		return 0
	}
	return uint64(int64(math.RoundToEven(max(lo, min(1, x))*scale))) & 0xffff
}

func ubyteRef(i uint) func(s []uint64) uint64 {
	return func(s []uint64) uint64 { return single.fromInt(int64(s[0] >> (8 * i) & 0xff)) }
}

// rtz rounds f32 to f16 towards zero.
func rtz(a uint64) uint64 {
	if single.isNaN(a) {
		return half.nan()
	}
	s := a >> 16 & 0x8000
	if single.isInf(a) {
		return s | half.inf()
	}
	// The greatest f16 not above.
	x := math.Abs(single.float(a))
	r := single.convert(a, half) & 0x7fff
	for r > 0 && half.float(r) > x {
		r--
	}
	return s | r
}

// u8Ref is a rounded to an integer limited to a byte.
func u8Ref(a uint64) uint64 {
	return uint64(single.toInt(a, 0, 255, math.RoundToEven))
}

var semCvt = []sem{
	{name: "v_cvt_f32_f16", src: []vtype{tF16}, dst: tF32, clamp: single.clamp01, ref: func(s []uint64) uint64 { return half.convert(s[0], single) }},
	{name: "v_cvt_f16_f32", src: []vtype{tF32}, dst: tF16, clamp: half.clamp01, count: 8000, ref: func(s []uint64) uint64 { return single.convert(s[0], half) }},
	{name: "v_cvt_f32_f64", src: []vtype{tF64}, dst: tF32, count: 4000, ref: func(s []uint64) uint64 { return double.convert(s[0], single) }},
	{name: "v_cvt_f64_f32", src: []vtype{tF32}, dst: tF64, ref: func(s []uint64) uint64 { return single.convert(s[0], double) }},

	{name: "v_cvt_f32_i32", src: []vtype{tB32}, dst: tF32, ref: func(s []uint64) uint64 { return single.fromInt(int64(int32(s[0]))) }},
	{name: "v_cvt_f32_u32", src: []vtype{tB32}, dst: tF32, ref: func(s []uint64) uint64 { return single.fromInt(int64(s[0])) }},
	{name: "v_cvt_f64_i32", src: []vtype{tB32}, dst: tF64, ref: func(s []uint64) uint64 { return double.fromInt(int64(int32(s[0]))) }},
	{name: "v_cvt_f64_u32", src: []vtype{tB32}, dst: tF64, ref: func(s []uint64) uint64 { return double.fromInt(int64(s[0])) }},
	{name: "v_cvt_f16_i16", src: []vtype{tB16}, dst: tF16, ref: func(s []uint64) uint64 { return half.fromInt(int64(int16(s[0]))) }},
	{name: "v_cvt_f16_u16", src: []vtype{tB16}, dst: tF16, ref: func(s []uint64) uint64 { return half.fromInt(int64(s[0])) }},

	{name: "v_cvt_i32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, math.MinInt32, math.MaxInt32, 0xffffffff, math.Trunc)},
	{name: "v_cvt_u32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, 0, math.MaxUint32, 0xffffffff, math.Trunc)},
	{name: "v_cvt_i32_f64", src: []vtype{tF64}, dst: tB32, ref: intRef(double, math.MinInt32, math.MaxInt32, 0xffffffff, math.Trunc)},
	{name: "v_cvt_u32_f64", src: []vtype{tF64}, dst: tB32, ref: intRef(double, 0, math.MaxUint32, 0xffffffff, math.Trunc)},
	{name: "v_cvt_i16_f16", src: []vtype{tF16}, dst: tB16, ref: intRef(half, math.MinInt16, math.MaxInt16, 0xffff, math.Trunc)},
	{name: "v_cvt_u16_f16", src: []vtype{tF16}, dst: tB16, ref: intRef(half, 0, math.MaxUint16, 0xffff, math.Trunc)},
	{name: "v_cvt_i32_i16", src: []vtype{tB16}, dst: tB32, ref: func(s []uint64) uint64 { return uint64(uint32(int32(int16(s[0])))) }},
	{name: "v_cvt_u32_u16", src: []vtype{tB16}, dst: tB32, ref: func(s []uint64) uint64 { return s[0] }},
	{name: "v_cvt_flr_i32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, math.MinInt32, math.MaxInt32, 0xffffffff, math.Floor)},
	{name: "v_cvt_floor_i32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, math.MinInt32, math.MaxInt32, 0xffffffff, math.Floor)},
	{name: "v_cvt_rpi_i32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, math.MinInt32, math.MaxInt32, 0xffffffff, func(x float64) float64 { return math.Floor(x + 0.5) })},
	{name: "v_cvt_nearest_i32_f32", src: []vtype{tF32}, dst: tB32, ref: intRef(single, math.MinInt32, math.MaxInt32, 0xffffffff, func(x float64) float64 { return math.Floor(x + 0.5) })},

	{name: "v_cvt_f32_ubyte0", src: []vtype{tB32}, dst: tF32, ref: ubyteRef(0)},
	{name: "v_cvt_f32_ubyte1", src: []vtype{tB32}, dst: tF32, ref: ubyteRef(1)},
	{name: "v_cvt_f32_ubyte2", src: []vtype{tB32}, dst: tF32, ref: ubyteRef(2)},
	{name: "v_cvt_f32_ubyte3", src: []vtype{tB32}, dst: tF32, ref: ubyteRef(3)},
	{name: "v_cvt_off_f32_i4", src: []vtype{tB32}, dst: tF32, ref: func(s []uint64) uint64 {
		return uint64(math.Float32bits([]float32{0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, -0.5, -0.4375, -0.375, -0.3125, -0.25, -0.1875, -0.125, -0.0625}[s[0]&15]))
	}},

	{name: "v_cvt_norm_i16_f16", src: []vtype{tF16}, dst: tB16, ref: func(s []uint64) uint64 { return normRef(half, s[0], -1, 32767) }},
	{name: "v_cvt_norm_u16_f16", src: []vtype{tF16}, dst: tB16, ref: func(s []uint64) uint64 { return normRef(half, s[0], 0, 65535) }},
	{name: "v_cvt_pknorm_i16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 {
		return normRef(single, s[0], -1, 32767) | normRef(single, s[1], -1, 32767)<<16
	}},
	{name: "v_cvt_pknorm_u16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(single, s[0], 0, 65535) | normRef(single, s[1], 0, 65535)<<16 }},
	{name: "v_cvt_pknorm_i16_f16", src: []vtype{tF16, tF16}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(half, s[0], -1, 32767) | normRef(half, s[1], -1, 32767)<<16 }},
	{name: "v_cvt_pknorm_u16_f16", src: []vtype{tF16, tF16}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(half, s[0], 0, 65535) | normRef(half, s[1], 0, 65535)<<16 }},
	{name: "v_cvt_pk_norm_i16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 {
		return normRef(single, s[0], -1, 32767) | normRef(single, s[1], -1, 32767)<<16
	}},
	{name: "v_cvt_pk_norm_u16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(single, s[0], 0, 65535) | normRef(single, s[1], 0, 65535)<<16 }},
	{name: "v_cvt_pk_norm_i16_f16", src: []vtype{tF16, tF16}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(half, s[0], -1, 32767) | normRef(half, s[1], -1, 32767)<<16 }},
	{name: "v_cvt_pk_norm_u16_f16", src: []vtype{tF16, tF16}, dst: tB32, ref: func(s []uint64) uint64 { return normRef(half, s[0], 0, 65535) | normRef(half, s[1], 0, 65535)<<16 }},

	{name: "v_cvt_pkrtz_f16_f32", src: []vtype{tF32, tF32}, dst: tPkF16, ref: func(s []uint64) uint64 { return rtz(s[0]) | rtz(s[1])<<16 }},
	{name: "v_cvt_pk_rtz_f16_f32", src: []vtype{tF32, tF32}, dst: tPkF16, ref: func(s []uint64) uint64 { return rtz(s[0]) | rtz(s[1])<<16 }},
	{name: "v_cvt_pk_i16_i32", src: []vtype{tB32, tB32}, dst: tB32, ref: func(s []uint64) uint64 {
		sat := func(v uint64) uint64 { return uint64(max(-32768, min(32767, int64(int32(v))))) & 0xffff }
		return sat(s[0]) | sat(s[1])<<16
	}},
	{name: "v_cvt_pk_u16_u32", src: []vtype{tB32, tB32}, dst: tB32, ref: func(s []uint64) uint64 { return min(s[0], 0xffff) | min(s[1], 0xffff)<<16 }},
	{name: "v_cvt_pk_i16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 {
		cvt := func(v uint64) uint64 { return uint64(single.toInt(v, -32768, 32767, math.Trunc)) & 0xffff }
		return cvt(s[0]) | cvt(s[1])<<16
	}},
	{name: "v_cvt_pk_u16_f32", src: []vtype{tF32, tF32}, dst: tB32, ref: func(s []uint64) uint64 {
		cvt := func(v uint64) uint64 { return uint64(single.toInt(v, 0, 65535, math.Trunc)) }
		return cvt(s[0]) | cvt(s[1])<<16
	}},
	{name: "v_cvt_pk_u8_f32", src: []vtype{tF32, tB32, tB32}, dst: tB32, ref: func(s []uint64) uint64 {
		k := 8 * (s[1] & 3)
		return s[2]&^(0xff<<k) | u8Ref(s[0])<<k
	}},
	{name: "v_cvt_pkaccum_u8_f32", src: []vtype{tF32, tB32, tB32}, dst: tB32, acc: true, ref: func(s []uint64) uint64 {
		k := 8 * (s[1] & 3)
		return s[2]&^(0xff<<k) | u8Ref(s[0])<<k
	}},
	{name: "v_sat_pk_u8_i16", src: []vtype{tB32}, dst: tB16, noSDWA: true, ref: func(s []uint64) uint64 {
		sat := func(v uint64) uint64 { return uint64(max(0, min(255, int16(v)))) }
		return sat(s[0]) | sat(s[0]>>16)<<8
	}},
}

func TestConversions(t *testing.T) { checkAll(t, semCvt) }
