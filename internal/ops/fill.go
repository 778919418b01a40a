package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// fillOps are candle's fill module: memory set to a value, and rows copied
// between buffers of different pitch. What lies between is left alone.
func fillOps() []*Op {
	const bound = "0: elements are copied, the sign of a zero included"
	var variants []Variant
	for _, t := range elements() {
		variants = append(variants, Variant{T: t})
	}
	list := []*Op{
		{
			Name: "fill", Symbol: "fill_{T}",
			tune:    tuneElements(2),
			Summary: "every element set to one value",
			Formula: "buf[i] = value",
			Params:  []Param{{Out, T, "buf"}, {Scalar, T, "value"}, {Scalar, SizeT, "numel"}},
			Bind:    bindFill, Expect: expectFill,
		},
		{
			Name: "copy2d", Symbol: "copy2d_{T}",
			tune: func(q *Problem) { // two accesses are what the kernel has under way
				spread(q, vectors(int(q.Arg("d1").Int*q.Arg("d2").Int), q.widest()), 2)
			},
			Summary: "rows copied between buffers of different pitch",
			Formula: "dst[i*dst_s + j] = src[i*src_s + j] for i < d1, j < d2",
			Params: []Param{
				{In, T, "src"}, {InOut, T, "dst"}, {Scalar, U32, "d1"}, {Scalar, U32, "d2"},
				{Scalar, U32, "src_s"}, {Scalar, U32, "dst_s"},
			},
			Bind: bindCopy2D, Expect: expectCopy2D, Trace: traceCopy2D,
		},
		{
			Name: "const_set", Symbol: "const_set_{T}",
			tune:    tuneElements(2),
			Summary: "the elements of a strided view set to one value",
			Formula: "out[at(i)] = inp, where at(i) is element i of the layout info",
			Params: []Param{
				{Scalar, SizeT, "numel"}, {Scalar, SizeT, "num_dims"}, {In, SizeT, "info"},
				{Scalar, T, "inp"}, {InOut, T, "out"},
			},
			Bind: bindConstSet, Expect: expectConstSet,
		},
	}
	cases := []func(*Op, Variant, Level) []Case{fillCases, copy2DCases, constSetCases}
	for k, o := range list {
		o.Family, o.Module, o.Parity, o.Bound = "fill", "fill", E0, bound
		o.Variants = variants
		o.Cases = func(v Variant, level Level) []Case { return cases[k](o, v, level) }
		o.Timed = func(v Variant, s Scale) []Timed {
			return timed(s.hidden(), func(x extent) Case {
				c := Case{Op: o, Variant: v, Class: constants(v)[0]}
				switch o.Name {
				case "fill":
					c.Dims = []Dim{D("n", x.rows*x.cols), D("offset", 0)}
				case "copy2d": // into rows twice as long, as a concatenation does
					c.Class = "mixed"
					c.Dims = []Dim{D("d1", x.rows), D("d2", x.cols), D("src_s", x.cols), D("dst_s", 2*x.cols), D("offset", 0)}
				default:
					c = laid{1, x.rows, x.cols, "null", c.Class}.on(o, v)
				}
				return c
			})
		}
		o.Work = func(p *Problem) (bytes, flops int64) {
			if p.Case.Op.Name == "copy2d" {
				return 2 * int64(p.Case.Dim("d1")*p.Case.Dim("d2")*p.Case.Variant.T.Size()), 0
			}
			return moved(p), 0
		}
	}
	return list
}

// constants are the input classes of an op that spreads one value.
func constants(v Variant) []string {
	if v.T.IsFloat() {
		return []string{"normal", "nan", "negative_zero", "infinite", "subnormal"}
	}
	return []string{"random", "zero", "ones"}
}

// setConstant draws the scalar of a class.
func setConstant(a *Arg, class string, d tensor.DType, r *Rand) {
	switch class {
	case "normal":
		a.Float = d.Round(1 + r.Float64())
	case "nan":
		a.Float = math.NaN()
	case "negative_zero":
		a.Float = math.Copysign(0, -1)
	case "infinite":
		a.Float = math.Inf(-1)
	case "subnormal":
		a.Float = 3 * d.MinSubnormal()
	case "random":
		a.Int = integerScalar(d, r.Uint64()|1)
	case "zero":
	case "ones":
		a.Int = integerScalar(d, ^uint64(0))
	default:
		panic("ops: no input class " + class)
	}
}

