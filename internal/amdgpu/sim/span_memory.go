package sim

import (
	"fmt"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Loads and stores in spans. What a span asks of registers it asks of those
// that hold addresses and what is stored too. Memory it cannot ask before:
// where a load finds bytes that nobody wrote, what follows it in the span
// executes one by one.
//
// Most memory instructions of most kernels do what they did a moment ago, a
// bit further on: all lanes are active, and those of a quarter access one
// element, or one after another, of the same region. For these there are forms
// (genuops/memory.go). What such a form needs to know of the region is in a
// site, one for each instruction of a unit and goroutine, which the handlers in
// Go fill in. A form does all that a handler does: it takes the addresses apart
// and holds them to the region and to their alignment, moves the data, counts
// lines, looks for bytes that nobody wrote, marks those written, and keeps the
// records of races. Whatever it cannot, it leaves untouched and stops.

// A site is a region as a memory instruction's form accesses it. The zero
// value has none, and every form stops there.
type site struct {
	data   *byte
	def    *byte       // to look at or to mark, nil for neither
	chunks **raceChunk // records of races, nil where they do not matter
	base   uint64      // address
	same   uint64      // one past the highest offset of an element
	run    uint64      // one past the highest offset of as many in a row as a quarter, for a store a wave, has lanes
	others uint32      // all ones where work-groups share the region
	_      uint32
}

// A memCount counts what forms of global memory access, as group.counts does.
type memCount struct {
	bytes, lines, least int64
}

// memory takes a load or store of global memory or LDS by an address in
// VGPRs.
func (b *spanBuilder) memory(o *op) bool {
	m := o.mem
	if m.kind > memStore || m.addr.kind != srcRow || m.base.kind != srcNone && m.base.kind != srcSGPR || m.dst == tmpDPP {
		return false
	}
	switch o.in.Enc {
	case isa.GLOBAL, isa.DS:
	default:
		return false
	}
	if m.ds != nil && m.ds.second != nil && m.overwritesAddress() {
		return false
	}
	if m.ds == nil || m.ds.second == nil {
		b.access(o, slowUop{op: o, run: o.run})
		return true
	}
	b.access(o, slowUop{op: o, run: dsFirst, rest: m.ds.second})
	b.access(m.ds.second, slowUop{op: m.ds.second, run: dsSecond})
	return true
}

// overwritesAddress reports whether a first result goes to the register of
// the address.
func (m *memOp) overwritesAddress() bool {
	return m.dst >= 0 && m.addr.reg >= m.dst && m.addr.reg < m.dst+int32(m.size/4)
}

// needMemory notes what an access reads and writes.
func (b *spanBuilder) needMemory(m *memOp) {
	need := func(p partRow) {
		if k := rowIndex(b.setRows, p.row); k >= 0 {
			p.lo, p.hi = p.lo && !b.setRows[k].lo, p.hi && !b.setRows[k].hi
		}
		if p.lo || p.hi {
			b.rows = addPart(b.rows, p)
		}
	}
	need(partRow{m.addr.reg, true, true})
	if m.wide {
		need(partRow{m.addr.reg + 1, true, true})
	}
	if m.base.kind == srcSGPR {
		b.needScalar(m.base.reg, 2)
	}
	whole := m.size >= 4
	for k := range m.rowsOf() {
		if m.kind == memStore {
			need(partRow{m.data + k, whole || m.part != partHi, whole || m.part == partHi})
		} else {
			b.setRows = addPart(b.setRows, partRow{m.dst + k, m.part != partHi, m.part != partLo})
		}
	}
}

// access takes one access, o being the second half of an instruction that is
// two.
func (b *spanBuilder) access(o *op, x slowUop) {
	m := o.mem
	b.needMemory(m)
	u := uop{a: 256 * m.addr.reg, c: int32(m.offset), slow: int32(len(b.slow)), m: int32(unsafe.Sizeof(site{})) * b.u.sites}
	x.next, x.at, x.site = int32(len(b.uops))+1, b.at, b.u.sites
	b.u.sites++
	b.slow = append(b.slow, x)
	name := "load"
	u.d = 256 * m.dst
	if m.kind == memStore {
		name = "store"
		u.d = 256 * m.data
		b.stores = append(b.stores, o)
	}
	switch {
	case m.ds != nil:
		name += "L"
		u.c = int32(m.ds.offset)
		if m.ds.second == o {
			u.c = int32(m.ds.off[1])
		} else if m.ds.second != nil {
			u.c = int32(m.ds.off[0])
		}
	case m.wide:
		name += "W"
	default:
		name += "G"
	}
	form, ok := formNumbers[fmt.Sprint(name, m.size/4)]
	if m.size%4 != 0 || m.wide && m.base.kind != srcNone {
		ok = false
	}
	if m.base.kind == srcSGPR {
		u.b = scalarOffset(m.base.reg)
	} else {
		// Nothing is added: a constant.
		zero, fits := b.constant(0, true)
		ok = ok && fits
		u.b = zero
	}
	if !ok {
		u.code = int32(formNumbers["onlyGo"])
		b.uops = append(b.uops, u)
		return
	}
	b.vectors++
	b.emit(form, u)
}

// dsFirst and dsSecond execute the accesses of an instruction that has two.
func dsFirst(w *wave, o *op)  { w.dsHalf(o, uint32(o.mem.ds.off[0])) }
func dsSecond(w *wave, o *op) { w.dsHalf(o, uint32(o.mem.ds.off[1])) }

func (w *wave) dsHalf(o *op, off uint32) {
	if w.exec == 0 {
		return
	}
	w.dsAt(o, w.row(&o.mem.addr), off)
}

// runSlow executes a memory instruction of s in Go, and what follows it where
// that has to go on one by one: then it reports false.
func (w *wave) runSlow(s *span, x *slowUop) bool {
	g, o := w.g, x.op
	w.at = x.at
	g.hit = nil
	x.run(w, o)
	if g.hit != nil {
		g.learn(&g.sitesOf(w.unit)[x.site], w, o.mem, g.hit)
	}
	if w.loadedDefined(o) {
		return true
	}
	if x.rest != nil {
		dsSecond(w, x.rest)
	}
	w.finishSpan(s, x.at+1)
	return false
}

// loadedDefined reports whether what o, a memory instruction, loaded was
// written.
func (w *wave) loadedDefined(o *op) bool {
	m := o.mem
	if !w.g.checks || m.kind != memLoad {
		return true
	}
	if m.ds != nil && m.ds.second != nil && !w.rowsDefined(m.ds.second.mem) {
		return false
	}
	return w.rowsDefined(m)
}

func (w *wave) rowsDefined(m *memOp) bool {
	for k := range m.rowsOf() {
		h := w.shadow.v[m.dst+k]
		if m.part != partHi && w.exec&^h.lo != 0 || m.part != partLo && w.exec&^h.hi != 0 {
			return false
		}
	}
	return true
}

// enter makes u the unit whose ops the wave executes.
func (w *wave) enter(u *unit) {
	w.unit = u
	copy(w.consts[:], u.consts)
	w.doubt()
	if n := int(u.spans); cap(w.passes) < n {
		w.passes = make([]spanPass, n)
	} else {
		w.passes = w.passes[:n]
	}
	w.sites = nil
	if u.sites > 0 {
		w.sites = &w.g.sitesOf(u)[0]
	}
}

// sitesOf returns the sites of a unit.
func (g *group) sitesOf(u *unit) []site {
	s := g.sites[u]
	if s == nil {
		s = make([]site, u.sites)
		if g.sites == nil {
			g.sites = map[*unit][]site{}
		}
		g.sites[u] = s
	}
	return s
}

// learn makes x the site of r for m, whose handler has accessed r without
// anything out of the ordinary.
func (g *group) learn(x *site, w *wave, m *memOp, r *region) {
	elements := quarterLanes
	if m.kind == memStore {
		elements = w.n
	}
	*x = site{
		data: &r.data[0], base: r.base,
		same: uint64(max(0, len(r.data)-m.size+1)), run: uint64(max(0, len(r.data)-elements*m.size+1)),
		others: ^uint32(0),
	}
	if r == &g.lds.region {
		x.others = 0
	}
	if r.def != nil && (g.checks || m.kind == memStore) {
		x.def = &r.def[0]
	}
	if g.checks {
		if s := g.races(r); s != nil {
			x.chunks = &s.chunks[0]
		}
	}
}

// count adds what forms counted to the group's counters.
func (w *wave) count() {
	c := &w.g.counts
	c.GlobalBytes += w.mem.bytes
	c.GlobalLines += w.mem.lines
	c.MinLines += w.mem.least
	w.mem = memCount{}
}
