package report

import (
	"math"
	"slices"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A row is the results of one op and dtype on one target, or, in formats
// for machines, a single result.
type row struct {
	results []*runner.Result

	status  compare.Status
	verdict string // worst among the results of that status

	compared int // results with an output that was judged, or a fault
	judged   int // results with a judgement

	share, likely, ulp float64 // worst of the judged
	equal, pairs       int     // elements bit-equal to the counterpart, of how many

	counters *gpu.Counters // sum over the results that have any, or nil

	// The timed case that moves most bytes; nil where nothing was timed.
	timed   *runner.Result
	seconds float64 // its median
}

// first is the result that names the row.
func (r *row) first() *runner.Result { return r.results[0] }

// byTarget groups results by op, dtype and target, in order of appearance.
func byTarget(run *runner.Run) []*row {
	type key struct{ op, dtype, size, target string }
	at := map[key]int{}
	var groups [][]*runner.Result
	for i := range run.Results {
		r := &run.Results[i]
		k := key{r.Op, r.DType, "", r.Target}
		if r.Size != "" { // a case for timing is a row of its own
			k.size = r.Case
		}
		j, ok := at[k]
		if !ok {
			j = len(groups)
			at[k] = j
			groups = append(groups, nil)
		}
		groups[j] = append(groups[j], r)
	}
	rows := make([]*row, len(groups))
	for i, g := range groups {
		rows[i] = newRow(g...)
	}
	return rows
}

// byCase makes a row of every result.
func byCase(run *runner.Run) []*row {
	rows := make([]*row, len(run.Results))
	for i := range run.Results {
		rows[i] = newRow(&run.Results[i])
	}
	return rows
}

func newRow(results ...*runner.Result) *row {
	r := &row{
		results: results,
		status:  compare.Unverified,
		share:   math.NaN(), likely: math.NaN(), ulp: math.NaN(),
	}
	for _, res := range results {
		if badness(res.Status) > badness(r.status) {
			r.status = res.Status
		}
		if badness(res.Status) > 0 {
			r.compared++
		}
		if j := res.Judgement; j != nil {
			r.judged++
			r.share = worst(r.share, float64(j.Accuracy.Share))
			r.likely = worst(r.likely, float64(j.Accuracy.ShareLikely))
			r.ulp = worst(r.ulp, float64(j.Accuracy.MaxULP))
			if j.Parity != nil {
				r.equal += j.Parity.Equal
				r.pairs += j.Parity.N
			}
		}
		if res.Counters != nil {
			if r.counters == nil {
				r.counters = new(gpu.Counters)
			}
			r.counters.Add(res.Counters)
		}
		if len(res.Samples) > 0 && (r.timed == nil || res.Bytes > r.timed.Bytes) {
			r.timed = res
			r.seconds = median(res.Samples)
		}
	}
	rank := -1
	for _, res := range results {
		if res.Status != r.status {
			continue
		}
		if label, n := cause(res); n > rank {
			r.verdict, rank = label, n
		}
	}
	return r
}

// timing is how the timed case was timed, or nil.
func (r *row) timing() *runner.Timing {
	if r.timed == nil {
		return nil
	}
	return r.timed.Timing
}

// skipped reports whether no result of the row is of a launch.
func (r *row) skipped() bool {
	return !slices.ContainsFunc(r.results, func(res *runner.Result) bool { return res.Skipped == "" })
}

// badness orders statuses for a row: one that was compared names the row
// before one that was not, which the number of cases shows.
func badness(s compare.Status) int {
	switch s {
	case compare.Fail:
		return 3
	case compare.Warn:
		return 2
	case compare.Pass:
		return 1
	}
	return 0
}

// verdictOrder is from harmless to grave.
var verdictOrder = []compare.Verdict{
	compare.BitExact, compare.Better, compare.WithinBound, compare.Worse,
	compare.IllCond, compare.Mistrusted, compare.UBDivergent, compare.ReferenceSuspect,
	compare.SpecMismatch, compare.Nondeterministic, compare.Mismatch,
}

// cause says in a word why a result has its status, with a rank that
// grows with gravity.
func cause(r *runner.Result) (label string, rank int) {
	j := r.Judgement
	switch {
	case r.Judgement == nil && r.Skipped != "" && r.Status == compare.Fail:
		return "REQUIRED", len(verdictOrder) + 2
	case r.Fault != "" && r.Status == compare.Fail:
		return "FAULT", len(verdictOrder) + 1
	case j != nil && (len(r.Findings) == 0 || j.Status == compare.Fail || r.Status != compare.Fail):
		return string(j.Verdict), slices.Index(verdictOrder, j.Verdict)
	case len(r.Findings) > 0:
		return string(r.Findings[0].Check), len(verdictOrder)
	}
	return "", -1
}

// checks names the distinct checks of findings, in order.
func checks(findings []gpu.Finding) []string {
	var names []string
	for _, f := range findings {
		if !slices.Contains(names, string(f.Check)) {
			names = append(names, string(f.Check))
		}
	}
	return names
}

// worst is the larger of two magnitudes, a NaN standing for a number that
// does not exist.
func worst(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return max(a, b)
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
