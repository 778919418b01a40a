package sim

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// scalarLoads are the dwords of scalar loads by the end of their names.
var scalarLoads = map[string]int{
	"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16,
	"b32": 1, "b64": 2, "b128": 4, "b256": 8, "b512": 16,
}

// scalarBufferPrefix and scalarScratchPrefix begin the names of scalar
// accesses through a buffer descriptor and to the wave's scratch.
const (
	scalarBufferPrefix  = "s_buffer_"
	scalarScratchPrefix = "s_scratch_"
)

// smem resolves a scalar memory instruction.
func (c *compiler) smem(in *isa.Inst, o *op) error {
	switch in.Name {
	case "s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol", "s_gl1_inv",
		// A store is in memory at once: what a discard drops may as well
		// have been written back. A probe translates an address.
		"s_dcache_discard", "s_dcache_discard_x2", "s_atc_probe", "s_atc_probe_buffer":
		o.run = nop
		return nil
	case "s_memtime", "s_memrealtime":
		// A clock that counts the wave's instructions: deterministic.
		o.run = func(w *wave, o *op) { w.setS64(o, uint64(w.steps)) }
		sd, err := scalarDest(&in.Dst[0])
		o.sd = sd
		return err
	}
	rest, buffer := strings.CutPrefix(in.Name, scalarBufferPrefix)
	scratch := false
	if !buffer {
		if rest, scratch = strings.CutPrefix(in.Name, scalarScratchPrefix); !scratch {
			rest = strings.TrimPrefix(in.Name, "s_")
		}
	}
	kind, typ, _ := strings.Cut(rest, "_")
	m := &memOp{offset: int64(in.Offset), base: src{kind: srcNone}, addr: src{kind: srcNone}, data: tmpOut, data2: -1, dst: -1}
	o.mem = m
	srcs := in.Src[:in.NSrc]
	data := &in.Dst[0]
	switch kind {
	case "load":
		m.kind, m.fold, m.size = memLoad, accessLoad, 4*scalarLoads[typ]
		o.run = scalarLoad
	case "store":
		if len(srcs) == 0 {
			return errors.New("not interpreted")
		}
		m.kind, m.fold, m.size = memStore, accessStore, 4*scalarLoads[typ]
		data, srcs = &srcs[0], srcs[1:]
		o.run = scalarStore
	case "atomic":
		m.atom = globalAtomics[typ]
		m.kind, m.fold, m.size = memAtomic, accessAtomic, m.atom.size
		if in.Has(isa.GLC) {
			m.dst = tmpDPP
		}
		o.run = scalarStore
	}
	if m.size == 0 || len(srcs) == 0 {
		return errors.New("not interpreted")
	}
	sd, err := scalarDest(data)
	if err != nil {
		return err
	}
	if sd.kind != sdstSGPR || int(sd.reg)+m.scalars() > numScalars {
		return errors.New("loads into special registers, or stores them")
	}
	o.sd = sd
	if o.src[0], err = c.source(&srcs[0], 0); err != nil {
		return err
	}
	if o.src[0].kind != srcSGPR {
		return errors.New("base address is not in SGPRs")
	}
	for i := range srcs[1:] {
		s := &srcs[1+i]
		switch s.Kind {
		case isa.SGPR, isa.Special, isa.TTMP:
			if m.base, err = c.source(s, 1); err != nil {
				return err
			}
		}
	}
	switch {
	case buffer && m.kind == memLoad:
		o.run = scalarBufferLoad
	case buffer:
		o.run = scalarBufferStore
	case scratch:
		o.run = scalarScratch
	}
	return nil
}

// scalars is the number of registers of a scalar access' data.
func (m *memOp) scalars() int {
	if m.kind == memAtomic && m.atom.cas {
		return m.size / 2
	}
	return m.size / 4
}

// scalarOffset is what a scalar access adds to its base, the offset in a
// register counting in units.
func (w *wave) scalarOffset(m *memOp, unit uint64) uint64 {
	off := uint64(m.offset)
	if m.base.kind != srcNone {
		off += unit * uint64(w.s32(&m.base))
	}
	return off
}

// scalarAddress is the address of a scalar access that goes through no
// descriptor. Hardware ignores the low two bits.
func (w *wave) scalarAddress(o *op) uint64 {
	return (w.s64(&o.src[0]) + w.scalarOffset(o.mem, 1)) &^ 3
}

func scalarLoad(w *wave, o *op) { w.loadScalars(o, w.scalarAddress(o), o.mem.size/4) }

// scalarBuffer is the base of a scalar access through a buffer descriptor,
// the offset in the buffer, and its size in bytes.
func (w *wave) scalarBuffer(o *op) (base, off, limit uint64) {
	r := w.s[o.src[0].reg : o.src[0].reg+4]
	limit = uint64(r[2])
	if stride := uint64(r[1] >> 16 & 0x3fff); stride != 0 {
		limit *= stride
	}
	return uint64(r[0]) | uint64(r[1]&0xffff)<<32, w.scalarOffset(o.mem, 1) &^ 3, limit
}

// scalarBufferLoad reads through a buffer descriptor, whose range check
// gives zero outside.
func scalarBufferLoad(w *wave, o *op) {
	base, off, limit := w.scalarBuffer(o)
	n := o.mem.size / 4
	for k := range n {
		if off+uint64(4*k)+4 <= limit {
			continue
		}
		w.loadScalars(o, base+off, k)
		for j := k; j < n; j++ {
			w.s[int(o.sd.reg)+j] = 0
			w.defineScalar(int(o.sd.reg)+j, ^uint32(0))
		}
		return
	}
	w.loadScalars(o, base+off, n)
}

