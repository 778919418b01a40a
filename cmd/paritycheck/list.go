package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
)

// newListCmd makes `list`, whose subcommands share --format.
func newListCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List ops, cases, kernels, targets, sizes or instructions",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("list what? one of %s", strings.Join(listable(cmd), " "))
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(
		newListOpsCmd(doListOps),
		newListCasesCmd(doListCases),
		newListKernelsCmd(doListKernels),
		newListTargetsCmd(doListTargets),
		newListSizesCmd(doListSizes),
		newListISACmd(doListISA),
	)
	return cmd
}

func listable(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// addFormat adds --format to a command that prints a table or JSON.
func addFormat(cmd *cobra.Command, value *string) {
	addEnum(cmd, value, "format", "table", "output `format`: table or json", "table", "json")
}

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// listOptions are the options of the lists of ops and cases.
type listOptions struct {
	sel    runner.Selection
	format string
}

func newListOpsCmd(do func(io.Writer, listOptions) error) *cobra.Command {
	var opts listOptions
	cmd := &cobra.Command{
		Use:   "ops",
		Short: "List ops",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), opts) },
	}
	addSelection(cmd, &opts.sel)
	addFormat(cmd, &opts.format)
	return cmd
}

// A listedOp is one op in JSON.
type listedOp struct {
	Name    string   `json:"op"`
	Family  string   `json:"family"`
	Module  string   `json:"module"`
	DTypes  []string `json:"dtypes"`
	Cases   int      `json:"cases"`
	Parity  string   `json:"parity"`
	Summary string   `json:"summary"`
}

func doListOps(w io.Writer, opts listOptions) error {
	cases, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	list := []*listedOp{}
	for i := range cases {
		o := cases[i].Op
		if len(list) == 0 || list[len(list)-1].Name != o.Name {
			list = append(list, &listedOp{Name: o.Name, Family: o.Family, Module: o.Module, Parity: string(o.Parity), Summary: o.Summary})
		}
		l := list[len(list)-1]
		l.Cases++
		if d := cases[i].Variant.String(); !slices.Contains(l.DTypes, d) {
			l.DTypes = append(l.DTypes, d)
		}
	}
	if opts.format == "json" {
		return writeJSON(w, list)
	}
	var rows [][]string
	for _, l := range list {
		class, _, _ := strings.Cut(l.Parity, " ")
		rows = append(rows, []string{l.Name, l.Family, strings.Join(l.DTypes, " "), strconv.Itoa(l.Cases), class, l.Summary})
	}
	return report.Grid(w, []string{"op", "family", "dtypes", "cases", "parity", "what"}, []bool{3: true, 5: false}, rows)
}

func newListCasesCmd(do func(io.Writer, listOptions) error) *cobra.Command {
	var opts listOptions
	cmd := &cobra.Command{
		Use:   "cases",
		Short: "List cases by name",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), opts) },
	}
	addSelection(cmd, &opts.sel)
	addFormat(cmd, &opts.format)
	return cmd
}

// A listedCase is one case in JSON.
type listedCase struct {
	Name   string           `json:"case"`
	Op     string           `json:"op"`
	Kernel string           `json:"kernel"`
	DType  string           `json:"dtype"`
	Dims   map[string]int64 `json:"dims"`
	Class  string           `json:"class"`
}

func doListCases(w io.Writer, opts listOptions) error {
	cases, err := runner.Select(ops.All(), opts.sel)
	if err != nil {
		return err
	}
	if opts.format == "json" {
		list := make([]listedCase, len(cases))
		for i := range cases {
			c := &cases[i]
			list[i] = listedCase{c.Name(), c.Op.Name, c.Op.Kernel(c.Variant), c.Variant.String(), map[string]int64{}, c.Class}
			for _, d := range c.Dims {
				list[i].Dims[d.Name] = d.Value
			}
		}
		return writeJSON(w, list)
	}
	for i := range cases {
		if _, err := fmt.Fprintln(w, cases[i].Name()); err != nil {
			return err
		}
	}
	return nil
}

type listKernelsOptions struct {
	modules []string
	missing bool
	format  string
}

