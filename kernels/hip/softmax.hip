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

template <typename T>
__device__ inline void softmax(const T *src, T *dst, int n_cols) {
  typedef compute<T> A;
  __shared__ Slots<A> slots;
  size_t row = static_cast<size_t>(blockIdx.x) * n_cols;
  int first = thread_rank(), step = thread_total();

  // A NaN is dropped here; it comes back with the sum.
  auto larger = [](A a, A b) { return b > a ? b : a; };
  A max = -infinity(A());
  each(src + row, n_cols, first, step,
       [&](int, T x) { max = larger(max, widen(x)); });
  max = reduce_block(max, slots, larger);

  A sum = 0;
  each(src + row, n_cols, first, step,
       [&](int, T x) { sum += m::exp(widen(x) - max); });
  sum = reduce_block(sum, slots, [](A a, A b) { return a + b; });
  A scale = 1 / sum;

  map_row(src + row, dst + row, n_cols, first, step, [&](int, T x) {
    return narrow<T>(m::exp(widen(x) - max) * scale);
  });
}

#define SOFTMAX(T)                                                             \
  extern "C" __global__ void softmax_##T(const T *src, T *dst,                 \
                                         const int n_cols) {                   \
    softmax(src, dst, n_cols);                                                 \
  }

FOR_FLOATS(SOFTMAX)
