// Package gpu is the seam between paritycheck and what executes kernels:
// a driver (gpu/cuda, gpu/rocm) or the interpreter (amdgpu/sim). Each
// implements Device; everything else sees only this package.
package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrUnavailable is wrapped by the error of opening a device that this
// machine does not have. It makes a skip, not a failure.
var ErrUnavailable = errors.New("backend unavailable")

// ErrLost is wrapped by every error of a device that a kernel made
// unusable, see Fault.Lost. Only a new process gets it back.
var ErrLost = errors.New("device is lost")

// A Dim3 is the extent of a grid in blocks or of a block in threads.
type Dim3 struct {
	X uint32 `json:"x"`
	Y uint32 `json:"y"`
	Z uint32 `json:"z"`
}

// Count is the number of elements of d.
func (d Dim3) Count() uint64 { return uint64(d.X) * uint64(d.Y) * uint64(d.Z) }

func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

// An Info says what a device is, for reports.
type Info struct {
	Name     string `json:"name"`               // "NVIDIA H200", "gfx90a (emulated)"
	Arch     string `json:"arch"`               // "sm_90", "gfx90a"
	Driver   string `json:"driver,omitempty"`   // version of the driver, in its own words
	Compiler string `json:"compiler,omitempty"` // what compiled the loaded modules
	WaveSize int    `json:"wave_size"`
	Emulated bool   `json:"emulated"`
	Notes    string `json:"notes,omitempty"` // what a reader must know, such as the transcendental model
}

// A Device runs kernels. Its methods may be called from any goroutine,
// one at a time.
type Device interface {
	Info() Info

	// Load makes the kernels of image available: a code object for AMD,
	// PTX or a cubin for NVIDIA.
	Load(image []byte) (Module, error)

	// Alloc allocates size bytes of device memory, which may be zero. The
	// name is the kernel parameter it is for and appears in findings.
	Alloc(name string, size int) (Buffer, error)

	// Launch runs a kernel to its end. args is the packed argument block
	// (see Args). The error is a *Fault where the kernel itself failed.
	Launch(ctx context.Context, k Kernel, cfg LaunchConfig, args []byte) (Report, error)

	Close() error
}

// A Timer is a Device with a clock of its own.
type Timer interface {
	// Time is Launch, and how long the kernel ran by the device's clock:
	// from an event before it to one behind it.
	Time(ctx context.Context, k Kernel, cfg LaunchConfig, args []byte) (time.Duration, error)
}

// A Module is a loaded image.
type Module interface {
	// Kernel finds a kernel by symbol. The error wraps ErrNoKernel where
	// the module has none of that name.
	Kernel(symbol string) (Kernel, error)
	Close() error
}

// ErrNoKernel is wrapped by the error of Module.Kernel for a symbol that
// the module lacks.
var ErrNoKernel = errors.New("no such kernel in the module")

// A Kernel is a launchable symbol of a module.
type Kernel interface {
	Name() string
}

// A Buffer is device memory.
type Buffer interface {
	Ptr() uint64 // device address
	Size() int
	// CopyIn writes all of the buffer.
	CopyIn(src []byte) error
	// CopyOut reads all of the buffer.
	CopyOut(dst []byte) error
	// Poison fills the buffer with pattern and, where the device tracks
	// initialisation, marks it as never written.
	Poison(pattern byte) error
	Free() error
}

// A LaunchConfig is the geometry of a launch.
type LaunchConfig struct {
	Grid   Dim3 // blocks
	Block  Dim3 // threads per block
	Shared int  // dynamic shared memory, bytes
	// Schedule seeds the order in which the interpreter runs blocks and
	// waves; 0 is the natural order. Hardware ignores it.
	Schedule uint64
}

// An Error is a failed driver call, in the driver's own words.
type Error struct {
	Call string // C name: "cuMemAlloc_v2"
	Name string // "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // driver's description, may be empty
	Code int
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Call, e.Name, e.Code)
	if e.Text != "" && e.Text != e.Name {
		s += ": " + e.Text
	}
	return s
}

// A Fault is a kernel that did not run to its end: a crash, a hang, an
// instruction the interpreter refuses. It is the result of that case, not
// of the run.
type Fault struct {
	Kernel string
	Reason string // "unknown instruction v_mfma_f32_4x4x1f32 at 0x1a40: matrix instructions are not interpreted"
	Lost   bool   // the device cannot be used any more
	Err    error
}

func (f *Fault) Error() string { return fmt.Sprintf("kernel %s: %s", f.Kernel, f.Reason) }
func (f *Fault) Unwrap() error { return f.Err }
