package isolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A process is a child.
type process struct {
	place  string
	host   *Host
	cmd    *exec.Cmd
	w, r   *os.File // of requests, of replies
	said   said
	exited chan struct{} // closed when cmd has been waited for

	mu      sync.Mutex // one call at a time
	seq     uint64
	devices int   // open in the child
	dead    error // why no call can be made any more; wraps gpu.ErrLost
}

// endTime is how long a child whose pipes are closed has to end by itself.
const endTime = 5 * time.Second

// start starts a child for place.
func (h *Host) start(place string) (*process, error) {
	reqR, reqW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	repR, repW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, reqR.Close(), reqW.Close())
	}
	p := &process{place: place, host: h, w: reqW, r: repR, exited: make(chan struct{}), devices: 1}
	p.cmd = exec.Command(h.Exe, h.Args...)
	// Without the stacks of Go, the last words are the driver's.
	p.cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	p.cmd.ExtraFiles = append([]*os.File{reqR, repW}, h.locks...)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.WaitDelay = endTime
	ownGroup(p.cmd) // Ctrl-C is for the run, which ends its children
	err = p.cmd.Start()
	reqR.Close()
	repW.Close()
	if err != nil {
		reqW.Close()
		repR.Close()
		return nil, err
	}
	go func() {
		p.cmd.Wait() // its state says how it ended
		close(p.exited)
	}()
	return p, nil
}

// use takes part in the process for one more device, unless it is dead.
func (p *process) use() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil || p.devices == 0 {
		return false
	}
	p.devices++
	return true
}

// leave ends the process where its last device has left.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.devices--; p.devices > 0 {
		return
	}
	p.w.Close() // it ends at the end of its requests
	p.await()
	p.r.Close()
}

// await waits for the end of the process, which it brings about where it
// does not come by itself.
func (p *process) await() {
	select {
	case <-p.exited:
	case <-time.After(endTime):
		p.kill()
	}
}

// kill ends the process. One that the kernel cannot end, since it is in a
// call of the driver's that cannot be interrupted, is left behind.
func (p *process) kill() {
	p.cmd.Process.Kill()
	select {
	case <-p.exited:
	case <-time.After(endTime):
	}
}

// call sends q with a body and waits for its reply, whose body is read
// into into, and returns that body's length. Where ctx ends first, where no
// answer comes in the limit of a call other than a launch, where the
// process dies or answers nonsense, it is ended, the device is lost and the
// error is a *gpu.Fault.
func (p *process) call(ctx context.Context, q request, body, into []byte) (reply, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.callLocked(ctx, q, body, into)
}

// callLocked is call while p.mu is held.
func (p *process) callLocked(ctx context.Context, q request, body, into []byte) (reply, int, error) {
	if p.dead != nil {
		return reply{}, 0, p.dead
	}
	launch := asLong(q.Call)
	if limit := p.host.Limit; !launch && limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("no end after %v (%s)", limit, p.host.LimitBy))
		defer cancel()
	}
	if ctx.Err() != nil {
		return reply{}, 0, context.Cause(ctx)
	}
	p.seq++
	q.Seq = p.seq
	r, n, err := p.exchange(ctx, q, body, into)
	if err == nil {
		return r, n, r.Error.unpack()
	}
	f := &gpu.Fault{Lost: true}
	if launch {
		f.Kernel = q.Name
	}
	if _, ok := errors.AsType[*frameError](err); ok {
		p.kill()
		f.Reason = fmt.Sprintf("the process that drives %s answered nonsense: %v", p.place, err)
		f.Err = err
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		p.kill()
		f.Err = context.Cause(ctx)
		if f.Reason = fmt.Sprintf("did not end: %v", f.Err); !launch {
			f.Reason = fmt.Sprintf("%s of the driver of %s %s", described(q), p.place, f.Reason)
		}
	} else {
		p.await()
		f.Reason, f.Outside = p.obituary(q)
		f.Err = err
	}
	p.dead = fmt.Errorf("%w: %s", gpu.ErrLost, f.Reason)
	return reply{}, 0, f
}

// described names a call.
func described(q request) string {
	if q.Name == "" || asLong(q.Call) {
		return q.Call
	}
	return q.Call + " of " + q.Name
}

// exchange writes a request and reads its reply while ctx lasts.
func (p *process) exchange(ctx context.Context, q request, body, into []byte) (r reply, n int, err error) {
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		p.w.SetWriteDeadline(past)
		p.r.SetReadDeadline(past)
		close(cut)
	})
	defer func() {
		if !stop() {
			<-cut
			if err == nil { // it came just in time
				err = errors.Join(p.w.SetWriteDeadline(time.Time{}), p.r.SetReadDeadline(time.Time{}))
			}
		}
	}()
	if err := writeFrame(p.w, q, body); err != nil {
		return r, 0, err
	}
	got, err := readFrame(p.r, &r, into, uint64(len(into)))
	if err == nil && r.Seq != q.Seq {
		err = &frameError{fmt.Sprintf("reply %d to request %d", r.Seq, q.Seq)}
	}
	return r, len(got), err
}

// obituary says how a process ended by itself during a call, and whether it
// was ended from outside, which says nothing of the kernel.
func (p *process) obituary(q request) (text string, outside bool) {
	text = fmt.Sprintf("the process that drives %s ", p.place)
	state := p.cmd.ProcessState
	select {
	case <-p.exited:
	default:
		return text + "closed its pipe and does not end", false
	}
	switch {
	case killedOutside(state):
		return text + "was killed from outside", true
	case state.Success():
		text += fmt.Sprintf("ended with exit status 0 during %s, without an answer", described(q))
	default:
		text += fmt.Sprintf("ended during %s: %v", described(q), state)
	}
	if words := clib.LastWords(p.said.String()); words != "" {
		text += ": " + words
	}
	return text, false
}

// said keeps the end of what a child prints.
type said struct {
	mu sync.Mutex
	b  []byte
}

// saidMost is how much of it is kept, at most.
const saidMost = 64 << 10

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, b...)
	if n := len(s.b) - saidMost; n > 0 {
		s.b = append(s.b[:0], s.b[n:]...)
	}
	return len(b), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.ToValidUTF8(s.b, []byte("?")))
}

var _ io.Writer = (*said)(nil)
