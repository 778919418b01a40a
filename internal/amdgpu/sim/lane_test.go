package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// decoded returns the instruction of the words.
func decoded(t *testing.T, arch isa.Arch, name string, words ...uint32) isa.Inst {
	t.Helper()
	var code []byte
	for _, w := range append(words, 0, 0) {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	in, err := isa.Decode(arch, code, 0)
	if err != nil || in.Name != name {
		t.Fatalf("%v %s: words %08x decode to %v (%v)", arch, name, words, in.Name, err)
	}
	return in
}

// vop3 encodes an instruction of three sources. op is the opcode's part.
func vop3(arch isa.Arch, name string, dst, opsel uint32, src ...uint32) []uint32 {
	for _, op := range isa.Ops(arch) {
		if op.Name != name || op.Enc != isa.VOP3 {
			continue
		}
		lo := uint32(0xd4000000)
		if arch == isa.GFX90A {
			lo = 0xd0000000
		}
		lo |= uint32(op.Opcode)<<16 | dst | opsel<<11
		var hi uint32
		for i, s := range src {
			hi |= s << (9 * i)
		}
		return []uint32{lo, hi}
	}
	return nil
}

func vop1(arch isa.Arch, name string, dst, src uint32) []uint32 {
	for _, op := range isa.Ops(arch) {
		if op.Name == name && op.Enc == isa.VOP1 {
			return []uint32{0x7e000000 | dst<<17 | uint32(op.Opcode)<<9 | src}
		}
	}
	return nil
}

var allArchs = []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100}

// laneBench returns a bench with random registers and exec.
func laneBench(t *testing.T, arch isa.Arch, seed uint64) (*bench, *rand.Rand) {
	b := newBench(t, arch)
	r := rand.New(rand.NewPCG(seed, 5))
	for v := range 32 {
		for i := range b.w.n {
			b.v(v)[i] = r.Uint32()
		}
	}
	for i := range 32 {
		b.w.s[i] = r.Uint32()
	}
	if seed%3 != 0 {
		b.w.exec = r.Uint64() & b.w.full
	}
	return b, r
}

// expect compares all rows with what f says of them; before are the rows
// before the instruction.
func (b *bench) expect(what string, before []lanes, f func(v, i int) uint32) {
	b.t.Helper()
	proved(b.w.arch, b.last.Enc, b.last.Name)
	for v := range 32 {
		for i := range b.w.n {
			if got, want := b.v(v)[i], f(v, i); got != want {
				b.t.Fatalf("%v %s: exec %x: v%d lane %d: got %08x, want %08x, was %08x", b.w.arch, what, b.w.exec, v, i, got, want, before[firstVGPR+v][i])
			}
		}
	}
}

func TestSelect(t *testing.T) {
	for _, arch := range allArchs {
		for seed := range uint64(6) {
			b, _ := laneBench(t, arch, seed)
			before := append([]lanes(nil), b.w.rows...)
			sel := uint64(b.w.s[8]) | uint64(b.w.s[9])<<32
			words := vop3(arch, "v_cndmask_b32", 5, 0, 256+6, 256+7, 8)
			if seed >= 3 { // by vcc
				words = words[:1]
				for _, op := range knownOps(arch) {
					if op.Name == "v_cndmask_b32" && op.Enc == isa.VOP2 {
						words[0] = uint32(op.Opcode)<<25 | 5<<17 | 7<<9 | 256 + 6
					}
				}
				b.w.s[regVCC], b.w.s[regVCC+1] = b.w.s[8], b.w.s[9]
			}
			b.run(decoded(t, arch, "v_cndmask_b32", words...))
			b.expect("v_cndmask_b32", before, func(v, i int) uint32 {
				switch {
				case v != 5 || b.w.exec>>i&1 == 0:
					return before[firstVGPR+v][i]
				case sel>>i&1 != 0:
					return before[firstVGPR+7][i]
				}
				return before[firstVGPR+6][i]
			})
		}
	}
	for seed := range uint64(6) {
		b, _ := laneBench(t, isa.GFX1100, seed)
		before := append([]lanes(nil), b.w.rows...)
		// The high half of v6 or the low one of v7 into the high half of v5.
		in := decoded(t, isa.GFX1100, "v_cndmask_b16", vop3(isa.GFX1100, "v_cndmask_b16", 5, 0, 256+6, 256+7, 8)...)
		in.Mod.OpSel = 9
		b.run(in)
		b.expect("v_cndmask_b16", before, func(v, i int) uint32 {
			old := before[firstVGPR+v][i]
			switch {
			case v != 5 || b.w.exec>>i&1 == 0:
				return old
			case b.w.s[8]>>i&1 != 0:
				return old&0xffff | before[firstVGPR+7][i]<<16
			}
			return old&0xffff | before[firstVGPR+6][i]&^0xffff
		})
	}
}

