package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// decoy is a finite value that shows in any reduction that reads it.
func decoy(d tensor.DType, least bool) uint64 {
	switch {
	case d.IsFloat() && least:
		return d.Encode(-d.MaxFinite())
	case d.IsFloat():
		return d.Encode(d.MaxFinite())
	case least && d == tensor.I64:
		return 1 << 63
	case least:
		return 0
	case d == tensor.I64:
		return math.MaxInt64
	}
	return 1<<(8*d.Size()) - 1
}

// reduceRows returns out rows of n elements by class.
func reduceRows(d tensor.DType, r *Rand, c *Case, out, n int) *tensor.Tensor {
	shape := []int{out, n}
	if c.Class == "close" {
		// Neighbours in the type, which are equal in a narrower one.
		t := tensor.New(d, shape...)
		from := uint64(1) << (8*d.Size() - 2)
		if d.IsFloat() {
			from = d.Encode(1)
		}
		for i := range t.Len() {
			t.SetBits(i, from+uint64(r.IntN(100)))
		}
		return t
	}
	if !d.IsFloat() {
		t := newInput(d, shape)
		ties := c.Class == "ties"
		least := c.Op.Name == "fast_argmin" || c.Op.Name == "fast_min"
		pick := c.Op.Name == "fast_min" || c.Op.Name == "fast_max"
		sums := c.Op.Name == "fast_sum" && d == tensor.U8
		var total uint64
		for i := range t.Distinct() {
			t.SetBits(i, r.Uint64())
			if pick && d == tensor.U8 { // not down to 0 and up to 255 in every row
				t.SetBits(i, uint64(30+7*(i/n)+r.IntN(150)))
			}
			if sums && i == n-1 {
				// Of 256 sums one is 0, and two what memory is filled with.
				t.SetBits(i, 7-total)
			}
			total += t.Bits(i)
			if (c.Class == "negative" || c.Class == "last") && i%n == n-1 { // the extreme
				v := decoy(d, least)
				t.SetBits(i, map[bool]uint64{true: v + uint64(i/n), false: v - uint64(i/n)}[least])
			}
			if ties {
				t.SetBits(i, uint64(1+r.IntN(3)))
				if tied(i/n, i%n, n) {
					t.SetBits(i, map[bool]uint64{true: 0, false: 7}[least])
				}
			}
		}
		return t
	}
	// Sums of both signs are near 0 by the bound of a half; every other row
	// is of one sign, and of sum's single one all.
	onesided := func(t *tensor.Tensor) *tensor.Tensor {
		if c.Op.Name == "fast_sum" || c.Op.Name == "sum" {
			for i := range t.Distinct() {
				if out == 1 || i/n%2 != 0 {
					t.SetFloat(i, math.Abs(t.Float(i)))
				}
			}
		}
		return t
	}
	switch c.Class {
	case "normal":
		return onesided(normals(d, r, 1, shape...))
	case "loguniform":
		high := 10
		if d == tensor.F16 {
			high = 0 // long sums stay in range
		}
		return onesided(logUniforms(d, r, -12, high, shape...))
	case "uniform":
		return generate(d, shape, func(int) float64 { return r.Float64() })
	case "subnormal":
		return onesided(subnormals(d, r, shape...))
	case "negative": // a maximum that starts from 0 shows, and a minimum in the mirror image
		sign := -1.0
		if c.Op.Name == "fast_min" || c.Op.Name == "fast_argmin" {
			sign = 1
		}
		return generate(d, shape, func(int) float64 { return float64(sign * (1 + r.Float64())) })
	case "last":
		best := 100.0
		if c.Op.Name == "fast_argmin" {
			best = -best
		}
		return generate(d, shape, func(i int) float64 {
			if i%n == n-1 {
				return best
			}
			return r.Normal()
		})
	case "whole":
		// Magnitudes of 1 in the mean, which for each output of sum add up to
		// half of what the type counts by ones: of more addends most are 0.
		k := n / kept([3]int{c.Dim("a"), c.Dim("b"), c.Dim("c")}, c.Dim("over"))
		some := 1 + 2*k>>min(d.Precision(), 30)
		return generate(d, shape, func(int) float64 {
			if r.IntN(some) > 0 {
				return 0
			}
			return float64(r.IntN(4) - 1)
		})
	case "same":
		return generate(d, shape, func(i int) float64 { return 0.1 * float64(i/n+1) })
	case "ones":
		return generate(d, shape, func(int) float64 { return 1 })
	case "outlier": // first and last; the others are lost when added to it
		return generate(d, shape, func(i int) float64 {
			if i%n == i/n%2*(n-1) {
				return 1
			}
			return float64(d.UnitRoundoff() * r.Uniform(0.5, 0.999))
		})
	case "comb":
		return generate(d, shape, func(i int) float64 {
			x := r.Float64()
			if i%n%combs == i/n%combs {
				x = 4 + 4*x
			} else {
				x /= 4
			}
			return math.Ldexp(x, i/n%4) // no value for all rows
		})
	case "large": // partial sums of f16 overflow, the sums hardly
		return generate(d, shape, func(i int) float64 {
			if i%2 == 0 {
				return 3e4
			}
			return -3e4 + r.Normal()
		})
	case "cancel": // pairs that nearly cancel, and a 3 that does not
		var last float64
		return generate(d, shape, func(i int) float64 {
			if i%n == n-1 {
				return 3
			}
			if i%2 == 0 {
				last = d.Round(r.Normal())
				return last
			}
			return -float64(last * (1 + 1e-3*r.Float64()))
		})
	case "ties":
		best := 7.0
		if c.Op.Name == "fast_argmin" {
			best = -7
		}
		return generate(d, shape, func(i int) float64 {
			if tied(i/n, i%n, n) {
				return best
			}
			return float64(r.IntN(5) - 2)
		})
	case "special":
		inf := math.Inf(1)
		if out == 1 { // of sum: a few among all
			odd := []float64{inf, math.NaN(), -inf, d.MaxFinite()}
			return generate(d, shape, func(i int) float64 {
				if every := n/5 + 1; i%every == 3 {
					return odd[i/every%len(odd)]
				}
				return r.Normal()
			})
		}
		// A row with none, then rows with a few.
		return generate(d, shape, func(i int) float64 {
			row, k := i/n%6, i%n
			switch {
			case row == 1 && k == 0, row == 4 && k == n-1:
				return inf
			case row == 2 && k == n-1, row == 4 && k == 0:
				return -inf
			case row == 3 && k == n/2:
				return math.NaN()
			case row == 5 && k%2 == 0:
				return math.Copysign(0, float64(k%4-1))
			}
			return r.Normal()
		})
	case "nan":
		// Rows with NaN first, last, in the middle, everywhere but one, in all
		// and in none.
		return generate(d, shape, func(i int) float64 {
			row, k := i/n, i%n
			if [...]bool{k == 0, k == n-1, k == n/2 || k == 32%n, k != n/3, true, false}[row%6] {
				return math.NaN()
			}
			return r.Normal()
		})
	}
	panic("ops: reductions have no input class " + c.Class)
}

// tied tells which elements of a row share the extreme: of k places at the
// edges of groups, waves and blocks.
func tied(row, k, n int) bool {
	for _, t := range [][]int{{0, n - 1}, {1, 2}, {31, 32}, {32, 64}, {1, 1024}, {1023, 1024, n / 2}}[row%6 : row%6+1] {
		for _, at := range t {
			if k == at%n {
				return true
			}
		}
	}
	return false
}
