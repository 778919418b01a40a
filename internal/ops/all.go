package ops

import "github.com/paritycheck/paritycheck/internal/tensor"

// All returns the op table, in the order of reports.
func All() []*Op {
	var all []*Op
	for _, family := range [][]*Op{
		ropeOps(),
		indexingOps(),
		normOps(),
		softmaxOps(),
		unaryOps(),
		upsampleOps(),
		reduceOps(),
		binaryOps(),
		affineOps(),
		ternaryOps(),
		fillOps(),
		castOps(),
	} {
		all = append(all, family...)
	}
	return all
}

// Families returns the families of all, in order, each once.
func Families(all []*Op) []string {
	var names []string
	seen := map[string]bool{}
	for _, o := range all {
		if !seen[o.Family] {
			seen[o.Family] = true
			names = append(names, o.Family)
		}
	}
	return names
}

// elements are the element types that most of candle's kernels have.
func elements() []tensor.DType {
	return []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.I64, tensor.U32, tensor.U8}
}

// floats are the variants of an op that exists for the four
// floating-point types.
func floats() []Variant {
	return []Variant{{T: tensor.F64}, {T: tensor.F32}, {T: tensor.F16}, {T: tensor.BF16}}
}
