package ops

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// reduceOps are the reductions of candle's reduce module. The fast ones
// reduce the last dims of a layout, a block for each output; sum adds each
// element to its output by an atomic.
func reduceOps() []*Op {
	const order = `
A block of L = nextpow2(min(1024, n)) threads: thread t takes elements t, t+L, ..., then takes in
thread t+s for s = L/2, L/4, ..., 1.`
	index := `out[o] = index along the last dim of the %s of x[o][...]
` + order + ` An element is taken only if it is strictly %s, but for a thread's
first. So of equal ones not the lowest index is found but that of the least bit-reversed thread
(index mod L), and there the lowest; a NaN stays where it comes first, and is passed over elsewhere.`
	exact := `0: %s. (numerics.md 0.4, 3, 5.3)`
	return []*Op{
		fastOp(&Op{
			Name: "fast_sum", Parity: E3,
			Summary: "sums over the last dims",
			Formula: "out[o] = sum of x[o][...], of integers modulo 2^w" + order,
			Bound: `integers: 0. Floats: |y-t| <= S*A + rnd, S = sum|x|
f64, f32: u of the type, A as below
f16, bf16 in float (declared of the source; all bundled ones): that with u = 2^-24 and one rounding, rnd, at the store
f16, bf16 in steps: the larger of that and of
u*P + h*u*gamma(h,u)*S with u of the type, P = sum of |partial sums| in the order above, h = min(n-1,
ceil(n/L)-1+log2(L)): candle adds in the element type. Likely: 8.4*sqrt(sum of squared partial sums) for P.
` + additionsText + `
Where S leaves the range of the type that adds partial sums may, too: infinities and NaN are allowed. (numerics.md 4.1, 4.2)`,
		}),
		fastOp(&Op{
			Name: "fast_min", Parity: E0,
			Summary: "minima over the last dims",
			Formula: "out[o] = least of x[o][...]\nf32 and f64 drop NaN (a row of nothing else gives +inf), f16 and bf16 keep it",
			Bound:   fmt.Sprintf(exact, "an element is chosen"),
		}),
		fastOp(&Op{
			Name: "fast_max", Parity: E0,
			Summary: "maxima over the last dims",
			Formula: "out[o] = greatest of x[o][...]\nf32 and f64 drop NaN (a row of nothing else gives -inf), f16 and bf16 keep it",
			Bound:   fmt.Sprintf(exact, "an element is chosen"),
		}),
		fastOp(&Op{
			Name: "fast_argmin", Parity: E0,
			Summary: "index of the minimum over the last dim",
			Formula: fmt.Sprintf(index, "least", "less"),
			Bound:   fmt.Sprintf(exact, "the order in which candle compares decides among equal elements"),
		}),
		fastOp(&Op{
			Name: "fast_argmax", Parity: E0,
			Summary: "index of the maximum over the last dim",
			Formula: fmt.Sprintf(index, "greatest", "greater"),
			Bound:   fmt.Sprintf(exact, "the order in which candle compares decides among equal elements"),
		}),
		sumOp(),
	}
}

func fastOp(o *Op) *Op {
	o.Family, o.Module, o.Symbol = "reduce", "reduce", o.Name+"_{T}"
	o.Sums = o.Name == "fast_sum"
	o.Variants = append(floats(), Variant{T: tensor.I64}, Variant{T: tensor.U32}, Variant{T: tensor.U8})
	out := T
	if isArg(o) {
		out = U32
	}
	o.Params = []Param{
		{Scalar, SizeT, "src_numel"}, {Scalar, SizeT, "el_to_sum_per_block"}, {Scalar, SizeT, "num_dims"},
		{In, SizeT, "info"}, {In, T, "src"}, {Out, out, "dst"},
	}
	o.tune = func(q *Problem) {
		each := 2 // accesses that a thread has under way
		switch half := q.Case.Variant.T.Size() == 2; {
		case isArg(o):
			each = 4 // and holds, to look for the best among them a second time
		case half && o.Name != "fast_sum":
			each = 4 // an element takes three instructions, so the rest should count little
		}
		tuneRows(q, int(q.Arg("el_to_sum_per_block").Int), each)
	}
	o.Cases = func(v Variant, level Level) []Case { return fastCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.vocabulary(), func(x extent) Case {
			return Case{Op: o, Variant: v, Class: "normal", Dims: []Dim{D("out", x.rows), D("n", x.cols), layoutDim("rows")}}
		})
	}
	o.Bind, o.Expect, o.Trace = bindFast, expectFast, traceFast
	o.Work = func(p *Problem) (bytes, flops int64) {
		n, out := p.Arg("src").Buf, p.Arg("dst").Buf
		return int64(len(n.Data) + len(out.Data)), p.Arg("src_numel").Int
	}
	return o
}

