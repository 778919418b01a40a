package sim

import (
	"errors"
	"math"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// intOps are the vector instructions on integers and bits, but for those
// that cross lanes and for compares.
var intOps = intTable()

// An intSpecs collects specs of integer instructions.
type intSpecs map[string]spec

// add registers a handler, and the one that saturates, nil for none.
func (t intSpecs) add(run, sat handler, names ...string) {
	t.typed(outB32, run, sat, names...)
}

func (t intSpecs) typed(out outType, run, sat handler, names ...string) {
	for _, n := range names {
		t[n] = spec{run: run, out: out, prep: saturating(sat)}
	}
}

// saturating replaces the handler by sat where the instruction clamps.
func saturating(sat handler) func(*compiler, *isa.Inst, *op) error {
	return func(_ *compiler, in *isa.Inst, o *op) error {
		if !in.Mod.Clamp {
			return nil
		}
		if sat == nil {
			return errClamp
		}
		o.run = sat
		return nil
	}
}

func intTable() map[string]spec {
	t := intSpecs{}
	t.add32()
	t.bits32()
	t.sums()
	t.add16()
	t.wide()
	t.carries()
	return t
}

func mulI24(a, b uint32) int64 { return int64(int32(a<<8)>>8) * int64(int32(b<<8)>>8) }
func mulU24(a, b uint32) uint64 {
	return uint64(a&0xffffff) * uint64(b&0xffffff)
}

// satU and satI saturate to 32 bits.
func satU(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }
func satI(v int64) uint32  { return uint32(max(math.MinInt32, min(math.MaxInt32, v))) }

func medianI(a, b, c int32) int32    { return max(min(a, b), min(max(a, b), c)) }
func medianU(a, b, c uint32) uint32  { return max(min(a, b), min(max(a, b), c)) }
func signed16(a uint32) int32        { return int32(int16(a)) }
func median16(a, b, c uint32) uint32 { return medianU(a&0xffff, b&0xffff, c&0xffff) }

// add32 has sums, products, minima and maxima of 32 bits.
func (t intSpecs) add32() {
	t.add(rows1(func(d, a *lanes, n int) { copy(d[:n], a[:n]) }), nil, "v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32")
	t.add(rows2(rowAdd), map2(arith.AddSatU32), "v_add_u32", "v_add_nc_u32")
	t.add(rows2(rowSub), map2(arith.SubSatU32), "v_sub_u32", "v_sub_nc_u32")
	t.add(rows2(rowSubrev), map2(func(a, b uint32) uint32 { return arith.SubSatU32(b, a) }), "v_subrev_u32", "v_subrev_nc_u32")
	t.add(rows2(rowAdd), map2(arith.AddSatI32), "v_add_i32", "v_add_nc_i32")
	t.add(rows2(rowSub), map2(arith.SubSatI32), "v_sub_i32", "v_sub_nc_i32")

	t.add(rows2(rowMul), nil, "v_mul_lo_u32")
	t.add(rows2(rowMulHi), nil, "v_mul_hi_u32")
	t.add(map2(arith.MulHiI32), nil, "v_mul_hi_i32")
	t.add(rows2(rowMulU24), map2(func(a, b uint32) uint32 { return satU(mulU24(a, b)) }), "v_mul_u32_u24")
	t.add(map2(arith.MulI32I24), map2(func(a, b uint32) uint32 { return satI(mulI24(a, b)) }), "v_mul_i32_i24")
	t.add(map2(arith.MulHiU32U24), nil, "v_mul_hi_u32_u24")
	t.add(map2(arith.MulHiI32I24), nil, "v_mul_hi_i32_i24")
	t.add(rows3(rowMadU24), map3(arith.MadSatU32U24), "v_mad_u32_u24")
	t.add(map3(arith.MadI32I24), map3(arith.MadSatI32I24), "v_mad_i32_i24")
	t.add(map3(arith.MadU32U16), map3(func(a, b, c uint32) uint32 {
		return satU(uint64(a&0xffff)*uint64(b&0xffff) + uint64(c))
	}), "v_mad_u32_u16")
	t.add(map3(arith.MadI32I16), map3(func(a, b, c uint32) uint32 {
		return satI(int64(int16(a))*int64(int16(b)) + int64(int32(c)))
	}), "v_mad_i32_i16")

	t.add(rows2(rowMinU), nil, "v_min_u32")
	t.add(rows2(rowMaxU), nil, "v_max_u32")
	t.add(rows2(rowMinI), nil, "v_min_i32")
	t.add(rows2(rowMaxI), nil, "v_max_i32")
	t.add(map3(func(a, b, c uint32) uint32 { return min(a, b, c) }), nil, "v_min3_u32")
	t.add(map3(func(a, b, c uint32) uint32 { return max(a, b, c) }), nil, "v_max3_u32")
	t.add(map3(medianU), nil, "v_med3_u32")
	t.add(map3(func(a, b, c uint32) uint32 { return uint32(min(int32(a), int32(b), int32(c))) }), nil, "v_min3_i32")
	t.add(map3(func(a, b, c uint32) uint32 { return uint32(max(int32(a), int32(b), int32(c))) }), nil, "v_max3_i32")
	t.add(map3(func(a, b, c uint32) uint32 { return uint32(medianI(int32(a), int32(b), int32(c))) }), nil, "v_med3_i32")
	t.add(map3(func(a, b, c uint32) uint32 { return max(min(a, b), c) }), nil, "v_minmax_u32")
	t.add(map3(func(a, b, c uint32) uint32 { return min(max(a, b), c) }), nil, "v_maxmin_u32")
	t.add(map3(func(a, b, c uint32) uint32 { return uint32(max(min(int32(a), int32(b)), int32(c))) }), nil, "v_minmax_i32")
	t.add(map3(func(a, b, c uint32) uint32 { return uint32(min(max(int32(a), int32(b)), int32(c))) }), nil, "v_maxmin_i32")
}

// bits32 has logic, shifts and fields of 32 bits.
func (t intSpecs) bits32() {
	t.add(rows1(rowNot), nil, "v_not_b32")
	t.add(rows2(rowAnd), nil, "v_and_b32")
	t.add(rows2(rowOr), nil, "v_or_b32")
	t.add(rows2(rowXor), nil, "v_xor_b32")
	t.add(map2(func(a, b uint32) uint32 { return ^(a ^ b) }), nil, "v_xnor_b32")
	t.add(rows3(rowAndOr), nil, "v_and_or_b32")
	t.add(rows3(rowOr3), nil, "v_or3_b32")
	t.add(rows3(rowXor3), nil, "v_xor3_b32")
	t.add(map3(func(a, b, c uint32) uint32 { return (a ^ b) + c }), nil, "v_xad_u32")
	t.add(rows3(rowAdd3), nil, "v_add3_u32")
	t.add(rows3(rowLshlAdd), nil, "v_lshl_add_u32")
	t.add(rows3(rowAddLshl), nil, "v_add_lshl_u32")
	t.add(rows3(rowLshlOr), nil, "v_lshl_or_b32")

	t.add(rows2(rowShl), nil, "v_lshlrev_b32")
	t.add(rows2(rowShr), nil, "v_lshrrev_b32")
	t.add(rows2(rowSar), nil, "v_ashrrev_i32")

	t.add(rows3(rowBfeU), nil, "v_bfe_u32")
	t.add(map3(arith.BfeI32), nil, "v_bfe_i32")
	t.add(rows3(rowBfi), nil, "v_bfi_b32")
	t.add(map2(arith.BfmB32), nil, "v_bfm_b32")
	t.add(map1(arith.BfrevB32), nil, "v_bfrev_b32")
	t.add(map2(arith.BcntU32B32), nil, "v_bcnt_u32_b32")
	t.add(map1(arith.FfbhU32), nil, "v_ffbh_u32", "v_clz_i32_u32")
	t.add(map1(arith.FfblB32), nil, "v_ffbl_b32", "v_ctz_i32_b32")
	t.add(map1(arith.FfbhI32), nil, "v_ffbh_i32", "v_cls_i32")
	t.add(rows3(rowAlignbit), nil, "v_alignbit_b32")
	t.add(map3(arith.AlignbyteB32), nil, "v_alignbyte_b32")
	t.add(map3(arith.PermB32), nil, "v_perm_b32")
}

// sums has sums of absolute differences and other instructions on bytes.
// Without the third source a sum fits 32 bits.
func (t intSpecs) sums() {
	sad := func(name string, f func(a, b, c uint32) uint32) {
		t.add(map3(f), map3(func(a, b, c uint32) uint32 { return satU(uint64(f(a, b, 0)) + uint64(c)) }), name)
	}
	sad("v_sad_u8", arith.SadU8)
	sad("v_sad_hi_u8", arith.SadHiU8)
	sad("v_sad_u16", arith.SadU16)
	sad("v_sad_u32", arith.SadU32)
	sad("v_msad_u8", arith.MsadU8)
	t.add(map3(arith.LerpU8), nil, "v_lerp_u8")
}

// add16 has the instructions on 16 bits.
func (t intSpecs) add16() {
	two := func(f func(a, b uint16) uint16) handler {
		return map2(func(a, b uint32) uint32 { return uint32(f(uint16(a), uint16(b))) })
	}
	rev := func(f func(a, b uint16) uint16) func(a, b uint16) uint16 {
		return func(a, b uint16) uint16 { return f(b, a) }
	}
	add := func(a, b uint16) uint16 { return a + b }
	sub := func(a, b uint16) uint16 { return a - b }
	t.typed(outB16, two(add), two(arith.AddSatU16), "v_add_u16", "v_add_nc_u16")
	t.typed(outB16, two(sub), two(arith.SubSatU16), "v_sub_u16", "v_sub_nc_u16")
	t.typed(outB16, two(rev(sub)), two(rev(arith.SubSatU16)), "v_subrev_u16")
	t.typed(outB16Keep, two(add), two(arith.AddSatI16), "v_add_i16", "v_add_nc_i16")
	t.typed(outB16Keep, two(sub), two(arith.SubSatI16), "v_sub_i16", "v_sub_nc_i16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return a * b }), two(func(a, b uint16) uint16 {
		return uint16(min(uint32(a)*uint32(b), math.MaxUint16))
	}), "v_mul_lo_u16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return min(a, b) }), nil, "v_min_u16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return max(a, b) }), nil, "v_max_u16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return uint16(min(int16(a), int16(b))) }), nil, "v_min_i16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return uint16(max(int16(a), int16(b))) }), nil, "v_max_i16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return b << (a & 15) }), nil, "v_lshlrev_b16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return b >> (a & 15) }), nil, "v_lshrrev_b16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return uint16(int16(b) >> (a & 15)) }), nil, "v_ashrrev_i16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return a & b }), nil, "v_and_b16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return a | b }), nil, "v_or_b16")
	t.typed(outB16, two(func(a, b uint16) uint16 { return a ^ b }), nil, "v_xor_b16")
	t.typed(outB16, map1(func(a uint32) uint32 { return ^a & 0xffff }), nil, "v_not_b16")
	t.typed(outB16, map1(func(a uint32) uint32 { return a & 0xffff }), nil, "v_mov_b16")

	three := func(f func(a, b, c uint16) uint16) handler {
		return map3(func(a, b, c uint32) uint32 { return uint32(f(uint16(a), uint16(b), uint16(c))) })
	}
	t.typed(outB16Keep, three(arith.MadU16), three(arith.MadSatU16), "v_mad_u16")
	t.typed(outB16Keep, three(arith.MadU16), three(arith.MadSatI16), "v_mad_i16")
	t.typed(outB16, three(arith.MadU16), three(arith.MadSatU16), "v_mad_legacy_u16")
	t.typed(outB16, three(arith.MadU16), three(arith.MadSatI16), "v_mad_legacy_i16")
	t.typed(outB16Keep, three(func(a, b, c uint16) uint16 { return min(a, b, c) }), nil, "v_min3_u16")
	t.typed(outB16Keep, three(func(a, b, c uint16) uint16 { return max(a, b, c) }), nil, "v_max3_u16")
	t.typed(outB16Keep, three(func(a, b, c uint16) uint16 { return uint16(min(int16(a), int16(b), int16(c))) }), nil, "v_min3_i16")
	t.typed(outB16Keep, three(func(a, b, c uint16) uint16 { return uint16(max(int16(a), int16(b), int16(c))) }), nil, "v_max3_i16")
	t.typed(outB16Keep, map3(median16), nil, "v_med3_u16")
	t.typed(outB16Keep, map3(func(a, b, c uint32) uint32 {
		return uint32(medianI(signed16(a), signed16(b), signed16(c))) & 0xffff
	}), nil, "v_med3_i16")
}

