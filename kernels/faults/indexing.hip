// Wrong ports of choosing and addressing by index. kernels/hip/indexing.hip
// is right, and so is what stands here where F is twin.
#include "fault.h"
#include "index.h"

enum Fault {
  twin,
  sentinel_ignored,  // the largest index taken for a row
  sentinel_unwritten,// reading ops leave the output as it was
  sentinel_negative, // the sentinel taken to be -1
  sentinel_signed,   // the sentinel of a signed index where it is unsigned
  sentinel_zero,     // the sentinel names row 0
  sign_extended,     // u8 indices read as signed
  index_as_int,      // indices cut to 32 bits, signed
  strides_ignored,   // a strided source read as if contiguous
  strides_reversed,  // strides taken in the order of the fastest dimension
  dims_for_strides,  // the first half of info for the second
  ids_per_left,      // one list of indices for each batch, where there is one
  ids_per_row,       // one index a row, where there is one an element
  wrong_dim,         // the other op's size of the indexed dimension
  left_ignored,      // batch 0 for all
  one_block,         // one block's threads only
  off_by_one,        // <= for <
  short_column,      // the last element of a column left out
  first_wins,        // of equal indices the first stays
  backwards,         // sums in the reverse order
  by_element,        // a thread for each element: equal indices race
  atomic_sums,       // sums in whatever order the atomics come
  overwrites,        // puts where it must add
  wide_sum,          // sums in float, rounded once at the end
  truncated_sum,     // sums cut off, not rounded
  saturated,         // integer sums stop at the largest value
  as_int,            // 64-bit sums in 32 bits
};

template <typename I> struct Limit;
template <> struct Limit<u8> {
  static constexpr u8 max = 0xff;
  typedef signed char as_signed;
};
template <> struct Limit<u32> {
  static constexpr u32 max = 0xffffffff;
  typedef i32 as_signed;
};
template <> struct Limit<i64> {
  static constexpr i64 max = 0x7fffffffffffffff;
  typedef i64 as_signed;
};

// skip reports whether id is the sentinel; row is the row that it names.
template <Fault F, typename I> __device__ inline bool skip(I id) {
  typedef typename Limit<I>::as_signed S;
  switch (F) {
  case sentinel_ignored:
  case sentinel_zero:
    return false;
  case sentinel_negative:
    return static_cast<i64>(id) == -1;
  case sentinel_signed:
    return id == static_cast<I>(Limit<I>::max >> 1);
  case sign_extended:
    return static_cast<S>(id) == static_cast<S>(Limit<I>::max >> 1);
  case index_as_int:
    return static_cast<i64>(static_cast<int>(id)) == Limit<I>::max;
  default:
    return id == Limit<I>::max;
  }
}

template <Fault F, typename I> __device__ inline size_t row_of(I id) {
  if (F == sentinel_zero && id == Limit<I>::max)
    return 0;
  if (F == sign_extended)
    return static_cast<size_t>(
        static_cast<i64>(static_cast<typename Limit<I>::as_signed>(id)));
  if (F == index_as_int)
    return static_cast<size_t>(static_cast<i64>(static_cast<int>(id)));
  return static_cast<size_t>(id);
}

template <Fault F> __device__ inline size_t first() {
  return F == one_block ? threadIdx.x : thread_index();
}
template <Fault F> __device__ inline size_t end(size_t n) {
  if (F == one_block)
    return n < blockDim.x ? n : blockDim.x;
  return F == off_by_one ? n + 1 : n;
}

// Offset of element i by info.
template <Fault F>
__device__ inline size_t offset(size_t i, size_t n, const size_t *info) {
  const size_t *strides = F == dims_for_strides ? info : info + n;
  size_t at = 0;
#pragma unroll 1
  for (size_t k = n; k-- > 0;) {
    at += i % info[k] * strides[F == strides_reversed ? n - 1 - k : k];
    i /= info[k];
  }
  return at;
}

