package main

import "fmt"

// The forms of loads and stores; span_memory.go says what they do. A form is
// named by what it does, by its addresses, and by the dwords of an element.
//
// Addresses are
//
//	G  an offset in a VGPR, added to a pair of SGPRs
//	W  a pair of VGPRs
//	L  a VGPR, in LDS
//
// and the constant offset. Beside R8 to R10 the forms keep
//
//	R11  what is added to the low dword of a lane's address for its offset in the region
//	R12  the region's data
//	R13  the site
//	SI   the rows of addresses
//	R15  the lines counted, which end before line DI
//	X3   where the quarter before begins and ends
//
// Every lane is active. Nothing is written, but records of races, before all
// is known to be in order: a form that stops has done nothing.

type memoryForm struct {
	store  bool
	space  byte // of addresses
	dwords int
}

func memoryForms() (forms []memoryForm) {
	for _, store := range []bool{false, true} {
		for _, space := range []byte("GWL") {
			for _, dwords := range []int{1, 2, 4} {
				forms = append(forms, memoryForm{store, space, dwords})
			}
		}
	}
	return forms
}

func (f memoryForm) name() string {
	if f.store {
		return fmt.Sprintf("store%c%d", f.space, f.dwords)
	}
	return fmt.Sprintf("load%c%d", f.space, f.dwords)
}

// racePhases is how many numbers the phases have in records of races.
const racePhases = 64

// onlyGo is the form of accesses that have none.
const onlyGo = "onlyGo"

// A memoryWriter writes one form.
type memoryWriter struct {
	*writer
	memoryForm
}

func (f memoryWriter) label(format string, args ...any) { f.writer.label(fmt.Sprintf(format, args...)) }

// start leaves the address in the registers.
func (f memoryWriter) start(nq int) {
	f.p("MOVQ wave_exec(R10), AX")
	f.p("CMPQ AX, wave_full(R10)")
	f.p("JNE stop")
	f.site()
	if f.space == 'W' {
		f.p("MOVL 256(SI), AX")
		f.p("VPBROADCASTD AX, Z1")
		f.p("VPCMPUD $4, 256(SI), Z1, K5")
		for q := 1; q < nq; q++ {
			f.p("VPCMPUD $4, %d(SI), Z1, K6", 256+64*q)
			f.p("KORW K6, K5, K5")
		}
		f.p("KORTESTW K5, K5")
		f.p("JNZ stop")
	}
	f.base()
	f.p("VMOVDQU32 run%d<>(SB), Z0", f.dwords)
}

// site leaves the site in R13, the data in R12, the rows of addresses in SI.
func (f memoryWriter) site() {
	f.p("MOVLQSX uop_m(R8), R13")
	f.p("ADDQ wave_sites(R10), R13")
	f.p("MOVQ site_data(R13), R12")
	f.p("TESTQ R12, R12")
	f.p("JZ stop")
	f.p("MOVLQSX uop_a(R8), SI")
	f.p("ADDQ R9, SI")
}

// base leaves in R11 what is added to the low dwords of addresses, whose high
// ones are AX.
func (f memoryWriter) base() {
	f.p("MOVLQSX uop_c(R8), R11")
	switch f.space {
	case 'G':
		f.p("MOVLQSX uop_b(R8), AX")
		f.p("ADDQ (R10)(AX*1), R11")
		f.p("SUBQ site_base(R13), R11")
	case 'W':
		f.p("SHLQ $32, AX")
		f.p("ADDQ AX, R11")
		f.p("SUBQ site_base(R13), R11")
	}
}

// offset makes the low dword of an address in AX an offset; run says that
// elements lanes follow it, which must not wrap around.
func (f memoryWriter) offset(elements int) {
	if f.space == 'L' {
		f.p("ADDL R11, AX")
		return
	}
	if elements > 0 {
		f.p("CMPL AX, $%d", -4*f.dwords*elements)
		f.p("JCC stop")
	}
	f.p("ADDQ R11, AX")
}

