// Conversions between element types.
//
// To a float type there is one rounding, to nearest, whatever the source.
// A float becomes an integer by truncation. Where that does not fit, C++
// leaves the result open and compilers differ; here it is what NVIDIA's
// conversions give: u32 and i64 saturate, a NaN is 0 in u32 and the
// smallest i64, and u8 is the low byte of u32. Integers wrap.
#include "zip.h"

// The float nearest to x whose last bit is 1 where x is not a float:
// rounding that to f16 or bf16 gives what rounding x would.
__device__ inline float odd(double x) {
  float y = static_cast<float>(x);
  double z = y;
  if (z == x || x != x)
    return y;
  u32 bits = __float_as_uint(y);
  if (fabs(z) > fabs(x))
    bits -= 1; // toward zero; an infinity becomes the largest float
  return __uint_as_float(bits | 1);
}

__device__ inline u32 truncated(float x, u32) {
#ifdef __CUDA_ARCH__
  return __float2uint_rz(x); // in one instruction
#else
  return x >= 4294967296.0f ? 0xffffffff : x > 0 ? static_cast<u32>(x) : 0;
#endif
}
__device__ inline u32 truncated(double x, u32) {
  return x >= 4294967296.0 ? 0xffffffff : x > 0 ? static_cast<u32>(x) : 0;
}
template <typename C> __device__ inline i64 truncated(C x, i64) {
  return x >= C(9223372036854775808.0)    ? 0x7fffffffffffffff
         : x >= C(-9223372036854775808.0) ? static_cast<i64>(x)
                                          : -0x7fffffffffffffff - 1;
}
template <typename C> __device__ inline u8 truncated(C x, u8) {
  return static_cast<u8>(truncated(x, u32()));
}

// To<T> converts what widen makes of a source to T.
template <typename T> struct To {
  __device__ static T from(float x) { return truncated(x, T()); }
  __device__ static T from(double x) { return truncated(x, T()); }
  template <typename S> __device__ static T from(S x) {
    return static_cast<T>(x);
  }
};
template <> struct To<f64> {
  template <typename S> __device__ static f64 from(S x) {
    return static_cast<f64>(x);
  }
};
template <> struct To<f32> {
  template <typename S> __device__ static f32 from(S x) {
    return static_cast<f32>(x);
  }
};
template <typename T> struct ToHalf {
  __device__ static T from(float x) { return narrow<T>(x); }
  __device__ static T from(double x) { return narrow<T>(odd(x)); }
  __device__ static T from(u32 x) {
    return narrow<T>(odd(static_cast<double>(x)));
  }
  __device__ static T from(u8 x) { return narrow<T>(x); }
};
template <> struct To<f16> : ToHalf<f16> {};
template <> struct To<bf16> : ToHalf<bf16> {};

template <typename S, typename T> struct Cast {
  __device__ T operator()(S x) const { return To<T>::from(widen(x)); }
};
template <typename T> struct Cast<T, T> {
  __device__ T operator()(T x) const { return x; } // as bits
};

#define CAST(S, T)                                                             \
  extern "C" __global__ __launch_bounds__(1024) void cast_##S##_##T(                                   \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const S *inp, T *out) {                                                  \
    zip(numel, num_dims, info, out, Cast<S, T>(),                              \
        Operand<S>(inp, 0, num_dims, info));                                   \
  }

#define CAST_HALF(S)                                                           \
  CAST(S, f64) CAST(S, f32) CAST(S, f16) CAST(S, bf16) CAST(S, u32) CAST(S, u8)

CAST_HALF(f64) CAST(f64, i64)
CAST_HALF(f32) CAST(f32, i64)
CAST_HALF(f16)
CAST_HALF(bf16)
CAST_HALF(u32) CAST(u32, i64)
CAST_HALF(u8) CAST(u8, i64)
CAST(i64, f64) CAST(i64, f32) CAST(i64, i64) CAST(i64, u32) CAST(i64, u8)
