// Wrong ports of RMS norm and layer norm. kernels/hip/norm.hip is right, and
// so is what stands here where F is twin.
#include "fault.h"
#include "row.h"

enum Fault {
  twin,
  // In the formula.
  eps_dropped,
  eps_outside,       // added to the root
  eps_in_sum,        // added to the sum, before the division
  eps_constant,      // 1e-5, whatever the parameter
  eps_least,         // max(variance, eps): a floor, not a sum
  root_of_half,      // the scale rounded to f16
  n_less_one,        // variance of a sample
  by_block,          // divided by the threads of a block, not by the columns
  no_root,           // scaled by the variance
  mean_kept,         // the mean stays in the result
  about_zero,        // the mean square for the variance
  mean_first,        // the mean of the first thread's columns
  alpha_ignored,
  alpha_null,        // alpha read where it is null
  alpha_by_row,      // alpha[row]
  beta_scaled,       // (y + beta) * alpha
  beta_ignored,
  half_squares,      // f16 squares and sums in f16
  truncated,         // low half of the float cut off at the store
  // In the walk.
  row_ignored,       // row 0 for all
  step_1024,         // 1024 threads taken for granted
  step_32,           // 32 threads taken for granted: columns taken many times
  last_column,       // the last column left out of the sum
  tail_left,         // the columns after the last 16 bytes never written
  one_past,          // a column more written
  // In the reduction (block.h).
  last_step,         // the shuffle by 1 left out
  half_start,        // shuffles begin at 8: half of the lanes are lost
  first_lane_alone,  // the sum not handed to the other lanes
  slots_one_short,   // the last group's slot left out
  no_sync,           // no barrier before the slots are read
  no_second_sync,    // no barrier before the sum is read
  warp_32_w64,       // warps of 32 and warpSize mixed
  warp_64_w32,       // waves of 64 taken for granted
  slots_half_filled_w64, // 32 slots read where 16 waves wrote
};

#include "block.h"

template <typename T> __device__ inline float as_float(T x) {
  return static_cast<float>(widen(x));
}

__device__ inline float add(float a, float b) { return a + b; }

template <Fault F> __device__ inline int columns(int n) {
  return F == last_column ? n - 1 : n;
}

template <Fault F> __device__ inline int stride(int block_size) {
  return F == step_1024 ? 1024 : F == step_32 ? 32 : block_size;
}

template <Fault F, typename T>
__device__ inline float squares_of(const T *row, int n, int first, int step,
                                   float mean) {
  if constexpr (F == half_squares) {
    f16 sum = 0;
    for (int i = first; i < n; i += step) {
      f16 d = static_cast<f16>(as_float(row[i]) - mean);
      sum += d * d;
    }
    return sum;
  } else {
    float sum = 0;
    each(row, columns<F>(n), first, step, [&](int, T e) {
      float d = as_float(e) - mean;
      sum = fused(d, d, sum);
    });
    return sum;
  }
}

template <Fault F>
__device__ inline float scale_of(float squares, int n, int threads, float eps) {
  float by = F == n_less_one ? n - 1 : F == by_block ? threads : n;
  switch (F) {
  case eps_constant:
    return rsqrtf(squares / by + 1e-5f);
  case eps_least:
    return rsqrtf(fmaxf(squares / by, eps));
  case root_of_half:
    return static_cast<f16>(rsqrtf(squares / by + eps));
  case eps_dropped:
    return rsqrtf(squares / by);
  case eps_outside:
    return 1 / (sqrtf(squares / by) + eps);
  case eps_in_sum:
    return rsqrtf((squares + eps) / by);
  case no_root:
    return 1 / (squares / by + eps);
  default:
    return rsqrtf(squares / by + eps);
  }
}

template <Fault F, typename T>
__device__ inline T finish(float y, const T *alpha, const T *beta, int col) {
  int at = F == alpha_by_row ? blockIdx.x : col;
  if (beta && F == beta_scaled)
    y += as_float(beta[col]);
  if ((alpha || F == alpha_null) && F != alpha_ignored)
    y *= as_float(alpha[at]);
  if (beta && F != beta_scaled && F != beta_ignored)
    y += as_float(beta[col]);
  if constexpr (F == truncated)
    return truncate<T>(y);
  else
    return narrow<T>(y);
}

template <Fault F, typename T, typename Fn>
__device__ inline void write_row(const T *row, T *out, int n, int first,
                                 int step, Fn f) {
  if (F == tail_left)
    n = n / Vec<T>::size * Vec<T>::size;
  map_row(row, out, n, first, step, f);
  if (F == one_past && first == 0)
    out[n] = narrow<T>(0);
}

