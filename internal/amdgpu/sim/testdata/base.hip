// Kernels of the interpreter's own tests. build.sh compiles them.
#include <hip/hip_runtime.h>

extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Sum of each block's slice, by a tree in LDS. The block is 256 threads.
extern "C" __global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// As block_sum, in dynamic LDS.
extern __shared__ float dyn[];
extern "C" __global__ void block_sum_dyn(const float* x, float* out, int n) {
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  dyn[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) dyn[t] += dyn[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = dyn[0];
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1u);
}

extern "C" __global__ void atomics(unsigned* u, int* s, float* f, unsigned long long* d, unsigned* old) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  old[i] = atomicAdd(&u[0], 1u);
  atomicSub(&u[1], 1u);
  atomicMax(&u[2], i * 7 % 61);
  atomicMin(&u[3], i * 7 % 61 + 5);
  atomicOr(&u[4], 1u << (i & 31));
  atomicAnd(&u[5], ~(1u << (i & 7)));
  atomicXor(&u[6], i);
  atomicExch(&u[7], 9u);
  __builtin_amdgcn_atomic_inc32(&u[8], 9u, __ATOMIC_RELAXED, "agent");
  __builtin_amdgcn_atomic_dec32(&u[9], 9u, __ATOMIC_RELAXED, "agent");
  atomicCAS(&u[10 + (i & 3)], 0u, i + 1);
  atomicMax(&s[0], (int)i - 40);
  atomicMin(&s[1], 3 - (int)i);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0x100000001ull);
  atomicMax(d + 1, (unsigned long long)i << 33);
}

// A private array with a run-time index lives in scratch.
extern "C" __global__ void scratch(const int* idx, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int a[37];
  for (int j = 0; j < 37; j++) a[j] = i * 100 + j;
  if (i < n) out[i] = a[idx[i]] + a[36 - idx[i]];
}

__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void calls(int* out) { out[threadIdx.x] = fib(threadIdx.x & 7); }

// Generic pointers: the compiler cannot tell LDS from global memory here.
__device__ __attribute__((noinline)) int load(const int* p) { return *p; }
extern "C" __global__ void generic(const int* x, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int priv[4];
  for (int j = 0; j < 4; j++) priv[j] = t + j;
  s[t] = 1000 + t;
  __syncthreads();
  out[t] = load(t & 1 ? &s[63 - t] : &x[t]) + load(&priv[t & 3]);
}

__constant__ int table[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ int counter = 5;
__device__ int* pointer = &counter;
extern "C" __global__ void globals(int* out) {
  int t = threadIdx.x;
  out[t] = table[t & 7] * *pointer;
}

// Which block, which thread, of how many: every launch parameter.
extern "C" __global__ void ids(unsigned* out) {
  unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned* o = out + 12 * (b * (blockDim.x * blockDim.y * blockDim.z) + t);
  o[0] = threadIdx.x; o[1] = threadIdx.y; o[2] = threadIdx.z;
  o[3] = blockIdx.x; o[4] = blockIdx.y; o[5] = blockIdx.z;
  o[6] = blockDim.x; o[7] = blockDim.y; o[8] = blockDim.z;
  o[9] = gridDim.x; o[10] = gridDim.y; o[11] = gridDim.z;
}

// Every width of load and store, signed and unsigned.
extern "C" __global__ void widths(const unsigned char* in, unsigned char* out) {
  int t = threadIdx.x;
  const signed char* i8 = (const signed char*)in;
  const short* i16 = (const short*)in;
  const float4* f4 = (const float4*)in;
  const unsigned long long* u64 = (const unsigned long long*)in;
  ((int*)out)[t] = i8[t];
  ((int*)(out + 256))[t] = in[t];
  ((int*)(out + 512))[t] = i16[t];
  ((int*)(out + 768))[t] = ((const unsigned short*)in)[t];
  ((unsigned long long*)(out + 1024))[t] = u64[t];
  ((float4*)(out + 1536))[t] = f4[t];
  out[2560 + t] = in[63 - t];
  ((short*)(out + 2624))[t] = i16[63 - t];
}

// Wave operations: shuffles, ballots, broadcasts.
extern "C" __global__ void waveops(const int* x, int* out) {
  int t = threadIdx.x;
  int v = x[t];
  int s = v;
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor(s, d, 32);
  out[t] = s;
  out[64 + t] = __shfl(v, 5, 32);
  out[128 + t] = (int)__popcll(__ballot(v & 1));
  out[192 + t] = __any(v == 77) * 2 + __all(v >= 0);
}

extern "C" __global__ void lds_atomics(const int* x, int* out) {
  __shared__ int s[8];
  __shared__ float f;
  __shared__ unsigned long long u;
  int t = threadIdx.x;
  if (t < 8) s[t] = t == 3 ? 0x7fffffff : 0;
  if (t == 8) f = 0;
  if (t == 9) u = 0;
  __syncthreads();
  atomicAdd(&s[0], x[t]);
  atomicMax(&s[1], x[t]);
  atomicMin(&s[3], x[t]);
  atomicOr(&s[4], 1 << (t & 31));
  atomicXor(&s[5], x[t]);
  atomicAdd(&f, 1.5f);
  atomicAdd(&u, 1ull << 32);
  int old = atomicExch(&s[6], t);
  __syncthreads();
  out[16 + t] = old;
  if (t < 8) out[t] = s[t];
  if (t == 0) { out[8] = (int)f; out[9] = (int)(u >> 32); }
}
