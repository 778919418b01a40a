package report

import (
	"encoding/csv"
	"io"

	"github.com/paritycheck/paritycheck/internal/runner"
)

// writeCSV writes one record per case and target, in base units at full
// precision; a value that does not exist is empty.
func writeCSV(w io.Writer, run *runner.Run) error {
	cw := csv.NewWriter(w)
	var cols []column
	var head []string
	for _, c := range columns() {
		if c.raw != nil {
			cols = append(cols, c)
			head = append(head, c.key)
		}
	}
	if err := cw.Write(head); err != nil {
		return err
	}
	for _, r := range byCase(run) {
		rec := make([]string, len(cols))
		for i, c := range cols {
			rec[i] = c.raw(r)
		}
		if err := cw.Write(rec); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
