package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// ldsMemory is the LDS of a work-group, a region at address 0.
type ldsMemory struct {
	region
}

func (m *ldsMemory) init(l *launch) {
	data, def := m.data, m.def
	if cap(data) < l.lds {
		data = make([]byte, l.lds)
	}
	if l.checks && cap(def) < l.lds {
		def = make([]byte, l.lds)
	}
	m.region = region{name: "shared memory", space: "lds", data: data[:l.lds], live: true}
	if l.checks {
		m.def = def[:l.lds]
	}
}

// reset makes the contents those of memory that nobody wrote.
func (m *ldsMemory) reset() {
	fillPoison(m.data)
	clear(m.def)
}

// fillPoison fills b with the bytes of poison.
func fillPoison(b []byte) {
	for i := range b {
		b[i] = byte(uint32(poison) >> (8 * (i & 3)))
	}
}

// A dsOp is what a DS instruction does beside loads and stores of one
// address.
type dsOp struct {
	offset uint32    // of the address
	off    [2]uint64 // of the two addresses
	second *op       // access to the second address
}

// sharedFlat executes a flat access to LDS, addresses in g.ea.
func (g *group) sharedFlat(w *wave, o *op, mask uint64) { g.shared(w, o, mask) }

// shared executes an access to LDS by the lanes of mask, whose addresses
// are in g.ea.
func (g *group) shared(w *wave, o *op, mask uint64) {
	m, r := o.mem, &g.lds.region
	if g.checks {
		g.checkAddress(w, o, mask)
		g.checkAlignment(w, o, r, mask)
		if m.kind != memLoad {
			g.effect(w, o)
		}
	}
	g.countConflicts(w, m, mask)
	size := uint64(m.size)
	inside := mask
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		if a := g.ea[i]; a > uint64(len(r.data)) || size > uint64(len(r.data))-a {
			inside &^= 1 << i
			g.outOfBoundsAt(w, o, i, r)
			g.poisonResult(w, m, i)
		}
	}
	if inside == 0 {
		return
	}
	switch m.kind {
	case memLoad:
		g.load(w, o, r, inside, g.sequence(m, inside))
	case memStore:
		g.store(w, o, r, inside, g.sequence(m, inside))
	case memAtomic:
		for x := inside; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 63
			g.atomicAt(w, o, r, i, g.ea[i])
		}
	}
}

// countConflicts counts the extra passes that lanes need whose dwords lie
// in one of the 32 banks. The model takes 32 lanes at a time; lanes of one
// dword share a pass.
func (g *group) countConflicts(w *wave, m *memOp, mask uint64) {
	if m.size == 4 && g.consecutive(w, mask) {
		return
	}
	for half := 0; half < w.n; half += 32 {
		var table [256]uint64 // dword plus one, hashed: at most 32 lanes have at most 5
		var n [32]uint8
		worst := uint8(1)
		for x := mask >> half & 0xffffffff; x != 0; x &= x - 1 {
			i := bits.TrailingZeros64(x) & 31
			for d := g.ea[half+i]>>2 + 1; d <= (g.ea[half+i]+uint64(m.size)-1)>>2+1; d++ {
				h := uint8(d * 0x9e3779b97f4a7c15 >> 56)
				for table[h] != d && table[h] != 0 {
					h++
				}
				if table[h] == d {
					continue
				}
				table[h] = d
				b := (d - 1) & 31
				n[b]++
				worst = max(worst, n[b])
			}
		}
		// An access of more than a dword takes a pass for each dword anyway.
		g.counts.LDSConflicts += int64(max(0, int(worst)-max(1, m.size/4)))
	}
}

// consecutive reports whether lanes access one dword after another, or all
// the same one.
func (g *group) consecutive(w *wave, mask uint64) bool {
	first := bits.TrailingZeros64(mask) & 63
	a0 := g.ea[first]
	next, same := a0&3 == 0, true
	for x := mask; x != 0; x &= x - 1 {
		i := bits.TrailingZeros64(x) & 63
		next = next && g.ea[i] == a0+4*uint64(i-first)
		same = same && g.ea[i] == a0
	}
	return next || same
}

