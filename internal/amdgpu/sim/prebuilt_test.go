package sim

import (
	"errors"
	"io/fs"
	"sort"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/kernels"
)

// TestPrebuiltExecutable fails where an instruction of a committed kernel is
// refused when compiled.
func TestPrebuiltExecutable(t *testing.T) {
	specs := allSpecs()
	for _, family := range kernels.Families() {
		for _, name := range archs {
			t.Run(family+"/"+name, func(t *testing.T) {
				image, err := kernels.Object(family, name)
				if errors.Is(err, fs.ErrNotExist) {
					t.Skipf("no object of %s for %s", family, name)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range refusals(t, specs, image, name) {
					t.Error(r)
				}
			})
		}
	}
}

// TestRefusals holds refusals to finding an instruction without semantics.
func TestRefusals(t *testing.T) {
	specs := allSpecs()
	delete(specs, "v_add_f32")
	if got := refusals(t, specs, object(t, "base", "gfx90a"), "gfx90a"); len(got) == 0 {
		t.Error("no refusal without v_add_f32")
	}
}

// refusals names the instructions of the functions of an object that the
// compiler refuses, each once.
func refusals(t *testing.T, specs map[string]spec, image []byte, name string) []string {
	t.Helper()
	arch, err := isa.ParseArch(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := codeobject.Parse(image, name)
	if err != nil {
		t.Fatal(err)
	}
	c := newCompiler(arch, arch.WaveSize(), specs)
	seen := map[string]bool{}
	n := 0
	for _, sym := range f.Symbols {
		if !sym.Func {
			continue
		}
		for pc := sym.Addr; pc < sym.Addr+sym.Size; {
			in, err := isa.Decode(arch, f.Image[pc:sym.Addr+sym.Size], pc)
			if err != nil {
				seen[err.Error()] = true
				break
			}
			if _, err := c.try(&in); err != nil {
				seen[in.Name+" "+err.Error()] = true
			}
			pc += uint64(in.Size)
			n++
		}
	}
	if n == 0 {
		t.Error("no instructions")
	}
	var all []string
	for s := range seen {
		all = append(all, s)
	}
	sort.Strings(all)
	return all
}
