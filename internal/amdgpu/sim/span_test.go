package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A spanTest executes spans by uops and by the handlers of their
// instructions, on registers of edge values and random ones, and compares all
// registers.
type spanTest struct {
	*testing.T
	kernel *kernel // for messages on accesses outside memory, which all are here
	r      *rand.Rand
	edges  []uint64
	tried  map[int32]int
	stops  int
	vgprs  int // that get values
}

func newSpanTest(t *testing.T) *spanTest {
	if vectors == levelGo {
		t.Skip("no uops here")
	}
	return &spanTest{T: t, r: rand.New(rand.NewPCG(5, 6)), edges: tF32.edges(), tried: map[int32]int{}, vgprs: 64}
}

func (t *spanTest) value() uint32 {
	switch t.r.IntN(8) {
	case 0:
		return uint32(t.edges[t.r.IntN(len(t.edges))])
	case 1:
		return t.r.Uint32N(70)
	case 2:
		return -t.r.Uint32N(4)
	case 3, 4:
		return t.r.Uint32()
	}
	return uint32(tF32.random(t.r))&^(0x7f800000) | 0x3f000000 + t.r.Uint32N(4)<<23
}

// wave returns a wave that executes spans alone.
func (t *spanTest) wave(u *unit, arch isa.Arch, n int, plain bool) *wave {
	l := &launch{kernel: t.kernel, waves: 1, waveSize: n}
	l.cfg.Grid, l.cfg.Block = x(1), x(n)
	w := &wave{n: n, full: ^uint64(0) >> (64 - n), arch: arch, g: &group{l: l, mem: new(space), plain: plain}}
	w.enter(u)
	w.rows = make([]lanes, firstVGPR+512)
	w.growShadow(len(w.rows))
	w.mode = arith.ModeOf(0x00ac_0000 | 0xf0<<12)
	if !w.mode.Default32() || !w.mode.Default1664() {
		t.Fatal("not the default mode")
	}
	return w
}

// compare executes s times over.
func (t *spanTest) compare(u *unit, s *span, arch isa.Arch, n, times int) {
	t.Helper()
	a, b := t.wave(u, arch, n, false), t.wave(u, arch, n, true)
	for range times {
		for i := range a.rows[:firstVGPR+t.vgprs] {
			for j := range a.rows[i] {
				a.rows[i][j] = t.value()
			}
		}
		for i := range a.s {
			a.s[i] = t.value()
		}
		a.scc = t.r.Uint32N(2)
		a.exec = [...]uint64{^uint64(0), ^uint64(0), t.r.Uint64(), 0, 1 << t.r.IntN(64)}[t.r.IntN(5)] & a.full
		copy(b.rows, a.rows)
		b.s, b.scc, b.exec = a.s, a.scc, a.exec
		before := a.s
		for _, w := range []*wave{a, b} {
			if !w.runSpan(s) {
				t.Fatal("a span was not executed")
			}
		}
		if len(s.slow) > 0 && a.stopped >= 0 {
			t.stops++
		}
		for i := range s.uops {
			t.tried[s.uops[i].code]++
		}
		text := func() (l []string) {
			for i := range s.n {
				l = append(l, u.ops[s.first+i].in.Name+" "+u.ops[s.first+i].in.String())
			}
			return l
		}
		for i := firstVGPR; i < len(a.rows); i++ {
			if a.rows[i] == b.rows[i] {
				continue
			}
			for j := range a.rows[i][:n] {
				if a.rows[i][j] != b.rows[i][j] {
					t.Fatalf("%v: v%d lane %d: got %08x, want %08x, exec %x, s %x, after %q", arch, i-firstVGPR, j, a.rows[i][j], b.rows[i][j], a.exec, before, text())
				}
			}
		}
		if a.s != b.s || a.scc != b.scc || a.exec != b.exec || a.pc != b.pc {
			t.Fatalf("%v: scalars: got %x scc %d, want %x scc %d, exec %x, after %q", arch, a.s, a.scc, b.s, b.scc, a.exec, text())
		}
	}
}

// TestSpans tries the spans of real kernels.
func TestSpans(t *testing.T) { eachLevel(t, testSpans) }

