package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// stub is a harness over a stub driver.
func stub(t testing.TB, flags ...string) gputest.Harness {
	lib := gputest.Stub(t, "cuda", flags...)
	return gputest.Harness{
		Open:  func() (gpu.Device, error) { return openDevice(0, lib) },
		Image: func(gpu.Device) ([]byte, error) { return gputest.StubPTX(gputest.SuiteKernels...), nil },
	}
}

// openDevice is open with a nil device for an error.
func openDevice(ordinal int, names ...string) (gpu.Device, error) {
	d, err := open(ordinal, names...)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func TestStub(t *testing.T) {
	gputest.Run(t, stub(t))
	for _, symbol := range gputest.FaultKernels {
		t.Run(symbol, func(t *testing.T) { gputest.Fault(t, stub(t), symbol) })
	}
}

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
	h := silicon(t)
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", dev.Info())
	dev.Close()
	gputest.Run(t, h)
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

func TestSiliconTime(t *testing.T) {
	h := silicon(t)
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	testTime(t, h, dev)
}

// TestSiliconFaults launches each kernel that faults in a process of its
// own, since the GPU is lost to that process.
func TestSiliconFaults(t *testing.T) {
	const env = "PARITYCHECK_TEST_FAULT"
	if symbol := os.Getenv(env); symbol != "" {
		gputest.Fault(t, silicon(t), symbol)
		return
	}
	silicon(t)
	for _, symbol := range gputest.FaultKernels {
		t.Run(symbol, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSiliconFaults$", "-test.v")
			cmd.Env = append(os.Environ(), env+"="+symbol)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestSiliconFaults") {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

func testTime(t *testing.T, h gputest.Harness, dev gpu.Device) {
	t.Helper()
	image, err := h.Image(dev)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("pc_count")
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc("count", 4)
	if err != nil {
		t.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(b)
	if err := b.CopyIn(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	n := gputest.Timer(t, dev, k, args.Bytes())
	var got [4]byte
	if err := b.CopyOut(got[:]); err != nil {
		t.Fatal(err)
	}
	if threads := binary.LittleEndian.Uint32(got[:]); int(threads) != 25600*n {
		t.Errorf("%d threads counted in %d launches, want %d", threads, n, 25600*n)
	}
}

func TestStubTime(t *testing.T) {
	h := stub(t)
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	testTime(t, h, dev)
}

func TestStubInfo(t *testing.T) {
	t.Setenv("STUB_ARCH", "89")
	t.Setenv("STUB_DEVICES", "2")
	lib := gputest.Stub(t, "cuda")
	dev, err := openDevice(1, lib)
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
		d, err := openDevice(ordinal, names...)
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
	if d, err := openDevice(0, lib); err != nil {
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

// session is an open stub device with one buffer and a kernel that counts.
type session struct {
	dev  gpu.Device
	buf  gpu.Buffer
	k    gpu.Kernel
	args []byte
}

func open1(t *testing.T, faults string) session {
	t.Helper()
	t.Setenv("STUB_FAULTS", faults)
	h := stub(t)
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	image, _ := h.Image(dev)
	m, err := dev.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("pc_count")
	if err != nil {
		t.Fatal(err)
	}
	buf, err := dev.Alloc("count", 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := buf.CopyIn(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(buf)
	return session{dev, buf, k, args.Bytes()}
}

func (s session) launch(ctx context.Context) error {
	one := gpu.Dim3{X: 1, Y: 1, Z: 1}
	_, err := s.dev.Launch(ctx, s.k, gpu.LaunchConfig{Grid: one, Block: one}, s.args)
	return err
}

func TestLaunchFaults(t *testing.T) {
	for _, tt := range []struct {
		faults string
		fault  bool   // the error is a *gpu.Fault
		lost   bool   // and later calls fail
		want   string // in the error
	}{
		{"cuLaunchKernel:1:701", false, false, "launching pc_count: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many resources requested for launch"},
		{"cuLaunchKernel:1:fault=700", true, true, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"},
		{"cuLaunchKernel:1:fault=719", true, true, "CUDA_ERROR_LAUNCH_FAILED (719)"},
		{"cuLaunchKernel:1:fault=702", true, true, "CUDA_ERROR_LAUNCH_TIMEOUT (702)"},
		{"cuLaunchKernel:1:fault=777", true, true, "unknown CUresult (777)"}, // not in the list, but the context answers with it
		{"cuLaunchKernel:1:lost=719", true, true, "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (719)"},
		{"cuStreamSynchronize:1:701", true, false, "cuStreamSynchronize: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"},
	} {
		s := open1(t, tt.faults)
		err := s.launch(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.faults, err, tt.want)
		}
		f, ok := errors.AsType[*gpu.Fault](err)
		if ok != tt.fault || ok && (f.Lost != tt.lost || f.Kernel != "pc_count") {
			t.Errorf("%s: got %+v, want a fault: %v, lost: %v", tt.faults, f, tt.fault, tt.lost)
		}
		if e, ok := errors.AsType[*gpu.Error](err); !ok || e.Code == 0 {
			t.Errorf("%s: got %v, want the driver's error in it", tt.faults, err)
		}
		err = s.launch(t.Context())
		if errors.Is(err, gpu.ErrLost) != tt.lost || (err != nil) != tt.lost {
			t.Errorf("%s: next launch: got %v, want gpu.ErrLost: %v", tt.faults, err, tt.lost)
		}
		if _, again := errors.AsType[*gpu.Fault](err); again {
			t.Errorf("%s: next launch: got a fault for a kernel that did not run", tt.faults)
		}
		if err := s.dev.Close(); err != nil {
			t.Errorf("%s: close: %v", tt.faults, err)
		}
	}
}

func TestHang(t *testing.T) {
	s := open1(t, "cuLaunchKernel:2:hang")
	if err := s.launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.launch(ctx)
	f, ok := errors.AsType[*gpu.Fault](err)
	if !ok || !f.Lost || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(f.Reason, "did not end") {
		t.Errorf("got %#v, want a fault that did not end, with Lost, and wraps the deadline", err)
	}
	for name, err := range map[string]error{
		"launch": s.launch(t.Context()), "free": s.buf.Free(), "close": s.dev.Close(),
	} {
		if !errors.Is(err, gpu.ErrLost) {
			t.Errorf("%s: got %v, want gpu.ErrLost", name, err)
		}
	}
}

func TestCallErrors(t *testing.T) {
	for _, tt := range []struct {
		faults string
		call   func(s session) error
		want   string
	}{
		{"cuMemAlloc_v2:2:2", func(s session) error { _, err := s.dev.Alloc("alpha", 64); return err }, "alpha of 64 bytes: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
		{"cuMemcpyHtoD_v2:2:1", func(s session) error { return s.buf.CopyIn(make([]byte, 4)) }, "cuMemcpyHtoD_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemcpyDtoH_v2:1:1", func(s session) error { return s.buf.CopyOut(make([]byte, 4)) }, "cuMemcpyDtoH_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemsetD8_v2:1:1", func(s session) error { return s.buf.Poison(1) }, "cuMemsetD8_v2: CUDA_ERROR_INVALID_VALUE (1)"},
		{"cuMemFree_v2:1:400", func(s session) error { return s.buf.Free() }, "cuMemFree_v2: CUDA_ERROR_INVALID_HANDLE (400)"},
		{"cuModuleLoadDataEx:2:218", func(s session) error { _, err := s.dev.Load(gputest.StubPTX()); return err }, "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed"},
		{"", func(s session) error { _, err := s.dev.Load([]byte(".version 8.0\n")); return err }, "a PTX JIT compilation failed\nptxas fatal : stub says no"},
		{"cuModuleLoadDataEx:2:222", func(s session) error { _, err := s.dev.Load(gputest.StubPTX()); return err }, "(222): compiled by a newer CUDA than the driver's CUDA 12.8"},
		{"cuDevicePrimaryCtxRelease_v2:1:201", func(s session) error { return s.dev.Close() }, "closing: cuDevicePrimaryCtxRelease_v2: CUDA_ERROR_INVALID_CONTEXT (201)"},
	} {
		err := tt.call(open1(t, tt.faults))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "cuda: ") {
			t.Errorf("%s: got %v, want cuda: ... %s", tt.faults, err, tt.want)
		}
	}
}

func TestDynamicShared(t *testing.T) {
	log := filepath.Join(t.TempDir(), "calls")
	t.Setenv("STUB_LOG", log)
	s := open1(t, "")
	for _, bytes := range []int{0, 48 << 10, 49 << 10, 49 << 10, 100 << 10} {
		one := gpu.Dim3{X: 1, Y: 1, Z: 1}
		if _, err := s.dev.Launch(t.Context(), s.k, gpu.LaunchConfig{Grid: one, Block: one, Shared: bytes}, s.args); err != nil {
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
	h := stub(b)
	dev, err := h.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	image, err := h.Image(dev)
	if err != nil {
		b.Fatal(err)
	}
	m, err := dev.Load(image)
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
	d := dev.(*device)
	l, err := d.Prepare(k, gpu.LaunchConfig{Grid: gpu.Dim3{X: 1, Y: 1, Z: 1}, Block: gpu.Dim3{X: 1, Y: 1, Z: 1}}, args.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Free()
	for _, c := range []struct {
		name string
		call func(q gpu.Queue) error
	}{
		{"Queue", func(q gpu.Queue) error { return q.Launch(l) }},
		{"C", func(gpu.Queue) error {
			clib.Call(d.api.cuLaunchKernel, l.(*launch).call[:]...)
			return nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			err := dev.(gpu.Timer).Enqueue(b.Context(), func(q gpu.Queue) error {
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
