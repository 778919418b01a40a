// Command genuops writes the forms of the instructions that the interpreter
// executes in runs: for AVX-512 ../uops512_amd64.s, for AVX2
// ../uops256_amd64.s (see avx2.go), and the list of their names in
// ../uops_table.go.
//
// Each form is a piece of code that does one instruction for all lanes and
// jumps to the next. A new one is a line in forms, and one in avx2 unless Go
// shall do it there. The registers are
//
//	R8       the uop
//	R9       the rows of the wave; operands that are rows are offsets from it
//	R10      the wave; scalar operands and constants are offsets from it
//	R11      the addresses of the forms, by number
//	K1 - K4  exec, by quarter of 16 lanes
//
// Within a body, for each quarter, {a}, {b} and {c} are the operands, {t} and
// {u} are free and {t} is the result; {e} is the mask of active lanes, and K5,
// K6 and K7 are free.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
)

// A form is one instruction.
type form struct {
	name string
	n    int    // operands that are rows or scalars
	init string // before the quarters
	body string // of each quarter

	// What the body leaves beside {t}.
	pair bool   // a second result row, in {u}
	mask bool   // a mask in K5, which goes to the scalar result
	nan  string // "K5" where the mask of NaNs is there: if any is active the form does nothing and stops
	noD  bool   // no row is written

	in    bool // {i} is the mask operand's quarter
	wide  bool // all operands are pairs of rows or scalars, the high ones in {ah}, {bh}, {ch}; {p} to {s} are free too
	wideB bool // operand b is a pair of rows, its high one in {c}
	wideC bool // operand c is a pair of rows or scalars, its high one in {h}
}

const signs = "MOVL $0x80000000, AX; VPBROADCASTD AX, Z31"

func two(name, body string) form   { return form{name: name, n: 2, body: body} }
func three(name, body string) form { return form{name: name, n: 3, body: body} }
func one(name, body string) form   { return form{name: name, n: 1, body: body} }

const (
	count31 = "MOVL $31, AX; VPBROADCASTD AX, Z31"
	count63 = "MOVL $63, AX; VPBROADCASTD AX, Z31; MOVL $32, AX; VPBROADCASTD AX, Z30"
	low24   = "MOVL $0xffffff, AX; VPBROADCASTD AX, Z31"
	ones    = "VPTERNLOGD $0xff, Z31, Z31, Z31"
	odd     = "MOVL $0xaaaa, AX; KMOVW AX, K7"
)

// high leaves the high dwords of the products of {a} and {b} in {u}, for
// which K7 are the odd lanes.
const high = "VPMULUDQ {b}, {a}, {u}; VPSRLQ $32, {u}, {u}; VPSRLQ $32, {a}, {t}; VPSRLQ $32, {b}, Z30; VPMULUDQ Z30, {t}, {t}; VMOVDQA32 {t}, K7, {u}"

