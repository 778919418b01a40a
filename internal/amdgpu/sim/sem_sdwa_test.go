package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// TestSubDword executes the instructions of one and two sources with SDWA, of
// bytes and words of both sources and of the destination, in all of which the
// rest of the registers must not matter.
func TestSubDword(t *testing.T) {
	tried := map[isa.Arch]int{}
	for _, arch := range allArchs[:2] { // gfx11 has no SDWA
		for _, table := range [][]sem{intSems(), semF16, semF32, semCvt} {
			for i := range table {
				s := &table[i]
				if s.acc || s.noSDWA || s.mask != nil || s.values != nil || s.modRef != nil || s.only != nil && !contains(s.only, arch) || s.dst.size() > 32 || s.dst == tPkF16 || s.equal != nil {
					continue
				}
				for _, op := range knownOps(arch) {
					if op.Name == s.name && (op.Enc == isa.VOP1 || op.Enc == isa.VOP2) {
						tried[arch] += int(b2u(s.checkSubDword(t, arch, op)))
					}
				}
			}
		}
	}
	for arch, n := range tried {
		if n < 30 {
			t.Errorf("%v: tried %d instructions, want 30", arch, n)
		}
	}
}

// selected is the part of a register that an SDWA operand is.
func selected(reg uint32, sel isa.Sel, sext bool, size int) uint64 {
	at, n := uint(0), uint(32)
	switch sel {
	case isa.Byte0, isa.Byte1, isa.Byte2, isa.Byte3:
		at, n = 8*uint(sel-isa.Byte0), 8
	case isa.Word0, isa.Word1:
		at, n = 16*uint(sel-isa.Word0), 16
	}
	v := uint64(reg>>at) % (1 << n)
	if sext && v >= 1<<(n-1) {
		v -= 1 << n
	}
	return v % (1 << size)
}

func (s *sem) checkSubDword(t *testing.T, arch isa.Arch, op isa.OpInfo) bool {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(op.Opcode), 77))
	sels := []isa.Sel{isa.Byte0, isa.Byte1, isa.Byte2, isa.Byte3, isa.Word0, isa.Word1, isa.DWord}
	done := false
	for range 24 {
		b, _ := laneBench(t, arch, r.Uint64()%12)
		sd := isa.SDWASel{Dst: sels[r.IntN(7)], Src0: isa.DWord, Src1: isa.DWord, Unused: uint8(r.IntN(3))}
		var m isa.Modifiers
		for i, p := range []*isa.Sel{&sd.Src0, &sd.Src1}[:len(s.src)] {
			switch s.src[i] {
			case tB32, tB16:
				*p = sels[r.IntN(7)]
				sd.Sext |= uint8(r.IntN(2)) << i
			case tF16:
				*p = isa.Word0 + isa.Sel(r.IntN(2))
			case tF32: // a whole register
			default:
				return done
			}
			if s.src[i].float() && !s.noMods {
				m.Neg |= uint8(r.IntN(2)) << i
				m.Abs |= uint8(r.IntN(2)) << i
			}
		}
		regs := []int{2, 6}[:len(s.src)]
		in, err := isa.Decode(arch, dwords(encode(arch, op, isa.SDWA, s, 20, regs, m, sd)...), 0)
		if err != nil || in.Name != s.name || in.Form != isa.SDWA || in.SDWA.Sext != sd.Sext || in.Mod.Neg != m.Neg || in.Mod.Abs != m.Abs {
			continue // LLVM has other modifiers here
		}
		o, err := b.c.try(&in)
		if err != nil {
			t.Errorf("%v %v: %v", arch, in.String(), err)
			return true
		}
		done = true
		before := append([]lanes(nil), b.w.rows...)
		o.run(b.w, &o)
		b.last = in
		b.expect(in.String(), before, func(v, i int) uint32 {
			old := before[firstVGPR+v][i]
			if v != 20 || b.w.exec>>i&1 == 0 {
				return old
			}
			x := make([]uint64, len(s.src))
			for k := range x {
				x[k] = selected(before[firstVGPR+regs[k]][i], []isa.Sel{sd.Src0, sd.Src1}[k], sd.Sext>>k&1 != 0, s.src[k].size())
			}
			result := s.want(x, m)
			got := uint64(b.v(20)[i])
			at, n := uint(0), uint(32)
			switch {
			case sd.Dst <= isa.Byte3:
				at, n = 8*uint(sd.Dst-isa.Byte0), 8
			case sd.Dst <= isa.Word1:
				at, n = 16*uint(sd.Dst-isa.Word0), 16
			}
			want := result % (1 << n)
			if part := got >> at % (1 << n); part != want && n >= uint(s.dst.size()) && s.same(part%(1<<s.dst.size()), result) {
				want = part // another NaN
			} else if f := map[vtype]ieee{tF16: half, tF32: single}[s.dst]; f.size != 0 && f.isNaN(result) {
				want = part // a piece of a NaN
			}
			full := uint32(want) << at
			switch {
			case sd.Unused == isa.UnusedPreserve && n < 32:
				field := uint32(1<<n-1) << at
				full |= old &^ field
			case sd.Unused == isa.UnusedSext && want>>(n-1)&1 == 1 && n < 32:
				full |= ^uint32(0) << at << (n - 1)
			}
			return full
		})
	}
	return done
}
