package arith

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUnaryF16 goes through every f16, against Go's float64 functions.
func TestUnaryF16(t *testing.T) {
	const m = DefaultMode
	for u := 0; u < 1<<16; u++ {
		a := uint16(u)
		x := forms[0].value(uint64(a))
		w := f32(WideF16(a))
		if x != nil {
			if v, _ := x.Float64(); v != float64(w) {
				t.Fatalf("WideF16(%#04x) = %v, want %v", a, w, v)
			}
			if got := NarrowF32(bits32(w)); got != a {
				t.Fatalf("NarrowF32(WideF16(%#04x)) = %#04x", a, got)
			}
		}
		v := float64(w)
		check := func(name string, got uint16, want float64) {
			t.Helper()
			g := float64(f32(WideF16(got)))
			if math.Float64bits(g) != math.Float64bits(want) && !(math.IsNaN(g) && math.IsNaN(want) && got&quiet16 != 0) {
				t.Errorf("%s(%#04x) = %v, want %v", name, a, g, want)
			}
		}
		check("floor", m.FloorF16(a), math.Floor(v))
		check("ceil", m.CeilF16(a), math.Ceil(v))
		check("trunc", m.TruncF16(a), math.Trunc(v))
		check("rndne", m.RndneF16(a), math.RoundToEven(v))
		if fr := v - math.Floor(v); fr < 1-0x1p-12 || fr != fr {
			want := float64(f32(WideF16(NarrowF32(odd32(fr)))))
			check("fract", m.FractF16(a), want)
		} else {
			check("fract", m.FractF16(a), 1-0x1p-11)
		}
		fr, e := math.Frexp(v)
		check("frexp_mant", m.FrexpMantF16(a), fr)
		if got := int16(m.FrexpExpI16F16(a)); int(got) != e {
			t.Errorf("frexp_exp(%#04x) = %d, want %d", a, got, e)
		}
		for _, n := range []int16{0, 1, -1, 7, -12, 30, -30, 45, -45, 32767, -32768} {
			want := float64(f32(WideF16(NarrowF32(odd32(math.Ldexp(v, max(-100, min(100, int(n)))))))))
			check("ldexp", m.LdexpF16(a, uint16(n)), want)
		}
		var i, ui float64 = math.Trunc(v), math.Trunc(v)
		i, ui = max(-32768, min(32767, i)), max(0, min(65535, ui))
		if v != v {
			i, ui = 0, 0
		}
		if got := int16(CvtI16F16(a)); float64(got) != i {
			t.Errorf("CvtI16F16(%#04x) = %d, want %v", a, got, i)
		}
		if got := CvtU16F16(a); float64(got) != ui {
			t.Errorf("CvtU16F16(%#04x) = %d, want %v", a, got, ui)
		}
		if got := m.CvtF16I16(a); got != NarrowF32(bits32(float32(int16(a)))) {
			t.Errorf("CvtF16I16(%#04x) = %#04x", a, got)
		}
	}
}

