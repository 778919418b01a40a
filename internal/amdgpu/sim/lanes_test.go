package sim

import (
	"math/rand/v2"
	"testing"
)

// TestLanes compares the vector forms with the functions on one lane, bit
// for bit, NaNs too.
func TestLanes(t *testing.T) { eachLevel(t, testLanes) }

func testLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edges := tF32.edges()
	value := func() uint32 {
		switch r.IntN(3) {
		case 0:
			return uint32(edges[r.IntN(len(edges))])
		case 1:
			return uint32(tF32.random(r))
		}
		return 0x3f800000 + r.Uint32N(8) // sums and products that are halfway
	}
	two := func(name string, f func(d, a, b *lanes, exec uint64, n int), lane func(d, a, b *lanes, exec uint64)) {
		t.Helper()
		three(t, r, value, name, func(d, a, b, _ *lanes, exec uint64, n int) { f(d, a, b, exec, n) },
			func(d, a, b, _ *lanes, exec uint64) { lane(d, a, b, exec) })
	}
	two("add", addF32, addLanes)
	two("sub", subF32, subLanes)
	two("mul", mulF32, mulLanes)
	two("min", minF32, minLanes)
	two("max", maxF32, maxLanes)
	three(t, r, value, "fma", fmaF32, fmaLanes)
	three(t, r, value, "narrow", func(d, a, _, _ *lanes, exec uint64, n int) { narrowF32(d, a, exec, n) },
		func(d, a, _, _ *lanes, exec uint64) { narrowLanes(d, a, exec) })
	ints := func() uint32 {
		if r.IntN(2) == 0 {
			return uint32(int32(r.IntN(5)) - 2)
		}
		return r.Uint32()
	}
	carry := func(name string, f, lane func(d, a, b *lanes, n int, in uint64) uint64) {
		t.Helper()
		// The carries out go into a row too, so that they are compared.
		wrap := func(f func(d, a, b *lanes, n int, in uint64) uint64, d, a, b, c *lanes, n int, in uint64) {
			out := f(d, a, b, n, in)
			c[0], c[1] = uint32(out), uint32(out>>32)
		}
		var n int
		three(t, r, ints, name, func(d, a, b, c *lanes, exec uint64, m int) { n = m; wrap(f, d, a, b, c, n, exec) },
			func(d, a, b, c *lanes, exec uint64) { wrap(lane, d, a, b, c, n, exec) })
	}
	carry("carryAdd", carryAdd, carryAddLanes)
	carry("carrySub", carrySub, carrySubLanes)
	k := uint32(0)
	count := func() uint32 { k += 0x10001; return k ^ 0xffff0000 }
	three(t, r, count, "wide", func(d, a, _, _ *lanes, exec uint64, n int) { wideF16(d, a, exec, n) },
		func(d, a, _, _ *lanes, exec uint64) { wideLanes(d, a, exec) })
	for range 10 { // every f16 comes by
		three(t, r, count, "wide", func(d, a, _, _ *lanes, exec uint64, n int) { wideF16(d, a, exec, n) },
			func(d, a, _, _ *lanes, exec uint64) { wideLanes(d, a, exec) })
	}
}

func three(t *testing.T, r *rand.Rand, value func() uint32, name string, f func(d, a, b, c *lanes, exec uint64, n int), lane func(d, a, b, c *lanes, exec uint64)) {
	t.Helper()
	for k := range 300 {
		var s [4]lanes
		for i := range s {
			for j := range s[i] {
				s[i][j] = value()
			}
		}
		n, full := 64, ^uint64(0)
		if k&1 != 0 {
			n, full = 32, 1<<32-1
		}
		exec := full
		switch r.IntN(3) {
		case 0:
			exec = r.Uint64() & full
		case 1:
			exec &= 0xff00ff00ff0f00ff
		}
		// The destination is a row of its own or one of the sources.
		got := s
		dst := r.IntN(4)
		f(&got[dst], &got[0], &got[1], &got[2], exec, n)
		want := s
		lane(&want[dst], &want[0], &want[1], &want[2], exec)
		for i := range got {
			for j := range got[i] {
				if got[i][j] != want[i][j] {
					t.Fatalf("%s exec %x n %d: row %d lane %d: got %08x, want %08x of %08x %08x %08x", name, exec, n, i, j, got[i][j], want[i][j], s[0][j], s[1][j], s[2][j])
				}
			}
		}
	}
}

func BenchmarkLanes(b *testing.B) {
	var s [4]lanes
	for i := range s {
		for j := range s[i] {
			s[i][j] = 0x3f800000 + uint32(i*j)
		}
	}
	run := func(name string, exec uint64, f func(exec uint64)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(exec)
			}
			b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds()/1e9, "Glanes/s")
		})
	}
	const full, part = ^uint64(0), 0xf0f0_ffff_0000_1234
	run("add", full, func(e uint64) { addF32(&s[3], &s[0], &s[1], e, 64) })
	run("add/part", part, func(e uint64) { addF32(&s[3], &s[0], &s[1], e, 64) })
	run("add/go", full, func(e uint64) { addLanes(&s[3], &s[0], &s[1], e) })
	run("max", full, func(e uint64) { maxF32(&s[3], &s[0], &s[1], e, 64) })
	run("fma", full, func(e uint64) { fmaF32(&s[3], &s[0], &s[1], &s[2], e, 64) })
	run("fma/part", part, func(e uint64) { fmaF32(&s[3], &s[0], &s[1], &s[2], e, 64) })
	run("fma/go", full, func(e uint64) { fmaLanes(&s[3], &s[0], &s[1], &s[2], e) })
	run("wide", full, func(e uint64) { wideF16(&s[3], &s[0], e, 64) })
	run("narrow", full, func(e uint64) { narrowF32(&s[3], &s[0], e, 64) })
}
