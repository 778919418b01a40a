package arith

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The tests below compare with arithmetic of math/big, rounded by roundBig,
// which shares nothing with the package but the names of Round.

// A form is a format for the tests, on bits in a uint64.
type form struct {
	name       string
	p          uint // bits of significand
	emin, emax int
	width      uint
	round      func(m Mode) Round
	in, out    Mode // denormal flags
}

var forms = []form{
	{"F16", 11, -14, 15, 16, Mode.Round1664, DenormIn1664, DenormOut1664},
	{"F32", 24, -126, 127, 32, Mode.Round32, DenormIn32, DenormOut32},
	{"F64", 53, -1022, 1023, 64, Mode.Round1664, DenormIn1664, DenormOut1664},
}

func (f form) sign() uint64 { return 1 << (f.width - 1) }
func (f form) inf() uint64  { return (f.sign() - 1) &^ (1<<(f.p-1) - 1) }
func (f form) nan(a uint64) bool {
	return a&^f.sign() > f.inf()
}

// value returns the real number a stands for, nil for infinities and NaNs.
func (f form) value(a uint64) *big.Float {
	u := a &^ f.sign()
	if u >= f.inf() {
		return nil
	}
	m, e := u&(1<<(f.p-1)-1), int(u>>(f.p-1))
	if e == 0 {
		e = 1
	} else {
		m |= 1 << (f.p - 1)
	}
	x := new(big.Float).SetPrec(3000).SetUint64(m)
	x.SetMantExp(x, e+f.emin-1-int(f.p)+1)
	if a&f.sign() != 0 {
		x.Neg(x)
	}
	return x
}

// roundBig returns x, not 0, in the format under the mode.
func (f form) roundBig(x *big.Float, m Mode) uint64 {
	var sign uint64
	r := f.round(m)
	if x.Signbit() {
		sign = f.sign()
		x = new(big.Float).Neg(x)
		switch r {
		case RoundUp:
			r = RoundDown
		case RoundDown:
			r = RoundUp
		}
	}
	e := x.MantExp(nil) - 1 // x in [2^e, 2^(e+1))
	// nearest returns x in units of the last bit at exponent e, rounded.
	nearest := func(e int) *big.Int {
		q := new(big.Float).SetMantExp(x, int(f.p)-1-e)
		n, acc := q.Int(nil)
		if acc == big.Exact {
			return n
		}
		rest := q.Sub(q, new(big.Float).SetInt(n))
		up := r == RoundUp
		if r == RoundEven {
			c := rest.Cmp(big.NewFloat(0.5))
			up = c > 0 || c == 0 && n.Bit(0) == 1
		}
		if up {
			n.Add(n, big.NewInt(1))
		}
		return n
	}
	if e < f.emin && m&f.out == 0 {
		// Tiny after rounding with no limit to the exponent: a zero.
		n := nearest(e)
		if e < f.emin-1 || n.BitLen() <= int(f.p) {
			return sign
		}
	}
	n := nearest(max(e, f.emin))
	// n is the significand; a carry into the next binade adds up by itself.
	u := n.Uint64()
	if e > f.emin {
		if e > f.emax+1 {
			e = f.emax + 1
		}
		u += uint64(e-f.emin) << (f.p - 1)
	}
	if u >= f.inf() {
		u = f.inf()
		if r == RoundDown || r == RoundTrunc || f.p == 11 && m&FP16Overflow != 0 {
			u--
		}
	}
	return sign | u
}

// read is a as an instruction reads it.
func (f form) read(a uint64, m Mode) uint64 {
	if m&f.in == 0 && a&f.inf() == 0 {
		return a & f.sign()
	}
	return a
}

