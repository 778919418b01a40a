package gputest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Missing skips t because what it needs is not on this machine, and fails
// it where PARITYCHECK_REQUIRE, a comma-separated list, names that: a
// machine that is meant to have it must not pass by skipping.
func Missing(t testing.TB, what string, reason any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("PARITYCHECK_REQUIRE"), ","), what) {
		t.Fatalf("PARITYCHECK_REQUIRE has %s: %v", what, reason)
	}
	t.Skipf("no %s: %v", what, reason)
}
