package sim

import (
	"fmt"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// laneOps are the vector instructions that choose lanes or registers, and
// those without effect.
var laneOps = map[string]spec{
	"v_cndmask_b32": {run: vCndmask},
	"v_cndmask_b16": {run: vCndmask, out: outB16},

	"v_mbcnt_lo_u32_b32": {run: mbcnt(0)},
	"v_mbcnt_hi_u32_b32": {run: mbcnt(32)},

	"v_readfirstlane_b32": {run: func(w *wave, o *op) { w.setS32(o, w.row(&o.src[0])[w.firstLane()]) }},
	"v_readlane_b32":      {run: func(w *wave, o *op) { w.setS32(o, w.row(&o.src[0])[w.lane(&o.src[1])]) }},
	"v_writelane_b32":     {run: func(w *wave, o *op) { w.out(o)[w.lane(&o.src[1])] = w.s32(&o.src[0]) }},

	"v_permlane16_b32":  {run: permlane(0)},
	"v_permlanex16_b32": {run: permlane(16)},
	"v_permlane64_b32":  {run: vPermlane64},

	"v_swap_b32":       {run: func(w *wave, o *op) { w.swap(o.final, o.src[0].reg) }},
	"v_swaprel_b32":    {run: vSwaprel},
	"v_movrels_b32":    {run: movrel},
	"v_movreld_b32":    {run: movrel},
	"v_movrelsd_b32":   {run: movrel},
	"v_movrelsd_2_b32": {run: movrel},

	"v_nop":       {run: nop},
	"v_pipeflush": {run: nop},
	"v_clrexcp":   {run: nop},
}

// lane returns the number of a lane that a scalar source holds.
func (w *wave) lane(s *src) int { return int(w.s32(s)) & (w.n - 1) }

// vCndmask takes the second source where its mask is set, which is the
// third source or vcc.
func vCndmask(w *wave, o *op) {
	a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
	var sel uint64
	if o.in.NSrc >= 3 {
		sel = w.mask(&o.src[2])
	} else {
		sel = w.vcc()
	}
	if w.exec == w.full {
		for i := range d[:w.n] {
			d[i] = a[i] ^ (a[i]^b[i])&-uint32(sel>>(i&63)&1)
		}
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = a[i] ^ (a[i]^b[i])&-uint32(sel>>i&1)
	}
}

// mbcnt makes the handler that counts the bits of a dword of a lane mask
// that are below the lane. first is the lane of the dword's bit 0.
func mbcnt(first int) handler {
	return func(w *wave, o *op) {
		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			below := uint32(1<<max(0, min(32, i-first)) - 1)
			d[i] = uint32(bits.OnesCount32(a[i]&below)) + b[i]
		}
	}
}

// permlane makes the handler that fetches from lanes of the same row of 16,
// or of the other row of a pair, as nibbles of two scalars choose. Of
// op_sel bit 0 fetches from inactive lanes too; without it a lane whose
// source is inactive gets zero where bit 1 is set and else keeps its value.
func permlane(other int) handler {
	return func(w *wave, o *op) {
		s := *w.row(&o.src[0])
		from := w.permlaneSource(o, other)
		d := w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			switch j := from(i); {
			case o.mod.OpSel&1 != 0 || w.exec>>j&1 != 0:
				d[i] = s[j]
			case o.mod.OpSel&2 != 0:
				d[i] = 0
			}
		}
	}
}

// permlaneSource returns the function that gives the source of a lane.
func (w *wave) permlaneSource(o *op, other int) func(i int) int {
	sel := uint64(w.s32(&o.src[1])) | uint64(w.s32(&o.src[2]))<<32
	return func(i int) int { return i&^15 ^ other | int(sel>>(4*(i&15))&15) }
}

// vPermlane64 exchanges the halves of a wave64. A wave32 has none, for
// which the instruction does nothing.
func vPermlane64(w *wave, o *op) {
	if w.n == 32 {
		return
	}
	s := *w.row(&o.src[0])
	d := w.out(o)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = s[i^32]
	}
}

func (w *wave) swap(r, s int32) {
	a, b := &w.rows[r], &w.rows[s]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		a[i], b[i] = b[i], a[i]
	}
}

// relative returns by how many registers M0 displaces the source and the
// destination of o.
func (w *wave) relative(o *op) (s, d int32) {
	m0 := w.s[regM0]
	switch o.in.Name {
	case "v_movrels_b32":
		return int32(m0), 0
	case "v_movreld_b32":
		return 0, int32(m0)
	case "v_movrelsd_b32":
		return int32(m0), int32(m0)
	}
	return int32(m0 & 0x3ff), int32(m0 >> 16 & 0x3ff)
}

