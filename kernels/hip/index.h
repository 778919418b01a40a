// How elementwise kernels walk their operands. kernels/cuda/index.h offers
// the same.
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

// As many elements as one thread moves at once: 16 bytes.
template <typename T> struct alignas(16) Vec {
  static constexpr int size = 16 / sizeof(T);
  T at[size];

  // apply replaces every element by f of it. The elements go round, so that
  // f's code is there once and not for each: a math function is long.
  template <typename F> __device__ inline void apply(F f) {
#pragma unroll 1
    for (int i = 0; i < size; i++) {
      T y = f(at[0]);
#pragma unroll
      for (int k = 1; k < size; k++)
        at[k - 1] = at[k];
      at[size - 1] = y;
    }
  }
};

template <typename T> __device__ inline bool aligned(const T *p) {
  return reinterpret_cast<size_t>(p) % sizeof(Vec<T>) == 0;
}

// map writes out[i] = f(inp[i]) for numel elements, of which inp has the
// layout info and out is contiguous. A null inp is out itself.
//
// There is a thread for each element, yet the first threads take 16 bytes
// each and the rest find nothing to do: a bare copy of 2^24 elements on an
// H200 moves 2.7 TB/s so and 2.0 with an element a thread in f32, 1.9 and
// 1.3 in f16.
template <typename T, typename F>
__device__ inline void map(size_t numel, size_t num_dims, const size_t *info,
                           const T *inp, T *out, F f) {
  size_t i = thread_index(), threads = thread_count();
  const size_t *strides = info + num_dims;
  bool walk = inp && info && !contiguous(num_dims, info, strides);
  if (!inp)
    inp = out;
  if (!walk && aligned(inp) && aligned(out)) {
    size_t vecs = numel / Vec<T>::size;
#pragma unroll 1
    for (size_t v = i; v < vecs; v += threads) {
      Vec<T> x = reinterpret_cast<const Vec<T> *>(inp)[v];
      x.apply(f);
      reinterpret_cast<Vec<T> *>(out)[v] = x;
    }
    i += vecs * Vec<T>::size;
  }
#pragma unroll 1
  for (; i < numel; i += threads)
    out[i] = f(inp[walk ? strided(i, numel, num_dims, info, strides) : i]);
}
