//go:build linux || darwin

package main

import (
	"log"
	"strings"
)

// types maps the texts of constants (see class) to the type that prints so.
// Each begins with the inline constants 1.0, 1/(2 pi) and -1; where the
// field takes a literal, the nine literals' texts follow.
var types = map[string]string{
	"1.0 0.15915494 -1": "B32",
	"1.0 0.15915494 -1 1.0 0x3c00 0x3f80 0x3ff00000 -1 0xffff 0x10001 0x12345678 0x3c003c00": "B32",
	"1.0 0.15915494 -1 0 1.0 0x3f80 0 -1 -1 1 0x5678 1.0":                                    "F16",
	"1.0 0.15915494 -1 0 0x3c00 1.0 0 -1 -1 1 0x12345678 0x3c003c00":                         "BF16",
	"0x3c00 0x3118 -1": "I16",
	"0x3c00 0x3118 -1 1.0 0x3c00 0x3f80 0x0 -1 0xffff 0x1 0x5678 0x3c00":                                             "I16",
	"1.0 0.15915494 -1 0x3f800000 1.0 0x3f80 0x3ff00000 -1 0xffff 0x10001 0x12345678 0x3c003c00":                     "V2F16",
	"1.0 0.15915494 -1 0x3f800000 0x3c00 1.0 0x3ff00000 -1 0xffff 0x10001 0x12345678 0x3c003c00":                     "V2BF16",
	"1.0 0.15915494309189532 -1 0x3f800000 0x3c00 0x3f80 1.0 0xffffffff 0xffff 0x10001 0x12345678 0x3c003c00":        "F64",
	"1.0 0.15915494309189532 -1 0x3f800000 0x3c00 0x3f80 0x3ff00000 0xffffffff 0xffff 0x10001 0x12345678 0x3c003c00": "B64",
	"1.0 0.15915494309189532 -1": "B64",
}

// typ names the type of a source that prints constants as key says.
func (p *prober) typ(width int, key []string, name, where string) string {
	k := strings.Join(key, " ")
	if strings.TrimSpace(k) == "" {
		return "B32"
	}
	typ, ok := types[k]
	if !ok {
		log.Printf("unknown constants of %s %s, width %d: %s", p.arch, where, width, k)
		typ = "B32"
	}
	// Without literals the texts of 16- and 32-bit floats, and those of
	// 64-bit floats and integers, are the same: the name decides.
	if len(key) == 3 {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_sdwa"), "_e64"), "_e32"), "_dpp")
		switch {
		case typ == "B32" && strings.HasPrefix(name, "v_pk_") && strings.HasSuffix(name, "_f16"), typ == "B32" && strings.HasPrefix(name, "v_dot2") && strings.HasSuffix(name, "_f16"):
			return "V2F16"
		case typ == "B32" && strings.HasSuffix(name, "_f16") && !strings.Contains(name, "_mix"):
			return "F16"
		case typ == "B64" && strings.HasSuffix(name, "_f64"):
			return "F64"
		}
	}
	return typ
}

// finish derives what the program needs beyond the text: how many of the
// leading operands are written.
func (p *prober) finish(t *table, r *row, w words) {
	if t.name == "MIMG" && p.arch != "gfx90a" {
		for bit := range 2 { // nsa is bit 0 or bits 1 and 2
			if strings.Contains(p.ask(t, w.set(bit, 1, 1), 0x04030201), "  ") && (bit == 0) == (p.arch == "gfx1100") {
				r.flags = append(r.flags, "rowGap")
			}
		}
	}
	if t.name == "SOPP" && r.live&0xffff != 0 {
		a, b := p.ask(t, w.set(0, 16, 0x20), literal), p.ask(t, w.set(0, 16, 0x100), literal)
		switch {
		case a == r.name+" 0x20":
			r.flags = append(r.flags, "rowHex")
		case a == r.name+" 32" && b == r.name+" 0x100":
			r.flags = append(r.flags, "rowInline")
		}
	}
	if strings.Contains(r.text, "DP ALU") {
		r.flags = append(r.flags, "rowDP")
	}
	if strings.HasPrefix(r.name, "v_permlane") {
		r.flags = append(r.flags, "rowPermlane")
	}
	if strings.Contains(r.name, "_bvh") {
		r.flags = append(r.flags, "rowBVH")
	}
	if strings.Contains(r.name, "_atomic_") {
		r.flags = append(r.flags, "rowAtomic")
	}
	if strings.HasSuffix(r.text, " lds") && !strings.HasPrefix(t.name, "MUBUF") {
		r.flags = append(r.flags, "rowLDS")
	}
	if strings.HasPrefix(r.name, "v_mfma_") {
		r.flags = append(r.flags, "rowMFMA")
	}
	if strings.Contains(r.name, "_mix_f32") || strings.Contains(r.name, "_mixlo_f16") || strings.Contains(r.name, "_mixhi_f16") {
		r.flags = append(r.flags, "rowMix")
	}
	for _, o := range r.ops {
		switch {
		case strings.HasSuffix(o.field, "DST"), strings.HasSuffix(o.field, "DST3"):
			if strings.HasPrefix(r.name, "s_cmpk") || strings.HasPrefix(r.name, "s_setreg") || strings.HasPrefix(r.name, "s_waitcnt") ||
				strings.HasPrefix(r.name, "s_cbranch") {
				return
			}
		case o.field == "SDATA":
			if strings.Contains(r.name, "store") || strings.Contains(r.name, "probe") {
				return
			}
		case o.field == "VDATA":
			if strings.Contains(r.name, "store") || strings.Contains(r.name, "atomic") {
				return
			}
		case o.field == "VCC":
			if t.name[:4] == "VOP2" && !(r.defs == 1 && strings.Contains(r.name, "_co_")) {
				return
			}
		default:
			return
		}
		r.defs++
	}
}
