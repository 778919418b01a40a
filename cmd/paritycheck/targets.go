package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/internal/gpu/rocm"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/target"
)

// compileCommand is the hidden command that compiles in a child process.
const compileCommand = "compile-hip"

func newCompileCmd() *cobra.Command {
	return &cobra.Command{
		Use:    compileCommand,
		Short:  "Compile a HIP source given on stdin, for paritycheck itself",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return rocm.CompileChild(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// targetOptions say how to open targets for a run of so many jobs.
func targetOptions(e emulation, seed uint64, jobs int) (target.Options, error) {
	exe, err := os.Executable()
	if err != nil {
		return target.Options{}, fmt.Errorf("finding this program, which compiles in a child process: %w", err)
	}
	cpus := runtime.GOMAXPROCS(0)
	if jobs <= 0 || jobs > cpus {
		jobs = cpus
	}
	return target.Options{
		// Jobs run cases at once; what processors they leave run blocks.
		Sim: sim.Options{
			NoChecks: e.noChecks, Schedule: e.schedule, Workers: cpus / jobs,
			Model: model(e.transcendental), ModelSeed: seed,
		},
		HIPRTC: rocm.Compiler{Exe: exe, Args: []string{compileCommand}},
	}, nil
}

// model is the one that --transcendental names.
func model(name string) sim.Model {
	switch name {
	case "+1ulp":
		return sim.PlusULP
	case "-1ulp":
		return sim.MinusULP
	case "random":
		return sim.RandomULP
	}
	return sim.CorrectlyRounded
}

// chooseTargets resolves --target and --vs, which it leaves as the name of
// its target.
func chooseTargets(opts *runOptions) ([]runner.Target, error) {
	topts, err := targetOptions(opts.emulation, opts.seed, opts.jobs)
	if err != nil {
		return nil, err
	}
	if !opts.noIsolate {
		topts.Isolate = opts.host
	}
	targets, names, err := userTargets(context.Background(), opts.user, opts.targets, topts)
	if err != nil {
		return nil, err
	}
	add := func(name string) (string, error) {
		if slices.ContainsFunc(targets, func(t runner.Target) bool { return t.Name == name }) {
			return name, nil
		}
		t, err := target.Parse(name, topts)
		if err == nil && !slices.ContainsFunc(targets, func(u runner.Target) bool { return u.Name == t.Name }) {
			targets = append(targets, t)
		}
		return t.Name, err // rec:FILE has another name
	}
	for _, name := range names {
		if _, err := add(name); err != nil {
			return nil, err
		}
	}
	if len(opts.targets) == 0 {
		bundled := target.Default(topts)
		targets = append(targets, slices.DeleteFunc(bundled, opts.user.replaced)...)
	}
	for _, name := range opts.require {
		if name != requireAll {
			if _, err := add(name); err != nil {
				return nil, err
			}
		}
	}
	if opts.vs != "" {
		if opts.vs, err = add(opts.vs); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// A listedTarget is one target of this machine in JSON.
type listedTarget struct {
	Name    string    `json:"target"`
	Default bool      `json:"default"` // run uses it where --target names none
	Info    *gpu.Info `json:"device,omitempty"`
	Error   string    `json:"unavailable,omitempty"` // why it cannot be used
	Fix     string    `json:"fix,omitempty"`         // what to do about it
}

func newListTargetsCmd(do func(io.Writer, string) error) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "targets",
		Short: "List what can run kernels here",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), format) },
	}
	addFormat(cmd, &format)
	return cmd
}

func doListTargets(w io.Writer, format string) error {
	m := diagnose()
	if format == "json" {
		return writeJSON(w, m.Targets)
	}
	return report.Grid(w, []string{"target", "device", "default"}, nil, m.rows())
}

// A machine is what this machine has.
type machine struct {
	Targets   []listedTarget  `json:"targets"`
	Libraries []listedLibrary `json:"libraries"`
}

