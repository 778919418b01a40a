package compare

import (
	"fmt"
	"math"
	"strings"
)

// The constants of the tests between two sides. 2, 4, 0.25, 5 and 0.05
// are numerics.md 0.3's; it leaves the floor of the tail test and the
// fewest samples open.
const (
	rmsFactor  = 2    // WORSE if rms > 2 times the other's
	rmsFloor   = 0.25 // and a quarter ulp
	tailFactor = 4    // WORSE if the 99.9th percentile of the share > 4 times the other's
	tailFloor  = 0.1  // and a tenth of the bound
	tailFewest = 256  // of fewer elements the 99.9th percentile is the maximum
	biasSigmas = 5    // WORSE if |mean error| > 5 ulp/sqrt(n)
	biasFloor  = 0.05 // and 0.05 ulp

	// Of fewer samples a mean says nothing: an element that one side has
	// right by luck would make the other worse.
	fewestSamples = 16

	// Without a counterpart to show what the arithmetic gives, a bias must
	// be half of that of truncation, and an error no larger than one
	// wrongly rounded store leaves (truncation: rms 0.58 ulp).
	loneBias = 0.25
	loneRMS  = 0.75

	// The share of elements over the likely bound that makes a side worse.
	unlikelyShare = 0.01
)

// worse lists in what b is worse than a by more than chance; nothing is
// within the meaning of the tests unless both are within the bound. With
// a nil only what needs no counterpart is tested: the share of elements
// not correctly rounded, elements over the likely bound or over that of
// shared sums, and the bias that a truncating store leaves in a half type.
func worse(e *Expected, b, a *measured, name, other string) []Warning {
	var out []Warning
	add := func(code, format string, args ...any) {
		out = append(out, Warning{code, fmt.Sprintf(format, args...)})
	}
	if off, ok := notNearest(e, b); ok {
		if _, too := notNearest(e, a); !too {
			add("not_nearest", "%.3g %% of %s's elements are not correctly rounded, where at most %.3g %% may be: the rounding mode is wrong, or a step is rounded once more", 100*off, name, 100*e.MaxNotNearest)
		}
	}
	if unlikely(b) && !unlikely(a) {
		add("unlikely_often", "%d of %s's %d elements exceed the likely bound", b.Unlikely, name, b.N)
	}
	if b.chained > 0 {
		add("one_chain", "%s's error in %d of %d elements is one that only a sum in one chain explains, of %d terms: lanes that share it give at most 1/%.3g of the worst", name, b.chained, b.N, e.Terms, b.chainedShare)
	}
	s, ulp := &b.stats, b.stats.ulp()
	if s.samples() < fewestSamples {
		return out
	}
	sigmas := biasSigmas / math.Sqrt(float64(s.samples()))
	unit := "ulp"
	if !e.ULP {
		unit = "of the bound"
	}
	rms := s.rms()
	pulls := sigmas * s.deviation(func(g group) float64 { return g.pull })
	signs := sigmas * s.deviation(func(g group) float64 { return g.signed })
	if a == nil {
		if b.half(e) && float64(b.RMSULP) <= loneRMS {
			if p := s.mean(s.nearPull); math.Abs(p) > pulls+loneBias*ulp {
				add("biased", "%s errs %s by %.3g %s in the mean: the store does not round to nearest", name, inward(p), math.Abs(p), unit)
			} else if p := s.mean(s.nearSigned); math.Abs(p) > signs+loneBias*ulp {
				add("biased", "%s errs %s by %.3g %s in the mean: the store does not round to nearest", name, upward(p), math.Abs(p), unit)
			}
		}
		return out
	}
	o := &a.stats
	if r := o.rms(); rms > rmsFactor*r+rmsFloor*ulp {
		add("rms", "%s's rms error is %.3g %s, %s's %.3g", name, rms, unit, other, r)
	}
	if p, q := float64(b.P999Share), float64(a.P999Share); b.N >= tailFewest && p > tailFactor*q+tailFloor {
		add("tail", "%s's 99.9th percentile is %.3g of the bound, %s's %.3g", name, p, other, q)
	}
	biased := func(p, q, limit float64) bool { return math.Abs(p) > limit && math.Abs(q) <= limit }
	if p, q := s.mean(s.pull), o.mean(o.pull); biased(p, q, pulls+biasFloor*ulp) {
		add("biased", "%s errs %s by %.3g %s in the mean, %s by %.3g", name, inward(p), math.Abs(p), unit, other, math.Abs(q))
	} else if p, q := s.mean(s.signed), o.mean(o.signed); biased(p, q, signs+biasFloor*ulp) {
		add("biased", "%s errs %s by %.3g %s in the mean, %s by %.3g", name, upward(p), math.Abs(p), unit, other, math.Abs(q))
	}
	return out
}

