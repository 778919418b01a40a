// Package gputest proves that a gpu.Device keeps the promises of package
// gpu, and holds a fake device whose kernels are Go functions.
//
// Run is the conformance suite: every implementation runs it from its own
// test. The Fake passes it too, and can be made to fail on purpose, which
// is how what stands above the seam is tested.
package gputest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Kernel is the body of a fake kernel: it runs once per launch and does
// the work of the whole grid. args is the packed argument block, for
// ReadArgs. A kernel that can wait must return when ctx is done. A
// returned *gpu.Fault is the launch's error as it stands; any other error
// becomes the reason of one.
type Kernel func(ctx context.Context, mem *Memory, cfg gpu.LaunchConfig, args []byte) error

// imageHeader begins an image that a Fake loads.
const imageHeader = "gputest image\n"

// Image is a module for a Fake: one that holds the kernels named, or all
// kernels of the Fake where none is.
func Image(kernels ...string) []byte {
	return []byte(imageHeader + strings.Join(kernels, "\n"))
}

// A Fake is a gpu.Device whose kernels are Go functions. Its buffers lie
// in one arena, one behind the other in the order of their allocation,
// with nothing between but alignment: a write past the end of one lands
// in its neighbour, as on hardware.
//
// A Fake is safe for use from several goroutines.
type Fake struct {
	mu      sync.Mutex
	info    gpu.Info
	kernels map[string]Kernel
	mem     Memory
	lost    error
	closed  bool
	modules map[*fakeModule]bool
}

// NewFake opens a Fake with kernels. The suite's own are in Kernels.
func NewFake(kernels map[string]Kernel) *Fake {
	return &Fake{
		info:    gpu.Info{Name: "fake", Arch: "fake", Driver: "gputest", WaveSize: 32, Emulated: true},
		kernels: maps.Clone(kernels),
		modules: map[*fakeModule]bool{},
	}
}

// SetInfo replaces what Info reports, for tests of what depends on it.
func (f *Fake) SetInfo(i gpu.Info) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.info = i
}

// Live is the number of buffers and modules that were not released.
func (f *Fake) Live() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.mem.live) + len(f.modules)
}

// Info implements gpu.Device.
func (f *Fake) Info() gpu.Info {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.info
}

var errClosed = errors.New("gputest: device is closed")

// usable is the error of a device that was closed or lost. f.mu is held.
func (f *Fake) usable() error {
	if f.closed {
		return errClosed
	}
	return f.lost
}

// Load implements gpu.Device for images made by Image.
func (f *Fake) Load(image []byte) (gpu.Module, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return nil, err
	}
	list, ok := bytes.CutPrefix(image, []byte(imageHeader))
	if !ok {
		return nil, fmt.Errorf("gputest: image of %d bytes must begin with %q", len(image), imageHeader)
	}
	m := &fakeModule{dev: f, kernels: f.kernels}
	if len(list) > 0 {
		m.kernels = map[string]Kernel{}
		for name := range strings.SplitSeq(string(list), "\n") {
			if f.kernels[name] == nil {
				return nil, fmt.Errorf("gputest: image names kernel %q, the device has %q", name, slices.Sorted(maps.Keys(f.kernels)))
			}
			m.kernels[name] = f.kernels[name]
		}
	}
	f.modules[m] = true
	return m, nil
}

// Alloc implements gpu.Device.
func (f *Fake) Alloc(name string, size int) (gpu.Buffer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return nil, err
	}
	addr, err := f.mem.alloc(name, size)
	if err != nil {
		return nil, err
	}
	return &fakeBuffer{dev: f, addr: addr, size: size}, nil
}

