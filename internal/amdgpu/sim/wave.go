package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Indices of s for registers other than s0 to s105.
const (
	regFlatScratch = 102 // of gfx90a, whose SGPRs end at s101
	regXnackMask   = 104
	regVCC         = 106
	regTTMP        = 108
	regM0          = 124
	regHWScratch   = 126 // of gfx10 and later, which reach it by s_setreg
	numScalars     = 128
)

// The rows of a wave before v0 are temporaries: 0 and 1 hold a result before
// clamp and the like, 2 the result of the first half of a VOPD, 3 a result
// of which the active lanes are taken, 4 and 5 a source that DPP permuted.
const (
	tmpOut    = 0
	tmpDual   = 2
	tmpMerge  = 3
	tmpDPP    = 4
	firstVGPR = 6
)

// A wave is the state of one wave.
type wave struct {
	// rows are firstVGPR temporary rows, the VGPRs, then the AGPRs.
	rows []lanes
	exec uint64
	full uint64 // exec with every lane of the wave size
	n    int    // lanes: 32 or 64
	s    [numScalars]uint32
	scc  uint32 // 0 or 1

	// Of uops: the constants of the unit, where a lane mask goes that nobody
	// wants, which uop stopped and which lanes it left. With AVX2, maskRow is
	// maskOf by lane.
	consts   [maxConsts]uint32
	sink     uint64
	stopped  int32
	todo     uint64
	maskOf   uint64
	maskRow  lanes
	elements [quarters]uint64 // of loads by AVX2, where each quarter's are
	spill    lanes            // of the same, eight registers
	sites    *site            // of the unit
	mem      memCount         // since the last call of count
	passes   []spanPass
	epoch    uint64   // see doubt
	race     raceView // with checks: that of memory that work-groups share

	mode arith.Mode
	arch isa.Arch

	// gprIdx is set between s_set_gpr_idx_on and s_set_gpr_idx_off. M0 holds
	// the index in bits 7:0 and in bits 15:12 what it is for: 1 source 0, 2
	// source 1, 4 source 2, 8 the destination.
	gprIdx bool

	pc    int32 // index of the next op
	at    int32 // index of the op that executes
	state waveState
	err   error // why state is waveFailed

	g  *group
	id int // in the work-group

	unit  *unit  // whose ops execute
	live  uint64 // lanes that the work-group has, exec at the start
	steps int64

	scratch scratchMemory
	masked  []maskedBarrier
	effects []*op // stores since the last barrier
	missed  bool  // ended before a barrier that others came to
	shadow  waveShadow
	from    origins
	fromSCC origin

	tmp   [3][2]lanes // modified sources
	pairs [4][2]lanes // of packed instructions: sources, and a result that waits

	trans arith.Transcendental
}

type waveState uint8

const (
	waveRunning waveState = iota
	waveBarrier
	waveEnded
	waveFailed
)

// row returns the dwords of a source, the low ones of a 64-bit source.
func (w *wave) row(s *src) *lanes {
	if s.kind == srcRow {
		return &w.rows[s.reg]
	}
	return w.otherRow(s)
}

// hi returns the high dwords of a 64-bit source.
func (w *wave) hi(s *src) *lanes {
	if s.kind == srcRow {
		return &w.rows[s.reg+1]
	}
	return w.otherHi(s)
}

// out returns the row that a result goes to.
func (w *wave) out(o *op) *lanes { return &w.rows[o.dst] }

// old returns the destination register before the instruction, the
// accumulator of v_fmac; oldHi its high dwords.
func (w *wave) old(o *op) *lanes   { return &w.rows[o.final] }
func (w *wave) oldHi(o *op) *lanes { return &w.rows[o.final+1] }

// outHi returns the row of the high dwords of a 64-bit result.
func (w *wave) outHi(o *op) *lanes { return &w.rows[o.dst+1] }

func (w *wave) otherRow(s *src) *lanes {
	switch s.kind {
	case srcConst:
		return s.c
	case srcMod:
		return w.modRow(s)
	case srcSGPR:
		return w.broadcast(int(s.reg), w.s[s.reg])
	}
	return w.fill(&w.tmp[s.slot%3][0], w.s32(s))
}

