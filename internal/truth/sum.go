package truth

import (
	"math"
	"math/bits"
)

// A lane is a running double-double sum. Four of them keep the processor
// busy, each addition depending on the one before it in its lane.
type lane struct{ hi, lo float64 }

// add adds x+e, |e| being at most an ulp of x.
func (l *lane) add(x, e float64) {
	s, f := twoSum(l.hi, x)
	l.hi, l.lo = fastTwoSum(s, f+(e+l.lo))
}

// lanesSum returns the sum of the lanes, and whether it met no infinity, NaN
// or overflow.
func lanesSum(l *[4]lane) (sum DD, ok bool) {
	for _, v := range l {
		if !finite(v.hi) || !finite(v.lo) || math.Abs(v.hi) > huge {
			return DD{}, false
		}
	}
	return add(add(l[0].dd(), l[1].dd()), add(l[2].dd(), l[3].dd())), true
}

func (l *lane) dd() DD { return DD{l.hi, l.lo} }

// sum adds xs, their bits masked: to drop the sign.
func sum(xs []float64, mask uint64) DD {
	var l [4]lane
	i := 0
	for ; i+4 <= len(xs); i += 4 {
		x := xs[i : i+4 : i+4]
		l[0].add(masked(x[0], mask), 0)
		l[1].add(masked(x[1], mask), 0)
		l[2].add(masked(x[2], mask), 0)
		l[3].add(masked(x[3], mask), 0)
	}
	for ; i < len(xs); i++ {
		l[0].add(masked(xs[i], mask), 0)
	}
	if s, ok := lanesSum(&l); ok {
		return s
	}
	var a Accumulator
	for _, x := range xs {
		a.Add(masked(x, mask))
	}
	return a.Sum()
}

func masked(x float64, mask uint64) float64 {
	return math.Float64frombits(math.Float64bits(x) & mask)
}

// Sum returns the sum of xs in double-double: the error is below
// 2*len(xs)*2^-106 times the sum of magnitudes. [Accumulator] is exact.
func Sum(xs []float64) DD { return sum(xs, math.MaxUint64) }

// SumAbs returns the sum of |x|, as [Sum] does.
func SumAbs(xs []float64) DD { return sum(xs, math.MaxInt64) }

// Dot returns the sum of x[i]*y[i] in double-double: the error is below
// 2*len(x)*2^-106 times the sum of magnitudes, plus 2^-1074 for each product
// below 2^-969. It panics unless x and y are equally long.
func Dot(x, y []float64) DD {
	if len(x) != len(y) {
		panic("truth: Dot of vectors of different length")
	}
	var l [4]lane
	i := 0
	for ; i+4 <= len(x); i += 4 {
		v, w := x[i:i+4:i+4], y[i:i+4:i+4]
		l[0].add(twoProd(v[0], w[0]))
		l[1].add(twoProd(v[1], w[1]))
		l[2].add(twoProd(v[2], w[2]))
		l[3].add(twoProd(v[3], w[3]))
	}
	for ; i < len(x); i++ {
		l[0].add(twoProd(x[i], y[i]))
	}
	if s, ok := lanesSum(&l); ok {
		return s
	}
	var a Accumulator
	for i, v := range x {
		a.AddProd(v, y[i])
	}
	return a.Sum()
}

// Mean returns the arithmetic mean of xs: NaN if there are none, infinite
// where the sum is.
func Mean(xs []float64) DD { return Sum(xs).DivFloat(float64(len(xs))) }

// MeanVariance returns the mean of xs and the mean of (x-mean)^2, that is
// the variance with divisor len(xs), in two passes. The rounding of the mean
// enters the variance squared, so the variance keeps its relative accuracy
// however large the mean is.
func MeanVariance(xs []float64) (mean, variance DD) {
	mean = Mean(xs)
	n := float64(len(xs))
	m := mean.Neg()
	var s DD
	for _, x := range xs {
		d := addFloat(m, x)
		s = add(s, mul(d, d))
	}
	if !finite(s.Hi) || !finite(s.Lo) || s.Hi > huge || s.Hi < tiny {
		s = DD{}
		for _, x := range xs {
			d := m.AddFloat(x)
			s = s.Add(d.Mul(d))
		}
	}
	return mean, s.DivFloat(n)
}

// An Accumulator is an exact sum of float64s and of products of two. It
// holds a fixed-point number that covers the whole range of both, so neither
// order nor cancellation nor intermediate overflow matters; 2^63 terms are
// allowed for. The zero value is an empty sum.
type Accumulator struct {
	// limb[i] counts units of 2^(32*i-2148). Limbs are carried into the
	// next only when pending terms could overflow them.
	limb    [accLimbs]int64
	pending int
	// nan is set by NaN and by Inf*0, the others by infinities.
	nan, posInf, negInf bool
}

const (
	accBase  = -2148 // exponent of the least bit of a product
	accLimbs = 136   // up to 2^2204: products below 2^2048, 2^63 of them, sign
	accCarry = 1 << 29
)

// Reset makes a an empty sum.
func (a *Accumulator) Reset() { *a = Accumulator{} }

