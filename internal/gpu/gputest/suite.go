package gputest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Harness is what the suite needs of an implementation.
type Harness struct {
	// Open opens the device anew; the suite closes it.
	Open func() (gpu.Device, error)
	// Image returns a module that holds the kernels of Source, fit for
	// dev.
	Image func(dev gpu.Device) ([]byte, error)
}

// Run checks that the devices of h keep the promises of package gpu. None
// of its launches faults: see Faults.
func Run(t *testing.T, h Harness) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.run(open(t, h)) })
	}
}

var checks = []struct {
	name string
	run  func(*bench)
}{
	{"Info", testInfo},
	{"RoundTrip", testRoundTrip},
	{"ZeroSize", testZeroSize},
	{"Poison", testPoison},
	{"Distinct", testDistinct},
	{"BadSize", testBadSize},
	{"BadImage", testBadImage},
	{"NoKernel", testNoKernel},
	{"Tails", testTails},
	{"Packing", testPacking},
	{"Geometry", testGeometry},
	{"Shared", testShared},
	{"Threads", testThreads},
	{"BadLaunch", testBadLaunch},
	{"Cancelled", testCancelled},
	{"Modules", testModules},
	{"Goroutines", testGoroutines},
	{"Closed", testClosed},
}

// bench is one open device under test.
type bench struct {
	testing.TB
	h      Harness
	dev    gpu.Device
	image  []byte
	mod    gpu.Module
	closed bool // by the check itself
}

