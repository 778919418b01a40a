// The kernels of the stub drivers: those of the conformance suite, and a
// few of candle's. A kernel's result is OK, the error of its fault, or HANG.

enum { HANG = -1 };

struct launch {
	const unsigned char *args;
	unsigned grid[3], block[3], shared;
};

struct kernel {
	const char *name;
	size_t args;  // bytes of the argument block
	int pointer;  // offset of the first output pointer in it, or -1
	int (*run)(const struct launch *);
};

static uint64_t arg(const struct launch *l, int off, int size) {
	uint64_t v = 0;
	memcpy(&v, l->args + off, size);
	return v;
}

static float argf(const struct launch *l, int off) {
	float f;
	memcpy(&f, l->args + off, 4);
	return f;
}

#define PTR(T, off) ((T *)(uintptr_t)arg(l, off, 8))
#define NEED(off, n) do { if ((n) != 0 && !in(arg(l, off, 8), n)) return ILLEGAL_ADDRESS; } while (0)

static uint64_t threads(const struct launch *l) {
	return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2];
}

static int pc_axpy(const struct launch *l) {
	uint64_t n = arg(l, 20, 4);
	if (n > threads(l)) n = threads(l);
	NEED(0, 4 * n);
	NEED(8, 4 * n);
	float *y = PTR(float, 0), *x = PTR(float, 8), a = argf(l, 16);
	for (uint64_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
	return OK;
}

static int pc_pack(const struct launch *l) {
	NEED(48, 72);
	uint64_t *out = PTR(uint64_t, 48);
	out[0] = arg(l, 0, 1), out[1] = arg(l, 2, 2), out[2] = arg(l, 4, 4), out[3] = arg(l, 8, 8), out[4] = arg(l, 16, 1);
	out[5] = arg(l, 20, 4), out[6] = arg(l, 24, 2), out[7] = arg(l, 32, 8), out[8] = arg(l, 40, 8);
	return OK;
}

static int pc_geometry(const struct launch *l) {
	NEED(0, 48 * threads(l));
	unsigned *o = PTR(unsigned, 0);
	const unsigned *g = l->grid, *b = l->block;
	for (unsigned k = 0; k < g[2]; k++) for (unsigned j = 0; j < g[1]; j++) for (unsigned i = 0; i < g[0]; i++)
		for (unsigned z = 0; z < b[2]; z++) for (unsigned y = 0; y < b[1]; y++) for (unsigned x = 0; x < b[0]; x++) {
			unsigned v[12] = {i, j, k, x, y, z, b[0], b[1], b[2], g[0], g[1], g[2]};
			memcpy(o, v, sizeof v);
			o += 12;
		}
	return OK;
}

static int pc_reverse(const struct launch *l) {
	unsigned n = l->block[0];
	if (l->shared < 4 * n) return ILLEGAL_ADDRESS;
	NEED(0, 4ull * n * l->grid[0]);
	unsigned *d = PTR(unsigned, 0);
	for (unsigned b = 0; b < l->grid[0]; b++, d += n)
		for (unsigned i = 0; i < n / 2; i++) {
			unsigned t = d[i];
			d[i] = d[n - 1 - i], d[n - 1 - i] = t;
		}
	return OK;
}

static int pc_count(const struct launch *l) {
	NEED(0, 4);
	*PTR(unsigned, 0) += threads(l);
	return OK;
}

static int pc_trap(const struct launch *l) { (void)l; return LAUNCH_FAILED; }

static int pc_wild(const struct launch *l) {
	NEED(0, 4);
	*PTR(unsigned, 0) = 1;
	return OK;
}

static int pc_spin(const struct launch *l) {
	NEED(0, 4);
	return *PTR(unsigned, 0) ? OK : HANG;
}

// at is the element of the i-th in row-major order, of a tensor whose
// strides begin at word s of info; info null means contiguous.
static uint64_t at(const uint64_t *info, uint64_t ndims, int s, uint64_t i) {
	uint64_t e = 0;
	if (!info) return i;
	for (uint64_t d = ndims; d-- > 0; i /= info[d]) e += i % info[d] * info[s * ndims + d];
	return e;
}

// candle's unary kernels: numel, num_dims, info, inp, out.
static int unary(const struct launch *l, float (*f)(float)) {
	uint64_t n = arg(l, 0, 8), dims = arg(l, 8, 8), *info = PTR(uint64_t, 16);
	NEED(16, info ? 16 * dims : 0);
	NEED(32, 4 * n);
	float *x = PTR(float, 24), *y = PTR(float, 32);
	for (uint64_t i = 0; i < n; i++) {
		float *p = x ? x + at(info, dims, 1, i) : y + i;
		if (!in((uint64_t)(uintptr_t)p, 4)) return ILLEGAL_ADDRESS;
		y[i] = f(*p);
	}
	return OK;
}

static float neg(float x) { return -x; }
static float sqr(float x) { return x * x; }
static float copy(float x) { return x; }
static int uneg_f32(const struct launch *l) { return unary(l, neg); }
static int usqr_f32(const struct launch *l) { return unary(l, sqr); }
static int ucopy_f32(const struct launch *l) { return unary(l, copy); }

// candle's binary kernels: numel, num_dims, info, lhs, rhs, out.
static int binary(const struct launch *l, float (*f)(float, float)) {
	uint64_t n = arg(l, 0, 8), dims = arg(l, 8, 8), *info = PTR(uint64_t, 16);
	NEED(16, info ? 24 * dims : 0);
	NEED(40, 4 * n);
	float *a = PTR(float, 24), *b = PTR(float, 32), *y = PTR(float, 40);
	for (uint64_t i = 0; i < n; i++) {
		float *p = a + at(info, dims, 1, i), *q = b + at(info, dims, 2, i);
		if (!in((uint64_t)(uintptr_t)p, 4) || !in((uint64_t)(uintptr_t)q, 4)) return ILLEGAL_ADDRESS;
		y[i] = f(*p, *q);
	}
	return OK;
}

static float add(float x, float y) { return x + y; }
static float mul(float x, float y) { return x * y; }
static int badd_f32(const struct launch *l) { return binary(l, add); }
static int bmul_f32(const struct launch *l) { return binary(l, mul); }

static const struct kernel kernels[] = {
	{"pc_axpy", 24, 0, pc_axpy},
	{"pc_pack", 56, 48, pc_pack},
	{"pc_geometry", 8, 0, pc_geometry},
	{"pc_reverse", 8, 0, pc_reverse},
	{"pc_count", 8, 0, pc_count},
	{"pc_trap", 8, -1, pc_trap},
	{"pc_wild", 8, -1, pc_wild},
	{"pc_spin", 8, -1, pc_spin},
	{"uneg_f32", 40, 32, uneg_f32},
	{"usqr_f32", 40, 32, usqr_f32},
	{"ucopy_f32", 40, 32, ucopy_f32},
	{"badd_f32", 48, 40, badd_f32},
	{"bmul_f32", 48, 40, bmul_f32},
	{NULL, 0, -1, NULL},
};
