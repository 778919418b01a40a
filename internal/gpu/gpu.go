// Package gpu is the seam between paritycheck and what executes kernels:
// a driver (gpu/cuda and gpu/rocm, by gpu/driver) or the interpreter
// (amdgpu/sim). Each
// implements Device; everything else sees only this package.
package gpu

import (
	"context"
	"errors"
	"fmt"
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

// A Timer is a Device with a clock of its own and a queue on which
// launches are timed. Package bench says how.
type Timer interface {
	Device

	// Rating is what the device says of its own speed.
	Rating() Rating

	// State is how fast the device runs at the moment.
	State() State

	// Prepare readies a launch, so that queueing it costs no more than the
	// driver's call. The arguments stay as they are.
	Prepare(k Kernel, cfg LaunchConfig, args []byte) (Launch, error)

	// Enqueue calls f with the queue, on the thread that is the driver's.
	// Until it returns f must not use the device but through the queue. What
	// ends ctx while f waits for the device is a *Fault, and so is a launch
	// that fails.
	Enqueue(ctx context.Context, f func(q Queue) error) error
}

// A Launch is a kernel with its geometry and arguments, ready to be
// queued.
type Launch interface {
	Kernel() Kernel
	// Free unpins the arguments. No queued launch may be pending.
	Free()
}

// A Queue is work that a device does in order, while the host goes on.
type Queue interface {
	Launch(l Launch) error
	// Fill writes pattern to all of b.
	Fill(b Buffer, pattern byte) error
	// Copy copies n bytes between buffers, from the given offsets, by the
	// driver's own means.
	Copy(dst Buffer, to int, src Buffer, from, n int) error
	// Mark sets mark i, from 0 to Marks-1, to the moment at which the device
	// comes to it.
	Mark(i int) error
	// Hold makes what is queued from now on wait for Release: so it runs
	// without a pause for the host. No more than Depth calls may follow. The
	// error wraps errors.ErrUnsupported where the device cannot.
	Hold() error
	// Release lets the device go on, and reports whether it was held until
	// now: after a second it goes on by itself.
	Release() bool
	// Wait returns when all that was queued is done. The error is a *Fault
	// where a kernel failed.
	Wait() error
	// Elapsed is the time between two marks, in seconds, after Wait.
	Elapsed(from, to int) (float64, error)
}

// A Repeater is a Queue whose device can be given many launches as one:
// it then needs less between them than for launches that come singly.
type Repeater interface {
	// Repeat makes n launches of l, one after the other, a single one. The
	// queue must not be held. The error wraps errors.ErrUnsupported where
	// the driver cannot.
	Repeat(l Launch, n int) (Launch, error)
}

// The limits of a Queue.
const (
	Marks = 2
	Depth = 256
)

// A Rating is what a device says of its own speed. Zeros are unknown.
type Rating struct {
	Cache int     // bytes of the largest cache that device memory is accessed through
	F32   float64 // operations a second at full clock, a fused multiply-add being two
	F64   float64
}

// A State is how fast a device runs at a moment. The zero State is of a
// device that does not tell.
type State struct {
	Clock     int      // of the multiprocessors, MHz
	Throttled []string // why that is less than it could be, in the vendor's words
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
	// Outside is true where something outside ended the process that drives
	// the device, which says nothing of the kernel.
	Outside bool
	Err     error
}

func (f *Fault) Error() string {
	if f.Kernel == "" { // not in a launch
		return f.Reason
	}
	return fmt.Sprintf("kernel %s: %s", f.Kernel, f.Reason)
}
func (f *Fault) Unwrap() error { return f.Err }
