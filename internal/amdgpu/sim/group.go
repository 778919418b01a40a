package sim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Flat addresses with these high dwords are LDS and scratch.
const (
	sharedBase  = 0x10000 << 32
	privateBase = 0x20000 << 32
)

// quantum is how many instructions a wave executes before others get their
// turn, so that waves that wait for each other through memory get on.
const quantum = 1 << 16

// A group executes work-groups, one after another.
type group struct {
	l      *launch
	mem    *space
	linear uint64 // number of the work-group
	id     gpu.Dim3
	phase  uint32 // barriers passed
	checks bool

	waves   []*wave // of the launch, the first of all
	all     []*wave
	current *wave // that executes
	lds     ldsMemory
	rand    *rand.Rand // of Options.Schedule, else nil

	broadcasts [numScalars]lanes // see wave.broadcast
	unwritten  lanes             // what registers hold that were not written
	ea         [64]uint64        // addresses of the memory instruction that executes
	acc        access            // the same taken apart, on the fast path
	hit        *region           // the last region accessed on the fast path
	sites      map[*unit][]site  // of this launch
	slow       bool              // keeps to the general paths, for tests
	plain      bool              // executes spans without uops, for tests

	err   error // of work-group errAt
	errAt uint64

	inst      [numClasses]int64
	laneOps   int64
	laneSlots int64
	counts    gpu.Counters // of memory
	finds     findings

	raced      map[*region]*raceShadow
	chunks     []*raceChunk // that no record uses, all zero
	lastRaced  *region      // the last that was looked up in raced
	lastShadow *raceShadow
	noRaces    bool
	exact      *exactRaces // of the second run
	passed     []passedBarrier
}

func newRand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// newGroup returns a group for launch l. Register files are large and most
// launches are small: groups are used again, see release.
func newGroup(l *launch) *group {
	d := l.dev
	var g *group
	if n := len(d.idle); n > 0 {
		g, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		g = &group{mem: &d.mem}
		for i := range g.unwritten {
			g.unwritten[i] = poison
		}
	}
	g.l, g.checks, g.noRaces = l, l.checks, l.groups*uint64(l.waves) > raceMaxWaves
	g.slow, g.plain = d.opts.slow, d.opts.plain
	g.lds.init(l)
	for i := len(g.all); i < l.waves; i++ {
		g.all = append(g.all, &wave{g: g, id: i, arch: d.arch, trans: d.opts.transcendental()})
	}
	g.waves = g.all[:l.waves]
	for _, w := range g.waves {
		w.n, w.full = l.waveSize, ^uint64(0)>>(64-l.waveSize)
	}
	return g
}

// maxIdleChunks bounds the chunks that an idle group keeps, 1 to 9 MiB.
const maxIdleChunks = 256

// release gives the groups of a launch back to the device, with nothing of
// the launch left in them but memory to be used again.
func (d *device) release(gs []*group) {
	for _, g := range gs {
		for r, s := range g.raced {
			dwords := (len(r.data) + 3) / 4
			for i, c := range s.chunks {
				if c == nil || len(g.chunks) >= maxIdleChunks {
					continue
				}
				c.reset((min(dwords-i*raceChunkDwords, raceChunkDwords) + raceLineDwords - 1) / raceLineDwords)
				g.chunks = append(g.chunks, c)
			}
		}
		clear(g.raced)
		clear(g.sites)
		g.hit = nil
		g.l, g.current, g.rand, g.err, g.errAt = nil, nil, nil, nil, 0
		g.inst, g.laneOps, g.laneSlots, g.counts, g.finds = [numClasses]int64{}, 0, 0, gpu.Counters{}, findings{}
		g.lastRaced, g.lastShadow, g.exact = nil, nil, nil
		clear(g.passed)
		g.passed = g.passed[:0]
		for _, w := range g.waves {
			w.unit, w.sites, w.err = nil, nil, nil
			clear(w.effects[:cap(w.effects)])
		}
		d.idle = append(d.idle, g)
	}
}

// run executes one work-group to its end.
func (g *group) run(linear uint64) (err error) {
	l := g.l
	// Registers and addresses come from a file that may be damaged in ways
	// that no check foresaw: that is the kernel's failure, not the program's.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter failed in block %v: %v", g.id, r)
			if w := g.current; w != nil {
				err = fmt.Errorf("the interpreter failed at 0x%x `%v` in block %v: %v", w.unit.ops[w.at].in.PC, w.unit.ops[w.at].in, g.id, r)
			}
		}
	}()
	if err := l.ctx.Err(); err != nil {
		return err
	}
	g.linear, g.id = linear, l.groupID(linear)
	g.phase = 0
	g.lds.reset()
	if s := l.schedule(); s != 0 {
		g.rand = newRand(s, linear+1)
	}
	for _, w := range g.waves {
		w.reset(l)
		l.start(g, w)
	}
	g.counts.Waves += int64(len(g.waves))
	return g.schedule()
}

// reset readies a wave for a new work-group.
func (w *wave) reset(l *launch) {
	w.enter(l.unit)
	w.pc, w.at = l.entry, l.entry
	w.state, w.err = waveRunning, nil
	w.scc, w.gprIdx, w.steps = 0, false, 0
	w.mode = arith.ModeOf(l.kernel.Descriptor.Rsrc1)
	w.resetShadow()
	w.rows = w.rows[:0]
	w.growRows(l.unit)
	w.scratch.reset(l)
	w.masked, w.effects, w.missed = w.masked[:0], w.effects[:0], false
}

