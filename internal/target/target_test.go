package target

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
	"github.com/paritycheck/paritycheck/recordings"
)

func TestParse(t *testing.T) {
	for _, name := range []string{"hip@gfx90a", "hip@gfx1030", "hip@gfx1100", "hip@rocm:0", "hip@cuda:1", "cuda@cuda:0"} {
		tg, err := Parse(name, Options{})
		if err != nil || tg.Name != name {
			t.Errorf("Parse(%q) = %q, %v", name, tg.Name, err)
		}
		if want := runner.Side(name[:3]); name[0] == 'h' && tg.Side != want {
			t.Errorf("Parse(%q).Side = %s", name, tg.Side)
		}
	}
	for _, name := range []string{"", "hip", "hip@", "hip@gfx942", "hip@gfx90a:0", "cuda@rocm:0", "cuda@cuda", "cuda@cuda:", "cuda@cuda:-1", "cuda@cuda:x", "hop@gfx90a"} {
		if tg, err := Parse(name, Options{}); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", name, tg.Name)
		}
	}
}

// TestEmulatedLoadsEveryFamily: what is embedded is what the interpreter
// takes.
func TestEmulatedLoadsEveryFamily(t *testing.T) {
	for _, arch := range interpreted {
		tg := emulated(arch, Options{})
		dev, err := tg.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		for _, family := range kernels.Families() {
			image, err := tg.Image(dev, family)
			if err == nil {
				_, err = dev.Load(image)
			}
			if err != nil {
				t.Errorf("%s on %s: %v", family, arch, err)
			}
		}
	}
}

func TestCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := gpu.Source{File: "a.hip", Text: "x", Headers: map[string]string{"h": "1"}}
	calls := 0
	get := func(src gpu.Source, arch string) string {
		t.Helper()
		b, err := cached("c 1", src, arch, []string{"-O3"}, func() ([]byte, error) {
			calls++
			return []byte("image of " + src.Text + arch), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	get(src, "a")
	if got := get(src, "a"); got != "image of xa" || calls != 1 {
		t.Errorf("second use gave %q after %d compilations, want the first's", got, calls)
	}
	get(src, "b")
	src.Headers = map[string]string{"h": "2"}
	get(src, "a")
	if calls != 3 {
		t.Errorf("%d compilations, want 3: another architecture and another header", calls)
	}
	path := cachePath("c 1", src, "a", []string{"-O3"})
	if err := os.WriteFile(path, []byte("damaged beyond repair, and longer than a hash is"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := get(src, "a"); got != "image of xa" || calls != 4 {
		t.Errorf("a damaged file gave %q after %d compilations", got, calls)
	}
	_, err := cached("c 1", src, "z", nil, func() ([]byte, error) { return nil, errors.New("no") })
	if err == nil {
		t.Error("a failed compilation gave no error")
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*"))
	if len(left) != 0 {
		t.Errorf("left behind %v", left)
	}
}

// TestRecordings: every embedded recording is read, and holds the outputs
// of today's kernels for most of today's cases.
func TestRecordings(t *testing.T) {
	for _, name := range recordings.Names() {
		tg, err := Parse("cuda@rec:"+name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		cases, have := 0, 0
		for _, o := range ops.All() {
			c := o.Cases(o.Variants[0], ops.Fast)[0]
			cases++
			if _, err := tg.Recorded(runner.Inputs(&c, 1)); err == nil {
				have++
			} else {
				t.Logf("%s: %v", c.Name(), err)
			}
		}
		if have < cases/2 {
			t.Errorf("%s has %d of %d ops: record it anew", name, have, cases)
		}
	}
	if _, err := Parse("cuda@rec:no/such/file", Options{}); err == nil {
		t.Error("a missing file gave no error")
	}
}