func TestMbcnt(t *testing.T) {
	for _, arch := range allArchs {
		for half, name := range []string{"v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"} {
			for seed := range uint64(6) {
				b, _ := laneBench(t, arch, seed)
				before := append([]lanes(nil), b.w.rows...)
				b.run(decoded(t, arch, name, vop3(arch, name, 5, 0, 8, 256+7)...))
				b.expect(name, before, func(v, i int) uint32 {
					if v != 5 || b.w.exec>>i&1 == 0 {
						return before[firstVGPR+v][i]
					}
					n := before[firstVGPR+7][i]
					for lane := 32 * half; lane < min(i, 32*half+32); lane++ {
						n += b.w.s[8] >> (lane - 32*half) & 1
					}
					return n
				})
			}
		}
	}
}

func TestReadWriteLane(t *testing.T) {
	for _, arch := range allArchs {
		n := uint32(arch.WaveSize())
		for seed := range uint64(12) {
			b, r := laneBench(t, arch, seed)
			before := append([]lanes(nil), b.w.rows...)
			if seed == 1 {
				b.w.exec = 0
			}
			lane := uint32(r.IntN(200)) // the lane number wraps
			b.w.s[9] = lane
			b.run(decoded(t, arch, "v_readlane_b32", vop3(arch, "v_readlane_b32", 20, 0, 256+6, 9)...))
			proved(arch, b.last.Enc, b.last.Name)
			if got, want := b.w.s[20], before[firstVGPR+6][lane%n]; got != want {
				t.Errorf("%v v_readlane_b32 of lane %d: got %08x, want %08x", arch, lane, got, want)
			}
			b.run(decoded(t, arch, "v_readfirstlane_b32", vop1(arch, "v_readfirstlane_b32", 21, 256+6)...))
			proved(arch, b.last.Enc, b.last.Name)
			first := 0
			for first < b.w.n-1 && b.w.exec>>first&1 == 0 {
				first++
			}
			if b.w.exec == 0 {
				first = 0
			}
			if got, want := b.w.s[21], before[firstVGPR+6][first]; got != want {
				t.Errorf("%v v_readfirstlane_b32, exec %x: got %08x, want %08x", arch, b.w.exec, got, want)
			}
			b.run(decoded(t, arch, "v_writelane_b32", vop3(arch, "v_writelane_b32", 5, 0, 10, 9)...))
			b.expect("v_writelane_b32", before, func(v, i int) uint32 { // whatever exec is
				if v == 5 && i == int(lane%n) {
					return b.w.s[10]
				}
				return before[firstVGPR+v][i]
			})
		}
	}
}

func TestPermlane(t *testing.T) {
	for _, arch := range allArchs[1:] {
		for other, name := range map[int]string{0: "v_permlane16_b32", 1: "v_permlanex16_b32"} {
			for seed := range uint64(12) {
				b, _ := laneBench(t, arch, seed)
				before := append([]lanes(nil), b.w.rows...)
				fetchInactive, zero := seed&1 != 0, seed&2 != 0
				b.run(decoded(t, arch, name, vop3(arch, name, 5, uint32(seed&3), 256+6, 8, 9)...))
				b.expect(name, before, func(v, i int) uint32 {
					old := before[firstVGPR+v][i]
					if v != 5 || b.w.exec>>i&1 == 0 {
						return old
					}
					nibble := b.w.s[8] >> (4 * (i % 8)) & 15
					if i%16 >= 8 {
						nibble = b.w.s[9] >> (4 * (i % 8)) & 15
					}
					row := i / 16
					if other == 1 {
						row = row/2*2 + 1 - row%2
					}
					from := 16*row + int(nibble)
					switch {
					case fetchInactive || b.w.exec>>from&1 != 0:
						return before[firstVGPR+6][from]
					case zero:
						return 0
					}
					return old
				})
			}
		}
	}
	// Into itself: sources are read before anything is written.
	b, _ := laneBench(t, isa.GFX1100, 0)
	before := append([]lanes(nil), b.w.rows...)
	b.w.s[8], b.w.s[9] = 0x89abcdef, 0x01234567 // reversed
	b.run(decoded(t, isa.GFX1100, "v_permlane16_b32", vop3(isa.GFX1100, "v_permlane16_b32", 6, 0, 256+6, 8, 9)...))
	b.expect("v_permlane16_b32 in place", before, func(v, i int) uint32 {
		if v == 6 {
			return before[firstVGPR+6][i/16*16+15-i%16]
		}
		return before[firstVGPR+v][i]
	})
}

