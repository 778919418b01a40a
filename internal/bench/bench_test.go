package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// clock is a timer whose launches take what cost says: the nth of them,
// from 0, in seconds.
type clock struct {
	cost   func(n int) float64
	host   float64 // seconds that queueing a launch takes, which an unheld queue sees
	noHold error
	state  gpu.State
	slip   int // this hold, from 1, ends by itself

	launches, holds int
	held, warm      bool // warm from the first flush on, where launches are counted from 0
	at              float64
	marks           [gpu.Marks]float64
	calls           []string // of the first samples
}

func (c *clock) note(s string) {
	if c.warm && len(c.calls) < 400 {
		c.calls = append(c.calls, s)
	}
}

func (c *clock) Rating() gpu.Rating { return gpu.Rating{Cache: 1 << 20} }
func (c *clock) State() gpu.State   { return c.state }
func (c *clock) Prepare(gpu.Kernel, gpu.LaunchConfig, []byte) (gpu.Launch, error) {
	return nil, errors.New("not used")
}
func (c *clock) Enqueue(_ context.Context, f func(gpu.Queue) error) error { return f(c) }
func (c *clock) Launch(gpu.Launch) error {
	c.note("launch")
	if !c.held {
		c.at += c.host
	}
	c.at += c.cost(c.launches)
	c.launches++
	return nil
}
func (c *clock) Fill(gpu.Buffer, byte) error {
	if !c.warm {
		c.warm, c.launches = true, 0
	}
	c.note("fill")
	c.at += 1e-6
	return nil
}
func (c *clock) Copy(gpu.Buffer, int, gpu.Buffer, int, int) error {
	c.note("copy")
	c.at += c.cost(c.launches)
	c.launches++
	return nil
}
func (c *clock) Mark(i int) error { c.note(fmt.Sprint("mark", i)); c.marks[i] = c.at; return nil }
func (c *clock) Hold() error {
	c.note("hold")
	if c.noHold != nil {
		return c.noHold
	}
	c.holds++
	c.held = c.holds != c.slip
	return nil
}
func (c *clock) Release() bool { c.note("release"); was := c.held; c.held = false; return was }
func (c *clock) Wait() error   { c.note("wait"); return nil }
func (c *clock) Elapsed(from, to int) (float64, error) {
	return c.marks[to] - c.marks[from], nil
}

// The rest of a gpu.Device is not used.
func (c *clock) Info() gpu.Info                        { return gpu.Info{} }
func (c *clock) Load([]byte) (gpu.Module, error)       { return nil, errors.New("not used") }
func (c *clock) Alloc(string, int) (gpu.Buffer, error) { return nil, errors.New("not used") }
func (c *clock) Close() error                          { return nil }

// A timer is a clock as a gpu.Device, whose Launch has another signature
// than a queue's.
type timer struct{ *clock }

func (timer) Launch(context.Context, gpu.Kernel, gpu.LaunchConfig, []byte) (gpu.Report, error) {
	return gpu.Report{}, errors.New("not used")
}

type buffer struct{ gpu.Buffer }

func (buffer) Size() int { return 2 << 20 }