// fma returns a*b+c under the mode; ok is false where the result is a NaN.
func (f form) fma(m Mode, a, b, c uint64) (r uint64, ok bool) {
	a, b, c = f.read(a, m), f.read(b, m), f.read(c, m)
	if f.nan(a) || f.nan(b) || f.nan(c) {
		return 0, false
	}
	psign := (a ^ b) & f.sign()
	x, y, z := f.value(a), f.value(b), f.value(c)
	if x == nil || y == nil {
		if x != nil && x.Sign() == 0 || y != nil && y.Sign() == 0 {
			return 0, false // infinity * 0
		}
		if z == nil && c&f.sign() != psign {
			return 0, false // infinity - infinity
		}
		return psign | f.inf(), true
	}
	if z == nil {
		return c, true
	}
	s := new(big.Float).SetPrec(5000).Mul(x, y)
	pzero := s.Sign() == 0
	s.Add(s, z)
	if s.Sign() != 0 {
		return f.roundBig(s, m), true
	}
	switch {
	case pzero && c&f.sign() == psign: // zeros of one sign
		return psign, true
	case f.round(m) == RoundDown:
		return f.sign(), true
	}
	return 0, true
}

// lattice returns the operands at which arithmetic goes wrong.
func (f form) lattice() []uint64 {
	min := uint64(1) << (f.p - 1)          // smallest normal
	one := f.inf() &^ (1 << (f.width - 2)) // 1.0
	var v []uint64
	for _, u := range []uint64{
		0, 1, 2, 3, min/2 - 1, min / 2, min - 1, min, min + 1, 2 * min, 2*min - 1,
		one - 1, one, one + 1, one + 2, one + min/2, one - min, one + min, one - min + 1,
		one - uint64(f.p)*min, one - uint64(f.p+1)*min, one + uint64(f.p)*min, one + uint64(f.p-1)*min + 1,
		f.inf() - 1, f.inf() - 2, f.inf() - min, f.inf() - uint64(f.p)*min,
		f.inf(), f.inf() + 1, f.inf() + min/2, f.inf() + min - 1,
		min + uint64(f.p)*min, one/2 + min/2, one/2 + min/4,
	} {
		v = append(v, u, u|f.sign())
	}
	return v
}

// random returns a seeded operand; near pulls its exponent to that of another.
func (f form) random(r *rand.Rand, near uint64) uint64 {
	a := r.Uint64() & (f.sign()<<1 - 1)
	man := uint64(1)<<(f.p-1) - 1
	switch r.IntN(6) {
	case 0:
		a &^= man // a power of two
	case 1:
		a = a&^(man>>(f.p/2)) | uint64(r.IntN(3)) // few bits
	case 2, 3:
		a = a&(man|f.sign()) | near&f.inf()
		a += (uint64(r.IntN(2*int(f.p)+4)) << (f.p - 1)) - uint64(f.p+2)<<(f.p-1)
		a &= f.sign()<<1 - 1
	case 4:
		a &= man | f.sign() | 3<<(f.p-1) // about the subnormals
	}
	return a
}

var modes = func() (v []Mode) {
	for r := Mode(0); r < 4; r++ {
		for d := Mode(0); d < 4; d++ {
			v = append(v, r|r<<2|d<<4|d<<6|IEEE|DX10Clamp, r|r<<2|d<<4|d<<6|FP16Overflow)
		}
	}
	return v
}()

