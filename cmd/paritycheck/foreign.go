package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/bundle"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/target"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// foreignOptions are those of inputs and judge: one case, and a file of
// tensors.
type foreignOptions struct {
	sel      runner.Selection
	seed     uint64
	path     string      // of the tensors
	tensor   string      // judge: the one that is the output; "" is the only one
	name     string      // judge: what computed it
	declared declaration // judge: how it computes
	format   string
	color    string
	strict   bool

	recording string // judge: in place of path
	seeded    bool   // seed was given
}

func newInputsCmd(do func(foreignOptions) error) *cobra.Command {
	opts := foreignOptions{}
	cmd := &cobra.Command{
		Use:   "inputs",
		Short: "Write a case's inputs, for another program to compute with",
		Long: `Write the inputs of one case as safetensors, which PyTorch, numpy and candle
read. Each pointer argument is a tensor by its parameter's name; scalar
arguments, the case and the seed are in the metadata. paritycheck judge
--op OP --case CASE --output FILE judges what was computed from them.`,
		Example: `  $ paritycheck inputs --op softmax --dtype f32 --case 'rows=3,n=64' -o in.safetensors`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return do(opts) },
	}
	addSelection(cmd, &opts.sel)
	cmd.Flags().Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs")
	cmd.Flags().StringVarP(&opts.path, "output", "o", "", "write the tensors to `file`")
	return cmd
}

func newJudgeCmd(do func(io.Writer, foreignOptions) error) *cobra.Command {
	opts := foreignOptions{}
	cmd := &cobra.Command{
		Use:   "judge [RECORDING]",
		Short: "Judge outputs that were computed elsewhere",
		Long: `Judge a recording that paritycheck record wrote on another machine, or, with
--output, the output of one case that any other program (PyTorch on ROCm,
MIOpen, a candle test) computed from the inputs that paritycheck inputs wrote.
That file is safetensors with the output as its only tensor, or --tensor names
it. No device is used. The exit code is that of run.

How far from the truth an f16 or bf16 result may be depends on the program's
arithmetic, which no output shows. By default every step may be rounded to
the type, as in candle's kernels; of a program that computes in float and
rounds once, at the store, --half float says so, and the bound is narrower.
Likewise sums: any order of
additions is right, and what only one chain of them explains is a warning; of
a program whose sums are shared by so many lanes --lanes says so.

To hold a target of this machine against a recording: paritycheck run --vs
rec:FILE.`,
		Example: `  # A recording of another machine
  $ paritycheck judge h200.safetensors.gz

  # The output of another program
  $ paritycheck judge --op softmax --dtype f32 --case 'rows=3,n=64' --output out.safetensors`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.seeded = cmd.Flags().Changed("seed"); len(args) == 1 {
				opts.recording = args[0]
			}
			return do(cmd.OutOrStdout(), opts)
		},
	}
	addSelection(cmd, &opts.sel)
	f := cmd.Flags()
	f.Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs")
	f.StringVar(&opts.path, "output", "", "the `file` that holds the output")
	f.StringVar(&opts.tensor, "tensor", "", "the `name` of the output in the file; by default its only tensor")
	f.StringVar(&opts.name, "name", "foreign", "what computed the output, for the report")
	opts.declared.add(cmd, "the program")
	f.StringVar(&opts.format, "format", string(report.Table), "`format` of the report, as of run")
	f.StringVar(&opts.color, "color", "auto", "colour: auto, always or never")
	f.BoolVar(&opts.strict, "strict", false, "let warnings fail")
	return cmd
}

// oneCase is the only case that sel selects.
func oneCase(sel runner.Selection) (*ops.Case, error) {
	cases, err := runner.Select(ops.All(), sel)
	if err != nil {
		return nil, err
	}
	if len(cases) > 1 {
		var names []string
		for i := range cases[:min(3, len(cases))] {
			names = append(names, cases[i].Name())
		}
		return nil, fmt.Errorf("%d cases are selected, such as %s: name one with --op, --dtype and --case", len(cases), strings.Join(names, ", "))
	}
	return &cases[0], nil
}

func doInputs(opts foreignOptions) error {
	if opts.path == "" {
		return errors.New("inputs needs -o FILE for the tensors")
	}
	c, err := oneCase(opts.sel)
	if err != nil {
		return err
	}
	p := runner.Inputs(c, opts.seed)
	var tensors []bundle.Named
	meta := map[string]string{"case": c.Name(), "seed": strconv.FormatUint(opts.seed, 10), "kernel": c.Op.Kernel(c.Variant)}
	for i, param := range c.Op.Params {
		a := p.Args[i]
		switch {
		case param.Role == ops.Scalar && param.Type.DType(c.Variant).IsFloat():
			meta[param.Name] = strconv.FormatFloat(a.Float, 'g', -1, 64)
		case param.Role == ops.Scalar:
			meta[param.Name] = strconv.FormatInt(a.Int, 10)
		case a.Buf == nil:
			meta[param.Name] = "null"
		case param.Role == ops.Out:
			meta[param.Name] = fmt.Sprintf("%v%v", a.Buf.DType, a.Buf.Shape)
		default:
			tensors = append(tensors, bundle.Named{Name: param.Name, Tensor: a.Buf})
			if a.Offset != 0 {
				meta[param.Name+".offset"] = strconv.Itoa(a.Offset)
			}
		}
	}
	var buf bytes.Buffer
	if err := bundle.Write(&buf, tensors, meta); err != nil {
		return err
	}
	o, err := newOutput(opts.path)
	if err != nil {
		return err
	}
	return o.put(func(w io.Writer) error {
		_, err := w.Write(buf.Bytes())
		return err
	})
}

