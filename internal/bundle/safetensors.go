// Package bundle keeps tensors and runs in files that move between
// machines: safetensors, which PyTorch, numpy and candle read and write,
// and recordings made of them.
package bundle

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/tensor"
)

// A Named is a tensor with its name.
type Named struct {
	Name   string
	Tensor *tensor.Tensor
}

// The dtypes of safetensors, by ours.
var dtypes = map[tensor.DType]string{
	tensor.F64: "F64", tensor.F32: "F32", tensor.F16: "F16", tensor.BF16: "BF16", tensor.F8E4M3: "F8_E4M3",
	tensor.I64: "I64", tensor.I32: "I32", tensor.I16: "I16", tensor.U64: "U64", tensor.U32: "U32", tensor.U8: "U8",
}

// metadataKey is the entry of a header that is no tensor.
const metadataKey = "__metadata__"

// maxHeader bounds the header that Read accepts: the limit of the
// safetensors library.
const maxHeader = 100 << 20

// An entry describes a tensor in the header of a safetensors file.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// Write writes tensors, in their order, and metadata as a safetensors
// file: the length of the header, the header in JSON, the data.
func Write(w io.Writer, tensors []Named, metadata map[string]string) error {
	header := map[string]any{}
	if len(metadata) > 0 {
		header[metadataKey] = metadata
	}
	at := uint64(0)
	for _, n := range tensors {
		name, ok := dtypes[n.Tensor.DType]
		if !ok {
			return fmt.Errorf("tensor %s: safetensors has no type %v", n.Name, n.Tensor.DType)
		}
		if _, twice := header[n.Name]; twice || n.Name == metadataKey {
			return fmt.Errorf("tensor %s: the name is taken", n.Name)
		}
		shape := make([]uint64, len(n.Tensor.Shape))
		for i, s := range n.Tensor.Shape {
			shape[i] = uint64(s)
		}
		end := at + uint64(len(n.Tensor.Data))
		header[n.Name] = entry{name, shape, []uint64{at, end}}
		at = end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(text)%8 != 0 { // data stays aligned, as the format asks
		text = append(text, ' ')
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	for _, n := range tensors {
		if _, err := w.Write(n.Tensor.Data); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a safetensors file. The tensors come in the order of their
// data and share data's memory.
func Read(data []byte) (tensors []Named, metadata map[string]string, err error) {
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("not a safetensors file: %d bytes, and the length of the header alone has 8", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, nil, fmt.Errorf("not a safetensors file, or cut short: a header of %d bytes in a file of %d", n, len(data))
	}
	text, body := data[8:8+n], data[8+n:]
	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, nil, fmt.Errorf("reading the header of a safetensors file: %w", err)
	}
	type placed struct {
		Named
		from, to uint64
	}
	var list []placed
	for name, raw := range header {
		if name == metadataKey {
			if err := json.Unmarshal(raw, &metadata); err != nil {
				return nil, nil, fmt.Errorf("reading %s: must hold strings: %w", metadataKey, err)
			}
			continue
		}
		t, from, to, err := readEntry(raw, body)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		list = append(list, placed{Named{name, t}, from, to})
	}
	slices.SortFunc(list, func(a, b placed) int {
		if a.from != b.from {
			if a.from < b.from {
				return -1
			}
			return 1
		}
		if a.to != b.to {
			if a.to < b.to {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	at := uint64(0)
	for _, p := range list {
		if p.from != at {
			return nil, nil, fmt.Errorf("tensor %q begins at byte %d of the data, where the one before ends at %d: they must neither overlap nor leave gaps", p.Name, p.from, at)
		}
		at = p.to
		tensors = append(tensors, p.Named)
	}
	if at != uint64(len(body)) {
		return nil, nil, fmt.Errorf("%d bytes of data, of which the tensors have %d", len(body), at)
	}
	return tensors, metadata, nil
}

func readEntry(raw json.RawMessage, body []byte) (t *tensor.Tensor, from, to uint64, err error) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, 0, 0, err
	}
	d := tensor.Invalid
	for k, name := range dtypes {
		if name == e.DType {
			d = k
		}
	}
	if d == tensor.Invalid {
		return nil, 0, 0, fmt.Errorf("unknown dtype %q", e.DType)
	}
	if len(e.Offsets) != 2 || e.Offsets[0] > e.Offsets[1] || e.Offsets[1] > uint64(len(body)) {
		return nil, 0, 0, fmt.Errorf("data_offsets %v must be two numbers in order, at most the %d bytes there are", e.Offsets, len(body))
	}
	size := uint64(d.Size())
	shape := make([]int, len(e.Shape))
	for i, s := range e.Shape {
		if s > 1<<48 {
			return nil, 0, 0, errors.New("a dimension is too large")
		}
		hi, lo := bits.Mul64(size, s)
		if hi != 0 {
			return nil, 0, 0, errors.New("the shape is too large")
		}
		size, shape[i] = lo, int(s)
	}
	if got := e.Offsets[1] - e.Offsets[0]; got != size {
		return nil, 0, 0, fmt.Errorf("%d bytes of data for shape %v of %s, which has %d", got, e.Shape, e.DType, size)
	}
	return &tensor.Tensor{DType: d, Shape: shape, Data: body[e.Offsets[0]:e.Offsets[1]]}, e.Offsets[0], e.Offsets[1], nil
}
