package sim

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A memState is registers and memory with what of them is defined.
type memState struct {
	rows     []lanes
	v        []halves
	s        [numScalars]uint32
	sDefined [numScalars]uint32
	mem, def [3][]byte // two buffers and LDS
	scratch  []byte
	private  []uint64
}

func (mb *memBench) regions() []*region {
	return []*region{mb.buffers[0], mb.buffers[1], &mb.w.g.lds.region}
}

func (mb *memBench) save() *memState {
	w := mb.w
	m := &memState{rows: slices.Clone(w.rows), v: slices.Clone(w.shadow.v), s: w.s, sDefined: w.shadow.s, scratch: bytes.Clone(w.scratch.data), private: slices.Clone(w.scratch.def)}
	for i, r := range mb.regions() {
		m.mem[i], m.def[i] = bytes.Clone(r.data), bytes.Clone(r.def)
	}
	return m
}

func (mb *memBench) restore(m *memState) {
	w := mb.w
	copy(w.rows, m.rows)
	copy(w.shadow.v, m.v)
	w.s, w.shadow.s = m.s, m.sDefined
	copy(w.scratch.data, m.scratch)
	copy(w.scratch.def, m.private)
	for i, r := range mb.regions() {
		copy(r.data, m.mem[i])
		copy(r.def, m.def[i])
	}
}

// scramble gives other values to what is not defined.
func (mb *memBench) scramble(m *memState) {
	for row, h := range m.v {
		for l := range mb.w.n {
			keep := uint32(h.lo>>l&1)*0xffff | uint32(h.hi>>l&1)*0xffff0000
			m.rows[row][l] = m.rows[row][l]&keep | mb.r.Uint32()&^keep
		}
	}
	for i, d := range m.sDefined {
		m.s[i] = m.s[i]&d | mb.r.Uint32()&^d
	}
	for i := range m.mem {
		for k, d := range m.def[i] {
			if d == 0 {
				m.mem[i][k] = byte(mb.r.Uint32())
			}
		}
	}
	for k, d := range m.private {
		for l := range mb.w.n {
			if d>>l&1 == 0 {
				m.scratch[k*mb.w.n+l] = byte(mb.r.Uint32())
			}
		}
	}
}

// TestMemoryShadowSound is TestShadowSound for memory instructions: what is
// loaded from defined memory is defined, what depends on what is not is not
// called so, in registers, shared memory and scratch; and what is stored to
// global memory is reported.
func TestMemoryShadowSound(t *testing.T) {
	for _, arch := range allArchs {
		tried := 0
		for _, op := range knownOps(arch) {
			var form *memForm
			switch op.Enc {
			case isa.FLAT, isa.GLOBAL, isa.SCRATCH:
				form = &flatForms(op.Enc)[0]
			case isa.MUBUF:
				form = &bufferForms()[1]
			case isa.DS, isa.SMEM:
			default:
				continue
			}
			for round := range 8 {
				mb := newMemBench(t, arch, uint64(op.Opcode)+uint64(round/2))
				in, o, ok := mb.soundOp(op, form, round)
				if !ok {
					break
				}
				tried++
				if text := mb.memorySound(&in, &o, round); text != "" {
					t.Errorf("%v %v: %s", arch, in.String(), text)
					break
				}
			}
		}
		if tried < 1500 {
			t.Errorf("%v: tried %d, want 1500", arch, tried)
		}
	}
}

// soundOp compiles an instruction and sets its addresses up.
func (mb *memBench) soundOp(info isa.OpInfo, form *memForm, round int) (in isa.Inst, c op, ok bool) {
	arch := mb.w.arch
	m, parsed := parseMemory(info.Name)
	var words []uint32
	switch {
	case info.Enc == isa.DS:
		offset := uint32(0)
		if m.two != 0 {
			offset = 1 << 8
		}
		words = dsWords(arch, info, offset)
		mb.w.s[regM0] = 0
		for i, n := range mb.r.Perm(mb.w.n) {
			mb.v(memAddr)[i] = uint32(16 * n)
			if m.two == 64 {
				mb.v(memAddr)[i] = uint32(8 * n)
			}
		}
	case info.Enc == isa.SMEM:
		words = smemWords(arch, uint32(info.Opcode), smemData, 8, 16, -1, round%2 == 1)
		base := mb.buffers[0].base + 64
		mb.w.s[8], mb.w.s[9], mb.w.s[10], mb.w.s[11] = uint32(base), uint32(base>>32), 500, 0
	case !parsed:
		return in, c, false
	default:
		words = form.words(arch, uint32(info.Opcode), round%2 == 1)
		form.places(mb, mb.wantPlaces(form.spaces, m.bits/8, m.bits/8, 1), m.bits/8)
	}
	in, err := isa.Decode(arch, dwords(words...), 0)
	if err != nil || in.Name != info.Name || in.Enc != info.Enc {
		return in, c, false
	}
	c, err = mb.c.try(&in)
	return in, c, err == nil
}

