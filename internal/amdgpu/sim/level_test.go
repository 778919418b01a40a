package sim

import "testing"

// eachLevel runs a test with each level of vector instructions that the
// machine has.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	have := vectors
	defer setVectors(have)
	for l := levelGo; l <= have; l++ {
		t.Run(l.String(), func(t *testing.T) {
			setVectors(l)
			f(t)
		})
	}
}
