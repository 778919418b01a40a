// Honest variants of functions of one element.
#include "twin.h"

#include "index.h"

// As candle has it: every operation is of the element type. Functions of f16
// that AMD's library has are taken from there, where candle calls the half
// type's own; tanh, erf, normcdf, pow and the integers' roundings go by way
// of float there too.
namespace candle {

template <typename T> using E = Each<T>;

#define HALF(name)                                                             \
  template <typename T> __device__ inline E<T> name(E<T> x) {                  \
    return m::name(x.wide());                                                  \
  }                                                                            \
  template <> __device__ inline E<f16> name(E<f16> x) {                        \
    return {__ocml_##name##_f16(x.v), 0};                                      \
  }
// clang-19 compiles the library's sine of halves, of ROCm 5, so that it gives
// NaN for finite numbers: its test for them is turned round.
template <typename T> __device__ inline E<T> sin(E<T> x) {
  return m::sin(x.wide());
}
HALF(exp)
HALF(log)
HALF(cos)
HALF(sqrt)
#undef HALF

template <typename T> __device__ inline E<T> recip(E<T> x) {
  return compute<T>(1) / x.wide();
}
template <> __device__ inline E<f16> recip(E<f16> x) {
  return {static_cast<f16>(1) / x.v, 0};
}
template <typename T> __device__ inline E<T> num(double x) {
  return static_cast<compute<T>>(x);
}
template <typename T> __device__ inline E<T> tanh(E<T> x) {
  return m::tanh(x.wide());
}
template <typename T> __device__ inline E<T> normcdf(E<T> x) {
  return m::normcdf(x.wide());
}
template <typename T> __device__ inline E<T> gelu(E<T> x) {
  E<T> square = x * x, cube = square * x;
  E<T> inner = x + num<T>(0.044715) * cube;
  E<T> c = num<T>(1.12837916709551257390 * 0.70710678118654752440);
  return num<T>(0.5) * x * (num<T>(1) + tanh(c * inner));
}
template <typename T> __device__ inline E<T> gelu_erf(E<T> x) {
  return x * normcdf(x);
}
template <typename T> __device__ inline E<T> silu(E<T> x) {
  return x / (num<T>(1) + exp(-x));
}
template <typename T> __device__ inline E<T> sigmoid(E<T> x) {
  return recip(num<T>(1) + exp(-x));
}
template <typename T> __device__ inline E<T> sqr(E<T> x) { return x * x; }
template <typename T> __device__ inline E<T> elu(E<T> x, E<T> alpha) {
  return x.wide() > 0 ? x : alpha * (exp(x) - num<T>(1));
}
template <typename T> __device__ inline E<T> powf(E<T> x, E<T> p) {
  return m::pow(x.wide(), p.wide());
}

} // namespace candle

// A function is F<T>::of, from the element to the element.
#define OF_EACH(op)                                                            \
  struct steps_candle_##op {                                                    \
    template <typename T> static __device__ T of(T x, T) {                     \
      return candle::op(each_of<T>(x)).v;                                      \
    }                                                                          \
  };
#define OF_EACH_PARAM(op)                                                      \
  struct steps_candle_##op {                                                    \
    template <typename T> static __device__ T of(T x, T p) {                   \
      return candle::op(each_of<T>(x), each_of<T>(p)).v;                       \
    }                                                                          \
  };
OF_EACH(exp)
OF_EACH(log)
OF_EACH(sin)
OF_EACH(cos)
OF_EACH(sqrt)
OF_EACH(recip)
OF_EACH(gelu)
OF_EACH(gelu_erf)
OF_EACH(silu)
OF_EACH(sigmoid)
OF_EACH(sqr)
OF_EACH_PARAM(elu)
OF_EACH_PARAM(powf)

// Other formulas, in float for half types, rounded once.
#define OTHER(name, expression)                                                \
  struct name {                                                                \
    template <typename C> static __device__ C f(C x, C p) { expression }       \
    template <typename T> static __device__ T of(T x, T p) {                   \
      return narrow<T>(f<compute<T>>(widen(x), widen(p)));                     \
    }                                                                          \
  };

