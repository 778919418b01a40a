// A libcuda over host memory. See README.md.
#include "stub.h"

typedef int CUresult;

static int initialised;
static int retained;               // references to the primary context
static __thread void *current;     // the context of this thread
static char context;

#define ENTER(name) do { int r = enter(#name, NULL); if (r) return r; } while (0)
#define NEED_CONTEXT() do { if (current != &context || !retained) return INVALID_CONTEXT; } while (0)

EXPORT CUresult cuInit(unsigned flags) {
	ENTER(cuInit);
	if (flags) return INVALID_VALUE;
	if (number("STUB_DEVICES", 1) == 0) return NO_DEVICE;
	initialised = 1;
	return OK;
}

EXPORT CUresult cuDriverGetVersion(int *v) {
	ENTER(cuDriverGetVersion);
	*v = 12080;
	return OK;
}

static const struct { int code; const char *name, *text; } errors[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static int find(int code) {
	for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == code) return i;
	return -1;
}

EXPORT CUresult cuGetErrorName(int code, const char **s) {
	int i = find(code);
	*s = i < 0 ? NULL : errors[i].name;
	return i < 0 ? INVALID_VALUE : OK;
}

EXPORT CUresult cuGetErrorString(int code, const char **s) {
	int i = find(code);
	*s = i < 0 ? NULL : errors[i].text;
	return i < 0 ? INVALID_VALUE : OK;
}

EXPORT CUresult cuDeviceGetCount(int *n) {
	ENTER(cuDeviceGetCount);
	if (!initialised) return NOT_INITIALIZED;
	*n = number("STUB_DEVICES", 1);
	return OK;
}

EXPORT CUresult cuDeviceGet(int *dev, int ordinal) {
	ENTER(cuDeviceGet);
	if (ordinal < 0 || ordinal >= number("STUB_DEVICES", 1)) return INVALID_DEVICE;
	*dev = 7 + ordinal; // a handle, not the ordinal
	return OK;
}

EXPORT CUresult cuDeviceGetName(char *s, int n, int dev) {
	ENTER(cuDeviceGetName);
	snprintf(s, n, "Stub GPU %d", dev - 7);
	return OK;
}

