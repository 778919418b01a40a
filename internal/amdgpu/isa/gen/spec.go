//go:build linux || darwin

package main

import "strings"

// A field is a run of bits that may hold a register or a constant.
type field struct {
	name  string
	shift int
	bits  int
	kind  byte // 'v' vector register, 'x' 9-bit source, 's' and 'd' scalar, 'b' scalar pairs, 'r' scalar quads
	top   int  // position of a ninth bit that stands apart
}

// A table is one encoding, or one variant of it.
type table struct {
	name     string
	base     [3]uint32
	bits     int // size of the encoding
	shift    int // of the opcode
	opBits   int
	max      int // first opcode that belongs to a longer prefix, 0 for none
	fields   []field
	try      []uint64 // further bits that may have to be set
	skip     []int    // source values that select another table
	fixed    uint64   // bits that select this table beside the prefix
	high     int      // 1: the opcode's eighth bit is bit 0
	skipBits uint64   // bits that image learns
	nsaBits  uint64   // of these, nsa and a16
	only     string   // part of the names that belong here
}

var (
	fSDST   = field{"SDST", 16, 7, 's', 0}
	fSSRC0  = field{"SSRC0", 0, 8, 's', 0}
	fSSRC1  = field{"SSRC1", 8, 8, 's', 0}
	fSRC0   = field{"SRC0", 0, 9, 'x', 0}
	fVSRC1  = field{"VSRC1", 9, 8, 'v', 0}
	fVDST   = field{"VDST", 17, 8, 'v', 0}
	f3VDST  = field{"VDST3", 0, 8, 'v', 0}
	f3SDST  = field{"SDST3", 8, 7, 'd', 0}
	f3SRC0  = field{"SRC03", 32, 9, 'x', 0}
	f3SRC1  = field{"SRC13", 41, 9, 'x', 0}
	f3SRC2  = field{"SRC23", 50, 9, 'x', 0}
	fADDR   = field{"ADDR", 32, 8, 'v', 0}
	fDATA0  = field{"DATA0", 40, 8, 'v', 0}
	fDATA1  = field{"DATA1", 48, 8, 'v', 0}
	fMDST   = field{"MDST", 56, 8, 'v', 0}
	fSADDR  = field{"SADDR", 48, 7, 's', 0}
	fVDATA  = field{"VDATA", 40, 8, 'v', 0}
	fSRSRC  = field{"SRSRC", 48, 5, 'r', 0}
	fSOFF   = field{"SOFFSET", 56, 8, 's', 0}
	fSDATA  = field{"SDATA", 6, 7, 's', 0}
	fSBASE  = field{"SBASE", 0, 6, 'b', 0}
	fSMOFF  = field{"SMOFF", 57, 7, 's', 0}
	fSMOFF9 = field{"SMOFF9", 32, 7, 's', 0}
	fDPPS0  = field{"DPPSRC0", 32, 8, 'v', 0}
	fSDWAS0 = field{"SDWASRC0", 32, 9, 'x', 55}
	fSDWAS1 = field{"SDWASRC1", 9, 9, 'x', 63}
	fSDWASD = field{"SDWASDST", 40, 7, 's', 0}
	fVSRC8  = field{"IVSRC", 0, 8, 'v', 0}
	fIATTR  = field{"IATTR", 8, 8, 'v', 0}
	fIVDST  = field{"IVDST", 18, 8, 'v', 0}
	fDPP3S0 = field{"DPP3SRC0", 64, 8, 'v', 0}
)

