// RMS norm and layer norm of rows: one block a row, the columns shared out in
// steps of the number of threads, which candle's launch has in block_size too.
// A row that fits stays in registers and is read once.
//
// Elements of every type, double included, are read as float and all is done
// in float, as in candle. candle's own kernels add up 32 shared slots in their
// second stage and need a block of exactly 32 threads or of 32 full warps of
// 32; these take any block on any wave (group.h). candle takes the variance as
// E[x^2] - mean^2, which cancels where the mean is large; here it is the mean
// of (x - mean)^2, from the registers or, of a long row, by reading it once
// more from the cache.
#include "group.h"
#include "row.h"

template <typename T> __device__ inline float as_float(T x) {
  return static_cast<float>(widen(x));
}

__device__ inline float add(float a, float b) { return a + b; }

// A gain is a factor or a summand for each column: alpha or beta, or null.
template <typename T> struct Gain {
  const T *of;
  bool packed;
  __device__ inline Gain(const T *of) : of(of), packed(of && aligned(of)) {}

  // piece returns the elements of piece v.
  __device__ inline Vec<T> piece(int v) const {
    if (packed)
      return reinterpret_cast<const Vec<T> *>(of)[v];
    Vec<T> x;
#pragma unroll
    for (int i = 0; i < Vec<T>::size; i++)
      x.at[i] = of[v * Vec<T>::size + i];
    return x;
  }
};

template <int K, typename T>
__device__ inline void rms_norm_held(const T *src, T *dst, Gain<T> alpha,
                                     int n_cols, float eps) {
  __shared__ Slots<float> slots;
  int first = thread_rank(), step = thread_total();
  Held<T, K> row(src, n_cols, first, step);

  float squares = 0;
  row.each([&](int, int, T e) {
    float x = as_float(e);
    squares = fused(x, x, squares);
  });
  squares = reduce_block(squares, slots, add);
  float scale = rsqrtf(squares / n_cols + eps);

  row.store(dst, [&](int k, int piece) {
    Vec<T> x = row.at[k], a;
    if (alpha.of)
      a = alpha.piece(piece);
#pragma unroll
    for (int i = 0; i < Vec<T>::size; i++) {
      float y = scale * as_float(x.at[i]);
      x.at[i] = narrow<T>(alpha.of ? y * as_float(a.at[i]) : y);
    }
    return x;
  });
}

template <typename T>
__device__ inline void rms_norm_long(const T *src, T *dst, const T *alpha,
                                     int n_cols, float eps) {
  __shared__ Slots<float> slots;
  int first = thread_rank(), step = thread_total();

  float squares = 0;
  each<2>(src, n_cols, first, step, [&](int, T e) {
    float x = as_float(e);
    squares = fused(x, x, squares);
  });
  squares = reduce_block(squares, slots, add);
  float scale = rsqrtf(squares / n_cols + eps);

  map_row(src, dst, n_cols, first, step, [&](int col, T e) {
    float y = scale * as_float(e);
    return narrow<T>(alpha ? y * as_float(alpha[col]) : y);
  });
}

template <typename T>
__device__ inline void rms_norm(const T *src, T *dst, const T *alpha,
                                int n_cols, float eps) {
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  src += row;
  dst += row;
  int step = thread_total();
  if (Held<T, 1>::fits(src, dst, n_cols, step))
    rms_norm_held<1, T>(src, dst, alpha, n_cols, eps);
  else if (Held<T, 2>::fits(src, dst, n_cols, step))
    rms_norm_held<2, T>(src, dst, alpha, n_cols, eps);
  else if (Held<T, 4>::fits(src, dst, n_cols, step))
    rms_norm_held<4, T>(src, dst, alpha, n_cols, eps);
  else
    rms_norm_long(src, dst, alpha, n_cols, eps);
}

template <int K, typename T>
__device__ inline void layer_norm_held(const T *src, T *dst, Gain<T> alpha,
                                       Gain<T> beta, int n_cols, float eps) {
  __shared__ Slots<float> sums, deviations;
  int first = thread_rank(), step = thread_total();
  Held<T, K> row(src, n_cols, first, step);

  float sum = 0;
  row.each([&](int, int, T e) { sum += as_float(e); });
  float mean = reduce_block(sum, sums, add) / n_cols;

  float squares = 0;
  row.each([&](int, int, T e) {
    float d = as_float(e) - mean;
    squares = fused(d, d, squares);
  });
  squares = reduce_block(squares, deviations, add);
  float scale = rsqrtf(squares / n_cols + eps);

  row.store(dst, [&](int k, int piece) {
    Vec<T> x = row.at[k], a, b;
    if (alpha.of)
      a = alpha.piece(piece);
    if (beta.of)
      b = beta.piece(piece);
#pragma unroll
    for (int i = 0; i < Vec<T>::size; i++) {
      float y = (as_float(x.at[i]) - mean) * scale;
      if (alpha.of)
        y *= as_float(a.at[i]);
      if (beta.of)
        y += as_float(b.at[i]);
      x.at[i] = narrow<T>(y);
    }
    return x;
  });
}

template <typename T>
__device__ inline void layer_norm_long(const T *src, T *dst, const T *alpha,
                                       const T *beta, int n_cols, float eps) {
  __shared__ Slots<float> sums, deviations;
  int first = thread_rank(), step = thread_total();

  float sum = 0;
  each<2>(src, n_cols, first, step, [&](int, T e) { sum += as_float(e); });
  float mean = reduce_block(sum, sums, add) / n_cols;

  float squares = 0;
  each<2>(src, n_cols, first, step, [&](int, T e) {
    float d = as_float(e) - mean;
    squares = fused(d, d, squares);
  });
  squares = reduce_block(squares, deviations, add);
  float scale = rsqrtf(squares / n_cols + eps);

  map_row(src, dst, n_cols, first, step, [&](int col, T e) {
    float y = (as_float(e) - mean) * scale;
    if (alpha)
      y *= as_float(alpha[col]);
    if (beta)
      y += as_float(beta[col]);
    return narrow<T>(y);
  });
}

template <typename T>
__device__ inline void layer_norm(const T *src, T *dst, const T *alpha,
                                  const T *beta, int n_cols, float eps) {
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  src += row;
  dst += row;
  int step = thread_total();
  if (Held<T, 1>::fits(src, dst, n_cols, step))
    layer_norm_held<1, T>(src, dst, alpha, beta, n_cols, eps);
  else if (Held<T, 2>::fits(src, dst, n_cols, step))
    layer_norm_held<2, T>(src, dst, alpha, beta, n_cols, eps);
  else if (Held<T, 4>::fits(src, dst, n_cols, step))
    layer_norm_held<4, T>(src, dst, alpha, beta, n_cols, eps);
  else
    layer_norm_long(src, dst, alpha, beta, n_cols, eps);
}

#define NORM(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void rmsnorm_##T(                                      \
      const T *src, T *dst, const T *alpha, const int n_cols,                  \
      const int block_size, const float eps) {                                 \
    rms_norm(src, dst, alpha, n_cols, eps);                        \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void layernorm_##T(                                    \
      const T *src, T *dst, const T *alpha, const T *beta, const int n_cols,   \
      const int block_size, const float eps) {                                 \
    layer_norm(src, dst, alpha, beta, n_cols, eps);                \
  }

FOR_FLOATS(NORM)
