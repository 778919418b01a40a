package baseline

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/seal"
)

const elements = 1000

// sample is a run of two ops on two targets, twelve cases each, with
// half of the elements exact and the rest within an ulp.
func sample() *runner.Run {
	run := &runner.Run{Schema: runner.Schema, Env: runner.Env{
		Version: "v0.1.0", Seed: 1, Level: "fast", Cases: 24,
		Targets: []runner.TargetInfo{
			{Name: "hip@gfx90a", Info: gpu.Info{Name: "gfx90a (emulated)", Emulated: true}, Images: map[string]string{"rope": "aa", "reduce": "bb"}},
			{Name: "hip@rocm:0", Info: gpu.Info{Name: "AMD Instinct MI300X", Driver: "6.2"}, Images: map[string]string{"rope": "cc", "reduce": "dd"}},
		},
	}}
	for _, op := range []struct{ name, family string }{{"rope_i", "rope"}, {"sum", "reduce"}} {
		for i := range 12 {
			for _, target := range run.Env.Targets {
				r := runner.Result{
					Op: op.name, Family: op.family, Kernel: op.name + "_f32", DType: "f32", Case: fmt.Sprintf("%s/f32/n=%d/normal", op.name, i), Class: "normal",
					Target: target.Name, Status: compare.Pass, OutputHash: fmt.Sprintf("%s%d", op.name, i),
					Judgement: &compare.Judgement{Verdict: compare.WithinBound, Status: compare.Pass, Accuracy: compare.Diff{
						N: elements, Exact: 500 + i, Share: 0.3, RMSShare: 0.1, P999Share: 0.29, P50ULP: 0.25, P99ULP: 0.9, MaxULP: 0.99,
						Hist: []int{400, 400, 200, 0, 0, 0, 0, 0, 0, 0, 0},
					}},
				}
				if target.Emulated {
					r.Counters = &gpu.Counters{Inst: map[string]int64{"salu": 1000, "valu_f32": 9000}, GlobalLines: 800, Barriers: 10}
				} else {
					r.Samples = samples(1e-5, 0.01, 20, uint64(i))
				}
				run.Results = append(run.Results, r)
			}
		}
	}
	return run
}

// samples are n times about median seconds, of the given relative noise.
func samples(median, noise float64, n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = median * (1 + noise*r.NormFloat64())
	}
	return out
}

// on returns the results of an op on a target.
func on(run *runner.Run, op, target string) []*runner.Result {
	var out []*runner.Result
	for i := range run.Results {
		if r := &run.Results[i]; r.Op == op && r.Target == target {
			out = append(out, r)
		}
	}
	return out
}

// recompiled gives the objects of family other hashes.
func recompiled(run *runner.Run, family string) {
	for i := range run.Env.Targets {
		run.Env.Targets[i].Images[family] += "2"
	}
}

