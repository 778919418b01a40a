package sim

import (
	"math"
	"math/big"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// semTrans are the transcendental instructions against math's functions in
// f64, whose error is too small to matter but beside halfway.
var semTrans = []sem{
	{name: "v_exp_f32", src: []vtype{tF32}, dst: tF32, clamp: single.clamp01, count: 4000, ref: trans32Ref(exp2Ref), equal: nearly(single)},
	{name: "v_log_f32", src: []vtype{tF32}, dst: tF32, count: 4000, ref: trans32Ref(math.Log2), equal: nearly(single)},
	{name: "v_rcp_f32", src: []vtype{tF32}, dst: tF32, clamp: single.clamp01, ref: trans32Ref(rcpRef)},
	{name: "v_rcp_iflag_f32", src: []vtype{tF32}, dst: tF32, ref: trans32Ref(rcpRef)},
	{name: "v_rsq_f32", src: []vtype{tF32}, dst: tF32, ref: trans32Ref(rsqRef), equal: nearly(single)},
	{name: "v_sqrt_f32", src: []vtype{tF32}, dst: tF32, ref: trans32Ref(math.Sqrt)},
	{name: "v_exp_legacy_f32", src: []vtype{tF32}, dst: tF32, ref: trans32Ref(exp2Ref), equal: nearly(single)},
	{name: "v_log_legacy_f32", src: []vtype{tF32}, dst: tF32, ref: trans32Ref(math.Log2), equal: nearly(single)},
	{name: "v_sin_f32", src: []vtype{tF32}, dst: tF32, count: 4000, ref: func(s []uint64) uint64 { return fromFloat(single, turns(math.Sin, single.float(s[0]))) }, equal: nearly(single)},
	{name: "v_cos_f32", src: []vtype{tF32}, dst: tF32, count: 4000, ref: func(s []uint64) uint64 { return fromFloat(single, turns(math.Cos, single.float(s[0]))) }, equal: nearly(single)},

	{name: "v_exp_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(math.Exp2), equal: nearly(half)},
	{name: "v_log_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(math.Log2), equal: nearly(half)},
	{name: "v_rcp_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(rcpRef), equal: nearly(half)},
	{name: "v_rsq_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(rsqRef), equal: nearly(half)},
	{name: "v_sqrt_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(math.Sqrt), equal: nearly(half)},
	{name: "v_sin_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(func(x float64) float64 { return turns(math.Sin, x) }), equal: nearly(half)},
	{name: "v_cos_f16", src: []vtype{tF16}, dst: tF16, ref: trans16Ref(func(x float64) float64 { return turns(math.Cos, x) }), equal: nearly(half)},

	{name: "v_rcp_f64", src: []vtype{tF64}, dst: tF64, ref: func(s []uint64) uint64 { return math.Float64bits(1 / math.Float64frombits(s[0])) }},
	{name: "v_sqrt_f64", src: []vtype{tF64}, dst: tF64, ref: func(s []uint64) uint64 { return math.Float64bits(math.Sqrt(math.Float64frombits(s[0]))) }},
	{name: "v_rsq_f64", src: []vtype{tF64}, dst: tF64, ref: rsq64Ref},
}

func TestTranscendental(t *testing.T) { checkAll(t, semTrans) }

func rcpRef(x float64) float64 { return 1 / x }

func rsqRef(x float64) float64 {
	if x == 0 {
		return math.Copysign(math.Inf(1), x)
	}
	return 1 / math.Sqrt(x)
}

// exp2Ref has the rule of hardware that what is below 2^-126 is 0.
func exp2Ref(x float64) float64 {
	if x < -126 {
		return 0
	}
	return math.Exp2(x)
}

// turns is f of x turns.
func turns(f func(float64) float64, x float64) float64 {
	switch {
	case math.IsInf(x, 0):
		return math.NaN()
	case x == 0:
		return f(x)
	}
	// The fraction is exact; eighths of a turn keep it small.
	r := x - math.RoundToEven(4*x)/4
	q := int64(math.Mod(math.RoundToEven(4*x), 4))
	s, c := math.Sin(2*math.Pi*r), math.Cos(2*math.Pi*r)
	if f(0) == 1 {
		q++ // cosine
	}
	switch q & 3 {
	case 0:
		return s
	case 1:
		return c
	case 2:
		return -s
	}
	return -c
}

func fromFloat(f ieee, x float64) uint64 { return double.convert(math.Float64bits(x), f) }

// trans32Ref rounds f to f32; subnormal operands and results are zeros.
func trans32Ref(f func(float64) float64) func(s []uint64) uint64 {
	return func(s []uint64) uint64 { return single.flush(fromFloat(single, f(single.float(single.flush(s[0]))))) }
}

func trans16Ref(f func(float64) float64) func(s []uint64) uint64 {
	return func(s []uint64) uint64 { return fromFloat(half, f(half.float(s[0]))) }
}

// nearly takes a neighbour for equal where the reference's own error or the
// sign of a zero may decide: every result is otherwise the nearest.
func nearly(f ieee) func(got, want uint64) bool {
	return func(got, want uint64) bool {
		switch {
		case got == want, f.isNaN(got) && f.isNaN(want), f.mag(got) == 0 && f.mag(want) == 0:
			return true
		case f.isNaN(got) || f.isNaN(want) || f.isInf(got) || f.isInf(want) || f.neg(got) != f.neg(want):
			return false
		}
		return got-want+1 <= 2
	}
}

// rsq64Ref computes in 200 bits.
func rsq64Ref(s []uint64) uint64 {
	a := s[0]
	x := math.Float64frombits(a)
	switch {
	case x != x, x < 0:
		return double.nan()
	case x == 0:
		return a | double.inf()
	case math.IsInf(x, 1):
		return 0
	}
	v := new(big.Float).SetPrec(200).SetFloat64(x)
	v.Sqrt(v)
	return double.round(new(big.Float).SetPrec(200).Quo(big.NewFloat(1), v))
}

// trigPreopRef takes the bits of 2/pi from Machin's formula.
func trigPreopRef(s []uint64) uint64 {
	e := int(s[0] >> 52 & 0x7ff)
	shift := int(s[1]&31) * 53
	if e > 1077 {
		shift += e - 1077
	}
	const digits = 1201
	// The bits from shift on, 53 of them, of the first 1201.
	n := new(big.Int).Rsh(twoOverPi, uint(2400-digits))
	n.Lsh(n, 3000)
	n.Rsh(n, uint(max(0, digits+3000-shift-53)))
	n.And(n, new(big.Int).SetUint64(1<<53-1))
	v := double.exact().SetInt(n)
	scale := -53 - shift
	if e >= 1968 {
		scale += 128
	}
	return double.round(v.SetMantExp(v, scale))
}

// twoOverPi is 2/pi times 2^2400.
var twoOverPi = func() *big.Int {
	const p = 2600
	arctan := func(n int64) *big.Int { // of 1/n, times 2^p
		sum := new(big.Int)
		term := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), p), big.NewInt(n))
		for k := int64(1); term.Sign() != 0; k += 2 {
			t := new(big.Int).Quo(term, big.NewInt(k))
			if k%4 == 1 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			term.Quo(term, big.NewInt(n*n))
		}
		return sum
	}
	pi := new(big.Int).Mul(big.NewInt(16), arctan(5))
	pi.Sub(pi, new(big.Int).Mul(big.NewInt(4), arctan(239)))
	r := new(big.Int).Lsh(big.NewInt(2), p+2400)
	return r.Quo(r, pi)
}()

// TestModel tests that the model of transcendental functions reaches the
// instructions.
func TestModel(t *testing.T) {
	o := Options{Model: PlusULP}
	for _, b := range benches(t) {
		b.w.trans = o.transcendental()
		for i := range b.w.n {
			b.v(0)[i] = math.Float32bits(1.1 + float32(i))
		}
		b.vop3("v_rsq_f32", 1, -1, 0, 0)
		b.vop3("v_exp_f32", 2, -1, 0, 0)
		for i := range b.w.n {
			var cr arith.Transcendental
			if got, want := b.v(1)[i], cr.RsqF32(b.v(0)[i])+1; got != want {
				t.Errorf("rsq lane %d: got %08x, want %08x", i, got, want)
			}
			if got, want := b.v(2)[i], cr.ExpF32(b.v(0)[i])+1; got != want {
				t.Errorf("exp lane %d: got %08x, want %08x", i, got, want)
			}
		}
	}
	notes := map[string]bool{}
	for _, m := range []Model{CorrectlyRounded, PlusULP, MinusULP, RandomULP} {
		notes[(&Options{Model: m}).modelNote()] = true
	}
	if len(notes) != 4 {
		t.Errorf("the models have %d notes, want 4", len(notes))
	}
}
