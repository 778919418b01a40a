package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	// Tuned launches the bundled kernels as they are timed, in place of
	// candle's launch.
	Tuned   bool
	Against string // target that is the counterpart of HIP targets; "" chooses
	// Prior, if not nil, is what an earlier part of this run found out. Its
	// cases are not run again.
	Prior *Run
	// Progress, if not nil, is called after each case. Calls do not overlap.
	Progress func(Progress)
	// Output, if not nil, is given each output that passed. Calls do not
	// overlap.
	Output func(target string, p *ops.Problem, out *tensor.Tensor)
}

// A Progress says how far a run is.
type Progress struct {
	Case        *ops.Case
	Done, Total int          // cases, with those of Options.Prior
	Prior       int          // of Done
	Results     []Result     // of Case, one for each target
	OpDone      bool         // Case was the last to finish of its op
	Targets     []TargetInfo // as far as they are known; only during the call
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
	for i := range targets {
		e.info[i] = targets[i].describe()
	}
	e.places = placesOf(targets)
	todo, err := e.recall(opts.Prior)
	if err != nil {
		return nil, err
	}

	next := make(chan job)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() { e.work(ctx, next) })
	}
feed:
	for turn, i := range todo {
		select {
		case next <- job{i, turn}:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	for _, p := range e.places {
		p.close()
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
	places  []*place // of exclusive targets
	prior   []TargetInfo

	mu      sync.Mutex // guards what follows
	info    []TargetInfo
	results [][]Result
	left    map[*ops.Op]int
	done    int
	// recalled are the cases of done that Options.Prior had.
	recalled int
	err      error
}

// A job is a case to run, and its turn at the places.
type job struct{ index, turn int }

// An ownSession is a worker's session of a target that is not exclusive.
type ownSession struct {
	session *session
	err     error
	opened  bool
}

// work runs the cases that arrive on next.
func (e *execution) work(ctx context.Context, next <-chan job) {
	own := make([]ownSession, len(e.targets))
	defer func() {
		for _, s := range own {
			if s.session != nil {
				s.session.close()
			}
		}
	}()
	for j := range next {
		var results []Result
		err := ctx.Err()
		if err == nil {
			results, err = e.runCase(ctx, &e.cases[j.index], own, j.turn)
		}
		for _, p := range e.places {
			p.pass(j.turn)
		}
		if ctx.Err() != nil {
			continue // a case that was cut off has no results
		}
		e.finish(j.index, results, err)
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
		e.opts.Progress(Progress{Case: c, Done: e.done, Total: len(e.cases), Prior: e.recalled, Results: results, OpDone: e.left[c.Op] == 0, Targets: e.info})
	}
}

// runCase binds a case, computes its truth, runs it everywhere and
// judges. An error is one of usage, such as an override that overflows.
func (e *execution) runCase(ctx context.Context, c *ops.Case, own []ownSession, turn int) ([]Result, error) {
	name := c.Name()
	p := c.Op.Bind(c, ops.NewRand(e.opts.Seed, name))
	q, changes, err := apply(p, e.opts.Set)
	if err != nil {
		return nil, err
	}
	// Hardware comes first: cases have their turn there, and what takes
	// longer can then be done of several at once.
	outs, refused := e.refuse(c)
	for _, p := range e.places {
		if !p.await(ctx, turn) {
			return nil, ctx.Err()
		}
		for _, i := range p.targets {
			if !refused[i] {
				outs[i] = e.collectAt(ctx, p, i, q)
			}
		}
		p.pass(turn)
	}
	for i := range e.targets {
		if !e.targets[i].Exclusive && !refused[i] {
			outs[i] = e.collectOn(ctx, i, &own[i], q)
		}
	}
	var bytes, flops int64
	if c.Op.Work != nil {
		bytes, flops = c.Op.Work(p)
	}
	j := judging{problem: p, want: expectations{}, targets: e.targets, outs: outs, against: e.opts.Against}
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

// refuse asks the targets that know their kernels whether they have that
// of c. Where none that launches has it, recordings have nothing to be held
// against.
func (e *execution) refuse(c *ops.Case) (outs []collected, refused []bool) {
	outs, refused = make([]collected, len(e.targets)), make([]bool, len(e.targets))
	launches, wanted := 0, 0
	for i := range e.targets {
		t := &e.targets[i]
		if t.Recorded != nil {
			continue
		}
		launches++
		if err := t.accept(c); err != nil {
			outs[i], refused[i] = refusal(err), true
		} else {
			wanted++
		}
	}
	for i := range e.targets {
		if launches > 0 && wanted == 0 && e.targets[i].Recorded != nil && e.targets[i].Optional {
			outs[i], refused[i] = collected{absent: true}, true
		}
	}
	return outs, refused
}

// refusal is what becomes of a case that a target does not accept.
func refusal(err error) collected {
	if errors.Is(err, gpu.ErrNoKernel) {
		return collected{skipped: err.Error(), missing: true}
	}
	return collected{fault: err}
}

// collected is what a target gave for a case.
type collected struct {
	out     *Output
	missing bool   // skipped, because the target has no such kernel
	fault   error  // the kernel failed
	skipped string // it could not be tried
	absent  bool   // there is nothing to say
}

// collectOn runs q on target i, which is not exclusive.
func (e *execution) collectOn(ctx context.Context, i int, own *ownSession, q *ops.Problem) collected {
	t := &e.targets[i]
	if t.Recorded != nil {
		out, err := t.Recorded(q)
		switch {
		case err == nil:
			return collected{out: &Output{Runs: []*tensor.Tensor{out}}}
		case t.Optional:
			return collected{absent: true}
		}
		return collected{skipped: err.Error()}
	}
	if !own.opened {
		own.opened = true
		own.session, own.err = e.open(i)
	}
	if own.err != nil {
		return collected{skipped: own.err.Error()}
	}
	out, err := e.collect(ctx, i, own.session, q)
	return outcome(out, err)
}

// open opens target i and notes what it is.
func (e *execution) open(i int) (*session, error) {
	s, err := open(&e.targets[i])
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.info[i].Unavailable = err.Error()
		return nil, err
	}
	e.info[i].Unavailable = ""
	e.info[i].Info = s.dev.Info()
	if e.prior != nil {
		if was := e.prior[i]; was.Info != (gpu.Info{}) && was.Info != e.info[i].Info && was.Unavailable == "" {
			e.err = errors.Join(e.err, fmt.Errorf("the run cannot go on: %s was %+v and is now %+v", e.targets[i].Name, was.Info, e.info[i].Info))
		}
	}
	return s, nil
}

// collect runs q on an open session of target i, within the limit of a
// case, and notes which image it ran.
func (e *execution) collect(ctx context.Context, i int, s *session, q *ops.Problem) (*Output, error) {
	if e.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.opts.Timeout, fmt.Errorf("no end after %v (--timeout)", e.opts.Timeout))
		defer cancel()
	}
	if e.opts.Tuned && e.targets[i].Bundled {
		q = q.Tuned()
	}
	out, err := s.collect(ctx, q, e.opts.Repeat, e.opts.Seed)
	e.mu.Lock()
	defer e.mu.Unlock()
	family := q.Case.Op.Family
	if h := s.images[family]; h != "" {
		if was := e.info[i].Images[family]; was != "" && was != h {
			e.err = errors.Join(e.err, fmt.Errorf("the run cannot go on: %s had another image of %s before", e.targets[i].Name, family))
		}
		e.info[i].Images[family] = h
	}
	e.info[i].Modules = e.info[i].Modules.plus(&s.use, distinct(e.info[i].Images))
	s.use = ModuleUse{}
	return out, err
}

