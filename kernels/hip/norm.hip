// RMS norm and layer norm of rows: one block a row, the columns shared out in
// steps of block_size, which is the number of threads.
//
// Elements of every type, double included, are read as float and all is done
// in float, as in candle. candle's own kernels add up 32 shared slots in their
// second stage and need a block of exactly 32 threads or of 32 full warps of
// 32; these take any block on any wave (group.h). candle takes the variance as
// E[x^2] - mean^2, which cancels where the mean is large; here it is the mean
// of (x - mean)^2, at the price of reading the row once more, from the cache.
#include "group.h"
#include "row.h"

template <typename T> __device__ inline float as_float(T x) {
  return static_cast<float>(widen(x));
}

__device__ inline float add(float a, float b) { return a + b; }

template <typename T>
__device__ inline void rms_norm(const T *src, T *dst, const T *alpha,
                                int n_cols, int block_size, float eps) {
  __shared__ Slots<float> slots;
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  int first = thread_rank();

  float squares = 0;
  each(src + row, n_cols, first, block_size, [&](int, T e) {
    float x = as_float(e);
    squares = fused(x, x, squares);
  });
  squares = reduce_block(squares, slots, add);
  float scale = rsqrtf(squares / n_cols + eps);

  map_row(src + row, dst + row, n_cols, first, block_size, [&](int col, T e) {
    float y = scale * as_float(e);
    return narrow<T>(alpha ? y * as_float(alpha[col]) : y);
  });
}

template <typename T>
__device__ inline void layer_norm(const T *src, T *dst, const T *alpha,
                                  const T *beta, int n_cols, int block_size,
                                  float eps) {
  __shared__ Slots<float> slots;
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  int first = thread_rank();

  float sum = 0;
  each(src + row, n_cols, first, block_size,
       [&](int, T e) { sum += as_float(e); });
  float mean = reduce_block(sum, slots, add) / n_cols;

  float squares = 0;
  each(src + row, n_cols, first, block_size, [&](int, T e) {
    float d = as_float(e) - mean;
    squares = fused(d, d, squares);
  });
  squares = reduce_block(squares, slots, add);
  float scale = rsqrtf(squares / n_cols + eps);

  map_row(src + row, dst + row, n_cols, first, block_size, [&](int col, T e) {
    float y = (as_float(e) - mean) * scale;
    if (alpha)
      y *= as_float(alpha[col]);
    if (beta)
      y += as_float(beta[col]);
    return narrow<T>(y);
  });
}

#define NORM(T)                                                                \
  extern "C" __global__ void rmsnorm_##T(                                      \
      const T *src, T *dst, const T *alpha, const int n_cols,                  \
      const int block_size, const float eps) {                                 \
    rms_norm(src, dst, alpha, n_cols, block_size, eps);                        \
  }                                                                            \
  extern "C" __global__ void layernorm_##T(                                    \
      const T *src, T *dst, const T *alpha, const T *beta, const int n_cols,   \
      const int block_size, const float eps) {                                 \
    layer_norm(src, dst, alpha, beta, n_cols, block_size, eps);                \
  }

FOR_FLOATS(NORM)
