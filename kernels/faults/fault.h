// What the kernels with planted faults share. A fault is the template
// argument F of a kernel that is otherwise right: with F = twin it is
// right, so that a twin differs from its fault by the mistake alone. The
// symbol of a fault is that of the kernel it is a wrong port of, two
// underscores and the fault's name; internal/mutate plants it there.
#pragma once

#include "types.h"

// truncate cuts off what does not fit T, where narrow rounds to nearest.
template <typename T> __device__ inline T truncate(compute<T> x) {
  return narrow<T>(x);
}
template <> __device__ inline bf16 truncate(float x) {
  return {static_cast<unsigned short>(__float_as_uint(x) >> 16)};
}
template <> __device__ inline f16 truncate(float x) {
  f16 y = static_cast<f16>(x);
  if (fabsf(static_cast<float>(y)) > fabsf(x) && x - x == 0) {
    union {
      f16 h;
      unsigned short bits;
    } v = {y};
    v.bits--;
    return v.h;
  }
  return y;
}

// flush replaces a subnormal of T by zero, as a build with fast math does.
template <typename T> __device__ inline T flush(T x) { return x; }
template <> __device__ inline float flush(float x) {
  return fabsf(x) < 1.17549435e-38f ? 0 * x : x;
}
template <> __device__ inline double flush(double x) {
  return fabs(x) < 2.2250738585072014e-308 ? 0 * x : x;
}