func isArg(o *Op) bool { return o.Name == "fast_argmin" || o.Name == "fast_argmax" }

// The layouts of a source of (out, n).
var reduceLayouts = map[string]int64{
	"rows":    0, // contiguous
	"columns": 1, // stored as (n, out), the reduced dim moved to the end
	"middle":  2, // two reduced dims (3, n/3) around the other: stored as (3, out, n/3)
	"step2":   3, // every other element
	"repeat":  4, // each row twice, by a stride of 0
}

func layoutDim(name string) Dim { return Dim{Name: "layout", Value: reduceLayouts[name], Text: name} }

func fastCases(o *Op, v Variant, level Level) []Case {
	type pick struct {
		out, n        int
		layout, class string
	}
	picks := []pick{
		{3, 1, "rows", "normal"},
		{4, 2, "rows", "normal"},
		{3, 31, "rows", "normal"},
		{2, 33, "rows", "normal"},
		{3, 64, "columns", "normal"},
		{4, 65, "repeat", "normal"},
		{3, 63, "step2", "normal"},
		{2, 1023, "rows", "normal"},
		{2, 1025, "rows", "normal"},
		{1, 2500, "rows", "normal"},
	}
	if o.Name == "fast_sum" && v.T.IsFloat() {
		for i := range picks { // long sums of both signs are within bf16's bound of 0
			if picks[i].n > 1000 {
				picks[i].class = "uniform"
			}
		}
	}
	var classes []string
	switch {
	case isArg(o):
		classes = []string{"ties", "negative", "close"}
	case o.Name == "fast_sum" && v.T.IsFloat():
		classes = []string{"loguniform", "cancel", "same"}
	case o.Name == "fast_sum":
	default:
		classes = []string{"negative", "close"}
	}
	if v.T.IsFloat() {
		classes = append(classes, "special")
		if o.Name != "fast_sum" {
			classes = append(classes, "nan")
		}
	}
	for _, class := range classes {
		picks = append(picks, pick{6, 66, "rows", class})
	}
	if isArg(o) {
		picks = append(picks, pick{5, 2100, "rows", "ties"}, // past a block
			// Rows of whole 16 bytes, which kernels may hold in registers.
			pick{6, 512, "rows", "ties"}, pick{6, 2048, "rows", "ties"}, pick{3, 512, "rows", "close"},
			// One, two and four pieces for each of 1024 threads.
			pick{2, 4096, "rows", "ties"}, pick{2, 8192, "rows", "ties"}, pick{2, 16384, "rows", "ties"})
		if v.T.IsFloat() {
			picks = append(picks, pick{7, 512, "rows", "nan"}, pick{6, 512, "rows", "special"})
		}
		if v.T == tensor.F32 {
			// One, two and four pieces of 16 bytes for each of 1024 threads.
			picks = append(picks, pick{3, 4096, "rows", "ties"}, pick{2, 8192, "rows", "ties"}, pick{2, 16384, "rows", "ties"})
		}
		if v.T == tensor.F32 || level == Thorough {
			picks = append(picks, pick{1, 66000, "rows", "last"}) // an index of more than 16 bits
		}
	} else {
		picks = append(picks, pick{3, 66, "middle", "normal"})
	}
	if o.Name == "fast_min" || o.Name == "fast_max" {
		picks = append(picks, pick{6, 512, "rows", "negative"}, pick{3, 2048, "rows", "close"})
		if v.T.IsFloat() {
			picks = append(picks, pick{7, 512, "rows", "nan"}, pick{6, 512, "rows", "special"})
		}
	}
	if o.Name == "fast_sum" && v.T.IsFloat() {
		picks = append(picks, pick{1, 4096, "rows", "same"},
			pick{2, 512, "rows", "outlier"}, pick{2, 1024, "rows", "outlier"}, pick{2, 4096, "rows", "outlier"},
			pick{combs, 512, "rows", "comb"}, pick{combs, 4096, "rows", "comb"})
	}
	if level == Thorough {
		if o.Name == "fast_sum" && v.T.IsFloat() {
			classes = append(classes, "subnormal", "ones", "uniform")
			if v.T == tensor.F16 {
				classes = append(classes, "large")
			}
		}
		classes = append(classes, "normal")
		for _, n := range []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4096, 16383} {
			for _, class := range classes {
				for _, layout := range []string{"rows", "columns", "middle", "step2", "repeat"} {
					if layout == "middle" && (n%3 != 0 || isArg(o)) {
						continue
					}
					picks = append(picks, pick{6, n, layout, class})
				}
			}
		}
	}
	var cases []Case
	seen := map[pick]bool{}
	for _, p := range picks {
		if !seen[p] {
			seen[p] = true
			cases = append(cases, Case{Op: o, Variant: v, Class: p.class, Dims: []Dim{D("out", p.out), D("n", p.n), layoutDim(p.layout)}})
		}
	}
	return cases
}

