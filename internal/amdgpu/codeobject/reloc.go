package codeobject

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// The dynamic relocations of a linked code object, from LLVM's user guide.
const (
	relNone       = 0
	relAbs32Lo    = 1
	relAbs32Hi    = 2
	relAbs64      = 3
	relRel32      = 4
	relRel64      = 5
	relAbs32      = 6
	relRel32Lo    = 10
	relRel32Hi    = 11
	relRelative64 = 13
)

type reloc struct {
	typ    uint32
	addr   uint64 // of the place
	sym    uint64 // S, 0 for relative ones
	addend int64  // A
}

func relocSize(typ uint32) uint64 {
	switch typ {
	case relAbs64, relRel64, relRelative64:
		return 8
	}
	return 4
}

// relocations reads the SHT_RELA sections that apply to the loaded image.
func (f *File) relocations() error {
	var dyn []elf.Symbol
	for _, s := range f.elf.Sections {
		if s.Type == elf.SHT_REL && s.Flags&elf.SHF_ALLOC != 0 {
			return fmt.Errorf("section %s: relocations without addends are not known on AMDGPU", s.Name)
		}
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.Name, err)
		}
		if dyn == nil {
			// Without dynamic symbols only relative relocations can occur.
			if dyn, err = f.elf.DynamicSymbols(); err != nil {
				dyn = []elf.Symbol{}
			}
		}
		for ; len(b) >= 24; b = b[24:] {
			info := binary.LittleEndian.Uint64(b[8:])
			r := reloc{
				typ:    uint32(info),
				addr:   binary.LittleEndian.Uint64(b),
				addend: int64(binary.LittleEndian.Uint64(b[16:])),
			}
			switch r.typ {
			case relNone:
				continue
			case relAbs32Lo, relAbs32Hi, relAbs64, relRel32, relRel64, relAbs32, relRel32Lo, relRel32Hi:
				i := info >> 32
				if i == 0 || i > uint64(len(dyn)) {
					return fmt.Errorf("%s: relocation of 0x%x names symbol %d of %d", s.Name, r.addr, i, len(dyn))
				}
				sym := dyn[i-1] // debug/elf leaves out the null symbol
				if sym.Section == elf.SHN_UNDEF {
					return fmt.Errorf("symbol %s is undefined: link the object first", sym.Name)
				}
				r.sym = sym.Value
			case relRelative64:
			default:
				return fmt.Errorf("%s: unknown relocation type %d at 0x%x", s.Name, r.typ, r.addr)
			}
			if n := relocSize(r.typ); r.addr > uint64(len(f.Image)) || uint64(len(f.Image))-r.addr < n {
				return fmt.Errorf("%s: relocation at 0x%x is outside the image", s.Name, r.addr)
			}
			f.relocs = append(f.relocs, r)
		}
	}
	return nil
}

// Relocate returns a copy of the image as it stands in memory when its
// first byte is at address base.
func (f *File) Relocate(base uint64) []byte {
	img := append([]byte(nil), f.Image...)
	for _, r := range f.relocs {
		p := img[r.addr:]
		abs := base + r.sym + uint64(r.addend)
		rel := abs - (base + r.addr)
		switch r.typ {
		case relAbs32Lo, relAbs32:
			binary.LittleEndian.PutUint32(p, uint32(abs))
		case relAbs32Hi:
			binary.LittleEndian.PutUint32(p, uint32(abs>>32))
		case relAbs64, relRelative64:
			binary.LittleEndian.PutUint64(p, abs)
		case relRel32, relRel32Lo:
			binary.LittleEndian.PutUint32(p, uint32(rel))
		case relRel32Hi:
			binary.LittleEndian.PutUint32(p, uint32(rel>>32))
		case relRel64:
			binary.LittleEndian.PutUint64(p, rel)
		}
	}
	return img
}
