// Package baseline reduces runs to what later runs are held against, and
// says what changed between two: which results are worse, which are lost,
// where accuracy went down inside the bound, which kernels execute more or
// run slower. It is pure: runs in, changes out.
package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/seal"
)

// Schema is the version of a Baseline's JSON form.
const Schema = "paritycheck.baseline/v1"

// A Baseline is a run, reduced to what a comparison needs.
type Baseline struct {
	Schema string     `json:"schema"`
	Sum    string     `json:"sha256,omitempty"` // of a written document, see package seal; empty in memory
	Env    runner.Env `json:"env"`
	Rows   []Row      `json:"rows"` // by op, dtype and target, in the run's order
}

// A Row is one op and dtype on one target.
type Row struct {
	Op     string `json:"op"`
	Family string `json:"family"`
	DType  string `json:"dtype"`
	Target string `json:"target"`
	Cases  []Case `json:"cases"`
}

// A Case is what one case came to on the row's target.
type Case struct {
	Case     string          `json:"case"` // full name
	Status   compare.Status  `json:"status"`
	Verdict  compare.Verdict `json:"verdict,omitempty"` // absent where nothing was judged
	Fault    string          `json:"fault,omitempty"`
	Skipped  string          `json:"skipped,omitempty"`
	Checks   []string        `json:"checks,omitempty"` // of the interpreter, that found something
	Set      []string        `json:"set,omitempty"`    // arguments that --set changed, as given
	Error    *Distribution   `json:"error,omitempty"`  // absent where nothing was judged
	Counters *gpu.Counters   `json:"counters,omitempty"`
	Samples  []float64       `json:"samples_s,omitempty"` // seconds per launch
	Output   string          `json:"output_sha256,omitempty"`
}

// A Distribution is that of one output's errors against the truth.
type Distribution struct {
	N          int         `json:"n"`     // elements
	Exact      int         `json:"exact"` // equal to the truth correctly rounded
	Mismatches int         `json:"mismatches"`
	P50ULP     compare.Num `json:"p50_ulp"`
	P99ULP     compare.Num `json:"p99_ulp"`
	MaxULP     compare.Num `json:"max_ulp"`
	RMSShare   compare.Num `json:"rms_share"` // shares are of the bound: 1 is the limit
	P999Share  compare.Num `json:"p999_share"`
	MaxShare   compare.Num `json:"max_share"`
	Hist       []int       `json:"hist"` // elements by error in ulp, see compare.HistEdges
}

// Of reduces run. The error names a result that cannot be part of a
// baseline: one that stands there twice, or contradicts itself.
func Of(run *runner.Run) (*Baseline, error) {
	b := &Baseline{Schema: Schema, Env: run.Env, Rows: []Row{}}
	type key struct{ op, dtype, target string }
	at := map[key]int{}
	for i := range run.Results {
		r := &run.Results[i]
		k := key{r.Op, r.DType, r.Target}
		j, ok := at[k]
		if !ok {
			j = len(b.Rows)
			at[k] = j
			b.Rows = append(b.Rows, Row{Op: r.Op, Family: r.Family, DType: r.DType, Target: r.Target})
		}
		b.Rows[j].Cases = append(b.Rows[j].Cases, newCase(r))
	}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, nil
}

func newCase(r *runner.Result) Case {
	c := Case{
		Case: r.Case, Status: r.Status, Fault: r.Fault, Skipped: r.Skipped,
		Counters: r.Counters, Samples: r.Samples, Output: r.OutputHash,
	}
	for _, f := range r.Findings {
		if !slices.Contains(c.Checks, string(f.Check)) {
			c.Checks = append(c.Checks, string(f.Check))
		}
	}
	slices.Sort(c.Checks)
	for _, x := range r.Changes {
		c.Set = append(c.Set, x.Param+"="+x.Text)
	}
	if j := r.Judgement; j != nil {
		c.Verdict = j.Verdict
		a := &j.Accuracy
		c.Error = &Distribution{
			N: a.N, Exact: a.Exact, Mismatches: a.Mismatches, P50ULP: a.P50ULP, P99ULP: a.P99ULP, MaxULP: a.MaxULP,
			RMSShare: a.RMSShare, P999Share: a.P999Share, MaxShare: a.Share, Hist: a.Hist,
		}
	}
	return c
}

// validate says what no run can have come to.
func (b *Baseline) validate() error {
	type key struct{ name, target string }
	seen := map[key]bool{}
	for i := range b.Rows {
		for j := range b.Rows[i].Cases {
			c := &b.Rows[i].Cases[j]
			k := key{c.Case, b.Rows[i].Target}
			if seen[k] {
				return fmt.Errorf("%q on %q stands there twice", k.name, k.target)
			}
			seen[k] = true
			if err := c.validate(); err != nil {
				return fmt.Errorf("%q on %q: %w", k.name, k.target, err)
			}
		}
	}
	return nil
}

