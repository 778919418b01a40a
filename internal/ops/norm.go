package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// normOps are the norms of candle's reduce module: each row is scaled by
// a statistic of itself.
func normOps() []*Op {
	return []*Op{
		normOp(&Op{
			Name: "rms_norm", Symbol: "rmsnorm_{T}",
			Summary: "rows divided by the root of their mean square",
			Formula: `y = x / sqrt(mean(x^2) + eps) * alpha, of each row; alpha, where it is not null, has one value a column
x is read as float and all is done in float, in every type: float accuracy in a double kernel`,
			Bound: `|y-t| <= |t|*(0.5*(A+2u) + 5u + 3u) + rnd
u = 2^-24 in every type. A is of the sum of n squares, below; 2u: the squares and the division by n. Half of it
enters through the root. 5u: rsqrtf of 2.5 ulp. 3u: eps and the products. f64: 3u more for reading x and alpha
as float. rnd: half a unit of the last place of f16 or bf16, for the store.
` + additionsText + `
Rows whose squares leave float's range are not judged. (numerics.md 4.1, 4.2)`,
			Params: []Param{
				{In, T, "src"}, {Out, T, "dst"}, {In, T, "alpha"},
				{Scalar, Int, "n_cols"}, {Scalar, Int, "block_size"}, {Scalar, F32, "eps"},
			},
		}),
		normOp(&Op{
			Name: "layer_norm", Symbol: "layernorm_{T}",
			Summary: "rows less their mean, divided by their deviation",
			Formula: `y = (x-mean) / sqrt(variance + eps) * alpha + beta, of each row; variance = mean((x-mean)^2)
alpha and beta, each where it is not null, have one value a column
x is read as float and all is done in float, in every type: float accuracy in a double kernel`,
			Bound: `|y-t| <= |alpha|*(rhi*(Em+u*|x-mu|) + |x-mu|*(dr + 5u*r) + 2u*|x-mu|*r) + u*(|t|+|beta|) + rnd
Em = (A1+u)*mean|x|, Ev = (A2+u)*mean(x^2) + 2|mu|*Em + Em^2 + u*var, w = var+eps,
r = 1/sqrt(w), rhi = 1/sqrt(w-Ev), dr = the larger of rhi-r and r-1/sqrt(w+Ev); u, 5u and rnd as in rms_norm.
A1 and A2 are A, below, of the sums of x and of x^2.
f64: u|x| more for reading x as float, likewise alpha and beta. This allows the variance as
mean(x^2)-mean^2, which candle takes: it cancels where the mean is large. Rows with Ev >= w/10 for L = 32 are
ill-conditioned: a right kernel may give anything there, and they are not judged.
` + additionsText + `
(numerics.md 4.3)`,
			Params: []Param{
				{In, T, "src"}, {Out, T, "dst"}, {In, T, "alpha"}, {In, T, "beta"},
				{Scalar, Int, "n_cols"}, {Scalar, Int, "block_size"}, {Scalar, F32, "eps"},
			},
		}),
	}
}

func normOp(o *Op) *Op {
	o.tune = func(q *Problem) {
		tuneRows(q, int(q.Arg("n_cols").Int), 4)
		q.Arg("block_size").Int = int64(q.Block.X)
	}
	o.Family, o.Module, o.Parity, o.Sums = "norm", "reduce", E2, true
	o.Variants = floats()
	o.Cases = func(v Variant, level Level) []Case { return normCases(o, v, level) }
	o.Bind, o.Expect, o.Trace = bindNorm, expectNorm, traceNorm
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.hidden(), func(x extent) Case { return normCase(o, v, normPick{x.rows, x.cols, 3, "normal"}) })
	}
	o.Work = func(p *Problem) (bytes, flops int64) {
		n := p.Arg("src").Buf.Len()
		moved, perElement := 2*n, 4
		for i, param := range o.Params {
			if b := p.Args[i].Buf; b != nil && (param.Name == "alpha" || param.Name == "beta") {
				moved += b.Len()
				perElement++
			}
		}
		if o.Name == "layer_norm" {
			perElement += 4
		}
		return int64(moved * p.Case.Variant.T.Size()), int64(perElement * n)
	}
	return o
}

// combs is the number of rows of the class "comb": in row r every element
// whose column is r modulo combs is larger than the others, so that whichever
// is left out of a sum, some sum shows it though a chain of additions may
// lose as much as one of the others.
const combs = 16

