package cuda

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// An nvrtcResult is a result of NVRTC's functions.
type nvrtcResult int32

const _NVRTC_ERROR_COMPILATION nvrtcResult = 6

// An nvrtcAPI is the functions of NVRTC that this package calls.
type nvrtcAPI struct {
	nvrtcVersion             func(major, minor *int32) nvrtcResult
	nvrtcGetErrorString      func(r nvrtcResult) string
	nvrtcGetNumSupportedArch func(n *int32) nvrtcResult
	nvrtcGetSupportedArchs   func(archs *int32) nvrtcResult
	nvrtcCreateProgram       func(prog *uintptr, src, name string, n int32, headers, names **byte) nvrtcResult
	nvrtcDestroyProgram      func(prog *uintptr) nvrtcResult
	nvrtcCompileProgram      func(prog uintptr, n int32, options **byte) nvrtcResult
	nvrtcGetPTXSize          func(prog uintptr, size *uint64) nvrtcResult
	nvrtcGetPTX              func(prog uintptr, ptx *byte) nvrtcResult
	nvrtcGetCUBINSize        func(prog uintptr, size *uint64) nvrtcResult
	nvrtcGetCUBIN            func(prog uintptr, cubin *byte) nvrtcResult
	nvrtcGetProgramLogSize   func(prog uintptr, size *uint64) nvrtcResult
	nvrtcGetProgramLog       func(prog uintptr, log *byte) nvrtcResult
}

// An NVRTC is a loaded NVIDIA runtime compiler. It is safe for use from
// several goroutines.
type NVRTC struct {
	lib      *clib.Library
	api      nvrtcAPI
	version  string
	archs    []int    // compute capabilities it compiles for, ascending: 75, 80, 90
	includes []string // folders with cuda_fp16.h; may be empty
	mu       sync.Mutex
}

// OpenNVRTC finds and loads NVRTC: the file that PARITYCHECK_NVRTC names,
// or the newest of the first place that has one, out of LD_LIBRARY_PATH,
// CUDA_HOME and CUDA_PATH, the active Python environment's wheels, the
// usual folders of CUDA toolkits, what the system's loader finds, and the
// wheels of other Pythons. The error wraps gpu.ErrUnavailable.
func OpenNVRTC() (*NVRTC, error) {
	c, err := openNVRTC(nvrtcNames()...)
	if err != nil {
		return nil, fmt.Errorf("cuda: NVRTC: %w", err)
	}
	return c, nil
}

func openNVRTC(names ...string) (*NVRTC, error) {
	lib, err := clib.Open(names...)
	if err != nil {
		return nil, err
	}
	c := &NVRTC{lib: lib}
	a := &c.api
	err = lib.Bind([]clib.Func{
		{Ptr: &a.nvrtcVersion, Symbol: "nvrtcVersion"},
		{Ptr: &a.nvrtcGetErrorString, Symbol: "nvrtcGetErrorString"},
		{Ptr: &a.nvrtcGetNumSupportedArch, Symbol: "nvrtcGetNumSupportedArchs"},
		{Ptr: &a.nvrtcGetSupportedArchs, Symbol: "nvrtcGetSupportedArchs"},
		{Ptr: &a.nvrtcCreateProgram, Symbol: "nvrtcCreateProgram"},
		{Ptr: &a.nvrtcDestroyProgram, Symbol: "nvrtcDestroyProgram"},
		{Ptr: &a.nvrtcCompileProgram, Symbol: "nvrtcCompileProgram"},
		{Ptr: &a.nvrtcGetPTXSize, Symbol: "nvrtcGetPTXSize"},
		{Ptr: &a.nvrtcGetPTX, Symbol: "nvrtcGetPTX"},
		{Ptr: &a.nvrtcGetCUBINSize, Symbol: "nvrtcGetCUBINSize"},
		{Ptr: &a.nvrtcGetCUBIN, Symbol: "nvrtcGetCUBIN"},
		{Ptr: &a.nvrtcGetProgramLogSize, Symbol: "nvrtcGetProgramLogSize"},
		{Ptr: &a.nvrtcGetProgramLog, Symbol: "nvrtcGetProgramLog"},
	})
	if err != nil {
		return nil, fmt.Errorf("library is too old: %w", err)
	}
	var major, minor, n int32
	if err := c.check("nvrtcVersion", a.nvrtcVersion(&major, &minor)); err != nil {
		return nil, err
	}
	c.version = fmt.Sprintf("NVRTC %d.%d", major, minor)
	if err := c.check("nvrtcGetNumSupportedArchs", a.nvrtcGetNumSupportedArch(&n)); err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, fmt.Errorf("%s compiles for no architecture", c.version)
	}
	archs := make([]int32, n)
	if err := c.check("nvrtcGetSupportedArchs", a.nvrtcGetSupportedArchs(&archs[0])); err != nil {
		return nil, err
	}
	for _, v := range archs {
		c.archs = append(c.archs, int(v))
	}
	slices.Sort(c.archs)

	// NVRTC loads its built-in functions by a bare name, which the loader
	// finds beside it only if the library says so. Loaded here by path,
	// they are found by name later.
	if dir := filepath.Dir(lib.Path); filepath.IsAbs(lib.Path) {
		for _, path := range versions(dir, "libnvrtc-builtins.so") {
			if _, err := clib.Open(path); err == nil {
				break
			}
		}
	}
	c.includes = includeDirs(lib.Path)
	return c, nil
}

