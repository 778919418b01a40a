package target

import (
	"fmt"
	"os"
	"strings"

	"github.com/paritycheck/paritycheck/internal/bundle"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/kernels"
	"github.com/paritycheck/paritycheck/recordings"
)

// OpenRecording reads a recording: an embedded one by its name, or a file.
func OpenRecording(place string) (*bundle.Recording, error) {
	data, ok := recordings.Get(place)
	if !ok {
		var err error
		if data, err = os.ReadFile(place); err != nil {
			return nil, fmt.Errorf("%w; embedded recordings are %v", err, recordings.Names())
		}
	}
	rec, err := bundle.ReadRecording(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return rec, nil
}

// RecordedName is the name of the target that a recording at place stands
// for: cuda@rec:PLACE or hip@rec:PLACE, by the side that was recorded.
func RecordedName(rec *bundle.Recording, place string) string {
	side, _, _ := strings.Cut(rec.Target.Name, "@")
	return side + "@rec:" + place
}

// recorded is the target of the recording at place.
func recorded(name string, side runner.Side, place string, optional bool) (runner.Target, error) {
	rec, err := OpenRecording(place)
	if err != nil {
		return runner.Target{}, fmt.Errorf("target %s: %w", name, err)
	}
	info := rec.Target.Info
	info.Notes = fmt.Sprintf("recorded as %s by paritycheck %s, seed %d", rec.Target.Name, rec.Version, rec.Seed)
	dialect := dialectOf(rec.Target.Name)
	return runner.Target{
		Name: name, Side: side, Flags: rec.Target.FlagsUsed, Device: info, Optional: optional,
		Arithmetic: ops.Bundled(), // Output takes none of other sources
		Recorded: func(p *ops.Problem) (*tensor.Tensor, error) {
			source, err := kernels.Digest(dialect, p.Case.Op.Family)
			if err != nil {
				return nil, err
			}
			return rec.Output(p, source)
		},
	}, nil
}

// dialectOf is the dialect that a target of that name compiles.
func dialectOf(name string) string {
	switch {
	case len(name) > 5 && name[:5] == "cuda@":
		return kernels.CUDA
	case len(name) > 9 && name[:9] == "hip@cuda:":
		return kernels.HIPNV
	}
	return kernels.HIP
}

// SourceOf is the digest of the sources that the target called name runs
// for a family, as recordings keep it.
func SourceOf(name, family string) (string, error) {
	return kernels.Digest(dialectOf(name), family)
}
