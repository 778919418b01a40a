package cuda

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A Symbol is a kernel that an image has.
type Symbol struct {
	Name string
	// Params are the sizes of its parameters in bytes; nil where the image
	// does not tell.
	Params []int
}

// Symbols lists the kernels of PTX, a cubin or a fat binary, by name, and
// the architectures that it has code for, such as sm_90 and compute_75.
// Where a whole file is packed in a way that is not known here, the error
// wraps errors.ErrUnsupported: the driver may take it all the same.
func Symbols(image []byte) (kernels []Symbol, archs []string, err error) {
	// debug/elf is hardened, not proven: a corrupt file must stay an error.
	defer func() {
		if r := recover(); r != nil {
			kernels, archs, err = nil, nil, fmt.Errorf("corrupt file: %v", r)
		}
	}()
	if err := checkImage(image); err != nil {
		return nil, nil, err
	}
	found := map[string]Symbol{}
	add := func(list []Symbol, arch string) {
		for _, s := range list {
			if old, ok := found[s.Name]; !ok || old.Params == nil {
				found[s.Name] = s
			}
		}
		if arch != "" && !slices.Contains(archs, arch) {
			archs = append(archs, arch)
		}
	}
	one := func(b []byte) error {
		list, arch := ptxSymbols(b)
		if bytes.HasPrefix(b, []byte("\x7fELF")) {
			if list, arch, err = cubinSymbols(b); err != nil {
				return err
			}
		}
		add(list, arch)
		return nil
	}
	if len(image) >= 4 && binary.LittleEndian.Uint32(image) == fatMagic {
		parts, err := fatParts(image)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range parts {
			if err := one(p); err != nil {
				return nil, nil, err
			}
		}
	} else if err := one(image); err != nil {
		return nil, nil, err
	}
	for _, s := range found {
		kernels = append(kernels, s)
	}
	slices.SortFunc(kernels, func(a, b Symbol) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(archs)
	return kernels, archs, nil
}

var (
	ptxEntry  = regexp.MustCompile(`(?s)\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?`)
	ptxTarget = regexp.MustCompile(`(?m)^\s*\.target\s+sm_(\w+)`)
	ptxParam  = regexp.MustCompile(`\.param\s+(?:\.(?:align|ptr|global|const|local|shared)(?:\s+\d+)?\s+)*\.([a-z]+)(\d+)(?:\s+\.(?:ptr|global|const|local|shared|align)(?:\s+\d+)?)*\s+[\w$]+(?:\[(\d+)\])?`)
)

// ptxSymbols reads PTX: the language is described in NVIDIA's "PTX ISA".
func ptxSymbols(text []byte) (list []Symbol, arch string) {
	if m := ptxTarget.FindSubmatch(text); m != nil {
		arch = "compute_" + string(m[1])
	}
	for _, m := range ptxEntry.FindAllSubmatch(text, -1) {
		s := Symbol{Name: string(m[1]), Params: []int{}}
		for _, p := range ptxParam.FindAllSubmatch(m[2], -1) {
			bits, _ := strconv.Atoi(string(p[2]))
			n := 1
			if len(p[3]) > 0 {
				n, _ = strconv.Atoi(string(p[3]))
			}
			s.Params = append(s.Params, bits/8*n)
		}
		if strings.Count(string(m[2]), ".param") != len(s.Params) {
			s.Params = nil // in a form that is not known here
		}
		list = append(list, s)
	}
	return list, arch
}

// cubinSymbols reads the sections of a cubin: .text.NAME is the code of a
// function, and .nv.info.NAME describes a kernel.
func cubinSymbols(b []byte) (list []Symbol, arch string, err error) {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, "", fmt.Errorf("reading a cubin: %w", err)
	}
	// The low byte of e_flags is the architecture's number, or the second
	// in the layout of CUDA 13, whose ABI version is 8.
	flags := binary.LittleEndian.Uint32(b[48:])
	number := flags & 0xff
	if b[8] >= 8 {
		number = flags >> 8 & 0xff
	}
	arch = fmt.Sprintf("sm_%d", number)
	for _, s := range f.Sections {
		name, ok := strings.CutPrefix(s.Name, ".text.")
		if !ok || f.Section(".nv.constant0."+name) == nil { // a function that kernels call
			continue
		}
		k := Symbol{Name: name}
		if info := f.Section(".nv.info." + name); info != nil {
			if data, err := info.Data(); err == nil {
				k.Params = infoParams(data)
			}
		}
		list = append(list, k)
	}
	return list, arch, nil
}