template <Fault F, typename T, typename I>
__device__ inline void index_select(size_t numel, size_t num_dims,
                                    const size_t *info, const I *ids,
                                    const T *inp, T *out, size_t left,
                                    size_t src_dim, size_t ids_dim,
                                    size_t right) {
  size_t n = end<F>(numel);
  for (size_t i = first<F>(); i < n; i += thread_count()) {
    size_t row = i / right;
    size_t r = i - row * right, l = row / ids_dim;
    I id = ids[F == ids_per_left ? row : row - l * ids_dim];
    if (skip<F>(id)) {
      if (F != sentinel_unwritten)
        out[i] = T{};
      continue;
    }
    size_t batch = F == left_ignored ? 0 : l * (F == wrong_dim ? ids_dim : src_dim);
    size_t from = (batch + row_of<F>(id)) * right + r;
    out[i] = inp[info && F != strides_ignored ? offset<F>(from, num_dims, info)
                                              : from];
  }
}

template <Fault F, typename T, typename I>
__device__ inline void gather(size_t numel, const I *ids, const T *inp, T *out,
                              size_t left, size_t src_dim, size_t ids_dim,
                              size_t right) {
  size_t n = end<F>(numel);
  for (size_t i = first<F>(); i < n; i += thread_count()) {
    size_t row = i / right;
    size_t r = i - row * right;
    size_t l = F == left_ignored ? 0 : row / (F == wrong_dim ? src_dim : ids_dim);
    I id = ids[F == ids_per_row ? row : i];
    if (skip<F>(id)) {
      if (F != sentinel_unwritten)
        out[i] = T{};
      continue;
    }
    out[i] = inp[(l * src_dim + row_of<F>(id)) * right + r];
  }
}

template <Fault F, typename T> __device__ inline T sum(T a, T b) {
  if constexpr (F == overwrites)
    return b;
  else if constexpr (F == truncated_sum)
    return truncate<T>(widen(a) + widen(b));
  else if constexpr (F == saturated)
    return a + b > T(-1) ? T(-1) : T(a + b);
  else if constexpr (F == as_int)
    return static_cast<i32>(a) + static_cast<i32>(b);
  else
    return narrow<T>(widen(a) + widen(b));
}

template <Fault F, typename T>
__device__ inline void put(bool add, T &y, T x) {
  if constexpr (F == atomic_sums)
    atomicAdd(&y, x);
  else
    y = add ? sum<F>(y, x) : x;
}

// scatter, scatter_add and index_add: the latter has an index a row.
template <Fault F, typename T, typename I>
__device__ inline void walk(bool per_element, bool add, const I *ids,
                            const T *inp, T *out, size_t left, size_t src_dim,
                            size_t dst_dim, size_t right) {
  size_t outer = F == wrong_dim ? src_dim : dst_dim;
  if (F == by_element || F == atomic_sums) {
    size_t n = left * src_dim * right;
    for (size_t from = thread_index(); from < n; from += thread_count()) {
      size_t r = from % right, j = from / right % src_dim;
      size_t l = from / right / src_dim;
      I id = ids[per_element ? from : j];
      if (!skip<F>(id))
        put<F>(add, out[(l * outer + row_of<F>(id)) * right + r], inp[from]);
    }
    return;
  }
  size_t n = end<F>(left * right);
  for (size_t i = first<F>(); i < n; i += thread_count()) {
    size_t l = i / right, r = i - l * right;
    size_t to = F == left_ignored ? 0 : l;
    size_t rows = F == short_column ? src_dim - 1 : src_dim;
    for (size_t k = 0; k < rows; ++k) {
      size_t j = F == first_wins || F == backwards ? src_dim - 1 - k : k;
      size_t from = (l * src_dim + j) * right + r;
      I id = ids[per_element && F != ids_per_row ? from : j];
      if (skip<F>(id))
        continue;
      size_t at = row_of<F>(id);
      T &y = out[(to * outer + at) * right + r];
      if (F == wide_sum) {
        // The first of equal indices adds them all.
        bool done = false;
        for (size_t e = 0; e < j; ++e)
          done |= ids[(l * src_dim + e) * right + r] == id;
        if (done)
          continue;
        auto all = widen(y);
        for (size_t e = j; e < src_dim; ++e) {
          size_t f = (l * src_dim + e) * right + r;
          if (ids[f] == id)
            all += widen(inp[f]);
        }
        y = narrow<T>(all);
        continue;
      }
      put<F>(add, y, inp[from]);
    }
  }
}

