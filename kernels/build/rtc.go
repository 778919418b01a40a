package main

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An rtc is a compiler library with NVRTC's interface, as hiprtc has it
// too. Its functions have the names and parameters of the C functions,
// without the prefix; each returns a status.
type rtc struct {
	mu      sync.Mutex
	prefix  string
	version string

	versionNumbers    func(major, minor *int32) int32
	createProgram     func(prog *uintptr, src, name string, numHeaders int32, headers, includeNames **byte) int32
	destroyProgram    func(prog *uintptr) int32
	compileProgram    func(prog uintptr, numOptions int32, options **byte) int32
	getCodeSize       func(prog uintptr, size *uint64) int32
	getCode           func(prog uintptr, code *byte) int32
	getProgramLogSize func(prog uintptr, size *uint64) int32
	getProgramLog     func(prog uintptr, log *byte) int32
	getErrorString    func(status int32) string
}

// load opens the library at path. Its functions begin with prefix; code
// is what it calls the result, "PTX" or "Code".
func (r *rtc) load(path, prefix, code string) error {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("loading %s: %w", prefix, err)
	}
	r.prefix = prefix
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&r.versionNumbers, "Version"},
		{&r.createProgram, "CreateProgram"},
		{&r.destroyProgram, "DestroyProgram"},
		{&r.compileProgram, "CompileProgram"},
		{&r.getCodeSize, "Get" + code + "Size"},
		{&r.getCode, "Get" + code},
		{&r.getProgramLogSize, "GetProgramLogSize"},
		{&r.getProgramLog, "GetProgramLog"},
		{&r.getErrorString, "GetErrorString"},
	} {
		sym, err := purego.Dlsym(lib, prefix+f.name)
		if err != nil {
			return fmt.Errorf("loading %s: %w", prefix, err)
		}
		purego.RegisterFunc(f.fn, sym)
	}
	var major, minor int32
	if err := r.status("asking for the version", r.versionNumbers(&major, &minor)); err != nil {
		return err
	}
	r.version = fmt.Sprintf("%d.%d", major, minor)
	return nil
}

func (r *rtc) status(doing string, status int32) error {
	if status == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s: %s (%d)", r.prefix, doing, r.getErrorString(status), status)
}

// compile returns what src compiles to, with the closing zero if it is text. The error holds the compiler's log.
func (r *rtc) compile(name, src string, headers map[string]string, flags []string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var pin runtime.Pinner
	defer pin.Unpin()

	var names, texts []string
	for _, h := range slices.Sorted(maps.Keys(headers)) {
		names = append(names, h)
		texts = append(texts, headers[h])
	}
	var prog uintptr
	err := r.status("creating the program", r.createProgram(&prog, src, name, int32(len(names)), cStrings(&pin, texts), cStrings(&pin, names)))
	if err != nil {
		return nil, err
	}
	defer r.destroyProgram(&prog)
	if err := r.status("compiling", r.compileProgram(prog, int32(len(flags)), cStrings(&pin, flags))); err != nil {
		log, _ := r.text(prog, r.getProgramLogSize, r.getProgramLog)
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimRight(log, "\x00"))
	}
	code, err := r.text(prog, r.getCodeSize, r.getCode)
	if err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	return code, nil
}

// text reads one of a program's texts. C's closing zero is part of it.
func (r *rtc) text(prog uintptr, size func(uintptr, *uint64) int32, get func(uintptr, *byte) int32) ([]byte, error) {
	var length uint64
	if err := r.status("reading its size", size(prog, &length)); err != nil || length == 0 {
		return nil, err
	}
	buf := make([]byte, length)
	if err := r.status("reading it", get(prog, &buf[0])); err != nil {
		return nil, err
	}
	return buf, nil
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
