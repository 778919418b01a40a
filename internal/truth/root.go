package truth

// Rsqrt returns 1/sqrt(x). Rsqrt(±0) = ±Inf, Rsqrt(+Inf) = 0,
// Rsqrt(x < 0) = NaN.
func (x DD) Rsqrt() DD { return DD{Hi: 1}.Div(x.Sqrt()) }

// Rsqrt returns 1/sqrt(x).
func Rsqrt(x float64) DD { return DD{Hi: x}.Rsqrt() }

// Recip returns 1/x.
func Recip(x float64) DD { return FromQuo(1, x) }

// Cbrt returns the cube root of x. Cbrt(±0) = ±0, Cbrt(±Inf) = ±Inf.
func (x DD) Cbrt() DD {
	if x.Hi == 0 || !finite(x.Hi) {
		return DD{Hi: x.Hi}
	}
	if x.Hi < 0 {
		return x.Neg().Cbrt().Neg()
	}
	m, k := x.frexp()
	j := ((k % 3) + 3) % 3
	m = scale(m, j) // [1/2, 4), and x = m*2^(k-j)
	// Newton's iteration from a line within 0.1 of the root, to 2^-50.
	y := 0.62 + float64(0.27*m.Hi)
	for range 5 {
		y2 := float64(y * y)
		y -= (y - m.Hi/y2) / 3
	}
	// One step more with the residue in double-double.
	p, e := twoProd(y, y)
	res := add(mulFloat(DD{p, e}, y), m.Neg())
	return scale(norm(y, -res.Hi/(3*p)), (k-j)/3)
}

// Cbrt returns the cube root of x.
func Cbrt(x float64) DD { return DD{Hi: x}.Cbrt() }
