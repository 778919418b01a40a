// HIP's names under NVRTC, so that kernels/hip compiles for NVIDIA as HIP's
// own NVIDIA platform has it: a warp is a wave of 32 lanes. It stands in
// for hip/hip_runtime.h and holds what CUDA does not offer under the same
// name.
#pragma once

#define __HIP_PLATFORM_NVIDIA__

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// clang's half type, as far as storage goes: conversion from and to float,
// to nearest even.
struct __hipnv_float16 {
  unsigned short bits;
  __hipnv_float16() = default;
  __device__ explicit __hipnv_float16(float x) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  }
  __device__ operator float() const {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(bits));
    return y;
  }
};
#define _Float16 __hipnv_float16

// AMD's instructions for 1/x, 2^x, log2(x) and square roots, which are as near as
// NVIDIA's.
__device__ inline float __hipnv_rcpf(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float __hipnv_exp2f(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float __hipnv_logf(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float __hipnv_sqrtf(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#define __builtin_amdgcn_rcpf __hipnv_rcpf
#define __builtin_amdgcn_exp2f __hipnv_exp2f
#define __builtin_amdgcn_logf __hipnv_logf
#define __builtin_amdgcn_sqrtf __hipnv_sqrtf

// HIP's wave functions act on the active lanes and take no mask; its ballot
// has a bit for each of 64 lanes. CUDA declares functions of these names
// too, though not for use, so they are macros.
template <typename T>
__device__ inline T __hipnv_shfl(T v, int lane, int width = warpSize) {
  return __shfl_sync(__activemask(), v, lane, width);
}
template <typename T>
__device__ inline T __hipnv_shfl_up(T v, unsigned int delta, int width = warpSize) {
  return __shfl_up_sync(__activemask(), v, delta, width);
}
template <typename T>
__device__ inline T __hipnv_shfl_down(T v, unsigned int delta, int width = warpSize) {
  return __shfl_down_sync(__activemask(), v, delta, width);
}
template <typename T>
__device__ inline T __hipnv_shfl_xor(T v, int lane_mask, int width = warpSize) {
  return __shfl_xor_sync(__activemask(), v, lane_mask, width);
}
__device__ inline unsigned long long __hipnv_ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
__device__ inline int __hipnv_any(int predicate) {
  return __any_sync(__activemask(), predicate);
}
__device__ inline int __hipnv_all(int predicate) {
  return __all_sync(__activemask(), predicate);
}

#define __shfl __hipnv_shfl
#define __shfl_up __hipnv_shfl_up
#define __shfl_down __hipnv_shfl_down
#define __shfl_xor __hipnv_shfl_xor
#define __ballot __hipnv_ballot
#define __any __hipnv_any
#define __all __hipnv_all
