package truth

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// randDD returns a DD with exponent within spread, sometimes with Lo far
// below Hi or zero.
func randDD(r *rand.Rand, spread int) DD {
	hi := math.Ldexp(r.Float64()-0.5, r.IntN(2*spread+1)-spread)
	switch r.IntN(6) {
	case 0:
		return DD{Hi: hi}
	case 1:
		return FromSum(hi, hi*0x1p-54*math.Ldexp(r.Float64()-0.5, -r.IntN(200)))
	}
	return FromSum(hi, hi*0x1p-53*(r.Float64()-0.5))
}

// checkDD compares got with want to bits or to 2^-1074.
func checkDD(t *testing.T, got DD, want *big.Float, bits float64, op string, args ...DD) {
	t.Helper()
	hi, _ := want.Float64()
	if math.IsInf(hi, 0) {
		if got.Hi != hi || got.Lo != 0 {
			t.Errorf("%s%x: got %x, want %v", op, args, got, hi)
		}
		return
	}
	if got.Hi+got.Lo != got.Hi {
		t.Errorf("%s%x: got %x, whose Hi is not the nearest", op, args, got)
	}
	b := relBits(got, want)
	if b < bits {
		d := new(big.Float).SetPrec(4000).Sub(bigDD(got), want)
		e, _ := d.SetMantExp(d, 1074).Float64()
		if math.Abs(e) <= 0.5 || math.Abs(e) <= 1 && got.Hi == hi {
			return
		}
	}
	if b < bits {
		t.Errorf("%s%x: got %x, want %x: %.1f bits, want %v", op, args, got, ddOf(want), b, bits)
	}
}

// checkHi requires Hi to be want, the correctly rounded result.
func checkHi(t *testing.T, got DD, want float64, op string, args ...float64) {
	t.Helper()
	if got.Hi != want {
		t.Errorf("%s%x: got %x, want %x", op, args, got, want)
	}
}

func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	nf := func() *big.Float { return new(big.Float).SetPrec(2300) }
	for _, spread := range []int{0, 2, 60, 400, 1023} {
		for range 3000 {
			x, y := randDD(r, spread), randDD(r, spread)
			if r.IntN(4) == 0 { // cancel
				y = x.Neg()
				if r.IntN(2) == 0 {
					y.Lo = 0
				} else {
					y.Lo *= r.Float64()
				}
			}
			if x.Hi == 0 || y.Hi == 0 {
				continue
			}
			bx, by := bigDD(x), bigDD(y)
			if s := nf().Add(bx, by); s.Sign() == 0 {
				if got := x.Add(y); got != (DD{}) || math.Signbit(got.Hi) {
					t.Errorf("%x + %x: got %x, want 0", x, y, got)
				}
			} else {
				checkDD(t, x.Add(y), s, 104, "add", x, y)
				checkDD(t, x.Sub(y.Neg()), s, 104, "sub", x, y)
			}
			checkDD(t, x.Mul(y), nf().Mul(bx, by), 103.9, "mul", x, y)
			checkDD(t, x.Div(y), nf().Quo(bx, by), 103, "div", x, y)
			if x.Hi > 0 {
				checkDD(t, x.Sqrt(), nf().Sqrt(bx), 103, "sqrt", x)
			}
			checkHi(t, FromQuo(x.Hi, y.Hi), x.Hi/y.Hi, "quo", x.Hi, y.Hi)
			checkHi(t, FromProd(x.Hi, y.Hi), float64(x.Hi*y.Hi), "prod", x.Hi, y.Hi)
			checkHi(t, Sqrt(math.Abs(x.Hi)), math.Sqrt(math.Abs(x.Hi)), "sqrt", x.Hi)
			checkDD(t, FromProd(x.Hi, y.Hi), nf().Mul(bigFloat(x.Hi), bigFloat(y.Hi)), 200, "prod", DD{Hi: x.Hi}, DD{Hi: y.Hi})
			k := r.IntN(2400) - 1200
			checkDD(t, x.Ldexp(k), nf().SetMantExp(bx, k), 200, "ldexp", x)
			if got, want := x.Cmp(y), bx.Cmp(by); got != want {
				t.Errorf("cmp(%x, %x): got %d, want %d", x, y, got, want)
			}
		}
	}
}

