// Package codeobject reads AMDGPU code objects: the ELF files, versions 4
// to 6, that compilers for ROCm emit, bare, gzipped or in a Clang offload
// bundle. The format is described in LLVM's "User Guide for AMDGPU Backend".
package codeobject

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// MaxImage bounds the bytes that a code object may occupy, in its file and
// in memory, so that a corrupt size cannot exhaust the host.
const MaxImage = 1 << 30

// A File is a parsed code object.
type File struct {
	Arch    string // processor: "gfx90a"
	Xnack   string // "on", "off", or empty for any or unsupported
	Sramecc string // as Xnack
	ABI     int    // code object version: 4, 5 or 6

	// Image is the object as a loader maps it, the first byte at virtual
	// address 0. Relocations are not applied, see Relocate.
	Image []byte

	Text    Section   // executable code
	Symbols []Symbol  // by address, then name
	Kernels []*Kernel // by name

	relocs []reloc
	elf    *elf.File
	lines  lineTable
	lined  bool
}

// A Section is a range of the image.
type Section struct {
	Addr, Size uint64
}

// A Symbol is a named address of the image.
type Symbol struct {
	Name       string
	Addr, Size uint64
	Func       bool
}

// Properties of a kernel descriptor, its bits in kernel_code_properties.
const (
	PrivateSegmentBuffer = 1 << 0 // 4 SGPRs
	DispatchPtr          = 1 << 1 // 2
	QueuePtr             = 1 << 2 // 2
	KernargSegmentPtr    = 1 << 3 // 2
	DispatchID           = 1 << 4 // 2
	FlatScratchInit      = 1 << 5 // 2
	PrivateSegmentSize   = 1 << 6 // 1
	Wavefront32          = 1 << 10
	DynamicStack         = 1 << 11
)

// A Descriptor is the 64-byte kernel descriptor.
type Descriptor struct {
	GroupSegment   uint32 // static LDS, bytes
	PrivateSegment uint32 // scratch per work-item, bytes
	KernargSize    uint32
	EntryOffset    int64 // of the code, from the descriptor
	Rsrc1          uint32
	Rsrc2          uint32
	Rsrc3          uint32
	Properties     uint16
	KernargPreload uint16 // 6:0 SGPRs, 15:7 dword offset
}

// UserSGPRs is the number of user SGPRs, after which system SGPRs start.
func (d *Descriptor) UserSGPRs() int { return int(d.Rsrc2 >> 1 & 31) }

// Scratch reports whether the kernel wants scratch memory set up.
func (d *Descriptor) Scratch() bool { return d.Rsrc2&1 != 0 }

// WorkGroupID reports whether the kernel wants the work-group id of
// dimension i in an SGPR.
func (d *Descriptor) WorkGroupID(i int) bool { return d.Rsrc2>>(7+i)&1 != 0 }

// WorkGroupInfo reports whether the kernel wants the work-group info SGPR.
func (d *Descriptor) WorkGroupInfo() bool { return d.Rsrc2>>10&1 != 0 }

// WorkItemDims is the highest dimension whose work-item id the kernel
// wants: 0 for x only, 2 for all three.
func (d *Descriptor) WorkItemDims() int { return int(d.Rsrc2 >> 11 & 3) }

// An Arg is one kernel argument, explicit or hidden.
type Arg struct {
	Name      string
	Kind      string // .value_kind: "global_buffer", "by_value", "hidden_block_count_x", ...
	Offset    uint32 // bytes from the start of the kernarg segment
	Size      uint32
	AddrSpace string // "global", "local", ... where the metadata says
	Type      string // .type_name
}

// Hidden reports whether the runtime supplies the argument.
func (a *Arg) Hidden() bool { return strings.HasPrefix(a.Kind, "hidden_") }

