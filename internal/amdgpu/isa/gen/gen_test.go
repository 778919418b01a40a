//go:build linux || darwin

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTables runs the generator and compares its output with the
// committed tables. It takes a minute, so it runs with PARITYCHECK_LONG.
func TestTables(t *testing.T) {
	if os.Getenv("PARITYCHECK_LONG") == "" {
		t.Skip("set PARITYCHECK_LONG to regenerate the tables")
	}
	dir := t.TempDir()
	archs := []string{"gfx90a", "gfx1030", "gfx1100"}
	if err := run(dir, archs, ""); err != nil {
		if strings.Contains(err.Error(), "loading LLVM") && !strings.Contains(os.Getenv("PARITYCHECK_REQUIRE"), "llvm") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	for _, a := range archs {
		name := "ztables_" + a + ".go"
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what the generator writes; run go generate", name)
		}
	}
}

func TestParse(t *testing.T) {
	check := func(text, name, mods string, want ...string) {
		t.Helper()
		n, ops, m := parse(text)
		if n != name || m != mods || strings.Join(ops, "|") != strings.Join(want, "|") {
			t.Errorf("%q: got %q %q %q, want %q %q %q", text, n, ops, m, name, want, mods)
		}
	}
	check("v_add_f32_e64 v0, |v1|, s2 clamp", "v_add_f32_e64", "clamp", "v0", "|v1|", "s2")
	check("s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 1)", "s_getreg_b32", "", "s0", "hwreg(HW_REG_MODE, 0, 1)")
	check("v_x v0, v[0:1]/*Invalid register, operand has 'A' register class*/, 1", "v_x", "", "v0",
		"v[0:1]/*Invalid register, operand has 'A' register class*/", "1")
	check("ds_gws_sema_p gds", "ds_gws_sema_p", "gds")
}
