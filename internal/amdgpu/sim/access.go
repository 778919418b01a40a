package sim

import (
	"encoding/binary"
	"math/bits"
)

// Most memory instructions of most kernels are the same few shapes: all
// lanes of a row of the block read one address, or one element after
// another. An access is what an instruction asks of one region, taken apart
// by quarters of 16 lanes, a row of which has one of these shapes. From it
// follow, without a look at each lane, the bytes to move, those to check for
// being written, the records of races to compare, the lines touched and the
// banks of LDS. Whatever is out of the ordinary, an address outside the
// region, one that nobody wrote, a misaligned one, is left to the general
// path, which takes lane by lane (group.global, group.shared).

// A shape is how the active lanes of a quarter access memory.
type shape uint8

const (
	shapeNone  shape = iota // no lane is active
	shapeSame               // all at one offset
	shapeRun                // lane after lane, one element apart
	shapeMixed              // in any other way
)

// quarters are the parts of 16 lanes that a wave has at most.
const (
	quarters     = 4
	quarterLanes = 16
)

// An access is where in a region the lanes of an instruction access it.
type access struct {
	off   lanes            // by lane, those of inactive lanes are arbitrary
	at    [quarters]uint32 // shapeSame: the offset. shapeRun: that of the quarter's lane 0, which need not be active
	shape [quarters]shape
	size  uint32 // bytes of an element
	mask  uint64
	bits  uint32 // all offsets of active lanes, or-ed
	outer uint32 // of shapeAccess: zero where all active lanes are inside

	// Where the active lanes of each quarter access one range of bytes without
	// gaps, ranges is set and these are the ranges, from from to before to.
	// One that is equal to that of the quarter before is left out.
	ranges   bool
	n        int
	from, to [quarters]uint32
}

// bounds say which addresses are inside a region: offsets are lo+delta, from
// low on, span of them, and the high dword is hi.
type bounds struct {
	hi, delta, low, span uint32
}

// shapeAccessGo finds the offsets and shapes of a.mask's lanes. hi is nil
// for addresses of 32 bits. It reports whether all are inside.
func shapeAccessGo(a *access, lo, hi *lanes, b *bounds) {
	a.bits, a.outer = 0, 0
	for q := range quarters {
		m := uint32(a.mask >> (16 * q) & 0xffff)
		if m == 0 {
			a.shape[q] = shapeNone
			continue
		}
		first := 16*q + bits.TrailingZeros32(m)
		same, run := true, true
		at := lo[first] + b.delta
		start := at - uint32(first-16*q)*a.size
		for k := range 16 {
			i := 16*q + k
			off := lo[i] + b.delta
			a.off[i] = off
			if m>>k&1 == 0 {
				continue
			}
			if off-b.low > b.span || hi != nil && hi[i] != b.hi {
				a.outer = 1
			}
			a.bits |= off
			same = same && off == at
			run = run && off == start+uint32(k)*a.size
		}
		switch {
		case same:
			a.shape[q], a.at[q] = shapeSame, at
		case run:
			a.shape[q], a.at[q] = shapeRun, start
		default:
			a.shape[q] = shapeMixed
		}
	}
}

// findRanges finds the ranges.
func (a *access) findRanges() {
	a.ranges, a.n = true, 0
	for q := 0; q < quarters && a.mask>>(16*q) != 0; q++ {
		var from, to uint32
		switch m := a.lanes(q); a.shape[q] {
		case shapeNone:
			continue
		case shapeSame:
			from = a.at[q]
			to = from + a.size
		case shapeRun:
			from, to = a.at[q], a.at[q]+16*a.size
			if m != 0xffff {
				if !solid(m) {
					a.ranges = false
					return
				}
				from, to = a.interval(q)
			}
		default:
			a.ranges = false
			return
		}
		if n := a.n; n > 0 && from == a.from[n-1] && to == a.to[n-1] {
			continue
		}
		a.from[a.n&(quarters-1)], a.to[a.n&(quarters-1)] = from, to
		a.n++
	}
}

// lanes are the active lanes of quarter q.
func (a *access) lanes(q int) uint32 { return uint32(a.mask>>(16*q)) & 0xffff }

// interval returns the bytes from the first to before the last that quarter
// q, same or a run, accesses.
func (a *access) interval(q int) (from, to uint32) {
	from = a.at[q]
	if a.shape[q] == shapeSame {
		return from, from + a.size
	}
	m := a.lanes(q)
	return from + uint32(bits.TrailingZeros32(m))*a.size, from + uint32(bits.Len32(m))*a.size
}