// tables lists the encodings of an architecture. Variants that print other
// operands (saddr, offen, lds, ...) are tables of their own.
func tables(arch string) []table {
	gfx9, gfx11 := arch == "gfx90a", arch == "gfx1100"
	gfx10 := arch == "gfx1030"
	ts := []table{
		{name: "SOP2", base: [3]uint32{0x80000000}, bits: 32, shift: 23, opBits: 7, max: 96, fields: []field{fSDST, fSSRC0, fSSRC1}},
		{name: "SOPK", base: [3]uint32{0xB0000000}, bits: 32, shift: 23, opBits: 5, max: 29, fields: []field{fSDST}},
		{name: "SOP1", base: [3]uint32{0xBE800000}, bits: 32, shift: 8, opBits: 8, fields: []field{fSDST, fSSRC0}},
		{name: "SOPC", base: [3]uint32{0xBF000000}, bits: 32, shift: 16, opBits: 7, fields: []field{fSSRC0, fSSRC1}},
		{name: "SOPP", base: [3]uint32{0xBF800000}, bits: 32, shift: 16, opBits: 7},
	}

	// Vector ALU. The values of src0 that select SDWA and DPP are skipped.
	skip := []int{250}
	if gfx9 || gfx10 {
		skip = append(skip, 249)
	}
	if !gfx9 {
		skip = append(skip, 233, 234)
	}
	ts = append(ts,
		table{name: "VOP2", bits: 32, shift: 25, opBits: 6, max: 62, fields: []field{fVDST, fSRC0, fVSRC1}, skip: skip},
		table{name: "VOP1", base: [3]uint32{0x7E000000}, bits: 32, shift: 9, opBits: 8, fields: []field{fVDST, fSRC0}, skip: skip},
		table{name: "VOPC", base: [3]uint32{0x7C000000}, bits: 32, shift: 17, opBits: 8, fields: []field{fSRC0, fVSRC1}, skip: skip},
	)
	variants := func(name string, src0 uint32, base1 uint32, extra ...field) {
		ts = append(ts,
			table{name: "VOP2" + name, base: [3]uint32{src0, base1}, bits: 64, shift: 25, opBits: 6, max: 62, fields: append([]field{fVDST, fVSRC1}, extra...)},
			table{name: "VOP1" + name, base: [3]uint32{0x7E000000 | src0, base1}, bits: 64, shift: 9, opBits: 8, fields: append([]field{fVDST}, extra...)},
			table{name: "VOPC" + name, base: [3]uint32{0x7C000000 | src0, base1}, bits: 64, shift: 17, opBits: 8, fields: append([]field{fVSRC1}, extra...)})
	}
	if !gfx11 {
		// Selectors: dst and both sources DWORD.
		ts = append(ts,
			table{name: "VOP2SDWA", base: [3]uint32{249, 0x06060600}, bits: 64, shift: 25, opBits: 6, max: 62, fields: []field{fVDST, fSDWAS0, fSDWAS1}},
			table{name: "VOP1SDWA", base: [3]uint32{0x7E000000 | 249, 0x00060600}, bits: 64, shift: 9, opBits: 8, fields: []field{fVDST, fSDWAS0}},
			table{name: "VOPCSDWA", base: [3]uint32{0x7C000000 | 249, 0x06060000}, bits: 64, shift: 17, opBits: 8, fields: []field{fSDWASD, fSDWAS0, fSDWAS1}, try: []uint64{1 << 47, 0}})
	}
	variants("DPP", 250, 0xff00e400, fDPPS0)
	if !gfx9 {
		variants("DPP8", 233, 0x05397700, fDPPS0)
	}

	vop3, vop3p := uint32(0xD4000000), uint32(0xCC000000)
	try := []uint64{0, 3<<59 | 1<<14, 3 << 59, 1 << 14}
	if gfx9 {
		vop3, vop3p = 0xD0000000, 0xD3800000
		try = append(try, 1<<59, 1<<60, 1<<15, 3<<59|1<<15)
	}
	skip3 := []int(nil)
	if gfx11 {
		skip3 = []int{233, 234, 250}
	}
	max3 := 0
	if gfx9 {
		max3 = 896
	}
	ts = append(ts,
		table{name: "VOP3", base: [3]uint32{vop3}, bits: 64, shift: 16, opBits: 10, max: max3, fields: []field{f3VDST, f3SDST, f3SRC0, f3SRC1, f3SRC2}, try: try, skip: skip3},
		table{name: "VOP3P", base: [3]uint32{vop3p}, bits: 64, shift: 16, opBits: 7, fields: []field{f3VDST, f3SRC0, f3SRC1, f3SRC2}, try: try, skip: skip3})
	if gfx11 {
		for _, v := range []struct {
			name string
			src0 uint32
			ctl  uint32
		}{{"DPP", 250, 0xff00e400}, {"DPP8", 233, 0x05397700}} {
			ts = append(ts,
				table{name: "VOP3" + v.name, base: [3]uint32{vop3, v.src0, v.ctl}, bits: 96, shift: 16, opBits: 10, fields: []field{f3VDST, f3SDST, fDPP3S0, f3SRC1, f3SRC2}, try: try},
				table{name: "VOP3P" + v.name, base: [3]uint32{vop3p, v.src0, v.ctl}, bits: 96, shift: 16, opBits: 7, fields: []field{f3VDST, fDPP3S0, f3SRC1, f3SRC2}, try: try})
		}
	}

	switch {
	case gfx9:
		ts = append(ts, table{name: "VINTRP", base: [3]uint32{0xD4000000}, bits: 32, shift: 16, opBits: 2, fields: []field{fIVDST, fVSRC8, fIATTR}})
	case gfx10:
		ts = append(ts, table{name: "VINTRP", base: [3]uint32{0xC8000000}, bits: 32, shift: 16, opBits: 2, fields: []field{fIVDST, fVSRC8, fIATTR}})
	default:
		ts = append(ts,
			table{name: "VINTERP", base: [3]uint32{0xCD000000}, bits: 64, shift: 16, opBits: 7, fields: []field{f3VDST, f3SRC0, f3SRC1, f3SRC2}},
			table{name: "LDSDIR", base: [3]uint32{0xCE000000}, bits: 32, shift: 20, opBits: 2, fields: []field{f3VDST, fIATTR}})
	}

	// Memory.
	dsShift := 18
	if gfx9 {
		dsShift = 17
	}
	ts = append(ts, table{name: "DS", base: [3]uint32{0xD8000000}, bits: 64, shift: dsShift, opBits: 8, fields: []field{fADDR, fDATA0, fDATA1, fMDST}, try: []uint64{0, 1 << (dsShift - 1)}})

	off := uint32(0x7f)
	switch {
	case gfx10:
		off = 0x7d
	case gfx11:
		off = 0x7c
	}
	seg := func(n uint32) uint32 {
		if gfx11 {
			return 0xDC000000 | n<<16
		}
		return 0xDC000000 | n<<14
	}
	addr := []field{fADDR, fDATA0, fMDST}
	sadd := []field{fADDR, fDATA0, fSADDR, fMDST}
	ss := []field{fDATA0, fSADDR, fMDST}
	none := []field{fDATA0, fMDST}
	// Bit 13 of gfx9 and gfx10 loads to LDS and prints no destination; glc
	// gives an atomic a destination. Both are tables of their own.
	lds, glc := uint64(1<<13), uint64(1<<16)
	if gfx11 {
		lds, glc = 0, 1<<14
	}
	flatOff := off
	if gfx9 {
		flatOff = 0
	}
	segBits := uint64(3 << 14)
	if gfx11 {
		segBits = 3 << 16
	}
	flat := func(name string, base [3]uint32, fixed uint64, fields []field) {
		ts = append(ts, table{name: name, base: base, bits: 64, shift: 18, opBits: 7, fields: fields, fixed: segBits | lds | fixed})
		if lds != 0 && name != "FLAT" {
			ts = append(ts, table{name: name + "L", base: [3]uint32{base[0] | uint32(lds), base[1]}, bits: 64, shift: 18, opBits: 7, fields: fields, fixed: segBits | lds | fixed})
		}
		if !strings.HasPrefix(name, "SCRATCH") {
			ts = append(ts, table{name: name + "G", base: [3]uint32{base[0] | uint32(glc), base[1]}, bits: 64, shift: 18, opBits: 7, fields: fields, fixed: segBits | lds | fixed, only: "_atomic_"})
		}
	}
	flat("FLAT", [3]uint32{seg(0), flatOff << 16}, 0, addr)
	flat("GLOBAL", [3]uint32{seg(2), off << 16}, 0, addr)
	flat("GLOBALS", [3]uint32{seg(2), 0}, 0, sadd)
	switch {
	case gfx9:
		flat("SCRATCH", [3]uint32{seg(1), off << 16}, 0, addr)
		flat("SCRATCHS", [3]uint32{seg(1), 0}, 0, ss)
	case gfx10:
		flat("SCRATCH", [3]uint32{seg(1), 0x7d << 16}, 0, addr)
		flat("SCRATCHST", [3]uint32{seg(1), 0x7f << 16}, 0, none)
		flat("SCRATCHS", [3]uint32{seg(1), 0}, 0, ss)
	default:
		flat("SCRATCHST", [3]uint32{seg(1), 0x7c << 16}, 1<<55, none)
		flat("SCRATCHS", [3]uint32{seg(1), 0}, 1<<55, ss)
		flat("SCRATCH", [3]uint32{seg(1), 0xfc << 16}, 1<<55, addr)
		flat("SCRATCHSVS", [3]uint32{seg(1), 0x80 << 16}, 1<<55, sadd)
	}

	// Buffers: one table for each of none, offen, idxen, both, and again
	// with lds, which prints no data.
	for v := uint32(0); v < 8; v++ {
		lo, hi := v&3<<12, uint32(0)
		fix := uint64(3 << 12)
		if gfx11 {
			lo, hi = 0, v&3<<22
			fix = 3 << 54
		}
		mb := lo
		if v >= 4 {
			if gfx11 {
				continue
			}
			mb |= 1 << 16
		}
		mfix := fix
		if !gfx11 {
			mfix |= 1 << 16
		}
		fs := []field{fVDATA, fADDR, fSRSRC, fSOFF}
		opBits := 7
		if !gfx9 {
			opBits = 8
		}
		suf := [...]string{"", "E", "I", "B", "L", "LE", "LI", "LB"}[v]
		ts = append(ts, table{name: "MUBUF" + suf, base: [3]uint32{0xE0000000 | mb, hi}, bits: 64, shift: 18, opBits: opBits, fields: fs, fixed: mfix})
		if v < 4 {
			sh, ob := 15, 4
			dfix := uint64(0)
			if gfx10 {
				sh, ob, dfix = 16, 3, 1<<53
			}
			ts = append(ts, table{name: "MTBUF" + suf, base: [3]uint32{0xE8000000 | lo, hi}, bits: 64, shift: sh, opBits: ob, fields: fs, fixed: fix | dfix})
			if gfx10 { // the opcode's fourth bit stands apart
				ts = append(ts, table{name: "MTBUFD" + suf, base: [3]uint32{0xE8000000 | lo, 1 << 21}, bits: 64, shift: sh, opBits: ob, fields: fs, fixed: fix | dfix})
			}
		}
	}

	// Scalar memory: gfx9 has an offset that is an immediate, a register
	// or both; later ones have both, and null.
	if gfx9 {
		ts = append(ts,
			table{name: "SMEMI", base: [3]uint32{0xC0020000}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE}, fixed: 1<<17 | 1<<14},
			table{name: "SMEMR", base: [3]uint32{0xC0000000}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE, fSMOFF9}, fixed: 1<<17 | 1<<14},
			table{name: "SMEMRE", base: [3]uint32{0xC0004000}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE, fSMOFF}, fixed: 1<<17 | 1<<14},
			table{name: "SMEMB", base: [3]uint32{0xC0024000}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE, fSMOFF}, fixed: 1<<17 | 1<<14})
	} else {
		null := off << 25
		if gfx10 {
			null = 0x7d << 25
		}
		ts = append(ts,
			table{name: "SMEMI", base: [3]uint32{0xF4000000, null | 4}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE}},
			table{name: "SMEMB", base: [3]uint32{0xF4000000, 4}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE, fSMOFF}},
			table{name: "SMEMR", base: [3]uint32{0xF4000000, 0}, bits: 64, shift: 18, opBits: 8, fields: []field{fSDATA, fSBASE, fSMOFF}})
	}
	return append(ts, imageTable(arch))
}

