package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// A progress tells on stderr how far a run is: a line that is rewritten on
// a terminal, a line per finished op elsewhere.
type progress struct {
	w     io.Writer
	width func() int // columns of the terminal; nil: no terminal
	now   func() time.Time

	mu    sync.Mutex
	start time.Time
	drawn time.Time
	live  bool                     // a live line stands on the terminal
	cases int                      // that were run here
	ops   map[string]*report.Tally // counts of ops that are not finished
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now, ops: map[string]*report.Tally{}}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.width = func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil || w < 20 {
				return 80
			}
			return w
		}
	}
	p.start = p.now()
	return p
}

// redraw is the least time between two live lines.
const redraw = 100 * time.Millisecond

// update takes the runner's word.
func (p *progress) update(u runner.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	op := u.Case.Op.Name
	p.cases = u.Done - u.Prior
	if p.width != nil {
		if now.Sub(p.drawn) < redraw && u.Done < u.Total {
			return
		}
		p.drawn, p.live = now, true
		line := liveLine(op, u, now.Sub(p.start))
		fmt.Fprintf(p.w, "\r\x1b[K%s", line[:min(len(line), p.width()-1)])
		return
	}
	t := p.ops[op]
	if t == nil {
		t = &report.Tally{}
		p.ops[op] = t
	}
	n := report.Count(&runner.Run{Results: u.Results})
	t.Pass, t.Warn, t.Fail, t.Unverified = t.Pass+n.Pass, t.Warn+n.Warn, t.Fail+n.Fail, t.Unverified+n.Unverified
	if u.OpDone {
		fmt.Fprintf(p.w, "%s: %s (%d of %d cases, %s)\n", op, t, u.Done, u.Total, round(now.Sub(p.start)))
	}
}

// liveLine is ASCII, so that its bytes are its columns. The rate is of the
// cases that were run here.
func liveLine(op string, u runner.Progress, took time.Duration) string {
	s := fmt.Sprintf("%s: %d of %d cases", op, u.Done, u.Total)
	if n, sec := u.Done-u.Prior, took.Seconds(); n > 0 && sec > 0 {
		rate := float64(n) / sec
		s += fmt.Sprintf(", %.1f/s", rate)
		if u.Done < u.Total {
			s += fmt.Sprintf(", %s left", round(time.Duration(float64(u.Total-u.Done)/rate*float64(time.Second))))
		}
	}
	return s
}

// done clears the live line and says how fast the cases were run.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.live = false
	}
	if took := p.now().Sub(p.start); p.cases > 0 && took > 0 {
		fmt.Fprintf(p.w, "%d cases in %s, %.1f/s\n", p.cases, round(took), float64(p.cases)/took.Seconds())
		p.cases = 0
	}
}

// round leaves tenths of a second, and whole seconds above a minute.
func round(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}
