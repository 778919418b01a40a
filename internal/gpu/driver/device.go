package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A Vendor is what a device does in its vendor's own way. Its methods are
// called on the thread of the device, but for CheckImage.
type Vendor interface {
	// Start makes the device that of the thread, and says what it is.
	Start() (gpu.Info, error)
	// Stop gives back what Start took. It is not called for a lost device.
	Stop() error

	// CheckImage finds out what an image is and that it is whole, since
	// drivers take an address without a length.
	CheckImage(image []byte) error
	// Load loads an image. A NUL follows its last byte, and it is kept until
	// the module is unloaded.
	Load(image []byte) (module uintptr, err error)
	// AllowShared lets a kernel have so many bytes of dynamic shared memory,
	// of which most devices give 48 KiB without.
	AllowShared(function uintptr, bytes int) error

	// Rating and State are those of gpu.Timer.
	Rating() gpu.Rating
	State() gpu.State
}

// freeShared is the dynamic shared memory that a kernel has without being
// allowed to, bytes.
const freeShared = 48 << 10

// A Device implements gpu.Timer. All its calls into the driver run on its
// thread, of which the driver's state is. It uses the default stream, and one
// of its own for what is timed.
type Device struct {
	vendor Vendor
	api    *API
	thread *clib.Thread
	info   gpu.Info

	// lost is why the device cannot be used any more. It is set and read
	// on the thread; a hang, which blocks the thread, shows in its state.
	lost error

	timing timing
}

// Open starts a device.
func Open(v Vendor, a *API) (*Device, error) {
	d := &Device{vendor: v, api: a, thread: clib.NewThread()}
	var err error
	if fail := d.thread.Do(context.Background(), func() { d.info, err = v.Start() }); fail != nil {
		return nil, fail
	}
	if err != nil {
		d.thread.Close(func() {})
		return nil, err
	}
	return d, nil
}

// Info implements gpu.Device.
func (d *Device) Info() gpu.Info { return d.info }

// do runs f on the thread, unless the device is closed or lost.
func (d *Device) do(f func() error) error {
	var err error
	fail := d.thread.Do(context.Background(), func() {
		if err = d.lost; err == nil {
			err = f()
		}
	})
	if fail != nil {
		err = fail
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.api.Vendor, err)
	}
	return nil
}

// watch runs f on the thread, to its end or to that of ctx. name is the
// kernel that f launches.
func (d *Device) watch(ctx context.Context, name string, f func() error) error {
	var err error
	fail := d.thread.Do(ctx, func() {
		if err = d.lost; err == nil {
			err = f()
		}
	})
	switch {
	case fail != nil && d.thread.Stuck() && !errors.Is(fail, clib.ErrStuck):
		return &gpu.Fault{Kernel: name, Reason: fmt.Sprintf("did not end: %v", fail), Lost: true, Err: fail}
	case fail != nil:
		return fmt.Errorf("%s: launching %s: %w", d.api.Vendor, name, fail)
	case err == nil:
		return nil
	}
	if f, ok := errors.AsType[*gpu.Fault](err); ok {
		return f
	}
	return fmt.Errorf("%s: launching %s: %w", d.api.Vendor, name, err)
}

// wait returns when a stream is done, on the thread. name is the kernel
// that an error is of.
func (d *Device) wait(name string, stream uintptr) error {
	r := d.api.StreamSynchronize.Call(stream)
	err := d.api.Check(d.api.StreamSynchronize.Name, r)
	switch {
	case err == nil:
		return nil
	case d.usable(r):
		return &gpu.Fault{Kernel: name, Reason: err.Error(), Err: err}
	}
	return d.fault(name, err)
}

// usable says whether the device survived the error r.
func (d *Device) usable(r Result) bool {
	if d.api.Sticky(r) {
		return false
	}
	q := d.api.StreamQuery.Call(0)
	return q == success || q == notReady
}

// fault marks the device as lost to a kernel.
func (d *Device) fault(name string, err error) error {
	f := &gpu.Fault{Kernel: name, Reason: err.Error(), Lost: true, Err: err}
	d.lost = fmt.Errorf("%w: %v", gpu.ErrLost, f)
	return f
}

// Load implements gpu.Device.
func (d *Device) Load(image []byte) (gpu.Module, error) {
	if err := d.vendor.CheckImage(image); err != nil {
		return nil, fmt.Errorf("%s: loading a module: %w", d.api.Vendor, err)
	}
	// PTX is a C string; a NUL behind a binary does no harm.
	m := &module{dev: d, image: append(bytes.Clone(image), 0)}
	err := d.do(func() (err error) {
		m.handle, err = d.vendor.Load(m.image)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close gives the device back. It returns at once where a kernel hangs, with
// an error, and leaves the thread to it.
func (d *Device) Close() error {
	var err error
	fail := d.thread.Close(func() {
		if d.lost != nil {
			return // giving back what is lost reports the fault again
		}
		d.timing.close(d.api)
		err = d.vendor.Stop()
	})
	if err := errors.Join(fail, err); err != nil {
		return fmt.Errorf("%s: closing: %w", d.api.Vendor, err)
	}
	return nil
}
