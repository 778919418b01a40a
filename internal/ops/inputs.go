package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// maxBlock is candle's block size of elementwise launches.
const maxBlock = 1024

// elementwise is the launch E(n) of candle: blocks of 1024 threads, one
// thread for each of n elements.
func elementwise(n int) (grid, block gpu.Dim3) {
	return gpu.Dim3{X: uint32((n + maxBlock - 1) / maxBlock), Y: 1, Z: 1}, gpu.Dim3{X: maxBlock, Y: 1, Z: 1}
}

// normals returns numbers of mean 0 and deviation scale.
func normals(d tensor.DType, r *Rand, scale float64, shape ...int) *tensor.Tensor {
	return generate(d, shape, func(int) float64 { return scale * r.Normal() })
}

// logUniforms returns numbers of both signs whose exponents are uniform
// in [emin, emax], clipped to d's normal range.
func logUniforms(d tensor.DType, r *Rand, emin, emax int, shape ...int) *tensor.Tensor {
	emin, emax = max(emin, d.EMin()), min(emax, emax0(d))
	return generate(d, shape, func(int) float64 {
		return clip(d, r.LogUniform(emin, emax))
	})
}

// subnormals returns subnormal numbers of both signs, and zeros.
func subnormals(d tensor.DType, r *Rand, shape ...int) *tensor.Tensor {
	n := 1 << (d.Precision() - 1)
	return generate(d, shape, func(int) float64 {
		v := float64(r.IntN(n)) * d.MinSubnormal()
		if r.Uint64()&1 != 0 {
			v = -v
		}
		return v
	})
}

// specials returns ordinary numbers with infinities, NaN, zeros of both
// signs, and the ends of the range among them.
func specials(d tensor.DType, r *Rand, shape ...int) *tensor.Tensor {
	odd := oddValues(d)
	return generate(d, shape, func(int) float64 {
		if r.IntN(4) == 0 {
			return odd[r.IntN(len(odd))]
		}
		return r.Normal()
	})
}

// oddValues are infinities, NaN, zeros and the ends of d's range.
func oddValues(d tensor.DType) []float64 {
	return []float64{
		math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1),
		d.MaxFinite(), -d.MaxFinite(), d.MinNormal(), -d.MinSubnormal(), d.MinSubnormal(),
	}
}

// signedZeros returns zeros of both signs among ordinary numbers.
func signedZeros(d tensor.DType, r *Rand, shape ...int) *tensor.Tensor {
	return generate(d, shape, func(int) float64 {
		switch r.IntN(3) {
		case 0:
			return 0
		case 1:
			return math.Copysign(0, -1)
		}
		return r.Normal()
	})
}

// generate fills a tensor from f, called in order.
func generate(d tensor.DType, shape []int, f func(i int) float64) *tensor.Tensor {
	t := newInput(d, shape)
	for i := range t.Distinct() {
		t.SetFloat(i, f(i))
	}
	return t
}

// generateBits fills a tensor from the low bits of f, called in order.
func generateBits(d tensor.DType, shape []int, f func(i int) uint64) *tensor.Tensor {
	t := newInput(d, shape)
	for i := range t.Distinct() {
		t.SetBits(i, f(i))
	}
	return t
}

// tile is how many elements an input has that are drawn. Only cases for
// timing have more, which repeat them: drawing them all would take longer
// than the measurement. It is a multiple of no common row length, so that
// rows differ.
const tile = 1<<20 - 3

func newInput(d tensor.DType, shape []int) *tensor.Tensor {
	t := tensor.New(d, shape...)
	if t.Len() > tile {
		t.Period = tile
	}
	return t
}

// clip keeps x from rounding to an infinity of d.
func clip(d tensor.DType, x float64) float64 {
	return math.Max(-d.MaxFinite(), math.Min(d.MaxFinite(), x))
}

// emax0 is the exponent of d's largest finite number.
func emax0(d tensor.DType) int {
	_, e := math.Frexp(d.MaxFinite())
	return e - 1
}

// twoProducts returns a*b + c*d as an unevaluated sum hi+lo, correct to
// about 2^-100 of |a*b|+|c*d|, whatever the exponents.
func twoProducts(a, b, c, d float64) (hi, lo float64) {
	if x := a - a + (b - b) + (c - c) + (d - d); x != 0 { // NaN: not all are finite
		return float64(a*b) + float64(c*d), 0
	}
	// Scale so that neither product nor its rounding error leaves the
	// range; the result is scaled back last.
	_, ea := math.Frexp(a)
	_, eb := math.Frexp(b)
	_, ec := math.Frexp(c)
	_, ed := math.Frexp(d)
	k := math.MinInt32
	if a != 0 && b != 0 {
		k = ea + eb
	}
	if c != 0 && d != 0 {
		k = max(k, ec+ed)
	}
	if k == math.MinInt32 {
		return float64(a*b) + float64(c*d), 0
	}
	if a == 0 || b == 0 {
		a, b = 0, 0
	}
	if c == 0 || d == 0 {
		c, d = 0, 0
	}
	a, b = math.Ldexp(a, -ea), math.Ldexp(b, ea-k)
	c, d = math.Ldexp(c, -ec), math.Ldexp(d, ec-k)
	p, q := float64(a*b), float64(c*d)
	pe, qe := math.FMA(a, b, -p), math.FMA(c, d, -q)
	s := p + q
	t := s - p
	e := (p - (s - t)) + (q - t)
	e += pe + qe
	hi = s + e
	lo = e - (hi - s)
	if hi = math.Ldexp(hi, k); math.IsInf(hi, 0) {
		return hi, 0
	}
	return hi, math.Ldexp(lo, k)
}