var forms = []form{
	one("mov", "VMOVDQA32 {a}, {t}"),
	{name: "not", n: 1, init: ones, body: "VPXORD Z31, {a}, {t}"},
	{name: "neg", n: 1, init: signs, body: "VPXORD Z31, {a}, {t}"},
	{name: "abs", n: 1, init: signs, body: "VPANDND {a}, Z31, {t}"},
	{name: "negabs", n: 1, init: signs, body: "VPORD Z31, {a}, {t}"},
	one("cvtF32I32", "VCVTDQ2PS {a}, {t}"),
	one("cvtF32U32", "VCVTUDQ2PS {a}, {t}"),
	{name: "cvtI32F32", n: 1, init: "MOVL $0x4f000000, AX; VPBROADCASTD AX, Z31; MOVL $0x7fffffff, AX; VPBROADCASTD AX, Z30",
		body: "VCVTTPS2DQ {a}, {t}; VCMPPS $13, Z31, {a}, K5; VMOVDQA32 Z30, K5, {t}; VCMPPS $7, {a}, {a}, K5; VMOVDQA32.Z {t}, K5, {t}"},
	{name: "cvtU32F32", n: 1, init: "VPXORD Z31, Z31, Z31",
		body: "VCVTTPS2UDQ {a}, {t}; VCMPPS $13, Z31, {a}, K5; VMOVDQA32.Z {t}, K5, {t}"},
	{name: "rndne", n: 1, body: "VRNDSCALEPS $8, {a}, {t}; VCMPPS $3, {t}, {t}, {e}, K5", nan: "K5"},
	{name: "floor", n: 1, body: "VRNDSCALEPS $9, {a}, {t}; VCMPPS $3, {t}, {t}, {e}, K5", nan: "K5"},
	{name: "ceil", n: 1, body: "VRNDSCALEPS $10, {a}, {t}; VCMPPS $3, {t}, {t}, {e}, K5", nan: "K5"},
	{name: "trunc", n: 1, body: "VRNDSCALEPS $11, {a}, {t}; VCMPPS $3, {t}, {t}, {e}, K5", nan: "K5"},
	one("wideF16", "VPMOVDW {a}, {yt}; VCVTPH2PS {yt}, {t}"),
	one("narrowF32", "VCVTPS2PH $0, {a}, {yt}; VPMOVZXWD {yt}, {t}"),

	two("addF32", "VADDPS {b}, {a}, {t}"),
	two("subF32", "VSUBPS {b}, {a}, {t}"),
	two("mulF32", "VMULPS {b}, {a}, {t}"),
	{name: "minF32", n: 2, body: "VMINPS {b}, {a}, {t}; VMINPS {a}, {b}, {u}; VPORD {u}, {t}, {t}; VCMPPS $3, {b}, {a}, {e}, K5", nan: "K5"},
	{name: "maxF32", n: 2, body: "VMAXPS {b}, {a}, {t}; VMAXPS {a}, {b}, {u}; VPANDD {u}, {t}, {t}; VCMPPS $3, {b}, {a}, {e}, K5", nan: "K5"},
	{name: "fmaF32", n: 3, body: "VMOVDQA32 {c}, {t}; VFMADD231PS {b}, {a}, {t}; VCMPPS $3, {t}, {t}, {e}, K5", nan: "K5"},
	// v_mad flushes subnormals whatever the mode: stop at these too.
	{name: "madF32", n: 3, body: "VFPCLASSPSZ $0x20, {a}, {e}, K5; VFPCLASSPSZ $0x20, {b}, {e}, K6; KORW K6, K5, K5; VFPCLASSPSZ $0x20, {c}, {e}, K6; KORW K6, K5, K5; " +
		"VMULPS {b}, {a}, {t}; VFPCLASSPSZ $0xa1, {t}, {e}, K6; KORW K6, K5, K5; VADDPS {c}, {t}, {t}; VFPCLASSPSZ $0xa1, {t}, {e}, K6; KORW K6, K5, K5", nan: "K5"},

	two("add", "VPADDD {b}, {a}, {t}"),
	two("sub", "VPSUBD {b}, {a}, {t}"),
	two("mulLo", "VPMULLD {b}, {a}, {t}"),
	{name: "mulHi", n: 2, init: odd, body: high + "; VMOVDQA32 {u}, {t}"},
	{name: "mul24", n: 2, init: low24, body: "VPANDD Z31, {a}, {t}; VPANDD Z31, {b}, {u}; VPMULLD {u}, {t}, {t}"},
	two("and", "VPANDD {b}, {a}, {t}"),
	two("or", "VPORD {b}, {a}, {t}"),
	two("xor", "VPXORD {b}, {a}, {t}"),
	{name: "shl", n: 2, init: count31, body: "VPANDD Z31, {a}, {t}; VPSLLVD {t}, {b}, {t}"},
	{name: "shr", n: 2, init: count31, body: "VPANDD Z31, {a}, {t}; VPSRLVD {t}, {b}, {t}"},
	{name: "sar", n: 2, init: count31, body: "VPANDD Z31, {a}, {t}; VPSRAVD {t}, {b}, {t}"},
	two("minU32", "VPMINUD {b}, {a}, {t}"),
	two("maxU32", "VPMAXUD {b}, {a}, {t}"),
	two("minI32", "VPMINSD {b}, {a}, {t}"),
	two("maxI32", "VPMAXSD {b}, {a}, {t}"),

	three("add3", "VPADDD {b}, {a}, {t}; VPADDD {c}, {t}, {t}"),
	{name: "shlAdd", n: 3, init: count31, body: "VPANDD Z31, {b}, {t}; VPSLLVD {t}, {a}, {t}; VPADDD {c}, {t}, {t}"},
	{name: "addShl", n: 3, init: count31, body: "VPADDD {b}, {a}, {t}; VPANDD Z31, {c}, {u}; VPSLLVD {u}, {t}, {t}"},
	{name: "shlOr", n: 3, init: count31, body: "VPANDD Z31, {b}, {t}; VPSLLVD {t}, {a}, {t}; VPORD {c}, {t}, {t}"},
	three("andOr", "VPANDD {b}, {a}, {t}; VPORD {c}, {t}, {t}"),
	three("or3", "VPORD {b}, {a}, {t}; VPORD {c}, {t}, {t}"),
	three("xor3", "VPXORD {b}, {a}, {t}; VPXORD {c}, {t}, {t}"),
	three("bfi", "VPANDD {b}, {a}, {t}; VPANDND {c}, {a}, {u}; VPORD {u}, {t}, {t}"),
	{name: "bfeU", n: 3, init: count31 + "; MOVL $1, AX; VPBROADCASTD AX, Z30",
		body: "VPANDD Z31, {b}, {t}; VPSRLVD {t}, {a}, {t}; VPANDD Z31, {c}, {u}; VPSLLVD {u}, Z30, {u}; VPSUBD Z30, {u}, {u}; VPANDD {u}, {t}, {t}"},
	{name: "mad24", n: 3, init: low24, body: "VPANDD Z31, {a}, {t}; VPANDD Z31, {b}, {u}; VPMULLD {u}, {t}, {t}; VPADDD {c}, {t}, {t}"},
	{name: "alignbit", n: 3, init: count31 + "; MOVL $32, AX; VPBROADCASTD AX, Z30",
		body: "VPANDD Z31, {c}, {u}; VPSRLVD {u}, {b}, {t}; VPSUBD {u}, Z30, {u}; VPSLLVD {u}, {a}, {u}; VPORD {u}, {t}, {t}"},

	// 64 bits. A count of 32 or more shifts everything out.
	{name: "shl64", n: 2, wideB: true, pair: true, init: count63,
		body: "VPANDD Z31, {a}, {a}; VPSLLVD {a}, {b}, {t}; VPSLLVD {a}, {c}, {c}; VPSUBD {a}, Z30, {u}; VPSRLVD {u}, {b}, {u}; VPORD {u}, {c}, {c}; VPSUBD Z30, {a}, {u}; VPSLLVD {u}, {b}, {u}; VPORD {c}, {u}, {u}"},
	{name: "shr64", n: 2, wideB: true, pair: true, init: count63,
		body: "VPANDD Z31, {a}, {a}; VPSRLVD {a}, {b}, {t}; VPSUBD {a}, Z30, {u}; VPSLLVD {u}, {c}, {u}; VPORD {u}, {t}, {t}; VPSUBD Z30, {a}, {u}; VPSRLVD {u}, {c}, {u}; VPORD {u}, {t}, {t}; VPSRLVD {a}, {c}, {u}"},
	{name: "sar64", n: 2, wideB: true, pair: true, init: count63,
		body: "VPANDD Z31, {a}, {a}; VPSRLVD {a}, {b}, {t}; VPSUBD {a}, Z30, {u}; VPSLLVD {u}, {c}, {u}; VPORD {u}, {t}, {t}; VPCMPUD $5, Z30, {a}, K5; VPSUBD Z30, {a}, {u}; VPSRAVD.Z {u}, {c}, K5, {u}; VPORD {u}, {t}, {t}; VPSRAVD {a}, {c}, {u}"},
	{name: "madU64", n: 3, wideC: true, pair: true, mask: true, init: odd + "; " + ones,
		body: high + "; VPMULLD {b}, {a}, {t}; VPADDD {c}, {t}, {t}; VPCMPUD $1, {c}, {t}, K6; VPADDD {h}, {u}, {u}; VPCMPUD $1, {h}, {u}, {e}, K5; VPSUBD Z31, {u}, K6, {u}; VPTESTNMD {u}, {u}, K6, K6; KANDW {e}, K6, K6; KORW K6, K5, K5"},

	f64("addF64", 2, "VADDPD"),
	f64("mulF64", 2, "VMULPD"),
	f64("fmaF64", 3, "VFMADD231PD"),

	// The quotient is the correctly rounded one; what is or gives a subnormal,
	// an infinity or a NaN is left to Go.
	{name: "rcp", n: 1, init: "MOVL $0x3f800000, AX; VPBROADCASTD AX, Z31; MOVL $0x01000000, AX; VPBROADCASTD AX, Z30; MOVL $0x7d000000, AX; VPBROADCASTD AX, Z29; MOVL $0x7fffffff, AX; VPBROADCASTD AX, Z28",
		body: "VPANDD Z28, {a}, {t}; VPSUBD Z30, {t}, {t}; VPCMPUD $5, Z29, {t}, {e}, K5; VDIVPS {a}, Z31, {t}", nan: "K5"},

	// Carries.
	{name: "addCo", n: 2, mask: true, body: "VPADDD {b}, {a}, {t}; VPCMPUD $1, {a}, {t}, {e}, K5"},
	{name: "addcCo", n: 2, mask: true, in: true, init: ones,
		body: "VPADDD {b}, {a}, {t}; VPCMPUD $1, {a}, {t}, {e}, K5; VPSUBD Z31, {t}, {i}, {t}; VPTESTNMD {t}, {t}, {i}, K6; KANDW {e}, K6, K6; KORW K6, K5, K5"},
	{name: "subCo", n: 2, mask: true, body: "VPSUBD {b}, {a}, {t}; VPCMPUD $1, {b}, {a}, {e}, K5"},
	{name: "subbCo", n: 2, mask: true, in: true, init: ones,
		body: "VPSUBD {b}, {a}, {t}; VPCMPUD $1, {b}, {a}, {e}, K5; VPTESTNMD {t}, {t}, {i}, K6; VPADDD Z31, {t}, {i}, {t}; KANDW {e}, K6, K6; KORW K6, K5, K5"},
	{name: "cndmask", n: 2, in: true, body: "VPBLENDMD {b}, {a}, {i}, {t}"},
}

