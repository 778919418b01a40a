// Package journal keeps the results of a run on disk while it goes on, so
// that a run which is killed loses none: another goes on from there.
//
// A journal is a file of lines, each with its checksum and a JSON record:
// first what the run depends on, then the results of a case in each. A line
// is whole or it is not there; what a kill cut off at the end is removed
// before the next line is written.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paritycheck/paritycheck/internal/runner"
)

// Schema is the version of the lines.
const Schema = "paritycheck.journal/v1"

// A Header is what the results of a run depend on. A run goes on with a
// journal of an equal one alone.
type Header struct {
	Schema  string    `json:"schema"`
	Began   time.Time `json:"began"` // for people; of no consequence
	Version string    `json:"version"`
	Commit  string    `json:"commit,omitempty"`
	Program string    `json:"program_sha256"` // of the executable, which holds the kernels
	Seed    uint64    `json:"seed"`
	Flags   []string  `json:"flags,omitempty"` // those that decide results
	Shard   string    `json:"shard,omitempty"`
	Targets []string  `json:"targets"`
	// Cases is how many are run, and CasesSum the hash of their names.
	Cases    int    `json:"cases"`
	CasesSum string `json:"cases_sha256"`
	// Files are the hashes of the files that flags name.
	Files map[string]string `json:"files,omitempty"`
}

// Differs lists what is not as it was, in words.
func (h *Header) Differs(was *Header) []string {
	var list []string
	for _, x := range []struct {
		what    string
		was, is any
	}{
		{"seed", was.Seed, h.Seed}, {"shard", was.Shard, h.Shard},
		{"targets", without(was.Targets, h.Targets), without(h.Targets, was.Targets)},
		{"flags", without(was.Flags, h.Flags), without(h.Flags, was.Flags)},
		{"number of cases", was.Cases, h.Cases},
	} {
		if x.was != x.is {
			list = append(list, fmt.Sprintf("the %s (%s then, %s now)", x.what, shown(x.was), shown(x.is)))
		}
	}
	if was.Cases == h.Cases && was.CasesSum != h.CasesSum {
		list = append(list, "the cases")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Files)) {
		if old, ok := was.Files[name]; ok && old != h.Files[name] {
			list = append(list, "the content of "+name)
		}
	}
	if was.Schema != "" && len(list) == 0 && was.Program == h.Program && was.Key() != h.Key() {
		list = append(list, "the order of flags or targets")
	}
	if was.Program != h.Program {
		list = append(list, fmt.Sprintf("the program, and with it perhaps the kernels (%s then, %s now)", build(was), build(h)))
	}
	return list
}

// without is the text of those of list that are not in other.
func without(list, other []string) string {
	var only []string
	for _, s := range list {
		if !slices.Contains(other, s) {
			only = append(only, s)
		}
	}
	return strings.Join(only, " ")
}

func shown(v any) string {
	if s := fmt.Sprint(v); s != "" {
		return s
	}
	return "none"
}

func build(h *Header) string {
	s := h.Version
	if h.Commit != "" {
		s += " " + h.Commit
	}
	return s + " " + h.Program[:min(8, len(h.Program))]
}

// Key is equal for equal runs.
func (h *Header) Key() string {
	k := *h
	k.Schema, k.Began = Schema, time.Time{}
	b, err := json.Marshal(k)
	if err != nil {
		panic("journal: " + err.Error()) // strings and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// A Journal is a file of results that is being written. It is locked
// against others.
type Journal struct {
	f       *os.File
	end     int64               // of the last whole line
	targets []runner.TargetInfo // as written last
}

// ErrInUse is wrapped by the error of a journal that a run writes to.
var ErrInUse = errors.New("another run is writing to it")

// ErrExists is wrapped by the error of Create where there is such a file.
var ErrExists = os.ErrExist

// Create begins a journal in a new file.
func Create(path string, h Header) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f}
	h.Schema = Schema
	if err := errors.Join(lock(f), j.write(record{Header: &h})); err != nil {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	return j, nil
}

// A record is the JSON of a line.
type record struct {
	Header  *Header             `json:"header,omitempty"`
	Targets []runner.TargetInfo `json:"targets,omitempty"` // where they have changed
	Results []runner.Result     `json:"results,omitempty"` // of one case
}

// sumLen is the length of a line's checksum: the beginning of the SHA-256
// of what follows it.
const sumLen = 16

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:sumLen/2])
}

