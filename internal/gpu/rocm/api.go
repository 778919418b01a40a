// Package rocm runs kernels on AMD GPUs through the HIP runtime, and
// compiles HIP with hiprtc in a child process. The libraries are loaded
// at run time.
//
// The launching half has never run on AMD silicon: it is exercised by a
// stub library over host memory, and follows HIP's headers. The compiling
// half is exercised with the real hiprtc and comgr of HIP 5.2, which need
// no GPU.
package rocm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/driver"
)

// A result is a hipError_t.
type result = driver.Result

const (
	_hipErrorNoDevice       result = 100
	_hipErrorInvalidDevice  result = 101
	_hipErrorSharedObjectNF result = 302 // hipErrorSharedObjectSymbolNotFound
	_hipErrorNotFound       result = 500
)

// Values of hip_runtime_api.h.
const (
	_hipDeviceScheduleBlockingSync = 4

	_hipStreamWaitValueGte = 0
	_hipHostMallocMapped   = 2
	_hipHostMallocCoherent = 0x40000000

	_hipDeviceAttributeClockRate           = 5 // kHz
	_hipDeviceAttributeL2CacheSize         = 19
	_hipDeviceAttributeMultiprocessorCount = 63

	_HIP_LAUNCH_PARAM_END = 3
)

// An api is the functions of libamdhip64 that this package calls: those that
// package driver calls, and those that only HIP has, under their C names, so
// that the HIP manual is the documentation.
type api struct {
	driver.API
	lib *clib.Library

	hipInit              func(flags uint32) result
	hipRuntimeGetVersion func(version *int32) result
	hipGetErrorName      func(r result) *byte
	hipGetErrorString    func(r result) *byte

	hipGetDeviceCount     func(count *int32) result
	hipDeviceGet          func(device *int32, ordinal int32) result
	hipDeviceGetName      func(name *byte, size int32, device int32) result
	hipDeviceGetAttribute func(value *int32, attribute int32, device int32) result // not in every runtime: nil then
	hipSetDevice          func(device int32) result
	hipSetDeviceFlags     func(flags uint32) result

	// hipGetDeviceProperties fills a struct that layout describes.
	hipGetDeviceProperties func(properties *byte, device int32) result
	layout                 layout

	hipModuleLoadData    func(module *uintptr, image *byte) result
	hipStreamWaitValue32 func(stream uintptr, ptr uint64, value uint32, flags uint32, mask uint32) result // nil as above
}

// driverEnv names a libamdhip64 to use in place of the system's.
const driverEnv = "PARITYCHECK_LIBAMDHIP64"

func driverNames() []string {
	if path := os.Getenv(driverEnv); path != "" {
		return []string{path}
	}
	return inROCm("libamdhip64.so", ".7", ".6", ".5", "")
}

// inROCm lists a library in the order of versions: where ROCM_PATH or
// HIP_PATH say, in the loader's search, and in /opt/rocm.
func inROCm(name string, versions ...string) []string {
	var names []string
	for _, env := range []string{"ROCM_PATH", "HIP_PATH"} {
		if home := os.Getenv(env); home != "" {
			for _, v := range versions {
				names = append(names, home+"/lib/"+name+v)
			}
		}
	}
	for _, dir := range []string{"", "/opt/rocm/lib/"} {
		for _, v := range versions {
			names = append(names, dir+name+v)
		}
	}
	return names
}

