package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	nan = compare.Num(math.NaN())
	inf = compare.Num(math.Inf(1))
)

func env() runner.Env {
	return runner.Env{
		Version: "v0.1.0", Commit: "0123456789ab", Seed: 1, Level: "fast",
		Targets: []runner.TargetInfo{
			{
				Name: "hip@gfx90a",
				Info: gpu.Info{Name: "gfx90a (emulated)", Arch: "gfx90a", Compiler: "clang 19.1.7", WaveSize: 64, Emulated: true,
					Notes: "transcendentals correctly rounded"},
				Images: map[string]string{"rope": strings.Repeat("ab", 32)}, FlagsUsed: "-O3 -ffp-contract=fast",
			},
			{
				Name: "cuda@cuda:0",
				Info: gpu.Info{Name: "NVIDIA H200", Arch: "sm_90", Driver: "driver 570.1", Compiler: "NVRTC 12.8", WaveSize: 32},
			},
			{Name: "hip@rocm:0", Unavailable: "libamdhip64.so.6: cannot open shared object file"},
		},
	}
}

func passing(c, target string) runner.Result {
	return runner.Result{
		Op: "rope_i", Family: "rope", Kernel: "rope_i_f32", DType: "f32", Case: c, Class: "normal", Target: target,
		Status: compare.Pass,
		Judgement: &compare.Judgement{
			Verdict: compare.WithinBound, Status: compare.Pass,
			Accuracy: compare.Diff{N: 240, Exact: 200, Share: 0.421, ShareLikely: 0.6, MaxULP: 1.25, RMSULP: 0.3},
		},
	}
}

