// Loads and stores that say what becomes of the data. kernels/hip/stream.h
// offers the same.
#pragma once

#include "types.h"

// again: the block reads it again soon. once: nobody does, and it is the first
// to leave the caches; so a reduction leaves in the L2 what was there. kept: it
// is the last to leave the L2, of a kernel that writes as much as it reads:
// on an H200 that is 2 to 5 % faster, for what it writes leaves earlier.
enum class Use { again, once, kept };

// load reads 16 bytes.
template <Use use, typename P> __device__ inline P load(const P *p) {
  static_assert(sizeof(P) == 16, "one access");
  union {
    uint4 words;
    P value;
  } x;
  if constexpr (use == Use::once) {
    x.words = __ldcs(reinterpret_cast<const uint4 *>(p));
    return x.value;
  }
#if __CUDA_ARCH__ >= 800
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
      uint4 words;
    } x = {value};
    __stcs(reinterpret_cast<uint4 *>(p), x.words);
  } else {
    *p = value;
  }
}
