package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A bench makes outputs of 1024 elements of about 1 whose bound is 4 ulp.
type bench struct {
	e    *Expected
	rand *rand.Rand
}

func newBench(d tensor.DType, n int) *bench {
	b := &bench{&Expected{DType: d, Value: make([]float64, n), Hard: make([]float64, n), ULP: true}, rand.New(rand.NewPCG(9, 9))}
	for i := range n {
		v := 1 + b.rand.Float64()
		if b.rand.IntN(2) == 0 {
			v = -v
		}
		b.e.Value[i] = v
		b.e.Hard[i] = 4 * d.ULP(v)
	}
	return b
}

// out is the truth with f's error in ulp added, rounded to nearest.
func (b *bench) out(f func(i int) float64) *tensor.Tensor {
	t := tensor.New(b.e.DType, len(b.e.Value))
	for i, v := range b.e.Value {
		t.SetFloat(i, v+f(i)*b.e.DType.ULP(v))
	}
	return t
}

func right(int) float64 { return 0 }

// noise is normal errors of the given deviation, cut where the bound is.
func (b *bench) noise(dev float64) func(int) float64 {
	return func(int) float64 { return max(-3, min(3, dev*b.rand.NormFloat64())) }
}

func at(k int, f float64) func(int) float64 {
	return func(i int) float64 {
		if i == k {
			return f
		}
		return 0
	}
}

// truncated is the truth rounded toward zero.
func (b *bench) truncated() *tensor.Tensor {
	t := b.out(right)
	for i, v := range b.e.Value {
		if math.Abs(t.Float(i)) > math.Abs(v) {
			t.SetBits(i, t.Bits(i)-1)
		}
	}
	return t
}

// halfDown is what a factor that is too small by a relative error leaves, of
// half an ulp in the middle of the binade.
func halfDown(b *bench) *tensor.Tensor {
	return b.out(func(i int) float64 { return -math.Copysign(math.Abs(b.e.Value[i])/3, b.e.Value[i]) })
}

