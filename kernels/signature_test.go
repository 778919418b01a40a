package kernels_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/codeobject"
	"github.com/paritycheck/paritycheck/kernels"
)

func TestSignatures(t *testing.T) {
	sigs, err := kernels.Signatures(kernels.HIP)
	if err != nil {
		t.Fatal(err)
	}
	got := sigs["rope_thd_bf16"]
	want := []kernels.Param{
		{CType: "const bf16*", Name: "src"}, {CType: "const bf16*", Name: "cos"}, {CType: "const bf16*", Name: "sin"}, {CType: "bf16*", Name: "dst"},
		{CType: "u32", Name: "b"}, {CType: "u32", Name: "t"}, {CType: "u32", Name: "h"}, {CType: "u32", Name: "d"}, {CType: "u32", Name: "stride_b"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("rope_thd_bf16: got %v, want %v", got, want)
	}
}

// Every unary op of candle has its kernel in every float type.
func TestUnarySymbols(t *testing.T) {
	sigs, err := kernels.Signatures(kernels.HIP)
	if err != nil {
		t.Fatal(err)
	}
	for _, dtype := range []string{"f64", "f32", "f16", "bf16"} {
		layout := []kernels.Param{{CType: "u64", Name: "numel"}, {CType: "u64", Name: "num_dims"}, {CType: "const u64*", Name: "info"}}
		data := []kernels.Param{{CType: "const " + dtype + "*", Name: "inp"}, {CType: dtype + "*", Name: "out"}}
		check := func(op string, want []kernels.Param) {
			t.Helper()
			if got := sigs["u"+op+"_"+dtype]; !slices.Equal(got, want) {
				t.Errorf("u%s_%s: got %v, want %v", op, dtype, got, want)
			}
		}
		for op := range strings.FieldsSeq("copy neg recip exp log sin cos tanh erf ceil floor round normcdf abs sqr sqrt gelu gelu_erf relu silu sign sigmoid") {
			check(op, slices.Concat(layout, data))
		}
		for op := range strings.FieldsSeq("elu powf") {
			check(op, slices.Concat(layout, []kernels.Param{{CType: dtype, Name: "param"}}, data))
		}
	}
}

func TestDialectsAgree(t *testing.T) {
	hip, err := kernels.Signatures(kernels.HIP)
	if err != nil {
		t.Fatal(err)
	}
	cuda, err := kernels.Signatures(kernels.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range slices.Sorted(maps.Keys(hip)) {
		if got := cuda[symbol]; !slices.Equal(got, hip[symbol]) {
			t.Errorf("%s: CUDA has %v, HIP %v", symbol, got, hip[symbol])
		}
	}
	for _, symbol := range slices.Sorted(maps.Keys(cuda)) {
		if _, ok := hip[symbol]; !ok {
			t.Errorf("%s: in CUDA alone", symbol)
		}
	}
}

// sizes are those of the types as a compiler lays them out; pointers have 8.
var sizes = map[string]int{"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "u64": 8, "u32": 4, "i32": 4, "i16": 2, "u8": 1}

func size(p kernels.Param) int {
	if strings.HasSuffix(p.CType, "*") {
		return 8
	}
	return sizes[p.CType]
}

// The parser's reading of the HIP sources against clang's.
func TestSignaturesAreTheObjects(t *testing.T) {
	for _, f := range kernels.Families() {
		src, headers, err := kernels.Source(kernels.HIP, f)
		if err != nil {
			t.Fatal(err)
		}
		sigs, err := kernels.ParseSignatures(src, headers)
		if err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"gfx90a", "gfx1030", "gfx1100"} {
			image, err := kernels.Object(f, arch)
			if err != nil {
				t.Fatal(err)
			}
			object, err := codeobject.Parse(image, arch)
			if err != nil {
				t.Fatalf("%s for %s: %v", f, arch, err)
			}
			if got, want := len(object.Kernels), len(sigs); got != want {
				t.Errorf("%s for %s: the object has %d kernels, the source %d", f, arch, got, want)
			}
			for _, k := range object.Kernels {
				// Findings name the line of an instruction.
				named := false
				for pc := k.Entry; pc < k.Entry+k.Size; pc += 4 {
					line, _ := object.Line(pc)
					named = named || strings.Contains(line, f+".hip:")
				}
				if !named {
					t.Errorf("%s for %s: no instruction has a line in %s.hip", k.Name, arch, f)
				}
				type arg struct {
					name string
					size int
				}
				var got, want []arg
				for _, a := range k.Args {
					if !a.Hidden() {
						got = append(got, arg{a.Name, int(a.Size)})
					}
				}
				for _, p := range sigs[k.Name] {
					want = append(want, arg{p.Name, size(p)})
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s for %s: the object has %v, the source %v", k.Name, arch, got, want)
				}
			}
		}
	}
}

var (
	entry = regexp.MustCompile(`(?s)\.visible \.entry (\w+)\((.*?)\)`)
	param = regexp.MustCompile(`\.param (?:\.align (\d+) )?\.(\w+) \w+(?:\[(\d+)\])?`)
)

// The parser's reading of the CUDA sources against NVRTC's.
func TestSignaturesAreThePTX(t *testing.T) {
	bytes := map[string]int{"u8": 1, "b8": 1, "u16": 2, "b16": 2, "u32": 4, "b32": 4, "f32": 4, "u64": 8, "b64": 8, "f64": 8}
	for _, f := range kernels.Families() {
		src, headers, err := kernels.Source(kernels.CUDA, f)
		if err != nil {
			t.Fatal(err)
		}
		sigs, err := kernels.ParseSignatures(src, headers)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := kernels.PTX(f)
		if err != nil {
			t.Fatal(err)
		}
		entries := entry.FindAllStringSubmatch(string(ptx), -1)
		if got, want := len(entries), len(sigs); got != want {
			t.Errorf("%s: the PTX has %d kernels, the source %d", f, got, want)
		}
		for _, e := range entries {
			var got, want []int
			for _, p := range param.FindAllStringSubmatch(e[2], -1) {
				n := bytes[p[2]]
				if p[3] != "" { // a struct, as an array of bytes
					count, err := strconv.Atoi(p[3])
					if err != nil {
						t.Fatal(err)
					}
					n *= count
				}
				got = append(got, n)
			}
			for _, p := range sigs[e[1]] {
				want = append(want, size(p))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the PTX has parameters of %v bytes, the source of %v", e[1], got, want)
			}
		}
	}
}

func TestParseSignatures(t *testing.T) {
	check := func(src string, want map[string][]kernels.Param) {
		t.Helper()
		got, err := kernels.ParseSignatures(src, map[string]string{"m.h": "#pragma once\n#define FOR(M) M(f32) M(f16)\n"})
		if err != nil {
			t.Errorf("%q: %v", src, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", src, got, want)
		}
	}
	type p = kernels.Param
	type m = map[string][]p
	check(`extern "C" __global__ void k(const float *__restrict__ x, float *const y, const unsigned int n) {}`,
		m{"k": {{"const f32*", "x"}, {"f32*", "y"}, {"u32", "n"}}})
	check(`extern "C" __global__ void __launch_bounds__(256, 4) k(size_t n, float const* a) {}`,
		m{"k": {{"u64", "n"}, {"const f32*", "a"}}})
	check("#include \"m.h\"\n#define K(T) extern \"C\" __global__ \\\n  void k_##T(T *x /* , T y */) {} // (\nFOR(K)\n",
		m{"k_f32": {{"f32*", "x"}}, "k_f16": {{"f16*", "x"}}})
	check("#define OP(T, NAME, ...) extern \"C\" __global__ void NAME(T a, __VA_ARGS__) {}\nOP(double, k, int b, int c)\n",
		m{"k": {{"f64", "a"}, {"i32", "b"}, {"i32", "c"}}})
	check("#define CAT(a, b) a##_##b\n#define T f32\n#define K(n) extern \"C\" __global__ void n(T x);\nK(CAT(k, T))\n",
		m{"k_T": {{"f32", "x"}}})
	check("#define A(x) extern \"C\" __global__ void x()\n#if 1\nA(p);\n#else\nA(q);\n#endif\n", m{"p": nil, "q": nil})
	check("#define X X\nextern \"C\" __global__ void X(int a);\n", m{"X": {{"i32", "a"}}})
	check(`__global__ void mangled(int a); extern "C" int host(int a); extern "C" { int b; }`, m{})
	check("const char *s = \"/*\"; extern \"C\" __global__ void k(); const char *e = \"*/\";", m{"k": nil})

	bad := func(src, want string) {
		t.Helper()
		_, err := kernels.ParseSignatures(src, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", src, err, want)
		}
	}
	bad(`extern "C" __global__ void k(float*);`, "no name")
	bad(`extern "C" __global__ void k(int a); extern "C" __global__ void k(int b);`, "twice")
	bad("#define K(a, b) a b\nK(1)\n", "takes 2 arguments, not 1")
	bad("#define K(a) a\nK(1\n", "do not end")
	bad("#define K(a\n", "do not end")
	doubling := "#define A0\n"
	for i := range 40 {
		doubling += fmt.Sprintf("#define A%d A%d A%d\n", i+1, i, i)
	}
	bad(doubling+"A40\n", "too much")
}

// A swap of two parameters of one type in one source shows.
func TestSwapIsSeen(t *testing.T) {
	src, headers, err := kernels.Source(kernels.CUDA, "rope")
	if err != nil {
		t.Fatal(err)
	}
	before, err := kernels.ParseSignatures(src, headers)
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.NewReplacer("__restrict__ cos", "__restrict__ sin", "__restrict__ sin", "__restrict__ cos").Replace(src)
	after, err := kernels.ParseSignatures(swapped, headers)
	if err != nil {
		t.Fatal(err)
	}
	if swapped == src || slices.Equal(before["rope_f32"], after["rope_f32"]) {
		t.Error("swapped cos and sin: got the same signature")
	}
}

func FuzzParseSignatures(f *testing.F) {
	src, headers, err := kernels.Source(kernels.HIP, "rope")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add("#define K(a, ...) a##b #a __VA_ARGS__\nK(extern \"C\" __global__ void k(), 1, 2)")
	f.Add("extern \"C\" __global__ void __attribute__((x)) k(int (*f)(int))")
	f.Fuzz(func(t *testing.T, src string) {
		kernels.ParseSignatures(src, headers)
	})
}
