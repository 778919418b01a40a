package ops

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// ropeOps are the rotary position embeddings of candle's reduce module.
// Every pair (x1, x2) of the source is rotated by the angle whose cosine
// and sine the tables hold; the ops differ in which elements make a pair
// and in the order of the source's dimensions.
func ropeOps() []*Op {
	return []*Op{
		ropeOp("rope_i", "rotary embedding of adjacent pairs (2i, 2i+1); source (b,h,t,d)",
			[]Param{{Scalar, U32, "bh"}, {Scalar, U32, "td"}, {Scalar, U32, "stride_b"}}),
		ropeOp("rope", "rotary embedding of pairs (i, i+d/2); source (b,h,t,d)",
			[]Param{{Scalar, U32, "bh"}, {Scalar, U32, "td"}, {Scalar, U32, "d"}, {Scalar, U32, "stride_b"}}),
		ropeOp("rope_thd", "rotary embedding of pairs (i, i+d/2); source (b,t,h,d)",
			[]Param{{Scalar, U32, "b"}, {Scalar, U32, "t"}, {Scalar, U32, "h"}, {Scalar, U32, "d"}, {Scalar, U32, "stride_b"}}),
	}
}

func ropeOp(name, summary string, scalars []Param) *Op {
	o := &Op{
		tune: func(q *Problem) {
			// A thread takes 16 bytes of src, or of each half of a head.
			n := vectors(q.Arg("src").Buf.Len(), q.Case.Variant.T.Size())
			if name != "rope_i" {
				n = (n + 1) / 2
			}
			spread(q, n, 1)
		},
		Name:    name,
		Family:  "rope",
		Module:  "reduce",
		Symbol:  name + "_{T}",
		Summary: summary,
		Formula: `y1 = x1*c - x2*s
y2 = x1*s + x2*c
c, s = cos, sin[batch if they have one table per batch][t][i], d/2 values a position
stride_b, the batch stride of the source, is h*t*d with one table per batch, else 0`,
		Bound: `|y1-t1| <= u*(|x1*c|+|x2*s|)*(1+u) + u*|t1| + eta, and likewise |y2-t2| with |x1*s|+|x2*c|
u: unit roundoff of the element type, one for each rounded product and one for the sum;
a fused multiply-add and computing in float stay below it. eta: smallest subnormal, half
for each product that underflows. Where a product leaves the type's range, a kernel that
rounds it gives an infinity or NaN: allowed there. f16 and bf16 in float (declared of the source;
all bundled ones): u, eta and range of f32, and one rounding to the type. (numerics.md 4.2)`,
		Parity:   E1,
		Variants: floats(),
		Params: append([]Param{
			{In, T, "src"}, {In, T, "cos"}, {In, T, "sin"}, {Out, T, "dst"},
		}, scalars...),
		Bind:   bindRope,
		Expect: expectRope,
		Trace:  traceRope,
		Work: func(p *Problem) (bytes, flops int64) {
			n := p.Arg("src").Buf.Len()
			cs := p.Arg("cos").Buf.Len()
			return int64((2*n + 2*cs) * p.Case.Variant.T.Size()), int64(3 * n)
		},
	}
	o.Cases = func(v Variant, level Level) []Case { return ropeCases(o, v, level) }
	o.Timed = func(v Variant, s Scale) []Timed {
		return timed(s.heads(), func(x extent) Case {
			return ropeCase(o, v, "normal", 1, x.cols/headDim, x.rows, headDim, 2)
		})
	}
	return o
}

