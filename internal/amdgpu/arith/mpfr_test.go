package arith

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An mpfr is libmpfr with two numbers of 200 bits.
type mpfr struct {
	x, y *mpfrNumber
	setD func(x *mpfrNumber, d float64, rnd int32) int32
	getD func(x *mpfrNumber, rnd int32) float64
	cmpD func(x *mpfrNumber, d float64) int32
	call map[string]uintptr
}

// An mpfrNumber is an mpfr_t of a 64-bit system.
type mpfrNumber struct {
	prec  int64
	sign  int32
	_     int32
	exp   int64
	limbs uintptr
}

// Rounding modes of mpfr.h.
const (
	mpfrNearest = 0
	mpfrZero    = 1
)

// openMPFR loads libmpfr 4.2, the first with sinu, or skips the test.
func openMPFR(t testing.TB) *mpfr {
	t.Helper()
	unable := func(format string, args ...any) {
		t.Helper()
		if slices.Contains(strings.Split(os.Getenv("PARITYCHECK_REQUIRE"), ","), "mpfr") {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	lib, err := purego.Dlopen("libmpfr.so.6", purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		unable("loading libmpfr: %v", err)
	}
	m := &mpfr{x: new(mpfrNumber), y: new(mpfrNumber), call: map[string]uintptr{}}
	for _, name := range []string{"init2", "set_d", "get_d", "cmp_d", "exp2", "log2", "rec_sqrt", "sinu", "cosu", "ui_div", "sqrt"} {
		p, err := purego.Dlsym(lib, "mpfr_"+name)
		if err != nil {
			unable("libmpfr has no mpfr_%s: %v", name, err)
		}
		m.call[name] = p
	}
	purego.RegisterFunc(&m.setD, m.call["set_d"])
	purego.RegisterFunc(&m.getD, m.call["get_d"])
	purego.RegisterFunc(&m.cmpD, m.call["cmp_d"])
	for _, n := range []*mpfrNumber{m.x, m.y} {
		purego.SyscallN(m.call["init2"], uintptr(unsafe.Pointer(n)), 200)
	}
	return m
}

// odd returns the function of x, rounded to odd at 53 bits, from which any
// narrower format follows by one more rounding.
func (m *mpfr) odd(name string, x float64) float64 {
	m.setD(m.x, x, mpfrNearest)
	xp, yp := uintptr(unsafe.Pointer(m.x)), uintptr(unsafe.Pointer(m.y))
	switch name {
	case "sinu", "cosu":
		purego.SyscallN(m.call[name], yp, xp, 1, mpfrNearest)
	case "ui_div":
		purego.SyscallN(m.call[name], yp, 1, xp, mpfrNearest)
	default:
		purego.SyscallN(m.call[name], yp, xp, mpfrNearest)
	}
	d := m.getD(m.y, mpfrZero)
	if m.cmpD(m.y, d) != 0 {
		d = math.Float64frombits(math.Float64bits(d) | 1)
	}
	return d
}
