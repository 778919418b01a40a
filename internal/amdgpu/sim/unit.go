package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A Cache keeps compiled code objects, so that devices that run the same ones
// at a time, or one after another, compile them once.
type Cache struct {
	mu    sync.Mutex
	texts map[textKey]*text
}

type textKey struct {
	arch  isa.Arch
	image [sha256.Size]byte
}

// text returns that of a code object loaded on d: what devices share, or,
// without a Cache or with functions of the device's own in the ops, one of
// its own.
func (c *Cache) text(d *device, image []byte, f *codeobject.File) *text {
	t := &text{arch: d.arch, specs: d.specs, watch: d.opts.Reached, file: f, units: map[uint64]*unit{}, compilers: map[int]*compiler{}}
	if c == nil || t.watch != nil {
		return t
	}
	key := textKey{d.arch, sha256.Sum256(image)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.texts[key]; old != nil {
		return old
	}
	if c.texts == nil {
		c.texts = map[textKey]*text{}
	}
	c.texts[key] = t
	return t
}

// A text is a code object's functions, compiled to ops when a wave first
// comes to them. It knows of no device and no address.
type text struct {
	arch  isa.Arch
	specs map[string]spec
	watch func(pc uint64) // Options.Reached
	file  *codeobject.File

	mu        sync.Mutex
	units     map[uint64]*unit // by start and wave size
	compilers map[int]*compiler
	starts    []uint64 // where functions start
}

// A unit is a function's ops. Control may enter it at every instruction.
type unit struct {
	start uint64 // address in the image
	end   uint64
	ops   []op    // the last refuses: control ran off the end
	index []int32 // by dword: the op that starts there, -1 within one

	atomics bool // has atomics on memory other than LDS
	calls   bool // leaves for addresses in registers
	vgprs   int  // one past the highest VGPR named
	agprs   int
	consts  []uint32 // of uops
	sites   int32    // of uops that access memory
	spans   int32
}

// unitAt returns the unit that holds the address in the image, compiled for
// the wave size.
func (x *text) unitAt(addr uint64, wave int) (*unit, error) {
	t := x.file.Text
	if addr < t.Addr || addr-t.Addr >= t.Size || addr%4 != 0 {
		return nil, fmt.Errorf("jump to 0x%x, outside the code", addr)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.starts == nil {
		x.starts = x.functions()
	}
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > addr }) - 1
	start, end := x.starts[i], t.Addr+t.Size
	if i+1 < len(x.starts) {
		end = x.starts[i+1]
	}
	key := start | uint64(wave>>6) // starts are multiples of 4
	if u := x.units[key]; u != nil {
		return u, nil
	}
	c := x.compilers[wave]
	if c == nil {
		c = newCompiler(x.arch, wave, x.specs)
		x.compilers[wave] = c
	}
	u := x.compileUnit(c, start, end)
	x.units[key] = u
	return u, nil
}

// functions returns the sorted starts of functions, the first being the
// start of the code.
func (x *text) functions() []uint64 {
	t := x.file.Text
	in := func(a uint64) bool { return a > t.Addr && a-t.Addr < t.Size && a%4 == 0 }
	s := []uint64{t.Addr}
	for _, sym := range x.file.Symbols {
		if sym.Func && in(sym.Addr) {
			s = append(s, sym.Addr)
		}
	}
	for _, k := range x.file.Kernels {
		if in(k.Entry) {
			s = append(s, k.Entry)
		}
	}
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	n := 1
	for _, a := range s[1:] {
		if a != s[n-1] {
			s[n] = a
			n++
		}
	}
	return s[:n]
}

func (x *text) compileUnit(c *compiler, start, end uint64) *unit {
	u := &unit{start: start, end: end, index: make([]int32, (end-start)/4)}
	code := x.file.Image[start:end]
	var insts []isa.Inst
	for pc := start; pc < end; {
		in, err := isa.Decode(x.arch, code[pc-start:], pc)
		if err != nil {
			in = isa.Inst{PC: pc, Name: "(undecodable)", Size: 4, Arch: x.arch}
		}
		for i := pc; i < pc+uint64(in.Size) && i < end; i += 4 {
			u.index[(i-start)/4] = -1
		}
		u.index[(pc-start)/4] = int32(len(insts))
		insts = append(insts, in)
		pc += uint64(in.Size)
	}
	u.ops = make([]op, 0, len(insts)+1)
	for i := range insts {
		in := &insts[i]
		var o op
		if in.Name == "(undecodable)" {
			_, err := isa.Decode(x.arch, code[in.PC-start:], in.PC)
			o = refusedOp(in, fmt.Sprint(err))
		} else {
			o = c.compile(in)
		}
		o.link(u)
		u.scan(in)
		u.ops = append(u.ops, o)
	}
	u.indexVGPRs()
	u.ops = append(u.ops, refusedOp(&isa.Inst{PC: end, Name: "(none)"}, "control ran off the end of the function"))
	u.findWhole()
	u.findSeeds()
	if f := x.watch; f != nil {
		u.watch(f)
	} else {
		u.findSpans(c.wave)
	}
	return u
}

// link resolves the target of a branch to an op of its unit.
func (o *op) link(u *unit) {
	if o.class != classBranch || o.in.Enc != isa.SOPP && o.in.Enc != isa.SOPK {
		return
	}
	if t := o.in.Target(); t >= u.start && t < u.end && t%4 == 0 {
		o.target = u.index[(t-u.start)/4]
	}
}

// scan notes what of the unit concerns the launch.
func (u *unit) scan(in *isa.Inst) {
	c := classify(in)
	if c == classGlobalAtomic || in.Enc == isa.SMEM && strings.Contains(in.Name, "_atomic") {
		u.atomics = true
	}
	switch in.Name {
	case "s_setpc_b64", "s_swappc_b64":
		u.calls = true
	}
	reg := func(o *isa.Operand) {
		end := int(o.Reg) + max(1, int(o.Width))
		switch o.Kind {
		case isa.VGPR:
			u.vgprs = max(u.vgprs, end)
		case isa.AGPR:
			u.agprs = max(u.agprs, end)
		}
	}
	for h := in; h != nil; h = h.Y {
		for i := range h.Dst {
			reg(&h.Dst[i])
		}
		for i := range h.Src {
			reg(&h.Src[i])
		}
	}
}

// jump continues at an address in memory.
func (w *wave) jump(addr uint64) {
	m := w.g.l.kernel.mod
	off := addr - m.image.base
	if off-w.unit.start >= w.unit.end-w.unit.start {
		u, err := m.unitAt(off, w.n)
		if err != nil {
			w.fail(err)
			return
		}
		w.enter(u)
	}
	u := w.unit
	if off%4 != 0 || u.index[(off-u.start)/4] < 0 {
		w.fail(fmt.Errorf("jump to 0x%x, which is no instruction", off))
		return
	}
	w.pc = u.index[(off-u.start)/4]
}

var errStepLimit = errors.New("step limit")
