// Wrong ports of functions of two elements. kernels/hip/binary.hip is right,
// and so is what stands here where F is twin.
#include "fault.h"

enum Fault {
  twin,
  // In the function.
  swapped,     // the operands exchanged
  truncated,   // low half of the float cut off at the store
  ftz,         // subnormals flushed
  single,      // f64 by way of float
  fast_rcp,    // a * rcp(b) for a / b
  by_float,    // integers by way of float
  by_int,      // 64-bit integers in 32 bits
  as_signed,   // unsigned integers taken for signed
  as_unsigned, // and the other way round
  saturated,   // integers stop at the ends of their range
  floored,     // quotients rounded down, not toward zero
  by_compare,  // a > b ? a : b, which drops a NaN on one side alone
  keeps_nan,   // a NaN wins where it must be dropped
  drops_nan,   // and is dropped where it must win
  bitwise,     // floats compared as bits
  negated,     // a >= b as !(a < b): true of a NaN
  ordered,     // a != b as a < b || a > b: false of a NaN
  tolerant,    // equal if within 1e-6
  strict,      // < for <=
  lax,         // <= for <
  all_ones,    // true as 255
  // In the walk (walk.h).
  strides_ignored,
  first_strides,    // both operands by the strides of the first
  dims_for_strides,
  strides_reversed,
  inner_dense,
  outer_ignored,
  operands_crossed, // each by the strides of the other
  tail_left,
  one_block,
  block_256,
  off_by_one,
};

#include "walk.h"

template <typename T> struct Int { typedef T wrap, flip; };
template <> struct Int<i64> { typedef u64 wrap, flip; };
template <> struct Int<u32> { typedef u32 wrap; typedef i32 flip; };
template <> struct Int<u8> { typedef u32 wrap; typedef signed char flip; };

template <Fault F, typename T> __device__ inline T put(compute<T> y) {
  if constexpr (F == truncated)
    return truncate<T>(y);
  else if constexpr (F == ftz)
    return narrow<T>(flush(y));
  else if constexpr (F == single)
    return static_cast<T>(static_cast<float>(y));
  else
    return narrow<T>(y);
}

// get is what the kernel takes an element for.
template <Fault F, typename T> __device__ inline auto get(T x) {
  if constexpr (F == by_float)
    return static_cast<float>(x);
  else if constexpr (F == by_int)
    return static_cast<i32>(x);
  else if constexpr (F == as_signed || F == as_unsigned)
    return static_cast<typename Int<T>::flip>(x);
  else if constexpr (F == ftz)
    return flush(x);
  else if constexpr (F == single)
    return static_cast<double>(static_cast<float>(x));
  else
    return widen(x);
}

template <typename A> constexpr bool whole = A(0.5) == A(0);

#define ARITHMETIC(name, sign)                                                 \
  template <Fault F, typename T> struct name {                                 \
    typedef T result;                                                          \
    __device__ T operator()(T a, T b) const {                                  \
      auto x = get<F>(a), y = get<F>(b);                                       \
      if constexpr (whole<decltype(x)>) {                                      \
        typedef typename Int<decltype(x)>::wrap W;                             \
        W z = static_cast<W>(x) sign static_cast<W>(y);                        \
        if (F == saturated && z > 255)                                         \
          return 255;                                                          \
        return static_cast<T>(static_cast<decltype(x)>(z));                    \
      } else {                                                                 \
        return put<F, T>(x sign y);                                            \
      }                                                                        \
    }                                                                          \
  };
ARITHMETIC(Add, +)
ARITHMETIC(Sub, -)
ARITHMETIC(Mul, *)

template <Fault F, typename T> struct Div {
  typedef T result;
  __device__ T operator()(T a, T b) const {
    auto x = get<F>(a), y = get<F>(b);
    if constexpr (F == fast_rcp) {
      return put<F, T>(x * __builtin_amdgcn_rcpf(y));
    } else if constexpr (F == floored) {
      T q = x / y;
      return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
    } else if constexpr (whole<decltype(x)>) {
      return static_cast<T>(x / y);
    } else if constexpr (F == by_float) {
      return static_cast<T>(x / y);
    } else {
      return put<F, T>(x / y);
    }
  }
};