// load binds the first of names that exists.
func load(names ...string) (*api, error) {
	lib, err := clib.Open(names...)
	if err != nil {
		return nil, err
	}
	a := &api{lib: lib}
	properties := ""
	for _, l := range layouts {
		if lib.Has(l.symbol) {
			a.layout, properties = l, l.symbol
			break
		}
	}
	if properties == "" {
		properties = layouts[0].symbol // for the error of Bind to name
	}
	a.API = driver.API{
		Vendor: "rocm", End: _HIP_LAUNCH_PARAM_END, Pinned: _hipHostMallocMapped | _hipHostMallocCoherent,
		Describe: a.describe, Sticky: sticky,
		NoFunction: func(r result) bool { return r == _hipErrorNotFound || r == _hipErrorSharedObjectNF },
	}
	err = lib.Bind([]clib.Func{
		{Ptr: &a.hipInit, Symbol: "hipInit"},
		{Ptr: &a.hipRuntimeGetVersion, Symbol: "hipRuntimeGetVersion"},
		{Ptr: &a.hipGetErrorName, Symbol: "hipGetErrorName"},
		{Ptr: &a.hipGetErrorString, Symbol: "hipGetErrorString"},
		{Ptr: &a.hipGetDeviceCount, Symbol: "hipGetDeviceCount"},
		{Ptr: &a.hipDeviceGet, Symbol: "hipDeviceGet"},
		{Ptr: &a.hipDeviceGetName, Symbol: "hipDeviceGetName"},
		{Ptr: &a.hipSetDevice, Symbol: "hipSetDevice"},
		{Ptr: &a.hipSetDeviceFlags, Symbol: "hipSetDeviceFlags"},
		{Ptr: &a.hipGetDeviceProperties, Symbol: properties},
		{Ptr: &a.hipModuleLoadData, Symbol: "hipModuleLoadData"},
		a.ModuleGetFunction.Symbol("hipModuleGetFunction"),
		a.ModuleUnload.Symbol("hipModuleUnload"),
		a.MemAlloc.Symbol("hipMalloc"),
		a.MemFree.Symbol("hipFree"),
		a.MemcpyHtoD.Symbol("hipMemcpyHtoD"),
		a.MemcpyDtoH.Symbol("hipMemcpyDtoH"),
		a.MemsetD8.Symbol("hipMemsetD8"),
		a.MemsetD8Async.Symbol("hipMemsetD8Async"),
		a.MemcpyDtoDAsync.Symbol("hipMemcpyDtoDAsync"),
		a.HostAlloc.Symbol("hipHostMalloc"),
		a.HostGetDevicePointer.Symbol("hipHostGetDevicePointer"),
		a.HostFree.Symbol("hipHostFree"),
		a.StreamCreate.Symbol("hipStreamCreateWithFlags"),
		a.StreamDestroy.Symbol("hipStreamDestroy"),
		a.StreamSynchronize.Symbol("hipStreamSynchronize"),
		a.StreamQuery.Symbol("hipStreamQuery"),
		a.EventCreate.Symbol("hipEventCreateWithFlags"),
		a.EventRecord.Symbol("hipEventRecord"),
		a.EventElapsedTime.Symbol("hipEventElapsedTime"),
		a.EventDestroy.Symbol("hipEventDestroy"),
		a.LaunchKernel.Symbol("hipModuleLaunchKernel"),
	})
	a.StreamWaitValue32.Name = "hipStreamWaitValue32"
	if err == nil {
		err = lib.BindPresent([]clib.Func{
			{Ptr: &a.hipDeviceGetAttribute, Symbol: "hipDeviceGetAttribute"},
			{Ptr: &a.hipStreamWaitValue32, Symbol: a.StreamWaitValue32.Name},
			a.StreamBeginCapture.Symbol("hipStreamBeginCapture"),
			a.StreamEndCapture.Symbol("hipStreamEndCapture"),
			a.GraphInstantiate.Symbol("hipGraphInstantiateWithFlags"),
			a.GraphLaunch.Symbol("hipGraphLaunch"),
			a.GraphExecDestroy.Symbol("hipGraphExecDestroy"),
			a.GraphDestroy.Symbol("hipGraphDestroy"),
		})
	}
	if err != nil {
		return nil, fmt.Errorf("HIP runtime is too old: %w", err)
	}
	if a.hipStreamWaitValue32 != nil {
		a.StreamWaitValue32.Call = func(stream uintptr, ptr uint64, value uint32) result {
			return a.hipStreamWaitValue32(stream, ptr, value, _hipStreamWaitValueGte, 0xffffffff)
		}
	}
	return a, nil
}

// A layout says where hipDeviceProp_t has the fields of interest. HIP 6
// changed the struct and versioned the symbol; a program that looks the
// plain name up at run time still gets the old layout, whatever the
// version (ROCm/ROCm#2728).
type layout struct {
	symbol         string
	warpSize, arch int // offsets of int warpSize, char gcnArchName[256]
}

