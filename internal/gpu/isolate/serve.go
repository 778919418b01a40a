package isolate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// The descriptors of a child's pipes: the first that exec.Cmd passes on.
const (
	requestFD = 3
	replyFD   = 4
)

// Child is what the hidden command runs: Serve on the pipes that a Host
// opened.
func Child(d Driver) error {
	r, w := os.NewFile(requestFD, "requests"), os.NewFile(replyFD, "replies")
	if _, err := r.Stat(); err != nil {
		return errors.New("isolate: this command is for paritycheck itself: there is no pipe to read requests from")
	}
	return Serve(r, w, d)
}

// Serve answers requests until they end: then the run is over or was
// killed, and a call that still runs is left to the end of the process.
func Serve(r io.Reader, w io.Writer, d Driver) error {
	s := &server{
		driver: d, w: w, requests: make(chan asked), failed: make(chan error, 3),
		devices: map[int]gpu.Device{}, buffers: map[int]gpu.Buffer{}, modules: map[int]gpu.Module{},
		kernels: map[int]gpu.Kernel{}, launches: map[int]gpu.Launch{},
	}
	go func() {
		for {
			var a asked
			var err error
			if a.body, err = readFrame(r, &a.request, nil, maxBody); err != nil {
				s.failed <- err
				return
			}
			s.requests <- a
		}
	}()
	go func() {
		for a := range s.requests {
			s.serve(a)
		}
	}()
	if err := <-s.failed; err != io.EOF {
		return fmt.Errorf("isolate: %w", err)
	}
	return nil
}

type asked struct {
	request
	body []byte
}

// A server is the child's side of devices. Handles are never used again.
type server struct {
	driver   Driver
	w        io.Writer
	requests chan asked
	failed   chan error

	last     int
	devices  map[int]gpu.Device
	buffers  map[int]gpu.Buffer
	modules  map[int]gpu.Module
	kernels  map[int]gpu.Kernel
	launches map[int]gpu.Launch
}

// add gives the device's thing a handle.
func add[T any](s *server, to map[int]T, v T) int {
	s.last++
	to[s.last] = v
	return s.last
}

// find is the thing of a handle.
func find[T any](in map[int]T, handle int) (T, error) {
	v, ok := in[handle]
	if !ok {
		return v, fmt.Errorf("isolate: no %T has handle %d", v, handle)
	}
	return v, nil
}

// reply answers the request seq.
func (s *server) reply(seq uint64, r reply, body []byte, err error) {
	r.Seq, r.Error = seq, pack(err)
	if err := writeFrame(s.w, r, body); err != nil {
		s.failed <- err
	}
}

func (s *server) serve(a asked) {
	if a.Call == callEnqueue {
		s.enqueue(a)
		return
	}
	r, body, err := s.do(a)
	s.reply(a.Seq, r, body, err)
}

func (s *server) do(a asked) (r reply, body []byte, err error) {
	switch a.Call {
	case callProbe:
		s.driver.Probe(a.Name)
		return r, nil, nil
	case callOpen:
		dev, err := s.driver.Open(a.Name)
		if err != nil {
			return r, nil, err
		}
		r.Handle, r.Info = add(s, s.devices, dev), dev.Info()
		if a.Compiler != "" {
			r.Info.Compiler = a.Compiler
		}
		if t, ok := dev.(gpu.Timer); ok {
			r.Timer, r.Rating = true, t.Rating()
		}
		return r, nil, nil
	}
	dev, err := find(s.devices, a.Device)
	if err != nil {
		return r, nil, err
	}
	switch a.Call {
	case callClose:
		delete(s.devices, a.Device)
		return r, nil, dev.Close()
	case callLoad:
		m, err := dev.Load(a.body)
		if err == nil {
			r.Handle = add(s, s.modules, m)
		}
		return r, nil, err
	case callAlloc:
		b, err := dev.Alloc(a.Name, a.Size)
		if err == nil {
			r.Handle, r.Ptr = add(s, s.buffers, b), b.Ptr()
		}
		return r, nil, err
	case callKernel, callUnload:
		m, err := find(s.modules, a.Module)
		if err != nil {
			return r, nil, err
		}
		if a.Call == callUnload {
			return r, nil, m.Close()
		}
		k, err := m.Kernel(a.Name)
		if err == nil {
			r.Handle = add(s, s.kernels, k)
		}
		return r, nil, err
	case callCopyIn, callCopyOut, callPoison, callFree:
		b, err := find(s.buffers, a.Buffer)
		if err != nil {
			return r, nil, err
		}
		return s.memory(a, b)
	case callLaunch:
		k, err := find(s.kernels, a.Kernel)
		if err == nil {
			r.Report, err = dev.Launch(context.Background(), k, a.Config, a.body)
		}
		return r, nil, err
	}
	r, err = s.timer(a, dev)
	return r, nil, err
}

