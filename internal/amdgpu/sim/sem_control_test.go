package sim

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A program is a bench with a function of instructions, as a module has it.
type program struct {
	*bench
	pcs []uint64 // of the instructions
}

const (
	programStart = 0x1100     // in the image
	programImage = 0x70000000 // in memory
)

// newProgram assembles a function from words.
func newProgram(t *testing.T, arch isa.Arch, words ...uint32) *program {
	t.Helper()
	p := &program{bench: newBench(t, arch)}
	code := dwords(words...)
	p.w.g.l = &launch{kernel: &kernel{mod: &module{image: &region{base: programImage}}}}
	u := &unit{start: programStart, end: programStart + 4*uint64(len(words)), index: make([]int32, len(words))}
	var insts []isa.Inst
	for at := 0; at < 4*len(words); {
		in, err := isa.Decode(arch, code[at:], programStart+uint64(at))
		if err != nil {
			t.Fatal(err)
		}
		p.pcs = append(p.pcs, in.PC)
		for k := 0; k < int(in.Size); k += 4 {
			u.index[at/4+k/4] = -1
		}
		u.index[at/4] = int32(len(insts))
		insts = append(insts, in)
		at += int(in.Size)
	}
	for i := range insts {
		o := p.c.compile(&insts[i])
		o.link(u)
		u.ops = append(u.ops, o)
	}
	p.w.unit = u
	return p
}

// step executes instruction i and returns the one that comes next.
func (p *program) step(i int) int {
	p.t.Helper()
	p.w.at, p.w.pc = int32(i), int32(i)+1
	o := &p.w.unit.ops[i]
	o.run(p.w, o)
	if p.w.err != nil {
		p.t.Fatal(p.w.err)
	}
	return int(p.w.pc)
}

func sopp(t *testing.T, arch isa.Arch, name string, imm uint16) uint32 {
	t.Helper()
	for _, op := range knownOps(arch) {
		if op.Name == name && op.Enc == isa.SOPP {
			return 0xbf800000 | uint32(op.Opcode)<<16 | uint32(imm)
		}
	}
	t.Fatalf("%v has no %s", arch, name)
	return 0
}

func sop(t *testing.T, arch isa.Arch, enc isa.Encoding, name string, dst, a uint32) uint32 {
	t.Helper()
	for _, op := range knownOps(arch) {
		if op.Name == name && op.Enc == enc {
			if enc == isa.SOPK {
				return 0xb0000000 | uint32(op.Opcode)<<23 | dst<<16 | a&0xffff
			}
			return 0xbe800000 | dst<<16 | uint32(op.Opcode)<<8 | a
		}
	}
	t.Fatalf("%v has no %s", arch, name)
	return 0
}

// TestBranches has every branch with every state of what it looks at, both
// ways, over an instruction of two dwords.
func TestBranches(t *testing.T) {
	const literal = 0xbe8000ff // s_mov_b32 s0, and a literal, but for the opcode
	conditions := map[string]func(scc uint32, vcc, exec bool) bool{
		"s_branch":         func(uint32, bool, bool) bool { return true },
		"s_cbranch_scc0":   func(scc uint32, _, _ bool) bool { return scc == 0 },
		"s_cbranch_scc1":   func(scc uint32, _, _ bool) bool { return scc == 1 },
		"s_cbranch_vccz":   func(_ uint32, vcc, _ bool) bool { return !vcc },
		"s_cbranch_vccnz":  func(_ uint32, vcc, _ bool) bool { return vcc },
		"s_cbranch_execz":  func(_ uint32, _, exec bool) bool { return !exec },
		"s_cbranch_execnz": func(_ uint32, _, exec bool) bool { return exec },
	}
	for _, arch := range allArchs {
		mov := sop(t, arch, isa.SOP1, "s_mov_b32", 0, 255)
		nop := sopp(t, arch, "s_nop", 0)
		for name, taken := range conditions {
			// Instruction 0 at dword 0, 1 at 1 (two dwords), 2 at 3: the
			// branch, 3 at 4 (two dwords), 4 at 6, 5 at 7.
			for imm, to := range map[uint16]int{0: 3, 2: 4, 3: 5, 0xfffc: 0, 0xfffd: 1, 0xffff: 2} {
				p := newProgram(t, arch, nop, mov, literal, sopp(t, arch, name, imm), mov, 0x1234, nop, nop)
				for state := range 24 {
					scc := uint32(state & 1)
					vcc := []uint64{0, 1, 1 << 40}[state/2%3] & p.w.full
					exec := []uint64{0, 1 << 31, 1 << 63, 5}[state/6] & p.w.full
					p.w.scc, p.w.exec = scc, exec
					p.w.s[regVCC], p.w.s[regVCC+1] = uint32(vcc), uint32(vcc>>32)
					if p.w.n == 32 {
						p.w.s[regVCC+1] = 0xffff // no part of a wave32's mask
					}
					want := 3
					if taken(scc, vcc != 0, exec != 0) {
						want = to
					}
					if got := p.step(2); got != want {
						t.Fatalf("%v %s %d: scc %d, vcc %x, exec %x: got to instruction %d, want %d", arch, name, int16(imm), scc, vcc, exec, got, want)
					}
				}
			}
			proved(arch, isa.SOPP, name)
		}
	}
}

