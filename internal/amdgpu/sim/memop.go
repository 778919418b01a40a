package sim

import (
	"errors"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// memoryTable lists the memory instructions.
func memoryTable() map[string]spec { return nil }

// A memOp is what a memory instruction does.
type memOp struct{}

// memory resolves the operands of a memory instruction.
func (c *compiler) memory(in *isa.Inst, o *op) error { return errors.New("not interpreted") }
