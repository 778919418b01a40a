package isa

import (
	"strconv"
)

// String returns LLVM 19's text of the instruction, without the leading
// tab and without comments.
func (i Inst) String() string { return string(i.append(make([]byte, 0, 96))) }

type text []byte

func (b *text) s(s string) { *b = append(*b, s...) }

func (b *text) n(n int64) { *b = strconv.AppendInt(*b, n, 10) }

func (b *text) x(n uint64) { *b = strconv.AppendUint(append(*b, "0x"...), n, 16) }

// append adds the instruction's text to dst.
func (i *Inst) append(dst []byte) []byte {
	b := text(dst)
	switch i.Enc {
	case SOPP:
		b.s(i.Name)
		i.printSOPP(&b)
		return b
	case VOPD:
		i.printDual(&b)
		return b
	case EXP:
		i.printExport(&b)
		return b
	case MIMG:
		i.printImage(&b)
		return b
	}
	if i.op == nil {
		return b // the zero Inst
	}
	b.s(i.Name)
	b.s(suffixes[i.op.suffix])
	for k := range i.op.n {
		if k == 0 {
			b.s(" ")
		} else {
			b.s(", ")
		}
		o := &i.Src[0]
		if k < i.op.defs {
			o = &i.Dst[k]
		} else {
			o = &i.Src[k-i.op.defs]
		}
		i.printOperand(&b, o, k)
	}
	i.printTail(&b)
	return b
}

// printOperand prints the k-th operand with its modifiers.
func (i *Inst) printOperand(b *text, o *Operand, k uint8) {
	m := -1
	if k >= i.op.defs {
		m = modOf(i.op.ops[k].field)
	}
	if m < 0 {
		i.printBare(b, o, k)
		return
	}
	neg, abs, sext := i.Mod.Neg>>m&1 != 0, i.Mod.Abs>>m&1 != 0, i.SDWA.Sext>>m&1 != 0
	if i.Enc == VOP3P {
		if i.op.flags&rowMix == 0 {
			neg = false // neg_lo, printed at the end
		} else {
			abs = i.Mod.NegHi>>m&1 != 0
		}
	}
	if sext {
		b.s("sext(")
		i.printBare(b, o, k)
		b.s(")")
		return
	}
	paren := neg && !abs && (o.Kind == InlineInt || o.Kind == InlineFloat || o.Kind == Literal)
	switch {
	case paren:
		b.s("neg(")
	case neg:
		b.s("-")
	}
	if abs {
		b.s("|")
	}
	i.printBare(b, o, k)
	if abs {
		b.s("|")
	}
	if paren {
		b.s(")")
	}
}

func (i *Inst) printBare(b *text, o *Operand, k uint8) {
	if o.Kind == Const {
		i.printConst(b, o)
		return
	}
	if i.Enc == VOP2 && i.op.ops[k].field == fLIT {
		o.printK(b)
		return
	}
	o.print(b)
	if i.bad>>k&1 == 0 {
		return
	}
	if o.IsConst() {
		b.s("/*Invalid immediate*/")
		return
	}
	b.s("/*Invalid register, operand has '")
	reg := classes[i.Arch][i.op.ops[k].class].reg
	if i.badAcc>>k&1 != 0 && reg[0] == 'V' {
		b.s("A")
		reg = reg[1:]
	}
	b.s(reg)
	b.s("' register class*/")
}

var specialNames = [...]string{
	VCC: "vcc_lo", VCCHi: "vcc_hi", EXEC: "exec_lo", EXECHi: "exec_hi", M0: "m0", NULL: "null", SCC: "src_scc", VCCZ: "src_vccz", EXECZ: "src_execz",
	FlatScratch: "flat_scratch_lo", FlatScratchHi: "flat_scratch_hi", XnackMask: "xnack_mask_lo", XnackMaskHi: "xnack_mask_hi",
	SharedBase: "src_shared_base", SharedLimit: "src_shared_limit", PrivateBase: "src_private_base", PrivateLimit: "src_private_limit",
	POPSExitingWaveID: "src_pops_exiting_wave_id", LDSDirect: "src_lds_direct",
}

func (o Operand) String() string {
	var b text
	o.print(&b)
	return string(b)
}

