package sim

import (
	"errors"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa"
)

// dpp wraps o so that source 0 is fetched from other lanes.
func (c *compiler) dpp(in *isa.Inst, o *op) error {
	return errors.New("data-parallel primitives (DPP) are not interpreted")
}
