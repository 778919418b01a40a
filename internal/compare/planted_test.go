package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// The detection matrix of the judge: faults planted in honest outputs and
// in the kernels' arithmetic, beside honest kernels that add in another
// order or fuse otherwise. No fault may pass and no honest kernel may do
// less than pass, with a counterpart or without. Bounds are those of
// numerics.md 4.2, untuned.

const (
	u16 = 0x1p-11
	u32 = 0x1p-24
)

// A specimen is an op with its truth, kernels that are right and kernels
// that are not.
type specimen struct {
	name    string
	e       *Expected
	cols    int
	input   *tensor.Tensor
	honest  map[string]func() []float64
	faults  map[string]func() []float64
	rounded bool // outputs are stored in a half type after f32 arithmetic
}

func f32(x float64) float64 { return float64(float32(x)) }
func f16(x float64) float64 { return tensor.F16.Round(x) }

// sumLanes adds v in the arithmetic of r: strided partial sums of lanes,
// then a tree.
func sumLanes(v []float64, lanes int, r func(float64) float64) float64 {
	p := make([]float64, lanes)
	for i, x := range v {
		p[i%lanes] = r(p[i%lanes] + x)
	}
	for s := lanes / 2; s > 0; s /= 2 {
		for i := range s {
			p[i] = r(p[i] + p[i+s])
		}
	}
	return p[0]
}

// truncated is x rounded to f32 toward zero.
func truncated(x float64) float64 {
	f := float32(x)
	if math.Abs(float64(f)) > math.Abs(x) {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}

func normals(r *rand.Rand, n int, d tensor.DType) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = d.Round(r.NormFloat64())
	}
	return v
}

// rows applies f to every row of x.
func rows(x []float64, cols int, f func(row []float64) []float64) func() []float64 {
	return func() []float64 {
		var out []float64
		for i := 0; i < len(x); i += cols {
			out = append(out, f(x[i:i+cols])...)
		}
		return out
	}
}

func rnd(d tensor.DType, y float64) float64 {
	return max(d.UnitRoundoff()*math.Abs(y), d.MinSubnormal()/2)
}

