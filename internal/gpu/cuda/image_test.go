package cuda

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/paritycheck/paritycheck/internal/gpu/gputest"
)

const twoPTX = `//
.version 8.3
.target sm_75
.address_size 64

	// .globl	scale
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .f32 scale_param_1,
	.param .align 4 .b8 scale_param_2[12],
	.param .u64 .ptr .global .align 16 scale_param_3
)
.maxntid 256, 1, 1
{
	ret;
}
.func (.param .b32 r) helper(.param .b32 a) { ret; }
.entry none()
{ ret; }
.entry bare { ret; }
`

func TestSymbolsPTX(t *testing.T) {
	got, archs, err := Symbols([]byte(twoPTX))
	want := []Symbol{{"bare", []int{}}, {"none", []int{}}, {"scale", []int{8, 4, 12, 8}}}
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(archs, []string{"compute_75"}) {
		t.Errorf("got %v for %v, %v, want %v", got, archs, err, want)
	}
}

// fatbin is a container of parts; an LZ4 part is of literals and one run.
func fatbin(parts ...[]byte) []byte {
	le := binary.LittleEndian
	var body []byte
	for _, p := range parts {
		kind, flags, data := uint16(1), uint64(0), p
		if bytes.HasPrefix(p, []byte("\x7fELF")) {
			kind = 2
		} else {
			flags, data = 0x2000, lz4(p)
		}
		padded := append(bytes.Clone(data), make([]byte, -len(data)&7)...)
		h := make([]byte, 64)
		le.PutUint16(h, kind)
		le.PutUint32(h[4:], 64)
		le.PutUint64(h[8:], uint64(len(padded)))
		le.PutUint32(h[16:], uint32(len(data)))
		le.PutUint64(h[40:], flags)
		le.PutUint64(h[56:], uint64(len(p)))
		body = append(append(body, h...), padded...)
	}
	out := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, fatMagic), 1), 16)
	return append(le.AppendUint64(out, uint64(len(body))), body...)
}

// lz4 encodes b as literals and matches found by brute force.
func lz4(b []byte) []byte {
	var out []byte
	more := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		out = append(out, byte(n))
	}
	emit := func(literals []byte, offset, match int) {
		l, m := min(len(literals), 15), 0
		if match > 0 {
			m = min(match-4, 15)
		}
		out = append(out, byte(l<<4|m))
		if l == 15 {
			more(len(literals))
		}
		out = append(out, literals...)
		if match > 0 {
			out = append(out, byte(offset), byte(offset>>8))
			if m == 15 {
				more(match - 4)
			}
		}
	}
	start := 0
	for i := 0; i < len(b)-12; i++ {
		best, at := 0, 0
		for j := max(0, i-65535); j < i; j++ {
			n := 0
			for i+n < len(b)-5 && b[j+n] == b[i+n] {
				n++
			}
			if n > best {
				best, at = n, i-j
			}
		}
		if best >= 4 {
			emit(b[start:i], at, best)
			i += best - 1
			start = i + 1
		}
	}
	emit(b[start:], 0, 0)
	return out
}

