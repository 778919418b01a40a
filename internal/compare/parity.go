package compare

import (
	"fmt"
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// Compare measures how far two outputs lie apart bit by bit, without a
// truth. It panics unless a and b have one type and length.
func Compare(a, b *tensor.Tensor) Match {
	if a.DType != b.DType || a.Len() != b.Len() {
		panic(fmt.Sprintf("compare: Compare of %d %s with %d %s", a.Len(), a.DType, b.Len(), b.DType))
	}
	n := a.Len()
	m := Match{N: n, FirstDiff: -1}
	far := 0.0
	for i := range n {
		p, q := a.Bits(i), b.Bits(i)
		if p == q {
			m.Equal++
			continue
		}
		d := distance(a.DType, p, q)
		if d == 0 {
			if a.DType.IsFloat() && a.Float(i) == 0 {
				m.ZeroSign++
			} else {
				m.Equal++ // two NaNs
				continue
			}
		}
		if m.FirstDiff < 0 {
			m.FirstDiff = i
		}
		far = max(far, d)
	}
	m.MaxULP = Num(far)
	return m
}

// distance is the number of steps from one number of type d to another:
// zeros of both signs are one place, NaN is its own and infinitely far
// from the rest, and so is an infinity from what is finite.
func distance(d tensor.DType, p, q uint64) float64 {
	if p == q {
		return 0
	}
	if !d.IsFloat() {
		if signed(d) {
			x, y := int64(p), int64(q)
			if d == tensor.I32 {
				x, y = int64(int32(p)), int64(int32(q))
			} else if d == tensor.I16 {
				x, y = int64(int16(p)), int64(int16(q))
			}
			return float64(uint64(max(x, y)) - uint64(min(x, y)))
		}
		return float64(max(p, q) - min(p, q))
	}
	x, y := d.Decode(p), d.Decode(q)
	switch {
	case kind(x) != kind(y):
		return math.Inf(1)
	case math.IsNaN(x):
		return 0
	}
	sign := uint64(1) << (8*d.Size() - 1)
	if (p^q)&sign == 0 {
		return float64(max(p, q) - min(p, q))
	}
	return float64(p&^sign) + float64(q&^sign)
}

func signed(d tensor.DType) bool {
	return d == tensor.I64 || d == tensor.I32 || d == tensor.I16
}
