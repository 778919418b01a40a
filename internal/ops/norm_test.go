package ops

import (
	"math"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A normKernel is an emulated norm, in float32 but for what a field
// changes.
type normKernel struct {
	add      order                        // of sums; strided by the launch where nil
	variance string                       // "onepass", "fused", "twopass", "welford"
	square   func(x float32) float32      // of rms_norm; x*x where nil
	scale    func(v, eps float32) float32 // 1/sqrt(v+eps) where nil
	result   func(x, mean, s, a, b float32) float32
	store    func(d tensor.DType, x float64) float64
	count    func(n int) float32 // divisor; n where nil
	column   func(i, n int) int  // column of alpha and beta; i where nil
	row      func(r int) int     // row whose statistics are used; r where nil
	skip     func(i, n int) bool // elements that are not written
}

func (k normKernel) run(p *Problem) *tensor.Tensor {
	c := p.Case
	rows, n, dt := c.Dim("rows"), c.Dim("n"), c.Variant.T
	src := p.Arg("src").Buf
	layer := c.Op.Name == "layer_norm"
	var alpha, beta *tensor.Tensor
	alpha = p.Arg("alpha").Buf
	if layer {
		beta = p.Arg("beta").Buf
	}
	eps := float32(p.Arg("eps").Float)
	add := k.add
	if add == nil {
		add = strided(int(p.Block.X))
	}
	square := k.square
	if square == nil {
		square = func(x float32) float32 { return x * x }
	}
	scale := k.scale
	if scale == nil {
		scale = func(v, eps float32) float32 { return float32(1 / math.Sqrt(float64(v+eps))) }
	}
	result := k.result
	if result == nil {
		result = func(x, mean, s, a, b float32) float32 { return float32((x-mean)*s)*a + b }
	}
	store := k.store
	if store == nil {
		store = tensor.DType.Round
	}
	count := float32(n)
	if k.count != nil {
		count = k.count(n)
	}
	means, scales := make([]float32, rows), make([]float32, rows)
	for r := range rows {
		xs, sq := make([]float32, n), make([]float32, n)
		for i := range xs {
			xs[i] = float32(src.Float(r*n + i))
			sq[i] = square(xs[i])
		}
		var mean, v float32
		if !layer {
			v = add.of(sq) / count
		} else {
			mean = add.of(xs) / count
			switch k.variance {
			case "", "onepass":
				v = add.of(sq)/count - float32(mean*mean)
			case "fused":
				v = fma32(-mean, mean, add.of(sq)/count)
			case "twopass":
				for i, x := range xs {
					d := x - mean
					sq[i] = d * d
				}
				v = add.of(sq) / count
			case "welford":
				var m, m2 float32
				for i, x := range xs {
					d := x - m
					m += d / float32(i+1)
					m2 += float32(d * (x - m))
				}
				mean, v = m, m2/count
			}
		}
		means[r], scales[r] = mean, scale(v, eps)
	}
	out := tensor.New(dt, rows, n)
	for r := range rows {
		from := r
		if k.row != nil {
			from = k.row(r)
		}
		for i := range n {
			if k.skip != nil && k.skip(i, n) {
				out.SetBits(r*n+i, 0x5a5a5a5a5a5a5a5a)
				continue
			}
			col := i
			if k.column != nil {
				col = k.column(i, n)
			}
			a, b := float32(1), float32(0)
			if alpha != nil {
				a = float32(alpha.Float(col))
			}
			if beta != nil {
				b = float32(beta.Float(col))
			}
			y := result(float32(src.Float(r*n+i)), means[from], scales[from], a, b)
			out.SetFloat(r*n+i, store(dt, float64(y)))
		}
	}
	return out
}

// doubleNorm computes in float64 what the definition says.
func doubleNorm(p *Problem) *tensor.Tensor {
	n := p.Case.Dim("n")
	out := tensor.New(p.Case.Variant.T, p.Case.Dim("rows"), n)
	src, alpha := p.Arg("src").Buf, p.Arg("alpha").Buf
	var beta *tensor.Tensor
	layer := p.Case.Op.Name == "layer_norm"
	if layer {
		beta = p.Arg("beta").Buf
	}
	for at := 0; at < out.Len(); at += n {
		var mean, v float64
		if layer {
			for i := range n {
				mean += src.Float(at + i)
			}
			mean /= float64(n)
		}
		for i := range n {
			d := src.Float(at+i) - mean
			v += float64(d * d)
		}
		s := 1 / math.Sqrt(v/float64(n)+float64(float32(p.Arg("eps").Float)))
		for i := range n {
			y := (src.Float(at+i) - mean) * s
			if alpha != nil {
				y *= alpha.Float(i)
			}
			if beta != nil {
				y += beta.Float(i)
			}
			out.SetFloat(at+i, y)
		}
	}
	return out
}

func normEmulations() []emulation {
	list := []emulation{{name: "in double", run: doubleNorm}}
	for name, k := range map[string]normKernel{
		"candle":                {},
		"candle, fused":         {variance: "fused"},
		"two passes":            {variance: "twopass"},
		"one lane, Welford":     {variance: "welford"},
		"64 lanes":              {add: strided(64)},
		"128 lanes":             {add: strided(128)},
		"256 lanes, two passes": {add: strided(256), variance: "twopass"},
		"1024 lanes":            {add: strided(1024)},
		"one lane":              {add: sequential, variance: "fused"},
		"one lane, backward":    {add: backward, variance: "twopass"},
		"pairwise":              {add: pairwise},
		"runs of neighbours":    {add: chunked},
		"sum in double":         {add: wide},
		"rsqrt 2 ulp high":      {scale: func(v, eps float32) float32 { return ulps(float32(1/math.Sqrt(float64(v+eps))), 2) }},
		"rsqrt 2 ulp low":       {scale: func(v, eps float32) float32 { return ulps(float32(1/math.Sqrt(float64(v+eps))), -2) }},
		"1/sqrtf":               {scale: func(v, eps float32) float32 { return 1 / float32(math.Sqrt(float64(v+eps))) }},
		"gain first":            {result: func(x, mean, s, a, b float32) float32 { return (x-mean)*float32(s*a) + b }},
		"fused gain":            {result: func(x, mean, s, a, b float32) float32 { return fma32(float32((x-mean)*s), a, b) }},
		"scale and shift": {result: func(x, mean, s, a, b float32) float32 {
			return fma32(x, float32(s*a), b-float32(mean*float32(s*a)))
		}},
		"division by sqrt": {
			scale:  func(v, eps float32) float32 { return float32(math.Sqrt(float64(v + eps))) },
			result: func(x, mean, s, a, b float32) float32 { return float32((x-mean)/s)*a + b },
		},
	} {
		list = append(list, emulation{name: name, run: k.run})
	}
	return list
}

func TestNormHonest(t *testing.T) {
	for _, name := range []string{"rms_norm", "layer_norm"} {
		honest(t, find(t, name), Fast, 8192, normEmulations())
	}
}

// TestNormHonestThorough does the same over every class and size.
func TestNormHonestThorough(t *testing.T) {
	needThorough(t)
	for _, name := range []string{"rms_norm", "layer_norm"} {
		honest(t, find(t, name), Thorough, 1<<16, normEmulations())
	}
}

func TestNormFaults(t *testing.T) {
	is := func(names ...string) func(c *Case) bool {
		return func(c *Case) bool {
			for _, n := range names {
				if c.Variant.T.String() == n {
					return true
				}
			}
			return false
		}
	}
	faults := func(layer bool) []emulation {
		kernels := map[string]normKernel{
			"eps outside the root": {scale: func(v, eps float32) float32 { return float32(1 / (math.Sqrt(float64(v)) + float64(eps))) }},
			"no eps":               {scale: func(v, _ float32) float32 { return float32(1 / math.Sqrt(float64(v))) }},
			"twice eps":            {scale: func(v, eps float32) float32 { return float32(1 / math.Sqrt(float64(v+2*eps))) }},
			"n-1":                  {count: func(n int) float32 { return float32(n - 1) }},
			"n rounded up to 32":   {count: func(n int) float32 { return float32((n + 31) / 32 * 32) }},
			"lanes from 32 lost":   {add: few},
			"tail left out":        {add: untailed},
			"last column left out": {add: butLast},
			"one warp of 1024":     {add: first32},
			"sum not divided":      {count: func(int) float32 { return 1 }},
			"no root":              {scale: func(v, eps float32) float32 { return 1 / (v + eps) }},
			"row 0's statistics":   {row: func(int) int { return 0 }},
			"next column's gain":   {column: func(i, n int) int { return (i + 1) % n }},
			"no gain":              {result: func(x, mean, s, a, b float32) float32 { return (x-mean)*s + b }},
			"tail not written":     {skip: func(i, n int) bool { return i >= n/4*4 }},
			"accumulates in f16":   {add: inType(tensor.F16)},
			"rough rsqrt": {scale: func(v, eps float32) float32 {
				return float32(1/math.Sqrt(float64(v+eps))) * (1 + 0x1p-11) // 12 bits, no Newton step
			}},
		}
		if layer {
			kernels["no bias"] = normKernel{result: func(x, mean, s, a, _ float32) float32 { return (x - mean) * s * a }}
			kernels["mean not taken off"] = normKernel{result: func(x, _, s, a, b float32) float32 { return x*s*a + b }}
			kernels["bias before gain"] = normKernel{result: func(x, mean, s, a, b float32) float32 { return ((x-mean)*s + b) * a }}
		} else {
			kernels["mean of |x|"] = normKernel{square: func(x float32) float32 { return float32(math.Abs(float64(x))) }}
		}
		var list []emulation
		for name, k := range kernels {
			list = append(list, emulation{name, k.run, nil})
		}
		list = append(list,
			emulation{"truncating store", normKernel{store: truncate}.run, is("f16", "bf16")},
			emulation{"stored as bf16", normKernel{store: func(_ tensor.DType, x float64) float64 { return tensor.BF16.Round(x) }}.run, is("f64", "f32", "f16")},
			emulation{"stored as f16", normKernel{store: func(_ tensor.DType, x float64) float64 { return tensor.F16.Round(x) }}.run, is("f64", "f32", "bf16")})
		return list
	}
	caught(t, find(t, "rms_norm"), faults(false))
	caught(t, find(t, "layer_norm"), faults(true))
}

// TestNormByHand checks truths against results worked by hand.
func TestNormByHand(t *testing.T) {
	bind := func(op string, dims []Dim, src, alpha, beta []float64) *Problem {
		o := find(t, op)
		c := &Case{Op: o, Variant: Variant{T: tensor.F64}, Class: "normal", Dims: dims}
		p := o.Bind(c, NewRand(1, "x"))
		p.Arg("src").Buf = tensor.FromFloats(tensor.F64, src, 1, len(src))
		if alpha != nil {
			p.Arg("alpha").Buf = tensor.FromFloats(tensor.F64, alpha, len(src))
		}
		if beta != nil {
			p.Arg("beta").Buf = tensor.FromFloats(tensor.F64, beta, len(src))
		}
		p.Arg("eps").Float = 0
		return p
	}
	yes, no := choice("alpha", true), choice("alpha", false)
	for _, tc := range []struct {
		p    *Problem
		want []float64
	}{
		// Mean square (1+49)/2 = 25.
		{bind("rms_norm", []Dim{D("rows", 1), D("n", 2), yes}, []float64{1, -7}, []float64{10, 5}, nil), []float64{2, -7}},
		{bind("rms_norm", []Dim{D("rows", 1), D("n", 2), no}, []float64{1, -7}, nil, nil), []float64{0.2, -1.4}},
		// Mean 5, variance (9+1+1+1+0+0+4+16)/8 = 4.
		{bind("layer_norm", []Dim{D("rows", 1), D("n", 8), yes, choice("beta", true)},
			[]float64{2, 4, 4, 4, 5, 5, 7, 9}, []float64{1, 1, 2, 1, 1, 1, 1, 3}, []float64{0, 0, 0, 1, 7, 0, 0, 0}),
			[]float64{-1.5, -0.5, -1, 0.5, 7, 0, 1, 6}},
	} {
		e := tc.p.Case.Op.Expect(tc.p)
		for i, want := range tc.want {
			if math.Abs(e.Value[i]-want) > 1e-15*math.Abs(want) {
				t.Errorf("%s: element %d is %.17g, want %g", tc.p.Case.Name(), i, e.Value[i], want)
			}
		}
	}
}

// TestNormLaunch pins the block that candle launches.
func TestNormLaunch(t *testing.T) {
	for _, name := range []string{"rms_norm", "layer_norm"} {
		o := find(t, name)
		for _, c := range o.Cases(Variant{T: tensor.F32}, Thorough) {
			if c.Dim("n") > 1100 {
				continue
			}
			want := uint32(32)
			if c.Dim("n") >= 1024 {
				want = 1024
			}
			p := o.Bind(&c, NewRand(1, c.Name()))
			if p.Block.X != want || p.Block.Y != 1 || int64(want) != p.Arg("block_size").Int || p.Grid.X != uint32(c.Dim("rows")) {
				t.Errorf("%s: grid %v, block %v, block_size %d; want %d threads for each row", c.Name(), p.Grid, p.Block, p.Arg("block_size").Int, want)
			}
		}
	}
}

// TestLayerNormIllConditioned: candle's variance may be anything where the
// mean is a thousand deviations, so that such rows must not be judged;
// they must be where it is a hundred.
func TestLayerNormIllConditioned(t *testing.T) {
	o := find(t, "layer_norm")
	for _, tc := range []struct {
		class string
		n     int
		ill   bool
	}{{"mean100", 65, false}, {"mean1000", 65, true}, {"mean10000", 1025, true}, {"mean10", 4096, false}} {
		c := &Case{Op: o, Variant: Variant{T: tensor.F32}, Class: tc.class, Dims: []Dim{D("rows", 2), D("n", tc.n), choice("alpha", false), choice("beta", false)}}
		e := o.Expect(o.Bind(c, NewRand(1, c.Name())))
		for i, m := range e.Mark {
			if (m == compare.IllConditioned) != tc.ill {
				t.Errorf("%s: element %d ill-conditioned: %v, want %v", c.Name(), i, !tc.ill, tc.ill)
				break
			}
		}
	}
}
