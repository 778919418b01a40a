// How the kernels that work on rows read and write them. A row is n elements
// that lie together; thread `first` of `step` takes every step-th piece of it,
// of 16 bytes where the row is aligned for that. kernels/cuda/row.h offers the
// same.
#pragma once

#include "index.h"

// each calls f(column, element) for this thread's elements, of which it has
// U pieces under way at once.
template <int U = 1, typename T, typename F>
__device__ inline void each(const T *row, int n, int first, int step, F f) {
  int col = first;
  if (aligned(row)) {
    int vecs = n / Vec<T>::size;
#pragma unroll 1
    for (int v = first; v < vecs; v += U * step) {
      Vec<T> x[U];
#pragma unroll
      for (int u = 0; u < U; u++)
        if (v + u * step < vecs)
          x[u] = reinterpret_cast<const Vec<T> *>(row)[v + u * step];
#pragma unroll
      for (int u = 0; u < U; u++)
        if (v + u * step < vecs) {
#pragma unroll
          for (int i = 0; i < Vec<T>::size; i++)
            f((v + u * step) * Vec<T>::size + i, x[u].at[i]);
        }
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

// A thread's part of a row that the block holds in registers: up to K pieces
// of 16 bytes.
template <typename T, int K> struct Held {
  static constexpr int size = Vec<T>::size;
  Vec<T> at[K];
  int pieces, first, step; // of the row

  // Whether rows that start at row and out can be held by step threads.
  static __device__ inline bool fits(const T *row, const T *out, int n,
                                     int step) {
    return aligned(row) && aligned(out) && n % size == 0 &&
           n / size <= K * step;
  }

  __device__ inline Held(const T *row, int n, int first, int step)
      : pieces(n / size), first(first), step(step) {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k))
        at[k] = reinterpret_cast<const Vec<T> *>(row)[first + k * step];
  }

  __device__ inline bool has(int k) const { return first + k * step < pieces; }

  // each calls f(k, i, element i of piece k).
  template <typename F> __device__ inline void each(F f) const {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k)) {
#pragma unroll
        for (int i = 0; i < size; i++)
          f(k, i, at[k].at[i]);
      }
  }

  // store writes f(k, place of the piece in the row) for each piece k.
  template <typename F> __device__ inline void store(T *out, F f) const {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k))
        reinterpret_cast<Vec<T> *>(out)[first + k * step] =
            f(k, first + k * step);
  }
};
