package ops

import (
	"math"
	"testing"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// TestUpsampleByHand: 2x3 to 4x5. Rows 0,0,1,1 by a factor of 1/2, columns
// floor(h*3/5) = 0,0,1,1,2.
func TestUpsampleByHand(t *testing.T) {
	o := find(t, "upsample_nearest2d")
	c := &Case{Op: o, Variant: Variant{T: tensor.F32}, Class: "values", Dims: []Dim{
		D("b", 1), D("c", 1), D("w_in", 2), D("h_in", 3), D("w_out", 4), D("h_out", 5), {Name: "layout", Text: "dense"},
	}}
	p := o.Bind(c, NewRand(1, "x"))
	for i := range 6 {
		p.Arg("src").Buf.SetFloat(i, float64(i))
	}
	e := o.Expect(p)
	want := []float64{0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 3, 3, 4, 4, 5}
	for i, w := range want {
		if got := e.Exact.Float(i); got != w {
			t.Errorf("element %d is %v, want %v", i, got, w)
		}
	}
}

// TestUpsamplePlanted: an index computed otherwise is found in a fast case
// of every type.
func TestUpsamplePlanted(t *testing.T) {
	o := find(t, "upsample_nearest2d")
	for name, change := range map[string]func(g *upsampleIndex){
		"scales swapped":         func(g *upsampleIndex) { g.wScale, g.hScale = g.hScale, g.wScale },
		"scales inverted":        func(g *upsampleIndex) { g.wScale, g.hScale = 1/g.wScale, 1/g.hScale },
		"w and h swapped":        func(g *upsampleIndex) { g.strides[2], g.strides[3] = g.strides[3], g.strides[2] },
		"b and c swapped":        func(g *upsampleIndex) { g.strides[0], g.strides[1] = g.strides[1], g.strides[0] },
		"output w and h swapped": func(g *upsampleIndex) { g.wOut, g.hOut = g.hOut, g.wOut },
		"strides taken for dense": func(g *upsampleIndex) {
			g.strides = [4]int{g.c * g.wIn * g.hIn, g.wIn * g.hIn, g.hIn, 1}
		},
		"scale in float":     func(g *upsampleIndex) { g.wScale, g.hScale = float64(float32(g.wScale)), float64(float32(g.hScale)) },
		"to align corners":   func(g *upsampleIndex) { g.hScale = float64(g.hIn-1) / math.Max(1, float64(g.hOut-1)) },
		"offset left out":    func(g *upsampleIndex) { g.offset = 0 },
		"images not counted": func(g *upsampleIndex) { g.strides[0] = 0 },
	} {
		for _, v := range o.Variants {
			found := 0
			for _, c := range o.Cases(v, Fast) {
				p := o.Bind(&c, NewRand(1, c.Name()))
				src, got := p.Arg("src").Buf, p.Arg("dst").Buf.Clone()
				g := newUpsampleIndex(p)
				change(&g)
				for i := range got.Len() {
					got.SetBits(i, src.Bits(min(max(0, g.at(i)), src.Len()-1)))
				}
				j, err := compare.Judge(o.Expect(p), got, nil, compare.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if j.Status == compare.Fail {
					found++
				}
			}
			if found == 0 {
				t.Errorf("%s/%s: not found", name, v)
			}
		}
	}
}
