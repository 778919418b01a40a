// Loads and stores that say what becomes of the data. kernels/cuda/stream.h
// offers the same.
#pragma once

#include "types.h"

// again: the block reads it again soon. once: nobody does, and it is the first
// to leave the caches; so a reduction leaves in the L2 what was there. kept: it
// is the last to leave the L2, of a kernel that writes as much as it reads:
// on an H200 that is 2 to 5 % faster, for what it writes leaves earlier.
enum class Use { again, once, kept };

// AMD's caches have one such choice: for data that is used once.
#ifdef __HIP_PLATFORM_NVIDIA__
typedef uint4 word4;
__device__ inline word4 read_once(const word4 *p) { return __ldcs(p); }
__device__ inline void write_once(word4 *p, word4 x) { __stcs(p, x); }
#else
typedef u32 word4 __attribute__((ext_vector_type(4)));
__device__ inline word4 read_once(const word4 *p) {
  return __builtin_nontemporal_load(p);
}
__device__ inline void write_once(word4 *p, word4 x) {
  __builtin_nontemporal_store(x, p);
}
#endif

// load reads 16 bytes.
template <Use use, typename P> __device__ inline P load(const P *p) {
  static_assert(sizeof(P) == 16, "one access");
  union {
    word4 words;
    P value;
  } x;
  if constexpr (use == Use::once) {
    x.words = read_once(reinterpret_cast<const word4 *>(p));
    return x.value;
  }
#if defined(__HIP_PLATFORM_NVIDIA__) && __CUDA_ARCH__ >= 800
  if constexpr (use == Use::kept) {
    u64 policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(x.words.x), "=r"(x.words.y), "=r"(x.words.z),
                   "=r"(x.words.w)
                 : "l"(p), "l"(policy)
                 : "memory");
    return x.value;
  }
#endif
  return *p;
}

// store_once writes what nobody reads soon.
template <typename P> __device__ inline void store_once(P *p, const P &value) {
  if constexpr (sizeof(P) == 16) {
    union {
      P value;
      word4 words;
    } x = {value};
    write_once(reinterpret_cast<word4 *>(p), x.words);
  } else {
    *p = value;
  }
}