// runs are the goldens: every Run is rendered in every format.
func runs() map[string]*runner.Run {
	timed := passing("rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal", "cuda@cuda:0")
	timed.Samples = []float64{3e-6, 2e-6, 4e-6}
	timed.Bytes, timed.Flops = 12_000_000, 480
	small := passing("rope_i/f32/b=1,h=1,t=1,d=2,cos=2d/normal", "cuda@cuda:0")
	small.Samples, small.Bytes = []float64{1e-6}, 100
	twin := passing("rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal", "hip@gfx90a")
	twin.Against = "cuda@cuda:0"
	twin.Judgement.Verdict = compare.BitExact
	twin.Judgement.Parity = &compare.Match{N: 240, Equal: 240, FirstDiff: -1}
	worse := passing("rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/cancel", "hip@gfx90a")
	worse.Against = "cuda@cuda:0"
	worse.Status = compare.Warn
	worse.Judgement.Status, worse.Judgement.Verdict = compare.Warn, compare.Worse
	worse.Judgement.Parity = &compare.Match{N: 240, Equal: 239, MaxULP: 1}
	worse.Judgement.Warnings = []compare.Warning{{Code: "rms", Text: "rms error 0.9 ulp against 0.3"}}

	bad := passing("rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal", "hip@gfx90a")
	bad.Status = compare.Fail
	bad.Against = "cuda@cuda:0"
	bad.Judgement = &compare.Judgement{
		Verdict: compare.Mismatch, Status: compare.Fail, Flags: []compare.Verdict{compare.IllCond},
		Accuracy: compare.Diff{
			N: 240, Exact: 12, Mismatches: 210, Share: 1.3e6, ShareLikely: 2e6, MaxULP: 8.4e6, MaxAbs: 1.5,
			First: &compare.Element{Index: 20, Coords: []int{0, 0, 2, 4}, Got: 0.123456789, Want: 0.5, Limit: 1.2e-7, Share: 12, ULP: 9, Bits: 0x3dfcd6ea, Nearest: 0x3f000000},
			Worst: &compare.Element{Index: 120, Coords: []int{1, 0, 0, 0}, Got: -1, Want: 1, Limit: 1.5e-7, Share: 1.3e6, ULP: 8.4e6, Bits: 0xbf800000, Nearest: 0x3f800000},
		},
		Parity: &compare.Match{N: 240, Equal: 30, MaxULP: 8.4e6, FirstDiff: 20},
		Sides:  "hip is off by 8.4e+06 ulp, cuda by 0.5",
		Spread: &compare.Spread{Runs: 5, Differ: 3, First: 7, Share: 0.25},
		Hints:  []string{"right only where b=0, h=0 and t<2", "batch 1 is wrong throughout"},
		Pattern: &compare.Pattern{Axes: []compare.AxisShare{
			{Name: "b", Size: 2}, {Name: "h", Size: 3}, {Name: "t", Size: 5}, {Name: "d", Size: 8}}},
	}
	bad.Changes = []runner.Change{{Param: "stride_b", Text: "t*d/2", Was: "120", Is: "20"}}
	bad.FirstInputs = []ops.Input{{Name: "src", Index: 20, Value: 0.25}, {Name: "cos", Index: 10, Value: 0.75}}
	bad.WorstInputs = []ops.Input{{Name: "src", Index: 120, Value: -0.5}}
	bad.Findings = []gpu.Finding{{
		Check: gpu.OutOfBounds, Kernel: "rope_i_f32", Access: "load", Space: "global", Buffer: "cos", BufferSize: 160, Size: 4,
		Offset: 160, MinOffset: 160, MaxOffset: 956, Count: 140,
		First: gpu.Place{PC: 0x1a4, Inst: "global_load_dword v1, v2, s[0:1]", Group: gpu.Dim3{}, Thread: gpu.Dim3{X: 40}, Lane: 40},
	}}

	odd := bad
	odd.Case = "rope_i/f32/b=9/nan"
	odd.Judgement = &compare.Judgement{
		Verdict: compare.Mismatch, Status: compare.Fail,
		Accuracy: compare.Diff{
			N: 4, Mismatches: 2, Share: inf, ShareLikely: inf, MaxULP: inf, P50ULP: nan, MaxAbs: nan,
			First: &compare.Element{Index: 1, Coords: []int{1}, Got: nan, Want: 1, Limit: 1e-7, Share: inf, ULP: nan, Bits: 0x7fc00000, Nearest: 0x3f800000},
			Worst: &compare.Element{Index: 1, Coords: []int{1}, Got: nan, Want: 1, Limit: 1e-7, Share: inf, ULP: nan, Bits: 0x7fc00000, Nearest: 0x3f800000},
		},
	}
	odd.Against, odd.Findings, odd.WorstInputs = "", nil, nil
	odd.FirstInputs = []ops.Input{{Name: "src", Index: 1, Value: inf}}
	crash := runner.Result{
		Op: "rope_i", Family: "rope", Kernel: "rope_i_f32", DType: "f32", Case: "rope_i/f32/b=1/normal", Class: "normal", Target: "hip@gfx90a",
		Status: compare.Fail, Fault: "kernel rope_i_f32: unknown instruction v_mfma_f32_4x4x1f32 at 0x1a40",
	}
	raced := passing("rope_i/f32/b=4/normal", "hip@gfx90a")
	raced.Status = compare.Fail
	raced.Findings = []gpu.Finding{{Check: gpu.Uninitialised, Access: "load", Space: "lds", Offset: 8, Buffer: "lds", Count: 3,
		First: gpu.Place{PC: 16, Inst: "ds_read_b32 v0, v1"}}}
	for range 6 {
		raced.Findings = append(raced.Findings, raced.Findings[0])
	}
	var many []runner.Result
	for i := range 40 {
		r := bad
		r.Case = fmt.Sprintf("rope_i/f32/b=%d/normal", i)
		many = append(many, r)
	}
	many = append(many, odd, crash, raced, passing("rope_i/f32/b=7/normal", "hip@gfx90a"))

	skip := func(target, why string) runner.Result {
		r := passing("rope_i/f32/b=1,h=1,t=1,d=2,cos=2d/normal", target)
		r.Status, r.Judgement, r.Skipped = compare.Unverified, nil, why
		return r
	}

	required := skip("hip@rocm:0", "no AMD GPU")
	required.Status = compare.Fail

	strange := passing("rope|i/f32/a=`x`\n| b | <b>/*nor*mal", "hip@gfx90a")
	strange.Op, strange.DType = "rope|i\x1b[2J", "f\xff32"
	strange.Status, strange.Fault, strange.Judgement = compare.Fail, "line one\nline two ```` end % :: <x>", nil
	strange2 := skip("hip@\rx", "no driver:\n| try `apt` & <more>")

	return map[string]*runner.Run{
		"empty":      {Schema: runner.Schema, Env: runner.Env{Version: "v0.1.0", Seed: 1, Level: "fast"}, Results: []runner.Result{}},
		"pass":       {Schema: runner.Schema, Env: env(), Results: []runner.Result{small, timed, twin, worse}},
		"fail":       {Schema: runner.Schema, Env: env(), Results: []runner.Result{bad, passing("rope_i/f32/b=1/normal", "hip@gfx90a")}},
		"many":       {Schema: runner.Schema, Env: env(), Results: many},
		"unverified": {Schema: runner.Schema, Env: env(), Results: []runner.Result{skip("hip@rocm:0", "no AMD GPU"), skip("cuda@cuda:0", "no NVIDIA GPU"), skip("hip@rocm:0", "no AMD GPU")}},
		"required":   {Schema: runner.Schema, Env: env(), Results: []runner.Result{required, required}},
		"partly":     {Schema: runner.Schema, Env: env(), Results: []runner.Result{passing("rope_i/f32/b=1/normal", "hip@gfx90a"), skip("hip@gfx90a", "interrupted")}},
		"strange":    {Schema: runner.Schema, Env: runner.Env{Version: "v0|1\n0"}, Results: []runner.Result{strange, strange2}},
	}
}

