package kernels

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Param is one parameter of a kernel, as its source declares it.
type Param struct {
	// CType is the type in the names of dtypes, without what does not
	// change the ABI: "const f32*", "f16*", "u32", "u64" for size_t.
	CType string
	Name  string
}

// Signatures returns the parameters of every extern "C" kernel of a
// dialect, by symbol.
//
// They are read from the sources, because nothing that a compiler writes
// will do: code objects hold names and sizes but no types, PTX holds sizes
// alone, and only a name tells two swapped parameters of one type apart.
// The symbols are made by macros, so the sources are preprocessed here;
// tests hold the result against the names in the code objects and the
// sizes in the PTX.
func Signatures(dialect string) (map[string][]Param, error) {
	all := map[string][]Param{}
	for _, f := range Families() {
		src, headers, err := Source(dialect, f)
		if err != nil {
			return nil, err
		}
		sigs, err := ParseSignatures(src, headers)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", dialect, f, err)
		}
		for symbol, params := range sigs {
			if _, ok := all[symbol]; ok {
				return nil, fmt.Errorf("%s/%s: kernel %s is in another family too", dialect, f, symbol)
			}
			all[symbol] = params
		}
	}
	return all, nil
}

// ParseSignatures returns the parameters of the extern "C" kernels of one
// source, which may be a user's own. Of what the source includes only
// headers are seen; of conditional sections every branch is.
func ParseSignatures(src string, headers map[string]string) (map[string][]Param, error) {
	p := &preprocessor{macros: map[string]*macro{}, headers: headers, seen: map[string]bool{}}
	if err := p.file(src); err != nil {
		return nil, err
	}
	sigs := map[string][]Param{}
	toks := p.out
	for i := 0; i+1 < len(toks); i++ {
		if toks[i] != "extern" || toks[i+1] != `"C"` {
			continue
		}
		name, list, ok := declaration(toks[i+2:])
		if !ok {
			continue
		}
		params, err := parameters(list)
		if err != nil {
			return nil, fmt.Errorf("reading kernel %s: %w", name, err)
		}
		if was, ok := sigs[name]; ok && !slices.Equal(was, params) {
			return nil, fmt.Errorf("kernel %s is declared twice, as %v and %v", name, was, params)
		}
		sigs[name] = params
	}
	return sigs, nil
}

// declaration reads "__global__ void name(list)" and reports whether toks
// begin with one.
func declaration(toks []string) (name string, list []string, ok bool) {
	kernel := false
	for i := 0; i < len(toks); i++ {
		switch t := toks[i]; {
		case t == "__global__":
			kernel = true
		case t == ";" || t == "{" || t == "}" || t == "=":
			return "", nil, false
		case t == "(":
			end := closing(toks, i)
			if end < 0 || i == 0 {
				return "", nil, false
			}
			// Attributes have parentheses of their own.
			if a := toks[i-1]; a == "__launch_bounds__" || a == "__attribute__" {
				i = end
				continue
			}
			return toks[i-1], toks[i+1 : end], kernel
		}
	}
	return "", nil, false
}

