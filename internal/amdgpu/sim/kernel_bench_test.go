package sim

import (
	"math"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// BenchmarkKernel runs whole kernels with one worker. make bench-sim prints
// the table; the rates are by processor time where the system tells it.
func BenchmarkKernel(b *testing.B) {
	dim := func(x, y int) gpu.Dim3 { return gpu.Dim3{X: uint32(x), Y: uint32(y), Z: 1} }
	wave := func(n int) []float32 {
		return ramp(n, func(i int) float32 { return float32(math.Sin(float64(i) * 0.37)) })
	}
	for _, k := range []struct {
		name   string
		kernel string
		launch func(r *rig) (grid, block gpu.Dim3, args []any)
	}{
		{"matmul512", "matmul", func(r *rig) (gpu.Dim3, gpu.Dim3, []any) {
			const n = 512
			return dim(n/16, n/16), dim(16, 16), []any{r.buf("a", wave(n*n)), r.buf("b", wave(n*n)), r.out("c", 4*n*n), n}
		}},
		{"matmul512tiled", "matmul_tiled", func(r *rig) (gpu.Dim3, gpu.Dim3, []any) {
			const n = 512
			return dim(n/16, n/16), dim(16, 16), []any{r.buf("a", wave(n*n)), r.buf("b", wave(n*n)), r.out("c", 4*n*n), n}
		}},
		{"tanh1M", "tanh_f32", func(r *rig) (gpu.Dim3, gpu.Dim3, []any) {
			const n = 1 << 20
			return dim(n/256, 1), dim(256, 1), []any{r.buf("x", wave(n)), r.out("y", 4*n), n}
		}},
		{"softmax1024x4096", "softmax", func(r *rig) (gpu.Dim3, gpu.Dim3, []any) {
			const rows, n = 1024, 4096
			return dim(rows, 1), dim(256, 1), []any{r.buf("x", wave(rows*n)), r.out("y", 4*rows*n), n}
		}},
		{"rmsnorm4096x4096", "rms_norm", func(r *rig) (gpu.Dim3, gpu.Dim3, []any) {
			const rows, n = 4096, 4096
			return dim(rows, 1), dim(256, 1), []any{r.buf("x", wave(rows*n)), r.buf("w", wave(n)), r.out("y", 4*rows*n), n, float32(1e-5)}
		}},
	} {
		for _, arch := range archs {
			for _, checks := range []string{"unchecked", "checked"} {
				b.Run(k.name+"/"+arch+"/"+checks, func(b *testing.B) {
					r := newRig(b, "bench", arch, Options{Workers: 1, NoChecks: checks == "unchecked"})
					grid, block, args := k.launch(r)
					r.launch(k.kernel, grid, block, 0, args...) // compiles
					var waves, laneOps int64
					start := processorTime()
					for b.Loop() {
						rep := r.clean(r.launch(k.kernel, grid, block, 0, args...))
						for _, n := range rep.Counters.Inst {
							waves += n
						}
						laneOps += rep.Counters.LaneOps
					}
					t := (processorTime() - start).Seconds()
					b.ReportMetric(t/float64(b.N), "cpu-s/op")
					b.ReportMetric(float64(waves)/t/1e6, "Mwaveinst/s")
					b.ReportMetric(float64(laneOps)/t/1e9, "Glaneops/s")
				})
			}
		}
	}
}

var benchStart = time.Now()
