//go:build linux || darwin

// Package llvm calls libLLVM 19's AMDGPU disassembler. The table generator
// and the differential tests use it; nothing that is built into the
// program does.
package llvm

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Libraries are the names tried in turn.
var libraries = []string{"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "libLLVM.dylib"}

// A Disassembler is LLVM's for one processor. It is not safe for
// concurrent use.
type Disassembler struct {
	ctx  uintptr
	fn   uintptr
	text [1024]byte
	code [24]byte
	pin  runtime.Pinner
}

// New loads libLLVM and makes a disassembler for cpu, such as "gfx90a".
// The error lists each library tried.
func New(cpu string) (*Disassembler, error) {
	var lib uintptr
	var errs []error
	for _, name := range libraries {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			lib = h
			break
		}
		errs = append(errs, err)
	}
	if lib == 0 {
		return nil, fmt.Errorf("loading LLVM 19: %w", errors.Join(errs...))
	}
	for _, name := range []string{
		"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTarget",
		"LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUDisassembler",
	} {
		fn, err := purego.Dlsym(lib, name)
		if err != nil {
			return nil, err
		}
		purego.SyscallN(fn)
	}
	create, err := purego.Dlsym(lib, "LLVMCreateDisasmCPU")
	if err != nil {
		return nil, err
	}
	var newDisasm func(triple, cpu string, info uintptr, tag int32, getOp, lookUp uintptr) uintptr
	purego.RegisterFunc(&newDisasm, create)
	d := &Disassembler{}
	if d.fn, err = purego.Dlsym(lib, "LLVMDisasmInstruction"); err != nil {
		return nil, err
	}
	if d.ctx = newDisasm("amdgcn-amd-amdhsa", cpu, 0, 0, 0, 0); d.ctx == 0 {
		return nil, fmt.Errorf("LLVM knows no processor %s", cpu)
	}
	d.pin.Pin(d)
	return d, nil
}

// Decode disassembles the first instruction of code, which must be at pc.
// It returns the text without leading tab and comments, and the size in
// bytes, 0 where LLVM finds no instruction.
func (d *Disassembler) Decode(code []byte, pc uint64) (string, int) {
	n := copy(d.code[:], code)
	size, _, _ := purego.SyscallN(d.fn, d.ctx, uintptr(unsafe.Pointer(&d.code)), uintptr(n),
		uintptr(pc), uintptr(unsafe.Pointer(&d.text)), uintptr(len(d.text)))
	if size == 0 {
		return "", 0
	}
	end := 0
	for end < len(d.text) && d.text[end] != 0 {
		end++
	}
	s := strings.TrimSpace(string(d.text[:end]))
	if i := strings.Index(s, " ; "); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return s, int(size)
}
