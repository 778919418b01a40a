package sim

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/arith"
	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// A dppMove is a DPP control: its number, the text that LLVM has for it, and
// the lanes that a wave's lanes read, made by moving lists about.
type dppMove struct {
	ctrl uint32
	text string
	move func(wave []int) []int
}

// eachRow applies f to the lists of n lanes that make up a wave.
func eachRow(n int, f func(row []int) []int) func([]int) []int {
	return func(wave []int) []int {
		var out []int
		for row := range slices.Chunk(wave, n) {
			out = append(out, f(slices.Clone(row))...)
		}
		return out
	}
}

func none(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = -1
	}
	return l
}

func reversed(l []int) []int { slices.Reverse(l); return l }

func dppMoves(arch isa.Arch) []dppMove {
	all := []dppMove{
		{0x140, "row_mirror", eachRow(16, reversed)},
		{0x141, "row_half_mirror", eachRow(8, reversed)},
	}
	for _, p := range [][4]uint32{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 3, 3, 3}, {0, 0, 2, 2}, {3, 1, 0, 2}} {
		all = append(all, dppMove{p[0] | p[1]<<2 | p[2]<<4 | p[3]<<6, fmt.Sprintf("quad_perm:[%d,%d,%d,%d]", p[0], p[1], p[2], p[3]),
			eachRow(4, func(q []int) []int { return []int{q[p[0]], q[p[1]], q[p[2]], q[p[3]]} })})
	}
	for k := 1; k < 16; k++ {
		all = append(all,
			dppMove{0x100 + uint32(k), fmt.Sprintf("row_shl:%d", k), eachRow(16, func(r []int) []int { return append(r[k:], none(k)...) })},
			dppMove{0x110 + uint32(k), fmt.Sprintf("row_shr:%d", k), eachRow(16, func(r []int) []int { return append(none(k), r[:16-k]...) })},
			dppMove{0x120 + uint32(k), fmt.Sprintf("row_ror:%d", k), eachRow(16, func(r []int) []int { return slices.Concat(r[16-k:], r[:16-k]) })})
	}
	share := "row_share"
	if arch == isa.GFX90A {
		share = "row_newbcast"
		all = append(all,
			dppMove{0x130, "wave_shl:1", func(w []int) []int { return append(slices.Clone(w[1:]), -1) }},
			dppMove{0x134, "wave_rol:1", func(w []int) []int { return append(slices.Clone(w[1:]), w[0]) }},
			dppMove{0x138, "wave_shr:1", func(w []int) []int { return append([]int{-1}, w[:63]...) }},
			dppMove{0x13c, "wave_ror:1", func(w []int) []int { return append([]int{w[63]}, w[:63]...) }},
			dppMove{0x142, "row_bcast:15", func(w []int) []int {
				return slices.Concat(none(16), slices.Repeat(w[15:16], 16), slices.Repeat(w[31:32], 16), slices.Repeat(w[47:48], 16))
			}},
			dppMove{0x143, "row_bcast:31", func(w []int) []int { return append(none(32), slices.Repeat(w[31:32], 32)...) }})
	}
	for k := range 16 {
		all = append(all, dppMove{0x150 + uint32(k), fmt.Sprintf("%s:%d", share, k), eachRow(16, func(r []int) []int { return slices.Repeat(r[k:k+1], 16) })})
		if arch != isa.GFX90A {
			all = append(all, dppMove{0x160 + uint32(k), fmt.Sprintf("row_xmask:%d", k), eachRow(16, func(r []int) []int {
				x := slices.Clone(r)
				for b := range 4 { // a bit of the mask swaps neighbouring blocks
					if k>>b&1 == 0 {
						continue
					}
					for i := range x {
						if i>>b&1 == 0 {
							x[i], x[i+1<<b] = x[i+1<<b], x[i]
						}
					}
				}
				return x
			})})
		}
	}
	return all
}

// A dppInst is an instruction to try with DPP: v5 = f(v6 of another lane,
// v7, v8), or a lane mask.
type dppInst struct {
	name  string
	enc   isa.Encoding
	mods  uint32 // bits of the DPP dword, or of the second dword of VOP3
	f     func(a, b, c, old uint32) uint32
	mask  bool // the result is a lane mask, in vcc, or s[10] of VOP3
	archs []isa.Arch
}

func f32bits(f func(a, b, c float32) float32) func(a, b, c, old uint32) uint32 {
	return func(a, b, c, _ uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b), math.Float32frombits(c)))
	}
}

