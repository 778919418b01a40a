package sim

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The references are written with math/big, or bit by bit, from the manuals'
// definitions, and share nothing with package arith.

// unsignedOf and signedOf are the values of the low n bits.
func unsignedOf(v uint64, n int) *big.Int {
	x := new(big.Int).SetUint64(v)
	return x.And(x, mask(n))
}

func signedOf(v uint64, n int) *big.Int {
	x := unsignedOf(v, n)
	if x.Bit(n-1) != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(n)))
	}
	return x
}

func mask(n int) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(1), uint(n))
	return x.Sub(x, big.NewInt(1))
}

// wrap is the low n bits of x in two's complement.
func wrap(x *big.Int, n int) uint64 { return new(big.Int).And(x, mask(n)).Uint64() }

// limit is x within the n-bit numbers, signed or not, wrapped.
func limit(x *big.Int, n int, signed bool) uint64 {
	lo, hi := new(big.Int), mask(n)
	if signed {
		hi = mask(n - 1)
		lo.Sub(new(big.Int).Neg(hi), big.NewInt(1))
	}
	switch {
	case x.Cmp(lo) < 0:
		x = lo
	case x.Cmp(hi) > 0:
		x = hi
	}
	return wrap(x, n)
}

// A bigFunc is what an instruction computes in the integers.
type bigFunc func(v []*big.Int) *big.Int

func bigAdd(v []*big.Int) *big.Int { return new(big.Int).Add(v[0], v[1]) }
func bigSub(v []*big.Int) *big.Int { return new(big.Int).Sub(v[0], v[1]) }
func bigRev(v []*big.Int) *big.Int { return new(big.Int).Sub(v[1], v[0]) }
func bigMul(v []*big.Int) *big.Int { return new(big.Int).Mul(v[0], v[1]) }
func bigMad(v []*big.Int) *big.Int { return new(big.Int).Add(bigMul(v), v[2]) }

// order returns the k-th smallest.
func order(k int) bigFunc {
	return func(v []*big.Int) *big.Int {
		for _, x := range v {
			below, equal := 0, 0
			for _, y := range v {
				switch y.Cmp(x) {
				case -1:
					below++
				case 0:
					equal++
				}
			}
			if below <= k && k < below+equal {
				return x
			}
		}
		panic("no order")
	}
}

// integers makes a sem of an exact function. Sources are read with the
// widths in bits, the result is the low bits of size's.
func integers(name string, signed bool, srcBits []int, dst vtype, f bigFunc) sem {
	s := sem{name: name, dst: dst}
	for _, n := range srcBits {
		switch n {
		case 16:
			s.src = append(s.src, tB16)
		case 64:
			s.src = append(s.src, tB64)
		default:
			s.src = append(s.src, tB32)
		}
	}
	value := func(v []uint64) *big.Int {
		x := make([]*big.Int, len(srcBits))
		for i, n := range srcBits {
			if signed {
				x[i] = signedOf(v[i], n)
			} else {
				x[i] = unsignedOf(v[i], n)
			}
		}
		return f(x)
	}
	s.ref = func(v []uint64) uint64 { return wrap(value(v), dst.size()) }
	s.sat = func(v []uint64) uint64 { return limit(value(v), dst.size(), signed) }
	return s
}

// bitwise makes a sem of a function of the bits at each position.
func bitwise(name string, t vtype, n int, f func(b []bool) bool) sem {
	s := sem{name: name, dst: t}
	for range n {
		s.src = append(s.src, t)
	}
	s.ref = func(v []uint64) uint64 {
		var r uint64
		b := make([]bool, n)
		for i := range t.size() {
			for k := range b {
				b[k] = v[k]>>i&1 != 0
			}
			if f(b) {
				r |= 1 << i
			}
		}
		return r
	}
	return s
}

func kept(s sem) sem { s.keep = true; return s }

// noSat drops the saturating form of instructions that have none.
func noSat(s sem) sem { s.sat = nil; return s }

// with32 makes a sem of 32-bit sources and result.
func with32(name string, n int, f func(v []uint64) uint64) sem {
	s := sem{name: name, dst: tB32, ref: func(v []uint64) uint64 { return f(v) & 0xffffffff }}
	for range n {
		s.src = append(s.src, tB32)
	}
	return s
}

