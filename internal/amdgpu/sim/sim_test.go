package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
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

func TestBlockSum(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		const n = 1000
		in := r.buf("x", ramp(n, func(i int) float32 { return float32(i) }))
		for _, kernel := range []string{"block_sum", "block_sum_dyn"} {
			out := r.out("out", 4*4)
			shared := 0
			if kernel == "block_sum_dyn" {
				shared = 1024
			}
			r.clean(r.launch(kernel, x(4), x(256), shared, in, out, n))
			got := make([]float32, 4)
			r.read(out, got)
			for b, v := range got {
				want := float32(0)
				for i := b * 256; i < min(n, b*256+256); i++ {
					want += float32(i)
				}
				if v != want {
					t.Errorf("%s: block %d: got %v, want %v", kernel, b, v, want)
				}
			}
		}
	})
}

func TestHistogram(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		const n = 3000
		in := make([]byte, n)
		var want [256]uint32
		for i := range in {
			in[i] = byte(i * i % 251)
			want[in[i]]++
		}
		bins := r.buf("bins", make([]uint32, 256))
		r.clean(r.launch("histogram", x(3), x(1024), 0, r.buf("x", in), bins, n))
		var got [256]uint32
		r.read(bins, &got)
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestAtomics(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		const n = 128
		u0 := [14]uint32{0, 1000, 3, 50, 0, 0xffffffff, 0, 0, 0, 0, 0, 0, 0, 0}
		u := r.buf("u", u0)
		s := r.buf("s", [2]int32{-5, 100})
		f := r.buf("f", float32(1))
		d := r.buf("d", [2]uint64{7, 1})
		old := r.out("old", 4*n)
		r.clean(r.launch("atomics", x(2), x(n/2), 0, u, s, f, d, old))
		// The same, one thread after another.
		want, wantS, wantF, wantD := u0, [2]int32{-5, 100}, float32(1), [2]uint64{7, 1}
		for i := range uint32(n) {
			want[0]++
			want[1]--
			want[2] = max(want[2], i*7%61)
			want[3] = min(want[3], i*7%61+5)
			want[4] |= 1 << (i & 31)
			want[5] &^= 1 << (i & 7)
			want[6] ^= i
			want[7] = 9
			want[8] = inc(want[8], uint32(9))
			want[9] = dec(want[9], uint32(9))
			if want[10+i&3] == 0 {
				want[10+i&3] = i + 1
			}
			wantS[0] = max(wantS[0], int32(i)-40)
			wantS[1] = min(wantS[1], 3-int32(i))
			wantF += 0.5
			wantD[0] += 0x100000001
			wantD[1] = max(wantD[1], uint64(i)<<33)
		}
		var got [14]uint32
		var gotS [2]int32
		var gotF float32
		var gotD [2]uint64
		olds := make([]uint32, n)
		r.read(u, &got)
		r.read(s, &gotS)
		r.read(f, &gotF)
		r.read(d, &gotD)
		r.read(old, olds)
		if got != want {
			t.Errorf("u: got %v, want %v", got, want)
		}
		if gotS != wantS || gotF != wantF || gotD != wantD {
			t.Errorf("got %v %v %v, want %v %v %v", gotS, gotF, gotD, wantS, wantF, wantD)
		}
		seen := map[uint32]bool{}
		for _, v := range olds {
			seen[v] = true
		}
		if len(seen) != n {
			t.Errorf("got %d distinct old values, want %d", len(seen), n)
		}
	})
}

func TestScratch(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		const n = 100
		idx := make([]int32, n)
		for i := range idx {
			idx[i] = int32(i % 37)
		}
		out := r.out("out", 4*n)
		r.clean(r.launch("scratch", x(2), x(64), 0, r.buf("idx", idx), out, n))
		got := make([]int32, n)
		r.read(out, got)
		for i, v := range got {
			if want := int32(200*i + 36); v != want {
				t.Fatalf("out[%d] = %d, want %d", i, v, want)
			}
		}
	})
}

func TestCalls(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		out := r.out("out", 4*64)
		r.clean(r.launch("calls", x(1), x(64), 0, out))
		var got [64]int32
		r.read(out, &got)
		for i, v := range got {
			if want := [8]int32{0, 1, 1, 2, 3, 5, 8, 13}[i&7]; v != want {
				t.Fatalf("fib(%d) = %d, want %d", i&7, v, want)
			}
		}
	})
}

