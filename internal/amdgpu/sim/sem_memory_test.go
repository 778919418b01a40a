package sim

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// Tests of vector memory instructions: each is encoded in every form of
// addressing, decoded, compiled and executed, and then all registers and all
// memory are compared with what byte arithmetic on copies of them gives. What
// an instruction moves is read off its name by other code than the
// interpreter's.

// A memName is what the name of a memory instruction says.
type memName struct {
	kind  string // "load", "store", or the operation of an atomic
	typ   byte   // of atomics and extension: 'u', 'i', 'f', 'b' or 'p' (packed f16)
	bits  int
	d16   bool // a result fills half a register, the rest is kept
	hi    bool // of a result or of data: the high half
	tid   bool // the lane's number counts dwords
	two   int  // elements between offsets of two addresses, 0 for one address
	flush bool // a float atomic that keeps no subnormals
}

// widths are the types that names of gfx9 and gfx10 spell out.
var widths = map[string]struct {
	bits int
	typ  byte
}{
	"ubyte": {8, 'u'}, "sbyte": {8, 'i'}, "byte": {8, 'b'}, "ushort": {16, 'u'}, "sshort": {16, 'i'}, "short": {16, 'b'},
	"dword": {32, 'b'}, "dwordx2": {64, 'b'}, "dwordx3": {96, 'b'}, "dwordx4": {128, 'b'},
}

// parseMemory takes a name apart; ok is false for cache control and the like.
func parseMemory(name string) (m memName, ok bool) {
	words := strings.Split(name, "_")
	ds := words[0] == "ds"
	for _, w := range words[1:] {
		if t, ok := widths[w]; ok {
			m.bits, m.typ = t.bits, t.typ
			continue
		}
		if len(w) > 1 && strings.Contains("uibf", w[:1]) {
			if n, err := strconv.Atoi(w[1:]); err == nil && n >= 8 {
				m.bits, m.typ = n, w[0]
				if m.kind == "pk_add" {
					m.bits, m.typ = 32, 'p'
				}
				continue
			}
		}
		switch w {
		case "load", "read":
			m.kind = "load"
		case "store", "write":
			m.kind = "store"
		case "read2", "write2":
			m.kind, m.two = strings.TrimSuffix(w, "2"), 1
			if m.kind == "read" {
				m.kind = "load"
			} else {
				m.kind = "store"
			}
		case "read2st64":
			m.kind, m.two = "load", 64
		case "write2st64":
			m.kind, m.two = "store", 64
		case "wrxchg2":
			m.kind, m.two = "swap", 1
		case "wrxchg2st64":
			m.kind, m.two = "swap", 64
		case "2addr":
			m.two = 1
		case "stride64":
			m.two = 64
		case "d16":
			m.d16 = true
		case "hi":
			m.hi = true
		case "addtid":
			m.tid = true
		case "x2":
			m.bits = 64
		case "atomic", "rtn":
		case "smin", "smax":
			m.kind, m.typ = w[1:], 'i'
		case "umin", "umax":
			m.kind, m.typ = w[1:], 'u'
		case "fmin", "fmax":
			m.kind, m.typ = w[1:], 'f'
		case "fcmpswap":
			m.kind, m.typ = "cmpswap", 'f'
		case "wrxchg", "storexchg":
			m.kind = "swap"
		case "cmpst":
			m.kind = "cmpst" // data in the other order
		case "cmpstore":
			m.kind = "cmpswap"
		case "pk":
			m.kind = "pk_add"
		case "add":
			if m.kind != "pk_add" {
				m.kind = "add"
			}
		case "sub", "rsub", "csub", "min", "max", "and", "or", "xor", "inc", "dec", "swap", "cmpswap", "mskor", "wrap":
			m.kind = w
		case "condxchg32":
			m.kind = w
		default:
			return m, false
		}
	}
	if m.kind == "" {
		return m, false
	}
	if m.kind == "load" || m.kind == "store" {
		return m, m.bits != 0
	}
	if m.bits == 0 && !ds {
		m.bits = 32
	}
	if m.typ == 0 {
		m.typ = 'u'
	}
	return m, true
}

