// Elements of two tensors chosen by a third: where the condition is not
// zero from the first, else from the second. Elements move as bits.
#include "zip.h"

template <typename I, typename T> struct Choose {
  __device__ T operator()(I id, T t, T f) const { return id ? t : f; }
};

#define WHERE(I, T)                                                            \
  extern "C" __global__ __launch_bounds__(1024) void where_##I##_##T(                                  \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const I *ids, const T *t, const T *f, T *out) {                          \
    zip(numel, num_dims, info, out, Choose<I, T>(),                            \
        Operand<I>(ids, 0, num_dims, info), Operand<T>(t, 1, num_dims, info),  \
        Operand<T>(f, 2, num_dims, info));                                     \
  }

#define WHERE_ALL(T) WHERE(i64, T) WHERE(u32, T) WHERE(u8, T)

FOR_FLOATS(WHERE_ALL)
FOR_INTS(WHERE_ALL)
