// Package cuda runs kernels on NVIDIA GPUs through the driver API, and
// compiles CUDA C with NVRTC. Both libraries are loaded at run time.
package cuda

import (
	"fmt"
	"os"

	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/driver"
)

// A result is a CUresult.
type result = driver.Result

const (
	_CUDA_SUCCESS            result = 0
	_CUDA_ERROR_STUB_LIBRARY result = 34
	_CUDA_ERROR_NO_DEVICE    result = 100
	_CUDA_ERROR_NOT_FOUND    result = 500

	_CUDA_ERROR_UNSUPPORTED_PTX_VERSION result = 222
)

// Values of cuda.h.
const (
	_CU_DEVICE_ATTRIBUTE_WARP_SIZE                = 10
	_CU_DEVICE_ATTRIBUTE_CLOCK_RATE               = 13 // kHz
	_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     = 16
	_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE            = 38
	_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
	_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76

	_CU_CTX_SCHED_BLOCKING_SYNC = 4

	_CU_STREAM_WAIT_VALUE_GEQ  = 0
	_CU_MEMHOSTALLOC_DEVICEMAP = 2

	_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8

	_CU_JIT_ERROR_LOG_BUFFER            = 5
	_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6

	_CU_LAUNCH_PARAM_END = 0
)

// An api is the functions of libcuda that this package calls: those that
// package driver calls, and those that only CUDA has, under their C names, so
// that the driver manual is the documentation.
type api struct {
	driver.API
	lib *clib.Library

	cuInit             func(flags uint32) result
	cuDriverGetVersion func(version *int32) result
	cuGetErrorName     func(r result, name **byte) result
	cuGetErrorString   func(r result, text **byte) result

	cuDeviceGetCount     func(count *int32) result
	cuDeviceGet          func(device *int32, ordinal int32) result
	cuDeviceGetName      func(name *byte, size int32, device int32) result
	cuDeviceGetAttribute func(value *int32, attribute int32, device int32) result
	cuDeviceGetPCIBusId  func(id *byte, size int32, device int32) result // not in every driver: nil then

	cuDevicePrimaryCtxSetFlags func(device int32, flags uint32) result
	cuDevicePrimaryCtxRetain   func(context *uintptr, device int32) result
	cuDevicePrimaryCtxRelease  func(device int32) result
	cuCtxSetCurrent            func(context uintptr) result

	cuModuleLoadDataEx  func(module *uintptr, image *byte, n uint32, options *int32, values *uintptr) result
	cuFuncSetAttribute  func(function uintptr, attribute int32, value int32) result
	cuStreamWaitValue32 func(stream uintptr, ptr uint64, value uint32, flags uint32) result // nil as above
}

// driverEnv names a libcuda to use in place of the system's.
const driverEnv = "PARITYCHECK_LIBCUDA"

func driverNames() []string {
	if path := os.Getenv(driverEnv); path != "" {
		return []string{path}
	}
	// libcuda.so is a link of development packages, at times to a stub
	// without a driver behind it: it is not tried.
	return []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}
}

