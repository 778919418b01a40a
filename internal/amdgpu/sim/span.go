package sim

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

//go:generate go run ./genuops

// Most instructions that a wave executes are plain arithmetic, of which
// several follow each other. Such a run is a span. What an instruction costs
// beside its work, counting it, bounding the steps, asking if its sources are
// defined, is done once for a span: its counts are known when it is compiled,
// and where the registers it reads are defined in the active lanes, so are
// those it writes. Where they are not, or where the wave has fewer
// instructions left before it is preempted, or another rounding mode, the
// instructions execute one by one instead, to the same effect.
//
// With AVX-512 a span is also executed in one go: each of its instructions is
// compiled to uops, pieces of machine code that genuops wrote and that jump
// from one to the next. One that meets a NaN where x86 and AMD differ stops,
// and its handler in Go takes its place. Elsewhere the handlers are called in
// turn.

// A span is a run of instructions of one unit.
type span struct {
	first, n int32 // ops
	uops     []uop // with one that ends it
	slow     []slowUop

	counts   []classCount
	valu     int64
	f32, f16 bool // needs the default mode

	// Definedness: what is read before it is written, and what is written.
	rows, setRows       []partRow
	scalars, setScalars []int32
	scc, setSCC         bool

	trans bool // needs correctly rounded transcendental instructions
	last  *op  // a branch that ends the span, beyond its uops
}

// maxSpan bounds a span, so that schedules that preempt often see some.
const maxSpan = 64

type classCount struct {
	class class
	n     int64
}

// A uop is what a form of machine code works on. Rows are byte offsets from
// the first, scalars from the wave.
type uop struct {
	code    uintptr
	d       int32 // row of the result
	a, b, c int32 // operands
	m       int32 // lane mask that is an operand
	sd      int32 // scalar or lane mask that is a result
	slow    int32 // in span.slow, of forms that stop at NaNs
}

// A slowUop is what takes the place of a uop that stops.
type slowUop struct {
	op   *op
	next int32 // uop to go on with
}

// maxConsts bounds the constants of a unit that uops can have.
const maxConsts = 128

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

// idle are the instructions that do nothing here.
var idle = map[string]bool{
	"s_waitcnt": true, "s_waitcnt_vscnt": true, "s_waitcnt_vmcnt": true, "s_waitcnt_expcnt": true, "s_waitcnt_lgkmcnt": true, "s_waitcnt_depctr": true,
	"s_delay_alu": true, "s_clause": true, "s_nop": true, "s_sleep": true, "s_setprio": true, "s_inst_prefetch": true, "s_set_inst_prefetch_distance": true,
	"v_nop": true,
}

// findSpans finds the spans of u. Branches within u lead to their starts; one
// that comes from elsewhere into the middle of a span executes the rest of
// it one by one.
func (u *unit) findSpans(wave int) {
	for i := range u.ops {
		if u.ops[i].index != nil {
			return // s_set_gpr_idx displaces registers
		}
	}
	leader := make([]bool, len(u.ops))
	for i := range u.ops {
		if t := u.ops[i].target; t >= 0 {
			leader[t] = true
		}
	}
	for i := 0; i < len(u.ops); {
		b := spanBuilder{u: u, span: &span{first: int32(i)}, wave: wave}
		j := i
		for j < len(u.ops) && j-i < maxSpan && (j == i || !leader[j]) && b.add(&u.ops[j]) {
			j++
		}
		if s := b.finish(int32(j - i)); s != nil {
			u.ops[i].span = s
		}
		i = max(j, i+1)
	}
}

// A spanBuilder makes one span.
type spanBuilder struct {
	*span
	u       *unit
	wave    int
	vectors int
	counted [numClasses]int64
	closed  bool // by a branch, or by what writes exec
}

// finish ends the span, nil where it is not worth it.
func (b *spanBuilder) finish(n int32) *span {
	if b.vectors == 0 && len(b.uops) < 2 {
		return nil
	}
	b.n = n
	b.uops = append(b.uops, uop{code: formCode(0)})
	for c, n := range b.counted {
		if n != 0 {
			b.counts = append(b.counts, classCount{class(c), n})
		}
	}
	return b.span
}

