package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// modRow applies a source's modifiers: select, then absolute value, then
// negation. For a 64-bit source they act on the high dword.
func (w *wave) modRow(s *src) *lanes {
	x := s.x
	a, d := w.row(&x.base), &w.tmp[s.slot%3][0]
	if x.typ == isa.F64 || x.typ == isa.B64 {
		return a
	}
	if x.sel != isa.DWord {
		shift, width := selBits(x.sel)
		for i := range d[:w.n] {
			d[i] = a[i] >> shift & (1<<width - 1)
		}
		if x.sext {
			for i := range d[:w.n] {
				d[i] = uint32(int32(d[i]<<(32-width)) >> (32 - width))
			}
		}
		a = d
	}
	var sign uint32 = 1 << 31
	if x.typ == isa.F16 || x.typ == isa.I16 || x.typ == isa.BF16 {
		sign = 1 << 15
	}
	and, xor := ^uint32(0), uint32(0)
	if x.abs {
		and = ^sign
	}
	if x.neg {
		xor = sign
	}
	if x.neg || x.abs {
		for i := range d[:w.n] {
			d[i] = a[i]&and ^ xor
		}
		a = d
	}
	return a
}

func (w *wave) modHi(s *src) *lanes {
	x := s.x
	a, d := w.hi(&x.base), &w.tmp[s.slot%3][1]
	and, xor := ^uint32(0), uint32(0)
	if x.abs {
		and = 1<<31 - 1
	}
	if x.neg {
		xor = 1 << 31
	}
	for i := range d[:w.n] {
		d[i] = a[i]&and ^ xor
	}
	return d
}

// selBits returns where a byte or word lies in a dword.
func selBits(s isa.Sel) (shift, width uint32) {
	switch s {
	case isa.Word0, isa.Word1:
		return uint32(s-isa.Word0) * 16, 16
	case isa.DWord:
		return 0, 32
	}
	return uint32(s) * 8, 8
}

// runModified runs a handler whose result needs work before it reaches the
// register: omod, clamp, then the part of the register that is written.
func runModified(w *wave, o *op) {
	o.inner(w, o)
	w.finish(o)
}

func (w *wave) finish(o *op) {
	t, d := &w.rows[tmpOut], &w.rows[o.final]
	if o.mod.Omod != 0 || o.mod.Clamp {
		w.scaleAndClamp(o)
	}
	switch o.out {
	case outF64, outPkF32:
		th, dh := &w.rows[tmpOut+1], &w.rows[o.final+1]
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i], dh[i] = t[i], th[i]
		}
		return
	case outF16, outB16, outF16Keep, outB16Keep:
		if o.in.Form == isa.SDWA {
			break
		}
		hi := o.mod.OpSel&8 != 0
		keep := w.arch != isa.GFX90A || o.out == outF16Keep || o.out == outB16Keep || hi
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			switch {
			case !keep:
				d[i] = t[i] & 0xffff
			case hi:
				d[i] = d[i]&0xffff | t[i]<<16
			default:
				d[i] = d[i]&^0xffff | t[i]&0xffff
			}
		}
		return
	}
	if o.in.Form != isa.SDWA || o.in.SDWA.Dst == isa.DWord {
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = t[i]
		}
		return
	}
	shift, width := selBits(o.in.SDWA.Dst)
	field := uint32(1<<width-1) << shift
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		v := t[i] << shift & field
		switch o.in.SDWA.Unused {
		case isa.UnusedPreserve:
			v |= d[i] &^ field
		case isa.UnusedSext:
			// The sign fills the bits above; those below are zero.
			v = uint32(int32(t[i]<<(32-width))>>(32-width)) << shift
		}
		d[i] = v
	}
}