template <Fault F> __device__ inline size_t row_start(int n) {
  return F == row_ignored ? 0 : static_cast<size_t>(blockIdx.x) * n;
}

template <Fault F, typename T>
__device__ inline void rms_norm(const T *src, T *dst, const T *alpha,
                                int n_cols, int block_size, float eps) {
  __shared__ Places<float> slots;
  const T *row = src + row_start<F>(n_cols);
  int first = thread_rank(), step = stride<F>(block_size);
  float squares = squares_of<F>(row, n_cols, first, step, 0);
  squares = reduce_faulty<F>(squares, slots, 0.0f, add);
  float scale = scale_of<F>(squares, n_cols, thread_total(), eps);
  write_row<F>(row, dst + row_start<F>(n_cols), n_cols, first, step,
               [&](int col, T e) {
                 return finish<F>(scale * as_float(e), alpha,
                                  static_cast<const T *>(nullptr), col);
               });
}

template <Fault F, typename T>
__device__ inline void layer_norm(const T *src, T *dst, const T *alpha,
                                  const T *beta, int n_cols, int block_size,
                                  float eps) {
  __shared__ Places<float> slots;
  const T *row = src + row_start<F>(n_cols);
  int first = thread_rank(), step = stride<F>(block_size);
  float sum = 0;
  each(row, columns<F>(n_cols), first, step,
       [&](int, T e) { sum += as_float(e); });
  float mean = reduce_faulty<F>(sum, slots, 0.0f, add) / n_cols;
  if (F == mean_first)
    mean = sum / ((n_cols + step - 1) / step);
  float squares =
      squares_of<F>(row, n_cols, first, step, F == about_zero ? 0 : mean);
  squares = reduce_faulty<F>(squares, slots, 0.0f, add);
  float scale = scale_of<F>(squares, n_cols, thread_total(), eps);
  if (F == mean_kept)
    mean = 0;
  write_row<F>(row, dst + row_start<F>(n_cols), n_cols, first, step,
               [&](int col, T e) {
                 return finish<F>((as_float(e) - mean) * scale, alpha, beta,
                                  col);
               });
}

#define RMS(T, F)                                                              \
  extern "C" __global__ void rmsnorm_##T##__##F(                               \
      const T *src, T *dst, const T *alpha, const int n_cols,                  \
      const int block_size, const float eps) {                                 \
    rms_norm<F>(src, dst, alpha, n_cols, block_size, eps);                     \
  }

#define LAYER(T, F)                                                            \
  extern "C" __global__ void layernorm_##T##__##F(                             \
      const T *src, T *dst, const T *alpha, const T *beta, const int n_cols,   \
      const int block_size, const float eps) {                                 \
    layer_norm<F>(src, dst, alpha, beta, n_cols, block_size, eps);             \
  }

RMS(f32, twin)
RMS(f32, eps_dropped)
RMS(f32, eps_outside)
RMS(f32, eps_in_sum)
RMS(f32, eps_constant)
RMS(f32, eps_least)
RMS(f32, root_of_half)
RMS(f32, by_block)
RMS(f32, no_root)
RMS(f32, alpha_ignored)
RMS(f32, alpha_null)
RMS(f32, alpha_by_row)
RMS(f32, row_ignored)
RMS(f32, step_1024)
RMS(f32, last_column)
RMS(f32, tail_left)
RMS(f32, one_past)
RMS(f32, last_step)
RMS(f32, half_start)
RMS(f32, slots_one_short)
RMS(f32, no_sync)
RMS(f32, warp_32_w64)
RMS(f32, warp_64_w32)
RMS(f32, slots_half_filled_w64)
RMS(f16, twin)
RMS(f16, half_squares)
RMS(f16, truncated)
RMS(bf16, twin)
RMS(bf16, truncated)

LAYER(f32, twin)
LAYER(f32, eps_outside)
LAYER(f32, eps_dropped)
LAYER(f32, eps_constant)
LAYER(f32, eps_least)
LAYER(f32, n_less_one)
LAYER(f32, mean_kept)
LAYER(f32, about_zero)
LAYER(f32, mean_first)
LAYER(f32, beta_scaled)
LAYER(f32, beta_ignored)
LAYER(f32, alpha_by_row)
LAYER(f32, step_32)
LAYER(f32, first_lane_alone)
LAYER(f32, no_second_sync)
LAYER(f32, warp_32_w64)
LAYER(f32, warp_64_w32)
LAYER(f32, slots_half_filled_w64)
LAYER(f16, twin)
LAYER(f16, half_squares)
LAYER(f16, truncated)
LAYER(bf16, twin)
LAYER(bf16, truncated)
