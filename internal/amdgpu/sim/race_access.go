package sim

import (
	"math/bits"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// raceFast records a load or plain store, the access at hand.
func (g *group) raceFast(w *wave, r *region, kind raceKind) {
	s := g.races(r)
	if s == nil {
		return
	}
	v, a := w.raceView(r), &g.acc
	if a.ranges {
		for k := range a.n {
			d, end := uint64(a.from[k]>>2), uint64(a.to[k]+3)>>2
			if kind == raceRead {
				s.read(&v, d, end)
			} else {
				s.write(&v, d, end, kind)
			}
		}
		return
	}
	for m := a.mask; m != 0; m &= m - 1 {
		off := a.off[bits.TrailingZeros64(m)&63]
		d, end := uint64(off>>2), (uint64(off)+uint64(a.size)+3)>>2
		if kind == raceRead {
			s.read(&v, d, end)
		} else {
			s.write(&v, d, end, kind)
		}
	}
}

func (g *group) raceRead(w *wave, o *op, r *region, mask uint64, seq bool) {
	s, size := g.races(r), o.mem.size
	if s == nil {
		return
	}
	if g.exact != nil {
		kind := exactRead
		if o.mem.atomicLoad {
			kind = exactAtomicRead
		}
		g.exact.access(g, w, o, r, mask, size, kind)
		return
	}
	v := w.raceView(r)
	if seq {
		off, n := g.span(o.mem, r, mask)
		s.read(&v, off>>2, (off+n+3)>>2)
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		off := g.ea[bits.TrailingZeros64(x)&63] - r.base
		s.read(&v, off>>2, (off+uint64(size)+3)>>2)
	}
}

func (g *group) raceWrite(w *wave, o *op, r *region, mask uint64, seq bool) {
	s, size := g.races(r), o.mem.size
	if s == nil {
		return
	}
	if !seq {
		g.overlap(w, o, r, mask, size)
	}
	if g.exact != nil {
		g.exact.access(g, w, o, r, mask, size, exactWrite)
		return
	}
	v := w.raceView(r)
	if seq {
		off, n := g.span(o.mem, r, mask)
		s.write(&v, off>>2, (off+n+3)>>2, raceWrite)
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		off := g.ea[bits.TrailingZeros64(x)&63] - r.base
		s.write(&v, off>>2, (off+uint64(size)+3)>>2, raceWrite)
	}
}

func (g *group) raceAtomic(w *wave, o *op, r *region, i int, off uint64, size int) {
	s := g.races(r)
	if s == nil {
		return
	}
	if g.exact != nil {
		g.exact.access(g, w, o, r, 1<<i, size, exactAtomic)
		return
	}
	v := w.raceView(r)
	s.write(&v, off>>2, (off+uint64(size)+3)>>2, raceAtomic)
}

func (g *group) raceReadScalar(w *wave, o *op, r *region, off uint64) {
	s := g.races(r)
	if s == nil {
		return
	}
	if g.exact != nil {
		i := w.firstLane()
		g.ea[i] = r.base + off
		g.exact.access(g, w, o, r, 1<<i, 4, exactRead)
		return
	}
	v := w.raceView(r)
	s.read(&v, off>>2, off>>2+1)
}

// overlap notes lanes of one store that write different values to the same
// bytes.
func (g *group) overlap(w *wave, o *op, r *region, mask uint64, size int) {
	prev, apart := uint64(0), true
	for x := mask; x != 0; x &= x - 1 {
		a := g.ea[bits.TrailingZeros64(x)&63]
		if a < prev {
			apart = false
			break
		}
		prev = a + uint64(size)
	}
	if apart {
		return
	}
	// By address, then lane: neighbours in this order overlap or none do.
	m := o.mem
	var order [64]uint64
	n := 0
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		order[n] = g.ea[i]<<6 | uint64(i)
		n++
	}
	slices.Sort(order[:n])
	for k := 1; k < n; k++ {
		i, j := int(order[k-1]&63), int(order[k]&63)
		lo, hi := g.ea[j], g.ea[i]+uint64(size)
		same := true
		for a := lo; a < hi && same; a++ {
			same = w.storedByte(m, i, a-g.ea[i]) == w.storedByte(m, j, a-g.ea[j])
		}
		if same {
			continue
		}
		key := findingKey{check: gpu.Race, space: r.space, access: "store", buffer: r, lanes: true}
		g.note(w, o, j, key, int64(lo-r.base), size, func(f *gpu.Finding) {
			other := g.place(w, o, i)
			f.Other = &other
			f.Detail = "lanes of one instruction store different values to the same bytes"
		})
	}
}

// storedByte is byte k of what lane i stores.
func (w *wave) storedByte(m *memOp, i int, k uint64) byte {
	v := w.rows[m.data+int32(k/4)][i]
	if m.part == partHi {
		v >>= 16
	}
	return byte(v >> (8 * (k & 3)))
}
