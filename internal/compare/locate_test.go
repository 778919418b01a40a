package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// ropeI is candle's rope_i on b*h*t*d elements with tables of b*t*d/2,
// whose batch is found by strideB; reads past the tables give 0.
func ropeI(src, cos, sin []float64, td, strideB int) []float64 {
	out := make([]float64, len(src))
	at := func(t []float64, i int) float64 {
		if i < len(t) {
			return t[i]
		}
		return 0
	}
	for i := range len(src) / 2 {
		k := i%(td/2) + 2*i/strideB*(td/2)
		c, s := at(cos, k), at(sin, k)
		out[2*i] = src[2*i]*c - src[2*i+1]*s
		out[2*i+1] = src[2*i]*s + src[2*i+1]*c
	}
	return out
}

func TestLocateRope(t *testing.T) {
	const b, h, tt, d = 2, 3, 5, 8
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	src, angle := draw(b*h*tt*d), draw(b*tt*d/2)
	cos, sin := make([]float64, len(angle)), make([]float64, len(angle))
	for i, a := range angle {
		cos[i], sin[i] = math.Cos(a), math.Sin(a)
	}
	e := &Expected{
		DType: tensor.F32, Value: ropeI(src, cos, sin, tt*d, h*tt*d), Hard: make([]float64, len(src)),
		Axes: []Axis{{"b", b}, {"h", h}, {"t", tt}, {"d", d}},
	}
	for i := range e.Hard {
		e.Hard[i] = 4 * 0x1p-24 * (1 + math.Abs(e.Value[i]))
	}
	got := tensor.FromFloats(tensor.F32, ropeI(src, cos, sin, tt*d, tt*d/2), b, h, tt, d)
	j, err := Judge(e, got, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "only elements 0..19 of 240 are right: the first half of head 0 in batch 0; every later batch is wrong"
	if j.Verdict != Mismatch || len(j.Hints) == 0 || j.Hints[0] != want {
		t.Errorf("got %s, hints %q, want %q first", j.Verdict, j.Hints, want)
	}
	if got, want := j.Pattern.Ranges, []Range{{0, 20, false}, {20, 240, true}}; !slices.Equal(got, want) {
		t.Errorf("ranges = %v, want %v", got, want)
	}
	if a := j.Pattern.Axes[0]; a.Name != "b" || !slices.Equal(a.Wrong, []int{100, 120}) || !slices.Equal(a.Total, []int{120, 120}) {
		t.Errorf("first axis = %+v, want 100 and 120 of 120 and 120", a)
	}

	// A few of the elements after are right by chance.
	got.SetFloat(100, e.Value[100])
	got.SetFloat(200, e.Value[200])
	_, hints, err := Locate(e, got, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "the first half of head 0 in batch 0; all but 2 elements after them are wrong, in every later batch"; !strings.Contains(hints[0], want) {
		t.Errorf("got %q, want %q", hints[0], want)
	}
}

func TestLocate(t *testing.T) {
	axes := []Axis{{"b", 4}, {"h", 6}, {"t", 10}, {"d", 16}}
	const n = 4 * 6 * 10 * 16
	e := &Expected{DType: tensor.F32, Value: make([]float64, n), Hard: make([]float64, n), Axes: axes}
	r := rand.New(rand.NewPCG(2, 2))
	in := tensor.New(tensor.F32, n)
	for i := range n {
		e.Value[i] = float64(float32(r.NormFloat64()))
		e.Hard[i] = 0x1p-22 * math.Max(1, math.Abs(e.Value[i]))
		in.SetFloat(i, r.NormFloat64())
	}
	stride := []int{960, 160, 16, 1}
	coord := func(i, k int) int { return i / stride[k] % axes[k].Size }
	opts := Options{Poison: []byte{0xff, 0xa5}, Inputs: []Input{{"x", in}}, Block: 256, Wave: 64}
	set := func(f func(i int) bool, v func(i int) float64) func(*tensor.Tensor) {
		return func(g *tensor.Tensor) {
			for i := range n {
				if f(i) {
					g.SetFloat(i, v(i))
				}
			}
		}
	}
	every := func(int) bool { return true }
	junk := func(i int) float64 { return 100 + float64(i*7919%1000)/3 }
	val := func(i int) float64 { return e.Value[i] }
	from := func(f func(i int) int) func(int) float64 { return func(i int) float64 { return val(f(i)) } }
	for _, test := range []struct {
		name  string
		plant func(g *tensor.Tensor)
		want  []string // each in some hint
	}{
		{"nothing", func(*tensor.Tensor) {}, nil},
		{"one element", set(func(i int) bool { return i == 1234 }, junk), []string{"one element of 3840 is wrong: element 1234 (b=1, h=1, t=7, d=2)"}},
		{"everything", set(every, junk), []string{"all 3840 elements are wrong"}},
		{"tail", set(func(i int) bool { return i >= 3800 }, junk), []string{"the last 40 of 3840 elements are wrong, from element 3800 (b=3, h=5, t=7, d=8) on"}},
		{"last block", set(func(i int) bool { return i >= 3584 }, junk), []string{"(the last block of 256 threads)"}},
		{"beginning", set(func(i int) bool { return i < 160 }, junk), []string{"elements 0..159 of 3840 are wrong: head 0 in batch 0"}},
		{"later batches", set(func(i int) bool { return i >= 960 }, junk), []string{"only elements 0..959 of 3840 are right: batch 0; every later batch is wrong"}},
		{"run", set(func(i int) bool { return i >= 500 && i < 533 }, junk), []string{"one run is wrong: elements 500..532 of 3840"}},
		{"one head", set(func(i int) bool { return coord(i, 1) == 2 }, junk), []string{"wrong exactly where h = 2 (640 of 3840"}},
		{"upper half of d", set(func(i int) bool { return coord(i, 3) >= 8 }, junk), []string{"wrong exactly where d >= 8"}},
		{"odd d of the last batch", set(func(i int) bool { return coord(i, 3)%2 == 1 && coord(i, 0) == 3 }, junk), []string{"wrong exactly where b = 3 and d is odd"}},
		{"within one head", set(func(i int) bool { return coord(i, 1) == 2 && i%7 == 0 }, junk), []string{"wrong elements have h = 2"}},
		{"every 64th", set(func(i int) bool { return i%64 == 63 }, junk), []string{"wrong where the index mod 64 = 63: in every wave of 64"}},
		{"upper half of a wave", set(func(i int) bool { return i%64 >= 32 }, junk), []string{"wrong where the index mod 64 in 32..63: in every wave of 64"}},
		{"scattered", set(func(i int) bool { return i*i%101 == 5 }, junk), []string{"in no simple pattern"}},

		{"not written", set(func(i int) bool { return coord(i, 1) == 2 }, func(int) float64 { return nan }), []string{"NaN"}},
		{"fill pattern", func(g *tensor.Tensor) {
			for i := 3000; i < n; i++ {
				g.SetBits(i, 0xa5a5a5a5)
			}
		}, []string{"never written: they hold the fill pattern 0xa5"}},
		{"fill pattern of NaN", func(g *tensor.Tensor) { g.SetBits(7, 0xffffffff) }, []string{"never written: they hold the fill pattern 0xff"}},
		{"NaN", set(func(i int) bool { return i%100 == 0 }, func(int) float64 { return nan }), []string{"every wrong element is NaN"}},
		{"some NaN", set(func(i int) bool { return i%100 < 2 }, func(i int) float64 { return []float64{nan, 7}[i%2] }), []string{"wrong elements include NaN"}},
		{"infinite", set(func(i int) bool { return i%100 == 0 }, func(int) float64 { return -inf }), []string{"every wrong element is -Inf"}},
		{"zero", set(func(i int) bool { return i%100 == 0 }, func(int) float64 { return 0 }), []string{"every wrong element is 0"}},
		{"constant", set(func(i int) bool { return i%10 == 0 }, func(int) float64 { return 42 }), []string{"every wrong element is 42"}},
		{"input", set(every, in.Float), []string{"hold the input x unchanged"}},

		{"doubled", set(every, func(i int) float64 { return 2 * val(i) }), []string{"2 times the truth"}},
		{"one percent", set(every, func(i int) float64 { return 1.01 * val(i) }), []string{"1.01 times the truth"}},
		{"shifted", set(every, func(i int) float64 { return val(i) + 0.125 }), []string{"the truth +0.125"}},
		{"negated", set(every, func(i int) float64 { return -val(i) }), []string{"wrong sign"}},
		{"absolute", set(func(i int) bool { return val(i) < 0 }, func(i int) float64 { return -val(i) }), []string{"wrong sign"}},
		{"row norm", set(every, func(i int) float64 { return val(i) * (1.5 + float64(i/16%7)) }), []string{"each row along d is a multiple of the truth, by a factor of its own"}},
		{"off by one", set(every, from(func(i int) int { return min(i+1, n-1) })), []string{"holds the value of the next"}},
		{"off by one token", set(every, from(func(i int) int { return max(i-16, 0) })), []string{"off by one along token: each wrong element holds the value of the one before"}},
		{"pairs", set(every, from(func(i int) int { return i ^ 1 })), []string{"neighbours along d are swapped in pairs"}},
		{"halves", set(every, from(func(i int) int { return i&^15 | (i+8)&15 })), []string{"the halves along d are swapped"}},
		{"reversed", set(every, from(func(i int) int { return i&^15 | 15 - i&15 })), []string{"d is reversed"}},
		{"batch left out", set(every, from(func(i int) int { return i % 960 })), []string{"hold the values of batch 0: batch is left out"}},
		{"interleaved", set(every, from(func(i int) int { return i&^15 | i&1*8 + i&15/2 })), []string{"interleaved"}},
		{"transposed", set(every, from(func(i int) int { p := i % 160; return i/160*160 + p%10*16 + p/10 })), []string{"token and d are transposed"}},
		{"off by a block", set(every, from(func(i int) int { return (i + 256) % n })), []string{"the element +256 away"}},

		{"bf16", set(every, func(i int) float64 { return tensor.BF16.Round(val(i)) }), []string{"the truth rounded to bf16"}},
		{"f16", set(every, func(i int) float64 { return tensor.F16.Round(val(i)) }), []string{"the truth rounded to f16"}},
		{"f16 inside", set(every, func(i int) float64 { return tensor.F16.Round(val(i) * (1 + float64(i%5)*0x1p-9)) }), []string{"every wrong element is a number of f16"}},
	} {
		got := tensor.FromFloats(tensor.F32, e.Value, n)
		test.plant(got)
		p, hints, err := Locate(e, got, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range test.want {
			if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(h, w) }) {
				t.Errorf("%s: hints %q, want one with %q", test.name, hints, w)
			}
		}
		if len(test.want) == 0 && len(hints) > 0 || len(hints) > 4 {
			t.Errorf("%s: hints %q", test.name, hints)
		}
		if len(p.Axes) != 4 || len(p.Ranges) == 0 || len(p.Ranges) > 16 {
			t.Errorf("%s: %d axes, %d ranges", test.name, len(p.Axes), len(p.Ranges))
		}
	}
}

// Values without a rule get no hint of what they are.
func TestLocateNoRule(t *testing.T) {
	const n = 512
	b := newBench(tensor.F32, n)
	g := b.out(right)
	for i := range n {
		if i*i%7 == 2 {
			g.SetFloat(i, 3*b.rand.NormFloat64())
		}
	}
	_, hints, err := Locate(b.e, g, Options{Poison: []byte{0xff}, Inputs: []Input{{"x", tensor.New(tensor.F32, n)}}, Block: 64, Wave: 32})
	if err != nil {
		t.Fatal(err)
	}
	if len(hints) != 1 {
		t.Errorf("hints %q, want only where", hints)
	}
}

func TestLocateRounding(t *testing.T) {
	b := newBench(tensor.BF16, 512)
	for i := range b.e.Hard {
		b.e.Hard[i] = 0.51 * tensor.BF16.ULP(b.e.Value[i])
	}
	_, hints, err := Locate(b.e, b.truncated(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(hints), "toward zero: the store truncates") {
		t.Errorf("hints %q, want truncation", hints)
	}
	flushed := &Expected{DType: tensor.F32, Value: []float64{1, 2e-39, 3e-39, 4, 5e-39}, Hard: make([]float64, 5)}
	got := tensor.FromFloats(tensor.F32, []float64{1, 0, 0, 4, 0}, 5)
	for i, v := range flushed.Value {
		flushed.Value[i] = tensor.F32.Round(v)
	}
	_, hints, err = Locate(flushed, got, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(hints), "subnormals are flushed") {
		t.Errorf("hints %q, want flushed subnormals", hints)
	}
}

func TestLocateIntegers(t *testing.T) {
	want := make([]int64, 96)
	got := make([]int64, 96)
	for i := range want {
		want[i] = int64(i * i)
		got[i] = int64((i ^ 1) * (i ^ 1))
	}
	e := &Expected{DType: tensor.U32, Exact: tensor.FromInts(tensor.U32, want, 96)}
	_, hints, err := Locate(e, tensor.FromInts(tensor.U32, got, 96), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(hints), "swapped in pairs") {
		t.Errorf("hints %q, want swapped pairs", hints)
	}
}

// Empty axes, one element and outputs without axes do not trip it.
func TestLocateSmall(t *testing.T) {
	for _, axes := range [][]Axis{nil, {{"n", 0}}, {{"a", 3}, {"b", 0}}, {{"n", 1}}, {{"a", 1}, {"b", 1}}, {{"a", 2}, {"b", 1}}} {
		n := 1
		for _, a := range axes {
			n *= a.Size
		}
		e := &Expected{DType: tensor.F32, Value: make([]float64, n), Axes: axes}
		got := tensor.New(tensor.F32, n)
		for i := range n {
			got.SetFloat(i, 1)
		}
		p, _, err := Locate(e, got, Options{Poison: []byte{0}, Block: 1, Wave: 1})
		if err != nil {
			t.Errorf("%v: %v", axes, err)
		}
		if axes != nil && len(p.Axes) != len(axes) {
			t.Errorf("%v: pattern %+v", axes, p)
		}
	}
}

// TestLocateTies: wrong indices of equal elements are told from wrong ones.
func TestLocateTies(t *testing.T) {
	x := []float64{1, 7, 7, 3, 7, 0}
	indices := func(k ...uint64) *tensor.Tensor {
		t := tensor.New(tensor.U32, len(k))
		for i, v := range k {
			t.SetBits(i, v)
		}
		return t
	}
	e := &Expected{DType: tensor.U32, Exact: indices(2, 2), Axes: []Axis{{"out", 2}},
		Tied: func(_ int, k uint64) bool { return x[k] == 7 }}
	const tied = "ties are broken in another order"
	for _, tt := range []struct {
		got  []uint64
		want bool
	}{{[]uint64{1, 4}, true}, {[]uint64{1, 3}, false}} {
		j, err := Judge(e, indices(tt.got...), nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(j.Hints, "\n"), tied); got != tt.want || j.Verdict != Mismatch {
			t.Errorf("%v: got %s, %q, want %q in it: %v", tt.got, j.Verdict, j.Hints, tied, tt.want)
		}
	}
}
