package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// softmaxOps is the softmax of candle's reduce module.
func softmaxOps() []*Op {
	o := &Op{
		tune: func(q *Problem) { tuneRows(q, int(q.Arg("n_cols").Int), 4) },
		Name: "softmax", Family: "softmax", Module: "reduce", Symbol: "softmax_{T}",
		Summary: "e^x of each row over its sum",
		Formula: `p_i = e^(x_i-max) / sum_j e^(x_j-max), of each row
a row that holds NaN or +inf, or nothing but -inf, is NaN throughout`,
		Bound: `|y-p| <= p*(e^b - 1) + own, z = x-max, S = sum e^z, H = sum p|z|, u of the type of the arithmetic
f64, f32: b = 3u*(|z|+H) + 2k + A + 3u + (k+2u)*ln(S), k = 5u in f32 and 3u in f64 for exp (2.5 and 1.5 ulp),
  own = (k*N)/S + eta. 3u: z is rounded, and so are log2(e) and z*log2(e) in an exp2(z*log2(e)) that does
  not reduce its argument, where each counts |z| ulp. e^(z-ln S), which needs no division, rounds |z| once more
  for each but has no such product, or else takes 3u of it; ln(S) is for what it rounds
f64, f32 of a library's e^x (declared of the source; all bundled ones): d for 3u*|z|, k*(1+r) for 2k, and no ln(S);
  d = |z - fl(z)|, what is known of the rounding of this z, and e^0 is 1
f16, bf16 in float (declared of the source; all bundled ones): b and own of f32, and rnd
f16, bf16 in steps: candle subtracts, exponentiates and scales in the element type and sums in float:
  b = (u+3v)(|z|+H) + 2u + sum_j ulp(e_j)/S + A + max(u, eta*S/2) + 10v, v = 2^-24, own = eta/2*(1+1/S) + rnd
  exp is to one unit of the type's last place; 3v for an exp2(z*log2(e)) that does not reduce its argument.
  A kernel that keeps to float has little more than rnd
N, eta: the type's smallest normal and subnormal; rnd: half a unit in the last place.
` + additionsText + `
(numerics.md 4.1, 4.2)`,
		Parity:   E2,
		Sums:     true,
		Variants: floats(),
		Params:   []Param{{In, T, "src"}, {Out, T, "dst"}, {Scalar, Int, "n_cols"}},
		Bind:     bindSoftmax,
		Expect:   expectSoftmax,
		Trace:    traceSoftmax,
		Work: func(p *Problem) (bytes, flops int64) {
			n := p.Arg("src").Buf.Len()
			return int64(2 * n * p.Case.Variant.T.Size()), int64(5 * n)
		},
	}
	o.Cases = func(v Variant, level Level) []Case { return softmaxCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.scores(), func(x extent) Case {
			return Case{Op: o, Variant: v, Class: "normal", Dims: []Dim{D("rows", x.rows), D("n", x.cols)}}
		})
	}
	return []*Op{o}
}