func softmaxSpecimen(r *rand.Rand) *specimen {
	const n, cols = 64, 128
	x := normals(r, n*cols, tensor.F32)
	for i := range x {
		x[i] = f32(3*x[i] + 40)
	}
	e := &Expected{DType: tensor.F32, Group: cols, ULP: true, Axes: []Axis{{"row", n}, {"col", cols}}}
	h := float64(cols/32 + 10)
	for i := 0; i < len(x); i += cols {
		row := x[i : i+cols]
		top, sum, hz := row[0], 0.0, 0.0
		for _, v := range row {
			top = max(top, v)
		}
		for _, v := range row {
			sum += math.Exp(v - top)
		}
		for _, v := range row {
			hz += math.Exp(v-top) / sum * (top - v)
		}
		for _, v := range row {
			p := math.Exp(v-top) / sum
			b := p * (u32*(top-v+hz) + 10*u32 + (h+3)*u32)
			e.Value = append(e.Value, p)
			e.Hard = append(e.Hard, b+rnd(tensor.F32, p))
		}
	}
	stored := func(store func(float64) float64, lanes int, exp func(float64) float64, count func(row []float64) []float64) func() []float64 {
		return rows(x, cols, func(row []float64) []float64 {
			top := math.Inf(-1)
			for _, v := range row {
				top = max(top, v)
			}
			out := make([]float64, len(row))
			for i, v := range row {
				out[i] = exp(f32(v - top))
			}
			inv := f32(1 / sumLanes(count(out), lanes, f32))
			for i := range out {
				out[i] = store(out[i] * inv)
			}
			return out
		})
	}
	kernel := func(lanes int, exp func(float64) float64, count func(row []float64) []float64) func() []float64 {
		return stored(f32, lanes, exp, count)
	}
	exp := func(v float64) float64 { return f32(math.Exp(v)) }
	all := func(v []float64) []float64 { return v }
	return &specimen{
		name: "softmax", e: e, cols: cols, input: tensor.FromFloats(tensor.F32, x, n*cols),
		honest: map[string]func() []float64{
			"32 lanes":  kernel(32, exp, all),
			"64 lanes":  kernel(64, exp, all),
			"256 lanes": kernel(256, exp, all),
			"exp of 1 ulp": kernel(32, func(v float64) float64 {
				y := math.Exp(v)
				return f32(y + tensor.F32.ULP(y)*0.7*math.Sin(1e4*v))
			}, all),
		},
		faults: map[string]func() []float64{
			"half of the sum":      kernel(32, exp, func(v []float64) []float64 { return v[:len(v)/2] }),
			"upper lanes left out": kernel(64, exp, func(v []float64) []float64 { w := append([]float64{}, v...); clearLanes(w, 64, 32); return w }),
			"last element left out of the sum": kernel(32, exp, func(v []float64) []float64 {
				w := append([]float64{}, v...)
				w[len(w)-1] = 0
				return w
			}),
			"sum in f16": rows(x, cols, func(row []float64) []float64 {
				top := row[0]
				for _, v := range row {
					top = max(top, v)
				}
				out := make([]float64, len(row))
				for i, v := range row {
					out[i] = exp(f32(v - top))
				}
				s := sumLanes(out, 32, f16)
				for i := range out {
					out[i] = f32(out[i] / s)
				}
				return out
			}),
			"store truncates": stored(truncated, 32, exp, all),
			"fast exp":        kernel(32, func(v float64) float64 { return f32(math.Exp(v) * (1 + 3e-6*math.Abs(v))) }, all),
			"exp of f16":      kernel(32, func(v float64) float64 { return f16(math.Exp(v)) }, all),
			"exp2 for exp":    kernel(32, func(v float64) float64 { return f32(math.Exp2(v)) }, all),
			"maximum not subtracted": rows(x, cols, func(row []float64) []float64 {
				out := make([]float64, len(row))
				for i, v := range row {
					out[i] = f32(math.Exp(2 * v))
				}
				s := sumLanes(out, 32, f32)
				for i := range out {
					out[i] = f32(out[i] / s)
				}
				return out
			}),
		},
	}
}

// clearLanes zeroes the lanes from k on of every wave of the given size.
func clearLanes(v []float64, wave, k int) {
	for i := range v {
		if i%wave >= k {
			v[i] = 0
		}
	}
}