// propertiesSize is more than any hipDeviceProp_t has: 1472 bytes since
// HIP 6, 792 before.
const propertiesSize = 4096

var layouts = []layout{
	{"hipGetDevicePropertiesR0600", 308, 1160},
	{"hipGetDevicePropertiesR0000", 276, 396},
	{"hipGetDeviceProperties", 276, 396},
}

var archName = regexp.MustCompile(`^gfx[0-9a-f]+(:[a-z0-9-]+[+-])*$`)

// properties is the architecture of a device, "gfx90a:sramecc+:xnack-",
// and its wave size.
func (a *api) properties(device int32) (arch string, wave int, err error) {
	p := make([]byte, propertiesSize)
	if err := a.Check(a.layout.symbol, a.hipGetDeviceProperties(&p[0], device)); err != nil {
		return "", 0, err
	}
	arch = clib.String(p[a.layout.arch : a.layout.arch+256])
	wave = int(binary.LittleEndian.Uint32(p[a.layout.warpSize:]))
	if !archName.MatchString(arch) || wave != 32 && wave != 64 {
		return "", 0, fmt.Errorf("%s gave the architecture %q and a wave of %d: its layout is not known", a.layout.symbol, arch, wave)
	}
	return arch, wave, nil
}

// describe is what the runtime says of an error.
func (a *api) describe(r result) (name, text string) {
	name = "unknown hipError_t"
	if p := a.hipGetErrorName(r); p != nil {
		name = clib.GoString(p)
	}
	if p := a.hipGetErrorString(r); p != nil {
		text = clib.GoString(p)
	}
	return name, text
}

// version is that of the runtime: "HIP 6.2.41134". It is encoded as
// major*10^7 + minor*10^5 + patch.
func (a *api) version() (string, error) {
	var v int32
	if err := a.Check("hipRuntimeGetVersion", a.hipRuntimeGetVersion(&v)); err != nil {
		return "", err
	}
	s := fmt.Sprintf("HIP %d.%d.%d", v/10_000_000, v/100_000%100, v%100_000)
	if text, err := os.ReadFile("/sys/module/amdgpu/version"); err == nil {
		s += ", amdgpu " + strings.TrimSpace(string(text))
	}
	return s, nil
}

// sticky says whether r leaves the device unusable for the process.
func sticky(r result) bool {
	switch r {
	case 4, // Deinitialized
		214,           // ECCNotCorrectable
		700,           // IllegalAddress
		702,           // LaunchTimeOut
		709,           // ContextIsDestroyed
		710, 718, 719, // Assert, InvalidPc, LaunchFailure
		999: // Unknown
		return true
	}
	return false
}

// checkImage checks that image is a whole code object or offload bundle,
// since the runtime takes an address without a length.
func checkImage(image []byte) error {
	const bundle, compressed = "__CLANG_OFFLOAD_BUNDLE__", "CCOB"
	s := string(image[:min(len(image), len(bundle))])
	switch {
	case len(image) == 0:
		return errors.New("image is empty")
	case strings.HasPrefix(s, "\x7fELF"):
		return clib.CheckELF(image, clib.MachineAMDGPU)
	case s == bundle:
		return checkBundle(image)
	case strings.HasPrefix(s, compressed):
		return errors.New("image is a compressed offload bundle: unbundle it first")
	}
	return errors.New("image is neither an AMD code object nor an offload bundle")
}

// checkBundle walks the entries of an offload bundle: the magic, a u64
// count, then per entry u64 offset, u64 size, u64 length of the target's
// name and the name.
func checkBundle(image []byte) error {
	le, size := binary.LittleEndian, uint64(len(image))
	short := fmt.Errorf("offload bundle of %d bytes is cut short", size)
	at := uint64(24)
	word := func() (v uint64, ok bool) {
		if size-at < 8 {
			return 0, false
		}
		v = le.Uint64(image[at:])
		at += 8
		return v, true
	}
	n, ok := word()
	for i := uint64(0); ok && i < n; i++ {
		off, ok1 := word()
		length, ok2 := word()
		name, ok3 := word()
		if !ok1 || !ok2 || !ok3 || off > size || length > size-off || name > size-at {
			return short
		}
		at += name
	}
	if !ok {
		return short
	}
	return nil
}
