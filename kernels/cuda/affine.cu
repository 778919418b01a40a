// y = x*mul + add.
//
// Floats are multiplied and added in one rounding, f16 and bf16 in float
// with a second one at the store; integers wrap. A null input is the output.
#include "zip.h"

template <typename T> struct Affine {
  T mul, add;
  __device__ T operator()(T x) const {
    ring<T> m = widen(mul), a = widen(add);
    return narrow<T>(static_cast<ring<T>>(widen(x)) * m + a);
  }
};
#define FUSED(T)                                                               \
  template <> __device__ inline T Affine<T>::operator()(T x) const {           \
    return narrow<T>(fused(widen(x), widen(mul), widen(add)));                 \
  }

FOR_FLOATS(FUSED)

#define AFFINE(T)                                                              \
  extern "C" __global__ __launch_bounds__(1024) void affine_##T(                                       \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out, const T mul, const T add) {                        \
    const T *from = inp ? inp : out;                                           \
    zip(numel, num_dims, info, out, Affine<T>{mul, add},                       \
        Operand<T>(from, 0, num_dims, inp ? info : nullptr));                  \
  }

FOR_FLOATS(AFFINE)
FOR_INTS(AFFINE)
AFFINE(i16)
AFFINE(i32)