func rmsNormSpecimen(r *rand.Rand) *specimen {
	const n, cols, eps = 24, 256, 1e-3
	x := normals(r, n*cols, tensor.F32)
	for i := range x {
		x[i] = f32(0.3 * x[i])
	}
	e := &Expected{DType: tensor.F32, Group: cols, ULP: true, Axes: []Axis{{"row", n}, {"col", cols}}}
	h := float64(cols/32 + 10)
	for i := 0; i < len(x); i += cols {
		s := 0.0
		for _, v := range x[i : i+cols] {
			s += v * v
		}
		for _, v := range x[i : i+cols] {
			y := v / math.Sqrt(s/cols+eps)
			e.Value = append(e.Value, y)
			e.Hard = append(e.Hard, math.Abs(y)*(0.5*(h+2)+5+3)*u32+rnd(tensor.F32, y))
		}
	}
	stored := func(store func(float64) float64, lanes int, eps float64, square func(v float64) float64, norm func(s float64) float64) func() []float64 {
		return rows(x, cols, func(row []float64) []float64 {
			sq := make([]float64, len(row))
			for i, v := range row {
				sq[i] = square(v)
			}
			k := norm(f32(f32(sumLanes(sq, lanes, f32)/cols) + eps))
			out := make([]float64, len(row))
			for i, v := range row {
				out[i] = store(v * k)
			}
			return out
		})
	}
	kernel := func(lanes int, eps float64, square func(v float64) float64, norm func(s float64) float64) func() []float64 {
		return stored(f32, lanes, eps, square, norm)
	}
	square := func(v float64) float64 { return f32(v * v) }
	rsqrt := func(s float64) float64 { return f32(1 / math.Sqrt(s)) }
	epsf := f32(eps)
	return &specimen{
		name: "rms_norm", e: e, cols: cols, input: tensor.FromFloats(tensor.F32, x, n*cols),
		honest: map[string]func() []float64{
			"32 lanes":       kernel(32, epsf, square, rsqrt),
			"64 lanes":       kernel(64, epsf, square, rsqrt),
			"256 lanes":      kernel(256, epsf, square, rsqrt),
			"fused squares":  kernel(32, epsf, func(v float64) float64 { return v * v }, rsqrt),
			"rsqrt of 1 ulp": kernel(32, epsf, square, func(s float64) float64 { y := 1 / math.Sqrt(s); return f32(y + tensor.F32.ULP(y)*math.Sin(1e6*s)) }),
		},
		faults: map[string]func() []float64{
			"store truncates":    stored(truncated, 32, epsf, square, rsqrt),
			"eps left out":       kernel(32, 0, square, rsqrt),
			"eps outside":        kernel(32, 0, square, func(s float64) float64 { return f32(1 / (math.Sqrt(s) + eps)) }),
			"n-1":                kernel(32, epsf, square, func(s float64) float64 { return f32(1 / math.Sqrt((s-eps)*cols/(cols-1)+eps)) }),
			"root left out":      kernel(32, epsf, square, func(s float64) float64 { return f32(1 / s) }),
			"rsqrt approximated": kernel(32, epsf, square, func(s float64) float64 { return f32(1 / math.Sqrt(s) * (1 + 0x1p-17)) }),
			"squares in f16":     kernel(32, epsf, func(v float64) float64 { return f16(v * v) }, rsqrt),
			"mean taken off": rows(x, cols, func(row []float64) []float64 {
				m := sumLanes(row, 32, f32) / cols
				out := make([]float64, len(row))
				s := 0.0
				for _, v := range row {
					s += (v - m) * (v - m)
				}
				for i, v := range row {
					out[i] = f32((v - m) / math.Sqrt(s/cols+eps))
				}
				return out
			}),
		},
	}
}

func geluSpecimen(r *rand.Rand) *specimen {
	const n, cols = 8192, 64
	x := normals(r, n, tensor.F16)
	e := &Expected{DType: tensor.F16, ULP: true, MaxNotNearest: 0.01}
	c := math.Sqrt(2 / math.Pi)
	for i := range x {
		x[i] = f16(2 * x[i])
		z := c * (x[i] + 0.044715*x[i]*x[i]*x[i])
		th := math.Tanh(z)
		y := 0.5 * x[i] * (1 + th)
		b := 0.5*math.Abs(x[i])*((1-th*th)*math.Abs(z)*6*u32+5*u32*math.Abs(th)+u32*(1+th)) + 2*u32*math.Abs(y)
		e.Value = append(e.Value, y)
		e.Hard = append(e.Hard, b+rnd(tensor.F16, y))
	}
	kernel := func(f func(x float64) float64) func() []float64 {
		return func() []float64 {
			out := make([]float64, n)
			for i, v := range x {
				out[i] = f(v)
			}
			return out
		}
	}
	tanh := func(c, k float64) func(float64) float64 {
		return func(x float64) float64 {
			z := f32(f32(c) * f32(x+f32(f32(k)*f32(x*f32(x*x)))))
			return f16(f32(f32(0.5*x) * f32(1+f32(math.Tanh(z)))))
		}
	}
	return &specimen{
		name: "gelu f16", e: e, cols: cols, rounded: true, input: tensor.FromFloats(tensor.F16, x, n),
		honest: map[string]func() []float64{
			"f32 inside": kernel(tanh(c, 0.044715)),
			"fused": kernel(func(x float64) float64 {
				z := f32(f32(c) * f32(x+f32(0.044715)*x*x*x))
				return f16(f32(0.5 * x * (1 + f32(math.Tanh(z)))))
			}),
			"f64 inside": kernel(func(x float64) float64 {
				return f16(0.5 * x * (1 + math.Tanh(c*(x+0.044715*x*x*x))))
			}),
		},
		faults: map[string]func() []float64{
			"erf":            kernel(func(x float64) float64 { return f16(0.5 * x * (1 + math.Erf(x/math.Sqrt2))) }),
			"wrong constant": kernel(tanh(0.79, 0.044715)),
			"0.0447":         kernel(tanh(c, 0.0446)),
			"sigmoid":        kernel(func(x float64) float64 { return f16(x / (1 + math.Exp(-1.702*x))) }),
			"tanh in f16":    kernel(func(x float64) float64 { return f16(0.5 * x * f16(1+f16(math.Tanh(f16(c*(x+0.044715*x*x*x)))))) }),
			"relu":           kernel(func(x float64) float64 { return max(x, 0) }),
		},
	}
}

