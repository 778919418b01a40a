package sim

import (
	"encoding/binary"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Definedness. Each half of each lane of a VGPR, each bit of an SGPR and
// each byte of memory is either defined or derives from something nobody
// wrote. The state of a vector register is one mask per half, a bit for
// each lane; that of a scalar register is a mask of its bits, since scalar
// registers hold lane masks. Before an instruction executes its shadow
// handler computes the state of its results from that of its sources.
//
// Moving undefined values about is no error, since compilers do so. It is
// one to store them to global memory, to branch or to choose lanes by them,
// and to use them as an address.

// A halves is the state of a VGPR.
type halves struct {
	lo, hi uint64
}

var allDefined = halves{^uint64(0), ^uint64(0)}

// waveShadow is the definedness of a wave's registers.
type waveShadow struct {
	v   []halves // by row
	s   [numScalars]uint32
	scc bool
	// spills are the defined bits of scalars that are defined in part.
	spills map[spill]uint32
}

func (w *wave) resetShadow() {
	w.shadow.v = w.shadow.v[:0]
	clear(w.shadow.s[:])
	w.shadow.scc = false
	clear(w.shadow.spills)
	if w.from.used {
		clear(w.from.v[:cap(w.from.v)])
		clear(w.from.s[:])
		w.fromSCC = origin{}
		w.from.used = false
	}
	w.from.v = w.from.v[:0]
}

func (w *wave) growShadow(n int) {
	if n <= cap(w.shadow.v) && n <= cap(w.from.v) {
		old := len(w.shadow.v)
		w.shadow.v, w.from.v = w.shadow.v[:n], w.from.v[:n]
		clear(w.shadow.v[old:])
		return
	}
	v := make([]halves, n)
	copy(v, w.shadow.v)
	w.shadow.v = v
	f := make([]origin, n)
	copy(f, w.from.v)
	w.from.v = f
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

// setShadow gives lanes of a row the state d.
func (w *wave) setShadow(row int32, d halves, mask uint64) {
	w.trace(row, d, mask)
	h := &w.shadow.v[row]
	h.lo = h.lo&^mask | d.lo&mask
	h.hi = h.hi&^mask | d.hi&mask
}

// crossDefine gives the result of o the state of row in the lanes that
// source names. A lane that is inactive or out of range counts as defined:
// hardware gives zero for it.
func (w *wave) crossDefine(o *op, row int32, source func(i int) int) {
	if !w.g.checks {
		return
	}
	s := w.shadow.v[row]
	if (s.lo&s.hi)&w.exec == w.exec {
		w.setShadow(o.final, allDefined, w.exec)
		return
	}
	var d halves
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if j := source(i); j >= 0 && j < 64 && w.exec>>j&1 != 0 {
			d.lo |= s.lo >> j & 1 << i
			d.hi |= s.hi >> j & 1 << i
		} else {
			d.lo |= 1 << i
			d.hi |= 1 << i
		}
	}
	w.setShadow(o.final, d, w.exec)
	w.from.v[o.final] = w.from.v[row]
}

// scalarBits returns the defined bits of a scalar source.
func (w *wave) scalarBits(s *src) uint64 {
	switch s.kind {
	case srcSGPR:
		d := uint64(w.shadow.s[s.reg])
		if int(s.reg)+1 < numScalars {
			d |= uint64(w.shadow.s[s.reg+1]) << 32
		}
		return d
	case srcSCC:
		if !w.shadow.scc {
			return 0
		}
	case srcVCCZ:
		if !w.vccDecided() {
			return 0
		}
	case srcRow:
		h := w.shadow.v[s.reg]
		if w.exec != 0 && h.lo&h.hi>>w.firstLane()&1 == 0 {
			return 0
		}
	case srcMod:
		return w.scalarBits(&s.x.base)
	}
	return ^uint64(0)
}

// vccDecided reports whether it is defined if vcc is zero.
func (w *wave) vccDecided() bool {
	d := uint64(w.shadow.s[regVCC]) | uint64(w.shadow.s[regVCC+1])<<32
	if w.n == 32 {
		d |= 0xffffffff << 32
	}
	return d == ^uint64(0) || w.vcc()&d != 0
}

// uninit notes that lane uses an undefined value in o.
func (g *group) uninit(w *wave, o *op, lane int, access, space string, detail string) {
	g.note(w, o, lane, findingKey{check: gpu.Uninitialised, space: space, access: access}, 0, 0, func(f *gpu.Finding) { f.Detail = detail + "; " + w.describe(w.source(o)) })
}

// checkAddress notes addresses that are undefined.
func (g *group) checkAddress(w *wave, o *op, mask uint64) {
	m := o.mem
	if s := &m.addr; s.kind == srcRow {
		h := w.shadow.v[s.reg]
		ok := h.lo & h.hi
		if m.wide {
			h = w.shadow.v[s.reg+1]
			ok &= h.lo & h.hi
		}
		if bad := mask &^ ok; bad != 0 {
			g.uninit(w, o, bits.TrailingZeros64(bad), "address", "vgpr", "the address is computed from a value that nobody wrote")
			w.define(s.reg, mask)
			if m.wide {
				w.define(s.reg+1, mask)
			}
		}
	}
	if m.base.kind == srcSGPR {
		d := w.scalarBits(&m.base)
		if m.base.slot == 2 || m.size == 0 || o.class == classScratch {
			d |= 0xffffffff << 32 // an offset of 32 bits
		}
		if d != ^uint64(0) {
			g.uninit(w, o, bits.TrailingZeros64(mask), "address", "sgpr", "the address is computed from a value that nobody wrote")
			w.shadow.s[m.base.reg] = ^uint32(0)
			w.shadow.s[m.base.reg+1] = ^uint32(0)
		}
	}
}

// checkScalarAddress is checkAddress for a scalar load.
func (w *wave) checkScalarAddress(o *op) {
	d := w.scalarBits(&o.src[0])
	if o.mem.base.kind != srcNone {
		d &= w.scalarBits(&o.mem.base) | 0xffffffff<<32
	}
	if d != ^uint64(0) {
		w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "the address is computed from a value that nobody wrote")
	}
}

