// Functions of one element.
//
// An op is a functor from compute<T> to compute<T>; f16 and bf16 are
// widened to float before it and rounded once after it. A product is fused
// with a sum only where the op says so.
#include "quick.h"
#include "zip.h"

#define OP(name, expression)                                                   \
  template <typename T> struct name {                                          \
    typedef compute<T> C;                                                      \
    __device__ C operator()(C x) const { return expression; }                  \
  };

OP(Neg, -x)
OP(Exp, m::exp(x))
OP(Ceil, m::ceil(x))
OP(Floor, m::floor(x))
OP(Round, m::round(x))
OP(Abs, m::fabs(x))
OP(Sqr, x * x)

#define OP_HALF(name, expression, quick)                                       \
  template <typename T> struct name {                                          \
    typedef compute<T> C;                                                      \
    __device__ C operator()(C x) const {                                       \
      if constexpr (sizeof(T) > 2)                                             \
        return expression;                                                     \
      else                                                                     \
        return quick;                                                          \
    }                                                                          \
  };

OP_HALF(Recip, C(1) / x, for_half::recip<T>(x))
OP_HALF(Log, m::log(x), for_half::log<T>(x))
OP_HALF(Sin, m::sin(x), for_half::sin<T>(x))
OP_HALF(Cos, m::cos(x), for_half::cos<T>(x))
OP_HALF(Tanh, m::tanh(x), for_half::tanh(x))
OP_HALF(Erf, m::erf(x), for_half::erf(x))
OP_HALF(Sqrt, m::sqrt(x), for_half::sqrt<T>(x))

template <typename T> struct Normcdf {
  typedef compute<T> C;
  __device__ double operator()(double x) const { return m::normcdf(x); }
  __device__ float operator()(float x) const {
    return sizeof(T) == 2 ? for_half::normcdf<T>(x) : quick_normcdf(x);
  }
};
OP(GeluErf, x * Normcdf<T>()(x))

// 1 / (1 + e^-x). For half types, which take the quotient's last bits off,
// with the quick reciprocal: of a number from 1 to 2, so that nothing
// overflows or is flushed.
template <typename T> struct Sigmoid {
  typedef compute<T> C;
  __device__ C operator()(C x) const {
    if constexpr (sizeof(T) > 2) {
      return C(1) / (C(1) + m::exp(-x));
    } else {
      float e = m::exp(-m::fabs(x));
      return (x < 0 ? e : 1) * m::quick_recip(1 + e);
    }
  }
};
OP_HALF(Silu, x / (C(1) + m::exp(-x)), x *Sigmoid<T>()(x))
OP(Sign, C(x > 0) - C(x < 0)) // of NaN: 0

// The tanh form; the constant is sqrt(2/pi).
template <typename T> struct Gelu {
  typedef compute<T> C;
  __device__ C operator()(C x) const {
    C cube = x * x * x;
    C inner = C(0.79788456080286535588) * fused(C(0.044715), cube, x);
    if constexpr (sizeof(T) > 2)
      return C(0.5) * x * (C(1) + m::tanh(inner));
    else
      return x * Sigmoid<T>()(2 * inner);
  }
};

// max(x, 0). A NaN gives 0 in f32 and f64, as fmax does, and stays NaN in
// f16 and bf16, as in candle.
template <typename T> struct Relu {
  typedef compute<T> C;
  __device__ C operator()(C x) const {
    bool keep = sizeof(T) == 2 && x != x;
    return x > 0 || keep ? x : C(0);
  }
};

template <typename T> struct Elu {
  typedef compute<T> C;
  C alpha;
  __device__ C operator()(C x) const {
    return x > 0 ? x : alpha * (m::exp(x) - C(1));
  }
};

// x^y of every y.
template <typename T> struct LibraryPower {
  typedef compute<T> C;
  C y;
  __device__ C operator()(C x) const { return m::pow(x, y); }
};

// map writes out[i] = f(inp[i]). A null inp is out itself.
template <typename T, typename F>
__device__ inline void map(size_t numel, size_t num_dims, const size_t *info,
                           const T *inp, T *out, F f) {
  const T *from = inp ? inp : out;
  zip(numel, num_dims, info, out, f,
      Operand<T>(from, 0, num_dims, inp ? info : nullptr));
}

// Stored applies an op to stored elements.
template <typename T, typename F> struct Stored {
  F f;
  __device__ T operator()(T x) const { return narrow<T>(f(widen(x))); }
};

template <typename T, typename F>
__device__ inline void unary(size_t numel, size_t num_dims, const size_t *info,
                             const T *inp, T *out, F f) {
  map(numel, num_dims, info, inp, out, Stored<T, F>{f});
}

// Copies move bits: a NaN keeps its payload.
template <typename T> struct Same {
  __device__ T operator()(T x) const { return x; }
};

#define COPY(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void ucopy_##T(                                        \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    map(numel, num_dims, info, inp, out, Same<T>());                           \
  }

FOR_FLOATS(COPY)
COPY(u8)
COPY(u32)
COPY(i64)

#define UNARY(name, T, Op)                                                     \
  extern "C" __global__ __launch_bounds__(1024) void u##name##_##T(                                    \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    unary(numel, num_dims, info, inp, out, Op<T>());                           \
  }

#define UNARY_PARAM(name, T, Op)                                               \
  extern "C" __global__ __launch_bounds__(1024) void u##name##_##T(                                    \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T param, const T *inp, T *out) {                                   \
    unary(numel, num_dims, info, inp, out, Op<T>{widen(param)});               \
  }

template <typename T>
__device__ inline void powf(size_t numel, size_t num_dims, const size_t *info,
                            T param, const T *inp, T *out) {
  compute<T> y = widen(param);
  if constexpr (sizeof(T) <= 4)
    if (Power<T>::usual(y)) {
      unary(numel, num_dims, info, inp, out, Power<T>(y));
      return;
    }
  unary(numel, num_dims, info, inp, out, LibraryPower<T>{y});
}

#define POWF(T)                                                                \
  extern "C" __global__ __launch_bounds__(1024) void upowf_##T(                \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T param, const T *inp, T *out) {                                   \
    powf(numel, num_dims, info, param, inp, out);                              \
  }

#define UNARY_OPS(T)                                                           \
  UNARY(neg, T, Neg)                                                           \
  UNARY(recip, T, Recip)                                                       \
  UNARY(exp, T, Exp)                                                           \
  UNARY(log, T, Log)                                                           \
  UNARY(sin, T, Sin)                                                           \
  UNARY(cos, T, Cos)                                                           \
  UNARY(tanh, T, Tanh)                                                         \
  UNARY(erf, T, Erf)                                                           \
  UNARY(ceil, T, Ceil)                                                         \
  UNARY(floor, T, Floor)                                                       \
  UNARY(round, T, Round)                                                       \
  UNARY(normcdf, T, Normcdf)                                                   \
  UNARY(abs, T, Abs)                                                           \
  UNARY(sqr, T, Sqr)                                                           \
  UNARY(sqrt, T, Sqrt)                                                         \
  UNARY(gelu, T, Gelu)                                                         \
  UNARY(gelu_erf, T, GeluErf)                                                  \
  UNARY(relu, T, Relu)                                                         \
  UNARY(silu, T, Silu)                                                         \
  UNARY(sign, T, Sign)                                                         \
  UNARY(sigmoid, T, Sigmoid)                                                   \
  UNARY_PARAM(elu, T, Elu)                                                     \
  POWF(T)

FOR_FLOATS(UNARY_OPS)
