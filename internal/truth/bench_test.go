package truth

import (
	"math/rand/v2"
	"testing"
)

var sink DD

// args are n arguments for fn from its interval, uniform.
func (fn *function) args(n int) []float64 {
	r := rand.New(rand.NewPCG(9, 10))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = fn.lo + r.Float64()*(fn.hi-fn.lo)
	}
	return xs
}

func BenchmarkFunctions(b *testing.B) {
	for _, fn := range functions {
		b.Run(fn.name, func(b *testing.B) {
			xs := fn.args(1024)
			i := 0
			for b.Loop() {
				sink = fn.f(xs[i%len(xs)])
				i++
			}
		})
	}
	b.Run("pow", func(b *testing.B) {
		xs := functions[3].args(1024)
		i := 0
		for b.Loop() {
			sink = Pow(xs[i%len(xs)], 3.7)
			i++
		}
	})
	b.Run("sin_huge", func(b *testing.B) {
		i := 0
		for b.Loop() {
			sink = Sin(1e300 + float64(i)*1e285)
			i++
		}
	})
}

func BenchmarkDD(b *testing.B) {
	x, y := DD{1.1, 1e-17}, DD{1.3, -1e-17}
	bench := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
	bench("add", func() { sink = x.Add(y) })
	bench("mul", func() { sink = x.Mul(y) })
	bench("div", func() { sink = x.Div(y) })
	bench("sqrt", func() { sink = x.Sqrt() })
	bench("odd", func() { sink.Hi = x.Odd() })
}

// BenchmarkSums gives ns per 1024 elements.
func BenchmarkSums(b *testing.B) {
	r := rand.New(rand.NewPCG(11, 12))
	xs := wide(r, 1024, 20)
	var a Accumulator
	bench := func(name string, f func() DD) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * 1024)
			for b.Loop() {
				sink = f()
			}
		})
	}
	bench("Sum", func() DD { return Sum(xs) })
	bench("Dot", func() DD { return Dot(xs, xs) })
	bench("MeanVariance", func() DD { _, v := MeanVariance(xs); return v })
	bench("Accumulator.Add", func() DD {
		a.Reset()
		for _, x := range xs {
			a.Add(x)
		}
		return a.Sum()
	})
	bench("Accumulator.AddProd", func() DD {
		a.Reset()
		for _, x := range xs {
			a.AddProd(x, x)
		}
		return a.Sum()
	})
}
