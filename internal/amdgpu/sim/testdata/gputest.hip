
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void
#define SHARED __shared__
#define TID(d) threadIdx.d
#define BID(d) blockIdx.d
#define BDIM(d) blockDim.d
#define GDIM(d) gridDim.d
#define SYNC() __syncthreads()
#define COUNT(p) atomicAdd(p, 1u)
#define TRAP() __trap()
#else
typedef unsigned long long u64;
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define TID(d) __builtin_amdgcn_workitem_id_##d()
#define BID(d) __builtin_amdgcn_workgroup_id_##d()
#define BDIM(d) ((unsigned)__builtin_amdgcn_workgroup_size_##d())
#define GDIM(d) ((unsigned)__builtin_amdgcn_grid_size_##d() / BDIM(d))
#define SYNC() do { \
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
	__builtin_amdgcn_s_barrier(); \
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
} while (0)
#define COUNT(p) __atomic_fetch_add(p, 1u, __ATOMIC_RELAXED)
#define TRAP() __builtin_trap()
#endif

// y[i] = a*x[i] + y[i]
KERNEL pc_axpy(float *y, const float *x, float a, unsigned n) {
	unsigned i = BID(x) * BDIM(x) + TID(x);
	if (i < n) y[i] = a * x[i] + y[i];
}

// out[0..8] = the other arguments, widened; floats as their bits
KERNEL pc_pack(unsigned char a, unsigned short b, unsigned c, u64 d, unsigned char e, float f,
		unsigned short g, double h, const void *p, u64 *out) {
	union { float f; unsigned u; } f32; f32.f = f;
	union { double f; u64 u; } f64; f64.f = h;
	out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e;
	out[5] = f32.u; out[6] = g; out[7] = f64.u; out[8] = (u64)p;
}

// out[12*i..] = block index, thread index, block size, grid size of thread i
KERNEL pc_geometry(unsigned *out) {
	unsigned block = (BID(z) * GDIM(y) + BID(y)) * GDIM(x) + BID(x);
	unsigned thread = (TID(z) * BDIM(y) + TID(y)) * BDIM(x) + TID(x);
	unsigned *o = out + 12 * (block * BDIM(x) * BDIM(y) * BDIM(z) + thread);
	o[0] = BID(x); o[1] = BID(y); o[2] = BID(z);
	o[3] = TID(x); o[4] = TID(y); o[5] = TID(z);
	o[6] = BDIM(x); o[7] = BDIM(y); o[8] = BDIM(z);
	o[9] = GDIM(x); o[10] = GDIM(y); o[11] = GDIM(z);
}

// each block reverses its own BDIM(x) elements through dynamic shared memory
KERNEL pc_reverse(unsigned *data) {
	extern SHARED unsigned buf[];
	unsigned t = TID(x), n = BDIM(x), base = BID(x) * n;
	buf[t] = data[base + t];
	SYNC();
	data[base + t] = buf[n - 1 - t];
}

// *count += number of threads
KERNEL pc_count(unsigned *count) { COUNT(count); }

// traps
KERNEL pc_trap(unsigned *out) { out[0] = 1; TRAP(); }

// writes far from any buffer
KERNEL pc_wild(u64 address) { *(volatile unsigned *)address = 1; }

// waits until *flag is not 0, which nobody sets
KERNEL pc_spin(const volatile unsigned *flag) { while (*flag == 0) {} }
