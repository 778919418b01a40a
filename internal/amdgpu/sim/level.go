package sim

// A level says which vector instructions do the work on rows. What a level
// has no code for is done at the one below.
type level uint8

const (
	levelGo     level = iota
	levelAVX2         // with FMA and F16C: eight lanes at a time
	levelAVX512       // with BW, DQ and VL: sixteen
)

func (l level) String() string { return [...]string{"Go", "AVX2", "AVX-512"}[l] }
