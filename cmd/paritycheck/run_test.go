package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// double is y[i] = 2*x[i] in f32, exact: the smallest op that can be
// judged.
func double() *ops.Op {
	o := &ops.Op{
		Name: "double", Family: "double", Symbol: "double_{T}", Parity: ops.E0,
		Variants: []ops.Variant{{T: tensor.F32}},
		Params:   []ops.Param{{Role: ops.In, Type: ops.T, Name: "x"}, {Role: ops.Out, Type: ops.T, Name: "y"}, {Role: ops.Scalar, Type: ops.U32, Name: "n"}},
		Bind: func(c *ops.Case, r *ops.Rand) *ops.Problem {
			n := c.Dim("n")
			x := tensor.New(tensor.F32, n)
			for i := range n {
				x.SetFloat(i, r.Normal())
			}
			return &ops.Problem{Case: c, Grid: gpu.Dim3{X: 1, Y: 1, Z: 1}, Block: gpu.Dim3{X: 32, Y: 1, Z: 1},
				Args: []ops.Arg{{Buf: x}, {Buf: tensor.New(tensor.F32, n)}, {Int: int64(n)}}}
		},
		Expect: func(p *ops.Problem) *compare.Expected {
			x := p.Args[0].Buf
			y := tensor.New(tensor.F32, x.Len())
			for i := range x.Len() {
				y.SetFloat(i, 2*x.Float(i))
			}
			return &compare.Expected{DType: tensor.F32, Exact: y, Axes: []compare.Axis{{Name: "n", Size: x.Len()}}}
		},
	}
	o.Cases = func(v ops.Variant, _ ops.Level) []ops.Case {
		var cases []ops.Case
		for _, n := range []int{5, 33, 70} {
			cases = append(cases, ops.Case{Op: o, Variant: v, Class: "normal", Dims: []ops.Dim{ops.D("n", n)}})
		}
		return cases
	}
	return o
}

// doubling is the kernel, with a fault at element bad, -1 for none.
func doubling(bad int) gputest.Kernel {
	return func(_ context.Context, mem *gputest.Memory, _ gpu.LaunchConfig, args []byte) error {
		a := gputest.ReadArgs(args)
		px, py, n := a.Ptr(), a.Ptr(), int(a.Uint(4))
		x, y := gputest.View[float32](mem, px, n), gputest.View[float32](mem, py, n)
		for i := range x {
			y[i] = 2 * x[i]
			if i == bad {
				y[i]++
			}
		}
		return nil
	}
}

func fake(name string, side runner.Side, k gputest.Kernel) runner.Target {
	return runner.Target{
		Name: name, Side: side,
		Open:  func() (gpu.Device, error) { return gputest.NewFake(map[string]gputest.Kernel{"double_f32": k}), nil },
		Image: func(gpu.Device, string) ([]byte, error) { return gputest.Image(), nil },
	}
}

func absent(name string) runner.Target {
	return runner.Target{Name: name, Side: runner.HIP,
		Open: func() (gpu.Device, error) { return nil, fmt.Errorf("fake: %w: no such device", gpu.ErrUnavailable) }}
}

var (
	right = fake("hip@right", runner.HIP, doubling(-1))
	wrong = fake("hip@wrong", runner.HIP, doubling(50)) // in the largest case alone
)

// runFake runs the op double as run does.
func runFake(t *testing.T, ctx context.Context, opts runOptions, targets ...runner.Target) (code int, stdout, stderr string) {
	t.Helper()
	if opts.format == "" {
		opts.format = "table"
	}
	o := double()
	var out, errOut bytes.Buffer
	err := runCases(ctx, &out, &errOut, opts, o.Cases(o.Variants[0], ops.Fast), targets)
	if err != nil {
		fmt.Fprintln(&errOut, err)
	}
	return exitCode(err), out.String(), errOut.String()
}

