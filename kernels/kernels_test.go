package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// stale lists what of a manifest does not fit the sources and objects that
// are embedded.
func stale(m *Manifest) []string {
	var bad []string
	for _, o := range m.Objects {
		dialect, _, _ := strings.Cut(o.Source, "/")
		src, headers, err := Source(dialect, o.Family)
		if err != nil {
			bad = append(bad, o.File+": "+err.Error())
			continue
		}
		want := map[string]string{o.Source: hash([]byte(src))}
		for name, text := range headers {
			want[HeaderPath(dialect, name)] = hash([]byte(text))
		}
		for name, h := range want {
			if o.Sources[name] != h {
				bad = append(bad, o.File+": "+name+" has changed")
			}
		}
		if len(o.Sources) != len(want) {
			bad = append(bad, o.File+": its source includes other headers now")
		}
		object, err := unpack(o.Family, o.File)
		if err != nil {
			bad = append(bad, o.File+": "+err.Error())
		} else if hash(object) != o.SHA256 {
			bad = append(bad, o.File+": is not the object that was built")
		}
	}
	for _, f := range Families() {
		for _, name := range []string{f + ".gfx90a.hsaco.gz", f + ".gfx1030.hsaco.gz", f + ".gfx1100.hsaco.gz", f + ".ptx.gz"} {
			if !slices.ContainsFunc(m.Objects, func(o Built) bool { return o.File == name }) {
				bad = append(bad, name+": was not built")
			}
		}
	}
	for _, f := range FaultFamilies() {
		for _, name := range []string{"faults." + f + ".gfx90a.hsaco.gz", "faults." + f + ".gfx1030.hsaco.gz"} {
			if !slices.ContainsFunc(m.Objects, func(o Built) bool { return o.File == name }) {
				bad = append(bad, name+": was not built")
			}
		}
	}
	return bad
}

func TestPrebuiltIsCurrent(t *testing.T) {
	m, err := ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stale(m) {
		t.Errorf("%s: run make kernels", s)
	}
	entries, err := files.ReadDir("prebuilt")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(entries), len(m.Objects)+1; got != want {
		t.Errorf("kernels/prebuilt has %d files, want %d: the manifest and its objects", got, want)
	}
}

func TestStaleIsSeen(t *testing.T) {
	check := func(what string, change func(o *Built)) {
		t.Helper()
		m, err := ReadManifest()
		if err != nil {
			t.Fatal(err)
		}
		change(&m.Objects[0])
		if len(stale(m)) == 0 {
			t.Errorf("%s: got no complaint", what)
		}
	}
	check("changed source", func(o *Built) { o.Sources[o.Source] = hash(nil) })
	check("changed header", func(o *Built) { o.Sources["hip/types.h"] = hash(nil) })
	check("dropped header", func(o *Built) { o.Sources["hip/gone.h"] = hash(nil) })
	check("changed object", func(o *Built) { o.SHA256 = hash(nil) })
	check("missing object", func(o *Built) { o.File = "gone.hsaco.gz" })
	check("missing source", func(o *Built) { o.Family = "gone" })
}

func TestMissing(t *testing.T) {
	for _, try := range []func() error{
		func() error { _, err := Object("rope", "gfx000"); return err },
		func() error { _, err := Object("nosuch", "gfx90a"); return err },
		func() error { _, err := PTX("nosuch"); return err },
		func() error { _, _, err := Source(HIP, "nosuch"); return err },
	} {
		err := try()
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "rope") {
			t.Errorf("got %v, want an error that wraps fs.ErrNotExist and says what there is", err)
		}
	}
	if _, _, err := Source("sycl", "rope"); err == nil || !strings.Contains(err.Error(), "sycl") {
		t.Errorf("got %v, want an error naming sycl", err)
	}
}

func TestObjects(t *testing.T) {
	for _, f := range Families() {
		archs, err := Archs(f)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"compute_75", "gfx1030", "gfx1100", "gfx90a"}; !slices.Equal(archs, want) {
			t.Errorf("%s: got architectures %v, want %v", f, archs, want)
		}
		for _, a := range archs[1:] {
			object, err := Object(f, a)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(object), "\x7fELF") {
				t.Errorf("%s for %s: got no ELF", f, a)
			}
		}
		ptx, err := PTX(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(ptx), ".target sm_75") {
			t.Errorf("%s: got no PTX for sm_75", f)
		}
	}
}

// TestIncludedBy tries lines of source.
func TestIncludedBy(t *testing.T) {
	for line, want := range map[string]string{
		"#include \"a.h\"\n":             "a.h",
		"\t # \tinclude\"dir/b.cuh\" //": "dir/b.cuh",
		"#include <hip/hip_runtime.h>\n": "",
		"// #include \"a.h\"\n":          "",
		"#include \"\"\n":                "",
		"#include \"a.h\n":               "",
		"#define X \"include\"\n":        "",
		"":                               "",
	} {
		if got, ok := includedBy(line); got != want && ok || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", line, got, ok, want)
		}
	}
}
