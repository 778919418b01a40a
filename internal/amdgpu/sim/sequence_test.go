package sim

import "testing"

// TestSequence checks what counts as a run of accesses.
func TestSequence(t *testing.T) {
	g := new(group)
	check := func(name string, size int, mask uint64, want bool, addr func(i uint64) uint64) {
		t.Helper()
		for i := range g.ea {
			g.ea[i] = addr(uint64(i))
		}
		if got := g.sequence(&memOp{size: size}, mask); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	full := ^uint64(0)
	check("dwords", 4, full, true, func(i uint64) uint64 { return 1<<40 + 4*i })
	check("unaligned dwords", 4, full, true, func(i uint64) uint64 { return 1<<40 + 1 + 4*i })
	check("16 bytes each", 16, full, true, func(i uint64) uint64 { return 16 * i })
	check("first lanes", 2, 0x1f, true, func(i uint64) uint64 { return 2*i + i/5*64 })
	check("one lane more than is in sequence", 2, 0x3f, false, func(i uint64) uint64 { return 2*i + i/5*64 })
	check("a lane off", 4, full&^8, false, func(i uint64) uint64 { return 4 * i })
	check("first lane off", 4, full&^1, false, func(i uint64) uint64 { return 4 * i })
	check("no lane", 4, 0, false, func(i uint64) uint64 { return 4 * i })
	check("strided", 4, full, false, func(i uint64) uint64 { return 8 * i })
	check("backwards", 4, full, false, func(i uint64) uint64 { return 4000 - 4*i })
	check("one address", 4, full, false, func(i uint64) uint64 { return 64 })
}
