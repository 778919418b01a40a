// Package truth is the arithmetic that kernels are judged by: double-double
// numbers, elementary and special functions to more than 90 bits, and exact
// sums.
//
// A [DD] carries about 106 bits. Every function comes twice: Exp(x) takes a
// float64, x.Exp() takes a DD. Both return a DD whose Hi is the nearest
// float64 but for cases within 2^-90 of a tie, so that a caller that needs
// no more takes Hi.
//
// # Accuracy
//
// Unless a function says otherwise the relative error is below 2^-90 for
// every float64 argument. DD has the exponent range of float64, so a result
// below 2^-969 has a Lo that is subnormal or zero: there the absolute error
// is below 2^-1074 instead, and Hi is still the nearest. Arguments below
// about 2^-110, where f(x) = a+bx to all bits, are computed so; what then
// falls below 2^-1074 is lost, be it all that breaks a tie.
//
// Where Hi must be the nearest float64 without exception, as for an
// operation that IEEE 754 defines, use +, -, *, /, Sqrt and the From
// functions: of float64s they give it.
//
// # Cost
//
// 0.1 to 0.5 microseconds a call, so there is no faster, less accurate set.
//
// # Reproducibility
//
// Results are bit-identical on every platform. Products that meet a sum are
// rounded explicitly or fused explicitly (the Go compiler may otherwise fuse
// x*y+z on some architectures), and of package math only the exactly defined
// functions are used: Sqrt, FMA, Floor, Trunc, Frexp, Ldexp and the like,
// never Exp or Sin, which have assembly of their own on some machines.
package truth

import (
	"cmp"
	"math"
)

// A DD is the unevaluated sum Hi+Lo with Hi the float64 nearest to it. Where
// Hi is zero, infinite or NaN, Lo is zero.
type DD struct{ Hi, Lo float64 }

const (
	huge = 0x1p1020 // above it sums and products are formed scaled down
	tiny = 0x1p-960 // below it the low half of a product would underflow
	expm = 0x7ff    // exponent field
	bias = 1023     // exponent bias
	frac = 52       // fraction bits
	negl = 0x1p-110 // x whose square does not reach 106 bits of 1+x
)

// twoSum returns s = RN(a+b) and e with s+e = a+b exactly, barring overflow.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	bb := s - a
	return s, (a - (s - bb)) + (b - bb)
}

