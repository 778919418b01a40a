package sim

import (
	"encoding/binary"
	"math/bits"
)

// poison is what a load from outside a buffer gives, and what registers
// hold before they are written: a NaN as f32, f16, bf16 and as the high
// half of an f64, and far too large an index.
const poison = 0x7ff57ff5

// globalAccess executes global_load, global_store and global_atomic.
func globalAccess(w *wave, o *op) {
	if w.exec == 0 || w.globalShaped(o) {
		return
	}
	w.flatAddresses(o)
	w.g.global(w, o, w.exec)
}

// globalShaped executes a global_load or global_store by the shapes of its
// addresses, and reports whether it could.
func (w *wave) globalShaped(o *op) bool {
	m := o.mem
	if m.addr.kind != srcRow {
		return false
	}
	base := uint64(m.offset)
	if m.base.kind != srcNone {
		base += w.s64(&m.base)
	}
	lo := &w.rows[m.addr.reg]
	if m.wide {
		return w.g.globalFast(w, o, lo, &w.rows[m.addr.reg+1], base)
	}
	return w.g.globalFast(w, o, lo, nil, base)
}

// flatAddresses computes the addresses of a flat or global instruction.
func (w *wave) flatAddresses(o *op) {
	m, ea := o.mem, &w.g.ea
	off := uint64(m.offset)
	if m.base.kind != srcNone {
		off += w.s64(&m.base)
	}
	switch {
	case m.tid:
		for i := range ea[:w.n] {
			ea[i] = off + 4*uint64(i)
		}
	case m.addr.kind == srcNone:
		for i := range ea[:w.n] {
			ea[i] = off
		}
	case m.wide:
		lo, hi := w.row(&m.addr), w.hi(&m.addr)
		for i := range ea[:w.n] {
			ea[i] = (uint64(lo[i]) | uint64(hi[i])<<32) + off
		}
	default:
		lo := w.row(&m.addr)
		for i := range ea[:w.n] {
			ea[i] = uint64(lo[i]) + off
		}
	}
}

// flatAccess executes flat_*: lanes may address LDS, scratch and global
// memory in one instruction.
func flatAccess(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	w.flatAddresses(o)
	g := w.g
	var shared, private uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		switch g.ea[i] >> 32 {
		case sharedBase >> 32:
			shared |= 1 << i
			g.ea[i] -= sharedBase
		case privateBase >> 32:
			private |= 1 << i
			g.ea[i] -= privateBase
		}
	}
	if rest := w.exec &^ (shared | private); rest != 0 {
		g.global(w, o, rest)
	}
	if shared != 0 {
		g.sharedFlat(w, o, shared)
	}
	if private != 0 {
		g.private(w, o, private)
	}
}

// scratchAccess executes scratch_*, whose addresses are offsets into the
// lane's own scratch.
func scratchAccess(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	m, ea := o.mem, &w.g.ea
	off := uint32(m.offset)
	if m.base.kind != srcNone {
		off += w.s32(&m.base)
	}
	if m.addr.kind == srcNone {
		for i := range ea[:w.n] {
			ea[i] = uint64(off)
		}
	} else {
		lo := w.row(&m.addr)
		for i := range ea[:w.n] {
			ea[i] = uint64(lo[i] + off)
		}
	}
	w.g.private(w, o, w.exec)
}

// bufferAccess executes buffer_*. What compilers use it for is scratch: a
// swizzled descriptor that adds the lane's number to the index. Others are
// taken as raw or structured buffers, with the hardware's range check: a
// load outside gives zero, a store is dropped.
func bufferAccess(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	g, m := w.g, o.mem
	r := w.s[m.rsrc : m.rsrc+4]
	base := uint64(r[0]) | uint64(r[1]&0xffff)<<32
	soffset := uint64(w.s32(&m.base))
	if m.base.kind == srcNone {
		soffset = 0
	}
	if r[3]&resourceAddTID != 0 && r[1]&resourceSwizzle != 0 {
		if m.idxen {
			w.refuse(o, "an indexed access to scratch is not interpreted")
			return
		}
		// The unswizzled part counts in bytes of the wave, 64 or 32 lanes'
		// worth for each byte of a lane.
		start := base - g.l.stack.base + soffset
		n := uint64(w.n)
		var lo *lanes
		if m.offen {
			lo = w.row(&m.addr)
		}
		mask := w.exec
		for i := range g.ea[:w.n] {
			off := uint64(m.offset)
			if lo != nil {
				off = uint64(lo[i] + uint32(m.offset))
			}
			if start%(4*n) != 0 {
				w.refuse(o, "a scratch address that belongs to another lane is not interpreted")
				return
			}
			g.ea[i] = start/n + off
		}
		g.private(w, o, mask)
		return
	}
	stride := uint64(r[1] >> 16 & 0x3fff)
	records := uint64(r[2])
	if r[1]&resourceSwizzle != 0 {
		w.refuse(o, "a swizzled buffer is not interpreted")
		return
	}
	mask := w.exec
	var in uint64
	for i := range g.ea[:w.n] {
		var index, off uint64
		switch {
		case m.idxen && m.offen:
			index, off = uint64(w.row(&m.addr)[i]), uint64(w.hi(&m.addr)[i])
		case m.idxen:
			index = uint64(w.row(&m.addr)[i])
		case m.offen:
			off = uint64(w.row(&m.addr)[i])
		}
		off += uint64(m.offset)
		// The scalar offset counts in a raw buffer (AMD's "RDNA 2" ISA guide,
		// section on range checking).
		inside := off+soffset+uint64(m.size) <= records
		if stride != 0 {
			inside = index < records
			off += index * stride
		}
		if inside {
			in |= 1 << i
		}
		g.ea[i] = base + soffset + off
	}
	if out := mask &^ in; out != 0 && m.dst >= 0 {
		for k := range int32((m.size + 3) / 4) {
			d := &w.rows[m.dst+k]
			for x := out; x != 0; x &= x - 1 {
				i := bits.TrailingZeros64(x) & 63
				d[i] = m.extend(0, d[i])
			}
			w.define(m.dst+k, out)
		}
	}
	if mask &= in; mask != 0 {
		g.global(w, o, mask)
	}
}

