// Elements chosen or addressed by integers. An index equal to the largest
// value of its type is a sentinel: reading ops write 0 for it, writing ops
// skip it.
//
// Tensors are seen as (left, dim, right) around the indexed dimension.
// scatter, scatter_add and index_add give one thread a whole column, which
// it walks in order: the result does not depend on scheduling, and equal
// indices are added in the order in which they stand.
#include "index.h"

template <typename I> struct Limit;
template <> struct Limit<u8> { static constexpr u8 max = 0xff; };
template <> struct Limit<u32> { static constexpr u32 max = 0xffffffff; };
template <> struct Limit<i64> { static constexpr i64 max = 0x7fffffffffffffff; };

template <typename T> __device__ inline T sum(T a, T b) {
  return narrow<T>(widen(a) + widen(b));
}

template <typename T, typename I>
__device__ inline void index_select(size_t numel, size_t num_dims,
                                    const size_t *info, const I *ids,
                                    const T *inp, T *out, size_t left,
                                    size_t src_dim, size_t ids_dim,
                                    size_t right) {
  size_t sources = left * src_dim * right;
  bool walk = info && !contiguous(num_dims, info, info + num_dims);
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t row = i / right; // (l, j)
    size_t r = i - row * right, l = row / ids_dim;
    I id = ids[row - l * ids_dim];
    T x = {};
    if (id != Limit<I>::max) {
      size_t from = (l * src_dim + static_cast<size_t>(id)) * right + r;
      x = inp[walk ? strided(from, sources, num_dims, info, info + num_dims)
                   : from];
    }
    out[i] = x;
  }
}

template <typename T, typename I>
__device__ inline void gather(size_t numel, const I *ids, const T *inp, T *out,
                              size_t left, size_t src_dim, size_t ids_dim,
                              size_t right) {
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t row = i / right;
    size_t r = i - row * right, l = row / ids_dim;
    I id = ids[i];
    T x = {};
    if (id != Limit<I>::max)
      x = inp[(l * src_dim + static_cast<size_t>(id)) * right + r];
    out[i] = x;
  }
}

// Walks the columns of inp (left, src_dim, right) and hands put the element
// of out and the value for it. The index of element j of column (l, r) is
// that element's own, or one for all of row j.
template <bool PerElement, typename T, typename I, typename Put>
__device__ inline void walk(const I *ids, const T *inp, T *out, size_t left,
                            size_t src_dim, size_t dst_dim, size_t right,
                            Put put) {
  size_t columns = left * right;
  for (size_t i = thread_index(); i < columns; i += thread_count()) {
    size_t l = i / right, r = i - l * right;
    for (size_t j = 0; j < src_dim; ++j) {
      size_t from = (l * src_dim + j) * right + r;
      I id = ids[PerElement ? from : j];
      if (id == Limit<I>::max)
        continue;
      put(out[(l * dst_dim + static_cast<size_t>(id)) * right + r], inp[from]);
    }
  }
}

#define INDEXING(I, T)                                                         \
  extern "C" __global__ void is_##I##_##T(                                     \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t ids_dim, const size_t right) {        \
    index_select(numel, num_dims, info, ids, inp, out, left, src_dim, ids_dim, \
                 right);                                                       \
  }                                                                            \
  extern "C" __global__ void gather_##I##_##T(                                 \
      const size_t numel, const I *ids, const T *inp, T *out,                  \
      const size_t left, const size_t src_dim, const size_t ids_dim,           \
      const size_t right) {                                                    \
    gather(numel, ids, inp, out, left, src_dim, ids_dim, right);               \
  }                                                                            \
  extern "C" __global__ void s_##I##_##T(                                      \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<true>(ids, inp, out, left, src_dim, dst_dim, right,                   \
               [](T &y, T x) { y = x; });                                      \
  }                                                                            \
  extern "C" __global__ void sa_##I##_##T(                                     \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<true>(ids, inp, out, left, src_dim, dst_dim, right,                   \
               [](T &y, T x) { y = sum(y, x); });                              \
  }                                                                            \
  extern "C" __global__ void ia_##I##_##T(                                     \
      const I *ids, const size_t ids_dim, const T *inp, T *out,                \
      const size_t left, const size_t src_dim, const size_t dst_dim,           \
      const size_t right) {                                                    \
    walk<false>(ids, inp, out, left, ids_dim, dst_dim, right,                  \
                [](T &y, T x) { y = sum(y, x); });                             \
  }

#define INDEXING_ALL(T) INDEXING(i64, T) INDEXING(u32, T) INDEXING(u8, T)

FOR_FLOATS(INDEXING_ALL)
FOR_INTS(INDEXING_ALL)
