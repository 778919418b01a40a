package truth

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactly is the sum of xs in big.Float, wide enough for any float64s or
// products of them.
func exactly(xs []*big.Float) *big.Float {
	s := new(big.Float).SetPrec(4500)
	for _, x := range xs {
		s.Add(s, x)
	}
	return s
}

// wide returns n float64s of exponents within spread, each but a last few
// followed by its negative with another neighbour, so that they cancel.
func wide(r *rand.Rand, n, spread int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = math.Ldexp(r.NormFloat64(), r.IntN(2*spread+1)-spread)
		if i%2 == 1 && i < n-2 {
			xs[i] = -math.Nextafter(xs[i-1], 0)
		}
	}
	r.Shuffle(n, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
	return xs
}

func TestAccumulator(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, spread := range []int{0, 10, 60, 500, 1000} {
		for range 200 {
			xs, ys := wide(r, 20, spread), wide(r, 20, spread)
			var sum, dot, half Accumulator
			var bs, bp []*big.Float
			for i, x := range xs {
				sum.Add(x)
				bs = append(bs, bigFloat(x))
				a := &dot
				if i%2 == 1 {
					a = &half
				}
				a.AddProd(x, ys[i])
				bp = append(bp, new(big.Float).SetPrec(110).Mul(bigFloat(x), bigFloat(ys[i])))
			}
			dot.Merge(&half)
			check := func(name string, got DD, want *big.Float) {
				t.Helper()
				hi, _ := want.Float64()
				w := ddOf(want)
				if got.Hi != hi || got.Lo != w.Lo {
					t.Fatalf("%s, exponents within %d: got %x, want %x", name, spread, got, w)
				}
			}
			check("sum", sum.Sum(), exactly(bs))
			check("dot", dot.Sum(), exactly(bp))
		}
	}
}

func TestAccumulatorSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	const big, least = math.MaxFloat64, 0x1p-1074
	check := func(want DD, xs ...float64) {
		t.Helper()
		var a Accumulator
		for _, x := range xs {
			a.Add(x)
		}
		got := a.Sum()
		if got != want && !(got.IsNaN() && want.IsNaN()) || math.Signbit(got.Hi) != math.Signbit(want.Hi) {
			t.Errorf("sum of %v: got %x, want %x", xs, got, want)
		}
		if s := Sum(xs); s.Hi != got.Hi && !(s.IsNaN() && got.IsNaN()) || !finite(s.Hi) && s.Lo != 0 {
			t.Errorf("Sum(%v): got %x, want %x", xs, s, got)
		}
	}
	check(DD{})
	check(DD{}, 1, -1)
	check(DD{Hi: inf}, inf, 1, -big)
	check(DD{Hi: -inf}, 1, -inf)
	check(DD{Hi: nan}, inf, -inf)
	check(DD{Hi: nan}, 1, nan)
	check(DD{Hi: inf}, big, big)
	check(DD{Hi: big}, big, big, -big)
	check(DD{Hi: -big}, -big, -big, big)
	check(DD{Hi: big, Lo: 1}, big, 1)
	check(DD{Hi: inf}, big, 0x1p970) // a tie, to even: out of range
	check(DD{Hi: big, Lo: 0x1.fffffffffffffp969}, big, math.Nextafter(0x1p970, 0))
	check(DD{Hi: least}, least)
	check(DD{Hi: least}, 1, least, -1)
	check(DD{Hi: 1, Lo: least}, 1, least)
	check(DD{Hi: 1e16, Lo: 1}, 1e16, 1)
	check(DD{Hi: 2}, 1e100, 1, -1e100, 1)

	prod := func(want DD, xs ...float64) {
		t.Helper()
		var a Accumulator
		var x, y []float64
		for i := 0; i < len(xs); i += 2 {
			a.AddProd(xs[i], xs[i+1])
			x, y = append(x, xs[i]), append(y, xs[i+1])
		}
		got := a.Sum()
		if got != want && !(got.IsNaN() && want.IsNaN()) {
			t.Errorf("products of %v: got %x, want %x", xs, got, want)
		}
		if d := Dot(x, y); d.Hi != got.Hi && !(d.IsNaN() && got.IsNaN()) {
			t.Errorf("Dot(%v, %v): got %x, want %x", x, y, d, got)
		}
	}
	prod(DD{Hi: nan}, inf, 0)
	prod(DD{Hi: inf}, inf, 2, 1, 1)
	prod(DD{Hi: -inf}, inf, -2)
	prod(DD{Hi: nan}, inf, 1, -inf, 1)
	prod(DD{Hi: 1}, big, big, big, -big, 1, 1)
	prod(DD{Hi: inf}, big, 2)
	var a Accumulator
	for range 4 { // 4*2^-1076
		a.AddProd(0x1p-1074, 0.25)
	}
	if got := a.Float(); got != least {
		t.Errorf("4 products of 2^-1076: got %x, want %x", got, least)
	}
	a.Reset()
	a.AddProd(least, least)
	if got := a.Sum(); got != (DD{}) {
		t.Errorf("2^-2148: got %x, want 0", got)
	}
}

