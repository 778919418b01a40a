package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// stub is a harness over a stub driver.
func stub(t testing.TB) gputest.StubHarness {
	lib := gputest.Stub(t, "cuda")
	return gputest.StubHarness{
		Harness: gputest.Harness{
			Open:  func() (gpu.Device, error) { return open(0, nil, lib) },
			Image: func(gpu.Device) ([]byte, error) { return gputest.StubPTX(gputest.SuiteKernels...), nil },
		},
		Vendor: "cuda", LaunchKernel: "cuLaunchKernel", Synchronize: "cuStreamSynchronize",
	}
}

func TestStub(t *testing.T) { gputest.Driver(t, stub) }

// silicon is a harness over the machine's own GPU. Its modules are
// compiled by NVRTC.
func silicon(t testing.TB) gputest.Harness {
	dev, err := Open(0, nil)
	if errors.Is(err, gpu.ErrUnavailable) {
		gputest.Missing(t, "cuda", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dev.Close()
	c, err := OpenNVRTC()
	if err != nil {
		gputest.Missing(t, "nvrtc", err)
	}
	return gputest.Harness{
		Open: func() (gpu.Device, error) { return Open(0, c) },
		Image: func(dev gpu.Device) ([]byte, error) {
			arch, err := c.Arch(dev.Info().Arch)
			if err != nil {
				return nil, err
			}
			return c.Compile(t.Context(), gpu.Source{File: "conform.cu", Text: gputest.Source}, arch)
		},
	}
}

func TestSilicon(t *testing.T) {
	gputest.Silicon(t, silicon(t), func(string) bool { return false })
}

// TestSiliconPTX loads through the driver's own compiler.
func TestSiliconPTX(t *testing.T) {
	h := silicon(t)
	c, err := OpenNVRTC()
	if err != nil {
		t.Fatal(err)
	}
	ptx, err := c.Compile(t.Context(), gpu.Source{File: "conform.cu", Text: gputest.Source}, "compute_"+fmt.Sprint(c.archs[0]))
	if err != nil {
		t.Fatal(err)
	}
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	_, err = dev.Load(ptx)
	dev.Close()
	if e, ok := errors.AsType[*gpu.Error](err); ok && result(e.Code) == _CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
		t.Skipf("%s is newer than the driver: %v", c.Version(), err)
	}
	h.Image = func(gpu.Device) ([]byte, error) { return ptx, nil }
	gputest.Run(t, h)
}

func TestStubInfo(t *testing.T) {
	t.Setenv("STUB_ARCH", "89")
	t.Setenv("STUB_DEVICES", "2")
	lib := gputest.Stub(t, "cuda")
	dev, err := open(1, nil, lib)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	got := dev.Info()
	got.Driver, _, _ = strings.Cut(got.Driver, ",") // the machine's kernel module may add its own
	want := gpu.Info{Name: "Stub GPU 1", Arch: "sm_89", Driver: "CUDA 12.8", Compiler: "the driver's own", WaveSize: 32}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	l, devices := probeDriver("/nowhere/libcuda.so", lib)
	if l.Path != lib || len(l.Tried) != 1 || !strings.Contains(l.Tried[0], "/nowhere/libcuda.so") || l.Err != nil || len(devices) != 2 {
		t.Errorf("probe: got %+v, %v, want both devices of %s and one library tried before it", l, devices, lib)
	}
}

func TestOpenErrors(t *testing.T) {
	fails := func(name string, unavailable bool, ordinal int, names []string, want ...string) {
		t.Helper()
		d, err := open(ordinal, nil, names...)
		if err == nil {
			d.Close()
			t.Errorf("%s: got nil, want an error", name)
			return
		}
		if errors.Is(err, gpu.ErrUnavailable) != unavailable {
			t.Errorf("%s: got %v, want it to wrap ErrUnavailable: %v", name, err, unavailable)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %q, want it to contain %q", name, err, w)
			}
		}
	}
	fails("no library", true, 0, []string{"/nowhere/libcuda.so.1", "libnope-cuda.so"}, "/nowhere/libcuda.so.1", "libnope-cuda.so")
	fails("another library", false, 0, []string{"libm.so.6"}, "too old", "lacks cuInit", "cuLaunchKernel")
	lib := gputest.Stub(t, "cuda")
	fails("no such device", true, 1, []string{lib}, "device 1 was asked for, the driver has 1")
	fails("negative device", true, -1, []string{lib}, "device -1")
	fails("missing symbol", false, 0, []string{gputest.Stub(t, "cuda", "-DcuMemsetD8_v2=absent", "-DcuLaunchKernel=absent2")},
		"too old", "lacks cuMemsetD8_v2, cuLaunchKernel")

	t.Setenv("STUB_DEVICES", "0")
	fails("no device", true, 0, []string{lib}, "cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected")
	t.Setenv("STUB_DEVICES", "1")
	for call, want := range map[string]string{
		"cuInit:*:999":                     "cuInit: unknown CUresult (999)",
		"cuDeviceGetCount:*:3":             "cuDeviceGetCount: CUDA_ERROR_NOT_INITIALIZED (3)",
		"cuDeviceGet:*:101":                "cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101)",
		"cuDevicePrimaryCtxRetain:*:2":     "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory",
		"cuCtxSetCurrent:*:201":            "cuCtxSetCurrent: CUDA_ERROR_INVALID_CONTEXT (201)",
		"cuDeviceGetAttribute:*:1":         "cuDeviceGetAttribute: CUDA_ERROR_INVALID_VALUE (1)",
		"cuDeviceGetName:*:101":            "cuDeviceGetName: CUDA_ERROR_INVALID_DEVICE (101)",
		"cuDriverGetVersion:*:1":           "cuDriverGetVersion: CUDA_ERROR_INVALID_VALUE (1)",
		"cuX:1:2,cuDeviceGetCount:1:3,b:a": "cuDeviceGetCount: CUDA_ERROR_NOT_INITIALIZED (3)",
	} {
		t.Setenv("STUB_FAULTS", call)
		fails(call, false, 0, []string{gputest.Stub(t, "cuda")}, want)
	}
	t.Setenv("STUB_FAULTS", "cuDevicePrimaryCtxSetFlags_v2:*:1") // of no consequence
	if d, err := open(0, nil, lib); err != nil {
		t.Errorf("refused flags: %v", err)
	} else {
		d.Close()
	}
}