// growRows makes the registers that unit u names.
func (w *wave) growRows(u *unit) {
	n := firstVGPR + max(u.vgprs, 3)
	if u.agprs > 0 {
		n = firstVGPR + 256 + u.agprs
	}
	n = max(n, firstVGPR+w.g.l.kernel.VGPRs)
	old := len(w.rows)
	if n <= old {
		return
	}
	if n <= cap(w.rows) {
		w.rows = w.rows[:n]
	} else {
		rows := make([]lanes, n)
		copy(rows, w.rows)
		w.rows = rows
	}
	for r := old; r < n; r++ {
		w.rows[r] = w.g.unwritten
	}
	w.growShadow(n)
}

// schedule runs the waves until all have ended.
func (g *group) schedule() error {
	order := make([]int, 0, 32)
	for i := range g.waves {
		order = append(order, i)
	}
	for {
		if g.rand != nil {
			g.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		running := 0
		for _, i := range order {
			w := g.waves[i]
			if w.state != waveRunning {
				continue
			}
			n := int64(quantum)
			if g.rand != nil {
				n = 1 + g.rand.Int64N(200)
			}
			if left := g.l.steps - w.steps; left < n {
				n = left
			}
			g.current = w
			w.run(n)
			switch {
			case w.state == waveFailed:
				return w.failure()
			case w.state == waveRunning && w.steps >= g.l.steps:
				return w.runaway()
			case w.state == waveRunning:
				running++
			}
		}
		if running > 0 {
			if err := g.l.ctx.Err(); err != nil {
				return err
			}
			continue
		}
		waiting := 0
		for _, w := range g.waves {
			if w.state == waveBarrier {
				waiting++
			}
		}
		if waiting == 0 {
			break
		}
		g.barrier()
	}
	g.end()
	return nil
}

// run executes up to n instructions.
func (w *wave) run(n int64) {
	if w.g.checks {
		w.race = w.raceView(nil)
		w.runChecked(n)
	} else {
		w.runUnchecked(n)
	}
	w.count()
}

// runUnchecked is run without checks.
func (w *wave) runUnchecked(n int64) {
	g := w.g
	start := n
	for n > 0 && w.state == waveRunning {
		o := &w.unit.ops[w.pc]
		if s := o.span; s != nil && n >= int64(s.n) && !g.slow && w.runSpan(s) {
			n -= int64(s.n)
			continue
		}
		w.at = w.pc
		w.pc++
		n--
		g.inst[o.class&15]++
		if o.flags&opVALU != 0 {
			g.laneOps += int64(bits.OnesCount64(w.exec))
			g.laneSlots += int64(w.n)
		}
		o.run(w, o)
	}
	w.steps += start - n
}

// runChecked is run with definedness tracked.
func (w *wave) runChecked(n int64) {
	g := w.g
	start := n
	for n > 0 && w.state == waveRunning {
		o := &w.unit.ops[w.pc]
		if s := o.span; s != nil && n >= int64(s.n) && !g.slow && w.runSpan(s) {
			n -= int64(s.n)
			continue
		}
		w.at = w.pc
		w.pc++
		n--
		g.inst[o.class&15]++
		if o.flags&opVALU != 0 {
			g.laneOps += int64(bits.OnesCount64(w.exec))
			g.laneSlots += int64(w.n)
		}
		if o.target < 0 { // a branch makes nothing undefined
			w.doubt()
		}
		if o.shadow != nil {
			o.shadow(w, o)
		}
		o.run(w, o)
	}
	w.steps += start - n
}

// failure is the error of a failed wave.
func (w *wave) failure() error {
	return fmt.Errorf("%w, in block %v wave %d", w.err, w.g.id, w.id)
}

// runaway is the error of a wave that reached the step limit, with the
// range of addresses where it goes round.
func (w *wave) runaway() error {
	lo, hi := ^uint64(0), uint64(0)
	name := ""
	for range 4096 {
		in := w.unit.ops[w.pc].in
		if in.PC < lo {
			lo = in.PC
			name, _ = w.g.l.kernel.mod.source(in.PC)
		}
		hi = max(hi, in.PC)
		w.run(1)
		if w.state != waveRunning {
			break
		}
	}
	if name != "" {
		name = " (" + name + ")"
	}
	return &stepLimitError{
		steps: w.g.l.steps, lo: lo, hi: hi,
		text: fmt.Sprintf("wave %d of block %v still ran after %d instructions, between 0x%x and 0x%x%s: a loop that does not end, or raise the step limit",
			w.id, w.g.id, w.g.l.steps, lo, hi, name),
	}
}

// A stepLimitError is a loop that does not end.
type stepLimitError struct {
	steps  int64
	lo, hi uint64 // range of addresses of the loop
	text   string
}

func (e *stepLimitError) Error() string { return e.text }

// counters returns what the group counted.
func (g *group) counters() *gpu.Counters {
	c := g.counts
	c.Inst = map[string]int64{}
	for i, n := range g.inst {
		if n != 0 {
			c.Inst[classNames[i]] = n
		}
	}
	c.LaneOps, c.LaneSlots = g.laneOps, g.laneSlots
	c.Barriers = g.inst[classBarrier]
	return &c
}
