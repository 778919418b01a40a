package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/amdgpu/sim"
	"github.com/paritycheck/paritycheck/internal/report"
)

type listISAOptions struct {
	targets []string
	format  string
}

func newListISACmd(do func(io.Writer, listISAOptions) error) *cobra.Command {
	var opts listISAOptions
	cmd := &cobra.Command{
		Use:   "isa",
		Short: "List the AMD instructions that the interpreter executes",
		Long: `List, for each encoding of an architecture, the opcodes that LLVM knows and
those that the interpreter executes, and why it does not execute the rest.
A kernel that meets one of those fails with its name; it is never guessed.
--format json names every opcode.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), opts) },
	}
	cmd.Flags().StringSliceVar(&opts.targets, "target", nil, "only these `architectures`: gfx90a, gfx1030, gfx1100")
	addFormat(cmd, &opts.format)
	return cmd
}

// A listedISA is one architecture in JSON.
type listedISA struct {
	Arch      string         `json:"arch"`
	Known     int            `json:"known"`
	Executed  int            `json:"executed"`
	Encodings []listedEnc    `json:"encodings"`
	Refused   []listedReason `json:"refused"`
	Opcodes   []listedOpcode `json:"opcodes"`
}

type listedEnc struct {
	Encoding string `json:"encoding"`
	Known    int    `json:"known"`
	Executed int    `json:"executed"`
}

// A listedReason is a class of instructions that is left out, or with no
// class, those left out one by one.
type listedReason struct {
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// A listedOpcode is a sim.OpStatus.
type listedOpcode struct {
	Name     string `json:"name"`
	Encoding string `json:"encoding"`
	Opcode   int    `json:"opcode"`
	Executed bool   `json:"executed"`
	Class    string `json:"class,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// isaOf counts the opcodes of an architecture.
func isaOf(arch string) (listedISA, error) {
	ops, err := sim.Coverage(arch)
	if err != nil {
		return listedISA{}, err
	}
	l := listedISA{Arch: arch, Encodings: []listedEnc{}, Refused: []listedReason{}}
	enc := map[string]int{}
	why := map[listedReason]int{}
	for _, op := range ops {
		at, ok := enc[op.Encoding]
		if !ok {
			at = len(l.Encodings)
			enc[op.Encoding] = at
			l.Encodings = append(l.Encodings, listedEnc{Encoding: op.Encoding})
		}
		l.Known++
		l.Encodings[at].Known++
		if op.Executed {
			l.Executed++
			l.Encodings[at].Executed++
		} else {
			why[listedReason{Class: op.Class, Reason: op.Reason}]++
		}
		l.Opcodes = append(l.Opcodes, listedOpcode(op))
	}
	for r, n := range why {
		r.Count = n
		l.Refused = append(l.Refused, r)
	}
	slices.SortFunc(l.Refused, func(a, b listedReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Reason, b.Reason))
	})
	return l, nil
}

func doListISA(w io.Writer, opts listISAOptions) error {
	archs := []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100}
	if len(opts.targets) > 0 {
		archs = nil
		for _, t := range opts.targets {
			a, err := isa.ParseArch(strings.TrimPrefix(t, "hip@"))
			if err != nil {
				return fmt.Errorf("--target %s: %w", t, err)
			}
			if !slices.Contains(archs, a) {
				archs = append(archs, a)
			}
		}
	}
	list := []listedISA{}
	for _, a := range archs {
		l, err := isaOf(a.String())
		if err != nil {
			return err
		}
		list = append(list, l)
	}
	if opts.format == "json" {
		return writeJSON(w, list)
	}
	for i, l := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := l.table(w); err != nil {
			return err
		}
	}
	return nil
}

func (l *listedISA) table(w io.Writer) error {
	row := func(name string, known, executed int) []string {
		return []string{name, strconv.Itoa(known), strconv.Itoa(executed), strconv.Itoa(known - executed)}
	}
	var rows [][]string
	for _, e := range l.Encodings {
		rows = append(rows, row(e.Encoding, e.Known, e.Executed))
	}
	rows = append(rows, row("total", l.Known, l.Executed))
	if err := report.Grid(w, []string{l.Arch, "opcodes", "executed", "refused"}, []bool{1: true, 2: true, 3: true}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	rows = nil
	left := 0
	for _, r := range l.Refused {
		class := r.Class
		if class == "" {
			class = "others"
		} else {
			left += r.Count
		}
		rows = append(rows, []string{class, strconv.Itoa(r.Count), r.Reason})
	}
	if len(rows) > 0 {
		if err := report.Grid(w, []string{"refused", "opcodes", "why"}, []bool{1: true, 2: false}, rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	rest := l.Known - left
	_, err := fmt.Fprintf(w, "%s: %d of %d opcodes executed, %.1f %% of those outside the classes left out\n",
		l.Arch, l.Executed, l.Known, 100*float64(l.Executed)/float64(max(rest, 1)))
	return err
}
