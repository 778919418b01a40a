package gputest

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
)

// A StubHarness is a Harness over a stub driver, with the C names of what the
// suite lets fail.
type StubHarness struct {
	Harness
	Vendor       string // what errors begin with
	LaunchKernel string
	Synchronize  string
}

// Driver checks a device behind a stub driver: the promises of package gpu,
// and what becomes of launches that fail. stub makes a driver of its own each
// time, since one that is lost stays so.
func Driver(t *testing.T, stub func(t testing.TB) StubHarness) {
	Run(t, stub(t).Harness)
	for _, symbol := range FaultKernels {
		t.Run(symbol, func(t *testing.T) { Fault(t, stub(t).Harness, symbol) })
	}
	t.Run("Time", func(t *testing.T) { Time(t, stub(t).Harness) })
	t.Run("LaunchFaults", func(t *testing.T) { testLaunchFaults(t, stub) })
	t.Run("Hang", func(t *testing.T) { testHang(t, stub(t)) })
}

// A Session is an open stub device with one buffer and a kernel that counts.
type Session struct {
	Dev    gpu.Device
	Buf    gpu.Buffer
	Kernel gpu.Kernel
	Args   []byte
}

// Start opens a session in which those STUB_FAULTS happen.
func (h StubHarness) Start(t testing.TB, faults string) Session {
	t.Helper()
	t.Setenv("STUB_FAULTS", faults)
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return newSession(t, h.Harness, dev)
}

func newSession(t testing.TB, h Harness, dev gpu.Device) Session {
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
	buf, err := dev.Alloc("count", 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := buf.CopyIn(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(buf)
	return Session{dev, buf, k, args.Bytes()}
}

// Launch launches the kernel with one thread.
func (s Session) Launch(ctx context.Context) error {
	one := gpu.Dim3{X: 1, Y: 1, Z: 1}
	_, err := s.Dev.Launch(ctx, s.Kernel, gpu.LaunchConfig{Grid: one, Block: one}, s.Args)
	return err
}

// Time checks that a device times launches as package gpu promises.
func Time(t *testing.T, h Harness) {
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s := newSession(t, h, dev)
	n := Timer(t, dev, s.Kernel, s.Args)
	var got [4]byte
	if err := s.Buf.CopyOut(got[:]); err != nil {
		t.Fatal(err)
	}
	if threads := binary.LittleEndian.Uint32(got[:]); int(threads) != 25600*n {
		t.Errorf("%d threads counted in %d launches, want %d", threads, n, 25600*n)
	}
}

func testLaunchFaults(t *testing.T, stub func(t testing.TB) StubHarness) {
	h := stub(t)
	for _, tt := range []struct {
		call, action string
		fault        bool   // the error is a *gpu.Fault
		lost         bool   // and later calls fail
		by           string // the call that tells
		code         int
	}{
		{h.LaunchKernel, "701", false, false, h.LaunchKernel, 701},
		{h.LaunchKernel, "fault=700", true, true, h.Synchronize, 700},
		{h.LaunchKernel, "fault=719", true, true, h.Synchronize, 719},
		{h.LaunchKernel, "fault=702", true, true, h.Synchronize, 702},
		{h.LaunchKernel, "fault=777", true, true, h.Synchronize, 777}, // not known as sticky, but the device answers with it
		{h.LaunchKernel, "lost=719", true, true, h.LaunchKernel, 719},
		{h.Synchronize, "701", true, false, h.Synchronize, 701},
	} {
		name := tt.call + ":1:" + tt.action
		s := stub(t).Start(t, name)
		err := s.Launch(t.Context())
		f, ok := errors.AsType[*gpu.Fault](err)
		if ok != tt.fault || ok && (f.Lost != tt.lost || f.Kernel != "pc_count") {
			t.Errorf("%s: got %+v, want a fault: %v, lost: %v", name, f, tt.fault, tt.lost)
		}
		if e, ok := errors.AsType[*gpu.Error](err); !ok || e.Call != tt.by || e.Code != tt.code {
			t.Errorf("%s: got %v, want error %d of %s in it", name, err, tt.code, tt.by)
		}
		if want := h.Vendor + ": launching pc_count: "; !tt.fault && !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want it to begin with %q", name, err, want)
		}
		err = s.Launch(t.Context())
		if errors.Is(err, gpu.ErrLost) != tt.lost || (err != nil) != tt.lost {
			t.Errorf("%s: next launch: got %v, want gpu.ErrLost: %v", name, err, tt.lost)
		}
		if _, again := errors.AsType[*gpu.Fault](err); again {
			t.Errorf("%s: next launch: got a fault for a kernel that did not run", name)
		}
		if err := s.Dev.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

func testHang(t *testing.T, h StubHarness) {
	s := h.Start(t, h.LaunchKernel+":2:hang")
	if err := s.Launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Launch(ctx)
	f, ok := errors.AsType[*gpu.Fault](err)
	if !ok || !f.Lost || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(f.Reason, "did not end") {
		t.Errorf("got %#v, want a fault that did not end, with Lost, and wraps the deadline", err)
	}
	for name, err := range map[string]error{
		"launch": s.Launch(t.Context()), "free": s.Buf.Free(), "close": s.Dev.Close(),
	} {
		if !errors.Is(err, gpu.ErrLost) {
			t.Errorf("%s: got %v, want gpu.ErrLost", name, err)
		}
	}
}

// Silicon checks the machine's own device: the promises of package gpu, its
// clock, and each kernel that faults, in a process of its own that runs the
// test of this name, since the device is lost to that process. aborts says
// whether the output of one that died tells that the driver ended it for the
// fault, which some do.
func Silicon(t *testing.T, h Harness, aborts func(out string) bool) {
	const env = "PARITYCHECK_TEST_FAULT"
	if symbol := os.Getenv(env); symbol != "" {
		Fault(t, h, symbol)
		return
	}
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", dev.Info())
	dev.Close()
	Run(t, h)
	t.Run("Time", func(t *testing.T) { Time(t, h) })
	for _, symbol := range FaultKernels {
		t.Run(symbol, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			name, _, _ := strings.Cut(t.Name(), "/")
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+name+"$", "-test.v")
			cmd.Env = append(os.Environ(), env+"="+symbol)
			out, err := cmd.CombinedOutput()
			passed := err == nil && strings.Contains(string(out), "--- PASS: "+name)
			if !passed && (err == nil || !aborts(string(out))) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
