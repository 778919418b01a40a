// Element types and the small parts that the kernels share. This is the HIP
// side; kernels/cuda/types.h offers the same names.
//
// f16 and bf16 are storage types: arithmetic on them is done in float and
// rounded once, by narrow. The compiler may fuse nothing by itself
// (-ffp-contract=off); where a product is fused the source says fused(), so
// that HIP and CUDA round in the same places.
#pragma once

#include <hip/hip_runtime.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
typedef _Float16 f16;
struct bf16 {
  unsigned short bits;
};

#define FOR_FLOATS(M) M(f64) M(f32) M(f16) M(bf16)
#define FOR_INTS(M) M(i64) M(u32) M(u8)

// Compute<T>::type is what arithmetic on T is done in.
template <typename T> struct Compute { typedef T type; };
template <> struct Compute<f16> { typedef float type; };
template <> struct Compute<bf16> { typedef float type; };
template <typename T> using compute = typename Compute<T>::type;

// widen is exact.
template <typename T> __device__ inline compute<T> widen(T x) { return x; }
template <> __device__ inline float widen(bf16 x) {
  return __uint_as_float(static_cast<u32>(x.bits) << 16);
}

// narrow rounds to the nearest T, ties to even; a NaN stays a quiet NaN.
template <typename T> __device__ inline T narrow(compute<T> x) {
  return static_cast<T>(x);
}
template <> __device__ inline bf16 narrow(float x) {
#if defined(__HIP_PLATFORM_NVIDIA__) && __CUDA_ARCH__ >= 800
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
#else
  u32 u = __float_as_uint(x);
  u32 rounded = u + 0x7fff + ((u >> 16) & 1);
  u32 quiet = u | 0x400000;
  u32 r = (u & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
  return {static_cast<unsigned short>(r >> 16)};
#endif
}

// fused is a*b + c with one rounding.
__device__ inline float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return fma(a, b, c);
}