// atomicResult is what an atomic leaves in memory: v is the first data
// operand of the instruction, x the second.
func (m *memName) atomicResult(old, v, x uint64) uint64 {
	n := m.bits
	num := func(a uint64) *big.Int {
		if m.typ == 'i' {
			return signedOf(a, n)
		}
		return unsignedOf(a, n)
	}
	f := map[int]ieee{32: single, 64: double}[n]
	pick := func(second bool) uint64 {
		if second {
			return v
		}
		return old
	}
	switch m.kind {
	case "swap":
		return v
	case "and", "or", "xor":
		var r uint64
		for i := range n {
			a, b := old>>i&1, v>>i&1
			sum := a + b
			if m.kind == "and" && sum == 2 || m.kind == "or" && sum > 0 || m.kind == "xor" && sum == 1 {
				r |= 1 << i
			}
		}
		return r
	case "add":
		switch {
		case m.typ == 'f' && m.flush:
			return f.addFlush(old, v)
		case m.typ == 'f':
			return f.add(old, v)
		}
		return wrap(new(big.Int).Add(num(old), num(v)), n)
	case "pk_add":
		return half.add(old&0xffff, v&0xffff) | half.add(old>>16, v>>16)<<16
	case "sub":
		return wrap(new(big.Int).Sub(num(old), num(v)), n)
	case "rsub":
		return wrap(new(big.Int).Sub(num(v), num(old)), n)
	case "csub":
		d := new(big.Int).Sub(num(old), num(v))
		if d.Sign() < 0 {
			return 0
		}
		return d.Uint64()
	case "min", "max":
		if m.typ == 'f' {
			if m.kind == "min" {
				return f.min(old, v)
			}
			return f.max(old, v)
		}
		c := num(v).Cmp(num(old))
		return pick(m.kind == "min" && c < 0 || m.kind == "max" && c > 0)
	case "inc":
		if num(old).Cmp(num(v)) >= 0 {
			return 0
		}
		return old + 1
	case "dec":
		if old == 0 || num(old).Cmp(num(v)) > 0 {
			return v
		}
		return old - 1
	case "cmpst": // the first operand is what is compared with
		v, x = x, v
		fallthrough
	case "cmpswap":
		same := old == x
		if m.typ == 'f' {
			same = !f.isNaN(old) && !f.isNaN(x) && f.value(old).Cmp(f.value(x)) == 0
		}
		return pick(same)
	case "mskor":
		var r uint64
		for i := range n {
			b := x >> i & 1
			if v>>i&1 == 0 && old>>i&1 == 1 {
				b = 1
			}
			r |= b << i
		}
		return r
	case "wrap":
		d := new(big.Int).Sub(num(old), num(v))
		if d.Sign() < 0 {
			d.Add(num(old), num(x))
		}
		return wrap(d, n)
	case "condxchg32":
		r := old
		for _, s := range []uint{0, 32} {
			if w := v >> s & 0xffffffff; w >= 1<<31 {
				r = r&^(0xffffffff<<s) | (w-1<<31)<<s
			}
		}
		return r
	}
	panic("atomic " + m.kind)
}

// operand returns a value for memory or data of an atomic.
func (m *memName) operand(r *rand.Rand) uint64 {
	t := map[int]vtype{32: tB32, 64: tB64}[m.bits]
	if m.typ == 'f' {
		t = map[int]vtype{32: tF32, 64: tF64}[m.bits]
	}
	if m.typ == 'p' {
		t = tPkF16
	}
	for {
		v := t.random(r)
		if e := t.edges(); r.IntN(2) == 0 {
			v = e[r.IntN(len(e))]
		}
		if t == tB32 && r.IntN(3) == 0 {
			v = uint64(r.IntN(4)) // close to what inc and dec wrap at
		}
		// What min and max make of a signalling NaN in memory is not
		// documented.
		if m.typ == 'f' && (single.signalling(v) && m.bits == 32 || double.signalling(v) && m.bits == 64) {
			continue
		}
		return v
	}
}

// A memBench is a bench with memory: two buffers, LDS and scratch.
type memBench struct {
	*bench
	r       *rand.Rand
	buffers [2]*region
}

const (
	testLDS     = 2048
	testScratch = 128
)

func newMemBench(t *testing.T, arch isa.Arch, seed uint64) *memBench {
	b, r := laneBench(t, arch, seed)
	mb := &memBench{bench: b, r: r}
	g := b.w.g
	g.l = &launch{stack: &region{base: 1 << 41}}
	b.w.growShadow(len(b.w.rows))
	g.mem = &space{}
	for i := range mb.buffers {
		reg, err := g.mem.add("buffer", "global", 1300+100*i)
		if err != nil {
			t.Fatal(err)
		}
		mb.buffers[i] = reg
	}
	g.lds.region = region{space: "lds", data: make([]byte, testLDS), live: true}
	s := &b.w.scratch
	s.n, s.size = b.w.n, testScratch
	s.grow(testScratch)
	for _, m := range [][]byte{mb.buffers[0].data, mb.buffers[1].data, g.lds.data, s.data} {
		for i := 0; i+8 <= len(m); i += 8 {
			binary.LittleEndian.PutUint64(m[i:], r.Uint64())
		}
	}
	return mb
}

// A place is where a lane's access goes: in a buffer, or at an offset in LDS
// or in the lane's scratch.
type place struct {
	space byte // 'g', 'l' or 's'
	addr  uint64
}

