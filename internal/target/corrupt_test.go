package target

import (
	"os"
	"strconv"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
)

// TestCorruptObjects damages one byte of a prebuilt object at a time and
// runs a case with it. Whatever that gives, it is no panic, no hang and no
// lost run. PARITYCHECK_FLIPS sets how many bytes of each object.
func TestCorruptObjects(t *testing.T) {
	flips := 12
	if s := os.Getenv("PARITYCHECK_FLIPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PARITYCHECK_FLIPS must be a number: %v", err)
		}
		flips = n
	}
	first := map[string]ops.Case{} // of each family
	for _, o := range ops.All() {
		if _, ok := first[o.Family]; !ok {
			first[o.Family] = o.Cases(o.Variants[1%len(o.Variants)], ops.Fast)[1]
		}
	}
	opts := Options{Sim: sim.Options{StepLimit: 20000}}
	for family, c := range first {
		for _, arch := range interpreted {
			image, err := kernels.Object(family, arch)
			if err != nil {
				t.Fatal(err)
			}
			r := ops.NewRand(1, "corrupt "+family+arch)
			for range flips {
				bad := append([]byte(nil), image...)
				at, bit := r.IntN(len(bad)), byte(1)<<r.IntN(8)
				bad[at] ^= bit
				tg := emulated(arch, opts)
				tg.Image = func(gpu.Device, string) ([]byte, error) { return bad, nil }
				run, err := runner.Execute(t.Context(), []ops.Case{c}, []runner.Target{tg}, runner.Options{Seed: 1})
				if err != nil || len(run.Results) != 1 {
					t.Errorf("%s %s with bit %#x of byte %d inverted: %v", family, arch, bit, at, err)
				}
			}
		}
	}
}
