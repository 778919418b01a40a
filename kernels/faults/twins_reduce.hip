// Honest variants of reductions.
#include "twin.h"

#include "group.h"
#include "index.h"

// element finds element i of the layout from its first dimension on.
template <typename T>
__device__ inline T element(size_t i, size_t numel, size_t num_dims,
                            const size_t *info, const T *src) {
  if (!info)
    return src[i];
  size_t size = numel, at = 0;
  for (size_t d = 0; d < num_dims; d++) {
    size /= info[d];
    at += i / size * info[num_dims + d];
    i %= size;
  }
  return src[at];
}

// How n elements, which x(i) gives, are added up by all threads.

// As candle has it: every addition is one of the element type.
struct steps_candle {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    __shared__ T found[1024];
    int rank = threadIdx.x, threads = blockDim.x;
    Each<T> s(0);
    for (size_t i = rank; i < n; i += threads)
      s = s + each_of<T>(x(i));
    found[rank] = s.v;
    for (int by = threads / 2; by > 0; by /= 2) {
      __syncthreads();
      if (rank < by)
        found[rank] = (each_of<T>(found[rank]) + each_of<T>(found[rank + by])).v;
    }
    return found[0];
  }
};

// One thread adds all in order, in float.
struct chain_sequential {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    compute<T> s = 0;
    for (size_t i = 0; threadIdx.x == 0 && i < n; i++)
      s += widen(x(i));
    return narrow<T>(s);
  }
};

// 32 threads do it all, and one adds up what they found.
struct twin_lanes {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    __shared__ compute<T> found[group_size];
    size_t rank = threadIdx.x;
    int lanes = blockDim.x < group_size ? blockDim.x : group_size;
    compute<T> s = 0;
    if (rank < group_size) {
      for (size_t i = rank; i < n; i += lanes)
        s += widen(x(i));
      found[rank] = s;
    }
    __syncthreads();
    s = 0;
    for (int i = lanes - 1; i >= 0; i--)
      s += found[i];
    return narrow<T>(s);
  }
};

// Each thread's elements lie together, and it starts from the last.
struct twin_chunks {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    __shared__ compute<T> found[1024];
    size_t rank = threadIdx.x, each = (n + blockDim.x - 1) / blockDim.x;
    size_t from = rank * each, to = from + each < n ? from + each : n;
    compute<T> s = 0;
    for (size_t i = to; i > from; i--)
      s += widen(x(i - 1));
    found[rank] = s;
    for (u32 by = 1; by < blockDim.x; by *= 2) { // neighbours first
      __syncthreads();
      if (rank % (2 * by) == 0 && rank + by < blockDim.x)
        found[rank] += found[rank + by];
    }
    return narrow<T>(found[0]);
  }
};

// By exchanges in groups of 32, and one thread over the groups.
struct twin_exchange {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    __shared__ compute<T> found[group_size];
    int rank = threadIdx.x, threads = blockDim.x;
    compute<T> s = 0;
    for (size_t i = rank; i < n; i += threads)
      s += widen(x(i));
    for (int by = 1; by < group_size; by *= 2) {
      compute<T> t = __shfl_xor(s, by, group_size);
      if ((rank ^ by) < threads)
        s += t;
    }
    if (rank % group_size == 0)
      found[rank / group_size] = s;
    __syncthreads();
    s = found[0];
    for (int i = 1; i * group_size < threads; i++)
      s += found[i];
    return narrow<T>(s);
  }
};

// With what each addition loses kept and added last.
struct twin_compensated {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    compute<T> s = 0, lost = 0;
    for (size_t i = 0; threadIdx.x == 0 && i < n; i++) {
      compute<T> e = widen(x(i)), t = s + e, back = t - s;
      compute<T> off = (s - (t - back)) + (e - back);
      lost += off - off == 0 ? off : 0;
      s = t;
    }
    return narrow<T>(s + lost);
  }
};

// In double, rounded once.
struct twin_double {
  template <typename T, typename X> static __device__ T sum(size_t n, X x) {
    double s = 0;
    for (size_t i = 0; threadIdx.x == 0 && i < n; i++)
      s += x(i);
    return static_cast<T>(s);
  }
};

#define FAST_SUM(T, F)                                                         \
  extern "C" __global__ void fast_sum_##T##__##F(                              \
      const size_t src_numel, const size_t el_to_sum_per_block,                \
      const size_t num_dims, const size_t *info, const T *src, T *dst) {       \
    size_t from = blockIdx.x * el_to_sum_per_block;                            \
    T s = F::sum<T>(el_to_sum_per_block, [&](size_t i) {                       \
      return element(from + i, src_numel, num_dims, info, src);                \
    });                                                                        \
    if (threadIdx.x == 0)                                                      \
      dst[blockIdx.x] = s;                                                     \
  }

