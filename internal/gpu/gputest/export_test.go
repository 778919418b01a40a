package gputest

import "testing"

// Check runs one check of the suite by name.
func Check(t testing.TB, h Harness, name string) {
	for _, c := range checks {
		if c.name == name {
			c.run(open(t, h))
			return
		}
	}
	panic("gputest: no check " + name)
}
