// Functions of two elements.
//
// f16 and bf16 are widened to float, in which sum, difference, product and
// quotient of two of them round to the same as the exact ones do.
#include "zip.h"

#define OP(name, R, expression)                                                \
  template <typename T> struct name {                                          \
    __device__ R operator()(T a, T b) const {                                  \
      compute<T> x = widen(a), y = widen(b);                                   \
      return expression;                                                       \
    }                                                                          \
  };

#define WRAP(x) static_cast<ring<T>>(x)

OP(Add, T, narrow<T>(WRAP(x) + WRAP(y)))
OP(Sub, T, narrow<T>(WRAP(x) - WRAP(y)))
OP(Mul, T, narrow<T>(WRAP(x) * WRAP(y)))
OP(Div, T, narrow<T>(x / y))
OP(Eq, u8, x == y)
OP(Ne, u8, x != y)
OP(Lt, u8, x < y)
OP(Le, u8, x <= y)
OP(Gt, u8, x > y)
OP(Ge, u8, x >= y)

// The larger or smaller of two. In f32 and f64 a NaN is dropped for the
// other operand; in f16 and bf16 it stays, as in candle. Of two zeros the
// positive one is the larger.
template <typename T> __device__ inline T larger(T x, T y) {
  return x > y ? x : y;
}
template <typename T> __device__ inline T smaller(T x, T y) {
  return x < y ? x : y;
}
__device__ inline float larger(float x, float y) { return fmaxf(x, y); }
__device__ inline float smaller(float x, float y) { return fminf(x, y); }
__device__ inline double larger(double x, double y) { return fmax(x, y); }
__device__ inline double smaller(double x, double y) { return fmin(x, y); }

template <typename T> __device__ inline bool stays(compute<T> x) {
  return sizeof(T) == 2 && x != x;
}

OP(Maximum, T, stays<T>(x) ? a : stays<T>(y) ? b : narrow<T>(larger(x, y)))
OP(Minimum, T, stays<T>(x) ? a : stays<T>(y) ? b : narrow<T>(smaller(x, y)))

#define BINARY(symbol, T, R, Op)                                               \
  extern "C" __global__ __launch_bounds__(1024) void symbol##_##T(                                     \
      const size_t numel, const size_t num_dims,                               \
      const size_t *dims_and_strides, const T *lhs, const T *rhs, R *out) {    \
    zip(numel, num_dims, dims_and_strides, out, Op<T>(),                       \
        Operand<T>(lhs, 0, num_dims, dims_and_strides),                        \
        Operand<T>(rhs, 1, num_dims, dims_and_strides));                       \
  }

#define BINARY_OPS(T)                                                          \
  BINARY(badd, T, T, Add)                                                      \
  BINARY(bsub, T, T, Sub)                                                      \
  BINARY(bmul, T, T, Mul)                                                      \
  BINARY(bdiv, T, T, Div)                                                      \
  BINARY(bmaximum, T, T, Maximum)                                              \
  BINARY(bminimum, T, T, Minimum)                                              \
  BINARY(eq, T, u8, Eq)                                                        \
  BINARY(ne, T, u8, Ne)                                                        \
  BINARY(lt, T, u8, Lt)                                                        \
  BINARY(le, T, u8, Le)                                                        \
  BINARY(gt, T, u8, Gt)                                                        \
  BINARY(ge, T, u8, Ge)

FOR_FLOATS(BINARY_OPS)
FOR_INTS(BINARY_OPS)
