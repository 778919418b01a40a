package sim

import (
	"math/bits"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// pkRef makes the reference of a packed instruction with components of n
// bits from one on a component.
func pkRef(n uint, float bool, f func(s []uint64) uint64) func(s []uint64, m isa.Modifiers) uint64 {
	return func(s []uint64, m isa.Modifiers) uint64 {
		var r uint64
		for hi := range uint(2) {
			v := make([]uint64, len(s))
			for i, x := range s {
				sel, neg := m.OpSel, m.Neg
				if hi == 1 {
					sel, neg = m.OpSelHi, m.NegHi
				}
				v[i] = x >> (n * uint(sel>>i&1)) & (1<<n - 1)
				if float && neg>>i&1 != 0 {
					v[i] ^= 1 << (n - 1)
				}
			}
			r |= f(v) & (1<<n - 1) << (n * hi)
		}
		return r
	}
}

func pkClamp(f ieee) func(uint64) uint64 {
	return func(r uint64) uint64 {
		return f.clamp01(r&(1<<f.size-1)) | f.clamp01(r>>f.size)<<f.size
	}
}

func pkF16(name string, n int, f func(s []uint64) uint64) sem {
	return sem{name: name, src: []vtype{tPkF16, tPkF16, tPkF16}[:n], dst: tPkF16, clamp: pkClamp(half), modRef: pkRef(16, true, f)}
}

func pkF32(name string, n int, f func(s []uint64) uint64) sem {
	return sem{name: name, src: []vtype{tPkF32, tPkF32, tPkF32}[:n], dst: tPkF32, clamp: pkClamp(single), modRef: pkRef(32, true, f)}
}

func pkB16(name string, n int, f func(s []uint64) uint64) sem {
	return sem{name: name, src: []vtype{tPkB16, tPkB16, tPkB16}[:n], dst: tPkB16, modRef: pkRef(16, false, f)}
}

// mixRef is v_fma_mix before the result is rounded to f16.
func mixRef(s []uint64, m isa.Modifiers) uint64 {
	v := make([]uint64, 3)
	for i := range v {
		v[i] = s[i]
		if m.OpSelHi>>i&1 != 0 {
			v[i] = half.convert(s[i]>>(16*(m.OpSel>>i&1))&0xffff, single)
		}
		if m.Abs>>i&1 != 0 {
			v[i] = single.mag(v[i])
		}
		if m.Neg>>i&1 != 0 {
			v[i] = single.negated(v[i])
		}
	}
	return single.fma(v[0], v[1], v[2])
}

func mixRef16(s []uint64, m isa.Modifiers) uint64 { return single.convert(mixRef(s, m), half) }

var tMix3 = []vtype{tMix, tMix, tMix}

var semPacked = []sem{
	pkF16("v_pk_add_f16", 2, func(s []uint64) uint64 { return half.add(s[0], s[1]) }),
	pkF16("v_pk_mul_f16", 2, func(s []uint64) uint64 { return half.mul(s[0], s[1]) }),
	pkF16("v_pk_min_f16", 2, func(s []uint64) uint64 { return half.min(s[0], s[1]) }),
	pkF16("v_pk_max_f16", 2, func(s []uint64) uint64 { return half.max(s[0], s[1]) }),
	pkF16("v_pk_fma_f16", 3, func(s []uint64) uint64 { return half.fma(s[0], s[1], s[2]) }),
	{name: "v_pk_fmac_f16", src: []vtype{tPkF16, tPkF16, tPkF16}, dst: tPkF16, acc: true, noSDWA: true, ref: func(s []uint64) uint64 {
		return half.fma(s[0]&0xffff, s[1]&0xffff, s[2]&0xffff) | half.fma(s[0]>>16, s[1]>>16, s[2]>>16)<<16
	}},

	pkF32("v_pk_add_f32", 2, func(s []uint64) uint64 { return single.add(s[0], s[1]) }),
	pkF32("v_pk_mul_f32", 2, func(s []uint64) uint64 { return single.mul(s[0], s[1]) }),
	pkF32("v_pk_fma_f32", 3, func(s []uint64) uint64 { return single.fma(s[0], s[1], s[2]) }),
	{name: "v_pk_mov_b32", src: []vtype{tB64, tB64}, dst: tB64, modRef: func(s []uint64, m isa.Modifiers) uint64 {
		return s[0]>>(32*(m.OpSel&1))&0xffffffff | s[1]>>(32*(m.OpSel>>1&1))<<32
	}},

	pkB16("v_pk_add_u16", 2, func(s []uint64) uint64 { return s[0] + s[1] }),
	pkB16("v_pk_sub_u16", 2, func(s []uint64) uint64 { return s[0] - s[1] }),
	pkB16("v_pk_add_i16", 2, func(s []uint64) uint64 { return s[0] + s[1] }),
	pkB16("v_pk_sub_i16", 2, func(s []uint64) uint64 { return s[0] - s[1] }),
	pkB16("v_pk_mul_lo_u16", 2, func(s []uint64) uint64 { return s[0] * s[1] }),
	pkB16("v_pk_mad_u16", 3, func(s []uint64) uint64 { return s[0]*s[1] + s[2] }),
	pkB16("v_pk_mad_i16", 3, func(s []uint64) uint64 { return s[0]*s[1] + s[2] }),
	pkB16("v_pk_min_u16", 2, func(s []uint64) uint64 { return min(s[0], s[1]) }),
	pkB16("v_pk_max_u16", 2, func(s []uint64) uint64 { return max(s[0], s[1]) }),
	pkB16("v_pk_min_i16", 2, func(s []uint64) uint64 { return uint64(min(int16(s[0]), int16(s[1]))) }),
	pkB16("v_pk_max_i16", 2, func(s []uint64) uint64 { return uint64(max(int16(s[0]), int16(s[1]))) }),
	pkB16("v_pk_lshlrev_b16", 2, func(s []uint64) uint64 { return s[1] << (s[0] & 15) }),
	pkB16("v_pk_lshrrev_b16", 2, func(s []uint64) uint64 { return s[1] >> (s[0] & 15) }),
	pkB16("v_pk_ashrrev_i16", 2, func(s []uint64) uint64 { return uint64(int64(int16(s[1])) >> (s[0] & 15)) }),

	{name: "v_fma_mix_f32", src: tMix3, dst: tF32, clamp: single.clamp01, modRef: mixRef},
	{name: "v_fma_mixlo_f16", src: tMix3, dst: tF16, keep: true, clamp: half.clamp01, modRef: mixRef16},
	{name: "v_fma_mixhi_f16", src: tMix3, dst: tF16, keep: true, clamp: half.clamp01, modRef: mixRef16},
}

func TestPacked(t *testing.T) { checkAll(t, semPacked) }

// TestPackedClamp tests clamp of packed integers, which saturates.
func TestPackedClamp(t *testing.T) {
	sat := func(lo, hi int64, v int64) uint64 { return uint64(max(lo, min(hi, v))) & 0xffff }
	u := func(v uint64) int64 { return int64(v) }
	i := func(v uint64) int64 { return int64(int16(v)) }
	for _, c := range []struct {
		name string
		f    func(s []uint64) uint64
		n    int
	}{
		{"v_pk_add_u16", func(s []uint64) uint64 { return sat(0, 65535, u(s[0])+u(s[1])) }, 2},
		{"v_pk_sub_u16", func(s []uint64) uint64 { return sat(0, 65535, u(s[0])-u(s[1])) }, 2},
		{"v_pk_mad_u16", func(s []uint64) uint64 { return sat(0, 65535, u(s[0])*u(s[1])+u(s[2])) }, 3},
		{"v_pk_add_i16", func(s []uint64) uint64 { return sat(-32768, 32767, i(s[0])+i(s[1])) }, 2},
		{"v_pk_sub_i16", func(s []uint64) uint64 { return sat(-32768, 32767, i(s[0])-i(s[1])) }, 2},
		{"v_pk_mad_i16", func(s []uint64) uint64 { return sat(-32768, 32767, i(s[0])*i(s[1])+i(s[2])) }, 3},
	} {
		ref := pkRef(16, false, c.f)
		for _, b := range benches(t) {
			op, ok := findOp(b.w.arch, c.name)
			if !ok {
				t.Fatalf("%v has no %s", b.w.arch, c.name)
			}
			m := isa.Modifiers{OpSelHi: 7, Clamp: true}
			s := sem{name: c.name, src: []vtype{tPkB16, tPkB16, tPkB16}[:c.n]}
			in := b.decode(encode(b.w.arch, op, isa.Plain, &s, 20, []int{0, 1, 2}[:c.n], m, isa.SDWASel{})...)
			e := tPkB16.edges()
			for k := range b.w.n {
				b.v(0)[k], b.v(1)[k], b.v(2)[k] = uint32(e[k%8]), uint32(e[k/8]), uint32(e[(k*3+1)%8])
			}
			b.run(in)
			for k := range b.w.n {
				v := []uint64{uint64(b.v(0)[k]), uint64(b.v(1)[k]), uint64(b.v(2)[k])}[:c.n]
				if got, want := uint64(b.v(20)[k]), ref(v, m); got != want {
					t.Errorf("%v %v of %x: got %08x, want %08x", b.w.arch, in.String(), v, got, want)
				}
			}
		}
	}
}

// TestPackedOverlap tests packed f32 whose high result reads the register of
// the low one.
func TestPackedOverlap(t *testing.T) {
	b := newBench(t, isa.GFX90A)
	op, _ := findOp(isa.GFX90A, "v_pk_add_f32")
	s := sem{name: "v_pk_add_f32", src: []vtype{tPkF32, tPkF32}}
	// Both results read the low dword of v[0:1], which the low one replaces.
	in := b.decode(encode(isa.GFX90A, op, isa.Plain, &s, 0, []int{0, 2}, isa.Modifiers{OpSelHi: 2}, isa.SDWASel{})...)
	for _, exec := range []uint64{^uint64(0), 0xff00ff} {
		for i := range 64 {
			b.v(0)[i], b.v(1)[i], b.v(2)[i], b.v(3)[i] = 0x3f800000, 0x7f800000, 0x3f800000, 0x40000000
		}
		b.w.exec = exec
		b.run(in)
		for i := range 64 {
			lo, hi := uint32(0x40000000), uint32(0x40400000)
			if exec>>i&1 == 0 {
				lo, hi = 0x3f800000, 0x7f800000
			}
			if b.v(0)[i] != lo || b.v(1)[i] != hi {
				t.Fatalf("exec %x of %d lanes: lane %d got %08x %08x, want %08x %08x", exec, bits.OnesCount64(exec), i, b.v(0)[i], b.v(1)[i], lo, hi)
			}
		}
	}
}
