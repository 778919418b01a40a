// Package mutate measures the judge: it plants known faults in kernels,
// runs the cases of their op against them and counts which are caught. A
// case set that lets a fault through is a gate that will let a wrong
// kernel through.
//
// There are two kinds. Named faults (named.go) are HIP kernels with one
// realistic porting mistake each, written by hand beside a corrected twin.
// Instruction mutants (inst.go) are good kernels with one instruction
// changed, drawn at random.
package mutate

import (
	"context"
	"fmt"
	"slices"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// An Outcome is what became of a planted fault.
type Outcome string

// The outcomes.
const (
	Caught   Outcome = "caught"   // some case failed
	Warned   Outcome = "warned"   // none failed, some warned: --strict would catch it
	Survived Outcome = "survived" // an output changed and every case passed
	// Inert: no output bit changed in any case. The mutant is equivalent,
	// or its instruction was never reached with an effect.
	Inert Outcome = "inert"
	// Rejected is a corrected twin that did not pass: the judge or the twin
	// is wrong.
	Rejected Outcome = "rejected"
	Passed   Outcome = "passed" // a twin that passed, as it must
)

// A Mutant is one planted fault on one target, and what became of it.
type Mutant struct {
	Op      string  `json:"op"`
	Family  string  `json:"family"`
	Kernel  string  `json:"kernel"`
	Target  string  `json:"target"`
	Kind    string  `json:"kind"` // "named", "twin", or of an instruction: "operation", "operand", "constant", "dropped"
	Name    string  `json:"name"` // the fault's name, or the change: "v_add_f32 v1, v2, v3 -> v_sub_f32 v1, v2, v3"
	At      string  `json:"at,omitempty"`
	Outcome Outcome `json:"outcome"`
	Cases   int     `json:"cases"`
	Failing int     `json:"failing"`          // cases that failed
	Changed int     `json:"changed"`          // cases whose output differs from the good kernel's
	Verdict string  `json:"verdict"`          // of the first failing case, or the worst
	Case    string  `json:"case,omitempty"`   // that case
	Detail  string  `json:"detail,omitempty"` // what gave it away, or what it changed
}

// A Score sums up the mutants of an op on all targets.
type Score struct {
	Op       string `json:"op"`
	Family   string `json:"family"`
	Planted  int    `json:"planted"`
	Caught   int    `json:"caught"`
	Warned   int    `json:"warned"`
	Survived int    `json:"survived"`
	Inert    int    `json:"inert"`
	Twins    int    `json:"twins"`
	Rejected int    `json:"rejected"`
}

// Share is the share of effective faults that were caught, 1 where there
// was none.
func (s Score) Share() float64 {
	n := s.Caught + s.Warned + s.Survived
	if n == 0 {
		return 1
	}
	return float64(s.Caught) / float64(n)
}

// add counts m.
func (s *Score) add(m Mutant) {
	switch m.Outcome {
	case Passed:
		s.Twins++
		return
	case Rejected:
		s.Twins++
		s.Rejected++
		return
	case Caught:
		s.Caught++
	case Warned:
		s.Warned++
	case Survived:
		s.Survived++
	case Inert:
		s.Inert++
	}
	s.Planted++
}

// Scores sums mutants by op, in their order.
func Scores(mutants []Mutant) []Score {
	var list []Score
	for _, m := range mutants {
		i := slices.IndexFunc(list, func(s Score) bool { return s.Op == m.Op })
		if i < 0 {
			i = len(list)
			list = append(list, Score{Op: m.Op, Family: m.Family})
		}
		list[i].add(m)
	}
	return list
}

// Options say what to plant.
type Options struct {
	Seed    uint64
	Samples int // instruction mutants for each op and target
	Level   ops.Level
	Jobs    int
	// Open opens an interpreter for arch, with a step limit that a runaway
	// mutant meets soon.
	Open func(arch string) (gpu.Device, error)
	// Archs are the architectures to plant on: one of each wave size shows
	// what depends on it.
	Archs []string
	// Progress, if not nil, is told of each mutant.
	Progress func(Mutant)
}

// launch runs cases with image and returns a result for each.
func launch(ctx context.Context, opts *Options, arch string, image []byte, cases []ops.Case) ([]runner.Result, error) {
	t := runner.Target{
		Name:  "hip@" + arch,
		Side:  runner.HIP,
		Open:  func() (gpu.Device, error) { return opts.Open(arch) },
		Image: func(gpu.Device, string) ([]byte, error) { return image, nil },
	}
	run, err := runner.Execute(ctx, cases, []runner.Target{t}, runner.Options{Seed: opts.Seed, Level: opts.Level, Jobs: opts.Jobs})
	if err != nil {
		return nil, err
	}
	return run.Results, nil
}

// judge fills in what results, of a mutant, say beside good, those of the
// kernel it was made from. A nil good is that of a named fault, which is
// always effective.
func judge(m *Mutant, results, good []runner.Result) error {
	m.Cases = len(results)
	warn := -1
	first := -1
	for i := range results {
		r := &results[i]
		if good != nil && r.OutputHash != good[i].OutputHash {
			m.Changed++
			if m.Case == "" {
				m.Case = r.Case
			}
		}
		switch r.Status {
		case compare.Fail:
			m.Failing++
			if first < 0 {
				first = i
			}
		case compare.Warn:
			if warn < 0 {
				warn = i
			}
		case compare.Unverified:
			return fmt.Errorf("%s on %s: %s did not run: %s", m.Name, m.Target, r.Case, r.Skipped)
		}
	}
	switch {
	case first >= 0:
		m.Outcome = Caught
		m.give(&results[first])
	case good != nil && m.Changed == 0:
		m.Outcome = Inert
	case warn >= 0:
		m.Outcome = Warned
		m.give(&results[warn])
	default:
		m.Outcome = Survived
	}
	return nil
}

// give records what gave the mutant away.
func (m *Mutant) give(r *runner.Result) {
	m.Case = r.Case
	switch {
	case r.Fault != "":
		m.Verdict, m.Detail = "FAULT", r.Fault
	case len(r.Findings) > 0:
		m.Verdict, m.Detail = string(r.Findings[0].Check), r.Findings[0].String()
	case r.Judgement != nil:
		m.Verdict = string(r.Judgement.Verdict)
		if len(r.Judgement.Hints) > 0 {
			m.Detail = r.Judgement.Hints[0]
		}
	}
}

// withKernel returns copies of the cases of o's variant v that launch
// symbol in place of the op's own kernel. Inputs and truth stay the same.
func withKernel(o *ops.Op, v ops.Variant, level ops.Level, symbol string) []ops.Case {
	planted := *o
	planted.Symbol = symbol
	cases := o.Cases(v, level)
	for i := range cases {
		cases[i].Op = &planted
	}
	return cases
}
