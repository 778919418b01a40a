// Wrong ports of conversions between element types. kernels/hip/cast.hip is
// right, and so is what stands here where F is twin: of conversions that fit,
// the only ones that are judged.
#include "fault.h"

enum Fault {
  twin,
  // In the conversion.
  truncated,     // bits cut off where they must be rounded
  twice,         // rounded to float first
  half_up,       // halfway cases away from zero, or up in magnitude
  nan_lost,      // rounding carries a NaN's bits over
  saturated,     // past the largest: that, not infinity or the low bits
  ftz,           // subnormals flushed
  ftz_source,    // subnormals of the source read as 0
  to_nearest,    // rounded where it must be truncated
  floored,       // rounded down where it must be truncated
  by_float,      // by way of float
  by_int,        // by way of i32
  sign_extended, // u8 taken for signed
  bits_kept,     // the source's low bits as they stand
  // In the walk (walk.h).
  strides_ignored,
  first_strides,
  dims_for_strides,
  strides_reversed,
  inner_dense,
  outer_ignored,
  tail_left,
  one_block,
  block_256,
  off_by_one,
};

#include "walk.h"

template <Fault F> __device__ inline bf16 to_bf16(float x) {
  u32 u = __float_as_uint(x);
  if (F == half_up)
    return {static_cast<unsigned short>(
        ((u & 0x7fffffff) > 0x7f800000 ? u | 0x400000 : u + 0x8000) >> 16)};
  if (F == nan_lost)
    return {static_cast<unsigned short>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
  if (F == truncated)
    return truncate<bf16>(x);
  return narrow<bf16>(x);
}
template <Fault F> __device__ inline f16 to_f16(float x) {
  if (F == truncated)
    return truncate<f16>(x);
  f16 y = static_cast<f16>(x);
  float back = static_cast<float>(y);
  if (F == saturated && fabsf(back) > 65504 && x - x == 0)
    return static_cast<f16>(copysignf(65504, x));
  if (F == ftz && fabsf(back) < 6.103515625e-5f)
    return static_cast<f16>(0 * x);
  return y;
}
// The float nearest to x whose last bit is 1 where x is not a float.
template <Fault F> __device__ inline float once(double x) {
  float y = static_cast<float>(x);
  if (F == twice || y == x || x != x)
    return y;
  u32 bits = __float_as_uint(y);
  if (fabs(static_cast<double>(y)) > fabs(x))
    bits -= 1;
  return __uint_as_float(bits | 1);
}

template <Fault F, typename S, typename T> struct Cast {
  static __device__ T of(S x) {
    if constexpr (F == to_nearest)
      return static_cast<T>(rint(static_cast<double>(widen(x))));
    else if constexpr (F == floored)
      return static_cast<T>(floor(static_cast<double>(widen(x))));
    else if constexpr (F == by_float)
      return static_cast<T>(static_cast<float>(x));
    else if constexpr (F == by_int)
      return static_cast<T>(static_cast<i32>(x));
    else if constexpr (F == sign_extended)
      return static_cast<T>(static_cast<signed char>(x));
    else if constexpr (F == saturated)
      return static_cast<T>(x < 0 ? 0 : x > 255 ? 255 : x);
    else if constexpr (F == ftz)
      return flush(static_cast<T>(x));
    else if constexpr (F == ftz_source)
      return fabsf(static_cast<float>(x)) < 6.103515625e-5f ? 0 * x : x;
    else if constexpr (F == truncated)
      return static_cast<T>(static_cast<float>(x) > x
                                ? nextafterf(static_cast<float>(x), 0)
                                : static_cast<float>(x));
    else if constexpr (F == twice)
      return static_cast<T>(static_cast<double>(x));
    else if constexpr (F == bits_kept) {
      union {
        S from;
        T to;
      } u = {x};
      return u.to;
    } else
      return static_cast<T>(widen(x));
  }
};
template <Fault F, typename S> struct Cast<F, S, bf16> {
  static __device__ bf16 of(S x) { return to_bf16<F>(once<F>(widen(x))); }
};
template <Fault F, typename S> struct Cast<F, S, f16> {
  static __device__ f16 of(S x) { return to_f16<F>(once<F>(widen(x))); }
};

#define CAST(S, T, F)                                                          \
  extern "C" __global__ void cast_##S##_##T##__##F(                            \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const S *inp, T *out) {                                                  \
    elements<F>(numel, [&](size_t i) {                                         \
      out[i] = Cast<F, S, T>::of(inp[offset<F>(i, 0, num_dims, info)]);        \
    });                                                                        \
  }

CAST(f32, bf16, twin)
CAST(f32, bf16, truncated)
CAST(f32, bf16, half_up)
CAST(f32, bf16, nan_lost)
CAST(f32, f16, twin)
CAST(f32, f16, truncated)
CAST(f32, f16, saturated)
CAST(f32, f16, ftz)
CAST(f64, bf16, twin)
CAST(f64, bf16, truncated)
CAST(f64, bf16, twice)
CAST(f64, f16, twin)
CAST(f64, f16, truncated)
CAST(f64, f16, twice)
CAST(u32, bf16, twin)
CAST(u32, bf16, twice)
CAST(u32, f16, twin)
CAST(u32, f16, saturated)
CAST(f64, f32, twin)
CAST(f64, f32, ftz)
CAST(f64, f32, truncated)
CAST(u32, f32, twin)
CAST(u32, f32, by_int)
CAST(i64, f32, twin)
CAST(i64, f32, twice)
CAST(i64, f32, by_int)
CAST(u32, f64, twin)
CAST(u32, f64, by_float)
CAST(u32, f64, by_int)
CAST(i64, f64, twin)
CAST(i64, f64, by_float)
CAST(f32, i64, twin)
CAST(f32, i64, to_nearest)
CAST(f32, i64, floored)
CAST(f32, i64, by_int)
CAST(f32, u32, twin)
CAST(f32, u32, by_int)
CAST(f32, u32, to_nearest)
CAST(f32, u32, bits_kept)
CAST(f32, u8, twin)
CAST(f32, u8, to_nearest)
CAST(f64, u32, twin)
CAST(f64, u32, by_int)
CAST(f64, u32, by_float)
CAST(f16, f32, twin)
CAST(f16, f32, ftz_source)
CAST(bf16, f16, twin)
CAST(bf16, f16, truncated)
CAST(bf16, f16, saturated)
CAST(f64, i64, twin)
CAST(f64, i64, by_float)
CAST(i64, u8, twin)
CAST(i64, u8, saturated)
CAST(i64, u32, twin)
CAST(i64, u32, by_float)
CAST(u32, i64, twin)
CAST(u32, i64, by_int)
CAST(u8, i64, twin)
CAST(u8, i64, sign_extended)
CAST(u8, f32, twin)
CAST(u8, f32, sign_extended)
CAST(bf16, f32, twin)
CAST(bf16, f32, strides_ignored)
CAST(bf16, f32, dims_for_strides)
CAST(bf16, f32, strides_reversed)
CAST(bf16, f32, inner_dense)
CAST(bf16, f32, outer_ignored)
CAST(bf16, f32, tail_left)
CAST(bf16, f32, one_block)
CAST(bf16, f32, block_256)
CAST(bf16, f32, off_by_one)
