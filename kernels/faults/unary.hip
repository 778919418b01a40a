// Wrong ports of functions of one element. kernels/hip/unary.hip is right,
// and so is what stands here where F is twin.
#include "fault.h"
#include "index.h"
#include "libm.h"

enum Fault {
  twin,
  // In the function.
  tanh_form,      // gelu by tanh where it is by erf
  erf_form,       // and the other way round
  constant,       // 0.044175 for 0.044715
  no_cube,        // the cubic term left out
  fast,           // the instruction in place of the library's function
  fast_rcp,       // x * rcp(d) for x / d
  exp_ratio,      // (e^2x - 1)/(e^2x + 1) for tanh
  exp_tail,       // 1 - 2/(e^2x + 1) for tanh: cancels near 0
  overflow,       // e^x/(1 + e^x) for the logistic function
  polynomial,     // erf to seven digits
  by_erf,         // (1 + erf(x/sqrt 2))/2 for normcdf: cancels in the tail
  half_even,      // rint for round
  half_up,        // floor(x + 1/2) for round
  plus_one,       // floor(x) + 1 for ceil
  by_int,         // through int
  sign_bit,       // copysign(1, x) for sign
  zero_positive,  // sign(0) = 1
  keeps_nan,      // relu's NaN stays where it must go
  drops_nan,      // and goes where it must stay
  minus_zero,     // 0 - x, and x < 0 ? -x : x
  ftz,            // subnormals flushed
  truncated,      // low half of the float cut off at the store
  single,         // f64 by way of float
  alpha_ignored,  // elu with alpha 1
  alpha_everywhere, // elu's alpha on the positive side too
  exp_log,        // pow as e^(y log x)
  int_exponent,   // pow with the exponent cut to an integer
  by_float,       // integers copied through float
  absolute,       // square root of |x|
  // In the walk.
  strides_ignored,  // a strided source read as if contiguous
  strides_reversed, // strides taken in the order of the fastest dimension
  null_read,        // a null source read, where the op is in place
  tail_left,        // the elements after the last 16 bytes left out
  one_block,        // a thread's own element alone, counted in its block
  block_256,        // blocks of 256 threads taken for granted
  off_by_one,       // <= for <
  dims_swapped,     // offsets by the dimensions of the next axis
  inner_dense,      // the last stride taken for 1
  outer_ignored,    // the first stride taken for 0
  dims_for_strides, // the first half of info for the second
  inner_checked,    // contiguous if the last stride is 1
};

template <Fault F, typename T>
__device__ inline T put(compute<T> y) {
  if constexpr (F == truncated)
    return truncate<T>(y);
  else
    return narrow<T>(y);
}

#define OP(name, expression)                                                   \
  template <Fault F, typename T> struct name {                                 \
    typedef compute<T> C;                                                      \
    C p;                                                                       \
    __device__ C operator()(C x) const { expression }                          \
  };

template <typename C> __device__ inline C gelu_tanh(C x, C k, C cubic) {
  C inner = C(0.79788456080286535588) * (x + cubic * x * x * x * k);
  return C(0.5) * x * (C(1) + m::tanh(inner));
}

