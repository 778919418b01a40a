package isa

// printSOPP prints the immediate of a SOPP instruction.
func (i *Inst) printSOPP(b *text) {
	if i.op.live&0xffff == 0 {
		return
	}
	v := uint32(uint16(i.Imm))
	b.s(" ")
	switch i.Name {
	case "s_waitcnt":
		i.printWaitcnt(b, v)
	case "s_sendmsg", "s_sendmsghalt":
		i.printMsg(b, v)
	case "s_delay_alu":
		printDelay(b, v)
	case "s_waitcnt_depctr":
		i.printDepctr(b, v)
	case "s_clause", "s_nop", "s_sleep", "s_sethalt", "s_setprio", "s_icache_inv", "s_endpgm", "s_trap", "s_set_inst_prefetch_distance", "s_inst_prefetch", "s_setkill", "s_set_gpr_idx_mode", "s_incperflevel", "s_decperflevel", "s_ttracedata_imm", "s_wait_event", "s_round_mode", "s_denorm_mode":
		b.x(uint64(v))
	default:
		b.n(int64(i.Imm))
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
			b.n(int64(i.Imm))
		default:
			b.x(uint64(uint16(i.Imm)))
		}
	case SOP1:
		i.printMsg(b, uint32(i.Imm))
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

func (i *Inst) printMsg(b *text, v uint32)    { b.x(uint64(v)) }
func (i *Inst) printDepctr(b *text, v uint32) { b.x(uint64(v)) }
func (i *Inst) printHwreg(b *text, v uint32)  { b.x(uint64(v)) }
func printDelay(b *text, v uint32)            { b.x(uint64(v)) }
func (i *Inst) printSwizzle(b *text)          {}
func (i *Inst) printFormat(b *text)           {}
func (i *Inst) printDual(b *text)             {}
func (i *Inst) printExport(b *text)           {}
