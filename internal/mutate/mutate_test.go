package mutate

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
)

func options(samples int) Options {
	return Options{
		Seed: 1, Samples: samples, Archs: []string{"gfx90a", "gfx1030"},
		Open: func(arch string, reached func(uint64)) (gpu.Device, error) {
			return sim.Open(arch, sim.Options{StepLimit: 100000, Reached: reached})
		},
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
	first, coverage, err := Instructions(t.Context(), o, o.Variants[1], image, options(20))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Instructions(t.Context(), o, o.Variants[1], image, options(20))
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("mutant %d is %+v, then %+v", i, first[i], again[i])
		}
	}
	s := Scores(first, coverage)
	if len(s) != 1 || s[0].Planted != 40 || s[0].Caught < 10 {
		t.Errorf("scores %+v, want 40 planted and most caught", s)
	}
	if os.Getenv("PARITYCHECK_VERBOSE") != "" {
		for _, m := range first {
			t.Logf("%s %s %s: %s", m.Outcome, m.Target, m.Kind, m.Name)
		}
	}
}

// What is not executed does not show: with garbage in place of all of it the
// results stay, and with garbage in place of anything else they do not.
func TestExecuted(t *testing.T) {
	o := op(t, "rope_i")
	v := o.Variants[1]
	object, err := kernels.Object("rope", "gfx1030")
	if err != nil {
		t.Fatal(err)
	}
	opts := options(0)
	var cases []ops.Case
	for _, c := range o.Cases(v, ops.Fast) {
		if c.Dim("cos") == 2 { // stride_b is 0: nothing is divided by it
			cases = append(cases, c)
		}
	}
	insts, offsets, good, seen, err := executed(t.Context(), &opts, isa.GFX1030, object, o.Kernel(v), cases)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Unreached == 0 || len(insts) != seen.Instructions-seen.Unreached || len(good) != len(cases) {
		t.Fatalf("%d executed, %+v, %d results of %d cases", len(insts), seen, len(good), len(cases))
	}
	all, places, _, err := instructions(isa.GFX1030, object, o.Kernel(v))
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(image []byte, at int, in isa.Inst) {
		for i := range int(in.Size) {
			image[at+i] = 0xff
		}
	}
	plant := func(image []byte) []runner.Result {
		results, err := launch(t.Context(), &opts, "gfx1030", image, ops.Bundled(), cases)
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	image := bytes.Clone(object)
	for i := range all {
		if !noEffect(all[i].Name) && !slices.Contains(offsets, places[i]) {
			spoil(image, places[i], all[i])
		}
	}
	for i, r := range plant(image) {
		if r.OutputHash != good[i].OutputHash || r.Status != compare.Pass {
			t.Errorf("%s is %s without what no case executes", r.Case, r.Status)
		}
	}
	for i := range insts {
		image := bytes.Clone(object)
		spoil(image, offsets[i], insts[i])
		if results := plant(image); results[len(results)-1].Status != compare.Fail {
			t.Errorf("no case fails without %s at 0x%x", insts[i], offsets[i])
		}
	}
}

// TestSurvivorIsSeen: with a bound that holds everything, a mutant that
// matters survives. It proves that a score below 1 is possible.
func TestSurvivorIsSeen(t *testing.T) {
	good := op(t, "rope_i")
	blind := *good
	blind.Expect = func(p *ops.Problem) *compare.Expected {
		e := good.Expect(p)
		e.Degenerate, e.Identity = true, true
		for i := range e.Hard {
			e.Hard[i], e.Allow[i] = math.Inf(1), compare.NaN|compare.PosInf|compare.NegInf|compare.Finite
		}
		return e
	}
	blind.Cases = func(v ops.Variant, l ops.Level) []ops.Case {
		cases := good.Cases(v, l)[1:2]
		cases[0].Op = &blind
		return cases
	}
	image := func(arch string) ([]byte, error) { return kernels.Object("rope", arch) }
	opts := options(60)
	opts.Archs = opts.Archs[:1]
	all, _, err := Instructions(t.Context(), good, good.Variants[1], image, opts)
	if err != nil {
		t.Fatal(err)
	}
	some, _, err := Instructions(t.Context(), &blind, good.Variants[1], image, opts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Scores(all, nil)[0], Scores(some, nil)[0]
	if a.Survived > 0 || b.Survived == 0 || b.Share() >= a.Share() {
		t.Errorf("without a bound %+v, with it %+v", b, a)
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
	insts, offsets, _, err := instructions(isa.GFX1100, object, "rope_f16")
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
