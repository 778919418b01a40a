package compare

import "github.com/paritycheck/paritycheck/internal/tensor"

func locate(e *Expected, got *tensor.Tensor, wrong []bool, opts Options) (Pattern, []string) {
	return Pattern{}, nil
}
