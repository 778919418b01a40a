package runner

import (
	"context"
	"errors"
	"fmt"
	"go/constant"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// double is y = k*x with k = 2: the smallest op with an input, an output
// and a scalar.
func double() *ops.Op {
	o := &ops.Op{
		Name: "double", Family: "test", Module: "test", Symbol: "double_{T}",
		Summary: "y = k*x", Formula: "y = k*x", Bound: "0", Parity: ops.E0,
		Variants: []ops.Variant{{T: tensor.F32}},
		Params:   []ops.Param{{Role: ops.In, Type: ops.T, Name: "x"}, {Role: ops.Out, Type: ops.T, Name: "y"}, {Role: ops.Scalar, Type: ops.U32, Name: "n"}, {Role: ops.Scalar, Type: ops.F32, Name: "k"}},
	}
	o.Cases = func(v ops.Variant, _ ops.Level) []ops.Case {
		var cs []ops.Case
		for _, n := range []int{0, 1, 257} {
			cs = append(cs, ops.Case{Op: o, Variant: v, Dims: []ops.Dim{ops.D("n", n)}, Class: "normal"})
		}
		return cs
	}
	o.Bind = func(c *ops.Case, r *ops.Rand) *ops.Problem {
		n := c.Dim("n")
		x := tensor.New(tensor.F32, n)
		for i := range n {
			x.SetFloat(i, r.Normal())
		}
		p := &ops.Problem{Case: c, Grid: gpu.Dim3{X: uint32(n+255) / 256, Y: 1, Z: 1}, Block: gpu.Dim3{X: 256, Y: 1, Z: 1}}
		p.Args = []ops.Arg{{Buf: x}, {Buf: tensor.New(tensor.F32, n)}, {Int: int64(n)}, {Float: 2}}
		return p
	}
	o.Expect = func(p *ops.Problem) *compare.Expected {
		x := p.Arg("x").Buf
		e := &compare.Expected{DType: tensor.F32, Value: x.Floats(), Hard: make([]float64, x.Len()), ULP: true, Axes: []compare.Axis{{Name: "n", Size: x.Len()}}}
		for i := range e.Value {
			e.Value[i] *= 2
		}
		return e
	}
	o.Trace = func(p *ops.Problem, i int) []ops.Input {
		return []ops.Input{{Name: "x", Index: i, Value: compare.Num(p.Arg("x").Buf.Float(i))}}
	}
	return o
}

func kernel(_ context.Context, mem *gputest.Memory, _ gpu.LaunchConfig, args []byte) error {
	a := gputest.ReadArgs(args)
	px, py, n, k := a.Ptr(), a.Ptr(), int(a.Uint(4)), a.Float32()
	x, y := gputest.View[float32](mem, px, n), gputest.View[float32](mem, py, n)
	for i := range x {
		y[i] = k * x[i]
	}
	return nil
}

func target(name string, side Side, emulated bool, k gputest.Kernel) Target {
	return Target{
		Name: name, Side: side, Exclusive: !emulated,
		Open: func() (gpu.Device, error) {
			f := gputest.NewFake(map[string]gputest.Kernel{"double_f32": k})
			f.SetInfo(gpu.Info{Name: name, Emulated: emulated})
			return f, nil
		},
		Image: func(gpu.Device, string) ([]byte, error) { return gputest.Image(), nil },
	}
}

func run(t *testing.T, opts Options, targets ...Target) *Run {
	t.Helper()
	op := double()
	r, err := Execute(t.Context(), op.Cases(op.Variants[0], ops.Fast), targets, opts)
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * len(targets); len(r.Results) != want {
		t.Fatalf("got %d results, want %d", len(r.Results), want)
	}
	return r
}

// last is the result of the largest case on the first target.
func last(r *Run) Result { return r.Results[len(r.Results)-len(r.Env.Targets)] }

func TestRightKernelPasses(t *testing.T) {
	r := run(t, Options{Seed: 1}, target("hip@fake", HIP, true, kernel), target("cuda@fake", CUDA, false, kernel))
	for _, res := range r.Results {
		if res.Status != compare.Pass {
			t.Errorf("%s on %s: %s %+v %s%s", res.Case, res.Target, res.Status, res.Judgement, res.Fault, res.Skipped)
		}
	}
	if got := last(r); got.Against != "cuda@fake" || got.Judgement.Parity == nil || got.Judgement.Parity.Equal != 257 {
		t.Errorf("no parity against the CUDA target: %+v", got)
	}
}

// TestFaults plants one defect each. Every one must fail, in words that
// name it, and leave the other cases alone.
func TestFaults(t *testing.T) {
	const px, py = 0, 8 // bytes of the argument block
	nan := []byte{0, 0, 0xc0, 0x7f}
	for _, tc := range []struct {
		name   string
		kernel gputest.Kernel
		says   string
	}{
		{"one bit", gputest.Flip(kernel, py, 4*100, 1), ""},
		{"nan", gputest.Store(kernel, py, 4*100, nan), ""},
		{"past the end", gputest.Store(kernel, py, 4*257, nan), "y is written past its end"},
		{"before the start", gputest.Store(kernel, py, -4, nan), "y is written before its start"},
		{"changes its input", gputest.Flip(kernel, px, 8, 1), "wrote to its input x"},
		{"writes nothing", gputest.Skip, "never written"},
		{"crashes", gputest.Fail("illegal address", false), "illegal address"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := last(run(t, Options{Seed: 1}, target("hip@fake", HIP, false, tc.kernel)))
			if got.Status != compare.Fail {
				t.Fatalf("status %s, want FAIL: %+v", got.Status, got.Judgement)
			}
			text := got.Fault
			if got.Judgement != nil {
				text += strings.Join(got.Judgement.Hints, "\n")
			}
			if !strings.Contains(text, tc.says) {
				t.Errorf("%q does not say %q", text, tc.says)
			}
		})
	}
}

