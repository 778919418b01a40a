package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/mutate"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/kernels"
)

// mutateOptions are the flags of mutate.
type mutateOptions struct {
	sel          runner.Selection
	named, insts bool
	twins        bool // named faults are left out, their twins kept
	samples      int
	seed         uint64
	jobs         int
	format       string
	outputs      []string
	baseline     string
	save         string
	quiet        bool
}

// newMutateCmd parses flags into mutateOptions and hands them to do.
func newMutateCmd(do func(ctx context.Context, out, errOut io.Writer, opts mutateOptions) error) *cobra.Command {
	var opts mutateOptions
	cmd := &cobra.Command{
		Use:   "mutate",
		Short: "Plant known faults in kernels and count which are caught",
		Long: `Plant known faults in the HIP kernels, run the cases of each op against them
in the interpreter, one architecture of each wave size, and count which are
caught. It measures the cases and bounds: a fault that nothing catches is a
wrong kernel that paritycheck run would pass.

Named faults are kernels with one realistic mistake each, such as a softmax
without the subtraction of the maximum. A corrected twin of each must pass,
and so must honest variants: other orders of summation, other formulas of
the same accuracy, and the arithmetic of candle's own kernels.
Instruction mutants are the committed kernels with one instruction changed
or dropped, drawn at random from those that some case executes; the rest is
counted as unreached. A mutant is
  caught    some case failed
  warned    none failed, some warned: run --strict would catch it
  survived  an output changed and every case passed
  inert     no output bit changed in any case
The score is the share of caught mutants among all but the inert.

Exit code 1 says that a named fault survived, that a twin was rejected, or
that something is worse than in the file that --baseline names.`,
		Example: `  # How well are the softmax kernels guarded?
  $ paritycheck mutate --op softmax

  # The named faults alone
  $ paritycheck mutate --family rope --named

  # Is any honest kernel rejected?
  $ paritycheck mutate --twins

  # A CI gate: nothing is caught less often than before
  $ paritycheck mutate --samples 10 --baseline testdata/mutation.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(); err != nil {
				return err
			}
			return do(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opts)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.sel.Ops, "op", nil, "only these `ops`; a glob may select several")
	f.StringSliceVar(&opts.sel.Families, "family", nil, "only ops of these `families`")
	f.BoolFunc("thorough", "run the cases of run --thorough", func(string) error {
		opts.sel.Level = ops.Thorough
		return nil
	})
	f.BoolVar(&opts.named, "named", false, "named faults; both kinds if neither is asked for")
	f.BoolVar(&opts.insts, "instructions", false, "instruction mutants; both kinds if neither is asked for")
	f.BoolVar(&opts.twins, "twins", false, "the honest kernels alone that must pass, without the named faults")
	f.IntVar(&opts.samples, "samples", 40, "plant `n` instruction mutants for each op and architecture; a smaller sample is the beginning of a larger")
	f.Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs and of the choice of instructions")
	f.IntVar(&opts.jobs, "jobs", 0, "run `n` mutants at a time; 0 is one for each processor")
	addEnum(cmd, &opts.format, "format", "table", "`format` of stdout: table markdown json", "table", "markdown", "json")
	f.StringArrayVarP(&opts.outputs, "output", "o", nil, "write the report to `file` too, in the format of its extension: .txt .md .json")
	f.StringVar(&opts.baseline, "baseline", "", "fail where something is worse than in this `file` of --save-baseline or JSON report")
	f.StringVar(&opts.save, "save-baseline", "", "write scores and what was not caught to this `file`")
	f.BoolVarP(&opts.quiet, "quiet", "q", false, "no progress on stderr")
	return cmd
}

// check reports flags that make no sense and fills in the kinds.
func (o *mutateOptions) check() error {
	if !o.named && !o.insts && !o.twins {
		o.named, o.insts = true, true
	}
	switch {
	case o.twins && (o.named || o.insts):
		return errors.New("--twins goes without --named and --instructions")
	case o.samples < 1:
		return fmt.Errorf("--samples must be at least 1, not %d", o.samples)
	case o.jobs < 0:
		return fmt.Errorf("--jobs must be 0 or more, not %d", o.jobs)
	}
	return nil
}

// A faultTable is what faults are planted in.
type faultTable struct {
	ops     []*ops.Op
	symbols []string // of named faults
	object  func(family, arch string) ([]byte, error)
	faults  func(symbol, arch string) ([]byte, error)
}

// committedFaults is the table of the committed kernels.
func committedFaults() (faultTable, error) {
	t := faultTable{ops: ops.All(), object: kernels.Object}
	source := map[string]string{} // of each symbol
	t.faults = func(symbol, arch string) ([]byte, error) { return kernels.FaultObject(source[symbol], arch) }
	for _, f := range kernels.FaultFamilies() {
		symbols, err := kernels.FaultSymbols(f)
		if err != nil {
			return t, err
		}
		t.symbols = append(t.symbols, symbols...)
		for _, s := range symbols {
			source[s] = f
		}
	}
	return t, nil
}

// mutantArchs are one of each wave size: more would show nothing new.
var mutantArchs = []string{"gfx90a", "gfx1030"}

// mutantSteps is the number of instructions of one wave that ends a mutant
// which does not end by itself: several times what the longest case of the
// level takes.
func mutantSteps(l ops.Level) int64 {
	if l == ops.Thorough {
		return 1 << 21
	}
	return 1 << 17
}

func doMutate(ctx context.Context, out, errOut io.Writer, opts mutateOptions) error {
	t, err := committedFaults()
	if err != nil {
		return err
	}
	return plantFaults(ctx, out, errOut, opts, t)
}

// plantFaults plants in t and reports. Everything that can be wrong with
// the options is found before the first fault is planted.
func plantFaults(ctx context.Context, out, errOut io.Writer, opts mutateOptions, t faultTable) error {
	cases, err := runner.Select(t.ops, opts.sel)
	if err != nil {
		return err
	}
	faults, err := mutate.Faults(t.ops, t.symbols)
	if err != nil {
		return err
	}
	var base *mutation
	if opts.baseline != "" {
		if base, err = readMutation(opts.baseline); err != nil {
			return err
		}
	}
	outputs, err := openOutputs(opts.outputs)
	if err != nil {
		return err
	}
	defer discard(outputs)
	for _, o := range outputs {
		if o.format != report.Table && o.format != report.Markdown && o.format != report.JSON {
			return fmt.Errorf("output file %q: extension must be one of .txt .md .json", o.path)
		}
	}

	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	m := newMutation(opts)
	for i, c := range cases {
		if i > 0 && c.Op == cases[i-1].Op {
			continue
		}
		if err := m.plant(ctx, errOut, opts, t, c.Op, faults); err != nil {
			if errors.Is(err, context.Canceled) {
				return fmt.Errorf("interrupted: %d mutants were run", len(m.Mutants))
			}
			return err
		}
	}
	m.Scores = mutate.Scores(m.Mutants, m.Coverage)
	if base != nil {
		m.Regressions = m.worse(base)
	}
	if err := m.write(out, report.Format(opts.format)); err != nil {
		return err
	}
	for _, o := range outputs {
		if err := o.put(func(w io.Writer) error { return m.write(w, o.format) }); err != nil {
			return err
		}
	}
	if opts.save != "" {
		if err := m.save(opts.save); err != nil {
			return err
		}
	}
	return m.outcome(opts.baseline)
}

// plant plants the mutants of o.
func (m *mutation) plant(ctx context.Context, errOut io.Writer, opts mutateOptions, t faultTable, o *ops.Op, faults []mutate.Fault) error {
	mopts := mutate.Options{
		Seed: opts.seed, Samples: opts.samples, Level: opts.sel.Level, Jobs: opts.jobs, Archs: mutantArchs,
	}
	open := func(steps int64) func(arch string, reached func(uint64)) (gpu.Device, error) {
		return func(arch string, reached func(uint64)) (gpu.Device, error) {
			return sim.Open(arch, sim.Options{StepLimit: steps, Workers: 1, Reached: reached})
		}
	}
	tell := func(start time.Time, mutants []mutate.Mutant, coverage ...mutate.Coverage) {
		m.Mutants = append(m.Mutants, mutants...)
		if opts.quiet {
			return
		}
		for _, s := range mutate.Scores(mutants, coverage) {
			rest := fmt.Sprintf("%d of %d twins passed", s.Twins-s.Rejected, s.Twins)
			if s.Kind == mutate.Instruction {
				rest = fmt.Sprintf("%d of %d instructions unreached", s.Unreached, s.Code)
			}
			fmt.Fprintf(errOut, "%s: %s: %d of %d caught, %d warned, %d survived, %d inert, %s (%s)\n",
				s.Op, s.Kind, s.Caught, s.Planted, s.Warned, s.Survived, s.Inert, rest, round(time.Since(start)))
		}
	}
	if opts.named || opts.twins {
		start := time.Now()
		// An honest variant may add a row up in one thread.
		mopts.Open = open(8 * mutantSteps(opts.sel.Level))
		mine := slices.DeleteFunc(slices.Clone(faults), func(f mutate.Fault) bool { return f.Op != o || opts.twins && !f.Honest() })
		mutants, err := mutate.Named(ctx, mine, func(f mutate.Fault, arch string) ([]byte, error) { return t.faults(f.Symbol, arch) }, mopts)
		if err != nil {
			return err
		}
		tell(start, mutants)
	}
	if opts.insts {
		start := time.Now()
		mopts.Open = open(mutantSteps(opts.sel.Level))
		v := mutatedVariant(o)
		image := func(arch string) ([]byte, error) {
			object, err := t.object(o.Family, arch)
			if err == nil {
				m.Code[o.Kernel(v)+"@"+arch], err = mutate.CodeHash(object, o.Kernel(v))
			}
			return object, err
		}
		mutants, coverage, err := mutate.Instructions(ctx, o, v, image, mopts)
		if err != nil {
			return err
		}
		m.Coverage = append(m.Coverage, coverage...)
		tell(start, mutants, coverage...)
	}
	return nil
}

// mutatedVariant is the variant of o in whose kernel instructions are
// changed: f32 before other floats, those before integers, and u32 among
// types of indices.
func mutatedVariant(o *ops.Op) ops.Variant {
	rank := func(v ops.Variant) int {
		r := 0
		switch {
		case v.T == tensor.F32:
		case v.T.IsFloat():
			r = 2
		default:
			r = 4
		}
		if v.I != tensor.U32 {
			r++
		}
		return r
	}
	return slices.MinFunc(o.Variants, func(a, b ops.Variant) int { return rank(a) - rank(b) })
}

// outcome is the error that the mutants stand for.
func (m *mutation) outcome(baseline string) error {
	var wrong []string
	count := func(what string, n int) {
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	var survived, rejected int
	for _, s := range m.Scores {
		if s.Kind == mutate.NamedFaults {
			survived += s.Survived
			rejected += s.Rejected
		}
	}
	count("named faults survived", survived)
	count("corrected twins were rejected", rejected)
	count("regressions against "+baseline, len(m.Regressions))
	switch {
	case len(wrong) > 0:
		return &failedError{strings.Join(wrong, ", ")}
	case len(m.Mutants) == 0:
		return &nothingError{"nothing was planted: the selected ops have no named faults"}
	}
	return nil
}
