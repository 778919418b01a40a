package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/mutate"
	"github.com/paritycheck/paritycheck/internal/report"
)

var writeDocs = flag.Bool("write-docs", false, "write the scores of testdata/mutation.json into docs/mutation.md")

// TestMutationDocument holds the table of scores in docs/mutation.md to the
// committed baseline, and the baseline to what is promised: every named fault
// caught, no twin rejected, and 95 of 100 instruction mutants in each family.
func TestMutationDocument(t *testing.T) {
	base, err := readMutation(filepath.Join("..", "..", "testdata", "mutation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var families []string
	scores := map[string]map[string]*mutate.Score{}
	for _, s := range base.Scores {
		if scores[s.Family] == nil {
			families = append(families, s.Family)
			scores[s.Family] = map[string]*mutate.Score{mutate.NamedFaults: {}, mutate.Instruction: {}}
		}
		scores[s.Family][s.Kind].Add(s)
	}
	var rows [][]string
	var total [2]mutate.Score
	row := func(name string, n, i mutate.Score) {
		rows = append(rows, []string{
			name, fmt.Sprintf("%d of %d", n.Caught, n.Planted), fmt.Sprint(n.Twins), fmt.Sprint(i.Planted), fmt.Sprint(i.Inert),
			fmt.Sprint(i.Caught), fmt.Sprint(i.Warned), fmt.Sprint(i.Survived), percent(i.Share()), fmt.Sprintf("%d of %d", i.Unreached, i.Code),
		})
	}
	for _, f := range families {
		n, i := *scores[f][mutate.NamedFaults], *scores[f][mutate.Instruction]
		if n.Planted == 0 || n.Caught != n.Planted || n.Rejected > 0 {
			t.Errorf("%s: %d of %d named faults are caught and %d twins rejected", f, n.Caught, n.Planted, n.Rejected)
		}
		if i.Share() < 0.95 {
			t.Errorf("%s: %s of the instruction mutants are caught, want 95%%", f, percent(i.Share()))
		}
		row(f, n, i)
		total[0].Add(n)
		total[1].Add(i)
	}
	row("all", total[0], total[1])
	var b strings.Builder
	head := []string{"family", "named faults caught", "twins passed", "instruction mutants", "inert", "caught", "warned", "survived", "score", "instructions unreached"}
	right := []bool{false, true, true, true, true, true, true, true, true, true}
	if err := report.MarkdownGrid(&b, head, right, rows); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "mutation.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- scores: make mutate -->\n", "<!-- end of scores -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	was, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	if was == b.String() {
		return
	}
	if !*writeDocs {
		t.Errorf("the scores in docs/mutation.md are not those of testdata/mutation.json: make mutate writes them; want\n%s", b.String())
		return
	}
	if err := os.WriteFile(path, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
		t.Fatal(err)
	}
}
