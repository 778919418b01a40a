package sim

import (
	"math"
	"math/big"
	"sort"
)

// An ieee is a floating-point format for references computed with math/big.
type ieee struct{ size, man int }

var (
	half   = ieee{16, 10}
	single = ieee{32, 23}
	double = ieee{64, 52}
)

func (f ieee) expMax() uint64      { return 1<<(f.size-1-f.man) - 1 }
func (f ieee) bias() int           { return int(f.expMax() / 2) }
func (f ieee) inf() uint64         { return f.expMax() << f.man }
func (f ieee) nan() uint64         { return f.inf() | 1<<(f.man-1) }
func (f ieee) sign() uint64        { return 1 << (f.size - 1) }
func (f ieee) mag(a uint64) uint64 { return a &^ f.sign() }
func (f ieee) isNaN(a uint64) bool { return f.mag(a) > f.inf() }
func (f ieee) isInf(a uint64) bool { return f.mag(a) == f.inf() }
func (f ieee) neg(a uint64) bool   { return a&f.sign() != 0 }

// exact returns a number of a precision in which sums of products are
// exact.
func (f ieee) exact() *big.Float {
	return new(big.Float).SetPrec(map[int]uint{16: 160, 32: 700, 64: 4400}[f.size])
}

// value returns the number that finite bits stand for; zeros have signs.
func (f ieee) value(a uint64) *big.Float {
	m := a & (1<<f.man - 1)
	e := int(f.mag(a) >> f.man)
	if e > 0 {
		m |= 1 << f.man
	} else {
		e = 1
	}
	v := f.exact().SetUint64(m)
	v.SetMantExp(v, e-f.bias()-f.man)
	if f.neg(a) {
		v.Neg(v)
	}
	return v
}

// round returns the bits of v rounded to nearest even.
func (f ieee) round(v *big.Float) uint64 {
	var s uint64
	if v.Signbit() {
		s = f.sign()
	}
	if v.IsInf() {
		return s | f.inf()
	}
	if v.Sign() == 0 {
		return s
	}
	// In units of the last place: the exponent of v, but no less than that
	// of subnormals.
	e := v.MantExp(nil) - 1 - f.man
	if e > f.bias() {
		return s | f.inf()
	}
	if low := 1 - f.bias() - f.man; e < low {
		e = low
	}
	u := new(big.Float).SetMantExp(v, -e)
	u.Abs(u)
	n, _ := u.Int(nil)
	rest := new(big.Float).SetPrec(u.Prec()).Sub(u, new(big.Float).SetPrec(u.Prec()).SetInt(n))
	switch c := rest.Cmp(big.NewFloat(0.5)); {
	case c > 0, c == 0 && n.Bit(0) == 1:
		n.Add(n, big.NewInt(1))
	}
	r := n.Uint64()
	if r >= 1<<f.man {
		r += uint64(e+f.bias()+f.man-1) << f.man
	}
	if r >= f.inf() {
		r = f.inf()
	}
	return s | r
}

// add, mul and fma are the operations rounded once.
func (f ieee) add(a, b uint64) uint64 {
	switch {
	case f.isNaN(a) || f.isNaN(b) || f.isInf(a) && f.isInf(b) && a != b:
		return f.nan()
	case f.isInf(a):
		return a
	case f.isInf(b):
		return b
	}
	x, y := f.value(a), f.value(b)
	z := f.exact().Add(x, y)
	if z.Sign() == 0 {
		if x.Signbit() && y.Signbit() {
			return f.sign()
		}
		return 0
	}
	return f.round(z)
}

func (f ieee) mul(a, b uint64) uint64 {
	s := (a ^ b) & f.sign()
	switch {
	case f.isNaN(a) || f.isNaN(b) || f.isInf(a) && f.mag(b) == 0 || f.isInf(b) && f.mag(a) == 0:
		return f.nan()
	case f.isInf(a) || f.isInf(b):
		return s | f.inf()
	}
	return f.round(f.exact().Mul(f.value(a), f.value(b)))
}

func (f ieee) fma(a, b, c uint64) uint64 {
	s := (a ^ b) & f.sign()
	switch {
	case f.isNaN(a) || f.isNaN(b) || f.isNaN(c) || f.isInf(a) && f.mag(b) == 0 || f.isInf(b) && f.mag(a) == 0:
		return f.nan()
	case f.isInf(a) || f.isInf(b):
		return f.add(s|f.inf(), c)
	case f.isInf(c):
		return c
	}
	p := f.exact().Mul(f.value(a), f.value(b))
	z := f.exact().Add(p, f.value(c))
	if z.Sign() == 0 {
		if p.Signbit() && f.neg(c) {
			return f.sign()
		}
		return 0
	}
	return f.round(z)
}

// quiet returns a number, or a NaN made quiet.
func (f ieee) quiet(a uint64) uint64 {
	if f.isNaN(a) {
		return a | 1<<(f.man-1)
	}
	return a
}

func (f ieee) signalling(a uint64) bool { return f.isNaN(a) && a>>(f.man-1)&1 == 0 }

// order returns a number that grows with the value, -0 below +0.
func (f ieee) order(a uint64) int64 {
	if f.neg(a) {
		return -int64(f.mag(a)) - 1
	}
	return int64(a)
}

