package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// upsampleOps resize images; candle has them in its conv module.
func upsampleOps() []*Op {
	o := &Op{
		tune: func(q *Problem) { // the two or four rows that the kernel has under way, or a few times so many
			dst := q.Arg("dst").Buf
			size := dst.DType.Size()
			spreadBlocks(q, vectors(dst.Len(), size), max(4, access/size), tunedBlock/2)
		},
		Name: "upsample_nearest2d", Family: "upsample", Module: "conv", Symbol: "upsample_nearest2d_{T}",
		Summary: "images resized by taking the nearest element of the source",
		Formula: `dst[b][c][w][h] = src[b][c][min(floor(w*w_scale), w_in-1)][min(floor(h*h_scale), h_in-1)]
w_scale = w_in/w_out and h_scale = h_in/h_out, each quotient and each product rounded to double;
w is dimension 2 and h dimension 3, as candle's kernel calls them; info has the source's dims and strides`,
		Bound:  "0: elements are moved as they are (numerics.md 0.4)",
		Parity: E0,
		Params: []Param{
			{Scalar, SizeT, "w_out"}, {Scalar, SizeT, "h_out"}, {Scalar, F64, "w_scale"}, {Scalar, F64, "h_scale"},
			{In, SizeT, "info"}, {In, T, "src"}, {Out, T, "dst"},
		},
		Variants: append(floats(), Variant{T: tensor.U8}, Variant{T: tensor.U32}),
		Bind:     bindUpsample,
		Expect:   expectUpsample,
		Trace: func(p *Problem, i int) []Input {
			at := newUpsampleIndex(p).at(i)
			return []Input{{Name: "src", Index: at, Value: compare.Num(p.Arg("src").Buf.Float(at))}}
		},
		Work: func(p *Problem) (bytes, flops int64) {
			return int64(len(p.Arg("src").Buf.Data) + len(p.Arg("dst").Buf.Data)), 0
		},
	}
	o.Cases = func(v Variant, level Level) []Case { return upsampleCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.images(), func(x extent) Case {
			return upsampleCase(o, v, upsampleSize{x.from, x.rows, x.cols / 2, x.cols / 2, x.cols, x.cols}, "dense")
		})
	}
	return []*Op{o}
}

type upsampleSize struct{ b, c, wIn, hIn, wOut, hOut int }

func upsampleCase(o *Op, v Variant, s upsampleSize, layout string) Case {
	return Case{Op: o, Variant: v, Class: "values", Dims: []Dim{
		D("b", s.b), D("c", s.c), D("w_in", s.wIn), D("h_in", s.hIn), D("w_out", s.wOut), D("h_out", s.hOut),
		{Name: "layout", Text: layout},
	}}
}

func upsampleCases(o *Op, v Variant, level Level) []Case {
	type size = upsampleSize
	var cases []Case
	add := func(s size, layout string) { cases = append(cases, upsampleCase(o, v, s, layout)) }
	add(size{1, 1, 1, 1, 3, 5}, "dense")      // everything is one element
	add(size{2, 3, 4, 5, 8, 15}, "dense")     // whole factors, which differ
	add(size{0, 3, 4, 5, 8, 10}, "dense")     // nothing to do
	add(size{1, 1, 7, 5, 31, 33}, "dense")    // 1023 elements, odd factors
	add(size{1, 2, 5, 6, 16, 32}, "dense")    // 1024 elements, a block
	add(size{1, 1, 6, 9, 25, 41}, "dense")    // 1025 elements
	add(size{2, 2, 31, 17, 13, 7}, "dense")   // smaller
	add(size{1, 2, 49, 93, 98, 186}, "step")  // i*(1/2) with every other element
	add(size{3, 2, 5, 14, 9, 20}, "permuted") // 0.7*10 is 7 in double, less in float
	// 55*(18/66) and 13*(30/26) are less than 15 in double, but not in float,
	// nor as fractions; and four blocks.
	add(size{1, 2, 18, 30, 66, 26}, "dense")
	add(size{3, 2, 5, 7, 9, 10}, "broadcast")
	add(size{2, 3, 4, 5, 7, 11}, "offset")
	// Twice the size, where kernels may read half of what they write at once.
	add(size{2, 3, 5, 16, 10, 32}, "dense")
	add(size{1, 2, 7, 32, 13, 64}, "offset")
	// One image of a tensor past 2^32: what kernels do with 64 bits.
	add(size{1, 2, 5, 6, 16, 32}, "far")
	add(size{1, 3, 7, 5, 9, 11}, "far")
	if level == Fast {
		return cases
	}
	// n*(1/n) is not 1 in double for n = 49, 98, 103...: there the index
	// depends on the order of the arithmetic.
	for _, n := range []int{49, 98, 103, 107, 161, 187} {
		add(size{1, 1, 1 + n/3, n, n, n * 3}, "dense")
		add(size{1, 2, n, 2, n*2 + 1, 5}, "permuted")
	}
	for _, l := range []string{"dense", "step", "permuted", "broadcast", "offset"} {
		add(size{1, 3, 64, 48, 128, 96}, l)
		add(size{5, 7, 11, 13, 17, 19}, l)
	}
	return cases
}

