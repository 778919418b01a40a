package main

import (
	"bytes"
	"os"
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
