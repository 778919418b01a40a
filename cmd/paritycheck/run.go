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
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/expr"
	"github.com/paritycheck/paritycheck/internal/gpu/isolate"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// runOptions are the flags of run.
type runOptions struct {
	sel     runner.Selection
	targets []string
	vs      string
	set     []string
	seed    uint64
	repeat  int
	tuned   bool
	jobs    int
	timeout time.Duration
	strict  bool
	require []string

	rendering
	holding
	keeping
	baseline string
	shard    string
	quiet    bool

	noIsolate bool
	host      *isolate.Host // nil: the targets have no GPU

	emulation emulation
	user      userCode
	time      bool

	given []string // the flags that decide the results, as given, for the report
}

// emulation is how the interpreter behaves.
type emulation struct {
	transcendental string
	schedule       uint64
	noChecks       bool
}

// notResults are the flags of run that change no result.
var notResults = []string{"format", "output", "color", "quiet", "jobs", "counters", "help", "baseline", "max-growth", "allow-unverified", "shard", "no-isolate", "journal", "resume"}

// newRunCmd parses flags into runOptions and hands them to do.
func newRunCmd(do func(ctx context.Context, out, errOut io.Writer, opts runOptions) error) *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run ops on targets and judge the results",
		Long: `Run every selected case on every target and compare the outputs with the
truth, which is computed in higher precision, and with the counterpart.

Targets are every GPU here; where no AMD GPU is, the HIP kernels run in an
interpreter as gfx90a, gfx1030 and gfx1100. paritycheck list targets shows
what there is. A GPU is driven in a child process: a kernel that crashes or
hangs there fails alone, and the run goes on.

An error is given as a share of the bound: how far from the truth a correct
kernel can be, element by element, derived from its arithmetic. paritycheck
explain OP shows the formula.

The truth and the bound are those of the right arguments: --set replaces an
argument of the launch alone.`,
		Example: `  # Check one op wherever it can run
  $ paritycheck run --op rope_i

  # One dtype on one interpreted architecture
  $ paritycheck run --op rope_i --dtype f32 --target hip@gfx1030

  # What a wrong launch argument does
  $ paritycheck run --op rope_i --dtype f32 --set 'stride_b=t*d/2'

  # Record a baseline, and hold a later run against it
  $ paritycheck run -o main.baseline.json
  $ paritycheck run --baseline main.baseline.json

  # Go on with a run that was killed
  $ paritycheck run --resume

  # A port's own objects, half done, against the recorded CUDA kernels
  $ paritycheck run --hip-object reduce.hsaco

  # A CI gate
  $ paritycheck run --strict --format github -o parity.json -o parity.xml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.given = givenFlags(cmd.Flags())
			if err := opts.check(); err != nil {
				return err
			}
			return do(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opts)
		},
	}
	addSelection(cmd, &opts.sel)
	f := cmd.Flags()
	f.StringSliceVar(&opts.targets, "target", nil, "run on these `targets`, as in hip@gfx90a or cuda@cuda:0")
	f.StringVar(&opts.vs, "vs", "", "`target` that is the counterpart, as in rec:FILE for a recording; by default the first CUDA target")
	f.StringArrayVar(&opts.set, "set", nil, "launch with argument `name=EXPR`, an expression of the op's parameters and dimensions")
	f.Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs; equal seeds give equal inputs")
	f.BoolVar(&opts.tuned, "tuned", false, "launch the bundled kernels as bench does, in place of candle's launch")
	f.IntVar(&opts.repeat, "repeat", 2, "launch each case `n` times, at least 2")
	f.IntVar(&opts.jobs, "jobs", 0, "run `n` cases at a time; 0 is one for each processor")
	f.DurationVar(&opts.timeout, "timeout", 5*time.Minute, "give up a case on a target after this `time`; 0 is never")
	f.BoolVar(&opts.time, "time", false, "time what passed, too, on targets with a clock; bench has sizes fit for that")
	f.BoolVar(&opts.strict, "strict", false, "let warnings fail")
	f.StringSliceVar(&opts.require, "require", nil, "run on these `targets` too, and let cases fail that are unverified there; all means every target of the run")

	opts.user.add(cmd)
	opts.rendering.add(cmd)
	opts.holding.add(cmd)
	f.StringVar(&opts.shard, "shard", "", "run one `part` of the cases, I/N; auto and auto/N take I from PARITYCHECK_SHARD, a Slurm array or an indexed Kubernetes job")
	f.StringVar(&opts.baseline, "baseline", "", "fail on what is worse than in `file`, a saved run or baseline, of what is selected")
	f.StringVar(&opts.journal, "journal", "", "keep the results of finished cases in `file` until the run has ended; by default in the cache folder of the user; none keeps none")
	f.BoolVar(&opts.resume, "resume", false, "go on with the run of these flags that was cut off")
	f.BoolVar(&opts.noIsolate, "no-isolate", false, "launch on GPUs in this process, where a debugger or a profiler sees it, and a crash ends the run")
	f.BoolVarP(&opts.quiet, "quiet", "q", false, "no progress on stderr")

	addEnum(cmd, &opts.emulation.transcendental, "transcendental", "cr",
		"how the interpreter rounds v_exp, v_log, v_rcp and the like: `model` is cr (correctly), +1ulp, -1ulp, or random by --seed", "cr", "+1ulp", "-1ulp", "random")
	f.Uint64Var(&opts.emulation.schedule, "schedule", 0, "`seed` of the order in which the interpreter runs waves; 0 is in order")
	f.BoolVar(&opts.emulation.noChecks, "no-checks", false, "interpret without looking for races and reads of memory that nobody wrote")
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but was given %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// check reports flags that make no sense.
func (o *runOptions) check() error {
	switch {
	case o.repeat < 2:
		return fmt.Errorf("--repeat must be at least 2, not %d: the second launch shows what the first left unwritten", o.repeat)
	case o.jobs < 0:
		return fmt.Errorf("--jobs must be 0 or more, not %d", o.jobs)
	case o.timeout < 0:
		return fmt.Errorf("--timeout must be 0 or more, not %v", o.timeout)
	}
	return nil
}

// givenFlags are the flags that were set and decide results.
func givenFlags(fs *pflag.FlagSet) []string {
	var given []string
	fs.Visit(func(f *pflag.Flag) {
		if slices.Contains(notResults, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			values = s.GetSlice()
		}
		for _, v := range values {
			if f.Value.Type() == "bool" || f.Value.Type() == "boolfunc" {
				given = append(given, "--"+f.Name)
			} else {
				given = append(given, "--"+f.Name+"="+v)
			}
		}
	})
	return given
}

// doRun runs ops on the targets of this machine.
func doRun(ctx context.Context, out, errOut io.Writer, opts runOptions) error {
	cases, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	if opts.host, err = newHost(opts.timeout); err != nil {
		return err
	}
	defer opts.host.Close()
	targets, err := chooseTargets(&opts)
	if err != nil {
		return err
	}
	return runCases(ctx, out, errOut, opts, cases, targets)
}

// runCases runs cases on targets and reports. Everything that can be
// wrong with the options is found before the first case runs.
func runCases(ctx context.Context, out, errOut io.Writer, opts runOptions, cases []ops.Case, targets []runner.Target) error {
	set, err := overrides(opts.set, cases)
	if err != nil {
		return err
	}
	outputs, err := openOutputs(opts.outputs)
	if err != nil {
		return err
	}
	defer discard(outputs)

	selected := len(cases)
	var shard *runner.Shard
	if opts.shard != "" {
		s, err := runner.ParseShard(opts.shard, os.Getenv)
		if err != nil {
			return err
		}
		if opts.baseline != "" {
			return fmt.Errorf("--shard %s and --baseline exclude each other: join the shards with merge, then diff", opts.shard)
		}
		if cases, err = s.Of(cases); err != nil {
			return err
		}
		shard = &s
	}
	var base *baseline.Baseline
	if opts.baseline != "" {
		if base, err = opts.openBaseline(); err != nil {
			return err
		}
	}

	if ctx == nil {
		ctx = context.Background()
	}
	// The first signal ends the run with what is done; the second kills.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	ropts := runner.Options{
		Seed: opts.seed, Level: opts.sel.Level, Repeat: opts.repeat, Jobs: opts.jobs,
		Timeout: opts.timeout, Set: set, Tuned: opts.tuned, Against: opts.vs,
	}
	if opts.host != nil {
		if err := lock(ctx, errOut, opts.host, targets); err != nil {
			return err
		}
	}
	h, err := header(opts, cases, targets)
	if err != nil {
		return err
	}
	k, err := opts.keep(h, errOut)
	if err != nil {
		return err
	}
	defer k.close()
	p := newProgress(errOut)
	ropts.Prior = k.prior
	ropts.Progress = func(u runner.Progress) {
		k.add(u)
		if !opts.quiet {
			p.update(u)
		}
	}
	r, err := runner.Execute(ctx, cases, targets, ropts)
	p.done() // before the report, which may share the terminal
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return firstOf(err)
	}
	if opts.time && !interrupted {
		terr := addTimes(ctx, r, cases, targets, opts)
		if interrupted = errors.Is(terr, context.Canceled); terr != nil && !interrupted {
			return terr
		}
	}
	r.Env.Version, r.Env.Commit = build()
	r.Env.Flags, r.Env.Cases, r.Env.Shard = opts.given, selected, shard
	gate(r, opts)

	var changes *baseline.Comparison
	if base != nil && !interrupted {
		if changes, err = opts.hold(base, r); err != nil {
			return err
		}
	}
	if err := opts.write(out, errOut, r, changes, outputs); err != nil {
		if k.journal != nil && !k.full {
			err = fmt.Errorf("%w; the results are kept, and --resume writes them again", err)
		}
		return err
	}
	if interrupted {
		how := ""
		if k.journal != nil {
			how = "; --resume goes on"
		}
		return fmt.Errorf("interrupted: %d of %d cases were run%s", len(casesOf(r)), len(cases), how)
	}
	k.finish()
	err = outcome(r)
	if changes != nil {
		if worse := regressed(changes); worse != nil && exitCode(err) == exitFail {
			return &failedError{err.Error() + "; " + worse.Error()}
		} else if worse != nil {
			return worse
		}
	}
	return err
}

// firstOf is the first of joined errors: an override that overflows does
// so in every case.
func firstOf(err error) error {
	if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) > 0 {
		return firstOf(list.Unwrap()[0])
	}
	return err
}

// overrides parses --set and checks its names against the ops of cases.
func overrides(set []string, cases []ops.Case) ([]runner.Override, error) {
	var out []runner.Override
	for _, s := range set {
		name, text, ok := strings.Cut(s, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("--set %s: must be name=EXPR, as in stride_b=h*t*d", s)
		}
		if slices.ContainsFunc(out, func(o runner.Override) bool { return o.Param == name }) {
			return nil, fmt.Errorf("--set %s: %s is set twice", s, name)
		}
		e, err := expr.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--set %s: %w", s, err)
		}
		for i := range cases {
			if i > 0 && cases[i].Op == cases[i-1].Op {
				continue
			}
			if err := e.Check(names(&cases[i])); err != nil {
				return nil, fmt.Errorf("--set %s: %w", s, err)
			}
		}
		out = append(out, runner.Override{Param: name, Text: text, Eval: e.Eval})
	}
	return out, runner.CheckOverrides(cases, out)
}

// names are those that an expression may use in case c.
func names(c *ops.Case) []string {
	var names []string
	for _, p := range c.Op.Params {
		if p.Role == ops.Scalar {
			names = append(names, p.Name)
		}
	}
	for _, d := range c.Dims {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return append(names, "grid", "block", "shared")
}

// requireAll is the word of --require for every target.
const requireAll = "all"

// gate applies --strict and --require.
func gate(r *runner.Run, opts runOptions) {
	for i := range r.Results {
		res := &r.Results[i]
		switch {
		case opts.strict && res.Status == compare.Warn:
			res.Status = compare.Fail
		case res.Status == compare.Unverified &&
			(slices.Contains(opts.require, res.Target) || slices.Contains(opts.require, requireAll)):
			res.Status = compare.Fail // Skipped still says why
		}
	}
}

// useColor decides --color by https://no-color.org.
func useColor(when string, out io.Writer) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// casesOf are the names of a run's cases and whether each was compared on
// some target. Of a user's file that has no kernel for it, a case is none.
func casesOf(r *runner.Run) map[string]bool {
	compared := map[string]bool{}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Missing && res.Status == compare.Unverified {
			continue
		}
		compared[res.Case] = compared[res.Case] || res.Status != compare.Unverified
	}
	return compared
}

// outcome is the error that a complete run's results stand for.
func outcome(r *runner.Run) error {
	t := report.Count(r)
	switch {
	case t.Fail > 0:
		return &failedError{fmt.Sprintf("%d of %d results failed", t.Fail, len(r.Results))}
	case t.Compared() == 0:
		return &nothingError{"nothing was compared"}
	}
	missed := 0
	cases := casesOf(r)
	for _, ok := range cases {
		if !ok {
			missed++
		}
	}
	if missed > 0 {
		return &nothingError{fmt.Sprintf("%d of %d cases were compared on no target", missed, len(cases))}
	}
	return nil
}
