package clib

import (
	"regexp"
	"slices"
	"strings"
)

// LastWords is the end of what a child that died wrote to standard error,
// on one line. A Go program killed by a signal in C prints its own stack
// behind that: of it only the signal is wanted.
func LastWords(s string) string {
	var signal string
	if m := goSignal.FindStringIndex(s); m != nil {
		signal, s = strings.TrimSpace(s[m[0]:m[1]]), s[:m[0]]
	}
	lines := slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	lines = lines[max(0, len(lines)-3):]
	if signal != "" {
		lines = append(lines, signal)
	}
	return strings.Join(lines, "; ")
}

// goSignal is how the Go runtime reports a signal it cannot handle.
var goSignal = regexp.MustCompile(`(?m)^(SIG[A-Z]+: .*|fatal error: .*)$`)
