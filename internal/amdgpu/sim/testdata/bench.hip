// Kernels of the interpreter's benchmarks. build.sh compiles them.
#include <hip/hip_runtime.h>

// c = a*b of n by n matrices, one thread for each element of c.
extern "C" __global__ __launch_bounds__(256) void matmul(const float* a, const float* b, float* c, int n) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0.0f;
  for (int k = 0; k < n; k++) s = fmaf(a[y * n + k], b[k * n + x], s);
  c[y * n + x] = s;
}

// The same through tiles of 16 by 16 in LDS.
extern "C" __global__ __launch_bounds__(256) void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float s = 0.0f;
  for (int k = 0; k < n; k += 16) {
    ta[ty][tx] = a[y * n + k + tx];
    tb[ty][tx] = b[(k + ty) * n + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) s = fmaf(ta[ty][i], tb[i][tx], s);
    __syncthreads();
  }
  c[y * n + x] = s;
}

extern "C" __global__ __launch_bounds__(256) void tanh_f32(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = tanhf(x[i]);
}

__device__ float block_reduce(float v, bool maximum, float* s) {
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] = maximum ? fmaxf(s[t], s[t + d]) : s[t] + s[t + d];
    __syncthreads();
  }
  v = s[0];
  __syncthreads();
  return v;
}

// A row of n for each block of 256 threads.
extern "C" __global__ __launch_bounds__(256) void softmax(const float* x, float* y, int n) {
  __shared__ float s[256];
  x += (size_t)blockIdx.x * n;
  y += (size_t)blockIdx.x * n;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += 256) m = fmaxf(m, x[i]);
  m = block_reduce(m, true, s);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) {
    float e = expf(x[i] - m);
    y[i] = e;
    sum += e;
  }
  sum = block_reduce(sum, false, s);
  float r = 1.0f / sum;
  for (int i = threadIdx.x; i < n; i += 256) y[i] *= r;
}

extern "C" __global__ __launch_bounds__(256) void rms_norm(const float* x, const float* w, float* y, int n, float eps) {
  __shared__ float s[256];
  x += (size_t)blockIdx.x * n;
  y += (size_t)blockIdx.x * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum = fmaf(x[i], x[i], sum);
  float r = 1.0f / sqrtf(block_reduce(sum, false, s) / n + eps);
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] * r * w[i];
}
