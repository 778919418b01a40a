// Wrong ports of softmax. kernels/hip/softmax.hip is right, and so is what
// stands here where F is twin.
#include "fault.h"
#include "libm.h"
#include "row.h"

enum Fault {
  twin,
  // In the formula.
  no_max,         // e^x without the maximum taken off
  max_zero,       // the maximum begins at 0
  max_first,      // the first element for the maximum
  max_finite,     // the maximum begins at -1e4, as masks have it
  base_two,       // 2^x for e^x
  not_normalised, // not divided by the sum
  masked_zero,    // a row of -inf gives zeros
  clamped,        // exponents below -80 taken for -80
  half_sum,       // f16 sums in f16
  truncated,      // low half of the float cut off at the store
  single,         // f64 by way of float
  // In the walk.
  thread_x,       // threads counted along x, of which there is one
  row_ignored,    // row 0 for all
  last_column,    // the last column left out of the sum
  tail_left,      // the columns after the last 16 bytes never written
  one_past,       // a column more written
  // In the reduction (block.h).
  last_step,
  half_start,
  first_lane_alone,
  max_of_lane,    // every lane keeps its own maximum
  wave_64_w64,    // the idle half of a wave of 64 takes part
  slots_one_short,
  no_sync,
  no_second_sync,
  warp_32_w64,
  warp_64_w32,
  slots_half_filled_w64,
};

#include "block.h"

__device__ inline float infinity(float) { return __int_as_float(0x7f800000); }
__device__ inline double infinity(double) {
  return __longlong_as_double(0x7ff0000000000000);
}

template <Fault F, typename A> __device__ inline A power(A x) {
  if (F == base_two)
    return exp2f(x);
  if (F == clamped && x < -80)
    x = -80;
  if (F == single)
    return m::exp(static_cast<float>(x));
  return m::exp(x);
}

template <Fault F, typename A, typename Op>
__device__ inline A combine(A v, Places<A> &slots, A none, Op op) {
  if (F == wave_64_w64) {
    for (int by = warpSize / 2; by > 0; by /= 2)
      v = op(v, __shfl_xor(v, by));
    return v;
  }
  return reduce_faulty<F>(v, slots, none, op);
}

template <Fault F, typename T>
__device__ inline void softmax(const T *src, T *dst, int n_cols) {
  typedef compute<T> A;
  __shared__ Places<A> slots;
  size_t row = F == row_ignored ? 0 : static_cast<size_t>(blockIdx.x) * n_cols;
  int first = F == thread_x ? threadIdx.x : thread_rank();
  int step = thread_total();
  int n = F == last_column ? n_cols - 1 : n_cols;

  auto larger = [](A a, A b) { return b > a ? b : a; };
  A none = F == max_zero ? A(0) : F == max_finite ? A(-1e4) : -infinity(A());
  A max = none;
  each(src + row, n_cols, first, step,
       [&](int, T x) { max = larger(max, widen(x)); });
  if (F != max_of_lane)
    max = combine<F>(max, slots, none, larger);
  if (F == max_first)
    max = widen(src[row]);
  if (F == no_max)
    max = 0;

  A sum = 0;
  if constexpr (F == half_sum) {
    f16 s = 0;
    each(src + row, n, first, step, [&](int, T x) {
      s += static_cast<f16>(power<F>(widen(x) - max));
    });
    for (int by = 16; by > 0; by /= 2)
      s += static_cast<f16>(__shfl_xor(static_cast<float>(s), by, group_size));
    sum = s;
  } else {
    each(src + row, n, first, step,
         [&](int, T x) { sum += power<F>(widen(x) - max); });
    sum = combine<F>(sum, slots, A(0), [](A a, A b) { return a + b; });
  }
  A scale = F == not_normalised ? A(1) : 1 / sum;
  bool dead = F == masked_zero && max == -infinity(A());

  int written = F == tail_left ? n_cols / Vec<T>::size * Vec<T>::size : n_cols;
  map_row(src + row, dst + row, written, first, step, [&](int, T x) {
    A y = dead ? A(0) : power<F>(widen(x) - max) * scale;
    if constexpr (F == truncated)
      return truncate<T>(y);
    else
      return narrow<T>(y);
  });
  if (F == one_past && first == 0)
    dst[row + n_cols] = narrow<T>(0);
}

#define SOFTMAX(T, F)                                                          \
  extern "C" __global__ void softmax_##T##__##F(const T *src, T *dst,          \
                                                const int n_cols) {            \
    softmax<F>(src, dst, n_cols);                                              \
  }

SOFTMAX(f32, twin)
SOFTMAX(f32, no_max)
SOFTMAX(f32, max_zero)
SOFTMAX(f32, max_first)
SOFTMAX(f32, max_finite)
SOFTMAX(f32, base_two)
SOFTMAX(f32, not_normalised)
SOFTMAX(f32, masked_zero)
SOFTMAX(f32, clamped)
SOFTMAX(f32, thread_x)
SOFTMAX(f32, row_ignored)
SOFTMAX(f32, last_column)
SOFTMAX(f32, tail_left)
SOFTMAX(f32, one_past)
SOFTMAX(f32, last_step)
SOFTMAX(f32, half_start)
SOFTMAX(f32, first_lane_alone)
SOFTMAX(f32, max_of_lane)
SOFTMAX(f32, wave_64_w64)
SOFTMAX(f16, twin)
SOFTMAX(f16, half_sum)
SOFTMAX(f16, truncated)
SOFTMAX(bf16, twin)
SOFTMAX(bf16, truncated)
SOFTMAX(f64, twin)
SOFTMAX(f64, single)
