//go:build !amd64

package sim

func runUops(*uop, *wave) { panic("sim: no uops") }
