// How the kernels that work on rows read and write them. A row is n elements
// that lie together; thread `first` of `step` takes every step-th piece of it,
// of 16 bytes where the row is aligned for that.
#pragma once

#include "index.h"
#include "stream.h"

// The unsigned integer of so many bytes.
template <int Bytes> struct Bits;
template <> struct Bits<1> { typedef u8 type; };
template <> struct Bits<2> { typedef unsigned short type; };
template <> struct Bits<4> { typedef u32 type; };
template <> struct Bits<8> { typedef u64 type; };

// 16 bytes of elements as the registers have them. A half is taken out of its
// word where it is used; by itself it would take a register.
template <typename T> struct alignas(16) Words {
  static constexpr int size = 16 / sizeof(T);
  typedef typename Bits<sizeof(T)>::type B;
  u32 word[4];

  __device__ inline T operator[](int i) const {
    union {
      B bits;
      T value;
    } x;
    if constexpr (sizeof(T) == 8) {
      x.bits = word[2 * i] | static_cast<u64>(word[2 * i + 1]) << 32;
    } else {
      constexpr int each = 4 / sizeof(T);
      x.bits = static_cast<B>(word[i / each] >> (i % each * 8 * sizeof(T)));
    }
    return x.value;
  }

  // put sets element i, after those before it in its word.
  __device__ inline void put(int i, T value) {
    union {
      T value;
      B bits;
    } x = {value};
    if constexpr (sizeof(T) == 8) {
      word[2 * i] = static_cast<u32>(x.bits);
      word[2 * i + 1] = static_cast<u32>(x.bits >> 32);
    } else {
      constexpr int each = 4 / sizeof(T);
      u32 in = static_cast<u32>(x.bits) << (i % each * 8 * sizeof(T));
      word[i / each] = i % each == 0 ? in : word[i / each] | in;
    }
  }

  static __device__ inline Words all(T value) {
    Words x;
#pragma unroll
    for (int i = 0; i < size; i++)
      x.put(i, value);
    return x;
  }
};

template <typename T>
__device__ inline const Words<T> *words_at(const T *row, int piece) {
  return reinterpret_cast<const Words<T> *>(row) + piece;
}

// each calls f(column, element) for this thread's elements, of which it has
// U pieces under way at once.
template <int U = 1, Use use = Use::again, typename T, typename F>
__device__ inline void each(const T *row, int n, int first, int step, F f) {
  constexpr int size = Words<T>::size;
  int col = first;
  if (aligned(row)) {
    int vecs = n / size, v = first;
    auto take = [&](const Words<T> &x, int piece) {
#pragma unroll
      for (int i = 0; i < size; i++)
        f(piece * size + i, x[i]);
    };
#pragma unroll 1
    for (; U > 1 && v + (U - 1) * step < vecs; v += U * step) {
      Words<T> x[U];
#pragma unroll
      for (int u = 0; u < U; u++)
        x[u] = load<use>(words_at(row, v + u * step));
#pragma unroll
      for (int u = 0; u < U; u++)
        take(x[u], v + u * step);
    }
#pragma unroll 1
    for (; v < vecs; v += step)
      take(load<use>(words_at(row, v)), v);
    col += vecs * size;
  }
#pragma unroll 1
  for (; col < n; col += step)
    f(col, row[col]);
}

// map_row writes out[column] = f(column, row[column]).
template <typename T, typename F>
__device__ inline void map_row(const T *row, T *out, int n, int first, int step,
                               F f) {
  constexpr int size = Words<T>::size;
  int col = first;
  if (aligned(row) && aligned(out)) {
    int vecs = n / size;
#pragma unroll 1
    for (int v = first; v < vecs; v += step) {
      Words<T> x = *words_at(row, v), y;
#pragma unroll
      for (int i = 0; i < size; i++)
        y.put(i, f(v * size + i, x[i]));
      reinterpret_cast<Words<T> *>(out)[v] = y;
    }
    col += vecs * size;
  }
#pragma unroll 1
  for (; col < n; col += step)
    out[col] = f(col, row[col]);
}

// A thread's part of a row that the block holds in registers: K pieces of 16
// bytes, or up to K where the row is not whole.
template <typename T, int K, bool whole> struct Held {
  static constexpr int count = K, size = Words<T>::size;
  Words<T> at[K];
  int pieces, first, step; // of the row

  __device__ inline bool has(int k) const {
    return whole || first + k * step < pieces;
  }

  template <Use use> __device__ inline void read(const T *row) {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k))
        at[k] = load<use>(words_at(row, first + k * step));
  }

  // each calls f(k, i, element i of piece k).
  template <typename F> __device__ inline void each(F f) const {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k)) {
#pragma unroll
        for (int i = 0; i < size; i++)
          f(k, i, at[k][i]);
      }
  }

  // scan calls f(column, element).
  template <typename F> __device__ inline void scan(F f) const {
    each([&](int k, int i, T e) { f((first + k * step) * size + i, e); });
  }

  // store writes f(k, place of the piece in the row) for each piece k.
  template <typename F> __device__ inline void store(T *out, F f) const {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (has(k))
        reinterpret_cast<Words<T> *>(out)[first + k * step] =
            f(k, first + k * step);
  }
};

// hold calls f, an object for rows of any Held, with the row in registers, and
// tells whether the block could hold it so: up to four pieces a thread, all of
// 16 bytes.
template <Use use, int K, bool whole, typename T, typename F>
__device__ inline void hold(const T *row, int pieces, int first, int step,
                            F &f) {
  Held<T, K, whole> held;
  held.pieces = pieces;
  held.first = first;
  held.step = step;
  held.template read<use>(row);
  f(held);
}
template <Use use, typename T, typename F>
__device__ inline bool hold(const T *row, int n, int first, int step, F &f) {
  int pieces = n / Words<T>::size;
  if (!aligned(row) || n % Words<T>::size != 0 || pieces > 4 * step)
    return false;
  if (pieces == step)
    hold<use, 1, true>(row, pieces, first, step, f);
  else if (pieces == 2 * step)
    hold<use, 2, true>(row, pieces, first, step, f);
  else if (pieces == 4 * step)
    hold<use, 4, true>(row, pieces, first, step, f);
  else
    hold<use, 4, false>(row, pieces, first, step, f);
  return true;
}