EXPORT CUresult cuDeviceGetAttribute(int *v, int attribute, int dev) {
	ENTER(cuDeviceGetAttribute);
	int arch = number("STUB_ARCH", 90);
	if (dev < 7) return INVALID_DEVICE;
	switch (attribute) {
	case 10: *v = 32; return OK;
	case 13: *v = 1000000; return OK; // 1 GHz
	case 16: *v = 10; return OK;
	case 38: *v = number("STUB_L2", 1 << 20); return OK;
	case 75: *v = arch / 10; return OK;
	case 76: *v = arch % 10; return OK;
	}
	return INVALID_VALUE;
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(int dev, unsigned flags) {
	ENTER(cuDevicePrimaryCtxSetFlags_v2);
	return dev < 7 || flags != 4 ? INVALID_VALUE : OK;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(void **ctx, int dev) {
	ENTER(cuDevicePrimaryCtxRetain);
	if (dev < 7) return INVALID_DEVICE;
	retained++;
	*ctx = &context;
	return OK;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(int dev) {
	ENTER(cuDevicePrimaryCtxRelease_v2);
	if (dev < 7 || !retained) return INVALID_CONTEXT;
	if (--retained == 0) nspans = 0;
	return OK;
}

EXPORT CUresult cuCtxSetCurrent(void *ctx) {
	ENTER(cuCtxSetCurrent);
	if (ctx && ctx != &context) return INVALID_CONTEXT;
	current = ctx;
	return OK;
}

EXPORT CUresult cuModuleLoadDataEx(struct module **m, const void *image, unsigned n, const int *options, void **values) {
	ENTER(cuModuleLoadDataEx);
	NEED_CONTEXT();
	int r = module_load(m, image, ".entry ", ".text.", "");
	for (unsigned i = 0; r && i + 1 < n; i++)
		if (options[i] == 5 && options[i + 1] == 6) // error log, its size
			snprintf(values[i], (size_t)values[i + 1], "ptxas fatal : stub says no\n");
	return r;
}

EXPORT CUresult cuModuleUnload(struct module *m) {
	ENTER(cuModuleUnload);
	NEED_CONTEXT();
	return module_unload(m);
}

EXPORT CUresult cuModuleGetFunction(const struct kernel **f, struct module *m, const char *name) {
	ENTER(cuModuleGetFunction);
	NEED_CONTEXT();
	return module_function(f, m, name);
}

static unsigned shared_max = 48 << 10;

EXPORT CUresult cuFuncSetAttribute(const struct kernel *f, int attribute, int value) {
	ENTER(cuFuncSetAttribute);
	NEED_CONTEXT();
	if (!f || attribute != 8 || value < 0 || value > 227 << 10) return INVALID_VALUE;
	shared_max = value;
	return OK;
}

EXPORT CUresult cuMemAlloc_v2(uint64_t *ptr, size_t size) {
	ENTER(cuMemAlloc_v2);
	NEED_CONTEXT();
	return mem_alloc(ptr, size);
}

EXPORT CUresult cuMemFree_v2(uint64_t ptr) {
	ENTER(cuMemFree_v2);
	NEED_CONTEXT();
	return mem_free(ptr);
}

EXPORT CUresult cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t n) {
	ENTER(cuMemcpyHtoD_v2);
	NEED_CONTEXT();
	if (!owned(dst, n)) return INVALID_VALUE;
	memcpy((void *)(uintptr_t)dst, src, n);
	return OK;
}

EXPORT CUresult cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t n) {
	ENTER(cuMemcpyDtoH_v2);
	NEED_CONTEXT();
	if (!owned(src, n)) return INVALID_VALUE;
	memcpy(dst, (void *)(uintptr_t)src, n);
	return OK;
}

EXPORT CUresult cuMemsetD8_v2(uint64_t dst, unsigned char v, size_t n) {
	ENTER(cuMemsetD8_v2);
	NEED_CONTEXT();
	if (!owned(dst, n)) return INVALID_VALUE;
	memset((void *)(uintptr_t)dst, v, n);
	return OK;
}

EXPORT CUresult cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, struct stream *s) {
	ENTER(cuMemsetD8Async);
	NEED_CONTEXT();
	if (!is_stream(s)) return INVALID_HANDLE;
	if (!owned(dst, n)) return INVALID_VALUE;
	memset((void *)(uintptr_t)dst, v, n);
	return OK;
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, struct stream *s) {
	ENTER(cuMemcpyDtoDAsync_v2);
	NEED_CONTEXT();
	if (!is_stream(s)) return INVALID_HANDLE;
	if (!owned(dst, n) || !owned(src, n)) return INVALID_VALUE;
	memmove((void *)(uintptr_t)dst, (void *)(uintptr_t)src, n);
	return OK;
}

EXPORT CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	ENTER(cuMemHostAlloc);
	NEED_CONTEXT();
	if (flags != 2) return INVALID_VALUE;
	*p = calloc(1, n);
	return OK;
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(uint64_t *p, void *host, unsigned flags) {
	ENTER(cuMemHostGetDevicePointer_v2);
	NEED_CONTEXT();
	if (flags) return INVALID_VALUE;
	*p = (uint64_t)(uintptr_t)host;
	return OK;
}

EXPORT CUresult cuMemFreeHost(void *p) {
	ENTER(cuMemFreeHost);
	NEED_CONTEXT();
	free(p);
	return OK;
}

EXPORT CUresult cuDeviceGetPCIBusId(char *s, int n, int dev) {
	ENTER(cuDeviceGetPCIBusId);
	if (dev < 7) return INVALID_DEVICE;
	snprintf(s, n, "0000:%02x:00.0", dev);
	return OK;
}

