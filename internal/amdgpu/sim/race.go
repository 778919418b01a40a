package sim

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Races. Two accesses to the same bytes race when at least one writes, not
// both are atomic, and nothing orders them: they are of different waves,
// with no barrier between, nor a chain of atomics, nor the end of a launch.
//
// Every launch runs with a cheap test first. It remembers, for each dword,
// the last wave that wrote and that read it, and suspects a dword whenever
// a conflict cannot be ruled out: it takes neighbouring bytes for the same,
// and knows nothing of order through atomics. Where it suspects any, the
// memory is put back as it was and the launch runs again, work-groups in
// order, with an exact record of the accesses to the suspects alone.

// A raceID names a wave between two barriers: the wave's number in the
// launch plus one in bits 6 to 29, the low bits of the number of barriers
// passed in bits 0 to 5. In a record of reads raceMany says that several
// waves read; in one of writes raceRMW says that it was an atomic.
const (
	racePhaseBits = 6
	raceRMW       = 1 << 30
	raceMany      = 1 << 31
	raceOthers    = ^uint32(0) // reads by several work-groups
	raceMaxWaves  = 1<<24 - 2
)

// A raceChunk is the record of a run of dwords. Waves mostly access whole
// lines of 16 dwords, whose records are then all alike: one stands for the
// line. Where they differ, the line has a record for each dword.
const (
	raceLineDwords  = 16
	raceChunkLines  = 256
	raceChunkDwords = raceLineDwords * raceChunkLines
)

type raceChunk struct {
	w, r  [raceChunkLines]uint32 // records of writes and reads, of lines that are not mixed
	mixed [raceChunkLines]bool
	slot  [raceChunkLines]uint16 // of a line that is or was mixed: one plus its place in lines
	lines []raceLine
}

// A raceLine is the record of a line whose dwords differ.
type raceLine struct {
	w, r [raceLineDwords]uint32
}

// mix returns the records of each dword of line l.
func (c *raceChunk) mix(l uint64) *raceLine {
	if c.mixed[l] {
		return &c.lines[c.slot[l]-1]
	}
	if c.slot[l] == 0 {
		c.lines = append(c.lines, raceLine{})
		c.slot[l] = uint16(len(c.lines))
	}
	c.mixed[l] = true
	x := &c.lines[c.slot[l]-1]
	for k := range x.w {
		x.w[k], x.r[k] = c.w[l], c.r[l]
	}
	return x
}

// at returns the records of a dword of the chunk.
func (c *raceChunk) at(d int) (w, r uint32) {
	l := d / raceLineDwords
	if c.mixed[l] {
		x := &c.lines[c.slot[l]-1]
		return x.w[d%raceLineDwords], x.r[d%raceLineDwords]
	}
	return c.w[l], c.r[l]
}

// reset empties the first lines.
func (c *raceChunk) reset(lines int) {
	clear(c.w[:lines])
	clear(c.r[:lines])
	clear(c.mixed[:lines])
	clear(c.slot[:lines])
	c.lines = c.lines[:0]
}

// A raceShadow is one goroutine's record of a region.
type raceShadow struct {
	g        *group
	region   *region
	chunks   []*raceChunk
	suspects []uint64 // bits by dword, nil for none
}

func newRaceShadow(g *group, r *region) *raceShadow {
	return &raceShadow{g: g, region: r, chunks: make([]*raceChunk, (len(r.data)+4*raceChunkDwords-1)/(4*raceChunkDwords))}
}

func (s *raceShadow) chunk(d uint64) *raceChunk {
	c := s.chunks[d/raceChunkDwords]
	if c == nil {
		if n := len(s.g.chunks); n > 0 {
			c, s.g.chunks = s.g.chunks[n-1], s.g.chunks[:n-1]
		} else {
			c = new(raceChunk)
		}
		s.chunks[d/raceChunkDwords] = c
	}
	return c
}

func (s *raceShadow) suspect(d uint64) {
	if s.suspects == nil {
		s.suspects = make([]uint64, len(s.region.data)/256+1)
	}
	s.suspects[d/64] |= 1 << (d % 64)
}