func softmaxCases(o *Op, v Variant, level Level) []Case {
	type pick struct {
		rows, n int
		class   string
	}
	picks := []pick{
		{5, 1, "normal"},
		{4, 2, "normal"},
		{5, 31, "normal"},
		{3, 32, "normal"},
		{4, 33, "normal"},
		{3, 64, "normal"},
		{5, 65, "normal"},
		{2, 1025, "normal"},
		{3, 65, "equal"},
		{6, 65, "hot"},
		{6, 65, "mask"},
		{6, 33, "special"},
		{3, 65, "offset"},
		{3, 65, "negative"}, // a maximum that starts from 0 leaves nothing
		{3, 33, "wide"},
		{3, 65, "underflow"},
		{1, 1025, "ledge"},
		{1, 4096, "ledge"},
		{combs, 512, "comb"},
		{combs, 4096, "comb"},
		{41, 7, "normal"},  // rows enough to tell a store that truncates
		{136, 136, "peak"}, // the maximum in every column; all rows begin at 16 bytes
		{40, 515, "peak"},  // and in every round of a thread; few do
		{9, 131, "underflow"},
		{9, 131, "wide"},
		// Rows of whole 16 bytes, which kernels may hold in registers: one,
		// two and four pieces for each of 32 threads, and past those.
		{64, 64, "peak"},
		{128, 128, "peak"},
		{64, 256, "peak"},
		{128, 512, "peak"},
		{96, 1024, "peak"},
		{9, 131, "deep"},
		{16, 128, "deep"},
		{8, 36, "deep"},
		{24, 320, "deep"},
		{32, 256, "deep"},
		{64, 512, "deep"},
		{96, 1024, "deep"},
		{5, 128, "normal"},
		{5, 200, "hot"},
		{64, 256, "underflow"},
		{64, 320, "wide"},
		{64, 512, "normal"},
		{3, 512, "mask"},
		{3, 768, "wide"},
		{2, 1024, "normal"},
		{2, 1024, "underflow"},
		{2, 2048, "hot"},
	}
	if v.T == tensor.F32 {
		picks = append(picks, pick{1, 16640, "normal"})
	}
	if level == Thorough {
		for _, n := range []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 1023, 1024, 1025, 4096} {
			for _, class := range []string{"normal", "equal", "hot", "mask", "special", "offset", "negative", "wide", "loguniform", "subnormal", "underflow", "ledge"} {
				if class == "ledge" && n < 8 {
					continue // no quarter to start with
				}
				picks = append(picks, pick{6, n, class})
			}
		}
		// 1/sum is subnormal in f16 past 16384 equal elements.
		for _, n := range []int{16384, 16640, 70000} {
			for _, class := range []string{"normal", "equal", "mask", "underflow"} {
				picks = append(picks, pick{2, n, class})
			}
		}
	}
	var cases []Case
	seen := map[pick]bool{}
	for _, p := range picks {
		if !seen[p] {
			seen[p] = true
			cases = append(cases, Case{Op: o, Variant: v, Class: p.class, Dims: []Dim{D("rows", p.rows), D("n", p.n)}})
		}
	}
	return cases
}

func bindSoftmax(c *Case, r *Rand) *Problem {
	rows, n, dt := c.Dim("rows"), c.Dim("n"), c.Variant.T
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	p.Grid, p.Block = gpu.Dim3{X: uint32(rows), Y: 1, Z: 1}, gpu.Dim3{X: 1, Y: 32, Z: 1}
	p.Arg("src").Buf = softmaxRows(dt, r, c.Class, rows, n)
	p.Arg("dst").Buf = tensor.New(dt, rows, n)
	p.Arg("n_cols").Int = int64(n)
	return p
}

