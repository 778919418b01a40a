package sim

import (
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// shadowOperands are the registers whose state an op combines.
type shadowOperands struct {
	parts   []partRow // vector sources
	scalars []int32   // SGPRs of which every bit counts, for every lane
	mask    *src      // a source that is a lane mask, nil for none
	vcc     bool      // vcc is read as a lane mask, though no operand

	dst    int32 // first row written, tmpOut for none
	n      int32 // rows written
	lo, hi bool  // halves written
	inner  handler
}

// A partRow is a row and which halves of it count.
type partRow struct {
	row    int32
	lo, hi bool
}

// shadow chooses the shadow handler of o.
func (c *compiler) shadow(in *isa.Inst, o *op) {
	switch in.Enc {
	case isa.SOP1, isa.SOP2, isa.SOPC, isa.SOPK, isa.SOPP:
		o.shadow = scalarShadow(in, o)
		return
	}
	if !isVALU(in.Enc) {
		return
	}
	name := in.Name
	if rest, ok := strings.CutPrefix(name, "v_dual_"); ok {
		name = "v_" + rest
	}
	sh := &shadowOperands{dst: o.final, n: 1, lo: true, hi: true}
	o.sh = sh
	for i := range in.Dst[:in.NDst] {
		if d := &in.Dst[i]; d.Kind == isa.VGPR || d.Kind == isa.AGPR {
			sh.n = max(1, int32(d.Width))
		}
	}
	for i := range in.Src[:min(in.NSrc, 3)] {
		c.shadowSource(in, o, i)
	}
	if readsDestination(name) && o.final != tmpOut {
		for k := range sh.n {
			half := name == "v_fmac_f16" || name == "v_mac_f16"
			sh.parts = append(sh.parts, partRow{o.final + k, true, !half})
		}
	}
	switch o.out {
	case outF16, outB16, outF16Keep, outB16Keep:
		if in.Form == isa.SDWA {
			break
		}
		if c.arch != isa.GFX90A || o.out == outF16Keep || o.out == outB16Keep || in.Mod.OpSel&8 != 0 {
			sh.lo, sh.hi = in.Mod.OpSel&8 == 0, in.Mod.OpSel&8 != 0
		}
	}
	if in.Form == isa.SDWA && in.SDWA.Unused == isa.UnusedPreserve {
		switch in.SDWA.Dst {
		case isa.Byte0, isa.Byte1, isa.Word0:
			sh.hi = false
		case isa.Byte2, isa.Byte3, isa.Word1:
			sh.lo = false
		}
	}
	o.shadow = shadowWhole
	switch {
	case name == "v_cndmask_b32" || name == "v_cndmask_b16":
		o.shadow = shadowSelect
	case strings.HasPrefix(name, "v_cmpx"):
		o.shadow = shadowCmpx
	case name == "v_permlane16_b32" || name == "v_permlanex16_b32" || name == "v_permlane64_b32":
		o.shadow = shadowPermlane
	case name == "v_swaprel_b32":
		o.shadow = shadowSwaprel
	case name == "v_div_fmas_f32" || name == "v_div_fmas_f64":
		sh.vcc = true
	case name == "v_readfirstlane_b32" || name == "v_readlane_b32":
		o.shadow = shadowReadLane
	case name == "v_writelane_b32":
		o.shadow = shadowWriteLane
	case name == "v_swap_b32":
		o.shadow = shadowSwap
	case strings.HasPrefix(name, "v_movrel"):
		o.shadow = shadowMovrel
	case (name == "v_mad_u64_u32" || name == "v_mad_i64_i32") && in.Mod.Clamp: // where both dwords depend on both
	case name == "v_mad_u64_u32" || name == "v_mad_i64_i32" || name == "v_lshlrev_b64" || name == "v_lshrrev_b64" || name == "v_ashrrev_i64":
		o.shadow = shadowWide(name, o)
	case in.Form == isa.SDWA && (name == "v_mov_b32" || name == "v_and_b32" || name == "v_or_b32" || name == "v_xor_b32" || name == "v_not_b32"):
		o.shadow = shadowSelected
	case in.Form == isa.SDWA:
	case name == "v_mov_b32" || name == "v_and_b32" || name == "v_or_b32" || name == "v_xor_b32" || name == "v_not_b32" ||
		name == "v_or3_b32" || name == "v_and_or_b32" || name == "v_bfi_b32" || name == "v_xor3_b32" || name == "v_mov_b64" ||
		name == "v_accvgpr_read_b32" || name == "v_accvgpr_write_b32" || name == "v_accvgpr_mov_b32":
		o.shadow = shadowBits
	case name == "v_lshlrev_b32" || name == "v_lshrrev_b32" || name == "v_ashrrev_i32" || name == "v_lshl_or_b32" || name == "v_lshl_add_u32" ||
		name == "v_bfe_u32" || name == "v_bfe_i32" || name == "v_perm_b32" || name == "v_pack_b32_f16" || name == "v_alignbit_b32" || name == "v_alignbyte_b32":
		o.shadow = shadowMoveHalves(name, in, o)
	case in.Enc == isa.VOP3P:
		o.shadow = c.shadowPacked(name, in, o)
	}
	if o.dual != nil {
		sh.inner = o.shadow
		o.shadow = shadowDual
	}
}

// readsDestination reports whether the destination is a source too.
func readsDestination(name string) bool {
	for _, p := range []string{"v_fmac_", "v_mac_", "v_pk_fmac_", "v_dot2c_", "v_dot4c_", "v_dot8c_", "v_dot2acc_", "v_cvt_pkaccum_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// shadowSource adds source i to what the op combines.
func (c *compiler) shadowSource(in *isa.Inst, o *op, i int) {
	sh, s := o.sh, &in.Src[i]
	base := &o.src[i]
	if base.kind == srcMod {
		base = &base.x.base
	}
	switch base.kind {
	case srcRow:
		p := partRow{base.reg, true, true}
		half := s.Type == isa.F16 || s.Type == isa.I16 || s.Type == isa.BF16 || onlyHalves(in, i)
		if in.Name == "v_sat_pk_u8_i16" { // packs two halves
			half = false
		}
		switch {
		case in.Form == isa.SDWA && i < 2:
			switch [2]isa.Sel{in.SDWA.Src0, in.SDWA.Src1}[i] {
			case isa.Byte0, isa.Byte1, isa.Word0:
				p.hi = false
			case isa.Byte2, isa.Byte3, isa.Word1:
				p.lo = false
			}
		case half && in.Enc != isa.VOP3P:
			p.hi = in.Mod.OpSel>>i&1 != 0
			p.lo = !p.hi
		}
		for k := range max(1, int32(s.Width)) {
			p.row = base.reg + k
			sh.parts = append(sh.parts, p)
		}
	case srcSGPR:
		if isMaskSource(in.Name, i) {
			sh.mask = base
			return
		}
		for k := range max(1, int32(s.Width)) {
			sh.scalars = append(sh.scalars, base.reg+k)
		}
	}
}

// onlyHalves reports whether register source i is 16 bits wide by the
// instruction's name: a source that cannot be a constant has no type.
func onlyHalves(in *isa.Inst, i int) bool {
	switch in.Enc {
	case isa.VOP1, isa.VOP2, isa.VOPC:
	default:
		return false
	}
	name := in.Name
	if strings.HasPrefix(name, "v_pk_") || strings.HasPrefix(name, "v_dot2") || i > 1 && in.Src[i].Type != isa.B32 {
		return false
	}
	for _, t := range []string{"_f16", "_i16", "_u16", "_b16", "_bf16"} {
		if strings.HasSuffix(name, t) {
			return true
		}
	}
	return false
}

// isMaskSource reports whether source i of an instruction holds a bit for
// each lane: the select of v_cndmask, and carries.
func isMaskSource(name string, i int) bool {
	if i != 2 {
		return false
	}
	return strings.Contains(name, "cndmask") || strings.HasPrefix(name, "v_addc_co") || strings.HasPrefix(name, "v_subb_co") ||
		strings.HasPrefix(name, "v_subbrev_co") || strings.Contains(name, "_co_ci_")
}

// maskBits returns the lanes whose bit of a lane mask is defined.
func (w *wave) maskBits(s *src) uint64 {
	d := w.scalarBits(s)
	if w.n == 32 {
		d |= 0xffffffff << 32
	}
	return d
}

// gather returns the lanes for which every source is defined.
func (w *wave) gather(sh *shadowOperands) uint64 {
	m := ^uint64(0)
	v := w.shadow.v
	for i := range sh.parts {
		p := &sh.parts[i]
		h := &v[p.row]
		if p.lo {
			m &= h.lo
		}
		if p.hi {
			m &= h.hi
		}
	}
	for _, r := range sh.scalars {
		if w.shadow.s[r] != ^uint32(0) {
			m = 0
		}
	}
	if sh.mask != nil {
		m &= w.maskBits(sh.mask)
	}
	if sh.vcc {
		m &= w.maskBits(&src{kind: srcSGPR, reg: regVCC})
	}
	return m
}

// settle gives the results of o the state m.
func (w *wave) settle(o *op, m uint64) {
	sh := o.sh
	if sh.dst != tmpOut {
		if m&w.exec != w.exec {
			from := w.source(o)
			for k := range sh.n {
				w.from.v[sh.dst+k] = from
			}
		}
		for k := range sh.n {
			h := &w.shadow.v[sh.dst+k]
			if sh.lo {
				h.lo = h.lo&^w.exec | m&w.exec
			}
			if sh.hi {
				h.hi = h.hi&^w.exec | m&w.exec
			}
		}
	}
	if o.sd.kind != sdstNone {
		w.settleMask(o, m)
	}
}

// settleMask gives the lane mask that o writes the state m; bits of
// inactive lanes are zero, hence defined.
func (w *wave) settleMask(o *op, m uint64) {
	m |= ^w.exec
	switch o.sd.kind {
	case sdstSGPR:
		if m != ^uint64(0) {
			from := w.source(o)
			w.from.s[o.sd.reg], w.from.s[o.sd.reg+1] = from, from
		}
		w.shadow.s[o.sd.reg] = uint32(m)
		if w.n == 64 {
			w.shadow.s[o.sd.reg+1] = uint32(m >> 32)
		}
	case sdstExec:
		if bad := ^m & w.exec; bad != 0 {
			w.g.uninit(w, o, bits.TrailingZeros64(bad), "branch", "vgpr", "lanes are chosen by a value that nobody wrote")
		}
	}
}

// shadowWhole is the rule for most instructions: a result is defined where
// every source is.
func shadowWhole(w *wave, o *op) { w.settle(o, w.gather(o.sh)) }

// sourceHalves returns the state of source i as the instruction sees it.
func (w *wave) sourceHalves(o *op, i int) halves {
	s := &o.src[i]
	if s.kind == srcMod {
		s = &s.x.base
	}
	switch s.kind {
	case srcRow:
		return w.shadow.v[s.reg]
	case srcSGPR:
		var h halves
		d := w.shadow.s[s.reg]
		if d&0xffff == 0xffff {
			h.lo = ^uint64(0)
		}
		if d>>16 == 0xffff {
			h.hi = ^uint64(0)
		}
		return h
	}
	return allDefined
}

// shadowSelect is v_cndmask: only the source that is chosen counts.
func shadowSelect(w *wave, o *op) {
	var sel, known uint64
	if o.in.NSrc >= 3 {
		sel, known = w.mask(&o.src[2]), w.maskBits(&o.src[2])
	} else {
		sel, known = w.vcc(), w.maskBits(&src{kind: srcSGPR, reg: regVCC})
	}
	a, b := w.sourceHalves(o, 0), w.sourceHalves(o, 1)
	d := halves{
		lo: known & (a.lo&^sel | b.lo&sel),
		hi: known & (a.hi&^sel | b.hi&sel),
	}
	if o.in.Name == "v_cndmask_b16" {
		// Each source is the half that op_sel chooses.
		half := func(i int, h halves) uint64 {
			if o.in.Mod.OpSel>>i&1 != 0 {
				return h.hi
			}
			return h.lo
		}
		w.settle(o, known&(half(0, a)&^sel|half(1, b)&sel))
		return
	}
	if o.in.Form == isa.SDWA {
		d.lo &= d.hi
		w.settle(o, d.lo)
		return
	}
	w.setShadow(o.final, d, w.exec)
}

// shadowBits is for bitwise instructions, whose halves do not mix. A half
// that a constant zero masks off is defined.
func shadowBits(w *wave, o *op) {
	n := int(o.in.NSrc)
	if o.sh.n == 2 { // v_mov_b64
		s := &o.src[0]
		for k := range int32(2) {
			d := allDefined
			switch s.kind {
			case srcRow:
				d = w.shadow.v[s.reg+k]
			case srcSGPR:
				if w.shadow.s[s.reg+k] != ^uint32(0) {
					d = halves{}
				}
			}
			w.setShadow(o.final+k, d, w.exec)
		}
		return
	}
	d := w.sourceHalves(o, 0)
	and := o.in.Name == "v_and_b32"
	for i := 1; i < n; i++ {
		h := w.sourceHalves(o, i)
		if and {
			a, b := w.constHalf(o, 0), w.constHalf(o, i)
			if a&1 != 0 || b&1 != 0 {
				d.lo, h.lo = ^uint64(0), ^uint64(0)
			}
			if a&2 != 0 || b&2 != 0 {
				d.hi, h.hi = ^uint64(0), ^uint64(0)
			}
		}
		d.lo &= h.lo
		d.hi &= h.hi
	}
	if o.in.Name == "v_and_or_b32" {
		// (a & b) | c with a constant that selects a half.
		a, b, c := w.sourceHalves(o, 0), w.sourceHalves(o, 1), w.sourceHalves(o, 2)
		d = halves{a.lo & b.lo, a.hi & b.hi}
		k := w.constHalf(o, 0) | w.constHalf(o, 1)
		if k&1 != 0 {
			d.lo = ^uint64(0)
		}
		if k&2 != 0 {
			d.hi = ^uint64(0)
		}
		d.lo &= c.lo
		d.hi &= c.hi
	}
	w.setShadow(o.final, d, w.exec)
}

// constHalf reports which halves of source i are known to be zero: bit 0
// for the low one, bit 1 for the high one.
func (w *wave) constHalf(o *op, i int) int {
	s := &o.src[i]
	if s.kind != srcConst && s.kind != srcSGPR {
		return 0
	}
	if s.kind == srcSGPR && w.shadow.s[s.reg] != ^uint32(0) {
		return 0
	}
	v := w.s32(s)
	k := 0
	if v&0xffff == 0 {
		k |= 1
	}
	if v>>16 == 0 {
		k |= 2
	}
	return k
}

// shadowMoveHalves is for shifts, byte permutes and packs, which move
// halves of a register by constants.
func shadowMoveHalves(name string, in *isa.Inst, o *op) handler {
	konst := func(i int) (uint32, bool) {
		if o.src[i].kind == srcConst {
			return uint32(o.src[i].x.imm), true
		}
		return 0, false
	}
	set := func(f func(w *wave, o *op) halves) handler {
		return func(w *wave, o *op) { w.setShadow(o.final, f(w, o), w.exec) }
	}
	ones := ^uint64(0)
	switch name {
	case "v_lshlrev_b32":
		if k, ok := konst(0); ok && k >= 16 && k < 32 {
			return set(func(w *wave, o *op) halves { return halves{ones, w.sourceHalves(o, 1).lo} })
		}
	case "v_lshrrev_b32":
		if k, ok := konst(0); ok && k >= 16 && k < 32 {
			return set(func(w *wave, o *op) halves { return halves{w.sourceHalves(o, 1).hi, ones} })
		}
	case "v_ashrrev_i32":
		if k, ok := konst(0); ok && k >= 16 && k < 32 {
			return set(func(w *wave, o *op) halves { h := w.sourceHalves(o, 1).hi; return halves{h, h} })
		}
	case "v_lshl_or_b32", "v_lshl_add_u32":
		if k, ok := konst(1); ok && k >= 16 && k < 32 {
			return set(func(w *wave, o *op) halves {
				a, c := w.sourceHalves(o, 0), w.sourceHalves(o, 2)
				return halves{c.lo, a.lo & c.hi}
			})
		}
	case "v_bfe_u32", "v_bfe_i32":
		off, ok1 := konst(1)
		width, ok2 := konst(2)
		if ok1 && ok2 {
			off, width = off&31, width&31
			return set(func(w *wave, o *op) halves {
				h := w.sourceHalves(o, 0)
				d := ones
				if off < 16 {
					d &= h.lo
				}
				if off+width > 16 {
					d &= h.hi
				}
				return halves{d, d}
			})
		}
	case "v_pack_b32_f16":
		return set(func(w *wave, o *op) halves {
			pick := func(i int) uint64 {
				h := w.sourceHalves(o, i)
				if o.in.Mod.OpSel>>i&1 != 0 {
					return h.hi
				}
				return h.lo
			}
			return halves{pick(0), pick(1)}
		})
	case "v_alignbit_b32", "v_alignbyte_b32":
		k, ok := konst(2)
		if name == "v_alignbyte_b32" {
			k *= 8
		}
		if ok && k == 16 {
			return set(func(w *wave, o *op) halves { return halves{w.sourceHalves(o, 1).hi, w.sourceHalves(o, 0).lo} })
		}
	case "v_perm_b32":
		return func(w *wave, o *op) {
			sel := &o.src[2]
			if sel.kind != srcConst && (sel.kind != srcSGPR || w.shadow.s[sel.reg] != ^uint32(0)) {
				shadowWhole(w, o)
				return
			}
			k := w.s32(sel)
			a, b := w.sourceHalves(o, 0), w.sourceHalves(o, 1)
			half := func(sel uint32) uint64 {
				d := ones
				for range 2 {
					switch sel & 0xff {
					case 0, 1, 8:
						d &= b.lo
					case 2, 3, 9:
						d &= b.hi
					case 4, 5, 10:
						d &= a.lo
					case 6, 7, 11:
						d &= a.hi
					}
					sel >>= 8
				}
				return d
			}
			w.setShadow(o.final, halves{half(k), half(k >> 16)}, w.exec)
		}
	}
	return shadowWhole
}

// shadowWide is for instructions on 64 bits of which compilers use a half:
// the low dword of a sum depends on low dwords only.
func shadowWide(name string, o *op) handler {
	wide := 1 // the 64-bit source
	if strings.HasPrefix(name, "v_mad") {
		wide = 2
	}
	shift, known := uint32(0), false
	if s := &o.src[0]; s.kind == srcConst {
		shift, known = uint32(s.x.imm)&63, true
	}
	pair := func(w *wave) (lo, hi uint64) {
		s := &o.src[wide]
		at := func(k int32) uint64 {
			switch s.kind {
			case srcRow:
				h := w.shadow.v[s.reg+k]
				return h.lo & h.hi
			case srcSGPR:
				if w.shadow.s[s.reg+k] != ^uint32(0) {
					return 0
				}
			}
			return ^uint64(0)
		}
		return at(0), at(1)
	}
	return func(w *wave, o *op) {
		m := ^uint64(0) // of the other sources
		for i := range wide {
			h := w.sourceHalves(o, i)
			m &= h.lo & h.hi
		}
		lo, hi := pair(w)
		both := lo & hi
		switch name {
		case "v_lshrrev_b64", "v_ashrrev_i64":
			if known && shift >= 32 {
				lo = hi
			} else {
				lo = both
			}
			if name == "v_lshrrev_b64" && known && shift >= 32 {
				hi = ^uint64(0)
			}
		case "v_lshlrev_b64":
			if known && shift >= 32 {
				lo, hi = ^uint64(0), lo
			} else if !known || shift > 0 {
				hi = both
			}
		default:
			hi = both
		}
		w.setShadow(o.final, halves{lo & m, lo & m}, w.exec)
		w.setShadow(o.final+1, halves{hi & m, hi & m}, w.exec)
		if o.sd.kind != sdstNone {
			w.settleMask(o, both&m)
		}
	}
}

// shadowPacked is for VOP3P: packed 16-bit instructions, whose result's
// halves come from those that op_sel and op_sel_hi choose, and v_fma_mix,
// whose sources are f32 or a half.
func (c *compiler) shadowPacked(name string, in *isa.Inst, o *op) handler {
	n := int(min(in.NSrc, 3))
	switch {
	case strings.HasPrefix(name, "v_pk_") && (strings.HasSuffix(name, "16")):
		return func(w *wave, o *op) {
			d := allDefined
			for i := range n {
				h := w.sourceHalves(o, i)
				lo, hi := h.lo, h.lo
				if o.mod.OpSel>>i&1 != 0 {
					lo = h.hi
				}
				if o.mod.OpSelHi>>i&1 != 0 {
					hi = h.hi
				}
				d.lo &= lo
				d.hi &= hi
			}
			if name == "v_pk_fmac_f16" {
				h := w.shadow.v[o.final]
				d.lo &= h.lo
				d.hi &= h.hi
			}
			w.setShadow(o.final, d, w.exec)
		}
	case strings.HasPrefix(name, "v_fma_mix") || strings.HasPrefix(name, "v_mad_mix"):
		return func(w *wave, o *op) {
			m := ^uint64(0)
			for i := range n {
				h := w.sourceHalves(o, i)
				switch {
				case o.mod.OpSelHi>>i&1 == 0:
					m &= h.lo & h.hi
				case o.mod.OpSel>>i&1 != 0:
					m &= h.hi
				default:
					m &= h.lo
				}
			}
			h := &w.shadow.v[o.final]
			if !strings.HasSuffix(name, "mixhi_f16") {
				h.lo = h.lo&^w.exec | m&w.exec
			}
			if !strings.HasSuffix(name, "mixlo_f16") {
				h.hi = h.hi&^w.exec | m&w.exec
			}
		}
	case name == "v_pk_add_f32" || name == "v_pk_mul_f32" || name == "v_pk_fma_f32":
		// The low result comes from the dwords that op_sel chooses, the high
		// one from those of op_sel_hi. With [1,0] the upper register of a
		// source is never read, and compilers leave it unwritten.
		return func(w *wave, o *op) {
			d := [2]halves{allDefined, allDefined}
			for i := range n {
				s := &o.src[i]
				for r, sel := range [2]uint8{o.mod.OpSel, o.mod.OpSelHi} {
					k := int32(sel >> i & 1)
					switch s.kind {
					case srcRow:
						h := w.shadow.v[s.reg+k]
						both := h.lo & h.hi
						d[r].lo &= both
						d[r].hi &= both
					case srcSGPR:
						if w.shadow.s[s.reg+k] != ^uint32(0) {
							d[r] = halves{}
						}
					}
				}
			}
			w.setShadow(o.final, d[0], w.exec)
			w.setShadow(o.final+1, d[1], w.exec)
		}
	case name == "v_pk_mov_b32":
		// Each result dword is one dword of its source.
		return func(w *wave, o *op) {
			var d [2]halves
			for i := range 2 {
				s := &o.src[i]
				k := int32(o.mod.OpSel >> i & 1)
				d[i] = allDefined
				switch s.kind {
				case srcRow:
					d[i] = w.shadow.v[s.reg+k]
				case srcSGPR:
					if w.shadow.s[s.reg+k] != ^uint32(0) {
						d[i] = halves{}
					}
				}
			}
			w.setShadow(o.final, d[0], w.exec)
			w.setShadow(o.final+1, d[1], w.exec)
		}
	}
	return shadowWhole
}

// shadowDual combines both halves of a VOPD, the second from the state
// before the first.
func shadowDual(w *wave, o *op) {
	h := &w.shadow.v[o.final]
	before := *h
	o.sh.inner(w, o)
	after := *h
	*h = before
	if y := o.dual; y.shadow != nil {
		y.shadow(w, y)
	}
	*h = after
}