func (o *Operand) print(b *text) {
	switch o.Kind {
	case VGPR:
		b.reg("v", o)
		b.s([...]string{"", ".l", ".h"}[o.Half])
	case AGPR:
		b.reg("a", o)
	case SGPR:
		b.reg("s", o)
	case TTMP:
		b.reg("ttmp", o)
	case Special:
		if o.Width >= 2 {
			switch o.Reg {
			case VCC:
				b.s("vcc")
				return
			case EXEC:
				b.s("exec")
				return
			case FlatScratch:
				b.s("flat_scratch")
				return
			case XnackMask:
				b.s("xnack_mask")
				return
			}
		}
		b.s(specialNames[o.Reg])
	case InlineInt, InlineFloat, Literal:
		o.printConst(b)
	case Const:
		b.n(int64(o.Imm))
	case Off:
		b.s("off")
	case Attr:
		b.s("attr")
		b.n(int64(o.Reg))
		b.s(".")
		b.s("xyzw"[o.Imm : o.Imm+1])
	case Param:
		if o.Imm < 3 {
			b.s([...]string{"p10", "p20", "p0"}[o.Imm])
		} else {
			b.s("invalid_param_")
			b.n(int64(o.Imm))
		}
	}
}

func (b *text) reg(file string, o *Operand) {
	b.s(file)
	if o.Width <= 1 {
		b.n(int64(o.Reg))
		return
	}
	b.s("[")
	b.n(int64(o.Reg))
	b.s(":")
	b.n(int64(o.Reg) + int64(o.Width) - 1)
	b.s("]")
}

// printConst prints a constant as LLVM does: the shortest name that the
// value has in the operand's type, whether or not it was encoded so.
func (o *Operand) printConst(b *text) {
	v := uint32(o.Imm)
	switch o.Type {
	case B64, F64:
		switch n := int64(o.Imm); {
		case n >= -16 && n <= 64:
			b.n(n)
		case b.float(inline64[:], o.Imm, true):
		case o.Type == F64 && o.Kind == Literal:
			b.x(o.Imm >> 32)
		default:
			b.x(o.Imm)
		}
	case I16:
		switch {
		case b.int(int64(int32(v))), b.float(inline32[:], uint64(v), false):
		default:
			b.x(uint64(v & 0xffff))
		}
	case F16:
		switch {
		case b.int(int64(int16(v))), b.float(inline16[:], uint64(v&0xffff), false):
		default:
			b.x(uint64(v & 0xffff))
		}
	case BF16:
		switch {
		case b.int(int64(int16(v))), b.float(inlineB16[:], uint64(v&0xffff), false):
		default:
			b.x(uint64(v))
		}
	case V2F16:
		if !b.int(int64(int32(v))) && !b.float(inline16[:], uint64(v), false) {
			b.x(uint64(v))
		}
	case V2BF16:
		if !b.int(int64(int32(v))) && !b.float(inlineB16[:], uint64(v), false) {
			b.x(uint64(v))
		}
	default:
		if !b.int(int64(int32(v))) && !b.float(inline32[:], uint64(v), false) {
			b.x(uint64(v))
		}
	}
}

// printK prints the constant that is part of v_madak, v_fmamk and the like,
// always in hexadecimal.
func (o *Operand) printK(b *text) {
	v := o.Imm
	if o.Type == F16 {
		v &= 0xffff
	}
	b.x(v)
}

// int prints an inline integer, and reports whether n is one.
func (b *text) int(n int64) bool {
	if n < -16 || n > 64 {
		return false
	}
	b.n(n)
	return true
}

