package sim

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestShadowOfPackedPairs: each result of a packed f32 instruction depends
// on the registers that op_sel and op_sel_hi choose and on no others.
// Compilers leave the upper register of a source with op_sel_hi 0 unwritten.
func TestShadowOfPackedPairs(t *testing.T) {
	for _, tc := range []struct {
		name   string
		code   [2]uint32
		lo, hi []int // what v8 and v9 depend on
	}{
		{"v_pk_add_f32 v[8:9], v[2:3], v[6:7] op_sel_hi:[1,0]", [2]uint32{0xd3b24008, 0x08020d02}, []int{2, 6}, []int{3, 6}},
		{"v_pk_mul_f32 v[8:9], v[2:3], v[6:7]", [2]uint32{0xd3b14008, 0x18020d02}, []int{2, 6}, []int{3, 7}},
		{"v_pk_fma_f32 v[8:9], v[2:3], v[6:7], v[4:5] op_sel:[1,0,0] op_sel_hi:[1,1,0]", [2]uint32{0xd3b00808, 0x1c120d02}, []int{3, 6, 4}, []int{3, 7, 4}},
	} {
		code := binary.LittleEndian.AppendUint32(nil, tc.code[0])
		in, err := isa.Decode(isa.GFX90A, binary.LittleEndian.AppendUint32(code, tc.code[1]), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.String(); got != tc.name {
			t.Fatalf("got %s, want %s", got, tc.name)
		}
		b := newBench(t, isa.GFX90A)
		o := b.c.compile(&in)
		b.w.unit, b.w.at = &unit{ops: []op{o}}, 0
		for undefined := 1; undefined < 8; undefined++ { // v1 is no source
			b.w.growShadow(len(b.w.rows))
			clear(b.w.shadow.v)
			for r := range 8 {
				if r != undefined {
					b.w.shadow.v[firstVGPR+r] = allDefined
				}
			}
			o.shadow(b.w, &o)
			for i, sources := range [][]int{tc.lo, tc.hi} {
				h := b.w.shadow.v[firstVGPR+8+i]
				got := h.lo&h.hi&b.w.exec == b.w.exec
				if want := !slices.Contains(sources, undefined); got != want {
					t.Errorf("%s: v%d undefined: v%d defined: %v, want %v", tc.name, undefined, 8+i, got, want)
				}
			}
		}
	}
}
