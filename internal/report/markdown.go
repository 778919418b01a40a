package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// writeMarkdown writes the report for a pull request. It opens with the
// count line, since that is what a reader wants.
func writeMarkdown(w io.Writer, run *runner.Run, opts Options) error {
	d := newDocument(run, opts)
	fmt.Fprintf(w, "**%s**\n", d.tally)
	if len(d.rows) > 0 {
		fmt.Fprintln(w)
		plain := func(_ compare.Status, s string) string { return s }
		if err := layout(w, d, true, escapeMarkdown, plain); err != nil {
			return err
		}
	}
	for _, x := range d.details {
		fmt.Fprintf(w, "\n**%s** %s\n\n", x.status, escapeMarkdown(x.title))
		fence(w, x.lines)
	}
	if len(d.notes) > 0 {
		fmt.Fprintln(w)
		for i, n := range d.notes {
			fmt.Fprintf(w, "%s %s<br>\n", superscript([]int{i + 1}), escapeMarkdown(n))
		}
	}
	lines := make([]string, len(d.config))
	for i, s := range d.config {
		lines[i] = s.key + ": " + s.value
	}
	fmt.Fprint(w, "\n<details><summary>environment</summary>\n\n")
	fence(w, lines)
	_, err := fmt.Fprint(w, "\n</details>\n")
	return err
}

// fence writes lines as code. The fence is longer than any run of
// backquotes within.
func fence(w io.Writer, lines []string) {
	text := strings.Join(lines, "\n")
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	fmt.Fprintf(w, "%stext\n%s\n%s\n", ticks, text, ticks)
}

// markdownEscapes makes markup and HTML plain text.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "[", `\[`, "]", `\]`,
)

// escapeMarkdown makes s one line of plain text, fit for a table's cell.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(clean(s)) }
