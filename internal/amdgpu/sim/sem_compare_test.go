package sim

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestSubDwordCompares executes the compares of integers and f16 with SDWA:
// bytes and words of both sources, and on gfx90a a result in any pair of
// scalar registers.
func TestSubDwordCompares(t *testing.T) {
	sels := []isa.Sel{isa.Byte0, isa.Byte1, isa.Byte2, isa.Byte3, isa.Word0, isa.Word1, isa.DWord}
	for _, arch := range allArchs[:2] {
		r := rand.New(rand.NewPCG(8, 9))
		tried := 0
		for _, op := range knownOps(arch) {
			p := strings.Split(op.Name, "_")
			if op.Enc != isa.VOPC || p[0] != "v" || p[2] == "class" || strings.HasSuffix(p[3], "64") || p[3] == "f32" {
				continue
			}
			size := 32
			if strings.HasSuffix(p[3], "16") {
				size = 16
			}
			for range 12 {
				b, _ := laneBench(t, arch, r.Uint64()%12)
				sel := [2]isa.Sel{sels[r.IntN(7)], sels[r.IntN(7)]}
				var sext, neg uint32
				if p[3] == "f16" {
					sel = [2]isa.Sel{isa.Word0 + isa.Sel(r.IntN(2)), isa.Word0 + isa.Sel(r.IntN(2))}
					neg = r.Uint32() & 3
				} else {
					sext = r.Uint32() & 3
				}
				// Equal and neighbouring parts too.
				for i := range b.w.n {
					if r.IntN(2) == 0 {
						b.v(3)[i] = b.v(2)[i]>>8 | b.v(2)[i]<<24
					}
				}
				x := 2 | uint32(sel[0])<<16 | uint32(sel[1])<<24 | sext&1<<19 | sext>>1<<27 | neg&1<<20 | neg>>1<<28
				sdst := arch == isa.GFX90A && r.IntN(2) == 0
				if sdst {
					x |= 12<<8 | 1<<15 // s[12:13]
				}
				in, err := isa.Decode(arch, dwords(0x7c000000|uint32(op.Opcode)<<17|3<<9|249, x), 0)
				if err != nil || in.Name != op.Name || in.Form != isa.SDWA {
					continue
				}
				exec := b.w.exec
				var want uint64
				for i := range b.w.n {
					var v [2]uint64
					for k := range v {
						v[k] = selected(b.v(2 + k)[i], sel[k], sext>>k&1 != 0, size)
						if neg>>k&1 != 0 {
							v[k] ^= 0x8000
						}
					}
					if exec>>i&1 != 0 && holds(p[2], relationOf(p[3], v[0], v[1])) {
						want |= 1 << i
					}
				}
				b.run(in)
				tried++
				got := b.w.vcc()
				cmpx := p[1] == "cmpx"
				switch {
				case sdst:
					got = uint64(b.w.s[12]) | uint64(b.w.s[13])<<32
				case cmpx && arch != isa.GFX90A:
					got = b.w.exec
				}
				if got != want || cmpx && b.w.exec != want || !cmpx && b.w.exec != exec {
					t.Fatalf("%v %v: exec %x: got %x and exec %x, want %x", arch, in.String(), exec, got, b.w.exec, want)
				}
			}
		}
		if tried < 500 {
			t.Errorf("%v: tried %d, want 500", arch, tried)
		}
	}
}
