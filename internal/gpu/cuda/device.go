package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/driver"
)

// Open opens the NVIDIA GPU of that ordinal, a gpu.Timer. compiler is what compiles
// the modules it will load, for Info; nil where they are PTX, which the
// driver compiles itself. The error wraps gpu.ErrUnavailable where there
// is no driver or no such device.
//
// The device uses the primary context.
func Open(ordinal int, compiler *NVRTC) (gpu.Device, error) {
	return open(ordinal, compiler, driverNames()...)
}

func open(ordinal int, compiler *NVRTC, names ...string) (gpu.Device, error) {
	a, n, err := start(names...)
	if err == nil && (ordinal < 0 || ordinal >= n) {
		err = fmt.Errorf("%w: device %d was asked for, the driver has %d", gpu.ErrUnavailable, ordinal, n)
	}
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
	}
	v := &vendor{api: a, ordinal: int32(ordinal), compiler: "the driver's own"}
	if compiler != nil {
		v.compiler = compiler.Version()
	}
	d, err := driver.Open(v, &a.API)
	if err != nil {
		return nil, fmt.Errorf("cuda: %w", err)
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
		return a, 0, fmt.Errorf("%w: %w", gpu.ErrUnavailable, a.Check("cuInit", r))
	default:
		return a, 0, a.Check("cuInit", r)
	}
	var n int32
	if err := a.Check("cuDeviceGetCount", a.cuDeviceGetCount(&n)); err != nil {
		return a, 0, err
	}
	return a, int(n), nil
}

// A vendor implements driver.Vendor.
type vendor struct {
	api      *api
	ordinal  int32
	compiler string
	info     gpu.Info
	handle   int32            // CUdevice
	state    func() gpu.State // of NVML, nil until it is asked for
}

// Start makes the context.
func (v *vendor) Start() (gpu.Info, error) {
	a := v.api
	if err := v.describe(); err != nil {
		return gpu.Info{}, err
	}
	// Without the flag the driver may spin while a kernel runs. It is
	// refused where another user of the context came first, which is well.
	a.cuDevicePrimaryCtxSetFlags(v.handle, _CU_CTX_SCHED_BLOCKING_SYNC)
	var ctx uintptr
	if err := a.Check("cuDevicePrimaryCtxRetain", a.cuDevicePrimaryCtxRetain(&ctx, v.handle)); err != nil {
		return gpu.Info{}, err
	}
	if err := a.Check("cuCtxSetCurrent", a.cuCtxSetCurrent(ctx)); err != nil {
		a.cuDevicePrimaryCtxRelease(v.handle)
		return gpu.Info{}, err
	}
	return v.info, nil
}

// describe finds the device and says what it is.
func (v *vendor) describe() error {
	a := v.api
	if err := a.Check("cuDeviceGet", a.cuDeviceGet(&v.handle, v.ordinal)); err != nil {
		return err
	}
	name := make([]byte, 256)
	if err := a.Check("cuDeviceGetName", a.cuDeviceGetName(&name[0], int32(len(name)), v.handle)); err != nil {
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
		if err := a.Check("cuDeviceGetAttribute", a.cuDeviceGetAttribute(q.value, q.attribute, v.handle)); err != nil {
			return err
		}
	}
	version, err := a.version()
	if err != nil {
		return err
	}
	v.info = gpu.Info{
		Name:     clib.String(name),
		Arch:     fmt.Sprintf("sm_%d%d", major, minor),
		Driver:   version,
		Compiler: v.compiler,
		WaveSize: int(warp),
	}
	return nil
}

// Stop releases the context.
func (v *vendor) Stop() error {
	v.api.cuCtxSetCurrent(0)
	return v.api.Check("cuDevicePrimaryCtxRelease_v2", v.api.cuDevicePrimaryCtxRelease(v.handle))
}

var kernelModule = regexp.MustCompile(`Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)`)

// version is that of the driver: "CUDA 13.0, 580.65.06", the latter where
// the kernel module tells it.
func (a *api) version() (string, error) {
	var v int32
	if err := a.Check("cuDriverGetVersion", a.cuDriverGetVersion(&v)); err != nil {
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

// Load implements driver.Vendor. An error has the log of the driver's compiler.
func (v *vendor) Load(image []byte) (module uintptr, err error) {
	log := make([]byte, 16<<10)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&log[0])
	options := []int32{_CU_JIT_ERROR_LOG_BUFFER, _CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	r := v.api.cuModuleLoadDataEx(&module, &image[0], uint32(len(options)), &options[0], &values[0])
	err = v.api.Check("cuModuleLoadDataEx", r)
	if r == _CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
		err = fmt.Errorf("%w: compiled by a newer CUDA than the driver's %s; update the driver, or compile to a cubin", err, v.info.Driver)
	}
	if text := bytes.TrimSpace([]byte(clib.String(log))); err != nil && len(text) > 0 {
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return module, err
}

// CheckImage implements driver.Vendor.
func (v *vendor) CheckImage(image []byte) error { return checkImage(image) }

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

// AllowShared implements driver.Vendor.
func (v *vendor) AllowShared(function uintptr, bytes int) error {
	r := v.api.cuFuncSetAttribute(function, _CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int32(min(bytes, 1<<30)))
	return v.api.Check("cuFuncSetAttribute", r)
}

// coresPerSM is how many f32 and f64 operations a multiprocessor starts
// in a clock, by compute capability: CUDA C++ Programming Guide, table
// "Throughput of Native Arithmetic Instructions".
var coresPerSM = map[string][2]float64{
	"sm_50": {128, 4}, "sm_52": {128, 4}, "sm_53": {128, 4},
	"sm_60": {64, 32}, "sm_61": {128, 4}, "sm_62": {128, 4},
	"sm_70": {64, 32}, "sm_72": {64, 32}, "sm_75": {64, 2},
	"sm_80": {64, 32}, "sm_86": {128, 2}, "sm_87": {128, 2}, "sm_89": {128, 2},
	"sm_90": {128, 64}, "sm_100": {128, 64}, "sm_120": {128, 2},
}

// Rating implements driver.Vendor. What a driver does not know stays 0.
func (v *vendor) Rating() gpu.Rating {
	var cache, sms, kilohertz int32
	v.api.cuDeviceGetAttribute(&cache, _CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, v.handle)
	v.api.cuDeviceGetAttribute(&sms, _CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, v.handle)
	v.api.cuDeviceGetAttribute(&kilohertz, _CU_DEVICE_ATTRIBUTE_CLOCK_RATE, v.handle)
	cores := coresPerSM[v.info.Arch]
	clock := 2 * float64(sms) * float64(kilohertz) * 1e3 // a fused multiply-add is two operations
	return gpu.Rating{Cache: int(cache), F32: clock * cores[0], F64: clock * cores[1]}
}