// A normPick is a case by its sizes and class; gain is 1 for alpha, 2 for
// beta and 3 for both.
type normPick struct {
	rows, n, gain int
	class         string
}

func normCases(o *Op, v Variant, level Level) []Case {
	// Below 1024 columns the block has 32 threads, else 1024.
	picks := []normPick{
		{3, 1, 3, "constant"},
		{2, 2, 1, "normal"},
		{3, 31, 0, "normal"},
		{2, 32, 2, "normal"},
		{3, 33, 3, "normal"},
		{2, 64, 1, "normal"},
		{5, 65, 3, "normal"},
		{1, 1023, 0, "normal"},
		{1, 1024, 3, "normal"},
		{2, 1025, 1, "normal"},
		// Rows of whole 16 bytes, which kernels may hold in registers: one,
		// two and four pieces for each of 32 threads, and of 1024.
		{3, 128, 3, "normal"},
		{3, 256, 2, "normal"},
		{2, 512, 3, "normal"},
		{2, 768, 1, "normal"},
		{1, 4096, 3, "normal"},
		{1, 12288, 3, "normal"},
		{5, 65, 0, "eps"},     // eps decides the result
		{3, 65, 0, "tinyeps"}, // and is another
		{5, 65, 3, "outlier"},
		{1, 1025, 0, "outlier"}, // in the last column
		// Squares that one after the other are added to a large one, and
		// rounded alike: what one chain loses.
		{2, 512, 3, "outlier"},
		{2, 1024, 1, "outlier"},
		{2, 4096, 0, "outlier"},
		// Each column counts in one row, by more than a chain may lose.
		{combs, 512, 1, "comb"},
		{combs, 4096, 0, "comb"},
		{5, 64, 3, "constant"},
		{5, 65, 1, "special"},
		{3, 33, 3, "zeros"},
		{3, 65, 0, "loguniform"},
	}
	if v.T == tensor.F32 {
		picks = append(picks, normPick{1, 8192, 3, "normal"}, normPick{1, 16384, 3, "normal"})
	}
	if o.Name == "layer_norm" {
		picks = append(picks, normPick{5, 65, 3, "mean10"}, normPick{5, 65, 0, "mean100"})
	}
	if level == Thorough {
		sizes := []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 1023, 1024, 1025, 2047, 4096, 8191}
		for _, n := range sizes {
			for gain := range 4 {
				if n > 1 || o.Name == "rms_norm" { // of one column the variance is 0
					picks = append(picks, normPick{4, n, gain, "normal"})
				}
			}
			for _, class := range []string{"eps", "tinyeps", "outlier", "constant", "special", "zeros", "loguniform", "subnormal", "large", "huge"} {
				if n > 1 || class != "special" {
					picks = append(picks, normPick{6, n, 3, class})
				}
			}
			if o.Name == "layer_norm" {
				for _, class := range []string{"mean1", "mean10", "mean100", "mean1000", "mean10000"} {
					picks = append(picks, normPick{6, n, 3, class})
				}
			}
		}
	}
	var cases []Case
	seen := map[normPick]bool{}
	for _, p := range picks {
		if o.Name == "rms_norm" {
			p.gain &= 1
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		cases = append(cases, normCase(o, v, p))
	}
	return cases
}

func normCase(o *Op, v Variant, p normPick) Case {
	c := Case{Op: o, Variant: v, Class: p.class, Dims: []Dim{D("rows", p.rows), D("n", p.n), choice("alpha", p.gain&1 != 0)}}
	if o.Name == "layer_norm" {
		c.Dims = append(c.Dims, choice("beta", p.gain&2 != 0))
	}
	return c
}

// choice is a Dim for a pointer that may be null.
func choice(name string, given bool) Dim {
	if given {
		return Dim{Name: name, Value: 1, Text: "yes"}
	}
	return Dim{Name: name, Value: 0, Text: "null"}
}

