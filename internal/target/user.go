package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/internal/gpu/rocm"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A UserCode is a file of kernels that runs in place of the bundled ones
// of its side.
type UserCode struct {
	Side    runner.Side
	Path    string
	Compile bool // the file is a source; else an object
	// Include and Define are for the compiler of a source: folders, and
	// macros as NAME or NAME=VALUE.
	Include, Define []string
	// Arithmetic is what is declared of the kernels.
	Arithmetic ops.Arithmetic
}

// source is the part of a target's name that says whose code it runs.
func (u *UserCode) source() string { return fmt.Sprintf("%s[%s]", u.Side, filepath.Base(u.Path)) }

// maxFile bounds what is read of a user's file.
const maxFile = 1 << 30

// read returns the content of the file.
func (u *UserCode) read() ([]byte, error) {
	st, err := os.Stat(u.Path)
	if err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder", u.Path)
	}
	if err == nil && st.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", u.Path, st.Size(), maxFile)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(u.Path)
	}
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("reading %s: %w", u.Path, err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s is empty", u.Path)
	}
	return b, nil
}

// User returns the targets of a user's file: at places, as in gfx90a,
// rocm:0 or cuda:0, or, where none is named, wherever here its code runs.
// They are called hip[FILE]@gfx90a and so on. A source is compiled, and
// objects are read; on hardware they are loaded, so that what is wrong
// with a file is found before a case runs.
func User(ctx context.Context, u UserCode, places []string, opts Options) ([]runner.Target, error) {
	body, err := u.read()
	if err != nil {
		return nil, err
	}
	var amd, nvidia []string
	if len(places) == 0 {
		amd, nvidia = u.here(body)
	}
	for _, p := range places {
		if strings.HasPrefix(p, "cuda:") {
			nvidia = append(nvidia, p)
		} else {
			amd = append(amd, p)
		}
	}
	var targets []runner.Target
	switch {
	case u.Side == runner.CUDA && len(amd) > 0:
		return nil, fmt.Errorf("%s is CUDA's and cannot run on %s", u.Path, strings.Join(amd, ", "))
	case u.Side == runner.HIP && !u.Compile && len(nvidia) > 0:
		return nil, fmt.Errorf("%s is for AMD GPUs and cannot run on %s", u.Path, strings.Join(nvidia, ", "))
	}
	var first error
	failed := 0
	for _, p := range append(amd, nvidia...) {
		on := u.onAMD
		if strings.HasPrefix(p, "cuda:") {
			on = u.onNVIDIA
		}
		t, err := on(ctx, body, p, opts)
		if err != nil {
			if len(places) > 0 {
				return nil, err
			}
			if first == nil {
				first = err
			}
			failed++
			// Nobody asked for this place: where another will do, a compiler
			// that does not know the architecture is no error.
			t.Open = func() (gpu.Device, error) { return nil, fmt.Errorf("%w: %w", gpu.ErrUnavailable, err) }
		}
		targets = append(targets, t)
	}
	if failed == len(targets) {
		return nil, first
	}
	return targets, nil
}

// here lists the places of this machine where the file may run. What an
// object has no code for is none; of nothing else, the interpreted
// architectures give the error.
func (u *UserCode) here(body []byte) (amd, nvidia []string) {
	_, n := cuda.Probe()
	for i := range n {
		if u.Side == runner.CUDA || u.Compile {
			nvidia = append(nvidia, fmt.Sprintf("cuda:%d", i))
		}
	}
	if u.Side == runner.CUDA {
		if len(n) == 0 {
			nvidia = []string{"cuda:0"} // which says what is missing
		}
		return nil, nvidia
	}
	var archs []string
	if !u.Compile {
		archs, _ = codeobject.Archs(body)
	}
	for _, a := range interpreted {
		if u.Compile || slices.Contains(archs, a) {
			amd = append(amd, a)
		}
	}
	_, gpus := rocm.Probe()
	for i, info := range gpus {
		if base, _, _ := strings.Cut(info.Arch, ":"); u.Compile || slices.Contains(archs, base) {
			amd = append(amd, fmt.Sprintf("rocm:%d", i))
		}
	}
	if len(amd) == 0 {
		amd = interpreted[:1]
	}
	return amd, nvidia
}

