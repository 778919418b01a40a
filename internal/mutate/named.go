package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// The kinds of mutants that have names.
const (
	named = "named"
	twin  = "twin"  // the corrected kernel that stands beside named faults
	steps = "steps" // begins the name of a twin that rounds f16 and bf16 in every step
	chain = "chain" // begins the name of a twin that adds up in one chain
	exp2  = "exp2"  // begins the name of a twin that takes 2^(x*log2(e)) for e^x
)

// A Fault is a kernel with one mistake, or a twin without any. Its symbol
// is that of the op's kernel, two underscores and the fault's name, as in
// softmax_f32__no_max; a twin's name begins with "twin", with "steps" where
// it rounds f16 and bf16 in every step, as candle's kernels do, or with "chain"
// where one thread adds up what the lanes of the bundled kernels share, or with
// "exp2" where e^x is not the library's. The arithmetic of all others is that of the bundled kernels. A name that ends
// in _w32 or _w64 is a mistake in waves of so many lanes alone: in those
// of the other size the kernel is right, and counts as a twin.
type Fault struct {
	Op      *ops.Op
	Variant ops.Variant
	Name    string // "no_max"
	Symbol  string
}

// Twin reports whether f is right where waves have so many lanes.
func (f Fault) Twin(lanes int) bool {
	switch {
	case strings.HasSuffix(f.Name, "_w32"):
		return lanes != 32
	case strings.HasSuffix(f.Name, "_w64"):
		return lanes != 64
	}
	return f.Honest()
}

// Honest reports whether f is right everywhere: the twin of a fault, or a
// variant that does right by other means.
func (f Fault) Honest() bool {
	return slices.ContainsFunc([]string{twin, steps, chain, exp2}, func(p string) bool { return strings.HasPrefix(f.Name, p) })
}

// arithmetic is what f's source declares by its name.
func (f Fault) arithmetic() ops.Arithmetic {
	a := ops.Bundled()
	switch {
	case strings.HasPrefix(f.Name, steps):
		a.Half = ops.InSteps
	case strings.HasPrefix(f.Name, chain):
		a.Lanes = 0
	case strings.HasPrefix(f.Name, exp2):
		a.LibraryExp = false
	}
	return a
}

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
	cases := map[string][]ops.Case{} // by kernel
	for _, f := range faults {
		if k := f.Op.Kernel(f.Variant); cases[k] == nil {
			cases[k] = remember(f.Op.Cases(f.Variant, opts.Level))
		}
	}
	n := len(opts.Archs)
	return each(ctx, &opts, len(faults)*n, func(ctx context.Context, i int) (Mutant, error) {
		f := faults[i/n]
		return plant(ctx, f, opts.Archs[i%n], cases[f.Op.Kernel(f.Variant)], image, &opts)
	})
}

func plant(ctx context.Context, f Fault, arch string, cases []ops.Case, image func(f Fault, arch string) ([]byte, error), opts *Options) (Mutant, error) {
	m := Mutant{Op: f.Op.Name, Family: f.Op.Family, Kernel: f.Op.Kernel(f.Variant), Target: "hip@" + arch, Kind: named, Name: f.Name}
	a, err := isa.ParseArch(arch)
	if err != nil {
		return m, err
	}
	object, err := image(f, arch)
	if err != nil {
		return m, err
	}
	results, err := launch(ctx, opts, arch, object, f.arithmetic(), withKernel(cases, f.Symbol))
	if err != nil {
		return m, err
	}
	if err := judge(&m, results, nil); err != nil {
		return m, err
	}
	if f.Twin(a.WaveSize()) {
		m.Kind = twin
		switch {
		case m.Outcome == Survived: // nothing to find, and nothing found
			m.Outcome = Passed
		case m.Outcome == Warned && f.Name != twin && worseAlone(results):
			m.Outcome = Passed
		default:
			m.Outcome = Rejected
		}
	}
	return m, nil
}

// worseAlone reports whether all that was found is that results are worse
// than they need be. Of a variant that rounds more often, as candle's does
// in the half types, that is true and no reason to reject it.
func worseAlone(results []runner.Result) bool {
	return !slices.ContainsFunc(results, func(r runner.Result) bool {
		return r.Status == compare.Warn && (r.Judgement == nil || r.Judgement.Verdict != compare.Worse || len(r.Findings) > 0)
	})
}

// withKernel returns copies of cases that launch symbol in place of the
// op's own kernel. Inputs and truth stay the same.
func withKernel(cases []ops.Case, symbol string) []ops.Case {
	if len(cases) == 0 {
		return nil
	}
	planted := *cases[0].Op
	planted.Symbol = symbol
	cases = slices.Clone(cases)
	for i := range cases {
		cases[i].Op = &planted
	}
	return cases
}
