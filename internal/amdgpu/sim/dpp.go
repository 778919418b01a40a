package sim

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Data-parallel primitives (DPP): source 0 comes from another lane. What
// moves where is in LLVM's "Syntax of AMDGPU Instruction Modifiers", and in
// the sections on DPP of AMD's ISA guides for Vega, RDNA 2 and RDNA 3:
//
//   - A source lane is invalid that lies outside of the row, or the wave of
//     wave_shl and wave_shr, or that is inactive. With bound_ctrl an invalid
//     lane reads as zero; without, the lane that wants it is disabled: it
//     keeps its destination.
//   - With fi (fetch inactive, gfx10 and later) a lane that is inactive is
//     valid and gives what its register holds.
//   - DPP8 has no bound_ctrl: without fi an inactive lane reads as zero.
//   - row_mask and bank_mask disable lanes as destinations only.
//   - Lanes without a previous row (row_bcast:15 in row 0, row_bcast:31 in
//     rows 0 and 1) have an invalid source.
//
// A disabled lane does as one that exec masks off: a compare gives zero.

// A dppOp is what an op with DPP adds.
type dppOp struct {
	from  [64]int8 // the lane each lane reads, -1 for none
	write uint64   // lanes that row_mask and bank_mask let write
	zero  bool     // an invalid lane reads as zero
	fetch bool     // inactive lanes are valid

	row, n   int32 // source 0: its first row and how many
	setsExec bool

	run, shadow handler
}

// dppSource puts the temporary rows in the place of source 0.
func (c *compiler) dppSource(in *isa.Inst, s *src, o *op) error {
	if s.kind != srcRow || in.Src[0].Kind != isa.VGPR {
		return errors.New("source 0 of DPP is no vector register")
	}
	if strings.HasPrefix(in.Name, "v_movrel") {
		return errors.New("relative registers are not interpreted together with DPP")
	}
	o.dpp = &dppOp{row: s.reg, n: max(1, int32(in.Src[0].Width)), setsExec: strings.HasPrefix(in.Name, "v_cmpx")}
	s.reg = tmpDPP
	return nil
}

// dpp wraps o so that source 0 is fetched from other lanes.
func (c *compiler) dpp(in *isa.Inst, o *op) error {
	x := o.dpp
	if x == nil || x.n > 2 {
		return errors.New("has no source that DPP could permute")
	}
	for i := range o.src {
		if o.src[i].kind == srcExec {
			return errors.New("exec as a source is not interpreted together with DPP")
		}
	}
	d := &in.DPP
	from, err := dppControl(in)
	if err != nil {
		return err
	}
	for i := range x.from {
		x.from[i] = int8(from(i))
		if in.Form == isa.DPP8 || d.RowMask>>(i/16)&1 != 0 && d.BankMask>>(i/4%4)&1 != 0 {
			x.write |= 1 << i
		}
	}
	x.zero = d.BoundCtl || in.Form == isa.DPP8
	x.fetch = d.FI
	x.run, o.run = o.run, runDPP
	return nil
}

