//go:build !(linux || darwin)

package truth

import (
	"errors"
	"runtime"
)

func loadMPFR() (*libmpfr, error) {
	return nil, errors.New("the tests do not load it on " + runtime.GOOS)
}
