package main

import (
	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// addSelection adds the flags that select cases.
func addSelection(cmd *cobra.Command, sel *runner.Selection) {
	f := cmd.Flags()
	f.StringSliceVar(&sel.Ops, "op", nil, "only these `ops`; a glob may select several")
	f.StringSliceVar(&sel.Families, "family", nil, "only ops of these `families`")
	f.StringSliceVar(&sel.DTypes, "dtype", nil, "only these `dtypes`, such as f32")
	f.StringArrayVar(&sel.Cases, "case", nil, "only cases whose name, or a part of it between slashes, matches `glob`")
	f.BoolFunc("thorough", "more shapes and input classes", func(string) error {
		sel.Level = ops.Thorough
		return nil
	})
}
