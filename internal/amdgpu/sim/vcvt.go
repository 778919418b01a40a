package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// cvtOps are the conversions.
var cvtOps = map[string]spec{
	"v_cvt_f32_f16": {run: vCvtF32F16, out: outF32},
	"v_cvt_f16_f32": {run: vCvtF16F32, out: outF16},
	"v_cvt_f32_f64": {run: f64to32(arith.Mode.CvtF32F64), out: outF32},
	"v_cvt_f64_f32": {run: f32to64(arith.Mode.CvtF64F32), out: outF64},

	"v_cvt_f32_i32": {run: f32x1(arith.Mode.CvtF32I32), out: outF32},
	"v_cvt_f32_u32": {run: f32x1(arith.Mode.CvtF32U32), out: outF32},
	"v_cvt_f64_i32": {run: f32to64(noMode(arith.CvtF64I32)), out: outF64},
	"v_cvt_f64_u32": {run: f32to64(noMode(arith.CvtF64U32)), out: outF64},
	"v_cvt_f16_i16": {run: f16x1(arith.Mode.CvtF16I16), out: outF16},
	"v_cvt_f16_u16": {run: f16x1(arith.Mode.CvtF16U16), out: outF16},

	"v_cvt_i32_f32": {run: map1(arith.CvtI32F32)},
	"v_cvt_u32_f32": {run: map1(arith.CvtU32F32)},
	"v_cvt_i32_f64": {run: f64to32(noMode(arith.CvtI32F64))},
	"v_cvt_u32_f64": {run: f64to32(noMode(arith.CvtU32F64))},
	"v_cvt_i16_f16": {run: f16x1(noMode(arith.CvtI16F16)), out: outB16},
	"v_cvt_u16_f16": {run: f16x1(noMode(arith.CvtU16F16)), out: outB16},
	"v_cvt_i32_i16": {run: map1(arith.CvtI32I16)},
	"v_cvt_u32_u16": {run: map1(arith.CvtU32U16)},

	// gfx11 has new names.
	"v_cvt_flr_i32_f32":     {run: map1(arith.CvtFlrI32F32)},
	"v_cvt_floor_i32_f32":   {run: map1(arith.CvtFlrI32F32)},
	"v_cvt_rpi_i32_f32":     {run: map1(arith.CvtRpiI32F32)},
	"v_cvt_nearest_i32_f32": {run: map1(arith.CvtRpiI32F32)},

	"v_cvt_f32_ubyte0": {run: map1(func(a uint32) uint32 { return arith.CvtF32Ubyte(a, 0) }), out: outF32},
	"v_cvt_f32_ubyte1": {run: map1(func(a uint32) uint32 { return arith.CvtF32Ubyte(a, 1) }), out: outF32},
	"v_cvt_f32_ubyte2": {run: map1(func(a uint32) uint32 { return arith.CvtF32Ubyte(a, 2) }), out: outF32},
	"v_cvt_f32_ubyte3": {run: map1(func(a uint32) uint32 { return arith.CvtF32Ubyte(a, 3) }), out: outF32},
	"v_cvt_off_f32_i4": {run: map1(arith.CvtOffF32I4), out: outF32},

	"v_cvt_norm_i16_f16":    {run: f16x1(noMode(arith.CvtNormI16F16)), out: outB16},
	"v_cvt_norm_u16_f16":    {run: f16x1(noMode(arith.CvtNormU16F16)), out: outB16},
	"v_cvt_pknorm_i16_f32":  {run: map2(arith.CvtPknormI16F32)},
	"v_cvt_pknorm_u16_f32":  {run: map2(arith.CvtPknormU16F32)},
	"v_cvt_pknorm_i16_f16":  {run: map2(pknormI16F16)},
	"v_cvt_pknorm_u16_f16":  {run: map2(pknormU16F16)},
	"v_cvt_pk_norm_i16_f32": {run: map2(arith.CvtPknormI16F32)},
	"v_cvt_pk_norm_u16_f32": {run: map2(arith.CvtPknormU16F32)},
	"v_cvt_pk_norm_i16_f16": {run: map2(pknormI16F16)},
	"v_cvt_pk_norm_u16_f16": {run: map2(pknormU16F16)},

	"v_cvt_pkrtz_f16_f32":  {run: f32x2(arith.Mode.CvtPkrtzF16F32)},
	"v_cvt_pk_rtz_f16_f32": {run: f32x2(arith.Mode.CvtPkrtzF16F32)},
	"v_cvt_pk_i16_i32":     {run: map2(arith.CvtPkI16I32)},
	"v_cvt_pk_u16_u32":     {run: map2(arith.CvtPkU16U32)},
	"v_cvt_pk_i16_f32":     {run: map2(arith.CvtPkI16F32)},
	"v_cvt_pk_u16_f32":     {run: map2(arith.CvtPkU16F32)},
	"v_cvt_pk_u8_f32":      {run: f32x3(arith.Mode.CvtPkU8F32)},
	"v_cvt_pkaccum_u8_f32": {run: f32acc(arith.Mode.CvtPkU8F32)},
	// Two bytes, of which LLVM defines the destination as i16 (its profile is
	// VOP_I16_I32): from gfx10 on the high half of the register is kept.
	"v_sat_pk_u8_i16": {run: map1(arith.SatPkU8I16), out: outB16},
}

func pknormI16F16(a, b uint32) uint32 { return arith.CvtPknormI16F16(uint16(a), uint16(b)) }
func pknormU16F16(a, b uint32) uint32 { return arith.CvtPknormU16F16(uint16(a), uint16(b)) }

func vCvtF32F16(w *wave, o *op) {
	a, d := w.row(&o.src[0]), w.out(o)
	if w.mode&arith.DenormIn1664 != 0 { // what is widened is never subnormal
		wideF16(d, a, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.CvtF32F16(uint16(a[i]))
	}
}

func vCvtF16F32(w *wave, o *op) { w.narrow(w.out(o), w.row(&o.src[0])) }

// narrow rounds f32 to f16 under the mode.
func (w *wave) narrow(d, a *lanes) {
	if w.mode.Default32() && w.mode.Default1664() {
		narrowF32(d, a, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = uint32(w.mode.CvtF16F32(a[i]))
	}
}
