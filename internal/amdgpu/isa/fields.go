package isa

// fields decodes what is no operand: modifiers, offsets, flags.
func (d *decoder) fields(i *Inst, t uint8) bool {
	m := d.lo & i.op.live
	at := func(shift, n uint) uint8 { return uint8(m >> shift & (1<<n - 1)) }
	switch i.Enc {
	case SOPK, SOPP:
		i.Imm = int32(int16(d.lo))
		for k := range i.NSrc {
			if i.Src[k].Kind == Const {
				i.Src[k].Imm = uint64(int64(i.Imm))
			}
		}
	case VOP1, VOP2, VOPC:
		switch i.Form {
		case SDWA:
			return d.sdwa(i, m)
		case DPP16:
			i.DPP = DPPCtrl{Ctrl: uint16(d.bits(40, 9)), FI: at(50, 1) != 0, BoundCtl: at(51, 1) != 0, BankMask: uint8(d.bits(56, 4)), RowMask: uint8(d.bits(60, 4))}
			i.Mod.Neg = at(52, 1) | at(54, 1)<<1
			i.Mod.Abs = at(53, 1) | at(55, 1)<<1
			d.sext(i)
		case DPP8:
			i.DPP = DPPCtrl{Lanes: d.bits(40, 24), FI: d.bits(0, 9) == 234}
		}
	case VOP3:
		i.Mod = Modifiers{Neg: at(61, 3), Abs: at(8, 3), OpSel: at(11, 4), Clamp: at(15, 1) != 0, Omod: at(59, 2)}
		d.sext(i)
		if d.lo&^i.op.live>>11&15 != 0 && !i.op.has(fSDST3) {
			i.bad |= badOpSel
		}
		return d.dpp3(i)
	case VOP3P:
		if i.op.flags&rowMFMA != 0 {
			i.Imm = int32(at(8, 3)) | int32(at(11, 4))<<3 | int32(at(61, 3))<<7
			return true
		}
		i.Mod = Modifiers{Neg: at(61, 3), NegHi: at(8, 3), OpSel: at(11, 3), Clamp: at(15, 1) != 0, OpSelHi: at(59, 2) | at(14, 1)<<2}
		if i.op.flags&rowMix != 0 {
			i.Mod.Abs = i.Mod.NegHi
		}
		return d.dpp3(i)
	case VINTERP:
		i.Mod = Modifiers{Neg: at(61, 3), OpSel: at(11, 4), Clamp: at(15, 1) != 0}
		i.Imm = int32(at(8, 3))
	case LDSDIR:
		i.Imm = int32(at(16, 4))
	case MIMG:
		return d.image(i)
	default:
		return d.memory(i, t)
	}
	return true
}

// badOpSel is the bit of Inst.bad for op_sel bits that LLVM ignores. There
// is no operand of that number.
const badOpSel = 1 << 7

// has reports whether an operand comes from field f.
func (r *opRow) has(f uint8) bool {
	for i := range r.ops[:r.n] {
		if r.ops[i].field == f {
			return true
		}
	}
	return false
}

func (d *decoder) sdwa(i *Inst, m uint64) bool {
	at := func(shift, n uint) uint8 { return uint8(m >> shift & (1<<n - 1)) }
	i.SDWA = SDWASel{Dst: DWord, Src0: Sel(d.bits(48, 3)), Src1: Sel(d.bits(56, 3)), Sext: at(51, 1) | at(59, 1)<<1}
	i.Mod = Modifiers{Neg: at(52, 1) | at(60, 1)<<1, Abs: at(53, 1) | at(61, 1)<<1}
	if i.Enc != VOPC {
		i.SDWA.Dst, i.SDWA.Unused = Sel(d.bits(40, 3)), uint8(d.bits(43, 2))
		i.Mod.Clamp, i.Mod.Omod = at(45, 1) != 0, at(46, 2)
	}
	// LLVM does not reject the values without meaning but crashes.
	return i.SDWA.Dst <= DWord && i.SDWA.Src0 <= DWord && (i.SDWA.Src1 <= DWord || i.Enc == VOP1) && i.SDWA.Unused <= UnusedPreserve
}

// sext moves the sign bits of sources that are integers: LLVM knows them
// as sign extensions there.
func (d *decoder) sext(i *Inst) {
	var m uint8
	if i.op.flags&rowSext != 0 {
		m |= 6
	}
	if i.op.flags&rowSext0 != 0 {
		m |= 1
	}
	i.SDWA.Sext, i.Mod.Neg = i.Mod.Neg&m, i.Mod.Neg&^m
}

