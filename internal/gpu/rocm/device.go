package rocm

import (
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/driver"
)

// Open opens the AMD GPU of that ordinal, a gpu.Timer. compiler is what compiled the
// modules it will load, for Info; it may be empty. The error wraps
// gpu.ErrUnavailable where there is no runtime or no such device.
//
// A kernel that accesses memory out of its reach makes the runtime abort the
// whole process: run what is not trusted in a process of its own.
func Open(ordinal int, compiler string) (gpu.Device, error) {
	return open(ordinal, compiler, driverNames()...)
}

func open(ordinal int, compiler string, names ...string) (gpu.Device, error) {
	a, n, err := start(names...)
	if err == nil && (ordinal < 0 || ordinal >= n) {
		err = fmt.Errorf("%w: device %d was asked for, the runtime has %d", gpu.ErrUnavailable, ordinal, n)
	}
	if err != nil {
		return nil, fmt.Errorf("rocm: %w", err)
	}
	d, err := driver.Open(&vendor{api: a, ordinal: int32(ordinal), compiler: compiler}, &a.API)
	if err != nil {
		return nil, fmt.Errorf("rocm: %w", err)
	}
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
		err := a.Check(call, r)
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

// A vendor implements driver.Vendor.
type vendor struct {
	api      *api
	ordinal  int32
	compiler string
	info     gpu.Info
	handle   int32 // hipDevice_t
}

// Start makes the device current.
func (v *vendor) Start() (gpu.Info, error) {
	a := v.api
	if err := v.describe(); err != nil {
		return gpu.Info{}, err
	}
	if err := a.Check("hipSetDevice", a.hipSetDevice(v.ordinal)); err != nil {
		return gpu.Info{}, err
	}
	// Without the flag the runtime may spin while a kernel runs. It is
	// refused where the device is in use already, which is well.
	a.hipSetDeviceFlags(_hipDeviceScheduleBlockingSync)
	return v.info, nil
}

// describe finds the device and says what it is.
func (v *vendor) describe() error {
	a := v.api
	if err := a.Check("hipDeviceGet", a.hipDeviceGet(&v.handle, v.ordinal)); err != nil {
		return err
	}
	name := make([]byte, 256)
	if err := a.Check("hipDeviceGetName", a.hipDeviceGetName(&name[0], int32(len(name)), v.handle)); err != nil {
		return err
	}
	arch, wave, err := a.properties(v.ordinal)
	if err != nil {
		return err
	}
	version, err := a.version()
	if err != nil {
		return err
	}
	v.info = gpu.Info{Name: clib.String(name), Arch: arch, Driver: version, Compiler: v.compiler, WaveSize: wave}
	return nil
}

// Stop implements driver.Vendor: the runtime keeps the device for the
// process.
func (v *vendor) Stop() error { return nil }

// CheckImage implements driver.Vendor.
func (v *vendor) CheckImage(image []byte) error { return checkImage(image) }

// Load implements driver.Vendor.
func (v *vendor) Load(image []byte) (module uintptr, err error) {
	err = v.api.Check("hipModuleLoadData", v.api.hipModuleLoadData(&module, &image[0]))
	return module, err
}

// AllowShared implements driver.Vendor: AMD's devices give what they have
// without being asked.
func (v *vendor) AllowShared(uintptr, int) error { return nil }

// lanesPerCU is how many f32 and f64 operations a compute unit starts in a
// clock, by the architecture documents of CDNA: the vector units without
// packed or dual issue, which kernels of one element a lane do not reach.
var lanesPerCU = map[string][2]float64{
	"gfx906": {64, 32}, "gfx908": {64, 32}, "gfx90a": {64, 64}, "gfx942": {64, 64},
	"gfx1030": {64, 4}, "gfx1100": {64, 2},
}

// infinityCache is what a flush must exceed on any AMD GPU: the cache
// beside memory has up to 256 MiB, and no attribute tells of it.
const infinityCache = 256 << 20

// Rating implements driver.Vendor. What a runtime does not know stays 0.
func (v *vendor) Rating() gpu.Rating {
	var cache, units, kilohertz int32
	if v.api.hipDeviceGetAttribute != nil {
		v.api.hipDeviceGetAttribute(&cache, _hipDeviceAttributeL2CacheSize, v.ordinal)
		v.api.hipDeviceGetAttribute(&units, _hipDeviceAttributeMultiprocessorCount, v.ordinal)
		v.api.hipDeviceGetAttribute(&kilohertz, _hipDeviceAttributeClockRate, v.ordinal)
	}
	arch, _, _ := strings.Cut(v.info.Arch, ":")
	lanes := lanesPerCU[arch]
	clock := 2 * float64(units) * float64(kilohertz) * 1e3 // a fused multiply-add is two operations
	return gpu.Rating{Cache: max(int(cache), infinityCache), F32: clock * lanes[0], F64: clock * lanes[1]}
}

// State implements driver.Vendor. Drifting times must show what slows an AMD
// GPU down.
func (v *vendor) State() gpu.State { return gpu.State{} }
