package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A memOp is what a vector memory instruction does.
type memOp struct {
	kind   memKind
	size   int // bytes of one element
	signed bool
	// part says which half of the register a 16-bit access takes or leaves.
	part  regPart
	addr  src   // of lanes: 64 bits, or 32 where wide is false
	wide  bool  // addr is 64 bits
	base  src   // scalar address or offset, srcNone where there is none
	rsrc  int32 // buffers: first SGPR of the descriptor
	offen bool  // buffers: addr is an offset
	idxen bool  // buffers: addr starts with an index
	tid   bool  // the lane's number counts dwords of the address

	offset int64
	data   int32 // row of the first source dword, -1 where there is none
	data2  int32 // DS: second source
	dst    int32 // row of the first result dword, -1 where there is none

	atom rmw        // of kind memAtomic
	ds   *dsOp      // of DS
	fold accessKind // how findings name the access
	// whole says that the access is one of whole dwords in the source, see
	// findWhole.
	whole bool
	// atomicLoad says that the load is an atomic or volatile one, which
	// bypasses the nearest cache.
	atomicLoad bool
}

type memKind uint8

const (
	memLoad memKind = iota
	memStore
	memAtomic
	memNothing // cache control
)

type regPart uint8

const (
	partAll regPart = iota
	partLo          // d16: the high half is kept
	partHi          // d16_hi: the low half is kept
)

// An accessKind is the Access of a finding.
type accessKind uint8

const (
	accessLoad accessKind = iota
	accessStore
	accessAtomic
)

func (a accessKind) String() string { return [...]string{"load", "store", "atomic"}[a] }

// elements are the types of loads and stores, under both their names.
var elements = map[string]memOp{
	"ubyte": {size: 1}, "u8": {size: 1},
	"sbyte": {size: 1, signed: true}, "i8": {size: 1, signed: true},
	"ushort": {size: 2}, "u16": {size: 2},
	"sshort": {size: 2, signed: true}, "i16": {size: 2, signed: true},
	"byte": {size: 1}, "b8": {size: 1},
	"short": {size: 2}, "b16": {size: 2},
	"dword": {size: 4}, "b32": {size: 4},
	"dwordx2": {size: 8}, "b64": {size: 8},
	"dwordx3": {size: 12}, "b96": {size: 12},
	"dwordx4": {size: 16}, "b128": {size: 16},
	"ubyte_d16": {size: 1, part: partLo}, "d16_u8": {size: 1, part: partLo}, "u8_d16": {size: 1, part: partLo},
	"ubyte_d16_hi": {size: 1, part: partHi}, "d16_hi_u8": {size: 1, part: partHi}, "u8_d16_hi": {size: 1, part: partHi},
	"sbyte_d16": {size: 1, signed: true, part: partLo}, "d16_i8": {size: 1, signed: true, part: partLo}, "i8_d16": {size: 1, signed: true, part: partLo},
	"sbyte_d16_hi": {size: 1, signed: true, part: partHi}, "d16_hi_i8": {size: 1, signed: true, part: partHi}, "i8_d16_hi": {size: 1, signed: true, part: partHi},
	"short_d16": {size: 2, part: partLo}, "d16_b16": {size: 2, part: partLo}, "u16_d16": {size: 2, part: partLo},
	"short_d16_hi": {size: 2, part: partHi}, "d16_hi_b16": {size: 2, part: partHi}, "u16_d16_hi": {size: 2, part: partHi}, "b16_d16_hi": {size: 2, part: partHi},
	"byte_d16_hi": {size: 1, part: partHi}, "d16_hi_b8": {size: 1, part: partHi}, "b8_d16_hi": {size: 1, part: partHi},
}