// A listedLibrary is a C library in JSON.
type listedLibrary struct {
	Name    string   `json:"name"`
	Path    string   `json:"path,omitempty"`
	Version string   `json:"version,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Error   string   `json:"error,omitempty"`
	Tried   []string `json:"tried,omitempty"`
}

// diagnose looks for everything that a target needs.
func diagnose() machine {
	var m machine
	// A driver that crashes is to be told of, not to be died of.
	rocmLibs, amd := []gpu.Library{{Name: "HIP runtime"}}, []gpu.Info(nil)
	cudaLibs, nvidia := []gpu.Library{{Name: "NVIDIA driver"}, {Name: "NVRTC"}}, []gpu.Info(nil)
	alive := true
	if err := survives("rocm"); err != nil {
		rocmLibs[0].Err, alive = err, false
	} else {
		rocmLibs, amd = rocm.Probe()
	}
	if err := survives("cuda"); err != nil {
		cudaLibs[0].Err, alive = err, false
	} else {
		cudaLibs, nvidia = cuda.Probe()
	}
	for _, l := range slices.Concat(rocmLibs, cudaLibs) {
		x := listedLibrary{Name: l.Name, Path: l.Path, Version: l.Version, Notes: l.Notes, Tried: l.Tried}
		if l.Err != nil {
			x.Error = oneLine(l.Err.Error())
		}
		m.Libraries = append(m.Libraries, x)
	}
	usual := map[string]bool{}
	if alive { // else run would not start without --target
		for _, t := range target.Default(target.Options{}) {
			usual[t.Name] = true
		}
	}
	for _, name := range target.Names() {
		if strings.HasSuffix(name, ":N") || strings.HasSuffix(name, ":FILE") {
			continue
		}
		t := listedTarget{Name: name, Default: usual[name]}
		dev, err := open(name)
		if err != nil {
			t.Error = oneLine(err.Error())
		} else {
			info := dev.Info()
			t.Info = &info
			dev.Close()
		}
		m.Targets = append(m.Targets, t)
	}
	const needsNVIDIA = "needs an NVIDIA GPU and its driver (libcuda.so.1)"
	m.add("hip@rocm:", amd, usual, rocmLibs[0].Err,
		"needs an AMD GPU and its driver: install ROCm's HIP runtime (libamdhip64) and join the groups render and video")
	m.add("cuda@cuda:", nvidia, usual, cudaLibs[0].Err, needsNVIDIA)
	err, fix := cudaLibs[0].Err, needsNVIDIA
	if err == nil && cudaLibs[1].Err != nil {
		err, nvidia = cudaLibs[1].Err, nil
		fix = "needs NVRTC: pip install nvidia-cuda-nvrtc-cu12, or set PARITYCHECK_NVRTC to the path of libnvrtc.so"
	}
	m.add("hip@cuda:", nvidia, usual, err, fix)
	return m
}

func open(name string) (gpu.Device, error) {
	t, err := target.Parse(name, target.Options{})
	if err != nil {
		return nil, err
	}
	return t.Open()
}

// add adds the targets of a driver: one for each device, or one that says
// why there is none.
func (m *machine) add(prefix string, devices []gpu.Info, usual map[string]bool, err error, fix string) {
	for i := range devices {
		name := fmt.Sprintf("%s%d", prefix, i)
		m.Targets = append(m.Targets, listedTarget{Name: name, Default: usual[name], Info: &devices[i]})
	}
	if len(devices) == 0 {
		why := "no device"
		if err != nil {
			why = oneLine(err.Error())
		}
		m.Targets = append(m.Targets, listedTarget{Name: prefix + "0", Error: why, Fix: fix})
	}
}

func (m *machine) rows() [][]string {
	var rows [][]string
	for _, t := range m.Targets {
		what, def := "unavailable: "+short(t.Error), "-"
		if t.Info != nil {
			what = t.Info.Name
			if !strings.Contains(what, t.Info.Arch) {
				what += ", " + t.Info.Arch
			}
		}
		if t.Default {
			def = "yes"
		}
		rows = append(rows, []string{t.Name, what, def})
	}
	return rows
}

// short is the first reason of an error that lists several.
func short(s string) string {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, gpu.ErrUnavailable.Error()+": "), ";")
	return s
}