// TestAccumulatorCarry fills limbs past the point where they must be carried.
func TestAccumulatorCarry(t *testing.T) {
	var a Accumulator
	a.pending = accCarry - 3
	for range 1000 {
		a.Add(-0x1.fffffffffffffp0)
	}
	want := new(big.Float).SetPrec(200).Mul(bigFloat(-1000), bigFloat(0x1.fffffffffffffp0))
	if got := a.Sum(); got != ddOf(want) {
		t.Errorf("got %x, want %x", got, ddOf(want))
	}
	if a.pending > accCarry {
		t.Errorf("%d terms pending, want at most %d", a.pending, accCarry)
	}
}

// TestSums bounds the error of the double-double sums by their documents.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, spread := range []int{0, 10, 40, 200} {
		xs, ys := wide(r, 1000, spread), wide(r, 1000, spread)
		var bs, ba, bp, bpa []*big.Float
		for i, x := range xs {
			p := new(big.Float).SetPrec(110).Mul(bigFloat(x), bigFloat(ys[i]))
			bs, bp = append(bs, bigFloat(x)), append(bp, p)
			ba, bpa = append(ba, bigFloat(math.Abs(x))), append(bpa, new(big.Float).Abs(p))
		}
		check := func(name string, got DD, want, abs *big.Float) {
			t.Helper()
			err, _ := new(big.Float).Sub(want, bigDD(got)).Float64()
			bound, _ := abs.Float64()
			bound *= 2 * 1000 * 0x1p-106
			if math.Abs(err) > bound {
				t.Errorf("%s, exponents within %d: error %g, want at most %g", name, spread, err, bound)
			}
		}
		abs := exactly(ba)
		check("Sum", Sum(xs), exactly(bs), abs)
		check("SumAbs", SumAbs(xs), abs, abs)
		check("Dot", Dot(xs, ys), exactly(bp), exactly(bpa))
	}
}

func TestMeanVariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, mu := range []float64{0, 1, 1e4, 1e8, 1e15} {
		xs := make([]float64, 777)
		for i := range xs {
			xs[i] = mu + r.NormFloat64()
		}
		n := bigFloat(777)
		var bs, bv []*big.Float
		for _, x := range xs {
			bs = append(bs, bigFloat(x))
		}
		mean := new(big.Float).SetPrec(1000).Quo(exactly(bs), n)
		for _, x := range xs {
			d := new(big.Float).SetPrec(1000).Sub(bigFloat(x), mean)
			bv = append(bv, d.Mul(d, d))
		}
		variance := new(big.Float).SetPrec(1000).Quo(exactly(bv), n)
		m, v := MeanVariance(xs)
		if b := relBits(m, mean); mu != 0 && b < 95 {
			t.Errorf("mean about %v: %.1f bits, want 95", mu, b)
		}
		if b := relBits(v, variance); b < 95 {
			t.Errorf("variance about %v: %.1f bits, want 95", mu, b)
		}
		// The variance that divides by n-1 must be told apart.
		if b := relBits(v.MulFloat(777).DivFloat(776), variance); b > 20 {
			t.Errorf("variance about %v with divisor n-1 has %.1f bits, want few", mu, b)
		}
	}
	if m, v := MeanVariance(nil); !m.IsNaN() || !v.IsNaN() {
		t.Errorf("of nothing: got %v, %v, want NaN, NaN", m, v)
	}
	if _, v := MeanVariance([]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}); v.Hi != 0 {
		t.Errorf("variance of equal numbers: got %v, want 0", v)
	}
}

// relBits returns -log2 of the relative error of got.
func relBits(got DD, want *big.Float) float64 {
	d := new(big.Float).SetPrec(bigPrec).Sub(bigDD(got), want)
	if d.Sign() == 0 {
		return 200
	}
	d.Quo(d, want)
	mant := new(big.Float)
	e := d.MantExp(mant)
	f, _ := mant.Float64()
	return -float64(e) - math.Log2(math.Abs(f))
}