// TestPermlane64 runs it on a wave64 too, which gfx11 has.
func TestPermlane64(t *testing.T) {
	in := decoded(t, isa.GFX1100, "v_permlane64_b32", vop1(isa.GFX1100, "v_permlane64_b32", 5, 256+6)...)
	for _, n := range []int{32, 64} {
		b, _ := laneBench(t, isa.GFX1100, 0)
		b.w.n, b.w.full = n, ^uint64(0)>>(64-n)
		b.w.exec = 0xff00ff0012345678 & b.w.full
		for i := range 64 {
			b.v(6)[i] = uint32(1000 + i)
		}
		before := append([]lanes(nil), b.w.rows...)
		b.run(in)
		b.expect("v_permlane64_b32", before, func(v, i int) uint32 {
			if v == 5 && n == 64 && b.w.exec>>i&1 != 0 {
				return uint32(1000 + (i+32)%64)
			}
			return before[firstVGPR+v][i]
		})
	}
}

func TestSwap(t *testing.T) {
	for _, arch := range allArchs {
		for seed := range uint64(4) {
			b, _ := laneBench(t, arch, seed)
			before := append([]lanes(nil), b.w.rows...)
			swapped := map[int]int{5: 6, 6: 5}
			name := "v_swap_b32"
			if seed%2 == 1 && arch != isa.GFX90A {
				name = "v_swaprel_b32"
				b.w.s[regM0] = 3 | 9<<16 // source v6+3, destination v5+9
				swapped = map[int]int{14: 9, 9: 14}
			}
			b.run(decoded(t, arch, name, vop1(arch, name, 5, 256+6)...))
			b.expect(name, before, func(v, i int) uint32 {
				if from, ok := swapped[v]; ok && b.w.exec>>i&1 != 0 {
					v = from
				}
				return before[firstVGPR+v][i]
			})
		}
	}
}

func TestMovrel(t *testing.T) {
	for _, arch := range allArchs[1:] {
		for _, c := range []struct {
			name     string
			m0       uint32
			from, to int
		}{
			{"v_movrels_b32", 4, 10, 5},
			{"v_movrels_b32", 0xfffffffe, 4, 5}, // two before
			{"v_movreld_b32", 4, 6, 9},
			{"v_movrelsd_b32", 4, 10, 9},
			{"v_movrelsd_2_b32", 4 | 7<<16, 10, 12},
		} {
			for seed := range uint64(3) {
				b, _ := laneBench(t, arch, seed)
				before := append([]lanes(nil), b.w.rows...)
				b.w.s[regM0] = c.m0
				words := vop1(arch, c.name, 5, 256+6)
				if seed == 2 {
					words = vop3(arch, c.name, 5, 0, 256+6)
				}
				b.run(decoded(t, arch, c.name, words...))
				b.expect(c.name, before, func(v, i int) uint32 {
					if v == c.to && b.w.exec>>i&1 != 0 {
						v = c.from
					}
					return before[firstVGPR+v][i]
				})
			}
			b, _ := laneBench(t, arch, 0)
			b.w.s[regM0] = 0x3ff | 0x3ff<<16 // beyond the registers
			in := decoded(t, arch, c.name, vop1(arch, c.name, 5, 256+6)...)
			o := b.c.compile(&in)
			o.run(b.w, &o)
			if b.w.state != waveFailed {
				t.Errorf("%v %s beyond the registers: got no failure", arch, c.name)
			}
		}
	}
}

