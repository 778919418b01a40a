//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// images learns how LLVM sizes the operands of image instructions. It
// decodes to a default variant and then looks for the variant with the
// dwords of data that dmask, d16 and tfe ask for and the address dwords
// that dim and a16 ask for; where there is none, it keeps the default.
func (p *prober) images(out *bytes.Buffer) {
	t := imageTable(p.arch)
	fmt.Fprintf(out, "\nvar images%s = [256]imageOp{\n", strings.ToUpper(p.arch))
	for op := range 1 << t.opBits {
		w, text := p.base(&t, op)
		if text == "" {
			continue
		}
		fmt.Fprintf(out, "%d: %s,\n", op, p.image(&t, w, text))
	}
	fmt.Fprintf(out, "}\n")
}

var rangeText = regexp.MustCompile(`^v\[(\d+):(\d+)\]$`)

func width(s string) int {
	if m := rangeText.FindStringSubmatch(s); m != nil {
		lo, _ := strconv.Atoi(m[1])
		hi, _ := strconv.Atoi(m[2])
		return hi - lo + 1
	}
	return 1
}

// sizes returns the dwords of data and the widths of the addresses.
func sizes(text string) (data int, addr []int) {
	_, ops, _ := parse(text)
	if len(ops) < 2 {
		return 0, nil
	}
	data = width(ops[0])
	a := ops[1]
	if strings.HasPrefix(a, "[") {
		for _, e := range strings.Split(strings.Trim(a, "[]"), ", ") {
			// A range holds a bracket that Trim may have taken.
			if strings.Contains(e, ":") && !strings.HasSuffix(e, "]") {
				e += "]"
			}
			addr = append(addr, width(e))
		}
		return data, addr
	}
	return data, []int{width(a)}
}

func (p *prober) image(t *table, w words, text string) string {
	type bitRun struct{ shift, bits int }
	dmask := bitRun{8, 4}
	var nsa, dim, a16, d16 bitRun
	tfe := bitRun{16, 1}
	switch p.arch {
	case "gfx1030":
		nsa, dim, a16, d16 = bitRun{1, 2}, bitRun{3, 3}, bitRun{62, 1}, bitRun{63, 1}
	case "gfx1100":
		nsa, dim, a16, d16, tfe = bitRun{0, 1}, bitRun{2, 3}, bitRun{16, 1}, bitRun{17, 1}, bitRun{53, 1}
	default:
		d16, tfe = bitRun{63, 1}, bitRun{}
	}
	_ = d16
	bvh := strings.Contains(text, "_bvh")
	sum := func(a []int) (n int) {
		for _, v := range a {
			n += v
		}
		return n
	}
	set := func(w words, b bitRun, v int) words {
		if b.bits == 0 {
			return w
		}
		return w.set(b.shift, b.bits, v)
	}
	gather := ""
	var dst []string
	data1, _ := sizes(text)
	data15, _ := sizes(p.ask(t, set(w, dmask, 15), literal))
	gather4 := data1 == 4 && data15 == 4 && !bvh
	if gather4 {
		gather = "gather: true, "
	}
	// Data: the default is what remains at the end of the registers.
	var d0 int
	for v := 255; v > 240 && d0 == 0; v-- {
		d0, _ = sizes(p.ask(t, set(w.set(40, 8, v), dmask, 1), literal))
	}
	var ok [6]int
	for n := 1; n <= 5; n++ {
		x := w
		switch {
		case gather4 && n < 4:
			x = set(x, dmask, 1)
			if n <= 2 {
				x = set(x, d16, 1)
			}
			if n == 1 {
				continue
			}
			if n == 3 {
				x = set(set(x, d16, 1), tfe, 1)
			}
		case gather4:
			x = set(x, dmask, 1)
			if n == 5 {
				x = set(x, tfe, 1)
			}
		case n == 5:
			x = set(set(x, dmask, 15), tfe, 1)
		default:
			x = set(x, dmask, 1<<n-1)
		}
		if d, _ := sizes(p.ask(t, x, literal)); d != d0 || d == n {
			ok[n] = d
			dst = append(dst, fmt.Sprintf("%d: %d", n, d))
		}
	}
	// A size other than the default, to see whether widening happens.
	probe := 1
	for n := 1; n <= 4; n++ {
		if ok[n] != 0 && ok[n] != d0 {
			probe = n
		}
	}
	var elems, counts []string
	for n := range 1 << nsa.bits {
		for a := range 1 << a16.bits {
			// Elements of the default variant, found where the address is
			// last in the file or where nothing is widened.
			x := set(set(w, nsa, n), a16, a)
			var list []int
			for k := range 8 {
				if _, l := sizes(p.ask(t, set(x, dim, k), 0x04030201)); len(l) > len(list) {
					list = l
				}
			}
			if n == 0 && list != nil {
				for v := 255; v > 230; v-- {
					if _, l := sizes(p.ask(t, x.set(32, 8, v), 0x04030201)); l != nil {
						list = l
						break
					}
				}
			}
			if n > 0 && !bvh && list != nil {
				// Data that does not fit keeps all elements.
				_, list = sizes(p.ask(t, set(set(x.set(40, 8, 256-d0), dmask, 15), tfe, 1), 0x04030201))
			}
			if list != nil {
				elems = append(elems, fmt.Sprintf("%d: %q", n*2+a, digits(list)))
			}
			if bvh {
				continue
			}
			var c []int
			for k := range 1 << dim.bits {
				y := set(x, dim, k)
				if gather4 {
					y = set(y, dmask, 1)
					if d0 == 4 {
						y = set(y, d16, 1)
					}
				} else {
					y = set(y, dmask, 1<<probe-1)
				}
				d, l := sizes(p.ask(t, y, 0x04030201))
				if l == nil || d == d0 {
					c = append(c, 0)
				} else {
					c = append(c, sum(l))
				}
			}
			counts = append(counts, fmt.Sprintf("%d: %q", n*2+a, digits(c)))
		}
	}
	return fmt.Sprintf("{%sbvh: %t, dst: [6]uint8{%s}, elems: [8]string{%s}, addr: [8]string{%s}}", gather, bvh,
		strings.Join(dst, ", "), strings.Join(elems, ", "), strings.Join(counts, ", "))
}

// digits writes each number as one base-36 digit.
func digits(list []int) string {
	var s string
	for _, v := range list {
		s += strconv.FormatInt(int64(v), 36)
	}
	return s
}
