// Package bench times launches on a device that has a clock, the same way
// whatever the device, and says how far the times can be trusted.
//
// A sample is taken as NVBench takes one (its docs/benchmarks.md): cold
// samples are of a single launch with the caches flushed before it; batch
// samples are of launches back to back. Either way the device is held
// while the events and launches are queued, so that what the host needs for
// that is not in the interval.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Options say how long to measure. The zero value takes the defaults.
type Options struct {
	// Noise is when to stop: half the width of the median's 95 % interval,
	// as a share of the median. 0 is 0.005.
	Noise float64
	// MinSamples are taken whatever the noise; 0 is 30. MaxSamples end a
	// measurement that is no less noisy for more; 0 is 10000.
	MinSamples, MaxSamples int
	// Limit ends the measurement of cold samples, and a third of it that of
	// batches; 0 is a second. It is the host's time.
	Limit time.Duration
	// NoBatch leaves out the batches.
	NoBatch bool
}

func (o Options) defaults() Options {
	if o.Noise == 0 {
		o.Noise = 0.005
	}
	if o.MinSamples == 0 {
		o.MinSamples = 30
	}
	if o.MaxSamples == 0 {
		o.MaxSamples = 10000
	}
	if o.Limit == 0 {
		o.Limit = time.Second
	}
	return o
}

// A Stop is why a measurement ended.
type Stop string

// The reasons to stop.
const (
	NoiseMet     Stop = "noise"      // the interval is as narrow as asked
	TimeLimit    Stop = "time limit" // Options.Limit came first
	EnoughOfThem Stop = "samples"    // Options.MaxSamples came first
)

// A Series is the samples of one kind.
type Series struct {
	Samples []float64 // seconds a launch, in the order taken
	Stop    Stop
	// Median, with the interval that holds that of all launches in 95 of
	// 100 measurements, by order statistics.
	Median, Low, High float64
}

// Noise is half the width of the interval, as a share of the median.
func (s *Series) Noise() float64 { return (s.High - s.Low) / (2 * s.Median) }

// A Measurement is what was found out about one launch.
type Measurement struct {
	Cold     Series
	Batch    Series
	Launches int // in a batch
	// Graph is true where the launches of a batch were given to the device
	// as one.
	Graph   bool
	Held    bool
	Flushed int // bytes written before each cold launch
	// Drift is how much longer the last quarter of the cold samples took
	// than the first, as a share.
	Drift    float64
	State    gpu.State // at the end
	Warnings []Warning
}

// A Warning is a reason to doubt a time.
type Warning struct {
	Code string // for programs: "throttled"
	Text string
}

// warmUp is how long a launch is repeated before samples are taken: what
// the first launches load, and the time in which the clock rises.
const warmUp = 20 * time.Millisecond

// Measure times l. flush is a buffer of twice the device's cache, which is
// overwritten before each cold launch.
func Measure(ctx context.Context, dev gpu.Timer, l gpu.Launch, flush gpu.Buffer, opts Options) (*Measurement, error) {
	var graph gpu.Launch
	defer func() {
		if graph != nil {
			graph.Free()
		}
	}()
	m, err := measure(ctx, dev, func(q gpu.Queue) error { return q.Launch(l) }, func(q gpu.Queue, n int) (func(gpu.Queue) error, error) {
		r, ok := q.(gpu.Repeater)
		if !ok {
			return nil, nil
		}
		var err error
		if graph, err = r.Repeat(l, n); errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return func(q gpu.Queue) error { return q.Launch(graph) }, nil
	}, flush, opts)
	return m, err
}

// MeasureCopy times the driver's copy of all of src to dst.
func MeasureCopy(ctx context.Context, dev gpu.Timer, dst, src gpu.Buffer, flush gpu.Buffer, opts Options) (*Measurement, error) {
	opts.NoBatch = true
	return measure(ctx, dev, func(q gpu.Queue) error { return q.Copy(dst, 0, src, 0, src.Size()) }, nil, flush, opts)
}

