package main

import (
	"context"
	"errors"
	"fmt"
	"go/constant"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/bench"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/expr"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// benchOptions are the arguments of bench.
type benchOptions struct {
	sel       runner.Selection
	sizes     []string
	targets   []string
	seed      uint64
	timeout   time.Duration
	noCheck   bool
	noIsolate bool
	quiet     bool
	bench     bench.Options
	percent   float64 // of noise
	dump      string
	user      userCode

	rendering
	given []string
}

// newBenchCmd parses arguments into benchOptions and hands them to do.
func newBenchCmd(do func(ctx context.Context, out, errOut io.Writer, opts benchOptions) error) *cobra.Command {
	var opts benchOptions
	cmd := &cobra.Command{
		Use:   "bench [OP]...",
		Short: "Time kernels on GPUs",
		Long: `Time the kernels of ops on targets with a clock, at sizes fit for that. Of
each op, dtype and target the fast cases are judged first: a wrong kernel
is not timed.

A time is the median of cold samples: the cache is overwritten, then one
launch runs between two events of the device, which is held while they are
queued. Batch times are of launches back to back. Sampling ends when the
median is known to --noise or at --time-limit; the report says which. GB/s
counts the bytes that a perfect kernel moves; shares are of the faster of
the driver's copy and our copy kernel, measured in the same run.

Sizes are small, medium, large, huge, model:NAME (paritycheck list sizes),
all, or dimensions of the op in place of those of large: rows=512,n=4096.

Interpreted targets have no times: they run small for their counters.`,
		Example: `  # How close the kernels of softmax come to the memory's limit
  $ paritycheck bench softmax --dtype f32,bf16

  # At the shapes of Llama 3 8B
  $ paritycheck bench rms_norm rope --size model:llama3-8b

  # Two versions against each other
  $ paritycheck bench -o before.json; git checkout new; paritycheck bench -o after.json
  $ paritycheck diff before.json after.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.sel.Ops = append(opts.sel.Ops, args...)
			opts.given = append(givenFlags(cmd.Flags()), args...)
			if err := opts.check(); err != nil {
				return err
			}
			return do(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opts)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.sel.Families, "family", nil, "only ops of these `families`")
	f.StringSliceVar(&opts.sel.DTypes, "dtype", nil, "only these `dtypes`, such as f32")
	f.StringArrayVar(&opts.sizes, "size", []string{"large"}, "`size` of the cases; may be repeated")
	f.StringSliceVar(&opts.targets, "target", nil, "time on these `targets`; by default every GPU here, and where none is the interpreter for its counters")
	f.Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs")
	f.Float64Var(&opts.percent, "noise", 0.5, "sample until the median is known to ± so many `percent`, with a probability of 95 %")
	f.DurationVar(&opts.bench.Limit, "time-limit", time.Second, "end sampling of a case after this `time`")
	f.IntVar(&opts.bench.MinSamples, "min-samples", 30, "take at least `n` samples")
	f.BoolVar(&opts.bench.NoBatch, "no-batch", false, "no batches")
	f.BoolVar(&opts.noCheck, "no-check", false, "time kernels without judging them first")
	f.DurationVar(&opts.timeout, "timeout", 5*time.Minute, "give up a case on a target after this `time`; 0 is never")
	f.BoolVar(&opts.noIsolate, "no-isolate", false, "launch on GPUs in this process, where a debugger or a profiler sees it, and a crash ends the run")
	f.StringVar(&opts.dump, "dump", "", "write what was launched to `folder`, for other tools: launches.json, modules and contents of buffers")
	f.BoolVarP(&opts.quiet, "quiet", "q", false, "no progress on stderr")
	opts.user.add(cmd)
	opts.rendering.add(cmd)
	return cmd
}

// check reports flags that make no sense.
func (o *benchOptions) check() error {
	switch {
	case !(o.percent > 0 && o.percent < 100):
		return fmt.Errorf("--noise must be above 0 and below 100, not %v", o.percent)
	case o.bench.Limit <= 0:
		return fmt.Errorf("--time-limit must be more than 0, not %v", o.bench.Limit)
	case o.timeout < 0:
		return fmt.Errorf("--timeout must be 0 or more, not %v", o.timeout)
	case o.bench.MinSamples < 1:
		return fmt.Errorf("--min-samples must be at least 1, not %d", o.bench.MinSamples)
	}
	o.bench.Noise = o.percent / 100
	return nil
}

// doBench times ops on the targets of this machine.
func doBench(ctx context.Context, out, errOut io.Writer, opts benchOptions) error {
	cases, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	jobs, err := benchJobs(cases, opts.sizes)
	if err != nil {
		return err
	}
	host, err := newHost(opts.timeout)
	if err != nil {
		return err
	}
	defer host.Close()
	targets, err := chooseTargets(&runOptions{targets: opts.targets, seed: opts.seed, user: opts.user, host: host, noIsolate: opts.noIsolate})
	if err != nil {
		return err
	}
	if len(opts.targets) == 0 && slices.ContainsFunc(targets, func(t runner.Target) bool { return t.Exclusive }) {
		targets = slices.DeleteFunc(targets, func(t runner.Target) bool { return !t.Exclusive })
	}
	targets = slices.DeleteFunc(targets, func(t runner.Target) bool { return t.Recorded != nil && t.Optional })
	outputs, err := openOutputs(opts.outputs)
	if err != nil {
		return err
	}
	defer discard(outputs)

	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()

	if err := lock(ctx, errOut, host, targets); err != nil {
		return err
	}

	topts := runner.TimeOptions{Seed: opts.seed, Bench: opts.bench, Timeout: opts.timeout}
	var dump *launchDump
	if opts.dump != "" {
		if dump, err = newLaunchDump(opts.dump); err != nil {
			return err
		}
		topts.Launched = dump.add
	}
	var checked *runner.Run
	if !opts.noCheck {
		if checked, err = benchCheck(ctx, errOut, cases, targets, opts); err != nil {
			return err
		}
		topts.Refuse = refusal(checked)
	}
	if !opts.quiet {
		p := newProgress(errOut)
		defer p.done()
		topts.Progress = p.update
	}
	r, err := runner.Time(ctx, jobs, targets, topts)
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return err
	}
	if dump != nil {
		if err := dump.write(); err != nil {
			return err
		}
	}
	r.Env.Version, r.Env.Commit = build()
	r.Env.Level, r.Env.Flags = ops.Fast.String(), opts.given
	if checked != nil {
		for _, res := range checked.Results {
			if res.Status == compare.Fail {
				r.Results = append(r.Results, res)
			}
		}
	}
	for _, res := range r.Results { // which stand in place of times
		opts.counters = opts.counters || res.Untimed != ""
	}
	if err := opts.write(out, errOut, r, nil, outputs); err != nil {
		return err
	}
	if interrupted {
		return fmt.Errorf("interrupted: %d of %d cases were timed", len(casesOf(r)), len(jobs))
	}
	return outcome(r)
}

// benchCheck judges the fast cases of what is to be timed.
func benchCheck(ctx context.Context, errOut io.Writer, cases []ops.Case, targets []runner.Target, opts benchOptions) (*runner.Run, error) {
	ropts := runner.Options{Seed: opts.seed, Timeout: opts.timeout}
	if !opts.quiet {
		fmt.Fprintf(errOut, "judging %d fast cases first\n", len(cases))
	}
	r, err := runner.Execute(ctx, cases, targets, ropts)
	if err != nil {
		return nil, firstOf(err)
	}
	return r, nil
}

// refusal tells which kernels failed a case of checked.
func refusal(checked *runner.Run) func(target string, c *ops.Case) string {
	type key struct{ target, kernel string }
	wrong := map[key]string{}
	for _, r := range checked.Results {
		k := key{r.Target, r.Kernel}
		if r.Status == compare.Fail && wrong[k] == "" {
			wrong[k] = r.Case
		}
	}
	return func(target string, c *ops.Case) string {
		if name := wrong[key{target, c.Op.Kernel(c.Variant)}]; name != "" {
			return "wrong, so its time says nothing: it fails " + name + " (--no-check times it all the same)"
		}
		return ""
	}
}

// benchJobs are the cases of the given sizes, of the ops and variants of
// cases. Interpreted targets get the small ones.
func benchJobs(cases []ops.Case, sizes []string) ([]runner.Job, error) {
	var jobs []runner.Job
	scales, dims, err := parseSizes(sizes)
	if err != nil {
		return nil, err
	}
	small, large := scale("small"), scale("large")
	used := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		if i > 0 && c.Op == cases[i-1].Op && c.Variant == cases[i-1].Variant || c.Op.Timed == nil {
			continue
		}
		timesSmall := false
		for _, s := range scales {
			timesSmall = timesSmall || s.Name == small.Name
			for _, t := range c.Op.Timed(c.Variant, s) {
				jobs = append(jobs, runner.Job{Timed: t, Clocked: true, Interpreted: s.Name == small.Name})
			}
		}
		for _, d := range dims {
			for _, t := range c.Op.Timed(c.Variant, large) {
				if ok, err := d.apply(&t.Case); err != nil {
					return nil, err
				} else if ok {
					used[d.text] = true
					t.Size = d.text
					jobs = append(jobs, runner.Job{Timed: t, Clocked: true, Interpreted: true})
					timesSmall = true
				}
			}
		}
		if !timesSmall {
			for _, t := range c.Op.Timed(c.Variant, small) {
				jobs = append(jobs, runner.Job{Timed: t, Interpreted: true})
			}
		}
	}
	for _, d := range dims {
		if !used[d.text] {
			return nil, fmt.Errorf("--size %s: none of the selected ops has these dimensions; paritycheck list cases shows an op's", d.text)
		}
	}
	if !slices.ContainsFunc(jobs, func(j runner.Job) bool { return j.Clocked }) {
		return nil, fmt.Errorf("--size %s: none of the selected ops occurs at it", strings.Join(sizes, ","))
	}
	return jobs, nil
}

// scale is the one of that name.
func scale(name string) ops.Scale {
	all := ops.Scales()
	return all[slices.IndexFunc(all, func(s ops.Scale) bool { return s.Name == name })]
}

// parseSizes splits what --size is given into scales and dimensions.
func parseSizes(sizes []string) ([]ops.Scale, []dimensions, error) {
	var scales []ops.Scale
	var dims []dimensions
	all := ops.Scales()
	var names []string
	for _, s := range all {
		names = append(names, sizeName(s))
	}
	names = append(names, "model:all", "all")
	add := func(want func(ops.Scale) bool) {
		for _, s := range all {
			if want(s) && !slices.ContainsFunc(scales, func(x ops.Scale) bool { return x.Name == s.Name }) {
				scales = append(scales, s)
			}
		}
	}
	for _, text := range sizes {
		if strings.Contains(text, "=") {
			d, err := parseDimensions(text)
			if err != nil {
				return nil, nil, err
			}
			dims = append(dims, d)
			continue
		}
		for name := range strings.SplitSeq(text, ",") {
			switch {
			case name == "all":
				add(func(ops.Scale) bool { return true })
			case name == "model:all":
				add(ops.Scale.IsModel)
			case slices.Contains(names, name):
				add(func(s ops.Scale) bool { return sizeName(s) == name })
			default:
				return nil, nil, fmt.Errorf("unknown size %q: must be one of %s, or dimensions as in rows=512,n=4096", name, strings.Join(names, " "))
			}
		}
	}
	return scales, dims, nil
}

// sizeName is how --size calls a scale.
func sizeName(s ops.Scale) string {
	if s.IsModel() {
		return "model:" + s.Name
	}
	return s.Name
}

// dimensions replace those of a case.
type dimensions struct {
	text   string
	values map[string]int
}

func parseDimensions(text string) (dimensions, error) {
	d := dimensions{text: text, values: map[string]int{}}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return d, fmt.Errorf("--size %s: %q must be name=VALUE", text, part)
		}
		e, err := expr.Parse(value)
		if err != nil {
			return d, fmt.Errorf("--size %s: %w", text, err)
		}
		if err := e.Check(nil); err != nil {
			return d, fmt.Errorf("--size %s: %w", text, err)
		}
		v, err := e.Eval(func(string) (constant.Value, bool) { return nil, false })
		if err != nil {
			return d, fmt.Errorf("--size %s: %w", text, err)
		}
		n, exact := constant.Int64Val(constant.ToInt(v))
		if !exact || n < 1 || n > 1<<40 {
			return d, fmt.Errorf("--size %s: %s must be a whole number from 1 to 2^40", text, name)
		}
		d.values[name] = int(n)
	}
	return d, nil
}

// apply puts the values into a case, which must have all of the
// dimensions.
func (d dimensions) apply(c *ops.Case) (bool, error) {
	dims := slices.Clone(c.Dims)
	for name, v := range d.values {
		i := slices.IndexFunc(dims, func(x ops.Dim) bool { return x.Name == name })
		if i < 0 {
			return false, nil
		}
		if dims[i].Text != "" {
			return false, fmt.Errorf("--size %s: %s of %s is no number", d.text, name, c.Op.Name)
		}
		dims[i].Value = int64(v)
	}
	c.Dims = dims
	elements := 1.0
	for _, x := range dims {
		if x.Text == "" && x.Value > 0 {
			elements *= float64(x.Value)
		}
	}
	if elements > 1<<36 {
		return false, fmt.Errorf("--size %s: %s would have up to %.0g elements", d.text, c.Op.Name, elements)
	}
	return true, nil
}

// addTimes times the cases of a run that passed.
func addTimes(ctx context.Context, r *runner.Run, cases []ops.Case, targets []runner.Target, opts runOptions) error {
	type key struct{ name, target string }
	passed := map[key]bool{}
	for _, res := range r.Results {
		if res.Status == compare.Pass || res.Status == compare.Warn {
			passed[key{res.Case, res.Target}] = true
		}
	}
	var jobs []runner.Job
	for _, c := range cases {
		jobs = append(jobs, runner.Job{Timed: ops.Timed{Case: c}, Clocked: true})
	}
	timed, err := runner.Time(ctx, jobs, targets, runner.TimeOptions{
		Seed: opts.seed, Timeout: opts.timeout,
		// Cases for parity are small, and many.
		Bench: bench.Options{Noise: 0.03, Limit: 100 * time.Millisecond, MinSamples: 10},
		Refuse: func(target string, c *ops.Case) string {
			if passed[key{c.Name(), target}] {
				return ""
			}
			return "not timed: it did not pass"
		},
	})
	if timed != nil {
		r.AddTimes(timed)
	}
	return err
}
