package sim

import (
	"fmt"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// An exactKind is how an access is recorded.
type exactKind uint8

const (
	exactRead exactKind = iota
	exactWrite
	exactAtomic
	// exactAtomicRead is an atomic load. Atomic stores look like others, so
	// that every store that it may read counts as one.
	exactAtomicRead
)

func (k exactKind) String() string { return [...]string{"load", "store", "atomic", "load"}[k] }

// An exactAccess is one wave's last access of its kind to a dword.
type exactAccess struct {
	kind  exactKind
	bytes uint8 // of the dword, as bits
	lane  uint8
	wave  int
	phase uint32
	group uint64
	time  int64
	o     *op
}

// exactRaces is the record of the second run.
type exactRaces struct {
	suspects map[*region][]uint64 // LDS under nil
	cells    map[exactCell][]exactAccess
	time     int64
	// atomics are the times of each wave's atomics, by number in the launch.
	atomics map[uint64][]int64
	// guesses are the plain loads after which a wave executed an atomic on
	// the dword that it loaded, see guessed.
	guesses map[guess]bool
}

// A guess is a plain load of a region, nil for LDS.
type guess struct {
	load *op
	r    *region
}

func newExactRaces(suspects map[*region][]uint64) *exactRaces {
	return &exactRaces{suspects: suspects, cells: map[exactCell][]exactAccess{}, atomics: map[uint64][]int64{}, guesses: map[guess]bool{}}
}

type exactCell struct {
	r     *region
	group uint64 // of LDS
	dword uint64
}

// maxExact bounds the record: cells, and accesses of one.
const (
	maxExactCells    = 1 << 18
	maxExactAccesses = 12
)

// access records the access of lanes to the suspects among their bytes and
// notes races.
func (e *exactRaces) access(g *group, w *wave, o *op, r *region, mask uint64, size int, kind exactKind) {
	e.time++
	if kind == exactAtomic || kind == exactAtomicRead {
		n := g.linear*uint64(g.l.waves) + uint64(w.id)
		e.atomics[n] = append(e.atomics[n], e.time)
	}
	cell := exactCell{r: r}
	set := e.suspects[r]
	if r == &g.lds.region {
		set = e.suspects[nil]
		cell = exactCell{group: g.linear}
	}
	if set == nil {
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		off := g.ea[i] - r.base
		end := off + uint64(size)
		for d := off >> 2; d<<2 < end; d++ {
			if set[d/64]>>(d%64)&1 == 0 {
				continue
			}
			var which uint8
			for b := range uint64(4) {
				if a := d<<2 + b; a >= off && a < end {
					which |= 1 << b
				}
			}
			cell.dword = d
			e.one(g, w, o, r, cell, i, off, which, kind)
		}
	}
}

func (e *exactRaces) one(g *group, w *wave, o *op, r *region, cell exactCell, lane int, off uint64, which uint8, kind exactKind) {
	list := e.cells[cell]
	for k := range list {
		a := &list[k]
		if kind == exactAtomic && a.kind == exactRead && a.group == g.linear && a.wave == w.id && (cell.r != nil || a.phase == g.phase) {
			e.guesses[guess{a.o, cell.r}] = true
		}
		if a.bytes&which == 0 || !conflict(a.kind, kind) {
			if kind == exactAtomicRead && a.kind == exactWrite {
				n := a.group*uint64(g.l.waves) + uint64(a.wave)
				e.atomics[n] = append(e.atomics[n], a.time)
			}
			continue
		}
		if e.ordered(g, w, a) {
			continue
		}
		if kind == exactWrite && a.kind == exactWrite && unchanged(w, o, r, lane, off) {
			continue // the same value once more
		}
		key := findingKey{check: gpu.Race, space: r.space, access: kind.String(), buffer: r, other: a.o}
		if r == &g.lds.region {
			key.buffer = &g.lds.region
		}
		switch {
		case kind == exactRead && a.kind == exactAtomic:
			key.load = o
		case kind == exactAtomic && a.kind == exactRead:
			key.load = a.o
		}
		g.note(w, o, lane, key, int64(off), o.mem.size, func(f *gpu.Finding) {
			place := g.l.place(a.o, a.group, a.wave, int(a.lane))
			f.Other = &place
			f.Detail = fmt.Sprintf("unordered with %s by %s", [...]string{"a load", "a store", "an atomic", "a load"}[a.kind], where(g, a))
		})
	}
	now := exactAccess{
		kind: kind, bytes: which, lane: uint8(lane), wave: w.id, phase: g.phase, group: g.linear, time: e.time,
		o: o,
	}
	for k := range list {
		a := &list[k]
		if a.group == now.group && a.wave == now.wave && a.kind == now.kind {
			if a.phase == now.phase {
				now.bytes |= a.bytes
			}
			*a = now
			return
		}
	}
	if len(list) >= maxExactAccesses || list == nil && len(e.cells) >= maxExactCells {
		if list == nil {
			return
		}
		list = append(list[:0], list[1:]...)
	}
	e.cells[cell] = append(list, now)
}

// guessed drops the races of plain loads with atomics where the load only
// gives a first guess that an atomic then settles: the load that compilers
// put before the compare-and-swap loop of a float's atomicAdd, a test that
// saves an atomicMax, a flag that ends a search early. They are told by a
// wave that goes from the load to an atomic on the same dword, in LDS with
// no barrier between. A load that no atomic follows reads what others are
// still adding to: a barrier is missing.
func (e *exactRaces) guessed(g *group) {
	for key := range g.finds.byKey {
		r := key.buffer
		if r == &g.lds.region {
			r = nil
		}
		if key.load != nil && e.guesses[guess{key.load, r}] {
			delete(g.finds.byKey, key)
		}
	}
}

// conflict reports whether two accesses to a byte race unless ordered.
func conflict(a, b exactKind) bool {
	switch {
	case a == exactAtomicRead || b == exactAtomicRead:
		return false
	case a == exactRead || a == exactAtomic:
		return a != b
	}
	return true
}

// unchanged reports whether lane stores what the memory holds already.
func unchanged(w *wave, o *op, r *region, lane int, off uint64) bool {
	m := o.mem
	for k := range uint64(m.size) {
		if r.data[off+k] != w.storedByte(m, lane, k) {
			return false
		}
	}
	return true
}

func where(g *group, a *exactAccess) string {
	if a.group != g.linear {
		return "another block"
	}
	return "another wave of the block, with no barrier between"
}

// ordered reports whether a happened before what w does now.
func (e *exactRaces) ordered(g *group, w *wave, a *exactAccess) bool {
	if a.group == g.linear && (a.wave == w.id || a.phase != g.phase) {
		return true
	}
	// By atomics: one of a's side after it, then one of this side. Which
	// addresses they had is not looked at, which can miss a race and invents
	// none. Between work-groups any wave's atomic counts, since barriers
	// carry order to and from it.
	n := uint64(g.l.waves)
	sides := func(group uint64, wave int) (from, to uint64) {
		if a.group != g.linear {
			return group * n, group*n + n
		}
		return group*n + uint64(wave), group*n + uint64(wave) + 1
	}
	release := int64(-1)
	from, to := sides(a.group, a.wave)
	for k := from; k < to; k++ {
		for _, t := range e.atomics[k] {
			if t >= a.time && (release < 0 || t < release) {
				release = t
			}
		}
	}
	if release < 0 {
		return false
	}
	from, to = sides(g.linear, w.id)
	for k := from; k < to; k++ {
		for _, t := range e.atomics[k] {
			if t > release {
				return true
			}
		}
	}
	return false
}
