package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// float32Ops are the vector instructions on f32.
var float32Ops = map[string]spec{
	"v_add_f32":    {run: vAddF32, out: outF32},
	"v_sub_f32":    {run: vSubF32, out: outF32},
	"v_subrev_f32": {run: vSubrevF32, out: outF32},
	"v_mul_f32":    {run: vMulF32, out: outF32},
	"v_min_f32":    {run: vMinF32, out: outF32},
	"v_max_f32":    {run: vMaxF32, out: outF32},
	"v_fma_f32":    {run: vFmaF32, out: outF32},
	"v_fmac_f32":   {run: vFmacF32, out: outF32},
	"v_fmaak_f32":  {run: vFmaF32, out: outF32}, // the constant is the third source
	"v_fmamk_f32":  {run: vFmaF32, out: outF32}, // the constant is the second source

	// Products that are rounded before the sum, of gfx90a.
	"v_mad_f32":   {run: f32x3(arith.Mode.MadF32), out: outF32},
	"v_mac_f32":   {run: f32acc(arith.Mode.MadF32), out: outF32},
	"v_madak_f32": {run: f32x3(arith.Mode.MadF32), out: outF32},
	"v_madmk_f32": {run: f32x3(arith.Mode.MadF32), out: outF32},

	// Products where zero times anything is zero. gfx11 has new names.
	"v_mul_legacy_f32":    {run: f32x2(arith.Mode.MulLegacyF32), out: outF32},
	"v_mul_dx9_zero_f32":  {run: f32x2(arith.Mode.MulLegacyF32), out: outF32},
	"v_mad_legacy_f32":    {run: f32x3(arith.Mode.MadLegacyF32), out: outF32},
	"v_fma_legacy_f32":    {run: f32x3(arith.Mode.FmaLegacyF32), out: outF32},
	"v_fma_dx9_zero_f32":  {run: f32x3(arith.Mode.FmaLegacyF32), out: outF32},
	"v_fmac_legacy_f32":   {run: f32acc(arith.Mode.FmaLegacyF32), out: outF32},
	"v_fmac_dx9_zero_f32": {run: f32acc(arith.Mode.FmaLegacyF32), out: outF32},
	"v_mullit_f32":        {run: f32x3(arith.Mode.MullitF32), out: outF32},

	"v_min3_f32":   {run: f32x3(arith.Mode.Min3F32), out: outF32},
	"v_max3_f32":   {run: f32x3(arith.Mode.Max3F32), out: outF32},
	"v_med3_f32":   {run: f32x3(arith.Mode.Med3F32), out: outF32},
	"v_minmax_f32": {run: f32x3(arith.Mode.MinmaxF32), out: outF32},
	"v_maxmin_f32": {run: f32x3(arith.Mode.MaxminF32), out: outF32},

	"v_floor_f32":         {run: f32x1(arith.Mode.FloorF32), out: outF32},
	"v_ceil_f32":          {run: f32x1(arith.Mode.CeilF32), out: outF32},
	"v_trunc_f32":         {run: f32x1(arith.Mode.TruncF32), out: outF32},
	"v_rndne_f32":         {run: f32x1(arith.Mode.RndneF32), out: outF32},
	"v_fract_f32":         {run: f32x1(arith.Mode.FractF32), out: outF32},
	"v_frexp_mant_f32":    {run: f32x1(arith.Mode.FrexpMantF32), out: outF32},
	"v_frexp_exp_i32_f32": {run: f32x1(arith.Mode.FrexpExpI32F32)},
	"v_ldexp_f32":         {run: f32x2(arith.Mode.LdexpF32), out: outF32},

	"v_div_scale_f32": {run: vDivScaleF32, out: outF32},
	"v_div_fmas_f32":  {run: vDivFmasF32, out: outF32},
	"v_div_fixup_f32": {run: f32x3(arith.Mode.DivFixupF32), out: outF32},

	"v_cubeid_f32": {run: f32x3(arith.Mode.CubeidF32), out: outF32},
	"v_cubesc_f32": {run: f32x3(arith.Mode.CubescF32), out: outF32},
	"v_cubetc_f32": {run: f32x3(arith.Mode.CubetcF32), out: outF32},
	"v_cubema_f32": {run: f32x3(arith.Mode.CubemaF32), out: outF32},
}

func vAddF32(w *wave, o *op) { w.addF32(w.out(o), w.row(&o.src[0]), w.row(&o.src[1])) }

func (w *wave) addF32(d, a, b *lanes) {
	if w.mode.Default32() {
		addF32(d, a, b, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.AddF32(a[i], b[i])
	}
}

func vSubF32(w *wave, o *op)    { w.subF32(w.out(o), w.row(&o.src[0]), w.row(&o.src[1])) }
func vSubrevF32(w *wave, o *op) { w.subF32(w.out(o), w.row(&o.src[1]), w.row(&o.src[0])) }

func (w *wave) subF32(d, a, b *lanes) {
	if w.mode.Default32() {
		subF32(d, a, b, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.SubF32(a[i], b[i])
	}
}

func vMulF32(w *wave, o *op) { w.mulF32(w.out(o), w.row(&o.src[0]), w.row(&o.src[1])) }

func (w *wave) mulF32(d, a, b *lanes) {
	if w.mode.Default32() {
		mulF32(d, a, b, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.MulF32(a[i], b[i])
	}
}

func vMinF32(w *wave, o *op) {
	a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
	if w.mode.Default32() {
		minF32(d, a, b, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.MinF32(a[i], b[i])
	}
}

func vMaxF32(w *wave, o *op) {
	a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
	if w.mode.Default32() {
		maxF32(d, a, b, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.MaxF32(a[i], b[i])
	}
}

func vFmaF32(w *wave, o *op) {
	w.fmaF32(w.out(o), w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]))
}

func vFmacF32(w *wave, o *op) { w.fmaF32(w.out(o), w.row(&o.src[0]), w.row(&o.src[1]), w.old(o)) }

func (w *wave) fmaF32(d, a, b, c *lanes) {
	if w.mode.Default32() {
		fmaF32(d, a, b, c, w.exec, w.n)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.FmaF32(a[i], b[i], c[i])
	}
}

func vDivScaleF32(w *wave, o *op) {
	s, b, a, d := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.out(o)
	var moved uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		r, f := w.mode.DivScaleF32(s[i], b[i], a[i])
		d[i] = r
		if f {
			moved |= 1 << i
		}
	}
	w.setMask(o, moved)
}

func vDivFmasF32(w *wave, o *op) {
	a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.out(o)
	moved := w.vcc()
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = w.mode.DivFmasF32(a[i], b[i], c[i], moved>>i&1 != 0)
	}
}
