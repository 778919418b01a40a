package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/kernels"
)

// missing skips the test for want of a tool, or fails it where
// PARITYCHECK_REQUIRE names the tool.
func missing(t *testing.T, tool string, reason any) {
	t.Helper()
	if required(tool) {
		t.Fatalf("%s is required: %v", tool, reason)
	}
	t.Skipf("%s: %v", tool, reason)
}

// families lists all of them where PARITYCHECK_REQUIRE names the compiler,
// as in CI, and else one that compiles in a second.
func families(tool string) []string {
	if required(tool) {
		return kernels.Families()
	}
	return []string{"rope"}
}

func required(tool string) bool {
	return slices.Contains(strings.Split(os.Getenv("PARITYCHECK_REQUIRE"), ","), tool)
}

func testNVRTC(t *testing.T) *cuda.NVRTC {
	t.Helper()
	c, err := cuda.OpenNVRTC()
	if err != nil {
		missing(t, "nvrtc", err)
	}
	return c
}

// compileNV compiles text as the committed PTX is compiled.
func compileNV(c *cuda.NVRTC, file, text string, headers map[string]string) ([]byte, error) {
	return ptx(c, gpu.Source{File: file, Text: text, Headers: headers}, kernels.Flags(kernels.CUDA))
}

var (
	entry   = regexp.MustCompile(`(?s)\.visible \.entry (\w+)\((.*?)\)`)
	kernelN = regexp.MustCompile(`\w+_param_(\d+)`)
)

// entries lists the kernels of PTX with their parameters, as PTX writes
// them.
func entries(ptx []byte) []string {
	var list []string
	for _, e := range entry.FindAllSubmatch(ptx, -1) {
		list = append(list, string(e[1])+"("+string(kernelN.ReplaceAll(e[2], []byte("$1")))+")")
	}
	slices.Sort(list)
	return list
}

// The HIP sources compile for NVIDIA and give the kernels of the CUDA ones.
func TestHIPOnNVIDIA(t *testing.T) {
	c := testNVRTC(t)
	for _, f := range families("nvrtc") {
		src, headers, err := kernels.Source(kernels.HIPNV, f)
		if err != nil {
			t.Fatal(err)
		}
		hip, err := compileNV(c, f+".hip", src, headers)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		cuda, err := kernels.PTX(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := entries(hip), entries(cuda); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: HIP gives %v, CUDA %v", f, got, want)
		}
	}
}

// What hip_runtime.h offers, kernels/hip using it or not.
func TestHIPNames(t *testing.T) {
	c := testNVRTC(t)
	_, headers, err := kernels.Source(kernels.HIPNV, kernels.Families()[0])
	if err != nil {
		t.Fatal(err)
	}
	ptx, err := compileNV(c, "names.hip", `#include <hip/hip_runtime.h>
extern "C" __global__ void names(float *x, unsigned long long *b, _Float16 *h) {
  HIP_DYNAMIC_SHARED(float, lds)
  unsigned i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  float v = x[i];
  for (int m = warpSize / 2; m > 0; m /= 2)
    v += __shfl_xor(v, m) + __shfl_down(v, m) + __shfl_up(v, m, 32) + __shfl(v, 0);
  lds[hipThreadIdx_x] = v;
  __syncthreads();
  b[i] = __ballot(v > 0) + __any(v > 1) + __all(v > 2);
  h[i] = static_cast<_Float16>(lds[hipThreadIdx_x ^ 1] + h[i + 1]);
}`, headers)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shfl.sync.bfly", "shfl.sync.down", "shfl.sync.up", "shfl.sync.idx", "vote.sync.ballot", "vote.sync.any", "vote.sync.all", "cvt.rn.f16.f32", "cvt.f32.f16"} {
		if !bytes.Contains(ptx, []byte(want)) {
			t.Errorf("got no %s in the PTX", want)
		}
	}
}

// NVRTC must not fuse what the source does not.
func TestNoContraction(t *testing.T) {
	c := testNVRTC(t)
	ptx, err := compileNV(c, "k.cu", `extern "C" __global__ void k(float *x) { x[0] = x[1] * x[2] + x[3]; }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(ptx, []byte("fma.")) || !bytes.Contains(ptx, []byte("mul.f32")) && !bytes.Contains(ptx, []byte("mul.rn.f32")) {
		t.Errorf("got\n%s\nwant mul and add", ptx)
	}
}

func TestCompileError(t *testing.T) {
	c := testNVRTC(t)
	_, err := compileNV(c, "bad.cu", "\nextern \"C\" __global__ void k() { nosuch(); }", nil)
	if err == nil || !strings.Contains(err.Error(), "bad.cu(2)") || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got %v, want the compiler's log with file and line", err)
	}
}