// solid reports whether the lanes of m, a quarter's, have no gap.
func solid(m uint32) bool {
	m >>= uint(bits.TrailingZeros32(m)) & 31
	return m&(m+1) == 0
}

// inGlobal takes apart an access to global memory at the addresses of lo and
// hi, nil for none, plus base. It returns nil where not all lanes are inside
// one region.
func (g *group) inGlobal(m *memOp, mask uint64, lo, hi *lanes, base uint64) *region {
	first := bits.TrailingZeros64(mask) & 63
	var b bounds
	if hi != nil {
		b.hi = hi[first]
		base += uint64(b.hi) << 32
	}
	r := g.mem.find(uint64(lo[first]) + base)
	if r == nil || len(r.data) < m.size || len(r.data) > 1<<31 {
		return nil
	}
	// Offsets are lo+delta, without a wrap around 1<<32.
	delta, last := int64(base-r.base), int64(len(r.data)-m.size)
	if delta <= -1<<32 || delta > last {
		return nil
	}
	low := max(delta, 0)
	last = min(last, 1<<32-1+delta)
	if low > last {
		return nil
	}
	b.delta, b.low, b.span = uint32(delta), uint32(low), uint32(last-low)
	if !g.shape(m, mask, lo, hi, &b) {
		return nil
	}
	return r
}

// inShared takes apart an access to LDS at the addresses of lo plus off.
func (g *group) inShared(m *memOp, mask uint64, lo *lanes, off uint32) bool {
	n := len(g.lds.data)
	if n < m.size {
		return false
	}
	return g.shape(m, mask, lo, nil, &bounds{delta: off, span: uint32(n - m.size)})
}

// shape takes an access apart into g.acc and reports whether it is inside
// the bounds and aligned.
func (g *group) shape(m *memOp, mask uint64, lo, hi *lanes, b *bounds) bool {
	a := &g.acc
	a.size, a.mask = uint32(m.size), mask
	shapeAccess(a, lo, hi, b)
	if a.outer != 0 || g.checks && m.whole && a.bits&3 != 0 {
		return false
	}
	a.findRanges()
	return true
}

// globalFast executes a load or store whose lanes are all inside one region,
// and reports whether it was one.
func (g *group) globalFast(w *wave, o *op, lo, hi *lanes, base uint64) bool {
	m := o.mem
	if m.kind > memStore || g.slow {
		return false
	}
	if g.checks && (g.exact != nil || !w.addressDefined(o, w.exec)) {
		return false
	}
	r := g.inGlobal(m, w.exec, lo, hi, base)
	if r == nil {
		return false
	}
	if m.kind == memLoad {
		g.countLinesFast()
		g.loadFast(w, o, r)
		g.hit = r
		return true
	}
	if r.readOnly || !g.acc.apart() {
		return false
	}
	if g.checks {
		g.effect(w, o)
	}
	g.countLinesFast()
	g.storeFast(w, o, r)
	g.hit = r
	return true
}

// sharedFast is globalFast for LDS.
func (g *group) sharedFast(w *wave, o *op, lo *lanes, off uint32) bool {
	m := o.mem
	if m.kind > memStore || g.slow {
		return false
	}
	if g.checks && (g.exact != nil || !w.addressDefined(o, w.exec)) {
		return false
	}
	if !g.inShared(m, w.exec, lo, off) || m.kind == memStore && !g.acc.apart() {
		return false
	}
	if g.checks && m.kind == memStore {
		g.effect(w, o)
	}
	if !g.noConflicts(w) {
		g.fillAddresses(0)
		g.countConflicts(w, m, w.exec)
	}
	if m.kind == memLoad {
		g.loadFast(w, o, &g.lds.region)
	} else {
		g.storeFast(w, o, &g.lds.region)
	}
	g.hit = &g.lds.region
	return true
}

// addressDefined reports whether the address registers of o are defined in
// the lanes of mask.
func (w *wave) addressDefined(o *op, mask uint64) bool {
	m := o.mem
	if s := &m.addr; s.kind == srcRow {
		h := w.shadow.v[s.reg]
		ok := h.lo & h.hi
		if m.wide {
			h = w.shadow.v[s.reg+1]
			ok &= h.lo & h.hi
		}
		if mask&^ok != 0 {
			return false
		}
	}
	return m.base.kind != srcSGPR || w.shadow.s[m.base.reg]&w.shadow.s[m.base.reg+1] == ^uint32(0)
}

