//go:build unix

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

var (
	kills    = flag.Int("kills", 6, "how often TestKill kills")
	killSeed = flag.Uint64("kill-seed", 1, "seed of the moments at which TestKill kills")
)

// A stubRun runs the program on the stub driver of CUDA, in a folder of its
// own.
type stubRun struct {
	t         *testing.T
	dir       string
	env       []string
	selection []string
}

func newStubRun(t *testing.T, ops string, targets ...string) *stubRun {
	t.Helper()
	s := &stubRun{t: t, dir: t.TempDir(), selection: []string{"run", "--op", ops, "--dtype", "f32"}}
	for _, name := range targets {
		s.selection = append(s.selection, "--target", name)
	}
	s.env = append(os.Environ(), asProgram+"=1", "PARITYCHECK_LIBCUDA="+gputest.Stub(t, "cuda"), "PARITYCHECK_NVRTC=/nowhere/libnvrtc.so",
		"XDG_CACHE_HOME="+filepath.Join(s.dir, "cache"), "TMPDIR="+s.dir)
	return s
}

// command is the program with more flags and the stub's faults.
func (s *stubRun) command(faults string, flags ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(append([]string(nil), s.selection...), flags...)...)
	cmd.Env, cmd.Dir = append(append([]string(nil), s.env...), "STUB_FAULTS="+faults), s.dir
	return cmd
}

// run runs it to its end.
func (s *stubRun) run(faults string, flags ...string) (code int, output string) {
	s.t.Helper()
	out, err := s.command(faults, flags...).CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		s.t.Fatal(err)
	}
	if err != nil {
		code = err.(*exec.ExitError).ExitCode()
	}
	return code, string(out)
}

