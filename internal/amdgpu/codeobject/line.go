package codeobject

import (
	"debug/dwarf"
	"fmt"
	"sort"
	"strings"
)

// A lineTable is what debug information says of where code comes from.
type lineTable struct {
	rows  []lineEntry  // by address
	calls []inlineCall // a caller before what it calls
}

// A position is a line of a file.
type position struct {
	file string // without folders
	line int
	own  bool // the file is the one that was compiled, not one it includes
}

func (p position) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// A lineEntry says where the instructions from addr on come from.
type lineEntry struct {
	addr uint64
	position
	end bool
}

// An inlineCall is a call that was inlined to the code from lo to hi.
type inlineCall struct {
	lo, hi uint64
	position
}

// Line returns the source position of the instruction at addr as
// "file:line", or "" where the object has no line table for it. Where code
// of an included file was inlined, it is the position in the compiled file
// itself of the call, and inner is that of the included code.
func (f *File) Line(addr uint64) (line, inner string) {
	if !f.lined {
		f.lined = true
		f.readLines()
	}
	rows := f.lines.rows
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr })
	if i == 0 || rows[i-1].end {
		return "", ""
	}
	at := rows[i-1].position
	line = at.String()
	if at.own {
		return line, ""
	}
	for k := len(f.lines.calls) - 1; k >= 0; k-- {
		if c := &f.lines.calls[k]; c.own && c.lo <= addr && addr < c.hi {
			return c.String(), line
		}
	}
	return line, ""
}

func (f *File) readLines() {
	// Debug information is an extra: where it is damaged there is none.
	defer func() {
		if recover() != nil {
			f.lines = lineTable{}
		}
	}()
	d, err := f.elf.DWARF()
	if err != nil {
		return
	}
	r := d.Reader()
	var place func(file *dwarf.LineFile, line int) position
	var files []*dwarf.LineFile
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			lr, err := d.LineReader(e)
			if err != nil || lr == nil {
				r.SkipChildren()
				continue
			}
			name, _ := e.Val(dwarf.AttrName).(string)
			name = base(name)
			place = func(file *dwarf.LineFile, line int) position {
				p := position{line: line}
				if file != nil {
					p.file = base(file.Name)
					p.own = p.file == name
				}
				return p
			}
			files = lr.Files()
			f.lines.add(lr, place)
		case dwarf.TagInlinedSubroutine:
			file, ok1 := e.Val(dwarf.AttrCallFile).(int64)
			line, ok2 := e.Val(dwarf.AttrCallLine).(int64)
			ranges, err := d.Ranges(e)
			if !ok1 || !ok2 || err != nil || file < 0 || file >= int64(len(files)) {
				continue
			}
			for _, x := range ranges {
				f.lines.calls = append(f.lines.calls, inlineCall{x[0], x[1], place(files[file], int(line))})
			}
		}
	}
	rows := f.lines.rows
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		if a.addr != b.addr {
			return a.addr < b.addr
		}
		return a.end && !b.end
	})
}

// add adds the rows of one compile unit.
func (t *lineTable) add(lr *dwarf.LineReader, place func(*dwarf.LineFile, int) position) {
	var e dwarf.LineEntry
	for lr.Next(&e) == nil {
		if e.Line == 0 && !e.EndSequence {
			continue // the compiler's own code: belongs to the line before
		}
		t.rows = append(t.rows, lineEntry{e.Address, place(e.File, e.Line), e.EndSequence})
	}
}

func base(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}