// f64 is a form of in, an instruction on packed doubles. It stops at results
// that are no numbers, infinities with them.
func f64(name string, n int, in string) form {
	body := "VPUNPCKLDQ {ah}, {a}, {p}; VPUNPCKHDQ {ah}, {a}, {q}; VPUNPCKLDQ {bh}, {b}, {r}; VPUNPCKHDQ {bh}, {b}, {s}; "
	if n == 3 {
		body += "VPUNPCKLDQ {ch}, {c}, {a}; VPUNPCKHDQ {ch}, {c}, {ah}; " + in + " {r}, {p}, {a}; " + in + " {s}, {q}, {ah}; VSHUFPS $0x88, {ah}, {a}, {t}; VSHUFPS $0xdd, {ah}, {a}, {u}; "
	} else {
		body += in + " {r}, {p}, {p}; " + in + " {s}, {q}, {q}; VSHUFPS $0x88, {q}, {p}, {t}; VSHUFPS $0xdd, {q}, {p}, {u}; "
	}
	return form{name: name, n: n, wide: true, pair: true, nan: "K5",
		init: "MOVL $0x7fffffff, AX; VPBROADCASTD AX, Z31; MOVL $0x7ff00000, AX; VPBROADCASTD AX, Z30",
		body: body + "VPANDD Z31, {u}, {p}; VPCMPUD $5, Z30, {p}, {e}, K5"}
}

