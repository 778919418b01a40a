package sim

import (
	"strings"
)

// A vectorForm says which form executes a vector instruction.
type vectorForm struct {
	form string
	swap bool // the first two sources change places
	acc  bool // the destination is the third source
	mode byte // 'f' or 'h' where results need the default mode of f32, of f16 and f64 too, 't' the exact model

	operands int
	wide     int       // one plus the operand that is a pair, or allWide
	codes    [8]uint16 // numbers of the forms, by which operands are scalars
}

const allWide = 4

// vectorForms are the vector instructions that have forms.
var vectorForms = vectorFormTable()

func vectorFormTable() map[string]vectorForm {
	t := map[string]vectorForm{
		"v_cvt_f32_i32":   {form: "cvtF32I32", mode: 'f'},
		"v_cvt_f32_u32":   {form: "cvtF32U32", mode: 'f'},
		"v_cvt_i32_f32":   {form: "cvtI32F32"},
		"v_cvt_u32_f32":   {form: "cvtU32F32"},
		"v_rndne_f32":     {form: "rndne", mode: 'f'},
		"v_floor_f32":     {form: "floor", mode: 'f'},
		"v_ceil_f32":      {form: "ceil", mode: 'f'},
		"v_trunc_f32":     {form: "trunc", mode: 'f'},
		"v_rcp_f32":       {form: "rcp", mode: 't'},
		"v_rcp_iflag_f32": {form: "rcp"},
		"v_add_f64":       {form: "addF64", mode: 'h'},
		"v_mul_f64":       {form: "mulF64", mode: 'h'},
		"v_fma_f64":       {form: "fmaF64", mode: 'h'},
		"v_fmac_f64":      {form: "fmaF64", mode: 'h', acc: true},
		"v_cvt_f32_f16":   {form: "wideF16", mode: 'h'},
		"v_cvt_f16_f32":   {form: "narrowF32", mode: 'h'},

		"v_add_f32":    {form: "addF32", mode: 'f'},
		"v_sub_f32":    {form: "subF32", mode: 'f'},
		"v_subrev_f32": {form: "subF32", mode: 'f', swap: true},
		"v_mul_f32":    {form: "mulF32", mode: 'f'},
		"v_min_f32":    {form: "minF32", mode: 'f'},
		"v_max_f32":    {form: "maxF32", mode: 'f'},
		"v_fma_f32":    {form: "fmaF32", mode: 'f'},
		"v_fmaak_f32":  {form: "fmaF32", mode: 'f'},
		"v_fmamk_f32":  {form: "fmaF32", mode: 'f'},
		"v_fmac_f32":   {form: "fmaF32", mode: 'f', acc: true},
		"v_mad_f32":    {form: "madF32", mode: 'f'},
		"v_madak_f32":  {form: "madF32", mode: 'f'},
		"v_madmk_f32":  {form: "madF32", mode: 'f'},
		"v_mac_f32":    {form: "madF32", mode: 'f', acc: true},

		"v_sub_u32":        {form: "sub"},
		"v_sub_nc_u32":     {form: "sub"},
		"v_subrev_u32":     {form: "sub", swap: true},
		"v_subrev_nc_u32":  {form: "sub", swap: true},
		"v_sub_i32":        {form: "sub"},
		"v_sub_nc_i32":     {form: "sub"},
		"v_sub_co_u32":     {form: "subCo"},
		"v_subrev_co_u32":  {form: "subCo", swap: true},
		"v_subbrev_co_u32": {form: "subbCo", swap: true},
		"v_cndmask_b32":    {form: "cndmask"},
	}
	for form, names := range map[string][]string{
		"mov": {"v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}, "not": {"v_not_b32"},
		"add": {"v_add_u32", "v_add_nc_u32", "v_add_i32", "v_add_nc_i32"}, "mulLo": {"v_mul_lo_u32"}, "mulHi": {"v_mul_hi_u32"},
		"mul24": {"v_mul_u32_u24"}, "and": {"v_and_b32"}, "or": {"v_or_b32"}, "xor": {"v_xor_b32"},
		"shl": {"v_lshlrev_b32"}, "shr": {"v_lshrrev_b32"}, "sar": {"v_ashrrev_i32"},
		"minU32": {"v_min_u32"}, "maxU32": {"v_max_u32"}, "minI32": {"v_min_i32"}, "maxI32": {"v_max_i32"},
		"add3": {"v_add3_u32"}, "shlAdd": {"v_lshl_add_u32"}, "addShl": {"v_add_lshl_u32"}, "shlOr": {"v_lshl_or_b32"},
		"andOr": {"v_and_or_b32"}, "or3": {"v_or3_b32"}, "xor3": {"v_xor3_b32"}, "bfi": {"v_bfi_b32"}, "bfeU": {"v_bfe_u32"},
		"mad24": {"v_mad_u32_u24"}, "alignbit": {"v_alignbit_b32"},
		"shl64": {"v_lshlrev_b64"}, "shr64": {"v_lshrrev_b64"}, "sar64": {"v_ashrrev_i64"}, "madU64": {"v_mad_u64_u32"},
		"addCo": {"v_add_co_u32"}, "addcCo": {"v_addc_co_u32", "v_add_co_ci_u32"}, "subbCo": {"v_subb_co_u32", "v_sub_co_ci_u32"},
	} {
		for _, n := range names {
			t[n] = vectorForm{form: form}
		}
	}
	t["v_subrev_co_ci_u32"] = vectorForm{form: "subbCo", swap: true}
	for _, p := range []string{"lt", "eq", "le", "gt", "ne", "ge"} {
		t["v_cmp_"+p+"_u32"] = vectorForm{form: p + "U32"}
		t["v_cmp_"+p+"_i32"] = vectorForm{form: p + "I32"}
	}
	for _, p := range []string{"lt", "le", "gt", "ge"} {
		t["v_cmp_"+p+"_u64"] = vectorForm{form: p + "U64"}
		t["v_cmp_"+p+"_i64"] = vectorForm{form: p + "I64"}
	}
	for _, p := range []string{"eq", "ne"} {
		t["v_cmp_"+p+"_i32"] = vectorForm{form: p + "U32"}
		t["v_cmp_"+p+"_u64"] = vectorForm{form: p + "U64"}
		t["v_cmp_"+p+"_i64"] = vectorForm{form: p + "U64"}
	}
	for _, p := range []string{"lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"} {
		t["v_cmp_"+p+"_f32"] = vectorForm{form: p + "F32", mode: 'f'}
	}
	for name, f := range t {
		f.operands = formOperands(f.form)
		switch f.form {
		case "shl64", "shr64", "sar64":
			f.wide = 2
		case "madU64":
			f.wide = 3
		}
		if strings.HasSuffix(name, "64") && f.wide == 0 {
			f.wide = allWide
		}
		for k := range 1 << f.operands {
			kinds := []byte("RRR")[:f.operands]
			for i := range kinds {
				if k>>i&1 != 0 {
					kinds[i] = 'S'
				}
			}
			f.codes[k] = formNumbers[f.form+string(kinds)]
		}
		t[name] = f
	}
	return t
}

// scalarForms are the scalar instructions that have forms. Operands are 64
// bits wide where the name ends in 64, but for counts of shifts.
var scalarForms = map[string]string{
	"s_mov_b32": "sMov", "s_mov_b64": "sMov64", "s_movk_i32": "sMov",
	"s_add_u32": "sAddU32", "s_addc_u32": "sAddcU32", "s_sub_u32": "sSubU32", "s_subb_u32": "sSubbU32", "s_add_i32": "sAddI32", "s_sub_i32": "sSubI32",
	"s_mul_i32": "sMulI32", "s_mul_hi_u32": "sMulHiU32",
	"s_and_b32": "sAnd", "s_or_b32": "sOr", "s_xor_b32": "sXor", "s_andn2_b32": "sAndn2", "s_and_not1_b32": "sAndn2",
	"s_and_b64": "sAnd64", "s_or_b64": "sOr64", "s_xor_b64": "sXor64", "s_andn2_b64": "sAndn264", "s_and_not1_b64": "sAndn264",
	"s_lshl_b32": "sLshl", "s_lshr_b32": "sLshr", "s_ashr_i32": "sAshr", "s_lshl_b64": "sLshl64", "s_lshr_b64": "sLshr64",
	"s_cselect_b32": "sCselect", "s_cselect_b64": "sCselect64",
	"s_cmp_eq_u32": "sCmpEq", "s_cmp_eq_i32": "sCmpEq", "s_cmp_lg_u32": "sCmpLg", "s_cmp_lg_i32": "sCmpLg",
	"s_cmp_eq_u64": "sCmpEq64", "s_cmp_lg_u64": "sCmpLg64", "s_not_b32": "sNot", "s_not_b64": "sNot64",
	"s_orn2_b32": "sOrn2", "s_or_not1_b32": "sOrn2", "s_orn2_b64": "sOrn264", "s_or_not1_b64": "sOrn264",
	"s_cmp_gt_i32": "sCmpGtI", "s_cmp_ge_i32": "sCmpGeI", "s_cmp_lt_i32": "sCmpLtI", "s_cmp_le_i32": "sCmpLeI",
	"s_cmp_gt_u32": "sCmpGtU", "s_cmp_ge_u32": "sCmpGeU", "s_cmp_lt_u32": "sCmpLtU", "s_cmp_le_u32": "sCmpLeU",
}

// operandForms are the forms that make operands.
type operandForms struct {
	mov       uint16
	modifiers [2][4]uint16 // of rows and scalars, by neg and abs
}

var madeOperands = func() (f operandForms) {
	f.mov = formNumbers["movS"]
	for k, kind := range []string{"R", "S"} {
		for i, name := range []string{"neg", "abs", "negabs"} {
			f.modifiers[k][i+1] = formNumbers[name+kind]
		}
	}
	return f
}()

// formOperands returns how many operands a vector form has.
func formOperands(form string) int {
	for n, kinds := range []string{"R", "RR", "RRR"} {
		if _, ok := formNumbers[form+kinds]; ok {
			return n + 1
		}
	}
	panic("sim: no form " + form)
}
