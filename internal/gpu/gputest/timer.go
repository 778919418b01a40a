package gputest

import (
	"context"
	"errors"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Timer checks that dev, a device with a clock, times launches of pc_count
// as package gpu promises, and returns how many it made, each of 25600
// threads. args are those of the kernel.
func Timer(t testing.TB, dev gpu.Device, k gpu.Kernel, args []byte) (launches int) {
	t.Helper()
	timer, ok := dev.(gpu.Timer)
	if !ok {
		t.Fatal("device has no clock")
	}
	cfg := gpu.LaunchConfig{Grid: gpu.Dim3{X: 100, Y: 1, Z: 1}, Block: gpu.Dim3{X: 256, Y: 1, Z: 1}}
	l, err := timer.Prepare(k, cfg, args)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Free()
	if l.Kernel().Name() != k.Name() {
		t.Errorf("prepared launch is of %s, want %s", l.Kernel().Name(), k.Name())
	}
	a, err := dev.Alloc("a", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	b, err := dev.Alloc("b", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	if err := b.Poison(1); err != nil {
		t.Fatal(err)
	}
	var many gpu.Launch
	err = timer.Enqueue(context.Background(), func(q gpu.Queue) error {
		for _, held := range []bool{false, true, true} {
			if held {
				if err := q.Hold(); err != nil {
					return err
				}
			}
			for _, err := range []error{
				q.Fill(a, 7), q.Copy(b, 1024, a, 0, 2048), q.Mark(0), q.Launch(l), q.Launch(l), q.Mark(1),
			} {
				if err != nil {
					return err
				}
			}
			launches += 2
			if was := q.Release(); was != held {
				t.Errorf("Release: got %v, want %v", was, held)
			}
			if err := q.Wait(); err != nil {
				return err
			}
			s, err := q.Elapsed(0, 1)
			if err != nil || !(s > 0 && s < 1) {
				t.Errorf("Elapsed: got %v s, %v, want more than 0 and less than 1", s, err)
			}
		}
		if r, ok := q.(gpu.Repeater); ok {
			var err error
			if many, err = r.Repeat(l, 100); err != nil {
				return err
			}
			launches += 100
			if many.Kernel().Name() != k.Name() {
				t.Errorf("launches as one are of %s, want %s", many.Kernel().Name(), k.Name())
			}
			for _, err := range []error{q.Hold(), q.Mark(0), q.Launch(many), q.Mark(1)} {
				if err != nil {
					return err
				}
			}
			q.Release()
			if err := q.Wait(); err != nil {
				return err
			}
		}
		if q.Release() {
			t.Error("Release reports a queue that is not held")
		}
		if q.Copy(b, 4000, a, 0, 97) == nil {
			t.Error("a copy past the end of its buffer gave no error")
		}
		return q.Hold() // and the end of Enqueue releases it
	})
	if err != nil {
		t.Errorf("Enqueue: %v", err)
	}
	if many != nil {
		many.Free()
	}
	got := make([]byte, 4096)
	if err := b.CopyOut(got); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := map[bool]byte{true: 7, false: 1}[i >= 1024 && i < 3072]; v != want {
			t.Fatalf("byte %d is %d after the queue's fill and copy, want %d", i, v, want)
		}
	}
	sentinel := errors.New("sentinel")
	if err := timer.Enqueue(context.Background(), func(gpu.Queue) error { return sentinel }); !errors.Is(err, sentinel) {
		t.Errorf("Enqueue gave %v, want the function's own error", err)
	}
	if r := timer.Rating(); r.Cache <= 0 {
		t.Errorf("Rating: got %+v, want the size of a cache", r)
	}
	return launches
}