// add takes an op into the span, and reports whether it could.
func (b *spanBuilder) add(o *op) bool {
	uops, slow := len(b.uops), len(b.slow)
	ok := false
	switch {
	case b.closed:
	case o.class == classBranch:
		ok = b.branch(o)
	case idle[o.in.Name] && o.aux == nil:
		ok = true
	case o.dpp != nil || o.in.Form == isa.SDWA || o.aux != nil:
	case o.dual != nil:
		ok = b.dual(o)
	case o.inner != nil:
	case isVALU(o.in.Enc):
		ok = b.vector(o)
	default:
		ok = b.scalar(o)
	}
	if !ok {
		b.uops, b.slow = b.uops[:uops], b.slow[:slow]
		return false
	}
	b.counted[o.class]++
	if o.flags&opVALU != 0 {
		b.valu++
	}
	return true
}

// branch takes a conditional or plain branch within the unit, whose handler
// runs after the uops.
func (b *spanBuilder) branch(o *op) bool {
	if o.target < 0 {
		return false
	}
	switch o.in.Name {
	case "s_branch", "s_cbranch_execz", "s_cbranch_execnz":
	case "s_cbranch_scc0", "s_cbranch_scc1":
		b.scc = b.scc || !b.setSCC
	case "s_cbranch_vccz", "s_cbranch_vccnz":
		b.needScalar(regVCC, int32(b.wave/32))
	default:
		return false
	}
	b.last, b.closed = o, true
	return true
}

// writesExec takes what writes exec, of width dwords from its reg-th on, after
// which the span ends: the lanes that a span is counted for are those it
// begins with.
func (b *spanBuilder) writesExec(reg, width int32) (off int32, ok bool) {
	if reg+width > int32(b.wave/32) {
		return 0, false
	}
	b.closed = true
	return int32(unsafe.Offsetof(wave{}.exec)) + 4*reg, true
}

// dual takes both halves of a VOPD, in the order in which neither reads what
// the other writes.
func (b *spanBuilder) dual(o *op) bool {
	x, y := new(op), o.dual
	*x = *o
	x.run, x.inner, x.dual, x.dst = o.inner, nil, nil, o.final
	if y.inner != nil {
		return false
	}
	reads := func(h *op, row int32) bool {
		for _, p := range h.sh.parts {
			if p.row == row {
				return true
			}
		}
		return false
	}
	if y.sh == nil || x.sh == nil {
		return false
	}
	if reads(y, x.final) {
		if reads(x, y.final) {
			return false
		}
		x, y = y, x
	}
	before, vectors := *b.span, b.vectors
	before.rows, before.setRows = slices.Clone(b.rows), slices.Clone(b.setRows)
	if b.vector(x) && b.vector(y) {
		return true
	}
	*b.span, b.vectors = before, vectors
	return false
}

// tmpSpan are rows for operands that need work first.
var tmpSpan = [3]int32{tmpOut, tmpOut + 1, tmpMerge}

