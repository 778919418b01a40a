package sim

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A scalarCase is one execution of a scalar instruction: sources, what the
// destination and exec held, SCC.
type scalarCase struct {
	a, b, d uint64
	imm     int16
	exec    uint64
	scc     uint64
	full    uint64 // exec's bits
}

// A scalarResult is what comes of it. Where write is not set the
// destination is kept.
type scalarResult struct {
	d     uint64
	write bool
	scc   uint64
	exec  uint64
}

// scalarRefs are the definitions of the scalar instructions, in math/big or
// bit by bit, by name without architecture's renames.
func scalarRefs() map[string]func(c scalarCase) scalarResult {
	refs := map[string]func(c scalarCase) scalarResult{}
	// result makes a ref of a value that leaves SCC alone.
	result := func(name string, f func(c scalarCase) uint64) {
		refs[name] = func(c scalarCase) scalarResult { return scalarResult{f(c), true, c.scc, c.exec} }
	}
	nonzero := func(name string, size int, f func(c scalarCase) uint64) {
		refs[name] = func(c scalarCase) scalarResult {
			v := f(c) & mask(size).Uint64()
			return scalarResult{v, true, b2u64(v != 0), c.exec}
		}
	}
	result("s_mov_b32", func(c scalarCase) uint64 { return c.a })
	result("s_mov_b64", func(c scalarCase) uint64 { return c.a })
	result("s_movk_i32", func(c scalarCase) uint64 { return uint64(uint32(int32(c.imm))) })
	moveIf := func(name string, f func(c scalarCase) uint64) {
		refs[name] = func(c scalarCase) scalarResult { return scalarResult{f(c), c.scc == 1, c.scc, c.exec} }
	}
	moveIf("s_cmov_b32", func(c scalarCase) uint64 { return c.a })
	moveIf("s_cmov_b64", func(c scalarCase) uint64 { return c.a })
	moveIf("s_cmovk_i32", func(c scalarCase) uint64 { return uint64(uint32(int32(c.imm))) })
	for _, n := range []string{"s_cselect_b32", "s_cselect_b64"} {
		result(n, func(c scalarCase) uint64 {
			if c.scc == 1 {
				return c.a
			}
			return c.b
		})
	}

	// Logic, from truth tables: bit 0 of the table for inputs 0 and 0, bit 1
	// for 1 and 0, bit 2 for 0 and 1, bit 3 for both.
	logic := func(table, a, b uint64) uint64 {
		var r uint64
		for i := range 64 {
			r |= table >> (a>>i&1 | b>>i&1<<1) & 1 << i
		}
		return r
	}
	tables := map[string]uint64{"and": 8, "or": 14, "xor": 6, "nand": 7, "nor": 1, "xnor": 9, "andn2": 2, "orn2": 11, "andn1": 4, "orn1": 13}
	for _, size := range []int{32, 64} {
		suffix := map[int]string{32: "_b32", 64: "_b64"}[size]
		for name, table := range tables {
			if !strings.HasSuffix(name, "n1") {
				nonzero("s_"+name+suffix, size, func(c scalarCase) uint64 { return logic(table, c.a, c.b) })
			}
			for _, kind := range []string{"saveexec", "wrexec"} {
				refs["s_"+name+"_"+kind+suffix] = func(c scalarCase) scalarResult {
					part := mask(size).Uint64()
					n := logic(table, c.a, c.exec) & part & c.full
					r := scalarResult{c.exec & part, true, b2u64(n != 0), c.exec&^part | n}
					if kind == "wrexec" {
						r.d = n
					}
					return r
				}
			}
		}
		nonzero("s_not"+suffix, size, func(c scalarCase) uint64 { return logic(1, c.a, 0) })
	}

	// Sums.
	sum := func(name string, signed bool, f func(x []*big.Int) *big.Int, in bool) {
		refs[name] = func(c scalarCase) scalarResult {
			x := []*big.Int{unsignedOf(c.a, 32), unsignedOf(c.b, 32), new(big.Int)}
			if signed {
				x[0], x[1] = signedOf(c.a, 32), signedOf(c.b, 32)
			}
			if in {
				x[2].SetUint64(c.scc)
			}
			v := f(x)
			out := v.Sign() < 0 || v.BitLen() > 32
			if signed {
				out = limit(v, 32, true) != wrap(v, 32) || v.BitLen() > 32
			}
			return scalarResult{wrap(v, 32), true, b2u64(out), c.exec}
		}
	}
	plus := func(x []*big.Int) *big.Int { return new(big.Int).Add(bigAdd(x), x[2]) }
	minus := func(x []*big.Int) *big.Int { return new(big.Int).Sub(bigSub(x), x[2]) }
	sum("s_add_u32", false, plus, false)
	sum("s_addc_u32", false, plus, true)
	sum("s_sub_u32", false, minus, false)
	sum("s_subb_u32", false, minus, true)
	sum("s_add_i32", true, plus, false)
	sum("s_sub_i32", true, minus, false)
	refs["s_addk_i32"] = func(c scalarCase) scalarResult {
		return refs["s_add_i32"](scalarCase{a: c.d, b: uint64(uint32(int32(c.imm))), scc: c.scc, exec: c.exec})
	}
	for i := range 4 {
		sum("s_lshl"+string(rune('1'+i))+"_add_u32", false, func(x []*big.Int) *big.Int {
			return new(big.Int).Add(new(big.Int).Mul(x[0], big.NewInt(2<<i)), x[1])
		}, false)
	}
	product := func(name string, signed bool, shift uint) {
		result(name, func(c scalarCase) uint64 {
			x := []*big.Int{unsignedOf(c.a, 32), unsignedOf(c.b, 32)}
			if signed {
				x = []*big.Int{signedOf(c.a, 32), signedOf(c.b, 32)}
			}
			return wrap(new(big.Int).Rsh(bigMul(x), shift), 32)
		})
	}
	product("s_mul_i32", true, 0)
	product("s_mul_hi_u32", false, 32)
	product("s_mul_hi_i32", true, 32)
	result("s_mulk_i32", func(c scalarCase) uint64 {
		return wrap(new(big.Int).Mul(signedOf(c.d, 32), big.NewInt(int64(c.imm))), 32)
	})
	for _, t := range []string{"i32", "u32"} {
		num := func(v uint64) *big.Int {
			if t == "i32" {
				return signedOf(v, 32)
			}
			return unsignedOf(v, 32)
		}
		pick := func(name string, want int) {
			refs[name] = func(c scalarCase) scalarResult {
				v := c.b
				first := num(c.a).Cmp(num(c.b)) == want
				if first {
					v = c.a
				}
				return scalarResult{v, true, b2u64(first), c.exec}
			}
		}
		pick("s_min_"+t, -1)
		pick("s_max_"+t, 1)
		for _, pred := range []string{"eq", "lg", "gt", "ge", "lt", "le"} {
			refs["s_cmp_"+pred+"_"+t] = func(c scalarCase) scalarResult {
				return scalarResult{scc: b2u64(holds(pred, num(c.a).Cmp(num(c.b)))), exec: c.exec}
			}
			refs["s_cmpk_"+pred+"_"+t] = func(c scalarCase) scalarResult {
				k := big.NewInt(int64(c.imm))
				if t == "u32" {
					k = big.NewInt(int64(uint16(c.imm)))
				}
				return scalarResult{scc: b2u64(holds(pred, num(c.d).Cmp(k))), exec: c.exec}
			}
		}
	}
	refs["s_cmp_eq_u64"] = func(c scalarCase) scalarResult { return scalarResult{scc: b2u64(c.a == c.b), exec: c.exec} }
	refs["s_cmp_lg_u64"] = func(c scalarCase) scalarResult { return scalarResult{scc: b2u64(c.a != c.b), exec: c.exec} }
	nonzero("s_abs_i32", 32, func(c scalarCase) uint64 { return wrap(new(big.Int).Abs(signedOf(c.a, 32)), 32) })
	nonzero("s_absdiff_i32", 32, func(c scalarCase) uint64 {
		// The difference wraps first.
		d := wrap(bigSub([]*big.Int{signedOf(c.a, 32), signedOf(c.b, 32)}), 32)
		return wrap(new(big.Int).Abs(signedOf(d, 32)), 32)
	})
	result("s_sext_i32_i8", func(c scalarCase) uint64 { return wrap(signedOf(c.a, 8), 32) })
	result("s_sext_i32_i16", func(c scalarCase) uint64 { return wrap(signedOf(c.a, 16), 32) })

	// Shifts and fields.
	for _, size := range []int{32, 64} {
		s := map[int]string{32: "32", 64: "64"}[size]
		by := func(c scalarCase) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(c.b%uint64(size))) }
		nonzero("s_lshl_b"+s, size, func(c scalarCase) uint64 { return wrap(new(big.Int).Mul(unsignedOf(c.a, size), by(c)), size) })
		nonzero("s_lshr_b"+s, size, func(c scalarCase) uint64 { return wrap(new(big.Int).Div(unsignedOf(c.a, size), by(c)), size) })
		nonzero("s_ashr_i"+s, size, func(c scalarCase) uint64 { return wrap(new(big.Int).Div(signedOf(c.a, size), by(c)), size) })
		field := func(c scalarCase, signed bool) uint64 {
			off, width := uint(c.b%uint64(size)), min(int(c.b>>16&127), size)
			x := unsignedOf(c.a, size)
			if signed {
				x = signedOf(c.a, size)
			}
			x = new(big.Int).Rsh(x, off) // rounds down
			if width == 0 {
				return 0
			}
			v := wrap(x, width)
			if signed {
				return wrap(signedOf(v, width), size)
			}
			return v
		}
		nonzero("s_bfe_u"+s, size, func(c scalarCase) uint64 { return field(c, false) })
		nonzero("s_bfe_i"+s, size, func(c scalarCase) uint64 { return field(c, true) })
		result("s_bfm_b"+s, func(c scalarCase) uint64 {
			var r uint64
			for i := range int(c.a % uint64(size)) {
				if at := i + int(c.b%uint64(size)); at < size {
					r |= 1 << at
				}
			}
			return r
		})
		result("s_brev_b"+s, func(c scalarCase) uint64 {
			var r uint64
			for i := range size {
				r |= c.a >> i & 1 << (size - 1 - i)
			}
			return r
		})
		count := func(c scalarCase, bit uint64) uint64 {
			var n uint64
			for i := range size {
				n += b2u64(c.a>>i&1 == bit)
			}
			return n
		}
		nonzero("s_bcnt0_i32_b"+s, 32, func(c scalarCase) uint64 { return count(c, 0) })
		nonzero("s_bcnt1_i32_b"+s, 32, func(c scalarCase) uint64 { return count(c, 1) })
		find := func(name string, top bool, is func(c scalarCase, bit uint64) bool) {
			result(name, func(c scalarCase) uint64 {
				for n := range size {
					i := n
					if top {
						i = size - 1 - n
					}
					if is(c, c.a>>i&1) {
						return uint64(n)
					}
				}
				return 1<<32 - 1
			})
		}
		one := func(_ scalarCase, bit uint64) bool { return bit == 1 }
		zero := func(_ scalarCase, bit uint64) bool { return bit == 0 }
		other := func(c scalarCase, bit uint64) bool { return bit != c.a>>(size-1)&1 }
		find("s_ff1_i32_b"+s, false, one)
		find("s_ctz_i32_b"+s, false, one)
		find("s_ff0_i32_b"+s, false, zero)
		find("s_flbit_i32_b"+s, true, one)
		find("s_clz_i32_u"+s, true, one)
		signed := map[int][]string{32: {"s_flbit_i32", "s_cls_i32"}, 64: {"s_flbit_i32_i64", "s_cls_i32_i64"}}[size]
		for _, n := range signed {
			find(n, true, other)
		}
		result("s_bitset0_b"+s, func(c scalarCase) uint64 { return logic(2, c.d, 1<<(c.a%uint64(size))) })
		result("s_bitset1_b"+s, func(c scalarCase) uint64 { return logic(14, c.d, 1<<(c.a%uint64(size))) })
		for k := range uint64(2) {
			refs["s_bitcmp"+string(rune('0'+k))+"_b"+s] = func(c scalarCase) scalarResult {
				return scalarResult{scc: b2u64(c.a>>(c.b%uint64(size))&1 == k), exec: c.exec}
			}
		}
		quads := func(c scalarCase, each int) uint64 {
			var r uint64
			for i := range size / 4 {
				any := c.a>>(4*i)&1 + c.a>>(4*i+1)&1 + c.a>>(4*i+2)&1 + c.a>>(4*i+3)&1
				if any == 0 {
					continue
				}
				for k := range each {
					r |= 1 << (each*i + k)
				}
			}
			return r
		}
		nonzero("s_wqm_b"+s, size, func(c scalarCase) uint64 { return quads(c, 4) })
		nonzero("s_quadmask_b"+s, size, func(c scalarCase) uint64 { return quads(c, 1) })
	}
	result("s_bitreplicate_b64_b32", func(c scalarCase) uint64 {
		var r uint64
		for i := range 64 {
			r |= c.a >> (i / 2) & 1 << i
		}
		return r
	})
	lo, hi := func(v uint64) uint64 { return v % 65536 }, func(v uint64) uint64 { return v / 65536 % 65536 }
	result("s_pack_ll_b32_b16", func(c scalarCase) uint64 { return lo(c.b)*65536 + lo(c.a) })
	result("s_pack_lh_b32_b16", func(c scalarCase) uint64 { return hi(c.b)*65536 + lo(c.a) })
	result("s_pack_hh_b32_b16", func(c scalarCase) uint64 { return hi(c.b)*65536 + hi(c.a) })
	result("s_pack_hl_b32_b16", func(c scalarCase) uint64 { return lo(c.b)*65536 + hi(c.a) })
	return refs
}

