package gputest

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Stub builds a stub driver, cuda or hip, from testdata/stubdriver with
// the C compiler and returns the path of the library. Each call makes a
// library of its own, so that a device lost in one is not in another.
// flags go to the compiler: -DcuMemsetD8_v2=absent makes a driver without
// that function.
func Stub(t testing.TB, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "lib"+name+"-stub.so")
	key := strings.Join(append([]string{name}, flags...), " ")
	if lib, ok := stubs.Load(key); ok {
		if err := os.WriteFile(out, lib.([]byte), 0o777); err != nil {
			t.Fatal(err)
		}
		return out
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		Missing(t, "cc", err)
	}
	args := append([]string{"-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-Wall", "-Werror", "-o", out}, flags...)
	cmd := exec.Command(cc, append(args, filepath.Join(root(t), "testdata", "stubdriver", name+".c"))...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the stub driver: %v\n%s", err, text)
	}
	lib, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	stubs.Store(key, lib)
	return out
}

// stubs holds what Stub built in this process, by name and flags.
var stubs sync.Map

// root is the folder of go.mod, from where tests run upwards.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// StubPTX is a module for the CUDA stub that names kernels.
func StubPTX(kernels ...string) []byte {
	s := ".version 8.0\n.target sm_50\n.address_size 64\n"
	for _, k := range kernels {
		s += ".visible .entry " + k + "() { ret; }\n"
	}
	return []byte(s)
}

// StubCodeObject is a module for the HIP stub that names kernels: the
// header of an ELF file for AMD GPUs and names of descriptors.
func StubCodeObject(kernels ...string) []byte {
	le := binary.LittleEndian
	image := make([]byte, 64)
	copy(image, "\x7fELF\x02\x01\x01\x40\x03")
	le.PutUint16(image[16:], 3)    // shared object
	le.PutUint16(image[18:], 224)  // AMD GPU
	le.PutUint32(image[20:], 1)    // version
	le.PutUint32(image[48:], 0x3f) // gfx90a
	le.PutUint16(image[52:], 64)   // size of this header
	image = append(image, "\x00"+strings.Join(kernels, ".kd\x00")+".kd\x00"...)
	for len(image)%8 != 0 {
		image = append(image, 0)
	}
	// One empty section behind the names, so that the file has an end.
	le.PutUint64(image[40:], uint64(len(image)))
	le.PutUint16(image[58:], 64)
	le.PutUint16(image[60:], 1)
	return append(image, make([]byte, 64)...)
}

// SuiteKernels are the names of the kernels of Source.
var SuiteKernels = []string{
	"pc_axpy", "pc_pack", "pc_geometry", "pc_reverse", "pc_count", "pc_trap", "pc_wild", "pc_spin",
}