// closing returns the index of the parenthesis that closes the one at
// open, or -1.
func closing(toks []string, open int) int {
	depth := 0
	for i := open; i < len(toks); i++ {
		switch toks[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// dtypeOf gives the dtype of C's and candle's names of types.
var dtypeOf = map[string]string{
	"double": "f64", "float": "f32",
	"__half": "f16", "half": "f16", "_Float16": "f16",
	"__nv_bfloat16": "bf16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16",
	"__nv_fp8_e4m3": "f8_e4m3", "__hip_fp8_e4m3": "f8_e4m3",
	"unsigned char": "u8", "uint8_t": "u8", "unsigned short": "u16", "uint16_t": "u16",
	"unsigned": "u32", "unsigned int": "u32", "uint32_t": "u32",
	"unsigned long": "u64", "unsigned long long": "u64", "uint64_t": "u64", "size_t": "u64",
	"signed char": "i8", "int8_t": "i8", "short": "i16", "int16_t": "i16",
	"int": "i32", "int32_t": "i32",
	"long": "i64", "long long": "i64", "int64_t": "i64",
}

func parameters(list []string) ([]Param, error) {
	var params []Param
	for _, toks := range split(list) {
		if len(toks) == 0 || len(toks) == 1 && toks[0] == "void" {
			continue
		}
		var base []string
		pointers, constant := 0, false
		for _, t := range toks {
			switch t {
			case "__restrict__", "__restrict", "restrict":
			case "const":
				constant = constant || pointers == 0 // of what is pointed to
			case "*":
				pointers++
			default:
				base = append(base, t)
			}
		}
		if len(base) < 2 {
			return nil, fmt.Errorf("parameter %q has no name", strings.Join(toks, " "))
		}
		name := base[len(base)-1]
		typ := strings.Join(base[:len(base)-1], " ")
		if d, ok := dtypeOf[typ]; ok {
			typ = d
		}
		if constant && pointers > 0 {
			typ = "const " + typ
		}
		params = append(params, Param{CType: typ + strings.Repeat("*", pointers), Name: name})
	}
	return params, nil
}

// split cuts tokens at the commas outside parentheses.
func split(toks []string) [][]string {
	var parts [][]string
	depth, start := 0, 0
	for i, t := range toks {
		switch t {
		case "(", "<":
			depth++
		case ")", ">":
			depth--
		case ",":
			if depth == 0 {
				parts = append(parts, toks[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, toks[start:])
}

// A preprocessor expands the macros of a source. It knows #define, #undef,
// #include, # and ##, and takes every branch of a conditional.
type preprocessor struct {
	macros  map[string]*macro
	headers map[string]string
	seen    map[string]bool // headers included before
	work    int             // tokens handled so far, to be bounded
	out     []string
}

type macro struct {
	function bool
	params   []string
	body     []string
}

var (
	comment  = regexp.MustCompile(`(?s)"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//[^\n]*`)
	token    = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|##|\.\.\.|\S`)
	ident    = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	function = regexp.MustCompile(`^[A-Za-z_]\w*\(`)
)

func (p *preprocessor) file(src string) error {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\\\n", " ")
	// A comment that spans lines ends none of them.
	src = comment.ReplaceAllStringFunc(src, func(s string) string {
		if s[0] == '/' {
			return " "
		}
		return s // a literal
	})
	var text []string
	flush := func() error {
		toks, err := p.expand(text, nil)
		p.out = append(p.out, toks...)
		text = nil
		return err
	}
	for line := range strings.Lines(src) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			text = append(text, token.FindAllString(line, -1)...)
			continue
		}
		// What stands before a directive is expanded by what is defined
		// there.
		if err := flush(); err != nil {
			return err
		}
		if err := p.directive(strings.TrimSpace(rest)); err != nil {
			return err
		}
	}
	return flush()
}

func (p *preprocessor) directive(s string) error {
	word := ident0(s)
	rest := strings.TrimSpace(s[len(word):])
	switch word {
	case "define":
		name := ident0(rest)
		if name == "" {
			return fmt.Errorf("#define without a name: %q", s)
		}
		m := &macro{function: function.MatchString(rest)}
		body := token.FindAllString(rest[len(name):], -1)
		if m.function {
			end := slices.Index(body, ")")
			if end < 0 {
				return fmt.Errorf("parameters of macro %s do not end", name)
			}
			for _, t := range body[1:end] {
				switch t {
				case ",":
				case "...":
					m.params = append(m.params, "__VA_ARGS__")
				default:
					m.params = append(m.params, t)
				}
			}
			body = body[end+1:]
		}
		m.body = body
		p.macros[name] = m
	case "undef":
		delete(p.macros, rest)
	case "include":
		name := strings.Trim(rest, `"<>`)
		for _, key := range []string{name, path.Base(name)} {
			text, ok := p.headers[key]
			if !ok {
				continue
			}
			if p.seen[key] {
				break
			}
			p.seen[key] = true
			if err := p.file(text); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			break
		}
	}
	return nil
}

func ident0(s string) string {
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || i > 0 && s[i] >= '0' && s[i] <= '9') {
		i++
	}
	return s[:i]
}

// maxWork bounds the tokens that the expansion of one source handles.
const maxWork = 1 << 20

var errTooLong = errors.New("macros expand to too much")

// expand replaces the macros in toks but for those in hidden, which are
// being expanded.
func (p *preprocessor) expand(toks []string, hidden map[string]bool) ([]string, error) {
	var out []string
	for i := 0; i < len(toks); i++ {
		m := p.macros[toks[i]]
		if m == nil || hidden[toks[i]] || m.function && (i+1 >= len(toks) || toks[i+1] != "(") {
			out = append(out, toks[i])
			continue
		}
		name := toks[i]
		var args [][]string
		if m.function {
			end := closing(toks, i+1)
			if end < 0 {
				return nil, fmt.Errorf("arguments of macro %s do not end", name)
			}
			var err error
			if args, err = m.arguments(name, toks[i+2:end]); err != nil {
				return nil, err
			}
			if p.work += end - i; p.work > maxWork {
				return nil, errTooLong
			}
			i = end
		}
		body, err := p.substitute(m, args, hidden)
		if err != nil {
			return nil, err
		}
		inner := maps.Clone(hidden)
		if inner == nil {
			inner = map[string]bool{}
		}
		inner[name] = true
		body, err = p.expand(body, inner)
		if err != nil {
			return nil, err
		}
		if p.work += 1 + len(body); p.work > maxWork {
			return nil, errTooLong
		}
		out = append(out, body...)
	}
	return out, nil
}

func (m *macro) arguments(name string, toks []string) ([][]string, error) {
	var args [][]string
	depth, start := 0, 0
	for i, t := range toks {
		switch t {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			variadic := len(m.params) > 0 && m.params[len(m.params)-1] == "__VA_ARGS__"
			if depth == 0 && !(variadic && len(args) == len(m.params)-1) {
				args = append(args, toks[start:i])
				start = i + 1
			}
		}
	}
	args = append(args, toks[start:])
	if len(m.params) == 0 && len(args) == 1 && len(args[0]) == 0 {
		return nil, nil
	}
	if len(args) == len(m.params)-1 && m.params[len(args)] == "__VA_ARGS__" {
		args = append(args, nil)
	}
	if len(args) != len(m.params) {
		return nil, fmt.Errorf("macro %s takes %d arguments, not %d", name, len(m.params), len(args))
	}
	return args, nil
}

// substitute puts arguments into a macro's body: as they stand beside #
// and ##, expanded elsewhere.
func (p *preprocessor) substitute(m *macro, args [][]string, hidden map[string]bool) ([]string, error) {
	arg := func(t string) ([]string, bool) {
		if i := slices.Index(m.params, t); i >= 0 && i < len(args) {
			return args[i], true
		}
		return nil, false
	}
	var out []string
	for i := 0; i < len(m.body); i++ {
		t := m.body[i]
		if m.function && t == "#" && i+1 < len(m.body) {
			if a, ok := arg(m.body[i+1]); ok {
				out = append(out, `"`+strings.ReplaceAll(strings.Join(a, " "), `"`, `\"`)+`"`)
				i++
				continue
			}
		}
		pasted := i+1 < len(m.body) && m.body[i+1] == "##"
		piece := []string{t}
		if a, ok := arg(t); ok {
			piece = a
			if !pasted {
				var err error
				if piece, err = p.expand(a, hidden); err != nil {
					return nil, err
				}
			}
		}
		// "a ## b ## c": join each to the last token so far.
		for pasted && i+2 < len(m.body) {
			i += 2
			right := []string{m.body[i]}
			if a, ok := arg(m.body[i]); ok {
				right = a
			}
			switch {
			case len(piece) == 0:
				piece = right
			case len(right) > 0:
				joined := piece[len(piece)-1] + right[0]
				piece = slices.Concat(piece[:len(piece)-1], []string{joined}, right[1:])
			}
			pasted = i+1 < len(m.body) && m.body[i+1] == "##"
		}
		if p.work += 1 + len(piece); p.work > maxWork {
			return nil, errTooLong
		}
		out = append(out, piece...)
	}
	return out, nil
}
