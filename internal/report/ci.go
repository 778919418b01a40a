package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// The elements of a JUnit file that CI systems agree on: those of the
// schema of Jenkins' xunit plugin (junit-10.xsd), which demands the number
// of errors and knows no skipped tests of all suites.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Failure *junitNote  `xml:"failure"`
		Skipped *junitNote  `xml:"skipped"`
		Output  *junitPlain `xml:"system-out"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	junitPlain struct {
		Text string `xml:",chardata"`
	}
)

// writeJUnit writes a suite per op, dtype and target. A warning passes,
// with its words as output; what is unverified is skipped.
func writeJUnit(w io.Writer, run *runner.Run) error {
	t := Count(run)
	doc := junitSuites{Tests: len(run.Results), Failures: t.Fail}
	for _, row := range byTarget(run) {
		r := row.first()
		class := clean(r.Op + "." + r.DType + "." + r.Target)
		s := junitSuite{Name: class, Tests: len(row.results)}
		for _, r := range row.results {
			c := junitCase{Name: clean(r.Case), Class: class}
			switch r.Status {
			case compare.Pass:
			case compare.Warn:
				c.Output = &junitPlain{text(r)}
			case compare.Fail:
				s.Failures++
				label, _ := cause(r)
				c.Failure = &junitNote{Message: headline(r), Type: label, Text: text(r)}
			default:
				s.Skipped++
				c.Skipped = &junitNote{Message: clean(reason(r))}
			}
			s.Cases = append(s.Cases, c)
		}
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// text is the whole explanation of a result.
func text(r *runner.Result) string {
	lines := explain(r)
	if r.Judgement != nil {
		for _, w := range r.Judgement.Warnings {
			lines = append(lines, "  "+clean(w.Code+": "+w.Text))
		}
	}
	return strings.Join(lines, "\n")
}

// headline says in one line why a result is not a pass.
func headline(r *runner.Result) string {
	switch {
	case r.Fault != "":
		return clean("fault: " + r.Fault)
	case r.Judgement != nil && (r.Judgement.Status != compare.Pass || len(r.Findings) == 0):
		return clean(summary(r))
	case len(r.Findings) > 0:
		return clean(finding(r.Findings[0]))
	}
	return clean(reason(r))
}

// reason says why a result is unverified.
func reason(r *runner.Result) string {
	switch {
	case r.Skipped != "":
		return r.Skipped
	case r.Fault != "":
		return r.Fault
	}
	return "no reason was recorded"
}

// writeGitHub writes workflow commands: an error per failing row, a
// warning per row that warns, a notice of the counts. GitHub shows ten of
// a kind in a step, so that a row says how many of its cases fail.
func writeGitHub(w io.Writer, run *runner.Run) error {
	d := newDocument(run, Options{})
	for _, x := range d.details {
		level := "error"
		if x.status == compare.Warn {
			level = "warning"
		}
		fmt.Fprintf(w, "::%s title=%s::%s\n", level, escapeProperty(x.title), escapeCommand(strings.Join(x.lines, "\n")))
	}
	level := "notice"
	if d.tally.Compared() == 0 {
		level = "error"
	}
	_, err := fmt.Fprintf(w, "::%s title=paritycheck::%s\n", level, d.tally)
	return err
}

// escapeCommand and escapeProperty are the escapes of GitHub's workflow
// commands (actions/toolkit, docs/commands.md).
func escapeCommand(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
