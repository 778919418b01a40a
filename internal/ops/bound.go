package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
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

// stored bounds what is off by e at y in float and then rounded to the half
// type d, below whose smallest number float has more.
func stored(d tensor.DType, y, e float64) float64 {
	e += tensor.F32.MinSubnormal()
	return e + store(d, y, e)
}

// store bounds one rounding to d of a number no larger than |y|+e: half
// the spacing there.
func store(d tensor.DType, y, e float64) float64 {
	return d.ULP(math.Min(math.Abs(y)+e, d.MaxFinite())) / 2
}

// A productBound bounds a sum of one or two products, each and the sum
// rounded or fused: rope and affine (numerics.md 4.2).
type productBound struct {
	a     tensor.DType // of the arithmetic
	u     float64      // of a
	store tensor.DType // half type that the sum is rounded to, or Invalid
}

func newProductBound(p *Problem) productBound {
	d := p.Case.Variant.T
	b := productBound{a: d}
	if p.inFloat() {
		b.a, b.store = tensor.F32, d
	}
	b.u = b.a.UnitRoundoff()
	return b
}

// rounding is u*|x*k|. u goes in before the product, which may leave f64's
// range.
func (b productBound) rounding(x, k float64) float64 {
	return math.Abs(float64(float64(b.u*x) * k))
}

// of bounds a sum whose truth is y by the roundings of its products, and
// says which classes are allowed where a product leaves the range.
func (b productBound) of(y, r1, r2 float64) (hard float64, allow compare.Class) {
	if y-y == 0 { // of an infinity or NaN only the class counts
		hard = float64((r1+r2)*(1+b.u)) + float64(b.u*math.Abs(y)) + b.a.MinSubnormal()
		if b.store != tensor.Invalid {
			hard = stored(b.store, y, hard)
		}
	}
	if math.Max(r1, r2) >= float64(b.u*b.a.MaxFinite()) {
		allow = compare.NaN | compare.PosInf | compare.NegInf
	}
	return hard, allow
}
