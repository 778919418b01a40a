package ops

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// expOff is exp in the type of r, k units in the last place off.
func expOff(k int) func(x float64, r rounding) float64 {
	return func(x float64, r rounding) float64 {
		y := r(math.Exp(x))
		if r(1+0x1p-40) == 1 {
			return float64(ulps(float32(y), k))
		}
		return y * (1 + float64(k)*0x1p-52)
	}
}

// A softmaxKernel is an emulated softmax in float32, of f64 in float64,
// but for what a field changes.
type softmaxKernel struct {
	inT    bool // subtracts, exponentiates and scales in the element type, as candle
	add    order
	exp    func(x float64, r rounding) float64
	most   func(xs []float64) float64 // the maximum that is taken off
	finish func(e, sum float64, r rounding) float64
	store  func(d tensor.DType, x float64) float64
	row    func(r int) int // row whose sum is used
}

func largest(xs []float64) float64 {
	m := math.Inf(-1)
	for _, x := range xs {
		if x > m {
			m = x
		}
	}
	return m
}

func (k softmaxKernel) run(p *Problem) *tensor.Tensor {
	rows, n, dt := p.Case.Dim("rows"), p.Case.Dim("n"), p.Case.Variant.T
	src := p.Arg("src").Buf
	out := tensor.New(dt, rows, n)
	add, exp, most, finish, store := k.add, k.exp, k.most, k.finish, k.store
	if add == nil {
		add = strided(32)
	}
	if exp == nil {
		exp = expOff(0)
	}
	if most == nil {
		most = largest
	}
	if finish == nil {
		finish = func(e, sum float64, r rounding) float64 { return r(e * r(1/sum)) }
	}
	if store == nil {
		store = tensor.DType.Round
	}
	r := rounding(float)
	if dt == tensor.F64 {
		r = double
	}
	round := r
	if k.inT {
		round = dt.Round
	}
	es, sums := make([][]float64, rows), make([]float64, rows)
	for i := range rows {
		xs := src.Floats()[i*n : (i+1)*n]
		top := most(xs)
		es[i] = make([]float64, n)
		for j, x := range xs {
			es[i][j] = round(exp(round(x-top), r))
		}
		sums[i] = add(es[i], r)
	}
	for i := range rows {
		sum := sums[i]
		if k.row != nil {
			sum = sums[k.row(i)]
		}
		for j, e := range es[i] {
			y := finish(e, sum, r)
			if k.inT {
				y = float64(e * dt.Round(r(1/sum)))
			}
			out.SetFloat(i*n+j, store(dt, y))
		}
	}
	return out
}

// onlineSoftmax keeps a running maximum and a sum that is scaled down
// when it grows, in 32 lanes.
func onlineSoftmax(p *Problem) *tensor.Tensor {
	rows, n, dt := p.Case.Dim("rows"), p.Case.Dim("n"), p.Case.Variant.T
	src := p.Arg("src").Buf
	out := tensor.New(dt, rows, n)
	exp := func(x float32) float32 { return float32(math.Exp(float64(x))) }
	for at := 0; at < rows*n; at += n {
		var top, sum [32]float32
		for l := range top {
			top[l] = float32(math.Inf(-1))
		}
		merge := func(m, s, m2, s2 float32) (float32, float32) {
			if s2 == 0 {
				return m, s
			}
			if s == 0 {
				return m2, s2
			}
			if m2 > m {
				return m2, float32(s*exp(m-m2)) + s2
			}
			return m, s + float32(s2*exp(m2-m))
		}
		for i := range n {
			x := float32(src.Float(at + i))
			one := float32(1)
			if math.IsInf(float64(x), -1) {
				one = 0
			}
			if x != x || math.IsInf(float64(x), 1) {
				one = float32(math.NaN())
			}
			top[i%32], sum[i%32] = merge(top[i%32], sum[i%32], x, one)
		}
		m, s := top[0], sum[0]
		for l := 1; l < 32; l++ {
			m, s = merge(m, s, top[l], sum[l])
		}
		for i := range n {
			out.SetFloat(at+i, float64(exp(float32(src.Float(at+i))-m)*float32(1/s)))
		}
	}
	return out
}

func notDouble(c *Case) bool { return c.Variant.T != tensor.F64 }
func half(c *Case) bool {
	return c.Variant.T == tensor.F16 || c.Variant.T == tensor.BF16
}

