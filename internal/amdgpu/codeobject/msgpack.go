package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxDepth bounds the nesting of the metadata; compilers use four levels.
const maxDepth = 32

var errShort = errors.New("msgpack: truncated")

// decodeMsgpack decodes one value: nil, bool, uint64, int64 (negative
// integers only), float64, string, []byte, []any or map[string]any.
func decodeMsgpack(b []byte) (any, error) {
	d := msgpack{b: b}
	return d.value(0)
}

type msgpack struct {
	b []byte
}

func (d *msgpack) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)) {
		return nil, errShort
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p, nil
}

// uint reads a big-endian integer of n bytes.
func (d *msgpack) uint(n uint64) (uint64, error) {
	p, err := d.take(n)
	if err != nil {
		return 0, err
	}
	var v [8]byte
	copy(v[8-n:], p)
	return binary.BigEndian.Uint64(v[:]), nil
}

func (d *msgpack) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("msgpack: nested deeper than %d", maxDepth)
	}
	t, err := d.take(1)
	if err != nil {
		return nil, err
	}
	c := t[0]
	// sized reads an n-byte length and hands it to f.
	sized := func(n uint64, f func(uint64) (any, error)) (any, error) {
		l, err := d.uint(n)
		if err != nil {
			return nil, err
		}
		return f(l)
	}
	str := func(n uint64) (any, error) { p, err := d.take(n); return string(p), err }
	bin := func(n uint64) (any, error) { p, err := d.take(n); return append([]byte(nil), p...), err }
	arr := func(n uint64) (any, error) { return d.array(n, depth) }
	obj := func(n uint64) (any, error) { return d.object(n, depth) }
	switch {
	case c < 0x80:
		return uint64(c), nil
	case c < 0x90:
		return obj(uint64(c & 15))
	case c < 0xa0:
		return arr(uint64(c & 15))
	case c < 0xc0:
		return str(uint64(c & 31))
	case c >= 0xe0:
		return int64(int8(c)), nil
	}
	switch c {
	case 0xc0:
		return nil, nil
	case 0xc2, 0xc3:
		return c == 0xc3, nil
	case 0xc4, 0xc5, 0xc6:
		return sized(1<<(c-0xc4), bin)
	case 0xca:
		v, err := d.uint(4)
		return float64(math.Float32frombits(uint32(v))), err
	case 0xcb:
		v, err := d.uint(8)
		return math.Float64frombits(v), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		v, err := d.uint(1 << (c - 0xcc))
		return v, err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		n := uint64(1) << (c - 0xd0)
		v, err := d.uint(n)
		s := int64(v<<(64-8*n)) >> (64 - 8*n)
		if s >= 0 {
			return uint64(s), err
		}
		return s, err
	case 0xd9, 0xda, 0xdb:
		return sized(1<<(c-0xd9), str)
	case 0xdc, 0xdd:
		return sized(2<<(c-0xdc), arr)
	case 0xde, 0xdf:
		return sized(2<<(c-0xde), obj)
	}
	return nil, fmt.Errorf("msgpack: unexpected type byte 0x%02x", c)
}

func (d *msgpack) array(n uint64, depth int) (any, error) {
	// Each element takes a byte or more, so n bounds nothing before this.
	if n > uint64(len(d.b)) {
		return nil, errShort
	}
	a := make([]any, 0, n)
	for range n {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	return a, nil
}

func (d *msgpack) object(n uint64, depth int) (any, error) {
	if n > uint64(len(d.b))/2 {
		return nil, errShort
	}
	m := make(map[string]any, n)
	for range n {
		k, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("msgpack: map key is a %T, want a string", k)
		}
		if m[key], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return m, nil
}
