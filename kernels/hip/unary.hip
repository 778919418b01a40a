// Functions of one element.
//
// An op is a functor from compute<T> to compute<T>; f16 and bf16 are
// widened to float before it and rounded once after it. A product is fused
// with a sum only where the op says so.
#include "libm.h"
#include "zip.h"

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
OP(Erf, m::erf(x))
OP(Ceil, m::ceil(x))
OP(Floor, m::floor(x))
OP(Round, m::round(x))
OP(Abs, m::fabs(x))
OP(Sqr, x * x)
OP(Sqrt, m::sqrt(x))
// A half keeps 11 bits of a result at most. Where the library's function of
// float takes most of a kernel's time, these take less, with errors of a few
// units of float's last place.
namespace for_half {

// Below 0.55 x + x^3 P(x^2), P fitted to 2^-24; above, from e^2x.
__device__ inline float tanh(float x) {
  float a = m::fabs(x), s = x * x;
  float p = fused(s, 0.016437239944934845f, -0.0526716485619545f);
  p = fused(s, p, 0.13320723176002502f);
  p = fused(s, p, -0.3333294689655304f);
  float small = fused(x * s, p, x);
  float e = m::quick_exp2(2.8853900817779268f * a); // 2 log2(e)
  float large = fused(-2.0f, m::quick_recip(1 + e), 1.0f);
  return a < 0.55f ? small : copysignf(large, x);
}

// normcdf(-a) is e^(-a^2/2) u P(u) with u = 1/(1 + 0.3a), P fitted to 2^-22
// for a up to 14.4, past which nothing is left in bf16 either. a^2 of a half is
// exact. 2^-24 is taken off last, so that results below float's normal range
// are there.
__device__ inline float normcdf(float x) {
  float a = m::fabs(x);
  a = a > 14.4f ? 14.4f : a;
  float u = m::quick_recip(fused(0.3f, a, 1.0f));
  float p = fused(u, 0.03547372296452522f, -0.1563660055398941f);
  p = fused(u, p, 0.2049129158258438f);
  p = fused(u, p, -0.05236009880900383f);
  p = fused(u, p, 0.12786318361759186f);
  p = fused(u, p, 0.10012441873550415f);
  p = fused(u, p, 0.12072031199932098f);
  p = fused(u, p, 0.11963147670030594f);
  float e = m::quick_exp2(fused(-0.72134752044448170f, a * a, 24.0f));
  float q = p * u * e * 5.9604644775390625e-8f;
  return x > 0 ? 1 - q : q;
}

} // namespace for_half

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

OP_HALF(Tanh, m::tanh(x), for_half::tanh(x))
OP_HALF(Normcdf, m::normcdf(x), for_half::normcdf(x))
OP_HALF(GeluErf, x * m::normcdf(x), x * for_half::normcdf(x))

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

template <typename T> struct Powf {
  typedef compute<T> C;
  C exponent;
  __device__ C operator()(C x) const { return m::pow(x, exponent); }
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