func (c *NVRTC) check(call string, r nvrtcResult) error {
	if r == 0 {
		return nil
	}
	return &gpu.Error{Call: call, Name: c.api.nvrtcGetErrorString(r), Code: int(r)}
}

// Version is the compiler's name and version: "NVRTC 13.0".
func (c *NVRTC) Version() string { return c.version }

// Path is what the library was loaded by.
func (c *NVRTC) Path() string { return c.lib.Path }

// Archs lists the architectures it compiles for: "sm_75", "sm_90".
func (c *NVRTC) Archs() []string {
	var s []string
	for _, a := range c.archs {
		s = append(s, fmt.Sprintf("sm_%d", a))
	}
	return s
}

// Arch is the architecture to compile for on a device of arch: itself
// where the compiler knows it, else the newest virtual one before it,
// whose PTX the driver compiles further.
func (c *NVRTC) Arch(arch string) (string, error) {
	n, err := capability(arch)
	if err != nil {
		return "", err
	}
	best := 0
	for _, a := range c.archs {
		if a <= n {
			best = a
		}
	}
	switch best {
	case 0:
		return "", fmt.Errorf("cuda: %s compiles for sm_%d and newer, the device is %s", c.version, c.archs[0], arch)
	case n:
		return arch, nil
	}
	return fmt.Sprintf("compute_%d", best), nil
}

var archName = regexp.MustCompile(`^(sm|compute)_(\d+)[af]?$`)

func capability(arch string) (int, error) {
	m := archName.FindStringSubmatch(arch)
	if m == nil {
		return 0, fmt.Errorf("cuda: architecture must be like sm_90 or compute_90, is %q", arch)
	}
	return strconv.Atoi(m[2])
}

// Compile compiles src for arch: to a cubin for a real one (sm_90), to
// PTX for a virtual one (compute_90). flags are passed on, behind what
// paritycheck sets. The error is a *gpu.CompileError where the source is
// at fault. A compilation cannot be interrupted: where ctx is done first,
// Compile returns and leaves it to end by itself.
//
// cuda_fp16.h and cuda_bf16.h are found where a toolkit or NVIDIA's
// wheels are installed; src.Headers come before them.
func (c *NVRTC) Compile(ctx context.Context, src gpu.Source, arch string, flags ...string) ([]byte, error) {
	n, err := capability(arch)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.archs, n) {
		return nil, fmt.Errorf("cuda: %s does not compile for %s, only for %s", c.version, arch, strings.Join(c.Archs(), " "))
	}
	options := []string{"--gpu-architecture=" + arch}
	if len(c.includes) > 0 {
		options = append(options, "--include-path="+c.includes[0])
	}
	options = append(options, flags...)
	for _, s := range append([]string{src.File, src.Text}, options...) {
		if err := clib.Name(s); err != nil {
			return nil, fmt.Errorf("cuda: compiling %s: source or option %.40q holds a NUL byte", src.File, s)
		}
	}
	type outcome struct {
		code []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		code, err := c.compile(src, strings.HasPrefix(arch, "compute"), options)
		done <- outcome{code, err}
	}()
	select {
	case o := <-done:
		return o.code, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("cuda: compiling %s: %w", src.File, context.Cause(ctx))
	}
}

