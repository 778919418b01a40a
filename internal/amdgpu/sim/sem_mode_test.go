package sim

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A modal is a format under a mode: how results round, and whether operands
// and results that are subnormal are kept.
type modal struct {
	ieee
	round           big.RoundingMode
	keepIn, keepOut bool
}

// modals returns the three formats as a wave's mode has them.
func modals(m arith.Mode) (h, s, d modal) {
	round := [4]big.RoundingMode{big.ToNearestEven, big.ToPositiveInf, big.ToNegativeInf, big.ToZero}
	rest := func(f ieee) modal { return modal{f, round[m>>2&3], m>>6&1 == 1, m>>7&1 == 1} }
	return rest(half), modal{single, round[m&3], m>>4&1 == 1, m>>5&1 == 1}, rest(double)
}

// in is an operand as it is read.
func (f modal) in(a uint64) uint64 {
	if f.keepIn {
		return a
	}
	return f.flush(a)
}

// out is v, not zero, rounded. What is tiny when rounded as if exponents had
// no limit becomes a zero, where the mode says so.
func (f modal) out(v *big.Float) uint64 {
	var sign uint64
	if v.Signbit() {
		sign = f.sign()
	}
	u := new(big.Float).SetPrec(uint(f.man + 1)).SetMode(f.round).Set(v)
	e := u.MantExp(nil) - 1
	if e < 1-f.bias() {
		if !f.keepOut {
			return sign
		}
		// Count in units of the least subnormal: bits that are not there are
		// cut off as the precision says, so that there are as many as fit.
		n := new(big.Float).SetMantExp(v, f.bias()-1+f.man)
		k, acc := n.Int(nil)
		k.Abs(k)
		if acc != big.Exact {
			rest := new(big.Float).SetPrec(n.Prec()).Sub(new(big.Float).Abs(n), new(big.Float).SetInt(k))
			c := rest.Cmp(big.NewFloat(0.5))
			switch {
			case f.round == big.ToNearestEven && (c > 0 || c == 0 && k.Bit(0) == 1),
				f.round == big.ToPositiveInf && sign == 0, f.round == big.ToNegativeInf && sign != 0:
				k.Add(k, big.NewInt(1))
			}
		}
		return sign | k.Uint64()
	}
	if e > f.bias() {
		if f.round == big.ToZero || f.round == big.ToNegativeInf && sign == 0 || f.round == big.ToPositiveInf && sign != 0 {
			return sign | (f.inf() - 1)
		}
		return sign | f.inf()
	}
	k, _ := new(big.Float).SetMantExp(u, f.man-e).Int(nil)
	return sign | uint64(e+f.bias())<<f.man | k.Abs(k).Uint64()&(1<<f.man-1)
}

// fma is a*b+c of operands as read, rounded once.
func (f modal) fma(a, b, c uint64) uint64 {
	a, b, c = f.in(a), f.in(b), f.in(c)
	for _, x := range []uint64{a, b, c} {
		if f.isNaN(x) || f.isInf(x) {
			return f.ieee.fma(a, b, c) // exact
		}
	}
	p, z := f.exact().Mul(f.value(a), f.value(b)), f.value(c)
	v := f.exact().Add(p, z)
	if v.Sign() != 0 {
		return f.out(v)
	}
	switch negative := p.Signbit(); {
	case negative == z.Signbit() && negative, negative != z.Signbit() && f.round == big.ToNegativeInf:
		return f.sign()
	}
	return 0
}

func (f modal) add(a, b uint64) uint64 { return f.fma(a, f.one(), b) }

// mul is a product: a zero has the sign of the factors.
func (f modal) mul(a, b uint64) uint64 { return f.fma(a, b, (a^b)&f.sign()) }

func (f modal) sub(a, b uint64) uint64 { return f.add(a, f.negated(b)) }

// from converts from another format, an operand as read there.
func (f modal) from(g modal, a uint64) uint64 {
	a = g.in(a)
	if g.isNaN(a) || g.isInf(a) || g.mag(a) == 0 {
		return g.convert(a, f.ieee)
	}
	return f.out(f.exact().Set(g.value(a)))
}

func (f modal) fromBig(n *big.Int) uint64 {
	if n.Sign() == 0 {
		return 0
	}
	return f.out(new(big.Float).SetPrec(200).SetInt(n))
}