// TestJumps has the instructions on addresses of code.
func TestJumps(t *testing.T) {
	for _, arch := range allArchs {
		nop := sopp(t, arch, "s_nop", 0)
		p := newProgram(t, arch,
			nop,
			sop(t, arch, isa.SOP1, "s_getpc_b64", 10, 0),
			sop(t, arch, isa.SOP1, "s_setpc_b64", 0, 12),
			sop(t, arch, isa.SOP1, "s_swappc_b64", 14, 12),
			sop(t, arch, isa.SOPK, "s_call_b64", 16, 0xfffb),
			nop)
		at := func(reg int) uint64 { return uint64(p.w.s[reg]) | uint64(p.w.s[reg+1])<<32 }
		after := func(i int) uint64 { return programImage + p.pcs[i] + 4 }
		if next := p.step(1); next != 2 || at(10) != after(1) {
			t.Errorf("%v s_getpc_b64: got 0x%x and instruction %d, want 0x%x and 2", arch, at(10), next, after(1))
		}
		for to := range 5 {
			target := programImage + p.pcs[to]
			p.w.s[12], p.w.s[13] = uint32(target), uint32(target>>32)
			if next := p.step(2); next != to {
				t.Errorf("%v s_setpc_b64: got to instruction %d, want %d", arch, next, to)
			}
			if next := p.step(3); next != to || at(14) != after(3) {
				t.Errorf("%v s_swappc_b64: got to instruction %d with 0x%x, want %d with 0x%x", arch, next, at(14), to, after(3))
			}
		}
		// Jumping to the address that it writes: the old value counts.
		q := newProgram(t, arch, nop, nop, sop(t, arch, isa.SOP1, "s_swappc_b64", 12, 12))
		q.w.s[12], q.w.s[13] = programImage+programStart+4, 0
		if next := q.step(2); next != 1 || q.w.s[12] != programImage+programStart+12 {
			t.Errorf("%v s_swappc_b64 in place: got to instruction %d with 0x%x", arch, next, q.w.s[12])
		}
		if next := p.step(4); next != 0 || at(16) != after(4) {
			t.Errorf("%v s_call_b64: got to instruction %d with 0x%x, want 0 with 0x%x", arch, next, at(16), after(4))
		}
		for _, name := range []string{"s_getpc_b64", "s_setpc_b64", "s_swappc_b64"} {
			proved(arch, isa.SOP1, name)
		}
		proved(arch, isa.SOPK, "s_call_b64")
	}
}

