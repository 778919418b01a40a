package sim

import (
	"bytes"
	"sync"
)

// A snapshot is a region as it was before the launch wrote it. One that was
// blank has no bytes saved: copying a large output that nothing was written to
// would take a good part of the launch.
type snapshot struct {
	data, def []byte
	blank     bool
	pattern   byte
}

// touch is called before a write to r: the first one in a launch saves the
// contents.
func (g *group) touch(r *region) {
	l := g.l
	if !l.checks || l.exact || r.space == "lds" || r.space == "scratch" || r.saved.Load() != nil {
		return
	}
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	if r.saved.Load() == nil {
		l.saved = append(l.saved, r)
		s := &snapshot{blank: r.blank, pattern: r.pattern}
		if !r.blank {
			s.data, s.def = bytes.Clone(r.data), bytes.Clone(r.def)
		}
		r.blank = false
		r.saved.Store(s)
	}
}

// restore puts memory back as it was before the launch.
func (l *launch) restore() {
	for _, r := range l.saved {
		s := r.saved.Load()
		if s.blank {
			fill(r.data, s.pattern)
			clear(r.def)
			continue
		}
		copy(r.data, s.data)
		copy(r.def, s.def)
	}
}

// written notes, after a launch that calls no touch, that it may have written
// everything.
func (l *launch) written() {
	for _, r := range l.dev.mem.slots {
		r.blank = false
	}
}

// forget drops what touch saved.
func (l *launch) forget() {
	for _, r := range l.saved {
		r.saved.Store(nil)
	}
	l.saved = nil
}

// saves are what a launch keeps of memory for a second run.
type saves struct {
	saveMu sync.Mutex
	saved  []*region
}