func (s *stubRun) read(name string) []byte {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// results are the rows of a saved run.
func (s *stubRun) results(name string) []runner.Result {
	s.t.Helper()
	r, err := report.Read(bytes.NewReader(s.read(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Results
}

// children are the child processes of pid.
func children(pid int) []int {
	var list []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// TestKill ends the run or the child that drives the GPU, by SIGKILL at
// random moments: in the end the report is that of a run that nobody
// disturbed, byte for byte. make test-kill does it 50 times.
func TestKill(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finding child processes takes /proc")
	}
	s := newStubRun(t, "neg,sqr,add", "cuda@cuda:0", "hip@gfx90a")
	const slowly = "cuLaunchKernel:*:sleep=4"
	if code, out := s.run(slowly, "-q", "-o", "want.json", "--journal", "none"); code != exitOK {
		t.Fatalf("undisturbed: exit %d: %s", code, out)
	}
	start := time.Now()
	if code, out := s.run(slowly, "-q", "-o", "again.json"); code != exitOK || !bytes.Equal(s.read("again.json"), s.read("want.json")) {
		t.Fatalf("a second run: exit %d: %s", code, out)
	}
	takes := time.Since(start)
	rnd := rand.New(rand.NewPCG(*killSeed, 5))
	killed := map[string]int{}
	for killed["run"]+killed["child"] < *kills {
		// Half of the runs name their journal, half leave it in the cache.
		flags := []string{"-q", "-o", "got.json"}
		named := rnd.IntN(2) == 0
		if named {
			flags = append(flags, "--journal", "kept.journal", "--resume")
		}
		for part, whole := 0, false; !whole; part++ {
			args := flags
			if !named && part > 0 {
				args = append(args[:len(args):len(args)], "--resume")
			}
			cmd := s.command(slowly, args...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var what string
			if part < 3 {
				time.Sleep(time.Duration(rnd.Int64N(int64(takes))))
				what = kill(cmd, rnd)
			}
			err := cmd.Wait()
			switch state := cmd.ProcessState.Sys().(syscall.WaitStatus); {
			case state.Signaled():
				killed["run"]++
				t.Logf("part %d: killed the run", part)
			case err == nil:
				whole = true
				if what == "child" {
					killed["child"]++
					t.Logf("part %d: killed a child", part)
				}
			case !named && part > 0 && strings.Contains(out.String(), "no run was cut off"):
				part = -1 // it was killed before it had a journal
			default:
				t.Fatalf("part %d ended with %v: %s", part, err, out.String())
			}
		}
		if !bytes.Equal(s.read("got.json"), s.read("want.json")) {
			t.Fatalf("after %v: the report is not that of an undisturbed run; it and the journal are in %s", killed, keepFolder(s.dir))
		}
		if left, _ := filepath.Glob(filepath.Join(s.dir, "kept.journal")); left != nil {
			t.Errorf("the journal of a complete run is left behind")
		}
		os.Remove(filepath.Join(s.dir, "got.json"))
	}
	t.Logf("killed %d runs and %d children", killed["run"], killed["child"])
	if killed["run"] == 0 || *kills >= 6 && killed["child"] == 0 {
		t.Errorf("killed %v, want runs and children", killed)
	}
}

// kill ends the run, or its child where there is one.
func kill(cmd *exec.Cmd, rnd *rand.Rand) string {
	if list := children(cmd.Process.Pid); rnd.IntN(2) == 0 && len(list) > 0 {
		if syscall.Kill(list[0], syscall.SIGKILL) == nil {
			return "child"
		}
		return ""
	}
	cmd.Process.Kill()
	return "run"
}

// keepFolder copies a test's folder to where it stays.
func keepFolder(dir string) string {
	to, err := os.MkdirTemp("", "paritycheck-kill-")
	if err == nil {
		err = os.CopyFS(filepath.Join(to, "run"), os.DirFS(dir))
	}
	if err != nil {
		return err.Error()
	}
	return to
}

// TestChildFaults: whatever a kernel of one op does to its process is the
// fault of that op, said in its own words, and of no other.
func TestChildFaults(t *testing.T) {
	s := newStubRun(t, "neg,sqr,add", "cuda@cuda:0", "hip@gfx90a")
	if code, out := s.run("", "-q", "-o", "want.json"); code != exitOK {
		t.Fatalf("undisturbed: exit %d: %s", code, out)
	}
	want := s.results("want.json")
	for _, tc := range []struct{ action, says string }{
		{"segv", "kernel usqr_f32: the process that drives cuda:0 ended during launch: signal: segmentation fault"},
		{"abort", "kernel usqr_f32: the process that drives cuda:0 ended during launch: exit status 2: SIGABRT: abort"},
		{"exit", "kernel usqr_f32: the process that drives cuda:0 ended with exit status 0 during launch, without an answer"},
		{"words", "kernel usqr_f32: the process that drives cuda:0 ended during launch: exit status 3: stub: the last words"},
		{"garbage", `kernel usqr_f32: the process that drives cuda:0 answered nonsense: "garbage " is the beginning of no message`},
		{"lost=700", "kernel usqr_f32: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"},
		{"fault=719", "kernel usqr_f32: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure"},
		{"701", "kernel usqr_f32: cuda: launching usqr_f32: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many resources requested for launch"},
		{"hang", "kernel usqr_f32: did not end: no end after 1s (--timeout)"},
	} {
		t.Run(tc.action, func(t *testing.T) {
			once := filepath.Join(s.dir, "once")
			os.Remove(once)
			s.t = t
			s.env = append(s.env, "STUB_ONCE="+once)
			code, out := s.run("cuLaunchKernel@usqr_f32:*:"+tc.action, "-q", "-o", "got.json", "--timeout", "1s")
			if code != exitFail {
				t.Fatalf("exit %d: %s", code, out)
			}
			faults := 0
			for i, got := range s.results("got.json") {
				switch {
				case got.Fault == tc.says && got.Op == "sqr" && got.Target == "cuda@cuda:0" && got.Status == compare.Fail:
					faults++
				case got.Status != compare.Pass || got.OutputHash != want[i].OutputHash:
					t.Errorf("%s on %s: %s %q %q", got.Case, got.Target, got.Status, got.Fault, got.Skipped)
				}
			}
			if faults != 1 {
				t.Errorf("got %d faults %q, want 1; the run said: %s", faults, tc.says, out)
			}
		})
	}
}

// A disk that is full costs neither the report on stdout, nor what the file
// held before, nor the results: --resume writes them elsewhere.
func TestFullDisk(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	s := newStubRun(t, "neg,sqr", "hip@gfx90a")
	if err := os.WriteFile(filepath.Join(s.dir, "got.json"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out := s.run("", "-q", "-o", "want.json", "--journal", "none"); code != exitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	// limited runs with files of at most so many bytes.
	limited := func(bytes int, flags ...string) (int, string) {
		cmd := s.command("", flags...)
		cmd.Path, cmd.Args = sh, append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, bytes/512)}, cmd.Args...)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	size, n := len(s.read("want.json")), len(s.results("want.json"))
	code, out := limited(size*3/4, "-q", "-o", "got.json", "--journal", "j")
	if code != exitError || !strings.Contains(out, fmt.Sprintf("\n%d pass, 0 warn, 0 FAIL, 0 unverified\n", n)) ||
		!strings.Contains(out, "paritycheck: writing got.json: file too large; the results are kept, and --resume writes them again") {
		t.Errorf("exit %d: %s", code, out)
	}
	if got := string(s.read("got.json")); got != "old" {
		t.Errorf("the file held %q before, and holds %q", "old", got)
	}
	code, out = s.run("", "-q", "-o", "got.json", "--journal", "j", "--resume")
	if code != exitOK || !strings.Contains(out, fmt.Sprintf("%d of %d cases are done", n, n)) || !bytes.Equal(s.read("got.json"), s.read("want.json")) {
		t.Errorf("gone on with: exit %d: %s", code, out)
	}
	// Where the journal is what does not fit, the run goes on without.
	code, out = limited(4096, "-q", "--journal", "j")
	if code != exitOK || strings.Count(out, "the journal cannot be written any more") != 1 {
		t.Errorf("no room for the journal: exit %d: %s", code, out)
	}
	code, out = limited(512, "-q", "--format", "csv", "-o", "a.csv")
	if code != exitError || !strings.Contains(out, "writing a.csv: file too large") {
		t.Errorf("no room for anything: exit %d: %s", code, out)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if name := filepath.Base(path); name == "j" || strings.HasSuffix(name, ".tmp") || name == "a.csv" {
			t.Errorf("%s is left behind", name)
		}
	}
}

// Two runs that name one journal do not mix, and neither does a run with
// what another left there.
func TestJournalInUse(t *testing.T) {
	s := newStubRun(t, "neg", "cuda@cuda:0")
	slow := s.command("cuLaunchKernel:*:sleep=200", "-q", "--journal", "j")
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	defer slow.Wait()
	defer slow.Process.Kill()
	for range 100 {
		if _, err := os.Stat(filepath.Join(s.dir, "j")); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	expect := func(says string, flags ...string) {
		t.Helper()
		if code, out := s.run("", flags...); code != exitError || !strings.Contains(out, says) {
			t.Errorf("%v: exit %d, want %q: %s", flags, code, says, out)
		}
	}
	s.selection[len(s.selection)-1] = "hip@gfx90a" // which waits for no GPU
	expect("journal j: another run is writing to it", "-q", "--journal", "j")
	expect("journal j: another run is writing to it", "-q", "--journal", "j", "--resume")
	time.Sleep(time.Second)
	slow.Process.Kill()
	slow.Wait()
	expect("journal j is of a run that was cut off: go on with --resume, or remove it", "-q", "--journal", "j")
	expect("journal j is of another run: different are the targets (cuda@cuda:0 then, hip@gfx90a now)", "-q", "--journal", "j", "--resume")
	expect("--resume and --journal none exclude each other", "-q", "--journal", "none", "--resume")
	if err := os.WriteFile(filepath.Join(s.dir, "text"), []byte("text\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	expect("journal text: it is no journal of paritycheck", "-q", "--journal", "text", "--resume")
	expect("journal text: it is no journal of paritycheck", "-q", "--journal", "text")
	expect("journal no/j cannot be written: no such file or directory", "-q", "--journal", "no/j")
	if got := string(s.read("text")); got != "text\n" {
		t.Errorf("a file of somebody else's was changed: %q", got)
	}
}

// One paritycheck uses a GPU at a time.
func TestGPUInUse(t *testing.T) {
	s := newStubRun(t, "neg", "cuda@cuda:0")
	first := s.command("cuLaunchKernel:*:sleep=20", "-q")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if len(children(first.Process.Pid)) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	code, out := s.run("", "-q")
	if code != exitOK || !strings.Contains(out, "waiting for cuda:0, which another paritycheck uses") {
		t.Errorf("exit %d: %s", code, out)
	}
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
}

// A kernel that crashes when it is timed, having passed, fails; what is
// timed after it is.
func TestTimedFault(t *testing.T) {
	s := newStubRun(t, "neg,sqr,add", "cuda@cuda:0")
	// Two launches are those that are judged.
	code, out := s.run("cuLaunchKernel@usqr_f32:3:segv", "-q", "--time", "--case", "n=1024,*", "--case", "a=3,b=7,c=11,layout=contiguous+row", "-o", "got.json")
	if code != exitFail {
		t.Fatalf("exit %d: %s", code, out)
	}
	for _, r := range s.results("got.json") {
		if bad := r.Op == "sqr"; bad != (r.Status == compare.Fail) || bad == (len(r.Samples) > 0) ||
			bad && r.Fault != "kernel usqr_f32: the process that drives cuda:0 ended during queue launch: signal: segmentation fault" {
			t.Errorf("%s: %s with %d samples, %q", r.Case, r.Status, len(r.Samples), r.Fault)
		}
	}
}

// doctor survives a driver that kills who asks it, and says so.
func TestDoctorSurvives(t *testing.T) {
	s := newStubRun(t, "neg", "cuda@cuda:0")
	s.selection = []string{"doctor"}
	code, out := s.run("cuInit:*:segv")
	if code != exitOK || !strings.Contains(out, "the process that drives cuda ended during probe of cuda: signal: segmentation fault") || !strings.Contains(out, "hip@gfx90a") {
		t.Errorf("exit %d: %s", code, out)
	}
}
