package isa

// printSOPP prints the immediate of a SOPP instruction.
func (i *Inst) printSOPP(b *text) {
	v := uint32(uint16(i.Imm))
	if i.op.live&0xffff == 0 || v == 0 && i.Name == "s_endpgm" {
		return
	}
	b.s(" ")
	switch i.Name {
	case "s_waitcnt":
		i.printWaitcnt(b, v)
	case "s_sendmsg", "s_sendmsghalt":
		i.printMsg(b, v)
	case "s_delay_alu":
		b.delay(v)
	case "s_set_gpr_idx_mode":
		b.gprIdx(v)
	case "s_waitcnt_depctr":
		b.depctr(v)
	default:
		switch {
		case i.op.flags&rowHex != 0, i.op.flags&rowInline != 0 && v > 64:
			b.x(uint64(v))
		default:
			b.n(int64(v))
		}
	}
}

// printConst prints an immediate that is an operand.
func (i *Inst) printConst(b *text, o *Operand) {
	switch i.Enc {
	case SOPK:
		switch i.Name {
		case "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32":
			i.printHwreg(b, uint32(uint16(i.Imm)))
		case "s_call_b64", "s_cbranch_i_fork", "s_subvector_loop_begin", "s_subvector_loop_end":
			b.n(int64(uint16(i.Imm)))
		case "s_version":
			b.version(uint32(uint16(i.Imm)))
		default:
			b.x(uint64(uint16(i.Imm)))
		}
	case SOP1:
		i.printMsg(b, uint32(i.Imm))
	case SOPC:
		b.gprIdx(uint32(i.Imm))
	case SMEM:
		if i.Offset < 0 {
			b.s("-")
			b.x(uint64(-int64(i.Offset)))
			return
		}
		b.x(uint64(i.Offset))
	default:
		b.n(int64(o.Imm))
	}
}

func (i *Inst) printWaitcnt(b *text, v uint32) {
	var vm, exp, lgkm, vmMax, lgkmMax uint32
	switch i.Arch {
	case GFX90A:
		vm, exp, lgkm, vmMax, lgkmMax = v&15|v>>10&0x30, v>>4&7, v>>8&15, 63, 15
	case GFX1030:
		vm, exp, lgkm, vmMax, lgkmMax = v&15|v>>10&0x30, v>>4&7, v>>8&63, 63, 63
	default:
		vm, exp, lgkm, vmMax, lgkmMax = v>>10&63, v&7, v>>4&63, 63, 63
	}
	all := vm == vmMax && exp == 7 && lgkm == lgkmMax
	sep := ""
	item := func(name string, n, top uint32) {
		if n == top && !all {
			return
		}
		b.s(sep)
		b.s(name)
		b.n(int64(n))
		b.s(")")
		sep = " "
	}
	item("vmcnt(", vm, vmMax)
	item("expcnt(", exp, 7)
	item("lgkmcnt(", lgkm, lgkmMax)
}

