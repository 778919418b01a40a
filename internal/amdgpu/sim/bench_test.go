package sim

import (
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// BenchmarkLaunch measures whole launches, with and without checks.
func BenchmarkLaunch(b *testing.B) {
	const n = 1 << 18
	for _, arch := range []string{"gfx90a", "gfx1100"} {
		for _, c := range []struct {
			name   string
			checks bool
		}{{"checks", true}, {"nochecks", false}} {
			r := newRig(b, "base", arch, Options{NoChecks: !c.checks, Workers: 1})
			in := r.buf("x", make([]float32, n))
			in2 := r.buf("y", make([]float32, n))
			out := r.out("out", 4*n)
			run := func(kernel string, grid, block gpu.Dim3, args ...any) {
				b.Run(arch+"/"+kernel+"/"+c.name, func(b *testing.B) {
					var ops int64
					for b.Loop() {
						ops += r.launch(kernel, grid, block, 0, args...).Counters.LaneOps
					}
					b.ReportMetric(float64(ops)/b.Elapsed().Seconds()/1e9, "Glane-ops/s")
				})
			}
			run("vadd", x(n/256), x(256), in, in2, out, n)
			run("block_sum", x(n/256), x(256), in, out, n)
		}
	}
}
