package isolate

import (
	"context"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A device implements gpu.Device by calls in the child.
type device struct {
	p      *process
	id     int // in the child
	info   gpu.Info
	closed bool
}

func (d *device) Info() gpu.Info { return d.info }

// call makes a call without a body in the reply.
func (d *device) call(q request, body []byte) (reply, error) {
	return d.callFor(context.Background(), q, body)
}

// callFor is call for as long as ctx.
func (d *device) callFor(ctx context.Context, q request, body []byte) (reply, error) {
	if d.closed {
		return reply{}, errClosed
	}
	q.Device = d.id
	r, _, err := d.p.call(ctx, q, body, nil)
	return r, err
}

func (d *device) Load(image []byte) (gpu.Module, error) {
	r, err := d.call(request{Call: callLoad}, image)
	if err != nil {
		return nil, err
	}
	return &module{d, r.Handle}, nil
}

func (d *device) Alloc(name string, size int) (gpu.Buffer, error) {
	r, err := d.call(request{Call: callAlloc, Name: name, Size: size}, nil)
	if err != nil {
		return nil, err
	}
	return &buffer{d, r.Handle, name, r.Ptr, size}, nil
}

// Launch runs a kernel to its end, or to that of ctx: then the child is
// ended, and the device is lost.
func (d *device) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
	kk, err := d.own(k)
	if err != nil {
		return gpu.Report{}, err
	}
	r, err := d.callFor(ctx, request{Call: callLaunch, Kernel: kk.id, Name: kk.name, Config: cfg}, args)
	return r.Report, err
}

// own is k where it is a kernel of the device.
func (d *device) own(k gpu.Kernel) (*kernel, error) {
	if kk, ok := k.(*kernel); ok && kk.mod.dev == d {
		return kk, nil
	}
	return nil, fmt.Errorf("kernel %s is of another device", k.Name())
}

// Close closes the device. The child ends with its last one.
func (d *device) Close() error {
	_, err := d.call(request{Call: callClose}, nil)
	if !d.closed {
		d.closed = true
		d.p.leave()
	}
	return err
}

type module struct {
	dev *device
	id  int
}

func (m *module) Kernel(symbol string) (gpu.Kernel, error) {
	r, err := m.dev.call(request{Call: callKernel, Module: m.id, Name: symbol}, nil)
	if err != nil {
		return nil, err
	}
	return &kernel{m, r.Handle, symbol}, nil
}

func (m *module) Close() error {
	_, err := m.dev.call(request{Call: callUnload, Module: m.id}, nil)
	return err
}

type kernel struct {
	mod  *module
	id   int
	name string
}

func (k *kernel) Name() string { return k.name }

type buffer struct {
	dev  *device
	id   int
	name string
	ptr  uint64
	size int
}

func (b *buffer) Ptr() uint64 { return b.ptr }
func (b *buffer) Size() int   { return b.size }

// check refuses a copy of another size before it crosses.
func (b *buffer) check(n int) error {
	if n != b.size {
		return fmt.Errorf("copy of %d bytes for %s, which has %d", n, b.name, b.size)
	}
	return nil
}

func (b *buffer) CopyIn(src []byte) error {
	if err := b.check(len(src)); err != nil {
		return err
	}
	_, err := b.dev.call(request{Call: callCopyIn, Buffer: b.id, Name: b.name}, src)
	return err
}

func (b *buffer) CopyOut(dst []byte) error {
	if err := b.check(len(dst)); err != nil {
		return err
	}
	d := b.dev
	if d.closed {
		return errClosed
	}
	_, n, err := d.p.call(context.Background(), request{Call: callCopyOut, Device: d.id, Buffer: b.id, Name: b.name, Size: b.size}, nil, dst)
	if err == nil && n != len(dst) {
		err = fmt.Errorf("reading %s gave %d bytes of %d", b.name, n, len(dst))
	}
	return err
}

func (b *buffer) Poison(pattern byte) error {
	_, err := b.dev.call(request{Call: callPoison, Buffer: b.id, Name: b.name, Pattern: pattern}, nil)
	return err
}

func (b *buffer) Free() error {
	_, err := b.dev.call(request{Call: callFree, Buffer: b.id, Name: b.name}, nil)
	return err
}
