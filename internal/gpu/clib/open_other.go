//go:build !linux

package clib

import (
	"errors"
	"runtime"
)

var errSystem = errors.New("drivers are bound on linux only, this is " + runtime.GOOS)

func dlopen(string) (uintptr, error) { return 0, errSystem }

func dlsym(uintptr, string) (uintptr, error) { return 0, errSystem }