// TestModeRegister has the instructions on hardware registers.
func TestModeRegister(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, arch := range allArchs {
		for range 300 {
			b := newBench(t, arch)
			mode, v := arith.Mode(r.Uint32())&arith.ModeMask, r.Uint32()
			offset, width := r.IntN(24), 1+r.IntN(12)
			simm := uint32(1 | offset<<6 | (width-1)<<11)
			b.w.mode, b.w.s[20] = mode, v
			b.run(decoded(t, arch, "s_getreg_b32", sop(t, arch, isa.SOPK, "s_getreg_b32", 21, simm)))
			var want uint32
			for i := range width {
				want |= uint32(mode) >> (offset + i) & 1 << i
			}
			if got := b.w.s[21]; got != want {
				t.Fatalf("%v s_getreg_b32 of bits %d+%d of mode %x: got %x, want %x", arch, offset, width, mode, got, want)
			}
			if offset+width > 10 {
				continue // reaches bits that steer no arithmetic
			}
			want = uint32(mode)
			for i := range width {
				want = want&^(1<<(offset+i)) | v>>i&1<<(offset+i)
			}
			b.run(decoded(t, arch, "s_setreg_b32", sop(t, arch, isa.SOPK, "s_setreg_b32", 20, simm)))
			if got := uint32(b.w.mode); got != want {
				t.Fatalf("%v s_setreg_b32 of %x to bits %d+%d of mode %x: got %x, want %x", arch, v, offset, width, mode, got, want)
			}
			b.w.mode = mode
			b.run(decoded(t, arch, "s_setreg_imm32_b32", sop(t, arch, isa.SOPK, "s_setreg_imm32_b32", 0, simm), v))
			if got := uint32(b.w.mode); got != want {
				t.Fatalf("%v s_setreg_imm32_b32 of %x to bits %d+%d of mode %x: got %x, want %x", arch, v, offset, width, mode, got, want)
			}
			if arch == isa.GFX90A {
				continue
			}
			for at, name := range map[int]string{0: "s_round_mode", 4: "s_denorm_mode"} {
				b.w.mode = mode
				b.run(decoded(t, arch, name, sopp(t, arch, name, uint16(v&15))))
				want := uint32(mode)
				for i := range 4 {
					want = want&^(1<<(at+i)) | v>>i&1<<(at+i)
				}
				if got := uint32(b.w.mode); got != want {
					t.Fatalf("%v %s %d, mode %x: got %x, want %x", arch, name, v&15, mode, got, want)
				}
				proved(arch, isa.SOPP, name)
			}
		}
		for _, name := range []string{"s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32"} {
			proved(arch, isa.SOPK, name)
		}
	}
}

// TestScratchRegister has the halves of the flat scratch address, which
// gfx10 and later reach as hardware registers.
func TestScratchRegister(t *testing.T) {
	for _, arch := range allArchs[1:] {
		b := newBench(t, arch)
		for k, v := range []uint32{0x12345678, 0x9abc} {
			simm := uint32(20+k) | 31<<11
			b.w.s[20], b.w.s[21] = v, 0
			b.run(decoded(t, arch, "s_setreg_b32", sop(t, arch, isa.SOPK, "s_setreg_b32", 20, simm)))
			b.run(decoded(t, arch, "s_getreg_b32", sop(t, arch, isa.SOPK, "s_getreg_b32", 21, simm)))
			if b.w.s[21] != v {
				t.Errorf("%v: FLAT_SCR half %d: got %x, want %x", arch, k, b.w.s[21], v)
			}
		}
	}
}

// TestScalarNothing has the instructions that wait, hint or count: nothing
// changes but the program counter.
func TestScalarNothing(t *testing.T) {
	names := []string{
		"s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt", "s_waitcnt_depctr", "s_wait_idle", "s_wait_event", "s_delay_alu",
		"s_clause", "s_nop", "s_sleep", "s_setprio", "s_wakeup", "s_inst_prefetch", "s_set_inst_prefetch_distance", "s_icache_inv", "s_incperflevel", "s_decperflevel",
		"s_ttracedata", "s_ttracedata_imm", "s_version",
	}
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			if op.Enc != isa.SOPP && op.Enc != isa.SOPK || !contains(names, op.Name) {
				continue
			}
			word := 0xbf800000 | uint32(op.Opcode)<<16
			if op.Enc == isa.SOPK {
				word = 0xb0000000 | uint32(op.Opcode)<<23
				if strings.HasPrefix(op.Name, "s_waitcnt") {
					word |= map[isa.Arch]uint32{isa.GFX1030: 0x7d, isa.GFX1100: 0x7c}[arch] << 16 // null
				}
			}
			p := newProgram(t, arch, word, word)
			b, _ := laneBench(t, arch, 1)
			b.w.unit, b.w.scc = p.w.unit, 1
			p.bench = b
			before := append([]lanes(nil), b.w.rows...)
			s, exec, mode := b.w.s, b.w.exec, b.w.mode
			if next := p.step(0); next != 1 || b.w.state != waveRunning {
				t.Errorf("%v %s: got to instruction %d in state %d", arch, op.Name, next, b.w.state)
			}
			b.last = *b.w.unit.ops[0].in
			b.expect(op.Name, before, func(v, i int) uint32 { return before[firstVGPR+v][i] })
			if b.w.s != s || b.w.exec != exec || b.w.mode != mode || b.w.scc != 1 {
				t.Errorf("%v %s has an effect", arch, op.Name)
			}
		}
	}
}

