package isa

import "encoding/binary"

// Decode decodes the first instruction of code, which stands at address
// pc. The error is a *DecodeError. Words that are no instruction to LLVM 19
// are none here, and the other way round.
func Decode(a Arch, code []byte, pc uint64) (Inst, error) {
	var i Inst
	d := decoder{arch: a, n: len(code)}
	if a >= numArch || len(code) < 4 {
		return i, fail(a, code, pc, true)
	}
	d.lo = uint64(binary.LittleEndian.Uint32(code))
	if len(code) >= 8 {
		d.lo = binary.LittleEndian.Uint64(code)
	}
	if len(code) >= 12 {
		d.hi = binary.LittleEndian.Uint32(code[8:])
	}
	if len(code) >= 16 {
		d.hi2 = binary.LittleEndian.Uint32(code[12:])
	}
	if len(code) >= 20 {
		d.hi3 = binary.LittleEndian.Uint32(code[16:])
	}
	i.PC, i.Arch = pc, a
	if !d.decode(&i) {
		return Inst{}, fail(a, code, pc, false)
	}
	if int(i.Size) > len(code) {
		return Inst{}, fail(a, code, pc, true)
	}
	return i, nil
}

func fail(a Arch, code []byte, pc uint64, short bool) error {
	e := &DecodeError{Arch: a, PC: pc, Short: short}
	for len(code) >= 4 && len(e.Words) < 3 {
		e.Words = append(e.Words, binary.LittleEndian.Uint32(code))
		code = code[4:]
	}
	return e
}

// A decoder holds the words of one instruction.
type decoder struct {
	lo           uint64
	hi, hi2, hi3 uint32 // third dword on
	arch         Arch
	n            int
	lit          bool
	litAt        uint8
}

func (d *decoder) bits(shift, n uint) uint32 { return uint32(d.lo>>shift) & (1<<n - 1) }

func (d *decoder) bit(shift uint) bool { return d.lo>>shift&1 != 0 }

// word returns dword k.
func (d *decoder) word(k uint8) uint32 {
	switch k {
	case 0:
		return uint32(d.lo)
	case 1:
		return uint32(d.lo >> 32)
	case 2:
		return d.hi
	case 3:
		return d.hi2
	}
	return d.hi3
}

// What find returns for encodings without operand tables.
const (
	tableNone uint8 = numTables + iota
	tableVOPD
	tableEXP
)