// outcome is what became of a case that gave out and err.
func outcome(out *Output, err error) collected {
	if err == nil {
		return collected{out: out}
	}
	if _, ok := errors.AsType[*gpu.Fault](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return collected{out: out, fault: err}
	}
	return collected{skipped: err.Error(), missing: errors.Is(err, gpu.ErrNoKernel)}
}

// recall takes over the results of prior and returns the cases that are
// left.
func (e *execution) recall(prior *Run) (todo []int, err error) {
	had := map[string][]Result{}
	if prior != nil {
		for _, rs := range perCase(prior.Results) {
			had[rs[0].Case] = rs
		}
		if e.prior = prior.Env.Targets; len(e.prior) != len(e.targets) {
			return nil, fmt.Errorf("the run cannot go on: it had %d targets, now there are %d", len(e.prior), len(e.targets))
		}
		for i := range e.prior {
			was := &e.prior[i]
			if was.Name != e.targets[i].Name {
				return nil, fmt.Errorf("the run cannot go on: a target was %s and is now %s", was.Name, e.targets[i].Name)
			}
			e.info[i].Info, e.info[i].Unavailable = was.Info, was.Unavailable
			maps.Copy(e.info[i].Images, was.Images)
		}
	}
	for i := range e.cases {
		rs, ok := had[e.cases[i].Name()]
		if !ok {
			todo = append(todo, i)
			continue
		}
		e.results[i] = rs
		e.done++
		e.left[e.cases[i].Op]--
		for _, p := range e.places {
			p.recall(rs, e.targets)
		}
	}
	e.recalled = e.done
	return todo, nil
}
