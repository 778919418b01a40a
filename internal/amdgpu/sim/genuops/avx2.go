package main

import (
	"bytes"
	"fmt"
	"strings"
)

// The AVX2 forms have half the lanes in a register, and half the registers.
// A form takes 32 lanes in a pass, four groups of eight, and a wave of 64 in
// two passes, the upper half first. Beside R8 to R11 its registers are
//
//	R9       the rows, of the half at hand
//	R12      whether some lane is inactive
//	R13      the rows
//	R15      the rows of the half that comes first
//	SI DX CX operands that are rows, from R9, or CX the mask operand, from R10
//	DI       the row of the result, from R9
//	BX       the mask that results, or the lanes left to Go
//	Y14 Y15  a scalar operand, with its high dword
//
// A body is executed for each group. {a}, {b} and {c} are registers with the
// operands, {A}, {B} and {C} the same where a memory operand may be, with an h
// or H the high dwords of pairs. {t} and {u} are results, {m} is a mask that
// results, all ones or all zeros by lane; {i} is the mask operand, and {x},
// {y} and {z} are free ({z} not with {i}). Constants are in memory: {k:31}.
//
// Where form.nan is set, {m} are the lanes that this form leaves to Go.

// An avx2Form is the body of a form, without which Go does the instruction.
type avx2Form struct {
	body   string
	invert bool // {m} are the active lanes that are not in the mask
}

