package sim

import (
	"fmt"
	"slices"
	"testing"
)

// TestModels runs a kernel that is one v_rsq_f32 under every model of
// transcendental instructions: the result moves by the model's step of the
// representation, up or down, and no further.
func TestModels(t *testing.T) {
	var k *corpusKernel
	list := corpus(t)
	for i := range list {
		if list[i].name == "rsqrt_f32" {
			k = &list[i]
		}
	}
	steps := func(arch string, opts Options) []int64 {
		at := func(o Options) []int64 {
			r := newRig(t, "../../../../testdata/corpus/fast", arch, o)
			out := k.run(r, corpusN)
			v := make([]int64, corpusN)
			for i := range v {
				v[i] = int64(out.Bits(i))
			}
			return v
		}
		v := at(opts)
		for i, x := range at(Options{}) {
			v[i] -= x
		}
		return v
	}
	for _, arch := range archs {
		all := func(name string, got []int64, want int64) {
			t.Helper()
			for i, d := range got {
				if d != want {
					t.Errorf("%s %s: element %d moves by %d ulp, want %d", arch, name, i, d, want)
					return
				}
			}
		}
		all("cr", steps(arch, Options{Model: CorrectlyRounded}), 0)
		all("+1ulp", steps(arch, Options{Model: PlusULP}), 1)
		all("-1ulp", steps(arch, Options{Model: MinusULP}), -1)
		a := steps(arch, Options{Model: RandomULP, ModelSeed: 1})
		for i, d := range a {
			if d < -1 || d > 1 {
				t.Errorf("%s random: element %d moves by %d ulp, want at most 1", arch, i, d)
			}
		}
		for d := int64(-1); d <= 1; d++ {
			if !slices.Contains(a, d) {
				t.Errorf("%s random: no element moves by %d ulp", arch, d)
			}
		}
		if b := steps(arch, Options{Model: RandomULP, ModelSeed: 1}); !slices.Equal(a, b) {
			t.Errorf("%s random: one seed moves results differently", arch)
		}
		if b := steps(arch, Options{Model: RandomULP, ModelSeed: 2}); slices.Equal(a, b) {
			t.Errorf("%s random: seeds 1 and 2 move results alike", arch)
		}
	}
}

// TestModelsIntegers holds that no model reaches what is exact on every
// chip: compilers start integer division and IEEE division from the
// reciprocal, and repair its error.
func TestModelsIntegers(t *testing.T) {
	kernels := corpus(t)
	for _, arch := range archs {
		for _, o := range []Options{{Model: PlusULP}, {Model: MinusULP}, {Model: RandomULP, ModelSeed: 3}} {
			t.Run(fmt.Sprintf("%s/%d", arch, o.Model), func(t *testing.T) {
				r := newRig(t, "../../../../testdata/corpus/O3", arch, o)
				for i := range kernels {
					k := &kernels[i]
					if k.want != nil || k.base == "div" || k.base == "sqrt" {
						k.check(t, k.run(r, corpusN), corpusN, false)
					}
				}
			})
		}
	}
}
