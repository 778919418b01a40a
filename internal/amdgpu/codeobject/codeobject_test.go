package codeobject

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func raw(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const base90a = "../sim/testdata/base.gfx90a.hsaco.gz"

func TestVersions(t *testing.T) {
	check := func(name, arch string, abi, wave, args int, props uint16, kernarg uint32) {
		t.Helper()
		f, err := Parse(raw(t, "testdata/"+name), arch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if f.Arch != arch || f.ABI != abi {
			t.Errorf("%s: got %s v%d, want %s v%d", name, f.Arch, f.ABI, arch, abi)
		}
		k := f.Kernel("vadd")
		if k == nil {
			t.Fatalf("%s: no vadd in %d kernels", name, len(f.Kernels))
		}
		if k.WaveSize != wave || len(k.Args) != args || k.Descriptor.Properties != props || k.KernargSize != kernarg {
			t.Errorf("%s: got wave %d, %d args, properties 0x%x, %d kernarg bytes, want %d, %d, 0x%x, %d",
				name, k.WaveSize, len(k.Args), k.Descriptor.Properties, k.KernargSize, wave, args, props, kernarg)
		}
		if a := k.Args[3]; a.Offset != 24 || a.Size != 4 || a.Kind != "by_value" || a.Hidden() {
			t.Errorf("%s: got argument 3 %+v, want the int at 24", name, a)
		}
		if name, off, ok := f.Symbol(k.Entry + 4); !ok || name != "vadd" || off != 4 {
			t.Errorf("Symbol(entry+4) = %s+%d, %v, want vadd+4", name, off, ok)
		}
	}
	check("v4.hsaco.gz", "gfx90a", 4, 64, 4, 0x9, 28)
	check("v5.hsaco.gz", "gfx1030", 5, 32, 4, 0x409, 28)
	check("v6.hsaco.gz", "gfx1100", 6, 32, 4, 0x408, 28)
	check("two.hipfb.gz", "gfx90a", 4, 64, 4, 0x9, 28)
	check("two.hipfb.gz", "gfx1030", 4, 32, 4, 0x409, 28)
}

func TestMetadata(t *testing.T) {
	f, err := Parse(raw(t, base90a), "gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Kernels) < 10 {
		t.Fatalf("got %d kernels, want at least 10", len(f.Kernels))
	}
	k := f.Kernel("block_sum")
	if k.LDS != 1024 || k.Descriptor.GroupSegment != 1024 {
		t.Errorf("block_sum: got LDS %d, descriptor %d, want 1024", k.LDS, k.Descriptor.GroupSegment)
	}
	kinds := map[string]uint32{}
	for _, a := range f.Kernel("ids").Args {
		kinds[a.Kind] = a.Offset
	}
	for kind, want := range map[string]uint32{"hidden_block_count_x": 8, "hidden_group_size_x": 20, "hidden_remainder_z": 30, "hidden_grid_dims": 72} {
		if got, ok := kinds[kind]; !ok || got != want {
			t.Errorf("ids: %s at %d (%v), want %d", kind, got, ok, want)
		}
	}
	if k := f.Kernel("scratch"); k.Scratch == 0 || !k.Descriptor.Scratch() {
		t.Errorf("scratch: got %d bytes, enabled %v", k.Scratch, k.Descriptor.Scratch())
	}
	if f.Kernel("nothing") != nil {
		t.Error("found a kernel that does not exist")
	}
	k, lines, inlined := f.Kernel("vadd"), 0, 0
	for pc := k.Entry; pc < k.Entry+k.Size; pc += 4 {
		line, inner := f.Line(pc)
		if line == "base.hip:6" {
			lines++
		}
		switch {
		case !strings.HasPrefix(line, "base.hip:"):
			t.Errorf("Line(%#x) = %q, want a line of base.hip", pc, line)
		case inner != "":
			inlined++
			if strings.HasPrefix(inner, "base.hip:") {
				t.Errorf("Line(%#x) = %q inlined from %q, want another file", pc, line, inner)
			}
		}
	}
	if inlined == 0 {
		t.Error("no instruction of vadd is from a header, which defines blockIdx")
	}
	if lines == 0 {
		t.Error("no instruction of vadd is from base.hip:6, its addition")
	}
	if got, _ := f.Line(f.Text.Addr + f.Text.Size + 4096); got != "" {
		t.Errorf("Line past the code = %q, want none", got)
	}
}

// TestRelocate checks that the device pointer of base.hip points at its
// counter, whose initial value is 5.
func TestRelocate(t *testing.T) {
	f, err := Parse(raw(t, base90a), "")
	if err != nil {
		t.Fatal(err)
	}
	const at = 0x7000_0000_0000
	img := f.Relocate(at)
	var addr uint64
	for _, s := range f.Symbols {
		if s.Name == "pointer" {
			addr = s.Addr
		}
	}
	p := binary.LittleEndian.Uint64(img[addr:])
	if p < at || p >= at+uint64(len(img)) {
		t.Fatalf("pointer is 0x%x, want an address of the image at 0x%x", p, uint64(at))
	}
	if got := binary.LittleEndian.Uint32(img[p-at:]); got != 5 {
		t.Errorf("*pointer = %d, want 5", got)
	}
	if bytes.Equal(img, f.Image) {
		t.Error("Relocate changed nothing")
	}
}

func TestEveryRelocation(t *testing.T) {
	f := &File{Image: make([]byte, 128), relocs: []reloc{
		{relAbs32Lo, 0, 0x10, 4}, {relAbs32Hi, 4, 0x10, 4}, {relAbs64, 8, 0x10, 4}, {relRel32, 16, 0x10, 4},
		{relRel64, 24, 0x10, 4}, {relAbs32, 32, 0x10, 4}, {relRel32Lo, 36, 0x10, 4}, {relRel32Hi, 40, 0x10, 4}, {relRelative64, 48, 0, 0x20},
	}}
	const base = 0x1234_8000_0000
	img := f.Relocate(base)
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(img[at:])) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(img[at:]) }
	for _, c := range []struct {
		what      string
		got, want uint64
	}{
		{"ABS32_LO", u32(0), 0x8000_0014}, {"ABS32_HI", u32(4), 0x1234}, {"ABS64", u64(8), base + 0x14},
		{"REL32", u32(16), 4}, {"REL64", u64(24), 1<<64 - 4}, {"ABS32", u32(32), 0x8000_0014},
		{"REL32_LO", u32(36), 1<<32 - 16}, {"REL32_HI", u32(40), 1<<32 - 1}, {"RELATIVE64", u64(48), base + 0x20},
	} {
		if c.got != c.want {
			t.Errorf("%s: got 0x%x, want 0x%x", c.what, c.got, c.want)
		}
	}
}

