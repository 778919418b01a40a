package arith

import "testing"

func TestModeOf(t *testing.T) {
	check := func(rsrc1 uint32, want Mode) {
		t.Helper()
		if got := ModeOf(rsrc1); got != want {
			t.Errorf("ModeOf(%#x) = %#x, want %#x", rsrc1, got, want)
		}
	}
	check(0, 0)
	check(1<<23|1<<21|3<<18|3<<16, DefaultMode)
	check(2<<12, Mode(RoundDown))
	check(3<<14, Mode(RoundTrunc)<<2)
	check(1<<16, DenormIn32)
	check(2<<18, DenormOut1664)
	check(1<<26, FP16Overflow)
	check(0xffffffff, ModeMask)
}

func TestModeDefault(t *testing.T) {
	if !DefaultMode.Default32() || !DefaultMode.Default1664() {
		t.Error("the default mode is not the default")
	}
	for _, bit := range []Mode{1, 2, DenormIn32, DenormOut32, IEEE} {
		if (DefaultMode ^ bit).Default32() {
			t.Errorf("Default32 with bit %#x changed, want false", bit)
		}
	}
	for _, bit := range []Mode{4, 8, DenormIn1664, DenormOut1664, IEEE, FP16Overflow} {
		if (DefaultMode ^ bit).Default1664() {
			t.Errorf("Default1664 with bit %#x changed, want false", bit)
		}
	}
	if m := DefaultMode ^ DX10Clamp; !m.Default32() || !m.Default1664() {
		t.Error("DX10_CLAMP decides Default32 or Default1664")
	}
}

// TestModeFlush checks that each of the four denorm fields reaches its own
// operands and no others.
func TestModeFlush(t *testing.T) {
	for m := Mode(0); m < 16; m++ {
		m := m << 4
		keep := func(bit Mode, tiny, zero uint64) uint64 {
			if m&bit != 0 {
				return tiny
			}
			return zero
		}
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"In32", uint64(m.In32(0x80000001)), keep(DenormIn32, 0x80000001, 0x80000000)},
			{"Out32", uint64(m.Out32(0x007fffff)), keep(DenormOut32, 0x007fffff, 0)},
			{"In16", uint64(m.In16(0x83ff)), keep(DenormIn1664, 0x83ff, 0x8000)},
			{"Out16", uint64(m.Out16(1)), keep(DenormOut1664, 1, 0)},
			{"In64", m.In64(1), keep(DenormIn1664, 1, 0)},
			{"Out64", m.Out64(sign64 | 1), keep(DenormOut1664, sign64|1, sign64)},
			{"Out32 normal", uint64(m.Out32(0x00800000)), 0x00800000},
		} {
			if c.got != c.want {
				t.Errorf("mode %#x: %s = %#x, want %#x", m, c.name, c.got, c.want)
			}
		}
	}
}
