package isa

import (
	"encoding/binary"
	"errors"
	"testing"
)

func code(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestDecode(t *testing.T) {
	check := func(a Arch, want string, words ...uint32) {
		t.Helper()
		i, err := Decode(a, code(words...), 0)
		if err != nil {
			t.Errorf("%s %08x: %v", a, words, err)
			return
		}
		if got := i.String(); got != want {
			t.Errorf("%s %08x: got %q, want %q", a, words, got, want)
		}
		if int(i.Size) != 4*len(words) {
			t.Errorf("%s %08x: got size %d, want %d", a, words, i.Size, 4*len(words))
		}
	}
	check(GFX90A, "s_load_dwordx4 s[4:7], s[0:1], 0x2c", 0xc00a0100, 0x2c)
	check(GFX90A, "s_mov_b64 s[0:1], s[0:1]", 0xbe800101) // odd register: LLVM rounds down
	check(GFX90A, "v_add_f32_e32 v0, 1.0, v1", 0x020002f2)
	check(GFX90A, "v_sub_u16_e64 v16, 0x3c00, v0", 0xd1270010, 0x000200f2)
	check(GFX90A, "s_waitcnt vmcnt(0)", 0xbf8c0f70)
	check(GFX1030, "v_mov_b32_dpp v0, v120 dpp8:[6,2,1,2,3,4,4,0]", 0x7e0002e9, 0x12345678)
	check(GFX1030, "v_pk_add_i16 v16, 0x12345678, v0", 0xcc020010, 0x180200ff, 0x12345678)
	check(GFX1100, "v_mov_b32_e32 v0, 1.0", 0x7e0002ff, 0x3f800000) // a literal that has a short name
	check(GFX1100, "v_add_f16_e32 v0, 0x5678, v5", 0x64000aff, 0x12345678)
	check(GFX1100, "v_add_f64 v[16:17], 0x12345678, v[0:1]", 0xd7270010, 0x000200ff, 0x12345678)
}

func TestLiteral(t *testing.T) {
	i, err := Decode(GFX1100, code(0xd7270010, 0x000200ff, 0x40080000), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := i.Src[0], (Operand{Kind: Literal, Imm: 0x40080000 << 32, Width: 2, Type: F64}); got != want {
		t.Errorf("v_add_f64's literal: got %+v, want %+v", got, want)
	}
}

func TestDecodeError(t *testing.T) {
	for _, c := range []struct {
		code  []byte
		short bool
	}{
		{[]byte{1, 2}, true},
		{code(0x7e0002ff), true}, // the literal is missing
		{code(0xbfff0000), false},
	} {
		_, err := Decode(GFX90A, c.code, 8)
		var e *DecodeError
		if !errors.As(err, &e) || e.Short != c.short || e.PC != 8 {
			t.Errorf("% x: got %v, want a DecodeError at 8 with Short %t", c.code, err, c.short)
		}
	}
}

// TestOperands checks what the text does not show.
func TestOperands(t *testing.T) {
	v := func(r uint16, n uint8) Operand { return Operand{Kind: VGPR, Reg: r, Width: n} }
	sg := func(r uint16, n uint8) Operand { return Operand{Kind: SGPR, Reg: r, Width: n} }
	vcc := func(n uint8) Operand { return Operand{Kind: Special, Reg: VCC, Width: n} }
	off := Operand{Kind: Off}
	check := func(a Arch, text string, dst, src []Operand, words ...uint32) Inst {
		t.Helper()
		i, err := Decode(a, code(words...), 0)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return i
		}
		if got := i.String(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		equal := func(what string, got, want []Operand) {
			t.Helper()
			for k := range got {
				got[k].Type = B32
			}
			if len(got) != len(want) {
				t.Errorf("%s: got %d %ss, want %d", text, len(got), what, len(want))
				return
			}
			for k := range got {
				if got[k] != want[k] {
					t.Errorf("%s: %s %d: got %+v, want %+v", text, what, k, got[k], want[k])
				}
			}
		}
		equal("destination", append([]Operand(nil), i.Dst[:i.NDst]...), dst)
		equal("source", append([]Operand(nil), i.Src[:i.NSrc]...), src)
		return i
	}
	ops := func(o ...Operand) []Operand { return o }
	check(GFX90A, "v_addc_co_u32_e32 v0, vcc, v1, v2, vcc", ops(v(0, 1), vcc(2)), ops(v(1, 1), v(2, 1), vcc(2)), 0x38000501)
	check(GFX1030, "v_add_co_ci_u32_e32 v0, vcc_lo, v1, v2, vcc_lo", ops(v(0, 1), vcc(1)), ops(v(1, 1), v(2, 1), vcc(1)), 0x50000501)
	check(GFX90A, "v_cmp_lt_f32_e32 vcc, s0, v1", ops(vcc(2)), ops(sg(0, 1), v(1, 1)), 0x7c820200)
	check(GFX90A, "v_readfirstlane_b32 s3, v1", ops(sg(3, 1)), ops(v(1, 1)), 0x7e060501)
	check(GFX90A, "global_store_dword v0, v1, s[2:3] offset:-16", nil, ops(v(0, 1), v(1, 1), sg(2, 2)), 0xdc709ff0, 0x00020100)
	check(GFX90A, "global_load_dwordx2 v[4:5], v[0:1], off", ops(v(4, 2)), ops(v(0, 2), off), 0xdc548000, 0x047f0000)
	check(GFX90A, "global_atomic_add v4, v[0:1], v2, off glc", ops(v(4, 1)), ops(v(0, 2), v(2, 1), off), 0xdd098000, 0x047f0200)
	check(GFX90A, "buffer_atomic_add v1, off, s[8:11], 0 glc", ops(v(1, 1)), ops(v(1, 1), off, sg(8, 4), Operand{Kind: InlineInt, Width: 1}), 0xe1084000, 0x80020100)
	check(GFX90A, "ds_write2_b32 v0, v1, v2 offset1:1", nil, ops(v(0, 1), v(1, 1), v(2, 1)), 0xd81c0100, 0x00020100)
	check(GFX1030, "s_cmpk_eq_i32 s1, 0xffff", nil, ops(sg(1, 1), Operand{Kind: Const, Imm: 1<<64 - 1}), 0xb181ffff)
	check(GFX1030, "s_load_dword s4, s[0:1], null", ops(sg(4, 1)), ops(sg(0, 2), Operand{Kind: Special, Reg: NULL, Width: 1}), 0xf4000100, 0xfa000000)

	i := check(GFX90A, "v_cvt_f32_i32_sdwa v2, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0", ops(v(2, 1)), ops(v(1, 1)), 0x7e040af9, 0x000c0601)
	if want := (SDWASel{Dst: DWord, Src0: Word0, Sext: 1}); i.SDWA != want {
		t.Errorf("SDWA: got %+v, want %+v", i.SDWA, want)
	}
	i = check(GFX90A, "v_add_f32_dpp v0, -v1, |v2| row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", ops(v(0, 1)), ops(v(1, 1), v(2, 1)), 0x020004fa, 0xff990101)
	if want := (DPPCtrl{Ctrl: 0x101, RowMask: 15, BankMask: 15, BoundCtl: true}); i.DPP != want || i.Mod.Neg != 1 || i.Mod.Abs != 2 {
		t.Errorf("DPP: got %+v, neg %d, abs %d, want %+v, 1, 2", i.DPP, i.Mod.Neg, i.Mod.Abs, want)
	}
	i = check(GFX1100, "v_dual_fmamk_f32 v4, v255, 0x11223344, v1 :: v_dual_subrev_f32 v3, 1, v129", ops(v(4, 1)),
		ops(v(255, 1), Operand{Kind: Literal, Imm: 0x11223344, Width: 1}, v(1, 1)), 0xc88c03ff, 0x04030281, 0x11223344)
	if i.Y == nil || i.Y.Dst[0] != v(3, 1) || i.Y.Src[0].Imm != 1 || i.Y.Src[1].Reg != 129 {
		t.Errorf("Y half: got %+v", i.Y)
	}
	if i := check(GFX90A, "s_cbranch_scc0 65535", nil, nil, 0xbf84ffff); i.Target() != 0 {
		t.Errorf("branch to itself: got target %d, want 0", i.Target())
	}
}

// TestOps holds the number of opcodes against an enumeration of LLVM 19's
// disassembler that did not go through the generator: 1410, 1296 and 1345
// pairs of encoding and opcode, without MIMG, MTBUF, EXP and interpolation
// and counting the 13 opcodes that both halves of VOPD share once.
func TestOps(t *testing.T) {
	for a, want := range map[Arch]int{GFX90A: 1410, GFX1030: 1296, GFX1100: 1345} {
		got := 0
		seen := map[OpInfo]bool{}
		for _, o := range Ops(a) {
			key := OpInfo{Enc: o.Enc, Opcode: o.Opcode}
			if seen[key] {
				t.Errorf("%s: %s %d is listed twice", a, o.Enc, o.Opcode)
			}
			seen[key] = true
			switch o.Enc {
			case MIMG, MTBUF, EXP, VINTRP, VINTERP, LDSDIR:
			default:
				got++
			}
		}
		if got < want {
			t.Errorf("%s: got %d opcodes, want at least %d", a, got, want)
		}
		if a == GFX1100 && !seen[OpInfo{Enc: VOPD, Opcode: 18}] {
			t.Error("gfx1100: v_dual_and_b32 is not listed")
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), code(0xc00a0100, 0x2c))
	f.Add(uint8(1), code(0x7e0002e9, 0x12345678))
	f.Add(uint8(2), code(0xc8080302, 0x04030201))
	f.Add(uint8(2), code(0xf0980113, 0x00040c20, 0x04030201))
	f.Fuzz(func(t *testing.T, a uint8, b []byte) {
		arch := Arch(a) % numArch
		i, err := Decode(arch, b, 0)
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("% x: got error %T, want *DecodeError", b, err)
			}
			return
		}
		if int(i.Size) > len(b) || i.Size == 0 || i.Size%4 != 0 {
			t.Fatalf("% x: got size %d", b, i.Size)
		}
		if i.String() == "" || i.Name == "" {
			t.Fatalf("% x: no text", b)
		}
		// What follows an instruction does not change it.
		j, err := Decode(arch, b[:i.Size:i.Size], 0)
		if err != nil || j.String() != i.String() {
			t.Fatalf("% x: alone it is %q, %v", b, j, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	c := code(0xd5270010, 0x000200ff, 0x12345678)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(GFX1100, c, 0); err != nil {
			b.Fatal(err)
		}
	}
}
