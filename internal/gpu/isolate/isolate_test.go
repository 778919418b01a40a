package isolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// childArg makes this test binary the child.
const childArg = "isolate-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if err := Child(Driver{Open: openPlace, Probe: func(string) { cuda.Probe() }}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// openPlace is the child's: a fake, or the stub driver.
func openPlace(place string) (gpu.Device, error) {
	switch place {
	case "fake:0":
		fmt.Println("a library prints what it likes")
		return gputest.NewFake(gputest.Kernels), nil
	case "cuda:0":
		return cuda.Open(0, nil)
	}
	return nil, fmt.Errorf("no %s: %w", place, gpu.ErrUnavailable)
}

func host() *Host {
	return &Host{Exe: os.Args[0], Args: []string{childArg}, Limit: 20 * time.Second, LimitBy: "--limit"}
}

func fake(t *testing.T) gputest.Harness {
	h := host()
	return gputest.Harness{
		Open:  func() (gpu.Device, error) { return h.Open("fake:0", "") },
		Image: func(gpu.Device) ([]byte, error) { return gputest.Image(gputest.SuiteKernels...), nil },
	}
}

// stub is the stub driver behind a child, with what goes wrong there.
func stub(t *testing.T, faults string) gputest.Harness {
	t.Setenv("PARITYCHECK_LIBCUDA", gputest.Stub(t, "cuda"))
	t.Setenv("STUB_FAULTS", faults)
	h := host()
	return gputest.Harness{
		Open:  func() (gpu.Device, error) { return h.Open("cuda:0", "a compiler") },
		Image: func(gpu.Device) ([]byte, error) { return gputest.StubPTX(gputest.SuiteKernels...), nil },
	}
}

// A device behind a child keeps the promises that it keeps here.
func TestConformance(t *testing.T) {
	t.Run("fake", func(t *testing.T) { gputest.Run(t, fake(t)) })
	t.Run("stub", func(t *testing.T) { gputest.Run(t, stub(t, "")) })
	for _, symbol := range gputest.FaultKernels {
		t.Run(symbol, func(t *testing.T) { gputest.Fault(t, stub(t, ""), symbol) })
	}
}

// count launches pc_count of 32 threads and says how many it counted.
func count(dev gpu.Device) (int, error) {
	m, err := dev.Load(gputest.StubPTX(gputest.SuiteKernels...))
	if err != nil {
		return 0, err
	}
	k, err := m.Kernel("pc_count")
	if err != nil {
		return 0, err
	}
	b, err := dev.Alloc("n", 4)
	if err != nil {
		return 0, err
	}
	if err := b.CopyIn(make([]byte, 4)); err != nil {
		return 0, err
	}
	var args gpu.Args
	args.Ptr(b)
	ctx, cancel := context.WithTimeoutCause(context.Background(), 2*time.Second, errors.New("no end after 2s"))
	defer cancel()
	one := gpu.Dim3{X: 1, Y: 1, Z: 1}
	if _, err := dev.Launch(ctx, k, gpu.LaunchConfig{Grid: one, Block: gpu.Dim3{X: 32, Y: 1, Z: 1}}, args.Bytes()); err != nil {
		return 0, err
	}
	got := make([]byte, 4)
	if err := b.CopyOut(got); err != nil {
		return 0, err
	}
	return int(got[0]), b.Free()
}

