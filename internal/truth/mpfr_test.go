package truth

import (
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// An mpfrT is MPFR's __mpfr_struct: precision, sign, exponent and limbs,
// which are C memory.
type mpfrT struct {
	prec int
	sign int32
	exp  int
	d    uintptr
}

const rndn = 0 // MPFR_RNDN

// libmpfr is the part of MPFR that the tests use, by C names.
type libmpfr struct {
	init2      func(x *mpfrT, prec int)
	clear      func(x *mpfrT)
	setD       func(x *mpfrT, v float64, rnd int32) int32
	getD       func(x *mpfrT, rnd int32) float64
	lgamma     func(r *mpfrT, sign *int32, x *mpfrT, rnd int32) int32
	constPi    func(r *mpfrT, rnd int32) int32
	constEuler func(r *mpfrT, rnd int32) int32
	zetaUI     func(r *mpfrT, n uint, rnd int32) int32
	mul2si     func(r, x *mpfrT, k int, rnd int32) int32
	version    func() string
	setStr     func(x *mpfrT, s string, base, rnd int32) int32
	unary      map[string]func(r, x *mpfrT, rnd int32) int32
	binary     map[string]func(r, x, y *mpfrT, rnd int32) int32
	versionS   string
}

// needMPFR returns the library, or skips; it fails instead where the
// environment variable PARITYCHECK_REQUIRE names mpfr.
func needMPFR(t testing.TB) *libmpfr {
	t.Helper()
	if s := unsafe.Sizeof(mpfrT{}); s != 32 {
		t.Skipf("mpfr_t has %d bytes here, want 32", s)
	}
	m, err := loadMPFR()
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("PARITYCHECK_REQUIRE"), ","), "mpfr") {
			t.Fatalf("PARITYCHECK_REQUIRE names mpfr, which cannot be loaded: %v", err)
		}
		t.Skipf("needs libmpfr (Debian: libmpfr6): %v", err)
	}
	return m
}

// A mp computes with registers of one precision. Each operation returns a
// fresh register, valid until reset.
type mp struct {
	*libmpfr
	prec int
	regs []*mpfrT
	n    int
}

func newMP(t testing.TB, prec int) *mp {
	m := &mp{libmpfr: needMPFR(t), prec: prec}
	t.Cleanup(func() {
		for _, r := range m.regs {
			m.clear(r)
		}
	})
	return m
}

func (m *mp) reset() { m.n = 0 }

func (m *mp) reg() *mpfrT {
	if m.n == len(m.regs) {
		r := new(mpfrT)
		m.init2(r, m.prec)
		m.regs = append(m.regs, r)
	}
	m.n++
	return m.regs[m.n-1]
}

func (m *mp) f(v float64) *mpfrT {
	r := m.reg()
	m.setD(r, v, rndn)
	return r
}

func (m *mp) dec(s string) *mpfrT {
	r := m.reg()
	m.setStr(r, s, 10, rndn)
	return r
}

func (m *mp) pi() *mpfrT {
	r := m.reg()
	m.constPi(r, rndn)
	return r
}

func (m *mp) u(name string, x *mpfrT) *mpfrT {
	r := m.reg()
	m.unary[name](r, x, rndn)
	return r
}

func (m *mp) b(name string, x, y *mpfrT) *mpfrT {
	r := m.reg()
	m.binary[name](r, x, y, rndn)
	return r
}

// dd returns x rounded to a DD.
func (m *mp) dd(x *mpfrT) DD {
	hi := m.getD(x, rndn)
	if hi == 0 || !finite(hi) {
		return DD{Hi: hi}
	}
	return inside(hi, m.getD(m.b("sub", x, m.f(hi)), rndn))
}

// big returns x, of ordinary size, to about 580 bits.
func (m *mp) big(x *mpfrT) *big.Float {
	s := bigFloat(0)
	for range 11 {
		d := m.getD(x, rndn)
		x = m.b("sub", x, m.f(d))
		s.Add(s, bigFloat(d))
	}
	return s
}

// bits returns -log2 of the relative error of got as a value of want. Below
// 2^-960 it returns 200 where the error is within half the least subnormal,
// or within one of them with Hi correctly rounded. Wrong signs, infinities,
// NaNs and unnormalised results give a negative number.
func (m *mp) bits(got DD, want *mpfrT) float64 {
	const exact = 200
	w := m.getD(want, rndn)
	switch {
	case math.IsNaN(w) && math.IsNaN(got.Hi) && got.Lo == 0:
		return exact
	case math.IsNaN(w) || math.IsNaN(got.Hi):
		return -1
	case math.Signbit(w) != math.Signbit(got.Hi):
		return -2
	case math.IsInf(w, 0) || math.IsInf(got.Hi, 0):
		if w == got.Hi && got.Lo == 0 {
			return exact
		}
		return -3
	case got.Hi+got.Lo != got.Hi:
		return -4
	}
	err := m.b("sub", m.b("sub", want, m.f(got.Hi)), m.f(got.Lo))
	if math.Abs(w) < 0x1p-960 {
		abs := m.reg()
		m.mul2si(abs, err, 1074, rndn)
		if a := math.Abs(m.getD(abs, rndn)); a <= 0.5+0x1p-40 || a <= 1 && got.Hi == w {
			return exact
		}
	}
	rel := math.Abs(m.getD(m.b("div", err, want), rndn))
	if rel == 0 {
		return exact
	}
	return -math.Log2(rel)
}

const bigPrec = 1200

func bigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(bigPrec).SetFloat64(x)
}

// bigDD is x as a big.Float.
func bigDD(x DD) *big.Float {
	return new(big.Float).SetPrec(bigPrec+1000).Add(bigFloat(x.Hi), bigFloat(x.Lo))
}

// ddOf rounds x to a DD.
func ddOf(x *big.Float) DD {
	hi, _ := x.Float64()
	if hi == 0 || !finite(hi) {
		return DD{Hi: hi}
	}
	lo, _ := new(big.Float).SetPrec(4*bigPrec).Sub(x, bigFloat(hi)).Float64()
	return inside(hi, lo)
}
