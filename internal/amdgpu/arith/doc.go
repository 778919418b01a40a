// Package arith is the arithmetic of AMD GPU instructions, as pure functions
// on register bits: uint16 for f16, uint32 for f32, uint64 for f64.
//
// A function has the name of its mnemonic in camel case: v_add_f32 is AddF32,
// v_cvt_f32_u32 is CvtF32U32, v_div_scale_f64 is DivScaleF64. None of them
// allocates, and all give the same bits on every GOARCH.
//
// Functions that depend on rounding, denormals, IEEE or DX10_CLAMP are
// methods of Mode. The commonest also exist as plain functions of DefaultMode
// that inline into a loop over lanes: AddF32, SubF32, MulF32, FmaF32, MinF32,
// MaxF32 and the same for F16 and F64. Mode.Default32 and Mode.Default1664
// say whether these may be used.
//
// Source modifiers (neg, abs) are the caller's, before the call; the result
// modifiers are Mode.OmodF32 and Mode.ClampF32, in this order, after it.
//
//	mode.go      Mode, Round; flushing of operands and results
//	bits.go      fields of the formats, Pred (the 16 comparisons), NaN rules
//	round.go     exact sums and products, one rounding in any direction
//	f32.go       add, sub, mul, fma, mad, legacy and mullit forms; f16.go and
//	             f64.go likewise; WideF16 and NarrowF32 convert f16
//	minmax*.go   min, max, min3, max3, med3, minmax, maxmin, canonicalize,
//	             clamp, omod, class, comparisons
//	unary*.go   floor, ceil, trunc, rndne, fract, frexp, ldexp
//	div.go       div_scale, div_fmas, div_fixup
//	trans.go     Transcendental: exp, log, rcp, rsq, sqrt, sin, cos and the
//	             models of their rounding; transcr.go, dd.go and tables.go
//	             hold the evaluation
//	cvt.go       conversions
//	integer.go   bit fields, wide multiplies, sums of absolute differences,
//	             saturation, packed 16-bit forms
//	cube.go      cube map coordinates
//	trig.go      trig_preop_f64
package arith
