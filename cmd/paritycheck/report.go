package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// rendering are the flags of how a report is written.
type rendering struct {
	format   string
	outputs  []string
	color    string
	counters bool

	allowUnverified bool
}

// add adds the flags to cmd.
func (o *rendering) add(cmd *cobra.Command) {
	var formats []string
	for _, x := range report.Formats() {
		formats = append(formats, string(x))
	}
	f := cmd.Flags()
	addEnum(cmd, &o.format, "format", "table", "`format` of stdout: "+strings.Join(formats, " "), formats...)
	f.StringArrayVarP(&o.outputs, "output", "o", nil, "write the report to `file` too, in the format of its extension: "+report.Extensions())
	addEnum(cmd, &o.color, "color", "auto", "colours in the table: `when` is auto, always or never", "auto", "always", "never")
	f.BoolVar(&o.allowUnverified, "allow-unverified", false, "take a run with unverified results for a baseline")
	f.BoolVar(&o.counters, "counters", false, "show the interpreter's counters in tables")
}

// write writes r to stdout and to outputs, with what changed from a
// baseline if changes is not nil; where stdout's format has no place for
// that, it goes to errOut. A file that fails does not keep the others from
// being written.
func (o *rendering) write(out, errOut io.Writer, r *runner.Run, changes *baseline.Comparison, outputs []*outputFile) error {
	format := report.Format(o.format)
	opts := report.Options{Counters: o.counters, Changes: changes, AllowUnverified: o.allowUnverified}
	stdout := opts
	stdout.Color = useColor(o.color, out)
	errs := []error{report.Write(out, r, format, stdout)}
	if changes != nil && !report.ShowsChanges(format) {
		errs = append(errs, report.WriteChanges(errOut, changes, report.Table))
	}
	for _, f := range outputs {
		errs = append(errs, f.write(r, opts))
	}
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" && format == report.GitHub {
		errs = append(errs, appendSummary(path, func(w io.Writer) error { return report.Write(w, r, report.Markdown, opts) }))
	}
	return errors.Join(errs...)
}

// appendSummary adds what render writes to a GitHub step's summary.
func appendSummary(path string, render func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("writing the step summary: %w", err)
	}
	err = render(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// reportOptions are the arguments of report.
type reportOptions struct {
	rendering
	run string
}

// newReportCmd parses flags into reportOptions and hands them to do.
func newReportCmd(do func(in io.Reader, out io.Writer, opts reportOptions) error) *cobra.Command {
	var opts reportOptions
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Render a saved run in another format",
		Long: `Render a run that was saved with run -o FILE.json again. Nothing is run and
nothing is judged anew; the exit code is 0 whatever the run found.

RUN is a file, or - for stdin.`,
		Example: `  # Save a run, then look at it
  $ paritycheck run --op rope_i -o rope.json
  $ paritycheck report rope.json --format markdown

  # Several formats at once
  $ paritycheck report rope.json -o rope.md -o rope.csv -o rope.xml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("report takes one saved run, but was given %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return do(cmd.InOrStdin(), cmd.OutOrStdout(), opts)
		},
	}
	opts.add(cmd)
	return cmd
}

// doReport renders a saved run.
func doReport(in io.Reader, out io.Writer, opts reportOptions) error {
	r, err := loadRun(in, opts.run)
	if err != nil {
		return err
	}
	outputs, err := openOutputs(opts.outputs)
	if err != nil {
		return err
	}
	defer discard(outputs)
	return opts.write(out, io.Discard, r, nil, outputs)
}

// loadRun reads a run from a file or, named -, from in.
func loadRun(in io.Reader, path string) (*runner.Run, error) {
	doc, err := load(in, path)
	if err != nil {
		return nil, err
	}
	r, err := report.Read(strings.NewReader(string(doc)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(path), err)
	}
	return r, nil
}

// load reads a file or, named -, in.
func load(in io.Reader, path string) ([]byte, error) {
	if path == "-" {
		doc, err := io.ReadAll(in)
		if err != nil {
			return nil, fmt.Errorf("reading stdin: %w", err)
		}
		return doc, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return doc, nil
}

// nameOf is what errors call the input that path names.
func nameOf(path string) string {
	if path == "-" {
		return "stdin"
	}
	return path
}