// compressed writes a CCOB bundle around b.
func compressed(b []byte, version, method uint16, size uint64) []byte {
	var out bytes.Buffer
	out.WriteString("CCOB")
	le := binary.LittleEndian
	h := le.AppendUint16(le.AppendUint16(nil, version), method)
	switch version {
	case 1:
		h = le.AppendUint32(h, uint32(size))
	case 2:
		h = le.AppendUint32(le.AppendUint32(h, 0), uint32(size))
	case 3:
		h = le.AppendUint64(le.AppendUint64(h, 0), size)
	}
	out.Write(le.AppendUint64(h, 0))
	if method == 1 {
		w, err := zstd.NewWriter(&out)
		if err != nil {
			panic(err)
		}
		w.Write(b)
		w.Close()
		return out.Bytes()
	}
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestCompressedBundle(t *testing.T) {
	b := gunzip(t, "testdata/two.hipfb.gz")
	n := uint64(len(b))
	for v := uint16(1); v <= 3; v++ {
		if _, err := Parse(compressed(b, v, 0, n), "gfx1030"); err != nil {
			t.Errorf("version %d: %v", v, err)
		}
		packed := compressed(b, v, 1, n)
		if _, err := Parse(packed, "gfx1030"); err != nil {
			t.Errorf("version %d, zstd: %v", v, err)
		}
		wantErr(t, packed[:len(packed)-9], "gfx1030", "reading compressed bundle")
		if archs, err := Archs(packed); err != nil || len(archs) != 2 {
			t.Errorf("version %d, zstd: architectures %v, %v", v, archs, err)
		}
	}
	wantErr(t, compressed(b, 2, 0, n+1), "gfx1030", "header says")
	wantErr(t, compressed(b, 2, 1, n+1), "gfx1030", "header says")
	wantErr(t, compressed(b, 2, 1, n-1), "gfx1030", "header says")
	wantErr(t, compressed(b, 2, 0, 1<<40), "gfx1030", "header says")
	wantErr(t, compressed(b, 3, 1, 1<<40), "gfx1030", "would hold")
	wantErr(t, compressed(b, 2, 7, n), "gfx1030", "unknown method 7")
	wantErr(t, compressed(b, 9, 0, n)[:32], "gfx1030", "version 9")
}

func wantErr(t *testing.T, image []byte, arch, want string) {
	t.Helper()
	f, err := Parse(image, arch)
	if err == nil {
		t.Errorf("parsed as %s, want an error with %q", f.Arch, want)
		return
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got error %q, want one with %q", err, want)
	}
}

func TestForeign(t *testing.T) {
	obj := gunzip(t, "testdata/v5.hsaco.gz")
	patch := func(at int, v byte) []byte {
		b := bytes.Clone(obj)
		b[at] = v
		return b
	}
	wantErr(t, nil, "gfx90a", "empty file")
	wantErr(t, []byte("hello, world"), "gfx90a", "not an ELF")
	wantErr(t, []byte("# paritycheck\n"+strings.Repeat("x", 100)), "gfx90a", "not an ELF")
	wantErr(t, obj, "gfx90a", "compiled for gfx1030, want gfx90a")
	wantErr(t, patch(18, 62), "", "not AMDGPU")
	wantErr(t, patch(7, 0), "", "OS ABI 0")
	wantErr(t, patch(8, 1), "", "code object v3")
	wantErr(t, patch(8, 9), "", "code object v11")
	wantErr(t, patch(48, 0), "", "unknown processor 0x00")
	wantErr(t, patch(48, 0x3f), "", "metadata is for gfx1030")
	wantErr(t, patch(16, 1), "", "linked code object")
	wantErr(t, raw(t, "testdata/two.hipfb.gz"), "gfx1100", "no entry for gfx1100, only gfx1030, gfx90a")
	wantErr(t, []byte("FPIH............"), "", "fat binary")
	wantErr(t, []byte(bundleMagic), "", "truncated")
	wantErr(t, append([]byte(bundleMagic), make([]byte, 8)...), "", "no AMDGPU entry")
	wantErr(t, append([]byte(bundleMagic), 255, 255, 255, 255, 255, 255, 255, 255, 0), "", "truncated")
	wantErr(t, []byte{0x1f, 0x8b, 8, 0}, "", "gzip")
}

// TestTruncated cuts a file at every length: each gives an error, or an
// object that lost nothing but trailing debug information.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"testdata/v4.hsaco.gz", "testdata/two.hipfb.gz"} {
		b := gunzip(t, name)
		for n := range b {
			if f, err := Parse(b[:n], "gfx90a"); err == nil && f.Kernel("vadd") == nil {
				t.Fatalf("%s cut to %d bytes: no error and no kernel", name, n)
			}
		}
	}
}