// threads is candle's block for n elements: the power of two from
// min(1024, n) up.
func threads(n int) int {
	n = min(n, maxBlock)
	return 1 << bits.Len(uint(max(n, 1)-1))
}

func bindFast(c *Case, r *Rand) *Problem {
	out, n, v := c.Dim("out"), c.Dim("n"), c.Variant
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	p.Grid = gpu.Dim3{X: uint32(out), Y: 1, Z: 1}
	p.Block = gpu.Dim3{X: uint32(threads(n)), Y: 1, Z: 1}
	dims, strides := []int{out, n}, []int{n, 1}
	storage := out * n
	layout := c.Dim("layout")
	switch int64(layout) {
	case reduceLayouts["columns"]:
		strides = []int{1, out}
	case reduceLayouts["middle"]:
		dims, strides = []int{out, 3, n / 3}, []int{n / 3, out * (n / 3), 1}
	case reduceLayouts["step2"]:
		strides = []int{2 * n, 2}
		storage = 2 * out * n
	case reduceLayouts["repeat"]:
		if out%2 == 0 {
			dims, strides = []int{out / 2, 2, n}, []int{n, 0, 1}
			storage = out / 2 * n
		}
	}
	info := tensor.New(tensor.U64, 2*len(dims))
	for i := range dims {
		info.SetBits(i, uint64(dims[i]))
		info.SetBits(len(dims)+i, uint64(strides[i]))
	}
	// The values by output and element, then where the layout has them.
	src := reduceRows(v.T, r, c, out, n)
	if isArg(c.Op) && n > 1 && n <= 4 {
		// Of so few elements the first might be the extreme in every row.
		least := c.Op.Name == "fast_argmin"
		for i := (out - 1) * n; i < out*n-1; i++ {
			src.SetBits(i, decoy(v.T, !least))
		}
		src.SetBits(out*n-1, decoy(v.T, least))
	}
	if int64(layout) != reduceLayouts["rows"] {
		fill := src
		src = tensor.New(v.T, storage)
		at := walker(dims, strides)
		for i := range out * n {
			src.SetBits(at(i), fill.Bits(i))
		}
	}
	if layout == int(reduceLayouts["step2"]) {
		for i := range out * n { // what lies between must not be read
			src.SetBits(2*i+1, decoy(v.T, c.Op.Name == "fast_min" || c.Op.Name == "fast_argmin"))
		}
	}
	p.Arg("src").Buf, p.Arg("info").Buf = src, info
	dt := v.T
	if isArg(c.Op) {
		dt = tensor.U32
	}
	p.Arg("dst").Buf = tensor.New(dt, out)
	p.Arg("src_numel").Int = int64(out * n)
	p.Arg("el_to_sum_per_block").Int = int64(n)
	p.Arg("num_dims").Int = int64(len(dims))
	return p
}

