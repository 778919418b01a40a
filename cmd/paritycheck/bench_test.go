package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/report"
)

// benchRun is what `bench` gave with the stub driver.
func benchRun(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	t.Setenv("PARITYCHECK_LIBCUDA", gputest.Stub(t, "cuda"))
	t.Setenv("PARITYCHECK_NVRTC", filepath.Join(t.TempDir(), "none")) // the stub knows PTX alone
	var o, e bytes.Buffer
	code = run(append([]string{"bench", "-q", "--time-limit", "50ms"}, args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// timed finds a time, which a slow machine has more of than others.
var timed = regexp.MustCompile(`\d(µs|ms|s) `)

// TestBench: every format shows the time, the interval and the share of
// the copy; interpreted targets show counters, and why they have no time.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	saved, dump := filepath.Join(dir, "run.json"), filepath.Join(dir, "dump")
	code, out, errOut := benchRun(t, "neg", "--dtype", "f32", "--size", "small", "--size", "n=1<<14", "--target", "cuda@cuda:0", "--target", "hip@gfx1030",
		"-o", saved, "-o", filepath.Join(dir, "run.csv"), "-o", filepath.Join(dir, "run.bench"), "-o", filepath.Join(dir, "run.html"), "-o", filepath.Join(dir, "run.md"), "--dump", dump)
	if code != exitOK || errOut != "" {
		t.Fatalf("exit code %d, %s\n%s", code, errOut, out)
	}
	for _, want := range []string{"copy of cuda@cuda:0: ", " by the driver, ", " by the copy kernel", "n=1<<14", "GB/s", "of copy", "no time: interpreted"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	f, err := os.Open(saved)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	timed, counted := 0, 0
	for _, res := range r.Results {
		switch tm := res.Timing; {
		case tm != nil:
			timed++
			if !(tm.Low <= tm.Median && tm.Median <= tm.High) || tm.Low <= 0 || len(res.Samples) == 0 || len(tm.Batch) == 0 || !tm.Held || tm.OfCopy <= 0 || tm.Stop == "" || tm.Flushed != 2<<20 {
				t.Errorf("%s: %d samples, %+v", res.Case, len(res.Samples), tm)
			}
		case res.Counters != nil && res.Untimed != "" && len(res.Samples) == 0:
			counted++
		}
	}
	if timed != 2 || counted != 2 {
		t.Errorf("%d results with times and %d with counters, want 2 of each", timed, counted)
	}
	for file, want := range map[string]string{"run.csv": "time_low_s", "run.bench": "BenchmarkNeg/f32/n=4096,layout=null/normal/target=cuda@cuda:0 1 ", "run.html": "of copy", "run.md": "| of copy"} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: no %q, %v", file, want, err)
		}
	}

	var launches []dumpedLaunch
	b, err := os.ReadFile(filepath.Join(dump, "launches.json"))
	if err == nil {
		err = json.Unmarshal(b, &launches)
	}
	if err != nil || len(launches) != 2 {
		t.Fatalf("launches.json: %d launches, %v", len(launches), err)
	}
	l := launches[0]
	if l.Kernel != "uneg_f32" || l.Grid[0] == 0 || len(l.Args) != 5 || l.Args[0].Value != 4096 || !l.Args[2].Null || l.Args[3].File == "" || l.Args[4].Bytes != 4*4096 {
		t.Errorf("dumped %+v", l)
	}
	if module, err := os.ReadFile(filepath.Join(dump, l.Module)); err != nil || !strings.Contains(string(module), "uneg_f32") {
		t.Errorf("module of %s: %v", l.Kernel, err)
	}
}

// TestBenchROCm goes the same way on an AMD GPU, here one whose memory is
// smaller than the caches that such have.
func TestBenchROCm(t *testing.T) {
	t.Setenv("PARITYCHECK_LIBAMDHIP64", gputest.Stub(t, "hip"))
	code, out, errOut := benchRun(t, "neg", "--dtype", "f32", "--size", "small", "--target", "hip@rocm:0")
	if code != exitOK || !timed.MatchString(out) || !strings.Contains(out, "warm: ") || !strings.Contains(out, "copy of hip@rocm:0: ") {
		t.Errorf("exit code %d, %s\n%s", code, errOut, out)
	}
}

// TestBenchRefuses: a kernel that gives wrong results is not timed, unless
// that is asked for.
func TestBenchRefuses(t *testing.T) {
	t.Setenv("STUB_FAULTS", "cuLaunchKernel:3:flip")
	code, out, _ := benchRun(t, "neg", "--dtype", "f32", "--size", "small", "--target", "cuda@cuda:0")
	if code != exitFail || !strings.Contains(out, "its time says nothing") || !strings.Contains(out, "MISMATCH") && !strings.Contains(out, "NONDETERMINISTIC") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	code, out, _ = benchRun(t, "neg", "--dtype", "f32", "--size", "small", "--target", "cuda@cuda:0", "--no-check")
	if code != exitOK || !timed.MatchString(out) {
		t.Errorf("--no-check: exit code %d\n%s", code, out)
	}
}

func TestBenchUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"nge", "there is"},
		{"neg --size lerge", `unknown size "lerge"`},
		{"neg --size rows=3", "none of the selected ops has these dimensions"},
		{"neg --size n=3*x", "column 3"},
		{"neg --size n=1<<63", "whole number from 1"},
		{"neg --size layout=3", "is no number"},
		{"rope --size model:sd1.5", "none of the selected ops occurs"},
		{"neg --noise 0", "--noise must be"},
		{"neg --time-limit -1s", "--time-limit must be"},
		{"neg --min-samples 0", "--min-samples must be"},
		{"neg --dump /dev/null/x", "--dump"},
	} {
		var o, e bytes.Buffer
		if code := run(append([]string{"bench", "-q", "--target", "hip@gfx90a"}, strings.Fields(c.args)...), strings.NewReader(""), &o, &e); code != exitError || !strings.Contains(e.String(), c.want) || strings.Count(e.String(), "\n") != 1 {
			t.Errorf("bench %s: exit code %d, %q, want %q in it", c.args, code, e.String(), c.want)
		}
	}
}

