// The math functions, at the library's full accuracy, for float and double
// under one name. kernels/hip/libm.h offers the same.
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
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x within 2 units of the last place; 0 where it is below the normal range.
__device__ inline float quick_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// log2(x) of a normal x: off by up to 2^-22 where x is near 1, else within 2 units
// of the last place.
__device__ inline float quick_log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The square root of a normal x within 1 unit of the last place.
__device__ inline float quick_sqrt(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

} // namespace m
