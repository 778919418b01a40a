// Package kernels holds the device code: HIP and CUDA sources, one file
// per family and dialect, and what `make kernels` builds from them: AMD
// code objects and PTX. It finds and unpacks them and knows nothing else.
package kernels

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed hip/*.hip hip/*.h hipnv/*.h cuda/*.cu cuda/*.h common/*.h faults/*.hip faults/*.h
//go:embed prebuilt/*.hsaco.gz prebuilt/*.ptx.gz prebuilt/manifest.json
var files embed.FS

// The dialects that Source offers.
const (
	HIP   = "hip"
	CUDA  = "cuda"
	HIPNV = "hipnv" // the HIP sources for NVRTC, with HIP's names as a header
	// FAULT is HIP with a mistake in every kernel, by which the judge is
	// tested. Its sources include the headers of HIP.
	FAULT = "faults"
)

// Common is the folder of the headers that are the same in HIP and CUDA.
const Common = "common"

// dialects gives how a dialect's sources end and the folders of their headers,
// of which the first is theirs too.
var dialects = map[string]struct {
	ext     string
	folders []string
}{
	HIP:   {".hip", []string{"hip", Common}},
	CUDA:  {".cu", []string{"cuda", Common}},
	HIPNV: {".hip", []string{"hip", Common}},
	FAULT: {".hip", []string{"faults", "hip", Common}},
}

// Flags returns the compiler flags that decide a dialect's arithmetic and
// code: for clang and hiprtc, or for NVRTC. Whoever compiles these sources
// passes them, so that it gets the arithmetic of the prebuilt objects: a
// product is fused where the source says so and nowhere else.
func Flags(dialect string) []string {
	if dialect == HIP || dialect == FAULT {
		return []string{"-O3", "-ffp-contract=off"}
	}
	return []string{"--std=c++17", "--fmad=false"}
}

// Families returns the stems of the device sources, sorted: each is a
// file in kernels/hip and one in kernels/cuda.
func Families() []string { return stems("hip") }

// FaultFamilies returns the stems of the sources by which the judge is
// tested, sorted: FAMILY has kernels of a family with planted faults,
// twins_FAMILY has honest variants, which must pass.
func FaultFamilies() []string { return stems("faults") }

// stems lists the .hip files of a folder.
func stems(folder string) []string {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic("kernels: " + err.Error()) // embedded
	}
	var names []string
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), ".hip"); ok {
			names = append(names, stem)
		}
	}
	return names
}

// Object returns the code object of a family for an AMD architecture, such
// as "gfx90a". The error wraps fs.ErrNotExist where there is none.
func Object(family, arch string) ([]byte, error) {
	return unpack(fmt.Sprintf("%s for %s", family, arch), family+"."+arch+".hsaco.gz")
}

// FaultObject returns the code object of one of FaultFamilies, each a kernel
// called KERNEL__FAULT after the kernel that it is a wrong port of. There
// is one for an architecture of each wave size, gfx90a and gfx1030. The
// error wraps fs.ErrNotExist where there is none.
func FaultObject(family, arch string) ([]byte, error) {
	return unpack(fmt.Sprintf("the faults of %s for %s", family, arch), faultPrefix+family+"."+arch+".hsaco.gz")
}

// faultPrefix begins the names of objects with faults.
const faultPrefix = "faults."

// FaultSymbols returns the kernels of a family's faults, sorted.
func FaultSymbols(family string) ([]string, error) {
	src, headers, err := Source(FAULT, family)
	if err != nil {
		return nil, err
	}
	sigs, err := ParseSignatures(src, headers)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", FAULT, family, err)
	}
	return slices.Sorted(maps.Keys(sigs)), nil
}

// PTX returns the PTX of a family. The error wraps fs.ErrNotExist where
// there is none.
func PTX(family string) ([]byte, error) {
	return unpack(family+" as PTX", family+".ptx.gz")
}

func unpack(what, name string) ([]byte, error) {
	packed, err := files.ReadFile("prebuilt/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		m, merr := ReadManifest()
		if merr != nil {
			return nil, merr
		}
		var have []string
		for _, o := range m.Objects {
			have = append(have, strings.TrimSuffix(o.File, ".gz"))
		}
		return nil, fmt.Errorf("no prebuilt object of %s: have %s: %w", what, strings.Join(have, " "), fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking prebuilt/%s: %w", name, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpacking prebuilt/%s: %w", name, err)
	}
	return data, nil
}

// Source returns a family's source and the headers that it includes, by
// the name it includes them under. Together they compile without an
// include path; hip/hip_runtime.h is the compiler's own but for HIPNV.
func Source(dialect, family string) (src string, headers map[string]string, err error) {
	d, ok := dialects[dialect]
	if !ok {
		return "", nil, fmt.Errorf("unknown dialect %q: must be hip, cuda, hipnv or faults", dialect)
	}
	name := d.folders[0] + "/" + family + d.ext
	data, err := files.ReadFile(name)
	if err != nil {
		return "", nil, fmt.Errorf("no source %s: families are %s: %w", name, strings.Join(Families(), " "), err)
	}
	headers = map[string]string{}
	if err := includes(headers, d.folders, string(data)); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	if dialect == HIPNV {
		data, err := files.ReadFile("hipnv/hip_runtime.h")
		if err != nil {
			return "", nil, err
		}
		headers["hip/hip_runtime.h"] = string(data)
	}
	return string(data), headers, nil
}

// HeaderPath is the path in kernels of a header that a dialect's source
// includes by name.
func HeaderPath(dialect, name string) string {
	folders := dialects[dialect].folders
	for _, folder := range folders {
		if _, err := fs.Stat(files, path.Join(folder, name)); err == nil {
			return path.Join(folder, name)
		}
	}
	return path.Join(folders[0], name)
}

// Digest identifies what a dialect's compiler is given for a family: the
// source, its headers and the flags.
func Digest(dialect, family string) (string, error) {
	src, headers, err := Source(dialect, family)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	part := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	part(src)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		part(name)
		part(headers[name])
	}
	part(strings.Join(Flags(dialect), " "))
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// includedBy returns the file that a line of source includes in quotes.
func includedBy(line string) (name string, ok bool) {
	for _, s := range []string{"#", "include", `"`} {
		if line, ok = strings.CutPrefix(strings.TrimLeft(line, " \t"), s); !ok {
			return "", false
		}
	}
	name, _, ok = strings.Cut(line, `"`)
	return name, ok && name != ""
}

// includes adds to headers what src includes, directly or not, from the
// first of folders that has it.
func includes(headers map[string]string, folders []string, src string) error {
	for line := range strings.Lines(src) {
		name, ok := includedBy(line)
		if !ok {
			continue
		}
		if _, ok := headers[name]; ok {
			continue
		}
		var data []byte
		err := fs.ErrNotExist
		for _, folder := range folders {
			if errors.Is(err, fs.ErrNotExist) {
				data, err = files.ReadFile(path.Join(folder, name))
			}
		}
		if err != nil {
			return fmt.Errorf("including %q: %w", name, err)
		}
		headers[name] = string(data)
		if err := includes(headers, folders, string(data)); err != nil {
			return err
		}
	}
	return nil
}

// A Manifest says what the prebuilt objects were made from, and how.
type Manifest struct {
	Objects []Built `json:"objects"` // sorted by file
}

// A Built is one prebuilt object.
type Built struct {
	File     string            `json:"file"` // in kernels/prebuilt
	Family   string            `json:"family"`
	Arch     string            `json:"arch"`               // "gfx90a", "compute_75"
	SHA256   string            `json:"sha256"`             // of the unpacked object
	Source   string            `json:"source"`             // path in kernels
	Sources  map[string]string `json:"sources"`            // SHA-256 of the source and of each header, by path
	Compiler string            `json:"compiler"`           // in its own words
	Packages map[string]string `json:"packages,omitempty"` // versions of what else goes into the object
	Flags    []string          `json:"flags"`              // those that decide the code
}

// ReadManifest returns the manifest of the prebuilt objects.
func ReadManifest() (*Manifest, error) {
	data, err := files.ReadFile("prebuilt/manifest.json")
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("reading kernels/prebuilt/manifest.json: %w", err)
	}
	return m, nil
}

// Archs returns the architectures that a family has prebuilt objects for,
// sorted: AMD's, and the virtual one of its PTX. Those of its faults do
// not count.
func Archs(family string) ([]string, error) {
	m, err := ReadManifest()
	if err != nil {
		return nil, err
	}
	var archs []string
	for _, o := range m.Objects {
		if o.Family == family && !strings.HasPrefix(o.File, faultPrefix) {
			archs = append(archs, o.Arch)
		}
	}
	slices.Sort(archs)
	return archs, nil
}