// memory makes the calls of a buffer.
func (s *server) memory(a asked, b gpu.Buffer) (r reply, body []byte, err error) {
	switch a.Call {
	case callCopyIn:
		err = b.CopyIn(a.body)
	case callPoison:
		err = b.Poison(a.Pattern)
	case callFree:
		err = b.Free() // the handle stays, for the error of a second time
	case callCopyOut:
		body = make([]byte, b.Size())
		if err = b.CopyOut(body); err != nil {
			body = nil
		}
	}
	return r, body, err
}

// timer makes the calls of a gpu.Timer.
func (s *server) timer(a asked, dev gpu.Device) (r reply, err error) {
	t, ok := dev.(gpu.Timer)
	if !ok {
		return r, fmt.Errorf("isolate: the device makes no call %q", a.Call)
	}
	switch a.Call {
	case callState:
		state := t.State()
		r.State = &state
	case callPrepare:
		k, err := find(s.kernels, a.Kernel)
		if err != nil {
			return r, err
		}
		l, err := t.Prepare(k, a.Config, a.body)
		if err == nil {
			r.Handle = add(s, s.launches, l)
		}
		return r, err
	case callUnpin:
		l, err := find(s.launches, a.Launch)
		if err == nil {
			delete(s.launches, a.Launch)
			l.Free()
		}
		return r, err
	default:
		return r, fmt.Errorf("isolate: unknown call %q", a.Call)
	}
	return r, nil
}

// enqueue answers a request to begin queueing, and what follows until the
// end of it.
func (s *server) enqueue(a asked) {
	dev, err := find(s.devices, a.Device)
	if t, ok := dev.(gpu.Timer); ok {
		err = t.Enqueue(context.Background(), func(q gpu.Queue) error {
			s.reply(a.Seq, reply{}, nil, nil)
			for a = range s.requests {
				if a.Call == callDequeue {
					break
				}
				r, err := s.queue(a, q)
				s.reply(a.Seq, r, nil, err)
			}
			return nil
		})
	} else if err == nil {
		err = errors.New("isolate: the device has no clock")
	}
	s.reply(a.Seq, reply{}, nil, err) // to the end, or to a beginning that failed
}

// queue makes the calls of a gpu.Queue.
func (s *server) queue(a asked, q gpu.Queue) (r reply, err error) {
	switch a.Call {
	case callQueueLaunch:
		l, err := find(s.launches, a.Launch)
		if err == nil {
			err = q.Launch(l)
		}
		return r, err
	case callQueueRepeat:
		l, err := find(s.launches, a.Launch)
		if err != nil {
			return r, err
		}
		many, ok := q.(gpu.Repeater)
		if !ok {
			return r, fmt.Errorf("%w: the driver has no graphs", errors.ErrUnsupported)
		}
		if l, err = many.Repeat(l, a.Size); err == nil {
			r.Handle = add(s, s.launches, l)
		}
		return r, err
	case callQueueFill, callQueueCopy:
		b, err := find(s.buffers, a.Buffer)
		if err != nil || a.Call == callQueueFill {
			if err == nil {
				err = q.Fill(b, a.Pattern)
			}
			return r, err
		}
		src, err := find(s.buffers, a.Source)
		if err == nil {
			err = q.Copy(b, a.To, src, a.From, a.Size)
		}
		return r, err
	case callQueueMark:
		return r, q.Mark(a.To)
	case callQueueHold:
		return r, q.Hold()
	case callQueueRelease:
		r.Held = q.Release()
	case callQueueWait:
		return r, q.Wait()
	case callQueueElapsed:
		r.Elapsed, err = q.Elapsed(a.From, a.To)
		return r, err
	default:
		return r, fmt.Errorf("isolate: unknown call %q of a queue", a.Call)
	}
	return r, nil
}