// decoy is a finite value that shows in any reduction that reads it.
func decoy(d tensor.DType, least bool) uint64 {
	switch {
	case d.IsFloat() && least:
		return d.Encode(-d.MaxFinite())
	case d.IsFloat():
		return d.Encode(d.MaxFinite())
	case least && d == tensor.I64:
		return 1 << 63
	case least:
		return 0
	case d == tensor.I64:
		return math.MaxInt64
	}
	return 1<<(8*d.Size()) - 1
}

// walker returns the place of element i, counted in row-major order.
func walker(dims, strides []int) func(i int) int {
	return func(i int) int {
		at := 0
		for d := len(dims) - 1; d >= 0; d-- {
			at += i % dims[d] * strides[d]
			i /= dims[d]
		}
		return at
	}
}

// reduceRows returns out rows of n elements by class.
func reduceRows(d tensor.DType, r *Rand, c *Case, out, n int) *tensor.Tensor {
	shape := []int{out, n}
	if c.Class == "close" {
		// Neighbours in the type, which are equal in a narrower one.
		t := tensor.New(d, shape...)
		from := uint64(1) << (8*d.Size() - 2)
		if d.IsFloat() {
			from = d.Encode(1)
		}
		for i := range t.Len() {
			t.SetBits(i, from+uint64(r.IntN(100)))
		}
		return t
	}
	if !d.IsFloat() {
		t := newInput(d, shape)
		ties := c.Class == "ties"
		least := c.Op.Name == "fast_argmin" || c.Op.Name == "fast_min"
		pick := c.Op.Name == "fast_min" || c.Op.Name == "fast_max"
		sums := c.Op.Name == "fast_sum" && d == tensor.U8
		var total uint64
		for i := range t.Distinct() {
			t.SetBits(i, r.Uint64())
			if pick && d == tensor.U8 { // not down to 0 and up to 255 in every row
				t.SetBits(i, uint64(30+7*(i/n)+r.IntN(150)))
			}
			if sums && i == n-1 {
				// Of 256 sums one is 0, and two what memory is filled with.
				t.SetBits(i, 7-total)
			}
			total += t.Bits(i)
			if (c.Class == "negative" || c.Class == "last") && i%n == n-1 { // the extreme
				v := decoy(d, least)
				t.SetBits(i, map[bool]uint64{true: v + uint64(i/n), false: v - uint64(i/n)}[least])
			}
			if ties {
				t.SetBits(i, uint64(1+r.IntN(3)))
				if tied(i/n, i%n, n) {
					t.SetBits(i, map[bool]uint64{true: 0, false: 7}[least])
				}
			}
		}
		return t
	}
	// Sums of both signs are near 0 by the bound of a half; every other row
	// is of one sign, and of sum's single one all.
	onesided := func(t *tensor.Tensor) *tensor.Tensor {
		if c.Op.Name == "fast_sum" || c.Op.Name == "sum" {
			for i := range t.Distinct() {
				if out == 1 || i/n%2 != 0 {
					t.SetFloat(i, math.Abs(t.Float(i)))
				}
			}
		}
		return t
	}
	switch c.Class {
	case "normal":
		return onesided(normals(d, r, 1, shape...))
	case "loguniform":
		high := 10
		if d == tensor.F16 {
			high = 0 // long sums stay in range
		}
		return onesided(logUniforms(d, r, -12, high, shape...))
	case "uniform":
		return generate(d, shape, func(int) float64 { return r.Float64() })
	case "subnormal":
		return onesided(subnormals(d, r, shape...))
	case "negative": // a maximum that starts from 0 shows, and a minimum in the mirror image
		sign := -1.0
		if c.Op.Name == "fast_min" || c.Op.Name == "fast_argmin" {
			sign = 1
		}
		return generate(d, shape, func(int) float64 { return float64(sign * (1 + r.Float64())) })
	case "last":
		best := 100.0
		if c.Op.Name == "fast_argmin" {
			best = -best
		}
		return generate(d, shape, func(i int) float64 {
			if i%n == n-1 {
				return best
			}
			return r.Normal()
		})
	case "whole":
		// Magnitudes of 1 in the mean, which for each output of sum add up to
		// half of what the type counts by ones: of more addends most are 0.
		k := n / kept([3]int{c.Dim("a"), c.Dim("b"), c.Dim("c")}, c.Dim("over"))
		some := 1 + 2*k>>min(d.Precision(), 30)
		return generate(d, shape, func(int) float64 {
			if r.IntN(some) > 0 {
				return 0
			}
			return float64(r.IntN(4) - 1)
		})
	case "same":
		return generate(d, shape, func(i int) float64 { return 0.1 * float64(i/n+1) })
	case "ones":
		return generate(d, shape, func(int) float64 { return 1 })
	case "outlier": // first and last; the others are lost when added to it
		return generate(d, shape, func(i int) float64 {
			if i%n == i/n%2*(n-1) {
				return 1
			}
			return float64(d.UnitRoundoff() * r.Uniform(0.5, 0.999))
		})
	case "comb":
		return generate(d, shape, func(i int) float64 {
			x := r.Float64()
			if i%n%combs == i/n%combs {
				x = 4 + 4*x
			} else {
				x /= 4
			}
			return math.Ldexp(x, i/n%4) // no value for all rows
		})
	case "large": // partial sums of f16 overflow, the sums hardly
		return generate(d, shape, func(i int) float64 {
			if i%2 == 0 {
				return 3e4
			}
			return -3e4 + r.Normal()
		})
	case "cancel": // pairs that nearly cancel, and a 3 that does not
		var last float64
		return generate(d, shape, func(i int) float64 {
			if i%n == n-1 {
				return 3
			}
			if i%2 == 0 {
				last = d.Round(r.Normal())
				return last
			}
			return -float64(last * (1 + 1e-3*r.Float64()))
		})
	case "ties":
		best := 7.0
		if c.Op.Name == "fast_argmin" {
			best = -7
		}
		return generate(d, shape, func(i int) float64 {
			if tied(i/n, i%n, n) {
				return best
			}
			return float64(r.IntN(5) - 2)
		})
	case "special":
		inf := math.Inf(1)
		if out == 1 { // of sum: a few among all
			odd := []float64{inf, math.NaN(), -inf, d.MaxFinite()}
			return generate(d, shape, func(i int) float64 {
				if every := n/5 + 1; i%every == 3 {
					return odd[i/every%len(odd)]
				}
				return r.Normal()
			})
		}
		// A row with none, then rows with a few.
		return generate(d, shape, func(i int) float64 {
			row, k := i/n%6, i%n
			switch {
			case row == 1 && k == 0, row == 4 && k == n-1:
				return inf
			case row == 2 && k == n-1, row == 4 && k == 0:
				return -inf
			case row == 3 && k == n/2:
				return math.NaN()
			case row == 5 && k%2 == 0:
				return math.Copysign(0, float64(k%4-1))
			}
			return r.Normal()
		})
	case "nan":
		// Rows with NaN first, last, in the middle, everywhere but one, in all
		// and in none.
		return generate(d, shape, func(i int) float64 {
			row, k := i/n, i%n
			if [...]bool{k == 0, k == n-1, k == n/2 || k == 32%n, k != n/3, true, false}[row%6] {
				return math.NaN()
			}
			return r.Normal()
		})
	}
	panic("ops: reductions have no input class " + c.Class)
}

