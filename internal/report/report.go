// Package report renders a runner.Run for people and for machines.
//
// All tabular formats come from one list of columns (columns.go): text is
// rounded and carries a unit, CSV holds base units at full precision, so
// that no format has a number that another lacks. JSON is the Run itself.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/seal"
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
	HTML     Format = "html"     // for a browser: one file, with pictures

	// Baseline is what later runs are held against, see package baseline.
	// It is for files alone, and only of runs that are fit for it.
	Baseline Format = "baseline"
)

// Formats are all formats, in the order of the documentation.
func Formats() []Format {
	return []Format{Table, Markdown, JSON, CSV, Bench, JUnit, GitHub, HTML}
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

// extensions are those of files, by format.
var extensions = []struct {
	ext    string
	format Format
}{
	{".baseline.json", Baseline}, // before .json
	{".txt", Table}, {".md", Markdown}, {".json", JSON}, {".csv", CSV}, {".bench", Bench}, {".xml", JUnit}, {".html", HTML},
}

// Extensions lists what FormatOf knows.
func Extensions() string {
	var list []string
	for _, e := range extensions {
		list = append(list, e.ext)
	}
	list = append(list[1:], list[0])
	return strings.Join(list, " ")
}

// FormatOf returns the format that a file's extension stands for.
func FormatOf(path string) (Format, error) {
	for _, e := range extensions {
		if strings.HasSuffix(strings.ToLower(path), e.ext) {
			return e.format, nil
		}
	}
	return "", fmt.Errorf("output file %q: extension must be one of %s", path, Extensions())
}

// Options change how a run is rendered, never what it says.
type Options struct {
	Color    bool // ANSI colours in the table
	Counters bool // columns of the interpreter's counters in tables, and how often modules were loaded

	// Changes, if not nil, are what changed from a baseline. They follow
	// the report in formats for people and CI systems.
	Changes *baseline.Comparison
	// AllowUnverified lets a run with unverified results become a baseline.
	AllowUnverified bool
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
	case HTML:
		err = writeHTML(&b, run, opts)
	case Baseline:
		err = writeBaseline(&b, run, opts)
	default:
		err = fmt.Errorf("unknown format %q: must be one of %s", f, formatNames())
	}
	if err == nil && opts.Changes != nil && ShowsChanges(f) && f != HTML {
		if f != GitHub {
			b.WriteString("\n")
		}
		err = WriteChanges(&b, opts.Changes, f)
	}
	if err != nil {
		return fmt.Errorf("rendering %s: %w", f, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// ShowsChanges reports whether Write shows Options.Changes in format f.
func ShowsChanges(f Format) bool { return f == Table || f == Markdown || f == GitHub || f == HTML }

func writeBaseline(w io.Writer, run *runner.Run, opts Options) error {
	b, err := baseline.Of(run)
	if err == nil {
		err = b.Check(opts.AllowUnverified)
	}
	if err != nil {
		return err
	}
	return b.Write(w)
}

// writeJSON writes run with its checksum (package seal).
func writeJSON(w io.Writer, run *runner.Run) error {
	sealed := *run
	sealed.Sum = seal.Blank
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&sealed); err != nil {
		return err
	}
	doc, err := seal.Put(b.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(doc)
	return err
}

// Read reads a run that was written as JSON. The error says whether it was
// cut off, is something else, is of a newer paritycheck, or was changed.
func Read(r io.Reader) (*runner.Run, error) {
	doc, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	run, err := decode(doc)
	if err == nil {
		err = seal.Check(doc, run.Sum)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	run.Sum = ""
	return run, nil
}

// decode reads a run whatever its checksum.
func decode(doc []byte) (*runner.Run, error) {
	if err := CheckSchema(doc, runner.Schema); err != nil {
		return nil, err
	}
	var run runner.Run
	dec := json.NewDecoder(bytes.NewReader(doc))
	if err := dec.Decode(&run); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more follows its end at byte %d", dec.InputOffset())
	}
	for i := range run.Results {
		r := &run.Results[i]
		switch r.Status {
		case compare.Pass, compare.Warn, compare.Fail, compare.Unverified:
		default:
			return nil, fmt.Errorf("results[%d]: unknown status %q", i, r.Status)
		}
	}
	return &run, nil
}

// CheckSchema says why doc is no JSON document of schema want, which is a
// name and a version: paritycheck.run/v1.
func CheckSchema(doc []byte, want string) error {
	if len(bytes.TrimSpace(doc)) == 0 {
		return errors.New("the file is empty")
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if err := dec.Decode(&head); errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends in the middle, after %d bytes: it was cut off", len(doc))
	} else if err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
			return fmt.Errorf("it is not JSON of paritycheck: %w", err)
		}
	}
	if head.Schema == nil {
		return fmt.Errorf("it is not JSON of paritycheck: no schema, which must be %q", want)
	}
	name, version, _ := strings.Cut(want, "/")
	if got, v, ok := strings.Cut(*head.Schema, "/"); ok && got == name && v != version {
		return fmt.Errorf("schema %q is not %q: another version of paritycheck wrote it, use that one or a newer", *head.Schema, want)
	}
	if *head.Schema != want {
		return fmt.Errorf("schema must be %q, not %q", want, *head.Schema)
	}
	return nil
}

// A Tally counts results, one per case and target, by status.
type Tally struct {
	Pass, Warn, Fail, Unverified int
}

// Count tallies a run.
func Count(run *runner.Run) Tally {
	var t Tally
	for i := range run.Results {
		t.add(run.Results[i].Status)
	}
	return t
}

func (t *Tally) add(s compare.Status) {
	switch s {
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

// Compared is the number of results in which something was judged.
func (t Tally) Compared() int { return t.Pass + t.Warn + t.Fail }

// String is the count line that ends a report.
func (t Tally) String() string {
	return fmt.Sprintf("%d pass, %d warn, %d FAIL, %d unverified", t.Pass, t.Warn, t.Fail, t.Unverified)
}