func TestDriverEnv(t *testing.T) {
	t.Setenv(driverEnv, gputest.Stub(t, "cuda"))
	d, err := Open(0, &NVRTC{version: "NVRTC 1.2"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Info().Compiler; got != "NVRTC 1.2" {
		t.Errorf("compiler: got %q, want NVRTC 1.2", got)
	}
	d.Close()
	t.Setenv(driverEnv, "/nowhere/libcuda.so")
	d, err = Open(0, nil)
	if d != nil || !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere/libcuda.so") {
		t.Errorf("got %v, %v, want a nil device and an error that names the library", d, err)
	}
}

func TestCallErrors(t *testing.T) {
	for _, tt := range []struct {
		faults string
		call   func(s gputest.Session) error
		want   string
	}{
		{"cuMemAlloc_v2:2:2", func(s gputest.Session) error { _, err := s.Dev.Alloc("alpha", 64); return err }, "alpha of 64 bytes: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
		{"cuMemcpyHtoD_v2:2:1", func(s gputest.Session) error { return s.Buf.CopyIn(make([]byte, 4)) }, "cuMemcpyHtoD_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemcpyDtoH_v2:1:1", func(s gputest.Session) error { return s.Buf.CopyOut(make([]byte, 4)) }, "cuMemcpyDtoH_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemsetD8_v2:1:1", func(s gputest.Session) error { return s.Buf.Poison(1) }, "cuMemsetD8_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemFree_v2:1:400", func(s gputest.Session) error { return s.Buf.Free() }, "cuMemFree_v2: CUDA_ERROR_INVALID_HANDLE (400)"},
		{"cuModuleLoadDataEx:2:218", func(s gputest.Session) error { _, err := s.Dev.Load(gputest.StubPTX()); return err }, "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed"},
		{"", func(s gputest.Session) error { _, err := s.Dev.Load([]byte(".version 8.0\n")); return err }, "a PTX JIT compilation failed\nptxas fatal : stub says no"},
		{"cuModuleLoadDataEx:2:222", func(s gputest.Session) error { _, err := s.Dev.Load(gputest.StubPTX()); return err }, "(222): compiled by a newer CUDA than the driver's CUDA 12.8"},
		{"cuDevicePrimaryCtxRelease_v2:1:201", func(s gputest.Session) error { return s.Dev.Close() }, "closing: cuDevicePrimaryCtxRelease_v2: CUDA_ERROR_INVALID_CONTEXT (201)"},
	} {
		err := tt.call(stub(t).Start(t, tt.faults))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "cuda: ") {
			t.Errorf("%s: got %v, want cuda: ... %s", tt.faults, err, tt.want)
		}
	}
}

func TestDynamicShared(t *testing.T) {
	log := filepath.Join(t.TempDir(), "calls")
	t.Setenv("STUB_LOG", log)
	s := stub(t).Start(t, "")
	for _, bytes := range []int{0, 48 << 10, 49 << 10, 49 << 10, 100 << 10} {
		one := gpu.Dim3{X: 1, Y: 1, Z: 1}
		if _, err := s.Dev.Launch(t.Context(), s.Kernel, gpu.LaunchConfig{Grid: one, Block: one, Shared: bytes}, s.Args); err != nil {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "cuFuncSetAttribute\n"); got != 2 {
		t.Errorf("calls of cuFuncSetAttribute: got %d, want 2", got)
	}
}

func TestCheckImage(t *testing.T) {
	fat := append([]byte("\x50\xed\x55\xba\x01\x00\x10\x00\x04\x00\x00\x00\x00\x00\x00\x00"), 1, 2, 3, 4)
	for _, tt := range []struct {
		name  string
		image []byte
		want  string // in the error; empty for none
	}{
		{"ptx", gputest.StubPTX("k"), ""},
		{"ptx with its NUL", append(gputest.StubPTX("k"), 0), ""},
		{"ptx with text behind a NUL", append(gputest.StubPTX("k"), "\x00more"...), "is NUL"},
		{"fat binary", fat, ""},
		{"fat binary cut short", fat[:len(fat)-1], "cut short"},
		{"code object", gputest.StubCodeObject("k"), "is for AMD GPU, want NVIDIA CUDA"},
		{"C source", []byte("__global__ void k() {}"), "no line begins with .version"},
		{"empty", nil, "empty"},
	} {
		err := checkImage(tt.image)
		if got := fmt.Sprint(err); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzCheckImage(f *testing.F) {
	f.Add(gputest.StubPTX("k"))
	f.Add([]byte("\x50\xed\x55\xba\x01\x00\x10\x00\x04\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, image []byte) { checkImage(image) })
}

// BenchmarkLaunch is what a prepared launch costs the host, with the stub
// driver's own work on a kernel of one addition: Queue as it is timed, C the
// bare call of the C function.
func BenchmarkLaunch(b *testing.B) {
	b.Setenv("STUB_FAULTS", "")
	lib := gputest.Stub(b, "cuda")
	dev, err := open(0, nil, lib)
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	ptx := append(gputest.StubPTX(gputest.SuiteKernels...), 0)
	m, err := dev.Load(ptx)
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("pc_count")
	if err != nil {
		b.Fatal(err)
	}
	buf, err := dev.Alloc("count", 4)
	if err != nil {
		b.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(buf)
	one := gpu.Dim3{X: 1, Y: 1, Z: 1}
	l, err := dev.(gpu.Timer).Prepare(k, gpu.LaunchConfig{Grid: one, Block: one}, args.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Free()

	// The same launch by hand, through the same library.
	a, err := load(lib)
	if err != nil {
		b.Fatal(err)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	block, size := args.Bytes(), new(uintptr)
	*size = uintptr(len(block))
	extra := &[...]uintptr{1, uintptr(unsafe.Pointer(&block[0])), 2, uintptr(unsafe.Pointer(size)), 0}
	for _, p := range []any{&block[0], size, extra} {
		pin.Pin(p)
	}
	var module, function uintptr

	for _, c := range []struct {
		name string
		call func(q gpu.Queue) error
	}{
		{"Queue", func(q gpu.Queue) error { return q.Launch(l) }},
		{"C", func(gpu.Queue) error {
			clib.Call(a.LaunchKernel.Call, function, 1, 1, 1, 1, 1, 1, 0, 0, 0, uintptr(unsafe.Pointer(extra)))
			return nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			err := dev.(gpu.Timer).Enqueue(b.Context(), func(q gpu.Queue) error {
				if function == 0 {
					var options int32
					var values uintptr
					err := a.Check("cuModuleLoadDataEx", a.cuModuleLoadDataEx(&module, &ptx[0], 0, &options, &values))
					if err != nil {
						return err
					}
					if err := a.Check("cuModuleGetFunction", a.ModuleGetFunction.Call(&function, module, "pc_count")); err != nil {
						return err
					}
				}
				for b.Loop() {
					if err := c.call(q); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
