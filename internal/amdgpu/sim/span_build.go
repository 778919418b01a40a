package sim

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// idle are the instructions that do nothing here.
var idle = map[string]bool{
	"s_waitcnt": true, "s_waitcnt_vscnt": true, "s_waitcnt_vmcnt": true, "s_waitcnt_expcnt": true, "s_waitcnt_lgkmcnt": true, "s_waitcnt_depctr": true,
	"buffer_gl0_inv": true, "buffer_gl1_inv": true, "buffer_wbinvl1": true, "buffer_wbinvl1_vol": true, "buffer_invl2": true, "buffer_wbl2": true,
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
		for b.at = int32(i); j < len(u.ops) && j-i < maxSpan && (j == i || !leader[j]) && b.add(&u.ops[j]); {
			j++
			b.at = int32(j)
		}
		if s := b.finish(int32(j - i)); s != nil {
			s.id = u.spans
			u.spans++
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
	closed  bool  // by a branch, or by what writes exec
	at      int32 // the op to take
}

// finish ends the span, nil where it is not worth it.
func (b *spanBuilder) finish(n int32) *span {
	if b.vectors == 0 && len(b.uops) < 2 {
		return nil
	}
	b.n = n
	b.uops = append(b.uops, uop{})
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
	case o.class == classBarrier && o.aux == nil:
		b.last, b.closed, ok = o, true, true
	case idle[o.in.Name] && o.aux == nil:
		ok = true
	case o.mem != nil:
		ok = b.memory(o)
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
	b.slow = append(b.slow, slowUop{op: o, run: o.run, next: int32(len(b.uops)) + 1})
	b.emit(f.codes[which], u)
	if f.form == "addcCo" {
		b.pairAdd()
	}
	if cmpx {
		off, _ := b.writesExec(0, 2)
		b.uops = append(b.uops, uop{code: int32(formNumbers["sMov64"]), a: u.sd, sd: off})
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
	u.code = int32(form) + int32(b2u(b.wave == 32))
	b.uops = append(b.uops, u)
}

// addPairs are the forms of v_add_co_u32 and v_addc_co_u32 in a row, by those
// that each has.
var addPairs = func() map[[2]int32]int32 {
	t := map[[2]int32]int32{}
	kinds := []string{"RR", "SR", "RS"}
	for _, low := range kinds {
		for _, high := range kinds {
			for k := range int32(2) {
				t[[2]int32{int32(formNumbers["addCo"+low]) + k, int32(formNumbers["addcCo"+high]) + k}] = int32(formNumbers["addPair"+low+high]) + k
			}
		}
	}
	return t
}()

// pairAdd makes the last two uops one, if they are the halves of a 64-bit
// addition. A scalar operand is read before the carries of the first are
// written.
func (b *spanBuilder) pairAdd() {
	n := len(b.uops)
	if n < 2 {
		return
	}
	low, high := &b.uops[n-2], &b.uops[n-1]
	pair, ok := addPairs[[2]int32{low.code, high.code}]
	carries := low.sd // of one dword or two
	if ok && high.m == carries && high.a&^4 != carries&^4 && high.b&^4 != carries&^4 {
		low.code = pair
	}
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
	u.code = int32(formNumbers[form])
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
	old := uop{code: int32(formNumbers["sMov"]), a: u.b, sd: scalarOffset(o.sd.reg)}
	if width == 2 {
		old.code = int32(formNumbers["sMov64"])
	}
	// The source may be the destination.
	tmp := uop{code: old.code, a: u.a, sd: int32(unsafe.Offsetof(wave{}.sink))}
	u.a = tmp.sd
	u.code = int32(formNumbers[form])
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
