package baseline

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Speed is what two sets of samples say.
type Speed string

// The speeds.
const (
	Same   Speed = "SAME"
	Faster Speed = "FASTER"
	Slower Speed = "SLOWER"
	Unsure Speed = "UNSURE"
)

// The constants of the rule of Timing.
const (
	timeAlpha  = 0.01 // of the Mann-Whitney test
	timeLevel  = 0.95 // of the intervals of the medians
	leastFloor = 0.01 // no clock is trusted to less than 1%
	tick       = 5e-7 // nor to less than two of its ticks: on an H200 times of short launches lie 0.22 µs apart
	mostFloor  = 0.10 // with more noise than this, equal medians say nothing
	fewSamples = 6    // fewer have no interval at that level
	fewTwins   = 8    // pairs of equal objects that make a floor
)

// A Timing compares the samples of one case, base against new.
//
// The noise floor is the largest of 1%, of half a microsecond, of half the width of either
// median's order-statistic interval at 95%, relative to that median, and
// of what unchanged kernels moved by between the two runs. SLOWER takes
// all three: a Mann-Whitney test with p < 0.01, intervals that do not
// overlap, and medians further apart than the floor. FASTER is its mirror
// image. SAME is medians within a floor of at most 10%; everything else,
// and fewer than six samples on a side, is UNSURE.
type Timing struct {
	Base, New float64 // medians, seconds
	P         float64 // of the Mann-Whitney test; NaN where the intervals decide
	Floor     float64 // relative
	Speed     Speed
	Why       string // of UNSURE
}

// Ratio is the new median over the base's.
func (t *Timing) Ratio() float64 { return t.New / t.Base }

// newTiming compares samples. twins is what unchanged kernels moved by.
func newTiming(base, now []float64, twins float64) *Timing {
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.Thresholds{CompareAlpha: timeAlpha}) // NewSample sorts in place
	}
	a, b := sample(base), sample(now)
	sa, sb := benchmath.AssumeNothing.Summary(a, timeLevel), benchmath.AssumeNothing.Summary(b, timeLevel)
	t := &Timing{Base: sa.Center, New: sb.Center, P: math.NaN(), Speed: Unsure}
	if n := min(len(base), len(now)); n < fewSamples {
		t.Why = fmt.Sprintf("%d samples, which must be %d", n, fewSamples)
		return t
	}
	width := func(s benchmath.Summary) float64 { return (s.Hi - s.Lo) / (2 * s.Center) }
	t.Floor = max(leastFloor, width(sa), width(sb), twins, tick/t.Base)
	rise := t.Ratio() - 1
	slower, faster := sb.Lo > sa.Hi && rise > t.Floor, sb.Hi < sa.Lo && 1/t.Ratio()-1 > t.Floor
	if slower || faster { // the exact test takes milliseconds, which most cases need not spend
		t.P = benchmath.AssumeNothing.Compare(a, b).P
	}
	switch {
	case slower && t.P < timeAlpha:
		t.Speed = Slower
	case faster && t.P < timeAlpha:
		t.Speed = Faster
	case math.Abs(rise) <= t.Floor && t.Floor <= mostFloor:
		t.Speed = Same
	case math.Abs(rise) <= t.Floor:
		t.Why = fmt.Sprintf("the noise floor is %.0f%%", 100*t.Floor)
	default:
		t.Why = fmt.Sprintf("medians %+.1f%% apart, but the samples overlap", 100*rise)
	}
	return t
}

// twinFloor is the 95th percentile of how far the medians of unchanged
// kernels moved, 0 where there are too few of them to say.
func twinFloor(ratios []float64) float64 {
	if len(ratios) < fewTwins {
		return 0
	}
	moved := make([]float64, len(ratios))
	for i, r := range ratios {
		moved[i] = max(r, 1/r) - 1
	}
	slices.Sort(moved)
	return moved[min(len(moved)-1, int(0.95*float64(len(moved))))]
}
