package gpu

import (
	"encoding/binary"
	"math"
)

// Args packs kernel arguments in the layout that CUDA's and HIP's
// parameter buffers and AMD's kernarg segment share: each value aligned
// to its own size, little-endian. The zero value is empty and ready.
type Args struct {
	buf []byte
}

// Bytes returns the packed block.
func (a *Args) Bytes() []byte { return a.buf }

// Uint appends an integer of size 1, 2, 4 or 8 bytes.
func (a *Args) Uint(v uint64, size int) {
	for len(a.buf)%size != 0 {
		a.buf = append(a.buf, 0)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	a.buf = append(a.buf, b[:size]...)
}

// Ptr appends a buffer's address; a nil buffer is the null pointer.
func (a *Args) Ptr(b Buffer) {
	if b == nil {
		a.Uint(0, 8)
		return
	}
	a.Uint(b.Ptr(), 8)
}

// Float32 appends a float.
func (a *Args) Float32(v float32) { a.Uint(uint64(math.Float32bits(v)), 4) }

// Float64 appends a double.
func (a *Args) Float64(v float64) { a.Uint(math.Float64bits(v), 8) }
