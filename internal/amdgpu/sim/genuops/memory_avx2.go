package main

import "fmt"

// The AVX2 forms of loads and stores, which do as those of memory.go and share
// what works on whole quarters. While they run registers are as there: the
// site is in R13 and the rows in R9. A quarter is two registers. A load whose
// elements are of several dwords finds where all its quarters are first, which
// it keeps in wave.elements, with the lowest bit set of those that are runs.

// memory256 writes form for waves of width lanes.
func (w *writer) memory256(form memoryForm, width int) {
	f := memoryWriter{w, form}
	nq := width / 16
	f.begin(fmt.Sprintf("%s%d", f.name(), width))
	f.p("TESTL R12, R12")
	f.p("JNZ stop")
	f.p("MOVQ R13, R9")
	f.site()
	if f.space == 'W' {
		f.p("VPBROADCASTD 256(SI), Y1")
		f.p("VPXOR 288(SI), Y1, Y2")
		for g := 2; g < 2*nq; g++ {
			f.p("VPXOR %d(SI), Y1, Y4", 256+32*g)
			f.p("VPOR Y4, Y2, Y2")
		}
		f.p("VPXOR 256(SI), Y1, Y4")
		f.p("VPOR Y4, Y2, Y2")
		f.p("VPTEST Y2, Y2")
		f.p("JNZ stop")
		f.p("MOVL 256(SI), AX")
	}
	f.base()
	f.p("VMOVDQU run%d<>+0(SB), Y0", f.dwords)
	f.p("VMOVDQU run%d<>+32(SB), Y6", f.dwords)
	if f.store {
		f.store256(nq)
	} else {
		f.load256(nq)
	}
	f.p("MOVQ R9, R13")
	if width == 64 {
		f.p("LEAQ 128(R13), R15")
		f.p("MOVQ R15, R9")
	} else {
		f.p("MOVQ R13, R15")
	}
	f.p("XORL R12, R12")
	f.p("LEAQ codes<>(SB), R11")
	f.next()
	f.label("stop")
	f.p("JMP leave<>(SB)")
}

