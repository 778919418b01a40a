// Images resized by taking the nearest element of the source.
//
// Elements are moved as they are, and the two factors between the sizes are
// doubles, so that the chosen index is the same everywhere.
#include "index.h"

// The source's index of output index i along a dimension of size dim. Index is
// u32 where that suffices: its conversions are quicker.
template <typename Index>
__device__ inline Index nearest(Index i, double scale, Index dim) {
  Index at = static_cast<Index>(static_cast<double>(i) * scale);
  return at < dim ? at : dim - 1;
}

// Writes lines rows of h_out elements, N elements at once. A thread stays in its
// columns, whose indices it computes once, and has several rows under way, which
// follow one another: in a larger image they have one source.
template <typename Index, int N, typename T>
__device__ inline void upsample_pieces(Index lines, Index w_out, Index h_out,
                                       double w_scale, double h_scale,
                                       const size_t *dims,
                                       const size_t *strides, const T *src,
                                       T *dst) {
  constexpr bool small = sizeof(Index) == 4;
  constexpr int rows = sizeof(T) < 4 ? 2 : 4, half = N > 1 ? N / 2 : 1;
  typedef Pack<T, N> Piece;
  typedef Pack<T, half> Half;
  Index pieces = h_out / N;
  Index channels = dims[1], w_in = dims[2], h_in = dims[3];
  Index of_batch = strides[0], of_channel = strides[1], of_w = strides[2],
        of_h = strides[3];
  if (lines == 0 || pieces == 0)
    return;
  Divider by_pieces(pieces, small), by_w(w_out, small), by_channels(channels, small);
  // The grid goes down the groups of rows so many at a time.
  size_t threads = thread_count();
  Index groups = (lines + rows - 1) / rows;
  Index sweep = threads < groups * pieces ? by_pieces(threads) : groups;
  sweep = sweep > 0 ? sweep : 1;
#pragma unroll 1
  for (size_t i = thread_index(); i < sweep * pieces; i += threads) {
    Index first = by_pieces(i), piece = static_cast<Index>(i) - first * pieces;
    Index from[N];
#pragma unroll
    for (int k = 0; k < N; k++)
      from[k] = nearest(piece * N + k, h_scale, h_in) * of_h;
    // In an image of twice the size each element of a row stands for two: those
    // of a piece are one access, if all rows keep it aligned.
    bool twice = N > 1 && (of_batch | of_channel | of_w | from[0]) % half == 0 &&
                 reinterpret_cast<size_t>(src) % sizeof(Half) == 0;
#pragma unroll
    for (int k = 0; k < N; k++)
      twice = twice && from[k] == from[0] + k / 2;
#pragma unroll 1
    for (Index row = first * rows; row < lines; row += sweep * rows) {
      Index line[rows];
#pragma unroll
      for (int t = 0; t < rows; t++) {
        Index at = row + t;
        at = at < lines ? at : lines - 1;
        Index image = by_w(at), batch = by_channels(image);
        line[t] = batch * of_batch + (image - batch * channels) * of_channel +
                  nearest(at - image * w_out, w_scale, w_in) * of_w;
      }
      Piece y[rows];
      if (twice) {
        Half x[rows];
#pragma unroll
        for (int t = 0; t < rows; t++)
          x[t] = *reinterpret_cast<const Half *>(
              src + static_cast<size_t>(line[t] + from[0]));
#pragma unroll
        for (int t = 0; t < rows; t++)
#pragma unroll
          for (int k = 0; k < N; k++)
            y[t].at[k] = x[t].at[k / 2];
      } else {
#pragma unroll
        for (int t = 0; t < rows; t++)
#pragma unroll
          for (int k = 0; k < N; k++)
            y[t].at[k] = src[static_cast<size_t>(line[t] + from[k])];
      }
#pragma unroll
      for (int t = 0; t < rows; t++)
        if (row + t < lines)
          reinterpret_cast<Piece *>(
              dst)[static_cast<size_t>(row + t) * pieces + piece] = y[t];
    }
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
  size_t lines = dims[0] * dims[1] * w_out, past = 0;
#pragma unroll
  for (int d = 0; d < 4; d++)
    past += dims[d] * strides[d];
  if ((lines * h_out | past) >> 29)
    upsample_pieces<size_t, 1>(lines, w_out, h_out, w_scale, h_scale, dims,
                               strides, src, dst);
  else if (aligned(dst) && h_out % n == 0)
    upsample_pieces<u32, n>(lines, w_out, h_out, w_scale, h_scale, dims,
                            strides, src, dst);
  else
    upsample_pieces<u32, 1>(lines, w_out, h_out, w_scale, h_scale, dims,
                            strides, src, dst);
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
