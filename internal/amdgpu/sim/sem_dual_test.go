package sim

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A dualRef is one half of VOPD: its result for sources a and b, what the
// destination held, the literal k, and the lane's bit of vcc.
type dualRef func(a, b, old, k uint64, vcc bool) uint64

var dualRefs = map[string]dualRef{
	"v_dual_fmac_f32":         func(a, b, old, _ uint64, _ bool) uint64 { return single.fma(a, b, old) },
	"v_dual_fmaak_f32":        func(a, b, _, k uint64, _ bool) uint64 { return single.fma(a, b, k) },
	"v_dual_fmamk_f32":        func(a, b, _, k uint64, _ bool) uint64 { return single.fma(a, k, b) },
	"v_dual_mul_f32":          func(a, b, _, _ uint64, _ bool) uint64 { return single.mul(a, b) },
	"v_dual_add_f32":          func(a, b, _, _ uint64, _ bool) uint64 { return single.add(a, b) },
	"v_dual_sub_f32":          func(a, b, _, _ uint64, _ bool) uint64 { return single.add(a, single.negated(b)) },
	"v_dual_subrev_f32":       func(a, b, _, _ uint64, _ bool) uint64 { return single.add(b, single.negated(a)) },
	"v_dual_mul_dx9_zero_f32": func(a, b, _, _ uint64, _ bool) uint64 { return mulZero(a, b) },
	"v_dual_mov_b32":          func(a, _, _, _ uint64, _ bool) uint64 { return a },
	"v_dual_max_f32":          func(a, b, _, _ uint64, _ bool) uint64 { return single.max(a, b) },
	"v_dual_min_f32":          func(a, b, _, _ uint64, _ bool) uint64 { return single.min(a, b) },
	"v_dual_add_nc_u32": func(a, b, _, _ uint64, _ bool) uint64 {
		return wrap(new(big.Int).Add(unsignedOf(a, 32), unsignedOf(b, 32)), 32)
	},
	"v_dual_lshlrev_b32": func(a, b, _, _ uint64, _ bool) uint64 {
		return wrap(new(big.Int).Lsh(unsignedOf(b, 32), uint(a%32)), 32)
	},
	"v_dual_and_b32": func(a, b, _, _ uint64, _ bool) uint64 {
		var r uint64
		for i := range 32 {
			r |= (a >> i & 1) * (b >> i & 1) << i
		}
		return r
	},
	"v_dual_cndmask_b32": func(a, b, _, _ uint64, vcc bool) uint64 {
		if vcc {
			return b
		}
		return a
	},
}

// TestDualPairs executes every X half together with every Y half. Each writes
// a register that the other reads.
func TestDualPairs(t *testing.T) {
	const arch = isa.GFX1100
	const src, xdst, ydst, literal = 8, 4, 5, 0x40490fdb
	r := rand.New(rand.NewPCG(2, 3))
	e := tF32.edges()
	for _, x := range knownOps(arch) {
		for _, y := range knownOps(arch) {
			if x.Enc != isa.VOPD || y.Enc != isa.VOPD || x.Opcode > 12 || dualRefs[x.Name] == nil || dualRefs[y.Name] == nil {
				continue
			}
			for k := range 4 {
				b, _ := laneBench(t, arch, uint64(k))
				for v := range 32 {
					for i := range b.w.n {
						if r.IntN(2) == 0 {
							b.v(v)[i] = uint32(e[r.IntN(len(e))])
						} else {
							b.v(v)[i] = uint32(tF32.random(r))
						}
					}
				}
				b.w.s[regVCC] = r.Uint32()
				// X reads what Y writes, and the other way about.
				xa, xb, ya, yb := uint32(ydst), uint32(src), uint32(src+1), uint32(xdst)
				xs, ys := 256+xa, 256+ya
				if k == 3 { // a scalar source
					xs, ys = 20, 21
				}
				if x.Name == "v_dual_mov_b32" {
					xb = 0
				}
				if y.Name == "v_dual_mov_b32" {
					yb = 0
				}
				words := []uint32{
					0xc8000000 | uint32(x.Opcode)<<22 | uint32(y.Opcode)<<17 | xb<<9 | xs,
					xdst<<24 | ydst/2<<17 | yb<<9 | ys,
					literal,
				}
				in := decoded(t, arch, x.Name, words...)
				if in.Y == nil || in.Y.Name != y.Name {
					t.Fatalf("%08x decode to %v, want %s and %s", words, in.String(), x.Name, y.Name)
				}
				before := append([]lanes(nil), b.w.rows...)
				b.run(in)
				at := func(v uint32, i int) uint64 { return uint64(before[firstVGPR+v][i]) }
				for v := range 32 {
					for i := range b.w.n {
						want := at(uint32(v), i)
						vcc := b.w.s[regVCC]>>i&1 != 0
						xa0, ya0 := at(xa, i), at(ya, i)
						if k == 3 {
							xa0, ya0 = uint64(b.w.s[20]), uint64(b.w.s[21])
						}
						switch {
						case b.w.exec>>i&1 == 0:
						case v == xdst:
							want = dualRefs[x.Name](xa0, at(xb, i), at(xdst, i), literal, vcc)
						case v == ydst:
							want = dualRefs[y.Name](ya0, at(yb, i), at(ydst, i), literal, vcc)
						}
						got := uint64(b.v(v)[i])
						if got != want && !((v == xdst || v == ydst) && single.isNaN(got) && single.isNaN(want)) {
							t.Fatalf("%v: exec %x, lane %d: v%d: got %08x, want %08x, was %08x", in.String(), b.w.exec, i, v, got, want, at(uint32(v), i))
						}
					}
				}
			}
			proved(arch, isa.VOPD, x.Name)
			proved(arch, isa.VOPD, y.Name)
		}
	}
}

// TestDualAsPlain runs each half alone against the plain instruction of its
// name, and with a mode that flushes.
func TestDualAsPlain(t *testing.T) {
	const arch = isa.GFX1100
	for _, half := range knownOps(arch) {
		if half.Enc != isa.VOPD || dualRefs[half.Name] == nil || half.Opcode > 12 {
			continue
		}
		name := "v_" + half.Name[len("v_dual_"):]
		var plain []uint32
		for _, op := range knownOps(arch) {
			switch {
			case op.Name != name:
			case op.Enc == isa.VOP1:
				plain = vop1(arch, name, 4, 256+5)
			case op.Enc == isa.VOP2:
				plain = []uint32{uint32(op.Opcode)<<25 | 4<<17 | 8<<9 | 256 + 5, 0x40490fdb}
			}
		}
		if plain == nil {
			t.Errorf("no plain %s", name)
			continue
		}
		vsrc1 := uint32(8)
		if name == "v_mov_b32" {
			vsrc1 = 0
		}
		// v_dual_mov_b32 v7, v7 beside it.
		words := []uint32{0xc8000000 | uint32(half.Opcode)<<22 | 8<<17 | vsrc1<<9 | 256 + 5, 4<<24 | 7/2<<17 | 256 + 7, 0x40490fdb}
		for seed := range uint64(6) {
			var got [2]lanes
			for k, w := range [][]uint32{words, plain} {
				b, _ := laneBench(t, arch, seed)
				if seed > 2 {
					b.w.mode &^= 0xf0
				}
				n := name
				if k == 0 {
					n = half.Name
				}
				b.run(decoded(t, arch, n, w...))
				got[k] = *b.v(4)
			}
			if got[0] != got[1] {
				t.Error(fmt.Sprint(half.Name, " differs from ", name, ": got ", got[0], ", want ", got[1]))
			}
		}
	}
}