// constantBits are the bits of such a scalar.
func constantBits(a *Arg, d tensor.DType) uint64 {
	if d.IsFloat() {
		return d.Encode(a.Float)
	}
	return uint64(a.Int)
}

func fillCases(o *Op, v Variant, level Level) []Case {
	classes := constants(v)
	type pick struct {
		n, offset int
		class     string
	}
	picks := []pick{{1, 0, classes[0]}, {1023, 0, classes[0]}, {1024, 0, classes[0]}, {1025, 0, classes[0]}, {1025, 1, classes[0]}, {2697, 0, classes[0]}, {0, 0, classes[0]}}
	for _, class := range classes[1:] {
		picks = append(picks, pick{37, 0, class})
	}
	if level == Thorough {
		for _, n := range []int{2, 31, 32, 33, 63, 64, 65, 255, 257, 65535, 65537} {
			picks = append(picks, pick{n, 0, classes[0]}, pick{n, 3, classes[0]})
		}
	}
	var cases []Case
	for _, p := range picks {
		cases = append(cases, Case{Op: o, Variant: v, Class: p.class, Dims: []Dim{D("n", p.n), D("offset", p.offset)}})
	}
	return cases
}

func bindFill(c *Case, r *Rand) *Problem {
	p := &Problem{Case: c, Args: make([]Arg, 3)}
	n, offset := c.Dim("n"), c.Dim("offset")
	p.Grid, p.Block = elementwise(n)
	*p.Arg("buf") = Arg{Buf: tensor.New(c.Variant.T, offset+n), Offset: offset}
	if offset > 0 { // what stands before must stay
		*p.Arg("buf") = Arg{Buf: values(c.Variant.T, r, offset+n), Offset: offset, Initial: true}
	}
	setConstant(p.Arg("value"), c.Class, c.Variant.T, r)
	p.Arg("numel").Int = int64(n)
	return p
}

func expectFill(p *Problem) *compare.Expected {
	out := p.Arg("buf").Buf.Clone()
	b := constantBits(p.Arg("value"), out.DType)
	for i := p.Arg("buf").Offset; i < out.Len(); i++ {
		out.SetBits(i, b)
	}
	return &compare.Expected{
		DType: out.DType, Exact: out, SignedZero: true, ULP: true, Degenerate: true,
		Axes: []compare.Axis{{Name: "n", Size: out.Len()}},
	}
}

func copy2DCases(o *Op, v Variant, level Level) []Case {
	type size struct{ d1, d2, srcS, dstS, offset int }
	sizes := []size{
		{1, 1, 1, 1, 0},
		{3, 341, 341, 341, 0}, // 1023, without gaps
		{32, 32, 64, 48, 0},   // rows that start at multiples of 16 bytes
		{25, 41, 43, 64, 0},   // 1025
		{31, 87, 89, 91, 0},   // 2697: three blocks, which must not overlap
		{5, 7, 9, 11, 0},
		{5, 16, 16, 32, 1}, // rows that do not, for their start
		{5, 16, 17, 32, 0}, // nor here, for the source's pitch
		{5, 16, 32, 17, 0}, // and the destination's
		{6, 8, 0, 8, 0},    // one row over and over
		{0, 5, 5, 5, 0},    // nothing to do
	}
	if level == Thorough {
		sizes = append(sizes, size{1, 4096, 4096, 4096, 0}, size{4096, 1, 1, 3, 0}, size{4096, 1, 3, 1, 0}, size{31, 33, 65, 34, 0},
			size{63, 64, 64, 65, 0}, size{63, 64, 96, 128, 0}, size{255, 257, 257, 300, 0}, size{255, 256, 256, 256, 3}, size{129, 512, 528, 512, 0})
	}
	var cases []Case
	for _, s := range sizes {
		cases = append(cases, Case{Op: o, Variant: v, Class: "mixed", Dims: []Dim{
			D("d1", s.d1), D("d2", s.d2), D("src_s", s.srcS), D("dst_s", s.dstS), D("offset", s.offset),
		}})
	}
	return cases
}

