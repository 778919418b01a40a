package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/paritycheck/paritycheck/kernels"
)

// nvrtcVersion is the compiler of the committed PTX: the first of CUDA 12,
// whose PTX (ISA 8.0) every driver of CUDA 12 and newer loads.
const nvrtcVersion = "12.0"

// ptxArch is the oldest architecture that every CUDA from 12 to 13
// supports: Turing.
const ptxArch = "compute_75"

var nvrtcFlags = []string{
	"--gpu-architecture=" + ptxArch,
	"--std=c++17",
	// As -ffp-contract=off for HIP: the source says what is fused.
	"--fmad=false",
}

// An nvrtc compiles CUDA to PTX. Its functions have NVRTC's names and
// parameters; each returns a status.
type nvrtc struct {
	mu      sync.Mutex
	version string

	nvrtcVersion           func(major, minor *int32) int32
	nvrtcCreateProgram     func(prog *uintptr, src, name string, numHeaders int32, headers, includeNames **byte) int32
	nvrtcDestroyProgram    func(prog *uintptr) int32
	nvrtcCompileProgram    func(prog uintptr, numOptions int32, options **byte) int32
	nvrtcGetPTXSize        func(prog uintptr, size *uint64) int32
	nvrtcGetPTX            func(prog uintptr, ptx *byte) int32
	nvrtcGetProgramLogSize func(prog uintptr, size *uint64) int32
	nvrtcGetProgramLog     func(prog uintptr, log *byte) int32
	nvrtcGetErrorString    func(status int32) string
}

// openNVRTC loads libnvrtc, which must be of the pinned version.
func openNVRTC(path string) (*nvrtc, error) {
	n, err := loadNVRTC(path)
	if err != nil {
		return nil, err
	}
	if n.version != nvrtcVersion {
		return nil, fmt.Errorf("%s is NVRTC %s: the committed PTX is made by %s", path, n.version, nvrtcVersion)
	}
	return n, nil
}

func loadNVRTC(path string) (*nvrtc, error) {
	if path == "" {
		return nil, errors.New("no NVRTC: give -nvrtc or set PARITYCHECK_NVRTC to the path of libnvrtc.so.12, which pip install nvidia-cuda-nvrtc-cu12==12.0.140 brings")
	}
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("loading NVRTC: %w", err)
	}
	n := new(nvrtc)
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&n.nvrtcVersion, "nvrtcVersion"},
		{&n.nvrtcCreateProgram, "nvrtcCreateProgram"},
		{&n.nvrtcDestroyProgram, "nvrtcDestroyProgram"},
		{&n.nvrtcCompileProgram, "nvrtcCompileProgram"},
		{&n.nvrtcGetPTXSize, "nvrtcGetPTXSize"},
		{&n.nvrtcGetPTX, "nvrtcGetPTX"},
		{&n.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize"},
		{&n.nvrtcGetProgramLog, "nvrtcGetProgramLog"},
		{&n.nvrtcGetErrorString, "nvrtcGetErrorString"},
	} {
		sym, err := purego.Dlsym(lib, f.name)
		if err != nil {
			return nil, fmt.Errorf("loading NVRTC: %w", err)
		}
		purego.RegisterFunc(f.fn, sym)
	}
	var major, minor int32
	if err := n.status("nvrtcVersion", n.nvrtcVersion(&major, &minor)); err != nil {
		return nil, err
	}
	n.version = fmt.Sprintf("%d.%d", major, minor)
	return n, nil
}

func (n *nvrtc) status(call string, status int32) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (%d)", call, n.nvrtcGetErrorString(status), status)
}

func (n *nvrtc) jobs(family string) ([]*job, error) {
	src, headers, err := kernels.Source(kernels.CUDA, family)
	if err != nil {
		return nil, err
	}
	j := &job{Built: describe(kernels.CUDA, family, src, headers)}
	j.File = family + ".ptx.gz"
	j.Arch = ptxArch
	j.Compiler = "NVRTC " + n.version
	j.Flags = nvrtcFlags
	j.compile = func() ([]byte, error) { return n.compile(family+".cu", src, headers, nvrtcFlags) }
	return []*job{j}, nil
}

// compile returns the PTX of src. The error holds the compiler's log.
func (n *nvrtc) compile(name, src string, headers map[string]string, flags []string) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var pin runtime.Pinner
	defer pin.Unpin()

	var names, texts []string
	for h, text := range headers {
		names = append(names, h)
		texts = append(texts, text)
	}
	var prog uintptr
	err := n.status("nvrtcCreateProgram", n.nvrtcCreateProgram(&prog, src, name, int32(len(names)), cStrings(&pin, texts), cStrings(&pin, names)))
	if err != nil {
		return nil, err
	}
	defer n.nvrtcDestroyProgram(&prog)
	if err := n.status("nvrtcCompileProgram", n.nvrtcCompileProgram(prog, int32(len(flags)), cStrings(&pin, flags))); err != nil {
		log, _ := n.text(prog, n.nvrtcGetProgramLogSize, n.nvrtcGetProgramLog)
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	ptx, err := n.text(prog, n.nvrtcGetPTXSize, n.nvrtcGetPTX)
	if err != nil {
		return nil, fmt.Errorf("reading the PTX: %w", err)
	}
	return ptx, nil
}

// text reads one of a program's texts, without the closing zero.
func (n *nvrtc) text(prog uintptr, size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) ([]byte, error) {
	var length uint64
	if err := n.status("reading its size", size(prog, &length)); err != nil || length == 0 {
		return nil, err
	}
	buf := make([]byte, length)
	if err := n.status("reading it", get(prog, &buf[0])); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf, "\x00"), nil
}

// cStrings returns an array of C strings that live as long as pin holds.
func cStrings(pin *runtime.Pinner, list []string) **byte {
	if len(list) == 0 {
		return nil
	}
	ptrs := make([]*byte, len(list))
	for i, s := range list {
		b := append(slices.Clip([]byte(s)), 0)
		pin.Pin(&b[0])
		ptrs[i] = &b[0]
	}
	pin.Pin(&ptrs[0])
	return unsafe.SliceData(ptrs)
}