// wide has the instructions on 64 bits.
func (t intSpecs) wide() {
	shift := func(f func(a uint64, n uint32) uint64) handler {
		return func(w *wave, o *op) {
			a, bl, bh := w.row(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
			dl, dh := w.out(o), w.outHi(o)
			for m := w.exec; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				v := f(uint64(bl[i])|uint64(bh[i])<<32, a[i]&63)
				dl[i], dh[i] = uint32(v), uint32(v>>32)
			}
		}
	}
	t.add(vLshlrevB64, nil, "v_lshlrev_b64")
	t.add(shift(func(a uint64, n uint32) uint64 { return a >> n }), nil, "v_lshrrev_b64")
	t.add(shift(func(a uint64, n uint32) uint64 { return uint64(int64(a) >> n) }), nil, "v_ashrrev_i64")
	t.add(vMadU64U32, vMadSatU64U32, "v_mad_u64_u32")
	t.add(vMadI64I32, vMadSatI64I32, "v_mad_i64_i32")
	t.add(quadSums(arith.QsadPkU16U8), quadSums(saturated16(arith.QsadPkU16U8)), "v_qsad_pk_u16_u8")
	t.add(quadSums(arith.MqsadPkU16U8), quadSums(saturated16(arith.MqsadPkU16U8)), "v_mqsad_pk_u16_u8")
	t["v_mqsad_u32_u8"] = spec{run: vMqsadU32U8, prep: func(_ *compiler, in *isa.Inst, o *op) error {
		if o.src[2].kind != srcRow {
			return errors.New("adds to 128 bits that are no vector register")
		}
		return nil
	}}
}

