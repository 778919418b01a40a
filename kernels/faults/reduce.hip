// Wrong ports of reductions. kernels/hip/reduce.hip is right, and so is what
// stands here where F is twin.
#include "fault.h"
#include "group.h"
#include "index.h"

enum Fault {
  twin,
  // In what is reduced.
  max_zero,       // the maximum begins at 0
  max_finite,     // the maximum begins at -FLT_MAX
  min_positive,   // the maximum begins at FLT_MIN, taken for the lowest
  signed_max,     // u32 compared as signed
  nan_kept,       // a NaN wins where it must be dropped
  nan_dropped,    // and is dropped where it must win
  not_strict,     // >= for >: of equal elements the last
  lowest_index,   // of equal elements the lowest index, not candle's
  index_of_lane,  // the index within the thread's own elements
  index_in_block, // the index in the layout, not in the last dim
  unset_index,    // an index from an empty thread wins
  as_float,       // i64 by way of float
  by_int,         // i64 sums in 32 bits
  half_sum,       // a running sum in f16, one after another
  single,         // f64 by way of float
  truncated,      // low half of the float cut off at the store
  wide_u8,        // u8 sums that stop at 255
  index_u16,      // indices of 16 bits
  by_float,       // integers added in float
  // In the walk.
  strides_ignored, // a strided source read as if contiguous
  row_ignored,     // the first row for all
  one_pass,        // a thread takes one element and no more
  last_partial,    // the last incomplete pass over a block left out
  one_past,        // one element too many
  second_output,   // every thread stores
  // In the tree.
  stop_at_2,       // the shuffle by 1 left out
  waves_of_64_w32, // the last 64 lanes without barriers
  half_lost,       // the step from 64 to 32 left out
  no_sync,         // no barrier between the steps
  past_threads,    // lanes that do not exist take part
  warp_alone,      // the first 32 threads' result for all
  // In the sum by atomics.
  plain_add,       // no atomic
  no_retry,        // an exchange that failed is not tried again
  other_half,      // of the word's two halves always the lower
  neighbour_lost,  // the other half of the word written as 0
  overwrite,       // the last one stays
  step_swapped,    // lengths and steps of summed dims exchanged
  dims_outer,      // the first summed dim alone
  dims_inner,      // the last summed dim alone
  strides_reversed,// strides taken in the order of the fastest dimension
};

template <typename T> struct Lane { typedef compute<T> type; };
template <> struct Lane<u8> { typedef u32 type; };
template <typename T> using lane_type = typename Lane<T>::type;

template <typename A> __device__ inline A infinity() {
  if constexpr (sizeof(A) == 8)
    return __longlong_as_double(0x7ff0000000000000);
  else
    return __int_as_float(0x7f800000);
}

template <Fault F, typename T, typename Fn>
__device__ inline void walk(size_t numel, size_t each, size_t num_dims,
                            const size_t *info, const T *src, Fn f) {
  size_t start = F == row_ignored ? 0 : each * blockIdx.x;
  size_t stop = start + each < numel ? start + each : numel;
  size_t step = thread_total();
  if (F == one_past)
    stop++;
  if (F == last_partial && each > step)
    stop = start + each / step * step;
  bool gather = F != strides_ignored && info &&
                !contiguous(num_dims, info, info + num_dims);
#pragma unroll 1
  for (size_t i = start + thread_rank(); i < stop; i += step) {
    f(src[gather ? strided(i, numel, num_dims, info, info + num_dims) : i], i);
    if (F == one_pass)
      break;
  }
}

template <Fault F, typename A, typename Op>
__device__ inline A tree(A v, A (&shared)[1024], Op op) {
  int rank = thread_rank(), threads = thread_total();
  if constexpr (F == waves_of_64_w32) {
    // Barriers down to 64 threads, of which a wave is thought to hold all.
    int top = 1;
    while (top < threads)
      top *= 2;
    shared[rank] = v;
    __syncthreads();
    for (int by = top / 2; by > 0; by /= 2) {
      if (rank < by && rank + by < threads)
        shared[rank] = op(shared[rank], shared[rank + by]);
      if (by > 64)
        __syncthreads();
      else
        __builtin_amdgcn_wave_barrier();
    }
    return shared[rank];
  }
  int half = group_size;
  while (2 * half < threads)
    half *= 2;
  for (; half >= group_size && half < threads; half /= 2) {
    if (F == warp_alone)
      break;
    if (F == half_lost && half == group_size)
      continue;
    if (rank >= half && rank < 2 * half)
      shared[rank] = v;
    if (F != no_sync)
      __syncthreads();
    if (rank < half && rank + half < threads)
      v = op(v, shared[rank + half]);
  }
  int present = threads - rank / group_size * group_size;
  present = present < group_size && F != past_threads ? present : group_size;
  int lane = rank % group_size;
#pragma unroll
  for (int by = group_size / 2; by > (F == stop_at_2 ? 1 : 0); by /= 2) {
    A w = shift_down(v, by, present);
    if (lane + by < present)
      v = op(v, w);
  }
  return v;
}