// TestFlip changes every byte of a file in two ways: an error or a
// well-formed object, never a panic that Parse does not turn into an error.
func TestFlip(t *testing.T) {
	b := gunzip(t, "testdata/v5.hsaco.gz")
	errs := 0
	for i := range b {
		for _, v := range []byte{^b[i], b[i] ^ 1<<(i%8)} {
			old := b[i]
			b[i] = v
			if exercise(b) != nil {
				errs++
			}
			b[i] = old
		}
	}
	if errs < 200 {
		t.Errorf("only %d of %d changed bytes were errors", errs, 2*len(b))
	}
}

// exercise parses b and uses all that a caller would use.
func exercise(b []byte) error {
	f, err := Parse(b, "")
	if err != nil {
		return err
	}
	f.Relocate(0x7000_0000_0000)
	for _, k := range f.Kernels {
		f.Line(k.Entry)
		f.Symbol(k.Entry)
	}
	return nil
}

func TestMsgpack(t *testing.T) {
	check := func(in string, want any) {
		t.Helper()
		got, err := decodeMsgpack([]byte(in))
		if err != nil {
			t.Errorf("% x: %v", in, err)
		} else if s, ok := got.([]any); ok {
			if len(s) != want.(int) {
				t.Errorf("% x: got %d elements, want %d", in, len(s), want)
			}
		} else if m, ok := got.(map[string]any); ok {
			if len(m) != want.(int) {
				t.Errorf("% x: got %d entries, want %d", in, len(m), want)
			}
		} else if b, ok := got.([]byte); ok {
			if string(b) != want.(string) {
				t.Errorf("% x: got %q, want %q", in, b, want)
			}
		} else if got != want {
			t.Errorf("% x: got %v (%T), want %v (%T)", in, got, got, want, want)
		}
	}
	check("\x07", uint64(7))
	check("\xff", int64(-1))
	check("\xc0", nil)
	check("\xc2", false)
	check("\xc3", true)
	check("\xcc\xff", uint64(255))
	check("\xcd\x01\x00", uint64(256))
	check("\xce\x00\x01\x00\x00", uint64(1<<16))
	check("\xcf\x00\x00\x00\x01\x00\x00\x00\x00", uint64(1<<32))
	check("\xd0\x80", int64(-128))
	check("\xd0\x7f", uint64(127))
	check("\xd1\xff\x00", int64(-256))
	check("\xd2\xff\xff\xff\xfe", int64(-2))
	check("\xd3\xff\xff\xff\xff\xff\xff\xff\xfd", int64(-3))
	check("\xca\x3f\x80\x00\x00", 1.0)
	check("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5)
	check("\xa3abc", "abc")
	check("\xd9\x03abc", "abc")
	check("\xda\x00\x03abc", "abc")
	check("\xdb\x00\x00\x00\x03abc", "abc")
	check("\xc4\x02ab", "ab")
	check("\x92\x01\x02", 2)
	check("\xdc\x00\x02\x01\x02", 2)
	check("\xdd\x00\x00\x00\x01\x01", 1)
	check("\x81\xa1a\x01", 1)
	check("\xde\x00\x01\xa1a\x01", 1)
	check("\xdf\x00\x00\x00\x01\xa1a\x01", 1)

	for _, in := range []string{"", "\x91", "\xa5abc", "\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff", "\xcd\x01",
		"\x81\x01\x01", "\xc1", "\xd4\x00\x00", strings.Repeat("\x91", 64) + "\x01"} {
		if v, err := decodeMsgpack([]byte(in)); err == nil {
			t.Errorf("% x: got %v, want an error", in, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/v4.hsaco.gz", "testdata/v5.hsaco.gz", "testdata/v6.hsaco.gz", "testdata/two.hipfb.gz"} {
		b := gunzip(f, name)
		f.Add(b)
		f.Add(compressed(b, 2, 0, uint64(len(b))))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		exercise(b)
	})
}

func FuzzMsgpack(f *testing.F) {
	f.Add([]byte("\x81\xa1a\x92\x01\xc3"))
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeMsgpack(b)
	})
}
