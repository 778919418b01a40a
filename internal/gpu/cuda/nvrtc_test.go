package cuda

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

func compiler(t *testing.T) *NVRTC {
	t.Helper()
	c, err := OpenNVRTC()
	if err != nil {
		gputest.Missing(t, "nvrtc", err)
	}
	return c
}

func TestCompile(t *testing.T) {
	c := compiler(t)
	t.Logf("%s at %s, headers %q", c.Version(), c.Path(), c.includes)
	src := gpu.Source{File: "conform.cu", Text: gputest.Source}

	ptx, err := c.Compile(t.Context(), src, "compute_80")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".target sm_80", ".entry pc_axpy", ".entry pc_pack", ".entry pc_spin"} {
		if !bytes.Contains(ptx, []byte(want)) {
			t.Errorf("PTX lacks %q", want)
		}
	}
	if err := checkImage(ptx); err != nil {
		t.Errorf("checkImage of PTX: %v", err)
	}

	cubin, err := c.Compile(t.Context(), src, "sm_90")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkImage(cubin); err != nil {
		t.Errorf("checkImage of a cubin: %v", err)
	}
	for n := range len(cubin) / 64 {
		if err := checkImage(cubin[:64*n]); err == nil {
			t.Errorf("checkImage of the first %d of %d bytes: got nil, want an error", 64*n, len(cubin))
			break
		}
	}
}

// TestCompileFlags compiles what fuses by default and what must not.
func TestCompileFlags(t *testing.T) {
	c := compiler(t)
	src := gpu.Source{File: "f.cu", Text: `extern "C" __global__ void f(float *y, float a, float b) { y[0] = a * b + y[0]; }`}
	for _, tt := range []struct {
		flag        string
		fused, sure string
	}{
		{"--fmad=true", "fma.rn.f32", "fma.rn.f32"},
		{"--fmad=false", "fma.rn.f32", "mul.rn.f32"},
	} {
		ptx, err := c.Compile(t.Context(), src, "compute_80", tt.flag)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(ptx, []byte(tt.sure)) {
			t.Errorf("%s: PTX lacks %s", tt.flag, tt.sure)
		}
		if got, want := bytes.Contains(ptx, []byte(tt.fused)), tt.flag == "--fmad=true"; got != want {
			t.Errorf("%s: fused: got %v, want %v", tt.flag, got, want)
		}
	}
}

func TestCompileHeaders(t *testing.T) {
	c := compiler(t)
	src := gpu.Source{
		File: "h.hip",
		Text: "#include <hip/hip_runtime.h>\n#include \"mine.h\"\nextern \"C\" __global__ void h(int *y) { y[0] = MINE + HIP; }\n",
		Headers: map[string]string{
			"hip/hip_runtime.h": "#define HIP 4000\n",
			"mine.h":            "#define MINE 321\n",
		},
	}
	ptx, err := c.Compile(t.Context(), src, "compute_80")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(ptx, []byte("4321")) {
		t.Errorf("PTX lacks the sum of both headers' constants:\n%s", ptx)
	}

	half := gpu.Source{File: "half.cu", Text: "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" +
		`extern "C" __global__ void half2x(__half *y, __nv_bfloat16 *z) { y[0] = __hadd(y[0], y[0]); z[0] = __hadd(z[0], z[0]); }`}
	if len(c.includes) == 0 {
		t.Log("no folder with cuda_fp16.h")
	} else if _, err := c.Compile(t.Context(), half, "sm_90"); err != nil {
		t.Errorf("with headers in %s: %v", c.includes[0], err)
	}

	bare := *c.withoutHeaders()
	_, err = bare.Compile(t.Context(), half, "sm_90")
	ce, ok := errors.AsType[*gpu.CompileError](err)
	if !ok || !strings.Contains(ce.Hint, "CUDA_HOME") || !strings.Contains(ce.Hint, "cuda_fp16.h") {
		t.Errorf("without headers: got %v, want a hint that names cuda_fp16.h and CUDA_HOME", err)
	}
}

// withoutHeaders is c on a machine that has no CUDA headers.
func (c *NVRTC) withoutHeaders() *NVRTC {
	return &NVRTC{lib: c.lib, api: c.api, version: c.version, archs: c.archs}
}

