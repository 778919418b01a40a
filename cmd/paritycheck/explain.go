package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

type explainOptions struct {
	op     string
	format string
}

func newExplainCmd(do func(io.Writer, explainOptions) error) *cobra.Command {
	var opts explainOptions
	cmd := &cobra.Command{
		Use:   "explain OP",
		Short: "Explain an op: formula, signature, launch, cases and bound",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("explain takes the name of one op; paritycheck list ops shows them")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, o := range ops.All() {
				names = append(names, o.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.op = args[0]
			return do(cmd.OutOrStdout(), opts)
		},
	}
	addFormat(cmd, &opts.format)
	return cmd
}

// An explanation is what explain says of an op, in JSON.
type explanation struct {
	Op        string       `json:"op"`
	Family    string       `json:"family"`
	Module    string       `json:"module"`
	Summary   string       `json:"summary"`
	Formula   string       `json:"formula"`
	Signature string       `json:"signature"`
	Kernels   []string     `json:"kernels"`
	Settable  []string     `json:"settable"` // names of --set
	Example   launch       `json:"example"`
	Classes   []classCount `json:"classes"`
	Bound     string       `json:"bound"`
	Parity    string       `json:"parity"`
}

// A launch is the geometry and arguments of one case.
type launch struct {
	Case   string     `json:"case"`
	Grid   [3]uint32  `json:"grid"`
	Block  [3]uint32  `json:"block"`
	Shared int        `json:"shared"`
	Args   []argument `json:"args"`
}

type argument struct {
	Name  string `json:"name"`
	Value string `json:"value"` // f32[2,3,5,8], 120, null
}

type classCount struct {
	Class    string `json:"class"`
	Fast     int    `json:"fast"`     // cases over all dtypes
	Thorough int    `json:"thorough"` // likewise, with --thorough
}

func doExplain(w io.Writer, opts explainOptions) error {
	all := ops.All()
	i := slices.IndexFunc(all, func(o *ops.Op) bool { return o.Name == opts.op })
	if i < 0 {
		var names []string
		for _, o := range all {
			names = append(names, o.Name)
		}
		return fmt.Errorf("no op is named %q; near it: %s", opts.op, strings.Join(runner.Near(opts.op, names), ", "))
	}
	e := explainOp(all[i])
	if opts.format == "json" {
		return writeJSON(w, e)
	}
	return e.write(w)
}

func explainOp(o *ops.Op) *explanation {
	e := &explanation{
		Op: o.Name, Family: o.Family, Module: o.Module, Summary: o.Summary, Formula: o.Formula,
		Signature: signature(o), Bound: o.Bound, Parity: string(o.Parity),
	}
	for _, v := range o.Variants {
		e.Kernels = append(e.Kernels, o.Kernel(v))
	}
	for _, p := range o.Params {
		if p.Role == ops.Scalar {
			e.Settable = append(e.Settable, p.Name)
		}
	}
	e.Settable = append(e.Settable, "grid", "block", "shared")
	at := map[string]int{}
	for _, level := range []ops.Level{ops.Fast, ops.Thorough} {
		for _, v := range o.Variants {
			for _, c := range o.Cases(v, level) {
				i, ok := at[c.Class]
				if !ok {
					i = len(e.Classes)
					at[c.Class] = i
					e.Classes = append(e.Classes, classCount{Class: c.Class})
				}
				if level == ops.Fast {
					e.Classes[i].Fast++
				} else {
					e.Classes[i].Thorough++
				}
			}
		}
	}
	e.Example = exampleLaunch(o)
	return e
}

// exampleLaunch binds the op's second f32 case, or what comes nearest to
// it: the first is the smallest there is.
func exampleLaunch(o *ops.Op) launch {
	v := o.Variants[0]
	if i := slices.IndexFunc(o.Variants, func(v ops.Variant) bool { return v.T == tensor.F32 }); i >= 0 {
		v = o.Variants[i]
	}
	cases := o.Cases(v, ops.Fast)
	c := &cases[min(1, len(cases)-1)]
	p := o.Bind(c, ops.NewRand(1, c.Name()))
	l := launch{
		Case:   c.Name(),
		Grid:   [3]uint32{p.Grid.X, p.Grid.Y, p.Grid.Z},
		Block:  [3]uint32{p.Block.X, p.Block.Y, p.Block.Z},
		Shared: p.Shared,
	}
	for i, param := range o.Params {
		a := &p.Args[i]
		s := "null"
		switch {
		case param.Role == ops.Scalar && param.Type.DType(v).IsFloat():
			s = strconv.FormatFloat(a.Float, 'g', -1, 64)
		case param.Role == ops.Scalar:
			s = strconv.FormatInt(a.Int, 10)
		case a.Buf != nil:
			dims := make([]string, len(a.Buf.Shape))
			for i, d := range a.Buf.Shape {
				dims[i] = strconv.Itoa(d)
			}
			s = fmt.Sprintf("%s[%s]", a.Buf.DType, strings.Join(dims, ","))
			if a.Offset != 0 {
				s += fmt.Sprintf("+%d", a.Offset)
			}
		}
		l.Args = append(l.Args, argument{param.Name, s})
	}
	return l
}

// signature is the kernel's C declaration, with T and I for the types that
// the kernels of the op differ in.
func signature(o *ops.Op) string {
	var params []string
	for _, p := range o.Params {
		t := cType(p.Type)
		switch p.Role {
		case ops.In:
			t = "const " + t + " *"
		case ops.Out, ops.InOut:
			t += " *"
		default:
			t += " "
		}
		params = append(params, t+p.Name)
	}
	return fmt.Sprintf(`extern "C" __global__ void %s(%s)`, o.Symbol, strings.Join(params, ", "))
}

// cType is the name of a parameter's type in candle's sources.
func cType(t ops.Type) string {
	switch t {
	case ops.T:
		return "T"
	case ops.I:
		return "I"
	}
	switch d := tensor.DType(t); d {
	case tensor.F64:
		return "double"
	case tensor.F32:
		return "float"
	case tensor.F16:
		return "__half"
	case tensor.BF16:
		return "__nv_bfloat16"
	case tensor.F8E4M3:
		return "__nv_fp8_e4m3"
	case tensor.U64:
		return "size_t"
	case tensor.I64:
		return "int64_t"
	case tensor.I32:
		return "int"
	case tensor.I16:
		return "int16_t"
	case tensor.U32:
		return "uint32_t"
	default:
		return "uint8_t"
	}
}

func (e *explanation) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", e.Op, e.Summary)
	fmt.Fprintf(&b, "family %s, module %s of candle-kernels\n", e.Family, e.Module)
	section := func(title, text string) {
		fmt.Fprintf(&b, "\n%s\n", title)
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "  %s\n", strings.TrimRight(line, "\n"))
		}
	}
	section("formula", e.Formula)
	section("kernel", e.Signature+"\n"+strings.Join(e.Kernels, " "))
	l := e.Example
	text := l.Case + "\n"
	for _, a := range l.Args {
		text += fmt.Sprintf("%s = %s\n", a.Name, a.Value)
	}
	text += fmt.Sprintf("grid (%d,%d,%d), block (%d,%d,%d), %d bytes of shared memory\n",
		l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2], l.Shared)
	section("launch, by example", text)
	text = ""
	for _, c := range e.Classes {
		text += fmt.Sprintf("%s: %d, %d with --thorough\n", c.Class, c.Fast, c.Thorough)
	}
	section("cases by class of input", text)
	section("bound", e.Bound)
	section("parity expected", e.Parity)
	section("arguments for --set", strings.Join(e.Settable, " "))
	_, err := io.WriteString(w, b.String())
	return err
}
