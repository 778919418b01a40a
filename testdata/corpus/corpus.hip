// Kernels of our own that exercise what compilers make of HIP: math
// functions of every type, and the constructs that lower to unusual
// instructions. internal/amdgpu/sim runs them at -O0, -O3 and -ffast-math.
//
// Every kernel has the parameters (x, y, n): n elements of input, n of
// output, launched with blocks of 128 threads.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Float16 f16;

#define INDEX                                                                  \
  int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
  if (i >= n)                                                                  \
    return;

// y[i] = expression of v = x[i].
#define MAP(name, T, expression)                                               \
  extern "C" __global__ void name(const T *x, T *y, int n) {                   \
    INDEX T v = x[i];                                                          \
    y[i] = expression;                                                         \
  }

#define MATH(name)                                                             \
  MAP(name##_f32, float, name##f(v))                                           \
  MAP(name##_f64, double, name(v))

MATH(exp)
MATH(exp2)
MATH(expm1)
MATH(log)
MATH(log2)
MATH(log10)
MATH(log1p)
MATH(sin)
MATH(cos)
MATH(tan)
MATH(sinh)
MATH(cosh)
MATH(tanh)
MATH(erf)
MATH(erfc)
MATH(cbrt)
MATH(rsqrt)
MATH(sqrt)
MATH(lgamma)
MAP(pow_f32, float, powf(fabsf(v), 2.7182818f))
MAP(pow_f64, double, pow(fabs(v), 2.7182818))
MAP(div_f32, float, v / 3.1f)
MAP(div_f64, double, v / 3.1)
MAP(rcp_f16, f16, (f16)1 / v)

extern "C" __device__ f16 __ocml_exp_f16(f16);
extern "C" __device__ f16 __ocml_log_f16(f16);
extern "C" __device__ f16 __ocml_sin_f16(f16);
extern "C" __device__ f16 __ocml_cos_f16(f16);
extern "C" __device__ f16 __ocml_sqrt_f16(f16);
extern "C" __device__ f16 __ocml_tanh_f16(f16);
MAP(exp_f16, f16, __ocml_exp_f16(v))
MAP(log_f16, f16, __ocml_log_f16(v))
MAP(sin_f16, f16, __ocml_sin_f16(v))
MAP(cos_f16, f16, __ocml_cos_f16(v))
MAP(sqrt_f16, f16, __ocml_sqrt_f16(v))
MAP(tanh_f16, f16, __ocml_tanh_f16(v))

// What follows is exact: integers, or floats that no rounding touches.

// Two half2 operations on pairs; n is even.
extern "C" __global__ void half2_f16(const __half2 *x, __half2 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2)
    return;
  y[i] = __hadd2(x[i], x[i]);
}

// Through bf16 and back: the upper half of the float, rounded to even.
MAP(bf16_u32, u32, ((v + 0x7fff + ((v >> 16) & 1)) >> 16) << 16)

MAP(divmod_u32, u32, v / 7919u + v % (u32)(i + 3))
MAP(divmod_i32, int, v / (i % 2 ? -37 : 41) + v % (i + 5))
MAP(div_u64, u64, v / (u64)(i * 1000003ull + 17))
MAP(div_i64, long long, v / ((i % 3) - 7ll) + v % 1000000007ll)
MAP(mulhi_u64, u64, __umul64hi(v, v * 0x9e3779b97f4a7c15ull))
MAP(bits_u32, u32,
    __popc(v) + 100 * __clz(v) + 10000 * __ffs(v) + 1000000 * (__brev(v) & 63))
MAP(bits_u64, u64, __popcll(v) + 100ull * __clzll(v) + 10000ull * __ffsll(v))
MAP(shift_u64, u64, (v << (i & 63)) ^ (v >> (i * 7 & 63)))
MAP(rotate_u32, u32, (v << (i & 31)) | (v >> ((32 - (i & 31)) & 31)))
MAP(toint_f32, float, (float)(int)fminf(fmaxf(v, -1e6f), 1e6f))
MAP(floor_f32, float,
    floorf(v) + 4 * ceilf(v) + 16 * truncf(v) + 64 * rintf(v))
MAP(round_f64, double,
    floor(v) + 4 * ceil(v) + 16 * trunc(v) + 64 * rint(v))
MAP(fmod_f32, float, fmodf(v, 0.75f))
MAP(minmax_f32, float, fminf(fmaxf(v, -0.5f), 0.25f))
MAP(copysign_f32, float, copysignf(2.0f, v))

// A switch that becomes a jump table or a tree of branches.
extern "C" __global__ void switch_u32(const u32 *x, u32 *y, int n) {
  INDEX u32 v = x[i], r;
  switch (v % 9) {
  case 0: r = v + 1; break;
  case 1: r = v * 3; break;
  case 2: r = v ^ 0x55; break;
  case 3: r = v >> 3; break;
  case 4: r = ~v; break;
  case 5: r = v - 99; break;
  case 6: r = v * v; break;
  case 7: r = v | 7; break;
  default: r = 0;
  }
  y[i] = r;
}

// Lanes leave the loop at different times.
extern "C" __global__ void collatz_u32(const u32 *x, u32 *y, int n) {
  INDEX u64 v = x[i] % 1000 + 1;
  u32 steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v >> 1;
    ++steps;
  }
  y[i] = steps;
}

