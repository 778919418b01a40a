package sim

import "github.com/paritycheck/paritycheck/internal/amdgpu/isa"

// shadowSelected is for bitwise instructions of the SDWA form: the halves
// of the selected sources do not mix, and what a byte or word is extended
// with is defined. Compilers join bytes this way, from registers of which
// they have written 16 bits.
func shadowSelected(w *wave, o *op) {
	in := o.in
	const all = ^uint64(0)
	d := allDefined
	sels := [2]isa.Sel{in.SDWA.Src0, in.SDWA.Src1}
	for i, sel := range sels[:min(2, in.NSrc)] {
		h := w.sourceHalves(o, i)
		if sel != isa.DWord {
			part := h.lo
			if sel == isa.Byte2 || sel == isa.Byte3 || sel == isa.Word1 {
				part = h.hi
			}
			h = halves{part, all}
			if in.SDWA.Sext>>i&1 != 0 {
				h.hi = part
			}
		}
		d.lo &= h.lo
		d.hi &= h.hi
	}
	old := w.shadow.v[o.final]
	// A byte leaves the other one of its half as Unused has it.
	part := d.lo
	if in.SDWA.Unused == isa.UnusedPreserve {
		switch in.SDWA.Dst {
		case isa.Byte0, isa.Byte1:
			part &= old.lo
		case isa.Byte2, isa.Byte3:
			part &= old.hi
		}
	}
	rest := halves{all, all}
	switch in.SDWA.Unused {
	case isa.UnusedSext:
		rest.hi = part // bits below are zero
	case isa.UnusedPreserve:
		rest = old
	}
	switch in.SDWA.Dst {
	case isa.Byte0, isa.Byte1, isa.Word0:
		d = halves{part, rest.hi}
	case isa.Byte2, isa.Byte3, isa.Word1:
		d = halves{rest.lo, part}
	}
	w.setShadow(o.final, d, w.exec)
}
