package arith

import "math/bits"

// BfeU32 returns the field of a that is w&31 bits wide from bit off&31 on.
func BfeU32(a, off, w uint32) uint32 { return a >> (off & 31) & (1<<(w&31) - 1) }

// BfeI32 is BfeU32 with the field sign-extended.
func BfeI32(a, off, w uint32) uint32 {
	w &= 31
	if w == 0 {
		return 0
	}
	s := 32 - w
	return uint32(int32(uint32(int32(a)>>(off&31))<<s) >> s)
}

// BfiB32 returns the bits of b where mask is set, of c where it is not.
func BfiB32(mask, b, c uint32) uint32 { return mask&b | ^mask&c }

// BfmB32 returns a mask of w&31 bits from bit off&31 on.
func BfmB32(w, off uint32) uint32 { return (1<<(w&31) - 1) << (off & 31) }

// AlignbitB32 returns the low word of hi:lo shifted right by n&31 bits.
func AlignbitB32(hi, lo, n uint32) uint32 {
	return uint32((uint64(hi)<<32 | uint64(lo)) >> (n & 31))
}

// AlignbyteB32 returns the low word of hi:lo shifted right by n&3 bytes.
func AlignbyteB32(hi, lo, n uint32) uint32 { return AlignbitB32(hi, lo, n&3*8) }

// PermB32 returns four bytes of hi:lo, chosen by the bytes of sel: 0 to 7 is
// a byte from the low end, 8 to 11 the sign of byte 1, 3, 5, 7 eight times, 12
// gives 0 and more 255.
func PermB32(hi, lo, sel uint32) uint32 {
	x := uint64(hi)<<32 | uint64(lo)
	var r uint32
	for i := 0; i < 32; i += 8 {
		var b uint32
		switch s := sel >> i & 0xff; {
		case s < 8:
			b = uint32(x>>(8*s)) & 0xff
		case s < 12:
			b = -uint32(x>>(16*(s-8)+15)&1) & 0xff
		case s > 12:
			b = 0xff
		}
		r |= b << i
	}
	return r
}

// FfbhU32 returns the number of zeros above the highest set bit of a, and -1
// for 0 (v_ffbh_u32, v_clz_i32_u32).
func FfbhU32(a uint32) uint32 {
	if a == 0 {
		return 1<<32 - 1
	}
	return uint32(bits.LeadingZeros32(a))
}

// FfbhI32 returns the number of bits equal to the sign of a from the top,
// the sign included, and -1 where all are (v_ffbh_i32, v_cls_i32).
func FfbhI32(a uint32) uint32 { return FfbhU32(a ^ uint32(int32(a)>>31)) }

// FfblB32 returns the number of zeros below the lowest set bit of a, and -1
// for 0 (v_ffbl_b32, v_ctz_i32_b32).
func FfblB32(a uint32) uint32 {
	if a == 0 {
		return 1<<32 - 1
	}
	return uint32(bits.TrailingZeros32(a))
}

// BcntU32B32 returns b and the number of set bits of a.
func BcntU32B32(a, b uint32) uint32 { return uint32(bits.OnesCount32(a)) + b }

// BfrevB32 returns a with its bits in reverse order.
func BfrevB32(a uint32) uint32 { return bits.Reverse32(a) }

// LerpU8 returns in each byte (a+b+c&1)>>1 of the bytes.
func LerpU8(a, b, c uint32) uint32 {
	// a+b = 2*(a&b) + (a^b); the halves of a^b and the rounding add up.
	x := a ^ b
	return a&b + x>>1&0x7f7f7f7f + x&c&0x01010101
}

func diff(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// SadU8 returns c plus the absolute differences of the bytes of a and b.
func SadU8(a, b, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		c += diff(a>>i&0xff, b>>i&0xff)
	}
	return c
}

// SadHiU8 returns c plus the sum of SadU8 in the upper half.
func SadHiU8(a, b, c uint32) uint32 { return SadU8(a, b, 0)<<16 + c }

// SadU16 returns c plus the absolute differences of the halves of a and b.
func SadU16(a, b, c uint32) uint32 {
	return c + diff(a&0xffff, b&0xffff) + diff(a>>16, b>>16)
}

// SadU32 returns c plus the absolute difference of a and b, as unsigned.
func SadU32(a, b, c uint32) uint32 { return c + diff(a, b) }

// MsadU8 is SadU8 without the bytes that are 0 in ref.
func MsadU8(a, ref, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		if r := ref >> i & 0xff; r != 0 {
			c += diff(a>>i&0xff, r)
		}
	}
	return c
}

// QsadPkU16U8 returns four sums SadU8, of the words of a from byte 0, 1, 2
// and 3 on with b, each added to 16 bits of c.
func QsadPkU16U8(a uint64, b uint32, c uint64) uint64 {
	var r uint64
	for i := 0; i < 4; i++ {
		r |= uint64(uint16(SadU8(uint32(a>>(8*i)), b, uint32(c>>(16*i)&0xffff)))) << (16 * i)
	}
	return r
}

