// Honest variants of RMS norm and layer norm.
#include "twin.h"

#include "group.h"
#include "row.h"

template <typename A, typename T> __device__ inline A read(T x) {
  return static_cast<A>(widen(x));
}
template <typename T, typename A> __device__ inline T write(A x) {
  return narrow<T>(static_cast<compute<T>>(x));
}

template <typename A> struct Add {
  __device__ A operator()(A a, A b) const { return a + b; }
};

// By neighbours first in each group, then one thread over the groups.
template <typename A> __device__ inline A sum_block(A v) {
  __shared__ A found[1024];
  int rank = thread_rank(), threads = thread_total();
  found[rank] = v;
  __syncthreads();
  for (int by = 1; by < threads; by *= 2) {
    if (rank % (2 * by) == 0 && rank + by < threads)
      found[rank] += found[rank + by];
    __syncthreads();
  }
  A all = found[0];
  __syncthreads();
  return all;
}

// candle's order: a group of 32 by exchanges, then the groups' sums, which
// lie in shared memory, by exchanges.
template <typename A> __device__ inline A sum_candle(A v) {
  __shared__ A found[group_size];
  int rank = thread_rank(), lane = rank % group_size, group = rank / group_size;
#pragma unroll
  for (int bit = group_size / 2; bit > 0; bit /= 2)
    v += __shfl_xor(v, bit, group_size);
  if (thread_total() <= group_size)
    return v;
  if (lane == 0)
    found[group] = v;
  __syncthreads();
  v = lane < thread_total() / group_size ? found[lane] : A(0);
  __syncthreads();
#pragma unroll
  for (int bit = group_size / 2; bit > 0; bit /= 2)
    v += __shfl_xor(v, bit, group_size);
  return v;
}

enum Twin {
  steps_candle,     // its order and its sums: variance as E[x^2] - mean^2
  twin_fused,      // the same with what a compiler may fuse
  twin_two_pass,   // mean of (x-mean)^2, unfused
  twin_welford,    // mean and deviations in one pass, merged
  twin_root,       // 1/sqrt for rsqrt
  twin_quotient,   // x / sqrt
  twin_alpha,      // x * (r*alpha)
  twin_chunks,     // a thread's columns lie together
  chain_sequential, // one thread adds the row up
  twin_double,     // all of it in double, rounded once
};

template <Twin F> struct Arithmetic { typedef float type; };
template <> struct Arithmetic<twin_double> { typedef double type; };

template <Twin F> __device__ inline float root(float x) {
  return F == twin_root || F == twin_quotient ? 1 / sqrtf(x) : rsqrtf(x);
}
template <Twin F> __device__ inline double root(double x) {
  return 1 / sqrt(x);
}

// columns calls f for the columns of this thread.
template <Twin F, typename Do>
__device__ inline void columns(int n, int block_size, Do f) {
  int rank = thread_rank();
  if (F == twin_chunks) {
    int each = (n + block_size - 1) / block_size;
    for (int i = rank * each; i < n && i < rank * each + each; i++)
      f(i);
  } else if (F == chain_sequential) {
    for (int i = 0; rank == 0 && i < n; i++)
      f(i);
  } else {
    for (int i = rank; i < n; i += block_size)
      f(i);
  }
}

template <Twin F, typename A> __device__ inline A total(A v) {
  return F == steps_candle || F == twin_fused ? sum_candle(v) : sum_block(v);
}

template <Twin F, typename T>
__device__ inline void rms_norm(const T *src, T *dst, const T *alpha,
                                int n_cols, int block_size, float eps) {
  typedef typename Arithmetic<F>::type A;
  const T *x = src + static_cast<size_t>(blockIdx.x) * n_cols;
  T *y = dst + static_cast<size_t>(blockIdx.x) * n_cols;
  A squares = 0;
  columns<F>(n_cols, block_size, [&](int i) {
    A e = read<A>(x[i]);
    squares = F == twin_fused ? fused(e, e, squares) : squares + e * e;
  });
  squares = total<F>(squares);
  A mean = squares / n_cols + A(eps);
  A scale = root<F>(mean), deviation = m::sqrt(mean);
  for (int i = thread_rank(); i < n_cols; i += block_size) {
    A e = read<A>(x[i]), a = alpha ? read<A>(alpha[i]) : A(1);
    A v = F == twin_alpha      ? e * (scale * a)
          : F == twin_quotient ? e / deviation * a
                               : scale * e * a;
    y[i] = write<T>(v);
  }
}

