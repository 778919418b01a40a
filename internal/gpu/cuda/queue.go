package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// timing is what a device keeps for launches that are timed. All of it is
// of the thread.
type timing struct {
	stream uintptr
	events [gpu.Marks]uintptr
	latch  *clib.Latch // nil until it is made
	word   uint64      // its address for the device
	broken error       // why the stream cannot be held; nil where it can or that is not known
	nvml   func() gpu.State
}

// A launch implements gpu.Launch.
type launch struct {
	kernel *kernel
	cfg    gpu.LaunchConfig
	args   []byte
	params *params // pinned
	call   [11]uintptr
}

// streamArg is the place of the stream in launch.call.
const streamArg = 8

func (l *launch) Kernel() gpu.Kernel { return l.kernel }

// pin fixes the arguments in memory and makes those of cuLaunchKernel.
func (l *launch) pin() {
	l.params = newParams(l.args)
	g, b := l.cfg.Grid, l.cfg.Block
	l.call = [...]uintptr{
		l.kernel.handle, uintptr(g.X), uintptr(g.Y), uintptr(g.Z), uintptr(b.X), uintptr(b.Y), uintptr(b.Z),
		uintptr(l.cfg.Shared), 0, 0, l.params.extra(),
	}
}
func (l *launch) Free() { l.params.unpin() }

// Prepare implements gpu.Timer.
func (d *device) Prepare(k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Launch, error) {
	l, err := d.prepare(k, cfg, args)
	if err != nil {
		return nil, err
	}
	l.pin()
	return l, nil
}