func ropeCases(o *Op, v Variant, level Level) []Case {
	type size struct{ b, h, t, d, cos int }
	sizes := []size{
		{1, 1, 1, 2, 2},   // one pair
		{2, 3, 5, 8, 3},   // one table per batch: a wrong stride_b shows
		{2, 3, 5, 8, 2},   // shared table: stride_b is 0
		{3, 11, 31, 2, 3}, // 1023 pairs, one short of a block
		{4, 1, 2, 256, 3}, // 1024 pairs, a block
		{1, 5, 41, 10, 3}, // 1025 pairs: one in the second block
		{4, 3, 7, 64, 3},
	}
	if level == Thorough {
		sizes = append(sizes,
			size{1, 1, 1, 2, 3}, size{3, 11, 31, 2, 2}, size{4, 1, 2, 256, 2}, size{1, 5, 41, 10, 2},
			size{2, 1, 1, 6, 3},    // one position: t*d/2 and h*t*d are close
			size{3, 5, 11, 32, 3},  // the sizes of the measured stride fault
			size{2, 4, 7, 16, 3},   // even head count
			size{1, 3, 683, 2, 2},  // 2049 pairs
			size{4, 13, 17, 34, 3}, // d/2 odd
			size{2, 7, 13, 128, 3}, size{1, 32, 19, 128, 2}, size{3, 2, 101, 256, 3},
		)
	}
	classes := []string{"normal"}
	var cases []Case
	for _, s := range sizes {
		use := classes
		// Arithmetic does not depend on the shape: the other classes run on
		// one that has per-batch tables and a tail. A few pairs of them might
		// all be zeros, and tell nothing.
		if s == (size{2, 3, 5, 8, 3}) || level == Thorough && s.b*s.h*s.t*s.d >= 64 {
			use = []string{"normal", "loguniform", "cancel", "zeros", "subnormal", "special"}
		}
		for _, class := range use {
			cases = append(cases, ropeCase(o, v, class, s.b, s.h, s.t, s.d, s.cos))
		}
	}
	return cases
}

// ropeCase has one table for all batches, or one for each where cos is 3.
func ropeCase(o *Op, v Variant, class string, b, h, t, d, cos int) Case {
	return Case{Op: o, Variant: v, Class: class, Dims: []Dim{
		D("b", b), D("h", h), D("t", t), D("d", d),
		{Name: "cos", Value: int64(cos), Text: map[int]string{2: "2d", 3: "3d"}[cos]},
	}}
}

func bindRope(c *Case, r *Rand) *Problem {
	b, h, t, d := c.Dim("b"), c.Dim("h"), c.Dim("t"), c.Dim("d")
	dt := c.Variant.T
	n := b * h * t * d
	tables, strideB := 1, 0
	if c.Dim("cos") == 3 {
		tables, strideB = b, h*t*d
	}
	shape := []int{b, h, t, d}
	if c.Op.Name == "rope_thd" {
		shape = []int{b, t, h, d}
	}
	table := []int{tables, t, d / 2}

	// Points on the unit circle without a math library: s = sqrt(1-c^2).
	cos := generate(dt, table, func(int) float64 { return r.Uniform(-1, 1) })
	sin := generate(dt, table, func(i int) float64 {
		s := math.Sqrt(1 - float64(cos.Float(i)*cos.Float(i)))
		if r.Uint64()&1 != 0 {
			s = -s
		}
		return s
	})
	var src *tensor.Tensor
	switch c.Class {
	case "normal":
		src = normals(dt, r, 1, shape...)
	case "loguniform":
		src = logUniforms(dt, r, -2000, 2000, shape...)
		cos = logUniforms(dt, r, -20, 1, table...)
		sin = logUniforms(dt, r, -20, 1, table...)
	case "zeros":
		src = signedZeros(dt, r, shape...)
		cos = signedZeros(dt, r, table...)
	case "subnormal":
		src = subnormals(dt, r, shape...)
	case "special":
		src = specials(dt, r, shape...)
	case "cancel":
		src = normals(dt, r, 1, shape...)
	default:
		panic("ops: rope has no input class " + c.Class)
	}
	p := &Problem{Case: c, Args: make([]Arg, len(c.Op.Params))}
	p.Grid, p.Block = elementwise(n / 2)
	p.Arg("src").Buf = src
	p.Arg("cos").Buf = cos
	p.Arg("sin").Buf = sin
	p.Arg("dst").Buf = tensor.New(dt, shape...)
	for name, v := range map[string]int{"bh": b * h, "td": t * d, "b": b, "t": t, "h": h, "d": d, "stride_b": strideB} {
		for i, param := range c.Op.Params {
			if param.Name == name {
				p.Args[i].Int = int64(v)
			}
		}
	}
	if c.Class == "cancel" {
		// Make x1*c and x2*s agree in all but the last bits: the largest
		// error for the result's size.
		g := newRopeIndex(p)
		for i := range n {
			x1, x2, cs, first := g.pair(i)
			if s := sin.Float(cs); first && s != 0 {
				src.SetFloat(x2, clip(dt, src.Float(x1)*cos.Float(cs)/s))
			}
		}
	}
	return p
}

