package mutate

import (
	"os"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/kernels"
)

func options(samples int) Options {
	return Options{
		Seed: 1, Samples: samples, Archs: []string{"gfx90a", "gfx1030"},
		Open: func(arch string) (gpu.Device, error) { return sim.Open(arch, sim.Options{StepLimit: 100000}) },
	}
}

func op(t *testing.T, name string) *ops.Op {
	t.Helper()
	for _, o := range ops.All() {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no op %s", name)
	return nil
}

// TestInstructions: mutants of a good kernel are drawn alike every time,
// change what they say, and most are caught.
func TestInstructions(t *testing.T) {
	o := op(t, "rope")
	image := func(arch string) ([]byte, error) { return kernels.Object("rope", arch) }
	first, err := Instructions(t.Context(), o, o.Variants[1], image, options(20))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Instructions(t.Context(), o, o.Variants[1], image, options(20))
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("mutant %d is %+v, then %+v", i, first[i], again[i])
		}
	}
	s := Scores(first)
	if len(s) != 1 || s[0].Planted != 40 || s[0].Caught < 10 {
		t.Errorf("scores %+v, want 40 planted and most caught", s)
	}
	if os.Getenv("PARITYCHECK_VERBOSE") != "" {
		for _, m := range first {
			t.Logf("%s %s %s: %s", m.Outcome, m.Target, m.Kind, m.Name)
		}
	}
}

// TestSurvivorIsSeen: with cases that never look, a mutant that matters
// survives. It proves that a score below 1 is possible.
func TestSurvivorIsSeen(t *testing.T) {
	good := op(t, "rope_i")
	blind := *good
	blind.Cases = func(v ops.Variant, l ops.Level) []ops.Case {
		var shared []ops.Case
		for _, c := range good.Cases(v, l) {
			if c.Dim("cos") == 2 {
				shared = append(shared, c)
			}
		}
		return shared
	}
	image := func(arch string) ([]byte, error) { return kernels.Object("rope", arch) }
	opts := options(60)
	opts.Archs = opts.Archs[:1]
	all, err := Instructions(t.Context(), good, good.Variants[1], image, opts)
	if err != nil {
		t.Fatal(err)
	}
	some, err := Instructions(t.Context(), &blind, good.Variants[1], image, opts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Scores(all)[0], Scores(some)[0]
	if b.Caught >= a.Caught {
		t.Errorf("cases with one table caught %d mutants, all cases %d: those with a table per batch tell nothing", b.Caught, a.Caught)
	}
}

func TestFaultsNeedAnOp(t *testing.T) {
	if _, err := Faults(ops.All(), []string{"rope_i_f32__swapped", "rope_i_f32__twin"}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"rope_i_f32", "rope_x_f32__swapped", "rope_i_f32__"} {
		if _, err := Faults(ops.All(), []string{bad}); err == nil {
			t.Errorf("%s gave no error", bad)
		}
	}
}

func TestDrawKeepsLength(t *testing.T) {
	object, err := kernels.Object("rope", "gfx1100")
	if err != nil {
		t.Fatal(err)
	}
	insts, offsets, err := instructions(isa.GFX1100, object, "rope_f16")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	r := ops.NewRand(1, "draw")
	for range 500 {
		e, err := draw(isa.GFX1100, object, insts, offsets, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.code) != int(e.was.Size) {
			t.Fatalf("%s became %d bytes", e.was, len(e.code))
		}
		kinds[e.kind]++
	}
	for _, k := range []string{"operation", "operand", "constant", "dropped"} {
		if kinds[k] < 20 {
			t.Errorf("500 draws gave %d of kind %s, want a fair share: %v", kinds[k], k, kinds)
		}
	}
}