// find names the table and the opcode of the words.
func (d *decoder) find() (table uint8, op uint32) {
	w := uint32(d.lo)
	gfx9, gfx11 := d.arch == GFX90A, d.arch == GFX1100
	switch {
	case w>>31 == 0:
		v := uint8(0) // as is, SDWA, DPP, DPP8
		switch src := w & 0x1ff; {
		case src == 249 && !gfx11:
			v = 1
		case src == 250:
			v = 2
		case (src == 233 || src == 234) && !gfx9:
			v = 3
		}
		switch w >> 25 {
		case 63:
			return tVOP1 + 3*v, w >> 9 & 0xff
		case 62:
			return tVOPC + 3*v, w >> 17 & 0xff
		}
		return tVOP2 + 3*v, w >> 25
	case w>>30 == 2:
		if op := w >> 23 & 0x7f; op < 96 {
			return tSOP2, op
		}
		switch op := w >> 23 & 31; op {
		case 29:
			return tSOP1, w >> 8 & 0xff
		case 30:
			return tSOPC, w >> 16 & 0x7f
		case 31:
			return tSOPP, w >> 16 & 0x7f
		default:
			return tSOPK, op
		}
	}
	switch w >> 26 {
	case 0x36:
		if gfx9 {
			return tDS, w >> 17 & 0xff
		}
		return tDS, w >> 18 & 0xff
	case 0x37:
		return d.flat(), w >> 18 & 0x7f
	case 0x38:
		v, op := uint8(w>>12&3), w>>18&0xff
		switch {
		case gfx11:
			v = uint8(d.lo >> 54 & 3)
		default:
			v |= uint8(w >> 16 & 1 << 2)
			if gfx9 {
				op &= 0x7f
			}
		}
		return tMUBUF + v, op
	case 0x3a:
		v := uint8(w >> 12 & 3)
		switch d.arch {
		case GFX1100:
			return tMTBUF + uint8(d.lo>>54&3), w >> 15 & 15
		case GFX1030:
			return tMTBUF + v + uint8(d.lo>>53&1<<2), w >> 16 & 7
		}
		return tMTBUF + v, w >> 15 & 15
	}
	if w>>26 == 0x3c {
		switch d.arch {
		case GFX1030:
			return tMIMG, w>>18&0x7f | w&1<<7
		case GFX1100:
			return tMIMG, w >> 18 & 0xff
		}
		return tMIMG, w >> 18 & 0x7f
	}
	if gfx9 {
		switch w >> 26 {
		case 0x30:
			return [4]uint8{tSMEMR, tSMEMRE, tSMEMI, tSMEMB}[w>>16&2|w>>14&1], w >> 18 & 0xff
		case 0x34:
			if op := w >> 16 & 0x3ff; op < 896 {
				return tVOP3, op
			}
			return tVOP3P, w >> 16 & 0x7f
		case 0x35:
			return tVINTRP, w >> 16 & 3
		}
		return tableNone, 0
	}
	switch w >> 26 {
	case 0x32:
		if gfx11 {
			return tableVOPD, 0
		}
		return tVINTRP, w >> 16 & 3
	case 0x3e:
		return tableEXP, 0
	case 0x33:
		switch {
		case w>>23&7 == 0 && w>>24 == 0xcc:
			return tVOP3P + d.vop3dpp(tVOP3PDPP-tVOP3P), w >> 16 & 0x7f
		case gfx11 && w>>24 == 0xcd:
			return tVINTERP, w >> 16 & 0x7f
		case gfx11 && w>>24 == 0xce:
			return tLDSDIR, w >> 20 & 3
		}
	case 0x35:
		return tVOP3 + d.vop3dpp(tVOP3DPP-tVOP3), w >> 16 & 0x3ff
	case 0x3d:
		null := uint32(0x7d)
		if gfx11 {
			null = 0x7c
		}
		switch {
		case d.bits(32, 21) == 0:
			return tSMEMR, w >> 18 & 0xff
		case d.bits(57, 7) == null:
			return tSMEMI, w >> 18 & 0xff
		}
		return tSMEMB, w >> 18 & 0xff
	}
	return tableNone, 0
}

// vop3dpp returns the distance to the DPP table of the 64-bit encodings.
func (d *decoder) vop3dpp(dpp uint8) uint8 {
	if d.arch == GFX1100 {
		switch d.bits(32, 9) {
		case 250:
			return dpp
		case 233, 234:
			return dpp + 1
		}
	}
	return 0
}

// flat names the table of a FLAT, GLOBAL or SCRATCH instruction.
func (d *decoder) flat() uint8 {
	seg := d.bits(14, 2)
	if d.arch == GFX1100 {
		seg = d.bits(16, 2)
	}
	saddr := d.bits(48, 7)
	off := saddr == 0x7f
	switch d.arch {
	case GFX1030:
		off = saddr == 0x7d || saddr == 0x7f
	case GFX1100:
		off = saddr == 0x7c
	}
	switch seg {
	case 0:
		return tFLAT
	case 1:
		switch {
		case d.arch == GFX1100 && d.bit(55):
			if off {
				return tSCRATCH
			}
			return tSCRATCHSVS
		case d.arch == GFX1100 && off, d.arch == GFX1030 && saddr == 0x7f:
			return tSCRATCHST
		case off:
			return tSCRATCH
		}
		return tSCRATCHS
	case 2:
		if off {
			return tGLOBAL
		}
		return tGLOBALS
	}
	return tableNone
}

// flatVariant returns the table of a load to LDS or of an atomic that
// returns, where the words are that, and t otherwise.
func (d *decoder) flatVariant(t uint8, r *opRow) uint8 {
	glc := uint(16)
	if d.arch == GFX1100 {
		glc = 14
	} else if d.bit(13) && t != tFLAT {
		return t + 1
	}
	if r.flags&rowAtomic == 0 || !d.bit(glc) {
		return t
	}
	switch t {
	case tFLAT:
		return tFLATG
	case tGLOBAL:
		return tGLOBALG
	case tGLOBALS:
		return tGLOBALSG
	}
	return t
}

