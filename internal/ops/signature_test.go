package ops

import (
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/kernels"
)

// params is how the sources must declare the op's parameters.
func params(o *Op, v Variant) []kernels.Param {
	var list []kernels.Param
	for _, p := range o.Params {
		ctype := p.Type.DType(v).String()
		switch p.Role {
		case In:
			ctype = "const " + ctype + "*"
		case Out, InOut:
			ctype += "*"
		}
		list = append(list, kernels.Param{CType: ctype, Name: p.Name})
	}
	return list
}

// TestSignatures holds the op table to both dialects' sources: no compiler
// and no GPU would notice two swapped parameters of one type.
func TestSignatures(t *testing.T) {
	for _, dialect := range []string{kernels.HIP, kernels.CUDA} {
		have, err := kernels.Signatures(dialect)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, o := range All() {
			for _, v := range o.Variants {
				symbol := o.Kernel(v)
				known[symbol] = true
				got, ok := have[symbol]
				if !ok {
					t.Errorf("%s has no kernel %s", dialect, symbol)
					continue
				}
				if want := params(o, v); !slices.Equal(got, want) {
					t.Errorf("%s %s declares\n\t%v\nthe op table\n\t%v", dialect, symbol, got, want)
				}
			}
		}
		for _, family := range Families(All()) {
			src, headers, err := kernels.Source(dialect, family)
			if err != nil {
				t.Fatal(err)
			}
			sigs, err := kernels.ParseSignatures(src, headers)
			if err != nil {
				t.Fatal(err)
			}
			for symbol := range sigs {
				if !known[symbol] {
					t.Errorf("%s has kernel %s, which no op launches", dialect, symbol)
				}
			}
		}
	}
}

// TestSignaturesTellSwaps: two swapped parameters of one type in one
// source are seen.
func TestSignaturesTellSwaps(t *testing.T) {
	src, headers, err := kernels.Source(kernels.CUDA, "rope")
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.Replace(src, "const u32 bh,            \\\n      const u32 td,", "const u32 td,            \\\n      const u32 bh,", 1)
	if swapped == src {
		t.Fatal("the source has no `bh, td` to swap")
	}
	sigs, err := kernels.ParseSignatures(swapped, headers)
	if err != nil {
		t.Fatal(err)
	}
	o := find(t, "rope_i")
	for _, v := range o.Variants {
		if slices.Equal(sigs[o.Kernel(v)], params(o, v)) {
			t.Errorf("%s: swapped bh and td went unnoticed", o.Kernel(v))
		}
	}
}