func (f memoryWriter) load256(nq int) {
	size := 4 * f.dwords
	if f.space != 'L' {
		f.p("XORL R15, R15")
		f.p("XORL DI, DI")
	}
	for q := range nq {
		f.p("VMOVDQU %d(SI), Y2", 64*q)
		f.p("VMOVDQU %d(SI), Y4", 64*q+32)
		if q > 0 {
			f.p("VPXOR %d(SI), Y2, Y5", 64*(q-1))
			f.p("VPXOR %d(SI), Y4, Y7", 64*(q-1)+32)
			f.p("VPOR Y7, Y5, Y5")
			f.p("VPTEST Y5, Y5")
			f.p("JNZ other%d", q)
			if f.dwords == 1 {
				f.p("VMOVDQA Y%d, Y%d", 8+2*(q-1), 8+2*q)
				f.p("VMOVDQA Y%d, Y%d", 9+2*(q-1), 9+2*q)
			} else {
				f.p("MOVQ wave_elements+%d(R10), CX", 8*(q-1))
				f.p("MOVQ CX, wave_elements+%d(R10)", 8*q)
			}
			f.p("JMP next%d", q)
			f.label("other%d", q)
		}
		f.p("MOVL %d(SI), AX", 64*q)
		f.p("VMOVD AX, X1")
		f.p("VPBROADCASTD X1, Y1")
		f.p("VPSUBD Y1, Y2, Y2")
		f.p("VPSUBD Y1, Y4, Y4")
		f.p("VPOR Y2, Y4, Y5")
		f.p("VPTEST Y5, Y5")
		f.p("JZ same%d", q)
		f.p("VPXOR Y0, Y2, Y2")
		f.p("VPXOR Y6, Y4, Y4")
		f.p("VPOR Y2, Y4, Y4")
		f.p("VPTEST Y4, Y4")
		f.p("JNZ stop")

		f.offset(15)
		f.p("CMPQ AX, site_run(R13)")
		f.p("JCC stop")
		f.p("TESTL $3, AX")
		f.p("JNZ stop")
		f.undefined256(fmt.Sprintf("runDefined%d", q))
		if f.dwords == 1 {
			f.p("VMOVDQU (R12)(AX*1), Y%d", 8+2*q)
			f.p("VMOVDQU 32(R12)(AX*1), Y%d", 9+2*q)
		} else {
			f.p("LEAQ 1(AX), CX")
			f.p("MOVQ CX, wave_elements+%d(R10)", 8*q)
		}
		f.p("LEAQ %d(AX), BX", 16*size)
		f.p("JMP range%d", q)

		f.label("same%d", q)
		f.offset(0)
		f.p("CMPQ AX, site_same(R13)")
		f.p("JCC stop")
		f.p("TESTL $3, AX")
		f.p("JNZ stop")
		f.undefined(false, fmt.Sprintf("sameDefined%d", q))
		if f.dwords == 1 {
			f.p("VPBROADCASTD (R12)(AX*1), Y%d", 8+2*q)
			f.p("VMOVDQA Y%d, Y%d", 8+2*q, 9+2*q)
		} else {
			f.p("MOVQ AX, wave_elements+%d(R10)", 8*q)
		}
		f.p("LEAQ %d(AX), BX", size)

		f.label("range%d", q)
		f.ranges(q, size)
		f.races("recordRead", fmt.Sprintf("next%d", q))
	}
	f.p("MOVLQSX uop_d(R8), DI")
	f.p("ADDQ R9, DI")
	for q := range nq {
		if f.dwords == 1 {
			f.p("VMOVDQU Y%d, %d(DI)", 8+2*q, 64*q)
			f.p("VMOVDQU Y%d, %d(DI)", 9+2*q, 64*q+32)
			continue
		}
		f.p("MOVQ wave_elements+%d(R10), AX", 8*q)
		f.p("BTRQ $0, AX")
		f.p("JCS run%d", q)
		for k := range f.dwords {
			f.p("VPBROADCASTD %d(R12)(AX*1), Y1", 4*k)
			f.p("VMOVDQU Y1, %d(DI)", 256*k+64*q)
			f.p("VMOVDQU Y1, %d(DI)", 256*k+64*q+32)
		}
		f.p("JMP loaded%d", q)
		f.label("run%d", q)
		f.p("ADDQ R12, AX")
		for half := range 2 {
			f.take256(8*half*size, 64*q+32*half)
		}
		f.label("loaded%d", q)
	}
	f.count(nq)
}

// take256 loads eight elements at AX plus from and puts their dwords into rows
// at DI plus to.
func (f memoryWriter) take256(from, to int) {
	if f.dwords == 2 {
		f.p("VMOVDQU %d(AX), Y1", from)
		f.p("VMOVDQU %d(AX), Y2", from+32)
		f.p("VSHUFPS $0x88, Y2, Y1, Y4")
		f.p("VSHUFPS $0xdd, Y2, Y1, Y5")
		f.p("VPERMQ $0xd8, Y4, Y4")
		f.p("VPERMQ $0xd8, Y5, Y5")
		f.p("VMOVDQU Y4, %d(DI)", to)
		f.p("VMOVDQU Y5, %d(DI)", 256+to)
		return
	}
	for i := range 4 { // elements i and i+4
		f.p("VMOVDQU %d(AX), X%d", from+16*i, 8+i)
		f.p("VINSERTI128 $1, %d(AX), Y%d, Y%d", from+16*(i+4), 8+i, 8+i)
	}
	f.transpose256()
	for k := range 4 {
		f.p("VMOVDQU Y%d, %d(DI)", 8+k, 256*k+to)
	}
}