// undefined stops where a byte of the element or the quarter at AX was never
// written.
func (f memoryWriter) undefined(quarter bool, done string) {
	f.p("MOVQ site_def(R13), CX")
	f.p("TESTQ CX, CX")
	f.p("JZ %s", done)
	switch {
	case quarter:
		f.p("MOVL $0x01010101, DX")
		f.p("VPBROADCASTD DX, Z2")
		for k := range f.dwords {
			f.p("VPCMPUB $4, %d(CX)(AX*1), Z2, K5", 64*k)
			f.p("KORTESTQ K5, K5")
			f.p("JNZ stop")
		}
	case f.dwords == 1:
		f.p("CMPL (CX)(AX*1), $0x01010101")
		f.p("JNE stop")
	default:
		f.p("MOVQ $0x0101010101010101, DX")
		for k := range f.dwords / 2 {
			f.p("CMPQ DX, %d(CX)(AX*1)", 8*k)
			f.p("JNE stop")
		}
	}
	f.label("%s", done)
}

// races calls a routine that records an access to the bytes from AX to
// before BX.
func (f memoryWriter) races(routine, done string) {
	f.p("CMPQ site_chunks(R13), $0")
	f.p("JE %s", done)
	f.p("DECQ BX")
	f.p("CALL %s<>(SB)", routine)
	f.p("TESTL AX, AX")
	f.p("JNZ stop")
	f.p("MOVQ site_data(R13), R12")
	f.p("MOVLQSX uop_a(R8), SI")
	f.p("ADDQ R9, SI")
	f.label("%s", done)
}

// count counts R15 lines of global memory.
func (f memoryWriter) count(nq int) {
	if f.space == 'L' {
		return
	}
	bytes := 64 * nq * f.dwords
	f.p("ADDQ $%d, wave_mem+memCount_bytes(R10)", bytes)
	f.p("ADDQ R15, wave_mem+memCount_lines(R10)")
	f.p("MOVL $%d, AX", bytes/64)
	f.p("CMPQ R15, AX")
	f.p("CMOVQCS R15, AX")
	f.p("ADDQ AX, wave_mem+memCount_least(R10)")
}

// memory writes f for waves of width lanes.
func (w *writer) memory(form memoryForm, width int) {
	f := memoryWriter{w, form}
	f.begin(fmt.Sprintf("%s%d", f.name(), width))
	f.start(width / 16)
	if f.store {
		f.writeStore(width / 16)
	} else {
		f.writeLoad(width / 16)
	}
	f.p("LEAQ codes<>(SB), R11")
	f.next()
	f.label("stop")
	f.p("JMP stop<>(SB)")
}

