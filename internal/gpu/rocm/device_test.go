package rocm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// stub is a harness over a stub driver.
func stub(t testing.TB, flags ...string) gputest.Harness {
	lib := gputest.Stub(t, "hip", flags...)
	return gputest.Harness{
		Open:  func() (gpu.Device, error) { return openDevice(0, lib) },
		Image: func(gpu.Device) ([]byte, error) { return gputest.StubCodeObject(gputest.SuiteKernels...), nil },
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
// compiled by hiprtc.
func silicon(t testing.TB) gputest.Harness {
	dev, err := Open(0, "")
	if errors.Is(err, gpu.ErrUnavailable) {
		gputest.Missing(t, "rocm", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dev.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := Compiler{Exe: exe, Args: []string{"hiprtc-child"}}
	return gputest.Harness{
		Open: func() (gpu.Device, error) { return Open(0, "") },
		Image: func(dev gpu.Device) ([]byte, error) {
			code, err := c.Compile(t.Context(), gpu.Source{File: "conform.hip", Text: gputest.Source}, dev.Info().Arch)
			return code.Object, err
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
			// ROCm may report a fault to the caller, or abort the process.
			passed := err == nil && strings.Contains(string(out), "--- PASS: TestSiliconFaults")
			aborted := err != nil && (strings.Contains(string(out), "Memory access fault") || strings.Contains(string(out), "SIGABRT"))
			if !passed && !aborted {
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
	t.Setenv("STUB_DEVICES", "2")
	lib := gputest.Stub(t, "hip")
	for _, tt := range []struct {
		arch string
		wave int
	}{{"gfx90a:sramecc+:xnack-", 64}, {"gfx1100", 32}} {
		t.Setenv("STUB_ARCH", tt.arch)
		dev, err := openDevice(1, lib)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		got := dev.Info()
		got.Driver, _, _ = strings.Cut(got.Driver, ",") // the machine's kernel module may add its own
		want := gpu.Info{Name: "Stub Instinct 1", Arch: tt.arch, Driver: "HIP 6.2.41134", WaveSize: tt.wave}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	l, devices := probeDriver("/nowhere/libamdhip64.so", lib)
	if l.Path != lib || len(l.Tried) != 1 || !strings.Contains(l.Tried[0], "/nowhere/libamdhip64.so") || l.Err != nil || len(devices) != 2 {
		t.Errorf("probe: got %+v, %v, want both devices of %s and one library tried before it", l, devices, lib)
	}
}

// TestProperties reads both layouts of hipDeviceProp_t, under each of the
// three symbols, and refuses a third.
func TestProperties(t *testing.T) {
	const no6, no0 = "-DhipGetDevicePropertiesR0600=absent6", "-DhipGetDevicePropertiesR0000=absent0"
	for _, tt := range []struct {
		flags  []string
		symbol string
	}{
		{nil, "hipGetDevicePropertiesR0600"},
		{[]string{no6}, "hipGetDevicePropertiesR0000"},
		{[]string{no6, no0}, "hipGetDeviceProperties"},
	} {
		lib := gputest.Stub(t, "hip", tt.flags...)
		a, err := load(lib)
		if err != nil {
			t.Fatal(err)
		}
		arch, wave, err := a.properties(0)
		if a.layout.symbol != tt.symbol || arch != "gfx90a:sramecc+:xnack-" || wave != 64 || err != nil {
			t.Errorf("%q: got %s: %q, %d, %v, want %s with gfx90a:sramecc+:xnack- and 64", tt.flags, a.layout.symbol, arch, wave, err, tt.symbol)
		}
	}
	lib := gputest.Stub(t, "hip", no6, "-DOLD_ARCH=512")
	if _, err := openDevice(0, lib); err == nil || !strings.Contains(err.Error(), "layout is not known") {
		t.Errorf("unexpected layout: got %v, want an error", err)
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
	fails("no library", true, 0, []string{"/nowhere/libamdhip64.so.6", "libnope-hip.so"}, "/nowhere/libamdhip64.so.6", "libnope-hip.so")
	fails("another library", false, 0, []string{"libm.so.6"}, "too old", "lacks hipInit", "hipModuleLaunchKernel")
	lib := gputest.Stub(t, "hip")
	fails("no such device", true, 1, []string{lib}, "device 1 was asked for, the runtime has 1")
	fails("negative device", true, -1, []string{lib}, "device -1")
	fails("missing symbol", false, 0, []string{gputest.Stub(t, "hip", "-DhipMemsetD8=absent", "-DhipModuleLaunchKernel=absent2")},
		"too old", "lacks hipMemsetD8, hipModuleLaunchKernel")

	t.Setenv("STUB_DEVICES", "0")
	fails("no device", true, 0, []string{lib}, "hipInit: hipErrorInvalidDevice (101): invalid device ordinal")
	t.Setenv("STUB_DEVICES", "1")
	t.Setenv("STUB_FAULTS", "hipInit:*:0,hipGetDeviceCount:*:100")
	fails("no device, found late", true, 0, []string{gputest.Stub(t, "hip")}, "hipGetDeviceCount: hipErrorNoDevice (100): no ROCm-capable device is detected")
	for call, want := range map[string]string{
		"hipInit:*:999":                   "hipInit: hipErrorUnknown (999)",
		"hipGetDeviceCount:*:3":           "hipGetDeviceCount: hipErrorUnknown (3)",
		"hipDeviceGet:*:101":              "hipDeviceGet: hipErrorInvalidDevice (101)",
		"hipSetDevice:*:2":                "hipSetDevice: hipErrorOutOfMemory (2): out of memory",
		"hipGetDevicePropertiesR0600:*:1": "hipGetDevicePropertiesR0600: hipErrorInvalidValue (1)",
		"hipDeviceGetName:*:101":          "hipDeviceGetName: hipErrorInvalidDevice (101)",
		"hipRuntimeGetVersion:*:1":        "hipRuntimeGetVersion: hipErrorInvalidValue (1)",
	} {
		t.Setenv("STUB_FAULTS", call)
		fails(call, false, 0, []string{gputest.Stub(t, "hip")}, want)
	}
	t.Setenv("STUB_FAULTS", "hipSetDeviceFlags:*:1") // of no consequence
	if d, err := openDevice(0, lib); err != nil {
		t.Errorf("refused flags: %v", err)
	} else {
		d.Close()
	}
}

func TestDriverEnv(t *testing.T) {
	t.Setenv(driverEnv, gputest.Stub(t, "hip"))
	d, err := Open(0, "hiprtc 1.2")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Info().Compiler; got != "hiprtc 1.2" {
		t.Errorf("compiler: got %q, want hiprtc 1.2", got)
	}
	d.Close()
	t.Setenv(driverEnv, "/nowhere/libamdhip64.so")
	d, err = Open(0, "")
	if d != nil || !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere/libamdhip64.so") {
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
		{"hipModuleLaunchKernel:1:701", false, false, "launching pc_count: hipModuleLaunchKernel: hipErrorUnknown (701)"},
		{"hipModuleLaunchKernel:1:fault=700", true, true, "hipStreamSynchronize: hipErrorIllegalAddress (700): an illegal memory access was encountered"},
		{"hipModuleLaunchKernel:1:fault=719", true, true, "hipErrorLaunchFailure (719)"},
		{"hipModuleLaunchKernel:1:fault=702", true, true, "hipErrorLaunchTimeOut (702)"},
		{"hipModuleLaunchKernel:1:fault=777", true, true, "hipErrorUnknown (777)"}, // not in the list, but the device answers with it
		{"hipModuleLaunchKernel:1:lost=719", true, true, "hipModuleLaunchKernel: hipErrorLaunchFailure (719)"},
		{"hipStreamSynchronize:1:701", true, false, "hipStreamSynchronize: hipErrorUnknown (701)"},
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
	s := open1(t, "hipModuleLaunchKernel:2:hang")
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
		{"hipMalloc:2:2", func(s session) error { _, err := s.dev.Alloc("alpha", 64); return err }, "alpha of 64 bytes: hipMalloc: hipErrorOutOfMemory (2): out of memory"},
		{"hipMemcpyHtoD:2:1", func(s session) error { return s.buf.CopyIn(make([]byte, 4)) }, "hipMemcpyHtoD: hipErrorInvalidValue (1)"},
		{"hipMemcpyDtoH:1:1", func(s session) error { return s.buf.CopyOut(make([]byte, 4)) }, "hipMemcpyDtoH: hipErrorInvalidValue (1)"},
		{"hipMemsetD8:1:1", func(s session) error { return s.buf.Poison(1) }, "hipMemsetD8: hipErrorInvalidValue (1)"},
		{"hipFree:1:400", func(s session) error { return s.buf.Free() }, "hipFree: hipErrorInvalidHandle (400)"},
		{"hipModuleLoadData:2:209", func(s session) error { _, err := s.dev.Load(gputest.StubCodeObject()); return err }, "hipModuleLoadData: hipErrorNoBinaryForGpu (209): no kernel image is available"},
	} {
		err := tt.call(open1(t, tt.faults))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "rocm: ") {
			t.Errorf("%s: got %v, want rocm: ... %s", tt.faults, err, tt.want)
		}
	}
}

func TestCheckImage(t *testing.T) {
	object := gputest.StubCodeObject("k")
	bundle := []byte("__CLANG_OFFLOAD_BUNDLE__")
	bundle = binary.LittleEndian.AppendUint64(bundle, 1)
	for _, v := range []uint64{64, 8, 5} { // offset, size, length of the name
		bundle = binary.LittleEndian.AppendUint64(bundle, v)
	}
	bundle = append(bundle, "hipv4   ........"...)
	for _, tt := range []struct {
		name  string
		image []byte
		want  string // in the error; empty for none
	}{
		{"code object", object, ""},
		{"code object cut short", object[:len(object)-1], "cut short"},
		{"bundle", bundle, ""},
		{"bundle cut short", bundle[:len(bundle)-1], "cut short"},
		{"bundle's header cut short", bundle[:40], "cut short"},
		{"bundle's magic alone", bundle[:24], "cut short"},
		{"compressed bundle", []byte("CCOB...."), "compressed"},
		{"PTX", gputest.StubPTX("k"), "neither an AMD code object nor"},
		{"empty", nil, "empty"},
	} {
		err := checkImage(tt.image)
		if got := fmt.Sprint(err); (err != nil) != (tt.want != "") || err != nil && !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzCheckImage(f *testing.F) {
	f.Add(gputest.StubCodeObject("k"))
	f.Add([]byte("__CLANG_OFFLOAD_BUNDLE__\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, image []byte) { checkImage(image) })
}
