package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// actionlint is the linter of workflow files that CI runs.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

// yamlBlocks are those of the documentation, by the file and number.
func yamlBlocks(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(files) < 4 {
		t.Fatalf("found %v, %v", files, err)
	}
	var blocks []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range yamlBlock.FindAllStringSubmatch(string(b), -1) {
			blocks = append(blocks, m[1])
		}
	}
	if len(blocks) < 3 {
		t.Fatalf("found %d blocks of YAML", len(blocks))
	}
	return blocks
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// TestWorkflows: GitHub's linter takes the workflows of the documentation.
func TestWorkflows(t *testing.T) {
	dir := t.TempDir()
	exe, err := exec.LookPath("actionlint")
	if err != nil {
		if !strings.Contains(os.Getenv("PARITYCHECK_REQUIRE"), "actionlint") {
			gputest.Missing(t, "actionlint", err)
		}
		install := exec.Command("go", "install", actionlint)
		install.Env = append(os.Environ(), "GOBIN="+dir)
		if out, err := install.CombinedOutput(); err != nil {
			gputest.Missing(t, "actionlint", string(out))
		}
		exe = filepath.Join(dir, "actionlint")
	}
	config := filepath.Join(dir, "actionlint.yaml")
	if err := os.WriteFile(config, []byte("self-hosted-runner:\n  labels: [amd-gpu]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(text string) (string, error) {
		t.Helper()
		file := filepath.Join(dir, "workflow.yaml")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(exe, "-no-color", "-config-file", config, file).CombinedOutput()
		return string(out), err
	}
	linted := 0
	for _, text := range yamlBlocks(t) {
		if !strings.Contains(text, "runs-on:") {
			continue
		}
		linted++
		if out, err := check(text); err != nil {
			t.Errorf("%v: %s\n%s", err, out, text)
		}
		if out, err := check(strings.Replace(text, "runs-on:", "runs-in:", 1)); err == nil {
			t.Errorf("the linter takes a workflow without runs-on: %s", out)
		}
	}
	if linted < 2 {
		t.Errorf("linted %d workflows", linted)
	}
}

// The commands in the jobs of the documentation parse.
func TestJobCommands(t *testing.T) {
	seen := 0
	for _, text := range yamlBlocks(t) {
		text = regexp.MustCompile(`>\n\s+`).ReplaceAllString(text, "")        // folded scalars
		text = regexp.MustCompile(`\n\s+(-\S)`).ReplaceAllString(text, " $1") // their later lines, and items of lists
		for _, m := range jobCommand.FindAllStringSubmatch(text, -1) {
			line := strings.NewReplacer(`"`, "", "$CI_NODE_INDEX/$CI_NODE_TOTAL", "1/4").Replace(m[1])
			line = regexp.MustCompile(`\$\{\{.*?\}\}`).ReplaceAllString(line, "x")
			line, _, _ = strings.Cut(line, " - ")
			args, err := words(line)
			if err != nil {
				t.Error(err)
				continue
			}
			seen++
			t.Log(line)
			cmd, rest, err := newRootCmd().Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil || cmd.Name() == "paritycheck" {
				t.Errorf("%q: got command %s, %v", line, cmd.Name(), err)
			}
		}
	}
	if seen < 8 {
		t.Errorf("found %d commands", seen)
	}
}

var jobCommand = regexp.MustCompile(`(?m)(?:\./paritycheck|go run \./cmd/paritycheck) ([a-z]+.*)$`)
