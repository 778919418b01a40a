// Honest variants of y = x*mul + add.
#include "twin.h"

#include "index.h"

struct steps_candle { // each of product and sum rounded to the element type
  template <typename T> static __device__ T of(T x, T mul, T add) {
    return (each_of<T>(x) * each_of<T>(mul) + each_of<T>(add)).v;
  }
};
struct twin_fused { // fused in f16
  static __device__ f16 of(f16 x, f16 mul, f16 add) {
    return __builtin_fmaf16(x, mul, add);
  }
};
struct twin_float { // two roundings in float, a third at the store
  template <typename T> static __device__ T of(T x, T mul, T add) {
    return narrow<T>(widen(x) * widen(mul) + widen(add));
  }
};

#define AFFINE(T, F)                                                           \
  extern "C" __global__ void affine_##T##__##F(                                \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out, const T mul, const T add) {                        \
    bool walk = inp && info;                                                   \
    const T *from = inp ? inp : out;                                           \
    for (size_t i = thread_index(); i < numel; i += thread_count())            \
      out[i] = F::of(from[walk ? strided<size_t>(i, num_dims, info,            \
                                                 info + num_dims)              \
                               : i],                                           \
                     mul, add);                                                \
  }

AFFINE(f64, steps_candle)
AFFINE(f32, steps_candle)
AFFINE(f16, steps_candle)
AFFINE(bf16, steps_candle)
AFFINE(f16, twin_fused)
AFFINE(f16, twin_float)
AFFINE(bf16, twin_float)