// dppControl returns the lane that each lane reads, -1 for none.
func dppControl(in *isa.Inst) (func(i int) int, error) {
	if in.Form == isa.DPP8 {
		sel := in.DPP.Lanes
		return func(i int) int { return i&^7 + int(sel>>(3*(i&7))&7) }, nil
	}
	ctrl := in.DPP.Ctrl
	gfx9, n := in.Arch == isa.GFX90A, int(ctrl&15)
	if gfx9 && ctrl&^15 != 0x150 && wideDPP(in) {
		return nil, errors.New("DPP of 64-bit operands knows row_newbcast only")
	}
	inRow := func(to int, i int) int { // lane `to` of i's row
		if to < 0 || to > 15 {
			return -1
		}
		return i&^15 + to
	}
	switch {
	case ctrl <= 0xff: // quad_perm
		return func(i int) int { return i&^3 + int(ctrl>>(2*(i&3))&3) }, nil
	case ctrl > 0x100 && ctrl <= 0x10f: // row_shl
		return func(i int) int { return inRow(i&15+n, i) }, nil
	case ctrl > 0x110 && ctrl <= 0x11f: // row_shr
		return func(i int) int { return inRow(i&15-n, i) }, nil
	case ctrl > 0x120 && ctrl <= 0x12f: // row_ror
		return func(i int) int { return inRow((i-n)&15, i) }, nil
	case ctrl == 0x140: // row_mirror
		return func(i int) int { return i ^ 15 }, nil
	case ctrl == 0x141: // row_half_mirror
		return func(i int) int { return i ^ 7 }, nil
	case ctrl&^15 == 0x150: // row_newbcast, from gfx10 on row_share
		return func(i int) int { return inRow(n, i) }, nil
	case ctrl&^15 == 0x160 && !gfx9: // row_xmask
		return func(i int) int { return i ^ n }, nil
	}
	if gfx9 {
		switch ctrl {
		case 0x130: // wave_shl:1
			return func(i int) int { return (i+1)%64 - b2i(i == 63) }, nil
		case 0x134: // wave_rol:1
			return func(i int) int { return (i + 1) & 63 }, nil
		case 0x138: // wave_shr:1
			return func(i int) int { return i - 1 }, nil
		case 0x13c: // wave_ror:1
			return func(i int) int { return (i - 1) & 63 }, nil
		case 0x142: // row_bcast:15
			return func(i int) int { return i&^15 - 1 }, nil
		case 0x143: // row_bcast:31
			return func(i int) int { return i&^31 - 1 }, nil
		}
	}
	return nil, fmt.Errorf("DPP control 0x%x is not defined on %v", ctrl, in.Arch)
}

func b2i(b bool) int { return int(b2u(b)) }

// wideDPP reports whether an instruction goes to gfx90a's double-precision
// unit, by its operands of 64 bits.
func wideDPP(in *isa.Inst) bool {
	wide := func(o *isa.Operand) bool { return o.Kind == isa.VGPR && o.Width > 1 }
	for i := range in.Src[:in.NSrc] {
		if wide(&in.Src[i]) {
			return true
		}
	}
	return wide(&in.Dst[0])
}

// lanes returns the lanes that take part, and those of them that read zero.
func (x *dppOp) lanes(exec uint64) (active, zero uint64) {
	active = exec & x.write
	var invalid uint64
	for m := active; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if j := x.from[i]; j < 0 || exec>>(j&63)&1 == 0 && !x.fetch {
			invalid |= 1 << i
		}
	}
	if x.zero {
		return active, invalid
	}
	return active &^ invalid, 0
}

// runDPP runs a handler with source 0 permuted and exec reduced.
func runDPP(w *wave, o *op) {
	x, exec := o.dpp, w.exec
	active, zero := x.lanes(exec)
	for k := range x.n {
		a, d := &w.rows[x.row+k], &w.rows[tmpDPP+k]
		for i := range d[:w.n] {
			d[i] = a[x.from[i]&63]
		}
		for m := zero; m != 0; m &= m - 1 {
			d[bits.TrailingZeros64(m)&63] = 0
		}
	}
	w.exec = active
	x.run(w, o)
	if !x.setsExec {
		w.exec = exec
	}
}

// shadowDPP moves the state of the lanes as runDPP moves their values.
func shadowDPP(w *wave, o *op) {
	x, exec := o.dpp, w.exec
	active, zero := x.lanes(exec)
	for k := range x.n {
		s := w.shadow.v[x.row+k]
		d := halves{zero, zero}
		for m := active &^ zero; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			j := x.from[i] & 63
			d.lo |= s.lo >> j & 1 << i
			d.hi |= s.hi >> j & 1 << i
		}
		w.shadow.v[tmpDPP+k] = d
		w.from.v[tmpDPP+k] = w.from.v[x.row+k]
	}
	w.exec = active
	x.shadow(w, o)
	w.exec = exec
}