func bindUpsample(c *Case, r *Rand) *Problem {
	b, ch, wIn, hIn := c.Dim("b"), c.Dim("c"), c.Dim("w_in"), c.Dim("h_in")
	wOut, hOut := c.Dim("w_out"), c.Dim("h_out")
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	strides := []int{ch * wIn * hIn, wIn * hIn, hIn, 1}
	storage, offset := b*ch*wIn*hIn, 0
	switch c.Dims[len(c.Dims)-1].Text {
	case "step": // every other element of longer rows
		strides = []int{ch * wIn * 2 * hIn, wIn * 2 * hIn, 2 * hIn, 2}
		storage *= 2
	case "permuted": // channels last
		strides = []int{wIn * hIn * ch, 1, hIn * ch, ch}
	case "broadcast": // one image for all
		strides[0] = 0
		storage = ch * wIn * hIn
	case "far":
		strides[0] = 1 << 33
	case "offset":
		offset = 7
		storage += offset
	}
	info := []int64{int64(b), int64(ch), int64(wIn), int64(hIn)}
	for _, s := range strides {
		info = append(info, int64(s))
	}
	p.Arg("w_out").Int, p.Arg("h_out").Int = int64(wOut), int64(hOut)
	p.Arg("w_scale").Float = float64(wIn) / float64(wOut)
	p.Arg("h_scale").Float = float64(hIn) / float64(hOut)
	p.Arg("info").Buf = tensor.FromInts(tensor.U64, info, 8)
	p.Arg("src").Buf, p.Arg("src").Offset = values(c.Variant.T, r, storage), offset
	p.Arg("dst").Buf = tensor.New(c.Variant.T, b, ch, wOut, hOut)
	p.Grid, p.Block = elementwise(b * ch * wOut * hOut)
	return p
}

// An upsampleIndex maps an output element to the source's.
type upsampleIndex struct {
	c, wOut, hOut, wIn, hIn int
	wScale, hScale          float64
	strides                 [4]int
	offset                  int
}

func newUpsampleIndex(p *Problem) upsampleIndex {
	c := p.Case
	g := upsampleIndex{
		c: c.Dim("c"), wOut: c.Dim("w_out"), hOut: c.Dim("h_out"), wIn: c.Dim("w_in"), hIn: c.Dim("h_in"),
		wScale: p.Arg("w_scale").Float, hScale: p.Arg("h_scale").Float, offset: p.Arg("src").Offset,
	}
	for k := range g.strides {
		g.strides[k] = int(p.Arg("info").Buf.Int(4 + k))
	}
	return g
}

func (g *upsampleIndex) nearest(i int, scale float64, dim int) int {
	return min(int(math.Floor(float64(float64(i)*scale))), dim-1)
}

func (g upsampleIndex) at(i int) int {
	h, rest := i%g.hOut, i/g.hOut
	w, rest := rest%g.wOut, rest/g.wOut
	ch, b := rest%g.c, rest/g.c
	return g.offset + b*g.strides[0] + ch*g.strides[1] +
		g.nearest(w, g.wScale, g.wIn)*g.strides[2] + g.nearest(h, g.hScale, g.hIn)*g.strides[3]
}

func expectUpsample(p *Problem) *compare.Expected {
	src, out := p.Arg("src").Buf, p.Arg("dst").Buf.Clone()
	e := &compare.Expected{DType: p.Case.Variant.T, Exact: out, SignedZero: true, ULP: true}
	for i, name := range []string{"b", "c", "w", "h"} {
		e.Axes = append(e.Axes, compare.Axis{Name: name, Size: out.Shape[i]})
	}
	// One element for all of the output is meant.
	e.Degenerate = p.Case.Dim("w_in")*p.Case.Dim("h_in") == 1
	g := newUpsampleIndex(p)
	for i := range out.Len() {
		out.SetBits(i, src.Bits(g.at(i)))
	}
	return e
}
