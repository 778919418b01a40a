package ops

import (
	"fmt"
	"math"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// A budget is how far a library function may be from the truth, in units
// of the last place of f32 and f64 (numerics.md 0.5). measured is the
// largest whole number of units that was seen on either vendor's library,
// over all f32 or 2^32 random f64 (numerics.md 2.1 and 2.2), 0 where none
// is known; half a unit more is then what is likely.
type budget struct {
	f32, f64 float64
	measured int
	source   string
}

// The budgets, and where they are from. CUDA is the CUDA C++ Programming
// Guide 17.1, tables 17 and 18, HIP ROCm/HIP docs/reference/math_api.rst,
// both in whole units; LLVM is llvm-project libc/docs/headers/math, GPU
// conformance, which measured both over every f32.
var (
	budgetExp     = budget{2.5, 1.5, 2, "CUDA f32 2, f64 1; HIP 1; LLVM measured 2 and 1"}
	budgetLog     = budget{2.5, 1.5, 2, "CUDA f32 1, f64 1; HIP f32 2, f64 1; LLVM measured 1 and 2"}
	budgetSin     = budget{2.5, 2.5, 2, "CUDA 2; HIP 1 in [-pi,pi]; LLVM measured 1 and 2"}
	budgetCos     = budget{2.5, 2.5, 2, "CUDA 2; HIP 1 in [-pi,pi]; LLVM measured 2 and 2"}
	budgetTanh    = budget{2.5, 1.5, 2, "CUDA f32 2, f64 1; HIP f32 2, f64 1; LLVM measured 2 and 1"}
	budgetErf     = budget{4.5, 4.5, 2, "CUDA 2; HIP 4 in [-4,4]; LLVM measured 1 and 2"}
	budgetNormcdf = budget{5.5, 5.5, 0, "CUDA 5; HIP documents none"}
	budgetPow     = budget{4.5, 2.5, 2, "CUDA f32 4, f64 2; HIP 1 in [-4,4]x[-2,2]; LLVM measured 2 and 1 of 2^32 random pairs"}
)

func (b budget) of(m *unaryModel) float64 { return [2]float64{b.f32, b.f64}[m.a] }

// eps is b as a relative error of A.
func (b budget) eps(m *unaryModel) float64 { return b.of(m) * 2 * m.uA }

// likely is the likely number of units of the last place of A.
func (b budget) likely(m *unaryModel) float64 {
	if b.measured == 0 {
		return b.of(m)
	}
	return min(b.of(m), float64(b.measured)+0.5)
}

// magnitude is |t|, and no more than where an infinity counts.
func (m *unaryModel) magnitude(t truth.DD) float64 { return math.Min(math.Abs(t.Hi), m.over) }

// rnd is one rounding of y to T: below the normal range half of eta, for
// which eta stands in f64, whose half float64 cannot hold.
func (m *unaryModel) rnd(y float64) float64 {
	if half := m.eta / 2; half > 0 {
		return max(float64(m.u*y), half)
	}
	return max(float64(m.u*y), m.eta)
}

// ulp is a unit of the last place of T at y; beyond the range, that of
// the largest number.
func (m *unaryModel) ulp(y float64) float64 { return m.d.ULP(min(y, m.d.MaxFinite())) }

// single bounds a library function whose result f32 and f64 kernels store
// as it is and half kernels round once.
func (m *unaryModel) single(b budget, t truth.DD) unaryLimits {
	y := m.magnitude(t)
	if !(y < math.Inf(1)) {
		return unaryLimits{t: t}
	}
	rel := max(y, m.minA)
	if !m.half {
		return unaryLimits{t: t, hard: float64(b.eps(m) * rel), likely: float64(b.likely(m) * m.ulp(y))}
	}
	e := float64(b.eps(m) * rel)
	w := unaryLimits{t: t, hard: stored(m.d, y, e), likely: m.ulp(y)/2 + e}
	if m.steps {
		w.hard = m.neighbour(t)
	}
	return w
}

// far adds what AMD's reduction of a large argument leaves in f64: it
// multiplies with 159 bits of 2/pi, of which the argument's 53 may meet
// those above the point, and keeps about 2^-105 of the quadrant.
func (m *unaryModel) far(x float64, w unaryLimits) unaryLimits {
	if m.d == tensor.F64 && math.Abs(x) > 0x1p29 {
		w.hard += 0x1p-102
	}
	return w
}

// neighbour is the distance from t to the farther neighbour of RN(t).
func (m *unaryModel) neighbour(t truth.DD) float64 {
	y := m.magnitude(t)
	r := math.Min(m.d.Round(y), m.over)
	return math.Abs(y-r) + m.ulp(r)
}

// expT is the relative error of exp where a half kernel calls the half
// type's own: f32's exp2 of x*log2(e), whose argument is off by two
// roundings and an approximate instruction by less than budgetExp, and a
// rounding to T (numerics.md 2.3, note).
func (m *unaryModel) expT(x float64) float64 {
	return m.u + float64((5+3*math.Min(math.Abs(x), 128))*m.uA)
}

// overflow is from where, in -x, a half kernel's exp(-x) may be infinite or
// its reciprocal 0: ln of the largest finite number, or of 2^126 in bf16,
// past which CUDA's approximate division gives 0; and the limit of what
// 1/exp(-x) then was.
func (m *unaryModel) overflow() (x, y float64) {
	switch m.d {
	case tensor.F64:
		return 709.78, 1 / tensor.F64.MaxFinite()
	case tensor.F32:
		return 88.72, 1 / tensor.F32.MaxFinite()
	case tensor.F16:
		return 11.08, 1.002 / 65504
	}
	return 87.2, 0x1.02p-126
}

// overflowA is overflow of A.
func (m *unaryModel) overflowA() (x, y float64) {
	if m.half {
		return 88.72, 1 / tensor.F32.MaxFinite()
	}
	return m.overflow()
}

// quotient bounds y = scale/(1+exp(-x)), whose truth is t and whose
// denominator's share 1/(1+exp(-x)) is s: exp's error counts by what exp(-x)
// is of the denominator, then one rounding each of the sum and the quotient.
func (m *unaryModel) quotient(x, scale, s float64, t truth.DD) unaryLimits {
	y := m.magnitude(t)
	if !(y < math.Inf(1)) {
		return unaryLimits{t: t}
	}
	a := float64(y * (float64((1-s)*budgetExp.eps(m)) + float64(2*m.uA)))
	if from, limit := m.overflowA(); -x > from {
		a += float64(scale * limit)
	}
	if !m.half {
		return unaryLimits{t: t, hard: a + m.rnd(y), likely: a + m.etaA}
	}
	if !m.steps {
		return unaryLimits{t: t, hard: stored(m.d, y, a), likely: a + m.ulp(y)/2}
	}
	b := float64(y*(float64((1-s)*m.expT(x))+float64(2*m.u)+float64(4*m.uA))) + float64(scale*m.eta)
	if from, limit := m.overflow(); -x > from {
		b += float64(scale * limit)
	}
	return unaryLimits{t: t, hard: b + m.rnd(y), likely: a + m.ulp(y)/2}
}

func (m *unaryModel) sigmoid(x float64) unaryLimits {
	t := truth.Sigmoid(x)
	return m.quotient(x, 1, t.Hi, t)
}

func (m *unaryModel) silu(x float64) unaryLimits {
	w := m.quotient(x, math.Abs(x), truth.Sigmoid(x).Hi, truth.Silu(x))
	return m.lowerLimit(x, w)
}

// lowerLimit lets x*0 at -Inf be NaN, as the arithmetic has it, or the
// limit.
func (m *unaryModel) lowerLimit(x float64, w unaryLimits) unaryLimits {
	if math.IsInf(x, -1) {
		return unaryLimits{t: w.t, allow: compare.NaN}
	}
	return w
}

func (m *unaryModel) elu(x float64) unaryLimits {
	alpha := math.Abs(m.param)
	w := unaryLimits{t: truth.Elu(x, m.param)}
	if !(x <= 0) {
		return w // x itself, or NaN
	}
	e, d, y := truth.Exp(x).Hi, math.Abs(truth.Expm1(x).Hi), m.magnitude(w.t)
	err := func(eps, u, eta float64) float64 {
		return float64(alpha*(float64(eps*e)+float64(u*(d+eps*e))+eta)) + float64(u*y)
	}
	w.hard = err(budgetExp.eps(m), m.uA, m.etaA) + float64(m.uA*y) + m.rnd(y)
	w.likely = err(budgetExp.eps(m), m.uA, 0) + m.etaA
	if m.half {
		w.hard = stored(m.d, y, err(budgetExp.eps(m), m.uA, m.etaA)+float64(m.uA*y))
		w.likely += m.ulp(y) / 2
	}
	if m.steps {
		w.hard = err(m.expT(x), m.u, m.eta) + float64(m.u*y) + m.rnd(y)
	}
	return w
}

func (m *unaryModel) gelu(x float64) unaryLimits {
	w := unaryLimits{t: truth.GeluTanh(x)}
	y, a := m.magnitude(w.t), math.Min(math.Abs(x), m.over)
	if !(a < math.Inf(1)) || math.IsInf(x, 1) {
		return m.lowerLimit(x, w)
	}
	z := math.Min(0.7978845608028654*(a+0.044715*float64(float64(a*a)*a)), 1e4)
	q := truth.Exp(-2 * z).Hi
	th, slope := (1-q)/(1+q), 4*q/float64((1+q)*(1+q))
	sum := 1 + math.Copysign(th, x)
	if x < 0 {
		sum = 2 * q / (1 + q)
	}
	// 8 roundings of z, or fewer, move tanh along its slope, which is
	// largest at the end nearer to zero.
	err := func(tanh, u, eta float64) float64 {
		dz := float64(8*u*z) + 2*eta
		dth := float64(math.Min(1, slope*truth.Exp(math.Min(2*dz, 80)).Hi) * dz)
		return float64(0.5*a*(dth+float64(tanh*th)+float64(u*sum)))*(1+4*u) + float64(u*y) + eta
	}
	f := budgetTanh.eps(m)
	w.hard = err(f, m.uA, m.etaA) + float64(m.uA*y) + m.rnd(y)
	w.likely = err(f, m.uA, m.etaA)
	if m.half {
		w.hard = stored(m.d, y, err(f, m.uA, m.etaA)+float64(m.uA*y))
		w.likely += m.ulp(y) / 2
	}
	if m.steps {
		w.hard = err(f+m.u, m.u, m.eta) + float64(m.u*y) + m.rnd(y)
	}
	return m.lowerLimit(x, w)
}

func (m *unaryModel) geluErf(x float64) unaryLimits {
	w := unaryLimits{t: truth.GeluErf(x)}
	y, a := m.magnitude(w.t), math.Min(math.Abs(x), m.over)
	if !(a < math.Inf(1)) || math.IsInf(x, 1) {
		return m.lowerLimit(x, w)
	}
	phi := truth.Normcdf(x).Hi
	f := float64(a * float64(budgetNormcdf.eps(m)*max(phi, m.minA)))
	w.hard = f + float64(m.uA*y) + m.rnd(y)
	w.likely = f + m.rnd(y)
	if m.half {
		w.hard = stored(m.d, y, f+float64(m.uA*y))
		w.likely = f + float64(m.uA*y) + m.ulp(y)/2
	}
	if m.steps {
		w.hard = float64((f+float64(a*max(float64(m.u*phi), m.eta/2)))*(1+m.u)) + float64(m.u*y) + m.rnd(y)
	}
	return m.lowerLimit(x, w)
}

// recip is of half types only.
func (m *unaryModel) recip(x float64) unaryLimits {
	w := unaryLimits{t: truth.Recip(x)}
	y := m.magnitude(w.t)
	if math.IsInf(w.t.Hi, 0) || math.IsNaN(x) {
		return w
	}
	w.likely = m.ulp(y) / 2
	if !m.steps {
		w.hard = stored(m.d, y, float64(m.uA*y))
		return w
	}
	w.hard = w.likely + float64(0x1p-22*y)
	if m.d == tensor.BF16 {
		switch a := math.Abs(x); {
		case a > 0x1p126:
			w.hard = y
		case a < 0x1p-126:
			w.hard = m.neighbour(w.t)
		}
	}
	return w
}

// sqrt is of half types only.
func (m *unaryModel) sqrt(x float64) unaryLimits {
	w := unaryLimits{t: truth.Sqrt(x)}
	if y := m.magnitude(w.t); y < math.Inf(1) && !math.IsInf(x, 1) {
		w.likely = m.ulp(y) / 2
		switch {
		case !m.steps:
			w.hard = stored(m.d, y, float64(m.uA*y))
		case m.d == tensor.F16:
			w.hard = 1.02 * w.likely
		default:
			w.hard = w.likely + float64(0x1p-22*y)
		}
	}
	return w
}

// unaryText is the text of an op's bound: of the parts that keys name, in
// order.
func unaryText(keys []string) string {
	var list []string
	for _, k := range keys {
		t, ok := unaryBounds[k]
		if !ok {
			panic("ops: no text of the bound " + k)
		}
		list = append(list, t)
	}
	return strings.Join(list, "\n")
}

var unaryBounds = func() map[string]string {
	texts := map[string]string{
		"exact": `0: every result is the one that IEEE 754 or the definition gives, rounded once; half
types are computed in f32, which is more than twice as precise (numerics.md 0.4, 4.6)`,
		"signed": `zeros must have the right sign (numerics.md 5.3)`,
		"units": `u: unit roundoff, eta: smallest subnormal, N: smallest normal number, of the type A that
computes (f32 for half types) or of the stored type T. eps(f) = 2*u_A*budget(f).
Where t is subnormal in A, N stands for it; where it leaves T's range, 2^(emax+1).
rnd(y) = max(u_T*|y|, eta_T/2), a rounding to T; in f64 eta for eta/2
Of a half type the bound is that of the source's arithmetic, which is declared: "in float" if it
computes in float and rounds once at the store, as all bundled kernels do, "in steps" if it may
round every step to T, as candle's do, or if nothing is known of it`,
		"single": `f32, f64: |y-t| <= eps(f)*|t|, likely <= (measured+1/2) ulp(t)
f16, bf16 in float: |y-t| <= eps(f)*|t| + eta_f32 + ulp_T/2, ulp_T where t and that error reach
f16, bf16 in steps: y is RN(t) or a neighbour of it; likely |y-t| <= ulp_T(t)/2 + eps(f)*|t|, and
at most 1 % are not RN(t). The neighbour is for CUDA's half functions, which evaluate exp2
and log2 approximately in f32, and for AMD's, where LLVM measured 1 (numerics.md 2.3)`,
		"far": `f64, |x| > 2^29: + 2^-102. AMD's library reduces such arguments with 159 bits of 2/pi (three of
v_trig_preop_f64), so that next to a zero the result is not relatively accurate: the HIP
kernel of cos is 405 ulp off at 0x1.6ac5b262ca1ffp849, by 2^-104.3`,
		"quotient": `f32, f64, s = 1/(1+exp(-x)): |y-t| <= |t|*((1-s)*eps(exp) + 2u) + rnd(t)
f16, bf16 in float: the f32 bound and a rounding to T
f16, bf16 in steps: as candle computes in T, |t|*((1-s)*e + 2u_T + 4u_f32) + eta_T + rnd(t), where
e = u_T + (5+3|x|)*u_f32 is the error of the half type's exp, evaluated as exp2(x*log2(e))
in f32 (numerics.md 2.3). Likely, computed in f32: the f32 bound + ulp_T(t)/2
eta_T and what follows are times |x| for silu. Where exp(-x) overflows, 1/exp(-x) is 0:
+ 1/maxfinite, from -x = 709.78 in f64, 88.72 in f32, 11.08 in f16; in bf16 + 2^-126 from
87.2, since CUDA's approximate division gives 0 past 2^126 (PTX ISA, div.approx.f32)`,
		"-inf": `at -Inf the arithmetic gives Inf*0 or Inf/Inf: NaN, or the limit 0, are both right (5.3)`,
		"elu": `x > 0: 0, y is x. Else |y-t| <= |alpha|*(eps(exp)*e^x + u*|e^x-1| + eta) + 2u*|t| + rnd(t)
f16, bf16 in float: the f32 bound and a rounding to T
f16, bf16 in steps: as candle computes in T, with u_T for u and u_T + (5+3|x|)*u_f32 for eps(exp), the
half type's exp being exp2(x*log2(e)) in f32. Likely, computed in f32: that bound + ulp_T(t)/2
There is no relative accuracy towards -0: exp(x) is rounded before 1 is taken from it`,
		"gelu": `z = sqrt(2/pi)*(x+0.044715*x^3), th = tanh(z):
|y-t| <= |x|/2*((1-th^2)*|z|*8u + eps(tanh)*|th| + u*(1+th)) + 2u*|t| + rnd(t)
8u is for three roundings of the cubic term's product, two of constants, one each of its
product, the sum and z. 1-th^2 is taken where it is largest within them. f16, bf16 in float: that
of f32 and a rounding to T; in steps: as candle computes in T, with u_T for u and eps(tanh)+u_T for tanh. Likely, computed in f32: the f32
bound + ulp_T(t)/2. The negative tail has absolute accuracy, not relative: 1+th cancels`,
		"gelu_erf": `|y-t| <= |x|*eps(normcdf)*max(Phi(x),N) + u*|t| + rnd(t)
f16, bf16 in float: the f32 bound and a rounding to T
f16, bf16 in steps: as candle rounds Phi and the product to T, + |x|*max(u_T*Phi, eta_T/2) + u_T*|t|.
Likely, computed in f32: the f32 bound + ulp_T(t)/2`,
		"recip": `f32, f64: 0, the nearest. f16, bf16 in float: a rounding to f32 and one to T.
f16, bf16 in steps: the nearest wherever 1/x is 2^-22 or more from
halfway between two numbers, likely everywhere. 2^-22 is for CUDA, which multiplies with
an approximate reciprocal (rcp.approx.ftz.f32: 2^-23) in f16 and divides approximately
(div.approx.f32: 2 ulp) in bf16; the latter gives 0 for |x| > 2^126, and for |x| < 2^-126
is not specified: a neighbour of the nearest is allowed there (numerics.md 2.3, PTX ISA)`,
		"sqrt": `f32, f64: 0, the nearest. f16, bf16 in float: a rounding to f32 and one to T.
In steps, bf16: the nearest wherever sqrt(x) is 2^-22 or more from halfway
between two numbers; f16: |y-t| <= 0.51 ulp; likely the nearest everywhere. CUDA takes
sqrt.approx.f32 (2^-23) for both, AMD's v_sqrt_f16 has 0.51 ulp (numerics.md 2.3, LLVM)`,
	}
	for name, b := range map[string]budget{
		"exp": budgetExp, "log": budgetLog, "sin": budgetSin, "cos": budgetCos, "tanh": budgetTanh,
		"erf": budgetErf, "normcdf": budgetNormcdf, "pow": budgetPow,
	} {
		texts["budget "+name] = fmt.Sprintf("budget(%s) = %g ulp in f32, %g in f64 (numerics.md 0.5): %s", name, b.f32, b.f64, b.source)
	}
	return texts
}()
