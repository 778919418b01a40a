package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Tests of instruction semantics: each instruction is encoded as hardware
// has it, decoded, compiled and executed on a wave whose registers hold
// chosen operands, in every encoding and on every architecture that has it,
// with all lanes and with some, with and without modifiers. The result of
// each lane is compared with that of a function on one lane.

// A vtype is the type of an operand. Operands are uint64 with the value in
// the low bits.
type vtype uint8

const (
	tB32 vtype = iota // 32 bits that have no float modifiers
	tB16              // likewise 16
	tB64
	tF16
	tF32
	tF64
	tPkF16 // VOP3P: op_sel and neg act on halves
	tPkB16
	tPkF32
	tMix  // source of v_fma_mix
	tMask // a lane mask: 0 or 1 for each lane. As source, s[10:11] or vcc; as result, the same
)

func (t vtype) size() int {
	switch t {
	case tB16, tF16:
		return 16
	case tB64, tF64, tPkF32:
		return 64
	case tMask:
		return 1
	}
	return 32
}

func (t vtype) float() bool { return t == tF16 || t == tF32 || t == tF64 }

// A sem is the semantics of an instruction.
type sem struct {
	name string
	src  []vtype
	dst  vtype
	acc  bool // the destination is the last source too
	keep bool // a 16-bit result keeps the rest of the register on gfx90a too
	ref  func(s []uint64) uint64

	// modRef, where set, takes the place of ref for VOP3P, whose modifiers
	// it applies.
	modRef func(s []uint64, m isa.Modifiers) uint64

	mask    func(s []uint64) bool   // the second result, a lane mask
	clamp   func(r uint64) uint64   // what clamp makes of a result, nil where there is none to test
	sat     func(s []uint64) uint64 // ref with clamp, of integers
	values  func(r *rand.Rand, i int) []uint64
	equal   func(got, want uint64) bool // nil for equality, with all NaNs of a float equal
	count   int                         // operands to try, 0 for some
	noMods  bool                        // has no neg and abs though its sources are floats
	noSDWA  bool
	setup   func(w *wave) // changes the mode, say
	only    []isa.Arch
	exclude []isa.Encoding

	swept bool // all operands have been tried
}

var opTables = sync.OnceValue(func() map[isa.Arch][]isa.OpInfo {
	m := map[isa.Arch][]isa.OpInfo{}
	for _, a := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		m[a] = isa.Ops(a)
	}
	return m
})

// knownOps is isa.Ops, made once.
func knownOps(a isa.Arch) []isa.OpInfo { return opTables()[a] }

// encode returns the words of an instruction with VGPR operands: the
// destination in v[dst], sources in v[src...], lane masks in s[10:11].
func encode(arch isa.Arch, op isa.OpInfo, form isa.Form, s *sem, dst int, src []int, m isa.Modifiers, sd isa.SDWASel) []uint32 {
	gfx9 := arch == isa.GFX90A
	var v [3]uint32 // source fields
	for i := range v {
		if i < len(src) {
			v[i] = 256 + uint32(src[i])
			if s.src[i] == tMask {
				v[i] = 10
			}
		}
	}
	d := uint32(dst)
	switch op.Enc {
	case isa.VOP1, isa.VOP2:
		s0 := v[0]
		if form == isa.SDWA {
			s0 = 249
		}
		w := uint32(0x7e000000) | d<<17 | uint32(op.Opcode)<<9 | s0
		if op.Enc == isa.VOP2 {
			w = uint32(op.Opcode)<<25 | d<<17 | v[1]&0xff<<9 | s0
		}
		if form != isa.SDWA {
			return []uint32{w}
		}
		x := v[0]&0xff | uint32(sd.Dst)<<8 | uint32(sd.Unused)<<11 | uint32(sd.Src0)<<16 | uint32(sd.Src1)<<24
		if m.Clamp {
			x |= 1 << 13
		}
		x |= uint32(m.Omod)<<14 | uint32(sd.Sext&1)<<19 | uint32(sd.Sext>>1&1)<<27
		x |= uint32(m.Neg&1)<<20 | uint32(m.Abs&1)<<21 | uint32(m.Neg>>1&1)<<28 | uint32(m.Abs>>1&1)<<29
		return []uint32{w, x}
	case isa.VOP3, isa.VOP3P:
		lo, hi := uint32(op.Opcode)<<16|d, v[0]
		switch {
		case op.Enc == isa.VOP3P && gfx9:
			lo |= 0xd3800000
		case op.Enc == isa.VOP3P:
			lo |= 0xcc000000
		case gfx9:
			lo |= 0xd0000000
		default:
			lo |= 0xd4000000
		}
		if len(src) > 1 {
			hi |= v[1] << 9
		}
		if len(src) > 2 {
			hi |= v[2] << 18
		}
		if op.Enc == isa.VOP3P {
			lo |= uint32(m.NegHi|m.Abs)<<8 | uint32(m.OpSel&7)<<11 | uint32(m.OpSelHi>>2&1)<<14
			hi |= uint32(m.OpSelHi&3)<<27 | uint32(m.Neg)<<29
		} else {
			hi |= uint32(m.Omod)<<27 | uint32(m.Neg)<<29
			if s.mask != nil {
				lo |= 12 << 8 // s[12:13]
			} else {
				lo |= uint32(m.Abs)<<8 | uint32(m.OpSel)<<11
			}
		}
		if m.Clamp {
			lo |= 1 << 15
		}
		return []uint32{lo, hi}
	}
	panic("encoding " + op.Enc.String())
}