// scaleAndClamp applies omod, then clamp, to the float result in tmpOut. Clamp
// means the same in VOP3, in SDWA, which then puts the result where dst_sel
// says, and in VOP3 with DPP; DPP of the short encodings has none (AMD's
// "Vega" ISA guide, sections on VOP3, SDWA and DPP).
func (w *wave) scaleAndClamp(o *op) {
	t, th := &w.rows[tmpOut], &w.rows[tmpOut+1]
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		switch o.out {
		case outF32:
			t[i] = w.clampF32(t[i], o.mod)
		case outPkF32:
			t[i], th[i] = w.clampF32(t[i], o.mod), w.clampF32(th[i], o.mod)
		case outF16, outF16Keep:
			t[i] = uint32(w.clampF16(uint16(t[i]), o.mod))
		case outPkF16:
			t[i] = uint32(w.clampF16(uint16(t[i]), o.mod)) | uint32(w.clampF16(uint16(t[i]>>16), o.mod))<<16
		case outF64:
			v := w.clampF64(uint64(t[i])|uint64(th[i])<<32, o.mod)
			t[i], th[i] = uint32(v), uint32(v>>32)
		}
	}
}

// scales reports whether omod has an effect: hardware ignores it where
// denormal results are kept, and in IEEE mode. Where it has, -0 becomes +0
// and denormals zeros (AMD's "RDNA 2" and "RDNA 3" ISA guides, section on
// output modifiers; LLVM folds multiplications into omod on the same terms,
// SIFoldOperands).
func (w *wave) scales(mod isa.Modifiers, denormOut arith.Mode) bool {
	return mod.Omod != 0 && w.mode&(denormOut|arith.IEEE) == 0
}

func (w *wave) clampF32(a uint32, mod isa.Modifiers) uint32 {
	if w.scales(mod, arith.DenormOut32) {
		a = w.mode.Out32(arith.MulF32(a, [4]uint32{0, 0x40000000, 0x40800000, 0x3f000000}[mod.Omod&3]))
		if a == 1<<31 {
			a = 0
		}
	}
	if !mod.Clamp {
		return a
	}
	switch {
	case arith.IsNaNF32(a):
		if w.mode&arith.DX10Clamp != 0 {
			return 0
		}
		return a
	case a>>31 != 0:
		return 0
	}
	return min(a, 0x3f800000)
}

func (w *wave) clampF16(a uint16, mod isa.Modifiers) uint16 {
	if w.scales(mod, arith.DenormOut1664) {
		a = w.mode.Out16(arith.MulF16(a, [4]uint16{0, 0x4000, 0x4400, 0x3800}[mod.Omod&3]))
		if a == 1<<15 {
			a = 0
		}
	}
	if !mod.Clamp {
		return a
	}
	switch {
	case arith.IsNaNF16(a):
		if w.mode&arith.DX10Clamp != 0 {
			return 0
		}
		return a
	case a>>15 != 0:
		return 0
	}
	return min(a, 0x3c00)
}

func (w *wave) clampF64(a uint64, mod isa.Modifiers) uint64 {
	if w.scales(mod, arith.DenormOut1664) {
		a = w.mode.Out64(arith.MulF64(a, [4]uint64{0, 2 << 61, 0x4010 << 48, 0x3fe0 << 48}[mod.Omod&3]))
		if a == 1<<63 {
			a = 0
		}
	}
	if !mod.Clamp {
		return a
	}
	switch {
	case arith.IsNaNF64(a):
		if w.mode&arith.DX10Clamp != 0 {
			return 0
		}
		return a
	case a>>63 != 0:
		return 0
	}
	return min(a, 0x3ff0<<48)
}

// runDual runs both halves of a VOPD instruction, the first into a
// temporary row, since the second reads the registers as they were.
func runDual(w *wave, o *op) {
	o.inner(w, o)
	o.dual.run(w, o.dual)
	t, d := &w.rows[tmpDual], &w.rows[o.final]
	if w.exec == w.full {
		copy(d[:w.n], t[:w.n])
		return
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = t[i]
	}
}
