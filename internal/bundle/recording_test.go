package bundle

import (
	"bytes"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

func problem(t testing.TB, i int, seed uint64) *ops.Problem {
	t.Helper()
	o := ops.All()[0]
	c := o.Cases(o.Variants[1], ops.Fast)[i]
	return runner.Inputs(&c, seed)
}

func TestRecording(t *testing.T) {
	p, other := problem(t, 0, 1), problem(t, 1, 1)
	out := tensor.FromFloats(p.Case.Variant.T, []float64{1, 2}, 2)
	r := NewRecording("v1", 1)
	r.Target.Name = "cuda@cuda:0"
	r.Add(p, "source", out)
	var buf bytes.Buffer
	if err := r.Write(&buf); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecording(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != 1 || got.Seed != 1 || got.Target.Name != "cuda@cuda:0" || got.Version != "v1" {
		t.Errorf("came back as %+v", got.About)
	}
	if o, err := got.Output(p, "source"); err != nil || !bytes.Equal(o.Data, out.Data) {
		t.Errorf("output %v, %v", o, err)
	}
	check := func(p *ops.Problem, source, says string) {
		t.Helper()
		if _, err := got.Output(p, source); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	check(other, "source", "no output of this case")
	check(p, "newer source", "another version of the rope kernels")
	check(problem(t, 0, 2), "source", "other inputs")
	changed := *p
	changed.Args = append([]ops.Arg(nil), p.Args...)
	changed.Arg("td").Int++
	check(&changed, "source", "other inputs or arguments")

	for n := 0; n < buf.Len(); n += 7 {
		if _, err := ReadRecording(buf.Bytes()[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were read without an error", n, buf.Len())
		}
	}
	r.Schema = "paritycheck.recording/v9"
	buf.Reset()
	if err := r.Write(&buf); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecording(buf.Bytes()); err == nil || !strings.Contains(err.Error(), "v9") {
		t.Errorf("a newer schema gave %v", err)
	}
}

// TestRecordingNear: of a large output its distance from the truth is kept,
// and it comes back to the bit, also where an element is far off.
func TestRecordingNear(t *testing.T) {
	var p *ops.Problem
	for _, o := range ops.All() {
		if o.Name != "softmax" {
			continue
		}
		for _, c := range o.Cases(ops.Variant{T: tensor.F32}, ops.Fast) {
			if c.Dim("rows")*c.Dim("n")*4 >= largeOutput {
				p = runner.Inputs(&c, 1)
			}
		}
	}
	e := p.Case.Op.Expect(p)
	near := tensor.New(tensor.F32, e.Len())
	for i := range near.Len() {
		near.SetFloat(i, e.Value[i]*(1+float64(i%5-2)*0x1p-23))
	}
	far := near.Clone()
	far.SetFloat(5, 1e30)
	for _, out := range []*tensor.Tensor{near, far} {
		r := NewRecording("v1", 1)
		r.Add(p, "source", out)
		if steps := r.outputs[p.Case.Name()].DType == tensor.I16; steps != (out == near) {
			t.Errorf("kept steps: %v", steps)
		}
		var buf bytes.Buffer
		if err := r.Write(&buf); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRecording(buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if back, err := got.Output(p, "source"); err != nil || back.DType != tensor.F32 || !bytes.Equal(back.Data, out.Data) {
			t.Errorf("came back as %v, %v", back, err)
		}
	}
	r := NewRecording("v1", 1)
	r.Add(p, "source", near)
	r.outputs[p.Case.Name()].SetBits(7, 9) // as of another truth
	if _, err := r.Output(p, "source"); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("steps from another truth gave %v", err)
	}
}

// TestRecordingExact: an output that is the only right one is not kept,
// and comes back all the same; one that is not is kept.
func TestRecordingExact(t *testing.T) {
	var o *ops.Op
	for _, x := range ops.All() {
		if x.Name == "gather" {
			o = x
		}
	}
	c := o.Cases(o.Variants[1], ops.Fast)[0]
	p := runner.Inputs(&c, 1)
	right := o.Expect(p).Exact
	wrong := right.Clone()
	wrong.Data[0]++
	for _, out := range []*tensor.Tensor{right, wrong} {
		r := NewRecording("v1", 1)
		r.Add(p, "source", out)
		if kept := len(r.outputs) == 1; kept == (out == right) {
			t.Errorf("kept %v", kept)
		}
		var buf bytes.Buffer
		if err := r.Write(&buf); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRecording(buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if back, err := got.Output(p, "source"); err != nil || !bytes.Equal(back.Data, out.Data) {
			t.Errorf("came back as %v, %v", back, err)
		}
	}
}

func FuzzReadRecording(f *testing.F) {
	r := NewRecording("v1", 1)
	r.Add(problem(f, 0, 1), "source", tensor.New(tensor.F32, 2))
	var buf bytes.Buffer
	if err := r.Write(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) { ReadRecording(b) })
}
