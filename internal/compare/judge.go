package compare

import (
	"fmt"
	"math"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// precedence orders the verdicts: the first that holds is the headline,
// the others are flags. MISTRUSTED stands before the verdicts that a
// case that cannot tell would give to anything.
var precedence = [...]Verdict{
	Mismatch, SpecMismatch, ReferenceSuspect, UBDivergent, Nondeterministic,
	IllCond, Mistrusted, Worse, Better, BitExact, WithinBound,
}

// Status is what the gate makes of v.
func (v Verdict) Status() Status {
	switch v {
	case BitExact, WithinBound, Better:
		return Pass
	case Mismatch, Nondeterministic:
		return Fail
	}
	return Warn
}

// worst returns the worse of two statuses of a judged output.
func (s Status) worst(t Status) Status {
	rank := func(s Status) int {
		switch s {
		case Pass:
			return 0
		case Warn:
			return 1
		}
		return 2
	}
	if rank(t) > rank(s) {
		return t
	}
	return s
}

// Judge says what an output is worth, given the truth and, where other is
// not nil, the counterpart's output of the same inputs. The conditions
// are those of numerics.md 0.3, element by element: with b the output, a
// the counterpart, t the truth and B the hard bound,
//
//   - MISMATCH: some |b-t| > B where |a-t| <= B, or where both exceed it
//     and |a-b| > B; without a counterpart, any |b-t| > B. A class that
//     the truth does not allow exceeds every bound. So is an output in f16
//     or bf16 that is the truth rounded toward zero, where the counterpart's
//     is not, within whatever bound: see truncates.
//   - SPEC_MISMATCH: every element over the bound is so on both sides, and
//     they agree there. Two outputs that were never written do not agree.
//   - REFERENCE_SUSPECT: some |a-t| > B where |b-t| <= B.
//   - UB_DIVERGENT, ILL_CONDITIONED: some element is marked so.
//   - NONDETERMINISTIC: repeats differ, and the op does not declare it.
//   - MISTRUSTED: an output of zeros, of one value, of the bytes it was
//     filled with or of an input would not have been found out.
//   - WORSE, BETTER: both are within the bound, and the statistical tests
//     of worse find one side off against the other.
//   - BIT_EXACT: same bits on both sides; without a counterpart, every
//     element is the truth correctly rounded.
//   - WITHIN_BOUND: none of the above.
//
// Without a counterpart WORSE is given only where the rounding itself is
// wrong: see worse. The status is the worst of the headline's and the
// flags'.
func Judge(e *Expected, got, other *tensor.Tensor, opts Options) (Judgement, error) {
	var j Judgement
	runs := append([]*tensor.Tensor{got}, opts.Repeats...)
	b, got, err := worstRun(e, runs)
	if err != nil {
		return j, fmt.Errorf("%s: %w", opts.name(), err)
	}
	j.Accuracy = b.Diff
	var a *measured
	if other != nil {
		o := opts.OtherExpected
		if o == nil {
			o = e
		}
		if a, err = measure(o, other); err != nil {
			return j, fmt.Errorf("%s: %w", opts.other(), err)
		}
		p := Compare(got, other)
		j.Parity, j.Counterpart = &p, &a.Diff
	}
	holds := map[Verdict]bool{}

	t := threeWay(e, b, a, got, other, opts)
	t.truncates = b.cuts.truncates() && (a == nil || !a.cuts.truncates())
	holds[Mismatch] = t.mismatch > 0
	holds[SpecMismatch] = t.mismatch == 0 && t.spec > 0
	holds[ReferenceSuspect] = t.suspect > 0
	if t.unequal > 0 {
		holds[Mismatch] = true
		j.warn("not_bit_exact", "%d of %d elements have other bits than %s, where the op is bit-exact", t.unequal, b.N, opts.other())
	}
	if t.truncates {
		holds[Mismatch] = true
		j.warn("truncates", "%s's store cuts off: %d of the %d elements that round away from zero are one ulp short, and the others are right", opts.name(), b.cuts.cut, b.cuts.away)
	}
	if b.Undefined > 0 {
		holds[UBDivergent] = true
		if a != nil {
			j.warn("undefined", "%d elements lie in a documented undefined set; %s and %s differ in %d of them", b.Undefined, opts.name(), opts.other(), t.divergent)
		} else {
			j.warn("undefined", "%d elements lie in a documented undefined set and are not judged", b.Undefined)
		}
	}
	if b.IllCond > 0 {
		holds[IllCond] = true
		j.warn("ill_conditioned", "%d elements are ill-conditioned: any value is legal", b.IllCond)
	}
	if len(opts.Repeats) > 0 {
		s, err := Repeats(e, runs)
		if err != nil {
			return j, fmt.Errorf("%s: %w", opts.name(), err)
		}
		j.Spread = &s
		if s.Differ > 0 {
			j.warn("spread", "%d of %d elements vary over %d launches, by at most %.3g (%.3g of the bound)", s.Differ, b.N, s.Runs, float64(s.MaxAbs), float64(s.Share))
			holds[Nondeterministic] = !opts.Nondeterministic
		}
	}
	if b.N > 0 { // an empty output has nothing to mistrust
		if why := nullPasses(e, opts); why != "" {
			holds[Mistrusted] = true
			j.warn("mistrusted", "this case cannot tell: %s would pass", why)
		}
	}
	if b.Mismatches == 0 && (a == nil || a.Mismatches == 0) {
		for _, w := range worse(e, b, a, opts.name(), opts.other()) {
			holds[Worse] = true
			j.Warnings = append(j.Warnings, w)
		}
		if a != nil && !holds[Worse] {
			holds[Better] = len(worse(e, a, b, opts.other(), opts.name())) > 0
		}
	}
	if c := e.Computed; c != tensor.Invalid && b.N > 0 {
		j.warn("computed_in", "%s accuracy in a kernel of %s, by the op's definition: one ulp of %s is 2^%d of %s",
			c, e.DType, c, e.DType.Precision()-c.Precision(), e.DType)
	}
	if b.Unlikely > 0 {
		j.warn("unlikely", "%d of %d elements exceed the likely bound, the worst %.3g times", b.Unlikely, b.N, float64(b.ShareLikely))
	}
	if a != nil {
		zeros := j.Parity.ZeroSign
		if e.SignedZero {
			zeros = 0
		}
		holds[BitExact] = j.Parity.Equal+zeros == b.N
		if z := j.Parity.ZeroSign; z > 0 && !e.SignedZero {
			j.warn("zero_sign", "%d zeros have the other sign than %s's", z, opts.other())
		}
	} else {
		holds[BitExact] = b.Exact == b.N-b.IllCond-b.Undefined && b.Mismatches == 0
	}
	holds[WithinBound] = b.Mismatches == 0 && !holds[Mismatch] && !holds[Worse] && !holds[Better] && !holds[BitExact]

	j.Status = Pass
	for _, v := range precedence {
		if !holds[v] {
			continue
		}
		if j.Verdict == "" {
			j.Verdict = v
		} else {
			j.Flags = append(j.Flags, v)
		}
		j.Status = j.Status.worst(v.Status())
	}
	j.Sides = sides(e, b, a, t, &j, opts)
	if b.Mismatches > 0 {
		p, hints := locate(e, got, b.wrong, opts)
		j.Pattern, j.Hints = &p, hints
	}
	return j, nil
}

func (j *Judgement) warn(code, format string, args ...any) {
	j.Warnings = append(j.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// worstRun measures the output of every launch and returns that with the
// most mismatches, then the largest share: repeats are judged by the
// bound like the first.
func worstRun(e *Expected, runs []*tensor.Tensor) (*measured, *tensor.Tensor, error) {
	first := runs[0]
	worst, err := measure(e, first)
	if err != nil {
		return nil, nil, err
	}
	got := first
	for k, r := range runs[1:] {
		if r.DType == first.DType && string(r.Data) == string(first.Data) {
			continue
		}
		m, err := measure(e, r)
		if err != nil {
			return nil, nil, fmt.Errorf("repeat %d: %w", k+1, err)
		}
		if m.Mismatches > worst.Mismatches || m.Mismatches == worst.Mismatches && m.Share > worst.Share {
			worst, got = m, r
		}
	}
	return worst, got, nil
}

// A tally is how the two sides and the truth lie, mostly counts of elements.
type tally struct {
	mismatch  int // b over the bound and a within it, or both over it apart
	apart     int // of these, both over the bound
	spec      int // both over the bound and agreeing
	suspect   int // only a over the bound
	unequal   int // both within the bound with other bits, where the op is bit-exact
	divergent int // undefined and of other bits

	truncates bool // b and not a
}

func threeWay(e *Expected, b, a *measured, got, other *tensor.Tensor, opts Options) tally {
	var t tally
	if a == nil {
		t.mismatch = b.Mismatches
		return t
	}
	if b.Mismatches == 0 && a.Mismatches == 0 && b.Undefined == 0 && !opts.BitExact {
		return t
	}
	is := func(wrong []bool, i int) bool { return wrong != nil && wrong[i] }
	for i := range b.N {
		if e.Mark != nil && e.Mark[i] != Ordinary {
			if e.Mark[i] == Undefined && !same(e, got.Bits(i), other.Bits(i)) {
				t.divergent++
			}
			continue
		}
		switch bw, aw := is(b.wrong, i), is(a.wrong, i); {
		case bw && !aw:
			t.mismatch++
		case bw && agree(e, got, other, i, opts.Poison):
			t.spec++
		case bw:
			t.mismatch++
			t.apart++
		case aw:
			t.suspect++
		case opts.BitExact && !same(e, got.Bits(i), other.Bits(i)):
			t.unequal++
		}
	}
	return t
}

// same reports whether two elements have the same bits, NaNs being one
// value, and zeros too where their sign does not count.
func same(e *Expected, p, q uint64) bool {
	if p == q {
		return true
	}
	if !e.DType.IsFloat() || distance(e.DType, p, q) != 0 {
		return false
	}
	return math.IsNaN(e.DType.Decode(p)) || !e.SignedZero
}

// agree reports whether two outputs that are both off the truth agree in
// element i: that is the mark of a formula that differs from the spec.
func agree(e *Expected, got, other *tensor.Tensor, i int, poison []byte) bool {
	p, q := got.Bits(i), other.Bits(i)
	// Integers and zeros may well be meant.
	if e.DType.IsFloat() {
		for _, f := range poison {
			if f != 0 && (p == filled(f, e.DType) || q == filled(f, e.DType)) {
				return false
			}
		}
	}
	if same(e, p, q) {
		return true
	}
	if e.Exact != nil || e.Hard == nil {
		return false
	}
	return math.Abs(got.Float(i)-other.Float(i)) <= e.Hard[i]
}

// filled is the bits of an element whose bytes are all f.
func filled(f byte, d tensor.DType) uint64 {
	return uint64(f) * 0x0101010101010101 >> (64 - 8*d.Size())
}

// JudgeNoTruth compares two outputs where there is no truth. With a
// correct kernel on both sides |a-b| <= 2B (numerics.md 5.1), so that
// more is a MISMATCH, though of which side cannot be said. Where bound is
// nil the bits must be equal.
func JudgeNoTruth(got, other *tensor.Tensor, bound []float64, opts Options) (Judgement, error) {
	var j Judgement
	n := other.Len()
	if got.DType != other.DType || got.Len() != n {
		return j, fmt.Errorf("output must be %d %s as %s's, is %d %s", n, other.DType, opts.other(), got.Len(), got.DType)
	}
	if bound != nil && (len(bound) != n || !got.DType.IsFloat()) {
		return j, fmt.Errorf("bound has %d elements for %d of %s", len(bound), n, got.DType)
	}
	e := &Expected{DType: other.DType, Exact: other}
	if bound != nil {
		e.Exact = nil
		e.Value = other.Floats()
		e.Hard = make([]float64, n)
		for i, v := range bound {
			e.Hard[i] = 2 * v
		}
	}
	m, err := measure(e, got)
	if err != nil {
		return j, err
	}
	p := Compare(got, other)
	j.Accuracy, j.Parity = m.Diff, &p
	j.Verdict = WithinBound
	switch {
	case m.Mismatches > 0:
		j.Verdict = Mismatch
		pat, hints := locate(e, got, m.wrong, opts)
		j.Pattern, j.Hints = &pat, hints
	case p.Equal+p.ZeroSign == n:
		j.Verdict = BitExact
	}
	j.Status = j.Verdict.Status()
	j.warn("no_truth", "there is no truth: %s and %s were compared with each other, and which is off cannot be said", opts.name(), opts.other())
	return j, nil
}

// Repeats measures how far the outputs of repeated launches lie apart.
// Elements marked undefined do not count. It is an error for outs to
// differ in type or length from e.
func Repeats(e *Expected, outs []*tensor.Tensor) (Spread, error) {
	s := Spread{Runs: len(outs), First: -1}
	if err := e.check(); err != nil {
		return s, err
	}
	for k, o := range outs {
		if o.DType != e.DType || o.Len() != e.Len() {
			return s, fmt.Errorf("run %d must be %d %s, is %d %s", k, e.Len(), e.DType, o.Len(), o.DType)
		}
	}
	if len(outs) == 0 {
		return s, nil
	}
	alike := true
	for _, o := range outs[1:] {
		alike = alike && string(o.Data) == string(outs[0].Data)
	}
	if alike {
		return s, nil
	}
	var ulp, abs, share float64
	for i := range e.Len() {
		if e.Mark != nil && e.Mark[i] == Undefined {
			continue
		}
		// The extremes of the runs, NaN apart.
		bits := outs[0].Bits(i)
		lo, hi := bits, bits
		low, high := outs[0].Float(i), outs[0].Float(i)
		differ, nan := false, math.IsNaN(low)
		for _, o := range outs[1:] {
			p := o.Bits(i)
			if same(e, p, bits) {
				continue
			}
			differ = true
			v := o.Float(i)
			if math.IsNaN(v) {
				nan = true
			}
			if v < low {
				lo, low = p, v
			}
			if v > high {
				hi, high = p, v
			}
		}
		if !differ {
			continue
		}
		s.Differ++
		if s.First < 0 {
			s.First = i
		}
		d, u := high-low, distance(e.DType, lo, hi)
		if nan || math.IsNaN(d) {
			d, u = math.Inf(1), math.Inf(1)
		}
		abs, ulp = max(abs, d), max(ulp, u)
		switch {
		case e.Hard != nil && e.Hard[i] > 0 && d != 0:
			share = max(share, ratio(d, e.Hard[i]))
		default:
			share = math.Inf(1)
		}
	}
	s.MaxULP, s.MaxAbs, s.Share = Num(ulp), Num(abs), Num(share)
	return s, nil
}

// fewest is the number of elements from which agreeing on one value says
// something of the case: a constant always fits fewer by chance.
const fewest = 8

// nullPasses names an output that no kernel computes and that would pass
// all the same, or is empty.
func nullPasses(e *Expected, opts Options) string {
	n := e.Len()
	m := newMeter(e)
	judged := 0
	first := -1
	for i := range n {
		if m.mark(i) == Ordinary {
			if judged++; first < 0 {
				first = i
			}
			if judged >= fewest {
				break
			}
		}
	}
	if judged == 0 {
		return "" // said by the marks
	}
	one := func(bits uint64) func(int) (float64, uint64) {
		v := value(e.DType, bits)
		return func(int) (float64, uint64) { return v, bits }
	}
	if !e.Degenerate {
		if m.passes(one(0)) {
			return "an output of zeros"
		}
		if judged >= fewest {
			if c, ok := m.common(first); ok && m.passes(one(c)) {
				return fmt.Sprintf("the constant %.6g", value(e.DType, c))
			}
		}
		for _, f := range opts.Poison {
			if m.passes(one(filled(f, e.DType))) {
				return "an output that is never written"
			}
		}
	}
	if !e.Identity && judged >= fewest {
		for _, in := range opts.Inputs {
			t := in.Tensor
			if t == nil || t.DType != e.DType || t.Len() != n {
				continue
			}
			if m.passes(func(i int) (float64, uint64) { return t.Float(i), t.Bits(i) }) {
				return "a copy of the input " + in.Name
			}
		}
	}
	return ""
}

// passes reports whether an output that is at(i) in every element would
// have no mismatch.
func (m *meter) passes(at func(i int) (value float64, bits uint64)) bool {
	for i := range m.e.Len() {
		if m.mark(i) != Ordinary {
			continue
		}
		v, bits := at(i)
		if m.read(i, v, bits).wrong {
			return false
		}
	}
	return true
}

// value is the value of an element's bits; of a 64-bit integer, rounded.
func value(d tensor.DType, bits uint64) float64 {
	t := tensor.New(d, 1)
	t.SetBits(0, bits)
	return t.Float(0)
}

// common returns the constant that has the best chance to lie within
// every element's bound: the middle of what is common to all intervals.
func (m *meter) common(first int) (uint64, bool) {
	e := m.e
	if e.Exact != nil {
		return e.Exact.Bits(first), true
	}
	if e.Allow != nil && e.Allow[first]&NaN != 0 {
		if nan := m.d.Encode(math.NaN()); m.passes(func(int) (float64, uint64) { return math.NaN(), nan }) {
			return nan, true
		}
	}
	if r := m.read(first, 0, 0); kind(r.truth) != 3 || kind(r.round) != 3 {
		return m.d.Encode(r.round), true
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	for i := range e.Len() {
		if m.mark(i) != Ordinary {
			continue
		}
		r := m.read(i, 0, 0)
		if kind(r.round) != 3 {
			continue
		}
		l, h := r.round, r.round // the nearest is always right
		if r.limit > 0 {
			l, h = min(l, r.truth-r.limit), max(h, r.truth+r.limit)
		}
		if lo, hi = max(lo, l), min(hi, h); lo > hi {
			return 0, false
		}
	}
	return m.d.Encode(lo + (hi-lo)/2), true
}
