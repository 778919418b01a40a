// Reductions. The fast ones give each output a block; its elements are those
// of one stretch of the layout, whose reduced dims stand last. sum adds each
// element to its output by an atomic.
//
// A block may have any number of threads, for the results do not depend on it
// but for the rounding of float sums: of equal extremes the one is found that
// candle's kernels find, which is not the lowest (Threads).
//
// f16 and bf16 are added in float and rounded once, where candle adds in the
// element type; their min and max keep a NaN, those of f32 and f64 drop it.
#include "group.h"
#include "row.h"

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

// Kept<T> says whether minima and maxima of T keep a NaN.
template <typename T> struct Kept {
  static constexpr bool nan = false;
  static __device__ lane_type<T> value() { return 0; }
};
template <> struct Kept<f16> {
  static constexpr bool nan = true;
  static __device__ f32 value() { return __int_as_float(0x7fc00000); }
};
template <> struct Kept<bf16> : Kept<f16> {};

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
template <> struct Max<f16> : Max<f32> {};
template <> struct Min<f16> : Min<f32> {};
template <> struct Max<bf16> : Max<f32> {};
template <> struct Min<bf16> : Min<f32> {};

// scan calls f(i, element i of this block's) for this thread's elements.
template <typename T, typename F>
__device__ inline void scan(size_t numel, size_t each_block, size_t num_dims,
                            const size_t *info, const T *src, F f) {
  size_t start = each_block * blockIdx.x;
  size_t n = numel - start < each_block ? numel - start : each_block;
  bool gather = info && !contiguous(num_dims, info, info + num_dims);
  if (!gather && n >> 31 == 0) {
    each<4>(src + start, static_cast<int>(n), thread_rank(), thread_total(), f);
    return;
  }
#pragma unroll 1
  for (size_t i = thread_rank(); i < n; i += thread_total())
    f(i, src[gather ? strided(start + i, numel, num_dims, info, info + num_dims)
                    : start + i]);
}

template <typename T>
__device__ inline void fast_sum(size_t numel, size_t each_block, size_t num_dims,
                                const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ Slots<A> slots;
  A sum = 0;
  scan(numel, each_block, num_dims, info, src,
       [&](size_t, T x) { sum += widen(x); });
  sum = reduce_block(sum, slots, [](A a, A b) { return a + b; });
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(sum);
}

template <typename Pick, typename T>
__device__ inline void fast_pick(lane_type<T> from, size_t numel,
                                 size_t each_block, size_t num_dims,
                                 const size_t *info, const T *src, T *dst) {
  typedef lane_type<T> A;
  __shared__ Slots<A> slots;
  __shared__ Slots<u32> odd_slots;
  A best = from;
  bool odd = false; // whether a NaN was dropped
  scan(numel, each_block, num_dims, info, src, [&](size_t, T e) {
    A x = widen(e);
    odd = odd || x != x;
    best = Pick::of(best, x);
  });
  best = reduce_block(best, slots, [](A a, A b) { return Pick::of(a, b); });
  if (Kept<T>::nan) {
    odd = reduce_block(static_cast<u32>(odd), odd_slots,
                       [](u32 a, u32 b) { return a | b; });
    if (odd)
      best = Kept<T>::value();
  }
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(best);
}

// candle's order, in which of equal elements the first is found. candle has
// L threads, the power of two from min(n, 1024) up; thread t takes elements t,
// t + L and so on and then, for s halving from L/2, takes in thread t + s. So
// the least bit-reversed t comes first, and in a thread the least index.
struct Threads {
  int log;
  __device__ inline Threads(size_t n) : log(0) {
    while (log < 10 && static_cast<size_t>(1) << log < n)
      log++;
  }
  __device__ inline u32 count() const { return 1u << log; }
  // place has bit-reversed t at the top and below it the steps before i.
  __device__ inline u32 place(u32 i) const {
    return __brev(i & (count() - 1)) | i >> log;
  }
  __device__ inline u32 index(u32 place) const {
    u32 t = log ? __brev(place >> (32 - log) << (32 - log)) : 0;
    return (place & (0xffffffffu >> log)) << log | t;
  }
};

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

