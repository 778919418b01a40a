// Package recordings holds outputs that kernels gave on hardware which
// most machines do not have, so that a run elsewhere can be held against
// them. docs/recordings.md says how they were made.
package recordings

import (
	"embed"
	"slices"
	"strings"
)

//go:embed README.md *.gz
var files embed.FS

const ending = ".safetensors.gz"

// Names lists the recordings: "h200".
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("recordings: " + err.Error()) // embedded
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ending); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Get returns the recording called name.
func Get(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + ending)
	return data, err == nil
}
