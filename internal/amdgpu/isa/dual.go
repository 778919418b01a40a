package isa

// A dualOp is an opcode of one half of a VOPD instruction.
type dualOp struct {
	name string
	// like is the VOP2 or VOP1 opcode whose source 0 has the same operand
	// class.
	table, like uint8
	form        uint8
}

// Forms of dual instructions.
const (
	dualTwo  uint8 = iota // two sources
	dualOne               // v_dual_mov_b32
	dualK                 // v_dual_fmaak_f32: the literal comes last
	dualMK                // v_dual_fmamk_f32: the literal comes second
	dualMask              // v_dual_cndmask_b32: reads vcc
)

// dualOps are the opcodes, of which only the first 13 can be the X half.
// VOP2 3 is v_add_f32, 37 v_add_nc_u32, 2 v_dot2acc_f32_f16; VOP1 1 is v_mov_b32.
var dualOps = [...]dualOp{
	0:  {"v_dual_fmac_f32", tVOP2, 3, dualTwo},
	1:  {"v_dual_fmaak_f32", tVOP2, 3, dualK},
	2:  {"v_dual_fmamk_f32", tVOP2, 3, dualMK},
	3:  {"v_dual_mul_f32", tVOP2, 3, dualTwo},
	4:  {"v_dual_add_f32", tVOP2, 3, dualTwo},
	5:  {"v_dual_sub_f32", tVOP2, 3, dualTwo},
	6:  {"v_dual_subrev_f32", tVOP2, 3, dualTwo},
	7:  {"v_dual_mul_dx9_zero_f32", tVOP2, 3, dualTwo},
	8:  {"v_dual_mov_b32", tVOP1, 1, dualOne},
	9:  {"v_dual_cndmask_b32", tVOP2, 3, dualMask},
	10: {"v_dual_max_f32", tVOP2, 3, dualTwo},
	11: {"v_dual_min_f32", tVOP2, 3, dualTwo},
	12: {"v_dual_dot2acc_f32_f16", tVOP2, 2, dualTwo},
	16: {"v_dual_add_nc_u32", tVOP2, 37, dualTwo},
	17: {"v_dual_lshlrev_b32", tVOP2, 37, dualTwo},
	18: {"v_dual_and_b32", tVOP2, 37, dualTwo},
}

// dual decodes a VOPD instruction: i becomes the X half and i.Y the Y
// half. Both may share one literal.
func (d *decoder) dual(i *Inst) bool {
	x, y := d.bits(22, 4), d.bits(17, 5)
	if x > 12 || y >= uint32(len(dualOps)) || dualOps[y].name == "" {
		return false
	}
	d.litAt = 2
	vdstX := d.bits(56, 8)
	vdstY := d.bits(49, 7)<<1 | ^vdstX&1
	h := &Inst{PC: i.PC, Arch: i.Arch, Enc: VOPD}
	i.Enc = VOPD
	if !d.halfInst(i, &dualOps[x], vdstX, d.bits(0, 9), d.bits(9, 8)) ||
		!d.halfInst(h, &dualOps[y], vdstY, d.bits(32, 9), d.bits(41, 8)) {
		return false
	}
	i.Y = h
	i.Size = 8
	if d.lit {
		i.Size = 12
	}
	h.Size = i.Size
	return true
}

func (d *decoder) halfInst(i *Inst, op *dualOp, vdst, src0, vsrc1 uint32) bool {
	i.Name = op.name
	row := &tables[d.arch][op.table][op.like]
	c := &classes[d.arch][row.ops[1].class]
	i.NDst, i.NSrc = 1, 2
	i.Dst[0] = Operand{Kind: VGPR, Reg: uint16(vdst), Width: 1}
	if c.ok[src0>>5]>>(src0&31)&1 == 0 {
		return false
	}
	o := &i.Src[0]
	o.Type, o.Width = c.typ, 1
	if src0 >= 256 {
		o.Kind, o.Reg = VGPR, uint16(src0-256)
	} else if !d.scalar(o, src0, c) {
		return false
	}
	v := Operand{Kind: VGPR, Reg: uint16(vsrc1), Width: 1, Type: c.typ}
	i.Src[1] = v
	switch op.form {
	case dualOne:
		if vsrc1 != 0 {
			return false
		}
		i.NSrc, i.Src[1] = 1, Operand{}
	case dualK:
		i.NSrc = 3
		d.literal(&i.Src[2], c)
	case dualMK:
		i.NSrc = 3
		d.literal(&i.Src[1], c)
		i.Src[2] = v
	case dualMask:
		i.NSrc = 3
		i.Src[2] = Operand{Kind: Special, Reg: VCC, Width: 1}
	}
	return true
}

// printDual prints both halves; the vcc of v_dual_cndmask_b32 is not
// printed.
func (i *Inst) printDual(b *text) {
	for h := i; h != nil; h = h.Y {
		if h != i {
			b.s(" :: ")
		}
		b.s(h.Name)
		b.s(" ")
		h.Dst[0].print(b)
		for k := range h.NSrc {
			if h.Src[k].Is(VCC) && k == 2 {
				break
			}
			b.s(", ")
			if k > 0 && h.Src[k].Kind == Literal {
				h.Src[k].printK(b)
			} else {
				h.Src[k].print(b)
			}
		}
	}
}

// Flags of EXP in Inst.Imm, above the enable bits and the target.
const (
	expCompr = 1 << 10
	expDone  = 1 << 11
	expVM    = 1 << 12
	expRow   = 1 << 13
)

// export decodes EXP: four sources, of which the enable bits of Inst.Imm
// say which count.
func (d *decoder) export(i *Inst) bool {
	known := uint32(0x3ff | expDone | expRow)
	if d.arch == GFX1030 {
		known = 0x3ff | expDone | expVM | expCompr
	}
	i.Enc, i.Name, i.Size = EXP, "exp", 8
	i.Imm = int32(d.bits(0, 14) & known)
	compr := i.Imm&expCompr != 0
	i.NSrc = 4
	for k := range uint(4) {
		n := k
		if compr {
			n = k / 2
		}
		if i.Imm>>k&1 == 0 {
			i.Src[k] = Operand{Kind: Off}
		} else {
			i.Src[k] = Operand{Kind: VGPR, Reg: uint16(d.bits(32+8*n, 8)), Width: 1}
		}
	}
	return true
}

func (i *Inst) printExport(b *text) {
	b.s("exp ")
	b.s(targets[i.Arch][i.Imm>>4&63])
	for k := range i.NSrc {
		if k > 0 {
			b.s(",")
		}
		b.s(" ")
		i.Src[k].print(b)
	}
	for _, f := range [...]struct {
		bit  int32
		name string
	}{{expDone, " done"}, {expCompr, " compr"}, {expVM, " vm"}, {expRow, " row_en"}} {
		if i.Imm&f.bit != 0 {
			b.s(f.name)
		}
	}
}
