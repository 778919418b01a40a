package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// scalarLoads are the dwords of scalar loads by the end of their names.
var scalarLoads = map[string]int{
	"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16,
	"b32": 1, "b64": 2, "b128": 4, "b256": 8, "b512": 16,
}

// smem resolves a scalar memory instruction. Scalar stores and atomics
// exist on no architecture here that compilers use them for.
func (c *compiler) smem(in *isa.Inst, o *op) error {
	switch in.Name {
	case "s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol", "s_gl1_inv", "s_dcache_discard":
		o.run = nop
		return nil
	case "s_memtime", "s_memrealtime":
		// A clock that counts the wave's instructions: deterministic.
		o.run = func(w *wave, o *op) { w.setS64(o, uint64(w.steps)) }
		sd, err := scalarDest(&in.Dst[0])
		o.sd = sd
		return err
	}
	rest, buffer := strings.CutPrefix(in.Name, "s_buffer_load_")
	if !buffer {
		var ok bool
		if rest, ok = strings.CutPrefix(in.Name, "s_load_"); !ok {
			return errors.New("not interpreted")
		}
	}
	n, ok := scalarLoads[rest]
	if !ok || in.NDst == 0 || in.NSrc == 0 {
		return errors.New("not interpreted")
	}
	sd, err := scalarDest(&in.Dst[0])
	if err != nil {
		return err
	}
	if sd.kind != sdstSGPR || int(sd.reg)+n > numScalars {
		return fmt.Errorf("loads into special registers")
	}
	o.sd = sd
	o.mem = &memOp{kind: memLoad, size: 4 * n, offset: int64(in.Offset), fold: accessLoad, base: src{kind: srcNone}}
	if o.src[0], err = c.source(&in.Src[0], 0); err != nil {
		return err
	}
	if o.src[0].kind != srcSGPR {
		return errors.New("base address is not in SGPRs")
	}
	for i := range in.Src[1:in.NSrc] {
		s := &in.Src[1+i]
		switch s.Kind {
		case isa.SGPR, isa.Special, isa.TTMP:
			if o.mem.base, err = c.source(s, 1); err != nil {
				return err
			}
		}
	}
	o.run = scalarLoad
	if buffer {
		o.run = scalarBufferLoad
	}
	return nil
}

func scalarLoad(w *wave, o *op) {
	m := o.mem
	addr := w.s64(&o.src[0]) + uint64(m.offset)
	if m.base.kind != srcNone {
		addr += uint64(w.s32(&m.base))
	}
	// Hardware ignores the low two bits.
	w.loadScalars(o, addr&^3, m.size/4)
}

// scalarBufferLoad reads through a buffer descriptor, whose range check
// gives zero outside.
func scalarBufferLoad(w *wave, o *op) {
	m := o.mem
	r := w.s[o.src[0].reg : o.src[0].reg+4]
	off := uint64(m.offset)
	if m.base.kind != srcNone {
		off += uint64(w.s32(&m.base))
	}
	off &^= 3
	limit := uint64(r[2])
	if stride := uint64(r[1] >> 16 & 0x3fff); stride != 0 {
		limit *= stride
	}
	base := uint64(r[0]) | uint64(r[1]&0xffff)<<32
	n := m.size / 4
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
			w.defineScalar(d, r.definedBits(off))
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