OTHER(twin_reciprocal_silu, { return x * (C(1) / (C(1) + m::exp(-x))); })
// e^x never overflows where it is taken of what is below 0.
OTHER(twin_halves_sigmoid, {
  C e = m::exp(-m::fabs(x));
  return (x < 0 ? e : C(1)) / (C(1) + e);
})
OTHER(twin_tanh_sigmoid, { // where nothing cancels
  if (x < 0)
    return C(1) / (C(1) + m::exp(-x));
  return C(0.5) + C(0.5) * m::tanh(C(0.5) * x);
})
OTHER(twin_halves_silu, {
  C e = m::exp(-m::fabs(x));
  return x * (x < 0 ? e : C(1)) / (C(1) + e);
})
OTHER(twin_factored_gelu, { // x*(1 + k*x^2) for x + k*x^3
  C inner = C(0.79788456080286535588) * x * (C(1) + C(0.044715) * x * x);
  return C(0.5) * x * (C(1) + m::tanh(inner));
})
OTHER(twin_distributed_gelu, {
  C inner = C(0.79788456080286535588) * x + C(0.035677408136300125) * x * x * x;
  C half = C(0.5) * x;
  return half + half * m::tanh(inner);
})
OTHER(twin_logistic_gelu, { // (1 + tanh z)/2 = 1/(1 + e^-2z)
  C z = C(-1.5957691216057308) * (x + C(0.044715) * x * x * x);
  return x / (C(1) + m::exp(z));
})
struct twin_erfc_gelu { // by erfc in the tail, whose argument is in two parts
  static __device__ float f(float x) {
    const float c = 0.707106769f, rest = 1.21016175e-8f; // of 1/sqrt(2)
    float y = -x * c;
    float off = fmaf(-x, c, -y) - x * rest;
    if (x > 0)
      return 0.5f * x * (1 + erff(-y));
    if (!(x > -13)) // where e^-y^2 is about to be subnormal
      return x * normcdff(x);
    float phi = 0.5f * (erfcf(y) - 1.12837917f * expf(-y * y) * off);
    return x * phi;
  }
  template <typename T> static __device__ T of(T x, T) {
    return narrow<T>(f(widen(x)));
  }
};
OTHER(twin_expm1_tanh, {
  C a = m::fabs(x);
  C e = ::expm1f(2 * a);
  C y = a > 20 ? C(1) : e / (e + 2);
  return x != x ? x : copysignf(y, x);
})
OTHER(twin_expm1_elu, { return x > 0 ? x : p * ::expm1f(x); })
OTHER(twin_trunc_round, {
  C t = truncf(x);
  return fabsf(x - t) >= C(0.5) ? t + copysignf(1, x) : t;
})
OTHER(twin_floor_ceil, { return -m::floor(-x); })
OTHER(twin_trunc_floor, {
  C t = truncf(x);
  return t > x ? t - 1 : t;
})
OTHER(twin_fmax_relu, { return fmaxf(x, 0); })
OTHER(twin_select_sign, { return x > 0 ? C(1) : x < 0 ? C(-1) : C(0); })
OTHER(twin_sincos_sin, {
  C s;
  C c;
  sincosf(x, &s, &c);
  return s;
})
OTHER(twin_sincos_cos, {
  C s;
  C c;
  sincosf(x, &s, &c);
  return c;
})
OTHER(twin_erfc_erf, { // 1 - erfc where erf is above a half
  if (x > C(0.5))
    return 1 - erfcf(x);
  if (x < C(-0.5))
    return erfcf(-x) - 1;
  return m::erf(x);
})
struct twin_bits_neg {
  static __device__ float of(float x, float) {
    return __uint_as_float(__float_as_uint(x) ^ 0x80000000);
  }
  static __device__ f16 of(f16 x, f16) { return -x; }
};
struct twin_bits_abs {
  static __device__ float of(float x, float) {
    return __uint_as_float(__float_as_uint(x) & 0x7fffffff);
  }
};
// By Newton's steps from the approximate reciprocal, where nothing over- or
// underflows on the way.
struct twin_newton_recip {
  static __device__ float of(float x, float) {
    float a = fabsf(x);
    if (!(a > 0x1p-100f && a < 0x1p100f))
      return 1 / x;
    float y = __builtin_amdgcn_rcpf(x);
    y = fmaf(fmaf(-x, y, 1), y, y);
    return fmaf(fmaf(-x, y, 1), y, y);
  }
};

// f32 by way of double.
#define DOUBLE(name, expression)                                               \
  struct name {                                                                \
    static __device__ double f(double x, double p) { return expression; }      \
    static __device__ float of(float a, float b) {                             \
      return static_cast<float>(f(a, b));                                      \
    }                                                                          \
  };
DOUBLE(twin_double_recip, 1 / x)
DOUBLE(twin_double_sqrt, sqrt(x))
DOUBLE(twin_double_exp, exp(x))
DOUBLE(twin_double_log, log(x))
DOUBLE(twin_double_tanh, tanh(x))
DOUBLE(twin_double_erf, erf(x))
DOUBLE(twin_double_normcdf, 0.5 * erfc(-0.70710678118654752440 * x))
DOUBLE(twin_double_gelu_erf, x * (0.5 * erfc(-0.70710678118654752440 * x)))
DOUBLE(twin_double_silu, x / (1 + exp(-x)))
DOUBLE(twin_double_sigmoid, 1 / (1 + exp(-x)))
DOUBLE(twin_double_elu, x > 0 ? x : p * expm1(x))
DOUBLE(twin_double_powf, pow(x, p))

