package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/kernels"
)

// nvrtcVersion is the compiler of the committed PTX: the first of CUDA 12,
// whose PTX (ISA 8.0) every driver of CUDA 12 and newer loads.
const nvrtcVersion = "NVRTC 12.0"

// ptxArch is the oldest architecture that every CUDA from 12 to 13
// supports: Turing.
const ptxArch = "compute_75"

// An nvrtc compiles CUDA to PTX.
type nvrtc struct{ *cuda.NVRTC }

// openNVRTC loads NVRTC, which must be of the pinned version.
func openNVRTC() (nvrtc, error) {
	c, err := cuda.OpenNVRTC()
	if err != nil {
		return nvrtc{}, fmt.Errorf("%w\npip install nvidia-cuda-nvrtc-cu12==12.0.140 brings it; set PARITYCHECK_NVRTC to the path of its libnvrtc.so.12", err)
	}
	if c.Version() != nvrtcVersion {
		return nvrtc{}, fmt.Errorf("%s is %s, but the committed PTX is made by %s: set PARITYCHECK_NVRTC to the path of the libnvrtc.so.12 that pip install nvidia-cuda-nvrtc-cu12==12.0.140 brings", c.Path(), c.Version(), nvrtcVersion)
	}
	return nvrtc{c}, nil
}

func (nvrtc) families() []string { return kernels.Families() }

func (c nvrtc) jobs(family string) ([]*job, error) {
	src, headers, err := kernels.Source(kernels.CUDA, family)
	if err != nil {
		return nil, err
	}
	j := &job{Built: describe(kernels.CUDA, family, src, headers)}
	j.File = family + ".ptx.gz"
	j.Arch = ptxArch
	j.Compiler = c.Version()
	flags := kernels.Flags(kernels.CUDA)
	j.Flags = slices.Concat([]string{"--gpu-architecture=" + ptxArch}, flags)
	j.compile = func() ([]byte, error) {
		return ptx(c.NVRTC, gpu.Source{File: family + ".cu", Text: src, Headers: headers}, flags)
	}
	return []*job{j}, nil
}

// ptx compiles src, which includes nothing but its headers.
func ptx(c *cuda.NVRTC, src gpu.Source, flags []string) ([]byte, error) {
	code, err := c.Compile(context.Background(), src, ptxArch, flags...)
	if err != nil {
		return nil, err
	}
	// C's closing zero comes with it.
	return slices.Clip(trimZero(code)), nil
}

func trimZero(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == 0 {
		return b[:n-1]
	}
	return b
}