var extension = map[Format]string{Table: "txt", Markdown: "md", JSON: "json", CSV: "csv", Bench: "bench", JUnit: "xml", GitHub: "github", HTML: "html"}

func render(t *testing.T, run *runner.Run, f Format, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, run, f, opts); err != nil {
		t.Fatalf("Write %s: %v", f, err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	want := map[string]bool{}
	for name, run := range runs() {
		for _, f := range Formats() {
			if f == HTML || f == JSON && name == "many" {
				continue // 40 times the same; TestReadBack covers it
			}
			file := name + "." + extension[f]
			want[file] = true
			t.Run(file, func(t *testing.T) { golden(t, file, render(t, run, f, Options{})) })
		}
	}
	counted := runs()["pass"]
	for i := range counted.Results[2:] {
		counted.Results[2+i].Counters = &gpu.Counters{
			Inst: map[string]int64{"salu": 5, "valu_f32": 70}, LaneOps: 240, LaneSlots: 256, GlobalBytes: 1920, GlobalLines: 40, MinLines: 30,
		}
	}
	want["counters.txt"] = true
	golden(t, "counters.txt", render(t, counted, Table, Options{Counters: true}))
	want["color.txt"] = true
	golden(t, "color.txt", render(t, runs()["fail"], Table, Options{Color: true}))
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] && !strings.Contains(f.Name(), ".got-") {
			t.Errorf("testdata/%s is the golden of no test", f.Name())
		}
	}
}

// golden compares got with a golden file, and leaves what it got beside
// the file where they differ.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	left := strings.TrimSuffix(path, filepath.Ext(path)) + ".got-" + filepath.Ext(path)[1:]
	if err := os.WriteFile(left, []byte(got), 0o666); err != nil {
		t.Error(err)
	}
	t.Errorf("%s differs; what it got is in %s (go test -update accepts it)\n%s", path, left, got)
}

