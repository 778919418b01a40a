package rocm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// stub is a harness over a stub driver.
func stub(t testing.TB) gputest.StubHarness {
	lib := gputest.Stub(t, "hip")
	return gputest.StubHarness{
		Harness: gputest.Harness{
			Open:  func() (gpu.Device, error) { return open(0, "", lib) },
			Image: func(gpu.Device) ([]byte, error) { return gputest.StubCodeObject(gputest.SuiteKernels...), nil },
		},
		Vendor: "rocm", LaunchKernel: "hipModuleLaunchKernel", Synchronize: "hipStreamSynchronize",
	}
}

func TestStub(t *testing.T) { gputest.Driver(t, stub) }

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
	// ROCm may report a fault to the caller, or abort the process.
	gputest.Silicon(t, silicon(t), func(out string) bool {
		return strings.Contains(out, "Memory access fault") || strings.Contains(out, "SIGABRT")
	})
}

func TestStubInfo(t *testing.T) {
	t.Setenv("STUB_DEVICES", "2")
	lib := gputest.Stub(t, "hip")
	for _, tt := range []struct {
		arch string
		wave int
	}{{"gfx90a:sramecc+:xnack-", 64}, {"gfx1100", 32}} {
		t.Setenv("STUB_ARCH", tt.arch)
		dev, err := open(1, "", lib)
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
	if _, err := open(0, "", lib); err == nil || !strings.Contains(err.Error(), "layout is not known") {
		t.Errorf("unexpected layout: got %v, want an error", err)
	}
}

func TestOpenErrors(t *testing.T) {
	fails := func(name string, unavailable bool, ordinal int, names []string, want ...string) {
		t.Helper()
		d, err := open(ordinal, "", names...)
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
	if d, err := open(0, "", lib); err != nil {
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

func TestCallErrors(t *testing.T) {
	for _, tt := range []struct {
		faults string
		call   func(s gputest.Session) error
		want   string
	}{
		{"hipMalloc:2:2", func(s gputest.Session) error { _, err := s.Dev.Alloc("alpha", 64); return err }, "alpha of 64 bytes: hipMalloc: hipErrorOutOfMemory (2): out of memory"},
		{"hipMemcpyHtoD:2:1", func(s gputest.Session) error { return s.Buf.CopyIn(make([]byte, 4)) }, "hipMemcpyHtoD: hipErrorInvalidValue (1)"},
		{"hipMemcpyDtoH:1:1", func(s gputest.Session) error { return s.Buf.CopyOut(make([]byte, 4)) }, "hipMemcpyDtoH: hipErrorInvalidValue (1)"},
		{"hipMemsetD8:1:1", func(s gputest.Session) error { return s.Buf.Poison(1) }, "hipMemsetD8: hipErrorInvalidValue (1)"},
		{"hipFree:1:400", func(s gputest.Session) error { return s.Buf.Free() }, "hipFree: hipErrorInvalidHandle (400)"},
		{"hipModuleLoadData:2:209", func(s gputest.Session) error { _, err := s.Dev.Load(gputest.StubCodeObject()); return err }, "hipModuleLoadData: hipErrorNoBinaryForGpu (209): no kernel image is available"},
	} {
		err := tt.call(stub(t).Start(t, tt.faults))
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
