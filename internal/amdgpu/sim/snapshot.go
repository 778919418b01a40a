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

// forget drops what touch saved, after a launch, and settles what it may have
// written: without checks, in which it calls no touch, everything.
func (l *launch) forget() {
	for _, r := range l.saved {
		r.saved.Store(nil)
		r.settle()
	}
	l.saved = nil
	if l.checks {
		return
	}
	for _, r := range l.dev.mem.slots {
		r.blank = false
		r.settle()
	}
}

// settle drops the record of bytes written where all are.
func (r *region) settle() {
	if r.def != nil && allOnes(r.def) {
		r.def = nil
	}
}

// saves are what a launch keeps of memory for a second run.
type saves struct {
	saveMu sync.Mutex
	saved  []*region
}
