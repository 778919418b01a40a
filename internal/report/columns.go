package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A column is one fact of a row. Its key is a promise to scripts; its
// name is for people and may change.
type column struct {
	key, name string
	right     bool                // numbers
	raw       func(r *row) string // full precision, base units; empty where there is none
	text      func(r *row) string // rounded, with a unit; nil: not in tables
	when      func(r *row) bool   // tables leave the column out where this holds for no row
	counter   bool                // tables show it on demand
}

// columns are all facts. Raw values are of a row of one result.
func columns() []column {
	return []column{
		{key: "op", name: "op",
			raw:  func(r *row) string { return r.first().Op },
			text: func(r *row) string { return r.first().Op }},
		{key: "family", raw: func(r *row) string { return r.first().Family }},
		{key: "kernel", raw: func(r *row) string { return r.first().Kernel }},
		{key: "dtype", name: "dtype",
			raw:  func(r *row) string { return r.first().DType },
			text: func(r *row) string { return r.first().DType }},
		{key: "case", raw: func(r *row) string { return r.first().Case }},
		{key: "class", raw: func(r *row) string { return r.first().Class }},
		{key: "size", name: "size",
			raw:  func(r *row) string { return r.first().Size },
			text: func(r *row) string { return dash(r.first().Size) },
			when: func(r *row) bool { return r.first().Size != "" }},
		{key: "target", name: "target",
			raw:  func(r *row) string { return r.first().Target },
			text: func(r *row) string { return r.first().Target }},
		{key: "against", name: "against",
			raw:  func(r *row) string { return r.first().Against },
			text: func(r *row) string { return dash(against(r)) },
			when: func(r *row) bool { return against(r) != "" }},
		{key: "cases", name: "cases", right: true,
			when: judgedOrPlain,
			text: func(r *row) string {
				if r.compared < len(r.results) {
					return fmt.Sprintf("%d of %d", r.compared, len(r.results))
				}
				return strconv.Itoa(len(r.results))
			}},
		{key: "status", name: "status",
			raw:  func(r *row) string { return string(r.status) },
			text: func(r *row) string { return string(r.status) }},
		{key: "verdict", name: "verdict",
			raw:  func(r *row) string { return r.verdict },
			text: func(r *row) string { return dash(r.verdict) },
			when: judgedOrPlain},
		{key: "share", name: "of bound", right: true,
			raw:  diff(func(d *compare.Diff) compare.Num { return d.Share }),
			text: func(r *row) string { return r.ifJudged(shareText(r.share)) },
			when: judgedOrPlain},
		{key: "share_likely", raw: diff(func(d *compare.Diff) compare.Num { return d.ShareLikely })},
		{key: "max_ulp", name: "max ulp", right: true,
			raw:  diff(func(d *compare.Diff) compare.Num { return d.MaxULP }),
			text: func(r *row) string { return r.ifJudged(ulpText(r.ulp)) },
			when: judgedOrPlain},
		{key: "p50_ulp", raw: diff(func(d *compare.Diff) compare.Num { return d.P50ULP })},
		{key: "p99_ulp", raw: diff(func(d *compare.Diff) compare.Num { return d.P99ULP })},
		{key: "rms_ulp", raw: diff(func(d *compare.Diff) compare.Num { return d.RMSULP })},
		{key: "bias_ulp", raw: diff(func(d *compare.Diff) compare.Num { return d.BiasULP })},
		{key: "max_abs", raw: diff(func(d *compare.Diff) compare.Num { return d.MaxAbs })},
		{key: "nmse", raw: diff(func(d *compare.Diff) compare.Num { return d.NMSE })},
		{key: "elements", raw: count(func(d *compare.Diff) int { return d.N })},
		{key: "exact", raw: count(func(d *compare.Diff) int { return d.Exact })},
		{key: "mismatches", raw: count(func(d *compare.Diff) int { return d.Mismatches })},
		{key: "unlikely", raw: count(func(d *compare.Diff) int { return d.Unlikely })},
		{key: "ill_conditioned", raw: count(func(d *compare.Diff) int { return d.IllCond })},
		{key: "undefined", raw: count(func(d *compare.Diff) int { return d.Undefined })},
		{key: "parity_equal", name: "bit-equal", right: true,
			raw:  match(func(m *compare.Match) string { return strconv.Itoa(m.Equal) }),
			text: func(r *row) string { return equalText(r.equal, r.pairs) },
			when: func(r *row) bool { return against(r) != "" }},
		{key: "parity_max_ulp", raw: match(func(m *compare.Match) string { return num(float64(m.MaxULP)) })},
		{key: "time_s", name: "time", right: true,
			raw: func(r *row) string {
				if r.timed == nil {
					return ""
				}
				return num(r.seconds)
			},
			text: func(r *row) string {
				if r.timed == nil {
					return "-"
				}
				return secondsText(r.seconds)
			},
			when: func(r *row) bool { return r.timed != nil }},
		{key: "samples", raw: func(r *row) string { return strconv.Itoa(len(r.first().Samples)) }},
		timing("time_low_s", "", func(t *runner.Timing) float64 { return t.Low }, nil),
		timing("time_high_s", "", func(t *runner.Timing) float64 { return t.High }, nil),
		{key: "time_noise", name: "±", right: true,
			raw: func(r *row) string {
				if r.timing() == nil {
					return ""
				}
				return num(r.timing().Noise())
			},
			text: func(r *row) string {
				if r.timing() == nil {
					return "-"
				}
				return percent(r.timing().Noise())
			},
			when: func(r *row) bool { return r.timing() != nil }},
		timing("batch_s", "batch", func(t *runner.Timing) float64 { return t.BatchMedian }, secondsText),
		timing("batch_low_s", "", func(t *runner.Timing) float64 { return t.BatchLow }, nil),
		timing("batch_high_s", "", func(t *runner.Timing) float64 { return t.BatchHigh }, nil),
		{key: "stop", raw: func(r *row) string {
			if r.timing() == nil {
				return ""
			}
			return r.timing().Stop
		}},
		timing("clock_mhz", "", func(t *runner.Timing) float64 { return float64(t.Clock) }, nil),
		timing("drift", "", func(t *runner.Timing) float64 { return t.Drift }, nil),
		{key: "bytes", raw: func(r *row) string { return positive(r.first().Bytes) }},
		{key: "flops", raw: func(r *row) string { return positive(r.first().Flops) }},
		{key: "bytes_per_s", name: "GB/s", right: true,
			raw: func(r *row) string {
				if v := r.rate(); v > 0 {
					return num(v)
				}
				return ""
			},
			text: func(r *row) string {
				if v := r.rate(); v > 0 {
					return strconv.FormatFloat(v/1e9, 'f', 1, 64)
				}
				return "-"
			},
			when: func(r *row) bool { return r.timed != nil }},
		timing("of_copy", "of copy", func(t *runner.Timing) float64 { return t.OfCopy }, percent),
		timing("of_roofline", "of roofline", func(t *runner.Timing) float64 { return t.OfRoofline }, percent),
		counter("instructions", "instructions", func(c *gpu.Counters) float64 {
			var n int64
			for _, v := range c.Inst {
				n += v
			}
			return float64(n)
		}, countText),
		counter("lanes_active", "lanes active", func(c *gpu.Counters) float64 { return ratio(c.LaneOps, c.LaneSlots) }, percent),
		counter("coalescing", "coalescing", func(c *gpu.Counters) float64 { return ratio(c.MinLines, c.GlobalLines) }, percent),
		counter("global_bytes", "global bytes", func(c *gpu.Counters) float64 { return float64(c.GlobalBytes) }, countText),
		counter("lds_conflicts", "LDS conflicts", func(c *gpu.Counters) float64 { return float64(c.LDSConflicts) }, countText),
		{key: "findings", raw: func(r *row) string { return strings.Join(checks(r.first().Findings), " ") }},
		{key: "fault", raw: func(r *row) string { return r.first().Fault }},
		{key: "skipped", raw: func(r *row) string { return r.first().Skipped }},
		{key: "untimed", raw: func(r *row) string { return r.first().Untimed }},
		{key: "warnings", raw: func(r *row) string { return strings.Join(warningCodes(r.first()), " ") }},
		{key: "output_sha256", raw: func(r *row) string { return r.first().OutputHash }},
	}
}

