package arith

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestConvert(t *testing.T) {
	const m = DefaultMode
	check := func(name string, got, want uint32) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %#x, want %#x", name, got, want)
		}
	}
	b := func(x float64) uint32 { return bits32(float32(x)) }
	// Saturation, truncation, NaN: the table of out-of-range casts.
	for _, c := range []struct {
		x    float64
		i, u uint32
	}{
		{math.NaN(), 0, 0}, {-1, 0xffffffff, 0}, {-2.9, 0xfffffffe, 0}, {300.7, 300, 300}, {0x1p31, 0x7fffffff, 0x80000000},
		{4294967040, 0x7fffffff, 4294967040}, {0x1p32, 0x7fffffff, 0xffffffff}, {math.Inf(1), 0x7fffffff, 0xffffffff},
		{math.Inf(-1), 0x80000000, 0}, {-0x1p31, 0x80000000, 0}, {-0x1p32, 0x80000000, 0}, {-0.9, 0, 0}, {0.9, 0, 0}, {1e19, 0x7fffffff, 0xffffffff},
	} {
		check("CvtI32F32", CvtI32F32(b(c.x)), c.i)
		check("CvtU32F32", CvtU32F32(b(c.x)), c.u)
		check("CvtI32F64", CvtI32F64(bits64(c.x)), c.i)
		check("CvtU32F64", CvtU32F64(bits64(c.x)), c.u)
	}
	check("CvtI32F64 near the top", CvtI32F64(bits64(0x7fffffff+0.5)), 0x7fffffff)
	check("CvtI32F64 near the bottom", CvtI32F64(bits64(-0x80000000-0.5)), 0x80000000)
	check("CvtI32F64 above the bottom", CvtI32F64(bits64(-0x7fffffff)), 0x80000001)
	check("CvtI16F16 above the bottom", uint32(CvtI16F16(0xf7ff)), 0x8010)
	check("CvtFlr", CvtFlrI32F32(b(-1.5)), 0xfffffffe)
	check("CvtRpi ties up", CvtRpiI32F32(b(-1.5)), 0xffffffff)
	check("CvtRpi below a half", CvtRpiI32F32(one32-1-1<<23), 0)
	check("CvtPkI16F32", CvtPkI16F32(b(-40000), b(12.9)), 12<<16|0x8000)
	check("CvtPkU16F32", CvtPkU16F32(b(70000), b(-3)), 0xffff)
	check("CvtPkI16I32", CvtPkI16I32(1<<20, 1<<31), 0x80007fff)
	check("CvtPkU16U32", CvtPkU16U32(1<<20, 7), 7<<16|0xffff)
	check("SatPkU8I16", SatPkU8I16(0x01ff_fff0), 0xff00)
	check("CvtPknormI16F32", CvtPknormI16F32(b(-2), b(0.5)), 0x4000<<16|0x8001)
	check("CvtPknormU16F32", CvtPknormU16F32(b(math.NaN()), b(1)), 0xffff0000)
	check("CvtPknormI16F16", CvtPknormI16F16(0x3c00, 0xbc00), 0x80017fff)
	check("CvtNormU16F16", uint32(CvtNormU16F16(0x3800)), 0x8000)
	check("CvtPkrtz", m.CvtPkrtzF16F32(b(65535), b(-1.0009)), 0xbc00_7bff)
	check("CvtPkrtz inf", m.CvtPkrtzF16F32(exp32, 1), 0x7c00)
	check("CvtPkU8F32", m.CvtPkU8F32(b(300), 2, 0x11223344), 0x11ff3344)
	check("CvtPkU8F32 NaN", m.CvtPkU8F32(nan32, 7, 0x11223344), 0x00223344)
	for i := range uint32(16) {
		check("CvtOffF32I4", CvtOffF32I4(i|0xf0), b(float64(int32(i<<28)>>28)/16))
	}
	for i := range uint(4) {
		check("CvtF32Ubyte", CvtF32Ubyte(0x80ff0102, i), b(float64([]int{2, 1, 255, 128}[i])))
	}
	// Integer and f64 to float in every mode, against exact rounding.
	r := rand.New(rand.NewPCG(19, 20))
	for range 3000 {
		for _, md := range modes[:8:8] {
			a := r.Uint32() >> r.IntN(32)
			if a == 0 {
				continue
			}
			x := new(big.Float).SetInt64(int64(int32(a)))
			check("CvtF32I32", md.CvtF32I32(a), uint32(forms[1].roundBig(x, md)))
			check("CvtF32U32", md.CvtF32U32(a), uint32(forms[1].roundBig(new(big.Float).SetUint64(uint64(a)), md)))
		}
		for _, md := range modes {
			d := bits64(math.Ldexp(r.Float64()+0.5, r.IntN(300)-160))
			check("CvtF32F64", md.CvtF32F64(d), uint32(forms[1].roundBig(forms[2].value(d), md)))
			f := bits32(float32(math.Ldexp(r.Float64()+0.5, r.IntN(46)-28)))
			check("CvtF16F32", uint32(md.CvtF16F32(f)), uint32(forms[0].roundBig(forms[1].value(uint64(f)), md)))
		}
	}
}