func TestFromSum(t *testing.T) {
	check := func(a, b float64, want DD) {
		t.Helper()
		got := FromSum(a, b)
		if got != want || math.Signbit(got.Hi) != math.Signbit(want.Hi) {
			t.Errorf("FromSum(%x, %x): got %x, want %x", a, b, got, want)
		}
	}
	const big = math.MaxFloat64
	z := math.Copysign(0, -1)
	check(1, 0x1p-60, DD{1, 0x1p-60})
	check(0x1p-60, 1, DD{1, 0x1p-60})
	check(big, 1, DD{big, 1})
	check(big, -big, DD{})
	check(big, big, DD{Hi: math.Inf(1)})
	check(-big, -0x1p970, DD{Hi: math.Inf(-1)})
	check(z, z, DD{Hi: z})
	check(z, 0, DD{})
	check(0x1p-1074, 1, DD{1, 0x1p-1074})
}

func TestFromInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 1 << 53, 1<<53 + 1, -1<<53 - 1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 0x123456789abcdef1, -0x123456789abcdef1, 1<<62 + 1<<9} {
		got := bigDD(FromInt(n))
		if i, acc := got.Int64(); i != n || acc != big.Exact {
			t.Errorf("FromInt(%d): got %v", n, got)
		}
	}
}

