package sim

import (
	"fmt"
	"math/bits"
)

// An origin is the load that first brought an undefined value into a
// register. It goes along where the value does, so that a finding can say
// which memory nobody wrote, and not only where that told.
type origin struct {
	o     *op // nil for a register that nobody wrote
	name  string
	off   int64
	group uint64
	wave  int
	lane  int
}

// origins are those of a wave's registers. One is kept for each register,
// not each lane, and only means something while the register has undefined
// lanes.
type origins struct {
	v []origin // by row; zero from its length to its capacity
	s [numScalars]origin
	// used says that some are not zero.
	used bool
}

// source finds the origin of the undefined values that o reads.
func (w *wave) source(o *op) origin {
	if o.sh != nil {
		for _, p := range o.sh.parts {
			if h := w.shadow.v[p.row]; (h.lo&h.hi)&w.exec != w.exec {
				return w.from.v[p.row]
			}
		}
		for _, r := range o.sh.scalars {
			if w.shadow.s[r] != ^uint32(0) {
				return w.from.s[r]
			}
		}
		if m := o.sh.mask; m != nil && m.kind == srcSGPR {
			return w.from.s[m.reg]
		}
		if o.sh.vcc {
			return w.from.s[regVCC]
		}
		return origin{}
	}
	if m := o.mem; m != nil {
		for _, s := range []*src{&m.addr, &m.base} {
			if s.kind == srcRow {
				if h := w.shadow.v[s.reg]; (h.lo&h.hi)&w.exec != w.exec {
					return w.from.v[s.reg]
				}
			}
			if s.kind == srcSGPR && w.shadow.s[s.reg] != ^uint32(0) {
				return w.from.s[s.reg]
			}
		}
		if m.data >= 0 {
			for k := range m.rowsOf() {
				if h := w.shadow.v[m.data+k]; (h.lo&h.hi)&w.exec != w.exec {
					return w.from.v[m.data+k]
				}
			}
		}
	}
	for i := range o.src {
		if s := &o.src[i]; s.kind == srcSGPR && w.scalarBits(s) != ^uint64(0) {
			for k := range int32(2) {
				if int(s.reg+k) < numScalars && w.shadow.s[s.reg+k] != ^uint32(0) && w.from.s[s.reg+k].o != nil {
					return w.from.s[s.reg+k]
				}
			}
		}
	}
	switch o.in.Name {
	case "s_cbranch_vccz", "s_cbranch_vccnz":
		return w.from.s[regVCC]
	case "s_cbranch_scc0", "s_cbranch_scc1", "s_cselect_b32", "s_cselect_b64":
		return w.fromSCC
	}
	return origin{}
}

// trace passes the origin on to a vector result that is not defined in the
// lanes of mask.
func (w *wave) trace(row int32, d halves, mask uint64) {
	if (d.lo&d.hi)&mask != mask {
		w.from.v[row] = w.source(&w.unit.ops[w.at])
	}
}

// loadedFrom notes that lanes of a row hold what nobody wrote at the
// addresses in g.ea.
func (w *wave) loadedFrom(row int32, bad uint64, name string, base uint64, k int32) {
	i := bits.TrailingZeros64(bad)
	w.from.used = true
	w.from.v[row] = origin{
		o: &w.unit.ops[w.at], name: name, off: int64(w.g.ea[i]-base) + int64(4*k),
		group: w.g.linear, wave: w.id, lane: i,
	}
}

// describe says in words where a value comes from.
func (w *wave) describe(from origin) string {
	if from.o == nil {
		return "it comes from a register that nobody wrote"
	}
	p := w.g.l.place(from.o, from.group, from.wave, from.lane)
	s := fmt.Sprintf("it comes from %s+%d, read at 0x%x `%s`", from.name, from.off, p.PC, p.Inst)
	if p.Source != "" {
		s += " " + p.Source
	}
	return s
}