// The larger of two, or the smaller where sign is -1.
template <Fault F, typename T, int sign> struct Extreme {
  typedef T result;
  __device__ T operator()(T a, T b) const {
    auto x = get<F>(a), y = get<F>(b);
    bool first = sign > 0 ? x > y : x < y;
    if constexpr (!whole<decltype(x)>) {
      bool stays = (sizeof(T) == 2 && F != drops_nan) || F == keeps_nan;
      if (F != by_compare) {
        if (x != x)
          return stays ? a : b;
        if (y != y)
          return stays ? b : a;
      }
    }
    return first ? a : b;
  }
};
template <Fault F, typename T> struct Maximum : Extreme<F, T, 1> {};
template <Fault F, typename T> struct Minimum : Extreme<F, T, -1> {};

#define COMPARISON(name, expression)                                           \
  template <Fault F, typename T> struct name {                                 \
    typedef u8 result;                                                         \
    __device__ u8 operator()(T a, T b) const {                                 \
      auto x = get<F>(a), y = get<F>(b);                                       \
      bool yes = expression;                                                   \
      return F == all_ones && yes ? 255 : yes;                                 \
    }                                                                          \
  };
template <typename T> __device__ inline bool same_bits(T a, T b) {
  union {
    T value;
    u32 bits;
  } p = {a}, q = {b};
  return p.bits == q.bits;
}
template <Fault F, typename A> __device__ inline bool equal(A x, A y) {
  if constexpr (F == bitwise)
    return same_bits(x, y);
  else if constexpr (F == tolerant)
    return fabsf(x - y) < 1e-6f;
  else
    return x == y;
}
COMPARISON(Eq, equal<F>(x, y))
COMPARISON(Ne, F == ordered ? x < y || x > y : !equal<F>(x, y))
COMPARISON(Lt, F == lax ? x <= y : x < y)
COMPARISON(Le, F == strict ? x < y : F == negated ? !(x > y) : x <= y)
COMPARISON(Gt, F == lax ? x >= y : x > y)
COMPARISON(Ge, F == strict ? x > y : F == negated ? !(x < y) : x >= y)

template <Fault F, typename T, typename R, typename Op>
__device__ inline void binary(size_t numel, size_t num_dims, const size_t *info,
                              const T *lhs, const T *rhs, R *out, Op f) {
  elements<F>(numel, [&](size_t i) {
    constexpr int first = F == operands_crossed ? 1 : 0;
    T a = lhs[offset<F>(i, first, num_dims, info)];
    T b = rhs[offset<F>(i, 1 - first, num_dims, info)];
    out[i] = F == swapped ? f(b, a) : f(a, b);
  });
}

#define BINARY(symbol, T, Op, F)                                               \
  extern "C" __global__ void symbol##_##T##__##F(                              \
      const size_t numel, const size_t num_dims,                               \
      const size_t *dims_and_strides, const T *lhs, const T *rhs, T *out) {    \
    binary<F>(numel, num_dims, dims_and_strides, lhs, rhs, out, Op<F, T>());   \
  }
#define COMPARE(symbol, T, Op, F)                                              \
  extern "C" __global__ void symbol##_##T##__##F(                              \
      const size_t numel, const size_t num_dims,                               \
      const size_t *dims_and_strides, const T *lhs, const T *rhs, u8 *out) {   \
    binary<F>(numel, num_dims, dims_and_strides, lhs, rhs, out, Op<F, T>());   \
  }
#define HALVES(symbol, Op)                                                     \
  BINARY(symbol, f16, Op, twin)                                                \
  BINARY(symbol, f16, Op, truncated)                                           \
  BINARY(symbol, bf16, Op, twin)                                               \
  BINARY(symbol, bf16, Op, truncated)

