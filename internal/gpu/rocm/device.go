package rocm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// Open opens the AMD GPU of that ordinal, a gpu.Timer. compiler is what compiled the
// modules it will load, for Info; it may be empty. The error wraps
// gpu.ErrUnavailable where there is no runtime or no such device.
//
// The device uses the default stream, and one of its own for what is timed.
// A kernel that accesses memory out
// of its reach makes the runtime abort the whole process: run what is not
// trusted in a process of its own.
func Open(ordinal int, compiler string) (gpu.Device, error) {
	d, err := open(ordinal, driverNames()...)
	if err != nil {
		return nil, fmt.Errorf("rocm: %w", err)
	}
	d.info.Compiler = compiler
	return d, nil
}

// start loads and initialises a runtime and counts its devices.
func start(names ...string) (a *api, devices int, err error) {
	if a, err = load(names...); err != nil {
		return nil, 0, err
	}
	// Without a device hipInit says "invalid device" in some versions and
	// "no device" in others.
	none := func(call string, r result) error {
		err := a.check(call, r)
		if r == _hipErrorNoDevice || r == _hipErrorInvalidDevice {
			return fmt.Errorf("%w: %w", gpu.ErrUnavailable, err)
		}
		return err
	}
	if err := none("hipInit", a.hipInit(0)); err != nil {
		return a, 0, err
	}
	var n int32
	if err := none("hipGetDeviceCount", a.hipGetDeviceCount(&n)); err != nil {
		return a, 0, err
	}
	return a, int(n), nil
}

func open(ordinal int, names ...string) (*device, error) {
	a, n, err := start(names...)
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, fmt.Errorf("%w: device %d was asked for, the runtime has %d", gpu.ErrUnavailable, ordinal, n)
	}
	d := &device{api: a, thread: clib.NewThread(), ordinal: int32(ordinal)}
	var derr error
	if err := d.thread.Do(context.Background(), func() { derr = d.start() }); err != nil {
		return nil, err
	}
	if derr != nil {
		d.thread.Close(func() {})
		return nil, derr
	}
	return d, nil
}

// A device implements gpu.Device. All its calls into the driver run on
// its thread, where it is the current device.
type device struct {
	api     *api
	thread  *clib.Thread
	info    gpu.Info
	ordinal int32
	handle  int32 // hipDevice_t

	// lost is why the device cannot be used any more. It is set and read
	// on the thread; a hang, which blocks the thread, shows in its state.
	lost error

	timing timing
}

// start makes the device current, on the thread.
func (d *device) start() error {
	a := d.api
	if err := a.check("hipDeviceGet", a.hipDeviceGet(&d.handle, d.ordinal)); err != nil {
		return err
	}
	if err := d.describe(); err != nil {
		return err
	}
	if err := a.check("hipSetDevice", a.hipSetDevice(d.ordinal)); err != nil {
		return err
	}
	// Without the flag the runtime may spin while a kernel runs. It is
	// refused where the device is in use already, which is well.
	a.hipSetDeviceFlags(_hipDeviceScheduleBlockingSync)
	return nil
}

func (d *device) describe() error {
	a := d.api
	name := make([]byte, 256)
	if err := a.check("hipDeviceGetName", a.hipDeviceGetName(&name[0], int32(len(name)), d.handle)); err != nil {
		return err
	}
	arch, wave, err := a.properties(d.ordinal)
	if err != nil {
		return err
	}
	version, err := a.version()
	if err != nil {
		return err
	}
	d.info = gpu.Info{Name: clib.String(name), Arch: arch, Driver: version, WaveSize: wave}
	return nil
}

func (d *device) Info() gpu.Info { return d.info }

// do runs f on the thread, unless the device is closed or lost.
func (d *device) do(f func() error) error {
	var err error
	fail := d.thread.Do(context.Background(), func() {
		if err = d.lost; err == nil {
			err = f()
		}
	})
	if fail != nil {
		return fmt.Errorf("rocm: %w", fail)
	}
	if err != nil {
		return fmt.Errorf("rocm: %w", err)
	}
	return nil
}

