package sim

import (
	"encoding/binary"
	"math"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
)

// An rmw is a read-modify-write operation on 4 or 8 bytes. cas is set
// where it takes a second operand, most often a value to compare with.
type rmw struct {
	size int
	cas  bool
	swap bool // the new value does not depend on the old
	f    func(old, v, cmp uint64) uint64
}

func rmw32(f func(old, v uint32) uint32) rmw {
	return rmw{size: 4, f: func(old, v, _ uint64) uint64 { return uint64(f(uint32(old), uint32(v))) }}
}

func rmw64(f func(old, v uint64) uint64) rmw {
	return rmw{size: 8, f: func(old, v, _ uint64) uint64 { return f(old, v) }}
}

func compareSwap(old, v, cmp uint64) uint64 {
	if old == cmp {
		return v
	}
	return old
}

// The compare-and-swap of floats holds zeros of both signs equal and no NaN
// equal to anything. Denormals are compared as they are.
func compareSwapF32(old, v, cmp uint64) uint64 {
	if math.Float32frombits(uint32(old)) == math.Float32frombits(uint32(cmp)) {
		return v
	}
	return old
}

func compareSwapF64(old, v, cmp uint64) uint64 {
	if math.Float64frombits(old) == math.Float64frombits(cmp) {
		return v
	}
	return old
}

// maskOr replaces the bits of mask by those of v.
func maskOr(old, mask, v uint64) uint64 { return old&^mask | v }

// subOrAdd subtracts by where it can and else adds up.
func subOrAdd(old, by, up uint64) uint64 {
	if uint32(old) >= uint32(by) {
		return uint64(uint32(old) - uint32(by))
	}
	return uint64(uint32(old) + uint32(up))
}

// condExchange replaces each dword of which bit 31 of v's is set, by v's
// other bits.
func condExchange(old, v uint64) uint64 {
	for _, shift := range []uint{0, 32} {
		if d := uint32(v >> shift); d>>31 != 0 {
			old = old&^(0xffffffff<<shift) | uint64(d&0x7fffffff)<<shift
		}
	}
	return old
}

// inc and dec wrap at v.
func inc[T uint32 | uint64](old, v T) T {
	if old >= v {
		return 0
	}
	return old + 1
}

func dec[T uint32 | uint64](old, v T) T {
	if old == 0 || old > v {
		return v
	}
	return old - 1
}

func subClamp(old, v uint32) uint32 { return old - min(old, v) }

// addF32Flushed is the sum of gfx90a's memory atomics, which flush subnormals
// whatever the mode; gfx11's keep them, and so do those on f64 and packed f16.
// Source: AMD's ISA guides for CDNA, section on flat atomics; LLVM's feature
// memory-atomic-fadd-f32-denormal-support.
func addF32Flushed(a, b uint32) uint32 {
	return (arith.DefaultMode &^ (arith.DenormIn32 | arith.DenormOut32)).AddF32(a, b)
}

func addPkF16(old, v uint32) uint32 {
	return uint32(arith.AddF16(uint16(old), uint16(v))) | uint32(arith.AddF16(uint16(old>>16), uint16(v>>16)))<<16
}

func minS32(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }
func maxS32(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }
func minS64(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) }
func maxS64(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }

