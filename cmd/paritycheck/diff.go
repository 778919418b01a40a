package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// holding are the flags of how a run is held against a baseline.
type holding struct {
	growth float64
}

func (h *holding) add(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&h.growth, "max-growth", baseline.DefaultGrowth, "`share` by which an interpreter's counter may rise above the baseline; a negative share checks none")
}

// compare holds now against base. match, if not nil, selects what is
// compared.
func (h *holding) compare(base, now *baseline.Baseline, match func(r *baseline.Row, c *baseline.Case) bool) (*baseline.Comparison, error) {
	varies := map[string]bool{}
	for _, o := range ops.All() {
		varies[o.Name] = o.Nondeterministic
	}
	growth := h.growth
	if growth == 0 {
		growth = 1e-300 // the zero of baseline.Options is its default
	}
	return baseline.Compare(base, now, baseline.Options{
		Varies: func(op string) bool { return varies[op] }, Growth: growth, Select: match,
	})
}

// diffOptions are the arguments of diff.
type diffOptions struct {
	holding
	sel     runner.Selection
	targets []string
	base    string
	now     string
	format  string
	output  string

	allowUnverified bool
}

// newDiffCmd parses flags into diffOptions and hands them to do.
func newDiffCmd(do func(in io.Reader, out io.Writer, opts diffOptions) error) *cobra.Command {
	var opts diffOptions
	cmd := &cobra.Command{
		Use:   "diff BASE NEW",
		Short: "Say what got worse between two saved runs",
		Long: `Compare two runs that were saved with run -o FILE.json, or baselines saved with
-o FILE.baseline.json. One of them may be - for stdin.

A regression is
  - a worse status, a new kind of finding, more elements over the bound;
  - a case, op or target that is lost, or not verified any more;
  - a new case that fails;
  - other numbers from equal objects, arguments and devices, but of an op that
    declares its result to vary, on hardware;
  - accuracy lost inside the bound, beyond what the distribution explains;
  - a counter of the interpreter that rises by more than --max-growth;
  - a time that is SLOWER by test, interval and noise floor.
docs/gate-a-pull-request.md has the exact rules.

Exit codes: 0 without regressions, 1 with some, 2 for input that cannot be
compared.`,
		Example: `  # What a change made worse, for a pull request
  $ paritycheck diff base.baseline.json new.json --format markdown

  # Of one op alone
  $ paritycheck diff base.baseline.json new.json --op rope_i`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("diff takes two saved runs, the base and the new one, but was given %d arguments", len(args))
			}
			if args[0] == "-" && args[1] == "-" {
				return errors.New("diff can read only one of its runs from stdin")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.base, opts.now = args[0], args[1]
			return do(cmd.InOrStdin(), cmd.OutOrStdout(), opts)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.sel.Ops, "op", nil, "compare only these `ops`; a glob may select several")
	f.StringSliceVar(&opts.sel.Families, "family", nil, "compare only ops of these `families`")
	f.StringSliceVar(&opts.sel.DTypes, "dtype", nil, "compare only these `dtypes`")
	f.StringArrayVar(&opts.sel.Cases, "case", nil, "compare only cases whose name, or a part of it between slashes, matches `glob`")
	f.StringSliceVar(&opts.targets, "target", nil, "compare only these `targets`")
	var formats []string
	for _, x := range report.ChangesFormats() {
		formats = append(formats, string(x))
	}
	addEnum(cmd, &opts.format, "format", "table", "`format` of stdout: "+strings.Join(formats, " "), formats...)
	f.StringVarP(&opts.output, "output", "o", "", "write the comparison to `file` too, in the format of its extension: .txt .md .json")
	f.BoolVar(&opts.allowUnverified, "allow-unverified", false, "let the base have unverified results")
	opts.holding.add(cmd)
	return cmd
}