// edges are the operands of a type that matter most.
func (t vtype) edges() []uint64 {
	switch t {
	case tF16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0xbc00, 0x4000, 0xc200, 0x4900, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01}
	case tF32, tMix:
		return []uint64{0, 1 << 31, 1, 1<<31 | 1, 0x7fffff, 0x800000, 0x80800000, 0x33800000, 0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0xbf800000,
			0x40000000, 0xc0600000, 0x41200000, 0x4b800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001}
	case tF64:
		return []uint64{0, 1 << 63, 1, 1<<63 | 1, 1<<52 - 1, 1 << 52, 1<<63 | 1<<52, 0x3fe << 52, 0x3ff<<52 - 1, 0x3ff << 52, 0x3ff<<52 + 1, 0xbff << 52, 0x400 << 52, 0xc00c << 48,
			0x4340 << 48, 0x41e << 52, 0xc1e << 52, 0x41f << 52, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8000000012345, 0x7ff0000000000001}
	case tB16:
		return []uint64{0, 1, 2, 7, 15, 16, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff}
	case tMask:
		return []uint64{0, 1}
	case tB64:
		return []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	case tPkF16:
		return []uint64{0, 0x8000_0000, 0x3c00_c000, 0x7bff_fbff, 0x7c00_fc00, 0x7e00_0001, 0x0400_83ff, 0x4900_3555}
	case tPkB16:
		return []uint64{0, 1, 0x8000_7fff, 0x7fff_8000, 0xffff_0001, 0x0001_ffff, 0xffff_ffff, 0x000f_0010}
	case tPkF32:
		return []uint64{0, 0x3f800000_40000000, 0x80000000_00000001, 0x7f800000_ff800000, 0x7f7fffff_00800000, 0x7fc00000_3f800001}
	}
	return []uint64{0, 1, 2, 7, 15, 16, 31, 32, 33, 63, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff}
}

// random returns an operand: any bits, or a float of moderate size.
func (t vtype) random(r *rand.Rand) uint64 {
	v := r.Uint64()
	switch k := r.IntN(4); {
	case t == tMask:
		return v & 1
	case k > 1:
	case t == tF16:
		v = v&0x83ff | uint64(15-6+r.IntN(12))<<10
	case t == tPkF16:
		return tF16.random(r) | tF16.random(r)<<16
	case t == tF32 || t == tMix:
		v = v&0x807fffff | uint64(127-12+r.IntN(25))<<23
	case t == tPkF32:
		return tF32.random(r) | tF32.random(r)<<32
	case t == tF64:
		v = v&0x800fffffffffffff | uint64(1023-20+r.IntN(40))<<52
	}
	return v & (1<<t.size() - 1)
}

// operands returns the operands to try.
func (s *sem) operands(r *rand.Rand) [][]uint64 {
	var all [][]uint64
	if s.values != nil {
		for i := range max(s.count, 256) {
			all = append(all, s.values(r, i))
		}
		return all
	}
	switch {
	case len(s.src) == 1 && s.src[0].size() <= 16:
		for v := range uint64(1 << s.src[0].size()) { // exhaustive
			all = append(all, []uint64{v})
		}
		return all
	case len(s.src) <= 2:
		for _, a := range s.src[0].edges() {
			if len(s.src) == 1 {
				all = append(all, []uint64{a})
				continue
			}
			for _, b := range s.src[1].edges() {
				all = append(all, []uint64{a, b})
			}
		}
	default:
		for range 1024 {
			v := make([]uint64, len(s.src))
			for i := range v {
				e := s.src[i].edges()
				v[i] = e[r.IntN(len(e))]
			}
			all = append(all, v)
		}
	}
	for range max(s.count, 1024) {
		v := make([]uint64, len(s.src))
		for i := range v {
			v[i] = s.src[i].random(r)
		}
		all = append(all, v)
	}
	return all
}

