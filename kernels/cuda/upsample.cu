// Images resized by taking the nearest element of the source.
//
// Elements are moved as they are, and the two factors between the sizes are
// doubles, so that the chosen index is the same everywhere.
#include "index.h"

// The source's index of output index i along a dimension of size dim; in 32
// bits, whose conversions are quicker, where small says that these suffice.
__device__ inline size_t nearest(size_t i, double scale, size_t dim,
                                 bool small) {
  if (small) {
    u32 at = static_cast<u32>(static_cast<double>(static_cast<u32>(i)) * scale);
    return at < dim ? at : dim - 1;
  }
  size_t at = static_cast<size_t>(static_cast<double>(i) * scale);
  return at < dim ? at : dim - 1;
}

// Writes lines rows of h_out elements, N elements at once.
template <int N, typename T>
__device__ inline void upsample_pieces(size_t lines, size_t w_out, size_t h_out,
                                       double w_scale, double h_scale,
                                       const size_t *dims,
                                       const size_t *strides, const T *src,
                                       T *dst) {
  size_t pieces = h_out / N, numel = lines * pieces;
  size_t channels = dims[1], w_in = dims[2], h_in = dims[3];
  bool small = (lines * h_out | w_in | h_in) >> 31 == 0;
  Divider by_pieces(pieces, small), by_w(w_out, small), by_channels(channels, small);
#pragma unroll 1
  for (size_t i = thread_index(); i < numel; i += thread_count()) {
    size_t row = by_pieces(i), image = by_w(row), batch = by_channels(image);
    size_t w = nearest(row - image * w_out, w_scale, w_in, small);
    size_t channel = image - batch * channels, h = (i - row * pieces) * N;
    const T *line = src + batch * strides[0] + channel * strides[1] +
                    w * strides[2];
    Pack<T, N> y;
#pragma unroll
    for (int k = 0; k < N; k++)
      y.at[k] = line[nearest(h + k, h_scale, h_in, small) * strides[3]];
    reinterpret_cast<Pack<T, N> *>(dst)[i] = y;
  }
}

// info is the source's dims and strides, four each; dims 2 and 3 become
// w_out and h_out, in this order, and dst is contiguous.
template <typename T>
__device__ inline void upsample_nearest2d(size_t w_out, size_t h_out,
                                          double w_scale, double h_scale,
                                          const size_t *info, const T *src,
                                          T *dst) {
  const size_t *dims = info, *strides = info + 4;
  // A thread takes elements that follow one another in a row of dst, as many
  // as 16 bytes hold where rows can be cut so.
  constexpr int n = Vec<T>::size;
  size_t lines = dims[0] * dims[1] * w_out;
  if (aligned(dst) && h_out % n == 0)
    upsample_pieces<n>(lines, w_out, h_out, w_scale, h_scale, dims, strides,
                       src, dst);
  else
    upsample_pieces<1>(lines, w_out, h_out, w_scale, h_scale, dims, strides,
                       src, dst);
}

#define UPSAMPLE(T)                                                            \
  extern "C" __global__ __launch_bounds__(1024) void upsample_nearest2d_##T(                           \
      const size_t w_out, const size_t h_out, const double w_scale,            \
      const double h_scale, const size_t *info, const T *src, T *dst) {        \
    upsample_nearest2d(w_out, h_out, w_scale, h_scale, info, src, dst);        \
  }

FOR_FLOATS(UPSAMPLE)
UPSAMPLE(u8)
UPSAMPLE(u32)
