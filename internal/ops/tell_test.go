package ops

import (
	"flag"
	"slices"
	"sync"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

var (
	tellSeeds    = flag.Int("tell-seeds", 1, "TestCasesCanTell looks at the cases of seeds 1 to `n`")
	tellThorough = flag.Bool("tell-thorough", false, "TestCasesCanTell looks at the thorough cases")
)

// TestCasesCanTell judges the truth itself, correctly rounded, as the output
// of every case, of several seeds: it must pass, and no case may be one that
// an output of zeros, of one value, or of an input would pass too.
func TestCasesCanTell(t *testing.T) {
	level := Fast
	if *tellThorough {
		level = Thorough
	}
	type task struct {
		c    Case
		seed uint64
	}
	tasks := make(chan task)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for k := range tasks {
				p := k.c.Op.Bind(&k.c, NewRand(k.seed, k.c.Name()))
				p.Arithmetic = Bundled()
				e := k.c.Op.Expect(p)
				j, err := compare.Judge(e, rightly(e), nil, tellOptions(p))
				switch {
				case err != nil:
					t.Errorf("%s, seed %d: %v", k.c.Name(), k.seed, err)
				case j.Status == compare.Fail || slices.Contains(append(j.Flags, j.Verdict), compare.Mistrusted):
					t.Errorf("%s, seed %d: the truth is %s: %v", k.c.Name(), k.seed, j.Verdict, j.Warnings)
				}
			}
		})
	}
	for seed := range *tellSeeds {
		for _, o := range All() {
			for _, v := range o.Variants {
				for _, c := range o.Cases(v, level) {
					tasks <- task{c, uint64(seed + 1)}
				}
			}
		}
	}
	close(tasks)
	wg.Wait()
}

// rightly is the truth of e, correctly rounded.
func rightly(e *compare.Expected) *tensor.Tensor {
	if e.Exact != nil {
		return e.Exact
	}
	t := tensor.New(e.DType, e.Len())
	for i, v := range e.Value {
		if e.Tail != nil {
			v += e.Tail[i]
		}
		t.SetFloat(i, v)
	}
	return t
}

// tellOptions are those that the runner judges p's output with.
func tellOptions(p *Problem) compare.Options {
	var opts compare.Options
	if p.Role(p.Case.Op.Output()) == Out {
		opts.Poison = []byte{0xff, 0x5a}
	}
	for k, param := range p.Case.Op.Params {
		if p.Args[k].Buf != nil && p.Role(k) != Out {
			opts.Inputs = append(opts.Inputs, compare.Input{Name: param.Name, Tensor: p.Args[k].Buf})
		}
	}
	return opts
}
