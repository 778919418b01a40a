// Package target knows what a kernel can run on: it turns names such as
// hip@gfx90a or cuda@cuda:0 into what opens the device and finds the
// family's compiled code for it. To add a target, add a backend here.
package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/internal/gpu/isolate"
	"github.com/paritycheck/paritycheck/internal/gpu/rocm"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
	"github.com/paritycheck/paritycheck/recordings"
)

// interpreted are the architectures that the interpreter runs, in the
// order of reports.
var interpreted = []string{"gfx90a", "gfx1030", "gfx1100"}

// Options are what targets are opened with.
type Options struct {
	// Sim steers the interpreter.
	Sim sim.Options
	// HIPRTC runs this program as the compiler of HIP sources for AMD
	// devices that no prebuilt object fits.
	HIPRTC rocm.Compiler
	// Isolate, if not nil, drives GPUs in child processes.
	Isolate *isolate.Host
}

// hardware makes t the target of a GPU. direct opens it in this process,
// where compiler is what compiles its modules.
func (o *Options) hardware(t runner.Target, place, compiler string, direct func() (gpu.Device, error)) runner.Target {
	t.Exclusive, t.Place, t.Open = true, place, direct
	if o.Isolate != nil {
		t.Reopens = true
		t.Open = func() (gpu.Device, error) { return o.Isolate.Open(place, compiler) }
	}
	return t
}

// Parse returns the target called name: hip@ARCH for an interpreted
// architecture, hip@rocm:N, hip@cuda:N or cuda@cuda:N for hardware,
// cuda@rec:FILE or hip@rec:FILE for a recording, and rec:FILE for one whose
// own side is meant.
func Parse(name string, opts Options) (runner.Target, error) {
	if place, ok := strings.CutPrefix(name, "rec:"); ok && place != "" {
		rec, err := OpenRecording(place)
		if err != nil {
			return runner.Target{}, fmt.Errorf("target %s: %w", name, err)
		}
		name = RecordedName(rec, place)
	}
	side, place, ok := strings.Cut(name, "@")
	backend, number, numbered := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	bad := !ok || numbered && (err != nil || n < 0)
	switch {
	case backend == "rec" && (side == "hip" || side == "cuda") && number != "":
		return recorded(name, runner.Side(side), number, false)
	case bad:
	case side == "hip" && !numbered:
		for _, arch := range interpreted {
			if place == arch {
				return emulated(arch, opts), nil
			}
		}
	case side == "hip" && backend == "rocm" && numbered:
		return rocmTarget(name, n, opts), nil
	case side == "hip" && backend == "cuda" && numbered:
		return cudaTarget(name, runner.HIP, kernels.HIPNV, n, opts), nil
	case side == "cuda" && backend == "cuda" && numbered:
		return cudaTarget(name, runner.CUDA, kernels.CUDA, n, opts), nil
	}
	return runner.Target{}, fmt.Errorf("unknown target %q: must be hip@%s, or hip@rocm:N, hip@cuda:N or cuda@cuda:N with a device's number, or rec:FILE",
		name, strings.Join(interpreted, ", hip@"))
}

// Default returns the targets of a run that names none: all hardware
// present, the interpreter where no AMD GPU is, and the embedded recordings
// of NVIDIA GPUs where none is. Cases that a recording lacks are left out
// of it.
func Default(opts Options) []runner.Target {
	var names []string
	_, nvidia := cuda.Probe()
	for i := range nvidia {
		names = append(names, fmt.Sprintf("cuda@cuda:%d", i), fmt.Sprintf("hip@cuda:%d", i))
	}
	_, amd := rocm.Probe()
	for i := range amd {
		names = append(names, fmt.Sprintf("hip@rocm:%d", i))
	}
	if len(amd) == 0 {
		for _, arch := range interpreted {
			names = append(names, "hip@"+arch)
		}
	}
	var targets []runner.Target
	if len(nvidia) == 0 {
		for _, name := range recordings.Names() {
			t, err := recorded("cuda@rec:"+name, runner.CUDA, name, true)
			if err != nil {
				panic("target: " + err.Error()) // embedded, and read by a test
			}
			targets = append(targets, t)
		}
	}
	for _, name := range names {
		t, err := Parse(name, opts)
		if err != nil {
			panic("target: " + err.Error()) // the names are our own
		}
		targets = append(targets, t)
	}
	return targets
}

