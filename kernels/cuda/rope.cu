// Rotary position embedding: each pair (x1, x2) of a head is turned by the
// angle whose cosine and sine stand in the tables for its position.
//
//   y1 = x1*c - x2*s
//   y2 = x1*s + x2*c
//
// One thread turns one pair. cos and sin hold d/2 values per position; with
// stride_b > 0 each batch has tables of its own, and stride_b is the number
// of elements of src in a batch (h*t*d). Sizes are below 2^32 elements.
#include "types.h"

template <typename T>
__device__ inline void turn(T a, T b, T cos, T sin, T &y1, T &y2) {
  compute<T> x1 = widen(a), x2 = widen(b), c = widen(cos), s = widen(sin);
  y1 = narrow<T>(fused(c, x1, -(s * x2)));
  y2 = narrow<T>(fused(s, x1, c * x2));
}

// Offset of the tables of pair idx's batch.
__device__ inline u32 batch_table(u32 idx, u32 td, u32 stride_b) {
  return stride_b > 0 ? 2 * idx / stride_b * (td / 2) : 0;
}

// Pairs are neighbours: (2i, 2i+1). src is (b*h, t*d).
template <typename T>
__device__ inline void rope_i(const T *src, const T *cos, const T *sin, T *dst,
                              u32 bh, u32 td, u32 stride_b) {
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * idx >= bh * td)
    return;
  u32 cs = idx % (td / 2) + batch_table(idx, td, stride_b);
  Pair<T> x = load_pair(src + 2 * idx), y;
  turn(x.x, x.y, cos[cs], sin[cs], y.x, y.y);
  store_pair(dst + 2 * idx, y.x, y.y);
}

// Pairs are d/2 apart: (i, i + d/2). src is (b*h, t*d).
template <typename T>
__device__ inline void rope(const T *src, const T *cos, const T *sin, T *dst,
                            u32 bh, u32 td, u32 d, u32 stride_b) {
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * idx >= bh * td)
    return;
  u32 i_td = idx % (td / 2);    // pair within one head's sequence
  u32 i1 = 2 * idx - i_td % (d / 2);
  u32 i2 = i1 + d / 2;
  u32 cs = i_td + batch_table(idx, td, stride_b);
  turn(src[i1], src[i2], cos[cs], sin[cs], dst[i1], dst[i2]);
}

// Pairs are d/2 apart. src is (b, t, h, d).
template <typename T>
__device__ inline void rope_thd(const T *src, const T *cos, const T *sin,
                                T *dst, u32 b, u32 t, u32 h, u32 d,
                                u32 stride_b) {
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * idx >= b * t * h * d)
    return;
  u32 i_bth = idx / (d / 2);
  u32 i_d = idx - i_bth * (d / 2);
  u32 i_t = i_bth / h % t;
  u32 i1 = i_bth * d + i_d;
  u32 i2 = i1 + d / 2;
  u32 cs = i_t * (d / 2) + i_d + batch_table(idx, t * d, stride_b);
  turn(src[i1], src[i2], cos[cs], sin[cs], dst[i1], dst[i2]);
}

#define ROPE(T)                                                                \
  extern "C" __global__ void rope_i_##T(                                       \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 stride_b) {                                      \
    rope_i(src, cos, sin, dst, bh, td, stride_b);                              \
  }                                                                            \
  extern "C" __global__ void rope_##T(                                         \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 d, const u32 stride_b) {                         \
    rope(src, cos, sin, dst, bh, td, d, stride_b);                             \
  }                                                                            \
  extern "C" __global__ void rope_thd_##T(                                     \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 b,             \
      const u32 t, const u32 h, const u32 d, const u32 stride_b) {             \
    rope_thd(src, cos, sin, dst, b, t, h, d, stride_b);                        \
  }

FOR_FLOATS(ROPE)