// A memModel is memory as it should be.
type memModel struct {
	base    [2]uint64
	buffers [2][]byte
	lds     []byte
	scratch [][]byte // by lane
}

func (mb *memBench) model() *memModel {
	m := &memModel{lds: bytes.Clone(mb.w.g.lds.data)}
	for i, r := range mb.buffers {
		m.base[i], m.buffers[i] = r.base, bytes.Clone(r.data)
	}
	n := mb.w.n
	for lane := range n {
		b := make([]byte, testScratch)
		for k := range b {
			b[k] = mb.w.scratch.data[k*n+lane]
		}
		m.scratch = append(m.scratch, b)
	}
	return m
}

// at returns the memory from an address of a lane on.
func (m *memModel) at(p place, lane int) []byte {
	switch p.space {
	case 'l':
		return m.lds[p.addr:]
	case 's':
		return m.scratch[lane][p.addr:]
	}
	for i, b := range m.buffers {
		if off := p.addr - m.base[i]; off < uint64(len(b)) {
			return b[off:]
		}
	}
	panic("address outside")
}

func (m *memModel) equal(n *memModel) bool {
	for i := range m.scratch {
		if !bytes.Equal(m.scratch[i], n.scratch[i]) {
			return false
		}
	}
	return bytes.Equal(m.buffers[0], n.buffers[0]) && bytes.Equal(m.buffers[1], n.buffers[1]) && bytes.Equal(m.lds, n.lds)
}

// The registers of the tests.
const (
	memAddr   = 2      // v2, v3
	memData   = 8      // v8 to v11
	memData2  = 12     // v12, v13, of DS
	memDst    = 16     // v16 to v19
	memSaddr  = 4      // s[4:5]
	memSoff   = 6      // s6
	memRsrc   = 8      // s[8:11]
	memNoAddr = 1 << 8 // no scalar address
)

// A memForm is a way to encode and to address: it gives the words of an
// instruction, and sets registers up so that each lane accesses a place of
// its choice, which it returns.
type memForm struct {
	name   string
	spaces string
	words  func(arch isa.Arch, code uint32, glc bool) []uint32
	// places sets registers up. want are the places that the test would
	// have; a form that cannot have them gives others.
	places func(mb *memBench, want []place, size int) []place
}

// wantPlaces returns a place of size bytes for every lane: neighbours in
// order, or a mixture, at multiples of align.
func (mb *memBench) wantPlaces(spaces string, size, align int, k int) []place {
	all := make([]place, mb.w.n)
	space := spaces[mb.r.IntN(len(spaces))]
	start := uint64(align * mb.r.IntN(16))
	for i := range all {
		p := place{space: space}
		if k%4 > 1 {
			p.space = spaces[mb.r.IntN(len(spaces))]
		}
		limit := map[byte]int{'l': testLDS, 's': testScratch, 'g': 1200}[p.space] - size
		switch k % 4 {
		case 0: // in order, as far as there is room
			p.addr = (start + uint64(i*size)) % uint64(limit/align*align+align)
			if p.addr > uint64(limit) {
				p.addr = 0
			}
		default:
			p.addr = uint64(mb.r.IntN(limit/align+1) * align)
		case 3: // few places: lanes meet
			p.addr = uint64(mb.r.IntN(3) * max(align, 2))
		}
		if p.space == 'g' {
			buf := mb.buffers[0]
			if k%4 > 1 {
				buf = mb.buffers[mb.r.IntN(2)]
			}
			p.addr += buf.base
		}
		all[i] = p
	}
	return all
}

// flatWords encodes FLAT, GLOBAL and SCRATCH. saddr is the scalar register,
// or memNoAddr.
func flatWords(arch isa.Arch, seg, code uint32, offset int, glc bool, vaddr, saddr uint32, sve bool) []uint32 {
	lo := uint32(0xdc000000) | code<<18
	bits := uint32(13)
	switch arch {
	case isa.GFX90A:
		lo |= seg<<14 | b2u(glc)<<16
	case isa.GFX1030:
		lo |= seg<<14 | b2u(glc)<<16
		bits = 12
	default:
		lo |= seg<<16 | b2u(glc)<<14
	}
	lo |= uint32(offset) & (1<<bits - 1)
	if saddr == memNoAddr {
		saddr = map[isa.Arch]uint32{isa.GFX90A: 0x7f, isa.GFX1030: 0x7d, isa.GFX1100: 0x7c}[arch]
		if seg == 0 && arch == isa.GFX90A {
			saddr = 0
		}
	}
	hi := vaddr | memData<<8 | saddr<<16 | memDst<<24
	if sve {
		hi |= 1 << 23
	}
	return []uint32{lo, hi}
}

