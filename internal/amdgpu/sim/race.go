package sim

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
	n        uint32 // to-from
	lds      bool   // records of other work-groups are left-overs
}

func (w *wave) raceView(r *region) raceView {
	g := w.g
	from := uint32(g.linear*uint64(g.l.waves)) + 1
	n := uint32(g.l.waves)
	return raceView{w.raceID(), from, from + n, n, r == &g.lds.region}
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
