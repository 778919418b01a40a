// Rotary position embedding: each pair (x1, x2) of a head is turned by the
// angle whose cosine and sine stand in the tables for its position.
//
//   y1 = x1*c - x2*s
//   y2 = x1*s + x2*c
//
// cos and sin hold d/2 values per position; with stride_b > 0 each batch has
// tables of its own, and stride_b is the number of elements of src in a batch
// (h*t*d). Sizes are below 2^32 elements.
//
// A thread turns as many pairs as 16 bytes hold, where the tables and the
// heads can be cut so, and else one; then those a grid's width further. What it
// writes leaves the tables in the L2, which every head reads.
#include "index.h"
#include "stream.h"

// Whether p may be read as Pack<T, N>.
template <int N, typename T> __device__ inline bool cut(const T *p) {
  return reinterpret_cast<size_t>(p) % sizeof(Pack<T, N>) == 0;
}
template <int N, typename T>
__device__ inline const Pack<T, N> &pack_at(const T *p) {
  return *reinterpret_cast<const Pack<T, N> *>(p);
}
template <int N, typename T> __device__ inline Pack<T, N> &pack_at(T *p) {
  return *reinterpret_cast<Pack<T, N> *>(p);
}

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

// Pairs are neighbours: (2i, 2i+1). N are turned at once.
template <int N, typename T>
__device__ inline void turn_neighbours(const T *src, const T *cos, const T *sin,
                                       T *dst, u32 pairs, u32 td,
                                       u32 stride_b) {
  u32 threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs / N;
       i += threads) {
    u32 idx = i * N;
    u32 cs = idx % (td / 2) + batch_table(idx, td, stride_b);
    Pack<T, 2 * N> x = pack_at<2 * N>(src + 2 * idx), y;
    Pack<T, N> c = pack_at<N>(cos + cs), s = pack_at<N>(sin + cs);
#pragma unroll
    for (int k = 0; k < N; k++)
      turn(x.at[2 * k], x.at[2 * k + 1], c.at[k], s.at[k], y.at[2 * k],
           y.at[2 * k + 1]);
    store_once(&pack_at<2 * N>(dst + 2 * idx), y);
  }
}

// src is (b*h, t*d).
template <typename T>
__device__ inline void rope_i(const T *src, const T *cos, const T *sin, T *dst,
                              u32 bh, u32 td, u32 stride_b) {
  constexpr int n = Vec<T>::size / 2;
  u32 pairs = bh * td / 2;
  if (aligned(src) && aligned(dst) && cut<n>(cos) && cut<n>(sin) &&
      td % (2 * n) == 0)
    turn_neighbours<n>(src, cos, sin, dst, pairs, td, stride_b);
  else if (cut<2>(src) && cut<2>(dst))
    turn_neighbours<1>(src, cos, sin, dst, pairs, td, stride_b);
  else
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs;
         i += gridDim.x * blockDim.x) {
      u32 cs = i % (td / 2) + batch_table(i, td, stride_b);
      turn(src[2 * i], src[2 * i + 1], cos[cs], sin[cs], dst[2 * i],
           dst[2 * i + 1]);
    }
}

// Pairs are d/2 apart: (i, i + d/2). N that follow one another are turned at
// once. table gives the offset of pair idx in the tables.
template <int N, typename T, typename Table>
__device__ inline void turn_halves(const T *src, const T *cos, const T *sin,
                                   T *dst, u32 pairs, u32 d, Table table) {
  u32 threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs / N;
       i += threads) {
    u32 idx = i * N, head = idx / (d / 2);
    u32 i1 = idx + head * (d / 2), i2 = i1 + d / 2;
    u32 cs = table(idx, head);
    Pack<T, N> x1 = pack_at<N>(src + i1), x2 = pack_at<N>(src + i2), y1, y2;
    Pack<T, N> c = pack_at<N>(cos + cs), s = pack_at<N>(sin + cs);
#pragma unroll
    for (int k = 0; k < N; k++)
      turn(x1.at[k], x2.at[k], c.at[k], s.at[k], y1.at[k], y2.at[k]);
    store_once(&pack_at<N>(dst + i1), y1);
    store_once(&pack_at<N>(dst + i2), y2);
  }
}
template <typename T, typename Table>
__device__ inline void turn_halves(const T *src, const T *cos, const T *sin,
                                   T *dst, u32 pairs, u32 d, Table table) {
  constexpr int n = Vec<T>::size;
  if (aligned(src) && aligned(dst) && aligned(cos) && aligned(sin) &&
      d / 2 % n == 0)
    turn_halves<n>(src, cos, sin, dst, pairs, d, table);
  else
    turn_halves<1>(src, cos, sin, dst, pairs, d, table);
}

// src is (b*h, t*d).
template <typename T>
__device__ inline void rope(const T *src, const T *cos, const T *sin, T *dst,
                            u32 bh, u32 td, u32 d, u32 stride_b) {
  turn_halves(src, cos, sin, dst, bh * td / 2, d, [=](u32 idx, u32) {
    return idx % (td / 2) + batch_table(idx, td, stride_b);
  });
}

// src is (b, t, h, d).
template <typename T>
__device__ inline void rope_thd(const T *src, const T *cos, const T *sin,
                                T *dst, u32 b, u32 t, u32 h, u32 d,
                                u32 stride_b) {
  turn_halves(src, cos, sin, dst, b * t * h * d / 2, d, [=](u32 idx, u32 head) {
    u32 col = idx - head * (d / 2);
    return head / h % t * (d / 2) + col + batch_table(idx, t * d, stride_b);
  });
}

#define ROPE(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void rope_i_##T(                                       \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 stride_b) {                                      \
    rope_i(src, cos, sin, dst, bh, td, stride_b);                              \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void rope_##T(                                         \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 bh,            \
      const u32 td, const u32 d, const u32 stride_b) {                         \
    rope(src, cos, sin, dst, bh, td, d, stride_b);                             \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void rope_thd_##T(                                     \
      const T *__restrict__ src, const T *__restrict__ cos,                    \
      const T *__restrict__ sin, T *__restrict__ dst, const u32 b,             \
      const u32 t, const u32 h, const u32 d, const u32 stride_b) {             \
    rope_thd(src, cos, sin, dst, b, t, h, d, stride_b);                        \
  }

FOR_FLOATS(ROPE)