template <Fault F, typename T>
__device__ inline void fast_sum(size_t numel, size_t each, size_t num_dims,
                                const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ A shared[1024];
  A sum = 0;
  if constexpr (F == half_sum) {
    if (thread_rank() == 0) {
      size_t start = each * blockIdx.x;
      f16 s = 0;
      for (size_t i = start; i < start + each; i++)
        s += src[strided(i, numel, num_dims, info, info + num_dims)];
      sum = s;
    }
  } else {
    walk<F>(numel, each, num_dims, info, src, [&](T x, size_t) {
      if constexpr (F == by_float)
        sum = static_cast<A>(static_cast<float>(sum) + static_cast<float>(x));
      else if constexpr (F == single)
        sum = static_cast<float>(sum) + static_cast<float>(x);
      else if constexpr (F == by_int)
        sum = static_cast<i32>(sum) + static_cast<i32>(x);
      else
        sum += widen(x);
    });
    sum = tree<F>(sum, shared, [](A a, A b) {
      if constexpr (F == wide_u8)
        return a + b < 255 ? a + b : A(255);
      else
        return a + b;
    });
  }
  if (thread_rank() == 0 || F == second_output) {
    if constexpr (F == truncated)
      dst[blockIdx.x] = truncate<T>(sum);
    else
      dst[blockIdx.x] = narrow<T>(sum);
  }
}

template <Fault F, typename T, typename A>
__device__ inline A larger(A a, A b) {
  if constexpr (F == signed_max)
    return static_cast<i32>(b) > static_cast<i32>(a) ? b : a;
  else if constexpr (F == as_float)
    return static_cast<float>(b) > static_cast<float>(a) ? b : a;
  else if constexpr (sizeof(T) == 2)
    return F != nan_dropped && (a != a || b != b) ? a + b : fmaxf(a, b);
  else if constexpr (F == nan_kept)
    return a != a || b != b ? a + b : b > a ? b : a;
  else if constexpr (A(0.5) != A(0))
    return b > a || a != a ? b : a;
  else
    return b > a ? b : a;
}

template <Fault F, typename T>
__device__ inline void fast_max(size_t numel, size_t each, size_t num_dims,
                                const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ A shared[1024];
  A best;
  if constexpr (F == max_zero || F == past_threads)
    best = 0;
  else if constexpr (F == max_finite)
    best = A(-3.402823466e38f);
  else if constexpr (F == min_positive)
    best = A(1.17549435e-38f);
  else if constexpr (A(0.5) != A(0))
    best = -infinity<A>();
  else if constexpr (sizeof(T) == 8)
    best = -0x7fffffffffffffff - 1;
  else
    best = 0;
  walk<F>(numel, each, num_dims, info, src, [&](T x, size_t) {
    best = larger<F, T>(best, static_cast<A>(widen(x)));
  });
  best = tree<F>(best, shared, [](A a, A b) { return larger<F, T>(a, b); });
  if (thread_rank() == 0 || F == second_output)
    dst[blockIdx.x] = narrow<T>(best);
}

// A minimum is the maximum's mirror image, with its own first value.
template <Fault F, typename T>
__device__ inline void fast_min(size_t numel, size_t each, size_t num_dims,
                                const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ A shared[1024];
  A best;
  if constexpr (F == max_zero || F == past_threads)
    best = 0;
  else if constexpr (F == max_finite)
    best = A(3.402823466e38f);
  else if constexpr (A(0.5) != A(0))
    best = infinity<A>();
  else if constexpr (sizeof(T) == 8)
    best = 0x7fffffffffffffff;
  else
    best = T(-1);
  auto less = [](A a, A b) {
    if constexpr (F == signed_max)
      return static_cast<i32>(b) < static_cast<i32>(a) ? b : a;
    else if constexpr (F == as_float)
      return static_cast<float>(b) < static_cast<float>(a) ? b : a;
    else if constexpr (sizeof(T) == 2)
      return F != nan_dropped && (a != a || b != b) ? a + b : fminf(a, b);
    else if constexpr (F == nan_kept)
      return a != a || b != b ? a + b : b < a ? b : a;
    else
      return b < a || a != a ? b : a;
  };
  walk<F>(numel, each, num_dims, info, src, [&](T x, size_t) {
    best = less(best, static_cast<A>(widen(x)));
  });
  best = tree<F>(best, shared, less);
  if (thread_rank() == 0 || F == second_output)
    dst[blockIdx.x] = narrow<T>(best);
}