func run(t *testing.T, c *clock, opts Options) *Measurement {
	t.Helper()
	m, err := Measure(t.Context(), timer{c}, nil, buffer{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func codes(m *Measurement) string {
	var s []string
	for _, w := range m.Warnings {
		s = append(s, w.Code)
	}
	return strings.Join(s, " ")
}

func TestMeasure(t *testing.T) {
	c := &clock{cost: func(int) float64 { return 1e-4 }, host: 1e-3}
	m := run(t, c, Options{})
	if m.Cold.Stop != NoiseMet || len(m.Cold.Samples) != 30 || !near(m.Cold.Median, 1e-4) || codes(m) != "" || !m.Held || m.Flushed != 2<<20 {
		t.Errorf("steady launches: got %+v", m)
	}
	if m.Launches != 10 || !near(m.Batch.Median, 1e-4) {
		t.Errorf("batches of %d launches of %v s each, want 10 of 1e-4", m.Launches, m.Batch.Median)
	}
	// A cold sample flushes before the device is held, and has both events
	// and the launch behind the latch.
	want := "fill wait hold mark0 launch mark1 release wait"
	if all := strings.Join(c.calls, " "); !strings.Contains(all, want) {
		t.Errorf("no sample is %q in %q", want, all)
	}
}

func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noisy := func(share float64) func(int) float64 {
		return func(int) float64 { return 1e-4 * (1 + share*r.NormFloat64()) }
	}
	few := run(t, &clock{cost: noisy(0.01)}, Options{Limit: time.Minute})
	many := run(t, &clock{cost: noisy(0.05)}, Options{Limit: time.Minute})
	if few.Cold.Stop != NoiseMet || many.Cold.Stop != NoiseMet || len(many.Cold.Samples) < 4*len(few.Cold.Samples) {
		t.Errorf("noise of 1%% and 5%%: %s after %d and %s after %d samples", few.Cold.Stop, len(few.Cold.Samples), many.Cold.Stop, len(many.Cold.Samples))
	}
	if n := many.Cold.Noise(); n > 0.005 || n < 0.003 {
		t.Errorf("interval is ±%v of the median, want just below 0.005", n)
	}
	m := run(t, &clock{cost: noisy(0.5)}, Options{MaxSamples: 50, Limit: time.Minute})
	if m.Cold.Stop != EnoughOfThem || len(m.Cold.Samples) != 50 || !strings.Contains(codes(m), "noisy") {
		t.Errorf("hopeless noise: %s after %d samples, warnings %q", m.Cold.Stop, len(m.Cold.Samples), codes(m))
	}
	m = run(t, &clock{cost: noisy(0.5)}, Options{Limit: time.Nanosecond})
	if m.Cold.Stop != TimeLimit || len(m.Cold.Samples) < 1 || !strings.Contains(codes(m), "noisy") {
		t.Errorf("no time: %s after %d samples, warnings %q", m.Cold.Stop, len(m.Cold.Samples), codes(m))
	}
}

func TestDoubt(t *testing.T) {
	rising := func(n int) float64 { return 1e-4 * (1 + 0.003*float64(n)) }
	if m := run(t, &clock{cost: rising}, Options{MaxSamples: 100}); !strings.Contains(codes(m), "drift") {
		t.Errorf("rising times: drift %v, warnings %q", m.Drift, codes(m))
	}
	steady := func(int) float64 { return 1e-4 }
	m := run(t, &clock{cost: steady, state: gpu.State{Clock: 1200, Throttled: []string{"power cap"}}}, Options{})
	if codes(m) != "throttled" || !strings.Contains(m.Warnings[0].Text, "power cap") {
		t.Errorf("throttled: got %+v", m.Warnings)
	}
	// What queueing costs is in the time of a device that cannot be held,
	// and that is said.
	c := &clock{cost: steady, host: 1e-3, noHold: fmt.Errorf("%w: no", errors.ErrUnsupported)}
	if m := run(t, c, Options{}); codes(m) != "unheld" || m.Held || !near(m.Cold.Median, 1.1e-3) {
		t.Errorf("unheld: got %q, held %v, %v s", codes(m), m.Held, m.Cold.Median)
	}
	// A hold that ran out is no sample.
	c = &clock{cost: steady, host: 1e-3, slip: 7}
	if m := run(t, c, Options{}); codes(m) != "" || !near(slices.Max(m.Cold.Samples), 1e-4) {
		t.Errorf("a hold that ran out: got %q, largest sample %v", codes(m), slices.Max(m.Cold.Samples))
	}
}

func TestMeasureErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, timer{&clock{cost: func(int) float64 { return 1 }}}, nil, buffer{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	broken := errors.New("broken")
	if _, err := Measure(t.Context(), timer{&clock{cost: func(int) float64 { return 1 }, noHold: broken}}, nil, buffer{}, Options{}); !errors.Is(err, broken) {
		t.Errorf("a hold that fails: got %v", err)
	}
}

// Ranks of the 95 % interval of a median, from tables: Conover, "Practical
// Nonparametric Statistics", 3rd edition, table A3 gives the r-th and the
// (n+1-r)-th least with r = 1, 2, 6, 10, 40 for these n.
func TestRank(t *testing.T) {
	for n, r := range map[int]int{1: 1, 5: 1, 6: 1, 9: 2, 20: 6, 30: 10, 100: 40} {
		if got := rank(n) + 1; got != r {
			t.Errorf("of %d samples: rank %d, want %d", n, got, r)
		}
	}
	for _, n := range []int{1000, 10000} { // the normal approximation
		want := float64(n)/2 - 0.98*math.Sqrt(float64(n))
		if got := float64(rank(n)); math.Abs(got-want) > 2 {
			t.Errorf("of %d samples: rank %v, want about %.1f", n, got, want)
		}
	}
}

// The interval holds the true median as often as it says.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const trials = 2000
	inside := 0
	for range trials {
		x := make([]float64, 31)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		if s := Summarize(x); s.Low <= math.Ln2 && math.Ln2 <= s.High {
			inside++
		}
	}
	if share := float64(inside) / trials; share < 0.94 || share > 0.985 {
		t.Errorf("the interval holds the median in %.1f%% of trials, want at least 95%% and little more", 100*share)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }

// A grapher is a timer whose queue takes many launches as one, for which
// the host is needed once.
type grapher struct {
	timer
	freed, err error
}

type graphQueue struct {
	*clock
	g *grapher
}

type graph struct {
	gpu.Launch
	g *grapher
	n int
}

func (x graph) Free() { x.g.freed = errors.New("freed") }

func (g *grapher) Enqueue(_ context.Context, f func(gpu.Queue) error) error {
	return f(graphQueue{g.clock, g})
}

func (q graphQueue) Repeat(l gpu.Launch, n int) (gpu.Launch, error) {
	return graph{l, q.g, n}, q.g.err
}

func (q graphQueue) Launch(l gpu.Launch) error {
	if x, ok := l.(graph); ok {
		q.at += float64(x.n) * 5e-6
		return nil
	}
	return q.clock.Launch(l)
}

func TestGraph(t *testing.T) {
	g := &grapher{timer: timer{&clock{cost: func(int) float64 { return 1e-5 }}}}
	m, err := Measure(t.Context(), g, nil, buffer{}, Options{})
	if err != nil || !m.Graph || m.Launches != 100 || !near(m.Batch.Median, 5e-6) || !near(m.Cold.Median, 1e-5) || g.freed == nil {
		t.Errorf("got %+v, %v, freed %v", m, err, g.freed)
	}
	g.err = fmt.Errorf("%w: no graphs", errors.ErrUnsupported)
	if m, err = Measure(t.Context(), g, nil, buffer{}, Options{}); err != nil || m.Graph || !near(m.Batch.Median, 1e-5) {
		t.Errorf("without graphs: %+v, %v", m, err)
	}
	g.err = errors.New("broken")
	if _, err = Measure(t.Context(), g, nil, buffer{}, Options{}); !errors.Is(err, g.err) {
		t.Errorf("a graph that fails: %v", err)
	}
}
