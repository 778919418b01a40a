package runner

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/ops"
)

func TestParseShard(t *testing.T) {
	check := func(text string, env map[string]string, want, wantErr string) {
		t.Helper()
		got, err := ParseShard(text, func(name string) string { return env[name] })
		if (err == nil) != (wantErr == "") || err == nil && got.String() != want || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q with %v: got %v, %v, want %s, %q", text, env, got, err, want, wantErr)
		}
	}
	type e = map[string]string
	check("1/1", nil, "1/1", "")
	check("3/8", nil, "3/8", "")
	for _, bad := range []string{"", "3", "0/3", "4/3", "a/3", "3/b", "-1/3", "1/0", "1/2/3"} {
		check(bad, nil, "", "a shard must be I/N")
	}
	check("auto", nil, "", "finds none of PARITYCHECK_SHARD")
	check("auto", e{"PARITYCHECK_SHARD": "2/3", "SLURM_ARRAY_TASK_ID": "9"}, "2/3", "")
	check("auto", e{"PARITYCHECK_SHARD": "x"}, "", "PARITYCHECK_SHARD: a shard must be I/N")
	check("auto", e{"PARITYCHECK_SHARD": "auto"}, "", "finds none of")
	check("auto", e{"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "2", "SLURM_ARRAY_TASK_STEP": "2"}, "3/4", "")
	check("auto", e{"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_COUNT": "4"}, "", "makes shard 7/4")
	check("auto", e{"SLURM_ARRAY_TASK_ID": "six", "SLURM_ARRAY_TASK_COUNT": "4"}, "", "SLURM_ARRAY_TASK_ID must be a number")
	check("auto", e{"JOB_COMPLETION_INDEX": "0"}, "", "give --shard auto/N")
	check("auto/3", e{"JOB_COMPLETION_INDEX": "0"}, "1/3", "")
	check("auto/3", e{"JOB_COMPLETION_INDEX": "3"}, "", "makes shard 4/3")
	check("auto/3", e{"PARITYCHECK_SHARD": "1/2"}, "", "PARITYCHECK_SHARD says that there are 2")
	check("auto/0", e{"JOB_COMPLETION_INDEX": "0"}, "", "auto/N with N from 1")
}

// shards are a run of seven cases on two targets, whole and in parts.
func shards(count int) (whole *Run, parts []*Run) {
	env := func() Env {
		return Env{Seed: 1, Cases: 7, Flags: []string{"--op=x"}, Targets: []TargetInfo{{Name: "a", Images: map[string]string{}}, {Name: "b", Images: map[string]string{}}}}
	}
	add := func(r *Run, k int) {
		for i := range r.Env.Targets {
			t := &r.Env.Targets[i]
			t.Images[fmt.Sprint("f", k%2)] = "aa"
			r.Results = append(r.Results, Result{Case: fmt.Sprint("case", k), Target: t.Name})
		}
	}
	whole = &Run{Schema: Schema, Env: env()}
	for k := range 7 {
		add(whole, k)
	}
	for i := range count {
		part := &Run{Schema: Schema, Env: env()}
		part.Env.Shard = &Shard{i + 1, count}
		cases, _ := part.Env.Shard.Of(make([]ops.Case, 7))
		for k := range cases {
			add(part, i+k*count)
		}
		parts = append(parts, part)
	}
	return whole, parts
}

func TestMerge(t *testing.T) {
	for count := 1; count <= 7; count++ {
		whole, parts := shards(count)
		for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 { // the order of files is of no account
			parts[i], parts[j] = parts[j], parts[i]
		}
		got, err := Merge(parts)
		if err != nil || !reflect.DeepEqual(got, whole) {
			t.Errorf("%d shards: got %+v, %v, want %+v", count, got, err, whole)
		}
	}
	if _, err := (Shard{8, 8}).Of(make([]ops.Case, 7)); err == nil {
		t.Error("an eighth shard of seven cases: got no error")
	}
}

func TestMergeErrors(t *testing.T) {
	check := func(want string, change func(p []*Run) []*Run) {
		t.Helper()
		_, parts := shards(3)
		if _, err := Merge(change(parts)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	with := func(change func(r *Run)) func(p []*Run) []*Run {
		return func(p []*Run) []*Run {
			change(p[1])
			return p
		}
	}
	check("nothing to merge", func(p []*Run) []*Run { return nil })
	check("missing: shard 2/3, 3/3", func(p []*Run) []*Run { return p[:1] })
	check("shard 1/3 is given twice", func(p []*Run) []*Run { return append(p, p[0]) })
	check("run 2 is no shard", with(func(r *Run) { r.Env.Shard = nil }))
	check("run 2 is shard 2/4, but run 1 is 1/3", with(func(r *Run) { r.Env.Shard.Count = 4 }))
	check("run 2 is shard 9/3", with(func(r *Run) { r.Env.Shard.Index = 9 }))
	check("the seed must be equal, they are 2 and 1", with(func(r *Run) { r.Env.Seed = 2 }))
	check("the flags must be equal", with(func(r *Run) { r.Env.Flags = nil }))
	check("the number of selected cases", with(func(r *Run) { r.Env.Cases = 8 }))
	check("target b is not the same", with(func(r *Run) { r.Env.Targets[1].Unavailable = "no device" }))
	check("other code objects of f1 on a", with(func(r *Run) { r.Env.Targets[0].Images["f1"] = "bb" }))
	check("shard 2/3 holds 1 cases of 2: it was interrupted", with(func(r *Run) { r.Results = r.Results[:2] }))
	check("case1 has 1 results for 2 targets", with(func(r *Run) { r.Results = r.Results[1:] }))
	check("case0 is in two shards", with(func(r *Run) { r.Results[0].Case, r.Results[1].Case = "case0", "case0" }))
}
