package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paritycheck/paritycheck/internal/bench"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A Timing says how the samples of a result were taken and what they come
// to. Package bench has the method.
type Timing struct {
	// The median of the samples, with its 95 % interval.
	Median float64 `json:"median_s"`
	Low    float64 `json:"low_s"`
	High   float64 `json:"high_s"`
	Stop   string  `json:"stop"` // why there are no more samples: noise, time limit, samples

	// Launches back to back, each batch of so many; seconds a launch.
	Batch       []float64 `json:"batch_s,omitempty"`
	BatchMedian float64   `json:"batch_median_s,omitempty"`
	BatchLow    float64   `json:"batch_low_s,omitempty"`
	BatchHigh   float64   `json:"batch_high_s,omitempty"`
	BatchSize   int       `json:"batch_launches,omitempty"`
	BatchGraph  bool      `json:"batch_graph,omitempty"` // the launches of a batch are one graph

	Held    bool    `json:"held"`                // the device, while launches were queued
	Flushed int     `json:"flushed_bytes"`       // of the cache, before each sample
	Drift   float64 `json:"drift"`               // of the last samples against the first, as a share
	Clock   int     `json:"clock_mhz,omitempty"` // after the last

	// Rate over that of the copy that the run measured, and time over the
	// least that memory and arithmetic allow; 0 where unknown.
	OfCopy     float64 `json:"of_copy,omitempty"`
	OfRoofline float64 `json:"of_roofline,omitempty"`

	Warnings []compare.Warning `json:"warnings,omitempty"`
}

// Noise is half the width of the median's interval, as a share of it.
func (t *Timing) Noise() float64 { return (t.High - t.Low) / (2 * t.Median) }

// A Bandwidth is how fast a target copies memory, bytes read and bytes
// written both counted.
type Bandwidth struct {
	Bytes  int     `json:"bytes"`              // read and written
	Kernel float64 `json:"kernel_s,omitempty"` // by the target's own copy kernel
	Driver float64 `json:"driver_s,omitempty"` // by the driver's copy
}

// Rate is that of the faster copy, bytes a second.
func (b *Bandwidth) Rate() float64 {
	var rate float64
	for _, s := range []float64{b.Kernel, b.Driver} {
		if s > 0 {
			rate = max(rate, float64(b.Bytes)/s)
		}
	}
	return rate
}

// A Job is a case to time.
type Job struct {
	ops.Timed
	// Clocked targets time the case; interpreted ones, which are never
	// timed, run it for their counters.
	Clocked, Interpreted bool
}

// interpreted is why nothing is timed where there is no silicon.
const interpreted = "interpreted: counters tell of the work, but no clock here is the silicon's"

// TimeOptions say how to time.
type TimeOptions struct {
	Seed  uint64
	Bench bench.Options
	// Timeout is how long a kernel may take beyond its limits of sampling
	// before it counts as hung; 0 is for ever.
	Timeout time.Duration
	// Refuse, if not nil, says why a case is not to be timed on a target;
	// "" lets it.
	Refuse func(target string, c *ops.Case) string
	// Launched, if not nil, is given each problem that was timed and the
	// image that its kernel is in.
	Launched func(target string, p *ops.Problem, image []byte) error
	// Progress, if not nil, is called after each case.
	Progress func(Progress)
}

// Time times jobs on targets, one launch at a time, and returns a result
// for each. Cancelling ctx ends it early with what is done and ctx's error.
func Time(ctx context.Context, jobs []Job, targets []Target, opts TimeOptions) (*Run, error) {
	if len(jobs) == 0 || len(targets) == 0 {
		return nil, errors.New("nothing to time: no cases or no targets")
	}
	run := &Run{Schema: Schema, Env: Env{Seed: opts.Seed, Cases: len(jobs)}}
	timers := make([]*timer, len(targets))
	for i := range targets {
		t := &timer{target: &targets[i], opts: opts}
		t.info = t.target.describe()
		t.open(ctx)
		defer t.close()
		timers[i] = t
	}
	left := map[*ops.Op]int{}
	for i := range jobs {
		left[jobs[i].Case.Op]++
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		job := &jobs[i]
		c := &job.Case
		var p *ops.Problem // bound at its first use: large inputs take a while
		bind := func() *ops.Problem {
			if p == nil {
				p = c.Op.Bind(c, ops.NewRand(opts.Seed, c.Name()))
			}
			return p
		}
		var results []Result
		for _, t := range timers {
			if r, ok := t.run(ctx, job, bind); ok && ctx.Err() == nil {
				results = append(results, r)
			}
		}
		run.Results = append(run.Results, results...)
		left[c.Op]--
		if opts.Progress != nil {
			opts.Progress(Progress{Case: c, Done: i + 1, Total: len(jobs), Results: results, OpDone: left[c.Op] == 0})
		}
	}
	for _, t := range timers {
		run.Env.Targets = append(run.Env.Targets, t.finished())
	}
	return run, ctx.Err()
}

