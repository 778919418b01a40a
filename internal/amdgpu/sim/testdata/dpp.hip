// Kernels that move data between lanes by DPP. build.sh compiles them.
#include <hip/hip_runtime.h>

#define DPP(old, x, ctrl, rows, banks, bound) __builtin_amdgcn_update_dpp(old, x, ctrl, rows, banks, bound)

// Inclusive sums of each 16 lanes, on gfx90a of the 64 lanes of a wave.
extern "C" __global__ void scan(const int* x, int* out) {
  int t = threadIdx.x;
  int v = x[t];
  v += DPP(0, v, 0x111, 0xf, 0xf, false);  // row_shr:1
  v += DPP(0, v, 0x112, 0xf, 0xf, false);
  v += DPP(0, v, 0x114, 0xf, 0xe, false);
  v += DPP(0, v, 0x118, 0xf, 0xc, false);
#if defined(__gfx90a__)
  v += DPP(0, v, 0x142, 0xa, 0xf, false);  // row_bcast:15
  v += DPP(0, v, 0x143, 0xc, 0xf, false);  // row_bcast:31
#endif
  out[t] = v;
}

// The greatest of each 16 lanes, in all of them, by butterflies.
extern "C" __global__ void row_max(const float* x, float* out) {
  int t = threadIdx.x;
  float v = x[t];
  auto step = [](float v, float w) { return fmaxf(v, w); };
#define MAX(ctrl) v = step(v, __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), ctrl, 0xf, 0xf, true)))
  MAX(0xb1);   // quad_perm:[1,0,3,2]
  MAX(0x4e);   // quad_perm:[2,3,0,1]
  MAX(0x141);  // row_half_mirror
  MAX(0x140);  // row_mirror
  out[t] = v;
}

// Sums with rotated rows, and broadcasts of the lane 5 of each row.
extern "C" __global__ void rotate(const int* x, int* out) {
  int t = threadIdx.x;
  int v = x[t];
  out[t] = v * 3 - DPP(0, v, 0x123, 0xf, 0xf, true);  // row_ror:3
  out[blockDim.x + t] = DPP(0, v, 0x155, 0xf, 0xf, true);  // row_newbcast:5, row_share:5
}

// In a branch: neighbours that did not take it are inactive. The first
// keeps -1 where there is no neighbour, the second reads zero.
extern "C" __global__ void neighbours(const int* x, int* out) {
  int t = threadIdx.x;
  int v = x[t], a = -7, b = -7;
  if (t % 5 != 2) {
    a = DPP(-1, v, 0x101, 0xf, 0xf, false);  // row_shl:1
    b = DPP(-1, v, 0x101, 0xf, 0xf, true);
  }
  out[t] = a;
  out[blockDim.x + t] = b;
}

// Differences to neighbours across the wave on gfx90a, else within 8 lanes.
extern "C" __global__ void shuffle(const int* x, int* out) {
  int t = threadIdx.x;
  int v = x[t];
#if defined(__gfx90a__)
  out[t] = v - DPP(0, v, 0x138, 0xf, 0xf, true);  // wave_shr:1
#else
  out[t] = v - __builtin_amdgcn_mov_dpp8(v, 6 | 7 << 3 | 0 << 6 | 1 << 9 | 2 << 12 | 3 << 15 | 4 << 18 | 5 << 21);
#endif
}

// What nobody wrote, moved by one lane: lanes 1 to 15 of a row are to be
// reported, and lane 0, which has no neighbour, is not.
extern "C" __global__ void undefined(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  int v = ((volatile int*)s)[t];
  v = DPP(0, v, 0x111, 0xf, 0xf, false);
  if (t % 16 == 0) out[t] = v;
  else out[64 + t] = v;
}
