package sim

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// The ledger: every opcode that Coverage reports as executed must have been
// executed, and its results compared with independent arithmetic, by a test
// of this package, on each architecture that has it. Tests of semantics note
// what they compared by calling proved; TestMain looks for what is missing
// when all tests have run.

// A provedOp is an opcode of an architecture. The halves of VOPD share
// numbers, and count as one.
type provedOp struct {
	arch isa.Arch
	enc  isa.Encoding
	name string
}

// A register holds what tests have proved.
type register struct {
	sync.Mutex
	ops map[provedOp]bool
}

// ledger is the register of this run.
var ledger register

// proved notes that a test compared results of an instruction.
func proved(arch isa.Arch, enc isa.Encoding, name string) {
	ledger.add(provedOp{arch, enc, name})
}

func (r *register) add(p provedOp) {
	r.Lock()
	defer r.Unlock()
	if r.ops == nil {
		r.ops = map[provedOp]bool{}
	}
	r.ops[p] = true
}

// unproved lists the executed opcodes that no test noted.
func (r *register) unproved() ([]string, error) {
	r.Lock()
	defer r.Unlock()
	var missing []string
	for _, arch := range archs {
		a, err := isa.ParseArch(arch)
		if err != nil {
			return nil, err
		}
		ops, err := Coverage(arch)
		if err != nil {
			return nil, err
		}
		have := map[string]bool{}
		for p := range r.ops {
			if p.arch == a {
				have[p.enc.String()+" "+p.name] = true
			}
		}
		for _, op := range ops {
			if op.Executed && !have[op.Encoding+" "+op.Name] {
				missing = append(missing, fmt.Sprintf("%s %s %s", arch, op.Encoding, op.Name))
			}
		}
	}
	sort.Strings(missing)
	return missing, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && wholePackage() {
		missing, err := ledger.unproved()
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("%d executed opcodes have no test of their semantics:\n\t%s", len(missing), strings.Join(missing, "\n\t"))
		}
		if err != nil {
			fmt.Println("--- FAIL: ledger:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// wholePackage reports whether the flags left no test out.
func wholePackage() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

// TestLedger holds the ledger to naming what is missing.
func TestLedger(t *testing.T) {
	var r register
	all, err := r.unproved()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 3000 {
		t.Errorf("nothing proved: got %d missing, want 3000", len(all))
	}
	r.add(provedOp{isa.GFX1030, isa.DS, "ds_read_b32"})
	r.add(provedOp{isa.GFX1030, isa.VOP2, "ds_read_b64"})   // not its encoding
	r.add(provedOp{isa.GFX1100, isa.DS, "ds_read2_b32"})    // not its name
	r.add(provedOp{isa.GFX90A, isa.SMEM, "s_load_dwordx4"}) //
	some, err := r.unproved()
	if err != nil || len(some) != len(all)-2 {
		t.Errorf("two proved: got %d missing (%v), want %d", len(some), err, len(all)-2)
	}
	for _, s := range some {
		if s == "gfx1030 DS ds_read_b32" || s == "gfx90a SMEM s_load_dwordx4" {
			t.Errorf("%s is missing though it was proved", s)
		}
	}
}
