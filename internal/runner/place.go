package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
)

// A place is hardware: the exclusive targets that run on it, of which one
// launches at a time, in plan order. What a case does to it costs that case
// alone where the targets reopen; each family begins with a new device.
type place struct {
	targets []int // indices

	mu     sync.Mutex
	turn   int          // whose it is
	passed map[int]bool // turns beyond it that were not used
	moved  *sync.Cond

	// What follows is of the case whose turn it is.
	family   string
	sessions map[int]*session // by target
	failed   map[int]error    // why a target cannot be opened
	suspect  error            // what lost the device: it is probed before it is used again
	hung     map[hangKey]int  // cases that did not end
}

type hangKey struct {
	target int
	kernel string
}

// maxHangs is how many cases of a kernel may run into their limit: then it
// is not launched any more, since each of them takes all of --timeout.
const maxHangs = 2

// maxTries is how often a case is tried on a device that something outside
// takes away.
const maxTries = 3

// placesOf groups exclusive targets.
func placesOf(targets []Target) []*place {
	var list []*place
	by := map[string]*place{}
	for i := range targets {
		if !targets[i].Exclusive {
			continue
		}
		name := targets[i].Place
		if name == "" {
			name = "target " + targets[i].Name
		}
		p := by[name]
		if p == nil {
			p = &place{passed: map[int]bool{}, sessions: map[int]*session{}, failed: map[int]error{}, hung: map[hangKey]int{}}
			p.moved = sync.NewCond(&p.mu)
			by[name] = p
			list = append(list, p)
		}
		p.targets = append(p.targets, i)
	}
	return list
}

// await waits for a turn, and reports whether it came before ctx ended.
func (p *place) await(ctx context.Context, turn int) bool {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.moved.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.turn != turn && ctx.Err() == nil {
		p.moved.Wait()
	}
	return ctx.Err() == nil
}

// pass ends a turn, used or not.
func (p *place) pass(turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn < p.turn {
		return
	}
	p.passed[turn] = true
	for p.passed[p.turn] {
		delete(p.passed, p.turn)
		p.turn++
	}
	p.moved.Broadcast()
}

// close closes the devices.
func (p *place) close() {
	for i, s := range p.sessions {
		s.close()
		delete(p.sessions, i)
	}
}

// recall takes over what an earlier part of the run found out about
// hangs.
func (p *place) recall(results []Result, targets []Target) {
	for _, r := range results {
		for _, i := range p.targets {
			if r.Target == targets[i].Name && strings.Contains(r.Fault, hangWords) {
				p.hung[hangKey{i, r.Kernel}]++
			}
		}
	}
}

// hangWords are in the fault of a case that ran into its limit.
const hangWords = "(--timeout)"

// collectAt runs q on target i of p, whose turn it is.
func (e *execution) collectAt(ctx context.Context, p *place, i int, q *ops.Problem) collected {
	t := &e.targets[i]
	if family := q.Case.Op.Family; t.Reopens && p.family != family {
		p.close()
		p.family = family
	}
	hang := hangKey{i, q.Case.Op.Kernel(q.Case.Variant)}
	if n := p.hung[hang]; n >= maxHangs {
		return collected{skipped: fmt.Sprintf("not run: %d cases of %s did not end before it", n, hang.kernel)}
	}
	for try := 1; ; try++ {
		s, err := e.at(p, i)
		if err != nil {
			return collected{skipped: err.Error()}
		}
		out, err := e.collect(ctx, i, s, q)
		f, isFault := errors.AsType[*gpu.Fault](err)
		lost := isFault && f.Lost || errors.Is(err, gpu.ErrLost)
		if ctx.Err() != nil || err == nil {
			return outcome(out, err)
		}
		if isFault && strings.Contains(err.Error(), hangWords) {
			p.hung[hang]++
		}
		if lost && !t.Reopens {
			for _, other := range p.sessions {
				other.lost = err
			}
		}
		if lost && t.Reopens {
			p.close()
			p.suspect = err
			// The case is not to blame for what came from outside, or for a
			// device that was gone before its launch.
			if (!isFault || f.Outside) && try < maxTries {
				continue
			}
		}
		return outcome(out, err)
	}
}

// at is the session of target i, opened where it is not.
func (e *execution) at(p *place, i int) (*session, error) {
	if err := p.failed[i]; err != nil {
		return nil, err
	}
	if s := p.sessions[i]; s != nil {
		return s, nil
	}
	for try := 1; ; try++ {
		s, err := e.reopen(p, i)
		if err == nil {
			p.sessions[i] = s
			return s, nil
		}
		if f, ok := errors.AsType[*gpu.Fault](err); ok && f.Outside && try < maxTries {
			continue
		}
		p.failed[i] = err
		return nil, err
	}
}

// reopen opens target i, and probes it where its device was lost.
func (e *execution) reopen(p *place, i int) (*session, error) {
	s, err := e.open(i)
	if err != nil || p.suspect == nil {
		return s, err
	}
	if err := probe(s.dev); err != nil {
		s.close()
		return nil, fmt.Errorf("%s is not usable any more: %w; it was lost before: %v", e.targets[i].Name, err, p.suspect)
	}
	p.suspect = nil
	return s, nil
}

// probe checks that a device which was lost keeps memory again.
func probe(dev gpu.Device) error {
	want := bytes.Repeat([]byte("probe 01"), 512)
	b, err := dev.Alloc("probe", len(want))
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if err := errors.Join(b.CopyIn(want), b.CopyOut(got)); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("its memory does not keep what is written")
	}
	return b.Free()
}
