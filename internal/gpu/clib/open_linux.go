package clib

import "github.com/ebitengine/purego"

func dlopen(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func dlsym(lib uintptr, symbol string) (uintptr, error) { return purego.Dlsym(lib, symbol) }
