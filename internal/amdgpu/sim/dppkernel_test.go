package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// TestDPPKernels runs compiled kernels with DPP against what their source
// says.
func TestDPPKernels(t *testing.T) {
	const n = 64
	each(t, "dpp", Options{}, func(t *testing.T, r *rig) {
		rnd := rand.New(rand.NewPCG(3, 9))
		in := make([]int32, n)
		f := make([]float32, n)
		for i := range in {
			in[i] = int32(rnd.IntN(1000) - 500)
			f[i] = float32(in[i]) / 8
		}
		wide := r.dev.Info().WaveSize == 64
		run := func(kernel string, outputs int, want func(k, i int) int32) {
			t.Helper()
			out := r.out("out", 4*n*outputs)
			r.clean(r.launch(kernel, x(1), x(n), 0, r.buf("x", in), out))
			got := make([]int32, n*outputs)
			r.read(out, &got)
			for j, v := range got {
				if w := want(j/n, j%n); v != w {
					t.Fatalf("%s: output %d, lane %d: got %d, want %d", kernel, j/n, j%n, v, w)
				}
			}
		}
		run("scan", 1, func(_, i int) int32 {
			first := i / 16 * 16
			if wide {
				first = 0
			}
			var sum int32
			for _, v := range in[first : i+1] {
				sum += v
			}
			return sum
		})
		run("rotate", 2, func(k, i int) int32 {
			row := in[i/16*16:]
			if k == 1 {
				return row[5]
			}
			return 3*in[i] - row[(i%16+13)%16]
		})
		run("neighbours", 2, func(k, i int) int32 {
			switch {
			case i%5 == 2:
				return -7
			case i%16 == 15 || i%5 == 1: // no neighbour, or one that did not come along
				return int32(k) - 1
			}
			return in[i+1]
		})
		run("shuffle", 1, func(_, i int) int32 {
			switch {
			case wide && i == 0:
				return in[0]
			case wide:
				return in[i] - in[i-1]
			}
			return in[i] - in[i/8*8+(i+6)%8]
		})

		out := r.out("out", 4*n)
		r.clean(r.launch("row_max", x(1), x(n), 0, r.buf("x", f), out))
		got := make([]float32, n)
		r.read(out, &got)
		for i, v := range got {
			want := f[i/16*16]
			for _, w := range f[i/16*16:][:16] {
				want = max(want, w)
			}
			if v != want {
				t.Fatalf("row_max: lane %d: got %v, want %v", i, v, want)
			}
		}
	})
}

// TestDPPUndefined: what nobody wrote stays so when DPP moves it, and a
// lane without source is defined.
func TestDPPUndefined(t *testing.T) {
	each(t, "dpp", Options{}, func(t *testing.T, r *rig) {
		rep := r.launch("undefined", x(1), x(64), 0, r.out("out", 4*128))
		found := false
		for _, f := range rep.Findings {
			if f.Check != gpu.Uninitialised {
				t.Errorf("got %v, want uses of what nobody wrote only", f)
			}
			if f.Access == "store" {
				found = true
				if f.MinOffset < 4*64 {
					t.Errorf("got %v, want none of the lanes that have no neighbour", f)
				}
			}
		}
		if !found {
			t.Errorf("got %v, want a store of what nobody wrote", rep.Findings)
		}
	})
}
