package runner

import (
	"fmt"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// Inputs binds a case: its inputs are those of every run with the seed.
func Inputs(c *ops.Case, seed uint64) *ops.Problem {
	return c.Op.Bind(c, ops.NewRand(seed, c.Name()))
}

// JudgeOutput judges an output of c that another program computed from
// Inputs(c, seed), by the arithmetic given. target names that program in
// the result. The error says why the output cannot be that of the case.
func JudgeOutput(c *ops.Case, seed uint64, target string, how ops.Arithmetic, got *tensor.Tensor) (Result, error) {
	p := Inputs(c, seed)
	out := p.Args[c.Op.Output()].Buf
	if got.DType != out.DType || got.Len() != out.Len() {
		return Result{}, fmt.Errorf("the output of %s is %v of shape %v, not %v of shape %v", c.Name(), out.DType, out.Shape, got.DType, got.Shape)
	}
	r := Result{
		Op: c.Op.Name, Family: c.Op.Family, Kernel: c.Op.Kernel(c.Variant), DType: c.Variant.String(),
		Case: c.Name(), Class: c.Class, Target: target,
	}
	j := judging{
		problem: p, want: expectations{},
		targets: []Target{{Name: target, Side: HIP, Arithmetic: how}},
		outs:    []collected{{out: &Output{Runs: []*tensor.Tensor{got}}}},
	}
	if err := j.judge(0, &r); err != nil {
		return r, err
	}
	if r.Status == compare.Pass && out.Len() == 0 {
		return r, fmt.Errorf("%s has no elements: there is nothing to judge", c.Name())
	}
	return r, nil
}
