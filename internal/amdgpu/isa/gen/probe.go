//go:build linux || darwin

package main

import (
	"encoding/binary"
	"log"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa/internal/llvm"
)

// literal follows each probed word; it is no inline constant of any type.
const literal = 0x00123456

type prober struct {
	dis  *llvm.Disassembler
	arch string
	cs   *classes
	memo map[string]int
}

func newProber(arch string, cs *classes) (*prober, error) {
	d, err := llvm.New(arch)
	if err != nil {
		return nil, err
	}
	return &prober{dis: d, arch: arch, cs: cs, memo: map[string]int{}}, nil
}

// words is an encoding of up to 96 bits.
type words [3]uint32

func (w words) with(f field, v int) words {
	if f.top > 0 { // the ninth bit stands apart and is inverted: 1 is scalar
		return w.set(f.shift, 8, v&255).set(f.top, 1, v>>8^1)
	}
	return w.set(f.shift, f.bits, v)
}

func (w words) value(f field) int {
	if f.top > 0 {
		return w.get(f.shift, 8) | (w.get(f.top, 1)^1)<<8
	}
	return w.get(f.shift, f.bits)
}

// covers reports whether bit b is part of the field.
func (f field) covers(b int) bool {
	if f.top > 0 {
		return b >= f.shift && b < f.shift+8 || b == f.top
	}
	return b >= f.shift && b < f.shift+f.bits
}

func (w words) set(shift, bits, v int) words {
	i, s := shift/32, shift%32
	x := uint64(w[i])
	if i < 2 {
		x |= uint64(w[i+1]) << 32
	}
	m := uint64(1)<<bits - 1
	x = x&^(m<<s) | uint64(v)&m<<s
	w[i] = uint32(x)
	if i < 2 {
		w[i+1] = uint32(x >> 32)
	}
	return w
}

func (w words) get(shift, bits int) int {
	i, s := shift/32, shift%32
	x := uint64(w[i])
	if i < 2 {
		x |= uint64(w[i+1]) << 32
	}
	return int(x >> s & (1<<bits - 1))
}

func (w words) flip(bit int) words {
	w[bit/32] ^= 1 << (bit % 32)
	return w
}

// ask returns LLVM's text, "" for no instruction.
func (p *prober) ask(t *table, w words, lit uint32) string {
	var b [20]byte
	n := t.bits / 32
	for i := range 5 {
		if i < n {
			binary.LittleEndian.PutUint32(b[4*i:], w[i])
		} else {
			binary.LittleEndian.PutUint32(b[4*i:], lit)
		}
	}
	s, size := p.dis.Decode(b[:], 0)
	if size != 4*n && size != 4*n+4 && t.name != "MIMG" {
		return ""
	}
	return s
}

// parse splits an instruction into name, operands and modifiers.
func parse(s string) (name string, ops []string, mods string) {
	name, rest, _ := strings.Cut(s, " ")
	rest = strings.TrimSpace(rest)
	for rest != "" {
		depth, i := 0, 0
	scan:
		for ; i < len(rest); i++ {
			if strings.HasPrefix(rest[i:], "/*") { // LLVM's remark on the operand
				i += strings.Index(rest[i:], "*/") + 1
				continue
			}
			switch rest[i] {
			case '[', '(':
				depth++
			case ']', ')':
				depth--
			case ',', ' ':
				if depth == 0 {
					break scan
				}
			}
		}
		ops = append(ops, rest[:i])
		if i < len(rest) && rest[i] == ' ' {
			return name, ops, rest[i+1:]
		}
		if i == len(rest) {
			break
		}
		rest = strings.TrimSpace(rest[i+1:])
	}
	// A lone modifier, as in an instruction without operands.
	if len(ops) == 1 && (strings.ContainsAny(ops[0], ":") && !strings.Contains(ops[0], "[") || ops[0] == "gds") {
		return name, nil, ops[0]
	}
	return name, ops, ""
}

// candidates are the field values tried for a base.
func candidates(f field, i int) []int {
	switch f.kind {
	case 'v':
		return []int{8 * (i + 1), 0}
	case 'x':
		return []int{256 + 8*(i+1), 16 * (i + 1), 0}
	case 'd':
		return []int{0, 106}
	case 's':
		return []int{16 * (i + 1), 106, 0}
	case 'b':
		return []int{8 * (i + 1), 0}
	}
	return []int{4 * (i + 1), 0}
}

