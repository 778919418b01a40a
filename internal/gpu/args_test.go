package gpu

import (
	"bytes"
	"errors"
	"testing"
)

type address uint64

func (a address) Ptr() uint64            { return uint64(a) }
func (address) Size() int                { return 0 }
func (address) CopyIn(src []byte) error  { return nil }
func (address) CopyOut(dst []byte) error { return nil }
func (address) Poison(byte) error        { return nil }
func (address) Free() error              { return nil }

// TestArgs writes the blocks out by hand, from the rule of both vendors'
// ABIs: each value at a multiple of its size, little-endian.
func TestArgs(t *testing.T) {
	for _, tt := range []struct {
		name string
		pack func(a *Args)
		want []byte
	}{
		{"none", func(*Args) {}, nil},
		{"u32 then pointer", func(a *Args) { a.Uint(1, 4); a.Ptr(address(0x1122334455667788)) },
			[]byte{1, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}},
		{"pointer then u32", func(a *Args) { a.Ptr(address(2)); a.Uint(0xfffffffe, 4) },
			[]byte{2, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}},
		{"null pointer", func(a *Args) { a.Ptr(nil) }, make([]byte, 8)},
		{"u8 u16 u8 f32", func(a *Args) { a.Uint(0xaa, 1); a.Uint(0xbbcc, 2); a.Uint(0xdd, 1); a.Float32(1) },
			[]byte{0xaa, 0, 0xcc, 0xbb, 0xdd, 0, 0, 0, 0, 0, 0x80, 0x3f}},
		{"f32 f64", func(a *Args) { a.Float32(-2); a.Float64(1) },
			[]byte{0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{"truncated to its size", func(a *Args) { a.Uint(0x1ff, 1) }, []byte{0xff}},
	} {
		var a Args
		tt.pack(&a)
		if !bytes.Equal(a.Bytes(), tt.want) {
			t.Errorf("%s: got % x, want % x", tt.name, a.Bytes(), tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := &Error{Call: "cuMemAlloc_v2", Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory", Code: 2}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{cause, "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"},
		{&Error{Call: "hipFree", Name: "hipErrorUnknown", Text: "hipErrorUnknown", Code: 999}, "hipFree: hipErrorUnknown (999)"},
		{&Fault{Kernel: "k", Reason: "trap"}, "kernel k: trap"},
		{&CompileError{File: "k.hip", Log: "k.hip:1:2: error: no\n"}, "compiling k.hip:\nk.hip:1:2: error: no"},
		{&CompileError{File: "k.cu", Hint: "set CUDA_HOME"}, "compiling k.cu\nhint: set CUDA_HOME"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if f := (&Fault{Err: cause}); !errors.Is(f, cause) {
		t.Error("a fault does not wrap its cause")
	}
}
