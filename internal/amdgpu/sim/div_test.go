package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// benches returns a bench of each architecture.
func benches(t testing.TB) []*bench {
	var all []*bench
	for _, a := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		all = append(all, newBench(t, a))
	}
	return all
}

func findOp(arch isa.Arch, name string) (isa.OpInfo, bool) {
	for _, op := range knownOps(arch) {
		if op.Name == name {
			return op, true
		}
	}
	return isa.OpInfo{}, false
}

// decode decodes words.
func (b *bench) decode(words ...uint32) isa.Inst {
	b.t.Helper()
	var code []byte
	for _, w := range words {
		code = append(code, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	in, err := isa.Decode(b.w.arch, code, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return in
}

// vop3 runs a VOP3 instruction on VGPRs; neg is the mask of negated
// sources, sdst the number of a scalar destination or -1.
func (b *bench) vop3(name string, dst, sdst int, neg uint32, src ...int) {
	b.t.Helper()
	for _, op := range knownOps(b.w.arch) {
		if op.Name != name || op.Enc != isa.VOP3 {
			continue
		}
		lo, hi := uint32(0xd4000000)|uint32(op.Opcode)<<16|uint32(dst), neg<<29
		if b.w.arch == isa.GFX90A {
			lo = lo&^0xff000000 | 0xd0000000 | uint32(op.Opcode)<<16&0x3ff0000
		}
		if sdst >= 0 {
			lo |= uint32(sdst) << 8
		}
		for i, s := range src {
			hi |= uint32(256+s) << (9 * i)
		}
		in := b.decode(lo, hi)
		if in.Name != name {
			b.t.Fatalf("%v: %s decodes to %v", b.w.arch, name, in.Name)
		}
		b.run(in)
		return
	}
	b.t.Fatalf("%v has no %s", b.w.arch, name)
}

const sVCC = 106

// testDivision computes num/den by the sequence of LLVM's LowerFDIV32 and
// LowerFDIV64: scaled operands, a refined reciprocal, a refined quotient,
// then div_fmas and div_fixup.
func testDivision(t *testing.T, b *bench) {
	r := rand.New(rand.NewPCG(3, 4))
	e32, e64 := tF32.edges(), tF64.edges()
	b.w.exec = b.w.full &^ 0x30
	for k := range 80 {
		b.v(18)[4], b.v(18)[5] = 0xabc, 0xdef
		for i := range b.w.n {
			n, d := uint32(tF32.random(r)), uint32(tF32.random(r))
			if k < 30 {
				n, d = uint32(e32[r.IntN(len(e32))]), uint32(e32[r.IntN(len(e32))])
			}
			b.v(0)[i], b.v(1)[i] = n, d
			b.v(9)[i] = math.Float32bits(1)
		}
		const num, den, dn, dd, rcp, one, e, q, rem, res = 0, 1, 2, 3, 4, 9, 10, 11, 12, 18
		b.vop3("v_div_scale_f32", dd, 20, 0, den, den, num)
		b.vop3("v_div_scale_f32", dn, sVCC, 0, num, den, num)
		b.vop3("v_rcp_f32", rcp, -1, 0, dd)
		b.vop3("v_fma_f32", e, -1, 1, dd, rcp, one)
		b.vop3("v_fma_f32", rcp, -1, 0, e, rcp, rcp)
		b.vop3("v_mul_f32", q, -1, 0, dn, rcp)
		b.vop3("v_fma_f32", rem, -1, 1, dd, q, dn)
		b.vop3("v_fma_f32", q, -1, 0, rem, rcp, q)
		b.vop3("v_fma_f32", rem, -1, 1, dd, q, dn)
		b.vop3("v_div_fmas_f32", q, -1, 0, rem, rcp, q)
		b.vop3("v_div_fixup_f32", res, -1, 0, q, den, num)
		for _, n := range []string{"v_div_scale_f32", "v_div_fmas_f32", "v_div_fixup_f32", "v_div_scale_f64", "v_div_fmas_f64", "v_div_fixup_f64"} {
			proved(b.w.arch, isa.VOP3, n)
		}
		for i := range b.w.n {
			if b.w.exec>>i&1 == 0 {
				continue
			}
			n, d := math.Float32frombits(b.v(num)[i]), math.Float32frombits(b.v(den)[i])
			got, want := math.Float32frombits(b.v(res)[i]), n/d
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Fatalf("%x / %x: got %x, want %x", b.v(num)[i], b.v(den)[i], b.v(res)[i], math.Float32bits(want))
			}
		}
	}
	if b.v(18)[4] != 0xabc || b.v(18)[5] != 0xdef {
		t.Error("an inactive lane changed")
	}
	for k := range 80 {
		pair := func(v int, i int, x uint64) { b.v(v)[i], b.v(v + 1)[i] = uint32(x), uint32(x>>32) }
		at := func(v int, i int) float64 {
			return math.Float64frombits(uint64(b.v(v)[i]) | uint64(b.v(v + 1)[i])<<32)
		}
		const num, den, dn, dd, rcp, one, e, q, rem, res = 0, 2, 4, 6, 8, 10, 12, 14, 16, 18
		for i := range b.w.n {
			n, d := tF64.random(r), tF64.random(r)
			if k < 30 {
				n, d = e64[r.IntN(len(e64))], e64[r.IntN(len(e64))]
			}
			pair(num, i, n)
			pair(den, i, d)
			pair(one, i, math.Float64bits(1))
		}
		b.vop3("v_div_scale_f64", dd, 20, 0, den, den, num)
		b.vop3("v_rcp_f64", rcp, -1, 0, dd)
		b.vop3("v_fma_f64", e, -1, 1, dd, rcp, one)
		b.vop3("v_fma_f64", rcp, -1, 0, rcp, e, rcp)
		b.vop3("v_fma_f64", e, -1, 1, dd, rcp, one)
		b.vop3("v_fma_f64", rcp, -1, 0, rcp, e, rcp)
		b.vop3("v_div_scale_f64", dn, sVCC, 0, num, den, num)
		b.vop3("v_mul_f64", q, -1, 0, dn, rcp)
		b.vop3("v_fma_f64", rem, -1, 1, dd, q, dn)
		b.vop3("v_div_fmas_f64", q, -1, 0, rem, rcp, q)
		b.vop3("v_div_fixup_f64", res, -1, 0, q, den, num)
		for i := range b.w.n {
			if b.w.exec>>i&1 == 0 {
				continue
			}
			got, want := at(res, i), at(num, i)/at(den, i)
			if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Fatalf("%x / %x: got %x, want %x", at(num, i), at(den, i), got, want)
			}
		}
	}
}

// ldexpOperands are values and exponents that meet.
func ldexpOperands(ty vtype) func(r *rand.Rand, i int) []uint64 {
	return func(r *rand.Rand, i int) []uint64 {
		e := ty.edges()
		n := uint64(uint32(r.IntN(600) - 300))
		switch i % 4 {
		case 0:
			n = uint64(uint32(r.IntN(5000) - 2500))
		case 1:
			n = tB32.random(r)
		}
		if i%3 == 0 {
			return []uint64{e[r.IntN(len(e))], n}
		}
		return []uint64{ty.random(r), n}
	}
}

// quotients16 are a quotient as the sequence for f16 finds it, denominator
// and numerator.
func quotients16(r *rand.Rand, i int) []uint64 {
	e := tF16.edges()
	b, a := e[r.IntN(len(e))], e[r.IntN(len(e))]
	if i%2 == 0 {
		b, a = tF16.random(r), tF16.random(r)
	}
	q := half.mag(a)
	if x := half.float(a) / half.float(b); x == x {
		q = single.convert(uint64(math.Float32bits(float32(math.Abs(x)))), half)
	}
	return []uint64{q, b, a}
}

// divFixup16Ref is the quotient of a division whose magnitude is known.
func divFixup16Ref(s []uint64) uint64 {
	q, b, a := s[0], s[1], s[2]
	sign := (a ^ b) & half.sign()
	zero := func(x uint64) bool { return half.mag(x) == 0 }
	switch {
	case half.isNaN(a) || half.isNaN(b) || zero(a) && zero(b) || half.isInf(a) && half.isInf(b):
		return half.nan()
	case half.isInf(a) || zero(b):
		return sign | half.inf()
	case half.isInf(b) || zero(a):
		return sign
	}
	return sign | half.mag(q)
}
