//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// names learns the symbols that immediates print as.
func (p *prober) names(out *bytes.Buffer) {
	word := func(w0, w1 uint32) string { return p.ask(&table{bits: 64}, words{w0, w1}, literal) }
	half := func(w uint32) string { return p.ask(&table{bits: 32}, words{w}, literal) }
	list := func(name string, n int, at func(v uint32) string) {
		fmt.Fprintf(out, "\nvar %s%s = [%d]string{\n", name, strings.ToUpper(p.arch), n)
		for v := range n {
			if s := at(uint32(v)); s != "" {
				fmt.Fprintf(out, "%d: %q,\n", v, s)
			}
		}
		fmt.Fprintf(out, "}\n")
	}
	between := func(s, a, z string) string {
		_, s, ok := strings.Cut(s, a)
		if i := strings.Index(s, z); ok && i >= 0 && !strings.Contains("0123456789", s[:1]) {
			return s[:i]
		}
		return ""
	}
	gfx9, gfx11 := p.arch == "gfx90a", p.arch == "gfx1100"

	getreg, sendmsg := uint32(0xB9000000), uint32(0xBF900000)
	if gfx9 || gfx11 {
		getreg = 0xB8800000
	}
	if gfx11 {
		sendmsg = 0xBFB60000
	}
	list("hwregs", 64, func(v uint32) string { return between(half(getreg|v), "hwreg(", ",") })
	list("messages", 256, func(v uint32) string {
		switch {
		case gfx11 && v >= 128:
			return between(half(0xBE804C00|v), "sendmsg(", ")")
		case gfx11:
			return between(half(sendmsg|v), "sendmsg(", ")")
		case v >= 16:
			return ""
		}
		for op := range uint32(8) { // some need an operation
			s, _, _ := strings.Cut(between(half(sendmsg|v|op<<4), "sendmsg(", ")"), ",")
			if s != "" {
				return s
			}
		}
		return ""
	})
	list("formats", 128, func(v uint32) string {
		_, s, _ := strings.Cut(word(0xE8000000|v<<19, 0), "format:")
		return s
	})
	list("targets", 64, func(v uint32) string {
		s := word(0xF8000000|v<<4, 0)
		if s == "" || gfx9 {
			return ""
		}
		return strings.Fields(s)[1]
	})
}
