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

// Softmax is one row's.
template <typename T> struct Softmax {
  typedef compute<T> A;
  const T *src;
  T *dst;
  int n_cols;
  Slots<A> &tops, &sums;

  static __device__ inline A add(A a, A b) { return a + b; }

  // Of a row in registers: e^x is computed once.
  template <typename Row> __device__ inline void operator()(const Row &row) {
    A e[Row::count][Row::size];

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
    sum = reduce_block(sum, sums, add);
    A scale = 1 / sum;

    row.store(dst, [&](int k, int) {
      Words<T> y;
#pragma unroll
      for (int i = 0; i < y.size; i++)
        y.put(i, narrow<T>(e[k][i] * scale));
      return y;
    });
  }

  // Of any row. The first pass keeps each thread's maximum so far and the sum
  // for it, which shrinks when a larger maximum comes.
  __device__ inline void read_twice() {
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
    sum = reduce_block(sum, sums, add);
    A scale = 1 / sum;

    map_row(src, dst, n_cols, first, step, [&](int, T x) {
      return narrow<T>(m::exp(widen(x) - max) * scale);
    });
  }
};

template <typename T>
__device__ inline void softmax(const T *src, T *dst, int n_cols) {
  __shared__ Slots<compute<T>> tops, sums;
  size_t start = static_cast<size_t>(blockIdx.x) * n_cols;
  Softmax<T> row = {src + start, dst + start, n_cols, tops, sums};
  if (!aligned(row.dst) || !hold<Use::kept>(row.src, n_cols, thread_rank(),
                                            thread_total(), row))
    row.read_twice();
}

#define SOFTMAX(T)                                                             \
  extern "C" __global__ __launch_bounds__(1024) void softmax_##T(              \
      const T *src, T *dst, const int n_cols) {                                \
    softmax(src, dst, n_cols);                                                 \
  }

FOR_FLOATS(SOFTMAX)