// fastTwoSum is twoSum for |a| >= |b| or a = 0.
func fastTwoSum(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// twoProd returns p = RN(a*b) and e with p+e = a*b exactly, barring
// overflow and underflow.
func twoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

func norm(a, b float64) DD {
	s, e := fastTwoSum(a, b)
	return DD{s, e}
}

// The lower-case kernels below take and give ordinary numbers only: no
// overflow, underflow, NaN or infinity on the way.

// add is AccurateDWPlusDW: relative error at most 3*2^-106, also under
// cancellation (Joldes, Muller, Popescu: Tight and rigorous error bounds for
// basic building blocks of double-word arithmetic, ACM TOMS 44(2), 2017).
func add(a, b DD) DD {
	s, e := twoSum(a.Hi, b.Hi)
	t, f := twoSum(a.Lo, b.Lo)
	s, e = fastTwoSum(s, e+t)
	return norm(s, e+f)
}

// addFast is add for |a.Hi| >= |b.Hi| without cancellation.
func addFast(a, b DD) DD {
	s, e := fastTwoSum(a.Hi, b.Hi)
	return norm(s, e+(a.Lo+b.Lo))
}

func addFloat(a DD, b float64) DD {
	s, e := twoSum(a.Hi, b)
	return norm(s, e+a.Lo)
}

// mul is DWTimesDW3 of the same paper: relative error at most 4*2^-106.
func mul(a, b DD) DD {
	p, e := twoProd(a.Hi, b.Hi)
	t := math.FMA(a.Hi, b.Lo, float64(a.Lo*b.Lo))
	return norm(p, e+math.FMA(a.Lo, b.Hi, t))
}

func mulFloat(a DD, b float64) DD {
	p, e := twoProd(a.Hi, b)
	return norm(p, math.FMA(a.Lo, b, e))
}

// div is DWDivDW of the same paper with fused residues: relative error below
// 2^-103, and exact when the quotient is a float64.
func div(a, b DD) DD {
	q := a.Hi / b.Hi
	r := math.FMA(-q, b.Hi, a.Hi) + a.Lo
	return norm(q, math.FMA(-q, b.Lo, r)/b.Hi)
}

// inside returns hi+lo for hi known to be the nearest float64 to it, and
// keeps it so where lo was rounded up to half an ulp of hi.
func inside(hi, lo float64) DD {
	if hi+lo != hi {
		lo = math.Nextafter(lo, 0)
	}
	return DD{hi, lo}
}

// quo is div with Hi correctly rounded for float64 arguments.
func quo(a, b DD) DD {
	r := div(a, b)
	if q := a.Hi / b.Hi; q != r.Hi && a.Lo == 0 && b.Lo == 0 {
		return inside(q, (r.Hi-q)+r.Lo)
	}
	return r
}

// scale multiplies by 2^k, exactly: for k in [-1022, 1023] and no overflow
// or underflow.
func scale(a DD, k int) DD {
	s := math.Float64frombits(uint64(k+bias) << frac)
	return DD{float64(a.Hi * s), float64(a.Lo * s)}
}

// finite reports whether x is neither infinite nor NaN.
func finite(x float64) bool { return x-x == 0 }

// FromFloat returns x.
func FromFloat(x float64) DD { return DD{Hi: x} }

// FromInt returns n, exactly.
func FromInt(n int64) DD {
	const half = 1 << 32
	return addFloat(DD{Hi: float64(float64(n/half) * half)}, float64(n%half))
}

// FromSum returns a+b, exactly unless it overflows.
func FromSum(a, b float64) DD { return DD{Hi: a}.Add(DD{Hi: b}) }

// FromProd returns a*b, exactly unless it overflows or is below 2^-969.
func FromProd(a, b float64) DD { return DD{Hi: a}.Mul(DD{Hi: b}) }

// FromQuo returns a/b.
func FromQuo(a, b float64) DD { return DD{Hi: a}.Div(DD{Hi: b}) }

// Float returns the float64 nearest to x.
func (x DD) Float() float64 { return x.Hi }

// Odd returns x rounded to odd: x itself if it is a float64, else the
// neighbour with an odd last bit. Rounding that to nearest in a format of
// at most 51 bits equals rounding x once, where rounding Hi would round
// twice.
func (x DD) Odd() float64 {
	b := math.Float64bits(x.Hi)
	if x.Lo == 0 || b&1 == 1 {
		return x.Hi
	}
	if (x.Lo > 0) == (x.Hi > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// Float32 returns the float32 nearest to x, rounded once.
func (x DD) Float32() float32 { return float32(x.Odd()) }

// IsNaN reports whether x is not a number.
func (x DD) IsNaN() bool { return x.Hi != x.Hi }

// IsInf is math.IsInf for x.
func (x DD) IsInf(sign int) bool { return math.IsInf(x.Hi, sign) }

// Signbit reports whether x is negative or -0.
func (x DD) Signbit() bool { return math.Signbit(x.Hi) }

// Neg returns -x.
func (x DD) Neg() DD { return DD{-x.Hi, -x.Lo} }

// Abs returns |x|.
func (x DD) Abs() DD {
	if math.Signbit(x.Hi) {
		return x.Neg()
	}
	return x
}

// Cmp returns -1, 0 or +1 as x is below, equal to or above y. Like
// cmp.Compare it takes -0 = +0, and NaN equal to NaN and below all else.
func (x DD) Cmp(y DD) int {
	if c := cmp.Compare(x.Hi, y.Hi); c != 0 {
		return c
	}
	return cmp.Compare(x.Lo, y.Lo)
}

// Add returns x+y, with a relative error of at most 3*2^-106 also under
// cancellation. Special values are those of x.Hi+y.Hi.
func (x DD) Add(y DD) DD {
	s := x.Hi + y.Hi
	if !(math.Abs(s) < huge) || math.Abs(x.Hi) > huge || math.Abs(y.Hi) > huge {
		if !finite(x.Hi) || !finite(y.Hi) {
			return DD{Hi: s}
		}
		return add(scale(x, -2), scale(y, -2)).Ldexp(2)
	}
	r := add(x, y)
	if r.Hi == 0 && s == 0 {
		return DD{Hi: s}
	}
	return r
}

// Sub returns x-y.
func (x DD) Sub(y DD) DD { return x.Add(y.Neg()) }

// AddFloat returns x+y.
func (x DD) AddFloat(y float64) DD { return x.Add(DD{Hi: y}) }

// Mul returns x*y, with a relative error of at most 4*2^-106. Special
// values are those of x.Hi*y.Hi.
func (x DD) Mul(y DD) DD {
	p := float64(x.Hi * y.Hi)
	if m := math.Abs(p); m > tiny && m < huge {
		return mul(x, y)
	}
	if x.Hi == 0 || y.Hi == 0 || !finite(x.Hi) || !finite(y.Hi) {
		return DD{Hi: p}
	}
	x, j := x.frexp()
	y, k := y.frexp()
	return mul(x, y).Ldexp(j + k)
}

// MulFloat returns x*y.
func (x DD) MulFloat(y float64) DD { return x.Mul(DD{Hi: y}) }

// Div returns x/y, with a relative error below 2^-103; Hi is correctly
// rounded where x and y are float64s. Special values are those of x.Hi/y.Hi.
func (x DD) Div(y DD) DD {
	q := x.Hi / y.Hi
	if x.Hi == 0 || y.Hi == 0 || !finite(x.Hi) || !finite(y.Hi) {
		return DD{Hi: q}
	}
	m, n, p := math.Abs(x.Hi), math.Abs(y.Hi), math.Abs(q)
	if m > 0x1p-800 && m < huge && n > 0x1p-800 && n < huge && p > 0x1p-800 && p < huge {
		return quo(x, y)
	}
	x, j := x.frexp()
	y, k := y.frexp()
	return quo(x, y).Ldexp(j - k)
}

// DivFloat returns x/y.
func (x DD) DivFloat(y float64) DD { return x.Div(DD{Hi: y}) }

// Sqrt returns the square root of x, with a relative error below 2^-103; Hi
// is correctly rounded where x is a float64.
// Sqrt(±0) = ±0, Sqrt(x < 0) = NaN.
func (x DD) Sqrt() DD {
	s := math.Sqrt(x.Hi)
	if x.Hi > tiny && x.Hi <= math.MaxFloat64 {
		// One step of Newton's iteration, the residue being exact.
		lo := (math.FMA(-s, s, x.Hi) + x.Lo) / (2 * s)
		if x.Lo == 0 {
			return inside(s, lo)
		}
		return norm(s, lo)
	}
	if x.Hi > 0 && finite(x.Hi) {
		return scale(x.Ldexp(400).Sqrt(), -200)
	}
	return DD{Hi: s}
}

// Sqrt returns the square root of x.
func Sqrt(x float64) DD { return DD{Hi: x}.Sqrt() }

// frexp returns m and k with x = m*2^k and 1/2 <= |m.Hi| < 1, for finite
// x other than zero.
func (x DD) frexp() (m DD, k int) {
	hi, k := math.Frexp(x.Hi)
	return DD{hi, math.Ldexp(x.Lo, -k)}, k
}

// Ldexp returns x*2^k: exactly, unless it overflows to an infinity or is
// below 2^-969; there Hi is rounded once, to nearest even.
func (x DD) Ldexp(k int) DD {
	e := int(math.Float64bits(x.Hi)>>frac&expm) - bias
	if e > -bias && e <= bias && k >= -1022 && k <= 1023 && e+k > -960 && e+k <= bias {
		return scale(x, k)
	}
	if x.Hi == 0 || !finite(x.Hi) {
		return DD{Hi: x.Hi}
	}
	k = max(-5000, min(5000, k))
	hi := math.Ldexp(x.Hi, k)
	if math.IsInf(hi, 0) {
		return DD{Hi: hi}
	}
	if math.Abs(hi) >= 0x1p-1022 && math.Abs(math.Ldexp(hi, -k)) == math.Abs(x.Hi) {
		return inside(hi, math.Ldexp(x.Lo, k))
	}
	// Hi is rounded to the grid of subnormals; Lo decides only a tie. In
	// units of 2^-1074 everything is exact.
	m, j := x.frexp()
	j += k + 1074
	if j < -1 {
		return DD{Hi: math.Copysign(0, x.Hi)}
	}
	u := math.Ldexp(m.Hi, j)
	n := math.RoundToEven(u)
	switch d := u - n; {
	case d == 0.5 && m.Lo > 0:
		n++
	case d == -0.5 && m.Lo < 0:
		n--
	}
	if n == 0 {
		return DD{Hi: math.Copysign(0, x.Hi)}
	}
	return DD{Hi: math.Ldexp(n, -1074)}
}

// integral rounds with f, which is given float64s, and says by the sign of
// Lo where an integral Hi is only part of x.
func (x DD) integral(f func(float64) float64) DD {
	hi := f(x.Hi)
	if hi != x.Hi || x.Lo == 0 {
		return DD{Hi: hi}
	}
	return norm(hi, f(x.Lo))
}

// Floor returns the greatest integer not above x.
func (x DD) Floor() DD { return x.integral(math.Floor) }

// Ceil returns the least integer not below x.
func (x DD) Ceil() DD { return x.integral(math.Ceil) }

// Trunc returns x with its fraction dropped.
func (x DD) Trunc() DD {
	if math.Signbit(x.Hi) {
		return x.Ceil()
	}
	return x.Floor()
}

// Round returns the integer nearest to x, ties away from zero.
func (x DD) Round() DD { return x.nearest(math.Round) }

// RoundToEven returns the integer nearest to x, ties to even.
func (x DD) RoundToEven() DD { return x.nearest(math.RoundToEven) }

func (x DD) nearest(f func(float64) float64) DD {
	hi := math.Floor(x.Hi)
	switch f0 := x.Hi - hi; {
	case f0 == 0.5 && x.Lo > 0:
		return DD{Hi: hi + 1}
	case f0 == 0.5 && x.Lo < 0:
		return DD{Hi: hi}
	case f0 != 0 || x.Lo == 0:
		return DD{Hi: f(x.Hi)}
	}
	// Hi is an integer, so Lo has the fraction. A tie there is a tie of x;
	// away from zero and to even depend on Hi as well.
	lo := math.Floor(x.Lo)
	if x.Lo-lo != 0.5 {
		return norm(hi, f(x.Lo))
	}
	down, up := norm(hi, lo), norm(hi, lo+1)
	if f(0.5) == 1 { // ties away from zero
		if x.Hi > 0 {
			return up
		}
		return down
	}
	if math.Abs(math.Mod(hi, 2)) == math.Abs(math.Mod(lo, 2)) {
		return down
	}
	return up
}
