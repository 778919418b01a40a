package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// Options say how a run is made.
type Options struct {
	Seed    uint64
	Level   ops.Level
	Repeat  int           // launches of each case, at least 2: each has another poison
	Jobs    int           // workers; 0 is one for each processor
	Timeout time.Duration // of one case on one target; 0 is none
	Set     []Override
	Against string // target that is the counterpart of HIP targets; "" chooses
	// Progress, if not nil, is called after each case. Calls do not overlap.
	Progress func(Progress)
	// Output, if not nil, is given each output that passed. Calls do not
	// overlap.
	Output func(target string, p *ops.Problem, out *tensor.Tensor)
}

// A Progress says how far a run is.
type Progress struct {
	Case        *ops.Case
	Done, Total int      // cases
	Results     []Result // of Case, one for each target
	OpDone      bool     // Case was the last to finish of its op
}

// Execute runs cases on targets and judges the outputs. Cancelling ctx ends
// it early with what is done and ctx's error. An error other than ctx's
// means that nothing could be run as asked.
func Execute(ctx context.Context, cases []ops.Case, targets []Target, opts Options) (*Run, error) {
	if len(cases) == 0 || len(targets) == 0 {
		return nil, errors.New("nothing to run: no cases or no targets")
	}
	if err := CheckOverrides(cases, opts.Set); err != nil {
		return nil, err
	}
	opts.Repeat = max(opts.Repeat, len(poisons))
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	jobs = min(jobs, len(cases))

	e := &execution{cases: cases, targets: targets, opts: opts, results: make([][]Result, len(cases)), left: map[*ops.Op]int{}}
	for i := range cases {
		e.left[cases[i].Op]++
	}
	e.info = make([]TargetInfo, len(targets))
	e.shared = make([]*sharedSession, len(targets))
	for i := range targets {
		e.info[i] = TargetInfo{Name: targets[i].Name, Info: targets[i].Device, FlagsUsed: targets[i].Flags, Images: map[string]string{}}
		e.shared[i] = &sharedSession{}
	}

	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() { e.work(ctx, next) })
	}
feed:
	for i := range cases {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	for _, s := range e.shared {
		if s.session != nil {
			s.session.close()
		}
	}
	run := &Run{Schema: Schema, Env: Env{Seed: opts.Seed, Level: opts.Level.String(), Cases: len(cases), Targets: e.info}}
	for _, rs := range e.results {
		run.Results = append(run.Results, rs...)
	}
	if e.err != nil {
		return run, e.err
	}
	return run, ctx.Err()
}

type execution struct {
	cases   []ops.Case
	targets []Target
	opts    Options
	shared  []*sharedSession // of exclusive targets

	mu      sync.Mutex // guards what follows
	info    []TargetInfo
	results [][]Result
	left    map[*ops.Op]int
	done    int
	err     error
}

// A sharedSession is the one session of an exclusive target.
type sharedSession struct {
	mu      sync.Mutex
	session *session
	err     error
	opened  bool
}

// work runs the cases whose indices arrive on next.
func (e *execution) work(ctx context.Context, next <-chan int) {
	own := make([]*sharedSession, len(e.targets))
	for i := range own {
		own[i] = e.shared[i]
		if !e.targets[i].Exclusive {
			own[i] = &sharedSession{}
		}
	}
	defer func() {
		for i, s := range own {
			if s != e.shared[i] && s.session != nil {
				s.session.close()
			}
		}
	}()
	for i := range next {
		if ctx.Err() != nil {
			continue
		}
		results, err := e.runCase(ctx, &e.cases[i], own)
		if ctx.Err() != nil {
			continue // a case that was cut off has no results
		}
		e.finish(i, results, err)
	}
}

func (e *execution) finish(i int, results []Result, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	e.results[i] = results
	e.done++
	c := &e.cases[i]
	e.left[c.Op]--
	if e.opts.Progress != nil {
		e.opts.Progress(Progress{Case: c, Done: e.done, Total: len(e.cases), Results: results, OpDone: e.left[c.Op] == 0})
	}
}

// runCase binds a case, computes its truth, runs it everywhere and
// judges. An error is one of usage, such as an override that overflows.
func (e *execution) runCase(ctx context.Context, c *ops.Case, sessions []*sharedSession) ([]Result, error) {
	name := c.Name()
	p := c.Op.Bind(c, ops.NewRand(e.opts.Seed, name))
	q, changes, err := apply(p, e.opts.Set)
	if err != nil {
		return nil, err
	}
	want := c.Op.Expect(p)
	var bytes, flops int64
	if c.Op.Work != nil {
		bytes, flops = c.Op.Work(p)
	}
	outs := make([]collected, len(e.targets))
	for i := range e.targets {
		outs[i] = e.collectOn(ctx, i, sessions[i], q)
	}
	j := judging{problem: p, want: want, targets: e.targets, outs: outs, against: e.opts.Against}
	var results []Result
	for i := range e.targets {
		if outs[i].absent {
			continue
		}
		r := Result{
			Op: c.Op.Name, Family: c.Op.Family, Kernel: c.Op.Kernel(c.Variant), DType: c.Variant.String(),
			Case: name, Class: c.Class, Target: e.targets[i].Name, Changes: changes, Bytes: bytes, Flops: flops,
		}
		if err := j.judge(i, &r); err != nil {
			// The op's truth is at fault; that costs this case alone, and loudly.
			r.Status, r.Fault = compare.Fail, fmt.Sprintf("cannot be judged: %v", err)
		}
		results = append(results, r)
		if e.opts.Output != nil && r.Status == compare.Pass {
			e.mu.Lock()
			e.opts.Output(e.targets[i].Name, q, outs[i].out.Runs[0])
			e.mu.Unlock()
		}
	}
	return results, nil
}

// collected is what a target gave for a case.
type collected struct {
	out     *Output
	fault   error  // the kernel failed
	skipped string // it could not be tried
	absent  bool   // there is nothing to say
}

// collectOn runs q on target i.
func (e *execution) collectOn(ctx context.Context, i int, ss *sharedSession, q *ops.Problem) collected {
	if t := &e.targets[i]; t.Recorded != nil {
		out, err := t.Recorded(q)
		switch {
		case err == nil:
			return collected{out: &Output{Runs: []*tensor.Tensor{out}}}
		case t.Optional:
			return collected{absent: true}
		}
		return collected{skipped: err.Error()}
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	t := &e.targets[i]
	if !ss.opened {
		ss.opened = true
		ss.session, ss.err = open(t)
		e.mu.Lock()
		if ss.err != nil {
			e.info[i].Unavailable = ss.err.Error()
		} else {
			e.info[i].Info = ss.session.dev.Info()
		}
		e.mu.Unlock()
	}
	if ss.err != nil {
		return collected{skipped: ss.err.Error()}
	}
	if e.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.opts.Timeout, fmt.Errorf("no end after %v (--timeout)", e.opts.Timeout))
		defer cancel()
	}
	out, err := ss.session.collect(ctx, q, e.opts.Repeat, e.opts.Seed)
	e.mu.Lock()
	if h := ss.session.images[q.Case.Op.Family]; h != "" {
		e.info[i].Images[q.Case.Op.Family] = h
	}
	e.mu.Unlock()
	if err == nil {
		return collected{out: out}
	}
	var f *gpu.Fault
	if errors.As(err, &f) || errors.Is(err, context.DeadlineExceeded) {
		return collected{out: out, fault: err}
	}
	return collected{skipped: err.Error()}
}
