package sim

import (
	"math"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// compareOps are the vector compares and class tests. All predicates of a
// type come from three relations on rows, of which each gives a bit for
// each lane.
var compareOps = compareTable()

// A relation compares the first two sources and returns the lanes for which
// it holds, of all lanes.
type relation = func(w *wave, o *op) uint64

// relations are those of one type. Of numbers that are unordered none
// holds.
type relations struct {
	lt, eq, gt relation
}

func compareTable() map[string]spec {
	t := map[string]spec{}
	add := func(name string, holds relation) {
		run := func(w *wave, o *op) { w.setMask(o, holds(w, o)&w.exec) }
		t["v_cmp_"+name] = spec{run: run}
		t["v_cmpx_"+name] = spec{run: cmpx(run)}
	}
	ints := map[string]relations{
		"i32": {rel32(ltI32), rel32(eq32), rel32(swapped(ltI32))},
		"u32": {rel32(ltU32), rel32(eq32), rel32(swapped(ltU32))},
		"i16": {rel32(ltI16), rel32(eq16), rel32(swapped(ltI16))},
		"u16": {rel32(ltU16), rel32(eq16), rel32(swapped(ltU16))},
		"i64": {rel64(ltI64), rel64(eq64), rel64(func(a, b uint64) bool { return ltI64(b, a) })},
		"u64": {rel64(ltU64), rel64(eq64), rel64(func(a, b uint64) bool { return ltU64(b, a) })},
	}
	for typ, r := range ints {
		for name, p := range map[string]arith.Pred{
			"f": arith.F, "lt": arith.LT, "eq": arith.EQ, "le": arith.LE, "gt": arith.GT, "ne": arith.NE, "ge": arith.GE, "t": arith.T,
		} {
			add(name+"_"+typ, r.ordered(p))
		}
	}
	floats := map[string]relations{
		"f16": {relF16(arith.LT), relF16(arith.EQ), relF16(arith.GT)},
		"f32": {relF32(arith.LT, ltF32), relF32(arith.EQ, eqF32), relF32(arith.GT, swapped(ltF32))},
		"f64": {relF64(arith.LT), relF64(arith.EQ), relF64(arith.GT)},
	}
	for typ, r := range floats {
		for name, p := range map[string]arith.Pred{
			"f": arith.F, "lt": arith.LT, "eq": arith.EQ, "le": arith.LE, "gt": arith.GT, "lg": arith.LG, "ge": arith.GE, "o": arith.O,
			"u": arith.U, "nge": arith.NGE, "nlg": arith.NLG, "ngt": arith.NGT, "nle": arith.NLE, "neq": arith.NEQ, "nlt": arith.NLT,
			"tru": arith.TRU, "t": arith.TRU,
		} {
			add(name+"_"+typ, r.any(p))
		}
	}
	add("class_f16", classF16)
	add("class_f32", classF32)
	add("class_f64", classF64)
	return t
}

// ordered returns the predicate p of numbers that are always ordered, by
// one relation or its opposite.
func (r relations) ordered(p arith.Pred) relation {
	not := func(f relation) relation { return func(w *wave, o *op) uint64 { return ^f(w, o) } }
	switch p {
	case arith.F:
		return func(*wave, *op) uint64 { return 0 }
	case arith.LT:
		return r.lt
	case arith.EQ:
		return r.eq
	case arith.GT:
		return r.gt
	case arith.LE:
		return not(r.gt)
	case arith.GE:
		return not(r.lt)
	case arith.NE:
		return not(r.eq)
	}
	return func(*wave, *op) uint64 { return ^uint64(0) }
}

// any returns the predicate p of floating point: any of its relations. One
// that holds of unordered numbers is the opposite of the other relations.
func (r relations) any(p arith.Pred) relation {
	var flip uint64
	if p&arith.U != 0 {
		p ^= arith.TRU
		flip = ^uint64(0)
	}
	var of []relation
	for i, f := range []relation{r.lt, r.eq, r.gt} {
		if p>>i&1 != 0 {
			of = append(of, f)
		}
	}
	switch len(of) {
	case 0:
		return func(*wave, *op) uint64 { return flip }
	case 1:
		f := of[0]
		return func(w *wave, o *op) uint64 { return f(w, o) ^ flip }
	}
	return func(w *wave, o *op) uint64 {
		m := flip
		for _, f := range of {
			m ^= f(w, o) // no two hold at once
		}
		return m
	}
}

// rel32 makes a relation from one on rows.
func rel32(f func(a, b *lanes, n int) uint64) relation {
	return func(w *wave, o *op) uint64 { return f(w.row(&o.src[0]), w.row(&o.src[1]), w.n) }
}

func swapped(f func(a, b *lanes, n int) uint64) func(a, b *lanes, n int) uint64 {
	return func(a, b *lanes, n int) uint64 { return f(b, a, n) }
}

func ltI32(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(int32(a[i]) < int32(b[i]))) << (i & 63)
	}
	return r
}

