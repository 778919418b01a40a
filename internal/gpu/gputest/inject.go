package gputest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Then is k followed by spoil, which sees the same memory and arguments:
// the way to plant a defect in an otherwise right kernel.
func Then(k Kernel, spoil func(mem *Memory, args []byte)) Kernel {
	return func(ctx context.Context, mem *Memory, cfg gpu.LaunchConfig, args []byte) error {
		if err := k(ctx, mem, cfg, args); err != nil {
			return err
		}
		spoil(mem, args)
		return nil
	}
}

// Flip is k with one more step: bit bits of the byte at off, counted from
// where the pointer at argument byte arg points, are inverted. With the
// pointer of an output it plants one wrong element, with an offset past
// the end an out-of-bounds write, with the pointer of an input a kernel
// that modifies it. A flip is never a write of what was there already.
func Flip(k Kernel, arg, off int, bits byte) Kernel {
	return Then(k, func(mem *Memory, args []byte) {
		p := pointer(args, arg)
		mem.Bytes(p+uint64(off), 1)[0] ^= bits
	})
}

// Store is k with one more step: data is written at off, counted from
// where the pointer at argument byte arg points.
func Store(k Kernel, arg, off int, data []byte) Kernel {
	return Then(k, func(mem *Memory, args []byte) {
		p := pointer(args, arg)
		copy(mem.Bytes(p+uint64(off), len(data)), data)
	})
}

func pointer(args []byte, at int) uint64 {
	r := ReadArgs(args)
	r.off = at
	return r.Ptr()
}

// Skip is a kernel that ends at once and writes nothing.
func Skip(context.Context, *Memory, gpu.LaunchConfig, []byte) error { return nil }

// OnLaunch is bad at the nth launch, counted from 1, and k at all others.
// The count is of the value that OnLaunch returns.
func OnLaunch(n int64, k, bad Kernel) Kernel {
	var launches atomic.Int64
	return func(ctx context.Context, mem *Memory, cfg gpu.LaunchConfig, args []byte) error {
		if launches.Add(1) == n {
			return bad(ctx, mem, cfg, args)
		}
		return k(ctx, mem, cfg, args)
	}
}

// Fail is a kernel that ends with a Fault of that reason; lost says
// whether the device goes with it.
func Fail(reason string, lost bool) Kernel {
	return func(context.Context, *Memory, gpu.LaunchConfig, []byte) error {
		return &gpu.Fault{Reason: reason, Lost: lost}
	}
}

// Hang is a kernel that does not end before ctx is done, and then with a
// Fault. Without a deadline it gives up after a minute, so that a test
// that forgot one fails in words.
func Hang(ctx context.Context, _ *Memory, _ gpu.LaunchConfig, _ []byte) error {
	select {
	case <-ctx.Done():
		return &gpu.Fault{Reason: fmt.Sprintf("kernel did not end: %v", context.Cause(ctx)), Lost: true, Err: ctx.Err()}
	case <-time.After(time.Minute):
		return &gpu.Fault{Reason: "kernel did not end in a minute and the launch had no deadline", Lost: true}
	}
}

// Unavailable opens nothing: it is the machine without the device.
func Unavailable() (gpu.Device, error) {
	return nil, fmt.Errorf("gputest: %w", gpu.ErrUnavailable)
}