// Launch implements gpu.Device. A kernel that leaves the arena is a Fault
// with Lost set, and so is one that ended because ctx was done; the device
// refuses every later call, as a driver's does.
func (f *Fake) Launch(ctx context.Context, k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (r gpu.Report, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.usable(); err != nil {
		return gpu.Report{}, err
	}
	fk, ok := k.(*fakeKernel)
	if !ok || fk.mod.dev != f {
		return gpu.Report{}, fmt.Errorf("gputest: kernel %s is of another device", k.Name())
	}
	if !f.modules[fk.mod] {
		return gpu.Report{}, fmt.Errorf("gputest: module of kernel %s is closed", fk.name)
	}
	if err := ctx.Err(); err != nil {
		return gpu.Report{}, fmt.Errorf("gputest: launch of %s: %w", fk.name, context.Cause(ctx))
	}
	if cfg.Shared < 0 || cfg.Shared > 64<<10 {
		return gpu.Report{}, fmt.Errorf("gputest: shared memory must be 0 to 65536 bytes, is %d", cfg.Shared)
	}
	if cfg.Grid.Count() == 0 || cfg.Block.Count() == 0 || cfg.Block.Count() > 1024 {
		return gpu.Report{}, fmt.Errorf("gputest: grid %v and block %v must not be empty, nor a block exceed 1024 threads", cfg.Grid, cfg.Block)
	}
	err = f.run(ctx, fk.body, cfg, slices.Clone(args))
	if err == nil {
		return gpu.Report{}, nil
	}
	fault, ok := errors.AsType[*gpu.Fault](err)
	if !ok {
		fault = &gpu.Fault{Reason: err.Error(), Err: err}
	}
	if fault.Kernel == "" {
		fault.Kernel = fk.name
	}
	if ctx.Err() != nil {
		fault.Lost = true
	}
	if fault.Lost {
		f.lost = fmt.Errorf("gputest: %w: %v", gpu.ErrLost, fault)
	}
	return gpu.Report{}, fault
}

// run calls body and turns an access outside the arena into an error.
func (f *Fake) run(ctx context.Context, body Kernel, cfg gpu.LaunchConfig, args []byte) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *accessError:
			err = &gpu.Fault{Reason: p.Error(), Lost: true, Err: p}
		default:
			panic(p)
		}
	}()
	return body(ctx, &f.mem, cfg, args)
}

// Close implements gpu.Device.
func (f *Fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	f.closed = true
	return nil
}

type fakeModule struct {
	dev     *Fake
	kernels map[string]Kernel
}

func (m *fakeModule) Kernel(symbol string) (gpu.Kernel, error) {
	m.dev.mu.Lock()
	defer m.dev.mu.Unlock()
	if err := m.dev.usable(); err != nil {
		return nil, err
	}
	body := m.kernels[symbol]
	if body == nil {
		return nil, fmt.Errorf("gputest: %w: %s", gpu.ErrNoKernel, symbol)
	}
	return &fakeKernel{mod: m, name: symbol, body: body}, nil
}

func (m *fakeModule) Close() error {
	m.dev.mu.Lock()
	defer m.dev.mu.Unlock()
	if !m.dev.modules[m] {
		return errors.New("gputest: module is closed")
	}
	delete(m.dev.modules, m)
	return nil
}

type fakeKernel struct {
	mod  *fakeModule
	name string
	body Kernel
}

func (k *fakeKernel) Name() string { return k.name }

type fakeBuffer struct {
	dev   *Fake
	addr  uint64
	size  int
	freed bool
}

func (b *fakeBuffer) Ptr() uint64 { return b.addr }
func (b *fakeBuffer) Size() int   { return b.size }

// do runs f on the bytes of the buffer.
func (b *fakeBuffer) do(f func(data []byte) error) error {
	b.dev.mu.Lock()
	defer b.dev.mu.Unlock()
	if err := b.dev.usable(); err != nil {
		return err
	}
	if b.freed {
		return errors.New("gputest: buffer is freed")
	}
	return f(b.dev.mem.Bytes(b.addr, b.size))
}

func (b *fakeBuffer) CopyIn(src []byte) error {
	return b.do(func(data []byte) error {
		if len(src) != len(data) {
			return fmt.Errorf("gputest: copy of %d bytes into a buffer of %d", len(src), len(data))
		}
		copy(data, src)
		return nil
	})
}

func (b *fakeBuffer) CopyOut(dst []byte) error {
	return b.do(func(data []byte) error {
		if len(dst) != len(data) {
			return fmt.Errorf("gputest: copy of a buffer of %d bytes to %d", len(data), len(dst))
		}
		copy(dst, data)
		return nil
	})
}

func (b *fakeBuffer) Poison(pattern byte) error {
	return b.do(func(data []byte) error {
		fill(data, pattern)
		return nil
	})
}

func (b *fakeBuffer) Free() error {
	return b.do(func([]byte) error {
		b.freed = true
		b.dev.mem.free(b.addr)
		return nil
	})
}
