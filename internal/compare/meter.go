package compare

import (
	"encoding/binary"
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A meter reads single elements against the truth.
type meter struct {
	e    *Expected
	d    tensor.DType
	p    int     // precision
	emin int     // exponents of the smallest normal number
	emax int     // and of the largest finite one
	max  float64 // largest finite number
	over float64 // where an infinity counts; not used of f64, which has none
}

func newMeter(e *Expected) *meter {
	m := &meter{e: e, d: e.DType}
	if m.d.IsFloat() {
		m.p, m.emin, m.max = m.d.Precision(), m.d.EMin(), m.d.MaxFinite()
		m.emax = math.Ilogb(m.max)
		m.over = math.Ldexp(1, m.emax+1)
		if m.d == tensor.F8E4M3 {
			m.over = 480 // the code above the largest finite one is NaN
		}
	}
	return m
}

func (m *meter) mark(i int) Mark {
	if m.e.Mark == nil {
		return Ordinary
	}
	return m.e.Mark[i]
}

// A reading is one element against the truth.
type reading struct {
	truth  float64 // rounded to float64
	round  float64 // the truth correctly rounded to the type
	err    float64 // got-truth; infinite where no bound covers the difference
	ulp    float64
	limit  float64 // hard bound
	share  float64 // |err| over limit
	likely float64 // |err| over the likely bound
	shared float64 // |err| over the bound of shared sums

	finite   bool // both sides are finite
	nearest  bool // got is the truth correctly rounded
	zeroSign bool // got is the zero of the other sign
	wrong    bool
}

// read reads got, with its bits where the truth is exact, as element i.
// It does not look at the element's mark.
func (m *meter) read(i int, got float64, bits uint64) reading {
	var r reading
	m.readInto(&r, i, got, bits)
	return r
}

func (m *meter) readInto(r *reading, i int, got float64, bits uint64) {
	if m.e.Exact != nil {
		*r = m.readExact(i, got, bits)
		return
	}
	t, tail := m.e.Value[i], 0.0
	if m.e.Tail != nil {
		tail = m.e.Tail[i]
	}
	*r = reading{truth: t}
	if m.e.Hard != nil {
		r.limit = m.e.Hard[i]
	}
	r.round = m.nearest(t, tail)
	// e4m3 has no infinity: a right kernel's answer is NaN there.
	infinite := math.IsInf(t, 0) && m.d != tensor.F8E4M3
	if math.IsNaN(t) || math.IsInf(t, 0) {
		r.ulp = math.Inf(1)
		switch {
		case infinite && got == t, !infinite && math.IsNaN(got):
			r.nearest = true
		case m.allowed(i, got):
		default:
			r.disagree()
		}
		return
	}
	r.ulp = m.ulp(t)
	if math.IsNaN(got) || math.IsInf(got, 0) {
		if math.IsNaN(r.round) && math.IsNaN(got) || got == r.round {
			r.nearest = true
		}
		if m.allowed(i, got) {
			return
		}
		err := m.overflow(t, tail, got)
		if abs := math.Abs(err); abs <= r.limit && !math.IsInf(abs, 0) && (r.limit > 0 || r.nearest) {
			r.err = err
			m.shares(r, i)
		} else if !r.nearest {
			r.disagree()
		}
		return
	}
	r.finite = true
	r.nearest = got == r.round
	if got == 0 && r.round == 0 && math.Signbit(got) != math.Signbit(r.round) {
		r.zeroSign = true
		r.wrong = m.e.SignedZero
	}
	if m.d != tensor.F64 && math.Abs(t) > m.over {
		t, tail = math.Copysign(m.over, t), 0
	}
	r.err = got - t
	if tail != 0 {
		// got-t and its rounding error (Knuth's two-sum), so that the
		// error keeps 2^-53 of itself and not of the truth.
		b := r.err - got
		low := (got - (r.err - b)) - (t + b)
		r.err += low - tail
	}
	m.shares(r, i)
}

func (r *reading) disagree() {
	r.wrong = true
	r.err, r.share, r.likely = math.Inf(1), math.Inf(1), math.Inf(1)
	if math.IsInf(r.ulp, 0) || math.IsNaN(r.ulp) {
		r.ulp = 1
	}
}

// shares fills in an element's shares of its bounds from its error.
func (m *meter) shares(r *reading, i int) {
	abs := math.Abs(r.err)
	if r.limit == 0 {
		if !r.nearest {
			r.share, r.likely, r.wrong = math.Inf(1), math.Inf(1), true
		}
	} else if abs != 0 {
		r.share = ratio(abs, r.limit)
		if r.share > 1 {
			// Nothing can be nearer than the nearest, so that a bound of
			// less than half an ulp asks for correct rounding.
			if r.nearest {
				r.share = 1
			} else {
				r.wrong = true
			}
		}
	}
	if r.nearest || math.IsInf(r.likely, 0) {
		return
	}
	over := func(bounds []float64) float64 {
		switch {
		case bounds == nil:
			return 0
		case bounds[i] == 0:
			return math.Inf(1)
		}
		return ratio(abs, bounds[i])
	}
	r.likely, r.shared = over(m.e.Likely), over(m.e.Shared)
}

// ratio returns a/b for positive a and b: never NaN, never 0, and more
// than 1 exactly where a is more than b.
func ratio(a, b float64) float64 {
	if math.IsInf(a, 0) {
		return a // even against an infinite bound
	}
	q := a / b
	if q == 0 {
		return math.SmallestNonzeroFloat64
	}
	if q == 1 && a > b {
		return math.Nextafter(1, 2)
	}
	return q
}

// overflow returns got-t where got is an infinity, or e4m3's NaN, that
// stands for what lies past the largest finite number.
func (m *meter) overflow(t, tail, got float64) float64 {
	switch {
	case m.d == tensor.F8E4M3 && math.IsNaN(got):
		got = math.Copysign(m.over, t)
	case math.IsNaN(got):
		return math.Inf(1)
	case m.d == tensor.F64:
		// 2^1024 is past float64 itself.
		if got < 0 {
			t, tail = -t, -tail
		}
		return math.Copysign(2*((0x1p1023-t/2)-tail/2), got)
	default:
		got = math.Copysign(m.over, got)
	}
	if math.Abs(t) > m.over {
		t, tail = math.Copysign(m.over, t), 0
	}
	return got - t - tail
}

// allowed reports whether got is of a class that is accepted of element
// i whatever the truth's. Finite is accepted so only beside a truth that
// is not.
func (m *meter) allowed(i int, got float64) bool {
	return m.e.Allow != nil && m.e.Allow[i]&classOf(got) != 0
}

func classOf(v float64) Class { return [...]Class{NaN, PosInf, NegInf, Finite}[kind(v)] }

// nearest returns the number of the type nearest to t+tail, ties to even,
// rounded once.
func (m *meter) nearest(t, tail float64) float64 {
	if tail != 0 {
		if m.d == tensor.F64 {
			return t + tail
		}
		t = roundToOdd(t, tail)
	}
	switch m.d {
	case tensor.F64:
		return t
	case tensor.F32:
		return float64(float32(t))
	}
	abs := math.Abs(t)
	if !(abs < 2*m.max) {
		if m.d == tensor.F8E4M3 {
			return math.NaN()
		}
		return t + math.Copysign(math.Inf(1), t) // NaN stays
	}
	// Adding 1.5*2^52 units of the last place leaves no room for anything
	// below the unit: the sum is rounded to it, ties to even.
	c := 0x1.8p52 * m.ulp(t)
	r := (t + c) - c
	if math.Abs(r) > m.max {
		if m.d == tensor.F8E4M3 {
			return math.NaN()
		}
		return math.Copysign(math.Inf(1), t)
	}
	return math.Copysign(r, t)
}

// roundToOdd returns t+tail rounded to odd: where t is not the sum, that
// neighbour of the sum whose last bit is 1, so that rounding it again to
// a type two bits shorter or more rounds the sum (Boldo and Melquiond,
// "When double rounding is odd", 2005). |tail| is at most half an ulp of t.
func roundToOdd(t, tail float64) float64 {
	if math.IsInf(t, 0) || math.IsNaN(t) {
		return t
	}
	b := math.Float64bits(t)
	if t == 0 {
		return math.Copysign(math.SmallestNonzeroFloat64, tail)
	}
	if b&1 == 0 {
		if (tail > 0) == (t > 0) {
			b++
		} else {
			b--
		}
	}
	return math.Float64frombits(b)
}

// ulp is tensor's DType.ULP with the exponent held within the type's
// range at both ends.
func (m *meter) ulp(t float64) float64 {
	x := int(math.Float64bits(t)>>52&0x7ff) - 1023
	q := min(max(x, m.emin), m.emax) - m.p + 1
	if q < -1022 {
		return math.Ldexp(1, q)
	}
	return math.Float64frombits(uint64(q+1023) << 52)
}

// reader returns a function that reads t's elements as float64.
func reader(t *tensor.Tensor) func(i int) float64 {
	data := t.Data
	switch t.DType {
	case tensor.F64:
		return func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])) }
	case tensor.F32:
		return func(i int) float64 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
	case tensor.BF16:
		return func(i int) float64 {
			return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16))
		}
	case tensor.F16:
		return func(i int) float64 { return half(binary.LittleEndian.Uint16(data[2*i:])) }
	}
	return t.Float
}

