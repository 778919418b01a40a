package clib

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Thread runs functions on one OS thread, one after another. CUDA's
// current context and HIP's current device belong to a thread.
type Thread struct {
	jobs chan func()

	mu    sync.Mutex // serialises Do and Close
	state error      // why no function can run any more
}

// The reasons for which a Thread runs nothing.
var (
	ErrClosed = errors.New("device is closed")
	ErrStuck  = fmt.Errorf("%w: a call into the driver has not returned", gpu.ErrLost)
)

// NewThread starts a thread.
func NewThread() *Thread {
	t := &Thread{jobs: make(chan func())}
	go func() {
		// Never unlocked: the thread ends with the goroutine, and its
		// state in the driver with it.
		runtime.LockOSThread()
		for f := range t.jobs {
			f()
		}
	}()
	return t
}

// Do runs f on the thread and waits for it. Where ctx is done first, Do
// leaves f running, returns the cause, and the thread is stuck for good:
// nothing can interrupt a C function.
func (t *Thread) Do(ctx context.Context, f func()) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil {
		return t.state
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := make(chan struct{})
	t.jobs <- func() {
		defer close(done)
		f()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done: // both at once: the work is done
		return nil
	default:
		t.state = ErrStuck
		return context.Cause(ctx)
	}
}

// Stuck says whether a function was left running.
func (t *Thread) Stuck() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == ErrStuck
}

// Close runs last on the thread and ends it. On a stuck thread it does
// neither.
func (t *Thread) Close(last func()) error {
	if err := t.Do(context.Background(), last); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil {
		return t.state
	}
	t.state = ErrClosed
	close(t.jobs)
	return nil
}
