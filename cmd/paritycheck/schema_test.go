package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/baseline"
	"github.com/paritycheck/paritycheck/internal/compare"
	"github.com/paritycheck/paritycheck/internal/report"
	"github.com/paritycheck/paritycheck/internal/runner"
)

// TestSchemaDocument compares docs/schema.md with the types that are
// written as JSON, field by field.
func TestSchemaDocument(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema.md"))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string][]string{}
	for _, v := range []any{runner.Run{}, listedOp{}, listedCase{}, listedKernel{}, listedISA{}, listedSize{}, dumpedLaunch{}, explanation{}, machine{}, report.Changes{}, baseline.Baseline{}} {
		walk(types, reflect.TypeOf(v))
	}
	for _, d := range schemaDiffs(types, sections(string(b))) {
		t.Error(d)
	}
	if len(types) < 25 {
		t.Errorf("walked %d types", len(types))
	}
}

func schemaDiffs(types, doc map[string][]string) []string {
	var diffs []string
	for name, fields := range types {
		if doc[name] == nil {
			diffs = append(diffs, fmt.Sprintf("docs/schema.md has no section ### %s", name))
			continue
		}
		for _, f := range fields {
			if !slices.Contains(doc[name], f) {
				diffs = append(diffs, fmt.Sprintf("docs/schema.md, %s: lacks %s", name, f))
			}
		}
		for _, f := range doc[name] {
			if !slices.Contains(fields, f) {
				diffs = append(diffs, fmt.Sprintf("docs/schema.md, %s: %s is not written", name, f))
			}
		}
	}
	for name := range doc {
		if types[name] == nil {
			diffs = append(diffs, fmt.Sprintf("docs/schema.md: nothing is written as %s", name))
		}
	}
	return diffs
}

// walk notes the fields of struct type rt, and of those it leads to, as
// the document writes them: "`name` | type".
func walk(types map[string][]string, rt reflect.Type) {
	name := section(rt)
	if types[name] != nil {
		return
	}
	types[name] = []string{}
	var fields func(rt reflect.Type)
	fields = func(rt reflect.Type) {
		for i := range rt.NumField() {
			f := rt.Field(i)
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if tag == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if f.Anonymous && tag == "" {
				fields(f.Type)
				continue
			}
			if tag == "" {
				tag = f.Name
			}
			mark := ""
			if strings.Contains(options, "omitempty") {
				mark = "?"
			}
			types[name] = append(types[name], fmt.Sprintf("`%s` | %s%s", tag, typeName(types, f.Type), mark))
		}
	}
	fields(rt)
}

func section(rt reflect.Type) string {
	return strings.ToUpper(rt.Name()[:1]) + rt.Name()[1:]
}

func typeName(types map[string][]string, rt reflect.Type) string {
	if rt == reflect.TypeFor[compare.Num]() {
		return "number*"
	}
	switch rt.Kind() {
	case reflect.Pointer:
		return typeName(types, rt.Elem())
	case reflect.Slice, reflect.Array:
		return "array of " + typeName(types, rt.Elem())
	case reflect.Map:
		return "object of " + typeName(types, rt.Elem())
	case reflect.Struct:
		walk(types, rt)
		return section(rt)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "integer"
}

var (
	heading = regexp.MustCompile(`^### (\w+)$`)
	line    = regexp.MustCompile("^\\| (`\\w+` \\| [^|]+) \\|")
)

// sections reads the tables of the document.
func sections(text string) map[string][]string {
	doc := map[string][]string{}
	name := ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if m := heading.FindStringSubmatch(l); m != nil {
			name = m[1]
			doc[name] = []string{}
		} else if m := line.FindStringSubmatch(l); m != nil {
			doc[name] = append(doc[name], strings.TrimSpace(m[1]))
		}
	}
	return doc
}

func TestSchemaDiffs(t *testing.T) {
	types := map[string][]string{"A": {"`x` | string", "`y` | number*?"}}
	check := func(want int, doc string) {
		t.Helper()
		if got := schemaDiffs(types, sections(doc)); len(got) != want {
			t.Errorf("%q: got %q, want %d differences", doc, got, want)
		}
	}
	check(0, "### A\n| `x` | string | words |\n| `y` | number*? | |\n")
	check(1, "### A\n| `x` | string | |\n")
	check(2, "### A\n| `x` | integer | |\n| `y` | number*? | |\n")
	check(1, "### A\n| `x` | string | |\n| `y` | number*? | |\n| `z` | string | |\n")
	check(2, "### B\n| `x` | string | |\n")
}