// softmaxRows returns rows of n elements by class.
func softmaxRows(d tensor.DType, r *Rand, class string, rows, n int) *tensor.Tensor {
	shape := []int{rows, n}
	inf := math.Inf(1)
	switch class {
	case "normal":
		return normals(d, r, 1, shape...)
	case "wide":
		return normals(d, r, 10, shape...)
	case "equal":
		return generate(d, shape, func(i int) float64 { return float64(i/n) - 1 })
	case "offset", "negative": // e^x overflows, or is 0, in the type and in float
		mean, scale := 1e4, 1.0
		if class == "negative" {
			mean = -3e4 // below the -1e4 that stands for -inf in some masks
		}
		if d.Precision() <= 11 {
			mean, scale = math.Copysign(200, mean), 3 // where numbers of the type are 1/8 and 1 apart
		}
		return generate(d, shape, func(int) float64 { return mean + float64(scale*r.Normal()) })
	case "loguniform":
		return logUniforms(d, r, -20, 12, shape...)
	case "subnormal":
		return subnormals(d, r, shape...)
	case "underflow": // one 0, the rest where e^x is about to be subnormal, or is
		lo, hi := -104.0, -85.0
		switch d {
		case tensor.F64:
			lo, hi = -745, -705
		case tensor.F16:
			lo, hi = -17, -8
		case tensor.BF16:
			lo = -93
		}
		return generate(d, shape, func(i int) float64 {
			if i%n == 0 {
				return 0
			}
			return r.Uniform(lo, hi)
		})
	case "deep":
		// One 0, in another column of each row, and the rest as low as e^x is
		// normal and not rounded as an argument: an error of the exponential
		// grows with its argument, and nothing else is off.
		low := math.Ceil(1 + float64(math.Ln2*float64(max(d.EMin(), tensor.F32.EMin()))))
		if d == tensor.F16 {
			low = -16 // half of the type's own subnormal numbers
		}
		return generate(d, shape, func(i int) float64 {
			if row := i / n; i%n == row*131%n {
				return 0
			}
			return r.Uniform(low, low/2)
		})
	case "ledge":
		// Ones, then what is lost when it is added to eight of them in the
		// element type: 32 lanes have eight of 1025 each. A sum in float
		// keeps it.
		low := truth.Log(0.75 * 8 * d.UnitRoundoff()).Hi
		return generate(d, shape, func(i int) float64 {
			if i%n < n/4 {
				return 0
			}
			return low
		})
	case "peak":
		// One element 176 above the others, which no row may miss, in another
		// column of each; the others below 0 in eight rows, above in the next.
		step := 1
		if rows < n {
			step = 131 // 524 for rows four apart, and so another place in 16 bytes
		}
		return generate(d, shape, func(i int) float64 {
			row := i / n
			low := [...]float64{-88, 40}[row/8%2]
			if i%n == row*step%n {
				return low + 176
			}
			return low + r.Normal()
		})
	case "comb": // a part of the columns has 64 times the others' share
		return generate(d, shape, func(i int) float64 {
			x := r.Normal() / 4
			if i%n%combs == i/n%combs {
				x += 4.25
			}
			return x
		})
	case "hot":
		// One element 176 above the others, at the ends of the row and at the
		// edges of groups of 32 and of 64.
		at := []int{0, n - 1, 31, 32, 63, 64}
		return generate(d, shape, func(i int) float64 {
			if i%n == at[i/n%len(at)]%n {
				return 88
			}
			return -88 + r.Normal()
		})
	case "mask":
		// -inf among numbers: causal, all but one, every other, the first half
		// and none; then all of a row.
		return generate(d, shape, func(i int) float64 {
			row, col := i/n, i%n
			masked := [...]bool{col > row+n/2, col != n-1, col%2 != 0 && n > 1, col < n/2, false, true}[row%6]
			if masked {
				return -inf
			}
			return r.Normal()
		})
	case "special":
		// A row with none, then rows with one each.
		odd := []float64{0, math.NaN(), inf, math.NaN(), inf, -inf}
		at := []int{0, 0, n - 1, n - 1, 0, n / 2}
		return generate(d, shape, func(i int) float64 {
			if k := i / n % len(odd); k > 0 && i%n == at[k]%n {
				return odd[k]
			}
			return r.Normal()
		})
	}
	panic("ops: softmax has no input class " + class)
}

func expectSoftmax(p *Problem) *compare.Expected {
	c := p.Case
	rows, n, dt := c.Dim("rows"), c.Dim("n"), c.Variant.T
	src := p.Arg("src").Buf
	e := &compare.Expected{
		DType: dt, Value: make([]float64, rows*n), Hard: make([]float64, rows*n), Likely: make([]float64, rows*n),
		Axes:  []compare.Axis{{Name: "row", Size: rows}, {Name: "column", Size: n}},
		Group: n,
		// Equal elements share the row out evenly; alone, each has all.
		Degenerate: c.Class == "equal" || c.Class == "subnormal" || n == 1,
	}
	if dt == tensor.F64 {
		e.Tail = make([]float64, rows*n)
	}
	if p.Arithmetic.Lanes < 2 {
		chains(e, n)
	}
	xs := make([]float64, n)
	for row := range rows {
		for i := range xs {
			xs[i] = src.Float(row*n + i)
		}
		softmaxRow(e, row*n, xs, p)
	}
	return e
}

// softmaxRow puts the truth and the bounds of one row of p that starts at
// element at.
func softmaxRow(e *compare.Expected, at int, xs []float64, p *Problem) {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x) // NaN if any is
	}
	if math.IsNaN(top) || math.IsInf(top, 0) {
		for i := range xs {
			e.Value[at+i] = math.NaN()
		}
		return
	}
	n := len(xs)
	es := make([]truth.DD, n)
	var sum truth.DD
	var spread float64 // sum of e^z*|z|
	for i, x := range xs {
		z := truth.FromSum(x, -top)
		es[i] = z.Exp()
		sum = sum.Add(es[i])
		if !math.IsInf(x, 0) && es[i].Hi > 0 {
			spread += float64(es[i].Hi * -z.Hi)
		}
	}
	terms := make([]float64, n)
	for i := range es {
		terms[i] = es[i].Hi
	}
	lanes := p.Arithmetic.Lanes
	r := newRow(terms, lanes)
	g := newSoftmaxError(e.DType, es, sum.Hi, float64(spread/sum.Hi), p.inFloat())
	if p.Arithmetic.LibraryExp {
		g.library(r)
	}
	s := r.summing(lanes, g.perAdd)
	for i, x := range xs {
		y := es[i].Div(sum)
		e.Value[at+i] = y.Hi
		if e.Tail != nil {
			e.Tail[at+i] = y.Lo
		}
		if math.IsInf(x, 0) {
			continue // e^-inf is 0 in every arithmetic
		}
		off := g.argument(x, top)
		z := float64(top - x)
		e.Hard[at+i] = g.bound(y.Hi, z, off+s.hard)
		e.Likely[at+i] = g.bound(y.Hi, z, off+s.likely)
		if e.Shared != nil {
			e.Shared[at+i] = g.bound(y.Hi, z, off+s.shared)
		}
	}
}

