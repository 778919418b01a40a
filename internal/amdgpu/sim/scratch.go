package sim

import (
	"math/bits"
)

// scratchMemory is the private memory of a wave's lanes: for each byte
// offset, the bytes of all lanes.
type scratchMemory struct {
	n    int // lanes
	size int // bytes per lane
	data []byte
	def  []uint64 // by offset: a bit for each lane
	high int      // offsets from here on were not touched since reset
}

func (s *scratchMemory) reset(l *launch) {
	if s.size != l.scratch || s.n != l.waveSize {
		*s = scratchMemory{n: l.waveSize, size: l.scratch}
	}
	if s.data == nil {
		return
	}
	fillPoison(s.data[:s.high*s.n])
	clear(s.def[:s.high])
	s.high = 0
}

// grow makes offsets below end accessible.
func (s *scratchMemory) grow(end int) {
	if s.data == nil {
		s.data = make([]byte, s.size*s.n)
		fillPoison(s.data)
		s.def = make([]uint64, s.size)
	}
	s.high = max(s.high, end)
}

// private executes an access to scratch by the lanes of mask, whose byte
// offsets are in g.ea.
func (g *group) private(w *wave, o *op, mask uint64) {
	m, s := o.mem, &w.scratch
	if g.checks {
		g.checkAddress(w, o, mask)
	}
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		if a := g.ea[i]; a > uint64(s.size) || uint64(m.size) > uint64(s.size)-a {
			mask &^= 1 << i
			g.outOfBoundsScratch(w, o, i)
			g.poisonResult(w, m, i)
		}
	}
	if mask == 0 {
		return
	}
	end := 0
	for x := mask; x != 0; x &= x - 1 {
		end = max(end, int(g.ea[bits.TrailingZeros64(x)&63])+m.size)
	}
	s.grow(end)
	switch m.kind {
	case memLoad:
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			a := int(g.ea[i])
			if m.size < 4 {
				v := uint32(s.data[a*s.n+i])
				if m.size == 2 {
					v |= uint32(s.data[(a+1)*s.n+i]) << 8
				}
				w.rows[m.dst][i] = m.extend(v, w.rows[m.dst][i])
				continue
			}
			for k := range int32(m.size / 4) {
				w.rows[m.dst+k][i] = s.load32(a+4*int(k), i)
			}
		}
		if g.checks {
			g.loadScratchShadow(w, m, mask)
		}
	case memStore:
		for x := mask; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			a := int(g.ea[i])
			if m.size < 4 {
				v := w.rows[m.data][i]
				if m.part == partHi {
					v >>= 16
				}
				s.data[a*s.n+i] = byte(v)
				if m.size == 2 {
					s.data[(a+1)*s.n+i] = byte(v >> 8)
				}
				continue
			}
			for k := range int32(m.size / 4) {
				s.store32(a+4*int(k), i, w.rows[m.data+k][i])
			}
		}
		if g.checks {
			g.storeScratchShadow(w, m, mask)
		}
	default:
		// An atomic on private memory, through a generic pointer.
		for x := mask; x != 0; x &= x - 1 {
			g.atomicScratch(w, o, bits.TrailingZeros64(x)&63)
		}
	}
}

func (s *scratchMemory) load32(a, i int) uint32 {
	p := a*s.n + i
	return uint32(s.data[p]) | uint32(s.data[p+s.n])<<8 | uint32(s.data[p+2*s.n])<<16 | uint32(s.data[p+3*s.n])<<24
}

func (s *scratchMemory) store32(a, i int, v uint32) {
	p := a*s.n + i
	s.data[p], s.data[p+s.n], s.data[p+2*s.n], s.data[p+3*s.n] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// atomicScratch copies the lane's bytes out, executes there, and copies
// them back.
func (g *group) atomicScratch(w *wave, o *op, i int) {
	s := &w.scratch
	a, n := int(g.ea[i]), o.mem.size
	r := region{name: "scratch", space: "scratch", data: make([]byte, n), def: make([]byte, n), live: true}
	for k := range n {
		r.data[k], r.def[k] = s.data[(a+k)*s.n+i], byte(s.def[a+k]>>i&1)
	}
	g.atomicAt(w, o, &r, i, 0)
	for k := range n {
		s.data[(a+k)*s.n+i] = r.data[k]
		s.def[a+k] = s.def[a+k]&^(1<<i) | uint64(r.def[k]&1)<<i
	}
}