// Whatever a driver does to its process, the error is a fault that says
// what it did, this process goes on, and the next child works.
func TestFaults(t *testing.T) {
	for _, tc := range []struct{ faults, says string }{
		{"cuLaunchKernel:1:segv", "kernel pc_count: the process that drives cuda:0 ended during launch: signal: segmentation fault"},
		{"cuLaunchKernel:1:abort", "SIGABRT: abort"},
		{"cuLaunchKernel:1:exit", "ended with exit status 0 during launch, without an answer"},
		{"cuLaunchKernel:1:hang", "kernel pc_count: did not end: no end after 2s"},
		{"cuLaunchKernel:1:garbage", `kernel pc_count: the process that drives cuda:0 answered nonsense: "` + "garbage"},
		{"cuLaunchKernel:1:lost=700", "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{"cuLaunchKernel:1:fault=719", "CUDA_ERROR_LAUNCH_FAILED"},
		{"cuMemAlloc_v2:1:segv", "the process that drives cuda:0 ended during alloc of n: signal: segmentation fault"},
		{"cuMemcpyHtoD_v2:1:hang", "copy in of n of the driver of cuda:0 did not end: no end after 3s (--limit)"},
		{"cuModuleLoadDataEx:1:words", "ended during load: exit status 3: stub: the last words"},
	} {
		t.Run(tc.faults, func(t *testing.T) {
			stub(t, tc.faults)
			h := host()
			h.Limit = 3 * time.Second
			dev, err := h.Open("cuda:0", "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = count(dev)
			f, ok := errors.AsType[*gpu.Fault](err)
			if !ok || !f.Lost || f.Outside || !strings.Contains(f.Error(), tc.says) {
				t.Errorf("got %v, want a fault that loses the device and says %q", err, tc.says)
			}
			if _, err := dev.Alloc("x", 1); !errors.Is(err, gpu.ErrLost) {
				t.Errorf("after it: got %v, want gpu.ErrLost", err)
			}
			dev.Close()
			t.Setenv("STUB_FAULTS", "")
			again, err := h.Open("cuda:0", "")
			if err != nil {
				t.Fatalf("opening it again: %v", err)
			}
			defer again.Close()
			if n, err := count(again); err != nil || n != 32 {
				t.Errorf("in the next process: got %d, %v, want 32", n, err)
			}
		})
	}
}

// A child that is killed from outside is no fault of the kernel.
func TestKilled(t *testing.T) {
	stub(t, "cuLaunchKernel:1:hang")
	h := host()
	dev, err := h.Open("cuda:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	other, err := h.Open("cuda:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if dev.(*timedDevice).p != other.(*timedDevice).p {
		t.Error("two devices of one place are in two processes")
	}
	time.AfterFunc(200*time.Millisecond, func() { h.procs["cuda:0"].cmd.Process.Kill() })
	_, err = count(dev)
	if f, ok := errors.AsType[*gpu.Fault](err); !ok || !f.Outside || !f.Lost {
		t.Errorf("got %v, want a fault from outside", err)
	}
	_, err = other.Alloc("x", 1)
	if _, ok := errors.AsType[*gpu.Fault](err); ok || !errors.Is(err, gpu.ErrLost) {
		t.Errorf("the other device: got %v, want gpu.ErrLost and no fault of its own", err)
	}
}

func TestOpenErrors(t *testing.T) {
	h := host()
	if _, err := h.Open("nothing:0", ""); !errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("no such place: got %v, want gpu.ErrUnavailable", err)
	}
	stub(t, "cuInit:1:segv")
	if _, err := h.Open("cuda:0", ""); err == nil || !strings.Contains(err.Error(), "ended during open of cuda:0: signal: segmentation fault") {
		t.Errorf("a crash in cuInit: got %v", err)
	}
	h.Exe = "/nowhere/paritycheck"
	if _, err := h.Open("fake:0", ""); err == nil || !strings.Contains(err.Error(), "starting a process for fake:0") {
		t.Errorf("no program: got %v", err)
	}
}

// A driver that brings down who asks for its devices is found out.
func TestTry(t *testing.T) {
	for faults, says := range map[string]string{
		"":               "",
		"cuInit:*:100":   "", // no device is no crash
		"cuInit:*:segv":  "the process that drives cuda ended during probe of cuda: signal: segmentation fault",
		"cuInit:*:abort": "SIGABRT: abort",
		"cuInit:*:hang":  "probe of cuda of the driver of cuda did not end: no end after 3s (--limit)",
	} {
		stub(t, faults)
		h := host()
		h.Limit = 3 * time.Second
		if err := h.Try("cuda"); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", faults, err, says)
		}
	}
}

func TestInfo(t *testing.T) {
	dev, err := stub(t, "").Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if i := dev.Info(); i.Name != "Stub GPU 0" || i.Compiler != "a compiler" || i.WaveSize != 32 {
		t.Errorf("got %+v", i)
	}
	if _, ok := dev.(gpu.Timer); !ok {
		t.Error("the device has lost its clock")
	}
}

// Launches are timed behind a child as they are here.
func TestTimer(t *testing.T) {
	h := stub(t, "")
	dev, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	image, _ := h.Image(dev)
	m, err := dev.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("pc_count")
	if err != nil {
		t.Fatal(err)
	}
	b, err := dev.Alloc("n", 4)
	if err != nil {
		t.Fatal(err)
	}
	var args gpu.Args
	args.Ptr(b)
	gputest.Timer(t, dev, k, args.Bytes())
}

// A kernel that hangs while it is timed is a fault too.
func TestTimerFault(t *testing.T) {
	for faults, says := range map[string]string{
		"cuLaunchKernel:1:segv": "kernel pc_count: the process that drives cuda:0 ended during queue launch: signal: segmentation fault",
		"cuLaunchKernel:1:hang": "kernel pc_count: did not end: no end after 1s",
	} {
		dev, err := stub(t, faults).Open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load(gputest.StubPTX(gputest.SuiteKernels...))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("pc_count")
		if err != nil {
			t.Fatal(err)
		}
		b, err := dev.Alloc("n", 4)
		if err != nil {
			t.Fatal(err)
		}
		var args gpu.Args
		args.Ptr(b)
		one := gpu.Dim3{X: 1, Y: 1, Z: 1}
		l, err := dev.(gpu.Timer).Prepare(k, gpu.LaunchConfig{Grid: one, Block: one}, args.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no end after 1s"))
		err = dev.(gpu.Timer).Enqueue(ctx, func(q gpu.Queue) error {
			return errors.Join(q.Launch(l), q.Wait()) // the second only says that it is lost
		})
		cancel()
		if f, ok := errors.AsType[*gpu.Fault](err); !ok || !f.Lost || f.Error() != says {
			t.Errorf("%s: got %v, want the fault %q", faults, err, says)
		}
		dev.Close()
	}
}

// The child ends when the run is gone, whatever it is at.
func TestOrphan(t *testing.T) {
	stub(t, "cuLaunchKernel:1:hang")
	h := host()
	dev, err := h.Open("cuda:0", "")
	if err != nil {
		t.Fatal(err)
	}
	p := h.procs["cuda:0"]
	time.AfterFunc(200*time.Millisecond, func() { p.w.Close() })
	count(dev)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
		t.Error("the child of a run that is gone does not end")
	}
}

// FuzzFrame: bytes are a frame, or an error, never more memory than there
// is; and what is read as a frame is what was written.
func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	if err := writeFrame(&b, request{Seq: 3, Call: callLoad}, []byte("body")); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var q request
		body, err := readFrame(bytes.NewReader(data), &q, nil, maxBody)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := writeFrame(&again, q, body); err != nil {
			t.Fatal(err)
		}
		var r request
		if got, err := readFrame(&again, &r, nil, maxBody); err != nil || r != q || !bytes.Equal(got, body) {
			t.Errorf("got %+v and %q, %v; want %+v and %q", r, got, err, q, body)
		}
	})
}