HALVES(badd, Add)
HALVES(bsub, Sub)
HALVES(bmul, Mul)
HALVES(bdiv, Div)
BINARY(badd, f32, Add, twin)
BINARY(badd, f32, Add, ftz)
BINARY(badd, f32, Add, strides_ignored)
BINARY(badd, f32, Add, first_strides)
BINARY(badd, f32, Add, dims_for_strides)
BINARY(badd, f32, Add, strides_reversed)
BINARY(badd, f32, Add, inner_dense)
BINARY(badd, f32, Add, outer_ignored)
BINARY(badd, f32, Add, operands_crossed)
BINARY(badd, f32, Add, tail_left)
BINARY(badd, f32, Add, one_block)
BINARY(badd, f32, Add, block_256)
BINARY(badd, f32, Add, off_by_one)
BINARY(badd, f64, Add, twin)
BINARY(badd, f64, Add, single)
BINARY(badd, u8, Add, twin)
BINARY(badd, u8, Add, saturated)
BINARY(badd, u32, Add, twin)
BINARY(badd, u32, Add, by_float)
BINARY(bsub, f32, Sub, twin)
BINARY(bsub, f32, Sub, swapped)
BINARY(bsub, i64, Sub, twin)
BINARY(bsub, i64, Sub, by_int)
BINARY(bmul, f32, Mul, twin)
BINARY(bmul, f32, Mul, ftz)
BINARY(bmul, i64, Mul, twin)
BINARY(bmul, i64, Mul, by_int)
BINARY(bmul, u8, Mul, twin)
BINARY(bmul, u8, Mul, saturated)
BINARY(bdiv, f32, Div, twin)
BINARY(bdiv, f32, Div, swapped)
BINARY(bdiv, f32, Div, fast_rcp)
BINARY(bdiv, f32, Div, ftz)
BINARY(bdiv, f64, Div, twin)
BINARY(bdiv, f64, Div, single)
BINARY(bdiv, i64, Div, twin)
BINARY(bdiv, i64, Div, floored)
BINARY(bdiv, u32, Div, twin)
BINARY(bdiv, u32, Div, by_float)
BINARY(bdiv, u32, Div, as_signed)
BINARY(bdiv, u8, Div, twin)
BINARY(bdiv, u8, Div, as_signed)
BINARY(bmaximum, f32, Maximum, twin)
BINARY(bmaximum, f32, Maximum, by_compare)
BINARY(bmaximum, f32, Maximum, keeps_nan)
BINARY(bmaximum, f16, Maximum, twin)
BINARY(bmaximum, f16, Maximum, drops_nan)
BINARY(bmaximum, bf16, Maximum, twin)
BINARY(bmaximum, bf16, Maximum, drops_nan)
BINARY(bmaximum, u32, Maximum, twin)
BINARY(bmaximum, u32, Maximum, as_signed)
BINARY(bminimum, f32, Minimum, twin)
BINARY(bminimum, f32, Minimum, by_compare)
BINARY(bminimum, i64, Minimum, twin)
BINARY(bminimum, i64, Minimum, as_unsigned)
BINARY(bminimum, i64, Minimum, by_float)
BINARY(bminimum, bf16, Minimum, twin)
BINARY(bminimum, bf16, Minimum, drops_nan)
BINARY(bminimum, u8, Minimum, twin)
BINARY(bminimum, u8, Minimum, as_signed)
COMPARE(eq, f32, Eq, twin)
COMPARE(eq, f32, Eq, bitwise)
COMPARE(eq, f32, Eq, tolerant)
COMPARE(eq, f32, Eq, all_ones)
COMPARE(eq, i64, Eq, twin)
COMPARE(eq, i64, Eq, by_int)
COMPARE(eq, u32, Eq, twin)
COMPARE(eq, u32, Eq, by_float)
COMPARE(ne, f32, Ne, twin)
COMPARE(ne, f32, Ne, ordered)
COMPARE(lt, f32, Lt, twin)
COMPARE(lt, f32, Lt, lax)
COMPARE(lt, f32, Lt, ftz)
COMPARE(lt, f64, Lt, twin)
COMPARE(lt, f64, Lt, single)
COMPARE(lt, i64, Lt, twin)
COMPARE(lt, i64, Lt, by_int)
COMPARE(lt, i64, Lt, by_float)
COMPARE(lt, u8, Lt, twin)
COMPARE(lt, u8, Lt, as_signed)
COMPARE(le, f32, Le, twin)
COMPARE(le, f32, Le, strict)
COMPARE(le, f32, Le, negated)
COMPARE(gt, f32, Gt, twin)
COMPARE(gt, f32, Gt, swapped)
COMPARE(gt, i64, Gt, twin)
COMPARE(gt, i64, Gt, as_unsigned)
COMPARE(gt, u32, Gt, twin)
COMPARE(gt, u32, Gt, by_float)
COMPARE(gt, u32, Gt, as_signed)
COMPARE(ge, f32, Ge, twin)
COMPARE(ge, f32, Ge, negated)
COMPARE(ge, f32, Ge, strict)
