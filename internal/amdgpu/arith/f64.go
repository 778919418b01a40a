package arith

import "math"

func f64(a uint64) float64    { return math.Float64frombits(a) }
func bits64(x float64) uint64 { return math.Float64bits(x) }

// AddF64 returns a+b, rounded to nearest even.
func AddF64(a, b uint64) uint64 {
	r := math.Float64frombits(a) + math.Float64frombits(b)
	if r == r {
		return math.Float64bits(r)
	}
	if a<<1 > exp64<<1 {
		return a | quiet64
	}
	if b<<1 > exp64<<1 {
		return b | quiet64
	}
	return nan64
}

// SubF64 returns a-b, rounded to nearest even.
func SubF64(a, b uint64) uint64 {
	r := math.Float64frombits(a) - math.Float64frombits(b)
	if r == r {
		return math.Float64bits(r)
	}
	if a<<1 > exp64<<1 {
		return a | quiet64
	}
	if b<<1 > exp64<<1 {
		return b | quiet64
	}
	return nan64
}

// MulF64 returns a*b, rounded to nearest even.
func MulF64(a, b uint64) uint64 {
	r := float64(math.Float64frombits(a) * math.Float64frombits(b))
	if r == r {
		return math.Float64bits(r)
	}
	if a<<1 > exp64<<1 {
		return a | quiet64
	}
	if b<<1 > exp64<<1 {
		return b | quiet64
	}
	return nan64
}

// FmaF64 returns a*b+c, rounded once to nearest even.
func FmaF64(a, b, c uint64) uint64 {
	r := math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c))
	if r == r {
		return math.Float64bits(r)
	}
	if a<<1 > exp64<<1 {
		return a | quiet64
	}
	if b<<1 > exp64<<1 {
		return b | quiet64
	}
	if c<<1 > exp64<<1 {
		return c | quiet64
	}
	return nan64
}

// AddF64 returns a+b under the mode.
func (m Mode) AddF64(a, b uint64) uint64 {
	a, b = m.In64(a), m.In64(b)
	if m.Round1664() == RoundEven {
		return m.Out64(AddF64(a, b))
	}
	return m.fma64(AddF64(a, b), a, one64, b)
}

// SubF64 returns a-b under the mode.
func (m Mode) SubF64(a, b uint64) uint64 {
	a, b = m.In64(a), m.In64(b)
	if m.Round1664() == RoundEven {
		return m.Out64(SubF64(a, b))
	}
	return m.fma64(SubF64(a, b), a, one64, b^sign64)
}

// MulF64 returns a*b under the mode.
func (m Mode) MulF64(a, b uint64) uint64 {
	a, b = m.In64(a), m.In64(b)
	if m.Round1664() == RoundEven {
		if r := MulF64(a, b); m&DenormOut1664 != 0 || r&^sign64 != man64+1 {
			return m.Out64(r)
		}
	}
	return m.fma64(MulF64(a, b), a, b, (a^b)&sign64)
}

// FmaF64 returns a*b+c, rounded once, under the mode.
func (m Mode) FmaF64(a, b, c uint64) uint64 {
	a, b, c = m.In64(a), m.In64(b), m.In64(c)
	if m.Round1664() == RoundEven {
		if r := FmaF64(a, b, c); m&DenormOut1664 != 0 || r&^sign64 != man64+1 {
			return m.Out64(r)
		}
	}
	return m.fma64(FmaF64(a, b, c), a, b, c)
}

// fma64 is a*b+c rounded as m says; even is its value to nearest even,
// which is the answer where an operand is not finite.
func (m Mode) fma64(even, a, b, c uint64) uint64 {
	if a&exp64 == exp64 || b&exp64 == exp64 || c&exp64 == exp64 {
		return even
	}
	return scaled(&layout64, a, b, c, 0, m.Round1664(), m&DenormOut1664 == 0)
}
