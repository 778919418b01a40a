package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A plant is a pair of kernels of defects.hip: bad_NAME must give the
// finding, good_NAME none.
type plant struct {
	name   string
	check  gpu.Check
	space  string
	access string
	grid   int
	block  int
	shared int
	args   func(r *rig, good bool) []any

	buffer string // of the finding
	min    int64  // lowest and highest offset, where not both zero
	max    int64
	wave32 bool   // the defect shows on wave32 only
	fault  string // what the launch's error says instead of a finding
	only   string // "bad" or "good" where the other does not exist
	also   gpu.Check
	from   string // where an undefined value comes from
}

func ints(n int, f func(i int) int32) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

func iota32(n int) []int32 { return ints(n, func(i int) int32 { return int32(i) }) }

// xo are the arguments x, of n consecutive integers, and out, of m.
func xo(n, m int, more ...any) func(*rig, bool) []any {
	return func(r *rig, good bool) []any {
		return append([]any{r.buf("x", iota32(n)), r.out("out", 4*m)}, more...)
	}
}

var plants = []plant{
	{name: "load_past", check: gpu.OutOfBounds, space: "global", access: "load", grid: 2, block: 64, buffer: "x", min: 400, max: 400,
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(100)), r.out("out", 404), 100} }},
	{name: "load_before", check: gpu.OutOfBounds, space: "global", access: "load", grid: 2, block: 64, buffer: "x", min: -4, max: -4, args: xo(100, 100, 100)},
	{name: "store_past", check: gpu.OutOfBounds, space: "global", access: "store", grid: 2, block: 64, buffer: "out", min: 400, max: 400, args: xo(100, 100, 100)},
	{name: "atomic_past", check: gpu.OutOfBounds, space: "global", access: "atomic", grid: 1, block: 64, buffer: "out", min: 400, max: 400 + 63*4,
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(100)), r.buf("out", iota32(100)), 100} }},
	{name: "null", check: gpu.OutOfBounds, space: "global", access: "load", grid: 1, block: 64, args: xo(100, 100, 64)},
	{name: "stride", check: gpu.OutOfBounds, space: "global", access: "load", grid: 1, block: 128, buffer: "x", min: 320, max: 596,
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(80)), r.out("out", 320), 8, 10} }},
	{name: "lds_load", check: gpu.OutOfBounds, space: "lds", access: "load", grid: 1, block: 256, buffer: "shared memory", min: 1024, max: 1024, args: xo(256, 256)},
	{name: "lds_store", check: gpu.OutOfBounds, space: "lds", access: "store", grid: 1, block: 256, buffer: "shared memory", min: 1024, max: 1024, args: xo(256, 256)},
	{name: "lds_dynamic", check: gpu.OutOfBounds, space: "lds", access: "store", grid: 1, block: 64, shared: 256, buffer: "shared memory", min: 256, max: 256, args: xo(64, 64)},
	{name: "scratch", check: gpu.OutOfBounds, space: "scratch", access: "load", grid: 1, block: 64, args: xo(64, 64)},

	{name: "uninit_lds", from: "shared memory+128,", check: gpu.Uninitialised, space: "global", access: "store", grid: 1, block: 64, buffer: "out", min: 0, max: 252, args: xo(64, 64)},
	{name: "uninit_global", from: "tmp+0,", check: gpu.Uninitialised, space: "global", access: "store", grid: 1, block: 64, buffer: "out", min: 0, max: 252,
		args: func(r *rig, _ bool) []any { return []any{r.out("tmp", 256), r.out("out", 256), 64} }},
	{name: "uninit_register", from: "a register that nobody wrote", check: gpu.Uninitialised, space: "global", access: "store", grid: 1, block: 64, buffer: "out", min: 0, max: 252,
		args: func(r *rig, _ bool) []any { return []any{r.out("out", 256)} }},
	{name: "uninit_branch", from: "shared memory+0,", check: gpu.Uninitialised, access: "branch", grid: 1, block: 128, args: xo(128, 256)},
	{name: "uninit_address", from: "shared memory+20,", check: gpu.Uninitialised, space: "vgpr", access: "address", grid: 1, block: 128, args: xo(128, 128)},
	{name: "uninit_half", from: "shared memory+18,", check: gpu.Uninitialised, space: "global", access: "store", grid: 1, block: 128, buffer: "out", min: 236, max: 236, args: xo(64, 64)},
	{name: "uninit_scratch", from: "scratch+60,", check: gpu.Uninitialised, space: "global", access: "store", grid: 1, block: 64, buffer: "out", min: 60, max: 252, args: xo(64, 64)},

	{name: "race_barrier", check: gpu.Race, also: gpu.Uninitialised, space: "lds", grid: 1, block: 256, buffer: "shared memory", args: xo(256, 256)},
	{name: "race_reuse", check: gpu.Race, space: "lds", grid: 1, block: 256, buffer: "shared memory", args: xo(256, 256)},
	{name: "race_blocks", check: gpu.Race, space: "global", grid: 4, block: 64, buffer: "out",
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(256)), r.buf("out", iota32(64))} }},
	{name: "race_global", check: gpu.Race, also: gpu.Uninitialised, space: "global", access: "load", grid: 1, block: 256, buffer: "tmp",
		args: func(r *rig, _ bool) []any {
			return []any{r.buf("x", iota32(256)), r.out("tmp", 1024), r.out("out", 1024)}
		}},
	{name: "race_lanes", check: gpu.Race, space: "global", access: "store", grid: 1, block: 32, buffer: "out", min: 0, max: 60, args: xo(32, 16)},
	{name: "race_atomic", check: gpu.Race, space: "global", grid: 4, block: 128, buffer: "out",
		args: func(r *rig, _ bool) []any { return []any{r.buf("out", iota32(1))} }},
	{name: "race_read", check: gpu.Race, space: "lds", grid: 1, block: 256, buffer: "shared memory", args: xo(256, 256)},
	{name: "race_swap", check: gpu.Race, space: "global", grid: 2, block: 128, buffer: "out",
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(64)), r.buf("out", iota32(1))} }},
	{name: "race_saved", grid: 2, block: 128, only: "good",
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(64)), r.buf("out", iota32(1))} }},
	{name: "race_float", grid: 2, block: 128, only: "good",
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(64)), r.buf("out", make([]float32, 7))} }},
	{name: "race_last", check: gpu.Race, space: "global", access: "load", grid: 8, block: 64, buffer: "part",
		args: func(r *rig, _ bool) []any {
			return []any{r.buf("x", iota32(64)), r.out("part", 32), r.buf("count", uint32(0)), r.out("out", 4)}
		}},
	{name: "race_bytes", check: gpu.Race, space: "global", access: "store", grid: 1, block: 256, buffer: "out",
		args: func(r *rig, _ bool) []any { return []any{r.buf("x", iota32(64)), r.out("out", 256)} }},
	{name: "race_flag", check: gpu.Race, space: "global", access: "store", grid: 1, block: 256, buffer: "out", args: xo(256, 1)},

	{name: "barrier_skip", check: gpu.BarrierDivergence, grid: 1, block: 256, args: xo(256, 256)},
	{name: "barrier_two", check: gpu.BarrierDivergence, grid: 1, block: 256, args: xo(256, 256)},
	{name: "barrier_masked", check: gpu.BarrierDivergence, grid: 1, block: 256, args: xo(256, 512)},
	{name: "barrier_return", grid: 1, block: 256, only: "good", args: xo(256, 256, 150)},

	{name: "loop", fault: "a loop that does not end", grid: 1, block: 64,
		args: func(r *rig, _ bool) []any { return []any{r.buf("out", iota32(4))} }},
	{name: "spin", fault: "a loop that does not end", grid: 1, block: 256,
		args: func(r *rig, _ bool) []any { return []any{r.buf("flag", int32(0)), r.out("out", 1024)} }},

	{name: "misaligned_atomic", check: gpu.Misaligned, space: "global", access: "atomic", grid: 1, block: 32, buffer: "p", min: 2, max: 126,
		args: func(r *rig, _ bool) []any { return []any{r.buf("p", iota32(40))} }},
	{name: "misaligned_load", check: gpu.Misaligned, space: "global", access: "load", grid: 1, block: 32, buffer: "x", min: 1, max: 125, args: xo(40, 32)},
	{name: "misaligned_bytes", grid: 1, block: 32, only: "good", args: xo(40, 32)},

	{name: "trap", fault: "s_trap", grid: 1, block: 64, args: xo(64, 64)},
}

