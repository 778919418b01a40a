// One planted defect per pair of kernels: bad_X has it, good_X does not.
// check_test.go says what must be found.
#include <hip/hip_runtime.h>
#define KERNEL extern "C" __global__ void
#define GID (blockIdx.x * blockDim.x + threadIdx.x)

// Out of bounds.
KERNEL bad_load_past(const float* x, float* out, int n) { int i = GID; if (i <= n) out[i] = x[i]; }
KERNEL good_load_past(const float* x, float* out, int n) { int i = GID; if (i < n) out[i] = x[i]; }
KERNEL bad_load_before(const float* x, float* out, int n) { int i = GID; if (i < n) out[i] = x[i - 1]; }
KERNEL good_load_before(const float* x, float* out, int n) { int i = GID; if (i < n) out[i] = i ? x[i - 1] : 0; }
KERNEL bad_store_past(const float* x, float* out, int n) { int i = GID; if (i < n) out[i + 1] = x[i]; }
KERNEL good_store_past(const float* x, float* out, int n) { int i = GID; if (i < n) out[i] = x[i]; }
KERNEL bad_atomic_past(const int* x, int* out, int n) { int i = GID; if (i < n) atomicAdd(&out[x[i] + n], 1); }
KERNEL good_atomic_past(const int* x, int* out, int n) { int i = GID; if (i < n) atomicAdd(&out[x[i] % n], 1); }
KERNEL bad_null(const float* x, float* out, int n) { const float* p = n ? nullptr : x; int i = GID; if (i < n) out[i] = p[i]; }
KERNEL good_null(const float* x, float* out, int n) { const float* p = n ? x : nullptr; int i = GID; if (i < n) out[i] = p[i]; }
KERNEL bad_stride(const float* x, float* out, int rows, int cols) { int i = GID; if (i < rows * cols) out[i] = x[(i / cols) * cols * 2 + i % cols]; }
KERNEL good_stride(const float* x, float* out, int rows, int cols) { int i = GID; if (i < rows * cols) out[i] = x[(i / cols) * cols + i % cols]; }
KERNEL bad_lds_load(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); out[t] = s[x[t] + 1];
}
KERNEL good_lds_load(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); out[t] = s[x[t]];
}
KERNEL bad_lds_store(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[x[t] + 1] = t; __syncthreads(); out[t] = t ? s[t] : 0;
}
KERNEL good_lds_store(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[x[t]] = t; __syncthreads(); out[t] = s[t];
}
extern __shared__ int dyn[];
KERNEL bad_lds_dynamic(const int* x, int* out) { int t = threadIdx.x; dyn[t + 1] = x[t]; __syncthreads(); out[t] = t ? dyn[t] : 0; }
KERNEL good_lds_dynamic(const int* x, int* out) { int t = threadIdx.x; dyn[t] = x[t]; __syncthreads(); out[t] = dyn[t]; }
KERNEL bad_scratch(const int* x, int* out) {
  int t = threadIdx.x; volatile int a[64]; for (int j = 0; j < 64; j++) a[j] = j; out[t] = a[x[t] + 4000];
}
KERNEL good_scratch(const int* x, int* out) {
  int t = threadIdx.x; volatile int a[64]; for (int j = 0; j < 64; j++) a[j] = j; out[t] = a[x[t] & 63];
}

// Uninitialised.
KERNEL bad_uninit_lds(const float* x, float* out) { // half of the slots are filled
  __shared__ float s[64]; int t = threadIdx.x;
  if (t < 32) s[t] = x[t];
  __syncthreads();
  float v = 0; for (int j = 0; j < 64; j++) v += s[j];
  out[t] = v;
}
KERNEL good_uninit_lds(const float* x, float* out) {
  __shared__ float s[64]; int t = threadIdx.x;
  if (t < 64) s[t] = t < 32 ? x[t] : 0;
  __syncthreads();
  float v = 0; for (int j = 0; j < 64; j++) v += s[j];
  out[t] = v;
}
KERNEL bad_uninit_global(float* tmp, float* out, int n) { int i = GID; if (i < n) out[i] = tmp[i] + 1; }
KERNEL good_uninit_global(float* tmp, float* out, int n) { int i = GID; if (i < n) { tmp[i] = i; out[i] = tmp[i] + 1; } }
KERNEL bad_uninit_register(int* out) { int v; asm volatile("" : "=v"(v)); out[threadIdx.x] = v; }
KERNEL good_uninit_register(int* out) { int v; asm volatile("v_mov_b32 %0, 7" : "=v"(v)); out[threadIdx.x] = v; }
KERNEL bad_uninit_branch(const int* x, int* out) {
  __shared__ int s[128]; int t = threadIdx.x; if (t & 1) s[t] = x[t]; __syncthreads();
  if (s[t] > 3) out[t] = 1; else out[t + 128] = 2;
}
KERNEL good_uninit_branch(const int* x, int* out) {
  __shared__ int s[128]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
  if (s[t] > 3) out[t] = 1; else out[t + 128] = 2;
}
KERNEL bad_uninit_address(const int* x, int* out) {
  __shared__ int s[128]; int t = threadIdx.x; if (t != 5) s[t] = t; __syncthreads();
  out[t] = x[s[t] & 127];
}
KERNEL good_uninit_address(const int* x, int* out) {
  __shared__ int s[128]; int t = threadIdx.x; s[t] = t; __syncthreads();
  out[t] = x[s[t] & 127];
}
KERNEL bad_uninit_half(const short* x, short* out) { // a 16-bit half nobody filled
  __shared__ short s[128]; int t = threadIdx.x; if (t != 9) s[t] = x[t]; __syncthreads();
  out[t] = s[127 - t];
}
KERNEL good_uninit_half(const short* x, short* out) {
  __shared__ short s[128]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
  out[t] = s[127 - t];
}
KERNEL bad_uninit_scratch(const int* x, int* out) {
  int t = threadIdx.x; volatile int a[16]; for (int j = 0; j < 15; j++) a[j] = j; out[t] = a[x[t] & 15];
}
KERNEL good_uninit_scratch(const int* x, int* out) {
  int t = threadIdx.x; volatile int a[16]; for (int j = 0; j < 16; j++) a[j] = j; out[t] = a[x[t] & 15];
}