template <typename A> struct At {
  A value;
  u32 index;
};
template <typename A>
__device__ inline At<A> shift_down(At<A> v, int by, int present) {
  return {shift_down(v.value, by, present), shift_down(v.index, by, present)};
}

template <Fault F, typename A>
__device__ inline bool better(At<A> b, At<A> a) {
  if (F == lowest_index && b.value == a.value)
    return b.index < a.index;
  return F == not_strict ? b.value >= a.value : b.value > a.value;
}

template <Fault F, typename T>
__device__ inline void fast_argmax(size_t numel, size_t each, size_t num_dims,
                                   const size_t *info, const T *src,
                                   u32 *dst) {
  typedef lane_type<T> A;
  __shared__ At<A> shared[1024];
  At<A> best = {F == max_zero || F == unset_index ? A(0) : -infinity<A>(),
                0xffffffff};
  size_t last = info ? info[num_dims - 1] : each;
  bool set = F == max_zero || F == nan_dropped;
  u32 count = 0;
  walk<F>(numel, each, num_dims, info, src, [&](T e, size_t i) {
    u32 at = F == index_of_lane    ? count
             : F == index_in_block ? static_cast<u32>(i)
                                   : static_cast<u32>(i % last);
    At<A> x = {widen(e), at};
    if (!set || better<F>(x, best))
      best = x;
    set = true;
    count++;
  });
  best = tree<F>(best, shared,
                 [](At<A> a, At<A> b) { return better<F>(b, a) ? b : a; });
  if (thread_rank() == 0 || F == second_output)
    dst[blockIdx.x] = F == index_u16 ? best.index & 0xffff : best.index;
}

// Half types are added in their word of 32 bits.
template <Fault F, typename T> __device__ inline void atomic_add(T *p, T x) {
  if constexpr (sizeof(T) != 2) {
    atomicAdd(p, x);
  } else {
    size_t at = reinterpret_cast<size_t>(p);
    u32 *word = reinterpret_cast<u32 *>(at & ~static_cast<size_t>(3));
    u32 shift = F == other_half ? 0 : at % 4 * 8;
    u32 seen = atomicOr(word, 0), old;
    do {
      old = seen;
      union {
        unsigned short bits;
        T value;
      } half = {static_cast<unsigned short>(old >> shift)};
      float y = widen(half.value) + widen(x);
      half.value = F == truncated ? truncate<T>(y) : narrow<T>(y);
      u32 rest = F == neighbour_lost ? 0 : old & ~(0xffffu << shift);
      seen = atomicCAS(word, old, rest | static_cast<u32>(half.bits) << shift);
    } while (seen != old && F != no_retry);
  }
}

template <Fault F, typename T>
__device__ inline void sum(size_t numel, size_t num_dims, size_t num_sum_dims,
                           const size_t *info, const T *inp, T *out) {
  const size_t *strides = info + num_dims;
  const size_t *lengths = strides + num_dims;
  const size_t *steps = lengths + num_sum_dims;
  bool gather = F != strides_ignored && !contiguous(num_dims, info, strides);
  size_t n = F == one_past ? numel + 1 : numel;
  for (size_t i = thread_index(); i < n; i += thread_count()) {
    size_t to = i;
    size_t dims = F == dims_outer && num_sum_dims > 1 ? 1 : num_sum_dims;
#pragma unroll 1
    for (size_t d = F == dims_inner ? dims - 1 : 0; d < dims; d++) {
      size_t step = F == step_swapped ? lengths[d] : steps[d];
      size_t length = F == step_swapped ? steps[d] : lengths[d];
      size_t before = to / step;
      to = before / length * step + (to - before * step);
    }
    size_t from = gather ? strided(i, numel, num_dims, info, strides) : i;
    if (F == strides_reversed) {
      from = 0;
      for (size_t d = num_dims, rest = i; d-- > 0; rest /= info[d])
        from += rest % info[d] * strides[num_dims - 1 - d];
    }
    T x = inp[from];
    if constexpr (F == single)
      x = static_cast<float>(x);
    if constexpr (F == by_float)
      x = static_cast<T>(static_cast<float>(x));
    if (F == plain_add)
      out[to] = narrow<T>(widen(out[to]) + widen(x));
    else if (F == overwrite)
      out[to] = x;
    else
      atomic_add<F>(out + to, x);
  }
}

