package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/bundle"
	"github.com/paritycheck/paritycheck/internal/ops"
	"github.com/paritycheck/paritycheck/internal/runner"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// TestForeignOutput is another program's part: it reads a case's inputs,
// computes softmax in its own way, and has the output judged, right and
// then with one fault after another.
func TestForeignOutput(t *testing.T) {
	dir := t.TempDir()
	in, outFile := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	const name = "softmax/f32/rows=3,n=64/normal"
	which := []string{"--op", "softmax", "--dtype", "f32", "--case", name}
	call := func(args ...string) (int, string) {
		t.Helper()
		var out, errOut bytes.Buffer
		code := run(args, nil, &out, &errOut)
		return code, out.String() + errOut.String()
	}
	if code, text := call(append([]string{"inputs", "-o", in}, which...)...); code != exitOK {
		t.Fatalf("inputs: exit %d: %s", code, text)
	}
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	tensors, meta, err := bundle.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if meta["case"] != name || meta["seed"] != "1" || meta["n_cols"] != "64" || len(tensors) != 1 || tensors[0].Name != "src" {
		t.Fatalf("inputs hold %v and %v", tensors, meta)
	}
	const rows, n = 3, 64
	x := tensors[0].Tensor.Floats()
	right := make([]float64, rows*n)
	for r := range rows {
		top, sum := math.Inf(-1), 0.0
		for _, v := range x[r*n : r*n+n] {
			top = math.Max(top, v)
		}
		for i, v := range x[r*n : r*n+n] {
			right[r*n+i] = math.Exp(v - top)
			sum += right[r*n+i]
		}
		for i := range n {
			right[r*n+i] /= sum
		}
	}
	write := func(y []float64, d tensor.DType, meta map[string]string, more ...bundle.Named) {
		t.Helper()
		var buf bytes.Buffer
		list := append([]bundle.Named{{Name: "out", Tensor: tensor.FromFloats(d, y, rows, n)}}, more...)
		if err := bundle.Write(&buf, list, meta); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(outFile, buf.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	judge := func(want int, says string, more ...string) {
		t.Helper()
		code, text := call(append(append([]string{"judge", "--output", outFile}, which...), more...)...)
		if code != want || !strings.Contains(text, says) {
			t.Errorf("exit %d, want %d and %q:\n%s", code, want, says, text)
		}
	}
	spoil := func(f func(y []float64)) []float64 {
		y := append([]float64(nil), right...)
		f(y)
		return y
	}
	write(right, tensor.F32, map[string]string{"case": name, "seed": "1"})
	judge(exitOK, "1 pass")
	write(spoil(func(y []float64) { y[70] *= 1.001 }), tensor.F32, nil)
	judge(exitFail, "element 70")
	write(spoil(func(y []float64) {
		for i := range y {
			y[i] *= 1.01
		}
	}), tensor.F32, nil)
	judge(exitFail, "1.01")
	write(spoil(func(y []float64) {
		for i := range n {
			y[i], y[n+i] = y[n+i], y[i]
		}
	}), tensor.F32, nil)
	judge(exitFail, "MISMATCH")
	write(spoil(func(y []float64) {
		for i := range y {
			y[i] = tensor.F16.Round(y[i])
		}
	}), tensor.F32, nil)
	judge(exitFail, "MISMATCH")
	write(spoil(func(y []float64) { y[0] = math.NaN() }), tensor.F32, nil)
	judge(exitFail, "MISMATCH")

	// What is no output of this case is refused.
	write(right, tensor.F64, nil)
	judge(exitError, "not f64")
	write(right, tensor.F32, map[string]string{"case": "softmax/f32/rows=3,n=65/equal"})
	judge(exitError, "belongs to case")
	write(right, tensor.F32, map[string]string{"seed": "2"})
	judge(exitError, "belongs to seed 2")
	write(right, tensor.F32, nil, bundle.Named{Name: "other", Tensor: tensor.New(tensor.U8, 1)})
	judge(exitError, "--tensor")
	judge(exitOK, "1 pass", "--tensor", "out")
	judge(exitError, `no tensor "y"`, "--tensor", "y")
	if err := os.WriteFile(outFile, []byte("no tensors"), 0o666); err != nil {
		t.Fatal(err)
	}
	judge(exitError, "safetensors")
	if code, text := call("inputs", "--op", "softmax", "-o", in); code != exitError || !strings.Contains(text, "cases are selected") {
		t.Errorf("inputs of many cases: exit %d: %s", code, text)
	}
	if code, text := call(append([]string{"inputs", "-o", filepath.Join(dir, "no", "x")}, which...)...); code != exitError || !strings.Contains(text, "cannot be written in") {
		t.Errorf("inputs into no folder: exit %d: %s", code, text)
	}
}

// A store that truncates is found whatever the program's arithmetic: by the
// bound of one that computes in float, and by what it gives of any other.
func TestForeignHalf(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	which := []string{"--op", "exp", "--dtype", "bf16", "--case", "n=1024,*"}
	if code, _, errOut := execute(append([]string{"inputs", "-o", in}, which...)...); code != exitOK {
		t.Fatal(errOut)
	}
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	tensors, _, err := bundle.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tensors, func(n bundle.Named) bool { return n.Name == "inp" })
	x := tensors[i].Tensor
	y := tensor.New(tensor.BF16, x.Len())
	for i := range x.Len() {
		y.SetBits(i, uint64(math.Float32bits(float32(math.Exp(x.Float(i))))>>16))
	}
	var buf bytes.Buffer
	if err := bundle.Write(&buf, []bundle.Named{{Name: "out", Tensor: y}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		half, says string
		code       int
	}{{"steps", "store cuts off", exitFail}, {"float", "MISMATCH", exitFail}, {"double", "must be one of", exitError}} {
		code, text, errOut := execute(append([]string{"judge", "--output", out, "--half", c.half}, which...)...)
		if code != c.code || !strings.Contains(text+errOut, c.says) {
			t.Errorf("--half %s: exit %d, want %d and %q:\n%s%s", c.half, code, c.code, c.says, text, errOut)
		}
	}
}

// A recording is judged by itself, without a device, and is the counterpart
// of a run by rec:FILE.
func TestJudgeRecording(t *testing.T) {
	t.Chdir(t.TempDir())
	expect := func(code int, says string, args ...string) string {
		t.Helper()
		got, stdout, stderr := execute(args...)
		if got != code || !strings.Contains(stdout+stderr, says) {
			t.Errorf("paritycheck %s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), got, code, says, stdout, stderr)
		}
		return stdout
	}
	count := func(names ...string) int {
		t.Helper()
		cases, err := runner.Select(ops.All(), runner.Selection{Ops: names, DTypes: []string{"f32"}})
		if err != nil {
			t.Fatal(err)
		}
		return len(cases)
	}
	n := count("softmax", "gelu_erf")
	const file = "r.safetensors.gz"
	expect(exitOK, fmt.Sprintf("%d of %d cases recorded", n, n), "record", "--op", "softmax,gelu_erf", "--dtype", "f32", "--target", "hip@gfx90a", "--seed", "3", "-o", file)
	expect(exitOK, fmt.Sprintf("%d pass, 0 warn, 0 FAIL, 0 unverified", n), "judge", file)
	expect(exitOK, "seed: 3", "judge", file, "--op", "softmax")
	expect(exitOK, fmt.Sprintf("\n%d pass, ", count("softmax")), "judge", file, "--op", "softmax")
	expect(exitError, "holds none of the selected cases", "judge", file, "--op", "rope")
	expect(exitError, "is of seed 3, not 1", "judge", file, "--seed", "1")
	expect(exitError, "takes a recording or --output FILE, not both", "judge", file, "--output", file)
	expect(exitError, "judge needs a recording, or --output FILE", "judge")
	expect(exitError, "recording: open none.gz: no such file", "judge", "none.gz")
	out := expect(exitOK, "hip@rec:"+file, "run", "--op", "softmax", "--dtype", "f32", "--target", "hip@gfx1030", "--vs", "rec:"+file, "--seed", "3", "-q")
	if !strings.Contains(out, "BIT_EXACT") {
		t.Errorf("the run is not held against the recording:\n%s", out)
	}
	// Other inputs are refused: they are not the recording's.
	expect(exitOK, "was made with other inputs", "run", "--op", "softmax", "--dtype", "f32", "--target", "hip@gfx1030", "--vs", "rec:"+file, "-q")

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := bundle.ReadRecording(data)
	if err != nil {
		t.Fatal(err)
	}
	save := func(name string) {
		t.Helper()
		var b bytes.Buffer
		if err := rec.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rec.Problems["rope_j/f32/n=1/normal"], rec.Exact["rope_j/f32/n=1/normal"] = "x", "x"
	save("unknown.gz")
	expect(exitNone, fmt.Sprintf("%d pass, 0 warn, 0 FAIL, 1 unverified", n), "judge", "unknown.gz")
	// Edited by hand: one output, and then the hash too.
	edit := func(change func(list []bundle.Named, about map[string]any)) {
		t.Helper()
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		list, meta, err := bundle.Read(body)
		if err != nil {
			t.Fatal(err)
		}
		about := map[string]any{}
		if err := json.Unmarshal([]byte(meta["paritycheck"]), &about); err != nil {
			t.Fatal(err)
		}
		change(list, about)
		text, err := json.Marshal(about)
		if err != nil {
			t.Fatal(err)
		}
		meta["paritycheck"] = string(text)
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if err := errors.Join(bundle.Write(w, list, meta), w.Close(), os.WriteFile("edited.gz", b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	flip := func(list []bundle.Named, d tensor.DType) {
		t.Helper()
		i := slices.IndexFunc(list, func(n bundle.Named) bool { return n.Tensor.DType == d && len(n.Tensor.Data) > 3 })
		if i < 0 {
			t.Fatalf("the recording has no tensor of %s", d)
		}
		list[i].Tensor.Data[3] ^= 0x40
	}
	edit(func(list []bundle.Named, _ map[string]any) { flip(list, tensor.F32) })
	expect(exitError, "edited.gz: the recording was changed", "judge", "edited.gz")
	edit(func(list []bundle.Named, about map[string]any) {
		flip(list, tensor.F32)
		delete(about, "sha256")
	})
	expect(exitFail, fmt.Sprintf("%d pass, 0 warn, 1 FAIL, 0 unverified", n-1), "judge", "edited.gz")
	// Of a large output the distances from the truth are kept, and its hash.
	edit(func(list []bundle.Named, about map[string]any) {
		flip(list, tensor.I16)
		delete(about, "sha256")
	})
	expect(exitNone, fmt.Sprintf("%d pass, 0 warn, 0 FAIL, 1 unverified", n-1), "judge", "edited.gz")
	edit(func(_ []bundle.Named, about map[string]any) { about["schema"] = "paritycheck.recording/v9" })
	expect(exitError, `edited.gz: a recording of schema "paritycheck.recording/v9" cannot be read`, "judge", "edited.gz")
	for _, damaged := range [][]byte{data[:len(data)/2], []byte("text"), nil} {
		if err := os.WriteFile("bad.gz", damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		expect(exitError, "recording: bad.gz: ", "judge", "bad.gz")
	}
}

// What another program computes of rms_norm and gelu_erf passes; a wrong
// element, a scale, sums or arithmetic in f16, and rows in another order do
// not.
func TestForeignFaults(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	half := func(v float64) float64 { return tensor.F16.Round(v) }
	same := func(v float64) float64 { return v }
	// Each computes with every step rounded by r.
	for name, compute := range map[string]func(src, alpha []float64, rows int, eps float64, r func(float64) float64) []float64{
		"rms_norm/f32/rows=5,n=65,alpha=yes/normal": func(src, alpha []float64, rows int, eps float64, r func(float64) float64) []float64 {
			n := len(src) / rows
			y := make([]float64, len(src))
			for i := range rows {
				sum := 0.0
				for _, v := range src[i*n : i*n+n] {
					sum = r(sum + r(v*v))
				}
				for j := range n {
					y[i*n+j] = src[i*n+j] / math.Sqrt(sum/float64(n)+eps) * alpha[j]
				}
			}
			return y
		},
		"gelu_erf/f32/n=1024,layout=dense/normal": func(src, _ []float64, _ int, _ float64, r func(float64) float64) []float64 {
			y := make([]float64, len(src))
			for i, x := range src {
				y[i] = r(r(x) * r(0.5*math.Erfc(-x/math.Sqrt2)))
			}
			return y
		},
	} {
		op, _, _ := strings.Cut(name, "/")
		which := []string{"--op", op, "--case", name}
		if code, _, errOut := execute(append([]string{"inputs", "-o", in}, which...)...); code != exitOK {
			t.Fatal(errOut)
		}
		data, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		tensors, meta, err := bundle.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		var src, alpha []float64
		for _, n := range tensors {
			switch n.Name {
			case "src", "inp":
				src = n.Tensor.Floats()
			case "alpha":
				alpha = n.Tensor.Floats()
			}
		}
		eps, _ := strconv.ParseFloat(meta["eps"], 64)
		const rows = 5
		right := compute(src, alpha, rows, eps, same)
		check := func(what string, want int, y []float64) {
			t.Helper()
			var b bytes.Buffer
			list := []bundle.Named{{Name: "out", Tensor: tensor.FromFloats(tensor.F32, y, len(y))}}
			if err := errors.Join(bundle.Write(&b, list, nil), os.WriteFile(out, b.Bytes(), 0o666)); err != nil {
				t.Fatal(err)
			}
			if code, text, errOut := execute(append([]string{"judge", "--output", out}, which...)...); code != want {
				t.Errorf("%s, %s: exit %d, want %d: %s%s", name, what, code, want, text, errOut)
			}
		}
		check("right", exitOK, right)
		one, scaled := slices.Clone(right), slices.Clone(right)
		one[len(one)/2] *= 1.001
		for i := range scaled {
			scaled[i] *= 1.01
		}
		swapped := append(slices.Clone(right[len(right)/rows:]), right[:len(right)/rows]...)
		check("one wrong element", exitFail, one)
		check("a scale of 1 %", exitFail, scaled)
		check("arithmetic in f16", exitFail, compute(src, alpha, rows, eps, half))
		check("rows in another order", exitFail, swapped)
	}
}