// gfx11 renames the LDS instructions.
func ds9Name(name string) string {
	name = strings.TrimPrefix(name, "ds_")
	for _, p := range [][2]string{
		{"load_2addr_stride64_", "read2st64_"}, {"load_2addr_", "read2_"}, {"store_2addr_stride64_", "write2st64_"}, {"store_2addr_", "write2_"},
		{"storexchg_2addr_stride64_rtn_", "wrxchg2st64_rtn_"}, {"storexchg_2addr_rtn_", "wrxchg2_rtn_"}, {"storexchg_rtn_", "wrxchg_rtn_"},
		{"load_", "read_"}, {"store_", "write_"},
	} {
		if rest, ok := strings.CutPrefix(name, p[0]); ok {
			return p[1] + rest
		}
	}
	return name
}

// dsInst resolves a DS instruction.
func (c *compiler) dsInst(in *isa.Inst, o *op) error {
	if in.Has(isa.GDS) {
		return errors.New("global data share is not interpreted")
	}
	name := ds9Name(in.Name)
	m := &memOp{data: -1, data2: -1, dst: -1, addr: src{kind: srcNone}, base: src{kind: srcNone}, ds: &dsOp{offset: uint32(in.Offset)}}
	o.mem = m
	if in.NDst > 0 {
		m.dst = c.rowOf(&in.Dst[0])
		o.dst, o.final = m.dst, m.dst
	}
	var rows []int32
	for i := range in.Src[:in.NSrc] {
		s := &in.Src[i]
		if s.Kind != isa.VGPR && s.Kind != isa.AGPR {
			continue
		}
		rows = append(rows, c.rowOf(s))
	}
	need := func(n int) error {
		if len(rows) < n {
			return fmt.Errorf("has %d register operands, want %d", len(rows), n)
		}
		return nil
	}
	setAddr := func() { m.addr = src{kind: srcRow, reg: rows[0]} }
	switch name {
	case "nop":
		o.run = nop
		return nil
	case "swizzle_b32", "permute_b32", "bpermute_b32":
		o.src[0] = src{kind: srcRow, reg: rows[0]}
		if name == "swizzle_b32" {
			o.run = dsSwizzle
			// The pattern is the offset field.
			o.imm = in.Offset
			if o.imm == 0 {
				o.imm = in.Imm
			}
			return nil
		}
		if err := need(2); err != nil {
			return err
		}
		o.src[1] = src{kind: srcRow, reg: rows[1], slot: 1}
		o.imm = in.Offset
		o.run = dsPermute
		if name == "bpermute_b32" {
			o.run = dsBpermute
		}
		return nil
	case "append", "consume":
		m.size, m.kind, m.fold = 4, memAtomic, accessAtomic
		o.run = dsAppend
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "read_addtid_"); ok && rest == "b32" {
		m.kind, m.size, m.fold = memLoad, 4, accessLoad
		o.run = dsAccess
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "write_addtid_"); ok && rest == "b32" {
		m.kind, m.size, m.fold, m.data = memStore, 4, accessStore, rows[0]
		o.run = dsAccess
		return nil
	}
	if err := need(1); err != nil {
		return err
	}
	setAddr()
	two := func(rest string, stride uint64) error {
		size := map[string]uint64{"b32": 4, "b64": 8}[rest]
		if size == 0 {
			return errors.New("not interpreted")
		}
		m.size = int(size)
		m.ds.off = [2]uint64{uint64(in.Offset0) * size * stride, uint64(in.Offset1) * size * stride}
		return nil
	}
	for _, p := range []struct {
		prefix string
		stride uint64
		kind   memKind
	}{{"read2st64_", 64, memLoad}, {"read2_", 1, memLoad}, {"write2st64_", 64, memStore}, {"write2_", 1, memStore}, {"wrxchg2st64_rtn_", 64, memAtomic}, {"wrxchg2_rtn_", 1, memAtomic}} {
		rest, ok := strings.CutPrefix(name, p.prefix)
		if !ok {
			continue
		}
		m.kind = p.kind
		m.fold = accessKind(p.kind)
		if err := two(rest, p.stride); err != nil {
			return err
		}
		if p.kind != memLoad {
			if err := need(3); err != nil {
				return err
			}
			m.data, m.data2 = rows[1], rows[2]
		}
		if p.kind == memAtomic {
			m.atom = atomicOps["swap_"+rest]
		}
		second := *m
		if m.dst >= 0 {
			second.dst += int32(m.size / 4)
		}
		second.data, second.data2 = m.data2, -1
		m.data2 = -1
		m.ds.second = &op{in: in, mem: &second, class: o.class, dst: max(second.dst, tmpOut), final: max(second.dst, tmpOut), target: -1}
		o.run = dsAccess2
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "read_"); ok {
		e, ok := elements[rest]
		if !ok {
			return errors.New("not interpreted")
		}
		m.kind, m.size, m.signed, m.part, m.fold = memLoad, e.size, e.signed, e.part, accessLoad
		o.run = dsAccess
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "write_"); ok {
		e, ok := elements[rest]
		if !ok {
			return errors.New("not interpreted")
		}
		if err := need(2); err != nil {
			return err
		}
		m.kind, m.size, m.part, m.fold, m.data = memStore, e.size, e.part, accessStore, rows[1]
		o.run = dsAccess
		return nil
	}
	// Atomics: NAME_TYPE or NAME_rtn_TYPE.
	plain := strings.Replace(name, "_rtn_", "_", 1)
	swapped := false // data0 is the value to compare with
	switch {
	case strings.HasPrefix(plain, "cmpst_"):
		plain, swapped = "cmpswap_"+plain[len("cmpst_"):], true
	case strings.HasPrefix(plain, "cmpstore_"):
		plain = "cmpswap_" + plain[len("cmpstore_"):]
	case strings.HasPrefix(plain, "wrxchg_"):
		plain = "swap_" + plain[len("wrxchg_"):]
	}
	a, ok := atomicOps[plain]
	if !ok {
		return errors.New("not interpreted")
	}
	if err := need(2); err != nil {
		return err
	}
	m.kind, m.size, m.atom, m.fold, m.data = memAtomic, a.size, a, accessAtomic, rows[1]
	if a.cas {
		if err := need(3); err != nil {
			return err
		}
		m.data2 = rows[2]
		if swapped {
			m.data, m.data2 = rows[2], rows[1]
		}
	}
	o.run = dsAccess
	return nil
}