func (f memoryWriter) writeLoad(nq int) {
	size := 4 * f.dwords
	if f.space != 'L' {
		f.p("XORL R15, R15")
		f.p("XORL DI, DI")
	}
	for q := range nq {
		f.p("VMOVDQU32 %d(SI), Z2", 64*q)
		if q > 0 {
			f.p("VPCMPUD $4, %d(SI), Z2, K5", 64*(q-1))
			f.p("KORTESTW K5, K5")
			f.p("JNZ other%d", q)
			for k := range f.dwords {
				f.p("VMOVDQA32 Z%d, Z%d", 16+4*(q-1)+k, 16+4*q+k)
			}
			f.p("JMP next%d", q)
			f.label("other%d", q)
		}
		// The shape.
		f.p("MOVL %d(SI), AX", 64*q)
		f.p("VPBROADCASTD AX, Z1")
		f.p("VPSUBD Z1, Z2, Z2")
		f.p("VPTESTMD Z2, Z2, K5")
		f.p("KORTESTW K5, K5")
		f.p("JZ same%d", q)
		f.p("VPCMPUD $4, Z0, Z2, K5")
		f.p("KORTESTW K5, K5")
		f.p("JNZ stop")

		f.offset(15)
		f.p("CMPQ AX, site_run(R13)")
		f.p("JCC stop")
		f.p("TESTL $3, AX")
		f.p("JNZ stop")
		f.undefined(true, fmt.Sprintf("runDefined%d", q))
		if f.dwords == 1 {
			f.p("VMOVDQU32 (R12)(AX*1), Z%d", 16+4*q)
		} else {
			f.p("LEAQ (R12)(AX*1), CX")
			for k := range f.dwords {
				f.p("KXNORW K5, K5, K5")
				f.p("VPGATHERDD %d(CX)(Z0*1), K5, Z%d", 4*k, 16+4*q+k)
			}
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
		for k := range f.dwords {
			f.p("VPBROADCASTD %d(R12)(AX*1), Z%d", 4*k, 16+4*q+k)
		}
		f.p("LEAQ %d(AX), BX", size)

		f.label("range%d", q)
		f.ranges(q, size)
		f.races("recordRead", fmt.Sprintf("next%d", q))
	}
	f.p("MOVLQSX uop_d(R8), DI")
	f.p("ADDQ R9, DI")
	for q := range nq {
		for k := range f.dwords {
			f.p("VMOVDQU32 Z%d, %d(DI)", 16+4*q+k, 256*k+64*q)
		}
	}
	f.count(nq)
}

// ranges looks at the bytes from AX to before BX that quarter q loads: it
// counts lines of global memory, for which each quarter begins no earlier than
// the one before, and rules out conflicts between banks of LDS. Where the
// quarter before loads the same, there is no more to do.
func (f memoryWriter) ranges(q, size int) {
	switch {
	case f.space == 'L' && q%2 == 1:
		// Two quarters share no bank: all they load is within 32 dwords, or
		// is one row.
		f.p("VMOVQ X3, CX")
		f.p("VPEXTRQ $1, X3, DX")
		f.p("CMPQ AX, CX")
		f.p("JCS stop")
		f.p("MOVQ BX, R14")
		f.p("CMPQ DX, BX")
		f.p("CMOVQHI DX, R14")
		f.p("SUBQ CX, R14")
		f.p("CMPQ R14, $128")
		f.p("JLS banks%d", q)
		f.p("CMPQ AX, DX")
		f.p("JNE stop")
		f.p("CMPQ R14, $%d", 32*size)
		f.p("JNE stop")
		f.label("banks%d", q)
		f.p("XORQ AX, CX")
		f.p("XORQ BX, DX")
		f.p("ORQ CX, DX")
		f.p("JZ next%d", q)
	case f.space == 'L':
		f.p("VMOVQ AX, X3")
		f.p("VPINSRQ $1, BX, X3, X3")
	default:
		if q > 0 {
			f.p("VMOVQ X3, CX")
			f.p("VPEXTRQ $1, X3, DX")
			f.p("CMPQ AX, CX")
			f.p("JCS stop")
			f.p("XORQ AX, CX")
			f.p("XORQ BX, DX")
			f.p("ORQ CX, DX")
			f.p("JZ next%d", q)
		}
		f.p("VMOVQ AX, X3")
		f.p("VPINSRQ $1, BX, X3, X3")
		f.p("MOVQ AX, CX")
		f.p("SHRQ $6, CX")
		f.p("LEAQ 63(BX), DX")
		f.p("SHRQ $6, DX")
		f.p("CMPQ CX, DI")
		f.p("CMOVQCS DI, CX")
		f.p("MOVQ DX, R14")
		f.p("SUBQ CX, R14")
		f.p("JLE counted%d", q)
		f.p("ADDQ R14, R15")
		f.p("MOVQ DX, DI")
		f.label("counted%d", q)
	}
}

// writeStore stores a wave's elements one after another.
func (f memoryWriter) writeStore(nq int) {
	size := 4 * f.dwords
	f.p("MOVL (SI), AX")
	f.p("VPBROADCASTD AX, Z1")
	f.p("MOVL $%d, CX", 16*size)
	f.p("VPBROADCASTD CX, Z4")
	for q := range nq {
		f.p("VMOVDQU32 %d(SI), Z2", 64*q)
		f.p("VPSUBD Z1, Z2, Z2")
		f.p("VPCMPUD $4, Z0, Z2, K5")
		f.p("KORTESTW K5, K5")
		f.p("JNZ stop")
		if q+1 < nq {
			f.p("VPADDD Z4, Z1, Z1")
		}
	}
	f.storeRange(nq)
	f.p("MOVL $0x01010101, DX")
	f.p("VPBROADCASTD DX, Z2")
	for k := range nq * f.dwords {
		f.p("VMOVDQU32 Z2, %d(CX)(DI*1)", 64*k)
	}
	f.label("marked")
	f.p("ADDQ DI, R12")
	f.p("MOVLQSX uop_d(R8), CX")
	f.p("ADDQ R9, CX")
	for q := range nq {
		for k := range f.dwords {
			f.p("VMOVDQU32 %d(CX), Z1", 256*k+64*q)
			if f.dwords == 1 {
				f.p("VMOVDQU32 Z1, %d(R12)", 64*q)
			} else {
				f.p("KXNORW K5, K5, K5")
				f.p("VPSCATTERDD Z1, K5, %d(R12)(Z0*1)", 4*k+16*size*q)
			}
		}
	}
	f.count(nq)
}

// storeRange takes the address of a wave's first element in AX, leaves its
// offset in DI and the lines in R15, records the access, and goes on at marked
// where no bytes are to be marked as written, else with these in CX.
func (f memoryWriter) storeRange(nq int) {
	size := 4 * f.dwords
	f.offset(16*nq - 1)
	f.p("CMPQ AX, site_run(R13)")
	f.p("JCC stop")
	f.p("TESTL $3, AX")
	f.p("JNZ stop")
	f.p("LEAQ %d(AX), BX", 16*nq*size)
	f.p("MOVQ BX, R15")
	f.p("DECQ R15")
	f.p("SHRQ $6, R15")
	f.p("MOVQ AX, CX")
	f.p("SHRQ $6, CX")
	f.p("SUBQ CX, R15")
	f.p("INCQ R15")
	f.p("MOVQ AX, DI")
	f.races("recordWrite", "recorded")
	f.p("MOVQ site_def(R13), CX")
	f.p("TESTQ CX, CX")
	f.p("JZ marked")
}

// records writes the routines that keep the records of races, as
// raceShadow.read and write do: of the dwords in the bytes AX to BX, which is
// the last. AX is zero where no race is suspected; otherwise the access is
// left to Go, which may find again what is recorded here already, to the same
// effect. They use AX to DX, SI, R12, R14, Z1 to Z15 but Z3, and K5 to K7.
func (w *writer) records() {
	w.record("recordRead", false)
	w.record("recordWrite", true)
}

func (w *writer) record(name string, write bool) {
	w.begin(name)
	w.p("MOVL wave_race+raceView_id(R10), R14")
	w.label("line")
	// DX is the chunk, CX the line in it, K5 the dwords.
	w.p("MOVQ AX, CX")
	w.p("SHRQ $14, CX")
	w.p("MOVQ site_chunks(R13), DX")
	w.p("MOVQ (DX)(CX*8), DX")
	w.p("TESTQ DX, DX")
	w.p("JZ fail")
	w.p("MOVL AX, CX")
	w.p("SHRL $2, CX")
	w.p("ANDL $15, CX")
	w.p("MOVL $0xffff, SI")
	w.p("SHLXL CX, SI, SI")
	w.p("MOVQ AX, R12")
	w.p("XORQ BX, R12")
	w.p("CMPQ R12, $64")
	w.p("JCC whole")
	w.p("MOVL BX, CX")
	w.p("SHRL $2, CX")
	w.p("NOTL CX")
	w.p("ANDL $15, CX") // dwords of the line that follow
	w.p("MOVL $0xffff, R12")
	w.p("SHRXL CX, R12, R12")
	w.p("ANDL R12, SI")
	w.label("whole")
	w.p("KMOVW SI, K5")
	w.p("MOVL AX, CX")
	w.p("SHRL $6, CX")
	w.p("ANDL $255, CX")
	w.p("CMPB raceChunk_mixed(DX)(CX*1), $0")
	w.p("JNE mixed")
	old, field := "Z5", "r"
	if write {
		old, field = "Z4", "w"
	}
	w.afterAlike(write)
	// SI is the new record, R12 the old one.
	w.p("CMPL SI, R12")
	w.p("JE next")
	w.p("VPBROADCASTD SI, Z13")
	w.p("KMOVW K5, R12")
	w.p("CMPL R12, $0xffff")
	w.p("JNE part")
	w.p("MOVL SI, raceChunk_%s(DX)(CX*4)", field)
	w.p("JMP next")
	w.label("part") // The line becomes mixed.
	w.p("CMPW raceChunk_slot(DX)(CX*2), $0")
	w.p("JE fail")
	w.p("VPBROADCASTD raceChunk_w(DX)(CX*4), Z4")
	w.p("VPBROADCASTD raceChunk_r(DX)(CX*4), Z5")
	w.p("MOVB $1, raceChunk_mixed(DX)(CX*1)")
	w.lineOf()
	w.p("VMOVDQU32 Z4, raceLine_w(SI)")
	w.p("VMOVDQU32 Z5, raceLine_r(SI)")
	w.p("VMOVDQU32 Z13, K5, raceLine_%s(SI)", field)
	w.p("JMP next")

	w.label("mixed")
	w.lineOf()
	w.p("VMOVDQU32 raceLine_w(SI), Z4")
	w.p("VMOVDQU32 raceLine_r(SI), Z5")
	w.after(write)
	w.p("KMOVW K5, R12")
	w.lineOf()
	w.p("VMOVDQU32 Z13, K5, raceLine_%s(SI)", field)
	w.p("CMPL R12, $0xffff")
	w.p("JNE next")
	// All alike again?
	w.p("VMOVDQA32 Z13, %s", old)
	w.p("VPBROADCASTD X4, Z1")
	w.p("VPBROADCASTD X5, Z2")
	w.p("VPCMPUD $4, Z1, Z4, K6")
	w.p("VPCMPUD $4, Z2, Z5, K7")
	w.p("KORTESTW K6, K7")
	w.p("JNZ next")
	w.p("MOVB $0, raceChunk_mixed(DX)(CX*1)")
	w.p("VMOVD X4, raceChunk_w(DX)(CX*4)")
	w.p("VMOVD X5, raceChunk_r(DX)(CX*4)")

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

// afterAlike takes the records of the dwords of line CX, which are alike, and
// leaves the one of what changes in SI, and in R12 as it was.
func (w *writer) afterAlike(write bool) {
	w.p("MOVL raceChunk_w(DX)(CX*4), SI")
	w.p("MOVL raceChunk_r(DX)(CX*4), R12")
	// wave leaves the number of the wave of record SI in the work-group, and
	// goes on at outside where it is of another.
	wave := func(outside string) {
		w.p("SHLL $2, SI")
		w.p("SHRL $8, SI")
		w.p("SUBL wave_race+raceView_from(R10), SI")
		w.p("CMPL SI, wave_race+raceView_n(R10)")
		w.p("JCC %s", outside)
	}
	// ordered fails where the access of a record of another wave may not be
	// ordered before this one. It uses R12.
	ordered := func(field, done string) {
		w.p("MOVL raceChunk_%s(DX)(CX*4), R12", field)
		w.p("MOVL R12, SI")
		wave(field + "Outside")
		w.p("XORL R14, R12")
		w.p("TESTL $%d, R12", racePhases-1)
		w.p("JZ fail")
		w.p("JMP %s", done)
		w.label(field + "Outside")
		w.p("CMPL site_others(R13), $0")
		w.p("JNE fail")
	}
	w.p("TESTL SI, SI")
	w.p("JZ writes")
	w.p("XORL R14, SI")
	w.p("TESTL $0x3fffffc0, SI") // the same wave's
	w.p("JZ writes")
	ordered("w", "writes")
	w.label("writes")
	w.p("MOVL raceChunk_r(DX)(CX*4), R12")
	if write {
		w.p("TESTL R12, R12")
		w.p("JZ reads")
		w.p("CMPL R12, R14")
		w.p("JE reads")
		ordered("r", "reads")
		w.label("reads")
		w.p("MOVL R14, SI")
		w.p("MOVL raceChunk_w(DX)(CX*4), R12")
		return
	}
	w.p("CMPL R12, R14")
	w.p("JE next")
	w.p("CMPL R12, $-1")
	w.p("JE next")
	w.p("MOVL R12, SI")
	w.p("TESTL R12, R12")
	w.p("JZ first")
	wave("others")
	w.p("MOVL R12, SI")
	w.p("XORL R14, SI")
	w.p("TESTL $%d, SI", racePhases-1)
	w.p("JNZ first")
	w.p("MOVL $0x80000000, SI")
	w.p("ORL R14, SI")
	w.p("JMP read")
	w.label("others")
	w.p("MOVL site_others(R13), SI")
	w.p("ORL R14, SI")
	w.p("JMP read")
	w.label("first")
	w.p("MOVL R14, SI")
	w.label("read")
}

// lineOf leaves the records of line CX, which has a slot, in SI.
func (w *writer) lineOf() {
	w.p("MOVWLZX raceChunk_slot(DX)(CX*2), SI")
	w.p("DECQ SI")
	w.p("SHLQ $7, SI")
	w.p("ADDQ raceChunk_lines(DX), SI")
}

// after takes the records of writes in Z4 and of reads in Z5 and leaves those
// of what changes in Z13, for the dwords of K5. See raceView.afterRead and
// afterWrite.
func (w *writer) after(write bool) {
	w.p("VPBROADCASTD R14, Z6")
	w.p("VPBROADCASTD wave_race+raceView_from(R10), Z7")
	w.p("VPBROADCASTD wave_race+raceView_n(R10), Z8")
	w.p("VPBROADCASTD site_others(R13), Z9")
	w.p("VPBROADCASTD raceMasks<>+0(SB), Z12")
	w.p("VPBROADCASTD raceMasks<>+4(SB), Z14")
	w.p("VPXORD Z6, Z4, Z11")
	w.p("VPXORD Z6, Z5, Z15")
	// wave leaves the number of a record's wave in the work-group in Z10.
	wave := func(record string) {
		w.p("VPSLLD $2, %s, Z10", record)
		w.p("VPSRLD $8, Z10, Z10")
		w.p("VPSUBD Z7, Z10, Z10")
	}
	// ordered fails where an access of K6 may not be ordered before this one;
	// x is its record less this one's id.
	ordered := func(record, x, done string) {
		w.p("KORTESTW K6, K6")
		w.p("JZ %s", done)
		wave(record)
		w.p("VPCMPUD $5, Z8, Z10, K6, K7") // of other work-groups,
		w.p("VPTESTMD Z9, Z9, K7, K7")     // which share the region
		w.p("KORTESTW K7, K7")
		w.p("JNZ fail")
		w.p("VPCMPUD $1, Z8, Z10, K6, K6")
		w.p("VPTESTNMD Z12, %s, K6, K6", x) // of the same phase
		w.p("KORTESTW K6, K6")
		w.p("JNZ fail")
		w.label(done)
	}
	w.p("VPTESTMD Z4, Z4, K5, K6")
	w.p("VPTESTMD Z14, Z11, K6, K6") // of other waves
	ordered("Z4", "Z11", "lineWrites")
	if write {
		w.p("VPTESTMD Z5, Z5, K5, K6")
		w.p("VPTESTMD Z15, Z15, K6, K6")
		ordered("Z5", "Z15", "lineReads")
		w.p("VMOVDQA32 Z6, Z13")
		return
	}
	// Mostly all reads were this wave's own.
	w.p("VMOVDQA32 Z6, Z13")
	w.p("VPCMPUD $6, Z12, Z15, K5, K6")
	w.p("VPTESTMD Z5, Z5, K6, K6")
	w.p("KORTESTW K6, K6")
	w.p("JZ lineRead")
	w.p("VPORD Z9, Z6, Z13") // after reads of other work-groups
	wave("Z5")
	w.p("VPCMPUD $1, Z8, Z10, K6")
	w.p("VMOVDQA32 Z6, K6, Z13")
	w.p("VPTESTNMD Z12, Z15, K6, K6")
	w.p("VPBROADCASTD raceMasks<>+8(SB), Z1")
	w.p("VPORD Z1, Z6, K6, Z13") // after reads of the same phase
	w.p("VPTESTNMD Z5, Z5, K6")
	w.p("VMOVDQA32 Z6, K6, Z13")
	w.p("VPTESTNMD Z15, Z15, K6")
	w.p("VMOVDQA32 Z5, K6, Z13")
	w.p("VPCMPUD.BCST $0, raceMasks<>+12(SB), Z5, K6") // by several work-groups already
	w.p("VMOVDQA32 Z5, K6, Z13")
	w.label("lineRead")
}

// memoryData writes the constants of the forms.
func (w *writer) memoryData() {
	fmt.Fprintf(w, "\n")
	for _, dwords := range []int{1, 2, 4} {
		for i := range 16 {
			fmt.Fprintf(w, "DATA run%d<>+%d(SB)/4, $%d\n", dwords, 4*i, 4*dwords*i)
		}
		fmt.Fprintf(w, "GLOBL run%d<>(SB), RODATA|NOPTR, $64\n", dwords)
	}
	for i, m := range []uint32{63, 0x3fffffc0, 0x80000000, 0xffffffff} { // phase, wave, raceMany, raceOthers
		fmt.Fprintf(w, "DATA raceMasks<>+%d(SB)/4, $%#x\n", 4*i, m)
	}
	fmt.Fprintf(w, "GLOBL raceMasks<>(SB), RODATA|NOPTR, $16\n")
}
