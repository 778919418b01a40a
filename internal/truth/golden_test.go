package truth

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

var writeGolden = flag.Bool("write-golden", false, "write testdata/golden.txt from MPFR")

const goldenFile = "testdata/golden.txt"

// goldenBits is the accuracy of the golden values: Lo has 53 bits below
// those of Hi.
const goldenBits = 105

// TestGolden needs no MPFR: it compares the functions with values that MPFR
// gave once.
func TestGolden(t *testing.T) {
	if *writeGolden {
		if err := os.WriteFile(goldenFile, golden(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	funcs := map[string]func(x, y float64) DD{
		"pow":    Pow,
		"lgamma": func(x, _ float64) DD { y, _ := Lgamma(x); return y },
	}
	for _, fn := range functions {
		funcs[fn.name] = func(x, _ float64) DD { return fn.f(x) }
	}
	seen := map[string]int{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		w := strings.Fields(line)
		if len(w) < 4 {
			t.Fatalf("%s:%d: got %d fields, want 4 or 5", goldenFile, n, len(w))
		}
		var v []float64
		for _, s := range w[1:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatalf("%s:%d: %v", goldenFile, n, err)
			}
			v = append(v, x)
		}
		call, ok := funcs[w[0]]
		if !ok {
			t.Fatalf("%s:%d: no function %q", goldenFile, n, w[0])
		}
		seen[w[0]]++
		want := DD{v[len(v)-2], v[len(v)-1]}
		got := call(v[0], v[1])
		if b := agree(got, want); b < least {
			t.Errorf("%s:%d: %s: got %x, want %x: %.1f bits, want %v", goldenFile, n, strings.Join(w[:len(w)-2], " "), got, want, b, least)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	for name := range funcs {
		if seen[name] < 50 {
			t.Errorf("%s has %d values of %s, want 50 or more", goldenFile, seen[name], name)
		}
	}
}

// agree returns the bits to which got and want agree, 200 where they differ
// by no more than 2^-1074.
func agree(got, want DD) float64 {
	switch {
	case want.IsNaN() || got.IsNaN():
		if want.IsNaN() && got.IsNaN() {
			return 200
		}
		return -1
	case math.Signbit(got.Hi) != math.Signbit(want.Hi):
		return -2
	case want.Hi == 0 || !finite(want.Hi) || !finite(got.Hi):
		if got == want {
			return 200
		}
		return -3
	}
	d := bigDD(got)
	d.Sub(d, bigDD(want))
	if e, _ := d.SetMantExp(d, 1074).Float64(); math.Abs(e) <= 1 {
		return 200
	}
	return relBits(got, bigDD(want))
}

// golden is the text of the golden file.
func golden(t *testing.T) []byte {
	m := newMP(t, 400)
	var w bytes.Buffer
	fmt.Fprintf(&w, "# Values of the functions of package truth by MPFR %s at %d bits, rounded\n", m.versionS, m.prec)
	fmt.Fprintf(&w, "# to double-double. Written by go test -run TestGolden -write-golden.\n")
	fmt.Fprintf(&w, "# function, one or two arguments, Hi, Lo\n")
	line := func(name string, want *mpfrT, args ...float64) {
		fmt.Fprint(&w, name)
		v := m.dd(want)
		for _, x := range append(args, v.Hi, v.Lo) {
			fmt.Fprint(&w, " ", hexFloat(x))
		}
		fmt.Fprintln(&w)
	}
	r := rand.New(rand.NewPCG(31, 32))
	for _, fn := range functions {
		one := func(x float64) {
			m.reset()
			line(fn.name, fn.want(m, m.f(x)), x)
		}
		for i := 0; i < len(edges); i += 7 {
			one(edges[i])
		}
		for i, x := range fn.hard {
			if i < 20 {
				one(x)
			}
		}
		for range 30 {
			one(fn.draw(r))
		}
	}
	for range 60 {
		m.reset()
		x := math.Ldexp(1+r.Float64(), r.IntN(200)-100)
		y := float64(r.IntN(1400)-700) / math.Abs(Log(x).Hi)
		line("pow", m.b("pow", m.f(x), m.f(y)), x, y)
	}
	for i := range 60 {
		m.reset()
		x := math.Ldexp(1+r.Float64(), i/2-15)
		v := m.reg()
		m.lgamma(v, new(int32), m.f(x), rndn)
		line("lgamma", v, x)
	}
	return w.Bytes()
}
