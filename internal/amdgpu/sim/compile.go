package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A compiler makes ops of instructions.
type compiler struct {
	arch   isa.Arch
	wave   int // lanes
	specs  map[string]spec
	consts map[uint32]*lanes
	vgprs  int // rows of VGPRs; AGPRs follow
}

func newCompiler(arch isa.Arch, wave int, specs map[string]spec) *compiler {
	return &compiler{arch: arch, wave: wave, specs: specs, consts: map[uint32]*lanes{}, vgprs: 256}
}

// constant returns a row with v in every lane.
func (c *compiler) constant(v uint32) *lanes {
	r := c.consts[v]
	if r == nil {
		r = new(lanes)
		for i := range r {
			r[i] = v
		}
		c.consts[v] = r
	}
	return r
}

// compile makes the op of one instruction. One that cannot be executed
// becomes an op that refuses when it is met: unreachable code, and data
// among the code, does no harm.
func (c *compiler) compile(in *isa.Inst) op {
	o, err := c.try(in)
	if err != nil {
		return refusedOp(in, err.Error())
	}
	return o
}

func refusedOp(in *isa.Inst, reason string) op {
	return op{in: in, aux: reason, target: -1, run: func(w *wave, o *op) { w.refuse(o, o.aux.(string)) }}
}

func (c *compiler) try(in *isa.Inst) (op, error) {
	o := op{in: in, imm: in.Imm, target: -1, mod: in.Mod, dst: tmpOut, final: tmpOut}
	if in.Doubtful() {
		return o, errors.New("names registers or halves of registers that are not modelled; compile without the target feature real-true16")
	}
	name := in.Name
	if rest, ok := strings.CutPrefix(name, "v_dual_"); ok {
		name = "v_" + rest
	}
	if isMemory(in.Enc) {
		o.class = classify(in)
		return o, c.memory(in, &o)
	}
	sp, ok := c.specs[name]
	if !ok {
		return o, errors.New(refusalReason(in))
	}
	o.run, o.out, o.class = sp.run, sp.out, classify(in)
	if isVALU(in.Enc) {
		o.flags |= opVALU
	}
	for i := range in.Dst[:in.NDst] {
		if err := c.dest(&in.Dst[i], &o); err != nil {
			return o, err
		}
	}
	if strings.HasPrefix(name, "v_cmpx") && o.sd.kind == sdstNone {
		o.sd = sdst{kind: sdstExec, width: uint8(c.wave / 32)}
	}
	if int(in.NSrc) > len(o.src) {
		return o, fmt.Errorf("has %d sources", in.NSrc)
	}
	for i := range in.Src[:in.NSrc] {
		s, err := c.source(&in.Src[i], i)
		if err != nil {
			return o, err
		}
		if i == 0 && isDPP(in) {
			if err := c.dppSource(in, &s, &o); err != nil {
				return o, err
			}
		}
		o.src[i] = c.modified(in, s, i)
	}
	if sp.prep != nil {
		if err := sp.prep(c, in, &o); err != nil {
			return o, err
		}
	}
	if c.needsFinish(in, &o) {
		o.inner, o.run = o.run, runModified
		o.dst = tmpOut
	}
	if isDPP(in) {
		if err := c.dpp(in, &o); err != nil {
			return o, err
		}
	}
	if in.Y != nil {
		y, err := c.try(in.Y)
		if err != nil {
			return o, fmt.Errorf("%s: %w", in.Y.Name, err)
		}
		o.dual = &y
		o.inner, o.run = o.run, runDual
		o.dst = tmpDual
	}
	c.shadow(in, &o)
	if o.dpp != nil && o.shadow != nil {
		o.dpp.shadow, o.shadow = o.shadow, shadowDPP
	}
	return o, nil
}

// needsFinish reports whether the result cannot go straight to its
// register.
func (c *compiler) needsFinish(in *isa.Inst, o *op) bool {
	if o.final == tmpOut {
		return false
	}
	if in.Form == isa.SDWA && in.SDWA.Dst != isa.DWord {
		return true
	}
	switch o.out {
	case outB32:
		return false
	case outF16, outB16:
		if c.arch != isa.GFX90A || in.Mod.OpSel&8 != 0 {
			return true
		}
	case outF16Keep, outB16Keep:
		return true
	}
	return in.Mod.Clamp || in.Mod.Omod != 0
}