func scalarStore(w *wave, o *op) { w.scalarAccess(o, w.scalarAddress(o)) }

// scalarBufferStore is a store or atomic through a buffer descriptor, whose
// range check drops what is outside; an atomic there returns zero.
func scalarBufferStore(w *wave, o *op) {
	base, off, limit := w.scalarBuffer(o)
	m := o.mem
	if off+uint64(m.size) <= limit {
		w.scalarAccess(o, base+off)
		return
	}
	if m.dst >= 0 {
		for k := range m.size / 4 {
			w.s[int(o.sd.reg)+k] = 0
			w.defineScalar(int(o.sd.reg)+k, ^uint32(0))
		}
	}
}

// scalarAccess executes a scalar store or atomic as an access of one lane
// that has its data in temporary rows, so that all that is checked of vector
// accesses is checked of it.
func (w *wave) scalarAccess(o *op, addr uint64) {
	g, m, i := w.g, o.mem, w.firstLane()
	lane := uint64(1) << i
	for k := range m.scalars() {
		reg := int(o.sd.reg) + k
		w.rows[int(m.data)+k][i] = w.s[reg]
		if g.checks {
			h := halves{}
			if w.shadow.s[reg]&0xffff == 0xffff {
				h.lo = lane
			}
			if w.shadow.s[reg]>>16 == 0xffff {
				h.hi = lane
			}
			w.shadow.v[int(m.data)+k], w.from.v[int(m.data)+k] = h, w.from.s[reg]
		}
	}
	g.ea[i] = addr
	if g.checks {
		w.checkScalarAddress(o)
		g.checkAlignment(w, o, nil, lane)
		g.effect(w, o)
	}
	r := g.mem.find(addr)
	switch {
	case r == nil || r.readOnly || !r.contains(addr, m.size):
		g.outOfBounds(w, o, i)
		g.poisonResult(w, m, i)
	case m.kind == memStore:
		g.store(w, o, r, lane, false)
	default:
		g.atomicGlobal(w, o, r, i)
	}
	if m.dst < 0 {
		return
	}
	for k := range m.size / 4 {
		row := int(m.dst) + k
		w.s[int(o.sd.reg)+k] = w.rows[row][i]
		if g.checks {
			var d uint32
			if h := w.shadow.v[row]; h.lo&h.hi&lane != 0 {
				d = ^uint32(0)
			}
			w.defineScalar(int(o.sd.reg)+k, d)
		}
	}
}

// scalarScratch executes s_scratch_load and s_scratch_store of gfx9: the
// offset in a register counts in units of 64 bytes (AMD's "Vega" ISA guide,
// section on scalar memory addressing). Scratch interleaves lanes by dword,
// and scalar accesses see it as it lies in memory.
func scalarScratch(w *wave, o *op) {
	g, m, s := w.g, o.mem, &w.scratch
	addr := (w.s64(&o.src[0]) + w.scalarOffset(m, 64)) &^ 3
	first := (addr - g.l.stack.base) / 4
	n := uint64(m.size / 4)
	if addr < g.l.stack.base || (first+n) > uint64(s.size/4*s.n) {
		// Not scratch: a base that is another buffer's.
		if m.kind == memLoad {
			w.loadScalars(o, addr, int(n))
		} else {
			w.scalarAccess(o, addr)
		}
		return
	}
	if g.checks {
		w.checkScalarAddress(o)
	}
	s.grow(s.size)
	for k := range n {
		reg, at, lane := int(o.sd.reg)+int(k), int(first+k)/s.n*4, int(first+k)%s.n
		var defined uint32
		if m.kind == memLoad {
			w.s[reg] = s.load32(at, lane)
		} else {
			s.store32(at, lane, w.s[reg])
		}
		for b := range 4 {
			bit := uint64(1) << lane
			if m.kind == memLoad {
				defined |= uint32(s.def[at+b]>>lane&1*0xff) << (8 * b)
				continue
			}
			s.def[at+b] &^= bit
			if !g.checks || w.shadow.s[reg]>>(8*b)&0xff == 0xff {
				s.def[at+b] |= bit
			}
		}
		if g.checks && m.kind == memLoad {
			w.defineScalar(reg, defined)
		}
	}
}

// loadScalars reads n dwords.
func (w *wave) loadScalars(o *op, addr uint64, n int) {
	g := w.g
	if n == 0 {
		return
	}
	if g.checks {
		w.checkScalarAddress(o)
	}
	r := g.mem.find(addr)
	for k := range n {
		a := addr + uint64(4*k)
		d := int(o.sd.reg) + k
		if r == nil || !r.contains(a, 4) {
			// The compiler widens scalar loads, but only within what the
			// program may read.
			g.ea[0] = a
			g.outOfBoundsScalar(w, o, a)
			w.s[d] = poison
			w.defineScalar(d, ^uint32(0))
			continue
		}
		off := a - r.base
		w.s[d] = binary.LittleEndian.Uint32(r.data[off:])
		if g.checks {
			bits := r.definedBits(off)
			w.defineScalar(d, bits)
			if bits != ^uint32(0) {
				w.from.used = true
				w.from.s[d] = origin{o: &w.unit.ops[w.at], name: r.name, off: int64(off), group: g.linear, wave: w.id, lane: w.firstLane()}
			}
			g.raceReadScalar(w, o, r, off)
		}
	}
}

// definedBits returns a mask of the bits of the dword at off whose bytes
// were written.
func (r *region) definedBits(off uint64) uint32 {
	if r.def == nil {
		return ^uint32(0)
	}
	return binary.LittleEndian.Uint32(r.def[off:]) * 0xff
}