var floatNames = [9]string{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"}

func (b *text) float(values []uint64, v uint64, double bool) bool {
	for k, f := range values {
		if f == v {
			if double && k == 8 {
				b.s("0.15915494309189532")
			} else {
				b.s(floatNames[k])
			}
			return true
		}
	}
	return false
}

// printTail prints what follows the operands.
func (i *Inst) printTail(b *text) {
	switch i.Enc {
	case VOP1, VOP2, VOPC:
		switch i.Form {
		case SDWA:
			i.printSDWA(b)
		case DPP16, DPP8:
			i.printDPP(b)
		}
	case VOP3:
		if i.Imm != 0 {
			b.s(" high")
		}
		i.printOpSel(b)
		i.printClampOmod(b)
		i.printDPP(b)
	case VOP3P:
		if i.op.flags&rowMFMA != 0 {
			i.printMFMA(b)
			return
		}
		i.printPacked(b)
		i.printDPP(b)
	case VINTERP:
		i.printClampOmod(b)
		i.printOpSel(b)
		b.s(" wait_exp:")
		b.n(int64(i.Imm))
	case LDSDIR:
		b.s(" wait_vdst:")
		b.n(int64(i.Imm))
	case DS, MUBUF, MTBUF, FLAT, GLOBAL, SCRATCH, SMEM:
		i.printMemory(b)
	}
}

func (i *Inst) printClampOmod(b *text) {
	if i.Mod.Clamp {
		b.s(" clamp")
	}
	b.s([4]string{"", " mul:2", " mul:4", " div:2"}[i.Mod.Omod])
}

// sources counts the operands that take modifiers.
func (i *Inst) sources() int {
	n := 0
	for k := i.op.defs; k < i.op.n; k++ {
		if modOf(i.op.ops[k].field) >= 0 {
			n++
		}
	}
	return n
}

// list prints one bit for each of n sources, unless all are def.
func (b *text) list(name string, mask uint8, n int, def uint8) {
	if mask&(1<<n-1) == def&(1<<n-1) {
		return
	}
	b.s(name)
	for k := range n {
		if k > 0 {
			b.s(",")
		}
		b.n(int64(mask >> k & 1))
	}
	b.s("]")
}

// printOpSel prints op_sel of VOP3; the destination's bit comes last.
func (i *Inst) printOpSel(b *text) {
	n, m := i.sources(), i.Mod.OpSel
	if i.op.flags&rowPermlane != 0 {
		b.list(" op_sel:[", m, 2, 0)
		return
	}
	if i.Name == "v_fmac_f16" {
		n++ // the tied third source
	}
	if i.op.live>>14&1 != 0 {
		m = m&(1<<n-1) | m>>3&1<<n
		n++
	}
	b.list(" op_sel:[", m, n, 0)
}

// printMFMA prints the matrix instructions' fields.
func (i *Inst) printMFMA(b *text) {
	field := func(name string, v int32) {
		if v != 0 {
			b.s(name)
			b.n(int64(v))
		}
	}
	field(" cbsz:", i.Imm&7)
	field(" abid:", i.Imm>>3&15)
	field(" blgp:", i.Imm>>7)
}

func (i *Inst) printPacked(b *text) {
	n := i.sources()
	b.list(" op_sel:[", i.Mod.OpSel, n, 0)
	if i.op.flags&rowMix != 0 {
		b.list(" op_sel_hi:[", i.Mod.OpSelHi, n, 0)
	} else {
		if i.op.live&(3<<59|1<<14) != 0 {
			b.list(" op_sel_hi:[", i.Mod.OpSelHi, n, 0xff)
		}
		b.list(" neg_lo:[", i.Mod.Neg, n, 0)
		b.list(" neg_hi:[", i.Mod.NegHi, n, 0)
	}
	if i.Mod.Clamp {
		b.s(" clamp")
	}
}

var selNames = [...]string{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"}

func (s Sel) String() string {
	if int(s) < len(selNames) {
		return selNames[s]
	}
	return "Sel(" + strconv.Itoa(int(s)) + ")"
}

func (i *Inst) printSDWA(b *text) {
	i.printClampOmod(b)
	if i.Enc != VOPC {
		if i.op.defs > 0 || i.op.n > 0 {
			b.s(" dst_sel:")
			b.s(i.SDWA.Dst.String())
			b.s([...]string{" dst_unused:UNUSED_PAD", " dst_unused:UNUSED_SEXT", " dst_unused:UNUSED_PRESERVE"}[i.SDWA.Unused])
		}
	}
	b.s(" src0_sel:")
	b.s(i.SDWA.Src0.String())
	if i.Enc != VOP1 {
		b.s(" src1_sel:")
		b.s(i.SDWA.Src1.String())
	}
}

func (i *Inst) printDPP(b *text) {
	d := &i.DPP
	switch i.Form {
	case DPP8:
		b.s(" dpp8:[")
		for k := range 8 {
			if k > 0 {
				b.s(",")
			}
			b.n(int64(d.Lanes >> (3 * k) & 7))
		}
		b.s("]")
		if d.FI {
			b.s(" fi:1")
		}
	case DPP16:
		i.printDPPCtrl(b)
		b.s(" row_mask:")
		b.x(uint64(d.RowMask))
		b.s(" bank_mask:")
		b.x(uint64(d.BankMask))
		if d.BoundCtl {
			b.s(" bound_ctrl:1")
		}
		if d.FI {
			b.s(" fi:1")
		}
	}
}

func (i *Inst) printDPPCtrl(b *text) {
	c := i.DPP.Ctrl
	num := func(name string, n uint16) {
		b.s(name)
		b.n(int64(n))
	}
	gfx9 := i.Arch == GFX90A
	old := func(text, name string) { // what gfx10 removed
		if gfx9 {
			b.s(text)
			return
		}
		b.s(" /* ")
		b.s(name)
		b.s(" is not supported starting from GFX10 */")
	}
	switch {
	case i.op.flags&rowDP != 0 && c&^15 != 0x150:
		b.s("  /* DP ALU dpp only supports row_newbcast */")
	case c <= 0xff:
		b.s(" quad_perm:[")
		for k := range 4 {
			if k > 0 {
				b.s(",")
			}
			b.n(int64(c >> (2 * k) & 3))
		}
		b.s("]")
	case c > 0x100 && c <= 0x10f:
		num(" row_shl:", c&15)
	case c > 0x110 && c <= 0x11f:
		num(" row_shr:", c&15)
	case c > 0x120 && c <= 0x12f:
		num(" row_ror:", c&15)
	case c == 0x130:
		old(" wave_shl:1", "wave_shl")
	case c == 0x134:
		old(" wave_rol:1", "wave_rol")
	case c == 0x138:
		old(" wave_shr:1", "wave_shr")
	case c == 0x13c:
		old(" wave_ror:1", "wave_ror")
	case c == 0x140:
		b.s(" row_mirror")
	case c == 0x141:
		b.s(" row_half_mirror")
	case c == 0x142:
		old(" row_bcast:15", "row_bcast")
	case c == 0x143:
		old(" row_bcast:31", "row_bcast")
	case c&^15 == 0x150 && gfx9:
		num(" row_newbcast:", c&15)
	case c&^15 == 0x150:
		num(" row_share:", c&15)
	case c&^15 == 0x160 && gfx9:
		b.s(" /* row_xmask is not supported on ASICs earlier than GFX10 */")
	case c&^15 == 0x160:
		num(" row_xmask:", c&15)
	default:
		b.s(" /* Invalid dpp_ctrl value */")
	}
}

// printMemory prints offset and flags.
func (i *Inst) printMemory(b *text) {
	off := func() {
		if i.Offset != 0 {
			b.s(" offset:")
			b.n(int64(i.Offset))
		}
	}
	flag := func(f Flags, s string) {
		if i.Has(f) {
			b.s(s)
		}
	}
	cpol := func() {
		flag(GLC, " glc")
		flag(SLC, " slc")
		flag(DLC, " dlc")
		flag(SCCBit, " scc")
	}
	switch i.Enc {
	case DS:
		switch {
		case i.op.live&0xffff == 0:
		case i.Name == "ds_swizzle_b32":
			i.printSwizzle(b)
		case i.op.flags&rowOffset01 != 0:
			if i.Offset0 != 0 {
				b.s(" offset0:")
				b.n(int64(i.Offset0))
			}
			if i.Offset1 != 0 {
				b.s(" offset1:")
				b.n(int64(i.Offset1))
			}
		default:
			off()
		}
		flag(GDS, " gds")
	case FLAT, GLOBAL, SCRATCH:
		off()
		cpol()
		flag(LDS, " lds")
	case MUBUF:
		if i.op.n > 0 {
			flag(IdxEn, " idxen")
			flag(OffEn, " offen")
			off()
		}
		if i.Name == "buffer_store_lds_dword" {
			flag(LDS, " lds")
			cpol()
			return
		}
		cpol()
		flag(TFE, " tfe")
		flag(LDS, " lds")
	case MTBUF:
		i.printFormat(b)
		flag(IdxEn, " idxen")
		flag(OffEn, " offen")
		off()
		cpol()
		flag(TFE, " tfe")
	case SMEM:
		if i.op.live>>32&1 != 0 && i.op.ops[i.op.n-1].field != fIMM && (i.Offset != 0 || i.Arch == GFX90A) {
			b.s(" offset:")
			if i.Offset < 0 {
				b.s("-")
				b.x(uint64(-int64(i.Offset)))
			} else {
				b.x(uint64(i.Offset))
			}
		}
		cpol()
		flag(NV, " nv")
	}
}