// dest resolves a destination.
func (c *compiler) dest(d *isa.Operand, o *op) error {
	switch d.Kind {
	case isa.VGPR, isa.AGPR:
		o.dst = c.rowOf(d)
		o.final = o.dst
	case isa.SGPR, isa.TTMP, isa.Special:
		sd, err := scalarDest(d)
		if err != nil {
			return err
		}
		o.sd = sd
	case isa.None, isa.Off:
	default:
		return fmt.Errorf("has a destination of kind %d", d.Kind)
	}
	return nil
}

func (c *compiler) rowOf(d *isa.Operand) int32 {
	if d.Kind == isa.AGPR {
		return int32(firstVGPR + c.vgprs + int(d.Reg))
	}
	return int32(firstVGPR + int(d.Reg))
}

func scalarDest(d *isa.Operand) (sdst, error) {
	switch d.Kind {
	case isa.SGPR:
		return sdst{sdstSGPR, int32(d.Reg), d.Width}, nil
	case isa.TTMP:
		return sdst{sdstSGPR, int32(regTTMP + d.Reg), d.Width}, nil
	}
	switch d.Reg {
	case isa.EXEC:
		return sdst{sdstExec, 0, d.Width}, nil
	case isa.EXECHi:
		return sdst{sdstExec, 1, d.Width}, nil
	case isa.NULL:
		return sdst{}, nil
	}
	if r, ok := specialSGPR(d.Reg); ok {
		return sdst{sdstSGPR, r, d.Width}, nil
	}
	return sdst{}, fmt.Errorf("writes special register %d", d.Reg)
}

// specialSGPR returns where in wave.s a special register is.
func specialSGPR(r uint16) (int32, bool) {
	switch r {
	case isa.VCC:
		return regVCC, true
	case isa.VCCHi:
		return regVCC + 1, true
	case isa.M0:
		return regM0, true
	case isa.FlatScratch:
		return regFlatScratch, true
	case isa.FlatScratchHi:
		return regFlatScratch + 1, true
	case isa.XnackMask:
		return regXnackMask, true
	case isa.XnackMaskHi:
		return regXnackMask + 1, true
	}
	return 0, false
}

// source resolves a source.
func (c *compiler) source(s *isa.Operand, slot int) (src, error) {
	r := src{slot: uint8(slot)}
	switch s.Kind {
	case isa.None, isa.Off:
		r.kind = srcNone
	case isa.VGPR, isa.AGPR:
		r.kind, r.reg = srcRow, c.rowOf(s)
	case isa.SGPR:
		r.kind, r.reg = srcSGPR, int32(s.Reg)
	case isa.TTMP:
		r.kind, r.reg = srcSGPR, int32(regTTMP+s.Reg)
	case isa.InlineInt, isa.InlineFloat, isa.Literal, isa.Const:
		return c.constSource(s.Imm, slot), nil
	case isa.Special:
		if reg, ok := specialSGPR(s.Reg); ok {
			r.kind, r.reg = srcSGPR, reg
			break
		}
		switch s.Reg {
		case isa.EXEC:
			r.kind = srcExec
		case isa.EXECHi:
			r.kind, r.reg = srcExec, 1
		case isa.SCC:
			r.kind = srcSCC
		case isa.VCCZ:
			r.kind = srcVCCZ
		case isa.EXECZ:
			r.kind = srcEXECZ
		case isa.NULL:
			return c.constSource(0, slot), nil
		case isa.SharedBase:
			return c.constSource(sharedBase, slot), nil
		case isa.PrivateBase:
			return c.constSource(privateBase, slot), nil
		case isa.SharedLimit:
			return c.constSource(sharedBase|0xffffffff, slot), nil
		case isa.PrivateLimit:
			return c.constSource(privateBase|0xffffffff, slot), nil
		default:
			return r, fmt.Errorf("reads special register %d", s.Reg)
		}
	default:
		return r, fmt.Errorf("has a source of kind %d", s.Kind)
	}
	return r, nil
}

func (c *compiler) constSource(v uint64, slot int) src {
	return src{
		kind: srcConst, slot: uint8(slot), c: c.constant(uint32(v)),
		x: &srcExtra{imm: v, chi: c.constant(uint32(v >> 32))},
	}
}

