// Reductions. The fast ones give each output a block; its elements are those
// of one stretch of the layout, whose reduced dims stand last. sum adds each
// element to its output by an atomic.
//
// A block works in candle's order: thread t takes elements t, t + threads and
// so on, then thread t takes in thread t + s for s halving down to 1. So sums
// round alike on both sides, and of equal extremes the same index is found,
// which is not the lowest. Any number of threads will do; candle's own kernels
// need a power of two.
//
// f16 and bf16 are added in float and rounded once, where candle adds in the
// element type; their min and max keep a NaN, those of f32 and f64 drop it.
#include "group.h"
#include "index.h"

// Lane<T>::type is what T is shuffled and added in.
template <typename T> struct Lane { typedef compute<T> type; };
template <> struct Lane<u8> { typedef u32 type; };
template <typename T> using lane_type = typename Lane<T>::type;

template <typename T> struct Range;
template <> struct Range<u8> {
  static __device__ u8 low() { return 0; }
  static __device__ u8 high() { return 0xff; }
};
template <> struct Range<u32> {
  static __device__ u32 low() { return 0; }
  static __device__ u32 high() { return 0xffffffff; }
};
template <> struct Range<i64> {
  static __device__ i64 low() { return -0x7fffffffffffffff - 1; }
  static __device__ i64 high() { return 0x7fffffffffffffff; }
};
template <> struct Range<f64> {
  static __device__ f64 low() { return -high(); }
  static __device__ f64 high() {
    return __longlong_as_double(0x7ff0000000000000);
  }
};
template <> struct Range<f32> {
  static __device__ f32 low() { return -high(); }
  static __device__ f32 high() { return __int_as_float(0x7f800000); }
};
template <> struct Range<f16> : Range<f32> {};
template <> struct Range<bf16> : Range<f32> {};

template <typename T> struct Max {
  template <typename A> static __device__ A of(A a, A b) {
    return b > a ? b : a;
  }
};
template <typename T> struct Min {
  template <typename A> static __device__ A of(A a, A b) {
    return b < a ? b : a;
  }
};
template <> struct Max<f32> {
  static __device__ f32 of(f32 a, f32 b) { return fmaxf(a, b); }
};
template <> struct Min<f32> {
  static __device__ f32 of(f32 a, f32 b) { return fminf(a, b); }
};
template <> struct Max<f64> {
  static __device__ f64 of(f64 a, f64 b) { return fmax(a, b); }
};
template <> struct Min<f64> {
  static __device__ f64 of(f64 a, f64 b) { return fmin(a, b); }
};
struct KeepNaN {
  static __device__ bool in(f32 a, f32 b) { return a != a || b != b; }
};
template <> struct Max<f16> {
  static __device__ f32 of(f32 a, f32 b) {
    return KeepNaN::in(a, b) ? a + b : fmaxf(a, b);
  }
};
template <> struct Min<f16> {
  static __device__ f32 of(f32 a, f32 b) {
    return KeepNaN::in(a, b) ? a + b : fminf(a, b);
  }
};
template <> struct Max<bf16> : Max<f16> {};
template <> struct Min<bf16> : Min<f16> {};

// walk calls f(element, its place in the layout) for this thread's elements.
template <typename T, typename F>
__device__ inline void walk(size_t numel, size_t each, size_t num_dims,
                            const size_t *info, const T *src, F f) {
  size_t start = each * blockIdx.x;
  size_t stop = start + each < numel ? start + each : numel;
  bool gather = info && !contiguous(num_dims, info, info + num_dims);
#pragma unroll 1
  for (size_t i = start + thread_rank(); i < stop; i += thread_total())
    f(src[gather ? strided(i, numel, num_dims, info, info + num_dims) : i], i);
}

// tree is op over the block, in thread 0. Threads of the upper half hand over
// through shared memory; each half uses places of its own, so that one barrier
// is enough, and the last 32 threads use none.
template <typename A, typename Op>
__device__ inline A tree(A v, A (&shared)[1024], Op op) {
  int rank = thread_rank(), threads = thread_total();
  int half = group_size;
  while (2 * half < threads)
    half *= 2;
  for (; half >= group_size && half < threads; half /= 2) {
    if (rank >= half && rank < 2 * half)
      shared[rank] = v;
    __syncthreads();
    if (rank < half && rank + half < threads)
      v = op(v, shared[rank + half]);
  }
  int present = threads - rank / group_size * group_size;
  present = present < group_size ? present : group_size;
  return reduce_group(v, present, present, op);
}

template <typename T>
__device__ inline void fast_sum(size_t numel, size_t each, size_t num_dims,
                                const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ A shared[1024];
  A sum = 0;
  walk(numel, each, num_dims, info, src,
       [&](T x, size_t) { sum += widen(x); });
  sum = tree(sum, shared, [](A a, A b) { return a + b; });
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(sum);
}

template <typename Pick, typename T>
__device__ inline void fast_pick(lane_type<T> from, size_t numel, size_t each,
                                 size_t num_dims, const size_t *info,
                                 const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ A shared[1024];
  A best = from;
  walk(numel, each, num_dims, info, src,
       [&](T x, size_t) { best = Pick::of(best, static_cast<A>(widen(x))); });
  best = tree(best, shared, [](A a, A b) { return Pick::of(a, b); });
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(best);
}

