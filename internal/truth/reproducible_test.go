package truth

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestReproducible requires the same bits of every machine. A change of a
// function that is meant changes the digest of its results here.
func TestReproducible(t *testing.T) {
	got := map[string]uint64{}
	for _, fn := range functions {
		h := fnv.New64a()
		put := func(y DD) {
			var b [16]byte
			if y.IsNaN() {
				y.Hi = math.Inf(1)
				y.Lo = 1
			}
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(y.Hi))
			binary.LittleEndian.PutUint64(b[8:], math.Float64bits(y.Lo))
			h.Write(b[:])
		}
		r := rand.New(rand.NewPCG(41, 42))
		for range 2000 {
			x := float64(fn.lo + float64(r.Float64()*(fn.hi-fn.lo)))
			put(fn.f(x))
			put(fn.f(math.Ldexp(x, -r.IntN(200))))
			put(fn.f(math.Float64frombits(r.Uint64())))
			put(fn.dd(DD{x, math.Ldexp(x, -55)}))
		}
		got[fn.name] = h.Sum64()
	}
	for name, d := range digests {
		if got[name] != d {
			t.Errorf("%s: digest of results is %#x, want %#x", name, got[name], d)
		}
		delete(got, name)
	}
	for name, d := range got {
		t.Errorf("%s: no digest; it is %#x", name, d)
	}
}

var digests = map[string]uint64{
	"cbrt":      0xb6615ec4ddd999e6,
	"cos":       0xe725950997e2a8ac,
	"cosh":      0x60e06b6ee3563698,
	"elu":       0x54d044cd7820ad9e,
	"erf":       0x95d624a258517223,
	"erfc":      0x689da5271d434f8f,
	"exp":       0x44627c1ed742e498,
	"exp2":      0x3d99f4f0ec2356a4,
	"expm1":     0x2afb136aa77fbe7c,
	"gelu_erf":  0x637894103b97d950,
	"gelu_tanh": 0x84a230b1f7411e33,
	"log":       0xe07eac83022edd,
	"log10":     0x93cd32e15e550988,
	"log1p":     0xea566cb8da143705,
	"log2":      0x30faabbad0f5387e,
	"normcdf":   0x1980e17af62525d1,
	"recip":     0x7870d08a6aeff042,
	"rsqrt":     0x5777940a773c85fd,
	"sigmoid":   0x74ff9d3b1d80536a,
	"silu":      0x800e399be3c1dd,
	"sin":       0x5e3026c4b3e080fb,
	"sinh":      0xb427a546094273de,
	"sqrt":      0xc744add92467f445,
	"tan":       0xcd8556df45974f20,
	"tanh":      0xc24fae68ccda0889,
}