// MqsadPkU16U8 is QsadPkU16U8 with MsadU8.
func MqsadPkU16U8(a uint64, ref uint32, c uint64) uint64 {
	var r uint64
	for i := 0; i < 4; i++ {
		r |= uint64(uint16(MsadU8(uint32(a>>(8*i)), ref, uint32(c>>(16*i)&0xffff)))) << (16 * i)
	}
	return r
}

// MqsadU32U8 is MqsadPkU16U8 on 32 bits.
func MqsadU32U8(a uint64, ref uint32, c [4]uint32) [4]uint32 {
	for i := range c {
		c[i] = MsadU8(uint32(a>>(8*i)), ref, c[i])
	}
	return c
}

// MulHiU32 returns the upper word of the unsigned product.
func MulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

// MulHiI32 returns the upper word of the signed product.
func MulHiI32(a, b uint32) uint32 {
	return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32)
}

func u24(a uint32) uint32 { return a & 0xffffff }
func i24(a uint32) int32  { return int32(a<<8) >> 8 }

// MulU32U24 returns the low word of the product of the low 24 bits.
func MulU32U24(a, b uint32) uint32 { return u24(a) * u24(b) }

// MulI32I24 is MulU32U24 with both factors sign-extended.
func MulI32I24(a, b uint32) uint32 { return uint32(i24(a) * i24(b)) }

// MulHiU32U24 returns the upper word of the product of the low 24 bits.
func MulHiU32U24(a, b uint32) uint32 { return MulHiU32(u24(a), u24(b)) }

// MulHiI32I24 is MulHiU32U24 with both factors sign-extended.
func MulHiI32I24(a, b uint32) uint32 { return MulHiI32(uint32(i24(a)), uint32(i24(b))) }

// MadU32U24 returns c plus MulU32U24.
func MadU32U24(a, b, c uint32) uint32 { return u24(a)*u24(b) + c }

// MadI32I24 returns c plus MulI32I24.
func MadI32I24(a, b, c uint32) uint32 { return uint32(i24(a)*i24(b)) + c }

// MadU32U16 returns c plus the product of the low halves.
func MadU32U16(a, b, c uint32) uint32 { return a&0xffff*(b&0xffff) + c }

// MadI32I16 is MadU32U16 with both factors sign-extended.
func MadI32I16(a, b, c uint32) uint32 {
	return uint32(int32(int16(a))*int32(int16(b))) + c
}

// MadU64U32 returns a*b+c, unsigned, and whether it carried out of 64 bits.
func MadU64U32(a, b uint32, c uint64) (uint64, bool) {
	r, carry := bits.Add64(uint64(a)*uint64(b), c, 0)
	return r, carry != 0
}

// MadI64I32 returns a*b+c, signed, and bit 64 of the sum of the
// sign-extended operands.
func MadI64I32(a, b uint32, c uint64) (uint64, bool) {
	p := uint64(int64(int32(a)) * int64(int32(b)))
	r, carry := bits.Add64(p, c, 0)
	return r, (p>>63+c>>63+carry)&1 != 0
}

// With the clamp modifier integer results stop at the bounds of their type.
// The functions that follow give those.

// AddSatU32 returns a+b, at most 2^32-1.
func AddSatU32(a, b uint32) uint32 {
	if s := a + b; s >= a {
		return s
	}
	return 1<<32 - 1
}

// SubSatU32 returns a-b, at least 0.
func SubSatU32(a, b uint32) uint32 { return a - min(a, b) }

// AddSatI32 returns the int32 a+b within bounds.
func AddSatI32(a, b uint32) uint32 { return satI32(int64(int32(a)) + int64(int32(b))) }

// SubSatI32 returns the int32 a-b within bounds.
func SubSatI32(a, b uint32) uint32 { return satI32(int64(int32(a)) - int64(int32(b))) }

// MadSatU32U24 is MadU32U24 of the exact product, at most 2^32-1.
func MadSatU32U24(a, b, c uint32) uint32 {
	return uint32(min(uint64(u24(a))*uint64(u24(b))+uint64(c), 1<<32-1))
}

// MadSatI32I24 is MadI32I24 of the exact product within bounds.
func MadSatI32I24(a, b, c uint32) uint32 {
	return satI32(int64(i24(a))*int64(i24(b)) + int64(int32(c)))
}

func satI32(a int64) uint32 { return uint32(max(-1<<31, min(1<<31-1, a))) }

// AddSatU16 returns a+b, at most 2^16-1.
func AddSatU16(a, b uint16) uint16 { return satU16(int32(a) + int32(b)) }

// SubSatU16 returns a-b, at least 0.
func SubSatU16(a, b uint16) uint16 { return a - min(a, b) }

// AddSatI16 returns the int16 a+b within bounds.
func AddSatI16(a, b uint16) uint16 { return satI16(int32(int16(a)) + int32(int16(b))) }