var avx2 = map[string]avx2Form{
	"mov":    {body: "VMOVDQU {A}, {t}"},
	"not":    {body: "VPCMPEQD {x}, {x}, {x}; VPXOR {A}, {x}, {t}"},
	"neg":    {body: "VPXOR {k:0x80000000}, {a}, {t}"},
	"abs":    {body: "VPAND {k:0x7fffffff}, {a}, {t}"},
	"negabs": {body: "VPOR {k:0x80000000}, {a}, {t}"},

	"cvtF32I32": {body: "VCVTDQ2PS {A}, {t}"},
	// Both halves are exact, so that their sum rounds once.
	"cvtF32U32": {body: "VPSRLD $16, {a}, {x}; VCVTDQ2PS {x}, {x}; VPAND {k:0xffff}, {a}, {t}; VCVTDQ2PS {t}, {t}; VFMADD231PS {k:0x47800000}, {x}, {t}"},
	// What is out of range gives 0x80000000: above, the complement is right.
	"cvtI32F32": {body: "VCVTTPS2DQ {a}, {t}; VCMPPS $13, {k:0x4f000000}, {a}, {x}; VPXOR {x}, {t}, {t}; VCMPPS $7, {a}, {a}, {x}; VPAND {x}, {t}, {t}"},
	// From 1<<31 on, 1<<31 is added to what remains. VMAXPS makes NaNs 0.
	"cvtU32F32": {body: "VPXOR {y}, {y}, {y}; VMAXPS {y}, {a}, {x}; VCVTTPS2DQ {x}, {t}; VSUBPS {k:0x4f000000}, {x}, {y}; VCVTTPS2DQ {y}, {y}; VPSRAD $31, {t}, {z}; " +
		"VPAND {z}, {y}, {y}; VPADDD {y}, {t}, {t}; VCMPPS $13, {k:0x4f800000}, {x}, {x}; VPOR {x}, {t}, {t}"},
	"rndne":     {body: "VROUNDPS $8, {A}, {t}; VCMPPS $3, {t}, {t}, {m}"},
	"floor":     {body: "VROUNDPS $9, {A}, {t}; VCMPPS $3, {t}, {t}, {m}"},
	"ceil":      {body: "VROUNDPS $10, {A}, {t}; VCMPPS $3, {t}, {t}, {m}"},
	"trunc":     {body: "VROUNDPS $11, {A}, {t}; VCMPPS $3, {t}, {t}, {m}"},
	"wideF16":   {body: "VPAND {k:0xffff}, {a}, {x}; VEXTRACTI128 $1, {x}, {Xy}; VPACKUSDW {Xy}, {Xx}, {Xx}; VCVTPH2PS {Xx}, {t}"},
	"narrowF32": {body: "VCVTPS2PH $0, {a}, {Xx}; VPMOVZXWD {Xx}, {t}"},

	"addF32": {body: "VADDPS {B}, {a}, {t}"},
	"subF32": {body: "VSUBPS {B}, {a}, {t}"},
	"mulF32": {body: "VMULPS {B}, {a}, {t}"},
	"minF32": {body: "VMINPS {b}, {a}, {t}; VMINPS {a}, {b}, {x}; VPOR {x}, {t}, {t}; VCMPPS $3, {b}, {a}, {m}"},
	"maxF32": {body: "VMAXPS {b}, {a}, {t}; VMAXPS {a}, {b}, {x}; VPAND {x}, {t}, {t}; VCMPPS $3, {b}, {a}, {m}"},
	"fmaF32": {body: "VMOVDQU {C}, {t}; VFMADD231PS {B}, {a}, {t}; VCMPPS $3, {t}, {t}, {m}"},
	"rcp":    {body: "VPAND {k:0x7fffffff}, {a}, {x}; VPSUBD {k:0x01000000}, {x}, {x}; VPMAXUD {k:0x7d000000}, {x}, {y}; VPCMPEQD {x}, {y}, {m}; VMOVDQU {k:0x3f800000}, {x}; VDIVPS {a}, {x}, {t}"},

	"add":    {body: "VPADDD {B}, {a}, {t}"},
	"sub":    {body: "VPSUBD {B}, {a}, {t}"},
	"mulLo":  {body: "VPMULLD {B}, {a}, {t}"},
	"mulHi":  {body: high256 + "; VMOVDQA {u}, {t}"},
	"mul24":  {body: "VPAND {k:0xffffff}, {a}, {x}; VPAND {k:0xffffff}, {b}, {y}; VPMULLD {y}, {x}, {t}"},
	"and":    {body: "VPAND {B}, {a}, {t}"},
	"or":     {body: "VPOR {B}, {a}, {t}"},
	"xor":    {body: "VPXOR {B}, {a}, {t}"},
	"shl":    {body: "VPAND {k:31}, {a}, {x}; VPSLLVD {x}, {b}, {t}"},
	"shr":    {body: "VPAND {k:31}, {a}, {x}; VPSRLVD {x}, {b}, {t}"},
	"sar":    {body: "VPAND {k:31}, {a}, {x}; VPSRAVD {x}, {b}, {t}"},
	"minU32": {body: "VPMINUD {B}, {a}, {t}"},
	"maxU32": {body: "VPMAXUD {B}, {a}, {t}"},
	"minI32": {body: "VPMINSD {B}, {a}, {t}"},
	"maxI32": {body: "VPMAXSD {B}, {a}, {t}"},

	"add3":     {body: "VPADDD {B}, {a}, {t}; VPADDD {C}, {t}, {t}"},
	"shlAdd":   {body: "VPAND {k:31}, {b}, {x}; VPSLLVD {x}, {a}, {t}; VPADDD {C}, {t}, {t}"},
	"addShl":   {body: "VPADDD {B}, {a}, {t}; VPAND {k:31}, {c}, {x}; VPSLLVD {x}, {t}, {t}"},
	"shlOr":    {body: "VPAND {k:31}, {b}, {x}; VPSLLVD {x}, {a}, {t}; VPOR {C}, {t}, {t}"},
	"andOr":    {body: "VPAND {B}, {a}, {t}; VPOR {C}, {t}, {t}"},
	"or3":      {body: "VPOR {B}, {a}, {t}; VPOR {C}, {t}, {t}"},
	"xor3":     {body: "VPXOR {B}, {a}, {t}; VPXOR {C}, {t}, {t}"},
	"bfi":      {body: "VPAND {B}, {a}, {t}; VPANDN {C}, {a}, {x}; VPOR {x}, {t}, {t}"},
	"bfeU":     {body: "VPAND {k:31}, {b}, {x}; VPSRLVD {x}, {a}, {t}; VPAND {k:31}, {c}, {x}; VMOVDQU {k:1}, {y}; VPSLLVD {x}, {y}, {x}; VPSUBD {y}, {x}, {x}; VPAND {x}, {t}, {t}"},
	"mad24":    {body: "VPAND {k:0xffffff}, {a}, {x}; VPAND {k:0xffffff}, {b}, {y}; VPMULLD {y}, {x}, {t}; VPADDD {C}, {t}, {t}"},
	"alignbit": {body: "VPAND {k:31}, {c}, {x}; VPSRLVD {x}, {b}, {t}; VMOVDQU {k:32}, {y}; VPSUBD {x}, {y}, {y}; VPSLLVD {y}, {a}, {y}; VPOR {y}, {t}, {t}"},

	// {c} are the high dwords of {b}.
	"shl64": {body: "VPAND {k:63}, {a}, {x}; VMOVDQU {k:32}, {z}; VPSLLVD {x}, {b}, {t}; VPSLLVD {x}, {c}, {y}; VPSUBD {x}, {z}, {u}; VPSRLVD {u}, {b}, {u}; VPOR {u}, {y}, {y}; VPSUBD {z}, {x}, {u}; VPSLLVD {u}, {b}, {u}; VPOR {y}, {u}, {u}"},
	"shr64": {body: "VPAND {k:63}, {a}, {x}; VMOVDQU {k:32}, {z}; VPSRLVD {x}, {b}, {t}; VPSUBD {x}, {z}, {y}; VPSLLVD {y}, {c}, {y}; VPOR {y}, {t}, {t}; VPSUBD {z}, {x}, {y}; VPSRLVD {y}, {c}, {y}; VPOR {y}, {t}, {t}; VPSRLVD {x}, {c}, {u}"},
	"sar64": {body: "VPAND {k:63}, {a}, {x}; VMOVDQU {k:32}, {z}; VPSRLVD {x}, {b}, {t}; VPSUBD {x}, {z}, {y}; VPSLLVD {y}, {c}, {y}; VPOR {y}, {t}, {t}; VPSUBD {z}, {x}, {y}; VPSRAVD {y}, {c}, {u}; VPSRAD $31, {y}, {y}; VPANDN {u}, {y}, {y}; VPOR {y}, {t}, {t}; VPSRAVD {x}, {c}, {u}"},
	// {h} are the high dwords of {c}. {z} is where the low sum has no carry.
	"madU64": {invert: true, body: high256 + "; VPMULLD {b}, {a}, {t}; VPADDD {c}, {t}, {t}; VPMINUD {c}, {t}, {z}; VPCMPEQD {c}, {z}, {z}; " +
		"VMOVDQU {H}, {x}; VPADDD {x}, {u}, {u}; VPMINUD {x}, {u}, {y}; VPCMPEQD {x}, {y}, {x}; VPSUBD {k:-1}, {u}, {u}; VPADDD {z}, {u}, {u}; " +
		"VPXOR {y}, {y}, {y}; VPCMPEQD {y}, {u}, {y}; VPANDN {y}, {z}, {y}; VPANDN {x}, {y}, {m}"},

	"addCo":   {invert: true, body: "VPADDD {B}, {a}, {t}; VPMINUD {a}, {t}, {x}; VPCMPEQD {a}, {x}, {m}"},
	"addcCo":  {invert: true, body: "VPADDD {B}, {a}, {t}; VPMINUD {a}, {t}, {x}; VPCMPEQD {a}, {x}, {m}; VPSUBD {i}, {t}, {t}; VPXOR {x}, {x}, {x}; VPCMPEQD {x}, {t}, {x}; VPAND {i}, {x}, {x}; VPANDN {m}, {x}, {m}"},
	"subCo":   {invert: true, body: "VPSUBD {b}, {a}, {t}; VPMINUD {b}, {a}, {x}; VPCMPEQD {b}, {x}, {m}"},
	"subbCo":  {invert: true, body: "VPSUBD {b}, {a}, {t}; VPMINUD {b}, {a}, {x}; VPCMPEQD {b}, {x}, {m}; VPXOR {x}, {x}, {x}; VPCMPEQD {x}, {t}, {x}; VPAND {i}, {x}, {x}; VPANDN {m}, {x}, {m}; VPADDD {i}, {t}, {t}"},
	"cndmask": {body: "VBLENDVPS {i}, {B}, {a}, {t}"},

	"addF64": {body: pairs256 + "VADDPD {ah}, {t}, {t}; VADDPD {b}, {a}, {a}; VSHUFPS $0xdd, {a}, {t}, {u}; VSHUFPS $0x88, {a}, {t}, {t}; " + highest},
	"mulF64": {body: pairs256 + "VMULPD {ah}, {t}, {t}; VMULPD {b}, {a}, {a}; VSHUFPS $0xdd, {a}, {t}, {u}; VSHUFPS $0x88, {a}, {t}, {t}; " + highest},
	"fmaF64": {body: pairs256 + "VMOVDQU {C}, {bh}; VPUNPCKLDQ {CH}, {bh}, {u}; VPUNPCKHDQ {CH}, {bh}, {bh}; VFMADD231PD {ah}, {t}, {u}; VFMADD231PD {b}, {a}, {bh}; VSHUFPS $0x88, {bh}, {u}, {t}; VSHUFPS $0xdd, {bh}, {u}, {u}; " + highest},
}

