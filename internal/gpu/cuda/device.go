package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// Open opens the NVIDIA GPU of that ordinal, a gpu.Timer. compiler is what compiles
// the modules it will load, for Info; nil where they are PTX, which the
// driver compiles itself. The error wraps gpu.ErrUnavailable where there
// is no driver or no such device.
//
// The device uses the primary context and the default stream, and a
// stream of its own for what is timed.
func Open(ordinal int, compiler *NVRTC) (gpu.Device, error) {
	d, err := open(ordinal, driverNames()...)
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	if compiler != nil {
		d.info.Compiler = compiler.Version()
	}
	return d, nil
}

// start loads and initialises a driver and counts its devices.
func start(names ...string) (a *api, devices int, err error) {
	if a, err = load(names...); err != nil {
		return nil, 0, err
	}
	switch r := a.cuInit(0); r {
	case _CUDA_SUCCESS:
	case _CUDA_ERROR_NO_DEVICE, _CUDA_ERROR_STUB_LIBRARY:
		return a, 0, fmt.Errorf("%w: %w", gpu.ErrUnavailable, a.check("cuInit", r))
	default:
		return a, 0, a.check("cuInit", r)
	}
	var n int32
	if err := a.check("cuDeviceGetCount", a.cuDeviceGetCount(&n)); err != nil {
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
		return nil, fmt.Errorf("%w: device %d was asked for, the driver has %d", gpu.ErrUnavailable, ordinal, n)
	}
	d := &device{api: a, thread: clib.NewThread()}
	var derr error
	if err := d.thread.Do(context.Background(), func() { derr = d.start(ordinal) }); err != nil {
		return nil, err
	}
	if derr != nil {
		d.thread.Close(func() {})
		return nil, derr
	}
	return d, nil
}

// A device implements gpu.Device. All its calls into the driver run on
// its thread, where its context is current.
type device struct {
	api    *api
	thread *clib.Thread
	info   gpu.Info
	handle int32 // CUdevice

	// lost is why the context cannot be used any more. It is set and read
	// on the thread; a hang, which blocks the thread, shows in its state.
	lost error

	timing timing
}

// start makes the context, on the thread.
func (d *device) start(ordinal int) error {
	a := d.api
	if err := a.check("cuDeviceGet", a.cuDeviceGet(&d.handle, int32(ordinal))); err != nil {
		return err
	}
	if err := d.describe(); err != nil {
		return err
	}
	// Without the flag the driver may spin while a kernel runs. It is
	// refused where another user of the context came first, which is well.
	a.cuDevicePrimaryCtxSetFlags(d.handle, _CU_CTX_SCHED_BLOCKING_SYNC)
	var ctx uintptr
	if err := a.check("cuDevicePrimaryCtxRetain", a.cuDevicePrimaryCtxRetain(&ctx, d.handle)); err != nil {
		return err
	}
	if err := a.check("cuCtxSetCurrent", a.cuCtxSetCurrent(ctx)); err != nil {
		a.cuDevicePrimaryCtxRelease(d.handle)
		return err
	}
	return nil
}