// ops returns add, sub, mul, fma of the format, of the mode and of the
// default mode.
func (f form) ops(m Mode) map[string]func(a, b, c uint64) uint64 {
	switch f.p {
	case 11:
		return map[string]func(a, b, c uint64) uint64{
			"add": func(a, b, c uint64) uint64 { return uint64(m.AddF16(uint16(a), uint16(b))) },
			"sub": func(a, b, c uint64) uint64 { return uint64(m.SubF16(uint16(a), uint16(b))) },
			"mul": func(a, b, c uint64) uint64 { return uint64(m.MulF16(uint16(a), uint16(b))) },
			"fma": func(a, b, c uint64) uint64 { return uint64(m.FmaF16(uint16(a), uint16(b), uint16(c))) },
		}
	case 24:
		return map[string]func(a, b, c uint64) uint64{
			"add": func(a, b, c uint64) uint64 { return uint64(m.AddF32(uint32(a), uint32(b))) },
			"sub": func(a, b, c uint64) uint64 { return uint64(m.SubF32(uint32(a), uint32(b))) },
			"mul": func(a, b, c uint64) uint64 { return uint64(m.MulF32(uint32(a), uint32(b))) },
			"fma": func(a, b, c uint64) uint64 { return uint64(m.FmaF32(uint32(a), uint32(b), uint32(c))) },
		}
	}
	return map[string]func(a, b, c uint64) uint64{
		"add": func(a, b, c uint64) uint64 { return m.AddF64(a, b) },
		"sub": func(a, b, c uint64) uint64 { return m.SubF64(a, b) },
		"mul": func(a, b, c uint64) uint64 { return m.MulF64(a, b) },
		"fma": func(a, b, c uint64) uint64 { return m.FmaF64(a, b, c) },
	}
}

// args returns the operation as an fma.
func (f form) args(op string, m Mode, a, b, c uint64) (x, y, z uint64) {
	one := f.inf() &^ (1 << (f.width - 2))
	switch op {
	case "add":
		return a, one, b
	case "sub":
		return a, one, b ^ f.sign()
	case "mul":
		return a, b, (a ^ b) & f.sign()
	}
	return a, b, c
}

func TestArithmetic(t *testing.T) {
	for _, f := range forms {
		for _, m := range modes {
			ops := f.ops(m)
			bad := 0
			check := func(op string, a, b, c uint64) {
				t.Helper()
				x, y, z := f.args(op, m, a, b, c)
				want, ok := f.fma(m, x, y, z)
				got := ops[op](a, b, c)
				switch {
				case !ok && f.nan(got) && got>>(f.p-2)&1 == 1: // quiet
				case ok && got == want:
				default:
					if bad++; bad < 4 {
						t.Errorf("%s %s mode %#x: %#x, %#x, %#x = %#x, want %#x %v", op, f.name, m, a, b, c, got, want, ok)
					}
				}
			}
			v := f.lattice()
			r := rand.New(rand.NewPCG(uint64(m), uint64(f.p)))
			for i, a := range v {
				for _, b := range v[i%3:] {
					if r.IntN(5) != 0 {
						continue
					}
					check("add", a, b, 0)
					check("sub", a, b, 0)
					check("mul", a, b, 0)
					check("fma", a, b, v[r.IntN(len(v))])
				}
			}
			for range 150 {
				a := f.random(r, f.inf()&^(1<<(f.width-2)))
				b := f.random(r, a)
				check("add", a, b, 0)
				check("sub", a, b, 0)
				check("mul", a, b, 0)
				// c near the product, where cancellation and halfway cases lie.
				p, _ := f.fma(DefaultMode, a, b, 0)
				check("fma", a, b, f.random(r, p))
			}
		}
	}
}

