package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/kernels"
)

// fakeJob builds object and counts how often.
func fakeJob(file, source, object string, built *int) *job {
	j := &job{Built: kernels.Built{File: file, Source: source, Compiler: "cc 1", Flags: []string{"-O3"}, Sources: map[string]string{source: "1"}}}
	j.compile = func() ([]byte, error) {
		*built++
		return []byte(object), nil
	}
	return j
}

func manifest(t *testing.T, dir string) *kernels.Manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := new(kernels.Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	old := new(kernels.Manifest)
	built := 0
	step := func(what string, want int, dialects []string, jobs ...*job) {
		t.Helper()
		built = 0
		if err := update(dir, jobs, dialects, old, io.Discard); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if built != want {
			t.Errorf("%s: built %d objects, want %d", what, built, want)
		}
		old = manifest(t, dir)
		built = 0
		if err := compare(dir, jobs, old, io.Discard); err != nil {
			t.Errorf("%s: checking what was just built: %v", what, err)
		}
	}
	both := []string{kernels.HIP, kernels.CUDA}
	a := func() *job { return fakeJob("a.gfx90a.hsaco.gz", "hip/a.hip", "A", &built) }
	p := func() *job { return fakeJob("a.ptx.gz", "cuda/a.cu", "P", &built) }
	step("first", 2, both, a(), p())
	step("again", 0, both, a(), p())

	changed := a()
	changed.Sources["hip/a.hip"] = "2"
	step("changed source", 1, []string{kernels.HIP}, changed)
	if find(old, "a.ptx.gz") == nil {
		t.Error("building HIP alone dropped the PTX")
	}
	flags := a()
	flags.Sources["hip/a.hip"] = "2"
	flags.Flags = []string{"-O2"}
	step("changed flags", 1, both, flags, p())
	step("back", 1, both, a(), p())

	if err := writeObject(filepath.Join(dir, "a.gfx90a.hsaco.gz"), []byte("edited")); err != nil {
		t.Fatal(err)
	}
	step("edited object", 1, both, a(), p())

	step("removed source", 0, both, p())
	if _, err := os.Stat(filepath.Join(dir, "a.gfx90a.hsaco.gz")); !os.IsNotExist(err) {
		t.Errorf("the object of a removed source is still there: %v", err)
	}
}

func TestCompareFails(t *testing.T) {
	dir := t.TempDir()
	var built int
	a := func() *job { return fakeJob("a.gfx90a.hsaco.gz", "hip/a.hip", "A", &built) }
	if err := update(dir, []*job{a()}, []string{kernels.HIP}, new(kernels.Manifest), io.Discard); err != nil {
		t.Fatal(err)
	}
	check := func(what, want string, change func(j *job, m *kernels.Manifest)) {
		t.Helper()
		j, m := a(), manifest(t, dir)
		change(j, m)
		err := compare(dir, []*job{j}, m, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "1 of 1") {
			t.Errorf("%s: got %v, want an error with %q", what, err, want)
		}
	}
	check("other bytes", "its source gives", func(j *job, _ *kernels.Manifest) {
		j.compile = func() ([]byte, error) { return []byte("B"), nil }
	})
	check("other compiler", "was made by cc 1, but this is cc 2", func(j *job, _ *kernels.Manifest) { j.Compiler = "cc 2" })
	check("other libraries", "was made with", func(j *job, _ *kernels.Manifest) { j.Packages = map[string]string{"hip": "6"} })
	check("changed source, same bytes", "out of date", func(j *job, _ *kernels.Manifest) { j.Sources["hip/a.hip"] = "2" })
	check("new object", "not in the manifest", func(_ *job, m *kernels.Manifest) { m.Objects = nil })
	if err := os.Remove(filepath.Join(dir, "a.gfx90a.hsaco.gz")); err != nil {
		t.Fatal(err)
	}
	check("missing file", "no such file", func(*job, *kernels.Manifest) {})
}

func TestUsage(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("PARITYCHECK_NVRTC", filepath.Join(t.TempDir(), "libnvrtc.so"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sycl"}, "must be hip, faults or cuda"},
		{[]string{"cuda"}, "PARITYCHECK_NVRTC"},
		{[]string{"-clang", "nonexistent-clang", "hip"}, "nonexistent-clang"},
	} {
		err := run(c.args, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want an error with %q", c.args, err, c.want)
		}
	}
	t.Chdir(t.TempDir())
	if err := run(nil, io.Discard); err == nil || !strings.Contains(err.Error(), "root of the repository") {
		t.Errorf("elsewhere: got %v", err)
	}
}
