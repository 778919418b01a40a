package runner

import "github.com/paritycheck/paritycheck/internal/gpu"

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
	// Flags are the compiler flags of the images, for reports.
	Flags string
}
