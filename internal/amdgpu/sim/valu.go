package sim

import (
	"math/bits"
)

// valuOps are the vector instructions.
var valuOps = map[string]spec{
	"v_mov_b32":       {run: vMovB32},
	"v_lshlrev_b32":   {run: map2(func(a, b uint32) uint32 { return b << (a & 31) })},
	"v_cmp_gt_i32":    {run: cmp32(func(a, b uint32) bool { return int32(a) > int32(b) })},
	"v_cmpx_gt_i32":   {run: cmpx(cmp32(func(a, b uint32) bool { return int32(a) > int32(b) }))},
	"v_add_u32":       {run: map2(func(a, b uint32) uint32 { return a + b })},
	"v_add_nc_u32":    {run: map2(func(a, b uint32) uint32 { return a + b })},
	"v_add_co_u32":    {run: vAddCo},
	"v_ashrrev_i32":   {run: map2(func(a, b uint32) uint32 { return uint32(int32(b) >> (a & 31)) })},
	"v_lshlrev_b64":   {run: vLshlrevB64},
	"v_mad_u64_u32":   {run: vMadU64U32},
	"v_addc_co_u32":   {run: vAddCo},
	"v_add_co_ci_u32": {run: vAddCo},
}

func vMovB32(w *wave, o *op) {
	a, d := w.row(&o.src[0]), w.out(o)
	if w.exec == w.full {
		copy(d[:w.n], a[:w.n])
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = a[i]
	}
}

// vAddCo adds with carry out, and carry in where there is a third source.
func vAddCo(w *wave, o *op) {
	a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
	var in, out uint64
	if o.in.NSrc == 3 {
		in = w.mask(&o.src[2])
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		s, c := bits.Add32(a[i], b[i], uint32(in>>i&1))
		d[i] = s
		out |= uint64(c) << i
	}
	w.setMask(o, out)
}

func vLshlrevB64(w *wave, o *op) {
	a, bl, bh := w.row(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
	dl, dh := w.out(o), w.outHi(o)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v := (uint64(bl[i]) | uint64(bh[i])<<32) << (a[i] & 63)
		dl[i], dh[i] = uint32(v), uint32(v>>32)
	}
}

// vMadU64U32 multiplies 32-bit numbers and adds a 64-bit one; the mask is
// the carry of the addition.
func vMadU64U32(w *wave, o *op) {
	a, b, cl, ch := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.hi(&o.src[2])
	dl, dh := w.out(o), w.outHi(o)
	var out uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v, c := bits.Add64(uint64(a[i])*uint64(b[i]), uint64(cl[i])|uint64(ch[i])<<32, 0)
		dl[i], dh[i] = uint32(v), uint32(v>>32)
		out |= c << i
	}
	w.setMask(o, out)
}
