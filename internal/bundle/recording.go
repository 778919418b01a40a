package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// RecordingSchema is the version of recordings' metadata. Those of v1, which
// hold every output whole, are read too.
const (
	RecordingSchema = "paritycheck.recording/v2"
	recordingV1     = "paritycheck.recording/v1"
)

// A Recording is the outputs that one target gave, for judging where that
// target is not. It is a safetensors file, compressed by gzip, with an
// output for each case by the case's name.
type Recording struct {
	About
	outputs map[string]*tensor.Tensor
}

// An About is what a recording says of itself, in its metadata.
type About struct {
	Schema string `json:"schema"`
	// Sum is the hash of what the recording holds, this field being empty:
	// one that was changed is not read. Those of before it have none.
	Sum     string            `json:"sha256,omitempty"`
	Version string            `json:"version"` // of the paritycheck that made it
	Target  runner.TargetInfo `json:"target"`
	Seed    uint64            `json:"seed"`
	// Sources hold the hash of each family's source that was run.
	Sources map[string]string `json:"sources"`
	// Problems hold the ops.Problem hash of each case.
	Problems map[string]string `json:"problems"`
	// Exact hold the hash of each output that was, to the bit, the only
	// right one. It is not kept: the op's truth has it.
	Exact map[string]string `json:"exact"`
	// Near hold the hash of each large output of which is kept how many
	// numbers of its type it is from the truth.
	Near map[string]string `json:"near,omitempty"`
}

// aboutKey is the metadata that holds an About.
const aboutKey = "paritycheck"

// NewRecording returns a recording without outputs.
func NewRecording(version string, seed uint64) *Recording {
	return &Recording{
		About:   About{Schema: RecordingSchema, Version: version, Seed: seed, Sources: map[string]string{}, Problems: map[string]string{}, Exact: map[string]string{}, Near: map[string]string{}},
		outputs: map[string]*tensor.Tensor{},
	}
}

// Add records the output of a problem; source is the hash of the sources
// of its family.
func (r *Recording) Add(p *ops.Problem, source string, out *tensor.Tensor) {
	name := p.Case.Name()
	r.Sources[p.Case.Op.Family] = source
	r.Problems[name] = p.Hash()
	e := p.Case.Op.Expect(p)
	if e.Exact != nil && bytes.Equal(e.Exact.Data, out.Data) {
		r.Exact[name] = digest(out)
		return
	}
	if steps := stepsFrom(e, out); steps != nil && len(out.Data) >= largeOutput {
		r.Near[name], out = digest(out), steps
	}
	r.outputs[name] = out
}

func digest(t *tensor.Tensor) string {
	sum := sha256.Sum256(t.Data)
	return hex.EncodeToString(sum[:16])
}

// Len is the number of cases.
func (r *Recording) Len() int { return len(r.Problems) }

// Output returns what was recorded of p. source is the hash of the sources
// of its family as they are now: what older kernels gave is refused, and
// so is what was given for other inputs.
func (r *Recording) Output(p *ops.Problem, source string) (*tensor.Tensor, error) {
	name := p.Case.Name()
	switch {
	case r.Problems[name] == "":
		return nil, fmt.Errorf("the recording of %s has no output of this case", r.Target.Name)
	case r.Sources[p.Case.Op.Family] != source:
		return nil, fmt.Errorf("the recording of %s was made by another version of the %s kernels: record it anew", r.Target.Name, p.Case.Op.Family)
	case r.Problems[name] != p.Hash():
		return nil, fmt.Errorf("the recording of %s was made with other inputs or arguments", r.Target.Name)
	}
	out, hash := r.outputs[name], r.Near[name]
	if out != nil && hash == "" {
		return out, nil
	}
	e := p.Case.Op.Expect(p)
	if out == nil {
		out, hash = e.Exact, r.Exact[name]
	} else {
		out = stepped(e, out)
	}
	if out == nil || digest(out) != hash {
		return nil, fmt.Errorf("the recording of %s holds what the truth of this case leaves, which has changed since: record it anew", r.Target.Name)
	}
	return out, nil
}

// Write writes the recording.
func (r *Recording) Write(w io.Writer) error {
	sealed := r.About
	sealed.Sum = r.sum()
	about, err := json.Marshal(sealed)
	if err != nil {
		return err
	}
	var names []string
	for name := range r.outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []Named
	for _, name := range names {
		list = append(list, Named{name, r.outputs[name]})
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := Write(z, list, map[string]string{aboutKey: string(about)}); err != nil {
		return err
	}
	return z.Close()
}

// sum is the hash of everything that the recording holds but the hash.
func (r *Recording) sum() string {
	h := sha256.New()
	about := r.About
	about.Sum = ""
	if err := json.NewEncoder(h).Encode(about); err != nil {
		panic("bundle: " + err.Error()) // strings and numbers
	}
	for _, name := range slices.Sorted(maps.Keys(r.outputs)) {
		t := r.outputs[name]
		fmt.Fprintf(h, "%q %v %v %d\n", name, t.DType, t.Shape, len(t.Data))
		h.Write(t.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxRecording bounds the uncompressed size of a recording that
// ReadRecording accepts.
const maxRecording = 1 << 30

// ReadRecording reads what Write wrote.
func ReadRecording(data []byte) (*Recording, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a recording: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(z, maxRecording))
	if err != nil {
		return nil, fmt.Errorf("unpacking a recording: %w", err)
	}
	tensors, meta, err := Read(body)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	text, ok := meta[aboutKey]
	if !ok {
		return nil, fmt.Errorf("not a recording: its metadata has no %q", aboutKey)
	}
	r := NewRecording("", 0)
	if err := json.Unmarshal([]byte(text), &r.About); err != nil {
		return nil, fmt.Errorf("reading a recording's metadata: %w", err)
	}
	if r.Schema != RecordingSchema && r.Schema != recordingV1 {
		return nil, fmt.Errorf("a recording of schema %q cannot be read: this version reads %s", r.Schema, RecordingSchema)
	}
	for _, t := range tensors {
		if r.Problems[t.Name] == "" {
			return nil, fmt.Errorf("the recording does not say which inputs %s is the output of", t.Name)
		}
		r.outputs[t.Name] = t.Tensor
	}
	for name := range r.Problems {
		if r.outputs[name] == nil && r.Exact[name] == "" {
			return nil, fmt.Errorf("the recording names %s and lacks its output", name)
		}
	}
	if r.Sum != "" && r.Sum != r.sum() {
		return nil, errors.New("the recording was changed after it was written: record it anew")
	}
	return r, nil
}
