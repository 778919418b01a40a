package sim

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/tensor"
	"github.com/paritycheck/paritycheck/internal/truth"
)

// The corpus is testdata/corpus: kernels of our own as clang-19 compiles
// them at -O0, -O3 and -ffast-math, and clang-15 at -O3. Every kernel has
// the parameters (x, y, n) and the suffix of its type.
const (
	corpusN     = 500 // not a multiple of the block
	corpusBlock = 128
)

var corpusTypes = map[string]tensor.DType{
	"f16": tensor.F16, "f32": tensor.F32, "f64": tensor.F64, "u32": tensor.U32, "u64": tensor.U64, "i32": tensor.I32, "i64": tensor.I64,
}

// A mathFunc is a function of the device library: its truth, the largest
// error that OCML's documentation (OCML.md, "max ULP" of f32, f64, f16)
// allows, and the inputs it is tried on.
type mathFunc struct {
	truth func(x float64) truth.DD
	ulp   [3]float64 // f32, f64, f16; 0 where there is no such kernel
	input func(r *rand.Rand) float64
}

func spread(scale float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return scale * r.NormFloat64() }
}

func positive(r *rand.Rand) float64 { return math.Exp2(20 * r.NormFloat64() / 3) }

var corpusMath = map[string]mathFunc{
	"exp":   {truth.Exp, [3]float64{3, 3, 2}, spread(3)},
	"exp2":  {truth.Exp2, [3]float64{3, 3}, spread(4)},
	"expm1": {truth.Expm1, [3]float64{3, 3}, spread(2)},
	"log":   {truth.Log, [3]float64{3, 3, 2}, positive},
	"log2":  {truth.Log2, [3]float64{3, 3}, positive},
	"log10": {truth.Log10, [3]float64{3, 3}, positive},
	"log1p": {truth.Log1p, [3]float64{2, 2}, positive},
	"sin":   {truth.Sin, [3]float64{4, 4, 2}, spread(20)},
	"cos":   {truth.Cos, [3]float64{4, 4, 2}, spread(20)},
	"tan":   {truth.Tan, [3]float64{5, 5}, spread(20)},
	"sinh":  {truth.Sinh, [3]float64{4, 4}, spread(3)}, // OpenCL's bound
	"cosh":  {truth.Cosh, [3]float64{4, 4}, spread(3)}, // OpenCL's bound
	"tanh":  {truth.Tanh, [3]float64{5, 5, 2}, spread(2)},
	"erf":   {truth.Erf, [3]float64{16, 16}, spread(2)},
	"erfc":  {truth.Erfc, [3]float64{16, 16}, spread(2)},
	"cbrt":  {truth.Cbrt, [3]float64{2, 2}, spread(100)},
	"rsqrt": {truth.Rsqrt, [3]float64{2, 2}, positive},
	"sqrt":  {truth.Sqrt, [3]float64{0.5, 0.5, 1}, positive},
	// OpenCL leaves lgamma open. Held to erf's figure, right of its zeros.
	"lgamma": {func(x float64) truth.DD { y, _ := truth.Lgamma(x); return y }, [3]float64{16, 16}, func(r *rand.Rand) float64 { return 3 + 20*r.Float64() }},
	"pow":    {nil, [3]float64{16, 16}, spread(5)}, // the exponent is rounded to the type
	"div":    {nil, [3]float64{0.5, 0.5}, spread(100)},
	"rcp":    {truth.Recip, [3]float64{0, 0, 1}, spread(4)},
}

// mathTruth is the truth of a math kernel for an input of type d.
func mathTruth(name string, d tensor.DType, x float64) truth.DD {
	switch name {
	case "pow":
		return truth.Pow(math.Abs(x), d.Round(2.7182818))
	case "div":
		return truth.FromQuo(x, d.Round(3.1))
	}
	return corpusMath[name].truth(x)
}

// A corpusKernel is a kernel with its inputs and, for exact kernels, its
// outputs.
type corpusKernel struct {
	name  string // with the type's suffix
	base  string
	dtype tensor.DType
	in    *tensor.Tensor
	want  *tensor.Tensor // nil for math
	init  bool           // the output is zero before the launch
}

