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
		Short: "Join the shards of a run",
		Long: `Join runs that were saved with run --shard I/N -o FILE.json into the run that
they are parts of, and report it: to the byte what one unsharded run would
have saved, but for times. A shard that is missing, that is given twice, that
was interrupted, or of another seed, selection, device or code object is an
error.

The exit code is that of the joined run.`,
		Example: `  # Two machines, one run
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
		if r.Env.Shard == nil {
			return fmt.Errorf("%s is no shard: it was run without --shard", nameOf(path))
		}
		runs = append(runs, r)
	}
	r, err := runner.Merge(runs)
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