func TestJudge(t *testing.T) {
	const n = 1024
	f32 := func() *bench { return newBench(tensor.F32, n) }
	for _, test := range []struct {
		name   string
		b      *bench
		change func(e *Expected)
		got    func(b *bench) *tensor.Tensor
		other  func(b *bench) *tensor.Tensor
		opts   Options
		want   Verdict
		status Status
		flags  []Verdict
	}{
		{name: "same bits", b: f32(), got: out(right), other: out(right), want: BitExact, status: Pass},
		{name: "one bit differs", b: f32(), got: out(at(5, 1)), other: out(right), want: WithinBound, status: Pass},
		{name: "same bits within the bound", b: f32(), got: out(at(5, 3)), other: out(at(5, 3)), want: BitExact, status: Pass},
		{name: "no counterpart, correctly rounded", b: f32(), got: out(right), want: BitExact, status: Pass},
		{name: "no counterpart, one ulp", b: f32(), got: out(at(5, 1)), want: WithinBound, status: Pass},

		{name: "over the bound", b: f32(), got: out(at(5, 5)), other: out(right), want: Mismatch, status: Fail},
		{name: "within the bound by half an ulp", b: f32(), got: out(at(5, 3.4)), other: out(right), want: WithinBound, status: Pass},
		{name: "over the bound, no counterpart", b: f32(), got: out(at(5, 5)), want: Mismatch, status: Fail},
		{name: "both over the bound, apart", b: f32(), got: out(at(5, 50)), other: out(at(5, -50)), want: Mismatch, status: Fail},
		{name: "both over the bound in other elements", b: f32(), got: out(at(5, 50)), other: out(at(6, 50)), want: Mismatch, status: Fail, flags: []Verdict{ReferenceSuspect}},
		{name: "NaN", b: f32(), got: out(at(5, nan)), other: out(right), want: Mismatch, status: Fail},
		{name: "infinity", b: f32(), got: out(at(5, inf)), other: out(right), want: Mismatch, status: Fail},

		{name: "both off alike", b: f32(), got: out(at(5, 50)), other: out(at(5, 50)), want: SpecMismatch, status: Warn, flags: []Verdict{BitExact}},
		{name: "both off within a bound of each other", b: f32(), got: out(at(5, 50)), other: out(at(5, 53)), want: SpecMismatch, status: Warn},
		{name: "both off just past a bound of each other", b: f32(), got: out(at(5, 50)), other: out(at(5, 56)), want: Mismatch, status: Fail},
		{name: "both NaN", b: f32(), got: out(at(5, nan)), other: out(at(5, nan)), want: SpecMismatch, status: Warn, flags: []Verdict{BitExact}},
		{name: "alike in one, b alone in another", b: f32(), got: out(func(i int) float64 { return at(5, 50)(i) + at(6, 50)(i) }), other: out(at(5, 50)), want: Mismatch, status: Fail},
		{name: "both never written", b: f32(), got: filledWith(0xff, 5), other: filledWith(0xff, 5), opts: Options{Poison: []byte{0xff}}, want: Mismatch, status: Fail, flags: []Verdict{BitExact}},
		{name: "both unwritten, fill unknown", b: f32(), got: filledWith(0xff, 5), other: filledWith(0xff, 5), want: SpecMismatch, status: Warn, flags: []Verdict{BitExact}},

		{name: "counterpart off", b: f32(), got: out(right), other: out(at(5, 50)), want: ReferenceSuspect, status: Warn, flags: []Verdict{WithinBound}},
		{name: "counterpart NaN", b: f32(), got: out(right), other: out(at(5, nan)), want: ReferenceSuspect, status: Warn, flags: []Verdict{WithinBound}},
		{name: "counterpart just within", b: f32(), got: out(right), other: out(at(5, 3.4)), want: WithinBound, status: Pass},
		{name: "both alike, counterpart in more", b: f32(), got: out(at(5, 50)), other: out(func(i int) float64 { return at(5, 50)(i) + at(6, 50)(i) }), want: SpecMismatch, status: Warn, flags: []Verdict{ReferenceSuspect}},

		{name: "larger rms", b: f32(), got: noise(1), other: noise(0.1), want: Worse, status: Warn},
		{name: "rms not twice", b: f32(), got: noise(0.6), other: noise(0.4), want: WithinBound, status: Pass},
		{name: "rms below the floor", b: f32(), got: noise(0.4), other: noise(0), want: WithinBound, status: Pass},
		{name: "larger rms in shares", b: f32(), change: wide, got: out(spread(20)), other: out(spread(2)), want: Worse, status: Warn},
		{name: "larger rms of few rows", b: f32(), change: func(e *Expected) { e.Group = n / 8 }, got: noise(1), other: noise(0.1), want: WithinBound, status: Pass},
		{name: "larger rms of few elements", b: newBench(tensor.F32, 10), got: noise(1), other: noise(0.1), want: WithinBound, status: Pass},
		{name: "rare but large", b: f32(), change: wide, got: out(each(200, 40)), other: out(right), want: Worse, status: Warn},
		{name: "rare, in the tail alone", b: f32(), change: wide, got: out(each(500, 14)), other: out(right), want: Worse, status: Warn},
		{name: "rare, below the tail's floor", b: f32(), change: wide, got: out(each(500, 9)), other: out(right), want: WithinBound, status: Pass},
		{name: "counterpart exact, rms just over a quarter ulp", b: f32(), change: whole, got: out(each(13, 1)), other: out(right), want: Worse, status: Warn},
		{name: "counterpart exact, rms just below", b: f32(), change: whole, got: out(each(17, 1)), other: out(right), want: WithinBound, status: Pass},
		{name: "rare and small", b: f32(), change: wide, got: out(each(200, 3)), other: out(right), want: WithinBound, status: Pass},
		{name: "truncates", b: newBench(tensor.F32, 1<<16), got: (*bench).truncated, other: out(right), want: Worse, status: Warn},
		{name: "both truncate", b: newBench(tensor.F32, 1<<16), got: (*bench).truncated, other: (*bench).truncated, want: BitExact, status: Pass},
		{name: "biased upward", b: newBench(tensor.F32, 1<<16), got: out(func(i int) float64 { return 0.3 }), other: out(right), want: Worse, status: Warn},
		{name: "biased less than the floor", b: newBench(tensor.F32, 1<<16), got: out(func(i int) float64 { return 0.03 }), other: out(right), want: WithinBound, status: Pass},

		{name: "smaller rms", b: f32(), got: noise(0.1), other: noise(1), want: Better, status: Pass},
		{name: "rms not half", b: f32(), got: noise(0.4), other: noise(0.6), want: WithinBound, status: Pass},
		{name: "does not truncate", b: newBench(tensor.F32, 1<<16), got: out(right), other: (*bench).truncated, want: Better, status: Pass},

		{name: "half type truncates, alone", b: newBench(tensor.F16, n), got: (*bench).truncated, want: Mismatch, status: Fail, flags: []Verdict{Worse}},
		{name: "half type truncates", b: newBench(tensor.BF16, n), got: (*bench).truncated, other: out(right), want: Mismatch, status: Fail, flags: []Verdict{Worse}},
		{name: "both halves truncate", b: newBench(tensor.BF16, n), got: (*bench).truncated, other: (*bench).truncated, want: BitExact, status: Pass},
		{name: "half type truncates in few elements", b: newBench(tensor.F16, 200), got: (*bench).truncated, want: WithinBound, status: Pass},
		{name: "half type errs by half an ulp", b: newBench(tensor.F16, n), got: halfDown, want: Worse, status: Warn},
		{name: "half type rounds, alone", b: newBench(tensor.F16, n), got: out(right), want: BitExact, status: Pass},
		{name: "half type, within an ulp, alone", b: newBench(tensor.F16, n), got: noise(0.4), want: WithinBound, status: Pass},
		{name: "2 % not nearest", b: newBench(tensor.F16, 1<<15), change: nearest, got: out(each(50, 1)), want: Worse, status: Warn},
		{name: "1 % not nearest", b: newBench(tensor.F16, 1<<15), change: nearest, got: out(each(101, 1)), want: WithinBound, status: Pass},
		{name: "2 % not nearest on both sides", b: newBench(tensor.F16, 1<<15), change: nearest, got: out(each(50, 1)), other: out(each(51, 1)), want: WithinBound, status: Pass},
		{name: "2 % not nearest, no limit", b: newBench(tensor.F16, 1<<15), got: out(each(50, 1)), want: WithinBound, status: Pass},
		{name: "over the likely bound often", b: f32(), change: likely, got: noise(2), want: Worse, status: Warn},
		{name: "over the likely bound once", b: f32(), change: likely, got: out(at(5, 3)), want: WithinBound, status: Pass},

		{name: "ill-conditioned", b: f32(), change: mark(5, IllConditioned), got: out(at(5, 1e6)), other: out(right), want: IllCond, status: Warn, flags: []Verdict{WithinBound}},
		{name: "ill-conditioned and wrong elsewhere", b: f32(), change: mark(5, IllConditioned), got: out(at(6, 1e6)), other: out(right), want: Mismatch, status: Fail, flags: []Verdict{IllCond}},
		{name: "undefined", b: f32(), change: mark(5, Undefined), got: out(at(5, 1e6)), other: out(right), want: UBDivergent, status: Warn, flags: []Verdict{WithinBound}},
		{name: "undefined, both alike", b: f32(), change: mark(5, Undefined), got: out(at(5, 1e6)), other: out(at(5, 1e6)), want: UBDivergent, status: Warn, flags: []Verdict{BitExact}},
		{name: "undefined, alone", b: f32(), change: mark(5, Undefined), got: out(right), want: UBDivergent, status: Warn, flags: []Verdict{BitExact}},

		{name: "bit-exact op, other bits", b: f32(), got: out(at(5, 1)), other: out(right), opts: Options{BitExact: true}, want: Mismatch, status: Fail},
		{name: "bit-exact op, same bits", b: f32(), got: out(at(5, 1)), other: out(at(5, 1)), opts: Options{BitExact: true}, want: BitExact, status: Pass},
	} {
		if test.change != nil {
			test.change(test.b.e)
		}
		got := test.got(test.b)
		var other *tensor.Tensor
		if test.other != nil {
			other = test.other(test.b)
		}
		j, err := Judge(test.b.e, got, other, test.opts)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if j.Verdict != test.want || j.Status != test.status {
			t.Errorf("%s: got %s %s, want %s %s\n%s\n%v", test.name, j.Verdict, j.Status, test.want, test.status, j.Sides, j.Warnings)
		}
		if !slices.Equal(j.Flags, test.flags) {
			t.Errorf("%s: flags %v, want %v", test.name, j.Flags, test.flags)
		}
		if (j.Verdict == Mismatch && j.Accuracy.Mismatches > 0) != (j.Pattern != nil) && j.Verdict != SpecMismatch {
			t.Errorf("%s: pattern %v of a %s", test.name, j.Pattern, j.Verdict)
		}
	}
}