func bindNorm(c *Case, r *Rand) *Problem {
	rows, n, dt := c.Dim("rows"), c.Dim("n"), c.Variant.T
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	block := 32
	if n >= maxBlock {
		block = maxBlock
	}
	p.Grid, p.Block = gpu.Dim3{X: uint32(rows), Y: 1, Z: 1}, gpu.Dim3{X: uint32(block), Y: 1, Z: 1}
	p.Arg("src").Buf = normRows(dt, r, c.Class, rows, n)
	p.Arg("dst").Buf = tensor.New(dt, rows, n)
	for i, param := range c.Op.Params {
		// alpha stays off zero: what it scales must show.
		switch {
		case param.Name == "alpha" && c.Dim("alpha") != 0:
			p.Args[i].Buf = generate(dt, []int{n}, func(int) float64 { return r.LogUniform(-2, 1) })
		case param.Name == "beta" && c.Dim("beta") != 0:
			p.Args[i].Buf = normals(dt, r, 1, n)
		}
	}
	p.Arg("n_cols").Int = int64(n)
	p.Arg("block_size").Int = int64(block)
	p.Arg("eps").Float = 1e-5
	if c.Class == "tinyeps" {
		p.Arg("eps").Float = 1e-12
	}
	return p
}

// normRows returns rows of n elements by class.
func normRows(d tensor.DType, r *Rand, class string, rows, n int) *tensor.Tensor {
	shape := []int{rows, n}
	shifted := func(mean float64) *tensor.Tensor {
		return generate(d, shape, func(i int) float64 {
			m := mean
			if i/n%2 != 0 {
				m = -m
			}
			return m + r.Normal()
		})
	}
	switch class {
	case "normal":
		// Of deviation 3: a norm of 1 would leave the row as it is.
		return normals(d, r, 3, shape...)
	case "mean1":
		return shifted(1)
	case "mean10":
		return shifted(10)
	case "mean100":
		return shifted(100)
	case "mean1000":
		return shifted(1000)
	case "mean10000":
		return shifted(10000)
	case "eps": // the mean square is a tenth of eps
		return normals(d, r, 1e-3, shape...)
	case "tinyeps":
		return normals(d, r, 1e-6, shape...)
	case "loguniform":
		return logUniforms(d, r, -12, 12, shape...)
	case "subnormal": // f64 is read as float: of float's range
		t := d
		if d == tensor.F64 {
			t = tensor.F32
		}
		return generate(d, shape, subnormals(t, r, shape...).Float)
	case "large":
		return logUniforms(d, r, 10, 15, shape...)
	case "huge": // the squares leave float's range, but in f16
		return logUniforms(d, r, 60, 100, shape...)
	case "zeros":
		return bareZeros(d, r, shape...)
	case "constant":
		// Small, so that the rounding of the mean square stays far below eps.
		return generate(d, shape, func(i int) float64 { return 0.03125 * float64(i/n+1) })
	case "comb":
		return generate(d, shape, func(i int) float64 {
			if i%n%combs == i/n%combs {
				return 16 * (1 + r.Float64())
			}
			return r.Normal()
		})
	case "outlier":
		// One element that makes up nearly all of its row, at both ends, at
		// the edges of groups of 32 and of 64, and in between.
		at := []int{n - 1, 0, 31, 32, 63, n / 2}
		return generate(d, shape, func(i int) float64 {
			if i%n == at[i/n%len(at)]%n {
				return 1e4
			}
			return r.Normal()
		})
	case "special":
		// A row with none, then rows with one each.
		odd := []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), math.NaN(), math.Inf(1)}
		at := []int{0, n - 1, n - 1, 0, 32, 31}
		return generate(d, shape, func(i int) float64 {
			if k := i / n % len(odd); k > 0 && i%n == at[k]%n {
				return odd[k]
			}
			return r.Normal()
		})
	}
	panic("ops: norms have no input class " + class)
}

// bareZeros returns zeros of both signs and nothing else.
func bareZeros(d tensor.DType, r *Rand, shape ...int) *tensor.Tensor {
	return generate(d, shape, func(int) float64 {
		if r.Uint64()&1 != 0 {
			return math.Copysign(0, -1)
		}
		return 0
	})
}

// A normRow is the statistics of one row, of the truth and of what errors
// grow with.
type normRow struct {
	mean, variance truth.DD // of layer_norm
	meanSquare     truth.DD
	meanAbs        float64
	odd            bool // not all finite
	nan            bool // some are NaN
	overflows      bool // the sum of squares leaves float's range
}

func newNormRow(xs []float64) normRow {
	n := float64(len(xs))
	s := normRow{meanSquare: truth.Dot(xs, xs).DivFloat(n), meanAbs: truth.SumAbs(xs).Hi / n}
	s.mean, s.variance = truth.MeanVariance(xs)
	for _, x := range xs {
		s.odd = s.odd || math.IsInf(x, 0) || math.IsNaN(x)
		s.nan = s.nan || math.IsNaN(x)
	}
	s.overflows = !s.odd && float64(s.meanSquare.Hi*n) > 0.99*math.MaxFloat32
	return s
}

