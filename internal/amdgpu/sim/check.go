package sim

import (
	"cmp"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// findings are the errors found by one goroutine, folded by what they say.
type findings struct {
	byKey map[findingKey]*finding
}

type findingKey struct {
	check  gpu.Check
	pc     uint64
	buffer *region
	space  string
	access string
	other  *op  // of a race
	lanes  bool // a race between lanes of one instruction
	load   *op  // of a race of a plain load with an atomic: the load
}

type finding struct {
	gpu.Finding
	group uint64 // of the first hit
}

func (f *finding) otherPC() uint64 {
	if f.Other == nil {
		return 0
	}
	return f.Other.PC
}

// note adds a hit. fill completes a new finding.
func (g *group) note(w *wave, o *op, lane int, key findingKey, off int64, size int, fill func(f *gpu.Finding)) {
	if g.finds.byKey == nil {
		g.finds.byKey = map[findingKey]*finding{}
	}
	key.pc = o.in.PC
	f := g.finds.byKey[key]
	if f == nil {
		f = &finding{group: ^uint64(0)}
		g.finds.byKey[key] = f
		f.MinOffset, f.MaxOffset = off, off
	}
	f.Count++
	f.MinOffset, f.MaxOffset = min(f.MinOffset, off), max(f.MaxOffset, off)
	if g.linear < f.group {
		f.group = g.linear
		f.Finding = gpu.Finding{
			Check: key.check, Kernel: g.l.kernel.Kernel.Name, Access: key.access, Space: key.space,
			First: g.place(w, o, lane), Count: f.Count, Size: size, Offset: off, MinOffset: f.MinOffset, MaxOffset: f.MaxOffset,
		}
		if r := key.buffer; r != nil {
			f.Buffer, f.BufferSize = r.name, int64(len(r.data))
		}
		if fill != nil {
			fill(&f.Finding)
		}
	}
}

// place says where lane of w executes o.
func (g *group) place(w *wave, o *op, lane int) gpu.Place {
	return g.l.place(o, g.linear, w.id, lane)
}

// place says where a lane of a wave of a work-group executes o.
func (l *launch) place(o *op, group uint64, wave, lane int) gpu.Place {
	b := l.cfg.Block
	t := uint32(wave*l.waveSize + lane)
	source, inlined := l.kernel.mod.source(o.in.PC)
	return gpu.Place{
		PC: o.in.PC, Inst: o.in.String(), Source: source, Inlined: inlined,
		Group: l.groupID(group), Wave: wave, Lane: lane,
		Thread: gpu.Dim3{X: t % b.X, Y: t / b.X % b.Y, Z: t / b.X / b.Y},
	}
}

// groupID is the block index of a work-group's number.
func (l *launch) groupID(linear uint64) gpu.Dim3 {
	x, y := uint64(l.cfg.Grid.X), uint64(l.cfg.Grid.Y)
	return gpu.Dim3{X: uint32(linear % x), Y: uint32(linear / x % y), Z: uint32(linear / x / y)}
}

// source is the source line of an address, and that in an included file
// where its code is inlined, "" where the object has none.
func (m *module) source(pc uint64) (line, inlined string) {
	m.lines.Lock()
	defer m.lines.Unlock()
	return m.file.Line(pc)
}

// mergeFindings joins what the goroutines found, in an order that does not
// depend on which found what.
func (l *launch) mergeFindings(gs []*group) []gpu.Finding {
	all := map[findingKey]*finding{}
	for _, g := range gs {
		for k, f := range g.finds.byKey {
			a := all[k]
			if a == nil {
				all[k] = f
				continue
			}
			n, lo, hi := a.Count+f.Count, min(a.MinOffset, f.MinOffset), max(a.MaxOffset, f.MaxOffset)
			if f.group < a.group {
				a = f
				all[k] = f
			}
			a.Count, a.MinOffset, a.MaxOffset = n, lo, hi
		}
	}
	var out []*finding
	for _, f := range all {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.First.PC, b.First.PC), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Space, b.Space),
			cmp.Compare(a.Access, b.Access), cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.group, b.group),
			cmp.Compare(a.otherPC(), b.otherPC()), cmp.Compare(a.Detail, b.Detail))
	})
	var fs []gpu.Finding
	for _, f := range out {
		fs = append(fs, f.Finding)
	}
	return fs
}

// outOfBounds notes that lane i accesses global memory outside a buffer.
func (g *group) outOfBounds(w *wave, o *op, i int) {
	g.outside(w, o, i, g.ea[i], g.mem.nearest(g.ea[i]))
}

func (g *group) outside(w *wave, o *op, i int, addr uint64, r *region) {
	m := o.mem
	key := findingKey{check: gpu.OutOfBounds, buffer: r, space: "global", access: m.fold.String()}
	off := int64(addr)
	if r != nil {
		key.space = r.space
		off = int64(addr - r.base)
	}
	g.note(w, o, i, key, off, m.size, func(f *gpu.Finding) {
		switch {
		case r == nil && addr < 1<<16:
			f.Detail = "through a null pointer"
		case r != nil && !r.live:
			f.Detail = "the buffer is freed"
		case r != nil && r.readOnly && m.kind != memLoad && r.contains(addr, m.size):
			f.Detail = "the memory belongs to the runtime and must not be written"
		case r == nil || r.space == "global" && r.far(addr):
			f.Detail = "the address is " + g.mem.relative(addr)
		}
	})
}

// outOfBoundsAt notes that lane i accesses LDS, region r, outside it.
func (g *group) outOfBoundsAt(w *wave, o *op, i int, r *region) {
	g.outside(w, o, i, g.ea[i], r)
}

// outOfBoundsScalar is outOfBounds for a scalar load.
func (g *group) outOfBoundsScalar(w *wave, o *op, addr uint64) {
	g.outside(w, o, w.firstLane(), addr, g.mem.nearest(addr))
}

func (g *group) outOfBoundsScratch(w *wave, o *op, i int) {
	g.outside(w, o, i, g.l.stack.base+g.ea[i], g.l.stack)
}
