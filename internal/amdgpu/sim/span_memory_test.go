package sim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A memoryRig is a work-group of one wave that executes, with memory of its
// own.
type memoryRig struct {
	g *group
	w *wave
}

const (
	memoryRigWaves = 4
	memoryRigBytes = 33 << 10 // of a region: three chunks of records
)

func newMemoryRig(k *kernel, u *unit, n int, checks, plain bool) *memoryRig {
	l := &launch{kernel: k, waves: memoryRigWaves, waveSize: n, checks: checks, groups: 10}
	l.cfg.Grid, l.cfg.Block = x(10), x(memoryRigWaves*n)
	g := &group{l: l, mem: new(space), linear: 2, phase: 5, checks: checks, plain: plain}
	for i := range memoryRigWaves {
		g.waves = append(g.waves, &wave{g: g, id: i})
	}
	w := g.waves[1]
	w.n, w.full, w.arch = n, ^uint64(0)>>(64-n), isa.GFX1030
	w.rows = make([]lanes, firstVGPR+32)
	w.growShadow(len(w.rows))
	w.enter(u)
	if checks {
		w.race = w.raceView(nil)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := g.mem.add(name, "global", memoryRigBytes); err != nil {
			panic(err)
		}
	}
	g.lds.region = region{name: "shared memory", space: "lds", data: make([]byte, memoryRigBytes), live: true}
	return &memoryRig{g, w}
}

func (r *memoryRig) regions() []*region {
	return []*region{r.g.mem.slots[0], r.g.mem.slots[1], &r.g.lds.region}
}

// fill gives memory, its state and the records of races what r says, of which
// equal seeds make equal contents.
func (m *memoryRig) fill(r *rand.Rand) {
	g := m.g
	v := m.w.raceView(nil)
	record := func() uint32 {
		id := v.id
		switch r.IntN(12) {
		case 0, 1, 2:
			return 0
		case 3, 4, 5:
			return id
		case 6:
			return id - 1 // the phase before
		case 7:
			return v.from<<racePhaseBits | g.phase // another wave
		case 8:
			return v.from<<racePhaseBits | g.phase - 1
		case 9:
			return (v.from-1)<<racePhaseBits | g.phase // another work-group
		case 10:
			return (v.from+v.n)<<racePhaseBits | 2
		}
		return [...]uint32{id | raceMany, id - 1 | raceMany, (v.from+3)<<racePhaseBits | g.phase | raceMany, raceOthers}[r.IntN(4)]
	}
	written := func() uint32 {
		x := record()
		if x == raceOthers {
			x = 0
		}
		x &^= raceMany
		if x != 0 && r.IntN(8) == 0 {
			x |= raceRMW
		}
		return x
	}
	for k, x := range m.regions() {
		for i := range x.data {
			x.data[i] = byte(r.Uint32())
		}
		if k > 0 && r.IntN(2) == 0 {
			x.def = bytes.Repeat([]byte{1}, len(x.data))
			if r.IntN(2) == 0 {
				for range r.IntN(300) {
					x.def[r.IntN(len(x.def))] = 0
				}
			}
		}
		if !g.checks || r.IntN(8) == 0 {
			continue
		}
		s := g.races(x)
		quiet := r.IntN(3) == 0 // nothing that conflicts
		for d := uint64(0); d < uint64(len(x.data)/4); d += raceLineDwords {
			if r.IntN(200) == 0 {
				d += raceChunkDwords // perhaps no chunk
				continue
			}
			c, l := s.chunk(d), d/raceLineDwords%raceChunkLines
			if quiet {
				if r.IntN(2) == 0 {
					c.r[l] = v.id - 1
				}
				continue
			}
			read := record
			if k == 2 {
				read = func() uint32 { // no work-groups share LDS
					if x := record(); x != raceOthers {
						return x
					}
					return 0
				}
			}
			c.w[l], c.r[l] = written(), read()
			if r.IntN(2) == 0 {
				c.w[l] = 0
			}
			switch r.IntN(4) {
			case 0:
				line := c.mix(l)
				for range r.IntN(20) {
					line.w[r.IntN(16)] = written()
					line.r[r.IntN(16)] = read()
				}
			case 1:
				c.mix(l)
				c.mixed[l] = false // has a slot
			}
		}
	}
}

