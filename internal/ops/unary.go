package ops

import (
	"math"
	"slices"
	"strconv"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// A unary is what one function of one element adds to the family: its
// texts, its truth and bound, and where its inputs are worth looking at.
type unary struct {
	name, summary, formula string
	bound                  []string // what unaryBounds has of it
	parity                 Parity

	// exact gives the only right result of bit-exact functions, with the
	// sign of a zero where signed; judge the truth and bound of the others.
	// Of functions that are bit-exact in f32 and f64 alone, both are there.
	exact  func(d tensor.DType, x float64) float64
	signed bool
	judge  func(m *unaryModel, x float64) unaryLimits

	param  string    // name of the function's parameter, if it has one
	params []float64 // its values, the first three in fast cases
	// points are where kernels branch or results leave the range; inputs
	// lie around them, with both signs unless positive.
	points   []float64
	positive bool // the function is NaN below zero
	// The exponents of the inputs over which the function varies; nil is
	// all.
	exponents []int
	// proportional is whether the error is proportional to the result;
	// single that a half kernel rounds f32's result once.
	proportional, single bool
	// The accesses of a thread in a tuned launch, where the kind of function
	// does not say it.
	accesses int
}

// unaryOps are candle's functions of one element.
func unaryOps() []*Op {
	var all []*Op
	for i := range unaries {
		all = append(all, unaryOp(&unaries[i]))
	}
	return all
}

// layouts are how an input lies in memory. Kernels skip the walk over
// strides where a layout is contiguous, and move 16 bytes at once where
// both pointers are aligned.
var layouts = []layout{
	{name: "null"},              // info is null
	{name: "dense"},             // contiguous by info
	{name: "inplace"},           // inp is null
	{name: "offset", offset: 3}, // misaligned for 16 bytes
	{name: "transposed", dims: []int{5, 7, 6}, strides: []int{1, 5, 35}},                 // stored (6,7,5)
	{name: "broadcast", dims: []int{6, 5, 7}, strides: []int{0, 7, 1}},                   // one slice for all
	{name: "step", dims: []int{3, 37}, strides: []int{74, 2}},                            // every other element
	{name: "blocks", dims: []int{33, 32}, strides: []int{1, 33}, offset: 1},              // two blocks, transposed
	{name: "unit", dims: []int{1, 19, 1}, strides: []int{23, 1, 5}},                      // strides of dims of 1 mean nothing
	{name: "repeat", dims: []int{8, 9, 3}, strides: []int{9, 1, 0}},                      // each element three times
	{name: "permuted", dims: []int{3, 4, 5, 6}, strides: []int{1, 90, 18, 3}},            // stored (4,5,6,3)
	{name: "rows", dims: []int{31, 32}, strides: []int{40, 1}, offset: 7},                // part of longer rows
	{name: "scalar", dims: []int{}, strides: []int{}},                                    // no dimension at all
	{name: "mixed", dims: []int{2, 3, 4, 5}, strides: []int{0, 1, 60, 12}, offset: 2},    // broadcast, permuted, step
	{name: "long", dims: []int{2, 1, 5, 103}, strides: []int{1030, 0, 2, 10}, offset: 0}, // 1030: two blocks
}

type layout struct {
	name          string
	dims, strides []int // nil is one dimension of the case's n
	offset        int
}

// size returns the number of elements that l indexes.
func (l *layout) size() int { return tensor.Count(l.dims) }

// at returns the element of the storage that element i is, by the
// definition of strides.
func (l *layout) at(i int) int {
	if l.dims == nil {
		return l.offset + i
	}
	at := l.offset
	for d := len(l.dims) - 1; d >= 0; d-- {
		at += i % l.dims[d] * l.strides[d]
		i /= l.dims[d]
	}
	return at
}

// storage returns the number of elements that hold n of layout l.
func (l *layout) storage(n int) int {
	if l.dims == nil {
		return l.offset + n
	}
	last := l.offset
	for d, dim := range l.dims {
		last += (dim - 1) * l.strides[d]
	}
	return last + 1
}

func unaryOp(f *unary) *Op {
	o := &Op{
		tune:     tuneElements(unaryAccesses(f)),
		Name:     f.name,
		Family:   "unary",
		Module:   "unary",
		Symbol:   "u" + f.name + "_{T}",
		Summary:  f.summary,
		Formula:  f.formula,
		Bound:    unaryText(f.bound),
		Parity:   f.parity,
		Variants: floats(),
		Params:   []Param{{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "info"}},
		Bind:     func(c *Case, r *Rand) *Problem { return bindUnary(f, c, r) },
		Expect:   func(p *Problem) *compare.Expected { return expectUnary(f, p) },
		Trace: func(p *Problem, i int) []Input {
			inp := unaryInput(p)
			at := inp.l.at(i)
			in := []Input{{Name: "x", Index: at, Value: compare.Num(inp.buf.Float(at))}}
			if f.param != "" {
				in = append(in, Input{Name: f.param, Value: compare.Num(p.Arg("param").Float)})
			}
			return in
		},
		Work: func(p *Problem) (bytes, flops int64) {
			return int64(2 * len(p.Arg("out").Buf.Data)), int64(p.Arg("out").Buf.Len())
		},
	}
	if f.param != "" {
		o.Params = append(o.Params, Param{Scalar, T, "param"})
	}
	o.Params = append(o.Params, Param{In, T, "inp"}, Param{Out, T, "out"})
	if f.name == "copy" {
		o.Variants = append(o.Variants, Variant{T: tensor.I64}, Variant{T: tensor.U32}, Variant{T: tensor.U8})
	}
	o.Cases = func(v Variant, level Level) []Case { return unaryCases(o, f, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		var param float64
		if f.param != "" {
			param = f.params[0]
		}
		return timed(s.inner(), func(x extent) Case {
			return unaryCase(o, f, v, x.rows*x.cols, "null", "normal", param)
		})
	}
	return o
}

// unaryCase is a case of n elements, or of the layout's own number.
func unaryCase(o *Op, f *unary, v Variant, n int, where, class string, param float64) Case {
	k := slices.IndexFunc(layouts, func(l layout) bool { return l.name == where })
	if layouts[k].dims != nil {
		n = layouts[k].size()
	}
	c := Case{Op: o, Variant: v, Class: class, Dims: []Dim{D("n", n), {Name: "layout", Value: int64(k), Text: where}}}
	if f.param != "" {
		// The value stands for itself in the name; its place in the
		// table is what Bind looks up.
		i := slices.IndexFunc(f.params, func(p float64) bool { return p == param || p != p && param != param })
		c.Dims = append(c.Dims, Dim{Name: f.param, Value: int64(i), Text: strconv.FormatFloat(param, 'g', -1, 64)})
	}
	return c
}

// unaryAccesses is how many accesses a thread makes: more of a function of
// long code, which then waits less for memory than for its own results.
func unaryAccesses(f *unary) int {
	switch {
	case f.accesses > 0:
		return f.accesses
	case f.judge != nil:
		return 2
	}
	return 1
}

func unaryCases(o *Op, f *unary, v Variant, level Level) []Case {
	var cases []Case
	add := func(n int, where, class string, param float64) {
		cases = append(cases, unaryCase(o, f, v, n, where, class, param))
	}
	param := func(i int) float64 {
		if f.param == "" {
			return 0
		}
		return f.params[i%len(f.params)]
	}
	float, half := v.T.IsFloat(), v.T.Size() == 2
	spread := "loguniform"
	if !float {
		spread = "bits"
	}
	// Awkward sizes: nothing, one thread, blocks short of and past one of
	// 1024. Each way through the kernel has its own case, of few elements.
	add(0, "dense", "normal", param(0))
	add(1, "dense", "normal", param(0))
	add(1023, "inplace", "normal", param(0))
	add(1024, "dense", "normal", param(1))
	add(1025, "null", spread, param(0))
	add(57, "offset", spread, param(0))
	for _, l := range []string{"transposed", "broadcast", "step", "blocks"} {
		add(0, l, spread, param(0))
	}
	if half {
		add(1<<16, "null", "exhaustive", param(0)) // every number there is: 10 s for all ops, interpreted on three targets
	}
	if float && !half {
		for i := range min(3, max(1, len(f.params))) {
			add(len(edges(f, v.T, Fast)), "dense", "edges", param(i))
		}
	}
	if half {
		for i := 1; i < min(3, len(f.params)); i++ {
			add(257, "dense", "bits", param(i))
		}
	}
	if level == Fast {
		return cases
	}
	for _, l := range []string{"unit", "repeat", "permuted", "rows", "scalar", "mixed", "long"} {
		add(0, l, "normal", param(0))
	}
	for _, n := range []int{2, 3, 7, 8, 9, 31, 33, 63, 65, 255, 257, 2047, 2049, 65535, 65537} {
		add(n, "dense", "normal", param(0))
	}
	for i := range max(1, len(f.params)) {
		switch {
		case half && i > 0:
			add(1<<16, "null", "exhaustive", param(i))
		case half:
		case float:
			add(len(edges(f, v.T, Thorough)), "null", "edges", param(i))
			add(1<<15, "null", "loguniform", param(i))
			fallthrough
		default:
			add(1<<15, "null", "bits", param(i))
		}
	}
	add(1<<12, "inplace", "bits", param(0))
	return cases
}

func bindUnary(f *unary, c *Case, r *Rand) *Problem {
	n, l := c.Dim("n"), &layouts[c.Dim("layout")]
	d := c.Variant.T
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	p.Grid, p.Block = elementwise(n)
	p.Arg("numel").Int = int64(n)
	dims, strides := l.dims, l.strides
	if dims == nil {
		dims, strides = []int{n}, []int{1}
	}
	p.Arg("num_dims").Int = int64(len(dims))
	if l.name != "null" && len(dims) > 0 {
		var info []int64
		for _, list := range [][]int{dims, strides} {
			for _, x := range list {
				info = append(info, int64(x))
			}
		}
		p.Arg("info").Buf = tensor.FromInts(tensor.U64, info, len(info))
	}
	if f.param != "" {
		p.Arg("param").Float = d.Round(f.params[c.Dim(f.param)])
	}
	x := unaryInputs(f, c.Class, d, r, l.storage(n))
	out := tensor.New(d, dims...)
	if len(dims) == 0 {
		out = tensor.New(d, 1)
	}
	if l.name == "inplace" {
		p.Arg("out").Buf, p.Arg("out").Initial = x, true
		return p
	}
	p.Arg("inp").Buf, p.Arg("inp").Offset = x, l.offset
	p.Arg("out").Buf = out
	return p
}

// A unaryIn is a problem's input: what out held before the launch where
// the kernel works in place.
type unaryIn struct {
	buf *tensor.Tensor
	l   *layout
}

func unaryInput(p *Problem) unaryIn {
	in := unaryIn{p.Arg("inp").Buf, &layouts[p.Case.Dim("layout")]}
	if in.buf == nil {
		in.buf = p.Arg("out").Buf
	}
	return in
}

func expectUnary(f *unary, p *Problem) *compare.Expected {
	d := p.Case.Variant.T
	in := unaryInput(p)
	out := p.Arg("out").Buf
	n := out.Len()
	e := &compare.Expected{DType: d, ULP: f.proportional, SignedZero: f.signed}
	for i, size := range out.Shape {
		e.Axes = append(e.Axes, compare.Axis{Name: string(rune('i' + i)), Size: size})
	}
	var param float64
	if f.param != "" {
		param = p.Arg("param").Float
	}
	if f.exact != nil && (f.judge == nil || d.Size() > 2) {
		e.Exact = tensor.New(d, out.Shape...)
		e.Identity = f.name == "copy"
		for i := range n {
			if f.name == "copy" {
				e.Exact.SetBits(i, in.buf.Bits(in.l.at(i)))
			} else {
				e.Exact.SetFloat(i, f.exact(d, in.buf.Float(in.l.at(i))))
			}
		}
		return e
	}
	e.Value, e.Hard, e.Likely = make([]float64, n), make([]float64, n), make([]float64, n)
	if d == tensor.F64 {
		e.Tail = make([]float64, n)
	}
	m := newUnaryModel(d, param, p.Arithmetic)
	if f.name == "powf" {
		// x^0 is 1 for every x, x^NaN is 1 for x = 1 alone.
		e.Degenerate = param == 0 || param != param
		e.Identity = param == 1
	}
	if m.half && f.single {
		e.MaxNotNearest = 0.01
	}
	for i := range n {
		w := f.judge(m, in.buf.Float(in.l.at(i)))
		e.Value[i], e.Hard[i], e.Likely[i] = w.t.Hi, w.hard, min(w.likely, w.hard)
		if e.Tail != nil {
			e.Tail[i] = w.t.Lo
		}
		if w.allow != 0 {
			if e.Allow == nil {
				e.Allow = make([]compare.Class, n)
			}
			e.Allow[i] = w.allow
		}
	}
	return e
}

// A unaryLimits is the truth of one element and what may be said of its
// distance to a result.
type unaryLimits struct {
	t            truth.DD
	hard, likely float64
	allow        compare.Class
}

// A unaryModel is the arithmetic that results are bounded for: A computes,
// T stores. Of half types A is float; a kernel in steps may round to T in
// between, as candle's do.
type unaryModel struct {
	d     tensor.DType
	half  bool
	steps bool // half, and not known to compute in float
	param float64

	u, eta   float64 // of T: unit roundoff, smallest subnormal
	over     float64 // 2^(emax+1) of T: where an infinity counts
	uA, etaA float64 // of A
	minA     float64 // A's smallest normal
	a        int     // column of budgets: 0 for f32, 1 for f64
}

func newUnaryModel(d tensor.DType, param float64, how Arithmetic) *unaryModel {
	m := &unaryModel{d: d, half: isHalf(d), steps: isHalf(d) && how.Half == InSteps, param: param, u: d.UnitRoundoff(), eta: d.MinSubnormal()}
	a := d
	if m.half {
		a = tensor.F32
	}
	if d == tensor.F64 {
		m.a = 1
		m.over = math.Inf(1)
	} else {
		m.over = math.Ldexp(1, emax0(d)+1)
	}
	m.uA, m.etaA, m.minA = a.UnitRoundoff(), a.MinSubnormal(), a.MinNormal()
	return m
}
