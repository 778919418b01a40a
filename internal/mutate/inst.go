package mutate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// An edit changes one instruction of a code object.
type edit struct {
	offset int    // of the instruction in the file
	code   []byte // what replaces it, of the same length
	kind   string
	was    isa.Inst
	is     string // text of what it became
}

// sNop is the encoding of s_nop 0, on all three architectures.
const sNop = 0xbf800000

// noEffect are instructions that change nothing an interpreter can show:
// hints to the hardware, and waits, since memory operations complete at
// once there.
func noEffect(name string) bool {
	switch name {
	case "s_nop", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_delay_alu", "s_clause", "s_inst_prefetch", "s_code_end",
		"s_set_inst_prefetch_distance", "s_endpgm", "s_sendmsg", "s_sleep", "buffer_gl0_inv", "buffer_gl1_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol":
		return true
	}
	return strings.HasPrefix(name, "s_waitcnt")
}

// A region is the code of one kernel: its place in the file, and the address
// of the file's first byte if all were loaded where the code is.
type region struct {
	at, end int
	base    uint64
}

// extent finds the code of the kernel called symbol in an unbundled code
// object.
func extent(image []byte, symbol string) (region, error) {
	var none region
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return none, fmt.Errorf("reading the code object: %w", err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		return none, fmt.Errorf("reading the code object's symbols: %w", err)
	}
	for _, s := range symbols {
		if s.Name != symbol || elf.ST_TYPE(s.Info) != elf.STT_FUNC || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		at := int(s.Value - sec.Addr + sec.Offset)
		end := at + int(s.Size)
		if at < 0 || end > len(image) || at > end {
			return none, fmt.Errorf("kernel %s lies outside the file", symbol)
		}
		return region{at, end, sec.Addr - sec.Offset}, nil
	}
	return none, fmt.Errorf("the code object has no kernel %s", symbol)
}

// instructions decodes the kernel called symbol of an unbundled code
// object. offsets are theirs in the file, and base is what makes addresses of
// them.
func instructions(arch isa.Arch, image []byte, symbol string) (insts []isa.Inst, offsets []int, base uint64, err error) {
	r, err := extent(image, symbol)
	if err != nil {
		return nil, nil, 0, err
	}
	for at := r.at; at < r.end; {
		in, err := isa.Decode(arch, image[at:r.end], uint64(at))
		if err != nil {
			break // padding behind the code
		}
		insts = append(insts, in)
		offsets = append(offsets, at)
		at += int(in.Size)
	}
	return insts, offsets, r.base, nil
}

// CodeHash identifies the instructions of the kernel called symbol.
func CodeHash(image []byte, symbol string) (string, error) {
	r, err := extent(image, symbol)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(image[r.at:r.end])
	return hex.EncodeToString(sum[:8]), nil
}

// draw picks an edit of one of insts. Half of the edits that can be drop an
// instruction with an effect outside registers, or any; the rest invert
// one bit of the encoding, which makes another operation, operand or
// constant of it.
func draw(arch isa.Arch, image []byte, insts []isa.Inst, offsets []int, r *ops.Rand) (edit, error) {
	for range 1000 {
		k := r.IntN(len(insts))
		in, at := insts[k], offsets[k]
		code := bytes.Clone(image[at : at+int(in.Size)])
		if r.IntN(4) == 0 {
			for i := 0; i < len(code); i += 4 {
				binary.LittleEndian.PutUint32(code[i:], sNop)
			}
			return edit{at, code, "dropped", in, "nothing"}, nil
		}
		bit := r.IntN(8 * len(code))
		code[bit/8] ^= 1 << (bit % 8)
		// What follows takes part: a literal may become part of it.
		rest := append(bytes.Clone(code), image[at+len(code):min(len(image), at+len(code)+8)]...)
		out, err := isa.Decode(arch, rest, uint64(at))
		if err != nil || out.Size != in.Size || noEffect(out.Name) || out.String() == in.String() {
			continue
		}
		return edit{at, code, kindOf(in, out), in, out.String()}, nil
	}
	return edit{}, errors.New("no instruction could be changed")
}

// kindOf says what a change from a to b is.
func kindOf(a, b isa.Inst) string {
	switch {
	case a.Name != b.Name:
		return "operation"
	case constants(a) != constants(b):
		return "constant"
	}
	return "operand"
}

