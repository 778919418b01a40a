package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A judging is one case with the outputs of all its targets. It has no
// device: outputs that a recording holds are judged the same way.
type judging struct {
	problem *ops.Problem // as launched
	want    expectations
	targets []Target
	outs    []collected
	against string
}

// expectations are what a problem's op expects, by the arithmetic of the
// target. Each is computed once, when it is asked for.
type expectations map[ops.Arithmetic]*compare.Expected

// of returns what is expected of p from kernels of an arithmetic.
func (e expectations) of(p *ops.Problem, a ops.Arithmetic) *compare.Expected {
	a = a.Matters(p.Case.Op, p.Case.Variant)
	if e[a] == nil {
		q := *p
		q.Arithmetic = a
		e[a] = p.Case.Op.Expect(&q)
	}
	return e[a]
}

// counterpart returns the index of the target that target i is held
// against: for HIP the one asked for, or else the first CUDA target with
// an output. CUDA targets are held against the truth alone.
func (j *judging) counterpart(i int) int {
	if j.targets[i].Side != HIP {
		return -1
	}
	for k := range j.targets {
		if k == i || j.outs[k].out == nil || len(j.outs[k].out.Runs) == 0 || j.outs[k].fault != nil {
			continue
		}
		if j.against == j.targets[k].Name || j.against == "" && j.targets[k].Side == CUDA {
			return k
		}
	}
	return -1
}

// judge fills in what target i's output means.
func (j *judging) judge(i int, r *Result) error {
	c := j.outs[i]
	if c.out != nil {
		r.Findings, r.Counters = c.out.Findings, c.out.Counters
	}
	if c.skipped != "" {
		r.Status, r.Skipped = compare.Unverified, c.skipped
		r.Missing = c.missing && j.targets[i].Source != ""
		return nil
	}
	if c.fault != nil {
		r.Status, r.Fault = compare.Fail, c.fault.Error()
		return nil
	}
	p := j.problem
	op := p.Case.Op
	opts := compare.Options{
		Name:             strings.ToUpper(string(j.targets[i].Side)),
		Nondeterministic: op.Nondeterministic,
		Repeats:          c.out.Runs[1:],
		Block:            int(p.Block.Count()),
	}
	want := j.want.of(p, j.targets[i].Arithmetic)
	out := op.Output()
	if p.Role(out) == ops.Out {
		opts.Poison = poisons[:]
	}
	for k, param := range op.Params {
		if p.Args[k].Buf != nil && p.Role(k) != ops.Out {
			opts.Inputs = append(opts.Inputs, compare.Input{Name: param.Name, Tensor: p.Args[k].Buf})
		}
	}
	got := c.out.Runs[0]
	var other *tensor.Tensor
	if k := j.counterpart(i); k >= 0 {
		other = j.outs[k].out.Runs[0]
		r.Against = j.targets[k].Name
		opts.Other = strings.ToUpper(string(j.targets[k].Side))
		opts.BitExact = op.Parity == ops.E0
		opts.OtherExpected = j.want.of(p, j.targets[k].Arithmetic)
	}
	verdict, err := compare.Judge(want, got, other, opts)
	if err != nil {
		return err
	}
	r.Judgement = &verdict
	r.Status = verdict.Status
	sum := sha256.Sum256(got.Data)
	r.OutputHash = hex.EncodeToString(sum[:])
	if op.Trace != nil && verdict.Status == compare.Fail {
		if e := verdict.Accuracy.First; e != nil {
			r.FirstInputs = op.Trace(p, e.Index)
		}
		if e := verdict.Accuracy.Worst; e != nil {
			r.WorstInputs = op.Trace(p, e.Index)
		}
	}
	if len(c.out.Damage) > 0 {
		r.Fault = strings.Join(c.out.Damage, "; ")
	}
	if r.Fault != "" || len(r.Findings) > 0 {
		r.Status = compare.Fail
	}
	return nil
}
