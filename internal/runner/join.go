package runner

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// ofTargets are the flags that say where a run ran, which differ between
// the machines of Join.
var ofTargets = []string{"--target=", "--vs=", "--require="}

// Join puts runs of the same cases on several machines side by side. A
// target that two of them ran with other results, as cuda@cuda:0 of two
// machines, is called TARGET#2 in the second.
func Join(runs []*Run) (*Run, error) {
	if len(runs) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	out := &Run{Schema: Schema, Env: runs[0].Env}
	out.Env.Flags = slices.DeleteFunc(slices.Clone(out.Env.Flags), aboutTargets)
	out.Env.Targets = nil
	first := perCase(runs[0].Results)
	results := make([][]Result, len(first))
	for n, r := range runs {
		if r.Env.Shard != nil {
			return nil, fmt.Errorf("run %d is shard %v: merge the shards of a machine first", n+1, r.Env.Shard)
		}
		if err := sameCases(runs[0], r); err != nil {
			return nil, fmt.Errorf("run %d is of other cases than run 1: %w", n+1, err)
		}
		if err := out.addMachine(n+1, r, results); err != nil {
			return nil, fmt.Errorf("run %d: %w", n+1, err)
		}
	}
	for _, rs := range results {
		out.Results = append(out.Results, rs...)
	}
	return out, nil
}

func aboutTargets(flag string) bool {
	return slices.ContainsFunc(ofTargets, func(prefix string) bool { return strings.HasPrefix(flag, prefix) })
}

// sameCases says what differs between what two machines were asked.
func sameCases(a, b *Run) error {
	flags := func(r *Run) []string { return slices.DeleteFunc(slices.Clone(r.Env.Flags), aboutTargets) }
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"version", a.Env.Version, b.Env.Version}, {"commit", a.Env.Commit, b.Env.Commit}, {"seed", a.Env.Seed, b.Env.Seed},
		{"level", a.Env.Level, b.Env.Level}, {"number of selected cases", a.Env.Cases, b.Env.Cases}, {"flags", flags(a), flags(b)},
	} {
		if !reflect.DeepEqual(x.a, x.b) {
			return fmt.Errorf("the %s must be equal, they are %v and %v", x.what, x.b, x.a)
		}
	}
	list := perCase(a.Results)
	for i, rs := range perCase(b.Results) {
		if i >= len(list) || list[i][0].Case != rs[0].Case {
			return fmt.Errorf("%s is not in its place in run 1", rs[0].Case)
		}
		list[i] = nil
	}
	for _, rs := range list {
		if rs != nil {
			return fmt.Errorf("it lacks %s", rs[0].Case)
		}
	}
	return nil
}

// addMachine adds the targets of r, the nth run, and their results to those
// of each case.
func (run *Run) addMachine(n int, r *Run, results [][]Result) error {
	own := perCase(r.Results)
	rename := map[string]string{}
	drop := map[string]bool{} // targets that are there already
	for _, t := range r.Env.Targets {
		if _, ok := rename[t.Name]; ok {
			return fmt.Errorf("target %s is there twice", t.Name)
		}
		rename[t.Name] = t.Name
		i := slices.IndexFunc(run.Env.Targets, func(o TargetInfo) bool { return o.Name == t.Name })
		if i < 0 {
			continue
		}
		if reflect.DeepEqual(run.Env.Targets[i], t) && sameResults(results, own, t.Name) {
			drop[t.Name] = true
			continue
		}
		rename[t.Name] = fmt.Sprintf("%s#%d", t.Name, n)
	}
	for _, t := range r.Env.Targets {
		if !drop[t.Name] {
			t.Name = rename[t.Name]
			run.Env.Targets = append(run.Env.Targets, t)
		}
	}
	for i, rs := range own {
		for _, res := range rs {
			if drop[res.Target] {
				continue
			}
			name, ok := rename[res.Target]
			if !ok {
				return fmt.Errorf("%s is of target %s, which the run does not list", res.Case, res.Target)
			}
			res.Target = name
			if res.Against != "" {
				res.Against = rename[res.Against]
			}
			results[i] = append(results[i], res)
		}
	}
	return nil
}

// sameResults says whether a target has the same results in both.
func sameResults(a, b [][]Result, target string) bool {
	of := func(rs []Result) *Result {
		if i := slices.IndexFunc(rs, func(r Result) bool { return r.Target == target }); i >= 0 {
			return &rs[i]
		}
		return nil
	}
	for i := range a {
		x, y := of(a[i]), of(b[i])
		if (x == nil) != (y == nil) || x != nil && (x.Status != y.Status || x.OutputHash != y.OutputHash || x.Fault != y.Fault || x.Against != y.Against) {
			return false
		}
	}
	return true
}
