package arith

import (
	"math"
	"math/big"
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
		samples32(2500, func(a uint32) {
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

// TestTranscendentalF16 compares every third f16, and all of them with
// PARITYCHECK_EXHAUSTIVE set.
func TestTranscendentalF16(t *testing.T) {
	m := openMPFR(t)
	step := 3
	if os.Getenv("PARITYCHECK_EXHAUSTIVE") != "" {
		step = 1
	}
	var tr Transcendental
	const md = DefaultMode
	narrow := func(x float64) uint16 { return NarrowF32(odd32(x)) }
	for u := 0; u < 1<<16; u += step {
		a := uint16(u)
		x := float64(f32(WideF16(a)))
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
			continue
		}
		check := func(name string, got, want uint16) {
			t.Helper()
			if got != want {
				t.Errorf("%s(%#04x = %v) = %#04x, want %#04x", name, a, x, got, want)
			}
		}
		check("exp", tr.ExpF16(md, a), narrow(m.odd("exp2", max(-100, min(100, x)))))
		// The others round to f32 first.
		check("rcp", tr.RcpF16(md, a), NarrowF32(bits32(float32(m.odd("ui_div", x)))))
		if s := m.odd("sinu", x); s != 0 {
			check("sin", tr.SinF16(md, a), NarrowF32(bits32(float32(s))))
		}
		if c := m.odd("cosu", x); c != 0 {
			check("cos", tr.CosF16(md, a), NarrowF32(bits32(float32(c))))
		}
		if x > 0 {
			check("log", tr.LogF16(md, a), narrow(m.odd("log2", x)))
			check("rsq", tr.RsqF16(md, a), NarrowF32(bits32(float32(m.odd("rec_sqrt", x)))))
			check("sqrt", tr.SqrtF16(md, a), NarrowF32(bits32(float32(m.odd("sqrt", x)))))
		}
	}
}

func TestRsqF64(t *testing.T) {
	// r is right if x lies between the squares of the reciprocals of the
	// midpoints about it.
	r := rand.New(rand.NewPCG(15, 16))
	check := func(a uint64) {
		t.Helper()
		got := Transcendental{}.RsqF64(DefaultMode, a)
		x := forms[2].value(a)
		for d := int64(-1); d <= 1; d += 2 {
			mid := forms[2].value(got)
			mid.Add(mid, forms[2].value(got+uint64(d)))
			mid.SetMantExp(mid, -1)
			mid.Mul(mid, mid).Mul(mid, x)
			if c := mid.Cmp(big.NewFloat(1)); c != int(d) {
				t.Errorf("RsqF64(%#016x) = %#016x: off by more than half a unit", a, got)
			}
		}
	}
	for range 20000 {
		check(r.Uint64() & 0x7fdfffffffffffff)
		check(r.Uint64() & man64)
	}
}

// TestTranscendentalSpecials is the table of flushes and special values in
// captures of hardware: see Transcendental.
func TestTranscendentalSpecials(t *testing.T) {
	var tr Transcendental
	const flush = DefaultMode &^ (denorm32 | denorm1664)
	sinFlush := func(a uint32) uint32 { return tr.SinF32(flush, a) }
	const nInf, nNaN, nZero = 0xff800000, 0xffc00000, 0x80000000
	type pairs map[uint32]uint32
	for _, c := range []struct {
		name string
		f    func(uint32) uint32
		want pairs
	}{
		{"exp", tr.ExpF32, pairs{0: one32, nZero: one32, 1: one32, 0x337fffff: one32, 0xb37fffff: one32,
			0x42ffffff: 0x7f7fffa7, 0x43000000: exp32, exp32: exp32, nInf: 0, 0xc2fc0000: 0x00800000, 0xc2fc0001: 0, 0x7f800001: 0x7fc00001}},
		{"log", tr.LogF32, pairs{0: nInf, nZero: nInf, 1: nInf, 0x007fffff: nInf, 0x807fffff: nInf, 0x00800000: 0xc2fc0000,
			one32: 0, 0xbf800000: nNaN, exp32: exp32, nInf: nNaN, 0xff800001: 0xffc00001}},
		{"rcp", tr.RcpF32, pairs{0: exp32, nZero: nInf, 1: exp32, 0x807fffff: nInf, exp32: 0, nInf: nZero,
			0x7e800000: 0x00800000, 0x7e800001: 0, 0xfe800001: nZero, 0x00800000: 0x7e800000}},
		{"rsq", tr.RsqF32, pairs{0: exp32, nZero: nInf, 1: exp32, 0x80000001: nInf, exp32: 0, nInf: nNaN, 0xbf800000: nNaN}},
		{"sqrt", tr.SqrtF32, pairs{0: 0, nZero: nZero, 0x007fffff: 0, 0x80000001: nZero, exp32: exp32, nInf: nNaN, 0xbf800000: nNaN, 0x40800000: 0x40000000}},
		{"sin", sin32, pairs{0: 0, nZero: nZero, exp32: nNaN, nInf: nNaN, 0x3e800000: one32, 0xbe800000: 0xbf800000,
			0x3f000000: 0, 0xbf000000: 0, one32: 0, 0xcb800000: 0, 1: 6, 0x7fc00000: 0x7fc00000}},
		{"sin, flushing", sinFlush, pairs{1: 0, 0x80000001: nZero}},
		{"cos", cos32, pairs{0: one32, 1: one32, exp32: nNaN, 0x3e800000: 0, 0x3f000000: 0xbf800000, 0x4b800000: one32}},
	} {
		for a, want := range c.want {
			if got := c.f(a); got != want {
				t.Errorf("%s(%#08x) = %#08x, want %#08x", c.name, a, got, want)
			}
		}
	}
}

func TestTranscendentalModels(t *testing.T) {
	moved := map[int]int{}
	samples32(300, func(a uint32) {
		want := Transcendental{}.ExpF32(a)
		random := Transcendental{Model: Random, Seed: 5}
		r := random.ExpF32(a)
		if r != random.ExpF32(a) {
			t.Fatalf("Random on %#08x gives two results", a)
		}
		if d := int(int32(r - want)); d < -1 || d > 1 {
			t.Errorf("Random moves exp(%#08x) by %d", a, d)
		} else {
			moved[d]++
		}
		if want&exp32 == exp32 || want == 0 || want == 0x00800000 || a&^sign32 < 0x33800000 {
			return
		}
		if r := (Transcendental{Model: PlusULP}).ExpF32(a); r != want+1 {
			t.Errorf("PlusULP gives exp(%#08x) = %#08x, want %#08x", a, r, want+1)
		}
		if r := (Transcendental{Model: MinusULP}).ExpF32(a); r != want-1 {
			t.Errorf("MinusULP gives exp(%#08x) = %#08x, want %#08x", a, r, want-1)
		}
	})
	for d := -1; d <= 1; d++ {
		if moved[d] < 200 {
			t.Errorf("Random moved %d results by %d, want a third of each", moved[d], d)
		}
	}
	plus := Transcendental{Model: PlusULP}
	if r := plus.LogF32(0x3f000000); r != 0xbf7fffff {
		t.Errorf("PlusULP log(0.5) = %#08x, want the value above -1", r)
	}
	for _, a := range []uint32{0, exp32, 0x7fc00000} {
		if plus.RcpF32(a) != (Transcendental{}).RcpF32(a) {
			t.Errorf("PlusULP moves rcp(%#08x)", a)
		}
	}
	if r := plus.SinF32(DefaultMode, 0x3e800000); r != one32 {
		t.Errorf("PlusULP sin(1/4) = %#08x, want 1", r)
	}
}

// TestHardCases has the operands whose results lie nearest to the middle of
// two f32, found by going through all operands: within 3 ULP of f64. The f64
// evaluation alone gets 0x3b429d37 and 0xbcf3a937 of exp wrong.
func TestHardCases(t *testing.T) {
	m := openMPFR(t)
	hard := map[string][]uint32{
		"exp": {0x3b429d37, 0xb52d1f9a, 0xbcf3a937, 0x3a07857c, 0xb8d3d026, 0xbaec2b40, 0x3c02a9ad, 0x36879cf7, 0xbe1f29de},
		"log": {0x3ea07ab9, 0x40207ab9},
		"rsq": {0x403a18e3, 0x3e3a18e3},
		"sin": {0x34654db5, 0x3d7d7f58, 0x37eacaf6},
		"cos": {0x390721a7},
	}
	for _, fn := range functions32 {
		for _, a := range hard[fn.name] {
			if got, want := fn.f(a), bits32(float32(m.odd(fn.mpfr, float64(f32(a))))); got != want {
				t.Errorf("%s(%#08x) = %#08x, want %#08x", fn.name, a, got, want)
			}
		}
	}
	if r := bits32(float32(exp2(float64(f32(0x3b429d37))))); r == (Transcendental{}).ExpF32(0x3b429d37) {
		t.Error("exp2 alone rounds the hard case rightly: the case tests nothing")
	}
}

// TestDoubleDouble holds the evaluations behind the hard cases to 53 bits
// rounded to odd, on operands that do not need them.
func TestDoubleDouble(t *testing.T) {
	m := openMPFR(t)
	r := rand.New(rand.NewPCG(23, 24))
	check := func(name string, x, hi, lo float64) {
		t.Helper()
		if got, want := odd64(hi, lo), m.odd(name, x); got != want {
			t.Errorf("%s(%x) = %x, want %x", name, x, got, want)
		}
	}
	for range 1500 {
		x := float64(float32(r.Float64()*256 - 128))
		hi, lo := exp2dd(x)
		check("exp2", x, hi, lo)
		x = float64(float32(math.Ldexp(0.5+r.Float64(), r.IntN(200)-100)))
		hi, lo = log2dd(x, log2(bits32(float32(x))))
		check("log2", x, hi, lo)
		x = float64(float32((r.Float64() - 0.5) * math.Ldexp(0.25, -r.IntN(30))))
		hi, lo = sinTurndd(x)
		check("sinu", x, hi, lo)
		hi, lo = cosTurndd(x)
		check("cosu", x, hi, lo)
	}
}

// TestNear holds the f64 evaluations to a 16th of the band that sends a
// result to double-double.
func TestNear(t *testing.T) {
	m := openMPFR(t)
	r := rand.New(rand.NewPCG(27, 28))
	check := func(name string, x, got float64) {
		t.Helper()
		if want := m.odd(name, x); math.Abs(got-want) > near/16*0x1p-52*math.Abs(want) {
			t.Errorf("%s(%x) = %x, want %x", name, x, got, want)
		}
	}
	for range 3000 {
		x := float64(float32(r.Float64()*256 - 128))
		check("exp2", x, exp2(x))
		x = float64(float32(math.Ldexp(1+r.Float64(), r.IntN(8)-4)))
		check("log2", x, log2(bits32(float32(x))))
		x = float64(float32(1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(20))))
		check("log2", x, log2(bits32(float32(x))))
		x = float64(float32((r.Float64() - 0.5) * math.Ldexp(0.25, -r.IntN(30))))
		check("sinu", x, sinTurn(x))
		check("cosu", x, cosTurn(x))
	}
}