func of(t *testing.T, run *runner.Run) *Baseline {
	t.Helper()
	b, err := Of(run)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// changes lists what a change of a run makes, as "kind: what".
func changes(t *testing.T, opts Options, change func(run *runner.Run)) []string {
	t.Helper()
	now := sample()
	change(now)
	c, err := Compare(of(t, sample()), of(t, now), opts)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	regressions := 0
	for _, x := range c.Changes {
		if x.Kind.Regression() {
			regressions++
		}
		out = append(out, fmt.Sprintf("%s: %s", x.Kind, x.What))
	}
	if got := c.Regressions(); got != regressions {
		t.Errorf("got %d regressions, want %d", got, regressions)
	}
	return out
}

// Every kind of change, and what is just short of it.
func TestCompare(t *testing.T) {
	check := func(what string, change func(run *runner.Run), want ...string) {
		t.Helper()
		got := changes(t, Options{Varies: func(op string) bool { return op == "sum" }}, change)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	emulated := func(run *runner.Run) []*runner.Result { return on(run, "rope_i", "hip@gfx90a") }
	silicon := func(run *runner.Run) []*runner.Result { return on(run, "rope_i", "hip@rocm:0") }
	status := func(s compare.Status) func(*runner.Run) {
		return func(run *runner.Run) { emulated(run)[0].Status = s }
	}
	check("equal", func(*runner.Run) {})

	check("warn", status(compare.Warn), "status: pass → warn")
	check("fail", status(compare.Fail), "status: pass → FAIL")
	check("unverified", status(compare.Unverified), "lost: pass → unverified")
	check("a finding", func(run *runner.Run) {
		r := emulated(run)[3]
		r.Findings = []gpu.Finding{{Check: gpu.OutOfBounds}}
		r.Status = compare.Fail
	}, "status: pass → FAIL")

	check("a case", func(run *runner.Run) { run.Results = run.Results[1:] }, "lost: the case is lost")
	check("an op", func(run *runner.Run) { run.Results = run.Results[24:] }, "lost: the op is lost", "lost: the op is lost")
	check("a target", func(run *runner.Run) {
		var kept []runner.Result
		for _, r := range run.Results {
			if r.Target == "hip@gfx90a" {
				kept = append(kept, r)
			}
		}
		run.Results = kept
	}, "lost: the target is lost", "lost: the target is lost")
	add := func(s compare.Status) func(*runner.Run) {
		return func(run *runner.Run) {
			r := run.Results[0]
			r.Case, r.Status = "rope_i/f32/n=99/normal", s
			run.Results = append(run.Results, r)
		}
	}
	check("a new case", add(compare.Pass), "added: new case")
	check("a new case that fails", add(compare.Fail), "new FAIL: a new case fails")

	// Equal objects must give equal numbers, but where the op varies on
	// hardware.
	bits := func(op, target string) func(*runner.Run) {
		return func(run *runner.Run) { on(run, op, target)[0].OutputHash = "other" }
	}
	check("bits, interpreted", bits("rope_i", "hip@gfx90a"), "moved: equal objects, other numbers")
	check("bits, on hardware", bits("rope_i", "hip@rocm:0"), "moved: equal objects, other numbers")
	check("bits of an op that varies, interpreted", bits("sum", "hip@gfx90a"), "moved: equal objects, other numbers")
	check("bits of an op that varies, on hardware", bits("sum", "hip@rocm:0"))
	check("bits of another driver", func(run *runner.Run) {
		bits("rope_i", "hip@rocm:0")(run)
		run.Env.Targets[1].Driver = "6.3"
	})
	check("bits of another object", func(run *runner.Run) {
		bits("rope_i", "hip@gfx90a")(run)
		recompiled(run, "rope")
	})
	check("another order of waves", func(run *runner.Run) {
		bits("sum", "hip@gfx90a")(run)
		run.Env.Flags = []string{"--schedule=7"}
	})
	check("a counter of equal objects", func(run *runner.Run) { emulated(run)[0].Counters.Barriers++ }, "moved: equal objects, other numbers")
	check("the error alone", func(run *runner.Run) { emulated(run)[0].Judgement.Accuracy.Share = 0.31 }, "moved: equal objects, other numbers")

	// Accuracy inside the bound.
	tail := func(cases, n int) func(*runner.Run) {
		return func(run *runner.Run) {
			recompiled(run, "rope")
			for i, r := range emulated(run)[:cases] {
				a := &r.Judgement.Accuracy
				n := n + i%2
				a.Hist = []int{400 - n, 400, 200, n, 0, 0, 0, 0, 0, 0, 0}
			}
		}
	}
	check("5% over an ulp in every case", tail(12, 50), "accuracy: accuracy inside the bound")
	check("1.1% over an ulp in every case", tail(12, 11), "accuracy: accuracy inside the bound")
	check("half a percent in every case", tail(12, 5))
	check("5% in one case", tail(1, 50))
	check("20% in one case", tail(1, 200))
	jitter := func(run *runner.Run) { // up here, down there
		recompiled(run, "rope")
		r := rand.New(rand.NewPCG(3, 3))
		for _, x := range emulated(run) {
			n := int(60 * r.NormFloat64())
			x.Judgement.Accuracy.Hist = []int{400 - n, 400, 200 + n, 0, 0, 0, 0, 0, 0, 0, 0}
			x.Judgement.Accuracy.Exact -= n
		}
	}
	check("other roundings", jitter)
	rms := func(cases int, v compare.Num) func(*runner.Run) {
		return func(run *runner.Run) {
			recompiled(run, "rope")
			for _, r := range emulated(run)[:cases] {
				r.Judgement.Accuracy.RMSShare, r.Judgement.Accuracy.Share = v, max(v, 0.3)
			}
		}
	}
	check("rms error four times", rms(1, 0.41), "accuracy: accuracy inside the bound")
	check("rms error nearly four times", rms(1, 0.39))
	check("worst error", func(run *runner.Run) {
		recompiled(run, "rope")
		emulated(run)[0].Judgement.Accuracy.Share = 0.999
	})
	check("better", func(run *runner.Run) {
		recompiled(run, "rope")
		for _, r := range emulated(run) {
			r.Judgement.Accuracy.Hist = []int{elements, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			r.Judgement.Accuracy.Exact = elements
		}
	})

	// Counters.
	inst := func(n int64) func(*runner.Run) {
		return func(run *runner.Run) {
			recompiled(run, "rope")
			for _, r := range emulated(run) {
				r.Counters.Inst["salu"] += n
			}
		}
	}
	check("6% more instructions", inst(600), "counters: more instructions")
	check("5% more instructions", inst(500))
	check("fewer instructions", inst(-500))
	check("a conflict from none", func(run *runner.Run) {
		recompiled(run, "rope")
		emulated(run)[0].Counters.LDSConflicts = 100
	})
	check("conflicts from none", func(run *runner.Run) {
		recompiled(run, "rope")
		emulated(run)[0].Counters.LDSConflicts = 1300
	}, "counters: more LDS conflicts")

	// Time.
	times := func(factor float64) func(*runner.Run) {
		return func(run *runner.Run) {
			recompiled(run, "rope")
			silicon(run)[2].Samples = samples(1e-5*factor, 0.01, 20, 99)
		}
	}
	check("5% slower", times(1.05), "time: SLOWER")
	check("0.3% slower", times(1.003))
	check("5% faster", times(0.95), "better: FASTER")
	check("another card", func(run *runner.Run) {
		times(2)(run)
		run.Env.Targets[1].Name, run.Env.Targets[1].Info.Name = "hip@rocm:0", "AMD Radeon RX 7900 XTX"
	}, "notice: times are not compared", "notice: times are not compared")
}

// Both fail: more wrong elements or another finding are worse.
func TestCompareFailing(t *testing.T) {
	fail := func(mismatches int, checks ...gpu.Check) *Baseline {
		run := sample()
		recompiled(run, "rope")
		r := &run.Results[0]
		r.Status, r.Judgement.Status, r.Judgement.Verdict = compare.Fail, compare.Fail, compare.Mismatch
		r.Judgement.Accuracy.Mismatches = mismatches
		for _, c := range checks {
			r.Findings = append(r.Findings, gpu.Finding{Check: c})
		}
		r.OutputHash = fmt.Sprint(mismatches)
		if mismatches > 10 {
			recompiled(run, "rope")
		}
		return of(t, run)
	}
	check := func(base, now *Baseline, want int) {
		t.Helper()
		c, err := Compare(base, now, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Regressions(); got != want || c.StillFail != 1 {
			t.Errorf("got %d regressions %v, %d still failing, want %d, 1", got, c.Changes, c.StillFail, want)
		}
	}
	check(fail(10), fail(10), 0)
	check(fail(10), fail(11), 1)
	check(fail(11), fail(10), 0)
	check(fail(10), fail(10, gpu.OutOfBounds), 1)
	check(fail(10, gpu.OutOfBounds), fail(10), 0)
}

func TestCompareErrors(t *testing.T) {
	check := func(change func(base, now *runner.Run), want string) {
		t.Helper()
		base, now := sample(), sample()
		change(base, now)
		if _, err := Compare(of(t, base), of(t, now), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	check(func(_, now *runner.Run) { now.Env.Seed = 2 }, "the seeds must be equal, they are 1 and 2")
	check(func(base, _ *runner.Run) { base.Env.Level = "thorough" }, "run with --thorough")
}

// What is left out of the selection is not lost.
func TestSelect(t *testing.T) {
	opts := Options{Select: func(r *Row, _ *Case) bool { return r.Op == "sum" }}
	if got := changes(t, opts, func(run *runner.Run) { run.Results = run.Results[24:] }); len(got) != 0 {
		t.Errorf("got %q, want no changes", got)
	}
	if got := changes(t, opts, func(run *runner.Run) { run.Results = run.Results[:24] }); len(got) != 2 {
		t.Errorf("got %q, want two ops lost", got)
	}
}

// What a whole machine is slower by is its noise, not the kernels'.
func TestTwinFloor(t *testing.T) {
	now := sample()
	recompiled(now, "rope")
	for i := range now.Results {
		r := &now.Results[i]
		factor := 1.1
		if r.Op == "rope_i" && strings.Contains(r.Case, "n=3/") {
			factor = 1.5
		}
		for j := range r.Samples {
			r.Samples[j] *= factor
		}
	}
	c, err := Compare(of(t, sample()), of(t, now), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Floor < 0.095 || c.Floor > 0.105 {
		t.Errorf("got a floor of %v, want about 0.1", c.Floor)
	}
	slow := 0
	for _, x := range c.Changes {
		if x.Kind == Slow && x.Case != "rope_i/f32/n=3/normal" {
			slow++
		}
	}
	if slow > 3 || c.Regressions()-slow != 1 { // medians that lie at the floor may pass it
		t.Errorf("got %v, want n=3 alone", c.Changes)
	}
}

func TestTiming(t *testing.T) {
	check := func(base, now []float64, want Speed) {
		t.Helper()
		if got := newTiming(base, now, 0); got.Speed != want || (got.Speed == Unsure) != (got.Why != "") {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	quiet := samples(1, 0.002, 20, 1)
	check(quiet, quiet, Same)
	check(quiet, samples(1.03, 0.002, 20, 2), Slower)
	check(samples(1.03, 0.002, 20, 2), quiet, Faster)
	check(quiet, samples(1.005, 0.002, 20, 2), Same) // tested, but under the floor
	check(quiet[:5], samples(2, 0.002, 20, 2), Unsure)
	check(samples(1, 0.5, 20, 3), samples(1.05, 0.5, 20, 4), Unsure)
	check(samples(1, 0.5, 8, 3), samples(8, 0.5, 8, 4), Slower)
	// A tick of the clock apart, and further than ticks.
	scaled := func(x []float64, by float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = by * x[i]
		}
		return out
	}
	check(scaled(quiet, 6e-6), scaled(samples(1.04, 0.002, 20, 2), 6e-6), Same)
	check(scaled(quiet, 3e-6), scaled(samples(1.08, 0.002, 20, 2), 3e-6), Unsure)
	check(scaled(quiet, 3e-6), scaled(samples(1.3, 0.002, 20, 2), 3e-6), Slower)
}

// A right kernel must not be reddened: errors drawn anew from one
// distribution, correlated within a case as those of a row are.
func TestNoFalseLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	draw := func(rows int) []int {
		h := make([]int, len(compare.HistEdges)+1)
		for range rows {
			shift := r.NormFloat64() * 0.5 // of a whole row of 64 elements
			for range 64 {
				e := math.Abs(shift + 0.3*r.NormFloat64())
				i := 0
				for i < len(compare.HistEdges) && e > compare.HistEdges[i] {
					i++
				}
				h[i]++
			}
		}
		return h
	}
	losses := 0
	const rounds = 2000
	for range rounds {
		var pairs []pair
		for range 8 {
			rows := 1 + r.IntN(8)
			c := func() *Case {
				h := draw(rows)
				return &Case{Status: compare.Pass, Error: &Distribution{N: 64 * rows, Exact: h[0] + h[1]/2, RMSShare: 0.1, MaxShare: 0.3, Hist: h}}
			}
			pairs = append(pairs, pair{base: c(), now: c()})
		}
		if rowLoss(pairs) != "" {
			losses++
		}
	}
	if losses > 4 {
		t.Errorf("got %d losses in %d rounds of equal kernels, want at most 4", losses, rounds)
	}
}

func TestCheck(t *testing.T) {
	check := func(change func(run *runner.Run), allow bool, want string) {
		t.Helper()
		run := sample()
		change(run)
		err := of(t, run).Check(allow)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	skip := func(run *runner.Run) {
		r := &run.Results[1]
		r.Status, r.Skipped, r.Judgement = compare.Unverified, "no AMD GPU", nil
	}
	check(func(*runner.Run) {}, false, "")
	check(skip, false, "1 of 48 results are unverified, the first rope_i/f32/n=0/normal on hip@rocm:0: no AMD GPU")
	check(skip, true, "")
	check(func(run *runner.Run) {
		for i := range run.Results {
			run.Results[i].Status = compare.Unverified
		}
	}, true, "nothing in it is verified")
	check(func(run *runner.Run) { run.Results = run.Results[2:] }, true, "23 of 24 cases were run")
	check(func(run *runner.Run) { run.Results = nil }, true, "it holds no results")
	check(func(run *runner.Run) {
		run.Results[0].Changes = []runner.Change{{Param: "stride_b", Text: "t*d/2"}}
	}, true, "--set stride_b=t*d/2")
}

func TestOfErrors(t *testing.T) {
	check := func(want string, change func(r *runner.Result)) {
		t.Helper()
		run := sample()
		change(&run.Results[0])
		if _, err := Of(run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	check("stands there twice", func(r *runner.Result) { r.Target = "hip@rocm:0" })
	check(`unknown status "green"`, func(r *runner.Result) { r.Status = "green" })
	check("status pass without a judgement", func(r *runner.Result) { r.Judgement = nil })
	check("status pass with 3 mismatches", func(r *runner.Result) { r.Judgement.Accuracy.Mismatches = 3 })
	check("1001 exact", func(r *runner.Result) { r.Judgement.Accuracy.Exact = 1001 })
	check("a histogram of 2 bins", func(r *runner.Result) { r.Judgement.Accuracy.Hist = []int{1, 2} })
	check("a histogram of 1100 elements", func(r *runner.Result) { r.Judgement.Accuracy.Hist[3] = 100 })
	check("a time must be positive", func(r *runner.Result) { r.Samples = []float64{0} })
}

func written(t testing.TB, b *Baseline) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadBack(t *testing.T) {
	run := sample()
	run.Results[0].Judgement.Accuracy.MaxULP = compare.Num(math.Inf(1))
	run.Results[2].Judgement.Accuracy.P50ULP = compare.Num(math.NaN())
	doc := written(t, of(t, run))
	got, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	if again := written(t, got); !bytes.Equal(again, doc) {
		t.Errorf("reading back and writing again gave\n%s\nwant\n%s", again, doc)
	}
	c, err := Compare(got, of(t, run), Options{})
	if err != nil || len(c.Changes) != 0 || c.Compared != 48 {
		t.Errorf("against itself: got %v, %d compared, %v, want nothing, 48", c.Changes, c.Compared, err)
	}
	if lines := bytes.Count(doc, []byte("\n")); lines < 48 {
		t.Errorf("got %d lines, want one for each case", lines)
	}
}

func TestParseErrors(t *testing.T) {
	doc := string(written(t, of(t, sample())))
	check := func(in, want string) {
		t.Helper()
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.50q): got %v, want an error with %q", in, err, want)
		}
	}
	check(doc[:len(doc)/2], "it was cut off")
	check("", "it was cut off")
	check(doc+"{}", "more follows its end")
	check(strings.Replace(doc, "/v1", "/v2", 1), `schema must be "paritycheck.baseline/v1", not "paritycheck.baseline/v2"`)
	check(strings.Replace(doc, `"max_share":0.3`, `"max_share":0.9`, 1), seal.ErrChanged.Error())
	check(strings.Replace(doc, `"status":"pass"`, `"status":"green"`, 1), `unknown status "green"`)
	check(strings.Replace(doc, `"max_share":0.3`, `"max_share":"a"`, 1), "number must be finite")
}

func FuzzParse(f *testing.F) {
	b, err := Of(sample())
	if err != nil {
		f.Fatal(err)
	}
	b.Rows[0].Cases, b.Rows[1].Cases = b.Rows[0].Cases[:1], b.Rows[1].Cases[:1]
	b.Rows = b.Rows[:2]
	f.Add(written(f, b))
	f.Add([]byte(`{"schema":"paritycheck.baseline/v1"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := Parse(in); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("got an error of several lines: %q", err)
		}
		got, err := decode(in)
		if err != nil {
			return
		}
		_ = got.Check(false)
		// Whatever was read can be compared, and has not changed from itself.
		c, err := Compare(got, got, Options{})
		if err != nil || c.Regressions() != 0 {
			t.Errorf("against itself: got %v, %v", c, err)
		}
		if _, err := Compare(b, got, Options{}); err != nil && got.Env.Seed == 1 {
			t.Errorf("got %v", err)
		}
	})
}