// A Kernel is an entry point, with what the metadata says of it.
type Kernel struct {
	Name       string
	Entry      uint64 // address of the first instruction
	Size       uint64 // bytes of code, 0 where the symbol has none
	Descriptor Descriptor

	Args         []Arg
	KernargSize  uint32
	KernargAlign uint32
	LDS          uint32 // static, bytes
	Scratch      uint32 // per work-item, bytes
	DynamicStack bool
	WaveSize     int
	VGPRs, SGPRs int
	AGPRs        int
	VGPRSpills   int
	SGPRSpills   int
	MaxWorkGroup int
	ReqdGroup    [3]uint32 // zero where not required
	Uniform      bool      // .uniform_work_group_size
}

// Kernel finds a kernel by name.
func (f *File) Kernel(name string) *Kernel {
	i := sort.Search(len(f.Kernels), func(i int) bool { return f.Kernels[i].Name >= name })
	if i < len(f.Kernels) && f.Kernels[i].Name == name {
		return f.Kernels[i]
	}
	return nil
}

// Symbol names the function or object that holds addr, and how far into it
// addr lies.
func (f *File) Symbol(addr uint64) (name string, offset uint64, ok bool) {
	i := sort.Search(len(f.Symbols), func(i int) bool { return f.Symbols[i].Addr > addr })
	for i--; i >= 0; i-- {
		s := &f.Symbols[i]
		if addr-s.Addr < s.Size || s.Size == 0 && addr == s.Addr {
			return s.Name, addr - s.Addr, true
		}
		if s.Size != 0 && addr-s.Addr > 1<<24 {
			break
		}
	}
	return "", 0, false
}

// Parse reads the code object for arch ("gfx90a") from image. A bundle may
// hold objects for other architectures; a bare object for another one is an
// error. An empty arch takes the object as it is, and the first device
// entry of a bundle.
func Parse(image []byte, arch string) (f *File, err error) {
	// debug/elf and debug/dwarf are hardened, not proven: whatever they
	// do with a corrupt file must stay an error here.
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("code object: corrupt file: %v", r)
		}
	}()
	obj, err := unwrap(image, arch)
	if err != nil {
		return nil, fmt.Errorf("code object: %w", err)
	}
	f, err = parseELF(obj)
	if err != nil {
		return nil, fmt.Errorf("code object: %w", err)
	}
	if arch != "" && f.Arch != arch {
		return nil, fmt.Errorf("code object: compiled for %s, want %s", f.Arch, arch)
	}
	return f, nil
}

// ELF header constants that debug/elf does not name.
const (
	emAMDGPU    = 0xe0
	osabiHSA    = 0x40
	ntAMDGPU    = 32 // note type of the metadata
	flagsOffset = 48 // of e_flags in an ELF64 header
)

// machs are the EF_AMDGPU_MACH values, from LLVM's user guide.
var machs = map[byte]string{
	0x2c: "gfx900", 0x2d: "gfx902", 0x2e: "gfx904", 0x2f: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c",
	0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033",
	0x3d: "gfx1035", 0x3e: "gfx1034", 0x3f: "gfx90a", 0x40: "gfx940", 0x41: "gfx1100", 0x42: "gfx1013", 0x43: "gfx1150",
	0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101", 0x47: "gfx1102", 0x48: "gfx1200", 0x4a: "gfx1151", 0x4b: "gfx941",
	0x4c: "gfx942", 0x4e: "gfx1201", 0x4f: "gfx950",
}

