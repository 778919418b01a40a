package isa

// An opRow is what the generated tables say of one opcode.
type opRow struct {
	name string
}
