// Reductions over the threads of a block with what goes wrong in them. With
// F = twin they give what those of kernels/hip/group.h give. The faults are named in
// the enum Fault of the source that includes this.
#pragma once

#include "group.h"

// What reduce_faulty needs of shared memory.
template <typename A> struct Places {
  A group[group_size];
  A all;
};

// A wave's own size where the fault takes it for that of a CUDA warp, or
// for that of CDNA.
template <Fault F> struct Lanes {
  static constexpr int warp = F == warp_64_w32 ? 64 : 32;
};

// op over the lanes of a group, in its first lane.
template <Fault F, typename A, typename Op>
__device__ inline A reduce_lanes(A v, int lane, int lanes, Op op) {
  constexpr int last = F == last_step ? 1 : 0;
  constexpr int start = F == half_start ? group_size / 4 : group_size / 2;
#pragma unroll
  for (int by = start; by > last; by /= 2) {
    A w = __shfl_down(v, by, group_size);
    if (lane + by < lanes)
      v = op(v, w);
  }
  return v;
}

template <Fault F, typename A, typename Op>
__device__ inline A reduce_faulty(A v, Places<A> &slots, A none, Op op) {
  int rank = thread_rank(), threads = thread_total();
  if constexpr (F == warp_32_w64) {
    // Warps of 32 by __lane_id and warpSize, which hold 64 here: half of
    // the lanes go to no slot.
    int lane = rank % warpSize, wave = rank / warpSize;
    for (int by = 16; by > 0; by /= 2)
      v = op(v, __shfl_xor(v, by));
    if (threads <= 32)
      return v;
    if (lane == 0)
      slots.group[wave] = v;
    __syncthreads();
    int waves = threads / warpSize;
    v = rank < waves ? slots.group[rank] : none;
    if (rank < 32)
      for (int by = 16; by > 0; by /= 2)
        v = op(v, __shfl_xor(v, by));
    if (rank == 0)
      slots.all = v;
    __syncthreads();
    return slots.all;
  }
  if constexpr (F == warp_64_w32) {
    // Waves of 64, where they have 32 lanes: a step of 32 stays in the lane.
    int lane = rank % 64, wave = rank / 64;
    for (int by = 32; by > 0; by /= 2)
      v = op(v, __shfl_xor(v, by, 64));
    if (threads <= 64)
      return v;
    if (lane == 0)
      slots.group[wave] = v;
    __syncthreads();
    if (rank == 0) {
      A w = none;
      for (int i = 0; i < (threads + 63) / 64; i++)
        w = op(w, slots.group[i]);
      slots.all = w;
    }
    __syncthreads();
    return slots.all;
  }
  if constexpr (F == slots_half_filled_w64) {
    // A slot for each wave, and all 32 slots read: waves of 64 fill 16.
    for (int by = warpSize / 2; by > 0; by /= 2)
      v = op(v, __shfl_xor(v, by));
    if (threads <= 32)
      return v;
    int lane = rank % warpSize;
    if (lane == 0)
      slots.group[rank / warpSize] = v;
    __syncthreads();
    if (rank < 32) {
      v = slots.group[rank];
      for (int by = 16; by > 0; by /= 2)
        v = op(v, __shfl_xor(v, by));
      if (rank == 0)
        slots.all = v;
    }
    __syncthreads();
    return slots.all;
  }
  int group = rank / group_size, lane = rank % group_size;
  int lanes = threads - group * group_size;
  lanes = lanes < group_size ? lanes : group_size;
  v = reduce_lanes<F>(v, lane, lanes, op);
  if (F == first_lane_alone)
    return v; // the other lanes go on with a part
  if (threads <= group_size)
    return __shfl(v, 0, group_size);
  if (lane == 0)
    slots.group[group] = v;
  if (F != no_sync)
    __syncthreads();
  if (group == 0) {
    int groups = (threads + group_size - 1) / group_size;
    A w = none;
    if (F == slots_one_short ? lane + 1 < groups : lane < groups)
      w = slots.group[lane];
    w = reduce_lanes<F>(w, lane, groups, op);
    if (lane == 0)
      slots.all = w;
  }
  if (F != no_second_sync)
    __syncthreads();
  return slots.all;
}
