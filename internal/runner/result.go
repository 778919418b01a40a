package runner

import (
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
)

// A Run is everything that one invocation found out. It is what JSON
// carries (schema paritycheck.run/v1, docs/schema.md) and what every
// report is rendered from.
type Run struct {
	Schema  string   `json:"schema"`
	Sum     string   `json:"sha256,omitempty"` // of a written document, see package seal; empty in memory
	Env     Env      `json:"env"`
	Results []Result `json:"results"` // by op, variant, case, target, in plan order
}

// Schema is the version of Run's JSON form.
const Schema = "paritycheck.run/v1"

// An Env is what a run depended on.
type Env struct {
	Version string       `json:"version"` // paritycheck's
	Commit  string       `json:"commit,omitempty"`
	Seed    uint64       `json:"seed"`
	Level   string       `json:"level"`           // fast or thorough
	Cases   int          `json:"cases,omitempty"` // selected, whether or not they were run
	Shard   *Shard       `json:"shard,omitempty"` // the part of the selected cases that was run
	Flags   []string     `json:"flags,omitempty"`
	Targets []TargetInfo `json:"targets"`
}

// A TargetInfo describes one target of a run.
type TargetInfo struct {
	Name        string `json:"name"` // hip@gfx90a
	gpu.Info    `json:"device"`
	Unavailable string            `json:"unavailable,omitempty"` // why nothing ran on it
	Images      map[string]string `json:"images,omitempty"`      // family -> SHA-256 of what was loaded
	FlagsUsed   string            `json:"compiler_flags,omitempty"`
	Source      string            `json:"source,omitempty"`          // file of the kernels, where they are a user's
	Unknown     []string          `json:"unknown_kernels,omitempty"` // of the source, that no op launches
	Copy        *Bandwidth        `json:"copy,omitempty"`            // measured in this run
	Modules     *ModuleUse        `json:"-"`                         // of this process: a run that goes on with another's results has fewer
}

// A ModuleUse counts how often a case found its module loaded.
type ModuleUse struct {
	Loads int // modules
	Hits  int // cases but the first of each module
}

// plus is the use of two sessions that together loaded so many modules: a
// module that both loaded counts once, so that the sum is the same however
// cases are dealt to workers and shards. Either may be nil.
func (u *ModuleUse) plus(v *ModuleUse, loaded int) *ModuleUse {
	uses := 0
	for _, x := range []*ModuleUse{u, v} {
		if x != nil {
			uses += x.Loads + x.Hits
		}
	}
	if uses == 0 {
		return nil
	}
	return &ModuleUse{Loads: loaded, Hits: uses - loaded}
}

// distinct is the number of different images.
func distinct(images map[string]string) int {
	sums := map[string]bool{}
	for _, sum := range images {
		sums[sum] = true
	}
	return len(sums)
}

// A Result is one case on one target.
type Result struct {
	Op      string `json:"op"`
	Family  string `json:"family"`
	Kernel  string `json:"kernel"` // symbol
	DType   string `json:"dtype"`  // the variant: f32, u8_f32
	Case    string `json:"case"`
	Class   string `json:"class"` // input class
	Target  string `json:"target"`
	Against string `json:"against,omitempty"` // the counterpart's target

	Status compare.Status `json:"status"`
	// Judgement is absent where there was no output to judge.
	Judgement *compare.Judgement `json:"judgement,omitempty"`
	// Fault is why there is no output, or why the output cannot be
	// trusted: a crash, a refused instruction, a write into a red zone.
	Fault string `json:"fault,omitempty"`
	// Skipped says why the case did not run here.
	Skipped string `json:"skipped,omitempty"`
	// Missing is true where it did not because the target's source, a
	// user's, has no such kernel: a port that is not done yet.
	Missing bool `json:"missing,omitempty"`

	Changes  []Change      `json:"changes,omitempty"` // arguments that --set changed
	Findings []gpu.Finding `json:"findings,omitempty"`
	Counters *gpu.Counters `json:"counters,omitempty"`
	Samples  []float64     `json:"samples_s,omitempty"` // seconds per launch, cold
	Timing   *Timing       `json:"timing,omitempty"`    // of the samples
	Untimed  string        `json:"untimed,omitempty"`   // why there are none though times were asked for
	Size     string        `json:"size,omitempty"`      // that a case for timing stands for
	Bytes    int64         `json:"bytes,omitempty"`     // that a perfect kernel moves
	Flops    int64         `json:"flops,omitempty"`

	// Inputs of the first and the worst wrong element.
	FirstInputs []ops.Input `json:"first_inputs,omitempty"`
	WorstInputs []ops.Input `json:"worst_inputs,omitempty"`

	OutputHash string `json:"output_sha256,omitempty"`
}