// TestEnds has the instructions that end or stop a wave, and those that only
// some immediates of are interpreted.
func TestEnds(t *testing.T) {
	for _, arch := range allArchs {
		for _, c := range []struct {
			name  string
			imm   uint16
			state waveState
			err   string
			only  []isa.Arch
		}{
			{"s_endpgm", 0, waveEnded, "", nil},
			{"s_barrier", 0, waveBarrier, "", nil},
			{"s_sendmsg", 3, waveRunning, "", allArchs[2:]}, // frees VGPRs
			{"s_sendmsg", 3, waveFailed, "message 3 is not interpreted", allArchs[:2]},
			{"s_sendmsg", 1, waveFailed, "message 1 is not interpreted", nil},
			{"s_trap", 2, waveFailed, "trap 2: the kernel aborted itself", nil},
		} {
			if c.only != nil && !contains(c.only, arch) {
				continue
			}
			p := newProgram(t, arch, sopp(t, arch, c.name, c.imm))
			o := &p.w.unit.ops[0]
			o.run(p.w, o)
			if p.w.state != c.state || (c.err == "") != (p.w.err == nil) || c.err != "" && !strings.Contains(p.w.err.Error(), c.err) {
				t.Errorf("%v %s %d: got state %d and %v, want %d and %q", arch, c.name, c.imm, p.w.state, p.w.err, c.state, c.err)
			}
			proved(arch, isa.SOPP, c.name)
		}
	}
}

// TestIndexModes changes index and mode of gfx9's register indexing while it
// is on. They lie in M0, where other instructions see and change them.
func TestIndexModes(t *testing.T) {
	arch := isa.GFX90A
	op, _ := findOp(arch, "s_set_gpr_idx_on")
	on := 0xbf000000 | uint32(op.Opcode)<<16 | 8 | 1<<8 // s8, source 0
	mov := vop1(arch, "v_mov_b32", 5, 256+6)[0]
	p := newProgram(t, arch,
		on,                                     // 0
		mov,                                    // 1
		sopp(t, arch, "s_set_gpr_idx_mode", 8), // 2: the destination
		sop(t, arch, isa.SOP1, "s_set_gpr_idx_idx", 0, 9), // 3: s9
		sop(t, arch, isa.SOP1, "s_mov_b32", 124, 10),      // 4: m0, s10
		sopp(t, arch, "s_set_gpr_idx_off", 0),             // 5
		sopp(t, arch, "s_set_gpr_idx_mode", 9),            // 6
	)
	p.w.unit.indexVGPRs()
	p.w.s[8], p.w.s[9], p.w.s[10] = 0xffffff03, 0xffff0105, 7|9<<12
	p.w.s[regM0] = 0xabcd0fff
	check := func(what string, m0 uint32, from, to int) {
		t.Helper()
		if p.w.s[regM0] != m0 {
			t.Errorf("%s: got M0 %08x, want %08x", what, p.w.s[regM0], m0)
		}
		for v := range 32 {
			for i := range 64 {
				p.v(v)[i] = uint32(100*v + i)
			}
		}
		p.step(1)
		for v := range 32 {
			want := v
			if v == to {
				want = from
			}
			if got := p.v(v)[9]; got != uint32(100*want+9) {
				t.Errorf("%s: v%d: got the value of v%d, want that of v%d", what, v, got/100, want)
			}
		}
	}
	p.step(0)
	check("on", 0xabcd1f03, 9, 5)
	p.step(2)
	check("mode", 0xabcd8f03, 6, 8)
	p.step(3)
	check("idx", 0xabcd8f05, 6, 10)
	p.step(4)
	check("M0", 0x00009007, 13, 12)
	p.step(5)
	check("off", 0x00009007, 6, 5)
	p.step(6) // does not turn it on
	check("mode while off", 0x00009007, 6, 5)
	proved(arch, isa.SOPC, "s_set_gpr_idx_on")
	proved(arch, isa.SOP1, "s_set_gpr_idx_idx")
	proved(arch, isa.SOPP, "s_set_gpr_idx_mode")
	proved(arch, isa.SOPP, "s_set_gpr_idx_off")
}