// variants returns the modifiers to try in an encoding.
func (s *sem) variants(enc isa.Encoding, form isa.Form, r *rand.Rand) []isa.Modifiers {
	var v []isa.Modifiers
	plain := isa.Modifiers{}
	if enc == isa.VOP3P {
		plain.OpSelHi = 7
		if s.modRef == nil {
			return []isa.Modifiers{plain}
		}
		n := uint8(1<<len(s.src) - 1)
		v = append(v, plain)
		float := s.src[0] == tPkF16 || s.src[0] == tPkF32 || s.src[0] == tMix
		for range 12 {
			m := isa.Modifiers{OpSel: uint8(r.Uint32()) & n, OpSelHi: uint8(r.Uint32())&n | 7&^n}
			if float {
				m.Neg = uint8(r.Uint32()) & n
				if s.src[0] == tMix {
					m.Abs = uint8(r.Uint32()) & n
				} else {
					m.NegHi = uint8(r.Uint32()) & n
				}
			}
			m.Clamp = s.clamp != nil && r.IntN(3) == 0
			v = append(v, m)
		}
		return v
	}
	v = append(v, plain)
	if enc != isa.VOP3 && form != isa.SDWA {
		return v
	}
	if !s.noMods && s.mask == nil {
		for i, t := range s.src {
			if s.acc && i == len(s.src)-1 || !t.float() {
				continue
			}
			v = append(v, isa.Modifiers{Neg: 1 << i}, isa.Modifiers{Abs: 1 << i}, isa.Modifiers{Neg: 1 << i, Abs: 1 << i})
		}
	}
	if s.clamp != nil || s.sat != nil {
		v = append(v, isa.Modifiers{Clamp: true})
	}
	return v
}

// check tests the semantics on every architecture that has the instruction.
func (s *sem) check(t *testing.T) {
	t.Helper()
	found := false
	for _, arch := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		if s.only != nil && !contains(s.only, arch) {
			continue
		}
		for _, op := range knownOps(arch) {
			if op.Name != s.name || contains(s.exclude, op.Enc) || !isVALU(op.Enc) || op.Enc == isa.VOPD || op.Enc == isa.VOPC {
				continue
			}
			found = true
			s.checkForm(t, arch, op, isa.Plain)
			if (op.Enc == isa.VOP1 || op.Enc == isa.VOP2) && arch != isa.GFX1100 && !s.noSDWA {
				s.checkForm(t, arch, op, isa.SDWA)
			}
		}
	}
	if !found {
		t.Errorf("%s: no architecture has it", s.name)
	}
}

func contains[T comparable](s []T, v T) bool {
	for _, x := range s {
		if x == v {
			return true
		}
	}
	return false
}

func (s *sem) checkForm(t *testing.T, arch isa.Arch, op isa.OpInfo, form isa.Form) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(op.Opcode)))
	all := s.operands(r)
	few := all
	if len(all) > 2048 { // all of them once, then a sample
		few = nil
		for range 1024 {
			few = append(few, all[r.IntN(len(all))])
		}
	}
	for k, m := range s.variants(op.Enc, form, r) {
		ops := few
		if !s.swept {
			ops, s.swept = all, true
		}
		var sd isa.SDWASel
		if form == isa.SDWA {
			sd = isa.SDWASel{Dst: isa.DWord, Src0: isa.DWord, Src1: isa.DWord}
			for i, p := range []*isa.Sel{&sd.Src0, &sd.Src1} {
				if i < len(s.src) && s.src[i].size() == 16 {
					*p = isa.Word0 + isa.Sel((k+i)%2)
				}
			}
		}
		if !s.checkOps(t, arch, op, form, m, sd, ops, k) {
			return
		}
	}
}