func ltU32(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(a[i] < b[i])) << (i & 63)
	}
	return r
}

func eq32(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(a[i] == b[i])) << (i & 63)
	}
	return r
}

func ltI16(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(int16(a[i]) < int16(b[i]))) << (i & 63)
	}
	return r
}

func ltU16(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(uint16(a[i]) < uint16(b[i]))) << (i & 63)
	}
	return r
}

func eq16(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(uint16(a[i]) == uint16(b[i]))) << (i & 63)
	}
	return r
}

func ltF32(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(math.Float32frombits(a[i]) < math.Float32frombits(b[i]))) << (i & 63)
	}
	return r
}

func eqF32(a, b *lanes, n int) uint64 {
	var r uint64
	for i := range a[:n] {
		r |= uint64(b2u(math.Float32frombits(a[i]) == math.Float32frombits(b[i]))) << (i & 63)
	}
	return r
}

func ltI64(a, b uint64) bool { return int64(a) < int64(b) }
func ltU64(a, b uint64) bool { return a < b }
func eq64(a, b uint64) bool  { return a == b }

// rel64 makes a relation from one on 64-bit numbers.
func rel64(f func(a, b uint64) bool) relation {
	return func(w *wave, o *op) uint64 {
		al, ah, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
		var r uint64
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if f(uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32) {
				r |= 1 << i
			}
		}
		return r
	}
}

// relF32 makes a relation of f32, whose sources are flushed where the mode
// says so.
func relF32(p arith.Pred, f func(a, b *lanes, n int) uint64) relation {
	return func(w *wave, o *op) uint64 {
		a, b := w.row(&o.src[0]), w.row(&o.src[1])
		if w.mode&arith.DenormIn32 != 0 {
			return f(a, b, w.n)
		}
		var r uint64
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if w.mode.CmpF32(p, a[i], b[i]) {
				r |= 1 << i
			}
		}
		return r
	}
}

func relF64(p arith.Pred) relation {
	return func(w *wave, o *op) uint64 {
		al, ah, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
		var r uint64
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if w.mode.CmpF64(p, uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32) {
				r |= 1 << i
			}
		}
		return r
	}
}

func relF16(p arith.Pred) relation {
	return func(w *wave, o *op) uint64 {
		a, b := w.row(&o.src[0]), w.row(&o.src[1])
		var r uint64
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if w.mode.CmpF16(p, uint16(a[i]), uint16(b[i])) {
				r |= 1 << i
			}
		}
		return r
	}
}

// The class tests: the second source is a mask of classes.

func classF16(w *wave, o *op) uint64 {
	a, b := w.row(&o.src[0]), w.row(&o.src[1])
	var r uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if w.mode.ClassF16(uint16(a[i]), b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func classF32(w *wave, o *op) uint64 {
	a, b := w.row(&o.src[0]), w.row(&o.src[1])
	var r uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if w.mode.ClassF32(a[i], b[i]) {
			r |= 1 << i
		}
	}
	return r
}

func classF64(w *wave, o *op) uint64 {
	al, ah, b := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1])
	var r uint64
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if w.mode.ClassF64(uint64(al[i])|uint64(ah[i])<<32, b[i]) {
			r |= 1 << i
		}
	}
	return r
}
