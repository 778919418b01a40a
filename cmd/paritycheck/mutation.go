package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/mutate"
	"github.com/paritycheck/paritycheck/internal/report"
)

// mutationSchema names the JSON of mutate.
const mutationSchema = "paritycheck.mutation/v1"

// A mutation is the report of mutate in JSON. A baseline is one whose
// Mutants are those alone that were not caught.
type mutation struct {
	Schema      string            `json:"schema"`
	Seed        uint64            `json:"seed"`
	Level       string            `json:"level"`
	Samples     int               `json:"samples"`        // instruction mutants for each op and architecture; 0: none
	Code        map[string]string `json:"code,omitempty"` // kernel@arch -> hash of the instructions that were changed
	Scores      []mutate.Score    `json:"scores"`
	Mutants     []mutate.Mutant   `json:"mutants"`
	Coverage    []mutate.Coverage `json:"coverage,omitempty"`
	Regressions []string          `json:"regressions,omitempty"` // against the baseline
}

func newMutation(opts mutateOptions) *mutation {
	m := &mutation{Schema: mutationSchema, Seed: opts.seed, Level: opts.sel.Level.String(), Code: map[string]string{}, Mutants: []mutate.Mutant{}}
	if opts.insts {
		m.Samples = opts.samples
	}
	return m
}

// readMutation reads a baseline or a report in JSON.
func readMutation(path string) (*mutation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	m := new(mutation)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %w", path, err)
	}
	if m.Schema != mutationSchema {
		return nil, fmt.Errorf("reading the baseline %s: schema must be %q, not %q", path, mutationSchema, m.Schema)
	}
	return m, nil
}

// open lists the mutants that were not caught, and the twins that were.
func (m *mutation) open() []mutate.Mutant {
	list := []mutate.Mutant{}
	for _, x := range m.Mutants {
		switch x.Outcome {
		case mutate.Warned, mutate.Survived, mutate.Rejected:
			list = append(list, x)
		}
	}
	return list
}

// save writes m as a baseline.
func (m *mutation) save(path string) error {
	small := *m
	small.Mutants, small.Regressions = m.open(), nil
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	err = writeJSON(f, &small)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("writing the baseline %s: %w", path, err)
	}
	return nil
}

// severity orders outcomes from good to bad.
func severity(o mutate.Outcome) int {
	switch o {
	case mutate.Warned:
		return 1
	case mutate.Survived, mutate.Rejected:
		return 2
	}
	return 0
}

// worse says in what m is worse than base: a fault that was caught and is
// no longer, a twin that is rejected now, fewer named faults, a lower
// score, and code that no case executes any more. Instruction mutants are compared one by one where both drew the
// same; else, and in sum, by the share that was caught, where a lower one
// counts that a sample of this size hardly gives by chance.
func (m *mutation) worse(base *mutation) []string {
	list := []string{}
	key := func(x *mutate.Mutant) string {
		return strings.Join([]string{x.Kernel, x.Target, x.Kind, x.At, x.Name}, " ")
	}
	was := map[string]mutate.Outcome{}
	for i := range base.Mutants {
		was[key(&base.Mutants[i])] = base.Mutants[i].Outcome
	}
	for i := range m.Mutants {
		x := &m.Mutants[i]
		if x.ScoreKind() == mutate.Instruction && !m.sameDraw(base, x) {
			continue
		}
		now := x.Outcome
		before, listed := was[key(x)]
		if severity(now) > severity(before) {
			if !listed {
				before = "caught or new"
				if now == mutate.Rejected {
					before = "passed or new"
				}
			}
			list = append(list, fmt.Sprintf("%s on %s, %s: %s is %s, before %s", x.Kernel, x.Target, x.Kind, x.Name, now, before))
		}
	}
	for _, s := range m.Scores {
		i := slices.IndexFunc(base.Scores, func(b mutate.Score) bool { return b.Op == s.Op && b.Kind == s.Kind })
		if i < 0 {
			continue // a new op
		}
		b := base.Scores[i]
		switch {
		case s.Kind == mutate.NamedFaults:
			if s.Planted < b.Planted || s.Twins < b.Twins {
				list = append(list, fmt.Sprintf("%s: %d named faults and %d twins are planted, before %d and %d", s.Op, s.Planted, s.Twins, b.Planted, b.Twins))
			}
		case s.Share() < b.Share()-chance(s, b):
			list = append(list, fmt.Sprintf("%s: %s of the instruction mutants are caught, before %s", s.Op, percent(s.Share()), percent(b.Share())))
		}
	}
	return append(list, m.lost(base)...)
}

// otherCode is how much smaller the share of a kernel's instructions that some
// case executes may be where its code, or its inputs, are not those of the
// baseline.
const otherCode = 0.1

// lost says of which kernels the cases execute less than in base.
func (m *mutation) lost(base *mutation) []string {
	var list []string
	for _, s := range m.Scores {
		i := slices.IndexFunc(base.Scores, func(b mutate.Score) bool { return b.Op == s.Op && b.Kind == s.Kind })
		if i < 0 || s.Code == 0 || base.Scores[i].Code == 0 {
			continue
		}
		now, before := s.Reached(), base.Scores[i].Reached()
		if !m.sameCode(base, s.Op) {
			before -= otherCode
		}
		if now < before {
			list = append(list, fmt.Sprintf("%s: the cases execute %s of the instructions, before %s", s.Op, percent(now), percent(base.Scores[i].Reached())))
		}
	}
	return list
}