// setAddr gives lane i the 64-bit address a in v[2:3].
func (mb *memBench) setAddr(i int, a uint64) {
	mb.v(memAddr)[i], mb.v(memAddr + 1)[i] = uint32(a), uint32(a>>32)
}

const ( // what LLVM has for the apertures in the interpreter's registers
	sharedAperture  = 0x10000 << 32
	privateAperture = 0x20000 << 32
)

// atLeast moves an address by a number of elements to at least the least.
func atLeast(addr, least uint64, size int) uint64 {
	if addr < least {
		addr += (least + uint64(size) - 1) / uint64(size) * uint64(size)
	}
	return addr
}

func flatForms(enc isa.Encoding) []memForm {
	vaddr := func(offset int, generic bool) func(mb *memBench, want []place, size int) []place {
		return func(mb *memBench, want []place, size int) []place {
			for i, p := range want {
				a := p.addr
				if generic {
					a += map[byte]uint64{'g': 0, 'l': sharedAperture, 's': privateAperture}[p.space]
				}
				mb.setAddr(i, a-uint64(int64(offset)))
			}
			return want
		}
	}
	switch enc {
	case isa.FLAT:
		var forms []memForm
		for _, offset := range []int{0, 20} {
			forms = append(forms, memForm{"vaddr", "gls", func(arch isa.Arch, code uint32, glc bool) []uint32 {
				return flatWords(arch, 0, code, offset, glc, memAddr, memNoAddr, false)
			}, func(mb *memBench, want []place, size int) []place {
				// The aperture is chosen by the sum's high dword: an address
				// before the segment would do as well, but LLVM makes none.
				for i := range want {
					if want[i].space != 'g' {
						want[i].addr = atLeast(want[i].addr, uint64(offset), size)
					}
				}
				return vaddr(offset, true)(mb, want, size)
			}})
		}
		return forms
	case isa.GLOBAL:
		var forms []memForm
		for _, offset := range []int{0, -100, 300} {
			forms = append(forms, memForm{"vaddr", "g", func(arch isa.Arch, code uint32, glc bool) []uint32 {
				return flatWords(arch, 2, code, offset, glc, memAddr, memNoAddr, false)
			}, vaddr(offset, false)})
		}
		return append(forms, memForm{"saddr", "g", func(arch isa.Arch, code uint32, glc bool) []uint32 {
			return flatWords(arch, 2, code, -8, glc, memAddr, memSaddr, false)
		}, func(mb *memBench, want []place, size int) []place {
			// All in the first buffer, or from it on: offsets are unsigned.
			base := mb.buffers[0].base - 1000
			mb.w.s[memSaddr], mb.w.s[memSaddr+1] = uint32(base), uint32(base>>32)
			for i, p := range want {
				if p.addr >= mb.buffers[1].base {
					want[i].addr = p.addr - mb.buffers[1].base + mb.buffers[0].base
				}
				mb.v(memAddr)[i] = uint32(want[i].addr - base + 8)
			}
			return want
		}})
	}
	uniform := func(want []place) []place {
		for i := range want {
			want[i] = want[0]
		}
		return want
	}
	sameArch := func(saddr uint32, vaddr bool, offset int) func(arch isa.Arch, code uint32, glc bool) []uint32 {
		return func(arch isa.Arch, code uint32, glc bool) []uint32 {
			if arch == isa.GFX1100 {
				return flatWords(arch, 1, code, offset, glc, memAddr, saddr, vaddr)
			}
			if vaddr && saddr != memNoAddr {
				return nil // one or the other
			}
			if !vaddr && saddr == memNoAddr {
				if arch == isa.GFX90A {
					return nil
				}
				return flatWords(arch, 1, code, offset, glc, 0, 0x7f, false)
			}
			return flatWords(arch, 1, code, offset, glc, memAddr, saddr, false)
		}
	}
	return []memForm{
		{"vaddr", "s", sameArch(memNoAddr, true, 12), func(mb *memBench, want []place, size int) []place {
			for i, p := range want {
				want[i].addr = atLeast(p.addr, 12, size)
				mb.v(memAddr)[i] = uint32(want[i].addr) - 12
			}
			return want
		}},
		{"saddr", "s", sameArch(memSoff, false, -4), func(mb *memBench, want []place, size int) []place {
			mb.w.s[memSoff] = uint32(want[0].addr) + 4
			return uniform(want)
		}},
		{"saddr and vaddr", "s", sameArch(memSoff, true, -4), func(mb *memBench, want []place, size int) []place {
			mb.w.s[memSoff] = 20
			for i, p := range want {
				want[i].addr = atLeast(p.addr, 16, size)
				mb.v(memAddr)[i] = uint32(want[i].addr) - 16
			}
			return want
		}},
		{"offset", "s", sameArch(memNoAddr, false, 40), func(mb *memBench, want []place, size int) []place {
			want[0].addr = 40
			return uniform(want)
		}},
	}
}

