package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// Measure compares an output with the truth, element by element. It is
// an error for the output to be of another type or length than expected,
// and for e to contradict itself. No elements are no error.
//
// An error in ulp is |got-truth| over the spacing of the output type at
// the truth, the exponent being that of the truth within the type's range
// (numerics.md 5.2); of an integer type the spacing is 1. Beyond the
// largest finite number an infinity counts as 2^(emax+1) and so does
// every truth past it, so that the last finite number and the infinity
// are both accepted within the bound (5.1).
func Measure(e *Expected, got *tensor.Tensor) (Diff, error) {
	m, err := measure(e, got)
	if err != nil {
		return Diff{}, err
	}
	return m.Diff, nil
}

// A measured is a Diff with what the tests between two sides need.
type measured struct {
	Diff
	wrong []bool // nil where there is no mismatch
	// Elements that are within the bound but over that of shared sums, and
	// how far the worst is over it.
	chained      int
	chainedShare float64
	stats        stats
	cuts         cuts // of a half type with a truth that is not exact
}

// stats are sums over the elements whose error is finite, in ulp where
// Expected.ULP and in shares of the hard bound elsewhere.
type stats struct {
	n      int
	square float64
	signed float64 // of got-truth
	pull   float64 // of got-truth times the truth's sign
	// The same of got-RN(truth): zero for correct rounding however the
	// truths lie between the type's numbers.
	nearSigned, nearPull float64
	ulpSquare            float64 // of one ulp in this unit

	groups []group // of elements that share an error; empty where none do
}

// A group is the sums of one group's elements.
type group struct {
	n            int
	signed, pull float64
}

func (s *stats) mean(sum float64) float64 {
	if s.n == 0 {
		return 0
	}
	return sum / float64(s.n)
}

func (s *stats) rms() float64 { return math.Sqrt(s.mean(s.square)) }

// samples is the number of errors that are independent of each other.
func (s *stats) samples() int {
	if len(s.groups) == 0 {
		return s.n
	}
	return len(s.groups)
}

// deviation is the standard deviation of one sample of a mean error: of
// the groups' means, or no less than an ulp, as numerics.md 0.3 has it,
// where there are none.
func (s *stats) deviation(of func(g group) float64) float64 {
	if len(s.groups) < 2 {
		return max(s.rms(), s.ulp())
	}
	var sum, square float64
	for _, g := range s.groups {
		m := of(g) / float64(g.n)
		sum += m
		square += m * m
	}
	n := float64(len(s.groups))
	return math.Sqrt(max(0, (square-sum*sum/n)/(n-1)))
}

// ulp is the root mean square of one ulp in the unit of s.
func (s *stats) ulp() float64 { return math.Sqrt(s.mean(s.ulpSquare)) }