// TestScalarMovrel has moves between scalar registers that M0 displaces.
func TestScalarMovrel(t *testing.T) {
	for _, arch := range allArchs {
		for _, c := range []struct {
			name     string
			m0       uint32
			from, to int
			width    int
		}{
			{"s_movrels_b32", 5, 11, 8, 1},
			{"s_movrels_b64", 6, 12, 8, 2},
			{"s_movreld_b32", 5, 6, 13, 1},
			{"s_movreld_b64", 6, 6, 14, 2},
			{"s_movrelsd_2_b32", 3 | 5<<16, 9, 13, 1},
		} {
			for _, op := range isa.Ops(arch) {
				if op.Name != c.name {
					continue
				}
				b, _ := laneBench(t, arch, 0)
				b.w.s[regM0] = c.m0
				want := b.w.s
				copy(want[c.to:c.to+c.width], b.w.s[c.from:])
				in := decoded(t, arch, c.name, 0xbe800000|8<<16|uint32(op.Opcode)<<8|6)
				b.run(in)
				proved(arch, op.Enc, op.Name)
				if b.w.s != want {
					t.Errorf("%v %s: got s%d %08x, want %08x", arch, c.name, c.to, b.w.s[c.to:c.to+c.width], want[c.to:c.to+c.width])
				}
				b.w.s[regM0] = 200 | 200<<16
				o := b.c.compile(&in)
				o.run(b.w, &o)
				if b.w.state != waveFailed {
					t.Errorf("%v %s beyond the registers: got no failure", arch, c.name)
				}
			}
		}
	}
}

// TestMqsad has the one instruction with a 128-bit result.
func TestMqsad(t *testing.T) {
	for _, arch := range allArchs {
		for seed := range uint64(8) {
			b, r := laneBench(t, arch, seed)
			for i := range b.w.n {
				b.v(4)[i] &^= 0xff << (8 * r.IntN(5))
			}
			before := append([]lanes(nil), b.w.rows...)
			clamp := seed&1 != 0
			words := vop3(arch, "v_mqsad_u32_u8", 20, 0, 256+2, 256+4, 256+8)
			words[0] |= b2u(clamp) << 15
			for i := range b.w.n {
				b.v(8)[i] |= 0xfffffe00 // sums that exceed 32 bits
			}
			before = append(before[:0], b.w.rows...)
			b.run(decoded(t, arch, "v_mqsad_u32_u8", words...))
			b.expect("v_mqsad_u32_u8", before, func(v, i int) uint32 {
				k := v - 20
				if k < 0 || k > 3 || b.w.exec>>i&1 == 0 {
					return before[firstVGPR+v][i]
				}
				sum := uint64(before[firstVGPR+8+k][i])
				window := uint64(before[firstVGPR+2][i]) | uint64(before[firstVGPR+3][i])<<32
				for j := range 4 {
					x, y := int(window>>(8*(k+j))&0xff), int(before[firstVGPR+4][i]>>(8*j)&0xff)
					if y != 0 {
						sum += uint64(max(x-y, y-x))
					}
				}
				if clamp {
					sum = min(sum, 1<<32-1)
				}
				return uint32(sum)
			})
		}
	}
}

// TestAccumulators moves between VGPRs and AGPRs, which have rows of their
// own.
func TestAccumulators(t *testing.T) {
	b, _ := laneBench(t, isa.GFX90A, 1)
	b.w.rows = append(b.w.rows, make([]lanes, 300)...)
	acc := func(r int) isa.Operand { return isa.Operand{Kind: isa.AGPR, Reg: uint16(r), Width: 1} }
	before := append([]lanes(nil), b.w.rows...)
	b.run(inst(isa.VOP3P, "v_accvgpr_write_b32", acc(3), vgpr(6)))
	b.run(inst(isa.VOP1, "v_accvgpr_mov_b32", acc(4), acc(3)))
	b.run(inst(isa.VOP3P, "v_accvgpr_read_b32", vgpr(5), acc(4)))
	proved(b.w.arch, isa.VOP3P, "v_accvgpr_write_b32")
	proved(b.w.arch, isa.VOP1, "v_accvgpr_mov_b32")
	b.expect("v_accvgpr", before, func(v, i int) uint32 {
		if v == 5 && b.w.exec>>i&1 != 0 {
			v = 6
		} else if v == 5 && b.w.exec>>i&1 == 0 {
			return before[firstVGPR+5][i]
		}
		return before[firstVGPR+v][i]
	})
}