// rowsOf is the number of registers of one element.
func (m *memOp) rowsOf() int32 { return int32(max(1, m.size/4)) }

// loadShadow sets the state of registers loaded from r.
func (g *group) loadShadow(w *wave, m *memOp, r *region, mask uint64, seq bool) {
	known := r.def == nil
	if !known && seq {
		off, n := g.span(m, r, mask)
		known = allOnes(r.def[off : off+n])
	}
	for k := range m.rowsOf() {
		d := allDefined
		if !known {
			d = halves{}
			for x := mask; x != 0; x &= x - 1 {
				i := bits.TrailingZeros64(x) & 63
				p := r.def[g.ea[i]-r.base+uint64(4*k):]
				switch m.size {
				case 1:
					d.lo |= uint64(p[0]) << i
					d.hi |= uint64(p[0]) << i
				case 2:
					d.lo |= uint64(p[0]&p[1]) << i
					d.hi |= uint64(p[0]&p[1]) << i
				default:
					d.lo |= uint64(p[0]&p[1]) << i
					d.hi |= uint64(p[2]&p[3]) << i
				}
			}
		}
		if bad := mask &^ d.lo; bad != 0 {
			w.loadedFrom(m.dst+k, bad, r.name, r.base, k)
		} else if bad := mask &^ d.hi; bad != 0 && m.size >= 4 {
			w.loadedFrom(m.dst+k, bad, r.name, r.base, k)
		}
		w.loaded(m, m.dst+k, d, mask)
	}
}

// allOnes reports whether every byte of p is 1.
func allOnes(p []byte) bool {
	for len(p) >= 8 {
		if binary.LittleEndian.Uint64(p) != 0x0101010101010101 {
			return false
		}
		p = p[8:]
	}
	for _, b := range p {
		if b != 1 {
			return false
		}
	}
	return true
}

// loaded sets the state of a loaded register, or of its half.
func (w *wave) loaded(m *memOp, row int32, d halves, mask uint64) {
	h := &w.shadow.v[row]
	switch {
	case m.part == partLo:
		h.lo = h.lo&^mask | d.lo&mask
	case m.part == partHi:
		h.hi = h.hi&^mask | d.lo&mask
	default:
		if m.size < 4 && !m.signed {
			d.hi = ^uint64(0)
		}
		h.lo = h.lo&^mask | d.lo&mask
		h.hi = h.hi&^mask | d.hi&mask
	}
}

// stored returns the state of the k-th dword that m stores: of its low and
// its high 16 bits in memory.
func (w *wave) stored(m *memOp, k int32) halves {
	h := w.shadow.v[m.data+k]
	if m.size >= 4 {
		return h
	}
	if m.part == partHi {
		h.lo = h.hi
	}
	h.hi = ^uint64(0)
	return h
}

// storeShadow sets the state of memory stored to.
func (g *group) storeShadow(w *wave, o *op, r *region, mask uint64, seq bool) {
	m := o.mem
	if seq {
		ok := mask
		for k := range m.rowsOf() {
			h := w.stored(m, k)
			ok &= h.lo & h.hi
		}
		if ok == mask {
			if r.def != nil {
				g.markDefined(m, r, mask, true)
			}
			return
		}
	}
	for k := range m.rowsOf() {
		h := w.stored(m, k)
		if bad := mask &^ (h.lo & h.hi); bad != 0 {
			if r.space == "lds" {
				g.storeBytes(m, r, mask, k, h)
				continue
			}
			g.undefinedStore(w, o, r, bad)
		}
		if r.def != nil {
			g.markDword(m, r, mask, k)
		}
	}
}

