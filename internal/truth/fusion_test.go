package truth

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var fusion = flag.Bool("fusion", false, "cross-compile for arm64 and look for implicitly fused multiply-adds")

// TestFusion disassembles the package as compiled for arm64, where the
// compiler fuses x*y+z wherever the language lets it, and requires that
// every fused operation stands where the source says math.FMA.
func TestFusion(t *testing.T) {
	if !*fusion {
		t.Skip("needs a cross-compilation: enable with -fusion")
	}
	bin := filepath.Join(t.TempDir(), "truth")
	run := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
		}
		return out
	}
	run("test", "-c", "-o", bin, ".")
	asm := run("tool", "objdump", "-s", `internal/truth\.`, bin)
	fused := regexp.MustCompile(`(?m)^\s*(\w+\.go):(\d+)\s.*\tFN?M(?:ADD|SUB)D `).FindAllSubmatch(asm, -1)
	files := map[string][]string{}
	explicit := 0
	for _, m := range fused {
		name := string(m[1])
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name] == nil {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = strings.Split(string(src), "\n")
		}
		n, _ := strconv.Atoi(string(m[2]))
		line := files[name][n-1]
		if !strings.Contains(line, "math.FMA(") {
			t.Errorf("%s:%d is fused: %s", name, n, strings.TrimSpace(line))
		}
		explicit++
	}
	if explicit < 20 {
		t.Errorf("found %d fused operations in all, want the explicit ones at least", explicit)
	}
}
