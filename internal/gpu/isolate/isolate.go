// Package isolate runs the driver of a GPU in a child process: a device
// whose calls cross to a copy of this program, which makes them. What
// brings a driver down (a crash, a hang, a lost device) then ends the
// child and not the run, and a new child gets the device back.
//
// The child is this program again, with a hidden command that calls Serve.
// Requests and replies are frames (wire.go) on two pipes of their own, so
// that what libraries print disturbs nothing.
package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Host starts the child processes of a run, one for each place at a
// time. It is safe for use from several goroutines.
type Host struct {
	Exe  string   // the program
	Args []string // its hidden command, which calls Serve
	// Limit is how long a call other than a launch may take before the
	// child is ended; 0 is for ever. A launch has its own limit. LimitBy is
	// what sets it, for errors: a flag.
	Limit   time.Duration
	LimitBy string

	mu    sync.Mutex
	procs map[string]*process // by place
	locks []*os.File          // held by the children too
}

// Open opens the device at place, such as cuda:0, in a child process.
// Devices of one place share a child while it lives, so that the driver
// has one client. compiler, where it is not empty, is what Info reports as
// such. The error wraps gpu.ErrUnavailable where there is no such device.
func (h *Host) Open(place, compiler string) (gpu.Device, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.procs[place]
	if p == nil || !p.use() {
		var err error
		if p, err = h.start(place); err != nil {
			return nil, fmt.Errorf("starting a process for %s: %w", place, err)
		}
		if h.procs == nil {
			h.procs = map[string]*process{}
		}
		h.procs[place] = p
	}
	r, _, err := p.call(context.Background(), request{Call: callOpen, Name: place, Compiler: compiler}, nil, nil)
	if err != nil {
		p.leave()
		return nil, err
	}
	d := &device{p: p, id: r.Handle, info: r.Info}
	if r.Timer {
		return &timedDevice{d, r.Rating}, nil
	}
	return d, nil
}

// Try lets a child look for the devices of a backend, as in cuda, and
// returns what became of it where it did not live: a driver that brings
// down or holds up whoever asks it. Limit bounds it.
func (h *Host) Try(backend string) error {
	p, err := h.start(backend)
	if err != nil {
		return fmt.Errorf("starting a process for %s: %w", backend, err)
	}
	defer p.leave()
	_, _, err = p.call(context.Background(), request{Call: callProbe, Name: backend}, nil, nil)
	return err
}

// A Driver is what a child drives.
type Driver struct {
	Open  func(place string) (gpu.Device, error) // as in cuda:0
	Probe func(backend string)                   // looks for devices, as in cuda
}

// errClosed is that of a device's calls after its Close.
var errClosed = errors.New("device is closed")
