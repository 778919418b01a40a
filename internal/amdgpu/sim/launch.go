package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/gpu"
)

// maxLDS is the LDS of a work-group on every architecture here.
const maxLDS = 64 << 10

// A launch is one execution of a kernel.
type launch struct {
	ctx    context.Context
	dev    *device
	kernel *kernel
	cfg    gpu.LaunchConfig
	unit   *unit
	entry  int32 // op where waves start

	waveSize int
	waves    int // in a work-group
	groups   uint64
	lds      int
	scratch  int // bytes per lane
	kernarg  *region
	packet   *region
	queue    *region
	stack    *region // address range of scratch, which has no data
	steps    int64
	checks   bool
	exact    bool // the second run, which tells races from suspicions
	saves
}

func newLaunch(ctx context.Context, d *device, k *kernel, cfg gpu.LaunchConfig, args []byte) (*launch, error) {
	l := &launch{ctx: ctx, dev: d, kernel: k, cfg: cfg, waveSize: k.WaveSize, checks: !d.opts.NoChecks}
	threads := cfg.Block.Count()
	switch {
	case !k.mod.image.live:
		return nil, errors.New("its module is closed")
	case cfg.Grid.Count() == 0 || threads == 0:
		return nil, fmt.Errorf("grid %v and block %v must have no zero", cfg.Grid, cfg.Block)
	case threads > 1024 || k.MaxWorkGroup > 0 && threads > uint64(k.MaxWorkGroup):
		limit := 1024
		if k.MaxWorkGroup > 0 {
			limit = min(limit, k.MaxWorkGroup)
		}
		return nil, fmt.Errorf("block %v has %d threads, at most %d are allowed", cfg.Block, threads, limit)
	case k.ReqdGroup != [3]uint32{} && k.ReqdGroup != [3]uint32{cfg.Block.X, cfg.Block.Y, cfg.Block.Z}:
		return nil, fmt.Errorf("block %v, the kernel requires %v", cfg.Block, k.ReqdGroup)
	case k.Descriptor.KernargPreload != 0:
		return nil, errors.New("kernel arguments preloaded into registers are not interpreted")
	}
	groups := cfg.Grid.Count()
	if uint64(cfg.Grid.X)*uint64(cfg.Grid.Y) > 1<<40 || groups > 1<<40 {
		return nil, fmt.Errorf("grid %v has too many blocks to interpret", cfg.Grid)
	}
	l.groups = groups
	l.waves = int(threads+uint64(l.waveSize)-1) / l.waveSize
	static := max(k.LDS, k.Descriptor.GroupSegment)
	if cfg.Shared < 0 || int64(static)+int64(cfg.Shared) > maxLDS {
		return nil, fmt.Errorf("%d bytes of static and %d of dynamic shared memory, at most %d in all", static, cfg.Shared, maxLDS)
	}
	l.lds = int(static) + cfg.Shared
	if max(k.Kernel.Scratch, k.Descriptor.PrivateSegment) > 1<<20 {
		return nil, fmt.Errorf("%d bytes of scratch per thread, at most 1 MiB is interpreted", k.Kernel.Scratch)
	}
	l.scratch = int(max(k.Kernel.Scratch, k.Descriptor.PrivateSegment)+3) &^ 3
	if k.DynamicStack || k.Descriptor.Properties&codeobject.DynamicStack != 0 {
		// What the compiler cannot bound, recursion, gets the stack that
		// HIP's runtime gives it by default.
		l.scratch += 16 << 10
	}

	u, err := k.mod.unitAt(k.Entry, l.waveSize)
	if err != nil {
		return nil, err
	}
	l.unit, l.entry = u, u.index[(k.Entry-u.start)/4]

	if err := l.prepare(args); err != nil {
		l.close()
		return nil, err
	}
	l.steps = d.opts.StepLimit
	if l.steps == 0 {
		l.steps = 1 << 26
		for _, r := range d.mem.slots {
			l.steps += 64 * int64(len(r.data))
		}
	}
	return l, nil
}

// close unmaps what prepare mapped.
func (l *launch) close() {
	for _, r := range []*region{l.queue, l.packet, l.kernarg, l.stack} {
		if r != nil {
			l.dev.mem.remove(r)
		}
	}
}