// fillAddresses puts the addresses of the access at hand into g.ea, for the
// general path.
func (g *group) fillAddresses(base uint64) {
	for i, off := range &g.acc.off {
		g.ea[i] = base + uint64(off)
	}
}

// apart reports whether no two lanes of a store access the same byte, as
// far as shapes tell.
func (a *access) apart() bool {
	end := uint32(0)
	for q := range quarters {
		switch a.shape[q] {
		case shapeNone:
			continue
		case shapeMixed:
			return false
		case shapeSame:
			if m := a.lanes(q); m&(m-1) != 0 {
				return false
			}
		}
		from, to := a.interval(q)
		if from < end {
			return false
		}
		end = to
	}
	return true
}

// countLinesFast is countLines for the access at hand.
func (g *group) countLinesFast() {
	a := &g.acc
	n := bits.OnesCount64(a.mask) * int(a.size)
	g.counts.GlobalBytes += int64(n)
	lines := a.lines()
	g.counts.GlobalLines += lines
	g.counts.MinLines += min(lines, int64((n+63)/64))
}

// lines counts the distinct 64-byte lines of an access.
func (a *access) lines() (n int64) {
	if !a.ranges {
		var ea [64]uint64
		for i, off := range &a.off {
			ea[i] = uint64(off)
		}
		return countDistinctLines(&ea, a.mask, uint64(a.size))
	}
	var from, end [quarters]uint32 // in order
	for k := range a.n {
		f, t := a.from[k]>>6, (a.to[k]-1)>>6+1
		j := k
		for ; j > 0 && from[j-1] > f; j-- {
			from[j], end[j] = from[j-1], end[j-1]
		}
		from[j], end[j] = f, t
	}
	next := uint32(0)
	for j := range a.n {
		if f := max(from[j], next); end[j] > f {
			n += int64(end[j] - f)
			next = end[j]
		}
	}
	return n
}

// loadFast loads the access at hand from r.
func (g *group) loadFast(w *wave, o *op, r *region) {
	m, a := o.mem, &g.acc
	if m.size >= 4 {
		for k := range int32(m.size / 4) {
			loadDwords(&w.rows[m.dst+k], r.data, a, 4*uint32(k))
		}
	} else {
		a.loadSmall(&w.rows[m.dst], r.data, m)
	}
	if !g.checks {
		return
	}
	if r.def == nil || a.written(r.def) {
		for k := range m.rowsOf() {
			w.loaded(m, m.dst+k, allDefined, a.mask)
		}
	} else {
		g.fillAddresses(r.base)
		g.loadShadow(w, m, r, a.mask, false)
	}
	g.raceFast(w, r, raceRead)
}

// loadDwordsGo loads a dword for each lane, at its offset plus more.
func loadDwordsGo(d *lanes, data []byte, a *access, more uint32) {
	le := binary.LittleEndian
	for q := range quarters {
		m := a.lanes(q)
		row := (*[16]uint32)(d[16*q:])
		switch a.shape[q] {
		case shapeSame:
			v := le.Uint32(data[a.at[q]+more:])
			if m == 0xffff {
				for k := range row {
					row[k] = v
				}
				continue
			}
			for ; m != 0; m &= m - 1 {
				row[bits.TrailingZeros32(m)&15] = v
			}
		case shapeRun:
			if m == 0xffff && a.size == 4 {
				p := data[a.at[q]+more:][:64]
				for k := range row {
					row[k] = le.Uint32(p[4*k:])
				}
				continue
			}
			fallthrough
		case shapeMixed:
			for ; m != 0; m &= m - 1 {
				k := bits.TrailingZeros32(m) & 15
				row[k] = le.Uint32(data[a.off[16*q+k]+more:])
			}
		}
	}
}

// loadSmall loads bytes or halves.
func (a *access) loadSmall(d *lanes, data []byte, m *memOp) {
	le := binary.LittleEndian
	for x := a.mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		v := uint32(data[a.off[i]])
		if m.size == 2 {
			v = uint32(le.Uint16(data[a.off[i]:]))
		}
		d[i] = m.extend(v, d[i])
	}
}

// written reports whether all bytes of the access were written, def having
// 1 for each that was.
func (a *access) written(def []byte) bool {
	if a.ranges {
		for k := range a.n {
			if !allOnes(def[a.from[k]:a.to[k]]) {
				return false
			}
		}
		return true
	}
	for m := a.mask; m != 0; m &= m - 1 {
		off := a.off[bits.TrailingZeros64(m)&63]
		if !allOnes(def[off : off+a.size]) {
			return false
		}
	}
	return true
}