// tied tells which elements of a row share the extreme: of k places at the
// edges of groups, waves and blocks.
func tied(row, k, n int) bool {
	for _, t := range [][]int{{0, n - 1}, {1, 2}, {31, 32}, {32, 64}, {1, 1024}, {1023, 1024, n / 2}}[row%6 : row%6+1] {
		for _, at := range t {
			if k == at%n {
				return true
			}
		}
	}
	return false
}

// rowOf returns the places in src of output o's elements, in order.
func rowOf(p *Problem) func(o int) []int {
	info, dims := p.Arg("info").Buf, int(p.Arg("num_dims").Int)
	ds, ss := make([]int, dims), make([]int, dims)
	for i := range dims {
		ds[i], ss[i] = int(info.Int(i)), int(info.Int(dims+i))
	}
	at := walker(ds, ss)
	n := p.Case.Dim("n")
	return func(o int) []int {
		places := make([]int, n)
		for k := range places {
			places[k] = at(o*n + k)
		}
		return places
	}
}

func expectFast(p *Problem) *compare.Expected {
	c := p.Case
	out, n, v := c.Dim("out"), c.Dim("n"), c.Variant
	src, row := p.Arg("src").Buf, rowOf(p)
	e := &compare.Expected{DType: v.T, Axes: []compare.Axis{{Name: "out", Size: out}}}
	e.Identity = n == 1
	if c.Op.Name == "fast_sum" && v.T.IsFloat() {
		g := newSumGauge(e, out, p.Arithmetic.Lanes)
		if g.lanes < 2 {
			chains(e, n)
		}
		if p.inFloat() {
			g.a = tensor.F32
		}
		switch c.Class {
		case "same", "ones":
			e.Degenerate, e.Group = true, out // equal elements, equal errors
		case "cancel", "large":
			e.Degenerate = true // 0 may be within the bound
		}
		xs := make([]float64, n)
		for o := range out {
			for k, at := range row(o) {
				xs[k] = src.Float(at)
			}
			g.add(e, o, xs, threads(n))
		}
		return e
	}
	e.ULP = true
	e.Exact = tensor.New(v.T, out)
	if isArg(c.Op) {
		e.DType, e.Exact = tensor.U32, tensor.New(tensor.U32, out)
		e.Degenerate = n == 1 // every index is 0
		e.Tied = func(o int, k uint64) bool {
			if k >= uint64(n) {
				return false
			}
			places := row(o)
			i, j := places[k], places[e.Exact.Bits(o)]
			return src.Bits(i) == src.Bits(j) || !above(src, i, j) && !above(src, j, i) && !isNaN(src, i) && !isNaN(src, j)
		}
	}
	for o := range out {
		places := row(o)
		switch c.Op.Name {
		case "fast_sum":
			var s uint64
			for _, at := range places {
				s += src.Bits(at)
			}
			e.Exact.SetBits(o, s)
		case "fast_min", "fast_max":
			e.Exact.SetBits(o, extreme(src, places, c.Op.Name == "fast_max"))
		default:
			e.Exact.SetBits(o, uint64(argExtreme(src, places, threads(n), c.Op.Name == "fast_argmax")))
		}
	}
	return e
}

