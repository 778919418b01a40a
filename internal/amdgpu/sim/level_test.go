package sim

import (
	"reflect"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// eachLevel runs a test with each level of vector instructions that the
// machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	have := vectors
	defer setVectors(have)
	for l := levelGo; l <= have; l++ {
		t.Run(l.String(), func(t *testing.T) {
			setVectors(l)
			f(t)
		})
	}
}

// TestLevels holds whole launches to those of Go alone: the same findings,
// counters, faults, bytes stored and bytes marked as written, for every
// planted defect, its repaired twin, and the corpus.
func TestLevels(t *testing.T) {
	kernels := corpus(t)
	for _, arch := range archs {
		launches := func() map[string]outcome {
			got := map[string]outcome{}
			opts := Options{Workers: 1, StepLimit: 1 << 15}
			r := newRig(t, "defects", arch, opts)
			for i := range plants {
				p := &plants[i]
				for _, kind := range []string{"bad", "good"} {
					if p.only == "" || p.only == kind {
						got[kind+"_"+p.name] = outcomeOf(r, kind+"_"+p.name, x(p.grid), x(p.block), p.shared, p.args(r, kind == "good")...)
					}
				}
			}
			r = newRig(t, "../../../../testdata/corpus/O3", arch, opts)
			for i := range kernels {
				k := &kernels[i]
				in := r.buf("x", k.in.Data)
				out := r.buf("y", tensor.New(k.dtype, corpusN).Data)
				const n = 200 // not a multiple of the block
				got[k.name] = outcomeOf(r, k.name, x((n+corpusBlock-1)/corpusBlock), x(corpusBlock), 4*corpusBlock, in, out, n)
			}
			return got
		}
		have := vectors
		setVectors(levelGo)
		want := launches()
		setVectors(have)
		t.Run(arch, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				got := launches()
				if len(got) != len(want) || len(got) < len(kernels)+len(plants) {
					t.Errorf("%d launches, want %d", len(got), len(want))
				}
				for name, o := range got {
					if !reflect.DeepEqual(o, want[name]) {
						t.Errorf("%s: got %s, want %s", name, show(o), show(want[name]))
					}
				}
			})
		})
	}
}
