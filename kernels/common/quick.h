// Functions of float in fewer instructions than the library's.
//
// normcdf and Power are for float itself, with the errors of the library's. A
// half keeps 11 bits of a result at most, so what namespace for_half has may be
// off by a few units of float's last place, and for_half's arguments are what
// widen makes of a half T. scripts/coefficients.py finds the coefficients.
#pragma once

#include "libm.h"

// Whether T has numbers below float's normal range.
template <typename T> constexpr bool subnormals = true;
template <> constexpr bool subnormals<f16> = false;

// c[0] + c[1] x + c[2] x^2 + ...
template <int N> __device__ inline float polynomial(float x, const float (&c)[N]) {
  float y = c[N - 1];
#pragma unroll
  for (int k = N - 2; k >= 0; k--)
    y = fused(x, y, c[k]);
  return y;
}

// times * 2^(t + d), of a small d: what is below float's normal range is there, as
// far as T has it, if times is not far from 1.
template <typename T> __device__ inline float scaled_exp2(float times, float t, float d) {
  bool tiny = subnormals<T> && t < -100;
  float e = m::quick_exp2(tiny ? t + 64 : t);
  float y = times * fused(d, 0.6931471824645996f, 1.0f) * e;
  return tiny ? y * 0x1p-64f : y;
}

// normcdf(-a) is e^(-a^2/2) u P(u) with u = 1/(1 + a/2), P fitted to 2^-25 for a
// up to 14.4, past which it is 0 in float. The square and its product with
// log2(e)/2 are held in two floats each.
__device__ inline float quick_normcdf(float x) {
  const float half_log2e[] = {-0.7213475108146667f, -9.629814955633087e-9f};
  float a = m::fabs(x);
  a = a > 14.4f ? 14.4f : a;
  float u = m::quick_recip(fused(0.5f, a, 1.0f));
  float p = polynomial(u, {0.1994805932044983f, 0.19917629659175873f,
                           0.1534663736820221f, 0.022122781723737717f,
                           0.056387972086668015f, -0.4140007495880127f,
                           0.36178410053253174f, 0.08173146843910217f,
                           -0.30714157223701477f, 0.18576332926750183f,
                           -0.03877060487866402f});
  float square = a * a, rest = fused(a, a, -square);
  float t = square * half_log2e[0];
  float d = fused(square, half_log2e[0], -t);
  d = fused(square, half_log2e[1], d);
  d = fused(rest, half_log2e[0], d);
  float q = scaled_exp2<f32>(p * u, t, d);
  return x > 0 ? 1 - q : q;
}

// x^y for floats and halves T, of one y and many x.
template <typename T> struct Power {
  float y;
  u32 magnitude, odd; // the sign's bit: cleared where y is an integer, kept where odd

  __device__ inline Power(float y) : y(y), magnitude(0xffffffff), odd(0) {
    if (!usual(y) || y != m::floor(y))
      return;
    magnitude = 0x7fffffff;
    odd = static_cast<u32>(static_cast<i32>(y)) << 31;
  }

  // Whether Power computes x^y: of others a product overflows.
  __device__ static inline bool usual(float y) {
    return y != 0 && m::fabs(y) <= 32768;
  }

  // x is 2^k p with p from sqrt(1/2) to sqrt(2), and log2(p) is s + s^3 P(s^2)
  // with s = 2/ln2 (p-1)/(p+1), P fitted to 2^-30 of log2(p). What s and the sums
  // round off is carried along: the error of log2(x) counts y log2(x) times.
  __device__ inline float operator()(float x) const {
    constexpr bool half = sizeof(T) == 2;
    u32 bits = __float_as_uint(x) & magnitude;
    float a = __uint_as_float(bits), shift = 0;
    if (subnormals<T> && m::fabs(a) < 0x1p-126f) {
      shift = -64;
      bits = __float_as_uint(a * 0x1p64f);
    }
    u32 e = (bits - 0x3f3504f3) & 0xff800000;
    float k = fused(static_cast<float>(static_cast<i32>(e)), 0x1p-23f, shift);
    float part = __uint_as_float(bits - e);
    float f = part - 1, w = part + 1, r = m::quick_recip(w), s, rest;
    if constexpr (half) { // f has 11 bits and its product 23
      float g = f * 2.8857421875f;
      s = g * r;
      rest = fused(f, -0.0003521057078614831f, fused(-s, w, g));
    } else {
      float g = f * 2.885390043258667f;
      s = g * r;
      rest = fused(f, 3.851926067000022e-8f, fused(f, 2.885390043258667f, -g));
      rest = rest + fused(-s, w, g);
      rest = fused(-s, part - (w - 1), rest);
    }
    float v = s * s, p;
    if constexpr (half) // of s with the constant cut short
      p = polynomial(v, {0.040023162961006165f, 0.0028820401057600975f,
                         0.00025867141084745526f});
    else
      p = polynomial(v, {0.040037818253040314f, 0.002883798908442259f,
                         0.00025889245443977416f});
    float low = fused(s * v, p, rest * r);
    float sum = s + low;
    low = (s - sum) + low;
    float log2 = k + sum;
    low = (sum - (log2 - k)) + low;
    float t = y * log2;
    if (subnormals<T>) // 2^128 overflows, times less than 1 too
      t = fminf(t, 0x1.fffffep6f);
    float z = scaled_exp2<T>(1.0f, t, fused(y, low, fused(y, log2, -t)));
    if (bits - 1 >= 0x7f7fffff) // 0, an infinity, NaN, or negative
      z = m::quick_exp2(y * m::quick_log2(bits == 0xff800000 ? -a : __uint_as_float(bits)));
    return __uint_as_float(__float_as_uint(z) | (__float_as_uint(x) & odd));
  }
};