// modified adds the modifiers of source i. Those of VOP3P are its
// handlers' own, and so is op_sel of instructions on whole dwords.
func (c *compiler) modified(in *isa.Inst, s src, i int) src {
	if in.Enc == isa.VOP3P || !isVALU(in.Enc) {
		return s
	}
	x := srcExtra{base: s, sel: isa.DWord, typ: in.Src[i].Type}
	x.neg = in.Mod.Neg>>i&1 != 0
	x.abs = in.Mod.Abs>>i&1 != 0
	if x.typ == isa.B32 && isDPP(in) && strings.HasSuffix(in.Name, "_f16") {
		x.typ = isa.F16 // the operand of DPP is a register, which tells no type
	}
	half := x.typ == isa.F16 || x.typ == isa.I16 || x.typ == isa.BF16
	switch {
	case in.Form == isa.SDWA && i < 2:
		x.sel = [2]isa.Sel{in.SDWA.Src0, in.SDWA.Src1}[i]
		x.sext = in.SDWA.Sext>>i&1 != 0
	case half && in.Mod.OpSel>>i&1 != 0:
		x.sel = isa.Word1
	}
	if !x.neg && !x.abs && x.sel == isa.DWord {
		return s
	}
	return src{kind: srcMod, slot: s.slot, x: &x}
}

func isVALU(e isa.Encoding) bool {
	switch e {
	case isa.VOP1, isa.VOP2, isa.VOPC, isa.VOP3, isa.VOP3P, isa.VOPD:
		return true
	}
	return false
}

func isDPP(in *isa.Inst) bool { return in.Form == isa.DPP16 || in.Form == isa.DPP8 }

func isMemory(e isa.Encoding) bool {
	switch e {
	case isa.SMEM, isa.DS, isa.MUBUF, isa.MTBUF, isa.FLAT, isa.GLOBAL, isa.SCRATCH:
		return true
	}
	return false
}

// refusalReason says why an instruction without handler is not executed.
func refusalReason(in *isa.Inst) string {
	switch {
	case strings.HasPrefix(in.Name, "v_dot"):
		return "dot products of floats are not interpreted, since how they round is not documented"
	case strings.Contains(in.Name, "mfma") || strings.Contains(in.Name, "wmma"):
		return "matrix instructions are not interpreted, since their order of accumulation is not documented"
	case in.Enc == isa.MIMG || in.Enc == isa.EXP || in.Enc == isa.MTBUF || in.Enc == isa.VINTRP || in.Enc == isa.VINTERP || in.Enc == isa.LDSDIR:
		return "graphics instructions are not interpreted"
	}
	switch in.Name {
	case "s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join":
		return "keeps a stack of lane masks in SGPRs, which compilers do not use: they branch on exec"
	case "s_setvskip":
		return "skips vector instructions at will, which compilers do not use"
	case "s_subvector_loop_begin", "s_subvector_loop_end":
		return "executes the halves of a wave64 apart, which compilers do not use"
	}
	return "not interpreted"
}

func classify(in *isa.Inst) class {
	n := in.Name
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(n, p) {
				return true
			}
		}
		return false
	}
	switch in.Enc {
	case isa.SOP1, isa.SOP2, isa.SOPC, isa.SOPK:
		if strings.HasPrefix(n, "s_cbranch") || has("setpc", "swappc", "s_call") {
			return classBranch
		}
		return classSALU
	case isa.SOPP:
		switch {
		case strings.HasPrefix(n, "s_cbranch"), n == "s_branch":
			return classBranch
		case n == "s_barrier":
			return classBarrier
		}
		return classOther
	case isa.SMEM:
		return classSMEM
	case isa.DS:
		return classLDS
	case isa.SCRATCH:
		return classScratch
	case isa.FLAT, isa.GLOBAL, isa.MUBUF, isa.MTBUF:
		switch {
		case has("atomic"):
			return classGlobalAtomic
		case has("store"):
			return classGlobalStore
		case has("load"):
			return classGlobalLoad
		}
		return classOther
	}
	switch {
	case !isVALU(in.Enc):
		return classOther
	case strings.HasPrefix(n, "v_cvt"):
		return classVALUCvt
	case has("v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"):
		return classVALUTrans
	case has("_f64"):
		return classVALU64
	case has("_f32"):
		return classVALU32
	case has("_f16"):
		return classVALU16
	}
	return classVALUInt
}