func doJudge(out io.Writer, opts foreignOptions) error {
	if err := opts.declared.check(); err != nil {
		return err
	}
	switch {
	case opts.recording != "" && opts.path != "":
		return errors.New("judge takes a recording or --output FILE, not both")
	case opts.recording != "":
		return judgeRecording(out, opts)
	case opts.path == "":
		return errors.New("judge needs a recording, or --output FILE with the output of one case")
	}
	c, err := oneCase(opts.sel)
	if err != nil {
		return err
	}
	got, err := readOutput(opts.path, opts.tensor, c, opts.seed)
	if err != nil {
		return fmt.Errorf("%s: %w", opts.path, err)
	}
	result, err := runner.JudgeOutput(c, opts.seed, opts.name, opts.declared.arithmetic(), got)
	if err != nil {
		return fmt.Errorf("%s: %w", opts.path, err)
	}
	return opts.report(out, &runner.Run{
		Schema:  runner.Schema,
		Env:     runner.Env{Seed: opts.seed, Level: opts.sel.Level.String(), Targets: []runner.TargetInfo{{Name: opts.name}}},
		Results: []runner.Result{result},
	})
}

// judgeRecording judges what a recording holds of the selected cases. What
// this version has no case for is unverified.
func judgeRecording(out io.Writer, opts foreignOptions) error {
	rec, err := target.OpenRecording(opts.recording)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if opts.seeded && opts.seed != rec.Seed {
		return fmt.Errorf("recording %s is of seed %d, not %d", opts.recording, rec.Seed, opts.seed)
	}
	t, err := target.Parse(target.RecordedName(rec, opts.recording), target.Options{})
	if err != nil {
		return err
	}
	opts.sel.Level = ops.Thorough // a recording may hold any
	selected, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	selected = slices.DeleteFunc(selected, func(c ops.Case) bool { return rec.Problems[c.Name()] == "" })
	unknown, err := unknownCases(rec, &opts.sel, t.Name)
	if err != nil {
		return err
	}
	if len(selected)+len(unknown) == 0 {
		return fmt.Errorf("recording %s holds none of the selected cases", opts.recording)
	}
	r := &runner.Run{Schema: runner.Schema, Env: runner.Env{Seed: rec.Seed, Level: opts.sel.Level.String(), Targets: []runner.TargetInfo{{Name: t.Name, Info: t.Device}}}}
	if len(selected) > 0 {
		if r, err = runner.Execute(context.Background(), selected, []runner.Target{t}, runner.Options{Seed: rec.Seed, Level: opts.sel.Level}); err != nil {
			return err
		}
	}
	r.Env.Cases = len(selected) + len(unknown)
	r.Results = append(r.Results, unknown...)
	return opts.report(out, r)
}

// unknownCases are results for what a recording holds and this version has
// no case for.
func unknownCases(rec *bundle.Recording, sel *runner.Selection, targetName string) ([]runner.Result, error) {
	all, err := runner.Select(ops.All(), runner.Selection{Level: ops.Thorough})
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	families := map[string]string{}
	for i := range all {
		known[all[i].Name()] = true
		families[all[i].Op.Name] = all[i].Op.Family
	}
	var results []runner.Result
	for _, name := range slices.Sorted(maps.Keys(rec.Problems)) {
		op, rest, _ := strings.Cut(name, "/")
		dtype, _, _ := strings.Cut(rest, "/")
		if known[name] || !sel.Match(op, families[op], dtype, name) {
			continue
		}
		results = append(results, runner.Result{
			Op: op, Family: families[op], DType: dtype, Case: name, Target: targetName, Status: compare.Unverified,
			Skipped: fmt.Sprintf("this version has no such case: paritycheck %s recorded it", rec.Version),
		})
	}
	return results, nil
}

// report writes the report of a run that was judged without a device, and
// returns what it stands for.
func (opts *foreignOptions) report(out io.Writer, r *runner.Run) error {
	r.Env.Version, r.Env.Commit = build()
	gate(r, runOptions{strict: opts.strict})
	if err := report.Write(out, r, report.Format(opts.format), report.Options{Color: useColor(opts.color, out)}); err != nil {
		return err
	}
	return outcome(r)
}

// readOutput reads the tensor that is the output. A file that says which
// case and seed it belongs to must say these.
func readOutput(path, name string, c *ops.Case, seed uint64) (*tensor.Tensor, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			err = e.Err
		}
		return nil, err
	}
	tensors, meta, err := bundle.Read(data)
	if err != nil {
		return nil, err
	}
	if was, ok := meta["case"]; ok && was != c.Name() {
		return nil, fmt.Errorf("it belongs to case %s, not %s", was, c.Name())
	}
	if was, ok := meta["seed"]; ok && was != strconv.FormatUint(seed, 10) {
		return nil, fmt.Errorf("it belongs to seed %s, not %d", was, seed)
	}
	var names []string
	for _, t := range tensors {
		if t.Name == name || name == "" && len(tensors) == 1 {
			return t.Tensor, nil
		}
		names = append(names, t.Name)
	}
	if name == "" {
		return nil, fmt.Errorf("it has %d tensors (%s): say with --tensor which is the output", len(tensors), strings.Join(names, " "))
	}
	return nil, fmt.Errorf("it has no tensor %q, only %s", name, strings.Join(names, " "))
}
