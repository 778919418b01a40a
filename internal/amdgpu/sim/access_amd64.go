package sim

import "golang.org/x/sys/cpu"

// hasAVX512 reports whether the forms for rows of 64 lanes in four registers
// run here.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2

//go:noescape
func shapeAccess512(a *access, lo, hi *lanes, b *bounds)

//go:noescape
func loadDwords512(d *lanes, data *byte, a *access, more uint32)

//go:noescape
func storeDwords512(s *lanes, data *byte, a *access, more uint32)

func shapeAccess(a *access, lo, hi *lanes, b *bounds) {
	if hasAVX512 {
		shapeAccess512(a, lo, hi, b)
		return
	}
	shapeAccessGo(a, lo, hi, b)
}

func loadDwords(d *lanes, data []byte, a *access, more uint32) {
	if hasAVX512 {
		loadDwords512(d, &data[0], a, more)
		return
	}
	loadDwordsGo(d, data, a, more)
}

func storeDwords(s *lanes, data []byte, a *access, more uint32) {
	if hasAVX512 {
		storeDwords512(s, &data[0], a, more)
		return
	}
	storeDwordsGo(s, data, a, more)
}
