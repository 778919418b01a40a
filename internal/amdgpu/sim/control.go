package sim

import (
	"fmt"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// controlOps are the instructions that steer a wave.
var controlOps = map[string]spec{
	"s_endpgm":  {run: func(w *wave, o *op) { w.state = waveEnded }},
	"s_barrier": {run: func(w *wave, o *op) { w.state = waveBarrier }},

	"s_branch":         {run: branch},
	"s_cbranch_scc0":   {run: branchIf(func(w *wave) bool { return w.scc == 0 })},
	"s_cbranch_scc1":   {run: branchIf(func(w *wave) bool { return w.scc != 0 })},
	"s_cbranch_vccz":   {run: branchIf(func(w *wave) bool { return w.vcc() == 0 })},
	"s_cbranch_vccnz":  {run: branchIf(func(w *wave) bool { return w.vcc() != 0 })},
	"s_cbranch_execz":  {run: branchIf(func(w *wave) bool { return w.exec == 0 })},
	"s_cbranch_execnz": {run: branchIf(func(w *wave) bool { return w.exec != 0 })},

	"s_getpc_b64": {run: func(w *wave, o *op) { w.setS64(o, w.next(o)) }},
	"s_setpc_b64": {run: func(w *wave, o *op) { w.jump(w.s64(&o.src[0])) }},
	"s_swappc_b64": {run: func(w *wave, o *op) {
		to := w.s64(&o.src[0])
		w.setS64(o, w.next(o))
		w.jump(to)
	}},
	"s_call_b64": {run: func(w *wave, o *op) {
		w.setS64(o, w.next(o))
		branch(w, o)
	}},

	"s_getreg_b32":       {run: getreg},
	"s_setreg_b32":       {run: setreg}, // source 0 is simm16
	"s_setreg_imm32_b32": {run: setreg},
	"s_round_mode":       {run: func(w *wave, o *op) { w.setMode(w.mode&^0xf | arith.Mode(o.imm&0xf)) }},
	"s_denorm_mode":      {run: func(w *wave, o *op) { w.setMode(w.mode&^0xf0 | arith.Mode(o.imm&0xf)<<4) }},

	"s_sendmsg": {run: sendmsg},
	"s_trap":    {run: trap},

	// Memory operations complete at once and in order, so that there is
	// nothing to wait for; the rest steers caches and priorities.
	"s_waitcnt":                    {run: nop},
	"s_waitcnt_vscnt":              {run: nop},
	"s_waitcnt_vmcnt":              {run: nop},
	"s_waitcnt_expcnt":             {run: nop},
	"s_waitcnt_lgkmcnt":            {run: nop},
	"s_waitcnt_depctr":             {run: nop},
	"s_wait_idle":                  {run: nop},
	"s_wait_event":                 {run: nop},
	"s_delay_alu":                  {run: nop},
	"s_clause":                     {run: nop},
	"s_nop":                        {run: nop},
	"s_sleep":                      {run: nop},
	"s_setprio":                    {run: nop},
	"s_wakeup":                     {run: nop},
	"s_inst_prefetch":              {run: nop},
	"s_set_inst_prefetch_distance": {run: nop},
	"s_icache_inv":                 {run: nop},
	"s_incperflevel":               {run: nop},
	"s_decperflevel":               {run: nop},
	"s_ttracedata":                 {run: nop},
	"s_ttracedata_imm":             {run: nop},
	"s_version":                    {run: nop},
}

func nop(*wave, *op) {}

// next is the address in memory of the instruction after o.
func (w *wave) next(o *op) uint64 {
	return w.g.l.kernel.mod.image.base + o.in.PC + uint64(o.in.Size)
}

func branch(w *wave, o *op) {
	if o.target >= 0 {
		w.pc = o.target
		return
	}
	w.jump(w.g.l.kernel.mod.image.base + o.in.Target())
}

func branchIf(cond func(w *wave) bool) handler {
	return func(w *wave, o *op) {
		if cond(w) {
			branch(w, o)
		}
	}
}

// sendmsg ignores messages that have no effect on results.
func sendmsg(w *wave, o *op) {
	const deallocVGPRs = 3 // gfx11; elsewhere a graphics message
	if w.arch == isa.GFX1100 && o.imm == deallocVGPRs {
		return
	}
	w.refuse(o, fmt.Sprintf("message %d is not interpreted", o.imm))
}

func trap(w *wave, o *op) {
	w.refuse(o, fmt.Sprintf("trap %d: the kernel aborted itself (abort, a failed assertion, code marked unreachable)", o.imm))
}

// Hardware registers of s_getreg and s_setreg.
const (
	hwregMode       = 1
	hwregHWID       = 4 // gfx9
	hwregMemBases   = 15
	hwregScratchLo  = 20 // gfx10
	hwregScratchHi  = 21
	hwregHWID1      = 23
	hwregHWID2      = 24
	hwregShaderTime = 29
)

// hwreg splits simm16: the register, and which bits of it.
func hwreg(imm int32) (id int, offset, width uint32) {
	return int(imm & 63), uint32(imm >> 6 & 31), uint32(imm>>11&31) + 1
}

func getreg(w *wave, o *op) {
	id, offset, width := hwreg(o.imm)
	var v uint32
	switch {
	case id == hwregMode:
		v = uint32(w.mode)
	case id == hwregHWID && w.arch == isa.GFX90A:
		v = uint32(w.id & 15)
	case id == hwregHWID1 || id == hwregHWID2:
		v = uint32(w.id & 31)
	case id == hwregMemBases:
		v = privateBase>>48 | sharedBase>>48<<16 // of their addresses' highest 16 bits
	case id == hwregScratchLo || id == hwregScratchHi:
		v = w.s[regHWScratch+id-hwregScratchLo]
	case id == hwregShaderTime:
		v = uint32(w.steps)
	default:
		w.refuse(o, fmt.Sprintf("hardware register %d is not modelled", id))
		return
	}
	w.setS32(o, uint32(uint64(v)>>offset&(1<<width-1)))
}

func setreg(w *wave, o *op) {
	v := w.s32(&o.src[1])
	id, offset, width := hwreg(o.imm)
	field := uint32((uint64(1)<<width - 1) << offset)
	merge := func(old uint32) uint32 { return old&^field | v<<offset&field }
	switch {
	case id == hwregMode:
		w.setMode(arith.Mode(merge(uint32(w.mode))))
	case (id == hwregScratchLo || id == hwregScratchHi) && w.arch != isa.GFX90A:
		r := &w.s[regHWScratch+id-hwregScratchLo]
		*r = merge(*r)
	default:
		w.refuse(o, fmt.Sprintf("hardware register %d is not modelled", id))
	}
}

// setMode writes the MODE register. Bits that do not steer arithmetic
// (exception enables, priorities) have no effect here.
func (w *wave) setMode(m arith.Mode) { w.mode = m & arith.ModeMask }
