package sim

import (
	"fmt"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// The contract between the interpreter's core and instruction semantics.
//
// Each isa.Inst is compiled once, when a module is loaded, into an op: a
// handler and resolved operands. Executing it looks nothing up and
// allocates nothing.
//
// A register is a row: one dword for each of 64 lanes, of which a wave32
// uses the first 32. A handler of a vector instruction reads source rows,
// and writes the active lanes of the destination row:
//
//	func vAddF32(w *wave, o *op) {
//		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
//		if w.exec == w.full {
//			for i := range d[:w.n] {
//				d[i] = arith.AddF32(a[i], b[i])
//			}
//			return
//		}
//		for m := w.exec; m != 0; m &= m - 1 {
//			i := bits.TrailingZeros64(m) & 63
//			d[i] = arith.AddF32(a[i], b[i])
//		}
//	}
//
// Where speed does not matter, map1, map2, ... make the handler from a
// function on one lane. What the core takes care of, so that handlers see
// plain rows:
//
//   - kinds of sources: VGPR, AGPR, SGPR, special register, constants;
//   - abs, neg, op_sel and SDWA selects of sources (not of VOP3P, whose
//     handlers read o.mod), by the operand's isa.Type;
//   - clamp and omod of a float result (spec.out says of which type), SDWA
//     dst_sel, the half of a 16-bit result;
//   - DPP: src[0] is permuted and exec reduced to the lanes that take part;
//   - VOPD: both halves read before either writes;
//   - checks and counters.
//
// Rules for handlers:
//
//   - Lane i reads all its sources before it writes: the destination may be
//     one of the sources. A handler that crosses lanes copies its sources.
//   - A 16-bit source is in the low half of its row; what is above is
//     unspecified. A 16-bit result is written zero-extended.
//   - A 64-bit source is w.row (low) and w.hi (high), a 64-bit result w.out
//     and w.outHi.
//   - The accumulator of v_fmac and its like, which is no source operand, is
//     w.old, not w.out.
//   - Lane masks (vcc, the carries of v_add_co, the select of v_cndmask) are
//     read with w.mask and written with w.setMask, for compares with zeros
//     in inactive lanes.
//   - Scalar instructions use w.s32, w.s64, w.setS32, w.setS64 and w.scc.
//   - What cannot be executed (a combination that is not modelled) is
//     refused when compiled, by spec.prep, or when met, by w.refuse.
//
// What several handlers in a row cost is saved by spans (span.go). A handler of
// plain arithmetic that is hot may have a second form there: one in
// genuops/main.go for AVX-512, and a line in vectorForms or scalarForms.
// TestForms holds it to the handler.
//
// Handlers are registered by LLVM's mnemonic without encoding suffix in the
// tables that allSpecs joins. An instruction that an architecture renames is
// registered under each of its names. Semantics that differ between
// architectures under one name use w.arch, or spec.prep to pick a handler.

// lanes is one register: a dword for each lane.
type lanes = [64]uint32

// A handler executes one instruction for one wave.
type handler func(w *wave, o *op)

// A spec says how a mnemonic executes.
type spec struct {
	run handler

	// out is the type of a vector result, for clamp and omod and for which
	// part of the register is written. outB32 needs no mention.
	out outType

	// prep, where set, adjusts the op when it is compiled: picks another
	// handler by architecture or modifiers, or refuses with an error.
	prep func(c *compiler, in *isa.Inst, o *op) error
}

// An outType is the type of a vector result.
type outType uint8

const (
	outB32 outType = iota // integers and bits: clamp saturates in the handler, which reads o.mod
	outF32
	outF64
	// outF16 and outB16 are 16-bit results: on gfx90a the rest of the
	// register becomes zero, later it is kept and op_sel chooses the half.
	outF16
	outB16
	// outF16Keep and outB16Keep keep the rest on gfx90a too, as VOP3 forms
	// added with gfx9 do (v_fma_f16, v_mad_u16, v_div_fixup_f16).
	outF16Keep
	outB16Keep
	outPkF16 // VOP3P: clamp acts on both halves
	outPkF32 // gfx90a packed f32 pairs
)

// A srcKind says where a source is.
type srcKind uint8

const (
	srcRow   srcKind = iota // rows[reg]: VGPR, AGPR
	srcSGPR                 // s[reg], VCC and M0 too
	srcConst                // imm
	srcExec                 // exec; reg 1 is its high half
	srcSCC                  // 0 or 1
	srcVCCZ                 // 1 where vcc is zero
	srcEXECZ                // 1 where exec is zero
	srcMod                  // a source of another kind with modifiers, in mods
	srcNone
)

// A src is a resolved source operand.
type src struct {
	kind srcKind
	slot uint8 // its number among the op's sources, for temporary rows
	reg  int32
	c    *lanes // of srcConst: the low dword in every lane
	x    *srcExtra
}

// srcExtra is what only some sources have.
type srcExtra struct {
	imm uint64 // of srcConst: the value
	chi *lanes // of srcConst: the high dword in every lane

	// Modifiers, of srcMod.
	base     src
	neg, abs bool
	typ      isa.Type
	sel      isa.Sel // byte or word taken first, isa.DWord for all
	sext     bool
}

// An sdst is a resolved scalar destination.
type sdst struct {
	kind  sdstKind
	reg   int32
	width uint8 // dwords
}

type sdstKind uint8

const (
	sdstNone sdstKind = iota // null too
	sdstSGPR                 // s[reg]
	sdstExec                 // exec, by width and reg (1 is the high half)
)

// An op is a compiled instruction.
type op struct {
	run handler
	src [3]src

	dst   int32 // row of the vector result: where the handler writes, see w.out
	final int32 // the real destination, where dst is a temporary row; else dst
	sd    sdst  // scalar or mask result

	class  class
	flags  opFlags
	out    outType
	imm    int32 // simm16
	target int32 // of a branch: index of the op to go to, -1 outside the unit
	mod    isa.Modifiers

	inner  handler // what run wraps
	shadow handler // updates definedness before run, nil for none
	sh     *shadowOperands
	mem    *memOp
	dual   *op      // second half of VOPD
	index  *indexed // of functions with s_set_gpr_idx_on
	dpp    *dppOp   // of DPP
	aux    any      // for spec.prep and its handler
	span   *span    // that starts here

	in *isa.Inst // for everything rare, and for messages
}

type opFlags uint8

const (
	opVALU opFlags = 1 << iota // counted in lanes
)

// A class is what an instruction is counted as.
type class uint8

const (
	classOther class = iota
	classSALU
	classSMEM
	classBranch
	classBarrier
	classVALU32 // f32 arithmetic
	classVALU16
	classVALU64
	classVALUInt
	classVALUCvt
	classVALUTrans
	classGlobalLoad
	classGlobalStore
	classGlobalAtomic
	classLDS
	classScratch
	numClasses
)

var classNames = [numClasses]string{
	"other", "salu", "smem", "branch", "barrier", "valu_f32", "valu_f16", "valu_f64", "valu_int", "valu_cvt", "valu_trans",
	"global_load", "global_store", "global_atomic", "lds", "scratch",
}

// specTables returns the tables of instructions.
func specTables() []map[string]spec {
	return []map[string]spec{controlOps, saluOps, intOps, laneOps, compareOps, float32Ops, float64Ops, float16Ops, transOps, cvtOps, packedOps}
}

// allSpecs returns the instructions of all tables by mnemonic, but for
// memory instructions, whose names compiler.memory takes apart.
func allSpecs() map[string]spec {
	all := map[string]spec{}
	for _, t := range specTables() {
		for name, s := range t {
			all[name] = s
		}
	}
	return all
}

// map1 makes a handler from a function on one lane; so do the others, with
// two and three sources.
func map1(f func(a uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(a[i])
		}
	}
}

