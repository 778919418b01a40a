package clib

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Latch holds a stream of a device: a word of host memory that the
// device waits on until it has grown to a value.
type Latch struct {
	word unsafe.Pointer
	turn uint32

	mu    sync.Mutex // guards what follows, which the timer's goroutine shares
	timer *time.Timer
	held  bool
}

// patience is how long a stream is held at most. A queue that fills up
// blocks the host until then.
const patience = time.Second

// NewLatch returns a latch in a word of host memory that the device sees.
func NewLatch(word unsafe.Pointer) *Latch {
	atomic.StoreUint32((*uint32)(word), 0)
	return &Latch{word: word}
}

// Word is the memory of the latch.
func (l *Latch) Word() unsafe.Pointer { return l.word }

// Next returns the value that the word has from the next Release on.
func (l *Latch) Next() uint32 {
	l.turn++
	return l.turn
}

// Close starts the time for which the stream may be held.
func (l *Latch) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
	l.timer = time.AfterFunc(patience, func() { l.Release() })
}

// Release lets the stream go on, and reports whether it was held.
func (l *Latch) Release() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		return false
	}
	l.held = false
	l.timer.Stop()
	atomic.StoreUint32((*uint32)(l.word), l.turn)
	return true
}