func (w *wave) otherHi(s *src) *lanes {
	switch s.kind {
	case srcConst:
		return s.x.chi
	case srcMod:
		return w.modHi(s)
	case srcSGPR:
		return w.broadcast(int(s.reg)+1, w.s[s.reg+1])
	}
	return w.fill(&w.tmp[s.slot%3][1], uint32(w.s64(s)>>32))
}

// broadcast returns a row of v. Each SGPR has a row that is only refilled
// when the register has another value than last time: every lane of it is
// equal, so lane 0 tells.
func (w *wave) broadcast(reg int, v uint32) *lanes {
	r := &w.g.broadcasts[reg]
	if r[0] != v {
		w.fill(r, v)
	}
	return r
}

func (w *wave) fill(r *lanes, v uint32) *lanes {
	for i := range r {
		r[i] = v
	}
	return r
}

// s32 returns a 32-bit scalar source.
func (w *wave) s32(s *src) uint32 {
	switch s.kind {
	case srcSGPR:
		return w.s[s.reg]
	case srcConst:
		return uint32(s.x.imm)
	case srcExec:
		return uint32(w.exec >> (32 * uint(s.reg)))
	case srcSCC:
		return w.scc
	case srcVCCZ:
		return b2u(w.vcc() == 0)
	case srcEXECZ:
		return b2u(w.exec == 0)
	case srcRow:
		return w.rows[s.reg][w.firstLane()]
	}
	return 0
}

// s64 returns a 64-bit scalar source.
func (w *wave) s64(s *src) uint64 {
	switch s.kind {
	case srcSGPR:
		return uint64(w.s[s.reg]) | uint64(w.s[s.reg+1])<<32
	case srcConst:
		return s.x.imm
	case srcExec:
		return w.exec
	}
	return uint64(w.s32(s))
}

// mask returns a source that holds a bit for each lane.
func (w *wave) mask(s *src) uint64 {
	if w.n == 32 {
		return uint64(w.s32(s))
	}
	return w.s64(s)
}

// vcc returns vcc as a lane mask.
func (w *wave) vcc() uint64 {
	if w.n == 32 {
		return uint64(w.s[regVCC])
	}
	return uint64(w.s[regVCC]) | uint64(w.s[regVCC+1])<<32
}

// setS32 writes the scalar result of o.
func (w *wave) setS32(o *op, v uint32) {
	switch o.sd.kind {
	case sdstSGPR:
		w.s[o.sd.reg] = v
	case sdstExec:
		w.setExec(w.exec&^(0xffffffff<<(32*uint(o.sd.reg))) | uint64(v)<<(32*uint(o.sd.reg)))
	}
}

// setS64 writes the 64-bit scalar result of o.
func (w *wave) setS64(o *op, v uint64) {
	switch o.sd.kind {
	case sdstSGPR:
		w.s[o.sd.reg], w.s[o.sd.reg+1] = uint32(v), uint32(v>>32)
	case sdstExec:
		w.setExec(v)
	}
}

// setMask writes the lane mask that o results in.
func (w *wave) setMask(o *op, m uint64) {
	if w.n == 32 {
		w.setS32(o, uint32(m))
		return
	}
	w.setS64(o, m)
}

// setExec writes exec.
func (w *wave) setExec(m uint64) { w.exec = m & w.full }

// firstLane is the lane that scalar reads of a VGPR take: the lowest active
// one, or 0 where none is.
func (w *wave) firstLane() int {
	if w.exec == 0 {
		return 0
	}
	return bits.TrailingZeros64(w.exec)
}

// refuse ends the wave, and with it the launch.
func (w *wave) refuse(o *op, reason string) {
	w.fail(&refusal{o.in.Name, o.in.PC, reason})
}

// active is the number of active lanes.
func (w *wave) active() int { return bits.OnesCount64(w.exec) }

func (w *wave) fail(err error) {
	w.state = waveFailed
	if w.err == nil {
		w.err = err
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