func init() {
	for _, p := range []struct {
		name     string
		high, lo int // predicates of dwords
	}{{"lt", 1, 1}, {"le", 1, 2}, {"gt", 6, 6}, {"ge", 6, 5}} {
		for typ, in := range map[string]string{"U64": "VPCMPUD", "I64": "VPCMPD"} {
			forms = append(forms, form{name: p.name + typ, n: 2, wide: true, mask: true, noD: true,
				body: fmt.Sprintf("%s $%d, {bh}, {ah}, {e}, K5; VPCMPUD $0, {bh}, {ah}, {e}, K6; VPCMPUD $%d, {b}, {a}, K6, K6; KORW K6, K5, K5", in, p.high, p.lo)})
		}
	}
	forms = append(forms,
		form{name: "eqU64", n: 2, wide: true, mask: true, noD: true, body: "VPCMPUD $0, {bh}, {ah}, {e}, K5; VPCMPUD $0, {b}, {a}, K5, K5"},
		form{name: "neU64", n: 2, wide: true, mask: true, noD: true, body: "VPCMPUD $4, {bh}, {ah}, {e}, K5; VPCMPUD $4, {b}, {a}, {e}, K6; KORW K6, K5, K5"})
	for _, p := range []struct {
		name string
		pred int
	}{{"lt", 1}, {"eq", 0}, {"le", 2}, {"gt", 6}, {"ne", 4}, {"ge", 5}} {
		for typ, in := range map[string]string{"U32": "VPCMPUD", "I32": "VPCMPD"} {
			if typ == "I32" && (p.name == "eq" || p.name == "ne") {
				continue // the same as of U32
			}
			forms = append(forms, form{name: p.name + typ, n: 2, mask: true, noD: true, body: fmt.Sprintf("%s $%d, {b}, {a}, {e}, K5", in, p.pred)})
		}
	}
	for _, p := range predicates {
		forms = append(forms, form{name: p.name + "F32", n: 2, mask: true, noD: true, body: fmt.Sprintf("VCMPPS $%d, {b}, {a}, {e}, K5", p.pred)})
	}
	sortForms()
}