var dppInsts = []dppInst{
	{name: "v_mov_b32", enc: isa.VOP1, f: func(a, _, _, _ uint32) uint32 { return a }},
	{name: "v_bfrev_b32", enc: isa.VOP1, f: func(a, _, _, _ uint32) uint32 {
		var r uint32
		for i := range 32 {
			r |= a >> i & 1 << (31 - i)
		}
		return r
	}},
	{name: "v_subrev_u32", enc: isa.VOP2, f: func(a, b, _, _ uint32) uint32 { return b - a }, archs: []isa.Arch{isa.GFX90A}},
	{name: "v_sub_nc_u32", enc: isa.VOP2, f: func(a, b, _, _ uint32) uint32 { return a - b }, archs: []isa.Arch{isa.GFX1030, isa.GFX1100}},
	{name: "v_sub_f32", enc: isa.VOP2, f: f32bits(func(a, b, _ float32) float32 { return a - b })},
	// -|a| and |b|: neg and abs of source 0, abs of source 1.
	{name: "v_mul_f32", enc: isa.VOP2, mods: 1<<20 | 1<<21 | 1<<23, f: f32bits(func(a, b, _ float32) float32 {
		return -float32(math.Abs(float64(a))) * float32(math.Abs(float64(b)))
	})},
	{name: "v_add_f16", enc: isa.VOP2, f: func(a, b, _, old uint32) uint32 { // of 1 and 2, by sign: see dppValues
		return old&^0xffff | halfSum(a, b)
	}, archs: []isa.Arch{isa.GFX1030, isa.GFX1100}},
	{name: "v_add_f16", enc: isa.VOP2, f: func(a, b, _, _ uint32) uint32 { return halfSum(a, b) }, archs: []isa.Arch{isa.GFX90A}},
	{name: "v_fmac_f32", enc: isa.VOP2, f: func(a, b, _, old uint32) uint32 {
		return f32bits(func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) })(a, b, old, 0)
	}},
	{name: "v_cmp_lt_u32", enc: isa.VOPC, mask: true, f: func(a, b, _, _ uint32) uint32 { return b2u(a < b) }, archs: []isa.Arch{isa.GFX1100}},
	{name: "v_cmp_gt_f32", enc: isa.VOPC, mask: true, mods: 1 << 20, f: func(a, b, _, _ uint32) uint32 {
		return b2u(-math.Float32frombits(a) > math.Float32frombits(b))
	}, archs: []isa.Arch{isa.GFX1100}},
	{name: "v_add3_u32", enc: isa.VOP3, f: func(a, b, c, _ uint32) uint32 { return a + b + c }, archs: []isa.Arch{isa.GFX1100}},
	// Negated source 2, and a result doubled.
	{name: "v_fma_f32", enc: isa.VOP3, mods: 4<<29 | 1<<27, f: f32bits(func(a, b, c float32) float32 {
		return float32(math.FMA(float64(a), float64(b), -float64(c)))
	}), archs: []isa.Arch{isa.GFX1100}},
	{name: "v_sub_nc_u16", enc: isa.VOP3, f: func(a, b, _, old uint32) uint32 { return old&^0xffff | (a-b)&0xffff }, archs: []isa.Arch{isa.GFX1100}},
	{name: "v_cmp_ge_i32", enc: isa.VOP3, mask: true, f: func(a, b, _, _ uint32) uint32 { return b2u(int32(a) >= int32(b)) }, archs: []isa.Arch{isa.GFX1100}},
}

// halfSum adds 1 or -1 and 2 or -2, of which the signs are bit 15.
func halfSum(a, b uint32) uint32 {
	x, y := 1-int(a>>15&1)*2, 2-int(b>>15&1)*4
	if a == 0 { // of an invalid lane
		return b & 0xffff
	}
	return map[int]uint32{3: 0x4200, 1: 0x3c00, -1: 0xbc00, -3: 0xc200}[x+y]
}