func (p *prober) table(t table) []row {
	var rows []row
	n := 1 << t.opBits
	if t.max > 0 {
		n = t.max
	}
	for op := range n {
		if r, ok := p.row(&t, op); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

// opcode places op.
func (t *table) opcode(w words, op int) words {
	w = w.set(t.shift, t.opBits-t.high, op)
	if t.high > 0 {
		w = w.set(0, 1, op>>7)
	}
	return w
}

// base finds an accepted word for an opcode, register operands preferred.
func (p *prober) base(t *table, op int) (words, string) {
	try := t.try
	if try == nil {
		try = []uint64{0}
	}
	var best words
	var text string
	for _, extra := range try {
		w := words(t.base)
		w[0] |= uint32(extra)
		w[1] |= uint32(extra >> 32)
		w = t.opcode(w, op)
		var walk func(i int, w words)
		walk = func(i int, w words) {
			if text != "" {
				return
			}
			if i == len(t.fields) {
				if s := p.ask(t, w, literal); s != "" {
					best, text = w, s
				}
				return
			}
			for _, c := range candidates(t.fields[i], i) {
				walk(i+1, w.with(t.fields[i], c))
			}
		}
		walk(0, w)
		if text != "" {
			break
		}
	}
	return best, text
}

func diffOps(a, b []string) int {
	if len(a) != len(b) {
		return -2
	}
	at := -1
	for i := range a {
		if a[i] != b[i] {
			if at >= 0 {
				return -2
			}
			at = i
		}
	}
	return at
}

func (p *prober) row(t *table, op int) (row, bool) {
	w, text := p.base(t, op)
	if text == "" {
		return row{}, false
	}
	name, ops, _ := parse(text)
	if !strings.Contains(name, t.only) {
		return row{}, false
	}
	r := row{op: op, text: text, suffix: "sufNone"}
	r.name = name
	for _, s := range []struct{ text, id string }{
		{"_e64_dpp", "sufE64DPP"}, {"_e64", "sufE64"}, {"_e32", "sufE32"}, {"_sdwa", "sufSDWA"}, {"_dpp", "sufDPP"},
	} {
		if strings.HasSuffix(name, s.text) {
			r.name, r.suffix = strings.TrimSuffix(name, s.text), s.id
			break
		}
	}
	if t.name == "SOPP" {
		ops = nil // its immediate prints in many ways; see printImm
	}
	r.ops = make([]operand, len(ops))
	covered := map[int]bool{} // bits that need no flipping
	for b := t.shift; b < t.shift+t.opBits-t.high; b++ {
		covered[b] = true
	}
	skip := t.skipBits
	if strings.Contains(name, "_bvh") {
		skip = t.nsaBits // the others are fixed there
	}
	for b := range 64 {
		if skip>>b&1 != 0 || b < t.high {
			covered[b] = true
		}
	}
	for _, f := range t.fields {
		at := -1
		old := w.value(f)
		for v := 0; v < 1<<f.bits && at < 0; v++ {
			if v == old || f.kind == 'x' && v == 255 {
				continue
			}
			if s := p.ask(t, w.with(f, v), literal); s != "" {
				n2, ops2, _ := parse(s)
				if d := diffOps(ops, ops2); n2 == name && d >= 0 && (f.kind != 'd' || scalarText.MatchString(ops2[d])) {
					at = d
				}
			}
		}
		if at < 0 {
			continue
		}
		if r.ops[at].field != "" {
			log.Printf("%s %s: operand %d of %q belongs to %s and %s", p.arch, t.name, at, text, r.ops[at].field, f.name)
			continue
		}
		r.ops[at] = operand{field: f.name, class: p.class(t, w, f, name, at)}
		for b := range t.bits {
			if f.covers(b) {
				covered[b] = true
			}
		}
	}
	// Operands of no field: a literal that is always there, or implied.
	for i, o := range ops {
		if r.ops[i].field != "" {
			continue
		}
		if _, ops2, _ := parse(p.ask(t, w, literal+1)); len(ops2) == len(ops) && ops2[i] != o {
			r.ops[i].field = "LIT"
			r.ops[i].class = p.literalClass(t, w, i)
			continue
		}
		r.ops[i].field, r.ops[i].class = implied(o)
	}
	p.bits(t, &r, w, text, name, ops, covered)
	p.finish(t, &r, w)
	return r, true
}

// implied names the operand of no field.
func implied(s string) (string, int) {
	switch s {
	case "vcc":
		return "VCC", 2
	case "vcc_lo":
		return "VCC", 1
	case "exec":
		return "EXEC", 2
	case "exec_lo":
		return "EXEC", 1
	case "off":
		return "OFF", 0
	case "m0":
		return "M0", 1
	case "null":
		return "NULL", 1
	case "scc":
		return "SCC", 1
	case "lds_direct":
		return "LDSDIRECT", 1
	}
	return "IMM", 0
}

// bits flips each remaining bit.
func (p *prober) bits(t *table, r *row, w words, text, name string, ops []string, covered map[int]bool) {
	for b := range min(t.bits, 64) {
		if strings.HasSuffix(t.name, "SDWA") && (b >= 48 && b < 51 || b >= 56 && b < 59 && t.name != "VOP1SDWA" || b >= 40 && b < 45) {
			continue // selectors: LLVM crashes on those without meaning
		}
		if covered[b] || prefixBit(t, b) {
			continue
		}
		s := p.ask(t, w.flip(b), literal)
		if s == text {
			continue
		}
		if s == "" {
			r.mask |= 1 << b
			r.val |= uint64(w.get(b, 1)) << b
			continue
		}
		if t.fixed>>b&1 != 0 {
			continue
		}
		n2, ops2, mods := parse(s)
		if n2 != name && t.name != "SOPP" {
			// The bit selects another instruction.
			r.mask |= 1 << b
			r.val |= uint64(w.get(b, 1)) << b
			log.Printf("%s %s %d: bit %d: %q, %q", p.arch, t.name, r.op, b, text, s)
			continue
		}
		r.live |= 1 << b
		if len(ops) == len(ops2) {
			for i := range ops {
				if ops[i] != ops2[i] && ops[i][0] == 'v' && ops2[i][0] == 'a' {
					r.ops[i].acc = b
				}
			}
		}
		if strings.Contains(s, "sext(") && !strings.Contains(t.name, "SDWA") {
			flag := "rowSext"
			if b == 52 || b == 61 {
				flag = "rowSext0"
			}
			if !slices.Contains(r.flags, flag) {
				r.flags = append(r.flags, flag)
			}
		}
		if b == 0 && strings.Contains(mods, "offset0:") {
			r.flags = append(r.flags, "rowOffset01")
		}
	}
}

// prefixBit reports whether bit b belongs to the encoding's identifier or to
// the source selector of an SDWA or DPP form.
func prefixBit(t *table, b int) bool {
	switch {
	case t.bits == 32, strings.HasSuffix(t.name, "SDWA"), strings.HasPrefix(t.name, "VOP1DPP"), strings.HasPrefix(t.name, "VOP2DPP"), strings.HasPrefix(t.name, "VOPCDPP"):
		if b >= 32 {
			return false
		}
		if t.bits == 64 && b < 9 {
			return true
		}
		if t.name == "VINTRP" {
			return b >= 26
		}
		if t.name == "LDSDIR" {
			return b >= 24
		}
		top := map[string]int{"SOP2": 30, "SOPK": 28, "SOP1": 23, "SOPC": 23, "SOPP": 23, "VOP2": 31, "VOP1": 25, "VOPC": 25}
		return b >= top[t.name[:4]]
	}
	if t.bits == 96 && b >= 32 && b < 41 {
		return true
	}
	return b >= 26 && b < 32 || (strings.HasPrefix(t.name, "VOP3P") || t.name == "VINTERP") && b >= 23 && b < 32
}

// scalarText is a scalar register, as opposed to a modifier's work.
var scalarText = regexp.MustCompile(`^(s\d|s\[|vcc|ttmp|exec)`)

var badText = regexp.MustCompile(`/\*Invalid register, operand has '(\w+)' register class\*/$`)

var regText = regexp.MustCompile(`^(v|a|s|ttmp)(\d+|\[(\d+):(\d+)\])$`)

// class learns what a field can hold by trying each value.
func (p *prober) class(t *table, w words, f field, name string, at int) int {
	c := class{kind: "classSrc", typ: "B32", scale: 1}
	switch f.kind {
	case 'b':
		c.scale = 2
	case 'r':
		c.scale = 4
	}
	skip := map[int]bool{}
	if f.kind == 'x' && f.shift != 41 && f.shift != 50 {
		for _, s := range t.skip {
			skip[s] = true
		}
	}
	text := func(v int, lit uint32) string {
		s := p.ask(t, w.with(f, v), lit)
		if s == "" {
			return ""
		}
		_, ops, _ := parse(s)
		if at >= len(ops) {
			return ""
		}
		return ops[at]
	}
	lit := false
	for v := range 1 << f.bits {
		if skip[v] {
			continue
		}
		s := text(v, literal)
		if s == "" {
			continue
		}
		c.ok[v/32] |= 1 << (v % 32)
		if i := strings.Index(s, "/*"); i >= 0 {
			// LLVM prints what the encoding says and remarks that the
			// instruction cannot have it.
			c.bad[v/32] |= 1 << (v % 32)
			if m := badText.FindStringSubmatch(s); m != nil {
				if c.reg != "" && c.reg != m[1] {
					log.Printf("%s %s %s: register classes %s and %s", p.arch, t.name, name, c.reg, m[1])
				}
				c.reg = m[1]
			} else if !strings.HasSuffix(s, "/*Invalid immediate*/") {
				log.Printf("%s %s: unknown remark %s", p.arch, t.name, s)
			}
			s = s[:i]
		}
		if m := regText.FindStringSubmatch(s); m != nil {
			width := 1
			if m[3] != "" {
				lo, _ := strconv.Atoi(m[3])
				hi, _ := strconv.Atoi(m[4])
				width = hi - lo + 1
			}
			vector := m[1] == "v" || m[1] == "a"
			switch {
			case !vector:
				c.swidth = width
			case m[1] == "v" && f.bits == 8:
				c.kind = "classV"
			case m[1] == "a" && f.bits == 8:
				c.kind = "classA"
			case m[1] == "a":
				c.kind = "classSrcA"
			}
			if c.width == 0 || vector {
				c.width = width
			}
		}
		if v == 255 && c.kind == "classSrc" {
			lit = true
		}
	}
	if c.swidth == 0 {
		c.swidth = c.width
	}
	switch s := text(0, literal); {
	case strings.HasPrefix(s, "gpr_idx("):
		c.kind = "classIdx"
	case strings.HasSuffix(s, ".l"):
		c.kind, c.width, c.swidth = "classV16", 1, 1
	case strings.HasSuffix(text(256, literal), ".l"):
		c.kind, c.width, c.swidth = "classSrc16", 1, 1
	case strings.HasPrefix(s, "attr"):
		c.kind = "classAttr"
	case strings.HasPrefix(name, "s_sendmsg_rtn") && f.name == "SSRC0":
		c.kind = "classMsg"
	case strings.Contains(name, "atc_probe") && f.name == "SDATA":
		c.kind = "classImm"
	case strings.HasPrefix(s, "p10"):
		c.kind = "classParam"
	}
	if strings.HasPrefix(c.kind, "classSrc") && (f.kind == 'x' || f.bits == 8) {
		print := func(lits ...uint32) (out []string) {
			for _, l := range lits {
				if lit {
					s, _, _ := strings.Cut(text(255, l), "/*")
					out = append(out, s)
				}
			}
			return out
		}
		// The texts of 1.0 and 1/(2 pi), and of literals that are 1.0 in
		// some type.
		short := func(v int) string {
			s, _, _ := strings.Cut(text(v, literal), "/*")
			return s
		}
		key := append([]string{short(242), short(248), short(193)},
			print(0x3f800000, 0x3c00, 0x3f80, 0x3ff00000, 0xffffffff, 0xffff, 0x00010001, 0x12345678, 0x3c003c00)...)
		c.typ = p.typ(c.width, key, name, t.name+" "+name+" "+f.name)
	}
	return p.cs.number(c)
}

func (p *prober) literalClass(t *table, w words, at int) int {
	c := class{kind: "classSrc", width: 1, swidth: 1, typ: "B32", scale: 1}
	_, ops, _ := parse(p.ask(t, w, 0x12345678))
	if len(ops) > at && ops[at] == "0x5678" {
		c.typ = "F16"
	}
	return p.cs.number(c)
}