// checkOps runs one encoding with one set of modifiers on all operands.
func (s *sem) checkOps(t *testing.T, arch isa.Arch, info isa.OpInfo, form isa.Form, m isa.Modifiers, sd isa.SDWASel, ops [][]uint64, k int) bool {
	t.Helper()
	const dst = 20
	b := newBench(t, arch)
	w := b.w
	if s.setup != nil {
		s.setup(w)
	}
	n := len(s.src)
	if s.acc {
		n--
	}
	regs := make([]int, n)
	for i := range regs {
		regs[i] = 2 + 4*i
	}
	half := k % 2 // which half a 16-bit source lies in, and the result
	if info.Enc == isa.VOP3 && arch != isa.GFX90A && form == isa.Plain && half == 1 && s.mask == nil {
		for i, ty := range s.src[:n] {
			if ty.size() == 16 {
				m.OpSel |= 1 << i
			}
		}
		if s.dst.size() == 16 {
			m.OpSel |= 8
		}
		if s.acc && s.src[n].size() == 16 {
			m.OpSel &^= 8
		}
	}
	words := encode(arch, info, form, s, dst, regs, m, sd)
	decode := func() (isa.Inst, error) {
		var code []byte
		for _, x := range words {
			code = binary.LittleEndian.AppendUint32(code, x)
		}
		return isa.Decode(arch, append(code, make([]byte, 8)...), 0)
	}
	in, err := decode()
	if err == nil && in.Mod.OpSel != m.OpSel {
		m.OpSel = 0 // LLVM does not have it here
		words = encode(arch, info, form, s, dst, regs, m, sd)
		in, err = decode()
	}
	if err != nil || in.Name != s.name {
		if m.OpSel != 0 || m.Clamp || form == isa.SDWA || m.Neg|m.Abs != 0 {
			return true // no such form
		}
		t.Errorf("%v %s: words %08x decode to %v (%v)", arch, s.name, words, in.Name, err)
		return false
	}
	o, err := b.c.try(&in)
	if err != nil {
		t.Errorf("%v %v: refused: %v", arch, in.String(), err)
		return false
	}
	proved(arch, info.Enc, info.Name)
	for part := 0; len(ops) > 0; part++ {
		w.exec = w.full
		if part%2 == 1 {
			w.exec = 0xf0f0a5a53c3c8001 & w.full
		}
		cur := ops[:min(w.n, len(ops))]
		ops = ops[len(cur):]
		const old = 0xdeadbeef
		for i := range w.n {
			b.v(dst)[i], b.v(dst + 1)[i] = old, old
		}
		for i := range s.src {
			s.load(b, i, dst, regs, m, sd, form, cur)
		}
		was := *b.v(dst)
		o.run(w, &o)
		if w.err != nil {
			t.Errorf("%v %v: %v", arch, in.String(), w.err)
			return false
		}
		for i := range w.n {
			lo, hi := b.v(dst)[i], b.v(dst + 1)[i]
			if w.exec>>i&1 == 0 {
				if lo != was[i] && s.dst != tMask {
					t.Errorf("%v %v: inactive lane %d changed to %08x", arch, in.String(), i, lo)
					return false
				}
				continue
			}
			if i >= len(cur) {
				continue
			}
			want := s.want(cur[i], m)
			got := uint64(lo)
			switch s.dst.size() {
			case 64:
				got |= uint64(hi) << 32
			case 16:
				got = s.part(t, &in, arch, lo, was[i], m)
			}
			if s.dst != tMask && !s.same(got, want) {
				t.Errorf("%v %v (%+v %+v): operands %x: got %0*x, want %0*x", arch, in.String(), m, sd, cur[i], s.dst.size()/4, got, s.dst.size()/4, want)
				return false
			}
			if s.mask != nil {
				z := uint64(w.s[12]) | uint64(w.s[13])<<32
				if info.Enc != isa.VOP3 {
					z = w.vcc()
				}
				if got, want := z>>i&1 != 0, s.mask(cur[i]); got != want {
					t.Errorf("%v %v: operands %x: got mask %t, want %t", arch, in.String(), cur[i], got, want)
					return false
				}
			}
		}
	}
	return true
}

// load puts operand i of each lane into its register.
func (s *sem) load(b *bench, i, dst int, regs []int, m isa.Modifiers, sd isa.SDWASel, form isa.Form, cur [][]uint64) {
	reg, at := dst, 0
	if i < len(regs) {
		reg = regs[i]
	}
	if s.src[i].size() == 16 {
		if m.OpSel>>i&1 != 0 || form == isa.SDWA && i < 2 && [2]isa.Sel{sd.Src0, sd.Src1}[i] == isa.Word1 {
			at = 16
		}
	}
	var mask uint64
	for l := range cur {
		v := cur[l][i]
		switch s.src[i].size() {
		case 1:
			mask |= v << l
			continue
		case 16:
			// The other half holds something that must not matter.
			b.v(reg)[l] = uint32(v)<<at | 0x7e5a<<(16-at)
			continue
		case 64:
			b.v(reg + 1)[l] = uint32(v >> 32)
		}
		b.v(reg)[l] = uint32(v)
	}
	if s.src[i] == tMask {
		b.w.s[10], b.w.s[11] = uint32(mask), uint32(mask>>32)
		b.w.s[regVCC], b.w.s[regVCC+1] = uint32(mask), uint32(mask>>32)
	}
}