// AddTimes gives r, a run of the same cases, what timed found out.
func (r *Run) AddTimes(timed *Run) {
	type key struct{ name, target string }
	at := map[key]*Result{}
	for i := range timed.Results {
		t := &timed.Results[i]
		at[key{t.Case, t.Target}] = t
	}
	emulated := map[string]bool{}
	for i := range r.Env.Targets {
		t := &r.Env.Targets[i]
		emulated[t.Name] = t.Emulated
		for _, o := range timed.Env.Targets {
			if o.Name == t.Name {
				t.Copy = o.Copy
			}
		}
	}
	for i := range r.Results {
		res := &r.Results[i]
		t := at[key{res.Case, res.Target}]
		switch {
		case t == nil && emulated[res.Target]:
			res.Untimed = interpreted
		case t == nil:
		case t.Fault != "": // it ran, and when timed it does not
			res.Status, res.Fault = t.Status, t.Fault
		default:
			res.Samples, res.Timing, res.Untimed = t.Samples, t.Timing, t.Skipped
		}
	}
}

// A timer times jobs on one target.
type timer struct {
	target  *Target
	opts    TimeOptions
	info    TargetInfo
	session *session
	clock   gpu.Timer // nil where the device has none
	flush   gpu.Buffer
	rating  gpu.Rating
	untimed string // why nothing is timed here
	err     error  // why nothing runs here
}

// leastFlush is what is written over a cache whose size is not known.
const leastFlush = 64 << 20

func (t *timer) open(ctx context.Context) {
	if t.target.Recorded != nil {
		t.untimed = "a recording has no clock"
		return
	}
	if t.session, t.err = open(t.target); t.err != nil {
		t.info.Unavailable = t.err.Error()
		return
	}
	t.info.Info = t.session.dev.Info()
	var ok bool
	if t.clock, ok = t.session.dev.(gpu.Timer); !ok {
		t.untimed = interpreted
		return
	}
	t.rating = t.clock.Rating()
	size := 2 * t.rating.Cache
	if size == 0 {
		size = leastFlush
	}
	if t.flush, t.err = flushBuffer(t.clock, size); t.err != nil {
		return
	}
	if t.info.Copy == nil { // not after a loss
		t.info.Copy, t.err = t.copyRate(ctx)
	}
}

// recover opens the device again where a kernel lost it and that helps: the
// fault is that kernel's alone.
func (t *timer) recover(ctx context.Context) {
	if t.session == nil || t.session.lost == nil || !t.target.Reopens {
		return
	}
	for family, sum := range t.session.images {
		t.info.Images[family] = sum
	}
	t.close()
	t.session, t.flush = nil, nil
	t.open(ctx)
}

// flushBuffer allocates size bytes, or, where that is more than there is,
// a part of it that leaves room for what is timed.
func flushBuffer(dev gpu.Device, size int) (gpu.Buffer, error) {
	b, err := dev.Alloc("flush", size)
	for n := size / 2; err != nil && n >= 4<<20; n /= 2 {
		if most, merr := dev.Alloc("flush", n); merr == nil {
			if err := most.Free(); err != nil {
				return nil, err
			}
			return dev.Alloc("flush", n/4)
		}
	}
	return b, err
}

func (t *timer) close() {
	if t.session == nil {
		return
	}
	if t.flush != nil {
		t.flush.Free()
	}
	t.session.close()
}

func (t *timer) finished() TargetInfo {
	if t.session != nil {
		for family, sum := range t.session.images {
			t.info.Images[family] = sum
		}
		t.info.Modules = t.info.Modules.plus(&t.session.use, distinct(t.info.Images))
	}
	return t.info
}