#define SELECT(I, T, F)                                                        \
  extern "C" __global__ void is_##I##_##T##__##F(                              \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t ids_dim, const size_t right) {        \
    index_select<F>(numel, num_dims, info, ids, inp, out, left, src_dim,       \
                    ids_dim, right);                                           \
  }

#define GATHER(I, T, F)                                                        \
  extern "C" __global__ void gather_##I##_##T##__##F(                          \
      const size_t numel, const I *ids, const T *inp, T *out,                  \
      const size_t left, const size_t src_dim, const size_t ids_dim,           \
      const size_t right) {                                                    \
    gather<F>(numel, ids, inp, out, left, src_dim, ids_dim, right);            \
  }

#define SCATTER(I, T, F)                                                       \
  extern "C" __global__ void s_##I##_##T##__##F(                               \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<F>(true, false, ids, inp, out, left, src_dim, dst_dim, right);        \
  }

#define SCATTER_ADD(I, T, F)                                                   \
  extern "C" __global__ void sa_##I##_##T##__##F(                              \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<F>(true, true, ids, inp, out, left, src_dim, dst_dim, right);         \
  }

#define INDEX_ADD(I, T, F)                                                     \
  extern "C" __global__ void ia_##I##_##T##__##F(                              \
      const I *ids, const size_t ids_dim, const T *inp, T *out,                \
      const size_t left, const size_t src_dim, const size_t dst_dim,           \
      const size_t right) {                                                    \
    walk<F>(false, true, ids, inp, out, left, ids_dim, dst_dim, right);        \
  }

SELECT(u32, f32, twin)
SELECT(u32, f32, sentinel_ignored)
SELECT(u32, f32, sentinel_unwritten)
SELECT(u32, f32, strides_ignored)
SELECT(u32, f32, strides_reversed)
SELECT(u32, f32, dims_for_strides)
SELECT(u32, f32, ids_per_left)
SELECT(u32, f32, wrong_dim)
SELECT(u32, f32, left_ignored)
SELECT(u8, f32, twin)
SELECT(u8, f32, sign_extended)
SELECT(i64, f32, twin)
SELECT(i64, f32, sentinel_negative)
SELECT(i64, f32, index_as_int)

GATHER(u32, f32, twin)
GATHER(u32, f32, sentinel_signed)
GATHER(u32, f32, sentinel_zero)
GATHER(u32, f32, ids_per_row)
GATHER(u32, f32, wrong_dim)
GATHER(u32, f32, one_block)
GATHER(u32, f32, off_by_one)
GATHER(u8, u8, twin)
GATHER(u8, u8, sign_extended)

SCATTER(u32, f32, twin)
SCATTER(u32, f32, first_wins)
SCATTER(u32, f32, by_element)
SCATTER(u32, f32, sentinel_ignored)
SCATTER(u32, f32, wrong_dim)
SCATTER(u32, f32, off_by_one)
SCATTER(i64, i64, twin)
SCATTER(i64, i64, sentinel_negative)

SCATTER_ADD(u32, f32, twin)
SCATTER_ADD(u32, f32, backwards)
SCATTER_ADD(u32, f32, by_element)
SCATTER_ADD(u32, f32, atomic_sums)
SCATTER_ADD(u32, f32, overwrites)
SCATTER_ADD(u32, f32, short_column)
SCATTER_ADD(u32, f32, ids_per_row)
SCATTER_ADD(u32, f16, twin)
SCATTER_ADD(u32, f16, wide_sum)
SCATTER_ADD(u32, f16, truncated_sum)
SCATTER_ADD(u32, bf16, twin)
SCATTER_ADD(u32, bf16, truncated_sum)

INDEX_ADD(u32, f32, twin)
INDEX_ADD(u32, f32, left_ignored)
INDEX_ADD(u32, f32, sentinel_zero)
INDEX_ADD(u32, f32, backwards)
INDEX_ADD(u32, f16, twin)
INDEX_ADD(u32, f16, truncated_sum)
INDEX_ADD(u32, bf16, twin)
INDEX_ADD(u32, bf16, truncated_sum)
INDEX_ADD(u32, u8, twin)
INDEX_ADD(u32, u8, saturated)
INDEX_ADD(u32, i64, twin)
INDEX_ADD(u32, i64, as_int)
