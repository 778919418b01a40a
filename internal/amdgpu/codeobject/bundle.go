package codeobject

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	fatbinMagic     = 0x48495046 // "FPIH", the wrapper of an embedded fat binary
)

// unwrap returns the bare ELF for arch inside image.
func unwrap(image []byte, arch string) ([]byte, error) {
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
		case bytes.HasPrefix(image, []byte(bundleMagic)):
			return bundleEntry(image, arch)
		case len(image) >= 4 && binary.LittleEndian.Uint32(image) == fatbinMagic:
			return nil, errors.New("this is the wrapper struct of a fat binary, which holds addresses: pass the code object or bundle itself")
		default:
			return image, nil
		}
	}
	return nil, errors.New("more than four wrappers around the code object")
}

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
	switch method {
	case 0:
	case 1:
		return nil, errors.New("bundle is compressed with zstd, which is not read here: unbundle it with clang-offload-bundler, or compile with --no-offload-compress")
	default:
		return nil, fmt.Errorf("compressed bundle has unknown method %d", method)
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
	r, err := zlib.NewReader(bytes.NewReader(b[header:]))
	if err != nil {
		return nil, fmt.Errorf("reading compressed bundle: %w", err)
	}
	out, err := inflate(r, "compressed bundle", len(b))
	if err != nil {
		return nil, err
	}
	if uint64(len(out)) != size {
		return nil, fmt.Errorf("compressed bundle holds %d bytes, its header says %d", len(out), size)
	}
	return out, nil
}

// bundleEntry picks the entry for arch: magic, u64 count, then per entry
// u64 offset, u64 size, u64 id length, id. An id is
// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-".
func bundleEntry(b []byte, arch string) ([]byte, error) {
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
	var have []string
	for i := range n {
		off, _ := u64()
		size, _ := u64()
		idLen, ok := u64()
		if !ok || idLen > uint64(len(rest)) {
			return nil, fmt.Errorf("offload bundle is truncated in entry %d", i)
		}
		id := string(rest[:idLen])
		rest = rest[idLen:]
		if !strings.Contains(id, "amdgcn") {
			continue
		}
		proc := id
		if j := strings.LastIndex(id, "-gfx"); j >= 0 {
			proc = id[j+1:]
		}
		name, _, _ := strings.Cut(proc, ":")
		have = append(have, proc)
		if arch != "" && name != arch {
			continue
		}
		if off > uint64(len(b)) || size > uint64(len(b))-off {
			return nil, fmt.Errorf("offload bundle entry %s ends at %d, past the file's %d bytes", id, off+size, len(b))
		}
		return b[off : off+size], nil
	}
	if len(have) == 0 {
		return nil, errors.New("offload bundle has no AMDGPU entry")
	}
	return nil, fmt.Errorf("offload bundle has no entry for %s, only %s", arch, strings.Join(have, ", "))
}
