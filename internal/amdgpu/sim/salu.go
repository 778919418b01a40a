package sim

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// saluOps are the scalar instructions, but for control flow.
var saluOps = saluTable()

func saluTable() map[string]spec {
	t := scalarSpecs{}
	add := func(run handler, names ...string) {
		for _, n := range names {
			t[n] = spec{run: run}
		}
	}
	// Moves and selects.
	add(func(w *wave, o *op) { w.setS32(o, w.s32(&o.src[0])) }, "s_mov_b32")
	add(func(w *wave, o *op) { w.setS64(o, w.s64(&o.src[0])) }, "s_mov_b64")
	add(func(w *wave, o *op) { w.setS32(o, uint32(o.imm)) }, "s_movk_i32")
	add(func(w *wave, o *op) {
		if w.scc != 0 {
			w.setS32(o, w.s32(&o.src[0]))
		}
	}, "s_cmov_b32")
	add(func(w *wave, o *op) {
		if w.scc != 0 {
			w.setS64(o, w.s64(&o.src[0]))
		}
	}, "s_cmov_b64")
	add(func(w *wave, o *op) {
		if w.scc != 0 {
			w.setS32(o, uint32(o.imm))
		}
	}, "s_cmovk_i32")
	add(func(w *wave, o *op) { w.setS32(o, w.s32(&o.src[1-w.scc])) }, "s_cselect_b32")
	add(func(w *wave, o *op) { w.setS64(o, w.s64(&o.src[1-w.scc])) }, "s_cselect_b64")

	// Bitwise: SCC says if the result is not zero.
	bit := func(name32, name64 string, f func(a, b uint64) uint64) {
		t[name32] = spec{run: func(w *wave, o *op) {
			v := uint32(f(uint64(w.s32(&o.src[0])), uint64(w.s32(&o.src[1]))))
			w.scc = b2u(v != 0)
			w.setS32(o, v)
		}}
		t[name64] = spec{run: func(w *wave, o *op) {
			v := f(w.s64(&o.src[0]), w.s64(&o.src[1]))
			w.scc = b2u(v != 0)
			w.setS64(o, v)
		}}
	}
	bitwise := map[string]func(a, b uint64) uint64{
		"and": func(a, b uint64) uint64 { return a & b }, "nand": func(a, b uint64) uint64 { return ^(a & b) },
		"or": func(a, b uint64) uint64 { return a | b }, "nor": func(a, b uint64) uint64 { return ^(a | b) },
		"xor": func(a, b uint64) uint64 { return a ^ b }, "xnor": func(a, b uint64) uint64 { return ^(a ^ b) },
		"andn2": func(a, b uint64) uint64 { return a &^ b }, "and_not1": func(a, b uint64) uint64 { return a &^ b },
		"orn2": func(a, b uint64) uint64 { return a | ^b }, "or_not1": func(a, b uint64) uint64 { return a | ^b },
	}
	for name, f := range bitwise {
		bit("s_"+name+"_b32", "s_"+name+"_b64", f)
		t.exec("s_"+name+"_saveexec", f, true)
	}
	andn1 := func(a, b uint64) uint64 { return ^a & b }
	orn1 := func(a, b uint64) uint64 { return ^a | b }
	t.exec("s_andn1_saveexec", andn1, true)
	t.exec("s_and_not0_saveexec", andn1, true)
	t.exec("s_orn1_saveexec", orn1, true)
	t.exec("s_or_not0_saveexec", orn1, true)
	t.exec("s_andn1_wrexec", andn1, false)
	t.exec("s_and_not0_wrexec", andn1, false)
	t.exec("s_andn2_wrexec", bitwise["andn2"], false)
	t.exec("s_and_not1_wrexec", bitwise["andn2"], false)
	t["s_not_b32"] = spec{run: func(w *wave, o *op) {
		v := ^w.s32(&o.src[0])
		w.scc = b2u(v != 0)
		w.setS32(o, v)
	}}
	t["s_not_b64"] = spec{run: func(w *wave, o *op) {
		v := ^w.s64(&o.src[0])
		w.scc = b2u(v != 0)
		w.setS64(o, v)
	}}

	// Arithmetic. f returns the result and SCC.
	arith2 := func(name string, f func(a, b, scc uint32) (uint32, uint32)) {
		t[name] = spec{run: func(w *wave, o *op) {
			v, c := f(w.s32(&o.src[0]), w.s32(&o.src[1]), w.scc)
			w.scc = c
			w.setS32(o, v)
		}}
	}
	overflowAdd := func(a, b uint32) uint32 { s := a + b; return (a ^ s) & (b ^ s) >> 31 }
	overflowSub := func(a, b uint32) uint32 { d := a - b; return (a ^ b) & (a ^ d) >> 31 }
	arith2("s_add_u32", func(a, b, _ uint32) (uint32, uint32) { return bits.Add32(a, b, 0) })
	arith2("s_addc_u32", func(a, b, c uint32) (uint32, uint32) { return bits.Add32(a, b, c) })
	arith2("s_sub_u32", func(a, b, _ uint32) (uint32, uint32) { return bits.Sub32(a, b, 0) })
	arith2("s_subb_u32", func(a, b, c uint32) (uint32, uint32) { return bits.Sub32(a, b, c) })
	arith2("s_add_i32", func(a, b, _ uint32) (uint32, uint32) { return a + b, overflowAdd(a, b) })
	arith2("s_sub_i32", func(a, b, _ uint32) (uint32, uint32) { return a - b, overflowSub(a, b) })
	arith2("s_min_i32", func(a, b, _ uint32) (uint32, uint32) { return minS32(a, b), b2u(int32(a) < int32(b)) })
	arith2("s_max_i32", func(a, b, _ uint32) (uint32, uint32) { return maxS32(a, b), b2u(int32(a) > int32(b)) })
	arith2("s_min_u32", func(a, b, _ uint32) (uint32, uint32) { return min(a, b), b2u(a < b) })
	arith2("s_max_u32", func(a, b, _ uint32) (uint32, uint32) { return max(a, b), b2u(a > b) })
	nonzero := func(v uint32) (uint32, uint32) { return v, b2u(v != 0) }
	arith2("s_lshl_b32", func(a, b, _ uint32) (uint32, uint32) { return nonzero(a << (b & 31)) })
	arith2("s_lshr_b32", func(a, b, _ uint32) (uint32, uint32) { return nonzero(a >> (b & 31)) })
	arith2("s_ashr_i32", func(a, b, _ uint32) (uint32, uint32) { return nonzero(uint32(int32(a) >> (b & 31))) })
	for k := uint(1); k <= 4; k++ {
		arith2("s_lshl"+string(rune('0'+k))+"_add_u32", func(a, b, _ uint32) (uint32, uint32) {
			v := uint64(a)<<k + uint64(b)
			return uint32(v), b2u(v>>32 != 0)
		})
	}
	arith2("s_bfe_u32", func(a, b, _ uint32) (uint32, uint32) { return nonzero(uint32(extractU(uint64(a), b&31, b>>16&127))) })
	arith2("s_bfe_i32", func(a, b, _ uint32) (uint32, uint32) {
		return nonzero(uint32(extractS(uint64(int64(int32(a))), b&31, b>>16&127)))
	})
	arith2("s_absdiff_i32", func(a, b, _ uint32) (uint32, uint32) {
		d := a - b
		if int32(d) < 0 {
			d = -d
		}
		return nonzero(d)
	})
	keep := func(name string, f func(a, b uint32) uint32) {
		t[name] = spec{run: func(w *wave, o *op) { w.setS32(o, f(w.s32(&o.src[0]), w.s32(&o.src[1]))) }}
	}
	keep("s_mul_i32", func(a, b uint32) uint32 { return a * b })
	keep("s_mul_hi_u32", func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) })
	keep("s_mul_hi_i32", func(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) })
	keep("s_bfm_b32", func(a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) })
	keep("s_pack_ll_b32_b16", func(a, b uint32) uint32 { return a&0xffff | b<<16 })
	keep("s_pack_lh_b32_b16", func(a, b uint32) uint32 { return a&0xffff | b&^0xffff })
	keep("s_pack_hh_b32_b16", func(a, b uint32) uint32 { return a>>16 | b&^0xffff })
	keep("s_pack_hl_b32_b16", func(a, b uint32) uint32 { return a>>16 | b<<16 })
	shift64 := func(name string, f func(a uint64, n uint32) uint64) {
		t[name] = spec{run: func(w *wave, o *op) {
			v := f(w.s64(&o.src[0]), w.s32(&o.src[1]))
			w.scc = b2u(v != 0)
			w.setS64(o, v)
		}}
	}
	shift64("s_lshl_b64", func(a uint64, n uint32) uint64 { return a << (n & 63) })
	shift64("s_lshr_b64", func(a uint64, n uint32) uint64 { return a >> (n & 63) })
	shift64("s_ashr_i64", func(a uint64, n uint32) uint64 { return uint64(int64(a) >> (n & 63)) })
	shift64("s_bfe_u64", func(a uint64, n uint32) uint64 { return extractU(a, n&63, n>>16&127) })
	shift64("s_bfe_i64", func(a uint64, n uint32) uint64 { return extractS(a, n&63, n>>16&127) })
	t["s_bfm_b64"] = spec{run: func(w *wave, o *op) {
		w.setS64(o, (1<<(w.s32(&o.src[0])&63)-1)<<(w.s32(&o.src[1])&63))
	}}

	// With a 16-bit immediate, on the destination itself.
	t["s_addk_i32"] = spec{run: func(w *wave, o *op) {
		a, b := w.sdst32(o), uint32(o.imm)
		w.scc = overflowAdd(a, b)
		w.setS32(o, a+b)
	}}
	t["s_mulk_i32"] = spec{run: func(w *wave, o *op) { w.setS32(o, w.sdst32(o)*uint32(o.imm)) }}

	// One source.
	one := func(name string, f func(a uint32) uint32, scc bool) {
		t[name] = spec{run: func(w *wave, o *op) {
			v := f(w.s32(&o.src[0]))
			if scc {
				w.scc = b2u(v != 0)
			}
			w.setS32(o, v)
		}}
	}
	one64 := func(name string, f func(a uint64) uint32, scc bool) {
		t[name] = spec{run: func(w *wave, o *op) {
			v := f(w.s64(&o.src[0]))
			if scc {
				w.scc = b2u(v != 0)
			}
			w.setS32(o, v)
		}}
	}
	one("s_bcnt1_i32_b32", func(a uint32) uint32 { return uint32(bits.OnesCount32(a)) }, true)
	one64("s_bcnt1_i32_b64", func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) }, true)
	one("s_bcnt0_i32_b32", func(a uint32) uint32 { return uint32(bits.OnesCount32(^a)) }, true)
	one64("s_bcnt0_i32_b64", func(a uint64) uint32 { return uint32(bits.OnesCount64(^a)) }, true)
	one("s_brev_b32", bits.Reverse32, false)
	t["s_brev_b64"] = spec{run: func(w *wave, o *op) { w.setS64(o, bits.Reverse64(w.s64(&o.src[0]))) }}
	first := func(n, width int) uint32 {
		if n >= width {
			return ^uint32(0)
		}
		return uint32(n)
	}
	for _, n := range []string{"s_ff1_i32_b32", "s_ctz_i32_b32"} {
		one(n, func(a uint32) uint32 { return first(bits.TrailingZeros32(a), 32) }, false)
	}
	for _, n := range []string{"s_ff1_i32_b64", "s_ctz_i32_b64"} {
		one64(n, func(a uint64) uint32 { return first(bits.TrailingZeros64(a), 64) }, false)
	}
	one("s_ff0_i32_b32", func(a uint32) uint32 { return first(bits.TrailingZeros32(^a), 32) }, false)
	one64("s_ff0_i32_b64", func(a uint64) uint32 { return first(bits.TrailingZeros64(^a), 64) }, false)
	for _, n := range []string{"s_flbit_i32_b32", "s_clz_i32_u32"} {
		one(n, func(a uint32) uint32 { return first(bits.LeadingZeros32(a), 32) }, false)
	}
	for _, n := range []string{"s_flbit_i32_b64", "s_clz_i32_u64"} {
		one64(n, func(a uint64) uint32 { return first(bits.LeadingZeros64(a), 64) }, false)
	}
	for _, n := range []string{"s_flbit_i32", "s_cls_i32"} {
		one(n, func(a uint32) uint32 { return first(bits.LeadingZeros32(a^uint32(int32(a)>>31)), 32) }, false)
	}
	for _, n := range []string{"s_flbit_i32_i64", "s_cls_i32_i64"} {
		one64(n, func(a uint64) uint32 { return first(bits.LeadingZeros64(a^uint64(int64(a)>>63)), 64) }, false)
	}
	one("s_sext_i32_i8", func(a uint32) uint32 { return uint32(int32(int8(a))) }, false)
	one("s_sext_i32_i16", func(a uint32) uint32 { return uint32(int32(int16(a))) }, false)
	one("s_abs_i32", func(a uint32) uint32 {
		if int32(a) < 0 {
			return -a
		}
		return a
	}, true)
	t["s_bitset0_b32"] = spec{run: func(w *wave, o *op) { w.setS32(o, w.sdst32(o)&^(1<<(w.s32(&o.src[0])&31))) }}
	t["s_bitset0_b64"] = spec{run: func(w *wave, o *op) { w.setS64(o, w.sdst64(o)&^(1<<(w.s32(&o.src[0])&63))) }}
	t["s_bitset1_b64"] = spec{run: func(w *wave, o *op) { w.setS64(o, w.sdst64(o)|1<<(w.s32(&o.src[0])&63)) }}
	t["s_bitset1_b32"] = spec{run: func(w *wave, o *op) { w.setS32(o, w.sdst32(o)|1<<(w.s32(&o.src[0])&31)) }}

	// Compares.
	for name, f := range map[string]func(a, b uint32) bool{
		"eq_i32": func(a, b uint32) bool { return a == b }, "lg_i32": func(a, b uint32) bool { return a != b },
		"gt_i32": func(a, b uint32) bool { return int32(a) > int32(b) }, "ge_i32": func(a, b uint32) bool { return int32(a) >= int32(b) },
		"lt_i32": func(a, b uint32) bool { return int32(a) < int32(b) }, "le_i32": func(a, b uint32) bool { return int32(a) <= int32(b) },
		"eq_u32": func(a, b uint32) bool { return a == b }, "lg_u32": func(a, b uint32) bool { return a != b },
		"gt_u32": func(a, b uint32) bool { return a > b }, "ge_u32": func(a, b uint32) bool { return a >= b },
		"lt_u32": func(a, b uint32) bool { return a < b }, "le_u32": func(a, b uint32) bool { return a <= b },
	} {
		t["s_cmp_"+name] = spec{run: func(w *wave, o *op) { w.scc = b2u(f(w.s32(&o.src[0]), w.s32(&o.src[1]))) }}
		signed := name[3] == 'i'
		t["s_cmpk_"+name] = spec{run: func(w *wave, o *op) {
			k := uint32(o.imm)
			if !signed {
				k &= 0xffff
			}
			w.scc = b2u(f(w.s32(&o.src[0]), k))
		}}
	}
	add(func(w *wave, o *op) { w.scc = b2u(w.s64(&o.src[0]) == w.s64(&o.src[1])) }, "s_cmp_eq_u64")
	add(func(w *wave, o *op) { w.scc = b2u(w.s64(&o.src[0]) != w.s64(&o.src[1])) }, "s_cmp_lg_u64")
	add(func(w *wave, o *op) { w.scc = w.s32(&o.src[0]) >> (w.s32(&o.src[1]) & 31) & 1 }, "s_bitcmp1_b32")
	add(func(w *wave, o *op) { w.scc = 1 ^ w.s32(&o.src[0])>>(w.s32(&o.src[1])&31)&1 }, "s_bitcmp0_b32")
	add(func(w *wave, o *op) { w.scc = uint32(w.s64(&o.src[0]) >> (w.s32(&o.src[1]) & 63) & 1) }, "s_bitcmp1_b64")
	add(func(w *wave, o *op) { w.scc = uint32(1 ^ w.s64(&o.src[0])>>(w.s32(&o.src[1])&63)&1) }, "s_bitcmp0_b64")

	// Indexing of VGPRs by M0 on gfx9: bits 7:0 of M0 are the index, bits
	// 15:12 which operands it is for.
	t["s_set_gpr_idx_on"] = spec{run: func(w *wave, o *op) {
		var mode uint32
		if o.src[1].kind == srcConst {
			mode = uint32(o.src[1].x.imm)
		} else {
			mode = uint32(o.imm)
		}
		w.gprIdx = true
		w.s[regM0] = w.s[regM0]&^0xf0ff | w.s32(&o.src[0])&0xff | mode&15<<12
	}}
	add(func(w *wave, o *op) { w.gprIdx = false }, "s_set_gpr_idx_off")
	add(func(w *wave, o *op) { w.s[regM0] = w.s[regM0]&^0xff | w.s32(&o.src[0])&0xff }, "s_set_gpr_idx_idx")
	add(func(w *wave, o *op) { w.s[regM0] = w.s[regM0]&^0xf000 | uint32(o.imm)&15<<12 }, "s_set_gpr_idx_mode")

	// Whole-quad mode: a quad is active where any of its lanes is.
	wqm := func(v uint64) uint64 {
		v |= v >> 1 & 0x5555555555555555
		v = v | v>>2
		v &= 0x1111111111111111
		return v * 15
	}
	t["s_wqm_b32"] = spec{run: func(w *wave, o *op) {
		v := uint32(wqm(uint64(w.s32(&o.src[0]))))
		w.scc = b2u(v != 0)
		w.setS32(o, v)
	}}
	t["s_wqm_b64"] = spec{run: func(w *wave, o *op) {
		v := wqm(w.s64(&o.src[0]))
		w.scc = b2u(v != 0)
		w.setS64(o, v)
	}}
	t["s_quadmask_b32"] = spec{run: func(w *wave, o *op) {
		v := quadmask(uint64(w.s32(&o.src[0])))
		w.scc = b2u(v != 0)
		w.setS32(o, v)
	}}
	t["s_quadmask_b64"] = spec{run: func(w *wave, o *op) {
		v := quadmask(w.s64(&o.src[0]))
		w.scc = b2u(v != 0)
		w.setS64(o, uint64(v))
	}}
	t["s_bitreplicate_b64_b32"] = spec{run: func(w *wave, o *op) {
		v := w.s32(&o.src[0])
		var r uint64
		for i := range 32 {
			r |= uint64(v>>i&1) * 3 << (2 * i)
		}
		w.setS64(o, r)
	}}

	// Moves between registers that M0 displaces.
	for _, n := range []string{"s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64", "s_movrelsd_2_b32"} {
		add(scalarMovrel, n)
	}
	return t
}