// judgedOrPlain tells rows of a run that judges from those of cases that
// are timed alone.
func judgedOrPlain(r *row) bool { return r.judged > 0 || r.first().Size == "" }

// timing is a column of how a result was timed. A zero is not known.
// Without text it is not in tables.
func timing(key, name string, of func(*runner.Timing) float64, text func(float64) string) column {
	value := func(r *row) float64 {
		if t := r.timing(); t != nil {
			return of(t)
		}
		return 0
	}
	c := column{
		key: key, name: name, right: true,
		raw: func(r *row) string {
			if v := value(r); v != 0 {
				return num(v)
			}
			return ""
		},
		when: func(r *row) bool { return value(r) != 0 },
	}
	if text != nil {
		c.text = func(r *row) string {
			if v := value(r); v != 0 {
				return text(v)
			}
			return "-"
		}
	}
	return c
}

// counter is a column of the interpreter's counters. A NaN is a ratio of
// nothing.
func counter(key, name string, of func(*gpu.Counters) float64, text func(float64) string) column {
	value := func(r *row, show func(float64) string, none string) string {
		if r.counters == nil {
			return none
		}
		v := of(r.counters)
		if math.IsNaN(v) {
			return none
		}
		return show(v)
	}
	return column{
		key: key, name: name, right: true, counter: true,
		raw:  func(r *row) string { return value(r, num, "") },
		text: func(r *row) string { return value(r, text, "-") },
	}
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

func percent(v float64) string   { return fmt.Sprintf("%.1f%%", 100*v) }
func countText(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// tableColumns are the columns that people see of rows.
func tableColumns(rows []*row, opts Options) []column {
	var cols []column
	for _, c := range columns() {
		if c.text == nil || c.counter && !opts.Counters {
			continue
		}
		show := c.when == nil
		for _, r := range rows {
			show = show || c.when(r)
		}
		if show {
			cols = append(cols, c)
		}
	}
	return cols
}

// against is the counterpart of a row's results: the first that any has.
func against(r *row) string {
	for _, res := range r.results {
		if res.Against != "" {
			return res.Against
		}
	}
	return ""
}

// rate is bytes per second of the timed case, 0 where unknown.
func (r *row) rate() float64 {
	if r.timed == nil || r.seconds <= 0 {
		return 0
	}
	return float64(r.timed.Bytes) / r.seconds
}

func (r *row) ifJudged(s string) string {
	if r.judged == 0 {
		return "-"
	}
	return s
}

func diff(f func(d *compare.Diff) compare.Num) func(r *row) string {
	return func(r *row) string {
		if j := r.first().Judgement; j != nil {
			return num(float64(f(&j.Accuracy)))
		}
		return ""
	}
}

func count(f func(d *compare.Diff) int) func(r *row) string {
	return func(r *row) string {
		if j := r.first().Judgement; j != nil {
			return strconv.Itoa(f(&j.Accuracy))
		}
		return ""
	}
}

func match(f func(m *compare.Match) string) func(r *row) string {
	return func(r *row) string {
		if j := r.first().Judgement; j != nil && j.Parity != nil {
			return f(j.Parity)
		}
		return ""
	}
}

func warningCodes(r *runner.Result) []string {
	var codes []string
	if r.Timing != nil {
		for _, w := range r.Timing.Warnings {
			codes = append(codes, w.Code)
		}
	}
	if r.Judgement != nil {
		for _, w := range r.Judgement.Warnings {
			codes = append(codes, w.Code)
		}
	}
	return codes
}

// num is v at full precision, with the words of JSON where not finite.
func num(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func positive(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shareText is a share of the bound. Rounding never moves it across 1.
func shareText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 0):
		return "∞"
	case v == 0:
		return "0%"
	case v < 0.0005:
		return "<0.1%"
	case v > 1 && v < 1.001:
		return ">100%"
	case v <= 9.995:
		return fmt.Sprintf("%.1f%%", 100*v)
	}
	return times(v)
}

// times is a factor, as in "1.3e+06x".
func times(v float64) string {
	if v > 1 && v < 1.005 {
		return "just over 1x"
	}
	return fmt.Sprintf("%.3gx", v)
}

func ulpText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 0):
		return "∞"
	case v == 0:
		return "0"
	case v < 0.005:
		return "<0.01"
	case v < 100:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}

// equalText is the share of bit-equal elements, rounded down, so that
// 100% means all and 0% none.
func equalText(equal, n int) string {
	switch {
	case n == 0:
		return "-"
	case equal == n:
		return "100%"
	case equal == 0:
		return "0%"
	case 1000*equal < n:
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", math.Floor(1000*float64(equal)/float64(n))/10)
}

func secondsText(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.4gs", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.4gms", 1e3*s)
	}
	return fmt.Sprintf("%.4gµs", 1e6*s)
}