// transpose256 transposes the dwords of Y8 to Y11 in both of their halves.
func (f memoryWriter) transpose256() {
	f.p("VPUNPCKLDQ Y9, Y8, Y12")
	f.p("VPUNPCKHDQ Y9, Y8, Y13")
	f.p("VPUNPCKLDQ Y11, Y10, Y14")
	f.p("VPUNPCKHDQ Y11, Y10, Y15")
	f.p("VPUNPCKLQDQ Y14, Y12, Y8")
	f.p("VPUNPCKHQDQ Y14, Y12, Y9")
	f.p("VPUNPCKLQDQ Y15, Y13, Y10")
	f.p("VPUNPCKHQDQ Y15, Y13, Y11")
}

// undefined256 stops where a byte of the quarter at AX was never written.
func (f memoryWriter) undefined256(done string) {
	f.p("MOVQ site_def(R13), CX")
	f.p("TESTQ CX, CX")
	f.p("JZ %s", done)
	f.p("VMOVDQU written<>(SB), Y5")
	f.p("VPCMPEQB (CX)(AX*1), Y5, Y7")
	for k := 1; k < 2*f.dwords; k++ {
		f.p("VPCMPEQB %d(CX)(AX*1), Y5, Y4", 32*k)
		f.p("VPAND Y4, Y7, Y7")
	}
	f.p("VPMOVMSKB Y7, DX")
	f.p("CMPL DX, $-1")
	f.p("JNE stop")
	f.label("%s", done)
}

func (f memoryWriter) store256(nq int) {
	size := 4 * f.dwords
	f.p("MOVL (SI), AX")
	f.p("VMOVD AX, X1")
	f.p("VPBROADCASTD X1, Y1")
	f.p("MOVL $%d, CX", 16*size)
	f.p("VMOVD CX, X4")
	f.p("VPBROADCASTD X4, Y4")
	f.p("VPXOR Y7, Y7, Y7")
	for q := range nq {
		for half := range 2 {
			f.p("VMOVDQU %d(SI), Y2", 64*q+32*half)
			f.p("VPSUBD Y1, Y2, Y2")
			f.p("VPXOR Y%d, Y2, Y2", 6*half)
			f.p("VPOR Y2, Y7, Y7")
		}
		if q+1 < nq {
			f.p("VPADDD Y4, Y1, Y1")
		}
	}
	f.p("VPTEST Y7, Y7")
	f.p("JNZ stop")
	f.storeRange(nq)
	f.p("VMOVDQU written<>(SB), Y2")
	for k := range 2 * nq * f.dwords {
		f.p("VMOVDQU Y2, %d(CX)(DI*1)", 32*k)
	}
	f.label("marked")
	f.p("ADDQ DI, R12")
	f.p("MOVLQSX uop_d(R8), CX")
	f.p("ADDQ R9, CX")
	for g := range 2 * nq {
		at := 8 * size * g
		for k := range f.dwords {
			f.p("VMOVDQU %d(CX), Y%d", 256*k+32*g, 8+k)
		}
		switch f.dwords {
		case 1:
			f.p("VMOVDQU Y8, %d(R12)", at)
		case 2:
			f.p("VPUNPCKLDQ Y9, Y8, Y10")
			f.p("VPUNPCKHDQ Y9, Y8, Y11")
			f.p("VPERM2I128 $0x20, Y11, Y10, Y12")
			f.p("VPERM2I128 $0x31, Y11, Y10, Y13")
			f.p("VMOVDQU Y12, %d(R12)", at)
			f.p("VMOVDQU Y13, %d(R12)", at+32)
		default:
			f.transpose256()
			for i := range 4 {
				f.p("VMOVDQU X%d, %d(R12)", 8+i, at+16*i)
				f.p("VEXTRACTI128 $1, Y%d, %d(R12)", 8+i, at+16*(i+4))
			}
		}
	}
	f.count(nq)
}

// records256 is records for AVX2. The routines use AX to DX, SI, R12, R14 and
// Y1 to Y7 but Y3 and Y6.
func (w *writer) records256() {
	w.record256("recordRead", false)
	w.record256("recordWrite", true)
}

