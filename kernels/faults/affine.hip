// Wrong ports of y = x*mul + add. kernels/hip/affine.hip is right, and so is
// what stands here where F is twin.
#include "fault.h"

enum Fault {
  twin,
  // In the function.
  add_first,   // (x + add) * mul
  exchanged,   // mul and add exchanged
  mul_ignored,
  add_ignored,
  add_negated,
  truncated,   // low half of the float cut off at the store
  single,      // f64 by way of float
  half_factor, // mul as f16
  ftz,         // subnormals flushed
  by_float,    // integers by way of float
  by_int,      // 64-bit integers in 32 bits
  saturated,   // u8 that stops at 255
  // In the walk (walk.h).
  strides_ignored,
  first_strides,
  dims_for_strides,
  strides_reversed,
  inner_dense,
  outer_ignored,
  null_read,   // a null source read, where the op is in place
  never_in_place, // a null source leaves the output as it is
  tail_left,
  one_block,
  block_256,
  off_by_one,
};

#include "walk.h"

template <Fault F, typename T> __device__ inline T affine(T v, T mul, T add) {
  if constexpr (T(0.5) == T(0)) { // integers
    u64 x = v, m = mul, a = add;
    if (F == by_float)
      return static_cast<T>(fmaf(static_cast<float>(v), static_cast<float>(mul),
                                 static_cast<float>(add)));
    if (F == by_int)
      return static_cast<T>(
          static_cast<i32>(static_cast<u32>(x * m + a)));
    if (F == saturated && x * m + a > 255)
      return 255;
    if (F == add_first)
      return static_cast<T>((x + a) * m);
    return static_cast<T>(x * m + a);
  } else {
    auto x = widen(v), m = widen(mul), a = widen(add);
    if (F == exchanged) {
      auto k = m;
      m = a;
      a = k;
    }
    if (F == mul_ignored)
      m = 1;
    if (F == add_ignored)
      a = 0;
    if (F == add_negated)
      a = -a;
    if (F == half_factor)
      m = static_cast<f16>(m);
    if (F == single)
      x = static_cast<float>(x);
    if (F == add_first)
      return narrow<T>((x + a) * m);
    auto y = fused(x, m, a);
    if constexpr (F == truncated)
      return truncate<T>(y);
    else if constexpr (F == ftz)
      return narrow<T>(flush(y));
    else
      return narrow<T>(y);
  }
}
// bf16 is no number by itself.
#define BF16(F)                                                                \
  template <> __device__ inline bf16 affine<F>(bf16 v, bf16 mul, bf16 add) {   \
    float y = fused(widen(v), widen(mul), widen(add));                         \
    return F == truncated ? truncate<bf16>(y) : narrow<bf16>(y);               \
  }
BF16(twin)
BF16(truncated)

#define AFFINE(T, F)                                                           \
  extern "C" __global__ void affine_##T##__##F(                                \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out, const T mul, const T add) {                        \
    if (F == never_in_place && !inp)                                           \
      return;                                                                  \
    const size_t *walk = inp ? info : nullptr;                                 \
    const T *from = inp || F == null_read ? inp : out;                         \
    elements<F>(numel, [&](size_t i) {                                         \
      out[i] = affine<F>(from[offset<F>(i, 0, num_dims, walk)], mul, add);     \
    });                                                                        \
  }

AFFINE(f32, twin)
AFFINE(f32, add_first)
AFFINE(f32, exchanged)
AFFINE(f32, mul_ignored)
AFFINE(f32, add_ignored)
AFFINE(f32, add_negated)
AFFINE(f32, half_factor)
AFFINE(f32, ftz)
AFFINE(f32, strides_ignored)
AFFINE(f32, dims_for_strides)
AFFINE(f32, strides_reversed)
AFFINE(f32, inner_dense)
AFFINE(f32, outer_ignored)
AFFINE(f32, null_read)
AFFINE(f32, never_in_place)
AFFINE(f32, tail_left)
AFFINE(f32, one_block)
AFFINE(f32, block_256)
AFFINE(f32, off_by_one)
AFFINE(f64, twin)
AFFINE(f64, single)
AFFINE(f16, twin)
AFFINE(f16, truncated)
AFFINE(bf16, twin)
AFFINE(bf16, truncated)
AFFINE(i64, twin)
AFFINE(i64, by_int)
AFFINE(u32, twin)
AFFINE(u32, by_float)
AFFINE(u8, twin)
AFFINE(u8, saturated)
AFFINE(u8, add_first)