func expectNorm(p *Problem) *compare.Expected {
	c := p.Case
	rows, n, dt := c.Dim("rows"), c.Dim("n"), c.Variant.T
	src := p.Arg("src").Buf
	e := &compare.Expected{
		DType: dt, Value: make([]float64, rows*n), Hard: make([]float64, rows*n), Likely: make([]float64, rows*n),
		Mark:  make([]compare.Mark, rows*n),
		Axes:  []compare.Axis{{Name: "row", Size: rows}, {Name: "column", Size: n}},
		Group: n,
	}
	if dt == tensor.F64 {
		e.Computed = tensor.F32
	}
	g := &normGauge{
		dt: dt, n: n, lanes: p.Arithmetic.Lanes,
		eps: float64(float32(p.Arg("eps").Float)), layer: c.Op.Name == "layer_norm",
	}
	if g.lanes < 2 {
		chains(e, n)
	}
	if g.layer {
		g.beta = p.Arg("beta").Buf
	}
	g.alpha = p.Arg("alpha").Buf
	switch {
	case !g.layer:
		if dt.Precision() <= 11 && c.Class == "normal" {
			e.MaxNotNearest = 0.01
		}
		e.Degenerate, e.Identity = c.Class == "zeros", c.Class == "zeros" // zeros give zeros
	default:
		e.Degenerate = (n == 1 || c.Class == "zeros" || c.Class == "constant") && g.beta == nil
	}
	xs := make([]float64, n)
	for row := range rows {
		at := row * n
		for i := range xs {
			xs[i] = src.Float(at + i)
		}
		s := newNormRow(xs)
		switch {
		case s.overflows:
			mark(e, at, n)
		case s.odd:
			// An infinity makes the mean square infinite, by which finite
			// elements become 0 and it NaN; a mean makes all of it NaN.
			for i, x := range xs {
				e.Value[at+i] = math.NaN()
				if !g.layer && !s.nan && !math.IsInf(x, 0) {
					e.Value[at+i] = 0
				}
			}
		case g.layer:
			g.layerNorm(e, at, xs, s)
		default:
			g.rmsNorm(e, at, xs, s)
		}
	}
	return e
}

// mark takes n elements from at on out of the judgement.
func mark(e *compare.Expected, at, n int) {
	for i := range n {
		e.Mark[at+i] = compare.IllConditioned
	}
}

// A normGauge puts truths and bounds of rows.
type normGauge struct {
	dt          tensor.DType
	n           int
	lanes       int // that share a sum
	eps         float64
	layer       bool
	alpha, beta *tensor.Tensor // may be nil
}

// read is the relative error of reading an element as float.
func (g *normGauge) read() float64 {
	if g.dt == tensor.F64 {
		return u32
	}
	return 0
}

// gain returns alpha and beta of a column.
func (g *normGauge) gain(col int) (alpha, beta float64) {
	alpha = 1
	if g.alpha != nil {
		alpha = g.alpha.Float(col)
	}
	if g.beta != nil {
		beta = g.beta.Float(col)
	}
	return alpha, beta
}

// put stores the truth of element i and its bounds from what the
// arithmetic before the store may be off.
func (g *normGauge) put(e *compare.Expected, i int, y, hard, shared, likely float64) {
	end := func(b float64) float64 {
		if g.dt.Precision() <= 11 {
			return b + store(g.dt, y, b)
		}
		return b + 2*tensor.F32.MinSubnormal() // float products below its range
	}
	e.Value[i], e.Hard[i], e.Likely[i] = y, end(hard), end(likely)
	if e.Shared != nil {
		e.Shared[i] = end(shared)
	}
}

func (g *normGauge) rmsNorm(e *compare.Expected, at int, xs []float64, s normRow) {
	scale := s.meanSquare.AddFloat(g.eps).Rsqrt()
	rel := func(sum float64) float64 {
		b := 0.5*sum + 5*u32 + 3*u32 + 3*g.read()
		return b * (1 + b)
	}
	sum := g.summing(xs, square).and(2 * u32)
	hard, shared, likely := rel(sum.hard), rel(sum.shared), rel(sum.likely)
	for i, x := range xs {
		a, _ := g.gain(i)
		y := scale.MulFloat(x).MulFloat(a).Hi
		abs := math.Abs(y)
		g.put(e, at+i, y, float64(abs*hard), float64(abs*shared), float64(abs*likely))
	}
}