OP(Gelu, {
  if (F == erf_form)
    return x * m::normcdf(x);
  return gelu_tanh<C>(x, F == no_cube ? 0 : 1,
                      F == constant ? C(0.044175) : C(0.044715));
})
OP(GeluErf, {
  if (F == tanh_form)
    return gelu_tanh<C>(x, 1, C(0.044715));
  return x * m::normcdf(x);
})
OP(Silu, {
  C d = C(1) + m::exp(-x);
  if (F == fast_rcp)
    return x * __builtin_amdgcn_rcpf(d);
  return x / d;
})
OP(Sigmoid, {
  if (F == overflow)
    return m::exp(x) / (C(1) + m::exp(x));
  return C(1) / (C(1) + m::exp(-x));
})
OP(Exp, {
  if (F == fast)
    return __builtin_amdgcn_exp2f(x * 1.44269504f);
  if (F == single)
    return m::exp(static_cast<float>(x));
  return m::exp(x);
})
OP(Log, {
  if (F == fast)
    return __builtin_amdgcn_logf(x) * 0.693147181f;
  return m::log(x);
})
OP(Sin, {
  if (F == fast)
    return __builtin_amdgcn_sinf(x * 0.159154943f);
  if (F == single)
    return m::sin(static_cast<float>(x));
  return m::sin(x);
})
OP(Cos, {
  if (F == fast)
    return __builtin_amdgcn_cosf(x * 0.159154943f);
  return m::cos(x);
})
OP(Tanh, {
  C e = m::exp(2 * x);
  if (F == exp_ratio)
    return (e - 1) / (e + 1);
  if (F == exp_tail)
    return 1 - 2 / (e + 1);
  return m::tanh(x);
})
OP(Erf, {
  if (F == polynomial) {
    C t = 1 / (1 + C(0.3275911) * m::fabs(x));
    C s = ((((C(1.061405429) * t - C(1.453152027)) * t + C(1.421413741)) * t -
            C(0.284496736)) * t + C(0.254829592)) * t;
    C y = 1 - s * m::exp(-x * x);
    return x < 0 ? -y : y;
  }
  return m::erf(x);
})
OP(Normcdf, {
  if (F == by_erf)
    return C(0.5) * (1 + m::erf(x * C(0.70710678118654752440)));
  return m::normcdf(x);
})
OP(Round, {
  if (F == half_even)
    return rintf(x);
  if (F == half_up)
    return m::floor(x + C(0.5));
  return m::round(x);
})
OP(Ceil, {
  if (F == plus_one)
    return m::floor(x) + 1;
  return m::ceil(x);
})
OP(Floor, {
  if (F == by_int)
    return static_cast<C>(static_cast<int>(x));
  return m::floor(x);
})
OP(Sign, {
  if (F == sign_bit)
    return copysignf(1, x);
  if (F == zero_positive)
    return x >= 0 ? C(1) : C(-1);
  return C(x > 0) - C(x < 0);
})
OP(Relu, {
  if (F == keeps_nan)
    return x < 0 ? C(0) : x;
  if (F == drops_nan)
    return x > 0 ? x : C(0);
  bool keep = sizeof(T) == 2 && x != x;
  return x > 0 || keep ? x : C(0);
})
OP(Neg, {
  if (F == minus_zero)
    return 0 - x;
  return -x;
})
OP(Abs, {
  if (F == minus_zero)
    return x < 0 ? -x : x;
  return m::fabs(x);
})
OP(Recip, {
  if (F == fast)
    return __builtin_amdgcn_rcpf(x);
  return C(1) / x;
})
OP(Sqr, {
  if (F == ftz)
    return flush(flush(x) * flush(x));
  return x * x;
})
OP(Sqrt, {
  if (F == ftz)
    return m::sqrt(flush(x));
  if (F == absolute)
    return m::sqrt(m::fabs(x));
  return m::sqrt(x);
})
OP(Elu, {
  C a = F == alpha_ignored ? C(1) : p;
  if (x > 0)
    return F == alpha_everywhere ? a * x : x;
  return a * (m::exp(x) - C(1));
})
OP(Powf, {
  if (F == exp_log)
    return m::exp(p * m::log(x));
  if (F == int_exponent)
    return m::pow(x, static_cast<C>(static_cast<int>(p)));
  return m::pow(x, p);
})

template <Fault F, typename T, typename Op> struct Stored {
  Op f;
  __device__ T operator()(T x) const { return put<F, T>(f(widen(x))); }
};

template <Fault F, typename T> struct Same {
  __device__ T operator()(T x) const {
    if constexpr (F == ftz)
      return flush(x);
    if constexpr (F == by_float)
      return static_cast<T>(static_cast<float>(x));
    return x;
  }
};

