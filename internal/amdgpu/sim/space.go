package sim

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Global memory is divided into slots of 64 GiB. A region stands in the
// middle of one, so that an index that is off by up to 32 GiB, a 32-bit
// index of 8-byte elements, say, hits no other region, and finding the
// region nearest to an address is one shift. Slots lie between 1<<40 and
// 1<<48, the bits of an address that hardware has.
const (
	slotShift = 36
	slotFirst = 1 << (40 - slotShift)
	slotLimit = 1 << (48 - slotShift)
	slotStart = 1 << (slotShift - 1)
)

// maxRegion bounds one allocation.
const maxRegion = 1 << 32

// A region is a piece of global memory.
type region struct {
	name  string
	space string // of findings: "global", "kernarg", "constant"
	base  uint64
	data  []byte

	// def holds 1 for each byte that was written, and is nil where all were.
	def []byte

	// blank says that nothing was written since every byte became pattern,
	// and def all zeros.
	blank   bool
	pattern byte

	readOnly bool // what the runtime owns: the packet, kernel arguments

	saved atomic.Pointer[snapshot] // contents before the launch in progress
	live  bool                     // false after Free, for findings on stale pointers
}

// A space is the global memory of a device.
type space struct {
	slots []*region // by address>>slotShift - slotFirst
	used  int
}

// add maps a region of size bytes.
func (s *space) add(name, kind string, size int) (*region, error) {
	if size < 0 || size > maxRegion {
		return nil, fmt.Errorf("allocation of %d bytes for %s, want at most %d", size, name, maxRegion)
	}
	i := len(s.slots)
	if i+slotFirst >= slotLimit {
		// Reuse the oldest slot that is free. In use are few; what runs here
		// has allocated and freed thousands.
		i = len(s.slots)
		for j, r := range s.slots {
			if !r.live {
				i = j
				break
			}
		}
		if i == len(s.slots) {
			return nil, fmt.Errorf("more than %d allocations", slotLimit-slotFirst)
		}
	}
	r := &region{
		name: name, space: kind, data: make([]byte, size), live: true,
		base: uint64(i+slotFirst)<<slotShift + slotStart,
	}
	if i == len(s.slots) {
		s.slots = append(s.slots, r)
	} else {
		s.slots[i] = r
	}
	s.used++
	return r, nil
}

// remove unmaps r. When nothing is mapped any more, addresses start over,
// so that equal runs see equal addresses.
func (s *space) remove(r *region) {
	if !r.live {
		return
	}
	r.live, r.data, r.def = false, nil, nil
	s.used--
	if s.used == 0 {
		s.slots = s.slots[:0]
		return
	}
	for n := len(s.slots); n > 0 && !s.slots[n-1].live; n-- {
		s.slots = s.slots[:n-1]
	}
}

// find returns the region in whose slot addr lies, nil for none. The
// address may still be outside the region.
func (s *space) find(addr uint64) *region {
	i := addr>>slotShift - slotFirst
	if i < uint64(len(s.slots)) {
		return s.slots[i]
	}
	return nil
}

// nearest returns the region closest to addr, for messages, nil where addr is
// far from all: of what the runtime owns a kernel has only pointers that it
// hardly ever gets wrong by much.
func (s *space) nearest(addr uint64) *region {
	r := s.find(addr)
	if n := len(s.slots); r == nil && n > 0 && addr>>slotShift >= uint64(slotFirst+n) && addr>>slotShift < slotLimit {
		r = s.slots[n-1]
	}
	if r != nil && r.space != "global" && r.far(addr) {
		return nil
	}
	return r
}

// far says whether addr is further from r than any region is large.
func (r *region) far(addr uint64) bool {
	return addr-r.base+maxRegion > 2*maxRegion
}

// relative gives addr in terms of each buffer, "inp+188978561028, out-4".
func (s *space) relative(addr uint64) string {
	var parts []string
	for _, r := range s.slots {
		if r.live && r.space == "global" {
			parts = append(parts, fmt.Sprintf("%s%+d", r.name, int64(addr-r.base)))
		}
	}
	return strings.Join(parts, ", ")
}

// contains reports whether n bytes at addr are inside r.
func (r *region) contains(addr uint64, n int) bool {
	off := addr - r.base
	return off < uint64(len(r.data)) && uint64(n) <= uint64(len(r.data))-off
}

// defined reports whether n bytes from off were all written.
func (r *region) defined(off uint64, n int) bool {
	if r.def == nil {
		return true
	}
	for _, d := range r.def[off : off+uint64(n)] {
		if d == 0 {
			return false
		}
	}
	return true
}
