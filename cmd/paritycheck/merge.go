package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/runner"
)

// mergeOptions are the arguments of merge.
type mergeOptions struct {
	rendering
	runs []string
}

// newMergeCmd parses flags into mergeOptions and hands them to do.
func newMergeCmd(do func(in io.Reader, out, errOut io.Writer, opts mergeOptions) error) *cobra.Command {
	var opts mergeOptions
	cmd := &cobra.Command{
		Use:   "merge RUN...",
		Short: "Join the shards of a run, or the runs of several machines",
		Long: `Join runs that were saved with run --shard I/N -o FILE.json into the run that
they are parts of, and report it: to the byte what one unsharded run would
have saved, but for times. A shard that is missing, that is given twice, that
was interrupted, or of another seed, selection, device or code object is an
error.

Runs without --shard are of several machines: the same cases on other
targets, which the report has side by side. Where two machines call different
devices the same, the second is TARGET#2.

The exit code is that of the joined run.`,
		Example: `  # The AMD and the NVIDIA machine in one report
  $ paritycheck merge mi250.json h200.json -o both.md

  # Two machines, one run
  $ paritycheck run --shard 1/2 -o 1.json
  $ paritycheck run --shard 2/2 -o 2.json
  $ paritycheck merge 1.json 2.json -o run.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("merge takes the shards of a run, saved as JSON")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.runs = args
			return do(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), opts)
		},
	}
	opts.add(cmd)
	return cmd
}

// doMerge joins shards.
func doMerge(in io.Reader, out, errOut io.Writer, opts mergeOptions) error {
	var runs []*runner.Run
	for _, path := range opts.runs {
		r, err := loadRun(in, path)
		if err != nil {
			return err
		}
		if len(runs) > 0 && (r.Env.Shard == nil) != (runs[0].Env.Shard == nil) {
			shard, whole := nameOf(opts.runs[0]), nameOf(path)
			if r.Env.Shard != nil {
				shard, whole = whole, shard
			}
			return fmt.Errorf("%s is of a run with --shard, and %s is not: merge the shards of a machine first", shard, whole)
		}
		runs = append(runs, r)
	}
	join := runner.Merge
	if len(runs) > 0 && runs[0].Env.Shard == nil {
		if len(runs) == 1 {
			return fmt.Errorf("%s is no shard, and there is no other run to join it with", nameOf(opts.runs[0]))
		}
		join = runner.Join
	}
	r, err := join(runs)
	if err != nil {
		return fmt.Errorf("merging: %w", err)
	}
	outputs, err := openOutputs(opts.outputs)
	if err != nil {
		return err
	}
	defer discard(outputs)
	if err := opts.write(out, errOut, r, nil, outputs); err != nil {
		return err
	}
	return outcome(r)
}