func TestCompileErrors(t *testing.T) {
	c := compiler(t)
	good := `extern "C" __global__ void f() {}`
	fails := func(name, file, text, arch string, flags []string, want ...string) {
		t.Helper()
		_, err := c.Compile(t.Context(), gpu.Source{File: file, Text: text}, arch, flags...)
		if err == nil {
			t.Errorf("%s: got nil, want an error", name)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %q, want it to contain %q", name, err, w)
			}
		}
	}
	fails("syntax", "kernels/cuda/bad.cu", "\nextern \"C\" __global__ void f( {", "sm_90", nil, "compiling kernels/cuda/bad.cu", "kernels/cuda/bad.cu(2)", "error")
	fails("option", "f.cu", good, "sm_90", []string{"--no-such-option"}, "--no-such-option")
	fails("arch", "f.cu", good, "sm_11", nil, "does not compile for sm_11", "sm_90")
	fails("amd arch", "f.cu", good, "gfx90a", nil, "must be like sm_90", `"gfx90a"`)
	fails("NUL", "f.cu", good+"\x00 nonsense", "sm_90", nil, "NUL")
	fails("header", "f.cu", "#include \"nowhere.h\"\n"+good, "sm_90", nil, "nowhere.h")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Compile(ctx, gpu.Source{File: "f.cu", Text: good}, "sm_90"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
}

func TestArch(t *testing.T) {
	c := &NVRTC{version: "NVRTC 12.0", archs: []int{50, 80, 90}}
	for _, tt := range []struct{ arch, want, err string }{
		{"sm_90", "sm_90", ""},
		{"sm_89", "compute_80", ""},
		{"sm_121", "compute_90", ""},
		{"sm_37", "", "sm_50 and newer"},
		{"gfx90a", "", "must be like sm_90"},
	} {
		got, err := c.Arch(tt.arch)
		if got != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("Arch(%q): got %q, %v, want %q, %q", tt.arch, got, err, tt.want, tt.err)
		}
	}
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"libnvrtc.so", "libnvrtc.so.9.2", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.12.8.93",
		"libnvrtc-builtins.so.12.8", "libnvrtc.so.12.debug", "libnvrtc_static.a",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range versions(dir, "libnvrtc.so") {
		got = append(got, filepath.Base(path))
	}
	want := []string{"libnvrtc.so.12.8.93", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.9.2", "libnvrtc.so"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNVRTCPlaces puts files that are no libraries where NVRTC may lie:
// the error must name each, in the order of preference.
func TestNVRTCPlaces(t *testing.T) {
	root := t.TempDir()
	place := func(path string) string {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("no library"), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	order := []string{
		place("ld/libnvrtc.so.12"),
		place("home/lib64/libnvrtc.so.13"),
		place("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"),
		place("venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
		place("conda/lib/libnvrtc.so.12"),
	}
	for env, value := range map[string]string{
		nvrtcEnv: "", "LD_LIBRARY_PATH": "ld", "CUDA_HOME": "home", "CUDA_PATH": "", "VIRTUAL_ENV": "venv", "CONDA_PREFIX": "conda",
	} {
		if value != "" {
			value = filepath.Join(root, value)
		}
		t.Setenv(env, value)
	}
	names := nvrtcNames()
	if !slices.Equal(names[:min(len(order), len(names))], order) {
		t.Errorf("order: got %q, want %q", names, order)
	}
	_, err := openNVRTC(order...)
	open, ok := errors.AsType[*clib.OpenError](err)
	if !ok || len(open.Tried) != len(order) || !errors.Is(err, gpu.ErrUnavailable) {
		t.Fatalf("got %v, want an error with %d reasons that wraps ErrUnavailable", err, len(order))
	}
	for i, path := range order {
		if !strings.Contains(open.Tried[i], path) {
			t.Errorf("reason %d: got %q, want %s in it", i, open.Tried[i], path)
		}
	}

	t.Setenv(nvrtcEnv, "/chosen/libnvrtc.so")
	if got := nvrtcNames(); !slices.Equal(got, []string{"/chosen/libnvrtc.so"}) {
		t.Errorf("with %s: got %q, want that alone", nvrtcEnv, got)
	}
}

func TestNVRTCWrongLibrary(t *testing.T) {
	l := probeNVRTC("libm.so.6")
	if l.Err == nil || !strings.Contains(l.Err.Error(), "lacks nvrtcVersion") {
		t.Errorf("got %v, want an error that names the missing symbols", l.Err)
	}
	l = probeNVRTC("/nowhere/libnvrtc.so")
	if !errors.Is(l.Err, gpu.ErrUnavailable) || len(l.Tried) != 1 {
		t.Errorf("got %+v, want ErrUnavailable and one reason", l)
	}
}