// run times one job, if there is anything to say of it here.
func (t *timer) run(ctx context.Context, job *Job, bind func() *ops.Problem) (Result, bool) {
	c := &job.Case
	r := Result{
		Op: c.Op.Name, Family: c.Op.Family, Kernel: c.Op.Kernel(c.Variant), DType: c.Variant.String(),
		Case: c.Name(), Class: c.Class, Target: t.target.Name, Size: job.Size, Status: compare.Unverified,
	}
	t.recover(ctx)
	if t.err != nil {
		r.Skipped = t.err.Error()
		return r, true
	}
	if t.untimed == "" && !job.Clocked || t.untimed != "" && (t.session == nil || !job.Interpreted) {
		return r, false
	}
	if err := t.target.accept(c); err != nil {
		if r.Missing = errors.Is(err, gpu.ErrNoKernel); r.Missing {
			r.Skipped = err.Error()
		} else {
			r.Status, r.Fault = compare.Fail, err.Error()
		}
		return r, true
	}
	if t.opts.Refuse != nil {
		if r.Skipped = t.opts.Refuse(t.target.Name, c); r.Skipped != "" {
			return r, true
		}
	}
	p := bind()
	if c.Op.Work != nil {
		r.Bytes, r.Flops = c.Op.Work(p)
	}
	var err error
	if t.untimed != "" {
		r.Untimed = t.untimed
		var out *Output
		if t.target.Bundled {
			p = p.Tuned()
		}
		out, err = t.session.collect(ctx, p, 1, 0)
		if out != nil {
			r.Counters, r.Findings = out.Counters, out.Findings
		}
	} else {
		err = t.time(ctx, p, &r)
	}
	switch {
	case err == nil:
		r.Status = compare.Pass
	case errors.As(err, new(*gpu.Fault)):
		r.Status, r.Fault = compare.Fail, err.Error()
	default:
		r.Skipped = err.Error()
		r.Missing = errors.Is(err, gpu.ErrNoKernel) && t.target.Source != ""
	}
	return r, true
}

// time measures p and writes what it found into r.
func (t *timer) time(ctx context.Context, p *ops.Problem, r *Result) error {
	if t.target.Bundled {
		p = p.Tuned()
	}
	m, err := t.session.measure(ctx, p, t.clock, t.flush, t.opts.Bench, t.opts.Timeout)
	if err != nil {
		return err
	}
	if t.opts.Launched != nil {
		image, err := t.target.Image(t.session.dev, p.Case.Op.Family)
		if err == nil {
			err = t.opts.Launched(t.target.Name, p, image)
		}
		if err != nil {
			return err
		}
	}
	r.Samples = m.Cold.Samples
	tm := &Timing{
		Median: m.Cold.Median, Low: m.Cold.Low, High: m.Cold.High, Stop: string(m.Cold.Stop),
		Batch: m.Batch.Samples, BatchMedian: m.Batch.Median, BatchLow: m.Batch.Low, BatchHigh: m.Batch.High, BatchSize: m.Launches, BatchGraph: m.Graph,
		Held: m.Held, Flushed: m.Flushed, Drift: m.Drift, Clock: m.State.Clock,
	}
	for _, w := range m.Warnings {
		tm.Warnings = append(tm.Warnings, compare.Warning{Code: w.Code, Text: w.Text})
	}
	if m.Flushed < t.rating.Cache {
		tm.Warnings = append(tm.Warnings, compare.Warning{Code: "warm",
			Text: fmt.Sprintf("%d bytes of the cache are overwritten before a launch, of %d: there was no more memory", m.Flushed, t.rating.Cache)})
	}
	if rate := t.info.Copy.Rate(); rate > 0 && r.Bytes > 0 {
		least := float64(r.Bytes) / rate
		tm.OfCopy = least / tm.Median
		peak := t.rating.F32
		if p.Case.Variant.T == tensor.F64 {
			peak = t.rating.F64
		}
		if peak > 0 {
			tm.OfRoofline = max(least, float64(r.Flops)/peak) / tm.Median
		}
	}
	r.Timing = tm
	return nil
}

// copied is what the copy that bandwidth is measured by reads: the large
// size of an elementwise op in f32, or less where memory is short.
const copied = 256 << 20

