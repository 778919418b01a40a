// Reductions over the threads of a block. kernels/cuda/group.h offers the
// same.
//
// Threads are taken in groups of 32 by their rank, whatever the wave size: a
// wave of 64 holds two groups, and a block of 32 threads is one group in half
// a wave. So the order of operations, and with it every rounding, is the same
// on waves of 32 and 64 and on CUDA's warps. A block may have any number of
// threads up to 1024; values of threads that do not exist are never used.
#pragma once

#include "types.h"

constexpr int group_size = 32;

// The rank of this thread in its block, and the number of threads of a block.
__device__ inline int thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline int thread_total() {
  return blockDim.x * blockDim.y * blockDim.z;
}

// The value of the lane by places up in the group, of which the lanes below
// present run this. The last lanes get one of no meaning. NVIDIA's lanes may
// have come apart in a branch before and have to be named.
template <typename A>
__device__ inline A shift_down(A v, int by, int present) {
#ifdef __HIP_PLATFORM_NVIDIA__
  return __shfl_down_sync(0xffffffffu >> (group_size - present), v, by);
#else
  return __shfl_down(v, by, group_size);
#endif
}

// The value of the group's first lane.
template <typename A> __device__ inline A first_lane(A v, int present) {
#ifdef __HIP_PLATFORM_NVIDIA__
  return __shfl_sync(0xffffffffu >> (group_size - present), v, 0);
#else
  return __shfl(v, 0, group_size);
#endif
}

// op over the first lanes of the group, in its first lane: lane i takes in
// lane i + 16, then i + 8 and so on.
template <typename A, typename Op>
__device__ inline A reduce_group(A v, int lanes, int present, Op op) {
  int lane = thread_rank() % group_size;
#pragma unroll
  for (int by = group_size / 2; by > 0; by /= 2) {
    A w = shift_down(v, by, present);
    if (lane + by < lanes)
      v = op(v, w);
  }
  return v;
}

// The value of the lane whose number differs by the bit by, in a whole group.
template <typename A> __device__ inline A swap_lanes(A v, int by) {
#ifdef __HIP_PLATFORM_NVIDIA__
  return __shfl_xor_sync(0xffffffffu, v, by);
#else
  return __shfl_xor(v, by, group_size);
#endif
}

// op, which must commute, over a whole group, in every lane. The first lane's
// is that of reduce_group.
template <typename A, typename Op>
__device__ inline A reduce_whole(A v, Op op) {
#pragma unroll
  for (int by = group_size / 2; by > 0; by /= 2)
    v = op(v, swap_lanes(v, by));
  return v;
}

// What reduce_block needs of shared memory. Two reductions that follow one
// another need slots of their own: there is no barrier after the last read.
template <typename A> struct Slots {
  A group[group_size];
};

// op over each group of the block, in its first lane at least; in all lanes
// where the groups are whole or there is but one.
template <typename A, typename Op>
__device__ inline A reduce_groups(A v, Op op) {
  int rank = thread_rank(), threads = thread_total();
  if (threads % group_size == 0)
    return reduce_whole(v, op);
  int lanes = threads - rank / group_size * group_size;
  lanes = lanes < group_size ? lanes : group_size;
  v = reduce_group(v, lanes, lanes, op);
  return threads < group_size ? first_lane(v, threads) : v;
}

// op over all threads of the block, in every thread: over each group, then
// over the groups, in order. Every thread does the second part for itself,
// which takes as long as one thread's doing it and saves a barrier. Only
// slots that a group wrote are read.
template <typename A, typename Op>
__device__ inline A reduce_block(A v, Slots<A> &slots, Op op) {
  int rank = thread_rank(), threads = thread_total();
  v = reduce_groups(v, op);
  if (threads <= group_size)
    return v;
  if (rank % group_size == 0)
    slots.group[rank / group_size] = v;
  __syncthreads();
  int groups = (threads + group_size - 1) / group_size;
  v = slots.group[0];
  for (int i = 1; i < groups; i++)
    v = op(v, slots.group[i]);
  return v;
}

// op over all threads of the block, in its first thread alone: with the
// barrier the other groups are done.
template <typename A, typename Op>
__device__ inline A reduce_to_first(A v, Slots<A> &slots, Op op) {
  int rank = thread_rank(), threads = thread_total();
  v = reduce_groups(v, op);
  if (threads <= group_size)
    return v;
  if (rank % group_size == 0)
    slots.group[rank / group_size] = v;
  __syncthreads();
  if (rank >= group_size)
    return v;
  int groups = (threads + group_size - 1) / group_size;
  v = slots.group[rank < groups ? rank : 0];
  return reduce_group(v, groups, group_size, op);
}