// printMsg prints the operand of s_sendmsg: symbols where it is a known
// message with a known operation, numbers otherwise.
func (i *Inst) printMsg(b *text, v uint32) {
	id, op, stream := v&15, v>>4&7, v>>8&3
	old := i.Arch != GFX1100
	if !old {
		id, op, stream = v&255, 0, 0
	}
	const gs, gsDone, sys = 2, 3, 15
	needsOp := id == sys || old && (id == gs || id == gsDone)
	valid := messages[i.Arch][id] != ""
	switch {
	case !needsOp:
		valid = valid && op == 0 && stream == 0
	case id == sys:
		valid = valid && (op == 1 || op == 2 || op == 4) && stream == 0
	case id == gs:
		valid = valid && op >= 1 && op <= 3
	default:
		valid = valid && op <= 3 && (op != 0 || stream == 0)
	}
	known := id|op<<4|stream<<8 == v
	switch {
	case valid:
		b.s("sendmsg(")
		b.s(messages[i.Arch][id])
		if needsOp {
			b.s(", ")
			if id == sys {
				b.s([...]string{"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "", "SYSMSG_OP_TTRACE_PC"}[op])
			} else {
				b.s([...]string{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"}[op])
				if op != 0 {
					b.s(", ")
					b.n(int64(stream))
				}
			}
		}
		b.s(")")
	case known:
		b.s("sendmsg(")
		b.n(int64(id))
		b.s(", ")
		b.n(int64(op))
		b.s(", ")
		b.n(int64(stream))
		b.s(")")
	default:
		b.n(int64(v))
	}
}

// gprIdx prints which operands s_set_gpr_idx makes relative.
func (b *text) gprIdx(v uint32) {
	if v > 15 {
		b.x(uint64(v))
		return
	}
	b.s("gpr_idx(")
	sep := ""
	for k, name := range [...]string{"SRC0", "SRC1", "SRC2", "DST"} {
		if v>>k&1 != 0 {
			b.s(sep)
			b.s(name)
			sep = ","
		}
	}
	b.s(")")
}

// A bitRange is a named field of an immediate.
type bitRange struct {
	name        string
	shift, bits uint
}

var depctrFields = [...]bitRange{
	{"depctr_hold_cnt(", 7, 1}, {"depctr_sa_sdst(", 0, 1}, {"depctr_va_vdst(", 12, 4}, {"depctr_va_sdst(", 9, 3},
	{"depctr_va_ssrc(", 8, 1}, {"depctr_va_vcc(", 1, 1}, {"depctr_vm_vsrc(", 2, 3},
}

// depctr prints the counters that are not at their maximum, all where
// none is. Bits 5 and 6 belong to no counter.
func (b *text) depctr(v uint32) {
	if v&0x60 != 0 {
		b.x(uint64(v))
		return
	}
	all, sep := v == 0xff9f, ""
	for _, f := range depctrFields {
		n, top := v>>f.shift&(1<<f.bits-1), uint32(1)<<f.bits-1
		if n == top && !all {
			continue
		}
		b.s(sep)
		b.s(f.name)
		b.n(int64(n))
		b.s(")")
		sep = " "
	}
}

var (
	delayIDs = [16]string{"", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3",
		"FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"}
	delaySkips = [8]string{"", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"}
)

func (b *text) delay(v uint32) {
	sep := ""
	item := func(field string, n uint32, names []string, kind string) {
		if n == 0 {
			return
		}
		b.s(sep)
		sep = " | "
		b.s(field)
		if names[n] != "" {
			b.s(names[n])
		} else {
			b.s("/* invalid ")
			b.s(kind)
			b.s(" value */")
		}
		b.s(")")
	}
	item("instid0(", v&15, delayIDs[:], "instid")
	item("instskip(", v>>4&7, delaySkips[:], "instskip")
	item("instid1(", v>>7&15, delayIDs[:], "instid")
	if sep == "" {
		b.s("0")
	}
}

func (i *Inst) printHwreg(b *text, v uint32) {
	b.s("hwreg(")
	if name := hwregs[i.Arch][v&63]; name != "" {
		b.s(name)
	} else {
		b.n(int64(v & 63))
	}
	if offset, width := v>>6&31, v>>11&31+1; offset != 0 || width != 32 {
		b.s(", ")
		b.n(int64(offset))
		b.s(", ")
		b.n(int64(width))
	}
	b.s(")")
}

var versions = [...]string{0: "UC_VERSION_GFX7", 4: "UC_VERSION_GFX10", 6: "UC_VERSION_GFX11", 9: "UC_VERSION_GFX12"}

// version prints s_version's operand as LLVM prints an expression.
func (b *text) version(v uint32) {
	if v&0x1f00 != 0 {
		b.x(uint64(v))
		return
	}
	n := 0
	for bit := 13; bit <= 15; bit++ {
		n += int(v >> bit & 1)
	}
	for range n - 1 {
		b.s("(")
	}
	if n := int(v & 0xff); n < len(versions) && versions[n] != "" {
		b.s(versions[n])
	} else {
		b.n(int64(v & 0xff))
	}
	first := true
	for bit, name := range [...]string{"|UC_VERSION_W64_BIT", "|UC_VERSION_W32_BIT", "|UC_VERSION_MDP_BIT"} {
		if v>>(13+bit)&1 != 0 {
			if !first {
				b.s(")")
			}
			first = false
			b.s(name)
		}
	}
}

// printSwizzle prints the offset of ds_swizzle_b32 as the pattern it is.
func (i *Inst) printSwizzle(b *text) {
	v := uint32(i.Offset)
	if v == 0 {
		return
	}
	b.s(" offset:")
	and, or, xor := v&31, v>>5&31, v>>10&31
	size := 32 - and
	pow2 := func(n uint32) bool { return n&(n-1) == 0 }
	pair := func(name string, n ...uint32) {
		b.s("swizzle(")
		b.s(name)
		for _, v := range n {
			b.s(",")
			b.n(int64(v))
		}
		b.s(")")
	}
	switch {
	case v>>8 == 0x80:
		pair("QUAD_PERM", v&3, v>>2&3, v>>4&3, v>>6&3)
	case v>>15 != 0:
		b.n(int64(v))
	case and == 31 && or == 0 && xor != 0 && pow2(xor):
		pair("SWAP", xor)
	case and == 31 && or == 0 && xor != 0 && pow2(xor+1):
		pair("REVERSE", xor+1)
	case size > 1 && pow2(size) && or < size && xor == 0:
		pair("BROADCAST", size, or)
	default:
		zeros, ones := or^xor, (and|or)^xor
		b.s("swizzle(BITMASK_PERM,\"")
		for k := 4; k >= 0; k-- {
			b.s([...]string{"0", "i", "p", "1"}[zeros>>k&1|ones>>k&1<<1])
		}
		b.s("\")")
	}
}

func (i *Inst) printFormat(b *text) {
	if s := formats[i.Arch][i.Imm&127]; s != "" {
		b.s(" format:")
		b.s(s)
	}
}