template <typename A> struct At {
  A value;
  u32 index;
};

// The index of the best in candle's order, whatever the elements: a thread's
// first is taken, and a NaN there stays, for nothing is better; elsewhere a
// NaN is passed over.
template <typename Order, typename A, typename Get>
__device__ inline u32 ordered(A from, u32 n, Threads candle, Get get) {
  __shared__ At<A> best[1024];
  for (u32 t = thread_rank(); t < candle.count(); t += thread_total()) {
    At<A> b = {from, 0xffffffff};
    for (u32 i = t; i < n; i += candle.count()) {
      A x = get(i);
      if (i == t || Order::better(x, b.value))
        b = {x, i};
    }
    best[t] = b;
  }
  for (u32 s = candle.count() / 2; s > 0; s /= 2) {
    __syncthreads();
    for (u32 t = thread_rank(); t < s; t += thread_total())
      if (Order::better(best[t + s].value, best[t].value))
        best[t] = best[t + s];
  }
  __syncthreads();
  return best[0].index;
}

// An element with its place in candle's order.
template <typename A> struct Placed {
  A value;
  u32 place;
};
template <typename A>
__device__ inline Placed<A> shift_down(Placed<A> v, int by, int present) {
  return {shift_down(v.value, by, present), shift_down(v.place, by, present)};
}
template <typename A>
__device__ inline Placed<A> first_lane(Placed<A> v, int present) {
  return {first_lane(v.value, present), first_lane(v.place, present)};
}

template <typename Order, typename T>
__device__ inline void fast_arg(lane_type<T> from, size_t numel,
                                size_t each_block, size_t num_dims,
                                const size_t *info, const T *src, u32 *dst) {
  typedef lane_type<T> A;
  __shared__ Slots<Placed<A>> slots;
  Threads candle(each_block);

  // A NaN is taken and stays, to tell that order alone decides.
  Placed<A> best = {from, 0xffffffff};
  scan(numel, each_block, num_dims, info, src, [&](size_t i, T e) {
    A x = widen(e);
    if (Order::better(best.value, x))
      return;
    u32 place = candle.place(static_cast<u32>(i));
    if (Order::better(x, best.value) || x != x ||
        (x == best.value && place < best.place))
      best = {x, place};
  });
  best = reduce_block(best, slots, [](Placed<A> a, Placed<A> b) {
    bool worse = Order::better(a.value, b.value) || a.value != a.value ||
                 (a.value == b.value && a.place < b.place);
    return worse ? a : b;
  });
  u32 index = candle.index(best.place);
  if (best.value != best.value) {
    size_t start = each_block * blockIdx.x;
    size_t n = numel - start < each_block ? numel - start : each_block;
    bool gather = info && !contiguous(num_dims, info, info + num_dims);
    index = ordered<Order>(from, static_cast<u32>(n), candle, [&](u32 i) {
      return static_cast<A>(widen(
          src[gather ? strided(start + i, numel, num_dims, info,
                               info + num_dims)
                     : start + i]));
    });
  }
  if (thread_rank() == 0)
    dst[blockIdx.x] =
        index % static_cast<u32>(info ? info[num_dims - 1] : each_block);
}

__device__ inline void atomic_add(f64 *p, f64 x) { atomicAdd(p, x); }
__device__ inline void atomic_add(f32 *p, f32 x) { atomicAdd(p, x); }
__device__ inline void atomic_add(u32 *p, u32 x) { atomicAdd(p, x); }

// A half is added in float and rounded, by exchanging the aligned word that
// holds it: there is no narrower exchange.
template <typename T> __device__ inline void atomic_add(T *p, f32 x) {
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
    half.value = narrow<T>(widen(half.value) + x);
    u32 rest = old & ~(0xffffu << shift);
    seen = atomicCAS(word, old, rest | static_cast<u32>(half.bits) << shift);
  } while (seen != old);
}

