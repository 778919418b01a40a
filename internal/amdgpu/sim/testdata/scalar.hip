// Scalar stores and atomics, and loads that go straight to shared memory:
// what only gfx90a has, or all have in forms of their own, is in assembly.
// Compiled by build.sh.
#define KERNEL extern "C" __global__ void
#include <hip/hip_runtime.h>

#ifdef __gfx90a__
static __device__ void sstore(int* p, int v) {
  asm volatile("s_store_dword %1, %0, 0x0\n s_dcache_wb\n s_waitcnt lgkmcnt(0)" ::"s"(p), "s"(v) : "memory");
}
static __device__ int sadd(int* p, int v) {
  asm volatile("s_atomic_add %0, %1, 0x0 glc\n s_waitcnt lgkmcnt(0)" : "+s"(v) : "s"(p) : "memory");
  return v;
}
static __device__ void sadd64(void* p, long v) { asm volatile("s_atomic_add_x2 %1, %0, 0x0\n s_waitcnt lgkmcnt(0)" ::"s"(p), "s"(v) : "memory"); }

// One element for each block.
KERNEL good_scalar_store(const int* x, int* out) { sstore(out + blockIdx.x, x[blockIdx.x] + 5); }
KERNEL bad_scalar_store(const int* x, int* out) { sstore(out + blockIdx.x + 1, x[blockIdx.x] + 5); }
// All blocks store to one element.
KERNEL bad_scalar_race(const int* x, int* out) { sstore(out, blockIdx.x); }
// They add to it.
KERNEL good_scalar_atomic(const int* x, int* out) { sadd(out, x[blockIdx.x]); }
KERNEL bad_scalar_atomic(const int* x, int* out) { sadd(out + 4 - blockIdx.x / 3, x[blockIdx.x]); }
KERNEL bad_scalar_misaligned(const int* x, int* out) { sadd64(out + 1, 7); }
KERNEL good_scalar_misaligned(const int* x, int* out) { sadd64(out + 2, 7); }
// The first element of out was never written.
KERNEL bad_scalar_uninit(const int* x, int* out) { sstore(out + 1, out[0]); }
KERNEL bad_scalar_result(const int* x, int* out) { sstore(out + 1, sadd(out, 3)); }
// An old value that counts the blocks.
KERNEL good_scalar_result(int* count, int* out) { sstore(out + sadd(count, 1), 7); }
#endif

// Loads to shared memory: lane after lane from the address in M0.
static __device__ void toShared(const int* p, int offset, int m0) {
#ifdef __gfx1100__
  typedef unsigned u4 __attribute__((ext_vector_type(4)));
  unsigned long a = (unsigned long)p;
  u4 r = {(unsigned)a, (unsigned)(a >> 32), ~0u, 0x31004000};
  asm volatile("s_mov_b32 m0, %2\n s_nop 0\n buffer_load_lds_b32 %0, %1, 0 offen\n s_waitcnt vmcnt(0)" ::"v"(offset), "s"(r), "s"(m0) : "memory");
#else
  asm volatile("s_mov_b32 m0, %1\n s_nop 0\n global_load_dword %0, off lds\n s_waitcnt vmcnt(0)" ::"v"((const char*)p + offset), "s"(m0) : "memory");
#endif
}
// Each wave its part; read by another after the barrier.
KERNEL good_to_shared(const int* x, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x, w = __builtin_amdgcn_readfirstlane(t);
  toShared(x, 4 * t, (int)(unsigned)(unsigned long)(__attribute__((address_space(3))) int*)s + 4 * w);
  __syncthreads();
  out[t] = s[255 - t];
}
KERNEL bad_to_shared(const int* x, int* out) { // without the barrier
  __shared__ int s[256];
  int t = threadIdx.x, w = __builtin_amdgcn_readfirstlane(t);
  toShared(x, 4 * t, (int)(unsigned)(unsigned long)(__attribute__((address_space(3))) int*)s + 4 * w);
  out[t] = s[255 - t];
}
KERNEL bad_to_shared_past(const int* x, int* out) { // all waves one element too far
  __shared__ int s[256];
  int t = threadIdx.x, w = __builtin_amdgcn_readfirstlane(t);
  toShared(x, 4 * t, (int)(unsigned)(unsigned long)(__attribute__((address_space(3))) int*)s + 4 * w + 4);
  __syncthreads();
  out[t] = s[(t + 1) & 255];
}
KERNEL bad_to_shared_from(const int* x, int* out) { // reads past the end
  __shared__ int s[256];
  int t = threadIdx.x, w = __builtin_amdgcn_readfirstlane(t);
  toShared(x, 4 * t + 4, (int)(unsigned)(unsigned long)(__attribute__((address_space(3))) int*)s + 4 * w);
  __syncthreads();
  out[t] = s[255 - t];
}
