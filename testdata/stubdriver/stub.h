// What both stub drivers share: device memory, faults, modules, launches.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

// Codes that cuda.h and hip_runtime_api.h share.
enum {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_IMAGE = 200,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	ILLEGAL_ADDRESS = 700,
	LAUNCH_FAILED = 719,
};

// Device memory: one arena, first fit, so that neighbours touch.
enum { ARENA = 64 << 20, ALIGN = 256, SPANS = 4096 };
static unsigned char arena[ARENA] __attribute__((aligned(4096)));
static struct { uint64_t off, size; } spans[SPANS]; // by offset
static int nspans;

static long number(const char *env, long otherwise) {
	const char *s = getenv(env);
	return s && *s ? atol(s) : otherwise;
}

static int mem_alloc(uint64_t *ptr, uint64_t size) {
	uint64_t room = (size + ALIGN - 1) / ALIGN * ALIGN, at = 0, limit = number("STUB_MEMORY", ARENA);
	if (size == 0) return INVALID_VALUE;
	int i = 0;
	for (; i < nspans && at + room > spans[i].off; i++) at = spans[i].off + (spans[i].size + ALIGN - 1) / ALIGN * ALIGN;
	if (size > limit || at + room > limit || nspans == SPANS) return OUT_OF_MEMORY;
	memmove(&spans[i + 1], &spans[i], (nspans++ - i) * sizeof spans[0]);
	spans[i].off = at, spans[i].size = size;
	*ptr = (uint64_t)(uintptr_t)(arena + at);
	return OK;
}

static int mem_free(uint64_t ptr) {
	for (int i = 0; i < nspans; i++)
		if ((uint64_t)(uintptr_t)(arena + spans[i].off) == ptr) {
			memmove(&spans[i], &spans[i + 1], (--nspans - i) * sizeof spans[0]);
			return OK;
		}
	return INVALID_VALUE;
}

// in says whether n bytes at ptr lie in the arena: what a kernel can reach.
static int in(uint64_t ptr, uint64_t n) {
	uint64_t base = (uint64_t)(uintptr_t)arena;
	return ptr >= base && n <= ARENA && ptr - base <= ARENA - n;
}

// owned says whether n bytes at ptr lie in one allocation: what a copy may touch.
static int owned(uint64_t ptr, uint64_t n) {
	for (int i = 0; i < nspans; i++) {
		uint64_t base = (uint64_t)(uintptr_t)(arena + spans[i].off);
		if (ptr >= base && n <= spans[i].size && ptr - base <= spans[i].size - n) return 1;
	}
	return 0;
}

static int lost;        // error of every call from now on
static int pending;     // error that waiting for the last launch returns, and then is lost
static int hanging;     // waiting for the last launch does not return
static int flip;        // the next kernel spoils its output

static void hang(void) { for (;;) pause(); }

// once says whether a fault may happen: always, or where STUB_ONCE names a
// file, only while that does not exist.
static int once(void) {
	const char *path = getenv("STUB_ONCE");
	if (!path || !*path) return 1;
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
	if (fd >= 0) close(fd);
	return fd >= 0;
}

// scribble writes into the descriptors that a process inherits or opens.
static void scribble(void) {
	static const char text[] = "garbage that no program asked for\n";
	for (int fd = 3; fd < 8; fd++) {
		struct stat st;
		if (!fstat(fd, &st) && S_ISFIFO(st.st_mode)) (void)!write(fd, text, sizeof text - 1);
	}
}

// count counts calls of a function, or launches of a kernel.
static long count(const char *name) {
	static struct { const char *name; long calls; } counts[128];
	for (int i = 0; i < 128; i++) {
		if (!counts[i].name) counts[i].name = name;
		if (!strcmp(counts[i].name, name)) return ++counts[i].calls;
	}
	return 0;
}