// bufferForms are the ways to address a raw buffer: the descriptor in
// s[8:11], without stride but where an index counts.
func bufferForms() []memForm {
	words := func(idxen, offen bool, offset uint32, soffset uint32) func(arch isa.Arch, code uint32, glc bool) []uint32 {
		return func(arch isa.Arch, code uint32, glc bool) []uint32 {
			lo := 0xe0000000 | code<<18 | offset | b2u(glc)<<14
			hi := memAddr | memData<<8 | uint32(memRsrc)/4<<16 | soffset<<24
			if arch == isa.GFX1100 {
				return []uint32{lo, hi | b2u(idxen)<<23 | b2u(offen)<<22}
			}
			return []uint32{lo | b2u(idxen)<<13 | b2u(offen)<<12, hi}
		}
	}
	// descriptor sets base, stride and size.
	descriptor := func(mb *memBench, stride, records uint32) {
		base := mb.buffers[0].base
		s := mb.w.s[memRsrc : memRsrc+4]
		s[0], s[1], s[2], s[3] = uint32(base), uint32(base>>32)|stride<<16, records, 0
		if mb.w.arch == isa.GFX90A {
			s[3] = 4<<15 | 7<<12 // what LLVM has for a raw buffer: 32-bit data
		} else {
			s[3] = 0x31004000
		}
	}
	inFirst := func(mb *memBench, p place, least uint64, size int) uint64 {
		off := p.addr - mb.buffers[0].base
		if p.addr >= mb.buffers[1].base {
			off = p.addr - mb.buffers[1].base
		}
		return atLeast(off, least, size)
	}
	const zero = 128 // inline constant
	return []memForm{
		{"offset", "g", words(false, false, 44, zero), func(mb *memBench, want []place, size int) []place {
			descriptor(mb, 0, 1290)
			for i := range want {
				want[i].addr = mb.buffers[0].base + 44
			}
			return want
		}},
		{"offen", "g", words(false, true, 4, memSoff), func(mb *memBench, want []place, size int) []place {
			descriptor(mb, 0, 1290)
			mb.w.s[memSoff] = 16
			for i, p := range want {
				off := inFirst(mb, p, 20, size)
				mb.v(memAddr)[i] = uint32(off - 20)
				want[i].addr = mb.buffers[0].base + off
			}
			return want
		}},
		{"idxen", "g", words(true, false, 4, zero), func(mb *memBench, want []place, size int) []place {
			descriptor(mb, 24, 48)
			for i := range want {
				n := uint64(mb.r.IntN(48))
				mb.v(memAddr)[i] = uint32(n)
				want[i].addr = mb.buffers[0].base + 24*n + 4
			}
			return want
		}},
		{"idxen offen", "g", words(true, true, 0, memSoff), func(mb *memBench, want []place, size int) []place {
			descriptor(mb, 24, 48)
			mb.w.s[memSoff] = 48
			for i := range want {
				n, off := uint64(mb.r.IntN(48)), uint64(8*mb.r.IntN(2))
				if size > 8 {
					off = 0 // elements that overlap in part are nobody's
				}
				mb.v(memAddr)[i], mb.v(memAddr + 1)[i] = uint32(n), uint32(off)
				want[i].addr = mb.buffers[0].base + 24*n + off + 48
			}
			return want
		}},
		{"scratch", "s", words(false, true, 8, memSoff), func(mb *memBench, want []place, size int) []place {
			l := mb.w.g.l
			copy(mb.w.s[memRsrc:], l.scratchResource())
			mb.w.s[memSoff] = uint32(16 * mb.w.n) // in bytes of the wave
			for i, p := range want {
				want[i].addr = atLeast(p.addr, 24, size)
				mb.v(memAddr)[i] = uint32(want[i].addr) - 24
			}
			return want
		}},
	}
}

// TestVectorMemory executes every flat, global, scratch and buffer load,
// store and atomic of every architecture.
func TestVectorMemory(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			forms := flatForms(op.Enc)
			switch op.Enc {
			case isa.FLAT, isa.GLOBAL, isa.SCRATCH:
			case isa.MUBUF:
				forms = bufferForms()
			default:
				continue
			}
			m, ok := parseMemory(op.Name)
			if !ok || m.tid {
				continue
			}
			m.flush = arch == isa.GFX90A && m.bits == 32
			for _, f := range forms {
				checkMemory(t, arch, op, &m, &f)
			}
		}
	}
}

