package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// TestScalarPlants has defects of scalar stores and atomics, and of loads to
// shared memory.
func TestScalarPlants(t *testing.T) {
	xo := func(n int) func(*rig, bool) []any { // out written before
		return func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(256)), r.buf("out", make([]int32, n))} }
	}
	fresh := func(n int) func(*rig, bool) []any {
		return func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(256)), r.out("out", 4*n)} }
	}
	for _, p := range []plant{
		{name: "scalar_store", check: gpu.OutOfBounds, space: "global", access: "store", buffer: "out", min: 32, max: 32, grid: 8, block: 64, args: fresh(8)},
		{name: "scalar_race", check: gpu.Race, space: "global", access: "store", buffer: "out", grid: 4, block: 64, args: fresh(1)},
		{name: "scalar_atomic", check: gpu.OutOfBounds, space: "global", access: "atomic", buffer: "out", min: 16, max: 16, grid: 6, block: 64, args: xo(4)},
		{name: "scalar_misaligned", check: gpu.Misaligned, space: "global", access: "atomic", buffer: "out", min: 4, max: 4, grid: 1, block: 64, args: xo(4)},
		{name: "scalar_uninit", check: gpu.Uninitialised, space: "global", access: "store", from: "out+0,", buffer: "out", min: 4, max: 4, grid: 1, block: 64, args: fresh(2)},
		{name: "scalar_result", check: gpu.Uninitialised, space: "global", access: "atomic", buffer: "out", grid: 1, block: 64, args: fresh(2)},
		{name: "to_shared", check: gpu.Race, also: gpu.Uninitialised, space: "lds", buffer: "shared memory", grid: 1, block: 256, args: fresh(256)},
		{name: "to_shared_past", check: gpu.OutOfBounds, also: gpu.Uninitialised, space: "lds", access: "store", buffer: "shared memory", min: 1024, max: 1024, grid: 1, block: 256, args: fresh(256)},
		{name: "to_shared_from", check: gpu.OutOfBounds, space: "global", access: "load", buffer: "x", min: 1024, max: 1024, grid: 1, block: 256, args: fresh(256)},
	} {
		for _, arch := range archs {
			if strings.HasPrefix(p.name, "scalar") && arch != "gfx90a" {
				continue
			}
			t.Run(arch+"/"+p.name, func(t *testing.T) {
				r := newRig(t, "scalar", arch, Options{})
				rep, err := r.try("bad_"+p.name, x(p.grid), x(p.block), 0, p.args(r, false)...)
				p.judge(t, "scalar.hip", rep, err)
			})
		}
	}
}

// TestScalarKernels has the same without defects, and their results.
func TestScalarKernels(t *testing.T) {
	n := []int32{3, 1, 4, 1, 5, 9, 2, 6}
	run := func(t *testing.T, arch, kernel string, grid, block int, opts Options, in, out any, want []int32) {
		t.Helper()
		r := newRig(t, "scalar", arch, opts)
		b := r.out("out", 4*len(want))
		if out != nil {
			b = r.buf("out", out)
		}
		r.clean(r.launch("good_"+kernel, x(grid), x(block), 0, r.buf("x", in), b))
		got := make([]int32, len(want))
		r.read(b, got)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: got %v, want %v", arch, kernel, got, want)
		}
	}
	for _, opts := range []Options{{}, {NoChecks: true}} {
		var sums []int32
		total := int32(0)
		for _, v := range n {
			sums = append(sums, v+5)
			total += v
		}
		run(t, "gfx90a", "scalar_store", 8, 64, opts, n, nil, sums)
		run(t, "gfx90a", "scalar_atomic", 8, 64, opts, n, []int32{100}, []int32{100 + total})
		run(t, "gfx90a", "scalar_misaligned", 3, 64, opts, n, make([]int32, 4), []int32{0, 0, 21, 0})
		run(t, "gfx90a", "scalar_result", 4, 64, opts, []int32{0}, nil, []int32{7, 7, 7, 7})
		for _, arch := range archs {
			v := iota32(256)
			reversed := slices.Clone(v)
			slices.Reverse(reversed)
			run(t, arch, "to_shared", 1, 256, opts, v, nil, reversed)
		}
	}
}