func newListKernelsCmd(do func(io.Writer, listKernelsOptions) error) *cobra.Command {
	var opts listKernelsOptions
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "List candle's kernels and which of them are covered",
		Long: `List every kernel that candle-kernels exports, the op that checks it, and
whether the HIP and the CUDA side of it are built in. A kernel is covered
where there is all three.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), opts) },
	}
	cmd.Flags().StringSliceVar(&opts.modules, "module", nil, "only kernels of these `modules` of candle")
	cmd.Flags().BoolVar(&opts.missing, "missing", false, "only kernels that are not covered")
	addFormat(cmd, &opts.format)
	return cmd
}

// A listedKernel is one of candle's kernels in JSON.
type listedKernel struct {
	ops.Symbol
	Op      string `json:"op,omitempty"`    // that checks it
	DType   string `json:"dtype,omitempty"` // the op's variant
	HIP     bool   `json:"hip"`             // in the prebuilt code objects
	CUDA    bool   `json:"cuda"`            // in the prebuilt PTX
	Covered bool   `json:"covered"`
}

func doListKernels(w io.Writer, opts listKernelsOptions) error {
	list, err := coverage()
	if err != nil {
		return err
	}
	var modules []string
	for _, k := range list {
		if !slices.Contains(modules, k.Module) {
			modules = append(modules, k.Module)
		}
	}
	for _, m := range opts.modules {
		if !slices.Contains(modules, m) {
			return fmt.Errorf("unknown module %q: modules are %s", m, strings.Join(modules, " "))
		}
	}
	wanted := []listedKernel{}
	covered, total := 0, 0
	for _, k := range list {
		if len(opts.modules) > 0 && !slices.Contains(opts.modules, k.Module) {
			continue
		}
		total++
		if k.Covered {
			covered++
		}
		if !opts.missing || !k.Covered {
			wanted = append(wanted, k)
		}
	}
	if opts.format == "json" {
		return writeJSON(w, wanted)
	}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "-"
	}
	var rows [][]string
	for _, k := range wanted {
		op := k.Op
		if op == "" {
			op = "-"
		}
		rows = append(rows, []string{k.Module, k.Name, op, yes(k.HIP), yes(k.CUDA)})
	}
	if len(rows) > 0 {
		if err := report.Grid(w, []string{"module", "kernel", "op", "hip", "cuda"}, nil, rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	_, err = fmt.Fprintf(w, "%d of %d kernels covered\n", covered, total)
	return err
}

// coverage says of every kernel of candle what there is of it.
func coverage() ([]listedKernel, error) {
	type checked struct{ op, dtype string }
	by := map[string]checked{}
	for _, o := range ops.All() {
		for _, v := range o.Variants {
			by[o.Kernel(v)] = checked{o.Name, v.String()}
		}
	}
	hip, cuda, err := built()
	if err != nil {
		return nil, err
	}
	var list []listedKernel
	for _, s := range ops.Candle() {
		k := listedKernel{Symbol: s, Op: by[s.Name].op, DType: by[s.Name].dtype, HIP: hip[s.Name], CUDA: cuda[s.Name]}
		k.Covered = k.Op != "" && k.HIP && k.CUDA
		list = append(list, k)
	}
	return list, nil
}

var entry = regexp.MustCompile(`(?m)^\s*\.visible\s+\.entry\s+(\w+)`)

// built returns the kernels in the prebuilt objects: in those of every AMD
// architecture, and in the PTX.
func built() (hip, cuda map[string]bool, err error) {
	hip, cuda = map[string]bool{}, map[string]bool{}
	for _, family := range kernels.Families() {
		archs, err := kernels.Archs(family)
		if err != nil {
			return nil, nil, err
		}
		seen := map[string]int{}
		objects := 0
		for _, arch := range archs {
			if !strings.HasPrefix(arch, "gfx") {
				continue
			}
			image, err := kernels.Object(family, arch)
			if err != nil {
				return nil, nil, err
			}
			f, err := codeobject.Parse(image, arch)
			if err != nil {
				return nil, nil, fmt.Errorf("reading %s for %s: %w", family, arch, err)
			}
			objects++
			for _, k := range f.Kernels {
				seen[k.Name]++
			}
		}
		for name, n := range seen {
			hip[name] = n == objects
		}
		ptx, err := kernels.PTX(family)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range entry.FindAllSubmatch(ptx, -1) {
			cuda[string(m[1])] = true
		}
	}
	return hip, cuda, nil
}

func newListSizesCmd(do func(io.Writer, string) error) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sizes",
		Short: "List the sizes that bench times ops at",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), format) },
	}
	addFormat(cmd, &format)
	return cmd
}

// A listedSize is one size in JSON.
type listedSize struct {
	Size    string `json:"size"` // as --size takes it
	Summary string `json:"summary"`
}

func doListSizes(w io.Writer, format string) error {
	var list []listedSize
	for _, s := range ops.Scales() {
		list = append(list, listedSize{sizeName(s), s.Summary})
	}
	if format == "json" {
		return writeJSON(w, list)
	}
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Size, s.Summary})
	}
	return report.Grid(w, []string{"size", "what"}, nil, rows)
}
