package arith

// The cube instructions find the face of a cube map that the vector (x, y, z)
// meets, and the coordinates there. The face belongs to the coordinate of the
// greatest magnitude; z wins a draw, then y.
// Source: AMD, RDNA ISA reference, V_CUBEID_F32 and following.

// major returns 0, 1 or 2 for the axis of the face.
func major(x, y, z uint32) int {
	ax, ay, az := f32(x&^sign32), f32(y&^sign32), f32(z&^sign32)
	switch {
	case az >= ax && az >= ay:
		return 2
	case ay >= ax:
		return 1
	}
	return 0
}

func (m Mode) cubeIn(x, y, z uint32) (uint32, uint32, uint32) {
	return m.In32(x), m.In32(y), m.In32(z)
}

// CubeidF32 returns the number of the face as f32: 0 and 1 for x at and
// above zero and below, 2 and 3 for y, 4 and 5 for z.
func (m Mode) CubeidF32(x, y, z uint32) uint32 {
	x, y, z = m.cubeIn(x, y, z)
	k := major(x, y, z)
	n := 2 * k
	if f32([3]uint32{x, y, z}[k]) < 0 {
		n++
	}
	return bits32(float32(n))
}

// CubescF32 returns the S coordinate on the face.
func (m Mode) CubescF32(x, y, z uint32) uint32 {
	x, y, z = m.cubeIn(x, y, z)
	r := x
	switch major(x, y, z) {
	case 2:
		if f32(z) < 0 {
			r = x ^ sign32
		}
	case 0:
		r = z ^ sign32
		if f32(x) < 0 {
			r = z
		}
	}
	return m.CanonicalizeF32(r)
}

// CubetcF32 returns the T coordinate on the face.
func (m Mode) CubetcF32(x, y, z uint32) uint32 {
	x, y, z = m.cubeIn(x, y, z)
	r := y ^ sign32
	if major(x, y, z) == 1 {
		r = z
		if f32(y) < 0 {
			r = z ^ sign32
		}
	}
	return m.CanonicalizeF32(r)
}

// CubemaF32 returns twice the coordinate of the greatest magnitude.
func (m Mode) CubemaF32(x, y, z uint32) uint32 {
	x, y, z = m.cubeIn(x, y, z)
	return m.MulF32(two32, [3]uint32{x, y, z}[major(x, y, z)])
}
