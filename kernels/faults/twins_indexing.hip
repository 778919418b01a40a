// Honest variants of indexing.
#include "twin.h"

#include "index.h"

template <typename I> __device__ inline bool sentinel(I id) {
  return sizeof(I) == 8 ? id == I(0x7fffffffffffffff) : id == I(~u64(0));
}

// Index math of 32 bits, which holds tensors of less than 2^32 elements, and
// elements taken from the last to the first.

template <typename T, typename I>
__device__ inline void index_select(u32 numel, u32 num_dims, const size_t *info,
                                    const I *ids, const T *inp, T *out,
                                    u32 left, u32 src_dim, u32 ids_dim,
                                    u32 right) {
  u32 sources = left * src_dim * right;
  for (u32 k = static_cast<u32>(thread_index()); k < numel;
       k += static_cast<u32>(thread_count())) {
    u32 i = numel - 1 - k, r = i % right, j = i / right % ids_dim;
    u32 l = i / right / ids_dim;
    I id = ids[j];
    if (sentinel(id)) {
      out[i] = T{};
      continue;
    }
    u32 rest = (l * src_dim + static_cast<u32>(id)) * right + r, at = rest;
    if (info) {
      at = 0;
      u32 size = sources;
      for (u32 d = 0; d < num_dims; d++) {
        size /= static_cast<u32>(info[d]);
        at += rest / size * static_cast<u32>(info[num_dims + d]);
        rest %= size;
      }
    }
    out[i] = inp[at];
  }
}

template <typename T, typename I>
__device__ inline void gather(u32 numel, const I *ids, const T *inp, T *out,
                              u32 src_dim, u32 ids_dim, u32 right) {
  for (u32 k = static_cast<u32>(thread_index()); k < numel;
       k += static_cast<u32>(thread_count())) {
    u32 i = numel - 1 - k, r = i % right, l = i / right / ids_dim;
    I id = ids[i];
    out[i] = sentinel(id)
                 ? T{}
                 : inp[(l * src_dim + static_cast<u32>(id)) * right + r];
  }
}

// A column's elements with the next one read ahead; what equal indices add is
// added in their order.
template <bool PerElement, typename T, typename I, typename Put>
__device__ inline void columns(const I *ids, const T *inp, T *out, u32 left,
                               u32 src_dim, u32 dst_dim, u32 right, Put put) {
  for (u32 i = static_cast<u32>(thread_index()); i < left * right;
       i += static_cast<u32>(thread_count())) {
    u32 l = i / right, r = i % right, from = l * src_dim * right + r;
    if (src_dim == 0)
      continue;
    T next = inp[from];
    for (u32 j = 0; j < src_dim; j++) {
      T x = next;
      u32 at = from + j * right;
      if (j + 1 < src_dim)
        next = inp[at + right];
      I id = ids[PerElement ? at : j];
      if (!sentinel(id)) {
        u32 to = (l * dst_dim + static_cast<u32>(id)) * right + r;
        out[to] = put(out[to], x);
      }
    }
  }
}

#define SELECT(I, T)                                                           \
  extern "C" __global__ void is_##I##_##T##__twin_short(                       \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t ids_dim, const size_t right) {        \
    index_select<T, I>(numel, num_dims, info, ids, inp, out, left, src_dim,    \
                       ids_dim, right);                                        \
  }
#define GATHER(I, T)                                                           \
  extern "C" __global__ void gather_##I##_##T##__twin_short(                   \
      const size_t numel, const I *ids, const T *inp, T *out,                  \
      const size_t left, const size_t src_dim, const size_t ids_dim,           \
      const size_t right) {                                                    \
    gather<T, I>(numel, ids, inp, out, src_dim, ids_dim, right);               \
  }
#define SCATTER(I, T)                                                          \
  extern "C" __global__ void s_##I##_##T##__twin_ahead(                        \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    columns<true>(ids, inp, out, left, src_dim, dst_dim, right,                \
                  [](T, T x) { return x; });                                   \
  }
#define SCATTER_ADD(I, T)                                                      \
  extern "C" __global__ void sa_##I##_##T##__twin_ahead(                       \
      const I *ids, const T *inp, T *out, const size_t left,                   \
      const size_t src_dim, const size_t dst_dim, const size_t right) {        \
    columns<true>(ids, inp, out, left, src_dim, dst_dim, right,                \
                  [](T y, T x) { return (each_of<T>(y) + each_of<T>(x)).v; }); \
  }
#define INDEX_ADD(I, T)                                                        \
  extern "C" __global__ void ia_##I##_##T##__twin_ahead(                       \
      const I *ids, const size_t ids_dim, const T *inp, T *out,                \
      const size_t left, const size_t src_dim, const size_t dst_dim,           \
      const size_t right) {                                                    \
    columns<false>(ids, inp, out, left, ids_dim, dst_dim, right,               \
                   [](T y, T x) { return (each_of<T>(y) + each_of<T>(x)).v; });\
  }

SELECT(i64, f32)
SELECT(u32, f16)
SELECT(u8, bf16)
GATHER(i64, f32)
GATHER(u32, bf16)
GATHER(u8, f64)
SCATTER(i64, f32)
SCATTER(u8, f16)
SCATTER_ADD(i64, f32)
SCATTER_ADD(u32, f16)
INDEX_ADD(i64, f32)
INDEX_ADD(u32, bf16)
