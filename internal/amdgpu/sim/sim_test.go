package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

var archs = []string{"gfx90a", "gfx1030", "gfx1100"}

func object(t testing.TB, name, arch string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + "." + arch + ".hsaco.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

// A rig runs the kernels of one object on one architecture.
type rig struct {
	t   testing.TB
	dev gpu.Device
	mod gpu.Module
}

func newRig(t testing.TB, name, arch string, opts Options) *rig {
	t.Helper()
	d, err := Open(arch, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	m, err := d.Load(object(t, name, arch))
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, d, m}
}

// buf allocates a buffer with the contents of v, a slice or scalar.
func (r *rig) buf(name string, v any) gpu.Buffer {
	r.t.Helper()
	var w bytes.Buffer
	if err := binary.Write(&w, binary.LittleEndian, v); err != nil {
		r.t.Fatal(err)
	}
	b, err := r.dev.Alloc(name, w.Len())
	if err == nil {
		err = b.CopyIn(w.Bytes())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// out allocates a buffer that nobody wrote.
func (r *rig) out(name string, size int) gpu.Buffer {
	r.t.Helper()
	b, err := r.dev.Alloc(name, size)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// read copies b into v, a pointer to a slice's elements.
func (r *rig) read(b gpu.Buffer, v any) {
	r.t.Helper()
	p := make([]byte, b.Size())
	if err := b.CopyOut(p); err != nil {
		r.t.Fatal(err)
	}
	if err := binary.Read(bytes.NewReader(p), binary.LittleEndian, v); err != nil {
		r.t.Fatal(err)
	}
}

// launch runs a kernel; args are buffers, int (32 bits), int64, float32.
func (r *rig) try(kernel string, grid, block gpu.Dim3, shared int, args ...any) (gpu.Report, error) {
	r.t.Helper()
	k, err := r.mod.Kernel(kernel)
	if err != nil {
		r.t.Fatal(err)
	}
	var a gpu.Args
	for _, v := range args {
		switch v := v.(type) {
		case gpu.Buffer:
			a.Ptr(v)
		case int:
			a.Uint(uint64(v), 4)
		case int64:
			a.Uint(uint64(v), 8)
		case float32:
			a.Float32(v)
		case nil:
			a.Ptr(nil)
		default:
			r.t.Fatalf("argument of type %T", v)
		}
	}
	return r.dev.Launch(context.Background(), k, gpu.LaunchConfig{Grid: grid, Block: block, Shared: shared}, a.Bytes())
}

func (r *rig) launch(kernel string, grid, block gpu.Dim3, shared int, args ...any) gpu.Report {
	r.t.Helper()
	rep, err := r.try(kernel, grid, block, shared, args...)
	if err != nil {
		r.t.Fatalf("%s: %v", kernel, err)
	}
	return rep
}

// clean fails the test where a launch found anything.
func (r *rig) clean(rep gpu.Report) gpu.Report {
	r.t.Helper()
	for _, f := range rep.Findings {
		r.t.Errorf("finding: %v", f)
	}
	return rep
}

func x(n int) gpu.Dim3 { return gpu.Dim3{X: uint32(n), Y: 1, Z: 1} }

// each runs f on the three architectures.
func each(t *testing.T, name string, opts Options, f func(t *testing.T, r *rig)) {
	t.Helper()
	for _, arch := range archs {
		t.Run(arch, func(t *testing.T) { f(t, newRig(t, name, arch, opts)) })
	}
}

func ramp(n int, f func(i int) float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

func TestVadd(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		const n = 1000
		a := r.buf("a", ramp(n, func(i int) float32 { return float32(i) }))
		b := r.buf("b", ramp(n, func(i int) float32 { return 0.5 * float32(i) }))
		c := r.out("c", 4*n)
		rep := r.clean(r.launch("vadd", x(4), x(256), 0, a, b, c, n))
		got := make([]float32, n)
		r.read(c, got)
		for i, v := range got {
			if v != 1.5*float32(i) {
				t.Fatalf("c[%d] = %v, want %v", i, v, 1.5*float32(i))
			}
		}
		if want := int64(3 * 4 * n); rep.Counters.GlobalBytes != want {
			t.Errorf("got %d global bytes, want %d", rep.Counters.GlobalBytes, want)
		}
		if math.IsNaN(float64(got[0])) {
			t.Error("NaN")
		}
	})
}