// TestSymbolsCubin reads what nvcc 13.0 made of kernels/cuda/rope.cu.
func TestSymbolsCubin(t *testing.T) {
	f, err := os.Open("testdata/rope.sm_90.cubin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	image, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	kernels, archs, err := Symbols(image)
	if err != nil || len(kernels) != 12 || fmt.Sprint(archs) != "[sm_90]" {
		t.Fatalf("%d kernels for %v, %v, want 12 for sm_90", len(kernels), archs, err)
	}
	want := map[string]string{"rope_i_f32": "[8 8 8 8 4 4 4]", "rope_bf16": "[8 8 8 8 4 4 4 4]", "rope_thd_f64": "[8 8 8 8 4 4 4 4 4]"}
	for _, k := range kernels {
		if w := want[k.Name]; w != "" && fmt.Sprint(k.Params) != w {
			t.Errorf("%s has parameters of %v bytes, want %s", k.Name, k.Params, w)
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	for i := 1; i < 100; i++ {
		if _, _, err := Symbols(image[:len(image)*i/100]); err == nil {
			t.Errorf("%d%% of the file gave no error", i)
		}
	}
	if _, archs, err = Symbols(fatbin(image, []byte(twoPTX))); err != nil || fmt.Sprint(archs) != "[compute_75 sm_90]" {
		t.Errorf("in a fat binary with PTX: %v, %v", archs, err)
	}
}

// zstdPart makes the one part of a fat binary packed by zstd.
func zstdPart(t *testing.T, p []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll(p, nil)
	image := fatbin([]byte("x"))
	le := binary.LittleEndian
	head := bytes.Clone(image[16 : 16+64])
	padded := append(bytes.Clone(packed), make([]byte, -len(packed)&7)...)
	le.PutUint64(head[8:], uint64(len(padded)))
	le.PutUint32(head[16:], uint32(len(packed)))
	le.PutUint64(head[40:], 0x8000)
	le.PutUint64(head[56:], uint64(len(p)))
	body := append(head, padded...)
	out := bytes.Clone(image[:16])
	le.PutUint64(out[8:], uint64(len(body)))
	return append(out, body...)
}

func TestSymbolsZstd(t *testing.T) {
	image := zstdPart(t, []byte(twoPTX))
	if got, _, err := Symbols(image); err != nil || len(got) != 3 {
		t.Errorf("got %v, %v", got, err)
	}
	image[16+64+10] ^= 0xff
	if _, _, err := Symbols(image); err == nil {
		t.Error("a damaged part gave no error")
	}
	image[16+64] = 0 // another magic number: a packing that is not known
	if _, _, err := Symbols(image); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unknown packing gave %v", err)
	}
}

func TestSymbolsFatbin(t *testing.T) {
	long := twoPTX + strings.Repeat("// a comment that repeats\n", 40) + strings.Repeat("x", 5)
	image := fatbin([]byte(long+"\x00"), []byte(strings.Replace(twoPTX, "sm_75", "sm_90", 1)))
	got, archs, err := Symbols(append(image, fatbin([]byte(".version 8.0\n.target sm_80\n.entry third(.param .b8 x) {}"))...))
	if err != nil || len(got) != 4 || got[3].Name != "third" || fmt.Sprint(archs) != "[compute_75 compute_80 compute_90]" || fmt.Sprint(got[2].Params) != "[8 4 12 8]" {
		t.Errorf("got %v for %v, %v", got, archs, err)
	}
	for i := range len(image) {
		if _, _, err := Symbols(image[:i]); err == nil {
			t.Errorf("%d of %d bytes gave no error", i, len(image))
		}
	}
}

// TestInfoParams reads the parameters of add_kernel(float*, float*, int) as
// ptxas 12.0 writes them: the last one comes first.
func TestInfoParams(t *testing.T) {
	record := func(ordinal, offset, size int) []byte {
		le := binary.LittleEndian
		b := []byte{4, 0x17, 12, 0, 0, 0, 0, 0}
		b = le.AppendUint16(le.AppendUint16(b, uint16(ordinal)), uint16(offset))
		return le.AppendUint32(b, uint32(size)<<18|0x1f000)
	}
	other := []byte{3, 0x1b, 0xff, 0, 4, 0x1c, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	b := append(bytes.Clone(other), record(2, 16, 4)...)
	b = append(b, record(1, 8, 8)...)
	whole := append(b, record(0, 0, 8)...)
	if got := infoParams(whole); !reflect.DeepEqual(got, []int{8, 8, 4}) {
		t.Errorf("got %v, want [8 8 4]", got)
	}
	if got := infoParams(b); got != nil {
		t.Errorf("without the first: got %v, want nil", got)
	}
	if got := infoParams(whole[:len(whole)-3]); got != nil {
		t.Errorf("cut short: got %v, want nil", got)
	}
}

func FuzzSymbols(f *testing.F) {
	f.Add([]byte(twoPTX))
	f.Add(fatbin([]byte(twoPTX)))
	f.Add(gputest.StubPTX("a", "b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		kernels, _, err := Symbols(b)
		if err != nil && kernels != nil {
			t.Error("kernels and an error")
		}
	})
}
