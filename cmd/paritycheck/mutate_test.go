package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/mutate"
	"github.com/paritycheck/paritycheck/internal/ops"
)

// ropeFaults is a table of rope_i and three of its fault kernels. edit
// changes the op.
func ropeFaults(t *testing.T, edit func(o *ops.Op)) faultTable {
	t.Helper()
	all, err := committedFaults()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all.ops, func(o *ops.Op) bool { return o.Name == "rope_i" })
	o := *all.ops[i]
	edit(&o)
	edited := o.Cases
	o.Cases = func(v ops.Variant, l ops.Level) []ops.Case {
		cases := edited(v, l)
		for i := range cases {
			cases[i].Op = &o
		}
		return cases
	}
	all.ops = []*ops.Op{&o}
	all.symbols = []string{"rope_i_f32__twin", "rope_i_f32__swapped", "rope_i_f32__stride_ignored"}
	return all
}

// blind leaves out the cases that have a table for each batch.
func blind(o *ops.Op) {
	cases := o.Cases
	o.Cases = func(v ops.Variant, l ops.Level) []ops.Case {
		return slices.DeleteFunc(cases(v, l), func(c ops.Case) bool { return c.Dim("cos") == 3 })
	}
}

// strict takes the truth for another, so that the twin fails too.
func strict(o *ops.Op) {
	expect := o.Expect
	o.Expect = func(p *ops.Problem) *compare.Expected {
		e := expect(p)
		for i := range e.Value {
			e.Value[i] = -e.Value[i]
		}
		return e
	}
}

func plantIn(t *testing.T, table faultTable, change func(o *mutateOptions)) (int, string) {
	t.Helper()
	opts := mutateOptions{named: true, samples: 6, seed: 1, format: "table", quiet: true}
	change(&opts)
	var out, errOut bytes.Buffer
	err := plantFaults(t.Context(), &out, &errOut, opts, table)
	text := out.String()
	if err != nil {
		text += err.Error()
	}
	return exitCode(err), text
}

func TestMutateExitCodes(t *testing.T) {
	same := func(*ops.Op) {}
	none := func(*mutateOptions) {}
	check := func(what string, table faultTable, change func(*mutateOptions), code int, want string) {
		t.Helper()
		if got, text := plantIn(t, table, change); got != code || !strings.Contains(text, want) {
			t.Errorf("%s: got code %d and %q, want %d and %q", what, got, text, code, want)
		}
	}
	check("all caught", ropeFaults(t, same), none, exitOK, "100.0%")
	check("a survivor", ropeFaults(t, blind), none, exitFail, "2 named faults survived")
	check("a rejected twin", ropeFaults(t, strict), none, exitFail, "2 corrected twins were rejected")

	empty := ropeFaults(t, same)
	empty.symbols = nil
	check("no faults", empty, none, exitNone, "nothing was planted")

	unknown := ropeFaults(t, same)
	unknown.symbols = []string{"rope_j_f32__swapped"}
	check("a fault of no op", unknown, none, exitError, "rope_j_f32__swapped")
}

func TestMutateBaseline(t *testing.T) {
	same := func(*ops.Op) {}
	base := filepath.Join(t.TempDir(), "base.json")
	both := func(o *mutateOptions) { o.insts = true }
	code, text := plantIn(t, ropeFaults(t, same), func(o *mutateOptions) { both(o); o.save = base })
	if code != exitOK {
		t.Fatalf("got code %d, %s", code, text)
	}
	m, err := readMutation(base)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Scores) != 2 || m.Scores[0].Caught != 4 || m.Scores[0].Twins != 2 || m.Scores[1].Planted != 12 || m.Samples != 6 || len(m.Code) != 2 {
		t.Errorf("the baseline is %+v", m)
	}
	for _, x := range m.Mutants {
		if severity(x.Outcome) == 0 {
			t.Errorf("the baseline lists %+v, which was caught", x)
		}
	}

	against := func(what string, table faultTable, change func(*mutateOptions), code int, want string) {
		t.Helper()
		got, text := plantIn(t, table, func(o *mutateOptions) { both(o); o.baseline = base; change(o) })
		if got != code || !strings.Contains(text, want) {
			t.Errorf("%s: got code %d and %q, want %d and %q", what, got, text, code, want)
		}
	}
	against("the same", ropeFaults(t, same), func(*mutateOptions) {}, exitOK, "")
	against("a smaller sample", ropeFaults(t, same), func(o *mutateOptions) { o.samples = 2 }, exitOK, "")
	against("another seed", ropeFaults(t, same), func(o *mutateOptions) { o.seed = 7 }, exitOK, "")
	against("blind cases", ropeFaults(t, blind), func(*mutateOptions) {}, exitFail, "stride_ignored is survived, before caught or new")
	fewer := ropeFaults(t, same)
	fewer.symbols = fewer.symbols[:2]
	against("fewer faults", fewer, func(*mutateOptions) {}, exitFail, "2 named faults and 2 twins are planted, before 4 and 2")
}

