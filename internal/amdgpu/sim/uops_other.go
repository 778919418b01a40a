//go:build !amd64

package sim

const hasUops = false

func formCode(int) uintptr { return 0 }
func runUops(*uop, *wave)  { panic("sim: no uops") }