// half decodes f16: the exponent field is five bits wide at the top of
// f32's, so that scaling by the difference of the biases, 2^112, places
// normal and subnormal numbers alike.
func half(b uint16) float64 {
	f := math.Float32frombits(uint32(b&0x7fff) << 13)
	if b&0x7c00 == 0x7c00 {
		if b&0x3ff != 0 {
			return math.NaN()
		}
		f = float32(math.Inf(1))
	} else {
		f *= 0x1p112
	}
	if b&0x8000 != 0 {
		f = -f
	}
	return float64(f)
}

// element describes element i of got for a report.
func (m *meter) element(got *tensor.Tensor, i int) *Element {
	g, bits := got.Float(i), got.Bits(i)
	r := m.read(i, g, bits)
	el := &Element{
		Index:  i,
		Coords: m.e.coords(i),
		Got:    Num(g),
		Want:   Num(r.truth),
		Limit:  Num(r.limit),
		Share:  Num(r.share),
		Bits:   bits,
	}
	if r.err != 0 {
		el.ULP = Num(math.Abs(r.err) / r.ulp)
	}
	if m.e.Exact != nil {
		el.Nearest = m.e.Exact.Bits(i)
	} else {
		el.Nearest = m.d.Encode(r.round)
	}
	return el
}

// coords are element i's coordinates along the axes.
func (e *Expected) coords(i int) []int {
	axes := e.Axes
	if len(axes) == 0 {
		return []int{i}
	}
	c := make([]int, len(axes))
	for k := len(axes) - 1; k >= 0; k-- {
		c[k] = i % axes[k].Size
		i /= axes[k].Size
	}
	return c
}