func (d *device) Load(image []byte) (gpu.Module, error) {
	if err := checkImage(image); err != nil {
		return nil, fmt.Errorf("rocm: loading a module: %w", err)
	}
	m := &module{dev: d}
	err := d.do(func() error {
		// The runtime may go on reading the image: the module keeps it.
		m.image = bytes.Clone(image)
		return d.api.check("hipModuleLoadData", d.api.hipModuleLoadData(&m.handle, &m.image[0]))
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (d *device) Alloc(name string, size int) (gpu.Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("rocm: size of %s must not be negative, is %d", name, size)
	}
	b := &buffer{dev: d, name: name, size: size}
	err := d.do(func() error {
		// An empty buffer still has an address: null is an argument's way
		// of being absent.
		err := d.api.check("hipMalloc", d.api.hipMalloc(&b.ptr, uint64(max(size, 1))))
		if err != nil {
			return fmt.Errorf("%s of %d bytes: %w", name, size, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Launch runs a kernel to its end, or to that of ctx: then the kernel
// goes on, and the device is lost.
func (d *device) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
	l, err := d.prepare(k, cfg, args)
	if err != nil {
		return gpu.Report{}, err
	}
	err = d.watch(ctx, l.kernel.name, func() error {
		l.pin() // here, so that a launch that never starts holds no pin
		defer l.Free()
		if err := d.queue(l, 0); err != nil {
			return err
		}
		return d.wait(l.kernel.name, 0)
	})
	return gpu.Report{}, err
}

// watch runs f on the thread, to its end or to that of ctx. name is the
// kernel that f launches.
func (d *device) watch(ctx context.Context, name string, f func() error) error {
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
		return fmt.Errorf("rocm: launching %s: %w", name, fail)
	case err == nil:
		return nil
	}
	if f, ok := errors.AsType[*gpu.Fault](err); ok {
		return f
	}
	return fmt.Errorf("rocm: launching %s: %w", name, err)
}

// queue launches without waiting, on the thread.
func (d *device) queue(l *launch, stream uintptr) error {
	k := l.kernel
	if k.mod.closed {
		return errModuleClosed
	}
	l.call[streamArg] = stream
	r := result(clib.Call(d.api.hipModuleLaunchKernel, l.call[:]...))
	if r == _hipSuccess {
		return nil
	}
	err := d.api.check("hipModuleLaunchKernel", r)
	if d.usable(r) {
		return err
	}
	return d.fault(k.name, err)
}

// wait returns when a stream is done, on the thread. name is the kernel
// that an error is of.
func (d *device) wait(name string, stream uintptr) error {
	r := d.api.hipStreamSynchronize(stream)
	err := d.api.check("hipStreamSynchronize", r)
	switch {
	case err == nil:
		return nil
	case d.usable(r):
		return &gpu.Fault{Kernel: name, Reason: err.Error(), Err: err}
	}
	return d.fault(name, err)
}

// usable says whether the device survived the error r.
func (d *device) usable(r result) bool {
	if sticky(r) {
		return false
	}
	q := d.api.hipStreamQuery(0)
	return q == _hipSuccess || q == _hipErrorNotReady
}

// fault marks the device as lost to k.
func (d *device) fault(name string, err error) error {
	f := &gpu.Fault{Kernel: name, Reason: err.Error(), Lost: true, Err: err}
	d.lost = fmt.Errorf("%w: %v", gpu.ErrLost, f)
	return f
}

// Close ends the thread; the runtime keeps the device for the process.
// It returns at once where a kernel hangs, with an error, and leaves the
// thread to it.
func (d *device) Close() error {
	fail := d.thread.Close(func() {
		if d.lost == nil {
			d.timing.close(d.api)
		}
	})
	if fail != nil {
		return fmt.Errorf("rocm: closing: %w", fail)
	}
	return nil
}

// params is a packed argument block in the form of hipModuleLaunchKernel's
// extra, pinned while a kernel is launched.
type params struct {
	pin  runtime.Pinner
	args []byte
	size uintptr
	list [5]uintptr
}

func newParams(args []byte) *params {
	p := &params{args: args, size: uintptr(len(args))}
	p.pin.Pin(p)
	if len(args) > 0 {
		p.pin.Pin(&p.args[0])
		p.list = [5]uintptr{
			_HIP_LAUNCH_PARAM_BUFFER_POINTER, uintptr(unsafe.Pointer(&p.args[0])),
			_HIP_LAUNCH_PARAM_BUFFER_SIZE, uintptr(unsafe.Pointer(&p.size)),
			_HIP_LAUNCH_PARAM_END,
		}
	}
	return p
}

// extra is the argument of that name, null where the kernel has none.
func (p *params) extra() uintptr {
	if len(p.args) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(&p.list[0]))
}

func (p *params) unpin() { p.pin.Unpin() }

type module struct {
	dev    *device
	handle uintptr
	image  []byte
	closed bool // on the thread
}

var errModuleClosed = errors.New("module is closed")

func (m *module) Kernel(symbol string) (gpu.Kernel, error) {
	k := &kernel{mod: m, name: symbol}
	err := m.dev.do(func() error {
		if m.closed {
			return errModuleClosed
		}
		if symbol == "" || clib.Name(symbol) != nil {
			return fmt.Errorf("%w: %q", gpu.ErrNoKernel, symbol)
		}
		r := m.dev.api.hipModuleGetFunction(&k.handle, m.handle, symbol)
		if r == _hipErrorNotFound || r == _hipErrorSharedObjectNF {
			return fmt.Errorf("%w: %s", gpu.ErrNoKernel, symbol)
		}
		return m.dev.api.check("hipModuleGetFunction", r)
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (m *module) Close() error {
	return m.dev.do(func() error {
		if m.closed {
			return errModuleClosed
		}
		m.closed = true
		return m.dev.api.check("hipModuleUnload", m.dev.api.hipModuleUnload(m.handle))
	})
}

type kernel struct {
	mod    *module
	name   string
	handle uintptr // hipFunction_t
}

func (k *kernel) Name() string { return k.name }

type buffer struct {
	dev   *device
	name  string
	ptr   uint64
	size  int
	freed bool // on the thread
}

func (b *buffer) Ptr() uint64 { return b.ptr }
func (b *buffer) Size() int   { return b.size }

// do is device.do for a buffer that was not freed. n is the length of the
// other side of a copy.
func (b *buffer) do(n int, f func() error) error {
	if n != b.size {
		return fmt.Errorf("rocm: copy of %d bytes for %s, which has %d", n, b.name, b.size)
	}
	return b.dev.do(func() error {
		if b.freed {
			return fmt.Errorf("buffer %s is freed", b.name)
		}
		if b.size == 0 {
			return nil
		}
		return f()
	})
}

func (b *buffer) CopyIn(src []byte) error {
	a := b.dev.api
	return b.do(len(src), func() error {
		return a.check("hipMemcpyHtoD", a.hipMemcpyHtoD(b.ptr, &src[0], uint64(len(src))))
	})
}

func (b *buffer) CopyOut(dst []byte) error {
	a := b.dev.api
	return b.do(len(dst), func() error {
		return a.check("hipMemcpyDtoH", a.hipMemcpyDtoH(&dst[0], b.ptr, uint64(len(dst))))
	})
}

func (b *buffer) Poison(pattern byte) error {
	a := b.dev.api
	return b.do(b.size, func() error {
		return a.check("hipMemsetD8", a.hipMemsetD8(b.ptr, pattern, uint64(b.size)))
	})
}

func (b *buffer) Free() error {
	return b.dev.do(func() error {
		if b.freed {
			return fmt.Errorf("buffer %s is freed", b.name)
		}
		b.freed = true
		return b.dev.api.check("hipFree", b.dev.api.hipFree(b.ptr))
	})
}
