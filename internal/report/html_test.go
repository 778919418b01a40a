package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// batched is a case in which 20 elements of batch 0 alone are right, of
// shape b=2, h=3, t=5, d=8.
func batched() runner.Result {
	r := passing("rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal", "hip@gfx90a")
	r.Status, r.Judgement.Status, r.Judgement.Verdict = compare.Fail, compare.Fail, compare.Mismatch
	r.Judgement.Accuracy.Mismatches = 220
	r.Judgement.Accuracy.Hist = []int{10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 220}
	r.Judgement.Pattern = &compare.Pattern{
		Axes: []compare.AxisShare{
			{Name: "b", Size: 2, Wrong: []int{100, 120}, Total: []int{120, 120}},
			{Name: "h", Size: 3, Wrong: []int{60, 80, 80}, Total: []int{80, 80, 80}},
		},
		Ranges: []compare.Range{{From: 0, To: 20}, {From: 20, To: 240, Wrong: true}},
	}
	return r
}

func TestMap(t *testing.T) {
	r := batched()
	m := newMap(&r)
	if len(m.Lines) != 2 || m.Outer != "b" || m.Unknown {
		t.Fatalf("got %+v, want two lines of b", m)
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	// 20 of 120 elements are a sixth of 600.
	check("right of batch 0", m.Lines[0].Right, "M0.0 0h100.0v1h-100.0z")
	check("wrong of batch 0", m.Lines[0].Wrong, "M100.0 0h500.0v1h-500.0z")
	check("right of batch 1", m.Lines[1].Right, "")
	check("wrong of batch 1", m.Lines[1].Wrong, "M0.0 0h600.0v1h-600.0z")
	check("words", m.Lines[0].Words, "elements 0 to 119: 100 wrong")
	check("axis", fmt.Sprint(m.Axes[0].Cells), "[{83% b=0: 100 of 120 wrong 0.83} {100% b=1: 120 of 120 wrong 1.00}]")

	// What a pattern has no room for is drawn as such.
	r.Judgement.Pattern.Ranges = r.Judgement.Pattern.Ranges[:1]
	m = newMap(&r)
	check("unknown of batch 0", m.Lines[0].Unknown, "M100.0 0h500.0v1h-500.0z")
	check("words", m.Lines[1].Words, "elements 120 to 239: 0 wrong, not recorded from 120")
	if !m.Unknown {
		t.Error("got no unknown elements")
	}
	ok := passing("x", "y")
	if newMap(&ok) != nil {
		t.Error("a passing case has a map")
	}
}

func TestHist(t *testing.T) {
	a, b := batched(), batched()
	h, ok := newHist(newRow(&a, &b))
	want := "480 elements by error in ulp. 0: 20, to 0.5: 20, over 1024: 440"
	if !ok || h.Words != want || strings.Count(h.Path, "M") != 3 || !h.Bad {
		t.Errorf("got %+v, want %q and three bars", h, want)
	}
}

// The page is well-formed, self-contained, and holds what other formats
// hold.
func TestHTML(t *testing.T) {
	all := runs()
	all["batched"] = &runner.Run{Schema: runner.Schema, Env: env(), Results: []runner.Result{batched()}}
	outside := regexp.MustCompile(`(?i)<script|<link|<img|<iframe|@import|url\(|src=|https?://|javascript:|\son\w+=`)
	for name, run := range all {
		out := render(t, run, HTML, Options{Counters: true})
		if m := outside.FindString(out); m != "" {
			t.Errorf("%s: the page holds %q", name, m)
		}
		if !strings.Contains(out, Count(run).String()) {
			t.Errorf("%s: the page lacks the counts", name)
		}
		dec := xml.NewDecoder(strings.NewReader(out))
		dec.Strict, dec.AutoClose, dec.Entity = false, []string{"meta"}, xml.HTMLEntity
		for depth := 0; ; {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				if depth != 0 {
					t.Errorf("%s: %d elements are left open", name, depth)
				}
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			switch tok.(type) {
			case xml.StartElement:
				depth++
			case xml.EndElement:
				depth--
			}
		}
	}
	if out := render(t, all["strange"], HTML, Options{}); strings.Contains(out, "<b> | <x>") || strings.Contains(out, "<x>") {
		t.Error("markup of a name came through")
	}
	out := render(t, all["fail"], HTML, Options{Changes: comparison(t)})
	for _, want := range []string{"Against the baseline", "12 regressions (11 status, 1 lost)", "launched with stride_b = t*d/2: 20 in place of 120", "MISMATCH in 1 of 2 cases"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Cases whose mismatches lie alike are drawn once and counted.
func TestMapsAlike(t *testing.T) {
	var results []*runner.Result
	for i := range 20 {
		r := batched()
		if i >= 5 {
			r.Judgement.Pattern.Ranges = []compare.Range{{From: 0, To: 20 + i}, {From: 20 + i, To: 240, Wrong: true}}
		}
		results = append(results, &r)
	}
	f := newFailure(newRow(results...))
	if f.Map == nil || len(f.Others) != maxMaps-1 || f.Alike != 4 || f.Left != 20-4-maxMaps {
		t.Errorf("got %d others, %d alike, %d left", len(f.Others), f.Alike, f.Left)
	}
}
