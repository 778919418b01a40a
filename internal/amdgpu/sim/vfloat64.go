package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// float64Ops are the vector instructions on f64.
var float64Ops = map[string]spec{
	"v_add_f64":  {run: f64x2(arith.Mode.AddF64), out: outF64},
	"v_mul_f64":  {run: f64x2(arith.Mode.MulF64), out: outF64},
	"v_min_f64":  {run: f64x2(arith.Mode.MinF64), out: outF64},
	"v_max_f64":  {run: f64x2(arith.Mode.MaxF64), out: outF64},
	"v_fma_f64":  {run: f64x3(arith.Mode.FmaF64), out: outF64},
	"v_fmac_f64": {run: f64acc(arith.Mode.FmaF64), out: outF64},

	"v_floor_f64":         {run: f64x1(arith.Mode.FloorF64), out: outF64},
	"v_ceil_f64":          {run: f64x1(arith.Mode.CeilF64), out: outF64},
	"v_trunc_f64":         {run: f64x1(arith.Mode.TruncF64), out: outF64},
	"v_rndne_f64":         {run: f64x1(arith.Mode.RndneF64), out: outF64},
	"v_fract_f64":         {run: f64x1(arith.Mode.FractF64), out: outF64},
	"v_frexp_mant_f64":    {run: f64x1(arith.Mode.FrexpMantF64), out: outF64},
	"v_frexp_exp_i32_f64": {run: f64to32(arith.Mode.FrexpExpI32F64)},
	"v_ldexp_f64":         {run: f64and32(arith.Mode.LdexpF64), out: outF64},
	"v_trig_preop_f64":    {run: f64and32(func(_ arith.Mode, a uint64, seg uint32) uint64 { return arith.TrigPreopF64(a, seg) }), out: outF64},

	"v_div_scale_f64": {run: vDivScaleF64, out: outF64},
	"v_div_fmas_f64":  {run: vDivFmasF64, out: outF64},
	"v_div_fixup_f64": {run: f64x3(arith.Mode.DivFixupF64), out: outF64},
}

func vDivScaleF64(w *wave, o *op) {
	sl, sh, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
	al, ah, dl, dh := w.row(&o.src[2]), w.hi(&o.src[2]), w.out(o), w.outHi(o)
	var moved uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		r, f := w.mode.DivScaleF64(uint64(sl[i])|uint64(sh[i])<<32, uint64(bl[i])|uint64(bh[i])<<32, uint64(al[i])|uint64(ah[i])<<32)
		dl[i], dh[i] = uint32(r), uint32(r>>32)
		if f {
			moved |= 1 << i
		}
	}
	w.setMask(o, moved)
}

func vDivFmasF64(w *wave, o *op) {
	al, ah, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
	cl, ch, dl, dh := w.row(&o.src[2]), w.hi(&o.src[2]), w.out(o), w.outHi(o)
	moved := w.vcc()
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		r := w.mode.DivFmasF64(uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32, uint64(cl[i])|uint64(ch[i])<<32, moved>>i&1 != 0)
		dl[i], dh[i] = uint32(r), uint32(r>>32)
	}
}