// TestRunTime: run --time gives silicon's results samples that diff can
// judge, and says of the others why they have none.
func TestRunTime(t *testing.T) {
	t.Setenv("PARITYCHECK_LIBCUDA", gputest.Stub(t, "cuda"))
	t.Setenv("PARITYCHECK_NVRTC", filepath.Join(t.TempDir(), "none"))
	base := filepath.Join(t.TempDir(), "base.json")
	var o, e bytes.Buffer
	if code := run([]string{"run", "-q", "--time", "--op", "neg", "--dtype", "f32", "--case", "n=1024*", "--target", "cuda@cuda:0", "--target", "hip@gfx90a", "--no-isolate", "-o", base}, strings.NewReader(""), &o, &e); code != exitOK {
		t.Fatalf("exit code %d, %s", code, e.String())
	}
	for _, want := range []string{"GB/s", "no time: interpreted"} {
		if !strings.Contains(o.String(), want) {
			t.Errorf("no %q in\n%s", want, o.String())
		}
	}
	o.Reset()
	if code := run([]string{"diff", base, base}, strings.NewReader(""), &o, &e); code != exitOK {
		t.Errorf("diff: exit code %d\n%s%s", code, o.String(), e.String())
	}
}

// TestBenchCrash: a kernel that brings its driver down when it is timed fails,
// and what comes after it is timed in a new process.
func TestBenchCrash(t *testing.T) {
	t.Setenv("STUB_FAULTS", "cuLaunchKernel@uneg_f32:1:segv")
	code, out, errOut := benchRun(t, "neg", "sqr", "--dtype", "f32", "--size", "small", "--target", "cuda@cuda:0", "--no-check")
	if code != exitFail || !strings.Contains(out, "segmentation fault") || !timed.MatchString(out) || !strings.Contains(out, "sqr") {
		t.Errorf("exit code %d, %s\n%s", code, errOut, out)
	}
}

// TestBenchHangs: so does one that does not end.
func TestBenchHangs(t *testing.T) {
	t.Setenv("STUB_FAULTS", "cuLaunchKernel@uneg_f32:1:hang")
	code, out, errOut := benchRun(t, "neg", "sqr", "--dtype", "f32", "--size", "small", "--target", "cuda@cuda:0", "--no-check", "--timeout", "3s")
	if code != exitFail || !strings.Contains(out, "did not end") || !timed.MatchString(out) {
		t.Errorf("exit code %d, %s\n%s", code, errOut, out)
	}
}