// sameCode reports whether base ran the cases of an op with the same inputs
// and the same kernels.
func (m *mutation) sameCode(base *mutation, op string) bool {
	if m.Seed != base.Seed || m.Level != base.Level {
		return false
	}
	for _, c := range m.Coverage {
		k := c.Kernel + "@" + strings.TrimPrefix(c.Target, "hip@")
		if c.Op == op && m.Code[k] != base.Code[k] {
			return false
		}
	}
	return true
}

// sameDraw reports whether base drew x too, if it was open there or not:
// it had the same seed, cases and instructions and no smaller sample.
func (m *mutation) sameDraw(base *mutation, x *mutate.Mutant) bool {
	k := x.Kernel + "@" + strings.TrimPrefix(x.Target, "hip@")
	return m.Seed == base.Seed && m.Level == base.Level && m.Samples <= base.Samples && m.Code[k] == base.Code[k]
}

// chance is three standard errors of the difference of two shares. Each
// is taken with one caught and one missed mutant more, so that a share of
// 1 has an error too.
func chance(a, b mutate.Score) float64 {
	variance := func(s mutate.Score) float64 {
		n := float64(s.Caught+s.Warned+s.Survived) + 2
		p := (float64(s.Caught) + 1) / n
		return p * (1 - p) / n
	}
	return 3 * math.Sqrt(variance(a)+variance(b))
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// write renders m.
func (m *mutation) write(w io.Writer, f report.Format) error {
	if f == report.JSON {
		return writeJSON(w, m)
	}
	markdown := f == report.Markdown
	if err := m.writeScores(w, markdown); err != nil {
		return err
	}
	if err := m.writeOpen(w, markdown); err != nil {
		return err
	}
	if len(m.Regressions) > 0 {
		if err := writeHeading(w, markdown, "worse than the baseline"); err != nil {
			return err
		}
		for _, r := range m.Regressions {
			if err := writeItem(w, markdown, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeHeading(w io.Writer, markdown bool, text string) error {
	if markdown {
		_, err := fmt.Fprintf(w, "\n### %s\n\n", text)
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s:\n", text)
	return err
}

func writeItem(w io.Writer, markdown bool, text string) error {
	mark := "  "
	if markdown {
		mark = "- "
	}
	_, err := fmt.Fprintf(w, "%s%s\n", mark, text)
	return err
}

func (m *mutation) writeScores(w io.Writer, markdown bool) error {
	head := []string{"op", "faults", "planted", "caught", "warned", "survived", "inert", "score", "unreached", "twins", "rejected"}
	right := []bool{false, false, true, true, true, true, true, true, true, true, true}
	var rows [][]string
	row := func(s mutate.Score) []string {
		r := []string{s.Op, s.Kind}
		for _, n := range []int{s.Planted, s.Caught, s.Warned, s.Survived, s.Inert} {
			r = append(r, strconv.Itoa(n))
		}
		r = append(r, percent(s.Share()))
		if s.Kind == mutate.NamedFaults {
			return append(r, "-", strconv.Itoa(s.Twins), strconv.Itoa(s.Rejected))
		}
		return append(r, fmt.Sprintf("%d of %d", s.Unreached, s.Code), "-", "-")
	}
	var sums []mutate.Score
	for _, s := range m.Scores {
		rows = append(rows, row(s))
		i := slices.IndexFunc(sums, func(x mutate.Score) bool { return x.Kind == s.Kind })
		if i < 0 {
			i = len(sums)
			sums = append(sums, mutate.Score{Op: "all", Kind: s.Kind})
		}
		sums[i].Add(s)
	}
	if len(m.Scores) > len(sums) {
		for _, s := range sums {
			rows = append(rows, row(s))
		}
	}
	if markdown {
		return report.MarkdownGrid(w, head, right, rows)
	}
	return report.Grid(w, head, right, rows)
}

// writeOpen lists what was not caught, with what it changed.
func (m *mutation) writeOpen(w io.Writer, markdown bool) error {
	open := m.open()
	if len(open) == 0 {
		return nil
	}
	if err := writeHeading(w, markdown, "not caught, and twins that were rejected"); err != nil {
		return err
	}
	for _, x := range open {
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s on %s, ", x.Outcome, x.Kernel, x.Target)
		if x.ScoreKind() == mutate.NamedFaults {
			fmt.Fprintf(&b, "%s", x.Name)
		} else {
			fmt.Fprintf(&b, "%s at %s: %s", x.Kind, x.At, x.Name)
		}
		if x.Changed > 0 {
			fmt.Fprintf(&b, "; changed %d of %d cases", x.Changed, x.Cases)
		}
		if x.Case != "" {
			fmt.Fprintf(&b, "; %s", x.Case)
		}
		if x.Verdict != "" {
			fmt.Fprintf(&b, ": %s", x.Verdict)
		}
		if x.Detail != "" {
			fmt.Fprintf(&b, ", %s", x.Detail)
		}
		if err := writeItem(w, markdown, b.String()); err != nil {
			return err
		}
	}
	return nil
}