// atomicOps are the operations by the names that LDS instructions of gfx9
// and all instructions of gfx11 use, without the type.
var atomicOps = map[string]rmw{
	"swap_b32":    {size: 4, swap: true, f: func(_, v, _ uint64) uint64 { return v }},
	"cmpswap_b32": {size: 4, cas: true, f: compareSwap},
	"add_u32":     rmw32(func(a, b uint32) uint32 { return a + b }),
	"sub_u32":     rmw32(func(a, b uint32) uint32 { return a - b }),
	"rsub_u32":    rmw32(func(a, b uint32) uint32 { return b - a }),
	"csub_u32":    rmw32(subClamp),
	"min_i32":     rmw32(minS32),
	"min_u32":     rmw32(func(a, b uint32) uint32 { return min(a, b) }),
	"max_i32":     rmw32(maxS32),
	"max_u32":     rmw32(func(a, b uint32) uint32 { return max(a, b) }),
	"and_b32":     rmw32(func(a, b uint32) uint32 { return a & b }),
	"or_b32":      rmw32(func(a, b uint32) uint32 { return a | b }),
	"xor_b32":     rmw32(func(a, b uint32) uint32 { return a ^ b }),
	"inc_u32":     rmw32(inc[uint32]),
	"dec_u32":     rmw32(dec[uint32]),
	"add_f32":     rmw32(arith.AddF32),
	"min_f32":     rmw32(arith.MinF32),
	"max_f32":     rmw32(arith.MaxF32),
	"pk_add_f16":  rmw32(addPkF16),
	"swap_b64":    {size: 8, swap: true, f: func(_, v, _ uint64) uint64 { return v }},
	"cmpswap_b64": {size: 8, cas: true, f: compareSwap},
	"add_u64":     rmw64(func(a, b uint64) uint64 { return a + b }),
	"sub_u64":     rmw64(func(a, b uint64) uint64 { return a - b }),
	"rsub_u64":    rmw64(func(a, b uint64) uint64 { return b - a }),
	"min_i64":     rmw64(minS64),
	"min_u64":     rmw64(func(a, b uint64) uint64 { return min(a, b) }),
	"max_i64":     rmw64(maxS64),
	"max_u64":     rmw64(func(a, b uint64) uint64 { return max(a, b) }),
	"and_b64":     rmw64(func(a, b uint64) uint64 { return a & b }),
	"or_b64":      rmw64(func(a, b uint64) uint64 { return a | b }),
	"xor_b64":     rmw64(func(a, b uint64) uint64 { return a ^ b }),
	"inc_u64":     rmw64(inc[uint64]),
	"dec_u64":     rmw64(dec[uint64]),
	"add_f64":     rmw64(arith.AddF64),
	"min_f64":     rmw64(arith.MinF64),
	"max_f64":     rmw64(arith.MaxF64),

	"cmpswap_f32": {size: 4, cas: true, f: compareSwapF32},
	"cmpswap_f64": {size: 8, cas: true, f: compareSwapF64},
	// Of LDS, as AMD's ISA guides for Vega and RDNA 3 define them.
	"mskor_b32":      {size: 4, cas: true, f: maskOr},
	"mskor_b64":      {size: 8, cas: true, f: maskOr},
	"wrap_b32":       {size: 4, cas: true, f: subOrAdd},
	"condxchg32_b64": rmw64(condExchange),
}

// globalAtomics are the operations of global_, flat_ and buffer_atomic by
// name. gfx9 and gfx10 leave the type out, gfx11 names it.
var globalAtomics = globalAtomicTable()

func globalAtomicTable() map[string]rmw {
	t := map[string]rmw{}
	for name, a := range atomicOps {
		t[name] = a
	}
	for short, long := range map[string]string{
		"swap": "swap_b", "cmpswap": "cmpswap_b", "add": "add_u", "sub": "sub_u", "smin": "min_i", "umin": "min_u",
		"smax": "max_i", "umax": "max_u", "and": "and_b", "or": "or_b", "xor": "xor_b", "inc": "inc_u", "dec": "dec_u",
		"fmin": "min_f", "fmax": "max_f",
	} {
		t[short] = atomicOps[long+"32"]
		t[short+"_x2"] = atomicOps[long+"64"]
	}
	t["csub"] = atomicOps["csub_u32"]
	t["fcmpswap"], t["fcmpswap_x2"] = atomicOps["cmpswap_f32"], atomicOps["cmpswap_f64"]
	return t
}

// atomicGlobal executes lane i's atomic on global memory.
func (g *group) atomicGlobal(w *wave, o *op, r *region, i int) {
	g.touch(r)
	g.atomicAt(w, o, r, i, g.ea[i]-r.base)
}

// atomicAt executes lane i's atomic on the bytes at off of r.
func (g *group) atomicAt(w *wave, o *op, r *region, i int, off uint64) {
	m := o.mem
	a := &m.atom
	p := r.data[off:]
	var old, v, cmp uint64
	le := binary.LittleEndian
	word := func(row int32) uint64 {
		if row < 0 {
			return 0
		}
		if a.size == 4 {
			return uint64(w.rows[row][i])
		}
		return uint64(w.rows[row][i]) | uint64(w.rows[row+1][i])<<32
	}
	if a.size == 4 {
		old = uint64(le.Uint32(p))
	} else {
		old = le.Uint64(p)
	}
	v = word(m.data)
	if a.cas {
		if m.data2 >= 0 {
			cmp = word(m.data2)
		} else {
			cmp = word(m.data + int32(a.size/4))
		}
	}
	if g.checks {
		g.atomicShadow(w, o, r, i, off)
	}
	x := a.f(old, v, cmp)
	if a.size == 4 {
		le.PutUint32(p, uint32(x))
	} else {
		le.PutUint64(p, x)
	}
	if m.dst >= 0 {
		w.rows[m.dst][i] = uint32(old)
		if a.size == 8 {
			w.rows[m.dst+1][i] = uint32(old >> 32)
		}
	}
}
