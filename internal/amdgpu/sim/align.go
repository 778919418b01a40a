package sim

import (
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Alignment. CUDA faults on an access that is not aligned to its size.
// These architectures manage, and therefore the compiler joins neighbouring
// loads of bytes or halves into wide ones that may lie anywhere: from the
// access alone one cannot tell what the source says. A load counts as one
// of whole dwords where its first use is arithmetic on 32 or 64 bits, a
// store where its value is the result of such. Atomics are never joined.

// findWhole marks the loads and stores of u that are of whole dwords.
func (u *unit) findWhole() {
	for i := range u.ops {
		o := &u.ops[i]
		m := o.mem
		if m == nil || m.size < 4 || m.size > 16 || o.class == classScratch || o.class == classSMEM {
			continue
		}
		switch m.kind {
		case memLoad:
			for j := i + 1; j < len(u.ops) && j < i+64; j++ {
				in := u.ops[j].in
				if used, whole := usesRow(in, m.dst); used {
					m.whole = whole
					break
				}
				if writesRow(in, m.dst) {
					break
				}
			}
		case memStore:
			for j := i - 1; j >= 0 && j > i-64; j-- {
				if in := u.ops[j].in; writesRow(in, m.data) {
					m.whole = wholeArithmetic(in)
					break
				}
			}
		}
	}
}

func covers(o *isa.Operand, row int32) bool {
	r := row - firstVGPR
	return o.Kind == isa.VGPR && r >= int32(o.Reg) && r < int32(o.Reg)+max(1, int32(o.Width))
}

func usesRow(in *isa.Inst, row int32) (used, whole bool) {
	for h := in; h != nil; h = h.Y {
		for i := range h.Src[:h.NSrc] {
			if covers(&h.Src[i], row) {
				return true, wholeArithmetic(h)
			}
		}
	}
	return false, false
}

func writesRow(in *isa.Inst, row int32) bool {
	for h := in; h != nil; h = h.Y {
		for i := range h.Dst[:h.NDst] {
			if covers(&h.Dst[i], row) {
				return true
			}
		}
	}
	return false
}

// wholeArithmetic reports whether an instruction computes with dwords, not
// with bytes or halves of them.
func wholeArithmetic(in *isa.Inst) bool {
	if !isVALU(in.Enc) || in.Form == isa.SDWA {
		return false
	}
	_, rest, _ := strings.Cut(strings.Replace(in.Name, "v_dual_", "v_", 1), "_")
	for _, p := range []string{"add_", "sub_", "subrev_", "mul_", "fma_f", "fmac_f", "fmaak_f32", "fmamk_f32", "mac_f32", "max_f", "min_f", "rcp_f", "sqrt_f", "exp_f", "log_f", "rsq_f",
		"cmp_", "cmpx_", "pk_add_f32", "pk_mul_f32", "pk_fma_f32", "mad_u64", "mad_i64", "div_"} {
		if strings.HasPrefix(rest, p) {
			return strings.Contains(rest, "32") || strings.Contains(rest, "64")
		}
	}
	return false
}

// checkAlignment notes misaligned accesses by lanes of mask, addresses in
// g.ea.
func (g *group) checkAlignment(w *wave, o *op, r *region, mask uint64) {
	m := o.mem
	align := uint64(0)
	switch {
	case m.kind == memAtomic:
		align = uint64(m.size)
	case m.whole:
		align = 4
	default:
		return
	}
	var all uint64
	for x := mask; x != 0; x &= x - 1 {
		all |= g.ea[bits.TrailingZeros64(x)&63]
	}
	if all&(align-1) == 0 {
		return
	}
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		if g.ea[i]&(align-1) == 0 {
			continue
		}
		b, off := r, int64(g.ea[i])
		if b == nil {
			b = g.mem.nearest(g.ea[i])
		}
		space := "global"
		if b != nil {
			space, off = b.space, int64(g.ea[i]-b.base)
		}
		g.note(w, o, i, findingKey{check: gpu.Misaligned, space: space, access: m.fold.String(), buffer: b}, off, m.size, func(f *gpu.Finding) {
			f.Detail = "the address is no multiple of " + string(rune('0'+align))
		})
	}
}
