package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// The golden files are read here as those read them that they are for.

func golden(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) < 5 {
		t.Fatalf("%s: found %d files, %v", pattern, len(files), err)
	}
	return files
}

// A page is what a renderer makes of Markdown, as far as a reader sees its
// structure.
type page struct {
	elements map[string]int
	tables   [][]int             // cells of each row of each table
	inside   map[string][]string // text of elements
	loose    string              // text of paragraphs
}

// render renders Markdown as GitHub does: with tables, and with HTML that
// is let through.
func render(t *testing.T, source []byte) page {
	t.Helper()
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithXHTML()))
	if err := md.Convert(source, &b); err != nil {
		t.Fatal(err)
	}
	p := page{elements: map[string]int{}, inside: map[string][]string{}}
	dec := xml.NewDecoder(strings.NewReader("<page>" + b.String() + "</page>"))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		switch x := tok.(type) {
		case xml.StartElement:
			name := x.Name.Local
			open = append(open, name)
			p.elements[name]++
			p.inside[name] = append(p.inside[name], "")
			switch name {
			case "table":
				p.tables = append(p.tables, nil)
			case "tr":
				p.tables[len(p.tables)-1] = append(p.tables[len(p.tables)-1], 0)
			case "td", "th":
				rows := p.tables[len(p.tables)-1]
				rows[len(rows)-1]++
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, name := range open {
				list := p.inside[name]
				list[len(list)-1] += string(x)
			}
			if open[len(open)-1] == "p" {
				p.loose += string(x)
			}
		}
	}
}

// Markdown renders as it is meant: tables as tables of even rows, details
// folded with what is in them, and nothing of a name as markup.
func TestMarkdownRenders(t *testing.T) {
	for _, file := range golden(t, "*.md") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := render(t, source)
		rows := 0
		for _, table := range p.tables {
			rows += len(table)
			for i, cells := range table {
				if len(table) < 2 || cells != table[0] || cells < 2 {
					t.Errorf("%s: row %d of a table has %d cells, its head %d", file, i, cells, table[0])
				}
			}
		}
		if lines := tableLine.FindAll(fences.ReplaceAll(source, nil), -1); len(lines) != rows+len(p.tables) { // the line under each head
			t.Errorf("%s: %d lines of tables became %d rows in %d tables", file, len(lines), rows, len(p.tables))
		}
		if n := bytes.Count(source, []byte("<details>")); n == 0 || p.elements["details"] != n || p.elements["summary"] != n {
			t.Errorf("%s: %d details became %d with %d summaries", file, n, p.elements["details"], p.elements["summary"])
		}
		for _, text := range p.inside["details"] {
			if len(strings.Fields(text)) < 4 {
				t.Errorf("%s: folded details hold only %q", file, text)
			}
		}
		if strings.Contains(p.loose, "|") && !strings.HasSuffix(file, "strange.md") || strings.Contains(p.loose, "```") || strings.Contains(p.loose, "**") {
			t.Errorf("%s: markup shows in the text: %q", file, p.loose)
		}
		for name := range p.elements {
			switch name {
			case "page", "p", "strong", "em", "table", "thead", "tbody", "tr", "td", "th", "details", "summary", "pre", "code", "h1", "h2", "h3", "h4", "h5", "br", "ul", "li", "sup":
			default:
				t.Errorf("%s: has an element %s", file, name)
			}
		}
	}
	// A name that is full of markup shows as it is.
	source, err := os.ReadFile(filepath.Join("testdata", "strange.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := render(t, source)
	if all := p.inside["page"][0]; !strings.Contains(all, "rope|i\\x1b[2J") || !strings.Contains(all, "a=`x`") || !strings.Contains(all, "try `apt` & <more>") {
		t.Errorf("names are not as they were given:\n%s", all)
	}
}

var (
	tableLine = regexp.MustCompile(`(?m)^\|.*\|$`)
	fences    = regexp.MustCompile("(?ms)^(```+)text\n.*?^```+$")
)

// JUnit files are valid by the schema of Jenkins' xunit plugin, which
// pytest's source holds: .ci/run fetches it.
func TestJUnitSchema(t *testing.T) {
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		gputest.Missing(t, "junit", err)
	}
	schema := os.Getenv("PARITYCHECK_JUNIT_XSD")
	if schema == "" {
		gputest.Missing(t, "junit", "PARITYCHECK_JUNIT_XSD names no schema")
	}
	check := func(file string) error { return exec.Command(lint, "--noout", "--schema", schema, file).Run() }
	for _, file := range golden(t, "*.xml") {
		if err := check(file); err != nil {
			t.Errorf("%s is not valid: %v", file, err)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.xml")
	if err := os.WriteFile(bad, []byte(`<testsuites skipped="1"/>`), 0o666); err != nil {
		t.Fatal(err)
	}
	if check(bad) == nil {
		t.Error("the schema takes a file that it should not")
	}
}

// benchstat reads the benchmark format, and finds each result.
func TestBenchstat(t *testing.T) {
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	exe := filepath.Join(t.TempDir(), "benchstat")
	if out, err := exec.Command("go", "build", "-o", exe, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		gputest.Missing(t, "benchstat", string(out))
	}
	for _, file := range golden(t, "*.bench") {
		cmd := exec.Command(exe, "-format", "csv", file)
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v: %s", file, err, errOut.String())
		}
		for _, line := range strings.Split(errOut.String(), "\n") {
			if strings.HasPrefix(line, file+":") || strings.Contains(line, "parsing") {
				t.Errorf("%s: benchstat says %s", file, line)
			}
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range benchLine.FindAllSubmatch(source, -1) {
			if name := string(m[1]); !strings.Contains(out.String(), name) {
				t.Errorf("%s: benchstat does not show %s:\n%s", file, name, out.String())
			}
		}
	}
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+) `)