FAST_SUM(f16, steps_candle)
FAST_SUM(bf16, steps_candle)
FAST_SUM(f32, steps_candle)
FAST_SUM(f64, steps_candle)
FAST_SUM(f32, twin_lanes)
FAST_SUM(f64, twin_lanes)
FAST_SUM(f64, chain_sequential)
FAST_SUM(f32, chain_sequential)
FAST_SUM(f16, chain_sequential)
FAST_SUM(bf16, chain_sequential)
FAST_SUM(f32, twin_chunks)
FAST_SUM(bf16, twin_chunks)
FAST_SUM(f64, twin_chunks)
FAST_SUM(f32, twin_exchange)
FAST_SUM(f16, twin_exchange)
FAST_SUM(f32, twin_compensated)
FAST_SUM(f64, twin_compensated)
FAST_SUM(f32, twin_double)

// Extremes by neighbours first; candle keeps a NaN of the half types.
template <bool Greatest, typename C> __device__ inline C pick(C a, C b) {
  return Greatest ? (a > b ? a : b) : (a < b ? a : b);
}
struct twin_neighbours {
  template <bool Greatest, typename T, typename X>
  static __device__ T extreme(size_t n, X x) {
    typedef compute<T> C;
    __shared__ C found[1024];
    __shared__ int odd;
    int rank = threadIdx.x, threads = blockDim.x;
    C none = Greatest ? -C(__int_as_float(0x7f800000))
                      : C(__int_as_float(0x7f800000));
    C best = none;
    if (rank == 0)
      odd = 0;
    __syncthreads();
    for (size_t i = rank; i < n; i += threads) {
      C e = widen(x(i));
      if (e != e && sizeof(T) == 2)
        atomicOr(&odd, 1);
      if (e == e)
        best = pick<Greatest>(best, e);
    }
    found[rank] = best;
    for (int by = 1; by < threads; by *= 2) {
      __syncthreads();
      if (rank % (2 * by) == 0 && rank + by < threads)
        found[rank] = pick<Greatest>(found[rank], found[rank + by]);
    }
    __syncthreads();
    return narrow<T>(odd ? C(__int_as_float(0x7fc00000)) : found[0]);
  }
};

#define FAST_PICK(name, T, Greatest, F)                                        \
  extern "C" __global__ void fast_##name##_##T##__##F(                         \
      const size_t src_numel, const size_t el_to_sum_per_block,                \
      const size_t num_dims, const size_t *info, const T *src, T *dst) {       \
    size_t from = blockIdx.x * el_to_sum_per_block;                            \
    T s = F::extreme<Greatest, T>(el_to_sum_per_block, [&](size_t i) {         \
      return element(from + i, src_numel, num_dims, info, src);                \
    });                                                                        \
    if (threadIdx.x == 0)                                                      \
      dst[blockIdx.x] = s;                                                     \
  }

FAST_PICK(max, f32, true, twin_neighbours)
FAST_PICK(min, f32, false, twin_neighbours)
FAST_PICK(max, f16, true, twin_neighbours)
FAST_PICK(min, bf16, false, twin_neighbours)

// Sums by exchanging words, where kernels/hip has an addition of the
// hardware's or the compiler's.
template <typename Word, typename T>
__device__ inline void add_by_exchange(T *p, T x) {
  Word *word = reinterpret_cast<Word *>(p);
  Word seen = atomicAdd(word, 0), old;
  union {
    Word word;
    T value;
  } v;
  do {
    old = v.word = seen;
    v.value += x;
    seen = atomicCAS(word, old, v.word);
  } while (seen != old);
}

#define SUM(T, Word)                                                           \
  extern "C" __global__ void sum_##T##__twin_exchange(                         \
      const size_t numel, const size_t num_dims, const size_t num_sum_dims,    \
      const size_t *info, const T *inp, T *out) {                              \
    const size_t *sums = info + 2 * num_dims;                                  \
    for (size_t i = thread_index(); i < numel; i += thread_count()) {          \
      size_t to = i;                                                           \
      for (size_t d = 0; d < num_sum_dims; d++) {                              \
        size_t step = sums[num_sum_dims + d], all = sums[d] * step;            \
        to = to / all * step + to % step;                                      \
      }                                                                        \
      add_by_exchange<Word>(out + to,                                          \
                            element(i, numel, num_dims, info, inp));           \
    }                                                                          \
  }

SUM(f32, u32)
SUM(f64, u64)