// infoParams reads the sizes of parameters from a section .nv.info.NAME:
// records of u8 format, u8 attribute, u16 size; EIATTR_KPARAM_INFO (0x17)
// has u32 index, u16 ordinal, u16 offset, and a word whose bits 18 and up
// are the size. It is nil where they do not make a whole list.
func infoParams(b []byte) []int {
	const kparamInfo, sized = 0x17, 4
	sizes := map[int]int{}
	for len(b) >= 4 {
		format, attribute := b[0], b[1]
		n := 0
		if format == sized {
			n = int(binary.LittleEndian.Uint16(b[2:]))
		}
		if len(b) < 4+n {
			return nil
		}
		if attribute == kparamInfo && n == 12 {
			r := b[4:]
			sizes[int(binary.LittleEndian.Uint16(r[4:]))] = int(binary.LittleEndian.Uint32(r[8:]) >> 18)
		}
		b = b[4+n:]
	}
	if len(sizes) == 0 {
		return nil // the kernel may have none, or the driver may tell otherwise
	}
	list := make([]int, len(sizes))
	for i := range list {
		n, ok := sizes[i]
		if !ok {
			return nil
		}
		list[i] = n
	}
	return list
}

const fatMagic = 0xba55ed50

// fatParts returns the PTX and cubins of a fat binary: containers of a u32
// magic, u16 version, u16 header size and u64 size of what follows, with
// parts of u16 kind (1 PTX, 2 cubin), u16 version, u32 header size, u64
// size, and in the header at 16 the u32 size before padding, at 40 the u64
// flags and at 56 the u64 size when decompressed.
func fatParts(b []byte) ([][]byte, error) {
	const isPTX, isCubin = 1, 2
	const lz4 = 0x2000
	le := binary.LittleEndian
	short := errors.New("fat binary is cut short")
	var parts [][]byte
	for len(b) >= 16 && le.Uint32(b) == fatMagic {
		head, body := uint64(le.Uint16(b[6:])), le.Uint64(b[8:])
		if head < 16 || head > uint64(len(b)) || body > uint64(len(b))-head {
			return nil, short
		}
		rest := b[head : head+body]
		b = b[head+body:]
		for len(rest) >= 64 {
			kind := le.Uint16(rest)
			header, size := uint64(le.Uint32(rest[4:])), le.Uint64(rest[8:])
			if header < 64 || header > uint64(len(rest)) || size > uint64(len(rest))-header {
				return nil, short
			}
			data := rest[header : header+size]
			packed, flags, plain := uint64(le.Uint32(rest[16:])), le.Uint64(rest[40:]), le.Uint64(rest[56:])
			rest = rest[header+size:]
			if kind != isPTX && kind != isCubin {
				continue
			}
			switch {
			case bytes.HasPrefix(data, []byte(zstdMagic)):
				var err error
				if data, err = unzstd(trim(data, packed), plain); err != nil {
					return nil, err
				}
			case flags&lz4 != 0:
				var err error
				if data, err = unLZ4(trim(data, packed), plain); err != nil {
					return nil, err
				}
			}
			if uint64(len(data)) < plain {
				return nil, fmt.Errorf("%w: fat binary is packed in a way (flags %#x) that is not read here", errors.ErrUnsupported, flags)
			}
			if kind == isPTX {
				data = bytes.TrimRight(data, "\x00")
			}
			parts = append(parts, data)
		}
	}
	if len(parts) == 0 {
		return nil, errors.New("fat binary has neither PTX nor a cubin")
	}
	return parts, nil
}

const zstdMagic = "\x28\xb5\x2f\xfd"

// trim takes the padding off data of n bytes, where n is known.
func trim(data []byte, n uint64) []byte {
	if n > 0 && n <= uint64(len(data)) {
		return data[:n]
	}
	return data
}

var errDamaged = errors.New("fat binary is damaged: what is compressed in it does not decompress")

// unzstd decompresses zstd to size bytes, by which newer CUDA packs.
func unzstd(b []byte, size uint64) ([]byte, error) {
	if size > 256<<20 {
		return nil, errDamaged
	}
	r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, errDamaged
	}
	defer r.Close()
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, errDamaged
	}
	return out, nil
}

// unLZ4 decompresses a block of LZ4 to size bytes, by lz4_Block_format.md.
func unLZ4(b []byte, size uint64) ([]byte, error) {
	if size > 256<<20 || size > 256*uint64(len(b))+64 { // LZ4's ratio ends at 255
		return nil, errDamaged
	}
	out := make([]byte, 0, size)
	// length reads the bytes that go on with a length of 15.
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for len(b) > 0 {
			c := b[0]
			b = b[1:]
			n += int(c)
			if c != 255 {
				return n, uint64(n) <= size
			}
		}
		return 0, false
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(b) {
			return nil, errDamaged
		}
		out = append(out, b[:n]...)
		b = b[n:]
		if len(b) == 0 {
			break // the last sequence is literals alone
		}
		if len(b) < 2 {
			return nil, errDamaged
		}
		offset := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || offset == 0 || offset > len(out) || uint64(len(out)+n) > size {
			return nil, errDamaged
		}
		for range n {
			out = append(out, out[len(out)-offset])
		}
	}
	if uint64(len(out)) != size {
		return nil, errDamaged
	}
	return out, nil
}
