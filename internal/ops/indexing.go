package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// indexingOps are candle's indexing module: elements of a source chosen,
// or of a destination addressed, by integers. An index equal to the
// largest value of its type is a sentinel: gather and index_select write
// 0 for it, the others skip it.
func indexingOps() []*Op {
	size := func(names ...string) []Param {
		var ps []Param
		for _, n := range names {
			ps = append(ps, Param{Scalar, SizeT, n})
		}
		return ps
	}
	join := func(lists ...[]Param) []Param {
		var ps []Param
		for _, l := range lists {
			ps = append(ps, l...)
		}
		return ps
	}
	ids, inp := Param{In, I, "ids"}, Param{In, T, "inp"}
	out, acc := Param{Out, T, "out"}, Param{InOut, T, "out"}
	scatter := join([]Param{ids, inp, acc}, size("left", "src_dim", "dst_dim", "right"))
	return []*Op{
		indexingOp(&Op{
			Name: "index_select", Symbol: "is_{I}_{T}",
			Summary: "rows of a source chosen by a list of indices",
			Formula: "out[l][i][r] = inp[l][ids[i]][r]; 0 where ids[i] is the sentinel",
			Params:  join(size("numel", "num_dims"), []Param{{In, SizeT, "info"}, ids, inp, out}, size("left", "src_dim", "ids_dim", "right")),
		}),
		indexingOp(&Op{
			Name: "gather", Symbol: "gather_{I}_{T}",
			Summary: "one element of a source for each index",
			Formula: "out[l][i][r] = inp[l][ids[l][i][r]][r]; 0 where the index is the sentinel",
			Params:  join(size("numel"), []Param{ids, inp, out}, size("left", "src_dim", "ids_dim", "right")),
		}),
		indexingOp(&Op{
			Name: "scatter", Symbol: "s_{I}_{T}",
			Summary: "elements of a source put where indices say, in order",
			Formula: "for j in order: out[l][ids[l][j][r]][r] = inp[l][j][r]; the sentinel is skipped",
			Params:  scatter,
		}),
		indexingOp(&Op{
			Name: "scatter_add", Symbol: "sa_{I}_{T}",
			Summary: "elements of a source added where indices say, in order",
			Formula: "for j in order: out[l][ids[l][j][r]][r] += inp[l][j][r], each sum rounded; the sentinel is skipped",
			Params:  scatter,
		}),
		indexingOp(&Op{
			Name: "index_add", Symbol: "ia_{I}_{T}",
			Summary: "rows of a source added to the rows that a list of indices names, in order",
			Formula: "for j in order: out[l][ids[j]][r] += inp[l][j][r], each sum rounded; the sentinel is skipped",
			Params:  join([]Param{ids}, size("ids_dim"), []Param{inp, acc}, size("left", "src_dim", "dst_dim", "right")),
		}),
	}
}

func indexingOp(o *Op) *Op {
	o.Family, o.Module, o.Parity = "indexing", "indexing", E0
	o.Bound = `0: elements are copied, and sums are made one by one in the order of the indices,
each rounded to the element type, by one thread for each output column (numerics.md 0.4, 3)`
	for _, i := range []tensor.DType{tensor.I64, tensor.U32, tensor.U8} {
		for _, t := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.I64, tensor.U32, tensor.U8} {
			o.Variants = append(o.Variants, Variant{T: t, I: i})
		}
	}
	o.tune = tuneIndexing
	o.Cases = func(v Variant, level Level) []Case { return indexingCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.lookups(), func(x extent) Case { return indexingCase(o, v, indexingExtent(o, v, x), "random") })
	}
	o.Bind, o.Expect, o.Trace = bindIndexing, expectIndexing, traceIndexing
	o.Work = func(p *Problem) (bytes, flops int64) {
		size := int64(p.Case.Variant.T.Size())
		n := int64(p.Arg("out").Buf.Len())
		m := int64(p.Arg("ids").Buf.Len())
		moved := 2 * n
		if p.Case.Op.Params[p.Case.Op.Output()].Role == InOut {
			moved = 3 * int64(p.Arg("inp").Buf.Len())
		}
		return moved*size + m*int64(p.Case.Variant.I.Size()), 0
	}
	return o
}

