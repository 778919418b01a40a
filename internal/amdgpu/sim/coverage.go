package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// An OpStatus says of one opcode whether the interpreter executes it.
type OpStatus struct {
	Name     string // LLVM's mnemonic without encoding suffix
	Encoding string
	Opcode   int
	Executed bool
	// Class is the kind of instruction that is left out as a whole, where
	// the opcode is of one: ClassImage and so on. Reason says why an
	// opcode is not executed.
	Class, Reason string
}

// The classes of instructions that are not executed.
const (
	ClassImage    = "images and typed buffers"
	ClassGraphics = "interpolation and export"
	ClassMatrix   = "matrix products"
	ClassDot      = "dot products"
	ClassGDS      = "global data share and global wave sync"
	ClassTrap     = "traps, messages and debugging"
)

var refusedReasons = map[string]string{
	ClassImage:    "compute kernels do not use texture hardware",
	ClassGraphics: "compute kernels do not draw",
	ClassMatrix:   "the order of accumulation is not documented",
	ClassDot:      "the order and rounding of accumulation are not documented",
	ClassGDS:      "compilers do not use it for compute kernels",
	ClassTrap:     "there is no trap handler and no debugger",
}

// Coverage lists the opcodes of an architecture ("gfx90a", "gfx1030" or
// "gfx1100") and whether each is executed.
func Coverage(arch string) ([]OpStatus, error) {
	a, err := isa.ParseArch(arch)
	if err != nil {
		return nil, fmt.Errorf("listing instructions: %w", err)
	}
	c := newCompiler(a, a.WaveSize(), allSpecs())
	var list []OpStatus
	for _, op := range isa.Ops(a) {
		s := OpStatus{Name: op.Name, Encoding: op.Enc.String(), Opcode: op.Opcode}
		err := c.executes(op)
		s.Executed = err == nil
		if err != nil {
			s.Class = refusedClass(op)
			s.Reason = refusedReasons[s.Class]
			if s.Class == "" {
				s.Reason = err.Error()
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// refusedClass returns the class of an opcode that is not executed, or "".
func refusedClass(op isa.OpInfo) string {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(op.Name, p) {
				return true
			}
		}
		return false
	}
	switch op.Enc {
	case isa.MIMG, isa.MTBUF:
		return ClassImage
	case isa.EXP, isa.VINTRP, isa.VINTERP, isa.LDSDIR:
		return ClassGraphics
	}
	switch {
	case has("_format_"):
		return ClassImage
	case has("v_interp", "ordered_ps", "v_screen_partition", "bvh"):
		return ClassGraphics
	case has("mfma", "wmma"):
		return ClassMatrix
	case has("v_dot", "v_dual_dot"):
		return ClassDot
	case has("gws", "ordered_count", "_gs_reg"):
		return ClassGDS
	case has("s_rfe", "s_sethalt", "s_setkill", "cdbg", "s_sendmsg", "v_illegal", "s_code_end", "s_trap", "s_endpgm_saved", "ttrace"):
		return ClassTrap
	}
	return ""
}

// executes returns nil for an opcode that has semantics: an entry in the
// tables, or for memory instructions, whose names are taken apart, a sample
// that compiles. Else it says why there are none.
func (c *compiler) executes(op isa.OpInfo) error {
	if !isMemory(op.Enc) {
		name := op.Name
		if rest, ok := strings.CutPrefix(name, "v_dual_"); ok {
			name = "v_" + rest
		}
		if _, ok := c.specs[name]; !ok {
			return errors.New(refusalReason(&isa.Inst{Name: op.Name, Enc: op.Enc}))
		}
		return nil
	}
	refused := errors.New("no encoding of it is known")
	for _, words := range c.samples(op) {
		code := make([]byte, 0, 24)
		for _, w := range words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		in, err := isa.Decode(c.arch, append(code, make([]byte, 12)...), 0)
		if err != nil || in.Name != op.Name || in.Enc != op.Enc {
			continue
		}
		if _, err := c.try(&in); err != nil {
			refused = err
			continue
		}
		return nil
	}
	return refused
}

// samples returns encodings of a memory instruction with registers that
// suit most of them.
func (c *compiler) samples(op isa.OpInfo) [][]uint32 {
	code := uint32(op.Opcode)
	gfx9, gfx11 := c.arch == isa.GFX90A, c.arch == isa.GFX1100
	off := map[isa.Arch]uint32{isa.GFX90A: 0x7f, isa.GFX1030: 0x7d, isa.GFX1100: 0x7c}[c.arch] // no scalar register
	var s [][]uint32
	switch op.Enc {
	case isa.SMEM:
		if gfx9 {
			return [][]uint32{{0xc0020000 | code<<18 | 4<<6 | 4, 0}, {0xc0020000 | code<<18, 0}}
		}
		return [][]uint32{{0xf4000000 | code<<18 | 4<<6 | 4, off << 25}, {0xf4000000 | code<<18, off << 25}}
	case isa.DS:
		lo := 0xd8000000 | code<<18
		if gfx9 {
			lo = 0xd8000000 | code<<17
		}
		for _, hi := range []uint32{0x0c060402, 0x0c000002, 0x00060402, 0x00000402, 0x0c000000, 0x0c000402, 0} {
			s = append(s, []uint32{lo, hi})
		}
	case isa.FLAT, isa.GLOBAL, isa.SCRATCH:
		seg := map[isa.Encoding]uint32{isa.FLAT: 0, isa.SCRATCH: 1, isa.GLOBAL: 2}[op.Enc]
		lo := 0xdc000000 | code<<18 | seg<<14
		if gfx11 {
			lo = 0xdc000000 | code<<18 | seg<<16
		}
		for _, addr := range []uint32{off << 16, 0, 4 << 16, off<<16 | 1<<23} {
			for _, regs := range []uint32{0x0c000402, 0x0c000002, 0x00000402, 0} {
				s = append(s, []uint32{lo, regs | addr})
			}
		}
	case isa.MUBUF:
		lo := 0xe0000000 | code<<18
		for _, hi := range []uint32{0x80010402, 0x80010400, 0} {
			s = append(s, []uint32{lo, hi})
		}
	}
	return s
}
