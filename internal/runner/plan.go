// Package runner runs cases on targets and judges what comes out. It
// collects (needs a device, yields outputs) in collect.go and judges
// (pure) in judge.go; plan.go selects the cases and run.go does the whole.
package runner

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/paritycheck/paritycheck/internal/ops"
)

// A Selection says which cases are wanted. Empty lists select everything.
// Names may be globs as in path.Match, in which * does not cross a slash
// except in Cases, where a pattern without a slash matches any part of
// the name.
type Selection struct {
	Ops, Families, DTypes, Cases []string
	Level                        ops.Level
}

// A SelectionError is a selection that matches nothing.
type SelectionError struct {
	What  string // "op", "family", "dtype", "case"
	Given string
	Near  []string // names that exist
}

func (e *SelectionError) Error() string {
	s := fmt.Sprintf("no %s matches %q", e.What, e.Given)
	if len(e.Near) > 0 {
		s += "; there is " + strings.Join(e.Near, ", ")
	}
	return s
}

// Select lists the cases of all that sel asks for, in table order.
func Select(all []*ops.Op, sel Selection) ([]ops.Case, error) {
	var opNames, families, dtypes []string
	for _, o := range all {
		opNames = append(opNames, o.Name)
		families = append(families, o.Family)
		for _, v := range o.Variants {
			dtypes = append(dtypes, v.String())
		}
	}
	for _, list := range []struct {
		what       string
		given, has []string
	}{
		{"op", sel.Ops, opNames},
		{"family", sel.Families, families},
		{"dtype", sel.DTypes, dtypes},
	} {
		for _, g := range list.given {
			if err := checkGlob(list.what, g); err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(list.has, func(name string) bool { return match(g, name) }) {
				return nil, &SelectionError{list.what, g, Near(g, list.has)}
			}
		}
	}
	var cases []ops.Case
	var seen []string
	hit := make([]bool, len(sel.Cases))
	for _, g := range sel.Cases {
		if err := checkGlob("case", g); err != nil {
			return nil, err
		}
	}
	for _, o := range all {
		if !wanted(sel.Ops, o.Name) || !wanted(sel.Families, o.Family) {
			continue
		}
		for _, v := range o.Variants {
			if !wanted(sel.DTypes, v.String()) {
				continue
			}
			for _, c := range o.Cases(v, sel.Level) {
				if len(sel.Cases) > 0 {
					name := c.Name()
					ok := false
					for i, g := range sel.Cases {
						if matchCase(g, name) {
							hit[i], ok = true, true
						}
					}
					if !ok {
						if len(seen) < 2000 {
							seen = append(seen, name)
						}
						continue
					}
				}
				cases = append(cases, c)
			}
		}
	}
	for i, g := range sel.Cases {
		if !hit[i] {
			return nil, &SelectionError{"case", g, Near(g, seen)}
		}
	}
	if len(cases) == 0 {
		return nil, &SelectionError{What: "case", Given: fmt.Sprintf("--op %s --dtype %s", strings.Join(sel.Ops, ","), strings.Join(sel.DTypes, ","))}
	}
	return cases, nil
}

// Check reports malformed patterns.
func (s *Selection) Check() error {
	for _, list := range []struct {
		what  string
		globs []string
	}{{"op", s.Ops}, {"family", s.Families}, {"dtype", s.DTypes}, {"case", s.Cases}} {
		for _, g := range list.globs {
			if err := checkGlob(list.what, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// Match reports whether the selection, whose patterns are well formed,
// takes a case by its names.
func (s *Selection) Match(op, family, dtype, name string) bool {
	return wanted(s.Ops, op) && wanted(s.Families, family) && wanted(s.DTypes, dtype) &&
		(len(s.Cases) == 0 || slices.ContainsFunc(s.Cases, func(g string) bool { return matchCase(g, name) }))
}

func checkGlob(what, g string) error {
	if _, err := path.Match(g, ""); err != nil {
		return fmt.Errorf("%s pattern %q is malformed: a [ must be closed and a \\ must be followed by a character", what, g)
	}
	return nil
}

func wanted(globs []string, name string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool { return match(g, name) })
}

func match(glob, name string) bool {
	ok, _ := path.Match(glob, name)
	return ok
}

// matchCase matches a full case name, or, for a pattern without slashes,
// one part of it; a * in a pattern with slashes crosses none.
func matchCase(glob, name string) bool {
	if match(glob, name) {
		return true
	}
	if strings.Contains(glob, "/") {
		return false
	}
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return match(glob, part) })
}

// Near returns up to five names closest to given: the closest, and others
// within half of given's length.
func Near(given string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	var all []scored
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			all = append(all, scored{n, distance(given, n)})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.d - b.d })
	var out []string
	for i, s := range all[:min(5, len(all))] {
		if i == 0 || s.d <= (len(given)+1)/2 {
			out = append(out, s.name)
		}
	}
	return out
}

// distance is the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			sub := diag
			if a[i] != b[j] {
				sub++
			}
			diag = row[j+1]
			row[j+1] = min(sub, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}