// prepare maps and fills the memory that a runtime provides.
func (l *launch) prepare(args []byte) error {
	k := l.kernel
	explicit, hidden := uint32(0), false
	for i := range k.Args {
		if a := &k.Args[i]; a.Hidden() {
			hidden = true
		} else {
			explicit = max(explicit, a.Offset+a.Size)
		}
	}
	if !hidden {
		explicit = max(explicit, min(k.KernargSize, uint32(len(args))))
	}
	// Args packs without padding at the end; a struct may have some.
	if n := uint32(len(args)); n != explicit && n != (explicit+7)&^7 {
		return fmt.Errorf("%d bytes of arguments, the kernel takes %d", n, explicit)
	}
	var err error
	mapped := func(name, kind string, size int) *region {
		r, e := l.dev.mem.add(name, kind, size)
		if e != nil {
			err = e
			return nil
		}
		r.readOnly = true
		return r
	}
	// The segment is aligned to 16 bytes, by which compilers widen a load of
	// its last three dwords to four: runtimes have memory there.
	padded := (int(k.KernargSize) + 15) &^ 15
	l.kernarg = mapped("kernel arguments", "kernarg", padded)
	l.packet = mapped("dispatch packet", "kernarg", 64)
	l.queue = mapped("queue", "kernarg", 256)
	l.stack = mapped("scratch", "scratch", 0)
	if err != nil {
		return err
	}
	if padded > int(k.KernargSize) { // but nothing of use
		l.kernarg.def = bytes.Repeat([]byte{1}, padded)
		clear(l.kernarg.def[k.KernargSize:])
	}
	copy(l.kernarg.data, args[:min(len(args), int(explicit))])
	for i := range k.Args {
		if a := &k.Args[i]; a.Hidden() {
			l.hidden(a)
		}
	}
	le := binary.LittleEndian
	p, g, b := l.packet.data, l.cfg.Grid, l.cfg.Block
	le.PutUint16(p[0:], 2) // HSA_PACKET_TYPE_KERNEL_DISPATCH
	le.PutUint16(p[2:], 3) // dimensions
	le.PutUint16(p[4:], uint16(b.X))
	le.PutUint16(p[6:], uint16(b.Y))
	le.PutUint16(p[8:], uint16(b.Z))
	le.PutUint32(p[12:], g.X*b.X)
	le.PutUint32(p[16:], g.Y*b.Y)
	le.PutUint32(p[20:], g.Z*b.Z)
	le.PutUint32(p[24:], uint32(l.scratch))
	le.PutUint32(p[28:], uint32(l.lds))
	le.PutUint64(p[40:], l.kernarg.base)
	// amd_queue_t: the high dwords of the apertures.
	le.PutUint32(l.queue.data[0x40:], sharedBase>>32)
	le.PutUint32(l.queue.data[0x44:], privateBase>>32)
	return nil
}

// hidden fills one hidden argument. Those that stand for services of the
// runtime (printf, hostcall, heap) stay null.
func (l *launch) hidden(a *codeobject.Arg) {
	g, b := l.cfg.Grid, l.cfg.Block
	var v uint64
	switch a.Kind {
	case "hidden_block_count_x":
		v = uint64(g.X)
	case "hidden_block_count_y":
		v = uint64(g.Y)
	case "hidden_block_count_z":
		v = uint64(g.Z)
	case "hidden_group_size_x":
		v = uint64(b.X)
	case "hidden_group_size_y":
		v = uint64(b.Y)
	case "hidden_group_size_z":
		v = uint64(b.Z)
	case "hidden_grid_dims":
		v = 3
		if g.Z*b.Z == 1 {
			v = 2
			if g.Y*b.Y == 1 {
				v = 1
			}
		}
	case "hidden_dynamic_lds_size":
		v = uint64(l.cfg.Shared)
	case "hidden_private_base":
		v = privateBase >> 32
	case "hidden_shared_base":
		v = sharedBase >> 32
	case "hidden_queue_ptr":
		v = l.queue.base
	}
	// The remainders stay zero: a grid of whole blocks has no partial one.
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], v)
	copy(l.kernarg.data[a.Offset:a.Offset+a.Size], buf[:])
}

// ordered reports whether the order of work-groups may show in results.
func (l *launch) ordered() bool {
	if l.unit.atomics {
		return true
	}
	if !l.unit.calls {
		return false
	}
	// A call may reach every function of the module but not its kernels.
	m := l.kernel.mod
	kernels := map[uint64]bool{}
	for _, k := range m.file.Kernels {
		kernels[k.Entry] = true
	}
	for _, s := range m.file.Symbols {
		if !s.Func || kernels[s.Addr] {
			continue
		}
		if u, err := m.unitAt(s.Addr, l.waveSize); err == nil && u.atomics {
			return true
		}
	}
	return false
}

// schedule seeds the order of waves and work-groups: the device's seed and
// the launch's. Zero is the order of their numbers.
func (l *launch) schedule() uint64 { return l.dev.opts.Schedule + l.cfg.Schedule }

func (l *launch) run() (gpu.Report, error) {
	workers := l.dev.opts.Workers
	if l.ordered() || l.schedule() != 0 {
		workers = 1
	}
	workers = int(min(uint64(workers), l.groups))
	defer l.forget()
	rep, gs, err := l.execute(workers, nil)
	if err != nil || !l.checks {
		l.dev.release(gs)
		return rep, err
	}
	suspects := l.suspects(gs)
	l.dev.release(gs)
	if len(suspects) == 0 {
		return rep, nil
	}
	l.restore()
	l.exact = true
	rep, gs, err = l.execute(1, newExactRaces(suspects))
	l.dev.release(gs)
	return rep, err
}