// high256 leaves the high dwords of the products of {a} and {b} in {u}.
const high256 = "VPMULUDQ {b}, {a}, {x}; VPSRLQ $32, {x}, {x}; VPSRLQ $32, {a}, {y}; VPSRLQ $32, {b}, {z}; VPMULUDQ {z}, {y}, {y}; VPBLENDD $0xaa, {y}, {x}, {u}"

// pairs256 makes doubles: {t} and {a} of a, {ah} and {b} of b.
const pairs256 = "VPUNPCKLDQ {ah}, {a}, {t}; VPUNPCKHDQ {ah}, {a}, {a}; VPUNPCKLDQ {bh}, {b}, {ah}; VPUNPCKHDQ {bh}, {b}, {b}; "

// highest keeps the highest exponent of the doubles that result in {z}.
const highest = "VPAND {k:0x7fffffff}, {u}, {x}; VPMAXSD {x}, {z}, {z}"

func init() {
	// By dwords: whether a is at least, or at most b.
	ge := func(typ, a, b string) string {
		if typ == "I" {
			return fmt.Sprintf("VPCMPGTD %s, %s, {m}", a, b) // that it is less
		}
		return fmt.Sprintf("VPMAXUD %s, %s, {m}; VPCMPEQD %s, {m}, {m}", b, a, a)
	}
	le := func(typ, a, b string) string {
		if typ == "I" {
			return fmt.Sprintf("VPCMPGTD %s, %s, {m}", b, a) // that it is more
		}
		return fmt.Sprintf("VPMINUD %s, %s, {m}; VPCMPEQD %s, {m}, {m}", b, a, a)
	}
	for _, typ := range []string{"U", "I"} {
		signed := typ == "I"
		avx2["ge"+typ+"32"] = avx2Form{ge(typ, "{a}", "{b}"), signed}
		avx2["lt"+typ+"32"] = avx2Form{ge(typ, "{a}", "{b}"), !signed}
		avx2["le"+typ+"32"] = avx2Form{le(typ, "{a}", "{b}"), signed}
		avx2["gt"+typ+"32"] = avx2Form{le(typ, "{a}", "{b}"), !signed}
		// Of 64 bits the low dwords decide where the high ones are equal; where
		// they are not, the predicates with and without equality agree.
		for _, p := range []struct {
			name, opposite string
			low            func(typ, a, b string) string
			high           [2]string // operands of a signed compare
		}{{"ge", "lt", ge, [2]string{"{bh}", "{ah}"}}, {"le", "gt", le, [2]string{"{ah}", "{bh}"}}} {
			high := p.low("U", "{ah}", "{bh}")
			if signed {
				high = fmt.Sprintf("VPCMPGTD %s, %s, {m}", p.high[0], p.high[1])
			}
			body := strings.ReplaceAll(high, "{m}", "{x}") + "; " + strings.ReplaceAll(p.low("U", "{a}", "{b}"), "{m}", "{y}") +
				"; VPCMPEQD {ah}, {bh}, {m}; VBLENDVPS {m}, {y}, {x}, {m}"
			avx2[p.name+typ+"64"] = avx2Form{body, false}
			avx2[p.opposite+typ+"64"] = avx2Form{body, true}
		}
	}
	avx2["eqU32"] = avx2Form{"VPCMPEQD {B}, {a}, {m}", false}
	avx2["neU32"] = avx2Form{"VPCMPEQD {B}, {a}, {m}", true}
	avx2["eqU64"] = avx2Form{"VPCMPEQD {b}, {a}, {m}; VPCMPEQD {bh}, {ah}, {x}; VPAND {x}, {m}, {m}", false}
	avx2["neU64"] = avx2Form{avx2["eqU64"].body, true}
	for _, p := range predicates {
		avx2[p.name+"F32"] = avx2Form{fmt.Sprintf("VCMPPS $%d, {B}, {a}, {m}", p.pred), false}
	}
}

