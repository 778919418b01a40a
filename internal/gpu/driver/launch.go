package driver

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A launch implements gpu.Launch.
type launch struct {
	kernel *kernel
	cfg    gpu.LaunchConfig
	args   []byte
	pinner runtime.Pinner
	size   uintptr
	extra  [5]uintptr
	call   [11]uintptr // arguments of LaunchKernel
}

// streamArg is the place of the stream in launch.call.
const streamArg = 8

func (d *Device) prepare(k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (*launch, error) {
	kk, ok := k.(*kernel)
	if !ok || kk.mod.dev != d {
		return nil, fmt.Errorf("%s: kernel %s is of another device", d.api.Vendor, k.Name())
	}
	if cfg.Shared < 0 {
		return nil, fmt.Errorf("%s: launching %s: shared memory must not be negative, is %d", d.api.Vendor, kk.name, cfg.Shared)
	}
	// A hung launch outlives its caller, who may use the bytes again.
	return &launch{kernel: kk, cfg: cfg, args: bytes.Clone(args)}, nil
}

func (l *launch) Kernel() gpu.Kernel { return l.kernel }

// pin fixes the arguments in memory and makes those of LaunchKernel.
func (l *launch) pin() {
	l.pinner.Pin(l)
	var extra uintptr // null where the kernel has no arguments
	if len(l.args) > 0 {
		l.pinner.Pin(&l.args[0])
		l.size = uintptr(len(l.args))
		l.extra = [...]uintptr{
			launchParamPointer, uintptr(unsafe.Pointer(&l.args[0])),
			launchParamSize, uintptr(unsafe.Pointer(&l.size)),
			l.kernel.mod.dev.api.End,
		}
		extra = uintptr(unsafe.Pointer(&l.extra[0]))
	}
	g, b := l.cfg.Grid, l.cfg.Block
	l.call = [...]uintptr{
		l.kernel.handle, uintptr(g.X), uintptr(g.Y), uintptr(g.Z), uintptr(b.X), uintptr(b.Y), uintptr(b.Z),
		uintptr(l.cfg.Shared), 0, 0, extra,
	}
}

func (l *launch) Free() { l.pinner.Unpin() }

// Launch runs a kernel to its end, or to that of ctx: then the kernel
// goes on, and the device is lost.
func (d *Device) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
	l, err := d.prepare(k, cfg, args)
	if err != nil {
		return gpu.Report{}, err
	}
	err = d.watch(ctx, l.kernel.name, func() error {
		l.pin() // here, so that a launch that never starts holds no pin
		defer l.Free()
		if err := d.start(l, 0); err != nil {
			return err
		}
		return d.wait(l.kernel.name, 0)
	})
	return gpu.Report{}, err
}

// start launches without waiting, on the thread.
func (d *Device) start(l *launch, stream uintptr) error {
	k := l.kernel
	if k.mod.closed {
		return errModuleClosed
	}
	if l.cfg.Shared > max(k.shared, freeShared) {
		if err := d.vendor.AllowShared(k.handle, l.cfg.Shared); err != nil {
			return fmt.Errorf("%d bytes of dynamic shared memory: %w", l.cfg.Shared, err)
		}
		k.shared = l.cfg.Shared
	}
	l.call[streamArg] = stream
	r := Result(clib.Call(d.api.LaunchKernel.Call, l.call[:]...))
	if r == success {
		return nil
	}
	err := d.api.Check(d.api.LaunchKernel.Name, r)
	if d.usable(r) {
		return err
	}
	return d.fault(k.name, err)
}
