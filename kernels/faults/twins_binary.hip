// Honest variants of functions of two elements.
#include "twin.h"

#include "index.h"

// In f16 itself, as candle has it, and in bf16 by way of float.
#define CANDLE(name, op)                                                       \
  struct name {                                                                \
    static __device__ f16 of(f16 a, f16 b) { return a op b; }                  \
    static __device__ bf16 of(bf16 a, bf16 b) {                                \
      return (each_of<bf16>(a) op each_of<bf16>(b)).v;                         \
    }                                                                          \
  };
CANDLE(steps_candle_add, +)
CANDLE(steps_candle_sub, -)
CANDLE(steps_candle_mul, *)
CANDLE(steps_candle_div, /)

// f32 by way of double, which has more than twice its digits.
#define DOUBLE(name, op)                                                       \
  struct name {                                                                \
    static __device__ float of(float a, float b) {                             \
      return static_cast<float>(static_cast<double>(a) op                      \
                                static_cast<double>(b));                       \
    }                                                                          \
  };
DOUBLE(twin_double_add, +)
DOUBLE(twin_double_mul, *)
DOUBLE(twin_double_div, /)

#define BINARY(name, T, F)                                                     \
  extern "C" __global__ void b##name##_##T##__##F(                             \
      const size_t numel, const size_t num_dims,                               \
      const size_t *dims_and_strides, const T *lhs, const T *rhs, T *out) {    \
    const size_t *dims = dims_and_strides;                                     \
    for (size_t i = thread_index(); i < numel; i += thread_count()) {          \
      size_t l = i, r = i;                                                     \
      if (dims) {                                                              \
        l = strided<size_t>(i, num_dims, dims, dims + num_dims);               \
        r = strided<size_t>(i, num_dims, dims, dims + 2 * num_dims);           \
      }                                                                        \
      out[i] = F::of(lhs[l], rhs[r]);                                          \
    }                                                                          \
  }

#define HALVES(T)                                                              \
  BINARY(add, T, steps_candle_add)                                              \
  BINARY(sub, T, steps_candle_sub)                                              \
  BINARY(mul, T, steps_candle_mul)                                              \
  BINARY(div, T, steps_candle_div)

HALVES(f16)
HALVES(bf16)
BINARY(add, f32, twin_double_add)
BINARY(mul, f32, twin_double_mul)
BINARY(div, f32, twin_double_div)
