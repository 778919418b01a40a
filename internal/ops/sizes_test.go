package ops

import (
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// TestTimed: every op has cases at every plain scale, of the elements that
// the scale has, and binds them; their inputs are not zeros.
func TestTimed(t *testing.T) {
	for _, o := range All() {
		if o.Timed == nil {
			t.Errorf("%s has no cases for timing", o.Name)
			continue
		}
		models := 0
		for _, s := range Scales() {
			for k, v := range o.Variants {
				list := o.Timed(v, s)
				if s.IsModel() {
					models += len(list)
				} else if len(list) != 1 {
					t.Errorf("%s %s: %d cases at %s, want 1", o.Name, v, len(list), s.Name)
				}
				for _, x := range list {
					if !strings.HasPrefix(x.Size, s.Name) {
						t.Errorf("%s: size %q of scale %s", x.Case.Name(), x.Size, s.Name)
					}
					if s.Name != "small" && (s.Name != "medium" || k != len(o.Variants)/2) {
						continue // seconds and gigabytes; TestTimedLarge has two
					}
					checkTimed(t, &x.Case, map[string]int{"small": 4096, "medium": 1 << 20}[s.Name])
				}
			}
		}
		if models == 0 {
			t.Errorf("%s occurs in no model", o.Name)
		}
	}
}

func TestTimedLarge(t *testing.T) {
	for _, o := range All() {
		if o.Name != "maximum" && o.Name != "softmax" {
			continue
		}
		x := o.Timed(Variant{T: tensor.BF16}, Scales()[2])[0]
		checkTimed(t, &x.Case, 1<<26)
	}
}

// checkTimed binds a case that works on n elements or more.
func checkTimed(t *testing.T, c *Case, n int) {
	t.Helper()
	p := c.Op.Bind(c, NewRand(1, c.Name()))
	if p.Grid.Count() == 0 || p.Block.Count() > 1024 {
		t.Errorf("%s: grid %v, block %v", c.Name(), p.Grid, p.Block)
	}
	bytes, _ := c.Op.Work(p)
	if least := int64(n * c.Variant.T.Size()); bytes < least {
		t.Errorf("%s moves %d bytes, want at least %d", c.Name(), bytes, least)
	}
	for i, param := range c.Op.Params {
		b := p.Args[i].Buf
		if b == nil || param.Role == Scalar || p.Role(i) != In {
			continue
		}
		if (b.Len() > tile) != (b.Period > 0) {
			t.Errorf("%s: %s of %d elements repeats after %d", c.Name(), param.Name, b.Len(), b.Period)
		}
		zeros := 0
		for k := range b.Distinct() {
			if b.Bits(k) == 0 {
				zeros++
			}
		}
		if zeros > b.Distinct()*3/4 && b.Distinct() > 8 {
			t.Errorf("%s: %d of %d elements of %s are 0", c.Name(), zeros, b.Distinct(), param.Name)
		}
	}
}

// TestPeriod: what repeats is the same as what is drawn, expanded.
func TestPeriod(t *testing.T) {
	const n = tile + 1000
	x := normals(tensor.F16, NewRand(1, "period"), 1, n)
	if x.Period != tile || x.Distinct() != tile || x.Len() != n || x.Bits(n-1) != 0 {
		t.Fatalf("period %d of %d elements, the last %#x", x.Period, x.Len(), x.Bits(n-1))
	}
	x.Expand()
	for i := tile; i < n; i++ {
		if x.Bits(i) != x.Bits(i-tile) {
			t.Fatalf("element %d is not element %d", i, i-tile)
		}
	}
	if x.Distinct() != n || x.Bits(n-1) == 0 {
		t.Errorf("expanded: %d distinct elements, the last %#x", x.Distinct(), x.Bits(n-1))
	}
}
