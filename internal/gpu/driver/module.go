package driver

import (
	"errors"
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

type module struct {
	dev    *Device
	handle uintptr
	image  []byte // the driver may go on reading it
	closed bool   // on the thread
}

var errModuleClosed = errors.New("module is closed")

func (m *module) Kernel(symbol string) (gpu.Kernel, error) {
	k := &kernel{mod: m, name: symbol}
	a := m.dev.api
	err := m.dev.do(func() error {
		if m.closed {
			return errModuleClosed
		}
		if symbol == "" || clib.Name(symbol) != nil {
			return fmt.Errorf("%w: %q", gpu.ErrNoKernel, symbol)
		}
		r := a.ModuleGetFunction.Call(&k.handle, m.handle, symbol)
		if a.NoFunction(r) {
			return fmt.Errorf("%w: %s", gpu.ErrNoKernel, symbol)
		}
		return a.Check(a.ModuleGetFunction.Name, r)
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (m *module) Close() error {
	a := m.dev.api
	return m.dev.do(func() error {
		if m.closed {
			return errModuleClosed
		}
		m.closed = true
		return a.Check(a.ModuleUnload.Name, a.ModuleUnload.Call(m.handle))
	})
}

type kernel struct {
	mod    *module
	name   string
	handle uintptr // CUfunction, hipFunction_t
	shared int     // dynamic shared memory allowed, bytes; on the thread
}

func (k *kernel) Name() string { return k.name }
