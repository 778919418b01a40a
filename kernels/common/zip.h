// Elementwise kernels of several operands, of any types.
#pragma once

#include "index.h"

// Ring<T>::type is what sums and products of T are computed in: of
// integers an unsigned type, in which they wrap and stay defined.
template <typename T> struct Ring { typedef compute<T> type; };
template <> struct Ring<i64> { typedef u64 type; };
template <> struct Ring<i32> { typedef u32 type; };
template <> struct Ring<i16> { typedef u32 type; };
template <typename T> using ring = typename Ring<T>::type;

// The elements of a pack, so that none of types' packs is above 16 bytes.
template <typename... T> __device__ constexpr int pack_size() {
  size_t sizes[] = {sizeof(T)...}, widest = 1;
  for (size_t s : sizes)
    widest = s > widest ? s : widest;
  return static_cast<int>(16 / widest);
}

// How an operand is walked: in order, not at all (one element stands for
// all), or by its strides.
enum class Walk { InOrder, Same, Strided };

// An operand of zip. Operand k of a layout has the strides info + (k+1) *
// num_dims.
template <typename T> struct Operand {
  const T *data;
  const size_t *strides;
  Walk walk;

  __device__ inline Operand(const T *data, size_t k, size_t num_dims,
                            const size_t *info)
      : data(data), strides(info + (k + 1) * num_dims), walk(Walk::InOrder) {
    if (!info || contiguous(num_dims, info, strides))
      return;
    walk = Walk::Same;
#pragma unroll 1
    for (size_t d = 0; d < num_dims; d++)
      if (strides[d] != 0)
        walk = Walk::Strided;
  }

  __device__ inline T at(size_t i, size_t numel, size_t num_dims,
                         const size_t *info) const {
    if (walk == Walk::InOrder)
      return data[i];
    return data[walk == Walk::Same
                    ? 0
                    : strided(i, numel, num_dims, info, strides)];
  }

  // Whether the operand can be read in packs. One that is Ordered is where it is
  // in order: what it takes to ask for each pack counts in halves.
  template <int N, bool Ordered> __device__ inline bool packed() const {
    return (!Ordered && walk == Walk::Same) ||
           (walk == Walk::InOrder &&
            reinterpret_cast<size_t>(data) % sizeof(Pack<T, N>) == 0);
  }

  // Pack p, where the operand is packed.
  template <int N, bool Ordered> __device__ inline Pack<T, N> pack(size_t p) const {
    if (Ordered || walk == Walk::InOrder)
      return reinterpret_cast<const Pack<T, N> *>(data)[p];
    Pack<T, N> same;
#pragma unroll
    for (int k = 0; k < N; k++)
      same.at[k] = data[0];
    return same;
  }
};

template <typename R, int N, typename F, typename... P>
__device__ inline Pack<R, N> each(F f, P... in) {
  Pack<R, N> y;
#pragma unroll
  for (int k = 0; k < N; k++)
    y.at[k] = f(in.at[k]...);
  return y;
}

// zip writes out[i] = f(in[i]...) for numel elements; out is contiguous.
// A thread takes 16 bytes of the widest operand and then those a grid's width
// further: of candle's launch, which has a thread for each element, the first
// threads take all. Those that find nothing to do cost as much as the copying:
// on an H200 neg_f16 of 2^26 elements moves 1.4 TB/s so and 3.9 by a launch of
// 128 threads a block with a pack for each (internal/ops/launch.go).
template <typename R, typename F, typename... T>
__device__ inline void zip(size_t numel, size_t num_dims, const size_t *info,
                           R *out, F f, Operand<T>... in) {
  constexpr int n = pack_size<R, T...>();
  size_t i = thread_index(), threads = thread_count();
  bool packed = reinterpret_cast<size_t>(out) % sizeof(Pack<R, n>) == 0;
  bool fits[] = {in.template packed<n, sizeof...(T) == 1>()...};
#pragma unroll
  for (bool fit : fits)
    packed = packed && fit;
  if (packed) {
    size_t packs = numel / n;
#pragma unroll 1
    for (size_t p = i; p < packs; p += threads)
      reinterpret_cast<Pack<R, n> *>(out)[p] =
          each<R, n>(f, in.template pack<n, sizeof...(T) == 1>(p)...);
    i += packs * n;
  }
#pragma unroll 1
  for (; i < numel; i += threads)
    out[i] = f(in.at(i, numel, num_dims, info)...);
}
