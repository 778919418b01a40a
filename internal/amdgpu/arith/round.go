package arith

import "math/bits"

// A layout is a binary interchange format: p bits of significand with the
// hidden one, exponents emin..emax of normal numbers.
type layout struct {
	p, emin, emax int
	inf           uint64
}

var (
	layout16 = layout{11, -14, 15, exp16}
	layout32 = layout{24, -126, 127, exp32}
	layout64 = layout{53, -1022, 1023, exp64}
)

// round returns the magnitude bits of m*2^e, m not 0, rounded once to f.
// A set bit 0 of m may stand for any remainder below it (round to odd), as
// long as m then has two bits more than f.p. neg is the sign, which decides
// the directed modes.
func (f *layout) round(neg bool, m uint64, e int, r Round) uint64 {
	lz := bits.LeadingZeros64(m)
	m <<= lz
	top := e - lz + 63 // m*2^e lies in [2^top, 2^(top+1))
	drop := 64 - f.p
	if top < f.emin {
		drop += f.emin - top
	}
	if drop > 64 { // below half of the smallest subnormal
		m, drop = 1, 63
	}
	// drop is 64 where the leading bit is half of the smallest subnormal.
	q := m >> drop
	rest := m << (64 - drop)
	const half = 1 << 63
	var up bool
	switch r {
	case RoundEven:
		up = rest > half || rest == half && q&1 == 1
	case RoundUp:
		up = rest != 0 && !neg
	case RoundDown:
		up = rest != 0 && neg
	}
	if up {
		q++
	}
	if top >= f.emin {
		// The hidden bit of q adds the last one to the exponent field.
		q += uint64(top-f.emin) << (f.p - 1)
	}
	if q >= f.inf || top > f.emax {
		if r == RoundTrunc || r == RoundUp && neg || r == RoundDown && !neg {
			return f.inf - 1
		}
		return f.inf
	}
	return q
}

// tiny reports whether m*2^e, rounded to f.p bits with no lower limit to its
// exponent, is below the smallest normal number.
func (f *layout) tiny(neg bool, m uint64, e int, r Round) bool {
	if e+bits.Len64(m)-1 >= f.emin {
		return false
	}
	lz := bits.LeadingZeros64(m)
	m <<= lz
	if e-lz+63 < f.emin-1 {
		return true
	}
	// In [2^(emin-1), 2^emin): not tiny only where it rounds up to 2^emin.
	if m>>(64-f.p) != 1<<f.p-1 {
		return true
	}
	low := m << f.p // what is rounded away
	switch r {
	case RoundEven:
		return low < 1<<63
	case RoundUp:
		return neg || low == 0
	case RoundDown:
		return !neg || low == 0
	}
	return true
}

// split64 returns the significand and exponent of the finite, non-zero a:
// |a| = m*2^e.
func split64(a uint64) (m uint64, e int) {
	x := int(a >> 52 & 0x7ff)
	m = a & man64
	if x == 0 {
		return m, -1074
	}
	return m | 1<<52, x - 1075
}

// sum returns x*2^ex + y*2^ey for 128-bit x = xh:xl with its top bit at 126
// and likewise y, as m*2^e with the remainder folded into bit 0 of m (round
// to odd), m of 64 bits; neg is the sign. m is 0 for an exact zero.
func sum(xneg bool, xh, xl uint64, ex int, yneg bool, yh, yl uint64, ey int) (neg bool, m uint64, e int) {
	if ex < ey || ex == ey && (xh < yh || xh == yh && xl < yl) {
		xneg, xh, xl, ex, yneg, yh, yl, ey = yneg, yh, yl, ey, xneg, xh, xl, ex
	}
	yh, yl = shiftRightJam(yh, yl, ex-ey)
	var c uint64
	if xneg == yneg {
		xl, c = bits.Add64(xl, yl, 0)
		xh, _ = bits.Add64(xh, yh, c)
	} else {
		xl, c = bits.Sub64(xl, yl, 0)
		xh, _ = bits.Sub64(xh, yh, c)
	}
	m, e = narrow(xh, xl, ex)
	return xneg, m, e
}

// shiftRightJam shifts h:l right by n, or-ing what falls off into bit 0.
func shiftRightJam(h, l uint64, n int) (uint64, uint64) {
	var lost bool
	switch {
	case n == 0:
		return h, l
	case n < 64:
		lost = l<<(64-n) != 0
		l = l>>n | h<<(64-n)
		h >>= n
	case n < 128:
		lost = l != 0 || h<<(128-n) != 0
		l = h >> (n - 64)
		h = 0
	default:
		lost = h|l != 0
		h, l = 0, 0
	}
	if lost {
		l |= 1
	}
	return h, l
}

// narrow returns the 128-bit h:l times 2^e as m*2^e', with the remainder
// folded into bit 0 of m.
func narrow(h, l uint64, e int) (uint64, int) {
	if h == 0 {
		if l == 0 {
			return 0, 0
		}
		return l, e
	}
	lz := bits.LeadingZeros64(h)
	m := h<<lz | l>>(64-lz)
	if l<<lz != 0 {
		m |= 1
	}
	return m, e + 64 - lz
}

// widen places the significand m into the upper half of a 128-bit number
// with its top bit at 126: m*2^e = h:0 * 2^e'.
func widen(m uint64, e int) (h uint64, e2 int) {
	lz := bits.LeadingZeros64(m) - 1
	return m << lz, e - lz - 64
}

// fused returns a*b+c for finite f64 a, b, c as m*2^e of the sign neg, with
// the remainder folded into bit 0. m is 0 for a zero result, whose sign
// follows r.
func fused(a, b, c uint64, r Round) (neg bool, m uint64, e int) {
	pneg := (a^b)&sign64 != 0
	cneg := c&sign64 != 0
	pzero := a&^sign64 == 0 || b&^sign64 == 0
	czero := c&^sign64 == 0
	switch {
	case pzero && czero:
		if pneg == cneg {
			return pneg, 0, 0
		}
		return r == RoundDown, 0, 0
	case pzero:
		m, e = split64(c)
		return cneg, m, e
	}
	ma, ea := split64(a)
	mb, eb := split64(b)
	// Normalise both factors, so that the product has its top bit at 105 or
	// 106 whatever they were.
	la, lb := bits.LeadingZeros64(ma)-11, bits.LeadingZeros64(mb)-11
	ph, pl := bits.Mul64(ma<<la, mb<<lb)
	ep := ea - la + eb - lb
	if czero {
		m, e = narrow(ph, pl, ep)
		return pneg, m, e
	}
	s := bits.LeadingZeros64(ph) - 1
	ph, pl = ph<<s|pl>>(64-s), pl<<s
	mc, ec := split64(c)
	ch, ec := widen(mc, ec)
	neg, m, e = sum(pneg, ph, pl, ep-s, cneg, ch, 0, ec)
	if m == 0 {
		neg = r == RoundDown
	}
	return neg, m, e
}
