package baseline

import (
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"

	"github.com/paritycheck/paritycheck/internal/compare"
)

// The constants of the accuracy rule.
const (
	lossAlpha = 1e-4 // of the test of one tail
	lossShare = 0.01 // a loss touches at least one element of a hundred
	fewCases  = 3    // fewer have no spread to test against

	grossFactor   = 4    // times the base's error
	grossRMS      = 0.01 // of the bound: errors below are of no account
	grossWorst    = 0.5  // of the bound, for a single element
	grossRow      = 64   // elements of a row
	grossCase     = 256  // elements of a case
	tails         = len(compare.HistEdges)
	tailsNotExact = 0
)

// tail is the number of elements with an error over the k-th edge, k from
// 1, or, for k = 0, that are not the truth correctly rounded.
func (d *Distribution) tail(k int) int {
	if k == tailsNotExact {
		return d.N - d.Exact
	}
	n := 0
	for i := k + 1; i < len(d.Hist); i++ {
		n += d.Hist[i]
	}
	return n
}

// A pair is one case in both runs.
type pair struct {
	base, now *Case
	equal     bool // code objects, device and arguments are the same
	exact     bool // and so must the numbers be
}

// sound reports whether accuracy inside the bound can be compared.
func (p *pair) sound() bool {
	ok := func(c *Case) bool {
		return (c.Status == compare.Pass || c.Status == compare.Warn) && c.Error != nil && c.Error.Mismatches == 0
	}
	return ok(p.base) && ok(p.now) && p.base.Error.N == p.now.Error.N
}

// rowLoss says in words how a row lost accuracy inside the bound beyond
// what its distribution of errors explains; it is empty where it did not.
//
// Let case i have n[i] elements, of which d[i] more than before lie in a
// tail: not exact, or over 0.5, 1, 2, 4, 8, 16, 64, 256, 1024 ulp. Then
// r = sum d / sum n is the share of elements that moved into the tail. It
// is a loss where r is at least 1% and sum d, over the square root of the
// larger of the binomial variance and the variance between cases
//
//	k/(k-1) * sum (d[i] - r*n[i])^2
//
// is beyond Student's quantile of k-1 degrees of freedom at 1e-4 for one
// of at least three cases. The second variance allows for errors that
// move together within a case, as those of a row do that share a sum.
//
// A gross loss needs no test: an rms error, or a worst error over half the
// bound, of more than four times the base's, see gross.
func rowLoss(pairs []pair) string {
	var used []pair
	for _, p := range pairs {
		if p.sound() && !p.exact {
			used = append(used, p)
		}
	}
	for k := tails - 1; k >= 0; k-- { // the widest errors say most
		if text := tailLoss(used, k); text != "" {
			return text
		}
	}
	var base, now pooled
	for _, p := range used {
		base.add(p.base.Error)
		now.add(p.now.Error)
	}
	return gross(base, now, grossRow)
}

func tailLoss(pairs []pair, k int) string {
	var n, was, is, spread float64
	cases := 0
	for _, p := range pairs {
		if p.base.Error.N == 0 || k > 0 && (len(p.base.Error.Hist) == 0 || len(p.now.Error.Hist) == 0) {
			continue
		}
		cases++
		n += float64(p.base.Error.N)
		was += float64(p.base.Error.tail(k))
		is += float64(p.now.Error.tail(k))
	}
	r := (is - was) / n
	if cases < fewCases || !(r >= lossShare) {
		return ""
	}
	for _, p := range pairs {
		if p.base.Error.N == 0 || k > 0 && (len(p.base.Error.Hist) == 0 || len(p.now.Error.Hist) == 0) {
			continue
		}
		d := float64(p.now.Error.tail(k)-p.base.Error.tail(k)) - r*float64(p.base.Error.N)
		spread += d * d
	}
	share := (is + was) / (2 * n)
	binomial := 2 * n * share * (1 - share)
	variance := max(binomial, spread*float64(cases)/float64(cases-1), 1)
	t := (is - was) / math.Sqrt(variance)
	if p := 1 - (stats.TDist{V: float64(cases - 1)}).CDF(t); !(p < lossAlpha) {
		return ""
	}
	what := "are not exact"
	if k > 0 {
		what = fmt.Sprintf("are over %v ulp", compare.HistEdges[k])
	}
	return fmt.Sprintf("%.1f%% of elements %s, %.1f%% before", 100*is/n, what, 100*was/n)
}

// caseLoss says how a case alone lost accuracy grossly.
func caseLoss(p pair) string {
	if !p.sound() || p.exact {
		return ""
	}
	var base, now pooled
	base.add(p.base.Error)
	now.add(p.now.Error)
	return gross(base, now, grossCase)
}

// pooled is the error of several cases in shares of the bound.
type pooled struct {
	n           int
	sum2, worst float64
}

func (p *pooled) add(d *Distribution) {
	rms, worst := float64(d.RMSShare), float64(d.MaxShare)
	if d.N == 0 || math.IsNaN(rms) || math.IsInf(rms, 0) || math.IsNaN(worst) {
		return
	}
	p.n += d.N
	p.sum2 += rms * rms * float64(d.N)
	p.worst = max(p.worst, worst)
}

func (p *pooled) rms() float64 { return math.Sqrt(p.sum2 / float64(p.n)) }

// gross compares errors of at least few elements.
func gross(base, now pooled, few int) string {
	if base.n != now.n || now.n < few {
		return ""
	}
	if a, b := base.rms(), now.rms(); b > grossRMS && b > grossFactor*a {
		return fmt.Sprintf("the rms error is %s of the bound, %s before", percent(b), percent(a))
	}
	if a, b := base.worst, now.worst; b > grossWorst && b > grossFactor*a {
		return fmt.Sprintf("the worst error is %s of the bound, %s before", percent(b), percent(a))
	}
	return ""
}

// percent rounds a share.
func percent(v float64) string {
	switch {
	case v != 0 && math.Abs(v) < 0.0005:
		return "<0.1%"
	case math.Abs(v) > 10:
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.1f%%", 100*v)
}