func matmulSpecimen(r *rand.Rand) *specimen {
	const m, n, k = 32, 32, 192
	a, b := normals(r, m*k, tensor.F16), normals(r, k*n, tensor.F16)
	e := &Expected{DType: tensor.F16, Axes: []Axis{{"m", m}, {"n", n}}}
	terms := func(i, j int) []float64 {
		t := make([]float64, k)
		for l := range k {
			t[l] = a[i*k+l] * b[l*n+j]
		}
		return t
	}
	for i := range m {
		for j := range n {
			s, d := 0.0, 0.0
			for _, t := range terms(i, j) {
				s += t
				d += math.Abs(t)
			}
			e.Value = append(e.Value, s)
			e.Hard = append(e.Hard, (k+1)*u32*d+rnd(tensor.F16, s))
			e.Likely = append(e.Likely, 8.4*math.Sqrt(k+1)*u32*d+rnd(tensor.F16, s))
		}
	}
	kernel := func(f func(t []float64) float64) func() []float64 {
		return func() []float64 {
			var out []float64
			for i := range m {
				for j := range n {
					out = append(out, f16(f(terms(i, j))))
				}
			}
			return out
		}
	}
	return &specimen{
		name: "matmul f16", e: e, cols: n, rounded: true, input: tensor.FromFloats(tensor.F16, a[:m*n], m*n),
		honest: map[string]func() []float64{
			"in order": kernel(func(t []float64) float64 { return sumLanes(t, 1, f32) }),
			"tree":     kernel(func(t []float64) float64 { return sumLanes(t, 64, f32) }),
			"in f64":   kernel(func(t []float64) float64 { return sumLanes(t, 1, func(x float64) float64 { return x }) }),
		},
		faults: map[string]func() []float64{
			"accumulates in f16":  kernel(func(t []float64) float64 { return sumLanes(t, 1, f16) }),
			"partial sums in f16": kernel(func(t []float64) float64 { return sumLanes(t, 16, f16) }),
			"products in f16": kernel(func(t []float64) float64 {
				s := 0.0
				for _, v := range t {
					s = f32(s + f16(v))
				}
				return s
			}),
			"last term left out":  kernel(func(t []float64) float64 { return sumLanes(t[:k-1], 1, f32) }),
			"last tile left out":  kernel(func(t []float64) float64 { return sumLanes(t[:k-16], 1, f32) }),
			"first term twice":    kernel(func(t []float64) float64 { return sumLanes(append(t, t[0]), 1, f32) }),
			"stored through bf16": kernel(func(t []float64) float64 { return tensor.BF16.Round(sumLanes(t, 1, f32)) }),
		},
	}
}