func vLshlrevB64(w *wave, o *op) {
	a, bl, bh := w.row(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
	dl, dh := w.out(o), w.outHi(o)
	if w.exec == w.full {
		for i := range dl[:w.n] {
			v := (uint64(bl[i]) | uint64(bh[i])<<32) << (a[i] & 63)
			dl[i], dh[i] = uint32(v), uint32(v>>32)
		}
		return
	}
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
	if w.exec == w.full {
		for i := range dl[:w.n] {
			v, c := bits.Add64(uint64(a[i])*uint64(b[i]), uint64(cl[i])|uint64(ch[i])<<32, 0)
			dl[i], dh[i] = uint32(v), uint32(v>>32)
			out |= c << (i & 63)
		}
		w.setMask(o, out)
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v, c := bits.Add64(uint64(a[i])*uint64(b[i]), uint64(cl[i])|uint64(ch[i])<<32, 0)
		dl[i], dh[i] = uint32(v), uint32(v>>32)
		out |= c << i
	}
	w.setMask(o, out)
}

func vMadI64I32(w *wave, o *op) {
	a, b, cl, ch := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.hi(&o.src[2])
	dl, dh := w.out(o), w.outHi(o)
	var out uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v, c := arith.MadI64I32(a[i], b[i], uint64(cl[i])|uint64(ch[i])<<32)
		dl[i], dh[i] = uint32(v), uint32(v>>32)
		out |= uint64(b2u(c)) << i
	}
	w.setMask(o, out)
}