// An avx2Writer writes the forms of one file.
type avx2Writer struct {
	writer
	constants []string // of eight equal dwords
}

// constant returns the operand for a constant.
func (w *avx2Writer) constant(v string) string {
	i := 0
	for ; i < len(w.constants) && w.constants[i] != v; i++ {
	}
	if i == len(w.constants) {
		w.constants = append(w.constants, v)
	}
	return fmt.Sprintf("constants<>+%d(SB)", 32*i)
}

// form writes f for operands of kinds kind.
func (w *avx2Writer) form(f *form, kind string) {
	b := avx2[f.name]
	w.begin(f.name + kind)
	regs := []string{"SI", "DX", "CX"}
	fields := "abc"
	high := map[int]bool{} // operands with high dwords
	for i := range f.n {
		w.p("MOVLQSX uop_%c(R8), %s", fields[i], regs[i])
		high[i] = f.wide || f.wideB && i == 1 || f.wideC && i == 2
		if kind[i] == 'S' {
			w.p("VPBROADCASTD (R10)(%s*1), Y14", regs[i])
			if high[i] {
				w.p("VPBROADCASTD 4(R10)(%s*1), Y15", regs[i])
			}
		}
	}
	if f.in { // which is as far from its first dword as R9 from R13, by 32
		w.p("MOVLQSX uop_m(R8), CX")
		w.p("MOVQ R9, AX")
		w.p("SUBQ R13, AX")
		w.p("SHRQ $5, AX")
		w.p("ADDQ AX, CX")
	}
	if !f.noD {
		w.p("MOVLQSX uop_d(R8), DI")
	}
	if f.mask || f.nan != "" {
		w.p("XORL BX, BX")
	}
	w.label("pass")
	if f.mask || f.nan != "" {
		w.p("SHLQ $32, BX")
	}
	if f.in {
		w.p("VPBROADCASTD (R10)(CX*1), Y13")
		w.p("SUBQ $4, CX")
	}
	if f.wide && f.pair {
		w.p("VPXOR Y13, Y13, Y13")
	}
	for q := range 4 {
		w.group(f, b.body, kind, q, high)
		if f.mask && f.pair {
			w.p("VMOVMSKPS Y12, AX")
			if q > 0 {
				w.p("SHLQ $%d, AX", 8*q)
			}
			w.p("ORQ AX, BX")
		}
	}
	if f.mask && !f.pair {
		w.p("VPACKSSDW Y5, Y4, Y4")
		w.p("VPACKSSDW Y7, Y6, Y6")
		w.p("VPACKSSWB Y6, Y4, Y4")
		w.p("VMOVDQU packed<>(SB), Y8")
		w.p("VPERMD Y4, Y8, Y4")
		w.p("VPMOVMSKB Y4, AX")
		w.p("ORQ AX, BX")
	}
	store := "storePart"
	switch {
	case f.nan != "" && f.pair:
		store = "storePairNumbers"
		w.p("VPCMPGTD %s, Y13, Y8", w.constant("0x7fefffff"))
		w.p("VPTEST Y8, Y8")
		w.p("JNZ part")
	case f.nan != "":
		store = "storeNumbers"
		w.p("VPOR Y5, Y4, Y8")
		w.p("VPOR Y7, Y6, Y9")
		w.p("VPOR Y9, Y8, Y8")
		w.p("VPTEST Y8, Y8")
		w.p("JNZ part")
	case f.pair:
		store = "storePair"
	}
	if !f.noD {
		w.p("TESTL R12, R12")
		w.p("JNZ part")
		for q := range 4 {
			w.p("VMOVDQU Y%d, %d(R9)(DI*1)", q, 32*q)
		}
		if f.pair {
			for q := range 4 {
				w.p("VMOVDQU Y%d, %d(R9)(DI*1)", 4+q, 256+32*q)
			}
		}
		w.label("stored")
	}
	w.p("SUBQ $128, R9")
	w.p("CMPQ R9, R13")
	w.p("JCC pass")
	w.p("MOVQ R15, R9")
	switch {
	case f.nan != "":
		w.p("TESTQ BX, BX")
		w.p("JNZ left")
		w.next()
		w.label("left")
		w.p("JMP stop<>(SB)")
	case f.mask:
		if b.invert {
			w.p("NOTQ BX")
		}
		w.p("JMP putMask<>(SB)")
	default:
		w.next()
	}
	if !f.noD {
		w.label("part")
		w.p("CALL %s<>(SB)", store)
		w.p("JMP stored")
	}
}