var scalarRename = strings.NewReplacer("_and_not1", "_andn2", "_or_not1", "_orn2", "_and_not0", "_andn1", "_or_not0", "_orn1")

// TestScalar executes every scalar instruction in the encoding of every
// architecture, with sources in s[4:5] and s[6:7] and the result in s[8:9].
func TestScalar(t *testing.T) {
	refs := scalarRefs()
	apart := map[string]bool{ // with tests of their own
		"s_movrels_b32": true, "s_movrels_b64": true, "s_movreld_b32": true, "s_movreld_b64": true, "s_movrelsd_2_b32": true,
		"s_set_gpr_idx_on": true, "s_set_gpr_idx_off": true, "s_set_gpr_idx_mode": true, "s_set_gpr_idx_idx": true,
	}
	tested := map[string]bool{}
	for _, arch := range []isa.Arch{isa.GFX90A, isa.GFX1030, isa.GFX1100} {
		for _, op := range isa.Ops(arch) {
			ref := refs[scalarRename.Replace(op.Name)]
			if ref == nil {
				continue
			}
			tested[op.Name] = true
			checkScalar(t, arch, op, ref)
		}
	}
	for name := range saluOps {
		if !tested[name] && !apart[name] {
			t.Errorf("%s has no test, or no architecture has it", name)
		}
	}
}

