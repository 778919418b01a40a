package bundle

import (
	"math"

	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/tensor"
)

// largeOutput is how many bytes an output has of which steps are kept. The
// digits of a result do not compress, and how far it is from the truth does;
// of small ones that is not worth computing the truth for at each reading.
const largeOutput = 2 << 10

// stepsFrom is how many numbers of its type each element of out is above the
// truth, as i16; nil where that does not fit or the type has no fractions.
func stepsFrom(e *compare.Expected, out *tensor.Tensor) *tensor.Tensor {
	if !out.DType.IsFloat() || out.DType != e.DType || e.Len() != out.Len() {
		return nil
	}
	steps := tensor.New(tensor.I16, out.Shape...)
	for i := range out.Len() {
		d := place(out.DType, out.Bits(i)) - place(out.DType, nearest(e, i))
		if d != int64(int16(d)) {
			return nil
		}
		steps.SetBits(i, uint64(uint16(d)))
	}
	return steps
}

// stepped is the output that stepsFrom was of; nil where steps are none of e.
func stepped(e *compare.Expected, steps *tensor.Tensor) *tensor.Tensor {
	if steps.DType != tensor.I16 || !e.DType.IsFloat() || e.Len() != steps.Len() {
		return nil
	}
	out := tensor.New(e.DType, steps.Shape...)
	for i := range out.Len() {
		out.SetBits(i, bitsAt(e.DType, place(e.DType, nearest(e, i))+int64(int16(steps.Bits(i)))))
	}
	return out
}

// nearest is the truth of element i in the type of the output.
func nearest(e *compare.Expected, i int) uint64 {
	if e.Exact != nil {
		return e.Exact.Bits(i)
	}
	return e.DType.Encode(e.Value[i])
}

// place numbers the bit patterns of a type from the least number to the
// greatest, the zeros being -1 and 0 and the positive ones what their bits are.
func place(d tensor.DType, b uint64) int64 {
	if sign := uint64(1) << (8*d.Size() - 1); b&sign != 0 {
		return -1 - int64(b&^sign)
	}
	return int64(b)
}

// bitsAt is the inverse of place.
func bitsAt(d tensor.DType, at int64) uint64 {
	mask := uint64(math.MaxUint64) >> (64 - 8*d.Size())
	if at < 0 {
		return (uint64(-1-at) | 1<<(8*d.Size()-1)) & mask
	}
	return uint64(at) & mask
}
