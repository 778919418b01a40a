// Wrong ports of choosing between two tensors by a third.
// kernels/hip/ternary.hip is right, and so is what stands here where F is
// twin.
#include "fault.h"

enum Fault {
  twin,
  // In the choice.
  inverted,     // t and f exchanged
  low_byte,     // the condition's low byte alone
  by_int,       // its low 32 bits
  positive,     // true above 0: a negative condition is false
  equals_one,   // true for 1 alone
  blended,      // c*t + (1-c)*f: an infinity not chosen makes NaN
  by_float,     // elements by way of float
  high_byte,    // the condition's sign as u8: true from 128 up
  // In the walk (walk.h).
  strides_ignored,
  first_strides,   // all by the strides of the condition
  dims_for_strides,
  strides_reversed,
  inner_dense,
  outer_ignored,
  ids_dense,       // the condition alone read as if contiguous
  values_crossed,  // t and f each by the strides of the other
  tail_left,
  one_block,
  block_256,
  off_by_one,
};

#include "walk.h"

template <Fault F, typename I> __device__ inline bool chosen(I id) {
  switch (F) {
  case low_byte:
    return static_cast<u8>(id) != 0;
  case by_int:
    return static_cast<u32>(id) != 0;
  case positive:
    return static_cast<i64>(id) > 0;
  case equals_one:
    return id == 1;
  case high_byte:
    return id >= 128;
  default:
    return id != 0;
  }
}

template <Fault F, typename T> __device__ inline T pick(bool yes, T t, T f) {
  if constexpr (F == blended) {
    T c = yes ? 1 : 0;
    return c * t + (1 - c) * f;
  } else if constexpr (F == by_float) {
    return static_cast<T>(static_cast<float>(yes ? t : f));
  } else {
    return yes != (F == inverted) ? t : f;
  }
}

#define WHERE(I, T, F)                                                         \
  extern "C" __global__ void where_##I##_##T##__##F(                           \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *t, const T *f, T *out) {                          \
    elements<F>(numel, [&](size_t i) {                                         \
      I id = ids[F == ids_dense ? i : offset<F>(i, 0, num_dims, info)];        \
      constexpr int at = F == values_crossed ? 2 : 1;                          \
      out[i] = pick<F>(chosen<F>(id), t[offset<F>(i, at, num_dims, info)],     \
                       f[offset<F>(i, 3 - at, num_dims, info)]);               \
    });                                                                        \
  }

WHERE(u8, f32, twin)
WHERE(u8, f32, inverted)
WHERE(u8, f32, equals_one)
WHERE(u8, f32, blended)
WHERE(u8, f32, high_byte)
WHERE(u8, f32, strides_ignored)
WHERE(u8, f32, first_strides)
WHERE(u8, f32, dims_for_strides)
WHERE(u8, f32, strides_reversed)
WHERE(u8, f32, inner_dense)
WHERE(u8, f32, outer_ignored)
WHERE(u8, f32, ids_dense)
WHERE(u8, f32, values_crossed)
WHERE(u8, f32, tail_left)
WHERE(u8, f32, one_block)
WHERE(u8, f32, block_256)
WHERE(u8, f32, off_by_one)
WHERE(u32, f32, twin)
WHERE(u32, f32, low_byte)
WHERE(i64, f32, twin)
WHERE(i64, f32, low_byte)
WHERE(i64, f32, by_int)
WHERE(i64, f32, positive)
WHERE(u8, u32, twin)
WHERE(u8, u32, by_float)
WHERE(u8, i64, twin)
WHERE(u8, i64, by_float)
