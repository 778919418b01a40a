package ops

import (
	_ "embed"
	"strings"
)

//go:embed candle-kernels.tsv
var candleKernels string

// A Symbol is a kernel by its module and name.
type Symbol struct {
	Module string `json:"module"`
	Name   string `json:"kernel"`
}

// Candle returns the kernels that candle-kernels exports, in the order of
// the table's modules. The table's first line says where it is from.
func Candle() []Symbol {
	var all []Symbol
	for line := range strings.Lines(candleKernels) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		module, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			panic("ops: candle-kernels.tsv: line without a tab: " + line) // embedded
		}
		all = append(all, Symbol{module, name})
	}
	return all
}
