package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/bundle"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/target"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// recordOptions are the flags of record.
type recordOptions struct {
	sel    runner.Selection
	target string
	seed   uint64
	path   string
}

// recordTimeout is how long a case may take, as run has it where --timeout
// says nothing.
const recordTimeout = 5 * time.Minute

func newRecordCmd(do func(context.Context, io.Writer, io.Writer, recordOptions) error) *cobra.Command {
	var opts recordOptions
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record a target's outputs, to hold other machines against",
		Long: `Run cases on one target and write their outputs to a file. Elsewhere, the
target rec:FILE is what was recorded: paritycheck run --target hip@gfx90a --vs
rec:FILE holds a port against hardware that is not there, and paritycheck judge
FILE judges the recording alone. Only outputs that pass are recorded.`,
		Example: `  $ paritycheck record --target cuda@cuda:0 -o h200.safetensors.gz`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return do(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opts)
		},
	}
	addSelection(cmd, &opts.sel)
	f := cmd.Flags()
	f.StringVar(&opts.target, "target", "", "the `target` to record")
	f.Uint64Var(&opts.seed, "seed", 1, "`seed` of the inputs")
	f.StringVarP(&opts.path, "output", "o", "", "write the recording to `file`")
	return cmd
}

func doRecord(ctx context.Context, out, errOut io.Writer, opts recordOptions) error {
	if opts.target == "" || opts.path == "" {
		return errors.New("record needs --target TARGET and -o FILE")
	}
	cases, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	topts, err := targetOptions(emulation{}, opts.seed, 0)
	if err != nil {
		return err
	}
	if topts.Isolate, err = newHost(recordTimeout); err != nil {
		return err
	}
	defer topts.Isolate.Close()
	t, err := target.Parse(opts.target, topts)
	if err != nil {
		return err
	}
	o, err := newOutput(opts.path)
	if err != nil {
		return err
	}

	version, _ := build()
	rec := bundle.NewRecording(version, opts.seed)
	var failed error
	if ctx == nil {
		ctx = context.Background()
	}
	if err := lock(ctx, errOut, topts.Isolate, []runner.Target{t}); err != nil {
		return err
	}
	p := newProgress(errOut)
	r, err := runner.Execute(ctx, cases, []runner.Target{t}, runner.Options{
		Seed: opts.seed, Level: opts.sel.Level, Timeout: recordTimeout, Progress: p.update,
		Output: func(name string, p *ops.Problem, out *tensor.Tensor) {
			source, err := target.SourceOf(name, p.Case.Op.Family)
			if err != nil {
				failed = errors.Join(failed, err)
				return
			}
			rec.Add(p, source, out)
		},
	})
	p.done()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	rec.Target = r.Env.Targets[0]
	if rec.Len() > 0 {
		if err := o.put(rec.Write); err != nil {
			return err
		}
	}
	tally := report.Count(r)
	fmt.Fprintf(out, "%d of %d cases recorded on %s\n", rec.Len(), len(cases), opts.target)
	if tally.Fail > 0 {
		return &failedError{fmt.Sprintf("%d cases failed and are not recorded", tally.Fail)}
	}
	return outcome(r)
}