func bindCopy2D(c *Case, r *Rand) *Problem {
	p := &Problem{Case: c, Args: make([]Arg, 6)}
	d1, d2, srcS, dstS, offset := c.Dim("d1"), c.Dim("d2"), c.Dim("src_s"), c.Dim("dst_s"), c.Dim("offset")
	p.Grid, p.Block = elementwise(d1 * d2)
	for name, v := range map[string]int{"d1": d1, "d2": d2, "src_s": srcS, "dst_s": dstS} {
		p.Arg(name).Int = int64(v)
	}
	storage := func(pitch int) int {
		if d1 == 0 {
			return 0
		}
		return offset + (d1-1)*pitch + d2
	}
	*p.Arg("src") = Arg{Buf: values(c.Variant.T, r, storage(srcS)), Offset: min(offset, d1)}
	*p.Arg("dst") = Arg{Buf: values(c.Variant.T, r, storage(dstS)), Offset: min(offset, d1)}
	if d1*d2 == 1 {
		put(p.Arg("src").Buf, 0, 7)
	}
	return p
}

func expectCopy2D(p *Problem) *compare.Expected {
	c := p.Case
	out := p.Arg("dst").Buf.Clone()
	src, offset := p.Arg("src").Buf, c.Dim("offset")
	for i := range c.Dim("d1") {
		for j := range c.Dim("d2") {
			out.SetBits(offset+i*c.Dim("dst_s")+j, src.Bits(offset+i*c.Dim("src_s")+j))
		}
	}
	return &compare.Expected{
		DType: out.DType, Exact: out, SignedZero: true, ULP: true, Identity: true,
		Axes: []compare.Axis{{Name: "dst", Size: out.Len()}},
	}
}

func traceCopy2D(p *Problem, i int) []Input {
	c := p.Case
	k := i - c.Dim("offset")
	if k < 0 || k%c.Dim("dst_s") >= c.Dim("d2") {
		return []Input{operand(p, "dst", i)} // between the rows
	}
	return []Input{operand(p, "src", c.Dim("offset")+k/c.Dim("dst_s")*c.Dim("src_s")+k%c.Dim("dst_s"))}
}

func constSetCases(o *Op, v Variant, level Level) []Case {
	classes := constants(v)
	list := []laid{
		{1, 1, 1, "null", classes[0]},
		{3, 11, 31, "contiguous", classes[0]}, // 1023, one short of a block
		{5, 5, 41, "null", classes[0]},        // 1025: one in the second block
		{3, 29, 31, "contiguous", classes[0]}, // 2697: three blocks, which must not overlap
		{3, 7, 11, "transposed", classes[0]},
		{3, 7, 11, "inner2", classes[0]},
		{3, 7, 11, "offset", classes[0]},
		{3, 0, 5, "null", classes[0]}, // nothing to do
	}
	for _, class := range classes[1:] {
		list = append(list, laid{1, 7, 19, "inner2", class})
	}
	if level == Thorough {
		for _, class := range classes {
			list = append(list, laid{7, 13, 5, "transposed", class}, laid{4, 9, 33, "inner2", class}, laid{2, 31, 33, "offset", class},
				laid{1, 255, 257, "null", class}, laid{1, 257, 257, "contiguous", class}, laid{1, 1, 257, "null", class})
		}
	}
	var cases []Case
	for _, s := range list {
		cases = append(cases, s.on(o, v))
	}
	return cases
}

func bindConstSet(c *Case, r *Rand) *Problem {
	p, ls := bindElementwise(c, "info", "out")
	p.Arg("out").Buf = values(c.Variant.T, r, ls[0].storage)
	setConstant(p.Arg("inp"), c.Class, c.Variant.T, r)
	return p
}

func expectConstSet(p *Problem) *compare.Expected {
	c := p.Case
	ls, _ := c.views(1)
	out := p.Arg("out").Buf.Clone()
	b := constantBits(p.Arg("inp"), out.DType)
	n := tensor.Count(c.shape())
	for i := range n {
		out.SetBits(ls[0].at(i), b)
	}
	return &compare.Expected{
		DType: out.DType, Exact: out, SignedZero: true, ULP: true,
		Degenerate: n == out.Len(), // no gaps: a constant
		Axes:       []compare.Axis{{Name: "out", Size: out.Len()}},
	}
}