func open(t testing.TB, h Harness) *bench {
	t.Helper()
	dev, err := h.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	b := &bench{TB: t, h: h, dev: dev}
	t.Cleanup(func() {
		if !b.closed {
			if err := b.dev.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	if b.image, err = h.Image(dev); err != nil {
		t.Fatalf("image: %v", err)
	}
	if b.mod, err = dev.Load(b.image); err != nil {
		t.Fatalf("load: %v", err)
	}
	return b
}

func (b *bench) alloc(name string, size int) gpu.Buffer {
	b.Helper()
	buf, err := b.dev.Alloc(name, size)
	if err != nil {
		b.Fatalf("alloc %s of %d bytes: %v", name, size, err)
	}
	return buf
}

// holding allocates a buffer with that content.
func (b *bench) holding(name string, data []byte) gpu.Buffer {
	b.Helper()
	buf := b.alloc(name, len(data))
	if err := buf.CopyIn(data); err != nil {
		b.Fatalf("copy in %s: %v", name, err)
	}
	return buf
}

func (b *bench) read(buf gpu.Buffer) []byte {
	b.Helper()
	p := make([]byte, buf.Size())
	if err := buf.CopyOut(p); err != nil {
		b.Fatalf("copy out: %v", err)
	}
	return p
}

func (b *bench) kernel(symbol string) gpu.Kernel {
	b.Helper()
	k, err := b.mod.Kernel(symbol)
	if err != nil {
		b.Fatalf("kernel %s: %v", symbol, err)
	}
	if k.Name() != symbol {
		b.Errorf("name of kernel %s: got %q", symbol, k.Name())
	}
	return k
}

func grid(blocks, threads uint32) gpu.LaunchConfig {
	return gpu.LaunchConfig{Grid: gpu.Dim3{X: blocks, Y: 1, Z: 1}, Block: gpu.Dim3{X: threads, Y: 1, Z: 1}}
}

// launch runs a kernel that has no defect: it must neither fail nor give
// findings.
func (b *bench) launch(symbol string, cfg gpu.LaunchConfig, args gpu.Args) {
	b.Helper()
	r, err := b.dev.Launch(b.Context(), b.kernel(symbol), cfg, args.Bytes())
	if err != nil {
		b.Fatalf("launch %s: %v", symbol, err)
	}
	for _, f := range r.Findings {
		b.Errorf("launch %s: got finding %v, want none", symbol, f)
	}
}

// works launches a small kernel: the device is still usable.
func (b *bench) works() {
	b.Helper()
	n := b.holding("count", make([]byte, 4))
	var args gpu.Args
	args.Ptr(n)
	b.launch("pc_count", grid(2, 33), args)
	if got := binary.LittleEndian.Uint32(b.read(n)); got != 66 {
		b.Errorf("threads counted: got %d, want 66", got)
	}
	if err := n.Free(); err != nil {
		b.Errorf("free: %v", err)
	}
}

func testInfo(b *bench) {
	i := b.dev.Info()
	if i.Name == "" || i.Arch == "" {
		b.Errorf("got %+v, want a name and an architecture", i)
	}
	if i.WaveSize != 32 && i.WaveSize != 64 {
		b.Errorf("wave size: got %d, want 32 or 64", i.WaveSize)
	}
}

// pattern is n bytes with no period that divides a power of two.
func pattern(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i%251) + byte(i/251) + seed
	}
	return p
}

func testRoundTrip(b *bench) {
	for _, n := range []int{1, 3, 4, 255, 256, 4097, 1 << 20} {
		want := pattern(n, byte(n))
		buf := b.holding("x", want)
		if buf.Size() != n {
			b.Errorf("size: got %d, want %d", buf.Size(), n)
		}
		if got := b.read(buf); !bytes.Equal(got, want) {
			b.Errorf("round trip of %d bytes: differs from byte %d", n, firstDiff(got, want))
		}
		for _, bad := range []int{n - 1, n + 1} {
			if err := buf.CopyIn(make([]byte, bad)); err == nil {
				b.Errorf("copy of %d bytes into a buffer of %d: got nil, want an error", bad, n)
			}
			if err := buf.CopyOut(make([]byte, bad)); err == nil {
				b.Errorf("copy of a buffer of %d bytes to %d: got nil, want an error", n, bad)
			}
		}
		if got := b.read(buf); !bytes.Equal(got, want) {
			b.Errorf("refused copies changed the buffer of %d bytes from byte %d", n, firstDiff(got, want))
		}
		if err := buf.Free(); err != nil {
			b.Errorf("free: %v", err)
		}
	}
}

func firstDiff(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

func testZeroSize(b *bench) {
	e := b.alloc("empty", 0)
	y := b.holding("y", pattern(8, 1))
	if e.Size() != 0 {
		b.Errorf("size: got %d, want 0", e.Size())
	}
	for name, err := range map[string]error{
		"copy in": e.CopyIn(nil), "copy out": e.CopyOut(nil), "poison": e.Poison(1),
	} {
		if err != nil {
			b.Errorf("%s: %v", name, err)
		}
	}
	var args gpu.Args
	args.Ptr(e)
	args.Ptr(e)
	args.Float32(1)
	args.Uint(0, 4)
	b.launch("pc_axpy", grid(1, 32), args)
	if err := e.Free(); err != nil {
		b.Errorf("free: %v", err)
	}
	if got, want := b.read(y), pattern(8, 1); !bytes.Equal(got, want) {
		b.Errorf("neighbour: got %x, want %x", got, want)
	}
}

func testPoison(b *bench) {
	for _, n := range []int{1, 7, 4096, 100001} {
		l, buf, r := b.holding("left", pattern(n, 3)), b.alloc("x", n), b.holding("right", pattern(n, 5))
		for _, v := range []byte{0xff, 0, 0xa5} {
			if err := buf.Poison(v); err != nil {
				b.Fatalf("poison: %v", err)
			}
			if got, want := b.read(buf), bytes.Repeat([]byte{v}, n); !bytes.Equal(got, want) {
				b.Errorf("poison %#x of %d bytes: differs from byte %d", v, n, firstDiff(got, want))
			}
		}
		if !bytes.Equal(b.read(l), pattern(n, 3)) || !bytes.Equal(b.read(r), pattern(n, 5)) {
			b.Errorf("poison of %d bytes changed another buffer", n)
		}
	}
}

func testDistinct(b *bench) {
	type span struct{ from, to uint64 }
	var spans []span
	var bufs []gpu.Buffer
	for i := range 20 {
		buf := b.holding("x", pattern(1+37*i, byte(i)))
		if buf.Ptr() == 0 {
			b.Fatal("address of a buffer is null")
		}
		if buf.Ptr()%16 != 0 {
			b.Errorf("address %#x: want a multiple of 16", buf.Ptr())
		}
		spans = append(spans, span{buf.Ptr(), buf.Ptr() + uint64(buf.Size())})
		bufs = append(bufs, buf)
	}
	slices.SortFunc(spans, func(x, y span) int { return int(int64(x.from) - int64(y.from)) })
	for i := range spans[1:] {
		if spans[i].to > spans[i+1].from {
			b.Errorf("buffers overlap: %#x..%#x and %#x", spans[i].from, spans[i].to, spans[i+1].from)
		}
	}
	for i, buf := range bufs {
		if !bytes.Equal(b.read(buf), pattern(1+37*i, byte(i))) {
			b.Errorf("buffer %d does not hold what was written to it", i)
		}
	}
}

func testBadSize(b *bench) {
	for _, n := range []int{-1, 1 << 50} {
		if _, err := b.dev.Alloc("x", n); err == nil {
			b.Errorf("alloc of %d bytes: got nil, want an error", n)
		}
	}
	b.works()
}

func testBadImage(b *bench) {
	for name, image := range map[string][]byte{
		"nil": nil, "empty": {}, "text": []byte("no module at all"), "zeros": make([]byte, 4096),
		"truncated": b.image[:min(len(b.image)/2, 40)], "html": []byte("<html></html>\n\x00"),
	} {
		if m, err := b.dev.Load(image); err == nil {
			b.Errorf("load of %s: got %v, want an error", name, m)
		}
	}
	b.works()
}

func testNoKernel(b *bench) {
	for _, symbol := range []string{"pc_no_such_kernel", "", "pc_axpy\x00", "pc_axp", "pc_axpyy"} {
		if _, err := b.mod.Kernel(symbol); !errors.Is(err, gpu.ErrNoKernel) {
			b.Errorf("kernel %q: got %v, want gpu.ErrNoKernel", symbol, err)
		}
	}
	b.works()
}

func floats(v ...float32) []byte {
	p := make([]byte, 0, 4*len(v))
	for _, f := range v {
		p = binary.LittleEndian.AppendUint32(p, math.Float32bits(f))
	}
	return p
}

// testTails runs axpy around multiples of the block. The values are small
// integers, so that the result is the same with a fused multiply-add.
func testTails(b *bench) {
	const block = 64
	for _, n := range []int{1, 31, 33, 63, 64, 65, 127, 129, 1000} {
		room := (n + block - 1) / block * block // as many elements as threads
		y, x, want := make([]float32, room), make([]float32, room), make([]float32, room)
		for i := range y {
			y[i], x[i] = float32(i%17-8), float32(i%13)
			want[i] = y[i]
			if i < n {
				want[i] = 3*x[i] + y[i]
			}
		}
		by, bx := b.holding("y", floats(y...)), b.holding("x", floats(x...))
		var args gpu.Args
		args.Ptr(by)
		args.Ptr(bx)
		args.Float32(3)
		args.Uint(uint64(n), 4)
		b.launch("pc_axpy", grid(uint32(room/block), block), args)
		if got, want := b.read(by), floats(want...); !bytes.Equal(got, want) {
			b.Errorf("n=%d: y differs from element %d", n, firstDiff(got, want)/4)
		}
		if !bytes.Equal(b.read(bx), floats(x...)) {
			b.Errorf("n=%d: x changed", n)
		}
	}
}

func testPacking(b *bench) {
	out := b.holding("out", make([]byte, 72))
	p := b.alloc("p", 16)
	var args gpu.Args
	args.Uint(0xa1, 1)
	args.Uint(0xb2b3, 2)
	args.Uint(0xc4c5c6c7, 4)
	args.Uint(0xd8d9dadbdcdddedf, 8)
	args.Uint(0xe0, 1)
	args.Float32(-1.5)
	args.Uint(0xf1f2, 2)
	args.Float64(math.Pi)
	args.Ptr(p)
	args.Ptr(out)
	b.launch("pc_pack", grid(1, 1), args)
	got := b.read(out)
	for i, want := range []uint64{
		0xa1, 0xb2b3, 0xc4c5c6c7, 0xd8d9dadbdcdddedf, 0xe0,
		uint64(math.Float32bits(-1.5)), 0xf1f2, math.Float64bits(math.Pi), p.Ptr(),
	} {
		if g := binary.LittleEndian.Uint64(got[8*i:]); g != want {
			b.Errorf("argument %d: got %#x, want %#x", i, g, want)
		}
	}
}

func testGeometry(b *bench) {
	for _, cfg := range []gpu.LaunchConfig{
		{Grid: gpu.Dim3{X: 1, Y: 1, Z: 1}, Block: gpu.Dim3{X: 1, Y: 1, Z: 1}},
		{Grid: gpu.Dim3{X: 5, Y: 1, Z: 1}, Block: gpu.Dim3{X: 67, Y: 1, Z: 1}},
		{Grid: gpu.Dim3{X: 2, Y: 3, Z: 4}, Block: gpu.Dim3{X: 5, Y: 3, Z: 2}},
		{Grid: gpu.Dim3{X: 1, Y: 7, Z: 2}, Block: gpu.Dim3{X: 1, Y: 32, Z: 3}},
		{Grid: gpu.Dim3{X: 3, Y: 1, Z: 1}, Block: gpu.Dim3{X: 1024, Y: 1, Z: 1}},
	} {
		out := b.alloc("out", int(48*cfg.Grid.Count()*cfg.Block.Count()))
		if err := out.Poison(0xff); err != nil {
			b.Fatal(err)
		}
		var args gpu.Args
		args.Ptr(out)
		b.launch("pc_geometry", cfg, args)
		got := b.read(out)
		g, k := cfg.Grid, cfg.Block
		wrong := 0
		each(g, func(bx, by, bz uint32) {
			each(k, func(tx, ty, tz uint32) {
				want := [12]uint32{bx, by, bz, tx, ty, tz, k.X, k.Y, k.Z, g.X, g.Y, g.Z}
				var have [12]uint32
				for i := range have {
					have[i] = binary.LittleEndian.Uint32(got[4*i:])
				}
				got = got[48:]
				if have != want && wrong < 3 {
					b.Errorf("grid %v block %v: got %v, want %v", g, k, have, want)
					wrong++
				}
			})
		})
	}
}

func testShared(b *bench) {
	for _, n := range []uint32{1, 32, 65, 256} {
		const blocks = 3
		in := make([]byte, 0, 4*n*blocks)
		want := make([]byte, 0, 4*n*blocks)
		for i := range n * blocks {
			in = binary.LittleEndian.AppendUint32(in, i)
			want = binary.LittleEndian.AppendUint32(want, i/n*n+n-1-i%n)
		}
		data := b.holding("data", in)
		var args gpu.Args
		args.Ptr(data)
		cfg := grid(blocks, n)
		cfg.Shared = int(4 * n)
		b.launch("pc_reverse", cfg, args)
		if got := b.read(data); !bytes.Equal(got, want) {
			b.Errorf("block of %d: differs from element %d", n, firstDiff(got, want)/4)
		}
	}
}

func testThreads(b *bench) {
	for _, cfg := range []gpu.LaunchConfig{
		grid(1, 1), grid(7, 100), {Grid: gpu.Dim3{X: 3, Y: 2, Z: 2}, Block: gpu.Dim3{X: 9, Y: 7, Z: 3}},
	} {
		n := b.holding("count", make([]byte, 4))
		var args gpu.Args
		args.Ptr(n)
		b.launch("pc_count", cfg, args)
		if got, want := uint64(binary.LittleEndian.Uint32(b.read(n))), cfg.Grid.Count()*cfg.Block.Count(); got != want {
			b.Errorf("grid %v block %v: got %d threads, want %d", cfg.Grid, cfg.Block, got, want)
		}
	}
}

type foreignKernel struct{}

func (foreignKernel) Name() string { return "foreign" }

// testBadLaunch asks for what no device can do: an error, of the call and
// not of the kernel, and the device goes on.
func testBadLaunch(b *bench) {
	n := b.holding("count", make([]byte, 4))
	var args gpu.Args
	args.Ptr(n)
	refused := func(name string, k gpu.Kernel, cfg gpu.LaunchConfig) {
		b.Helper()
		_, err := b.dev.Launch(b.Context(), k, cfg, args.Bytes())
		if err == nil {
			b.Errorf("%s: got nil, want an error", name)
		}
		if f, ok := errors.AsType[*gpu.Fault](err); ok {
			b.Errorf("%s: got the fault %v, want an error that is none", name, f)
		}
	}
	k := b.kernel("pc_count")
	refused("empty grid", k, grid(0, 32))
	refused("empty block", k, grid(1, 0))
	refused("block of 4096", k, grid(1, 4096))
	shared := grid(1, 32)
	shared.Shared = 1 << 30
	refused("1 GiB of shared memory", k, shared)
	shared.Shared = -1
	refused("negative shared memory", k, shared)
	refused("foreign kernel", foreignKernel{}, grid(1, 32))
	if got := b.read(n); !bytes.Equal(got, make([]byte, 4)) {
		b.Errorf("a refused launch counted threads: %x", got)
	}
	b.works()
}

func testCancelled(b *bench) {
	n := b.holding("count", make([]byte, 4))
	var args gpu.Args
	args.Ptr(n)
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if _, err := b.dev.Launch(ctx, b.kernel("pc_count"), grid(1, 32), args.Bytes()); !errors.Is(err, context.Canceled) {
		b.Errorf("launch with a cancelled context: got %v, want context.Canceled", err)
	}
	if got := b.read(n); !bytes.Equal(got, make([]byte, 4)) {
		b.Errorf("a cancelled launch counted threads: %x", got)
	}
	b.works()
}

func testModules(b *bench) {
	second, err := b.dev.Load(b.image)
	if err != nil {
		b.Fatalf("second load: %v", err)
	}
	k, err := second.Kernel("pc_count")
	if err != nil {
		b.Fatalf("kernel of the second module: %v", err)
	}
	n := b.holding("count", make([]byte, 4))
	var args gpu.Args
	args.Ptr(n)
	if _, err := b.dev.Launch(b.Context(), k, grid(1, 5), args.Bytes()); err != nil {
		b.Fatalf("launch: %v", err)
	}
	if got := binary.LittleEndian.Uint32(b.read(n)); got != 5 {
		b.Errorf("got %d threads, want 5", got)
	}
	if err := second.Close(); err != nil {
		b.Errorf("close of the second module: %v", err)
	}
	b.works() // through the first
}

// testGoroutines uses the device from many threads, one at a time.
func testGoroutines(b *bench) {
	n := b.holding("count", make([]byte, 4))
	k := b.kernel("pc_count")
	var args gpu.Args
	args.Ptr(n)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 4 {
				mu.Lock()
				_, err := b.dev.Launch(b.Context(), k, grid(1, 1), args.Bytes())
				buf, aerr := b.dev.Alloc("x", 64)
				var cerr error
				got := make([]byte, 64)
				if aerr == nil {
					cerr = errors.Join(buf.CopyIn(pattern(64, byte(i))), buf.CopyOut(got), buf.Free())
				}
				mu.Unlock()
				if err := errors.Join(err, aerr, cerr); err != nil {
					b.Errorf("goroutine %d: %v", i, err)
				} else if !bytes.Equal(got, pattern(64, byte(i))) {
					b.Errorf("goroutine %d: read back %x", i, got)
				}
			}
		})
	}
	wg.Wait()
	if got := binary.LittleEndian.Uint32(b.read(n)); got != 32 {
		b.Errorf("launches counted: got %d, want 32", got)
	}
}

