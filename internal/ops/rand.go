package ops

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
)

// A Rand draws inputs. Its stream is a function of (seed, case name)
// alone and uses only integer arithmetic and exact float64 operations, so
// that inputs are the same on every machine and with every Go version.
//
// The generator is SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014): state += 0x9e3779b97f4a7c15;
// z = state; z = (z ^ z>>30) * 0xbf58476d1ce4e5b9;
// z = (z ^ z>>27) * 0x94d049bb133111eb; output z ^ z>>31. Its first state
// is the first eight bytes, little-endian, of the SHA-256 of the seed's
// eight little-endian bytes followed by the case name.
type Rand struct{ state uint64 }

// NewRand returns the generator for a case.
func NewRand(seed uint64, name string) *Rand {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	h.Write([]byte(name))
	return &Rand{binary.LittleEndian.Uint64(h.Sum(nil))}
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// IntN returns a number in [0, n): the high word of a 64x64-bit product,
// whose bias is below n/2^64.
func (r *Rand) IntN(n int) int {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

// Float64 returns a multiple of 2^-53 in [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// Uniform returns a number in [lo, hi).
func (r *Rand) Uniform(lo, hi float64) float64 {
	return lo + float64((hi-lo)*r.Float64())
}

// Normal returns a number of mean 0 and variance 1: the sum of twelve
// 32-bit uniforms less six (Irwin-Hall), exact and without a math
// library. Its tails end at 6.
func (r *Rand) Normal() float64 {
	var s uint64
	for range 6 {
		u := r.Uint64()
		s += u>>32 + u&0xffffffff
	}
	return float64(int64(s)-6<<32) * 0x1p-32
}

// LogUniform returns a number of random sign whose exponent is uniform in
// [emin, emax] and whose fraction is random.
func (r *Rand) LogUniform(emin, emax int) float64 {
	u := r.Uint64()
	m := 1 + float64(u>>12)*0x1p-52
	if u&1 != 0 {
		m = -m
	}
	return math.Ldexp(m, emin+r.IntN(emax-emin+1))
}
