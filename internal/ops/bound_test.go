package ops

import (
	"math"
	"slices"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// Rows whose additions go wrong in one direction, for one chain and for
// others, and rows of everyday.
func hardRows(r *Rand, n int) map[string][]float64 {
	rows := map[string][]float64{"lost": nil, "half an ulp": nil, "growing": nil, "equal": nil, "uniform": nil, "signs": nil, "one": nil}
	for i := range n {
		// Terms just too small to count beside 1; half an ulp and a little of
		// what is there already, which rounds up each time.
		rows["lost"] = append(rows["lost"], 0x1p-24*0.999)
		rows["half an ulp"] = append(rows["half an ulp"], float64(float32(0x1p-24*1.001)))
		rows["growing"] = append(rows["growing"], float64(float32(1+float64(i)*0x1p-23)))
		rows["equal"] = append(rows["equal"], float64(float32(0.1)))
		rows["uniform"] = append(rows["uniform"], float64(float32(r.Float64())))
		rows["signs"] = append(rows["signs"], float64(float32(r.Normal())))
		rows["one"] = append(rows["one"], 0)
	}
	for _, name := range []string{"lost", "half an ulp", "one"} {
		rows[name][0] = 1
	}
	return rows
}

// No order of additions is past the bound of any order, and some get near it;
// no order that 32 lanes share is past theirs, and one chain is.
func TestSumming(t *testing.T) {
	random := func(r *Rand) order { // joins two at a time that it draws
		return func(xs []float64, round rounding) float64 {
			xs = slices.Clone(xs)
			for len(xs) > 1 {
				i := r.IntN(len(xs))
				x := xs[i]
				xs[i] = xs[len(xs)-1]
				xs = xs[:len(xs)-1]
				j := r.IntN(len(xs))
				xs[j] = round(xs[j] + x)
			}
			return xs[0]
		}
	}
	r := NewRand(1, "summing")
	any := map[string]order{"sequential": sequential, "backward": backward, "random": random(r)}
	shared := map[string]order{"32 lanes": strided(32), "256 lanes": strided(256), "pairwise": pairwise, "neighbours": chunked}
	var nearest, past float64
	for _, n := range []int{1, 2, 3, 31, 33, 512, 1024, 4096} {
		for name, xs := range hardRows(r, n) {
			var acc truth.Accumulator
			var size float64
			magnitudes := make([]float64, n)
			for i, x := range xs {
				acc.Add(x)
				magnitudes[i] = math.Abs(x)
				size += magnitudes[i]
			}
			exact := acc.Sum()
			off := func(add order) float64 {
				return math.Abs(truth.FromSum(add(xs, float), -exact.Hi).AddFloat(-exact.Lo).Hi) / size
			}
			anyOrder := newRow(magnitudes, 0).summing(0, u32)
			lanes := newRow(magnitudes, 32).summing(32, u32)
			if lanes.hard != anyOrder.shared || anyOrder.hard < lanes.hard || lanes.likely > lanes.hard {
				t.Errorf("%s, n=%d: bounds %+v of any order, %+v of 32 lanes", name, n, anyOrder, lanes)
			}
			for kind, add := range any {
				e := off(add)
				if e > anyOrder.hard*(1+1e-12) {
					t.Errorf("%s, n=%d, %s: off by %g, bound %g", name, n, kind, e, anyOrder.hard)
				}
				if n > 100 && anyOrder.hard > 0 {
					nearest = max(nearest, e/anyOrder.hard)
					past = max(past, e/lanes.hard)
				}
			}
			for kind, add := range shared {
				if e := off(add); e > lanes.hard*(1+1e-12) {
					t.Errorf("%s, n=%d, %s: off by %g, bound of 32 lanes %g", name, n, kind, e, lanes.hard)
				}
			}
		}
	}
	if nearest < 0.9 || past < 5 {
		t.Errorf("the worst chain takes %.3g of the bound of any order and %.3g of that of 32 lanes, want nearly all and several times", nearest, past)
	}
}

// Few lanes have a bound between those of one chain and of 32, and more than
// 32 one below.
func TestSummingOfLanes(t *testing.T) {
	magnitudes := make([]float64, 4096)
	for i := range magnitudes {
		magnitudes[i] = 1
	}
	last := math.Inf(1)
	for _, lanes := range []int{0, 4, 16, 32, 64, 1024} {
		s := newRow(magnitudes, lanes).summing(lanes, u32)
		if !(s.hard < last) {
			t.Errorf("%d lanes: %g of the sum, with fewer %g", lanes, s.hard, last)
		}
		last = s.hard
	}
}

// A sum in one chain is a warning where nothing is declared, with its reason,
// and a fault of a kernel that is declared to share it.
func TestOneChain(t *testing.T) {
	for name, run := range map[string]func(p *Problem) *tensor.Tensor{
		"rms_norm": normKernel{add: sequential}.run,
		"fast_sum": summed(fixed(sequential), false),
	} {
		o := find(t, name)
		for _, n := range []int{512, 1024, 4096} {
			for _, c := range o.Cases(Variant{T: tensor.F32}, Fast) {
				if c.Dim("n") != n || c.Class != "outlier" {
					continue
				}
				p := o.Bind(&c, NewRand(1, c.Name()))
				out := run(p)
				j := judged(t, p, o.Expect(p), out)
				if j.Verdict != compare.Worse || !slices.ContainsFunc(j.Warnings, func(w compare.Warning) bool { return w.Code == "one_chain" }) {
					t.Errorf("%s in one chain: %s, %v", c.Name(), j.Verdict, j.Warnings)
				}
				p.Arithmetic.Lanes = 32
				if j := judged(t, p, o.Expect(p), out); j.Status != compare.Fail {
					t.Errorf("%s in one chain where 32 lanes are declared: %s", c.Name(), j.Verdict)
				}
			}
		}
	}
}

// Whatever the order of additions, a term that is left out of a long sum is a
// fault, and so are a wrong divisor and a misplaced eps: the bound of one
// chain hides none of them.
func TestAnyOrderHidesNoFault(t *testing.T) {
	const n512, n4096 = 512, 4096
	without := func(k int) order { // the column before the last k
		return func(xs []float64, r rounding) float64 {
			at := max(0, len(xs)-1-k)
			return sequential(append(slices.Clone(xs[:at]), xs[at+1:]...), r)
		}
	}
	fails := func(o *Op, d tensor.DType, n int, run func(p *Problem) *tensor.Tensor) bool {
		for _, c := range o.Cases(Variant{T: d}, Fast) {
			if n > 0 && c.Dim("n") != n {
				continue
			}
			p := o.Bind(&c, NewRand(1, c.Name()))
			p.Arithmetic.Half = InFloat // a half rounded in steps may lose it
			if judged(t, p, o.Expect(p), run(p)).Status == compare.Fail {
				return true
			}
		}
		return false
	}
	for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
		for _, n := range []int{n512, n4096} {
			for _, k := range []int{0, 1, 7, 100, n / 2, n - 2} {
				for name, run := range map[string]func(p *Problem) *tensor.Tensor{
					"rms_norm":   normKernel{add: without(k)}.run,
					"layer_norm": normKernel{add: without(k), variance: "twopass"}.run,
					"softmax":    softmaxKernel{add: without(k)}.run,
					"fast_sum":   summed(fixed(without(k)), false),
				} {
					if name == "fast_sum" && d == tensor.BF16 && n == n4096 {
						continue // a 256th of its one element is less than an ulp
					}
					if !fails(find(t, name), d, n, run) {
						t.Errorf("%s/%s: a sum of %d without the term %d before the last passes", name, d, n, k)
					}
				}
			}
		}
		for _, name := range []string{"rms_norm", "layer_norm"} {
			for what, k := range map[string]normKernel{
				"n-1":                  {add: sequential, count: func(n int) float32 { return float32(n - 1) }},
				"eps outside the root": {add: sequential, scale: func(v, eps float32) float32 { return float32(1 / (math.Sqrt(float64(v)) + float64(eps))) }},
			} {
				if !fails(find(t, name), d, 0, k.run) {
					t.Errorf("%s/%s: %s passes", name, d, what)
				}
			}
		}
	}
}
