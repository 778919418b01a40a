// A libamdhip64 over host memory. See README.md.
#include "stub.h"

typedef int hipError_t;

static __thread int current = -1; // device of this thread; HIP's own default is 0, here it must be set

#define ENTER(name) do { int r = enter(#name, NULL); if (r) return r; } while (0)
#define NEED_DEVICE() do { if (current < 0) return INVALID_DEVICE; } while (0)

EXPORT hipError_t hipInit(unsigned flags) {
	ENTER(hipInit);
	if (flags) return INVALID_VALUE;
	return number("STUB_DEVICES", 1) ? OK : INVALID_DEVICE; // as HIP 5.2 does
}

EXPORT hipError_t hipRuntimeGetVersion(int *v) {
	ENTER(hipRuntimeGetVersion);
	*v = 60241134;
	return OK;
}

static const struct { int code; const char *name, *text; } errors[] = {
	{0, "hipSuccess", "no error"},
	{1, "hipErrorInvalidValue", "invalid argument"},
	{2, "hipErrorOutOfMemory", "out of memory"},
	{100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
	{101, "hipErrorInvalidDevice", "invalid device ordinal"},
	{200, "hipErrorInvalidImage", "device kernel image is invalid"},
	{209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
	{400, "hipErrorInvalidHandle", "invalid resource handle"},
	{500, "hipErrorNotFound", "named symbol not found"},
	{700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
	{702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
	{719, "hipErrorLaunchFailure", "unspecified launch failure"},
};

static int find(int code) {
	for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].code == code) return i;
	return -1;
}

EXPORT const char *hipGetErrorName(int code) {
	int i = find(code);
	return i < 0 ? "hipErrorUnknown" : errors[i].name;
}

EXPORT const char *hipGetErrorString(int code) {
	int i = find(code);
	return i < 0 ? NULL : errors[i].text;
}

EXPORT hipError_t hipGetDeviceCount(int *n) {
	ENTER(hipGetDeviceCount);
	*n = number("STUB_DEVICES", 1);
	return *n ? OK : NO_DEVICE;
}

static int valid(int dev) { return dev >= 0 && dev < number("STUB_DEVICES", 1); }

EXPORT hipError_t hipDeviceGet(int *dev, int ordinal) {
	ENTER(hipDeviceGet);
	if (!valid(ordinal)) return INVALID_DEVICE;
	*dev = ordinal;
	return OK;
}

EXPORT hipError_t hipDeviceGetName(char *s, int n, int dev) {
	ENTER(hipDeviceGetName);
	if (!valid(dev)) return INVALID_DEVICE;
	snprintf(s, n, "Stub Instinct %d", dev);
	return OK;
}

EXPORT hipError_t hipSetDevice(int dev) {
	ENTER(hipSetDevice);
	if (!valid(dev)) return INVALID_DEVICE;
	current = dev;
	return OK;
}

EXPORT hipError_t hipSetDeviceFlags(unsigned flags) {
	ENTER(hipSetDeviceFlags);
	return flags == 4 ? OK : INVALID_VALUE;
}

// OLD_ARCH is where gcnArchName was before HIP 6.
#ifndef OLD_ARCH
#define OLD_ARCH 396
#endif

// properties writes the struct as one of two headers has it. Every byte
// that is no field of interest is 0x7e, which reads as nothing sensible.
static hipError_t properties(unsigned char *p, int dev, size_t size, size_t warp, size_t arch_at) {
	const char *arch = getenv("STUB_ARCH");
	if (!arch || !*arch) arch = "gfx90a:sramecc+:xnack-";
	int wave = strncmp(arch, "gfx9", 4) ? 32 : 64;
	if (!valid(dev)) return INVALID_DEVICE;
	memset(p, 0x7e, size);
	memset(p, 0, 256);
	memcpy(p + warp, &wave, 4);
	memset(p + arch_at, 0, 256);
	memcpy(p + arch_at, arch, strlen(arch));
	return OK;
}

EXPORT hipError_t hipGetDevicePropertiesR0600(void *p, int dev) {
	ENTER(hipGetDevicePropertiesR0600);
	return properties(p, dev, 1472, 308, 1160);
}

EXPORT hipError_t hipGetDevicePropertiesR0000(void *p, int dev) {
	ENTER(hipGetDevicePropertiesR0000);
	return properties(p, dev, 792, 276, OLD_ARCH);
}

EXPORT hipError_t hipGetDeviceProperties(void *p, int dev) {
	ENTER(hipGetDeviceProperties);
	return properties(p, dev, 792, 276, OLD_ARCH);
}

EXPORT hipError_t hipModuleLoadData(struct module **m, const void *image) {
	ENTER(hipModuleLoadData);
	NEED_DEVICE();
	return module_load(m, image, NULL, "", ".kd");
}

EXPORT hipError_t hipModuleUnload(struct module *m) {
	ENTER(hipModuleUnload);
	NEED_DEVICE();
	return module_unload(m);
}

EXPORT hipError_t hipModuleGetFunction(const struct kernel **f, struct module *m, const char *name) {
	ENTER(hipModuleGetFunction);
	NEED_DEVICE();
	return module_function(f, m, name);
}

EXPORT hipError_t hipMalloc(uint64_t *ptr, size_t size) {
	ENTER(hipMalloc);
	NEED_DEVICE();
	return mem_alloc(ptr, size);
}

EXPORT hipError_t hipFree(uint64_t ptr) {
	ENTER(hipFree);
	NEED_DEVICE();
	return mem_free(ptr);
}

EXPORT hipError_t hipMemcpyHtoD(uint64_t dst, const void *src, size_t n) {
	ENTER(hipMemcpyHtoD);
	NEED_DEVICE();
	if (!owned(dst, n)) return INVALID_VALUE;
	memcpy((void *)(uintptr_t)dst, src, n);
	return OK;
}

EXPORT hipError_t hipMemcpyDtoH(void *dst, uint64_t src, size_t n) {
	ENTER(hipMemcpyDtoH);
	NEED_DEVICE();
	if (!owned(src, n)) return INVALID_VALUE;
	memcpy(dst, (void *)(uintptr_t)src, n);
	return OK;
}

EXPORT hipError_t hipMemsetD8(uint64_t dst, unsigned char v, size_t n) {
	ENTER(hipMemsetD8);
	NEED_DEVICE();
	if (!owned(dst, n)) return INVALID_VALUE;
	memset((void *)(uintptr_t)dst, v, n);
	return OK;
}

EXPORT hipError_t hipMemsetD8Async(uint64_t dst, unsigned char v, size_t n, struct stream *s) {
	ENTER(hipMemsetD8Async);
	NEED_DEVICE();
	if (!is_stream(s)) return INVALID_HANDLE;
	if (!owned(dst, n)) return INVALID_VALUE;
	memset((void *)(uintptr_t)dst, v, n);
	return OK;
}

EXPORT hipError_t hipMemcpyDtoDAsync(uint64_t dst, uint64_t src, size_t n, struct stream *s) {
	ENTER(hipMemcpyDtoDAsync);
	NEED_DEVICE();
	if (!is_stream(s)) return INVALID_HANDLE;
	if (!owned(dst, n) || !owned(src, n)) return INVALID_VALUE;
	memmove((void *)(uintptr_t)dst, (void *)(uintptr_t)src, n);
	return OK;
}

EXPORT hipError_t hipHostMalloc(void **p, size_t n, unsigned flags) {
	ENTER(hipHostMalloc);
	NEED_DEVICE();
	if (flags != 0x40000002) return INVALID_VALUE;
	*p = calloc(1, n);
	return OK;
}

EXPORT hipError_t hipHostGetDevicePointer(uint64_t *p, void *host, unsigned flags) {
	ENTER(hipHostGetDevicePointer);
	NEED_DEVICE();
	if (flags) return INVALID_VALUE;
	*p = (uint64_t)(uintptr_t)host;
	return OK;
}

EXPORT hipError_t hipHostFree(void *p) {
	ENTER(hipHostFree);
	NEED_DEVICE();
	free(p);
	return OK;
}

EXPORT hipError_t hipDeviceGetAttribute(int *v, int attribute, int dev) {
	ENTER(hipDeviceGetAttribute);
	if (!valid(dev)) return INVALID_DEVICE;
	switch (attribute) {
	case 5: *v = 1000000; return OK; // 1 GHz
	case 19: *v = 1 << 20; return OK;
	case 63: *v = 10; return OK;
	}
	return INVALID_VALUE;
}

EXPORT hipError_t hipStreamCreateWithFlags(struct stream **s, unsigned flags) {
	ENTER(hipStreamCreateWithFlags);
	NEED_DEVICE();
	return flags == 1 ? stream_create(s) : INVALID_VALUE;
}

EXPORT hipError_t hipStreamDestroy(struct stream *s) {
	ENTER(hipStreamDestroy);
	NEED_DEVICE();
	return stream_destroy(s);
}

EXPORT hipError_t hipStreamWaitValue32(struct stream *s, uint64_t word, uint32_t value, unsigned flags, uint32_t mask) {
	ENTER(hipStreamWaitValue32);
	NEED_DEVICE();
	return flags || mask != 0xffffffff ? INVALID_VALUE : stream_wait_value(s, word, value);
}

EXPORT hipError_t hipStreamBeginCapture(struct stream *s, int mode) {
	ENTER(hipStreamBeginCapture);
	NEED_DEVICE();
	return begin_capture(s, mode);
}

EXPORT hipError_t hipStreamEndCapture(struct stream *s, struct graph **g) {
	ENTER(hipStreamEndCapture);
	NEED_DEVICE();
	return end_capture(s, g);
}

EXPORT hipError_t hipGraphInstantiateWithFlags(struct graph **exec, struct graph *g, unsigned long long flags) {
	ENTER(hipGraphInstantiateWithFlags);
	NEED_DEVICE();
	return graph_copy(exec, g, flags);
}

EXPORT hipError_t hipGraphDestroy(struct graph *g) {
	ENTER(hipGraphDestroy);
	return graph_free(g);
}

EXPORT hipError_t hipGraphExecDestroy(struct graph *g) {
	ENTER(hipGraphExecDestroy);
	return graph_free(g);
}

EXPORT hipError_t hipGraphLaunch(struct graph *g, struct stream *s) {
	ENTER(hipGraphLaunch);
	NEED_DEVICE();
	return graph_launch(g, s, 3, 64 << 10);
}

EXPORT hipError_t hipStreamSynchronize(struct stream *s) {
	ENTER(hipStreamSynchronize);
	NEED_DEVICE();
	return wait_stream(s);
}

EXPORT hipError_t hipStreamQuery(struct stream *s) {
	ENTER(hipStreamQuery);
	NEED_DEVICE();
	return is_stream(s) ? OK : INVALID_HANDLE;
}

EXPORT hipError_t hipEventCreateWithFlags(struct event **e, unsigned flags) {
	ENTER(hipEventCreateWithFlags);
	NEED_DEVICE();
	if (flags) return INVALID_VALUE;
	*e = calloc(1, sizeof **e);
	return OK;
}

EXPORT hipError_t hipEventRecord(struct event *e, struct stream *s) {
	ENTER(hipEventRecord);
	NEED_DEVICE();
	if (!e || !is_stream(s)) return INVALID_HANDLE;
	e->at = now_ms();
	return OK;
}

EXPORT hipError_t hipEventElapsedTime(float *ms, struct event *a, struct event *b) {
	ENTER(hipEventElapsedTime);
	NEED_DEVICE();
	if (!a || !b || !a->at || !b->at) return INVALID_HANDLE;
	*ms = b->at - a->at;
	return OK;
}

EXPORT hipError_t hipEventDestroy(struct event *e) {
	ENTER(hipEventDestroy);
	NEED_DEVICE();
	free(e);
	return OK;
}

EXPORT hipError_t hipModuleLaunchKernel(const struct kernel *f, unsigned gx, unsigned gy, unsigned gz,
		unsigned bx, unsigned by, unsigned bz, unsigned shared, struct stream *s, void **params, void **extra) {
	int r = enter("hipModuleLaunchKernel", kernel_name(f));
	if (r) return r;
	NEED_DEVICE();
	if (!is_stream(s)) return INVALID_HANDLE;
	unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
	if (capturing) return capture(f, grid, block, shared, extra);
	return launch(f, grid, block, shared, params, extra, 3, 64 << 10);
}
