package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// comparison is of eleven cases that fail, one that is lost, one that is
// new, and 30 ops that are as they were.
func comparison(t *testing.T) *baseline.Comparison {
	t.Helper()
	run := func(bad bool) *baseline.Baseline {
		r := &runner.Run{Schema: runner.Schema, Env: env()}
		for i := range 13 {
			if bad && i == 12 || !bad && i == 11 {
				continue
			}
			x := passing(fmt.Sprintf("rope_i/f32/n=%d/nor|mal", i), "hip@gfx90a")
			if bad && i < 11 {
				x.Status = compare.Fail
				x.Judgement.Accuracy.Mismatches = 20 + i
			}
			r.Results = append(r.Results, x)
		}
		for i := range 30 {
			x := passing(fmt.Sprintf("op%d/f32/n=1/normal", i), "hip@gfx90a")
			x.Op, x.Family = fmt.Sprintf("op%d", i), "other"
			r.Results = append(r.Results, x)
		}
		b, err := baseline.Of(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	c, err := baseline.Compare(run(false), run(true), baseline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChangesMarkdown(t *testing.T) {
	c := comparison(t)
	var b bytes.Buffer
	if err := WriteChanges(&b, c, Markdown); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if !strings.HasPrefix(out, "**REGRESSED: 12 regressions (11 status, 1 lost); 41 results compared, 1 new**\n\n#### Regressions\n") {
		t.Errorf("got the beginning %.120q", out)
	}
	for i := range 11 { // every case is listed
		if want := fmt.Sprintf("\nrope_i/f32/n=%d/nor|mal: was pass", i); !strings.Contains(out, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, want := range []string{
		"<summary>rope: 1 of 1 row regressed, 0 unchanged and not listed</summary>", "Families without a change, and their rows: other 30.",
		`nor\|mal`, "12 pass → 11 FAIL, 1 pass", "<details><summary>changes that are no regressions: 1</summary>",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if n, m := strings.Count(out, "<details"), strings.Count(out, "</details>"); n != m {
		t.Errorf("got %d details opened, %d closed", n, m)
	}
	cells := 0
	for _, line := range strings.Split(out, "\n") {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if cells != 0 && n != cells {
			t.Errorf("row %q has %d bars, want %d", line, n, cells)
		}
		cells = n
	}
}

func TestChangesFormats(t *testing.T) {
	c := comparison(t)
	render := func(f Format) string {
		t.Helper()
		var b bytes.Buffer
		if err := WriteChanges(&b, c, f); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var got Changes
	if err := json.Unmarshal([]byte(render(JSON)), &got); err != nil || got.Regressions != 12 || len(got.Changes) != 13 || got.Compared != 41 || got.New.Results != 42 {
		t.Errorf("JSON: got %+v, %v", got, err)
	}
	if out := render(Table); !strings.Contains(out, "and 7 more cases; --format markdown or json for all") || strings.Count(out, "REGRESSION ") != 2 {
		t.Errorf("table: got\n%s", out)
	}
	if out := render(GitHub); strings.Count(out, "::error title=regression%3A ") != 2 || strings.Count(out, "\n") != 3 {
		t.Errorf("github: got\n%s", out)
	}
	if err := WriteChanges(&bytes.Buffer{}, c, CSV); err == nil {
		t.Error("csv: got no error")
	}
}
