package sim

import (
	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

//go:generate go run ./genuops

// Most instructions that a wave executes are plain arithmetic, loads and
// stores, of which several follow each other. Such a run is a span. What an instruction costs
// beside its work, counting it, bounding the steps, asking if its sources are
// defined, is done once for a span: its counts are known when it is compiled,
// and where the registers it reads are defined in the active lanes, so are
// those it writes. Where they are not, or where the wave has fewer
// instructions left before it is preempted, or another rounding mode, the
// instructions execute one by one instead, to the same effect.
//
// With AVX-512 or AVX2 a span is also executed in one go: each of its
// instructions is compiled to uops, whose forms are pieces of machine code
// that genuops wrote and that jump from one to the next. One that meets what
// its form is not made for, a NaN where x86 and AMD differ, a load from all
// over memory (span_memory.go), stops, and its handler in Go takes its place,
// for the lanes that it left. Elsewhere the handlers are called in turn.

// A span is a run of instructions of one unit.
type span struct {
	id       int32 // number in the unit
	first, n int32 // ops
	uops     []uop // with one that ends it
	slow     []slowUop

	counts   []classCount
	valu     int64
	f32, f16 bool // needs the default mode

	// Definedness: what is read before it is written, and what is written.
	rows, setRows       []partRow
	scalars, setScalars []int32
	scc, setSCC         bool

	trans  bool  // needs correctly rounded transcendental instructions
	stores []*op // see group.effect
	last   *op   // a branch or barrier that ends the span, beyond its uops
}

// maxSpan bounds a span, so that schedules that preempt often see some.
const maxSpan = 64

type classCount struct {
	class class
	n     int64
}

// A uop is what a form of machine code works on. Rows are byte offsets from
// the first, scalars from the wave.
type uop struct {
	code    int32 // number of the form
	d       int32 // row of the result
	a, b, c int32 // operands
	m       int32 // lane mask that is an operand
	sd      int32 // scalar or lane mask that is a result
	slow    int32 // in span.slow, of forms that may stop
}

// A slowUop is what takes the place of a uop that stops.
type slowUop struct {
	op   *op
	run  handler
	next int32 // uop to go on with

	// Of memory instructions: their number in the unit, the form's site, and
	// the second access of an instruction of two, of which this is the first.
	at   int32
	site int32
	rest *op
}

// maxConsts bounds the constants of a unit that uops can have.
const maxConsts = 128

// runSpan executes s, and reports whether it did: not where the mode or, with
// checks, an undefined register asks for one instruction after another.
func (w *wave) runSpan(s *span) bool {
	g := w.g
	if s.f32 && !w.mode.Default32() || s.f16 && !w.mode.Default1664() || s.trans && w.trans.Model != arith.CR {
		return false
	}
	if g.checks {
		// What was so the last time is so as long as only spans execute.
		if now := (spanPass{w.exec, w.epoch}); w.passes[s.id] != now {
			if !w.defineSpan(s) {
				return false
			}
			w.passes[s.id] = now
		}
	}
	for _, c := range s.counts {
		g.inst[c.class&15] += c.n
	}
	if s.valu != 0 {
		g.laneOps += s.valu * int64(w.active())
		g.laneSlots += s.valu * int64(w.n)
	}
	w.pc = s.first + s.n
	if g.checks && w.exec != 0 {
		for _, o := range s.stores {
			g.effect(w, o)
		}
	}
	if vectors == levelGo || g.plain {
		w.runOps(s)
	} else {
		w.runUops(s)
	}
	return true
}

// runOps executes s by the handlers of its instructions.
func (w *wave) runOps(s *span) {
	ops := w.unit.ops[s.first : s.first+s.n]
	for i := range ops {
		o := &ops[i]
		w.at = s.first + int32(i)
		o.run(w, o)
		if o.mem != nil && !w.loadedDefined(o) {
			w.finishSpan(s, w.at+1)
			return
		}
	}
}

// runUops executes s by uops.
func (w *wave) runUops(s *span) {
	w.at = s.first
	for u := int32(0); ; {
		runUops(&s.uops[u], w)
		if w.stopped < 0 {
			break
		}
		slow := &s.slow[w.stopped]
		if slow.op.mem != nil {
			if !w.runSlow(s, slow) {
				return
			}
		} else {
			exec := w.exec
			w.exec = w.todo
			slow.run(w, slow.op)
			w.exec = exec
		}
		u = slow.next
	}
	if s.last != nil {
		w.at = s.first + s.n - 1
		s.last.run(w, s.last)
	}
}

// finishSpan executes what s has from op i on, one by one, where something
// that a span takes for defined is not.
func (w *wave) finishSpan(s *span, i int32) {
	w.doubt()
	for ; i < s.first+s.n; i++ {
		o := &w.unit.ops[i]
		w.at = i
		if o.shadow != nil {
			o.shadow(w, o)
		}
		o.run(w, o)
	}
}

// A spanPass is when a span was last found to read nothing undefined.
type spanPass struct {
	exec, epoch uint64
}

// doubt is called before anything but a span executes: after it registers may
// be undefined that were defined before.
func (w *wave) doubt() { w.epoch++ }

// defineSpan marks what s writes as defined, and reports whether all it reads
// is.
func (w *wave) defineSpan(s *span) bool {
	sh := &w.shadow
	var bad uint64
	for i := range s.rows {
		p := &s.rows[i]
		h := &sh.v[p.row]
		if p.lo {
			bad |= ^h.lo
		}
		if p.hi {
			bad |= ^h.hi
		}
	}
	if bad&w.exec != 0 || s.scc && !sh.scc {
		return false
	}
	all := ^uint32(0)
	for _, r := range s.scalars {
		all &= sh.s[r&(numScalars-1)]
	}
	if all != ^uint32(0) {
		return false
	}
	for i := range s.setRows {
		p := &s.setRows[i]
		h := &sh.v[p.row]
		if p.lo {
			h.lo |= w.exec
		}
		if p.hi {
			h.hi |= w.exec
		}
	}
	for _, r := range s.setScalars {
		sh.s[r&(numScalars-1)] = ^uint32(0)
	}
	if s.setSCC {
		sh.scc = true
	}
	return true
}
