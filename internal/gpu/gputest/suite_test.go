package gputest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

func harness(kernels map[string]gputest.Kernel) gputest.Harness {
	return gputest.Harness{
		Open:  func() (gpu.Device, error) { return gputest.NewFake(kernels), nil },
		Image: func(gpu.Device) ([]byte, error) { return gputest.Image(), nil },
	}
}

func TestFake(t *testing.T) {
	gputest.Run(t, harness(gputest.Kernels))
	for _, symbol := range gputest.FaultKernels {
		t.Run(symbol, func(t *testing.T) { gputest.Fault(t, harness(gputest.Kernels), symbol) })
	}
}

// A recorder is a testing.TB that keeps what it is told.
type recorder struct {
	testing.TB
	mu      sync.Mutex
	cleanup []func()
	failed  []string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Log(...any)                        {}
func (r *recorder) Context() context.Context          { return context.Background() }
func (r *recorder) Cleanup(f func())                  { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.note(fmt.Sprint(args...)); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.note(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, s)
}

// run calls f as a test and returns its failures.
func record(f func(testing.TB)) []string {
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, c := range r.cleanup {
				c()
			}
		}()
		f(r)
	}()
	<-done
	return r.failed
}

// A broken device is a Fake of which one method was replaced.
type broken struct {
	*gputest.Fake
	info   func() gpu.Info
	load   func(*gputest.Fake, []byte) (gpu.Module, error)
	alloc  func(*gputest.Fake, string, int) (gpu.Buffer, error)
	launch func(*gputest.Fake, context.Context, gpu.Kernel, gpu.LaunchConfig, []byte) (gpu.Report, error)
	close  func(*gputest.Fake) error
}

func (d *broken) Info() gpu.Info {
	if d.info != nil {
		return d.info()
	}
	return d.Fake.Info()
}

func (d *broken) Load(image []byte) (gpu.Module, error) {
	if d.load != nil {
		return d.load(d.Fake, image)
	}
	return d.Fake.Load(image)
}

func (d *broken) Alloc(name string, size int) (gpu.Buffer, error) {
	if d.alloc != nil {
		return d.alloc(d.Fake, name, size)
	}
	return d.Fake.Alloc(name, size)
}

func (d *broken) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
	if d.launch != nil {
		return d.launch(d.Fake, ctx, k, cfg, args)
	}
	return d.Fake.Launch(ctx, k, cfg, args)
}

func (d *broken) Close() error {
	if d.close != nil {
		return d.close(d.Fake)
	}
	return d.Fake.Close()
}

// buffer overrides methods of a buffer; nil ones are those of the Fake.
type buffer struct {
	gpu.Buffer
	copyIn, copyOut func(gpu.Buffer, []byte) error
	poison          func(gpu.Buffer, byte) error
	ptr             func(gpu.Buffer) uint64
}

func (b buffer) CopyIn(p []byte) error {
	if b.copyIn != nil {
		return b.copyIn(b.Buffer, p)
	}
	return b.Buffer.CopyIn(p)
}

func (b buffer) CopyOut(p []byte) error {
	if b.copyOut != nil {
		return b.copyOut(b.Buffer, p)
	}
	return b.Buffer.CopyOut(p)
}

func (b buffer) Poison(v byte) error {
	if b.poison != nil {
		return b.poison(b.Buffer, v)
	}
	return b.Buffer.Poison(v)
}

func (b buffer) Ptr() uint64 {
	if b.ptr != nil {
		return b.ptr(b.Buffer)
	}
	return b.Buffer.Ptr()
}

func with(b buffer) func(*gputest.Fake, string, int) (gpu.Buffer, error) {
	return func(f *gputest.Fake, name string, size int) (gpu.Buffer, error) {
		in, err := f.Alloc(name, size)
		b.Buffer = in
		return b, err
	}
}

type anyModule struct{ gpu.Module }

func (m anyModule) Kernel(symbol string) (gpu.Kernel, error) {
	k, err := m.Module.Kernel(symbol)
	if err != nil {
		return m.Module.Kernel("pc_axpy")
	}
	return k, nil
}

