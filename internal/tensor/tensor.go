package tensor

import (
	"encoding/binary"
	"fmt"
)

// A Tensor is elements of one type, contiguous in row-major order of
// Shape. Data is what is copied to and from a device.
type Tensor struct {
	DType DType
	Shape []int
	Data  []byte
	// Period, where not 0, is how many elements Data holds: those after
	// them are the same again, and in Data zeros until Expand.
	Period int
}

// New returns a tensor of zeros.
func New(d DType, shape ...int) *Tensor {
	return &Tensor{DType: d, Shape: shape, Data: make([]byte, Count(shape)*d.Size())}
}

// FromFloats returns a tensor whose elements are vals rounded to d.
func FromFloats(d DType, vals []float64, shape ...int) *Tensor {
	t := New(d, shape...)
	if t.Len() != len(vals) {
		panic(fmt.Sprintf("tensor: %d values for shape %v", len(vals), shape))
	}
	for i, v := range vals {
		t.SetFloat(i, v)
	}
	return t
}

// FromInts returns a tensor of integer type d.
func FromInts(d DType, vals []int64, shape ...int) *Tensor {
	t := New(d, shape...)
	if t.Len() != len(vals) {
		panic(fmt.Sprintf("tensor: %d values for shape %v", len(vals), shape))
	}
	for i, v := range vals {
		t.SetBits(i, uint64(v))
	}
	return t
}

// Count is the number of elements of shape.
func Count(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Len is the number of elements.
func (t *Tensor) Len() int { return len(t.Data) / t.DType.Size() }

// Distinct is the number of elements that Data holds: all of them, or
// the first Period.
func (t *Tensor) Distinct() int {
	if t.Period > 0 {
		return t.Period
	}
	return t.Len()
}

// Expand repeats the first Period elements through all of Data.
func (t *Tensor) Expand() {
	if t.Period == 0 {
		return
	}
	for n := t.Period * t.DType.Size(); n < len(t.Data); n *= 2 {
		copy(t.Data[n:], t.Data[:n])
	}
	t.Period = 0
}

// Bits returns element i as an unsigned integer of the element's width.
func (t *Tensor) Bits(i int) uint64 {
	switch t.DType.Size() {
	case 8:
		return binary.LittleEndian.Uint64(t.Data[8*i:])
	case 4:
		return uint64(binary.LittleEndian.Uint32(t.Data[4*i:]))
	case 2:
		return uint64(binary.LittleEndian.Uint16(t.Data[2*i:]))
	}
	return uint64(t.Data[i])
}

// SetBits stores the low bits of v as element i.
func (t *Tensor) SetBits(i int, v uint64) {
	switch t.DType.Size() {
	case 8:
		binary.LittleEndian.PutUint64(t.Data[8*i:], v)
	case 4:
		binary.LittleEndian.PutUint32(t.Data[4*i:], uint32(v))
	case 2:
		binary.LittleEndian.PutUint16(t.Data[2*i:], uint16(v))
	default:
		t.Data[i] = byte(v)
	}
}

// Float returns element i as a float64, exact for every type but the
// 64-bit integers.
func (t *Tensor) Float(i int) float64 {
	if t.DType.IsFloat() {
		return t.DType.Decode(t.Bits(i))
	}
	if t.DType == U64 {
		return float64(t.Bits(i))
	}
	return float64(t.Int(i))
}

// SetFloat stores v, rounded to a floating-point element type.
func (t *Tensor) SetFloat(i int, v float64) { t.SetBits(i, t.DType.Encode(v)) }

// Int returns element i of an integer type, sign- or zero-extended.
func (t *Tensor) Int(i int) int64 {
	b := t.Bits(i)
	switch t.DType {
	case I32:
		return int64(int32(b))
	case I16:
		return int64(int16(b))
	}
	return int64(b)
}

// Floats returns all elements as float64.
func (t *Tensor) Floats() []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.Float(i)
	}
	return out
}

// Clone returns a deep copy.
func (t *Tensor) Clone() *Tensor {
	c := *t
	c.Data = append([]byte(nil), t.Data...)
	return &c
}