__device__ __attribute__((noinline)) u32 ackermann_like(u32 a, u32 b) {
  return b == 0 ? a + 1 : ackermann_like(a * 2 + 1, b - 1) ^ b;
}

// A recursive call: a stack in scratch.
extern "C" __global__ void recursion_u32(const u32 *x, u32 *y, int n) {
  INDEX y[i] = ackermann_like(x[i], x[i] % 6);
}

__device__ __attribute__((noinline)) u32 twice(u32 v) { return 2 * v; }
__device__ __attribute__((noinline)) u32 square(u32 v) { return v * v; }

// A call through a pointer that differs between lanes.
extern "C" __global__ void indirect_u32(const u32 *x, u32 *y, int n) {
  INDEX u32 (*volatile f)(u32) = x[i] & 1 ? twice : square;
  y[i] = f(x[i]);
}

// A local array indexed by data: scratch, or dynamic register indexing.
extern "C" __global__ void scratch_u32(const u32 *x, u32 *y, int n) {
  INDEX u32 a[32];
  for (int k = 0; k < 32; ++k)
    a[k] = x[(i + k) % n] + k;
  u32 at = x[i] % 32, sum = 0;
  a[at] = 12345;
  for (int k = 0; k < 32; ++k)
    sum = sum * 31 + a[(at + k) % 32];
  y[i] = sum;
}

// Sums of a block through shared memory; every thread writes the sum.
extern "C" __global__ void block_sum_u32(const u32 *x, u32 *y, int n) {
  __shared__ u32 s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (threadIdx.x < k)
      s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (i < n)
    y[i] = s[0];
}

