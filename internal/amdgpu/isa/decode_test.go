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