// doDiff compares two saved runs.
func doDiff(in io.Reader, out io.Writer, opts diffOptions) error {
	base, err := loadBaseline(in, opts.base)
	if err != nil {
		return err
	}
	if err := base.Check(opts.allowUnverified); err != nil {
		return fmt.Errorf("%s cannot be a baseline: %w", nameOf(opts.base), err)
	}
	now, err := loadBaseline(in, opts.now)
	if err != nil {
		return err
	}
	match, err := opts.match(base, now)
	if err != nil {
		return err
	}
	c, err := opts.holding.compare(base, now, match)
	if err != nil {
		return err
	}
	if err := report.WriteChanges(out, c, report.Format(opts.format)); err != nil {
		return err
	}
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" && opts.format == string(report.GitHub) {
		if err := appendSummary(path, func(w io.Writer) error { return report.WriteChanges(w, c, report.Markdown) }); err != nil {
			return err
		}
	}
	if opts.output != "" {
		o, err := openOutput(opts.output)
		if err != nil {
			return err
		}
		if err := o.put(func(w io.Writer) error { return report.WriteChanges(w, c, o.format) }); err != nil {
			return err
		}
	}
	return regressed(c)
}

// match is the selection of diff, nil for everything. A selection that
// matches nothing is an error.
func (o *diffOptions) match(runs ...*baseline.Baseline) (func(r *baseline.Row, c *baseline.Case) bool, error) {
	if err := o.sel.Check(); err != nil {
		return nil, err
	}
	match := func(r *baseline.Row, c *baseline.Case) bool {
		return (len(o.targets) == 0 || slices.Contains(o.targets, r.Target)) && o.sel.Match(r.Op, r.Family, r.DType, c.Case)
	}
	for _, b := range runs {
		for i := range b.Rows {
			for j := range b.Rows[i].Cases {
				if match(&b.Rows[i], &b.Rows[i].Cases[j]) {
					return match, nil
				}
			}
		}
	}
	return nil, errors.New("the selection matches nothing in either run")
}

// loadBaseline reads a baseline, or a run and reduces it.
func loadBaseline(in io.Reader, path string) (*baseline.Baseline, error) {
	doc, err := load(in, path)
	if err != nil {
		return nil, err
	}
	if report.CheckSchema(doc, baseline.Schema) == nil {
		b, err := baseline.Parse(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(path), err)
		}
		return b, nil
	}
	r, err := report.Read(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(path), err)
	}
	b, err := baseline.Of(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(path), err)
	}
	return b, nil
}

// regressed is the error that a comparison stands for.
func regressed(c *baseline.Comparison) error {
	if n := c.Regressions(); n > 0 {
		return &failedError{fmt.Sprintf("%d regressions against the baseline", n)}
	}
	return nil
}

// hold compares a run with the baseline of --baseline, on what the run was
// asked for: what it left out by --op or --target is not lost.
func (o *runOptions) hold(base *baseline.Baseline, r *runner.Run) (*baseline.Comparison, error) {
	now, err := baseline.Of(r)
	if err != nil {
		return nil, err
	}
	return o.holding.compare(base, now, func(row *baseline.Row, c *baseline.Case) bool {
		return (len(o.targets) == 0 || slices.Contains(o.targets, row.Target) || slices.Contains(o.require, row.Target)) &&
			o.sel.Match(row.Op, row.Family, row.DType, c.Case)
	})
}

// openBaseline reads the baseline of --baseline and sees that the run can
// be held against it, before the run.
func (o *runOptions) openBaseline() (*baseline.Baseline, error) {
	base, err := loadBaseline(strings.NewReader(""), filepath.Clean(o.baseline))
	if err != nil {
		return nil, err
	}
	if err := base.Check(o.allowUnverified); err != nil {
		return nil, fmt.Errorf("%s cannot be a baseline: %w", o.baseline, err)
	}
	none := &baseline.Baseline{Env: runner.Env{Seed: o.seed, Level: o.sel.Level.String()}}
	if _, err := baseline.Compare(base, none, baseline.Options{}); err != nil {
		return nil, fmt.Errorf("%s: %w", o.baseline, err)
	}
	return base, nil
}