// ldexp scales by a power of two.
func (f modal) ldexp(a uint64, n int) uint64 {
	a = f.in(a)
	if f.isNaN(a) || f.isInf(a) || f.mag(a) == 0 {
		return f.ieee.ldexp(a, 0)
	}
	return f.out(new(big.Float).SetMantExp(f.value(a), max(min(n, 6000), -6000)))
}

// least is the lesser, or the greater, of operands as read.
func (f modal) least(a, b uint64, greater bool) uint64 {
	a, b = f.in(a), f.in(b)
	r := f.min(a, b)
	if greater {
		r = f.max(a, b)
	}
	if !f.keepOut {
		r = f.flush(r)
	}
	return r
}

// flushed is the format as v_mad has it: it rounds as the mode says, and
// keeps no subnormal.
func (f modal) flushed() modal { return modal{f.ieee, f.round, false, false} }

func (f modal) mad(a, b, c uint64) uint64 { g := f.flushed(); return g.add(g.mul(a, b), c) }

// hard returns operands of which results are close to halfway, subnormal,
// close to overflow, or anything.
func (f ieee) hard(n int) func(r *rand.Rand, i int) []uint64 {
	t := map[int]vtype{16: tF16, 32: tF32, 64: tF64}[f.size]
	float := func(r *rand.Rand, e int) uint64 { // of exponent e, few or many bits
		m := r.Uint64() & (1<<f.man - 1)
		if r.IntN(2) == 0 {
			m &^= 1<<(f.man/2) - 1
		}
		e += f.bias()
		s := r.Uint64() & f.sign()
		if e <= 0 {
			return s | (1<<f.man|m)>>min(1-e, 63)
		}
		return s | uint64(min(e, 2*f.bias()))<<f.man | m
	}
	return func(r *rand.Rand, i int) []uint64 {
		v := make([]uint64, n)
		switch i % 4 {
		case 0:
			for k := range v {
				e := t.edges()
				v[k] = e[r.IntN(len(e))]
				for f.signalling(v[k]) {
					v[k] = e[r.IntN(len(e))]
				}
			}
			return v
		case 1: // an addend of half a unit of the last place, more or less
			e := r.IntN(8) - 4
			v[0] = float(r, e)
			if n > 1 {
				v[1] = float(r, e-f.man-1+r.IntN(3)-1)
			}
			if n > 2 {
				v[1] = float(r, 0)
				v[2] = float(r, e-f.man-1+r.IntN(3)-1)
			}
		case 2: // products and sums about the least numbers
			for k := range v {
				v[k] = float(r, -f.bias()+r.IntN(4)-2)
			}
			if n > 1 && r.IntN(2) == 0 {
				v[1] = float(r, r.IntN(4)-2-f.man/2)
			}
		default: // about the largest
			for k := range v {
				v[k] = float(r, f.bias()-r.IntN(2))
			}
			if n > 1 && r.IntN(2) == 0 {
				v[1] = float(r, r.IntN(3)-1)
			}
		}
		return v
	}
}