// launched makes a wave one of a launch that reports what it finds, but for
// races.
func (w *wave) launched(l *launch, o *op) {
	g := w.g
	one := gpu.Dim3{X: 64, Y: 1, Z: 1}
	mod := &module{file: &codeobject.File{}, image: &region{}}
	l.kernel, l.cfg, l.waveSize = &kernel{mod, &codeobject.Kernel{Name: "k"}}, gpu.LaunchConfig{Grid: one, Block: one}, w.n
	g.l, g.checks, g.noRaces, g.finds = l, true, true, findings{}
	g.waves = []*wave{w}
	w.unit, w.live = &unit{ops: []op{*o}}, w.full
}

// memorySound executes an instruction with checks, twice with what is
// undefined at odds, and says what is wrong.
func (mb *memBench) memorySound(in *isa.Inst, o *op, round int) string {
	w, g := mb.w, mb.w.g
	kind := round / 2 % 3
	defined := func(n int) []byte { return bytes.Repeat([]byte{1}, n) }
	for i := range w.shadow.v {
		w.shadow.v[i] = allDefined
	}
	for i := range w.shadow.s {
		w.shadow.s[i] = ^uint32(0)
	}
	for _, r := range mb.regions() {
		r.def = defined(len(r.data))
	}
	w.scratch.def = make([]uint64, testScratch)
	for i := range w.scratch.def {
		w.scratch.def[i] = ^uint64(0)
	}
	if kind&1 != 0 { // memory
		for _, r := range mb.regions() {
			for i := range r.def {
				r.def[i] = byte(mb.r.Uint32N(8) & 1)
			}
		}
		for i := range w.scratch.def {
			w.scratch.def[i] = mb.r.Uint64() | mb.r.Uint64()
		}
	}
	if kind&2 != 0 { // data
		for v := memData; v < memDst+4; v++ {
			w.shadow.v[firstVGPR+v] = halves{mb.r.Uint64() | mb.r.Uint64(), mb.r.Uint64() | mb.r.Uint64()}
		}
		for s := smemData; s < smemData+16; s++ {
			w.shadow.s[s] = mb.r.Uint32() | mb.r.Uint32()
		}
	}
	w.launched(g.l, o)
	start := mb.save()
	run := func() *memState {
		if o.shadow != nil {
			o.shadow(w, o)
		}
		o.run(w, o)
		return mb.save()
	}
	a := run()
	found := len(g.finds.byKey)
	if kind == 0 && found != 0 {
		for k := range g.finds.byKey {
			return fmt.Sprintf("all is defined, yet %+v is found", k)
		}
	}
	mb.scramble(start)
	mb.restore(start)
	b := run()
	if w.err != nil {
		return fmt.Sprint(w.err)
	}
	for v := range 32 {
		h := a.v[firstVGPR+v]
		if kind == 0 && h != allDefined {
			return fmt.Sprintf("all is defined, yet v%d becomes undefined", v)
		}
		for l := range w.n {
			d := a.rows[firstVGPR+v][l] ^ b.rows[firstVGPR+v][l]
			if (d&0xffff != 0 && h.lo>>l&1 != 0 || d>>16 != 0 && h.hi>>l&1 != 0) && found == 0 {
				return fmt.Sprintf("exec %x: v%d lane %d is called defined, and becomes %08x or %08x", w.exec, v, l, a.rows[firstVGPR+v][l], b.rows[firstVGPR+v][l])
			}
		}
	}
	for i := range regM0 {
		if kind == 0 && a.sDefined[i] != ^uint32(0) {
			return fmt.Sprintf("all is defined, yet s%d becomes undefined", i)
		}
		if d := (a.s[i] ^ b.s[i]) & a.sDefined[i]; d != 0 && found == 0 {
			return fmt.Sprintf("s%d is called defined, and becomes %08x or %08x", i, a.s[i], b.s[i])
		}
	}
	for i, name := range []string{"a buffer", "another buffer", "shared memory"} {
		for k := range a.mem[i] {
			switch {
			case kind == 0 && a.def[i][k] == 0:
				return fmt.Sprintf("all is defined, yet byte %d of %s becomes undefined", k, name)
			case a.mem[i][k] != b.mem[i][k] && a.def[i][k] != 0 && (i == 2 || found == 0):
				return fmt.Sprintf("exec %x: byte %d of %s is called defined, and becomes %02x or %02x", w.exec, k, name, a.mem[i][k], b.mem[i][k])
			}
		}
	}
	for k := range a.private {
		for l := range w.n {
			at := k*w.n + l
			switch d := a.private[k] >> l & 1; {
			case kind == 0 && d == 0:
				return fmt.Sprintf("all is defined, yet byte %d of lane %d's scratch becomes undefined", k, l)
			case a.scratch[at] != b.scratch[at] && d != 0:
				return fmt.Sprintf("exec %x: byte %d of lane %d's scratch is called defined, and becomes %02x or %02x", w.exec, k, l, a.scratch[at], b.scratch[at])
			}
		}
	}
	return ""
}