func map2(f func(a, b uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, b, d := w.row(&o.src[0]), w.row(&o.src[1]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(a[i], b[i])
		}
	}
}

func map3(f func(a, b, c uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, b, c, d := w.row(&o.src[0]), w.row(&o.src[1]), w.row(&o.src[2]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// map64x2 makes a handler of two 64-bit sources and a 64-bit result.
func map64x2(f func(a, b uint64) uint64) handler {
	return func(w *wave, o *op) {
		al, ah, bl, bh := w.row(&o.src[0]), w.hi(&o.src[0]), w.row(&o.src[1]), w.hi(&o.src[1])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(uint64(al[i])|uint64(ah[i])<<32, uint64(bl[i])|uint64(bh[i])<<32)
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}

// cmp32 makes the handler of a compare from a predicate on one lane.
func cmp32(f func(a, b uint32) bool) handler {
	return func(w *wave, o *op) {
		a, b := w.row(&o.src[0]), w.row(&o.src[1])
		var r uint64
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			if f(a[i], b[i]) {
				r |= 1 << i
			}
		}
		w.setMask(o, r)
	}
}

// cmpx makes the handler of a compare that writes exec, from that of the
// compare. gfx9 writes the scalar destination as well; later there is none,
// and the compiler makes exec the destination.
func cmpx(cmp handler) handler {
	return func(w *wave, o *op) {
		cmp(w, o)
		if o.sd.kind == sdstSGPR {
			m := uint64(w.s[o.sd.reg])
			if w.n == 64 {
				m |= uint64(w.s[o.sd.reg+1]) << 32
			}
			w.setExec(m)
		}
	}
}

// A refusal is an instruction that the interpreter does not execute. It
// ends the launch with a gpu.Fault.
type refusal struct {
	name   string
	pc     uint64
	reason string
}

func (e *refusal) Error() string {
	return fmt.Sprintf("instruction %s at 0x%x: %s", e.name, e.pc, e.reason)
}