func checkMemory(t *testing.T, arch isa.Arch, op isa.OpInfo, m *memName, f *memForm) {
	t.Helper()
	atomic := m.kind != "load" && m.kind != "store"
	size := m.bits / 8
	if atomic && f.name == "scratch" {
		return
	}
	for k := range 8 {
		glc := atomic && k%2 == 1
		words := f.words(arch, uint32(op.Opcode), glc)
		if words == nil {
			return
		}
		mb := newMemBench(t, arch, uint64(k)*31+uint64(op.Opcode))
		in, err := isa.Decode(arch, dwords(words...), 0)
		if err != nil || in.Name != op.Name || in.Enc != op.Enc {
			if glc || atomic && k == 0 { // some atomics always or never return
				continue
			}
			t.Errorf("%v %s %s: words %08x decode to %v (%v)", arch, op.Name, f.name, words, in.Name, err)
			return
		}
		o, err := mb.c.try(&in)
		if err != nil {
			return // the ledger knows whether it should be
		}
		align := size // elements that overlap in part are nobody's
		if m.kind == "load" {
			align = 1
		}
		want := mb.wantPlaces(f.spaces, size, align, k)
		want = f.places(mb, want, size)
		if k/4 == 1 && f.name == "vaddr" && m.kind == "load" {
			// A result in place of the address.
			words[1] = words[1]&^(0xff<<24) | memAddr<<24
			in, err = isa.Decode(arch, dwords(words...), 0)
			if err != nil {
				t.Fatal(err)
			}
			if o, err = mb.c.try(&in); err != nil {
				t.Fatal(err)
			}
		}
		mb.checkAccess(t, &in, &o, m, want, atomic)
		if t.Failed() {
			return
		}
	}
}

// checkAccess executes an access of one place for each lane and compares
// registers and memory.
func (mb *memBench) checkAccess(t *testing.T, in *isa.Inst, o *op, m *memName, want []place, atomic bool) {
	t.Helper()
	if atomic {
		mb.atomicOperands(in, m, want)
	}
	mb.compare(t, in, o, m, want, func(model *memModel, rows []lanes, exec uint64) {
		dst := -1
		if in.NDst > 0 {
			dst = firstVGPR + int(in.Dst[0].Reg)
		}
		second := firstVGPR + memData + m.bits/32
		if in.Enc == isa.DS {
			second = firstVGPR + memData2
		}
		m.apply(model, rows, want, exec, mb.w.n, firstVGPR+memData, second, dst)
	})
}

// atomicOperands puts values that matter into the places and the data.
func (mb *memBench) atomicOperands(in *isa.Inst, m *memName, want []place) {
	model, size := mb.model(), m.bits/8
	for i := range mb.w.n {
		for row, v := range map[int]uint64{memData: m.operand(mb.r), memData + size/4: m.operand(mb.r), memData2: m.operand(mb.r)} {
			mb.v(row)[i] = uint32(v)
			if size == 8 {
				mb.v(row + 1)[i] = uint32(v >> 32)
			}
		}
		v := m.operand(mb.r)
		if mb.r.IntN(4) == 0 && strings.Contains(m.kind, "cmp") { // equal to what is compared with
			at := memData + size/4
			if in.Enc == isa.DS {
				at = memData2
				if m.kind == "cmpst" {
					at = memData
				}
			}
			v = uint64(mb.v(at)[i]) | uint64(mb.v(at + 1)[i])<<32
		}
		for k := range size {
			model.at(want[i], i)[k] = byte(v >> (8 * k))
		}
	}
	mb.load(model)
}

// compare executes an instruction and compares registers and memory with
// what apply makes of those before it.
func (mb *memBench) compare(t *testing.T, in *isa.Inst, o *op, m *memName, want []place, apply func(model *memModel, rows []lanes, exec uint64)) {
	t.Helper()
	w := mb.w
	model := mb.model()
	before := append([]lanes(nil), w.rows...)
	s, exec := w.s, w.exec
	o.run(w, o)
	if w.err != nil {
		t.Errorf("%v %v: %v", w.arch, in.String(), w.err)
		return
	}
	rows := append([]lanes(nil), before...)
	apply(model, rows, exec)
	for v := range 32 {
		for i := range w.n {
			if got, wants := mb.v(v)[i], rows[firstVGPR+v][i]; got != wants && !m.bothNaN(got, wants, mb, rows, in, i) {
				t.Errorf("%v %v: exec %x, lane %d at %+v: v%d: got %08x, want %08x, was %08x", w.arch, in.String(), exec, i, want[i], v, got, wants, before[firstVGPR+v][i])
				return
			}
		}
	}
	if w.s != s || w.exec != exec {
		t.Errorf("%v %v: scalar registers changed", w.arch, in.String())
	}
	if got := mb.model(); !got.equal(model) && !m.equalNaNs(got, model, want, exec) {
		t.Errorf("%v %v: exec %x: memory is not as it should be%s", w.arch, in.String(), exec, difference(got, model, want, exec))
	}
	proved(w.arch, in.Enc, in.Name)
}