// modeSems are the instructions that a mode steers, under the mode.
func modeSems(m arith.Mode) []sem {
	h, s, d := modals(m)
	var all []sem
	add := func(name string, f modal, n int, ref func(v []uint64) uint64) *sem {
		t := map[int]vtype{16: tF16, 32: tF32, 64: tF64}[f.size]
		all = append(all, sem{name: name, src: []vtype{t, t, t}[:n], dst: t, values: f.hard(n), ref: ref})
		return &all[len(all)-1]
	}
	for suffix, f := range map[string]modal{"f16": h, "f32": s, "f64": d} {
		add("v_add_"+suffix, f, 2, func(v []uint64) uint64 { return f.add(v[0], v[1]) })
		add("v_mul_"+suffix, f, 2, func(v []uint64) uint64 { return f.mul(v[0], v[1]) })
		add("v_fma_"+suffix, f, 3, func(v []uint64) uint64 { return f.fma(v[0], v[1], v[2]) }).keep = true
		add("v_min_"+suffix, f, 2, func(v []uint64) uint64 { return f.least(v[0], v[1], false) })
		add("v_max_"+suffix, f, 2, func(v []uint64) uint64 { return f.least(v[0], v[1], true) })
		add("v_fmac_"+suffix, f, 3, func(v []uint64) uint64 { return f.fma(v[0], v[1], v[2]) }).acc = true
		ld := add("v_ldexp_"+suffix, f, 2, func(v []uint64) uint64 { return f.ldexp(v[0], int(int16(v[1]))) })
		ld.src = []vtype{ld.dst, tB32}
		if f.size == 16 {
			ld.src[1] = tB16
		}
		ld.noSDWA = true
		ld.values = func(r *rand.Rand, i int) []uint64 {
			n := r.IntN(2*f.bias()+80) - f.bias() - 40
			return []uint64{f.hard(1)(r, i)[0], uint64(n) & (1<<ld.src[1].size() - 1)}
		}
		if f.size == 64 {
			continue
		}
		add("v_sub_"+suffix, f, 2, func(v []uint64) uint64 { return f.sub(v[0], v[1]) })
		add("v_subrev_"+suffix, f, 2, func(v []uint64) uint64 { return f.sub(v[1], v[0]) })
		mad := add("v_mad_"+suffix, f, 3, func(v []uint64) uint64 { return f.mad(v[0], v[1], v[2]) })
		mad.keep = f.size == 16
		mac := add("v_mac_"+suffix, f, 3, func(v []uint64) uint64 { return f.mad(v[0], v[1], v[2]) })
		mac.acc, mac.keep = true, true
	}
	pair := func(f modal, n int) func(r *rand.Rand, i int) []uint64 {
		return func(r *rand.Rand, i int) []uint64 {
			a, b := f.hard(n)(r, i), f.hard(n)(r, i/4)
			for k := range a {
				a[k] |= b[k] << f.size
			}
			return a
		}
	}
	for name, f := range map[string]modal{"f16": h, "f32": s} {
		t := map[int]vtype{16: tPkF16, 32: tPkF32}[f.size]
		pk := func(op string, n int, ref func(v []uint64) uint64) {
			all = append(all, sem{name: "v_pk_" + op + "_" + name, src: []vtype{t, t, t}[:n], dst: t, values: pair(f, n), modRef: pkRef(uint(f.size), true, ref)})
		}
		pk("add", 2, func(v []uint64) uint64 { return f.add(v[0], v[1]) })
		pk("mul", 2, func(v []uint64) uint64 { return f.mul(v[0], v[1]) })
		pk("fma", 3, func(v []uint64) uint64 { return f.fma(v[0], v[1], v[2]) })
		if f.size == 16 {
			pk("min", 2, func(v []uint64) uint64 { return f.least(v[0], v[1], false) })
			pk("max", 2, func(v []uint64) uint64 { return f.least(v[0], v[1], true) })
		}
	}
	convert := func(name string, from, to vtype, values func(r *rand.Rand, i int) []uint64, ref func(v []uint64) uint64) {
		all = append(all, sem{name: name, src: []vtype{from}, dst: to, values: values, ref: ref})
	}
	// Numbers close to halfway between two of the narrower format.
	wide := func(g, f modal) func(r *rand.Rand, i int) []uint64 {
		return func(r *rand.Rand, i int) []uint64 {
			if i%4 == 0 {
				return g.hard(1)(r, i)
			}
			a := f.convert(f.hard(1)(r, i/4)[0], g.ieee)
			if !g.isNaN(a) && !g.isInf(a) {
				a += []uint64{0, 1, 1 << (g.man - f.man - 1), 1<<(g.man-f.man-1) - 1, 1<<(g.man-f.man-1) + 1}[r.IntN(5)]
			}
			return []uint64{a}
		}
	}
	convert("v_cvt_f16_f32", tF32, tF16, wide(s, h), func(v []uint64) uint64 { return h.from(s, v[0]) })
	convert("v_cvt_f32_f64", tF64, tF32, wide(d, s), func(v []uint64) uint64 { return s.from(d, v[0]) })
	convert("v_cvt_f32_f16", tF16, tF32, h.hard(1), func(v []uint64) uint64 { return s.from(h, v[0]) })
	convert("v_cvt_f64_f32", tF32, tF64, s.hard(1), func(v []uint64) uint64 { return d.from(s, v[0]) })
	ints := func(t vtype) func(r *rand.Rand, i int) []uint64 {
		return func(r *rand.Rand, i int) []uint64 {
			if e := t.edges(); i < len(e) {
				return []uint64{e[i]}
			}
			n := t.size()
			// Bits about halfway below the precision.
			v := r.Uint64() >> (64 - n) >> r.IntN(10)
			return []uint64{v&^0x7e | uint64(r.IntN(3))<<6}
		}
	}
	convert("v_cvt_f32_i32", tB32, tF32, ints(tB32), func(v []uint64) uint64 { return s.fromBig(signedOf(v[0], 32)) })
	convert("v_cvt_f32_u32", tB32, tF32, ints(tB32), func(v []uint64) uint64 { return s.fromBig(unsignedOf(v[0], 32)) })
	convert("v_cvt_f16_i16", tB16, tF16, ints(tB16), func(v []uint64) uint64 { return h.fromBig(signedOf(v[0], 16)) })
	convert("v_cvt_f16_u16", tB16, tF16, ints(tB16), func(v []uint64) uint64 { return h.fromBig(unsignedOf(v[0], 16)) })
	for i := range all {
		all[i].setup = func(w *wave) { w.mode = m }
	}
	return all
}

