package ops

import (
	"fmt"
	"math/bits"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
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
