package compare

import "github.com/paritycheck/paritycheck/internal/tensor"

// An Expected is what an op says of a case's output: the truth and how
// far from it a correct kernel may be, element by element. All slices are
// parallel to the output; those that do not apply are nil.
type Expected struct {
	DType tensor.DType // type of the output

	// Exact holds the only right bits of a bit-exact op (class E0). NaNs
	// are one value; zeros of either sign are one value unless SignedZero.
	// Where it is nil, the truth is Value+Tail.
	Exact *tensor.Tensor

	// Value is the truth rounded to float64 and Tail what that rounding
	// left (nil where nothing is left, as in the truth of an f32 kernel).
	// An infinity or NaN in Value is the class that a right kernel gives.
	Value, Tail []float64

	// Hard limits |got-truth| for every correct kernel: exceeding it is a
	// proven fault. Likely is what the arithmetic makes probable:
	// exceeding it is a warning. The truth correctly rounded is always
	// within both, so that a zero Hard, or none, asks for just that.
	Hard, Likely []float64

	// Shared is what Hard would be of a kernel that shares each sum of Terms
	// terms out among the lanes of its launch, where Hard allows any order
	// of additions, one chain included. Exceeding it is a warning. It is nil
	// where Hard is that already, or nothing is summed.
	Shared []float64
	Terms  int

	// Allow widens the classes accepted beside the truth's own, where the
	// kernels' documented arithmetic leaves the choice open (overflow to
	// infinity within the bound needs no entry).
	Allow []Class

	// Mark sets elements apart that cannot be judged by a bound.
	Mark []Mark

	// SignedZero asks that a zero has the truth's sign.
	SignedZero bool

	// Tied, of an output of indices, reports whether bits as element i is
	// the index of an input equal to the one that Exact points at. It
	// explains a mismatch and excuses none. It may be nil.
	Tied func(i int, bits uint64) bool

	// Axes name the output's dimensions, outermost first, for saying where
	// mismatches lie. Their product is the number of elements.
	Axes []Axis

	// ULP is false for ops whose error is not proportional to the result
	// (sums, norms, rope, gelu's tail): the WORSE test is then made in
	// shares of the bound.
	ULP bool

	// MaxNotNearest limits the share of elements that are not the truth
	// correctly rounded; exceeding it makes the verdict WORSE. It is for
	// f16 and bf16 kernels that evaluate in f32 and round once, where 0.01
	// tells a wrong rounding mode (numerics.md 2.3). Zero is no limit.
	MaxNotNearest float64

	// Computed is the type that the op is defined to compute in where that
	// is narrower than DType, as candle's f64 norms compute in f32. It
	// changes no verdict; a note says so, since an error in ulp of DType then
	// looks like a failure of the port.
	Computed tensor.DType

	// Group is the number of elements that share a rounding error, such as
	// a row scaled by one norm: the statistical tests count N/Group
	// samples. Zero is one.
	Group int

	// Identity says that the result is an input as it stands (a copy), so
	// that an output equal to an input is no sign of a case that cannot
	// tell.
	Identity bool

	// Degenerate says that the case is meant to have an output of zeros or
	// of one value (equal rows, rows of -inf, a sum that cancels), so that
	// it is not MISTRUSTED for that.
	Degenerate bool
}

// An Axis is one dimension of an output.
type Axis struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// A Class is a set of kinds of value.
type Class uint8

// The kinds of value; NaNs of any sign and payload are one kind.
const (
	NaN Class = 1 << iota
	PosInf
	NegInf
	Finite
)

// A Mark says why an element cannot be judged by its bound.
type Mark uint8

// The marks.
const (
	Ordinary       Mark = iota
	IllConditioned      // the bound is undefined; any value is legal
	Undefined           // inputs lie in a documented undefined set; sides may differ
)

// Len is the number of elements.
func (e *Expected) Len() int {
	if e.Exact != nil {
		return e.Exact.Len()
	}
	return len(e.Value)
}
