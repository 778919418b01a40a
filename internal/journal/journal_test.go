package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/runner"
)

func testHeader() Header {
	return Header{
		Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Version: "v1", Program: "0123456789", Seed: 1, Flags: []string{"--op=a", "--seed=1"},
		Targets: []string{"hip@x", "cuda@y"}, Cases: 3, CasesSum: "c", Files: map[string]string{"k.hip": "1"},
	}
}

func results(i int) []runner.Result {
	name := fmt.Sprintf("op/f32/n=%d/normal \"<\u2028\x01>", i)
	nan := compare.Num(0)
	nan /= nan
	return []runner.Result{
		{Op: "op", Case: name, Target: "hip@x", Status: compare.Pass, Judgement: &compare.Judgement{Accuracy: compare.Diff{N: 1 << 60, MaxULP: nan}}},
		{Op: "op", Case: name, Target: "cuda@y", Status: compare.Fail, Fault: "line\nline"},
	}
}

func targets(images ...string) []runner.TargetInfo {
	t := []runner.TargetInfo{{Name: "hip@x", Info: gpu.Info{Name: "X"}, Images: map[string]string{}}, {Name: "cuda@y"}}
	for _, i := range images {
		t[0].Images[i] = "hash"
	}
	return t
}

// written is a journal of three cases.
func written(t testing.TB) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.journal")
	j, err := Create(path, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for i, images := range [][]string{{"u"}, {"u"}, {"u", "v"}} {
		if err := j.Add(results(i), targets(images...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// same compares results by what a report shows of them, since NaN is no
// equal of itself.
func same(a, b any) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

func names(r *runner.Run) string {
	var list []string
	for _, res := range r.Results {
		list = append(list, res.Case[len("op/f32/n="):][:1])
	}
	return strings.Join(list, "")
}

func TestRoundTrip(t *testing.T) {
	path, data := written(t)
	if n := bytes.Count(data, []byte("\n")); n != 4 {
		t.Errorf("got %d lines, want 4", n)
	}
	j, c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if c.Cases != 3 || c.Damaged != 0 || names(c.Run) != "001122" || !reflect.DeepEqual(c.Run.Env.Targets, targets("u", "v")) {
		t.Errorf("got %+v", c)
	}
	for i := range 3 {
		got, want := c.Run.Results[2*i], results(i)[0]
		if got.Case != want.Case || !same(got.Judgement.Accuracy, want.Judgement.Accuracy) || c.Run.Results[2*i+1].Fault != "line\nline" {
			t.Errorf("case %d: got %+v", i, got)
		}
	}
	want := testHeader()
	want.Schema = Schema
	if !reflect.DeepEqual(c.Header, want) || c.Header.Key() != want.Key() {
		t.Errorf("header: got %+v, want %+v", c.Header, want)
	}
}

// A journal that was cut off anywhere holds what was whole, and can be
// gone on with.
func TestCutOff(t *testing.T) {
	_, data := written(t)
	for n := range len(data) + 1 {
		// Every 17th byte, and those about the ends of lines.
		if n > 2 && n < len(data)-2 && n%17 != 0 && !bytes.Contains(data[n-2:n+2], []byte("\n")) {
			continue
		}
		path := filepath.Join(t.TempDir(), "cut.journal")
		if err := os.WriteFile(path, data[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(data[:n], []byte("\n")) - 1
		j, c, err := Open(path)
		if whole < 0 {
			if err == nil || n == 0 && !errors.Is(err, ErrEmpty) {
				t.Errorf("cut at %d: got %v", n, err)
			}
			continue
		}
		if err != nil || c.Cases != whole || c.Damaged != 0 {
			t.Fatalf("cut at %d: got %d cases, %v, want %d", n, c.Cases, err, whole)
		}
		if err := errors.Join(j.Add(results(7), c.Run.Env.Targets), j.Close()); err != nil {
			t.Fatal(err)
		}
		_, c, err = Open(path)
		if err != nil || c.Cases != whole+1 || c.Damaged != 0 || !strings.HasSuffix(names(c.Run), "77") {
			t.Fatalf("cut at %d and gone on with: got %+v, %v", n, c, err)
		}
	}
}

// A byte that was changed costs its line, and no other.
func TestDamage(t *testing.T) {
	_, data := written(t)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		c, err := Read(bad)
		line := bytes.Count(data[:i], []byte("\n"))
		if line == 0 {
			if err == nil {
				t.Errorf("byte %d of the header changed: got no error", i)
			}
			continue
		}
		if err != nil {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		lost := 1
		if data[i] == '\n' && i < len(data)-1 {
			lost = 2 // the line and the next are one
		}
		if c.Cases != 3-lost {
			t.Errorf("byte %d changed: got %d cases, want %d", i, c.Cases, 3-lost)
		}
	}
}

func TestErrors(t *testing.T) {
	path, data := written(t)
	if _, err := Create(path, testHeader()); !errors.Is(err, ErrExists) {
		t.Errorf("a second journal in a file: got %v", err)
	}
	j, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: got %v", err)
	}
	j.Close()
	for text, says := range map[string]string{
		"":       "nothing was written",
		"text\n": "it is no journal of paritycheck",
		"text":   "it is no journal of paritycheck",
		string(bytes.ReplaceAll(data, []byte(Schema), []byte("paritycheck.journal/v9"))): "it is no journal",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: got %v, want %q", text, err, says)
		}
	}
	// A closed file stands for a disk that takes no more.
	if err := j.Add(results(1), nil); err == nil {
		t.Error("a journal that cannot be written gave no error")
	}
	newer := testHeader()
	newer.Schema = "paritycheck.journal/v9"
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"header":{"schema":"paritycheck.journal/v9"}}`)
	if _, err := Read([]byte(sum(b.Bytes()) + " " + b.String() + "\n")); err == nil || !strings.Contains(err.Error(), "another version of paritycheck") {
		t.Errorf("a newer schema: got %v", err)
	}
}

func TestDiffers(t *testing.T) {
	for _, tc := range []struct {
		change func(*Header)
		want   string
	}{
		{func(*Header) {}, ""},
		{func(h *Header) { h.Began = time.Now() }, ""},
		{func(h *Header) { h.Seed, h.Flags = 2, []string{"--op=a", "--seed=2"} }, "the seed (1 then, 2 now); the flags (--seed=1 then, --seed=2 now)"},
		{func(h *Header) { h.Flags = nil }, "the flags (--op=a --seed=1 then, none now)"},
		{func(h *Header) { h.Targets = append(h.Targets[:1:1], "hip@z") }, "the targets (cuda@y then, hip@z now)"},
		{func(h *Header) { h.Targets = []string{"cuda@y", "hip@x"} }, "the order of flags or targets"},
		{func(h *Header) { h.Shard = "1/2" }, "the shard (none then, 1/2 now)"},
		{func(h *Header) { h.Cases = 4 }, "the number of cases (3 then, 4 now)"},
		{func(h *Header) { h.CasesSum = "d" }, "the cases"},
		{func(h *Header) { h.Files = map[string]string{"k.hip": "2"} }, "the content of k.hip"},
		{func(h *Header) { h.Program, h.Commit = "abcdefghij", "c0ffee" }, "the program, and with it perhaps the kernels (v1 01234567 then, v1 c0ffee abcdefgh now)"},
	} {
		was, is := testHeader(), testHeader()
		was.Schema = Schema
		tc.change(&is)
		if got := strings.Join(is.Differs(&was), "; "); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
		if same := is.Key() == was.Key(); same != (tc.want == "") {
			t.Errorf("%s: equal keys: %v", tc.want, same)
		}
	}
}

func TestFolder(t *testing.T) {
	d := Folder(filepath.Join(t.TempDir(), "a", "b"))
	h := testHeader()
	if _, _, err := d.Find(h); err == nil || err.Error() != "no run was cut off" {
		t.Errorf("no folder: got %v", err)
	}
	// Of two that were cut off, the one with more cases is gone on with.
	for _, n := range []int{1, 3, 2} {
		j, err := d.Create(h)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := j.Add(results(i), targets()); err != nil {
				t.Fatal(err)
			}
		}
		j.Close()
	}
	j, c, err := d.Find(h)
	if err != nil || c.Cases != 3 {
		t.Fatalf("got %+v, %v, want the journal of 3 cases", c, err)
	}
	// While that goes on, the next is one with fewer; and then there is none.
	j2, c2, err := d.Find(h)
	if err != nil || c2.Cases != 2 {
		t.Fatalf("got %+v, %v, want the journal of 2 cases", c2, err)
	}
	j3, _, err := d.Find(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Find(h); !errors.Is(err, ErrInUse) {
		t.Errorf("all in use: got %v", err)
	}
	j2.Close()
	j3.Close()
	if err := j.Remove(); err != nil {
		t.Error(err)
	}
	other := h
	other.Seed = 5
	if _, _, err := d.Find(other); err == nil || !strings.Contains(err.Error(), "these are different: the seed (1 then, 5 now)") {
		t.Errorf("another run: got %v", err)
	}
	d.Forget(other)
	if n := len(d.paths()); n != 2 {
		t.Errorf("forgetting another run left %d, want 2", n)
	}
	old := time.Now().Add(-15 * 24 * time.Hour)
	if err := os.Chtimes(d.paths()[0], old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Create(h); err != nil || len(d.paths()) != 2 {
		t.Errorf("the old journal is still there: %v, %v", d.paths(), err)
	}
	d.Forget(h)
	if n := len(d.paths()); n != 1 { // the one in use
		t.Errorf("forgetting the run left %d, want the one in use", n)
	}
}

// FuzzRead: any bytes are a journal or an error, and what is read can be
// written again.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "small.journal")
	j, err := Create(path, Header{})
	if err == nil {
		err = errors.Join(j.Add([]runner.Result{{Case: "a"}}, nil), j.Close())
	}
	if err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("text\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(data)
		if err == nil && c.Header.Schema != Schema {
			t.Errorf("read a header of schema %q", c.Header.Schema)
		}
		// The sums keep random lines out: what they hold is read too.
		line := append([]byte(sum(data)+" "), data...)
		parse(append(line, '\n'))
	})
}
