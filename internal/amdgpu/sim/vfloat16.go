package sim

import "github.com/paritycheck/paritycheck/internal/amdgpu/arith"

// float16Ops are the vector instructions on f16.
var float16Ops = map[string]spec{
	"v_add_f16":    {run: f16x2(arith.Mode.AddF16), out: outF16},
	"v_sub_f16":    {run: f16x2(arith.Mode.SubF16), out: outF16},
	"v_subrev_f16": {run: f16x2(func(m arith.Mode, a, b uint16) uint16 { return m.SubF16(b, a) }), out: outF16},
	"v_mul_f16":    {run: f16x2(arith.Mode.MulF16), out: outF16},
	"v_min_f16":    {run: f16x2(arith.Mode.MinF16), out: outF16},
	"v_max_f16":    {run: f16x2(arith.Mode.MaxF16), out: outF16},

	"v_fma_f16":   {run: f16x3(arith.Mode.FmaF16), out: outF16Keep},
	"v_fmac_f16":  {run: f16acc(arith.Mode.FmaF16), out: outF16Keep},
	"v_fmaak_f16": {run: f16x3(arith.Mode.FmaF16), out: outF16Keep},
	"v_fmamk_f16": {run: f16x3(arith.Mode.FmaF16), out: outF16Keep},
	"v_mad_f16":   {run: f16x3(arith.Mode.MadF16), out: outF16Keep},
	// gfx9 has these three keep the rest of the register, which gfx8 cleared.
	// Source: LLVM, GCNSubtarget::zeroesHigh16BitsOfDest, "mostly derived from
	// experimentation".
	"v_mac_f16":   {run: f16acc(arith.Mode.MadF16), out: outF16Keep},
	"v_madak_f16": {run: f16x3(arith.Mode.MadF16), out: outF16Keep},
	"v_madmk_f16": {run: f16x3(arith.Mode.MadF16), out: outF16Keep},

	// The legacy forms of gfx90a clear the rest of the register.
	"v_fma_legacy_f16":       {run: f16x3(arith.Mode.FmaF16), out: outF16},
	"v_mad_legacy_f16":       {run: f16x3(arith.Mode.MadF16), out: outF16},
	"v_div_fixup_legacy_f16": {run: f16x3(arith.Mode.DivFixupF16), out: outF16},
	"v_div_fixup_f16":        {run: f16x3(arith.Mode.DivFixupF16), out: outF16Keep},

	"v_min3_f16":   {run: f16x3(arith.Mode.Min3F16), out: outF16Keep},
	"v_max3_f16":   {run: f16x3(arith.Mode.Max3F16), out: outF16Keep},
	"v_med3_f16":   {run: f16x3(arith.Mode.Med3F16), out: outF16Keep},
	"v_minmax_f16": {run: f16x3(arith.Mode.MinmaxF16), out: outF16},
	"v_maxmin_f16": {run: f16x3(arith.Mode.MaxminF16), out: outF16},

	"v_floor_f16":         {run: f16x1(arith.Mode.FloorF16), out: outF16},
	"v_ceil_f16":          {run: f16x1(arith.Mode.CeilF16), out: outF16},
	"v_trunc_f16":         {run: f16x1(arith.Mode.TruncF16), out: outF16},
	"v_rndne_f16":         {run: f16x1(arith.Mode.RndneF16), out: outF16},
	"v_fract_f16":         {run: f16x1(arith.Mode.FractF16), out: outF16},
	"v_frexp_mant_f16":    {run: f16x1(arith.Mode.FrexpMantF16), out: outF16},
	"v_frexp_exp_i16_f16": {run: f16x1(arith.Mode.FrexpExpI16F16), out: outB16},
	"v_ldexp_f16":         {run: f16x2(arith.Mode.LdexpF16), out: outF16},

	"v_pack_b32_f16": {run: map2(func(a, b uint32) uint32 { return a&0xffff | b<<16 })},
}
