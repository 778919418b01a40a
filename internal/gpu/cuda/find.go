package cuda

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// nvrtcEnv names the NVRTC to use; no other is tried then.
const nvrtcEnv = "PARITYCHECK_NVRTC"

const nvrtcFile = "libnvrtc.so"

func nvrtcNames() []string {
	if path := os.Getenv(nvrtcEnv); path != "" {
		return []string{path}
	}
	var names []string
	// What the user chose comes first.
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		names = append(names, versions(dir, nvrtcFile)...)
	}
	for _, home := range cudaHomes() {
		names = append(names, inToolkit(home)...)
	}
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := os.Getenv(env); prefix != "" {
			names = append(names, inWheels(prefix)...)
			names = append(names, versions(filepath.Join(prefix, "lib"), nvrtcFile)...)
		}
	}
	for _, home := range toolkits() {
		names = append(names, inToolkit(home)...)
	}
	// The loader's own search.
	names = append(names, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", nvrtcFile)
	for _, prefix := range pythons() {
		names = append(names, inWheels(prefix)...)
	}
	return names
}

func cudaHomes() []string {
	var homes []string
	for _, env := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(env); home != "" {
			homes = append(homes, home)
		}
	}
	return homes
}

func toolkits() []string {
	homes := []string{"/usr/local/cuda", "/opt/cuda"}
	more, _ := filepath.Glob("/usr/local/cuda-*")
	slices.SortFunc(more, func(a, b string) int { return natural(b, a) })
	return append(homes, more...)
}

// inToolkit lists the NVRTCs below the folder of a CUDA toolkit.
func inToolkit(home string) []string {
	arch := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	var names []string
	for _, dir := range []string{"lib64", filepath.Join("targets", arch, "lib"), "lib"} {
		names = append(names, versions(filepath.Join(home, dir), nvrtcFile)...)
	}
	return names
}

// inWheels lists the NVRTCs of NVIDIA's wheels below a Python prefix,
// newest first: nvidia/cu13/lib since CUDA 13, nvidia/cuda_nvrtc/lib
// before.
func inWheels(prefix string) []string {
	var names []string
	for _, packages := range []string{"python3*/site-packages", "python3*/dist-packages"} {
		dirs, _ := filepath.Glob(filepath.Join(prefix, "lib", packages, "nvidia", "*", "lib"))
		for _, dir := range dirs {
			names = append(names, versions(dir, nvrtcFile)...)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return natural(filepath.Base(b), filepath.Base(a)) })
	return names
}

// pythons lists the prefixes of the Pythons on PATH, and the usual ones.
func pythons() []string {
	var prefixes []string
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(bin, "python3")); err == nil {
			prefixes = append(prefixes, filepath.Dir(bin))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	var once []string
	for _, p := range append(prefixes, "/usr/local", "/usr", "/opt/conda") {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}

// versions lists the files of dir that are name or a version of it,
// newest first.
func versions(dir, name string) []string {
	if dir == "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(dir, name+"*"))
	found = slices.DeleteFunc(found, func(path string) bool {
		rest := strings.TrimPrefix(filepath.Base(path), name)
		return rest != "" && !versionSuffix.MatchString(rest)
	})
	slices.SortFunc(found, func(a, b string) int { return natural(b, a) })
	return found
}

var versionSuffix = regexp.MustCompile(`^(\.\d+)+$`)

// natural compares strings with runs of digits as numbers.
func natural(a, b string) int {
	x, y := digits.FindAllString(a, -1), digits.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		m, merr := strconv.Atoi(x[i])
		n, nerr := strconv.Atoi(y[i])
		if c := cmp.Compare(m, n); merr == nil && nerr == nil && c != 0 {
			return c
		}
		if c := cmp.Compare(x[i], y[i]); (merr != nil || nerr != nil) && c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

var digits = regexp.MustCompile(`\d+|\D+`)

// includeDirs is the folders that hold cuda_fp16.h, those that belong to
// the library at path first. Only the first is of use to a compilation:
// the headers of two releases must not be mixed.
func includeDirs(path string) []string {
	var dirs []string
	for _, home := range cudaHomes() {
		dirs = append(dirs, filepath.Join(home, "include"))
	}
	if filepath.IsAbs(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		lib := filepath.Dir(path) // .../nvidia/cu13/lib, .../nvidia/cuda_nvrtc/lib, .../cuda/lib64
		up := filepath.Dir(lib)
		dirs = append(dirs, filepath.Join(up, "include"), filepath.Join(filepath.Dir(up), "cuda_runtime", "include"))
	}
	for _, home := range toolkits() {
		dirs = append(dirs, filepath.Join(home, "include"))
	}
	dirs = append(dirs, "/usr/include")
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "cuda_fp16.h"))
		return err != nil
	})
}
