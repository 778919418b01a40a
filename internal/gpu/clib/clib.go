// Package clib binds C libraries without cgo, and holds the thread that
// their state belongs to. It is what gpu/driver, gpu/cuda and gpu/rocm stand
// on, and the only one of them that knows purego.
package clib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// A Library is a loaded shared library.
type Library struct {
	Path  string   // of the file, where that is known, else the name that the loader searched for
	Tried []string // those before it that did not load, with the reason
	lib   uintptr
}

// Open loads the first of names that exists. Its error wraps
// gpu.ErrUnavailable and gives the reason for each name.
func Open(names ...string) (*Library, error) {
	var tried []string
	for _, name := range names {
		lib, err := dlopen(name)
		if err == nil {
			return &Library{Path: mapped(name), Tried: tried, lib: lib}, nil
		}
		// The loader's message begins with the name, mostly.
		if msg := err.Error(); strings.Contains(msg, name) {
			tried = append(tried, msg)
		} else {
			tried = append(tried, name+": "+msg)
		}
	}
	return nil, &OpenError{Tried: tried}
}

// mapped is the path of the library that the loader found for a bare
// name, by the memory map of the process.
func mapped(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return name
	}
	for line := range strings.Lines(string(maps)) {
		line = strings.TrimSpace(line)
		// A link libx.so.2 is mapped as the file libx.so.2.4.0.
		if i := strings.Index(line, "/"); i >= 0 && strings.HasPrefix(filepath.Base(line), name) {
			return line[i:]
		}
	}
	return name
}

// An OpenError is a library that could not be loaded under any name.
type OpenError struct {
	Tried []string // each name with the reason
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("%v: %s", gpu.ErrUnavailable, strings.Join(e.Tried, "; "))
}

func (e *OpenError) Unwrap() error { return gpu.ErrUnavailable }

// A Func is a C function and where its address goes: a pointer to a Go
// function variable of the same signature, or a *uintptr for Call. The
// compiler cannot check that signature.
type Func struct {
	Ptr    any
	Symbol string
}

// Bind finds all of funcs. A symbol that the library lacks is an error:
// the library is too old, which the user can mend.
func (l *Library) Bind(funcs []Func) error {
	var lacks []string
	for _, f := range funcs {
		sym, err := dlsym(l.lib, f.Symbol)
		if err != nil || sym == 0 {
			lacks = append(lacks, f.Symbol)
			continue
		}
		if p, ok := f.Ptr.(*uintptr); ok {
			*p = sym
		} else {
			purego.RegisterFunc(f.Ptr, sym)
		}
	}
	if lacks != nil {
		return fmt.Errorf("%s lacks %s", l.Path, strings.Join(lacks, ", "))
	}
	return nil
}

// BindPresent finds those of funcs that the library has, and leaves the
// others nil.
func (l *Library) BindPresent(funcs []Func) error {
	return l.Bind(slices.DeleteFunc(funcs, func(f Func) bool { return !l.Has(f.Symbol) }))
}

// Has says whether the library has a symbol.
func (l *Library) Has(symbol string) bool {
	sym, err := dlsym(l.lib, symbol)
	return err == nil && sym != 0
}

// Call calls a C function of integers and pointers. Pointers passed this
// way must be pinned. It takes a fifth of the time of a bound function.
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// String is the text of a C string, at most max bytes of it.
func String(b []byte) string {
	if i := strings.IndexByte(string(b), 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// GoString copies a C string that a library owns.
func GoString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

var errNoTerminator = errors.New("name holds a NUL byte")

// Name checks that s can be passed as a C string.
func Name(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return errNoTerminator
	}
	return nil
}