func (w *writer) record256(name string, write bool) {
	w.begin(name)
	w.p("MOVL wave_race+raceView_id(R10), R14")
	w.label("line")
	w.p("MOVQ AX, CX")
	w.p("SHRQ $14, CX")
	w.p("MOVQ site_chunks(R13), DX")
	w.p("MOVQ (DX)(CX*8), DX")
	w.p("TESTQ DX, DX")
	w.p("JZ fail")
	w.p("MOVL AX, CX")
	w.p("SHRL $6, CX")
	w.p("ANDL $255, CX")
	w.p("CMPB raceChunk_mixed(DX)(CX*1), $0")
	w.p("JNE mixed")
	w.alike(write)
	field := "r"
	if write {
		field = "w"
	}
	// SI is the new record, R12 the old one.
	w.p("CMPL SI, R12")
	w.p("JE next")
	w.p("VMOVD SI, X2")
	w.lineDwords("changed")
	w.p("CMPL SI, $0xffff")
	w.p("JNE part")
	w.p("VMOVD X2, raceChunk_%s(DX)(CX*4)", field)
	w.p("JMP next")

	w.label("part") // The line becomes mixed.
	w.p("CMPW raceChunk_slot(DX)(CX*2), $0")
	w.p("JE fail")
	w.p("MOVB $1, raceChunk_mixed(DX)(CX*1)")
	w.p("VMOVD SI, X1")
	w.lineOf()
	w.p("VPBROADCASTD X1, Y1")
	w.p("VPBROADCASTD X2, Y2")
	w.p("VPBROADCASTD raceChunk_w(DX)(CX*4), Y4")
	w.p("VPBROADCASTD raceChunk_r(DX)(CX*4), Y5")
	for half := range 2 {
		w.p("VMOVDQU Y4, raceLine_w+%d(SI)", 32*half)
		w.p("VMOVDQU Y5, raceLine_r+%d(SI)", 32*half)
	}
	old := 5
	if write {
		old = 4
	}
	for half := range 2 {
		w.p("VPAND bits<>+%d(SB), Y1, Y7", 32*half)
		w.p("VPCMPEQD bits<>+%d(SB), Y7, Y7", 32*half)
		w.p("VBLENDVPS Y7, Y2, Y%d, Y7", old)
		w.p("VMOVDQU Y7, raceLine_%s+%d(SI)", field, 32*half)
	}
	w.p("JMP next")

	w.label("mixed")
	for i := range 8 {
		w.p("VMOVDQU Y%d, wave_spill+%d(R10)", 8+i, 32*i)
	}
	w.lineDwords("mixed")
	w.p("MOVL SI, R12")
	w.p("VMOVD SI, X1")
	w.p("VPBROADCASTD X1, Y1")
	w.lineOf()
	w.mixed(write)
	w.p("CMPL R12, $0xffff")
	w.p("JNE kept")
	// All alike again?
	w.p("VPBROADCASTD raceLine_w(SI), Y4")
	w.p("VPBROADCASTD raceLine_r(SI), Y5")
	w.p("VPCMPEQD raceLine_w(SI), Y4, Y7")
	for _, x := range []string{"w+32(SI), Y4", "r(SI), Y5", "r+32(SI), Y5"} {
		w.p("VPCMPEQD raceLine_%s, Y8", x)
		w.p("VPAND Y8, Y7, Y7")
	}
	w.p("VPMOVMSKB Y7, SI")
	w.p("CMPL SI, $-1")
	w.p("JNE kept")
	w.p("MOVB $0, raceChunk_mixed(DX)(CX*1)")
	w.p("VMOVD X4, raceChunk_w(DX)(CX*4)")
	w.p("VMOVD X5, raceChunk_r(DX)(CX*4)")
	w.label("kept")
	for i := range 8 {
		w.p("VMOVDQU wave_spill+%d(R10), Y%d", 32*i, 8+i)
	}

	w.label("next")
	w.p("ORQ $63, AX")
	w.p("INCQ AX")
	w.p("CMPQ AX, BX")
	w.p("JLS line")
	w.p("XORL AX, AX")
	w.p("RET")
	w.label("fail")
	w.p("MOVL $1, AX")
	w.p("RET")
}

