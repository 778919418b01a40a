package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/kernels"
)

// amdArchs are the architectures that the interpreter runs: wave64 CDNA2,
// wave32 RDNA2 and RDNA3.
var amdArchs = []string{"gfx90a", "gfx1030", "gfx1100"}

// faultArchs are one of each wave size: more would show nothing new.
var faultArchs = []string{"gfx90a", "gfx1030"}

// clangFlags decide the object, beside kernels.Flags.
var clangFlags = []string{
	// Findings name the source line. The code is the same without.
	"-gline-tables-only",
	// The object keeps the names of parameters, against which the
	// signatures read from the source are tested.
	"-fhip-kernel-arg-name",
	// Without this a hash of the source's folder goes into the object.
	"-fuse-cuid=none",
	"-Wall", "-Werror",
}

// A clang compiles HIP for AMD.
type clang struct {
	path     string
	version  string
	packages map[string]string
	rocm     string
	bitcode  string // the device libraries, with those that had to be made
	tmp      string
}

// newClang finds the compiler and readies a folder with the device
// libraries in tmp.
func newClang(command, rocm, bitcode, tmp string) (*clang, error) {
	p, err := exec.LookPath(command)
	if err != nil {
		return nil, fmt.Errorf("finding the HIP compiler: %w", err)
	}
	out, err := exec.Command(p, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", p, err)
	}
	c := &clang{path: p, rocm: rocm, tmp: tmp, bitcode: filepath.Join(tmp, "bitcode")}
	c.version, _, _ = strings.Cut(string(out), "\n")

	libs, err := filepath.Glob(filepath.Join(bitcode, "*.bc"))
	if err != nil || len(libs) == 0 {
		return nil, fmt.Errorf("no device libraries in %s: install rocm-device-libs or give -bitcode", bitcode)
	}
	if err := os.Mkdir(c.bitcode, 0o777); err != nil {
		return nil, err
	}
	for _, lib := range libs {
		if err := os.Symlink(lib, filepath.Join(c.bitcode, filepath.Base(lib))); err != nil {
			return nil, err
		}
	}
	if err := c.isaVersion("gfx1100", 11000); err != nil {
		return nil, err
	}

	ocml, err := os.ReadFile(filepath.Join(bitcode, "ocml.bc"))
	if err != nil {
		return nil, err
	}
	hip, err := hipVersion(filepath.Join(rocm, "include/hip/hip_version.h"))
	if err != nil {
		return nil, err
	}
	c.packages = map[string]string{"hip": hip, "ocml.bc": hash(ocml)}
	return c, nil
}

// isaVersion makes the device library that holds an architecture's number,
// which those of ROCm 5 lack for gfx1100. The rest of them is generic.
func (c *clang) isaVersion(arch string, number int) error {
	lib := filepath.Join(c.bitcode, "oclc_isa_version_"+strings.TrimPrefix(arch, "gfx")+".bc")
	if _, err := os.Stat(lib); err == nil {
		return nil
	}
	ir := fmt.Sprintf(`target triple = "amdgcn-amd-amdhsa"
@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 %d, align 4
`, number)
	cmd := exec.Command(c.path, "-x", "ir", "-", "-c", "-emit-llvm", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-o", lib)
	cmd.Stdin = strings.NewReader(ir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making %s: %w\n%s", lib, err, out)
	}
	return nil
}

var versionPart = regexp.MustCompile(`(?m)^#define HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)`)

func hipVersion(header string) (string, error) {
	text, err := os.ReadFile(header)
	if err != nil {
		return "", fmt.Errorf("finding HIP's headers: %w", err)
	}
	parts := versionPart.FindAllSubmatch(text, -1)
	if len(parts) != 3 {
		return "", fmt.Errorf("%s has no HIP_VERSION_MAJOR, MINOR and PATCH", header)
	}
	return fmt.Sprintf("%s.%s.%s", parts[0][2], parts[1][2], parts[2][2]), nil
}

// A hipDialect is one dialect that clang compiles.
type hipDialect struct {
	*clang
	name string
}

func (d hipDialect) families() []string {
	if d.name == kernels.FAULT {
		return kernels.FaultFamilies()
	}
	return kernels.Families()
}

func (d hipDialect) jobs(family string) ([]*job, error) {
	c := d.clang
	src, headers, err := kernels.Source(d.name, family)
	if err != nil {
		return nil, err
	}
	archs, prefix := amdArchs, ""
	if d.name == kernels.FAULT {
		archs, prefix = faultArchs, kernels.FAULT+"."
	}
	var jobs []*job
	for _, arch := range archs {
		j := &job{Built: describe(d.name, family, src, headers)}
		j.File = prefix + family + "." + arch + ".hsaco.gz"
		j.Arch = arch
		j.Compiler = c.version
		j.Packages = c.packages
		j.Flags = slices.Concat([]string{"--offload-arch=" + arch}, kernels.Flags(d.name), clangFlags)
		j.compile = func() ([]byte, error) { return c.compile(j, src, headers) }
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// compile writes the sources into a folder of their own and compiles them
// there. Paths in the debug information are relative to kernels.
func (c *clang) compile(j *job, src string, headers map[string]string) ([]byte, error) {
	dir, err := os.MkdirTemp(c.tmp, j.Family+"."+j.Arch)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, folder := range []string{kernels.HIP, kernels.FAULT, kernels.Common} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, j.Source), []byte(src), 0o666); err != nil {
		return nil, err
	}
	source, _, _ := strings.Cut(j.Source, "/")
	for name, text := range headers {
		if err := os.WriteFile(filepath.Join(dir, kernels.HeaderPath(source, name)), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	args := slices.Concat(
		[]string{"-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output",
			"--rocm-path=" + c.rocm, "--rocm-device-lib-path=" + c.bitcode,
			"-ffile-compilation-dir=kernels", "-ffile-prefix-map=" + dir + "=kernels"},
		j.Flags,
		[]string{"-iquote", kernels.HIP, "-iquote", kernels.Common, j.Source, "-o", "object"})
	cmd := exec.Command(c.path, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	object, err := os.ReadFile(filepath.Join(dir, "object"))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(object, []byte(c.tmp)) {
		return nil, errors.New("the object names the folder that it was built in")
	}
	return object, nil
}