func scalarWord(op isa.OpInfo, imm int16) uint32 {
	code := uint32(op.Opcode)
	switch op.Enc {
	case isa.SOP2:
		return 0x80000000 | code<<23 | 8<<16 | 6<<8 | 4
	case isa.SOP1:
		return 0xbe800000 | 8<<16 | code<<8 | 4
	case isa.SOPC:
		return 0xbf000000 | code<<16 | 6<<8 | 4
	}
	return 0xb0000000 | code<<23 | 8<<16 | uint32(uint16(imm))
}

func checkScalar(t *testing.T, arch isa.Arch, op isa.OpInfo, ref func(c scalarCase) scalarResult) {
	t.Helper()
	b := newBench(t, arch)
	w := b.w
	r := rand.New(rand.NewPCG(3, uint64(op.Opcode)))
	edges := append(tB32.edges(), tB64.edges()...)
	value := func() uint64 {
		switch r.IntN(4) {
		case 0:
			return r.Uint64()
		case 1:
			return edges[r.IntN(len(edges))] | edges[r.IntN(len(edges))]<<32
		case 2:
			return r.Uint64() & r.Uint64() & r.Uint64()
		}
		return edges[r.IntN(len(edges))]
	}
	proved(arch, op.Enc, op.Name)
	imms := []int16{0, 1, -1, 2, 31, 32767, -32768, 0x1234, -2}
	for k := range 500 {
		c := scalarCase{a: value(), b: value(), d: value(), exec: r.Uint64() & w.full, scc: uint64(k & 1), full: w.full, imm: int16(r.Uint32())}
		if k%3 == 0 {
			c.imm = imms[r.IntN(len(imms))]
		}
		if strings.Contains(op.Name, "bfe") && k%4 != 0 {
			c.b = uint64(r.IntN(64)) | uint64(r.IntN(80))<<16
		}
		if k%5 == 0 {
			c.b = c.a
		}
		code := binary.LittleEndian.AppendUint32(nil, scalarWord(op, c.imm))
		in, err := isa.Decode(arch, append(code, make([]byte, 8)...), 0)
		if err != nil || in.Name != op.Name {
			t.Errorf("%v %s: decodes to %v (%v)", arch, op.Name, in.Name, err)
			return
		}
		o, err := b.c.try(&in)
		if err != nil {
			t.Errorf("%v %v: refused: %v", arch, in.String(), err)
			return
		}
		// 32-bit sources are followed by registers that must not matter.
		set := func(i int, v uint64) { w.s[i], w.s[i+1] = uint32(v), uint32(v>>32) }
		set(4, c.a)
		set(6, c.b)
		set(8, c.d)
		w.exec, w.scc = c.exec, uint32(c.scc)
		for i := range min(2, int(in.NSrc)) {
			if in.Src[i].Width < 2 {
				if i == 0 {
					c.a = uint64(uint32(c.a))
				} else {
					c.b = uint64(uint32(c.b))
				}
			}
		}
		wide := in.NDst > 0 && in.Dst[0].Width == 2
		d := c.d
		if !wide {
			c.d = uint64(uint32(c.d))
		}
		want := ref(c)
		switch {
		case !want.write:
			want.d = d
		case !wide:
			want.d = d&^0xffffffff | want.d&0xffffffff
		}
		o.run(w, &o)
		got := scalarResult{uint64(w.s[8]) | uint64(w.s[9])<<32, want.write, uint64(w.scc), w.exec}
		if got != want || w.err != nil {
			t.Errorf("%v %v: %+v: got %+v, want %+v (%v)", arch, in.String(), c, got, want, w.err)
			return
		}
	}
}
