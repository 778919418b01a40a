package ops

import "testing"

// A tuned launch is one that the kernels take: whole groups of threads, as
// many blocks as rows where a block does a row, and nothing else changed but
// what says the same in an argument.
func TestTuned(t *testing.T) {
	for _, o := range All() {
		if o.tune == nil {
			t.Errorf("%s has no tuned launch", o.Name)
			continue
		}
		c := o.Cases(o.Variants[0], Fast)[1]
		p := o.Bind(&c, NewRand(1, c.Name()))
		q := p.Tuned()
		if n := q.Block.Count(); n == 0 || n > maxBlock || n%32 != 0 || q.Grid.Count() == 0 {
			t.Errorf("%s: grid %v, block %v", c.Name(), q.Grid, q.Block)
		}
		for i, param := range o.Params {
			want := p.Args[i]
			if param.Name == "block_size" {
				want.Int = int64(q.Block.Count())
			}
			if q.Args[i] != want {
				t.Errorf("%s: %s is %v, want %v", c.Name(), param.Name, q.Args[i], want)
			}
		}
		switch o.Family {
		case "softmax", "norm":
			if q.Grid != p.Grid {
				t.Errorf("%s: grid %v for %v rows", c.Name(), q.Grid, p.Grid)
			}
		}
	}
}

// The launches of 2^20 elements in rows of 4096; of 2^26, for which
// docs/kernels.md has the figures, there are 64 times the blocks.
func TestTunedMedium(t *testing.T) {
	want := map[string][2]uint32{ // grid, block
		"neg":         {2048, 128}, // 16 bytes for each thread
		"exp":         {1024, 128},
		"powf":        {256, 128},
		"softmax":     {256, 256},
		"rms_norm":    {256, 256},
		"layer_norm":  {256, 256},
		"fast_sum":    {256, 512},
		"fast_argmax": {256, 256},
		"rope_i":      {2048, 128},
		"rope":        {1024, 128},
		"sum":         {128, 256},
	}
	for _, o := range All() {
		w, ok := want[o.Name]
		if !ok {
			continue
		}
		for _, s := range Scales() {
			if s.Name != "medium" {
				continue
			}
			c := o.Timed(Variant{T: F32.DType(Variant{})}, s)[0].Case
			q := o.Bind(&c, NewRand(1, c.Name())).Tuned()
			if q.Grid.X != w[0] || q.Block.X != w[1] || q.Grid.Count() != uint64(w[0]) || q.Block.Count() != uint64(w[1]) {
				t.Errorf("%s: grid %v, block %v; want %v, %v", c.Name(), q.Grid, q.Block, w[0], w[1])
			}
		}
	}
}
