package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestRandGolden pins the stream of inputs: recordings made anywhere, at
// any time, hold the outputs of these very inputs.
func TestRandGolden(t *testing.T) {
	r := NewRand(1, "rope_i/f32/b=2,h=3,t=5,d=8,cos=3d/normal")
	var got []uint64
	for range 3 {
		got = append(got, r.Uint64())
	}
	want := []uint64{goldenRand[0], goldenRand[1], goldenRand[2]}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("draw %d = %#x, want %#x", i, got[i], want[i])
		}
	}
	if a, b := NewRand(1, "a").Uint64(), NewRand(2, "a").Uint64(); a == b {
		t.Error("seeds 1 and 2 give the same stream")
	}
}

// TestInputsGolden pins one case's inputs, generators included.
func TestInputsGolden(t *testing.T) {
	op := find(t, "rope_i")
	h := sha256.New()
	for _, v := range op.Variants {
		for _, c := range op.Cases(v, Fast) {
			p := op.Bind(&c, NewRand(1, c.Name()))
			for _, a := range p.Args {
				if a.Buf != nil {
					h.Write(a.Buf.Data)
				}
			}
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != goldenRopeInputs {
		t.Errorf("inputs of rope_i hash to %s, want %s: recordings would no longer apply", got, goldenRopeInputs)
	}
}

func TestRandMoments(t *testing.T) {
	r := NewRand(7, "moments")
	const n = 200000
	var sum, sq float64
	for range n {
		x := r.Normal()
		sum += x
		sq += x * x
	}
	if m := sum / n; m < -0.01 || m > 0.01 {
		t.Errorf("mean of Normal = %g, want 0", m)
	}
	if v := sq / n; v < 0.98 || v > 1.02 {
		t.Errorf("variance of Normal = %g, want 1", v)
	}
	count := make([]int, 7)
	for range 70000 {
		count[r.IntN(7)]++
	}
	for i, c := range count {
		if c < 9500 || c > 10500 {
			t.Errorf("IntN(7) gave %d %d times of 70000, want about 10000", i, c)
		}
	}
}

// TestTable holds every op to what the rest of the program takes for
// granted.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, o := range All() {
		if names[o.Name] {
			t.Errorf("two ops are called %s", o.Name)
		}
		names[o.Name] = true
		if o.Summary == "" || o.Formula == "" || o.Bound == "" || o.Parity == "" || o.Family == "" || o.Module == "" {
			t.Errorf("%s lacks a text", o.Name)
		}
		o.Output() // panics where there is none
		for _, v := range o.Variants {
			cases := o.Cases(v, Fast)
			if len(cases) < 3 {
				t.Errorf("%s/%s has %d cases, want at least 3", o.Name, v, len(cases))
			}
			thorough := map[string]bool{}
			for _, c := range o.Cases(v, Thorough) {
				name := c.Name()
				if thorough[name] {
					t.Errorf("case %s twice", name)
				}
				thorough[name] = true
			}
			for _, c := range cases {
				if !thorough[c.Name()] {
					t.Errorf("%s is not among the thorough cases", c.Name())
				}
				p := o.Bind(&c, NewRand(1, c.Name()))
				if len(p.Args) != len(o.Params) {
					t.Fatalf("%s binds %d arguments for %d parameters", c.Name(), len(p.Args), len(o.Params))
				}
				for i, param := range o.Params {
					if b := p.Args[i].Buf; b != nil && b.DType != param.Type.DType(v) {
						t.Errorf("%s: %s is %v, want %v", c.Name(), param.Name, b.DType, param.Type.DType(v))
					}
				}
				e := o.Expect(p)
				out := p.Args[o.Output()].Buf
				if e.Len() != out.Len() {
					t.Errorf("%s: %d expected elements for an output of %d", c.Name(), e.Len(), out.Len())
				}
				n := 1
				for _, a := range e.Axes {
					n *= a.Size
				}
				if n != e.Len() {
					t.Errorf("%s: axes %v do not cover %d elements", c.Name(), e.Axes, e.Len())
				}
				for i := range e.Hard {
					if !(e.Hard[i] >= 0) {
						t.Errorf("%s: element %d has bound %g", c.Name(), i, e.Hard[i])
						break
					}
				}
			}
		}
	}
}
