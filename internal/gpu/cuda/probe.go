package cuda

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// Probe says what this machine has of CUDA, for a diagnosis.
func Probe() (libs []gpu.Library, devices []gpu.Info) {
	driver, devices := probeDriver(driverNames()...)
	return []gpu.Library{driver, probeNVRTC(nvrtcNames()...)}, devices
}

func probeDriver(names ...string) (gpu.Library, []gpu.Info) {
	l := gpu.Library{Name: "NVIDIA driver"}
	a, n, err := start(names...)
	l.Err = err
	if open, ok := errors.AsType[*clib.OpenError](err); ok {
		l.Tried = open.Tried
	}
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
		l.Err = fmt.Errorf("%w: the driver has no device", gpu.ErrUnavailable)
	}
	var devices []gpu.Info
	for i := range n {
		v := &vendor{api: a, ordinal: int32(i), compiler: "the driver's own"}
		if err := v.describe(); err != nil {
			l.Notes = append(l.Notes, fmt.Sprintf("device %d: %v", i, err))
			continue
		}
		devices = append(devices, v.info)
	}
	return l, devices
}

func probeNVRTC(names ...string) gpu.Library {
	l := gpu.Library{Name: "NVRTC"}
	c, err := openNVRTC(names...)
	if err != nil {
		l.Err = err
		if open, ok := errors.AsType[*clib.OpenError](err); ok {
			l.Tried = open.Tried
		}
		return l
	}
	l.Path, l.Version, l.Tried = c.lib.Path, c.version, c.lib.Tried
	l.Notes = append(l.Notes, "compiles for "+strings.Join(c.Archs(), " "))
	if len(c.includes) > 0 {
		l.Notes = append(l.Notes, "headers in "+c.includes[0])
	} else {
		l.Notes = append(l.Notes, "no folder with cuda_fp16.h was found: sources that include CUDA's headers do not compile; set CUDA_HOME")
	}
	return l
}