// load sets the memory to the model's.
func (mb *memBench) load(m *memModel) {
	for i, r := range mb.buffers {
		copy(r.data, m.buffers[i])
	}
	copy(mb.w.g.lds.data, m.lds)
	for lane, b := range m.scratch {
		for k, x := range b {
			mb.w.scratch.data[k*mb.w.n+lane] = x
		}
	}
}

// apply does to the model and the registers what the instruction does: data
// and second are the rows of its operands, dst of its result or -1.
func (m *memName) apply(model *memModel, rows []lanes, want []place, exec uint64, n, data, second, dst int) {
	size := m.bits / 8
	word := func(row, i int) uint64 {
		v := uint64(rows[row][i])
		if size == 8 {
			v |= uint64(rows[row+1][i]) << 32
		}
		return v
	}
	for i := range n {
		if exec>>i&1 == 0 {
			continue
		}
		at := model.at(want[i], i)[:size]
		switch m.kind {
		case "load":
			m.loadTo(rows, dst, i, at)
		case "store":
			for k := range size {
				reg, bit := data+k/4, 8*(k%4)
				if m.hi {
					bit += 16
				}
				at[k] = byte(rows[reg][i] >> bit)
			}
		default:
			var old uint64
			for k := range size {
				old |= uint64(at[k]) << (8 * k)
			}
			v := m.atomicResult(old, word(data, i), word(second, i))
			for k := range size {
				at[k] = byte(v >> (8 * k))
			}
			if dst >= 0 {
				rows[dst][i] = uint32(old)
				if size == 8 {
					rows[dst+1][i] = uint32(old >> 32)
				}
			}
		}
	}
}

// loadTo puts the bytes of a load into a lane's registers.
func (m *memName) loadTo(rows []lanes, dst, i int, at []byte) {
	if len(at) >= 4 {
		for k := 0; k < len(at); k += 4 {
			rows[dst+k/4][i] = binary.LittleEndian.Uint32(at[k:])
		}
		return
	}
	var v int64
	for k := len(at) - 1; k >= 0; k-- {
		v = v<<8 | int64(at[k])
	}
	if m.typ == 'i' && v >= 1<<(m.bits-1) {
		v -= 1 << m.bits
	}
	old := rows[dst][i]
	switch {
	case m.hi:
		rows[dst][i] = old%65536 + uint32(uint16(v))*65536
	case m.d16:
		rows[dst][i] = old/65536*65536 + uint32(uint16(v))
	default:
		rows[dst][i] = uint32(v)
	}
}

// bothNaN reports whether a returned float is a NaN, as it should be: an
// earlier lane's result is read back where lanes meet.
func (m *memName) bothNaN(got, want uint32, mb *memBench, rows []lanes, in *isa.Inst, i int) bool {
	if m.typ != 'f' && m.typ != 'p' || in.NDst == 0 {
		return false
	}
	switch {
	case m.typ == 'p':
		return pkSame(uint64(got), uint64(want))
	case m.bits == 32:
		return single.isNaN(uint64(got)) && single.isNaN(uint64(want))
	}
	row := int(in.Dst[0].Reg)
	g := uint64(mb.v(row)[i]) | uint64(mb.v(row + 1)[i])<<32
	x := uint64(rows[firstVGPR+row][i]) | uint64(rows[firstVGPR+row+1][i])<<32
	return double.isNaN(g) && double.isNaN(x)
}

func pkSame(got, want uint64) bool {
	for _, s := range []uint{0, 16} {
		g, w := got>>s&0xffff, want>>s&0xffff
		if g != w && !(half.isNaN(g) && half.isNaN(w)) {
			return false
		}
	}
	return true
}

// equalNaNs compares memory with one NaN as good as another.
func (m *memName) equalNaNs(got, want *memModel, at []place, exec uint64) bool {
	if m.typ != 'f' && m.typ != 'p' {
		return false
	}
	size := m.bits / 8
	for i, p := range at {
		if exec>>i&1 == 0 {
			continue
		}
		var g, w uint64
		gb, wb := got.at(p, i), want.at(p, i)
		for k := range size {
			g |= uint64(gb[k]) << (8 * k)
			w |= uint64(wb[k]) << (8 * k)
		}
		f := map[int]ieee{32: single, 64: double}[m.bits]
		if m.typ == 'p' && pkSame(g, w) || m.typ == 'f' && f.isNaN(g) && f.isNaN(w) {
			copy(gb[:size], wb[:size])
		}
	}
	return got.equal(want)
}

