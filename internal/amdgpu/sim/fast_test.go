package sim

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// An outcome is all that a launch shows.
type outcome struct {
	Findings []gpu.Finding
	Counters *gpu.Counters
	Err      string
	Buffers  [][]byte
}

// outcomeOf launches a kernel, reads its buffers back and frees them, so
// that the next launch on the device sees the same addresses.
func outcomeOf(r *rig, kernel string, grid, block gpu.Dim3, shared int, args ...any) outcome {
	r.t.Helper()
	rep, err := r.try(kernel, grid, block, shared, args...)
	o := outcome{Findings: rep.Findings, Counters: rep.Counters}
	if err != nil {
		o.Err = err.Error()
		var f *gpu.Fault
		if !errors.As(err, &f) {
			r.t.Fatalf("%s: %v", kernel, err)
		}
	}
	for _, a := range args {
		if b, ok := a.(gpu.Buffer); ok {
			p := make([]byte, b.Size())
			if err := b.CopyOut(p); err != nil {
				r.t.Fatal(err)
			}
			n, first := b.(*buffer).Unwritten()
			o.Buffers = append(o.Buffers, p, fmt.Append(nil, n, first))
			if err := b.Free(); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return o
}

// TestFastPaths holds the fast paths to the general ones: the same findings,
// counters, faults, bytes stored and bytes marked as written, for every
// planted defect, its repaired twin, and the corpus.
func TestFastPaths(t *testing.T) {
	for _, arch := range archs {
		for _, checks := range []bool{true, false} {
			for _, schedule := range []uint64{0, 5} {
				opts := Options{StepLimit: 1 << 17, NoChecks: !checks, Schedule: schedule, Workers: 1}
				name := fmt.Sprintf("%s/checks=%v/schedule=%d", arch, checks, schedule)
				t.Run(name, func(t *testing.T) {
					fast := newRig(t, "defects", arch, opts)
					opts.slow = true
					slow := newRig(t, "defects", arch, opts)
					for i := range plants {
						p := &plants[i]
						for _, kind := range []string{"bad", "good"} {
							if p.only != "" && p.only != kind {
								continue
							}
							launch := func(r *rig) outcome {
								return outcomeOf(r, kind+"_"+p.name, x(p.grid), x(p.block), p.shared, p.args(r, kind == "good")...)
							}
							if got, want := launch(fast), launch(slow); !reflect.DeepEqual(got, want) {
								t.Errorf("%s_%s: got %s, want %s", kind, p.name, show(got), show(want))
							}
						}
					}
				})
			}
		}
	}
}

// TestFastPathsCorpus is TestFastPaths for the corpus.
func TestFastPathsCorpus(t *testing.T) {
	kernels := corpus(t)
	for k, arch := range archs {
		t.Run(arch, func(t *testing.T) {
			opts := Options{Workers: 1, NoChecks: k == 1}
			rigs := [2]*rig{}
			for i := range rigs {
				opts.slow = i == 1
				rigs[i] = newRig(t, "../../../../testdata/corpus/O3", arch, opts)
			}
			for i := range kernels {
				k := &kernels[i]
				var got [2]outcome
				for j, r := range rigs {
					in := r.buf("x", k.in.Data)
					out := r.buf("y", tensor.New(k.dtype, corpusN).Data)
					const n = 200 // not a multiple of the block
					got[j] = outcomeOf(&rig{t, r.dev, r.mod}, k.name, x((n+corpusBlock-1)/corpusBlock), x(corpusBlock), 4*corpusBlock, in, out, n)
				}
				if !reflect.DeepEqual(got[0], got[1]) {
					t.Errorf("%s: got %s, want %s", k.name, show(got[0]), show(got[1]))
				}
			}
		})
	}
}

// show prints an outcome without its bytes.
func show(o outcome) string {
	s := fmt.Sprintf("%+v %q", *o.Counters, o.Err)
	for _, f := range o.Findings {
		s += "\n" + f.String()
	}
	for _, b := range o.Buffers {
		s += fmt.Sprintf("\n%.80x", b)
	}
	return s
}