template <Fault F>
__device__ inline size_t offset(size_t i, size_t n, const size_t *info) {
  const size_t *strides = info + n;
  size_t at = 0;
#pragma unroll 1
  for (size_t k = n; k-- > 0;) {
    size_t dim = info[F == dims_swapped ? (k + 1) % n : k];
    size_t stride = strides[F == strides_reversed ? n - 1 - k : k];
    if (F == inner_dense && k + 1 == n)
      stride = 1;
    if (F == outer_ignored && k == 0)
      stride = 0;
    at += i % dim * (F == dims_for_strides ? info[k] : stride);
    i /= dim;
  }
  return at;
}

// As map of index.h.
template <Fault F, typename T, typename Op>
__device__ inline void map_faulty(size_t numel, size_t num_dims,
                                  const size_t *info, const T *inp, T *out,
                                  Op f) {
  size_t i = thread_index(), threads = thread_count();
  if (F == one_block)
    i = threadIdx.x;
  if (F == block_256)
    i = blockIdx.x * 256 + threadIdx.x, threads = gridDim.x * 256;
  bool walk = F != strides_ignored && inp && info &&
              !contiguous(num_dims, info, info + num_dims);
  if (F == inner_checked && walk && num_dims > 0)
    walk = info[2 * num_dims - 1] != 1;
  if (!inp && F != null_read)
    inp = out;
  if (!walk && F != block_256 && aligned(inp) && aligned(out)) {
    size_t vecs = numel / Vec<T>::size;
#pragma unroll 1
    for (size_t v = i; v < vecs; v += threads) {
      Vec<T> x = reinterpret_cast<const Vec<T> *>(inp)[v];
#pragma unroll
      for (int k = 0; k < Vec<T>::size; k++)
        x.at[k] = f(x.at[k]);
      reinterpret_cast<Vec<T> *>(out)[v] = x;
    }
    if (F == tail_left)
      return;
    i += vecs * Vec<T>::size;
  }
  size_t n = F == off_by_one ? numel + 1 : numel;
#pragma unroll 1
  for (; i < n; i += threads) {
    out[i] = f(inp[walk ? offset<F>(i, num_dims, info) : i]);
    if (F == one_block)
      return;
  }
}

#define UNARY(name, T, Op, F)                                                  \
  extern "C" __global__ void u##name##_##T##__##F(                             \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    map_faulty<F>(numel, num_dims, info, inp, out,                             \
                  Stored<F, T, Op<F, T>>{{0}});                                \
  }

#define PARAM(name, T, Op, F)                                                  \
  extern "C" __global__ void u##name##_##T##__##F(                             \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T param, const T *inp, T *out) {                                   \
    map_faulty<F>(numel, num_dims, info, inp, out,                             \
                  Stored<F, T, Op<F, T>>{{widen(param)}});                     \
  }

#define COPY(T, F)                                                             \
  extern "C" __global__ void ucopy_##T##__##F(                                 \
      const size_t numel, const size_t num_dims, const size_t *info,           \
      const T *inp, T *out) {                                                  \
    map_faulty<F>(numel, num_dims, info, inp, out, Same<F, T>());              \
  }

// Every function whose result has to be rounded.
#define HALVES(M, name, Op)                                                    \
  M(name, f16, Op, twin)                                                       \
  M(name, f16, Op, truncated)                                                  \
  M(name, bf16, Op, twin)                                                      \
  M(name, bf16, Op, truncated)

