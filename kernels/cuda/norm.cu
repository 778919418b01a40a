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

// gain is piece of alpha or beta; null is none for every column.
template <typename T>
__device__ inline Words<T> gain(const T *of, float none, int piece) {
  return of ? *words_at(of, piece) : Words<T>::all(narrow<T>(none));
}

// RmsNorm is one row's.
template <typename T> struct RmsNorm {
  const T *src, *alpha;
  T *dst;
  int n_cols;
  float eps;
  Slots<float> &slots;

  __device__ inline float scale(float squares) const {
    float per = 1.0f / n_cols;
    return rsqrtf(fused(reduce_block(squares, slots, add), per, eps));
  }

  // Of a row in registers.
  template <typename Row> __device__ inline void operator()(const Row &row) {
    float squares = 0;
    row.each([&](int, int, T e) {
      float x = as_float(e);
      squares = fused(x, x, squares);
    });
    float by = scale(squares);
    row.store(dst, [&](int k, int piece) {
      const Words<T> &x = row.at[k];
      Words<T> a = gain(alpha, 1, piece), y;
#pragma unroll
      for (int i = 0; i < y.size; i++)
        y.put(i, narrow<T>(by * as_float(x[i]) * as_float(a[i])));
      return y;
    });
  }

  // Of any row.
  __device__ inline void read_twice() {
    int first = thread_rank(), step = thread_total();
    float squares = 0;
    each<2>(src, n_cols, first, step, [&](int, T e) {
      float x = as_float(e);
      squares = fused(x, x, squares);
    });
    float by = scale(squares);
    map_row(src, dst, n_cols, first, step, [&](int col, T e) {
      float y = by * as_float(e);
      return narrow<T>(alpha ? y * as_float(alpha[col]) : y);
    });
  }
};

template <typename T>
__device__ inline void rms_norm(const T *src, T *dst, const T *alpha,
                                int n_cols, float eps) {
  __shared__ Slots<float> slots;
  size_t start = static_cast<size_t>(blockIdx.x) * n_cols;
  RmsNorm<T> norm = {src + start, alpha, dst + start, n_cols, eps, slots};
  bool packed = aligned(norm.dst) && aligned(alpha);
  if (!packed || !hold<Use::kept>(norm.src, n_cols, thread_rank(),
                                  thread_total(), norm))
    norm.read_twice();
}

// LayerNorm is one row's.
template <typename T> struct LayerNorm {
  const T *src, *alpha, *beta;
  T *dst;
  int n_cols;
  float eps;
  Slots<float> &sums, &deviations;

  __device__ inline float mean(float sum) const {
    float per = 1.0f / n_cols;
    return reduce_block(sum, sums, add) * per;
  }
  __device__ inline float scale(float squares) const {
    float per = 1.0f / n_cols;
    return rsqrtf(fused(reduce_block(squares, deviations, add), per, eps));
  }

  // Of a row in registers.
  template <typename Row> __device__ inline void operator()(const Row &row) {
    float sum = 0;
    row.each([&](int, int, T e) { sum += as_float(e); });
    float m = mean(sum);
    float squares = 0;
    row.each([&](int, int, T e) {
      float d = as_float(e) - m;
      squares = fused(d, d, squares);
    });
    float by = scale(squares);
    row.store(dst, [&](int k, int piece) {
      const Words<T> &x = row.at[k];
      // -0 leaves a zero its sign.
      Words<T> a = gain(alpha, 1, piece), b = gain(beta, -0.0f, piece), y;
#pragma unroll
      for (int i = 0; i < y.size; i++) {
        float z = (as_float(x[i]) - m) * by;
        y.put(i, narrow<T>(fused(z, as_float(a[i]), as_float(b[i]))));
      }
      return y;
    });
  }

  // Of any row: it is in the caches after the first time.
  __device__ inline void read_thrice() {
    int first = thread_rank(), step = thread_total();
    float sum = 0;
    each<2>(src, n_cols, first, step, [&](int, T e) { sum += as_float(e); });
    float m = mean(sum);
    float squares = 0;
    each<2>(src, n_cols, first, step, [&](int, T e) {
      float d = as_float(e) - m;
      squares = fused(d, d, squares);
    });
    float by = scale(squares);
    map_row(src, dst, n_cols, first, step, [&](int col, T e) {
      float y = (as_float(e) - m) * by;
      float a = alpha ? as_float(alpha[col]) : 1;
      return narrow<T>(beta ? fused(y, a, as_float(beta[col])) : y * a);
    });
  }
};

template <typename T>
__device__ inline void layer_norm(const T *src, T *dst, const T *alpha,
                                  const T *beta, int n_cols, float eps) {
  __shared__ Slots<float> sums, deviations;
  size_t start = static_cast<size_t>(blockIdx.x) * n_cols;
  LayerNorm<T> norm = {src + start, alpha, beta, dst + start,
                       n_cols,      eps,   sums, deviations};
  bool packed = aligned(norm.dst) && aligned(alpha) && aligned(beta);
  if (!packed || !hold<Use::kept>(norm.src, n_cols, thread_rank(),
                                  thread_total(), norm))
    norm.read_thrice();
}

#define NORM(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void rmsnorm_##T(              \
      const T *src, T *dst, const T *alpha, const int n_cols,                  \
      const int block_size, const float eps) {                                 \
    rms_norm(src, dst, alpha, n_cols, eps);                                    \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void layernorm_##T(            \
      const T *src, T *dst, const T *alpha, const T *beta, const int n_cols,   \
      const int block_size, const float eps) {                                 \
    layer_norm(src, dst, alpha, beta, n_cols, eps);                            \
  }

FOR_FLOATS(NORM)
