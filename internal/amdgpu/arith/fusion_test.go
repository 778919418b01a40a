package arith

import (
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

// TestFusion looks at the package as compiled for arm64, where the compiler
// fuses x*y+z wherever the language lets it, and requires that every fused
// operation stands where the source says math.FMA: then all GOARCH agree.
func TestFusion(t *testing.T) {
	if !*fusion {
		t.Skip("needs a cross-compilation: enable with -fusion")
	}
	bin := filepath.Join(t.TempDir(), "arith")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("test", "-c", "-o", bin, ".")
	fused := regexp.MustCompile(`(?m)^\s*(\w+\.go):(\d+)\s.*\tFN?M(?:ADD|SUB)[DS] `)
	explicit := 0
	for _, m := range fused.FindAllStringSubmatch(run("tool", "objdump", "-s", `amdgpu/arith\.`, bin), -1) {
		if strings.HasSuffix(m[1], "_test.go") {
			continue
		}
		src, err := os.ReadFile(m[1])
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(m[2])
		line := strings.Split(string(src), "\n")[n-1]
		if !strings.Contains(line, "math.FMA(") {
			t.Errorf("%s:%d is fused: %s", m[1], n, strings.TrimSpace(line))
		}
		explicit++
	}
	if explicit < 5 {
		t.Errorf("found %d fused operations, want those of math.FMA at least", explicit)
	}
}