// enter logs and counts a call of function, which is called for kernel
// where it is not null, and does what STUB_FAULTS has for it. Its result is
// what the call returns at once, or OK to go on.
static int enter(const char *function, const char *kernel) {
	int launch = kernel != NULL;
	const char *log = getenv("STUB_LOG");
	if (log && *log) {
		FILE *f = fopen(log, "a");
		if (f) fprintf(f, "%s\n", function), fclose(f);
	}
	long call = count(function), of_kernel = launch ? count(kernel) : 0;
	const char *s = getenv("STUB_FAULTS");
	size_t len = strlen(function);
	for (; s && *s; s = strchr(s, ','), s = s ? s + 1 : NULL) {
		if (strncmp(s, function, len)) continue;
		const char *n = s + len;
		long nth = call;
		if (*n == '@') {
			size_t k = launch ? strlen(kernel) : 0;
			if (!launch || strncmp(n + 1, kernel, k)) continue;
			n += 1 + k;
			nth = of_kernel;
		}
		if (*n++ != ':') continue;
		const char *action = strchr(n, ':');
		if (!action || (*n != '*' && atol(n) != nth)) continue;
		action++;
		if (!strncmp(action, "sleep=", 6)) { usleep(1000 * atoi(action + 6)); continue; }
		if (!once()) continue;
		if (!strncmp(action, "lost=", 5)) return lost = atoi(action + 5);
		if (!strncmp(action, "fault=", 6)) { pending = atoi(action + 6); continue; }
		if (!strncmp(action, "hang", 4)) { if (!launch) hang(); hanging = 1; continue; }
		if (!strncmp(action, "abort", 5)) abort();
		if (!strncmp(action, "segv", 4)) { signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); }
		if (!strncmp(action, "exit", 4)) _exit(0);
		if (!strncmp(action, "words", 5)) { fprintf(stderr, "stub: the last words\n"); _exit(3); }
		if (!strncmp(action, "garbage", 7)) { scribble(); continue; }
		if (!strncmp(action, "flip", 4)) { flip = 1; continue; }
		return atoi(action);
	}
	return lost;
}

// A stream that waits for a word of host memory. Kernels run as they are
// launched all the same; waiting for the stream takes the word's time.
struct stream { int magic; const volatile uint32_t *word; uint32_t value; };
enum { STREAM = 0x73747265 };

static int stream_create(struct stream **s) {
	*s = calloc(1, sizeof **s);
	(*s)->magic = STREAM;
	return OK;
}

static int is_stream(const struct stream *s) { return !s || s->magic == STREAM; }

static int stream_destroy(struct stream *s) {
	if (!s || s->magic != STREAM) return INVALID_HANDLE;
	s->magic = 0;
	free(s);
	return OK;
}

static int stream_wait_value(struct stream *s, uint64_t word, uint32_t value) {
	if (!s || s->magic != STREAM) return INVALID_HANDLE;
	s->word = (const volatile uint32_t *)(uintptr_t)word, s->value = value;
	return OK;
}

static int wait_all(void);

static int wait_stream(struct stream *s) {
	if (!is_stream(s)) return INVALID_HANDLE;
	while (s && s->word && (int32_t)(*s->word - s->value) < 0) usleep(100);
	if (s) s->word = NULL;
	return wait_all();
}

static int wait_all(void) {
	if (hanging) hang();
	if (pending) lost = pending, pending = 0;
	return lost;
}

#include "kernels.h"

// A module is the set of kernels that an image names.
struct module { int magic; uint64_t has; };
enum { MODULE = 0x6d6f6431, UNLOADED = 0x6d6f6430 };

// elf_size is the length of an ELF file by its own header.
static size_t elf_size(const unsigned char *e) {
	uint64_t off;
	uint16_t n;
	memcpy(&off, e + 40, 8);
	memcpy(&n, e + 60, 2);
	return off + 64 * n;
}

// mentions says whether the image has prefix, name and suffix in a row,
// and behind them no more of a name.
static int mentions(const char *image, size_t len, const char *prefix, const char *name, const char *suffix) {
	char want[256];
	int n = snprintf(want, sizeof want, "%s%s%s", prefix, name, suffix);
	for (const char *p = image; (p = memmem(p, len - (p - image), want, n)); p++) {
		char c = p[n];
		if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return 1;
	}
	return 0;
}

static int module_load(struct module **out, const char *image, const char *text_prefix, const char *prefix, const char *suffix) {
	struct module *m = calloc(1, sizeof *m);
	int elf = !memcmp(image, "\x7f" "ELF", 4);
	size_t len = elf ? elf_size((const unsigned char *)image) : strlen(image);
	if (!elf && !text_prefix) return INVALID_IMAGE;
	size_t end = len;
	while (!elf && end && strchr(" \n", image[end - 1])) end--;
	if (!elf && (!strstr(image, ".target") || image[end - 1] != '}')) return 218; // invalid PTX
	m->magic = MODULE;
	for (int i = 0; kernels[i].name; i++)
		if (elf ? mentions(image, len, prefix, kernels[i].name, suffix) : mentions(image, len, text_prefix, kernels[i].name, ""))
			m->has |= (uint64_t)1 << i;
	*out = m;
	return OK;
}

