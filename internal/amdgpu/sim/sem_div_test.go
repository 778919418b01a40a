package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// fixup is v_div_fixup as AMD's ISA guides define it, of quotients that
// neither overflow nor underflow: quotient, denominator, numerator.
func (f ieee) fixup(s []uint64) uint64 {
	q, b, a := s[0], s[1], s[2]
	sign := (a ^ b) & f.sign()
	zero := func(x uint64) bool { return f.mag(x) == 0 }
	switch {
	case f.isNaN(a) || f.isNaN(b) || zero(a) && zero(b) || f.isInf(a) && f.isInf(b):
		return f.nan()
	case f.isInf(a) || zero(b):
		return sign | f.inf()
	case f.isInf(b) || zero(a):
		return sign
	}
	return sign | f.mag(q)
}

// TestDivFixup has special operands with any quotient, and others with
// quotients that are in range.
func TestDivFixup(t *testing.T) {
	for name, f := range map[string]ieee{"v_div_fixup_f32": single, "v_div_fixup_f64": double} {
		ty := map[int]vtype{32: tF32, 64: tF64}[f.size]
		special := []uint64{0, f.sign(), f.inf(), f.inf() | f.sign(), f.nan()}
		s := sem{name: name, src: []vtype{ty, ty, ty}, dst: ty, count: 2000, ref: f.fixup, noMods: true,
			values: func(r *rand.Rand, i int) []uint64 {
				number := func() uint64 { // of an exponent that divides by any other in range
					e := uint64(f.bias() + r.IntN(60) - 30)
					return r.Uint64()&(f.sign()|1<<f.man-1) | e<<f.man
				}
				v := []uint64{number(), number(), number()}
				if i%4 != 0 {
					v[1+r.IntN(2)] = special[r.IntN(5)]
				}
				if i%3 == 0 {
					v[1+r.IntN(2)] = special[r.IntN(5)]
				}
				return v
			}}
		s.check(t)
	}
}

// TestDivScale has what a division needs of v_div_scale: it multiplies an
// operand by a power of two, and where it scales both operands alike or none,
// as it says in vcc, the quotient is that of the operands.
func TestDivScale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, b := range benches(t) {
		for k := range 60 {
			for i := range b.w.n {
				b.v(0)[i], b.v(1)[i] = uint32(tF32.random(r)), uint32(tF32.random(r))
				if k%2 == 0 {
					e := tF32.edges()
					b.v(0)[i], b.v(1)[i] = uint32(e[r.IntN(len(e))]), uint32(e[r.IntN(len(e))])
				}
			}
			b.vop3("v_div_scale_f32", 3, 20, 0, 1, 1, 0) // the denominator
			b.vop3("v_div_scale_f32", 2, sVCC, 0, 0, 1, 0)
			for i := range b.w.n {
				n, d := uint64(b.v(0)[i]), uint64(b.v(1)[i])
				if single.isNaN(n) || single.isNaN(d) || single.isInf(n) || single.isInf(d) || single.mag(n) == 0 || single.mag(d) == 0 {
					continue
				}
				var log [2]int
				for k, x := range []uint64{n, d} {
					y := uint64(b.v(2 + k)[i])
					if single.isNaN(y) {
						log[k] = math.MinInt
						continue
					}
					q := single.exact().Quo(single.value(y), single.value(x))
					m := q.MantExp(nil) - 1
					if q.SetMantExp(q, -m); q.Cmp(single.value(single.one())) != 0 {
						t.Fatalf("%v: %x, %x: operand %d becomes %x, no power of two times it", b.w.arch, n, d, k, y)
					}
					log[k] = m
				}
				if log[0] == math.MinInt || log[1] == math.MinInt {
					continue
				}
				if vcc := b.w.vcc()>>i&1 != 0; !vcc && log[0] != log[1] {
					t.Fatalf("%v: %x, %x: scaled by 2^%d and 2^%d, yet vcc is not set", b.w.arch, n, d, log[0], log[1])
				}
			}
		}
	}
}

// TestDivisionFlushed runs the sequence that LLVM has for f32 division where
// subnormals are flushed: it keeps them in between, by way of the mode
// register. Operands and result are flushed.
func TestDivisionFlushed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	edges := tF32.edges()
	for _, b := range benches(t) {
		flush := arith.DefaultMode &^ (arith.DenormIn32 | arith.DenormOut32)
		denorms := func(v uint32) {
			if b.w.arch == isa.GFX90A || v == 0 {
				// hwreg(HW_REG_MODE, 4, 2)
				b.run(decoded(t, b.w.arch, "s_setreg_imm32_b32", sop(t, b.w.arch, isa.SOPK, "s_setreg_imm32_b32", 0, 1|4<<6|1<<11), v))
				return
			}
			b.run(decoded(t, b.w.arch, "s_denorm_mode", sopp(t, b.w.arch, "s_denorm_mode", uint16(v|3<<2))))
		}
		b.w.mode = flush
		for k := range 120 {
			const num, den, dn, dd, rcp, one, e, q, rem, res = 0, 1, 2, 3, 4, 9, 10, 11, 12, 18
			for i := range b.w.n {
				b.v(num)[i], b.v(den)[i], b.v(one)[i] = uint32(tF32.random(r)), uint32(tF32.random(r)), math.Float32bits(1)
				if k%3 == 0 {
					b.v(num)[i], b.v(den)[i] = uint32(edges[r.IntN(len(edges))]), uint32(edges[r.IntN(len(edges))])
				}
			}
			b.vop3("v_div_scale_f32", dd, 20, 0, den, den, num)
			b.vop3("v_div_scale_f32", dn, sVCC, 0, num, den, num)
			b.vop3("v_rcp_f32", rcp, -1, 0, dd)
			denorms(3)
			b.vop3("v_fma_f32", e, -1, 1, dd, rcp, one)
			b.vop3("v_fma_f32", rcp, -1, 0, e, rcp, rcp)
			b.vop3("v_mul_f32", q, -1, 0, dn, rcp)
			b.vop3("v_fma_f32", rem, -1, 1, dd, q, dn)
			b.vop3("v_fma_f32", q, -1, 0, rem, rcp, q)
			b.vop3("v_fma_f32", rem, -1, 1, dd, q, dn)
			denorms(0)
			if b.w.mode != flush {
				t.Fatalf("%v: got mode %x, want %x", b.w.arch, b.w.mode, flush)
			}
			b.vop3("v_div_fmas_f32", q, -1, 0, rem, rcp, q)
			b.vop3("v_div_fixup_f32", res, -1, 0, q, den, num)
			for i := range b.w.n {
				n, d := single.flush(uint64(b.v(num)[i])), single.flush(uint64(b.v(den)[i]))
				x, y := math.Float32frombits(uint32(n)), math.Float32frombits(uint32(d))
				want := uint64(math.Float32bits(x / y))
				if single.mag(want) == 1<<23 && !single.isNaN(n) && !single.isNaN(d) && !single.isInf(d) {
					continue // on the border of what is flushed
				}
				want = single.flush(want)
				if got := uint64(b.v(res)[i]); got != want && !(single.isNaN(got) && single.isNaN(want)) {
					t.Fatalf("%v: %x / %x: got %x, want %x", b.w.arch, b.v(num)[i], b.v(den)[i], got, want)
				}
			}
		}
	}
}