func TestGenericPointers(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		in := make([]int32, 64)
		for i := range in {
			in[i] = int32(3 * i)
		}
		out := r.out("out", 4*64)
		r.clean(r.launch("generic", x(1), x(64), 0, r.buf("x", in), out))
		var got [64]int32
		r.read(out, &got)
		for i, v := range got {
			want := int32(i + i&3 + 3*i)
			if i&1 != 0 {
				want = int32(i + i&3 + 1063 - i)
			}
			if v != want {
				t.Fatalf("out[%d] = %d, want %d", i, v, want)
			}
		}
	})
}

func TestGlobals(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		out := r.out("out", 4*32)
		r.clean(r.launch("globals", x(1), x(32), 0, out))
		var got [32]int32
		r.read(out, &got)
		for i, v := range got {
			if want := 5 * [8]int32{2, 3, 5, 7, 11, 13, 17, 19}[i&7]; v != want {
				t.Fatalf("out[%d] = %d, want %d", i, v, want)
			}
		}
	})
}

func TestIDs(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		g, b := gpu.Dim3{X: 3, Y: 2, Z: 2}, gpu.Dim3{X: 5, Y: 4, Z: 3}
		out := r.out("out", 4*12*12*60)
		r.clean(r.launch("ids", g, b, 0, out))
		got := make([][12]uint32, 12*60)
		r.read(out, got)
		k := 0
		for bz := range g.Z {
			for by := range g.Y {
				for bx := range g.X {
					for tz := range b.Z {
						for ty := range b.Y {
							for tx := range b.X {
								want := [12]uint32{tx, ty, tz, bx, by, bz, b.X, b.Y, b.Z, g.X, g.Y, g.Z}
								if got[k] != want {
									t.Fatalf("thread %d: got %v, want %v", k, got[k], want)
								}
								k++
							}
						}
					}
				}
			}
		}
	})
}

func TestWidths(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		in := make([]byte, 1024)
		for i := range in {
			in[i] = byte(i*37 + 11)
		}
		want := make([]byte, 2752)
		le := binary.LittleEndian
		for i := range 64 {
			le.PutUint32(want[4*i:], uint32(int32(int8(in[i]))))
			le.PutUint32(want[256+4*i:], uint32(in[i]))
			le.PutUint32(want[512+4*i:], uint32(int32(int16(le.Uint16(in[2*i:])))))
			le.PutUint32(want[768+4*i:], uint32(le.Uint16(in[2*i:])))
			copy(want[1024+8*i:], in[8*i:8*i+8])
			copy(want[1536+16*i:], in[16*i:16*i+16])
			want[2560+i] = in[63-i]
			copy(want[2624+2*i:], in[2*(63-i):2*(63-i)+2])
		}
		out := r.out("out", len(want))
		r.clean(r.launch("widths", x(1), x(64), 0, r.buf("in", in), out))
		got := make([]byte, len(want))
		r.read(out, got)
		if !bytes.Equal(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("byte %d: got %02x, want %02x", i, got[i], want[i])
				}
			}
		}
	})
}

func TestWaveOps(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		in := make([]int32, 64)
		for i := range in {
			in[i] = int32(i * i % 101)
		}
		out := r.out("out", 4*256)
		r.clean(r.launch("waveops", x(1), x(64), 0, r.buf("x", in), out))
		var got [256]int32
		r.read(out, &got)
		wave := r.dev.Info().WaveSize
		for i := range in {
			var sum, odd, any77 int32
			for _, v := range in[i&^31 : i&^31+32] {
				sum += v
			}
			w := i / wave * wave
			for _, v := range in[w : w+wave] {
				odd += v & 1
				if v == 77 {
					any77 = 2
				}
			}
			for k, want := range [4]int32{sum, in[i&^31+5], odd, any77 + 1} {
				if got[64*k+i] != want {
					t.Fatalf("lane %d, operation %d: got %d, want %d", i, k, got[64*k+i], want)
				}
			}
		}
	})
}

func TestLDSAtomics(t *testing.T) {
	each(t, "base", Options{}, func(t *testing.T, r *rig) {
		in := make([]int32, 64)
		var sum, xor, or int32
		hi, lo := int32(0), int32(math.MaxInt32)
		for i := range in {
			in[i] = int32(i*31%64 - 20)
			sum += in[i]
			xor ^= in[i]
			or |= 1 << (i & 31)
			hi, lo = max(hi, in[i]), min(lo, in[i])
		}
		out := r.out("out", 4*80)
		// out[10..15] stay unwritten.
		r.clean(r.launch("lds_atomics", x(1), x(64), 0, r.buf("x", in), out))
		var got [80]int32
		r.read(out, &got)
		for i, want := range []int32{sum, hi, 0, lo, or, xor} {
			if got[i] != want {
				t.Errorf("out[%d] = %d, want %d", i, got[i], want)
			}
		}
		if got[8] != 96 || got[9] != 64 {
			t.Errorf("float and 64-bit sums: got %d, %d, want 96, 64", got[8], got[9])
		}
	})
}

