package sim

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Barriers. Hardware counts waves; which s_barrier they wait at it does not
// ask, and waves that ended no longer count. CUDA says that a block's
// threads must agree on each __syncthreads, those that have returned
// excepted. Found are therefore
//
//   - waves that wait at different barriers;
//   - a wave that went round a barrier where others waited, and stored what
//     those others store after it but not before: it skipped the barrier,
//     it did not return;
//   - lanes that were masked off at a barrier and work again later.

// A passedBarrier is a barrier that some waves had ended without.
type passedBarrier struct {
	o      *op
	waiter *wave
	missed []*wave // that ended since the barrier before
	// before and after are the stores that other waves executed in the
	// phase before the barrier, and at any time after it.
	before, after map[*op]bool
}

// A maskedBarrier is a barrier that a wave passed with live lanes off.
type maskedBarrier struct {
	o   *op
	off uint64
}

// barrier lets the waiting waves go on.
func (g *group) barrier() {
	var first *wave
	for _, w := range g.waves {
		if w.state == waveBarrier {
			first = w
			break
		}
	}
	at := &first.unit.ops[first.at]
	if g.checks {
		g.checkBarrier(first, at)
	}
	for _, w := range g.waves {
		if w.state == waveBarrier {
			w.state = waveRunning
			w.effects = w.effects[:0]
		}
	}
	g.phase++
}

func (g *group) checkBarrier(first *wave, at *op) {
	var missed []*wave
	for _, w := range g.waves {
		if w.state == waveEnded {
			if !w.missed {
				w.missed = true
				missed = append(missed, w)
			}
			continue
		}
		o := &w.unit.ops[w.at]
		if o != at {
			other := g.place(first, at, first.firstLane())
			g.note(w, o, w.firstLane(), findingKey{check: gpu.BarrierDivergence}, 0, 0, func(f *gpu.Finding) {
				f.Other = &other
				f.Detail = "waves of a block wait at different barriers"
			})
		}
		if off := w.live &^ w.exec; off != 0 {
			w.masked = append(w.masked, maskedBarrier{o, off})
		}
	}
	if len(missed) == 0 {
		return
	}
	p := passedBarrier{o: at, waiter: first, missed: missed, before: map[*op]bool{}, after: map[*op]bool{}}
	for _, w := range g.waves {
		if w.state == waveBarrier {
			for _, o := range w.effects {
				p.before[o] = true
			}
		}
	}
	g.passed = append(g.passed, p)
}

// effect is called before a store or an atomic.
func (g *group) effect(w *wave, o *op) {
	for i := range g.passed {
		g.passed[i].after[o] = true
	}
	if len(g.waves) > 1 && !slices.Contains(w.effects, o) && len(w.effects) < 64 {
		w.effects = append(w.effects, o)
	}
	if w.exec == 0 {
		return
	}
	for i := 0; i < len(w.masked); i++ {
		m := w.masked[i]
		back := m.off & w.exec
		if back == 0 {
			continue
		}
		other := g.place(w, o, bits.TrailingZeros64(back))
		g.note(w, m.o, bits.TrailingZeros64(back), findingKey{check: gpu.BarrierDivergence, lanes: true}, 0, 0, func(f *gpu.Finding) {
			f.Other = &other
			f.Detail = fmt.Sprintf("%d of the wave's %d threads were masked off at the barrier, and go on after it", bits.OnesCount64(m.off), bits.OnesCount64(w.live))
		})
		w.masked = append(w.masked[:i], w.masked[i+1:]...)
		i--
	}
}

// end is called when all waves have ended.
func (g *group) end() {
	for _, p := range g.passed {
		for _, w := range p.missed {
			for _, o := range w.effects {
				if !p.after[o] || p.before[o] {
					continue
				}
				other := g.place(w, o, 0)
				g.note(p.waiter, p.o, 0, findingKey{check: gpu.BarrierDivergence}, 0, 0, func(f *gpu.Finding) {
					f.Other = &other
					f.Detail = fmt.Sprintf("wave %d did not come to this barrier, yet did what others do after it", w.id)
				})
				break
			}
		}
	}
	g.passed = g.passed[:0]
}
