package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// TestCurrent fails where the generated files are not what genuops writes.
func TestCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./internal/amdgpu/sim", name)
		}
	}
}

// TestAVX2 holds the bodies for AVX2 to the forms.
func TestAVX2(t *testing.T) {
	inGo := map[string]bool{"madF32": true} // compiled for no target without being asked for
	known := map[string]bool{}
	for _, f := range forms {
		known[f.name] = true
		if _, ok := avx2[f.name]; ok == inGo[f.name] {
			t.Errorf("%s has an AVX2 form: %v", f.name, ok)
		}
	}
	for name := range avx2 {
		if !known[name] {
			t.Errorf("an AVX2 form of %s, which has none", name)
		}
	}
}

// TestAVX2Registers fails where the forms for AVX2 use registers that only
// AVX-512 has, which the processors they are for cannot execute.
func TestAVX2Registers(t *testing.T) {
	beyond := regexp.MustCompile(`\b(Z\d+|K\d|[XY](1[6-9]|2\d|3\d))\b`)
	for i, l := range bytes.Split(generateAVX2(), []byte("\n")) {
		if beyond.Match(l) {
			t.Errorf("line %d: %s", i+1, l)
		}
	}
}
