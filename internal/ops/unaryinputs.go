package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// unaryInputs returns n inputs of a class.
func unaryInputs(f *unary, class string, d tensor.DType, r *Rand, n int) *tensor.Tensor {
	if !d.IsFloat() {
		t := generateBits(d, []int{n}, func(int) uint64 { return r.Uint64() })
		if n == 1 {
			t.SetBits(0, 7) // neither 0 nor what memory is filled with
		}
		return t
	}
	// One in eight of the inputs is negative where that gives NaN.
	sign := func(x float64) float64 {
		if f.positive && r.IntN(8) != 0 {
			return math.Abs(x)
		}
		return x
	}
	switch class {
	case "normal":
		return generate(d, []int{n}, func(i int) float64 {
			if i == 0 && n < 8 {
				// Few elements must not be right by luck: 0 is floor(0.3).
				return 1.25 + r.Float64()
			}
			return sign(2 * r.Normal())
		})
	case "loguniform":
		lo, hi := d.EMin(), emax0(d)
		if f.exponents != nil {
			lo, hi = max(lo, f.exponents[0]), min(hi, f.exponents[1])
			if d == tensor.F64 {
				hi = min(emax0(d), f.exponents[2])
			}
		}
		return generate(d, []int{n}, func(int) float64 { return sign(clip(d, r.LogUniform(lo, hi))) })
	case "bits":
		return generateBits(d, []int{n}, func(int) uint64 { return r.Uint64() })
	case "edges":
		list := edges(f, d, Fast)
		if len(list) != n {
			list = edges(f, d, Thorough)
		}
		return generate(d, []int{n}, func(i int) float64 { return list[i] })
	case "exhaustive":
		t := tensor.New(d, n)
		for i := range n {
			t.SetBits(i, uint64(i))
		}
		return t
	}
	panic("ops: " + f.name + " has no input class " + class)
}

// steps are how far from a point inputs lie, in units of the last place,
// on either side.
var steps = []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 64}

// edges returns the numbers around the points of f, around those that
// matter to any function, and the special values of d. At the thorough
// level all within 64 places of a point, and more multiples of a period.
func edges(f *unary, d tensor.DType, level Level) []float64 {
	one := math.Ldexp(1, d.Precision())
	common := []float64{0, d.MinNormal(), 1, 2, d.MaxFinite(), 0.5, math.Sqrt2, one / 2}
	if level == Thorough {
		common = append(common, 3, 10, 1e3, one, one/4, d.MinNormal()*one, d.MaxFinite()/2)
		for k := 1; k < 40; k++ {
			common = append(common, float64(k)*math.Ln2/2, float64(k)*math.Pi/4, float64(k)/4)
		}
	}
	list := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}
	around := func(x float64) {
		if x > d.MaxFinite() {
			return
		}
		b := int64(d.Encode(x))
		put := func(k int64) {
			// Below zero lie the numbers of the other sign, which the mirror
			// image has.
			if b+k < 0 || b+k > int64(d.Encode(d.MaxFinite())) {
				return
			}
			v := d.Decode(uint64(b + k))
			list = append(list, v)
			if !f.positive {
				list = append(list, -v)
			}
		}
		if level == Thorough {
			for k := int64(-64); k <= 64; k++ {
				put(k)
			}
			return
		}
		for _, k := range steps {
			put(int64(k))
			if k != 0 {
				put(int64(-k))
			}
		}
	}
	for _, x := range common {
		around(x)
	}
	for _, x := range f.points {
		around(x)
	}
	if f.positive {
		list = append(list, -d.MinSubnormal(), -1, -d.MaxFinite())
	}
	// Subnormal numbers of every size.
	for k := range d.Precision() - 1 {
		list = append(list, 1.25*math.Ldexp(d.MinSubnormal(), k), -1.5*math.Ldexp(d.MinSubnormal(), k))
	}
	return list
}