// vMadSatU64U32 and vMadSatI64I32 are v_mad with clamp: the sum stops at
// the bounds of 64 bits.
func vMadSatU64U32(w *wave, o *op) {
	madWide(w, o, func(a, b uint32, c uint64) (uint64, bool) {
		v, carry := bits.Add64(uint64(a)*uint64(b), c, 0)
		return v | -carry, carry != 0
	})
}

func vMadSatI64I32(w *wave, o *op) {
	madWide(w, o, func(a, b uint32, c uint64) (uint64, bool) {
		v, carry := arith.MadI64I32(a, b, c)
		p := int64(int32(a)) * int64(int32(b))
		if s := int64(c); (p < 0) == (s < 0) && (p < 0) != (int64(v) < 0) {
			v = math.MaxInt64
			if p < 0 {
				v = 1 << 63
			}
		}
		return v, carry
	})
}

func madWide(w *wave, o *op, f func(a, b uint32, c uint64) (uint64, bool)) {
	a, b, cl, ch := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.hi(&o.src[2])
	dl, dh := w.out(o), w.outHi(o)
	var out uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v, c := f(a[i], b[i], uint64(cl[i])|uint64(ch[i])<<32)
		dl[i], dh[i] = uint32(v), uint32(v>>32)
		out |= uint64(b2u(c)) << i
	}
	w.setMask(o, out)
}