// TestIndexedVGPRs has gfx9's indexing of vector registers.
func TestIndexedVGPRs(t *testing.T) {
	arch := isa.GFX90A
	word := func(name string, enc isa.Encoding, base uint32, shift int) uint32 {
		for _, op := range isa.Ops(arch) {
			if op.Name == name && op.Enc == enc {
				return base | uint32(op.Opcode)<<shift
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	on := func(mode uint32) uint32 { return word("s_set_gpr_idx_on", isa.SOPC, 0xbf000000, 16) | 8 | mode<<8 }
	add := word("v_add_u32", isa.VOP2, 0, 25) | 5<<17 | 7<<9 | 256 + 6 // v5 = v6 + v7
	for mode := range uint32(16) {
		b, _ := laneBench(t, arch, uint64(mode))
		b.w.s[8] = 0xabcd0003 // only the low byte counts
		before := append([]lanes(nil), b.w.rows...)
		onInst, addInst := decoded(t, arch, "s_set_gpr_idx_on", on(mode)), decoded(t, arch, "v_add_u32", add)
		off := decoded(t, arch, "s_set_gpr_idx_off", word("s_set_gpr_idx_off", isa.SOPP, 0xbf800000, 16))
		u := &unit{}
		for _, in := range []*isa.Inst{&onInst, &addInst, &off, &addInst} {
			u.ops = append(u.ops, b.c.compile(in))
		}
		u.indexVGPRs()
		for i := range 3 {
			u.ops[i].run(b.w, &u.ops[i])
		}
		if b.w.err != nil {
			t.Fatal(b.w.err)
		}
		rel := func(bit uint32) int { return 3 * int(mode>>bit&1) }
		b.expect("v_add_u32 indexed", before, func(v, i int) uint32 {
			if v == 5+rel(3) && b.w.exec>>i&1 != 0 {
				return before[firstVGPR+6+rel(0)][i] + before[firstVGPR+7+rel(1)][i]
			}
			return before[firstVGPR+v][i]
		})
		before = append([]lanes(nil), b.w.rows...)
		u.ops[3].run(b.w, &u.ops[3])
		b.expect("v_add_u32 after", before, func(v, i int) uint32 {
			if v == 5 && b.w.exec>>i&1 != 0 {
				return before[firstVGPR+6][i] + before[firstVGPR+7][i]
			}
			return before[firstVGPR+v][i]
		})
	}
}

// TestNothing has the vector instructions without effect.
func TestNothing(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range isa.Ops(arch) {
			if op.Enc != isa.VOP1 && op.Enc != isa.VOP3 || op.Name != "v_nop" && op.Name != "v_pipeflush" && op.Name != "v_clrexcp" {
				continue
			}
			b, _ := laneBench(t, arch, 1)
			before, s, exec := append([]lanes(nil), b.w.rows...), b.w.s, b.w.exec
			b.run(inst(op.Enc, op.Name, isa.Operand{}))
			b.expect(op.Name, before, func(v, i int) uint32 { return before[firstVGPR+v][i] })
			if b.w.s != s || b.w.exec != exec || b.w.state != waveRunning {
				t.Errorf("%v %s has an effect", arch, op.Name)
			}
		}
	}
}

// TestTables checks that no instruction has two definitions, of which one
// would be silently lost.
func TestTables(t *testing.T) {
	in := map[string]int{}
	for k, table := range specTables() {
		for name := range table {
			if other, ok := in[name]; ok {
				t.Errorf("%s is in tables %d and %d", name, other, k)
			}
			in[name] = k
		}
	}
}

// TestDoubtful checks that code for gfx11's 16-bit registers, which LLVM 19
// decodes as something else, is refused and not executed wrongly.
func TestDoubtful(t *testing.T) {
	b := newBench(t, isa.GFX1100)
	for _, c := range []struct {
		name string
		in   isa.Inst
		ok   bool
	}{
		{"v5.l", decoded(t, isa.GFX1100, "v_cndmask_b16", vop3(isa.GFX1100, "v_cndmask_b16", 5, 0, 256+6, 256+7, 8)...), true},
		{"v5.h", decoded(t, isa.GFX1100, "v_cndmask_b16", vop3(isa.GFX1100, "v_cndmask_b16", 5, 8, 256+6, 256+7, 8)...), false},
		{"v7.l", decoded(t, isa.GFX1100, "v_rcp_f16", vop1(isa.GFX1100, "v_rcp_f16", 5, 256+7)...), true},
		{"v7.h", decoded(t, isa.GFX1100, "v_rcp_f16", vop1(isa.GFX1100, "v_rcp_f16", 5, 256+128+7)...), false},
		{"s[12]", decoded(t, isa.GFX1100, "v_add_co_u32", vop3b(isa.GFX1100, "v_add_co_u32")...), true},
	} {
		if _, err := b.c.try(&c.in); (err == nil) != c.ok {
			t.Errorf("%s %s: got %v", c.in.Name, c.name, err)
		}
	}
}

// vop3b is v5, s[12] = v6 and v7.
func vop3b(arch isa.Arch, name string) []uint32 {
	w := vop3(arch, name, 5, 0, 256+6, 256+7)
	w[0] |= 12 << 8
	return w
}