func maxSpecimen(r *rand.Rand) *specimen {
	const n, cols = 256, 96
	x := normals(r, n*cols, tensor.F32)
	for i := 0; i < n; i += 10 {
		x[i*cols+i%cols] = nan // ignored, as fmax does
	}
	fmax := func(row []float64) float64 {
		top := math.Inf(-1)
		for _, v := range row {
			if v > top {
				top = v
			}
		}
		return top
	}
	kernel := func(f func(row []float64) float64) func() []float64 {
		return rows(x, cols, func(row []float64) []float64 { return []float64{f(row)} })
	}
	e := &Expected{DType: tensor.F32, Exact: tensor.FromFloats(tensor.F32, kernel(fmax)(), n)}
	return &specimen{
		name: "max", e: e, cols: 16, input: tensor.FromFloats(tensor.F32, x[:n], n),
		honest: map[string]func() []float64{
			"in order": kernel(fmax),
			"backward": kernel(func(row []float64) float64 {
				top := math.Inf(-1)
				for i := len(row) - 1; i >= 0; i-- {
					if row[i] > top {
						top = row[i]
					}
				}
				return top
			}),
		},
		faults: map[string]func() []float64{
			"NaN kept":           kernel(func(row []float64) float64 { return maxNaN(row) }),
			"last one left out":  kernel(func(row []float64) float64 { return fmax(row[:cols-1]) }),
			"half left out":      kernel(func(row []float64) float64 { return fmax(row[:cols/2]) }),
			"of absolutes":       kernel(func(row []float64) float64 { return max(fmax(row), -maxNeg(row)) }),
			"through f16":        kernel(func(row []float64) float64 { return f16(fmax(row)) }),
			"minimum":            kernel(maxNeg),
			"starts from 2.2":    kernel(func(row []float64) float64 { return max(2.2, fmax(row)) }),
			"one ulp in one row": func() []float64 { v := kernel(fmax)(); v[77] += tensor.F32.ULP(v[77]); return v },
			"-inf in a NaN's row": kernel(func(row []float64) float64 {
				if math.IsNaN(maxNaN(row)) {
					return -inf
				}
				return fmax(row)
			}),
		},
	}
}

func maxNaN(row []float64) float64 {
	top := math.Inf(-1)
	for _, v := range row {
		top = max(top, v)
	}
	return top
}

func maxNeg(row []float64) float64 {
	low := inf
	for _, v := range row {
		if v < low {
			low = v
		}
	}
	return low
}

