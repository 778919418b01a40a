package sim

import "testing"

// TestCoverage holds the interpreter to executing 99 % of the opcodes
// outside the classes that it leaves out.
func TestCoverage(t *testing.T) {
	for _, arch := range archs {
		ops, err := Coverage(arch)
		if err != nil {
			t.Fatal(err)
		}
		executed, missing := 0, 0
		classes := map[string]int{}
		for _, op := range ops {
			switch {
			case op.Executed:
				executed++
				if op.Class != "" || op.Reason != "" {
					t.Errorf("%s %s: executed, yet refused for %q %q", arch, op.Name, op.Class, op.Reason)
				}
			case op.Reason == "" || op.Reason == "not interpreted":
				t.Errorf("%s %s: refused without reason", arch, op.Name)
			case op.Class != "":
				classes[op.Class]++
			default:
				missing++
				t.Logf("%s %s %s is not executed: %s", arch, op.Encoding, op.Name, op.Reason)
			}
		}
		part := float64(executed) / float64(executed+missing)
		t.Logf("%s: %d of %d opcodes executed, %.1f %%; left out: %v", arch, executed, executed+missing, 100*part, classes)
		if part < 0.99 {
			t.Errorf("%s: got %.1f %% of opcodes executed, want 99 %%", arch, 100*part)
		}
	}
	if _, err := Coverage("gfx803"); err == nil {
		t.Error("an architecture that is not known: got no error")
	}
}

// TestCoverageClasses checks some opcodes of which it is known.
func TestCoverageClasses(t *testing.T) {
	ops, err := Coverage("gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]OpStatus{}
	for _, op := range ops {
		got[op.Name] = op
	}
	for _, name := range []string{"v_add_u32", "s_and_b64", "global_load_dword", "ds_add_u32", "s_load_dword", "buffer_store_dword", "s_barrier"} {
		if !got[name].Executed {
			t.Errorf("%s: got %+v, want it executed", name, got[name])
		}
	}
	for name, class := range map[string]string{"v_mfma_f32_4x4x1f32": ClassMatrix, "v_dot2_f32_f16": ClassDot, "ds_gws_barrier": ClassGDS, "s_rfe_b64": ClassTrap, "v_screen_partition_4se_b32": ClassGraphics} {
		if s, ok := got[name]; !ok || s.Executed && class != ClassDot || !s.Executed && s.Class != class {
			t.Errorf("%s: got %+v, want class %q", name, s, class)
		}
	}
}
