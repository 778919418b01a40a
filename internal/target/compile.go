package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/cuda"
	"github.com/paritycheck/paritycheck/kernels"
)

// A user's source is compiled as its author's build does by default:
// optimised, with products fused where the compiler's default fuses them.
// The objects are cached by the content of the source and of what it
// includes out of its own folder and -I.

// hipccEnv and nvccEnv name the compilers of users' sources.
const (
	hipccEnv = "PARITYCHECK_HIPCC"
	nvccEnv  = "PARITYCHECK_NVCC"
)

// compileHIP compiles a user's HIP source for an AMD architecture.
func (u *UserCode) compileHIP(ctx context.Context, body []byte, arch string, opts Options) (object []byte, flags string, err error) {
	src, err := u.gather(body)
	if err != nil {
		return nil, "", err
	}
	list := append([]string{"-O3", "-std=c++17"}, u.macros("-D")...)
	command, version := findCompiler(hipccEnv,
		"hipcc", "/opt/rocm/bin/hipcc", "amdclang++", "/opt/rocm/llvm/bin/clang++", "clang++", "clang++-20", "clang++-19", "clang++-18", "clang++-17")
	if command == "" {
		object, err = cached("hiprtc", src, arch, list, func() ([]byte, error) {
			code, err := opts.HIPRTC.Compile(ctx, src, arch, list...)
			return code.Object, err
		})
		if errors.Is(err, gpu.ErrUnavailable) {
			err = fmt.Errorf("compiling %s: no hipcc, amdclang++, clang++ or hiprtc was found; set %s: %w", u.Path, hipccEnv, err)
		}
		return object, "hiprtc " + strings.Join(list, " "), err
	}
	list = append(list, "--offload-arch="+arch)
	object, err = cached(version, src, arch, append(slices.Clone(list), u.Include...), func() ([]byte, error) {
		args := append([]string{"--genco"}, list...)
		if !strings.HasSuffix(command, "hipcc") {
			args = append([]string{"-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output"}, list...)
			args = append(args, rocmFlags()...)
		}
		return run(ctx, u.Path, command, append(args, u.paths("-I")...)...)
	})
	return object, filepath.Base(command) + " " + strings.Join(list, " "), err
}

// rocmFlags tell a clang that is not ROCm's own where HIP's headers and
// AMD's device libraries are: where ROCM_PATH says, in /opt/rocm, or where
// Debian has them.
func rocmFlags() []string {
	var flags []string
	is := func(path string) bool { _, err := os.Stat(path); return err == nil }
	for _, root := range []string{os.Getenv("ROCM_PATH"), "/opt/rocm", "/usr"} {
		if root != "" && is(filepath.Join(root, "include/hip/hip_runtime.h")) {
			flags = append(flags, "--rocm-path="+root)
			for _, lib := range []string{root + "/amdgcn/bitcode", root + "/lib/x86_64-linux-gnu/amdgcn/bitcode", root + "/lib/amdgcn/bitcode"} {
				if is(lib) {
					return append(flags, "--rocm-device-lib-path="+lib)
				}
			}
			return flags
		}
	}
	return nil
}

// compileCUDA compiles a user's source for an NVIDIA architecture: CUDA
// by nvcc or NVRTC, HIP by NVRTC with HIP's names as a header.
func (u *UserCode) compileCUDA(ctx context.Context, body []byte, arch string) (object []byte, flags string, err error) {
	src, err := u.gather(body)
	if err != nil {
		return nil, "", err
	}
	list := append([]string{"-std=c++17"}, u.macros("-D")...)
	command, version := "", ""
	if u.Side == "cuda" {
		candidates := []string{"nvcc", "/usr/local/cuda/bin/nvcc"}
		for _, env := range []string{"CUDA_HOME", "CUDA_PATH"} {
			if home := os.Getenv(env); home != "" {
				candidates = append([]string{filepath.Join(home, "bin", "nvcc")}, candidates...)
			}
		}
		command, version = findCompiler(nvccEnv, candidates...)
	}
	if command != "" {
		list = append(list, "-O3", "-arch="+arch)
		object, err = cached(version, src, arch, append(slices.Clone(list), u.Include...), func() ([]byte, error) {
			args := append([]string{"-x", "cu", "-cubin"}, list...)
			return run(ctx, u.Path, command, append(args, u.paths("-I")...)...)
		})
		return object, "nvcc " + strings.Join(list, " "), err
	}
	nvrtc, err := cuda.OpenNVRTC()
	if err != nil {
		return nil, "", fmt.Errorf("compiling %s: no nvcc was found, nor NVRTC; set %s: %w", u.Path, nvccEnv, err)
	}
	if u.Side == "hip" {
		_, headers, err := kernels.Source(kernels.HIPNV, "fill")
		if err != nil {
			return nil, "", err
		}
		src.Headers["hip/hip_runtime.h"] = headers["hip/hip_runtime.h"]
	}
	if arch, err = nvrtc.Arch(arch); err != nil {
		return nil, "", err
	}
	object, err = cached(nvrtc.Version(), src, arch, list, func() ([]byte, error) {
		return nvrtc.Compile(ctx, src, arch, append(slices.Clone(list), u.paths("--include-path=")...)...)
	})
	return object, nvrtc.Version() + " " + strings.Join(list, " "), err
}

// macros are the definitions as flags.
func (u *UserCode) macros(flag string) []string {
	var list []string
	for _, d := range u.Define {
		list = append(list, flag+d)
	}
	return list
}

// paths are the folders of headers as flags, the source's own first.
func (u *UserCode) paths(flag string) []string {
	list := []string{flag + filepath.Dir(u.Path)}
	for _, d := range u.Include {
		list = append(list, flag+d)
	}
	return list
}

var userInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]`)

// gather returns the source with the headers that it includes out of its
// folder and the folders of -I, by the names that it includes them under.
// Others are the compiler's.
func (u *UserCode) gather(body []byte) (gpu.Source, error) {
	for _, dir := range u.Include {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return gpu.Source{}, fmt.Errorf("-I %s: no such folder", dir)
		}
	}
	src := gpu.Source{File: u.Path, Text: string(body), Headers: map[string]string{}}
	var walk func(text, dir string)
	walk = func(text, dir string) {
		for _, m := range userInclude.FindAllStringSubmatch(text, -1) {
			if _, ok := src.Headers[m[1]]; ok {
				continue
			}
			for _, folder := range append([]string{dir}, u.Include...) {
				path := filepath.Join(folder, m[1])
				if b, err := os.ReadFile(path); err == nil {
					src.Headers[m[1]] = string(b)
					walk(string(b), filepath.Dir(path))
					break
				}
			}
		}
	}
	walk(src.Text, filepath.Dir(u.Path))
	return src, nil
}

// findCompiler returns the first of candidates that is installed, with the
// first line of its version; env names another.
func findCompiler(env string, candidates ...string) (command, version string) {
	if name := os.Getenv(env); name != "" {
		candidates = []string{name}
	}
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		return path, path + " " + strings.TrimSpace(string(out))
	}
	return "", ""
}

// run compiles a file and returns what comes out.
func run(ctx context.Context, path, command string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "paritycheck-compile-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "object")
	cmd := exec.CommandContext(ctx, command, append(args, path, "-o", out)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("compiling %s: %w", path, context.Cause(ctx))
		}
		if log.Len() == 0 {
			log.WriteString(err.Error())
		}
		return nil, &gpu.CompileError{File: path, Log: log.String()}
	}
	return os.ReadFile(out)
}