func TestReadBack(t *testing.T) {
	for name, run := range runs() {
		got, err := Read(strings.NewReader(render(t, run, JSON, Options{})))
		if name == "strange" { // bytes that are no UTF-8 cannot survive JSON
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := render(t, got, Table, Options{}), render(t, run, Table, Options{}); a != b {
			t.Errorf("%s: the table of what was read back is\n%s\nwant\n%s", name, a, b)
		}
		// NaN is not equal to itself; its JSON is.
		if a, b := render(t, got, JSON, Options{}), render(t, run, JSON, Options{}); a != b {
			t.Errorf("%s: reading back and writing again gave\n%s\nwant\n%s", name, a, b)
		}
	}
}

func TestReadErrors(t *testing.T) {
	whole := render(t, runs()["fail"], JSON, Options{})
	for in, want := range map[string]string{
		"":                   "the file is empty",
		"{":                  "it ends in the middle, after 1 bytes: it was cut off",
		whole[:len(whole)/2]: fmt.Sprintf("it ends in the middle, after %d bytes: it was cut off", len(whole)/2),
		"op,dtype\n":         "it is not JSON of paritycheck: invalid character 'o' looking for beginning of value",
		"[]":                 `it is not JSON of paritycheck: no schema, which must be "paritycheck.run/v1"`,
		`{"results":[]}`:     `it is not JSON of paritycheck: no schema, which must be "paritycheck.run/v1"`,
		`{"schema":"x"}`:     `schema must be "paritycheck.run/v1", not "x"`,
		`{"schema":"paritycheck.run/v2","results":7}`: `schema "paritycheck.run/v2" is not "paritycheck.run/v1": another version of paritycheck wrote it, use that one or a newer`,
		whole + "1": fmt.Sprintf("more follows its end at byte %d", len(whole)+1),
		`{"schema":"paritycheck.run/v1","results":[{"status":"green"}]}`:        `results[0]: unknown status "green"`,
		`{"schema":"paritycheck.run/v1"}`:                                       `sha256 must be 64 lower-case hexadecimal digits, not "": it was changed after it was written`,
		strings.Replace(whole, `"status": "FAIL"`, `"status": "pass"`, 1):       "it was changed after it was written",
		strings.Replace(whole, `"mismatches": 210`, `"mismatches": 0`, 1):       "it was changed after it was written",
		strings.Replace(whole, `"max_ulp": 8.4e+06`, `"max_ulp": "8.4e+06"`, 1): `number must be finite or one of "NaN", "Inf", "-Inf": "8.4e+06"`,
	} {
		_, err := Read(strings.NewReader(in))
		if err == nil || !strings.HasPrefix(err.Error(), "reading a run: ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Read(%.60s): got error %v, want its end %s", in, err, want)
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(whole)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&b); err != nil {
		t.Errorf("without white space: got %v, want no error", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, run := range runs() {
		var b bytes.Buffer
		if err := Write(&b, run, JSON, Options{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := Read(bytes.NewReader(in)); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("got an error of several lines: %q", err)
		}
		run, err := decode(in)
		if err != nil {
			return
		}
		// Whatever was read can be rendered, one line of a cell each.
		for _, format := range Formats() {
			if err := Write(io.Discard, run, format, Options{}); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}

// A machine must be able to read every machine format, whatever the names.
func TestMachineFormatsParse(t *testing.T) {
	for name, run := range runs() {
		recs, err := csv.NewReader(strings.NewReader(render(t, run, CSV, Options{}))).ReadAll()
		if err != nil || len(recs) != 1+len(run.Results) {
			t.Errorf("%s: CSV: %d records, error %v, want %d", name, len(recs), err, 1+len(run.Results))
		}
		if !json.Valid([]byte(render(t, run, JSON, Options{}))) {
			t.Errorf("%s: JSON is not valid", name)
		}
		var doc junitSuites
		if err := xml.Unmarshal([]byte(render(t, run, JUnit, Options{})), &doc); err != nil {
			t.Errorf("%s: JUnit: %v", name, err)
		}
		tests, failures, skipped := 0, 0, 0
		for _, s := range doc.Suites {
			tests, failures, skipped = tests+s.Tests, failures+s.Failures, skipped+s.Skipped
			if s.Tests != len(s.Cases) {
				t.Errorf("%s: JUnit suite %s: %d cases, want %d", name, s.Name, len(s.Cases), s.Tests)
			}
		}
		c := Count(run)
		if got, want := [3]int{tests, failures, skipped}, [3]int{len(run.Results), c.Fail, c.Unverified}; got != want {
			t.Errorf("%s: JUnit counts %v, want %v", name, got, want)
		}
		for _, line := range strings.Split(strings.TrimSpace(render(t, run, GitHub, Options{})), "\n") {
			if !strings.HasPrefix(line, "::") {
				t.Errorf("%s: GitHub: line %q is no command", name, line)
			}
		}
		// In Markdown every row of a table has the head's cells.
		cells := -1
		for _, line := range strings.Split(render(t, run, Markdown, Options{}), "\n") {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if cells == -1 {
				cells = n
			}
			if n != cells {
				t.Errorf("%s: Markdown row %q has %d bars, want %d", name, line, n, cells)
			}
		}
	}
}

func TestNoControlCharacters(t *testing.T) {
	for name, run := range runs() {
		for _, f := range []Format{Table, Markdown, Bench, GitHub} {
			for _, c := range render(t, run, f, Options{}) {
				if c < ' ' && c != '\n' || c == 0x7f || c == '\ufffd' {
					t.Errorf("%s in %s holds the character %q", name, f, c)
					break
				}
			}
		}
	}
}

// Every failing case is shown or counted.
func TestNothingCutSilently(t *testing.T) {
	run := runs()["many"]
	out := render(t, run, Table, Options{})
	for _, want := range []string{"MISMATCH", "FAULT", "and 39 more cases", "and 3 more findings in --format json", "1 pass, 0 warn, 43 FAIL, 0 unverified"} {
		if !strings.Contains(out, want) {
			t.Errorf("table lacks %q:\n%s", want, out)
		}
	}
}

func TestRowStatus(t *testing.T) {
	res := func(s ...compare.Status) []*runner.Result {
		var out []*runner.Result
		for _, s := range s {
			out = append(out, &runner.Result{Status: s})
		}
		return out
	}
	check := func(want compare.Status, compared int, s ...compare.Status) {
		t.Helper()
		r := newRow(res(s...)...)
		if r.status != want || r.compared != compared {
			t.Errorf("row of %v: got %s, %d compared, want %s, %d", s, r.status, r.compared, want, compared)
		}
	}
	check(compare.Pass, 2, compare.Pass, compare.Pass)
	check(compare.Pass, 1, compare.Unverified, compare.Pass)
	check(compare.Warn, 2, compare.Pass, compare.Warn, compare.Unverified)
	check(compare.Fail, 3, compare.Pass, compare.Fail, compare.Warn, compare.Unverified)
	check(compare.Unverified, 0, compare.Unverified)
	check(compare.Unverified, 0, "") // an unknown status is no pass
}

func TestNumbers(t *testing.T) {
	check := func(f func(float64) string, v float64, want string) {
		t.Helper()
		if got := f(v); got != want {
			t.Errorf("got %q of %v, want %q", got, v, want)
		}
	}
	check(shareText, 0, "0%")
	check(shareText, math.SmallestNonzeroFloat64, "<0.1%")
	check(shareText, 0.5, "50.0%")
	check(shareText, 1, "100.0%")
	check(shareText, math.Nextafter(1, 2), ">100%")
	check(shareText, 1.5, "150.0%")
	check(shareText, 1.3e6, "1.3e+06x")
	check(shareText, math.Inf(1), "∞")
	check(shareText, math.NaN(), "?")
	check(times, math.Nextafter(1, 2), "just over 1x")
	check(ulpText, 0, "0")
	check(ulpText, 1e-9, "<0.01")
	check(ulpText, 0.5, "0.50")
	check(ulpText, 8.4e6, "8.4e+06")
	check(num, math.Inf(-1), "-Inf")
	check(num, 0.1, "0.1")
	check(secondsText, 2.0004e-6, "2µs")
	check(secondsText, 0.0123, "12.3ms")
	check(secondsText, 2, "2s")
	for _, c := range []struct {
		equal, n int
		want     string
	}{{0, 0, "-"}, {5, 5, "100%"}, {99999, 100000, "99.9%"}, {0, 5, "0%"}, {1, 100000, "<0.1%"}, {1, 3, "33.3%"}} {
		if got := equalText(c.equal, c.n); got != c.want {
			t.Errorf("equalText(%d, %d): got %s, want %s", c.equal, c.n, got, c.want)
		}
	}
	if got := median([]float64{3, 1, 2, 10}); got != 2.5 {
		t.Errorf("median: got %v, want 2.5", got)
	}
}

// The keys of columns are a promise to scripts.
func TestColumnKeys(t *testing.T) {
	var got []string
	for _, c := range columns() {
		if c.raw != nil {
			got = append(got, c.key)
		}
	}
	want := strings.Fields(`op family kernel dtype case class size target against status verdict share share_likely
		max_ulp p50_ulp p99_ulp rms_ulp bias_ulp max_abs nmse elements exact mismatches unlikely ill_conditioned undefined
		parity_equal parity_max_ulp time_s samples
		time_low_s time_high_s time_noise batch_s batch_low_s batch_high_s stop clock_mhz drift
		bytes flops bytes_per_s of_copy of_roofline instructions lanes_active coalescing global_bytes lds_conflicts findings fault skipped untimed warnings output_sha256`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got keys %v, want %v", got, want)
	}
}

func TestFormats(t *testing.T) {
	for path, want := range map[string]Format{"a.txt": Table, "x/y.MD": Markdown, "r.json": JSON, "r.csv": CSV, "r.bench": Bench, "r.xml": JUnit} {
		if got, err := FormatOf(path); got != want || err != nil {
			t.Errorf("FormatOf(%q): got %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := FormatOf("report"); err == nil {
		t.Error("FormatOf without an extension: got no error")
	}
	if _, err := ParseFormat("yaml"); err == nil {
		t.Error(`ParseFormat("yaml"): got no error`)
	}
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("ParseFormat(%q): got %q, %v", f, got, err)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(failingWriter{}, runs()["pass"], f, Options{}); err == nil || err.Error() != "disk full" {
			t.Errorf("Write %s: got error %v, want disk full", f, err)
		}
	}
}
