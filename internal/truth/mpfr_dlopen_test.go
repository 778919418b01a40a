//go:build linux || darwin

package truth

import (
	"runtime"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

var loadMPFR = sync.OnceValues(func() (*libmpfr, error) {
	names := []string{"libmpfr.so.6", "libmpfr.so"}
	if runtime.GOOS == "darwin" {
		names = []string{"libmpfr.6.dylib", "/opt/homebrew/lib/libmpfr.6.dylib"}
	}
	var lib uintptr
	var err error
	for _, n := range names {
		if lib, err = purego.Dlopen(n, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	m := &libmpfr{
		unary:  map[string]func(r, x *mpfrT, rnd int32) int32{},
		binary: map[string]func(r, x, y *mpfrT, rnd int32) int32{},
	}
	reg := func(p any, name string) { purego.RegisterLibFunc(p, lib, "mpfr_"+name) }
	reg(&m.init2, "init2")
	reg(&m.clear, "clear")
	reg(&m.setD, "set_d")
	reg(&m.getD, "get_d")
	reg(&m.lgamma, "lgamma")
	reg(&m.constPi, "const_pi")
	reg(&m.constEuler, "const_euler")
	reg(&m.zetaUI, "zeta_ui")
	reg(&m.mul2si, "mul_2si")
	reg(&m.setStr, "set_str")
	reg(&m.version, "get_version")
	for _, n := range strings.Fields("exp exp2 expm1 log log1p log2 log10 sin cos tan sinh cosh tanh erf erfc sqrt rec_sqrt cbrt neg abs") {
		var f func(r, x *mpfrT, rnd int32) int32
		reg(&f, n)
		m.unary[n] = f
	}
	for _, n := range strings.Fields("add sub mul div pow") {
		var f func(r, x, y *mpfrT, rnd int32) int32
		reg(&f, n)
		m.binary[n] = f
	}
	m.versionS = m.version()
	return m, nil
})