// tuneIndexing gives a thread the accesses that the reading kernels have under
// way, and each column, or 8 bytes of columns, to a thread of index_add.
// The threads of the scatters go down so many columns at once that what these
// address stays in the L2: writes of 4 bytes to memory itself cost 32.
func tuneIndexing(q *Problem) {
	size := q.Case.Variant.T.Size()
	right := int(q.Arg("right").Int)
	switch q.Case.Op.Name {
	case "index_select":
		if right*size%access != 0 {
			size = access // an access for each element
		}
		spread(q, vectors(int(q.Arg("numel").Int), size), 2)
	case "gather":
		spreadBlocks(q, int(q.Arg("numel").Int), 4, 2*tunedBlock)
	case "index_add":
		per := 8 / size // elements of an access
		if right%per != 0 {
			per = 1
		}
		spread(q, int(q.Arg("left").Int)*right/per, 1)
	default:
		spread(q, min(int(q.Arg("left").Int)*right, 1<<15), 1)
	}
}

// An indexingSize is a problem's shape: dim is the source's indexed
// dimension for index_select and gather, the destination's for the
// others; n is the number of indices along it.
type indexingSize struct{ left, dim, n, right int }

func indexingCases(o *Op, v Variant, level Level) []Case {
	type pick struct {
		indexingSize
		class string
	}
	picks := []pick{
		{indexingSize{2, 5, 7, 3}, "random"},
		{indexingSize{1, 254, 31, 5}, "ends"}, // 253 is the last row; u8 can name it
		{indexingSize{3, 7, 13, 11}, "sentinel"},
		{indexingSize{2, 11, 37, 3}, "same"},     // every index the same: order of sums shows
		{indexingSize{1, 33, 33, 31}, "reverse"}, // 1023 elements
		{indexingSize{5, 3, 41, 5}, "random"},    // 1025 elements: one in the second block
		{indexingSize{0, 3, 4, 5}, "random"},     // nothing to do
		// Rows of whole 16 bytes in every type, which kernels may move as
		// such; few rows of out, so that indices close by are equal.
		{indexingSize{2, 5, 7, 16}, "random"},
		{indexingSize{3, 7, 13, 16}, "sentinel"},
		{indexingSize{2, 3, 41, 32}, "random"},
		{indexingSize{1, 11, 37, 16}, "same"},
	}
	if v.I == tensor.U32 { // more of them than a block's, and of others
		picks = append(picks, pick{indexingSize{2, 9, 67, 64}, "ends"}, pick{indexingSize{1, 33, 130, 33}, "random"})
	}
	if o.Name == "index_select" {
		picks = append(picks, pick{indexingSize{3, 5, 7, 4}, "strided"}, pick{indexingSize{3, 5, 7, 4}, "broadcast"}, pick{indexingSize{2, 5, 7, 3}, "offset"},
			pick{indexingSize{2, 5, 7, 16}, "offset"}, // whole 16 bytes that begin at none
			pick{indexingSize{3, 5, 7, 16}, "strided"}, pick{indexingSize{3, 5, 7, 16}, "broadcast"})
	}
	if level == Thorough {
		for _, s := range []indexingSize{{1, 1, 1, 1}, {1, 256, 300, 4}, {2, 64, 64, 16}, {4, 17, 63, 65}, {1, 97, 1024, 2}, {31, 32, 33, 1}, {2, 128, 5, 129}} {
			for _, class := range []string{"random", "ends", "sentinel", "same", "reverse"} {
				if class == "sentinel" && s.n < 3 {
					continue // the sentinel alone: zeros would pass
				}
				picks = append(picks, pick{s, class})
			}
		}
	}
	var cases []Case
	for _, p := range picks {
		if v.I == tensor.U8 && p.dim > 255 {
			continue // 255 is the sentinel, so that row 255 cannot be named
		}
		cases = append(cases, indexingCase(o, v, p.indexingSize, p.class))
	}
	return cases
}

func indexingCase(o *Op, v Variant, s indexingSize, class string) Case {
	return Case{Op: o, Variant: v, Class: class, Dims: []Dim{
		D("left", s.left), D("dim", s.dim), D("n", s.n), D("right", s.right),
	}}
}

