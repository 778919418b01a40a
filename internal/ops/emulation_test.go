package ops

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

var thorough = flag.Bool("thorough", false, "hold the honest emulations against every thorough case; minutes")

func needThorough(t *testing.T) {
	t.Helper()
	if !*thorough {
		t.Skip("takes minutes: give -thorough")
	}
}

// An emulation computes a problem's output as some kernel would, in Go
// arithmetic that rounds as the kernel's does.
type emulation struct {
	name string
	run  func(p *Problem) *tensor.Tensor
	// only says which cases the emulation is right, or wrong, of; nil is
	// all.
	only func(c *Case) bool
}

// oneLane is in the names of emulations that add a row up in one lane: they may
// be less accurate than lanes that share a sum, and no more than that.
const oneLane = "one lane"

// judged judges an output alone, as the runner does.
func judged(t *testing.T, p *Problem, e *compare.Expected, out *tensor.Tensor) compare.Judgement {
	t.Helper()
	op := p.Case.Op
	opts := compare.Options{Block: int(p.Block.Count()), Nondeterministic: op.Nondeterministic}
	if op.Params[op.Output()].Role == Out {
		opts.Poison = []byte{0xff, 0x5a}
	}
	for k, param := range op.Params {
		if p.Args[k].Buf != nil && k != op.Output() {
			opts.Inputs = append(opts.Inputs, compare.Input{Name: param.Name, Tensor: p.Args[k].Buf})
		}
	}
	j, err := compare.Judge(e, out, nil, opts)
	if err != nil {
		t.Fatalf("%s: %v", p.Case.Name(), err)
	}
	return j
}

// honest holds that no emulation is rejected, warned of or mistrusted in
// any case, but for rows that are set apart as ill-conditioned, and
// reports how much of the bound each uses.
func honest(t *testing.T, o *Op, level Level, limit int, list []emulation) {
	t.Helper()
	share := map[string]float64{}
	for _, v := range o.Variants {
		for _, c := range o.Cases(v, level) {
			p := o.Bind(&c, NewRand(1, c.Name()))
			if p.Args[o.Output()].Buf.Len() > limit {
				continue
			}
			e := o.Expect(p)
			for _, em := range list {
				if em.only != nil && !em.only(&c) {
					continue
				}
				j := judged(t, p, e, em.run(p))
				ill := j.Verdict == compare.IllCond && len(j.Flags) <= 1
				worse := strings.Contains(em.name, oneLane) && j.Verdict == compare.Worse && len(j.Flags) == 0
				if j.Status != compare.Pass && !ill && !worse {
					t.Errorf("%s: %s is %s, want pass: share %.3g, %v %v", c.Name(), em.name, j.Verdict, float64(j.Accuracy.Share), j.Warnings, j.Hints)
				}
				k := em.name + " " + v.String()
				share[k] = max(share[k], float64(j.Accuracy.Share))
			}
		}
	}
	for _, em := range list {
		for _, v := range o.Variants {
			k := em.name + " " + v.String()
			if s, ok := share[k]; ok {
				t.Logf("%s: at most %.3g of the bound", k, s)
			}
		}
	}
}

// caught holds that every planted fault fails in at least one fast case
// of every type that it applies to. Rows of one or two do not count: there
// much that is nearly right goes wrong in a large way.
func caught(t *testing.T, o *Op, list []emulation) {
	t.Helper()
	for _, v := range o.Variants {
		applies, failed := make([]bool, len(list)), make([]bool, len(list))
		for _, c := range o.Cases(v, Fast) {
			if c.Dim("n") <= 2 {
				continue
			}
			p := o.Bind(&c, NewRand(1, c.Name()))
			e := o.Expect(p)
			for i, em := range list {
				if failed[i] || em.only != nil && !em.only(&c) {
					continue
				}
				applies[i] = true
				failed[i] = judged(t, p, e, em.run(p)).Status == compare.Fail
			}
		}
		for i, em := range list {
			if applies[i] && !failed[i] {
				t.Errorf("%s/%s: %s passes every fast case", o.Name, v, em.name)
			}
		}
	}
}

// A rounding is the arithmetic of a type: each sum, product, quotient and
// root of its numbers in float64 is rounded once more to it, which rounds
// as the type itself would (numerics.md 4.6).
type rounding func(x float64) float64

func float(x float64) float64  { return float64(float32(x)) }
func double(x float64) float64 { return x }

// An order adds numbers in some order.
type order func(xs []float64, r rounding) float64

// of adds float32s.
func (o order) of(xs []float32) float32 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = float64(x)
	}
	return float32(o(ys, float))
}

// strided gives each of L lanes every L-th number, then adds lane i+s to
// lane i for s = L/2, L/4 and so on: the order of candle's kernels.
func strided(L int) order {
	return func(xs []float64, r rounding) float64 {
		lane := make([]float64, L)
		for i, x := range xs {
			lane[i%L] = r(lane[i%L] + x)
		}
		for s := L / 2; s > 0; s /= 2 {
			for i := range s {
				lane[i] = r(lane[i] + lane[i+s])
			}
		}
		return lane[0]
	}
}