// placed are faults of an output, whatever the op.
func placed(s *specimen, r *rand.Rand) map[string]func(t *tensor.Tensor) {
	n := s.e.Len()
	cols := s.cols
	d := s.e.DType
	each := func(f func(v float64) float64) func(t *tensor.Tensor) {
		return func(t *tensor.Tensor) {
			for i := range n {
				t.SetFloat(i, f(t.Float(i)))
			}
		}
	}
	from := func(f func(i int) int) func(t *tensor.Tensor) {
		return func(t *tensor.Tensor) {
			c := t.Clone()
			for i := range n {
				t.SetBits(i, c.Bits(f(i)))
			}
		}
	}
	set := func(i, to int, v float64) func(t *tensor.Tensor) {
		return func(t *tensor.Tensor) {
			for ; i < to; i++ {
				t.SetFloat(i, v)
			}
		}
	}
	k := n/2 + 7
	// The element of largest size, for faults of one element: one that is
	// near zero may be lost within its bound.
	big := 0
	mean := 0.0
	truth := func(i int) float64 {
		if s.e.Exact != nil {
			return s.e.Exact.Float(i)
		}
		return s.e.Value[i]
	}
	for i := range n {
		mean += truth(i) / float64(n)
		if math.Abs(truth(i)) > math.Abs(truth(big)) {
			big = i
		}
	}
	faults := map[string]func(t *tensor.Tensor){
		"one element zero":           set(big, big+1, 0),
		"one element NaN":            set(k, k+1, nan),
		"one element infinite":       set(k, k+1, inf),
		"one element -infinite":      set(k, k+1, -inf),
		"one element of wrong sign":  func(t *tensor.Tensor) { t.SetFloat(big, -t.Float(big)) },
		"one element doubled":        func(t *tensor.Tensor) { t.SetFloat(big, 2*t.Float(big)) },
		"one element of one percent": func(t *tensor.Tensor) { t.SetFloat(big, 1.01*t.Float(big)) },
		"one exponent bit":           func(t *tensor.Tensor) { t.SetBits(k, t.Bits(k)^1<<(d.Precision()-1)) },
		"one high fraction bit":      func(t *tensor.Tensor) { t.SetBits(big, t.Bits(big)^1<<(d.Precision()-4)) },
		"all zero":                   set(0, n, 0),
		"all NaN":                    set(0, n, nan),
		"the mean everywhere":        set(0, n, mean),
		"the input":                  func(t *tensor.Tensor) { copy(t.Data, s.input.Data) },
		"first row zero":             set(0, cols, 0),
		"last row NaN":               set(n-cols, n, nan),
		"last block unwritten":       func(t *tensor.Tensor) { fillBytes(t, n-n/8, n, 0xff) },
		"last element unwritten":     func(t *tensor.Tensor) { fillBytes(t, n-1, n, 0xff) },
		"second half unwritten":      func(t *tensor.Tensor) { fillBytes(t, n/2, n, 0) },
		"rows swapped": from(func(i int) int {
			if i < 2*cols {
				return (i + cols) % (2 * cols)
			}
			return i
		}),
		"one row twice": from(func(i int) int {
			if i >= cols && i < 2*cols {
				return i - cols
			}
			return i
		}),
		"off by one":           from(func(i int) int { return min(i+1, n-1) }),
		"pairs swapped":        from(func(i int) int { return i ^ 1 }),
		"halves swapped":       from(func(i int) int { return (i + n/2) % n }),
		"reversed":             from(func(i int) int { return n - 1 - i }),
		"first row everywhere": from(func(i int) int { return i % cols }),
		"one percent":          each(func(v float64) float64 { return 1.01 * v }),
		"a part in 2000":       each(func(v float64) float64 { return v * (1 + 0x1p-11) * (1 + 0x1p-12) }),
		"minus":                each(func(v float64) float64 { return -v }),
		"absolute of minus":    each(func(v float64) float64 { return -math.Abs(v) }),
		"shifted":              each(func(v float64) float64 { return v + 0.01*math.Abs(mean) + 0.01 }),
		"through e4m3":         each(func(v float64) float64 { return tensor.F8E4M3.Round(v) }),
		"through bf16":         each(func(v float64) float64 { return tensor.BF16.Round(v) }),
		"upper lanes unwritten": func(t *tensor.Tensor) {
			for i := 32; i < n; i += 64 {
				fillBytes(t, i, min(i+32, n), 0xff)
			}
		},
		"every 64th zero": func(t *tensor.Tensor) {
			for i := 63; i < n; i += 64 {
				t.SetFloat(i, 0)
			}
		},
		"noise of a thousandth": each(func(v float64) float64 { return v * (1 + 4e-3*r.NormFloat64()) }),
		"truncated store": func(t *tensor.Tensor) {
			for i := range n {
				if v := truth(i); math.Abs(t.Float(i)) > math.Abs(v) && t.Float(i) != 0 {
					t.SetBits(i, t.Bits(i)-1)
				}
			}
		},
	}
	if d == tensor.F32 {
		faults["through f16"] = each(f16)
	}
	if !s.rounded {
		delete(faults, "truncated store") // planted in the kernel
	}
	return faults
}

func fillBytes(t *tensor.Tensor, from, to int, b byte) {
	for i := from; i < to; i++ {
		t.SetBits(i, filled(b, t.DType))
	}
}

func specimens() []*specimen {
	r := rand.New(rand.NewPCG(2024, 1))
	return []*specimen{softmaxSpecimen(r), rmsNormSpecimen(r), geluSpecimen(r), matmulSpecimen(r), maxSpecimen(r)}
}

