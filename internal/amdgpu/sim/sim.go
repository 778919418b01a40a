// Package sim executes AMD code objects on the CPU: an interpreter of the
// gfx90a, gfx1030 and gfx1100 instruction sets that implements gpu.Device.
//
// Beside running kernels it checks them (see gpu.Finding): accesses outside
// a buffer, misaligned ones, use of values nobody wrote, data races, waves
// that part at a barrier, loops that do not end. And it counts what they do
// (see gpu.Counters). Both are deterministic: equal inputs give equal
// reports on every machine.
package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Options steer an interpreter. The zero value is ready, with checks.
type Options struct {
	// NoChecks leaves out the checks but those for out-of-bounds accesses
	// and runaway loops.
	NoChecks bool

	// Schedule, where not zero, seeds an order of waves and work-groups
	// that is shuffled and preempts waves anywhere. Zero is the order of
	// their numbers.
	Schedule uint64

	// StepLimit is the number of instructions that one wave may execute.
	// Zero chooses one from the bytes of memory allocated: a thread that
	// walks through all of it a few times stays below.
	StepLimit int64

	// Model says how transcendental instructions (v_exp, v_log, v_rcp, v_rsq,
	// v_sqrt, v_sin, v_cos) round. Hardware's results lie within one ULP of
	// the default's. ModelSeed is for RandomULP.
	Model     Model
	ModelSeed uint64

	// Reached, where set, is told the address in the code object of every
	// instruction that is executed with some lane active, once for each
	// module. Calls may overlap.
	Reached func(pc uint64)

	// Workers is the number of work-groups that run at once, 0 for the
	// number of CPUs. It changes no result: work-groups whose order may
	// matter run one after another.
	Workers int

	// Cache, where set, shares compiled code objects with the other devices
	// that have it.
	Cache *Cache

	// For tests that compare: no fast paths, and spans without uops.
	slow, plain bool
}

// A Model says how transcendental instructions round.
type Model = arith.Model

// The models: the correctly rounded result, the next value above or below
// it, and one of the three chosen by seed, instruction and operand.
const (
	CorrectlyRounded = arith.CR
	PlusULP          = arith.PlusULP
	MinusULP         = arith.MinusULP
	RandomULP        = arith.Random
)

func (o *Options) transcendental() arith.Transcendental {
	return arith.Transcendental{Model: o.Model, Seed: o.ModelSeed}
}

// modelNote is what reports say of the model.
func (o *Options) modelNote() string {
	m := "correctly rounded model"
	switch o.Model {
	case PlusULP:
		m = "correctly rounded model plus one ULP"
	case MinusULP:
		m = "correctly rounded model minus one ULP"
	case RandomULP:
		m = fmt.Sprintf("correctly rounded model, moved by up to one ULP with seed %d", o.ModelSeed)
	}
	return "transcendental instructions: " + m + ", not hardware-verified"
}

// A device is an interpreter of one architecture.
type device struct {
	arch   isa.Arch
	specs  map[string]spec
	opts   Options
	mu     sync.Mutex
	mem    space
	idle   []*group // of launches that are over
	closed bool
}

// Open returns an interpreter for arch: "gfx90a", "gfx1030" or "gfx1100".
func Open(arch string, opts Options) (gpu.Device, error) {
	a, err := isa.ParseArch(arch)
	if err != nil {
		return nil, fmt.Errorf("opening an interpreter: %w", err)
	}
	if opts.Workers < 0 || opts.StepLimit < 0 {
		return nil, fmt.Errorf("opening an interpreter: %d workers and a limit of %d steps must not be negative", opts.Workers, opts.StepLimit)
	}
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	return &device{arch: a, specs: allSpecs(), opts: opts}, nil
}

func (d *device) Info() gpu.Info {
	return gpu.Info{
		Name:     d.arch.String() + " (emulated)",
		Arch:     d.arch.String(),
		WaveSize: d.arch.WaveSize(),
		Emulated: true,
		Notes:    d.opts.modelNote(),
	}
}

var errClosed = errors.New("device is closed")

func (d *device) Load(image []byte) (gpu.Module, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	f, err := codeobject.Parse(image, d.arch.String())
	if err != nil {
		return nil, err
	}
	r, err := d.mem.add("code object", "constant", len(f.Image))
	if err != nil {
		return nil, err
	}
	copy(r.data, f.Relocate(r.base))
	return &module{dev: d, file: f, image: r, text: d.opts.Cache.text(d, image, f)}, nil
}