// A thread for each element, one at a time, from the last on: the offset is
// found from the first dimension on, in 64 bits.
template <typename F, typename T>
__device__ inline void apply(size_t numel, size_t num_dims, const size_t *info,
                             T param, const T *inp, T *out) {
  if (!inp)
    inp = out;
  bool walk = inp != out && info;
  for (size_t k = thread_index(); k < numel; k += thread_count()) {
    size_t i = numel - 1 - k, from = i;
    if (walk) {
      size_t size = numel, rest = i;
      from = 0;
      for (size_t d = 0; d < num_dims; d++) {
        size /= info[d];
        from += rest / size * info[num_dims + d];
        rest %= size;
      }
    }
    out[i] = F::of(inp[from], param);
  }
}

#define UNARY(name, T, F)                                                      \
  extern "C" __global__ void u##name##_##T##__##F(                             \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    apply<F>(numel, num_dims, info, T{}, inp, out);                            \
  }

#define PARAM(name, T, F)                                                      \
  extern "C" __global__ void u##name##_##T##__##F(                             \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T param, const T *inp, T *out) {                                   \
    apply<F>(numel, num_dims, info, param, inp, out);                          \
  }

#define CANDLE(T)                                                              \
  UNARY(exp, T, steps_candle_exp)                                               \
  UNARY(log, T, steps_candle_log)                                               \
  UNARY(sin, T, steps_candle_sin)                                               \
  UNARY(cos, T, steps_candle_cos)                                               \
  UNARY(sqrt, T, steps_candle_sqrt)                                             \
  UNARY(recip, T, steps_candle_recip)                                           \
  UNARY(gelu, T, steps_candle_gelu)                                             \
  UNARY(gelu_erf, T, steps_candle_gelu_erf)                                     \
  UNARY(silu, T, steps_candle_silu)                                             \
  UNARY(sigmoid, T, steps_candle_sigmoid)                                       \
  UNARY(sqr, T, steps_candle_sqr)                                               \
  PARAM(elu, T, steps_candle_elu)                                               \
  PARAM(powf, T, steps_candle_powf)

CANDLE(f16)
CANDLE(bf16)
UNARY(gelu, f32, steps_candle_gelu)
UNARY(gelu, f64, steps_candle_gelu)
UNARY(silu, f32, twin_reciprocal_silu)
UNARY(silu, f64, twin_reciprocal_silu)
UNARY(silu, bf16, twin_reciprocal_silu)
UNARY(silu, f32, twin_halves_silu)
UNARY(sigmoid, f32, twin_halves_sigmoid)
UNARY(sigmoid, f64, twin_halves_sigmoid)
UNARY(sigmoid, f32, twin_tanh_sigmoid)
UNARY(sigmoid, f16, twin_tanh_sigmoid)
UNARY(gelu, f32, twin_factored_gelu)
UNARY(gelu, f16, twin_factored_gelu)
UNARY(gelu, f32, twin_distributed_gelu)
UNARY(gelu, f64, twin_distributed_gelu)
UNARY(gelu, f32, twin_logistic_gelu)
UNARY(gelu, bf16, twin_logistic_gelu)
UNARY(gelu_erf, f32, twin_erfc_gelu)
UNARY(gelu_erf, bf16, twin_erfc_gelu)
UNARY(tanh, f32, twin_expm1_tanh)
UNARY(tanh, f16, twin_expm1_tanh)
PARAM(elu, f32, twin_expm1_elu)
PARAM(elu, bf16, twin_expm1_elu)
UNARY(round, f32, twin_trunc_round)
UNARY(round, f16, twin_trunc_round)
UNARY(ceil, f32, twin_floor_ceil)
UNARY(floor, f32, twin_trunc_floor)
UNARY(relu, f32, twin_fmax_relu)
UNARY(sign, f32, twin_select_sign)
UNARY(sin, f32, twin_sincos_sin)
UNARY(cos, f32, twin_sincos_cos)
UNARY(erf, f32, twin_erfc_erf)
UNARY(neg, f32, twin_bits_neg)
UNARY(neg, f16, twin_bits_neg)
UNARY(abs, f32, twin_bits_abs)
UNARY(recip, f32, twin_newton_recip)
UNARY(recip, f32, twin_double_recip)
UNARY(sqrt, f32, twin_double_sqrt)
UNARY(exp, f32, twin_double_exp)
UNARY(log, f32, twin_double_log)
UNARY(tanh, f32, twin_double_tanh)
UNARY(erf, f32, twin_double_erf)
UNARY(normcdf, f32, twin_double_normcdf)
UNARY(gelu_erf, f32, twin_double_gelu_erf)
UNARY(silu, f32, twin_double_silu)
UNARY(sigmoid, f32, twin_double_sigmoid)
PARAM(elu, f32, twin_double_elu)
PARAM(powf, f32, twin_double_powf)