// dppWords encodes c with the given DPP dword, of which the low byte is the
// register.
func (c *dppInst) words(arch isa.Arch, src0, ctl uint32) []uint32 {
	for _, op := range knownOps(arch) {
		if op.Name != c.name || op.Enc != c.enc {
			continue
		}
		code := uint32(op.Opcode)
		switch c.enc {
		case isa.VOP1:
			return []uint32{0x7e000000 | 5<<17 | code<<9 | src0, ctl | c.mods}
		case isa.VOP2:
			return []uint32{code<<25 | 5<<17 | 7<<9 | src0, ctl | c.mods}
		case isa.VOPC:
			return []uint32{0x7c000000 | code<<17 | 7<<9 | src0, ctl | c.mods}
		}
		d := uint32(5)
		if c.mask {
			d = 10
		}
		hi := src0 | (256+7)<<9
		if c.name == "v_add3_u32" || c.name == "v_fma_f32" {
			hi |= (256 + 8) << 18
		}
		return []uint32{0xd4000000 | code<<16 | d, hi | c.mods, ctl}
	}
	return nil
}

func (c *dppInst) has(arch isa.Arch) bool {
	return len(c.archs) == 0 || slices.Contains(c.archs, arch)
}

// fillDPP gives the registers random values that suit c: floats that are
// exact under its operations.
func (c *dppInst) fillDPP(b *bench, r *rand.Rand) {
	for v := 5; v <= 8; v++ {
		for i := range b.w.n {
			x := r.Uint32()
			switch {
			case strings.HasSuffix(c.name, "_f16"):
				one := map[int]uint32{6: 0x3c00, 7: 0x4000}[v]
				x = x&^0xffff | one | x&0x8000
			case strings.HasSuffix(c.name, "_f32"):
				x = math.Float32bits(float32(r.IntN(2001) - 1000))
			}
			b.v(v)[i] = x
		}
	}
}

// checkDPP executes c under one control and compares every lane.
func (c *dppInst) checkDPP(t *testing.T, arch isa.Arch, words []uint32, text string, from []int, write uint64, zero, fetch bool, seed uint64) {
	t.Helper()
	b, r := laneBench(t, arch, seed)
	c.fillDPP(b, r)
	before := append([]lanes(nil), b.w.rows...)
	in := decoded(t, arch, c.name, words...)
	if !strings.Contains(in.String(), text) {
		t.Fatalf("%v: %08x is `%v`, want it to have %q", arch, words, in.String(), text)
	}
	exec := b.w.exec
	if c.name == "v_fma_f32" {
		b.w.mode &^= arith.DenormOut32 | arith.IEEE // with which omod has no effect
	}
	b.run(in)
	if b.w.exec != exec {
		t.Fatalf("%v %v: got exec %x, want it kept at %x", arch, in.String(), b.w.exec, exec)
	}
	old := func(v, i int) uint32 { return before[firstVGPR+v][i] }
	var mask uint64
	for i := range b.w.n {
		want := old(5, i)
		j := from[i]
		invalid := j < 0 || exec>>j&1 == 0 && !fetch
		if exec>>i&1 != 0 && write>>i&1 != 0 && (!invalid || zero) {
			var a uint32
			if !invalid {
				a = old(6, j)
			}
			want = c.f(a, old(7, i), old(8, i), old(5, i))
			if c.name == "v_fma_f32" {
				want = math.Float32bits(2 * math.Float32frombits(want))
			}
			if c.mask {
				mask |= uint64(want) << i
				want = old(5, i)
			}
		}
		if got := b.v(5)[i]; got != want {
			t.Fatalf("%v %v, exec %x: lane %d, which reads lane %d: got %08x, want %08x, was %08x", arch, in.String(), exec, i, j, got, want, old(5, i))
		}
	}
	if c.mask {
		got := b.w.vcc()
		if c.enc == isa.VOP3 {
			got = uint64(b.w.s[10])
		}
		if got != mask {
			t.Fatalf("%v %v, exec %x: got mask %x, want %x", arch, in.String(), exec, got, mask)
		}
	}
	for v := range 32 {
		for i := range b.w.n {
			if v != 5 && b.v(v)[i] != old(v, i) {
				t.Fatalf("%v %v: v%d changed", arch, in.String(), v)
			}
		}
	}
}

