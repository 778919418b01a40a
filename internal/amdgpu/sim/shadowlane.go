package sim

import "math/bits"

// Shadow handlers of the instructions that choose lanes or registers.

func shadowReadLane(w *wave, o *op) {
	lane := w.firstLane()
	if o.in.NSrc > 1 {
		lane = int(w.s32(&o.src[1])) & (w.n - 1)
	}
	h := w.sourceHalves(o, 0)
	var d uint32
	if h.lo>>lane&1 != 0 {
		d |= 0xffff
	}
	if h.hi>>lane&1 != 0 {
		d |= 0xffff << 16
	}
	if o.sd.kind == sdstSGPR {
		if d != ^uint32(0) && o.src[0].kind == srcRow {
			d |= w.shadow.spills[spill{uint8(lane), w.rows[o.src[0].reg][lane]}]
		}
		if d != ^uint32(0) {
			w.from.s[o.sd.reg] = w.source(o)
		}
		w.shadow.s[o.sd.reg] = d
	}
}

func shadowWriteLane(w *wave, o *op) {
	if n := uint64(w.n - 1); w.scalarBits(&o.src[1])&n != n {
		w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "a lane is chosen by a value that nobody wrote")
	}
	lane := uint64(1) << (w.s32(&o.src[1]) & uint32(w.n-1))
	d := uint32(w.scalarBits(&o.src[0]))
	var h halves
	if d&0xffff == 0xffff {
		h.lo = lane
	}
	if d>>16 == 0xffff {
		h.hi = lane
	}
	if d != 0 && d != ^uint32(0) {
		if w.shadow.spills == nil {
			w.shadow.spills = map[spill]uint32{}
		}
		w.shadow.spills[spill{uint8(bits.TrailingZeros64(lane)), w.s32(&o.src[0])}] |= d
	}
	w.setShadow(o.final, h, lane)
}

// A spill is a scalar that v_writelane put into a lane.
//
// Compilers spill lane masks to lanes, and from there to scratch and back.
// Masks are often defined in part: for the active lanes. A lane keeps no
// state by bit, so that the defined bits are remembered by lane and value:
// a value that is undefined by its lane's state is still known by them.
type spill struct {
	lane  uint8
	value uint32
}

func shadowSwap(w *wave, o *op) { w.swapShadow(o.final, o.src[0].reg) }

func (w *wave) swapShadow(r, s int32) {
	x, y := w.shadow.v[r], w.shadow.v[s]
	w.setShadow(r, y, w.exec)
	w.setShadow(s, x, w.exec)
}

// shadowMovrel is a move whose source or destination M0 displaces.
func shadowMovrel(w *wave, o *op) {
	w.checkM0(o)
	rs, rd := w.relative(o)
	from := w.sourceHalves(o, 0)
	if o.src[0].kind == srcRow {
		from = w.shadow.v[w.shadowRow(o.src[0].reg, rs)]
	}
	w.setShadow(w.shadowRow(o.final, rd), from, w.exec)
}

// shadowRow returns row displaced by rel, or row where that is no register,
// which the instruction refuses.
func (w *wave) shadowRow(row, rel int32) int32 {
	if r := int64(row) + int64(rel); r >= firstVGPR && r < int64(len(w.shadow.v)) {
		return int32(r)
	}
	return row
}

// checkM0 notes where a register is chosen by an undefined M0.
func (w *wave) checkM0(o *op) {
	if w.shadow.s[regM0] != ^uint32(0) && w.exec != 0 {
		w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "a register is chosen by a value that nobody wrote")
	}
}

func shadowSwaprel(w *wave, o *op) {
	w.checkM0(o)
	rs, rd := w.relative(o)
	w.swapShadow(w.shadowRow(o.final, rd), w.shadowRow(o.src[0].reg, rs))
}

// shadowPermlane moves the state of lanes as permlane moves their values.
func shadowPermlane(w *wave, o *op) {
	from := func(i int) int { return i ^ 32 }
	switch o.in.Name {
	case "v_permlane16_b32":
		from = w.permlaneSource(o, 0)
	case "v_permlanex16_b32":
		from = w.permlaneSource(o, 16)
	default:
		if w.n == 32 {
			return
		}
	}
	s, d := w.sourceHalves(o, 0), w.shadow.v[o.final]
	known := o.in.NSrc < 3 || w.scalarBits(&o.src[1])&w.scalarBits(&o.src[2])&0xffffffff == 0xffffffff
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		var lo, hi uint64
		switch j := from(i); {
		case o.in.NSrc < 3 || o.mod.OpSel&1 != 0 || w.exec>>j&1 != 0:
			lo, hi = s.lo>>j&1, s.hi>>j&1
		case o.mod.OpSel&2 != 0:
			lo, hi = 1, 1
		default:
			lo, hi = d.lo>>i&1, d.hi>>i&1
		}
		if !known {
			lo, hi = 0, 0
		}
		d.lo = d.lo&^(1<<i) | lo<<i
		d.hi = d.hi&^(1<<i) | hi<<i
	}
	w.setShadow(o.final, d, w.exec)
}

// shadowCmpx is for compares that write exec, on gfx9 beside a scalar.
func shadowCmpx(w *wave, o *op) {
	m := w.gather(o.sh)
	if o.sd.kind == sdstSGPR {
		w.execDecision(o, m|^w.exec)
	}
	w.settle(o, m)
}