// TestSuiteFails holds, for every check of the suite, a defect that it
// must find.
func TestSuiteFails(t *testing.T) {
	kernel := func(name string, k gputest.Kernel) broken {
		m := maps.Clone(gputest.Kernels)
		m[name] = k
		return broken{Fake: gputest.NewFake(m)}
	}
	var stale gpu.Buffer
	for _, tt := range []struct {
		check, defect string
		dev           broken
		want          string
	}{
		{"Info", "no name", broken{info: func() gpu.Info { return gpu.Info{Arch: "x", WaveSize: 32} }}, "want a name"},
		{"Info", "no wave size", broken{info: func() gpu.Info { return gpu.Info{Name: "x", Arch: "x"} }}, "wave size"},
		{"RoundTrip", "last byte lost", broken{alloc: with(buffer{copyIn: func(b gpu.Buffer, p []byte) error {
			p = append([]byte(nil), p...)
			if len(p) == b.Size() && len(p) > 0 {
				p[len(p)-1] ^= 1
			}
			return b.CopyIn(p)
		}})}, "round trip of 1 bytes"},
		{"RoundTrip", "short copies pass", broken{alloc: with(buffer{copyIn: func(b gpu.Buffer, p []byte) error {
			if len(p) < b.Size() {
				return nil
			}
			return b.CopyIn(p)
		}})}, "want an error"},
		{"ZeroSize", "refused", broken{alloc: func(f *gputest.Fake, name string, size int) (gpu.Buffer, error) {
			if size == 0 {
				return nil, errors.New("size must be positive")
			}
			return f.Alloc(name, size)
		}}, "alloc empty of 0 bytes"},
		{"Poison", "one byte short", broken{alloc: with(buffer{poison: func(b gpu.Buffer, v byte) error {
			p := make([]byte, b.Size())
			for i := range p[1:] {
				p[i] = v
			}
			return b.CopyIn(p)
		}})}, "poison 0xff"},
		{"Distinct", "one address for all", broken{alloc: func(f *gputest.Fake, name string, size int) (gpu.Buffer, error) {
			if stale == nil {
				stale, _ = f.Alloc(name, 4096)
			}
			b, err := f.Alloc(name, size)
			return buffer{Buffer: b, ptr: func(gpu.Buffer) uint64 { return stale.Ptr() }}, err
		}}, "overlap"},
		{"BadSize", "any size", broken{alloc: func(f *gputest.Fake, name string, size int) (gpu.Buffer, error) {
			return f.Alloc(name, min(max(size, 0), 1<<20))
		}}, "want an error"},
		{"BadImage", "anything loads", broken{load: func(f *gputest.Fake, _ []byte) (gpu.Module, error) {
			return f.Load(gputest.Image())
		}}, "load of text"},
		{"NoKernel", "any symbol", broken{load: func(f *gputest.Fake, image []byte) (gpu.Module, error) {
			m, err := f.Load(image)
			return anyModule{m}, err
		}}, "want gpu.ErrNoKernel"},
		{"Tails", "no tail guard", kernel("pc_axpy", func(ctx context.Context, mem *gputest.Memory, cfg gpu.LaunchConfig, args []byte) error {
			args[20] = byte(cfg.Grid.X * cfg.Block.X)
			return gputest.Kernels["pc_axpy"](ctx, mem, cfg, args)
		}), "n=1: y differs from element"},
		{"Tails", "input modified", kernel("pc_axpy", gputest.Flip(gputest.Kernels["pc_axpy"], 8, 0, 1)), "n=1: x changed"},
		{"Packing", "no alignment", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			args = append([]byte(nil), args...)
			args[2], args[3] = args[1], args[2]
			return f.Launch(ctx, k, cfg, args)
		}}, "argument 1"},
		{"Geometry", "y and z swapped", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			cfg.Grid.Y, cfg.Grid.Z = cfg.Grid.Z, cfg.Grid.Y
			return f.Launch(ctx, k, cfg, args)
		}}, "grid (2,3,4)"},
		{"Shared", "dynamic size lost", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			cfg.Shared = 0
			return f.Launch(ctx, k, cfg, args)
		}}, "shared memory"},
		{"Threads", "a block lost", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			cfg.Grid.X = max(cfg.Grid.X-1, 1)
			return f.Launch(ctx, k, cfg, args)
		}}, "threads, want"},
		{"Threads", "a false finding", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			r, err := f.Launch(ctx, k, cfg, args)
			r.Findings = append(r.Findings, gpu.Finding{Check: gpu.Race})
			return r, err
		}}, "got finding"},
		{"BadLaunch", "a fault for a bad grid", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			r, err := f.Launch(ctx, k, cfg, args)
			if err != nil {
				err = &gpu.Fault{Err: err}
			}
			return r, err
		}}, "want an error that is none"},
		{"BadLaunch", "nothing refused", broken{launch: func(f *gputest.Fake, ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			r, _ := f.Launch(ctx, k, cfg, args)
			return r, nil
		}}, "empty grid: got nil"},
		{"Cancelled", "context ignored", broken{launch: func(f *gputest.Fake, _ context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
			return f.Launch(context.Background(), k, cfg, args)
		}}, "want context.Canceled"},
		{"Modules", "second close fails", broken{load: func(f *gputest.Fake, image []byte) (gpu.Module, error) {
			m, err := f.Load(image)
			if err == nil {
				m.Close()
			}
			return m, err
		}}, "module of kernel"},
		{"Goroutines", "every other launch lost", kernel("pc_count", gputest.OnLaunch(2, gputest.Kernels["pc_count"], gputest.Skip)), "launches counted"},
		{"Closed", "close does nothing", broken{close: func(*gputest.Fake) error { return nil }}, "alloc after close"},
	} {
		dev := tt.dev
		if dev.Fake == nil {
			dev.Fake = gputest.NewFake(gputest.Kernels)
		}
		stale = nil
		h := harness(nil)
		h.Open = func() (gpu.Device, error) { return &dev, nil }
		got := record(func(t testing.TB) { gputest.Check(t, h, tt.check) })
		if !strings.Contains(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%s with %s: got failures %q, want one with %q", tt.check, tt.defect, got, tt.want)
		}
	}
}

func TestFaultFails(t *testing.T) {
	check := func(k gputest.Kernel, want string) {
		t.Helper()
		h := harness(map[string]gputest.Kernel{"pc_trap": k, "pc_count": gputest.Kernels["pc_count"]})
		got := record(func(t testing.TB) { gputest.Fault(t, h, "pc_trap") })
		if !strings.Contains(strings.Join(got, "\n"), want) || (want == "" && got != nil) {
			t.Errorf("got failures %q, want one with %q", got, want)
		}
	}
	check(gputest.Fail("trap", true), "")
	check(gputest.Fail("trap", false), "")
	check(gputest.Fail("", true), "want kernel pc_trap and a reason")
	check(gputest.Skip, "got <nil>, want a *gpu.Fault")
}
