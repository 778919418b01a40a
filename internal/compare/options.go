package compare

import "github.com/paritycheck/paritycheck/internal/tensor"

// Options are what the judge may be told beside the outputs. The zero
// value is fit for use.
type Options struct {
	// Name and Other name the two sides in sentences: "HIP" and "CUDA"
	// where they are empty.
	Name, Other string

	// Repeats are outputs of further launches of the same case.
	Repeats []*tensor.Tensor
	// Nondeterministic says that the op declares its result to vary
	// between launches: repeats that differ within the bound then pass.
	Nondeterministic bool
	// BitExact asks for the counterpart's bits (parity class E0) of an op
	// whose truth has a bound.
	BitExact bool

	// OtherExpected is what is expected of the counterpart where its
	// arithmetic has another bound; nil is what is expected of the output.
	OtherExpected *Expected

	// Inputs are the case's inputs, for seeing that an output is one of
	// them unchanged. Those of another type or size than the output's are
	// passed over.
	Inputs []Input
	// Poison holds the bytes that the output was filled with before its
	// launches; nil where it was not filled.
	Poison []byte
	// Block is the number of threads of a block and Wave of a wave; zero
	// where unknown. Faults often repeat with them.
	Block, Wave int
}

// An Input is an input of a case, by its parameter's name.
type Input struct {
	Name   string
	Tensor *tensor.Tensor
}

func (o *Options) name() string {
	if o.Name == "" {
		return "HIP"
	}
	return o.Name
}

func (o *Options) other() string {
	if o.Other == "" {
		return "CUDA"
	}
	return o.Other
}
