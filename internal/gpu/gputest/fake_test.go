package gputest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// double is y[i] = 2*x[i] for n floats.
func double(_ context.Context, mem *gputest.Memory, _ gpu.LaunchConfig, args []byte) error {
	a := gputest.ReadArgs(args)
	yp, xp, n := a.Ptr(), a.Ptr(), int(a.Uint(4))
	y, x := gputest.View[float32](mem, yp, n), gputest.View[float32](mem, xp, n)
	for i := range n {
		y[i] = 2 * x[i]
	}
	return nil
}

// launchDouble runs kernel, a variant of double, over n elements and
// returns y, x and what lies behind y.
func launchDouble(t *testing.T, ctx context.Context, kernel gputest.Kernel, n int) (y, x, behind []byte, err error) {
	t.Helper()
	f := gputest.NewFake(map[string]gputest.Kernel{"double": kernel})
	defer f.Close()
	m := must(f.Load(gputest.Image("double")))(t)
	k := must(m.Kernel("double"))(t)
	size := 4 * n
	by, bx, bz := must(f.Alloc("y", size))(t), must(f.Alloc("x", size))(t), must(f.Alloc("z", 256))(t)
	in := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, n) // 1.0
	for _, b := range []gpu.Buffer{by, bx, bz} {
		if err := b.Poison(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := bx.CopyIn(in); err != nil {
		t.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(by)
	args.Ptr(bx)
	args.Uint(uint64(n), 4)
	cfg := gpu.LaunchConfig{Grid: gpu.Dim3{X: 1, Y: 1, Z: 1}, Block: gpu.Dim3{X: 32, Y: 1, Z: 1}}
	if _, err := f.Launch(ctx, k, cfg, args.Bytes()); err != nil {
		return nil, nil, nil, err
	}
	y, x, behind = make([]byte, size), make([]byte, size), make([]byte, 256)
	for _, c := range []struct {
		b gpu.Buffer
		p []byte
	}{{by, y}, {bx, x}, {bz, behind}} {
		if err := c.b.CopyOut(c.p); err != nil {
			t.Fatal(err)
		}
	}
	return y, x, behind, nil
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestInjection(t *testing.T) {
	const n = 64 // 256 bytes: y, x and z are next to each other
	two := bytes.Repeat([]byte{0, 0, 0, 0x40}, n)
	one := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, n)
	zero := make([]byte, 256)
	with := func(b []byte, at int, v ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], v)
		return b
	}
	for _, tt := range []struct {
		name       string
		k          gputest.Kernel
		y, x, past []byte
	}{
		{"none", double, two, one, zero},
		{"flip", gputest.Flip(double, 0, 4*3+3, 1), with(two, 15, 0x41), one, zero},
		{"nan", gputest.Store(double, 0, 4*5, []byte{0, 0, 0xc0, 0x7f}), with(two, 20, 0, 0, 0xc0, 0x7f), one, zero},
		{"past the end", gputest.Flip(double, 0, 4*n, 0x80), two, with(one, 0, 0x80), zero},
		{"two buffers on", gputest.Flip(double, 0, 8*n, 0x80), two, one, with(zero, 0, 0x80)},
		{"before the start", gputest.Flip(double, 8, -1, 0x80), with(two, 255, 0xc0), one, zero},
		{"input modified", gputest.Flip(double, 8, 0, 0x01), two, with(one, 0, 1), zero},
		{"skipped", gputest.Skip, zero, one, zero},
	} {
		y, x, past, err := launchDouble(t, t.Context(), tt.k, n)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, c := range []struct {
			what      string
			got, want []byte
		}{{"y", y, tt.y}, {"x", x, tt.x}, {"behind", past, tt.past}} {
			if !bytes.Equal(c.got, c.want) {
				t.Errorf("%s: %s: got %x, want %x", tt.name, c.what, c.got, c.want)
			}
		}
	}
}

func TestInjectedFaults(t *testing.T) {
	check := func(name string, k gputest.Kernel, ctx context.Context, reason string, lost bool) {
		t.Helper()
		_, _, _, err := launchDouble(t, ctx, k, 64)
		f, ok := errors.AsType[*gpu.Fault](err)
		if !ok {
			t.Errorf("%s: got %v, want a *gpu.Fault", name, err)
			return
		}
		if f.Kernel != "double" || !strings.Contains(f.Reason, reason) || f.Lost != lost {
			t.Errorf("%s: got %+v, want kernel double, reason %q, lost %v", name, f, reason, lost)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	check("hang", gputest.Hang, ctx, "deadline exceeded", true)
	check("fail", gputest.Fail("unknown instruction", false), t.Context(), "unknown instruction", false)
	check("far out of bounds", gputest.Flip(double, 0, 1<<40, 1), t.Context(), "illegal address", true)
	check("far below", gputest.Flip(double, 0, -1<<40, 1), t.Context(), "illegal address", true)
	check("plain error", func(context.Context, *gputest.Memory, gpu.LaunchConfig, []byte) error {
		return errors.New("boom")
	}, t.Context(), "boom", false)
}

func TestOnLaunch(t *testing.T) {
	f := gputest.NewFake(map[string]gputest.Kernel{
		"k": gputest.OnLaunch(3, gputest.Skip, gputest.Fail("third", true)),
	})
	k := must(must(f.Load(gputest.Image()))(t).Kernel("k"))(t)
	one := gpu.Dim3{X: 1, Y: 1, Z: 1}
	for i := 1; i <= 4; i++ {
		_, err := f.Launch(t.Context(), k, gpu.LaunchConfig{Grid: one, Block: one}, nil)
		if want := i >= 3; (err != nil) != want {
			t.Errorf("launch %d: got %v, want an error: %v", i, err, want)
		}
	}
	if _, err := f.Alloc("x", 4); err == nil {
		t.Error("Alloc on a lost device: got nil, want an error")
	}
}

func TestUnavailable(t *testing.T) {
	if _, err := gputest.Unavailable(); !errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("got %v, want gpu.ErrUnavailable", err)
	}
}

func TestMemoryReuse(t *testing.T) {
	f := gputest.NewFake(nil)
	a, b := must(f.Alloc("a", 100))(t), must(f.Alloc("b", 100))(t)
	if got := b.Ptr() - a.Ptr(); got != 256 {
		t.Errorf("distance of neighbours: got %d, want 256", got)
	}
	if err := a.Free(); err != nil {
		t.Fatal(err)
	}
	if err := a.Free(); err == nil {
		t.Error("second Free: got nil, want an error")
	}
	if err := a.CopyIn(make([]byte, 100)); err == nil {
		t.Error("CopyIn after Free: got nil, want an error")
	}
	big, small := must(f.Alloc("big", 257))(t), must(f.Alloc("small", 256))(t)
	if big.Ptr() <= b.Ptr() || small.Ptr() != a.Ptr() {
		t.Errorf("got big at %#x, small at %#x; want big behind %#x, small at %#x", big.Ptr(), small.Ptr(), b.Ptr(), a.Ptr())
	}
	if got := f.Live(); got != 3 {
		t.Errorf("Live: got %d, want 3", got)
	}
	for _, size := range []int{-1, 2 << 30} {
		if _, err := f.Alloc("bad", size); err == nil {
			t.Errorf("Alloc(%d): got nil, want an error", size)
		}
	}
}