// indexingExtent is how an op meets rows of a table: index_select and
// index_add by whole rows, gather by an element of each of its rows, and
// the scatters along columns, which a thread each goes down.
func indexingExtent(o *Op, v Variant, x extent) indexingSize {
	s := indexingSize{1, max(x.from, 1), x.rows, x.cols}
	switch o.Name {
	case "gather":
		s = indexingSize{x.rows, x.cols, x.cols, 1}
	case "scatter", "scatter_add", "index_add":
		s.n = min(x.rows, 256)
		s.left, s.dim = max(x.rows/s.n, 1), s.n
	}
	if v.I == tensor.U8 {
		s.dim = min(s.dim, 255) // 255 is the sentinel
	}
	return s
}

func bindIndexing(c *Case, r *Rand) *Problem {
	left, dim, n, right := c.Dim("left"), c.Dim("dim"), c.Dim("n"), c.Dim("right")
	v := c.Variant
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	set := func(name string, x int) {
		for i, param := range c.Op.Params {
			if param.Name == name {
				p.Args[i].Int = int64(x)
			}
		}
	}
	set("left", left)
	set("right", right)
	set("ids_dim", n)
	list := []int{n} // shape of ids
	switch c.Op.Name {
	case "index_select":
		set("numel", left*n*right)
		set("num_dims", 3)
		set("src_dim", dim)
		strides := []int64{int64(dim * right), int64(right), 1}
		storage, offset := left*dim*right, 0
		switch c.Class {
		case "strided": // stored as (right, dim, left)
			strides = []int64{1, int64(left), int64(left * dim)}
		case "broadcast": // the same rows for every left
			strides = []int64{0, int64(right), 1}
			storage = dim * right
		case "offset":
			offset = 5
			storage += offset
		}
		p.Arg("info").Buf = tensor.FromInts(tensor.U64, append([]int64{int64(left), int64(dim), int64(right)}, strides...), 6)
		p.Arg("inp").Buf = values(v.T, r, storage)
		p.Arg("inp").Offset = offset
		p.Arg("out").Buf = tensor.New(v.T, left, n, right)
		p.Grid, p.Block = elementwise(left * n * right)
	case "gather":
		set("numel", left*n*right)
		set("src_dim", dim)
		list = []int{left, n, right}
		p.Arg("inp").Buf = values(v.T, r, left, dim, right)
		p.Arg("out").Buf = tensor.New(v.T, left, n, right)
		p.Grid, p.Block = elementwise(left * n * right)
	default: // scatter, scatter_add, index_add
		set("src_dim", n)
		set("dst_dim", dim)
		if c.Op.Name != "index_add" {
			list = []int{left, n, right}
		}
		p.Arg("inp").Buf = values(v.T, r, left, n, right)
		p.Arg("out").Buf = values(v.T, r, left, dim, right)
		p.Grid, p.Block = elementwise(left * right)
	}
	p.Arg("ids").Buf = indices(v.I, r, c.Class, dim, list)
	return p
}

// values returns elements for an op that copies or adds: numbers of mixed
// size and sign, with the odd ones among them that a copy must keep.
func values(d tensor.DType, r *Rand, shape ...int) *tensor.Tensor {
	if tensor.Count(shape) == 1 { // neither 0 nor what memory is filled with
		t := tensor.New(d, shape...)
		put(t, 0, 7)
		return t
	}
	if d.IsFloat() {
		odd := specials(d, r, 16)
		return generate(d, shape, func(i int) float64 {
			switch r.IntN(8) {
			case 0:
				return odd.Float(r.IntN(16))
			case 1:
				return clip(d, r.LogUniform(-12, 12))
			}
			return r.Normal()
		})
	}
	return generateBits(d, shape, func(int) uint64 { return r.Uint64() })
}