// isNaN reports whether an element of t is NaN.
func isNaN(t *tensor.Tensor, i int) bool { return t.DType.IsFloat() && math.IsNaN(t.Float(i)) }

// above compares two elements of t as their type does: false where either
// is NaN.
func above(t *tensor.Tensor, i, j int) bool {
	switch {
	case t.DType.IsFloat():
		return t.Float(i) > t.Float(j)
	case t.DType == tensor.I64:
		return t.Int(i) > t.Int(j)
	}
	return t.Bits(i) > t.Bits(j)
}

// extreme returns the bits of the greatest or least of the elements of t
// at places. Of f32 and f64 a NaN is dropped, of f16 and bf16 it is kept.
func extreme(t *tensor.Tensor, places []int, greatest bool) uint64 {
	best := -1
	for _, at := range places {
		if isNaN(t, at) {
			if t.DType.Precision() <= 11 {
				return t.DType.Encode(math.NaN())
			}
			continue
		}
		if best < 0 || greatest && above(t, at, best) || !greatest && above(t, best, at) {
			best = at
		}
	}
	if best >= 0 {
		return t.Bits(best)
	}
	// Nothing but NaN: what the reduction starts from.
	if greatest {
		return t.DType.Encode(math.Inf(-1))
	}
	return t.DType.Encode(math.Inf(1))
}

// argExtreme is the order of candle's kernel, which decides among equal
// elements: each of lanes threads takes its elements by strict comparison,
// then lane i takes in lane i+s for s = lanes/2, lanes/4, ..., 1.
func argExtreme(t *tensor.Tensor, places []int, lanes int, greatest bool) int {
	better := func(i, j int) bool { // element i than element j
		if greatest {
			return above(t, places[i], places[j])
		}
		return above(t, places[j], places[i])
	}
	best := make([]int, lanes) // element, or -1
	for l := range best {
		best[l] = -1
	}
	for i := range places {
		if l := i % lanes; best[l] < 0 || better(i, best[l]) {
			best[l] = i
		}
	}
	for s := lanes / 2; s > 0; s /= 2 {
		for l := range s {
			if b := best[l+s]; b >= 0 && better(b, best[l]) {
				best[l] = b
			}
		}
	}
	return best[0]
}

// A sumGauge puts truths and bounds of sums of floats.
type sumGauge struct {
	d     tensor.DType
	a     tensor.DType // that adds
	lanes int          // that share a sum
}

