package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paritycheck/paritycheck/internal/runner"
)

// Exit codes. A script that gates on parity tests for 1 alone.
const (
	exitOK    = 0 // every selected case ran and passed
	exitFail  = 1 // some case failed, or regressed against the baseline
	exitError = 2 // bad usage or input, or a run that could not be completed
	exitNone  = 3 // nothing was compared
)

// A failedError says that cases failed; the report says which.
type failedError struct{ text string }

func (e *failedError) Error() string { return e.text }

// A nothingError says that nothing was compared, in the run or in some
// case.
type nothingError struct{ text string }

func (e *nothingError) Error() string { return e.text }

// exitCode is the code that err stands for.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if _, ok := errors.AsType[*failedError](err); ok {
		return exitFail
	}
	if _, ok := errors.AsType[*nothingError](err); ok {
		return exitNone
	}
	return exitError
}

// run is the whole program: it reads in, writes results to out and
// everything else to err, and returns the exit code.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	cmd := newRootCmd()
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	err := cmd.Execute()
	if err != nil {
		fmt.Fprintf(errOut, "paritycheck: %s\n", oneLine(err.Error()))
	}
	return exitCode(err)
}

// oneLine joins the lines of an error.
func oneLine(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			continue
		case strings.HasSuffix(b.String(), ":"):
			b.WriteByte(' ')
		case b.Len() > 0:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func newRootCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "paritycheck",
		Short: "Check GPU kernels ported from CUDA to HIP",
		Long: `paritycheck launches each HIP kernel and its CUDA counterpart on the same
inputs, compares both with the truth in higher precision, and says per op
what agrees, how closely, which side is off, and where.

Without a GPU the HIP kernels run in an interpreter of AMD code objects.

Exit codes:
  0  every selected case ran and passed
  1  some case failed, or is worse than in the baseline
  2  bad usage or input, or the run could not be completed
  3  nothing was compared, in the run or in some case`,
		Example: `  # Check one op wherever it can run
  $ paritycheck run --op rope_i

  # See what a wrong launch argument does
  $ paritycheck run --op rope_i --dtype f32 --set 'stride_b=t*d/2'

  # What there is
  $ paritycheck list ops`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.SetVersionTemplate("paritycheck {{.Version}}\n")
	cmd.SetFlagErrorFunc(flagError)
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(
		newRunCmd(doRun),
		newBenchCmd(doBench),
		newListCmd(),
		newExplainCmd(doExplain),
		newInputsCmd(doInputs),
		newJudgeCmd(doJudge),
		newRecordCmd(doRecord),
		newMutateCmd(doMutate),
		newReportCmd(doReport),
		newDiffCmd(doDiff),
		newMergeCmd(doMerge),
		newDoctorCmd(doDoctor),
		newCompileCmd(),
		newDriveCmd(),
	)
	return cmd
}

// unknownCommand names the subcommands near to what was given.
func unknownCommand(cmd *cobra.Command, given string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q of %s: commands are %s", given, cmd.CommandPath(), strings.Join(names, " "))
}

// flagError names the flags near to one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	near := runner.Near("--"+missing.GetSpecifiedName(), names)
	return fmt.Errorf("%w; near it: %s", err, strings.Join(near[:min(3, len(near))], " "))
}

// version is the module's version and the commit that it was built from.
func version() string {
	v, commit := build()
	if commit != "" {
		v += " (" + commit + ")"
	}
	return v
}

func build() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	version = info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	setting := func(key string) string {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 {
			return ""
		}
		return info.Settings[i].Value
	}
	commit = setting("vcs.revision")
	commit = commit[:min(12, len(commit))]
	if commit != "" && setting("vcs.modified") == "true" {
		commit += "+changes"
	}
	return version, commit
}

// An enum is a flag that takes one of a few words.
type enum struct {
	value *string
	words []string
}

func newEnum(value *string, def string, words ...string) *enum {
	*value = def
	return &enum{value, words}
}

func (e *enum) String() string { return *e.value }
func (e *enum) Type() string   { return "word" }

func (e *enum) Set(s string) error {
	if !slices.Contains(e.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(e.words, " "))
	}
	*e.value = s
	return nil
}

// addEnum adds an enum flag, with completion of its words.
func addEnum(cmd *cobra.Command, value *string, name, def, usage string, words ...string) {
	cmd.Flags().Var(newEnum(value, def, words...), name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}
