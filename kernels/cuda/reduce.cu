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
template <typename T> struct Kept { static constexpr bool nan = false; };
template <> struct Kept<f16> { static constexpr bool nan = true; };
template <> struct Kept<bf16> { static constexpr bool nan = true; };

// Key<A> puts values in the order of integers, in which NaN can have a place
// too: a key is above that of every number with bits of 0x7f..f, and below with
// 0x80..0, and both turn back into a NaN. Integers are their own keys.
template <typename A> struct Key {
  typedef A type;
  static __device__ inline A of(A x) { return x; }
  static __device__ inline A value(A key) { return key; }
};
template <typename A, typename I> struct FloatKey {
  typedef I type;
  union Both {
    A value;
    I bits;
  };
  static constexpr I all = static_cast<I>(~static_cast<u64>(0) >> 1 >>
                                          (64 - 8 * sizeof(I)));
  static __device__ inline I of(A x) {
    Both b;
    b.value = x;
    return b.bits < 0 ? b.bits ^ all : b.bits;
  }
  static __device__ inline A value(I key) {
    Both b;
    b.bits = key < 0 ? key ^ all : key;
    return b.value;
  }
};
template <> struct Key<f32> : FloatKey<f32, i32> {};
template <> struct Key<f64> : FloatKey<f64, i64> {};

struct MaxOf {
  template <typename A> static __device__ A of(A a, A b) {
    return b > a ? b : a;
  }
  // The integer that no other wins against.
  template <typename I> static __device__ I last() {
    return static_cast<I>(~static_cast<u64>(0) >> 1 >> (64 - 8 * sizeof(I)));
  }
};
struct MinOf {
  template <typename A> static __device__ A of(A a, A b) {
    return b < a ? b : a;
  }
  template <typename I> static __device__ I last() {
    return ~MaxOf::last<I>();
  }
};
template <typename T> struct Max : MaxOf {};
template <typename T> struct Min : MinOf {};
template <> struct Max<f32> : MaxOf {
  static __device__ f32 of(f32 a, f32 b) { return fmaxf(a, b); }
};
template <> struct Min<f32> : MinOf {
  static __device__ f32 of(f32 a, f32 b) { return fminf(a, b); }
};
template <> struct Max<f64> : MaxOf {
  static __device__ f64 of(f64 a, f64 b) { return fmax(a, b); }
};
template <> struct Min<f64> : MinOf {
  static __device__ f64 of(f64 a, f64 b) { return fmin(a, b); }
};
template <> struct Max<f16> : Max<f32> {};
template <> struct Min<f16> : Min<f32> {};
template <> struct Max<bf16> : Max<f32> {};
template <> struct Min<bf16> : Min<f32> {};

// best_key is the key of what Pick leaves of a thread's values, or of NaN
// where the thread had one.
template <typename Pick, typename A>
__device__ inline typename Key<A>::type best_key(A best, bool nan) {
  typedef typename Key<A>::type I;
  return nan ? Pick::template last<I>() : Key<A>::of(best);
}
// What a Pick does to keys.
template <typename Pick> struct Keys : MaxOf {};
template <typename T> struct Keys<Min<T>> : MinOf {};
template <typename Pick, typename I> __device__ inline I pick_key(I a, I b) {
  return Keys<Pick>::of(a, b);
}

// Whether the layout is contiguous. Every block begins with this and waits, so
// the last two dims, which are mostly all, are read at once.
__device__ inline bool dense(size_t num_dims, const size_t *dims) {
  if (num_dims == 0)
    return true;
  const size_t *strides = dims + num_dims;
  size_t last = num_dims - 1, before = last > 0 ? last - 1 : 0;
  size_t inner = dims[last], outer = dims[before];
  size_t step = strides[last], far = strides[before];
  bool same = (inner < 2 | step == 1) & (last == 0 | outer < 2 | far == inner);
  return last < 2 ? same : same && contiguous(num_dims, dims, strides);
}

