package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Folder holds the journals of runs that did not say where to keep
// theirs. Each run has a file of its own, named by the run's Key, so that
// two of the same kind do not meet.
type Folder string

// keepFor is how long the journal of a run that nobody went on with stays.
const keepFor = 14 * 24 * time.Hour

const extension = ".journal"

// Create begins a journal in the folder, and removes old ones.
func (d Folder) Create(h Header) (*Journal, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	d.clean()
	for n := time.Now().UnixNano(); ; n++ {
		j, err := Create(filepath.Join(string(d), fmt.Sprintf("%s-%x%s", h.Key(), n, extension)), h)
		if !errors.Is(err, ErrExists) {
			return j, err
		}
	}
}

// paths lists the journals, the youngest first.
func (d Folder) paths() []string {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil
	}
	type file struct {
		path string
		at   time.Time
	}
	var list []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), extension) && info.Mode().IsRegular() {
			list = append(list, file{filepath.Join(string(d), e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b file) int { return b.at.Compare(a.at) })
	var paths []string
	for _, f := range list {
		paths = append(paths, f.path)
	}
	return paths
}

// clean removes journals that nobody goes on with.
func (d Folder) clean() {
	for _, path := range d.paths() {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keepFor {
			os.Remove(path)
		}
	}
}

// Find opens the journal of a run like h that was cut off: that with most
// cases where there are several. Where there is none the error says what is
// different of the one that was written last, or wraps ErrInUse.
func (d Folder) Find(h Header) (*Journal, *Content, error) {
	var best *Journal
	var content *Content
	var other *Header
	var busy error
	for _, path := range d.paths() {
		j, c, err := Open(path)
		if err != nil {
			if errors.Is(err, ErrInUse) && strings.HasPrefix(filepath.Base(path), h.Key()) {
				busy = err
			}
			continue
		}
		switch {
		case c.Header.Key() != h.Key():
			if other == nil {
				other = &c.Header
			}
			j.Close()
		case best == nil || c.Cases > content.Cases:
			if best != nil {
				best.Close()
			}
			best, content = j, c
		default:
			j.Close()
		}
	}
	switch {
	case best != nil:
		return best, content, nil
	case busy != nil:
		return nil, nil, fmt.Errorf("the run is still going on: %w", busy)
	case other != nil:
		return nil, nil, fmt.Errorf("no run like this one was cut off; of the last one that was, at %s, these are different: %s",
			other.Began.Local().Format("2006-01-02 15:04:05"), strings.Join(h.Differs(other), "; "))
	}
	return nil, nil, errors.New("no run was cut off")
}

// Forget removes the other journals of runs like h that are not in use: one
// has come to its end.
func (d Folder) Forget(h Header) {
	for _, path := range d.paths() {
		if !strings.HasPrefix(filepath.Base(path), h.Key()) {
			continue
		}
		if j, _, err := Open(path); err == nil {
			j.Remove()
		}
	}
}
