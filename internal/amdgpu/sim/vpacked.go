package sim

import (
	"errors"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// packedOps are the VOP3P instructions. Their handlers apply op_sel,
// op_sel_hi, neg_lo and neg_hi.
var packedOps = map[string]spec{
	"v_pk_add_f16":  {run: pkF16x2(arith.Mode.AddF16), out: outPkF16},
	"v_pk_mul_f16":  {run: pkF16x2(arith.Mode.MulF16), out: outPkF16},
	"v_pk_min_f16":  {run: pkF16x2(arith.Mode.MinF16), out: outPkF16},
	"v_pk_max_f16":  {run: pkF16x2(arith.Mode.MaxF16), out: outPkF16},
	"v_pk_fma_f16":  {run: pkF16x3(arith.Mode.FmaF16), out: outPkF16},
	"v_pk_fmac_f16": {run: vPkFmacF16, out: outPkF16},

	"v_pk_add_u16":     {run: pkX2(arith.PkAddU16, arith.PkAddSatU16)},
	"v_pk_sub_u16":     {run: pkX2(arith.PkSubU16, arith.PkSubSatU16)},
	"v_pk_add_i16":     {run: pkX2(arith.PkAddU16, arith.PkAddSatI16)},
	"v_pk_sub_i16":     {run: pkX2(arith.PkSubU16, arith.PkSubSatI16)},
	"v_pk_mul_lo_u16":  {run: pkX2(arith.PkMulLoU16, nil), prep: noClamp},
	"v_pk_min_u16":     {run: pkX2(arith.PkMinU16, nil), prep: noClamp},
	"v_pk_max_u16":     {run: pkX2(arith.PkMaxU16, nil), prep: noClamp},
	"v_pk_min_i16":     {run: pkX2(arith.PkMinI16, nil), prep: noClamp},
	"v_pk_max_i16":     {run: pkX2(arith.PkMaxI16, nil), prep: noClamp},
	"v_pk_lshlrev_b16": {run: pkX2(arith.PkLshlrevB16, nil), prep: noClamp},
	"v_pk_lshrrev_b16": {run: pkX2(arith.PkLshrrevB16, nil), prep: noClamp},
	"v_pk_ashrrev_i16": {run: pkX2(arith.PkAshrrevI16, nil), prep: noClamp},
	"v_pk_mad_u16":     {run: pkX3(arith.PkMadU16, arith.PkMadSatU16)},
	"v_pk_mad_i16":     {run: pkX3(arith.PkMadU16, arith.PkMadSatI16)},

	"v_pk_add_f32": {run: vPkAddF32, out: outPkF32},
	"v_pk_mul_f32": {run: vPkMulF32, out: outPkF32},
	"v_pk_fma_f32": {run: vPkFmaF32, out: outPkF32},
	"v_pk_mov_b32": {run: vPkMovB32},

	"v_fma_mix_f32":   {run: vFmaMixF32, out: outF32},
	"v_fma_mixlo_f16": {run: vFmaMixF16, out: outF16Keep},
	"v_fma_mixhi_f16": {run: vFmaMixF16, out: outF16Keep, prep: mixHi},
}

var errClamp = errors.New("has clamp, which is not modelled for it")

// noClamp refuses clamp.
func noClamp(c *compiler, in *isa.Inst, o *op) error {
	if in.Mod.Clamp {
		return errClamp
	}
	return nil
}

// halvesOf returns source i of a packed 16-bit instruction with the halves
// that op_sel and op_sel_hi choose, negated by neg_lo and neg_hi.
func (w *wave) halvesOf(o *op, i int, float bool) *lanes {
	a, m := w.row(&o.src[i]), &o.mod
	lo, hi := m.OpSel>>i&1, m.OpSelHi>>i&1
	var neg uint32
	if float {
		neg = uint32(m.Neg>>i&1)<<15 | uint32(m.NegHi>>i&1)<<31
	}
	if lo == 0 && hi == 1 && neg == 0 {
		return a
	}
	d := &w.tmp[i][0]
	sl, sh := 16*lo, 16*hi
	for j := range d[:w.n] {
		d[j] = (a[j]>>sl&0xffff | a[j]>>sh<<16) ^ neg
	}
	return d
}

func pkX2(f, sat func(a, b uint32) uint32) handler {
	return func(w *wave, o *op) {
		f := f
		if o.mod.Clamp {
			f = sat
		}
		a, b, d := w.halvesOf(o, 0, false), w.halvesOf(o, 1, false), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(a[i], b[i])
		}
	}
}

func pkX3(f, sat func(a, b, c uint32) uint32) handler {
	return func(w *wave, o *op) {
		f := f
		if o.mod.Clamp {
			f = sat
		}
		a, b, c, d := w.halvesOf(o, 0, false), w.halvesOf(o, 1, false), w.halvesOf(o, 2, false), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func pkF16x2(f func(m arith.Mode, a, b uint16) uint16) handler {
	return func(w *wave, o *op) {
		a, b, d := w.halvesOf(o, 0, true), w.halvesOf(o, 1, true), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			x, y := a[i], b[i]
			d[i] = uint32(f(w.mode, uint16(x), uint16(y))) | uint32(f(w.mode, uint16(x>>16), uint16(y>>16)))<<16
		}
	}
}

func pkF16x3(f func(m arith.Mode, a, b, c uint16) uint16) handler {
	return func(w *wave, o *op) {
		a, b, c, d := w.halvesOf(o, 0, true), w.halvesOf(o, 1, true), w.halvesOf(o, 2, true), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			x, y, z := a[i], b[i], c[i]
			d[i] = uint32(f(w.mode, uint16(x), uint16(y), uint16(z))) | uint32(f(w.mode, uint16(x>>16), uint16(y>>16), uint16(z>>16)))<<16
		}
	}
}

