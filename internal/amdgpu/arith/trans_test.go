package arith

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// functions32 are the f32 functions with their names in libmpfr and the
// operands they are defined on, less those with a rule of their own.
var functions32 = []struct {
	name, mpfr string
	f          func(uint32) uint32
	in         func(x float64) bool
}{
	{"exp", "exp2", Transcendental{}.ExpF32, func(x float64) bool { return math.Abs(x) >= 0x1p-24 && x >= -126 && x < 128 }},
	{"log", "log2", Transcendental{}.LogF32, func(x float64) bool { return x >= 0x1p-126 }},
	{"rcp", "ui_div", Transcendental{}.RcpF32, func(x float64) bool { return math.Abs(x) >= 0x1p-126 && math.Abs(x) <= 0x1p126 }},
	{"rsq", "rec_sqrt", Transcendental{}.RsqF32, func(x float64) bool { return x >= 0x1p-126 }},
	{"sqrt", "sqrt", Transcendental{}.SqrtF32, func(x float64) bool { return x >= 0x1p-126 }},
	{"sin", "sinu", sin32, func(x float64) bool { return x != 0 }},
	{"cos", "cosu", cos32, func(x float64) bool { return x != 0 }},
}

func sin32(a uint32) uint32 { return Transcendental{}.SinF32(DefaultMode, a) }
func cos32(a uint32) uint32 { return Transcendental{}.CosF32(DefaultMode, a) }

// samples32 calls f with n seeded f32 of each of several kinds.
func samples32(n int, f func(a uint32)) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		f(r.Uint32())                                      // any
		f(bits32(float32(r.Float64()*256 - 128)))          // uniform, the range of exp
		f(bits32(float32(1 + (r.Float64()-0.5)/64)))       // about 1
		f(bits32(float32(math.Ldexp(r.Float64(), -20))))   // small
		f(one32 + uint32(int32(r.IntN(2001)-1000)))        // next to 1
		f(bits32(float32(r.IntN(1<<12)) / 8))              // simple fractions
		f(0x3380_0000 + r.Uint32N(0x4300_0000-0x33800000)) // log-uniform, 2^-24 to 128
	}
}

func TestTranscendentalF32(t *testing.T) {
	m := openMPFR(t)
	for _, fn := range functions32 {
		n := 0
		samples32(6000, func(a uint32) {
			x := float64(f32(a))
			if math.IsNaN(x) || math.IsInf(x, 0) || !fn.in(x) {
				return
			}
			want := bits32(float32(m.odd(fn.mpfr, x)))
			got := fn.f(a)
			if got<<1 == 0 && want<<1 == 0 {
				got, want = 0, 0 // signs of zero have their own test
			}
			if got != want {
				if n++; n < 5 {
					t.Errorf("%s(%#08x = %v) = %#08x, want %#08x", fn.name, a, f32(a), got, want)
				}
			}
		})
	}
}

// TestTranscendentalF32All compares every operand; it takes minutes per
// function and runs with PARITYCHECK_EXHAUSTIVE set to the number of operands
// to step by, 1 for all.
func TestTranscendentalF32All(t *testing.T) {
	step, err := strconv.ParseUint(os.Getenv("PARITYCHECK_EXHAUSTIVE"), 10, 32)
	if err != nil || step == 0 {
		t.Skip("set PARITYCHECK_EXHAUSTIVE=1 to compare every operand with libmpfr")
	}
	m := openMPFR(t)
	for _, fn := range functions32 {
		t.Run(fn.name, func(t *testing.T) {
			n := 0
			for u := uint64(0); u < 1<<32; u += step {
				a := uint32(u)
				x := float64(f32(a))
				if math.IsNaN(x) || math.IsInf(x, 0) || !fn.in(x) {
					continue
				}
				want := bits32(float32(m.odd(fn.mpfr, x)))
				got := fn.f(a)
				if got != want && (got<<1 != 0 || want<<1 != 0) {
					if n++; n < 5 {
						t.Errorf("%s(%#08x) = %#08x, want %#08x", fn.name, a, got, want)
					}
				}
			}
		})
	}
}