// group writes the body for the q-th eight lanes.
func (w *avx2Writer) group(f *form, body, kind string, q int, high map[int]bool) {
	regs := []string{"SI", "DX", "CX"}
	var replace []string
	operand := func(name string, k int, scalar, upper bool, reg string) {
		text, disp := "", 32*q
		switch {
		case scalar:
			text = "Y14"
			if upper {
				text = "Y15"
			}
			if !f.wide || !f.pair { // whose bodies change their operands
				reg = text
			} else if strings.Contains(body, "{"+name+"}") {
				w.p("VMOVDQA %s, %s", text, reg)
			}
		default:
			if upper {
				disp += 256
			}
			text = fmt.Sprintf("%d(R9)(%s*1)", disp, regs[k])
			if strings.Contains(body, "{"+name+"}") {
				w.p("VMOVDQU %s, %s", text, reg)
			}
		}
		replace = append(replace, "{"+name+"}", reg, "{"+strings.ToUpper(name)+"}", text)
	}
	at := 8
	for i := range f.n {
		scalar := kind[i] == 'S'
		operand("abc"[i:i+1], i, scalar, false, fmt.Sprintf("Y%d", at))
		at++
		if f.wide {
			operand("abc"[i:i+1]+"h", i, scalar, true, fmt.Sprintf("Y%d", at))
			at++
		}
	}
	switch {
	case f.wideB:
		operand("c", 1, false, true, "Y10")
	case f.wideC:
		operand("h", 2, kind[2] == 'S', true, "none")
	}
	m := fmt.Sprintf("Y%d", 4+q)
	if f.mask && f.pair {
		m = "Y12"
	}
	free := []string{"11", "12", "13"}
	if f.wide {
		free = []string{"12", "13", "13"}
		if f.pair {
			free = []string{"12", "none", "13"}
		}
	}
	if f.in {
		free[2] = "none"
		w.p("VPAND bits<>+%d(SB), Y13, Y15", 32*q)
		w.p("VPCMPEQD bits<>+%d(SB), Y15, Y15", 32*q)
		replace = append(replace, "{i}", "Y15")
	}
	replace = append(replace, "{t}", fmt.Sprintf("Y%d", q), "{u}", fmt.Sprintf("Y%d", 4+q), "{m}", m,
		"{x}", "Y"+free[0], "{y}", "Y"+free[1], "{z}", "Y"+free[2], "{Xx}", "X"+free[0], "{Xy}", "X"+free[1])
	for _, l := range strings.Split(body, "; ") {
		if i := strings.Index(l, "{k:"); i >= 0 {
			j := i + strings.IndexByte(l[i:], '}')
			l = l[:i] + w.constant(l[i+3:j]) + l[j+1:]
		}
		w.p("%s", strings.NewReplacer(replace...).Replace(l))
	}
}