func (d *device) Alloc(name string, size int) (gpu.Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	r, err := d.mem.add(name, "global", size)
	if err != nil {
		return nil, err
	}
	b := &buffer{d, r}
	b.poison(0xbd)
	return b, nil
}

func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	d.closed = true
	for _, r := range d.mem.slots {
		r.live = false
	}
	d.mem, d.idle = space{}, nil
	return nil
}

// A buffer is one allocation.
type buffer struct {
	dev *device
	r   *region
}

func (b *buffer) Ptr() uint64 { return b.r.base }
func (b *buffer) Size() int   { return len(b.r.data) }

func (b *buffer) check(n int) error {
	switch {
	case b.dev.closed:
		return errClosed
	case !b.r.live:
		return fmt.Errorf("buffer %s is freed", b.r.name)
	case n != len(b.r.data):
		return fmt.Errorf("copying %d bytes, buffer %s has %d", n, b.r.name, len(b.r.data))
	}
	return nil
}

func (b *buffer) CopyIn(src []byte) error {
	if err := b.check(len(src)); err != nil {
		return err
	}
	copy(b.r.data, src)
	b.r.def, b.r.blank = nil, false
	return nil
}

func (b *buffer) CopyOut(dst []byte) error {
	if err := b.check(len(dst)); err != nil {
		return err
	}
	copy(dst, b.r.data)
	return nil
}

func (b *buffer) Poison(pattern byte) error {
	if err := b.check(len(b.r.data)); err != nil {
		return err
	}
	b.poison(pattern)
	return nil
}

func (b *buffer) poison(pattern byte) {
	fill(b.r.data, pattern)
	b.r.def = make([]byte, len(b.r.data))
	b.r.blank, b.r.pattern = true, pattern
}

// fill makes every byte of p the pattern.
func fill(p []byte, pattern byte) {
	first := p[:min(len(p), 4<<10)]
	for i := range first {
		first[i] = pattern
	}
	for p = p[len(first):]; len(p) > 0; p = p[copy(p, first):] {
	}
}

// Unwritten returns how many bytes of the buffer were never written since
// it was allocated or poisoned, and the offset of the first.
func (b *buffer) Unwritten() (n, first int) {
	for i, d := range b.r.def {
		if d == 0 {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}

func (b *buffer) Free() error {
	b.dev.mu.Lock()
	defer b.dev.mu.Unlock()
	if err := b.check(len(b.r.data)); err != nil {
		return err
	}
	b.dev.mem.remove(b.r)
	return nil
}

// A module is a loaded code object.
type module struct {
	dev   *device
	image *region
	*text

	lines sync.Mutex // guards file, which reads debug info when first asked
	file  *codeobject.File
}

func (m *module) Kernel(symbol string) (gpu.Kernel, error) {
	if m.dev.closed {
		return nil, errClosed
	}
	if !m.image.live {
		return nil, errors.New("module is closed")
	}
	k := m.file.Kernel(symbol)
	if k == nil {
		return nil, fmt.Errorf("%w: %s", gpu.ErrNoKernel, symbol)
	}
	return &kernel{m, k}, nil
}

// Kernels lists the kernels of the module by name.
func (m *module) Kernels() []*codeobject.Kernel { return m.file.Kernels }

func (m *module) Close() error {
	m.dev.mu.Lock()
	defer m.dev.mu.Unlock()
	m.dev.mem.remove(m.image)
	return nil
}

type kernel struct {
	mod *module
	*codeobject.Kernel
}

func (k *kernel) Name() string { return k.Kernel.Name }

// Metadata is what the code object says of the kernel: its arguments,
// registers, spills, LDS and scratch.
func (k *kernel) Metadata() *codeobject.Kernel { return k.Kernel }

func (d *device) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return gpu.Report{}, errClosed
	}
	sk, ok := k.(*kernel)
	if !ok || sk.mod.dev != d {
		return gpu.Report{}, fmt.Errorf("kernel %s was not loaded on this device", k.Name())
	}
	l, err := newLaunch(ctx, d, sk, cfg, args)
	if err != nil {
		return gpu.Report{}, fmt.Errorf("launching %s: %w", sk.Kernel.Name, err)
	}
	defer l.close()
	return l.run()
}
