package rocm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// Probe says what this machine has of ROCm, for a diagnosis. It loads
// hiprtc, but does not compile.
func Probe() (libs []gpu.Library, devices []gpu.Info) {
	driver, devices := probeDriver(driverNames()...)
	return []gpu.Library{driver, probeHiprtc(hiprtcNames()...), probeComgr(comgrNames()...)}, devices
}

func probeDriver(names ...string) (gpu.Library, []gpu.Info) {
	l := gpu.Library{Name: "HIP runtime"}
	a, n, err := start(names...)
	fail(&l, err)
	if a != nil {
		l.Path, l.Tried = a.lib.Path, a.lib.Tried
		if v, err := a.version(); err == nil {
			l.Version = v
		}
	}
	if err != nil {
		return l, nil
	}
	if n == 0 {
		l.Err = fmt.Errorf("%w: the runtime has no device", gpu.ErrUnavailable)
	}
	var devices []gpu.Info
	for i := range n {
		v := &vendor{api: a, ordinal: int32(i)}
		if err := v.describe(); err != nil {
			l.Notes = append(l.Notes, fmt.Sprintf("device %d: %v", i, err))
			continue
		}
		devices = append(devices, v.info)
	}
	return l, devices
}

func probeHiprtc(names ...string) gpu.Library {
	l := gpu.Library{Name: "hiprtc"}
	a, err := loadHiprtc(names...)
	fail(&l, err)
	if err != nil {
		return l
	}
	l.Path, l.Tried = a.lib.Path, a.lib.Tried
	l.Version, l.Err = a.version()
	return l
}

func probeComgr(names ...string) gpu.Library {
	l := gpu.Library{Name: "comgr"}
	lib, archs, err := isas(names...)
	fail(&l, err)
	if err != nil {
		return l
	}
	l.Path, l.Tried = lib.Path, lib.Tried
	l.Notes = append(l.Notes, "compiles for "+strings.Join(archs, " "))
	return l
}

// fail notes why a library cannot be used.
func fail(l *gpu.Library, err error) {
	l.Err = err
	if open, ok := errors.AsType[*clib.OpenError](err); ok {
		l.Tried = open.Tried
	}
}
