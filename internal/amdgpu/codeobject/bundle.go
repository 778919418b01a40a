package codeobject

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	fatbinMagic     = 0x48495046 // "FPIH", the wrapper of an embedded fat binary
)

// unwrap returns the bare ELF for arch inside image.
func unwrap(image []byte, arch string) ([]byte, error) {
	image, err := peel(image)
	if err != nil || !bytes.HasPrefix(image, []byte(bundleMagic)) {
		return image, err
	}
	return bundleEntry(image, arch)
}

// peel takes off what compresses image: what is left is a bundle or a bare
// object.
func peel(image []byte) ([]byte, error) {
	// Each wrapper may hold another: a gzipped compressed bundle, say.
	for range 4 {
		switch {
		case len(image) == 0:
			return nil, errors.New("empty file")
		case bytes.HasPrefix(image, []byte{0x1f, 0x8b}):
			r, err := gzip.NewReader(bytes.NewReader(image))
			if err != nil {
				return nil, fmt.Errorf("reading gzip: %w", err)
			}
			if image, err = inflate(r, "gzip", len(image)); err != nil {
				return nil, err
			}
		case bytes.HasPrefix(image, []byte(compressedMagic)):
			var err error
			if image, err = decompressBundle(image); err != nil {
				return nil, err
			}
		case len(image) >= 4 && binary.LittleEndian.Uint32(image) == fatbinMagic:
			return nil, errors.New("this is the wrapper struct of a fat binary, which holds addresses: pass the code object or bundle itself")
		default:
			return image, nil
		}
	}
	return nil, errors.New("more than four wrappers around the code object")
}

// Archs lists the processors that image, a code object or a bundle, has
// code for, such as gfx90a, in the order of the file.
func Archs(image []byte) ([]string, error) {
	image, err := peel(image)
	if err != nil {
		return nil, fmt.Errorf("code object: %w", err)
	}
	if !bytes.HasPrefix(image, []byte(bundleMagic)) {
		f, err := Parse(image, "")
		if err != nil {
			return nil, err
		}
		return []string{f.Arch}, nil
	}
	entries, err := bundleEntries(image)
	if err != nil {
		return nil, fmt.Errorf("code object: %w", err)
	}
	var list []string
	for _, e := range entries {
		if name := e.arch(); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, errNoEntry
	}
	return list, nil
}

// Bare returns the code object for arch inside image, as an ELF file. The
// errors are those of Parse.
func Bare(image []byte, arch string) ([]byte, error) {
	if _, err := Parse(image, arch); err != nil {
		return nil, err
	}
	return unwrap(image, arch)
}

var errNoEntry = errors.New("offload bundle has no AMDGPU entry")

// inflate reads r to its end. The bound on growth keeps a small corrupt
// file from filling memory: deflate cannot exceed a ratio of 1032.
func inflate(r io.Reader, what string, packed int) ([]byte, error) {
	limit := min(int64(packed)*1040+1024, MaxImage)
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("reading %s: more than %d bytes", what, limit)
	}
	return b, nil
}

// decompressBundle undoes "CCOB": magic, u16 version, u16 method, then by
// version (1) u32 size, (2) u32 total size, u32 size, (3) u64, u64; u64
// hash; data. Methods are llvm::compression::Format: 0 zlib, 1 zstd.
func decompressBundle(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("compressed bundle of %d bytes is truncated", len(b))
	}
	version := binary.LittleEndian.Uint16(b[4:])
	method := binary.LittleEndian.Uint16(b[6:])
	header := map[uint16]int{1: 20, 2: 24, 3: 32}[version]
	if header == 0 {
		return nil, fmt.Errorf("compressed bundle has version %d, want 1, 2 or 3", version)
	}
	if len(b) < header {
		return nil, fmt.Errorf("compressed bundle of %d bytes is truncated", len(b))
	}
	var size uint64
	switch version {
	case 1:
		size = uint64(binary.LittleEndian.Uint32(b[8:]))
	case 2:
		size = uint64(binary.LittleEndian.Uint32(b[12:]))
	case 3:
		size = binary.LittleEndian.Uint64(b[16:])
	}
	if size > MaxImage {
		return nil, fmt.Errorf("compressed bundle would hold %d bytes, more than %d", size, int64(MaxImage))
	}
	var out []byte
	switch method {
	case 0:
		r, err := zlib.NewReader(bytes.NewReader(b[header:]))
		if err != nil {
			return nil, fmt.Errorf("reading compressed bundle: %w", err)
		}
		if out, err = inflate(r, "compressed bundle", len(b)); err != nil {
			return nil, err
		}
	case 1:
		// The header's size bounds what a small corrupt file can claim.
		r, err := zstd.NewReader(bytes.NewReader(b[header:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxImage))
		if err == nil {
			defer r.Close()
			out, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
		}
		if err != nil {
			return nil, fmt.Errorf("reading compressed bundle: %w", err)
		}
	default:
		return nil, fmt.Errorf("compressed bundle has unknown method %d", method)
	}
	if uint64(len(out)) != size {
		return nil, fmt.Errorf("compressed bundle holds %d bytes, its header says %d", len(out), size)
	}
	return out, nil
}

// An entry is one object of a bundle.
type entry struct {
	id, proc  string // proc is gfx90a:xnack-
	off, size uint64
}

// arch is the processor without its features.
func (e *entry) arch() string {
	name, _, _ := strings.Cut(e.proc, ":")
	return name
}

// bundleEntry picks the entry for arch, or the first where that is empty.
func bundleEntry(b []byte, arch string) ([]byte, error) {
	entries, err := bundleEntries(b)
	if err != nil {
		return nil, err
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.proc)
		if arch != "" && e.arch() != arch {
			continue
		}
		if e.off > uint64(len(b)) || e.size > uint64(len(b))-e.off {
			return nil, fmt.Errorf("offload bundle entry %s ends at %d, past the file's %d bytes", e.id, e.off+e.size, len(b))
		}
		return b[e.off : e.off+e.size], nil
	}
	if len(have) == 0 {
		return nil, errNoEntry
	}
	return nil, fmt.Errorf("offload bundle has no entry for %s, only %s", arch, strings.Join(have, ", "))
}

// bundleEntries lists the entries for AMD GPUs: magic, u64 count, then per
// entry u64 offset, u64 size, u64 id length, id. An id is
// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-".
func bundleEntries(b []byte) ([]entry, error) {
	rest := b[len(bundleMagic):]
	u64 := func() (uint64, bool) {
		if len(rest) < 8 {
			return 0, false
		}
		v := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		return v, true
	}
	n, ok := u64()
	if !ok || n > uint64(len(rest))/24 {
		return nil, fmt.Errorf("offload bundle is truncated: %d entries in %d bytes", n, len(b))
	}
	var list []entry
	for i := range n {
		off, _ := u64()
		size, _ := u64()
		idLen, ok := u64()
		if !ok || idLen > uint64(len(rest)) {
			return nil, fmt.Errorf("offload bundle is truncated in entry %d", i)
		}
		e := entry{id: string(rest[:idLen]), off: off, size: size}
		rest = rest[idLen:]
		if !strings.Contains(e.id, "amdgcn") {
			continue
		}
		e.proc = e.id
		if j := strings.LastIndex(e.id, "-gfx"); j >= 0 {
			e.proc = e.id[j+1:]
		}
		list = append(list, e)
	}
	return list, nil
}