// dsAddresses puts the lanes' addresses, off bytes further, into g.ea. An
// instruction without address register takes M0 and the lane's number.
func (w *wave) dsAddresses(o *op, off uint64) {
	ea := &w.g.ea
	if o.mem.addr.kind == srcNone {
		base := uint64(w.s[regM0]&0xffff) + off
		for i := range ea[:w.n] {
			ea[i] = base + uint64(i)*4
		}
		return
	}
	a := w.row(&o.mem.addr)
	for i := range ea[:w.n] {
		ea[i] = uint64(a[i] + uint32(off)) // wraps: compilers make use of it
	}
}

func dsAccess(w *wave, o *op) {
	m := o.mem
	if w.exec == 0 || m.addr.kind == srcRow && w.g.sharedFast(w, o, &w.rows[m.addr.reg], m.ds.offset) {
		return
	}
	w.dsAddresses(o, uint64(o.mem.ds.offset))
	w.g.shared(w, o, w.exec)
}

// dsAccess2 executes read2 and write2 as two accesses.
func dsAccess2(w *wave, o *op) {
	if w.exec == 0 {
		return
	}
	// The first result may overwrite the address.
	m := o.mem
	row := w.row(&m.addr)
	var copied lanes
	if m.overwritesAddress() {
		copied = *row
		row = &copied
	}
	for k, o := range [2]*op{o, m.ds.second} {
		w.dsAt(o, row, uint32(m.ds.off[k]))
	}
}

// dsAt executes an access to the addresses in row, off bytes further.
func (w *wave) dsAt(o *op, row *lanes, off uint32) {
	g := w.g
	if g.sharedFast(w, o, row, off) {
		return
	}
	for i, a := range row[:w.n] {
		g.ea[i] = uint64(a + off)
	}
	g.shared(w, o, w.exec)
}

// dsSwizzle moves data between lanes by a fixed pattern, see swizzleSource.
func dsSwizzle(w *wave, o *op) {
	s := *w.row(&o.src[0])
	d := w.out(o)
	p := uint32(o.imm) & 0xffff
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		j := swizzleSource(p, i)
		if w.exec>>j&1 != 0 {
			d[i] = s[j]
		} else {
			d[i] = 0
		}
	}
	w.crossDefine(o, o.src[0].reg, func(i int) int { return swizzleSource(p, i) })
}

