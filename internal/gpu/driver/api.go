// Package driver is a gpu.Device behind a driver of CUDA's kind: a library
// of C functions with modules, streams, events and launches with a packed
// block of arguments. HIP's runtime is one too, function by function, so that
// what runs on one vendor's GPU is the same code as on the other's. gpu/cuda
// and gpu/rocm bind their functions to an API and say in a Vendor what else
// differs. They also test this package, over stub drivers: gputest.Driver.
package driver

import (
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A Result is a CUresult or a hipError_t. The codes that this package looks
// at are the same in cuda.h and hip_runtime_api.h.
type Result int32

const (
	success  Result = 0
	notReady Result = 600
)

// Arguments that are the same in both headers.
const (
	streamNonBlocking      = 1
	captureModeThreadLocal = 1
	launchParamPointer     = 1
	launchParamSize        = 2
)

// A Func is a function of a driver. Where it is one that not every version of
// the driver has, Call is nil in those.
type Func[F any] struct {
	Name string // in C, for errors
	Call F
}

// Symbol names f and says how to bind it.
func (f *Func[F]) Symbol(name string) clib.Func {
	f.Name = name
	return clib.Func{Ptr: &f.Call, Symbol: name}
}

// An API is the functions that a Device calls, by what they do. All are
// needed but those that say otherwise.
type API struct {
	Vendor string  // what errors begin with
	End    uintptr // that ends the list of a launch's arguments
	Pinned uint32  // flags of HostAlloc for memory that the device sees

	// Describe is the name and the description of an error; the latter is
	// empty where the driver has none.
	Describe func(r Result) (name, text string)
	// Sticky says whether an error leaves the device unusable for the
	// process.
	Sticky func(r Result) bool
	// NoFunction says whether ModuleGetFunction failed for want of the
	// function.
	NoFunction func(r Result) bool

	ModuleGetFunction Func[func(function *uintptr, module uintptr, name string) Result]
	ModuleUnload      Func[func(module uintptr) Result]

	MemAlloc        Func[func(ptr *uint64, size uint64) Result]
	MemFree         Func[func(ptr uint64) Result]
	MemcpyHtoD      Func[func(dst uint64, src *byte, size uint64) Result]
	MemcpyDtoH      Func[func(dst *byte, src uint64, size uint64) Result]
	MemsetD8        Func[func(dst uint64, value uint8, count uint64) Result]
	MemsetD8Async   Func[func(dst uint64, value uint8, count uint64, stream uintptr) Result]
	MemcpyDtoDAsync Func[func(dst, src uint64, size uint64, stream uintptr) Result]

	HostAlloc            Func[func(ptr *unsafe.Pointer, size uint64, flags uint32) Result]
	HostGetDevicePointer Func[func(ptr *uint64, host unsafe.Pointer, flags uint32) Result]
	HostFree             Func[func(ptr unsafe.Pointer) Result]

	StreamCreate      Func[func(stream *uintptr, flags uint32) Result]
	StreamDestroy     Func[func(stream uintptr) Result]
	StreamSynchronize Func[func(stream uintptr) Result]
	StreamQuery       Func[func(stream uintptr) Result]
	// StreamWaitValue32 lets a stream wait until a word is at least value.
	// Not every driver has it.
	StreamWaitValue32 Func[func(stream uintptr, ptr uint64, value uint32) Result]

	EventCreate      Func[func(event *uintptr, flags uint32) Result]
	EventRecord      Func[func(event uintptr, stream uintptr) Result]
	EventElapsedTime Func[func(ms *float32, start, end uintptr) Result]
	EventDestroy     Func[func(event uintptr) Result]

	// LaunchKernel(function, grid x 3, block x 3, shared, stream, params,
	// extra), for clib.Call.
	LaunchKernel Func[uintptr]

	// Graphs, which not every driver has.
	StreamBeginCapture Func[func(stream uintptr, mode int32) Result]
	StreamEndCapture   Func[func(stream uintptr, graph *uintptr) Result]
	GraphInstantiate   Func[func(exec *uintptr, graph uintptr, flags uint64) Result]
	GraphLaunch        Func[func(exec, stream uintptr) Result]
	GraphExecDestroy   Func[func(exec uintptr) Result]
	GraphDestroy       Func[func(graph uintptr) Result]
}

// Check turns the result of a call into a *gpu.Error in the driver's own
// words, or nil. call is the C name.
func (a *API) Check(call string, r Result) error {
	if r == success {
		return nil
	}
	name, text := a.Describe(r)
	return &gpu.Error{Call: call, Name: name, Text: text, Code: int(r)}
}

// graphs reports whether the driver has them.
func (a *API) graphs() bool {
	return a.StreamBeginCapture.Call != nil && a.StreamEndCapture.Call != nil && a.GraphInstantiate.Call != nil &&
		a.GraphLaunch.Call != nil && a.GraphExecDestroy.Call != nil && a.GraphDestroy.Call != nil
}