func TestExitCodes(t *testing.T) {
	gone := absent("hip@gone")
	for _, c := range []struct {
		what    string
		opts    runOptions
		targets []runner.Target
		code    int
		count   string // end of stdout
		stderr  string // end of stderr
	}{
		{"right", runOptions{}, []runner.Target{right}, exitOK, "3 pass, 0 warn, 0 FAIL, 0 unverified", ""},
		{"wrong", runOptions{}, []runner.Target{right, wrong}, exitFail, "5 pass, 0 warn, 1 FAIL, 0 unverified", "1 of 6 results failed"},
		{"absent", runOptions{}, []runner.Target{gone}, exitNone, "0 pass, 0 warn, 0 FAIL, 3 unverified", "nothing was compared"},
		{"right and absent", runOptions{}, []runner.Target{right, gone}, exitOK, "3 pass, 0 warn, 0 FAIL, 3 unverified", ""},
		{"required", runOptions{require: []string{"hip@gone"}}, []runner.Target{right, gone}, exitFail, "3 pass, 0 warn, 3 FAIL, 0 unverified", "3 of 6 results failed"},
		{"all required", runOptions{require: []string{"all"}}, []runner.Target{gone}, exitFail, "0 pass, 0 warn, 3 FAIL, 0 unverified", "3 of 3 results failed"},
		{"another required", runOptions{require: []string{"hip@right"}}, []runner.Target{right, gone}, exitOK, "3 pass, 0 warn, 0 FAIL, 3 unverified", ""},
		{"set", runOptions{set: []string{"n=n-1"}}, []runner.Target{right}, exitFail, "0 pass, 0 warn, 3 FAIL, 0 unverified", "3 of 3 results failed"},
		{"overflow", runOptions{set: []string{"n=1<<32"}}, []runner.Target{right}, exitError, "", "the value 4294967296 overflows u32"},
	} {
		c.opts.quiet = true
		code, stdout, stderr := runFake(t, t.Context(), c.opts, c.targets...)
		stdout, stderr = strings.TrimSpace(stdout), strings.TrimSpace(stderr)
		if code != c.code || !strings.HasSuffix(stdout, c.count) || !strings.HasSuffix(stderr, c.stderr) || (stdout == "") != (c.count == "") || (stderr == "") != (c.stderr == "") {
			t.Errorf("%s: got code %d, stdout %q, stderr %q, want code %d and ends %q, %q", c.what, code, stdout, stderr, c.code, c.count, c.stderr)
		}
	}
}

// Under --strict a warning fails, and nothing else changes.
func TestGate(t *testing.T) {
	results := func() *runner.Run {
		return &runner.Run{Results: []runner.Result{
			{Status: compare.Pass}, {Status: compare.Warn}, {Status: compare.Fail},
			{Status: compare.Unverified, Target: "hip@a", Skipped: "no device"}, {Status: compare.Unverified, Target: "hip@b"},
		}}
	}
	check := func(opts runOptions, want ...compare.Status) {
		t.Helper()
		r := results()
		gate(r, opts)
		var got []compare.Status
		for _, x := range r.Results {
			got = append(got, x.Status)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("gate %+v: got %v, want %v", opts, got, want)
		}
	}
	check(runOptions{}, compare.Pass, compare.Warn, compare.Fail, compare.Unverified, compare.Unverified)
	check(runOptions{strict: true}, compare.Pass, compare.Fail, compare.Fail, compare.Unverified, compare.Unverified)
	check(runOptions{require: []string{"hip@a"}}, compare.Pass, compare.Warn, compare.Fail, compare.Fail, compare.Unverified)
	check(runOptions{require: []string{"all"}}, compare.Pass, compare.Warn, compare.Fail, compare.Fail, compare.Fail)
}

// A case that ran nowhere is no success, whatever the others did.
func TestOutcome(t *testing.T) {
	r := &runner.Run{Results: []runner.Result{{Case: "a", Status: compare.Pass}, {Case: "b", Status: compare.Unverified}}}
	if got := exitCode(outcome(r)); got != exitNone {
		t.Errorf("one case of two compared: got code %d, want %d", got, exitNone)
	}
	r.Results = append(r.Results, runner.Result{Case: "b", Status: compare.Warn})
	if err := outcome(r); err != nil {
		t.Errorf("both compared: got %v, want no error", err)
	}
	if got := exitCode(outcome(&runner.Run{})); got != exitNone {
		t.Errorf("no results: got code %d, want %d", got, exitNone)
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK}, {&failedError{"x"}, exitFail}, {fmt.Errorf("a: %w", &failedError{"x"}), exitFail},
		{&nothingError{"x"}, exitNone}, {errors.New("x"), exitError}, {&runner.SelectionError{}, exitError},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("exitCode(%v): got %d, want %d", c.err, got, c.want)
		}
	}
}

