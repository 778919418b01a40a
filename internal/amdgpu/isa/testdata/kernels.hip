// Kernels whose compiled code meets many instructions. They need neither
// HIP's headers nor device libraries, and are decoded, never run.
#define KERNEL extern "C" __attribute__((global)) void
#define DEV __attribute__((device))
#define LDS __attribute__((shared))
typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned u32;
typedef unsigned long u64;

static DEV int gid() { return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x(); }

KERNEL math32(float *y, const float *x, int n) {
  int i = gid();
  if (i >= n) return;
  float a = x[i], b = x[i + n], c = x[i + 2 * n];
  float r = __builtin_expf(a) + __builtin_logf(b) * __builtin_sqrtf(c) + a / b;
  r += __builtin_sinf(a) * __builtin_cosf(b) + __builtin_fmaf(a, b, c) + __builtin_floorf(a) + __builtin_ceilf(b) + __builtin_truncf(c);
  r += __builtin_rintf(a) + __builtin_fabsf(b) + __builtin_fmaxf(a, b) + __builtin_fminf(b, c) + __builtin_copysignf(a, b);
  r += __builtin_exp2f(a) + __builtin_log2f(b) + __builtin_powf(a, b) + __builtin_amdgcn_rcpf(c) + __builtin_amdgcn_fractf(a);
  r += __builtin_amdgcn_fmed3f(a, b, c) + __builtin_ldexpf(a, (int)b) + (a != a) + __builtin_isinf(b);
  y[i] = r;
}
KERNEL math64(double *y, const double *x, int n) {
  int i = gid();
  double a = x[i], b = x[i + n];
  y[i] = a / b + __builtin_sqrt(a) + __builtin_fma(a, b, 1.5) + __builtin_floor(a) + __builtin_fmax(a, b) + (double)(int)a + (double)(u64)b + __builtin_ldexp(a, n);
}
KERNEL math16(half *y, const half *x, int n) {
  int i = gid();
  half a = x[i], b = x[i + n];
  y[i] = a * b + a / b + (half)__builtin_fabsf((float)a) + (half)(short)b + __builtin_elementwise_max(a, b) + __builtin_elementwise_sqrt(a) + (a < b ? a : -b);
}
KERNEL packed(half2 *y, const half2 *x, short2 *z, const short2 *w, float2 *f) {
  int i = gid();
  half2 a = x[i], b = x[i + 1];
  y[i] = a * b + __builtin_elementwise_max(a, b) - b.yx;
  short2 s = w[i], t = w[i + 1];
  z[i] = s * t + (s >> (short)3) + __builtin_elementwise_min(s, t);
  f[i] = f[i + 1] * f[i + 2] + f[i + 3];
}
KERNEL integers(int *y, const int *x, u64 *z, const unsigned char *c, const signed char *d, short *s) {
  int i = gid();
  int a = x[i], b = x[i + 1];
  u32 p = a, q = b;
  y[i] = a / b + a % b + (int)(p / q) + (a >> (b & 31)) + __builtin_popcount(p) + __builtin_clz(q) + __builtin_ctz(p) + __builtin_bitreverse32(q);
  y[i + 1] = (a & 0xff) * (b >> 16) + ((p << 7) | (q >> 25)) + (a > b ? a : b) + (a ^ b) + (a & ~b) + ((p >> 8) & 0x3ff);
  z[i] = z[i + 1] * z[i + 2] + (z[i] >> (p & 63)) + (z[i + 3] << 5) + (u64)a * (u64)b + z[i + 4] / z[i + 5];
  y[i + 2] = c[i] * 3 + d[i] - c[i + 1] + s[i];
  s[i] = s[i + 1] + (short)c[i + 2];
  y[i + 3] = __builtin_add_overflow(a, b, &a) + a;
}
KERNEL reduce(float *y, const float *x, int n) {
  LDS float m[256];
  int t = __builtin_amdgcn_workitem_id_x();
  float s = 0;
  for (int i = gid(); i < n; i += 65536) s += x[i];
  m[t] = s;
  __builtin_amdgcn_s_barrier();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) m[t] += m[t + k];
    __builtin_amdgcn_s_barrier();
  }
  s = m[0] + __builtin_amdgcn_ds_bpermute(t * 4 ^ 64, t) + __builtin_amdgcn_ds_swizzle(t, 0x401f) + __builtin_amdgcn_readfirstlane(t) + __builtin_amdgcn_readlane(t, 3);
  s += __builtin_amdgcn_update_dpp(0, t, 0x111, 0xf, 0xf, true) + __builtin_amdgcn_mov_dpp(t, 0xb1, 0xf, 0xf, false);
  if (t == 0) y[__builtin_amdgcn_workgroup_id_x()] = s;
}
KERNEL atomics(int *a, u64 *b, float *f, double *d) {
  LDS int m[64];
  LDS float g[64];
  int t = __builtin_amdgcn_workitem_id_x();
  __scoped_atomic_fetch_add(a, t, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  a[1] = __scoped_atomic_fetch_max(a + 2, t, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_DEVICE);
  b[1] = __scoped_atomic_fetch_or(b + 2, 1ul, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_SYSTEM);
  __scoped_atomic_fetch_add(f, 1.0f, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add(d, 1.0, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  int e = 3;
  __scoped_atomic_compare_exchange_n(a + 5, &e, t, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  a[7] = e + __scoped_atomic_exchange_n(m + t, t, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_xor(m + 3, t, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  __scoped_atomic_fetch_add(g + t, 1.0f, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  f[3] = g[t ^ 1];
}
static DEV __attribute__((noinline)) int call(int *p, int n) { return n > 2 ? call(p, n - 1) + p[n] : n; }
KERNEL scratch(int *y, int n) {
  int a[64];
  for (int i = 0; i < n; i++) a[i & 63] = y[i];
  int *p = n > 7 ? a : y;
  y[0] = a[n & 63] + call(p, n) + p[n];
}
KERNEL vectors(float4 *y, const float4 *x, unsigned char *c, int n) {
  int i = gid();
  float4 v = x[i] * 2.0f + x[i + 1];
  y[i] = v / x[n];
  c[i] = (unsigned char)v.x;
  y[i + 1] = (float4){(float)c[i], (float)c[i + 1], (float)(signed char)c[i + 2], (float)(c[i + 3] >> 4)};
}
KERNEL dots(int *y, const int *x, float *f, const half2 *h) {
  int i = gid();
#if __has_builtin(__builtin_amdgcn_sdot4) && !defined(__gfx1100__)
  y[i] = __builtin_amdgcn_sdot4(x[i], x[i + 1], x[i + 2], false);
#endif
  f[i] = __builtin_amdgcn_fdot2(h[i], h[i + 1], f[i + 1], false);
  y[i + 1] = __builtin_amdgcn_perm(x[i], x[i + 1], 0x05040100) + __builtin_amdgcn_alignbyte(x[i], x[i + 1], 3) + __builtin_amdgcn_ubfe(x[i], 3, 7) + __builtin_amdgcn_sad_u8(x[i], x[i + 1], 1);
}
