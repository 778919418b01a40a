package sim

import (
	"bytes"
	"testing"
)

// TestSnapshot writes buffers after touch and puts them back: what is poisoned
// without a copy, what was written since by a copy.
func TestSnapshot(t *testing.T) {
	dev, err := Open("gfx90a", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	d := dev.(*device)
	const n = 10_000
	alloc := func() *buffer {
		b, err := dev.Alloc("b", n)
		if err != nil {
			t.Fatal(err)
		}
		return b.(*buffer)
	}
	launch := &launch{dev: d, checks: true}
	g := &group{l: launch}
	for _, c := range []struct {
		name  string
		ready func(b *buffer) error
		copy  bool
	}{
		{"allocated", func(b *buffer) error { return nil }, false},
		{"poisoned", func(b *buffer) error { return b.Poison(0x5a) }, false},
		{"written", func(b *buffer) error { return b.CopyIn(bytes.Repeat([]byte{1, 2}, n/2)) }, true},
		{"written by a launch without checks", func(b *buffer) error {
			b.r.data[n-1], b.r.def[n-1] = 7, 1
			launch.checks = false
			launch.forget()
			launch.checks = true
			return nil
		}, true},
		{"written by a launch", func(b *buffer) error {
			g.touch(b.r)
			b.r.data[n/2], b.r.def[n/2] = 7, 1
			launch.forget()
			return nil
		}, true},
		{"written whole by a launch", func(b *buffer) error {
			g.touch(b.r)
			setOnes(b.r.def)
			launch.forget()
			if b.r.def != nil {
				t.Error("bytes written are still recorded where all are")
			}
			return nil
		}, true},
	} {
		b := alloc()
		if err := c.ready(b); err != nil {
			t.Fatal(err)
		}
		data, def := bytes.Clone(b.r.data), bytes.Clone(b.r.def)
		g.touch(b.r)
		if copied := b.r.saved.Load().data != nil; copied != c.copy {
			t.Errorf("%s: copied %v, want %v", c.name, copied, c.copy)
		}
		for i := range b.r.data {
			b.r.data[i] = byte(i)
		}
		for i := range b.r.def {
			b.r.def[i] = 1
		}
		launch.restore()
		if !bytes.Equal(b.r.data, data) || !bytes.Equal(b.r.def, def) {
			t.Errorf("%s: not as it was before", c.name)
		}
		if b.r.blank {
			t.Errorf("%s: still blank, with a second run to come", c.name)
		}
		launch.forget()
	}
}