// difference names a lane whose place differs.
func difference(got, want *memModel, at []place, exec uint64) string {
	for i, p := range at {
		if g, w := got.at(p, i), want.at(p, i); exec>>i&1 != 0 && !bytes.Equal(g[:min(16, len(g))], w[:min(16, len(w))]) {
			return ": at lane " + strconv.Itoa(i) + "'s got " + strconv.Quote(string(g[:min(16, len(g))])) + ", want " + strconv.Quote(string(w[:min(16, len(w))]))
		}
	}
	return " where no lane went"
}

// TestBufferRange has raw buffers, of which a load outside gives zero and a
// store or atomic outside does nothing, and structured ones, where the index
// decides.
func TestBufferRange(t *testing.T) {
	for _, arch := range allArchs {
		for _, op := range knownOps(arch) {
			m, ok := parseMemory(op.Name)
			if !ok || op.Enc != isa.MUBUF {
				continue
			}
			for k, f := range bufferForms()[1:3] { // offen, idxen
				mb := newMemBench(t, arch, uint64(op.Opcode))
				words := f.words(arch, uint32(op.Opcode), false)
				in, err := isa.Decode(arch, dwords(words...), 0)
				if err != nil || in.Name != op.Name {
					continue // LLVM has it return always
				}
				o, err := mb.c.try(&in)
				if err != nil {
					continue
				}
				size := m.bits / 8
				base := mb.buffers[0].base
				s := mb.w.s[memRsrc : memRsrc+4]
				s[0], s[1], s[2] = uint32(base), uint32(base>>32), 400
				mb.w.s[memSoff] = 16
				want := make([]place, mb.w.n)
				var outside uint64
				for i, n := range mb.r.Perm(mb.w.n) {
					if k == 0 {
						off := 320 + n*16/size*size // offset:4 and soffset:16 more
						mb.v(memAddr)[i] = uint32(off)
						want[i] = place{'g', base + uint64(off) + 20}
						if off+20+size > 400 {
							outside |= 1 << i
						}
						continue
					}
					s[1], s[2] = uint32(base>>32)|20<<16, 20
					mb.v(memAddr)[i] = uint32(n)
					want[i] = place{'g', base + uint64(n)*20 + 4}
					if n >= 20 {
						outside |= 1 << i
					}
				}
				mb.compare(t, &in, &o, &m, want, func(model *memModel, rows []lanes, exec uint64) {
					dst, second := -1, firstVGPR+memData+m.bits/32
					if in.NDst > 0 {
						dst = firstVGPR + int(in.Dst[0].Reg)
					}
					m.apply(model, rows, want, exec&^outside, mb.w.n, firstVGPR+memData, second, dst)
					for i := range mb.w.n {
						if dst < 0 || exec&outside>>i&1 == 0 {
							continue
						}
						switch {
						case m.hi:
							rows[dst][i] %= 1 << 16
						case m.d16:
							rows[dst][i] -= rows[dst][i] % (1 << 16)
						default:
							for r := range (size + 3) / 4 {
								rows[dst+r][i] = 0
							}
						}
					}
				})
				if t.Failed() {
					return
				}
			}
		}
	}
}

// TestMemoryHarness holds the harness of these tests to finding what is
// wrong: a type that is read wrongly, an operation, a half.
func TestMemoryHarness(t *testing.T) {
	for i, wrong := range []func(m *memName) bool{
		func(m *memName) bool { m.bits /= 2; return m.kind == "store" && m.bits == 16 },
		func(m *memName) bool { m.typ = 'i'; return m.kind == "load" && m.bits == 8 && !m.d16 },
		func(m *memName) bool { m.hi = false; return m.kind == "store" && m.d16 },
		func(m *memName) bool { m.hi, m.d16 = false, false; return m.kind == "load" && m.bits == 16 },
		func(m *memName) bool { old := m.kind; m.kind = "max"; return old == "min" },
		func(m *memName) bool { old := m.kind; m.kind = "inc"; return old == "add" },
		func(m *memName) bool { old := m.kind; m.kind = "cmpst"; return old == "cmpswap" && m.typ != 'f' },
		func(m *memName) bool { return false },
	} {
		tried := false
		for _, op := range knownOps(isa.GFX90A) {
			m, ok := parseMemory(op.Name)
			if !ok || op.Enc != isa.GLOBAL || m.tid {
				continue
			}
			right := m
			if !wrong(&m) || m == right {
				continue
			}
			tried = true
			if !fails(func(t *testing.T) { checkMemory(t, isa.GFX90A, op, &m, &flatForms(isa.GLOBAL)[0]) }) {
				t.Errorf("case %d: the harness passes %s read as %+v", i, op.Name, m)
			}
			break
		}
		if !tried && i < 7 {
			t.Errorf("case %d: no instruction for it", i)
		}
	}
}