// TestPlants runs every planted defect and its repaired twin on every
// architecture.
func TestPlants(t *testing.T) {
	opts := Options{StepLimit: 1 << 17}
	each(t, "defects", opts, func(t *testing.T, r *rig) {
		for _, p := range plants {
			for _, kind := range []string{"bad", "good"} {
				if p.only != "" && p.only != kind {
					continue
				}
				t.Run(kind+"_"+p.name, func(t *testing.T) {
					r := &rig{t, r.dev, r.mod}
					rep, err := r.try(kind+"_"+p.name, x(p.grid), x(p.block), p.shared, p.args(r, kind == "good")...)
					if kind == "good" {
						if err != nil {
							t.Fatal(err)
						}
						r.clean(rep)
						return
					}
					p.judge(t, "defects.hip", rep, err)
				})
			}
		}
	})
}

// judge compares what a launch of a kernel of defects.hip, or of another
// file, found.
func (p *plant) judge(t *testing.T, file string, rep gpu.Report, err error) {
	t.Helper()
	if p.fault != "" {
		var fault *gpu.Fault
		if !errors.As(err, &fault) || !strings.Contains(fault.Reason, p.fault) {
			t.Fatalf("got error %v, want a fault with %q", err, p.fault)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var found bool
	for _, f := range rep.Findings {
		t.Log(f)
		if f.Check == p.also {
			continue
		}
		if f.Check != p.check {
			// An address out of bounds can have further consequences; other
			// checks must stay silent.
			t.Errorf("also got %v", f)
			continue
		}
		if p.space != "" && f.Space != p.space || p.access != "" && f.Access != p.access {
			continue
		}
		if p.buffer != "" && f.Buffer != p.buffer {
			t.Errorf("got buffer %q, want %q", f.Buffer, p.buffer)
		}
		if p.min != 0 || p.max != 0 {
			if f.MinOffset != p.min || f.MaxOffset != p.max {
				t.Errorf("got offsets %d to %d, want %d to %d", f.MinOffset, f.MaxOffset, p.min, p.max)
			}
		}
		if f.First.PC == 0 || f.First.Inst == "" || f.Count == 0 || f.Kernel != "bad_"+p.name {
			t.Errorf("incomplete finding %+v", f)
		}
		if !strings.HasPrefix(f.First.Source, file+":") {
			t.Errorf("got source %q, want a line of %s", f.First.Source, file)
		}
		if want := "it comes from " + p.from; p.from != "" && !strings.Contains(f.Detail, want) {
			t.Errorf("got detail %q, want %q in it", f.Detail, want)
		}
		found = true
	}
	if !found {
		t.Errorf("no finding %s %s %s", p.check, p.space, p.access)
	}
}