// races returns the record of r, nil where races there do not matter.
func (g *group) races(r *region) *raceShadow {
	if r.readOnly || g.noRaces {
		return nil
	}
	if r == g.lastRaced {
		return g.lastShadow
	}
	s := g.raced[r]
	if s == nil {
		s = newRaceShadow(g, r)
		if g.raced == nil {
			g.raced = map[*region]*raceShadow{}
		}
		g.raced[r] = s
	}
	g.lastRaced, g.lastShadow = r, s
	return s
}

// raceID is the id of w now.
func (w *wave) raceID() uint32 {
	g := w.g
	return uint32(g.linear*uint64(g.l.waves)+uint64(w.id)+1)<<racePhaseBits | g.phase&(1<<racePhaseBits-1)
}

// A raceView is what a test needs to know of the wave that accesses.
type raceView struct {
	id       uint32
	from, to uint32 // wave numbers of the work-group
	lds      bool   // records of other work-groups are left-overs
}

func (w *wave) raceView(r *region) raceView {
	g := w.g
	from := uint32(g.linear*uint64(g.l.waves)) + 1
	return raceView{w.raceID(), from, from + uint32(g.l.waves), r == &g.lds.region}
}

func raceWave(id uint32) uint32 { return id >> racePhaseBits & (1<<24 - 1) }

// unordered reports whether the access that id stands for may be unordered
// to one by v.
func (v *raceView) unordered(id uint32) bool {
	if id == 0 {
		return false
	}
	wave := raceWave(id)
	switch {
	case id == raceOthers:
		return true
	case wave == raceWave(v.id):
		return id&raceMany != 0 && (id^v.id)&(1<<racePhaseBits-1) == 0
	case wave >= v.from && wave < v.to:
		return (id^v.id)&(1<<racePhaseBits-1) == 0
	}
	return !v.lds
}

// afterRead is the record of a dword's reads after one by v, which had the
// records w of writes and r of reads, and whether a race is suspected.
func (v *raceView) afterRead(w, r uint32) (next uint32, suspect bool) {
	suspect = w != 0 && w != v.id && v.unordered(w&^raceMany)
	switch r {
	case v.id, raceOthers:
		return r, suspect
	case 0:
		return v.id, suspect
	}
	wave := raceWave(r)
	samePhase := (r^v.id)&(1<<racePhaseBits-1) == 0
	switch {
	case wave >= v.from && wave < v.to:
		// The work-group's own. An earlier phase is ordered before.
		if samePhase && (wave != raceWave(v.id) || r&raceMany != 0) {
			return v.id | raceMany, suspect
		}
		return v.id, suspect
	case v.lds:
		return v.id, suspect
	}
	return raceOthers, suspect
}

// afterWrite is the record of a dword's writes after one by v, and whether
// a race is suspected.
func (v *raceView) afterWrite(w, r uint32, atomic bool) (next uint32, suspect bool) {
	suspect = r != 0 && r != v.id && v.unordered(r)
	if w == v.id {
		return w, suspect // a plain write stays one, whatever follows
	}
	if w != 0 && !(atomic && w&raceRMW != 0) && v.unordered(w) {
		suspect = true
	}
	switch {
	case !atomic:
		w = v.id
	case w == 0 || w&raceRMW != 0 || v.lds && (raceWave(w) < v.from || raceWave(w) >= v.to):
		w = v.id | raceRMW
	}
	return w, suspect
}

// after is the record of a dword after an access by v, and whether a race is
// suspected.
func (v *raceView) after(kind raceKind, w, r uint32) (nw, nr uint32, suspect bool) {
	if kind == raceRead {
		nr, suspect = v.afterRead(w, r)
		return w, nr, suspect
	}
	nw, suspect = v.afterWrite(w, r, kind == raceAtomic)
	return nw, r, suspect
}

// A raceKind is how an access is recorded.
type raceKind uint8

const (
	raceRead raceKind = iota
	raceWrite
	raceAtomic
)

// read records reads of the dwords from d to before end, and suspects them.
func (s *raceShadow) read(v *raceView, d, end uint64) {
	for d < end {
		c, l, k := s.chunk(d), d/raceLineDwords%raceChunkLines, d%raceLineDwords
		n := min(end-d, raceLineDwords-k)
		same := true // the read changes nothing
		if c.mixed[l] {
			x := &c.lines[c.slot[l]-1]
			for i, r := range x.r[k : k+n] {
				w := x.w[k+uint64(i)]
				same = same && (r == v.id || r == raceOthers) && (w == 0 || w == v.id)
			}
		} else {
			w, r := c.w[l], c.r[l]
			same = (r == v.id || r == raceOthers) && (w == 0 || w == v.id)
		}
		if !same {
			s.line(v, raceRead, c, d, n)
		}
		d += n
	}
}

