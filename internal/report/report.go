// Package report renders a runner.Run for people and for machines.
//
// All tabular formats come from one list of columns (columns.go): text is
// rounded and carries a unit, CSV holds base units at full precision, so
// that no format has a number that another lacks. JSON is the Run itself.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A Format is a way to render a run.
type Format string

// The formats.
const (
	Table    Format = "table"    // for a terminal
	Markdown Format = "markdown" // for a pull request
	JSON     Format = "json"     // everything, schema paritycheck.run/v1
	CSV      Format = "csv"      // one record per case and target
	Bench    Format = "bench"    // Go benchmark format, for benchstat
	JUnit    Format = "junit"    // for CI systems
	GitHub   Format = "github"   // workflow annotations
)

// Formats are all formats, in the order of the documentation.
func Formats() []Format {
	return []Format{Table, Markdown, JSON, CSV, Bench, JUnit, GitHub}
}

// ParseFormat returns the format called name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
	}
	return "", fmt.Errorf("unknown format %q: must be one of %s", name, formatNames())
}

func formatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, " ")
}

// FormatOf returns the format that a file's extension stands for.
func FormatOf(path string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".txt":
		return Table, nil
	case ".md":
		return Markdown, nil
	case ".json":
		return JSON, nil
	case ".csv":
		return CSV, nil
	case ".bench":
		return Bench, nil
	case ".xml":
		return JUnit, nil
	default:
		return "", fmt.Errorf("output file %q: extension must be one of .txt .md .json .csv .bench .xml", path)
	}
}

// Options change how a run is rendered, never what it says.
type Options struct {
	Color    bool // ANSI colours in the table
	Counters bool // columns of the interpreter's counters in tables
}

// Write renders run.
func Write(w io.Writer, run *runner.Run, f Format, opts Options) error {
	// One Write, so that an error in the middle leaves no half report.
	var b bytes.Buffer
	var err error
	switch f {
	case Table:
		err = writeTable(&b, run, opts)
	case Markdown:
		err = writeMarkdown(&b, run, opts)
	case JSON:
		err = writeJSON(&b, run)
	case CSV:
		err = writeCSV(&b, run)
	case Bench:
		err = writeBench(&b, run)
	case JUnit:
		err = writeJUnit(&b, run)
	case GitHub:
		err = writeGitHub(&b, run)
	default:
		err = fmt.Errorf("unknown format %q: must be one of %s", f, formatNames())
	}
	if err != nil {
		return fmt.Errorf("rendering %s: %w", f, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func writeJSON(w io.Writer, run *runner.Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(run)
}

// Read reads a run that was written as JSON.
func Read(r io.Reader) (*runner.Run, error) {
	var run runner.Run
	dec := json.NewDecoder(r)
	if err := dec.Decode(&run); err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	if run.Schema != runner.Schema {
		return nil, fmt.Errorf("reading a run: schema must be %q, not %q", runner.Schema, run.Schema)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("reading a run: more follows its end at byte %d", dec.InputOffset())
	}
	for i := range run.Results {
		switch s := run.Results[i].Status; s {
		case compare.Pass, compare.Warn, compare.Fail, compare.Unverified:
		default:
			return nil, fmt.Errorf("reading a run: results[%d]: unknown status %q", i, s)
		}
	}
	return &run, nil
}

// A Tally counts results, one per case and target, by status.
type Tally struct {
	Pass, Warn, Fail, Unverified int
}

// Count tallies a run.
func Count(run *runner.Run) Tally {
	var t Tally
	for i := range run.Results {
		switch run.Results[i].Status {
		case compare.Pass:
			t.Pass++
		case compare.Warn:
			t.Warn++
		case compare.Fail:
			t.Fail++
		default: // an unknown status is no success
			t.Unverified++
		}
	}
	return t
}

// Compared is the number of results in which something was judged.
func (t Tally) Compared() int { return t.Pass + t.Warn + t.Fail }

// String is the count line that ends a report.
func (t Tally) String() string {
	return fmt.Sprintf("%d pass, %d warn, %d FAIL, %d unverified", t.Pass, t.Warn, t.Fail, t.Unverified)
}