func TestPlanted(t *testing.T) {
	faults, controls, passed, rejected := 0, 0, 0, 0
	for _, s := range specimens() {
		n := s.e.Len()
		opts := Options{Poison: []byte{0xff, 0}, Inputs: []Input{{"x", s.input}}, Block: 256, Wave: 64}
		out := func(v []float64) *tensor.Tensor { return tensor.FromFloats(s.e.DType, v, n) }
		var base *tensor.Tensor
		for _, name := range sortedKeys(s.honest) {
			got := out(s.honest[name]())
			if base == nil {
				base = got
			}
			for _, other := range []*tensor.Tensor{nil, base} {
				controls++
				j, err := Judge(s.e, got, other, opts)
				if err != nil {
					t.Fatal(err)
				}
				if j.Status != Pass {
					rejected++
					t.Errorf("honest %s, %s, counterpart %v: %s %s: %s %v %v", s.name, name, other != nil, j.Status, j.Verdict, j.Sides, j.Warnings, j.Hints)
				}
			}
		}
		try := func(name string, got *tensor.Tensor) {
			for _, other := range []*tensor.Tensor{nil, base} {
				if other == nil && name == "store truncates" {
					continue // within a bound of several ulp only a counterpart tells
				}
				faults++
				j, err := Judge(s.e, got, other, opts)
				if err != nil {
					t.Fatal(err)
				}
				if j.Status == Pass {
					passed++
					t.Errorf("fault %s, %s, counterpart %v: %s %s: %s", s.name, name, other != nil, j.Status, j.Verdict, j.Sides)
				}
			}
		}
		for _, name := range sortedKeys(s.faults) {
			try(name, out(s.faults[name]()))
		}
		planted := placed(s, rand.New(rand.NewPCG(5, 5)))
		for _, name := range sortedKeys(planted) {
			got := base.Clone()
			planted[name](got)
			try(name, got)
		}
	}
	if faults < 40 || controls < 9 {
		t.Errorf("%d faults and %d controls, want at least 40 and 9", faults, controls)
	}
	t.Logf("%d of %d faults passed, %d of %d controls rejected", passed, faults, rejected, controls)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// A gate of one relative tolerance, as most projects have, passes some of
// the same faults: the set is not one that anything would catch.
func TestPlantedNeedsTheBound(t *testing.T) {
	passed := 0
	for _, s := range specimens() {
		n := s.e.Len()
		base := tensor.FromFloats(s.e.DType, s.honest[sortedKeys(s.honest)[0]](), n)
		planted := placed(s, rand.New(rand.NewPCG(5, 5)))
		for _, name := range sortedKeys(planted) {
			got := base.Clone()
			planted[name](got)
			if close(got, base, 1e-2) {
				passed++
			}
		}
	}
	if passed < 10 {
		t.Errorf("a tolerance of 1e-2 passes %d faults, want at least 10: the faults are too coarse", passed)
	}
	t.Logf("a tolerance of 1e-2 would pass %d", passed)
}

func close(a, b *tensor.Tensor, tol float64) bool {
	for i := range a.Len() {
		x, y := a.Float(i), b.Float(i)
		if !(math.Abs(x-y) <= tol+tol*math.Abs(y)) {
			return false
		}
	}
	return true
}

func ExampleJudgement() {
	e := &Expected{DType: tensor.F32, Value: []float64{1, 2, 3, 4}, Hard: []float64{1e-6, 1e-6, 1e-6, 1e-6}, ULP: true}
	hip := tensor.FromFloats(tensor.F32, []float64{1, 2, 3, 4.5}, 4)
	cuda := tensor.FromFloats(tensor.F32, []float64{1, 2, 3, 4}, 4)
	j, err := Judge(e, hip, cuda, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Verdict, j.Status)
	fmt.Println(j.Sides)
	fmt.Println(j.Hints[0])
	// Output:
	// MISMATCH FAIL
	// HIP 1.05e+06 ulp, CUDA 0 ulp from the truth: HIP is off
	// one element of 4 is wrong: element 3
}
