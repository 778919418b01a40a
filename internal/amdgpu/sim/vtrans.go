package sim

import (
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// transOps are the transcendental instructions, computed by the wave's
// model. Those on f32 but sin and cos do not depend on the mode.
var transOps = map[string]spec{
	"v_exp_f32":        {run: trans32(arith.Transcendental.ExpF32), out: outF32},
	"v_log_f32":        {run: trans32(arith.Transcendental.LogF32), out: outF32},
	"v_rcp_f32":        {run: trans32(arith.Transcendental.RcpF32), out: outF32},
	"v_rcp_iflag_f32":  {run: trans32(rcpIflag), out: outF32},
	"v_rsq_f32":        {run: trans32(arith.Transcendental.RsqF32), out: outF32},
	"v_sqrt_f32":       {run: trans32(arith.Transcendental.SqrtF32), out: outF32},
	"v_exp_legacy_f32": {run: trans32(arith.Transcendental.ExpLegacyF32), out: outF32},
	"v_log_legacy_f32": {run: trans32(arith.Transcendental.LogLegacyF32), out: outF32},
	"v_sin_f32":        {run: trans32m(arith.Transcendental.SinF32), out: outF32},
	"v_cos_f32":        {run: trans32m(arith.Transcendental.CosF32), out: outF32},

	"v_exp_f16":  {run: trans16(arith.Transcendental.ExpF16), out: outF16},
	"v_log_f16":  {run: trans16(arith.Transcendental.LogF16), out: outF16},
	"v_rcp_f16":  {run: trans16(arith.Transcendental.RcpF16), out: outF16},
	"v_rsq_f16":  {run: trans16(arith.Transcendental.RsqF16), out: outF16},
	"v_sqrt_f16": {run: trans16(arith.Transcendental.SqrtF16), out: outF16},
	"v_sin_f16":  {run: trans16(arith.Transcendental.SinF16), out: outF16},
	"v_cos_f16":  {run: trans16(arith.Transcendental.CosF16), out: outF16},

	"v_rcp_f64":  {run: trans64(arith.Transcendental.RcpF64), out: outF64},
	"v_rsq_f64":  {run: trans64(arith.Transcendental.RsqF64), out: outF64},
	"v_sqrt_f64": {run: trans64(arith.Transcendental.SqrtF64), out: outF64},
}

// rcpIflag is correctly rounded under every model. Compilers use it for
// nothing but the first estimate of an integer quotient, in a sequence that
// is exact on every chip but tolerates less than a model's step on top of
// the rounding: what an index comes out as is no matter of models.
func rcpIflag(_ arith.Transcendental, a uint32) uint32 {
	return arith.Transcendental{}.RcpIflagF32(a)
}

func trans32(f func(t arith.Transcendental, a uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.trans, a[i])
		}
	}
}

func trans32m(f func(t arith.Transcendental, m arith.Mode, a uint32) uint32) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = f(w.trans, w.mode, a[i])
		}
	}
}

func trans16(f func(t arith.Transcendental, m arith.Mode, a uint16) uint16) handler {
	return func(w *wave, o *op) {
		a, d := w.row(&o.src[0]), w.out(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = uint32(f(w.trans, w.mode, uint16(a[i])))
		}
	}
}

func trans64(f func(t arith.Transcendental, m arith.Mode, a uint64) uint64) handler {
	return func(w *wave, o *op) {
		al, ah := w.row(&o.src[0]), w.hi(&o.src[0])
		dl, dh := w.out(o), w.outHi(o)
		for m := w.exec; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			r := f(w.trans, w.mode, uint64(al[i])|uint64(ah[i])<<32)
			dl[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}
}