func testClosed(b *bench) {
	buf := b.holding("x", pattern(16, 0))
	k := b.kernel("pc_count")
	dev := b.dev
	b.closed = true
	if err := dev.Close(); err != nil {
		b.Fatalf("close: %v", err)
	}
	var args gpu.Args
	args.Ptr(buf)
	for name, call := range map[string]func() error{
		"alloc":    func() error { _, err := dev.Alloc("y", 16); return err },
		"load":     func() error { _, err := dev.Load(b.image); return err },
		"launch":   func() error { _, err := dev.Launch(b.Context(), k, grid(1, 1), args.Bytes()); return err },
		"kernel":   func() error { _, err := b.mod.Kernel("pc_count"); return err },
		"copy in":  func() error { return buf.CopyIn(make([]byte, 16)) },
		"copy out": func() error { return buf.CopyOut(make([]byte, 16)) },
		"poison":   func() error { return buf.Poison(0) },
		"close":    dev.Close,
	} {
		if call() == nil {
			b.Errorf("%s after close: got nil, want an error", name)
		}
	}
	again, err := b.h.Open()
	if err != nil {
		b.Fatalf("open after close: %v", err)
	}
	if err := again.Close(); err != nil {
		b.Errorf("close of the second device: %v", err)
	}
}

// FaultKernels are the kernels of Source that do not run to their end.
var FaultKernels = []string{"pc_trap", "pc_wild", "pc_spin"}