// min is IEEE 754-2008's minNum, and max maxNum, with ordered zeros, where a
// signalling NaN gives a NaN.
func (f ieee) min(a, b uint64) uint64 {
	switch {
	case f.signalling(a) || f.signalling(b):
		return f.nan()
	case f.isNaN(a):
		return b
	case f.isNaN(b):
		return a
	case f.order(a) < f.order(b):
		return a
	}
	return b
}

func (f ieee) max(a, b uint64) uint64 {
	switch {
	case f.signalling(a) || f.signalling(b):
		return f.nan()
	case f.isNaN(a):
		return b
	case f.isNaN(b):
		return a
	case f.order(a) > f.order(b):
		return a
	}
	return b
}

// clamp01 limits a result to [0, 1]; a NaN becomes 0, as dx10_clamp has it.
func (f ieee) clamp01(a uint64) uint64 {
	one := uint64(f.bias()) << f.man
	switch {
	case f.isNaN(a) || f.neg(a):
		return 0
	case a > one:
		return one
	}
	return a
}

// integral applies a rounding to an integer that is exact in f64 to a.
func (f ieee) integral(a uint64, round func(float64) float64) uint64 {
	if f.isNaN(a) || f.isInf(a) {
		return a
	}
	x, _ := f.value(a).Float64()
	v := f.exact().SetFloat64(round(x))
	if f.neg(a) && v.Sign() == 0 {
		return f.sign()
	}
	return f.round(v)
}

// convert returns a rounded to the format g.
func (f ieee) convert(a uint64, g ieee) uint64 {
	switch {
	case f.isNaN(a):
		return g.nan()
	case f.isInf(a):
		if f.neg(a) {
			return g.sign() | g.inf()
		}
		return g.inf()
	}
	return g.round(f.value(a))
}

// toInt returns a truncated and limited to [lo, hi]; a NaN gives 0.
func (f ieee) toInt(a uint64, lo, hi int64, round func(float64) float64) int64 {
	if f.isNaN(a) {
		return 0
	}
	if f.isInf(a) {
		if f.neg(a) {
			return lo
		}
		return hi
	}
	x, _ := f.value(a).Float64()
	x = round(x)
	switch {
	case x <= float64(lo):
		return lo
	case x >= float64(hi):
		return hi
	}
	return int64(x)
}

// fromInt returns n in the format.
func (f ieee) fromInt(n int64) uint64 { return f.round(f.exact().SetInt64(n)) }

// float returns the value as a float64, exact but for f64's own NaNs.
func (f ieee) float(a uint64) float64 {
	switch {
	case f.isNaN(a):
		return math.NaN()
	case f.isInf(a) && f.neg(a):
		return math.Inf(-1)
	case f.isInf(a):
		return math.Inf(1)
	}
	x, _ := f.value(a).Float64()
	return x
}

// flush makes a subnormal a zero of its sign.
func (f ieee) flush(a uint64) uint64 {
	if f.mag(a) < 1<<f.man {
		return a & f.sign()
	}
	return a
}

// mulFlush is mul of flushed operands with a result that is tiny, when
// rounded as if exponents had no limit, flushed.
func (f ieee) mulFlush(a, b uint64) uint64 {
	a, b = f.flush(a), f.flush(b)
	r := f.mul(a, b)
	if f.mag(r) == 1<<f.man {
		v := f.exact().Mul(f.value(a), f.value(b))
		v.SetPrec(uint(f.man + 1))
		if v.MantExp(nil)-1 < 1-f.bias() {
			return r & f.sign()
		}
	}
	return f.flush(r)
}

func (f ieee) addFlush(a, b uint64) uint64 { return f.flush(f.add(f.flush(a), f.flush(b))) }

// mad is a product and a sum, each rounded and flushed.
func (f ieee) mad(a, b, c uint64) uint64 { return f.addFlush(f.mulFlush(a, b), c) }

func (f ieee) negated(a uint64) uint64 { return a ^ f.sign() }

// median is the middle of three by order, and the least of what is no NaN
// where there is one.
func (f ieee) median(a, b, c uint64) uint64 {
	if f.isNaN(a) || f.isNaN(b) || f.isNaN(c) {
		return f.min(f.min(a, b), c)
	}
	s := []uint64{a, b, c}
	sort.Slice(s, func(i, j int) bool { return f.order(s[i]) < f.order(s[j]) })
	return s[1]
}

// fract is a-floor(a) rounded, below 1.
func (f ieee) fract(a uint64) uint64 {
	if f.isNaN(a) || f.isInf(a) {
		return f.nan()
	}
	v := f.value(a)
	n, _ := v.Int(nil)
	d := f.exact().Sub(v, f.exact().SetInt(n))
	if d.Sign() < 0 {
		d.Add(d, big.NewFloat(1))
	}
	if d.Sign() == 0 {
		return 0
	}
	return min(f.round(d), uint64(f.bias())<<f.man-1)
}

// frexp splits a into a significand in [0.5, 1) and an exponent.
func (f ieee) frexp(a uint64) (uint64, int) {
	if f.isNaN(a) || f.isInf(a) || f.mag(a) == 0 {
		return a, 0
	}
	m := f.exact()
	e := f.value(a).MantExp(m)
	return f.round(m), e
}

func (f ieee) ldexp(a uint64, n int) uint64 {
	if f.isNaN(a) || f.isInf(a) || f.mag(a) == 0 {
		return a
	}
	n = max(min(n, 5000), -5000)
	v := f.value(a)
	return f.round(v.SetMantExp(v, n))
}

// one returns 1.
func (f ieee) one() uint64 { return uint64(f.bias()) << f.man }