// SubSatI16 returns the int16 a-b within bounds.
func SubSatI16(a, b uint16) uint16 { return satI16(int32(int16(a)) - int32(int16(b))) }

// MadU16 returns a*b+c.
func MadU16(a, b, c uint16) uint16 { return a*b + c }

// MadSatU16 is MadU16 of the exact product, at most 2^16-1.
func MadSatU16(a, b, c uint16) uint16 {
	return uint16(min(uint32(a)*uint32(b)+uint32(c), 1<<16-1))
}

// MadSatI16 returns the int16 a*b+c of the exact product within bounds.
func MadSatI16(a, b, c uint16) uint16 {
	return satI16(int32(int16(a))*int32(int16(b)) + int32(int16(c)))
}

// The packed forms work on the two halves of a word.

// PkAddU16 adds the halves.
func PkAddU16(a, b uint32) uint32 {
	return pack(uint16(a)+uint16(b), uint16(a>>16)+uint16(b>>16))
}

// PkSubU16 subtracts the halves.
func PkSubU16(a, b uint32) uint32 {
	return pack(uint16(a)-uint16(b), uint16(a>>16)-uint16(b>>16))
}

// PkMulLoU16 multiplies the halves.
func PkMulLoU16(a, b uint32) uint32 {
	return pack(uint16(a)*uint16(b), uint16(a>>16)*uint16(b>>16))
}

// PkMadU16 returns a*b+c of the halves.
func PkMadU16(a, b, c uint32) uint32 {
	return pack(uint16(a)*uint16(b)+uint16(c), uint16(a>>16)*uint16(b>>16)+uint16(c>>16))
}

// PkAddSatU16 is AddSatU16 of the halves.
func PkAddSatU16(a, b uint32) uint32 {
	return pack(AddSatU16(uint16(a), uint16(b)), AddSatU16(uint16(a>>16), uint16(b>>16)))
}

// PkSubSatU16 is SubSatU16 of the halves.
func PkSubSatU16(a, b uint32) uint32 {
	return pack(SubSatU16(uint16(a), uint16(b)), SubSatU16(uint16(a>>16), uint16(b>>16)))
}

// PkAddSatI16 is AddSatI16 of the halves.
func PkAddSatI16(a, b uint32) uint32 {
	return pack(AddSatI16(uint16(a), uint16(b)), AddSatI16(uint16(a>>16), uint16(b>>16)))
}

// PkSubSatI16 is SubSatI16 of the halves.
func PkSubSatI16(a, b uint32) uint32 {
	return pack(SubSatI16(uint16(a), uint16(b)), SubSatI16(uint16(a>>16), uint16(b>>16)))
}

// PkMadSatU16 is MadSatU16 of the halves.
func PkMadSatU16(a, b, c uint32) uint32 {
	return pack(MadSatU16(uint16(a), uint16(b), uint16(c)), MadSatU16(uint16(a>>16), uint16(b>>16), uint16(c>>16)))
}

// PkMadSatI16 is MadSatI16 of the halves.
func PkMadSatI16(a, b, c uint32) uint32 {
	return pack(MadSatI16(uint16(a), uint16(b), uint16(c)), MadSatI16(uint16(a>>16), uint16(b>>16), uint16(c>>16)))
}

// PkMinU16 returns the lesser halves.
func PkMinU16(a, b uint32) uint32 {
	return pack(min(uint16(a), uint16(b)), min(uint16(a>>16), uint16(b>>16)))
}

// PkMaxU16 returns the greater halves.
func PkMaxU16(a, b uint32) uint32 {
	return pack(max(uint16(a), uint16(b)), max(uint16(a>>16), uint16(b>>16)))
}

// PkMinI16 is PkMinU16 of signed halves.
func PkMinI16(a, b uint32) uint32 {
	return pack(uint16(min(int16(a), int16(b))), uint16(min(int16(a>>16), int16(b>>16))))
}

// PkMaxI16 is PkMaxU16 of signed halves.
func PkMaxI16(a, b uint32) uint32 {
	return pack(uint16(max(int16(a), int16(b))), uint16(max(int16(a>>16), int16(b>>16))))
}

// PkLshlrevB16 shifts the halves of a left by the low 4 bits of those of n.
func PkLshlrevB16(n, a uint32) uint32 {
	return pack(uint16(a)<<(n&15), uint16(a>>16)<<(n>>16&15))
}

// PkLshrrevB16 shifts the halves of a right, with zeros.
func PkLshrrevB16(n, a uint32) uint32 {
	return pack(uint16(a)>>(n&15), uint16(a>>16)>>(n>>16&15))
}

// PkAshrrevI16 shifts the halves of a right, with their signs.
func PkAshrrevI16(n, a uint32) uint32 {
	return pack(uint16(int16(a)>>(n&15)), uint16(int16(a>>16)>>(n>>16&15)))
}
