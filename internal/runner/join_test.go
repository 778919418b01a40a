package runner

import (
	"reflect"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

// Two machines joined are one that has the hardware of both.
func TestJoin(t *testing.T) {
	op := double()
	cases := op.Cases(op.Variants[0], 0)
	one := target("hip@one", HIP, true, kernel)
	two := target("hip@two", HIP, true, kernel)
	both := execute(t, Options{Seed: 1}, cases, one, two)
	a, b := execute(t, Options{Seed: 1}, cases, one), execute(t, Options{Seed: 1}, cases, two)
	a.Env.Flags, b.Env.Flags, both.Env.Flags = []string{"--seed=1", "--target=hip@one"}, []string{"--seed=1", "--target=hip@two"}, []string{"--seed=1"}
	joined, err := Join([]*Run{a, b})
	if err != nil || !reflect.DeepEqual(joined, both) {
		t.Errorf("got %+v, %v, want %+v", joined, err, both)
	}

	// The same target twice is one where it did the same, as the interpreter
	// does, and else two.
	again, err := Join([]*Run{a, a})
	if err != nil || len(again.Env.Targets) != 1 || len(again.Results) != len(cases) {
		t.Errorf("the same run twice: got %+v, %v", again, err)
	}
	wrong := target("hip@one", HIP, true, gputest.Flip(kernel, 8, 4*100, 1))
	c := execute(t, Options{Seed: 1}, cases, wrong)
	c.Env.Flags = a.Env.Flags
	apart, err := Join([]*Run{a, c})
	if err != nil || len(apart.Env.Targets) != 2 || apart.Env.Targets[1].Name != "hip@one#2" || apart.Results[len(apart.Results)-1].Target != "hip@one#2" {
		t.Errorf("two machines of one name: got %+v, %v", apart, err)
	}
	other := execute(t, Options{Seed: 1}, cases, one)
	other.Env.Flags = a.Env.Flags
	other.Env.Targets[0].Info = gpu.Info{Name: "another device"}
	if apart, err = Join([]*Run{a, other}); err != nil || len(apart.Env.Targets) != 2 {
		t.Errorf("two devices of one name: got %+v, %v", apart, err)
	}

	refused := func(says string, change func(r *Run)) {
		t.Helper()
		r := *b
		r.Results = append([]Result(nil), b.Results...)
		change(&r)
		if _, err := Join([]*Run{a, &r}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	refused("the seed must be equal, they are 2 and 1", func(r *Run) { r.Env.Seed = 2 })
	refused("the flags must be equal", func(r *Run) { r.Env.Flags = []string{"--set=n=1"} })
	refused("the version must be equal", func(r *Run) { r.Env.Version = "x" })
	refused("it lacks "+cases[2].Name(), func(r *Run) { r.Results = r.Results[:2] })
	refused("is not in its place", func(r *Run) { r.Results[0], r.Results[1] = r.Results[1], r.Results[0] })
	refused("run 2 is shard 1/2", func(r *Run) { r.Env.Shard = &Shard{1, 2} })
	refused("which the run does not list", func(r *Run) { r.Results[0].Target = "hip@none" })
	if _, err := Join(nil); err == nil {
		t.Error("no runs gave no error")
	}
}