func parseELF(b []byte) (*File, error) {
	if len(b) < 64 || string(b[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("not an ELF file: %d bytes starting %q", len(b), b[:min(len(b), 8)])
	}
	e, err := elf.NewFile(bytes.NewReader(b))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("ELF file of %d bytes is cut short", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("reading ELF: %w", err)
	}
	switch {
	case e.Class != elf.ELFCLASS64 || e.Data != elf.ELFDATA2LSB:
		return nil, fmt.Errorf("ELF must be 64-bit little-endian, is %v %v", e.Class, e.Data)
	case e.Machine != emAMDGPU:
		return nil, fmt.Errorf("ELF is for machine %v, not AMDGPU", e.Machine)
	case e.OSABI != osabiHSA:
		return nil, fmt.Errorf("ELF has OS ABI %d, want %d (AMDGPU HSA)", e.OSABI, osabiHSA)
	case e.Type != elf.ET_DYN:
		return nil, fmt.Errorf("ELF is %v, want a linked code object (ET_DYN)", e.Type)
	case e.ABIVersion < 2 || e.ABIVersion > 4:
		return nil, fmt.Errorf("ELF ABI version %d is code object v%d: only v4, v5 and v6 are read", e.ABIVersion, int(e.ABIVersion)+2)
	}
	flags := binary.LittleEndian.Uint32(b[flagsOffset:])
	f := &File{ABI: int(e.ABIVersion) + 2, elf: e}
	name, ok := machs[byte(flags)]
	if !ok {
		return nil, fmt.Errorf("unknown processor 0x%02x in e_flags 0x%x", byte(flags), flags)
	}
	f.Arch = name
	f.Xnack = [...]string{"", "", "off", "on"}[flags>>8&3]
	f.Sramecc = [...]string{"", "", "off", "on"}[flags>>10&3]

	if err := f.load(b); err != nil {
		return nil, err
	}
	if err := f.symbols(); err != nil {
		return nil, err
	}
	if err := f.metadata(b); err != nil {
		return nil, err
	}
	if err := f.relocations(); err != nil {
		return nil, err
	}
	return f, nil
}

// load maps the PT_LOAD segments.
func (f *File) load(b []byte) error {
	var end uint64
	for i, p := range f.elf.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Vaddr > MaxImage || p.Memsz > MaxImage || p.Filesz > p.Memsz {
			return fmt.Errorf("segment %d of 0x%x bytes at 0x%x is out of range", i, p.Memsz, p.Vaddr)
		}
		// Memory past the file's bytes is zero-filled data. A code object has
		// little of it; a corrupt size must not decide an allocation.
		if p.Memsz > p.Filesz+64<<20 {
			return fmt.Errorf("segment %d wants %d zeroed bytes, more than 64 MiB", i, p.Memsz-p.Filesz)
		}
		if p.Off > uint64(len(b)) || p.Filesz > uint64(len(b))-p.Off {
			return fmt.Errorf("segment %d ends at 0x%x, past the file's %d bytes: truncated", i, p.Off+p.Filesz, len(b))
		}
		end = max(end, p.Vaddr+p.Memsz)
	}
	if end == 0 {
		return errors.New("no loadable segment")
	}
	if end > uint64(len(b))+128<<20 {
		return fmt.Errorf("image of %d bytes from a file of %d", end, len(b))
	}
	f.Image = make([]byte, end)
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD {
			copy(f.Image[p.Vaddr:p.Vaddr+p.Memsz], b[p.Off:p.Off+p.Filesz])
		}
	}
	t := f.elf.Section(".text")
	if t == nil {
		return errors.New("no .text section")
	}
	if t.Size > end || t.Addr > end-t.Size {
		return fmt.Errorf(".text of 0x%x bytes at 0x%x is outside the image", t.Size, t.Addr)
	}
	f.Text = Section{t.Addr, t.Size}
	return nil
}

func (f *File) symbols() error {
	seen := map[Symbol]bool{}
	for _, read := range []func() ([]elf.Symbol, error){f.elf.Symbols, f.elf.DynamicSymbols} {
		syms, err := read()
		if errors.Is(err, elf.ErrNoSymbols) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading symbols: %w", err)
		}
		for _, s := range syms {
			typ := elf.ST_TYPE(s.Info)
			if s.Section == elf.SHN_UNDEF || s.Section == elf.SHN_ABS || typ == elf.STT_SECTION || typ == elf.STT_FILE {
				continue
			}
			sym := Symbol{s.Name, s.Value, s.Size, typ == elf.STT_FUNC}
			if !seen[sym] {
				seen[sym] = true
				f.Symbols = append(f.Symbols, sym)
			}
		}
	}
	sort.Slice(f.Symbols, func(i, j int) bool {
		a, b := &f.Symbols[i], &f.Symbols[j]
		if a.Addr != b.Addr {
			return a.Addr < b.Addr
		}
		return a.Name < b.Name
	})
	return nil
}