// split returns m and e with |x| = m*2^e.
func split(x float64) (m uint64, e int) {
	b := math.Float64bits(x)
	m, e = b&(1<<frac-1), int(b>>frac&expm)
	if e == 0 {
		return m, 1 - bias - frac
	}
	return m | 1<<frac, e - bias - frac
}

// special notes x if it is not finite.
func (a *Accumulator) special(x float64) bool {
	if finite(x) {
		return false
	}
	switch {
	case x != x:
		a.nan = true
	case x > 0:
		a.posInf = true
	default:
		a.negInf = true
	}
	return true
}

// Add adds x.
func (a *Accumulator) Add(x float64) {
	if a.special(x) {
		return
	}
	m, e := split(x)
	a.add(0, m, e, math.Signbit(x))
}

// AddProd adds x*y, unrounded.
func (a *Accumulator) AddProd(x, y float64) {
	if !finite(x) || !finite(y) {
		a.special(float64(x * y))
		return
	}
	m, e := split(x)
	n, f := split(y)
	hi, lo := bits.Mul64(m, n)
	a.add(hi, lo, e+f, math.Signbit(x) != math.Signbit(y))
}

// AddDD adds x.
func (a *Accumulator) AddDD(x DD) {
	a.Add(x.Hi)
	a.Add(x.Lo)
}

// add adds or subtracts (hi*2^64+lo)*2^e, hi being below 2^42.
func (a *Accumulator) add(hi, lo uint64, e int, neg bool) {
	if a.pending == accCarry {
		a.carry()
	}
	a.pending++
	k := uint(e - accBase)
	i, sh := k/32, k%32
	w := [3]uint64{lo << sh, hi<<sh | lo>>(64-sh), 0}
	w[2] = hi >> (64 - sh)
	l := a.limb[i : i+6]
	sign := int64(1)
	if neg {
		sign = -1
	}
	l[0] += sign * int64(w[0]&math.MaxUint32)
	l[1] += sign * int64(w[0]>>32)
	l[2] += sign * int64(w[1]&math.MaxUint32)
	l[3] += sign * int64(w[1]>>32)
	l[4] += sign * int64(w[2]&math.MaxUint32)
	l[5] += sign * int64(w[2]>>32)
}

// carry brings every limb but the last into [0, 2^32).
func (a *Accumulator) carry() {
	var c int64
	for i := range a.limb[:accLimbs-1] {
		v := a.limb[i] + c
		a.limb[i] = v & math.MaxUint32
		c = v >> 32
	}
	a.limb[accLimbs-1] += c
	a.pending = 1
}

// Merge adds the sum b.
func (a *Accumulator) Merge(b *Accumulator) {
	a.carry()
	c := *b
	c.carry()
	for i, v := range c.limb {
		a.limb[i] += v
	}
	a.carry()
	a.nan = a.nan || b.nan
	a.posInf = a.posInf || b.posInf
	a.negInf = a.negInf || b.negInf
}

// Sum returns the sum so far: Hi is the nearest float64 to it (ties to
// even), Lo the nearest to what remains that leaves Hi the nearest to
// Hi+Lo. An exact zero is +0. A sum of infinities of both signs is NaN.
func (a *Accumulator) Sum() DD {
	switch {
	case a.nan || a.posInf && a.negInf:
		return DD{Hi: math.NaN()}
	case a.posInf:
		return DD{Hi: math.Inf(1)}
	case a.negInf:
		return DD{Hi: math.Inf(-1)}
	}
	r := *a
	hi := r.round()
	if hi == 0 || !finite(hi) {
		return DD{Hi: hi}
	}
	r.Add(-hi)
	return inside(hi, r.round())
}

// Float returns the float64 nearest to the sum.
func (a *Accumulator) Float() float64 { return a.Sum().Hi }

// round returns the float64 nearest to the limbs, after carrying.
func (a *Accumulator) round() float64 {
	a.carry()
	v := a.limb
	neg := v[accLimbs-1] < 0
	if neg {
		c := int64(0)
		for i := range v[:accLimbs-1] {
			w := -v[i] + c
			v[i] = w & math.MaxUint32
			c = w >> 32
		}
		v[accLimbs-1] = -v[accLimbs-1] + c
	}
	i := accLimbs - 1
	for i >= 0 && v[i] == 0 {
		i--
	}
	if i < 0 {
		return 0
	}
	// The top bit has weight 2^top; the result ends at 2^end.
	top := 32*i + bits.Len64(uint64(v[i])) - 1 + accBase
	end := max(top-frac, -1074)
	n := end - accBase
	bit := func(k int) uint64 { return uint64(v[k/32]) >> (k % 32) & 1 }
	var m uint64
	for k := top - accBase; k >= n; k-- {
		m = m<<1 | bit(k)
	}
	if n > 0 && bit(n-1) == 1 { // half or more remains
		sticky := uint64(v[(n-1)/32])&(1<<((n-1)%32)-1) != 0
		for k := (n-1)/32 - 1; k >= 0 && !sticky; k-- {
			sticky = v[k] != 0
		}
		if sticky || m&1 == 1 {
			m++
		}
	}
	x := math.Ldexp(float64(m), end)
	if neg {
		return -x
	}
	return x
}
