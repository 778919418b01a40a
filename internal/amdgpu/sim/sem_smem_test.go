package sim

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// smemWords encodes a scalar memory instruction: soffset is the register of
// an offset, or -1.
func smemWords(arch isa.Arch, code, sdata, sbase uint32, offset, soffset int, glc bool) []uint32 {
	lo, hi := code<<18|sdata<<6|sbase/2, uint32(offset)&0x1fffff
	switch {
	case arch == isa.GFX90A:
		lo |= 0xc0020000 | b2u(glc)<<16
		if soffset >= 0 {
			lo |= 1 << 14
			hi |= uint32(soffset) << 25
		}
		return []uint32{lo, hi}
	case arch == isa.GFX1030:
		lo |= 0xf4000000 | b2u(glc)<<16
	default:
		lo |= 0xf4000000 | b2u(glc)<<14
	}
	if soffset < 0 {
		soffset = map[isa.Arch]int{isa.GFX1030: 0x7d, isa.GFX1100: 0x7c}[arch]
	}
	return []uint32{lo, hi | uint32(soffset)<<25}
}

// The scalar registers of these tests: data in s[16:31], base in s[4:5] or
// s[8:11], offset in s6.
const smemData = 16

// TestScalarMemory executes every scalar load, store and atomic.
func TestScalarMemory(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			if op.Enc != isa.SMEM || nothing(op.Name) {
				continue
			}
			name := op.Name
			rest, buffer := strings.CutPrefix(name, "s_buffer_")
			rest, scratch := strings.CutPrefix(rest, "s_scratch_")
			rest = strings.TrimPrefix(rest, "s_")
			var m memName
			n := 1 // dwords
			switch kind, typ, _ := strings.Cut(rest, "_"); kind {
			case "load", "store":
				m.kind = kind
				n = map[string]int{"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16, "b32": 1, "b64": 2, "b128": 4, "b256": 8, "b512": 16}[typ]
			case "atomic":
				m, _ = parseMemory("global_" + rest)
				n = m.bits / 32
			default:
				continue // clocks
			}
			for k := range 24 {
				c := scalarAccessCase{op: op, m: &m, n: n, buffer: buffer, scratch: scratch, k: k}
				c.check(t, arch)
				if t.Failed() {
					return
				}
			}
		}
	}
}

type scalarAccessCase struct {
	op              isa.OpInfo
	m               *memName
	n               int // dwords of memory
	buffer, scratch bool
	k               int
}

