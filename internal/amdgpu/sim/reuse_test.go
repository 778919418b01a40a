package sim

import (
	"reflect"
	"runtime"
	"testing"
)

// TestReuse holds a launch to leaving nothing behind for the next: a kernel
// gives the same findings, counters and output on a fresh device and after
// others, larger and smaller, that left registers, LDS and records of races.
func TestReuse(t *testing.T) {
	each(t, "defects", Options{Workers: 1}, func(t *testing.T, r *rig) {
		arch := r.dev.Info().Arch
		type result struct {
			Findings []string
			Counters any
			Error    string
		}
		launch := func(r *rig, p *plant) result {
			r = &rig{t, r.dev, r.mod}
			rep, err := r.try("bad_"+p.name, x(p.grid), x(p.block), p.shared, p.args(r, false)...)
			var res result
			for _, f := range rep.Findings {
				res.Findings = append(res.Findings, f.String())
			}
			if err != nil {
				res.Error = err.Error()
			}
			res.Counters = rep.Counters
			return res
		}
		for i := range plants {
			p := &plants[i]
			if p.only == "good" || p.fault != "" {
				continue
			}
			want := launch(newRig(t, "defects", arch, Options{Workers: 1}), p)
			if got := launch(r, p); !reflect.DeepEqual(got, want) {
				t.Errorf("%s after other launches: got %+v, want %+v", p.name, got, want)
			}
		}
	})
}

// TestLaunchMemory bounds what a small launch allocates: register files and
// records are used again.
func TestLaunchMemory(t *testing.T) {
	r := newRig(t, "base", "gfx90a", Options{Workers: 1})
	a, b, out := r.buf("x", make([]float32, 256)), r.buf("y", make([]float32, 256)), r.out("out", 1024)
	r.launch("vadd", x(1), x(256), 0, a, b, out, 256)
	var before, after runtime.MemStats
	const n = 100
	runtime.ReadMemStats(&before)
	for range n {
		r.launch("vadd", x(1), x(256), 0, a, b, out, 256)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / n; got > 20<<10 {
		t.Errorf("a launch of 256 threads allocates %d bytes, want at most 20 KiB", got)
	}
}