// A value with its index along the last dim.
template <typename A> struct At {
  A value;
  u32 index;
};
template <typename A>
__device__ inline At<A> shift_down(At<A> v, int by, int present) {
  return {shift_down(v.value, by, present), shift_down(v.index, by, present)};
}

struct Above {
  template <typename A> static __device__ bool better(A a, A b) {
    return a > b;
  }
};
struct Below {
  template <typename A> static __device__ bool better(A a, A b) {
    return a < b;
  }
};

// better(a, b) tells whether a is to be taken in place of b. A thread's first
// element is taken whatever it is: a NaN there stays, for nothing is better.
template <typename Order, typename T>
__device__ inline void fast_arg(lane_type<T> from, size_t numel, size_t each,
                                size_t num_dims, const size_t *info,
                                const T *src, u32 *dst) {
  typedef lane_type<T> A;
  __shared__ At<A> shared[1024];
  At<A> best = {from, 0xffffffff};
  size_t last = info ? info[num_dims - 1] : each;
  bool set = false;
  walk(numel, each, num_dims, info, src, [&](T e, size_t i) {
    A x = widen(e);
    if (!set || Order::better(x, best.value))
      best = {x, static_cast<u32>(i % last)};
    set = true;
  });
  best = tree(best, shared, [](At<A> a, At<A> b) {
    return Order::better(b.value, a.value) ? b : a;
  });
  if (thread_rank() == 0)
    dst[blockIdx.x] = best.index;
}

__device__ inline void atomic_add(f64 *p, f64 x) { atomicAdd(p, x); }
__device__ inline void atomic_add(f32 *p, f32 x) { atomicAdd(p, x); }
__device__ inline void atomic_add(u32 *p, u32 x) { atomicAdd(p, x); }

// A half is added in float and rounded, by exchanging the aligned word that
// holds it: there is no narrower exchange.
template <typename T> __device__ inline void atomic_add(T *p, T x) {
  static_assert(sizeof(T) == 2, "f16 and bf16");
  union {
    unsigned short bits;
    T value;
  } half;
  size_t at = reinterpret_cast<size_t>(p);
  u32 *word = reinterpret_cast<u32 *>(at & ~static_cast<size_t>(3));
  int shift = at & 2 ? 16 : 0;
  u32 seen = atomicOr(word, 0), old;
  do {
    old = seen;
    half.bits = static_cast<unsigned short>(old >> shift);
    half.value = narrow<T>(widen(half.value) + widen(x));
    u32 rest = old & ~(0xffffu << shift);
    seen = atomicCAS(word, old, rest | static_cast<u32>(half.bits) << shift);
  } while (seen != old);
}

// info is dims, strides, then for each summed dim, in the order of dims, its
// length and the number of elements behind one step of it.
template <typename T>
__device__ inline void sum(size_t numel, size_t num_dims, size_t num_sum_dims,
                           const size_t *info, const T *inp, T *out) {
  const size_t *strides = info + num_dims;
  const size_t *lengths = strides + num_dims;
  const size_t *steps = lengths + num_sum_dims;
  bool gather = !contiguous(num_dims, info, strides);
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t to = i;
#pragma unroll 1
    for (size_t d = 0; d < num_sum_dims; d++) {
      size_t before = to / steps[d];
      to = before / lengths[d] * steps[d] + (to - before * steps[d]);
    }
    atomic_add(out + to,
               inp[gather ? strided(i, numel, num_dims, info, strides) : i]);
  }
}

#define FAST(name, T, R, call)                                                 \
  extern "C" __global__ void name##_##T(                                       \
      const size_t src_numel, const size_t el_to_sum_per_block,                \
      const size_t num_dims, const size_t *info, const T *src, R *dst) {       \
    call;                                                                      \
  }
#define ARGS src_numel, el_to_sum_per_block, num_dims, info, src, dst

#define FAST_SUM(T) FAST(fast_sum, T, T, fast_sum(ARGS))
#define FAST_MAX(T)                                                            \
  FAST(fast_max, T, T, fast_pick<Max<T>>(Range<T>::low(), ARGS))
#define FAST_MIN(T)                                                            \
  FAST(fast_min, T, T, fast_pick<Min<T>>(Range<T>::high(), ARGS))
#define FAST_ARGMAX(T)                                                         \
  FAST(fast_argmax, T, u32, fast_arg<Above>(Range<T>::low(), ARGS))
#define FAST_ARGMIN(T)                                                         \
  FAST(fast_argmin, T, u32, fast_arg<Below>(Range<T>::high(), ARGS))

#define SUM(T)                                                                 \
  extern "C" __global__ void sum_##T(                                          \
      const size_t numel, const size_t num_dims, const size_t num_sum_dims,    \
      const size_t *info, const T *inp, T *out) {                              \
    sum(numel, num_dims, num_sum_dims, info, inp, out);                        \
  }

#define FAST_ALL(T)                                                            \
  FAST_SUM(T) FAST_MAX(T) FAST_MIN(T) FAST_ARGMAX(T) FAST_ARGMIN(T)

FOR_FLOATS(FAST_ALL)
FOR_INTS(FAST_ALL)
FOR_FLOATS(SUM)
SUM(u32)