func inward(p float64) string {
	if p < 0 {
		return "toward zero"
	}
	return "away from zero"
}

func upward(p float64) string {
	if p < 0 {
		return "downward"
	}
	return "upward"
}

func (m *measured) half(e *Expected) bool { return e.DType.IsFloat() && e.DType.Precision() <= 11 }

// notNearest reports the share of m's elements that are not correctly
// rounded, and whether that exceeds the limit; of small outputs by more
// than five standard deviations.
func notNearest(e *Expected, m *measured) (float64, bool) {
	if m == nil || e.MaxNotNearest <= 0 || !m.half(e) {
		return 0, false
	}
	n := float64(m.N - m.IllCond - m.Undefined)
	limit := n * e.MaxNotNearest
	if limit < 100 {
		limit += 5*math.Sqrt(limit) + 2
	}
	return float64(m.NotNearest) / n, float64(m.NotNearest) > limit
}

func unlikely(m *measured) bool {
	return m != nil && float64(m.Unlikely) > unlikelyShare*float64(m.N)+2
}

// sides says in a sentence how far each side is from the truth and which
// is off.
func sides(e *Expected, b, a *measured, t tally, j *Judgement, opts Options) string {
	name, other := opts.name(), opts.other()
	var s strings.Builder
	s.WriteString(far(e, b, name))
	if a != nil {
		s.WriteString(", " + far(e, a, other))
	}
	if e.Exact == nil {
		s.WriteString(" from the truth")
	} else {
		s.WriteString(" other than the truth")
	}
	s.WriteString(": ")
	switch {
	case b.N == 0:
		return "no elements"
	case a == nil && b.Mismatches > 0:
		s.WriteString(name + " is off")
	case t.truncates && b.Mismatches == 0:
		s.WriteString(name + " rounds toward zero")
	case a == nil:
		s.WriteString("within the bound")
	case t.apart > 0:
		s.WriteString("both are off, and differ")
	case t.mismatch > 0 && t.suspect > 0, t.mismatch > 0 && t.spec > 0:
		s.WriteString("both are off, in different elements")
	case t.mismatch > 0:
		s.WriteString(name + " is off")
	case t.spec > 0 && t.suspect > 0:
		s.WriteString("both are off, " + other + " in more elements")
	case t.spec > 0:
		s.WriteString("both are off alike")
	case t.suspect > 0:
		s.WriteString(other + " is off")
	case t.unequal > 0:
		s.WriteString("both are within the bound, but the bits differ")
	case j.has(Worse):
		s.WriteString("both are within the bound, " + name + " is the less accurate")
	case j.has(Better):
		s.WriteString("both are within the bound, " + name + " is the more accurate")
	case j.has(BitExact):
		s.WriteString("the same bits")
	default:
		s.WriteString("both are within the bound")
	}
	return s.String()
}

func (j *Judgement) has(v Verdict) bool {
	if j.Verdict == v {
		return true
	}
	for _, f := range j.Flags {
		if f == v {
			return true
		}
	}
	return false
}

// far words the distance of one side from the truth.
func far(e *Expected, m *measured, name string) string {
	switch {
	case e.Exact != nil:
		return fmt.Sprintf("%s has %d of %d elements", name, m.Mismatches, m.N)
	case m.Mismatches > 0 && math.IsInf(float64(m.Share), 0):
		return fmt.Sprintf("%s is past any bound in %d of %d elements", name, m.Mismatches, m.N)
	case e.ULP:
		return fmt.Sprintf("%s %.3g ulp", name, float64(m.MaxULP))
	}
	return fmt.Sprintf("%s %.3g of the bound", name, float64(m.Share))
}