// best_of_block is the key that Pick leaves of the block's, in every thread, or
// where alone says so in the first group at least. A key may count more than
// once, so that the groups' are reduced as a whole group's.
template <typename Pick, typename I>
__device__ inline I best_of_block(I key, Slots<I> &slots, bool alone) {
  int rank = thread_rank(), threads = thread_total();
  if (threads % group_size != 0)
    return reduce_block(key, slots, pick_key<Pick, I>);
  key = reduce_whole(key, pick_key<Pick, I>);
  if (threads == group_size)
    return key;
  int lane = rank % group_size, groups = threads / group_size;
  if (lane == 0)
    slots.group[rank / group_size] = key;
  __syncthreads();
  if (alone && rank >= group_size)
    return key;
  return reduce_whole(slots.group[lane < groups ? lane : 0],
                      pick_key<Pick, I>);
}

// The elements of this block: n of them from start on, one after another
// unless they have to be gathered by their layout.
template <typename T> struct Stretch {
  const T *src;
  size_t numel, each_block, start, n, num_dims;
  const size_t *info;
  bool gather;

  __device__ inline Stretch(size_t numel, size_t each_block, size_t num_dims,
                            const size_t *info, const T *src)
      : src(src), numel(numel), each_block(each_block),
        start(each_block * blockIdx.x),
        n(numel - start < each_block ? numel - start : each_block),
        num_dims(num_dims), info(info), gather(info && !dense(num_dims, info)) {}


  __device__ inline T operator[](size_t i) const {
    i += start;
    return src[gather ? strided(i, numel, num_dims, info, info + num_dims) : i];
  }

  __device__ inline size_t last_dim() const {
    return info ? info[num_dims - 1] : each_block;
  }

  // Whether the elements are a row of row.h, which starts at row().
  __device__ inline bool in_row() const { return !gather && n >> 31 == 0; }
  __device__ inline const T *row() const { return src + start; }

  // scan calls f(i, element i) for this thread's elements.
  template <typename F> __device__ inline void scan(F f) const {
    int first = thread_rank(), step = thread_total();
    if (in_row()) {
      each<2, Use::once>(row(), static_cast<int>(n), first, step, f);
      return;
    }
#pragma unroll 1
    for (size_t i = first; i < n; i += step)
      f(i, (*this)[i]);
  }
};

template <typename T>
__device__ inline void fast_sum(const Stretch<T> &x, T *dst) {
  typedef lane_type<T> A;
  __shared__ Slots<A> slots;
  A sum = 0;
  x.scan([&](size_t, T e) { sum += widen(e); });
  sum = reduce_to_first(sum, slots, [](A a, A b) { return a + b; });
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(sum);
}

template <typename Pick, typename T>
__device__ inline void fast_pick(lane_type<T> from, const Stretch<T> &x,
                                 T *dst) {
  typedef lane_type<T> A;
  typedef typename Key<A>::type I;
  __shared__ Slots<I> slots;
  A best = from;
  bool odd = false; // whether a NaN was dropped
  x.scan([&](size_t, T e) {
    A v = widen(e);
    odd = odd || v != v;
    best = Pick::of(best, v);
  });
  I key = best_key<Pick>(best, Kept<T>::nan && odd);
  key = best_of_block<Pick>(key, slots, true);
  if (thread_rank() == 0)
    dst[blockIdx.x] = narrow<T>(Key<A>::value(key));
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
  template <typename T> using Pick = Max<T>;
};
struct Below {
  template <typename A> static __device__ bool better(A a, A b) {
    return a < b;
  }
  template <typename T> using Pick = Min<T>;
};

template <typename A> struct At {
  A value;
  u32 index;
};

