package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/ops"
)

// sized are cases of double with n elements each.
func sized(o *ops.Op, sizes ...int) []ops.Case {
	var cs []ops.Case
	for _, n := range sizes {
		cs = append(cs, ops.Case{Op: o, Variant: o.Variants[0], Dims: []ops.Dim{ops.D("n", n)}, Class: "normal"})
	}
	return cs
}

// A hardware is a fake GPU that opens again: what launches do on it is
// decided by the number of elements and how often that was launched.
type hardware struct {
	mu       sync.Mutex
	opened   int
	launches []int // numbers of elements, in order
	fault    func(n, nth int) error
	info     gpu.Info
	dead     bool // it does not open again once it was lost
	refuses  int  // how often it is ended from outside while it opens
	lost     bool
}

func (h *hardware) target(name string) Target {
	return Target{
		Name: name, Side: HIP, Exclusive: true, Reopens: true, Place: "fake:0",
		Image: func(gpu.Device, string) ([]byte, error) { return gputest.Image(), nil },
		Open: func() (gpu.Device, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.opened++
			if h.opened <= h.refuses {
				return nil, &gpu.Fault{Reason: "killed from outside", Lost: true, Outside: true}
			}
			if h.dead && h.lost {
				return nil, errors.New("no device answers")
			}
			f := gputest.NewFake(map[string]gputest.Kernel{"double_f32": h.kernel})
			f.SetInfo(h.info)
			return f, nil
		},
	}
}

func (h *hardware) kernel(ctx context.Context, mem *gputest.Memory, cfg gpu.LaunchConfig, args []byte) error {
	a := gputest.ReadArgs(args)
	a.Ptr()
	a.Ptr()
	n := int(a.Uint(4))
	h.mu.Lock()
	h.launches = append(h.launches, n)
	nth := 0
	for _, m := range h.launches {
		if m == n {
			nth++
		}
	}
	h.mu.Unlock()
	if h.fault != nil {
		if err := h.fault(n, nth); err != nil {
			if err == errHang {
				<-ctx.Done()
				err = &gpu.Fault{Kernel: "double_f32", Reason: fmt.Sprintf("did not end: %v", context.Cause(ctx)), Lost: true, Err: context.Cause(ctx)}
			}
			h.mu.Lock()
			h.lost = true
			h.mu.Unlock()
			return err
		}
	}
	return kernel(ctx, mem, cfg, args)
}

var errHang = errors.New("hang")

// statuses are those of a run's results, by number of elements.
func statuses(r *Run) string {
	var list []string
	for _, res := range r.Results {
		list = append(list, string(res.Status))
	}
	return strings.Join(list, " ")
}