// swizzleSource is the lane that lane i reads under pattern p, in its half of
// 32 lanes. The pattern's highest bits select the bit-reversal of FFTs, a
// rotation, a permutation of each four lanes, or and, or and xor masks.
// Source: DS_SWIZZLE_B32 in AMD's ISA guides for CDNA 3, RDNA 2 and RDNA 3.
func swizzleSource(p uint32, i int) int {
	half, i := i&32, i&31
	mask := int(p & 31)
	switch {
	case p >= 0xe000:
		j := int(bits.Reverse32(uint32(i))>>27) >> bits.OnesCount32(p&31)
		return half | j | i&mask
	case p >= 0xc000:
		rotate := int(p >> 5 & 31)
		if p>>10&1 != 0 {
			rotate = -rotate
		}
		return half | i&mask | (i+rotate)&31&^mask
	case p&0x8000 != 0:
		return half | i&^3 | int(p>>(2*(i&3))&3)
	}
	or, xor := int(p>>5&31), int(p>>10&31)
	return half | (i&mask | or) ^ xor
}

// dsBpermute fetches from the lane that each lane names; lanes that are
// inactive give zero.
func dsBpermute(w *wave, o *op) {
	addr, s := *w.row(&o.src[0]), *w.row(&o.src[1])
	d := w.out(o)
	source := func(i int) int { return w.permuteLane(i, addr[i]+uint32(o.imm)) }
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		if j := source(i); w.exec>>j&1 != 0 {
			d[i] = s[j]
		} else {
			d[i] = 0
		}
	}
	w.crossDefine(o, o.src[1].reg, source)
}

// permuteLane is the lane that a permute address names. gfx10 and later
// permute within 32 lanes.
func (w *wave) permuteLane(i int, addr uint32) int {
	j := int(addr >> 2)
	if w.n == 64 && w.arch != isa.GFX90A {
		return i&^31 | j&31
	}
	return j & (w.n - 1)
}

// dsPermute sends to the lane that each lane names; of several the highest
// wins, and lanes that nobody names get zero.
func dsPermute(w *wave, o *op) {
	addr, s := *w.row(&o.src[0]), *w.row(&o.src[1])
	var from [64]int
	for i := range from {
		from[i] = -1
	}
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		from[w.permuteLane(i, addr[i]+uint32(o.imm))] = i
	}
	d := w.out(o)
	for m := w.exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		d[i] = 0
		if j := from[i]; j >= 0 {
			d[i] = s[j]
		}
	}
	w.crossDefine(o, o.src[1].reg, func(i int) int {
		if from[i] < 0 {
			return 64
		}
		return from[i]
	})
}

// dsAppend executes ds_append and ds_consume: the counter at M0 plus the
// offset moves by the number of active lanes, which all get its old value.
// AMD's guides speak of M0.base, the high half, which is where the base of
// GDS is; for LDS LLVM has the pointer in M0 as it is, and its word counts for
// compiled code (SelectDSAppendConsume; llvm.amdgcn.ds.append.ll).
func dsAppend(w *wave, o *op) {
	g, m := w.g, o.mem
	if w.exec == 0 {
		return
	}
	addr := uint64(w.s[regM0]&0xffff) + uint64(m.ds.offset)
	r := &g.lds.region
	i := w.firstLane()
	g.ea[i] = addr
	if addr+4 > uint64(len(r.data)) {
		g.outOfBoundsAt(w, o, i, r)
		return
	}
	n := uint32(bits.OnesCount64(w.exec))
	old := binary.LittleEndian.Uint32(r.data[addr:])
	v := old + n
	if strings.HasSuffix(o.in.Name, "consume") {
		v = old - n
	}
	if g.checks {
		g.raceAtomic(w, o, r, i, addr, 4)
		if w.shadow.s[regM0]&0xffff != 0xffff {
			g.uninit(w, o, i, "address", "sgpr", "the address is computed from a value that nobody wrote")
		}
		// A counter that nobody set is not set by counting.
		if r.defined(addr, 4) {
			w.define(o.final, w.exec)
		} else {
			w.setShadow(o.final, halves{}, w.exec)
			w.loadedFrom(o.final, w.exec, r.name, r.base, 0)
			clear(r.def[addr : addr+4]) // bytes carry into each other
		}
	}
	binary.LittleEndian.PutUint32(r.data[addr:], v)
	d := w.out(o)
	for x := w.exec; x != 0; x &= x - 1 {
		d[bits.TrailingZeros64(x)&63] = old
	}
}