// An interrupted run reports what is done.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	launches := 0
	body := doubling(-1)
	slow := fake("hip@slow", runner.HIP, func(c context.Context, mem *gputest.Memory, cfg gpu.LaunchConfig, args []byte) error {
		if launches++; launches > 2 { // each case is launched twice
			cancel()
		}
		return body(c, mem, cfg, args)
	})
	file := filepath.Join(t.TempDir(), "r.json")
	code, stdout, stderr := runFake(t, ctx, runOptions{jobs: 1, rendering: rendering{outputs: []string{file}}}, slow)
	if code != exitError || !strings.Contains(stdout, "1 pass, 0 warn, 0 FAIL, 0 unverified") || !strings.HasSuffix(stderr, "interrupted: 1 of 3 cases were run; --resume goes on\n") {
		t.Errorf("got code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if r := readRun(t, file); len(r.Results) != 1 {
		t.Errorf("the file has %d results, want 1", len(r.Results))
	}
}

func readRun(t *testing.T, path string) *runner.Run {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Reports go to files whole, in the format of their extension, and leave
// nothing else behind.
func TestOutputs(t *testing.T) {
	folder := t.TempDir()
	var paths []string
	for _, ext := range []string{"txt", "md", "json", "csv", "bench", "xml"} {
		paths = append(paths, filepath.Join(folder, "r."+ext))
	}
	if err := os.WriteFile(paths[0], []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := runFake(t, t.Context(), runOptions{rendering: rendering{outputs: paths, format: "json"}, quiet: true, given: []string{"--op=double"}}, right)
	if code != exitOK || !json.Valid([]byte(stdout)) {
		t.Errorf("got code %d, stdout %q", code, stdout)
	}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err != nil || len(b) < 20 {
			t.Errorf("%s: got %q, %v", p, b, err)
		}
	}
	r := readRun(t, paths[2])
	if want := []string{"--op=double"}; !reflect.DeepEqual(r.Env.Flags, want) || len(r.Results) != 3 || r.Env.Version == "" {
		t.Errorf("got flags %v, %d results, version %q", r.Env.Flags, len(r.Results), r.Env.Version)
	}
	if left, _ := os.ReadDir(folder); len(left) != len(paths) {
		t.Errorf("got %d files, want %d", len(left), len(paths))
	}
}

// An output that cannot be written is found before anything runs.
func TestOutputsFirst(t *testing.T) {
	folder := t.TempDir()
	ran := fake("hip@x", runner.HIP, func(context.Context, *gputest.Memory, gpu.LaunchConfig, []byte) error {
		t.Error("a kernel ran")
		return nil
	})
	for _, bad := range []string{filepath.Join(folder, "no", "r.json"), folder + ".json/", filepath.Join(folder, "r.doc")} {
		code, stdout, stderr := runFake(t, t.Context(), runOptions{rendering: rendering{outputs: []string{filepath.Join(folder, "ok.json"), bad}}}, ran)
		if code != exitError || stdout != "" || !strings.HasPrefix(stderr, "output file ") {
			t.Errorf("%s: got code %d, stdout %q, stderr %q", bad, code, stdout, stderr)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left %v behind", left)
	}
}

func TestStepSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	t.Setenv("GITHUB_STEP_SUMMARY", path)
	runFake(t, t.Context(), runOptions{quiet: true}, right)
	if _, err := os.Stat(path); err == nil {
		t.Error("a table wrote a step summary")
	}
	_, stdout, _ := runFake(t, t.Context(), runOptions{quiet: true, rendering: rendering{format: "github"}}, wrong)
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), "| double") || !strings.HasPrefix(stdout, "::error title=") {
		t.Errorf("got summary %q, %v, stdout %q", b, err, stdout)
	}
}

// Without a terminal progress is a line per op, and --quiet has none.
func TestProgress(t *testing.T) {
	_, _, stderr := runFake(t, t.Context(), runOptions{}, right)
	if !strings.HasPrefix(stderr, "double: 3 pass, 0 warn, 0 FAIL, 0 unverified (3 of 3 cases, ") ||
		!strings.Contains(stderr, "\n3 cases in ") || !strings.HasSuffix(stderr, "/s\n") || strings.Count(stderr, "\n") != 2 {
		t.Errorf("got stderr %q", stderr)
	}
	if _, _, stderr = runFake(t, t.Context(), runOptions{quiet: true}, right); stderr != "" {
		t.Errorf("quiet: got stderr %q", stderr)
	}
}