// global executes an access to global memory by the lanes of mask, whose
// addresses are in g.ea.
func (g *group) global(w *wave, o *op, mask uint64) {
	m := o.mem
	if g.checks {
		g.checkAddress(w, o, mask)
		g.checkAlignment(w, o, nil, mask)
		if m.kind != memLoad {
			g.effect(w, o)
		}
	}
	seq := g.sequence(m, mask)
	g.countLines(m, mask, seq)
	r := g.within(m, mask, seq)
	switch {
	case r != nil && m.kind == memLoad:
		g.load(w, o, r, mask, seq)
		return
	case r != nil && m.kind == memStore && !r.readOnly:
		g.store(w, o, r, mask, seq)
		return
	}
	// Lane by lane: atomics, lanes in several regions, or outside.
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		lane := uint64(1) << i
		r := g.mem.find(g.ea[i])
		switch {
		case r == nil || !r.contains(g.ea[i], m.size):
			g.outOfBounds(w, o, i)
			g.poisonResult(w, m, i)
		case r.readOnly && m.kind != memLoad:
			g.outOfBounds(w, o, i)
			g.poisonResult(w, m, i)
		case m.kind == memLoad:
			g.load(w, o, r, lane, false)
		case m.kind == memStore:
			g.store(w, o, r, lane, false)
		default:
			g.atomicGlobal(w, o, r, i)
		}
	}
}

// poisonResult gives lane i of the destination the value of a load from
// nowhere.
func (g *group) poisonResult(w *wave, m *memOp, i int) {
	if m.dst < 0 {
		return
	}
	n := max(1, m.size/4)
	if m.kind == memAtomic {
		n = max(1, m.atom.size/4)
	}
	for k := range int32(n) {
		v := uint32(poison)
		switch {
		case m.part == partLo:
			v = w.rows[m.dst][i]&^0xffff | poison&0xffff
		case m.part == partHi:
			v = w.rows[m.dst][i]&0xffff | poison&^0xffff
		case m.size == 1:
			v = poison & 0xff
		case m.size == 2:
			v = poison & 0xffff
		}
		w.rows[m.dst+k][i] = v
		w.define(m.dst+k, 1<<i)
	}
}

// sequence reports whether the lanes of mask are the first ones and access
// one element after another: the case that most accesses are, and in which
// they are one access to a run of bytes.
func (g *group) sequence(m *memOp, mask uint64) bool {
	if mask == 0 || mask&(mask+1) != 0 {
		return false
	}
	next := g.ea[0]
	for _, a := range g.ea[:bits.Len64(mask)&127] {
		if a != next {
			return false
		}
		next += uint64(m.size)
	}
	return true
}

// span returns the offset in r, and the length, of a sequence of accesses.
func (g *group) span(m *memOp, r *region, mask uint64) (off, n uint64) {
	return g.ea[0] - r.base, uint64(bits.Len64(mask) * m.size)
}

// within returns the region that holds the accesses of all lanes of mask,
// nil where there is no one such region.
func (g *group) within(m *memOp, mask uint64, seq bool) *region {
	lo, hi := ^uint64(0), uint64(0)
	if seq {
		lo, hi = g.ea[0], g.ea[(bits.Len64(mask)-1)&63]
	} else if mask&(mask+1) == 0 { // lanes 0 to n
		n := bits.Len64(mask)
		for _, a := range g.ea[:n&127] {
			lo, hi = min(lo, a), max(hi, a)
		}
	} else {
		for x := mask; x != 0; x &= x - 1 {
			a := g.ea[bits.TrailingZeros64(x)&63]
			lo, hi = min(lo, a), max(hi, a)
		}
	}
	r := g.mem.find(lo)
	if r == nil || lo < r.base || hi-r.base > uint64(len(r.data)) || uint64(m.size) > uint64(len(r.data))-(hi-r.base) {
		return nil
	}
	return r
}