HALVES(UNARY, recip, Recip)
HALVES(UNARY, exp, Exp)
HALVES(UNARY, log, Log)
HALVES(UNARY, sin, Sin)
HALVES(UNARY, cos, Cos)
HALVES(UNARY, tanh, Tanh)
HALVES(UNARY, erf, Erf)
HALVES(UNARY, normcdf, Normcdf)
HALVES(UNARY, sqr, Sqr)
HALVES(UNARY, sqrt, Sqrt)
HALVES(UNARY, gelu, Gelu)
HALVES(UNARY, gelu_erf, GeluErf)
HALVES(UNARY, silu, Silu)
HALVES(UNARY, sigmoid, Sigmoid)
HALVES(PARAM, elu, Elu)
HALVES(PARAM, powf, Powf)
UNARY(gelu, f32, Gelu, twin)
UNARY(gelu, f32, Gelu, erf_form)
UNARY(gelu, f32, Gelu, constant)
UNARY(gelu, f32, Gelu, no_cube)
UNARY(gelu_erf, f32, GeluErf, twin)
UNARY(gelu_erf, f32, GeluErf, tanh_form)
UNARY(gelu_erf, f16, GeluErf, tanh_form)
UNARY(silu, f32, Silu, twin)
UNARY(silu, f32, Silu, fast_rcp)
UNARY(sigmoid, f32, Sigmoid, twin)
UNARY(sigmoid, f32, Sigmoid, overflow)
UNARY(exp, f32, Exp, twin)
UNARY(exp, f32, Exp, fast)
UNARY(exp, f64, Exp, twin)
UNARY(exp, f64, Exp, single)
UNARY(log, f32, Log, twin)
UNARY(log, f32, Log, fast)
UNARY(sin, f32, Sin, twin)
UNARY(sin, f32, Sin, fast)
UNARY(sin, f64, Sin, twin)
UNARY(sin, f64, Sin, single)
UNARY(cos, f32, Cos, twin)
UNARY(cos, f32, Cos, fast)
UNARY(tanh, f32, Tanh, twin)
UNARY(tanh, f32, Tanh, exp_ratio)
UNARY(tanh, f32, Tanh, exp_tail)
UNARY(erf, f32, Erf, twin)
UNARY(erf, f32, Erf, polynomial)
UNARY(normcdf, f32, Normcdf, twin)
UNARY(normcdf, f32, Normcdf, by_erf)
UNARY(round, f32, Round, twin)
UNARY(round, f32, Round, half_even)
UNARY(round, f32, Round, half_up)
UNARY(ceil, f32, Ceil, twin)
UNARY(ceil, f32, Ceil, plus_one)
UNARY(floor, f32, Floor, twin)
UNARY(floor, f32, Floor, by_int)
UNARY(sign, f32, Sign, twin)
UNARY(sign, f32, Sign, sign_bit)
UNARY(sign, f32, Sign, zero_positive)
UNARY(relu, f32, Relu, twin)
UNARY(relu, f32, Relu, keeps_nan)
UNARY(relu, f16, Relu, twin)
UNARY(relu, f16, Relu, drops_nan)
UNARY(neg, f32, Neg, twin)
UNARY(neg, f32, Neg, minus_zero)
UNARY(abs, f32, Abs, twin)
UNARY(abs, f32, Abs, minus_zero)
UNARY(recip, f32, Recip, twin)
UNARY(recip, f32, Recip, fast)
UNARY(sqrt, f32, Sqrt, twin)
UNARY(sqrt, f32, Sqrt, ftz)
UNARY(sqrt, f32, Sqrt, absolute)
UNARY(sqr, f32, Sqr, twin)
UNARY(sqr, f32, Sqr, ftz)
UNARY(sqr, f32, Sqr, strides_ignored)
UNARY(sqr, f32, Sqr, strides_reversed)
UNARY(sqr, f32, Sqr, dims_swapped)
UNARY(sqr, f32, Sqr, inner_dense)
UNARY(sqr, f32, Sqr, outer_ignored)
UNARY(sqr, f32, Sqr, dims_for_strides)
UNARY(sqr, f32, Sqr, inner_checked)
UNARY(sqr, f32, Sqr, null_read)
UNARY(sqr, f32, Sqr, tail_left)
UNARY(sqr, f32, Sqr, one_block)
UNARY(sqr, f32, Sqr, block_256)
UNARY(sqr, f32, Sqr, off_by_one)
PARAM(elu, f32, Elu, twin)
PARAM(elu, f32, Elu, alpha_ignored)
PARAM(elu, f32, Elu, alpha_everywhere)
PARAM(powf, f32, Powf, twin)
PARAM(powf, f32, Powf, exp_log)
PARAM(powf, f32, Powf, int_exponent)
COPY(f32, twin)
COPY(f32, ftz)
COPY(f32, strides_ignored)
COPY(f32, inner_dense)
COPY(f32, outer_ignored)
COPY(u32, twin)
COPY(u32, by_float)
