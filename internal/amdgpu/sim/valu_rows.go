package sim

import "math/bits"

// Most vector instructions are written as a function on whole rows, with
// one simple loop that the compiler frees of bounds checks. Where lanes are
// masked off it computes all of them into a temporary row, of which the
// active ones are taken: an integer operation does no harm in a lane that
// is masked off, and this is faster than going from lane to lane.

type (
	rowFunc1 = func(d, a *lanes, n int)
	rowFunc2 = func(d, a, b *lanes, n int)
	rowFunc3 = func(d, a, b, c *lanes, n int)
)

func rows1(f rowFunc1) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		if w.exec == w.full {
			f(d, a, w.n)
			return
		}
		f(&w.rows[tmpMerge], a, w.n)
		w.merge(d)
	}
}

func rows2(f rowFunc2) handler {
	return func(w *wave, o *op) {
		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
		if w.exec == w.full {
			f(d, a, b, w.n)
			return
		}
		f(&w.rows[tmpMerge], a, b, w.n)
		w.merge(d)
	}
}

func rows3(f rowFunc3) handler {
	return func(w *wave, o *op) {
		a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.out(o)
		if w.exec == w.full {
			f(d, a, b, c, w.n)
			return
		}
		f(&w.rows[tmpMerge], a, b, c, w.n)
		w.merge(d)
	}
}

// merge takes the active lanes of the temporary row.
func (w *wave) merge(d *lanes) {
	t := &w.rows[tmpMerge]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = t[i]
	}
}

func rowAdd(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] + b[i]
	}
}

func rowSub(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] - b[i]
	}
}

func rowSubrev(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = b[i] - a[i]
	}
}

func rowMul(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] * b[i]
	}
}

func rowMulHi(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = uint32(uint64(a[i]) * uint64(b[i]) >> 32)
	}
}

func rowMulU24(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] & 0xffffff * (b[i] & 0xffffff)
	}
}

func rowMadU24(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i]&0xffffff*(b[i]&0xffffff) + c[i]
	}
}

func rowAnd(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] & b[i]
	}
}

func rowOr(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] | b[i]
	}
}

func rowXor(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] ^ b[i]
	}
}

func rowNot(d, a *lanes, n int) {
	for i := range d[:n] {
		d[i] = ^a[i]
	}
}

func rowShl(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = b[i] << (a[i] & 31)
	}
}

func rowShr(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = b[i] >> (a[i] & 31)
	}
}

func rowSar(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = uint32(int32(b[i]) >> (a[i] & 31))
	}
}

func rowMinU(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = min(a[i], b[i])
	}
}

func rowMaxU(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = max(a[i], b[i])
	}
}

func rowMinI(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = uint32(min(int32(a[i]), int32(b[i])))
	}
}

func rowMaxI(d, a, b *lanes, n int) {
	for i := range d[:n] {
		d[i] = uint32(max(int32(a[i]), int32(b[i])))
	}
}

func rowLshlAdd(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i]<<(b[i]&31) + c[i]
	}
}

func rowAddLshl(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = (a[i] + b[i]) << (c[i] & 31)
	}
}

func rowLshlOr(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i]<<(b[i]&31) | c[i]
	}
}

func rowAndOr(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i]&b[i] | c[i]
	}
}

func rowOr3(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] | b[i] | c[i]
	}
}

func rowXor3(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] ^ b[i] ^ c[i]
	}
}

func rowAdd3(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] + b[i] + c[i]
	}
}

func rowBfeU(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i] >> (b[i] & 31) & (1<<(c[i]&31) - 1)
	}
}

func rowBfi(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = a[i]&b[i] | ^a[i]&c[i]
	}
}

func rowAlignbit(d, a, b, c *lanes, n int) {
	for i := range d[:n] {
		d[i] = uint32((uint64(a[i])<<32 | uint64(b[i])) >> (c[i] & 31))
	}
}
