package sim

import (
	"bytes"
	"sync"
)

// A snapshot is a region as it was before the launch wrote it.
type snapshot struct {
	data, def []byte
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
		r.saved.Store(&snapshot{bytes.Clone(r.data), bytes.Clone(r.def)})
	}
}

// restore puts memory back as it was before the launch.
func (l *launch) restore() {
	for _, r := range l.saved {
		s := r.saved.Load()
		copy(r.data, s.data)
		copy(r.def, s.def)
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