// TestDeterminism checks that reports do not depend on the number of
// workers, and that memory does not on the schedule where it must not.
func TestDeterminism(t *testing.T) {
	type result struct {
		rep gpu.Report
		out []byte
		err string
	}
	run := func(object, kernel string, opts Options, grid, block, shared int, args func(r *rig) []any) result {
		r := newRig(t, object, "gfx90a", opts)
		as := args(r)
		rep, err := r.try(kernel, x(grid), x(block), shared, as...)
		res := result{rep: rep}
		if err != nil {
			res.err = err.Error()
		}
		for _, a := range as {
			if b, ok := a.(gpu.Buffer); ok {
				p := make([]byte, b.Size())
				b.CopyOut(p)
				res.out = append(res.out, p...)
			}
		}
		return res
	}
	check := func(object, kernel string, grid, block int, ordered bool, args func(r *rig) []any) {
		t.Helper()
		base := run(object, kernel, Options{Workers: 1}, grid, block, 0, args)
		for _, n := range []int{2, 3, 7} {
			if got := run(object, kernel, Options{Workers: n}, grid, block, 0, args); !reflect.DeepEqual(got, base) {
				t.Errorf("%s with %d workers: got %+v, want %+v", kernel, n, got.rep, base.rep)
			}
		}
		for seed := uint64(1); seed < 6; seed++ {
			opts := Options{Schedule: seed}
			got := run(object, kernel, opts, grid, block, 0, args)
			if again := run(object, kernel, opts, grid, block, 0, args); !reflect.DeepEqual(got, again) {
				t.Errorf("%s with schedule %d: two runs differ", kernel, seed)
			}
			if same := bytes.Equal(got.out, base.out); same != ordered && ordered {
				t.Errorf("%s with schedule %d: memory differs from that of the default order", kernel, seed)
			}
			if len(base.rep.Findings) == 0 && !reflect.DeepEqual(got.rep.Counters, base.rep.Counters) && ordered {
				t.Errorf("%s with schedule %d: got counters %+v, want %+v", kernel, seed, got.rep.Counters, base.rep.Counters)
			}
		}
	}
	check("base", "vadd", 20, 64, true, func(r *rig) []any {
		return []any{r.buf("a", iota32(1200)), r.buf("b", iota32(1200)), r.out("c", 4800), 1200}
	})
	check("base", "block_sum", 9, 256, true, func(r *rig) []any {
		return []any{r.buf("a", ramp(2304, func(i int) float32 { return 1 / float32(i+1) })), r.out("c", 36), 2304}
	})
	check("base", "histogram", 9, 256, true, func(r *rig) []any {
		return []any{r.buf("x", make([]byte, 2304)), r.buf("bins", make([]uint32, 256)), 2304}
	})
	check("defects", "bad_race_blocks", 13, 64, false, func(r *rig) []any {
		return []any{r.buf("x", iota32(1024)), r.buf("out", iota32(64))}
	})
	check("defects", "bad_load_past", 13, 64, true, func(r *rig) []any {
		return []any{r.buf("x", iota32(500)), r.out("out", 4000), 800}
	})
	check("defects", "bad_race_reuse", 3, 256, false, func(r *rig) []any {
		return []any{r.buf("x", iota32(256)), r.out("out", 1024)}
	})
}

// TestSchedule checks that a shuffled order brings out what depends on it.
func TestSchedule(t *testing.T) {
	seen := map[int32]bool{}
	for seed := range uint64(8) {
		r := newRig(t, "defects", "gfx1030", Options{Schedule: seed})
		out := r.buf("out", int32(-1))
		r.launch("bad_race_flag", x(1), x(256), 0, r.buf("x", iota32(256)), out)
		var got int32
		r.read(out, &got)
		seen[got] = true
	}
	if len(seen) < 2 {
		t.Errorf("eight schedules gave one result, %v", seen)
	}
}

