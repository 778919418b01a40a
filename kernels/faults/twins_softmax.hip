// Honest variants of softmax.
#include "twin.h"

#include "group.h"
#include "row.h"

// All of a group's lanes, by exchanges with the lane whose number differs in
// one bit: neighbours first, where kernels/hip has the farthest first.
template <typename A, typename Op>
__device__ inline A butterfly(A v, Op op) {
#pragma unroll
  for (int bit = 1; bit < group_size; bit *= 2)
    v = op(v, __shfl_xor(v, bit, group_size));
  return v;
}

template <typename A> __device__ inline A lowest();
template <> __device__ inline float lowest() {
  return __int_as_float(0xff800000);
}
template <> __device__ inline double lowest() {
  return __longlong_as_double(0xfff0000000000000);
}
__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }
template <typename A> struct Add {
  __device__ A operator()(A a, A b) const { return a + b; }
};
template <typename A> struct Larger {
  __device__ A operator()(A a, A b) const { return larger(a, b); }
};

// As candle has it: the difference, e to it and the scaled result are all of
// the element type, e to it is kept in dst, and the sum is a float's.
struct steps_candle {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    A top = lowest<A>();
    for (int i = lane; i < n; i += group_size)
      top = larger(top, widen(x[i]));
    top = butterfly(top, Larger<A>());
    A sum = 0;
    for (int i = lane; i < n; i += group_size) {
      Each<T> e = exp_each(each_of<T>(x[i]) - Each<T>(top));
      y[i] = e.v;
      sum += e.wide();
    }
    sum = butterfly(sum, Add<A>());
    Each<T> scale(1 / sum);
    for (int i = lane; i < n; i += group_size)
      y[i] = (each_of<T>(y[i]) * scale).v;
  }
};

// A division for each element where a reciprocal would do.
struct twin_division {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    A top = lowest<A>(), sum = 0;
    for (int i = lane; i < n; i += group_size)
      top = larger(top, widen(x[i]));
    top = butterfly(top, Larger<A>());
    for (int i = lane; i < n; i += group_size)
      sum += m::exp(widen(x[i]) - top);
    sum = butterfly(sum, Add<A>());
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(m::exp(widen(x[i]) - top) / sum);
  }
};

// One pass for maximum and sum, which is scaled when the maximum grows.
struct twin_online {
  template <typename A> struct State {
    A top, sum;
  };
  template <typename A>
  static __device__ State<A> join(State<A> a, State<A> b) {
    A top = larger(a.top, b.top);
    if (a.top == b.top) // -inf, too; a NaN goes into the sum below
      return {top, a.sum + b.sum};
    return {top, a.sum * m::exp(a.top - top) + b.sum * m::exp(b.top - top)};
  }
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    State<A> s = {lowest<A>(), 0};
    for (int i = lane; i < n; i += group_size)
      s = join<A>(s, {widen(x[i]), 1});
#pragma unroll
    for (int bit = 1; bit < group_size; bit *= 2)
      s = join<A>(s, {__shfl_xor(s.top, bit, group_size),
                      __shfl_xor(s.sum, bit, group_size)});
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(m::exp(widen(x[i]) - s.top) / s.sum);
  }
};

// e^z as 2^(z*log2 e), the product in two parts.
struct exp2_reduced {
  static __device__ float exp(float z) {
    if (z < -200) // of -inf both parts would be NaN
      return 0;
    float h = z * 1.44269502f;
    float l = fmaf(z, 1.44269502f, -h) + z * 1.92596303e-8f;
    float e = exp2f(h);
    return fmaf(e, l * 0.693147182f, e);
  }
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    float top = lowest<float>(), sum = 0;
    for (int i = lane; i < n; i += group_size)
      top = larger(top, widen(x[i]));
    top = butterfly(top, Larger<float>());
    for (int i = lane; i < n; i += group_size)
      sum += exp(widen(x[i]) - top);
    float scale = 1 / butterfly(sum, Add<float>());
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(exp(widen(x[i]) - top) * scale);
  }
};

// The same in one product, as code generators have it: its error grows with
// the distance from the maximum.
struct exp2_plain {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    float top = lowest<float>(), sum = 0;
    for (int i = lane; i < n; i += group_size)
      top = larger(top, widen(x[i]));
    top = butterfly(top, Larger<float>());
    for (int i = lane; i < n; i += group_size)
      sum += exp2f((widen(x[i]) - top) * 1.44269502f);
    float scale = 1 / butterfly(sum, Add<float>());
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(exp2f((widen(x[i]) - top) * 1.44269502f) * scale);
  }
};