func (c *scalarAccessCase) check(t *testing.T, arch isa.Arch) {
	t.Helper()
	mb := newMemBench(t, arch, uint64(c.k)+uint64(c.op.Opcode)*3)
	w, r := mb.w, mb.r
	if c.k == 5 {
		w.exec = 0 // which scalar accesses do not care about
	}
	atomic := c.m.kind != "load" && c.m.kind != "store"
	glc := atomic && c.k%2 == 1
	base, offset, soffset := 4, 4*(r.IntN(60)-30), -1
	if c.buffer {
		base, offset = 8, 4*r.IntN(30)
	}
	if c.k%3 == 1 {
		soffset = 6
	}
	in := decoded(t, arch, c.op.Name, smemWords(arch, uint32(c.op.Opcode), smemData, uint32(base), offset, soffset, glc)...)
	o, err := mb.c.try(&in)
	if err != nil {
		return // the ledger knows whether it should be
	}
	// Where it is to go, and how it comes there.
	at := 200 + 4*r.IntN(200)
	if atomic {
		at = at / (4 * c.n) * 4 * c.n
	}
	reg := mb.buffers[c.k%2]
	start, memory := reg.base, reg.data
	if c.scratch {
		stack, err := w.g.mem.add("scratch", "scratch", 0)
		if err != nil {
			t.Fatal(err)
		}
		w.g.l.stack = stack
		start = stack.base
	}
	addr := start + uint64(at) - uint64(int64(offset))
	if soffset >= 0 {
		off := 4 * r.IntN(8)
		w.s[6] = uint32(off)
		if c.scratch {
			off *= 64
		}
		addr -= uint64(off)
	}
	low := r.IntN(4) // two bits that do not count
	if !c.buffer {
		addr += uint64(low)
	}
	w.s[base], w.s[base+1] = uint32(addr), uint32(addr>>32)
	inside := c.n // dwords within the buffer
	if c.buffer {
		w.s[base], w.s[base+1] = uint32(start), uint32(start>>32)
		if soffset >= 0 {
			at -= at % 4
			w.s[6] = uint32(at-offset) + uint32(low)
		} else {
			at = offset
		}
		size := at + 4*c.n + 40
		if c.k%4 == 3 { // reaches over the end, or lies beyond
			inside = r.IntN(c.n + 1)
			size = at + 4*inside + r.IntN(4)
		}
		if size%8 == 0 && c.k%8 < 4 {
			w.s[base+1] |= 8 << 16 // the size is in records of 8 bytes
			size /= 8
		}
		w.s[base+2], w.s[base+3] = uint32(size), 0
	}
	if c.scratch { // scratch as it lies in memory: a dword of each lane in turn
		memory = make([]byte, testScratch*w.n)
		for i := range memory {
			dword := i / 4
			memory[i] = w.scratch.data[(dword/w.n*4+i%4)*w.n+dword%w.n]
		}
	}
	if atomic {
		for i, v := range []uint64{c.m.operand(r), c.m.operand(r)} {
			for k := range c.n {
				w.s[smemData+i*c.n+k] = uint32(v >> (32 * k))
			}
		}
		v := c.m.operand(r)
		if c.m.kind == "cmpswap" && c.k%3 == 0 {
			v = c.word(w.s[smemData+c.n:])
		}
		for k := range 4 * c.n {
			memory[at+k] = byte(v >> (8 * k))
		}
	}
	want, wantS := bytes.Clone(memory), w.s
	c.apply(want, wantS[:], at, inside, glc)
	rows := append([]lanes(nil), w.rows...)
	o.run(w, &o)
	if w.err != nil {
		t.Errorf("%v %v: %v", arch, in.String(), w.err)
		return
	}
	if c.scratch {
		for i := range memory {
			dword := i / 4
			memory[i] = w.scratch.data[(dword/w.n*4+i%4)*w.n+dword%w.n]
		}
	}
	for i := range wantS {
		if w.s[i] != wantS[i] {
			t.Errorf("%v %v: s%d: got %08x, want %08x", arch, in.String(), i, w.s[i], wantS[i])
			return
		}
	}
	for i := range want {
		if memory[i] != want[i] {
			t.Errorf("%v %v: byte %d, of %d at %d: got %02x, want %02x", arch, in.String(), i, 4*c.n, at, memory[i], want[i])
			return
		}
	}
	for v := range 32 {
		if w.rows[firstVGPR+v] != rows[firstVGPR+v] {
			t.Errorf("%v %v: v%d changed", arch, in.String(), v)
		}
	}
	proved(arch, c.op.Enc, c.op.Name)
}

func (c *scalarAccessCase) word(s []uint32) uint64 {
	if c.n == 2 {
		return uint64(s[0]) | uint64(s[1])<<32
	}
	return uint64(s[0])
}

// apply does what the instruction does to memory and scalar registers.
// inside is how many dwords a buffer has from there on: a load gives zeros
// beyond, a store or atomic is dropped as a whole.
func (c *scalarAccessCase) apply(memory []byte, s []uint32, at, inside int, glc bool) {
	data := s[smemData:]
	switch {
	case c.m.kind == "load":
		for k := range c.n {
			data[k] = 0
			if k < inside {
				data[k] = binary.LittleEndian.Uint32(memory[at+4*k:])
			}
		}
	case inside < c.n:
		if c.m.kind != "store" && glc {
			clear(data[:c.n])
		}
	case c.m.kind == "store":
		for k := range c.n {
			binary.LittleEndian.PutUint32(memory[at+4*k:], data[k])
		}
	default:
		var old uint64
		for k := range 4 * c.n {
			old |= uint64(memory[at+k]) << (8 * k)
		}
		v := c.m.atomicResult(old, c.word(data), c.word(data[c.n:]))
		for k := range 4 * c.n {
			memory[at+k] = byte(v >> (8 * k))
		}
		if glc {
			for k := range c.n {
				data[k] = uint32(old >> (32 * k))
			}
		}
	}
}

// TestClock has the clocks, which count: two reads differ by what ran between
// them.
func TestClock(t *testing.T) {
	for _, arch := range allArchs {
		for _, name := range []string{"s_memtime", "s_memrealtime"} {
			op, ok := findOp(arch, name)
			if !ok {
				continue
			}
			b := newBench(t, arch)
			in := decoded(t, arch, name, smemWords(arch, uint32(op.Opcode), smemData, 0, 0, -1, false)...)
			for _, steps := range []int64{7, 1 << 33} {
				b.w.steps = steps
				b.run(in)
				if got := int64(b.w.s[smemData]) | int64(b.w.s[smemData+1])<<32; got != steps {
					t.Errorf("%v %s after %d instructions: got %d", arch, name, steps, got)
				}
			}
			proved(arch, op.Enc, name)
		}
	}
}