func execute(t *testing.T, opts Options, cases []ops.Case, targets ...Target) *Run {
	t.Helper()
	r, err := Execute(t.Context(), cases, targets, opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Env.Targets {
		r.Env.Targets[i].Modules = nil // of what was launched now, not of the run
	}
	return r
}

func lose(reason string) error { return &gpu.Fault{Kernel: "double_f32", Reason: reason, Lost: true} }

// A lost device costs the case that lost it, and no other.
func TestLostDeviceReopens(t *testing.T) {
	h := &hardware{fault: func(n, _ int) error {
		if n == 20 {
			return lose("illegal address")
		}
		return nil
	}}
	r := execute(t, Options{Seed: 1, Jobs: 3}, sized(double(), 10, 20, 30, 40), h.target("hip@fake:0"))
	if got := statuses(r); got != "pass FAIL pass pass" || !strings.Contains(r.Results[1].Fault, "illegal address") {
		t.Errorf("got %s, %q", got, r.Results[1].Fault)
	}
	if h.opened != 2 {
		t.Errorf("the device was opened %d times, want 2", h.opened)
	}
}

// Cases launch in plan order, whatever the number of workers, and of two
// targets of a place the one does not pay for the other.
func TestPlaceTakesTurns(t *testing.T) {
	sizes := []int{90, 80, 70, 60, 50, 40, 30, 20, 10}
	bad, good := &hardware{}, &hardware{}
	bad.fault = func(n, _ int) error {
		if n == 60 {
			return lose("illegal address")
		}
		return nil
	}
	r := execute(t, Options{Seed: 1, Jobs: 5}, sized(double(), sizes...), bad.target("hip@fake:0"), good.target("cuda@fake:0"))
	var want []int
	for _, n := range sizes {
		want = append(want, n, n) // each is launched twice
	}
	if !reflect.DeepEqual(good.launches, want) {
		t.Errorf("launched %v, want %v", good.launches, want)
	}
	if got, want := statuses(r), strings.Repeat("pass pass ", 3)+"FAIL pass"+strings.Repeat(" pass pass", 5); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What ends a device from outside is no sign of the kernel: the case is
// tried again, though not for ever.
func TestOutside(t *testing.T) {
	outside := func(times int) func(n, nth int) error {
		return func(n, nth int) error {
			if n == 20 && nth <= times {
				return &gpu.Fault{Reason: "killed from outside", Lost: true, Outside: true}
			}
			return nil
		}
	}
	for times, want := range map[int]string{1: "pass pass pass", maxTries - 1: "pass pass pass", maxTries: "pass FAIL pass"} {
		h := &hardware{fault: outside(times)}
		if got := statuses(execute(t, Options{Seed: 1}, sized(double(), 10, 20, 30), h.target("hip@fake:0"))); got != want {
			t.Errorf("killed %d times: got %s, want %s", times, got, want)
		}
	}
	for times, want := range map[int]string{maxTries - 1: "pass pass", maxTries: "unverified unverified"} {
		h := &hardware{refuses: times}
		r := execute(t, Options{Seed: 1}, sized(double(), 10, 20), h.target("hip@fake:0"))
		if got := statuses(r); got != want || (r.Env.Targets[0].Unavailable == "") != (times < maxTries) {
			t.Errorf("killed %d times while it opens: got %s and %+v, want %s", times, got, r.Env.Targets[0], want)
		}
	}
}

// A kernel that hangs is not launched for ever.
func TestHangs(t *testing.T) {
	h := &hardware{fault: func(n, _ int) error {
		if n > 10 {
			return errHang
		}
		return nil
	}}
	cases := sized(double(), 10, 20, 30, 40, 50)
	opts := Options{Seed: 1, Timeout: 20 * time.Millisecond}
	r := execute(t, opts, cases, h.target("hip@fake:0"))
	if got := statuses(r); got != "pass FAIL FAIL unverified unverified" {
		t.Errorf("got %s", got)
	}
	if got := r.Results[3].Skipped; got != "not run: 2 cases of double_f32 did not end before it" {
		t.Errorf("skipped for %q", got)
	}
	// And a run that goes on remembers.
	prior := *r
	prior.Results = r.Results[:3]
	opts.Prior = &prior
	again := &hardware{fault: h.fault}
	if r2 := execute(t, opts, cases, again.target("hip@fake:0")); !reflect.DeepEqual(r2, r) || len(again.launches) != 0 {
		t.Errorf("gone on with: got %s after %d launches", statuses(r2), len(again.launches))
	}
}

// Where the device does not come back, the rest is unverified and says
// why.
func TestDeviceGone(t *testing.T) {
	h := &hardware{dead: true, fault: func(n, _ int) error {
		if n == 20 {
			return lose("fell off the bus")
		}
		return nil
	}}
	r := execute(t, Options{Seed: 1}, sized(double(), 10, 20, 30, 40), h.target("hip@fake:0"))
	if got := statuses(r); got != "pass FAIL unverified unverified" || r.Results[3].Skipped != "no device answers" || h.opened != 2 {
		t.Errorf("got %s, %q, opened %d times", got, r.Results[3].Skipped, h.opened)
	}
}

// A launch that the driver refuses is a fault: it says so of the kernel as
// it is launched.
func TestRefusedLaunch(t *testing.T) {
	h := &hardware{}
	refuse := h.target("hip@fake:0")
	open := refuse.Open
	refuse.Open = func() (gpu.Device, error) { dev, err := open(); return refusing{dev}, err }
	r := execute(t, Options{Seed: 1}, sized(double(), 10), refuse)
	if got := statuses(r); got != "FAIL" || r.Results[0].Fault != "kernel double_f32: too many resources requested for launch" {
		t.Errorf("got %s, %q", got, r.Results[0].Fault)
	}
}

type refusing struct{ gpu.Device }

func (refusing) Launch(context.Context, gpu.Kernel, gpu.LaunchConfig, []byte) (gpu.Report, error) {
	return gpu.Report{}, errors.New("too many resources requested for launch")
}

// A run that goes on with the results of an earlier part launches the rest
// alone, and ends with what it would have had in one piece.
func TestPrior(t *testing.T) {
	cases := sized(double(), 10, 20, 30, 40)
	h := &hardware{info: gpu.Info{Name: "a"}}
	whole := execute(t, Options{Seed: 1}, cases, h.target("hip@fake:0"), target("hip@sim", HIP, true, kernel))
	for done := range len(cases) + 1 {
		prior := &Run{Env: Env{Targets: whole.Env.Targets}, Results: whole.Results[:2*done]}
		again := &hardware{info: h.info}
		var first, last Progress
		r := execute(t, Options{Seed: 1, Jobs: 1, Prior: prior, Progress: func(p Progress) {
			if first.Total == 0 {
				first = p
			}
			last = p
		}}, cases, again.target("hip@fake:0"), target("hip@sim", HIP, true, kernel))
		if !reflect.DeepEqual(r, whole) {
			t.Errorf("after %d cases: got another run: %s", done, statuses(r))
		}
		if len(again.launches) != 2*(len(cases)-done) {
			t.Errorf("after %d cases: %d launches", done, len(again.launches))
		}
		if done < len(cases) && (first.Done != done+1 || first.Prior != done || last.Done != len(cases) || !last.OpDone) {
			t.Errorf("after %d cases: progress from %+v to %+v", done, first, last)
		}
	}
	other := &hardware{info: gpu.Info{Name: "b"}}
	prior := &Run{Env: Env{Targets: whole.Env.Targets[:1]}, Results: whole.Results[:1]}
	if _, err := Execute(t.Context(), cases, []Target{other.target("hip@fake:0")}, Options{Seed: 1, Prior: prior}); err == nil || !strings.Contains(err.Error(), "cannot go on: hip@fake:0 was") {
		t.Errorf("on another device: got %v", err)
	}
	if _, err := Execute(t.Context(), cases, []Target{other.target("hip@other")}, Options{Seed: 1, Prior: prior}); err == nil || !strings.Contains(err.Error(), "a target was hip@fake:0 and is now hip@other") {
		t.Errorf("on another target: got %v", err)
	}
}

// Cancelling ends workers that wait for their turn.
func TestCancelWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	judged := make(chan struct{})
	h := &hardware{fault: func(n, _ int) error {
		if n == 20 {
			<-judged
			cancel()
			return errHang
		}
		return nil
	}}
	done := make(chan *Run)
	go func() {
		r, err := Execute(ctx, sized(double(), 10, 20, 30, 40, 50, 60), []Target{h.target("hip@fake:0")}, Options{Seed: 1, Jobs: 4, Progress: func(p Progress) {
			if p.Done == 1 {
				close(judged)
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		done <- r
	}()
	select {
	case r := <-done:
		if got := statuses(r); got != string(compare.Pass) {
			t.Errorf("kept %q, want the one case that was done", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a worker waits for ever")
	}
}
