package sim

import "testing"

var semF32 = []sem{
	{name: "v_add_f32", src: []vtype{tF32, tF32}, dst: tF32, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.add(s[0], s[1]) }},
	{name: "v_mul_f32", src: []vtype{tF32, tF32}, dst: tF32, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.mul(s[0], s[1]) }},
	{name: "v_fma_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.fma(s[0], s[1], s[2]) }},
	{name: "v_fmac_f32", src: []vtype{tF32, tF32, tF32}, dst: tF32, acc: true, clamp: single.clamp01, ref: func(s []uint64) uint64 { return single.fma(s[0], s[1], s[2]) }},
}

func TestFloat32(t *testing.T) { checkAll(t, semF32) }