func measure(e *Expected, got *tensor.Tensor) (*measured, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if got.DType != e.DType {
		return nil, fmt.Errorf("output must be %s, is %s", e.DType, got.DType)
	}
	n := e.Len()
	if got.Len() != n {
		return nil, fmt.Errorf("output must have %d elements, has %d", n, got.Len())
	}
	var (
		out    = &measured{cuts: cuts{d: e.DType}}
		half   = e.Exact == nil && e.DType.Precision() <= 11
		d      = &out.Diff
		st     = &out.stats
		m      = newMeter(e)
		value  = reader(got)
		r      reading
		ulps   = make([]float64, 0, n)
		shares = make([]float64, 0, n)

		first, worst, last    = -1, -1, -1
		ulpSq, ulpSum, pull   float64
		shareSq, errSq, trSq  float64
		nFinite               int
		maxULP, maxAbs, share float64
		likely, worstShare    float64
		chained               float64
	)
	d.N = n
	d.Hist = make([]int, len(HistEdges)+1)
	for i := range n {
		switch m.mark(i) {
		case IllConditioned:
			d.IllCond++
			continue
		case Undefined:
			d.Undefined++
			continue
		}
		g, bits := value(i), uint64(0)
		if e.Exact != nil {
			bits = got.Bits(i)
		}
		m.readInto(&r, i, g, bits)
		d.Classes[kind(r.truth)][kind(g)]++
		if r.zeroSign && !r.wrong {
			d.ZeroSign++
		}
		if r.nearest {
			d.Exact++
		} else {
			if !math.IsNaN(g) && !math.IsInf(g, 0) {
				d.NotNearest++
			}
			if worst < 0 || r.share > worstShare {
				worst, worstShare = i, r.share
			}
		}
		if half {
			out.cuts.add(&r, g)
		}
		if r.wrong {
			d.Mismatches++
			if first < 0 {
				first = i
			}
			if worst < 0 || r.share > worstShare {
				worst, worstShare = i, r.share // a zero of the wrong sign
			}
			if out.wrong == nil {
				out.wrong = make([]bool, n)
			}
			out.wrong[i] = true
		} else {
			if r.likely > 1 {
				d.Unlikely++
			}
			if r.shared > 1 {
				out.chained++
			}
		}
		chained = max(chained, r.shared)
		share = max(share, r.share)
		likely = max(likely, r.likely)
		shares = append(shares, r.share)

		abs := math.Abs(r.err)
		maxAbs = max(maxAbs, abs)
		u := 0.0
		if abs != 0 {
			u = abs / r.ulp
		}
		maxULP = max(maxULP, u)
		ulps = append(ulps, u)
		d.Hist[bin(u)]++
		if !r.finite || math.IsInf(abs, 0) {
			continue
		}
		nFinite++
		su := math.Copysign(u, r.err)
		ulpSq += u * u
		ulpSum += su
		errSq += abs * abs
		trSq += r.truth * r.truth
		sign := math.Copysign(1, r.truth)
		pull += sign * su
		if !math.IsInf(r.share, 0) {
			shareSq += r.share * r.share
		}
		// The unit of the tests between two sides is the ulp or the bound.
		x, unit, w := su, r.ulp, 1.0
		if !e.ULP {
			if unit = r.limit; unit == 0 || math.IsInf(unit, 0) {
				continue
			}
			x, w = r.err/unit, r.ulp/unit
		}
		near := 0.0
		if !r.nearest {
			near = (g - r.round) / unit
		}
		if math.IsInf(x, 0) || math.IsInf(near, 0) || math.IsNaN(near) {
			continue
		}
		st.n++
		st.square += x * x
		st.signed += x
		st.pull += sign * x
		st.nearSigned += near
		st.nearPull += sign * near
		st.ulpSquare += w * w
		if e.Group > 1 {
			if k := i / e.Group; k != last {
				last = k
				st.groups = append(st.groups, group{})
			}
			g := &st.groups[len(st.groups)-1]
			g.n++
			g.signed += x
			g.pull += sign * x
		}
	}
	d.Share, d.ShareLikely = Num(share), Num(likely)
	out.chainedShare = chained
	d.MaxULP, d.MaxAbs = Num(maxULP), Num(maxAbs)
	if nFinite > 0 {
		f := float64(nFinite)
		d.RMSULP = Num(math.Sqrt(ulpSq / f))
		d.BiasULP = Num(ulpSum / f)
		d.PullULP = Num(pull / f)
		d.RMSShare = Num(math.Sqrt(shareSq / f))
	}
	switch {
	case errSq == 0:
	case trSq == 0 || math.IsInf(errSq, 0):
		d.NMSE = Num(math.Inf(1))
	default:
		d.NMSE = Num(errSq / trSq)
	}
	q := quantiles(ulps, 0.5, 0.99)
	d.P50ULP, d.P99ULP = Num(q[0]), Num(q[1])
	d.P999Share = Num(quantiles(shares, 0.999)[0])
	if first >= 0 {
		d.First = m.element(got, first)
	}
	if worst >= 0 {
		d.Worst = m.element(got, worst)
	}
	return out, nil
}