func TestFrameDamage(t *testing.T) {
	var b bytes.Buffer
	if err := writeFrame(&b, request{Seq: 3, Call: callLoad}, []byte("body")); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		var q request
		if _, err := readFrame(bytes.NewReader(bad), &q, nil, maxBody); err == nil {
			t.Errorf("byte %d changed: got a frame, want an error", i)
		}
		if _, err := readFrame(bytes.NewReader(whole[:i]), &q, nil, maxBody); err == nil {
			t.Errorf("cut at %d: got a frame, want an error", i)
		}
	}
}

// An error keeps its text and what callers look for across the pipe.
func TestErrors(t *testing.T) {
	call := &gpu.Error{Call: "cuMemAlloc_v2", Name: "CUDA_ERROR_OUT_OF_MEMORY", Code: 2}
	for _, err := range []error{
		errors.New("plain"),
		fmt.Errorf("a: %w", gpu.ErrUnavailable),
		fmt.Errorf("a: %w", call),
		&gpu.Fault{Kernel: "k", Reason: "r", Lost: true, Err: call},
		fmt.Errorf("a: %w", &gpu.Fault{Kernel: "k", Reason: "r", Err: gpu.ErrLost}),
	} {
		got := pack(err).unpack()
		if got.Error() != err.Error() {
			t.Errorf("got %q, want %q", got, err)
		}
		for name, s := range sentinels {
			if errors.Is(got, s) != errors.Is(err, s) {
				t.Errorf("%v: is %s: got %v", err, name, errors.Is(got, s))
			}
		}
		f, ok := errors.AsType[*gpu.Fault](got)
		g, want := errors.AsType[*gpu.Fault](err)
		if ok != want || ok && (f.Kernel != g.Kernel || f.Reason != g.Reason || f.Lost != g.Lost) {
			t.Errorf("%v: got fault %+v, want %+v", err, f, g)
		}
		e, ok := errors.AsType[*gpu.Error](got)
		c, want := errors.AsType[*gpu.Error](err)
		if ok != want || ok && *e != *c {
			t.Errorf("%v: got call %+v, want %+v", err, e, c)
		}
	}
	if pack(nil) != nil || pack(nil).unpack() != nil {
		t.Error("no error became one")
	}
}
