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
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

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
	// Inert: no output bit changed in any case, though one executed the
	// instruction: the mutant is equivalent for all of them.
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
	Cases   int     `json:"cases"`            // that ran: all, or up to the first that failed
	Changed int     `json:"changed"`          // cases whose output differs from the good kernel's
	Verdict string  `json:"verdict"`          // of the first failing case, or the worst
	Case    string  `json:"case,omitempty"`   // that case
	Detail  string  `json:"detail,omitempty"` // what gave it away, or what it changed
}

// The kinds of mutants that are scored apart.
const (
	NamedFaults = "named"
	Instruction = "instruction"
)

// A Score sums up the mutants of one kind of an op on all targets.
type Score struct {
	Op       string `json:"op"`
	Family   string `json:"family"`
	Kind     string `json:"kind"` // NamedFaults or Instruction
	Planted  int    `json:"planted"`
	Caught   int    `json:"caught"`
	Warned   int    `json:"warned"`
	Survived int    `json:"survived"`
	Inert    int    `json:"inert"`
	Twins    int    `json:"twins"`
	Rejected int    `json:"rejected"`
	// Of instructions: how many the kernels have, and how many of them no
	// case executes.
	Code      int `json:"code,omitempty"`
	Unreached int `json:"unreached,omitempty"`
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

// Reached is the share of the instructions that some case executes, 1 where
// there are none.
func (s Score) Reached() float64 {
	if s.Code == 0 {
		return 1
	}
	return 1 - float64(s.Unreached)/float64(s.Code)
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

// Add adds the counts of t.
func (s *Score) Add(t Score) {
	s.Planted += t.Planted
	s.Caught += t.Caught
	s.Warned += t.Warned
	s.Survived += t.Survived
	s.Inert += t.Inert
	s.Twins += t.Twins
	s.Rejected += t.Rejected
	s.Code += t.Code
	s.Unreached += t.Unreached
}

// ScoreKind is the kind under which m is scored.
func (m Mutant) ScoreKind() string {
	if m.Kind == named || m.Kind == twin {
		return NamedFaults
	}
	return Instruction
}

// Scores sums mutants by op and kind, in their order, and what of the code of
// each op coverage says.
func Scores(mutants []Mutant, coverage []Coverage) []Score {
	var list []Score
	for _, m := range mutants {
		kind := m.ScoreKind()
		i := slices.IndexFunc(list, func(s Score) bool { return s.Op == m.Op && s.Kind == kind })
		if i < 0 {
			i = len(list)
			list = append(list, Score{Op: m.Op, Family: m.Family, Kind: kind})
		}
		list[i].add(m)
	}
	for _, c := range coverage {
		i := slices.IndexFunc(list, func(s Score) bool { return s.Op == c.Op && s.Kind == Instruction })
		if i < 0 {
			continue
		}
		list[i].Code += c.Instructions
		list[i].Unreached += c.Unreached
	}
	return list
}

// Options say what to plant.
type Options struct {
	Seed    uint64
	Samples int // instruction mutants for each op and target
	Level   ops.Level
	Jobs    int // mutants at a time; 0 is one for each processor
	// Open opens an interpreter for arch, with a step limit that a runaway
	// mutant meets soon.
	// reached, if not nil, is told the address in the code object of each
	// instruction that is executed with an active lane.
	Open func(arch string, reached func(pc uint64)) (gpu.Device, error)
	// Archs are the architectures to plant on: one of each wave size shows
	// what depends on it.
	Archs []string
	// Progress, if not nil, is told of each mutant.
	Progress func(Mutant)
}

// launch runs cases with image, one after another, until one fails, and
// returns a result for each that ran. how is the arithmetic of its source.
func launch(ctx context.Context, opts *Options, arch string, image []byte, how ops.Arithmetic, cases []ops.Case) ([]runner.Result, error) {
	t := runner.Target{
		Name:       "hip@" + arch,
		Side:       runner.HIP,
		Arithmetic: how,
		Open:       func() (gpu.Device, error) { return opts.Open(arch, nil) },
		Image:      func(gpu.Device, string) ([]byte, error) { return image, nil },
	}
	end, stop := context.WithCancel(ctx)
	defer stop()
	ropts := runner.Options{Seed: opts.Seed, Level: opts.Level, Jobs: 1}
	ropts.Progress = func(p runner.Progress) {
		if slices.ContainsFunc(p.Results, failed) {
			stop()
		}
	}
	run, err := runner.Execute(end, cases, []runner.Target{t}, ropts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && end.Err() == nil {
		return nil, err
	}
	// The next case may have begun before the end was seen.
	if i := slices.IndexFunc(run.Results, failed); i >= 0 {
		return run.Results[:i+1], nil
	}
	return run.Results, err
}

func failed(r runner.Result) bool { return r.Status == compare.Fail }

// remember returns cases whose inputs and truth are made once, for they
// are the same for every mutant.
func remember(cases []ops.Case) []ops.Case {
	if len(cases) == 0 {
		return nil
	}
	o := *cases[0].Op
	var mu sync.Mutex
	type made struct {
		bind, expect sync.Once
		problem      *ops.Problem
		want         *compare.Expected
	}
	type of struct {
		name string
		how  ops.Arithmetic
	}
	all := map[of]*made{}
	find := func(c *ops.Case, how ops.Arithmetic) *made {
		mu.Lock()
		defer mu.Unlock()
		key := of{c.Name(), how}
		m := all[key]
		if m == nil {
			m = &made{}
			all[key] = m
		}
		return m
	}
	bind, expect := o.Bind, o.Expect
	o.Bind = func(c *ops.Case, r *ops.Rand) *ops.Problem {
		m := find(c, ops.Arithmetic{})
		m.bind.Do(func() { m.problem = bind(c, r) })
		p := *m.problem
		p.Case = c // which names the kernel to launch
		return &p
	}
	o.Expect = func(p *ops.Problem) *compare.Expected {
		m := find(p.Case, p.Arithmetic)
		m.expect.Do(func() { m.want = expect(p) })
		return m.want
	}
	out := slices.Clone(cases)
	for i := range out {
		out[i].Op = &o
	}
	return out
}

// each calls f for 0 to n-1, opts.Jobs at a time, and returns the mutants
// in order. The first error ends it, with the mutants before it.
func each(ctx context.Context, opts *Options, n int, f func(ctx context.Context, i int) (Mutant, error)) ([]Mutant, error) {
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	list, errs := make([]Mutant, n), make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex // Progress is not called twice at once
	for range min(jobs, n) {
		wg.Go(func() {
			for i := range next {
				if errs[i] = ctx.Err(); errs[i] == nil {
					list[i], errs[i] = f(ctx, i)
				}
				switch {
				case errs[i] != nil:
					stop()
				case opts.Progress != nil:
					mu.Lock()
					opts.Progress(list[i])
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	first := n
	var err error
	for i := range errs {
		if errs[i] == nil {
			continue
		}
		first = min(first, i)
		if err == nil || errors.Is(err, context.Canceled) { // the cause, not its effects
			err = errs[i]
		}
	}
	return list[:first], err
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
			if first < 0 {
				first = i
			}
		case compare.Warn:
			if warn < 0 && !unjudged(r) {
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

// unjudged reports whether r is a warning about the inputs, which says
// nothing of the kernel.
func unjudged(r *runner.Result) bool {
	return r.Status == compare.Warn && r.Judgement != nil && r.Judgement.Verdict == compare.IllCond
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
