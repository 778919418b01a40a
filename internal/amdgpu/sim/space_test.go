package sim

import "testing"

// TestNearest: an address is said to be near a buffer where an index that is
// too large may have led to it, and else what it is to every buffer.
func TestNearest(t *testing.T) {
	var s space
	add := func(name, kind string, size int) *region {
		r, err := s.add(name, kind, size)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	inp, out := add("inp", "global", 4096), add("out", "global", 4096)
	packet := add("dispatch packet", "kernarg", 64)
	for _, tt := range []struct {
		what string
		addr uint64
		want *region
		far  bool // of that, or of all
	}{
		{"past the end", inp.base + 4096, inp, false},
		{"32-bit index of 8 bytes", out.base + 8*0xffffffff/2, out, true},
		{"before", out.base - 4, out, false},
		{"the runtime's", packet.base + 64, packet, false},
		{"a sentinel's row of 11 floats", inp.base + 0xffffffff*44, nil, true},
		{"through nothing", 0x1000, nil, true},
	} {
		got := s.nearest(tt.addr)
		if got != tt.want || got != nil && got.far(tt.addr) != tt.far {
			t.Errorf("%s: got %+v, want %+v, far: %v", tt.what, got, tt.want, tt.far)
		}
	}
	if got, want := s.relative(inp.base+0xffffffff*44), "inp+188978560980, out+120259084244"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.live = false
	if got, want := s.relative(inp.base-4), "inp-4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