// metadata reads the note and joins it with descriptors and symbols.
func (f *File) metadata(b []byte) error {
	note, err := f.note(b)
	if err != nil {
		return err
	}
	v, err := decodeMsgpack(note)
	if err != nil {
		return fmt.Errorf("metadata note: %w", err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("metadata note is a %T, not a map", v)
	}
	// amdhsa.target may say less than e_flags, never something else.
	if t, ok := root["amdhsa.target"].(string); ok {
		if i := strings.LastIndex(t, "-"); i >= 0 {
			proc, _, _ := strings.Cut(t[i+1:], ":")
			if proc != f.Arch {
				return fmt.Errorf("metadata is for %s, e_flags for %s", proc, f.Arch)
			}
		}
	}
	list, ok := root["amdhsa.kernels"].([]any)
	if !ok && root["amdhsa.kernels"] != nil {
		return fmt.Errorf("amdhsa.kernels is a %T, not a list", root["amdhsa.kernels"])
	}
	byName := make(map[string]*Symbol, len(f.Symbols))
	for i := range f.Symbols {
		byName[f.Symbols[i].Name] = &f.Symbols[i]
	}
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return fmt.Errorf("kernel %d of the metadata is a %T, not a map", i, e)
		}
		k, err := f.kernel(m, byName)
		if err != nil {
			return err
		}
		f.Kernels = append(f.Kernels, k)
	}
	sort.Slice(f.Kernels, func(i, j int) bool { return f.Kernels[i].Name < f.Kernels[j].Name })
	for i := 1; i < len(f.Kernels); i++ {
		if f.Kernels[i].Name == f.Kernels[i-1].Name {
			return fmt.Errorf("kernel %s occurs twice in the metadata", f.Kernels[i].Name)
		}
	}
	return nil
}

// note returns the descriptor of the AMDGPU metadata note.
func (f *File) note(b []byte) ([]byte, error) {
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_NOTE || p.Off > uint64(len(b)) || p.Filesz > uint64(len(b))-p.Off {
			continue
		}
		n := b[p.Off : p.Off+p.Filesz]
		for len(n) >= 12 {
			nameSize := uint64(binary.LittleEndian.Uint32(n))
			descSize := uint64(binary.LittleEndian.Uint32(n[4:]))
			typ := binary.LittleEndian.Uint32(n[8:])
			desc := 12 + (nameSize+3)&^3
			next := desc + (descSize+3)&^3
			if desc+descSize > uint64(len(n)) {
				return nil, fmt.Errorf("note of %d bytes exceeds its segment of %d", desc+descSize, len(n))
			}
			if typ == ntAMDGPU && nameSize >= 6 && string(n[12:12+6]) == "AMDGPU" {
				return n[desc : desc+descSize], nil
			}
			n = n[min(next, uint64(len(n))):]
		}
	}
	return nil, errors.New("no AMDGPU metadata note")
}