// generateAVX2 returns the file of AVX2 forms.
func generateAVX2() []byte {
	w := &avx2Writer{}
	w.WriteString(`// Code generated by genuops; DO NOT EDIT.

#include "go_asm.h"
#include "textflag.h"

// func runUops256(u *uop, rows *lanes, w *wave)
// w.maskRow is exec by lane.
TEXT ·runUops256(SB), NOSPLIT, $0-24
	MOVQ u+0(FP), R8
	MOVQ rows+8(FP), R13
	MOVQ w+16(FP), R10
	LEAQ codes<>(SB), R11
	LEAQ 128(R13), R15
	CMPQ wave_n(R10), $64
	CMOVQNE R13, R15
	MOVQ R15, R9
	MOVQ wave_exec(R10), AX
	XORL R12, R12
	CMPQ AX, wave_full(R10)
	SETNE R12
	CMPQ AX, wave_maskOf(R10)
	JEQ  known
	MOVQ AX, wave_maskOf(R10)
`)
	for q := range 8 {
		w.p("VPBROADCASTB wave_exec+%d(R10), Y0", q)
		w.p("VPAND bits<>(SB), Y0, Y0")
		w.p("VPCMPEQD bits<>(SB), Y0, Y0")
		w.p("VMOVDQU Y0, wave_maskRow+%d(R10)", 32*q)
	}
	w.label("known")
	w.p("MOVL (R8), AX")
	w.p("JMP (R11)(AX*8)")

	w.WriteString(`
// stop leaves the lanes of BX to be done in Go.
TEXT stop<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, wave_todo(R10)
	MOVL uop_slow(R8), AX
	MOVL AX, wave_stopped(R10)
	VZEROUPPER
	RET

// leave leaves all lanes.
TEXT leave<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ wave_exec(R10), BX
	JMP  stop<>(SB)

// putMask writes the active lanes of BX.
TEXT putMask<>(SB), NOSPLIT|NOFRAME, $0-0
	ANDQ wave_exec(R10), BX
	MOVLQSX uop_sd(R8), DI
	CMPQ R15, R13
	JEQ  narrow
	MOVQ BX, (R10)(DI*1)
`)
	w.next()
	w.label("narrow")
	w.p("MOVL BX, (R10)(DI*1)")
	w.next()
	for _, s := range []struct {
		name, doc     string
		pair, numbers bool
	}{
		{name: "storePart", doc: "writes Y0 to Y3 to the active lanes"},
		{name: "storePair", pair: true, doc: "writes Y4 to Y7 to the next row too"},
		{name: "storeNumbers", numbers: true, doc: "leaves out the lanes of Y4 to Y7, and puts them into BX"},
		{name: "storePairNumbers", pair: true, numbers: true, doc: "leaves out doubles that are no numbers"},
	} {
		fmt.Fprintf(w, "\n// %s %s.\nTEXT %s<>(SB), NOSPLIT|NOFRAME, $0-0\n", s.name, s.doc, s.name)
		w.p("MOVQ R9, R14")
		w.p("SUBQ R13, R14")
		for q := range 4 {
			w.p("VMOVDQU wave_maskRow+%d(R10)(R14*1), Y8", 32*q)
			if s.numbers {
				nan := 4 + q
				if s.pair {
					nan = 9
					w.p("VPAND %s, Y%d, Y9", w.constant("0x7fffffff"), 4+q)
					w.p("VPCMPGTD %s, Y9, Y9", w.constant("0x7fefffff"))
				}
				w.p("VPAND Y%d, Y8, Y10", nan)
				w.p("VPANDN Y8, Y%d, Y8", nan)
				w.p("VMOVMSKPS Y10, AX")
				if q > 0 {
					w.p("SHLQ $%d, AX", 8*q)
				}
				w.p("ORQ AX, BX")
			}
			rows := 1
			if s.pair {
				rows = 2
			}
			for k := range rows {
				w.p("VMOVDQU %d(R9)(DI*1), Y9", 256*k+32*q)
				w.p("VBLENDVPS Y8, Y%d, Y9, Y9", 4*k+q)
				w.p("VMOVDQU Y9, %d(R9)(DI*1)", 256*k+32*q)
			}
		}
		w.p("RET")
	}
	w.end()
	codes := []string{"end"}
	for i := range forms {
		f := &forms[i]
		for _, k := range f.kinds() {
			name := "leave"
			if _, ok := avx2[f.name]; ok {
				w.form(f, k)
				name = f.name + k
			}
			codes = append(codes, name, name) // the same for both sizes of waves
		}
	}
	codes = append(codes, w.scalars()...)
	codes = append(codes, "leave") // onlyGo
	for _, f := range memoryForms() {
		for _, width := range []int{64, 32} {
			w.memory256(f, width)
			codes = append(codes, fmt.Sprintf("%s%d", f.name(), width))
		}
	}
	w.records256()
	w.memoryData()
	addPairs(func(low, high string) {
		w.addPair256(low, high)
		codes = append(codes, addPair+low+high, addPair+low+high)
	})
	w.table(codes)
	var eight bytes.Buffer
	for i, k := range w.constants {
		for j := range 8 {
			fmt.Fprintf(&eight, "DATA constants<>+%d(SB)/4, $%s\n", 32*i+4*j, k)
		}
	}
	fmt.Fprintf(w, "\n%sGLOBL constants<>(SB), RODATA|NOPTR, $%d\n\n", eight.Bytes(), 32*len(w.constants))
	for i := range 32 {
		fmt.Fprintf(w, "DATA bits<>+%d(SB)/4, $%#x\n", 4*i, 1<<i)
	}
	w.WriteString("GLOBL bits<>(SB), RODATA|NOPTR, $128\n\n")
	for i, k := range []int{0, 4, 1, 5, 2, 6, 3, 7} {
		fmt.Fprintf(w, "DATA packed<>+%d(SB)/4, $%d\n", 4*i, k)
	}
	w.WriteString("GLOBL packed<>(SB), RODATA|NOPTR, $32\n\n")
	for i := range 4 {
		fmt.Fprintf(w, "DATA written<>+%d(SB)/8, $0x0101010101010101\n", 8*i)
	}
	w.WriteString("GLOBL written<>(SB), RODATA|NOPTR, $32\n\n")
	for i, m := range []uint32{63, 0x3fffffc0, 0x80000000} { // phase, wave, raceMany
		for j := range 8 {
			fmt.Fprintf(w, "DATA raceMasks8<>+%d(SB)/4, $%#x\n", 32*i+4*j, m)
		}
	}
	w.WriteString("GLOBL raceMasks8<>(SB), RODATA|NOPTR, $96\n")
	return w.Bytes()
}
