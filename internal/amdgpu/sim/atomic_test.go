package sim

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestRareLDSAtomics has those that compilers do not emit.
func TestRareLDSAtomics(t *testing.T) {
	f32 := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	nan, minus0, tiny := f32(float32(math.NaN())), f32(float32(math.Copysign(0, -1))), uint64(1)
	f64 := math.Float64bits
	for _, tc := range []struct {
		name               string // of gfx9, without ds_ and rtn_
		size               int
		old, v0, v1, after uint64
	}{
		{"mskor_b32", 4, 0xffff0000, 0xf0f0f0f0, 0x01010101, 0x0f0f0101},
		{"mskor_b64", 8, 0xffff0000_12345678, 0xff000000_000000ff, 0x11000000_00000022, 0x11ff0000_12345622},
		{"wrap_b32", 4, 10, 4, 100, 6},
		{"wrap_b32", 4, 4, 4, 100, 0},
		{"wrap_b32", 4, 3, 4, 100, 103},
		// The first operand is what is compared with.
		{"cmpst_f32", 4, f32(2), f32(2), f32(5), f32(5)},
		{"cmpst_f32", 4, f32(2), f32(3), f32(5), f32(2)},
		{"cmpst_f32", 4, minus0, 0, f32(5), f32(5)},
		{"cmpst_f32", 4, nan, nan, f32(5), nan},
		{"cmpst_f32", 4, tiny, 0, f32(5), tiny},
		{"cmpst_f64", 8, f64(2), f64(2), f64(5), f64(5)},
		{"cmpst_f64", 8, 1 << 63, 0, f64(5), f64(5)},
		{"cmpst_f64", 8, f64(math.NaN()), f64(math.NaN()), f64(5), f64(math.NaN())},
		{"condxchg32_b64", 8, 0x11111111_22222222, 0x80000033_00000044, 0, 0x00000033_22222222},
		{"condxchg32_b64", 8, 0x11111111_22222222, 0x00000033_80000044, 0, 0x11111111_00000044},
	} {
		for _, arch := range allArchs {
			for _, rtn := range []bool{false, true} {
				kind, typ, _ := strings.Cut(tc.name, "_")
				name, v0, v1 := "ds_"+kind+"_", tc.v0, tc.v1
				if kind == "cmpst" && arch == isa.GFX1100 {
					name, v0, v1 = "ds_cmpstore_", tc.v1, tc.v0 // in which order it comes second
				}
				if rtn {
					name += "rtn_"
				}
				name += typ
				var words []uint32
				for _, op := range knownOps(arch) {
					if op.Name == name && op.Enc == isa.DS {
						lo := uint32(0xd8000000) | uint32(op.Opcode)<<18 | 8
						if arch == isa.GFX90A {
							lo = 0xd8000000 | uint32(op.Opcode)<<17 | 8
						}
						hi := uint32(2 | 4<<8)
						if kind != "condxchg32" {
							hi |= 6 << 16
						}
						if rtn {
							hi |= 10 << 24
						}
						words = []uint32{lo, hi}
					}
				}
				if words == nil {
					if rtn {
						t.Errorf("%v has no %s", arch, name)
					}
					continue // wrap and condxchg32 always return
				}
				b := newBench(t, arch)
				b.w.exec = 1<<3 | 1<<20
				b.w.g.lds.region = region{space: "lds", data: make([]byte, 1024), live: true}
				data := b.w.g.lds.data
				for i := range b.w.n {
					b.v(2)[i] = uint32(8 * i)
					b.v(4)[i], b.v(5)[i] = uint32(v0), uint32(v0>>32)
					b.v(6)[i], b.v(7)[i] = uint32(v1), uint32(v1>>32)
					binary.LittleEndian.PutUint64(data[8+8*i:], tc.old)
				}
				b.run(decoded(t, arch, name, words...))
				for i := range b.w.n {
					want := tc.old
					if b.w.exec>>i&1 != 0 {
						want = tc.after
						old := uint64(b.v(10)[i]) | uint64(b.v(11)[i])<<32
						if rtn && old != tc.old {
							t.Errorf("%v %s: lane %d returned %#x, want %#x", arch, name, i, old, tc.old)
						}
					}
					if got := binary.LittleEndian.Uint64(data[8+8*i:]); got != want {
						t.Errorf("%v %s of %#x with %#x, %#x: lane %d: got %#x, want %#x", arch, name, tc.old, v0, v1, i, got, want)
					}
				}
			}
		}
	}
}

// TestFloatCompareSwap has the order of the operands of global memory's.
func TestFloatCompareSwap(t *testing.T) {
	one, two := math.Float32bits(1), math.Float32bits(2)
	for name, size := range map[string]int{"fcmpswap": 4, "fcmpswap_x2": 8, "cmpswap_f32": 4} {
		a, ok := globalAtomics[name]
		if !ok || a.size != size || !a.cas {
			t.Errorf("%s: got %+v, want a compare-and-swap of %d bytes", name, a, size)
			continue
		}
		old, cmp, v := uint64(one), uint64(one), uint64(two)
		if size == 8 {
			old, cmp, v = math.Float64bits(-0.5), math.Float64bits(-0.5), math.Float64bits(7)
		}
		if got := a.f(old, v, cmp); got != v {
			t.Errorf("%s of equal numbers: got %#x, want %#x", name, got, v)
		}
		if got := a.f(old, v, v); got != old {
			t.Errorf("%s of unequal numbers: got %#x, want %#x", name, got, old)
		}
	}
}

// TestAddTID has addresses that count the lanes.
func TestAddTID(t *testing.T) {
	for arch, ops := range map[isa.Arch]map[string][]uint32{
		isa.GFX1030: {"global_load_dword_addtid": {0xdc588010, 0x0c040000}, "global_store_dword_addtid": {0xdc5c8010, 0x00040600}},
		isa.GFX1100: {"global_load_addtid_b32": {0xdca20010, 0x0c040000}, "global_store_addtid_b32": {0xdca60010, 0x00040600}},
	} {
		for name, words := range ops {
			b := newBench(t, arch)
			b.w.s[4], b.w.s[5] = 0x1000, 7
			in := decoded(t, arch, name, words...)
			o, err := b.c.try(&in)
			if err != nil {
				t.Fatalf("%v %v: %v", arch, in.String(), err)
			}
			b.w.flatAddresses(&o)
			for i := range b.w.n {
				if got, want := b.w.g.ea[i], uint64(7)<<32+0x1010+4*uint64(i); got != want {
					t.Fatalf("%v %v: lane %d: got address %#x, want %#x", arch, in.String(), i, got, want)
				}
			}
			if store := strings.Contains(name, "store"); store && o.mem.data != firstVGPR+6 || !store && o.mem.dst != firstVGPR+12 {
				t.Errorf("%v %v: got data in row %d, result in row %d", arch, in.String(), o.mem.data, o.mem.dst)
			}
			words[1] |= 0x7c << 16
			if arch == isa.GFX1030 {
				words[1] |= 0x7d << 16
			}
			in = decoded(t, arch, name, words...)
			if _, err := b.c.try(&in); err == nil {
				t.Errorf("%v %v: got no error, want one of the missing base", arch, in.String())
			}
		}
	}
}