func intSems() []sem {
	var all []sem
	add := func(s ...sem) { all = append(all, s...) }
	two, three := []int{32, 32}, []int{32, 32, 32}
	for _, n := range []string{"v_add_u32", "v_add_nc_u32"} {
		add(integers(n, false, two, tB32, bigAdd))
	}
	for _, n := range []string{"v_sub_u32", "v_sub_nc_u32"} {
		add(integers(n, false, two, tB32, bigSub))
	}
	for _, n := range []string{"v_subrev_u32", "v_subrev_nc_u32"} {
		add(integers(n, false, two, tB32, bigRev))
	}
	for _, n := range []string{"v_add_i32", "v_add_nc_i32"} {
		add(integers(n, true, two, tB32, bigAdd))
	}
	for _, n := range []string{"v_sub_i32", "v_sub_nc_i32"} {
		add(integers(n, true, two, tB32, bigSub))
	}
	high := func(v []*big.Int) *big.Int { return new(big.Int).Rsh(bigMul(v), 32) }
	add(
		noSat(integers("v_mul_lo_u32", false, two, tB32, bigMul)),
		noSat(integers("v_mul_hi_u32", false, two, tB32, high)),
		noSat(integers("v_mul_hi_i32", true, two, tB32, high)),
		integers("v_mul_u32_u24", false, []int{24, 24}, tB32, bigMul),
		integers("v_mul_i32_i24", true, []int{24, 24}, tB32, bigMul),
		noSat(integers("v_mul_hi_u32_u24", false, []int{24, 24}, tB32, high)),
		noSat(integers("v_mul_hi_i32_i24", true, []int{24, 24}, tB32, high)),
		integers("v_mad_u32_u24", false, []int{24, 24, 32}, tB32, bigMad),
		integers("v_mad_i32_i24", true, []int{24, 24, 32}, tB32, bigMad),
		integers("v_mad_u32_u16", false, []int{16, 16, 32}, tB32, bigMad),
		integers("v_mad_i32_i16", true, []int{16, 16, 32}, tB32, bigMad),
	)
	for _, signed := range []bool{false, true} {
		t := map[bool]string{false: "u", true: "i"}[signed]
		add(
			noSat(integers("v_min_"+t+"32", signed, two, tB32, order(0))),
			noSat(integers("v_max_"+t+"32", signed, two, tB32, order(1))),
			noSat(integers("v_min3_"+t+"32", signed, three, tB32, order(0))),
			noSat(integers("v_med3_"+t+"32", signed, three, tB32, order(1))),
			noSat(integers("v_max3_"+t+"32", signed, three, tB32, order(2))),
			noSat(integers("v_minmax_"+t+"32", signed, three, tB32, func(v []*big.Int) *big.Int {
				return order(1)([]*big.Int{order(0)(v[:2]), v[2]})
			})),
			noSat(integers("v_maxmin_"+t+"32", signed, three, tB32, func(v []*big.Int) *big.Int {
				return order(0)([]*big.Int{order(1)(v[:2]), v[2]})
			})),
			noSat(integers("v_min_"+t+"16", signed, []int{16, 16}, tB16, order(0))),
			noSat(integers("v_max_"+t+"16", signed, []int{16, 16}, tB16, order(1))),
			kept(noSat(integers("v_min3_"+t+"16", signed, []int{16, 16, 16}, tB16, order(0)))),
			kept(noSat(integers("v_med3_"+t+"16", signed, []int{16, 16, 16}, tB16, order(1)))),
			kept(noSat(integers("v_max3_"+t+"16", signed, []int{16, 16, 16}, tB16, order(2)))),
			kept(integers("v_mad_"+t+"16", signed, []int{16, 16, 16}, tB16, bigMad)),
			integers("v_mad_legacy_"+t+"16", signed, []int{16, 16, 16}, tB16, bigMad),
		)
	}
	half := []int{16, 16}
	add(
		integers("v_add_u16", false, half, tB16, bigAdd), integers("v_add_nc_u16", false, half, tB16, bigAdd),
		integers("v_sub_u16", false, half, tB16, bigSub), integers("v_sub_nc_u16", false, half, tB16, bigSub),
		integers("v_subrev_u16", false, half, tB16, bigRev),
		kept(integers("v_add_i16", true, half, tB16, bigAdd)), kept(integers("v_add_nc_i16", true, half, tB16, bigAdd)),
		kept(integers("v_sub_i16", true, half, tB16, bigSub)), kept(integers("v_sub_nc_i16", true, half, tB16, bigSub)),
		integers("v_mul_lo_u16", false, half, tB16, bigMul),
	)

	// Logic.
	for _, t := range []struct {
		suffix string
		vtype
	}{{"b32", tB32}, {"b16", tB16}} {
		add(
			bitwise("v_not_"+t.suffix, t.vtype, 1, func(b []bool) bool { return !b[0] }),
			bitwise("v_mov_"+t.suffix, t.vtype, 1, func(b []bool) bool { return b[0] }),
			bitwise("v_and_"+t.suffix, t.vtype, 2, func(b []bool) bool { return b[0] && b[1] }),
			bitwise("v_or_"+t.suffix, t.vtype, 2, func(b []bool) bool { return b[0] || b[1] }),
			bitwise("v_xor_"+t.suffix, t.vtype, 2, func(b []bool) bool { return b[0] != b[1] }),
		)
	}
	add(
		bitwise("v_xnor_b32", tB32, 2, func(b []bool) bool { return b[0] == b[1] }),
		bitwise("v_and_or_b32", tB32, 3, func(b []bool) bool { return b[0] && b[1] || b[2] }),
		bitwise("v_or3_b32", tB32, 3, func(b []bool) bool { return b[0] || b[1] || b[2] }),
		bitwise("v_xor3_b32", tB32, 3, func(b []bool) bool { return b[0] != b[1] != b[2] }),
		bitwise("v_bfi_b32", tB32, 3, func(b []bool) bool {
			if b[0] {
				return b[1]
			}
			return b[2]
		}),
	)

	// Shifts: by multiplication and division.
	pow := func(n uint64) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }
	left := func(v, n uint64, bits int) uint64 { return wrap(new(big.Int).Mul(unsignedOf(v, bits), pow(n)), bits) }
	right := func(x *big.Int, n uint64, bits int) uint64 {
		return wrap(new(big.Int).Div(x, pow(n)), bits) // Div rounds down for a positive divisor
	}
	shift := func(suffix string, t vtype, size int) {
		by := uint64(size - 1)
		src0 := tB32
		if size == 16 {
			src0 = tB16
		}
		add(
			sem{name: "v_lshlrev_b" + suffix, src: []vtype{src0, t}, dst: t, ref: func(v []uint64) uint64 { return left(v[1], v[0]&by, size) }},
			sem{name: "v_lshrrev_b" + suffix, src: []vtype{src0, t}, dst: t, ref: func(v []uint64) uint64 { return right(unsignedOf(v[1], size), v[0]&by, size) }},
			sem{name: "v_ashrrev_i" + suffix, src: []vtype{src0, t}, dst: t, ref: func(v []uint64) uint64 { return right(signedOf(v[1], size), v[0]&by, size) }},
		)
	}
	shift("16", tB16, 16)
	shift("32", tB32, 32)
	shift("64", tB64, 64)
	add(
		with32("v_lshl_add_u32", 3, func(v []uint64) uint64 { return left(v[0], v[1]%32, 32) + v[2] }),
		with32("v_add_lshl_u32", 3, func(v []uint64) uint64 { return left((v[0]+v[1])%(1<<32), v[2]%32, 32) }),
		with32("v_lshl_or_b32", 3, func(v []uint64) uint64 { return left(v[0], v[1]%32, 32) | v[2] }),
		with32("v_add3_u32", 3, func(v []uint64) uint64 { return v[0] + v[1] + v[2] }),
		with32("v_xad_u32", 3, func(v []uint64) uint64 { return (v[0] ^ v[1]) + v[2] }),
	)

	// Fields and counts, bit by bit.
	bit := func(v uint64, i int) uint64 { return v >> i & 1 }
	add(
		with32("v_bfe_u32", 3, func(v []uint64) uint64 {
			var r uint64
			for i := range int(v[2] % 32) {
				if at := int(v[1]%32) + i; at < 32 {
					r |= bit(v[0], at) << i
				}
			}
			return r
		}),
		with32("v_bfe_i32", 3, func(v []uint64) uint64 {
			width := int(v[2] % 32)
			if width == 0 {
				return 0
			}
			var r uint64
			for i := range 32 { // the field's last bit repeats, and above bit 31 so does the sign
				r |= bit(v[0], min(31, int(v[1]%32)+min(i, width-1))) << i
			}
			return r
		}),
		with32("v_bfm_b32", 2, func(v []uint64) uint64 {
			var r uint64
			for i := range int(v[0] % 32) {
				r |= 1 << (i + int(v[1]%32))
			}
			return r
		}),
		with32("v_bfrev_b32", 1, func(v []uint64) uint64 {
			var r uint64
			for i := range 32 {
				r |= bit(v[0], i) << (31 - i)
			}
			return r
		}),
		with32("v_bcnt_u32_b32", 2, func(v []uint64) uint64 {
			n := v[1]
			for i := range 32 {
				n += bit(v[0], i)
			}
			return n
		}),
		with32("v_alignbit_b32", 3, func(v []uint64) uint64 { return right(unsignedOf(v[0]<<32|v[1], 64), v[2]%32, 64) }),
		with32("v_alignbyte_b32", 3, func(v []uint64) uint64 { return right(unsignedOf(v[0]<<32|v[1], 64), v[2]%4*8, 64) }),
	)
	first := func(v uint64, top bool, find func(v uint64, i int) bool) uint64 {
		for n := range 32 {
			i := n
			if top {
				i = 31 - n
			}
			if find(v, i) {
				return uint64(n)
			}
		}
		return 1<<32 - 1
	}
	set := func(v uint64, i int) bool { return bit(v, i) != 0 }
	for _, n := range []string{"v_ffbh_u32", "v_clz_i32_u32"} {
		add(with32(n, 1, func(v []uint64) uint64 { return first(v[0], true, set) }))
	}
	for _, n := range []string{"v_ffbl_b32", "v_ctz_i32_b32"} {
		add(with32(n, 1, func(v []uint64) uint64 { return first(v[0], false, set) }))
	}
	for _, n := range []string{"v_ffbh_i32", "v_cls_i32"} {
		add(with32(n, 1, func(v []uint64) uint64 {
			return first(v[0], true, func(v uint64, i int) bool { return bit(v, i) != bit(v, 31) })
		}))
	}

	// Bytes.
	b := func(v uint64, i int) int { return int(v >> (8 * i) & 0xff) }
	abs := func(n int) uint64 { return uint64(max(n, -n)) }
	sad := func(x, y uint64, masked bool) uint64 {
		var n uint64
		for i := range 4 {
			if !masked || b(y, i) != 0 {
				n += abs(b(x, i) - b(y, i))
			}
		}
		return n
	}
	saturate := func(s sem, sum func(v []uint64) uint64) sem {
		s.sat = func(v []uint64) uint64 { return min(sum(v), 1<<32-1) }
		return s
	}
	for name, sum := range map[string]func(v []uint64) uint64{
		"v_sad_u8":    func(v []uint64) uint64 { return sad(v[0], v[1], false) + v[2] },
		"v_sad_hi_u8": func(v []uint64) uint64 { return sad(v[0], v[1], false)*65536 + v[2] },
		"v_msad_u8":   func(v []uint64) uint64 { return sad(v[0], v[1], true) + v[2] },
		"v_sad_u16": func(v []uint64) uint64 {
			return abs(int(v[0]%65536)-int(v[1]%65536)) + abs(int(v[0]/65536)-int(v[1]/65536)) + v[2]
		},
		"v_sad_u32": func(v []uint64) uint64 { return abs(int(v[0])-int(v[1])) + v[2] },
	} {
		add(saturate(with32(name, 3, sum), sum))
	}
	bytes := func(r *rand.Rand) uint64 { // with zeros among them
		v := uint64(r.Uint32())
		return v &^ (0xff << (8 * r.IntN(5)))
	}
	for name, masked := range map[string]bool{"v_qsad_pk_u16_u8": false, "v_mqsad_pk_u16_u8": true} {
		add(sem{name: name, src: []vtype{tB64, tB32, tB64}, dst: tB64,
			values: func(r *rand.Rand, i int) []uint64 { return []uint64{r.Uint64(), bytes(r), r.Uint64()} },
			ref: func(v []uint64) uint64 {
				var d uint64
				for i := range 4 {
					d |= (sad(v[0]>>(8*i), v[1], masked) + v[2]>>(16*i)) & 0xffff << (16 * i)
				}
				return d
			},
			sat: func(v []uint64) uint64 {
				var d uint64
				for i := range 4 {
					d |= min(sad(v[0]>>(8*i), v[1], masked)+v[2]>>(16*i)&0xffff, 0xffff) << (16 * i)
				}
				return d
			}})
	}
	add(
		with32("v_lerp_u8", 3, func(v []uint64) uint64 {
			var d uint64
			for i := range 4 {
				d |= uint64((b(v[0], i)+b(v[1], i)+b(v[2], i)&1)/2) << (8 * i)
			}
			return d
		}),
		with32("v_perm_b32", 3, func(v []uint64) uint64 {
			both := v[0]<<32 | v[1]
			var d uint64
			for i := range 4 {
				sel := b(v[2], i)
				x := 0xff
				switch {
				case sel <= 7:
					x = b(both, sel)
				case sel <= 11: // the sign of byte 1, 3, 5, 7
					x = b(both, 2*(sel-8)+1) / 128 * 255
				case sel == 12:
					x = 0
				}
				d |= uint64(x) << (8 * i)
			}
			return d
		}),
	)
	all[len(all)-1].values = func(r *rand.Rand, i int) []uint64 {
		v := []uint64{uint64(r.Uint32()), uint64(r.Uint32()), uint64(r.Uint32())}
		if i%2 == 0 {
			v[2] = uint64(r.IntN(14) | r.IntN(14)<<8 | r.IntN(14)<<16 | r.IntN(14)<<24)
		}
		return v
	}
	all[len(all)-1].count = 4096
	// Carries: the mask is the carry, the last source the carry in.
	carry := func(name string, f func(a, b, c uint64) *big.Int, in bool) {
		s := sem{name: name, src: []vtype{tB32, tB32}, dst: tB32}
		if in {
			s.src = append(s.src, tMask)
		}
		value := func(v []uint64) *big.Int {
			if in {
				return f(v[0], v[1], v[2])
			}
			return f(v[0], v[1], 0)
		}
		s.ref = func(v []uint64) uint64 { return wrap(value(v), 32) }
		s.sat = func(v []uint64) uint64 { return limit(value(v), 32, false) }
		s.mask = func(v []uint64) bool { x := value(v); return x.Sign() < 0 || x.BitLen() > 32 }
		add(s)
	}
	sum := func(a, b, c uint64) *big.Int { return new(big.Int).SetUint64(a + b + c) }
	diff := func(a, b, c uint64) *big.Int { return big.NewInt(int64(a) - int64(b) - int64(c)) }
	rdiff := func(a, b, c uint64) *big.Int { return diff(b, a, c) }
	carry("v_add_co_u32", sum, false)
	carry("v_sub_co_u32", diff, false)
	carry("v_subrev_co_u32", rdiff, false)
	for _, n := range []string{"v_addc_co_u32", "v_add_co_ci_u32"} {
		carry(n, sum, true)
	}
	for _, n := range []string{"v_subb_co_u32", "v_sub_co_ci_u32"} {
		carry(n, diff, true)
	}
	for _, n := range []string{"v_subbrev_co_u32", "v_subrev_co_ci_u32"} {
		carry(n, rdiff, true)
	}
	for _, signed := range []bool{false, true} {
		name := map[bool]string{false: "v_mad_u64_u32", true: "v_mad_i64_i32"}[signed]
		s := integers(name, signed, []int{32, 32, 64}, tB64, bigMad)
		s.mask = func(v []uint64) bool {
			if signed {
				return bigMad([]*big.Int{signedOf(v[0], 32), signedOf(v[1], 32), signedOf(v[2], 64)}).Bit(64) != 0
			}
			return bigMad([]*big.Int{unsignedOf(v[0], 32), unsignedOf(v[1], 32), unsignedOf(v[2], 64)}).Bit(64) != 0
		}
		add(s)
	}
	return all
}

func TestIntegers(t *testing.T) {
	all := intSems()
	checkAll(t, all)
	untested(t, intOps, all, []sem{{name: "v_mqsad_u32_u8"}, {name: "v_accvgpr_read_b32"}, {name: "v_accvgpr_write_b32"}, {name: "v_accvgpr_mov_b32"}})
}
