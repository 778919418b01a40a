package sim

import (
	"encoding/binary"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/kernels"
)

// TestFindSeeds: the load before a compare and swap is marked where it
// reads what is compared, and nowhere else. The code is gfx90a's.
func TestFindSeeds(t *testing.T) {
	const (
		load    = 0x077f0004dc508000 // global_load_dword v7, v[4:5], off
		loadAt4 = 0x077f0004dc508004 // ... offset:4
		other   = 0x077f0002dc508000 // global_load_dword v7, v[2:3], off
		load64  = 0x087f0004dc548000 // global_load_dwordx2 v[8:9], v[4:5], off
		wait    = 0xbf8c0f70         // s_waitcnt vmcnt(0)
		sum     = 0x020c0707         // v_add_f32 v6, v7, v3
		move    = 0x7e0a0280         // v_mov_b32 v5, 0
		clear   = 0x7e0e0280         // v_mov_b32 v7, 0
		cas     = 0x067f0604dd058000 // global_atomic_cmpswap v6, v[4:5], v[6:7], off glc
		casV9   = 0x067f0804dd058000 // ... v[8:9]
		cas64   = 0x067f0604dd858000 // global_atomic_cmpswap_x2 v[6:7], v[4:5], v[6:9], off glc
		add     = 0x007f0704dd088000 // global_atomic_add v[4:5], v7, off
	)
	for _, tc := range []struct {
		name string
		code []uint64
		want bool
	}{
		{"atomicAdd of a float", []uint64{load, wait, sum, cas}, true},
		{"of a double", []uint64{load64, wait, cas64}, true},
		{"another offset", []uint64{loadAt4, wait, sum, cas}, false},
		{"another address", []uint64{other, wait, sum, cas}, false},
		{"another size", []uint64{load64, wait, sum, cas}, false},
		{"address changed", []uint64{load, wait, sum, move, cas}, false},
		{"value changed", []uint64{load, wait, sum, clear, cas}, false},
		{"compared with another value", []uint64{load, wait, sum, casV9}, false},
		{"an addition", []uint64{load, wait, sum, add}, false},
		{"no atomic", []uint64{load, wait, sum}, false},
	} {
		arch, err := isa.ParseArch("gfx90a")
		if err != nil {
			t.Fatal(err)
		}
		c := newCompiler(arch, arch.WaveSize(), allSpecs())
		u := &unit{}
		for _, word := range tc.code {
			code := binary.LittleEndian.AppendUint64(nil, word)
			in, err := isa.Decode(arch, code, 0)
			if err != nil {
				t.Fatal(err)
			}
			u.ops = append(u.ops, c.compile(&in))
		}
		u.findSeeds()
		if got := u.ops[0].mem.atomicLoad; got != tc.want {
			t.Errorf("%s: the load counts as atomic: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestAtomicAddOfFloats runs the sum whose atomics are loops of compare
// and swap: all waves of a block meet in one element, and nothing is found.
func TestAtomicAddOfFloats(t *testing.T) {
	const n = 300
	for _, arch := range archs {
		d, err := Open(arch, Options{})
		if err != nil {
			t.Fatal(err)
		}
		image, err := kernels.Object("reduce", arch)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load(image)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t, d, m}
		inp, want := make([]float64, n), 0.0
		for i := range inp {
			inp[i] = float64(i)
			want += inp[i]
		}
		// dims, strides, length and step of the one summed dim
		info := r.buf("info", []uint64{n, 1, n, 1})
		src, out := r.buf("inp", inp), r.buf("out", []float64{0})
		r.clean(r.launch("sum_f64", gpu.Dim3{X: 1, Y: 1, Z: 1}, gpu.Dim3{X: 1024, Y: 1, Z: 1}, 0, int64(n), int64(1), int64(1), info, src, out))
		got := make([]float64, 1)
		r.read(out, got)
		if got[0] != want {
			t.Errorf("%s: sum = %g, want %g", arch, got[0], want)
		}
		d.Close()
	}
}
