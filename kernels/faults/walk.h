// How elementwise kernels walk their operands, with what goes wrong in it.
// With F = twin it is right. The faults are named in the enum Fault of the
// source that includes this.
#pragma once

#include "fault.h"
#include "index.h"

// Offset of element i of operand k of a layout.
template <Fault F>
__device__ inline size_t offset(size_t i, size_t k, size_t num_dims,
                                const size_t *info) {
  if (F == strides_ignored || !info)
    return i;
  const size_t *strides = info + (F == first_strides ? 1 : k + 1) * num_dims;
  if (F == dims_for_strides)
    strides = info;
  size_t at = 0;
#pragma unroll 1
  for (size_t d = num_dims; d-- > 0;) {
    size_t stride = strides[F == strides_reversed ? num_dims - 1 - d : d];
    if (F == inner_dense && d + 1 == num_dims)
      stride = 1;
    if (F == outer_ignored && d == 0)
      stride = 0;
    at += i % info[d] * stride;
    i /= info[d];
  }
  return at;
}

// f of every element's number.
template <Fault F, typename Fn>
__device__ inline void elements(size_t numel, Fn f) {
  size_t i = thread_index(), threads = thread_count(), n = numel;
  if (F == off_by_one)
    n = numel + 1;
  if (F == tail_left)
    n = numel / 4 * 4;
  if (F == one_block)
    n = numel < blockDim.x ? numel : blockDim.x;
  if (F == block_256) // and each thread takes one element
    i = blockIdx.x * 256 + threadIdx.x, threads = numel;
#pragma unroll 1
  for (; i < n; i += threads)
    f(i);
}