func testSpans(t *testing.T) {
	st := newSpanTest(t)
	for _, arch := range archs {
		seen := map[int32]int{}
		for _, object := range []string{"base", "bench", "../../../../testdata/corpus/O3"} {
			m := newRig(t, object, arch, Options{}).mod.(*module)
			st.kernel = &kernel{m, m.Kernels()[0]}
			wave := m.dev.arch.WaveSize()
			for _, start := range m.functions() {
				u, err := m.unitAt(start, wave)
				if err != nil {
					t.Fatal(err)
				}
				for i := range u.ops {
					s := u.ops[i].span
					if s == nil {
						continue
					}
					// Spans made of forms that were tried often say nothing new.
					fresh := false
					for i := range s.uops {
						seen[s.uops[i].code]++
						fresh = fresh || seen[s.uops[i].code] < 10
					}
					if fresh {
						st.compare(u, s, m.dev.arch, wave, 2)
					}
				}
			}
		}
	}
	if len(st.tried) < 200 {
		t.Errorf("%d forms tried, want 200", len(st.tried))
	}
}

// TestForms tries each form alone, in all kinds of operands.
func TestForms(t *testing.T) { eachLevel(t, testForms) }

func testForms(t *testing.T) {
	st := newSpanTest(t)
	specs := allSpecs()
	st.vgprs = 16
	const dst = firstVGPR + 10
	source := func(kind byte, i int) src {
		if kind == 'S' {
			return src{kind: srcSGPR, reg: int32(20 + 2*i), slot: uint8(i)}
		}
		return src{kind: srcRow, reg: int32(firstVGPR + 2*i), slot: uint8(i)}
	}
	try := func(o op, n int) bool {
		t.Helper()
		u := &unit{ops: []op{o}}
		b := spanBuilder{u: u, span: &span{}, wave: n}
		if !b.add(&u.ops[0]) {
			return false
		}
		s := b.finish(1)
		if s == nil { // a scalar instruction alone
			b.vectors = 1
			s = b.finish(1)
		}
		st.compare(u, s, isa.GFX90A, n, 40)
		return true
	}
	for name, f := range vectorForms {
		takes := formOperands(f.form)
		for _, kinds := range formKinds[takes] {
			for _, n := range []int{32, 64} {
				for _, sameDst := range []bool{false, true} {
					in := &isa.Inst{Name: name, Enc: isa.VOP3, NSrc: uint8(takes)}
					o := op{in: in, run: specs[name].run, dst: dst, final: dst, target: -1, flags: opVALU}
					sources := takes
					if f.acc {
						sources--
						in.NSrc--
					}
					k := []byte(kinds)
					if f.swap {
						k[0], k[1] = k[1], k[0]
					}
					for i := range sources {
						o.src[i] = source(k[i], i)
					}
					if f.acc && k[2] == 'S' {
						continue
					}
					if sameDst {
						o.dst = firstVGPR
						o.final = o.dst
					}
					if strings.HasSuffix(f.form, "Co") || strings.HasPrefix(name, "v_cmp_") || f.form == "madU64" {
						o.sd = sdst{sdstSGPR, 30, 2}
					}
					if strings.HasPrefix(name, "v_cmp_") {
						o.dst, o.final = tmpOut, tmpOut
					}
					switch f.form {
					case "cndmask", "addcCo", "subbCo":
						in.NSrc = 3
						o.src[2] = src{kind: srcSGPR, reg: 30, slot: 2}
					}
					o.sh = &shadowOperands{dst: o.final, n: 1, lo: true, hi: true}
					if !try(o, n) && !strings.Contains(f.form, "64") {
						t.Errorf("%s of %s is not taken", name, k)
					}
				}
			}
		}
	}
	// Both halves of a 64-bit addition.
	paired := map[int32]bool{}
	for _, low := range formKinds[2] {
		for _, high := range formKinds[2] {
			for _, n := range []int{32, 64} {
				for k := range 8 {
					sd, dsts := int32(30), [2]int32{dst, dst + 1}
					switch k {
					case 1:
						dsts = [2]int32{firstVGPR, firstVGPR + 2} // the same as sources
					case 2:
						dsts = [2]int32{firstVGPR + 2, firstVGPR}
					case 3:
						dsts[0] = dsts[1]
					case 4:
						sd = 20 // a scalar source of the second
					case 5:
						sd = 22
					}
					u := &unit{}
					for i, name := range []string{"v_add_co_u32", "v_addc_co_u32"} {
						o := op{in: &isa.Inst{Name: name, Enc: isa.VOP3, NSrc: uint8(2 + i)}, run: specs[name].run, dst: dsts[i], final: dsts[i], target: -1, flags: opVALU}
						for j, kind := range []byte([]string{low, high}[i]) {
							o.src[j] = source(kind, j)
						}
						if i == 1 {
							o.src[2] = src{kind: srcSGPR, reg: sd, slot: 2}
						}
						o.sd = sdst{sdstSGPR, sd, 2}
						if k == 6 && i == 1 {
							o.sd.reg = 40
						}
						if k == 7 && i == 0 {
							o.sd.reg = 40 // not the carries of the second
						}
						o.sh = &shadowOperands{dst: o.final, n: 1, lo: true, hi: true}
						u.ops = append(u.ops, o)
					}
					b := spanBuilder{u: u, span: &span{}, wave: n}
					for i := range u.ops {
						if !b.add(&u.ops[i]) {
							t.Fatal("an addition is not taken")
						}
					}
					s := b.finish(2)
					for i := range s.uops {
						paired[s.uops[i].code] = true
					}
					st.compare(u, s, isa.GFX90A, n, 20)
				}
			}
		}
	}
	for _, pair := range addPairs {
		if !paired[pair] {
			t.Errorf("form %d of additions not tried", pair)
		}
	}
	for name, form := range scalarForms {
		wide := uint8(1)
		if strings.HasSuffix(name, "64") {
			wide = 2
		}
		in := &isa.Inst{Name: name, Enc: isa.SOP2, NSrc: 2}
		if strings.HasPrefix(form, "sMov") || strings.HasPrefix(form, "sNot") {
			in.NSrc = 1
		}
		for i := range in.Src {
			in.Src[i].Width = wide
		}
		o := op{in: in, run: specs[name].run, target: -1, imm: -7, src: [3]src{source('S', 0), source('S', 1)}, sd: sdst{sdstSGPR, 20, wide}}
		if strings.HasPrefix(form, "sCmp") {
			o.sd = sdst{}
		}
		if name == "s_movk_i32" {
			in.NSrc = 0
		}
		if !try(o, 64) {
			t.Errorf("%s is not taken", name)
		}
	}
	// Modifiers.
	for _, m := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		for _, kind := range []byte("RS") {
			for _, n := range []int{32, 64} {
				o := op{in: &isa.Inst{Name: "v_add_f32", Enc: isa.VOP3, NSrc: 2}, run: specs["v_add_f32"].run, dst: dst, final: dst, target: -1}
				o.src[0] = src{kind: srcMod, x: &srcExtra{base: source(kind, 0), neg: m[0], abs: m[1], sel: isa.DWord}}
				o.src[1] = source('R', 1)
				o.sh = &shadowOperands{dst: dst, n: 1}
				if !try(o, n) {
					t.Error("a modifier is not taken")
				}
			}
		}
	}
	scalar := map[string]bool{}
	for _, f := range scalarForms {
		scalar[f] = true
	}
	var missing []string
	for name, n := range formNumbers {
		if strings.HasPrefix(name, "addPair") {
			continue // see above
		}
		if name == "onlyGo" || strings.HasPrefix(name, "load") || strings.HasPrefix(name, "store") {
			continue // see TestMemoryForms
		}
		if st.tried[int32(n)] == 0 || !scalar[name] && st.tried[int32(n)+1] == 0 {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	// Two scalars in one instruction become rows by the form that a move has.
	if len(missing) > 0 {
		t.Errorf("forms not tried: %q", missing)
	}
	if st.stops > 0 {
		t.Errorf("%d spans ended at a stop", st.stops)
	}
}

// formKinds are the ways in which operands are rows or scalars.
var formKinds = map[int][]string{
	1: {"R", "S"},
	2: {"RR", "SR", "RS", "SS"},
	3: {"RRR", "SRR", "RSR", "RRS", "SSR"},
}
