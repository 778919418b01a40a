package clib

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The ELF machines of device code.
const (
	MachineCUDA   = 190
	MachineAMDGPU = 224
)

var machines = map[uint16]string{
	3: "x86", 62: "x86-64", 183: "AArch64", MachineCUDA: "NVIDIA CUDA", MachineAMDGPU: "AMD GPU",
}

// CheckELF checks that image is a whole 64-bit ELF file for machine. The
// drivers are given an address without a length: of a file that was cut
// short they would read what lies behind it.
func CheckELF(image []byte, machine uint16) error {
	const headerSize, sectionSize, segmentSize = 64, 64, 56
	le := binary.LittleEndian
	if len(image) < headerSize {
		return fmt.Errorf("ELF file of %d bytes is cut short", len(image))
	}
	if image[4] != 2 || image[5] != 1 {
		return errors.New("ELF file must be 64-bit and little-endian")
	}
	if m := le.Uint16(image[18:]); m != machine {
		name := machines[m]
		if name == "" {
			name = fmt.Sprintf("machine %d", m)
		}
		return fmt.Errorf("ELF file is for %s, want %s", name, machines[machine])
	}
	// check takes a region of the file as offset and length.
	check := func(what string, off, size uint64) error {
		if end := off + size; end < off || end > uint64(len(image)) {
			return fmt.Errorf("ELF file of %d bytes is cut short: %s is at %d, %d bytes", len(image), what, off, size)
		}
		return nil
	}
	segs, sects := le.Uint64(image[32:]), le.Uint64(image[40:])
	nseg, nsect := uint64(le.Uint16(image[56:])), uint64(le.Uint16(image[60:]))
	if err := check("program headers", segs, nseg*segmentSize); err != nil {
		return err
	}
	if err := check("section headers", sects, nsect*sectionSize); err != nil {
		return err
	}
	for i := range nseg {
		h := image[segs+i*segmentSize:]
		if err := check(fmt.Sprintf("segment %d", i), le.Uint64(h[8:]), le.Uint64(h[32:])); err != nil {
			return err
		}
	}
	const noBits = 8 // SHT_NOBITS takes no room in the file
	for i := range nsect {
		h := image[sects+i*sectionSize:]
		if le.Uint32(h[4:]) == noBits {
			continue
		}
		if err := check(fmt.Sprintf("section %d", i), le.Uint64(h[24:]), le.Uint64(h[32:])); err != nil {
			return err
		}
	}
	return nil
}
