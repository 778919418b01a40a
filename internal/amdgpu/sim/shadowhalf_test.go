package sim

import (
	"encoding/binary"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestShadowOfHalfSources: an instruction of 16 bits reads the low halves
// of its registers alone, be they constants' places or not, and what it
// adds to.
func TestShadowOfHalfSources(t *testing.T) {
	for _, tc := range []struct {
		name string
		code []uint32
		arch isa.Arch
		src  []int // registers whose low halves count
	}{
		{"v_sub_f16_e32 v8, v3, v7", []uint32{0x66100f03}, isa.GFX1030, []int{3, 7}},
		{"v_sub_f16_e32 v8, v3, v7", []uint32{0x66100f03}, isa.GFX1100, []int{3, 7}},
		{"v_trunc_f16_e32 v8, v3", []uint32{0x7e10bb03}, isa.GFX1030, []int{3}},
		{"v_fmac_f16_e32 v8, v3, v7", []uint32{0x6c100f03}, isa.GFX1030, []int{3, 7, 8}},
		{"v_cvt_f32_f16_e32 v8, v3", []uint32{0x7e101703}, isa.GFX90A, []int{3}},
	} {
		in, err := isa.Decode(tc.arch, binary.LittleEndian.AppendUint32(nil, tc.code[0]), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.String(); got != tc.name {
			t.Fatalf("got %s, want %s", got, tc.name)
		}
		b := newBench(t, tc.arch)
		o := b.c.compile(&in)
		for undefined := -1; undefined < len(tc.src); undefined++ {
			b.w.growShadow(len(b.w.rows))
			clear(b.w.shadow.v)
			for k, r := range tc.src {
				if k != undefined {
					b.w.shadow.v[firstVGPR+r].lo = ^uint64(0)
				}
			}
			o.shadow(b.w, &o)
			got := b.w.shadow.v[firstVGPR+8].lo&b.w.exec == b.w.exec
			if want := undefined < 0; got != want {
				t.Errorf("%v %s: source %d undefined: result defined: %v, want %v", tc.arch, tc.name, undefined, got, want)
			}
		}
	}
}