// undefinedStore notes that the lanes of bad store values to r that nobody
// wrote.
func (g *group) undefinedStore(w *wave, o *op, r *region, bad uint64) {
	key := findingKey{check: gpu.Uninitialised, space: r.space, access: o.mem.fold.String(), buffer: r}
	for ; bad != 0; bad &= bad - 1 {
		i := bits.TrailingZeros64(bad) & 63
		g.note(w, o, i, key, int64(g.ea[i]-r.base), o.mem.size, func(f *gpu.Finding) {
			f.Detail = "the value derives from what nobody wrote; " + w.describe(w.source(o))
		})
	}
}

// storeBytes sets the state of the k-th dwords by byte.
func (g *group) storeBytes(m *memOp, r *region, mask uint64, k int32, h halves) {
	n := min(m.size, 4)
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		p := r.def[g.ea[i]-r.base+uint64(4*k):][:n]
		for b := range p {
			if b < 2 {
				p[b] = byte(h.lo >> i & 1)
			} else {
				p[b] = byte(h.hi >> i & 1)
			}
		}
	}
}

// markDword marks the bytes of the k-th dwords as written.
func (g *group) markDword(m *memOp, r *region, mask uint64, k int32) {
	if m.size < 4 {
		for x := mask; x != 0; x &= x - 1 {
			off := g.ea[bits.TrailingZeros64(x)&63] - r.base
			r.def[off] = 1
			if m.size == 2 {
				r.def[off+1] = 1
			}
		}
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		off := g.ea[bits.TrailingZeros64(x)&63] - r.base + uint64(4*k)
		p := (*[4]byte)(r.def[off:])
		*p = [4]byte{1, 1, 1, 1}
	}
}

// markDefined marks the bytes of a store as written.
func (g *group) markDefined(m *memOp, r *region, mask uint64, seq bool) {
	if seq {
		off, n := g.span(m, r, mask)
		p := r.def[off : off+n]
		for len(p) >= 8 {
			binary.LittleEndian.PutUint64(p, 0x0101010101010101)
			p = p[8:]
		}
		for i := range p {
			p[i] = 1
		}
		return
	}
	for k := range m.rowsOf() {
		g.markDword(m, r, mask, k)
	}
}

// atomicShadow sets the state of an atomic's memory and result.
func (g *group) atomicShadow(w *wave, o *op, r *region, i int, off uint64) {
	m := o.mem
	lane := uint64(1) << i
	size := m.atom.size
	operand := true
	data := func(row int32) {
		if row < 0 {
			return
		}
		for k := range int32(size / 4) {
			h := w.shadow.v[row+k]
			operand = operand && h.lo&h.hi&lane != 0
		}
	}
	data(m.data)
	if m.atom.cas {
		if m.data2 >= 0 {
			data(m.data2)
		} else {
			data(m.data + int32(size/4))
		}
	}
	memory := r.defined(off, size)
	key := findingKey{check: gpu.Uninitialised, space: r.space, access: "atomic", buffer: r}
	switch {
	case r.space != "lds" && r.space != "scratch" && !memory:
		g.note(w, o, i, key, int64(off), size, func(f *gpu.Finding) { f.Detail = "the memory was never written before" })
	case r.space != "lds" && r.space != "scratch" && !operand:
		g.undefinedStore(w, o, r, lane)
	}
	result := halves{}
	if memory {
		result = allDefined
	}
	if m.dst >= 0 {
		for k := range int32(size / 4) {
			w.setShadow(m.dst+k, result, lane)
		}
	}
	if r.def != nil {
		v := byte(1)
		if (r.space == "lds" || r.space == "scratch") && !(operand && (memory || m.atom.swap)) {
			v = 0
		}
		for k := range size {
			r.def[off+uint64(k)] = v
		}
	}
	if r.space != "scratch" {
		g.raceAtomic(w, o, r, i, off, size)
	}
}

func (g *group) loadScratchShadow(w *wave, m *memOp, mask uint64) {
	s := &w.scratch
	for k := range m.rowsOf() {
		var d halves
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			p := s.def[int(g.ea[i])+4*int(k):]
			switch m.size {
			case 1:
				d.lo |= p[0] & (1 << i)
				d.hi |= p[0] & (1 << i)
			case 2:
				d.lo |= p[0] & p[1] & (1 << i)
				d.hi |= p[0] & p[1] & (1 << i)
			default:
				d.lo |= p[0] & p[1] & (1 << i)
				d.hi |= p[2] & p[3] & (1 << i)
			}
		}
		if bad := mask &^ (d.lo & d.hi); bad != 0 {
			w.loadedFrom(m.dst+k, bad, "scratch", 0, k)
		}
		w.loaded(m, m.dst+k, d, mask)
	}
}

func (g *group) storeScratchShadow(w *wave, m *memOp, mask uint64) {
	s := &w.scratch
	n := min(m.size, 4)
	for k := range m.rowsOf() {
		h := w.stored(m, k)
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			p := s.def[int(g.ea[i])+4*int(k):][:n]
			for b := range p {
				v := h.lo
				if b >= 2 {
					v = h.hi
				}
				p[b] = p[b]&^(1<<i) | v&(1<<i)
			}
		}
	}
}
