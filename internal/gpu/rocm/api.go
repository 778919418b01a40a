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
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A result is a hipError_t.
type result int32

const (
	_hipSuccess             result = 0
	_hipErrorNoDevice       result = 100
	_hipErrorInvalidDevice  result = 101
	_hipErrorSharedObjectNF result = 302 // hipErrorSharedObjectSymbolNotFound
	_hipErrorNotFound       result = 500
	_hipErrorNotReady       result = 600
)

// Values of hip_runtime_api.h.
const (
	_hipDeviceScheduleBlockingSync = 4

	_hipStreamNonBlocking  = 1
	_hipStreamWaitValueGte = 0
	_hipHostMallocMapped   = 2
	_hipHostMallocCoherent = 0x40000000

	_hipDeviceAttributeClockRate           = 5 // kHz
	_hipDeviceAttributeL2CacheSize         = 19
	_hipDeviceAttributeMultiprocessorCount = 63

	_HIP_LAUNCH_PARAM_BUFFER_POINTER = 1
	_HIP_LAUNCH_PARAM_BUFFER_SIZE    = 2
	_HIP_LAUNCH_PARAM_END            = 3 // CUDA's is 0
)

// An api is the functions of libamdhip64 that this package calls. Fields
// carry the C names, so that the HIP manual is the documentation.
type api struct {
	lib *clib.Library

	hipInit              func(flags uint32) result
	hipRuntimeGetVersion func(version *int32) result
	hipDriverGetVersion  func(version *int32) result
	hipGetErrorName      func(r result) *byte
	hipGetErrorString    func(r result) *byte

	hipGetDeviceCount func(count *int32) result
	hipDeviceGet      func(device *int32, ordinal int32) result
	hipDeviceGetName  func(name *byte, size int32, device int32) result
	hipSetDevice      func(device int32) result
	hipSetDeviceFlags func(flags uint32) result

	// hipGetDeviceProperties fills a struct that layout describes.
	hipGetDeviceProperties func(properties *byte, device int32) result
	layout                 layout

	hipModuleLoadData    func(module *uintptr, image *byte) result
	hipModuleGetFunction func(function *uintptr, module uintptr, name string) result
	hipModuleUnload      func(module uintptr) result

	hipMalloc     func(ptr *uint64, size uint64) result
	hipFree       func(ptr uint64) result
	hipMemcpyHtoD func(dst uint64, src *byte, size uint64) result
	hipMemcpyDtoH func(dst *byte, src uint64, size uint64) result
	hipMemsetD8   func(dst uint64, value uint8, count uint64) result

	hipMemsetD8Async        func(dst uint64, value uint8, count uint64, stream uintptr) result
	hipMemcpyDtoDAsync      func(dst, src uint64, size uint64, stream uintptr) result
	hipHostMalloc           func(ptr *unsafe.Pointer, size uint64, flags uint32) result
	hipHostGetDevicePointer func(ptr *uint64, host unsafe.Pointer, flags uint32) result
	hipHostFree             func(ptr unsafe.Pointer) result

	hipStreamCreateWithFlags func(stream *uintptr, flags uint32) result
	hipStreamDestroy         func(stream uintptr) result
	hipStreamSynchronize     func(stream uintptr) result
	hipStreamQuery           func(stream uintptr) result

	// Not in every runtime: nil then.
	hipStreamWaitValue32  func(stream uintptr, ptr uint64, value uint32, flags uint32, mask uint32) result
	hipDeviceGetAttribute func(value *int32, attribute int32, device int32) result

	hipEventCreate      func(event *uintptr) result
	hipEventRecord      func(event uintptr, stream uintptr) result
	hipEventElapsedTime func(ms *float32, start, end uintptr) result
	hipEventDestroy     func(event uintptr) result

	// hipModuleLaunchKernel(function, grid x 3, block x 3, shared, stream,
	// params, extra), for clib.Call.
	hipModuleLaunchKernel uintptr
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
	err = lib.Bind([]clib.Func{
		{Ptr: &a.hipInit, Symbol: "hipInit"},
		{Ptr: &a.hipRuntimeGetVersion, Symbol: "hipRuntimeGetVersion"},
		{Ptr: &a.hipDriverGetVersion, Symbol: "hipDriverGetVersion"},
		{Ptr: &a.hipGetErrorName, Symbol: "hipGetErrorName"},
		{Ptr: &a.hipGetErrorString, Symbol: "hipGetErrorString"},
		{Ptr: &a.hipGetDeviceCount, Symbol: "hipGetDeviceCount"},
		{Ptr: &a.hipDeviceGet, Symbol: "hipDeviceGet"},
		{Ptr: &a.hipDeviceGetName, Symbol: "hipDeviceGetName"},
		{Ptr: &a.hipSetDevice, Symbol: "hipSetDevice"},
		{Ptr: &a.hipSetDeviceFlags, Symbol: "hipSetDeviceFlags"},
		{Ptr: &a.hipGetDeviceProperties, Symbol: properties},
		{Ptr: &a.hipModuleLoadData, Symbol: "hipModuleLoadData"},
		{Ptr: &a.hipModuleGetFunction, Symbol: "hipModuleGetFunction"},
		{Ptr: &a.hipModuleUnload, Symbol: "hipModuleUnload"},
		{Ptr: &a.hipMalloc, Symbol: "hipMalloc"},
		{Ptr: &a.hipFree, Symbol: "hipFree"},
		{Ptr: &a.hipMemcpyHtoD, Symbol: "hipMemcpyHtoD"},
		{Ptr: &a.hipMemcpyDtoH, Symbol: "hipMemcpyDtoH"},
		{Ptr: &a.hipMemsetD8, Symbol: "hipMemsetD8"},
		{Ptr: &a.hipMemsetD8Async, Symbol: "hipMemsetD8Async"},
		{Ptr: &a.hipMemcpyDtoDAsync, Symbol: "hipMemcpyDtoDAsync"},
		{Ptr: &a.hipHostMalloc, Symbol: "hipHostMalloc"},
		{Ptr: &a.hipHostGetDevicePointer, Symbol: "hipHostGetDevicePointer"},
		{Ptr: &a.hipHostFree, Symbol: "hipHostFree"},
		{Ptr: &a.hipStreamCreateWithFlags, Symbol: "hipStreamCreateWithFlags"},
		{Ptr: &a.hipStreamDestroy, Symbol: "hipStreamDestroy"},
		{Ptr: &a.hipStreamSynchronize, Symbol: "hipStreamSynchronize"},
		{Ptr: &a.hipStreamQuery, Symbol: "hipStreamQuery"},
		{Ptr: &a.hipEventCreate, Symbol: "hipEventCreate"},
		{Ptr: &a.hipEventRecord, Symbol: "hipEventRecord"},
		{Ptr: &a.hipEventElapsedTime, Symbol: "hipEventElapsedTime"},
		{Ptr: &a.hipEventDestroy, Symbol: "hipEventDestroy"},
		{Ptr: &a.hipModuleLaunchKernel, Symbol: "hipModuleLaunchKernel"},
	})
	if err == nil {
		err = lib.BindPresent([]clib.Func{
			{Ptr: &a.hipStreamWaitValue32, Symbol: "hipStreamWaitValue32"},
			{Ptr: &a.hipDeviceGetAttribute, Symbol: "hipDeviceGetAttribute"},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("HIP runtime is too old: %w", err)
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
	if err := a.check(a.layout.symbol, a.hipGetDeviceProperties(&p[0], device)); err != nil {
		return "", 0, err
	}
	arch = clib.String(p[a.layout.arch : a.layout.arch+256])
	wave = int(binary.LittleEndian.Uint32(p[a.layout.warpSize:]))
	if !archName.MatchString(arch) || wave != 32 && wave != 64 {
		return "", 0, fmt.Errorf("%s gave the architecture %q and a wave of %d: its layout is not known", a.layout.symbol, arch, wave)
	}
	return arch, wave, nil
}

// check turns the result of a call into a *gpu.Error in the runtime's own
// words, or nil. call is the C name.
func (a *api) check(call string, r result) error {
	if r == _hipSuccess {
		return nil
	}
	e := &gpu.Error{Call: call, Name: "unknown hipError_t", Code: int(r)}
	if p := a.hipGetErrorName(r); p != nil {
		e.Name = goString(p)
	}
	if p := a.hipGetErrorString(r); p != nil {
		e.Text = goString(p)
	}
	return e
}

// goString copies a C string that the runtime owns.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// version is that of the runtime: "HIP 6.2.41134". It is encoded as
// major*10^7 + minor*10^5 + patch.
func (a *api) version() (string, error) {
	var v int32
	if err := a.check("hipRuntimeGetVersion", a.hipRuntimeGetVersion(&v)); err != nil {
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
