// Softmax of rows: e^(x-max) over its sum, one block a row. The launch has 32
// threads along y: half a wave of 64, whose other half is idle.
//
// f16 and bf16 are computed in float throughout and rounded once, where
// candle's kernel subtracts, exponentiates and scales in the element type. So
// e^(x-max) is not kept in dst between the passes but computed twice. candle's
// shuffles take it that the block is one full warp of 32; these do not
// (group.h).
#include "group.h"
#include "libm.h"
#include "row.h"

__device__ inline float infinity(float) { return __int_as_float(0x7f800000); }
__device__ inline double infinity(double) {
  return __longlong_as_double(0x7ff0000000000000);
}

// A NaN is dropped here; it comes back with the sum.
template <typename A> __device__ inline A larger(A a, A b) {
  return b > a ? b : a;
}

// The row stays in registers: it is read once and e^x computed once.
template <int K, typename T>
__device__ inline void softmax_held(const T *src, T *dst, int n_cols) {
  typedef compute<T> A;
  __shared__ Slots<A> tops, sums;
  int first = thread_rank(), step = thread_total();
  Held<T, K> row(src, n_cols, first, step);
  A e[K][Vec<T>::size];

  A max = -infinity(A());
  row.each([&](int k, int i, T x) {
    e[k][i] = widen(x);
    max = larger(max, e[k][i]);
  });
  max = reduce_block(max, tops, larger<A>);

  A sum = 0;
  row.each([&](int k, int i, T) {
    e[k][i] = m::exp(e[k][i] - max);
    sum += e[k][i];
  });
  sum = reduce_block(sum, sums, [](A a, A b) { return a + b; });
  A scale = 1 / sum;

  row.store(dst, [&](int k, int) {
    Vec<T> y;
#pragma unroll
    for (int i = 0; i < Vec<T>::size; i++)
      y.at[i] = narrow<T>(e[k][i] * scale);
    return y;
  });
}

// Any row. The first pass keeps each thread's maximum so far and the sum
// for it, which shrinks when a larger maximum comes.
template <typename T>
__device__ inline void softmax_long(const T *src, T *dst, int n_cols) {
  typedef compute<T> A;
  __shared__ Slots<A> tops, sums;
  int first = thread_rank(), step = thread_total();

  A top = -infinity(A()), sum = 0;
  each(src, n_cols, first, step, [&](int, T e) {
    A x = widen(e);
    if (x > top) {
      sum *= m::exp(top - x);
      top = x;
    }
    // While all is -inf, x - top would be NaN.
    sum += x == top ? A(1) : m::exp(x - top);
  });
  A max = reduce_block(top, tops, larger<A>);
  sum *= m::exp(top - max);
  sum = reduce_block(sum, sums, [](A a, A b) { return a + b; });
  A scale = 1 / sum;

  map_row(src, dst, n_cols, first, step, [&](int, T x) {
    return narrow<T>(m::exp(widen(x) - max) * scale);
  });
}

template <typename T>
__device__ inline void softmax(const T *src, T *dst, int n_cols) {
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  src += row;
  dst += row;
  int step = thread_total();
  if (Held<T, 1>::fits(src, dst, n_cols, step))
    softmax_held<1>(src, dst, n_cols);
  else if (Held<T, 2>::fits(src, dst, n_cols, step))
    softmax_held<2>(src, dst, n_cols);
  else if (Held<T, 4>::fits(src, dst, n_cols, step))
    softmax_held<4>(src, dst, n_cols);
  else
    softmax_long(src, dst, n_cols);
}

#define SOFTMAX(T)                                                             \
  extern "C" __global__ __launch_bounds__(1024) void softmax_##T(const T *src, T *dst,                 \
                                         const int n_cols) {                   \
    softmax(src, dst, n_cols);                                                 \
  }

FOR_FLOATS(SOFTMAX)