func (f *File) kernel(m map[string]any, symbols map[string]*Symbol) (*Kernel, error) {
	name, _ := m[".name"].(string)
	desc, _ := m[".symbol"].(string)
	if name == "" || desc == "" {
		return nil, fmt.Errorf("a kernel of the metadata lacks .name or .symbol (%q, %q)", name, desc)
	}
	r := reader{m: m, what: "kernel " + name}
	k := &Kernel{
		Name:         name,
		KernargSize:  r.u32(".kernarg_segment_size"),
		KernargAlign: r.u32(".kernarg_segment_align"),
		LDS:          r.u32(".group_segment_fixed_size"),
		Scratch:      r.u32(".private_segment_fixed_size"),
		WaveSize:     int(r.u32(".wavefront_size")),
		VGPRs:        int(r.u32(".vgpr_count")),
		SGPRs:        int(r.u32(".sgpr_count")),
		AGPRs:        int(r.u32(".agpr_count")),
		VGPRSpills:   int(r.u32(".vgpr_spill_count")),
		SGPRSpills:   int(r.u32(".sgpr_spill_count")),
		MaxWorkGroup: int(r.u32(".max_flat_workgroup_size")),
		Uniform:      r.u32(".uniform_work_group_size") != 0,
	}
	k.DynamicStack = m[".uses_dynamic_stack"] == true
	for i, v := range r.list(".reqd_workgroup_size") {
		if n, ok := v.(uint64); ok && i < 3 {
			k.ReqdGroup[i] = uint32(n)
		}
	}
	for i, v := range r.list(".args") {
		am, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("kernel %s: argument %d is a %T, not a map", name, i, v)
		}
		ar := reader{m: am, what: fmt.Sprintf("kernel %s: argument %d", name, i)}
		a := Arg{Offset: ar.u32(".offset"), Size: ar.u32(".size")}
		a.Name, _ = am[".name"].(string)
		a.Kind, _ = am[".value_kind"].(string)
		a.AddrSpace, _ = am[".address_space"].(string)
		a.Type, _ = am[".type_name"].(string)
		if ar.err == nil && uint64(a.Offset)+uint64(a.Size) > uint64(k.KernargSize) {
			ar.err = fmt.Errorf("%s: bytes %d to %d of a %d-byte kernarg segment", ar.what, a.Offset, uint64(a.Offset)+uint64(a.Size), k.KernargSize)
		}
		if ar.err != nil {
			return nil, ar.err
		}
		k.Args = append(k.Args, a)
	}
	if r.err != nil {
		return nil, r.err
	}
	if k.WaveSize != 32 && k.WaveSize != 64 {
		return nil, fmt.Errorf("kernel %s: wavefront size %d", name, k.WaveSize)
	}
	if k.KernargSize > 1<<16 {
		return nil, fmt.Errorf("kernel %s: kernarg segment of %d bytes", name, k.KernargSize)
	}

	kd := symbols[desc]
	if kd == nil {
		return nil, fmt.Errorf("kernel %s: no symbol %s for its descriptor", name, desc)
	}
	if kd.Addr > uint64(len(f.Image)) || uint64(len(f.Image))-kd.Addr < 64 {
		return nil, fmt.Errorf("kernel %s: descriptor at 0x%x is outside the image", name, kd.Addr)
	}
	d := f.Image[kd.Addr : kd.Addr+64]
	u32 := binary.LittleEndian.Uint32
	k.Descriptor = Descriptor{
		GroupSegment:   u32(d),
		PrivateSegment: u32(d[4:]),
		KernargSize:    u32(d[8:]),
		EntryOffset:    int64(binary.LittleEndian.Uint64(d[16:])),
		Rsrc3:          u32(d[44:]),
		Rsrc1:          u32(d[48:]),
		Rsrc2:          u32(d[52:]),
		Properties:     binary.LittleEndian.Uint16(d[56:]),
		KernargPreload: binary.LittleEndian.Uint16(d[58:]),
	}
	k.Entry = kd.Addr + uint64(k.Descriptor.EntryOffset)
	if k.Entry < f.Text.Addr || k.Entry-f.Text.Addr >= f.Text.Size || k.Entry%4 != 0 {
		return nil, fmt.Errorf("kernel %s: entry 0x%x is not in .text", name, k.Entry)
	}
	wave := 64
	if k.Descriptor.Properties&Wavefront32 != 0 {
		wave = 32
	}
	if wave != k.WaveSize {
		return nil, fmt.Errorf("kernel %s: wavefront size is %d in the metadata, %d in the descriptor", name, k.WaveSize, wave)
	}
	if s := symbols[name]; s != nil && s.Addr == k.Entry {
		k.Size = s.Size
	}
	return k, nil
}

// A reader takes integers from a metadata map and keeps the first error.
type reader struct {
	m    map[string]any
	what string
	err  error
}

func (r *reader) u32(key string) uint32 {
	v, ok := r.m[key]
	if !ok {
		return 0
	}
	n, ok := v.(uint64)
	if (!ok || n > 1<<32-1) && r.err == nil {
		r.err = fmt.Errorf("%s: %s is %v, want an unsigned 32-bit integer", r.what, key, v)
	}
	return uint32(n)
}

func (r *reader) list(key string) []any {
	v, ok := r.m[key]
	if !ok {
		return nil
	}
	l, ok := v.([]any)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%s: %s is a %T, not a list", r.what, key, v)
	}
	return l
}
