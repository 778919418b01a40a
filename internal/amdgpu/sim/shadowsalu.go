package sim

import (
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// scalarShadow chooses the shadow handler of a scalar instruction.
func scalarShadow(in *isa.Inst, o *op) handler {
	name := in.Name
	wide := strings.HasSuffix(name, "64")
	base := strings.TrimSuffix(strings.TrimSuffix(name, "_b64"), "_b32")
	not1 := func(s string) string { // gfx11's names
		for _, r := range [][2]string{{"_and_not1", "_andn2"}, {"_or_not1", "_orn2"}, {"_and_not0", "_andn1"}, {"_or_not0", "_orn1"}} {
			s = strings.Replace(s, r[0], r[1], 1)
		}
		return s
	}
	base = not1(base)
	if op, ok := strings.CutSuffix(base, "_saveexec"); ok {
		return shadowSaveExec(op, true)
	}
	if op, ok := strings.CutSuffix(base, "_wrexec"); ok {
		return shadowSaveExec(op, false)
	}
	if strings.HasPrefix(base, "s_movrel") {
		return shadowScalarMovrel
	}
	switch base {
	case "s_and", "s_nand", "s_or", "s_nor", "s_andn2", "s_orn2", "s_xor", "s_xnor", "s_not", "s_mov":
		return shadowScalarBits(base, wide)
	case "s_cselect":
		return func(w *wave, o *op) {
			var d uint64
			if w.shadow.scc {
				d = w.scalarBits(&o.src[1-w.scc])
			}
			w.settleScalar(o, d)
		}
	case "s_cmov", "s_cmovk_i32":
		return func(w *wave, o *op) {
			d := uint64(0)
			switch {
			case !w.shadow.scc:
			case w.scc == 0:
				return // nothing is written
			case base == "s_cmovk_i32":
				d = ^d
			default:
				d = w.scalarBits(&o.src[0])
			}
			w.settleScalar(o, d)
		}
	case "s_barrier", "s_endpgm", "s_waitcnt", "s_nop", "s_branch":
		return nil
	case "s_cbranch_scc0", "s_cbranch_scc1":
		return func(w *wave, o *op) {
			if !w.shadow.scc {
				w.g.uninit(w, o, w.firstLane(), "branch", "sgpr", "a branch is decided by a value that nobody wrote")
			}
		}
	case "s_cbranch_vccz", "s_cbranch_vccnz":
		return func(w *wave, o *op) {
			if !w.vccDecided() {
				w.g.uninit(w, o, w.firstLane(), "branch", "sgpr", "a branch is decided by a value that nobody wrote")
			}
		}
	case "s_set_gpr_idx_on", "s_set_gpr_idx_idx":
		return func(w *wave, o *op) {
			m := &w.shadow.s[regM0]
			*m = *m&^0xff | uint32(w.scalarBits(&o.src[0]))&0xff
			if base == "s_set_gpr_idx_on" {
				*m |= 0xf000
			}
		}
	case "s_setpc", "s_swappc":
		return func(w *wave, o *op) {
			if w.scalarBits(&o.src[0]) != ^uint64(0) {
				w.g.uninit(w, o, w.firstLane(), "branch", "sgpr", "the address jumped to is a value that nobody wrote")
			}
			w.settleScalar(o, ^uint64(0))
		}
	}
	if in.Enc == isa.SOPP {
		return nil
	}
	reads := strings.HasPrefix(name, "s_addk") || strings.HasPrefix(name, "s_mulk") || strings.HasPrefix(name, "s_bitset")
	readsSCC := strings.HasPrefix(name, "s_addc") || strings.HasPrefix(name, "s_subb")
	scc := writesSCC(name)
	n := int(min(in.NSrc, 3))
	var widths [3]uint64
	for i := range n {
		widths[i] = ^uint64(0)
		if in.Src[i].Width < 2 {
			widths[i] = 0xffffffff
		}
	}
	return func(w *wave, o *op) {
		ok := !readsSCC || w.shadow.scc
		for i := range n {
			ok = ok && w.scalarBits(&o.src[i])&widths[i] == widths[i]
		}
		if reads && o.sd.kind == sdstSGPR {
			ok = ok && w.shadow.s[o.sd.reg] == ^uint32(0) && (o.sd.width < 2 || w.shadow.s[o.sd.reg+1] == ^uint32(0))
		}
		var d uint64
		if ok {
			d = ^uint64(0)
		}
		w.settleScalar(o, d)
		if scc {
			if !ok {
				w.fromSCC = w.source(o)
			}
			w.shadow.scc = ok
		}
	}
}

// writesSCC reports whether an instruction that is not bitwise writes SCC.
func writesSCC(name string) bool {
	for _, p := range []string{"s_add", "s_sub", "s_min", "s_max", "s_lsh", "s_ash", "s_bfe", "s_bcnt", "s_abs", "s_cmp", "s_bitcmp", "s_wqm", "s_quadmask", "s_andn1", "s_orn1"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// settleScalar gives the scalar result of o the defined bits d.
func (w *wave) settleScalar(o *op, d uint64) {
	switch o.sd.kind {
	case sdstSGPR:
		if d != ^uint64(0) {
			from := w.source(o)
			w.from.s[o.sd.reg] = from
			if o.sd.width >= 2 {
				w.from.s[o.sd.reg+1] = from
			}
		}
		w.shadow.s[o.sd.reg] = uint32(d)
		if o.sd.width >= 2 {
			w.shadow.s[o.sd.reg+1] = uint32(d >> 32)
		}
	case sdstExec:
		if o.sd.reg == 1 {
			d = d<<32 | 0xffffffff
		} else if o.sd.width < 2 {
			d |= 0xffffffff << 32
		}
		w.execDecision(o, d)
	}
}

// execDecision notes where exec is written with undefined bits.
func (w *wave) execDecision(o *op, d uint64) {
	if bad := ^d & w.live; bad != 0 {
		w.g.uninit(w, o, bits.TrailingZeros64(bad), "branch", "sgpr", "lanes are chosen by a value that nobody wrote")
	}
}

// bitDefined returns the defined bits of a bitwise operation on values a
// and b with defined bits da and db: a zero decides an and, a one an or.
func bitDefined(op string, a, da, b, db uint64) uint64 {
	switch op {
	case "s_and", "s_nand":
		return da&db | da&^a | db&^b
	case "s_or", "s_nor":
		return da&db | da&a | db&b
	case "s_andn2":
		return da&db | da&^a | db&b
	case "s_orn2":
		return da&db | da&a | db&^b
	case "s_andn1":
		return da&db | da&a | db&^b
	case "s_orn1":
		return da&db | da&^a | db&b
	}
	return da & db
}

func bitValue(op string, a, b uint64) uint64 {
	switch op {
	case "s_and":
		return a & b
	case "s_nand":
		return ^(a & b)
	case "s_or":
		return a | b
	case "s_nor":
		return ^(a | b)
	case "s_andn2":
		return a &^ b
	case "s_orn2":
		return a | ^b
	case "s_xor":
		return a ^ b
	case "s_xnor":
		return ^(a ^ b)
	case "s_not":
		return ^a
	}
	return a
}

func shadowScalarBits(name string, wide bool) handler {
	return func(w *wave, o *op) {
		value := func(s *src) uint64 {
			if wide {
				return w.s64(s)
			}
			return uint64(w.s32(s))
		}
		a, da := value(&o.src[0]), w.scalarBits(&o.src[0])
		d := da
		var b uint64
		if o.in.NSrc > 1 {
			b = value(&o.src[1])
			d = bitDefined(name, a, da, b, w.scalarBits(&o.src[1]))
		}
		w.settleScalar(o, d)
		if name == "s_mov" {
			return
		}
		width := ^uint64(0)
		if !wide {
			width = 0xffffffff
		}
		w.shadow.scc = d&width == width || bitValue(name, a, b)&d&width != 0
	}
}

// shadowSaveExec is for the instructions that combine exec with a source:
// the new exec must be defined. The old one, which saveexec returns, is.
func shadowSaveExec(name string, old bool) handler {
	return func(w *wave, o *op) {
		b, db := w.mask(&o.src[0]), w.maskBits(&o.src[0])
		d := bitDefined(name, b, db, w.exec, ^uint64(0)) | ^w.full
		w.execDecision(o, d)
		if old {
			d = ^uint64(0)
		}
		w.settleScalar(o, d)
		w.shadow.scc = true
	}
}

// shadowScalarMovrel is for moves between registers that M0 displaces.
func shadowScalarMovrel(w *wave, o *op) {
	if w.shadow.s[regM0] != ^uint32(0) {
		w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "a register is chosen by a value that nobody wrote")
	}
	from, to, ok := w.movrelRegs(o)
	if !ok {
		return // the instruction refuses
	}
	for k := range int32(o.sd.width) {
		if strings.HasPrefix(o.in.Name, "s_movreld") {
			w.shadow.s[to+k] = uint32(w.scalarBits(&o.src[0]) >> (32 * k))
		} else {
			w.shadow.s[to+k] = w.shadow.s[from+k]
			w.from.s[to+k] = w.from.s[from+k]
		}
	}
}