// load binds the first of names that exists.
func load(names ...string) (*api, error) {
	lib, err := clib.Open(names...)
	if err != nil {
		return nil, err
	}
	a := &api{lib: lib}
	a.API = driver.API{
		Vendor: "cuda", End: _CU_LAUNCH_PARAM_END, Pinned: _CU_MEMHOSTALLOC_DEVICEMAP,
		Describe: a.describe, Sticky: sticky,
		NoFunction: func(r result) bool { return r == _CUDA_ERROR_NOT_FOUND },
	}
	err = lib.Bind([]clib.Func{
		{Ptr: &a.cuInit, Symbol: "cuInit"},
		{Ptr: &a.cuDriverGetVersion, Symbol: "cuDriverGetVersion"},
		{Ptr: &a.cuGetErrorName, Symbol: "cuGetErrorName"},
		{Ptr: &a.cuGetErrorString, Symbol: "cuGetErrorString"},
		{Ptr: &a.cuDeviceGetCount, Symbol: "cuDeviceGetCount"},
		{Ptr: &a.cuDeviceGet, Symbol: "cuDeviceGet"},
		{Ptr: &a.cuDeviceGetName, Symbol: "cuDeviceGetName"},
		{Ptr: &a.cuDeviceGetAttribute, Symbol: "cuDeviceGetAttribute"},
		{Ptr: &a.cuDevicePrimaryCtxSetFlags, Symbol: "cuDevicePrimaryCtxSetFlags_v2"},
		{Ptr: &a.cuDevicePrimaryCtxRetain, Symbol: "cuDevicePrimaryCtxRetain"},
		{Ptr: &a.cuDevicePrimaryCtxRelease, Symbol: "cuDevicePrimaryCtxRelease_v2"},
		{Ptr: &a.cuCtxSetCurrent, Symbol: "cuCtxSetCurrent"},
		{Ptr: &a.cuModuleLoadDataEx, Symbol: "cuModuleLoadDataEx"},
		{Ptr: &a.cuFuncSetAttribute, Symbol: "cuFuncSetAttribute"},
		a.ModuleGetFunction.Symbol("cuModuleGetFunction"),
		a.ModuleUnload.Symbol("cuModuleUnload"),
		a.MemAlloc.Symbol("cuMemAlloc_v2"),
		a.MemFree.Symbol("cuMemFree_v2"),
		a.MemcpyHtoD.Symbol("cuMemcpyHtoD_v2"),
		a.MemcpyDtoH.Symbol("cuMemcpyDtoH_v2"),
		a.MemsetD8.Symbol("cuMemsetD8_v2"),
		a.MemsetD8Async.Symbol("cuMemsetD8Async"),
		a.MemcpyDtoDAsync.Symbol("cuMemcpyDtoDAsync_v2"),
		a.HostAlloc.Symbol("cuMemHostAlloc"),
		a.HostGetDevicePointer.Symbol("cuMemHostGetDevicePointer_v2"),
		a.HostFree.Symbol("cuMemFreeHost"),
		a.StreamCreate.Symbol("cuStreamCreate"),
		a.StreamDestroy.Symbol("cuStreamDestroy_v2"),
		a.StreamSynchronize.Symbol("cuStreamSynchronize"),
		a.StreamQuery.Symbol("cuStreamQuery"),
		a.EventCreate.Symbol("cuEventCreate"),
		a.EventRecord.Symbol("cuEventRecord"),
		a.EventElapsedTime.Symbol("cuEventElapsedTime"),
		a.EventDestroy.Symbol("cuEventDestroy_v2"),
		a.LaunchKernel.Symbol("cuLaunchKernel"),
	})
	// The first version of the wait must be enabled for the kernel module
	// before CUDA 12; the second is where the driver has it.
	a.StreamWaitValue32.Name = "cuStreamWaitValue32_v2"
	if err == nil {
		err = lib.BindPresent([]clib.Func{
			{Ptr: &a.cuDeviceGetPCIBusId, Symbol: "cuDeviceGetPCIBusId"},
			{Ptr: &a.cuStreamWaitValue32, Symbol: a.StreamWaitValue32.Name},
			a.StreamBeginCapture.Symbol("cuStreamBeginCapture_v2"),
			a.StreamEndCapture.Symbol("cuStreamEndCapture"),
			a.GraphInstantiate.Symbol("cuGraphInstantiateWithFlags"),
			a.GraphLaunch.Symbol("cuGraphLaunch"),
			a.GraphExecDestroy.Symbol("cuGraphExecDestroy"),
			a.GraphDestroy.Symbol("cuGraphDestroy"),
		})
	}
	if err != nil {
		return nil, fmt.Errorf("driver is too old: %w", err)
	}
	if a.cuStreamWaitValue32 != nil {
		a.StreamWaitValue32.Call = func(stream uintptr, ptr uint64, value uint32) result {
			return a.cuStreamWaitValue32(stream, ptr, value, _CU_STREAM_WAIT_VALUE_GEQ)
		}
	}
	return a, nil
}

// describe is what the driver says of an error.
func (a *api) describe(r result) (name, text string) {
	name = "unknown CUresult"
	var p *byte
	if a.cuGetErrorName(r, &p) == _CUDA_SUCCESS && p != nil {
		name = clib.GoString(p)
	}
	p = nil
	if a.cuGetErrorString(r, &p) == _CUDA_SUCCESS && p != nil {
		text = clib.GoString(p)
	}
	return name, text
}

// sticky says whether r leaves the context of the process unusable, by
// the descriptions in cuda.h ("This leaves the process in an inconsistent
// state and any further CUDA work will return the same error").
func sticky(r result) bool {
	switch r {
	case 4, // DEINITIALIZED
		214,                               // ECC_UNCORRECTABLE
		220,                               // NVLINK_UNCORRECTABLE
		226,                               // CONTAINED
		700,                               // ILLEGAL_ADDRESS
		702,                               // LAUNCH_TIMEOUT
		709,                               // CONTEXT_IS_DESTROYED
		710,                               // ASSERT
		714, 715, 716, 717, 718, 719, 721, // HARDWARE_STACK_ERROR .. LAUNCH_FAILED, TENSOR_MEMORY_LEAK
		999: // UNKNOWN
		return true
	}
	return false
}
