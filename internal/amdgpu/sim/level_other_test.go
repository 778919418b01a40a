//go:build !amd64

package sim

func setVectors(level) {}