func (c *Case) validate() error {
	switch c.Status {
	case compare.Pass, compare.Warn, compare.Fail, compare.Unverified:
	default:
		return fmt.Errorf("unknown status %q", c.Status)
	}
	for _, s := range c.Samples {
		if !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("a time must be positive, not %v s", s)
		}
	}
	e := c.Error
	switch {
	case (c.Status == compare.Pass || c.Status == compare.Warn) && e == nil:
		return fmt.Errorf("status %s without a judgement", c.Status)
	case e == nil:
		return nil
	case e.N < 0 || e.Exact < 0 || e.Exact > e.N || e.Mismatches < 0 || e.Mismatches > e.N:
		return fmt.Errorf("%d exact and %d mismatches among %d elements", e.Exact, e.Mismatches, e.N)
	case c.Status == compare.Pass && e.Mismatches > 0:
		return fmt.Errorf("status pass with %d mismatches", e.Mismatches)
	case len(e.Hist) != 0 && len(e.Hist) != len(compare.HistEdges)+1:
		return fmt.Errorf("a histogram of %d bins, which must be %d", len(e.Hist), len(compare.HistEdges)+1)
	}
	sum := 0
	for _, n := range e.Hist {
		if n < 0 || n > e.N {
			return fmt.Errorf("a histogram with %d elements in a bin, of %d", n, e.N)
		}
		sum += n
	}
	if sum > e.N {
		return fmt.Errorf("a histogram of %d elements, of %d", sum, e.N)
	}
	return nil
}

// Check says why b must not become what later runs are held against:
// because a part was not run, or not verified, or run with wrong
// arguments. allowUnverified lets cases be unverified.
func (b *Baseline) Check(allowUnverified bool) error {
	cases := map[string]bool{}
	results, unverified := 0, 0
	why, set := "", ""
	for i := range b.Rows {
		for j := range b.Rows[i].Cases {
			c := &b.Rows[i].Cases[j]
			cases[c.Case] = true
			results++
			if c.Status == compare.Unverified {
				unverified++
				if why == "" {
					why = fmt.Sprintf("%s on %s", c.Case, b.Rows[i].Target)
					if c.Skipped != "" {
						why += ": " + c.Skipped
					}
				}
			}
			if len(c.Set) > 0 && set == "" {
				set = strings.Join(c.Set, " ")
			}
		}
	}
	switch {
	case results == 0:
		return errors.New("it holds no results")
	case len(cases) < b.Env.Cases:
		return fmt.Errorf("%d of %d cases were run: an interrupted run or a shard is no baseline", len(cases), b.Env.Cases)
	case set != "":
		return fmt.Errorf("it was run with --set %s: a baseline is of the right arguments", set)
	case unverified == results:
		return fmt.Errorf("nothing in it is verified (%s)", why)
	case unverified > 0 && !allowUnverified:
		return fmt.Errorf("%d of %d results are unverified, the first %s; run them, leave them out, or give --allow-unverified", unverified, results, why)
	}
	return nil
}

// Write writes b as JSON, a line for each case, so that version control
// shows which of them changed.
func (b *Baseline) Write(w io.Writer) error {
	var out bytes.Buffer
	part := func(v any) []byte {
		enc, err := json.Marshal(v)
		if err != nil {
			panic("baseline: " + err.Error()) // compare.Num and validate leave nothing that JSON cannot hold
		}
		return enc
	}
	fmt.Fprintf(&out, "{\n\"schema\": %s,\n\"sha256\": %q,\n\"env\": %s,\n\"rows\": [", part(Schema), seal.Blank, part(b.Env))
	for i := range b.Rows {
		r := &b.Rows[i]
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n{\"op\": %s, \"family\": %s, \"dtype\": %s, \"target\": %s, \"cases\": [", part(r.Op), part(r.Family), part(r.DType), part(r.Target))
		for j := range r.Cases {
			if j > 0 {
				out.WriteString(",")
			}
			fmt.Fprintf(&out, "\n %s", part(&r.Cases[j]))
		}
		out.WriteString("]}")
	}
	out.WriteString("]\n}\n")
	doc, err := seal.Put(out.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(doc)
	return err
}

// Parse reads the JSON document of a baseline whose schema the caller has
// seen to be Schema.
func Parse(doc []byte) (*Baseline, error) {
	b, err := decode(doc)
	if err == nil {
		err = seal.Check(doc, b.Sum)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a baseline: %w", err)
	}
	b.Sum = ""
	return b, nil
}

// decode reads a baseline whatever its checksum.
func decode(doc []byte) (*Baseline, error) {
	var b Baseline
	dec := json.NewDecoder(bytes.NewReader(doc))
	if err := dec.Decode(&b); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("it ends in the middle, after %d bytes: it was cut off", len(doc))
	} else if err != nil {
		return nil, err
	}
	if b.Schema != Schema {
		return nil, fmt.Errorf("schema must be %q, not %q", Schema, b.Schema)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more follows its end at byte %d", dec.InputOffset())
	}
	if b.Rows == nil {
		b.Rows = []Row{}
	}
	return &b, b.validate()
}

// target is what the environment says of the target called name.
func (b *Baseline) target(name string) *runner.TargetInfo {
	for i := range b.Env.Targets {
		if b.Env.Targets[i].Name == name {
			return &b.Env.Targets[i]
		}
	}
	return &runner.TargetInfo{Name: name}
}