// onAMD is the target at an interpreted architecture or at rocm:N.
func (u *UserCode) onAMD(ctx context.Context, body []byte, place string, opts Options) (runner.Target, error) {
	t := runner.Target{Name: u.source() + "@" + place, Side: runner.HIP, Source: u.Path, Arithmetic: u.Arithmetic}
	arch := place
	if number, ok := strings.CutPrefix(place, "rocm:"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return t, fmt.Errorf("unknown place %q", place)
		}
		t = opts.hardware(t, place, "", func() (gpu.Device, error) { return rocm.Open(n, "") })
		_, gpus := rocm.Probe()
		if n >= len(gpus) {
			return t, fmt.Errorf("%s cannot run on %s: there is no such GPU", u.Path, place)
		}
		arch, _, _ = strings.Cut(gpus[n].Arch, ":")
	} else if !slices.Contains(interpreted, place) {
		return t, fmt.Errorf("%s cannot run on %s: must be rocm:N, or interpreted as %s", u.Path, place, strings.Join(interpreted, ", "))
	} else {
		t.Open = func() (gpu.Device, error) { return sim.Open(arch, opts.Sim) }
	}
	object := body
	var err error
	if u.Compile {
		if object, t.Flags, err = u.compileHIP(ctx, body, arch, opts); err != nil {
			return t, err
		}
	} else if err := u.hasArch(body, arch); err != nil {
		return t, err
	}
	if object, err = codeobject.Bare(object, arch); err != nil {
		return t, fmt.Errorf("%s: %w", u.Path, err)
	}
	f, err := codeobject.Parse(object, arch)
	if err != nil {
		return t, fmt.Errorf("%s: %w", u.Path, err)
	}
	symbols := map[string][]param{}
	for _, k := range f.Kernels {
		var list []param
		for _, a := range k.Args {
			if !a.Hidden() {
				list = append(list, param{int(a.Offset), int(a.Size)})
			}
		}
		symbols[k.Name] = list
	}
	return u.finish(t, object, symbols)
}

// hasArch says in one line what an object is for, where that is not arch.
func (u *UserCode) hasArch(body []byte, arch string) error {
	archs, err := codeobject.Archs(body)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", u.Path, err)
	case !slices.Contains(archs, arch):
		return fmt.Errorf("%s has code for %s and none for %s; interpreted are %s",
			u.Path, strings.Join(archs, ", "), arch, strings.Join(interpreted, ", "))
	}
	return nil
}

// onNVIDIA is the target at cuda:N.
func (u *UserCode) onNVIDIA(ctx context.Context, body []byte, place string, opts Options) (runner.Target, error) {
	t := runner.Target{Name: u.source() + "@" + place, Side: u.Side, Source: u.Path, Arithmetic: u.Arithmetic}
	n, err := strconv.Atoi(strings.TrimPrefix(place, "cuda:"))
	if err != nil || n < 0 {
		return t, fmt.Errorf("unknown place %q", place)
	}
	libs, gpus := cuda.Probe()
	t = opts.hardware(t, place, "", func() (gpu.Device, error) { return cuda.Open(n, nil) })
	object := body
	switch {
	case n >= len(gpus) && u.Compile:
		return t, fmt.Errorf("%s cannot run on %s: %w", u.Path, place, errors.Join(libs[0].Err, noGPU(n, len(gpus))))
	case u.Compile:
		if object, t.Flags, err = u.compileCUDA(ctx, body, gpus[n].Arch); err != nil {
			return t, err
		}
	}
	kernels, archs, err := cuda.Symbols(object)
	unlisted := errors.Is(err, errors.ErrUnsupported) // the driver will tell what it lacks
	if err != nil && !unlisted {
		return t, fmt.Errorf("%s: %w", u.Path, err)
	}
	if n >= len(gpus) { // nothing wrong with the file
		return t, fmt.Errorf("%s cannot run on %s: %w", u.Path, place, errors.Join(libs[0].Err, noGPU(n, len(gpus))))
	}
	symbols := map[string][]param{}
	for _, k := range kernels {
		symbols[k.Name] = packed(k.Params)
	}
	if unlisted {
		t.Image = func(gpu.Device, string) ([]byte, error) { return object, nil }
	} else if t, err = u.finish(t, object, symbols); err != nil {
		return t, err
	}
	// The driver has the last word on what it takes.
	dev, err := t.Open()
	if err == nil {
		_, err = dev.Load(object)
		dev.Close()
		if err != nil && !u.Compile {
			err = fmt.Errorf("it has code for %s, the GPU is %s: %w", strings.Join(archs, ", "), gpus[n].Arch, err)
		}
	}
	if err != nil {
		return t, fmt.Errorf("%s on %s: %w", u.Path, place, err)
	}
	return t, nil
}

