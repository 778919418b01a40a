package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// writeTable writes the report for a terminal: what the run depended on,
// the table, where rows fail, footnotes, and the count line.
func writeTable(w io.Writer, run *runner.Run, opts Options) error {
	d := newDocument(run, opts)
	for _, s := range d.config {
		fmt.Fprintf(w, "%s: %s\n", s.key, s.value)
	}
	paint := func(_ compare.Status, s string) string { return s }
	if opts.Color {
		paint = func(status compare.Status, s string) string {
			return colors[status] + s + reset
		}
	}
	if len(d.rows) > 0 {
		fmt.Fprintln(w)
		if err := layout(w, d, false, clean, paint); err != nil {
			return err
		}
	}
	for _, x := range d.details {
		fmt.Fprintf(w, "\n%s %s\n", paint(x.status, string(x.status)), x.title)
		for _, line := range x.lines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if len(d.notes) > 0 {
		fmt.Fprintln(w)
		for i, n := range d.notes {
			fmt.Fprintf(w, "%s %s\n", superscript([]int{i + 1}), n)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", d.tally)
	return err
}

const reset = "\x1b[0m"

var colors = map[compare.Status]string{
	compare.Pass:       "\x1b[32m",
	compare.Warn:       "\x1b[33m",
	compare.Fail:       "\x1b[1;31m",
	compare.Unverified: "\x1b[2m",
}

// layout writes the document's table, as text or as Markdown.
func layout(w io.Writer, d *document, markdown bool, escape func(string) string, paint func(compare.Status, string) string) error {
	head := make([]string, len(d.cols))
	right := make([]bool, len(d.cols))
	for j, c := range d.cols {
		head[j], right[j] = c.name, c.right
	}
	rows := make([][]string, len(d.rows))
	for i, r := range d.rows {
		rows[i] = make([]string, len(d.cols))
		for j, c := range d.cols {
			rows[i][j] = escape(c.text(r))
			if c.key == "status" {
				rows[i][j] = paint(r.status, rows[i][j]) + superscript(d.marks[i])
			}
		}
	}
	return grid(w, head, right, rows, markdown)
}

// Grid writes rows under a head in aligned columns. Columns for which
// right is true hold numbers; right may be nil. Cells are cleaned of
// control characters.
func Grid(w io.Writer, head []string, right []bool, rows [][]string) error {
	cleaned := make([][]string, len(rows))
	for i, r := range rows {
		for _, c := range r {
			cleaned[i] = append(cleaned[i], clean(c))
		}
	}
	return grid(w, head, right, cleaned, false)
}

// MarkdownGrid writes what Grid does as a table in Markdown.
func MarkdownGrid(w io.Writer, head []string, right []bool, rows [][]string) error {
	cleaned := make([][]string, len(rows))
	for i, r := range rows {
		for _, c := range r {
			cleaned[i] = append(cleaned[i], strings.ReplaceAll(clean(c), "|", `\|`))
		}
	}
	return grid(w, head, right, cleaned, true)
}

// grid keeps rows until it returns.
func grid(w io.Writer, head []string, right []bool, rows [][]string, markdown bool) error {
	align := make(tw.Alignment, len(head))
	for j := range head {
		align[j] = tw.AlignLeft
		if right != nil && right[j] {
			align[j] = tw.AlignRight
		}
	}
	opts := []tablewriter.Option{
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithEastAsian(tw.Off), // widths must not depend on the locale
		tablewriter.WithAlignment(align),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	}
	if markdown {
		opts = append(opts, tablewriter.WithRenderer(renderer.NewMarkdown()))
	} else {
		opts = append(opts,
			tablewriter.WithRendition(tw.Rendition{
				Borders:  tw.BorderNone,
				Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
			}),
			tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}))
	}
	var b bytes.Buffer
	t := tablewriter.NewTable(&b, opts...)
	t.Header(head)
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