// A scalarSpecs collects specs of scalar instructions.
type scalarSpecs map[string]spec

// exec registers the 32-bit and 64-bit forms of an instruction that writes
// exec with f of a source and exec, and returns the old exec (saveexec) or
// the new one.
func (t scalarSpecs) exec(name string, f func(a, b uint64) uint64, old bool) {
	t[name+"_b32"] = spec{run: func(w *wave, o *op) {
		before := uint32(w.exec)
		after := uint32(f(uint64(w.s32(&o.src[0])), uint64(before)))
		w.setExec(w.exec&^0xffffffff | uint64(after))
		w.scc = b2u(after != 0)
		if old {
			after = before
		}
		w.setS32(o, after)
	}}
	t[name+"_b64"] = spec{run: func(w *wave, o *op) {
		before := w.exec
		w.setExec(f(w.s64(&o.src[0]), before))
		after := w.exec
		w.scc = b2u(after != 0)
		if old {
			after = before
		}
		w.setS64(o, after)
	}}
}

// quadmask has a bit for each quad of lanes: whether any is active.
func quadmask(v uint64) uint32 {
	var r uint32
	for i := range 16 {
		r |= b2u(v>>(4*i)&15 != 0) << i
	}
	return r
}

// numSGPRs is how many registers there are that M0 can index.
func numSGPRs(a isa.Arch) int64 {
	if a == isa.GFX90A {
		return regFlatScratch
	}
	return regVCC
}

