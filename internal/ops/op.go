// Package ops is the table of operations: for each its kernels' symbols
// and parameters, launch geometry, cases, inputs, truth and bound. One
// file holds one family; All lists every op.
//
// To add an op: write its Op value in the file of its family, add it to
// All, and put its kernel into kernels/hip and kernels/cuda. Nothing else
// changes.
package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// An Op is everything paritycheck knows of one operation.
type Op struct {
	Name    string // as given to --op: "rope_i"
	Family  string // stem of its files in kernels/hip and kernels/cuda: "rope"
	Module  string // candle's module: "reduce"
	Symbol  string // with {T} and {I} for the types: "rope_i_{T}"
	Summary string // one line
	Formula string // what is computed, in lines
	Bound   string // the error bound's formula and the sources of its constants
	Parity  Parity

	Variants []Variant
	Params   []Param // in the order of the C signature

	// Sums is true where a kernel adds terms up in an order of its own, so
	// that it matters how many lanes share the sum.
	Sums bool
	// Nondeterministic is true where the order of atomics may change the
	// result between runs.
	Nondeterministic bool

	// Cases lists the cases of a variant; awkward sizes before large ones.
	Cases func(v Variant, level Level) []Case
	// Bind makes a case's arguments and launch geometry. It is a pure
	// function of the case and r, which is seeded by (seed, case).
	Bind func(c *Case, r *Rand) *Problem
	// Expect computes the truth and bounds of the output.
	Expect func(p *Problem) *compare.Expected
	// Trace names the inputs that output element i depends on, with their
	// values, for a report of that element. It may be nil.
	Trace func(p *Problem, i int) []Input
	// Timed lists the cases that stand for a scale, for timing; none where
	// the op does not occur at it.
	Timed func(v Variant, s Scale) []Timed
	// tune makes the launch for which the bundled kernels are fastest; nil is
	// candle's, which Bind makes.
	tune func(q *Problem)
	// Work gives the bytes a perfect kernel moves and the operations it
	// does, for rates.
	Work func(p *Problem) (bytes, flops int64)
}

// A Parity is how close HIP and CUDA are expected to be, by numerics.md
// section 0.4.
type Parity string

// The parity classes.
const (
	E0 Parity = "E0 bit-exact"
	E1 Parity = "E1 bit-exact where the same products are fused"
	E2 Parity = "E2 math library: within the bound"
	E3 Parity = "E3 order of additions differs: within the bound"
	E4 Parity = "E4 order of atomics varies: within the bound"
	E5 Parity = "E5 undefined for some inputs"
)

// A Variant is the choice of types of one kernel.
type Variant struct {
	T tensor.DType // element type
	I tensor.DType // type of indices; Invalid where the op has none
}

// String is the variant's part of a case name: "f32", "u8_f32".
func (v Variant) String() string {
	if v.I != tensor.Invalid {
		return v.I.String() + "_" + v.T.String()
	}
	return v.T.String()
}

// Kernel is the symbol of variant v.
func (o *Op) Kernel(v Variant) string {
	return strings.NewReplacer("{T}", v.T.String(), "{I}", v.I.String()).Replace(o.Symbol)
}

// A Role is what a kernel does with a parameter.
type Role uint8

// The roles of parameters.
const (
	In     Role = iota // pointer, read only
	Out                // pointer, every element is written
	InOut              // pointer, read and written in place
	Scalar             // value
)

// A Param is one parameter of a kernel's C signature.
type Param struct {
	Role Role
	Type Type
	Name string
}

// A Type is a parameter's element type: a dtype, or one that depends on
// the variant.
type Type uint8

// The parameter types that depend on the variant; Type(d) is the dtype d.
const (
	T Type = 0x80 + iota // the variant's element type
	I                    // the variant's index type
)

// The dtypes of parameters, with their C names in candle's sources.
const (
	SizeT = Type(tensor.U64) // size_t
	U32   = Type(tensor.U32) // uint32_t
	Int   = Type(tensor.I32) // int
	U8    = Type(tensor.U8)  // uint8_t
	F32   = Type(tensor.F32) // float
	F64   = Type(tensor.F64) // double
)

// DType resolves t for variant v.
func (t Type) DType(v Variant) tensor.DType {
	switch t {
	case T:
		return v.T
	case I:
		return v.I
	}
	return tensor.DType(t)
}

// A Level is how many cases are wanted.
type Level uint8

// The levels.
const (
	Fast     Level = iota // the default: seconds per op in the interpreter
	Thorough              // everything
)

// A Case is one concrete problem of an op.
type Case struct {
	Op      *Op
	Variant Variant
	Dims    []Dim  // in the order they are printed
	Class   string // input class: "normal", "cancel", ...
}

// A Dim is a named size or choice of a case.
type Dim struct {
	Name  string
	Value int64
	Text  string // printed in place of Value, as in cos=3d; may be empty
}

// D returns a Dim of a number.
func D(name string, value int) Dim { return Dim{Name: name, Value: int64(value)} }

// Name is the case's full name, such as
// rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal. It identifies the case in
// reports, filters and recordings.
func (c *Case) Name() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s/", c.Op.Name, c.Variant)
	for i, d := range c.Dims {
		if i > 0 {
			b.WriteByte(',')
		}
		if d.Text != "" {
			fmt.Fprintf(&b, "%s=%s", d.Name, d.Text)
		} else {
			fmt.Fprintf(&b, "%s=%d", d.Name, d.Value)
		}
	}
	b.WriteByte('/')
	b.WriteString(c.Class)
	return b.String()
}

