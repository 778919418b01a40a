package sim

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestAccess compares the vector forms of taking apart and executing an
// access with those in Go, and those with what they say.
func TestAccess(t *testing.T) { eachLevel(t, testAccess) }

func testAccess(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 1<<12)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	shapes := map[shape]int{}
	for k := range 20000 {
		a := access{size: []uint32{1, 2, 4, 8, 12, 16}[r.IntN(6)]}
		a.mask = [...]uint64{^uint64(0), 1<<32 - 1, r.Uint64(), r.Uint64() & r.Uint64() & r.Uint64(), 1 << r.IntN(64), uint64(0xffff) << (16 * r.IntN(4)), 1<<(1+r.IntN(63)) - 1}[r.IntN(7)]
		span := uint32(len(data)) - a.size
		b := bounds{hi: r.Uint32(), delta: r.Uint32() >> r.IntN(32), span: span}
		if r.IntN(2) == 0 {
			b.low = min(b.delta, span)
			b.span -= b.low
		}
		var lo, hi lanes
		var at [quarters]uint32
		inside := true
		for i := range lo {
			q := i / 16
			if i%16 == 0 {
				at[q] = b.low + r.Uint32N(b.span+1)
				if q > 0 && r.IntN(2) == 0 {
					at[q] = at[q-1]
				}
			}
			off := at[q]
			switch [quarters]int{k & 3, k >> 2 & 3, k >> 4 & 3, k >> 6 & 3}[q] {
			case 1:
				off += uint32(i%16) * a.size
			case 2:
				off = b.low + r.Uint32N(b.span+1)
			}
			if r.IntN(1000) == 0 {
				off = r.Uint32()
			}
			lo[i], hi[i] = off-b.delta, b.hi
			if r.IntN(1000) == 0 {
				hi[i]++
			}
			if a.mask>>i&1 != 0 && (off < b.low || off > b.low+b.span || hi[i] != b.hi) {
				inside = false
			}
		}
		c := a
		shapeAccess(&a, &lo, &hi, &b)
		shapeAccessGo(&c, &lo, &hi, &b)
		if (a.outer == 0) != inside || (c.outer == 0) != inside {
			t.Fatalf("inside: got %x and %x, want %v", a.outer, c.outer, inside)
		}
		if a.shape != c.shape || a.bits != c.bits {
			t.Fatalf("got %v %x, want %v %x", a.shape, a.bits, c.shape, c.bits)
		}
		for q, s := range a.shape {
			shapes[s]++
			if (s == shapeSame || s == shapeRun) && a.at[q] != c.at[q] {
				t.Fatalf("quarter %d: at %x, want %x", q, a.at[q], c.at[q])
			}
			for m := a.lanes(q); m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m)
				want := lo[16*q+i] + b.delta
				if a.off[16*q+i] != want {
					t.Fatalf("lane %d: offset %x, want %x", 16*q+i, a.off[16*q+i], want)
				}
				if s == shapeSame && a.at[q] != want || s == shapeRun && a.at[q]+uint32(i)*a.size != want {
					t.Fatalf("quarter %d, shape %d: at %x, lane %d at %x", q, s, a.at[q], i, want)
				}
			}
		}
		if !inside {
			continue
		}
		// The distinct bytes, lines and bank conflicts, one by one.
		a.findRanges()
		lines, bytes := map[uint32]bool{}, map[uint32]int{}
		for m := a.mask; m != 0; m &= m - 1 {
			off := a.off[bits.TrailingZeros64(m)]
			lines[off>>6], lines[(off+a.size-1)>>6] = true, true
			for b := range a.size {
				bytes[off+b]++
			}
		}
		if got := a.lines(); got != int64(len(lines)) {
			t.Fatalf("%d lines, want %d: %v %v %x", got, len(lines), a.shape, a.at, a.mask)
		}
		once := true
		for _, n := range bytes {
			once = once && n == 1
		}
		if a.apart() && !once {
			t.Fatalf("apart, but some lanes share bytes: %v %v %x", a.shape, a.at, a.mask)
		}
		def := make([]byte, len(data))
		for b := range bytes {
			def[b] = 1
		}
		if !a.written(def) {
			t.Fatal("not written")
		}
		if a.apart() {
			marked := make([]byte, len(data))
			a.markWritten(marked)
			for i := range marked {
				if marked[i] != def[i] {
					t.Fatalf("byte %d marked %d, want %d", i, marked[i], def[i])
				}
			}
		}
		for b := range bytes {
			def[b] = 0
			if a.written(def) {
				t.Fatalf("written without byte %d", b)
			}
			break
		}
		if conflicts := bankConflicts(&a); len(conflicts) > 0 {
			g := &group{acc: a}
			if g.noConflicts(&wave{n: 64}) {
				t.Fatalf("no conflicts, want banks %v: %v %v %x", conflicts, a.shape, a.at, a.mask)
			}
		}
		if a.size < 4 {
			continue
		}
		for more := uint32(0); more < a.size; more += 4 {
			x, y := lo, lo
			loadDwords(&x, data, &a, more)
			loadDwordsGo(&y, data, &a, more)
			if x != y {
				t.Fatalf("loaded %x, want %x", x, y)
			}
			p, q := append([]byte(nil), data...), append([]byte(nil), data...)
			if a.apart() {
				storeDwords(&lo, p, &a, more)
				storeDwordsGo(&lo, q, &a, more)
				if string(p) != string(q) {
					t.Fatal("stores differ")
				}
			}
		}
	}
	if len(shapes) != 4 {
		t.Errorf("shapes tried: %v", shapes)
	}
}

// bankConflicts lists, by half of the wave, banks asked for more dwords than
// the size of an element takes passes.
func bankConflicts(a *access) (worst []int) {
	for half := range 2 {
		banks := map[uint32]map[uint32]bool{}
		for m := a.mask >> (32 * half) & 0xffffffff; m != 0; m &= m - 1 {
			off := a.off[32*half+bits.TrailingZeros64(m)]
			for d := off >> 2; d <= (off+a.size-1)>>2; d++ {
				if banks[d&31] == nil {
					banks[d&31] = map[uint32]bool{}
				}
				banks[d&31][d] = true
			}
		}
		for b, d := range banks {
			if len(d) > max(1, int(a.size)/4) {
				worst = append(worst, int(b))
			}
		}
	}
	return worst
}
