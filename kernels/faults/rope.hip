// Wrong ports of rotary position embedding. kernels/hip/rope.hip is right,
// and so is what stands here where F is twin.
#include "fault.h"

enum Fault {
  twin,
  swapped,         // cos and sin exchanged
  sign,            // y1 = x1*c + x2*s: turned over, not round
  backwards,       // the angle's sign: sin negated
  reads_result,    // y2 made of the new x1
  truncated,       // low half of the float cut off at the store
  single,          // f64 by way of float
  ftz,             // subnormals flushed
  stride_pairs,    // stride_b, which counts elements, compared with pairs
  stride_ignored,  // the tables of batch 0 for all
  table_twice,     // d table entries a position, not d/2
  table_head,      // the tables advance with every head
  off_by_one,      // > for >=: one pair past the end
  unguarded,       // no bounds check at all
  short_tail,      // the last pair is left out
  block_256,       // a block of 256 threads taken for granted
  halves,          // pairs half a row apart where they are neighbours
  adjacent,        // pairs of neighbours where they are d/2 apart
  pair_swapped,    // results stored the wrong way round
  second_unwritten,// y2 never stored
  odd_half,        // the second half begins at d/2 - 1
  position_first,  // (b,t,h,d) read as (b,h,t,d)
  position_swapped,// t and h exchanged in the index
  batch_by_t,      // the batch's tables found by t*d: positions as batches
};

template <Fault F, typename T> __device__ inline T rounded(compute<T> y) {
  if constexpr (F == truncated)
    return truncate<T>(y);
  else if constexpr (F == ftz)
    return narrow<T>(flush(y));
  else if constexpr (F == single)
    return static_cast<T>(static_cast<float>(y));
  else
    return narrow<T>(y);
}

template <Fault F, typename T>
__device__ inline void turn(T a, T b, T cos, T sin, T &y1, T &y2) {
  compute<T> x1 = widen(a), x2 = widen(b), c = widen(cos), s = widen(sin);
  if (F == swapped) {
    compute<T> k = c;
    c = s;
    s = k;
  }
  if (F == backwards)
    s = -s;
  if (F == ftz)
    x1 = flush(x1), x2 = flush(x2), c = flush(c), s = flush(s);
  y1 = rounded<F, T>(fused(c, x1, F == sign ? s * x2 : -(s * x2)));
  if (F == reads_result)
    x1 = widen(y1);
  T y = rounded<F, T>(fused(s, x1, c * x2));
  if (F == pair_swapped) {
    y2 = y1;
    y1 = y;
  } else {
    y2 = y;
  }
}

template <Fault F>
__device__ inline u32 batch_table(u32 idx, u32 td, u32 stride_b) {
  if (F == stride_ignored || stride_b == 0)
    return 0;
  u32 batch = (F == stride_pairs ? idx : 2 * idx) / stride_b;
  if (F == table_head || F == batch_by_t)
    batch = 2 * idx / td;
  return batch * (F == table_twice ? td : td / 2);
}

__device__ inline u32 thread(Fault f) {
  return blockIdx.x * (f == block_256 ? 256 : blockDim.x) + threadIdx.x;
}

template <Fault F> __device__ inline bool outside(u32 idx, u32 n) {
  switch (F) {
  case off_by_one:
    return 2 * idx > n;
  case unguarded:
    return false;
  case short_tail:
    return 2 * idx + 2 >= n;
  default:
    return 2 * idx >= n;
  }
}

template <Fault F, typename T>
__device__ inline void rope_i(const T *src, const T *cos, const T *sin, T *dst,
                              u32 bh, u32 td, u32 stride_b) {
  u32 idx = thread(F);
  if (outside<F>(idx, bh * td))
    return;
  u32 cs = idx % (td / 2) + batch_table<F>(idx, td, stride_b);
  u32 i1 = 2 * idx, i2 = 2 * idx + 1;
  if (F == halves) {
    i1 = idx / (td / 2) * td + idx % (td / 2);
    i2 = i1 + td / 2;
  }
  T y1, y2;
  turn<F>(src[i1], src[i2], cos[cs], sin[cs], y1, y2);
  dst[i1] = y1;
  if (F != second_unwritten)
    dst[i2] = y2;
}