// want is the result for the operands v under the modifiers.
func (s *sem) want(v []uint64, m isa.Modifiers) uint64 {
	if s.modRef != nil {
		r := s.modRef(v, m)
		if m.Clamp {
			r = s.clamp(r)
		}
		return r
	}
	v = append([]uint64(nil), v...)
	for i := range v {
		if !s.src[i].float() {
			continue
		}
		sign := uint64(1) << (s.src[i].size() - 1)
		if m.Abs>>i&1 != 0 {
			v[i] &^= sign
		}
		if m.Neg>>i&1 != 0 {
			v[i] ^= sign
		}
	}
	if m.Clamp && s.sat != nil {
		return s.sat(v)
	}
	r := s.ref(v)
	if m.Clamp {
		r = s.clamp(r)
	}
	return r
}

// part returns the half of the register that a 16-bit result is in, and
// checks what becomes of the other.
func (s *sem) part(t *testing.T, in *isa.Inst, arch isa.Arch, got, old uint32, m isa.Modifiers) uint64 {
	t.Helper()
	if in.Form == isa.SDWA {
		return uint64(got & 0xffff) // the rest is the whole result's
	}
	hi := m.OpSel&8 != 0 || in.Name == "v_fma_mixhi_f16"
	keep := arch != isa.GFX90A || s.keep || hi
	switch {
	case hi && got&0xffff != old&0xffff:
		t.Errorf("%v %v: low half of the result is %04x, want it kept", arch, in.String(), got&0xffff)
	case !hi && keep && got>>16 != old>>16:
		t.Errorf("%v %v: high half of the result is %04x, want it kept", arch, in.String(), got>>16)
	case !keep && got>>16 != 0:
		t.Errorf("%v %v: high half of the result is %04x, want 0", arch, in.String(), got>>16)
	}
	if hi {
		return uint64(got >> 16)
	}
	return uint64(got & 0xffff)
}

// same reports whether a result is as it should be; one NaN is as good as
// another.
func (s *sem) same(got, want uint64) bool {
	if s.equal != nil {
		return s.equal(got, want)
	}
	nan := func(v uint64, size int) bool {
		switch size {
		case 16:
			return v&0x7fff > 0x7c00
		case 32:
			return v&0x7fffffff > 0x7f800000
		}
		return v&^(1<<63) > 0x7ff<<52
	}
	switch s.dst {
	case tF16, tF32, tF64:
		return got == want || nan(got, s.dst.size()) && nan(want, s.dst.size())
	case tPkF16, tPkF32:
		n := s.dst.size() / 2
		for _, k := range []int{0, n} {
			g, w := got>>k&(1<<n-1), want>>k&(1<<n-1)
			if g != w && !(nan(g, n) && nan(w, n)) {
				return false
			}
		}
		return true
	}
	return got == want
}

// checkAll tests a table, each instruction as a subtest, and that the tables
// of semantics hold no instruction that is not tested.
func checkAll(t *testing.T, all []sem) {
	t.Helper()
	for i := range all {
		s := &all[i]
		t.Run(strings.TrimPrefix(s.name, "v_"), func(t *testing.T) { s.check(t) })
	}
}

// untested fails for instructions of a table of specs that no sem is for.
func untested(t *testing.T, specs map[string]spec, tested ...[]sem) {
	t.Helper()
	have := map[string]bool{}
	for _, all := range tested {
		for i := range all {
			have[all[i].name] = true
		}
	}
	for name := range specs {
		if !have[name] {
			t.Errorf("%s has no test", name)
		}
	}
}

// TestHarness holds the harness to finding what is wrong: a semantics that
// differs in one operand, in a modifier, and one that ignores exec.
func TestHarness(t *testing.T) {
	for i, s := range []sem{
		{name: "v_mul_f32", src: []vtype{tF32, tF32}, dst: tF32, ref: func(s []uint64) uint64 { return s[0] }},
		{name: "v_mov_b32", src: []vtype{tB32}, dst: tB32, ref: func(s []uint64) uint64 { return s[0] &^ b2u64(s[0] == 0x80000001) }},
	} {
		if ok := fails(func(t *testing.T) { s.check(t) }); !ok {
			t.Errorf("case %d: the harness passes a wrong reference", i)
		}
	}
}

func b2u64(b bool) uint64 { return uint64(b2u(b)) }

// fails reports whether a test fails.
func fails(f func(t *testing.T)) bool {
	var t testing.T
	done := make(chan bool)
	go func() {
		defer func() { recover(); done <- t.Failed() }()
		f(&t)
	}()
	return <-done
}