func TestUnaryF32F64(t *testing.T) {
	const m = DefaultMode
	samples32(3000, func(a uint32) {
		v := float64(f32(a))
		b := bits64(v * (1 + 0x1p-40))
		w := f64(b)
		same := func(name string, got, want float64) {
			t.Helper()
			if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
				t.Errorf("%s of %#08x = %x, want %x", name, a, got, want)
			}
		}
		for _, c := range []struct {
			name string
			f32  func(uint32) uint32
			f64  func(uint64) uint64
			want func(float64) float64
		}{
			{"floor", m.FloorF32, m.FloorF64, math.Floor},
			{"ceil", m.CeilF32, m.CeilF64, math.Ceil},
			{"trunc", m.TruncF32, m.TruncF64, math.Trunc},
			{"rndne", m.RndneF32, m.RndneF64, math.RoundToEven},
			{"frexp_mant", m.FrexpMantF32, m.FrexpMantF64, func(x float64) float64 { f, _ := math.Frexp(x); return f }},
		} {
			same(c.name, float64(f32(c.f32(a))), c.want(v))
			same(c.name+" f64", f64(c.f64(b)), c.want(w))
		}
		if !math.IsInf(v, 0) {
			same("fract", float64(f32(m.FractF32(a))), min(float64(float32(v-math.Floor(v))), 1-0x1p-24))
			same("fract f64", f64(m.FractF64(b)), min(w-math.Floor(w), 1-0x1p-53))
		}
		_, e := math.Frexp(v)
		if got := int32(m.FrexpExpI32F32(a)); int(got) != e {
			t.Errorf("frexp_exp(%#08x) = %d, want %d", a, got, e)
		}
		for _, n := range []int32{1, -1, 100, -100, 300, -300, math.MaxInt32, math.MinInt32} {
			k := int(max(-4000, min(4000, n)))
			if x := forms[1].value(uint64(a)); x != nil && x.Sign() != 0 {
				x.SetMantExp(x, k)
				if got, want := m.LdexpF32(a, uint32(n)), uint32(forms[1].roundBig(x, m)); got != want {
					t.Errorf("ldexp(%#08x, %d) = %#08x, want %#08x", a, n, got, want)
				}
			}
			if x := forms[2].value(b); x != nil && x.Sign() != 0 {
				x.SetMantExp(x, k*4)
				if got, want := m.LdexpF64(b, uint32(k*4)), forms[2].roundBig(x, m); got != want {
					t.Errorf("ldexp(%#016x, %d) = %#016x, want %#016x", b, k*4, got, want)
				}
			}
		}
	})
	if got := m.FractF32(0xb3000000); got != one32-1 {
		t.Errorf("fract(-2^-25) = %#08x, want the value below 1", got)
	}
	if got := m.FractF32(exp32); !IsNaNF32(got) {
		t.Errorf("fract(inf) = %#08x, want a NaN", got)
	}
}

// TestMinMax crosses the lattices; the order is that of sign and magnitude.
func TestMinMax(t *testing.T) {
	const m = DefaultMode
	key := func(a uint32) int64 {
		if a&sign32 != 0 {
			return -1 - int64(a&^sign32)
		}
		return int64(a)
	}
	v := forms[1].lattice()
	for _, x := range v {
		for _, y := range v {
			a, b := uint32(x), uint32(y)
			if IsNaNF32(a) || IsNaNF32(b) {
				continue
			}
			lo, hi := a, b
			if key(lo) > key(hi) {
				lo, hi = hi, lo
			}
			if got := MinF32(a, b); got != lo {
				t.Errorf("MinF32(%#08x, %#08x) = %#08x", a, b, got)
			}
			if got := MaxF32(a, b); got != hi {
				t.Errorf("MaxF32(%#08x, %#08x) = %#08x", a, b, got)
			}
			for _, z := range []uint32{0, sign32, one32, exp32, 1} {
				s := []uint32{a, b, z}
				slices.SortFunc(s, func(p, q uint32) int { return int(max(-1, min(1, key(p)-key(q)))) })
				if got := m.Med3F32(a, b, z); got != s[1] {
					t.Errorf("Med3F32(%#08x, %#08x, %#08x) = %#08x, want %#08x", a, b, z, got, s[1])
				}
			}
			rel := 1
			if f32(a) < f32(b) {
				rel = 0
			} else if f32(a) > f32(b) {
				rel = 2
			}
			for p := F; p <= TRU; p++ {
				if got := p.F32(a, b); got != (p>>rel&1 != 0) {
					t.Errorf("predicate %d of %#08x, %#08x = %v", p, a, b, got)
				}
			}
		}
	}
	const q, s, n = 0x7fc00000, 0x7f800001, 0x40000000
	raw := m &^ IEEE
	for _, c := range []struct {
		name      string
		got, want uint32
	}{
		{"min(q, n)", MinF32(q, n), n}, {"min(n, q)", MinF32(n, q), n},
		{"max(s, n)", MaxF32(s, n), s | quiet32}, {"max(n, s)", MaxF32(n, s), s | quiet32},
		{"max(s, n) without IEEE", raw.MaxF32(s, n), n}, {"min(n, s) without IEEE", raw.MinF32(n, s), n},
		{"min(q, q)", MinF32(q, q), q}, {"med3(q, 1, 2)", m.Med3F32(q, one32, n), one32},
		{"clamp(-0)", m.ClampF32(sign32), 0}, {"clamp(q)", m.ClampF32(q), 0}, {"clamp(2)", m.ClampF32(n), one32},
		{"clamp(q) without DX10", (m &^ DX10Clamp).ClampF32(q), q}, {"clamp(0.5)", m.ClampF32(half32), half32},
		{"omod in IEEE", m.OmodF32(n, 1), n}, {"omod 2", Mode(0).OmodF32(n, 1), four32}, {"omod 1/2 of the least normal", Mode(0).OmodF32(sign32|man32+1, 3), sign32},
		{"omod of -0", Mode(0).OmodF32(sign32, 1), 0},
		{"canonicalize(s)", m.CanonicalizeF32(s), s | quiet32}, {"canonicalize, flushing", Mode(0).CanonicalizeF32(sign32 | 1), sign32},
		{"mul_legacy(0, inf)", m.MulLegacyF32(0, exp32), 0}, {"mul_legacy(q, -0)", m.MulLegacyF32(q, sign32), 0},
		{"mad is unfused", m.MadF32(bits32(1+0x1p-12), bits32(1+0x1p-12), bits32(-1-0x1p-11)), 0},
		{"mad flushes", m.MadF32(one32, 1, 0), 0},
		{"mullit", m.MullitF32(n, n, 0), sign32 | max32},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#08x, want %#08x", c.name, c.got, c.want)
		}
	}
	for p := F; p <= TRU; p++ {
		if got := p.F64(nan64, one64); got != (p>>3 != 0) {
			t.Errorf("predicate %d with a NaN = %v", p, got)
		}
	}
	for i, a := range []uint32{s, q, sign32 | exp32, 0xbf800000, sign32 | 1, sign32, 0, 1, one32, exp32} {
		for bit := range 10 {
			if got := m.ClassF32(a, 1<<bit); got != (bit == i) {
				t.Errorf("ClassF32(%#08x, 1<<%d) = %v", a, bit, got)
			}
		}
	}
}

