package main

import "fmt"

// The two halves of a 64-bit addition, v_add_co_u32 and after it
// v_addc_co_u32 that takes its carries: how compilers compute addresses. One
// form does both, the carries of a quarter staying in a mask register. Its
// operands are those of two uops in a row, of which the second has no code
// that runs.
const addPair = "addPair"

// addPairs calls f with the kinds of operands of each form.
func addPairs(f func(low, high string)) {
	for _, low := range kinds[2] {
		for _, high := range kinds[2] {
			f(low, high)
		}
	}
}

// addPair writes the form for waves of width lanes.
func (w *writer) addPair(low, high string, width int) {
	w.begin(fmt.Sprintf("%s%s%s%d", addPair, low, high, width))
	w.p("VPTERNLOGD $0xff, Z31, Z31, Z31")
	// operand resolves a field of one of the uops, and returns what reads the
	// quarter q of it.
	operand := func(field string, kind byte, reg string, z int) func(q int) string {
		w.p("MOVLQSX %s(R8), %s", field, reg)
		if kind == 'S' {
			w.p("VPBROADCASTD (R10)(%s*1), Z%d", reg, z)
			return func(int) string { return fmt.Sprintf("Z%d", z) }
		}
		return func(q int) string {
			w.p("VMOVDQU32 %d(R9)(%s*1), Z%d", 64*q, reg, z)
			return fmt.Sprintf("Z%d", z)
		}
	}
	const second = "uop__size+"
	a, b := operand("uop_a", low[0], "SI", 0), operand("uop_b", low[1], "DX", 1)
	ah, bh := operand(second+"uop_a", high[0], "BX", 2), operand(second+"uop_b", high[1], "CX", 3)
	w.p("MOVLQSX uop_d(R8), R13")
	w.p("MOVLQSX %suop_d(R8), R15", second)
	for q := range width / 16 {
		e := 1 + q
		x := a(q)
		w.p("VPADDD %s, %s, Z4", b(q), x)
		w.p("VPCMPUD $1, %s, Z4, K%d, K5", x, e)
		w.p("VMOVDQU32 Z4, K%d, %d(R9)(R13*1)", e, 64*q)
		x = ah(q)
		w.p("VPADDD %s, %s, Z5", bh(q), x)
		w.p("VPCMPUD $1, %s, Z5, K%d, K6", x, e)
		w.p("VPSUBD Z31, Z5, K5, Z5")
		w.p("VPTESTNMD Z5, Z5, K5, K7")
		w.p("KORW K7, K6, K6")
		w.p("VMOVDQU32 Z5, K%d, %d(R9)(R15*1)", e, 64*q)
		if q == 0 {
			w.p("KMOVW K5, R12")
			w.p("KMOVW K6, R14")
			continue
		}
		for _, m := range []string{"K5, R12", "K6, R14"} {
			w.p("KMOVW %s, AX", m[:2])
			w.p("SHLQ $%d, AX", 16*q)
			w.p("ORQ AX, %s", m[4:])
		}
	}
	move := "MOVL"
	if width == 64 {
		move = "MOVQ"
	}
	w.p("MOVLQSX uop_sd(R8), DI")
	w.p("%s R12, (R10)(DI*1)", move)
	w.p("MOVLQSX %suop_sd(R8), DI", second)
	w.p("%s R14, (R10)(DI*1)", move)
	w.p("ADDQ $uop__size, R8")
	w.next()
}
