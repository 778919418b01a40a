// Wrong ports of resizing by the nearest element. kernels/hip/upsample.hip is
// right, and so is what stands here where F is twin.
#include "fault.h"
#include "index.h"

enum Fault {
  twin,
  // In the index along a dimension.
  scales_swapped,  // w_scale for h and h_scale for w
  one_scale,       // w_scale for both
  inverted,        // divided by the scale
  float_scale,     // the scale in float
  float_product,   // the product in float
  in_integers,     // i * dim_in / dim_out, exact
  to_nearest,      // rounded where it must be cut off
  pixel_centres,   // floor((i + 1/2) * scale)
  ceiled,          // ceil of the product
  clamped_early,   // the last element never used
  // In the walk.
  dims_swapped,    // w_out and h_out exchanged
  strides_ignored, // a strided source read as if contiguous
  strides_swapped, // those of w and h exchanged
  batch_ignored,   // the first batch for all
  channel_ignored, // the first channel for all
  channels_as_batches, // the two strides exchanged
  one_block,
  off_by_one,
  short_tail,      // the last element never written
};

template <Fault F>
__device__ inline size_t nearest(size_t i, double scale, size_t dim,
                                 size_t out) {
  double x = static_cast<double>(i);
  size_t at = static_cast<size_t>(x * scale);
  switch (F) {
  case inverted:
    at = static_cast<size_t>(x / scale);
    break;
  case float_scale:
    at = static_cast<size_t>(x * static_cast<double>(static_cast<float>(scale)));
    break;
  case float_product:
    at = static_cast<size_t>(static_cast<float>(i) * static_cast<float>(scale));
    break;
  case in_integers:
    at = i * dim / out;
    break;
  case to_nearest:
    at = static_cast<size_t>(rint(x * scale));
    break;
  case pixel_centres:
    at = static_cast<size_t>((x + 0.5) * scale);
    break;
  case ceiled:
    at = static_cast<size_t>(ceil(x * scale));
    break;
  case clamped_early:
    return dim > 1 && at > dim - 2 ? dim - 2 : at;
  default:
    break;
  }
  return at < dim ? at : dim - 1;
}

template <Fault F, typename T>
__device__ inline void upsample(size_t w_out, size_t h_out, double w_scale,
                                double h_scale, const size_t *info,
                                const T *src, T *dst) {
  const size_t *dims = info, *strides = info + 4;
  size_t numel = dims[0] * dims[1] * w_out * h_out;
  if (F == dims_swapped) {
    size_t k = w_out;
    w_out = h_out;
    h_out = k;
  }
  if (F == scales_swapped) {
    double k = w_scale;
    w_scale = h_scale;
    h_scale = k;
  }
  if (F == one_scale)
    h_scale = w_scale;
  size_t n = F == off_by_one ? numel + 1 : F == short_tail ? numel - 1 : numel;
  if (F == one_block && n > blockDim.x)
    n = blockDim.x;
  for (size_t i = thread_index(); i < n && numel; i += thread_count()) {
    size_t row = i / h_out, image = row / w_out, batch = image / dims[1];
    size_t w = nearest<F>(row - image * w_out, w_scale, dims[2], w_out);
    size_t h = nearest<F>(i - row * h_out, h_scale, dims[3], h_out);
    size_t channel = image - batch * dims[1];
    if (F == batch_ignored)
      batch = 0;
    if (F == channel_ignored)
      channel = 0;
    size_t s[4] = {strides[0], strides[1], strides[2], strides[3]};
    if (F == strides_ignored) {
      s[3] = 1;
      s[2] = dims[3];
      s[1] = dims[2] * s[2];
      s[0] = dims[1] * s[1];
    }
    if (F == strides_swapped) {
      s[2] = strides[3];
      s[3] = strides[2];
    }
    if (F == channels_as_batches) {
      s[0] = strides[1];
      s[1] = strides[0];
    }
    dst[i] = src[batch * s[0] + channel * s[1] + w * s[2] + h * s[3]];
  }
}

#define UPSAMPLE(T, F)                                                         \
  extern "C" __global__ void upsample_nearest2d_##T##__##F(                    \
      const size_t w_out, const size_t h_out, const double w_scale,            \
      const double h_scale, const size_t *info, const T *src, T *dst) {        \
    upsample<F>(w_out, h_out, w_scale, h_scale, info, src, dst);               \
  }

UPSAMPLE(f32, twin)
UPSAMPLE(f32, scales_swapped)
UPSAMPLE(f32, one_scale)
UPSAMPLE(f32, inverted)
UPSAMPLE(f32, float_scale)
UPSAMPLE(f32, float_product)
UPSAMPLE(f32, in_integers)
UPSAMPLE(f32, to_nearest)
UPSAMPLE(f32, pixel_centres)
UPSAMPLE(f32, ceiled)
UPSAMPLE(f32, clamped_early)
UPSAMPLE(f32, dims_swapped)
UPSAMPLE(f32, strides_ignored)
UPSAMPLE(f32, strides_swapped)
UPSAMPLE(f32, batch_ignored)
UPSAMPLE(f32, channel_ignored)
UPSAMPLE(f32, channels_as_batches)
UPSAMPLE(f32, one_block)
UPSAMPLE(f32, off_by_one)
UPSAMPLE(f32, short_tail)