static int module_function(const struct kernel **f, const struct module *m, const char *name) {
	if (!m || m->magic != MODULE) return INVALID_HANDLE;
	for (int i = 0; kernels[i].name; i++)
		if (!strcmp(kernels[i].name, name) && m->has >> i & 1) {
			*f = &kernels[i];
			return OK;
		}
	return NOT_FOUND;
}

static int module_unload(struct module *m) {
	if (!m || m->magic != MODULE) return INVALID_HANDLE;
	m->magic = UNLOADED;
	return OK;
}

static int is_kernel(const struct kernel *f) { return f && f >= kernels && f < kernels + sizeof kernels / sizeof kernels[0]; }

static const char *kernel_name(const struct kernel *f) { return is_kernel(f) ? f->name : ""; }

// launch checks what a driver checks, and runs the kernel. The argument
// block comes in extra, which ends with end: 0 for CUDA, 3 for HIP.
static int launch(const struct kernel *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
		void **params, void **extra, uintptr_t end, unsigned shared_max) {
	const unsigned char *args = NULL;
	size_t size = 0;
	if (!is_kernel(f)) return INVALID_HANDLE;
	if (params) return INVALID_VALUE;
	for (int i = 0; extra; i += 2) {
		uintptr_t key = (uintptr_t)extra[i];
		if (key == end) break;
		if (key == 1) args = extra[i + 1];
		else if (key == 2) size = *(size_t *)extra[i + 1];
		else return INVALID_VALUE;
	}
	if (size != f->args || (size && !args)) return INVALID_VALUE;
	uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
	if (!grid[0] || !grid[1] || !grid[2] || !threads || threads > 1024 || block[2] > 64) return INVALID_VALUE;
	if (shared > shared_max) return INVALID_VALUE;
	struct launch l = {args, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared};
	int r = f->run(&l);
	if (r == HANG) hanging = 1;
	else if (r) pending = r;
	if (flip && !r && f->pointer >= 0) {
		uint64_t p;
		memcpy(&p, args + f->pointer, 8);
		if (in(p, 1)) *(unsigned char *)(uintptr_t)p ^= 1;
	}
	flip = 0;
	return OK;
}

static double now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

struct event { double at; };

// A graph is launches that were captured; there is one capture at a time.
struct graph {
	int n, room;
	struct captured {
		const struct kernel *f;
		unsigned grid[3], block[3], shared;
		unsigned char args[512];
		size_t size;
	} *list;
};
static struct graph *capturing;

static int begin_capture(struct stream *s, int mode) {
	if (!s || !is_stream(s) || capturing) return INVALID_HANDLE;
	if (mode != 1) return INVALID_VALUE;
	capturing = calloc(1, sizeof *capturing);
	return OK;
}

static int end_capture(struct stream *s, struct graph **g) {
	if (!s || !is_stream(s) || !capturing) return INVALID_HANDLE;
	*g = capturing, capturing = NULL;
	return OK;
}

// capture copies the arguments, as the drivers do.
static int capture(const struct kernel *f, const unsigned grid[3], const unsigned block[3], unsigned shared, void **extra) {
	struct graph *g = capturing;
	if (g->n == g->room) g->list = realloc(g->list, (g->room = 2 * g->room + 8) * sizeof *g->list);
	struct captured *c = &g->list[g->n];
	*c = (struct captured){f, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, {0}, 0};
	if (extra) {
		c->size = *(size_t *)extra[3];
		if (c->size > sizeof c->args) return INVALID_VALUE;
		memcpy(c->args, extra[1], c->size);
	}
	g->n++;
	return OK;
}

static int graph_copy(struct graph **exec, const struct graph *g, uint64_t flags) {
	if (!g || flags) return INVALID_VALUE;
	*exec = malloc(sizeof **exec);
	**exec = *g;
	(*exec)->list = memcpy(malloc(g->n * sizeof *g->list + 1), g->list, g->n * sizeof *g->list);
	return OK;
}

static int graph_free(struct graph *g) {
	if (!g) return INVALID_VALUE;
	free(g->list), free(g);
	return OK;
}

static int graph_launch(struct graph *g, struct stream *s, uintptr_t end, unsigned shared_max) {
	if (!g || !is_stream(s)) return INVALID_HANDLE;
	for (int i = 0; i < g->n; i++) {
		struct captured *c = &g->list[i];
		void *extra[] = {(void *)1, c->args, (void *)2, &c->size, (void *)end};
		int r = launch(c->f, c->grid, c->block, c->shared, NULL, extra, end, shared_max);
		if (r) return r;
	}
	return OK;
}
