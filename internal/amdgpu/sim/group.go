package sim

// Flat addresses with these high dwords are LDS and scratch.
const (
	sharedBase  = 0x10000 << 32
	privateBase = 0x20000 << 32
)

// A group executes one work-group.
type group struct {
	waves      []*wave
	broadcasts [numScalars]lanes // see wave.broadcast
}

// A unit is a function's ops.
type unit struct {
	ops []op
}
