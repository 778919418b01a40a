package isa

import "math/bits"

// An imageOp is what the generator learned of an image opcode's sizes.
type imageOp struct {
	gather bool // always four components
	bvh    bool // addresses of fixed sizes
	// Dwords of data that the variant for a number of them prints, 0 where
	// there is none.
	dst [6]uint8
	// By 2*nsa+a16: the default variant's address registers, one base-36
	// digit of dwords each, and for each dim the address dwords of the
	// variant that fits, 0 where there is none.
	elems, addr [8]string
}

func digit(c byte) int {
	if c >= 'a' {
		return int(c-'a') + 10
	}
	return int(c - '0')
}

// image sizes the operands of an image instruction, see gen.images.
func (d *decoder) image(i *Inst) bool {
	a := &ImageArgs{DMask: uint8(d.bits(8, 4))}
	i.Image = a
	set := func(shift uint, f Flags) {
		if d.lo&i.op.live>>shift&1 != 0 {
			i.Flags |= f
		}
	}
	var nsa, a16, op uint32
	switch d.arch {
	case GFX90A:
		op = d.bits(18, 7)
		set(12, UNorm)
		set(13, GLC)
		set(25, SLC)
		set(7, SCCBit)
		set(14, DA)
		set(15, A16)
		set(17, LWE)
		set(63, D16)
	case GFX1030:
		op = d.bits(18, 7) | d.bits(0, 1)<<7
		nsa, a.Dim, a16 = d.bits(1, 2), uint8(d.bits(3, 3)), d.bits(62, 1)
		set(7, DLC)
		set(12, UNorm)
		set(13, GLC)
		set(15, R128)
		set(16, TFE)
		set(17, LWE)
		set(25, SLC)
		set(63, D16)
	default:
		op = d.bits(18, 8)
		nsa, a.Dim, a16 = d.bits(0, 1), uint8(d.bits(2, 3)), d.bits(16, 1)
		set(7, UNorm)
		set(12, SLC)
		set(13, DLC)
		set(14, GLC)
		set(15, R128)
		set(17, D16)
		set(53, TFE)
		set(54, LWE)
	}
	if a16 != 0 {
		i.Flags |= A16
	}
	im := &images[d.arch][op]
	elems := im.elems[2*nsa+a16]
	if elems == "" {
		return false
	}
	data, addr := i.imageOperands()
	if nsa > 0 {
		i.Size += uint8(4 * nsa)
	}
	a.N = uint8(len(elems))
	for k := range len(elems) {
		a.Addr[k] = uint8(addr.Reg)
		if k > 0 {
			a.Addr[k] = uint8(d.word(uint8(2+(k-1)/4)) >> (8 * ((k - 1) % 4)))
		}
		a.Width[k] = uint8(digit(elems[k]))
		if int(a.Addr[k])+int(a.Width[k]) > 256 {
			return false
		}
	}
	if nsa == 0 {
		addr.Width = a.Width[0]
	}
	if im.bvh {
		return true
	}
	n := max(bits.OnesCount8(a.DMask), 1)
	if im.gather {
		n = 4
	}
	if i.Has(D16) {
		n = (n + 1) / 2
	}
	if i.Has(TFE) {
		n++
	}
	want := digit(im.addr[2*nsa+a16][a.Dim])
	n = int(im.dst[n])
	if n == 0 || want == 0 || n != int(data.Width) && int(data.Reg)+n > 256 {
		return true
	}
	if nsa == 0 {
		if int(addr.Reg)+want > 256 {
			return true
		}
		a.Width[0] = uint8(want)
		addr.Width = uint8(want)
	} else if want < int(a.N) {
		a.N = uint8(want)
	} else if extra := want - int(a.N); extra > 0 {
		last := a.N - 1
		if int(a.Addr[last])+1+extra > 256 {
			return true
		}
		a.Width[last] += uint8(extra)
	}
	data.Width = uint8(n)
	return true
}

// imageOperands returns the data and the address.
func (i *Inst) imageOperands() (data, addr *Operand) {
	if i.NDst > 0 {
		return &i.Dst[0], &i.Src[0]
	}
	return &i.Src[0], &i.Src[1]
}

var dimNames = [8]string{"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"}

func (i *Inst) printImage(b *text) {
	b.s(i.Name)
	data, addr := i.imageOperands()
	if addr.Kind == RegList && i.op.flags&rowGap != 0 {
		b.s(" ")
	}
	b.s(" ")
	data.print(b)
	b.s(", ")
	if addr.Kind == RegList {
		b.s("[")
		for k := range i.Image.N {
			if k > 0 {
				b.s(", ")
			}
			(&Operand{Kind: VGPR, Reg: uint16(i.Image.Addr[k]), Width: i.Image.Width[k]}).print(b)
		}
		b.s("]")
	} else {
		addr.print(b)
	}
	rest := i.Src[i.NSrc-(i.op.n-2) : i.NSrc]
	for k := range rest {
		b.s(", ")
		i.printBare(b, &rest[k], uint8(k)+2)
	}
	if i.op.flags&rowBVH != 0 {
		if i.Has(A16) {
			b.s(" a16")
		}
		return
	}
	if i.Image.DMask != 0 {
		b.s(" dmask:")
		b.x(uint64(i.Image.DMask))
	}
	if i.Arch != GFX90A {
		b.s(" dim:SQ_RSRC_IMG_")
		b.s(dimNames[i.Image.Dim])
	}
	for _, f := range [...]struct {
		flag Flags
		name string
	}{{UNorm, " unorm"}, {GLC, " glc"}, {SLC, " slc"}, {DLC, " dlc"}, {SCCBit, " scc"}, {R128, " r128"}, {A16, " a16"}, {TFE, " tfe"}, {LWE, " lwe"}, {DA, " da"}, {D16, " d16"}} {
		if i.Has(f.flag) {
			b.s(f.name)
		}
	}
}

// nsa reports whether an image instruction lists its address registers.
func (d *decoder) nsa() bool {
	switch d.arch {
	case GFX1030:
		return d.lo&6 != 0
	case GFX1100:
		return d.lo&1 != 0
	}
	return false
}
