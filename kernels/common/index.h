// How elementwise kernels walk their operands.
#pragma once

#include "types.h"

// The index of this thread along x, and the number of threads along x.
__device__ inline size_t thread_index() {
  return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline size_t thread_count() {
  return static_cast<size_t>(gridDim.x) * blockDim.x;
}

// A layout is dims[num_dims], then for each operand strides[num_dims] in
// elements; null means that every operand is contiguous.

__device__ inline bool contiguous(size_t num_dims, const size_t *dims,
                                  const size_t *strides) {
  size_t step = 1;
#pragma unroll 1
  for (size_t d = num_dims; d-- > 0;) {
    if (dims[d] > 1 && strides[d] != step)
      return false;
    step *= dims[d];
  }
  return true;
}

// Offset of element i, counted in row-major order.
template <typename Index>
__device__ inline size_t strided(Index i, size_t num_dims, const size_t *dims,
                                 const size_t *strides) {
  size_t offset = 0;
#pragma unroll 1
  for (size_t d = num_dims; d-- > 0;) {
    Index dim = static_cast<Index>(dims[d]);
    Index rest = i / dim;
    offset += (i - rest * dim) * strides[d];
    i = rest;
  }
  return offset;
}

// A 64-bit division costs several 32-bit ones, so the latter where they do.
__device__ inline size_t strided(size_t i, size_t numel, size_t num_dims,
                                 const size_t *dims, const size_t *strides) {
  return numel >> 32
             ? strided<size_t>(i, num_dims, dims, strides)
             : strided<u32>(static_cast<u32>(i), num_dims, dims, strides);
}

// Divides many numbers by one: in 32 bits, where small says that these
// suffice, by a multiplication that is at most one short.
struct Divider {
  size_t by;
  u32 inverse;
  bool small;
  __device__ inline Divider(size_t by, bool small)
      : by(by), inverse(0), small(small) {
    if (small && by > 0)
      inverse = 0xffffffffu / static_cast<u32>(by);
  }
  __device__ inline size_t operator()(size_t i) const {
    if (!small)
      return i / by;
    u32 n = static_cast<u32>(i), d = static_cast<u32>(by);
    u32 q = __umulhi(n, inverse);
    return n - q * d >= d ? q + 1 : q;
  }
};

// N elements that are moved by one access.
template <typename T, int N> struct alignas(N * sizeof(T)) Pack { T at[N]; };

// As many elements as one thread moves at once: 16 bytes.
template <typename T> struct alignas(16) Vec {
  static constexpr int size = 16 / sizeof(T);
  T at[size];
};

template <typename T> __device__ inline bool aligned(const T *p) {
  return reinterpret_cast<size_t>(p) % sizeof(Vec<T>) == 0;
}
