package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// u32 is the unit roundoff of float.
const u32 = 0x1p-24

// gamma bounds the relative error of h roundings in a row (numerics.md
// 4.1); h*u alone is valid for sums, and what is used where h*u is large.
func gamma(h, u float64) float64 {
	if x := float64(h * u); x < 0.5 {
		return x / (1 - x)
	}
	return float64(h * u)
}

// lambda is sqrt(2*ln(2m/delta)) for m = 1e6 outputs and a false-alarm
// probability delta of 1e-9: a sum of h independent roundings stays below
// lambda*sqrt(h)*u but with that probability (numerics.md 4.1).
const lambda = 8.4

// additions is the longest chain of additions in a sum of n terms by a
// kernel whose order is not known but that keeps 32 lanes busy: strided
// partial sums, then a tree over lanes and waves (numerics.md 4.1).
func additions(n int) float64 { return float64((n+31)/32 + 10) }

// likelyAdditions is the chain of additions whose worst case a random sum
// of n terms does not exceed.
func likelyAdditions(n int) float64 {
	h := additions(n)
	return math.Min(h, lambda*math.Sqrt(h))
}

// store bounds one rounding to d of a number no larger than |y|+e: half
// the spacing there.
func store(d tensor.DType, y, e float64) float64 {
	return d.ULP(math.Min(math.Abs(y)+e, d.MaxFinite())) / 2
}