func (d *decoder) decode(i *Inst) bool {
	t, op := d.find()
	switch t {
	case tableVOPD:
		return d.dual(i)
	case tableEXP:
		return d.export(i)
	case tableNone:
		return false
	}
	rows := tables[d.arch][t]
	if op >= uint32(len(rows)) {
		return false
	}
	r := &rows[op]
	if info := tableInfo[t]; info.enc >= FLAT {
		if v := d.flatVariant(t, r); v != t {
			if t, rows = v, tables[d.arch][v]; op >= uint32(len(rows)) {
				return false
			}
			r = &rows[op]
		}
	}
	if r.name == "" || d.lo&r.mask != r.val {
		return false
	}
	info := &tableInfo[t]
	i.op, i.Name, i.Enc, i.Form, i.Size = r, r.name, info.enc, info.form, info.size
	d.litAt = info.size / 4
	i.NDst, i.NSrc = r.defs, r.n-r.defs
	for k := range r.n {
		o := &i.Src[0]
		if k < r.defs {
			o = &i.Dst[k]
		} else {
			o = &i.Src[k-r.defs]
		}
		if !d.operand(i, r.ops[k], o, k) {
			return false
		}
	}
	if d.lit {
		i.Size += 4
	}
	if info.form == DPP16 || info.form == DPP8 {
		d.dppTypes(i, op)
	}
	return d.fields(i, t)
}

// dppTypes gives the sources of DPP the types that they have in the 64-bit
// encoding without DPP: a field that takes registers alone tells none.
func (d *decoder) dppTypes(i *Inst, op uint32) {
	t := tVOP3
	switch i.Enc {
	case VOP1:
		op += 0x180
		if d.arch == GFX90A {
			op -= 0x40
		}
	case VOP2:
		op += 0x100
	case VOP3P:
		t = tVOP3P
	}
	rows := tables[d.arch][t]
	if op >= uint32(len(rows)) || rows[op].name != i.Name {
		return
	}
	r := &rows[op]
	for k := range min(i.NSrc, r.n-r.defs) {
		if s := &i.Src[k]; s.Kind == VGPR {
			s.Type = classes[d.arch][r.ops[r.defs+k].class].typ
		}
	}
}

// operand decodes the k-th printed operand.
func (d *decoder) operand(i *Inst, p opnd, o *Operand, k uint8) bool {
	var v uint32
	switch p.field {
	case fADDR:
		if i.Enc == MIMG && d.nsa() {
			*o = Operand{Kind: RegList, Reg: uint16(d.bits(32, 8))}
			return true
		}
		v = d.bits(32, 8)
	case fLIT:
		c := &classes[d.arch][p.class]
		d.literal(o, c)
		return true
	case fVCC, fEXEC, fM0, fNULL, fSCC, fLDSDIRECT:
		*o = Operand{Kind: Special, Reg: impliedReg[p.field], Width: p.class}
		return true
	case fOFF:
		o.Kind = Off
		return true
	case fIMM:
		o.Kind = Const
		return true
	case fSDWASRC0:
		v = d.bits(32, 8)
		if !d.bit(55) {
			v |= 256
		}
	case fSDWASRC1:
		v = d.bits(9, 8)
		if !d.bit(63) {
			v |= 256
		}
	case fSDWASDST:
		v = d.bits(40, 7)
		if !d.bit(47) {
			v = 106
		}
	case fDPP3SRC0:
		v = d.hi & 0xff
	case fSSAMP:
		v = d.bits(53, 5)
		if d.arch == GFX1100 {
			v = d.bits(58, 5)
		}
	default:
		f := bitFields[p.field]
		v = d.bits(uint(f.shift), uint(f.bits))
	}
	c := &classes[d.arch][p.class]
	if c.ok[v>>5]>>(v&31)&1 == 0 {
		return false
	}
	if c.bad[v>>5]>>(v&31)&1 != 0 {
		i.bad |= 1 << k
		if p.acc != 0 && d.bit(uint(p.acc)) {
			i.badAcc |= 1 << k
		}
	}
	o.Type, o.Width = c.typ, c.width
	switch c.kind {
	case classV, classA:
		o.Kind, o.Reg = VGPR, uint16(v)
		if c.kind == classA || p.acc != 0 && d.bit(uint(p.acc)) {
			o.Kind = AGPR
		}
	case classV16:
		*o = half(v)
	case classAttr:
		if p.field == fIATTR {
			v = v>>2 | v&3<<6
		}
		*o = Operand{Kind: Attr, Reg: uint16(v & 63), Imm: uint64(v >> 6 & 3)}
		i.Imm = int32(v >> 8)
	case classMsg:
		*o = Operand{Kind: Const, Imm: uint64(v)}
		i.Imm = int32(v)
	case classImm:
		*o = Operand{Kind: Literal, Imm: uint64(v), Width: 1}
	case classParam:
		*o = Operand{Kind: Param, Imm: uint64(v)}
	case classIdx:
		*o = Operand{Kind: Const, Imm: uint64(v)}
		i.Imm = int32(v)
	default:
		if v >= 256 {
			if c.kind == classSrc16 {
				*o = half(v - 256)
				return true
			}
			o.Kind, o.Reg = VGPR, uint16(v-256)
			if c.kind == classSrcA || p.acc != 0 && d.bit(uint(p.acc)) {
				o.Kind = AGPR
			}
			return true
		}
		return d.scalar(o, v*uint32(c.scale), c)
	}
	return true
}