// lineDwords leaves in SI the dwords of the line at AX. It uses R12 and X1.
func (w *writer) lineDwords(label string) {
	w.p("VMOVQ CX, X1")
	w.p("MOVL AX, CX")
	w.p("SHRL $2, CX")
	w.p("ANDL $15, CX")
	w.p("MOVL $0xffff, SI")
	w.p("SHLL CX, SI")
	w.p("MOVQ AX, R12")
	w.p("XORQ BX, R12")
	w.p("CMPQ R12, $64")
	w.p("JCC %sLine", label)
	w.p("MOVL BX, CX")
	w.p("SHRL $2, CX")
	w.p("NOTL CX")
	w.p("ANDL $15, CX") // dwords of the line that follow
	w.p("MOVL $0xffff, R12")
	w.p("SHRL CX, R12")
	w.p("ANDL R12, SI")
	w.label(label + "Line")
	w.p("MOVWLZX SI, SI")
	w.p("VMOVQ X1, CX")
}

// mixed does what alike does, and changes the records, for the dwords of Y1 of
// the line at SI.
func (w *writer) mixed(write bool) {
	const phase, of, many = "raceMasks8<>+0(SB)", "raceMasks8<>+32(SB)", "raceMasks8<>+64(SB)"
	w.p("VMOVD R14, X8")
	w.p("VPBROADCASTD X8, Y8")
	w.p("VPBROADCASTD wave_race+raceView_from(R10), Y9")
	w.p("VPBROADCASTD wave_race+raceView_n(R10), Y10")
	w.p("VPBROADCASTD site_others(R13), Y11")
	w.p("VPXOR Y12, Y12, Y12")
	// outside leaves in Y15 which of the records are of other work-groups.
	outside := func(records string) {
		w.p("VPSLLD $2, %s, Y14", records)
		w.p("VPSRLD $8, Y14, Y14")
		w.p("VPSUBD Y9, Y14, Y14")
		w.p("VPMAXUD Y10, Y14, Y15")
		w.p("VPCMPEQD Y14, Y15, Y15")
	}
	for half := range 2 {
		// ordered fails where an access of Y13 may not be ordered before this
		// one; Y7 are the records less this one's id.
		ordered := func(records, done string) {
			done = fmt.Sprintf("%s%d", done, half)
			w.p("VPCMPEQD Y12, %s, Y14", records)
			w.p("VPANDN Y13, Y14, Y13")
			w.p("VPTEST Y13, Y13")
			w.p("JZ %s", done)
			outside(records)
			w.p("VPAND %s, Y7, Y14", phase)
			w.p("VPCMPEQD Y12, Y14, Y14")
			w.p("VBLENDVPS Y15, Y11, Y14, Y14")
			w.p("VPTEST Y14, Y13")
			w.p("JNZ fail")
			w.label(done)
		}
		w.p("VPAND bits<>+%d(SB), Y1, Y2", 32*half)
		w.p("VPCMPEQD bits<>+%d(SB), Y2, Y2", 32*half)
		w.p("VMOVDQU raceLine_w+%d(SI), Y4", 32*half)
		w.p("VMOVDQU raceLine_r+%d(SI), Y5", 32*half)
		w.p("VPXOR Y8, Y4, Y7")
		w.p("VPAND %s, Y7, Y13", of)
		w.p("VPCMPEQD Y12, Y13, Y13")
		w.p("VPANDN Y2, Y13, Y13")
		ordered("Y4", "lineWrites")
		w.p("VPXOR Y8, Y5, Y7")
		if write {
			w.p("VPCMPEQD Y12, Y7, Y13")
			w.p("VPANDN Y2, Y13, Y13")
			ordered("Y5", "lineReads")
			w.p("VBLENDVPS Y2, Y8, Y4, Y4")
			w.p("VMOVDQU Y4, raceLine_w+%d(SI)", 32*half)
			continue
		}
		outside("Y5")
		w.p("VPAND Y15, Y11, Y13")
		w.p("VPOR Y8, Y13, Y13") // after reads of other work-groups
		w.p("VPAND %s, Y7, Y14", phase)
		w.p("VPCMPEQD Y12, Y14, Y14")
		w.p("VPANDN Y14, Y15, Y14")
		w.p("VPAND %s, Y14, Y14", many)
		w.p("VPOR Y14, Y13, Y13") // after reads of the same phase
		w.p("VPCMPEQD Y12, Y5, Y14")
		w.p("VBLENDVPS Y14, Y8, Y13, Y13")
		w.p("VPCMPEQD Y12, Y7, Y14")
		w.p("VPCMPEQD Y15, Y15, Y15")
		w.p("VPCMPEQD Y15, Y5, Y15") // by several work-groups already
		w.p("VPOR Y15, Y14, Y14")
		w.p("VBLENDVPS Y14, Y5, Y13, Y13")
		w.p("VBLENDVPS Y2, Y13, Y5, Y5")
		w.p("VMOVDQU Y5, raceLine_r+%d(SI)", 32*half)
	}
}