// predicates are those of VCMPPS, all of which raise nothing that is seen
// here.
var predicates = []struct {
	name string
	pred int
}{{"lt", 1}, {"eq", 0}, {"le", 2}, {"gt", 14}, {"lg", 12}, {"ge", 13}, {"o", 7}, {"u", 3}, {"nge", 9}, {"nlg", 8}, {"ngt", 10}, {"nle", 6}, {"neq", 4}, {"nlt", 5}}

// sortForms puts the compares of maps in one order.
func sortForms() {
	for i := range forms {
		for j := i; j > 0 && forms[j].noD && forms[j-1].noD && forms[j].name < forms[j-1].name; j-- {
			forms[j], forms[j-1] = forms[j-1], forms[j]
		}
	}
}

// scalars are the scalar instructions. {a} and {b} are operands in memory,
// {d} the result, AX, BX, CX are free.
var scalars = []struct{ name, body string }{
	{"sMov", "MOVL {a}, AX; MOVL AX, {d}"},
	{"sMov64", "MOVQ {a}, AX; MOVQ AX, {d}"},
	{"sAddU32", "MOVL {a}, AX; ADDL {b}, AX; MOVL AX, {d}; SETCS BX; {scc}"},
	{"sAddcU32", "MOVL {s}, CX; ADDL $-1, CX; MOVL {a}, AX; ADCL {b}, AX; MOVL AX, {d}; SETCS BX; {scc}"},
	{"sSubU32", "MOVL {a}, AX; SUBL {b}, AX; MOVL AX, {d}; SETCS BX; {scc}"},
	{"sSubbU32", "MOVL {s}, CX; ADDL $-1, CX; MOVL {a}, AX; SBBL {b}, AX; MOVL AX, {d}; SETCS BX; {scc}"},
	{"sAddI32", "MOVL {a}, AX; ADDL {b}, AX; MOVL AX, {d}; SETOS BX; {scc}"},
	{"sSubI32", "MOVL {a}, AX; SUBL {b}, AX; MOVL AX, {d}; SETOS BX; {scc}"},
	{"sMulI32", "MOVL {a}, AX; IMULL {b}, AX; MOVL AX, {d}"},
	{"sMulHiU32", "MOVL {a}, AX; MOVL {b}, BX; IMULQ BX, AX; SHRQ $32, AX; MOVL AX, {d}"},
	{"sAnd", "MOVL {a}, AX; ANDL {b}, AX; MOVL AX, {d}; SETNE BX; {scc}"},
	{"sOr", "MOVL {a}, AX; ORL {b}, AX; MOVL AX, {d}; SETNE BX; {scc}"},
	{"sXor", "MOVL {a}, AX; XORL {b}, AX; MOVL AX, {d}; SETNE BX; {scc}"},
	{"sAndn2", "MOVL {b}, AX; NOTL AX; ANDL {a}, AX; MOVL AX, {d}; SETNE BX; {scc}"},
	{"sAnd64", "MOVQ {a}, AX; ANDQ {b}, AX; MOVQ AX, {d}; SETNE BX; {scc}"},
	{"sOr64", "MOVQ {a}, AX; ORQ {b}, AX; MOVQ AX, {d}; SETNE BX; {scc}"},
	{"sXor64", "MOVQ {a}, AX; XORQ {b}, AX; MOVQ AX, {d}; SETNE BX; {scc}"},
	{"sAndn264", "MOVQ {b}, AX; NOTQ AX; ANDQ {a}, AX; MOVQ AX, {d}; SETNE BX; {scc}"},
	{"sLshl", "MOVL {b}, CX; MOVL {a}, AX; SHLL CX, AX; MOVL AX, {d}; TESTL AX, AX; SETNE BX; {scc}"},
	{"sLshr", "MOVL {b}, CX; MOVL {a}, AX; SHRL CX, AX; MOVL AX, {d}; TESTL AX, AX; SETNE BX; {scc}"},
	{"sAshr", "MOVL {b}, CX; MOVL {a}, AX; SARL CX, AX; MOVL AX, {d}; TESTL AX, AX; SETNE BX; {scc}"},
	{"sLshl64", "MOVL {b}, CX; MOVQ {a}, AX; SHLQ CX, AX; MOVQ AX, {d}; TESTQ AX, AX; SETNE BX; {scc}"},
	{"sLshr64", "MOVL {b}, CX; MOVQ {a}, AX; SHRQ CX, AX; MOVQ AX, {d}; TESTQ AX, AX; SETNE BX; {scc}"},
	{"sCselect", "MOVL {a}, AX; MOVL {b}, BX; CMPL {s}, $0; CMOVLEQ BX, AX; MOVL AX, {d}"},
	{"sCselect64", "MOVQ {a}, AX; MOVQ {b}, BX; CMPL {s}, $0; CMOVQEQ BX, AX; MOVQ AX, {d}"},
	{"sCmpEq", "MOVL {a}, AX; CMPL AX, {b}; SETEQ BX; {scc}"},
	{"sCmpLg", "MOVL {a}, AX; CMPL AX, {b}; SETNE BX; {scc}"},
	{"sCmpEq64", "MOVQ {a}, AX; CMPQ AX, {b}; SETEQ BX; {scc}"},
	{"sCmpLg64", "MOVQ {a}, AX; CMPQ AX, {b}; SETNE BX; {scc}"},
	{"sNot", "MOVL {a}, AX; NOTL AX; MOVL AX, {d}; TESTL AX, AX; SETNE BX; {scc}"},
	{"sNot64", "MOVQ {a}, AX; NOTQ AX; MOVQ AX, {d}; TESTQ AX, AX; SETNE BX; {scc}"},
	{"sOrn2", "MOVL {b}, AX; NOTL AX; ORL {a}, AX; MOVL AX, {d}; SETNE BX; {scc}"},
	{"sOrn264", "MOVQ {b}, AX; NOTQ AX; ORQ {a}, AX; MOVQ AX, {d}; SETNE BX; {scc}"},
	{"sCmpGtI", "MOVL {a}, AX; CMPL AX, {b}; SETGT BX; {scc}"},
	{"sCmpGeI", "MOVL {a}, AX; CMPL AX, {b}; SETGE BX; {scc}"},
	{"sCmpLtI", "MOVL {a}, AX; CMPL AX, {b}; SETLT BX; {scc}"},
	{"sCmpLeI", "MOVL {a}, AX; CMPL AX, {b}; SETLE BX; {scc}"},
	{"sCmpGtU", "MOVL {a}, AX; CMPL AX, {b}; SETHI BX; {scc}"},
	{"sCmpGeU", "MOVL {a}, AX; CMPL AX, {b}; SETCC BX; {scc}"},
	{"sCmpLtU", "MOVL {a}, AX; CMPL AX, {b}; SETCS BX; {scc}"},
	{"sCmpLeU", "MOVL {a}, AX; CMPL AX, {b}; SETLS BX; {scc}"},
}