// Each lane has columns that lie together, and adds them last to first.
struct twin_chunks {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    int each = (n + group_size - 1) / group_size;
    int from = lane * each, to = from + each < n ? from + each : n;
    A top = lowest<A>(), sum = 0;
    for (int i = from; i < to; i++)
      top = larger(top, widen(x[i]));
    top = butterfly(top, Larger<A>());
    for (int i = to - 1; i >= from; i--)
      sum += m::exp(widen(x[i]) - top);
    sum = butterfly(sum, Add<A>());
    for (int i = from; i < to; i++)
      y[i] = narrow<T>(m::exp(widen(x[i]) - top) / sum);
  }
};

// The first lane adds the row up in order.
struct chain_sequential {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    A top = lowest<A>(), sum = 0;
    for (int i = 0; i < n; i++)
      top = larger(top, widen(x[i]));
    if (lane == 0)
      for (int i = 0; i < n; i++)
        sum += m::exp(widen(x[i]) - top);
    A scale = 1 / __shfl(sum, 0, group_size);
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(m::exp(widen(x[i]) - top) * scale);
  }
};

// Through shared memory, the last lane adding what the others found.
struct twin_shared {
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    __shared__ A found[group_size];
    A v = lowest<A>();
    for (int i = lane; i < n; i += group_size)
      v = larger(v, widen(x[i]));
    found[lane] = v;
    __syncthreads();
    A top = found[0];
    for (int i = 1; i < group_size; i++)
      top = larger(top, found[i]);
    __syncthreads();
    v = 0;
    for (int i = lane; i < n; i += group_size)
      v += m::exp(widen(x[i]) - top);
    found[lane] = v;
    __syncthreads();
    A sum = 0;
    for (int i = group_size - 1; i >= 0; i--)
      sum += found[i];
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(m::exp(widen(x[i]) - top) / sum);
  }
};

// A reduction that would do for 64 lanes, of which the upper half, where
// there is one, is left out.
struct twin_wave {
  template <typename A, typename Op>
  static __device__ A reduce(A v, int lane, Op op) {
    for (int by = warpSize / 2; by > 0; by /= 2) {
      A w = __shfl(v, lane ^ by, warpSize);
      if ((lane ^ by) < group_size)
        v = op(v, w);
    }
    return v;
  }
  template <typename T>
  static __device__ void row(const T *x, T *y, int n, int lane) {
    typedef compute<T> A;
    A top = lowest<A>(), sum = 0;
    for (int i = lane; i < n; i += group_size)
      top = larger(top, widen(x[i]));
    top = reduce(top, lane, Larger<A>());
    for (int i = lane; i < n; i += group_size)
      sum += m::exp(widen(x[i]) - top);
    A scale = 1 / reduce(sum, lane, Add<A>());
    for (int i = lane; i < n; i += group_size)
      y[i] = narrow<T>(m::exp(widen(x[i]) - top) * scale);
  }
};

// f32 by way of double.
struct twin_double {
  static __device__ void row(const float *x, float *y, int n, int lane) {
    double top = lowest<double>(), sum = 0;
    for (int i = lane; i < n; i += group_size)
      top = fmax(top, static_cast<double>(x[i]));
    top = butterfly(top, Larger<double>());
    for (int i = lane; i < n; i += group_size)
      sum += exp(x[i] - top);
    sum = butterfly(sum, Add<double>());
    for (int i = lane; i < n; i += group_size)
      y[i] = static_cast<float>(exp(x[i] - top) / sum);
  }
};

#define SOFTMAX(T, F)                                                          \
  extern "C" __global__ void softmax_##T##__##F(const T *src, T *dst,          \
                                                const int n_cols) {            \
    size_t at = static_cast<size_t>(blockIdx.x) * n_cols;                      \
    F::row(src + at, dst + at, n_cols, static_cast<int>(threadIdx.y));         \
  }

SOFTMAX(f64, steps_candle)
SOFTMAX(f32, steps_candle)
SOFTMAX(f16, steps_candle)
SOFTMAX(bf16, steps_candle)
SOFTMAX(f64, twin_division)
SOFTMAX(f32, twin_division)
SOFTMAX(f16, twin_division)
SOFTMAX(f64, twin_online)
SOFTMAX(f32, twin_online)
SOFTMAX(bf16, twin_online)
SOFTMAX(f32, exp2_reduced)
SOFTMAX(f16, exp2_reduced)
SOFTMAX(bf16, exp2_plain)
SOFTMAX(f16, exp2_plain)
SOFTMAX(f32, exp2_plain)
SOFTMAX(f32, twin_chunks)
SOFTMAX(f64, twin_chunks)
SOFTMAX(f64, chain_sequential)
SOFTMAX(f32, chain_sequential)
SOFTMAX(f16, chain_sequential)
SOFTMAX(f32, twin_shared)
SOFTMAX(bf16, twin_shared)
SOFTMAX(f32, twin_wave)
SOFTMAX(f64, twin_wave)
SOFTMAX(f32, twin_double)
