package target

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
)

// put writes a file for a test.
func put(t *testing.T, name string, body []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, body, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func object(t *testing.T, family, arch string) []byte {
	t.Helper()
	b, err := kernels.Object(family, arch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// offload is an offload bundle of objects by their architecture, behind an
// empty one for the host.
func offload(archs []string, of func(arch string) []byte) []byte {
	le := binary.LittleEndian
	ids := []string{"host-x86_64-unknown-linux-gnu"}
	bodies := [][]byte{nil}
	for _, a := range archs {
		ids, bodies = append(ids, "hipv4-amdgcn-amd-amdhsa--"+a), append(bodies, of(a))
	}
	head := len("__CLANG_OFFLOAD_BUNDLE__") + 8
	for _, id := range ids {
		head += 24 + len(id)
	}
	b := le.AppendUint64([]byte("__CLANG_OFFLOAD_BUNDLE__"), uint64(len(ids)))
	at := (head + 4095) &^ 4095
	var rest []byte
	for i, id := range ids {
		b = le.AppendUint64(b, uint64(at+len(rest)))
		b = le.AppendUint64(b, uint64(len(bodies[i])))
		b = append(le.AppendUint64(b, uint64(len(id))), id...)
		rest = append(rest, bodies[i]...)
		rest = append(rest, make([]byte, -len(rest)&4095)...)
	}
	b = append(b, make([]byte, at-len(b))...)
	return append(b, rest...)
}

// compressed is a bundle as clang-offload-bundler compresses it.
func compressed(t *testing.T, b []byte) []byte {
	t.Helper()
	le := binary.LittleEndian
	out := le.AppendUint16(le.AppendUint16([]byte("CCOB"), 2), 1)
	out = le.AppendUint32(out, 0)
	out = le.AppendUint64(le.AppendUint32(out, uint32(len(b))), 0)
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, out)
}

func names(targets []runner.Target) string {
	var list []string
	for _, t := range targets {
		list = append(list, t.Name)
	}
	return strings.Join(list, " ")
}

func caseOf(t *testing.T, op, dtype string) ops.Case {
	t.Helper()
	cases, err := runner.Select(ops.All(), runner.Selection{Ops: []string{op}, DTypes: []string{dtype}})
	if err != nil {
		t.Fatal(err)
	}
	return cases[1]
}

// TestBundles: a bundle of four architectures, plain and compressed, runs
// on those that are interpreted; what it lacks is missing, not wrong.
func TestBundles(t *testing.T) {
	four := offload([]string{"gfx906", "gfx90a:sramecc+:xnack-", "gfx1030", "gfx1100"}, func(arch string) []byte {
		name, _, _ := strings.Cut(arch, ":")
		if name == "gfx906" {
			return []byte("never read")
		}
		return object(t, "rope", name)
	})
	for name, body := range map[string][]byte{"four.hipfb": four, "packed.hipfb": compressed(t, four)} {
		targets, err := User(t.Context(), UserCode{Side: runner.HIP, Path: put(t, name, body)}, nil, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := strings.ReplaceAll("hip[F]@gfx90a hip[F]@gfx1030 hip[F]@gfx1100", "F", name)
		if got := names(targets); got != want {
			t.Errorf("%s: targets %s, want %s", name, got, want)
		}
		here, absent := caseOf(t, "rope_i", "f16"), caseOf(t, "softmax", "f32")
		for _, tg := range targets {
			if err := tg.Accept(&absent); !errors.Is(err, gpu.ErrNoKernel) || err.Error() != "missing: "+name+" has no softmax_f32" {
				t.Errorf("%s: softmax_f32: %v", tg.Name, err)
			}
		}
		r, err := runner.Execute(t.Context(), []ops.Case{here, absent}, targets, runner.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range r.Results {
			if pass := res.Op == "rope_i"; (res.Status == "pass") != pass || res.Missing == pass {
				t.Errorf("%s on %s: %s, missing %v, %s%s", res.Case, res.Target, res.Status, res.Missing, res.Fault, res.Skipped)
			}
		}
	}
}

// TestBadFiles: what is wrong with a file is said in a line that names it.
func TestBadFiles(t *testing.T) {
	t.Setenv("PARITYCHECK_LIBCUDA", gputest.Stub(t, "cuda"))
	rope := object(t, "rope", "gfx90a")
	elf, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	faults, err := kernels.FaultObject("rope", "gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	other := offload([]string{"gfx906", "gfx942"}, func(string) []byte { return rope })
	cases := []struct {
		name   string
		body   []byte
		side   runner.Side
		places []string
		want   string
	}{
		{"empty.hsaco", nil, runner.HIP, nil, "is empty"},
		{"text.hsaco", []byte("hello\n"), runner.HIP, nil, "not an ELF file"},
		{"host.hsaco", elf, runner.HIP, nil, "not AMDGPU"},
		{"cut.hsaco", rope[:3000], runner.HIP, nil, "cut short"},
		{"other.hipfb", other, runner.HIP, nil, "has code for gfx906, gfx942 and none for gfx90a; interpreted are gfx90a, gfx1030, gfx1100"},
		{"one.hsaco", rope, runner.HIP, []string{"gfx1030"}, "has code for gfx90a and none for gfx1030"},
		{"one.hsaco", rope, runner.HIP, []string{"cuda:0"}, "cannot run on cuda:0"},
		{"one.hsaco", rope, runner.HIP, []string{"gfx942"}, "cannot run on gfx942"},
		{"one.hsaco", rope, runner.HIP, []string{"rocm:7"}, "there is no such GPU"},
		{"faults.hsaco", faults, runner.HIP, nil, "has no kernel that an op launches: it has rope"},
		{"text.ptx", []byte("hello\n"), runner.CUDA, nil, "neither a cubin nor PTX"},
		{"amd.cubin", rope, runner.CUDA, nil, "ELF file is for AMD GPU, want NVIDIA CUDA"},
		{"none.ptx", gputest.StubPTX("mine"), runner.CUDA, nil, "has no kernel that an op launches: it has mine"},
		{"cut.ptx", []byte(".version 8.0\n.target sm_50\n.visible .entry uneg_f32("), runner.CUDA, nil, "ptxas fatal"},
		{"fine.ptx", gputest.StubPTX("uneg_f32"), runner.CUDA, []string{"gfx90a"}, "cannot run on gfx90a"},
		{"fine.ptx", gputest.StubPTX("uneg_f32"), runner.CUDA, []string{"cuda:3"}, "there is no GPU 3, only 1"},
	}
	for _, c := range cases {
		_, err := User(t.Context(), UserCode{Side: c.side, Path: put(t, c.name, c.body)}, c.places, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s at %v: got %v, want %q", c.name, c.places, err, c.want)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "absent"), t.TempDir()} {
		if _, err := User(t.Context(), UserCode{Side: runner.HIP, Path: path}, nil, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// TestCutFiles: a file cut short anywhere is an error and no panic.
func TestCutFiles(t *testing.T) {
	whole := offload([]string{"gfx90a"}, func(a string) []byte { return object(t, "fill", a) })
	packed := compressed(t, whole)
	for _, body := range [][]byte{whole, packed, object(t, "fill", "gfx90a")} {
		for i := 1; i < 60; i++ {
			cut := body[:len(body)*i/60]
			if len(cut) >= len(bytes.TrimRight(body, "\x00")) {
				continue // that is padding
			}
			if _, err := User(t.Context(), UserCode{Side: runner.HIP, Path: put(t, "cut", cut)}, []string{"gfx90a"}, Options{}); err == nil {
				t.Errorf("%d of %d bytes gave no error", len(cut), len(body))
			}
		}
	}
}

// TestCUDAObject: PTX runs on the device in place of ours, with symbols
// missing and unknown ones listed, and one of another signature refused.
func TestCUDAObject(t *testing.T) {
	t.Setenv("PARITYCHECK_LIBCUDA", gputest.Stub(t, "cuda"))
	ptx := `.version 8.0
.target sm_50
.address_size 64
.visible .entry uneg_f32(
	.param .u64 uneg_f32_param_0, .param .u64 uneg_f32_param_1, .param .u64 .ptr .global .align 8 p2,
	.param .u64 p3, .param .u64 p4
) { ret; }
.visible .entry usqr_f32(.param .u64 a, .param .u32 b) { ret; }
.visible .entry helper() { ret; }
`
	targets, err := User(t.Context(), UserCode{Side: runner.CUDA, Path: put(t, "mine.ptx", []byte(ptx))}, nil, Options{})
	if err != nil || names(targets) != "cuda[mine.ptx]@cuda:0" || !slices.Equal(targets[0].Unknown, []string{"helper"}) {
		t.Fatalf("got %s, unknown %v, %v", names(targets), targets[0].Unknown, err)
	}
	cases := []ops.Case{caseOf(t, "neg", "f32"), caseOf(t, "sqr", "f32"), caseOf(t, "copy", "f32")}
	r, err := runner.Execute(t.Context(), cases, targets, runner.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Results[0]; s.Status != "pass" {
		t.Errorf("neg: %s %s%s", s.Status, s.Fault, s.Skipped)
	}
	want := "another signature: usqr_f32 of mine.ptx has 2 parameters of 8 4 bytes, the op passes 5 of 8 8 8 8 8 bytes: u64 numel, u64 num_dims, u64* info, f32* inp, f32* out"
	if s := r.Results[1]; s.Status != "FAIL" || s.Fault != want {
		t.Errorf("sqr: %s %s", s.Status, s.Fault)
	}
	if s := r.Results[2]; s.Status != "unverified" || !s.Missing {
		t.Errorf("copy: %s %s", s.Status, s.Skipped)
	}
	if info := r.Env.Targets[0]; !strings.HasSuffix(info.Source, "mine.ptx") || !slices.Equal(info.Unknown, []string{"helper"}) {
		t.Errorf("target is %+v", info)
	}
}

// TestHIPSource compiles a half-done port with a wrong signature in it, by
// clang, and again from the cache.
func TestHIPSource(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		gputest.Missing(t, "clang", err)
	}
	t.Setenv(hipccEnv, clang)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	for name, text := range map[string]string{
		"inc/step.h": "#define STEP(i, n) for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n",
		"port.hip": `#include <hip/hip_runtime.h>
#include "step.h"
extern "C" __global__ void fill_f32(float *buf, float value, size_t numel) { STEP(i, numel) buf[i] = VALUE; }
extern "C" __global__ void fill_u8(unsigned char *buf, int value, size_t numel) { STEP(i, numel) buf[i] = value; }
extern "C" __global__ void fill_f64(double *buf, double value, int numel, int extra) { STEP(i, numel) buf[i] = value; }
extern "C" __global__ void mine(float *buf) { buf[0] = 1; }
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	u := UserCode{Side: runner.HIP, Path: filepath.Join(dir, "port.hip"), Compile: true, Include: []string{filepath.Join(dir, "inc")}, Define: []string{"VALUE=value"}}
	run := func() *runner.Run {
		t.Helper()
		targets, err := User(t.Context(), u, []string{"gfx90a"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := runner.Execute(t.Context(), []ops.Case{caseOf(t, "fill", "f32"), caseOf(t, "fill", "f64"), caseOf(t, "fill", "u8"), caseOf(t, "fill", "bf16")}, targets, runner.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Env.Targets[0].Unknown, []string{"mine"}) {
			t.Errorf("unknown kernels %v", r.Env.Targets[0].Unknown)
		}
		return r
	}
	r := run()
	for i, want := range []string{"pass", "FAIL", "FAIL", "unverified"} {
		if s := r.Results[i]; string(s.Status) != want {
			t.Errorf("%s: %s %s%s, want %s", s.Case, s.Status, s.Fault, s.Skipped, want)
		}
	}
	if f := r.Results[1].Fault; !strings.HasPrefix(f, "another signature: fill_f64 of port.hip has 4 parameters of 8 8 4 4 bytes, the op passes 3 of 8 8 8 bytes") {
		t.Errorf("fill_f64: %s", f)
	}

	entries, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "paritycheck", "*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("cache holds %v, %v", entries, err)
	}
	before, err := os.Stat(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	run()
	if after, err := os.Stat(entries[0]); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("compiled again: %v", err)
	}
	// Another definition is another object, here a wrong one; another
	// header too.
	u.Define = []string{"VALUE=value+1"}
	if s := run().Results[0]; s.Status != "FAIL" {
		t.Errorf("with -D VALUE=value+1: %s", s.Status)
	}
	u.Define = nil
	if _, err := User(t.Context(), u, []string{"gfx90a"}, Options{}); err == nil || !strings.Contains(err.Error(), "VALUE") {
		t.Errorf("without -D: got %v", err)
	}
	u.Include = []string{filepath.Join(dir, "absent")}
	if _, err := User(t.Context(), u, []string{"gfx90a"}, Options{}); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("-I of no folder: got %v", err)
	}
}

func TestPacked(t *testing.T) {
	got := packed([]int{8, 4, 8, 1, 2, 4})
	want := []param{{0, 8}, {8, 4}, {16, 8}, {24, 1}, {26, 2}, {28, 4}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if packed(nil) != nil || packed([]int{}) == nil {
		t.Error("unknown and no parameters must differ")
	}
	var args gpu.Args
	for _, p := range want {
		args.Uint(0, p.size)
	}
	if last := want[len(want)-1]; len(args.Bytes()) != last.offset+last.size {
		t.Errorf("gpu.Args packs %d bytes, want %d", len(args.Bytes()), last.offset+last.size)
	}
}

// TestHipcc5 runs what hipcc 5.2 (clang 15) made of kernels/hip/rope.hip.
// It loads the last three dwords of the arguments as four, which the
// alignment of their segment to 16 bytes allows: no finding.
func TestHipcc5(t *testing.T) {
	f, err := os.Open("testdata/rope.hipcc5.gfx90a.hipfb.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	body, err := io.ReadAll(f) // gzipped bundles are read as they are
	if err != nil {
		t.Fatal(err)
	}
	targets, err := User(t.Context(), UserCode{Side: runner.HIP, Path: put(t, "old.hipfb.gz", body)}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cases := []ops.Case{caseOf(t, "rope_i", "f32"), caseOf(t, "rope", "bf16"), caseOf(t, "rope_thd", "f64")}
	r, err := runner.Execute(t.Context(), cases, targets, runner.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range r.Results {
		if res.Status != "pass" {
			t.Errorf("%s: %s %s, findings %v", res.Case, res.Status, res.Fault, res.Findings)
		}
	}
}