// The index of the best in candle's order, whatever the elements: a thread's
// first is taken, and a NaN there stays, for nothing is better; elsewhere a
// NaN is passed over.
template <typename Order, typename A, typename T>
__device__ inline u32 ordered(A from, const Stretch<T> &x, Threads candle) {
  __shared__ At<A> best[1024];
  u32 n = static_cast<u32>(x.n);
  for (u32 t = thread_rank(); t < candle.count(); t += thread_total()) {
    At<A> b = {from, 0xffffffff};
    for (u32 i = t; i < n; i += candle.count()) {
      A v = widen(x[i]);
      if (i == t || Order::better(v, b.value))
        b = {v, i};
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

// forget makes the compiler take elements out of held words anew, lest it
// keeps them apart meanwhile.
template <typename T> __device__ inline void forget(const Stretch<T> &) {}
template <typename T, int K, bool whole>
__device__ inline void forget(Held<T, K, whole> &row) {
#pragma unroll
  for (int k = 0; k < K; k++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      asm volatile("" : "+r"(row.at[k].word[i]));
}

template <typename A> struct Search {
  Slots<typename Key<A>::type> best;
  u32 place;
};

// FastArg finds the index of a block's best: its value first, for all threads,
// then of the elements equal to it the one that is first in candle's order,
// which few threads have to look for.
template <typename Order, typename T> struct FastArg {
  typedef lane_type<T> A;
  typedef typename Order::template Pick<T> Pick;
  typedef typename Key<A>::type I;
  A from;
  Stretch<T> &x;
  Search<A> &shared;
  u32 index; // found

  // elements.scan(f) calls f(i, element i) for this thread's elements.
  template <typename Elements>
  __device__ inline void search(Elements &elements, Threads candle) {
    A mine = from;
    bool odd = false;
    elements.scan([&](size_t, T e) {
      A v = widen(e);
      odd = odd || v != v;
      mine = Pick::of(mine, v);
    });
    if (thread_rank() == 0)
      shared.place = 0xffffffff;
    I key = best_of_block<Pick>(best_key<Pick>(mine, odd), shared.best, false);
    A best = Key<A>::value(key);
    if (best != best) { // order alone decides
      index = ordered<Order>(from, x, candle);
      return;
    }
    if (thread_total() <= group_size) // there was no barrier
      __syncthreads();
    if (!odd && mine == best) {
      u32 place = 0xffffffff;
      forget(elements);
      elements.scan([&](size_t i, T e) {
        u32 p = candle.place(static_cast<u32>(i));
        place = widen(e) == best && p < place ? p : place;
      });
      atomicMin(&shared.place, place);
    }
    __syncthreads();
    index = candle.index(shared.place);
  }

  // Of a row in registers.
  template <typename Row> __device__ inline void operator()(Row &row) {
    search(row, Threads(x.each_block));
  }
};

template <typename Order, typename T>
__device__ inline void fast_arg(lane_type<T> from, Stretch<T> &x, u32 *dst) {
  __shared__ Search<lane_type<T>> shared;
  FastArg<Order, T> arg = {from, x, shared, 0};
  if (!x.in_row() || !hold<Use::once>(x.row(), static_cast<int>(x.n),
                                      thread_rank(), thread_total(), arg))
    arg.search(x, Threads(x.each_block));
  if (thread_rank() == 0)
    dst[blockIdx.x] = arg.index % static_cast<u32>(x.last_dim());
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

// destination is the output that element i is added to. Index is wide enough
// for all elements.
template <typename Index>
__device__ inline size_t destination(Index i, size_t num_sum_dims,
                                     const size_t *lengths,
                                     const size_t *steps) {
#pragma unroll 1
  for (size_t d = 0; d < num_sum_dims; d++) {
    Index step = static_cast<Index>(steps[d]);
    Index before = i / step;
    i = before / static_cast<Index>(lengths[d]) * step + (i - before * step);
  }
  return i;
}

// sum_runs adds up runs of elements that go to one output each, by whole
// blocks: where there are more of these than runs, several share one. There are
// fewer than 2^31 elements.
template <typename T>
__device__ inline void sum_runs(u32 numel, u32 run, size_t num_sum_dims,
                                const size_t *lengths, const size_t *steps,
                                const T *inp, T *out) {
  typedef compute<T> A;
  constexpr u32 size = Words<T>::size;
  __shared__ Slots<A> slots[2]; // one is written while the other is read
  u32 runs = numel / run, parts = 1, length = run, turn = 0;
  if (gridDim.x > runs) {
    parts = gridDim.x / runs;
    parts = parts < run / size ? parts : run / size;
    length = ((run / size + parts - 1) / parts + 1) * size;
  }
#pragma unroll 1
  for (u32 item = blockIdx.x; item < runs * parts; item += gridDim.x) {
    u32 at = parts > 1 ? item / parts : item;
    u32 from = (item - at * parts) * length;
    if (from >= run)
      continue;
    u32 n = run - from < length ? run - from : length;
    A acc = 0;
    each<4, Use::once>(inp + at * run + from, static_cast<int>(n),
                       thread_rank(), thread_total(),
                       [&](int, T e) { acc += widen(e); });
    acc = reduce_to_first(acc, slots[turn], [](A a, A b) { return a + b; });
    turn ^= 1;
    if (thread_rank() == 0) {
      // Where the last dim alone is summed, runs are in the outputs' order.
      size_t to = num_sum_dims == 1
                      ? at
                      : destination(at * run, num_sum_dims, lengths, steps);
      atomic_add(out + to, acc);
    }
  }
}

// sum_pieces adds elements to their outputs, in pieces of N that go to one
// each; of run elements from a multiple of run on all do. Threads of a group
// take pieces that lie together, a few each, and add up what goes to one output
// before they turn to memory; so does the group where all of its threads' go to
// one.
template <int N, typename T, typename Load>
__device__ inline void sum_pieces(size_t numel, size_t run,
                                  size_t num_sum_dims, const size_t *lengths,
                                  const size_t *steps, T *out, Load load) {
  typedef compute<T> A;
  // Pieces of a thread: in packs a group takes 4096 elements.
  constexpr int at_once = 2, rounds = N > 1 ? 64 / N : 16;
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
      atomic_add(out + destination(at * run, num_sum_dims, lengths, steps),
                 acc);
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
  bool gather = !dense(num_dims, info);
  size_t run = num_sum_dims > 0 && steps[num_sum_dims - 1] == 1
                   ? lengths[num_sum_dims - 1]
                   : 1;
  if (!gather && numel >> 31 == 0 &&
      run >= static_cast<size_t>(thread_total()) * n)
    sum_runs(static_cast<u32>(numel), static_cast<u32>(run), num_sum_dims,
             lengths, steps, inp, out);
  else if (!gather && aligned(inp) && run % n == 0)
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
  extern "C" __global__ __launch_bounds__(1024) void name##_##T(               \
      const size_t src_numel, const size_t el_to_sum_per_block,                \
      const size_t num_dims, const size_t *info, const T *src, R *dst) {       \
    Stretch<T> x(src_numel, el_to_sum_per_block, num_dims, info, src);         \
    call;                                                                      \
  }

#define FAST_SUM(T) FAST(fast_sum, T, T, fast_sum(x, dst))
#define FAST_MAX(T)                                                            \
  FAST(fast_max, T, T, fast_pick<Max<T>>(Range<T>::low(), x, dst))
#define FAST_MIN(T)                                                            \
  FAST(fast_min, T, T, fast_pick<Min<T>>(Range<T>::high(), x, dst))
#define FAST_ARGMAX(T)                                                         \
  FAST(fast_argmax, T, u32, fast_arg<Above>(Range<T>::low(), x, dst))
#define FAST_ARGMIN(T)                                                         \
  FAST(fast_argmin, T, u32, fast_arg<Below>(Range<T>::high(), x, dst))

#define SUM(T)                                                                 \
  extern "C" __global__ __launch_bounds__(1024) void sum_##T(                  \
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
