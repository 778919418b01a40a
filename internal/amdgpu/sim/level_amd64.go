package sim

import "golang.org/x/sys/cpu"

// vectors are the instructions for rows that are used here. Tests try those
// that are left, which must give the same bits.
var vectors = supported()

// supported returns what the processor has. GODEBUG=cpu.avx512f=off, and
// cpu.avx2=off with it, take away.
func supported() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasF16C:
		return levelGo
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasBMI2:
		return levelAVX2
	}
	return levelAVX512
}