func identity(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

func TestDPP16(t *testing.T) {
	for _, arch := range allArchs {
		r := rand.New(rand.NewPCG(7, 7))
		for _, m := range dppMoves(arch) {
			from := m.move(identity(arch.WaveSize()))
			for k := range dppInsts {
				c := &dppInsts[k]
				if !c.has(arch) {
					continue
				}
				for n := range uint32(4) { // three rounds over the instructions have every variant
					variant := n + 4*(uint32(k)+m.ctrl)%12
					zero, fetch := variant&1 != 0, variant&2 != 0
					if fetch && arch == isa.GFX90A {
						continue
					}
					rows, banks := uint32(15), uint32(15)
					if variant >= 8 {
						rows, banks = r.Uint32N(16), r.Uint32N(16)
					}
					var write uint64
					for i := range 64 {
						if rows>>(i/16)&1 != 0 && banks>>(i%16/4)&1 != 0 {
							write |= 1 << i
						}
					}
					ctl := 6 | m.ctrl<<8 | b2u(fetch)<<18 | b2u(zero)<<19 | banks<<24 | rows<<28
					// Seeds that 3 divides have all lanes active.
					c.checkDPP(t, arch, c.words(arch, 250, ctl), m.text, from, write, zero, fetch, uint64(variant)+r.Uint64N(2))
				}
			}
		}
	}
}

func TestDPP8(t *testing.T) {
	for _, arch := range allArchs[1:] {
		r := rand.New(rand.NewPCG(8, 8))
		for k := range dppInsts {
			c := &dppInsts[k]
			if !c.has(arch) || c.mods != 0 && c.enc != isa.VOP3 {
				continue
			}
			for seed := range uint64(40) {
				var sel uint32
				var p [8]int
				for i := range p {
					p[i] = r.IntN(8)
					sel |= uint32(p[i]) << (3 * i)
				}
				from := eachRow(8, func(row []int) []int {
					var out []int
					for _, s := range p {
						out = append(out, row[s])
					}
					return out
				})(identity(arch.WaveSize()))
				text := strings.ReplaceAll(fmt.Sprintf("dpp8:%v", p), " ", ",")
				c.checkDPP(t, arch, c.words(arch, 233+uint32(seed&1), 6|sel<<8), text, from, ^uint64(0), true, seed&1 != 0, seed/2)
			}
		}
	}
}

// TestDPPExec has compares that write exec.
func TestDPPExec(t *testing.T) {
	for _, arch := range allArchs[2:] { // which alone has DPP of compares
		b, _ := laneBench(t, arch, 0)
		for i := range b.w.n {
			b.v(6)[i], b.v(7)[i] = uint32(i), 3
		}
		c := dppInst{name: "v_cmpx_gt_u32", enc: isa.VOPC}
		b.w.exec &^= 1 << 9
		b.run(decoded(t, arch, c.name, c.words(arch, 250, 6|0x101<<8|0xff<<24)...)) // row_shl:1
		var want uint64
		for i := range b.w.n {
			if i != 9 && i != 8 && i%16 != 15 && i+1 > 3 {
				want |= 1 << i
			}
		}
		if b.w.exec != want {
			t.Errorf("%v: got exec %x, want %x", arch, b.w.exec, want)
		}
	}
}

// TestDPPWide has the 64-bit operands that gfx90a broadcasts in rows.
func TestDPPWide(t *testing.T) {
	for k := range uint32(16) {
		for seed := range uint64(4) {
			b, r := laneBench(t, isa.GFX90A, seed)
			for v := 6; v < 16; v += 2 {
				for i := range 64 {
					x := math.Float64bits(float64(r.IntN(1 << 26)))
					b.v(v)[i], b.v(v + 1)[i] = uint32(x), uint32(x>>32)
				}
			}
			before := append([]lanes(nil), b.w.rows...)
			f64 := func(v, i int) float64 {
				return math.Float64frombits(uint64(before[firstVGPR+v][i]) | uint64(before[firstVGPR+v+1][i])<<32)
			}
			var code uint32
			for _, op := range knownOps(isa.GFX90A) {
				if op.Name == "v_fmac_f64" && op.Enc == isa.VOP2 {
					code = uint32(op.Opcode)
				}
			}
			// v[8:9] += v[6:7] * v[10:11], the source negated.
			b.run(decoded(t, isa.GFX90A, "v_fmac_f64", code<<25|8<<17|10<<9|250, 6|(0x150+k)<<8|1<<20|0xff<<24))
			b.expect("v_fmac_f64_dpp", before, func(v, i int) uint32 {
				from := i&^15 + int(k)
				if b.w.exec>>i&1 == 0 || b.w.exec>>from&1 == 0 || v&^1 != 8 {
					return before[firstVGPR+v][i]
				}
				x := math.Float64bits(math.FMA(-f64(6, from), f64(10, i), f64(8, i)))
				return uint32(x >> (32 * (v & 1)))
			})
		}
	}
}

// TestDPPShadow permutes the state of the lanes with their values.
func TestDPPShadow(t *testing.T) {
	for _, arch := range allArchs {
		for _, m := range dppMoves(arch) {
			from := m.move(identity(arch.WaveSize()))
			for seed := range uint64(4) {
				b, r := laneBench(t, arch, seed)
				b.w.shadow.v = make([]halves, len(b.w.rows))
				b.w.from.v = make([]origin, len(b.w.rows))
				b.w.unit = &unit{ops: make([]op, 1)}
				zero := seed&1 != 0
				src := halves{r.Uint64(), r.Uint64()}
				old := halves{r.Uint64(), r.Uint64()}
				b.w.shadow.v[firstVGPR+5], b.w.shadow.v[firstVGPR+6] = old, src
				c := dppInst{name: "v_mov_b32", enc: isa.VOP1}
				in := decoded(t, arch, c.name, c.words(arch, 250, 6|m.ctrl<<8|b2u(zero)<<19|0xff<<24)...)
				o := b.c.compile(&in)
				b.w.unit.ops[0] = o
				exec := b.w.exec
				o.shadow(b.w, &o)
				if b.w.exec != exec {
					t.Fatalf("%v: the shadow handler changes exec", in.String())
				}
				got := b.w.shadow.v[firstVGPR+5]
				for i := range b.w.n {
					lo, hi := old.lo>>i&1, old.hi>>i&1
					if exec>>i&1 != 0 {
						switch j := from[i]; {
						case j >= 0 && exec>>j&1 != 0:
							lo, hi = src.lo>>j&1, src.hi>>j&1
						case zero:
							lo, hi = 1, 1
						}
					}
					if got.lo>>i&1 != lo || got.hi>>i&1 != hi {
						t.Fatalf("%v %v, exec %x: lane %d: got %d %d, want %d %d", arch, in.String(), exec, i, got.lo>>i&1, got.hi>>i&1, lo, hi)
					}
				}
			}
		}
	}
}

// TestDPPRefused has what no architecture, or another one, defines.
func TestDPPRefused(t *testing.T) {
	b := map[isa.Arch]*bench{}
	for _, arch := range allArchs {
		b[arch] = newBench(t, arch)
	}
	mov := dppInst{name: "v_mov_b32", enc: isa.VOP1}
	for _, c := range []struct {
		arch  isa.Arch
		inst  dppInst
		ctl   uint32
		wants string
	}{
		{isa.GFX90A, mov, 0x100, "not defined"},
		{isa.GFX90A, mov, 0x110, "not defined"},
		{isa.GFX90A, mov, 0x131, "not defined"},
		{isa.GFX90A, mov, 0x161, "not defined"},
		{isa.GFX1030, mov, 0x130, "not defined"},
		{isa.GFX1030, mov, 0x142, "not defined"},
		{isa.GFX1100, mov, 0x143, "not defined"},
		{isa.GFX1100, mov, 0x170, "not defined"},
		{isa.GFX90A, dppInst{name: "v_fmac_f64", enc: isa.VOP2}, 0x101, "row_newbcast only"},
		{isa.GFX1030, dppInst{name: "v_movrels_b32", enc: isa.VOP1}, 0x101, "relative registers"},
	} {
		words := c.inst.words(c.arch, 250, 6|c.ctl<<8|0xff<<24)
		if c.inst.name == "v_fmac_f64" {
			words[0] = words[0]&^(0xffff<<9) | 8<<17 | 10<<9
		}
		in := decoded(t, c.arch, c.inst.name, words...)
		if _, err := b[c.arch].c.try(&in); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%v %s with control %#x: got error %v, want one about %q", c.arch, c.inst.name, c.ctl, err, c.wants)
		}
	}
}

