package runner

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/ops"
)

// A Shard is one of Count parts of a run, Index from 1. It holds every
// Count-th case in plan order, so that long ops are spread.
type Shard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// ParseShard reads I/N, or auto or auto/N, for which getenv has the index:
// in PARITYCHECK_SHARD as I/N, or as set by a Slurm array, or by an indexed
// job of Kubernetes, which does not say how many there are.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	index, count, slash := strings.Cut(text, "/")
	if index == "auto" {
		return autoShard(count, slash, getenv)
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !slash || err1 != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return Shard{}, fmt.Errorf("a shard must be I/N with I from 1 to N, as in 2/8, not %q", text)
	}
	return Shard{i, n}, nil
}

func autoShard(count string, given bool, getenv func(string) string) (Shard, error) {
	n := 0
	if given {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 1 {
			return Shard{}, fmt.Errorf("a shard must be auto/N with N from 1, not %q", "auto/"+count)
		}
	}
	number := func(name string, def int) (int, error) {
		text := getenv(name)
		if text == "" {
			return def, nil
		}
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 {
			return 0, fmt.Errorf("%s must be a number, not %q", name, text)
		}
		return v, nil
	}
	var s Shard
	var from string
	switch {
	case getenv("PARITYCHECK_SHARD") != "":
		from = "PARITYCHECK_SHARD"
		var err error
		if s, err = ParseShard(getenv(from), func(string) string { return "" }); err != nil {
			return Shard{}, fmt.Errorf("%s: %w", from, err)
		}
	case getenv("SLURM_ARRAY_TASK_ID") != "":
		from = "SLURM_ARRAY_TASK_ID"
		id, err1 := number(from, 0)
		tasks, err2 := number("SLURM_ARRAY_TASK_COUNT", n)
		least, err3 := number("SLURM_ARRAY_TASK_MIN", 0)
		step, err4 := number("SLURM_ARRAY_TASK_STEP", 1)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return Shard{}, err
		}
		s = Shard{(id-least)/max(step, 1) + 1, tasks}
	case getenv("JOB_COMPLETION_INDEX") != "":
		from = "JOB_COMPLETION_INDEX"
		id, err := number(from, 0)
		if err != nil {
			return Shard{}, err
		}
		if n == 0 {
			return Shard{}, errors.New("JOB_COMPLETION_INDEX does not say how many shards there are: give --shard auto/N with the job's completions")
		}
		s = Shard{id + 1, n}
	default:
		return Shard{}, errors.New("--shard auto finds none of PARITYCHECK_SHARD, SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX")
	}
	if n != 0 && s.Count != n {
		return Shard{}, fmt.Errorf("--shard auto/%d: %s says that there are %d", n, from, s.Count)
	}
	if s.Index < 1 || s.Index > s.Count {
		return Shard{}, fmt.Errorf("%s makes shard %v, which must be I/N with I from 1 to N", from, s)
	}
	return s, nil
}

// Of returns the shard's cases. The error says that there are none.
func (s Shard) Of(cases []ops.Case) ([]ops.Case, error) {
	var out []ops.Case
	for i := s.Index - 1; i < len(cases); i += s.Count {
		out = append(out, cases[i])
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("shard %v has no cases: only %d are selected", s, len(cases))
	}
	return out, nil
}

// Merge joins the shards of one run. What comes out is what the run would
// have been in one piece.
func Merge(runs []*Run) (*Run, error) {
	if len(runs) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	first := runs[0]
	if first.Env.Shard == nil {
		return nil, errors.New("run 1 is no shard")
	}
	count := first.Env.Shard.Count
	by := make([]*Run, count)
	for i, r := range runs {
		s := r.Env.Shard
		switch {
		case s == nil:
			return nil, fmt.Errorf("run %d is no shard", i+1)
		case s.Count != count:
			return nil, fmt.Errorf("run %d is shard %v, but run 1 is %v", i+1, s, first.Env.Shard)
		case s.Index < 1 || s.Index > count:
			return nil, fmt.Errorf("run %d is shard %v", i+1, s)
		case by[s.Index-1] != nil:
			return nil, fmt.Errorf("shard %v is given twice", s)
		}
		by[s.Index-1] = r
		if err := sameRun(&first.Env, &r.Env); err != nil {
			return nil, fmt.Errorf("shard %v is of another run than shard %v: %w", s, first.Env.Shard, err)
		}
	}
	var missing []string
	for i, r := range by {
		if r == nil {
			missing = append(missing, Shard{i + 1, count}.String())
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("missing: shard %s", strings.Join(missing, ", "))
	}
	out := &Run{Schema: Schema, Env: first.Env}
	out.Env.Shard = nil
	out.Env.Targets = slices.Clone(by[0].Env.Targets)
	for i := range out.Env.Targets {
		t := &out.Env.Targets[i]
		t.Images = map[string]string{}
		for _, r := range by {
			for family, sum := range r.Env.Targets[i].Images {
				if old, ok := t.Images[family]; ok && old != sum {
					return nil, fmt.Errorf("shard %v ran other code objects of %s on %s", r.Env.Shard, family, t.Name)
				}
				t.Images[family] = sum
			}
		}
		t.Copy = nil // shards have one each
	}
	parts := make([][][]Result, count) // shard, case, target
	for i, r := range by {
		parts[i] = perCase(r.Results)
		if want := (out.Env.Cases - i + count - 1) / count; len(parts[i]) != want {
			return nil, fmt.Errorf("shard %v holds %d cases of %d: it was interrupted", r.Env.Shard, len(parts[i]), want)
		}
	}
	seen := map[string]bool{}
	for k := range out.Env.Cases {
		results := parts[k%count][k/count]
		if name := results[0].Case; seen[name] {
			return nil, fmt.Errorf("%s is in two shards", name)
		}
		seen[results[0].Case] = true
		if len(results) != len(out.Env.Targets) {
			return nil, fmt.Errorf("%s has %d results for %d targets", results[0].Case, len(results), len(out.Env.Targets))
		}
		out.Results = append(out.Results, results...)
	}
	return out, nil
}

// perCase splits results where the case changes.
func perCase(results []Result) [][]Result {
	var out [][]Result
	for i := range results {
		if i == 0 || results[i].Case != results[i-1].Case {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], results[i])
	}
	return out
}

// sameRun says what differs between what two shards depended on.
func sameRun(a, b *Env) error {
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"version", a.Version, b.Version}, {"commit", a.Commit, b.Commit}, {"seed", a.Seed, b.Seed},
		{"level", a.Level, b.Level}, {"number of selected cases", a.Cases, b.Cases}, {"flags", a.Flags, b.Flags},
		{"number of targets", len(a.Targets), len(b.Targets)},
	} {
		if !reflect.DeepEqual(x.a, x.b) {
			return fmt.Errorf("the %s must be equal, they are %v and %v", x.what, x.b, x.a)
		}
	}
	for i := range a.Targets {
		s, t := a.Targets[i], b.Targets[i]
		s.Images, t.Images = nil, nil
		s.Copy, t.Copy = nil, nil
		if !reflect.DeepEqual(s, t) {
			return fmt.Errorf("target %s is not the same: %+v and %+v", s.Name, t, s)
		}
		for _, family := range slices.Sorted(maps.Keys(b.Targets[i].Images)) {
			if sum := a.Targets[i].Images[family]; sum != "" && sum != b.Targets[i].Images[family] {
				return fmt.Errorf("other code objects of %s on %s", family, s.Name)
			}
		}
	}
	return nil
}