template <Fault F, typename T>
__device__ inline void rope(const T *src, const T *cos, const T *sin, T *dst,
                            u32 bh, u32 td, u32 d, u32 stride_b) {
  u32 idx = thread(F);
  if (outside<F>(idx, bh * td))
    return;
  u32 i_td = idx % (td / 2);
  u32 i1 = 2 * idx - i_td % (d / 2);
  u32 i2 = i1 + d / 2;
  if (F == adjacent) {
    i1 = 2 * idx;
    i2 = i1 + 1;
  }
  if (F == odd_half)
    i2 = i1 + (d - 1) / 2;
  u32 cs = i_td + batch_table<F>(idx, td, stride_b);
  T y1, y2;
  turn<F>(src[i1], src[i2], cos[cs], sin[cs], y1, y2);
  dst[i1] = y1;
  if (F != second_unwritten)
    dst[i2] = y2;
}

template <Fault F, typename T>
__device__ inline void rope_thd(const T *src, const T *cos, const T *sin,
                                T *dst, u32 b, u32 t, u32 h, u32 d,
                                u32 stride_b) {
  u32 idx = thread(F);
  if (outside<F>(idx, b * t * h * d))
    return;
  u32 i_bth = idx / (d / 2);
  u32 i_d = idx - i_bth * (d / 2);
  u32 i_t = i_bth / h % t;
  if (F == position_first)
    i_t = i_bth % t;
  if (F == position_swapped)
    i_t = i_bth / t % h;
  u32 i1 = i_bth * d + i_d;
  u32 i2 = i1 + d / 2;
  if (F == adjacent) {
    i1 = 2 * idx;
    i2 = i1 + 1;
  }
  u32 cs = i_t * (d / 2) + i_d + batch_table<F>(idx, t * d, stride_b);
  T y1, y2;
  turn<F>(src[i1], src[i2], cos[cs], sin[cs], y1, y2);
  dst[i1] = y1;
  dst[i2] = y2;
}

#define ROPE_I(T, F)                                                           \
  extern "C" __global__ void rope_i_##T##__##F(                                \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 stride_b) {                                      \
    rope_i<F>(src, cos, sin, dst, bh, td, stride_b);                           \
  }

#define ROPE(T, F)                                                             \
  extern "C" __global__ void rope_##T##__##F(                                  \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 d, const u32 stride_b) {                         \
    rope<F>(src, cos, sin, dst, bh, td, d, stride_b);                          \
  }

#define ROPE_THD(T, F)                                                         \
  extern "C" __global__ void rope_thd_##T##__##F(                              \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 b,             \
      const u32 t, const u32 h, const u32 d, const u32 stride_b) {             \
    rope_thd<F>(src, cos, sin, dst, b, t, h, d, stride_b);                     \
  }

ROPE_I(f32, twin)
ROPE_I(f64, twin)
ROPE_I(f32, swapped)
ROPE_I(f32, sign)
ROPE_I(f32, backwards)
ROPE_I(f64, single)
ROPE_I(f32, ftz)
ROPE_I(f32, stride_pairs)
ROPE_I(f32, stride_ignored)
ROPE_I(f32, off_by_one)
ROPE_I(f32, short_tail)
ROPE_I(f32, block_256)
ROPE_I(f32, halves)
ROPE_I(bf16, pair_swapped)

ROPE(f32, twin)
ROPE(f32, reads_result)
ROPE(f32, table_twice)
ROPE(f32, table_head)
ROPE(f32, unguarded)
ROPE(f32, adjacent)
ROPE(f32, second_unwritten)
ROPE(f32, odd_half)
ROPE(f16, stride_pairs)

ROPE_THD(f32, twin)
ROPE_THD(f32, position_first)
ROPE_THD(f32, position_swapped)
ROPE_THD(f32, stride_ignored)
ROPE_THD(f32, batch_by_t)
ROPE_THD(f32, adjacent)

#define HALVES(M)                                                              \
  M(f16, twin)                                                                 \
  M(f16, truncated)                                                            \
  M(bf16, twin)                                                                \
  M(bf16, truncated)

HALVES(ROPE_I)
HALVES(ROPE)
HALVES(ROPE_THD)
