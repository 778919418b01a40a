package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Definedness. Each half of each lane of a VGPR, each bit of an SGPR and
// each byte of memory is either defined or derives from something nobody
// wrote. The state of a vector register is one mask per half, a bit for
// each lane; that of a scalar register is a mask of its bits, since scalar
// registers hold lane masks. Before an instruction executes its shadow
// handler computes the state of its results from that of its sources.

// A halves is the state of a VGPR.
type halves struct {
	lo, hi uint64
}

// waveShadow is the definedness of a wave's registers.
type waveShadow struct {
	v   []halves // by row
	s   [numScalars]uint32
	scc bool
}

// shadowOperands are the registers whose definedness an op combines.
type shadowOperands struct{}

func (w *wave) resetShadow() {
	clear(w.shadow.v)
	clear(w.shadow.s[:])
	w.shadow.scc = false
}

func (w *wave) growShadow(n int) {
	v := make([]halves, n)
	copy(v, w.shadow.v)
	w.shadow.v = v
}

// setInitial writes an SGPR that is set up before the wave starts.
func (w *wave) setInitial(reg int, v uint32) {
	w.s[reg] = v
	w.shadow.s[reg] = ^uint32(0)
}

func (w *wave) defineInitial(row int, mask uint64) {
	w.shadow.v[row] = halves{mask, mask}
}

// define marks lanes of a row as defined.
func (w *wave) define(row int32, mask uint64) {
	h := &w.shadow.v[row]
	h.lo |= mask
	h.hi |= mask
}

func (w *wave) defineScalar(reg int, bits uint32) { w.shadow.s[reg] = bits }

// crossDefine gives the result of o the definedness of row in the lanes
// that source names; a lane out of range is defined.
func (w *wave) crossDefine(o *op, row int32, source func(i int) int) {
	if !w.g.checks {
		return
	}
	s := w.shadow.v[row]
	var d halves
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		j := source(i)
		if j < 0 || j > 63 || w.exec>>j&1 == 0 {
			d.lo |= 1 << i
			d.hi |= 1 << i
			continue
		}
		d.lo |= s.lo >> j & 1 << i
		d.hi |= s.hi >> j & 1 << i
	}
	w.setShadow(o.final, d, w.exec)
}

func (w *wave) setShadow(row int32, d halves, mask uint64) {
	h := &w.shadow.v[row]
	h.lo = h.lo&^mask | d.lo&mask
	h.hi = h.hi&^mask | d.hi&mask
}

// shadow chooses the shadow handler of o.
func (c *compiler) shadow(in *isa.Inst, o *op) {}

func (g *group) checkAddress(w *wave, o *op, mask uint64) {}
func (w *wave) checkScalarAddress(o *op)                  {}

func (g *group) loadShadow(w *wave, m *memOp, r *region, mask uint64) {}
func (g *group) storeShadow(w *wave, o *op, r *region, mask uint64) {
	if r.def != nil {
		g.markDefined(o.mem, r, mask)
	}
}
func (g *group) atomicShadow(w *wave, o *op, r *region, i int, off uint64) {}
func (g *group) loadScratchShadow(w *wave, m *memOp, mask uint64)          {}
func (g *group) storeScratchShadow(w *wave, m *memOp, mask uint64)         {}

// markDefined marks the bytes of a store as written.
func (g *group) markDefined(m *memOp, r *region, mask uint64) {
	for x := mask; x != 0; x &= x - 1 {
		off := g.ea[bits.TrailingZeros64(x)&63] - r.base
		d := r.def[off : off+uint64(m.size)]
		for k := range d {
			d[k] = 1
		}
	}
}