// TestDPPModifiers: with a permutation that moves nothing, each instruction
// does as its 64-bit encoding without DPP, of which the modifiers are tested
// elsewhere.
func TestDPPModifiers(t *testing.T) {
	for _, arch := range allArchs {
		tried := 0
		for _, op := range knownOps(arch) {
			code := uint32(op.Opcode)
			var dpp []uint32
			// Bits of neg and abs that both encodings have.
			mods := uint32(3)
			switch op.Enc {
			case isa.VOP1:
				dpp = []uint32{0x7e000000 | 6<<17 | code<<9 | 250}
				code += 0x180
				if arch == isa.GFX90A {
					code -= 0x40
				}
				mods = 1
			case isa.VOP2:
				dpp = []uint32{code<<25 | 6<<17 | 12<<9 | 250}
				code += 0x100
			case isa.VOPC:
				dpp = []uint32{0x7c000000 | code<<17 | 12<<9 | 250}
			case isa.VOP3:
				if arch != isa.GFX1100 {
					continue
				}
				mods = 7
			default:
				continue
			}
			for variant := range uint32(8) {
				b, r := laneBench(t, arch, uint64(variant))
				neg, abs := r.Uint32()&mods, r.Uint32()&mods
				switch {
				case variant < 3:
					neg, abs = 0, 0
				case op.Name == "v_ldexp_f16": // whose exponent has another meaning of neg
					neg, abs = neg&1, abs&1
				}
				ctl := uint32(8 | 0xe4<<8 | 0xff<<24) // quad_perm:[0,1,2,3]
				lo := 0xd4000000 | code<<16 | 6
				if arch == isa.GFX90A {
					lo = 0xd0000000 | code<<16 | 6
					ctl = 8 | 0x150<<8 | 0xff<<24 // row_newbcast:0
				}
				if op.Enc == isa.VOPC {
					lo = lo&^0xff | 106
				}
				var words []uint32
				hi := uint32(256+8) | neg<<29
				if op.Enc != isa.VOP1 {
					hi |= (256 + 12) << 9
				}
				// The lane masks of VOP2 are vcc.
				if op.Enc == isa.VOP2 && strings.Contains(op.Name, "_co_") {
					lo |= 106 << 8
				}
				if op.Enc == isa.VOP2 && (op.Name == "v_cndmask_b32" || strings.Contains(op.Name, "_ci_") || strings.HasPrefix(op.Name, "v_addc_") || strings.HasPrefix(op.Name, "v_subb")) {
					hi |= 106 << 18
				}
				twin := []uint32{lo | abs<<8, hi}
				if op.Enc == isa.VOP3 {
					// op_sel, clamp and omod too.
					sel := r.Uint32() & 15 << 11
					if variant&1 != 0 {
						sel = 0
					}
					twin[0] |= sel | r.Uint32()&1<<15
					twin[1] |= (256+14)<<18 | r.Uint32()&3<<27
					words = []uint32{twin[0], twin[1]&^0x1ff | 250, ctl}
				} else {
					words = append(slices.Clone(dpp), ctl|neg&1<<20|abs&1<<21|neg>>1&1<<22|abs>>1&1<<23)
				}
				in, err := isa.Decode(arch, dwords(words...), 0)
				if err != nil || in.Name != op.Name || in.Form != isa.DPP16 {
					continue
				}
				plain, err := isa.Decode(arch, dwords(twin...), 0)
				if err != nil || plain.Name != op.Name {
					continue
				}
				o, err := b.c.try(&in)
				if err != nil {
					if strings.Contains(err.Error(), "not defined") || strings.Contains(err.Error(), "DPP") && !strings.HasPrefix(op.Name, "v_movrel") {
						t.Errorf("%v %v: %v", arch, in.String(), err)
					}
					continue
				}
				p, err := b.c.try(&plain)
				if err != nil {
					continue
				}
				if arch == isa.GFX90A { // every lane of a row alike
					for v := 8; v < 10; v++ {
						for i := range 64 {
							b.v(v)[i] = b.v(v)[i&^15]
						}
					}
					b.w.exec |= 0x0001000100010001
				}
				rows, s, exec := slices.Clone(b.w.rows), b.w.s, b.w.exec
				o.run(b.w, &o)
				gotRows, gotS, gotExec := slices.Clone(b.w.rows), b.w.s, b.w.exec
				copy(b.w.rows, rows)
				b.w.s, b.w.exec = s, exec
				p.run(b.w, &p)
				if b.w.err != nil {
					t.Fatalf("%v %v: %v", arch, in.String(), b.w.err)
				}
				if !slices.Equal(gotRows[firstVGPR:], b.w.rows[firstVGPR:]) || gotS != b.w.s || gotExec != b.w.exec {
					t.Errorf("%v: `%v` differs from `%v`", arch, in.String(), plain.String())
					break
				}
				tried++
			}
		}
		t.Logf("%v: %d instructions", arch, tried)
		if tried < 500 {
			t.Errorf("%v: tried %d instructions, want 500", arch, tried)
		}
	}
}

func dwords(words ...uint32) []byte {
	var code []byte
	for _, w := range append(slices.Clone(words), 0, 0) {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}