// dpp3 decodes the third dword of VOP3 DPP.
func (d *decoder) dpp3(i *Inst) bool {
	w := d.hi
	switch i.Form {
	case DPP16:
		i.DPP = DPPCtrl{Ctrl: uint16(w >> 8 & 0x1ff), FI: w>>18&1 != 0, BoundCtl: w>>19&1 != 0, BankMask: uint8(w >> 24 & 15), RowMask: uint8(w >> 28)}
	case DPP8:
		i.DPP = DPPCtrl{Lanes: w >> 8, FI: d.bits(32, 9) == 234}
	}
	return true
}

func signed(v uint32, bits uint) int32 { return int32(v<<(32-bits)) >> (32 - bits) }

// memory decodes offsets and flags.
func (d *decoder) memory(i *Inst, t uint8) bool {
	set := func(shift uint, f Flags) {
		if d.lo&(i.op.live|i.op.val)>>shift&1 != 0 {
			i.Flags |= f
		}
	}
	switch i.Enc {
	case DS:
		if i.op.flags&rowOffset01 != 0 {
			i.Offset0, i.Offset1 = uint8(d.lo), uint8(d.lo>>8)
		} else {
			i.Offset = int32(uint16(d.lo))
		}
		if d.arch == GFX90A {
			set(16, GDS)
		} else {
			set(17, GDS)
		}
	case FLAT, GLOBAL, SCRATCH:
		if i.op.flags&rowLDS != 0 {
			i.Flags |= LDS
		}
		switch d.arch {
		case GFX90A:
			i.Offset = signed(d.bits(0, 13), 13)
			set(16, GLC)
			set(17, SLC)
			set(25, SCCBit)
		case GFX1030:
			i.Offset = signed(d.bits(0, 12), 12)
			set(12, DLC)
			set(16, GLC)
			set(17, SLC)
		default:
			i.Offset = signed(d.bits(0, 13), 13)
			set(13, DLC)
			set(14, GLC)
			set(15, SLC)
		}
		if i.Enc == FLAT { // unsigned there
			i.Offset &= 0x1fff
			if d.arch == GFX1030 {
				i.Offset &= 0xfff
			}
		}
	case MUBUF, MTBUF:
		i.Offset = int32(d.bits(0, 12))
		set(14, GLC)
		switch {
		case d.arch == GFX1100:
			set(12, SLC)
			set(13, DLC)
			set(53, TFE)
		case d.arch == GFX1030:
			set(15, DLC)
			set(54, SLC)
			set(55, TFE)
		case i.Enc == MUBUF:
			set(15, SCCBit)
			set(17, SLC)
		default:
			set(53, SCCBit)
			set(54, SLC)
		}
		if i.Enc == MTBUF {
			i.Imm = int32(d.bits(19, 7))
			t = (t - tMTBUF) & 3
		} else {
			if t >= tMUBUFL {
				i.Flags |= LDS
			}
			t = (t - tMUBUF) & 3
		}
		if i.Flags&TFE != 0 {
			// The data has a further dword that says what failed.
			o := &i.Src[0]
			if i.NDst > 0 {
				o = &i.Dst[0]
			}
			if o.Kind == VGPR {
				o.Width++
				if int(o.Reg)+int(o.Width) > 256 {
					return false
				}
			}
		}
		if t&1 != 0 {
			i.Flags |= OffEn
		}
		if t&2 != 0 {
			i.Flags |= IdxEn
		}
		// A buffer atomic's data is read, and with glc written too.
		if i.op.defs == 0 && i.Flags&GLC != 0 && i.op.flags&rowAtomic != 0 {
			i.NDst, i.Dst[0] = 1, i.Src[0]
		}
	case SMEM:
		if d.arch == GFX90A {
			i.Offset = signed(d.bits(32, 21), 21)
			if t == tSMEMR || t == tSMEMRE {
				i.Offset = 0
			}
			set(16, GLC)
			set(15, NV)
		} else {
			i.Offset = signed(d.bits(32, 21), 21)
			if d.arch == GFX1030 {
				set(16, GLC)
				set(14, DLC)
			} else {
				set(14, GLC)
				set(13, DLC)
			}
		}
		for k := range i.NSrc {
			if i.Src[k].Kind == Const {
				i.Src[k].Imm = uint64(int64(i.Offset))
			}
		}
	}
	return true
}