func corpus(t testing.TB) []corpusKernel {
	t.Helper()
	var list []corpusKernel
	add := func(name string) *corpusKernel {
		i := strings.LastIndexByte(name, '_')
		k := corpusKernel{name: name, base: name[:i], dtype: corpusTypes[name[i+1:]]}
		k.in = tensor.New(k.dtype, corpusN)
		list = append(list, k)
		return &list[len(list)-1]
	}
	names := make([]string, 0, len(corpusMath))
	for name := range corpusMath {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		f := corpusMath[name]
		for i, suffix := range []string{"f32", "f64", "f16"} {
			if f.ulp[i] == 0 {
				continue
			}
			k := add(name + "_" + suffix)
			r := rand.New(rand.NewPCG(1, uint64(len(list))))
			for j := range corpusN {
				k.in.SetFloat(j, f.input(r))
				if x := k.in.Float(j); x == 0 || math.IsInf(x, 0) {
					k.in.SetFloat(j, 1)
				}
			}
		}
	}
	for _, e := range exactKernels {
		k := add(e.name)
		r := rand.New(rand.NewPCG(2, uint64(len(list))))
		for j := range corpusN {
			if k.dtype.IsFloat() {
				k.in.SetFloat(j, math.Round(r.NormFloat64()*64)/16)
			} else {
				k.in.SetBits(j, r.Uint64()>>r.IntN(60))
			}
		}
		k.init = true
		k.want = tensor.New(k.dtype, corpusN)
		e.ref(k.in, k.want)
	}
	return list
}