func TestLiveLine(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&b)
	p.width, p.now, p.start = func() int { return 30 }, func() time.Time { return now }, now
	c := &ops.Case{Op: &ops.Op{Name: "rope_i"}}
	for done := 1; done <= 4; done++ {
		now = now.Add(60 * time.Millisecond)
		p.update(runner.Progress{Case: c, Done: done, Total: 4})
	}
	p.done()
	p.done()
	// The second comes too soon after the first; the last always shows.
	want := "\r\x1b[Krope_i: 1 of 4 cases, 16.7/s," + "\r\x1b[Krope_i: 3 of 4 cases, 16.7/s," + "\r\x1b[Krope_i: 4 of 4 cases, 16.7/s" + "\r\x1b[K" + "4 cases in 200ms, 16.7/s\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := liveLine("op", runner.Progress{Done: 1, Total: 4}, time.Second), "op: 1 of 4 cases, 1.0/s, 3s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// What an earlier part of the run did is not of this one's rate.
	if got, want := liveLine("op", runner.Progress{Done: 3, Total: 4, Prior: 2}, time.Second), "op: 3 of 4 cases, 1.0/s, 1s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUseColor(t *testing.T) {
	for when, want := range map[string]bool{"always": true, "never": false, "auto": false} { // a buffer is no terminal
		if got := useColor(when, io.Discard); got != want {
			t.Errorf("useColor(%q): got %v, want %v", when, got, want)
		}
	}
}

// Flags reach the run function as they are given.
func TestRunFlags(t *testing.T) {
	parse := func(args ...string) runOptions {
		t.Helper()
		var got runOptions
		cmd := newRunCmd(func(_ context.Context, _, _ io.Writer, opts runOptions) error { got = opts; return nil })
		cmd.SetArgs(args)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		return got
	}
	def := runOptions{seed: 1, repeat: 2, timeout: 5 * time.Minute, rendering: rendering{format: "table", color: "auto"}, holding: holding{growth: 0.05}, emulation: emulation{transcendental: "cr"}, user: userCode{declared: declaration{half: "steps", lanes: 1}}}
	check := func(want runOptions, args ...string) {
		t.Helper()
		got := parse(args...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v, want %+v", args, got, want)
		}
	}
	check(def)
	want := def
	want.sel = runner.Selection{Ops: []string{"rope", "rope_i"}, DTypes: []string{"f32"}, Families: []string{"r*"}, Cases: []string{"b=2,*"}, Level: ops.Thorough}
	want.targets, want.vs = []string{"hip@gfx90a"}, "cuda@cuda:0"
	want.set = []string{"n=max(1, 2)"}
	want.seed, want.repeat, want.jobs, want.timeout = 7, 5, 3, time.Second
	want.strict, want.require, want.format, want.outputs = true, []string{"all"}, "csv", []string{"a.json", "b,c.md"}
	want.color, want.quiet, want.counters = "never", true, true
	want.emulation = emulation{transcendental: "-1ulp", schedule: 9, noChecks: true}
	want.given = []string{"--case=b=2,*", "--dtype=f32", "--family=r*", "--no-checks", "--op=rope", "--op=rope_i", "--repeat=5", "--require=all",
		"--schedule=9", "--seed=7", "--set=n=max(1, 2)", "--strict", "--target=hip@gfx90a", "--thorough", "--timeout=1s", "--transcendental=-1ulp", "--vs=cuda@cuda:0"}
	check(want, "--op", "rope,rope_i", "--dtype", "f32", "--family", "r*", "--case", "b=2,*", "--thorough",
		"--target", "hip@gfx90a", "--vs", "cuda@cuda:0", "--set", "n=max(1, 2)", "--seed", "7", "--repeat", "5", "--jobs", "3", "--timeout", "1s",
		"--strict", "--require", "all", "--format", "csv", "-o", "a.json", "--output", "b,c.md", "--color", "never", "-q", "--counters",
		"--transcendental", "-1ulp", "--schedule", "9", "--no-checks")
}