// vector takes a vector instruction.
func (b *spanBuilder) vector(o *op) bool {
	name := o.in.Name
	if rest, ok := strings.CutPrefix(name, "v_dual_"); ok {
		name = "v_" + rest
	}
	cmpx := false
	if rest, ok := strings.CutPrefix(name, "v_cmpx_"); ok {
		name = "v_cmp_" + rest
		cmpx = o.sd.kind == sdstSGPR // gfx9 writes both
		if cmpx && b.wave != 64 {
			return false
		}
	}
	f, ok := vectorForms[name]
	if !ok || o.mod.Clamp || o.mod.Omod != 0 || o.sh == nil || o.mod.OpSel != 0 && o.in.Enc != isa.VOP3P {
		return false
	}
	u := uop{d: 256 * o.final}
	n := 0
	var scalar [3]bool
	var offs [3]int32
	for ; n < f.operands && !(f.acc && n == 2); n++ {
		if scalar[n], offs[n], ok = b.operand(&o.src[n], n, f.wide == n+1 || f.wide == allWide); !ok {
			return false
		}
		if f.wide == 2 && n == 1 && scalar[n] {
			return false
		}
	}
	if f.acc {
		offs[n] = 256 * o.final
		n++
	}
	if f.swap {
		scalar[0], scalar[1] = scalar[1], scalar[0]
		offs[0], offs[1] = offs[1], offs[0]
	}
	// At most one operand is a scalar; others become rows.
	which := 0
	for i := n - 1; i >= 0; i-- {
		if !scalar[i] {
			continue
		}
		if which != 0 && f.wide == allWide {
			return false
		}
		if which != 0 {
			b.emit(madeOperands.mov, uop{d: 256 * tmpSpan[i], a: offs[i]})
			offs[i] = 256 * tmpSpan[i]
			continue
		}
		which = 1 << i
	}
	u.a, u.b, u.c = offs[0], offs[1], offs[2]
	if o.sd.kind != sdstNone || strings.HasPrefix(name, "v_cmp_") {
		switch o.sd.kind {
		case sdstSGPR:
			u.sd = scalarOffset(o.sd.reg)
		case sdstExec:
			if u.sd, ok = b.writesExec(0, int32(b.wave/32)); !ok || o.sd.reg != 0 {
				return false
			}
		default:
			return false
		}
	} else if f.form == "madU64" || strings.HasSuffix(f.form, "Co") {
		u.sd = int32(unsafe.Offsetof(wave{}.sink))
	}
	switch f.form {
	case "cndmask", "addcCo", "subbCo":
		u.m = scalarOffset(regVCC)
		if o.in.NSrc >= 3 {
			if o.src[2].kind != srcSGPR {
				return false
			}
			u.m = scalarOffset(o.src[2].reg)
		}
	}
	switch f.mode {
	case 'h':
		b.f16 = true
		b.f32 = true
	case 'f':
		b.f32 = true
	case 't':
		b.trans = true
	}
	u.slow = int32(len(b.slow))
	b.slow = append(b.slow, slowUop{op: o, next: int32(len(b.uops)) + 1})
	b.emit(f.codes[which], u)
	if cmpx {
		off, _ := b.writesExec(0, 2)
		b.uops = append(b.uops, uop{code: formCode(int(formNumbers["sMov64"])), a: u.sd, sd: off})
	}
	b.vectors++
	b.needVector(o, u.m != 0)
	return true
}