// write appends a line, with one call.
func (j *Journal) write(r record) error {
	var b bytes.Buffer
	b.WriteString(strings.Repeat("0", sumLen) + " ")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	line := b.Bytes()
	copy(line, sum(line[sumLen+1:len(line)-1]))
	n, err := j.f.Write(line)
	if err != nil { // a full disk: what was written of it must not stand before the next
		return errors.Join(err, j.f.Truncate(j.end))
	}
	j.end += int64(n)
	return nil
}

// Add writes the results of a case, and what is known of the targets where
// that has changed.
func (j *Journal) Add(results []runner.Result, targets []runner.TargetInfo) error {
	r := record{Results: results}
	if !reflect.DeepEqual(targets, j.targets) {
		r.Targets = targets
		j.targets = slices.Clone(targets)
		for i := range j.targets {
			j.targets[i].Images = maps.Clone(j.targets[i].Images)
		}
	}
	return j.write(r)
}

// Name is the path of the file.
func (j *Journal) Name() string { return j.f.Name() }

// Close ends writing; the file stays.
func (j *Journal) Close() error { return j.f.Close() }

// Remove ends the journal of a run that is complete.
func (j *Journal) Remove() error { return errors.Join(os.Remove(j.f.Name()), j.f.Close()) }

// ErrEmpty is the error of a journal that was cut off before its first
// line was written.
var ErrEmpty = errors.New("nothing was written to it")

// headerStart matches the beginning of a first line.
var headerStart = regexp.MustCompile(`^[0-9a-f]{16} \{"header":`)

// Content is what a journal holds.
type Content struct {
	Header Header
	// Run has the results in the order in which they were written, and the
	// targets as they were known last.
	Run     *runner.Run
	Cases   int
	Damaged int // lines that are not as they were written
}

// Read reads a journal. Lines that are not whole are left out; the error
// is of a file whose first line is not.
func Read(data []byte) (*Content, error) {
	c := &Content{Run: &runner.Run{Schema: runner.Schema}}
	seen := map[string]bool{}
	first := true
	for line := range bytes.Lines(data) {
		r, ok := parse(line)
		if first {
			if !bytes.HasSuffix(line, []byte("\n")) && headerStart.Match(line) {
				return nil, ErrEmpty
			}
			if !ok || r.Header == nil {
				return nil, errors.New("it is no journal of paritycheck")
			}
			if r.Header.Schema != Schema {
				return nil, fmt.Errorf("its schema is %q, not %q: another version of paritycheck wrote it", r.Header.Schema, Schema)
			}
			c.Header, first = *r.Header, false
			continue
		}
		switch {
		case !ok:
			if bytes.HasSuffix(line, []byte("\n")) { // else it was cut off
				c.Damaged++
			}
			continue
		case r.Targets != nil:
			c.Run.Env.Targets = r.Targets
		}
		if len(r.Results) == 0 || seen[r.Results[0].Case] {
			continue
		}
		seen[r.Results[0].Case] = true
		c.Cases++
		c.Run.Results = append(c.Run.Results, r.Results...)
	}
	if first {
		return nil, ErrEmpty
	}
	return c, nil
}

// parse reads a line, which must be whole.
func parse(line []byte) (r record, ok bool) {
	body, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole || len(body) < sumLen+1 || body[sumLen] != ' ' || string(body[:sumLen]) != sum(body[sumLen+1:]) {
		return r, false
	}
	if json.Unmarshal(body[sumLen+1:], &r) != nil {
		return record{}, false
	}
	for i := range r.Results {
		if r.Results[i].Case == "" || r.Results[i].Case != r.Results[0].Case {
			return record{}, false
		}
	}
	return r, true
}

// Open opens a journal to go on with, and returns what it holds. The error
// wraps ErrInUse where a run is writing to it.
func Open(path string) (*Journal, *Content, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	j, c, err := resume(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return j, c, nil
}

func resume(f *os.File) (*Journal, *Content, error) {
	if err := lock(f); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, nil, err
	}
	c, err := Read(data)
	if err != nil {
		return nil, nil, err
	}
	end := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := f.Truncate(end); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return nil, nil, err
	}
	return &Journal{f: f, end: end, targets: c.Run.Env.Targets}, c, nil
}