func out(f func(int) float64) func(*bench) *tensor.Tensor {
	return func(b *bench) *tensor.Tensor { return b.out(f) }
}

func noise(dev float64) func(*bench) *tensor.Tensor {
	return func(b *bench) *tensor.Tensor { return b.out(b.noise(dev)) }
}

// spread is errors of every size up to f ulp either way.
func spread(f float64) func(int) float64 {
	return func(i int) float64 { return f * (float64(i*37%201)/100 - 1) }
}

// each is an error of f ulp in every k-th element, its sign alternating.
func each(k int, f float64) func(int) float64 {
	return func(i int) float64 {
		if i%k != 0 {
			return 0
		}
		if i/k%2 == 0 {
			return -f
		}
		return f
	}
}

func filledWith(f byte, i int) func(*bench) *tensor.Tensor {
	return func(b *bench) *tensor.Tensor {
		t := b.out(right)
		t.SetBits(i, filled(f, t.DType))
		return t
	}
}

// wide makes the bound 100 ulp, measured in shares.
func wide(e *Expected) {
	e.ULP = false
	for i := range e.Hard {
		e.Hard[i] *= 25
	}
}

// whole makes the truths numbers of the type, so that one side may be
// exact, and the bound 100 ulp.
func whole(e *Expected) {
	for i, v := range e.Value {
		e.Value[i] = e.DType.Round(v)
		e.Hard[i] *= 25
	}
}

