package gputest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

const (
	arenaBase = 0x7e0000000000 // address of the arena's first byte: no small integer, no null
	arenaMax  = 1 << 30
	align     = 256     // of every buffer, as CUDA's and HIP's
	page      = 1 << 16 // the arena grows by pages: behind the last buffer there is memory, but not much
)

// A Memory is the memory of a Fake, addressed as kernels address it.
type Memory struct {
	arena []byte
	live  []span // by address
}

type span struct {
	name string
	off  int // from the start of the arena
	size int // as asked for
}

// end is the first aligned offset behind s; an empty buffer takes up room
// too, so that no two share an address.
func (s span) end() int { return s.off + (max(s.size, 1)+align-1)/align*align }

type accessError struct {
	addr uint64
	n    int
}

func (e *accessError) Error() string {
	return fmt.Sprintf("illegal address: %d bytes at 0x%x", e.n, e.addr)
}

// Bytes is the n bytes of memory at addr, to read and to write: they may
// lie in no buffer, or in several. An access that leaves the arena ends
// the kernel with a Fault. The slice is valid until the kernel returns.
func (m *Memory) Bytes(addr uint64, n int) []byte {
	if n == 0 {
		return nil
	}
	off := addr - arenaBase
	if addr < arenaBase || n < 0 || off > uint64(len(m.arena)) || uint64(n) > uint64(len(m.arena))-off {
		panic(&accessError{addr, n})
	}
	return m.arena[off : off+uint64(n) : off+uint64(n)]
}

// View is the n values at addr, which must be aligned to T. It is Bytes
// otherwise.
func View[T ~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64](m *Memory, addr uint64, n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if n == 0 {
		return nil
	}
	if addr%uint64(size) != 0 || n > arenaMax {
		panic(&accessError{addr, n})
	}
	b := m.Bytes(addr, n*size)
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// Buffer is the address and size of the live buffer that was allocated
// last under name.
func (m *Memory) Buffer(name string) (addr uint64, size int, ok bool) {
	for _, s := range slices.Backward(m.live) {
		if s.name == name {
			return arenaBase + uint64(s.off), s.size, true
		}
	}
	return 0, 0, false
}

// alloc takes the first gap that fits. New memory holds 0xA5, not zeros.
func (m *Memory) alloc(name string, size int) (uint64, error) {
	if size < 0 {
		return 0, fmt.Errorf("gputest: size of %s must not be negative, is %d", name, size)
	}
	s := span{name: name, size: size}
	i := 0
	for ; i < len(m.live); i++ {
		if s.end() <= m.live[i].off {
			break
		}
		s.off = m.live[i].end()
	}
	if size > arenaMax || s.end() > arenaMax {
		return 0, fmt.Errorf("gputest: out of memory: %s needs %d bytes", name, size)
	}
	m.live = slices.Insert(m.live, i, s)
	if n := len(m.arena); n < s.end() {
		size := (s.end() + page - 1) / page * page
		m.arena = slices.Grow(m.arena, size-n)[:size]
		fill(m.arena[n:], 0xa5)
	}
	return arenaBase + uint64(s.off), nil
}

func (m *Memory) free(addr uint64) {
	m.live = slices.DeleteFunc(m.live, func(s span) bool { return arenaBase+uint64(s.off) == addr })
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// Args reads a packed argument block, the inverse of gpu.Args. Reading
// past its end ends the kernel with a Fault.
type Args struct {
	buf []byte
	off int
}

// ReadArgs begins at the first argument.
func ReadArgs(block []byte) *Args { return &Args{buf: block} }

// Uint reads an integer of size 1, 2, 4 or 8 bytes.
func (a *Args) Uint(size int) uint64 {
	a.off = (a.off + size - 1) / size * size
	if a.off+size > len(a.buf) {
		panic(&accessError{uint64(a.off), size})
	}
	var b [8]byte
	copy(b[:], a.buf[a.off:a.off+size])
	a.off += size
	return binary.LittleEndian.Uint64(b[:])
}

// Ptr reads an address.
func (a *Args) Ptr() uint64 { return a.Uint(8) }

// Float32 reads a float.
func (a *Args) Float32() float32 { return math.Float32frombits(uint32(a.Uint(4))) }

// Float64 reads a double.
func (a *Args) Float64() float64 { return math.Float64frombits(a.Uint(8)) }