// A lower score of instruction mutants counts where the draws differ, and
// each survivor where they do not.
func TestWorse(t *testing.T) {
	score := func(caught, survived int) mutate.Score {
		return mutate.Score{Op: "o", Kind: mutate.Instruction, Planted: caught + survived, Caught: caught, Survived: survived}
	}
	survivor := mutate.Mutant{Op: "o", Kernel: "o_f32", Target: "hip@gfx90a", Kind: "operand", Name: "a -> b", At: "0x1", Outcome: mutate.Survived}
	make := func(seed uint64, s mutate.Score, mutants ...mutate.Mutant) *mutation {
		return &mutation{Seed: seed, Samples: 100, Code: map[string]string{"o_f32@gfx90a": "c"}, Scores: []mutate.Score{s}, Mutants: mutants}
	}
	base := make(1, score(99, 1))
	for _, c := range []struct {
		what string
		now  *mutation
		want int
	}{
		{"as before", make(1, score(99, 1)), 0},
		{"one less by chance", make(2, score(98, 2), survivor), 0},
		{"one less of the same draw", make(1, score(98, 2), survivor), 1},
		{"many less", make(2, score(80, 20)), 1},
	} {
		if got := c.now.worse(base); len(got) != c.want {
			t.Errorf("%s: got %q, want %d", c.what, got, c.want)
		}
	}
	// What no case executes any more, of the same code and of other.
	reach := func(code string, unreached int) *mutation {
		s := score(99, 1)
		s.Code, s.Unreached = 1000, unreached
		m := make(1, s)
		m.Code["o_f32@gfx90a"] = code
		m.Coverage = []mutate.Coverage{{Op: "o", Kernel: "o_f32", Target: "hip@gfx90a", Instructions: 1000, Unreached: unreached}}
		return m
	}
	for _, c := range []struct {
		what string
		now  *mutation
		want int
	}{
		{"as much", reach("c", 200), 0},
		{"more", reach("c", 199), 0},
		{"one instruction less", reach("c", 201), 1},
		{"other code", reach("d", 290), 0},
		{"other code, much less", reach("d", 310), 1},
	} {
		got := c.now.worse(reach("c", 200))
		if len(got) != c.want || c.want > 0 && !strings.Contains(got[0], "the cases execute") {
			t.Errorf("%s: got %q, want %d", c.what, got, c.want)
		}
	}
	if got := make(1, score(99, 1), survivor).worse(make(1, score(99, 1), survivor)); len(got) != 0 {
		t.Errorf("a known survivor: got %q", got)
	}
}

// The command as a whole: formats, files and stderr.
func TestMutateCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.json")
	code, out, errOut := execute("mutate", "--op", "rope_i", "--samples", "2", "--format", "markdown", "-o", file)
	if code != exitOK || !strings.HasPrefix(out, "| op") || !strings.Contains(errOut, "rope_i: named: ") || !strings.Contains(errOut, "rope_i: instruction: ") {
		t.Errorf("got code %d, stdout %q, stderr %q", code, out, errOut)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m mutation
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	planted := 0
	for _, s := range m.Scores {
		planted += s.Planted + s.Twins
	}
	if m.Schema != mutationSchema || len(m.Scores) != 2 || planted != len(m.Mutants) {
		t.Errorf("got schema %s, scores %+v and %d mutants", m.Schema, m.Scores, len(m.Mutants))
	}
}

// TestMutationBaseline holds one op of each family with faults to what is
// committed; CI does the same for all.
func TestMutationBaseline(t *testing.T) {
	code, out, errOut := execute("mutate", "--op", "rope_i,gather,sqrt,layer_norm,softmax,fast_argmax", "--samples", "2", "-q",
		"--baseline", filepath.Join("..", "..", "testdata", "mutation.json"))
	if code != exitOK {
		t.Errorf("got code %d, %s\n%s\nmake mutate writes a new baseline", code, errOut, out)
	}
}