// kinds are the ways in which n operands are rows (R) or scalars (S).
var kinds = map[int][]string{
	1: {"R", "S"},
	2: {"RR", "SR", "RS"},
	3: {"RRR", "SRR", "RSR", "RRS"},
}

// kinds are those that f has.
func (f *form) kinds() []string {
	if f.wideB { // its pair is rows
		return []string{"RR", "SR"}
	}
	return kinds[f.n]
}

// A writer writes one file.
type writer struct{ bytes.Buffer }

func (w *writer) p(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }

func (w *writer) label(name string) { fmt.Fprintf(w, "%s:\n", name) }

func (w *writer) begin(name string) {
	fmt.Fprintf(w, "\nTEXT %s<>(SB), NOSPLIT|NOFRAME, $0-0\n", name)
}

// next goes on with the next uop.
func (w *writer) next() {
	w.p("ADDQ $uop__size, R8")
	w.p("MOVL (R8), AX")
	w.p("JMP (R11)(AX*8)")
}

// end writes the form that ends uops.
func (w *writer) end() {
	w.begin("end")
	w.p("MOVL $-1, wave_stopped(R10)")
	w.p("VZEROUPPER")
	w.p("RET")
}

// scalars writes the scalar forms and returns their names.
func (w *writer) scalars() (names []string) {
	for _, s := range scalars {
		w.begin(s.name)
		names = append(names, s.name)
		if strings.Contains(s.body, "{a}") {
			w.p("MOVLQSX uop_a(R8), SI")
		}
		if strings.Contains(s.body, "{b}") {
			w.p("MOVLQSX uop_b(R8), DX")
		}
		if strings.Contains(s.body, "{d}") {
			w.p("MOVLQSX uop_sd(R8), DI")
		}
		body := strings.ReplaceAll(s.body, "{scc}", "MOVBLZX BX, BX; MOVL BX, {s}")
		w.lines(body, strings.NewReplacer("{a}", "(R10)(SI*1)", "{b}", "(R10)(DX*1)", "{d}", "(R10)(DI*1)", "{s}", "wave_scc(R10)"))
		w.next()
	}
	return names
}