// indices returns indices below dim by class. Every class but random
// starts with what it is for.
func indices(d tensor.DType, r *Rand, class string, dim int, shape []int) *tensor.Tensor {
	return generateBits(d, shape, func(i int) uint64 {
		j := r.IntN(dim)
		switch class {
		case "ends":
			j = []int{0, dim - 1, j}[i%3]
		case "same":
			j = dim / 2
		case "reverse":
			j = dim - 1 - i%dim
		case "sentinel":
			if i%3 == 0 {
				return sentinel(d)
			}
		}
		return uint64(j)
	})
}

// sentinel is the largest value of an index type.
func sentinel(d tensor.DType) uint64 {
	switch d {
	case tensor.I64:
		return math.MaxInt64
	case tensor.I32:
		return math.MaxInt32
	case tensor.I16:
		return math.MaxInt16
	}
	return 1<<(8*d.Size()) - 1
}

func expectIndexing(p *Problem) *compare.Expected {
	c := p.Case
	left, dim, n, right := c.Dim("left"), c.Dim("dim"), c.Dim("n"), c.Dim("right")
	ids, inp := p.Arg("ids").Buf, p.Arg("inp")
	out := p.Arg("out").Buf.Clone()
	skip := sentinel(c.Variant.I)
	e := &compare.Expected{DType: c.Variant.T, Exact: out, SignedZero: true, ULP: true}
	// id returns the index of element (l, j, r).
	id := func(l, j, r int) (int, bool) {
		k := j
		if len(ids.Shape) == 3 {
			k = (l*n+j)*right + r
		}
		b := ids.Bits(k)
		return int(b), b != skip
	}
	rows := n // of the output's middle axis
	switch c.Op.Name {
	case "index_select", "gather":
		stride := func(l, k, r int) int { return (l*dim+k)*right + r }
		if c.Op.Name == "index_select" {
			info := p.Arg("info").Buf
			stride = func(l, k, r int) int {
				return inp.Offset + l*int(info.Int(3)) + k*int(info.Int(4)) + r*int(info.Int(5))
			}
		}
		for l := range left {
			for j := range n {
				for r := range right {
					var bits uint64
					if k, ok := id(l, j, r); ok {
						bits = inp.Buf.Bits(stride(l, k, r))
					}
					out.SetBits((l*n+j)*right+r, bits)
				}
			}
		}
	default:
		rows = dim
		for l := range left {
			for r := range right {
				for j := range n {
					k, ok := id(l, j, r)
					if !ok {
						continue
					}
					to, from := (l*dim+k)*right+r, (l*n+j)*right+r
					if c.Op.Name == "scatter" {
						out.SetBits(to, inp.Buf.Bits(from))
					} else {
						out.SetBits(to, add(out, to, inp.Buf, from))
					}
				}
			}
		}
	}
	e.Axes = []compare.Axis{{Name: "left", Size: left}, {Name: "row", Size: rows}, {Name: "right", Size: right}}
	return e
}

// add returns the bits of a[i]+b[j] rounded to their type, or wrapped.
// The float64 sum of two f32 or narrower numbers rounds to the same as
// the exact sum: float64 has more than twice their bits (numerics.md 4.6).
func add(a *tensor.Tensor, i int, b *tensor.Tensor, j int) uint64 {
	if a.DType.IsFloat() {
		return a.DType.Encode(a.Float(i) + b.Float(j))
	}
	return a.Bits(i) + b.Bits(j)
}

func traceIndexing(p *Problem, i int) []Input {
	c := p.Case
	dim, n, right := c.Dim("dim"), c.Dim("n"), c.Dim("right")
	ids := p.Arg("ids").Buf
	in := func(name, param string, j int) Input {
		return Input{Name: name, Index: j, Value: compare.Num(p.Arg(param).Buf.Float(j))}
	}
	switch c.Op.Name {
	case "index_select":
		return []Input{in("id", "ids", i/right%n)}
	case "gather":
		return []Input{in("id", "ids", i)}
	}
	// The indices that name this element's row, the first few.
	list := []Input{in("before", "out", i)}
	l, k, r := i/(dim*right), i/right%dim, i%right
	for j := range n {
		at := j
		if len(ids.Shape) == 3 {
			at = (l*n+j)*right + r
		}
		if int(ids.Bits(at)) == k && len(list) < 6 {
			list = append(list, in("added", "inp", (l*n+j)*right+r))
		}
	}
	return list
}