func TestInteger(t *testing.T) {
	check := func(name string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %#x, want %#x", name, got, want)
		}
	}
	u := func(name string, got, want uint32) { t.Helper(); check(name, uint64(got), uint64(want)) }
	u("PermB32", PermB32(0x8899aabb, 0x00ff7f80, 0x0d0c0807), 0xff000088)
	u("PermB32 signs", PermB32(0x80000000, 0x00008000, 0x0b0a0908), 0xff0000ff)
	u("PermB32 bytes", PermB32(0x76543210, 0xfedcba98, 0x00010407), 0x98ba1076)
	u("BfiB32", BfiB32(0x00ff00ff, 0x12345678, 0xabcdef01), 0xab34ef78)
	u("BfmB32", BfmB32(5, 8), 0x1f00)
	u("AlignbitB32", AlignbitB32(0x12345678, 0x9abcdef0, 36), 0x89abcdef)
	u("AlignbyteB32", AlignbyteB32(0x12345678, 0x9abcdef0, 5), 0x789abcde)
	u("FfbhU32", FfbhU32(0x00010000), 15)
	u("FfbhU32 of 0", FfbhU32(0), 0xffffffff)
	u("FfbhI32", FfbhI32(0xffff0000), 16)
	u("FfbhI32 of -1", FfbhI32(0xffffffff), 0xffffffff)
	u("FfblB32", FfblB32(0x50), 4)
	u("FfblB32 of 0", FfblB32(0), 0xffffffff)
	u("SadU32 is unsigned", SadU32(0xfffffffb, 0, 0), 0xfffffffb)
	u("SadHiU8", SadHiU8(0x01020304, 0, 5), 10<<16+5)
	u("SadU16", SadU16(0x00010005, 0x00040002, 1), 7)
	u("MsadU8 masks zeros of the reference", MsadU8(0x10101010, 0x00120f00, 1), 4)
	check("QsadPkU16U8", QsadPkU16U8(0x0807060504030201, 0x04030201, 0x0001_0000_0000_ffff), 0x000d_0008_0004_ffff)
	check("MqsadPkU16U8", MqsadPkU16U8(0x0807060504030201, 0x00000001, 0), 0x0003_0002_0001_0000)
	if got := MqsadU32U8(0x0807060504030201, 1, [4]uint32{0, 1 << 20, 0, 0}); got != [4]uint32{0, 1<<20 + 1, 2, 3} {
		t.Errorf("MqsadU32U8 = %v", got)
	}
	r := rand.New(rand.NewPCG(21, 22))
	b := func(x int64) *big.Int { return big.NewInt(x) }
	limit := func(x, lo, hi int64) int64 { return max(lo, min(hi, x)) }
	for range 2000 {
		x, y, z := r.Uint32()>>r.IntN(32), r.Uint32()>>r.IntN(32), r.Uint32()
		if r.IntN(2) == 0 {
			x, y = ^x, ^y
		}
		sx, sy, sz := int64(int32(x)), int64(int32(y)), int64(int32(z))
		off, w := z&31, z>>5&31
		field := new(big.Int).Rsh(b(int64(x)), uint(off))
		field.And(field, b(1<<w-1))
		u("BfeU32", BfeU32(x, z, z>>5), uint32(field.Uint64()))
		sfield := new(big.Int).Rsh(b(sx), uint(off))
		sfield.And(sfield, b(1<<w-1))
		if w > 0 && sfield.Bit(int(w-1)) == 1 {
			sfield.Sub(sfield, b(1<<w))
		}
		u("BfeI32", BfeI32(x, z, z>>5), uint32(sfield.Int64()))
		u("MulHiU32", MulHiU32(x, y), uint32(new(big.Int).Rsh(new(big.Int).Mul(b(int64(x)), b(int64(y))), 32).Uint64()))
		u("MulHiI32", MulHiI32(x, y), uint32(new(big.Int).Rsh(new(big.Int).Mul(b(sx), b(sy)), 32).Int64()))
		s24 := func(v uint32) int64 { return int64(v&0xffffff) - int64(v&0x800000)<<1 }
		u("MulI32I24", MulI32I24(x, y), uint32(s24(x)*s24(y)))
		u("MulHiI32I24", MulHiI32I24(x, y), uint32(s24(x)*s24(y)>>32))
		u("MulHiU32U24", MulHiU32U24(x, y), uint32(uint64(x&0xffffff)*uint64(y&0xffffff)>>32))
		u("MadI32I24", MadI32I24(x, y, z), uint32(s24(x)*s24(y)+sz))
		u("MadSatI32I24", MadSatI32I24(x, y, z), uint32(limit(s24(x)*s24(y)+sz, math.MinInt32, math.MaxInt32)))
		u("MadU32U16", MadU32U16(x, y, z), (x&0xffff)*(y&0xffff)+z)
		u("MadI32I16", MadI32I16(x, y, z), uint32(int64(int16(x))*int64(int16(y))+sz))
		u("AddSatI32", AddSatI32(x, y), uint32(limit(sx+sy, math.MinInt32, math.MaxInt32)))
		u("SubSatI32", SubSatI32(x, y), uint32(limit(sx-sy, math.MinInt32, math.MaxInt32)))
		u("AddSatU32", AddSatU32(x, y), uint32(limit(int64(x)+int64(y), 0, math.MaxUint32)))
		u("SubSatU32", SubSatU32(x, y), uint32(limit(int64(x)-int64(y), 0, math.MaxUint32)))
		c := uint64(x)<<32 | uint64(z)
		sum := new(big.Int).Mul(b(int64(x)), b(int64(y)))
		sum.Add(sum, new(big.Int).SetUint64(c))
		got, carry := MadU64U32(x, y, c)
		check("MadU64U32", got, new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		if carry != (sum.Bit(64) == 1) {
			t.Errorf("MadU64U32(%#x, %#x, %#x) carries %v", x, y, c, carry)
		}
		sum.Mul(b(sx), b(sy)).Add(sum, b(int64(c)))
		got, carry = MadI64I32(x, y, c)
		check("MadI64I32", got, new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		if carry != (sum.Bit(64) == 1) {
			t.Errorf("MadI64I32(%#x, %#x, %#x) carries %v", x, y, c, carry)
		}
		var lerp, sad uint32
		for i := 0; i < 32; i += 8 {
			p, q := int64(x>>i&0xff), int64(y>>i&0xff)
			lerp |= uint32((p+q+int64(z>>i&1))>>1) << i
			sad += uint32(max(p-q, q-p))
		}
		u("LerpU8", LerpU8(x, y, z), lerp)
		u("SadU8", SadU8(x, y, z), sad+z)
		// Packed forms, half by half.
		for _, c := range []struct {
			name string
			got  uint32
			want func(p, q, s int64) int64
			sign bool
		}{
			{"PkAddU16", PkAddU16(x, y), func(p, q, s int64) int64 { return p + q }, false},
			{"PkSubU16", PkSubU16(x, y), func(p, q, s int64) int64 { return p - q }, false},
			{"PkMulLoU16", PkMulLoU16(x, y), func(p, q, s int64) int64 { return p * q }, false},
			{"PkMadU16", PkMadU16(x, y, z), func(p, q, s int64) int64 { return p*q + s }, false},
			{"PkAddSatU16", PkAddSatU16(x, y), func(p, q, s int64) int64 { return limit(p+q, 0, 65535) }, false},
			{"PkSubSatU16", PkSubSatU16(x, y), func(p, q, s int64) int64 { return limit(p-q, 0, 65535) }, false},
			{"PkAddSatI16", PkAddSatI16(x, y), func(p, q, s int64) int64 { return limit(p+q, -32768, 32767) }, true},
			{"PkSubSatI16", PkSubSatI16(x, y), func(p, q, s int64) int64 { return limit(p-q, -32768, 32767) }, true},
			{"PkMadSatU16", PkMadSatU16(x, y, z), func(p, q, s int64) int64 { return limit(p*q+s, 0, 65535) }, false},
			{"PkMadSatI16", PkMadSatI16(x, y, z), func(p, q, s int64) int64 { return limit(p*q+s, -32768, 32767) }, true},
			{"PkMinU16", PkMinU16(x, y), func(p, q, s int64) int64 { return min(p, q) }, false},
			{"PkMaxU16", PkMaxU16(x, y), func(p, q, s int64) int64 { return max(p, q) }, false},
			{"PkMinI16", PkMinI16(x, y), func(p, q, s int64) int64 { return min(p, q) }, true},
			{"PkMaxI16", PkMaxI16(x, y), func(p, q, s int64) int64 { return max(p, q) }, true},
			{"PkLshlrevB16", PkLshlrevB16(x, y), func(p, q, s int64) int64 { return q << (p & 15) }, false},
			{"PkLshrrevB16", PkLshrrevB16(x, y), func(p, q, s int64) int64 { return q >> (p & 15) }, false},
			{"PkAshrrevI16", PkAshrrevI16(x, y), func(p, q, s int64) int64 { return q >> (p & 15) }, true},
		} {
			half := func(v uint32, i int) int64 {
				if c.sign {
					return int64(int16(v >> i))
				}
				return int64(uint16(v >> i))
			}
			var want uint32
			for i := 0; i < 32; i += 16 {
				want |= uint32(uint16(c.want(half(x, i), half(y, i), half(z, i)))) << i
			}
			u(c.name, c.got, want)
		}
	}
}

func TestCube(t *testing.T) {
	const m = DefaultMode
	b := func(x float64) uint32 { return bits32(float32(x)) }
	for _, c := range []struct{ x, y, z, id, sc, tc, ma float64 }{
		{3, 1, 2, 0, -2, -1, 6}, {-3, 1, 2, 1, 2, -1, -6},
		{1, 3, 2, 2, 1, 2, 6}, {1, -3, 2, 3, 1, -2, -6},
		{1, 2, 3, 4, 1, -2, 6}, {1, 2, -3, 5, -1, -2, -6},
		{1, 1, 1, 4, 1, -1, 2}, {2, 2, 1, 2, 2, 1, 4},
	} {
		x, y, z := b(c.x), b(c.y), b(c.z)
		got := [4]float32{f32(m.CubeidF32(x, y, z)), f32(m.CubescF32(x, y, z)), f32(m.CubetcF32(x, y, z)), f32(m.CubemaF32(x, y, z))}
		if want := [4]float32{float32(c.id), float32(c.sc), float32(c.tc), float32(c.ma)}; got != want {
			t.Errorf("cube(%v, %v, %v) = %v, want %v", c.x, c.y, c.z, got, want)
		}
	}
}