// TestModes executes what modes steer under all four rounding directions and
// all four ways with subnormals, the fields for f32 and for the rest at odds.
func TestModes(t *testing.T) {
	for k := range arith.Mode(8) {
		round32, round := k&3, (k+1+k/4)&3
		denorm32, denorm := (k+k/4)&3, (k/2+k)&3^1
		m := round32 | round<<2 | denorm32<<4 | denorm<<6 | arith.DX10Clamp | arith.IEEE
		t.Run(fmt.Sprintf("%03x", uint32(m)), func(t *testing.T) { checkAll(t, modeSems(m)) })
	}
}

// TestOutputModifiers multiplies results, and clamps them.
func TestOutputModifiers(t *testing.T) {
	factors := [4]float64{1, 2, 4, 0.5}
	for suffix, f := range map[string]ieee{"f16": half, "f32": single, "f64": double} {
		ty := map[int]vtype{16: tF16, 32: tF32, 64: tF64}[f.size]
		for _, arch := range allArchs {
			for _, op := range knownOps(arch) {
				if op.Name != "v_mul_"+suffix || op.Enc != isa.VOP2 && op.Enc != isa.VOP3 {
					continue
				}
				form := isa.Plain
				if op.Enc == isa.VOP2 {
					if arch == isa.GFX1100 || f.size == 64 {
						continue
					}
					form = isa.SDWA
				}
				checkOutputModifiers(t, arch, op, form, f, ty, factors)
			}
		}
	}
}

func checkOutputModifiers(t *testing.T, arch isa.Arch, op isa.OpInfo, form isa.Form, f ieee, ty vtype, factors [4]float64) {
	t.Helper()
	for _, mode := range []arith.Mode{0, 0x30, 0xc0, 0xf0, 0x50, 0xa0} {
		for _, flags := range []arith.Mode{0, arith.IEEE, arith.DX10Clamp, arith.IEEE | arith.DX10Clamp} {
			m := mode | flags
			h, s, d := modals(m)
			g := map[int]modal{16: h, 32: s, 64: d}[f.size]
			for omod := range uint8(4) {
				for _, clamp := range []bool{false, true} {
					sm := sem{name: op.Name, src: []vtype{ty, ty}, dst: ty, noMods: true, setup: func(w *wave) { w.mode = m },
						ref: func(v []uint64) uint64 {
							r := g.mul(v[0], v[1])
							// Multiplied where neither IEEE mode nor
							// subnormal results forbid it.
							if omod != 0 && flags&arith.IEEE == 0 && !g.keepOut {
								if !f.isNaN(r) && !f.isInf(r) && f.mag(r) != 0 {
									r = modal{f, big.ToNearestEven, false, false}.out(f.exact().Mul(f.value(r), big.NewFloat(factors[omod])))
								}
								if f.mag(r) == 0 {
									r = 0
								}
							}
							if !clamp {
								return r
							}
							switch {
							case f.isNaN(r) && flags&arith.DX10Clamp == 0:
								return r
							case f.isNaN(r), f.neg(r):
								return 0
							}
							return min(r, f.one())
						}}
					r := rand.New(rand.NewPCG(uint64(m), uint64(omod)))
					var ops [][]uint64
					values := f.hard(2)
					for i := range 64 {
						ops = append(ops, values(r, i))
					}
					sd := isa.SDWASel{Dst: isa.DWord, Src0: isa.DWord, Src1: isa.DWord}
					mods := isa.Modifiers{Omod: omod, Clamp: clamp}
					sm.clamp = func(r uint64) uint64 { return r } // ref did
					if !sm.checkOps(t, arch, op, form, mods, sd, ops, 0) {
						return
					}
				}
			}
		}
	}
}
