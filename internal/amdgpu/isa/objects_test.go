//go:build linux || darwin

package isa

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa/internal/llvm"
)

// machines are the architectures by the low byte of e_flags.
var machines = map[byte]Arch{0x3f: GFX90A, 0x36: GFX1030, 0x41: GFX1100}

// object decodes the code of an ELF code object both ways, and returns the
// number of instructions.
func object(t *testing.T, dis map[Arch]*llvm.Disassembler, name string, data []byte) int {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	a, ok := machines[data[48]]
	if !ok {
		t.Fatalf("%s: unknown machine 0x%x", name, data[48])
	}
	if dis[a] == nil {
		dis[a] = oracle(t, a)
	}
	n := 0
	count, diffs := map[string]int{}, map[string][]string{}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		code, err := s.Data()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for len(code) >= 4 {
			if df, same := compare(a, dis[a], code); !same {
				count[df.key]++
				diffs[df.key] = append(diffs[df.key], df.line)
			}
			i, err := Decode(a, code, 0)
			if err != nil {
				code = code[4:] // padding
				continue
			}
			code = code[i.Size:]
			n++
		}
	}
	report(t, count, diffs)
	return n
}

// TestCompiled decodes what clang makes of testdata/kernels.hip.
func TestCompiled(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		if required("clang") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	modes := [][]string{{"-O3"}, {"-O0"}, {"-O3", "-ffast-math"}}
	if testing.Short() {
		modes = modes[:1]
	}
	dis := map[Arch]*llvm.Disassembler{}
	for a := range numArch {
		for _, mode := range modes {
			out := filepath.Join(t.TempDir(), "k.hsaco")
			args := append([]string{"-x", "hip", "--offload-arch=" + a.String(), "--cuda-device-only", "--no-gpu-bundle-output",
				"-nogpuinc", "-nogpulib", "-fuse-cuid=none", "testdata/kernels.hip", "-o", out}, mode...)
			if b, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, b)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			n := object(t, dis, fmt.Sprint(a, mode), data)
			if n < 500 {
				t.Errorf("%s %v: got %d instructions, want at least 500", a, mode, n)
			}
			t.Logf("%s %v: %d instructions", a, mode, n)
		}
	}
}

// TestPrebuilt decodes each committed code object.
func TestPrebuilt(t *testing.T) {
	var names []string
	for _, pattern := range []string{"../../../kernels/prebuilt/*.hsaco.gz", "../*/testdata/*.hsaco.gz", "../../../testdata/*.hsaco.gz"} {
		m, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m...)
	}
	if len(names) == 0 {
		t.Skip("no committed code objects")
	}
	dis := map[Arch]*llvm.Disassembler{}
	total := 0
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := io.ReadAll(z)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		total += object(t, dis, name, data)
	}
	t.Logf("%d instructions of %d objects", total, len(names))
}