// measure times work. repeat, which may be nil, returns n times work as
// one, or nil where there is no such thing.
func measure(ctx context.Context, dev gpu.Timer, work func(gpu.Queue) error, repeat func(q gpu.Queue, n int) (func(gpu.Queue) error, error), flush gpu.Buffer, opts Options) (*Measurement, error) {
	opts = opts.defaults()
	m := &Measurement{Flushed: flush.Size()}
	err := dev.Enqueue(ctx, func(q gpu.Queue) error {
		s := &sampler{ctx: ctx, q: q, work: work, flush: flush}
		if err := s.warm(); err != nil {
			return err
		}
		var err error
		if m.Cold, err = s.series(opts, opts.Limit, s.cold); err != nil {
			return err
		}
		if !opts.NoBatch {
			m.Launches = batchSize(m.Cold.Median)
			times := m.Launches // that work is queued
			if repeat != nil {
				all, err := repeat(q, m.Launches)
				if err != nil {
					return err
				}
				if all != nil {
					m.Graph, times, s.work = true, 1, all
					if err := errors.Join(all(q), q.Wait()); err != nil { // the first loads it
						return err
					}
				}
			}
			m.Batch, err = s.series(opts, opts.Limit/3, func() (float64, error) {
				t, err := s.batch(times)
				return t * float64(times) / float64(m.Launches), err
			})
		}
		m.Held = s.unheld == nil
		if !m.Held {
			m.warn("unheld", "the device cannot be held while launches are queued (%v): times of a few µs are the host's", s.unheld)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m.State = dev.State()
	m.doubt()
	return m, nil
}

// batchSize is how many launches of that many seconds make a batch: of a
// millisecond or two, but no more than a held queue takes.
func batchSize(seconds float64) int {
	const span = 1e-3
	return min(max(int(span/seconds+0.5), 2), gpu.Depth-4)
}

func (m *Measurement) warn(code, format string, args ...any) {
	m.Warnings = append(m.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// doubt looks for a device that did not keep its speed.
func (m *Measurement) doubt() {
	m.Drift = drift(m.Cold.Samples)
	// Of short launches a drift of a percent is a tick of the clock.
	if limit := max(0.02, 4*m.Cold.Noise()); m.Drift > limit && m.Cold.Median > 10e-6 {
		m.warn("drift", "the last launches took %.1f%% longer than the first: the device slowed down", 100*m.Drift)
	}
	for _, why := range m.State.Throttled {
		m.warn("throttled", "the device reports a reduced clock, now %d MHz: %s", m.State.Clock, why)
	}
	if m.Cold.Stop != NoiseMet {
		m.warn("noisy", "after %d samples the median is known to ±%.1f%%: %s", len(m.Cold.Samples), 100*m.Cold.Noise(), stopText[m.Cold.Stop])
	}
}

var stopText = map[Stop]string{
	TimeLimit:    "the time limit ended the measurement",
	EnoughOfThem: "more samples made it no better",
}

// drift is the median of the last quarter of samples over that of the
// first, less one; 0 of few samples.
func drift(samples []float64) float64 {
	n := len(samples) / 4
	if n < 5 {
		return 0
	}
	return Summarize(samples[len(samples)-n:]).Median/Summarize(samples[:n]).Median - 1
}

// A sampler takes samples on a queue.
type sampler struct {
	ctx    context.Context
	q      gpu.Queue
	work   func(gpu.Queue) error
	flush  gpu.Buffer
	unheld error // why the device could not be held
}

func (s *sampler) warm() error {
	start := time.Now()
	for i := 0; i < 3 || time.Since(start) < warmUp; i++ {
		if err := errors.Join(s.ctx.Err(), s.work(s.q), s.q.Wait()); err != nil {
			return err
		}
	}
	return nil
}

// cold takes the time of one launch with flushed caches.
func (s *sampler) cold() (float64, error) {
	if err := s.q.Fill(s.flush, 0); err != nil {
		return 0, err
	}
	if err := s.q.Wait(); err != nil { // the device starts idle, as a launch by itself does
		return 0, err
	}
	return s.batch(1)
}

// batch takes the time of n launches back to back, for each.
func (s *sampler) batch(n int) (float64, error) {
	for {
		t, held, err := s.interval(n)
		if err != nil || held || s.unheld != nil {
			return t / float64(n), err
		}
		// Something kept the host for as long as a queue is held at most: it
		// is in the interval.
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
	}
}

func (s *sampler) interval(n int) (seconds float64, held bool, err error) {
	if s.unheld == nil {
		if err := s.q.Hold(); errors.Is(err, errors.ErrUnsupported) {
			s.unheld = err
		} else if err != nil {
			return 0, false, err
		}
	}
	err = s.q.Mark(0)
	for range n {
		if err == nil {
			err = s.work(s.q)
		}
	}
	if err == nil {
		err = s.q.Mark(1)
	}
	held = s.q.Release()
	if err = errors.Join(err, s.q.Wait()); err != nil {
		return 0, false, err
	}
	seconds, err = s.q.Elapsed(0, 1)
	return seconds, held, err
}

// series takes samples until their median is known well enough.
func (s *sampler) series(opts Options, limit time.Duration, sample func() (float64, error)) (Series, error) {
	var r Series
	start := time.Now()
	for next := opts.MinSamples; ; {
		t, err := sample()
		if err != nil {
			return r, err
		}
		r.Samples = append(r.Samples, t)
		n := len(r.Samples)
		late := time.Since(start) >= limit
		if n < next && !late && n < opts.MaxSamples {
			continue
		}
		next += max(next/8, 1) // looking costs a sort
		r.summarize()
		switch {
		case n >= opts.MinSamples && r.Noise() <= opts.Noise:
			r.Stop = NoiseMet
		case late:
			r.Stop = TimeLimit
		case n >= opts.MaxSamples:
			r.Stop = EnoughOfThem
		default:
			if err := s.ctx.Err(); err != nil {
				return r, err
			}
			continue
		}
		return r, nil
	}
}

func (s *Series) summarize() {
	x := Summarize(s.Samples)
	s.Median, s.Low, s.High = x.Median, x.Low, x.High
}

// A Summary is the median of samples and its interval.
type Summary struct{ Median, Low, High float64 }

// Summarize returns the median of samples with its 95 % interval by order
// statistics: of n samples the number below the true median is binomial,
// with n trials of 1/2 (Hahn and Meeker, "Statistical Intervals", 5.2.2).
// Of fewer than six samples no interval has that level, and it is from the
// least to the greatest. There must be at least one.
func Summarize(samples []float64) Summary {
	x := slices.Sorted(slices.Values(samples))
	n := len(x)
	m := x[n/2]
	if n%2 == 0 {
		m = (x[n/2-1] + x[n/2]) / 2
	}
	k := rank(n)
	return Summary{m, x[k], x[n-1-k]}
}
