// What the honest variants share: kernels that do right by other means than
// those of kernels/hip, and must pass every case. The symbol of one is that
// of the kernel it stands for, two underscores and a name that begins with
// "twin", with "steps" where f16 and bf16 are rounded in every step, as in
// candle's own arithmetic, with "chain" where one thread adds up what the bundled
// kernels share among 32 or more, or with "exp2" where e^x is no function of
// the library: the bounds of these are wider.
#pragma once

#include "libm.h"
#include "types.h"

// Each is an element in arithmetic that rounds every result to T, as
// candle's kernels have it for f16 and bf16. For f32 and f64 it is plain
// arithmetic.
template <typename T> struct Each {
  typedef compute<T> C;
  T v;
  __device__ Each(T x, int) : v(x) {}
  __device__ Each(C x) : v(narrow<T>(x)) {}
  __device__ C wide() const { return widen(v); }
};
template <typename T> __device__ inline Each<T> each_of(T x) { return {x, 0}; }

#define EACH(op)                                                               \
  template <typename T>                                                        \
  __device__ inline Each<T> operator op(Each<T> a, Each<T> b) {                \
    return a.wide() op b.wide();                                               \
  }
EACH(+)
EACH(-)
EACH(*)
EACH(/)
#undef EACH
template <typename T> __device__ inline Each<T> operator-(Each<T> a) {
  return -a.wide();
}

// e^x as candle's build for AMD has it: f16 by the library's function of
// halves, bf16 by that of float, rounded.
template <typename T> __device__ inline Each<T> exp_each(Each<T> x) {
  return m::exp(x.wide());
}
template <> __device__ inline Each<f16> exp_each(Each<f16> x) {
  return {__ocml_exp_f16(x.v), 0};
}