// access is the address part of an instruction's registers.
func (m *memoryRig) address(o *op, x *mem, r *rand.Rand) {
	w := m.w
	size := uint64(o.mem.size)
	base := uint64(0)
	if o.mem.ds == nil {
		base = m.g.mem.slots[x.region].base
	}
	base -= uint64(o.mem.offset)
	if o.mem.base.kind == srcSGPR {
		w.s[o.mem.base.reg], w.s[o.mem.base.reg+1] = uint32(base-x.back), uint32((base-x.back)>>32)
		base = x.back
	}
	for i := range w.n {
		off := x.at[i/16]
		if x.run[i/16] {
			off += uint64(i%16) * size
		}
		if x.strayed == i {
			off += x.stray
		}
		a := base + off
		if o.mem.ds != nil {
			a = off - uint64(o.mem.ds.offset)
		}
		w.rows[o.mem.addr.reg][i] = uint32(a)
		if o.mem.wide {
			w.rows[o.mem.addr.reg+1][i] = uint32(a >> 32)
		}
	}
}

// A mem is where an instruction accesses memory.
type mem struct {
	region  int
	back    uint64
	at      [quarters]uint64
	run     [quarters]bool
	strayed int // lane, -1 for none
	stray   uint64
	exec    uint64
}

func newMem(r *rand.Rand, n int, size uint64) *mem {
	x := &mem{region: r.IntN(8) / 7, back: uint64(r.IntN(3)) << (8 * r.IntN(4)), strayed: -1, exec: ^uint64(0) >> (64 - n)}
	align := []uint64{4, 16, 64, 64, 64}[r.IntN(5)]
	at := uint64(r.IntN(memoryRigBytes))
	if r.IntN(20) == 0 {
		at = memoryRigBytes - uint64(r.IntN(4096))
	}
	runs := r.IntN(4)
	for q := range x.at {
		x.at[q] = at &^ (align - 1)
		x.run[q] = runs > 1 || runs == 1 && r.IntN(2) == 0
		switch r.IntN(40) {
		case 0:
			x.at[q] += 2
		case 1:
			x.at[q] -= 4
		}
		switch step := runs; {
		case step == 3:
			at += 16 * size
		case r.IntN(3) > 0:
			at += size * uint64(r.IntN(20))
		}
	}
	switch r.IntN(12) {
	case 0:
		x.strayed, x.stray = r.IntN(n), 1<<r.IntN(40)
	case 1:
		x.strayed, x.stray = r.IntN(n), ^uint64(3)
	case 2:
		x.exec &= r.Uint64()
	}
	return x
}

// TestMemoryForms executes loads and stores by their forms and by their
// handlers, and compares registers, memory, its state, the records of races,
// counters and findings.
func TestMemoryForms(t *testing.T) { eachLevel(t, testMemoryForms) }

func testMemoryForms(t *testing.T) {
	if vectors == levelGo {
		t.Skip("no forms here")
	}
	r := rand.New(rand.NewPCG(8, 9))
	mod := newRig(t, "base", "gfx1030", Options{}).mod.(*module) // for messages
	kern := &kernel{mod, mod.Kernels()[0]}
	fast := map[string]int{}
	suspected := 0
	for k := range 5000 {
		n := 32 << (k & 1)
		checks := k&2 == 0 || k&4 == 0
		m := memOp{kind: memKind(r.IntN(2)), size: 4 << r.IntN(3), data: -1, data2: -1, dst: -1, addr: src{kind: srcRow, reg: firstVGPR}, base: src{kind: srcNone}}
		m.fold = accessKind(m.kind)
		m.whole = r.IntN(2) == 0
		o := op{in: &isa.Inst{Name: "test", Enc: isa.GLOBAL}, mem: &m, run: globalAccess, class: classGlobalLoad, target: -1}
		name := "load"
		m.dst = firstVGPR + int32(r.IntN(8)) // may be the address
		if m.kind == memStore {
			name = "store"
			m.dst, m.data = -1, firstVGPR+int32(r.IntN(8))
		}
		form := "GWL"[k%3]
		switch form {
		case 'G':
			m.base = src{kind: srcSGPR, reg: 20, slot: 1}
			m.offset = int64(r.IntN(1<<13) - 1<<12)
		case 'W':
			m.wide = true
			m.offset = int64(r.IntN(1<<13) - 1<<12)
		default:
			m.ds = &dsOp{offset: uint32(r.IntN(1 << 12))}
			o.run, o.in.Enc, o.class = dsAccess, isa.DS, classLDS
		}
		name = fmt.Sprintf("%s%c%d/%d", name, form, m.size/4, n)
		// Executing it in Go leaves at, which the span begins before.
		const at = 1
		u := &unit{ops: []op{o, o}, spans: 1}
		b := spanBuilder{u: u, span: &span{}, wave: n, at: at}
		if !b.add(&u.ops[0]) {
			t.Fatalf("%s is not taken", name)
		}
		s := b.finish(1)
		if s == nil {
			t.Fatalf("%s has no form", name)
		}
		var rigs [2]*memoryRig
		seed := r.Uint64()
		for i := range rigs {
			rigs[i] = newMemoryRig(kern, u, n, checks, i == 1)
			rigs[i].fill(rand.New(rand.NewPCG(seed, 1)))
		}
		const steps = 8
		for step := range steps {
			x := newMem(r, n, uint64(m.size))
			seed := r.Uint64()
			undefined := r.IntN(6) == 0
			ran := [2]bool{}
			for i, rig := range rigs {
				r := rand.New(rand.NewPCG(seed, 2))
				w := rig.w
				for j := range w.rows {
					for l := range w.rows[j] {
						w.rows[j][l] = r.Uint32()
					}
					w.shadow.v[j] = allDefined
				}
				for j := range w.shadow.s {
					w.shadow.s[j] = ^uint32(0)
				}
				if undefined {
					w.shadow.v[firstVGPR+r.IntN(9)].hi = r.Uint64()
				}
				w.exec = x.exec
				w.doubt()
				rig.address(&u.ops[0], x, r)
				ran[i] = w.runSpan(s)
				w.count()
				if i == 0 && ran[0] && w.at != at {
					fast[name]++
				}
			}
			if ran[0] != ran[1] {
				t.Fatalf("%s: ran %v", name, ran)
			}
			rigs[0].compare(t, rigs[1], fmt.Sprintf("%s (%+v, checks %v, dst %d, data %d, whole %v, offset %d)", name, *x, checks, m.dst, m.data, m.whole, m.offset), step == steps-1)
			for _, s := range rigs[0].g.raced {
				if s.suspects != nil {
					suspected++
				}
			}
		}
	}
	for _, f := range []string{"load", "store"} {
		for _, space := range "GWL" {
			for _, dwords := range []int{1, 2, 4} {
				for _, n := range []int{32, 64} {
					if name := fmt.Sprintf("%s%c%d/%d", f, space, dwords, n); fast[name] < 10 {
						t.Errorf("%s executed %d times by its form, want 10", name, fast[name])
					}
				}
			}
		}
	}
	if suspected == 0 {
		t.Error("no race was suspected")
	}
}

