package sim

import (
	"math/rand/v2"
	"testing"
)

// TestRaceRecords holds the records by line to records of each dword.
func TestRaceRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for trial := range 20 {
		const dwords = raceChunkDwords + 100
		g := &group{}
		s := newRaceShadow(g, &region{data: make([]byte, 4*dwords)})
		type record struct {
			w, r    uint32
			suspect bool
		}
		var want [dwords]record
		collapsed := 0
		for range 3000 {
			group := uint32(r.IntN(1 + trial%3))
			v := raceView{from: 4*group + 1, to: 4*group + 5, lds: trial%5 == 0}
			v.id = (v.from+r.Uint32N(4))<<racePhaseBits | r.Uint32N(3)
			d := uint64(r.IntN(dwords))
			end := min(d+uint64(1+r.IntN(40)), dwords)
			if r.IntN(2) == 0 { // whole lines
				d &^= raceLineDwords - 1
				end = min(d+raceLineDwords*uint64(1+r.IntN(8)), dwords)
			}
			kind := raceKind(r.IntN(3))
			if trial%2 == 0 {
				kind = raceRead
			}
			if kind == raceRead {
				s.read(&v, d, end)
			} else {
				s.write(&v, d, end, kind)
			}
			for i := d; i < end; i++ {
				x := &want[i]
				var suspect bool
				x.w, x.r, suspect = v.after(kind, x.w, x.r)
				x.suspect = x.suspect || suspect
			}
		}
		for d := range want {
			c := s.chunk(uint64(d))
			w, rd := c.at(d % raceChunkDwords)
			suspect := s.suspects != nil && s.suspects[d/64]>>(d%64)&1 != 0
			if got := (record{w, rd, suspect}); got != want[d] {
				t.Fatalf("dword %d: got %+v, want %+v", d, got, want[d])
			}
			if l := d % raceChunkDwords / raceLineDwords; c.slot[l] != 0 && !c.mixed[l] {
				collapsed++
			}
		}
		if trial == 1 && collapsed == 0 {
			t.Error("no line became alike again")
		}
	}
}