// load moves memory to registers, all lanes inside r.
func (g *group) load(w *wave, o *op, r *region, mask uint64, seq bool) {
	m, ea, data := o.mem, &g.ea, r.data
	le := binary.LittleEndian
	d := &w.rows[m.dst]
	switch m.size {
	case 4:
		if seq {
			off, n := g.span(m, r, mask)
			s := data[off : off+n]
			for i := range d {
				if len(s) < 4 {
					break
				}
				d[i] = le.Uint32(s)
				s = s[4:]
			}
			break
		}
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			d[i] = le.Uint32(data[ea[i]-r.base:])
		}
	case 1, 2:
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			off := ea[i] - r.base
			v := uint32(data[off])
			if m.size == 2 {
				v = uint32(le.Uint16(data[off:]))
			}
			d[i] = m.extend(v, d[i])
		}
	default:
		for k := range int32(m.size / 4) {
			d := &w.rows[m.dst+k]
			for x := mask; x != 0; x &= x - 1 {
				i := bits.TrailingZeros64(x) & 63
				d[i] = le.Uint32(data[ea[i]-r.base+uint64(k)*4:])
			}
		}
	}
	if g.checks {
		g.loadShadow(w, m, r, mask, seq)
		g.raceRead(w, o, r, mask, seq)
	}
}

// extend widens an 8- or 16-bit value as the instruction says, old being
// the register before.
func (m *memOp) extend(v, old uint32) uint32 {
	if m.signed {
		shift := uint(32 - 8*m.size)
		v = uint32(int32(v<<shift) >> shift)
	}
	switch m.part {
	case partLo:
		return old&^0xffff | v&0xffff
	case partHi:
		return old&0xffff | v<<16
	}
	return v
}

// store moves registers to memory, all lanes inside r. Where lanes store to
// one address the highest lane wins.
func (g *group) store(w *wave, o *op, r *region, mask uint64, seq bool) {
	m, ea := o.mem, &g.ea
	g.touch(r)
	if g.checks {
		g.storeShadow(w, o, r, mask, seq)
		g.raceWrite(w, o, r, mask, seq)
	} else if r.def != nil {
		g.markDefined(m, r, mask, seq)
	}
	data := r.data
	le := binary.LittleEndian
	s := &w.rows[m.data]
	switch m.size {
	case 4:
		if seq {
			off, n := g.span(m, r, mask)
			p := data[off : off+n]
			for i := range s {
				if len(p) < 4 {
					break
				}
				le.PutUint32(p, s[i])
				p = p[4:]
			}
			break
		}
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			le.PutUint32(data[ea[i]-r.base:], s[i])
		}
	case 1, 2:
		shift := uint(0)
		if m.part == partHi {
			shift = 16
		}
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			off := ea[i] - r.base
			if m.size == 1 {
				data[off] = byte(s[i] >> shift)
			} else {
				le.PutUint16(data[off:], uint16(s[i]>>shift))
			}
		}
	default:
		for k := range int32(m.size / 4) {
			s := &w.rows[m.data+k]
			for x := mask; x != 0; x &= x - 1 {
				i := bits.TrailingZeros64(x) & 63
				le.PutUint32(data[ea[i]-r.base+uint64(k)*4:], s[i])
			}
		}
	}
}

// countLines counts the bytes and the distinct 64-byte lines of one
// instruction.
func (g *group) countLines(m *memOp, mask uint64, seq bool) {
	size := uint64(m.size)
	n := uint64(bits.OnesCount64(mask))
	var lines int64
	if seq {
		first := g.ea[0]
		lines = int64((first+n*size-1)>>6-first>>6) + 1
	} else {
		lines = countDistinctLines(&g.ea, mask, size)
	}
	g.counts.GlobalBytes += int64(n * size)
	g.counts.GlobalLines += lines
	// Lanes that share bytes may need fewer lines than their bytes fill.
	g.counts.MinLines += min(lines, int64((n*size+63)/64))
}

// countDistinctLines counts the distinct 64-byte lines that lanes of mask
// access, size bytes at each address.
func countDistinctLines(ea *[64]uint64, mask, size uint64) int64 {
	var lines, prev int64 = 0, -1
	for x := mask; x != 0; x &= x - 1 {
		a := ea[bits.TrailingZeros64(x)&63]
		first, last := int64(a>>6), int64((a+size-1)>>6)
		if first < prev {
			return countUnsortedLines(ea, mask, size)
		}
		if first > prev {
			lines++
		}
		lines += last - first
		prev = last
	}
	return lines
}

// countUnsortedLines is countDistinctLines for addresses in any order. An
// element is no longer than a line, and so touches at most two.
func countUnsortedLines(ea *[64]uint64, mask, size uint64) (lines int64) {
	var table [256]uint64 // line plus one, hashed
	for x := mask; x != 0; x &= x - 1 {
		a := ea[bits.TrailingZeros64(x)&63]
		for l := a>>6 + 1; l <= (a+size-1)>>6+1; l++ {
			h := uint8(l * 0x9e3779b97f4a7c15 >> 56)
			for table[h] != l && table[h] != 0 {
				h++
			}
			if table[h] == 0 {
				table[h] = l
				lines++
			}
		}
	}
	return lines
}
