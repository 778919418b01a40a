// Wrong ports of filling memory and of copying rows. kernels/hip/fill.hip is
// right, and so is what stands here where F is twin.
#include "fault.h"

enum Fault {
  twin,
  // In the value.
  zero_filled,  // zeros, whatever the value
  sign_lost,    // -0 as 0
  nan_lost,     // a NaN as 0
  low_byte,     // every byte that of the value's lowest, as memset has it
  low_word,     // 64-bit values cut to 32 bits
  by_float,     // integers by way of float
  ftz,          // subnormals flushed
  // In the walk over rows.
  pitch_swapped,   // src_s and dst_s exchanged
  dst_pitch,       // dst_s for both
  src_pitch,       // src_s for both
  dense,           // rows of d2 without gaps on both sides
  sizes_swapped,   // d1 and d2 exchanged
  gaps_written,    // whole rows of dst_s
  last_row,        // the last row left out
  last_column,     // the last column left out
  // In the walk (walk.h).
  strides_ignored,
  first_strides,
  dims_for_strides,
  strides_reversed,
  inner_dense,
  outer_ignored,
  gaps_filled,     // everything between the elements too
  tail_left,
  one_block,
  block_256,
  off_by_one,
};

#include "walk.h"

template <Fault F, typename T> __device__ inline T constant(T v) {
  union {
    T value;
    unsigned char bytes[sizeof(T)];
    u32 words[(sizeof(T) + 3) / 4];
  } u = {v};
  if constexpr (F == zero_filled)
    return T{};
  if constexpr (F == sign_lost)
    return v == 0 ? 0 : v;
  if constexpr (F == nan_lost)
    return v == v ? v : 0;
  if constexpr (F == ftz)
    return flush(v);
  if constexpr (F == by_float)
    return static_cast<T>(static_cast<float>(v));
  if constexpr (F == low_byte)
    for (unsigned char &b : u.bytes)
      b = u.bytes[0];
  if constexpr (F == low_word)
    u.words[sizeof(u.words) / 4 - 1] = 0;
  return u.value;
}

template <Fault F, typename T>
__device__ inline void copy2d(const T *src, T *dst, u32 d1, u32 d2, u32 src_s,
                              u32 dst_s) {
  if (F == pitch_swapped) {
    u32 s = src_s;
    src_s = dst_s;
    dst_s = s;
  }
  if (F == dst_pitch)
    src_s = dst_s;
  if (F == src_pitch)
    dst_s = src_s;
  if (F == dense)
    src_s = dst_s = d2;
  size_t width = F == sizes_swapped ? d1 : F == gaps_written ? dst_s : d2;
  size_t rows = F == last_row ? d1 - 1 : F == sizes_swapped ? d2 : d1;
  elements<F>(rows * width, [&](size_t i) {
    size_t row = i / width, col = i % width;
    if (F == last_column && col + 1 == width)
      return;
    dst[row * dst_s + col] = src[row * src_s + col];
  });
}

#define FILL(T, F)                                                             \
  extern "C" __global__ void fill_##T##__##F(T *buf, T value,                  \
                                             const size_t numel) {             \
    T v = constant<F>(value);                                                  \
    elements<F>(numel, [&](size_t i) { buf[i] = v; });                         \
  }
#define COPY2D(T, F)                                                           \
  extern "C" __global__ void copy2d_##T##__##F(                                \
      const T *src, T *dst, u32 d1, u32 d2, u32 src_s, u32 dst_s) {            \
    copy2d<F>(src, dst, d1, d2, src_s, dst_s);                                 \
  }
#define CONST_SET(T, F)                                                        \
  extern "C" __global__ void const_set_##T##__##F(                             \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T inp, T *out) {                                                   \
    T v = constant<F>(inp);                                                    \
    elements<F>(numel, [&](size_t i) {                                         \
      size_t at = offset<F>(i, 0, num_dims, info);                             \
      out[at] = v;                                                             \
      if (F == gaps_filled && i + 1 < numel)                                   \
        out[at + 1] = v;                                                       \
    });                                                                        \
  }

FILL(f32, twin)
FILL(f32, zero_filled)
FILL(f32, sign_lost)
FILL(f32, nan_lost)
FILL(f32, low_byte)
FILL(f32, ftz)
FILL(f32, tail_left)
FILL(f32, one_block)
FILL(f32, block_256)
FILL(f32, off_by_one)
FILL(i64, twin)
FILL(i64, low_word)
FILL(i64, by_float)
FILL(u32, twin)
FILL(u32, by_float)
FILL(f64, twin)
FILL(f64, low_word)
FILL(u8, twin)
FILL(u8, tail_left)

COPY2D(f32, twin)
COPY2D(f32, pitch_swapped)
COPY2D(f32, dst_pitch)
COPY2D(f32, src_pitch)
COPY2D(f32, dense)
COPY2D(f32, sizes_swapped)
COPY2D(f32, gaps_written)
COPY2D(f32, last_row)
COPY2D(f32, last_column)
COPY2D(f32, tail_left)
COPY2D(f32, one_block)
COPY2D(f32, block_256)
COPY2D(f32, off_by_one)

CONST_SET(f32, twin)
CONST_SET(f32, sign_lost)
CONST_SET(f32, nan_lost)
CONST_SET(f32, strides_ignored)
CONST_SET(f32, dims_for_strides)
CONST_SET(f32, strides_reversed)
CONST_SET(f32, inner_dense)
CONST_SET(f32, outer_ignored)
CONST_SET(f32, gaps_filled)
CONST_SET(f32, tail_left)
CONST_SET(f32, one_block)
CONST_SET(f32, off_by_one)
CONST_SET(i64, twin)
CONST_SET(i64, low_word)
