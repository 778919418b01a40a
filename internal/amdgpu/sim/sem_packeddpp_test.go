package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestPackedDPP executes packed and mixed instructions with DPP, with all
// their modifiers: source 0 comes from another lane.
func TestPackedDPP(t *testing.T) {
	const arch = isa.GFX1100
	r := rand.New(rand.NewPCG(31, 4))
	moves := dppMoves(arch)
	tried := map[string]bool{}
	for k := range semPacked {
		s := &semPacked[k]
		op, ok := findOp(arch, s.name)
		if !ok || op.Enc != isa.VOP3P || s.modRef == nil {
			continue
		}
		regs := []int{8, 10, 12}[:len(s.src)]
		for round := range 40 {
			variants := s.variants(isa.VOP3P, isa.Plain, r)
			m := variants[r.IntN(len(variants))]
			move := moves[r.IntN(len(moves))]
			words := encode(arch, op, isa.Plain, s, 20, regs, m, isa.SDWASel{})
			words[1] = words[1]&^0x1ff | 250
			zero := r.IntN(2) == 1
			words = append(words, 8|move.ctrl<<8|b2u(zero)<<19|0xff<<24)
			in, err := isa.Decode(arch, dwords(words...), 0)
			if err != nil || in.Name != s.name || in.Form != isa.DPP16 {
				break // LLVM has no such form
			}
			tried[s.name] = true
			b, _ := laneBench(t, arch, uint64(round))
			for i := range b.w.n {
				for j, reg := range regs {
					v := s.src[j].random(r)
					if e := s.src[j].edges(); r.IntN(3) == 0 {
						v = e[r.IntN(len(e))]
					}
					b.v(reg)[i] = uint32(v)
				}
			}
			before := append([]lanes(nil), b.w.rows...)
			o, err := b.c.try(&in)
			if err != nil {
				t.Fatalf("%v: %v", in.String(), err)
			}
			o.run(b.w, &o)
			from := move.move(identity(b.w.n))
			for i := range b.w.n {
				got, old := b.v(20)[i], before[firstVGPR+20][i]
				j := from[i]
				invalid := j < 0 || b.w.exec>>j&1 == 0
				if b.w.exec>>i&1 == 0 || invalid && !zero {
					if got != old {
						t.Fatalf("%v: exec %x: disabled lane %d changed from %08x to %08x", in.String(), b.w.exec, i, old, got)
					}
					continue
				}
				v := make([]uint64, len(regs))
				for k, reg := range regs {
					v[k] = uint64(before[firstVGPR+reg][i])
				}
				v[0] = 0
				if !invalid {
					v[0] = uint64(before[firstVGPR+regs[0]][j])
				}
				want := s.want(v, m)
				part, rest, was := uint64(got), uint32(0), uint32(0)
				if s.dst == tF16 {
					part, rest, was = uint64(got&0xffff), got>>16, old>>16
					if s.name == "v_fma_mixhi_f16" {
						part, rest, was = uint64(got>>16), got&0xffff, old&0xffff
					}
				}
				if !s.same(part, want) || rest != was {
					t.Fatalf("%v: exec %x: lane %d of %x: got %08x, want %08x, was %08x", in.String(), b.w.exec, i, v, got, want, old)
				}
			}
		}
	}
	if len(tried) < 3 {
		t.Errorf("tried %v, want three instructions", tried)
	}
}

// TestByteProducts tries all pairs of bytes with the instructions on bytes.
func TestByteProducts(t *testing.T) {
	abs := func(a, b int) int { return max(a-b, b-a) }
	each := func(a, b uint32, f func(x, y int) int) int {
		sum := 0
		for k := 0; k < 32; k += 8 {
			sum += f(int(a>>k&0xff), int(b>>k&0xff))
		}
		return sum
	}
	refs := map[string]func(a, b, c uint32) uint32{
		"v_sad_u8":    func(a, b, c uint32) uint32 { return c + uint32(each(a, b, abs)) },
		"v_sad_hi_u8": func(a, b, c uint32) uint32 { return c + uint32(each(a, b, abs))*65536 },
		"v_msad_u8": func(a, b, c uint32) uint32 {
			return c + uint32(each(a, b, func(x, y int) int {
				if y == 0 {
					return 0
				}
				return abs(x, y)
			}))
		},
		"v_lerp_u8": func(a, b, c uint32) uint32 {
			var r uint32
			for k := 0; k < 32; k += 8 {
				r |= uint32((int(a>>k&0xff)+int(b>>k&0xff)+int(c>>k&1))/2) << k
			}
			return r
		},
	}
	for name, ref := range refs {
		for _, b := range benches(t) {
			in := decoded(t, b.w.arch, name, vop3(b.w.arch, name, 5, 0, 256+2, 256+3, 256+4)...)
			for at := 0; at < 1<<16; at += 4 * b.w.n {
				for i := range b.w.n {
					var x, y uint32
					for k := range 4 {
						// Neighbouring bytes have unlike pairs.
						p := uint32(at+4*i+k) * 40503 & 0xffff
						x |= p >> 8 << (8 * k)
						y |= p & 0xff << (8 * k)
					}
					b.v(2)[i], b.v(3)[i], b.v(4)[i] = x, y, uint32(at*i)*2654435761
				}
				b.run(in)
				for i := range b.w.n {
					if got, want := b.v(5)[i], ref(b.v(2)[i], b.v(3)[i], b.v(4)[i]); got != want {
						t.Fatalf("%v %s of %08x, %08x, %08x: got %08x, want %08x", b.w.arch, name, b.v(2)[i], b.v(3)[i], b.v(4)[i], got, want)
					}
				}
			}
		}
	}
}