// copyRate measures how fast the device copies: by the driver and by the
// target's own kernel.
func (t *timer) copyRate(ctx context.Context) (*Bandwidth, error) {
	opts := t.opts.Bench
	opts.NoBatch = true
	for size := copied; size >= 1<<20; size /= 2 {
		b := &Bandwidth{Bytes: 2 * size}
		src, err := t.clock.Alloc("copied", size)
		if err != nil {
			continue
		}
		dst, err := t.clock.Alloc("copy", size)
		if err != nil {
			src.Free()
			continue
		}
		err = src.Poison(0x3c)
		var m *bench.Measurement
		if err == nil {
			m, err = bench.MeasureCopy(ctx, t.clock, dst, src, t.flush, opts)
		}
		src.Free()
		dst.Free()
		if err != nil {
			return nil, fmt.Errorf("measuring the driver's copy: %w", err)
		}
		b.Driver = m.Cold.Median
		// A target need not have the kernel.
		if c, ok := copyCase(size / 4); ok {
			p := c.Op.Bind(&c, ops.NewRand(t.opts.Seed, c.Name()))
			if t.target.Bundled {
				p = p.Tuned()
			}
			if m, err := t.session.measure(ctx, p, t.clock, t.flush, opts, t.opts.Timeout); err == nil {
				b.Kernel = m.Cold.Median
			} else if t.session.lost != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, errors.New("the device has no memory for two buffers of 1 MiB")
}

// copyCase is the copy op on n floats.
func copyCase(n int) (ops.Case, bool) {
	for _, o := range ops.All() {
		if o.Name != "copy" || o.Timed == nil {
			continue
		}
		for _, s := range ops.Scales() {
			if s.IsModel() {
				continue
			}
			for _, x := range o.Timed(ops.Variant{T: tensor.F32}, s) {
				c := x.Case
				c.Dims = append([]ops.Dim(nil), c.Dims...)
				for i := range c.Dims {
					if c.Dims[i].Name == "n" {
						c.Dims[i] = ops.D("n", n)
						return c, true
					}
				}
			}
		}
	}
	return ops.Case{}, false
}

// measure puts a problem on the device and times its launch.
func (s *session) measure(ctx context.Context, p *ops.Problem, dev gpu.Timer, flush gpu.Buffer, opts bench.Options, timeout time.Duration) (_ *bench.Measurement, err error) {
	if s.lost != nil {
		return nil, fmt.Errorf("the device was lost: %v", s.lost) // not wrapped: that fault is another case's
	}
	k, err := s.kernel(p.Case)
	if err != nil {
		return nil, err
	}
	if p.Grid.Count() == 0 {
		return nil, errors.New("the case launches nothing")
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout+2*opts.Limit, fmt.Errorf("no end after %v %s", timeout, hangWords))
		defer cancel()
	}
	var bufs []gpu.Buffer
	defer func() {
		for _, b := range bufs {
			if ferr := b.Free(); ferr != nil && err == nil {
				err = ferr
			}
		}
	}()
	var args gpu.Args
	for i, param := range p.Case.Op.Params {
		a, dt := p.Args[i], param.Type.DType(p.Case.Variant)
		switch {
		case param.Role == ops.Scalar:
			packScalar(&args, dt, a)
			continue
		case a.Buf == nil:
			args.Ptr(nil)
			continue
		}
		b, err := dev.Alloc(param.Name, len(a.Buf.Data))
		if err != nil {
			return nil, fmt.Errorf("allocating %s: %w", param.Name, err)
		}
		bufs = append(bufs, b)
		if p.Role(i) == ops.Out {
			err = b.Poison(0)
		} else {
			err = upload(ctx, dev, b, a.Buf)
		}
		if err != nil {
			return nil, fmt.Errorf("filling %s: %w", param.Name, err)
		}
		args.Uint(b.Ptr()+uint64(a.Offset*dt.Size()), 8)
	}
	l, err := dev.Prepare(k, gpu.LaunchConfig{Grid: p.Grid, Block: p.Block, Shared: p.Shared}, args.Bytes())
	if err != nil {
		return nil, err
	}
	defer l.Free()
	m, err := bench.Measure(ctx, dev, l, flush, opts)
	var f *gpu.Fault
	if errors.As(err, &f) && f.Lost {
		s.lost = err
	}
	return m, err
}

// upload copies a tensor to the device. What repeats is copied once and
// repeated there.
func upload(ctx context.Context, dev gpu.Timer, b gpu.Buffer, t *tensor.Tensor) error {
	n := t.Distinct() * t.DType.Size()
	if n == len(t.Data) {
		return b.CopyIn(t.Data)
	}
	first, err := dev.Alloc("first", n)
	if err != nil {
		return err
	}
	defer first.Free()
	if err := first.CopyIn(t.Data[:n]); err != nil {
		return err
	}
	return dev.Enqueue(ctx, func(q gpu.Queue) error {
		if err := q.Copy(b, 0, first, 0, n); err != nil {
			return err
		}
		for size := b.Size(); n < size; n *= 2 {
			if err := q.Copy(b, n, b, 0, min(n, size-n)); err != nil {
				return err
			}
		}
		return q.Wait()
	})
}
