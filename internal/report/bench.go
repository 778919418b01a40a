package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/paritycheck/paritycheck/internal/runner"
)

// writeBench writes the Go benchmark format, which benchstat reads:
// a line per sample of a timed case and one of the errors of every judged
// case. `benchstat -col /target` sets targets side by side.
func writeBench(w io.Writer, run *runner.Run) error {
	fmt.Fprintf(w, "paritycheck: %s\nseed: %d\n", clean(run.Env.Version), run.Env.Seed)
	for _, t := range run.Env.Targets {
		if t.Unavailable == "" {
			fmt.Fprintf(w, "%s: %s\n", benchKey("device-"+t.Name), clean(t.Info.Name))
		}
	}
	for i := range run.Results {
		r := &run.Results[i]
		// The case begins with the op and ends with the input class; a
		// name's parts are separated by slashes, as in a case.
		name := benchName(r)
		for _, s := range r.Samples {
			fmt.Fprintf(w, "%s 1 %s ns/op", name, num(1e9*s))
			if r.Bytes > 0 && s > 0 {
				fmt.Fprintf(w, " %s B/s", num(float64(r.Bytes)/s))
			}
			fmt.Fprintln(w)
		}
		if j := r.Judgement; j != nil {
			fmt.Fprintf(w, "%s 1 %s bound-share %s max-ulp %d mismatches\n", name,
				benchNum(float64(j.Accuracy.Share)), benchNum(float64(j.Accuracy.MaxULP)), j.Accuracy.Mismatches)
		}
	}
	return nil
}

// benchNum is v as strconv.ParseFloat reads it.
func benchNum(v float64) string { return strings.Replace(num(v), "Inf", "+Inf", 1) }

// benchName is BenchmarkRope_i/f32/b=2,h=3/normal/target=hip@gfx90a.
func benchName(r *runner.Result) string {
	s := r.Case
	if s == "" {
		s = r.Op + "/" + r.DType
	}
	s = clean(s)
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:] // a lower-case letter is no benchmark
	}
	return "Benchmark" + strings.ReplaceAll(s, " ", "_") + "/target=" + strings.ReplaceAll(clean(r.Target), " ", "_")
}

// benchKey is s as a configuration key: lower case, without blanks or
// colons.
func benchKey(s string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == ':' {
			return '-'
		}
		return c
	}, strings.ToLower(clean(s)))
}