// The same in dynamic shared memory, by a scan.
extern "C" __global__ void scan_u32(const u32 *x, u32 *y, int n) {
  extern __shared__ u32 dyn[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dyn[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 1; k < blockDim.x; k *= 2) {
    u32 v = threadIdx.x >= k ? dyn[threadIdx.x - k] : 0;
    __syncthreads();
    dyn[threadIdx.x] += v;
    __syncthreads();
  }
  if (i < n)
    y[i] = dyn[threadIdx.x];
}

// Sums of 32 lanes by shuffles, right on waves of 32 and of 64.
extern "C" __global__ void shuffle_u32(const u32 *x, u32 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 v = i < n ? x[i] : 0;
  for (int k = 16; k > 0; k /= 2)
    v += __shfl_xor(v, k, 32);
  if (i < n)
    y[i] = v;
}

extern "C" __global__ void shuffle_f64(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v = i < n ? x[i] : 0;
  double w = __shfl_down(v, 1, 32) - __shfl_up(v, 1, 32) + __shfl(v, 5, 32);
  if (i < n)
    y[i] = w;
}

// Votes, of the 32 lanes that a thread belongs to.
extern "C" __global__ void ballot_u32(const u32 *x, u32 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  u64 b = __ballot(i < n && x[i] & 1);
  u32 half = warpSize == 64 && threadIdx.x & 32 ? b >> 32 : b;
  if (i < n)
    y[i] = half ^ (u32)(__any(x[i] == 0) + 2 * __all(i >= 0));
}

// Adds that meet in memory; y is zero before the launch.
extern "C" __global__ void atomic_u32(const u32 *x, u32 *y, int n) {
  INDEX atomicAdd(&y[x[i] % 16], 1u);
  atomicMax(&y[16 + x[i] % 8], x[i]);
  atomicXor(&y[24], x[i]);
  atomicOr(&y[25], x[i] & 0xff0);
}

extern "C" __global__ void atomic_u64(const u64 *x, u64 *y, int n) {
  INDEX atomicAdd(&y[x[i] % 16], x[i]);
  atomicMin(&y[16], ~x[i]);
}

// Small integers, so that the order of the sums does not matter.
extern "C" __global__ void atomic_f32(const float *x, float *y, int n) {
  INDEX atomicAdd(&y[i % 7], rintf(x[i] * 16));
}

// A lock-free maximum of doubles by compare and swap.
extern "C" __global__ void cas_f64(const double *x, double *y, int n) {
  INDEX u64 *p = (u64 *)&y[i % 3];
  u64 old = *(volatile u64 *)p;
  while (__longlong_as_double(old) < x[i]) {
    u64 seen = atomicCAS(p, old, __double_as_longlong(x[i]));
    if (seen == old)
      break;
    old = seen;
  }
}

// A histogram in shared memory.
extern "C" __global__ void histogram_u32(const u32 *x, u32 *y, int n) {
  __shared__ u32 bins[32];
  if (threadIdx.x < 32)
    bins[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] % 32], 1u);
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}

// Bytes and halves at odd places.
extern "C" __global__ void bytes_u32(const u32 *x, u32 *y, int n) {
  INDEX const unsigned char *b = (const unsigned char *)x;
  const unsigned short *h = (const unsigned short *)x;
  unsigned char *out = (unsigned char *)&y[i];
  out[0] = b[(4 * i + 5) % (4 * n)];
  out[1] = (signed char)b[4 * i + 1] >> 2;
  *(unsigned short *)(out + 2) = h[(2 * i + 3) % (2 * n)] * 3;
}

// 16-byte accesses.
extern "C" __global__ void vec_u32(const uint4 *x, uint4 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4)
    return;
  uint4 v = x[i];
  y[i] = {v.w, v.z ^ v.x, v.y + 1, v.x};
}

// A transposition of tiles through shared memory.
extern "C" __global__ void transpose_u32(const u32 *x, u32 *y, int n) {
  __shared__ u32 t[8][17];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = threadIdx.x / 16, c = threadIdx.x % 16;
  t[r][c] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    y[i] = t[threadIdx.x % 8][threadIdx.x / 8];
}

// A bitonic sort of each block.
extern "C" __global__ void sort_u32(const u32 *x, u32 *y, int n) {
  __shared__ u32 s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  s[t] = i < n ? x[i] : ~0u;
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int p = t ^ j;
      if (p > t && ((t & k) == 0) == (s[t] > s[p])) {
        u32 v = s[t];
        s[t] = s[p];
        s[p] = v;
      }
      __syncthreads();
    }
  if (i < n)
    y[i] = s[t];
}

__constant__ u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ u32 counter[4] = {10, 20, 30, 40};

// Constant and global variables of the module.
MAP(globals_u32, u32, v * table[v % 16] + counter[i % 4])

// Three dimensions: only the first block row has a y or a z.
MAP(ids_u32, u32,
    v + 1000 * threadIdx.x + 100000 * blockIdx.x + blockDim.x + gridDim.x +
        threadIdx.y + blockDim.y + gridDim.z)