// Names lists the names that always exist, and the patterns of the others.
func Names() []string {
	var names []string
	for _, arch := range interpreted {
		names = append(names, "hip@"+arch)
	}
	return append(names, "hip@rocm:N", "hip@cuda:N", "cuda@cuda:N", "cuda@rec:FILE")
}

func emulated(arch string, opts Options) runner.Target {
	opts.Sim.Cache = new(sim.Cache) // of all devices that the target opens
	return runner.Target{
		Name:       "hip@" + arch,
		Side:       runner.HIP,
		Arithmetic: ops.Bundled(),
		Bundled:    true,
		Flags:      "clang " + strings.Join(kernels.Flags(kernels.HIP), " "),
		Open:       func() (gpu.Device, error) { return sim.Open(arch, opts.Sim) },
		Image:      func(_ gpu.Device, family string) ([]byte, error) { return kernels.Object(family, arch) },
	}
}

// rocmTarget is an AMD GPU. Its objects are the prebuilt ones where they
// fit the architecture, and compiled by hiprtc elsewhere.
func rocmTarget(name string, n int, opts Options) runner.Target {
	flags := kernels.Flags(kernels.HIP)
	t := runner.Target{
		Name:       name,
		Side:       runner.HIP,
		Arithmetic: ops.Bundled(),
		Bundled:    true,
		Flags:      strings.Join(flags, " "),
		Image: func(dev gpu.Device, family string) ([]byte, error) {
			arch := dev.Info().Arch // gfx90a:sramecc+:xnack-
			base, _, _ := strings.Cut(arch, ":")
			if image, err := kernels.Object(family, base); err == nil {
				return image, nil
			}
			src, err := source(kernels.HIP, family)
			if err != nil {
				return nil, err
			}
			return cached("hiprtc", src, arch, flags, func() ([]byte, error) {
				code, err := opts.HIPRTC.Compile(context.Background(), src, arch, flags...)
				return code.Object, err
			})
		},
	}
	return opts.hardware(t, fmt.Sprintf("rocm:%d", n), "", func() (gpu.Device, error) { return rocm.Open(n, "") })
}

// cudaTarget is an NVIDIA GPU, running the sources of a dialect. NVRTC
// compiles them; where it is absent the CUDA ones come as PTX, and the
// HIP ones cannot run.
func cudaTarget(name string, side runner.Side, dialect string, n int, opts Options) runner.Target {
	flags := kernels.Flags(dialect)
	nvrtc, missing := cuda.OpenNVRTC()
	t := runner.Target{
		Name:       name,
		Side:       side,
		Arithmetic: ops.Bundled(),
		Bundled:    true,
		Flags:      strings.Join(flags, " "),
		Image: func(dev gpu.Device, family string) ([]byte, error) {
			if missing != nil {
				return kernels.PTX(family)
			}
			src, err := source(dialect, family)
			if err != nil {
				return nil, err
			}
			arch, err := nvrtc.Arch(dev.Info().Arch)
			if err != nil {
				return nil, err
			}
			return cached(nvrtc.Version(), src, arch, flags, func() ([]byte, error) {
				return nvrtc.Compile(context.Background(), src, arch, flags...)
			})
		},
	}
	var compiler string
	if missing == nil {
		compiler = nvrtc.Version()
	}
	t = opts.hardware(t, fmt.Sprintf("cuda:%d", n), compiler, func() (gpu.Device, error) { return cuda.Open(n, nvrtc) })
	if missing != nil && dialect != kernels.CUDA {
		t.Open = func() (gpu.Device, error) { return nil, fmt.Errorf("compiling HIP for NVIDIA: %w", missing) }
	}
	return t
}

// source returns a family's source as compilers take it.
func source(dialect, family string) (gpu.Source, error) {
	text, headers, err := kernels.Source(dialect, family)
	file := "kernels/hip/" + family + ".hip"
	if dialect == kernels.CUDA {
		file = "kernels/cuda/" + family + ".cu"
	}
	return gpu.Source{File: file, Text: text, Headers: headers}, err
}