// Dim returns the value of a dimension. Asking for one the case lacks is
// a mistake in the op table and panics.
func (c *Case) Dim(name string) int {
	for _, d := range c.Dims {
		if d.Name == name {
			return int(d.Value)
		}
	}
	panic("ops: " + c.Op.Name + " has no dimension " + name)
}

// A Problem is a case made concrete: every argument, and the launch.
type Problem struct {
	Case   *Case
	Args   []Arg // parallel to Op.Params
	Grid   gpu.Dim3
	Block  gpu.Dim3
	Shared int // dynamic shared memory, bytes
	// Arithmetic is that of the kernel whose output Expect bounds. It
	// changes neither inputs nor truth.
	Arithmetic Arithmetic
	// Aux carries what Bind worked out and Expect needs. It may be nil.
	Aux any
}

// An Arg is the value of one parameter.
type Arg struct {
	// Buf is a pointer parameter's contents; of an Out parameter only its
	// type and shape count, unless Initial. A nil Buf is the null pointer.
	Buf *tensor.Tensor
	// Offset is the element of Buf that the pointer points to; red zones
	// stand around all of Buf.
	Offset int
	// Initial says of an Out parameter that Buf is what its memory holds
	// before the launch: in this case the kernel works in place.
	Initial bool
	// Int or Float is a scalar parameter's value, by its type.
	Int   int64
	Float float64
}

// An Arithmetic is what is declared of how a kernel computes: facts of its
// source that no output shows by itself. Bounds are as narrow as they allow;
// the zero value says that nothing is known.
type Arithmetic struct {
	Half Half // on f16 and bf16
	// Lanes is how many lanes at least share each sum, each with a part of
	// its own, where there are as many terms. Below 2 any order of
	// additions is right, one chain included.
	Lanes int
	// LibraryExp says that e^x is the library's, of x less the row's largest
	// element, rounded, and is then scaled by the sum. Others may take
	// 2^(x*log2(e)), or take the sum's logarithm off before.
	LibraryExp bool
}

// Bundled is the arithmetic of the bundled kernels: a group of 32 lanes or
// more adds up a row, the lanes' parts in a tree (kernels/hip/group.h), and
// libm.h has the library's functions.
func Bundled() Arithmetic { return Arithmetic{Half: InFloat, Lanes: 32, LibraryExp: true} }

// A Half is how a kernel computes on f16 and bf16.
type Half uint8

const (
	// InSteps is an arithmetic that may round every step to the type, as
	// candle's kernels do, and which is all that can be said of a kernel
	// that nothing is known of.
	InSteps Half = iota
	// InFloat is that of a kernel that computes in float with the library's
	// functions of float, and rounds to the type once, where it stores.
	InFloat
)

// Halves are their names, as flags and reports have them.
var Halves = [...]string{InSteps: "steps", InFloat: "float"}

func (h Half) String() string { return Halves[h] }

// Matters is a without what makes no difference to o's kernel of variant v:
// what is expected of two kernels is one if it is equal for both.
func (a Arithmetic) Matters(o *Op, v Variant) Arithmetic {
	if !isHalf(v.T) {
		a.Half = InSteps
	}
	if !o.Sums || !v.T.IsFloat() {
		a.Lanes, a.LibraryExp = 0, false
	}
	return a
}

// inFloat reports whether p's kernel computes on a half type in float.
func (p *Problem) inFloat() bool {
	return p.Arithmetic.Half == InFloat && isHalf(p.Case.Variant.T)
}

// isHalf reports whether d is a float type of 16 bits.
func isHalf(d tensor.DType) bool { return d.IsFloat() && d.Size() == 2 }

// Arg returns the argument of the parameter called name.
func (p *Problem) Arg(name string) *Arg {
	for i := range p.Case.Op.Params {
		if p.Case.Op.Params[i].Name == name {
			return &p.Args[i]
		}
	}
	panic("ops: " + p.Case.Op.Name + " has no parameter " + name)
}

// Role is what the kernel does with parameter i in this case: that of the
// signature, but InOut for an Out parameter with initial contents.
func (p *Problem) Role(i int) Role {
	r := p.Case.Op.Params[i].Role
	if r == Out && p.Args[i].Initial {
		return InOut
	}
	return r
}

// Hash identifies what a kernel is given: the launch and every argument
// but the contents of outputs, which are none of its business. Equal
// hashes mean equal work for equal kernels.
func (p *Problem) Hash() string {
	h := sha256.New()
	fmt.Fprintln(h, p.Case.Op.Kernel(p.Case.Variant), p.Grid, p.Block, p.Shared)
	for i, param := range p.Case.Op.Params {
		a := &p.Args[i]
		switch {
		case param.Role == Scalar:
			fmt.Fprintf(h, "%s=%d,%x\n", param.Name, a.Int, math.Float64bits(a.Float))
		case a.Buf == nil:
			fmt.Fprintf(h, "%s=null\n", param.Name)
		default:
			fmt.Fprintf(h, "%s=%v[%d]+%d\n", param.Name, a.Buf.DType, a.Buf.Len(), a.Offset)
			if p.Role(i) != Out {
				h.Write(a.Buf.Data)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Output returns the index of the parameter that holds the result: the
// last Out or InOut.
func (o *Op) Output() int {
	for i := len(o.Params) - 1; i >= 0; i-- {
		if r := o.Params[i].Role; r == Out || r == InOut {
			return i
		}
	}
	panic("ops: " + o.Name + " has no output parameter")
}

// An Input is one value that an output element depends on.
type Input struct {
	Name  string      `json:"name"`
	Index int         `json:"index"` // element of the parameter's buffer
	Value compare.Num `json:"value"`
}

// String is the level's name in reports.
func (l Level) String() string {
	if l == Thorough {
		return "thorough"
	}
	return "fast"
}