// run launches k for n elements and returns its output.
func (k *corpusKernel) run(r *rig, n int) *tensor.Tensor {
	r.t.Helper()
	x0, err := r.dev.Alloc("x", len(k.in.Data))
	if err == nil {
		err = x0.CopyIn(k.in.Data)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	y := r.out("y", len(k.in.Data))
	if k.init {
		if err := y.CopyIn(make([]byte, len(k.in.Data))); err != nil {
			r.t.Fatal(err)
		}
	}
	rep, err := r.try(k.name, x((n+corpusBlock-1)/corpusBlock), x(corpusBlock), 4*corpusBlock, x0, y, n)
	if err != nil {
		r.t.Errorf("%s: %v", k.name, err)
	}
	for _, f := range rep.Findings {
		r.t.Errorf("%s: a right kernel is reported: %v", k.name, f)
	}
	got := tensor.New(k.dtype, corpusN)
	if err := y.CopyOut(got.Data); err != nil {
		r.t.Fatal(err)
	}
	for _, b := range []gpu.Buffer{x0, y} {
		if err := b.Free(); err != nil {
			r.t.Fatal(err)
		}
	}
	return got
}

// TestCorpus runs every kernel of every object: exact kernels give exactly
// what Go computes, math functions stay within OCML's documented error of
// the truth, and the wave sizes agree. With -ffast-math, for which nothing
// is documented, a result must be of the truth's size.
func TestCorpus(t *testing.T) {
	kernels := corpus(t)
	if len(kernels) < 60 {
		t.Fatalf("%d kernels, want at least 60", len(kernels))
	}
	for _, object := range []string{"O0", "O3", "fast", "O3-clang15"} {
		outs := map[string]map[string]*tensor.Tensor{}
		for _, arch := range archs {
			if object == "O3-clang15" && arch == "gfx1100" {
				continue // clang-15 crashes on it
			}
			t.Run(object+"/"+arch, func(t *testing.T) {
				r := newRig(t, "../../../../testdata/corpus/"+object, arch, Options{})
				outs[arch] = map[string]*tensor.Tensor{}
				for i := range kernels {
					k := &kernels[i]
					n := corpusN
					if object == "O0" && k.want == nil {
						n = 130 // a function's instructions are many at -O0, and the same for every element
					}
					got := k.run(r, n)
					outs[arch][k.name] = got
					k.check(t, got, n, object == "fast")
				}
			})
		}
		for i := range kernels {
			k := &kernels[i]
			a, b := outs["gfx90a"][k.name], outs["gfx1030"][k.name]
			if a == nil || b == nil {
				continue
			}
			if k.want == nil {
				continue // v_mad and v_fma forms differ between the architectures, within the bound
			}
			if !slices.Equal(a.Data, b.Data) {
				t.Errorf("%s of %s differs between waves of 64 and 32", k.name, object)
			}
		}
	}
}

func (k *corpusKernel) check(t *testing.T, got *tensor.Tensor, n int, fast bool) {
	t.Helper()
	wrong := 0
	for j := range n {
		if k.want != nil {
			g, w := got.Bits(j), k.want.Bits(j)
			if g != w && !(fast && k.dtype.IsFloat() && got.Float(j) == 0 && k.want.Float(j) == 0) { // fast means no signed zeros
				if wrong++; wrong <= 2 {
					t.Errorf("%s: y[%d] = %#x, want %#x (x = %#x)", k.name, j, g, w, k.in.Bits(j))
				}
			}
			continue
		}
		x := k.in.Float(j)
		if k.name == "sin_f16" && !fast {
			// __ocml_sin_f16 of the device library that the corpus links,
			// ROCm's 5.2.3, ends in
			//
			//	%21 = call i1 @llvm.amdgcn.class.f16(half %2, i32 504)
			//	%24 = select i1 %21, half 0xH7E00, half %23
			//
			// where 504 is the mask of all finite classes: it gives NaN for
			// every finite x, until -ffast-math drops the select.
			if !math.IsNaN(got.Float(j)) {
				t.Errorf("%s(%g) = %g, want the library's NaN", k.name, x, got.Float(j))
			}
			continue
		}
		y := mathTruth(k.base, k.dtype, x)
		limit := corpusMath[k.base].ulp[map[tensor.DType]int{tensor.F32: 0, tensor.F64: 1, tensor.F16: 2}[k.dtype]]
		err := math.Abs((got.Float(j)-y.Hi)-y.Lo) / k.dtype.ULP(y.Hi)
		if fast {
			// Absolute error counts where a fast function has no relative one.
			limit = 0x1p-9 * math.Max(1, math.Abs(y.Hi)) / k.dtype.ULP(y.Hi)
			if k.dtype == tensor.F16 {
				limit *= 2
			}
		}
		if y.Hi > k.dtype.MaxFinite() && math.IsInf(got.Float(j), 1) {
			continue
		}
		if !(err <= limit) {
			if wrong++; wrong <= 2 {
				t.Errorf("%s(%g) = %g, want %g: %.3g ulp, at most %g", k.name, x, got.Float(j), y.Hi, err, limit)
			}
		}
	}
	if wrong > 2 {
		t.Errorf("%s: %d of %d elements are wrong", k.name, wrong, n)
	}
}

// perElement makes a reference of a function of (x[i], i).
func perElement(f func(v uint64, i int) uint64) func(x, y *tensor.Tensor) {
	return func(x, y *tensor.Tensor) {
		for i := range x.Len() {
			y.SetBits(i, f(x.Bits(i), i))
		}
	}
}

func u32s(f func(v uint32, i int) uint32) func(x, y *tensor.Tensor) {
	return perElement(func(v uint64, i int) uint64 { return uint64(f(uint32(v), i)) })
}

func floats(f func(v float64, i int) float64) func(x, y *tensor.Tensor) {
	return func(x, y *tensor.Tensor) {
		for i := range x.Len() {
			y.SetFloat(i, f(x.Float(i), i))
		}
	}
}

// blocks makes a reference of a function of the elements of one block.
func blocks(f func(x, y []uint32)) func(x, y *tensor.Tensor) {
	return func(x, y *tensor.Tensor) {
		for at := 0; at < x.Len(); at += corpusBlock {
			in, out := make([]uint32, corpusBlock), make([]uint32, corpusBlock)
			for i := range in {
				if at+i < x.Len() {
					in[i] = uint32(x.Bits(at + i))
				}
			}
			f(in, out)
			for i := range out {
				if at+i < x.Len() {
					y.SetBits(at+i, uint64(out[i]))
				}
			}
		}
	}
}

func recurse(a, b uint32) uint32 {
	if b == 0 {
		return a + 1
	}
	return recurse(a*2+1, b-1) ^ b
}

// exactKernels are the references of the kernels that no rounding touches,
// each from the definition of what its source says.
var exactKernels = []struct {
	name string
	ref  func(x, y *tensor.Tensor)
}{
	{"half2_f16", floats(func(v float64, _ int) float64 { return 2 * v })},
	{"bf16_u32", u32s(func(v uint32, _ int) uint32 { return (v + 0x7fff + v>>16&1) >> 16 << 16 })},
	{"divmod_u32", u32s(func(v uint32, i int) uint32 { return v/7919 + v%uint32(i+3) })},
	{"divmod_i32", u32s(func(v uint32, i int) uint32 {
		d := int32(41)
		if i%2 != 0 {
			d = -37
		}
		return uint32(int32(v)/d + int32(v)%int32(i+5))
	})},
	{"div_u64", perElement(func(v uint64, i int) uint64 { return v / (uint64(i)*1000003 + 17) })},
	{"div_i64", perElement(func(v uint64, i int) uint64 {
		return uint64(int64(v)/(int64(i%3)-7) + int64(v)%1000000007)
	})},
	{"mulhi_u64", perElement(func(v uint64, _ int) uint64 { hi, _ := bits.Mul64(v, v*0x9e3779b97f4a7c15); return hi })},
	{"bits_u32", u32s(func(v uint32, _ int) uint32 {
		ffs := 0
		if v != 0 {
			ffs = bits.TrailingZeros32(v) + 1
		}
		return uint32(bits.OnesCount32(v)) + 100*uint32(bits.LeadingZeros32(v)) + 10000*uint32(ffs) + 1000000*(bits.Reverse32(v)&63)
	})},
	{"bits_u64", perElement(func(v uint64, _ int) uint64 {
		ffs := 0
		if v != 0 {
			ffs = bits.TrailingZeros64(v) + 1
		}
		return uint64(bits.OnesCount64(v) + 100*bits.LeadingZeros64(v) + 10000*ffs)
	})},
	{"shift_u64", perElement(func(v uint64, i int) uint64 { return v<<(i&63) ^ v>>(i*7&63) })},
	{"rotate_u32", u32s(func(v uint32, i int) uint32 { return bits.RotateLeft32(v, i&31) })},
	{"toint_f32", floats(func(v float64, _ int) float64 { return math.Trunc(v) + 0 })},
	{"floor_f32", floats(rounds)},
	{"round_f64", floats(rounds)},
	{"fmod_f32", floats(func(v float64, _ int) float64 { return math.Mod(v, 0.75) })},
	{"minmax_f32", floats(func(v float64, _ int) float64 { return math.Min(math.Max(v, -0.5), 0.25) })},
	{"copysign_f32", floats(func(v float64, _ int) float64 { return math.Copysign(2, v) })},
	{"switch_u32", u32s(func(v uint32, _ int) uint32 {
		return [...]uint32{v + 1, v * 3, v ^ 0x55, v >> 3, ^v, v - 99, v * v, v | 7, 0}[v%9]
	})},
	{"collatz_u32", u32s(func(v uint32, _ int) uint32 {
		n := uint32(0)
		for w := uint64(v%1000 + 1); w != 1; n++ {
			if w%2 == 1 {
				w = 3*w + 1
			} else {
				w /= 2
			}
		}
		return n
	})},
	{"recursion_u32", u32s(func(v uint32, _ int) uint32 { return recurse(v, v%6) })},
	{"indirect_u32", u32s(func(v uint32, _ int) uint32 {
		if v&1 != 0 {
			return 2 * v
		}
		return v * v
	})},
	{"scratch_u32", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			var a [32]uint32
			for k := range a {
				a[k] = uint32(x.Bits((i+k)%corpusN)) + uint32(k)
			}
			at := uint32(x.Bits(i)) % 32
			a[at] = 12345
			sum := uint32(0)
			for k := range a {
				sum = sum*31 + a[(int(at)+k)%32]
			}
			y.SetBits(i, uint64(sum))
		}
	}},
	{"block_sum_u32", blocks(func(x, y []uint32) {
		sum := uint32(0)
		for _, v := range x {
			sum += v
		}
		for i := range y {
			y[i] = sum
		}
	})},
	{"scan_u32", blocks(func(x, y []uint32) {
		sum := uint32(0)
		for i, v := range x {
			sum += v
			y[i] = sum
		}
	})},
	{"shuffle_u32", blocks(func(x, y []uint32) {
		for at := 0; at < len(x); at += 32 {
			sum := uint32(0)
			for _, v := range x[at : at+32] {
				sum += v
			}
			for i := range 32 {
				y[at+i] = sum
			}
		}
	})},
	{"shuffle_f64", func(x, y *tensor.Tensor) {
		at := func(i int) float64 {
			if i < corpusN {
				return x.Float(i)
			}
			return 0
		}
		for i := range corpusN {
			row, lane := i&^31, i&31
			down, up := min(lane+1, 31), max(lane-1, 0)
			if lane == 31 {
				down = lane
			}
			y.SetFloat(i, at(row+down)-at(row+up)+at(row+5))
		}
	}},
	{"ballot_u32", func(x, y *tensor.Tensor) {
		// any and all are over the wave, whose size differs, and only over
		// the lanes that reach them; no input is zero.
		for i := range corpusN {
			var b uint32
			for k := range 32 {
				if j := i&^31 + k; j < corpusN && x.Bits(j)&1 != 0 {
					b |= 1 << k
				}
			}
			y.SetBits(i, uint64(b^2))
		}
	}},
	{"atomic_u32", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			v := x.Bits(i)
			y.SetBits(int(v%16), y.Bits(int(v%16))+1)
			y.SetBits(16+int(v%8), max(y.Bits(16+int(v%8)), v))
			y.SetBits(24, y.Bits(24)^v)
			y.SetBits(25, y.Bits(25)|v&0xff0)
		}
	}},
	{"atomic_u64", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			v := x.Bits(i)
			y.SetBits(int(v%16), y.Bits(int(v%16))+v)
			y.SetBits(16, min(y.Bits(16), ^v))
		}
	}},
	{"atomic_f32", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			y.SetFloat(i%7, y.Float(i%7)+math.RoundToEven(x.Float(i)*16))
		}
	}},
	{"cas_f64", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			if x.Float(i) > y.Float(i%3) {
				y.SetFloat(i%3, x.Float(i))
			}
		}
	}},
	{"histogram_u32", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			k := int(x.Bits(i) % 32)
			y.SetBits(k, y.Bits(k)+1)
		}
	}},
	{"bytes_u32", func(x, y *tensor.Tensor) {
		for i := range corpusN {
			out := y.Data[4*i:]
			out[0] = x.Data[(4*i+5)%(4*corpusN)]
			out[1] = byte(int8(x.Data[4*i+1]) >> 2)
			binary.LittleEndian.PutUint16(out[2:], 3*binary.LittleEndian.Uint16(x.Data[2*((2*i+3)%(2*corpusN)):]))
		}
	}},
	{"vec_u32", func(x, y *tensor.Tensor) {
		for i := 0; i+3 < corpusN; i += 4 {
			y.SetBits(i, x.Bits(i+3))
			y.SetBits(i+1, x.Bits(i+2)^x.Bits(i))
			y.SetBits(i+2, x.Bits(i+1)+1)
			y.SetBits(i+3, x.Bits(i))
		}
	}},
	{"transpose_u32", blocks(func(x, y []uint32) {
		for i := range y {
			y[i] = x[i%8*16+i/8]
		}
	})},
	{"sort_u32", func(x, y *tensor.Tensor) {
		for at := 0; at < corpusN; at += corpusBlock {
			end := min(at+corpusBlock, corpusN)
			var v []uint32
			for i := at; i < end; i++ {
				v = append(v, uint32(x.Bits(i)))
			}
			slices.Sort(v)
			for i, w := range v {
				y.SetBits(at+i, uint64(w))
			}
		}
	}},
	{"globals_u32", u32s(func(v uint32, i int) uint32 {
		return v*[16]uint32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}[v%16] + uint32(i%4+1)*10
	})},
	{"ids_u32", u32s(func(v uint32, i int) uint32 {
		return v + 1000*uint32(i%corpusBlock) + 100000*uint32(i/corpusBlock) + corpusBlock + 4 + 0 + 1 + 1
	})},
}

func rounds(v float64, _ int) float64 {
	return math.Floor(v) + 4*math.Ceil(v) + 16*math.Trunc(v) + 64*math.RoundToEven(v)
}
