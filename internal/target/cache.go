package target

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// cached returns what compile made before of the same source, headers,
// flags, architecture and compiler, from the user's cache folder, or
// compiles. A cache that cannot be used costs time and nothing else.
func cached(compiler string, src gpu.Source, arch string, flags []string, compile func() ([]byte, error)) ([]byte, error) {
	path := cachePath(compiler, src, arch, flags)
	if path != "" {
		if image, err := os.ReadFile(path); err == nil {
			if body, ok := unseal(image); ok {
				return body, nil
			}
		}
	}
	image, err := compile()
	if err != nil || path == "" {
		return image, err
	}
	// Written beside and renamed, so that a reader never sees half of it.
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		if f, err := os.CreateTemp(filepath.Dir(path), ".new-*"); err == nil {
			_, werr := f.Write(seal(image))
			if cerr := f.Close(); werr == nil && cerr == nil {
				werr = os.Rename(f.Name(), path)
			}
			if werr != nil {
				os.Remove(f.Name())
			}
		}
	}
	return image, nil
}

// seal puts the hash of body before it: a file that the disk or a person
// damaged is compiled anew.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(sum[:], body...)
}

func unseal(b []byte) ([]byte, bool) {
	if len(b) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(b[sha256.Size:])
	return b[sha256.Size:], string(sum[:]) == string(b[:sha256.Size])
}

// cachePath names the cache file of a compilation; "" where there is no
// cache folder.
func cachePath(compiler string, src gpu.Source, arch string, flags []string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	part := func(s string) {
		fmt.Fprintf(h, "%d:", len(s))
		io.WriteString(h, s)
	}
	part(compiler)
	part(arch)
	for _, f := range flags {
		part(f)
	}
	part(src.File)
	part(src.Text)
	for _, name := range slices.Sorted(maps.Keys(src.Headers)) {
		part(name)
		part(src.Headers[name])
	}
	return filepath.Join(dir, "paritycheck", hex.EncodeToString(h.Sum(nil)))
}