// execute runs all work-groups on workers goroutines, which it returns.
func (l *launch) execute(workers int, exact *exactRaces) (gpu.Report, []*group, error) {
	gs := make([]*group, workers)
	for i := range gs {
		gs[i] = newGroup(l)
		gs[i].exact = exact
	}
	var next, failed atomic.Uint64
	failed.Store(^uint64(0))
	order := l.order()
	work := func(g *group) {
		for {
			i := next.Add(1) - 1
			// Work-groups below a failed one still run, so that the failure
			// reported is the first, whatever the workers' pace.
			if i >= l.groups || i > failed.Load() {
				return
			}
			id := i
			if order != nil {
				id = uint64(order[i])
			}
			if err := g.run(id); err != nil {
				g.err, g.errAt = err, i
				for {
					f := failed.Load()
					if i >= f || failed.CompareAndSwap(f, i) {
						break
					}
				}
				return
			}
		}
	}
	if workers == 1 {
		work(gs[0])
	} else {
		var wg sync.WaitGroup
		for _, g := range gs {
			wg.Add(1)
			go func() {
				defer wg.Done()
				work(g)
			}()
		}
		wg.Wait()
	}
	if exact != nil {
		exact.guessed(gs[0])
	}
	rep := gpu.Report{Findings: l.mergeFindings(gs), Counters: &gpu.Counters{}}
	var first *group
	for _, g := range gs {
		rep.Counters.Add(g.counters())
		if g.err != nil && (first == nil || g.errAt < first.errAt) {
			first = g
		}
	}
	if first != nil {
		if err := l.ctx.Err(); err != nil {
			return rep, gs, err
		}
		return rep, gs, &gpu.Fault{Kernel: l.kernel.Kernel.Name, Reason: first.err.Error(), Err: first.err}
	}
	return rep, gs, nil
}

// order returns the shuffled order of work-groups, nil for that of their
// numbers.
func (l *launch) order() []uint32 {
	if l.schedule() == 0 || l.groups > 1<<24 {
		return nil
	}
	p := make([]uint32, l.groups)
	for i := range p {
		p[i] = uint32(i)
	}
	r := newRand(l.schedule(), 0)
	r.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// start sets up the registers of a wave, by the tables "Initial Kernel
// Execution State" of LLVM's user guide.
func (l *launch) start(g *group, w *wave) {
	d := &l.kernel.Descriptor
	w.s = [numScalars]uint32{}
	s := 0
	put := func(v ...uint32) {
		for _, x := range v {
			w.setInitial(s, x)
			s++
		}
	}
	put64 := func(v uint64) { put(uint32(v), uint32(v>>32)) }
	if d.Properties&codeobject.PrivateSegmentBuffer != 0 {
		put(l.scratchResource()...)
	}
	if d.Properties&codeobject.DispatchPtr != 0 {
		put64(l.packet.base)
	}
	if d.Properties&codeobject.QueuePtr != 0 {
		put64(l.queue.base)
	}
	if d.Properties&codeobject.KernargSegmentPtr != 0 {
		put64(l.kernarg.base)
	}
	if d.Properties&codeobject.DispatchID != 0 {
		put64(1)
	}
	if d.Properties&codeobject.FlatScratchInit != 0 {
		put64(l.stack.base)
	}
	if d.Properties&codeobject.PrivateSegmentSize != 0 {
		put(uint32(l.scratch))
	}
	s = d.UserSGPRs()
	for i, id := range [3]uint32{g.id.X, g.id.Y, g.id.Z} {
		if d.WorkGroupID(i) {
			put(id)
		}
	}
	if d.WorkGroupInfo() {
		put(uint32(l.waves))
	}
	if d.Scratch() && l.dev.arch != isa.GFX1100 {
		put(0) // wave offset: every wave has scratch of its own at one address
	}

	// Work-item ids.
	b := l.cfg.Block
	threads := int(b.Count())
	base := w.id * w.n
	v0, v1, v2 := &w.rows[firstVGPR], &w.rows[firstVGPR+1], &w.rows[firstVGPR+2]
	dims := d.WorkItemDims()
	w.live = 0
	for i := 0; i < w.n && base+i < threads; i++ {
		t := uint32(base + i)
		x, y, z := t%b.X, t/b.X%b.Y, t/b.X/b.Y
		w.live |= 1 << i
		switch {
		case l.dev.arch != isa.GFX1030:
			v0[i] = x | y<<10 | z<<20
		case dims == 0:
			v0[i] = x
		case dims == 1:
			v0[i], v1[i] = x, y
		default:
			v0[i], v1[i], v2[i] = x, y, z
		}
	}
	w.defineInitial(firstVGPR, w.live)
	if l.dev.arch == isa.GFX1030 {
		for i := range dims {
			w.defineInitial(firstVGPR+1+i, w.live)
		}
	}
	w.exec = w.live
}

// scratchResource is the buffer descriptor of scratch: swizzled, with the
// lane's number added to the index. Only its base and the flags that
// memory.go looks at matter here.
func (l *launch) scratchResource() []uint32 {
	base := l.stack.base
	return []uint32{uint32(base), uint32(base>>32)&0xffff | resourceSwizzle, 0xffffffff, resourceAddTID}
}

// Flags of buffer descriptors, in their dwords 1 and 3.
const (
	resourceSwizzle = 1 << 31
	resourceAddTID  = 1 << 23
)