func nearest(e *Expected) { e.MaxNotNearest = 0.01 }

func likely(e *Expected) {
	for _, h := range e.Hard {
		e.Likely = append(e.Likely, h/2)
	}
}

func mark(i int, m Mark) func(*Expected) {
	return func(e *Expected) {
		e.Mark = make([]Mark, len(e.Value))
		e.Mark[i] = m
	}
}

func TestJudgeExact(t *testing.T) {
	want := []float64{1, 0, nan, inf, 5, 6, 7, neg}
	for _, test := range []struct {
		name       string
		got, other []float64
		strict     bool
		want       Verdict
		flags      []Verdict
	}{
		{"equal", want, want, true, BitExact, nil},
		{"one off", []float64{1, 0, nan, inf, 5, 6, 8, neg}, want, false, Mismatch, nil},
		{"NaN lost", []float64{1, 0, 3, inf, 5, 6, 7, neg}, want, false, Mismatch, nil},
		{"infinity lost", []float64{1, 0, nan, math.MaxFloat32, 5, 6, 7, neg}, want, false, Mismatch, nil},
		{"zero sign, lax", []float64{1, 0, nan, inf, 5, 6, 7, 0}, want, false, BitExact, nil},
		{"zero sign, strict", []float64{1, 0, nan, inf, 5, 6, 7, 0}, want, true, Mismatch, nil},
		{"both the other zero, strict", []float64{1, 0, nan, inf, 5, 6, 7, 0}, []float64{1, 0, nan, inf, 5, 6, 7, 0}, true, SpecMismatch, []Verdict{BitExact}},
		{"reference off", want, []float64{1, 0, nan, inf, 5, 6, 8, neg}, false, ReferenceSuspect, []Verdict{WithinBound}},
		{"both off alike", []float64{1, 0, nan, inf, 5, 6, 8, neg}, []float64{1, 0, nan, inf, 5, 6, 8, neg}, false, SpecMismatch, []Verdict{BitExact}},
		{"both off apart", []float64{1, 0, nan, inf, 5, 6, 8, neg}, []float64{1, 0, nan, inf, 5, 6, 9, neg}, false, Mismatch, nil},
	} {
		e := &Expected{DType: tensor.F32, Exact: tensor.FromFloats(tensor.F32, want, 8), SignedZero: test.strict}
		j, err := Judge(e, tensor.FromFloats(tensor.F32, test.got, 8), tensor.FromFloats(tensor.F32, test.other, 8), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != test.want || !slices.Equal(j.Flags, test.flags) {
			t.Errorf("%s: got %s %v, want %s %v (%s)", test.name, j.Verdict, j.Flags, test.want, test.flags, j.Sides)
		}
	}
}

func TestJudgeMistrusted(t *testing.T) {
	const n = 64
	fill := func(v, hard float64) func(e *Expected) {
		return func(e *Expected) {
			for i := range n {
				e.Value[i], e.Hard[i] = v, hard
			}
		}
	}
	input := func(b *bench) []Input { return []Input{{"scale", tensor.New(tensor.F32, 2)}, {"x", b.out(right)}} }
	for _, test := range []struct {
		name   string
		change func(e *Expected)
		inputs bool
		poison []byte
		want   bool
	}{
		{"distinct values", func(*Expected) {}, false, []byte{0xff, 0}, false},
		{"zeros", fill(0, 0), false, nil, true},
		{"zeros within the bound", func(e *Expected) {
			for i := range n {
				e.Hard[i] = 3
			}
		}, false, nil, true},
		{"one bound below its value", func(e *Expected) {
			for i := range n {
				e.Value[i], e.Hard[i] = math.Copysign(1, e.Value[i]), 3
			}
			e.Hard[17] = 0.5
			e.Value[18], e.Hard[18] = -e.Value[17], 0.5
		}, false, nil, false},
		{"one value", fill(1, 0), false, nil, true},
		{"one value but for one", func(e *Expected) { fill(1, 0)(e); e.Value[3] = 2 }, false, nil, false},
		{"one value within the bounds", func(e *Expected) {
			for i := range n {
				e.Value[i], e.Hard[i] = 1+float64(i)/n, 0.51
			}
		}, false, nil, true},
		{"one value not within the bounds", func(e *Expected) {
			for i := range n {
				e.Value[i], e.Hard[i] = 1+float64(i)/n, 0.49
			}
		}, false, nil, false},
		{"all NaN", fill(nan, 0), false, nil, true},
		{"NaN but for one", func(e *Expected) { fill(nan, 0)(e); e.Value[63] = 1 }, false, nil, false},
		{"all infinite", fill(inf, 0), false, nil, true},
		{"one value on purpose", func(e *Expected) { fill(1, 0)(e); e.Degenerate = true }, false, nil, false},
		{"NaN allowed, filled with NaN", func(e *Expected) { e.Allow = slices.Repeat([]Class{NaN}, n) }, false, []byte{0xff}, true},
		{"NaN allowed, one value", func(e *Expected) { e.Allow = slices.Repeat([]Class{NaN}, n) }, false, nil, true},
		{"NaN allowed but for one", func(e *Expected) { e.Allow = slices.Repeat([]Class{NaN}, n); e.Allow[17] = 0 }, false, []byte{0xff}, false},
		{"copies an input", func(e *Expected) {}, true, nil, true},
		{"copies an input on purpose", func(e *Expected) { e.Identity = true }, true, nil, false},
	} {
		b := newBench(tensor.F32, n)
		test.change(b.e)
		opts := Options{Poison: test.poison}
		if test.inputs {
			opts.Inputs = input(b)
		}
		got := tensor.FromFloats(tensor.F32, b.e.Value, n)
		j, err := Judge(b.e, got, got, opts)
		if err != nil {
			t.Fatal(err)
		}
		if is := j.Verdict == Mistrusted && j.Status == Warn; is != test.want {
			t.Errorf("%s: got %s %s %v, want mistrusted: %v", test.name, j.Verdict, j.Status, j.Warnings, test.want)
		}
	}
}

// A small or empty output is no reason for mistrust.
func TestJudgeSmall(t *testing.T) {
	for n := range fewest {
		b := newBench(tensor.F32, n)
		for i := range n {
			b.e.Value[i], b.e.Hard[i] = 1, 0x1p-23
		}
		got := b.out(right)
		j, err := Judge(b.e, got, got, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != BitExact || j.Status != Pass || len(j.Flags) != 0 {
			t.Errorf("%d elements: got %s %v, want %s", n, j.Verdict, j.Flags, BitExact)
		}
		if n > 0 {
			got = b.out(at(n-1, nan))
			if j, _ = Judge(b.e, got, nil, Options{}); j.Status != Fail {
				t.Errorf("%d elements, one NaN: got %s", n, j.Status)
			}
		}
	}
}

func TestJudgeRepeats(t *testing.T) {
	b := newBench(tensor.F32, 256)
	same, near, off := b.out(right), b.out(at(7, 2)), b.out(at(7, 20))
	for _, test := range []struct {
		name    string
		repeats []*tensor.Tensor
		may     bool
		want    Verdict
		status  Status
		differ  int
	}{
		{"repeats agree", []*tensor.Tensor{same, same.Clone()}, false, BitExact, Pass, 0},
		{"one differs", []*tensor.Tensor{same, near}, false, Nondeterministic, Fail, 1},
		{"one differs, as declared", []*tensor.Tensor{same, near}, true, WithinBound, Pass, 1},
		{"one is off", []*tensor.Tensor{same, off}, true, Mismatch, Fail, 1},
		{"one is off, undeclared", []*tensor.Tensor{off, same}, false, Mismatch, Fail, 1},
	} {
		j, err := Judge(b.e, same, same, Options{Repeats: test.repeats, Nondeterministic: test.may})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != test.want || j.Status != test.status || j.Spread.Differ != test.differ || j.Spread.Runs != 3 {
			t.Errorf("%s: got %s %s, spread %+v, want %s %s, %d", test.name, j.Verdict, j.Status, j.Spread, test.want, test.status, test.differ)
		}
	}
	if _, err := Judge(b.e, same, nil, Options{Repeats: []*tensor.Tensor{tensor.New(tensor.F32, 3)}}); err == nil {
		t.Error("a short repeat must be an error")
	}
}

func TestRepeats(t *testing.T) {
	e := &Expected{DType: tensor.F32, Value: []float64{1, 1, 1, 1}, Hard: []float64{1, 1, 0, 1}, Mark: []Mark{0, 0, 0, Undefined}}
	outs := func(rows ...[]float64) []*tensor.Tensor {
		var ts []*tensor.Tensor
		for _, r := range rows {
			ts = append(ts, tensor.FromFloats(tensor.F32, r, 4))
		}
		return ts
	}
	for _, test := range []struct {
		outs   []*tensor.Tensor
		differ int
		first  int
		abs    float64
		share  float64
	}{
		{outs([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}), 0, -1, 0, 0},
		{outs([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 5}), 0, -1, 0, 0},
		{outs([]float64{1, 2, 3, 4}, []float64{1, 2.5, 3, 4}, []float64{1, 1.5, 3, 4}), 1, 1, 1, 1},
		{outs([]float64{1, 2, 3, 4}, []float64{1, 2, 4, 4}), 1, 2, 1, inf},
		{outs([]float64{1, 2, 3, 4}, []float64{nan, 2, 3, 4}), 1, 0, inf, inf},
		{outs([]float64{nan, 2, 3, 4}, []float64{nan, 2, 3, 4}), 0, -1, 0, 0},
		{outs([]float64{1, 0, 3, 4}, []float64{1, neg, 3, 4}), 0, -1, 0, 0},
		{outs([]float64{1, inf, 3, 4}, []float64{1, -inf, 3, 4}), 1, 1, inf, inf},
	} {
		s, err := Repeats(e, test.outs)
		if err != nil {
			t.Fatal(err)
		}
		if s.Differ != test.differ || s.First != test.first || float64(s.MaxAbs) != test.abs || float64(s.Share) != test.share {
			t.Errorf("got %+v, want %d differing from %d on, by %v, share %v", s, test.differ, test.first, test.abs, test.share)
		}
	}
}

func TestJudgeNoTruth(t *testing.T) {
	a := tensor.FromFloats(tensor.F32, []float64{1, 2, 3}, 3)
	for _, test := range []struct {
		got   []float64
		bound []float64
		want  Verdict
	}{
		{[]float64{1, 2, 3}, nil, BitExact},
		{[]float64{1, 2, 3.5}, nil, Mismatch},
		{[]float64{1, 2, 3.5}, []float64{0.25, 0.25, 0.25}, WithinBound},
		{[]float64{1, 2, 3.5}, []float64{0.25, 0.25, 0.24}, Mismatch},
		{[]float64{1, nan, 3}, []float64{9, 9, 9}, Mismatch},
	} {
		j, err := JudgeNoTruth(tensor.FromFloats(tensor.F32, test.got, 3), a, test.bound, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != test.want {
			t.Errorf("%v, bound %v: got %s, want %s", test.got, test.bound, j.Verdict, test.want)
		}
	}
	if _, err := JudgeNoTruth(tensor.New(tensor.F32, 2), a, nil, Options{}); err == nil {
		t.Error("a short output must be an error")
	}
}

func TestSides(t *testing.T) {
	b := newBench(tensor.F32, 256)
	for _, test := range []struct {
		got, other *tensor.Tensor
		want       string
	}{
		{b.out(at(3, 20)), b.out(right), ": HIP is off"},
		{b.out(right), b.out(at(3, 20)), ": CUDA is off"},
		{b.out(at(3, 20)), b.out(at(3, 20)), ": both are off alike"},
		{b.out(at(3, 20)), b.out(at(3, -20)), ": both are off, and differ"},
		{b.out(at(3, 1)), b.out(right), ": both are within the bound"},
		{b.out(right), b.out(right), ": the same bits"},
		{b.out(at(3, 1)), nil, "from the truth: within the bound"},
		{b.out(at(3, 20)), nil, "from the truth: HIP is off"},
	} {
		j, err := Judge(b.e, test.got, test.other, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(j.Sides, test.want) {
			t.Errorf("got %q, want it to end in %q", j.Sides, test.want)
		}
	}
	j, _ := Judge(b.e, b.out(at(3, 20)), b.out(at(3, 2)), Options{Name: "hip@gfx90a", Other: "cuda@rec"})
	if want := "hip@gfx90a 19.9 ulp"; !strings.HasPrefix(j.Sides, want) || !strings.Contains(j.Sides, ", cuda@rec 1.88 ulp from the truth:") {
		t.Errorf("got %q, want the distance in ulp of both sides", j.Sides)
	}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name         string
		d            tensor.DType
		a, b         uint64
		equal, zeros int
		ulp          float64
		first        int
	}{
		{"same", tensor.F32, 0x3f800000, 0x3f800000, 1, 0, 0, -1},
		{"next", tensor.F32, 0x3f800000, 0x3f800001, 0, 0, 1, 0},
		{"zeros", tensor.F32, 0, 0x80000000, 0, 1, 0, 0},
		{"around zero", tensor.F32, 1, 0x80000001, 0, 0, 2, 0},
		{"NaNs", tensor.F32, 0x7fc00000, 0xffc00123, 1, 0, 0, -1},
		{"NaN and number", tensor.F32, 0x7fc00000, 0x3f800000, 0, 0, inf, 0},
		{"infinities", tensor.F32, 0x7f800000, 0xff800000, 0, 0, inf, 0},
		{"infinity and max", tensor.F16, 0x7c00, 0x7bff, 0, 0, inf, 0},
		{"e4m3", tensor.F8E4M3, 0x7f, 0xff, 1, 0, 0, -1},
		{"u8", tensor.U8, 3, 250, 0, 0, 247, 0},
		{"i64", tensor.I64, 1 << 63, 1<<63 - 1, 0, 0, 0x1p64, 0},
		{"i32", tensor.I32, 0xffffffff, 1, 0, 0, 2, 0},
	} {
		a, b := tensor.New(test.d, 1), tensor.New(test.d, 1)
		a.SetBits(0, test.a)
		b.SetBits(0, test.b)
		for range 2 {
			m := Compare(a, b)
			if m.N != 1 || m.Equal != test.equal || m.ZeroSign != test.zeros || float64(m.MaxULP) != test.ulp || m.FirstDiff != test.first {
				t.Errorf("%s: got %+v, want equal %d, zeros %d, ulp %v, first %d", test.name, m, test.equal, test.zeros, test.ulp, test.first)
			}
			a, b = b, a
		}
	}
}

// The headline is the first in precedence and the status the worst.
func TestPrecedence(t *testing.T) {
	for i, v := range precedence {
		for _, w := range precedence[i+1:] {
			if v.Status() == Pass && w.Status() != Pass {
				t.Errorf("%s stands before %s, which does not pass", v, w)
			}
		}
	}
	if got := Pass.worst(Fail).worst(Warn); got != Fail {
		t.Errorf("worst of the statuses = %s, want %s", got, Fail)
	}
}

// Zeros and integers that both sides give may be meant, though an output
// was filled with them.
func TestAgreeOnFill(t *testing.T) {
	for _, test := range []struct {
		d      tensor.DType
		poison byte
		want   Verdict
	}{
		{tensor.F32, 0, SpecMismatch},
		{tensor.F32, 0xff, Mismatch},
		{tensor.U8, 0xff, SpecMismatch},
	} {
		got := tensor.New(test.d, 4)
		got.SetBits(2, filled(test.poison, test.d))
		truth := got.Clone()
		truth.SetBits(0, 1)
		truth.SetBits(2, 5)
		got.SetBits(0, 1)
		e := &Expected{DType: test.d, Exact: truth}
		j, err := Judge(e, got, got.Clone(), Options{Poison: []byte{test.poison}})
		if err != nil {
			t.Fatal(err)
		}
		if j.Verdict != test.want {
			t.Errorf("%s filled with %02x: got %s, want %s", test.d, test.poison, j.Verdict, test.want)
		}
	}
}

// Whatever lies in the outputs, the judge neither panics nor passes an
// output that has a mismatch, and its hints are few.
func FuzzJudge(f *testing.F) {
	f.Add(uint8(1), uint8(2), uint8(3), []byte("some bytes of some outputs, to be cut into elements"), int16(3))
	f.Add(uint8(2), uint8(4), uint8(1), []byte{0xff, 0xff, 0, 0, 0xff, 0xff, 0x80, 0x7f}, int16(0))
	f.Add(uint8(6), uint8(1), uint8(5), []byte("integers"), int16(-1))
	f.Fuzz(func(t *testing.T, kind, rows, cols uint8, data []byte, bound int16) {
		d := []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.F8E4M3, tensor.I64, tensor.U8}[kind%7]
		n := int(rows%16) * int(cols%16)
		var side [3]*tensor.Tensor
		for k := range side {
			side[k] = tensor.New(d, n)
			for i := range side[k].Data {
				if len(data) > 0 {
					side[k].Data[i] = data[(i+k*int(bound&3))%len(data)]
				}
			}
		}
		e := &Expected{DType: d, Axes: []Axis{{"row", int(rows % 16)}, {"col", int(cols % 16)}}, SignedZero: bound&4 != 0, ULP: bound&8 != 0, Group: int(bound & 7)}
		if d.IsFloat() && bound >= 0 {
			e.Value = side[0].Floats()
			for i, v := range e.Value {
				e.Hard = append(e.Hard, math.Abs(v)*float64(bound)*0x1p-12)
				if math.IsNaN(e.Hard[i]) {
					e.Hard[i] = 0
				}
			}
			e.Likely = e.Hard
		} else {
			e.Exact = side[0]
		}
		opts := Options{Poison: []byte{0xff, 0}, Block: int(cols), Wave: int(rows), Repeats: []*tensor.Tensor{side[2]}, Inputs: []Input{{"x", side[2]}}}
		for _, other := range []*tensor.Tensor{nil, side[2]} {
			j, err := Judge(e, side[1], other, opts)
			if err != nil {
				t.Fatal(err)
			}
			if j.Verdict == "" || len(j.Hints) > maxHints || j.Accuracy.Mismatches > 0 && j.Status == Pass {
				t.Errorf("got %+v", j)
			}
			if other == nil && j.Accuracy.Mismatches > 0 && j.Status != Fail {
				t.Errorf("%d mismatches: got %s", j.Accuracy.Mismatches, j.Status)
			}
		}
		if j, err := Judge(e, side[0], side[0], Options{}); err != nil || j.Status == Fail {
			t.Errorf("the truth itself: %+v, %v", j, err)
		}
	})
}

// A counterpart of another arithmetic is held to its own bound.
func TestJudgeOtherArithmetic(t *testing.T) {
	b := newBench(tensor.F32, 64)
	wide := *b.e
	wide.Hard = make([]float64, len(b.e.Hard))
	for i, h := range b.e.Hard {
		wide.Hard[i] = 10 * h
	}
	got, other := b.out(right), b.out(at(5, 9))
	for _, c := range []struct {
		expected *Expected
		want     Verdict
	}{{nil, ReferenceSuspect}, {&wide, Better}} {
		j, err := Judge(b.e, got, other, Options{OtherExpected: c.expected})
		if err != nil || j.Verdict != c.want {
			t.Errorf("got %s, %v, want %s", j.Verdict, err, c.want)
		}
	}
	// And the output itself to the narrow one.
	if j, err := Judge(b.e, other, got, Options{OtherExpected: &wide}); err != nil || j.Verdict != Mismatch {
		t.Errorf("got %s, %v, want %s", j.Verdict, err, Mismatch)
	}
}

// Float accuracy in a double kernel is said, and nothing that counts.
func TestJudgeComputed(t *testing.T) {
	b := newBench(tensor.F64, 64)
	plain, err := Judge(b.e, b.out(right), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.e.Computed = tensor.F32
	j, err := Judge(b.e, b.out(right), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if j.Status != plain.Status || j.Verdict != plain.Verdict || len(j.Warnings) != 1 || j.Warnings[0].Code != "computed_in" || !strings.Contains(j.Warnings[0].Text, "2^29 of f64") {
		t.Errorf("got %s, %s, %v, want %s, %s and a note", j.Status, j.Verdict, j.Warnings, plain.Status, plain.Verdict)
	}
}

// A single element past the bound of shared sums is a warning with its
// reason, though it is within the hard bound; one past that is a fault.
func TestJudgeOneChain(t *testing.T) {
	e := &Expected{DType: tensor.F32, Value: make([]float64, 1000), Hard: make([]float64, 1000), Shared: make([]float64, 1000), Terms: 512}
	got := tensor.New(tensor.F32, 1000)
	for i := range e.Value {
		e.Value[i], e.Hard[i], e.Shared[i] = float64(i+1), 8, 1
		got.SetFloat(i, float64(i+1))
	}
	for _, c := range []struct {
		off  float64
		want Verdict
	}{{1, WithinBound}, {2, Worse}, {8, Worse}, {9, Mismatch}} {
		got.SetFloat(500, 501+c.off)
		j, err := Judge(e, got, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(j.Warnings, func(w Warning) bool {
			return w.Code == "one_chain" && strings.Contains(w.Text, "1 of 1000") && strings.Contains(w.Text, "512 terms")
		})
		if j.Verdict != c.want || warned != (c.want == Worse) {
			t.Errorf("off by %v: %s, %v; want %s", c.off, j.Verdict, j.Warnings, c.want)
		}
	}
	e.Shared = e.Shared[:3]
	if _, err := Judge(e, got, nil, Options{}); err == nil {
		t.Error("a short bound of shared sums is no error")
	}
}