EXPORT CUresult cuStreamCreate(struct stream **s, unsigned flags) {
	ENTER(cuStreamCreate);
	NEED_CONTEXT();
	return flags == 1 ? stream_create(s) : INVALID_VALUE;
}

EXPORT CUresult cuStreamDestroy_v2(struct stream *s) {
	ENTER(cuStreamDestroy_v2);
	NEED_CONTEXT();
	return stream_destroy(s);
}

EXPORT CUresult cuStreamWaitValue32_v2(struct stream *s, uint64_t word, uint32_t value, unsigned flags) {
	ENTER(cuStreamWaitValue32_v2);
	NEED_CONTEXT();
	return flags ? INVALID_VALUE : stream_wait_value(s, word, value);
}

EXPORT CUresult cuStreamBeginCapture_v2(struct stream *s, int mode) {
	ENTER(cuStreamBeginCapture_v2);
	NEED_CONTEXT();
	return begin_capture(s, mode);
}

EXPORT CUresult cuStreamEndCapture(struct stream *s, struct graph **g) {
	ENTER(cuStreamEndCapture);
	NEED_CONTEXT();
	return end_capture(s, g);
}

EXPORT CUresult cuGraphInstantiateWithFlags(struct graph **exec, struct graph *g, uint64_t flags) {
	ENTER(cuGraphInstantiateWithFlags);
	NEED_CONTEXT();
	return graph_copy(exec, g, flags);
}

EXPORT CUresult cuGraphDestroy(struct graph *g) {
	ENTER(cuGraphDestroy);
	return graph_free(g);
}

EXPORT CUresult cuGraphExecDestroy(struct graph *g) {
	ENTER(cuGraphExecDestroy);
	return graph_free(g);
}

EXPORT CUresult cuGraphLaunch(struct graph *g, struct stream *s) {
	ENTER(cuGraphLaunch);
	NEED_CONTEXT();
	return graph_launch(g, s, 0, shared_max);
}

EXPORT CUresult cuStreamSynchronize(struct stream *s) {
	ENTER(cuStreamSynchronize);
	NEED_CONTEXT();
	return wait_stream(s);
}

EXPORT CUresult cuStreamQuery(struct stream *s) {
	ENTER(cuStreamQuery);
	NEED_CONTEXT();
	return is_stream(s) ? OK : INVALID_HANDLE;
}

EXPORT CUresult cuEventCreate(struct event **e, unsigned flags) {
	ENTER(cuEventCreate);
	NEED_CONTEXT();
	if (flags) return INVALID_VALUE;
	*e = calloc(1, sizeof **e);
	return OK;
}

EXPORT CUresult cuEventRecord(struct event *e, struct stream *s) {
	ENTER(cuEventRecord);
	NEED_CONTEXT();
	if (!e || !is_stream(s)) return INVALID_HANDLE;
	e->at = now_ms();
	return OK;
}

EXPORT CUresult cuEventElapsedTime(float *ms, struct event *a, struct event *b) {
	ENTER(cuEventElapsedTime);
	NEED_CONTEXT();
	if (!a || !b || !a->at || !b->at) return INVALID_HANDLE;
	*ms = b->at - a->at;
	return OK;
}

EXPORT CUresult cuEventDestroy_v2(struct event *e) {
	ENTER(cuEventDestroy_v2);
	NEED_CONTEXT();
	free(e);
	return OK;
}

EXPORT CUresult cuLaunchKernel(const struct kernel *f, unsigned gx, unsigned gy, unsigned gz,
		unsigned bx, unsigned by, unsigned bz, unsigned shared, struct stream *s, void **params, void **extra) {
	int r = enter("cuLaunchKernel", kernel_name(f));
	if (r) return r;
	NEED_CONTEXT();
	if (!is_stream(s)) return INVALID_HANDLE;
	unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
	if (capturing) return capture(f, grid, block, shared, extra);
	return launch(f, grid, block, shared, params, extra, 0, shared_max);
}
