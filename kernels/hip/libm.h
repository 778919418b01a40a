// The math functions, at the library's full accuracy, for float and double
// under one name. kernels/cuda/libm.h offers the same.
#pragma once

#include "types.h"

namespace m {

#define MATH(name)                                                             \
  __device__ inline float name(float x) { return ::name##f(x); }               \
  __device__ inline double name(double x) { return ::name(x); }

MATH(exp)
MATH(log)
MATH(sin)
MATH(cos)
MATH(tanh)
MATH(erf)
MATH(normcdf)
MATH(sqrt)
MATH(fabs)
MATH(ceil)
MATH(floor)
MATH(round) // half away from zero

#undef MATH

__device__ inline float pow(float x, float y) { return ::powf(x, y); }
__device__ inline double pow(double x, double y) { return ::pow(x, y); }

// 1/x within 2 units of the last place, of x well inside the normal range.
__device__ inline float quick_recip(float x) {
  return __builtin_amdgcn_rcpf(x);
}

// 2^x within 2 units of the last place; where it is below the normal range, 0
// or that.
__device__ inline float quick_exp2(float x) {
#if defined(__clang__) && !__has_builtin(__builtin_amdgcn_exp2f)
  return ::exp2f(x); // before clang 17
#else
  return __builtin_amdgcn_exp2f(x);
#endif
}

// log2(x) of a normal x: off by up to 2^-22 where x is near 1, else within 2 units
// of the last place.
__device__ inline float quick_log2(float x) {
#if defined(__clang__) && !__has_builtin(__builtin_amdgcn_logf)
  return ::log2f(x); // before clang 17
#else
  return __builtin_amdgcn_logf(x);
#endif
}

// The square root of a normal x within 1 unit of the last place.
__device__ inline float quick_sqrt(float x) {
  return __builtin_amdgcn_sqrtf(x);
}

} // namespace m