// emit appends a uop of a vector form.
func (b *spanBuilder) emit(form uint16, u uop) {
	if form == 0 {
		panic("sim: no such form")
	}
	u.code = formCode(int(form) + int(b2u(b.wave == 32)))
	b.uops = append(b.uops, u)
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

// scalarOffset is where an SGPR is in a wave.
func scalarOffset(reg int32) int32 { return int32(unsafe.Offsetof(wave{}.s)) + 4*reg }

// constant returns where in a wave the constant is that a uop may have, of 64
// bits where wide.
func (b *spanBuilder) constant(v uint64, wide bool) (int32, bool) {
	c := b.u.consts
	at := -1
	for i := range c {
		if c[i] == uint32(v) && (!wide || i+1 < len(c) && c[i+1] == uint32(v>>32)) {
			at = i
			break
		}
	}
	if at < 0 {
		at = len(c)
		c = append(c, uint32(v))
		if wide {
			c = append(c, uint32(v>>32))
		}
		if len(c) > maxConsts {
			return 0, false
		}
		b.u.consts = c
	}
	return int32(unsafe.Offsetof(wave{}.consts)) + 4*int32(at), true
}

// operand resolves source i: a row, or a scalar.
func (b *spanBuilder) operand(s *src, i int, wide bool) (scalar bool, off int32, ok bool) {
	switch s.kind {
	case srcRow:
		return false, 256 * s.reg, true
	case srcSGPR:
		return true, scalarOffset(s.reg), true
	case srcExec:
		return true, int32(unsafe.Offsetof(wave{}.exec)) + 4*s.reg, true
	case srcConst:
		off, ok = b.constant(s.x.imm, wide)
		return true, off, ok
	case srcMod:
		x := s.x
		if x.sel != isa.DWord || x.typ != isa.B32 || wide {
			return false, 0, false
		}
		scalar, off, ok := b.operand(&x.base, i, false)
		if !ok {
			return false, 0, false
		}
		form := madeOperands.modifiers[b2u(scalar)][b2u(x.neg)|b2u(x.abs)<<1]
		b.emit(form, uop{d: 256 * tmpSpan[i], a: off})
		return false, 256 * tmpSpan[i], true
	}
	return false, 0, false
}

// scalar takes a scalar instruction.
func (b *spanBuilder) scalar(o *op) bool {
	in := o.in
	switch in.Enc {
	case isa.SOP1, isa.SOP2, isa.SOPC, isa.SOPK:
	default:
		return false
	}
	name, save := in.Name, false
	if before, after, ok := strings.Cut(name, "_saveexec"); ok {
		// The old exec goes to the destination, the combination to exec.
		name, save = before+after, true
	}
	form, ok := scalarForms[name]
	if !ok || save && (o.sd.kind != sdstSGPR || !strings.HasSuffix(form, "64") != (b.wave == 32)) {
		return false
	}
	var u uop
	var offs [2]int32
	n := min(int(in.NSrc), 2)
	for i := range n {
		wide := strings.HasSuffix(in.Name, "64") && !(i == 1 && strings.HasPrefix(in.Name, "s_lsh"))
		scalar, off, ok := b.operand(&o.src[i], i, wide)
		if !ok || !scalar {
			return false
		}
		offs[i] = off
	}
	if in.Name == "s_movk_i32" {
		if offs[0], ok = b.constant(uint64(uint32(o.imm)), false); !ok {
			return false
		}
	}
	u.a, u.b = offs[0], offs[1]
	if save {
		return b.saveExec(o, form, u)
	}
	if !strings.HasPrefix(form, "sCmp") {
		switch o.sd.kind {
		case sdstSGPR:
			u.sd = scalarOffset(o.sd.reg)
		case sdstExec:
			if u.sd, ok = b.writesExec(o.sd.reg, max(1, int32(o.sd.width))); !ok {
				return false
			}
		default:
			return false
		}
	}
	u.code = formCode(int(formNumbers[form]))
	b.uops = append(b.uops, u)
	// Definedness.
	for i := range n {
		if o.src[i].kind == srcSGPR {
			b.needScalar(o.src[i].reg, max(1, int32(in.Src[i].Width)))
		}
	}
	switch form {
	case "sAddcU32", "sSubbU32", "sCselect", "sCselect64":
		b.scc = b.scc || !b.setSCC
	}
	switch form {
	case "sMov", "sMov64", "sMulI32", "sMulHiU32", "sCselect", "sCselect64":
	default:
		b.setSCC = true
	}
	if o.sd.kind == sdstSGPR {
		b.know(o.sd.reg, max(1, int32(o.sd.width)))
	}
	return true
}

// saveExec takes an instruction that combines u.a with exec and saves exec.
func (b *spanBuilder) saveExec(o *op, form string, u uop) bool {
	width := int32(b.wave / 32)
	u.b, _ = b.writesExec(0, width)
	u.sd = u.b
	old := uop{code: formCode(int(formNumbers["sMov"])), a: u.b, sd: scalarOffset(o.sd.reg)}
	if width == 2 {
		old.code = formCode(int(formNumbers["sMov64"]))
	}
	// The source may be the destination.
	tmp := uop{code: old.code, a: u.a, sd: int32(unsafe.Offsetof(wave{}.sink))}
	u.a = tmp.sd
	u.code = formCode(int(formNumbers[form]))
	b.uops = append(b.uops, tmp, old, u)
	if s := &o.src[0]; s.kind == srcSGPR {
		b.needScalar(s.reg, width)
	}
	b.know(o.sd.reg, width)
	b.setSCC = true
	return true
}

// needVector notes what a vector instruction reads and writes.
func (b *spanBuilder) needVector(o *op, mask bool) {
	for _, p := range o.sh.parts {
		if k := rowIndex(b.setRows, p.row); k >= 0 {
			p.lo, p.hi = p.lo && !b.setRows[k].lo, p.hi && !b.setRows[k].hi
		}
		if p.lo || p.hi {
			b.rows = addPart(b.rows, p)
		}
	}
	for _, r := range o.sh.scalars {
		b.needScalar(r, 1)
	}
	width := int32(b.wave / 32)
	if m := o.sh.mask; m != nil && m.kind == srcSGPR {
		b.needScalar(m.reg, width)
	} else if mask {
		b.needScalar(regVCC, width)
	}
	if o.sh.dst != tmpOut {
		for k := range o.sh.n {
			b.setRows = addPart(b.setRows, partRow{o.sh.dst + k, o.sh.lo, o.sh.hi})
		}
	}
	if o.sd.kind == sdstSGPR {
		b.know(o.sd.reg, width)
	}
}

// rowIndex returns the index of a row in parts, or -1.
func rowIndex(parts []partRow, row int32) int {
	return slices.IndexFunc(parts, func(p partRow) bool { return p.row == row })
}

// addPart adds p to parts, joined with what is there of its row.
func addPart(parts []partRow, p partRow) []partRow {
	if k := rowIndex(parts, p.row); k >= 0 {
		parts[k].lo, parts[k].hi = parts[k].lo || p.lo, parts[k].hi || p.hi
		return parts
	}
	return append(parts, p)
}

func (b *spanBuilder) needScalar(reg, n int32) {
	for r := reg; r < reg+n; r++ {
		if !slices.Contains(b.setScalars, r) && !slices.Contains(b.scalars, r) {
			b.scalars = append(b.scalars, r)
		}
	}
}

func (b *spanBuilder) know(reg, n int32) {
	for r := reg; r < reg+n; r++ {
		if !slices.Contains(b.setScalars, r) {
			b.setScalars = append(b.setScalars, r)
		}
	}
}

// runSpan executes s, and reports whether it did: not where the mode or, with
// checks, an undefined register asks for one instruction after another.
func (w *wave) runSpan(s *span) bool {
	g := w.g
	if s.f32 && !w.mode.Default32() || s.f16 && !w.mode.Default1664() || s.trans && w.trans.Model != arith.CR {
		return false
	}
	if g.checks && !w.defineSpan(s) {
		return false
	}
	for _, c := range s.counts {
		g.inst[c.class&15] += c.n
	}
	if s.valu != 0 {
		g.laneOps += s.valu * int64(w.active())
		g.laneSlots += s.valu * int64(w.n)
	}
	w.at = s.first
	w.pc = s.first + s.n
	if !hasUops || g.plain {
		ops := w.unit.ops[s.first : s.first+s.n]
		for i := range ops {
			ops[i].run(w, &ops[i])
		}
		return true
	}
	for u := int32(0); ; {
		runUops(&s.uops[u], w)
		if w.stopped < 0 {
			if s.last != nil {
				s.last.run(w, s.last)
			}
			return true
		}
		slow := &s.slow[w.stopped]
		slow.op.run(w, slow.op)
		u = slow.next
	}
}

// defineSpan marks what s writes as defined, and reports whether all it reads
// is.
func (w *wave) defineSpan(s *span) bool {
	sh := &w.shadow
	var bad uint64
	for i := range s.rows {
		p := &s.rows[i]
		h := &sh.v[p.row]
		if p.lo {
			bad |= ^h.lo
		}
		if p.hi {
			bad |= ^h.hi
		}
	}
	if bad&w.exec != 0 || s.scc && !sh.scc {
		return false
	}
	all := ^uint32(0)
	for _, r := range s.scalars {
		all &= sh.s[r&(numScalars-1)]
	}
	if all != ^uint32(0) {
		return false
	}
	for i := range s.setRows {
		p := &s.setRows[i]
		h := &sh.v[p.row]
		if p.lo {
			h.lo |= w.exec
		}
		if p.hi {
			h.hi |= w.exec
		}
	}
	for _, r := range s.setScalars {
		sh.s[r&(numScalars-1)] = ^uint32(0)
	}
	if s.setSCC {
		sh.scc = true
	}
	return true
}
