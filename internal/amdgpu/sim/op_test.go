package sim

import (
	"math"
	"sync"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A bench executes single instructions on a wave.
type bench struct {
	t testing.TB
	c *compiler
	w *wave

	last isa.Inst // that ran
}

// testSpecs is allSpecs, made once.
var testSpecs = sync.OnceValue(allSpecs)

// newBench returns a bench whose wave has all lanes active and 32 VGPRs.
func newBench(t testing.TB, arch isa.Arch) *bench {
	n := arch.WaveSize()
	full := ^uint64(0) >> (64 - n)
	w := &wave{rows: make([]lanes, firstVGPR+32), exec: full, full: full, n: n, arch: arch, mode: arith.DefaultMode, g: new(group)}
	return &bench{t: t, c: newCompiler(arch, n, testSpecs()), w: w}
}

// v is VGPR r.
func (b *bench) v(r int) *lanes { return &b.w.rows[firstVGPR+r] }

func (b *bench) run(in isa.Inst) {
	b.t.Helper()
	in.Arch = b.w.arch
	o := b.c.compile(&in)
	o.run(b.w, &o)
	b.last = in
	if b.w.err != nil {
		b.t.Fatal(b.w.err)
	}
}

func vgpr(r int) isa.Operand { return isa.Operand{Kind: isa.VGPR, Reg: uint16(r), Width: 1} }
func sgpr(r int) isa.Operand { return isa.Operand{Kind: isa.SGPR, Reg: uint16(r), Width: 1} }

func inst(enc isa.Encoding, name string, dst isa.Operand, src ...isa.Operand) isa.Inst {
	in := isa.Inst{Name: name, Enc: enc, Dst: [2]isa.Operand{dst}, NDst: 1, NSrc: uint8(len(src)), Size: 4}
	copy(in.Src[:], src)
	return in
}

func TestSources(t *testing.T) {
	for _, arch := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		b := newBench(t, arch)
		for i := range b.v(1) {
			b.v(1)[i] = math.Float32bits(float32(i))
		}
		b.w.s[3] = math.Float32bits(10)
		check := func(what string, want func(i int) float32) {
			t.Helper()
			for i := range b.w.n {
				if got := math.Float32frombits(b.v(0)[i]); got != want(i) {
					t.Errorf("%v %s: lane %d got %v, want %v", arch, what, i, got, want(i))
					return
				}
			}
		}
		b.run(inst(isa.VOP2, "v_add_f32", vgpr(0), sgpr(3), vgpr(1)))
		check("sgpr", func(i int) float32 { return 10 + float32(i) })
		b.w.s[3] = math.Float32bits(20)
		b.run(inst(isa.VOP2, "v_add_f32", vgpr(0), sgpr(3), vgpr(1)))
		check("changed sgpr", func(i int) float32 { return 20 + float32(i) })
		b.run(inst(isa.VOP2, "v_add_f32", vgpr(0), isa.Operand{Kind: isa.Literal, Imm: 0x3fc00000, Width: 1}, vgpr(1)))
		check("literal", func(i int) float32 { return 1.5 + float32(i) })

		in := inst(isa.VOP3, "v_add_f32", vgpr(0), vgpr(1), sgpr(3))
		in.Mod.Neg = 1
		b.run(in)
		check("neg", func(i int) float32 { return 20 - float32(i) })
		in.Mod.Neg, in.Mod.Abs = 3, 3
		b.run(in)
		check("-|x|", func(i int) float32 { return -20 - float32(i) })
		in.Mod = isa.Modifiers{Clamp: true}
		b.w.s[3] = math.Float32bits(-3.5)
		b.run(in)
		check("clamp", func(i int) float32 { return max(0, min(1, float32(i)-3.5)) })

		b.w.exec = 5
		b.run(inst(isa.VOP1, "v_mov_b32", vgpr(0), isa.Operand{Kind: isa.InlineFloat, Imm: 0x40000000, Width: 1}))
		check("partial exec", func(i int) float32 {
			if i == 0 || i == 2 {
				return 2
			}
			return max(0, min(1, float32(i)-3.5))
		})
	}
}

func TestSDWA(t *testing.T) {
	b := newBench(t, isa.GFX90A)
	b.v(1)[7], b.v(2)[7], b.v(0)[7] = 0x11f23344, 0x00000500, 0xaabbccdd
	in := inst(isa.VOP2, "v_add_u32", vgpr(0), vgpr(1), vgpr(2))
	in.Form = isa.SDWA
	in.SDWA = isa.SDWASel{Dst: isa.Byte1, Src0: isa.Byte2, Src1: isa.Byte1, Unused: isa.UnusedPreserve}
	b.run(in)
	if got, want := b.v(0)[7], uint32(0xaabbf7dd); got != want {
		t.Errorf("preserve: got %08x, want %08x", got, want)
	}
	in.SDWA.Unused = isa.UnusedPad
	b.run(in)
	if got, want := b.v(0)[7], uint32(0x0000f700); got != want {
		t.Errorf("pad: got %08x, want %08x", got, want)
	}
	in.SDWA.Unused, in.SDWA.Sext = isa.UnusedSext, 1
	b.run(in)
	if got, want := b.v(0)[7], uint32(0xfffff700); got != want {
		t.Errorf("sext: got %08x, want %08x", got, want)
	}
	in.SDWA.Dst = isa.DWord
	b.run(in)
	if got, want := b.v(0)[7], uint32(0xfffffff7); got != want {
		t.Errorf("dword: got %08x, want %08x", got, want)
	}
}

func TestDual(t *testing.T) {
	b := newBench(t, isa.GFX1100)
	b.v(0)[3], b.v(1)[3] = 10, 20
	y := inst(isa.VOPD, "v_dual_mov_b32", vgpr(1), vgpr(0))
	in := inst(isa.VOPD, "v_dual_mov_b32", vgpr(0), vgpr(1))
	in.Y = &y
	b.run(in)
	if b.v(0)[3] != 20 || b.v(1)[3] != 10 {
		t.Errorf("swap: got %d, %d, want 20, 10", b.v(0)[3], b.v(1)[3])
	}
}

// TestUnknown checks that an instruction without handler is a refusal when
// met, not when compiled.
func TestUnknown(t *testing.T) {
	b := newBench(t, isa.GFX90A)
	in := inst(isa.VOP3P, "v_mfma_f32_4x4x1f32", vgpr(0), vgpr(1), vgpr(2))
	in.PC = 0x1a40
	o := b.c.compile(&in)
	o.run(b.w, &o)
	want := "instruction v_mfma_f32_4x4x1f32 at 0x1a40: matrix instructions are not interpreted, since their order of accumulation is not documented"
	if b.w.state != waveFailed || b.w.err == nil || b.w.err.Error() != want {
		t.Errorf("got %v, want %v", b.w.err, want)
	}
}

func BenchmarkAddF32(b *testing.B) {
	x := newBench(b, isa.GFX90A)
	in := inst(isa.VOP2, "v_add_f32", vgpr(0), vgpr(1), vgpr(2))
	o := x.c.compile(&in)
	for i := range x.v(1) {
		x.v(1)[i] = math.Float32bits(float32(i))
	}
	for b.Loop() {
		o.run(x.w, &o)
	}
	b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds()/1e9, "Glane-ops/s")
}
