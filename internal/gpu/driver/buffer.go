package driver

import (
	"fmt"

	"github.com/paritycheck/paritycheck/internal/gpu"
)

// Alloc implements gpu.Device.
func (d *Device) Alloc(name string, size int) (gpu.Buffer, error) {
	a := d.api
	if size < 0 {
		return nil, fmt.Errorf("%s: size of %s must not be negative, is %d", a.Vendor, name, size)
	}
	b := &buffer{dev: d, name: name, size: size}
	err := d.do(func() error {
		// An empty buffer still has an address: null is an argument's way
		// of being absent.
		err := a.Check(a.MemAlloc.Name, a.MemAlloc.Call(&b.ptr, uint64(max(size, 1))))
		if err != nil {
			return fmt.Errorf("%s of %d bytes: %w", name, size, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

type buffer struct {
	dev   *Device
	name  string
	ptr   uint64
	size  int
	freed bool // on the thread
}

func (b *buffer) Ptr() uint64 { return b.ptr }
func (b *buffer) Size() int   { return b.size }

// do is Device.do for a buffer that was not freed. n is the length of the
// other side of a copy.
func (b *buffer) do(n int, f func(a *API) error) error {
	if n != b.size {
		return fmt.Errorf("%s: copy of %d bytes for %s, which has %d", b.dev.api.Vendor, n, b.name, b.size)
	}
	return b.dev.do(func() error {
		if b.freed {
			return b.errFreed()
		}
		if b.size == 0 {
			return nil
		}
		return f(b.dev.api)
	})
}

func (b *buffer) errFreed() error { return fmt.Errorf("buffer %s is freed", b.name) }

func (b *buffer) CopyIn(src []byte) error {
	return b.do(len(src), func(a *API) error {
		return a.Check(a.MemcpyHtoD.Name, a.MemcpyHtoD.Call(b.ptr, &src[0], uint64(len(src))))
	})
}

func (b *buffer) CopyOut(dst []byte) error {
	return b.do(len(dst), func(a *API) error {
		return a.Check(a.MemcpyDtoH.Name, a.MemcpyDtoH.Call(&dst[0], b.ptr, uint64(len(dst))))
	})
}

func (b *buffer) Poison(pattern byte) error {
	return b.do(b.size, func(a *API) error {
		return a.Check(a.MemsetD8.Name, a.MemsetD8.Call(b.ptr, pattern, uint64(b.size)))
	})
}

func (b *buffer) Free() error {
	a := b.dev.api
	return b.dev.do(func() error {
		if b.freed {
			return b.errFreed()
		}
		b.freed = true
		return a.Check(a.MemFree.Name, a.MemFree.Call(b.ptr))
	})
}
