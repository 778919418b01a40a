// Package cuda runs kernels on NVIDIA GPUs through the driver API, and
// compiles CUDA C with NVRTC. Both libraries are loaded at run time.
package cuda

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A result is a CUresult.
type result int32

const (
	_CUDA_SUCCESS            result = 0
	_CUDA_ERROR_NO_DEVICE    result = 100
	_CUDA_ERROR_STUB_LIBRARY result = 34
	_CUDA_ERROR_NOT_FOUND    result = 500

	_CUDA_ERROR_UNSUPPORTED_PTX_VERSION result = 222
	_CUDA_ERROR_NOT_READY               result = 600
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

	_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1

	_CU_STREAM_NON_BLOCKING    = 1
	_CU_STREAM_WAIT_VALUE_GEQ  = 0
	_CU_MEMHOSTALLOC_DEVICEMAP = 2

	_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8

	_CU_JIT_ERROR_LOG_BUFFER            = 5
	_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6

	_CU_LAUNCH_PARAM_END            = 0 // HIP's is 3
	_CU_LAUNCH_PARAM_BUFFER_POINTER = 1
	_CU_LAUNCH_PARAM_BUFFER_SIZE    = 2
)

// An api is the functions of libcuda that this package calls. Fields
// carry the C names, so that the driver manual is the documentation.
type api struct {
	lib *clib.Library

	cuInit             func(flags uint32) result
	cuDriverGetVersion func(version *int32) result
	cuGetErrorName     func(r result, name **byte) result
	cuGetErrorString   func(r result, text **byte) result

	cuDeviceGetCount     func(count *int32) result
	cuDeviceGet          func(device *int32, ordinal int32) result
	cuDeviceGetName      func(name *byte, size int32, device int32) result
	cuDeviceGetAttribute func(value *int32, attribute int32, device int32) result

	cuDevicePrimaryCtxSetFlags func(device int32, flags uint32) result
	cuDevicePrimaryCtxRetain   func(context *uintptr, device int32) result
	cuDevicePrimaryCtxRelease  func(device int32) result
	cuCtxSetCurrent            func(context uintptr) result

	cuModuleLoadDataEx  func(module *uintptr, image *byte, n uint32, options *int32, values *uintptr) result
	cuModuleGetFunction func(function *uintptr, module uintptr, name string) result
	cuModuleUnload      func(module uintptr) result
	cuFuncSetAttribute  func(function uintptr, attribute int32, value int32) result

	cuMemAlloc   func(ptr *uint64, size uint64) result
	cuMemFree    func(ptr uint64) result
	cuMemcpyHtoD func(dst uint64, src *byte, size uint64) result
	cuMemcpyDtoH func(dst *byte, src uint64, size uint64) result
	cuMemsetD8   func(dst uint64, value uint8, count uint64) result

	cuMemsetD8Async           func(dst uint64, value uint8, count uint64, stream uintptr) result
	cuMemcpyDtoDAsync         func(dst, src uint64, size uint64, stream uintptr) result
	cuMemHostAlloc            func(ptr *unsafe.Pointer, size uint64, flags uint32) result
	cuMemHostGetDevicePointer func(ptr *uint64, host unsafe.Pointer, flags uint32) result
	cuMemFreeHost             func(ptr unsafe.Pointer) result

	cuStreamCreate      func(stream *uintptr, flags uint32) result
	cuStreamDestroy     func(stream uintptr) result
	cuStreamSynchronize func(stream uintptr) result
	cuStreamQuery       func(stream uintptr) result

	cuStreamBeginCapture func(stream uintptr, mode int32) result
	cuStreamEndCapture   func(stream uintptr, graph *uintptr) result
	cuGraphInstantiate   func(exec *uintptr, graph uintptr, flags uint64) result
	cuGraphLaunch        func(exec, stream uintptr) result
	cuGraphExecDestroy   func(exec uintptr) result
	cuGraphDestroy       func(graph uintptr) result

	// Not in every driver: nil then, as the graphs above.
	cuStreamWaitValue32 func(stream uintptr, ptr uint64, value uint32, flags uint32) result
	cuDeviceGetPCIBusId func(id *byte, size int32, device int32) result

	cuEventCreate      func(event *uintptr, flags uint32) result
	cuEventRecord      func(event uintptr, stream uintptr) result
	cuEventElapsedTime func(ms *float32, start, end uintptr) result
	cuEventDestroy     func(event uintptr) result

	// cuLaunchKernel(function, grid x 3, block x 3, shared, stream,
	// params, extra), for clib.Call.
	cuLaunchKernel uintptr
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
		{Ptr: &a.cuModuleGetFunction, Symbol: "cuModuleGetFunction"},
		{Ptr: &a.cuModuleUnload, Symbol: "cuModuleUnload"},
		{Ptr: &a.cuFuncSetAttribute, Symbol: "cuFuncSetAttribute"},
		{Ptr: &a.cuMemAlloc, Symbol: "cuMemAlloc_v2"},
		{Ptr: &a.cuMemFree, Symbol: "cuMemFree_v2"},
		{Ptr: &a.cuMemcpyHtoD, Symbol: "cuMemcpyHtoD_v2"},
		{Ptr: &a.cuMemcpyDtoH, Symbol: "cuMemcpyDtoH_v2"},
		{Ptr: &a.cuMemsetD8, Symbol: "cuMemsetD8_v2"},
		{Ptr: &a.cuMemsetD8Async, Symbol: "cuMemsetD8Async"},
		{Ptr: &a.cuMemcpyDtoDAsync, Symbol: "cuMemcpyDtoDAsync_v2"},
		{Ptr: &a.cuMemHostAlloc, Symbol: "cuMemHostAlloc"},
		{Ptr: &a.cuMemHostGetDevicePointer, Symbol: "cuMemHostGetDevicePointer_v2"},
		{Ptr: &a.cuMemFreeHost, Symbol: "cuMemFreeHost"},
		{Ptr: &a.cuStreamCreate, Symbol: "cuStreamCreate"},
		{Ptr: &a.cuStreamDestroy, Symbol: "cuStreamDestroy_v2"},
		{Ptr: &a.cuStreamSynchronize, Symbol: "cuStreamSynchronize"},
		{Ptr: &a.cuStreamQuery, Symbol: "cuStreamQuery"},
		{Ptr: &a.cuEventCreate, Symbol: "cuEventCreate"},
		{Ptr: &a.cuEventRecord, Symbol: "cuEventRecord"},
		{Ptr: &a.cuEventElapsedTime, Symbol: "cuEventElapsedTime"},
		{Ptr: &a.cuEventDestroy, Symbol: "cuEventDestroy_v2"},
		{Ptr: &a.cuLaunchKernel, Symbol: "cuLaunchKernel"},
	})
	if err == nil {
		err = lib.BindPresent([]clib.Func{
			// The first version of the wait must be enabled for the kernel
			// module before CUDA 12; the second is where the driver has it.
			{Ptr: &a.cuStreamWaitValue32, Symbol: "cuStreamWaitValue32_v2"},
			{Ptr: &a.cuDeviceGetPCIBusId, Symbol: "cuDeviceGetPCIBusId"},
			{Ptr: &a.cuStreamBeginCapture, Symbol: "cuStreamBeginCapture_v2"},
			{Ptr: &a.cuStreamEndCapture, Symbol: "cuStreamEndCapture"},
			{Ptr: &a.cuGraphInstantiate, Symbol: "cuGraphInstantiateWithFlags"},
			{Ptr: &a.cuGraphLaunch, Symbol: "cuGraphLaunch"},
			{Ptr: &a.cuGraphExecDestroy, Symbol: "cuGraphExecDestroy"},
			{Ptr: &a.cuGraphDestroy, Symbol: "cuGraphDestroy"},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("driver is too old: %w", err)
	}
	return a, nil
}

// check turns the result of a call into a *gpu.Error in the driver's own
// words, or nil. call is the C name.
func (a *api) check(call string, r result) error {
	if r == _CUDA_SUCCESS {
		return nil
	}
	e := &gpu.Error{Call: call, Name: "unknown CUresult", Code: int(r)}
	var p *byte
	if a.cuGetErrorName(r, &p) == _CUDA_SUCCESS && p != nil {
		e.Name = goString(p)
	}
	p = nil
	if a.cuGetErrorString(r, &p) == _CUDA_SUCCESS && p != nil {
		e.Text = goString(p)
	}
	return e
}

// goString copies a C string that the driver owns.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
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
