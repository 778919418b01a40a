//go:build linux || darwin

package isa

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/paritycheck/paritycheck/internal/amdgpu/isa/internal/llvm"
)

// oracle returns LLVM's disassembler, or skips the test; where
// PARITYCHECK_REQUIRE names llvm it fails instead.
func oracle(t *testing.T, a Arch) *llvm.Disassembler {
	t.Helper()
	d, err := llvm.New(a.String())
	if err != nil {
		if required("llvm") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return d
}

func required(tool string) bool {
	for s := range strings.SplitSeq(os.Getenv("PARITYCHECK_REQUIRE"), ",") {
		if s == tool {
			return true
		}
	}
	return false
}

// crashes reports words on which LLVM's behaviour is undefined: SDWA
// selectors without meaning run into unreachable code there.
func crashes(a Arch, code []byte) bool {
	w0, w1 := binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])
	if a == GFX1100 || w0>>31 != 0 || w0&0x1ff != 249 {
		return false
	}
	return w1>>16&7 == 7 || w1>>24&7 == 7 && w0>>25 != 63 || w0>>25 != 62 && (w1>>8&7 == 7 || w1>>11&3 == 3)
}

// A diff is a disagreement with LLVM.
type diff struct {
	key, line string
}

// compare decodes code both ways.
func compare(a Arch, d *llvm.Disassembler, code []byte) (diff, bool) {
	want, size := d.Decode(code, 0)
	inst, err := Decode(a, code, 0)
	got := ""
	if err == nil {
		got = inst.String()
	}
	if got == want && int(inst.Size) == size {
		return diff{}, true
	}
	name, _, _ := strings.Cut(want, " ")
	if want == "" {
		name, _, _ = strings.Cut(got, " ")
		name = "none, got " + name
	} else if got == "" {
		name += " not decoded"
	}
	return diff{name, fmt.Sprintf("% x: got %q (%d), want %q (%d)", code[:min(16, len(code))], got, inst.Size, want, size)}, false
}

// randomWords is the number of words for each architecture: 10 million
// where PARITYCHECK_LONG is set.
func randomWords() int {
	if n, err := strconv.Atoi(os.Getenv("PARITYCHECK_LONG")); err == nil && n > 0 {
		return n
	}
	return 60_000
}

// randomCode fills code with random words. Every other time, the k-th
// value of the upper half word goes through all values, which hold the
// opcodes of most encodings, and the rest reaches the selectors of SDWA,
// DPP and literals often.
func randomCode(rng *rand.Rand, k int, code []byte) {
	for i := 0; i < len(code); i += 8 {
		binary.LittleEndian.PutUint64(code[i:], rng.Uint64())
	}
	if k&1 == 0 {
		return
	}
	// 40503 is odd: a short run spreads over the values, too.
	w := binary.LittleEndian.Uint32(code)&0xffff | uint32(k>>1*40503)<<16
	w1 := binary.LittleEndian.Uint32(code[4:])
	switch rng.IntN(7) {
	case 0, 6: // a special source 0
		s := [...]uint32{249, 250, 233, 234, 255, 254, 125, 124}[rng.IntN(8)]
		if w>>31 == 0 {
			w = w&^0x1ff | s
		} else {
			w1 = w1&^0x1ff | s
		}
		if s == 249 && rng.IntN(4) > 0 {
			// Selectors that mean something.
			w1 &^= 0x01010100
			w1 &^= 1 << (11 + rng.IntN(2))
			if w>>25 == 63 {
				w1 &= 0xffffff
			}
		}
	case 1: // sparse bits, as compilers emit
		w &= rng.Uint32() | 0xfff00000
		for range 1 + rng.IntN(4) {
			w1 &= rng.Uint32()
		}
	case 2:
		w1 &= 0x03ffffff
	case 3: // saddr off
		w1 = w1&^0x7f0000 | [...]uint32{0x7f, 0x7d, 0x7c}[rng.IntN(3)]<<16
	}
	binary.LittleEndian.PutUint32(code, w)
	binary.LittleEndian.PutUint32(code[4:], w1)
}

func TestRandomWords(t *testing.T) {
	for a := range numArch {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			d := oracle(t, a)
			n := randomWords()
			rng := rand.New(rand.NewPCG(uint64(a), 19))
			var code [20]byte
			var buf [24]byte
			valid, undefined := 0, 0
			diffs := map[string][]string{}
			count := map[string]int{}
			for k := range n {
				randomCode(rng, k, buf[:])
				copy(code[:], buf[:])
				if crashes(a, code[:]) {
					undefined++
					if inst, err := Decode(a, code[:], 0); err == nil {
						t.Errorf("%s: decoded % x, whose SDWA selector has no meaning", inst, code[:8])
					}
					continue
				}
				df, same := compare(a, d, code[:])
				if !same {
					count[df.key]++
					if len(diffs[df.key]) < 3 {
						diffs[df.key] = append(diffs[df.key], df.line)
					}
				} else if _, err := Decode(a, code[:], 0); err == nil {
					valid++
				}
			}
			t.Logf("%d words, %d decoded alike, %d on which LLVM is undefined", n, valid, undefined)
			report(t, count, diffs)
		})
	}
}

func report(t *testing.T, count map[string]int, diffs map[string][]string) {
	t.Helper()
	var keys []string
	total := 0
	for k, n := range count {
		keys = append(keys, k)
		total += n
	}
	if total == 0 {
		return
	}
	sort.Slice(keys, func(x, y int) bool { return count[keys[x]] > count[keys[y]] })
	t.Errorf("%d differences of %d kinds", total, len(keys))
	for _, k := range keys[:min(len(keys), 40)] {
		t.Errorf("%d of %s", count[k], k)
		for _, l := range diffs[k] {
			t.Error(l)
		}
	}
}

// TestImmediates decodes SOPP and SOPK with many immediates, all of them
// in the long run: their symbols are a language of their own.
func TestImmediates(t *testing.T) {
	for a := range numArch {
		t.Run(a.String(), func(t *testing.T) {
			d := oracle(t, a)
			count, diffs := map[string]int{}, map[string][]string{}
			var code [8]byte
			step := uint32(61)
			if randomWords() >= 1_000_000 {
				step = 1
			}
			for op := range uint32(128 + 32) {
				w := 0xBF800000 | op<<16
				if op >= 128 {
					w = 0xB0000000 | (op-128)<<23
				}
				for v := uint32(0); v < 1<<16; {
					binary.LittleEndian.PutUint32(code[:], w|v)
					if df, same := compare(a, d, code[:]); !same {
						count[df.key]++
						diffs[df.key] = append(diffs[df.key], df.line)[:min(3, len(diffs[df.key])+1)]
					}
					if v < 128 {
						v++
					} else {
						v += step
					}
				}
			}
			report(t, count, diffs)
		})
	}
}

// TestShort decodes instructions cut short: LLVM sees no instruction then,
// or another one.
func TestShort(t *testing.T) {
	for a := range numArch {
		d := oracle(t, a)
		rng := rand.New(rand.NewPCG(uint64(a), 4))
		var buf [24]byte
		for k := range 3000 {
			randomCode(rng, k, buf[:])
			if crashes(a, buf[:]) {
				continue
			}
			for _, n := range []int{4, 8, 12} {
				if df, same := compare(a, d, buf[:n:n]); !same {
					t.Errorf("%s, %d bytes: %s", a, n, df.line)
				}
			}
		}
	}
}