// saturated16 adds the third operand to sums, each of 16 bits, that stop at
// 65535. The sums alone fit.
func saturated16(f func(a uint64, b uint32, c uint64) uint64) func(a uint64, b uint32, c uint64) uint64 {
	return func(a uint64, b uint32, c uint64) uint64 {
		r := f(a, b, 0)
		var d uint64
		for k := 0; k < 64; k += 16 {
			d |= min(r>>k&0xffff+c>>k&0xffff, 0xffff) << k
		}
		return d
	}
}

// quadSums makes the handler of four sums, each of four bytes, packed into
// 64 bits.
func quadSums(f func(a uint64, b uint32, c uint64) uint64) handler {
	return func(w *wave, o *op) {
		al, ah, b, cl, ch := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.hi(&o.src[2])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			v := f(uint64(al[i])|uint64(ah[i])<<32, b[i], uint64(cl[i])|uint64(ch[i])<<32)
			dl[i], dh[i] = uint32(v), uint32(v>>32)
		}
	}
}

func vMqsadU32U8(w *wave, o *op) {
	al, ah, b := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1])
	c, d := w.rows[o.src[2].reg:][:4], w.rows[o.dst:][:4]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		acc := [4]uint32{c[0][i], c[1][i], c[2][i], c[3][i]}
		window := uint64(al[i]) | uint64(ah[i])<<32
		r := arith.MqsadU32U8(window, b[i], acc)
		if o.mod.Clamp {
			for k, sum := range arith.MqsadU32U8(window, b[i], [4]uint32{}) {
				r[k] = arith.AddSatU32(sum, acc[k])
			}
		}
		for k := range r {
			d[k][i] = r[k]
		}
	}
}

// carries has the sums and differences with carry out, and those with carry
// in too, which is the third source.
func (t intSpecs) carries() {
	t.add(carrying(carryAdd), carrying(satAdd), "v_add_co_u32", "v_addc_co_u32", "v_add_co_ci_u32")
	t.add(carrying(carrySub), carrying(satSub), "v_sub_co_u32", "v_subb_co_u32", "v_sub_co_ci_u32")
	rev := func(f carryFunc) carryFunc {
		return func(d, a, b *lanes, n int, in uint64) uint64 { return f(d, b, a, n, in) }
	}
	t.add(carrying(rev(carrySub)), carrying(rev(satSub)), "v_subrev_co_u32", "v_subbrev_co_u32", "v_subrev_co_ci_u32")
}

// A carryFunc computes on rows, with a mask of carries in, and returns the
// carries out.
type carryFunc = func(d, a, b *lanes, n int, in uint64) uint64

func carrying(f carryFunc) handler {
	return func(w *wave, o *op) {
		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
		var in uint64
		if o.in.NSrc == 3 {
			in = w.mask(&o.src[2])
		}
		if w.exec == w.full {
			w.setMask(o, f(d, a, b, w.n, in))
			return
		}
		out := f(&w.rows[tmpMerge], a, b, w.n, in)
		w.merge(d)
		w.setMask(o, out&w.exec)
	}
}

func satAdd(d, a, b *lanes, n int, in uint64) uint64 {
	out := carryAdd(d, a, b, n, in)
	for i := range d[:n] {
		d[i] |= -uint32(out >> (i & 63) & 1)
	}
	return out
}

func satSub(d, a, b *lanes, n int, in uint64) uint64 {
	out := carrySub(d, a, b, n, in)
	for i := range d[:n] {
		d[i] &= uint32(out>>(i&63)&1) - 1
	}
	return out
}