// storeFast stores the access at hand, whose lanes are apart, to r.
func (g *group) storeFast(w *wave, o *op, r *region) {
	m, a := o.mem, &g.acc
	g.touch(r)
	if g.checks {
		ok := a.mask
		for k := range m.rowsOf() {
			h := w.stored(m, k)
			ok &= h.lo & h.hi
		}
		if ok == a.mask {
			if r.def != nil {
				a.markWritten(r.def)
			}
		} else {
			g.fillAddresses(r.base)
			g.storeShadow(w, o, r, a.mask, false)
		}
		g.raceFast(w, r, raceWrite)
	} else if r.def != nil {
		a.markWritten(r.def)
	}
	if m.size >= 4 {
		for k := range int32(m.size / 4) {
			storeDwords(&w.rows[m.data+k], r.data, a, 4*uint32(k))
		}
		return
	}
	shift := uint(0)
	if m.part == partHi {
		shift = 16
	}
	s := &w.rows[m.data]
	for x := a.mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		off := a.off[i]
		if m.size == 1 {
			r.data[off] = byte(s[i] >> shift)
		} else {
			binary.LittleEndian.PutUint16(r.data[off:], uint16(s[i]>>shift))
		}
	}
}

// storeDwordsGo stores a dword of each lane, at its offset plus more.
func storeDwordsGo(s *lanes, data []byte, a *access, more uint32) {
	le := binary.LittleEndian
	for q := range quarters {
		m := a.lanes(q)
		row := (*[16]uint32)(s[16*q:])
		if m == 0xffff && a.size == 4 && a.shape[q] == shapeRun {
			p := data[a.at[q]+more:][:64]
			for k, v := range row {
				le.PutUint32(p[4*k:], v)
			}
			continue
		}
		for ; m != 0; m &= m - 1 {
			k := bits.TrailingZeros32(m) & 15
			le.PutUint32(data[a.off[16*q+k]+more:], row[k])
		}
	}
}

// markWritten marks the bytes of a store.
func (a *access) markWritten(def []byte) {
	if a.ranges {
		for k := range a.n {
			setOnes(def[a.from[k]:a.to[k]])
		}
		return
	}
	for m := a.mask; m != 0; m &= m - 1 {
		off := a.off[bits.TrailingZeros64(m)&63]
		setOnes(def[off : off+a.size])
	}
}

// setOnes sets every byte of p to 1.
func setOnes(p []byte) {
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, 0x0101010101010101)
		p = p[8:]
	}
	for i := range p {
		p[i] = 1
	}
}

// row reports whether all lanes of quarter q are active and access one
// element after another.
func (a *access) row(q int) bool { return a.shape[q] == shapeRun && a.lanes(q) == 0xffff }

// noConflicts reports whether shapes tell that no bank of LDS is asked for
// two dwords by 32 lanes: see countConflicts.
func (g *group) noConflicts(w *wave) bool {
	a := &g.acc
	if !a.ranges {
		return false
	}
	lo, hi, most := a.from[0]>>2, uint32(0), uint32(0)
	for k := range a.n {
		f, t := a.from[k]>>2, (a.to[k]+3)>>2
		lo, hi, most = min(lo, f), max(hi, t), max(most, t-f)
	}
	switch {
	case hi-lo <= 32: // dwords within 32 share no bank
		return true
	case most <= 32 && a.size >= 8:
		// No bank is asked more than twice, by one quarter and by the other,
		// and an access of more than a dword takes two passes anyway.
		return true
	}
	for q := 0; q < w.n/16; q += 2 {
		if a.row(q) && a.row(q+1) && a.at[q+1] == a.at[q]+16*a.size && a.at[q]&3 == 0 {
			continue // 32 elements in a row ask each bank equally often
		}
		if most > 32 {
			return false
		}
		if a.shape[q] == shapeNone || a.shape[q+1] == shapeNone {
			continue
		}
		var banks, from, to [2]uint32
		for k := range 2 {
			f, t := a.interval(q + k)
			from[k], to[k] = f>>2, (t+3)>>2
			banks[k] = bits.RotateLeft32(uint32(uint64(1)<<(to[k]-from[k])-1), int(from[k]&31))
		}
		if banks[0]&banks[1] != 0 && max(to[0], to[1])-min(from[0], from[1]) > 32 {
			return false
		}
	}
	return true
}
