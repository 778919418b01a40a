// Memory set to one value, and rows copied between pitches. Elements move
// as bits.
#include "zip.h"

template <typename T>
__device__ inline void fill(T *buf, T value, size_t numel) {
  constexpr int n = pack_size<T>();
  size_t i = thread_index(), threads = thread_count();
  if (reinterpret_cast<size_t>(buf) % sizeof(Pack<T, n>) == 0) {
    size_t packs = numel / n;
    Pack<T, n> same;
#pragma unroll
    for (int k = 0; k < n; k++)
      same.at[k] = value;
    for (size_t p = i; p < packs; p += threads)
      reinterpret_cast<Pack<T, n> *>(buf)[p] = same;
    i += packs * n;
  }
  for (; i < numel; i += threads)
    buf[i] = value;
}

// const_set fills the elements that the layout info names and leaves what
// lies between them.
template <typename T>
__device__ inline void const_set(size_t numel, size_t num_dims,
                                 const size_t *info, T value, T *out) {
  const size_t *strides = info + num_dims;
  if (!info || contiguous(num_dims, info, strides)) {
    fill(out, value, numel);
    return;
  }
  for (size_t i = thread_index(); i < numel; i += thread_count())
    out[strided(i, numel, num_dims, info, strides)] = value;
}

// rows copies d1 rows of d2 elements, whose starts lie src_s and dst_s
// elements apart.
template <typename T>
__device__ inline void rows(const T *src, T *dst, size_t d1, size_t d2,
                            size_t src_s, size_t dst_s) {
  constexpr int batch = 2; // under way in a thread, a block apart
  size_t numel = d1 * d2;
  Divider by_d2(d2, numel >> 32 == 0);
  size_t step = blockDim.x, tile = batch * step;
  for (size_t base = blockIdx.x * tile + threadIdx.x; base < numel;
       base += gridDim.x * tile) {
    T x[batch];
    size_t to[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
      size_t i = base + k * step;
      x[k] = {};
      to[k] = 0;
      if (i < numel) {
        size_t row = by_d2(i), col = i - row * d2;
        x[k] = src[row * src_s + col];
        to[k] = row * dst_s + col;
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
      if (base + k * step < numel)
        dst[to[k]] = x[k];
  }
}

// In packs where every row starts at a multiple of one.
template <typename T>
__device__ inline void copy2d(const T *src, T *dst, u32 d1, u32 d2, u32 src_s,
                              u32 dst_s) {
  constexpr int n = pack_size<T>();
  typedef Pack<T, n> P;
  size_t addresses =
      reinterpret_cast<size_t>(src) | reinterpret_cast<size_t>(dst);
  if (addresses % sizeof(P) == 0 && (d2 | src_s | dst_s) % n == 0)
    rows(reinterpret_cast<const P *>(src), reinterpret_cast<P *>(dst), d1,
         d2 / n, src_s / n, dst_s / n);
  else
    rows(src, dst, d1, d2, src_s, dst_s);
}

#define FILL(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void fill_##T(T *buf, T value, const size_t numel) {   \
    fill(buf, value, numel);                                                   \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void copy2d_##T(const T *src, T *dst, u32 d1, u32 d2,  \
                                        u32 src_s, u32 dst_s) {                \
    copy2d(src, dst, d1, d2, src_s, dst_s);                                    \
  }                                                                            \
  extern "C" __global__ __launch_bounds__(1024) void const_set_##T(                                    \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T inp, T *out) {                                                   \
    const_set(numel, num_dims, info, inp, out);                                \
  }

FOR_FLOATS(FILL)
FOR_INTS(FILL)
