package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// The hottest f32 operations on the lanes of exec, under the default mode.
// Each has a form of vector instructions on amd64, which must give the same
// bits.

func addLanes(d, a, b *lanes, exec uint64) {
	if exec == ^uint64(0) {
		for i := range d {
			d[i] = arith.AddF32(a[i], b[i])
		}
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.AddF32(a[i], b[i])
	}
}

func subLanes(d, a, b *lanes, exec uint64) {
	if exec == ^uint64(0) {
		for i := range d {
			d[i] = arith.SubF32(a[i], b[i])
		}
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.SubF32(a[i], b[i])
	}
}

func mulLanes(d, a, b *lanes, exec uint64) {
	if exec == ^uint64(0) {
		for i := range d {
			d[i] = arith.MulF32(a[i], b[i])
		}
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.MulF32(a[i], b[i])
	}
}

func minLanes(d, a, b *lanes, exec uint64) {
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.MinF32(a[i], b[i])
	}
}

func maxLanes(d, a, b *lanes, exec uint64) {
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.MaxF32(a[i], b[i])
	}
}

func fmaLanes(d, a, b, c *lanes, exec uint64) {
	if exec == ^uint64(0) {
		for i := range d {
			d[i] = arith.FmaF32(a[i], b[i], c[i])
		}
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.FmaF32(a[i], b[i], c[i])
	}
}

// wideLanes converts the f16 in the low halves to f32.
func wideLanes(d, a *lanes, exec uint64) {
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = arith.WideF16(uint16(a[i]))
	}
}

// narrowLanes rounds f32 to f16.
func narrowLanes(d, a *lanes, exec uint64) {
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = uint32(arith.NarrowF32(a[i]))
	}
}

// carryAddLanes adds with the carries in, and returns those out.
func carryAddLanes(d, a, b *lanes, n int, in uint64) uint64 {
	var out uint64
	for i := range d[:n] {
		s := uint64(a[i]) + uint64(b[i]) + in>>(i&63)&1
		d[i] = uint32(s)
		out |= s >> 32 << (i & 63)
	}
	return out
}

// carrySubLanes subtracts with the borrows in, and returns those out.
func carrySubLanes(d, a, b *lanes, n int, in uint64) uint64 {
	var out uint64
	for i := range d[:n] {
		s := uint64(a[i]) - uint64(b[i]) - in>>(i&63)&1
		d[i] = uint32(s)
		out |= s >> 63 << (i & 63)
	}
	return out
}