func (c *NVRTC) compile(src gpu.Source, ptx bool, options []string) ([]byte, error) {
	a := &c.api
	fail := func(call string, r nvrtcResult) error {
		if err := c.check(call, r); err != nil {
			return fmt.Errorf("cuda: compiling %s: %w", src.File, err)
		}
		return nil
	}
	var names, texts []string
	for _, name := range slices.Sorted(maps.Keys(src.Headers)) {
		names, texts = append(names, name), append(texts, src.Headers[name])
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	var prog uintptr
	r := a.nvrtcCreateProgram(&prog, src.Text, src.File, int32(len(names)), cStrings(&pin, texts), cStrings(&pin, names))
	if err := fail("nvrtcCreateProgram", r); err != nil {
		return nil, err
	}
	defer a.nvrtcDestroyProgram(&prog)
	r = a.nvrtcCompileProgram(prog, int32(len(options)), cStrings(&pin, options))
	if r != 0 {
		log, err := read(a.nvrtcGetProgramLogSize, a.nvrtcGetProgramLog, prog)
		if err != 0 || r != _NVRTC_ERROR_COMPILATION && len(log) == 0 {
			return nil, fail("nvrtcCompileProgram", r)
		}
		text := clib.String(log)
		return nil, &gpu.CompileError{File: src.File, Log: text, Hint: c.hint(text)}
	}
	size, get, call := a.nvrtcGetCUBINSize, a.nvrtcGetCUBIN, "nvrtcGetCUBIN"
	if ptx {
		size, get, call = a.nvrtcGetPTXSize, a.nvrtcGetPTX, "nvrtcGetPTX"
	}
	code, r := read(size, get, prog)
	if err := fail(call, r); err != nil {
		return nil, err
	}
	if len(code) == 0 {
		return nil, fmt.Errorf("cuda: compiling %s: %s gave no code", src.File, call)
	}
	return code, nil
}

// read gets what a pair of functions, one for the size and one for the
// bytes, has of a program.
func read(size func(uintptr, *uint64) nvrtcResult, get func(uintptr, *byte) nvrtcResult, prog uintptr) ([]byte, nvrtcResult) {
	var n uint64
	if r := size(prog, &n); r != 0 || n == 0 {
		return nil, r
	}
	b := make([]byte, n)
	return b, get(prog, &b[0])
}

var missingHeader = regexp.MustCompile(`(?:cannot|could not) open source file "([^"]+)"`)

// hint says what to do about a header that was not found.
func (c *NVRTC) hint(log string) string {
	m := missingHeader.FindStringSubmatch(log)
	switch {
	case m == nil:
		return ""
	case len(c.includes) == 0:
		return fmt.Sprintf("no folder with CUDA's headers was found, for %s: install the toolkit or NVIDIA's cuda-runtime wheel, or set CUDA_HOME", m[1])
	}
	return fmt.Sprintf("%s is not in %s", m[1], c.includes[0])
}

// cStrings makes an array of C strings, pinned by pin; nil for none.
func cStrings(pin *runtime.Pinner, list []string) **byte {
	if len(list) == 0 {
		return nil
	}
	ptrs := make([]*byte, len(list))
	for i, s := range list {
		b := append([]byte(s), 0)
		pin.Pin(&b[0])
		ptrs[i] = &b[0]
	}
	pin.Pin(&ptrs[0])
	return unsafe.SliceData(ptrs)
}