// TestMinMaxF64 crosses the lattice of f64 in the order of sign and magnitude.
func TestMinMaxF64(t *testing.T) {
	less := func(a, b uint64) bool {
		if na, nb := a>>63 != 0, b>>63 != 0; na != nb {
			return na
		} else if na {
			return a > b
		}
		return a < b
	}
	v := forms[2].lattice()
	for _, a := range v {
		for _, b := range v {
			lo, hi := a, b
			switch {
			case isSNaN64(a):
				lo, hi = a|quiet64, a|quiet64
			case isSNaN64(b):
				lo, hi = b|quiet64, b|quiet64
			case IsNaNF64(a):
				lo, hi = b, b
			case IsNaNF64(b):
				lo, hi = a, a
			case less(b, a):
				lo, hi = b, a
			}
			if got := MinF64(a, b); got != lo {
				t.Errorf("MinF64(%#016x, %#016x) = %#016x, want %#016x", a, b, got, lo)
			}
			if got := MaxF64(a, b); got != hi {
				t.Errorf("MaxF64(%#016x, %#016x) = %#016x, want %#016x", a, b, got, hi)
			}
			if got := DefaultMode.MinF64(a, b); got != lo {
				t.Errorf("Mode.MinF64(%#016x, %#016x) = %#016x, want %#016x", a, b, got, lo)
			}
		}
	}
}

// TestMinMaxF16 goes through f16 pairs against f32 values.
func TestMinMaxF16(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 200000 {
		a, b := uint16(r.Uint32()), uint16(r.Uint32())
		lo, hi := NarrowF32(MinF32(WideF16(a), WideF16(b))), NarrowF32(MaxF32(WideF16(a), WideF16(b)))
		if isSNaN16(a) || isSNaN16(b) {
			continue // widening quiets them
		}
		if got := MinF16(a, b); got != lo {
			t.Fatalf("MinF16(%#04x, %#04x) = %#04x, want %#04x", a, b, got, lo)
		}
		if got := MaxF16(a, b); got != hi {
			t.Fatalf("MaxF16(%#04x, %#04x) = %#04x, want %#04x", a, b, got, hi)
		}
		for p := F; p <= TRU; p++ {
			if got, want := p.F16(a, b), p.F32(WideF16(a), WideF16(b)); got != want {
				t.Fatalf("predicate %d of %#04x, %#04x = %v", p, a, b, got)
			}
		}
	}
}
