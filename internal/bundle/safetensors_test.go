package bundle

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

func sample() []Named {
	return []Named{
		{"x", tensor.FromFloats(tensor.F32, []float64{1, -2.5, 3}, 3)},
		{"ids", tensor.FromInts(tensor.I64, []int64{-1, 7}, 2, 1)},
		{"none", tensor.New(tensor.BF16, 0, 4)},
		{"b", tensor.FromInts(tensor.U8, []int64{9}, 1)},
	}
}

func file(t testing.TB, header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestRoundTrip(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, sample(), map[string]string{"case": "a/b"}); err != nil {
		t.Fatal(err)
	}
	got, meta, err := Read(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if meta["case"] != "a/b" || len(got) != 4 {
		t.Fatalf("got %d tensors, metadata %v", len(got), meta)
	}
	for _, want := range sample() {
		found := false
		for _, g := range got {
			if g.Name == want.Name {
				found = true
				if g.Tensor.DType != want.Tensor.DType || !reflect.DeepEqual(g.Tensor.Shape, want.Tensor.Shape) || !bytes.Equal(g.Tensor.Data, want.Tensor.Data) {
					t.Errorf("%s came back as %+v, want %+v", want.Name, g.Tensor, want.Tensor)
				}
			}
		}
		if !found {
			t.Errorf("%s is lost", want.Name)
		}
	}
	if n := binary.LittleEndian.Uint64(buf.Bytes()); n%8 != 0 {
		t.Errorf("a header of %d bytes leaves the data unaligned", n)
	}
}

// TestReadForeign reads a file as numpy's safetensors writes it: keys in
// another order, no metadata.
func TestReadForeign(t *testing.T) {
	got, _, err := Read(file(t, `{"b":{"shape":[2],"data_offsets":[4,8],"dtype":"F16"},"a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}   `, []byte{7, 0, 0, 0, 0, 0x3c, 0, 0xc0}))
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Name != "a" || got[0].Tensor.Int(0) != 7 || got[1].Tensor.Float(0) != 1 || got[1].Tensor.Float(1) != -2 {
		t.Errorf("got %+v %+v", got[0].Tensor, got[1].Tensor)
	}
}

func TestReadBad(t *testing.T) {
	for _, tc := range []struct {
		name, header string
		data         int
		says         string
	}{
		{"json", `{"x":`, 0, "reading the header"},
		{"dtype", `{"x":{"dtype":"F12","shape":[1],"data_offsets":[0,4]}}`, 4, `unknown dtype "F12"`},
		{"short data", `{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4, "data_offsets"},
		{"shape", `{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8, "8 bytes of data for shape [3]"},
		{"huge", `{"x":{"dtype":"F32","shape":[281474976710656,281474976710656],"data_offsets":[0,8]}}`, 8, "too large"},
		{"negative", `{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}`, 8, "tensor \"x\""},
		{"gap", `{"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2, "gaps"},
		{"rest", `{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 2, "2 bytes of data"},
		{"overlap", `{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2, "overlap"},
		{"metadata", `{"__metadata__":{"a":1}}`, 0, "must hold strings"},
	} {
		if _, _, err := Read(file(t, tc.header, make([]byte, tc.data))); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.says)
		}
	}
	var buf bytes.Buffer
	if err := Write(&buf, sample(), nil); err != nil {
		t.Fatal(err)
	}
	for n := range buf.Len() {
		if _, _, err := Read(buf.Bytes()[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were read without an error", n, buf.Len())
		}
	}
	if err := Write(&buf, append(sample(), sample()...), nil); err == nil {
		t.Error("two tensors of one name were written")
	}
}

func FuzzRead(f *testing.F) {
	var buf bytes.Buffer
	if err := Write(&buf, sample(), map[string]string{"k": "v"}); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, meta, err := Read(b)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, got, meta); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
	})
}
