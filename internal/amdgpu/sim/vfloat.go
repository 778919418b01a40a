package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// These make handlers of functions on one lane that depend on the mode, by
// the type of sources and result. The functions are mostly methods of
// arith.Mode: f32x2(arith.Mode.AddF32) adds under whatever mode is set.

func f32x1(f func(m arith.Mode, a uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.mode, a[i])
		}
	}
}

func f32x2(f func(m arith.Mode, a, b uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.mode, a[i], b[i])
		}
	}
}

func f32x3(f func(m arith.Mode, a, b, c uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.mode, a[i], b[i], c[i])
		}
	}
}

// f32acc is f32x3 with the destination as third source.
func f32acc(f func(m arith.Mode, a, b, c uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.old(o), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.mode, a[i], b[i], c[i])
		}
	}
}

func f16x1(f func(m arith.Mode, a uint16) uint16) handler {
	return f32x1(func(m arith.Mode, a uint32) uint32 { return uint32(f(m, uint16(a))) })
}

func f16x2(f func(m arith.Mode, a, b uint16) uint16) handler {
	return f32x2(func(m arith.Mode, a, b uint32) uint32 { return uint32(f(m, uint16(a), uint16(b))) })
}

func f16x3(f func(m arith.Mode, a, b, c uint16) uint16) handler {
	return f32x3(func(m arith.Mode, a, b, c uint32) uint32 { return uint32(f(m, uint16(a), uint16(b), uint16(c))) })
}

func f16acc(f func(m arith.Mode, a, b, c uint16) uint16) handler {
	return f32acc(func(m arith.Mode, a, b, c uint32) uint32 { return uint32(f(m, uint16(a), uint16(b), uint16(c))) })
}

func f64x1(f func(m arith.Mode, a uint64) uint64) handler {
	return func(w *wave, o *op) {
		al, ah := w.row(&o.src[0]), w.hi(&o.src[0])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(w.mode, uint64(al[i])|uint64(ah[i])<<32)
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}

func f64x2(f func(m arith.Mode, a, b uint64) uint64) handler {
	return func(w *wave, o *op) {
		al, ah, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(w.mode, uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32)
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}

func f64x3(f func(m arith.Mode, a, b, c uint64) uint64) handler {
	return func(w *wave, o *op) {
		w.eachF64(f, w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1]), w.row(&o.src[2]), w.hi(&o.src[2]), w.out(o), w.outHi(o))
	}
}

// f64acc is f64x3 with the destination as third source.
func f64acc(f func(m arith.Mode, a, b, c uint64) uint64) handler {
	return func(w *wave, o *op) {
		w.eachF64(f, w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1]), w.old(o), w.oldHi(o), w.out(o), w.outHi(o))
	}
}

// eachF64 sets d to f(a, b, c) in the active lanes.
func (w *wave) eachF64(f func(m arith.Mode, a, b, c uint64) uint64, al, ah, bl, bh, cl, ch, dl, dh *lanes) {
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		r := f(w.mode, uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32, uint64(cl[i])|uint64(ch[i])<<32)
		dl[i], dh[i] = uint32(r), uint32(r>>32)
	}
}

// f64to32 makes a handler from a function of a 64-bit source with a 32-bit
// result.
func f64to32(f func(m arith.Mode, a uint64) uint32) handler {
	return func(w *wave, o *op) {
		al, ah, d := w.row(&o.src[0]), w.hi(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.mode, uint64(al[i])|uint64(ah[i])<<32)
		}
	}
}

// f32to64 makes a handler from a function of a 32-bit source with a 64-bit
// result.
func f32to64(f func(m arith.Mode, a uint32) uint64) handler {
	return func(w *wave, o *op) {
		a, dl, dh := w.row(&o.src[0]), w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(w.mode, a[i])
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}

// f64and32 makes a handler from a function of a 64-bit source and a 32-bit
// one with a 64-bit result.
func f64and32(f func(m arith.Mode, a uint64, b uint32) uint64) handler {
	return func(w *wave, o *op) {
		al, ah, b := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(w.mode, uint64(al[i])|uint64(ah[i])<<32, b[i])
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}

// noMode adapts a function that does not depend on the mode.
func noMode[A, R any](f func(a A) R) func(m arith.Mode, a A) R {
	return func(_ arith.Mode, a A) R { return f(a) }
}
