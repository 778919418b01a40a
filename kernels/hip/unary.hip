// Functions of one element.
//
// An op is a functor from compute<T> to compute<T>; f16 and bf16 are
// widened to float before it and rounded once after it. A product is fused
// with a sum only where the op says so.
#include "index.h"
#include "libm.h"

#define OP(name, expression)                                                   \
  template <typename T> struct name {                                          \
    typedef compute<T> C;                                                      \
    __device__ C operator()(C x) const { return expression; }                  \
  };

OP(Neg, -x)
OP(Recip, C(1) / x)
OP(Exp, m::exp(x))
OP(Log, m::log(x))
OP(Sin, m::sin(x))
OP(Cos, m::cos(x))
OP(Tanh, m::tanh(x))
OP(Erf, m::erf(x))
OP(Ceil, m::ceil(x))
OP(Floor, m::floor(x))
OP(Round, m::round(x))
OP(Normcdf, m::normcdf(x))
OP(Abs, m::fabs(x))
OP(Sqr, x * x)
OP(Sqrt, m::sqrt(x))
OP(GeluErf, x * m::normcdf(x))
OP(Silu, x / (C(1) + m::exp(-x)))
OP(Sigmoid, C(1) / (C(1) + m::exp(-x)))
OP(Sign, C(x > 0) - C(x < 0)) // of NaN: 0

// The tanh form; the constant is sqrt(2/pi).
template <typename T> struct Gelu {
  typedef compute<T> C;
  __device__ C operator()(C x) const {
    C cube = x * x * x;
    C inner = C(0.79788456080286535588) * fused(C(0.044715), cube, x);
    return C(0.5) * x * (C(1) + m::tanh(inner));
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

template <typename T> struct Powf {
  typedef compute<T> C;
  C exponent;
  __device__ C operator()(C x) const { return m::pow(x, exponent); }
};

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
  extern "C" __global__ void ucopy_##T(                                        \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    map(numel, num_dims, info, inp, out, Same<T>());                           \
  }

FOR_FLOATS(COPY)
COPY(u8)
COPY(u32)
COPY(i64)

#define UNARY(name, T, Op)                                                     \
  extern "C" __global__ void u##name##_##T(                                    \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    unary(numel, num_dims, info, inp, out, Op<T>());                           \
  }

#define UNARY_PARAM(name, T, Op)                                               \
  extern "C" __global__ void u##name##_##T(                                    \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T param, const T *inp, T *out) {                                   \
    unary(numel, num_dims, info, inp, out, Op<T>{widen(param)});               \
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
  UNARY_PARAM(powf, T, Powf)

FOR_FLOATS(UNARY_OPS)
