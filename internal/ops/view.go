package ops

import (
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A view says where the elements of a tensor of some shape lie in its
// buffer.
type view struct {
	shape, strides []int
	offset         int // element of the buffer that the pointer points to
	storage        int // elements of the buffer
}

// newView returns the view of a shape that a name stands for: contiguous; offset, the same from the
// fourth element of its buffer on; transposed, with the dimensions stored in
// reverse order; inner2, every second element; row and column, one row or
// one element a row repeated; scalar, one element repeated.
func newView(name string, shape []int) view {
	l := view{shape: shape, strides: make([]int, len(shape)), storage: tensor.Count(shape)}
	last := len(shape) - 1
	n := 1
	for d := last; d >= 0; d-- {
		l.strides[d] = n
		n *= shape[d]
	}
	switch name {
	case "contiguous":
	case "offset":
		l.offset = 3
		l.storage += l.offset
	case "transposed":
		n = 1
		for d := range shape {
			l.strides[d] = n
			n *= shape[d]
		}
	case "inner2":
		for d := range shape {
			l.strides[d] *= 2
		}
		l.storage *= 2
	case "row":
		for d := range last {
			l.strides[d] = 0
		}
		l.storage = shape[last]
	case "column":
		n = 1
		l.strides[last] = 0
		for d := last - 1; d >= 0; d-- {
			l.strides[d] = n
			n *= shape[d]
		}
		l.storage = n
	case "scalar":
		clear(l.strides)
		l.storage = 1
	default:
		panic("ops: no layout " + name)
	}
	return l
}

// at returns the element of the buffer that holds element i, counted in
// row-major order of the shape.
func (l view) at(i int) int {
	at := l.offset
	for d := len(l.shape) - 1; d >= 0; d-- {
		at += i % l.shape[d] * l.strides[d]
		i /= l.shape[d]
	}
	return at
}

// A laid is what tells elementwise cases apart: a shape, the layouts of the
// operands joined by +, and the class of inputs. The layout null stands for
// a null info, with every operand contiguous, and inplace for that with a
// null input.
type laid struct {
	a, b, c int
	layout  string
	class   string
}

func (s laid) on(o *Op, v Variant) Case {
	return Case{Op: o, Variant: v, Class: s.class, Dims: []Dim{
		D("a", s.a), D("b", s.b), D("c", s.c), {Name: "layout", Text: s.layout},
	}}
}

// layout is the name of an elementwise case's layout.
func (c *Case) layout() string {
	for _, d := range c.Dims {
		if d.Name == "layout" {
			return d.Text
		}
	}
	panic("ops: " + c.Op.Name + " has no layout")
}

// inPlace reports whether a null input makes the kernel work on its output.
func (c *Case) inPlace() bool { return c.layout() == "inplace" }

// shape is the shape of an elementwise case.
func (c *Case) shape() []int { return []int{c.Dim("a"), c.Dim("b"), c.Dim("c")} }

// views returns the views of an elementwise case's n operands, and its
// info, which may be nil.
func (c *Case) views(n int) ([]view, *tensor.Tensor) {
	shape := c.shape()
	text := c.layout()
	all := make([]view, n)
	if text == "null" || text == "inplace" {
		for k := range all {
			all[k] = newView("contiguous", shape)
		}
		return all, nil
	}
	names := strings.Split(text, "+")
	if len(names) != n {
		panic("ops: " + c.Name() + " has another number of layouts than operands")
	}
	var info []int64
	add := func(list []int) {
		for _, x := range list {
			info = append(info, int64(x))
		}
	}
	add(shape)
	for k := range all {
		all[k] = newView(names[k], shape)
		add(all[k].strides)
	}
	return all, tensor.FromInts(tensor.U64, info, len(info))
}

// bindElementwise starts the problem of an elementwise case: its launch, the
// scalars numel and num_dims, and the layout of each of the operands named.
func bindElementwise(c *Case, info string, operands ...string) (*Problem, []view) {
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	views, list := c.views(len(operands))
	shape := c.shape()
	n := tensor.Count(shape)
	p.Grid, p.Block = elementwise(n)
	p.Arg("numel").Int = int64(n)
	p.Arg("num_dims").Int = int64(len(shape))
	p.Arg(info).Buf = list
	for k, name := range operands {
		p.Arg(name).Offset = views[k].offset
	}
	return p, views
}

// axesOf names the dimensions of an elementwise case's output.
func axesOf(c *Case) []compare.Axis {
	s := c.shape()
	return []compare.Axis{{Name: "a", Size: s[0]}, {Name: "b", Size: s[1]}, {Name: "c", Size: s[2]}}
}

// wholes returns n elements of an integer type, of both signs where it has
// them and of every number of digits.
func wholes(d tensor.DType, r *Rand, n int) *tensor.Tensor {
	return generateBits(d, []int{n}, func(int) uint64 { return integer(d, r) })
}

func integer(d tensor.DType, r *Rand) uint64 {
	u := r.Uint64()
	v := u >> (64 - 1 - r.IntN(8*d.Size()))
	if signed(d) && r.Uint64()&1 != 0 {
		v = -v
	}
	return v
}

// extremes returns n elements of an integer type about the ends of its
// range and zero.
func extremes(d tensor.DType, r *Rand, n int) *tensor.Tensor {
	t := tensor.New(d, n)
	top := uint64(1) << (8*d.Size() - 1)
	odd := []uint64{0, 1, 2, ^uint64(0), ^uint64(1), top, top - 1, top + 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa}
	for i := range n {
		t.SetBits(i, odd[r.IntN(len(odd))])
	}
	return t
}

func signed(d tensor.DType) bool {
	return d == tensor.I64 || d == tensor.I32 || d == tensor.I16
}

// inputs returns n elements of d by the class that most elementwise ops
// share: loguniform, wide, special and subnormal of a float type, random
// and extreme of an integer type.
func inputs(class string, d tensor.DType, r *Rand, n int) *tensor.Tensor {
	switch class {
	case "loguniform":
		e := window(d)
		return logUniforms(d, r, -e, e, n)
	case "wide":
		return logUniforms(d, r, d.EMin(), emax0(d), n)
	case "special":
		return specials(d, r, n)
	case "subnormal":
		return subnormals(d, r, n)
	case "random":
		return wholes(d, r, n)
	case "extreme":
		return extremes(d, r, n)
	}
	panic("ops: no input class " + class)
}

// window is an exponent whose double stays in d's range.
func window(d tensor.DType) int { return min(20, emax0(d)/2-1) }

// moved is the number of bytes in a problem's buffers: what a perfect
// kernel reads and writes.
func moved(p *Problem) int64 {
	var n int64
	for i, param := range p.Case.Op.Params {
		if b := p.Args[i].Buf; b != nil && param.Type != SizeT {
			n += int64(len(b.Data))
		}
	}
	return n
}