// displaced returns row r displaced by rel, which must be a register too.
func (w *wave) displaced(o *op, r, rel int32) (int32, bool) {
	// In 64 bits, since M0 may hold anything.
	v := int64(r) + int64(rel)
	if v < firstVGPR || v >= int64(len(w.rows)) {
		w.refuse(o, fmt.Sprintf("indexes a vector register %d from v%d, beyond those of the kernel", rel, r-firstVGPR))
		return r, false
	}
	return int32(v), true
}

// movrel moves between registers that M0 displaces.
func movrel(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	rs, rd := w.relative(o)
	from := &o.src[0]
	a := w.row(from)
	if from.kind == srcRow && rs != 0 {
		r, ok := w.displaced(o, from.reg, rs)
		if !ok {
			return
		}
		a = &w.rows[r]
	}
	r, ok := w.displaced(o, o.final, rd)
	if !ok {
		return
	}
	d := &w.rows[r]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = a[i]
	}
}

func vSwaprel(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	rs, rd := w.relative(o)
	s, ok := w.displaced(o, o.src[0].reg, rs)
	if !ok {
		return
	}
	if d, ok := w.displaced(o, o.final, rd); ok {
		w.swap(d, s)
	}
}

// runIndexed executes a vector instruction of a function that uses
// s_set_gpr_idx_on (gfx9): while the mode is on, the low byte of M0
// displaces the vector registers of the operands that the mode names.
func runIndexed(w *wave, o *op) {
	x := o.index
	if !w.gprIdx || w.s[regM0]>>12&15 == 0 {
		x.run(w, o)
		return
	}
	if y, ok := w.displace(o, x); ok {
		x.run(w, y)
	}
}

func shadowIndexed(w *wave, o *op) {
	x := o.index
	if !w.gprIdx || w.s[regM0]>>12&15 == 0 {
		x.shadow(w, o)
		return
	}
	if w.shadow.s[regM0]&0xff != 0xff && w.exec != 0 {
		w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "a register is chosen by a value that nobody wrote")
	}
	state, err := w.state, w.err
	if y, ok := w.displace(o, x); ok {
		x.shadow(w, y)
		return
	}
	w.state, w.err = state, err // runIndexed refuses again
}

// An indexed is what runIndexed wraps.
type indexed struct {
	run, shadow handler
	moved       bool // whether its operands can be displaced
}

// indexVGPRs wraps the vector instructions of a function that uses
// s_set_gpr_idx_on.
func (u *unit) indexVGPRs() {
	uses := false
	for i := range u.ops {
		uses = uses || u.ops[i].in.Name == "s_set_gpr_idx_on"
	}
	if !uses {
		return
	}
	for i := range u.ops {
		o := &u.ops[i]
		if o.flags&opVALU == 0 {
			continue
		}
		_, crossing := laneOps[o.in.Name]
		plain := o.in.Form == isa.Plain || o.in.Form == isa.E64
		x := &indexed{o.run, o.shadow, plain && !readsDestination(o.in.Name) && (!crossing || o.in.Name == "v_cndmask_b32")}
		o.index, o.run = x, runIndexed
		if x.shadow != nil {
			o.shadow = shadowIndexed
		}
	}
}

// displace returns a copy of o with displaced operands.
func (w *wave) displace(o *op, x *indexed) (*op, bool) {
	if !x.moved {
		w.refuse(o, "is not interpreted while s_set_gpr_idx_on is in effect")
		return nil, false
	}
	y := *o
	rel, mode := int32(w.s[regM0]&0xff), w.s[regM0]>>12
	for i := range y.src[:o.in.NSrc] {
		s := &y.src[i]
		if s.kind == srcMod {
			e := *s.x
			s.x = &e
			s = &e.base
		}
		if mode>>i&1 == 0 || s.kind != srcRow {
			continue
		}
		r, ok := w.displaced(o, s.reg, rel)
		if !ok {
			return nil, false
		}
		s.reg = r
	}
	if mode&8 != 0 && y.final != tmpOut {
		r, ok := w.displaced(o, y.final, rel)
		if !ok {
			return nil, false
		}
		if y.dst == y.final {
			y.dst = r
		}
		y.final = r
	}
	y.sh = y.sh.displaced(o, &y)
	return &y, true
}

// displaced returns the operands of shadow handlers after those of the op.
func (sh *shadowOperands) displaced(from, to *op) *shadowOperands {
	if sh == nil {
		return nil
	}
	n := *sh
	n.parts = append([]partRow(nil), sh.parts...)
	k := 0
	for i := range from.src[:from.in.NSrc] {
		a, b := &from.src[i], &to.src[i]
		if a.kind == srcMod {
			a, b = &a.x.base, &b.x.base
		}
		if a.kind != srcRow {
			continue
		}
		for ; k < len(n.parts) && n.parts[k].row >= a.reg && n.parts[k].row < a.reg+max(1, int32(from.in.Src[i].Width)); k++ {
			n.parts[k].row += b.reg - a.reg
		}
	}
	if n.dst != tmpOut {
		n.dst = to.final
	}
	return &n
}
