package arith

import "math"

// Double-double arithmetic: a number is hi+lo with |lo| at most half an ULP
// of hi. Relative errors are about 2^-100. math.FMA is exact on every GOARCH.

// twoSum returns hi+lo = a+b exactly, for |a| >= |b|.
func twoSum(a, b float64) (hi, lo float64) {
	hi = a + b
	return hi, b - (hi - a)
}

// mul returns (ah+al)*(bh+bl).
func mul(ah, al, bh, bl float64) (hi, lo float64) {
	p := float64(ah * bh)
	e := math.FMA(ah, bh, -p)
	e += float64(ah*bl) + float64(al*bh)
	return twoSum(p, e)
}

// over returns (ah+al)/k for an integer k.
func over(ah, al, k float64) (hi, lo float64) {
	q := ah / k
	return twoSum(q, (math.FMA(-q, k, ah)+al)/k)
}

// horner returns 1 + z/k1*(1 + z/k2*(1 + ...)) for z = zh+zl, where step i
// divides by k(i), for i from n down to 1.
func horner(zh, zl float64, n int, k func(i float64) float64) (hi, lo float64) {
	hi = 1
	for i := float64(n); i > 0; i-- {
		h, l := mul(zh, zl, hi, lo)
		h, l = over(h, l, k(i))
		s, e := twoSum(1, h)
		hi, lo = twoSum(s, e+l)
	}
	return hi, lo
}

// exp2dd returns 2^x for |x| < 1000.
func exp2dd(x float64) (hi, lo float64) {
	n := math.RoundToEven(x)
	r := x - n
	zh, zl := mul(r, 0, ln2Hi, ln2Lo)
	// 0.35^26/26! < 2^-127.
	hi, lo = horner(zh, zl, 26, func(i float64) float64 { return i })
	return math.Ldexp(hi, int(n)), math.Ldexp(lo, int(n))
}

// log2dd returns log2(x) given y near it: with d = x*2^-y - 1,
// log2(x) = y + ln(1+d)/ln(2), and d*d*d is beyond the last bit.
func log2dd(x, y float64) (hi, lo float64) {
	eh, el := exp2dd(-y)
	p := float64(x * eh)
	d := (p - 1) + (math.FMA(x, eh, -p) + float64(x*el))
	return twoSum(y, float64((d-float64(0.5*float64(d*d)))*invLn2Hi))
}

// sinTurndd returns sin(2*pi*f) for |f| <= 1/8.
func sinTurndd(f float64) (hi, lo float64) {
	zh, zl := mul(f, 0, twoPiHi, twoPiLo)
	wh, wl := mul(zh, zl, zh, zl)
	// 0.79^30/31! < 2^-120.
	sh, sl := horner(-wh, -wl, 15, func(i float64) float64 { return 2 * i * (2*i + 1) })
	return mul(zh, zl, sh, sl)
}

// cosTurndd returns cos(2*pi*f) for |f| <= 1/8.
func cosTurndd(f float64) (hi, lo float64) {
	zh, zl := mul(f, 0, twoPiHi, twoPiLo)
	wh, wl := mul(zh, zl, zh, zl)
	return horner(-wh, -wl, 15, func(i float64) float64 { return 2 * i * (2*i - 1) })
}

// odd64 returns hi+lo rounded to odd: an f32 rounded from it is rounded once.
func odd64(hi, lo float64) float64 {
	u := math.Float64bits(hi)
	if lo == 0 || u&1 != 0 {
		return hi
	}
	if (lo > 0) == (hi > 0) {
		u++
	} else {
		u--
	}
	return math.Float64frombits(u)
}