// A ropeIndex maps an output element to what it is computed from. It is
// written from the definition, dimension by dimension, not from the
// kernels' index arithmetic.
type ropeIndex struct {
	thd, adjacent bool
	h, t, d       int
	perBatch      bool
}

func newRopeIndex(p *Problem) ropeIndex {
	c := p.Case
	return ropeIndex{
		thd:      c.Op.Name == "rope_thd",
		adjacent: c.Op.Name == "rope_i",
		h:        c.Dim("h"), t: c.Dim("t"), d: c.Dim("d"),
		perBatch: c.Dim("cos") == 3,
	}
}

// pair returns the elements x1 and x2 that output i depends on, the
// element of the tables, and whether i is the first of its pair.
func (g ropeIndex) pair(i int) (x1, x2, cs int, first bool) {
	k := i % g.d
	row := i / g.d // (b,h,t) or (b,t,h)
	pos, batch := row%g.t, row/(g.t*g.h)
	if g.thd {
		pos = row / g.h % g.t
	}
	var j int // which pair of the row
	if g.adjacent {
		j, first = k/2, k%2 == 0
		x1 = row*g.d + 2*j
		x2 = x1 + 1
	} else {
		j, first = k%(g.d/2), k < g.d/2
		x1 = row*g.d + j
		x2 = x1 + g.d/2
	}
	cs = pos*(g.d/2) + j
	if g.perBatch {
		cs += batch * g.t * (g.d / 2)
	}
	return x1, x2, cs, first
}

func expectRope(p *Problem) *compare.Expected {
	dt := p.Case.Variant.T
	src, cos, sin := p.Arg("src").Buf, p.Arg("cos").Buf, p.Arg("sin").Buf
	n := src.Len()
	names := []string{"b", "h", "t", "d"}
	if p.Case.Op.Name == "rope_thd" {
		names = []string{"b", "t", "h", "d"}
	}
	e := &compare.Expected{DType: dt, Value: make([]float64, n), Hard: make([]float64, n), Allow: make([]compare.Class, n)}
	for i, size := range src.Shape {
		e.Axes = append(e.Axes, compare.Axis{Name: names[i], Size: size})
	}
	if dt == tensor.F64 {
		e.Tail = make([]float64, n)
	}
	b := newProductBound(p)
	g := newRopeIndex(p)
	for i := range n {
		i1, i2, cs, first := g.pair(i)
		x1, x2, c, s := src.Float(i1), src.Float(i2), cos.Float(cs), sin.Float(cs)
		k1, k2 := c, -s // y1 = x1*c - x2*s
		if !first {
			k1, k2 = s, c // y2 = x1*s + x2*c
		}
		y, tail := twoProducts(x1, k1, x2, k2)
		e.Value[i] = y
		if e.Tail != nil {
			e.Tail[i] = tail
		}
		e.Hard[i], e.Allow[i] = b.of(y, b.rounding(x1, k1), b.rounding(x2, k2))
	}
	return e
}

func traceRope(p *Problem, i int) []Input {
	x1, x2, cs, _ := newRopeIndex(p).pair(i)
	in := func(name, param string, j int) Input {
		return Input{Name: name, Index: j, Value: compare.Num(p.Arg(param).Buf.Float(j))}
	}
	return []Input{in("x1", "src", x1), in("x2", "src", x2), in("cos", "cos", cs), in("sin", "sin", cs)}
}