// table writes the addresses of forms.
func (w *writer) table(codes []string) {
	w.WriteString("\n")
	for i, n := range codes {
		fmt.Fprintf(w, "DATA codes<>+%d(SB)/8, $%s<>(SB)\n", 8*i, n)
	}
	fmt.Fprintf(w, "GLOBL codes<>(SB), RODATA, $%d\n", 8*len(codes))
}

func (w *writer) lines(s string, r *strings.Replacer) {
	if s == "" {
		return
	}
	for _, l := range strings.Split(s, "; ") {
		w.p("%s", r.Replace(l))
	}
}

// form writes f for operands of kinds kind and waves of width lanes.
func (w *writer) form(f *form, kind string, width int) {
	w.begin(fmt.Sprintf("%s%s%d", f.name, kind, width))
	nq := width / 16
	fields := "abc"
	regs := []string{"SI", "DX", "BX"}
	load := func(field byte, reg string, scalar bool, first int, high bool) {
		w.p("MOVLQSX uop_%c(R8), %s", field, reg)
		base := "R9"
		disp, hi := 0, 256
		if scalar {
			base, hi = "R10", 4
		}
		if high {
			disp = hi
		}
		for q := range nq {
			switch {
			case !scalar:
				w.p("VMOVDQU32 %d(%s)(%s*1), Z%d", disp+64*q, base, reg, first+q)
			case q == 0:
				w.p("VPBROADCASTD %d(%s)(%s*1), Z%d", disp, base, reg, first)
			default:
				w.p("VMOVDQA32 Z%d, Z%d", first, first+q)
			}
		}
	}
	for i := range f.n {
		if f.wide {
			w.p("MOVLQSX uop_%c(R8), %s", fields[i], regs[i])
			continue
		}
		load(fields[i], regs[i], kind[i] == 'S', 4*i, false)
	}
	if f.wideB {
		load('b', regs[1], false, 8, true)
	}
	if f.wideC {
		load('c', regs[2], kind[2] == 'S', 20, true)
	}
	if f.in {
		w.p("MOVLQSX uop_m(R8), CX")
	}
	w.lines(f.init, strings.NewReplacer())
	for q := range nq {
		in := ""
		if f.in {
			// K7 is the quarter's part of the mask operand.
			w.p("KMOVW %d(R10)(CX*1), K7", 2*q)
			in = "K7"
		}
		z := func(first int) string { return fmt.Sprintf("Z%d", first+q) }
		if f.wide {
			for i := range f.n {
				for high := range 2 {
					if kind[i] == 'S' {
						w.p("VPBROADCASTD %d(R10)(%s*1), Z%d", 4*high, regs[i], 2*i+high)
					} else {
						w.p("VMOVDQU32 %d(R9)(%s*1), Z%d", 256*high+64*q, regs[i], 2*i+high)
					}
				}
			}
			w.lines(f.body, strings.NewReplacer("{a}", "Z0", "{ah}", "Z1", "{b}", "Z2", "{bh}", "Z3", "{c}", "Z4", "{ch}", "Z5",
				"{p}", "Z6", "{q}", "Z7", "{r}", "Z8", "{s}", "Z9", "{t}", z(12), "{u}", z(16), "{e}", fmt.Sprintf("K%d", 1+q)))
		} else {
			w.lines(f.body, strings.NewReplacer("{a}", z(0), "{b}", z(4), "{c}", z(8), "{t}", z(12), "{yt}", fmt.Sprintf("Y%d", 12+q), "{u}", z(16), "{h}", z(20), "{e}", fmt.Sprintf("K%d", 1+q), "{i}", in))
		}
		switch {
		case f.nan != "" && q == 0, f.mask && q == 0:
			w.p("KMOVW K5, AX")
		case f.nan != "":
			w.p("KMOVW K5, DI")
			w.p("ORL DI, AX")
		case f.mask:
			w.p("KMOVW K5, DI")
			w.p("SHLQ $%d, DI", 16*q)
			w.p("ORQ DI, AX")
		}
	}
	if f.nan != "" {
		w.p("TESTL AX, AX")
		w.p("JZ done")
		w.p("JMP stop<>(SB)")
		w.label("done")
	}
	if f.mask {
		w.p("MOVLQSX uop_sd(R8), DI")
		if width == 64 {
			w.p("MOVQ AX, (R10)(DI*1)")
		} else {
			w.p("MOVL AX, (R10)(DI*1)")
		}
	}
	if !f.noD {
		w.p("MOVLQSX uop_d(R8), DI")
		for q := range nq {
			w.p("VMOVDQU32 Z%d, K%d, %d(R9)(DI*1)", 12+q, 1+q, 64*q)
		}
		if f.pair {
			for q := range nq {
				w.p("VMOVDQU32 Z%d, K%d, %d(R9)(DI*1)", 16+q, 1+q, 256+64*q)
			}
		}
	}
	w.next()
}

