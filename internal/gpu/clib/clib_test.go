package clib

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// libc is a library that every Linux with glibc has.
func libc(t *testing.T) *Library {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("libraries are loaded on linux only")
	}
	l, err := Open("/nowhere/libc.so", "libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpen(t *testing.T) {
	l := libc(t)
	if filepath.Base(l.Path) != "libc.so.6" || !filepath.IsAbs(l.Path) {
		t.Errorf("path: got %q, want the file of libc.so.6", l.Path)
	}
	if len(l.Tried) != 1 || !strings.Contains(l.Tried[0], "/nowhere/libc.so") {
		t.Errorf("tried: got %q, want the name before it", l.Tried)
	}
	_, err := Open("libnope-1.so", "/nowhere/libnope-2.so")
	if !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "libnope-1.so") || !strings.Contains(err.Error(), "/nowhere/libnope-2.so") {
		t.Errorf("got %v, want ErrUnavailable and both names", err)
	}
}

func TestBind(t *testing.T) {
	l := libc(t)
	var abs func(int32) int32
	var labs uintptr
	if err := l.Bind([]Func{{&abs, "abs"}, {&labs, "labs"}}); err != nil {
		t.Fatal(err)
	}
	if got := abs(-7); got != 7 {
		t.Errorf("abs(-7): got %d, want 7", got)
	}
	if got := Call(labs, ^uintptr(8)); got != 9 {
		t.Errorf("labs(-9): got %d, want 9", got)
	}
	err := l.Bind([]Func{{&abs, "abs"}, {&abs, "no_such_function"}, {&labs, "nor_this"}})
	if err == nil || !strings.Contains(err.Error(), "lacks no_such_function, nor_this") {
		t.Errorf("got %v, want both missing symbols", err)
	}
	if !l.Has("abs") || l.Has("no_such_function") {
		t.Error("Has: want abs and not no_such_function")
	}
}

func TestThread(t *testing.T) {
	th := NewThread()
	sum := 0
	for i := range 10 {
		if err := th.Do(t.Context(), func() { sum += i }); err != nil {
			t.Fatal(err)
		}
	}
	if sum != 45 {
		t.Errorf("sum: got %d, want 45", sum)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := th.Do(ctx, func() { t.Error("ran with a cancelled context") }); !errors.Is(err, context.Canceled) || th.Stuck() {
		t.Errorf("cancelled before: got %v, stuck %v; want context.Canceled and a thread that goes on", err, th.Stuck())
	}
	last := false
	if err := th.Close(func() { last = true }); err != nil || !last {
		t.Errorf("close: got %v, ran %v", err, last)
	}
	if err := th.Do(t.Context(), func() { t.Error("ran on a closed thread") }); !errors.Is(err, ErrClosed) {
		t.Errorf("after close: got %v, want ErrClosed", err)
	}
	if err := th.Close(func() {}); !errors.Is(err, ErrClosed) {
		t.Errorf("second close: got %v, want ErrClosed", err)
	}
}

func TestThreadStuck(t *testing.T) {
	th := NewThread()
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := th.Do(ctx, func() { <-release }); !errors.Is(err, context.DeadlineExceeded) || !th.Stuck() {
		t.Errorf("got %v, stuck %v; want the deadline and a stuck thread", err, th.Stuck())
	}
	err := th.Do(t.Context(), func() { t.Error("ran on a stuck thread") })
	if !errors.Is(err, ErrStuck) || !errors.Is(err, gpu.ErrLost) {
		t.Errorf("got %v, want ErrStuck, which is gpu.ErrLost", err)
	}
	if err := th.Close(func() { t.Error("ran on a stuck thread") }); !errors.Is(err, ErrStuck) {
		t.Errorf("close: got %v, want ErrStuck", err)
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "abc\x00def": "abc", "\x00": ""} {
		if got := String([]byte(in)); got != want {
			t.Errorf("String(%q): got %q, want %q", in, got, want)
		}
	}
	if Name("k") != nil || Name("k\x00") == nil {
		t.Error("Name: want an error for a NUL byte, and only for it")
	}
}

// sample is an ELF file: of this test's own binary, with its machine
// changed.
func sample(t testing.TB, machine uint16) []byte {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(image, []byte(elf.ELFMAG)) {
		t.Skip("the test binary is no ELF file")
	}
	binary.LittleEndian.PutUint16(image[18:], machine)
	return image
}

func TestCheckELF(t *testing.T) {
	image := sample(t, MachineAMDGPU)
	if err := CheckELF(image, MachineAMDGPU); err != nil {
		t.Error(err)
	}
	fails := func(name string, image []byte, machine uint16, want string) {
		t.Helper()
		if err := CheckELF(image, machine); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	fails("other vendor", image, MachineCUDA, "is for AMD GPU, want NVIDIA CUDA")
	fails("host", sample(t, 62), MachineAMDGPU, "is for x86-64")
	fails("unknown machine", sample(t, 4242), MachineAMDGPU, "is for machine 4242")
	fails("magic alone", image[:4], MachineAMDGPU, "cut short")
	fails("header alone", image[:64], MachineAMDGPU, "cut short")
	fails("half", image[:len(image)/2], MachineAMDGPU, "cut short")
	with := func(at int, v uint64) []byte {
		b := bytes.Clone(image)
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	fails("section headers far out", with(40, 1<<63), MachineAMDGPU, "section headers")
	fails("section headers wrap", with(40, ^uint64(0)-63), MachineAMDGPU, "section headers")
	small := bytes.Clone(image)
	small[4] = 1
	fails("32-bit", small, MachineAMDGPU, "64-bit")
}

func FuzzCheckELF(f *testing.F) {
	f.Add(sample(f, MachineAMDGPU)[:4096])
	f.Fuzz(func(t *testing.T, image []byte) { CheckELF(image, MachineAMDGPU) })
}