// newSumGauge readies e for sums in its type.
func newSumGauge(e *compare.Expected, out int, lanes int) sumGauge {
	e.Value, e.Hard, e.Likely = make([]float64, out), make([]float64, out), make([]float64, out)
	e.Allow = make([]compare.Class, out)
	if e.DType == tensor.F64 {
		e.Tail = make([]float64, out)
	}
	return sumGauge{d: e.DType, a: e.DType, lanes: lanes}
}

// truth stores the exact sum of xs as element o and returns the sum of
// magnitudes. Where that leaves the range of the type that adds, so may
// partial sums.
func (g sumGauge) truth(e *compare.Expected, o int, xs []float64) float64 {
	var acc truth.Accumulator
	var size float64 // of the finite ones
	for _, x := range xs {
		acc.Add(x)
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			size += math.Abs(x)
		}
	}
	t := acc.Sum()
	e.Value[o] = t.Hi
	if e.Tail != nil {
		e.Tail[o] = t.Lo
	}
	if size >= g.a.MaxFinite() {
		e.Allow[o] = compare.NaN | compare.PosInf | compare.NegInf
	}
	return size
}

// add stores the truth and the bounds of a sum, for which candle launches so
// many threads.
func (g sumGauge) add(e *compare.Expected, o int, xs []float64, threads int) {
	size := g.truth(e, o, xs)
	n := len(xs)
	u, t := g.a.UnitRoundoff(), e.Value[o]
	bound := func(share float64) float64 {
		b := float64(size * share)
		if isHalf(g.d) && t-t == 0 {
			b = stored(g.d, t, b)
		}
		return b
	}
	magnitudes := make([]float64, n)
	for i, x := range xs {
		magnitudes[i] = math.Abs(x)
	}
	s := newRow(magnitudes, g.lanes).summing(g.lanes, math.Min(u, u32))
	e.Hard[o], e.Likely[o] = bound(s.hard), bound(s.likely)
	if e.Shared != nil {
		e.Shared[o] = bound(s.shared)
	}
	if !isHalf(g.a) {
		return
	}
	// In candle's order, in the type. Partial sums are off themselves by up to
	// gamma times what they add, of which all together add no more than size
	// on each level.
	h := math.Min(float64(n-1), float64((n+threads-1)/threads-1+bits.Len(uint(threads))-1))
	sum, square := partials(xs, threads)
	second := float64(h * u * gamma(h, u) * size)
	steps := math.Min(float64(size*gamma(h, u)), float64(u*sum)+second)
	e.Hard[o] = math.Max(e.Hard[o], steps)
	if e.Shared != nil {
		e.Shared[o] = math.Max(e.Shared[o], steps)
	}
	e.Likely[o] = math.Min(e.Hard[o], math.Max(e.Likely[o], float64(lambda*u*math.Sqrt(square))+second))
}

// partials returns the sum of the magnitudes of all partial sums in
// candle's order, u times which bounds the error to first order (numerics.md
// 4.1), and the sum of their squares. Both are infinite for a sum that is
// not finite.
func partials(xs []float64, lanes int) (sum, square float64) {
	lane, some := make([]float64, lanes), make([]bool, lanes)
	put := func(l int, x float64) {
		if lane[l] += x; some[l] {
			sum += math.Abs(lane[l])
			square += float64(lane[l] * lane[l])
		}
		some[l] = true
	}
	for i, x := range xs {
		put(i%lanes, x)
	}
	for s := lanes / 2; s > 0; s /= 2 {
		for l := range s {
			if some[l+s] {
				put(l, lane[l+s])
			}
		}
	}
	if math.IsNaN(sum) {
		return math.Inf(1), math.Inf(1)
	}
	return sum, square
}

func traceFast(p *Problem, i int) []Input {
	src := p.Arg("src").Buf
	return traceElements(src, rowOf(p)(i))
}

// traceElements lists the first elements that an output depends on.
func traceElements(src *tensor.Tensor, places []int) []Input {
	var list []Input
	for k, at := range places[:min(len(places), 6)] {
		list = append(list, Input{Name: fmt.Sprintf("x[%d]", k), Index: at, Value: compare.Num(src.Float(at))})
	}
	return list
}
