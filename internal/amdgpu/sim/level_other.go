//go:build !amd64

package sim

const vectors = levelGo