// constants is the text of the operands that are numbers, offsets
// included.
func constants(in isa.Inst) string {
	var b strings.Builder
	for _, o := range in.Src[:in.NSrc] {
		switch o.Kind {
		case isa.InlineInt, isa.InlineFloat, isa.Literal, isa.Const:
			fmt.Fprintf(&b, "%x ", o.Imm)
		}
	}
	fmt.Fprint(&b, in.Offset, in.Offset0, in.Offset1)
	return b.String()
}

// A Coverage says how much of a kernel the cases execute. Of the rest no
// mutant is drawn: it would change nothing.
type Coverage struct {
	Op           string `json:"op"`
	Kernel       string `json:"kernel"`
	Target       string `json:"target"`
	Instructions int    `json:"instructions"` // that could be changed
	Unreached    int    `json:"unreached"`
}

// executed runs cases with a good kernel and returns their results and the
// instructions that one of them executes, with offsets in the file.
func executed(ctx context.Context, opts *Options, arch isa.Arch, object []byte, kernel string, cases []ops.Case) ([]isa.Inst, []int, []runner.Result, Coverage, error) {
	seen := Coverage{Kernel: kernel, Target: "hip@" + arch.String()}
	insts, offsets, base, err := instructions(arch, object, kernel)
	if err != nil {
		return nil, nil, nil, seen, err
	}
	var reached sync.Map
	watched := *opts
	watched.Open = func(arch string, _ func(uint64)) (gpu.Device, error) {
		return opts.Open(arch, func(pc uint64) { reached.Store(pc, true) })
	}
	good, err := launch(ctx, &watched, arch.String(), object, ops.Bundled(), cases)
	if err != nil {
		return nil, nil, nil, seen, err
	}
	n := 0
	for i := range insts {
		if noEffect(insts[i].Name) {
			continue
		}
		seen.Instructions++
		if _, ok := reached.Load(uint64(offsets[i]) + base); !ok {
			seen.Unreached++
			continue
		}
		insts[n], offsets[n] = insts[i], offsets[i]
		n++
	}
	if n == 0 {
		return nil, nil, nil, seen, fmt.Errorf("%s on %s: no case executes an instruction", kernel, arch)
	}
	return insts[:n], offsets[:n], good, seen, nil
}

// Instructions plants opts.Samples instruction mutants in the kernel of
// o's variant v on each architecture, in instructions that some case
// executes. image returns the good object.
func Instructions(ctx context.Context, o *ops.Op, v ops.Variant, image func(arch string) ([]byte, error), opts Options) ([]Mutant, []Coverage, error) {
	var list []Mutant
	var coverage []Coverage
	for _, name := range opts.Archs {
		arch, err := isa.ParseArch(name)
		if err != nil {
			return list, coverage, err
		}
		object, err := image(name)
		if err != nil {
			return list, coverage, err
		}
		kernel := o.Kernel(v)
		cases := remember(o.Cases(v, opts.Level))
		insts, offsets, good, seen, err := executed(ctx, &opts, arch, object, kernel, cases)
		if err != nil {
			return list, coverage, err
		}
		seen.Op = o.Name
		coverage = append(coverage, seen)
		for i, r := range good {
			if r.Status != compare.Pass && !unjudged(&good[i]) {
				return list, coverage, fmt.Errorf("%s on %s is %s before anything is planted: fix that first", r.Case, name, r.Status)
			}
		}
		r := ops.NewRand(opts.Seed, "mutants of "+kernel+" on "+name)
		edits := make([]edit, opts.Samples)
		for i := range edits {
			if edits[i], err = draw(arch, object, insts, offsets, r); err != nil {
				return list, coverage, fmt.Errorf("%s on %s: %w", kernel, name, err)
			}
		}
		mutants, err := each(ctx, &opts, len(edits), func(ctx context.Context, i int) (Mutant, error) {
			e := &edits[i]
			bad := bytes.Clone(object)
			copy(bad[e.offset:], e.code)
			m := Mutant{
				Op: o.Name, Family: o.Family, Kernel: kernel, Target: "hip@" + name, Kind: e.kind,
				Name: fmt.Sprintf("%s -> %s", e.was.String(), e.is), At: fmt.Sprintf("0x%x", e.offset),
			}
			results, err := launch(ctx, &opts, name, bad, ops.Bundled(), cases)
			if err != nil {
				return m, err
			}
			return m, judge(&m, results, good)
		})
		list = append(list, mutants...)
		if err != nil {
			return list, coverage, err
		}
	}
	return list, coverage, nil
}