func softmaxEmulations() []emulation {
	list := []emulation{{"online", onlineSoftmax, notDouble}}
	for name, k := range map[string]softmaxKernel{
		"candle, f16 and bf16 in float": {},
		"64 lanes":                      {add: strided(64)},
		"1024 lanes":                    {add: strided(1024)},
		"runs of neighbours":            {add: chunked},
		"pairwise":                      {add: pairwise},
		"sum in double":                 {add: wide},
		"divided":                       {finish: func(e, sum float64, r rounding) float64 { return r(e / sum) }},
		"one lane":                      {add: sequential},
		"one lane, backwards":           {add: backward},
		"log of the sum": {
			exp:    func(x float64, _ rounding) float64 { return x },
			add:    func(xs []float64, r rounding) float64 { return r(math.Log(strided(32)(exps(xs, r), r))) },
			finish: func(z, log float64, r rounding) float64 { return expOff(0)(r(z-log), r) },
		},
	} {
		list = append(list, emulation{name, k.run, nil})
	}
	for _, k := range []int{-2, 2} {
		list = append(list, emulation{fmt.Sprintf("exp off by %d ulp", k), softmaxKernel{exp: expOff(k)}.run, notDouble})
		list = append(list, emulation{fmt.Sprintf("exp off by %d ulp", k/2), softmaxKernel{exp: expOff(k / 2)}.run, nil})
	}
	direct := func(x float64, r rounding) float64 { // exp2 of a rounded product
		return r(math.Exp2(r(x * float(math.Log2E))))
	}
	for name, k := range map[string]softmaxKernel{
		"candle in T":              {inT: true},
		"candle in T, 64 lanes":    {inT: true, add: strided(64)},
		"candle in T, direct exp2": {inT: true, exp: direct},
		"direct exp2":              {exp: direct},
	} {
		list = append(list, emulation{name, k.run, half})
	}
	return list
}

func exps(xs []float64, r rounding) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = expOff(0)(x, r)
	}
	return ys
}

func TestSoftmaxHonest(t *testing.T) { honest(t, find(t, "softmax"), Fast, 8192, softmaxEmulations()) }

// TestSoftmaxHonestThorough does the same over every class and size.
func TestSoftmaxHonestThorough(t *testing.T) {
	needThorough(t)
	honest(t, find(t, "softmax"), Thorough, 1<<18, softmaxEmulations())
}

func TestSoftmaxFaults(t *testing.T) {
	var list []emulation
	for name, k := range map[string]softmaxKernel{
		"no maximum taken off":     {most: func([]float64) float64 { return 0 }},
		"maximum starts from 0":    {most: func(xs []float64) float64 { return max(0, largest(xs)) }},
		"maximum of the first 32":  {most: func(xs []float64) float64 { return largest(xs[:min(32, len(xs))]) }},
		"maximum without the tail": {most: func(xs []float64) float64 { return largest(xs[:max(1, len(xs)/32*32)]) }},
		"minimum for maximum":      {most: func(xs []float64) float64 { return -largest(negated(xs)) }},
		"lanes from 32 lost":       {add: few},
		"tail left out of the sum": {add: untailed},
		"last column left out":     {add: butLast},
		"sum of half the lanes":    {add: func(xs []float64, r rounding) float64 { return strided(32)(xs, r) / 2 }},
		"sum of the first 32":      {add: first32},
		"sum in bf16":              {add: inType(tensor.BF16)},
		"not divided":              {finish: func(e, _ float64, _ rounding) float64 { return e }},
		"powers of 2":              {exp: func(x float64, r rounding) float64 { return r(math.Exp2(x)) }},
		"row 0's sum":              {row: func(int) int { return 0 }},
	} {
		list = append(list, emulation{name, k.run, nil})
	}
	only := func(ds ...tensor.DType) func(c *Case) bool {
		return func(c *Case) bool { return slices.Contains(ds, c.Variant.T) }
	}
	stored := func(d tensor.DType) func(p *Problem) *tensor.Tensor {
		return softmaxKernel{store: func(_ tensor.DType, x float64) float64 { return d.Round(x) }}.run
	}
	full := only(tensor.F32, tensor.F64)
	list = append(list,
		emulation{"subnormals flushed", softmaxKernel{store: func(d tensor.DType, x float64) float64 {
			if math.Abs(x) < d.MinNormal() {
				return 0
			}
			return x
		}}.run, full},
		emulation{"exp off by 40 ulp", softmaxKernel{exp: func(x float64, r rounding) float64 {
			if x-x != 0 {
				return expOff(0)(x, r)
			}
			return expOff(int(40*math.Mod(x, 1)))(x, r)
		}}.run, full},
		emulation{"stored as f16", stored(tensor.F16), full},
		emulation{"stored as bf16", stored(tensor.BF16), only(tensor.F64, tensor.F32, tensor.F16)},
		emulation{"stored as f32", stored(tensor.F32), only(tensor.F64)},
	)
	caught(t, find(t, "softmax"), list)
}

