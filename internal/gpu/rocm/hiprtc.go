package rocm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// A hiprtcResult is a result of hiprtc's functions.
type hiprtcResult int32

// A hiprtcAPI is the functions of hiprtc that this package calls.
type hiprtcAPI struct {
	lib *clib.Library

	hiprtcVersion           func(major, minor *int32) hiprtcResult
	hiprtcGetErrorString    func(r hiprtcResult) string
	hiprtcCreateProgram     func(prog *uintptr, src, name string, n int32, headers, names **byte) hiprtcResult
	hiprtcDestroyProgram    func(prog *uintptr) hiprtcResult
	hiprtcCompileProgram    func(prog uintptr, n int32, options **byte) hiprtcResult
	hiprtcGetCodeSize       func(prog uintptr, size *uint64) hiprtcResult
	hiprtcGetCode           func(prog uintptr, code *byte) hiprtcResult
	hiprtcGetProgramLogSize func(prog uintptr, size *uint64) hiprtcResult
	hiprtcGetProgramLog     func(prog uintptr, log *byte) hiprtcResult
}

// hiprtcEnv and comgrEnv name the libraries to use in place of the
// system's.
const (
	hiprtcEnv = "PARITYCHECK_LIBHIPRTC"
	comgrEnv  = "PARITYCHECK_LIBAMD_COMGR"
)

// hiprtcNames ends with the HIP runtime, which holds hiprtc up to HIP 5.
func hiprtcNames() []string {
	if path := os.Getenv(hiprtcEnv); path != "" {
		return []string{path}
	}
	return append(inROCm("libhiprtc.so", ".7", ".6", ".5", ""), driverNames()...)
}

func comgrNames() []string {
	if path := os.Getenv(comgrEnv); path != "" {
		return []string{path}
	}
	return inROCm("libamd_comgr.so", ".3", ".2", "")
}

func loadHiprtc(names ...string) (*hiprtcAPI, error) {
	lib, err := clib.Open(names...)
	if err != nil {
		return nil, err
	}
	a := &hiprtcAPI{lib: lib}
	err = lib.Bind([]clib.Func{
		{Ptr: &a.hiprtcVersion, Symbol: "hiprtcVersion"},
		{Ptr: &a.hiprtcGetErrorString, Symbol: "hiprtcGetErrorString"},
		{Ptr: &a.hiprtcCreateProgram, Symbol: "hiprtcCreateProgram"},
		{Ptr: &a.hiprtcDestroyProgram, Symbol: "hiprtcDestroyProgram"},
		{Ptr: &a.hiprtcCompileProgram, Symbol: "hiprtcCompileProgram"},
		{Ptr: &a.hiprtcGetCodeSize, Symbol: "hiprtcGetCodeSize"},
		{Ptr: &a.hiprtcGetCode, Symbol: "hiprtcGetCode"},
		{Ptr: &a.hiprtcGetProgramLogSize, Symbol: "hiprtcGetProgramLogSize"},
		{Ptr: &a.hiprtcGetProgramLog, Symbol: "hiprtcGetProgramLog"},
	})
	if err != nil {
		return nil, fmt.Errorf("hiprtc cannot be used: %w", err)
	}
	return a, nil
}

func (a *hiprtcAPI) check(call string, r hiprtcResult) error {
	if r == 0 {
		return nil
	}
	return &gpu.Error{Call: call, Name: a.hiprtcGetErrorString(r), Code: int(r)}
}

// version is hiprtc's: "hiprtc 9.0".
func (a *hiprtcAPI) version() (string, error) {
	var major, minor int32
	if err := a.check("hiprtcVersion", a.hiprtcVersion(&major, &minor)); err != nil {
		return "", err
	}
	return fmt.Sprintf("hiprtc %d.%d", major, minor), nil
}

// hiprtc crashes when two threads of a process compile at once (HIP 5.2:
// a null thread-local in a lock's slow path), so one does at a time.
var hiprtcMutex sync.Mutex

// compile compiles in this process. log is what the compiler said of the
// source, when it refused it.
func (a *hiprtcAPI) compile(src gpu.Source, options []string) (code []byte, log string, err error) {
	hiprtcMutex.Lock()
	defer hiprtcMutex.Unlock()
	var names, texts []string
	for _, name := range slices.Sorted(maps.Keys(src.Headers)) {
		names, texts = append(names, name), append(texts, src.Headers[name])
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	var prog uintptr
	r := a.hiprtcCreateProgram(&prog, src.Text, filepath.Base(src.File), int32(len(names)), cStrings(&pin, texts), cStrings(&pin, names))
	if err := a.check("hiprtcCreateProgram", r); err != nil {
		return nil, "", err
	}
	defer a.hiprtcDestroyProgram(&prog)
	r = a.hiprtcCompileProgram(prog, int32(len(options)), cStrings(&pin, options))
	if err := a.check("hiprtcCompileProgram", r); err != nil {
		log, lr := read(a.hiprtcGetProgramLogSize, a.hiprtcGetProgramLog, prog)
		if text := clib.String(log); lr == 0 && strings.TrimSpace(text) != "" {
			return nil, text, err
		}
		return nil, "", err
	}
	code, r = read(a.hiprtcGetCodeSize, a.hiprtcGetCode, prog)
	if err := a.check("hiprtcGetCode", r); err != nil {
		return nil, "", err
	}
	if len(code) == 0 {
		return nil, "", errors.New("hiprtcGetCode gave no code")
	}
	return code, "", nil
}

// read gets what a pair of functions, one for the size and one for the
// bytes, has of a program.
func read(size func(uintptr, *uint64) hiprtcResult, get func(uintptr, *byte) hiprtcResult, prog uintptr) ([]byte, hiprtcResult) {
	var n uint64
	if r := size(prog, &n); r != 0 || n == 0 {
		return nil, r
	}
	b := make([]byte, n)
	return b, get(prog, &b[0])
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

// isas lists what the code object manager can compile for: "gfx90a".
// hiprtc aborts the process for others.
func isas(names ...string) (lib *clib.Library, archs []string, err error) {
	if lib, err = clib.Open(names...); err != nil {
		return nil, nil, err
	}
	var (
		amd_comgr_get_isa_count func(n *uint64) int32
		amd_comgr_get_isa_name  func(i uint64, name **byte) int32
	)
	if err := lib.Bind([]clib.Func{
		{Ptr: &amd_comgr_get_isa_count, Symbol: "amd_comgr_get_isa_count"},
		{Ptr: &amd_comgr_get_isa_name, Symbol: "amd_comgr_get_isa_name"},
	}); err != nil {
		return nil, nil, err
	}
	fail := func(call string, r int32) error {
		return &gpu.Error{Call: call, Name: "amd_comgr_status", Code: int(r)}
	}
	var n uint64
	if r := amd_comgr_get_isa_count(&n); r != 0 {
		return nil, nil, fail("amd_comgr_get_isa_count", r)
	}
	for i := range n {
		var p *byte
		if r := amd_comgr_get_isa_name(i, &p); r != 0 || p == nil {
			return nil, nil, fail("amd_comgr_get_isa_name", r)
		}
		// "amdgcn-amd-amdhsa--gfx90a"
		if _, arch, ok := strings.Cut(clib.GoString(p), "--"); ok {
			archs = append(archs, arch)
		}
	}
	return lib, archs, nil
}