func (g *normGauge) layerNorm(e *compare.Expected, at int, xs []float64, s normRow) {
	w := s.variance.AddFloat(g.eps)
	scale := w.Rsqrt()
	sum, squares := g.summing(xs, math.Abs).and(u32), g.summing(xs, square).and(u32)
	hard := newLayerError(g, s, w.Hi, sum.hard, squares.hard)
	shared := newLayerError(g, s, w.Hi, sum.shared, squares.shared)
	likely := newLayerError(g, s, w.Hi, sum.likely, squares.likely)
	// A chain may take more of the variance, but has a bound up to all of it.
	conditioned := shared.variance < 0.1 && hard.variance < 0.5
	if !conditioned {
		mark(e, at, g.n)
	}
	for i, x := range xs {
		a, b := g.gain(i)
		d := s.mean.Neg().AddFloat(x)
		y := d.Mul(scale).MulFloat(a).AddFloat(b).Hi
		if !conditioned {
			e.Value[at+i] = y
			continue
		}
		g.put(e, at+i, y, hard.of(x, d.Hi, a, b, y), shared.of(x, d.Hi, a, b, y), likely.of(x, d.Hi, a, b, y))
	}
}

func square(x float64) float64 { return float64(x * x) }

// summing bounds the additions of a row's terms, of which term gives the
// magnitudes.
func (g *normGauge) summing(xs []float64, term func(x float64) float64) summing {
	terms := make([]float64, len(xs))
	for i, x := range xs {
		terms[i] = term(x)
	}
	return newRow(terms, g.lanes).summing(g.lanes, u32)
}

// A layerError is the error of the statistics of one row.
type layerError struct {
	read                 float64
	mean                 float64 // of the mean
	variance             float64 // of the variance, as a share of variance + eps
	scale, high, deviate float64 // 1/sigma, the most it may be, and how far it may be off
}

// newLayerError is the procedure of numerics.md 4.3, of means of x and of x^2
// with these relative errors. Of a variance that may be off by all of itself
// there is none.
func newLayerError(g *normGauge, s normRow, w, sum, squares float64) layerError {
	read := g.read()
	mean := (sum + read) * s.meanAbs
	mu := math.Abs(s.mean.Hi)
	variance := (squares+2*read)*s.meanSquare.Hi + float64(2*mu*mean) + float64(mean*mean) + float64(u32*s.variance.Hi)
	r := 1 / math.Sqrt(w)
	lo, hi := 1/math.Sqrt(w+variance), 1/math.Sqrt(w-variance)
	return layerError{read: read, mean: mean, variance: variance / w, scale: r, high: hi, deviate: max(hi-r, r-lo)}
}

// of bounds the error of an element x, d away from the mean, whose result
// is y, before it is stored.
func (l *layerError) of(x, d, a, b, y float64) float64 {
	d = math.Abs(d)
	off := l.mean + float64(l.read*math.Abs(x)) // of x-mean
	off += float64(u32 * (d + off))
	rel := l.deviate/l.scale + 5*u32 + 2*u32 + l.read
	E := float64(math.Abs(a)*(float64(l.high*off)*(1+rel)+float64(d*l.scale)*rel)) +
		float64((u32+l.read)*math.Abs(b))
	return E + float64(u32*(math.Abs(y)+E))
}

func traceNorm(p *Problem, i int) []Input {
	n := p.Case.Dim("n")
	row, col := i/n, i%n
	src := p.Arg("src").Buf
	xs := make([]float64, n)
	for k := range xs {
		xs[k] = src.Float(row*n + k)
	}
	s := newNormRow(xs)
	list := []Input{{Name: "x", Index: i, Value: compare.Num(src.Float(i))}}
	for k, param := range p.Case.Op.Params {
		if b := p.Args[k].Buf; b != nil && (param.Name == "alpha" || param.Name == "beta") {
			list = append(list, Input{Name: param.Name, Index: col, Value: compare.Num(b.Float(col))})
		}
	}
	if p.Case.Op.Name == "rms_norm" {
		return append(list, Input{Name: "mean square of the row", Index: row, Value: compare.Num(s.meanSquare.Hi)})
	}
	return append(list,
		Input{Name: "mean of the row", Index: row, Value: compare.Num(s.mean.Hi)},
		Input{Name: "variance of the row", Index: row, Value: compare.Num(s.variance.Hi)},
		Input{Name: "condition (mean square over variance)", Index: row, Value: compare.Num(s.meanSquare.Hi / s.variance.Hi)})
}
