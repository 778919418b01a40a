// How the kernels that work on rows read and write them. A row is n elements
// that lie together; thread `first` of `step` takes every step-th piece of it,
// of 16 bytes where the row is aligned for that. kernels/cuda/row.h offers the
// same.
#pragma once

#include "index.h"

// each calls f(column, element) for this thread's elements.
template <typename T, typename F>
__device__ inline void each(const T *row, int n, int first, int step, F f) {
  int col = first;
  if (aligned(row)) {
    int vecs = n / Vec<T>::size;
#pragma unroll 1
    for (int v = first; v < vecs; v += step) {
      Vec<T> x = reinterpret_cast<const Vec<T> *>(row)[v];
#pragma unroll
      for (int i = 0; i < Vec<T>::size; i++)
        f(v * Vec<T>::size + i, x.at[i]);
    }
    col += vecs * Vec<T>::size;
  }
#pragma unroll 1
  for (; col < n; col += step)
    f(col, row[col]);
}

// map_row writes out[column] = f(column, row[column]).
template <typename T, typename F>
__device__ inline void map_row(const T *row, T *out, int n, int first, int step,
                               F f) {
  int col = first;
  if (aligned(row) && aligned(out)) {
    int vecs = n / Vec<T>::size;
#pragma unroll 1
    for (int v = first; v < vecs; v += step) {
      Vec<T> x = reinterpret_cast<const Vec<T> *>(row)[v];
#pragma unroll
      for (int i = 0; i < Vec<T>::size; i++)
        x.at[i] = f(v * Vec<T>::size + i, x.at[i]);
      reinterpret_cast<Vec<T> *>(out)[v] = x;
    }
    col += vecs * Vec<T>::size;
  }
#pragma unroll 1
  for (; col < n; col += step)
    out[col] = f(col, row[col]);
}