// Races.
KERNEL bad_race_barrier(const int* x, int* out) { // no barrier before the neighbour is read
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; out[t] = s[255 - t];
}
KERNEL good_race_barrier(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads(); out[t] = s[255 - t];
}
KERNEL bad_race_reuse(const int* x, int* out) { // the second barrier of each round is missing
  __shared__ int s[256]; int t = threadIdx.x, v = 0;
  for (int k = 0; k < 4; k++) { s[t] = x[t] + k; __syncthreads(); v += s[(t + 77) & 255]; }
  out[t] = v;
}
KERNEL good_race_reuse(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x, v = 0;
  for (int k = 0; k < 4; k++) { s[t] = x[t] + k; __syncthreads(); v += s[(t + 77) & 255]; __syncthreads(); }
  out[t] = v;
}
KERNEL bad_race_blocks(const int* x, int* out) { int i = GID; out[i & 63] += x[i]; }
KERNEL good_race_blocks(const int* x, int* out) { int i = GID; atomicAdd(&out[i & 63], x[i]); }
KERNEL bad_race_global(const int* x, int* tmp, int* out) { int t = threadIdx.x; tmp[t] = x[t]; __threadfence(); out[t] = tmp[255 - t]; }
KERNEL good_race_global(const int* x, int* tmp, int* out) { int t = threadIdx.x; tmp[t] = x[t]; __syncthreads(); out[t] = tmp[255 - t]; }
KERNEL bad_race_lanes(const int* x, int* out) { int t = threadIdx.x; out[t >> 1] = x[t]; }
KERNEL good_race_lanes(const int* x, int* out) { int t = threadIdx.x; if (!(t & 1)) out[t >> 1] = x[t]; }
KERNEL bad_race_atomic(int* out) { int i = GID; atomicAdd(&out[0], 1); if (i == 300) out[0] = 5; }
KERNEL good_race_atomic(int* out) { int i = GID; atomicAdd(&out[0], 1); if (i == 300) atomicExch(&out[0], 5); }
// Reading what others still add to lacks a barrier.
KERNEL bad_race_read(const int* x, int* out) {
  __shared__ int s[32]; int t = threadIdx.x; if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[x[t] & 31], t);
  out[t] = s[t & 31];
}
KERNEL good_race_read(const int* x, int* out) {
  __shared__ int s[32]; int t = threadIdx.x; if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[x[t] & 31], t);
  __syncthreads();
  out[t] = s[t & 31];
}
// Loads that an atomic checks afterwards are no race: the one before a
// compare-and-swap loop, and one that saves an atomic.
KERNEL good_race_swap(const int* x, int* out) {
  int i = GID, old = out[0], seen;
  do { seen = old; old = atomicCAS(&out[0], seen, seen * 3 + x[i & 63]); } while (old != seen);
}
KERNEL bad_race_swap(const int* x, int* out) { // one thread forgets to
  int i = GID, old = out[0], seen;
  if (i == 70) { out[0] = old * 3 + x[i & 63]; return; }
  do { seen = old; old = atomicCAS(&out[0], seen, seen * 3 + x[i & 63]); } while (old != seen);
}
KERNEL good_race_saved(const int* x, int* out) { int i = GID; if (x[i & 63] > out[0]) atomicMax(&out[0], x[i & 63]); }
KERNEL good_race_float(const int* x, float* out) { int i = GID; atomicAdd(&out[i % 7], (float)x[i & 63]); }
// The last block to arrive sums what the blocks left.
KERNEL bad_race_last(const int* x, int* part, unsigned* count, int* out) {
  int t = threadIdx.x;
  if (t == 0) part[blockIdx.x] = x[blockIdx.x];
  if (blockIdx.x == gridDim.x - 1 && t == 0) { int v = 0; for (unsigned b = 0; b < gridDim.x; b++) v += part[b]; out[0] = v; }
  if (t == 0) atomicAdd(count, 1u);
}
KERNEL good_race_last(const int* x, int* part, unsigned* count, int* out) {
  int t = threadIdx.x;
  __shared__ bool last;
  if (t == 0) {
    part[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) { __threadfence(); int v = 0; for (unsigned b = 0; b < gridDim.x; b++) v += part[b]; out[0] = v; }
}
// Neighbouring bytes written by different waves are no race; the same one is.
KERNEL bad_race_bytes(const unsigned char* x, unsigned char* out) { int t = threadIdx.x; out[(t * 255 + 3) & 255] = t >= 128 ? x[t] : 1; out[t ^ 128] = 7 + (t & 15); }
KERNEL good_race_bytes(const unsigned char* x, unsigned char* out) { int t = threadIdx.x; out[(t * 255 + 3) & 255] = x[t]; }
// Every thread setting the same flag to the same value is no race.
KERNEL bad_race_flag(const int* x, int* out) { int t = threadIdx.x; if (x[t] >= 0) out[0] = t >> 6; }
KERNEL good_race_flag(const int* x, int* out) { int t = threadIdx.x; if (x[t] >= 0) out[0] = 1; }

// Barriers.
KERNEL bad_barrier_skip(const int* x, int* out) { // half of the waves go round it
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  if (t < 128) __syncthreads();
  out[t] = s[t];
}
KERNEL good_barrier_skip(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  __syncthreads();
  out[t] = s[t];
}
KERNEL bad_barrier_two(const int* x, int* out) { // each side has one of its own
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  if (__builtin_amdgcn_readfirstlane(t) < 128) { __syncthreads(); out[t] = s[t] + 1; } else { s[t] += 2; __syncthreads(); out[t] = s[t] * 3; }
}
KERNEL good_barrier_two(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  if (__builtin_amdgcn_readfirstlane(t) >= 128) s[t] += 2;
  __syncthreads();
  out[t] = s[t] * 3;
}
KERNEL bad_barrier_masked(const int* x, int* out) { // lanes of a wave are off, and on again after it
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  if (x[t] & 1) { s[t] = 3; __syncthreads(); out[t + 256] = s[t]; }
  out[t] = t;
}
KERNEL good_barrier_masked(const int* x, int* out) {
  __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
  if (x[t] & 1) s[t] = 3;
  __syncthreads();
  if (x[t] & 1) out[t + 256] = s[t];
  out[t] = t;
}
// Threads that returned need not come to barriers.
KERNEL good_barrier_return(const int* x, int* out, int n) {
  __shared__ int s[256]; int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}

// Loops that do not end.
KERNEL bad_loop(volatile int* out) { while (out[1] != 99) out[0] = 1; }
KERNEL good_loop(volatile int* out) { for (int k = 0; k < 1000; k++) out[0] = 1; }
KERNEL bad_spin(int* flag, int* out) { // nobody sets the flag
  if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) {}
  __syncthreads(); out[threadIdx.x] = 1;
}
KERNEL good_spin(int* flag, int* out) { // the last wave sets it
  if (threadIdx.x == 255) atomicExch(flag, 1);
  if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) {}
  __syncthreads(); out[threadIdx.x] = 1;
}

// Misaligned.
KERNEL bad_misaligned_atomic(char* p) { atomicAdd((int*)(p + 2) + threadIdx.x, 1); }
KERNEL good_misaligned_atomic(char* p) { atomicAdd((int*)(p + 4) + threadIdx.x, 1); }
KERNEL bad_misaligned_load(const char* p, float* out) { out[threadIdx.x] = ((const float*)(p + 1))[threadIdx.x] * 2.0f; }
KERNEL good_misaligned_load(const char* p, float* out) { out[threadIdx.x] = ((const float*)(p + 4))[threadIdx.x] * 2.0f; }
// Bytes that the compiler loads together may lie anywhere.
KERNEL good_misaligned_bytes(const unsigned char* p, int* out) {
  int t = threadIdx.x; const unsigned char* q = p + 1 + 4 * t; out[t] = q[0] + 2 * q[1] + 3 * q[2] + 5 * q[3];
}

// The kernel gives up.
KERNEL bad_trap(const int* x, int* out) { if (x[threadIdx.x] == 3) __builtin_trap(); out[threadIdx.x] = 1; }
KERNEL good_trap(const int* x, int* out) { if (x[threadIdx.x] == -3) __builtin_trap(); out[threadIdx.x] = 1; }
