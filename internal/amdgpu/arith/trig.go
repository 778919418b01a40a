package arith

import "math"

// TrigPreopF64 returns 53 bits of 2/pi as an f64, those which the reduction
// of a by multiples of pi/2 needs: from bit 53*(seg&31) after the point on,
// and further down for a above 2^54. Above 2^945 it is scaled by 2^128. Bits
// beyond the 1201st are zeros.
// Source: AMD, RDNA ISA reference, V_TRIG_PREOP_F64.
func TrigPreopF64(a uint64, seg uint32) uint64 {
	e := int(a >> 52 & 0x7ff)
	shift := int(seg&31) * 53
	if e > 1077 {
		shift += e - 1077
	}
	var r uint64
	if w, s := shift/64, shift%64; w < len(twoOverPi) {
		r = twoOverPi[w] << s
		if w+1 < len(twoOverPi) {
			r |= twoOverPi[w+1] >> (64 - s)
		}
	}
	scale := -53 - shift
	if e >= 1968 {
		scale += 128
	}
	return bits64(math.Ldexp(float64(r>>11), scale))
}
