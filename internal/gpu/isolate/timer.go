package isolate

import (
	"context"
	"errors"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A timedDevice is a device that is a gpu.Timer in the child. What it
// queues crosses call by call; the clock is the device's, which a queue
// that is held does not let see the host.
type timedDevice struct {
	*device
	rating gpu.Rating
}

func (d *timedDevice) Rating() gpu.Rating { return d.rating }

func (d *timedDevice) State() gpu.State {
	r, err := d.call(request{Call: callState}, nil)
	if err != nil || r.State == nil {
		return gpu.State{}
	}
	return *r.State
}

// Prepare implements gpu.Timer.
func (d *timedDevice) Prepare(k gpu.Kernel, cfg gpu.LaunchConfig, args []byte) (gpu.Launch, error) {
	kk, err := d.own(k)
	if err != nil {
		return nil, err
	}
	r, err := d.call(request{Call: callPrepare, Kernel: kk.id, Name: kk.name, Config: cfg}, args)
	if err != nil {
		return nil, err
	}
	return &launch{kk, r.Handle}, nil
}

// A launch is prepared in the child.
type launch struct {
	kernel *kernel
	id     int
}

func (l *launch) Kernel() gpu.Kernel { return l.kernel }

func (l *launch) Free() {
	l.kernel.mod.dev.call(request{Call: callUnpin, Launch: l.id}, nil)
}

// Enqueue implements gpu.Timer.
func (d *timedDevice) Enqueue(ctx context.Context, f func(q gpu.Queue) error) error {
	if d.closed {
		return errClosed
	}
	d.p.mu.Lock()
	defer d.p.mu.Unlock()
	q := &queue{d: d.device, ctx: ctx}
	if _, err := q.call(request{Call: callEnqueue}); err != nil {
		return err
	}
	ferr := f(q)
	_, err := q.call(request{Call: callDequeue})
	if f, ok := errors.AsType[*gpu.Fault](ferr); ok {
		return f // what comes after it tells that the device is lost
	}
	switch {
	case ferr == nil:
		return err
	case err == nil || errors.Is(ferr, err):
		return ferr
	}
	return errors.Join(ferr, err)
}

// A queue implements gpu.Queue while the process is held by Enqueue.
type queue struct {
	d    *device
	ctx  context.Context // of Enqueue
	name string          // the kernel that was launched last
}

func (q *queue) call(r request) (reply, error) {
	r.Device = q.d.id
	if r.Name == "" {
		r.Name = q.name
	}
	answer, _, err := q.d.p.callLocked(q.ctx, r, nil, nil)
	return answer, err
}

func (q *queue) Launch(l gpu.Launch) error {
	ll, err := q.launch(l)
	if err != nil {
		return err
	}
	q.name = ll.kernel.name
	_, err = q.call(request{Call: callQueueLaunch, Launch: ll.id})
	return err
}

// launch is l where it is of the queue's device.
func (q *queue) launch(l gpu.Launch) (*launch, error) {
	if ll, ok := l.(*launch); ok && ll.kernel.mod.dev == q.d {
		return ll, nil
	}
	return nil, fmt.Errorf("kernel %s is of another device", l.Kernel().Name())
}

// Repeat implements gpu.Repeater.
func (q *queue) Repeat(l gpu.Launch, n int) (gpu.Launch, error) {
	ll, err := q.launch(l)
	if err != nil {
		return nil, err
	}
	r, err := q.call(request{Call: callQueueRepeat, Launch: ll.id, Size: n})
	if err != nil {
		return nil, err
	}
	return &launch{ll.kernel, r.Handle}, nil
}

// own is b where it is a buffer of the queue's device.
func (q *queue) own(b gpu.Buffer) (*buffer, error) {
	if bb, ok := b.(*buffer); ok && bb.dev == q.d {
		return bb, nil
	}
	return nil, errors.New("buffer is of another device")
}

func (q *queue) Fill(b gpu.Buffer, pattern byte) error {
	bb, err := q.own(b)
	if err == nil {
		_, err = q.call(request{Call: callQueueFill, Buffer: bb.id, Pattern: pattern})
	}
	return err
}

func (q *queue) Copy(dst gpu.Buffer, to int, src gpu.Buffer, from, n int) error {
	d, err := q.own(dst)
	if err != nil {
		return err
	}
	s, err := q.own(src)
	if err == nil {
		_, err = q.call(request{Call: callQueueCopy, Buffer: d.id, Source: s.id, To: to, From: from, Size: n})
	}
	return err
}

func (q *queue) Mark(i int) error {
	_, err := q.call(request{Call: callQueueMark, To: i})
	return err
}

func (q *queue) Hold() error {
	_, err := q.call(request{Call: callQueueHold})
	return err
}

func (q *queue) Release() bool {
	r, err := q.call(request{Call: callQueueRelease})
	return err == nil && r.Held
}

func (q *queue) Wait() error {
	_, err := q.call(request{Call: callQueueWait})
	return err
}

func (q *queue) Elapsed(from, to int) (float64, error) {
	r, err := q.call(request{Call: callQueueElapsed, From: from, To: to})
	return r.Elapsed, err
}