// vPkFmacF16 is a VOP2 instruction: its halves cannot be chosen.
func vPkFmacF16(w *wave, o *op) {
	a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.old(o), w.out(o)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		x, y, z := a[i], b[i], c[i]
		d[i] = uint32(w.mode.FmaF16(uint16(x), uint16(y), uint16(z))) | uint32(w.mode.FmaF16(uint16(x>>16), uint16(y>>16), uint16(z>>16)))<<16
	}
}

// pair returns the dwords of source i of a packed f32 instruction that the
// low and the high result take, negated by neg_lo and neg_hi. They may be
// rows of the destination.
func (w *wave) pair(o *op, i int) (lo, hi *lanes) {
	s, m := &o.src[i], &o.mod
	lo, hi = w.row(s), w.hi(s)
	first := lo
	if m.OpSel>>i&1 != 0 {
		lo = hi
	}
	if m.OpSelHi>>i&1 == 0 {
		hi = first
	}
	if m.Neg>>i&1 != 0 {
		lo = negate(&w.pairs[i][0], lo)
	}
	if m.NegHi>>i&1 != 0 {
		hi = negate(&w.pairs[i][1], hi)
	}
	return lo, hi
}

// negate sets d to a with the signs changed.
func negate(d, a *lanes) *lanes {
	for i := range d {
		d[i] = a[i] ^ 1<<31
	}
	return d
}

// packedF32 runs f for the low and the high result of a packed f32
// instruction. Where the low one goes to a register that the high one still
// reads, it waits in a temporary row.
func (w *wave) packedF32(o *op, n int, f func(w *wave, d *lanes, s [3]*lanes)) {
	var lo, hi [3]*lanes
	dl, dh := w.out(o), w.outHi(o)
	clash := false
	for i := range n {
		lo[i], hi[i] = w.pair(o, i)
		clash = clash || hi[i] == dl
	}
	if !clash {
		f(w, dl, lo)
		f(w, dh, hi)
		return
	}
	t := &w.pairs[3][0]
	f(w, t, lo)
	f(w, dh, hi)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		dl[i] = t[i]
	}
}

func vPkAddF32(w *wave, o *op) {
	w.packedF32(o, 2, func(w *wave, d *lanes, s [3]*lanes) { w.addF32(d, s[0], s[1]) })
}

func vPkMulF32(w *wave, o *op) {
	w.packedF32(o, 2, func(w *wave, d *lanes, s [3]*lanes) { w.mulF32(d, s[0], s[1]) })
}

func vPkFmaF32(w *wave, o *op) {
	w.packedF32(o, 3, func(w *wave, d *lanes, s [3]*lanes) { w.fmaF32(d, s[0], s[1], s[2]) })
}

// vPkMovB32 moves a dword of each source: op_sel of a source chooses which.
// Source: LLVM, SIInstrInfo::copyPhysReg, which copies a pair by op_sel
// [0,1].
func vPkMovB32(w *wave, o *op) {
	var s [2]*lanes
	for i := range s {
		if o.mod.OpSel>>i&1 == 0 {
			s[i] = w.row(&o.src[i])
		} else {
			s[i] = w.hi(&o.src[i])
		}
	}
	dl, dh := w.out(o), w.outHi(o)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		dl[i], dh[i] = s[0][i], s[1][i]
	}
}

// mixed returns source i of v_fma_mix: an f32, or with op_sel_hi the half
// that op_sel chooses, widened; then its absolute value and negation.
func (w *wave) mixed(o *op, i int) *lanes {
	a, m := w.row(&o.src[i]), &o.mod
	and, xor := ^uint32(0), uint32(0)
	if m.Abs>>i&1 != 0 {
		and = 1<<31 - 1
	}
	if m.Neg>>i&1 != 0 {
		xor = 1 << 31
	}
	d := &w.pairs[i][0]
	if m.OpSelHi>>i&1 == 0 {
		if and == ^uint32(0) && xor == 0 {
			return a
		}
		for j := range d[:w.n] {
			d[j] = a[j]&and ^ xor
		}
		return d
	}
	if m.OpSel>>i&1 != 0 {
		for j := range d[:w.n] {
			d[j] = a[j] >> 16
		}
		a = d
	}
	if w.mode&arith.DenormIn1664 != 0 {
		wideF16(d, a, w.full, w.n)
	} else {
		for j := range d[:w.n] {
			d[j] = w.mode.CvtF32F16(uint16(a[j]))
		}
	}
	if and != ^uint32(0) || xor != 0 {
		for j := range d[:w.n] {
			d[j] = d[j]&and ^ xor
		}
	}
	return d
}

func vFmaMixF32(w *wave, o *op) { w.fmaF32(w.out(o), w.mixed(o, 0), w.mixed(o, 1), w.mixed(o, 2)) }

func vFmaMixF16(w *wave, o *op) {
	t := &w.pairs[3][0]
	w.fmaF32(t, w.mixed(o, 0), w.mixed(o, 1), w.mixed(o, 2))
	w.narrow(w.out(o), t)
}

// mixHi makes the result the high half of the register.
func mixHi(c *compiler, in *isa.Inst, o *op) error {
	o.mod.OpSel |= 8
	return nil
}
