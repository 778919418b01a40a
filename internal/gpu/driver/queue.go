package driver

import (
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
}

// Rating implements gpu.Timer.
func (d *Device) Rating() (r gpu.Rating) {
	d.do(func() error {
		r = d.vendor.Rating()
		return nil
	})
	return r
}

// State implements gpu.Timer.
func (d *Device) State() (s gpu.State) {
	d.do(func() error {
		s = d.vendor.State()
		return nil
	})
	return s
}

// Prepare implements gpu.Timer.
func (d *Device) Prepare(k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Launch, error) {
	l, err := d.prepare(k, cfg, args)
	if err != nil {
		return nil, err
	}
	l.pin()
	return l, nil
}

// Enqueue implements gpu.Timer.
func (d *Device) Enqueue(ctx context.Context, f func(q gpu.Queue) error) error {
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
func (d *Device) startTiming() error {
	a, t := d.api, &d.timing
	if t.stream != 0 {
		return nil
	}
	for i := range t.events {
		if err := a.Check(a.EventCreate.Name, a.EventCreate.Call(&t.events[i], 0)); err != nil {
			return err
		}
	}
	return a.Check(a.StreamCreate.Name, a.StreamCreate.Call(&t.stream, streamNonBlocking))
}

// close gives back what startTiming and Hold made, on the thread.
func (t *timing) close(a *API) {
	if t.stream != 0 {
		a.StreamDestroy.Call(t.stream)
	}
	for _, e := range t.events {
		if e != 0 {
			a.EventDestroy.Call(e)
		}
	}
	if t.latch != nil {
		a.HostFree.Call(t.latch.Word())
	}
}

// A queue implements gpu.Queue, on the thread.
type queue struct {
	d    *Device
	name string // the kernel that was launched last
}

func (q *queue) Launch(l gpu.Launch) error {
	if g, ok := l.(*graph); ok && g.d == q.d {
		q.name = g.of.kernel.name
		return q.d.api.Check(q.d.api.GraphLaunch.Name, q.d.api.GraphLaunch.Call(g.exec, q.d.timing.stream))
	}
	ll, err := q.launch(l)
	if err != nil {
		return err
	}
	q.name = ll.kernel.name
	return q.d.start(ll, q.d.timing.stream)
}

// launch returns l where it is of the queue's device.
func (q *queue) launch(l gpu.Launch) (*launch, error) {
	ll, ok := l.(*launch)
	if !ok || ll.kernel.mod.dev != q.d {
		return nil, fmt.Errorf("kernel %s is of another device", l.Kernel().Name())
	}
	return ll, nil
}

// own returns b where it is a buffer of the queue's device with room for
// n bytes from at on.
func (q *queue) own(b gpu.Buffer, at, n int) (*buffer, error) {
	bb, ok := b.(*buffer)
	switch {
	case !ok || bb.dev != q.d:
		return nil, errors.New("buffer is of another device")
	case bb.freed:
		return nil, bb.errFreed()
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
	return a.Check(a.MemsetD8Async.Name, a.MemsetD8Async.Call(bb.ptr, pattern, uint64(bb.size), q.d.timing.stream))
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
	return a.Check(a.MemcpyDtoDAsync.Name, a.MemcpyDtoDAsync.Call(d.ptr+uint64(to), s.ptr+uint64(from), uint64(n), q.d.timing.stream))
}

func (q *queue) Mark(i int) error {
	a, t := q.d.api, &q.d.timing
	return a.Check(a.EventRecord.Name, a.EventRecord.Call(t.events[i], t.stream))
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
	r := a.StreamWaitValue32.Call(t.stream, t.word, t.latch.Next())
	if err := a.Check(a.StreamWaitValue32.Name, r); err != nil {
		t.broken = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		return t.broken
	}
	t.latch.Close()
	return nil
}

func (q *queue) makeLatch() error {
	a, t := q.d.api, &q.d.timing
	if a.StreamWaitValue32.Call == nil {
		return fmt.Errorf("%w: the driver has no %s", errors.ErrUnsupported, a.StreamWaitValue32.Name)
	}
	var word unsafe.Pointer
	err := a.Check(a.HostAlloc.Name, a.HostAlloc.Call(&word, 64, a.Pinned))
	if err == nil {
		if err = a.Check(a.HostGetDevicePointer.Name, a.HostGetDevicePointer.Call(&t.word, word, 0)); err != nil {
			a.HostFree.Call(word)
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
	err := a.Check(a.EventElapsedTime.Name, a.EventElapsedTime.Call(&ms, t.events[from], t.events[to]))
	return float64(ms) / 1e3, err
}
