package gpu

import (
	"fmt"
	"strings"
)

// A Check names one kind of error that a device can find in a kernel.
type Check string

// The checks of the interpreter, see design note amdgpu.md section 7.
const (
	OutOfBounds       Check = "out-of-bounds"
	Misaligned        Check = "misaligned"
	Uninitialised     Check = "uninitialised"
	Race              Check = "race"
	BarrierDivergence Check = "barrier-divergence"
	StepLimit         Check = "step-limit"
)

// A Place is where in a launch something happened.
type Place struct {
	PC     uint64 `json:"pc"`               // byte offset in the kernel's section
	Inst   string `json:"inst"`             // disassembly
	Source string `json:"source,omitempty"` // file:line of the kernel's file, where the object has debug info
	// Inlined is file:line of the included file whose code is inlined at
	// Source, where that is so.
	Inlined string `json:"inlined,omitempty"`
	Group   Dim3   `json:"group"` // block index
	Wave    int    `json:"wave"`
	Lane    int    `json:"lane"`
	Thread  Dim3   `json:"thread"` // thread index in the block
}

// A Finding is an error that a device found in a kernel. Hits of one
// check at one instruction on one buffer are folded into one finding.
type Finding struct {
	Check  Check  `json:"check"`
	Kernel string `json:"kernel"`
	Access string `json:"access,omitempty"` // load, store, atomic, branch, address
	Space  string `json:"space,omitempty"`  // global, lds, scratch, kernarg, vgpr, sgpr
	First  Place  `json:"first"`            // the first hit
	Other  *Place `json:"other,omitempty"`  // the other party of a race
	Count  int64  `json:"count"`            // hits, one per lane

	// Where memory is involved: the buffer (nearest for out-of-bounds) and
	// the byte offsets of the hits from its start, Offset being the first.
	Buffer     string `json:"buffer,omitempty"`
	BufferSize int64  `json:"buffer_size,omitempty"`
	Size       int    `json:"size,omitempty"` // bytes of one access
	Offset     int64  `json:"offset"`
	MinOffset  int64  `json:"min_offset"`
	MaxOffset  int64  `json:"max_offset"`

	Detail string `json:"detail,omitempty"` // anything more, in words
}

// String is one line for a person.
func (f Finding) String() string {
	var b strings.Builder
	switch f.Check {
	case OutOfBounds:
		past := f.MaxOffset + int64(f.Size) - f.BufferSize
		switch {
		case f.Buffer == "":
			fmt.Fprintf(&b, "memory near no buffer is %s", verb(f.Access))
		case f.MinOffset < 0 && past <= 0:
			fmt.Fprintf(&b, "%s is %s before its start: up to %d bytes before byte 0", f.Buffer, verb(f.Access), -f.MinOffset)
		case f.MinOffset < 0:
			fmt.Fprintf(&b, "%s is %s outside: from %d bytes before its start to %d past its end", f.Buffer, verb(f.Access), -f.MinOffset, past)
		default:
			fmt.Fprintf(&b, "%s is %s past its end: up to %d bytes past %d", f.Buffer, verb(f.Access), past, f.BufferSize)
		}
		if f.Detail != "" {
			fmt.Fprintf(&b, " (%s)", f.Detail)
		}
	default:
		b.WriteString(string(f.Check))
		if f.Access != "" {
			fmt.Fprintf(&b, ": %s", f.Access)
		}
		if f.Space != "" {
			fmt.Fprintf(&b, " of %s", f.Space)
		}
		if f.Buffer != "" {
			fmt.Fprintf(&b, " %s+%d", f.Buffer, f.Offset)
		}
		if f.Detail != "" {
			fmt.Fprintf(&b, ": %s", f.Detail)
		}
	}
	fmt.Fprintf(&b, "; first at %s", f.First)
	if f.Other != nil {
		fmt.Fprintf(&b, ", against %s", f.Other)
	}
	if f.Count > 1 {
		fmt.Fprintf(&b, "; %d hits", f.Count)
	}
	return b.String()
}

func verb(access string) string {
	switch access {
	case "store":
		return "written"
	case "atomic":
		return "updated"
	}
	return "read"
}

func (p Place) String() string {
	s := fmt.Sprintf("block %s thread %s (wave %d lane %d) at 0x%x `%s`", p.Group, p.Thread, p.Wave, p.Lane, p.PC, p.Inst)
	if p.Source != "" {
		s += " " + p.Source
	}
	return s
}

// A Report is what a device can say of a launch beside its outputs.
type Report struct {
	Findings []Finding
	Counters *Counters // nil where the device has none
}

// Counters are deterministic counts of an interpreted launch, equal on
// every machine and for every schedule of host threads.
type Counters struct {
	Inst         map[string]int64 `json:"inst"`          // wave instructions by class: salu, valu_f32, lds, ...
	LaneOps      int64            `json:"lane_ops"`      // active lanes summed over VALU instructions
	LaneSlots    int64            `json:"lane_slots"`    // lanes of a wave summed over VALU instructions
	GlobalBytes  int64            `json:"global_bytes"`  // requested by active lanes
	GlobalLines  int64            `json:"global_lines"`  // distinct 64-byte lines, per wave instruction
	MinLines     int64            `json:"min_lines"`     // fewest lines that could hold the bytes requested
	LDSConflicts int64            `json:"lds_conflicts"` // extra passes over 32 banks
	Barriers     int64            `json:"barriers"`
	Waves        int64            `json:"waves"`
}

// Add accumulates o into c.
func (c *Counters) Add(o *Counters) {
	if c.Inst == nil {
		c.Inst = map[string]int64{}
	}
	for k, v := range o.Inst {
		c.Inst[k] += v
	}
	c.LaneOps += o.LaneOps
	c.LaneSlots += o.LaneSlots
	c.GlobalBytes += o.GlobalBytes
	c.GlobalLines += o.GlobalLines
	c.MinLines += o.MinLines
	c.LDSConflicts += o.LDSConflicts
	c.Barriers += o.Barriers
	c.Waves += o.Waves
}
