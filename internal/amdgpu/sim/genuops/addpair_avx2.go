package main

import "fmt"

// addPair256 writes addPair's form for AVX2. It takes all lanes; where some are
// inactive the two uops are executed one after the other.
func (w *avx2Writer) addPair256(low, high string) {
	w.begin(addPair + low + high)
	w.p("TESTL R12, R12")
	w.p("JNZ part")
	const second = "uop__size+"
	operands := []struct {
		field  string
		kind   byte
		reg    string
		scalar string
	}{
		{"uop_a", low[0], "SI", "Y14"}, {"uop_b", low[1], "DX", "Y14"},
		{second + "uop_a", high[0], "CX", "Y15"}, {second + "uop_b", high[1], "DI", "Y15"},
	}
	for _, o := range operands {
		w.p("MOVLQSX %s(R8), %s", o.field, o.reg)
		if o.kind == 'S' {
			w.p("VPBROADCASTD (R10)(%s*1), %s", o.reg, o.scalar)
		}
	}
	w.p("MOVLQSX uop_d(R8), R12")
	w.p("MOVLQSX %suop_d(R8), R11", second)
	w.p("XORL BX, BX")
	w.p("XORL R14, R14")
	w.label("pass")
	for q := range 4 {
		// add leaves the sum of two operands in Y0 and where it has no carry in
		// mask.
		add := func(i int, mask string) {
			a, b := operands[i], operands[i+1]
			x, y := a.scalar, b.scalar
			if a.kind == 'R' {
				x = "Y1"
				w.p("VMOVDQU %d(R9)(%s*1), Y1", 32*q, a.reg)
			}
			if b.kind == 'R' {
				y = fmt.Sprintf("%d(R9)(%s*1)", 32*q, b.reg)
			}
			w.p("VPADDD %s, %s, Y0", y, x)
			w.p("VPMINUD %s, Y0, %s", x, mask)
			w.p("VPCMPEQD %s, %s, %s", x, mask, mask)
		}
		lows, highs := fmt.Sprintf("Y%d", 4+q), fmt.Sprintf("Y%d", 8+q)
		add(0, lows)
		w.p("VMOVDQU Y0, %d(R9)(R12*1)", 32*q) // which may be an operand of the other
		add(2, highs)
		w.p("VPSUBD %s, Y0, Y0", w.constant("-1"))
		w.p("VPADDD %s, Y0, Y0", lows)
		w.p("VMOVDQU Y0, %d(R9)(R11*1)", 32*q)
		w.p("VPXOR Y2, Y2, Y2")
		w.p("VPCMPEQD Y2, Y0, Y2")
		w.p("VPANDN Y2, %s, Y2", lows)
		w.p("VPANDN %s, Y2, %s", highs, highs)
	}
	w.p("VMOVDQU packed<>(SB), Y3")
	for _, m := range []struct {
		first int
		bits  string
	}{{4, "BX"}, {8, "R14"}} {
		w.p("VPACKSSDW Y%d, Y%d, Y0", m.first+1, m.first)
		w.p("VPACKSSDW Y%d, Y%d, Y1", m.first+3, m.first+2)
		w.p("VPACKSSWB Y1, Y0, Y0")
		w.p("VPERMD Y0, Y3, Y0")
		w.p("VPMOVMSKB Y0, AX")
		w.p("NOTL AX")
		w.p("SHLQ $32, %s", m.bits)
		w.p("ORQ AX, %s", m.bits)
	}
	w.p("SUBQ $128, R9")
	w.p("CMPQ R9, R13")
	w.p("JCC pass")
	w.p("MOVQ R15, R9")
	w.p("XORL R12, R12")
	w.p("LEAQ codes<>(SB), R11")
	// The first mask goes where that of a uop does, the second as well.
	w.p("MOVLQSX uop_sd(R8), DI")
	w.p("ADDQ $uop__size, R8")
	w.p("CMPQ R15, R13")
	w.p("JEQ narrow")
	w.p("MOVQ BX, (R10)(DI*1)")
	w.p("MOVQ R14, BX")
	w.p("JMP putMask<>(SB)")
	w.label("narrow")
	w.p("MOVL BX, (R10)(DI*1)")
	w.p("MOVQ R14, BX")
	w.p("JMP putMask<>(SB)")
	w.label("part")
	w.p("JMP addCo%s<>(SB)", low)
}
