package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the architecture: what each package may import of the
// module and of third parties. Data flows one way, from ops to reports; a
// device is bound in one place; the oracle (truth) and the interpreter
// (sim) share nothing, so that they cannot share an error. Change it in
// the commit that needs another edge, and say why there.
var mayImport = map[string]string{
	"internal/tensor":                   "",
	"internal/truth":                    "",
	"internal/expr":                     "",
	"kernels":                           "",
	"kernels/build":                     "kernels internal/gpu internal/gpu/cuda internal/gpu/rocm github.com/ebitengine/purego",
	"internal/gpu":                      "internal/tensor",
	"internal/gpu/gputest":              "internal/gpu",
	"internal/gpu/clib":                 "internal/gpu github.com/ebitengine/purego",
	"internal/gpu/driver":               "internal/gpu internal/gpu/clib",
	"internal/gpu/isolate":              "internal/gpu internal/gpu/clib",
	"internal/gpu/cuda":                 "internal/gpu internal/gpu/clib internal/gpu/driver github.com/klauspost/compress/zstd",
	"internal/gpu/rocm":                 "internal/gpu internal/gpu/clib internal/gpu/driver",
	"internal/amdgpu/codeobject":        "github.com/klauspost/compress/zstd",
	"internal/amdgpu/isa":               "",
	"internal/amdgpu/isa/gen":           "internal/amdgpu/isa internal/amdgpu/isa/internal/llvm",
	"internal/amdgpu/isa/internal/llvm": "github.com/ebitengine/purego",
	"internal/amdgpu/arith":             "",
	"internal/amdgpu/sim":               "internal/amdgpu/codeobject internal/amdgpu/isa internal/amdgpu/arith internal/gpu golang.org/x/sys/cpu",
	"internal/amdgpu/sim/genuops":       "",
	"internal/compare":                  "internal/tensor internal/gpu gonum.org golang.org/x/perf",
	"internal/ops":                      "internal/tensor internal/truth internal/compare internal/gpu gonum.org",
	"internal/bench":                    "internal/gpu",
	"internal/runner":                   "internal/bench internal/ops internal/gpu internal/compare internal/tensor",
	"internal/mutate":                   "internal/amdgpu/isa internal/compare internal/gpu internal/ops internal/runner",
	"internal/bundle":                   "internal/tensor internal/compare internal/ops internal/runner",
	"internal/journal":                  "internal/runner",
	"recordings":                        "",
	"internal/seal":                     "",
	"internal/baseline":                 "internal/runner internal/compare internal/gpu internal/seal golang.org/x/perf github.com/aclements/go-moremath",
	"internal/report":                   "internal/runner internal/compare internal/ops internal/gpu internal/seal internal/baseline github.com/olekukonko/tablewriter",
	"internal/target":                   "internal/runner internal/ops internal/tensor internal/bundle internal/gpu internal/gpu/cuda internal/gpu/rocm internal/gpu/isolate internal/amdgpu/sim internal/amdgpu/codeobject kernels recordings",
	"cmd/paritycheck":                   "internal kernels github.com/spf13 golang.org/x/term",
}

func TestImports(t *testing.T) {
	const module = "github.com/paritycheck/paritycheck/"
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, bad := range forbidden(name, p.Imports, module) {
			t.Error(bad)
		}
	}
	if seen < 10 {
		t.Errorf("go list found %d packages", seen)
	}
}

// forbidden lists the imports of a package that the table does not allow.
func forbidden(name string, imports []string, module string) []string {
	allowed, ok := mayImport[name]
	if !ok {
		return []string{name + ": the import table in imports_test.go has no line for this package"}
	}
	var bad []string
	for _, path := range imports {
		own := strings.HasPrefix(path, module)
		path = strings.TrimPrefix(path, module)
		first, _, _ := strings.Cut(path, "/")
		if !own && !strings.Contains(first, ".") {
			continue // standard library
		}
		if !slices.ContainsFunc(strings.Fields(allowed), func(a string) bool {
			if own && a != "internal" {
				return path == a // siblings have like names: gpu does not allow gpu/cuda
			}
			return path == a || strings.HasPrefix(path, a+"/")
		}) {
			bad = append(bad, name+" imports "+path+", which the import table in imports_test.go does not allow")
		}
	}
	return bad
}

func TestForbidden(t *testing.T) {
	const m = "example.org/m/"
	check := func(want int, name string, imports ...string) {
		t.Helper()
		if got := forbidden(name, imports, m); len(got) != want {
			t.Errorf("%s importing %v: got %q, want %d complaints", name, imports, got, want)
		}
	}
	check(0, "internal/truth", "math", "math/big")
	check(1, "internal/truth", m+"internal/tensor")
	check(1, "internal/truth", "gonum.org/v1/gonum")
	check(0, "internal/ops", "gonum.org/v1/gonum/stat", m+"internal/tensor")
	check(1, "internal/runner", m+"internal/gpu/cuda")
	check(1, "internal/amdgpu/sim", m+"internal/truth")
	check(1, "internal/unheard")
	check(0, "cmd/paritycheck", m+"internal/report", "github.com/spf13/cobra")
	check(1, "cmd/paritycheck", "github.com/olekukonko/tablewriter")
}