// alike takes the records of line CX, whose dwords are alike, and leaves the
// one of what changes in SI, and in R12 as it was. See raceView.afterRead and
// afterWrite.
func (w *writer) alike(write bool) {
	// wave leaves the number in the work-group of the wave of record SI, and
	// goes on at outside where it is of another.
	wave := func(outside string) {
		w.p("SHLL $2, SI")
		w.p("SHRL $8, SI")
		w.p("SUBL wave_race+raceView_from(R10), SI")
		w.p("CMPL SI, wave_race+raceView_n(R10)")
		w.p("JCC %s", outside)
	}
	// ordered fails where the access of record R12, of another wave, may not be
	// ordered before this one.
	ordered := func(name, done string) {
		w.p("MOVL R12, SI")
		wave(name + "Outside")
		w.p("XORL R14, R12")
		w.p("TESTL $63, R12") // phases
		w.p("JZ fail")
		w.p("JMP %s", done)
		w.label(name + "Outside")
		w.p("CMPL site_others(R13), $0")
		w.p("JNE fail")
		w.label(done)
	}
	w.p("MOVL raceChunk_w(DX)(CX*4), R12")
	w.p("TESTL R12, R12")
	w.p("JZ writes")
	w.p("MOVL R12, SI")
	w.p("XORL R14, SI")
	w.p("TESTL $0x3fffffc0, SI") // the same wave's
	w.p("JZ writes")
	ordered("write", "writes")
	w.p("MOVL raceChunk_r(DX)(CX*4), R12")
	if write {
		w.p("TESTL R12, R12")
		w.p("JZ reads")
		w.p("CMPL R12, R14")
		w.p("JE reads")
		ordered("read", "reads")
		w.p("MOVL R14, SI")
		w.p("MOVL raceChunk_w(DX)(CX*4), R12")
		return
	}
	w.p("CMPL R12, R14")
	w.p("JE next")
	w.p("CMPL R12, $-1") // several work-groups
	w.p("JE next")
	w.p("TESTL R12, R12")
	w.p("JZ first")
	w.p("MOVL R12, SI")
	wave("others")
	w.p("MOVL R12, SI")
	w.p("XORL R14, SI")
	w.p("TESTL $63, SI")
	w.p("JNZ first")
	w.p("MOVL $0x80000000, SI") // several waves
	w.p("ORL R14, SI")
	w.p("JMP changed")
	w.label("others")
	w.p("MOVL site_others(R13), SI")
	w.p("ORL R14, SI")
	w.p("JMP changed")
	w.label("first")
	w.p("MOVL R14, SI")
	w.label("changed")
}
