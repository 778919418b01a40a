package sim

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// relationOf says how two numbers of a type of compares stand: -1, 0, 1, or
// 2 where one is a NaN. It takes floats apart by hand.
func relationOf(typ string, a, b uint64) int {
	size := int(typ[1]-'0')*10 + int(typ[2]-'0')
	switch typ[0] {
	case 'i':
		return signedOf(a, size).Cmp(signedOf(b, size))
	case 'u':
		return unsignedOf(a, size).Cmp(unsignedOf(b, size))
	}
	man := map[int]int{16: 10, 32: 23, 64: 52}[size]
	var x [2]*big.Int // the value in units of the least subnormal
	for i, v := range []uint64{a, b} {
		e, m := int(v>>man)&(1<<(size-1-man)-1), v&(1<<man-1)
		if e == 1<<(size-1-man)-1 && m != 0 {
			return 2
		}
		if e > 0 {
			m |= 1 << man
			e--
		}
		x[i] = new(big.Int).Lsh(new(big.Int).SetUint64(m), uint(e))
		if v>>(size-1)&1 != 0 {
			x[i].Neg(x[i])
		}
	}
	return x[0].Cmp(x[1])
}

// holds says if a predicate holds where numbers stand in relation r.
func holds(pred string, r int) bool {
	lt, eq, gt, nan := r == -1, r == 0, r == 1, r == 2
	switch pred {
	case "f":
		return false
	case "t", "tru":
		return true
	case "lt":
		return lt
	case "eq":
		return eq
	case "le":
		return lt || eq
	case "gt":
		return gt
	case "ge":
		return gt || eq
	case "ne":
		return !eq
	case "lg":
		return lt || gt
	case "o":
		return !nan
	case "u":
		return nan
	case "neq":
		return !eq
	case "nlt", "nle", "ngt", "nge", "nlg":
		return !holds(pred[1:], r)
	}
	panic("predicate " + pred)
}

// classOf is the number of a float's class.
func classOf(size int, v uint64) int {
	man := map[int]int{16: 10, 32: 23, 64: 52}[size]
	e, m, neg := int(v>>man)&(1<<(size-1-man)-1), v&(1<<man-1), v>>(size-1)&1 != 0
	pick := func(n, p int) int {
		if neg {
			return n
		}
		return p
	}
	switch {
	case e == 1<<(size-1-man)-1 && m>>(man-1) != 0:
		return 1
	case e == 1<<(size-1-man)-1 && m != 0:
		return 0
	case e == 1<<(size-1-man)-1:
		return pick(2, 9)
	case e != 0:
		return pick(3, 8)
	case m != 0:
		return pick(4, 7)
	}
	return pick(5, 6)
}

// compareWords encodes a compare of v[2:3] with v[4:5].
func compareWords(arch isa.Arch, op isa.OpInfo, m isa.Modifiers, sdwa bool) []uint32 {
	if op.Enc == isa.VOPC {
		w := uint32(0x7c000000) | uint32(op.Opcode)<<17 | 4<<9
		if sdwa {
			// Words 1 and 0, result to vcc (gfx9 has a destination here).
			return []uint32{w | 249, 2 | 5<<16 | 4<<24}
		}
		return []uint32{w | 258}
	}
	lo := uint32(op.Opcode)<<16 | 12 // s[12:13]
	if strings.HasPrefix(op.Name, "v_cmpx") && arch != isa.GFX90A {
		lo = lo&^0xff | 126 // exec
	}
	if arch == isa.GFX90A {
		lo |= 0xd0000000
	} else {
		lo |= 0xd4000000
	}
	lo |= uint32(m.Abs)<<8 | uint32(m.OpSel)<<11
	return []uint32{lo, 258 | 260<<9 | uint32(m.Neg)<<29}
}

// TestCompares executes every v_cmp and v_cmpx in every encoding.
func TestCompares(t *testing.T) {
	vt := map[string]vtype{"i16": tB16, "u16": tB16, "i32": tB32, "u32": tB32, "i64": tB64, "u64": tB64, "f16": tF16, "f32": tF32, "f64": tF64}
	tested := map[string]bool{}
	for _, arch := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		for _, op := range isa.Ops(arch) {
			if !strings.HasPrefix(op.Name, "v_cmp") {
				continue
			}
			tested[op.Name] = true
			p := strings.Split(op.Name, "_")
			pred, ty := p[2], vt[p[3]]
			ref := func(a, b uint64) bool { return holds(pred, relationOf(p[3], a, b)) }
			second := ty
			if pred == "class" {
				second = tB32
				ref = func(a, b uint64) bool { return b>>classOf(ty.size(), a)&1 != 0 }
			}
			mods := []isa.Modifiers{{}}
			if op.Enc == isa.VOP3 && ty.float() {
				mods = append(mods, isa.Modifiers{Neg: 1}, isa.Modifiers{Abs: 1})
				if pred != "class" {
					mods = append(mods, isa.Modifiers{Neg: 2, Abs: 3})
				}
			}
			if op.Enc == isa.VOP3 && ty.size() == 16 && arch == isa.GFX1100 && pred != "class" {
				mods = append(mods, isa.Modifiers{OpSel: 1}, isa.Modifiers{OpSel: 2})
			}
			for _, m := range mods {
				checkCompare(t, arch, op, ty, second, m, false, ref)
			}
			if op.Enc == isa.VOPC && ty.size() == 16 && pred != "class" && arch != isa.GFX1100 {
				checkCompare(t, arch, op, ty, second, isa.Modifiers{}, true, ref)
			}
		}
	}
	for name := range compareOps {
		if !tested[name] {
			t.Errorf("%s is executed but no architecture has it", name)
		}
	}
}

