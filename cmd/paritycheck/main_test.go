package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of scripts")

// asProgram in the environment makes the test binary the program.
const asProgram = "PARITYCHECK_TEST_PROGRAM"

func TestMain(m *testing.M) {
	// A run in this process starts its children from the test binary.
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && (os.Args[1] == driveCommand || os.Args[1] == compileCommand) {
		main()
	}
	testscript.Main(cached{m}, map[string]func(){"paritycheck": main})
}

// cached runs tests with a cache folder of their own: the journals of tests
// are not the user's.
type cached struct{ *testing.M }

func (c cached) Run() int {
	dir, err := os.MkdirTemp("", "paritycheck-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		os.Setenv("GOCACHE", filepath.Join(cache, "go-build")) // tests that build would build all anew
	}
	os.Setenv("XDG_CACHE_HOME", dir)
	return c.M.Run()
}

// TestScripts runs every script: what the binary prints and leaves behind.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PARITYCHECK_REQUIRE", os.Getenv("PARITYCHECK_REQUIRE"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".tmp", "cache"))
			return nil
		},
	})
}

// execute runs the program in this process.
func execute(args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errOut)
	return code, out.String(), errOut.String()
}

// Every error has its code, is printed once, on one line, and leaves
// stdout empty.
func TestUsageErrors(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		args []string
		want string // beginning of stderr
	}{
		{[]string{"lst"}, `paritycheck: unknown command "lst" of paritycheck: commands are `},
		{[]string{"--nonsense"}, "paritycheck: unknown flag: --nonsense; near it: "},
		{[]string{"list"}, "paritycheck: list what? one of "},
		{[]string{"list", "opps"}, `paritycheck: unknown command "opps" of paritycheck list: commands are `},
		{[]string{"list", "ops", "extra"}, `paritycheck: paritycheck list ops takes no arguments, but was given "extra"`},
		{[]string{"list", "ops", "--op", "rope_j"}, `paritycheck: no op matches "rope_j"; there is rope_i, rope`},
		{[]string{"list", "ops", "--op", "rope["}, `paritycheck: op pattern "rope[" is malformed`},
		{[]string{"list", "ops", "--format", "xml"}, `paritycheck: invalid argument "xml" for "--format" flag: must be one of table json`},
		{[]string{"list", "cases", "--case", "nothing*"}, `paritycheck: no case matches "nothing*"; there is `},
		{[]string{"list", "kernels", "--module", "reduc"}, `paritycheck: unknown module "reduc": modules are affine binary`},
		{[]string{"explain"}, "paritycheck: explain takes the name of one op"},
		{[]string{"explain", "rope_j"}, `paritycheck: no op is named "rope_j"; near it: rope_i, rope`},
		{[]string{"report"}, "paritycheck: report takes one saved run, but was given 0 arguments"},
		{[]string{"report", filepath.Join(folder, "none.json")}, "paritycheck: reading " + filepath.Join(folder, "none.json") + ": no such file"},
		{[]string{"report", "-"}, "paritycheck: stdin: reading a run: the file is empty"},
		{[]string{"merge"}, "paritycheck: merge takes the shards of a run, saved as JSON"},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "--shard", "3/2"}, `paritycheck: a shard must be I/N with I from 1 to N, as in 2/8, not "3/2"`},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "--shard", "99/99"}, "paritycheck: shard 99/99 has no cases: only 48 are selected"},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "--shard", "1/2", "--baseline", "x"}, "paritycheck: --shard 1/2 and --baseline exclude each other"},
		{[]string{"diff", "a.json"}, "paritycheck: diff takes two saved runs, the base and the new one, but was given 1 arguments"},
		{[]string{"diff", "-", "-"}, "paritycheck: diff can read only one of its runs from stdin"},
		{[]string{"diff", "main_test.go", "-"}, "paritycheck: main_test.go: reading a run: it is not JSON of paritycheck: "},
		{[]string{"run", "--op", "rope_i", "--baseline", filepath.Join(folder, "none.json")}, "paritycheck: reading " + filepath.Join(folder, "none.json") + ": no such file"},
		{[]string{"report", "main_test.go"}, "paritycheck: main_test.go: reading a run: it is not JSON of paritycheck: "},
		{[]string{"run", "--op", "rope_j"}, `paritycheck: no op matches "rope_j"; there is rope_i, rope`},
		{[]string{"run", "--dtype", "f33"}, `paritycheck: no dtype matches "f33"; there is f32, `},
		{[]string{"run", "--family", "roop"}, `paritycheck: no family matches "roop"; there is rope`},
		{[]string{"run", "rope_i"}, `paritycheck: paritycheck run takes no arguments, but was given "rope_i"`},
		{[]string{"run", "--opp", "rope_i"}, "paritycheck: unknown flag: --opp; near it: --op "},
		{[]string{"run", "--seed", "-1"}, `paritycheck: invalid argument "-1" for "--seed" flag: `},
		{[]string{"run", "--repeat", "1"}, "paritycheck: --repeat must be at least 2, not 1"},
		{[]string{"mutate", "rope_i"}, `paritycheck: paritycheck mutate takes no arguments, but was given "rope_i"`},
		{[]string{"mutate", "--op", "rope_j"}, `paritycheck: no op matches "rope_j"; there is rope_i, rope`},
		{[]string{"mutate", "--samples", "0"}, "paritycheck: --samples must be at least 1, not 0"},
		{[]string{"mutate", "--jobs", "-1"}, "paritycheck: --jobs must be 0 or more, not -1"},
		{[]string{"mutate", "--format", "csv"}, `paritycheck: invalid argument "csv" for "--format" flag: must be one of table markdown json`},
		{[]string{"mutate", "--op", "rope_i", "-o", "m.csv"}, `paritycheck: output file "m.csv": extension must be one of .txt .md .json`},
		{[]string{"mutate", "--op", "rope_i", "--baseline", "none.json"}, "paritycheck: reading the baseline: open none.json"},
		{[]string{"mutate", "--op", "rope_i", "--baseline", "main_test.go"}, "paritycheck: reading the baseline main_test.go: invalid character"},
		{[]string{"run", "--jobs", "-1"}, "paritycheck: --jobs must be 0 or more, not -1"},
		{[]string{"run", "--timeout", "-1s"}, "paritycheck: --timeout must be 0 or more, not -1s"},
		{[]string{"run", "--transcendental", "exact"}, `paritycheck: invalid argument "exact" for "--transcendental" flag: must be one of cr +1ulp -1ulp random`},
		{[]string{"run", "--target", "hip@gfx91a"}, `paritycheck: unknown target "hip@gfx91a"`},
		{[]string{"run", "--target", "hip@gfx90a", "--vs", "cuda@cuda0"}, `paritycheck: unknown target "cuda@cuda0"`},
		{[]string{"run", "--target", "hip@gfx90a", "--require", "hip@rocm"}, `paritycheck: unknown target "hip@rocm"`},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "-o", "report"}, `paritycheck: output file "report": extension must be one of .txt`},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "-o", filepath.Join(folder, "no", "r.json")}, "paritycheck: output file " + folder},
		{[]string{"run", "--op", "rope_i", "--set", "stride_b"}, "paritycheck: --set stride_b: must be name=EXPR"},
		{[]string{"run", "--op", "rope_i", "--set", "stride_b=t*"}, "paritycheck: --set stride_b=t*: column 3: expected operand, found the end"},
		{[]string{"run", "--op", "rope_i", "--set", "stride_b=t*x"}, `paritycheck: --set stride_b=t*x: column 3: unknown name "x": known are bh td stride_b b h t d cos grid block shared`},
		{[]string{"run", "--op", "rope_i", "--set", "strid_b=t"}, `paritycheck: --set strid_b=t: rope_i has no scalar parameter "strid_b"; it has bh, td, stride_b`},
		{[]string{"run", "--op", "rope_i", "--set", "td=1", "--set", "td=2"}, "paritycheck: --set td=2: td is set twice"},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "-q", "--set", "td=1/(t-t)"}, "paritycheck: --set td=1/(t-t) in rope_i/"},
		{[]string{"run", "--op", "rope_i", "--target", "hip@gfx90a", "-q", "--set", "td=1<<32"}, "paritycheck: --set td=1<<32 in rope_i/"},
	} {
		code, stdout, stderr := execute(c.args...)
		if code != exitError || stdout != "" || !strings.HasPrefix(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("paritycheck %s: got code %d, stdout %q, stderr %q, want code %d and one line beginning %q",
				strings.Join(c.args, " "), code, stdout, stderr, exitError, c.want)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 0 {
		t.Errorf("failed runs left %v, %v", left, err)
	}
}

func TestExitOK(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--help"}, {"help", "run"}, {"--version"},
		{"list", "ops"}, {"list", "cases"}, {"list", "kernels"}, {"list", "targets"},
		{"explain", "rope"}, {"doctor"},
	} {
		code, stdout, stderr := execute(args...)
		if code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("paritycheck %s: got code %d, %d bytes on stdout, stderr %q, want code 0 and stdout alone", strings.Join(args, " "), code, len(stdout), stderr)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"one":                               "one",
		"compiling k.hip:\nk.hip:1: no\n\n": "compiling k.hip: k.hip:1: no",
		"a\n  b\nc":                         "a; b; c",
		"":                                  "",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
