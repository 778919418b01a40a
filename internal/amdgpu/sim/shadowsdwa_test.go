package sim

import (
	"encoding/binary"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestShadowOfSelections: a bitwise instruction on selected bytes and words
// leaves defined what comes from defined halves or is filled up.
func TestShadowOfSelections(t *testing.T) {
	const (
		lo = 1 << iota
		hi
	)
	for _, tc := range []struct {
		name      string
		code      [2]uint32
		a, b, old int // halves defined of v21, v24 and the destination
		want      int
	}{
		// v3 = byte 0 of v21 | v24
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06000615}, lo, lo | hi, 0, lo | hi},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06000615}, lo, lo, 0, lo},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06000615}, hi, lo | hi, lo | hi, hi},
		// the low word of that, moved up
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06000515}, lo, lo, 0, lo | hi},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06000515}, hi, lo | hi, lo | hi, lo},
		// the rest kept
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06001515}, lo, lo, hi, hi},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06001015}, lo, lo, hi, hi},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06050c15}, hi, lo, 0, lo | hi},
		{"v_or_b32_sdwa v3, v21, v24 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:DWORD", [2]uint32{0x380630f9, 0x06050c15}, lo, lo, lo | hi, 0},
	} {
		code := binary.LittleEndian.AppendUint32(nil, tc.code[0])
		in, err := isa.Decode(isa.GFX1030, binary.LittleEndian.AppendUint32(code, tc.code[1]), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.String(); got != tc.name {
			t.Fatalf("got %s, want %s", got, tc.name)
		}
		b := newBench(t, isa.GFX1030)
		o := b.c.compile(&in)
		b.w.unit, b.w.at = &unit{ops: []op{o}}, 0
		b.w.growShadow(len(b.w.rows))
		clear(b.w.shadow.v)
		for r, set := range map[int]int{21: tc.a, 24: tc.b, 3: tc.old} {
			var h halves
			if set&lo != 0 {
				h.lo = ^uint64(0)
			}
			if set&hi != 0 {
				h.hi = ^uint64(0)
			}
			b.w.shadow.v[firstVGPR+r] = h
		}
		o.shadow(b.w, &o)
		h, got := b.w.shadow.v[firstVGPR+3], 0
		if h.lo&b.w.exec == b.w.exec {
			got |= lo
		}
		if h.hi&b.w.exec == b.w.exec {
			got |= hi
		}
		if got != tc.want {
			t.Errorf("%s: of halves %02b and %02b over %02b: defined %02b, want %02b", tc.name, tc.a, tc.b, tc.old, got, tc.want)
		}
	}
}