// TestFmaF32 has the operands that break an fma by way of f64: sums halfway
// between two f32 but for a remainder beyond the 53rd bit, and the same in
// the subnormal range.
func TestFmaF32(t *testing.T) {
	f := forms[1]
	r := rand.New(rand.NewPCG(3, 4))
	check := func(a, b, c uint32) {
		t.Helper()
		want, ok := f.fma(DefaultMode, uint64(a), uint64(b), uint64(c))
		got := FmaF32(a, b, c)
		if ok && got != uint32(want) || !ok && !IsNaNF32(got) {
			t.Errorf("FmaF32(%#08x, %#08x, %#08x) = %#08x, want %#08x", a, b, c, got, want)
		}
	}
	b32 := func(x float64) uint32 { return bits32(float32(x)) }
	// c + a*b = 1 + 2^-24 + tiny: rounds up; - tiny: rounds to 1.
	check(b32(1+0x1p-23), b32(0x1p-24), b32(1))
	for _, tiny := range []float64{0x1p-60, -0x1p-60, 0x1p-100, -0x1p-140} {
		for _, mid := range []float64{0x1.000001p0, 0x1.000003p0, 0x1.fffffdp0, 0x1.ffffffp0} {
			// mid = m1*m2 with a 25-bit product is found by factoring below;
			// here the halfway value is the product and tiny is c.
			n := uint64(mid * 0x1p24)
			for d := uint64(3); d < 4096; d += 2 {
				if n%d == 0 {
					for _, s := range []int{0, -100, 60, 100, -126} {
						check(b32(math.Ldexp(float64(d), s)), b32(math.Ldexp(float64(n/d), -24)), b32(math.Ldexp(tiny, s)))
					}
				}
			}
		}
	}
	// The same between two subnormals: c and half of the least, but for 2^-196.
	for _, c := range []float64{0x1p-127, 0x1p-127 + 0x1p-149, 0x1.8p-128, 0x1.8p-128 + 0x1p-149, 0x1p-140 + 0x1p-149} {
		for _, s := range []float64{1, -1} {
			check(b32(s*0x1p-75*(1+0x1p-23)), b32(0x1p-75*(1-0x1p-23)), b32(c))
			check(b32(s*0x1p-75*(1+0x1p-23)), b32(0x1p-75*(1-0x1p-23)), b32(-c))
		}
	}
	for range 20000 {
		// A product of 25 significant bits, halfway, and a far smaller c.
		a, b := uint32(r.IntN(1<<13)|1), uint32(r.IntN(1<<12)|1)
		e := r.IntN(276) - 149
		c := math.Ldexp(float64(r.IntN(3)-1), e-r.IntN(90))
		check(b32(math.Ldexp(float64(a), e/2-12)), b32(math.Ldexp(float64(b), e-e/2-12)), b32(c))
		x := uint32(f.random(r, one32))
		y := uint32(f.random(r, one32))
		p, _ := f.fma(DefaultMode, uint64(x), uint64(y), 0)
		check(x, y, uint32(f.random(r, p)))
	}
}

// TestFmaF16 has sums a little off halfway between two f16, which f32 and
// f64 round to halfway: c odd or even and a product of half its last bit, but
// for one part in 2^20 to 2^22.
func TestFmaF16(t *testing.T) {
	f := forms[0]
	check := func(a, b, c uint16) {
		t.Helper()
		want, ok := f.fma(DefaultMode, uint64(a), uint64(b), uint64(c))
		if got := FmaF16(a, b, c); ok && got != uint16(want) || !ok && !IsNaNF16(got) {
			t.Errorf("FmaF16(%#04x, %#04x, %#04x) = %#04x, want %#04x", a, b, c, got, want)
		}
	}
	r := rand.New(rand.NewPCG(25, 26))
	b16 := func(x float64) uint16 { return NarrowF32(bits32(float32(x))) }
	for range 20000 {
		// (1+k*2^-10)*(1-k*2^-10) = 1 - k*k*2^-20, at half the last bit of c.
		k := float64(r.IntN(5)-2) * 0x1p-10
		e := r.IntN(20) - 6 // exponent of c
		x := (e - 11) / 2
		c := math.Ldexp(float64(1024+r.IntN(1024)), e-10)
		check(b16(math.Ldexp(1+k, x)), b16(math.Ldexp(1-k, e-11-x)), b16(c))
		check(b16(math.Ldexp(-1-k, x)), b16(math.Ldexp(1-k, e-11-x)), b16(c))
		check(uint16(r.Uint32()), uint16(r.Uint32()), uint16(r.Uint32()))
	}
	check(0x2801, 0x23fe, 0x3c01)
	check(0xa801, 0x23fe, 0x3c01)
}