// readExact reads an element of a bit-exact op.
func (m *meter) readExact(i int, got float64, bits uint64) reading {
	x := m.e.Exact
	r := reading{truth: x.Float(i), ulp: 1, finite: true}
	r.round = r.truth
	want := x.Bits(i)
	if !m.d.IsFloat() {
		if r.nearest = bits == want; !r.nearest {
			r.err = got - r.truth
			if r.err == 0 {
				r.err = float64(int64(bits - want)) // 64-bit values past 2^53
			}
			r.wrong, r.share, r.likely = true, math.Inf(1), math.Inf(1)
		}
		return r
	}
	k, kt := kind(got), kind(r.truth)
	r.finite = k == 3 && kt == 3
	switch {
	case k != kt:
		if !m.allowed(i, got) {
			r.disagree()
		}
	case !r.finite:
		r.nearest = true
	default:
		r.ulp = m.ulp(r.truth)
		r.nearest = got == r.truth
		r.zeroSign = got == 0 && r.nearest && math.Signbit(got) != math.Signbit(r.truth)
		r.wrong = !r.nearest || r.zeroSign && m.e.SignedZero
		if !r.nearest {
			r.err = got - r.truth
			r.share, r.likely = math.Inf(1), math.Inf(1)
		}
	}
	return r
}