// sum_pieces adds elements to their outputs, in pieces of N that go to one
// each; of run elements from a multiple of run on all do. Threads of a group
// take pieces that lie together, a few each, and add up what goes to one output before they
// turn to memory; so does the group where all of its threads' go to one.
template <int N, typename T, typename Load>
__device__ inline void sum_pieces(size_t numel, size_t run,
                                  size_t num_sum_dims, const size_t *lengths,
                                  const size_t *steps, T *out, Load load) {
  typedef compute<T> A;
  // Pieces of a thread: in packs a group takes 4096 elements.
  constexpr int at_once = 8, rounds = N > 1 ? 16 / N : 4;
  Divider by_run(run, numel >> 32 == 0);
  // Without whole groups each thread is one.
  int group = thread_total() % group_size == 0 ? group_size : 1;
  int lane = thread_rank() % group;
  size_t part = static_cast<size_t>(group) * at_once * N, span = rounds * part;
#pragma unroll 1
  for (size_t base = thread_index() / group * span; base < numel;
       base += thread_count() / group * span) {
    size_t at = 0; // the run that acc is of
    A acc = 0;
    bool any = false;
    auto flush = [&] {
      size_t to = at * run;
#pragma unroll 1
      for (size_t d = 0; d < num_sum_dims; d++) {
        size_t before = to / steps[d];
        to = before / lengths[d] * steps[d] + (to - before * steps[d]);
      }
      atomic_add(out + to, acc);
    };
#pragma unroll 1
    for (size_t from = base; from < base + span && from < numel; from += part) {
      Pack<T, N> x[at_once];
#pragma unroll
      for (int k = 0; k < at_once; k++) {
        size_t i = from + (static_cast<size_t>(k) * group + lane) * N;
        x[k] = {};
        if (i < numel)
          x[k] = load(i);
      }
#pragma unroll
      for (int k = 0; k < at_once; k++) {
        size_t i = from + (static_cast<size_t>(k) * group + lane) * N;
        if (i >= numel)
          continue;
        size_t q = by_run(i);
        if (any && q != at) {
          flush();
          acc = 0;
        }
#pragma unroll
        for (int j = 0; j < N; j++)
          acc += widen(x[k].at[j]);
        at = q;
        any = true;
      }
    }
    // The first lane has an element if any has.
    if (group == group_size) {
      u32 first = first_lane(static_cast<u32>(at), group_size);
      u32 strays = any && static_cast<u32>(at) != first;
      strays = reduce_group(strays, group_size, group_size,
                            [](u32 a, u32 b) { return a | b; });
      if (first_lane(strays, group_size) == 0) {
        acc = reduce_group(acc, group_size, group_size,
                           [](A a, A b) { return a + b; });
        any = any && lane == 0;
      }
    }
    if (any)
      flush();
  }
}

// info is dims, strides, then for each summed dim, in the order of dims, its
// length and the number of elements behind one step of it. Where the last dim
// is summed, elements that follow one another go to one output.
template <typename T>
__device__ inline void sum(size_t numel, size_t num_dims, size_t num_sum_dims,
                           const size_t *info, const T *inp, T *out) {
  constexpr int n = Vec<T>::size;
  const size_t *strides = info + num_dims;
  const size_t *lengths = strides + num_dims;
  const size_t *steps = lengths + num_sum_dims;
  bool gather = !contiguous(num_dims, info, strides);
  size_t run = num_sum_dims > 0 && steps[num_sum_dims - 1] == 1
                   ? lengths[num_sum_dims - 1]
                   : 1;
  if (!gather && aligned(inp) && run % n == 0)
    sum_pieces<n>(numel, run, num_sum_dims, lengths, steps, out,
                  [=](size_t i) {
                    return *reinterpret_cast<const Pack<T, n> *>(inp + i);
                  });
  else
    sum_pieces<1>(numel, run, num_sum_dims, lengths, steps, out,
                  [=](size_t i) -> Pack<T, 1> {
                    return {inp[gather ? strided(i, numel, num_dims, info,
                                                 strides)
                                       : i]};
                  });
}

#define FAST(name, T, R, call)                                                 \
  extern "C" __global__ __launch_bounds__(1024) void name##_##T(                                       \
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
  extern "C" __global__ __launch_bounds__(1024) void sum_##T(                                          \
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