func checkCompare(t *testing.T, arch isa.Arch, op isa.OpInfo, ty, second vtype, m isa.Modifiers, sdwa bool, ref func(a, b uint64) bool) {
	t.Helper()
	b := newBench(t, arch)
	w := b.w
	var code []byte
	for _, x := range compareWords(arch, op, m, sdwa) {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	in, err := isa.Decode(arch, append(code, make([]byte, 8)...), 0)
	if err != nil || in.Name != op.Name {
		if m != (isa.Modifiers{}) || sdwa {
			return // no such form
		}
		t.Errorf("%v %s: decodes to %v (%v)", arch, op.Name, in.Name, err)
		return
	}
	if in.Mod.OpSel != m.OpSel {
		return // op_sel has no meaning to LLVM here
	}
	o, err := b.c.try(&in)
	if err != nil {
		t.Errorf("%v %v: refused: %v", arch, in.String(), err)
		return
	}
	r := rand.New(rand.NewPCG(11, uint64(op.Opcode)))
	edges, edges2 := ty.edges(), second.edges()
	cmpx := strings.HasPrefix(op.Name, "v_cmpx")
	proved(arch, op.Enc, op.Name)
	for round := range 16 {
		w.exec = w.full
		if round%2 == 1 {
			w.exec = r.Uint64() & w.full
		}
		exec := w.exec
		var want uint64
		for i := range w.n {
			v := [2]uint64{edges[r.IntN(len(edges))], edges2[r.IntN(len(edges2))]}
			switch r.IntN(4) {
			case 0:
				v = [2]uint64{ty.random(r), second.random(r)}
			case 1:
				v[0] = ty.random(r)
				v[1] = v[0]
			}
			if second == tB32 && ty.float() {
				v[1] = uint64(r.Uint32())
			}
			for k, t := range []vtype{ty, second} {
				x := v[k]
				if t.size() == 16 {
					if at := m.OpSel>>k&1 | b2u8(sdwa && k == 0); at != 0 {
						x = x<<16 | 0x5a7e
					} else {
						x |= 0x7e5a << 16
					}
				}
				b.v(2 + 2*k)[i], b.v(3 + 2*k)[i] = uint32(x), uint32(x>>32)
				if k == 1 && t == tB32 && ty.float() {
					continue
				}
				sign := uint64(1) << (t.size() - 1)
				if m.Abs>>k&1 != 0 {
					v[k] &^= sign
				}
				if m.Neg>>k&1 != 0 {
					v[k] ^= sign
				}
			}
			if exec>>i&1 != 0 && ref(v[0], v[1]) {
				want |= 1 << i
			}
		}
		w.s[regVCC], w.s[regVCC+1], w.s[12], w.s[13] = 0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa
		o.run(w, &o)
		got := uint64(w.s[12]) | uint64(w.s[13])<<32
		if op.Enc == isa.VOPC {
			got = w.vcc()
		}
		got &= w.full
		if cmpx && arch != isa.GFX90A {
			if got != 0xaaaaaaaaaaaaaaaa&w.full {
				t.Errorf("%v %v: writes a mask beside exec", arch, in.String())
				return
			}
			got = w.exec
		}
		if got != want {
			t.Errorf("%v %v %+v: got %016x, want %016x, exec %016x", arch, in.String(), m, got, want, exec)
			return
		}
		if cmpx && w.exec != want || !cmpx && w.exec != exec {
			t.Errorf("%v %v: exec became %016x, want %016x", arch, in.String(), w.exec, want)
			return
		}
	}
}

func b2u8(b bool) uint8 { return uint8(b2u(b)) }

// TestCompareFlush checks that compares read subnormals as zeros where the
// mode says so.
func TestCompareFlush(t *testing.T) {
	b := newBench(t, isa.GFX90A)
	eq := inst(isa.VOPC, "v_cmp_eq_f32", isa.Operand{Kind: isa.Special, Reg: isa.VCC, Width: 2}, vgpr(0), vgpr(1))
	b.v(0)[3] = 1 // a subnormal
	for _, c := range []struct {
		mode arith.Mode
		want uint64
	}{{arith.DefaultMode, ^uint64(8)}, {arith.DefaultMode &^ arith.DenormIn32, ^uint64(0)}} {
		b.w.mode = c.mode
		b.run(eq)
		if got := b.w.vcc(); got != c.want {
			t.Errorf("mode %x: got %x, want %x", c.mode, got, c.want)
		}
	}
}