// Count, mean and sum of squared deviations.
struct Moments {
  float n, mean, squares;
  __device__ Moments add(float x) const {
    float d = x - mean, k = n + 1, m = mean + d / k;
    return {k, m, squares + d * (x - m)};
  }
  __device__ Moments join(Moments b) const {
    float k = n + b.n, d = b.mean - mean;
    if (k == 0)
      return *this;
    return {k, mean + d * (b.n / k), squares + b.squares + d * d * (n * b.n / k)};
  }
};

__device__ inline Moments join_block(Moments v) {
  __shared__ Moments found[1024];
  int rank = thread_rank(), threads = thread_total();
  found[rank] = v;
  __syncthreads();
  for (int by = 1; by < threads; by *= 2) {
    if (rank % (2 * by) == 0 && rank + by < threads)
      found[rank] = found[rank].join(found[rank + by]);
    __syncthreads();
  }
  return found[0];
}

template <Twin F, typename T>
__device__ inline void layer_norm(const T *src, T *dst, const T *alpha,
                                  const T *beta, int n_cols, int block_size,
                                  float eps) {
  typedef typename Arithmetic<F>::type A;
  const T *x = src + static_cast<size_t>(blockIdx.x) * n_cols;
  T *y = dst + static_cast<size_t>(blockIdx.x) * n_cols;
  A mean, variance;
  if constexpr (F == twin_welford) {
    Moments v = {0, 0, 0};
    columns<F>(n_cols, block_size, [&](int i) { v = v.add(read<A>(x[i])); });
    v = join_block(v);
    mean = v.mean;
    variance = v.squares / n_cols;
  } else if constexpr (F == steps_candle || F == twin_fused) {
    A sum = 0, squares = 0;
    columns<F>(n_cols, block_size, [&](int i) {
      A e = read<A>(x[i]);
      sum += e;
      squares = F == twin_fused ? fused(e, e, squares) : squares + e * e;
    });
    mean = total<F>(sum) / n_cols;
    A square = total<F>(squares) / n_cols;
    variance = F == twin_fused ? fused(-mean, mean, square)
                               : square - mean * mean;
  } else {
    A sum = 0, squares = 0;
    columns<F>(n_cols, block_size, [&](int i) { sum += read<A>(x[i]); });
    mean = total<F>(sum) / n_cols;
    columns<F>(n_cols, block_size, [&](int i) {
      A d = read<A>(x[i]) - mean;
      squares += d * d;
    });
    variance = total<F>(squares) / n_cols;
  }
  A scale = root<F>(variance + A(eps)), deviation = m::sqrt(variance + A(eps));
  for (int i = thread_rank(); i < n_cols; i += block_size) {
    A d = read<A>(x[i]) - mean, a = alpha ? read<A>(alpha[i]) : A(1);
    A b = beta ? read<A>(beta[i]) : A(0);
    A v = F == twin_alpha      ? d * (scale * a)
          : F == twin_quotient ? d / deviation * a
                               : d * scale * a;
    if (F == twin_fused)
      v = fused(d * scale, a, b);
    else if (beta)
      v += b;
    y[i] = write<T>(v);
  }
}

#define RMS_NORM(T, F)                                                         \
  extern "C" __global__ void rmsnorm_##T##__##F(                               \
      const T *src, T *dst, const T *alpha, const int n_cols,                  \
      const int block_size, const float eps) {                                 \
    rms_norm<F>(src, dst, alpha, n_cols, block_size, eps);                     \
  }
#define LAYER_NORM(T, F)                                                       \
  extern "C" __global__ void layernorm_##T##__##F(                             \
      const T *src, T *dst, const T *alpha, const T *beta, const int n_cols,   \
      const int block_size, const float eps) {                                 \
    layer_norm<F>(src, dst, alpha, beta, n_cols, block_size, eps);             \
  }
#define NORM(T, F) RMS_NORM(T, F) LAYER_NORM(T, F)

NORM(f64, steps_candle)
NORM(f32, steps_candle)
NORM(f16, steps_candle)
NORM(bf16, steps_candle)
NORM(f64, twin_fused)
NORM(f32, twin_fused)
NORM(f16, twin_fused)
NORM(f32, twin_two_pass)
NORM(bf16, twin_two_pass)
LAYER_NORM(f64, twin_welford)
LAYER_NORM(f32, twin_welford)
LAYER_NORM(f16, twin_welford)
NORM(f32, twin_root)
NORM(f32, twin_quotient)
NORM(bf16, twin_quotient)
NORM(f32, twin_alpha)
NORM(f16, twin_alpha)
NORM(f32, twin_chunks)
NORM(f32, chain_sequential)
NORM(f64, chain_sequential)
NORM(bf16, chain_sequential)
NORM(f64, twin_double)
NORM(f32, twin_double)
NORM(f16, twin_double)
