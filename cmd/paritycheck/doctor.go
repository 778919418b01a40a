package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newDoctorCmd(do func(io.Writer, string) error) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say which targets work here, which do not, and why",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return do(cmd.OutOrStdout(), format) },
	}
	addFormat(cmd, &format)
	return cmd
}

func doDoctor(w io.Writer, format string) error {
	m := diagnose()
	if format == "json" {
		return writeJSON(w, m)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "paritycheck %s\n\ntargets\n", version())
	for _, t := range m.Targets {
		switch {
		case t.Info == nil:
			fmt.Fprintf(&b, "  -   %s: %s\n", t.Name, short(t.Error))
			if t.Fix != "" {
				fmt.Fprintf(&b, "      %s\n", t.Fix)
			}
		case t.Info.Emulated:
			fmt.Fprintf(&b, "  ok  %s: %s; %s\n", t.Name, t.Info.Name, t.Info.Notes)
		default:
			fmt.Fprintf(&b, "  ok  %s: %s, %s, %s\n", t.Name, t.Info.Name, t.Info.Arch, t.Info.Driver)
		}
	}
	b.WriteString("\nlibraries\n")
	for _, l := range m.Libraries {
		name := l.Name
		switch {
		case strings.HasPrefix(l.Version, l.Name): // "NVRTC 12.0"
			name = l.Version
		case l.Version != "":
			name += ", " + l.Version
		}
		if l.Path != "" {
			name += ", " + l.Path
		}
		if l.Error != "" {
			fmt.Fprintf(&b, "  -   %s: %s\n", name, short(l.Error))
			if n := len(l.Tried); n > 1 {
				fmt.Fprintf(&b, "      %d places were tried; --format json has them all\n", n)
			}
		} else {
			fmt.Fprintf(&b, "  ok  %s\n", name)
		}
		for _, n := range l.Notes {
			fmt.Fprintf(&b, "      %s\n", n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