// e^x by one product, 2^(x*log2(e)), is right where nothing is declared and a
// fault of a kernel that is declared to take the library's e^x, which may be
// off by its units and no more.
func TestLibraryExp(t *testing.T) {
	o := find(t, "softmax")
	direct := softmaxKernel{exp: func(x float64, r rounding) float64 {
		return r(math.Exp2(r(x * float(math.Log2E))))
	}}
	failed := false
	for _, c := range o.Cases(Variant{T: tensor.F32}, Fast) {
		p := o.Bind(&c, NewRand(1, c.Name()))
		if p.Arg("dst").Buf.Len() > 20000 {
			continue
		}
		out := direct.run(p)
		if j := judged(t, p, o.Expect(p), out); j.Status == compare.Fail {
			t.Errorf("%s: 2^(x*log2(e)) is %s, share %.3g", c.Name(), j.Verdict, float64(j.Accuracy.Share))
		}
		p.Arithmetic = Bundled()
		e := o.Expect(p)
		failed = failed || judged(t, p, e, out).Status == compare.Fail
		for _, k := range []int{-2, -1, 0, 1, 2} {
			out := softmaxKernel{exp: func(x float64, r rounding) float64 {
				if x == 0 {
					return 1
				}
				return expOff(k)(x, r)
			}}.run(p)
			if j := judged(t, p, e, out); j.Status == compare.Fail {
				t.Errorf("%s: e^x off by %d ulp is %s, share %.3g", c.Name(), k, j.Verdict, float64(j.Accuracy.Share))
			}
		}
	}
	if !failed {
		t.Error("2^(x*log2(e)) passes as the library's e^x")
	}
}

// TestSoftmaxByHand checks truths against results worked by hand.
func TestSoftmaxByHand(t *testing.T) {
	o := find(t, "softmax")
	inf, nan := math.Inf(1), math.NaN()
	ln := math.Log
	for _, tc := range []struct{ xs, want []float64 }{
		{[]float64{5}, []float64{1}},
		{[]float64{3, 3, 3, 3}, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]float64{ln(1), ln(2), ln(5)}, []float64{0.125, 0.25, 0.625}},
		{[]float64{1e4 + 1, -inf, 1e4 + 1}, []float64{0.5, 0, 0.5}},
		{[]float64{-inf, -inf}, []float64{nan, nan}},
		{[]float64{1, inf}, []float64{nan, nan}},
		{[]float64{1, nan, 2}, []float64{nan, nan, nan}},
	} {
		c := &Case{Op: o, Variant: Variant{T: tensor.F64}, Class: "normal", Dims: []Dim{D("rows", 1), D("n", len(tc.xs))}}
		p := o.Bind(c, NewRand(1, "x"))
		p.Arg("src").Buf = tensor.FromFloats(tensor.F64, tc.xs, 1, len(tc.xs))
		e := o.Expect(p)
		for i, want := range tc.want {
			if got := e.Value[i]; !(math.Abs(got-want) <= 1e-15) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("softmax of %v: element %d is %.17g, want %g", tc.xs, i, got, want)
			}
		}
	}
	for _, c := range o.Cases(Variant{T: tensor.F16}, Fast) {
		p := o.Bind(&c, NewRand(1, c.Name()))
		if p.Block.X != 1 || p.Block.Y != 32 || p.Grid.X != uint32(c.Dim("rows")) {
			t.Errorf("%s: grid %v, block %v; want 32 threads along y for each row", c.Name(), p.Grid, p.Block)
		}
	}
}

func negated(xs []float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = -x
	}
	return ys
}
