package sim

import (
	"fmt"
	"math"
	"testing"
)

// semFloats are the instructions that f32, f64 and f16 have in common, and
// those of each.
var (
	semF32 = append(semsOf(single, tF32, "f32"), []sem{
		{name: "v_fmac_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, acc: true, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.fma(s[0], s[1], s[2]) }},
		{name: "v_sub_f32", src: []vtype{tF32, tF32}, dst: tF32, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.add(s[0], single.negated(s[1])) }},
		{name: "v_subrev_f32", src: []vtype{tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.add(s[1], single.negated(s[0])) }},
		{name: "v_mad_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.mad(s[0], s[1], s[2]) }},
		{name: "v_mac_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, acc: true, ref: func(s []uint64) uint64 { return single.mad(s[0], s[1], s[2]) }},
		{name: "v_mul_legacy_f32", src: []vtype{tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return mulZero(s[0], s[1]) }},
		{name: "v_mul_dx9_zero_f32", src: []vtype{tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return mulZero(s[0], s[1]) }},
		{name: "v_mad_legacy_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 {
			a, b := single.flush(s[0]), single.flush(s[1])
			if single.mag(a) == 0 || single.mag(b) == 0 {
				return single.addFlush(0, s[2])
			}
			return single.mad(a, b, s[2])
		}},
		{name: "v_fma_legacy_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return fmaZero(s[0], s[1], s[2]) }},
		{name: "v_fma_dx9_zero_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return fmaZero(s[0], s[1], s[2]) }},
		{name: "v_fmac_legacy_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, acc: true, ref: func(s []uint64) uint64 { return fmaZero(s[0], s[1], s[2]) }},
		{name: "v_fmac_dx9_zero_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, acc: true, ref: func(s []uint64) uint64 { return fmaZero(s[0], s[1], s[2]) }},
		{name: "v_mullit_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 {
			b, c := single.float(s[1]), single.float(s[2])
			if !(c > 0) || !(b > -math.MaxFloat32) {
				return 0xff7fffff
			}
			return mulZero(s[0], s[1])
		}},
		{name: "v_frexp_exp_i32_f32", src: []vtype{tF32}, dst: tB32, ref: func(s []uint64) uint64 { _, e := single.frexp(s[0]); return uint64(uint32(e)) }},
		{name: "v_ldexp_f32", src: []vtype{tF32, tB32}, dst: tF32, ref: func(s []uint64) uint64 { return single.ldexp(s[0], int(int32(s[1]))) },
			values: ldexpOperands(tF32)},
		{name: "v_cubeid_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: cubeRef(0)},
		{name: "v_cubesc_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: cubeRef(1)},
		{name: "v_cubetc_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: cubeRef(2)},
		{name: "v_cubema_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: cubeRef(3)},
		{name: "v_minmax_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.max(single.min(s[0], s[1]), s[2]) }},
		{name: "v_maxmin_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.min(single.max(s[0], s[1]), s[2]) }},
		{name: "v_min3_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.min(single.min(s[0], s[1]), s[2]) }},
		{name: "v_max3_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.max(single.max(s[0], s[1]), s[2]) }},
		{name: "v_med3_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return single.median(s[0], s[1], s[2]) }},
	}...)

	semF64 = append(semsOf(double, tF64, "f64"), []sem{
		{name: "v_fmac_f64", src: []vtype{tF64, tF64, tF64}, dst: tF64, acc: true, ref: func(s []uint64) uint64 { return double.fma(s[0], s[1], s[2]) }},
		{name: "v_frexp_exp_i32_f64", src: []vtype{tF64}, dst: tB32, ref: func(s []uint64) uint64 { _, e := double.frexp(s[0]); return uint64(uint32(e)) }},
		{name: "v_ldexp_f64", src: []vtype{tF64, tB32}, dst: tF64, ref: func(s []uint64) uint64 { return double.ldexp(s[0], int(int32(s[1]))) },
			values: ldexpOperands(tF64)},
		{name: "v_trig_preop_f64", src: []vtype{tF64, tB32}, dst: tF64, noMods: true, ref: trigPreopRef},
	}...)

	semF16 = append(semsOf(half, tF16, "f16"), []sem{
		{name: "v_sub_f16", src: []vtype{tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.add(s[0], half.negated(s[1])) }},
		{name: "v_subrev_f16", src: []vtype{tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.add(s[1], half.negated(s[0])) }},
		{name: "v_fmac_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, acc: true, ref: func(s []uint64) uint64 { return half.fma(s[0], s[1], s[2]) }},
		{name: "v_mad_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, keep: true, ref: func(s []uint64) uint64 { return half.mad(s[0], s[1], s[2]) }},
		{name: "v_mac_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, acc: true, keep: true, ref: func(s []uint64) uint64 { return half.mad(s[0], s[1], s[2]) }},
		{name: "v_fma_legacy_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.fma(s[0], s[1], s[2]) }},
		{name: "v_mad_legacy_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.mad(s[0], s[1], s[2]) }},
		{name: "v_div_fixup_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, keep: true, values: quotients16, ref: divFixup16Ref},
		{name: "v_div_fixup_legacy_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, values: quotients16, ref: divFixup16Ref},
		{name: "v_frexp_exp_i16_f16", src: []vtype{tF16}, dst: tB16, ref: func(s []uint64) uint64 { _, e := half.frexp(s[0]); return uint64(uint16(e)) }},
		{name: "v_ldexp_f16", src: []vtype{tF16, tB16}, dst: tF16, ref: func(s []uint64) uint64 { return half.ldexp(s[0], int(int16(s[1]))) }},
		{name: "v_pack_b32_f16", src: []vtype{tF16, tF16}, dst: tB32, ref: func(s []uint64) uint64 { return s[0] | s[1]<<16 }},
		{name: "v_minmax_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.max(half.min(s[0], s[1]), s[2]) }},
		{name: "v_maxmin_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, ref: func(s []uint64) uint64 { return half.min(half.max(s[0], s[1]), s[2]) }},
		{name: "v_min3_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, keep: true, ref: func(s []uint64) uint64 { return half.min(half.min(s[0], s[1]), s[2]) }},
		{name: "v_max3_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, keep: true, ref: func(s []uint64) uint64 { return half.max(half.max(s[0], s[1]), s[2]) }},
		{name: "v_med3_f16", src: []vtype{tF16, tF16, tF16}, dst: tF16, keep: true, ref: func(s []uint64) uint64 { return half.median(s[0], s[1], s[2]) }},
	}...)
)

// semsOf returns the instructions of all three formats.
func semsOf(f ieee, t vtype, suffix string) []sem {
	two, three, one := []vtype{t, t}, []vtype{t, t, t}, []vtype{t}
	integral := func(round func(float64) float64) func(s []uint64) uint64 {
		return func(s []uint64) uint64 { return f.integral(s[0], round) }
	}
	return []sem{
		{name: "v_add_" + suffix, src: two, dst: t, clamp: f.clamp01, ref: func(s []uint64) uint64 { return f.add(s[0], s[1]) }},
		{name: "v_mul_" + suffix, src: two, dst: t, clamp: f.clamp01, ref: func(s []uint64) uint64 { return f.mul(s[0], s[1]) }},
		{name: "v_min_" + suffix, src: two, dst: t, clamp: f.clamp01, ref: func(s []uint64) uint64 { return f.min(s[0], s[1]) }},
		{name: "v_max_" + suffix, src: two, dst: t, clamp: f.clamp01, ref: func(s []uint64) uint64 { return f.max(s[0], s[1]) }},
		{name: "v_fma_" + suffix, src: three, dst: t, keep: true, clamp: f.clamp01, ref: func(s []uint64) uint64 { return f.fma(s[0], s[1], s[2]) }},
		{name: "v_floor_" + suffix, src: one, dst: t, ref: integral(math.Floor)},
		{name: "v_ceil_" + suffix, src: one, dst: t, ref: integral(math.Ceil)},
		{name: "v_trunc_" + suffix, src: one, dst: t, clamp: f.clamp01, ref: integral(math.Trunc)},
		{name: "v_rndne_" + suffix, src: one, dst: t, ref: integral(math.RoundToEven)},
		{name: "v_fract_" + suffix, src: one, dst: t, ref: func(s []uint64) uint64 { return f.fract(s[0]) }},
		{name: "v_frexp_mant_" + suffix, src: one, dst: t, ref: func(s []uint64) uint64 { m, _ := f.frexp(s[0]); return m }},
	}
}

func TestFloat32(t *testing.T) { checkAll(t, semF32) }
func TestFloat64(t *testing.T) { checkAll(t, semF64) }
func TestFloat16(t *testing.T) { checkAll(t, semF16) }

func mulZero(a, b uint64) uint64 {
	if single.mag(a) == 0 || single.mag(b) == 0 {
		return 0
	}
	return single.mul(a, b)
}

func fmaZero(a, b, c uint64) uint64 {
	if single.mag(a) == 0 || single.mag(b) == 0 {
		return single.add(0, c)
	}
	return single.fma(a, b, c)
}

// cubeRef computes face, s, t and twice the major axis as the manual's
// pseudocode of the cube instructions does; NaNs are compared as NaNs.
func cubeRef(k int) func(s []uint64) uint64 {
	return func(s []uint64) uint64 {
		x, y, z := single.float(s[0]), single.float(s[1]), single.float(s[2])
		neg := single.negated
		var id int64
		var sc, tc, ma uint64
		switch {
		case math.Abs(z) >= math.Abs(x) && math.Abs(z) >= math.Abs(y):
			id, sc, tc, ma = 4, s[0], neg(s[1]), s[2]
			if z < 0 {
				id, sc = 5, neg(s[0])
			}
		case math.Abs(y) >= math.Abs(x):
			id, sc, tc, ma = 2, s[0], s[2], s[1]
			if y < 0 {
				id, tc = 3, neg(s[2])
			}
		default:
			id, sc, tc, ma = 0, neg(s[2]), neg(s[1]), s[0]
			if x < 0 {
				id, sc = 1, s[2]
			}
		}
		return [4]uint64{single.fromInt(id), sc, tc, single.mul(0x40000000, ma)}[k]
	}
}

// TestConstantForms tests the forms whose constant is part of the
// instruction.
func TestConstantForms(t *testing.T) {
	for _, s := range []struct {
		name string
		f    ieee
		mad  bool
	}{
		{"v_fmaak_f32", single, false}, {"v_fmamk_f32", single, false}, {"v_madak_f32", single, true}, {"v_madmk_f32", single, true},
		{"v_fmaak_f16", half, false}, {"v_fmamk_f16", half, false}, {"v_madak_f16", half, true}, {"v_madmk_f16", half, true},
	} {
		t.Run(s.name, func(t *testing.T) { testConstantForm(t, s.name, s.f, s.mad) })
	}
}

func testConstantForm(t *testing.T, name string, f ieee, mad bool) {
	found := false
	for _, b := range benches(t) {
		op, ok := findOp(b.w.arch, name)
		if !ok {
			continue
		}
		found = true
		ty := tF32
		if f == half {
			ty = tF16
		}
		e := ty.edges()
		for _, k := range []uint64{e[3], e[9], e[12], e[14]} {
			in := b.decode(uint32(op.Opcode)<<25|20<<17|3<<9|256+2, uint32(k))
			if in.Name != name {
				t.Fatalf("%v: decoded %v", b.w.arch, in.Name)
			}
			for i := range b.w.n {
				b.v(2)[i] = uint32(e[i%len(e)])
				b.v(3)[i] = uint32(e[(i*7+3)%len(e)])
				b.v(20)[i] = 0xabcd0000
			}
			b.run(in)
			proved(b.w.arch, in.Enc, in.Name)
			for i := range b.w.n {
				x, y := uint64(b.v(2)[i]), uint64(b.v(3)[i])
				m, c := y, k
				if name[5:7] == "mk" {
					m, c = k, y
				}
				want := f.fma(x, m, c)
				if mad {
					want = f.mad(x, m, c)
				}
				if rest := b.v(20)[i] &^ (1<<f.size - 1); rest != 0xabcd0000&^(1<<f.size-1) {
					t.Fatalf("%v %v: the high half becomes %08x, want it kept", b.w.arch, in.String(), rest)
				}
				if got := uint64(b.v(20)[i]) & (1<<f.size - 1); got != want && !(f.isNaN(got) && f.isNaN(want)) {
					t.Fatalf("%v %v of %x, %x: got %x, want %x", b.w.arch, in.String(), x, y, got, want)
				}
			}
		}
	}
	if !found {
		t.Errorf("no architecture has %s", name)
	}
}

// TestUntested fails where an instruction has semantics but no test.
func TestUntested(t *testing.T) {
	elsewhere := []sem{}
	for _, n := range []string{
		"v_fmaak_f32", "v_fmamk_f32", "v_madak_f32", "v_madmk_f32", "v_fmaak_f16", "v_fmamk_f16", "v_madak_f16", "v_madmk_f16", // TestConstantForms
		"v_div_scale_f32", "v_div_fmas_f32", "v_div_fixup_f32", "v_div_scale_f64", "v_div_fmas_f64", "v_div_fixup_f64", // TestDivision
	} {
		elsewhere = append(elsewhere, sem{name: n})
	}
	for _, specs := range []map[string]spec{float32Ops, float64Ops, float16Ops, transOps, cvtOps, packedOps} {
		untested(t, specs, semF32, semF64, semF16, semTrans, semCvt, semPacked, elsewhere)
	}
}

// TestDivision runs the sequences that compilers make of a division, which
// must give the correctly rounded quotient.
func TestDivision(t *testing.T) {
	for _, b := range benches(t) {
		t.Run(fmt.Sprint(b.w.arch), func(t *testing.T) { testDivision(t, b) })
	}
}
