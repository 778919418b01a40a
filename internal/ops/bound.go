package ops

import (
	"math"
	"slices"

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

// launchLanes is how many lanes candle's launches have at the least, for each
// row or output.
const launchLanes = 32

// A summing bounds the roundings of the additions of one sum, as shares of
// the sum of its terms' magnitudes.
type summing struct {
	hard   float64 // proven, of the order that is declared
	shared float64 // what hard would be of launchLanes that share the sum
	likely float64
}

// A row is what the bounds of a sum need of its terms. Shares are of the sum
// of their magnitudes.
type row struct {
	n    int
	rest float64 // share of all but the largest term
	// Where any order is right: shares of the sum of the partial sums of one
	// chain from the largest term on, and of that of the others alone.
	chain, after float64
}

// newRow looks at the magnitudes of the terms that so many lanes add up.
// Those that are not finite do not count.
func newRow(magnitudes []float64, lanes int) row {
	r := row{n: len(magnitudes)}
	terms := slices.DeleteFunc(slices.Clone(magnitudes), func(x float64) bool { return x-x != 0 })
	if len(terms) == 0 {
		return r
	}
	if lanes < 2 {
		slices.Sort(terms)
	}
	// The largest last; all are taken by it, so that no sum overflows.
	last, top := len(terms)-1, slices.Max(terms)
	if top == 0 {
		return r
	}
	at := slices.Index(terms, top)
	terms[at], terms[last] = terms[last], top
	var rest float64 // without the largest, beside which it may be nothing
	for i := last - 1; i >= 0; i-- {
		rest += terms[i] / top
		r.chain += 1 + rest
		if i < last-1 {
			r.after += rest
		}
	}
	size := 1 + rest
	r.rest, r.chain, r.after = rest/size, r.chain/size, r.after/size
	return r
}

// summing bounds a sum of r's terms by additions of unit roundoff u, which so
// many lanes share.
//
// An addition is off by at most u times its result, a partial sum, and by at
// most the smaller of the two that it adds, for the larger is a result that
// it might have given. Of n terms on h levels, the partial sums of one level
// are no larger together than all terms: gamma(h,u) (numerics.md 4.1). In any
// order the partial sums of all levels are at most those of one chain from
// the largest term on: u*chain. Whatever the order, what is added to the
// largest term, and to what holds it, is the rest, itself a sum: rest +
// u*after. Computed partial sums are larger than these by no more than
// u*(n-1), which holds without terms of higher order (Jeannerod and Rump 2013).
func (r row) summing(lanes int, u float64) summing {
	most := math.Max(float64(r.n-1), 0)
	higher := 1 + float64(most*u)
	limit := func(s float64) float64 { return math.Min(s, math.Min(float64(most*u), float64(r.rest*higher*higher))) }
	levels := func(lanes int) float64 {
		return math.Min(most, float64((r.n+lanes-1)/lanes+10))
	}
	h := levels(max(lanes, launchLanes))
	s := summing{
		shared: limit(gamma(h, u)),
		likely: limit(gamma(math.Min(h, lambda*math.Sqrt(h)), u)),
	}
	s.hard = s.shared
	switch {
	case lanes < 2:
		s.hard = math.Max(s.shared, math.Min(float64(most*u), math.Min(float64(u*r.chain), r.rest+float64(u*r.after))*higher))
	case lanes < launchLanes:
		s.hard = limit(gamma(levels(lanes), u))
	}
	return s
}

// additionsText explains summing to users.
const additionsText = `A: of the additions, as a share of the sum S of the n terms' magnitudes, the least of
  gamma(h,u), h = min(n-1, ceil(n/L)+10): L lanes, declared of the source (all bundled ones: 32), share the sum;
    of other sources L is not known, any order is right, and u*(sum of the partial sums from the largest term on)/S,
    about n/2 roundings, stands for it. What is past the bound for L = 32 is then a warning
  r + u*n*r: r is the share of all but the largest term, and no addition to it loses more than what is added
  u*(n-1)
Likely: min(h, 8.4*sqrt(h)) for h, L = 32.`

// chains readies e for sums of n terms in any order of additions.
func chains(e *compare.Expected, n int) {
	e.Shared, e.Terms = make([]float64, len(e.Value)), n
}

// and is s with more relative errors e.
func (s summing) and(e float64) summing {
	return summing{compound(s.hard, e), compound(s.shared, e), compound(s.likely, e)}
}

// compound is the relative error of a product whose factors have the errors
// a and b.
func compound(a, b float64) float64 { return a + b + float64(a*b) }

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