func noGPU(n, have int) error {
	if have == 0 {
		return nil // the driver's error says it
	}
	return fmt.Errorf("there is no GPU %d, only %d", n, have)
}

// A param is where a kernel expects an argument.
type param struct{ offset, size int }

// packed places arguments of those sizes as C does, each aligned to its
// size; nil where the sizes are not known.
func packed(sizes []int) []param {
	if sizes == nil {
		return nil
	}
	list, at := []param{}, 0
	for _, n := range sizes {
		at = (at + n - 1) / max(n, 1) * n
		list = append(list, param{at, n})
		at += n
	}
	return list
}

// finish fits t with the object and what is known of its kernels: where
// each expects its arguments, nil for one that does not tell.
func (u *UserCode) finish(t runner.Target, object []byte, symbols map[string][]param) (runner.Target, error) {
	if len(symbols) == 0 {
		return t, fmt.Errorf("%s has no kernel", u.Path)
	}
	known := map[string]bool{}
	for _, o := range ops.All() {
		for _, v := range o.Variants {
			known[o.Kernel(v)] = true
		}
	}
	found := 0
	for name := range symbols {
		if known[name] {
			found++
		} else {
			t.Unknown = append(t.Unknown, name)
		}
	}
	slices.Sort(t.Unknown)
	if found == 0 {
		return t, fmt.Errorf("%s has no kernel that an op launches: it has %s; paritycheck list kernels shows their names", u.Path, shortList(t.Unknown))
	}
	t.Image = func(gpu.Device, string) ([]byte, error) { return object, nil }
	t.Accept = func(c *ops.Case) error {
		name := c.Op.Kernel(c.Variant)
		has, ok := symbols[name]
		if !ok {
			return &missingError{filepath.Base(u.Path), name}
		}
		return fits(u.Path, name, has, c)
	}
	return t, nil
}

// A missingError is a kernel that a user's file lacks.
type missingError struct{ file, kernel string }

func (e *missingError) Error() string { return fmt.Sprintf("missing: %s has no %s", e.file, e.kernel) }
func (e *missingError) Unwrap() error { return gpu.ErrNoKernel }

// shortList joins the first of names.
func shortList(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// fits checks the parameters that a kernel has against those of its op.
func fits(path, kernel string, has []param, c *ops.Case) error {
	if has == nil {
		return nil
	}
	var sizes []int
	var text []string
	for _, p := range c.Op.Params {
		n := 8
		kind := p.Type.DType(c.Variant).String() + "*"
		if p.Role == ops.Scalar {
			n = p.Type.DType(c.Variant).Size()
			kind = p.Type.DType(c.Variant).String()
		}
		sizes = append(sizes, n)
		text = append(text, kind+" "+p.Name)
	}
	want := packed(sizes)
	if slices.Equal(has, want) {
		return nil
	}
	show := func(list []param) string {
		var s []string
		for _, p := range list {
			s = append(s, strconv.Itoa(p.size))
		}
		return strings.Join(s, " ")
	}
	return fmt.Errorf("another signature: %s of %s has %d parameters of %s bytes, the op passes %d of %s bytes: %s",
		kernel, filepath.Base(path), len(has), show(has), len(want), show(want), strings.Join(text, ", "))
}