// TestCounters checks counts that can be done by hand.
func TestCounters(t *testing.T) {
	r := newRig(t, "base", "gfx90a", Options{})
	rep := r.launch("vadd", x(2), x(128), 0, r.buf("a", iota32(200)), r.buf("b", iota32(200)), r.out("c", 800), 200)
	c := rep.Counters
	for _, v := range []struct {
		what      string
		got, want int64
	}{
		{"waves", c.Waves, 4},
		{"global bytes", c.GlobalBytes, 3 * 200 * 4},
		// Per array: three full waves of 256 bytes and one of 32.
		{"lines", c.GlobalLines, 3 * (3*4 + 1)},
		{"least lines", c.MinLines, 3 * (3*4 + 1)},
		{"loads", c.Inst["global_load"], 2 * 4},
		{"stores", c.Inst["global_store"], 4},
		{"f32", c.Inst["valu_f32"], 4},
		{"barriers", c.Barriers, 0},
		{"bank conflicts", c.LDSConflicts, 0},
		{"branches", c.Inst["branch"], 4},
	} {
		if v.got != v.want {
			t.Errorf("%s: got %d, want %d", v.what, v.got, v.want)
		}
	}
	if c.LaneSlots <= c.LaneOps || c.LaneOps == 0 {
		t.Errorf("got %d lane operations in %d slots, want fewer, since a wave is partly idle", c.LaneOps, c.LaneSlots)
	}
	rep = r.launch("block_sum", x(1), x(256), 0, r.buf("x", iota32(256)), r.out("out", 4), 256)
	if got, want := rep.Counters.Barriers, int64(4*9); got != want {
		t.Errorf("block_sum: got %d barriers, want %d", got, want)
	}
}

// TestBadLaunch checks launches that cannot start.
func TestBadLaunch(t *testing.T) {
	r := newRig(t, "base", "gfx90a", Options{})
	a := r.buf("a", iota32(64))
	check := func(want string, kernel string, grid, block gpu.Dim3, shared int, args ...any) {
		t.Helper()
		_, err := r.try(kernel, grid, block, shared, args...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
		var fault *gpu.Fault
		if errors.As(err, &fault) {
			t.Errorf("got a fault of the kernel, %v, want an error of the launch", err)
		}
	}
	check("must have no zero", "vadd", gpu.Dim3{X: 1, Y: 0, Z: 1}, x(64), 0, a, a, a, 1)
	check("2048 threads, at most 1024", "vadd", x(1), x(2048), 0, a, a, a, 1)
	check("24 bytes of arguments, the kernel takes 28", "vadd", x(1), x(64), 0, a, a, a)
	check("shared memory", "block_sum", x(1), x(256), 64<<10, a, a, 1)
	if _, err := r.mod.Kernel("vsub"); !errors.Is(err, gpu.ErrNoKernel) {
		t.Errorf("got error %v, want ErrNoKernel", err)
	}
	if _, err := r.dev.Load([]byte("no code")); err == nil {
		t.Error("loaded text as a code object")
	}
	if _, err := r.dev.Load(object(t, "base", "gfx1030")); err == nil || !strings.Contains(err.Error(), "gfx1030") {
		t.Errorf("got error %v, want one that names gfx1030", err)
	}
	if _, err := Open("gfx906", Options{}); err == nil {
		t.Error("opened gfx906")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	k, _ := r.mod.Kernel("calls")
	var args gpu.Args
	args.Ptr(a)
	if _, err := r.dev.Launch(ctx, k, gpu.LaunchConfig{Grid: x(1), Block: x(64)}, args.Bytes()); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// TestBuffers checks addresses and initialisation.
func TestBuffers(t *testing.T) {
	r := newRig(t, "base", "gfx90a", Options{})
	a, b := r.buf("a", iota32(3)), r.out("b", 0)
	if b.Ptr()-a.Ptr() < 1<<34 {
		t.Errorf("buffers at 0x%x and 0x%x are too close", a.Ptr(), b.Ptr())
	}
	if a.Ptr()%256 != 0 {
		t.Errorf("buffer at 0x%x is not aligned to 256 bytes", a.Ptr())
	}
	out := r.out("c", 800)
	r.launch("vadd", x(1), x(64), 0, r.buf("x", iota32(64)), r.buf("y", iota32(64)), out, 50)
	if n, first := out.(*buffer).Unwritten(); n != 600 || first != 200 {
		t.Errorf("got %d unwritten bytes from %d, want 600 from 200", n, first)
	}
	if err := a.CopyIn(make([]byte, 11)); err == nil {
		t.Error("copied 11 bytes into a buffer of 12")
	}
	if err := a.Free(); err != nil {
		t.Error(err)
	}
	if err := a.Free(); err == nil {
		t.Error("freed a buffer twice")
	}
	if err := a.CopyOut(make([]byte, 12)); err == nil {
		t.Error("read a freed buffer")
	}
	// Addresses are the same in each device.
	if p, q := newRig(t, "base", "gfx90a", Options{}).buf("a", iota32(3)).Ptr(), a.Ptr(); p != q {
		t.Errorf("got address 0x%x, then 0x%x", q, p)
	}
}
