package runner

import (
	"fmt"
	"go/constant"
	"go/token"
	"strings"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// An Override replaces a scalar argument, or the launch's block, grid or
// shared, with the value of an expression, after the truth has been
// computed from the argument as it should be.
type Override struct {
	Param string
	Text  string // the expression as given
	// Eval computes the value; vars looks up the case's dimensions and
	// parameters.
	Eval func(vars func(name string) (constant.Value, bool)) (constant.Value, error)
}

// Vars returns the names that an override of op's arguments may use.
func Vars(p *ops.Problem) func(name string) (constant.Value, bool) {
	return func(name string) (constant.Value, bool) {
		for i, param := range p.Case.Op.Params {
			if param.Name == name && param.Role == ops.Scalar {
				if param.Type.DType(p.Case.Variant).IsFloat() {
					return constant.MakeFloat64(p.Args[i].Float), true
				}
				return constant.MakeInt64(p.Args[i].Int), true
			}
		}
		for _, d := range p.Case.Dims {
			if d.Name == name {
				return constant.MakeInt64(d.Value), true
			}
		}
		switch name {
		case "grid":
			return constant.MakeInt64(int64(p.Grid.X)), true
		case "block":
			return constant.MakeInt64(int64(p.Block.X)), true
		case "shared":
			return constant.MakeInt64(int64(p.Shared)), true
		case "sizeof(T)": // as package expr asks for it
			return constant.MakeInt64(int64(p.Case.Variant.T.Size())), true
		}
		return nil, false
	}
}

// CheckOverrides reports an override of a name that one of the cases'
// ops lacks.
func CheckOverrides(cases []ops.Case, set []Override) error {
	done := map[string]bool{}
	for i := range cases {
		o := cases[i].Op
		if done[o.Name] {
			continue
		}
		done[o.Name] = true
		for _, s := range set {
			if !settable(o, s.Param) {
				var names []string
				for _, p := range o.Params {
					if p.Role == ops.Scalar {
						names = append(names, p.Name)
					}
				}
				return fmt.Errorf("--set %s=%s: %s has no scalar parameter %q; it has %s, and block, grid, shared",
					s.Param, s.Text, o.Name, s.Param, strings.Join(names, ", "))
			}
		}
	}
	return nil
}

func settable(o *ops.Op, name string) bool {
	switch name {
	case "grid", "block", "shared":
		return true
	}
	for _, p := range o.Params {
		if p.Name == name && p.Role == ops.Scalar {
			return true
		}
	}
	return false
}

// A Change is an argument that an override changed.
type Change struct {
	Param string `json:"param"`
	Text  string `json:"expr"`
	Was   string `json:"was"`
	Is    string `json:"is"`
}

// apply evaluates set against the problem as bound and changes a copy.
func apply(p *ops.Problem, set []Override) (*ops.Problem, []Change, error) {
	if len(set) == 0 {
		return p, nil, nil
	}
	q := *p
	q.Args = append([]ops.Arg(nil), p.Args...)
	vars := Vars(p)
	var changes []Change
	for _, s := range set {
		v, err := s.Eval(vars)
		if err != nil {
			return nil, nil, fmt.Errorf("--set %s=%s in %s: %w", s.Param, s.Text, p.Case.Name(), err)
		}
		was, _ := vars(s.Param)
		if err := setArg(&q, s.Param, v); err != nil {
			return nil, nil, fmt.Errorf("--set %s=%s in %s: %w", s.Param, s.Text, p.Case.Name(), err)
		}
		changes = append(changes, Change{s.Param, s.Text, was.String(), v.String()})
	}
	return &q, changes, nil
}

func setArg(p *ops.Problem, name string, v constant.Value) error {
	for i, param := range p.Case.Op.Params {
		if param.Name != name || param.Role != ops.Scalar {
			continue
		}
		dt := param.Type.DType(p.Case.Variant)
		if dt.IsFloat() {
			p.Args[i].Float, _ = constant.Float64Val(constant.ToFloat(v))
			return nil
		}
		n, err := integer(v, dt)
		if err != nil {
			return err
		}
		p.Args[i].Int = n
		return nil
	}
	n, err := integer(v, tensor.U32)
	if err != nil {
		return err
	}
	switch name {
	case "grid":
		p.Grid.X = uint32(n)
	case "block":
		if n < 1 || n > 1024 {
			return fmt.Errorf("block is %d: must be 1 to 1024 threads", n)
		}
		p.Block.X = uint32(n)
	case "shared":
		p.Shared = int(n)
	}
	return nil
}

// integer returns v's bits as an integer of type dt.
func integer(v constant.Value, dt tensor.DType) (int64, error) {
	i := constant.ToInt(v)
	if i.Kind() != constant.Int {
		return 0, fmt.Errorf("the value %s must be an integer", v)
	}
	bits := uint(8 * dt.Size())
	lo, hi := constant.MakeInt64(0), constant.Shift(constant.MakeInt64(1), token.SHL, bits)
	if dt == tensor.I32 || dt == tensor.I64 || dt == tensor.I16 {
		hi = constant.Shift(constant.MakeInt64(1), token.SHL, bits-1)
		lo = constant.UnaryOp(token.SUB, hi, 0)
	}
	if constant.Compare(i, token.LSS, lo) || constant.Compare(i, token.GEQ, hi) {
		return 0, fmt.Errorf("the value %s overflows %s", v, dt)
	}
	if n, ok := constant.Int64Val(i); ok {
		return n, nil
	}
	u, _ := constant.Uint64Val(i)
	return int64(u), nil
}
