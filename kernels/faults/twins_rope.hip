// Honest variants of rotary position embedding.
#include "twin.h"

// How a pair is turned.
struct steps { // each product and sum rounded to T, as candle has it
  template <typename T>
  static __device__ void turn(T a, T b, T cos, T sin, T &y1, T &y2) {
    Each<T> x1(a, 0), x2(b, 0), c(cos, 0), s(sin, 0);
    y1 = (x1 * c - x2 * s).v;
    y2 = (x1 * s + x2 * c).v;
  }
};

struct twin_other_fma { // the other product fused
  template <typename T>
  static __device__ void turn(T a, T b, T cos, T sin, T &y1, T &y2) {
    compute<T> x1 = widen(a), x2 = widen(b), c = widen(cos), s = widen(sin);
    y1 = narrow<T>(fused(-s, x2, c * x1));
    y2 = narrow<T>(fused(c, x2, s * x1));
  }
};

struct steps_fused { // as candle fuses f16: the product rounded to f16 first
  static __device__ void turn(f16 x1, f16 x2, f16 c, f16 s, f16 &y1, f16 &y2) {
    y1 = __builtin_fmaf16(x1, c, -(x2 * s));
    y2 = __builtin_fmaf16(x1, s, x2 * c);
  }
  // The product rounded to bf16, the sum once: CUDA's HFMA2.BF16.
  static __device__ void turn(bf16 a, bf16 b, bf16 cos, bf16 sin, bf16 &y1,
                              bf16 &y2) {
    float x1 = widen(a), x2 = widen(b), c = widen(cos), s = widen(sin);
    y1 = narrow<bf16>(fmaf(x1, c, -widen(narrow<bf16>(x2 * s))));
    y2 = narrow<bf16>(fmaf(x1, s, widen(narrow<bf16>(x2 * c))));
  }
};

struct twin_double { // f32 by way of double, which rounds to f32 last
  static __device__ void turn(float a, float b, float cos, float sin,
                              float &y1, float &y2) {
    double x1 = a, x2 = b, c = cos, s = sin;
    y1 = static_cast<float>(x1 * c - x2 * s);
    y2 = static_cast<float>(x1 * s + x2 * c);
  }
};

// A pair's place found by division, dimension by dimension.

template <typename How, typename T>
__device__ inline void rope_i(const T *src, const T *cos, const T *sin, T *dst,
                              u32 bh, u32 td, u32 stride_b) {
  u32 pairs = td / 2;
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  u32 head = idx / pairs, k = idx - head * pairs;
  if (head >= bh)
    return;
  u32 batch = stride_b ? head / (stride_b / td) : 0;
  u32 cs = batch * pairs + k, i = head * td + 2 * k;
  How::turn(src[i], src[i + 1], cos[cs], sin[cs], dst[i], dst[i + 1]);
}

template <typename How, typename T>
__device__ inline void rope(const T *src, const T *cos, const T *sin, T *dst,
                            u32 bh, u32 td, u32 d, u32 stride_b) {
  u32 half = d / 2, t = td / d;
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  u32 row = idx / half, k = idx % half, head = row / t, pos = row % t;
  if (head >= bh)
    return;
  u32 batch = stride_b ? head / (stride_b / td) : 0;
  u32 cs = (batch * t + pos) * half + k, i = row * d + k;
  How::turn(src[i], src[i + half], cos[cs], sin[cs], dst[i], dst[i + half]);
}

template <typename How, typename T>
__device__ inline void rope_thd(const T *src, const T *cos, const T *sin,
                                T *dst, u32 b, u32 t, u32 h, u32 d,
                                u32 stride_b) {
  u32 half = d / 2;
  u32 idx = blockIdx.x * blockDim.x + threadIdx.x;
  u32 k = idx % half, row = idx / half, head = row % h;
  u32 pos = row / h % t, batch = row / h / t;
  if (batch >= b)
    return;
  u32 cs = ((stride_b ? batch : 0) * t + pos) * half + k;
  u32 i = ((batch * t + pos) * h + head) * d + k;
  How::turn(src[i], src[i + half], cos[cs], sin[cs], dst[i], dst[i + half]);
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

#define ALL(T, F) ROPE_I(T, F) ROPE(T, F) ROPE_THD(T, F)

ALL(f16, steps)
ALL(bf16, steps)
ALL(f16, steps_fused)
ALL(bf16, steps_fused)
ALL(f32, steps)
ALL(f64, steps)
ALL(f32, twin_other_fma)
ALL(f64, twin_other_fma)
ROPE_I(f16, twin_other_fma)
ROPE_THD(bf16, twin_other_fma)
ROPE_I(f32, twin_double)