func sequential(xs []float64, r rounding) float64 {
	var s float64
	for _, x := range xs {
		s = r(s + x)
	}
	return s
}

func backward(xs []float64, r rounding) float64 {
	xs = slices.Clone(xs)
	slices.Reverse(xs)
	return sequential(xs, r)
}

func pairwise(xs []float64, r rounding) float64 {
	if len(xs) <= 2 {
		return sequential(xs, r)
	}
	return r(pairwise(xs[:len(xs)/2], r) + pairwise(xs[len(xs)/2:], r))
}

// chunked gives each of 32 lanes a run of neighbours.
func chunked(xs []float64, r rounding) float64 {
	k := (len(xs) + 31) / 32
	var lane []float64
	for i := 0; i < len(xs); i += k {
		lane = append(lane, sequential(xs[i:min(i+k, len(xs))], r))
	}
	return pairwise(lane, r)
}

// wide adds in float64 and rounds once.
func wide(xs []float64, r rounding) float64 { return r(sequential(xs, double)) }

// few loses all lanes from 32 on, as half a wave of 64 does.
func few(xs []float64, r rounding) float64 {
	var kept []float64
	for i, x := range xs {
		if i%64 < 32 {
			kept = append(kept, x)
		}
	}
	return sequential(kept, r)
}

// untailed leaves out what is past the last full 32.
func untailed(xs []float64, r rounding) float64 { return sequential(xs[:len(xs)/32*32], r) }

// first32 adds the first 32 alone.
func first32(xs []float64, r rounding) float64 { return sequential(xs[:min(len(xs), 32)], r) }

// butLast leaves out the last.
func butLast(xs []float64, r rounding) float64 { return sequential(xs[:len(xs)-1], r) }

// inType adds in a type of its own, one by one.
func inType(d tensor.DType) order {
	return func(xs []float64, _ rounding) float64 { return sequential(xs, d.Round) }
}

// ulps moves x by k units in the last place; 0 and infinity, which a
// function has exactly, stay.
func ulps(x float32, k int) float32 {
	if x == 0 || math.IsInf(float64(x), 0) {
		return x
	}
	for ; k > 0; k-- {
		x = math.Nextafter32(x, float32(math.Inf(1)))
	}
	for ; k < 0; k++ {
		x = math.Nextafter32(x, float32(math.Inf(-1)))
	}
	return x
}

func fma32(a, b, c float32) float32 {
	// The product is exact in float64 and the sum is rounded twice: near
	// enough for an emulation.
	return float32(float64(a)*float64(b) + float64(c))
}

// truncate stores without rounding.
func truncate(d tensor.DType, x float64) float64 {
	y := d.Round(x)
	if math.Abs(y) > math.Abs(x) {
		bits := d.Encode(y)
		y = d.Decode(bits - 1)
	}
	return y
}

// goldenInputs are SHA-256 hashes of all that the fast cases bind.
var goldenInputs = map[string]string{
	"rms_norm":    "ecc172ad098e1a3f1f4ce9cab7d5cb2a447304d186b865e5b71ba8e2847fd38d",
	"layer_norm":  "e6f2b2553813eaec27c1b5190f56599b26767d5a66983c8e524e5db5a4e401e6",
	"softmax":     "d4406c7a612457aad112046bf4c2615d41e908534608ea9f7661f21875765c1c",
	"fast_sum":    "52c4631ffff39af360788128547e78d611aa01aae0ebece39a1f72997e881e0c",
	"fast_min":    "7eefc6b852e30289dc1f2472965334c34286cbfd3eb5ee01066e22ac6bad870b",
	"fast_max":    "1576124f169f001de64e1998bff25e5b0cf241d7a0a34020101e9b1dc818780f",
	"fast_argmin": "534d94077566bbba3e2973c33610d1134bf9397aee4872021d0a0f419855f0b3",
	"fast_argmax": "230c1a5c67dc7ca228727b5e7ffcd3cbf09e5db46754973865f594e71b44b7ba",
	"sum":         "6f8a4c8bd786669530fe52da8664956c15c93451ad9be64fd4f6d55d7cfe5591",
}

// TestReductionInputsGolden pins inputs: recordings hold the outputs of
// these very ones.
func TestReductionInputsGolden(t *testing.T) {
	for name, want := range goldenInputs {
		op, h := find(t, name), sha256.New()
		for _, v := range op.Variants {
			for _, c := range op.Cases(v, Fast) {
				p := op.Bind(&c, NewRand(1, c.Name()))
				for _, a := range p.Args {
					if a.Buf != nil {
						h.Write(a.Buf.Data)
					}
				}
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("inputs of %s hash to %s, want %s: recordings would no longer apply", name, got, want)
		}
	}
}
