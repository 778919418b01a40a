package main

import (
	"bytes"
	"errors"
	"fmt"

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

// An nvrtc compiles CUDA to PTX.
type nvrtc struct{ rtc }

// openNVRTC loads libnvrtc, which must be of the pinned version.
func openNVRTC(path string) (*nvrtc, error) {
	if path == "" {
		return nil, errors.New("no NVRTC: give -nvrtc or set PARITYCHECK_NVRTC to the path of libnvrtc.so.12, which pip install nvidia-cuda-nvrtc-cu12==12.0.140 brings")
	}
	n := new(nvrtc)
	if err := n.load(path, "nvrtc", "PTX"); err != nil {
		return nil, err
	}
	if n.version != nvrtcVersion {
		return nil, fmt.Errorf("%s is NVRTC %s: the committed PTX is made by %s", path, n.version, nvrtcVersion)
	}
	return n, nil
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
	j.compile = func() ([]byte, error) { return n.ptx(family+".cu", src, headers) }
	return []*job{j}, nil
}

// ptx compiles src with the flags of the committed PTX.
func (n *nvrtc) ptx(name, src string, headers map[string]string) ([]byte, error) {
	code, err := n.compile(name, src, headers, nvrtcFlags)
	return bytes.TrimRight(code, "\x00"), err
}