#define FAST(name, T, R, F)                                                    \
  extern "C" __global__ void name##_##T##__##F(                                \
      const size_t src_numel, const size_t el_to_sum_per_block,                \
      const size_t num_dims, const size_t *info, const T *src, R *dst) {       \
    name<F>(src_numel, el_to_sum_per_block, num_dims, info, src, dst);         \
  }
#define FAST_SUM(T, F) FAST(fast_sum, T, T, F)
#define FAST_MAX(T, F) FAST(fast_max, T, T, F)
#define FAST_MIN(T, F) FAST(fast_min, T, T, F)
#define FAST_ARGMAX(T, F) FAST(fast_argmax, T, u32, F)
#define SUM(T, F)                                                              \
  extern "C" __global__ void sum_##T##__##F(                                   \
      const size_t numel, const size_t num_dims, const size_t num_sum_dims,    \
      const size_t *info, const T *inp, T *out) {                              \
    sum<F>(numel, num_dims, num_sum_dims, info, inp, out);                     \
  }

FAST_SUM(f32, twin)
FAST_SUM(f32, strides_ignored)
FAST_SUM(f32, row_ignored)
FAST_SUM(f32, one_pass)
FAST_SUM(f32, last_partial)
FAST_SUM(f32, one_past)
FAST_SUM(f32, second_output)
FAST_SUM(f32, stop_at_2)
FAST_SUM(f32, waves_of_64_w32)
FAST_SUM(f32, half_lost)
FAST_SUM(f32, no_sync)
FAST_SUM(f32, warp_alone)
FAST_SUM(f64, twin)
FAST_SUM(f64, single)
FAST_SUM(f16, twin)
FAST_SUM(f16, half_sum)
FAST_SUM(f16, truncated)
FAST_SUM(bf16, twin)
FAST_SUM(bf16, truncated)
FAST_SUM(i64, twin)
FAST_SUM(i64, by_int)
FAST_SUM(u32, twin)
FAST_SUM(u32, by_float)
FAST_SUM(u8, twin)
FAST_SUM(u8, wide_u8)

FAST_MAX(f32, twin)
FAST_MAX(f32, max_zero)
FAST_MAX(f32, min_positive)
FAST_MAX(f32, max_finite)
FAST_MAX(f32, nan_kept)
FAST_MAX(f32, past_threads)
FAST_MAX(f16, twin)
FAST_MAX(f16, nan_dropped)
FAST_MAX(u32, twin)
FAST_MAX(u32, signed_max)
FAST_MAX(i64, twin)
FAST_MAX(i64, max_zero)
FAST_MAX(i64, as_float)

FAST_ARGMAX(f32, twin)
FAST_ARGMAX(f32, not_strict)
FAST_ARGMAX(f32, lowest_index)
FAST_ARGMAX(f32, index_of_lane)
FAST_ARGMAX(f32, index_in_block)
FAST_ARGMAX(f32, max_zero)
FAST_ARGMAX(f32, unset_index)
FAST_ARGMAX(f32, nan_dropped)
FAST_ARGMAX(f32, stop_at_2)
FAST_ARGMAX(f32, index_u16)

FAST_MIN(f32, twin)
FAST_MIN(f32, max_zero)
FAST_MIN(f32, max_finite)
FAST_MIN(f32, nan_kept)
FAST_MIN(f32, past_threads)
FAST_MIN(f32, stop_at_2)
FAST_MIN(f32, strides_ignored)
FAST_MIN(f16, twin)
FAST_MIN(f16, nan_dropped)
FAST_MIN(bf16, twin)
FAST_MIN(bf16, nan_dropped)
FAST_MIN(u32, twin)
FAST_MIN(u32, signed_max)
FAST_MIN(i64, twin)
FAST_MIN(i64, max_zero)
FAST_MIN(i64, as_float)

SUM(f32, twin)
SUM(f32, plain_add)
SUM(f32, overwrite)
SUM(f32, step_swapped)
SUM(f32, dims_outer)
SUM(f32, strides_ignored)
SUM(f32, one_past)
SUM(f32, dims_inner)
SUM(f32, strides_reversed)
SUM(u32, twin)
SUM(u32, by_float)
SUM(f64, twin)
SUM(f64, single)
SUM(f16, twin)
SUM(f16, truncated)
SUM(f16, no_retry)
SUM(f16, other_half)
SUM(f16, neighbour_lost)
SUM(bf16, twin)
SUM(bf16, truncated)
SUM(bf16, plain_add)