// write records writes of the dwords from d to before end.
func (s *raceShadow) write(v *raceView, d, end uint64, kind raceKind) {
	for d < end {
		n := min(end-d, raceLineDwords-d%raceLineDwords)
		s.line(v, kind, s.chunk(d), d, n)
		d += n
	}
}

// line records an access to n dwords from d on, which are in one line of c.
func (s *raceShadow) line(v *raceView, kind raceKind, c *raceChunk, d, n uint64) {
	l, k := d/raceLineDwords%raceChunkLines, d%raceLineDwords
	if !c.mixed[l] {
		w, r := c.w[l], c.r[l]
		nw, nr, suspect := v.after(kind, w, r)
		if suspect {
			for i := range n {
				s.suspect(d + i)
			}
		}
		switch {
		case nw == w && nr == r:
			return
		case n == raceLineDwords:
			c.w[l], c.r[l] = nw, nr
			return
		}
	}
	x := c.mix(l)
	cw, cr := x.w[k:k+n], x.r[k:k+n]
	// Neighbours mostly have equal records, which change equally.
	w, r := cw[0], cr[0]
	nw, nr, suspect := v.after(kind, w, r)
	alike := n == raceLineDwords
	for i := range cw {
		if cw[i] != w || cr[i] != r {
			w, r = cw[i], cr[i]
			nw, nr, suspect = v.after(kind, w, r)
		}
		cw[i], cr[i] = nw, nr
		alike = alike && nw == cw[0] && nr == cr[0]
		if suspect {
			s.suspect(d + uint64(i))
		}
	}
	if alike {
		c.mixed[l] = false
		c.w[l], c.r[l] = nw, nr
	}
}

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

// A snapshot is a region as it was before the launch wrote it.
type snapshot struct {
	data, def []byte
}

// touch is called before a write to r: the first one in a launch saves the
// contents.
func (g *group) touch(r *region) {
	l := g.l
	if !l.checks || l.exact || r.space == "lds" || r.space == "scratch" || r.saved.Load() != nil {
		return
	}
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	if r.saved.Load() == nil {
		l.saved = append(l.saved, r)
		r.saved.Store(&snapshot{bytes.Clone(r.data), bytes.Clone(r.def)})
	}
}

// restore puts memory back as it was before the launch.
func (l *launch) restore() {
	for _, r := range l.saved {
		s := r.saved.Load()
		copy(r.data, s.data)
		copy(r.def, s.def)
	}
}

// forget drops what touch saved.
func (l *launch) forget() {
	for _, r := range l.saved {
		r.saved.Store(nil)
	}
	l.saved = nil
}

// suspects joins what the goroutines suspect, and the conflicts between
// their records. LDS is of one work-group at a time, and its suspects are
// those of any.
func (l *launch) suspects(gs []*group) map[*region][]uint64 {
	all := map[*region][]uint64{}
	join := func(r *region, b []uint64) {
		if b == nil {
			return
		}
		if all[r] == nil {
			all[r] = make([]uint64, len(b))
		}
		for i, x := range b {
			all[r][i] |= x
		}
	}
	for k, g := range gs {
		for r, s := range g.raced {
			if r == &g.lds.region {
				join(nil, s.suspects)
				continue
			}
			join(r, s.suspects)
			for _, h := range gs[k+1:] {
				if t := h.raced[r]; t != nil {
					s.cross(t)
					join(r, s.suspects)
				}
			}
		}
	}
	return all
}

// cross suspects the dwords on which two goroutines' records conflict.
func (s *raceShadow) cross(t *raceShadow) {
	for i, a := range s.chunks {
		b := t.chunks[i]
		if a == nil || b == nil {
			continue
		}
		for d := range raceChunkDwords {
			aw, ar := a.at(d)
			if aw|ar == 0 {
				continue
			}
			if bw, br := b.at(d); aw != 0 && bw|br != 0 || ar != 0 && bw != 0 {
				s.suspect(uint64(i)*raceChunkDwords + uint64(d))
			}
		}
	}
}

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

// saves are what a launch keeps of memory for a second run.
type saves struct {
	saveMu sync.Mutex
	saved  []*region
}