// movrelRegs returns the source and the destination of a scalar movrel, and
// whether both are registers.
func (w *wave) movrelRegs(o *op) (from, to int32, ok bool) {
	if o.src[0].kind != srcSGPR && !strings.HasPrefix(o.in.Name, "s_movreld") || o.sd.kind != sdstSGPR {
		return 0, 0, false
	}
	s, d := int64(o.src[0].reg), int64(o.sd.reg)
	m0 := w.s[regM0]
	width := int64(o.sd.width)
	switch {
	case o.in.Name == "s_movrelsd_2_b32":
		s += int64(m0 & 0x3ff)
		d += int64(m0 >> 16 & 0x3ff)
	case strings.HasPrefix(o.in.Name, "s_movrels"):
		s += int64(int32(m0))
	default:
		d += int64(int32(m0))
		s = 0
	}
	n := numSGPRs(w.arch)
	if s < 0 || d < 0 || s+width > n || d+width > n {
		return 0, 0, false
	}
	return int32(s), int32(d), true
}

func scalarMovrel(w *wave, o *op) {
	from, to, ok := w.movrelRegs(o)
	if !ok {
		w.refuse(o, fmt.Sprintf("with 0x%x in m0 goes beyond the scalar registers", w.s[regM0]))
		return
	}
	var v uint64
	switch {
	case strings.HasPrefix(o.in.Name, "s_movreld"):
		v = w.s64(&o.src[0])
	case o.sd.width > 1:
		v = uint64(w.s[from]) | uint64(w.s[from+1])<<32
	default:
		v = uint64(w.s[from])
	}
	w.s[to] = uint32(v)
	if o.sd.width > 1 {
		w.s[to+1] = uint32(v >> 32)
	}
}

// sdst64 is the 64-bit scalar destination of o before the instruction.
func (w *wave) sdst64(o *op) uint64 {
	switch o.sd.kind {
	case sdstSGPR:
		return uint64(w.s[o.sd.reg]) | uint64(w.s[o.sd.reg+1])<<32
	case sdstExec:
		return w.exec
	}
	return 0
}

// sdst32 is the scalar destination of o before the instruction.
func (w *wave) sdst32(o *op) uint32 {
	switch o.sd.kind {
	case sdstSGPR:
		return w.s[o.sd.reg]
	case sdstExec:
		return uint32(w.exec >> (32 * uint(o.sd.reg)))
	}
	return 0
}

func extractU(a uint64, off, width uint32) uint64 {
	if width >= 64 {
		return a >> off
	}
	return a >> off & (1<<width - 1)
}

func extractS(a uint64, off, width uint32) uint64 {
	if width == 0 {
		return 0
	}
	width = min(width, 64-off)
	return uint64(int64(a<<(64-off-width)) >> (64 - width))
}
