// Images resized by taking the nearest element of the source.
//
// Elements are moved as they are, and the two factors between the sizes are
// doubles, so that the chosen index is the same everywhere.
#include "index.h"

// The source's index of output index i along a dimension of size dim.
__device__ inline size_t nearest(size_t i, double scale, size_t dim) {
  size_t at = static_cast<size_t>(static_cast<double>(i) * scale);
  return at < dim ? at : dim - 1;
}

// info is the source's dims and strides, four each; dims 2 and 3 become
// w_out and h_out, in this order, and dst is contiguous.
template <typename T>
__device__ inline void upsample_nearest2d(size_t w_out, size_t h_out,
                                          double w_scale, double h_scale,
                                          const size_t *info, const T *src,
                                          T *dst) {
  const size_t *dims = info, *strides = info + 4;
  size_t numel = dims[0] * dims[1] * w_out * h_out;
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t row = i / h_out, image = row / w_out, batch = image / dims[1];
    size_t w = nearest(row - image * w_out, w_scale, dims[2]);
    size_t h = nearest(i - row * h_out, h_scale, dims[3]);
    size_t channel = image - batch * dims[1];
    dst[i] = src[batch * strides[0] + channel * strides[1] + w * strides[2] +
                 h * strides[3]];
  }
}

#define UPSAMPLE(T)                                                            \
  extern "C" __global__ void upsample_nearest2d_##T(                           \
      const size_t w_out, const size_t h_out, const double w_scale,            \
      const double h_scale, const size_t *info, const T *src, T *dst) {        \
    upsample_nearest2d(w_out, h_out, w_scale, h_scale, info, src, dst);        \
  }

FOR_FLOATS(UPSAMPLE)
UPSAMPLE(u8)
UPSAMPLE(u32)