namespace for_half {

template <typename T> __device__ inline float recip(float x) {
  float scale = subnormals<T> ? m::fabs(x) < 1 ? 0x1p64f : 0x1p-64f : 1;
  return m::quick_recip(x * scale) * scale;
}

template <typename T> __device__ inline float sqrt(float x) {
  bool tiny = subnormals<T> && x < 0x1p-100f;
  float y = m::quick_sqrt(tiny ? x * 0x1p64f : x);
  return tiny ? y * 0x1p-32f : y;
}

// Near 1 x-1 + (x-1)^2 P(x-1), P fitted to 2^-24; elsewhere from log2(x), which
// is not near 0 there.
template <typename T> __device__ inline float log(float x) {
  bool tiny = subnormals<T> && x < 0x1p-126f;
  float log2 = m::quick_log2(tiny ? x * 0x1p64f : x);
  float far = 0.6931471824645996f * (tiny ? log2 - 64 : log2);
  float f = x - 1;
  float p = polynomial(f, {-0.5000007152557373f, 0.33333995938301086f,
                           -0.24990394711494446f, 0.19943523406982422f,
                           -0.1694398820400238f, 0.15734606981277466f,
                           -0.10876066982746124f});
  return m::fabs(f - 0.04f) < 0.29f ? fused(f * f, p, f) : far;
}

// sin(k pi + r) of a whole k, whose lowest bit is that of c: r + r^3 P(r^2), P
// fitted to 2^-27.
__device__ inline float sin_about(float c, float k, float x) {
  float r = fused(k, 8.742277657347586e-8f, fused(k, -3.1415927410125732f, x));
  float square = r * r;
  float p = polynomial(square, {-0.16666659712791443f, 0.008333069272339344f,
                                -0.00019809768127743155f, 2.6060538402816746e-6f});
  float y = fused(r * square, p, r);
  return __uint_as_float(__float_as_uint(y) ^ __float_as_uint(c) << 31);
}

// Whether two floats are too few for the k pi next to x.
template <typename T> __device__ inline bool beyond(float x) {
  return subnormals<T> && m::fabs(x) >= 0x1p17f;
}
// Added to a number below 2^22, leaves it without a fraction.
constexpr float whole_bits = 12582912.0f;

template <typename T> __device__ inline float sin(float x) {
  if (beyond<T>(x))
    return m::sin(x);
  float c = fused(x, 0.31830987334251404f, whole_bits);
  return sin_about(c, c - whole_bits, x);
}

template <typename T> __device__ inline float cos(float x) { // sin(x + pi/2)
  if (beyond<T>(x))
    return m::cos(x);
  float c = fused(x, 0.31830987334251404f, 0.5f) + whole_bits;
  return sin_about(c, c - whole_bits - 0.5f, x);
}

// x P(x^2), P fitted to 2^-23; from 2.6 it is 1 in halves.
__device__ inline float erf(float x) {
  x = m::fabs(x) > 2.6f ? copysignf(2.6f, x) : x;
  return x * polynomial(fused(x, x, -3.4f), {
      0.5373824238777161f, -0.07348905503749847f, 0.013441822491586208f,
      -0.002371361944824457f, 0.0003795934608206153f, -5.444241833174601e-5f,
      6.959691745578311e-6f, -7.785729962961341e-7f, 8.234095361103755e-8f,
      -9.871538253491963e-9f, 8.202259427214642e-10f});
}

// Below 0.55 x + x^3 P(x^2), P fitted to 2^-24; above, from e^2x.
__device__ inline float tanh(float x) {
  float a = m::fabs(x), s = x * x;
  float p = polynomial(s, {-0.3333294689655304f, 0.1332072913646698f,
                           -0.05267200991511345f, 0.01643787883222103f});
  float small = fused(x * s, p, x);
  float e = m::quick_exp2(2.8853900817779268f * a); // 2 log2(e)
  float large = fused(-2.0f, m::quick_recip(1 + e), 1.0f);
  return a < 0.55f ? small : copysignf(large, x);
}

// As quick_normcdf, with P fitted to 2^-24 in u = 1/(1 + 0.35a). a^2 of a half is
// exact. Where T has results below the normal range, 2^-24 is taken off last, and
// what 24 costs the power's argument is less than T keeps.
template <typename T> __device__ inline float normcdf(float x) {
  float a = m::fabs(x);
  a = a > 14.4f ? 14.4f : a;
  float u = m::quick_recip(fused(0.35f, a, 1.0f));
  float p = polynomial(u, {0.1396213173866272f, 0.13986334204673767f,
                           0.11982248723506927f, 0.1055479347705841f,
                           -0.02320186048746109f, 0.15930476784706116f,
                           -0.2558261454105377f, 0.1440248042345047f,
                           -0.02915666624903679f});
  float e = m::quick_exp2(
      fused(-0.72134752044448170f, a * a, subnormals<T> ? 24.0f : 0.0f));
  float q = p * u * e * (subnormals<T> ? 0x1p-24f : 1.0f);
  return x > 0 ? 1 - q : q;
}

} // namespace for_half
