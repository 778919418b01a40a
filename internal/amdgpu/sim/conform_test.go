package sim

import (
	"os"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// TestConformance runs the suite that every gpu.Device passes.
func TestConformance(t *testing.T) {
	src, err := os.ReadFile("testdata/gputest.hip")
	if err != nil {
		t.Fatal(err)
	}
	if string(src) != gputest.Source {
		t.Error("testdata/gputest.hip is not gputest.Source: replace it and run build.sh gputest.hip")
	}
	for _, arch := range archs {
		t.Run(arch, func(t *testing.T) {
			gputest.Run(t, gputest.Harness{
				Open:  func() (gpu.Device, error) { return Open(arch, Options{}) },
				Image: func(gpu.Device) ([]byte, error) { return object(t, "gputest", arch), nil },
			})
		})
	}
}
