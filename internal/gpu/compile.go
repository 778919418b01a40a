package gpu

import (
	"fmt"
	"strings"
)

// A Source is device code to compile.
type Source struct {
	File    string            // name for messages: "kernels/hip/rope.hip"
	Text    string            // the code itself
	Headers map[string]string // content by the name that #include gives; they come before any on disk
}

// A CompileError is source code that the compiler refused.
type CompileError struct {
	File string
	Log  string // what the compiler said, with the name of the user's file
	Hint string // what to do about it, where that is known; may be empty
}

func (e *CompileError) Error() string {
	s := fmt.Sprintf("compiling %s", e.File)
	if log := strings.TrimSpace(e.Log); log != "" {
		s += ":\n" + log
	}
	if e.Hint != "" {
		s += "\nhint: " + e.Hint
	}
	return s
}

// A Library is what was found of a C library that a backend needs, for a
// diagnosis of the machine.
type Library struct {
	Name    string   // "NVIDIA driver", "NVRTC"
	Path    string   // what was loaded; empty where nothing was
	Version string   // in the library's own words
	Tried   []string // each library that did not load, with the reason
	Notes   []string // anything more that matters, a sentence each
	Err     error    // why it cannot be used; nil where it can
}
