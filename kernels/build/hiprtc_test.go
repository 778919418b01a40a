package main

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/rocm"
	"github.com/paritycheck/paritycheck/kernels"
)

const childArg = "hiprtc-child"

// The test binary is hiprtc's process too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		if err := rocm.CompileChild(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The HIP sources compile with hiprtc and no include path, to the same
// kernels.
func TestHIPRTC(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := rocm.Compiler{Exe: exe, Args: []string{childArg}}
	for _, f := range families("hip") {
		src, headers, err := kernels.Source(kernels.HIP, f)
		if err != nil {
			t.Fatal(err)
		}
		code, err := c.Compile(t.Context(), gpu.Source{File: f + ".hip", Text: src, Headers: headers}, "gfx90a", kernels.Flags(kernels.HIP)...)
		if errors.Is(err, gpu.ErrUnavailable) {
			missing(t, "hip", err)
		}
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		object, err := codeobject.Parse(code.Object, "gfx90a")
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		sigs, err := kernels.ParseSignatures(src, headers)
		if err != nil {
			t.Fatal(err)
		}
		for symbol := range sigs {
			if object.Kernel(symbol) == nil {
				t.Errorf("%s: hiprtc gives no kernel %s", f, symbol)
			}
		}
	}
}
