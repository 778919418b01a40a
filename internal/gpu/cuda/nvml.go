package cuda

import (
	"os"

	"github.com/paritycheck/paritycheck/internal/gpu"
	"github.com/paritycheck/paritycheck/internal/gpu/clib"
)

// nvml is the functions of NVIDIA's management library that this package
// calls, which tells the clock of a GPU and what limits it. A machine
// without it is timed all the same.
type nvml struct {
	nvmlInit                              func() int32
	nvmlDeviceGetHandleByPciBusId         func(id string, device *uintptr) int32
	nvmlDeviceGetClockInfo                func(device uintptr, kind int32, mhz *uint32) int32
	nvmlDeviceGetCurrentClocksEventReason func(device uintptr, reasons *uint64) int32
}

// nvmlEnv names a libnvidia-ml to use in place of the system's.
const nvmlEnv = "PARITYCHECK_LIBNVIDIA_ML"

const _NVML_CLOCK_SM = 1

// throttles are the reasons of nvml.h for a lower clock that make times
// longer than the GPU could have them; idling and settings of the owner
// are none.
var throttles = []struct {
	bit  uint64
	text string
}{
	{0x04, "power cap"},
	{0x08, "hardware slowdown"},
	{0x20, "thermal slowdown"},
	{0x40, "hardware thermal slowdown"},
	{0x80, "hardware power brake"},
}

// State implements driver.Vendor.
func (v *vendor) State() gpu.State {
	if v.state == nil {
		v.state = openNVML(v)
	}
	return v.state()
}

// openNVML returns what asks for the state of v; of a machine without
// NVML, nothing is known.
func openNVML(v *vendor) func() gpu.State {
	none := func() gpu.State { return gpu.State{} }
	id := make([]byte, 32)
	if v.api.cuDeviceGetPCIBusId == nil || v.api.cuDeviceGetPCIBusId(&id[0], int32(len(id)), v.handle) != _CUDA_SUCCESS {
		return none
	}
	name := os.Getenv(nvmlEnv)
	if name == "" {
		name = "libnvidia-ml.so.1"
	}
	lib, err := clib.Open(name)
	if err != nil {
		return none
	}
	m := &nvml{}
	reasons := "nvmlDeviceGetCurrentClocksEventReasons"
	if !lib.Has(reasons) {
		reasons = "nvmlDeviceGetCurrentClocksThrottleReasons" // the name before driver 535
	}
	err = lib.Bind([]clib.Func{
		{Ptr: &m.nvmlInit, Symbol: "nvmlInit_v2"},
		{Ptr: &m.nvmlDeviceGetHandleByPciBusId, Symbol: "nvmlDeviceGetHandleByPciBusId_v2"},
		{Ptr: &m.nvmlDeviceGetClockInfo, Symbol: "nvmlDeviceGetClockInfo"},
		{Ptr: &m.nvmlDeviceGetCurrentClocksEventReason, Symbol: reasons},
	})
	var device uintptr
	if err != nil || m.nvmlInit() != 0 || m.nvmlDeviceGetHandleByPciBusId(clib.String(id), &device) != 0 {
		return none
	}
	return func() gpu.State {
		var s gpu.State
		var mhz uint32
		if m.nvmlDeviceGetClockInfo(device, _NVML_CLOCK_SM, &mhz) == 0 {
			s.Clock = int(mhz)
		}
		var bits uint64
		if m.nvmlDeviceGetCurrentClocksEventReason(device, &bits) == 0 {
			for _, t := range throttles {
				if bits&t.bit != 0 {
					s.Throttled = append(s.Throttled, t.text)
				}
			}
		}
		return s
	}
}