func (a *memoryRig) compare(t *testing.T, b *memoryRig, what string, all bool) {
	t.Helper()
	for i := range a.w.rows {
		for l, v := range a.w.rows[i][:a.w.n] {
			if want := b.w.rows[i][l]; v != want {
				t.Fatalf("%s: row %d lane %d: got %08x, want %08x", what, i, l, v, want)
			}
		}
		full := a.w.full
		if x, y := a.w.shadow.v[i], b.w.shadow.v[i]; x.lo&full != y.lo&full || x.hi&full != y.hi&full {
			t.Fatalf("%s: row %d: defined %x, want %x", what, i, x, y)
		}
	}
	ar, br := a.regions(), b.regions()
	for k := range ar {
		x, y := ar[k], br[k]
		if !bytes.Equal(x.data, y.data) {
			t.Fatalf("%s: bytes of %s differ", what, x.name)
		}
		if !bytes.Equal(x.def, y.def) {
			t.Fatalf("%s: bytes written of %s differ", what, x.name)
		}
		if (x.saved.Load() == nil) != (y.saved.Load() == nil) {
			t.Fatalf("%s: saved contents of %s differ", what, x.name)
		}
		s, u := a.g.raced[x], b.g.raced[y]
		if (s == nil) != (u == nil) {
			t.Fatalf("%s: records of races in %s: %v, want %v", what, x.name, s != nil, u != nil)
		}
		if s == nil || !all {
			continue
		}
		if !reflect.DeepEqual(s.suspects, u.suspects) {
			t.Fatalf("%s: suspects in %s differ", what, x.name)
		}
		for i := range s.chunks {
			c, d := s.chunks[i], u.chunks[i]
			if (c == nil) != (d == nil) {
				t.Fatalf("%s: chunk %d of %s: %v, want %v", what, i, x.name, c != nil, d != nil)
			}
			for j := range raceChunkDwords {
				if c == nil {
					break
				}
				w, r := c.at(j)
				if ww, wr := d.at(j); w != ww || r != wr {
					t.Fatalf("%s: records of dword %d of %s: got %x %x, want %x %x (this wave %x)", what, i*raceChunkDwords+j, x.name, w, r, ww, wr, a.w.race.id)
				}
			}
		}
	}
	if !reflect.DeepEqual(a.g.counts, b.g.counts) {
		t.Fatalf("%s: counts %+v, want %+v", what, a.g.counts, b.g.counts)
	}
	if len(a.w.effects) != len(b.w.effects) || len(a.g.finds.byKey) != len(b.g.finds.byKey) {
		t.Fatalf("%s: %d effects, %d findings, want %d, %d", what, len(a.w.effects), len(a.g.finds.byKey), len(b.w.effects), len(b.g.finds.byKey))
	}
}
