package sim

// The vector forms of additions keep NaNs as arith has them, the first
// operand's before the second's and the negative one for none; the others
// return the lanes where a NaN is involved for the Go form to do.

//go:noescape
func addAVX(d, a, b *lanes, exec uint64, n int)

//go:noescape
func subAVX(d, a, b *lanes, exec uint64, n int)

//go:noescape
func mulAVX(d, a, b *lanes, exec uint64, n int)

//go:noescape
func minAVX(d, a, b *lanes, exec uint64, n int) (nans uint64)

//go:noescape
func maxAVX(d, a, b *lanes, exec uint64, n int) (nans uint64)

//go:noescape
func fmaAVX(d, a, b, c *lanes, exec uint64, n int) (nans uint64)

//go:noescape
func wideAVX(d, a *lanes, exec uint64, n int)

//go:noescape
func narrowAVX(d, a *lanes, exec uint64, n int)

//go:noescape
func carryAddAVX(d, a, b *lanes, n int, in uint64) (out uint64)

//go:noescape
func carrySubAVX(d, a, b *lanes, n int, in uint64) (out uint64)

func carryAdd(d, a, b *lanes, n int, in uint64) uint64 {
	if vectors >= levelAVX2 {
		return carryAddAVX(d, a, b, n, in)
	}
	return carryAddLanes(d, a, b, n, in)
}

func carrySub(d, a, b *lanes, n int, in uint64) uint64 {
	if vectors >= levelAVX2 {
		return carrySubAVX(d, a, b, n, in)
	}
	return carrySubLanes(d, a, b, n, in)
}

func addF32(d, a, b *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		addAVX(d, a, b, exec, n)
		return
	}
	addLanes(d, a, b, exec)
}

func subF32(d, a, b *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		subAVX(d, a, b, exec, n)
		return
	}
	subLanes(d, a, b, exec)
}

func mulF32(d, a, b *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		mulAVX(d, a, b, exec, n)
		return
	}
	mulLanes(d, a, b, exec)
}

func minF32(d, a, b *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		exec = minAVX(d, a, b, exec, n)
	}
	if exec != 0 {
		minLanes(d, a, b, exec)
	}
}

func maxF32(d, a, b *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		exec = maxAVX(d, a, b, exec, n)
	}
	if exec != 0 {
		maxLanes(d, a, b, exec)
	}
}

func fmaF32(d, a, b, c *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		exec = fmaAVX(d, a, b, c, exec, n)
	}
	if exec != 0 {
		fmaLanes(d, a, b, c, exec)
	}
}

func wideF16(d, a *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		wideAVX(d, a, exec, n)
		return
	}
	wideLanes(d, a, exec)
}

func narrowF32(d, a *lanes, exec uint64, n int) {
	if vectors >= levelAVX2 {
		narrowAVX(d, a, exec, n)
		return
	}
	narrowLanes(d, a, exec)
}
