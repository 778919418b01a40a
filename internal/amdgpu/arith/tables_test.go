package arith

import (
	"math/big"
	"testing"
)

const tablePrec = 1400

func bf(x float64) *big.Float { return new(big.Float).SetPrec(tablePrec).SetFloat64(x) }

// bigLog1p returns ln(1+x) for |x| <= 1/2 by its series.
func bigLog1p(x *big.Float) *big.Float {
	s, t := bf(0), new(big.Float).Copy(x)
	for n := 1.0; t.Sign() != 0 && t.MantExp(nil) > -tablePrec; n++ {
		s.Add(s, new(big.Float).Quo(t, bf(n)))
		t.Mul(t, x).Neg(t)
	}
	return s
}

// bigSeries returns the sum of x^n/n!, n from first on by step, with signs.
func bigSeries(x *big.Float, first, step int, sign float64) *big.Float {
	s, t := bf(0), bf(1)
	for n := 0; n < 2 || t.Sign() != 0 && t.MantExp(nil) > -tablePrec; n++ {
		if n >= first && (n-first)%step == 0 {
			term := new(big.Float).Copy(t)
			if (n-first)/step%2 == 1 {
				term.Mul(term, bf(sign))
			}
			s.Add(s, term)
		}
		t.Mul(t, x).Quo(t, bf(float64(n+1)))
	}
	return s
}

// bigPi returns pi by Machin's formula.
func bigPi() *big.Float {
	atan := func(k float64) *big.Float {
		s, t := bf(0), new(big.Float).Quo(bf(1), bf(k))
		for n := 1.0; t.MantExp(nil) > -tablePrec; n += 2 {
			s.Add(s, new(big.Float).Quo(t, bf(n)))
			t.Quo(t, bf(-k*k))
		}
		return s
	}
	p := new(big.Float).Mul(bf(4), atan(5))
	p.Sub(p, atan(239))
	return p.Mul(p, bf(4))
}

// TestTables recomputes every table with math/big.
func TestTables(t *testing.T) {
	check := func(name string, i int, got float64, want *big.Float) {
		t.Helper()
		if w, _ := want.Float64(); got != w {
			t.Errorf("%s[%d] = %x, want %x", name, i, got, w)
		}
	}
	ln2 := new(big.Float).Neg(bigLog1p(bf(-0.5)))
	twoPi := new(big.Float).Mul(bf(2), bigPi())
	for i, got := range exp2Table {
		x := new(big.Float).Mul(ln2, bf(float64(i)/32))
		check("exp2Table", i, got, bigSeries(x, 0, 1, 1))
	}
	p := bf(1)
	for i, got := range exp2Poly {
		p.Mul(p, ln2).Quo(p, bf(float64(i+1)))
		check("exp2Poly", i, got, p)
	}
	for i, e := range log2Table {
		want := bigLog1p(bf(e.inv - 1))
		check("log2Table", i, e.log, want.Quo(want, ln2).Neg(want))
		lo, hi := f32(0x3f330000+uint32(i)<<17), f32(0x3f330000+uint32(i+1)<<17)
		if c := 1 / e.inv; c < float64(lo) || c > float64(hi) {
			t.Errorf("log2Table[%d].inv = %v is of no point of [%v, %v)", i, e.inv, lo, hi)
		}
		if m := e.inv * 1024; m != float64(int(m)) {
			t.Errorf("log2Table[%d].inv = %x has more than 11 bits", i, e.inv)
		}
	}
	for i, got := range log2Poly {
		want := new(big.Float).Quo(bf(1-2*float64(i%2)), ln2)
		check("log2Poly", i, got, want.Quo(want, bf(float64(i+1))))
	}
	q := bf(1)
	for n := 0; n < 2*len(cosPoly)-1; n++ {
		want := new(big.Float).Copy(q)
		if n/2%2 == 1 {
			want.Neg(want)
		}
		if n%2 == 0 {
			check("cosPoly", n/2, cosPoly[n/2], want)
		} else {
			check("sinPoly", n/2, sinPoly[n/2], want)
		}
		q.Mul(q, twoPi).Quo(q, bf(float64(n+1)))
	}
	pair := func(name string, hi, lo float64, want *big.Float) {
		t.Helper()
		check(name, 0, hi, want)
		check(name, 1, lo, new(big.Float).Sub(want, bf(hi)))
	}
	pair("ln2", ln2Hi, ln2Lo, ln2)
	pair("invLn2", invLn2Hi, invLn2Lo, new(big.Float).Quo(bf(1), ln2))
	pair("twoPi", twoPiHi, twoPiLo, twoPi)

	f := new(big.Float).Quo(bf(4), twoPi)
	bitsOf, _ := new(big.Float).SetMantExp(f, 1201).Int(nil)
	for i := range 1216 {
		want := uint(0)
		if i < 1201 {
			want = bitsOf.Bit(1200 - i)
		}
		if got := uint(twoOverPi[i/64] >> (63 - i%64) & 1); got != want {
			t.Fatalf("twoOverPi bit %d = %d, want %d", i, got, want)
		}
	}
	// The segments of trig_preop add up to 2/pi.
	sum := bf(0)
	for seg := range uint32(22) {
		sum.Add(sum, bf(f64(TrigPreopF64(one64, seg))))
	}
	if d := new(big.Float).Sub(f, sum); d.Sign() < 0 || d.MantExp(nil) > -1070 {
		t.Errorf("the segments for 1.0 miss 2/pi by %v", d)
	}
	// From 2^54 on one bit less per binade, and 2^945 on scaled.
	if got, want := f64(TrigPreopF64(uint64(1077+53)<<52, 0)), f64(TrigPreopF64(one64, 1)); got != want {
		t.Errorf("segment 0 for 2^107 = %x, want %x", got, want)
	}
	if got := TrigPreopF64(uint64(1968)<<52, 0); f64(got) > 0x1p-762 || f64(got) < 0x1p-830 {
		t.Errorf("segment 0 for 2^945 = %x, want 2^128 times its place", f64(got))
	}
}