// TestInPlace: an Out parameter with initial contents is filled with them
// before every launch, and a kernel that leaves them is found out.
func TestInPlace(t *testing.T) {
	inPlace := func(change func(x float32) float32) gputest.Kernel {
		return func(_ context.Context, mem *gputest.Memory, _ gpu.LaunchConfig, args []byte) error {
			a := gputest.ReadArgs(args)
			px, py, n := a.Ptr(), a.Ptr(), int(a.Uint(4))
			if px != 0 {
				return errors.New("x is not null")
			}
			for i, x := range gputest.View[float32](mem, py, n) {
				gputest.View[float32](mem, py, n)[i] = change(x)
			}
			return nil
		}
	}
	for _, tc := range []struct {
		name   string
		change func(x float32) float32
		keep   bool // the truth is the contents as they were
		want   compare.Status
	}{
		{"right", func(x float32) float32 { return 2 * x }, false, compare.Pass},
		{"does nothing", func(x float32) float32 { return x }, false, compare.Fail},
		{"cannot tell", func(x float32) float32 { return x }, true, compare.Warn},
	} {
		op := double()
		bind, expect := op.Bind, op.Expect
		op.Trace = nil // it reads x
		op.Bind = func(c *ops.Case, r *ops.Rand) *ops.Problem {
			p := bind(c, r)
			p.Args[1] = ops.Arg{Buf: p.Args[0].Buf, Initial: true}
			p.Args[0] = ops.Arg{}
			return p
		}
		op.Expect = func(p *ops.Problem) *compare.Expected {
			q := *p
			q.Args = []ops.Arg{p.Args[1], p.Args[1], p.Args[2], p.Args[3]}
			e := expect(&q)
			if tc.keep {
				e.Value = p.Args[1].Buf.Floats()
			}
			return e
		}
		r, err := Execute(t.Context(), op.Cases(op.Variants[0], ops.Fast), []Target{target("hip@fake", HIP, true, inPlace(tc.change))}, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := last(r); got.Status != tc.want {
			t.Errorf("%s: status %s, want %s: %+v %s", tc.name, got.Status, tc.want, got.Judgement, got.Fault)
		}
	}
}

func TestWrongElementIsTraced(t *testing.T) {
	got := last(run(t, Options{Seed: 1}, target("hip@fake", HIP, true, gputest.Flip(kernel, 8, 4*100+2, 0x80))))
	if e := got.Judgement.Accuracy.First; e == nil || e.Index != 100 {
		t.Fatalf("first mismatch %+v, want element 100", e)
	}
	if len(got.FirstInputs) != 1 || got.FirstInputs[0].Index != 100 {
		t.Errorf("inputs of the first mismatch: %+v, want x[100]", got.FirstInputs)
	}
}

func TestUnavailableIsUnverified(t *testing.T) {
	gone := target("cuda@cuda:0", CUDA, false, kernel)
	gone.Open = gputest.Unavailable
	r := run(t, Options{Seed: 1}, target("hip@fake", HIP, true, kernel), gone)
	for _, res := range r.Results {
		want := compare.Pass
		if res.Target == gone.Name {
			want = compare.Unverified
		}
		if res.Status != want {
			t.Errorf("%s on %s: %s, want %s", res.Case, res.Target, res.Status, want)
		}
	}
	if r.Env.Targets[1].Unavailable == "" {
		t.Error("the environment does not say why cuda@cuda:0 is unavailable")
	}
}

// TestLostDevice: the case that lost the device fails, those after it are
// unverified, and another target is unaffected.
func TestLostDevice(t *testing.T) {
	bad := target("hip@bad", HIP, false, gputest.OnLaunch(2, kernel, gputest.Fail("device lost", true)))
	r := run(t, Options{Seed: 1, Jobs: 1}, bad, target("hip@good", HIP, true, kernel))
	var got []compare.Status
	for _, res := range r.Results {
		if res.Target == "hip@bad" {
			got = append(got, res.Status)
		} else if res.Status != compare.Pass {
			t.Errorf("%s on %s: %s", res.Case, res.Target, res.Status)
		}
	}
	// The empty case launches nothing; the second launch is the second
	// poison of n=1.
	want := []compare.Status{compare.Pass, compare.Fail, compare.Unverified}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

func TestHangTimesOut(t *testing.T) {
	r := run(t, Options{Seed: 1, Timeout: 20 * time.Millisecond}, target("hip@fake", HIP, true, gputest.Hang))
	if got := last(r); got.Status != compare.Fail || got.Fault == "" {
		t.Errorf("a hang gave %s %q, want FAIL and a fault", got.Status, got.Fault)
	}
}

func TestMissingKernelIsUnverified(t *testing.T) {
	tg := target("hip@fake", HIP, true, kernel)
	tg.Open = func() (gpu.Device, error) {
		return gputest.NewFake(map[string]gputest.Kernel{"other": kernel}), nil
	}
	if got := last(run(t, Options{Seed: 1}, tg)); got.Status != compare.Unverified || !strings.Contains(got.Skipped, "double_f32") {
		t.Errorf("got %s %q, want unverified naming double_f32", got.Status, got.Skipped)
	}
}

func TestNondeterministicKernelFails(t *testing.T) {
	n := 0
	k := func(ctx context.Context, mem *gputest.Memory, cfg gpu.LaunchConfig, args []byte) error {
		n++
		if n%2 == 0 {
			return gputest.Flip(kernel, 8, 0, 1)(ctx, mem, cfg, args)
		}
		return kernel(ctx, mem, cfg, args)
	}
	if got := last(run(t, Options{Seed: 1, Jobs: 1}, target("hip@fake", HIP, true, k))); got.Status != compare.Fail {
		t.Errorf("an output that varies gave %s: %+v", got.Status, got.Judgement)
	}
}

func TestOverride(t *testing.T) {
	set := func(v constant.Value) Options {
		return Options{Seed: 1, Set: []Override{{Param: "k", Text: "3", Eval: func(func(string) (constant.Value, bool)) (constant.Value, error) { return v, nil }}}}
	}
	got := last(run(t, set(constant.MakeInt64(3)), target("hip@fake", HIP, true, kernel)))
	if got.Status != compare.Fail {
		t.Errorf("k=3 gave %s, want FAIL: the truth must keep k=2", got.Status)
	}
	if len(got.Changes) != 1 || got.Changes[0].Was != "2" || got.Changes[0].Is != "3" {
		t.Errorf("changes %+v, want k from 2 to 3", got.Changes)
	}
	op := double()
	cases := op.Cases(op.Variants[0], ops.Fast)
	bad := set(constant.MakeInt64(1))
	bad.Set[0].Param = "stride"
	_, err := Execute(t.Context(), cases, []Target{target("hip@fake", HIP, true, kernel)}, bad)
	if err == nil || !strings.Contains(err.Error(), "double has no scalar parameter") {
		t.Errorf("an unknown parameter gave %v", err)
	}
	bad = set(constant.MakeInt64(1 << 40))
	bad.Set[0].Param = "n"
	_, err = Execute(t.Context(), cases, []Target{target("hip@fake", HIP, true, kernel)}, bad)
	if err == nil || !strings.Contains(err.Error(), "overflows u32") {
		t.Errorf("an overflowing value gave %v", err)
	}
}

func TestCancelKeepsResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	op := double()
	r, err := Execute(ctx, op.Cases(op.Variants[0], ops.Fast), []Target{target("hip@fake", HIP, true, kernel)}, Options{
		Seed: 1, Jobs: 1, Progress: func(Progress) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if r == nil || len(r.Results) != 1 {
		t.Errorf("kept %+v, want the one result that was done", r)
	}
}

func TestSelect(t *testing.T) {
	all := []*ops.Op{double()}
	check := func(sel Selection, want int, says string) {
		t.Helper()
		cases, err := Select(all, sel)
		if says != "" {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v: error %v, want %q", sel, err, says)
			}
			return
		}
		if err != nil || len(cases) != want {
			t.Errorf("%+v: %d cases, %v; want %d", sel, len(cases), err, want)
		}
	}
	check(Selection{}, 3, "")
	check(Selection{Ops: []string{"dou*"}}, 3, "")
	check(Selection{Cases: []string{"n=1"}}, 1, "")
	check(Selection{Cases: []string{"double/*/n=2*/*"}}, 1, "")
	check(Selection{Ops: []string{"duble"}}, 0, "there is double")
	check(Selection{DTypes: []string{"f16"}}, 0, `no dtype matches "f16"`)
	check(Selection{Cases: []string{"n=9"}}, 0, "no case matches")
	check(Selection{Cases: []string{"[x"}}, 0, "malformed")
}

// TestUnjudgeableCaseFails: a truth with a bound that is NaN is a fault of
// its case, not the end of the run.
func TestUnjudgeableCaseFails(t *testing.T) {
	op := double()
	right := op.Expect
	op.Expect = func(p *ops.Problem) *compare.Expected {
		e := right(p)
		if len(e.Hard) == 257 {
			e.Hard[3] = math.NaN()
		}
		return e
	}
	r, err := Execute(t.Context(), op.Cases(op.Variants[0], ops.Fast), []Target{target("hip@fake", HIP, true, kernel)}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := last(r); got.Status != compare.Fail || !strings.Contains(got.Fault, "cannot be judged") {
		t.Errorf("got %s %q, want FAIL that says so", got.Status, got.Fault)
	}
	if r.Results[1].Status != compare.Pass {
		t.Errorf("the case before gave %s", r.Results[1].Status)
	}
}
