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

// What an element is held in where a thread has an array of them: a register.
// Compilers pack arrays of bytes into registers, and leave parts undefined.
template <typename T> struct Whole { typedef T type; };
template <> struct Whole<u8> { typedef u32 type; };
template <typename T> using whole = typename Whole<T>::type;

// pick writes out[i] for the rows of right elements that ids choose: one for
// each element, or one for a row. An element may be a Pack, which a thread
// moves as a whole. A thread has so many as a batch under way, which lie a block
// apart, so that their loads wait together.
template <bool PerElement, int batch, typename E, typename I>
__device__ inline void pick(size_t numel, const I *ids, const E *inp, E *out,
                            size_t src_dim, size_t ids_dim, size_t right) {
  bool small = numel >> 32 == 0;
  Divider by_right(right, small), by_ids(ids_dim, small);
  size_t step = blockDim.x, tile = batch * step;
#pragma unroll 1
  for (size_t base = blockIdx.x * tile + threadIdx.x; base < numel;
       base += gridDim.x * tile) {
    size_t from[batch];
    bool takes[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
      size_t i = base + k * step;
      from[k] = 0;
      takes[k] = false;
      if (i < numel) {
        size_t row = by_right(i), l = by_ids(row); // row is (l, j)
        I id = ids[PerElement ? i : row - l * ids_dim];
        takes[k] = id != Limit<I>::max;
        from[k] = (l * src_dim + static_cast<size_t>(id)) * right +
                  (i - row * right);
      }
    }
    whole<E> x[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
      x[k] = {};
      if (takes[k])
        x[k] = inp[from[k]];
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
      if (base + k * step < numel)
        out[base + k * step] = static_cast<E>(x[k]);
  }
}

template <typename T, typename I>
__device__ inline void index_select(size_t numel, size_t num_dims,
                                    const size_t *info, const I *ids,
                                    const T *inp, T *out, size_t left,
                                    size_t src_dim, size_t ids_dim,
                                    size_t right) {
  constexpr int n = Vec<T>::size;
  const size_t *strides = info + num_dims;
  if (!info || contiguous(num_dims, info, strides)) {
    if (aligned(inp) && aligned(out) && right % n == 0)
      pick<false, 2>(numel / n, ids, reinterpret_cast<const Pack<T, n> *>(inp),
                  reinterpret_cast<Pack<T, n> *>(out), src_dim, ids_dim,
                  right / n);
    else
      pick<false, 2>(numel, ids, inp, out, src_dim, ids_dim, right);
    return;
  }
  size_t sources = left * src_dim * right;
#pragma unroll 1
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t row = i / right;
    size_t r = i - row * right, l = row / ids_dim;
    I id = ids[row - l * ids_dim];
    T x = {};
    if (id != Limit<I>::max) {
      size_t from = (l * src_dim + static_cast<size_t>(id)) * right + r;
      x = inp[strided(from, sources, num_dims, info, strides)];
    }
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
  constexpr int ahead = 8; // elements read before the first is put
  constexpr size_t none = ~static_cast<size_t>(0);
  size_t columns = left * right;
  for (size_t i = thread_index(); i < columns; i += thread_count()) {
    size_t l = i / right, r = i - l * right;
#pragma unroll 1
    for (size_t j = 0; j < src_dim; j += ahead) {
      size_t to[ahead]; // row of out
      whole<T> x[ahead];
#pragma unroll
      for (int k = 0; k < ahead; k++) {
        size_t from = (l * src_dim + j + k) * right + r;
        to[k] = none;
        x[k] = {};
        if (j + k < src_dim) {
          I id = ids[PerElement ? from : j + k];
          to[k] = id != Limit<I>::max ? static_cast<size_t>(id) : none;
          x[k] = inp[from];
        }
      }
#pragma unroll
      for (int k = 0; k < ahead; k++)
        if (to[k] != none)
          put(out[(l * dst_dim + to[k]) * right + r], static_cast<T>(x[k]));
    }
  }
}

// Adds rows of inp (left, src_dim, right) to those of out that ids name. E is an
// element or a Pack, and add sums two of them.
template <typename E, typename I, typename Add>
__device__ inline void add_rows(const I *ids, const E *inp, E *out, size_t left,
                                size_t src_dim, size_t dst_dim, size_t right,
                                Add add) {
  constexpr int ahead = 4; // rows read before the first is written
  constexpr size_t none = ~static_cast<size_t>(0);
  size_t columns = left * right;
  for (size_t i = thread_index(); i < columns; i += thread_count()) {
    size_t l = i / right, r = i - l * right;
    const E *from = inp + l * src_dim * right + r;
    E *to = out + l * dst_dim * right + r;
#pragma unroll 1
    for (size_t j = 0; j < src_dim; j += ahead) {
      size_t at[ahead];
      whole<E> x[ahead], y[ahead];
#pragma unroll
      for (int k = 0; k < ahead; k++) {
        at[k] = none;
        if (j + k < src_dim) {
          I id = ids[j + k];
          at[k] = id != Limit<I>::max ? static_cast<size_t>(id) * right : none;
        }
      }
#pragma unroll
      for (int k = 0; k < ahead; k++) {
        x[k] = y[k] = {};
        if (at[k] != none) {
          x[k] = from[(j + k) * right];
          y[k] = to[at[k]];
        }
      }
#pragma unroll
      for (int k = 0; k < ahead; k++) {
#pragma unroll
        for (int before = 0; before < k; before++)
          if (at[before] == at[k])
            y[k] = y[before];
        y[k] = add(y[k], x[k]);
        if (at[k] != none)
          to[at[k]] = static_cast<E>(y[k]);
      }
    }
  }
}

// In packs where rows can be cut so: of 8 bytes, since more columns are more
// threads to wait for memory.
template <typename T, typename I>
__device__ inline void index_add(const I *ids, size_t ids_dim, const T *inp,
                                 T *out, size_t left, size_t dst_dim,
                                 size_t right) {
  constexpr int n = 8 / sizeof(T);
  typedef Pack<T, n> P;
  if (aligned(inp) && aligned(out) && right % n == 0)
    add_rows(ids, reinterpret_cast<const P *>(inp), reinterpret_cast<P *>(out),
             left, ids_dim, dst_dim, right / n, [](P y, P x) {
#pragma unroll
               for (int k = 0; k < n; k++)
                 y.at[k] = sum(y.at[k], x.at[k]);
               return y;
             });
  else
    add_rows(ids, inp, out, left, ids_dim, dst_dim, right,
             [](T y, T x) { return sum(y, x); });
}

#define INDEXING(I, T)                                                         \
  extern "C" __global__ __launch_bounds__(1024) void is_##I##_##T(                                     \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t ids_dim, const size_t right) {        \
    index_select(numel, num_dims, info, ids, inp, out, left, src_dim, ids_dim, \
                 right);                                                       \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void gather_##I##_##T(                                 \
      const size_t numel, const I *ids, const T *inp, T *out,                  \
      const size_t left, const size_t src_dim, const size_t ids_dim,           \
      const size_t right) {                                                    \
    pick<true, 4>(numel, ids, inp, out, src_dim, ids_dim, right);              \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void s_##I##_##T(                                      \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<true>(ids, inp, out, left, src_dim, dst_dim, right,                   \
               [](T &y, T x) { y = x; });                                      \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void sa_##I##_##T(                                     \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    walk<true>(ids, inp, out, left, src_dim, dst_dim, right,                   \
               [](T &y, T x) { y = sum(y, x); });                              \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void ia_##I##_##T(                                     \
      const I *ids, const size_t ids_dim, const T *inp, T *out,                \
      const size_t left, const size_t src_dim, const size_t dst_dim,           \
      const size_t right) {                                                    \
    index_add(ids, ids_dim, inp, out, left, dst_dim, right);                   \
  }

#define INDEXING_ALL(T) INDEXING(i64, T) INDEXING(u32, T) INDEXING(u8, T)

FOR_FLOATS(INDEXING_ALL)
FOR_INTS(INDEXING_ALL)