// check says where an Expected contradicts itself.
func (e *Expected) check() error {
	n := e.Len()
	if e.Exact != nil {
		if e.Exact.DType != e.DType {
			return fmt.Errorf("exact truth must be %s, is %s", e.DType, e.Exact.DType)
		}
	} else if !e.DType.IsFloat() {
		return fmt.Errorf("truth of %s must be exact", e.DType)
	}
	for _, s := range []struct {
		name string
		len  int
		set  bool
	}{
		{"tail", len(e.Tail), e.Tail != nil},
		{"hard bound", len(e.Hard), e.Hard != nil},
		{"likely bound", len(e.Likely), e.Likely != nil},
		{"bound of shared sums", len(e.Shared), e.Shared != nil},
		{"mark", len(e.Mark), e.Mark != nil},
		{"allowed classes", len(e.Allow), e.Allow != nil},
	} {
		if s.set && s.len != n {
			return fmt.Errorf("%s has %d elements for %d of the truth", s.name, s.len, n)
		}
	}
	if e.Axes != nil {
		p := 1
		for _, a := range e.Axes {
			p *= a.Size
		}
		if p != n {
			return fmt.Errorf("axes %v have %d elements for %d of the truth", e.Axes, p, n)
		}
	}
	for i, b := range e.Hard {
		if !(b >= 0) && e.ordinary(i) {
			return fmt.Errorf("hard bound of element %d must not be %v", i, b)
		}
	}
	for i, b := range e.Likely {
		if !(b >= 0) && e.ordinary(i) {
			return fmt.Errorf("likely bound of element %d must not be %v", i, b)
		}
	}
	for i, b := range e.Shared {
		if !(b >= 0) && e.ordinary(i) {
			return fmt.Errorf("bound of shared sums of element %d must not be %v", i, b)
		}
	}
	for i, t := range e.Tail {
		if (math.IsNaN(t) || math.IsInf(t, 0)) && e.ordinary(i) {
			return fmt.Errorf("tail of element %d must be finite, is %v", i, t)
		}
	}
	return nil
}

func (e *Expected) ordinary(i int) bool { return e.Mark == nil || e.Mark[i] == Ordinary }

// bin is the bin of Diff.Hist of an error in ulp.
func bin(u float64) int {
	for i, edge := range HistEdges {
		if u <= edge {
			return i
		}
	}
	return len(HistEdges)
}

// kind indexes Diff.Classes: NaN, +Inf, -Inf, finite.
func kind(v float64) int {
	switch {
	case math.IsNaN(v):
		return 0
	case math.IsInf(v, 1):
		return 1
	case math.IsInf(v, -1):
		return 2
	}
	return 3
}

// quantiles returns the nearest-rank quantiles of vals, none of which is
// negative. It may reorder vals.
func quantiles(vals []float64, qs ...float64) []float64 {
	out := make([]float64, len(qs))
	n := len(vals)
	if n == 0 {
		return out
	}
	rank := func(q float64) int { return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1) }
	if n < 1<<12 {
		slices.Sort(vals)
		for k, q := range qs {
			out[k] = vals[rank(q)]
		}
		return out
	}
	// Numbers that are not negative are in the order of their bits: count
	// by the top 16 and sort only the bucket that holds the rank.
	const shift = 64 - 16
	count := make([]int32, 1<<15)
	for _, v := range vals {
		count[math.Float64bits(v)>>shift]++
	}
	for k, q := range qs {
		r, bucket := rank(q), 0
		for r >= int(count[bucket]) {
			r -= int(count[bucket])
			bucket++
		}
		in := make([]float64, 0, count[bucket])
		same := true
		for _, v := range vals {
			if math.Float64bits(v)>>shift == uint64(bucket) {
				in = append(in, v)
				same = same && v == in[0]
			}
		}
		if !same {
			slices.Sort(in)
		}
		out[k] = in[r]
	}
	return out
}
