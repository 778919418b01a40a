package kernels_test

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/kernels"
)

// types are the types of a kernel's parameters.
func types(params []kernels.Param) []string {
	var list []string
	for _, p := range params {
		list = append(list, p.CType)
	}
	return list
}

// Every fault takes the parameters of the kernel that it is a wrong port
// of, is in the objects, and has a corrected twin beside it. Honest variants
// stand apart, and are named as what they are.
func TestFaults(t *testing.T) {
	good, err := kernels.Signatures(kernels.HIP)
	if err != nil {
		t.Fatal(err)
	}
	twins := 0
	for _, family := range kernels.FaultFamilies() {
		src, headers, err := kernels.Source(kernels.FAULT, family)
		if err != nil {
			t.Fatal(err)
		}
		sigs, err := kernels.ParseSignatures(src, headers)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := kernels.FaultSymbols(family)
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Sorted(maps.Keys(sigs)); !slices.Equal(symbols, want) || len(symbols) == 0 {
			t.Errorf("%s: symbols are %v, want %v", family, symbols, want)
		}
		for _, s := range symbols {
			kernel, _, ok := strings.Cut(s, "__")
			if got, want := types(sigs[s]), types(good[kernel]); !ok || !slices.Equal(got, want) {
				t.Errorf("%s takes %v, but %s takes %v", s, got, kernel, want)
			}
			if strings.HasPrefix(family, "twins_") {
				// mutate.Fault says what each declares.
				named := func(prefix string) bool { return strings.HasPrefix(s, kernel+"__"+prefix) }
				if !slices.ContainsFunc([]string{"twin_", "steps", "chain", "exp2"}, named) {
					t.Errorf("%s stands among the honest variants of %s, and is not named so", s, family)
				}
				twins++
			} else if !slices.Contains(symbols, kernel+"__twin") {
				t.Errorf("%s has no corrected twin %s__twin", s, kernel)
			}
		}
		for _, arch := range []string{"gfx90a", "gfx1030"} {
			image, err := kernels.FaultObject(family, arch)
			if err != nil {
				t.Fatal(err)
			}
			object, err := codeobject.Parse(image, arch)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, k := range object.Kernels {
				names = append(names, k.Name)
			}
			slices.Sort(names)
			if !slices.Equal(names, symbols) {
				t.Errorf("%s for %s: the object has %v, the source %v", family, arch, names, symbols)
			}
		}
	}
	if twins < 30 {
		t.Errorf("got %d honest variants, want 30 or more", twins)
	}
	if len(kernels.FaultFamilies()) == 0 {
		t.Error("no family has faults")
	}
}

// Faults are no part of what is built for use.
func TestFaultsStandApart(t *testing.T) {
	if _, err := kernels.FaultObject("rope", "gfx1100"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if _, err := kernels.FaultSymbols("nosuch"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	archs, err := kernels.Archs("rope")
	if want := []string{"compute_75", "gfx1030", "gfx1100", "gfx90a"}; err != nil || !slices.Equal(archs, want) {
		t.Errorf("rope is built for %v, %v, want %v", archs, err, want)
	}
}
