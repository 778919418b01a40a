package runner

import (
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A Side is which source a target runs.
type Side string

// The sides.
const (
	HIP  Side = "hip"
	CUDA Side = "cuda"
)

// A Target is a source and what runs it.
type Target struct {
	Name string // hip@gfx90a
	Side Side
	// Open opens the device. A run opens an exclusive target once and
	// others once for each worker. The error wraps gpu.ErrUnavailable where
	// this machine has no such device.
	Open func() (gpu.Device, error)
	// Image returns what Device.Load takes for a family's kernels.
	Image func(dev gpu.Device, family string) ([]byte, error)
	// Exclusive is true for hardware: one client, one launch at a time.
	Exclusive bool
	// Place is the hardware, as in cuda:0: exclusive targets of one place
	// take turns. An empty one is the target's own.
	Place string
	// Reopens is true where Open gives a new device after one was lost:
	// where the driver is in a process of its own (gpu/isolate). Each
	// family of ops then has its own.
	Reopens bool
	// Recorded, where set, is in place of a device: it returns the output
	// of the same problem that a device gave elsewhere, or an error that
	// says why there is none. Open and Image are not called then.
	Recorded func(p *ops.Problem) (*tensor.Tensor, error)
	// Device describes the recorded device.
	Device gpu.Info
	// Optional leaves a case without a result, in place of an unverified
	// one, where there is no recorded output for it.
	Optional bool
	// Arithmetic is how the kernels compute, as far as it is declared of
	// their source.
	Arithmetic ops.Arithmetic
	// Bundled is true where the images are of the bundled kernels, which run
	// under any launch: they are timed under the one that suits them best
	// (ops.Problem.Tuned).
	Bundled bool
	// Flags are the compiler flags of the images, for reports.
	Flags string

	// Source is the file that the kernels are from, where they are a user's.
	Source string
	// Accept, if not nil, says before anything runs why the kernel of a case
	// cannot be launched: the error wraps gpu.ErrNoKernel where there is
	// none, and says else how it differs from what the case launches.
	Accept func(c *ops.Case) error
	// Unknown are the kernels of the source that no op launches.
	Unknown []string
}

func (t *Target) accept(c *ops.Case) error {
	if t.Accept == nil {
		return nil
	}
	return t.Accept(c)
}

// describe is what is known of a target before it is opened.
func (t *Target) describe() TargetInfo {
	return TargetInfo{Name: t.Name, Info: t.Device, FlagsUsed: t.Flags, Images: map[string]string{}, Source: t.Source, Unknown: t.Unknown}
}