// half returns the operand of gfx11's 16-bit registers: bit 7 chooses the
// high half.
func half(v uint32) Operand {
	return Operand{Kind: VGPR, Reg: uint16(v & 127), Width: 1, Type: I16, Half: Low + Half(v>>7)}
}

var impliedReg = [...]uint16{fVCC: VCC, fEXEC: EXEC, fM0: M0, fNULL: NULL, fSCC: SCC, fLDSDIRECT: LDSDirect}

// scalar decodes a value of the scalar operand space.
func (d *decoder) scalar(o *Operand, v uint32, c *operandClass) bool {
	special := func(r uint16) { o.Kind, o.Reg, o.Width = Special, r, c.width }
	// Tuples begin at a multiple of 2 or 4; LLVM rounds down.
	align := uint32(1)
	o.Width = c.swidth
	switch {
	case c.swidth == 2:
		align = 2
	case c.swidth > 2:
		align = 4
	}
	switch {
	case v < 102 || v < 106 && d.arch != GFX90A:
		o.Kind, o.Reg = SGPR, uint16(v&^(align-1))
	case v < 104:
		special(FlatScratch + uint16(v&1))
	case v < 106:
		special(XnackMask + uint16(v&1))
	case v < 108:
		special(VCC + uint16(v&1))
	case v < 124:
		o.Kind, o.Reg = TTMP, uint16((v-108)&^(align-1))
	case v == 124 && d.arch != GFX1100, v == 125 && d.arch == GFX1100:
		special(M0)
	case v < 126:
		special(NULL)
	case v < 128:
		special(EXEC + uint16(v&1))
	case v <= 192:
		o.Kind, o.Imm = InlineInt, uint64(v-128)
	case v <= 208:
		o.Kind = InlineInt
		if n := int64(192) - int64(v); c.width >= 2 {
			o.Imm = uint64(n)
		} else {
			o.Imm = uint64(uint32(n))
		}
	case v >= 240 && v <= 248:
		o.Kind = InlineFloat
		o.Imm = inlineFloat(v-240, c.typ)
	case v == 255:
		d.literal(o, c)
	case v >= 235 && int(v-235) < len(specialAt):
		special(specialAt[v-235])
	default:
		return false
	}
	return true
}

// specialAt holds the scalar operands from 235 up.
var specialAt = [...]uint16{
	235 - 235: SharedBase, 236 - 235: SharedLimit, 237 - 235: PrivateBase, 238 - 235: PrivateLimit, 239 - 235: POPSExitingWaveID,
	251 - 235: VCCZ, 252 - 235: EXECZ, 253 - 235: SCC, 254 - 235: LDSDirect,
}

func (d *decoder) literal(o *Operand, c *operandClass) {
	d.lit = true
	*o = Operand{Kind: Literal, Type: c.typ, Width: c.width, Imm: uint64(d.word(d.litAt))}
	if c.typ == F64 {
		o.Imm <<= 32
	}
}

// The inline floats 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1/(2 pi).
var (
	inline16  = [9]uint64{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118}
	inlineB16 = [9]uint64{0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22}
	inline32  = [9]uint64{0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983}
	inline64  = [9]uint64{0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000,
		0x4000000000000000, 0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882}
)

func inlineFloat(k uint32, t Type) uint64 {
	switch t {
	case I16, F16, V2F16:
		return inline16[k]
	case BF16, V2BF16:
		return inlineB16[k]
	case B64, F64:
		return inline64[k]
	}
	return inline32[k]
}