func main() {
	files, err := generate()
	if err != nil {
		log.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the files by name.
func generate() (map[string][]byte, error) {
	w := &writer{}
	w.WriteString(`// Code generated by genuops; DO NOT EDIT.

#include "go_asm.h"
#include "textflag.h"

// func runUops512(u *uop, rows *lanes, w *wave)
TEXT ·runUops512(SB), NOSPLIT, $0-24
	MOVQ u+0(FP), R8
	MOVQ rows+8(FP), R9
	MOVQ w+16(FP), R10
	LEAQ codes<>(SB), R11
	KMOVW wave_exec+0(R10), K1
	KMOVW wave_exec+2(R10), K2
	KMOVW wave_exec+4(R10), K3
	KMOVW wave_exec+6(R10), K4
	MOVL (R8), AX
	JMP (R11)(AX*8)

// stop leaves the instruction at hand to be done in Go.
TEXT stop<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ wave_exec(R10), AX
	MOVQ AX, wave_todo(R10)
	MOVL uop_slow(R8), AX
	MOVL AX, wave_stopped(R10)
	VZEROUPPER
	RET
`)
	w.end()
	var table bytes.Buffer
	codes := []string{"end"}
	for i := range forms {
		f := &forms[i]
		for _, k := range f.kinds() {
			fmt.Fprintf(&table, "\t%q: %d,\n", f.name+k, len(codes))
			for _, width := range []int{64, 32} {
				w.form(f, k, width)
				codes = append(codes, fmt.Sprintf("%s%s%d", f.name, k, width))
			}
		}
	}
	for _, s := range w.scalars() {
		fmt.Fprintf(&table, "\t%q: %d,\n", s, len(codes))
		codes = append(codes, s)
	}
	fmt.Fprintf(&table, "\t%q: %d,\n", onlyGo, len(codes))
	codes = append(codes, "stop")
	for _, f := range memoryForms() {
		fmt.Fprintf(&table, "\t%q: %d,\n", f.name(), len(codes))
		for _, width := range []int{64, 32} {
			w.memory(f, width)
			codes = append(codes, fmt.Sprintf("%s%d", f.name(), width))
		}
	}
	w.records()
	w.memoryData()
	addPairs(func(low, high string) {
		name := addPair + low + high
		fmt.Fprintf(&table, "\t%q: %d,\n", name, len(codes))
		for _, width := range []int{64, 32} {
			w.addPair(low, high, width)
			codes = append(codes, fmt.Sprintf("%s%d", name, width))
		}
	})
	w.table(codes)
	formatted, err := format.Source([]byte(`// Code generated by genuops; DO NOT EDIT.

package sim

// formNumbers are the forms by name and kinds of operands; those of waves of
// 32 lanes follow those of 64.
var formNumbers = map[string]uint16{
` + table.String() + "}\n"))
	return map[string][]byte{"uops512_amd64.s": w.Bytes(), "uops256_amd64.s": generateAVX2(), "uops_table.go": formatted}, err
}
