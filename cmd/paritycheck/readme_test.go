package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestReadme runs the commands of README.md's console blocks. What a block
// shows must come out, line by line; "..." stands for any lines, or for the
// rest of one, and "[exit status 1]" ends the output of a command that fails.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := consoleExamples(string(b))
	if len(examples) < 4 {
		t.Fatalf("found %d examples", len(examples))
	}
	if want := "go run ./cmd/paritycheck run --op rope_i"; examples[0].command != want {
		t.Errorf("the first example is %q, want %q", examples[0].command, want)
	}
	runExamples(t, examples)
}

// TestDocs runs the console blocks of the files of docs, each file in a
// folder of its own.
func TestDocs(t *testing.T) {
	for file, least := range map[string]int{
		"gate-a-pull-request.md": 6, "read-a-report.md": 1, "port-a-kernel.md": 8, "compare-two-machines.md": 8, "timing.md": 3,
	} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			examples := consoleExamples(string(b))
			if len(examples) < least {
				t.Fatalf("found %d examples, want %d", len(examples), least)
			}
			runExamples(t, examples)
		})
	}
}

func runExamples(t *testing.T, examples []example) {
	for _, e := range examples {
		t.Run(e.command, func(t *testing.T) {
			args, err := words(e.command)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case len(args) > 3 && slices.Equal(args[:3], []string{"go", "run", "./cmd/paritycheck"}):
				args = args[3:]
			case args[0] == "paritycheck":
				args = args[1:]
			default:
				t.Fatalf("command must begin with paritycheck or go run ./cmd/paritycheck")
			}
			code, stdout, stderr := execute(args...)
			if code != e.code {
				t.Errorf("got exit status %d, want %d; stderr: %s", code, e.code, stderr)
			}
			if missing := lacks(stdout+stderr, e.output); missing != "" {
				t.Errorf("the output lacks the line %q, or has it elsewhere; it is\n%s%s", missing, stdout, stderr)
			}
		})
	}
}

// An example is a command with what it is shown to print.
type example struct {
	command string
	output  []string
	code    int
}

func consoleExamples(text string) []example {
	var list []example
	in := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case l == "```console":
			in = true
		case strings.HasPrefix(l, "```"):
			in = false
		case in && strings.HasPrefix(l, "$ "):
			list = append(list, example{command: l[2:]})
		case in && len(list) > 0:
			e := &list[len(list)-1]
			if _, err := fmt.Sscanf(l, "[exit status %d]", &e.code); err != nil {
				e.output = append(e.output, l)
			}
		}
	}
	return list
}

// lacks returns the first of want that does not follow the one before it
// in got: at once, or somewhere where "..." stands between.
func lacks(got string, want []string) string {
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	at, skip := 0, false
	for _, w := range want {
		if w == "..." {
			skip = true
			continue
		}
		begin, cut := strings.CutSuffix(w, "...")
		i := slices.IndexFunc(lines[min(at, len(lines)):], func(l string) bool { return l == w || cut && strings.HasPrefix(l, begin) })
		if i < 0 || i > 0 && !skip {
			return w
		}
		at, skip = at+i+1, false
	}
	return ""
}

// words splits a command line with single quotes.
func words(s string) ([]string, error) {
	var out []string
	word, in, quoted := "", false, false
	for _, c := range s {
		switch {
		case c == '\'':
			quoted, in = !quoted, true
		case c == ' ' && !quoted:
			if in {
				out = append(out, word)
			}
			word, in = "", false
		default:
			word, in = word+string(c), true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed in %q", s)
	}
	if in {
		out = append(out, word)
	}
	return out, nil
}

func TestLacks(t *testing.T) {
	const got = "a\nb\nc\nd\n"
	for _, c := range []struct{ want, lacks string }{
		{"a b", ""}, {"b", "b"}, {"... b c", ""}, {"a ... d", ""}, {"a c", "c"}, {"... d a", "a"}, {"a ... e", "e"}, {"a... b...", ""}, {"a x...", "x..."},
	} {
		if l := lacks(got, strings.Fields(c.want)); l != c.lacks {
			t.Errorf("lacks %q: got %q, want %q", c.want, l, c.lacks)
		}
	}
}

// The examples of --help parse, and each command has its description.
func TestHelpExamples(t *testing.T) {
	root := newRootCmd()
	seen := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q must be there, without a period", cmd.CommandPath(), cmd.Short)
		}
		for l := range strings.Lines(cmd.Example) {
			line, ok := strings.CutPrefix(strings.TrimSpace(l), "$ paritycheck ")
			if !ok {
				continue
			}
			seen++
			args, err := words(line)
			if err != nil {
				t.Error(err)
				continue
			}
			c, rest, err := newRootCmd().Find(args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil || c.Name() == "paritycheck" {
				t.Errorf("example %q: got command %s, %v", line, c.Name(), err)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	if seen < 5 {
		t.Errorf("found %d examples", seen)
	}
}