// Fault launches one of FaultKernels on a device of its own: the launch
// must end with a *gpu.Fault, in time, and where it says Lost every later
// call must fail. On a driver a lost device stays lost for the process,
// so an implementation runs Fault in a process of its own.
func Fault(t testing.TB, h Harness, symbol string) {
	b := open(t, h)
	dev := b.dev
	b.closed = true
	defer dev.Close() // may fail on a lost device, and must return
	word := b.holding("word", make([]byte, 4))
	var args gpu.Args
	if symbol == "pc_wild" {
		args.Uint(0x10000, 8) // below everything that any device maps
	} else {
		args.Ptr(word)
	}
	k := b.kernel(symbol)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	r, err := dev.Launch(ctx, k, grid(1, 1), args.Bytes())
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("launch of %s with a limit of 1 s took %v", symbol, d)
	}
	f, ok := errors.AsType[*gpu.Fault](err)
	if !ok {
		if err == nil && len(r.Findings) > 0 {
			return // an interpreter may go on behind a stray access it reports
		}
		t.Fatalf("launch of %s: got %v, want a *gpu.Fault", symbol, err)
	}
	t.Log(f)
	if f.Kernel != symbol || f.Reason == "" {
		t.Errorf("got %+v, want kernel %s and a reason", f, symbol)
	}
	if symbol == "pc_spin" && ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want it to wrap context.DeadlineExceeded", err)
	}
	if !f.Lost {
		b.works()
		return
	}
	for name, call := range map[string]func() error{
		"alloc":    func() error { _, err := dev.Alloc("x", 16); return err },
		"copy out": func() error { return word.CopyOut(make([]byte, 4)) },
		"launch":   func() error { _, err := dev.Launch(t.Context(), k, grid(1, 1), args.Bytes()); return err },
	} {
		if err := call(); !errors.Is(err, gpu.ErrLost) {
			t.Errorf("%s on a lost device: got %v, want gpu.ErrLost", name, err)
		}
	}
}