// A softmaxError is what the errors of a row's elements have in common.
type softmaxError struct {
	d      tensor.DType
	a      tensor.DType // of the arithmetic
	known  bool         // how z is rounded
	sum    float64
	spread float64 // H, the mean of |z|
	perZ   float64 // relative, for each unit of |z|
	exp    float64 // relative, of one exponential
	perAdd float64 // relative, of one addition
	log    float64 // relative, of a sum's logarithm that is taken off in its place
	shared float64 // relative, of the sum but for these, and of the scale
	own    float64 // absolute
	store  bool    // the product may be rounded to d from something wider
}

func newSoftmaxError(d tensor.DType, es []truth.DD, sum, spread float64, inFloat bool) softmaxError {
	a := d
	if inFloat {
		a = tensor.F32
	}
	g := softmaxError{d: d, a: a, sum: sum, spread: spread, store: isHalf(d)}
	u, eta, n := a.UnitRoundoff(), a.MinSubnormal(), float64(len(es))
	if !isHalf(a) {
		k := 5 * u
		if a == tensor.F64 {
			k = 3 * u
		}
		low := float64(k * a.MinNormal()) // the error of a subnormal exponential
		g.perZ, g.perAdd = 3*u, u
		g.log = 2*u + k
		g.exp = k
		g.shared = k + 3*u + float64(n*low/sum)
		g.own = low/sum + eta
		return g
	}
	// 3*2^-24 for each unit of |z|: exp as exp2(z*log2(e)) in float, as above.
	g.perZ, g.perAdd = u+3*u32, u32
	g.exp = 2*u + 5*u32
	for _, v := range es {
		g.shared += 2 * store(d, v.Hi, 0) // a unit in the last place
	}
	g.shared = float64(g.shared/sum) + 5*u32 + math.Max(u, float64(eta*sum/2))
	g.own = eta / 2 * (1 + 1/sum)
	return g
}

// library narrows g to the library's e^x, of the row r; e^0 is 1. Steps in a
// half type keep their own.
func (g *softmaxError) library(r row) {
	if isHalf(g.a) {
		return
	}
	g.known, g.log = true, 0
	g.shared -= float64(g.exp * (1 - r.rest))
}

// argument is how far off the argument of e^(x-top) may be, by its rounding.
func (g *softmaxError) argument(x, top float64) float64 {
	z := truth.FromSum(x, -top)
	if g.known {
		return math.Abs(z.AddFloat(-g.a.Round(z.Hi)).Hi)
	}
	return float64(g.perZ * math.Abs(z.Hi))
}

// bound is the error of an element of truth p that lies z below the
// maximum, with the relative errors of its argument and of the additions.
func (g *softmaxError) bound(p, z, rounding float64) float64 {
	b := float64(g.perZ*g.spread) + g.exp + g.shared + rounding
	if g.log > 0 {
		b += float64(g.log * math.Log(max(1, g.sum)))
	}
	var err float64
	if b < 1 {
		err = float64(p * truth.Expm1(b).Hi)
	} else {
		// Far below the maximum e^b alone overflows.
		err = truth.Exp(b-z).Hi / g.sum
	}
	err += g.own
	if g.store {
		err += store(g.d, p, err)
	}
	return err
}

func traceSoftmax(p *Problem, i int) []Input {
	n := p.Case.Dim("n")
	src := p.Arg("src").Buf
	at := i / n * n
	top := at
	for k := at; k < at+n; k++ {
		if !(src.Float(k) <= src.Float(top)) {
			top = k // the largest, or a NaN
		}
	}
	return []Input{
		{Name: "x", Index: i, Value: compare.Num(src.Float(i))},
		{Name: "largest of the row", Index: top, Value: compare.Num(src.Float(top))},
	}
}
