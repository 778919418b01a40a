package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/kernels"
)

// TestHIPObject: a port that has one family of many gives a table with
// that one, and is no failure; --require makes it one.
func TestHIPObject(t *testing.T) {
	object, err := kernels.Object("rope", "gfx1030")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "port.hsaco")
	if err := os.WriteFile(path, object, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want []string // in stdout and stderr
	}{
		{"run --hip-object PORT --op rope_i,softmax --dtype f16 --counters", exitOK, []string{
			"kernels of hip[port.hsaco]@gfx1030: " + path, "missing: port.hsaco has no softmax_f16", "0 FAIL", "11 cases found theirs loaded"}},
		{"run --hip-object PORT --op softmax --dtype f16", exitNone, []string{"nothing was compared"}},
		{"run --hip-object PORT --op rope_i,softmax --dtype f16 --require all", exitFail, []string{"REQUIRED"}},
		{"run --hip-object PORT --op rope_i --dtype f16 --vs hip@gfx90a", exitOK, []string{"hip[port.hsaco]@gfx1030  hip@gfx90a"}},
		{"run --hip-object PORT --op rope_i --target hip@gfx90a", exitError, []string{"port.hsaco has code for gfx1030 and none for gfx90a"}},
		{"run --hip-object PORT --hip-object PORT --op rope_i", exitError, []string{"files must have different names"}},
		{"run --op rope_i -D X=1", exitError, []string{"none is given"}},
		{"run --op rope_i --half float", exitError, []string{"--half", "none is given"}},
		{"run --op softmax --lanes 32", exitError, []string{"--lanes", "none is given"}},
		{"run --op softmax --lanes 0", exitError, []string{"--lanes must be from 1 to 1024, not 0"}},
		{"run --hip-object /no/such --op rope_i", exitError, []string{"reading /no/such: no such file"}},
		{"bench rope_i --dtype f16 --hip-object PORT --size small", exitOK, []string{"hip[port.hsaco]@gfx1030", "no time: interpreted"}},
	} {
		var o, e bytes.Buffer
		code := run(append(strings.Fields(strings.ReplaceAll(c.args, "PORT", path)), "-q"), strings.NewReader(""), &o, &e)
		all := o.String() + e.String()
		for _, want := range c.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, all)
			}
		}
		if code != c.code || strings.Count(e.String(), "\n") > 1 {
			t.Errorf("%s: exit code %d, want %d\n%s", c.args, code, c.code, e.String())
		}
	}
}

// The bound that a user's kernels are held to is that of the arithmetic they
// declare: ours, which round once, fill it, and lie far within the other.
func TestHIPObjectHalf(t *testing.T) {
	object, err := kernels.Object("rope", "gfx1030")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "port.hsaco")
	if err := os.WriteFile(path, object, 0o666); err != nil {
		t.Fatal(err)
	}
	for half, within := range map[string][2]float64{"steps": {0.1, 0.8}, "float": {0.9, 1}} {
		code, out, errOut := execute("run", "--hip-object", path, "--half", half, "--op", "rope_i", "--dtype", "f16", "--format", "json", "-q")
		if code != exitOK {
			t.Fatalf("--half %s: exit code %d, %s", half, code, errOut)
		}
		var r runner.Run
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		share := 0.0
		for _, x := range r.Results {
			if x.Judgement != nil && strings.HasPrefix(x.Target, "hip[") {
				share = max(share, float64(x.Judgement.Accuracy.Share))
			}
		}
		if !(share > within[0] && share <= within[1]) {
			t.Errorf("--half %s: %.3g of the bound, want %v", half, share, within)
		}
	}
}
