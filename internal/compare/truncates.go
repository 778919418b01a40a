package compare

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// cuts counts how a half type's elements lie that are not what rounding to
// nearest gives, to tell a store that truncates.
type cuts struct {
	d tensor.DType
	// Of truths that round away from zero, and those of them that were cut
	// off; of truths that round toward zero, and those that did.
	away, cut    int
	toward, kept int
}

// The least of truths that round away from zero for a conclusion, and the
// share of all that must be as truncation has them.
const (
	fewestCut = 128
	cutShare  = 0.99
)

// add counts a reading of got.
func (c *cuts) add(r *reading, got float64) {
	switch {
	case !r.finite || math.IsInf(r.round, 0) || r.round == r.truth:
	case math.Abs(r.round) < math.Abs(r.truth):
		c.toward++
		if r.nearest {
			c.kept++
		}
	default:
		c.away++
		if d := c.d; d.Decode(d.Encode(r.round)-1) == got { // one down in magnitude
			c.cut++
		}
	}
}

// truncates reports whether the output is the truth rounded toward zero, one
// ulp short wherever rounding to nearest goes away from zero. No kernel that
// rounds to nearest gives that, whatever its steps: such an output is
// RN(t+s), where s is what the steps before the last left. With t anywhere
// between two numbers, RN(t+s) is the lower where t+s is less than half an ulp
// above it. So for all truths that round away from zero to be cut, s has to be
// half an ulp down at least, and for those that round toward zero to stay, half
// an ulp at most. An error that is relative, or that varies, is not half an ulp
// in 99 % of elements: an ulp is 2 to 1 against the numbers of a binade.
func (c *cuts) truncates() bool {
	return c.away >= fewestCut && float64(c.cut) >= cutShare*float64(c.away) && float64(c.kept) >= cutShare*float64(c.toward)
}
