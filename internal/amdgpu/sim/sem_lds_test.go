package sim

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// dsWords encodes a DS instruction with the registers of the tests, as many
// of them as it has.
func dsWords(arch isa.Arch, op isa.OpInfo, offset uint32) []uint32 {
	lo := 0xd8000000 | uint32(op.Opcode)<<18 | offset
	if arch == isa.GFX90A {
		lo = 0xd8000000 | uint32(op.Opcode)<<17 | offset
	}
	for fields := 15; fields >= 0; fields-- {
		hi := b2u(fields&8 != 0)*memAddr | b2u(fields&4 != 0)*memData<<8 | b2u(fields&1 != 0)*memData2<<16 | b2u(fields&2 != 0)*memDst<<24
		if in, err := isa.Decode(arch, dwords(lo, hi), 0); err == nil && in.Name == op.Name {
			return []uint32{lo, hi}
		}
	}
	return []uint32{lo, 0}
}

// TestLDS executes every load, store and atomic of LDS.
func TestLDS(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			if op.Enc != isa.DS {
				continue
			}
			m, ok := parseMemory(op.Name)
			if !ok {
				continue
			}
			for k := range 8 {
				mb := newMemBench(t, arch, uint64(k)*17+uint64(op.Opcode))
				switch {
				case m.two != 0:
					mb.checkTwo(t, op, &m, k)
				case m.tid:
					mb.checkLaneAddress(t, op, &m)
				default:
					mb.checkLDS(t, op, &m, k)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// dsOp compiles a DS instruction, ok being false where it is refused: the
// ledger knows whether it should be.
func (mb *memBench) dsOp(t *testing.T, info isa.OpInfo, offset uint32) (in isa.Inst, o op, ok bool) {
	t.Helper()
	in = decoded(t, mb.w.arch, info.Name, dsWords(mb.w.arch, info, offset)...)
	o, err := mb.c.try(&in)
	return in, o, err == nil
}

func (mb *memBench) checkLDS(t *testing.T, info isa.OpInfo, m *memName, k int) {
	t.Helper()
	offset := uint32([]int{0, 40, 200, 0}[k%4])
	in, o, ok := mb.dsOp(t, info, offset)
	if !ok {
		return
	}
	size := m.bits / 8
	align, atomic := size, m.kind != "load" && m.kind != "store"
	if m.kind == "load" {
		align = 1
	}
	want := mb.wantPlaces("l", size, align, k)
	for i, p := range want {
		// An address before the segment, that the offset makes one inside,
		// is what LLVM makes of negative indices on these architectures.
		mb.v(memAddr)[i] = uint32(p.addr) - offset
	}
	mb.checkAccess(t, &in, &o, m, want, atomic)
}

// checkTwo has instructions of two addresses. The places of all lanes are
// apart, since the order of two lanes' accesses is nobody's business.
func (mb *memBench) checkTwo(t *testing.T, info isa.OpInfo, m *memName, k int) {
	t.Helper()
	size := m.bits / 8
	o0, o1, step := 3, 8, 2*size // offsets odd and even, addresses even
	if m.two == 64 {
		o0, o1, step = 2, 0, size // blocks of 64 elements
	}
	if k%2 == 1 {
		o0, o1 = o1, o0
	}
	in, o, ok := mb.dsOp(t, info, uint32(o0|o1<<8))
	if !ok {
		return
	}
	first, second := make([]place, mb.w.n), make([]place, mb.w.n)
	for i, n := range mb.r.Perm(mb.w.n) {
		a := step * n
		mb.v(memAddr)[i] = uint32(a)
		first[i], second[i] = place{'l', uint64(a + o0*size*m.two)}, place{'l', uint64(a + o1*size*m.two)}
	}
	mb.compare(t, &in, &o, m, first, func(model *memModel, rows []lanes, exec uint64) {
		dst := firstVGPR + memDst
		m.apply(model, rows, first, exec, mb.w.n, firstVGPR+memData, 0, dst)
		m.apply(model, rows, second, exec, mb.w.n, firstVGPR+memData2, 0, dst+size/4)
	})
}

// checkLaneAddress has instructions whose address is M0 and four times the
// lane's number.
func (mb *memBench) checkLaneAddress(t *testing.T, info isa.OpInfo, m *memName) {
	t.Helper()
	in, o, ok := mb.dsOp(t, info, 12)
	if !ok {
		return
	}
	mb.w.s[regM0] = 0xabcd0000 | 100
	want := make([]place, mb.w.n)
	for i := range want {
		want[i] = place{'l', uint64(112 + 4*i)}
	}
	// LLVM has the data of the store in the address' place.
	data := memData
	if m.kind == "store" && in.Src[0].Kind == isa.VGPR {
		data = int(in.Src[0].Reg)
	}
	mb.compare(t, &in, &o, m, want, func(model *memModel, rows []lanes, exec uint64) {
		m.apply(model, rows, want, exec, mb.w.n, firstVGPR+data, 0, firstVGPR+memDst)
	})
}

// TestGlobalLaneAddress has addresses of a scalar base and four times the
// lane's number.
func TestGlobalLaneAddress(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			m, ok := parseMemory(op.Name)
			if !ok || !m.tid || op.Enc != isa.GLOBAL {
				continue
			}
			for seed := range uint64(4) {
				mb := newMemBench(t, arch, seed)
				words := flatWords(arch, 2, uint32(op.Opcode), 16, false, 0, memSaddr, false)
				in := decoded(t, arch, op.Name, words...)
				o, err := mb.c.try(&in)
				if err != nil {
					t.Fatalf("%v %v: %v", arch, in.String(), err)
				}
				base := mb.buffers[1].base + 100
				mb.w.s[memSaddr], mb.w.s[memSaddr+1] = uint32(base), uint32(base>>32)
				want := make([]place, mb.w.n)
				for i := range want {
					want[i] = place{'g', base + 16 + 4*uint64(i)}
				}
				mb.checkAccess(t, &in, &o, &m, want, false)
			}
		}
	}
}

// TestLoadToLDS has loads that go from memory to LDS.
func TestLoadToLDS(t *testing.T) {
	for _, arch := range allArchs {
		tried := 0
		for _, op := range knownOps(arch) {
			gfx11 := strings.Contains(op.Name, "_lds_")
			m, ok := parseMemory(strings.Replace(op.Name, "_lds_", "_", 1))
			forms := flatForms(op.Enc)
			bit := uint32(1 << 13)
			switch {
			case !ok || m.kind != "load" || m.bits > 32 || m.d16 || m.tid || gfx11 != (arch == isa.GFX1100):
				continue
			case op.Enc == isa.MUBUF:
				forms, bit = bufferForms(), 1<<16
			case op.Enc != isa.GLOBAL:
				continue
			}
			if gfx11 {
				bit = 0
			}
			for k := range 4 {
				for f := range forms {
					if forms[f].spaces != "g" {
						continue
					}
					mb := newMemBench(t, arch, uint64(k))
					words := forms[f].words(arch, uint32(op.Opcode), false)
					words[0] |= bit
					words[1] &^= 0xff00
					if op.Enc == isa.GLOBAL {
						words[1] &^= 0xff << 24
					}
					in, err := isa.Decode(arch, dwords(words...), 0)
					if err != nil || in.Name != op.Name {
						continue // LLVM has none
					}
					o, err := mb.c.try(&in)
					if err != nil {
						t.Fatalf("%v %v: %v", arch, in.String(), err)
					}
					want := forms[f].places(mb, mb.wantPlaces("g", m.bits/8, 1, k), m.bits/8)
					mb.w.s[regM0] = 0x00fc0000 | 0x158
					tried++
					mb.compare(t, &in, &o, &m, want, func(model *memModel, rows []lanes, exec uint64) {
						for i := range mb.w.n {
							if exec>>i&1 == 0 {
								continue
							}
							var v int64
							at := model.at(want[i], i)
							for b := m.bits/8 - 1; b >= 0; b-- {
								v = v<<8 | int64(at[b])
							}
							if m.typ == 'i' && v>>(m.bits-1) == 1 {
								v -= 1 << m.bits
							}
							to := 0x158 + int(in.Offset) + 4*i
							binary.LittleEndian.PutUint32(model.lds[to:], uint32(v))
						}
					})
				}
			}
		}
		if tried < 40 {
			t.Errorf("%v: tried %d, want 40", arch, tried)
		}
	}
}

// TestAppend has the counter that moves by the number of lanes.
func TestAppend(t *testing.T) {
	for _, arch := range allArchs {
		for name, sign := range map[string]uint32{"ds_append": 1, "ds_consume": ^uint32(0)} {
			for seed := range uint64(6) {
				op, _ := findOp(arch, name)
				mb := newMemBench(t, arch, seed)
				in, o, ok := mb.dsOp(t, op, 8)
				if !ok {
					t.Fatalf("%v %s is refused", arch, name)
				}
				mb.w.s[regM0] = 100
				m := memName{kind: "append", bits: 32}
				mb.compare(t, &in, &o, &m, make([]place, 64), func(model *memModel, rows []lanes, exec uint64) {
					at := model.lds[108:]
					old := binary.LittleEndian.Uint32(at)
					binary.LittleEndian.PutUint32(at, old+sign*uint32(bits.OnesCount64(exec)))
					for i := range mb.w.n {
						if exec>>i&1 != 0 {
							rows[firstVGPR+memDst][i] = old
						}
					}
				})
			}
		}
	}
}

// TestPermute has ds_permute_b32 and ds_bpermute_b32. A wave64 of gfx10 and
// gfx11 permutes within its halves.
func TestPermute(t *testing.T) {
	for _, arch := range allArchs {
		for _, name := range []string{"ds_permute_b32", "ds_bpermute_b32"} {
			for seed := range uint64(24) {
				op, _ := findOp(arch, name)
				b, r := laneBench(t, arch, seed)
				group := b.w.n
				if arch != isa.GFX90A && seed >= 16 {
					b.w.n, b.w.full = 64, ^uint64(0)
					b.c.wave = 64
					b.w.exec = r.Uint64()
					for _, v := range []int{memAddr, memData, memDst} {
						for i := range 64 {
							b.v(v)[i] = r.Uint32()
						}
					}
				}
				offset := 4 * uint32(seed%5)
				if seed%4 == 0 { // neighbours
					for i := range b.w.n {
						b.v(memAddr)[i] = 4 * uint32(i+1)
					}
				} else if seed%4 == 1 { // few targets, low bits that do not count, and addresses that wrap
					for i := range b.w.n {
						b.v(memAddr)[i] = uint32(r.IntN(40)) | r.Uint32()<<8
					}
				}
				words := dsWords(arch, op, offset)
				before := append([]lanes(nil), b.w.rows...)
				b.run(decoded(t, arch, name, words...))
				lane := func(i int) int {
					return i/group*group + int((before[firstVGPR+memAddr][i]+offset)/4%uint32(group))
				}
				b.expect(name, before, func(v, i int) uint32 {
					if v != memDst || b.w.exec>>i&1 == 0 {
						return before[firstVGPR+v][i]
					}
					var got uint32
					for j := range b.w.n {
						switch {
						case b.w.exec>>j&1 == 0:
						case name == "ds_permute_b32" && lane(j) == i, name == "ds_bpermute_b32" && lane(i) == j:
							got = before[firstVGPR+memData][j] // of several senders the last
						}
					}
					return got
				})
			}
		}
	}
}

// TestSwizzle has every pattern of ds_swizzle_b32's four modes, or a sample of
// the masks. The lanes that AMD's ISA guides give as examples are here as
// they are there, counted from one.
func TestSwizzle(t *testing.T) {
	type pattern struct {
		p    uint32
		from func(i int) int // of 32 lanes
	}
	var all []pattern
	for p := range uint32(256) {
		all = append(all, pattern{0x8000 | p, func(i int) int { return i/4*4 + int(p>>(i%4*2))%4 }})
	}
	for k := range uint32(512) {
		p := k * 2654435761 >> 17
		all = append(all, pattern{p, func(i int) int {
			var r int
			for bit := range 5 {
				v := uint32(i) >> bit & 1
				if p>>bit&1 == 0 {
					v = 0
				}
				if p>>(5+bit)&1 == 1 {
					v = 1
				}
				if p>>(10+bit)&1 == 1 {
					v = 1 - v
				}
				r += int(v) << bit
			}
			return r
		}})
	}
	// Rotations, lanes of the mask kept: of each bit either the lane's own or
	// the rotated one's.
	for k := range 32 * 32 * 2 {
		mask, by, right := k%32, k/32%32, k/1024 == 1
		p := 0xc000 | uint32(mask) | uint32(by)<<5 | b2u(right)<<10
		all = append(all, pattern{p, func(i int) int {
			to := (i + by) % 32
			if right {
				to = (i + 32 - by) % 32
			}
			var r int
			for bit := range 5 {
				if mask>>bit&1 == 1 {
					r += i >> bit & 1 << bit
				} else {
					r += to >> bit & 1 << bit
				}
			}
			return r
		}})
	}
	list := func(p uint32, from ...int) {
		all = append(all, pattern{p, func(i int) int { return from[i] - 1 }})
	}
	list(0xe000, 0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d, 0x3, 0x13, 0xb, 0x1b, 0x7, 0x17, 0xf, 0x1f,
		0x2, 0x12, 0xa, 0x1a, 0x6, 0x16, 0xe, 0x1e, 0x4, 0x14, 0xc, 0x1c, 0x8, 0x18, 0x10, 0x20)
	list(0xe010, 0x1, 0x9, 0x5, 0xd, 0x3, 0xb, 0x7, 0xf, 0x2, 0xa, 0x6, 0xe, 0x4, 0xc, 0x8, 0x10,
		0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b, 0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20)
	all = append(all, pattern{0xe01f, func(i int) int { return i }})
	list(0xc021, 0x1, 0x4, 0x3, 0x6, 0x5, 0x8, 0x7, 0xa, 0x9, 0xc, 0xb, 0xe, 0xd, 0x10, 0xf, 0x12,
		0x11, 0x14, 0x13, 0x16, 0x15, 0x18, 0x17, 0x1a, 0x19, 0x1c, 0x1b, 0x1e, 0x1d, 0x20, 0x1f, 0x2)
	list(0xc421, 0x1f, 0x2, 0x1, 0x4, 0x3, 0x6, 0x5, 0x8, 0x7, 0xa, 0x9, 0xc, 0xb, 0xe, 0xd, 0x10,
		0xf, 0x12, 0x11, 0x14, 0x13, 0x16, 0x15, 0x18, 0x17, 0x1a, 0x19, 0x1c, 0x1b, 0x1e, 0x1d, 0x20)
	for _, arch := range allArchs {
		op, _ := findOp(arch, "ds_swizzle_b32")
		b, _ := laneBench(t, arch, 1)
		for k, p := range all {
			b.w.exec = b.w.full
			if k%2 == 1 {
				b.w.exec &= 0x9abcdef0_7654f321
			}
			in := decoded(t, arch, "ds_swizzle_b32", dsWords(arch, op, p.p)...)
			b.run(in)
			for i := range b.w.n {
				j := i/32*32 + p.from(i%32)
				want := b.v(memAddr)[j]
				if b.w.exec>>j&1 == 0 {
					want = 0
				}
				if got := b.v(memDst)[i]; b.w.exec>>i&1 != 0 && got != want {
					t.Fatalf("%v %v: lane %d: got %08x, want %08x of lane %d", arch, in.String(), i, got, want, j)
				}
			}
		}
		proved(arch, isa.DS, "ds_swizzle_b32")
	}
}

// TestLDSNothing has the DS instruction without effect.
func TestLDSNothing(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			if op.Enc != isa.MUBUF && op.Enc != isa.DS && op.Enc != isa.SMEM || !nothing(op.Name) {
				continue
			}
			mb := newMemBench(t, arch, 1)
			words := map[isa.Encoding][]uint32{isa.MUBUF: {0xe0000000 | uint32(op.Opcode)<<18, 0}, isa.DS: dsWords(arch, op, 0)}[op.Enc]
			if op.Enc == isa.SMEM {
				words = smemWords(arch, uint32(op.Opcode), 0, 0, 0, -1, false)
			}
			in := decoded(t, arch, op.Name, words...)
			o, err := mb.c.try(&in)
			if err != nil {
				t.Errorf("%v %v: %v", arch, in.String(), err)
				continue
			}
			mb.compare(t, &in, &o, &memName{}, make([]place, 64), func(*memModel, []lanes, uint64) {})
		}
	}
}

// nothing reports whether an instruction only steers caches.
func nothing(name string) bool {
	if name == "ds_nop" {
		return true
	}
	for _, p := range []string{"buffer_wb", "buffer_inv", "buffer_gl", "s_dcache", "s_gl1", "s_atc"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
