package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/kernels"
)

// tinySource has two kernels of different code.
const tinySource = `#include "types.h"
template <typename T> __device__ inline void scale(T *x, T f) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = fused(x[i], f, x[i + 1]);
}
extern "C" __global__ void scale_f32(f32 *x, f32 f) { scale(x, f); }
extern "C" __global__ void scale_f64(f64 *x, f64 f) { scale(x, f); }
`

// tiny compiles tinySource for gfx1100 in a new folder.
func tiny(t *testing.T, flags []string) []byte {
	t.Helper()
	c, err := newClang("clang-19", "/usr", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", t.TempDir())
	if err != nil {
		missing(t, "clang", err)
	}
	_, headers, err := kernels.Source(kernels.HIP, "rope")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{Built: kernels.Built{Family: "tiny", Arch: "gfx1100", Source: "hip/tiny.hip"}}
	j.Flags = slices.Concat([]string{"--offload-arch=gfx1100"}, kernels.Flags(kernels.HIP), flags)
	object, err := c.compile(j, tinySource, headers)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestReproducible(t *testing.T) {
	t.Parallel()
	a, b := tiny(t, clangFlags), tiny(t, clangFlags)
	if !bytes.Equal(a, b) {
		t.Error("two folders give different objects")
	}
	bare := tiny(t, slices.DeleteFunc(slices.Clone(clangFlags), func(f string) bool { return f == "-gline-tables-only" }))
	if bytes.Equal(a, bare) {
		t.Error("-gline-tables-only adds nothing")
	}
	for _, k := range parse(t, a).Kernels {
		if !bytes.Equal(code(t, bare, k.Name), code(t, a, k.Name)) {
			t.Errorf("%s: -gline-tables-only changes the code", k.Name)
		}
	}
	if bytes.Equal(code(t, a, "scale_f32"), code(t, a, "scale_f64")) {
		t.Error("float and double have the same code: the comparison sees nothing")
	}
}

func parse(t *testing.T, image []byte) *codeobject.File {
	t.Helper()
	f, err := codeobject.Parse(image, "gfx1100")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// code returns a kernel's instructions.
func code(t *testing.T, image []byte, name string) []byte {
	t.Helper()
	f := parse(t, image)
	k := f.Kernel(name)
	if k == nil || k.Size == 0 {
		t.Fatalf("no kernel %s", name)
	}
	return f.Image[k.Entry : k.Entry+k.Size]
}

func TestBadSource(t *testing.T) {
	t.Parallel()
	c, err := newClang("clang-19", "/usr", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", t.TempDir())
	if err != nil {
		missing(t, "clang", err)
	}
	j := &job{Built: kernels.Built{Family: "bad", Arch: "gfx90a", Source: "hip/bad.hip", Flags: []string{"--offload-arch=gfx90a"}}}
	_, err = c.compile(j, "\nint x = nosuch;", nil)
	if err == nil || !strings.Contains(err.Error(), "hip/bad.hip:2:") {
		t.Errorf("got %v, want clang's message with file and line", err)
	}
}