// imageTable is MIMG with one address register field.
func imageTable(arch string) table {
	t := table{name: "MIMG", base: [3]uint32{0xF0000100}, bits: 64, shift: 18, opBits: 7,
		fields: []field{{"VDATA", 40, 8, 'v', 0}, {"ADDR", 32, 8, 'v', 0}, {"SRSRC", 48, 5, 'r', 0}, {"SSAMP", 53, 5, 'r', 0}}}
	switch arch {
	case "gfx1030":
		// The opcode's high bit is bit 0: op counts up to 255 with it on top.
		t.high, t.opBits = 1, 8
		t.nsaBits = 3<<1 | 1<<62
		t.skipBits = t.nsaBits | 7<<3 | 15<<8
		t.try = []uint64{0, 0xe<<8 | 1<<12 | 1<<15, 0xe<<8 | 1<<12 | 1<<15 | 1<<1, 0xe<<8 | 1<<12 | 1<<15 | 2<<1, 0xe<<8 | 1<<12 | 1<<15 | 3<<1}
	case "gfx1100":
		t.opBits = 8
		t.fields[3].shift = 58
		t.nsaBits = 1 | 1<<16
		t.skipBits = t.nsaBits | 7<<2 | 15<<8
		t.try = []uint64{0, 0xe<<8 | 1<<7 | 1<<15, 0xe<<8 | 1<<7 | 1<<15 | 1}
	default:
		t.skipBits = 15 << 8
	}
	return t
}