// TestSpecialArithmetic requires of + - * / sqrt what IEEE 754 gives for the
// high parts, with Lo zero.
func TestSpecialArithmetic(t *testing.T) {
	vals := []float64{0, math.Copysign(0, -1), 1, -2, 0x1p-1074, -0x1p-1074, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	same := func(a, b float64) bool {
		return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
	}
	for _, x := range vals {
		for _, y := range vals {
			check := func(op string, got DD, want float64) {
				t.Helper()
				if !same(got.Hi, want) || got.Lo != 0 && (got.Hi == 0 || !finite(got.Hi)) || got.Lo != got.Lo {
					t.Errorf("%x %s %x: got %x, want %x", x, op, y, got, want)
				}
			}
			a, b := DD{Hi: x}, DD{Hi: y}
			check("+", a.Add(b), x+y)
			check("-", a.Sub(b), x-y)
			check("*", a.Mul(b), float64(x*y))
			check("/", a.Div(b), x/y)
			check("sqrt", a.Sqrt(), math.Sqrt(x))
		}
	}
}

func TestOdd(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	// Ties and near ties of float32, told apart by Lo only.
	check := func(x DD) {
		t.Helper()
		want, _ := bigDD(x).Float32()
		if got := x.Float32(); got != want {
			t.Errorf("float32 of %x: got %x, want %x", x, got, want)
		}
	}
	for range 20000 {
		f := math.Float32frombits(r.Uint32())
		if f != f || math.IsInf(float64(f), 0) {
			continue
		}
		g := math.Nextafter32(f, float32(math.Inf(1)))
		tie := (float64(f) + float64(g)) / 2
		if math.IsInf(tie, 0) || tie == 0 {
			continue
		}
		lo := math.Abs(tie) * 0x1p-60
		check(DD{Hi: tie})
		check(DD{tie, lo})
		check(DD{tie, -lo})
		check(DD{float64(f), lo})
		check(randDD(r, 150))
	}
	check(DD{math.MaxFloat32 + 0x1p103, -1}) // just short of the tie to infinity
	check(DD{Hi: math.MaxFloat32 + 0x1p103})
	check(DD{0x1p-150, 0x1p-210})
	check(DD{0x1p-150, -0x1p-210})
	// Rounding Hi alone must be seen to be wrong.
	if x := (DD{1 + 0x1p-24, 0x1p-60}); float32(x.Hi) == x.Float32() {
		t.Errorf("float32 of %x is that of Hi, %x", x, x.Float32())
	}
}

func TestIntegral(t *testing.T) {
	const b = 0x1p60
	z := math.Copysign(0, -1)
	check := func(x, floor, ceil, round, even DD) {
		t.Helper()
		trunc := floor
		if x.Hi < 0 {
			trunc = ceil
		}
		for _, c := range []struct {
			name      string
			got, want DD
		}{{"floor", x.Floor(), floor}, {"ceil", x.Ceil(), ceil}, {"round", x.Round(), round}, {"even", x.RoundToEven(), even}, {"trunc", x.Trunc(), trunc}} {
			if c.got != c.want || math.Signbit(c.got.Hi) != math.Signbit(c.want.Hi) {
				t.Errorf("%s(%x): got %x, want %x", c.name, x, c.got, c.want)
			}
		}
	}
	d := func(hi float64) DD { return DD{Hi: hi} }
	check(d(2.5), d(2), d(3), d(3), d(2))
	check(d(-2.5), d(-3), d(-2), d(-3), d(-2))
	check(d(0.5), d(0), d(1), d(1), d(0))
	check(d(-0.5), d(-1), d(z), d(-1), d(z))
	check(DD{2.5, 0x1p-60}, d(2), d(3), d(3), d(3))
	check(DD{2.5, -0x1p-60}, d(2), d(3), d(2), d(2))
	check(DD{-2.5, 0x1p-60}, d(-3), d(-2), d(-2), d(-2))
	check(DD{-2.5, -0x1p-60}, d(-3), d(-2), d(-3), d(-3))
	check(DD{3, -0x1p-60}, d(2), d(3), d(3), d(3))
	check(DD{3, 0x1p-60}, d(3), d(4), d(3), d(3))
	check(DD{b, 0.5}, d(b), DD{b, 1}, DD{b, 1}, d(b))
	check(DD{b, -0.5}, DD{b, -1}, d(b), d(b), d(b))
	check(DD{b, 1.5}, DD{b, 1}, DD{b, 2}, DD{b, 2}, DD{b, 2})
	check(DD{-b, -0.5}, DD{-b, -1}, d(-b), DD{-b, -1}, d(-b))
	check(DD{-b, 0.5}, d(-b), DD{-b, 1}, d(-b), d(-b))
	check(DD{-b, 1.5}, DD{-b, 1}, DD{-b, 2}, DD{-b, 1}, DD{-b, 2})
	check(d(z), d(z), d(z), d(z), d(z))
	check(d(math.Inf(1)), d(math.Inf(1)), d(math.Inf(1)), d(math.Inf(1)), d(math.Inf(1)))
}

func TestCmp(t *testing.T) {
	nan, inf := DD{Hi: math.NaN()}, DD{Hi: math.Inf(1)}
	check := func(x, y DD, want int) {
		t.Helper()
		if got := x.Cmp(y); got != want {
			t.Errorf("%x.Cmp(%x): got %d, want %d", x, y, got, want)
		}
		if got := y.Cmp(x); got != -want {
			t.Errorf("%x.Cmp(%x): got %d, want %d", y, x, got, -want)
		}
	}
	check(DD{1, 0x1p-60}, DD{1, -0x1p-60}, 1)
	check(DD{Hi: 1}, DD{1, -0x1p-60}, 1)
	check(DD{}, DD{Hi: math.Copysign(0, -1)}, 0)
	check(nan, nan, 0)
	check(nan, inf.Neg(), -1)
	check(inf, inf, 0)
	if a := (DD{-1, 0x1p-60}).Abs(); a != (DD{1, -0x1p-60}) {
		t.Errorf("Abs: got %x", a)
	}
}