func (d *device) prepare(k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (*launch, error) {
	kk, ok := k.(*kernel)
	if !ok || kk.mod.dev != d {
		return nil, fmt.Errorf("cuda: kernel %s is of another device", k.Name())
	}
	if cfg.Shared < 0 {
		return nil, fmt.Errorf("cuda: launching %s: shared memory must not be negative, is %d", kk.name, cfg.Shared)
	}
	// A hung launch outlives its caller, who may use the bytes again.
	return &launch{kernel: kk, cfg: cfg, args: bytes.Clone(args)}, nil
}

// Enqueue implements gpu.Timer.
func (d *device) Enqueue(ctx context.Context, f func(q gpu.Queue) error) error {
	q := &queue{d: d, name: "timed launches"}
	return d.watch(ctx, q.name, func() error {
		if err := d.startTiming(); err != nil {
			return err
		}
		// What was copied or filled before is on the default stream.
		if err := d.wait(q.name, 0); err != nil {
			return err
		}
		err := f(q)
		q.Release()
		if d.lost == nil {
			err = errors.Join(err, d.wait(q.name, d.timing.stream))
		}
		return err
	})
}

// startTiming makes the stream and the events, once.
func (d *device) startTiming() error {
	a, t := d.api, &d.timing
	if t.stream != 0 {
		return nil
	}
	for i := range t.events {
		if err := a.check("cuEventCreate", a.cuEventCreate(&t.events[i], 0)); err != nil {
			return err
		}
	}
	return a.check("cuStreamCreate", a.cuStreamCreate(&t.stream, _CU_STREAM_NON_BLOCKING))
}

// close gives back what startTiming and Hold made, on the thread.
func (t *timing) close(a *api) {
	if t.stream != 0 {
		a.cuStreamDestroy(t.stream)
	}
	for _, e := range t.events {
		if e != 0 {
			a.cuEventDestroy(e)
		}
	}
	if t.latch != nil {
		a.cuMemFreeHost(t.latch.Word())
	}
}

// A queue implements gpu.Queue, on the thread.
type queue struct {
	d    *device
	name string // the kernel that was launched last
}

func (q *queue) Launch(l gpu.Launch) error {
	if g, ok := l.(*graph); ok && g.d == q.d {
		q.name = g.of.kernel.name
		return q.d.api.check("cuGraphLaunch", q.d.api.cuGraphLaunch(g.exec, q.d.timing.stream))
	}
	ll, ok := l.(*launch)
	if !ok || ll.kernel.mod.dev != q.d {
		return fmt.Errorf("kernel %s is of another device", l.Kernel().Name())
	}
	q.name = ll.kernel.name
	return q.d.queue(ll, q.d.timing.stream)
}

// A graph is launches of one kernel as one.
type graph struct {
	d    *device
	of   *launch
	exec uintptr // CUgraphExec
}

func (g *graph) Kernel() gpu.Kernel { return g.of.kernel }

// Free is called off the queue, with none of the launches pending.
func (g *graph) Free() {
	g.d.do(func() error {
		g.d.api.cuGraphExecDestroy(g.exec)
		return nil
	})
}

// Repeat implements gpu.Repeater, by capturing the launches.
func (q *queue) Repeat(l gpu.Launch, n int) (gpu.Launch, error) {
	a, stream := q.d.api, q.d.timing.stream
	ll, ok := l.(*launch)
	if !ok || ll.kernel.mod.dev != q.d {
		return nil, fmt.Errorf("kernel %s is of another device", l.Kernel().Name())
	}
	for _, f := range []bool{a.cuStreamBeginCapture == nil, a.cuStreamEndCapture == nil, a.cuGraphInstantiate == nil, a.cuGraphLaunch == nil, a.cuGraphExecDestroy == nil, a.cuGraphDestroy == nil} {
		if f {
			return nil, fmt.Errorf("%w: the driver has no graphs", errors.ErrUnsupported)
		}
	}
	if err := a.check("cuStreamBeginCapture_v2", a.cuStreamBeginCapture(stream, _CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); err != nil {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	var err error
	for range n {
		if err = q.d.queue(ll, stream); err != nil {
			break
		}
	}
	var captured uintptr
	if e := a.check("cuStreamEndCapture", a.cuStreamEndCapture(stream, &captured)); err == nil {
		err = e
	}
	if captured != 0 {
		defer a.cuGraphDestroy(captured)
	}
	g := &graph{d: q.d, of: ll}
	if err == nil {
		err = a.check("cuGraphInstantiateWithFlags", a.cuGraphInstantiate(&g.exec, captured, 0))
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// own returns b where it is a buffer of the queue's device with room for
// n bytes from at on.
func (q *queue) own(b gpu.Buffer, at, n int) (*buffer, error) {
	bb, ok := b.(*buffer)
	switch {
	case !ok || bb.dev != q.d:
		return nil, errors.New("buffer is of another device")
	case bb.freed:
		return nil, fmt.Errorf("buffer %s is freed", bb.name)
	case at < 0 || n < 0 || n > bb.size || at > bb.size-n:
		return nil, fmt.Errorf("%d bytes from %d on are not in %s, which has %d", n, at, bb.name, bb.size)
	}
	return bb, nil
}

func (q *queue) Fill(b gpu.Buffer, pattern byte) error {
	bb, err := q.own(b, 0, b.Size())
	if err != nil || bb.size == 0 {
		return err
	}
	a := q.d.api
	return a.check("cuMemsetD8Async", a.cuMemsetD8Async(bb.ptr, pattern, uint64(bb.size), q.d.timing.stream))
}

func (q *queue) Copy(dst gpu.Buffer, to int, src gpu.Buffer, from, n int) error {
	d, err := q.own(dst, to, n)
	if err != nil {
		return err
	}
	s, err := q.own(src, from, n)
	if err != nil || n == 0 {
		return err
	}
	a := q.d.api
	return a.check("cuMemcpyDtoDAsync_v2", a.cuMemcpyDtoDAsync(d.ptr+uint64(to), s.ptr+uint64(from), uint64(n), q.d.timing.stream))
}

func (q *queue) Mark(i int) error {
	a, t := q.d.api, &q.d.timing
	return a.check("cuEventRecord", a.cuEventRecord(t.events[i], t.stream))
}

// Hold lets the stream wait for a word of host memory.
func (q *queue) Hold() error {
	a, t := q.d.api, &q.d.timing
	if t.broken != nil {
		return t.broken
	}
	if t.latch == nil {
		if t.broken = q.makeLatch(); t.broken != nil {
			return t.broken
		}
	}
	r := a.cuStreamWaitValue32(t.stream, t.word, t.latch.Next(), _CU_STREAM_WAIT_VALUE_GEQ)
	if err := a.check("cuStreamWaitValue32", r); err != nil {
		t.broken = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		return t.broken
	}
	t.latch.Close()
	return nil
}

func (q *queue) makeLatch() error {
	a, t := q.d.api, &q.d.timing
	if a.cuStreamWaitValue32 == nil {
		return fmt.Errorf("%w: the driver has no cuStreamWaitValue32", errors.ErrUnsupported)
	}
	var word unsafe.Pointer
	err := a.check("cuMemHostAlloc", a.cuMemHostAlloc(&word, 64, _CU_MEMHOSTALLOC_DEVICEMAP))
	if err == nil {
		if err = a.check("cuMemHostGetDevicePointer_v2", a.cuMemHostGetDevicePointer(&t.word, word, 0)); err != nil {
			a.cuMemFreeHost(word)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	t.latch = clib.NewLatch(word)
	return nil
}

func (q *queue) Release() bool {
	t := &q.d.timing
	return t.latch != nil && t.latch.Release()
}

func (q *queue) Wait() error { return q.d.wait(q.name, q.d.timing.stream) }

func (q *queue) Elapsed(from, to int) (float64, error) {
	a, t := q.d.api, &q.d.timing
	var ms float32
	err := a.check("cuEventElapsedTime", a.cuEventElapsedTime(&ms, t.events[from], t.events[to]))
	return float64(ms) / 1e3, err
}

// coresPerSM is how many f32 and f64 operations a multiprocessor starts
// in a clock, by compute capability: CUDA C++ Programming Guide, table
// "Throughput of Native Arithmetic Instructions".
var coresPerSM = map[string][2]float64{
	"sm_50": {128, 4}, "sm_52": {128, 4}, "sm_53": {128, 4},
	"sm_60": {64, 32}, "sm_61": {128, 4}, "sm_62": {128, 4},
	"sm_70": {64, 32}, "sm_72": {64, 32}, "sm_75": {64, 2},
	"sm_80": {64, 32}, "sm_86": {128, 2}, "sm_87": {128, 2}, "sm_89": {128, 2},
	"sm_90": {128, 64}, "sm_100": {128, 64}, "sm_120": {128, 2},
}

// Rating implements gpu.Timer.
func (d *device) Rating() gpu.Rating {
	var cache, sms, kilohertz int32
	err := d.do(func() error {
		// What a driver does not know stays 0.
		d.api.cuDeviceGetAttribute(&cache, _CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, d.handle)
		d.api.cuDeviceGetAttribute(&sms, _CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d.handle)
		d.api.cuDeviceGetAttribute(&kilohertz, _CU_DEVICE_ATTRIBUTE_CLOCK_RATE, d.handle)
		return nil
	})
	if err != nil {
		return gpu.Rating{}
	}
	cores := coresPerSM[d.info.Arch]
	clock := 2 * float64(sms) * float64(kilohertz) * 1e3 // a fused multiply-add is two operations
	return gpu.Rating{Cache: int(cache), F32: clock * cores[0], F64: clock * cores[1]}
}