// memory resolves a memory instruction.
func (c *compiler) memory(in *isa.Inst, o *op) error {
	switch in.Enc {
	case isa.SMEM:
		return c.smem(in, o)
	case isa.DS:
		return c.dsInst(in, o)
	case isa.MTBUF:
		return errors.New(refusalReason(in))
	}
	space, rest, _ := strings.Cut(in.Name, "_")
	m := &memOp{data: -1, data2: -1, dst: -1, offset: int64(in.Offset)}
	rest, toLDS := strings.CutPrefix(rest, "load_lds_") // gfx11; before, a bit says so
	if toLDS {
		rest = "load_" + rest
	}
	toLDS = toLDS || in.Has(isa.LDS)
	for _, form := range []string{"_addtid", "addtid_"} { // load_dword_addtid, load_addtid_b32
		if s := strings.Replace(rest, form, "", 1); s != rest {
			rest, m.tid = s, true
			break
		}
	}
	switch {
	case strings.HasPrefix(rest, "load_"):
		e, ok := elements[rest[len("load_"):]]
		if !ok {
			return errors.New("not interpreted")
		}
		m.kind, m.size, m.signed, m.part, m.fold = memLoad, e.size, e.signed, e.part, accessLoad
	case strings.HasPrefix(rest, "store_"):
		e, ok := elements[rest[len("store_"):]]
		if !ok {
			return errors.New("not interpreted")
		}
		m.kind, m.size, m.part, m.fold = memStore, e.size, e.part, accessStore
	case strings.HasPrefix(rest, "atomic_"):
		a, ok := globalAtomics[rest[len("atomic_"):]]
		if !ok {
			return errors.New("not interpreted")
		}
		if c.arch == isa.GFX90A && rest == "atomic_add_f32" {
			a = rmw32(addF32Flushed)
		}
		m.kind, m.size, m.atom, m.fold = memAtomic, a.size, a, accessAtomic
	case space == "buffer" && (strings.HasSuffix(rest, "_inv") || strings.HasPrefix(rest, "wb") || strings.HasPrefix(rest, "inv")):
		o.run = nop
		o.class = classOther
		return nil
	default:
		return errors.New("not interpreted")
	}
	o.mem = m
	srcs := in.Src[:in.NSrc]
	take := func() isa.Operand {
		if len(srcs) == 0 {
			return isa.Operand{}
		}
		s := srcs[0]
		srcs = srcs[1:]
		return s
	}
	var err error
	source := func(s isa.Operand, slot int) src {
		r, e := c.source(&s, slot)
		if e != nil && err == nil {
			err = e
		}
		return r
	}
	row := func(s isa.Operand) int32 {
		if s.Kind != isa.VGPR && s.Kind != isa.AGPR {
			if err == nil {
				err = fmt.Errorf("data operand of kind %d", s.Kind)
			}
			return -1
		}
		return c.rowOf(&s)
	}
	if in.NDst > 0 {
		m.dst = row(in.Dst[0])
	}
	if in.Enc == isa.MUBUF {
		if m.kind != memLoad {
			m.data = row(take())
		}
		m.addr = source(take(), 0)
		rsrc := take()
		if rsrc.Kind != isa.SGPR && rsrc.Kind != isa.TTMP {
			return fmt.Errorf("buffer descriptor of kind %d", rsrc.Kind)
		}
		r := source(rsrc, 1)
		m.rsrc = r.reg
		m.base = source(take(), 2)
		m.offen, m.idxen = in.Has(isa.OffEn), in.Has(isa.IdxEn)
		if in.Has(isa.Addr64) || in.Has(isa.TFE) {
			return errors.New("addr64 and tfe are not interpreted")
		}
		o.run = bufferAccess
	} else {
		if m.tid {
			m.addr = src{kind: srcNone}
		} else {
			a := take()
			m.addr = source(a, 0)
			m.wide = a.Width == 2
		}
		if m.kind != memLoad {
			m.data = row(take())
		}
		m.base = source(take(), 1)
		switch in.Enc {
		case isa.GLOBAL:
			o.run = globalAccess
		case isa.FLAT:
			o.run = flatAccess
		default:
			o.run = scratchAccess
		}
	}
	if m.tid && m.base.kind == srcNone {
		return errors.New("has no base address")
	}
	if toLDS && err == nil {
		err = m.loadToLDS(in, o)
	}
	if err == nil && m.kind == memLoad && m.dst < 0 {
		err = errors.New("has no destination")
	}
	m.atomicLoad = m.kind == memLoad && in.Has(isa.GLC)
	o.dst, o.final = max(m.dst, tmpOut), max(m.dst, tmpOut)
	return err
}

// loadToLDS makes o a load that leaves registers alone and puts what it
// loaded into LDS, a dword for each lane: at M0 and the instruction's offset,
// lane after lane. Source: AMD's "Instinct MI200" ISA guide, on memory loads
// to LDS; LLVM has a byte or half widened to a dword too.
func (m *memOp) loadToLDS(in *isa.Inst, o *op) error {
	if m.kind != memLoad || m.size > 4 || m.part != partAll {
		return errors.New("to LDS is not interpreted")
	}
	m.dst = tmpDPP
	base := ^uint32(3) & 0x3ffff // M0 counts in dwords
	if in.Enc == isa.MUBUF {
		base = 0xffff
	}
	store := &op{in: in, class: o.class, dst: tmpOut, final: tmpOut, target: -1, mem: &memOp{
		kind: memStore, size: 4, fold: accessStore, data: m.dst, data2: -1, dst: -1, addr: src{kind: srcNone}, base: src{kind: srcNone},
	}}
	load := o.run
	o.run = func(w *wave, o *op) {
		load(w, o)
		if w.exec == 0 || w.err != nil {
			return
		}
		if w.g.checks && w.shadow.s[regM0] != ^uint32(0) {
			w.g.uninit(w, o, w.firstLane(), "address", "sgpr", "the address in shared memory is computed from a value that nobody wrote")
		}
		at := w.s[regM0]&base + uint32(o.mem.offset)
		for i := range w.g.ea[:w.n] {
			w.g.ea[i] = uint64(at + 4*uint32(i))
		}
		w.g.shared(w, store, w.exec)
	}
	return nil
}
