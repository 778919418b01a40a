package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/ops"
)

// twin marks the corrected kernel that stands beside named faults.
const twin = "twin"

// A Fault is a kernel with one mistake, or a twin without any. Its symbol
// is that of the op's kernel, two underscores and the fault's name, as in
// softmax_f32__no_max; a twin's name begins with "twin".
type Fault struct {
	Op      *ops.Op
	Variant ops.Variant
	Name    string // "no_max"
	Symbol  string
}

// Twin reports whether f is a corrected kernel.
func (f Fault) Twin() bool { return strings.HasPrefix(f.Name, twin) }

// Faults finds the op and the variant of each symbol. A symbol that
// belongs to no op is an error: the fault would never be planted.
func Faults(all []*ops.Op, symbols []string) ([]Fault, error) {
	kernels := map[string]Fault{}
	for _, o := range all {
		for _, v := range o.Variants {
			kernels[o.Kernel(v)] = Fault{Op: o, Variant: v}
		}
	}
	var list []Fault
	for _, s := range slices.Sorted(slices.Values(symbols)) {
		kernel, name, ok := strings.Cut(s, "__")
		f, known := kernels[kernel]
		if !ok || !known || name == "" {
			return nil, fmt.Errorf("fault kernel %s must be named KERNEL__FAULT after the kernel of an op", s)
		}
		f.Name, f.Symbol = name, s
		list = append(list, f)
	}
	return list, nil
}

// Named plants each fault on each architecture. image returns the object
// that holds it.
func Named(ctx context.Context, faults []Fault, image func(f Fault, arch string) ([]byte, error), opts Options) ([]Mutant, error) {
	var list []Mutant
	for _, f := range faults {
		for _, arch := range opts.Archs {
			m, err := plant(ctx, f, arch, image, opts)
			if err != nil {
				return list, err
			}
			list = append(list, m)
			if opts.Progress != nil {
				opts.Progress(m)
			}
		}
	}
	return list, nil
}

func plant(ctx context.Context, f Fault, arch string, image func(f Fault, arch string) ([]byte, error), opts Options) (Mutant, error) {
	m := Mutant{Op: f.Op.Name, Family: f.Op.Family, Kernel: f.Op.Kernel(f.Variant), Target: "hip@" + arch, Kind: "named", Name: f.Name}
	object, err := image(f, arch)
	if err != nil {
		return m, err
	}
	results, err := launch(ctx, &opts, arch, object, withKernel(f.Op, f.Variant, opts.Level, f.Symbol))
	if err != nil {
		return m, err
	}
	if err := judge(&m, results, nil); err != nil {
		return m, err
	}
	if f.Twin() {
		m.Kind = twin
		if m.Outcome == Survived { // nothing to find, and nothing found
			m.Outcome = Passed
		} else {
			m.Outcome = Rejected
		}
	}
	return m, nil
}