func (d *device) describe() error {
	a := d.api
	name := make([]byte, 256)
	if err := a.check("cuDeviceGetName", a.cuDeviceGetName(&name[0], int32(len(name)), d.handle)); err != nil {
		return err
	}
	var major, minor, warp int32
	for _, q := range []struct {
		value     *int32
		attribute int32
	}{
		{&major, _CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
		{&minor, _CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
		{&warp, _CU_DEVICE_ATTRIBUTE_WARP_SIZE},
	} {
		if err := a.check("cuDeviceGetAttribute", a.cuDeviceGetAttribute(q.value, q.attribute, d.handle)); err != nil {
			return err
		}
	}
	version, err := a.version()
	if err != nil {
		return err
	}
	d.info = gpu.Info{
		Name:     clib.String(name),
		Arch:     fmt.Sprintf("sm_%d%d", major, minor),
		Driver:   version,
		Compiler: "the driver's own",
		WaveSize: int(warp),
	}
	return nil
}

var kernelModule = regexp.MustCompile(`Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)`)

// version is that of the driver: "CUDA 13.0, 580.65.06", the latter where
// the kernel module tells it.
func (a *api) version() (string, error) {
	var v int32
	if err := a.check("cuDriverGetVersion", a.cuDriverGetVersion(&v)); err != nil {
		return "", err
	}
	s := fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	if text, err := os.ReadFile("/proc/driver/nvidia/version"); err == nil {
		if m := kernelModule.FindSubmatch(text); m != nil {
			s += ", " + string(m[1])
		}
	}
	return s, nil
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
		return fmt.Errorf("cuda: %w", fail)
	}
	if err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return nil
}

func (d *device) Load(image []byte) (gpu.Module, error) {
	if err := checkImage(image); err != nil {
		return nil, fmt.Errorf("cuda: loading a module: %w", err)
	}
	m := &module{dev: d}
	err := d.do(func() error {
		// PTX is a C string; a NUL behind a binary does no harm.
		image := append(bytes.Clone(image), 0)
		log := make([]byte, 16<<10)
		var pin runtime.Pinner
		defer pin.Unpin()
		pin.Pin(&log[0])
		options := []int32{_CU_JIT_ERROR_LOG_BUFFER, _CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
		r := d.api.cuModuleLoadDataEx(&m.handle, &image[0], uint32(len(options)), &options[0], &values[0])
		err := d.api.check("cuModuleLoadDataEx", r)
		if r == _CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
			err = fmt.Errorf("%w: compiled by a newer CUDA than the driver's %s; update the driver, or compile to a cubin", err, d.info.Driver)
		}
		if text := bytes.TrimSpace([]byte(clib.String(log))); err != nil && len(text) > 0 {
			return fmt.Errorf("%w\n%s", err, text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// checkImage finds out what an image is, since the driver takes an
// address without a length.
func checkImage(image []byte) error {
	const (
		fatHeaderSize = 16 // u32 magic, u16 version, u16 header size, u64 size of what follows
	)
	switch {
	case len(image) == 0:
		return errors.New("image is empty")
	case bytes.HasPrefix(image, []byte("\x7fELF")):
		return clib.CheckELF(image, clib.MachineCUDA)
	case len(image) >= fatHeaderSize && binary.LittleEndian.Uint32(image) == fatMagic:
		head, body := uint64(binary.LittleEndian.Uint16(image[6:])), binary.LittleEndian.Uint64(image[8:])
		if have := uint64(len(image)); head > have || body > have-head {
			return fmt.Errorf("fat binary of %d bytes is cut short, want %d", have, head+body)
		}
		return nil
	}
	text := bytes.TrimRight(image, "\x00")
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return fmt.Errorf("image is neither a cubin nor PTX: byte %d is NUL", i)
	}
	if !ptxVersion.Match(text) {
		return errors.New("image is neither a cubin nor PTX: no line begins with .version")
	}
	return nil
}

var ptxVersion = regexp.MustCompile(`(?m)^[ \t]*\.version[ \t]`)

func (d *device) Alloc(name string, size int) (gpu.Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("cuda: size of %s must not be negative, is %d", name, size)
	}
	b := &buffer{dev: d, name: name, size: size}
	err := d.do(func() error {
		// An empty buffer still has an address: null is an argument's way
		// of being absent.
		err := d.api.check("cuMemAlloc_v2", d.api.cuMemAlloc(&b.ptr, uint64(max(size, 1))))
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
		return fmt.Errorf("cuda: launching %s: %w", name, fail)
	case err == nil:
		return nil
	}
	if f, ok := errors.AsType[*gpu.Fault](err); ok {
		return f
	}
	return fmt.Errorf("cuda: launching %s: %w", name, err)
}

// queue launches without waiting, on the thread.
func (d *device) queue(l *launch, stream uintptr) error {
	k := l.kernel
	if k.mod.closed {
		return errModuleClosed
	}
	// Above 48 KiB a kernel must be given leave.
	if l.cfg.Shared > max(k.shared, 48<<10) {
		r := d.api.cuFuncSetAttribute(k.handle, _CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int32(min(l.cfg.Shared, 1<<30)))
		if err := d.api.check("cuFuncSetAttribute", r); err != nil {
			return fmt.Errorf("%d bytes of dynamic shared memory: %w", l.cfg.Shared, err)
		}
		k.shared = l.cfg.Shared
	}
	l.call[streamArg] = stream
	r := result(clib.Call(d.api.cuLaunchKernel, l.call[:]...))
	if r == _CUDA_SUCCESS {
		return nil
	}
	err := d.api.check("cuLaunchKernel", r)
	if d.usable(r) {
		return err
	}
	return d.fault(k.name, err)
}

// wait returns when a stream is done, on the thread. name is the kernel
// that an error is of.
func (d *device) wait(name string, stream uintptr) error {
	r := d.api.cuStreamSynchronize(stream)
	err := d.api.check("cuStreamSynchronize", r)
	switch {
	case err == nil:
		return nil
	case d.usable(r):
		return &gpu.Fault{Kernel: name, Reason: err.Error(), Err: err}
	}
	return d.fault(name, err)
}

// usable says whether the context survived the error r.
func (d *device) usable(r result) bool {
	if sticky(r) {
		return false
	}
	q := d.api.cuStreamQuery(0)
	return q == _CUDA_SUCCESS || q == _CUDA_ERROR_NOT_READY
}

// fault marks the device as lost to k.
func (d *device) fault(name string, err error) error {
	f := &gpu.Fault{Kernel: name, Reason: err.Error(), Lost: true, Err: err}
	d.lost = fmt.Errorf("%w: %v", gpu.ErrLost, f)
	return f
}

// Close releases the context. It returns at once where a kernel hangs,
// with an error, and leaves the thread to it.
func (d *device) Close() error {
	var err error
	fail := d.thread.Close(func() {
		if d.lost != nil {
			return // releasing a lost context reports the fault again
		}
		d.timing.close(d.api)
		d.api.cuCtxSetCurrent(0)
		err = d.api.check("cuDevicePrimaryCtxRelease_v2", d.api.cuDevicePrimaryCtxRelease(d.handle))
	})
	if err := errors.Join(fail, err); err != nil {
		return fmt.Errorf("cuda: closing: %w", err)
	}
	return nil
}

// params is a packed argument block in the form of cuLaunchKernel's
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
			_CU_LAUNCH_PARAM_BUFFER_POINTER, uintptr(unsafe.Pointer(&p.args[0])),
			_CU_LAUNCH_PARAM_BUFFER_SIZE, uintptr(unsafe.Pointer(&p.size)),
			_CU_LAUNCH_PARAM_END,
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
		r := m.dev.api.cuModuleGetFunction(&k.handle, m.handle, symbol)
		if r == _CUDA_ERROR_NOT_FOUND {
			return fmt.Errorf("%w: %s", gpu.ErrNoKernel, symbol)
		}
		return m.dev.api.check("cuModuleGetFunction", r)
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
		return m.dev.api.check("cuModuleUnload", m.dev.api.cuModuleUnload(m.handle))
	})
}

type kernel struct {
	mod    *module
	name   string
	handle uintptr // CUfunction
	shared int     // dynamic shared memory asked for, bytes; on the thread
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
		return fmt.Errorf("cuda: copy of %d bytes for %s, which has %d", n, b.name, b.size)
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
		return a.check("cuMemcpyHtoD_v2", a.cuMemcpyHtoD(b.ptr, &src[0], uint64(len(src))))
	})
}

func (b *buffer) CopyOut(dst []byte) error {
	a := b.dev.api
	return b.do(len(dst), func() error {
		return a.check("cuMemcpyDtoH_v2", a.cuMemcpyDtoH(&dst[0], b.ptr, uint64(len(dst))))
	})
}

func (b *buffer) Poison(pattern byte) error {
	a := b.dev.api
	return b.do(b.size, func() error {
		return a.check("cuMemsetD8_v2", a.cuMemsetD8(b.ptr, pattern, uint64(b.size)))
	})
}

func (b *buffer) Free() error {
	return b.dev.do(func() error {
		if b.freed {
			return fmt.Errorf("buffer %s is freed", b.name)
		}
		b.freed = true
		return b.dev.api.check("cuMemFree_v2", b.dev.api.cuMemFree(b.ptr))
	})
}
