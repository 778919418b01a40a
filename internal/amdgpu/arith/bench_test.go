package arith

import "testing"

// The lanes of a wave, as a simulator's inner loop sees them.
var lanes = func() (v [3][64]uint32) {
	for i := range v[0] {
		v[0][i] = bits32(float32(i)*0.37 - 9)
		v[1][i] = bits32(1.5 + float32(i)*0.01)
		v[2][i] = bits32(float32(i)*0.11 + 0.3)
	}
	return v
}()

// benchmark times f on 64 lanes and reports ns per lane.
func benchmark(b *testing.B, f func(d, x, y, z *[64]uint32)) {
	d, v := new([64]uint32), lanes
	for b.Loop() {
		f(d, &v[0], &v[1], &v[2])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/lane")
}

func BenchmarkAddF32(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = AddF32(x[i], y[i])
		}
	})
}

func BenchmarkMinF32(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = MinF32(x[i], y[i])
		}
	})
}

func BenchmarkFmaF32(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = FmaF32(x[i], y[i], z[i])
		}
	})
}

func BenchmarkFmaF16(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = uint32(FmaF16(uint16(x[i]>>16), uint16(y[i]>>16), uint16(z[i]>>16)))
		}
	})
}

func BenchmarkModeFmaF32(b *testing.B) {
	const m = Mode(RoundTrunc)
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = m.FmaF32(x[i], y[i], z[i])
		}
	})
}

func BenchmarkLdexpF32(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = DefaultMode.LdexpF32(x[i], 5)
		}
	})
}

func BenchmarkTranscendentalF32(b *testing.B) {
	var tr Transcendental
	for _, c := range []struct {
		name string
		f    func(uint32) uint32
	}{{"exp", tr.ExpF32}, {"log", tr.LogF32}, {"rcp", tr.RcpF32}, {"rsq", tr.RsqF32}, {"sqrt", tr.SqrtF32}, {"sin", sin32}} {
		b.Run(c.name, func(b *testing.B) {
			benchmark(b, func(d, x, y, z *[64]uint32) {
				for i := range d {
					d[i] = c.f(z[i])
				}
			})
		})
	}
}

func BenchmarkDivF32(b *testing.B) {
	benchmark(b, func(d, x, y, z *[64]uint32) {
		for i := range d {
			d[i] = Transcendental{}.divF32(x[i], y[i])
		}
	})
}
